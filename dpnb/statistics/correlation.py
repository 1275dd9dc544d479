"""The Pearson correlation of two bounded numbers, from one joint vector of moments.

The privacy interval inverts a test of the noise on ``C - r √(AB)``, C the covariance and A, B the variances; the confidence interval
adds the sampling error of Fisher's z, which supposes about bivariate normal columns and is refused for
columns of two values. Where the noise hides a variance both are
the whole range, and a flag says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpnb.errors import Unavailable
from dpnb.inference import NoiseSum, accepted_interval, effective_size
from dpnb.release import Axis, Release
from dpnb.statistics._base import Pricing, Setting, Share, Target
from dpnb.statistics.outcome import Pair, Result
from dpnb.statistics.pair import Moments, moments, price_pair, redrawn, sides
from dpnb.statistics.ratio import CLUSTERED
from dpnb.statistics.released import combine

TWO_VALUED = (
    "The sampling error of a correlation is known here for about bivariate normal columns (Fisher's z), and one of these has two "
    'values: no confidence interval. Use .interval(kind="privacy"), or compare the groups with .difference(by=…).'
)
_EDGE = 1 - 1e-9
_CURVATURE = 6 / 64


@dataclass(frozen=True)
class CorrelationCell:
    """The correlation of one cell.

    Parameters
    ----------
    moments : Moments
        What was released.
    two_valued : bool
        Whether a column has two values, so that Fisher's z does not hold.
    """

    moments: Moments
    two_valued: bool

    @property
    def _lost(self) -> bool:
        return self.moments.small or self.moments.undefined or self.moments.hidden

    @property
    def _root(self) -> float:
        a, b = self.moments.variances
        return math.sqrt(a * b)

    @property
    def _raw(self) -> float:
        return self.moments.covariance / self._root

    @property
    def value(self) -> float:
        """The estimate in [-1, 1]; 0 where it is undefined."""
        return 0.0 if self.moments.undefined else min(max(self._raw, -1.0), 1.0)

    def _law(self, r: float) -> NoiseSum:
        """Return the law of n (C̃ - r √(ÃB̃)) when r is the exact correlation."""
        a, b = self.moments.variances
        tilt = math.sqrt(b / a)
        total = dict(self.moments.of_covariance(self.moments.covariance))
        for coefficients, weight in zip(self.moments.of_variances(), (tilt, 1 / tilt), strict=True):
            for name, factor in coefficients.items():
                total[name] = total.get(name, 0.0) - r / 2 * weight * factor
        own, one, two = self.moments.second_order
        relative = sum((sd / v) ** 2 for sd, v in zip(self.moments.variance_noise, (a, b), strict=True))
        curved = _CURVATURE * (r * self._root * self.moments.rows * relative) ** 2
        return self.moments.law(total).plus_normal(
            own + (r / 2) ** 2 * (tilt**2 * one + two / tilt**2) + curved
        )

    @property
    def _no_sampling(self) -> str:
        if self.moments.clustered:
            return CLUSTERED
        return TWO_VALUED if self.two_valued else ""

    @property
    def noise_variance(self) -> float:
        """Variance from the mechanism, at most that of a number in [-1, 1]."""
        if self.moments.undefined:
            return 1.0
        return min((self._law(self.value).sd / (self.moments.rows * self._root)) ** 2, 1.0)

    @property
    def sampling_variance(self) -> float | None:
        """Variance from sampling of about bivariate normal columns."""
        if self._no_sampling:
            return None
        return (1 - self.value**2) ** 2 / max(self.moments.rows - 3, 1.0)

    @property
    def n(self) -> float:
        """Rows behind the estimate, as released."""
        return max(self.moments.size, 0.0)

    @property
    def n_eff(self) -> float | None:
        """Rows without noise that would be as accurate."""
        sampling = self.sampling_variance
        return None if sampling is None else effective_size(self.n, sampling, self.noise_variance)

    @property
    def flags(self) -> tuple[str, ...]:
        """Warnings from released numbers."""
        found = ["arm too small"] if self.moments.small else []
        if self.moments.undefined:
            return (*found, "undefined")
        found += ["spread hidden"] if self.moments.hidden else []
        return tuple([*found, "clamped"] if abs(self._raw) > 1 else found)

    def _sampling(self, r: float) -> float:
        """Return the variance of the correlation about a candidate for which the noiseless test is Fisher's."""
        seen, asked = (min(max(x, -_EDGE), _EDGE) for x in (self._raw, r))
        gap = math.atanh(seen) - math.atanh(asked)
        slope = (seen - asked) / gap if abs(gap) > 1e-9 else 1 - asked**2
        return slope**2 / max(self.moments.rows - 3, 1.0)

    def _interval(self, level: float, *, sampling: bool) -> Pair:
        if self._lost:
            return -1.0, 1.0
        reach = self.moments.rows * self._root

        def p_value(r: float) -> float:
            law = self._law(r)
            if sampling:
                law = law.plus_normal(reach**2 * self._sampling(r))
            return law.tail(abs(self._raw - r) * reach)

        return accepted_interval(p_value, self._raw, -1.0, 1.0, 1 - level)

    def privacy(self, level: float) -> Pair:
        """Return the correlations of this dataset that the noise cannot reject."""
        return self._interval(level, sampling=False)

    def confidence(self, level: float) -> Pair:
        """Return the population correlations that sampling (Fisher's z) and noise cannot reject."""
        if self._no_sampling:
            raise Unavailable(self._no_sampling)
        return self._interval(level, sampling=True)


class Correlation:
    """The Pearson correlation of two bounded numbers."""

    name: ClassVar[str] = "correlation"
    title: ClassVar[str] = "correlation"
    target: ClassVar[Target] = "pair"
    defaults: ClassVar[dict[str, Any]] = {"method": "joint"}
    arms: ClassVar[bool] = False
    status: ClassVar[str] = "proven"
    reference: ClassVar[str] = (
        "Bun & Steinke 2016; joint sensitivity proved in dpnb.statistics.pair; Fisher 1921"
    )

    def extra_axes(self, setting: Setting) -> tuple[Axis, ...]:  # noqa: ARG002
        """No axis of its own."""
        return ()

    def domain(self, setting: Setting) -> Pair:
        """From -1 to 1."""
        sides(setting)
        return -1.0, 1.0

    def public_value(self, setting: Setting) -> float | None:  # noqa: ARG002
        """Never public."""
        return None

    def price(self, setting: Setting, share: Share) -> Pricing:
        """Five centred moments and a count, as one vector or apart."""
        return price_pair(setting, share)

    def half_width(self, setting: Setting, pricing: Pricing, n: float | None) -> float | None:  # noqa: ARG002
        """Not from public facts: it depends on both spreads."""
        return None

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:  # noqa: ARG002
        """In words."""
        return "± depends on both spreads"

    def conclude(self, setting: Setting, releases: Sequence[Release]) -> Result:
        """Return the correlation of every cell with both intervals."""
        parts = combine(releases)
        two_valued = setting.number().binary or setting.second().binary
        cells = [CorrelationCell(cell, two_valued) for cell in moments(setting, parts)]

        def redraw(count: int, rng: Any) -> np.ndarray:
            covariance, first, second = redrawn(setting, parts, count, rng)
            root = np.sqrt(np.maximum(first * second, 1e-24))
            return np.asarray(np.clip(covariance / root, -1, 1))

        notes = {
            "privacy": "test of the noise, to second order",
            "confidence": "Fisher's z with noise: supposes about bivariate normal columns",
        }
        return Result(cells, setting.shape, self.domain(setting), redraw, notes=notes)
