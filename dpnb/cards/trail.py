"""The intervals that an answer had, one for each time it was paid for: what a card draws as a trail that fades.

Concluded from each prefix of the releases by the code that concludes from all of them. Nothing else is read, and what was
concluded once is kept with the answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from weakref import WeakKeyDictionary

from dpnb.errors import DpnbError, Unavailable
from dpnb.privacy.loss import PrivacyLoss
from dpnb.release import Measurement, Release
from dpnb.statistics import Share, conclude

__all__ = ["Step", "more_of", "paid_for", "trail_of"]

LEVEL = 0.95
#: The newest are drawn; a question measured more often than that is no longer read one by one.
LONGEST = 6
_ANY_SIZE = 1000.0

_TRAILS: WeakKeyDictionary[Any, tuple[Step, ...]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Step:
    """The 95 % privacy interval after a payment, and what had been paid until then."""

    low: float
    high: float
    paid: str

    @property
    def half_width(self) -> float:
        """Half of its width."""
        return (self.high - self.low) / 2

    def to_json(self) -> dict[str, Any]:
        """Return it in JSON's own types."""
        return {"low": self.low, "high": self.high, "paid": self.paid}


def trail_of(leaf: Measurement) -> tuple[Step, ...]:
    """Return the privacy intervals of a released number, oldest first, the present one last.

    Parameters
    ----------
    leaf : Measurement
        Released. A vector, a public answer, a reading, and one without a bounded privacy interval have no trail.
    """
    if leaf.root is not leaf or leaf.outcome is None or not leaf.releases or tuple(leaf.shape or ()) != ():
        return ()
    if leaf.outcome not in _TRAILS:
        _TRAILS[leaf.outcome] = _trail(leaf)
    return _TRAILS[leaf.outcome]


def paid_for(releases: tuple[Release, ...]) -> PrivacyLoss:
    """Return what some distinct releases cost together."""
    return sum((release.loss for release in releases[1:]), releases[0].loss)


def more_of(leaf: Measurement) -> str:
    """Return the symbol of what can be paid on top, where what that would buy is known from public facts; else nothing."""
    if not trail_of(leaf):
        return ""
    symbol = leaf.releases[0].loss.measure.symbol
    kind, setting = leaf.checked.kind, leaf.checked.setting
    try:
        pricing = kind.price(setting, Share("epsilon" if symbol == "ε" else "rho", Fraction(1)))
        known = kind.half_width(setting, pricing, _ANY_SIZE) is not None
    except DpnbError:
        return ""
    return symbol if known else ""


def _trail(leaf: Measurement) -> tuple[Step, ...]:
    releases = tuple({release.id: release for release in leaf.releases}.values())
    steps = []
    for upto in range(max(1, len(releases) - LONGEST + 1), len(releases) + 1):
        known = releases[:upto]
        outcome = leaf.outcome if upto == len(releases) else conclude(leaf.checked, known)
        try:
            low, high = outcome.interval(LEVEL, "privacy")  # type: ignore[union-attr]
        except Unavailable:
            return ()
        if not (math.isfinite(low) and math.isfinite(high)):
            return ()
        steps.append(Step(float(low), float(high), str(paid_for(known))))
    return tuple(steps)
