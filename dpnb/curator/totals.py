"""The running totals: what a pool and a principal have spent, read from the last charge and never summed anew.

So a charge takes as long in an old ledger as in a new one. Every function works inside its caller's transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from dpnb.curator import pins
from dpnb.errors import RequestReused
from dpnb.privacy import Measure, PrivacyLoss

__all__ = ["ChargeRow", "charged", "known_measure", "loss_of", "measure_of", "own_cap", "period_of", "totals"]


@dataclass(frozen=True, slots=True)
class ChargeRow:
    """A charge: its entry, what it cost, what the pool and the principal have spent with it; `new` if made now."""

    entry: int
    loss: PrivacyLoss
    spent_after: PrivacyLoss
    principal_after: PrivacyLoss
    new: bool


def charged(db: sqlite3.Connection, request_id: str, bound: Mapping[str, str]) -> ChargeRow | None:
    """Return the charge of a request that was made before; refuse its id for anything else."""
    query = "SELECT entry, spent, mine, body FROM charges JOIN entries USING (entry) WHERE request = ?"
    row = db.execute(query, (request_id,)).fetchone()
    if row is None:
        return None
    body = json.loads(row[3])
    if any(body[name] != value for name, value in bound.items()):
        raise RequestReused(
            "This request id was used for another plan. Run the cell again: it gets a new one."
        )
    return ChargeRow(row[0], PrivacyLoss.from_json(body["loss"]), loss_of(row[1]), loss_of(row[2]), new=False)


def period_of(db: sqlite3.Connection, pool: str) -> int:
    """Return a pool's current period: the entry of its last reset."""
    row = db.execute(
        "SELECT entry FROM resets WHERE pool = ? ORDER BY entry DESC LIMIT 1", (pool,)
    ).fetchone()
    return 0 if row is None else int(row[0])


def totals(
    db: sqlite3.Connection, pool: str, principal: str, period: int, measure: Measure
) -> tuple[PrivacyLoss, PrivacyLoss]:
    """Return what a pool and a principal have spent in a period."""
    whole = "SELECT spent, period FROM charges WHERE pool = ? ORDER BY entry DESC LIMIT 1"
    mine = "SELECT mine, period FROM charges WHERE principal = ? AND pool = ? ORDER BY entry DESC LIMIT 1"
    rows = (db.execute(whole, (pool,)).fetchone(), db.execute(mine, (principal, pool)).fetchone())
    zero = PrivacyLoss.zero(measure)
    spent, own = (loss_of(row[0]) if row is not None and row[1] == period else zero for row in rows)
    return spent, own


@lru_cache(maxsize=1024)
def loss_of(text: str) -> PrivacyLoss:
    """Read a loss from its record."""
    return PrivacyLoss.from_json(json.loads(text))


def known_measure(db: sqlite3.Connection, pool: str) -> Measure | None:
    """Return the measure in which a pool is kept, where anything says so."""
    budget = pins.pool_budget(db, pool)
    if budget is not None:
        return budget.measure
    row = db.execute(
        "SELECT spent FROM charges WHERE pool = ? ORDER BY entry DESC LIMIT 1", (pool,)
    ).fetchone()
    return None if row is None else loss_of(row[0]).measure


def measure_of(db: sqlite3.Connection, pool: str) -> Measure:
    """Return the measure in which a pool is kept."""
    return known_measure(db, pool) or Measure.PURE


def own_cap(db: sqlite3.Connection, principal: str, pool: str) -> PrivacyLoss | None:
    """Return a principal's own recorded cap."""
    query = "SELECT cap FROM caps WHERE principal = ? AND pool = ? ORDER BY entry DESC LIMIT 1"
    row = db.execute(query, (principal, pool)).fetchone()
    return None if row is None or row[0] is None else loss_of(row[0])
