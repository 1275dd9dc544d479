"""The running totals: what a pool and a principal have spent, read from the last charge and never summed anew.

So a charge takes as long in an old ledger as in a new one. Every function works inside its caller's transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpnb.trusted.canonical import JsonObject, Record
from dpnb.trusted.curator import meters, pins
from dpnb.trusted.errors import RequestReused
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure


@dataclass(frozen=True, slots=True)
class Room:
    """What every cap leaves, the cap of which the least is left, and what was spent under that one.

    Parameters
    ----------
    left : PrivacyLoss
        The tightest amount and the tightest δ.
    cap, spent : PrivacyLoss
        Of the cap with the tightest amount.
    whose : str
        Whose cap that is; empty for the dataset's budget.
    """

    left: PrivacyLoss
    cap: PrivacyLoss
    spent: PrivacyLoss
    whose: str


@dataclass(frozen=True, slots=True)
class ChargeRow:
    """A charge: its entry, what it cost, what the pool has spent with it; `new` if made now.

    `adopted` says that another request made it, in an earlier life of the curator. `questions` are those of its record. `room` is
    what every cap left after a charge that was made now.
    """

    entry: int
    loss: PrivacyLoss
    spent_after: PrivacyLoss
    new: bool
    adopted: bool = False
    questions: tuple[Record, ...] = ()
    room: Room | None = None


def charged(db: sqlite3.Connection, request_id: str, bound: Mapping[str, str]) -> ChargeRow | None:
    """Return the charge that a request is bound to; refuse its id for anything else."""
    query = "SELECT entry, principal, digest, charge FROM requests WHERE request = ?"
    row = db.execute(query, (request_id,)).fetchone()
    if row is None:
        return None
    entry, principal, digest, charge = row
    body = {**body_of(db, charge), "principal": principal, "digest": digest}
    if any(body[name] != value for name, value in bound.items()):
        raise RequestReused(
            "This request id was used for another plan. Run the cell again: it gets a new one."
        )
    if not is_answered(db, charge):
        refuse_second_draw(db, charge)
        if restored_since(db, charge):
            raise RequestReused(
                "The ledger was restored after this charge, and its answer may have been sent before. Run the cell again. "
                "It is a new request, with a new charge."
            )
    return row_of(charge, body, adopted=entry != charge)


def is_answered(db: sqlite3.Connection, charge: int) -> bool:
    """Tell whether a charge has its answers."""
    return db.execute("SELECT 1 FROM answers WHERE charge = ?", (charge,)).fetchone() is not None


def refuse_second_draw(db: sqlite3.Connection, charge: int) -> None:
    """Hold the table of answers to the chain, before a charge is completed that it knows no answer of.

    A damaged table would let a charge that was answered be drawn again, and nobody would pay for the second draw.

    Raises
    ------
    ValueError
        When an entry stored the answers of this charge.
    """
    query = "SELECT 1 FROM entries WHERE entry > ? AND kind = 'store' AND json_extract(body, '$.charge') = ?"
    if db.execute(query, (charge, charge)).fetchone() is not None:
        raise ValueError(f"The answers of charge {charge} are lost.")


def restored_since(db: sqlite3.Connection, entry: int) -> bool:
    """Tell whether the ledger was restored after an entry: whether its charge was answered since is then unknown."""
    query = "SELECT 1 FROM entries WHERE entry > ? AND kind = 'restore' LIMIT 1"
    return db.execute(query, (entry,)).fetchone() is not None


def row_of(entry: int, body: JsonObject, *, adopted: bool = False) -> ChargeRow:
    """Read the body of a charge that was made before."""
    loss, spent = (PrivacyLoss.from_json(body[name]) for name in ("loss", "spent"))
    return ChargeRow(entry, loss, spent, new=False, adopted=adopted, questions=tuple(body["questions"]))


def body_of(db: sqlite3.Connection, charge: int) -> Record:
    """Return the body of a charge's entry."""
    found: Record = json.loads(
        db.execute("SELECT body FROM entries WHERE entry = ?", (charge,)).fetchone()[0]
    )
    return found


def period_of(db: sqlite3.Connection, pool: str, before: int | None = None) -> int:
    """Return a pool's current period (or the one `before` an entry): the entry of its last reset or new meter."""
    query = "SELECT max(entry) FROM (SELECT * FROM resets UNION ALL SELECT * FROM meters) WHERE pool = ? AND entry < ?"
    return int(db.execute(query, (pool, 2**62 if before is None else before)).fetchone()[0] or 0)


def totals(
    db: sqlite3.Connection, pool: str, principal: str, period: int, measure: Measure
) -> tuple[PrivacyLoss, PrivacyLoss]:
    """Return what a pool and a principal have spent in a period; a new meter begins at the old total, doubled."""
    found = {of: rest for of, *rest in db.execute(_TOTALS, (pool, principal, pool))}
    spent, own = (_read_at(db, found.get(of), pool, period, measure) for of in ("spent", "mine"))
    return spent, own


_TOTAL = "SELECT '{0}', {0}, period FROM charges WHERE entry = (SELECT max(entry) FROM charges WHERE {1})"
_TOTALS = (
    f"{_TOTAL.format('spent', 'pool = ?')} UNION ALL {_TOTAL.format('mine', 'principal = ? AND pool = ?')}"
)


def shares(
    db: sqlite3.Connection, pool: str, names: Iterable[str], period: int, measure: Measure
) -> dict[str, PrivacyLoss]:
    """Return what shares of a pool have spent in a period; a new meter begins at the old totals, doubled."""
    query = "SELECT spent, period FROM shares WHERE share = ? AND pool = ? ORDER BY entry DESC LIMIT 1"
    rows = {name: db.execute(query, (name, pool)).fetchone() for name in names}
    return {name: _read_at(db, row, pool, period, measure) for name, row in rows.items()}


def _read_at(
    db: sqlite3.Connection, row: Sequence[Any] | None, pool: str, period: int, measure: Measure
) -> PrivacyLoss:
    """Return a total in a period, by the last charge that counted towards it."""
    if row is None or row[1] > period:
        return PrivacyLoss.zero(measure)
    if row[1] == period:
        return loss_of(row[0])
    if not meters.is_meter(db, period):
        return PrivacyLoss.zero(measure)
    return meters.doubled(_read_at(db, row, pool, period_of(db, pool, before=period), measure))


@lru_cache(maxsize=1024)
def loss_of(text: str) -> PrivacyLoss:
    """Read a loss from its record."""
    return PrivacyLoss.from_json(json.loads(text))


def known_measure(db: sqlite3.Connection, pool: str) -> Measure | None:
    """Return the measure in which a pool is kept, where anything says so."""
    budget = pins.pool_budget(db, pool)
    if budget is not None:
        return budget.measure
    query = "SELECT spent FROM charges WHERE pool = ? ORDER BY entry DESC LIMIT 1"
    row = db.execute(query, (pool,)).fetchone()
    return None if row is None else loss_of(row[0]).measure


def measure_of(db: sqlite3.Connection, pool: str) -> Measure:
    """Return the measure in which a pool is kept."""
    return known_measure(db, pool) or Measure.PURE


def own_cap(db: sqlite3.Connection, principal: str, pool: str) -> PrivacyLoss | None:
    """Return a principal's own recorded cap."""
    query = "SELECT cap FROM caps WHERE principal = ? AND pool = ? ORDER BY entry DESC LIMIT 1"
    row = db.execute(query, (principal, pool)).fetchone()
    return None if row is None or row[0] is None else loss_of(row[0])
