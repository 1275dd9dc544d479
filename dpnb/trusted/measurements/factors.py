r"""Sums of products beside the sum of a factor that they share: of a row that changes, not all of them move their most at once.

Parts of a frame with equal keys may be :math:`\sum w` and some :math:`\sum w z_j`, where :math:`0 ≤ l ≤ w ≤ W` and :math:`-a_j ≤ z_j ≤ b_j` with
:math:`a_j, b_j ≥ 0`, by interval arithmetic; l is 0 where w can be missing. A row that changes within its cell moves them by one of

=======  ==========================  ====================================
end      the sum of the factor       a sum of products
=======  ==========================  ====================================
still    0                           :math:`W(a_j + b_j)`
moved    :math:`W - l`               :math:`W\max(a_j,b_j) + l\min(a_j,b_j)`
=======  ==========================  ====================================

or by less than that in every part; how it enters, leaves or changes its cell, and all other parts, are as :mod:`~dpnb.trusted.measurements.sums` says.

*Proof.* A row without :math:`z_j` adds to a product what :math:`z_j = 0` would, and one without w what w = 0 would to all parts. Of the two rows let :math:`w ≥ w'`. Then :math:`wz_j - w'z_j' ≤ wb_j + w'a_j` and :math:`w'z_j' - wz_j ≤ w'b_j + wa_j`, so part j moves by at
most :math:`g_j = \max(wb_j + w'a_j,\ wa_j + w'b_j)`, and the factor by :math:`w - w'`. Each is convex in :math:`(w, w')`, and what a vector of shifts
costs (the sum of :math:`s/b`, of :math:`K(s, b)`, of :math:`s^2/2v`) is convex and rises with each shift: so the cost is convex on the triangle
:math:`l ≤ w' ≤ w ≤ W`, and largest at one of its corners. Those are :math:`(W, W)`, the end *still*; :math:`(W, l)`, the end *moved*; and
:math:`(l, l)`, which is below the first. Both corners are rows that exist.

So with a = b = R/2 scales of WR/ε for the products and 2W/ε for the factor cost ε together. Every factor has its own end; the cost is a sum over
factors, hence largest where each is: once for ε, and once for ρ, whose largest ends may be others.

*Enumerated* over tiny neighbouring tables: ``test_no_neighbours_move_sums_farther_than_derived`` (*a factor …*, *a product …*).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dpnb.trusted.aggregate.algebra import IntExpr, Lit, Mul
from dpnb.trusted.measurements.facts import Facts
from dpnb.trusted.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpnb.trusted.privacy.conversion import laplace_rho
from dpnb.trusted.privacy.loss import quotients

if TYPE_CHECKING:
    from dpnb.trusted.measurements.sums import Part

End = dict[int, int]
"""How far parts move, by their places."""
Cost = tuple[Fraction | int, Fraction | int]
"""A quotient."""


def shared(parts: Sequence[Part], facts: Facts) -> list[End]:
    """Return how far parts that share factors move when a row changes within its cell: for each cost its worst ends, which may be the same."""
    groups = list(factors_of(parts, facts))
    costs = (_laplace, _rho) if groups and isinstance(parts[0].noise, DiscreteLaplace) else (_gaussian,)
    ends = [_worst(groups, parts, cost, facts.rows) for cost in costs]
    return ends[:1] if ends[0] == ends[-1] else ends


def _worst(
    groups: Sequence[tuple[End, End]],
    parts: Sequence[Part],
    cost: Callable[[Part, int], Cost],
    rows: int,
) -> End:
    """Return the end of every factor at which a cost is largest."""

    def paid(end: End) -> Fraction:
        return quotients(cost(parts[at], rows * shift) for at, shift in end.items())

    return {at: shift for group in groups for at, shift in max(group, key=paid).items()}


def factors_of(parts: Sequence[Part], facts: Facts) -> Iterator[tuple[End, End]]:
    """Give the two ends of every factor that is a part, with the products of it; no part is in two of them."""
    products = [(at, *sides) for at, part in enumerate(parts) for sides in _sides(part, facts)]
    places = (
        {(part.request.keys, part.request.value): at for at, part in enumerate(parts)} if products else {}
    )
    groups: dict[int, End] = {}
    taken: set[int] = set()
    for at, factor, other in products:
        place = places.get((parts[at].request.keys, factor))
        if place is None or place in taken or at in taken or at in groups:
            continue
        groups.setdefault(place, {})[at] = _moved(parts[place], other, facts)
        taken.add(at)
    for place, moved in groups.items():
        still = {place: 0} | {at: parts[at].within for at in moved}
        yield still, {place: parts[place].within} | moved


def _sides(part: Part, facts: Facts) -> Iterator[tuple[IntExpr, IntExpr]]:
    """Give a product as a factor that is never negative, and another whose range holds 0."""
    value = part.request.value
    if not isinstance(value, Mul) or isinstance(value.a, Lit) or isinstance(value.b, Lit):
        return
    for factor, other in ((value.a, value.b), (value.b, value.a)):
        low, high = facts.ends(other)
        if low <= 0 <= high and facts.ends(factor)[0] >= 0:
            yield factor, other


def _moved(factor: Part, other: IntExpr, facts: Facts) -> int:
    """Return how far a product moves when its factor goes from one bound to the other."""
    low, high = facts.ends(other)
    least, most = factor.enter - factor.within, factor.enter
    return most * max(-low, high) + least * min(-low, high)


def _laplace(part: Part, shift: int) -> Cost:
    assert isinstance(part.noise, DiscreteLaplace)
    return shift, part.noise.scale


def _rho(part: Part, shift: int) -> Cost:
    assert isinstance(part.noise, DiscreteLaplace)
    return laplace_rho(Fraction(shift), part.noise.scale), 1


def _gaussian(part: Part, shift: int) -> Cost:
    assert isinstance(part.noise, DiscreteGaussian)
    return shift**2, part.noise.variance
