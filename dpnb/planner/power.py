"""Which size or which loss is enough: the half-widths and powers of a design, inverted by bisection.

They fall, and rise, with size and loss; a loss is found to three digits and rounded up, so that what is found is enough. The accuracies
themselves are those of :mod:`dpnb.planner.design`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, isfinite, log10, sqrt
from typing import Literal

import numpy as np

from dpnb.errors import OptionError, PlanError, Unavailable
from dpnb.planner.design import Accuracy, Design
from dpnb.trusted.query.plan import Share

_LOW, _HIGH = 1e-4, 1e4
_FEWEST, _MOST = 4, 10**9


@dataclass(frozen=True, slots=True)
class Goal:
    """What is wanted: a half-width, or an effect found with a probability.

    Parameters
    ----------
    level : float
        Of the interval, and of the test that goes with it.
    kind : {"confidence", "privacy"}
        Which interval `within` is about.
    within : float, optional
        Half-width.
    effect, power : float, optional
        A distance from the null value, and the probability with which the confidence interval must leave the null value out.
    """

    level: float = 0.95
    kind: Literal["confidence", "privacy"] = "confidence"
    within: float | None = None
    effect: float | None = None
    power: float | None = None

    @property
    def wanted(self) -> bool:
        """Whether there is something to reach."""
        return self.within is not None or self.power is not None

    def met(self, found: Accuracy) -> bool:
        """Tell whether an accuracy is enough."""
        wide = self.within is not None and found.half_width(self.kind) > self.within
        weak = self.power is not None and found.chance(self.effect or 0.0) < self.power
        return not (wide or weak)

    def __str__(self) -> str:
        said = [] if self.within is None else [f"within ± {self.within:g}"]
        if self.power is not None:
            said.append(f"an effect of {self.effect:g} detected with probability {self.power:g}")
        return " and ".join(said)


def least_loss(design: Design, kind: Literal["epsilon", "rho"], n: int | None, goal: Goal) -> Share:
    """Return the smallest loss of three digits that reaches the goal at a size, rounded up.

    Raises
    ------
    PlanError
        When no loss reaches it: sampling alone is too wide.
    """

    def enough(amount: Fraction) -> bool:
        return goal.met(design.accuracy(Share(kind, amount), n, goal.level))

    if not enough(Fraction(_HIGH)):
        best = design.accuracy(Share(kind, Fraction(_HIGH)), n, goal.level)
        raise PlanError(
            f"No loss reaches this goal, {goal}: without noise it is {_words(best, goal)}. Plan more rows."
        )
    low, high = _LOW, _HIGH
    while high / low > 1.002:
        middle = sqrt(low * high)
        low, high = (low, middle) if enough(rounded_up(middle)) else (middle, high)
    return Share(kind, rounded_up(high))


def least_size(design: Design, share: Share, goal: Goal) -> int:
    """Return the smallest number of rows that reaches the goal at a loss.

    Raises
    ------
    PlanError
        When no size reaches it, or the size does not matter.
    """

    def enough(n: int) -> bool:
        return goal.met(design.accuracy(share, n, goal.level))

    if design.fixed:
        raise PlanError(
            "The size of an existing dataset cannot be planned. Leave out epsilon= and rho=: the loss is then computed."
        )
    if not enough(_MOST):
        raise PlanError(f"No number of rows reaches this goal, {goal}, at this loss. Use a larger epsilon.")
    low, high = _FEWEST - 1, _FEWEST
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _words(found: Accuracy, goal: Goal) -> str:
    if goal.power is not None:
        return f"detected with probability {found.chance(goal.effect or 0.0):.3g}"
    return f"± {found.half_width(goal.kind):.3g}"


def rounded_up(amount: float, digits: int = 3) -> Fraction:
    """Return the next number of three digits, exactly.

    Examples
    --------
    >>> rounded_up(0.12341)
    Fraction(31, 250)
    """
    if not (isfinite(amount) and amount > 0):
        raise OptionError("A loss is a number above 0.")
    places = digits - 1 - floor(log10(amount))
    scale = Fraction(10) ** places
    return Fraction(ceil(Fraction(amount) * scale * (1 - Fraction(1, 10**12)))) / scale


def curve(
    design: Design, kind: Literal["epsilon", "rho"], losses: Sequence[float], n: int | None
) -> np.ndarray:
    """Return the effective size at each loss, one row for each and one column for each cell.

    Raises
    ------
    Unavailable
        Where the answer is not about a population, so that no number of rows is as accurate.
    """
    found = [design.accuracy(Share(kind, Fraction(str(loss))), n, 0.95).n_eff for loss in losses]
    if any(sizes is None for sizes in found):
        raise Unavailable("This answer has no effective size: no number of people is as accurate as it.")
    return np.stack([np.ravel(sizes) for sizes in found if sizes is not None])


def power_table(design: Design, share: Share, n: int | None, level: float) -> list[tuple[float, Accuracy]]:
    """Return the accuracy at a quarter, half, once, twice and four times a loss."""
    losses = [share.amount * factor for factor in (Fraction(1, 4), Fraction(1, 2), 1, 2, 4)]
    return [(float(loss), design.accuracy(Share(share.kind, loss), n, level)) for loss in losses]
