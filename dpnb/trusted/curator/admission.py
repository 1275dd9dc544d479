"""Whether a charge is admitted: every cap that holds is asked.

Nothing here writes. A refusal tells amounts of budget alone; :mod:`dpnb.trusted.curator.remedies` adds to it what would be admitted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpnb.trusted.curator import pins, totals
from dpnb.trusted.errors import BudgetError
from dpnb.trusted.privacy import (
    Filter,
    Measure,
    PrivacyEvent,
    PrivacyLoss,
    compose,
    exact_text,
    floored_digits,
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


def with_ways_out(refusal: BudgetError, ways: Sequence[str]) -> BudgetError:
    """Return a refusal that names the ways out before its last sentence."""
    if not ways:
        return refusal
    facts = refusal.message.removesuffix(_UNCHANGED)
    return BudgetError(f"{facts}Ways out: {' · '.join(ways)}. {_UNCHANGED}", **refusal.details)


def option_that_fits(left: PrivacyLoss, events: Sequence[PrivacyEvent]) -> tuple[str, Fraction] | None:
    """Return the option and the amount at which mechanisms together fit what is left, rounded down to three digits.

    What is paid in ρ for an ε is no power of it, and is searched.
    """
    kinds = {event.kind for event in events}
    if left.measure is Measure.PURE:
        name, amount = "epsilon", left.amount
    elif kinds == {"gaussian"}:
        name, amount = "rho", left.amount
    elif "gaussian" not in kinds:
        name, amount = "epsilon", sum((event.amount for event in events), Fraction(0)) * _shrink(left, events)
    else:
        return None
    amount = floored_digits(amount)
    return (name, amount) if amount > 0 else None


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
