"""Histograms over public bins: one vector of counts.

Every bin is a cell of one question: under change-one a person touches two bins, under add-remove one. Rows outside the bins,
with an undeclared value or with none fall in no bin, and nothing is released about them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from dpnb.inference import NoiseSum
from dpnb.inference.digits import rounded
from dpnb.statistics._base import Pricing, Setting, Target, additive, count_component
from dpnb.statistics.binned import HISTOGRAM_READINGS
from dpnb.statistics.count import LinearCell, exact_radius, linear_entries, linear_result
from dpnb.statistics.declaration import Spelling, Statistic
from dpnb.statistics.outcome import Pair, Result
from dpnb.statistics.reading import ReadingFunction
from dpnb.statistics.released import Part, SimulatedPart, combine, law_as_sum
from dpnb.trusted.query import Share
from dpnb.trusted.releases import Release


class Histogram(Statistic):
    """Counts in public bins of a number."""

    name: ClassVar[str] = "histogram"
    title: ClassVar[str] = "histogram"
    target: ClassVar[Target] = "key"
    defaults: ClassVar[Mapping[str, Any]] = {"bins": None, "edges": None}
    spelling: ClassVar[Spelling] = Spelling(renamed=(("edges", "bins"),))
    counts: ClassVar[bool] = True
    grows: ClassVar[bool] = True
    apart: ClassVar[bool] = True
    reference: ClassVar[str] = "Dwork, McSherry, Nissim & Smith 2006; Wasserman & Zhou 2010"
    readings: ClassVar[Mapping[str, ReadingFunction]] = HISTOGRAM_READINGS

    def domain(self, setting: Setting) -> Pair:
        """From zero to the public number of rows, where there is one."""
        rows = setting.unit.public_rows
        return 0.0, math.inf if rows is None else float(rows)

    def price(self, setting: Setting, share: Share) -> Pricing:
        """One vector of counts with all of the share."""
        return additive(setting, share, (), {}, count_component(f"rows by {setting.subject}"))

    def half_width(self, setting: Setting, pricing: Pricing, n: float | None) -> float | None:  # noqa: ARG002
        """The radius of the noise on each bin."""
        return float(exact_radius(pricing.parts[0].mechanism.law, 0.05))

    def entry_noise(self, setting: Setting, pricing: Pricing, n: float | None) -> NoiseSum | None:  # noqa: ARG002
        """The law of the one part."""
        return law_as_sum(pricing.parts[0].mechanism.law)

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """± in rows for each bin."""
        return f"± {rounded(self.half_width(setting, pricing, n) or 0.0)} rows in each bin"

    def entries(self, setting: Setting, parts: Mapping[str, Part | SimulatedPart]) -> LinearCell:
        """Return the counts of all bins at once."""
        return linear_entries(parts["count"], Fraction(1), *self.domain(setting))

    def conclude(self, setting: Setting, releases: Sequence[Release]) -> Result:
        """Return the noised counts, each with its exact privacy interval."""
        low, high = self.domain(setting)
        return linear_result(setting, combine(releases)["count"], Fraction(1), low, high)
