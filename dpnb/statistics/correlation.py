"""The Pearson correlation of two bounded numbers, from one joint vector of moments.

The privacy interval inverts a test of the noise on ``C - r √(AB)``, C the covariance and A, B the variances; the confidence interval
adds the sampling error of Fisher's z, its variance times ``tails``, and is refused for columns of two values. Where the noise hides a
variance both are the whole range, and a flag says so.
What is supposed of tails: :mod:`dpnb.statistics.pair_spread`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpnb.inference import NoiseSum, effective_size
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Number, Truth, choose, greater, inside, lesser, root
from dpnb.statistics._base import Options, Pricing, Setting, Target
from dpnb.statistics.declaration import Statistic
from dpnb.statistics.pair import Moments, moment, price_pair, redrawn, sides
from dpnb.statistics.pair_spread import TAILS, fishers_note, tails_of
from dpnb.statistics.ratio import CLUSTERED
from dpnb.statistics.released import Parts, ReleasedParts
from dpnb.statistics.result import Cell, Pair
from dpnb.trusted.query.plan import Share

TWO_VALUED = (
    "The sampling error of a correlation is known here for columns of many values (Fisher's z), and one of these has two "
    'values: no confidence interval. Use .interval(kind="privacy"), or compare the groups with .difference(by=…).'
)
_EDGE = 1 - 1e-9
_CURVATURE = 6 / 64


@dataclass(frozen=True)
class CorrelationCell(Cell):
    """The correlation of one cell.

    Parameters
    ----------
    moments : Moments
        What was released.
    two_valued : bool
        Whether a column has two values, so that Fisher's z does not hold.
    tails : float
        How much larger than that of normal columns the sampling variance may be.
    """

    moments: Moments
    two_valued: bool
    tails: float

    @property
    def _lost(self) -> Number:
        return self.moments.small | self.moments.undefined | self.moments.hidden

    @property
    def _root(self) -> Number:
        a, b = self._variances
        return root(a * b)

    @property
    def _variances(self) -> tuple[Number, Number]:
        """Both variances; ones in place of those that are not positive."""
        a, b = self.moments.variances
        return choose(a > 0, a, 1.0), choose(b > 0, b, 1.0)

    @property
    def _raw(self) -> Number:
        return self.moments.covariance / self._root

    @property
    def value(self) -> Number:
        """The estimate in [-1, 1]; 0 where it is undefined."""
        return choose(self.moments.undefined, 0.0, inside(self._raw, -1.0, 1.0))

    def _law(self, r: Number) -> NoiseSum:
        """Return the law of n (C̃ - r √(ÃB̃)) when r is the exact correlation."""
        a, b = self._variances
        tilt = root(b / a)
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
    def no_population(self) -> str:
        """Why there is no confidence interval; empty where there is one."""
        if self.moments.clustered:
            return CLUSTERED
        return TWO_VALUED if self.two_valued else ""

    @property
    def noise_variance(self) -> Number:
        """Variance from the mechanism, at most that of a number in [-1, 1]."""
        return choose(self.moments.undefined, 1.0, lesser(self._sd**2, 1.0))

    @property
    def _sd(self) -> Number:
        return self._law(self.value).sd / (self.moments.rows * self._root)

    @property
    def sampling_variance(self) -> Number:
        """Variance from sampling, at most."""
        return None if self.no_population else self.tails * self._normal

    @property
    def _normal(self) -> Number:
        """Variance from sampling of bivariate normal columns."""
        return (1 - self.value**2) ** 2 / greater(self.moments.rows - 3, 1.0)

    @property
    def n(self) -> Number:
        """Rows behind the estimate, as released."""
        return greater(self.moments.size, 0.0)

    @property
    def n_eff(self) -> Number:
        """Rows without noise that would be as accurate."""
        return None if self.no_population else effective_size(self.n, self._normal, self.noise_variance)

    @property
    def raised(self) -> dict[str, Truth]:
        """Every warning that a correlation can have, and whether it is up."""
        lost = self.moments.undefined
        defined = choose(lost, False, True)
        return {
            "arm too small": self.moments.small,
            "undefined": lost,
            "spread hidden": self.moments.hidden & defined,
            "clamped": (abs(self._raw) > 1) & defined,
        }

    def _sampling(self, r: Number) -> Number:
        """Return the variance of the correlation about a candidate: with that of normal columns the noiseless test is Fisher's."""
        seen, asked = (inside(x, -_EDGE, _EDGE) for x in (self._raw, r))
        gap = _atanh(seen) - _atanh(asked)
        far = abs(gap) > 1e-9
        slope = choose(far, (seen - asked) / choose(far, gap, 1.0), 1 - asked**2)
        return self.tails * slope**2 / greater(self.moments.rows - 3, 1.0)

    def _p_value(self, r: Number, level: float, *, sampling: bool) -> Number:  # noqa: ARG002 - Fisher's z has one law
        law, reach = self._law(r), self.moments.rows * self._root
        if sampling:
            law = law.plus_normal(reach**2 * self._sampling(r))
        return law.tail(abs(self.value - r) * reach)

    def _interval(self, level: float, *, sampling: bool) -> Pair:
        sd = root(self._sd**2 + (self._sampling(self.value) if sampling else 0.0))
        return self._inverted(self.value, -1.0, 1.0, level, sampling=sampling, sd=sd, lost=self._lost)


def _atanh(value: Number) -> Number:
    return np.arctanh(value) if isinstance(value, np.ndarray) else math.atanh(value)


class Correlation(Statistic):
    """The Pearson correlation of two bounded numbers."""

    name: ClassVar[str] = "correlation"
    title: ClassVar[str] = "correlation"
    target: ClassVar[Target] = "pair"
    defaults: ClassVar[Options] = {"method": "joint", "tails": TAILS}
    reference: ClassVar[str] = (
        "Bun & Steinke 2016; joint sensitivity proved in dpnb.statistics.pair; Fisher 1921"
    )

    def domain(self, setting: Setting) -> Pair:
        """From -1 to 1."""
        sides(setting)
        tails_of(setting.options["tails"])
        return -1.0, 1.0

    def price(self, setting: Setting, share: Share) -> Pricing:
        """Five centred moments and a count, as one vector or apart."""
        return price_pair(setting, share)

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:  # noqa: ARG002
        """In words."""
        return "± depends on both spreads"

    def entries(self, setting: Setting, parts: Parts) -> CorrelationCell:
        """Return the correlations of all cells at once."""
        return self._cell(setting, moment(setting, parts))

    def _cell(self, setting: Setting, found: Moments) -> CorrelationCell:
        two_valued = setting.number().binary or setting.second().binary
        return CorrelationCell(found, two_valued, tails_of(setting.options["tails"]))

    def redraw(self, setting: Setting, parts: ReleasedParts, count: int, rng: DrawGenerator) -> Floats:
        """Plausible exact correlations."""
        covariance, first, second = redrawn(setting, parts, count, rng)
        return np.asarray(np.clip(covariance / np.sqrt(np.maximum(first * second, 1e-24)), -1, 1))

    def notes(self, setting: Setting, parts: Parts) -> dict[str, str]:  # noqa: ARG002
        """A test of the noise, and of sampling by an assumption on the tails."""
        return {
            "privacy": "test of the noise, to second order",
            "confidence": fishers_note(tails_of(setting.options["tails"])),
        }
