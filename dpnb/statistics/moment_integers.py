r"""The integers of a matrix of cross moments: products of numbers in the box of their bounds, or of rows moved into a ball.

A row is :math:`z = (1, x_1, …, x_p)` with each number measured from the middle of its bounds in half ranges, so that
:math:`|x_j| ≤ 1`; ``radius=r`` also moves rows into the ball :math:`\|x\| ≤ r` (it never drops one, but it biases what is far
out). Released are the sums of :math:`z_i z_j, i ≤ j`, as exact integers :math:`u_i u_j` in units of :math:`h_i h_j`, without the
row count where it is public and without squares that are 1 in every row (columns of two values: their sum is the count).

How far one row moves the matrix, in squared Frobenius norm and in L1 of the upper triangle, is proved and computed where it is charged:
:mod:`dpnb.trusted.measurements.box` and :mod:`~dpnb.trusted.measurements.matrix`. Noise of variance σ² on the diagonal and σ²/2 off it is
the Frobenius-isometric form.

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
from dpnb.trusted.aggregate.algebra import SIZE_BITS, Clip, Shrink

_BITS = 15
_STEPS = 256
_SMALLEST_RADIUS = Fraction(1, 16)
_LARGEST_DENOMINATOR = 10**6
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
