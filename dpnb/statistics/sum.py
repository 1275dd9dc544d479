"""Sums of a bounded number.

The part is the sum of the values themselves on a grid through zero, so that no exact row count enters the result: a
centred sum plus centre times an exact private count would move by the centre when a row enters, not by half the range.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import ClassVar

from dpnb.inference import NoiseSum
from dpnb.inference.digits import rounded
from dpnb.statistics._base import Numeric, Pricing, Setting, Target, additive
from dpnb.statistics.count import LinearCell, exact_radius, linear_entries, linear_result
from dpnb.statistics.declaration import Statistic
from dpnb.statistics.outcome import Pair, Result
from dpnb.statistics.released import Part, SimulatedPart, combine, law_as_sum
from dpnb.statistics.sensitivity import Component
from dpnb.trusted.query import Share
from dpnb.trusted.releases import Release


class Sum(Statistic):
    """The sum of a bounded number over rows."""

    name: ClassVar[str] = "sum"
    title: ClassVar[str] = "sum"
    target: ClassVar[Target] = "number"
    grows: ClassVar[bool] = True
    apart: ClassVar[bool] = True
    reference: ClassVar[str] = "Dwork, McSherry, Nissim & Smith 2006; Canonne, Kamath & Steinke 2020"

    def _grid(self, setting: Setting) -> Numeric:
        return setting.number().rebased()

    def domain(self, setting: Setting) -> Pair:
        """Rows times the bounds, where the number of rows is public."""
        number, rows = setting.number(), setting.unit.public_rows
        if rows is None:
            return (0.0 if number.lowest >= 0 else -math.inf, 0.0 if number.highest <= 0 else math.inf)
        zero = Fraction(0)
        return float(min(number.lowest, zero) * rows), float(max(number.highest, zero) * rows)

    def public_value(self, setting: Setting) -> float | None:
        """Zero, of nobody."""
        return setting.total_of_nobody

    def price(self, setting: Setting, share: Share) -> Pricing:
        """One sum with all of the share."""
        grid = self._grid(setting)
        part = Component(
            "sum",
            grid.code,
            max(abs(grid.low), abs(grid.high)),
            grid.high - grid.low,
            f"sum of {setting.subject}",
        )
        return additive(setting, share, (part,), {"sum": Fraction(1)})

    def half_width(self, setting: Setting, pricing: Pricing, n: float | None) -> float | None:  # noqa: ARG002
        """The radius of the noise in the unit of the column."""
        radius = exact_radius(pricing.parts[0].mechanism.law, 0.05)
        return radius * float(self._grid(setting).step)

    def entry_noise(self, setting: Setting, pricing: Pricing, n: float | None) -> NoiseSum:  # noqa: ARG002
        """The law of the one part."""
        return law_as_sum(pricing.parts[0].mechanism.law)

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """± in the unit of the column."""
        return f"± {rounded(self.half_width(setting, pricing, n) or 0.0)}"

    def entries(self, setting: Setting, parts: Mapping[str, Part | SimulatedPart]) -> LinearCell:
        """Return the sums of all cells at once."""
        return linear_entries(parts["sum"], self._grid(setting).step, *self.domain(setting))

    def conclude(self, setting: Setting, releases: Sequence[Release]) -> Result:
        """Return the noised sum with its exact privacy interval."""
        low, high = self.domain(setting)
        return linear_result(setting, combine(releases)["sum"], self._grid(setting).step, low, high)
