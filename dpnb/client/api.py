"""The plain-Python twins of the cell magic: plan, release, spend, report, session, and what :func:`~dpnb.client.opening.open` does.

Each is one sentence over a :class:`~dpnb.client.session.Session`; none keeps a state of its own but the sessions of this
process (:mod:`dpnb.client.sessions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from dpnb.client import sessions
from dpnb.client.arguments import checked_call
from dpnb.client.handles import Dataset, TeachingDataset
from dpnb.client.plan_view import BatchReport, PlanView, numbered
from dpnb.client.publication import is_publication, open_publication
from dpnb.client.service import LONGEST_NAME, Service, served, usual
from dpnb.client.session import Session
from dpnb.client.source import NamedSource, name_source, names_a_file
from dpnb.datasets import BUILT_IN, names
from dpnb.errors import OwnerError, PlanError
from dpnb.estimate import Batch, Estimate, PendingQuestion, Table, current_host
from dpnb.planner.request import Ask
from dpnb.trusted.wire.messages import StudySource
from dpnb.trusted.wire.places import Home

Items = Mapping[str, Estimate] | Iterable[Estimate] | Estimate


def session() -> Session:
    """Return the session in which a dataset was last opened. It starts a curator only when you ask something."""
    return sessions.current()


def close() -> None:
    """Let go of every curator of this process."""
    sessions.close()


class Given(NamedTuple):
    """What ``dpnb.open`` was given beside the data."""

    schema: object
    mode: str | None
    adjacency: str | None
    tables: Mapping[str, object] | None
    seed: int | str | None
    truth: bool | None


def opened(what: object, given: Given, *, quiet: bool) -> Dataset:
    """Open what :func:`dpnb.client.opening.open` was given, as it says."""
    if what is None:
        raise OwnerError('Say what to open: dpnb.open("hiv"), dpnb.open("people.csv").')
    if is_publication(what):
        _refuse_terms(given)
        return open_publication(what)
    asked = None if given.mode is None else str(given.mode)
    found = _served(what, given.schema)
    if found is not None:
        return _open_served(*found, given, quiet)
    here, home = sessions.plain(), Home.current()

    def named() -> NamedSource:
        return name_source(what, given.schema, given.adjacency, home, given.tables)

    if given.seed is not None:
        source = named().source
        if not isinstance(source, StudySource):  # rows that are known as protected stay so, with a seed too
            here.attach(source, asked)
        here, home = sessions.seeded(sessions.seed_of(given.seed))
    known, last = set(here._roots), named()
    dataset = here.attach(last.source, asked, last.read)
    sessions.opened_in(here)
    if given.truth is not None:
        _show_truth(dataset, given.truth)
    if not quiet and dataset.handle not in known:
        current_host().opened(dataset)
    return dataset


def _refuse_terms(given: Given) -> None:
    """Refuse what only an owner's data could be opened with."""
    for name, value in given._asdict().items():
        if value is not None:
            raise OwnerError(f"A file of published answers contains its own terms: leave {name}= out.")


def _served(what: Any, schema: object) -> tuple[Service, str] | None:
    """Return the service and the dataset that is meant: by its address, or by a name that is neither a study's nor a file's."""
    found = served(what)
    service = usual() if found is None and schema is None and isinstance(what, str) else None
    if service is not None and len(what) <= LONGEST_NAME and what not in names() and not names_a_file(what):
        return service, what
    return found


def _open_served(service: Service, name: str, given: Given, quiet: bool) -> Dataset:  # noqa: FBT001
    set_ = [word for word, value in given._asdict().items() if word != "schema" and value is not None]
    if set_:
        raise OwnerError(f"{name} is on a service, whose owner decides this: leave {set_[0]}= out.")
    here = sessions.served(service)
    known = set(here._roots)
    dataset = here.open_served(name)
    sessions.opened_in(here)
    if not quiet and dataset.handle not in known:
        current_host().opened(dataset)
    return dataset


def _show_truth(dataset: Dataset, truth: bool) -> None:  # noqa: FBT001 - as it was typed
    if isinstance(dataset, TeachingDataset):
        dataset.public_rows.shown = bool(truth)
    elif truth:
        raise OwnerError(f"{dataset.name} is protected: truth=True is for TEACHING data.")


@checked_call("dpnb.studies")
def studies() -> Table:
    """List the built-in studies that ``dpnb.open`` opens by name.

    Returns
    -------
    Table
        Name, title, whether it is simulated, and the columns; no data is read.
    """
    schemas = [study.schema for study in BUILT_IN]
    return Table(
        {
            "name": [one.name for one in schemas],
            "title": [one.title for one in schemas],
            "simulated": [study.simulated for study in BUILT_IN],
            "columns": [", ".join(one.names) for one in schemas],
        }
    )


@checked_call("dpnb.plan")
def plan(
    items: Items,
    *,
    epsilon: object = None,
    rho: object = None,
    within: object = None,
    fresh: bool = False,
    assume_n: object = None,
) -> PlanView:
    """Price a batch and look up stored answers; spend nothing."""
    asked = Ask.make(epsilon=epsilon, rho=rho, within=within, fresh=fresh, assume_n=assume_n)
    listed, labels, named = _named(items)
    return replace(session_of(listed).plan(listed, asked, labels), named=named)


@checked_call("dpnb.release")
def release(
    items: Items,
    *,
    epsilon: object = None,
    rho: object = None,
    within: object = None,
    fresh: bool = False,
    assume_n: object = None,
) -> BatchReport:
    """Release a batch and return its report; ``report["name"]`` is the estimate, regression or test with that name.

    Parameters
    ----------
    items : mapping of str to Estimate, or estimates
        What to release.
    epsilon, rho, within : number or str
        The loss of the whole batch, or the 95 % privacy half-width that you want for each question; give one of them.
    fresh : bool
        Pay again for what is stored.
    assume_n : int, optional
        A size to plan ``within`` with if the true one is private.

    Raises
    ------
    PlanError, LossError, BudgetError
        Nothing was spent.
    """
    asked = Ask.make(epsilon=epsilon, rho=rho, within=within, fresh=fresh, assume_n=assume_n)
    listed, labels, named = _named(items)
    return replace(session_of(listed).release(listed, asked, labels), named=named, whole=_whole(items))


class spend:  # noqa: N801 - reads as the act that it is: with dpnb.spend(epsilon=1) as s
    """Release the questions that the block builds and still holds when it ends; after an exception nothing is spent.

    Parameters
    ----------
    epsilon, rho, within : number or str
        The loss of the block, or the accuracy that you want for each question; give one of them.
    fresh : bool
        Pay again for what is stored.
    assume_n : int, optional
        A size to plan ``within`` with.

    Attributes
    ----------
    report : BatchReport or None
        After the block; ``None`` when there was nothing to release.
    """

    @checked_call("dpnb.spend")
    def __init__(
        self,
        *,
        epsilon: object = None,
        rho: object = None,
        within: object = None,
        fresh: bool = False,
        assume_n: object = None,
    ) -> None:
        self._ask = Ask.make(epsilon=epsilon, rho=rho, within=within, fresh=fresh, assume_n=assume_n)
        self._batch = Batch(epsilon=self._ask.as_epsilon)
        self.report: BatchReport | None = None

    def __enter__(self) -> Self:
        self._batch.open()
        return self

    def add(self, *estimates: Estimate) -> Self:
        """Take in estimates that were built earlier, or in another thread."""
        self._batch.add(*estimates)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._batch.stop()
        self._batch.close()
        if kind is None:
            pending = self._batch.pending_leaves()
            if pending:
                report = session_of(pending).release(pending, self._ask)
                self.report = replace(report, dropped=self._batch.dropped)


@checked_call("dpnb.report")
def report(
    items: Items | None = None, to: str | Path | None = None, registry: str | Path | None = None
) -> Any:
    """Write results, both intervals, a methods paragraph and the ledger extract into one self-contained file.

    Parameters
    ----------
    items : estimates, by name or not, optional
        Released estimates; in a notebook the default is every released answer that has a name.
    to : path, optional
        .html, .md, .tex, .docx, .pdf, .json or .txt.
    registry : path, optional
        A .json file with an entry for the public registry of deployments, in its three tiers: the guarantee, unit, loss, domain,
        accounting and implementation are filled in; ``left_to_fill`` names what its curator must add.
    """
    if items is None:
        items = called_here('report: dpnb.report({"effect": effect}, to=…)')
    listed, _, named = _named(items)
    leaves = _leaves(listed)
    if not leaves:
        raise PlanError("There is nothing to report. Name released estimates: dpnb.report([q], to=…).")
    pending = next((one for one in leaves if not one.released), None)
    if pending is not None:
        raise PlanError(
            f"`{pending.text}` is not released yet. Release it first: dpnb.release([...], epsilon=1)."
        )
    from dpnb.cards import report as write

    handles = {one.dataset.handle: one.dataset for one in leaves if one.dataset is not None}
    used = {release.entry for one in leaves for release in one.releases}
    rows = [row for dataset in handles.values() for row in dataset.session.ledger_rows(dataset, used)]
    labelled = dict(named) if isinstance(items, Mapping) else {estimate.text: estimate for estimate in listed}
    return write(labelled, schemas=[d.schema for d in handles.values()], rows=rows, to=to, registry=registry)


def called_here(example: str) -> dict[str, Any]:
    """Return the released answers that have a name in this notebook.

    Raises
    ------
    PlanError
        Where there is no notebook whose names could be read.
    """
    names = current_host().names()
    if names is None:
        raise PlanError(f"Name what to {example}.")
    return {name: one for name, one in names.items() if getattr(one, "pending", True) is False}


def session_of(items: Iterable[Estimate | PendingQuestion]) -> Session:
    """Return the session that opened the dataset of these questions."""
    for one in _leaves(items):
        if one.dataset is not None:
            found: Session = one.dataset.session
            return found
    return session()


def _leaves(items: Iterable[Estimate | PendingQuestion]) -> list[PendingQuestion]:
    return [one for item in items for one in (item.leaves() if isinstance(item, Estimate) else (item,))]


def _named(
    items: Items,
) -> tuple[list[Estimate], dict[PendingQuestion, str], tuple[tuple[str, Estimate], ...]]:
    """Return estimates, the names of those that are single questions, and all named pairs.

    What is read from an estimate and keeps it (a regression, a test) stands for it.
    """
    single = _estimate_of(items)
    if isinstance(single, Estimate):
        items = [single]
    _refuse_others([] if hasattr(items, "__iter__") else [items])
    if not isinstance(items, Mapping):
        listed = [_estimate_of(item) for item in items]
        _refuse_others(listed)
        names = numbered(one.text for one in listed)
        alike = names != [one.text for one in listed] or any(one.measurement is None for one in listed)
        return listed, {}, tuple(zip(names, listed, strict=True)) if alike else ()  # each keeps its place
    pairs = tuple((str(name), _estimate_of(item)) for name, item in items.items())
    listed = [estimate for _, estimate in pairs]
    _refuse_others(listed)
    labels = {one.measurement: name for name, one in pairs if one.measurement is not None}
    return listed, labels, pairs


def _whole(items: Items) -> dict[str, Any]:
    """Return what was asked where an estimate stands for it, by its name or the estimate's text."""
    if not isinstance(_estimate_of(items), Estimate) and isinstance(items, Mapping):
        return {str(name): item for name, item in items.items() if not isinstance(item, Estimate)}
    listed = [items] if isinstance(_estimate_of(items), Estimate) else list(items)
    names = numbered(_estimate_of(item).text for item in listed)
    return {name: item for name, item in zip(names, listed, strict=True) if not isinstance(item, Estimate)}


def _estimate_of(item: object) -> Any:
    """Return what stands for an item: an estimate itself, which would search its names for a near one to suggest."""
    return item if isinstance(item, Estimate) else getattr(item, "estimate", item)


def _refuse_others(items: list[Any]) -> None:
    for item in items:
        if not isinstance(item, Estimate):
            raise PlanError(
                f"Only questions can be released, not {type(item).__name__}. For example: "
                'dpnb.release({"m": hiv.got.mean()}, epsilon=1).'
            )
