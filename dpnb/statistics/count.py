"""Counts: how many rows satisfy a filter, alone or in declared groups.

One part, the count itself. Under change-one the number of all rows is public, so a count without a filter, a missing value
or a group is answered from the schema, free.

*Sums of a bounded number.* The part is the sum of the values themselves on a grid through zero, so that no exact row count enters the result: a
centred sum plus centre times an exact private count would move by the centre when a row enters, not by half the range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpnb.inference import NoiseSum
from dpnb.inference.digits import rounded
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Number, around
from dpnb.statistics._base import Pricing, Setting, Target
from dpnb.statistics.declaration import Statistic, Summary
from dpnb.statistics.noise import Summand, additive, count_of
from dpnb.statistics.released import Law, Parts, ReleasedParts, SimulatedPart
from dpnb.statistics.result import Cell, Pair
from dpnb.trusted.query.plan import Share

NO_POPULATION = (
    "A count or a sum describes this dataset; it is not an estimate about a population. "
    'Use .interval(kind="privacy"), or ask a mean or a proportion.'
)


@dataclass(frozen=True, slots=True)
class LinearCell(Cell):
    """An entry that is a released integer times a public unit: count, sum, histogram bin.

    Parameters
    ----------
    released : float, or array
        The noised integer (or a weighted mean of several).
    unit : float
        Its value in the unit of the answer.
    noise : NoiseSum
        Error law of the integer.
    law : law, optional
        The exact discrete law where a single release is behind it.
    low, high : float
        Public range of the answer.
    """

    released: Number
    unit: float
    noise: NoiseSum
    law: Law | SimulatedPart | None
    low: float
    high: float

    @property
    def no_population(self) -> str:
        """A count or a sum describes the dataset."""
        return NO_POPULATION

    @property
    def value(self) -> Number:
        """The noised value; it is unbiased, so it may leave the possible range by chance."""
        return self.released * self.unit

    @property
    def noise_variance(self) -> Number:
        """Variance from the mechanism."""
        return self.noise.total_variance * self.unit**2

    def _interval(self, level: float, *, sampling: bool) -> Pair:  # noqa: ARG002 - one form for all cells
        """Return the value ± the exact radius of the discrete law, cut to what is possible."""
        alpha = 1 - level
        radius = self.noise.radius(alpha) if self.law is None else self.law.tail_radius(alpha)
        return around(self.value, radius * self.unit, self.low, self.high)


class Linear(Statistic):
    """A statistic of one part whose entries are released integers times a public unit."""

    part: ClassVar[str] = "count"

    def step(self, setting: Setting) -> Fraction:  # noqa: ARG002
        """Return the value of one released step."""
        return Fraction(1)

    def half_width(self, setting: Setting, pricing: Pricing, n: float | None) -> float | None:  # noqa: ARG002
        """The radius of the noise on each entry."""
        return pricing.radius * float(self.step(setting))

    def entry_noise(self, setting: Setting, pricing: Pricing, n: float | None) -> NoiseSum | None:  # noqa: ARG002
        """The law of the one part."""
        return pricing.noise[self.part]

    def entries(self, setting: Setting, parts: Parts) -> LinearCell:
        """Return all entries at once."""
        part = parts[self.part]
        return LinearCell(
            part.values, float(self.step(setting)), part.noise, part.single, *self.domain(setting)
        )

    def redraw(self, setting: Setting, parts: ReleasedParts, count: int, rng: DrawGenerator) -> Floats:
        """Return the released integers less draws of their noise."""
        part = parts[self.part]
        return np.asarray((part.values - part.noise_draws(count, rng)) * float(self.step(setting)))

    def notes(self, setting: Setting, parts: Parts) -> dict[str, str]:  # noqa: ARG002
        """The law is that of the mechanism."""
        return {"privacy": "exact law of the noise"}


class Count(Linear):
    """How many rows."""

    name: ClassVar[str] = "count"
    title: ClassVar[str] = "count"
    summary: ClassVar[Summary] = "vald"
    target: ClassVar[Target] = "none"
    counts: ClassVar[bool] = True
    grows: ClassVar[bool] = True
    apart: ClassVar[bool] = True
    plannable: ClassVar[bool] = True
    smooth: ClassVar[bool] = True
    reference: ClassVar[str] = "Dwork, McSherry, Nissim & Smith 2006; Canonne, Kamath & Steinke 2020"

    def domain(self, setting: Setting) -> Pair:
        """From zero to the public number of rows, where there is one."""
        return setting.row_range

    def public_value(self, setting: Setting) -> float | None:
        """The public number of rows, for a plain count under change-one; zero of nobody."""
        if setting.nobody:
            return setting.total_of_nobody
        return None if setting.public_n is None else float(setting.public_n)

    def price(self, setting: Setting, share: Share) -> Pricing:
        """One count with all of the share."""
        return additive(setting, share, [count_of(setting)])

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """± in rows."""
        return f"± {rounded(self.half_width(setting, pricing, n) or 0.0)} rows"


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
