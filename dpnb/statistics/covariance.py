"""The covariance of two bounded numbers (divisor n), from one joint vector of moments.

The privacy interval inverts a test of the noise; the confidence interval goes by the squares of the products, bought where rows and loss are
many enough (:mod:`dpnb.statistics.pair_spread`), or supposes that products vary at most ``tails`` times as much as
those of normal columns (:mod:`dpnb.statistics.pair_spread`); by no more than bounds and released variances allow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpnb.inference import effective_size, student_inflation
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Number, Truth, greater, inside, lesser, root
from dpnb.inference.noise_sum import NoiseSum
from dpnb.statistics._base import Options, Pricing, Readers, Setting, Target
from dpnb.statistics.declaration import Statistic, asked_rows
from dpnb.statistics.pair import Moments, moment, price_pair, redrawn, sides, units_of
from dpnb.statistics.pair_spread import NOTE, TAILS, price_beside, product_share, products_note, tails_of
from dpnb.statistics.ratio import CLUSTERED
from dpnb.statistics.released import Parts, ReleasedParts
from dpnb.statistics.result import Cell, Pair
from dpnb.trusted.query.plan import Share


@dataclass(frozen=True)
class CovarianceCell(Cell):
    """The covariance of one cell, in the product of both units."""

    moments: Moments
    unit: float
    tails: float

    @property
    def _raw(self) -> Number:
        return self.moments.covariance

    @property
    def value(self) -> Number:
        """The estimate, moved into the range that the bounds allow."""
        return self.unit * inside(self._raw, -1.0, 1.0)

    def _law(self, candidate: Number) -> NoiseSum:
        law = self.moments.law(self.moments.of_covariance(candidate))
        return law.plus_normal(self.moments.second_order[0])

    @property
    def noise_variance(self) -> Number:
        """Variance from the mechanism."""
        return (self.unit * lesser(self._sd, 1.0)) ** 2

    @property
    def _sd(self) -> Number:
        return self._law(self.value / self.unit).sd / self.moments.rows

    @property
    def sampling_variance(self) -> Number:
        """Variance from sampling, at most."""
        return None if self.moments.clustered else self._sampling(self.tails)

    def _sampling(self, tails: float) -> Number:
        return self.unit**2 * self.moments.row_likely(self.value / self.unit, tails) / self.moments.rows

    @property
    def n(self) -> Number:
        """Rows behind the estimate, as released."""
        return greater(self.moments.size, 0.0)

    @property
    def n_eff(self) -> Number:
        """Rows without noise that would be as accurate."""
        if self.moments.clustered:
            return None
        return effective_size(self.n, self._sampling(1.0), self.noise_variance)

    @property
    def raised(self) -> dict[str, Truth]:
        """Every warning that a covariance can have, and whether it is up."""
        return {"arm too small": self.moments.small, "clamped": abs(self._raw) > 1}

    def _p_value(self, candidate: Number, level: float, *, sampling: bool) -> Number:
        law = self._law(candidate)
        if sampling:
            bound = self.moments.row_likely(candidate, self.tails) * student_inflation(
                self.moments.rows, level
            )
            law = law.plus_normal(self.moments.rows * bound)
        return law.tail(abs(self.value / self.unit - candidate) * self.moments.rows)

    def _interval(self, level: float, *, sampling: bool) -> Pair:
        more = self._sampling(self.tails) / self.unit**2 if sampling else 0.0
        sd, lost = root(self._sd**2 + more), self.moments.small
        low, high = self._inverted(
            self.value / self.unit, -1.0, 1.0, level, sampling=sampling, sd=sd, lost=lost
        )
        return self.unit * low, self.unit * high

    @property
    def no_population(self) -> str:
        """Why there is no confidence interval; empty where there is one."""
        return CLUSTERED if self.moments.clustered else ""


class Covariance(Statistic):
    """The covariance of two bounded numbers."""

    name: ClassVar[str] = "covariance"
    title: ClassVar[str] = "covariance"
    target: ClassVar[Target] = "pair"
    defaults: ClassVar[Options] = {"method": "joint", "tails": TAILS, "about": None}
    readers: ClassVar[Readers] = {"about": asked_rows}
    examples: ClassVar[tuple[Options, ...]] = ({"about": 2**20},)
    smooth: ClassVar[bool] = True
    reference: ClassVar[str] = "Bun & Steinke 2016; joint sensitivity proved in dpnb.statistics.pair"

    def _unit(self, setting: Setting) -> float:
        x, y = sides(setting)
        return float(x.unit * x.half * y.unit * y.half)

    def domain(self, setting: Setting) -> Pair:
        """The product of both half ranges, either way."""
        tails_of(setting.options["tails"])
        return -self._unit(setting), self._unit(setting)

    def price(self, setting: Setting, share: Share) -> Pricing:
        """Five centred moments and a count, as one vector or apart, and what the sampling error needs."""
        bought = product_share(setting, share)
        left, beside = (replace(share, amount=share.amount * part) for part in (1 - bought, bought))
        moments = price_pair(setting, left)
        if not bought:
            return moments
        return price_beside(setting, beside, sides(setting), moments)

    def half_width(self, setting: Setting, pricing: Pricing, n: float | None) -> float | None:
        """The radius of the noise for means a quarter of the way out, for a public or assumed size."""
        size, noise = setting.size(n), pricing.noise
        if size is None:
            return None
        scales = units_of(*sides(setting))
        law = NoiseSum()
        for name, factor in (("xy", 1.0), ("x", 0.5), ("y", 0.5), ("count", 0.25)):
            if name in noise:
                law = law + noise[name].scaled(factor / scales[name])
        return float(law.radius(0.05)) * self._unit(setting) / size

    def entries(self, setting: Setting, parts: Parts) -> CovarianceCell:
        """Return the covariances of all cells at once."""
        return CovarianceCell(moment(setting, parts), self._unit(setting), tails_of(setting.options["tails"]))

    def redraw(self, setting: Setting, parts: ReleasedParts, count: int, rng: DrawGenerator) -> Floats:
        """Plausible exact covariances."""
        return np.asarray(redrawn(setting, parts, count, rng)[0] * self._unit(setting))

    def notes(self, setting: Setting, parts: Parts) -> dict[str, str]:
        """A test of the noise, and of sampling by what was bought or an assumption on the tails."""
        supposed = products_note(tails_of(setting.options["tails"]))
        return {
            "privacy": "test of the noise, to second order",
            "confidence": f"{NOTE}; otherwise {supposed}" if "xxyy" in parts else supposed,
        }
