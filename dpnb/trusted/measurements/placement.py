r"""A small synthetic sample by the Kolmogorov-Smirnov exponential mechanism, and the measured distance beside it.

A row that comes, goes or changes within its group moves the score of one placement by at most 1, one that changes its group that of two
(:class:`~dpnb.trusted.mechanisms.ks_exponential.KSExponential`, *Guarantee*); a unit of k rows k times that, d in all. The law falls by
ε/(2·factor) with each step of the score: the placement costs **ε·d/factor**, of bounded range. Given the placements, D of each group
is an integer that a step changes by at most the number of points: discrete Laplace noise of the mechanism's scale on one of them, or on two.

The request counts rows, and its last key is the cells in their order, as many as have weights.

*Enumerated* over tiny neighbouring tables: ``test_no_neighbours_change_a_selection_more_than_derived`` (*placements …*).
"""

from __future__ import annotations

from fractions import Fraction

from dpnb.trusted.aggregate.algebra import Total, cells_of
from dpnb.trusted.measurements.facts import Facts, Priced, of_ones, refuse
from dpnb.trusted.mechanisms import KSExponential
from dpnb.trusted.privacy.event import PrivacyEvent


def events(request: Total, mechanism: KSExponential, facts: Facts) -> Priced:
    """Return the events of a placement in every group, and of its check."""
    if not of_ones(request) or not request.keys or request.keys[-1].size != len(mechanism.places):
        raise refuse("a placement counts rows in the cells of its last key")
    groups = cells_of(request.keys[:-1])
    touched = 2 if facts.changed and groups > 1 else 1
    drawn = PrivacyEvent("exponential", mechanism.epsilon * facts.rows * touched / mechanism.factor)
    if not mechanism.check:
        return groups * len(mechanism.places), (drawn,)
    moved = (Fraction(mechanism.points * facts.rows), mechanism.check_scale)
    checked = PrivacyEvent.laplace([[moved] * touched])
    return groups * (len(mechanism.places) + 1), (drawn, checked)
