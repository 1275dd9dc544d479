"""Means and proportions of a bounded number.

Released: a centred sum; a count where the number of rows is private (a filter, a missing value, a group, add-remove, or
units of several rows); and a second moment where the spread is bought for a confidence interval. A 0/1 column buys no
spread, since its spread follows from its mean. With ``clamped=True`` the rows at each bound are counted beside them
(:mod:`~dpnb.statistics.held_share`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from dpnb.inference import NoiseSum
from dpnb.statistics._base import Axis, Pricing, Setting, Target, width_words
from dpnb.statistics.declaration import Statistic
from dpnb.statistics.held_share import BESIDE, PART, axis_of, held_share, placed
from dpnb.statistics.ratio import Ratio, mean_noise_sd, price_ratio, ratio, redrawn_means, size_from
from dpnb.statistics.released import Part, SimulatedPart
from dpnb.statistics.result import Pair, ReadingFunction
from dpnb.trusted.query.plan import Share

_HELD: Mapping[str, ReadingFunction] = MappingProxyType({"held_share": held_share})


@dataclass(frozen=True)
class MeanCell:
    """The mean of one cell in the unit of its column; of many cells, where the ratio holds arrays."""

    ratio: Ratio
    centre: float
    unit: float

    def _real(self, pair: Pair) -> Pair:
        return self.centre + self.unit * pair[0], self.centre + self.unit * pair[1]

    @property
    def value(self) -> Any:
        """The estimate, inside the declared bounds."""
        return self.centre + self.unit * self.ratio.mean

    @property
    def noise_variance(self) -> Any:
        """Variance from the mechanism."""
        return self.ratio.noise_variance * self.unit**2

    @property
    def sampling_variance(self) -> Any:
        """Variance from sampling."""
        found = self.ratio.sampling_variance
        return None if found is None else found * self.unit**2

    @property
    def n(self) -> Any:
        """Rows behind the mean, as released."""
        return self._sizes[0]

    @property
    def n_eff(self) -> Any:
        """Rows without noise that would be as accurate."""
        return self._sizes[1]

    @cached_property
    def _sizes(self) -> tuple[Any, Any]:
        return size_from(self.ratio)

    @property
    def raised(self) -> dict[str, Any]:
        """Every warning, and whether it is up."""
        return self.ratio.raised

    def privacy(self, level: float) -> Pair:
        """Return the means of this dataset that the noise cannot reject."""
        return self._real(self.ratio.interval(level, sampling=False))

    def confidence(self, level: float) -> Pair:
        """Return the population means that sampling and noise cannot reject."""
        return self._real(self.ratio.interval(level, sampling=True))


class Mean(Statistic):
    """The mean of a bounded number; of a condition, a proportion."""

    name: ClassVar[str] = "mean"
    title: ClassVar[str] = "mean"
    target: ClassVar[Target] = "number"
    defaults: ClassVar[Mapping[str, Any]] = {"ci": True, "spread": "bought", "clamped": False, "about": None}
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = ({"about": 1024},)
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
        number = setting.number()
        return float(number.lowest), float(number.highest)

    def price(self, setting: Setting, share: Share) -> Pricing:
        """Return centred sum, count and second moment, as far as they are needed; rows at each bound where they are asked."""
        if not setting.options.get("clamped", False):
            return price_ratio(setting, share)
        mean = price_ratio(setting, replace(share, amount=(1 - BESIDE) * share.amount))
        held = placed(setting, replace(share, amount=BESIDE * share.amount), PART)
        return Pricing(mean.parts + held.parts, mean.rows + held.rows)

    def half_width(self, setting: Setting, pricing: Pricing, n: float | None) -> float | None:
        """The radius of the noise on the mean, for a public or assumed size; averaged over where the mean may lie."""
        size = setting.public_n if setting.public_n is not None else n
        if size is None:
            return None
        half = setting.number().centred().half
        return float(max(mean_noise_sd(setting, pricing, size, m).radius(0.05) for m in (0.0, half / 2)))

    def entry_noise(self, setting: Setting, pricing: Pricing, n: float | None) -> NoiseSum | None:
        """The wider of the laws in the middle of the range and a quarter of it further out."""
        size = setting.public_n if setting.public_n is not None else n
        if not size:
            return None
        half = setting.number().centred().half
        found = [mean_noise_sd(setting, pricing, size, m) for m in (0.0, half / 2)]
        return max(found, key=lambda law: float(law.radius(0.05)))

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """± in the unit of the column, or as a function of n."""
        return width_words(setting, lambda size: self.half_width(setting, pricing, size), n)

    def entries(self, setting: Setting, parts: Mapping[str, Part | SimulatedPart]) -> MeanCell:
        """Return the means of all cells at once."""
        centred = setting.number().centred()
        return MeanCell(ratio(setting, parts), float(centred.centre), float(centred.unit))

    def redraw(self, setting: Setting, parts: Mapping[str, Any], count: int, rng: Any) -> np.ndarray:
        """Plausible exact means."""
        return redrawn_means(setting, parts, count, rng)

    def notes(self, setting: Setting, parts: Mapping[str, Any]) -> dict[str, str]:  # noqa: ARG002
        """Both are tests."""
        return {"privacy": "exact test of the noise", "confidence": "exact test of noise and sampling"}
