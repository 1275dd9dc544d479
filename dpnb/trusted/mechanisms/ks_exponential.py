"""The Kolmogorov-Smirnov exponential mechanism: a small synthetic sample whose distribution function is near that of the data.

Refuses floating-point probabilities: its tables are floating point but only propose, and every decision is an exact comparison of
integers and exponentials, so that the law is exactly the declared one and no ε is set aside for rounding.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpnb.trusted.errors import PlanError
from dpnb.trusted.mechanisms._base import Mechanism, above_zero, add, bounded_scale
from dpnb.trusted.mechanisms.corridor import MOST_POINTS, Corridor
from dpnb.trusted.noise.bits import BitSource
from dpnb.trusted.noise.exact import discrete_laplace, exp_bounds, stream, uniform_below

MOST_CELLS = 1024
_WASTE = 0.8
_MANY_RINGS = 40
_TAIL_BITS = 6.0
_FLOOR_BITS = 80
_CEILING_BITS = 64
_WORK_BITS = 200
_MOST_RINGS = 2000


@dataclass(frozen=True, slots=True)
class KSExponential(Mechanism):
    r"""Place k points into m public cells so that their distribution function is near that of the data.

    Parameters
    ----------
    epsilon : Fraction
        With ``factor`` the rate of the law. It is no price: what a placement and its check are charged is derived from how far one person moves
        the scores, whatever is said here (:func:`dpnb.trusted.measurements.selections.placement_events`).
    points : int
        k, how many points are placed.
    places : tuple of int
        v_j, the public weight of each cell: how many grid points it has.
    factor : int
        In how many parts ε is divided. The charge is at most ε where this is at least the number of rows of a unit, or twice that
        where a change can touch two groups.
    check : Fraction
        With ``factor`` the noise with which is measured how far the drawn placement is from the data; 0 where that is not measured.

    Notes
    -----
    *Assumes.* Cells, their weights and the number of points are public; a privacy unit changes the score by at most the declared factor; the
    random words are independent and uniform.

    *Law.* With :math:`N_j` rows in the first j cells, n in all, and :math:`S_j` of the k points there, the cell counts d come out with
    probability proportional to

    .. math:: ∏_j \frac{v_j^{d_j}}{d_j!} · e^{-r D}, \qquad D = \max_j |k N_j - n S_j|, \quad r = \frac{ε}{2 k · factor}.

    :math:`D/(kn)` is the Kolmogorov-Smirnov distance at the cell edges; the first factor is the law of k points drawn from the base measure v.

    *Guarantee.* The score is :math:`u = -D/k = -\max_j|N_j - n S_j/k|`. Changing one row moves one :math:`N_j` by at most 1 and
    leaves n. Adding a row to cell a moves :math:`N_j - n S_j/k` by :math:`1[a ≤ j] - S_j/k`, between -1 and 1. So u moves by at most
    1 whichever neighbours are meant, and the exponential mechanism with weight :math:`e^{εu/(2·factor)}` and any public base measure is
    ε-differentially private, of bounded range ε (McSherry, Talwar; Wasserman, Zhou; ρ = ε²/8 by Cesar, Rogers).

    *Sampling.* Let :math:`d_0 < d_1 < … < d_L` be any thresholds, the last one no less than every D, and ring i the paths with
    :math:`d_{i-1} < D ≤ d_i`; D ≤ d_i is a corridor for S (:mod:`dpnb.trusted.mechanisms.corridor`). Let :math:`g_0 ≥ g_1 ≥ … ≥ g_L` be rationals with
    :math:`g_i ≥ e^{-rD}` on ring i (up to a common factor). Corridor i is chosen with probability proportional to
    :math:`(g_i - g_{i+1})A_i`, :math:`g_{L+1} = 0`, :math:`A_i` being the total of its table; the corridor gives a path with probability
    :math:`\tilde w/A_i` or fails; so a path of ring i is proposed with probability proportional to :math:`\tilde w Σ_{l ≥ i}(g_l - g_{l+1}) = \tilde w g_i`.
    It is kept with probability :math:`w e^{-rD}/(\tilde w g_i) ≤ 1`, and all starts anew otherwise. The last corridor is no restriction:
    there k points are drawn from the base measure, :math:`\tilde w = w`, and :math:`A_L = (Σv)^k/k!`. What is kept has probability proportional to
    :math:`w e^{-rD}`, **exactly**: nothing was assumed of thresholds, ceilings or the rounding of tables but the inequalities.

    *Check.* Given the placement, D is an integer that a step changes by at most k. With discrete Laplace noise of scale k·factor/check
    its release costs check, whatever placement was drawn: adaptive composition, epsilon + check in all.

    Thresholds follow the data, so that about half of the proposals are kept. How long a draw takes therefore depends on the data,
    as with the other exact samplers (a known limit).

    Examples
    --------
    >>> from dpnb.inference.seeded_bits import SeededBits
    >>> KSExponential(Fraction(1), 10, (1, 1, 1, 1)).noised([500, 300, 100, 100], SeededBits(1))
    (5, 3, 1, 1)
    """

    name: ClassVar[str] = "ks-exponential"
    title = "Kolmogorov-Smirnov exponential mechanism"
    phrase = "the exponential mechanism for the Kolmogorov-Smirnov distance"
    drawn = "exponential mechanism at ε {epsilon}, {points:,} points"
    summary = (
        "Places a fixed number of points into public cells. Every placement is possible; it becomes less likely by the factor "
        "e^(-ε/2) with each row by which its distribution function misses that of the data, at its worst cell edge. "
        "The draw is exact: candidate paths are accepted with exact integer arithmetic."
    )
    reference = (
        "Wasserman, Zhou, A statistical framework for differential privacy (2010), section 5; McSherry, Talwar 2007; "
        "Cesar, Rogers 2021; exact sampler: proof in the docstring, checked by enumeration"
    )

    epsilon: Fraction
    points: int
    places: tuple[int, ...]
    factor: int = 1
    check: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", above_zero(self.epsilon, "epsilon"))
        if self.check:
            object.__setattr__(self, "check", above_zero(self.check, "The loss of the check"))
            bounded_scale(self.check_scale**2)
        if not 1 <= self.points <= MOST_POINTS or not 1 <= len(self.places) <= MOST_CELLS:
            raise PlanError(
                f"A synthetic sample takes 1 to {MOST_POINTS:,} points in at most {MOST_CELLS:,} cells."
            )
        if min(self.places) < 1 or self.factor < 1:
            raise PlanError("Every cell needs a weight, and the factor is at least 1.")

    def work(self, cells: int) -> int:
        """A cell in which a sample is placed counts as sixty: its tables take some milliseconds, for each group."""
        return (60 + self.points // 100) * cells

    @property
    def rate(self) -> Fraction:
        """What D costs in the exponent: ε/(2·k·factor)."""
        return self.epsilon / (2 * self.points * self.factor)

    @property
    def check_scale(self) -> Fraction:
        """Scale of the noise on D: k·factor/check."""
        return self.points * self.factor / self.check

    @property
    def shape(self) -> tuple[str, ...]:
        """What is released apart from how much noise there is: whoever asks the same shape can be given the answer."""
        return (self.name, str(self.points), " ".join(map(str, self.places)), str(self.check > 0))

    def noised(self, exact: Sequence[int], bits: BitSource) -> tuple[int, ...]:
        """A released part: the placement of each group, and where it is checked its noised D after it."""
        found: list[int] = []
        for start in range(0, len(exact), len(self.places)):
            counts = exact[start : start + len(self.places)]
            placed = self.sampler(counts).draw(bits)
            found += placed
            if self.check:
                sums = list(accumulate(int(count) for count in counts))
                found += add([distance(sums, placed)], discrete_laplace(self.check_scale, 1, bits))
        return tuple(found)

    def sampler(self, counts: Sequence[int]) -> KSSampler:
        """Return the tables of one group, from which any number of independent draws can be made."""
        return KSSampler.of(self, counts)


@dataclass(frozen=True, slots=True, eq=False)
class KSSampler:
    """Rings, ceilings and corridors for one vector of counts.

    Parameters
    ----------
    mechanism : KSExponential
        The law.
    sums : tuple of int
        N_j.
    edges : tuple of int
        d_i of all rings, the last no restriction.
    corridors : tuple of Corridor
        One for each ring but the last.
    first : int
        Where exponents are counted from: no corridor with D below it has a path.
    ceilings : tuple of (int, int)
        g_i as mantissa and exponent.
    shares : tuple of int
        Running sums of the proposals' integer weights.
    """

    mechanism: KSExponential
    sums: tuple[int, ...]
    edges: tuple[int, ...]
    corridors: tuple[Corridor, ...]
    first: int
    ceilings: tuple[tuple[int, int], ...]
    shares: tuple[int, ...]

    @classmethod
    def of(cls, mechanism: KSExponential, counts: Sequence[int]) -> KSSampler:
        """Choose thresholds, fill the tables, and weigh the corridors."""
        sums = tuple(accumulate(int(count) for count in counts))
        survey = _Survey(mechanism, sums)
        survey.widen()
        survey.refine()
        edges, corridors = survey.kept()
        first = survey.first
        ceilings = _ceilings(mechanism.rate, first, edges, survey.floor)
        weights = _proposal_weights(mechanism, corridors, ceilings)
        return cls(mechanism, sums, edges, corridors, first, ceilings, tuple(accumulate(weights)))

    def draw(self, bits: BitSource) -> tuple[int, ...]:
        """Draw one placement."""
        source = stream(bits, 256)
        while True:
            ring = bisect_right(self.shares, uniform_below(self.shares[-1], bits))
            free = ring == len(self.corridors)
            found = self._anywhere(bits) if free else self.corridors[ring].draw(source)
            if found is not None and _below(*self.odds(found, free=free), source):
                return found

    def _anywhere(self, bits: BitSource) -> tuple[int, ...]:
        """Draw k points from the base measure."""
        ends = list(accumulate(self.mechanism.places))
        found = [0] * len(ends)
        for _ in range(self.mechanism.points):
            found[bisect_right(ends, uniform_below(ends[-1], bits))] += 1
        return tuple(found)

    def odds(self, steps: Sequence[int], *, free: bool) -> tuple[Fraction, int, int]:
        """Return x, top and bottom with e^-x·top/bottom = w·e^(-r(D - first))/(w̃·g), how often a proposal is kept.

        Parameters
        ----------
        steps : sequence of int
            The placement.
        free : bool
            Whether it was drawn from the base measure, where w̃ = w, and not in a corridor.
        """
        missed = distance(self.sums, steps)
        mantissa, power = self.ceilings[bisect_left(self.edges, missed)]
        top, bottom = 1, mantissa
        if not free:
            for cell, (count, place) in enumerate(zip(steps, self.mechanism.places, strict=True)):
                bound = self.corridors[0].steps[cell]
                top *= place**count
                bottom *= bound.mantissas[count] * math.factorial(count)
                power += bound.exponents[count]
        top, bottom = (top << -power, bottom) if power < 0 else (top, bottom << power)
        return self.mechanism.rate * (missed - self.first), top, bottom


def _below(exponent: Fraction, top: int, bottom: int, source: Iterator[int]) -> bool:
    """Whether U < e^-exponent · top/bottom for a fresh uniform U, exactly."""
    word, known = next(source), 64
    while True:
        work = known + 16 + max(0, top.bit_length() - bottom.bit_length())
        low, high = exp_bounds(exponent, work)
        if (word + 1) * bottom << work <= low * top << known:
            return True
        if word * bottom << work >= high * top << known:
            return False
        word, known = (word << 64) | next(source), known + 64


class _Survey:
    """The search for thresholds that waste little; whatever it finds, the law is the same."""

    def __init__(self, mechanism: KSExponential, sums: Sequence[int]) -> None:
        self._mechanism = mechanism
        self._sums = np.array(sums, dtype=np.int64)
        self._rows = int(sums[-1])
        self._reach = mechanism.points * self._rows
        self._fall = float(mechanism.rate) / math.log(2)
        points, places = mechanism.points, sum(mechanism.places)
        self._all = points * math.log2(places) - math.lgamma(points + 1) / math.log(2)
        self._tables: dict[int, Corridor] = {}

    def _corridor(self, distance: int) -> Corridor:
        if distance not in self._tables:
            points, rows = self._mechanism.points, self._rows
            lows = np.maximum(-((distance - points * self._sums) // rows), 0)
            highs = np.minimum((points * self._sums + distance) // rows, points)
            lows[-1] = highs[-1] = points
            self._tables[distance] = Corridor.of(
                self._mechanism.places, points, lows.tolist(), highs.tolist()
            )
        return self._tables[distance]

    def widen(self) -> None:
        """Double the corridor until what lies outside it weighs little."""
        if self._fall * self._reach <= 1:
            return
        distance, best = max(self._rows, math.ceil(1 / self._fall)), -math.inf
        start = 0
        while distance < self._reach:
            best = max(best, self._corridor(distance).log2 - self._fall * distance)
            start = distance + 1
            if self._all - self._fall * start < best - _TAIL_BITS:
                return
            distance = distance * 2 if distance < 32 * self._rows else distance * 5 // 4

    def refine(self) -> None:
        """Halve the ring that wastes most until four proposals of five are wasted at most; more where that takes many rings."""
        while len(self._tables) < _MOST_RINGS:
            rings = self._rings()
            masses = np.exp2(rings[:, 2] - rings[:, 2].max())
            wastes = masses * -np.expm1(-self._fall * math.log(2) * (rings[:, 1] - rings[:, 0]))
            worst = int(wastes.argmax())
            low, high = int(rings[worst, 0]), int(rings[worst, 1])
            waste = float(wastes.sum() / masses.sum())
            if waste <= 1 - (1 - _WASTE) / (1 + (len(rings) / _MANY_RINGS) ** 2) or high == low:
                return
            last = worst == len(rings) - 1
            self._corridor(
                low + max(1, low // 8) if last and low // 8 < (high - low) // 2 else (low + high) // 2
            )

    def _rings(self) -> NDArray[np.float64]:
        """First D, last D and log₂ of the proposals' weight of each ring."""
        edges = [*sorted(self._tables), self._reach]
        weights = [self._tables[edge].log2 for edge in edges[:-1]] + [self._all]
        found, before, start = [], -math.inf, 0
        for edge, weight in zip(edges, weights, strict=True):
            share = -math.expm1(min(before - weight, 0.0) * math.log(2)) if weight > -math.inf else 0.0
            mass = weight + math.log2(share) - self._fall * start if share > 0 else -math.inf
            found.append((start, edge, mass))
            before, start = weight, edge + 1
        return np.array(found, dtype=np.float64)

    def kept(self) -> tuple[tuple[int, ...], tuple[Corridor, ...]]:
        """The thresholds and corridors that hold a path, and the last threshold."""
        edges = [edge for edge in sorted(self._tables) if self._tables[edge].total[0]]
        return (*edges, self._reach), tuple(self._tables[edge] for edge in edges)

    @property
    def first(self) -> int:
        """One beyond the largest threshold without a path, or 0."""
        return max((edge + 1 for edge, table in self._tables.items() if not table.total[0]), default=0)

    @property
    def floor(self) -> int:
        """log₂ of a ceiling so low that points drawn anywhere with it hardly waste a proposal."""
        best = float(self._rings()[:, 2].max()) + self._fall * self.first
        return math.floor(best - self._all) - _FLOOR_BITS


def _ceilings(rate: Fraction, first: int, edges: Sequence[int], floor: int) -> tuple[tuple[int, int], ...]:
    """Return falling g_i ≥ e^(-rate·(D - first)) for each ring, none below 2^floor."""
    found: list[tuple[int, int]] = []
    for start in (first, *(edge + 1 for edge in edges[:-1])):
        mantissa, power = _exp_above(rate * (start - first))
        if mantissa.bit_length() + power <= floor:
            mantissa, power = 1, floor
        if found and _larger((mantissa, power), found[-1]):
            mantissa, power = found[-1]
        found.append((mantissa, power))
    return tuple(found)


def _larger(one: tuple[int, int], two: tuple[int, int]) -> bool:
    shift = one[1] - two[1]
    return one[0] << max(shift, 0) > two[0] << max(-shift, 0)


def _exp_above(exponent: Fraction) -> tuple[int, int]:
    """Return a 64-bit mantissa and a power of two whose product is at least e^-exponent, and little more."""
    halvings = max(0, math.ceil(exponent).bit_length())
    mantissa, power = exp_bounds(exponent / 2**halvings, _WORK_BITS)[1], -_WORK_BITS
    for _ in range(halvings):
        mantissa, power = _cut(mantissa * mantissa, 2 * power, _WORK_BITS)
    return _cut(mantissa, power, _CEILING_BITS)


def _cut(mantissa: int, power: int, bits: int) -> tuple[int, int]:
    """Round a number up to so many bits."""
    extra = max(0, mantissa.bit_length() - bits)
    return -(-mantissa >> extra), power + extra


def _proposal_weights(
    mechanism: KSExponential, corridors: Sequence[Corridor], ceilings: Sequence[tuple[int, int]]
) -> list[int]:
    """Return (g_i - g_{i+1})·A_i for each corridor, times k! and a power of two that makes all of them integers."""
    totals: list[tuple[int, int]] = [table.total for table in corridors]
    factorial = math.factorial(mechanism.points)
    totals = [(mantissa * factorial, power) for mantissa, power in totals]
    totals.append((sum(mechanism.places) ** mechanism.points, 0))
    steps = []
    for place, (mantissa, power) in enumerate(ceilings):
        after, below = ceilings[place + 1] if place + 1 < len(ceilings) else (0, power)
        unit = min(power, below)
        steps.append(((mantissa << (power - unit)) - (after << (below - unit)), unit))
    powers = [step[1] + total[1] for step, total in zip(steps, totals, strict=True)]
    least = min(powers)
    return [
        step[0] * total[0] << (power - least)
        for step, total, power in zip(steps, totals, powers, strict=True)
    ]


def distance(sums: Sequence[int], steps: Sequence[int]) -> int:
    """Return D = max|k·N_j - n·S_j|: the Kolmogorov-Smirnov distance times points and rows.

    Parameters
    ----------
    sums : sequence of int
        N_j, rows in the first j cells.
    steps : sequence of int
        Points in each cell.
    """
    points, rows = sum(steps), sums[-1]
    return max(
        abs(points * below - rows * placed) for below, placed in zip(sums, accumulate(steps), strict=True)
    )
