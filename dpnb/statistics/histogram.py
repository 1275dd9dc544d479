"""Histograms over public bins: one vector of counts.

Every bin is a cell of one question: under change-one a person touches two bins, under add-remove one. Rows outside the bins,
with an undeclared value or with none fall in no bin, and nothing is released about them.

*A density* over public bins: the counts of a histogram, over rows times width. How it is read off them: :mod:`~dpnb.statistics.binned`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

from dpnb.inference.digits import rounded
from dpnb.statistics._base import Axis, Options, Pricing, Setting, Target
from dpnb.statistics.binned import (
    HISTOGRAM_READINGS,
    checked_method,
    density_domain,
    density_result,
    public_rows,
    widths_of,
)
from dpnb.statistics.count import Linear
from dpnb.statistics.declaration import Spelling
from dpnb.statistics.noise import additive, count_of
from dpnb.statistics.result import Pair, ReadingFunction, Result
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release


class Histogram(Linear):
    """Counts in public bins of a number."""

    name: ClassVar[str] = "histogram"
    title: ClassVar[str] = "histogram"
    target: ClassVar[Target] = "key"
    defaults: ClassVar[Options] = {"bins": None, "edges": None}
    spelling: ClassVar[Spelling] = Spelling(renamed=(("edges", "bins"),))
    counts: ClassVar[bool] = True
    grows: ClassVar[bool] = True
    apart: ClassVar[bool] = True
    reference: ClassVar[str] = "Dwork, McSherry, Nissim & Smith 2006; Wasserman & Zhou 2010"
    readings: ClassVar[Mapping[str, ReadingFunction]] = HISTOGRAM_READINGS

    def domain(self, setting: Setting) -> Pair:
        """From zero to the public number of rows, where there is one."""
        return setting.row_range

    def price(self, setting: Setting, share: Share) -> Pricing:
        """One vector of counts with all of the share."""
        return additive(setting, share, [count_of(setting, f"rows by {setting.subject}")])

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """± in rows for each bin."""
        return f"± {rounded(self.half_width(setting, pricing, n) or 0.0)} rows in each bin"


class Density(Histogram):
    """A density over public bins."""

    name: ClassVar[str] = "density"
    title: ClassVar[str] = "density"
    defaults: ClassVar[Options] = {"bins": None, "edges": None, "method": "histogram"}
    counts: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    apart: ClassVar[bool] = False
    reference: ClassVar[str] = "Wasserman & Zhou 2010; Dwork, McSherry, Nissim & Smith 2006"
    readings: ClassVar[Mapping[str, ReadingFunction]] = MappingProxyType({})

    def extra_axes(self, setting: Setting) -> tuple[Axis, ...]:
        """No further axis: the check adds the bins as the last key."""
        checked_method(setting.options["method"])
        widths_of(setting)
        return ()

    def domain(self, setting: Setting) -> Pair:
        """From zero to all rows in the narrowest bin."""
        return density_domain(setting)

    def price(self, setting: Setting, share: Share) -> Pricing:
        """One vector of counts with all of the share."""
        priced = super().price(setting, share)
        rows = tuple(replace(row, name=f"rows by {setting.subject}, for a density") for row in priced.rows)
        return replace(priced, rows=rows)

    def half_width(self, setting: Setting, pricing: Pricing, n: float | None) -> float | None:
        """The radius of the noise on the count of the narrowest bin, over the number of rows."""
        rows = public_rows(setting) or n
        radius = float(pricing.radius)
        return None if not rows else radius / rows / float(widths_of(setting).min())

    def entry_noise(self, setting: Setting, pricing: Pricing, n: float | None) -> None:
        """Not written down: a bin's own count and the total meet in it."""

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """± in shares of rows."""
        radius = float(pricing.radius)
        rows = public_rows(setting) or n
        shares = f"± {rounded(radius)} rows in each bin"
        return (
            shares
            if not rows
            else f"{shares}, at most ± {rounded(self.half_width(setting, pricing, n) or 0.0)}"
        )

    def conclude(self, setting: Setting, releases: Sequence[Release]) -> Result:
        """Return the density of each bin."""
        return density_result(setting, releases, str(setting.options["method"]))
