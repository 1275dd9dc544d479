"""Whether a charge is admitted: every cap that holds is asked.

Nothing here writes. A refusal tells amounts of budget alone; a kernel adds to it what would be admitted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpnb.trusted.curator import holds, pins, totals
from dpnb.trusted.errors import BudgetError
from dpnb.trusted.privacy.accountant import admits
from dpnb.trusted.privacy.loss import PrivacyLoss, exact_text

_UNCHANGED = "Nothing was spent."
POOL, MINE = "pool", "mine"
"""The totals that every charge states; any other one is a share, by its name."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A cap on one running total of a pool.

    Parameters
    ----------
    words : str
        What a refusal calls it: "… is left of *your own cap of* …".
    cap : PrivacyLoss
    of : str
        Whose total: that of the pool, of the principal, or of a share of the pool that an owner named (a group, a token).
    """

    words: str
    cap: PrivacyLoss
    of: str = MINE


def room(limits: Sequence[Limit], spent: Mapping[str, PrivacyLoss]) -> totals.Room:
    """Return what these caps leave after what was spent under each."""
    left = [_left(limit, spent) for limit in limits]
    least, one = min(zip(left, limits, strict=True), key=lambda pair: pair[0].amount)
    both = PrivacyLoss(least.measure, least.amount, min(each.delta for each in left))
    return totals.Room(both, one.cap, spent[one.of], one.words.rstrip(", ").removesuffix(" of"))


def recorded(db: sqlite3.Connection, pool: str, principal: str) -> list[Limit]:
    """Return the caps that the ledger knows: the pinned budget, the owner's caps, and a principal's own."""
    pinned, own = pins.pool_budget(db, pool), totals.own_cap(db, principal, pool)
    found = [*([] if pinned is None else [Limit("", pinned.cap, POOL)]), *granted(db, pool, principal)]
    return found if own is None else [*found, Limit("your own cap of ", own)]


Standing = tuple[int, list[Limit], bool, Any]


def standing(db: sqlite3.Connection, dataset: str, pool: str, principal: str, terms: Any) -> Standing:
    """Read what the acts of owners and principals say of a charge, or refuse it; nothing that is charged changes it.

    Returns
    -------
    (int, list of Limit, bool, Terms or None)
        The pool's period; the recorded caps; whether no other dataset has the pool, with which it could be
        mixed; the terms for which the price was made.
    """
    holds.refuse(db, dataset)
    if terms is not None:
        pins.refuse_stale(db, terms)
    others = "SELECT 1 FROM attachments WHERE pool = ? AND dataset <> ? LIMIT 1"
    alone = db.execute(others, (pool, dataset)).fetchone() is None
    return totals.period_of(db, pool), recorded(db, pool, principal), alone, terms


_ACTS = ("attachments", "holds", "grants", "caps", "resets", "meters")
_LAST = ", ".join(f"(SELECT coalesce(max(entry), 0) FROM {one})" for one in _ACTS)  # noqa: S608 - our own names
LAST_ACT = f"SELECT hash FROM entries WHERE entry = max({_LAST})"  # noqa: S608
"""Its hash stands for all acts: each is an entry, and none is ever changed."""


def granted(db: sqlite3.Connection, pool: str, principal: str) -> list[Limit]:
    """Return the caps that an owner recorded on a pool, under the empty name, and on a principal of it."""
    whose = {"": ("its owner's cap of ", POOL), principal: ("what its owner grants you, ", MINE)}
    query = "SELECT cap FROM grants WHERE pool = ? AND principal = ? ORDER BY entry DESC LIMIT 1"
    rows = {who: db.execute(query, (pool, who)).fetchone() for who in whose}
    return [
        Limit(whose[who][0], totals.loss_of(row[0]), whose[who][1])
        for who, row in rows.items()
        if row is not None and row[0] is not None
    ]


def shares_of(caps: Iterable[Limit]) -> list[str]:
    """Return the names of the shares whose totals caps hold."""
    return sorted({limit.of for limit in caps} - {POOL, MINE})


def _left(limit: Limit, spent: Mapping[str, PrivacyLoss]) -> PrivacyLoss:
    return limit.cap - spent[limit.of]


def admit(asked: PrivacyLoss, limits: Sequence[Limit], spent: Mapping[str, PrivacyLoss]) -> None:
    """Admit a loss, or refuse it with what is left."""
    refusing = [limit for limit in limits if not admits(limit.cap, spent[limit.of], asked)]
    if not refusing:
        return
    limit = min(refusing, key=lambda one: _left(one, spent).amount)
    left = _left(limit, spent)
    raise BudgetError(
        f"This cell asks for {asked.brief('up')}; {_amount(left)} is left of {limit.words}{_amount(limit.cap)}. "
        f"{_UNCHANGED}",
        asked=exact_text(asked.amount),
        left=exact_text(left.amount),
        cap=exact_text(limit.cap.amount),
        measure=asked.measure.value,
        delta={
            "asked": exact_text(asked.delta),
            "left": exact_text(left.delta),
            "cap": exact_text(limit.cap.delta),
        },
    )


def _amount(loss: PrivacyLoss) -> str:
    return loss.brief("down").split(" ", 1)[1]
