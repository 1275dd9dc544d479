"""Sums about a middle and inside a range that are themselves private: what a mean needs where the declared bounds are very wide.

Refuses grids of more than 2⁶⁰ steps. What is chosen are a middle and a radius; every value is then moved into the range, in integers,
before anything is summed, so that the noise is as wide as the range and not as the declared bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpnb.trusted.errors import PlanError
from dpnb.trusted.mechanisms._base import Counts, Mechanism, above_zero, add, bounded_scale
from dpnb.trusted.mechanisms.exponential import QuantileSelection
from dpnb.trusted.noise.bits import BitSource
from dpnb.trusted.noise.exact import discrete_laplace

MOST_STEPS = 2**60
SUM_BITS, SQUARE_BITS = 20, 10
Size = TypeVar("Size", int, NDArray[np.int64])


@lru_cache(maxsize=64)
def radii(steps: int) -> tuple[int, ...]:
    """Return the public radii, half an octave apart: 1, 2, 3, 4, 6, 8, 12, 16, … until one is at least `steps`."""
    found = [1, 2]
    while found[-1] < steps:
        found.append(found[-1] * 3 // 2 if found[-1] & (found[-1] - 1) == 0 else found[-1] * 4 // 3)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class PrivateRange:
    """A private range, and what rows inside it become.

    Parameters
    ----------
    low, high : int
        Grid indices, ``low < high``.
    """

    low: int
    high: int

    @property
    def half(self) -> int:
        """Largest absolute value of a row in :meth:`centred`."""
        return _coarse(self.high - self.low, self.shift)

    @property
    def shift(self) -> int:
        """How many bits of twice a distance from the middle are rounded away, so that a half range has at most 20."""
        return max(0, (self.high - self.low).bit_length() - SUM_BITS)

    @property
    def unit(self) -> Fraction:
        """Grid steps in a unit of :meth:`centred`."""
        return Fraction(2**self.shift, 2)

    @property
    def square_shift(self) -> int:
        """Bits rounded away before squaring, so that a square has at most 20."""
        return max(0, self.half.bit_length() - SQUARE_BITS)

    @property
    def top(self) -> int:
        """The largest square."""
        return int(_coarse(self.half, self.square_shift) ** 2)

    def centred(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return twice the distance from the middle, in units and inside the range."""
        twice = 2 * (np.clip(values, self.low, self.high) - self.low) - (self.high - self.low)
        return np.asarray(np.sign(twice) * _coarse(np.abs(twice), self.shift))

    def squares(self, centred: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the coarse squares of centred values."""
        size = _coarse(np.abs(centred), self.square_shift)
        return np.asarray(size * size)

    def outside(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return 1 for each value beyond the range."""
        return ((values < self.low) | (values > self.high)).astype(np.int64)


def _coarse(size: Size, shift: int) -> Size:
    """Round so many bits of a size away, to the nearest."""
    return size if shift == 0 else (size + (1 << (shift - 1))) >> shift


@dataclass(frozen=True, slots=True)
class LocatedSums(Mechanism):
    r"""Choose a middle, choose a radius, and release the noised sum, squares, number outside and number of rows within.

    Parameters
    ----------
    middle : QuantileSelection
        Chooses the middle among the grid indices.
    radius : QuantileSelection
        Chooses a place in :func:`radii` by the distances from the middle.
    widen : int
        By how many places of :func:`radii` the radius is then made larger.
    sum_scale, square_scale, outside_scale : Fraction
        Scales of the discrete Laplace noise, for the sum and the squares in units of the largest that one row can add.
    count_scale : Fraction or None
        Scale of the noise on the number of rows, where that is private.

    Notes
    -----
    *Assumes.* Values are indices of a public grid; a privacy unit acts as often as the factors of both selections say; the random words are
    independent and uniform.

    *What is released*, cell by cell: low and high end of the range; :math:`S = Σ y`, y the doubled distance from the middle of the range in
    its unit, :math:`|y| ≤ h`; :math:`Q = Σ y^2` on a coarser grid, each at most t; K, the rows outside; n where it is private. h and t
    are functions of the range.

    *Guarantee.* The middle costs what a quantile of the values does. Given the middle, distances are computed row by row, so neighbours remain
    neighbours, and the radius costs what a quantile of the distances does. Given both, a row that enters adds at most h, t, 1 and 1 to the four sums, a row that changes
    moves them by at most 2h, t, 1 and 0. The noise on S has scale ``sum_scale``·h and that on Q ``square_scale``·t: for a row that enters
    the cost is 1/sum_scale + 1/square_scale + 1/outside_scale + 1/count_scale, for one that changes
    2/sum_scale + 1/square_scale + 1/outside_scale, **whatever the range is**. Adaptive composition adds the three. The price is that
    times the rows of a unit, and a row that changes its group counts as one that leaves and one that enters: for the sums twice an entry; for
    the middle, a median, twice ½, no more than a change within (:func:`dpnb.trusted.measurements.selections.score`); for the radius
    twice 1. In ρ the sums cost at most what they cost in a range of one step, h = t = 1 (:mod:`dpnb.trusted.privacy.conversion`: at equal ε the
    charge falls with the scale).

    All of it is integer arithmetic; selections and noise are exact.
    """

    name: ClassVar[str] = "located-sums"
    title = "Sums in a private range"
    phrase = "discrete Laplace in a range that two selections chose"
    drawn = "two selections and discrete Laplace noise in the range that they chose"
    summary = (
        "Chooses a middle and a radius by two exponential mechanisms, moves every value into that range, and releases sum, "
        "squares, the number of rows moved and the number of rows with discrete Laplace noise as wide as the range. The mean "
        "of moved values differs from the mean by what was cut off; the number of moved rows shows how much that may be."
    )
    reference = (
        "Karwa, Vadhan, Finite sample differentially private confidence intervals (2018), for the idea; Smith 2011; "
        "adaptive composition: proof in the docstring, audited on all tiny neighbours"
    )

    middle: QuantileSelection
    radius: QuantileSelection
    widen: int
    sum_scale: Fraction
    square_scale: Fraction
    outside_scale: Fraction
    count_scale: Fraction | None = None

    def __post_init__(self) -> None:
        for name in ("sum_scale", "square_scale", "outside_scale"):
            object.__setattr__(self, name, above_zero(getattr(self, name), f"The {name.replace('_', ' ')}"))
            bounded_scale((getattr(self, name) * 2**SUM_BITS) ** 2)
        if self.count_scale is not None:
            object.__setattr__(self, "count_scale", above_zero(self.count_scale, "The count scale"))
            bounded_scale(self.count_scale**2)
        if self.steps > MOST_STEPS or self.radius.steps != len(radii(self.steps)) - 1 or self.widen < 0:
            raise PlanError("A private range needs a grid of at most 2^60 steps and the radii of that grid.")

    def work(self, cells: int) -> int:
        """A cell counts as fifteen numbers."""
        return 15 * (cells // self.width)

    @property
    def steps(self) -> int:
        """The grid is 0..steps."""
        return self.middle.steps

    @property
    def width(self) -> int:
        """How many integers are released for each cell."""
        return 5 if self.count_scale is None else 6

    def range_of(self, middle: int, place: int) -> PrivateRange:
        """Return the range of a middle and a chosen radius."""
        sizes = radii(self.steps)
        reach = sizes[min(place + self.widen, len(sizes) - 1)]
        low, high = max(0, middle - reach), min(self.steps, middle + reach)
        return PrivateRange(low, high)

    def places(self, counts: Counts, middle: int) -> Counts:
        """Return the distances from a middle as a multiset of places in :func:`radii`."""
        sizes = np.array(radii(self.steps), dtype=np.int64)
        found = np.searchsorted(sizes, np.abs(np.asarray(counts[0], dtype=np.int64) - middle), "left")
        tally = np.zeros(sizes.size, dtype=np.int64)
        np.add.at(tally, found, np.asarray(counts[1], dtype=np.int64))
        kept = np.flatnonzero(tally)
        return kept.astype(np.int64), tally[kept]

    def sums(self, counts: Counts, chosen: PrivateRange) -> tuple[int, int, int, int]:
        """Return S, Q, K and n exactly."""
        values, times = (np.asarray(part, dtype=np.int64) for part in counts)
        centred = chosen.centred(values)
        columns = (centred, chosen.squares(centred), chosen.outside(values), np.ones_like(values))
        s, q, k, n = (int(np.sum(column * times)) for column in columns)
        return s, q, k, n

    def scales(self, chosen: PrivateRange) -> tuple[Fraction, ...]:
        """Return the scales of the noise in a range."""
        first = (self.sum_scale * chosen.half, self.square_scale * chosen.top, self.outside_scale)
        return first if self.count_scale is None else (*first, self.count_scale)

    @property
    def shape(self) -> tuple[str, ...]:
        """What is released apart from how much noise there is: whoever asks the same shape can be given the answer."""
        return (self.name, *self.middle.shape, *self.radius.shape, str(self.count_scale is not None))

    def noised(self, exact: Sequence[Counts], bits: BitSource) -> tuple[int, ...]:
        """A released part: low, high, S, Q, K and, where it is private, n, for each cell."""
        return tuple(value for counts in exact for value in self.release(counts, bits))

    def release(self, counts: Counts, bits: BitSource) -> tuple[int, ...]:
        """Choose, clip, sum and add noise, exactly in law.

        Parameters
        ----------
        counts : (values, counts)
            Distinct grid indices in rising order and their multiplicities, int64; both may be empty.
        bits : BitSource
            Source of random words.
        """
        middle = self.middle.release(counts, bits)
        chosen = self.range_of(middle, self.radius.release(self.places(counts, middle), bits))
        exact = self.sums(counts, chosen)
        noised = [
            add([value], discrete_laplace(scale, 1, bits))[0]
            for value, scale in zip(exact, self.scales(chosen), strict=False)
        ]
        return (chosen.low, chosen.high, *noised)
