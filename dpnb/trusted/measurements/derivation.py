"""The loss of a list of measurements: the only price.

The kind of a measurement follows from its request and its mechanism; there are no others than those of the tables below and in
:mod:`.selections`. Additive parts that keep
the same rows are priced together, at the worst single move, and so are those that keep no row in common; everything else composes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpnb.trusted.aggregate.algebra import CrossMoments, Total
from dpnb.trusted.measurements import box, sums
from dpnb.trusted.measurements.facts import Facts, Measurement, refuse, same_cells
from dpnb.trusted.measurements.products import joint_event
from dpnb.trusted.measurements.selections import ALONE
from dpnb.trusted.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpnb.trusted.privacy.accountant import whole
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.measure import Measure

Events = tuple[PrivacyEvent, ...]

_NOISE: Final = (DiscreteLaplace, DiscreteGaussian)
SUMS: Final = {(Total, noise) for noise in _NOISE}
MATRICES: Final = {(CrossMoments, noise) for noise in _NOISE}
"""Kinds of which parts are priced together."""
_KINDS: Final = {*ALONE, *SUMS, *MATRICES}


def events(measurements: Sequence[Measurement], facts: Facts) -> Events:
    """Return what measurements cost together: events, derived from what they ask and from the public facts.

    Parameters
    ----------
    measurements : sequence of Measurement
        Requests and mechanisms; nothing that they say of sensitivities is read.
    facts : Facts
        Privacy unit, code ranges, and which columns can be missing.

    Returns
    -------
    tuple of PrivacyEvent
        Those of what is priced one by one in their order, then of sums, then of matrices.

    Raises
    ------
    PlanError
        For a measurement of no kind, out of its public range, or of zero sensitivity.
    """
    kinds = [(type(one.request), type(one.mechanism)) for one in measurements]
    if not _KINDS.issuperset(kinds):
        raise refuse("its request and its mechanism are of no kind")
    found = [
        event
        for one, kind in zip(measurements, kinds, strict=True)
        if kind in ALONE
        for event in _alone(one, facts.capped(one.request.where))
    ]
    parts = [sums.Part.of(one, facts) for one, kind in zip(measurements, kinds, strict=True) if kind in SUMS]
    matrices = [
        box.Moments.of(one, facts) for one, kind in zip(measurements, kinds, strict=True) if kind in MATRICES
    ]
    for frames in sums.apart_from_each_other(sums.frames(parts, facts), facts):
        found += _together(frames, facts)
    return (*found, *(box.event(matrix, facts) for matrix in box.matrices(matrices)))


def _alone(measurement: Measurement, facts: Facts) -> Events:
    """Return the events of a measurement that is priced by itself."""
    request, mechanism = measurement.request, measurement.mechanism
    cells, found = ALONE[type(request), type(mechanism)](request, mechanism, facts)
    same_cells(measurement, cells)
    return found


def _together(frames: Sequence[sums.Frame], facts: Facts) -> list[PrivacyEvent]:
    """Return the events of frames that are apart: one by one, or at their worst move together where that is less."""
    single = [_cheaper(frame, facts) for frame in frames]
    if len(frames) == 1:
        return single
    joint = [sums.Apart(tuple(frames)).event(facts)]
    return joint if whole(joint, facts.measure).amount < whole(single, facts.measure).amount else single


def _cheaper(frame: sums.Frame, facts: Facts) -> PrivacyEvent:
    """Return the event of a frame by the lower of two bounds that both hold: of less ε or ρ, and at equal ε of less ρ."""
    plain, joint = frame.event(facts), joint_event(frame, facts)
    if joint is None or plain.amount != joint.amount:
        return plain if joint is None or plain.amount < joint.amount else joint
    if plain.kind == "gaussian" or facts.measure is Measure.PURE:
        return joint
    return min(joint, plain, key=lambda event: event.loss(facts.measure).amount)
