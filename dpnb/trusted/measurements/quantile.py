r"""Quantiles by the exponential mechanism: by how much one person moves the scores of all cells together.

With :math:`m = \max(q, 1-q)`, a row that comes or goes moves the scores of its cell by at most m, one that changes within its cell by at most 1,
and one that changes its cell by at most m in each of two (:class:`~dpnb.trusted.mechanisms.exponential.QuantileSelection`, *Score*); a unit of k rows by k
times that, d in all. The mechanism's weights fall by e/2 with each rank, e = ε/factor - 4·10⁻⁶, and its guarantee is d·e, and for the
rounding of its weights less than d·4·10⁻⁶, since a unit touches at most 2d cells: together **ε·d/factor**, of bounded range.

The values must be indices of the grid 0..steps. The offset is public, and padded with as many public rows, so that it moves no score; it is
limited, as is the length of q, so that no arithmetic on ranks can fail on some table.

*Enumerated* over tiny neighbouring tables: ``test_no_neighbours_change_a_selection_more_than_derived`` (*a quantile …*).
"""

from __future__ import annotations

from fractions import Fraction

from dpnb.trusted.aggregate.algebra import ValueCounts, cells_of
from dpnb.trusted.measurements.facts import Facts, Priced, refuse
from dpnb.trusted.mechanisms import QuantileSelection
from dpnb.trusted.privacy.event import PrivacyEvent

MOST_OFFSET = 2**48
_LONGEST = 2**1100


def events(request: ValueCounts, mechanism: QuantileSelection, facts: Facts) -> Priced:
    """Return the event of a quantile in every cell."""
    on_grid(request, mechanism.steps, facts)
    return cells_of(request.keys), (selection_event(mechanism, request, facts),)


def selection_event(mechanism: QuantileSelection, request: ValueCounts, facts: Facts) -> PrivacyEvent:
    """Return the event of one selection by ranks."""
    if abs(mechanism.offset) > MOST_OFFSET or mechanism.q.denominator > _LONGEST or mechanism.steps < 1:
        raise refuse("a quantile has a grid of two points at least, and an offset of at most 2^48 rows")
    moved = facts.rows * score(mechanism.q, request, facts)
    return PrivacyEvent("exponential", mechanism.epsilon * moved / mechanism.factor)


def score(q: Fraction, request: ValueCounts, facts: Facts) -> Fraction:
    """Return by how much one row moves the scores of all cells together."""
    most = max(q, 1 - q)
    if not facts.changed:
        return most
    return 2 * most if cells_of(request.keys) > 1 else Fraction(1)


def on_grid(request: ValueCounts, steps: int, facts: Facts) -> None:
    """Refuse values that may lie outside of the grid 0..steps."""
    low, high = facts.ends(request.value)
    if low < 0 or high > steps:
        raise refuse("its values leave the grid of its mechanism")
