r"""A matrix of cross moments of bounded numbers, with additive noise: how far one row moves it.

A row is :math:`z = (1, x_1, …, x_p)`, each number in units of the largest absolute value that interval arithmetic allows it, so that
:math:`|x_j| ≤ 1`. Released are some of the sums of :math:`z_i z_j, i ≤ j`, as exact integers in units of :math:`h_i h_j`. Of the whole
symmetric matrix, an entry off the diagonal counting twice in the squared Frobenius norm, and of its upper triangle in L1:

=======  ==============================  ====================================  ==================================
move     when                            squared Frobenius                     L1 of the triangle
=======  ==============================  ====================================  ==================================
enter    a row comes or goes             :math:`(1+p)^2`                       :math:`(p+1)(p+2)/2`
within   a row changes                   :math:`2(1+p)^2`, less 2 for even p   :math:`p(p+2)^2/2(p+1)`
=======  ==============================  ====================================  ==================================

*Proof, Frobenius.* :math:`\|zz'\|_F = \|z\|^2 ≤ 1+p`. For a change from w to z the square is
:math:`f = \|z\|^4 + \|w\|^4 - 2(z'w)^2`, and :math:`∂^2f/∂x_j^2 = 4\|z\|^2 + 8x_j^2 - 4w_j^2 ≥ 0`, since :math:`\|z\|^2 ≥ 1 ≥ w_j^2`; so f is
largest at corners, where it is :math:`2(1+p)^2 - 2(1+p-2k)^2` for k flips.

*Proof, L1.* Enter: the triangle is half of :math:`\|z\|_1^2 + \|z\|_2^2`. Within: with :math:`2d_j = |x_j - y_j|` the matrix is
:math:`(uv' + vu')/2` for :math:`u = z+w, v = z-w`, :math:`|v_j| = 2d_j, |u_j| ≤ 2(1-d_j)`; half of
:math:`\|u\|_1\|v\|_1 + \sum|u_jv_j|` is at most :math:`2(1+p)D - 2D^2 + 2D - 2\sum d_j^2, D = \sum d_j`: concave, symmetric, largest at
:math:`d_j = (p+2)/2(p+1)`. The count is one of the entries: a row that enters moves it by one, a row that changes leaves it.

*Noise of any scales.* Let σ² be the least of variance over squared unit, doubled off the diagonal, and β the least of scale over unit. A unit
of k rows costs at most :math:`k^2 f/2σ^2` (triangle inequality) and :math:`k L1/β`. In ρ, K(s, b) is convex in s, zero at 0, and falls with b
at equal s/b, so that the worst gives all of an L1 to one entry of the smallest scale; the count moves by itself. Entries that are not
released only lower the sums. Parts of the same rows whose entries differ are one matrix; others add.

*Enumerated* over tiny neighbouring tables: ``test_no_neighbours_move_a_matrix_farther_than_derived``; the bounds themselves over grids:
``test_no_row_moves_the_matrix_farther_than_its_bound``.

References
----------
Dwork, Talwar, Thakurta & Zhang, *Analyze Gauss* (2014); Bun & Steinke, *Concentrated differential privacy* (2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpnb.trusted.aggregate.algebra import CrossMoments, Lit
from dpnb.trusted.measurements import matrix
from dpnb.trusted.measurements.facts import Facts, Measurement, refuse, same_cells
from dpnb.trusted.measurements.matrix import l1, l2_squared
from dpnb.trusted.measurements.sums import ENTER, WITHIN, Noise, constant
from dpnb.trusted.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpnb.trusted.privacy.event import PrivacyEvent

COUNT = (0, 0)
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Moments:
    """Entries of a matrix under one noise, and the half range of each value."""

    request: CrossMoments
    noise: Noise
    halves: tuple[int, ...]

    @classmethod
    def of(cls, measurement: Measurement, facts: Facts) -> Moments:
        """Derive the half ranges, and refuse what is no matrix of (1, x₁, …, x_p)."""
        request, noise = measurement.request, measurement.mechanism
        assert isinstance(request, CrossMoments)
        assert isinstance(noise, Noise)
        same_cells(measurement, len(request.pairs))
        found = cls(request, noise, matrix.halves(request, facts))
        if request.values[:1] != (Lit(1),) or not 0 < len(found.entries) == len(request.pairs):
            raise refuse("a matrix of moments has the constant 1 first, some entries, and each of them once")
        if not all(map(found.unit, request.pairs)):
            raise constant()
        return found

    def unit(self, pair: Pair) -> int:
        """Return the unit of an entry: the product of both half ranges."""
        return self.halves[pair[0]] * self.halves[pair[1]]

    @property
    def others(self) -> tuple[Pair, ...]:
        """The entries beside the count."""
        return tuple(pair for pair in self.request.pairs if pair != COUNT)

    @property
    def entries(self) -> frozenset[tuple[int, ...]]:
        """The values whose products are summed."""
        return frozenset(matrix.monomial(self.request, pair) for pair in self.request.pairs)


def matrices(parts: Sequence[Moments]) -> list[list[Moments]]:
    """Sort parts into matrices: the same values and rows, one family of noise, no entry twice."""
    made: list[list[Moments]] = []
    alike: dict[object, list[tuple[set[tuple[int, ...]], list[Moments]]]] = {}
    for part in parts:
        request, mine = part.request, part.entries
        same = alike.setdefault((request.values, request.where, request.shrink, type(part.noise)), [])
        held, found = next((one for one in same if one[0].isdisjoint(mine)), (set(), []))
        if not found:
            same.append((held, found))
            made.append(found)
        held |= mine
        found.append(part)
    return made


def event(parts: Sequence[Moments], facts: Facts) -> PrivacyEvent:
    """Return the event of one matrix at the worst move."""
    request = parts[0].request
    facts = facts.capped(request.where)
    order, square = matrix.degree(request), matrix.radius_squared(request)
    columns = sum(len(request.factors(place)) == 1 for place in range(1, len(request.values)))
    entering = (ENTER,) if not facts.changed or facts.private(request) else ()
    kinds = (*entering, *((WITHIN,) if facts.changed else ()))
    if kinds == (WITHIN,) and any(not part.others for part in parts):
        raise constant()
    if isinstance(parts[0].noise, DiscreteLaplace):
        return PrivacyEvent.laplace(
            _move(parts, l1(columns, square, kind, order), int(kind == ENTER), facts.rows) for kind in kinds
        )
    worst = max(l2_squared(columns, square, kind, order) for kind in kinds)
    return PrivacyEvent("gaussian", facts.rows**2 * worst / (2 * _least_variance(parts, order)))


def _move(
    parts: Sequence[Moments], size: Fraction, counted: int, rows: int
) -> list[tuple[Fraction, Fraction]]:
    """Return the shifts of one move: the count by itself, the rest in one entry of the smallest scale."""
    scales = [(part.noise.scale, part) for part in parts]  # type: ignore[union-attr]
    count = [(Fraction(rows * counted), scale) for scale, part in scales if COUNT in part.request.pairs]
    others = [(scale, part.unit(pair)) for scale, part in scales for pair in part.others]
    if not others:
        return count
    smallest, least = min(scale for scale, _ in others), min(scale / unit for scale, unit in others)
    return [*count, (rows * (size - counted) / least * smallest, smallest)]


def _least_variance(parts: Sequence[Moments], order: int) -> Fraction:
    found = []
    for part in parts:
        assert isinstance(part.noise, DiscreteGaussian)
        for pair in part.request.pairs:
            times = matrix.multiplicity(matrix.monomial(part.request, pair), order)
            found.append(times * part.noise.variance / part.unit(pair) ** 2)
    return min(found)
