r"""Means and shares of people who count differently: :math:`\sum w x / \sum w`, for weights that their owner declared.

A row of weight w, between declared bounds :math:`0 ≤ l ≤ w ≤ W`, and of value x, measured from the middle of its range as :math:`|z| ≤ R/2`, adds

=================  =======================  ===============================  =======================
part               what a row adds          most that it adds                most that it changes by
=================  =======================  ===============================  =======================
sum                :math:`w z`              :math:`W R/2`                    :math:`W R`
weight             :math:`w`                :math:`W`                        :math:`W - l`
square             :math:`w^2 z^2`          :math:`W^2 R^2/4`                the same
cross              :math:`w^2 z`            :math:`W^2 R/2`                  :math:`W^2 R`
square of weight   :math:`w^2`              :math:`W^2`                      :math:`W^2 - l^2`
=================  =======================  ===============================  =======================

*Price.* They are sums over the same rows, so they are one frame of :mod:`dpnb.trusted.measurements.sums`: with one person more or fewer
a loss ε is :math:`WR/2b_S + W/b_W` and so on. With one person changed the weight is free beside the sum, as a count is beside a mean: where w
moves from W to l the sum moves by :math:`(W + l)R/2` only, and :math:`b_S = WR/ε` and :math:`b_W = 2W/ε` cost ε together
(:mod:`dpnb.trusted.measurements.factors`); by groups that holds for Gaussian noise alone. The last three, on grids of at most 2²⁰ steps, are bought
for the confidence interval alone; a two-valued x needs no square, since :math:`z^2` is constant.

*Intervals.* For a candidate mean m the residual :math:`\tilde S - m \tilde W` has no signal but the noise, whose law is known exactly
(Fieller): the privacy interval. Sampling adds variance :math:`\sum w^2(z - m)^2 = \sum w^2z^2 - 2m\sum w^2z + m^2\sum w^2`, the linearised
variance of a ratio under independent draws, with as many degrees of freedom as the weights are worth rows (Kish). Where that number is not
clear of its noise, an upper bound of it is used, which is never more than the bounds allow: :math:`W \sum w (R^2/4 + m^2 - 2mz)`.

*Why weights must be declared fixed.* The proof supposes that a person's weight is a matter of that person's row. A weight that was raked or
calibrated to totals depends on who else is in the file: one person more changes everybody's, and the sum moves by more than one row's share.
So the owner declares ``weights_fixed = true`` where weights come from the design (one over the chance of being drawn), or from totals outside the file
for cells that were fixed before.

References
----------
Fieller, *Some problems in interval estimation* (1954); Kish, *Survey Sampling* (1965); Binder, *On the variances of asymptotically normal
estimators from complex surveys* (1983).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpnb.inference import NoiseSum, student_inflation
from dpnb.inference.digits import rounded
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Number, Truth, choose, greater, lesser, not_
from dpnb.inference.spread import is_clear, likely_variance
from dpnb.statistics._base import (
    Numeric,
    Options,
    Pricing,
    Readers,
    Setting,
    Square,
    Target,
    powered,
    shifted,
    width_words,
)
from dpnb.statistics.declaration import Statistic, bought_or_bound
from dpnb.statistics.mean import MeanCell
from dpnb.statistics.noise import Summand, additive
from dpnb.statistics.ratio import COUNT_SHARE, EXACT_TESTS, Ratio, Spread, means_inside
from dpnb.statistics.released import Parts, ReleasedParts
from dpnb.statistics.result import Pair
from dpnb.trusted.aggregate.algebra import Mul
from dpnb.trusted.query.plan import Share

_SPREAD_SHARE = Fraction(3, 10)
_SHARES = {"square": Fraction(1, 2), "cross": Fraction(1, 4), "weight square": Fraction(1, 4)}
_WEIGHT_BITS, _VALUE_BITS = 12, 10
"""How fine weights and values are in squares: what is lost is small beside the noise."""


def _spread(setting: Setting) -> Spread:
    if setting.clustered:
        return "clustered"
    if not setting.options.get("ci", True):
        return "declined"
    return "bound" if setting.options.get("spread", "bought") == "bound" else "bought"


def weights_of(setting: Setting) -> Numeric:
    """Return the weights on a grid through zero."""
    return setting.second().rebased()


@dataclass(frozen=True, slots=True)
class _Squares:
    """What the confidence interval is bought with: sums of w²z² (of a two-valued column none), w²z and w²."""

    square: Square | None
    cross: Square
    weight: Square

    @classmethod
    def of(cls, setting: Setting) -> _Squares:
        """Return the squares of a question's numbers, each on a grid of its own."""
        fine, weights = setting.number().centred(), weights_of(setting)
        value = fine.coarse(_VALUE_BITS)
        coarser = int(value.unit / fine.unit).bit_length() - 1
        bits = max(0, (weights.high - 1).bit_length() - _WEIGHT_BITS)
        code, top = shifted(weights.code, bits), _rounded(weights.high, bits)
        twice = Mul(code, code)
        weight = powered(twice, top**2, 2 * bits)
        cross = powered(Mul(twice, value.code), top**2 * value.half, 2 * bits + coarser)
        squared = Mul(twice, Mul(value.code, value.code))
        both = powered(squared, (top * value.half) ** 2, 2 * (bits + coarser))
        return cls(None if setting.number().binary else both, cross, weight)

    def summands(self, setting: Setting, share: Fraction) -> list[Summand]:
        """Return the parts that they are released as, and how a part of the loss is divided over them."""
        grids = {
            "square": (self.square, "squared weights times squared values"),
            "cross": (self.cross, "squared weights times values"),
            "weight square": (self.weight, "squared weights"),
        }
        held = {name: (grid.code, words) for name, (grid, words) in grids.items() if grid is not None}
        whole = sum((_SHARES[name] for name in held), Fraction(0))
        return [
            Summand(name, setting.total(code), words, share * _SHARES[name] / whole)
            for name, (code, words) in held.items()
        ]


def _rounded(value: int, bits: int) -> int:
    return value if bits == 0 else (value + 2 ** (bits - 1)) >> bits


@dataclass(frozen=True, kw_only=True)
class WeightedRatio(Ratio):
    """A weighted mean: ``total`` is Σwz, ``size`` Σw and ``second`` Σw²z², with

    Parameters
    ----------
    cross, weight : float, array or None
        Σw²z and Σw², as released.
    cross_noise, weight_noise : NoiseSum
        Their errors.
    top : int
        The largest weight, on its grid.
    """

    cross: Number
    weight: Number
    cross_noise: NoiseSum
    weight_noise: NoiseSum
    top: int

    @cached_property
    def worth(self) -> Number:
        """How many rows of one weight would be worth as much (Kish); at least as many as the largest weight makes them."""
        least = greater(self.size, 0.0) / self.top
        if self.weight is None:
            return least
        clear = is_clear(self.weight, self.weight_noise.sd)
        return greater(choose(clear, self.size**2 / greater(self.weight, 1.0), least), least)

    def _ceiling(self, mean: Number) -> Number:
        return self.top * self.rows * greater(self.half**2 + mean**2 - 2 * mean * self.mean, 0.0)

    def _bought(self, mean: Number) -> tuple[Number, Number]:
        """Return Σw²(z - m)² as released, and the standard deviation of its noise."""
        if self.second is None:
            found = self.weight * (self.half**2 + mean**2) - 2 * mean * self.cross
            variance = (self.half**2 + mean**2) ** 2 * self.weight_noise.total_variance
        else:
            found = self.second - 2 * mean * self.cross + mean**2 * self.weight
            variance = self.second_noise.total_variance + mean**4 * self.weight_noise.total_variance
        return found, (variance + 4 * mean**2 * self.cross_noise.total_variance) ** 0.5

    def residual_variance(self, mean: Number) -> Number:
        """Return Σw²(z - m)², or as much as it may well be."""
        if self.no_sampling:
            return None
        if self.spread != "bought":
            return self._ceiling(mean)
        likely, _ = likely_variance(*self._bought(mean))
        return lesser(likely, self._ceiling(mean))

    @property
    def sampling_variance(self) -> Number:
        """Variance of the mean from sampling, in squared grid units."""
        variance = self.residual_variance(self.mean)
        return None if variance is None else variance / self.rows**2

    @property
    def raised(self) -> dict[str, Truth]:
        """Every warning that a weighted mean can have, and whether it is up."""
        found = {"arm too small": self.small, "clamped": abs(self.raw) > self.half}
        if self.spread == "bought":
            found["spread unclear"] = not_(is_clear(*self._bought(self.mean)))
        return found

    def _law(self, mean: Number, level: float, *, sampling: bool) -> NoiseSum:
        law = self.residual_noise(mean)
        if not sampling:
            return law
        return law.plus_normal(
            self.residual_variance(mean) * student_inflation(greater(self.worth, 1.0), level)
        )


@dataclass(frozen=True)
class WeightedCell(MeanCell):
    """The weighted mean of one cell in the unit of its column; of many, where the ratio holds arrays."""

    ratio: WeightedRatio

    @property
    def n(self) -> Number:
        """As many rows as the weights are worth."""
        return self.ratio.worth

    @property
    def n_eff(self) -> Number:
        """Rows of one weight that would be as accurate without noise."""
        sampling = self.ratio.sampling_variance
        return (
            None
            if sampling is None
            else self.n * sampling / greater(sampling + self.ratio.noise_variance, 1e-300)
        )


def _ratio(setting: Setting, parts: Parts) -> WeightedRatio:
    """Return the ratios of all cells at once: arrays of the shape of the parts."""
    spread, none = _spread(setting), NoiseSum()
    squares = _Squares.of(setting)
    grids = {"square": squares.square, "cross": squares.cross, "weight square": squares.weight}
    held = {
        name: (parts[name].values * grid.scale, parts[name].noise.scaled(grid.scale))
        for name, grid in grids.items()
        if grid is not None and name in parts
    }
    second, cross, weight = (held.get(name, (None, none)) for name in grids)
    total, size = parts["sum"], parts["weight"]
    return WeightedRatio(
        total=total.values,
        size=size.values,
        sum_noise=total.noise,
        size_noise=size.noise,
        tally=False,
        half=float(setting.number().centred().half),
        second=second[0],
        second_noise=second[1],
        spread=spread,
        cross=cross[0],
        weight=weight[0],
        cross_noise=cross[1],
        weight_noise=weight[1],
        top=weights_of(setting).high,
    )


class WeightedMean(Statistic):
    """The mean of a bounded number over people who count differently; of a condition, a weighted share."""

    name: ClassVar[str] = "weighted_mean"
    title: ClassVar[str] = "weighted mean"
    target: ClassVar[Target] = "weighted"
    defaults: ClassVar[Options] = {"ci": True, "spread": "bought"}
    readers: ClassVar[Readers] = {"spread": bought_or_bound}
    examples: ClassVar[tuple[Options, ...]] = ({"ci": False}, {"spread": "bound"})
    apart: ClassVar[bool] = True
    reference: ClassVar[str] = "Fieller 1954 on exact noise laws; Kish 1965; Binder 1983"

    def domain(self, setting: Setting) -> Pair:
        """The declared bounds of the number."""
        return setting.number().bounds

    def price(self, setting: Setting, share: Share) -> Pricing:
        """Return the weighted sum and the sum of weights, and what the spread is read from where it is bought."""
        value, weights = setting.number().centred(), weights_of(setting)
        product = setting.total(Mul(weights.code, value.code))
        paid = 1 - (Fraction(0) if setting.free_count(share.kind) else COUNT_SHARE)
        bought = _SPREAD_SHARE if _spread(setting) == "bought" else Fraction(0)
        parts = [
            Summand("sum", product, "weighted sum, centred", paid * (1 - bought)),
            *(_Squares.of(setting).summands(setting, paid * bought) if bought else ()),
            Summand("weight", setting.total(weights.code), "sum of weights"),
        ]
        return additive(setting, share, parts)

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """± in the unit of the column, or as a function of n, for people of the middle weight."""
        value, weights = setting.number().centred(), weights_of(setting)
        noise = pricing.noise
        middle = (weights.low + weights.high) / 2

        def width(known: Setting, size: float | None) -> float | None:
            place = value.half / 2 if known.place is None else known.place
            law, size = noise["sum"] + noise["weight"].scaled(place), setting.size(size)
            return None if not size else float(law.radius(0.05) * value.unit) / (size * middle)

        heavy = rounded(float(weights.offset + weights.step * Fraction(middle)))
        return f"{width_words(setting, width, n)}, each of weight {heavy}"

    def entries(self, setting: Setting, parts: Parts) -> WeightedCell:
        """Return the weighted means of all cells at once."""
        centred = setting.number().centred()
        return WeightedCell(_ratio(setting, parts), float(centred.centre), float(centred.unit))

    def redraw(self, setting: Setting, parts: ReleasedParts, count: int, rng: DrawGenerator) -> Floats:
        """Plausible exact weighted means."""
        centred = setting.number().centred()
        both = [parts[name] for name in ("sum", "weight")]
        total, size = (part.values - part.noise_draws(count, rng) for part in both)
        mean = means_inside((total, size), (both[0].values, both[1].values), centred.half)
        return np.asarray(float(centred.centre) + float(centred.unit) * mean)

    def notes(self, setting: Setting, parts: Parts) -> dict[str, str]:  # noqa: ARG002
        """Both are tests."""
        return dict(EXACT_TESTS)
