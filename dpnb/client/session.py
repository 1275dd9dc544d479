"""A kernel's conversation with its curator: open, plan, release, and what was spent.

The session plans: it chooses what is measured and how much noise that gets. What this costs is derived by the curator. It keeps the id of
every request whose answer has not arrived, so that asking again returns the stored answer instead of paying twice. The ids die
with the kernel: a restarted one asks under a new id, and the curator lets it adopt what was charged and not answered.
"""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dpnb.client import launch
from dpnb.client.connection import Line
from dpnb.client.handles import BudgetState, Dataset, Opened, TeachingDataset
from dpnb.client.held_answers import Wanted, fetch_held, met_by_held, stored_widths, with_held
from dpnb.client.plan_view import BatchReport, PlanView
from dpnb.client.priced_batch import (
    Asked,
    AskedBatch,
    answers,
    batch_of,
    held_places,
    held_shares,
    read_from_store,
    stored_questions,
    told_releases,
)
from dpnb.client.remedies import with_remedies
from dpnb.client.service import Service
from dpnb.client.sizes import ReleasedSizes, sized
from dpnb.client.synthetic_plan import refuse_weak, synthetic_plans
from dpnb.client.transport import Transport
from dpnb.errors import (
    BudgetError,
    ChargedError,
    CuratorError,
    CuratorGone,
    DpnbError,
    OptionError,
    OwnerError,
    PlanError,
    RequestReused,
)
from dpnb.estimate import Estimate, PendingQuestion, current_host, open_batch
from dpnb.estimate.pending_question import distinct
from dpnb.estimate.refusals import nested
from dpnb.planner.check import CheckedQuestion
from dpnb.planner.price import PricedQuestion, as_stored
from dpnb.planner.request import Ask
from dpnb.statistics import conclude
from dpnb.synthetic.tables import asked_with
from dpnb.teach.public_rows import Columns, PublicRows
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.loss import PrivacyLoss, exact_text, parse_exact, positive
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release
from dpnb.trusted.schema import Mode, Schema
from dpnb.trusted.wire.codec import exact_json, raw
from dpnb.trusted.wire.messages import (
    MOST_ROWS,
    MOST_WORDED,
    Answered,
    Attach,
    Attached,
    Cancel,
    Cancelled,
    Cap,
    Describe,
    Described,
    Detach,
    FileSource,
    Message,
    Open,
    Peek,
    Peeked,
    Receipt,
    Receipted,
    Reset,
    Source,
    Statement,
    StatementOf,
    StudySource,
    Submit,
)
from dpnb.trusted.wire.messages import BudgetState as WireBudget
from dpnb.trusted.wire.places import Home

if TYPE_CHECKING:
    from dpnb.cards.ledger import LedgerRows


@dataclass(frozen=True, slots=True)
class Glance:
    """What is stored of a batch: how many of its questions, what the others would be charged, and what is left."""

    stored: int
    asked: int
    cost: PrivacyLoss
    left: PrivacyLoss


class Session:
    """The datasets that one kernel has open, and its connection to the curator.

    Parameters
    ----------
    connect : callable, optional
        Returns a transport; by default the curator of the current home, started when needed.
    seed : str, optional
        The seed for the noise of that curator.
    service : Service, optional
        The service to use instead of your own curator.
    """

    def __init__(
        self,
        connect: Callable[[], Transport] | None = None,
        *,
        seed: str | None = None,
        service: Service | None = None,
    ) -> None:
        self.seed, self.service = seed, service
        self._roots: dict[str, Dataset] = {}
        self._sources: dict[str, Attach | Open] = {}
        self._waiting: dict[tuple[str, str], str] = {}
        self._caps: dict[str, str] = {}
        self._charged: set[int] = set()
        self._latest: PlanView | None = None
        self._plans = 0
        self._sizes: dict[str, ReleasedSizes] = {}
        self._told: dict[str, dict[int, dict[str, Any]]] = {}
        home = Home.current()
        self.line = Line(
            connect or (lambda: launch.connect(home)),
            lambda: list(self._sources),
            self._tell,
            join=None if connect else lambda: launch.reach(home),
            **({} if service is None else {"again": lambda handle: self._sources[handle]}),
        )
        if current_host().listens:
            self.line.watch()

    # datasets --------------------------------------------------------------------------------------------------

    @property
    def datasets(self) -> dict[str, Dataset]:
        """The datasets opened in this session, by name; if two share a name, the one opened last."""
        return {dataset.name: dataset for dataset in self._open_now()}

    def _open_now(self) -> list[Dataset]:
        """The handles as they stand now: the news and the front ends read them on threads of their own, while a cell opens more."""
        return list(self._roots.values())

    def attach(
        self, source: Source, mode: str | None = None, public: Callable[[], Columns] | None = None
    ) -> Dataset:
        """Open a dataset, or return the handle that this session has on it; `public` reads the rows of TEACHING data."""
        return self._opened(Attach(source=source, mode=mode), public)

    def open_served(self, name: str) -> Dataset:
        """Open a dataset that a service holds, or return the handle that this session has on it."""
        return self._opened(Open(name=name), None)

    def _opened(self, message: Attach | Open, public: Callable[[], Columns] | None) -> Dataset:
        with current_host().progress("opening the dataset"):
            reply = self._ask(message, Attached)
        schema = Schema.from_json(exact_json(reply.schema))
        opened = Opened(reply.handle, schema, reply.data_version, Mode(reply.mode), self._notes(reply.notes))
        self._told.pop(reply.handle, None)  # other terms may show other acts
        root = self._roots.pop(reply.handle, None)
        if root is None or root._opened != opened:
            root = _handle(self, opened, public)
        self._roots[reply.handle] = root
        self._sources[reply.handle] = message
        if self._caps:
            self._send_cap(reply.handle)
        self._tell()
        return root

    def detach(self, dataset: Dataset, *, remove: bool = True) -> None:
        """Close a dataset; by default its prepared copy is deleted. Ledger and stored answers stay."""
        with contextlib.suppress(CuratorGone):
            self._ask(Detach(handle=dataset.handle, remove=remove), None)
        self._roots.pop(dataset.handle, None)
        self._sources.pop(dataset.handle, None)

    def opening(self, dataset: Dataset) -> str | None:
        """Return the call that opens a dataset again, as it is typed; None for rows that only the kernel held."""
        asked = self._sources.get(dataset.handle)
        if isinstance(asked, Open):
            return None if self.service is None else f'dpnb.open("{self.service.url}/{asked.name}")'
        return typed(asked, self.seed)

    def _notes(self, told: Iterable[str]) -> tuple[str, ...]:
        """What the dataset's card must say."""
        seeded = f"Seed {self.seed}: whoever knows it can remove the noise. These answers protect nobody."
        return (*told, *([] if self.seed is None else [seeded]))

    def describe(self, dataset: Dataset) -> Schema:
        """Return the public schema as the curator states it."""
        reply = self._ask(Describe(handle=dataset.handle), Described)
        return Schema.from_json(exact_json(reply.schema))

    # batches ---------------------------------------------------------------------------------------------------

    def plan(
        self, items: Iterable[Asked], ask: Ask, labels: Mapping[PendingQuestion, str] | None = None
    ) -> PlanView:
        """Price a batch and look up what is stored. Spends nothing.

        Parameters
        ----------
        items : iterable of Estimate or PendingQuestion
            What to release; derived estimates stand for their pending questions.
        ask : Ask
            The loss or the accuracy asked.
        labels : mapping of PendingQuestion to str, optional
            Their names.
        """
        self._latest = self.preview(items, ask, labels)
        self._plans += 1
        return self._latest

    def preview(
        self, items: Iterable[Asked], ask: Ask, labels: Mapping[PendingQuestion, str] | None = None
    ) -> PlanView:
        """Price a batch as :meth:`plan` does, without making it the session's current plan."""
        return self._view(batch_of(items, ask), labels)

    @property
    def latest(self) -> PlanView | None:
        """The last plan that was made and not released since."""
        return self._latest

    @property
    def plans(self) -> int:
        """How many plans were made: which of them is the latest."""
        return self._plans

    def release(
        self,
        items: Iterable[Asked],
        ask: Ask,
        labels: Mapping[PendingQuestion, str] | None = None,
        *,
        alone: bool = False,
    ) -> BatchReport:
        """Release a batch: charge it, answer it, and fill its measurements in place.

        Beside a stored answer the others that are held are fetched too, but with ``alone``: then each question has what this loss gives alone.

        Raises
        ------
        BudgetError
            More was asked than is left. Nothing was spent; the questions stay pending.
        ChargedError
            Interrupted after the charge; asking again returns the stored answer.
        CuratorGone
            The curator ended twice in a row; asking again starts a new one.
        """
        _refuse_inner()
        asked = list(items)
        told = read_from_store(asked)
        if told:
            return self._told_again(told, ask, labels)
        return self._released(batch_of(asked, ask), labels, alone=alone)

    def _told_again(
        self, told: Sequence[PendingQuestion], ask: Ask, labels: Mapping[PendingQuestion, str] | None
    ) -> BatchReport:
        """Return the report of answers from the store that were read before they were asked: they cost nothing, and cannot change."""
        batch = batch_of([one.again() for one in told], ask)
        if ask.fresh or not all(map(_holds, told, batch.priced.items)):
            raise PlanError(
                f"`{told[0].text}` was read before this release, so its value is fixed. Nothing was spent. "
                "Ask the question again, and release it before you read it."
            )
        for one, (more,) in zip(told, batch.groups, strict=True):
            more.fill(one.releases, conclude(one.checked, one.releases))
        releases = tuple(next(iter(one.releases), None) for one in told)
        return self._reported(batch, labels, self._answered_by_schema(batch), releases)

    def remeasure(self, estimate: Estimate, **asked: Any) -> Estimate:
        """Pay more for a released question and combine old and new releases in a new estimate."""
        _refuse_inner()
        old = estimate.measurement
        if old is None or not old.released:
            raise PlanError("Only a released answer can be measured again.")
        if not old.releases:
            raise PlanError(f"`{old.text}` is public: it is exact already, and free.")
        ask = Ask.make(**asked)
        more = old.again()
        batch = batch_of([more], ask)
        # what was stored beside it may be what this line bought when it ran before: run again, it is free
        held = tuple(part.draw for release in old.own for part in release.parts)
        self._released(replace(batch, again=held), None)
        releases = distinct((*old.releases, *more.releases))
        both = PendingQuestion(old.question, old.checked, dataset=old.dataset, origin=more.origin)
        both.fill(releases, conclude(old.checked, releases))
        return Estimate.leaf(both)

    def held(self, answer: PendingQuestion) -> tuple[Release, ...]:
        """Return every stored answer to a released question, each with at least a thousandth of its loss; nothing is spent."""
        _refuse_inner()
        first = answer.releases[0]
        wanted = Wanted(answer, Share(first.share_kind, parse_exact(first.share)), answer.releases)
        fetch_held(self.line, [wanted])
        return wanted.releases

    def sizes(self, dataset: Dataset) -> ReleasedSizes:
        """Return how many rows stand behind questions, as far as the answers of this session tell."""
        return self._sizes.setdefault(dataset.handle, ReleasedSizes())

    def glance(self, batch: AskedBatch) -> Glance | None:
        """Look up the stored answers of a batch, if that is possible at once: without starting a curator or waiting for a cell.

        Like :meth:`plan`, it reads the ledger and spends nothing.
        """
        peeked = self.line.glance(_peek(batch), Peeked) if self._roots else None
        if peeked is None:
            return None
        stored = stored_questions(batch, peeked)
        asked = sum(1 for places in batch.priced.places if places)
        return Glance(sum(stored), asked, _cost(batch, peeked), _loss(peeked.left))

    def _view(self, batch: AskedBatch, labels: Mapping[PendingQuestion, str] | None) -> PlanView:
        batch, peeked = self._looked_up(met_by_held(self.line, batch))
        stored, held = stored_questions(batch, peeked), held_shares(batch, peeked)
        priced = as_stored(batch.priced, stored, held, stored_widths(self.line, batch, stored))
        return PlanView(
            dataset=batch.dataset,
            priced=sized(priced, self.sizes(batch.dataset)),
            stored=stored,
            held=held,
            prices=batch.priced.prices(held_places(peeked.stored)),
            cost=_loss(peeked.cost),
            left=_loss(peeked.left),
            cap=_loss(peeked.cap),
            whose=peeked.whose,
            measurements=batch.firsts,
            labels=dict(labels or {}),
            together=tuple(asked_with(batch.everyone)),
        )

    def _released(
        self, batch: AskedBatch, labels: Mapping[PendingQuestion, str] | None, *, alone: bool = False
    ) -> BatchReport:
        batch = met_by_held(self.line, batch)
        refuse_weak(synthetic_plans(batch.groups, batch.priced.items, self._rows_of(batch)))
        if batch.priced.saves:
            batch = self._looked_up(batch)[0]
        answered = self._answered_by_schema(batch) if batch.all_public else self._submit(batch)
        told = told_releases(batch, answered)
        releases = answers(batch.priced, told)
        single = tuple(() if one is None else (one,) for one in releases)
        _fill(batch, single if alone else with_held(self.line, batch, releases))
        return self._reported(batch, labels, answered, releases, held_places(one.stored for one in told))

    def _rows_of(self, batch: AskedBatch) -> Callable[[CheckedQuestion], int | None]:
        assumed, sizes = batch.priced.ask.assume_n, self.sizes(batch.dataset)
        return lambda checked: assumed or sizes.rows_of(checked)

    def _reported(
        self,
        batch: AskedBatch,
        labels: Mapping[PendingQuestion, str] | None,
        answered: Answered,
        releases: Sequence[Release | None],
        held: frozenset[int] = frozenset(),
    ) -> BatchReport:
        """Return the report of a batch whose questions have their answers, and learn from them."""
        self.sizes(batch.dataset).learn(batch.priced.items, releases)
        if answered.entry is not None:
            self._charged.add(answered.entry)
        self._latest = _unless_released(self._latest, batch)
        charged, left = _loss(answered.charged), _loss(answered.left)
        before = exact_json(answered.before)
        view = PlanView(
            dataset=batch.dataset,
            priced=batch.priced,
            stored=tuple(release is not None and release.stored for release in releases),
            prices=batch.priced.prices(held) if charged else (),
            cost=charged,
            left=left + charged,
            cap=_loss(answered.cap),
            whose=answered.whose,
            measurements=batch.firsts,
            labels=dict(labels or {}),
            together=tuple(asked_with(batch.everyone)),
        )
        return BatchReport(
            plan=view,
            left=left,
            entry=answered.entry,
            before=None if before is None else PrivacyLoss.from_json(before),
            labels=view.labels,
        )

    def _answered_by_schema(self, batch: AskedBatch) -> Answered:
        """Return what a curator would say of a batch that asks nothing of it."""
        budget = self._ask(Describe(handle=batch.dataset.handle), Described).budget
        nothing = PrivacyLoss.zero(batch.priced.measure)
        return Answered(
            request="0" * 32,
            releases=raw([]),
            charged=raw(nothing.to_json()),
            left=budget.left,
            cap=budget.cap,
            whose=budget.whose,
            entry=None,
        )

    def _submit(self, batch: AskedBatch) -> Answered:
        """Send a batch under a request id that outlives a failure, and settle what became of it."""
        place = (batch.dataset.handle, batch.digest)
        request = self._waiting.setdefault(place, secrets.token_hex(16))
        message = Submit(
            handle=batch.dataset.handle,
            request=request,
            digest=batch.digest,
            plan=batch.body,
        )
        for one in batch.everyone:
            one.submit(request)
        try:
            answered: Answered = self._ask(message, Answered)
        except KeyboardInterrupt:
            answered = self._settle(message, place, batch)
        except RequestReused:
            self._forget(place, batch)
            raise
        except (CuratorError, OwnerError):
            raise  # the request may have been charged (a ledger's fault can follow the charge): its id is kept
        except BudgetError as refusal:
            self._forget(place, batch)
            raise with_remedies(refusal, batch, lambda other: self._looked_up(other)[1]) from None
        except DpnbError as refusal:
            if not refusal.details.get("later"):  # what only has to wait may have been charged before
                self._forget(place, batch)
            raise
        self._waiting.pop(place, None)
        return answered

    def _looked_up(self, batch: AskedBatch) -> tuple[AskedBatch, Peeked]:
        """Return a batch as it would be sent now, what is stored taken out before the rest is refined, and what is told of it."""
        peeked: Peeked = self._ask(_peek(batch), Peeked)
        finer = batch.refined(peeked.stored)
        return (batch, peeked) if finer is batch else (finer, self._ask(_peek(finer), Peeked))

    def _settle(self, message: Submit, place: tuple[str, str], batch: AskedBatch) -> Answered:
        """After an interrupt: cancel before the charge, else fetch the answer that is already paid for."""
        fate = "Interrupted twice, perhaps after the charge. Run the cell again: it is not charged twice."
        try:
            cancelled = self._ask(Cancel(request=message.request), Cancelled).state == "cancelled"
            if not cancelled:
                fate = "Interrupted after the charge. Run the cell again: the answer is stored, and free."
                answered: Answered = self._ask(message, Answered)
                return answered
        except KeyboardInterrupt:
            raise ChargedError(fate) from None
        except CuratorGone:
            raise ChargedError(
                "Interrupted while the curator ended, perhaps after the charge. Run the cell again: it is not charged twice."
            ) from None
        self._forget(place, batch)
        raise KeyboardInterrupt("Interrupted before the charge: nothing was spent.")

    def _forget(self, place: tuple[str, str], batch: AskedBatch) -> None:
        self._waiting.pop(place, None)
        for one in batch.everyone:
            one.withdraw()

    # budget and ledger -----------------------------------------------------------------------------------------

    def budget_state(self, handle: str) -> BudgetState:
        """Return one consistent reading of a dataset's budget."""
        return _budget(self._ask(Describe(handle=handle), Described).budget)

    @property
    def spent(self) -> dict[str, PrivacyLoss]:
        """What you have been charged, by dataset, read from the ledger."""
        return {dataset.name: dataset.budget.state().mine for dataset in self._open_now()}

    @property
    def entries(self) -> frozenset[int]:
        """The ledger's entries of what this session asked."""
        return frozenset(self._charged)

    def cap(self, epsilon: Any = None, *, rho: Any = None, dataset: Dataset | None = None) -> None:
        """Set a cap of your own below the budget of a dataset, or of all datasets of this session; without a number, remove it."""
        given = {name: value for name, value in (("epsilon", epsilon), ("rho", rho)) if value is not None}
        if len(given) > 1:
            raise OptionError("A cap is epsilon= or rho=, not both. For example cap(epsilon=2).")
        texts = {name: exact_text(positive(value, name=name)) for name, value in given.items()}
        if dataset is not None:
            self._send_cap(dataset.handle, texts)
            return
        self._caps = texts
        for handle in list(self._roots):
            self._send_cap(handle, texts)

    def _send_cap(self, handle: str, texts: Mapping[str, str] | None = None) -> None:
        self._ask(Cap(handle=handle, **(self._caps if texts is None else texts)), None)

    def reset(self, dataset: Dataset) -> None:
        """Open a new budget period of a TEACHING dataset."""
        self._ask(Reset(handle=dataset.handle), None)

    def ledger(self, dataset: Dataset | None = None) -> LedgerRows:
        """Return the rows of the ledger that you may see, oldest first: a list of plain JSON values, with exact losses as texts.

        It has ``.to_frame()``, ``.to_csv()``, ``.to_markdown()``, ``.to_latex()`` and ``.to_json()`` as a released answer has.
        """
        from dpnb.cards.ledger import LedgerRows, plain_row

        return LedgerRows(plain_row(row) for row in self.ledger_rows(dataset))

    def ledger_rows(
        self, dataset: Dataset | None = None, worded: Collection[int] = ()
    ) -> list[dict[str, Any]]:
        """Return the ledger's rows as you may see them, oldest first; the charges of the entries `worded` say what was measured."""
        found: dict[int, dict[str, Any]] = {}
        for one in self._open_now() if dataset is None else [dataset]:
            try:
                with self.line.lock:  # the cells and the news read it from threads of their own
                    found |= self._statement(one.handle, worded)
            except CuratorGone:
                if dataset is not None or self.datasets[one.name] is one:
                    raise
                continue  # a handle under earlier terms; the dataset was opened again since
        return [dict(found[entry]) for entry in sorted(found)]

    def _statement(self, handle: str, worded: Collection[int]) -> dict[int, dict[str, Any]]:
        """The rows of a handle: the ledger forgets nothing, so only what is new is asked, and what had no answer yet."""
        known = self._told.setdefault(handle, {})
        waiting = [entry for entry, row in known.items() if row["kind"] == "charge" and not row["answered"]]
        after = min(waiting) - 1 if waiting else max(known, default=0)
        while rows := self._rows(Statement(handle=handle, after=after)):
            known |= rows
            after = max(rows)
            if len(rows) < MOST_ROWS:
                break
        silent = [one for one in worded if one in known and known[one]["kind"] == "charge"]
        silent = [one for one in silent if not known[one]["measured"]]
        for start in range(0, len(silent), MOST_WORDED):
            page = tuple(silent[start : start + MOST_WORDED])
            known |= self._rows(Statement(handle=handle, entries=page))
        return known

    def _rows(self, asked: Statement) -> dict[int, dict[str, Any]]:
        found = {row["entry"]: row for row in exact_json(self._ask(asked, StatementOf).rows)}
        for row in found.values():
            for name in ("loss", "spent_after"):
                row[name] = None if row[name] is None else PrivacyLoss.from_json(row[name])
        return found

    def receipt(self, dataset: Dataset, entry: int) -> Receipted:
        """Return the signed receipt of a charge of this dataset, with what was released under it.

        Raises
        ------
        PlanError
            If the entry is not a charge that you may read, or has no answer.
        """
        found: Receipted = self._ask(Receipt(handle=dataset.handle, entry=entry), Receipted)
        return found

    def statement(self, dataset: Dataset | None = None, newest: int = 50) -> Any:
        """Return the ledger as a card: who was charged what, when, for which questions.

        Parameters
        ----------
        dataset : Dataset, optional
            By default all open datasets.
        newest : int
            For this many of the newest entries, the card also shows what was measured, in the curator's words.
        """
        from dpnb.client.drawing import Statement as Card

        rows = self.ledger_rows(dataset)
        shown = [row["entry"] for row in rows[-newest:]] if newest > 0 else []
        return Card(tuple(self.ledger_rows(dataset, shown)))

    # the wire --------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Disconnect from the curator; it ends soon after its last kernel."""
        self.line.close()

    @property
    def gone(self) -> bool:
        """Whether the curator has ended and no other was started; asking starts one."""
        return self.line.gone

    def looking(self) -> contextlib.AbstractContextManager[None]:
        """Within it, what this thread asks starts no curator: for what is shown by itself."""
        return self.line.looking()

    def watch(self) -> None:
        """Hear from now on when the ledger grows or the curator ends."""
        self.line.watch()

    def _ask(self, message: Message, wanted: type[Any] | None) -> Any:
        return self.line.ask(message, wanted)

    def _tell(self) -> None:
        current_host().ledger_changed()


def _handle(session: Session, opened: Opened, public: Callable[[], Columns] | None) -> Dataset:
    """Return a handle on a dataset; on TEACHING data one that also knows the public rows."""
    if opened.mode is not Mode.TEACHING or public is None:
        return Dataset(session, opened)
    return TeachingDataset.with_rows(session, opened, PublicRows(opened.schema, public))


def _peek(batch: AskedBatch) -> Peek:
    return Peek(handle=batch.dataset.handle, plan=batch.body)


def _refuse_inner() -> None:
    """Refuse to charge inside an open batch: the charge would survive an exception of the batch."""
    batch = open_batch()
    if batch is not None and not batch.nests:
        raise nested()


def _fill(batch: AskedBatch, releases: Sequence[tuple[Release, ...]]) -> None:
    for group, item, known in zip(batch.groups, batch.priced.items, releases, strict=True):
        outcome = conclude(item.checked, known)
        for one in group:
            one.fill(known, outcome, own=known[:1])


def _holds(answer: PendingQuestion, asked: PricedQuestion) -> bool:
    """Whether an answer has at least the share that is asked for it now."""
    if asked.share is None or not answer.releases:
        return True
    kinds = {release.share_kind for release in answer.releases}
    held = sum(parse_exact(release.share) for release in answer.releases)
    return kinds == {asked.share.kind} and held >= asked.share.amount


def _unless_released(latest: PlanView | None, batch: AskedBatch) -> PlanView | None:
    """Return the current plan, unless all that it asks was just released."""
    if latest is None or latest.dataset is not batch.dataset:
        return latest
    return None if {one.key for one in latest.items} <= {one.key for one in batch.priced.items} else latest


def _cost(batch: AskedBatch, peeked: Peeked) -> PrivacyLoss:
    """Return what a batch would be charged, once what is not stored is refined; nothing where it would adopt a charge."""
    told = _loss(peeked.cost)
    finer = batch.refined(peeked.stored)
    return (
        told
        if finer is batch or not told
        else finer.priced.costs(frozenset(place for place, one in enumerate(peeked.stored) if one))
    )


def _loss(value: Any) -> PrivacyLoss:
    return _told_loss(bytes(value))


@lru_cache(maxsize=64)
def _told_loss(told: bytes) -> PrivacyLoss:
    """A loss as a curator tells it: the same cap and the same charge come with every answer."""
    return PrivacyLoss.from_json(exact_json(told))


def _budget(state: WireBudget) -> BudgetState:
    personal = exact_json(state.personal)
    return BudgetState(
        Budget.from_json(exact_json(state.budget)),
        _loss(state.cap),
        state.whose,
        _loss(state.spent),
        _loss(state.left),
        None if personal is None else PrivacyLoss.from_json(personal),
        _loss(state.mine),
    )


def typed(asked: Attach | None, seed: str | None = None) -> str | None:
    """Return the call that opens a dataset again; None for rows or a declaration that only the kernel held.

    Examples
    --------
    >>> from dpnb.trusted.wire.messages import Attach, StudySource
    >>> typed(Attach(source=StudySource(name="hiv"), mode="guard-rail"))
    'dpnb.open("hiv", mode="guard-rail")'
    """
    source = None if asked is None else asked.source
    if isinstance(source, StudySource):
        words = [_quoted(source.name)]
    elif isinstance(source, FileSource) and bytes(source.schema) == b"null":
        words = [_quoted(source.path)]
        words += [f"schema={_quoted(source.schema_path)}"] if source.schema_path else []
    else:
        return None
    words += [] if asked is None or not asked.mode else [f"mode={_quoted(asked.mode)}"]
    words += [] if seed is None else [f"seed={seed if seed.isdecimal() else _quoted(seed)}"]
    return f"dpnb.open({', '.join(words)})"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
