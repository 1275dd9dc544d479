r"""The integers of a matrix of cross moments: products of numbers in the box of their bounds, or of rows moved into a ball.

A row is :math:`z = (1, x_1, …, x_p)` with each number measured from the middle of its bounds in half ranges, so that
:math:`|x_j| ≤ 1`; ``radius=r`` also moves rows into the ball :math:`\|x\| ≤ r` (it never drops one, but it biases what is far
out). Released are the sums of :math:`z_i z_j, i ≤ j`, as exact integers :math:`u_i u_j` in units of :math:`h_i h_j`, without the
row count where it is public and without squares that are 1 in every row (columns of two values: their sum is the count).

How far one row moves the matrix, in squared Frobenius norm and in L1 of the upper triangle, is proved and computed where it is charged:
:mod:`dpnb.trusted.measurements.box` and :mod:`~dpnb.trusted.measurements.matrix`. Noise of variance σ² on the diagonal and σ²/2 off it is
the Frobenius-isometric form.

**Two columns.** Of two columns of many values in their box the squares are summed from the middle, as :math:`2u_j^2-h_j^2`, which moves them half as
far: their moments are those of a covariance (:mod:`dpnb.statistics.pair`), in L1 5 instead of 6 for a row that comes or goes, and a square is
read as its sum and half of the count. No entry of the matrix is noisier than it would be otherwise, and a slope less so.

**The ball in integers.** Each :math:`u_j` is refined to :math:`2^{14} < h_j ≤ 2^{15}` by a whole factor. The row's size
:math:`s = \sum_j ⌈2^{20}u_j^2/h_j^2⌉ ≥ 2^{20}\|x\|^2` chooses the largest m ≤ 256 with :math:`s m^2 ≤ 2^{20}r^2 256^2`, and
:math:`u_j ← u_j m/256` toward zero: then :math:`\|x\| ≤ r` exactly. A moved row ends between about (1 - 1/m) r and r; one
that lies inside by 2⁻²⁰ p of its squared norm is not moved.

**Products of four.** ``products=True`` also sums every product of three and four of the moved columns: all that robust errors of a regression
need (:mod:`dpnb.statistics.robust_errors`). Half ranges are then at most 2¹⁰, so that a product of four has 40 bits and the sums of four
million rows stay below 2⁶². Each monomial is released once; the noise has the variance of the tensor's norm over how often it stands there.

References
----------
Dwork, Talwar, Thakurta & Zhang, *Analyze Gauss* (2014); Bun & Steinke, *Concentrated differential privacy* (2016).
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

from dpnb.errors import OptionError, PlanError
from dpnb.statistics._base import Centred, Setting, scaled
from dpnb.statistics.pair import units_of
from dpnb.trusted.aggregate.algebra import SIZE_BITS, Clip, IntExpr, Mul, Shrink
from dpnb.trusted.measurements.matrix import multiplicity

_BITS = 15
_PRODUCT_BITS = 10
_STEPS = 256
_SMALLEST_RADIUS = Fraction(1, 16)
_LARGEST_DENOMINATOR = 10**6
_RADIUS = "radius= is a number of half ranges, at least 0.0625 and with at most six decimals: for example radius=1.5."

Entry = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Block:
    """Entries of the matrix that have one unit: ``z_i z_j = integer / unit``.

    Parameters
    ----------
    name : str
    unit : int
    entries : tuple of (int, int)
        One for each integer.
    times : int
        How often each stands in the matrix, or in the tensor of all products of four.
    alike : tuple of tuple of (int, int)
        For each integer all entries of which it is the sum, the first one included.
    middle : bool
        Whether half of the number of rows is taken off: squares from the middle.
    """

    name: str
    unit: int
    entries: tuple[Entry, ...]
    times: int
    alike: tuple[tuple[Entry, ...], ...]
    middle: bool = False


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
    bits = _PRODUCT_BITS if of_four(setting) else _BITS
    found = [number.centred().coarse(bits) for number in setting.numbers]
    for name, side in zip(setting.names, found, strict=True):
        if side.half == 0:
            raise PlanError(f"{name} has a single possible value: leave it out of the moments.")
    return tuple(found if radius_squared(setting) is None else (_refined(side, bits) for side in found))


def of_four(setting: Setting) -> bool:
    """Whether all products of four moved columns are summed.

    Raises
    ------
    OptionError
        Where no rows are moved: products are columns then.
    """
    if not setting.options.get("products", False):
        return False
    if radius_squared(setting) is None:
        raise OptionError("products=True needs a radius= below the square root of the number of columns.")
    return True


def columns(setting: Setting) -> tuple[IntExpr, ...]:
    """Return the values of a request beside the constant: the columns, and where products of four are summed those of every two."""
    codes = [side.code for side in sides(setting)]
    return (*codes, *(Mul(codes[a - 1], codes[b - 1]) for a, b in pairs(setting)))


def pairs(setting: Setting) -> tuple[Entry, ...]:
    """Return the places of the columns of which further values are products."""
    if not of_four(setting):
        return ()
    return tuple(combinations_with_replacement(range(1, len(setting.numbers) + 1), 2))


def _refined(side: Centred, bits: int) -> Centred:
    factor = 2**bits // side.half
    half = factor * side.half
    return Centred(Clip(scaled(side.code, factor), -half, half), half, side.centre, side.unit / factor)


def of_two_columns(setting: Setting) -> bool:
    """Whether squares are summed from the middle: of two columns of many values, in their box."""
    return len(setting.numbers) == 2 and radius_squared(setting) is None and not two_valued(setting)


_PLACES: dict[str, Entry] = {
    "x": (0, 1),
    "y": (0, 2),
    "xx": (1, 1),
    "yy": (2, 2),
    "xy": (1, 2),
    "count": (0, 0),
}


def _blocks_of_two(setting: Setting) -> tuple[Block, ...]:
    x, y = sides(setting)
    units = units_of(x, y)
    return tuple(
        Block(name, units[name], (place,), 1, ((place,),), middle=name in {"xx", "yy"})
        for name, place in _PLACES.items()
        if name != "count" or setting.public_n is None
    )


def blocks(setting: Setting, released: Collection[str] = ("xy",)) -> tuple[Block, ...]:
    """Return the released entries by unit: the count where it is private, sums, squares and products.

    Parameters
    ----------
    setting : Setting
    released : collection of str
        The names of the parts of an answer: of two columns those of an earlier version are a matrix.
    """
    if of_two_columns(setting) and "xy" in released:
        return _blocks_of_two(setting)
    halves = [1, *(side.half for side in sides(setting))]
    left = {(place, place) for place in two_valued(setting)}
    if setting.public_n is not None:
        left.add((0, 0))
    found: dict[tuple[str, int, int], list[tuple[Entry, ...]]] = {}
    for factors, alike in _monomials(setting).items():
        if alike[0] not in left:
            order = 4 if pairs(setting) else 2
            unit = math.prod(halves[place] for place in factors)
            found.setdefault((_kind(factors), unit, multiplicity(factors, order)), []).append(alike)
    return tuple(
        Block(_named(setting, *key), key[1], tuple(one[0] for one in each), key[2], tuple(each))
        for key, each in found.items()
    )


def _monomials(setting: Setting) -> dict[tuple[int, ...], tuple[Entry, ...]]:
    """Return the columns whose product an entry sums, with all entries that sum it, in order."""
    made: list[tuple[int, ...]] = [
        (),
        *((place,) for place in range(1, len(setting.numbers) + 1)),
        *pairs(setting),
    ]
    found: dict[tuple[int, ...], list[Entry]] = {}
    for i, j in combinations_with_replacement(range(len(made)), 2):
        found.setdefault(tuple(sorted((*made[i], *made[j]))), []).append((i, j))
    return {factors: tuple(entries) for factors, entries in found.items()}


def _named(setting: Setting, kind: str, unit: int, times: int) -> str:
    if kind == "count":
        return kind
    return f"{kind}/{unit}/{times}" if pairs(setting) else f"{kind}/{unit}"


def two_valued(setting: Setting) -> tuple[int, ...]:
    """Return the places of columns whose square is 1 in every row: its sum is the row count and is not released again."""
    if radius_squared(setting) is not None:
        return ()
    return tuple(place for place, number in enumerate(setting.numbers, 1) if number.binary)


def _kind(factors: tuple[int, ...]) -> str:
    if len(factors) < 2:
        return "sums" if factors else "count"
    return "squares" if len(factors) == 2 and factors[0] == factors[1] else "products"


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
    return Shrink((0, *halves, *(0 for _ in pairs(setting))), tuple(limits[:-1]), _STEPS)
