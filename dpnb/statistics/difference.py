"""Difference of means between two declared arms: the second declared value minus the first.

Released: the means of both arms, as two cells of one question (a person who switches arms touches both). Arm sizes are
private and are released with the sums; nothing exact about them scales the noise. A change in the noise scale with a
private arm size is how the published version of this release breaks.

References
----------
D'Orazio, Honaker & King, *Differential privacy for social science inference* (2015), corrected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from dpnb.errors import Unavailable
from dpnb.inference import NoiseSum, accepted_interval, effective_size, student_inflation
from dpnb.release import Axis, Release
from dpnb.statistics._base import Pricing, Setting, Share, width_words
from dpnb.statistics.outcome import Pair, Result
from dpnb.statistics.ratio import Ratio, mean_noise_sd, price_ratio, ratios, redrawn_means
from dpnb.statistics.released import combine


@dataclass(frozen=True)
class DifferenceCell:
    """Second arm minus first arm, in the unit of the column.

    For a candidate difference ``d`` the arm means move from their estimates in proportion to their variances until they
    differ by ``d``; at those means ``D̃ - d`` is exactly the weighted sum of the noise terms plus sampling error.
    """

    first: Ratio
    second: Ratio
    unit: float

    @property
    def value(self) -> float:
        """The estimate."""
        return self.unit * (self.second.mean - self.first.mean)

    @property
    def noise_variance(self) -> float:
        """Variance from the mechanism."""
        return self.unit**2 * (self.first.noise_variance + self.second.noise_variance)

    @property
    def sampling_variance(self) -> float | None:
        """Variance from sampling; the arms are independent."""
        one, two = self.first.sampling_variance, self.second.sampling_variance
        return None if one is None or two is None else self.unit**2 * (one + two)

    @property
    def n(self) -> float:
        """Rows in both arms, as released."""
        return max(self.first.size, 0.0) + max(self.second.size, 0.0)

    @property
    def n_eff(self) -> float | None:
        """Rows without noise, split as they are, that would be as accurate."""
        sampling = self.sampling_variance
        return None if sampling is None else effective_size(self.n, sampling, self.noise_variance)

    @property
    def flags(self) -> tuple[str, ...]:
        """Warnings of either arm."""
        return tuple(dict.fromkeys(self.first.flags + self.second.flags))

    def _means_at(self, difference: float, *, sampling: bool) -> tuple[float, float]:
        """Return arm means that differ by a candidate, nearest to the estimates in units of their variances."""
        one = self.first.noise_variance + ((self.first.sampling_variance or 0.0) if sampling else 0.0)
        two = self.second.noise_variance + ((self.second.sampling_variance or 0.0) if sampling else 0.0)
        share = two / (one + two) if one + two > 0 else 0.5
        half = self.first.half
        low, high = max(-half, -half - difference), min(half, half - difference)
        gap = difference - (self.second.mean - self.first.mean)
        first = min(max(self.first.mean - (1 - share) * gap, low), high)
        return first, first + difference

    def _law(self, difference: float, level: float, *, sampling: bool) -> NoiseSum:
        means = self._means_at(difference, sampling=sampling)
        total = NoiseSum()
        for arm, mean in zip((self.first, self.second), means, strict=True):
            part = arm.residual_noise(mean)
            if sampling:
                variance = arm.row_variance(mean)
                if variance is None:
                    raise Unavailable(arm.no_sampling)
                part = part.plus_normal(arm.rows * variance * student_inflation(arm.rows, level))
            total = total + part.scaled(1 / arm.rows)
        return total

    def _interval(self, level: float, *, sampling: bool) -> Pair:
        limit = 2 * self.first.half
        if any(arm.size <= _reach(arm, level) for arm in (self.first, self.second)):
            return -self.unit * limit, self.unit * limit
        start = self.second.raw - self.first.raw
        low, high = accepted_interval(
            lambda d: self._law(d, level, sampling=sampling).tail(abs(start - d)),
            start,
            -limit,
            limit,
            1 - level,
        )
        return self.unit * low, self.unit * high

    def privacy(self, level: float) -> Pair:
        """Return the differences of this dataset that the noise cannot reject."""
        return self._interval(level, sampling=False)

    def confidence(self, level: float) -> Pair:
        """Return the population differences that sampling and noise cannot reject."""
        if self.sampling_variance is None:
            raise Unavailable(self.first.no_sampling)
        return self._interval(level, sampling=True)


def _reach(arm: Ratio, level: float) -> float:
    """Return how far the noise alone may have moved an arm's size."""
    law = arm.sum_noise + arm.sum_noise if arm.tally else arm.size_noise
    return law.radius(1 - level) if law.total_variance > 0 else 0.0


class Difference:
    """Difference of means between the two declared values of a column."""

    name: ClassVar[str] = "difference"
    title: ClassVar[str] = "difference of means"
    target: ClassVar[Literal["none", "number", "key"]] = "number"
    defaults: ClassVar[dict[str, Any]] = {"ci": True, "spread": "bought"}
    arms: ClassVar[bool] = True
    status: ClassVar[str] = "proven"
    reference: ClassVar[str] = "D'Orazio, Honaker & King 2015, corrected; Fieller 1954"

    def extra_axes(self, setting: Setting) -> tuple[Axis, ...]:  # noqa: ARG002
        """No axis of its own: the arm axis is taken out by the check."""
        return ()

    def domain(self, setting: Setting) -> Pair:
        """Minus to plus the width of the declared bounds."""
        width = float(setting.number().highest - setting.number().lowest)
        return -width, width

    def public_value(self, setting: Setting) -> float | None:  # noqa: ARG002
        """Never public."""
        return None

    def price(self, setting: Setting, share: Share) -> Pricing:
        """Return the parts of the means of both arms."""
        return price_ratio(setting, share)

    def half_width(self, setting: Setting, pricing: Pricing, n: float | None) -> float | None:
        """The radius of the noise for equal arms of an assumed total size."""
        if n is None:
            return None
        half = setting.number().centred().half
        arm = mean_noise_sd(setting, pricing, n / 2, half / 2)
        return (arm + arm).radius(0.05)

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """± in the unit of the column, or as a function of n."""
        return width_words(
            setting,
            lambda size: self.half_width(setting, pricing, size),
            n,
            under=", for two equal arms",
            assumed="two equal arms make ",
        )

    def conclude(self, setting: Setting, releases: Sequence[Release]) -> Result:
        """Return the difference in every cell with both intervals."""
        parts = combine(releases)
        found = ratios(setting, parts)
        unit = float(setting.number().centred().unit)
        cells = [DifferenceCell(found[i], found[i + 1], unit) for i in range(0, len(found), 2)]

        def redraw(count: int, rng: Any) -> np.ndarray:
            means = redrawn_means(setting, parts, count, rng)
            return np.asarray(means[:, 1::2] - means[:, ::2])

        notes = {"privacy": "exact test of the noise", "confidence": "exact test of noise and sampling"}
        return Result(cells, setting.shape, self.domain(setting), redraw, notes=notes)
