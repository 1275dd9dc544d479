r"""Sums in a private range: two selections, and sums whose noise is as wide as the range that they chose.

The middle is a selection by the ranks of the values, the radius one by the ranks of the distances from the middle, which are computed row by
row: both cost what a quantile does (:mod:`dpnb.trusted.measurements.quantile`). Given the range, a row adds at most h to the sum, t to the squares, 1 to the rows
outside and 1 to the number of rows, and changes them by at most 2h, t, 1 and 0, under noise in units of h and t
(:class:`~dpnb.trusted.mechanisms.located_sums.LocatedSums`, *Guarantee*): in units of the noise that is a frame of four sums
(:mod:`dpnb.trusted.measurements.sums`), whatever the range is. In ρ the frame is priced in a range of one step, h = t = 1: at equal ε the
charge falls with the scale. Adaptive composition adds the three.

*Enumerated* over tiny neighbouring tables: ``test_no_neighbours_change_a_selection_more_than_derived`` (*sums in a range …*).
"""

from __future__ import annotations

from fractions import Fraction

from dpnb.trusted.aggregate.algebra import Lit, Total, ValueCounts, cells_of
from dpnb.trusted.measurements.facts import Facts, Priced
from dpnb.trusted.measurements.quantile import on_grid, selection_event
from dpnb.trusted.measurements.sums import Frame, Part
from dpnb.trusted.mechanisms import DiscreteLaplace, LocatedSums


def events(request: ValueCounts, mechanism: LocatedSums, facts: Facts) -> Priced:
    """Return the events of both selections and of the sums."""
    on_grid(request, mechanism.steps, facts)
    chosen = (selection_event(one, request, facts) for one in (mechanism.middle, mechanism.radius))
    return cells_of(request.keys) * mechanism.width, (*chosen, frame(request, mechanism, facts).event(facts))


def frame(request: ValueCounts, mechanism: LocatedSums, facts: Facts) -> Frame:
    """Return the four sums in a range of one step: what a row adds, and changes."""
    asked = Total(Lit(1), request.where, request.keys)

    def part(scale: Fraction, within: int) -> Part:
        return Part(asked, DiscreteLaplace(scale), 1, within)

    paid = (part(mechanism.sum_scale, 2), part(mechanism.square_scale, 1), part(mechanism.outside_scale, 1))
    counted = () if mechanism.count_scale is None else (part(mechanism.count_scale, 0),)
    return Frame((*paid, *counted), facts.membership(request))
