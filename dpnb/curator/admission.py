"""Whether a charge is admitted: every cap that holds is asked, and a refusal names the ways out.

Nothing here writes. A refusal tells amounts of budget alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpnb.curator import pins, totals
from dpnb.errors import BudgetError
from dpnb.privacy import (
    Filter,
    Measure,
    PrivacyEvent,
    PrivacyLoss,
    brief,
    compose,
    exact_text,
    floored_digits,
)

__all__ = ["admit", "filters", "limits"]


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


def admit(
    asked: PrivacyLoss,
    events: Sequence[PrivacyEvent],
    questions: int,
    filters: Iterable[tuple[str, Filter, PrivacyLoss]],
) -> None:
    """Admit a loss, or refuse it with what is left and the ways out."""
    refusing = [(words, limit, spent) for words, limit, spent in filters if not limit.admits(spent, asked)]
    if not refusing:
        return
    words, limit, spent = min(refusing, key=lambda refusal: refusal[1].left(refusal[2]).amount)
    left = limit.left(spent)
    ways = " · ".join(_ways_out(asked, left, events, questions))
    raise BudgetError(
        f"This cell asks for {asked.brief('up')}; {_amount(left)} is left of {words}{_amount(limit.cap)}. "
        f"Ways out: {ways}. Nothing was spent.",
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


def _ways_out(
    asked: PrivacyLoss, left: PrivacyLoss, events: Sequence[PrivacyEvent], questions: int
) -> Iterable[str]:
    option = _option_that_fits(asked, left, events)
    if option is not None:
        yield f"%%dp {option}"
    yield "look for a stored answer (%dp ledger)"
    if questions > 1:
        yield f"drop one of {questions} queries"


def _option_that_fits(asked: PrivacyLoss, left: PrivacyLoss, events: Sequence[PrivacyEvent]) -> str | None:
    """Name the same cell's option at a loss that fits: what is paid in ρ for an ε is no power of it, and is searched."""
    kinds = {event.kind for event in events}
    if asked.measure is Measure.PURE:
        name, amount = "epsilon", left.amount
    elif kinds == {"gaussian"}:
        name, amount = "rho", left.amount
    elif "gaussian" not in kinds:
        name, amount = "epsilon", sum((event.amount for event in events), Fraction(0)) * _shrink(left, events)
    else:
        return None
    amount = floored_digits(amount)
    return f"{name}={brief(amount, 'down')}" if amount > 0 else None


def _shrink(left: PrivacyLoss, events: Sequence[PrivacyEvent]) -> Fraction:
    """Return a part of every ε, in millionths, at which the events together fit."""
    low, high = 0, 10**6
    while low < high:
        middle = (low + high + 1) // 2
        scaled = [event.scaled(Fraction(middle, 10**6)) for event in events]
        low, high = (
            (middle, high) if compose(scaled, left.measure).amount <= left.amount else (low, middle - 1)
        )
    return Fraction(low, 10**6)
