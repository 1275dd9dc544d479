"""Where to clamp: bias and noise of a mean, for any two bounds, on public or simulated values.

Bounds chosen from protected values would be a release: of a protected column only its declared bounds are drawn, which stand,
and what the mean between them costs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpnb.cards.card import Card
from dpnb.client.columns import ColumnHandle
from dpnb.errors import PlanError
from dpnb.inference.digits import number, rounded
from dpnb.widgets._base import Interaction
from dpnb.widgets.accuracy import planned_size
from dpnb.widgets.curve import Curve, curve_of, kind_of, question_of
from dpnb.widgets.host_questions import text_of
from dpnb.widgets.kinds.person import priced, public_numbers
from dpnb.widgets.registry import Facts, a_loss
from dpnb.widgets.still_picture import bars, lines, still

_MOST = 5_000
_OUTSIDE = "You set bounds from outside knowledge, before you look: bounds taken from protected values would be a release."


class Clamp(Interaction):
    """Bias and noise of a clamped mean.

    Parameters
    ----------
    values : array of numbers or protected column, optional
        2 to 5,000 public or simulated values; by default 1,000 simulated incomes, in thousands. For a protected column only
        the declared bounds are drawn, and only the loss can be moved.
    low, high : number, optional
        The initial bounds; by default the lowest value and the 95th percentile.
    epsilon : number
        The loss of the mean.
    assume_n : int, optional
        For a protected column, if the number of people is private: how many to plan with; by default 1,000.
    """

    module: ClassVar[str] = "clamp"
    example: ClassVar[str] = "[3, 5, 8, 40]"
    otherwise: ClassVar[object] = None

    def __init__(
        self,
        values: Sequence[float] | ColumnHandle | None = None,
        *,
        low: float | None = None,
        high: float | None = None,
        epsilon: float = 0.5,
        assume_n: int | None = None,
    ) -> None:
        self._epsilon = a_loss(epsilon)
        self._values: list[float] = []
        self._declared: Facts | None = None
        if isinstance(values, ColumnHandle):
            self._protect(values, low, high, assume_n)
        else:
            self._values = public_numbers(_incomes() if values is None else values, most=_MOST)
            self._low = float(np.min(self._values)) if low is None else float(low)
            self._high = float(np.quantile(self._values, 0.95)) if high is None else float(high)
        if not self._low < self._high:
            raise PlanError("The bounds are empty. Write low below high, for example low=0, high=100.")
        super().__init__()

    def _protect(
        self, column: ColumnHandle, low: float | None, high: float | None, assume_n: int | None
    ) -> None:
        """Take over the declared bounds of a protected column, and the price of its mean."""
        if low is not None or high is not None:
            raise PlanError(
                "The bounds of a protected column are declared, and not moved here. Leave low= and high= out; "
                "a question may clip to tighter ones: .clip(low, high)."
            )
        question = question_of(column.mean())
        size = planned_size(question, assume_n)
        kind = kind_of(question)
        number = question.checked.setting.number()
        self._low, self._high = float(number.lowest), float(number.highest)
        self._declared = {
            "question": text_of(question),
            "symbol": "ε" if kind == "epsilon" else "ρ",
            "curve": curve_of(question, kind, size).to_json(),
            "size": size,
        }

    def describe(self) -> Facts:
        """State values and the priced noise of their mean, or declared bounds and their price; see :class:`Interaction`."""
        noise = 0.0
        if self._declared is None:
            found = priced("mean", self._low, self._high, len(self._values))
            assert found is not None
            noise = math.sqrt(2) * found[1] / (self._high - self._low)
        return {
            "values": self._values,
            "low": self._low,
            "high": self._high,
            "epsilon": self._epsilon,
            "noise": noise,
            "declared": self._declared,
            "problem": "",
        }

    def card(self) -> Card:
        """Draw bias and noise at several upper bounds; see :class:`Interaction`."""
        if self._declared is not None:
            return self._declared_card(self._declared)
        low = self.held("low", self._low, -math.inf, math.inf)
        epsilon = self.held("epsilon", self._epsilon, 0.01, 10)
        noise = self.facts["noise"] / epsilon
        rows, errors = [], []
        for share in (0.5, 0.75, 0.9, 0.95, 0.99, 1.0):
            high = float(np.quantile(self._values, share))
            if high <= low:
                continue
            found = clamped_errors(self._values, low, high, noise)
            rows.append((f"{number(low)} to {number(high)}", *map(number, found)))
            errors.append((rows[-1][0], found[-1], number(found[-1])))
        head = ("bounds", "bias", "noise, sd", "typical error")
        worst = max((size for _, size, _ in errors), default=1.0) or 1.0
        picture = bars("typical error", [(name, size / worst, said) for name, size, said in errors])
        about = f"the mean of {len(self._values):,} public values, ε {epsilon:g}"
        return still(
            "clamp", "Where to clamp", about, head, rows, self.facts, notes=[_OUTSIDE], picture=picture
        )

    def _declared_card(self, declared: Facts) -> Card:
        curve = Curve(tuple(declared["curve"]["loss"]), tuple(declared["curve"]["width"]))
        rows = [
            (f"{declared['symbol']} {loss:g}", f"± {rounded(curve.width_at(loss))}")
            for loss in (0.1, 0.5, 1, 4)
        ]
        notes = [
            f"Declared bounds: {number(self._low)} to {number(self._high)}. The values are not drawn.",
            _OUTSIDE,
        ]
        if declared["size"] is not None:
            notes.insert(1, f"Planned for {declared['size']:,} people: the true number is private.")
        head = ("loss", "95 % privacy interval of the mean")
        picture = lines("± of the mean", [("±", curve.loss, curve.width)], declared["symbol"])
        return still(
            "clamp",
            "Where to clamp",
            declared["question"],
            head,
            rows,
            self.facts,
            notes=notes,
            picture=picture,
        )


def _incomes() -> list[float]:
    """A thousand simulated incomes, always the same."""
    return [float(x) for x in np.random.default_rng(1).lognormal(3.4, 0.7, 1000).round(1)]


def clamped_errors(values: ArrayLike, low: float, high: float, noise: float) -> tuple[float, float, float]:
    """Return the bias of the clamped mean, the sd of its noise, and both as one error; `noise` is that sd for bounds one unit apart."""
    data = np.asarray(values, dtype=float)
    bias = float(np.clip(data, low, high).mean() - data.mean())
    spread = noise * (high - low)
    return bias, spread, math.hypot(bias, spread)
