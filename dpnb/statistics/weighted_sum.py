r"""Totals of a population from a sample with weights: :math:`\sum w x`, for weights that their owner declared.

Released: the sum of the product, on a grid through zero, and for a confidence interval the sum of its squares, on a grid of at most 2²⁰
steps. A row adds at most :math:`M = W \max|x|` to the first and :math:`M^2` to the second; both are sums of the same rows, one frame of
:mod:`dpnb.trusted.measurements.sums`. Why weights must be declared fixed is said in :mod:`~dpnb.statistics.weighted_mean`.

*Intervals.* The privacy interval is the exact radius of the noise. The total estimates that of the population (Horvitz and Thompson) where
a weight is one over the chance of being drawn. Under independent draws its variance is at most :math:`\sum w^2x^2`; where the number n of rows
is public, it is that of n draws, :math:`(\sum w^2x^2 - (\sum wx)^2/n)\,n/(n-1)`. Strata and clusters of a design are not known here: what strata
take off the error and clusters add to it is not in the interval.

References
----------
Horvitz & Thompson, *A generalization of sampling without replacement from a finite universe* (1952).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpnb.inference import NoiseSum, student_inflation
from dpnb.inference.digits import rounded
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Number, Truth, choose, greater, inside
from dpnb.inference.spread import likely_variance
from dpnb.statistics._base import Options, Pricing, Setting, Square, Target, powered, shifted
from dpnb.statistics.count import LinearCell
from dpnb.statistics.declaration import Statistic
from dpnb.statistics.noise import Summand, additive
from dpnb.statistics.ratio import CLUSTERED, DECLINED
from dpnb.statistics.released import Parts, ReleasedParts
from dpnb.statistics.result import Pair
from dpnb.statistics.weighted_mean import weights_of
from dpnb.trusted.aggregate.algebra import Clip, IntExpr, Mul
from dpnb.trusted.query.plan import Share

_SPREAD_SHARE = Fraction(1, 4)
_COARSE_BITS = 26


@dataclass(frozen=True, slots=True)
class _Product:
    """Weight times value on a grid through zero, and its square on one of its own."""

    code: IntExpr
    low: int
    high: int
    step: Fraction
    square: Square

    @classmethod
    def of(cls, setting: Setting) -> _Product:
        """Return the product of a question's two numbers."""
        value, weights = setting.number().rebased(), weights_of(setting)
        code = Mul(weights.code, value.code)
        ends = [one * other for one in (weights.low, weights.high) for other in (value.low, value.high)]
        low, high = min(ends), max(ends)
        top = max(-low, high)
        bits = max(0, (top - 1).bit_length() - _COARSE_BITS)
        reach = top if bits == 0 else (top + 2 ** (bits - 1)) >> bits
        coarse = Clip(shifted(code, bits), -reach, reach) if bits else code
        square = powered(Mul(coarse, coarse), reach**2, 2 * bits)
        return cls(code, low, high, value.step * weights.step, square)


@dataclass(frozen=True)
class TotalCell(LinearCell):
    """A weighted total; ``squares`` is the sum of squared products as released, in squared grid units, and ``rows`` the public number of rows.

    Without squares no population can be spoken of, for the reason that ``refused`` gives.
    """

    squares: Number
    squares_noise: NoiseSum
    rows: int | None
    refused: str

    @property
    def no_population(self) -> str:
        """Why no population can be spoken of; empty where one can."""
        return self.refused

    @property
    def _likely(self) -> tuple[Number, Number]:
        """Variance from sampling in squared grid units, and whether it is clear of its noise."""
        known, clear = likely_variance(self.squares, self.squares_noise.sd)
        if self.rows is None or self.rows < 2:
            return known, clear
        return greater(known - self.released**2 / self.rows, 0.0) * self.rows / (self.rows - 1), clear

    @property
    def sampling_variance(self) -> Number:
        """Variance from sampling."""
        return None if self.no_population else self._likely[0] * self.unit**2

    @property
    def raised(self) -> dict[str, Truth]:
        """Whether the spread had to be bounded."""
        return {} if self.no_population else {"spread unclear": choose(self._likely[1], False, True)}

    def _interval(self, level: float, *, sampling: bool) -> Pair:
        """Return the totals that are not rejected, with as many degrees of freedom as the products are worth rows."""
        if not sampling:
            return super()._interval(level, sampling=False)
        spread, _ = self._likely
        worth = greater(self.released**2 / greater(self.squares, 1.0), 2.0)
        law = self.noise.plus_normal(spread * student_inflation(worth, level))
        reach = law.radius(1 - level) * self.unit
        return inside(self.value - reach, self.low, self.high), inside(
            self.value + reach, self.low, self.high
        )


class WeightedSum(Statistic):
    """The total of a bounded number in the population that weights stand for; of a condition, how many people it is true of."""

    name: ClassVar[str] = "weighted_sum"
    title: ClassVar[str] = "weighted total"
    target: ClassVar[Target] = "weighted"
    defaults: ClassVar[Options] = {"ci": True}
    examples: ClassVar[tuple[Options, ...]] = ({"ci": False},)
    apart: ClassVar[bool] = True
    reference: ClassVar[str] = "Horvitz & Thompson 1952; Canonne, Kamath & Steinke 2020"

    def domain(self, setting: Setting) -> Pair:
        """From zero, or without end, where weights and values may be many."""
        product = _Product.of(setting)
        return (0.0 if product.low >= 0 else -math.inf, 0.0 if product.high <= 0 else math.inf)

    def _refused(self, setting: Setting) -> str:
        if setting.clustered:
            return CLUSTERED
        return "" if setting.options.get("ci", True) else DECLINED

    def price(self, setting: Setting, share: Share) -> Pricing:
        """The sum of products, and of their squares where a confidence interval is bought."""
        product = _Product.of(setting)
        spread = Fraction(0) if self._refused(setting) else _SPREAD_SHARE
        parts = [Summand("sum", setting.total(product.code), f"weighted {setting.subject}", 1 - spread)]
        if spread:
            square = setting.total(product.square.code)
            parts.append(Summand("square", square, "squares of it, for its spread", spread))
        return additive(setting, share, parts)

    def half_width(self, setting: Setting, pricing: Pricing, n: float | None) -> float | None:  # noqa: ARG002
        """The radius of the noise in the unit of the total."""
        return pricing.radius * float(_Product.of(setting).step)

    def entry_noise(self, setting: Setting, pricing: Pricing, n: float | None) -> NoiseSum:  # noqa: ARG002
        """The law of the sum."""
        return pricing.noise["sum"]

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """± in the unit of the total."""
        return f"± {rounded(self.half_width(setting, pricing, n) or 0.0)}"

    def entries(self, setting: Setting, parts: Parts) -> TotalCell:
        """Return the totals of all cells at once."""
        product, total, square = _Product.of(setting), parts["sum"], parts.get("square")
        squares = None if square is None else square.values * product.square.scale
        noise = NoiseSum() if square is None else square.noise.scaled(product.square.scale)
        linear = (total.values, float(product.step), total.noise, total.single, *self.domain(setting))
        return TotalCell(*linear, squares, noise, setting.public_n, self._refused(setting))

    def redraw(self, setting: Setting, parts: ReleasedParts, count: int, rng: DrawGenerator) -> Floats:
        """Plausible exact totals."""
        total = parts["sum"]
        return np.asarray((total.values - total.noise_draws(count, rng)) * float(_Product.of(setting).step))

    def notes(self, setting: Setting, parts: Parts) -> dict[str, str]:  # noqa: ARG002
        """The law of the noise, exactly, and draws that do not know of each other."""
        return {
            "privacy": "exact law of the noise",
            "confidence": "independent draws; exact law of the noise",
        }
