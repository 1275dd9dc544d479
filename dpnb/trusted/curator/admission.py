"""Whether a charge is admitted: every cap that holds is asked.

Nothing here writes. A refusal tells amounts of budget alone; a kernel adds to it what would be admitted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dpnb.trusted.curator import pins, totals
from dpnb.trusted.errors import BudgetError
from dpnb.trusted.privacy import (
    Filter,
    PrivacyLoss,
    exact_text,
)

_UNCHANGED = "Nothing was spent."


@dataclass(frozen=True, slots=True)
class _Limit:
    """A cap, the words for it, and whether it limits the principal alone or everybody."""

    words: str
    cap: PrivacyLoss
    personal: bool


def limits(
    db: sqlite3.Connection, pool: str, principal: str, cap: PrivacyLoss, caps: Mapping[str, PrivacyLoss]
) -> list[_Limit]:
    """Return every cap that holds: the asked, the pinned, the given and the recorded one."""
    pinned, own = pins.pool_budget(db, pool), totals.own_cap(db, principal, pool)
    found = [_Limit("", cap, personal=False)]
    found += [] if pinned is None else [_Limit("", pinned.cap, personal=False)]
    found += [_Limit(words, limit, personal=True) for words, limit in caps.items()]
    return found if own is None else [*found, _Limit("your own cap of ", own, personal=True)]


def filters(
    found: Iterable[_Limit], spent: PrivacyLoss, mine: PrivacyLoss
) -> list[tuple[str, Filter, PrivacyLoss]]:
    """Return each cap as a filter, with what was spent under it."""
    return [(limit.words, Filter(limit.cap), mine if limit.personal else spent) for limit in found]


def admit(asked: PrivacyLoss, filters: Iterable[tuple[str, Filter, PrivacyLoss]]) -> None:
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
