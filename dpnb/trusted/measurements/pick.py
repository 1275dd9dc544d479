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

*Enumerated* over tiny neighbouring tables: ``test_no_neighbours_change_a_selection_more_than_derived`` (*a pick …*, *a choice …*).
"""

from __future__ import annotations

from typing import Any

from dpnb.trusted.aggregate.algebra import CrossMoments, Lit, Total, cells_of
from dpnb.trusted.measurements.facts import Facts, Priced, refuse
from dpnb.trusted.measurements.sums import Frame, Part, constant
from dpnb.trusted.mechanisms import PermuteAndFlip
from dpnb.trusted.privacy.event import PrivacyEvent


def events(request: Total | CrossMoments, mechanism: PermuteAndFlip, facts: Facts) -> Priced:
    """Return the events of a pick, one for each."""
    found = _counted if isinstance(request, Total) else _overlapping
    groups, steps = found(request, mechanism, facts)
    if not steps:
        raise constant()
    epsilon = mechanism.epsilon * facts.rows * steps / mechanism.factor
    return groups * mechanism.picks, (PrivacyEvent("pure", epsilon),) * mechanism.picks


def _counted(request: Any, mechanism: Any, facts: Facts) -> tuple[int, int]:
    """Return in how many groups is picked, and the largest L1 move of one row."""
    if not request.keys or request.keys[-1].size != mechanism.size:
        raise refuse("a pick is among the cells of its last key")
    low, high = facts.range_of(request.value, request.where)
    part = Part(request, mechanism, max(abs(low), abs(high)), high - low)
    moves = Frame((part,), facts.membership(request)).moves(facts)
    return cells_of(request.keys[:-1]), max(sum(part.shifts(kind)) for move in moves for part, kind in move)


def _overlapping(request: Any, mechanism: PermuteAndFlip, facts: Facts) -> tuple[int, int]:
    """Return that there is one group, and by how much one row can move two candidates apart."""
    pairs = tuple((0, place) for place in range(1, mechanism.size + 1))
    if request.values[:1] != (Lit(1),) or request.pairs != pairs or request.shrink is not None:
        raise refuse("a pick is among the products of 1 and each candidate")
    ends = [facts.ends(value) for value in request.values[1:]]
    widths = sorted(high - low for low, high in ends)
    entering = max(0, *(high for _, high in ends)) - min(0, *(low for low, _ in ends))
    if not facts.changed:
        return 1, entering
    return 1, max(sum(widths[-2:]), entering if facts.private(request) else 0)
