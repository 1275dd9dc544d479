"""Means and proportions of a bounded number.

Released: a centred sum; a count where the number of rows is private (a filter, a missing value, a group, add-remove, or
units of several rows); and a second moment where the spread is bought for a confidence interval. A 0/1 column buys no
spread, since its spread follows from its mean. With ``clamped=True`` the rows at each bound are counted beside them
(:mod:`~dpnb.statistics.held_share`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

from dpnb.inference import NoiseSum
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Number, Truth, greater
from dpnb.statistics._base import Axis, Options, Pricing, Readers, Setting, Target
from dpnb.statistics.declaration import Statistic, Summary, asked_rows, bought_or_bound
from dpnb.statistics.held_share import BESIDE, PART, axis_of, held_share, placed
from dpnb.statistics.ratio import EXACT_TESTS, Ratio, mean_noise_sd, price_ratio, ratio, redrawn_means
from dpnb.statistics.released import Parts, ReleasedParts
from dpnb.statistics.result import Cell, Pair, ReadingFunction
from dpnb.trusted.query.plan import Share

_HELD: Mapping[str, ReadingFunction] = MappingProxyType({"held_share": held_share})


@dataclass(frozen=True)
class MeanCell(Cell):
    """The mean of one cell in the unit of its column; of many cells, where the ratio holds arrays."""

    ratio: Ratio
    centre: float
    unit: float

    @property
    def value(self) -> Number:
        """The estimate, inside the declared bounds."""
        return self.centre + self.unit * self.ratio.mean

    @property
    def noise_variance(self) -> Number:
        """Variance from the mechanism."""
        return self.ratio.noise_variance * self.unit**2

    @property
    def sampling_variance(self) -> Number:
        """Variance from sampling."""
        variance = self.ratio.sampling_variance
        return None if variance is None else variance * self.unit**2

    @property
    def n(self) -> Number:
        """Rows behind the mean, as released."""
        return greater(self.ratio.size, 0.0)

    @property
    def raised(self) -> dict[str, Truth]:
        """Every warning, and whether it is up."""
        return self.ratio.raised

    @property
    def no_population(self) -> str:
        """Why sampling error is unknown; empty where it is known."""
        return self.ratio.no_sampling

    def _interval(self, level: float, *, sampling: bool) -> Pair:
        """Return the means that the noise, and sampling, cannot reject."""
        low, high = self.ratio.interval(level, sampling=sampling)
        return self.centre + self.unit * low, self.centre + self.unit * high


class Mean(Statistic):
    """The mean of a bounded number; of a condition, a proportion."""

    name: ClassVar[str] = "mean"
    title: ClassVar[str] = "mean"
    summary: ClassVar[Summary] = "mean"
    target: ClassVar[Target] = "number"
    defaults: ClassVar[Options] = {"ci": True, "spread": "bought", "clamped": False, "about": None}
    readers: ClassVar[Readers] = {
        "spread": bought_or_bound,
        "about": asked_rows,
    }
    examples: ClassVar[tuple[Options, ...]] = ({"about": 1024},)
    apart: ClassVar[bool] = True
    plannable: ClassVar[bool] = True
    smooth: ClassVar[bool] = True
    reference: ClassVar[str] = "Fieller 1954 on exact noise laws; Bun & Steinke 2016"

    def extra_axes(self, setting: Setting) -> tuple[Axis, ...]:
        """None; rows at the bounds are counted where there are some between them."""
        if setting.options.get("clamped", False):
            axis_of(setting)
        return ()

    def readings_of(self, setting: Setting) -> Mapping[str, ReadingFunction]:
        """The shares at and beyond the bounds, where they were bought."""
        return _HELD if setting.options.get("clamped", False) else {}

    def domain(self, setting: Setting) -> Pair:
        """The declared bounds."""
        return setting.number().bounds

    def price(self, setting: Setting, share: Share) -> Pricing:
        """Return centred sum, count and second moment, as far as they are needed; rows at each bound where they are asked."""
        if not setting.options.get("clamped", False):
            return price_ratio(setting, share)
        mean = price_ratio(setting, replace(share, amount=(1 - BESIDE) * share.amount))
        held = placed(setting, replace(share, amount=BESIDE * share.amount), PART)
        return Pricing(mean.parts + held.parts, mean.rows + held.rows)

    def half_width(self, setting: Setting, pricing: Pricing, n: float | None) -> float | None:
        """The radius of the noise on the mean, for a public or assumed size."""
        law = self.entry_noise(setting, pricing, n)
        return None if law is None else float(law.radius(0.05))

    def entry_noise(self, setting: Setting, pricing: Pricing, n: float | None) -> NoiseSum | None:
        """The law where the mean lies, as far as answers tell; else the wider of those in the middle and half way out."""
        size, half = setting.size(n), setting.number().centred().half
        if not size:
            return None
        places = (0.0, half / 2) if setting.place is None else (setting.place,)
        laws = [mean_noise_sd(setting, pricing, size, m) for m in places]
        return max(laws, key=lambda law: float(law.radius(0.05)))

    def entries(self, setting: Setting, parts: Parts) -> MeanCell:
        """Return the means of all cells at once."""
        centred = setting.number().centred()
        return MeanCell(ratio(setting, parts), float(centred.centre), float(centred.unit))

    def redraw(self, setting: Setting, parts: ReleasedParts, count: int, rng: DrawGenerator) -> Floats:
        """Plausible exact means."""
        return redrawn_means(setting, parts, count, rng)

    def notes(self, setting: Setting, parts: Parts) -> dict[str, str]:  # noqa: ARG002
        """Both are tests."""
        return dict(EXACT_TESTS)
