"""Whether a charge is admitted: every cap that holds is asked.

Nothing here writes. A refusal tells amounts of budget alone; a kernel adds to it what would be admitted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dpnb.trusted.curator import pins, totals
from dpnb.trusted.errors import BudgetError
from dpnb.trusted.privacy.accountant import Filter
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


def limits(
    db: sqlite3.Connection, pool: str, principal: str, cap: PrivacyLoss, caps: Iterable[Limit]
) -> list[Limit]:
    """Return every cap that holds: the asked, the pinned, the given, the owner's and the recorded one."""
    pinned, own = pins.pool_budget(db, pool), totals.own_cap(db, principal, pool)
    found = [Limit("", cap, POOL), *([] if pinned is None else [Limit("", pinned.cap, POOL)]), *caps]
    found += granted(db, pool, principal)
    return found if own is None else [*found, Limit("your own cap of ", own)]


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


def filters(
    found: Iterable[Limit], spent: Mapping[str, PrivacyLoss]
) -> list[tuple[str, Filter, PrivacyLoss]]:
    """Return each cap as a filter, with what was spent under it."""
    return [(limit.words, Filter(limit.cap), spent[limit.of]) for limit in found]


def admit(asked: PrivacyLoss, filters: Sequence[tuple[str, Filter, PrivacyLoss]]) -> None:
    """Admit a loss, or refuse it with what is left."""
    refusing = [(words, limit, spent) for words, limit, spent in filters if not limit.admits(spent, asked)]
    if not refusing:
        return
    words, limit, spent = min(refusing, key=lambda refusal: refusal[1].left(refusal[2]).amount)
    left = limit.left(spent)
    raise BudgetError(
        f"This cell asks for {asked.brief('up')}; {_amount(left)} is left of {words}{_amount(limit.cap)}. "
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
