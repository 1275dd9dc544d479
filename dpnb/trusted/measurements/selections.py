"""What is chosen rather than noised, and what is noised after a choice: quantiles, picks, placements, sums in a private range, frequent values.

Each is priced one by one. The proof of each stands at the function that returns its events.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpnb.trusted import mechanisms
from dpnb.trusted.aggregate.algebra import CrossMoments, LabelSums, Lit, Total, ValueCounts, cells_of
from dpnb.trusted.measurements.facts import Facts, Measurement, Priced, refuse
from dpnb.trusted.measurements.sums import Frame, Part, constant
from dpnb.trusted.privacy.event import PrivacyEvent

MOST_OFFSET = 2**48
_LONGEST = 2**1100  # a plan never has a denominator so long (dpnb.trusted.query.limits.MOST_BITS)
_ANY_NOISE = mechanisms.DiscreteLaplace(Fraction(1))  # of a part of which only the shifts are read


def quantile_events(request: ValueCounts, mechanism: mechanisms.QuantileSelection, facts: Facts) -> Priced:
    r"""Return the event of a quantile in every cell.

    Quantiles by the exponential mechanism or by permute-and-flip: by how much one person moves the scores of all cells together.

    With :math:`m = \max(q, 1-q)`, a row that comes or goes moves the scores of its cell by at most m, one that changes within its cell by at most 1,
    and one that changes its cell by at most m in each of two (:class:`~dpnb.trusted.mechanisms.exponential.QuantileSelection`, *Score*); a unit of k rows by k
    times that, d in all. The mechanism's weights fall by e/2 with each rank, e = ε/factor - 4·10⁻⁶, and its guarantee is d·e, and for the
    rounding of its weights less than d·4·10⁻⁶, since a unit touches at most 2d cells: together **ε·d/factor**, of bounded range. Permute-and-flip
    has the rate λ = ε/(2·factor), and scores of a cell that move both ways by d at most move apart by 2·d at most: λ·2·d, together
    **ε·d/factor** again, but not of bounded range (:class:`~dpnb.trusted.mechanisms.quantile_flip.QuantileFlip`, *Guarantee*).

    The values must be indices of the grid 0..steps. The offset is public, and padded with as many public rows, so that it moves no score; it is
    limited, as is the length of q, so that no arithmetic on ranks can fail on some table.

    *Enumerated* over tiny neighbouring tables: ``test_no_neighbours_change_a_selection_more_than_derived`` (*a quantile …*).
    """
    on_grid(request, mechanism.steps, facts)
    return cells_of(request.keys), (selection_event(mechanism, request, facts),)


def selection_event(
    mechanism: mechanisms.QuantileSelection, request: ValueCounts, facts: Facts
) -> PrivacyEvent:
    """Return the event of one selection by ranks."""
    if abs(mechanism.offset) > MOST_OFFSET or mechanism.q.denominator > _LONGEST or mechanism.steps < 1:
        raise refuse("a quantile has a grid of two points at least, and an offset of at most 2^48 rows")
    moved = facts.rows * score(mechanism.q, request, facts)
    flipped = isinstance(mechanism, mechanisms.QuantileFlip)
    return PrivacyEvent("pure" if flipped else "exponential", mechanism.epsilon * moved / mechanism.factor)


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


def pick_events(request: Total | CrossMoments, mechanism: mechanisms.PermuteAndFlip, facts: Facts) -> Priced:
    r"""Return the events of a pick, one for each.

    A pick from a short public list, by permute-and-flip: by how much one person moves the scores of candidates apart.

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
    if isinstance(request, Total):
        groups, steps = _counted(request, mechanism, facts)
    else:
        groups, steps = _overlapping(request, mechanism, facts)
    if not steps:
        raise constant()
    epsilon = mechanism.epsilon * facts.rows * steps / mechanism.factor
    return groups * mechanism.picks, (PrivacyEvent("pure", epsilon),) * mechanism.picks


def _counted(request: Total, mechanism: mechanisms.PermuteAndFlip, facts: Facts) -> tuple[int, int]:
    """Return in how many groups is picked, and the largest L1 move of one row."""
    if not request.keys or request.keys[-1].size != mechanism.size:
        raise refuse("a pick is among the cells of its last key")
    part = Part.of(Measurement("", request, _ANY_NOISE, cells_of(request.keys)), facts)
    moves = Frame((part,), facts.membership(request)).moves(facts)
    return cells_of(request.keys[:-1]), max(sum(part.shifts(kind)) for move in moves for part, kind in move)


def _overlapping(
    request: CrossMoments, mechanism: mechanisms.PermuteAndFlip, facts: Facts
) -> tuple[int, int]:
    """Return that there is one group, and by how much one row can move two candidates apart.

    The pairs of the request are compared with as many as it has: the size of a mechanism is a number that a message states, and counting
    up to it would stop the curator.
    """
    pairs = tuple((0, place) for place in range(1, len(request.pairs) + 1))
    ones = request.values[:1] == (Lit(1),) and request.pairs == pairs and len(pairs) == mechanism.size
    if not ones or request.shrink is not None:
        raise refuse("a pick is among the products of 1 and each candidate")
    ends = [facts.ends(value) for value in request.values[1:]]
    widths = sorted(high - low for low, high in ends)
    entering = max(0, *(high for _, high in ends)) - min(0, *(low for low, _ in ends))
    if not facts.changed:
        return 1, entering
    return 1, max(sum(widths[-2:]), entering if facts.private(request) else 0)


def placement_events(request: Total, mechanism: mechanisms.KSExponential, facts: Facts) -> Priced:
    r"""Return the events of a placement in every group, and of its check.

    A small synthetic sample by the Kolmogorov-Smirnov exponential mechanism, and the measured distance beside it.

    A row that comes, goes or changes within its group moves the score of one placement by at most 1, one that changes its group that of two
    (:class:`~dpnb.trusted.mechanisms.ks_exponential.KSExponential`, *Guarantee*); a unit of k rows k times that, d in all. The law falls by
    ε/(2·factor) with each step of the score: the placement costs **ε·d/factor**, of bounded range. Given the placements, D of each group
    is an integer that a step changes by at most the number of points: discrete Laplace noise of the mechanism's scale on one of them, or on two.

    The request counts rows, and its last key is the cells in their order, as many as have weights.

    *Enumerated* over tiny neighbouring tables: ``test_no_neighbours_change_a_selection_more_than_derived`` (*placements …*).
    """
    if request.value != Lit(1) or not request.keys or request.keys[-1].size != len(mechanism.places):
        raise refuse("a placement counts rows in the cells of its last key")
    groups = cells_of(request.keys[:-1])
    touched = 2 if facts.changed and groups > 1 else 1
    drawn = PrivacyEvent("exponential", mechanism.epsilon * facts.rows * touched / mechanism.factor)
    if not mechanism.check:
        return groups * len(mechanism.places), (drawn,)
    moved = (Fraction(mechanism.points * facts.rows), mechanism.check_scale)
    checked = PrivacyEvent.laplace([[moved] * touched])
    return groups * (len(mechanism.places) + 1), (drawn, checked)


def located_events(request: ValueCounts, mechanism: mechanisms.LocatedSums, facts: Facts) -> Priced:
    r"""Return the events of both selections and of the sums.

    Sums in a private range: two selections, and sums whose noise is as wide as the range that they chose.

    The middle is a selection by the ranks of the values, the radius one by the ranks of the distances from the middle, which are computed row by
    row: both cost what a quantile does (:func:`quantile_events`). Given the range, a row adds at most h to the sum, t to the squares, 1 to the rows
    outside and 1 to the number of rows, and changes them by at most 2h, t, 1 and 0, under noise in units of h and t
    (:class:`~dpnb.trusted.mechanisms.located_sums.LocatedSums`, *Guarantee*): in units of the noise that is a frame of four sums
    (:mod:`dpnb.trusted.measurements.sums`), whatever the range is. In ρ the frame is priced in a range of one step, h = t = 1: at equal ε the
    charge falls with the scale. Adaptive composition adds the three.

    *Enumerated* over tiny neighbouring tables: ``test_no_neighbours_change_a_selection_more_than_derived`` (*sums in a range …*).
    """
    on_grid(request, mechanism.steps, facts)
    chosen = (selection_event(one, request, facts) for one in (mechanism.middle, mechanism.radius))
    return cells_of(request.keys) * mechanism.width, (
        *chosen,
        located_frame(request, mechanism, facts).event(facts),
    )


def located_frame(request: ValueCounts, mechanism: mechanisms.LocatedSums, facts: Facts) -> Frame:
    """Return the four sums in a range of one step: what a row adds, and changes."""
    asked = Total(Lit(1), request.where, request.keys)

    def part(scale: Fraction, within: int) -> Part:
        return Part(asked, mechanisms.DiscreteLaplace(scale), 1, within)

    paid = (part(mechanism.sum_scale, 2), part(mechanism.square_scale, 1), part(mechanism.outside_scale, 1))
    counted = () if mechanism.count_scale is None else (part(mechanism.count_scale, 0),)
    return Frame((*paid, *counted), facts.membership(request))


def threshold_events(
    request: ValueCounts | LabelSums, stated: mechanisms.Thresholding, facts: Facts
) -> Priced:
    r"""Return the event of thresholded counts, and of the sums beside them.

    Counts of values that many rows have: noise, and a threshold below which nothing is shown.

    For a unit of k rows the guarantee is (k/scale, δ) where units come or go and (2k/scale, δ) where they change, δ being the probability that a
    value which only the unit has is shown (:class:`~dpnb.trusted.mechanisms.thresholding.Thresholding`, *Guarantee*). k is the schema's, whatever the
    mechanism says of its rows; a threshold that is not above k is refused. A row adds to each sum at most the largest absolute value of its
    range, which interval arithmetic gives; it adds to one label alone, and to none where a number is missing, so that ε is k/scale and k times
    each of these over its scale (:class:`~dpnb.trusted.mechanisms.thresholding.ThresholdedSums`, *Guarantee*).

    *Enumerated* over tiny neighbouring tables: ``test_no_neighbours_show_a_value_more_often_than_derived``, and with sums beside the counts
    ``test_no_neighbour_exceeds_the_price``.
    """
    if isinstance(request, ValueCounts) and request.keys:
        raise refuse("frequent values are not counted by groups")
    summed = request.values if isinstance(request, LabelSums) else ()
    tops = [max(map(abs, facts.ends(value))) for value in summed]
    if len(tops) != len(stated.sum_scales) or not all(tops):
        raise refuse("each sum is of a number that is not always zero, and has noise of its own")
    mechanism = replace(stated, rows=facts.rows)
    epsilon = mechanism.epsilon(tops, changed=facts.changed)
    return 1, (PrivacyEvent("approximate", epsilon, mechanism.delta),)


ALONE: Final[dict[tuple[type, type], Callable[[Any, Any, Facts], Priced]]] = {
    (ValueCounts, mechanisms.QuantileSelection): quantile_events,
    (ValueCounts, mechanisms.QuantileFlip): quantile_events,
    (Total, mechanisms.PermuteAndFlip): pick_events,
    (CrossMoments, mechanisms.PermuteAndFlip): pick_events,
    (Total, mechanisms.KSExponential): placement_events,
    (ValueCounts, mechanisms.LocatedSums): located_events,
    (ValueCounts, mechanisms.Thresholding): threshold_events,
    (LabelSums, mechanisms.Thresholding): threshold_events,
    (LabelSums, mechanisms.ThresholdedSums): threshold_events,
}
"""Kinds that are priced one by one, by request and mechanism."""
