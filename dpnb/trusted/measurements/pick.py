r"""A pick from a short public list, by permute-and-flip: by how much one person moves the scores of candidates apart.

With rate λ = ε/factor a pick costs λ·s where neighbours move the scores of one group of candidates so that :math:`\max d - \min d ≤ s`, and
the sum of that over the groups (:class:`~dpnb.trusted.mechanisms.permute_and_flip.PermuteAndFlip`, *Other scores*). Later picks are adaptive, and
cost as much each. So the charge is ε·s/factor a pick, with s derived here:

*Counted values* (``Total``; the last key lists the candidates of a group). A row that comes or goes moves one score by ``enter``, one that changes
moves one by ``within`` or two by ``enter``, in one group or in two. In each group max d - min d is at most the sum of the absolute moves, so s
is the largest L1 of a move, times the rows of a unit (:mod:`dpnb.trusted.measurements.sums`).

*Candidates that overlap* (``CrossMoments`` of a constant 1 with each candidate, over the rows in which all are known). With candidates
between :math:`l_i` and :math:`h_i` a row that enters moves score i by at least :math:`l_i` and at most :math:`h_i`, hence apart by at most
:math:`\max(0, \max h_i) - \min(0, \min l_i)`; a row that changes moves one score up by at most its width and another down by at most its own: the
sum of the two largest widths. Ranges of d add over the rows of a unit.
"""

from __future__ import annotations

from dpnb.trusted.aggregate.algebra import CrossMoments, Lit, Total, bounds
from dpnb.trusted.measurements.facts import Facts, Measurement, cells_of, refuse, same_cells
from dpnb.trusted.measurements.sums import Frame, Part, constant
from dpnb.trusted.mechanisms import PermuteAndFlip
from dpnb.trusted.privacy.event import PrivacyEvent


def events(measurement: Measurement, facts: Facts) -> tuple[PrivacyEvent, ...]:
    """Return the events of a pick, one for each."""
    request, mechanism = measurement.request, measurement.mechanism
    assert isinstance(mechanism, PermuteAndFlip)
    steps = _counted(measurement, facts) if isinstance(request, Total) else _overlapping(measurement, facts)
    if not steps:
        raise constant()
    epsilon = mechanism.epsilon * facts.rows * steps / mechanism.factor
    return (PrivacyEvent("pure", epsilon),) * mechanism.picks


def _counted(measurement: Measurement, facts: Facts) -> int:
    """Return the largest L1 move of one row."""
    request, mechanism = measurement.request, measurement.mechanism
    assert isinstance(request, Total)
    if not request.keys or request.keys[-1].size != mechanism.size:
        raise refuse("a pick is among the cells of its last key")
    same_cells(measurement, cells_of(request.keys[:-1]) * mechanism.picks)
    low, high = facts.range_of(request.value, request.where)
    part = Part(request, mechanism, max(abs(low), abs(high)), high - low)
    moves = Frame((part,), facts.private(request)).moves(facts)
    return int(max(sum(part.shifts(kind)) for move in moves for part, kind in move))


def _overlapping(measurement: Measurement, facts: Facts) -> int:
    """Return by how much one row can move two candidates apart."""
    request, mechanism = measurement.request, measurement.mechanism
    assert isinstance(request, CrossMoments)
    pairs = tuple((0, place) for place in range(1, mechanism.size + 1))
    if request.values[:1] != (Lit(1),) or request.pairs != pairs or request.shrink is not None:
        raise refuse("a pick is among the products of 1 and each candidate")
    same_cells(measurement, mechanism.picks)
    ends = [bounds(value, facts.ranges) for value in request.values[1:]]
    widths = sorted(high - low for low, high in ends)
    entering = max(0, *(high for _, high in ends)) - min(0, *(low for low, _ in ends))
    if not facts.changed:
        return entering
    return max(sum(widths[-2:]), entering if facts.private(request) else 0)
