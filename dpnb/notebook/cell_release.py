"""After the body: what the cell holds is planned or released, named and drawn.

This is the only place of the room that spends, always through the session, and only for a cell that ran to its
end. The open batch is closed before anything here happens. Names are looked up afterwards, for labels alone: an
estimate is found because it is held, never because of what it is called.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from IPython.display import display

from dpnb.client.plan_view import BatchReport, PlanView
from dpnb.errors import BudgetError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.estimate.regression_summary import Regression
from dpnb.estimate.wording import not_kept
from dpnb.notebook.display import report_bundle
from dpnb.notebook.find_estimates import asked, labels_of, named, weigh
from dpnb.notebook.host import Progress
from dpnb.notebook.options import CellOptions
from dpnb.planner.request import Ask

if TYPE_CHECKING:
    from dpnb.client.session import Session
    from dpnb.notebook.magic import DPMagic

V = TypeVar("V", PlanView, BatchReport)
NOTHING = "no question to release: nothing spent"
HELD = "Everything in this cell is answered already: nothing was asked, nothing spent. To pay for more accuracy: {}"


def session_of(leaves: Sequence[PendingQuestion]) -> Session:
    """Return the session in which the dataset of some questions was opened."""
    asked = next((one.dataset for one in leaves if one.dataset is not None), None)
    return getattr(asked, "session", None) or current_session()


def current_session() -> Session:
    """Return the session in which a dataset was opened last."""
    from dpnb.client import api

    return api.session()


def settle(  # noqa: PLR0913 -- what became of one cell
    magic: DPMagic,
    options: CellOptions,
    leaves: Sequence[PendingQuestion],
    *,
    value: object = None,
    names: Sequence[str] = (),
    dropped: int = 0,
    silenced: bool = False,
    body: str | None = None,
    answers: Mapping[str, Any] | None = None,
) -> object:
    """Plan or release the measurements of a finished cell, and draw the card.

    Parameters
    ----------
    magic : DPMagic
        The configuration and the screen.
    options : CellOptions
        What the magic line asked for.
    leaves : sequence of PendingQuestion
        The pending measurements that the cell holds, each once.
    value : object
        The value of the cell's last expression.
    names : sequence of str
        The names that the cell bound, for the order of labels.
    dropped : int
        How many questions the cell built and did not keep; the card counts them as free.
    silenced : bool
        Whether the last expression is hidden by ``;``.
    body : str, optional
        The text of the cell below its magic line, for the cell that releases a plan.
    answers : mapping, optional
        The answers of a cell of SQL, by what its cards call them.

    Returns
    -------
    object
        What the cell shows as its output.
    """
    __tracebackhide__ = True
    if not leaves:
        _say_nothing(dropped, _held(magic.shell.user_ns, names))
        return None if silenced else value
    pairs = named({**magic.shell.user_ns, **(answers or {})}, names)
    leaves = weigh(options, dict(pairs), leaves)
    if not leaves:
        _say_nothing(dropped, "")
        return None if silenced else value
    ask = ask_of(magic, options, leaves)
    cell = _Cell(pairs, tuple(leaves), dropped, body, answers or {}, "sql" if options.sql else "")
    if stops_at_plan(magic, options):
        _plan(magic, options, cell, ask)
        return None if silenced or isinstance(value, Estimate) else value
    shown = None if silenced else value
    _release(magic, cell, ask, shown)
    return shown


def ask_of(magic: DPMagic, options: CellOptions, leaves: Sequence[PendingQuestion]) -> Ask:
    """Return what a cell asks for, with the configured default where it names no loss."""
    return asked(options, leaves, epsilon=magic.epsilon, names=magic.shell.user_ns)


def stops_at_plan(magic: DPMagic, options: CellOptions) -> bool:
    """Whether this cell only shows what it would cost."""
    return options.verb == "plan" or (magic.mode == "ask" and options.verb != "release")


@dataclasses.dataclass(frozen=True, slots=True)
class _Cell:
    pairs: Sequence[tuple[str, Estimate]]
    leaves: tuple[PendingQuestion, ...]
    dropped: int
    body: str | None = None
    answers: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    language: str = ""

    def annotate(self, view: V, shown: object = None) -> V:
        """Add names to a plan or report; leave out what the cell draws as its own output."""
        hidden = tuple(item for item in (getattr(shown, "measurement", None),) if item is not None)
        labels = labels_of(self.leaves, self.pairs)
        facts: dict[str, Any] = {
            "labels": labels,
            "dropped": self.dropped,
            "named": tuple(self._named(labels, shown)),
            "hidden": hidden,
            "whole": dict(self.answers),
        }
        known = {field.name for field in dataclasses.fields(view)}
        return dataclasses.replace(view, **{name: fact for name, fact in facts.items() if name in known})

    def _named(self, labels: Mapping[PendingQuestion, str], shown: object) -> Iterator[tuple[str, Estimate]]:
        """Each estimate of this batch under its first name, then what is kept without a name."""
        mine = {id(leaf) for leaf in self.leaves}
        seen = {id(shown)}
        covered = {id(leaf) for leaf in shown.leaves()} if isinstance(shown, Estimate) else set()
        for name, estimate in self.pairs:
            leaves = {id(leaf) for leaf in estimate.leaves()}
            if leaves & mine and all(id(leaf) in mine or leaf.released for leaf in estimate.leaves()):
                covered |= leaves
                if id(estimate) not in seen:
                    seen.add(id(estimate))
                    yield name, estimate
        for leaf in self.leaves:
            if id(leaf) not in covered:
                yield labels[leaf], Estimate.leaf(leaf)


def _plan(magic: DPMagic, options: CellOptions, cell: _Cell, ask: Ask) -> None:
    __tracebackhide__ = True
    with Progress() as progress:
        view = session_of(cell.leaves).plan(cell.leaves, ask, labels=labels_of(cell.leaves, cell.pairs))
    magic.planned = (view, cell.body, cell.language)
    stops = options.verb != "plan"
    verb = " ".join(filter(None, [cell.language, "release" if stops else ""]))
    magic.screen.show_plan(cell.annotate(view), list(cell.leaves), cell.body, verb, show=progress.finish)
    if stops:
        line = f"%%dp {cell.language} release …".replace("  ", " ")
        print(f'Nothing was spent (DPMagic.mode = "ask"). To release: {line}')  # noqa: T201


def _release(magic: DPMagic, cell: _Cell, ask: Ask, shown: object) -> None:
    __tracebackhide__ = True
    labels = labels_of(cell.leaves, cell.pairs)
    try:
        with Progress() as progress:
            report = session_of(cell.leaves).release(cell.leaves, ask, labels=labels)
    except BudgetError:
        _show_ways_out(cell, ask, labels)
        raise
    report = cell.annotate(report, shown)
    progress.finish(report_bundle(report))
    magic.screen.refresh(report)
    magic.last_report = report


def _show_ways_out(cell: _Cell, ask: Ask, labels: dict[PendingQuestion, str]) -> None:
    """Show the budget with the refused plan as a ghost, and the ways out, above the refusal; nothing was spent."""
    from dpnb import widgets

    with contextlib.suppress(Exception):  # what is told is the refusal, whatever becomes of the picture
        view = session_of(cell.leaves).preview(cell.leaves, ask, labels=labels)
        display(widgets.budget(view, body=cell.body, verb=cell.language))


def _say_nothing(dropped: int, held: str) -> None:
    print(not_kept(dropped) if dropped else HELD.format(held) if held else NOTHING)  # noqa: T201


def _held(user_ns: Mapping[str, object], names: Sequence[str]) -> str:
    """What would pay more for the first answer that a cell bound, where there is one; a fit is read from its moments."""
    for name in names:
        one = user_ns.get(name)
        if isinstance(one, Estimate) and one.measurement is not None:
            return f"{name} = {name}.remeasure(epsilon=…)"
        if isinstance(one, Regression):
            return f"{name} = {name}.moments.remeasure(epsilon=…).{one.asked_as}({name}.formula)"
    return ""
