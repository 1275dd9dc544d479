r"""Counts of values that many rows have: noise, and a threshold below which nothing is shown.

For a unit of k rows the guarantee is (k/scale, δ) where units come or go and (2k/scale, δ) where they change, δ being the probability that a
value which only the unit has is shown (:class:`~dpnb.trusted.mechanisms.thresholding.Thresholding`, *Guarantee*). k is the schema's, whatever the
mechanism says of its rows; a threshold that is not above k is refused.
"""

from __future__ import annotations

from dpnb.trusted.aggregate.algebra import ValueCounts
from dpnb.trusted.measurements.facts import Facts, Measurement, refuse, same_cells
from dpnb.trusted.mechanisms import Thresholding
from dpnb.trusted.privacy.event import PrivacyEvent


def events(measurement: Measurement, facts: Facts) -> tuple[PrivacyEvent, ...]:
    """Return the event of thresholded counts."""
    request, stated = measurement.request, measurement.mechanism
    assert isinstance(request, ValueCounts)
    assert isinstance(stated, Thresholding)
    same_cells(measurement, 1)
    if request.keys:
        raise refuse("frequent values are not counted by groups")
    mechanism = Thresholding(stated.scale, stated.threshold, facts.rows)
    return (PrivacyEvent("approximate", mechanism.epsilon(changed=facts.changed), mechanism.delta),)
