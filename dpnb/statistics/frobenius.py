r"""How far one row moves a matrix of cross moments, and in which integers the matrix is released.

A row is :math:`z = (1, x_1, …, x_p)` with each number measured from the middle of its bounds in half ranges, so that
:math:`|x_j| ≤ 1`; ``radius=r`` also moves rows into the ball :math:`\|x\| ≤ r` (it never drops one, but it biases what is far
out). Released are the sums of :math:`z_i z_j, i ≤ j`, as exact integers :math:`u_i u_j` in units of :math:`h_i h_j`, without the
row count where it is public and without squares that are 1 in every row (columns of two values: their sum is the count).

**Sensitivity.** Of the symmetric matrix in Frobenius norm, an entry off the diagonal counting twice:

=======  ==============================  =======================================  ==========================
move     when                            squared, box                             squared, ball
=======  ==============================  =======================================  ==========================
enter    a row comes or goes             :math:`(1+p)^2`                          :math:`(1+r^2)^2`
within   a row changes                   :math:`2(1+p)^2`, less 2 for even p      :math:`2(1+r^2)^2`; :math:`8r^2` if r < 1
=======  ==============================  =======================================  ==========================

*Proof.* :math:`\|zz'\|_F = \|z\|^2`, which is at most 1+p or 1+r². For a change from w to z the square is
:math:`f = \|z\|^4 + \|w\|^4 - 2(z'w)^2`. Box: :math:`∂^2f/∂x_j^2 = 4\|z\|^2 + 8x_j^2 - 4w_j^2 ≥ 0`, since :math:`\|z\|^2 ≥ 1 ≥ w_j^2`; so f is
largest at corners, where it is :math:`2(1+p)^2 - 2(1+p-2k)^2` for k flips. Ball: with norms s, t of both x,
:math:`f ≤ (1+s^2)^2 + (1+t^2)^2 ≤ 2(1+r^2)^2`; and where :math:`st ≤ 1`, :math:`(z'w)^2 ≥ (1-st)^2` gives
:math:`f ≤ 2(s+t)^2 + (s^2-t^2)^2`, which grows in s and in t while t ≤ 1, to :math:`8r^2`. Noise of variance σ² on the diagonal and σ²/2
off it is therefore :math:`ρ = k^2 \max f/2σ^2` for a unit of k rows (triangle inequality): the Frobenius-isometric form.

In L1 of the upper triangle, with :math:`c = \min(p, \sqrt p\,r)` for a ball:

=======  ==========================================  ==================================================
move     box                                         ball
=======  ==========================================  ==================================================
enter    :math:`(p+1)(p+2)/2`                        :math:`((1+c)^2 + 1 + r^2)/2`
within   :math:`p(p+2)^2/2(p+1)`                     :math:`2c + c^2 + r^2` where that is less
=======  ==========================================  ==================================================

*Proof.* Enter: the triangle is half of :math:`\|z\|_1^2 + \|z\|_2^2`. Within, ball: twice that, the count apart. Within, box: with
:math:`2d_j = |x_j - y_j|` the matrix is :math:`(uv' + vu')/2` for :math:`u = z+w, v = z-w`, :math:`|v_j| = 2d_j, |u_j| ≤ 2(1-d_j)`; half of
:math:`\|u\|_1\|v\|_1 + \sum|u_jv_j|` is at most :math:`2(1+p)D - 2D^2 + 2D - 2\sum d_j^2, D = \sum d_j`: concave, symmetric, largest at
:math:`d_j = (p+2)/2(p+1)`. Brute force over small grids confirms each bound.

**The ball in integers.** Each :math:`u_j` is refined to :math:`2^{14} < h_j ≤ 2^{15}` by a whole factor. The row's size
:math:`s = \sum_j ⌈2^{20}u_j^2/h_j^2⌉ ≥ 2^{20}\|x\|^2` chooses the largest m ≤ 256 with :math:`s m^2 ≤ 2^{20}r^2 256^2`, and
:math:`u_j ← u_j m/256` toward zero: then :math:`\|x\| ≤ r` exactly. A moved row ends between about (1 - 1/m) r and r; one
that lies inside by 2⁻²⁰ p of its squared norm is not moved.

References
----------
Dwork, Talwar, Thakurta & Zhang, *Analyze Gauss* (2014); Bun & Steinke, *Concentrated differential privacy* (2016).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpnb.errors import OptionError, PlanError
from dpnb.statistics._base import Centred, Setting, scaled
from dpnb.statistics.sensitivity import ENTER, WITHIN
from dpnb.trusted.aggregate.algebra import SIZE_BITS, Clip, Shrink

_BITS = 15
_STEPS = 256
_SMALLEST_RADIUS = Fraction(1, 16)
_LARGEST_DENOMINATOR = 10**6
_ROOT_BITS = 20
_RADIUS = "radius= is a number of half ranges, at least 0.0625 and with at most six decimals: for example radius=1.5."

Entry = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Block:
    """Entries of the matrix that have one unit: ``z_i z_j = integer / unit``."""

    name: str
    unit: int
    entries: tuple[Entry, ...]
    diagonal: bool


def radius_squared(setting: Setting) -> Fraction | None:
    """Return the squared radius of the ball, or nothing where the box lies inside it."""
    asked = setting.options["radius"]
    if asked is None:
        return None
    if isinstance(asked, bool | str | tuple):
        raise OptionError(_RADIUS)
    radius = Fraction(str(asked))
    if radius < _SMALLEST_RADIUS or radius.denominator > _LARGEST_DENOMINATOR:
        raise OptionError(_RADIUS)
    square = radius**2
    return None if square >= len(setting.numbers) else square


def sides(setting: Setting) -> tuple[Centred, ...]:
    """Return the numbers, centred, on grids of at most 2¹⁶ steps; refined where rows are moved into a ball."""
    found = [number.centred().coarse(_BITS) for number in setting.numbers]
    for name, side in zip(setting.names, found, strict=True):
        if side.half == 0:
            raise PlanError(f"{name} has a single possible value: leave it out of the moments.")
    return tuple(found if radius_squared(setting) is None else map(_refined, found))


def _refined(side: Centred) -> Centred:
    factor = 2**_BITS // side.half
    half = factor * side.half
    return Centred(Clip(scaled(side.code, factor), -half, half), half, side.centre, side.unit / factor)


def blocks(setting: Setting) -> tuple[Block, ...]:
    """Return the released entries by unit: the count where it is private, sums, squares and products."""
    halves = [1, *(side.half for side in sides(setting))]
    found: dict[tuple[str, int], list[Entry]] = {}
    for i in range(len(halves)):
        for j in range(i, len(halves)):
            found.setdefault((_kind(i, j), halves[i] * halves[j]), []).append((i, j))
    if setting.public_n is not None:
        del found["count", 1]
    for place in two_valued(setting):
        entries = found["squares", halves[place] ** 2]
        entries.remove((place, place))
        if not entries:
            del found["squares", halves[place] ** 2]
    return tuple(
        Block(
            kind if kind == "count" else f"{kind}/{unit}", unit, tuple(entries), kind in {"count", "squares"}
        )
        for (kind, unit), entries in found.items()
    )


def two_valued(setting: Setting) -> tuple[int, ...]:
    """Return the places of columns whose square is 1 in every row: its sum is the row count and is not released again."""
    if radius_squared(setting) is not None:
        return ()
    return tuple(place for place, number in enumerate(setting.numbers, 1) if number.binary)


def _kind(i: int, j: int) -> str:
    if i == 0:
        return "count" if j == 0 else "sums"
    return "squares" if i == j else "products"


def shrink(setting: Setting) -> Shrink | None:
    """Return how rows are moved into the ball, if they are."""
    square = radius_squared(setting)
    if square is None:
        return None
    halves = [side.half for side in sides(setting)]
    reach = square * _STEPS**2 * 2**SIZE_BITS
    limits, size = [], len(halves) * 2**SIZE_BITS
    for steps in range(_STEPS, 0, -1):
        limits.append(math.floor(reach / steps**2))
        if limits[-1] >= size:
            break
    return Shrink((0, *halves), tuple(limits[:-1]), _STEPS)


def l2_squared(columns: int, square: Fraction | None, kind: str) -> Fraction:
    """Return how far one row can move the matrix, in squared Frobenius norm.

    Parameters
    ----------
    columns : int
        Number of columns beside the constant.
    square : Fraction or None
        Squared radius of the ball; nothing for the box.
    kind : {"enter", "within"}
        The row comes or goes, or changes.
    """
    whole = Fraction(1 + columns) ** 2
    box = whole if kind == ENTER else 2 * whole - (2 if columns % 2 == 0 else 0)
    if square is None:
        return box
    ball = (1 + square) ** 2
    if kind == WITHIN:
        ball = 8 * square if square < 1 else 2 * ball
    return min(box, ball)


def l1(columns: int, square: Fraction | None, kind: str) -> Fraction:
    """Return how far one row can move the upper triangle of the matrix, in L1; see :func:`l2_squared`."""
    p = columns
    box = Fraction((p + 1) * (p + 2), 2) if kind == ENTER else Fraction(p * (p + 2) ** 2, 2 * (p + 1))
    if square is None:
        return box
    reach = min(Fraction(p), _root_above(p * square))
    ball = ((1 + reach) ** 2 + 1 + square) / 2
    return min(box, ball if kind == ENTER else 2 * (ball - 1))


def _root_above(value: Fraction) -> Fraction:
    """Return a rational that is at least the square root."""
    scale = 4**_ROOT_BITS
    whole = -(-value.numerator * scale // value.denominator)
    return Fraction(math.isqrt(whole) + 1, 2**_ROOT_BITS)
