"""The exact exponential mechanism for quantiles: pure ε over the indices of a public grid.

Refuses floating-point weights: they underflow, and an output that is impossible in one world and possible in its neighbour
costs everything. Weights are integers with a floor, and one exact uniform integer selects.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from numbers import Rational
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpnb.trusted.errors import LossError, PlanError
from dpnb.trusted.mechanisms._base import Counts, Mechanism, above_zero
from dpnb.trusted.noise.bits import BitSource
from dpnb.trusted.noise.exact import exp_bounds, uniform_below
from dpnb.trusted.privacy.loss import brief

FLOOR = 2**20
"""The least weight of a grid point."""

_GUARD = 64
_LN2_BELOW, _LN2_ABOVE = Fraction(6931471805, 10**10), Fraction(6931471806, 10**10)


@dataclass(frozen=True, slots=True)
class Terrain:
    """The scores of one multiset over the grid: penalties in units of 1/q.denominator, all integers, zero at the best point.

    As many public rows as the offset lie at either end of the grid: a target beyond all rows has that end for its best point.
    Penalties fall to the target and rise after it, so the points with at most a given penalty are neighbours. The target's own
    value is best, by the rows that lie between the target and that value's nearer end: ``deepest``.
    """

    values: NDArray[np.int64]
    upto: NDArray[np.int64]
    unit: int
    target: int
    deepest: int
    steps: int

    @classmethod
    def of(cls, counts: Counts, q: Fraction, offset: int, steps: int) -> Terrain:
        """Score the grid by distinct values and how often each occurs."""
        values, counted = (np.asarray(array, dtype=np.int64) for array in counts)
        size, pad, unit = int(counted.sum()), abs(offset), q.denominator
        if pad:
            values, counted = (
                np.concatenate([[a], b, [c]]) for a, b, c in ((0, values, steps), (pad, counted, pad))
            )
        target = q.numerator * size + (offset + pad) * unit
        bare = cls(values, np.cumsum(counted), unit, target, 0, steps)
        return replace(bare, deepest=-bare.penalty(bare.holding()))

    def holding(self) -> int:
        """A point among whose ranks the target lies: no other scores more."""
        places = np.searchsorted(self.upto, -(-self.target // self.unit), "left")
        return int(np.append(self.values, 0)[places])

    def penalty(self, point: int) -> int:
        """-u(point) in units, above the best point's."""
        below = self._count(int(np.searchsorted(self.values, point, "left")))
        upto = self._count(int(np.searchsorted(self.values, point, "right")))
        misses = [below * self.unit - self.target] * (point > 0)
        misses += [self.target - upto * self.unit] * (point < self.steps)
        return max(misses, default=0) + self.deepest

    def _count(self, places: int) -> int:
        return int(self.upto[places - 1]) if places else 0

    def spans(self, reaches: Sequence[int]) -> tuple[list[int], list[int]]:
        """First and last grid point whose penalty is at most each of the rising `reaches`."""
        if not self.values.size:
            return [0] * len(reaches), [self.steps] * len(reaches)
        size = self._count(self.values.size)
        misses = [reach - self.deepest for reach in reaches]
        least = [max(-((miss - self.target) // self.unit), 0) for miss in misses]
        most = [min((self.target + miss) // self.unit, size) for miss in misses]
        ends = np.append(self.values, self.steps)
        first = ends[np.searchsorted(self.upto, np.array(least, dtype=np.int64), "left")]
        after = ends[np.searchsorted(self.upto, np.array(most, dtype=np.int64), "right")]
        return [low if rank else 0 for rank, low in zip(least, first.tolist(), strict=True)], after.tolist()


@dataclass(frozen=True, slots=True)
class Blocks:
    """The grid cut into nested rings of penalties; all points of a ring weigh at most its ceiling."""

    lows: list[int]
    highs: list[int]
    ceilings: list[int]

    def point(self, ring: int, place: int) -> int:
        """The grid point at a place of a ring, counted from its left end over the hole to its right end."""
        low = self.lows[ring]
        if ring == 0 or low + place < self.lows[ring - 1]:
            return low + place
        return self.highs[ring - 1] + 1 + place - (self.lows[ring - 1] - low)

    def sizes(self) -> list[int]:
        """How many grid points each ring holds."""
        spans = [high - low + 1 for low, high in zip(self.lows, self.highs, strict=True)]
        return [span - inner for span, inner in zip(spans, [0, *spans[:-1]], strict=True)]


class Proposal(NamedTuple):
    """A grid point, its ring's ceiling, a uniform integer below that, and the sum of all points' ceilings."""

    point: int
    ceiling: int
    height: int
    total: int


def proposals(rings: Blocks, bits: BitSource) -> Iterator[Proposal]:
    """Draw grid points in proportion to their ceilings, without end: one exact uniform integer gives point and height."""
    sums = list(accumulate(size * top for size, top in zip(rings.sizes(), rings.ceilings, strict=True)))
    while True:
        draw = uniform_below(sums[-1], bits)
        ring = bisect_right(sums, draw)
        place, height = divmod(draw - (sums[ring - 1] if ring else 0), rings.ceilings[ring])
        yield Proposal(rings.point(ring, place), rings.ceilings[ring], height, sums[-1])


@dataclass(frozen=True, slots=True)
class QuantileSelection(Mechanism):
    """Select a grid index whose rank is near ``q·n + offset``, n being the (private) number of values.

    Parameters
    ----------
    epsilon : Fraction
        With ``factor`` the rate at which the weights fall. It is no price: what a release is charged is derived from how far one person moves
        the scores, whatever is said here (:func:`dpnb.trusted.measurements.selections.quantile_events`).
    q : Fraction
        The quantile, between 0 and 1.
    offset : int
        Added to the target rank t = q·n + offset (confidence limits aim beside the quantile).
    steps : int
        The grid is 0..steps.
    factor : Fraction
        In how many parts ε is divided: a release costs ε where this is how far one privacy unit can move the scores of all cells together.

    Notes
    -----
    *Assumes.* Values are indices of a public grid; a privacy unit changes the scores of all cells together by at most the declared factor; the
    random words are independent and uniform.

    *Score.* u(v) = -max(#{x < v} - t, t - #{x <= v}): by how many ranks v misses the target or, where the target lies among v's own ranks,
    minus its distance from the nearer end of them. Changing one value moves either count by at most one and leaves t:
    |u(v) - u'(v)| <= 1 for every v. Adding or removing one moves (#{x < v} - t) by -q or 1 - q, and (t - #{x <= v}) by q or -(1 - q):
    |u(v) - u'(v)| <= m = max(q, 1 - q), and for no smaller bound (a row above the target moves the points between by q and those
    above it by -(1 - q)). So a unit of k rows moves the scores of all cells together by at most k·m where rows are added or removed,
    k where they change within one cell, and 2·k·m where each may leave one cell and enter another.
    The first term is left out at v = 0 and the second at v = steps, as if public rows lay beyond all others: where t lies outside
    of 0..n the end of the grid is best, so that a confidence limit whose rank no row has is that end. Leaving out a term keeps the bound.

    *Why this score.* It is positive for the quantile's own value and negative for all others, so that with growing ε the quantile is selected
    for certain; #{x < v} and #{x > v} compared with each other let a rare value beside a frequent median win. And no such score of the
    same sensitivity sets two neighbouring values farther apart, but for one row: here they differ by twice the k rows between the target and
    their border; after k + 1 changed rows the other value is the quantile, and each row moves either score by one at most.

    *Weights.* With e = ε/factor - 4·10⁻⁶, N = steps + 1, S = 2^(60 + ⌈log₂ N⌉) and F = 2²⁰, grid point v has the integer weight
    w(v) = max(F, round(S·e^(e·(u(v) - max u)/2))), where "round" is within 1/2 + 2⁻²⁰. It is selected with probability w(v)/Σw.

    *Guarantee.* Put a(v) = e^(e·u(v)/2) and f = (F/S)·max a, and let W(v) = max(f, a(v)) be the weight without rounding; the
    factor S/max a that separates it from w cancels in the probability.

    1. For data whose scores differ by at most d everywhere, log a(v) and log f (the largest score differs by at most d too)
       each move by at most d·e/2, hence so do log W(v) and log ΣW: the probability moves by a factor of at most e^(d·e).
    2. Rounding changes a weight that is at least F by at most 1/2 + 2⁻²⁰: |log w(v) - log(S·W(v)/max a)| <= η with
       η = 2⁻²¹(1 + 2⁻¹⁸). Where S·W/max a = F nothing is rounded away from F but by the same amount at most. A probability has one
       weight above and a sum of weights below: 2η; two neighbouring datasets: 4η < 1.91·10⁻⁶ for each cell that the
       unit touches. It touches at most 2·factor cells (m >= 1/2): less than factor·4·10⁻⁶ in all.

    The scores of all cells together differ by at most the factor: the whole costs less than factor·(e + 4·10⁻⁶) = ε. No δ is needed.
    *Bounded range.* Between two points of a cell whose scores differ by at most d the log-ratio of neighbouring laws varies by at most
    d·e + 4η, since the normalising sums are the same for both; over independent cells these ranges add, to ε at most. So the release is
    of bounded range ε, whatever m is, and its ρ is ε²/8.

    *Sampling.* The grid is cut into rings over which the weight at most halves. A ring is drawn with its size times a ceiling of
    its weights, a point uniformly in it, and the point is kept with probability w(v)/ceiling: one exact uniform integer
    decides all three, and what is kept has probability w(v)/Σw. So a million distinct values cost two binary searches a ring.

    *Accuracy.* A grid point whose rank is wrong by r has at most e^(-e·r/2) of the best weight, or the floor;
    the floor adds at most N·F/S <= 2⁻⁴⁰ in all. See :func:`dpnb.inference.selection_law.rank_radius`.

    Examples
    --------
    >>> import numpy as np
    >>> from dpnb.inference.seeded_bits import SeededBits
    >>> ages = (np.array([20, 30, 40]), np.array([50, 100, 50]))
    >>> QuantileSelection(Fraction(2), Fraction(1, 2), 0, 100).release(ages, SeededBits(1))
    30
    """

    name: ClassVar[str] = "quantile-selection"
    title = "Exponential mechanism for a quantile"
    phrase = "the exponential mechanism for quantiles"
    drawn = "exponential mechanism at ε {epsilon}"
    summary = (
        "Picks one point of a public grid. Every point is possible. A point becomes less likely by the factor e^(-ε/2) for each "
        "row by which its rank misses the target; the rows around the target make its own value more likely. "
        "Weights are exact integers, and what their rounding can cost is subtracted from ε beforehand."
    )
    reference = "McSherry, Talwar 2007; Smith 2011; rounding: proof in the docstring, audited by enumeration"
    shaped: ClassVar[tuple[str, ...]] = ("q", "steps")
    rounding: ClassVar[Fraction] = Fraction(4, 10**6)
    """What is subtracted from the ε of one row for the rounding of weights."""

    epsilon: Fraction
    q: Fraction
    offset: int
    steps: int
    factor: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", above_zero(self.epsilon, "epsilon"))
        object.__setattr__(self, "factor", above_zero(self.factor, "The factor"))
        q: object = self.q
        if not isinstance(q, Rational) or not 0 <= Fraction(q) <= 1:
            raise PlanError("A quantile is an exact number between 0 and 1, for example Fraction(1, 2).")
        object.__setattr__(self, "q", Fraction(q))
        if not 0 <= self.steps <= 2**62:
            raise PlanError("A quantile needs a grid of 1 to 2^62 points.")
        if self.epsilon <= 2 * self.rounding * self.factor:
            raise LossError(
                f"A quantile needs epsilon above {brief(2 * self.rounding * self.factor, 'up')} here: "
                f"{brief(self.rounding * self.factor, 'up')} pays for the rounding of its weights."
            )

    def work(self, cells: int) -> int:
        """A selected value counts as nine numbers."""
        return 9 * cells

    @property
    def inner(self) -> Fraction:
        """What one row of score costs, before rounding: ε/factor - 4·10⁻⁶."""
        return self.epsilon / self.factor - self.rounding

    @property
    def scale_bits(self) -> int:
        """The largest weight is two to this power."""
        return 60 + self.steps.bit_length()

    def noised(self, exact: Sequence[Counts], bits: BitSource) -> tuple[int, ...]:
        """A released part: one index for each cell."""
        return tuple(self.release(counts, bits) for counts in exact)

    def release(self, counts: Counts, bits: BitSource) -> int:
        """Select a grid index, exactly in law.

        Parameters
        ----------
        counts : (values, counts)
            Distinct grid indices in rising order and their multiplicities, int64; both may be empty.
        bits : BitSource
            Source of random words.

        Returns
        -------
        int
            In 0..steps.
        """
        terrain = Terrain.of(counts, self.q, self.offset, self.steps)
        return next(
            one.point
            for one in proposals(self.rings(terrain), bits)
            if one.height < self.weight(terrain.penalty(one.point))
        )

    def rings(self, terrain: Terrain) -> Blocks:
        """Rings over which the weight at most halves, out to the floor, then one ring of all that is left."""
        width, ceilings = self.ceilings
        lows, highs = terrain.spans([width * (ring + 1) - 1 for ring in range(len(ceilings) - 1)])
        return Blocks([*lows, 0], [*highs, self.steps], list(ceilings))

    @property
    def rate(self) -> Fraction:
        """What a unit of penalty costs in the exponent."""
        return self.inner / (2 * self.q.denominator)

    @property
    def ceilings(self) -> tuple[int, tuple[int, ...]]:
        """The penalty width of a ring, and for each ring a weight that none of its points exceeds."""
        return _ceilings(self.rate, self.scale_bits)

    def weight(self, penalty: int) -> int:
        """The integer weight of a point of that penalty."""
        return _weight(self.rate * penalty, self.scale_bits)


def _weight(exponent: Fraction, scale_bits: int) -> int:
    """max(F, round(2^scale_bits·e^-exponent)), "round" being within 1/2 + 2⁻⁶⁰."""
    low, _ = exp_bounds(exponent, scale_bits + _GUARD)
    return max(FLOOR, (low + (1 << (_GUARD - 1))) >> _GUARD)


@lru_cache(maxsize=64)
def _ceilings(rate: Fraction, scale_bits: int) -> tuple[int, tuple[int, ...]]:
    """Width and ceilings.

    A ring's first penalty has its largest weight but for the rounding of both, which is worth less than one and one integer.
    Beyond the last but one ring, S·e^(-rate·penalty) < F for certain.
    """
    width, starts = halvings(rate, scale_bits - 20)
    return width, (*(_weight(rate * start, scale_bits) + 1 for start in starts), FLOOR)


def halvings(rate: Fraction, many: int) -> tuple[int, range]:
    """Over how much penalty e^(-rate·penalty) at most halves, one at least, and in such steps all penalties where it may be above 2^-many."""
    width = max(1, math.floor(_LN2_BELOW / rate))
    cut = math.ceil(many * _LN2_ABOVE / rate)
    return width, range(0, cut + 1, width)
