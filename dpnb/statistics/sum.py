"""Sums of a bounded number.

The part is the sum of the values themselves on a grid through zero, so that no exact row count enters the result: a
centred sum plus centre times an exact private count would move by the centre when a row enters, not by half the range.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

from dpnb.inference.digits import rounded
from dpnb.statistics._base import Pricing, Setting, Target
from dpnb.statistics.count import Linear
from dpnb.statistics.noise import Summand, additive
from dpnb.statistics.outcome import Pair
from dpnb.trusted.query.plan import Share


class Sum(Linear):
    """The sum of a bounded number over rows."""

    name: ClassVar[str] = "sum"
    title: ClassVar[str] = "sum"
    target: ClassVar[Target] = "number"
    grows: ClassVar[bool] = True
    apart: ClassVar[bool] = True
    smooth: ClassVar[bool] = True
    reference: ClassVar[str] = "Dwork, McSherry, Nissim & Smith 2006; Canonne, Kamath & Steinke 2020"

    part: ClassVar[str] = "sum"

    def step(self, setting: Setting) -> Fraction:
        """The step of the values on a grid through zero."""
        return setting.number().rebased().step

    def domain(self, setting: Setting) -> Pair:
        """Rows times the bounds, where the number of rows is public."""
        number, rows = setting.number(), setting.unit.rows
        if rows is None:
            return (0.0 if number.lowest >= 0 else -math.inf, 0.0 if number.highest <= 0 else math.inf)
        zero = Fraction(0)
        return float(min(number.lowest, zero) * rows), float(max(number.highest, zero) * rows)

    def public_value(self, setting: Setting) -> float | None:
        """Zero, of nobody."""
        return setting.total_of_nobody

    def price(self, setting: Setting, share: Share) -> Pricing:
        """One sum with all of the share."""
        request = setting.total(setting.number().rebased().code)
        return additive(setting, share, [Summand("sum", request, f"sum of {setting.subject}", Fraction(1))])

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """± in the unit of the column."""
        return f"± {rounded(self.half_width(setting, pricing, n) or 0.0)}"
