r"""Two numbers together: five centred moments and a count as one vector, and what noise and sampling leave of them.

With :math:`p = u/a` and :math:`q = w/b` the centred codes over their half ranges, a row adds the integers
:math:`u, w, 2u^2-a^2, 2w^2-b^2, uw` and 1: in units of :math:`a, b, 2a^2, 2b^2, ab` the point
:math:`(p, q, p^2-½, q^2-½, pq)` of the box :math:`|p|, |q| ≤ 1`, and 1/κ of the count's unit. Codes are coarsened to at most
2¹⁶ steps first, row by row, so that the moments are exact integers and nothing is rounded behind the bounds below.

One person moves all of them together by less than one by one: 16/3 in L1 and 8 in squared L2 where a row changes, 4 and 7/2 where it comes
or goes (:mod:`dpnb.trusted.measurements.products`, with the proofs). Under change-one with a private count in one cell a count of 3/4 of their
noise, or of 2/9 of their variance, makes a row that enters cost as much as one that changes: it is free.

**What is left.** With :math:`m = S/n, k = T/n` the residual :math:`P̃ - ñc - S̃T̃/ñ` of a candidate covariance c is, to first
order, :math:`Z_P - kZ_S - mZ_T + (mk-c)Z_n`; the second order, :math:`(Z_S-mZ_n)(Z_T-kZ_n)/n`, is taken out of the estimate by its
mean and added to the law by its variance.

References
----------
Bun & Steinke, *Concentrated differential privacy* (2016), for the joint vector; the six separate sums are Honaker's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpnb.errors import OptionError, PlanError
from dpnb.inference import NoiseSum
from dpnb.inference.digits import rounded
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Number, Truth, drawn_inside, greater, inside, lesser, root
from dpnb.inference.spread import MARGIN
from dpnb.statistics._base import Centred, PriceRow, Pricing, Setting
from dpnb.statistics.noise import Summand, additive, count_of, price_row, scaled, unit_losses
from dpnb.statistics.pair_spread import (
    NAMES,
    TAILS,
    Products,
    hides,
    lean,
    likely_products,
    product_bound,
    upper_spread,
)
from dpnb.statistics.released import Parts, ReleasedParts
from dpnb.trusted.aggregate.algebra import IntExpr, Lit, Mul, Sub
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpnb.trusted.query.plan import Share

_BITS = 15
_QUARTIC = 5.0
_CROSS = 6.0
_FREE_COUNT = {"epsilon": Fraction(4, 3), "rho": Fraction(9, 2)}
"""How much less noise than the moments a count has that costs nothing beside them, under change-one in one cell."""


def sides(setting: Setting) -> tuple[Centred, Centred]:
    """Return both numbers, centred, on grids of at most 2¹⁶ steps."""
    made = (setting.number().centred().coarse(_BITS), setting.second().centred().coarse(_BITS))
    if min(side.half for side in made) == 0:
        raise PlanError("One of the two columns has a single possible value: it cannot vary with anything.")
    return made


def of_two(x: Centred, y: Centred, setting: Setting) -> tuple[Summand, ...]:
    """Return the moments of two numbers, and their count where it is private."""
    words = setting.subject
    parts = [
        Summand("x", setting.total(x.code), f"{words}: sum of the first, centred"),
        Summand("y", setting.total(y.code), f"{words}: sum of the second, centred"),
        Summand("xx", setting.total(_square(x)), f"{words}: squares of the first"),
        Summand("yy", setting.total(_square(y)), f"{words}: squares of the second"),
        Summand("xy", setting.total(Mul(x.code, y.code)), f"{words}: products"),
    ]
    if setting.public_n is None:
        parts.append(count_of(setting, f"rows with known {words}"))
    return tuple(parts)


def units_of(x: Centred, y: Centred) -> dict[str, int]:
    """Return the unit in which each moment is measured against the box: its half range, or for a square all of its range."""
    squares = {"xx": 2 * x.half**2, "yy": 2 * y.half**2}
    return {"x": x.half, "y": y.half, **squares, "xy": x.half * y.half, "count": 1}


def _square(side: Centred) -> IntExpr:
    return Sub(Mul(Lit(2), Mul(side.code, side.code)), Lit(side.half**2))


def price_pair(setting: Setting, share: Share) -> Pricing:
    """Price the moments as one vector, or as separate sums with equal parts of the loss."""
    method = setting.options["method"]
    if method not in {"joint", "separate"}:
        raise OptionError(
            'method= is "joint" (one vector, less noise) or "separate" (equal parts of the loss).'
        )
    return (price_together if method == "joint" else _price_apart)(setting, share, *sides(setting))


def price_together(setting: Setting, share: Share, x: Centred, y: Centred) -> Pricing:
    """Price the moments of two numbers as one vector: equal noise in every direction of the box, and on a count what is free, or as much."""
    moments, units = of_two(x, y, setting), units_of(x, y)
    pure = share.kind == "epsilon"
    counted = _FREE_COUNT[share.kind] if setting.changes_in_one_cell else Fraction(1)
    parts = []
    for one in moments:
        weight = counted if one.name == "count" else Fraction(1)
        size = units[one.name] / weight if pure else units[one.name] ** 2 / weight
        noise = (DiscreteLaplace if pure else DiscreteGaussian)(size)
        parts.append(Measurement(one.name, one.request, noise, setting.cells))
    made = scaled(setting, share, parts)
    cost = f"{'ε' if pure else 'ρ'} {rounded(float(share.amount))} for the whole vector"
    return Pricing(
        made, _rows(setting, share, moments, made, [cost, *["in the same vector"] * (len(made) - 1)])
    )


def _price_apart(setting: Setting, share: Share, x: Centred, y: Centred) -> Pricing:
    """Price the moments of two numbers as sums that each cost an equal part of the loss by themselves."""
    moments = of_two(x, y, setting)
    part = Fraction(1, len(moments))
    made = additive(setting, share, [replace(one, share=part) for one in moments]).parts
    cost = f"{'ε' if share.kind == 'epsilon' else 'ρ'} {rounded(float(share.amount * part))} by itself"
    return Pricing(made, _rows(setting, share, moments, made, [cost] * len(made)))


def _rows(
    setting: Setting,
    share: Share,
    moments: Sequence[Summand],
    made: Sequence[Measurement],
    costs: Sequence[str],
) -> tuple[PriceRow, ...]:
    alone = unit_losses(setting, share.kind, [one.request for one in moments])
    listed = zip(moments, made, alone, costs, strict=True)
    return tuple(
        replace(price_row(one.words, part.mechanism, size), cost=cost) for one, part, size, cost in listed
    )


Coefficients = dict[str, Number]


@dataclass(frozen=True)
class Moments:
    """Noised moments of one cell, in the unit of the box; or of many cells, as arrays.

    Parameters
    ----------
    size, s, t, ss, tt, st : float, or array
        Rows; sums of p, q, p², q² and pq.
    noise : mapping of str to NoiseSum
        The laws of the errors of the released sums, in the same unit; the squares were released about the middle.
    clustered : bool
        Whether one person may have several rows, so that no sampling error follows from rows.
    binary : (bool, bool)
        Whether a column has two values.
    products : Products or None
        What was bought about their products.
    """

    size: Number
    s: Number
    t: Number
    ss: Number
    tt: Number
    st: Number
    noise: Mapping[str, NoiseSum]
    clustered: bool
    binary: tuple[bool, bool] = (False, False)
    products: Products | None = None

    @property
    def rows(self) -> Number:
        """The number of rows, at least one."""
        return greater(self.size, 1.0)

    @property
    def small(self) -> Number:
        """Whether the number of rows is not clear of its noise."""
        return (self.size < 3 * self.noise["count"].sd) | (self.size < 1)

    @property
    def means(self) -> tuple[Number, Number]:
        """Both means, moved into the box."""
        return _inside(self.s / self.rows), _inside(self.t / self.rows)

    @cached_property
    def _remainders(self) -> tuple[Number, Number, Number]:
        """Variances of Z_S - m Z_n and Z_T - k Z_n, and their covariance."""
        m, k = self.means
        v = {name: law.total_variance for name, law in self.noise.items()}
        return v["x"] + m * m * v["count"], v["y"] + k * k * v["count"], m * k * v["count"]

    @property
    def covariance(self) -> Number:
        """The covariance (divisor n), its second-order bias taken off."""
        n = self.rows
        return (self.st - (self.s * self.t - self._remainders[2]) / n) / n

    @property
    def variances(self) -> tuple[Number, Number]:
        """Both variances (divisor n), their second-order bias taken off; noise can make them negative."""
        n, (first, second, _) = self.rows, self._remainders
        return (self.ss - (self.s**2 - first) / n) / n, (self.tt - (self.t**2 - second) / n) / n

    def law(self, coefficients: Coefficients) -> NoiseSum:
        """Return the law of a linear function of the errors."""
        total = NoiseSum()
        for name, factor in coefficients.items():
            total = total + self.noise[name].scaled(factor)
        return total

    def of_covariance(self, candidate: Number) -> Coefficients:
        """Return how the errors enter ``n`` times the covariance, at a candidate."""
        m, k = self.means
        return {"xy": 1.0, "x": -k, "y": -m, "count": m * k - candidate}

    def of_variances(self) -> tuple[Coefficients, Coefficients]:
        """Return how the errors enter ``n`` times both variances."""
        (m, k), (a, b) = self.means, self.variances
        return (
            {"xx": 1.0, "x": -2 * m, "count": 0.5 + m * m - a},
            {"yy": 1.0, "y": -2 * k, "count": 0.5 + k * k - b},
        )

    @property
    def second_order(self) -> tuple[Number, Number, Number]:
        """Variances of what the first order leaves out of n times the covariance and both variances."""
        first, second, both = self._remainders
        n = self.rows
        return (
            (first * second + _CROSS * both**2) / n**2,
            _QUARTIC * (first / n) ** 2,
            _QUARTIC * (second / n) ** 2,
        )

    @cached_property
    def variance_noise(self) -> tuple[Number, Number]:
        """Standard deviations of the noise on both variances."""
        _, one, two = self.second_order
        x, y = self.of_variances()
        return (
            root(self.law(x).total_variance + one) / self.rows,
            root(self.law(y).total_variance + two) / self.rows,
        )

    @property
    def undefined(self) -> Number:
        """Whether a noised variance is not positive, so that there is no correlation."""
        return lesser(*self.variances) <= 0

    @property
    def hidden(self) -> Number:
        """Whether the noise hides a variance."""
        (a, b), (one, two) = self.variances, self.variance_noise
        return hides(one, a) | hides(two, b)

    def row_bound(self, candidate: Number) -> Number:
        """Return the largest variance of ``(p-m)(q-k)`` that the bounds and the noised variances allow."""
        (m, k), (a, b) = self.means, self.variances
        one, two = self.variance_noise
        return product_bound((m, k), (upper_spread(a, one, m), upper_spread(b, two, k)), candidate)

    def row_likely(self, candidate: Number, tails: float) -> Number:
        """Return the variance of ``(p-m)(q-k)`` that was bought or is supposed (:func:`likely_products`), at most the bound."""
        a, b = (
            greater(v, 0.0) + MARGIN * sd for v, sd in zip(self.variances, self.variance_noise, strict=True)
        )
        m, k = self.means
        leans = greater(lean(m, a, binary=self.binary[0]), lean(k, b, binary=self.binary[1]))
        supposed = likely_products(a * b, candidate, tails, leans)
        if self.products is not None and tails == TAILS:
            supposed = self.products.likely(self, candidate, supposed)
        return lesser(self.row_bound(candidate), supposed)


def _inside(value: Number) -> Number:
    return inside(value, -1.0, 1.0)


def moment(setting: Setting, parts: Parts) -> Moments:
    """Return the moments of all cells at once: arrays of the shape of the parts."""
    products = Products.of(*sides(setting), parts)
    parts = without_products(parts)
    values = boxed(setting, {name: part.values for name, part in parts.items()})
    units = units_of(*sides(setting))
    noise = {name: part.noise.scaled(1 / units[name]) for name, part in parts.items()}
    noise.setdefault("count", NoiseSum())
    n, s, t, ss, tt, st = (values[name] for name in ("count", "x", "y", "xx", "yy", "xy"))
    binary = setting.number().binary, setting.second().binary
    return Moments(n, s, t, ss, tt, st, noise, setting.clustered, binary, products)


def without_products(parts: Parts) -> dict[str, Truth]:
    """Return the parts that are moments of two numbers."""
    return {name: part for name, part in parts.items() if name not in NAMES}


def boxed(setting: Setting, released: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the sums in the unit of the box, squares with their middle put back; arrays may have leading axes."""
    units = units_of(*sides(setting))
    made = {name: values / units[name] for name, values in released.items()}
    if "count" not in made:
        made["count"] = np.full(made["x"].shape, float(setting.public_n or 1))
    return {**made, "xx": made["xx"] + made["count"] / 2, "yy": made["yy"] + made["count"] / 2}


def redrawn(setting: Setting, parts: ReleasedParts, count: int, rng: DrawGenerator) -> tuple[Floats, ...]:
    """Return plausible exact covariances and variances of every cell in the unit of the box, ``(count, cells)`` each."""
    moments = without_products(parts)

    def read(values: Mapping[str, Floats]) -> tuple[Floats, ...]:
        sums = boxed(setting, values)
        n = np.maximum(sums["count"], 1.0)
        m, k = np.clip(sums["x"] / n, -1, 1), np.clip(sums["y"] / n, -1, 1)
        return sums["xy"] / n - m * k, sums["xx"] / n - m * m, sums["yy"] / n - k * k

    seen = read({name: part.values for name, part in moments.items()})
    drawn = read({name: part.values - part.noise_draws(count, rng) for name, part in moments.items()})
    return tuple(
        drawn_inside(one, about, low, 1.0)
        for one, about, low in zip(drawn, seen, (-1.0, 0.0, 0.0), strict=True)
    )
