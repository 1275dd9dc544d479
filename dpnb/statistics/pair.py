r"""Two numbers together: five centred moments and a count as one vector, and what noise and sampling leave of them.

With :math:`p = u/a` and :math:`q = w/b` the centred codes over their half ranges, a row adds the integers
:math:`u, w, 2u^2-a^2, 2w^2-b^2, uw` and 1: in units of :math:`a, b, 2a^2, 2b^2, ab` the point
:math:`(p, q, p^2-½, q^2-½, pq)` of the box :math:`|p|, |q| ≤ 1`, and 1/κ of the count's unit. Codes are coarsened to at most
2¹⁶ steps first, row by row, so that the moments are exact integers and nothing is rounded behind the bounds below.

**Joint sensitivity**, in these units, without the count:

=======  ==============================  =================================  ===================================
move     when                            L1                                 squared L2
=======  ==============================  =================================  ===================================
enter    a row comes or goes             4                                  7/2
within   a row changes in its cell       16/3 (apart: 8)                    8 (apart: 14)
switch   a row changes cell              8                                  7
=======  ==============================  =================================  ===================================

The count adds κ or κ² to *enter*, twice that to *switch*, and nothing to *within*.

*Proof.* Enter: L1 at most 1+1+½+½+1; with :math:`A = p^2, B = q^2` the squared L2 is
:math:`A+B+(A-½)^2+(B-½)^2+AB = ½+A^2+B^2+AB ≤ 7/2`. Switch: two cells, one enter in each. Within, from :math:`(s-d, t-e)` to
:math:`(s+d, t+e)`: signs may be dropped, since :math:`|se+td| ≤ |s||e|+|t||d|`, and :math:`s ≤ 1-d, t ≤ 1-e`. Then

.. math:: L1 = 2d+2e+4sd+4te+2(se+td) ≤ 8d+8e-4d^2-4e^2-4de ≤ 16/3,

a concave function whose maximum is at :math:`d = e = 2/3`; and with :math:`4d(1-d) ≤ 1` and :math:`x = d+e-2de ∈ [0, 1]`

.. math:: L2^2 = 4d^2+4e^2+16s^2d^2+16t^2e^2+4(se+td)^2 ≤ 4d + 4e + 4x^2 ≤ 8(d+e-de) ≤ 8.

A unit of r rows changes by r such moves: L1 times r, squared L2 times r² (triangle inequality). Brute force over all small
grids confirms each number. Under change-one with a private count in one cell, κ = 4/3 or κ² = 9/2 makes *enter* as large as
*within*: the count is free.

**What is left.** With :math:`m = S/n, k = T/n` the residual :math:`P̃ - ñc - S̃T̃/ñ` of a candidate covariance c is, to first
order, :math:`Z_P - kZ_S - mZ_T + (mk-c)Z_n`; the second order, :math:`(Z_S-mZ_n)(Z_T-kZ_n)/n`, is taken out of the estimate by its
mean and added to the law by its variance.

References
----------
Bun & Steinke, *Concentrated differential privacy* (2016), for the joint vector; the six separate sums are Honaker's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dpnb.errors import OptionError, PlanError
from dpnb.inference import NoiseSum
from dpnb.inference.digits import rounded
from dpnb.inference.elementwise import greater, inside, lesser, root
from dpnb.statistics._base import Centred, PriceRow, Pricing, Setting, count_component
from dpnb.statistics.pair_products import NAMES, Products
from dpnb.statistics.pair_tails import TAILS, lean, likely_products
from dpnb.statistics.released import Part, SimulatedPart
from dpnb.statistics.sensitivity import ENTER, SWITCH, WITHIN, Component, Moves
from dpnb.trusted.aggregate.algebra import IntExpr, Lit, Mul, Sub
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import AnyMechanism, DiscreteGaussian, DiscreteLaplace
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.query.plan import Share

_BITS = 15
_QUARTIC = 5.0
_CROSS = 6.0
_UPPER = 1.645
_MARGIN = 0.5
_HIDDEN = 0.25
_L1 = {WITHIN: Fraction(16, 3), ENTER: Fraction(4), SWITCH: Fraction(8)}
_L2 = {WITHIN: Fraction(8), ENTER: Fraction(7, 2), SWITCH: Fraction(7)}
_COUNTED = {WITHIN: 0, ENTER: 1, SWITCH: 2}


def sides(setting: Setting) -> tuple[Centred, Centred]:
    """Return both numbers, centred, on grids of at most 2¹⁶ steps."""
    made = (setting.number().centred().coarse(_BITS), setting.second().centred().coarse(_BITS))
    if min(side.half for side in made) == 0:
        raise PlanError("One of the two columns has a single possible value: it cannot vary with anything.")
    return made


def components(setting: Setting) -> tuple[Component, ...]:
    """Return what a row adds: the five moments, and the count where it is private."""
    return of_two(*sides(setting), setting)


def of_two(x: Centred, y: Centred, setting: Setting) -> tuple[Component, ...]:
    """Return what a row adds to the moments of two numbers, and to their count where it is private."""
    words = setting.subject
    parts = [
        Component("x", x.code, x.half, 2 * x.half, f"{words}: sum of the first, centred"),
        Component("y", y.code, y.half, 2 * y.half, f"{words}: sum of the second, centred"),
        Component("xx", _square(x), x.half**2, 2 * x.half**2, f"{words}: squares of the first"),
        Component("yy", _square(y), y.half**2, 2 * y.half**2, f"{words}: squares of the second"),
        Component("xy", Mul(x.code, y.code), x.half * y.half, 2 * x.half * y.half, f"{words}: products"),
    ]
    if setting.public_n is None:
        parts.append(count_component(f"rows with known {words}"))
    return tuple(parts)


def _square(side: Centred) -> IntExpr:
    return Sub(Mul(Lit(2), Mul(side.code, side.code)), Lit(side.half**2))


def unit_of(part: Component) -> int:
    """The unit in which a part is measured against the box: its half range, or for a square all of its range."""
    return part.within if part.name in {"xx", "yy"} else part.enter


def price_pair(setting: Setting, share: Share) -> Pricing:
    """Price the moments as one vector, or as separate sums with equal parts of the loss."""
    method = setting.options["method"]
    if method not in {"joint", "separate"}:
        raise OptionError(
            'method= is "joint" (one vector, less noise) or "separate" (equal parts of the loss).'
        )
    return priced_moments(setting, share, components(setting), joint=method == "joint")


def priced_moments(
    setting: Setting, share: Share, parts: tuple[Component, ...], *, joint: bool = True
) -> Pricing:
    """Price moments of two numbers, as one vector or apart."""
    mechanisms, event = (_joint if joint else _separate)(setting.moves, share, parts)
    priced = tuple(
        Measurement(p.name, setting.total(p.value), m, setting.cells)
        for p, m in zip(parts, mechanisms, strict=True)
    )
    rows = tuple(
        _row(setting.moves, p, m, share, None if joint else len(parts), first=p is parts[0])
        for p, m in zip(parts, mechanisms, strict=True)
    )
    return Pricing(priced, (event,), rows)


def _joint(
    moves: Moves, share: Share, parts: tuple[Component, ...]
) -> tuple[list[AnyMechanism], PrivacyEvent]:
    """Return equal noise in every direction of the box, and what it costs."""
    counted = any(p.name == "count" for p in parts)
    free = WITHIN in moves.kinds and SWITCH not in moves.kinds
    if share.kind == "epsilon":
        weight = (Fraction(4, 3) if free else Fraction(1)) if counted else Fraction(0)
        size = moves.rows * max(_L1[kind] + _COUNTED[kind] * weight for kind in moves.kinds)
        scale = size / share.amount
        scales = [scale * unit_of(p) / (weight if p.name == "count" else 1) for p in parts]
        return [DiscreteLaplace(one) for one in scales], _joint_event(moves, scale, parts, scales)
    weight = (Fraction(9, 2) if free else Fraction(1)) if counted else Fraction(0)
    square = moves.rows**2 * max(_L2[kind] + _COUNTED[kind] * weight for kind in moves.kinds)
    variance = square / (2 * share.amount)
    return [
        DiscreteGaussian(variance * unit_of(p) ** 2 / (weight if p.name == "count" else 1)) for p in parts
    ], PrivacyEvent("gaussian", square / (2 * variance))


def _joint_event(
    moves: Moves, scale: Fraction, parts: tuple[Component, ...], scales: list[Fraction]
) -> PrivacyEvent:
    """Return the event of Laplace noise in every direction of the box.

    Of all ways in which the moments can share the L1 of a move the worst gives it to one of them alone, the one of the coarsest grid:
    the charge is convex in the shifts, and at equal ε falls with the scale. The count moves by itself. A row that changes its cell does
    half of that in each of two.
    """
    coarsest = min(unit_of(p) for p in parts if p.name != "count")
    counted = [
        (moves.rows * Fraction(_COUNTED[kind]), b)
        for kind in moves.kinds
        for p, b in zip(parts, scales, strict=True)
        if p.name == "count"
    ] or [(Fraction(0), scale)] * len(moves.kinds)
    found = []
    for kind, counts in zip(moves.kinds, counted, strict=True):
        cells = 2 if kind == SWITCH else 1
        moments = (moves.rows * _L1[kind] * coarsest / cells, scale * coarsest)
        found.append([moments, (counts[0] / cells, counts[1])] * cells)
    return PrivacyEvent.laplace(found)


def _separate(
    moves: Moves, share: Share, parts: tuple[Component, ...]
) -> tuple[list[AnyMechanism], PrivacyEvent]:
    """Return mechanisms that each cost an equal part of the loss by themselves."""
    each = share.amount / len(parts)
    if share.kind == "epsilon":
        scales = [moves.rows * max(moves.l1(p).values()) / each for p in parts]
        worst = [Fraction(moves.rows * max(moves.l1(p).values())) for p in parts]
        event = PrivacyEvent.laplace([zip(worst, scales, strict=True)])
        return [DiscreteLaplace(scale) for scale in scales], event
    squares = [Fraction(moves.rows**2 * max(moves.l2_squared(p).values())) for p in parts]
    mechanisms: list[AnyMechanism] = [DiscreteGaussian(square / (2 * each)) for square in squares]
    return mechanisms, PrivacyEvent("gaussian", each * len(parts))


def _row(
    moves: Moves, part: Component, mechanism: AnyMechanism, share: Share, apart: int | None, *, first: bool
) -> PriceRow:
    unit = "ε" if share.kind == "epsilon" else "ρ"
    if isinstance(mechanism, DiscreteLaplace):
        scale, name = f"scale {rounded(float(mechanism.scale))}", "discrete Laplace"
        words = f"one person moves it by at most {moves.rows * max(moves.l1(part).values()):,}"
    else:
        assert isinstance(mechanism, DiscreteGaussian)
        scale, name = f"sd {rounded(math.sqrt(mechanism.variance))}", "discrete Gaussian"
        reach = moves.rows * math.sqrt(max(moves.l2_squared(part).values()))
        words = f"one person moves it by at most {rounded(reach)} (L2)"
    if apart is not None:
        cost = f"{unit} {rounded(float(share.amount / apart))} by itself"
    else:
        cost = (
            f"{unit} {rounded(float(share.amount))} for the whole vector" if first else "in the same vector"
        )
    return PriceRow(part.words, name, words, f"{scale} grid steps", cost)


Coefficients = dict[str, Any]


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

    size: Any
    s: Any
    t: Any
    ss: Any
    tt: Any
    st: Any
    noise: Mapping[str, NoiseSum]
    clustered: bool
    binary: tuple[bool, bool] = (False, False)
    products: Products | None = None

    @property
    def rows(self) -> Any:
        """The number of rows, at least one."""
        return greater(self.size, 1.0)

    @property
    def small(self) -> Any:
        """Whether the number of rows is not clear of its noise."""
        return (self.size < 3 * self.noise["count"].sd) | (self.size < 1)

    @property
    def means(self) -> tuple[Any, Any]:
        """Both means, moved into the box."""
        return _inside(self.s / self.rows), _inside(self.t / self.rows)

    @cached_property
    def _remainders(self) -> tuple[Any, Any, Any]:
        """Variances of Z_S - m Z_n and Z_T - k Z_n, and their covariance."""
        m, k = self.means
        v = {name: law.total_variance for name, law in self.noise.items()}
        return v["x"] + m * m * v["count"], v["y"] + k * k * v["count"], m * k * v["count"]

    @property
    def covariance(self) -> Any:
        """The covariance (divisor n), its second-order bias taken off."""
        n = self.rows
        return (self.st - (self.s * self.t - self._remainders[2]) / n) / n

    @property
    def variances(self) -> tuple[Any, Any]:
        """Both variances (divisor n), their second-order bias taken off; noise can make them negative."""
        n, (first, second, _) = self.rows, self._remainders
        return (self.ss - (self.s**2 - first) / n) / n, (self.tt - (self.t**2 - second) / n) / n

    def law(self, coefficients: Coefficients) -> NoiseSum:
        """Return the law of a linear function of the errors."""
        total = NoiseSum()
        for name, factor in coefficients.items():
            total = total + self.noise[name].scaled(factor)
        return total

    def of_covariance(self, candidate: Any) -> Coefficients:
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
    def second_order(self) -> tuple[Any, Any, Any]:
        """Variances of what the first order leaves out of n times the covariance and both variances."""
        first, second, both = self._remainders
        n = self.rows
        return (
            (first * second + _CROSS * both**2) / n**2,
            _QUARTIC * (first / n) ** 2,
            _QUARTIC * (second / n) ** 2,
        )

    @cached_property
    def variance_noise(self) -> tuple[Any, Any]:
        """Standard deviations of the noise on both variances."""
        _, one, two = self.second_order
        x, y = self.of_variances()
        return (
            root(self.law(x).total_variance + one) / self.rows,
            root(self.law(y).total_variance + two) / self.rows,
        )

    @property
    def undefined(self) -> Any:
        """Whether a noised variance is not positive, so that there is no correlation."""
        return lesser(*self.variances) <= 0

    @property
    def hidden(self) -> Any:
        """Whether the noise on a variance is more than a quarter of it."""
        (a, b), (one, two) = self.variances, self.variance_noise
        return (one > _HIDDEN * a) | (two > _HIDDEN * b)

    def row_bound(self, candidate: Any) -> Any:
        """Return the largest variance of ``(p-m)(q-k)`` that the bounds and the noised variances allow."""
        (m, k), (a, b) = self.means, self.variances
        up = [
            lesser(greater(v, 0.0) + _UPPER * sd, 1 - mean * mean)
            for v, sd, mean in zip((a, b), self.variance_noise, (m, k), strict=True)
        ]
        return greater(lesser((1 + abs(m)) ** 2 * up[1], (1 + abs(k)) ** 2 * up[0]) - candidate**2, 0.0)

    def row_likely(self, candidate: Any, tails: float) -> Any:
        """Return the variance of ``(p-m)(q-k)`` that was bought or is supposed (:func:`likely_products`), at most the bound."""
        a, b = (
            greater(v, 0.0) + _MARGIN * sd for v, sd in zip(self.variances, self.variance_noise, strict=True)
        )
        m, k = self.means
        leans = greater(lean(m, a, binary=self.binary[0]), lean(k, b, binary=self.binary[1]))
        supposed = likely_products(a * b, candidate, tails, leans)
        if self.products is not None and tails == TAILS:
            supposed = self.products.likely(self, candidate, supposed)
        return lesser(self.row_bound(candidate), supposed)


def _inside(value: Any) -> Any:
    return inside(value, -1.0, 1.0)


def moment(setting: Setting, parts: Mapping[str, Part | SimulatedPart]) -> Moments:
    """Return the moments of all cells at once: arrays of the shape of the parts."""
    products = Products.of(*sides(setting), parts)
    parts = without_products(parts)
    values = boxed(setting, {name: part.values for name, part in parts.items()})
    units = {part.name: float(unit_of(part)) for part in components(setting)}
    noise = {name: part.noise.scaled(1 / units[name]) for name, part in parts.items()}
    noise.setdefault("count", NoiseSum())
    n, s, t, ss, tt, st = (values[name] for name in ("count", "x", "y", "xx", "yy", "xy"))
    binary = setting.number().binary, setting.second().binary
    return Moments(n, s, t, ss, tt, st, noise, setting.unit.max_rows > 1, binary, products)


def without_products(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts that are moments of two numbers."""
    return {name: part for name, part in parts.items() if name not in NAMES}


def boxed(setting: Setting, released: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the sums in the unit of the box, squares with their middle put back; arrays may have leading axes."""
    units = {part.name: float(unit_of(part)) for part in components(setting)}
    made = {name: values / units[name] for name, values in released.items()}
    if "count" not in made:
        made["count"] = np.full(made["x"].shape, float(setting.public_n or 1))
    return {**made, "xx": made["xx"] + made["count"] / 2, "yy": made["yy"] + made["count"] / 2}


def redrawn(setting: Setting, parts: Mapping[str, Part], count: int, rng: Any) -> tuple[np.ndarray, ...]:
    """Return plausible exact covariances and variances of every cell in the unit of the box, ``(count, cells)`` each."""
    moments = without_products(parts)
    sums = boxed(
        setting, {name: part.values - part.noise_draws(count, rng) for name, part in moments.items()}
    )
    n = np.maximum(sums["count"], 1.0)
    m, k = np.clip(sums["x"] / n, -1, 1), np.clip(sums["y"] / n, -1, 1)
    return (
        np.clip(sums["xy"] / n - m * k, -1, 1),
        np.clip(sums["xx"] / n - m * m, 0, 1),
        np.clip(sums["yy"] / n - k * k, 0, 1),
    )
