"""Difference of means between two declared arms: the second declared value minus the first.

Released: the means of both arms, as two cells of one question (a person who switches arms touches both). Arm sizes are
private and are released with the sums; nothing exact about them scales the noise. A change in the noise scale with a
private arm size is how the published version of this release breaks.

References
----------
D'Orazio, Honaker & King, *Differential privacy for social science inference* (2015), corrected.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpnb.errors import Unavailable
from dpnb.inference import NoiseSum, student_inflation
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Number, Truth, choose, greater, inside, lesser, root
from dpnb.statistics._base import Options, Pricing, Readers, Setting, Target
from dpnb.statistics.declaration import Statistic, bought_or_bound
from dpnb.statistics.ratio import EXACT_TESTS, Ratio, mean_noise_sd, price_ratio, ratio, redrawn_means
from dpnb.statistics.released import Parts, ReleasedParts
from dpnb.statistics.result import Cell, Pair
from dpnb.trusted.query.plan import Share

_OUTWARDS = 1.25
"""How many standard errors of the level of both means the second test lies further out."""


@dataclass(frozen=True)
class DifferenceCell(Cell):
    """Second arm minus first arm, in the unit of the column.

    For a candidate difference ``d`` the arm means move from their estimates in proportion to their variances until they
    differ by ``d``; at those means ``D̃ - d`` is exactly the weighted sum of the noise terms plus sampling error.
    The level at which they do is estimated. Noise weighs most for means at the bounds, from which estimates can err
    inwards alone, so a candidate is tested once more with both means further out by the error of that level.
    """

    first: Ratio
    second: Ratio
    unit: float

    @property
    def value(self) -> Number:
        """The estimate."""
        return self.unit * (self.second.mean - self.first.mean)

    @property
    def noise_variance(self) -> Number:
        """Variance from the mechanism."""
        return self.unit**2 * (self.first.noise_variance + self.second.noise_variance)

    @property
    def sampling_variance(self) -> Number:
        """Variance from sampling; the arms are independent."""
        one, two = self.first.sampling_variance, self.second.sampling_variance
        return None if one is None or two is None else self.unit**2 * (one + two)

    @property
    def n(self) -> Number:
        """Rows in both arms, as released."""
        return greater(self.first.size, 0.0) + greater(self.second.size, 0.0)

    @property
    def raised(self) -> dict[str, Truth]:
        """Every warning of either arm, and whether it is up."""
        one, two = self.first.raised, self.second.raised
        return {flag: one[flag] | two[flag] for flag in one}

    @property
    def _raw(self) -> Number:
        """The difference of sums over sizes, moved into what is possible."""
        limit = 2 * self.first.half
        return inside(self.second.raw - self.first.raw, -limit, limit)

    def _means_at(self, difference: Number, outwards: float, *, sampling: bool) -> tuple[Number, Number]:
        """Return arm means that differ by a candidate, nearest to the estimates in units of their variances, or further out."""
        one, two = self._arm_variances(sampling=sampling)
        share = choose(one + two > 0, two / greater(one + two, 1e-300), 0.5)
        half = self.first.half
        low, high = greater(-half, -half - difference), lesser(half, half - difference)
        gap = difference - (self.second.mean - self.first.mean)
        nearest = self.first.mean - (1 - share) * gap
        side = choose(nearest + difference / 2 < 0, -1.0, 1.0)
        first = inside(nearest + side * outwards * root(one * share), low, high)
        return first, first + difference

    def _arm_variances(self, *, sampling: bool) -> tuple[Number, Number]:
        one, two = self.first.noise_variance, self.second.noise_variance
        if not sampling:
            return one, two
        first, second = self.first.sampling_variance, self.second.sampling_variance
        return (one, two) if first is None or second is None else (one + first, two + second)

    def _p_value(self, difference: Number, level: float, *, sampling: bool) -> Number:
        reach = abs(self._raw - difference)
        near, far = (
            self._law(difference, level, at, sampling=sampling).tail(reach) for at in (0.0, _OUTWARDS)
        )
        return greater(near, far)

    def _law(self, difference: Number, level: float, outwards: float, *, sampling: bool) -> NoiseSum:
        means = self._means_at(difference, outwards, sampling=sampling)
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
        arms, limit = (self.first, self.second), 2 * self.first.half
        one, two = (arm.small | (arm.size <= _reach(arm, level)) for arm in arms)
        lost = one | two
        one, two = self._arm_variances(sampling=sampling)
        sd = root(one + two)
        low, high = self._inverted(self._raw, -limit, limit, level, sampling=sampling, sd=sd, lost=lost)
        return self.unit * low, self.unit * high

    @property
    def no_population(self) -> str:
        """Why sampling error is unknown; empty where it is known."""
        return self.first.no_sampling


def _arm(every: Ratio, place: int) -> Ratio:
    """Return one arm of cells that alternate between the arms."""

    def half(values: Number) -> Number:
        return None if values is None else values[..., place::2] if np.ndim(values) else values

    return replace(every, total=half(every.total), size=half(every.size), second=half(every.second))


def _reach(arm: Ratio, level: float) -> Number:
    """Return how far the noise alone may have moved an arm's size."""
    if arm.public:
        return 0.0
    return (arm.sum_noise + arm.sum_noise if arm.tally else arm.size_noise).radius(1 - level)


class Difference(Statistic):
    """Difference of means between the two declared values of a column."""

    name: ClassVar[str] = "difference"
    title: ClassVar[str] = "difference of means"
    target: ClassVar[Target] = "number"
    defaults: ClassVar[Options] = {"ci": True, "spread": "bought"}
    readers: ClassVar[Readers] = {"spread": bought_or_bound}
    arms: ClassVar[bool] = True
    plannable: ClassVar[bool] = True
    smooth: ClassVar[bool] = True
    reference: ClassVar[str] = "D'Orazio, Honaker & King 2015, corrected; Fieller 1954"

    def domain(self, setting: Setting) -> Pair:
        """Minus to plus the width of the declared bounds."""
        width = float(setting.number().highest - setting.number().lowest)
        return -width, width

    def price(self, setting: Setting, share: Share) -> Pricing:
        """Return the parts of the means of both arms."""
        return price_ratio(setting, share)

    def half_width(self, setting: Setting, pricing: Pricing, n: float | None) -> float | None:
        """The radius of the noise for equal arms of an assumed total size."""
        if n is None:
            return None
        half = setting.number().centred().half
        arm = mean_noise_sd(setting, pricing, n / 2, half / 2 if setting.place is None else setting.place)
        return float((arm + arm).radius(0.05))

    def entries(self, setting: Setting, parts: Parts) -> DifferenceCell:
        """Return the differences of all cells at once."""
        every = ratio(setting, parts)
        first, second = (_arm(every, place) for place in (0, 1))
        return DifferenceCell(first, second, float(setting.number().centred().unit))

    def redraw(self, setting: Setting, parts: ReleasedParts, count: int, rng: DrawGenerator) -> Floats:
        """Plausible exact differences."""
        means = redrawn_means(setting, parts, count, rng)
        return np.asarray(means[:, 1::2] - means[:, ::2])

    def notes(self, setting: Setting, parts: Parts) -> dict[str, str]:  # noqa: ARG002
        """Both are tests."""
        return dict(EXACT_TESTS)
