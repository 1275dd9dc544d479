"""Histograms over public bins: one vector of counts.

Every bin is a cell of one question: under change-one a person touches two bins, under add-remove one. Rows outside the bins,
with an undeclared value or with none fall in no bin, and nothing is released about them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from dpnb.inference.digits import rounded
from dpnb.statistics._base import Pricing, Setting, Target
from dpnb.statistics.binned import HISTOGRAM_READINGS
from dpnb.statistics.count import Linear
from dpnb.statistics.declaration import Spelling
from dpnb.statistics.noise import additive, count_of
from dpnb.statistics.outcome import Pair
from dpnb.statistics.reading import ReadingFunction
from dpnb.trusted.query.plan import Share


class Histogram(Linear):
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
        rows = setting.unit.rows
        return 0.0, math.inf if rows is None else float(rows)

    def price(self, setting: Setting, share: Share) -> Pricing:
        """One vector of counts with all of the share."""
        return additive(setting, share, [count_of(setting, f"rows by {setting.subject}")])

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """± in rows for each bin."""
        return f"± {rounded(self.half_width(setting, pricing, n) or 0.0)} rows in each bin"
