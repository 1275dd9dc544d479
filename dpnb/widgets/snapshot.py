"""What a front end shows of a session: datasets with schema, budget and ledger, as strict JSON.

One function of the session, so that the panel in the notebook, the panel beside it and the gauge in the status bar cannot
differ. It reads the ledger; it never charges it. Text is other people's: it is cleaned here and never markup.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dpnb.cards import budget as budgets
from dpnb.cards.attach import dummy_table, missing_rule, sources
from dpnb.cards.markup import clean
from dpnb.client.handles import Dataset
from dpnb.errors import CuratorGone, DpnbError
from dpnb.planner.schema_words import mode_badge, mode_sentence, unit_sentence
from dpnb.trusted.canonical import canonical
from dpnb.trusted.privacy.accountant import Budget, compose
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss, rational
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.schema import Column, Schema
from dpnb.version import __version__
from dpnb.widgets.host_questions import handle_of
from dpnb.widgets.questions import ready, subject
from dpnb.widgets.registry import Facts, Names

if TYPE_CHECKING:
    from dpnb.client.session import Session

PROTOCOL = 1
_ROWS = 200
"""How many ledger entries are told with every cell; a front end asks for the others when somebody wants to see them."""
_MOST = 10_000
_COLUMNS = 200
_count = itertools.count(1)
_LAST: dict[str, tuple[str, Facts]] = {}
"""What was read last of each handle, and when."""


def now() -> str:
    """Return the time, in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def snapshot(session: Session) -> Facts:
    """Return what is open, what it may be asked, and what was spent.

    Parameters
    ----------
    session : Session
        Of this kernel. It starts no curator of its own here: without an open dataset nothing is asked of one, and after
        the curator has ended this is how it stood when it was last read.
    """
    at, problem = now(), ""
    datasets = []
    for dataset in list(session.datasets.values()):
        try:
            read, record = _record_now_or_last(session, dataset)
            at = min(at, read)
            datasets.append(record)
        except KeyError:
            continue  # it was never read
        except DpnbError as error:
            problem = clean(error).splitlines()[0]
    return {
        "protocol": PROTOCOL,
        "version": __version__,
        "seq": next(_count),
        "at": at,
        "curator": "gone" if session.gone and session.datasets else "",
        "datasets": datasets,
        "plan": _plan(session),
        "problem": problem,
    }


def _record_now_or_last(session: Session, dataset: Dataset) -> tuple[str, Facts]:
    """Return a dataset, and when it was read: now, or last before the curator ended."""
    if not session.gone:
        at = now()
        try:
            with session.looking():
                _LAST[dataset.handle] = (at, dataset_record(dataset))
        except CuratorGone:
            if not session.gone:
                raise
    return _LAST[dataset.handle]


def _plan(session: Session) -> Facts | None:
    """The current plan in a word; its board is asked for when somebody looks at it."""
    view = session.latest
    if view is None:
        return None
    return {"number": session.plans, "dataset": view.dataset.name, "cost": str(view.cost)}


def dataset_record(dataset: Dataset) -> Facts:
    """Return one dataset: its schema, and its budget and ledger as they stand."""
    schema, state = dataset.schema, dataset.budget.state()
    acts = dataset.session.ledger_rows(dataset)
    return {
        "name": schema.name,
        "title": clean(schema.title or schema.name),
        "badge": mode_badge(schema.mode),
        "sentence": mode_sentence(schema.mode),
        "unit": unit_sentence(schema.unit),
        "symbol": state.cap.measure.symbol,
        "cap": float(state.cap.amount),
        "spent": float(state.spent.amount),
        "left": float(state.left.amount),
        "used": budgets.used_share(state.cap - state.left, state.cap),
        "words": f"spent {state.spent} · {budgets.words(state.left, state.cap, state.whose)}",
        "own": budgets.own_cap(state),
        "handle": handle_of(dataset),
        "columns": _columns(schema, handle_of(dataset)),
        "entries": len(acts),
        "ledger": _rows(acts[-_ROWS:], dataset.session.entries),
        "counting": counting(state.budget, _charged(acts), state.spent, state.cap),
    }


@lru_cache(maxsize=64)
def _columns(schema: Schema, handle: str) -> list[Facts]:
    return [_column(schema, column, handle) for column in schema.columns[:_COLUMNS]]


def _column(schema: Schema, column: Column, handle: str) -> Facts:
    words = column.describe()
    return {
        "name": column.name,
        "label": clean(column.label),
        "kind": words if column.type != "category" else f"category {words}",
        "missing": missing_rule(column),
        "numeric": bool(column.numeric),
        "spoken": subject(handle, column.name),
        "asks": ready(schema, column, handle),
    }


def ledger_rows(dataset: Dataset) -> list[Facts]:
    """Return every entry of a dataset's ledger that may be seen, oldest first; of very many, the newest."""
    return _rows(dataset.session.ledger_rows(dataset)[-_MOST:], dataset.session.entries)


def _rows(acts: Sequence[Names], here: frozenset[int]) -> list[Facts]:
    return [_row(act) | {"here": act["entry"] in here} for act in acts]


def _charged(acts: Sequence[Names]) -> Iterator[PrivacyEvent]:
    """What was charged in this budget period; an entry told by an older curator brings no events."""
    resets = [place for place, act in enumerate(acts) if act["kind"] == "reset"]
    for act in acts[resets[-1] + 1 if resets else 0 :]:
        yield from map(_event, act.get("events", ()))


def _event(record: Names) -> PrivacyEvent:
    return _known_event(canonical(record))


@lru_cache(maxsize=4096)
def _known_event(text: str) -> PrivacyEvent:
    return PrivacyEvent.from_json(json.loads(text))


def _row(act: Names) -> Facts:
    loss = act["loss"]
    return {
        "entry": act["entry"],
        "time": act["time"],
        "kind": act["kind"],
        "loss": None if loss is None else float(loss.amount),
        "paid": "" if loss is None else str(loss),
        "questions": [clean(text) for text in act["texts"]],
        "mine": act["principal"] is not None,
        "stored": bool(act.get("answered")),
        "note": clean(act["note"]),
    }


#: The δ that can be chosen where the budget names none.
DELTAS = (1e-5, 1e-6, 1e-9)


def listed(events: Iterable[PrivacyEvent]) -> list[list[Any]]:
    """Return events as pictures take them: ``[kind, amount, δ, how many]``, and the moves of Laplace noise."""
    return [
        [one.kind, float(one.amount), float(one.delta), times, *([_moves(one)] if one.moves else [])]
        for one, times in Counter(events).items()
    ]


def _moves(event: PrivacyEvent) -> list[list[list[float]]]:
    return [[[float(shift), float(scale)] for shift, scale in move] for move in event.moves]


def counting(
    budget: Budget, events: Iterable[PrivacyEvent], spent: PrivacyLoss, cap: PrivacyLoss | None = None
) -> Facts:
    """Return what a picture needs to count some events both ways under a budget.

    Parameters
    ----------
    budget : Budget
        An ε, a ρ, or (ε, δ).
    events : iterable of PrivacyEvent
        What was charged, as far as the reader may see it.
    spent : PrivacyLoss
        What was charged in all: of others, and of other datasets under the same budget, a reader sees the total alone.
    cap : PrivacyLoss, optional
        What may be spent in all, where that is less than the budget.
    """
    (epsilon, rho, delta), seen = _promise(budget, budget.cap if cap is None else cap), tuple(events)
    return {
        "kept": "adding" if budget.measure is Measure.PURE else "zcdp",
        "epsilon": epsilon,
        "rho": rho,
        "delta": delta,
        "deltas": list(DELTAS) if delta is None else [delta],
        "events": listed(seen),
        "whole": compose(seen, budget.measure).amount == spent.amount,
    }


def _promise(budget: Budget, cap: PrivacyLoss) -> tuple[float | None, float | None, float | None]:
    """Return ε, ρ and δ as both ways of counting see a budget; None is what follows from the others at a chosen δ."""
    if budget.measure is Measure.PURE:
        return float(cap.amount), None, None
    if budget.measure is Measure.ZCDP:
        return None, float(cap.amount), None
    words = {name: rational(text) for name, text in budget.asked_as.items()}
    delta = words["delta"] - budget.cap.delta  # the rest of δ is for the events' own
    epsilon = float(words["epsilon"]) if cap.amount == budget.cap.amount else None
    return epsilon, float(cap.amount), float(delta)


_MOST_COLUMNS = 1000


def attach_facts(dataset: Dataset, name: str | None = None) -> Facts:
    """Return what the attach card draws, as strict JSON.

    Parameters
    ----------
    dataset : Dataset
    name : str, optional
        What the notebook calls it.
    """
    schema, handle = dataset.schema, name or handle_of(dataset)
    return {
        "handle": handle,
        "dataset": {**dataset_record(dataset), "columns": []},
        "description": clean(schema.description),
        "notes": [clean(note) for note in dataset.notes],
        "columns": [_column(schema, column, handle) for column in schema.columns[:_MOST_COLUMNS]],
        "more": max(len(schema.columns) - _MOST_COLUMNS, 0),
        "rows": dummy_table(schema),
        "sources": [[what, clean(text)] for what, text in sources(schema)],
        "problem": "",
    }
