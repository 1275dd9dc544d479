"""Where to clamp: bias and noise of a mean, for any two bounds, on public or simulated values.

Takes an array: a handle is refused by its type, because bounds chosen from protected values would be a release.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from dpnb.cards.card import Card
from dpnb.cards.digits import number
from dpnb.errors import PlanError
from dpnb.widgets import clamping
from dpnb.widgets._base import Interaction
from dpnb.widgets.one_person import priced, public_numbers
from dpnb.widgets.wording import still

__all__ = ["ClampHandles"]

_MOST = 5_000


class ClampHandles(Interaction):
    """Bias and noise of a clamped mean.

    Parameters
    ----------
    values : array of numbers, optional
        2 to 5,000 public or simulated values; by default 1,000 simulated incomes, in thousands.
    low, high : number, optional
        Where the handles stand at first; by default the lowest value and the 95th percentile.
    epsilon : number
        The loss of the mean.
    """

    module: ClassVar[str] = "clamp"

    def __init__(
        self,
        values: Sequence[float] | None = None,
        *,
        low: float | None = None,
        high: float | None = None,
        epsilon: float = 0.5,
    ) -> None:
        given = _incomes() if values is None else values
        self._values = public_numbers(given, most=_MOST)
        self._low = float(np.min(self._values)) if low is None else float(low)
        self._high = float(np.quantile(self._values, 0.95)) if high is None else float(high)
        if not self._low < self._high:
            raise PlanError("The bounds are empty. Write low below high, for example low=0, high=100.")
        if not (math.isfinite(float(epsilon)) and epsilon > 0):
            raise PlanError("epsilon is a number above 0. Write for example epsilon=1.")
        self._epsilon = float(epsilon)
        super().__init__()

    def describe(self) -> dict[str, Any]:
        """State values and the priced noise of their mean; see :class:`Interaction`."""
        found = priced("mean", self._low, self._high, len(self._values))
        assert found is not None
        return {
            "values": self._values,
            "low": self._low,
            "high": self._high,
            "epsilon": self._epsilon,
            "noise": math.sqrt(2) * found[1] / (self._high - self._low),
            "problem": "",
        }

    def card(self) -> Card:
        """Draw bias and noise at several upper bounds; see :class:`Interaction`."""
        noise = self.facts["noise"] / self._epsilon
        rows = []
        for share in (0.5, 0.75, 0.9, 0.95, 0.99, 1.0):
            high = float(np.quantile(self._values, share))
            if high <= self._low:
                continue
            e = clamping.errors(self._values, self._low, high, noise)
            rows.append(
                (f"{number(self._low)} to {number(high)}", *(number(x) for x in (e.bias, e.noise, e.rmse)))
            )
        head = ("bounds", "bias", "noise, sd", "typical error")
        about = f"the mean of {len(self._values):,} public values, ε {self._epsilon:g}"
        return still("clamp", "Where to clamp", about, head, rows, self.facts)


def _incomes() -> list[float]:
    """A thousand simulated incomes, always the same."""
    return [float(x) for x in np.random.default_rng(1).lognormal(3.4, 0.7, 1000).round(1)]
