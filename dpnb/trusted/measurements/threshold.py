r"""Counts of values that many rows have: noise, and a threshold below which nothing is shown.

For a unit of k rows the guarantee is (k/scale, δ) where units come or go and (2k/scale, δ) where they change, δ being the probability that a
value which only the unit has is shown (:class:`~dpnb.trusted.mechanisms.thresholding.Thresholding`, *Guarantee*). k is the schema's, whatever the
mechanism says of its rows; a threshold that is not above k is refused. A row adds to each sum at most the largest absolute value of its
range, which interval arithmetic gives; it adds to one label alone, and to none where a number is missing, so that ε is k/scale and k times
each of these over its scale (:class:`~dpnb.trusted.mechanisms.thresholded_sums.ThresholdedSums`, *Guarantee*).

*Enumerated* over tiny neighbouring tables: ``test_no_neighbours_show_a_value_more_often_than_derived``, and with sums beside the counts
``test_no_neighbour_exceeds_the_price``.
"""

from __future__ import annotations

from dataclasses import replace

from dpnb.trusted.aggregate.algebra import LabelSums, ValueCounts
from dpnb.trusted.measurements.facts import Facts, Priced, refuse
from dpnb.trusted.mechanisms import Thresholding
from dpnb.trusted.privacy.event import PrivacyEvent


def events(request: ValueCounts | LabelSums, stated: Thresholding, facts: Facts) -> Priced:
    """Return the event of thresholded counts, and of the sums beside them."""
    if isinstance(request, ValueCounts) and request.keys:
        raise refuse("frequent values are not counted by groups")
    summed = request.values if isinstance(request, LabelSums) else ()
    tops = [max(map(abs, facts.ends(value))) for value in summed]
    if len(tops) != len(stated.sum_scales) or not all(tops):
        raise refuse("each sum is of a number that is not always nought, and has noise of its own")
    mechanism = replace(stated, rows=facts.rows)
    epsilon = mechanism.epsilon(tops, changed=facts.changed)
    return 1, (PrivacyEvent("approximate", epsilon, mechanism.delta),)
