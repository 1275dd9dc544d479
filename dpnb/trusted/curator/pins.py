"""What an owner promised, and what may still change: terms grow tighter alone, or looser by the owner's recorded act.

Mode, pool, whether the data are public, and that bounds were seen on the data hold from the first opening; unit,
adjacency, columns, their bounds and the budget from the first charge, so that a typing error can be corrected (which is
recorded) until something was paid. TEACHING data pin that they are public, and their pool. All datasets of a pool have one unit
and one adjacency. Every function works inside its caller's transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from dpnb.trusted.curator.chain import record
from dpnb.trusted.curator.terms import Change, Terms, budget_change, compare, taught
from dpnb.trusted.errors import CuratorGone, OwnerError
from dpnb.trusted.privacy.accountant import Budget


@dataclass(frozen=True, slots=True)
class Attachment:
    """A dataset as the ledger knows it: its pool, the version of its content, its pinned budget."""

    dataset: str
    pool: str
    version: str
    budget: Budget
    entry: int
    first: bool


def pinned(db: sqlite3.Connection, dataset: str) -> Terms | None:
    """Return a dataset's terms as they are pinned now, or None before its first attach."""
    query = "SELECT terms FROM attachments WHERE dataset = ? ORDER BY entry DESC LIMIT 1"
    row = db.execute(query, (dataset,)).fetchone()
    return None if row is None else _terms_of(row[0])


@lru_cache(maxsize=256)
def _terms_of(text: str) -> Terms:
    return Terms.from_json(json.loads(text))


def pool_budget(db: sqlite3.Connection, pool: str) -> Budget | None:
    """Return a pool's pinned budget."""
    query = "SELECT budget FROM attachments WHERE pool = ? ORDER BY entry DESC LIMIT 1"
    row = db.execute(query, (pool,)).fetchone()
    return None if row is None else _budget_of(row[0])


@lru_cache(maxsize=256)
def _budget_of(text: str) -> Budget:
    return Budget.from_json(json.loads(text))


def changes_of(db: sqlite3.Connection, pinned: Terms | None, terms: Terms) -> tuple[Change, ...]:
    """Return how terms differ from the pinned ones."""
    changes = () if pinned is None else tuple(c for c in compare(pinned, terms) if c.term != "budget")
    budget = pool_budget(db, terms.pool)
    if budget is None and pinned is not None:
        budget = pinned.budget
    return changes if budget is None else (*budget_change(budget, terms.budget), *changes)


_FROM_THE_FIRST_OPENING = frozenset({"mode", "pool", "public", "choice of bounds"})
_OF_TEACHING = frozenset({"mode", "pool", "public"})


def owners_act(schema: str) -> str:
    """Return what an owner types to record looser terms; the ledger knows a schema's usual file name alone."""
    return f'dpnb loosen {schema} --reason "…"'


def refuse_looser(
    db: sqlite3.Connection, terms: Terms, changes: Iterable[Change], reason: str | None
) -> None:
    """Refuse looser terms without the owner's reason, where they hold already."""
    looser = [str(change) for change in changes if change.looser and _holds(db, terms, change.term)]
    if looser and reason is None:
        raise OwnerError(
            f"{terms.dataset}: {'; '.join(looser[:3])}{'; …' if len(looser) > 3 else ''}. Earlier openings pinned "
            "these terms: write the pinned value again, or record the loosening as the owner: "
            + owners_act(f"{terms.dataset}.dpnb.toml")
        )


def _holds(db: sqlite3.Connection, terms: Terms, term: str) -> bool:
    """Tell whether a term is pinned: some from the first opening, a budget by its pool's charges, the rest by its own."""
    if taught(terms) and modes(db, terms.pool) <= {terms.mode}:
        return term in _OF_TEACHING
    if term in _FROM_THE_FIRST_OPENING:
        return True
    if term == "budget":
        others = "SELECT 1 FROM attachments WHERE pool = ? AND dataset <> ? LIMIT 1"
        shared = db.execute(others, (terms.pool, terms.dataset)).fetchone() is not None
        return shared or _paid(db, "pool", terms.pool)
    return _paid(db, "dataset", terms.dataset)


def _paid(db: sqlite3.Connection, what: str, name: str) -> bool:
    query = f"SELECT 1 FROM charges WHERE {what} = ? LIMIT 1"  # noqa: S608 - our own names
    return db.execute(query, (name,)).fetchone() is not None


def refuse_unit(db: sqlite3.Connection, terms: Terms, before: Terms | None) -> bool:
    """Refuse a unit or adjacency that cannot become the dataset's; return whether a new meter begins.

    A size that was public stays known, so such a dataset never becomes add-remove. What was spent on one unit says
    nothing about another. Add-remove becomes change-one with the old total doubled (:mod:`dpnb.trusted.curator.meters`).
    """
    if before is not None and (before.unit.adjacency, terms.unit.adjacency) == ("change-one", "add-remove"):
        raise OwnerError(
            f"{terms.dataset}: its size was public when it was opened, so it is known. It can never become add-remove."
        )
    paid = before is not None and _paid(db, "dataset", terms.dataset)
    # 7 and 07 are two units as texts alone: to or from that type one person's past charges would be another's
    names = [(one.unit.unit, one.unit.type == "text") for one in (before or terms, terms)]
    if paid and names[0] != names[1]:
        raise OwnerError(
            f"{terms.dataset}: a budget with charges keeps its unit. Write unit and unit_type as they were."
        )
    _refuse_other_unit(db, terms)
    return paid and before is not None and before.unit.adjacency != terms.unit.adjacency


def _refuse_other_unit(db: sqlite3.Connection, terms: Terms) -> None:
    query = "SELECT DISTINCT dataset FROM attachments WHERE pool = ? AND dataset <> ?"
    for (other,) in db.execute(query, (terms.pool, terms.dataset)).fetchall():
        theirs = pinned(db, other)
        if theirs is None or theirs.pool != terms.pool or _one_unit(theirs, terms):
            continue
        charged = "SELECT 1 FROM charges WHERE pool = ? AND dataset = ? LIMIT 1"
        if db.execute(charged, (terms.pool, other)).fetchone() is not None:
            raise OwnerError(
                f"{terms.dataset}: the datasets of a pool have one unit and one adjacency, and this pool has unit = "
                f'"{theirs.unit.unit}" and adjacency = "{theirs.unit.adjacency}". Write these, or another pool.'
            )


def _one_unit(one: Terms, other: Terms) -> bool:
    return (one.unit.unit, one.unit.adjacency) == (other.unit.unit, other.unit.adjacency)


def refuse_mixed(db: sqlite3.Connection, dataset: str) -> None:
    """Refuse the charge of a dataset whose pool began with another unit meanwhile: who opens it again is told more."""
    terms = pinned(db, dataset)
    if terms is not None:
        _refuse_other_unit(db, terms)


def refuse_stale(db: sqlite3.Connection, terms: Terms) -> None:
    """Refuse a charge on terms that are no longer the pinned ones: a loosening from a terminal reaches what is open.

    Its price would be one of the old promise, and be added to a total of the new one. Budgets are left out: the pinned
    one is looked up at every charge.
    """
    before = pinned(db, terms.dataset)
    if before is None or before == terms or taught(before, terms):
        return
    if any(change.term != "budget" for change in compare(before, terms)):
        raise CuratorGone(
            "The owner changed the terms of this dataset. Nothing was spent. Open the dataset again."
        )


def refuse_measure(db: sqlite3.Connection, terms: Terms) -> None:
    """Refuse another measure for a budget that has charges."""
    row = db.execute("SELECT spent FROM charges WHERE pool = ? LIMIT 1", (terms.pool,)).fetchone()
    if row is not None and json.loads(row[0])["measure"] != terms.budget.measure.value:
        raise OwnerError(
            f"{terms.dataset}: a budget with charges keeps its measure. Write [budget] as it was."
        )


def pin(
    db: sqlite3.Connection,
    terms: Terms,
    changes: tuple[Change, ...],
    *,
    by: str,
    time: str,
    reason: str | None,
    first: bool,
    meter: bool = False,
) -> int:
    """Pin terms where they are new or differ, or where the owner gave a reason; return the entry that pins them."""
    if not first and not changes and reason is None:
        query = "SELECT entry FROM attachments WHERE dataset = ? ORDER BY entry DESC LIMIT 1"
        return int(db.execute(query, (terms.dataset,)).fetchone()[0])
    looser = any(change.looser for change in changes)
    kind = "loosen" if reason is not None else "attach" if first else "correct" if looser else "tighten"
    body = {"terms": terms.to_json(), "by": by, "changes": [change.to_json() for change in changes]}
    body |= {} if reason is None else {"reason": reason}
    return record(db, time, kind, {**body, "meter": True} if meter else body)


def modes(db: sqlite3.Connection, pool: str) -> set[str]:
    """Return the modes of a pool's datasets."""
    query = "SELECT DISTINCT dataset FROM attachments WHERE pool = ?"
    pins = [pinned(db, row[0]) for row in db.execute(query, (pool,)).fetchall()]
    return {terms.mode for terms in pins if terms is not None}
