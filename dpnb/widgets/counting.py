"""One promise counted two ways: by adding ε, and by zCDP. What each way takes of it says what the tighter one saves.

The numbers are the accountant's: an event costs what :class:`~dpnb.trusted.privacy.event.PrivacyEvent` charges for it, and ρ becomes ε
by :func:`~dpnb.trusted.privacy.accountant.epsilon_of`, always with the δ at which that holds. It is a display: the ledger counts in its
own measure, whatever is shown here. The browser computes the same (``labextension/src/maths/composition.ts``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import atanh
from typing import Any

from dpnb.errors import LossError
from dpnb.trusted.privacy.accountant import Budget, compose, epsilon_of, rho_for
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss, rational
from dpnb.trusted.privacy.measure import Measure

Event = Sequence[Any]
"""A kind of privacy event, its amount, its δ, how many there were, and the moves of a ``laplace`` event."""

#: The δ that can be chosen where the budget names none.
DELTAS = (1e-5, 1e-6, 1e-9)


@dataclass(frozen=True, slots=True)
class Promise:
    """A budget as both ways of counting see it; None is what follows from the other at a chosen δ."""

    epsilon: float | None
    rho: float | None
    delta: float | None


def listed(events: Iterable[PrivacyEvent]) -> list[list[Any]]:
    """Return events as pictures take them: ``[kind, amount, δ, how many]``, and the moves of Laplace noise."""
    return [
        [one.kind, float(one.amount), float(one.delta), times, *([_moves(one)] if one.moves else [])]
        for one, times in Counter(events).items()
    ]


def _moves(event: PrivacyEvent) -> list[list[list[float]]]:
    return [[[float(shift), float(scale)] for shift, scale in move] for move in event.moves]


def counting(
    budget: Budget, events: Iterable[PrivacyEvent], spent: PrivacyLoss, cap: PrivacyLoss | None = None
) -> dict[str, Any]:
    """Return what a picture needs to count some events both ways under a budget.

    Parameters
    ----------
    budget : Budget
        An ε, a ρ, or (ε, δ).
    events : iterable of PrivacyEvent
        What was charged, as far as the reader may see it.
    spent : PrivacyLoss
        What was charged in all: of others, and of other datasets under the same budget, a reader sees the total alone.
    cap : PrivacyLoss, optional
        What may be spent in all, where that is less than the budget.
    """
    promise, seen = _promise(budget, budget.cap if cap is None else cap), tuple(events)
    return {
        "kept": "adding" if budget.measure is Measure.PURE else "zcdp",
        "epsilon": promise.epsilon,
        "rho": promise.rho,
        "delta": promise.delta,
        "deltas": list(DELTAS) if promise.delta is None else [promise.delta],
        "events": listed(seen),
        "whole": compose(seen, budget.measure).amount == spent.amount,
    }


def _promise(budget: Budget, cap: PrivacyLoss) -> Promise:
    if budget.measure is Measure.PURE:
        return Promise(float(cap.amount), None, None)
    if budget.measure is Measure.ZCDP:
        return Promise(None, float(cap.amount), None)
    words = {name: rational(text) for name, text in budget.asked_as.items()}
    delta = words["delta"] - budget.cap.delta  # the rest of δ is for the events' own
    epsilon = float(words["epsilon"]) if cap.amount == budget.cap.amount else None
    return Promise(epsilon, float(cap.amount), float(delta))


def rho_of(events: Sequence[Event]) -> float:
    """Return the ρ of some events together.

    Examples
    --------
    >>> round(rho_of([["pure", 1.0, 0.0, 1], ["gaussian", 0.25, 0.0, 2]]), 3)
    0.962
    """
    return float(sum((_loss(event, Measure.APPROX_ZCDP) * event[3] for event in events), Fraction(0)))


def added(events: Sequence[Event], delta: float) -> float:
    """Return the ε of some events by adding: each Gaussian one alone at an equal part of δ, every other at its own ε.

    Examples
    --------
    >>> added([["pure", 0.5, 0.0, 2]], 1e-6)
    1.0
    """
    gaussian = sum(event[3] for event in events if event[0] == "gaussian")
    total = Fraction(0)
    for kind, amount, _, times, *_ in events:
        alone = epsilon_of(amount, rational(delta) / gaussian) if kind == "gaussian" else rational(amount)
        total += alone * times
    return float(total)


def _loss(event: Event, measure: Measure) -> Fraction:
    kind, amount, delta, _, *moves = event
    if moves:
        listed_moves = [[(rational(a), rational(b)) for a, b in move] for move in moves[0]]
        return PrivacyEvent.laplace(listed_moves).loss(measure).amount
    return compose([PrivacyEvent(kind, rational(amount), rational(delta))], measure).amount


def compared(
    epsilon: float | None, rho: float | None, events: Sequence[Event], delta: float
) -> dict[str, float | None]:
    """Count some events by adding and by zCDP, under one promise.

    Parameters
    ----------
    epsilon, rho : float or None
        The promise; one of them may follow from the other at `delta`.
    events : sequence of Event
        What was charged.
    delta : float
        The δ of the conversion.

    Returns
    -------
    dict
        ``epsilon`` and ``rho`` of the promise, what was ``added`` and the ``rhos``, and which part of the promise each
        takes; ``even`` is the ε of one release that takes the same part either way. None where δ leaves no ρ.
    """
    if epsilon is None:
        epsilon = float(epsilon_of(rho or 0.0, delta))
    if rho is None:
        try:
            rho = float(rho_for(epsilon, delta))
        except LossError:
            rho = None
    by_adding, by_rho = added(events, delta), rho_of(events)
    return {
        "epsilon": epsilon,
        "rho": rho,
        "added": by_adding,
        "rhos": by_rho,
        "adding": by_adding / epsilon if epsilon else None,
        "zcdp": None if rho is None else by_rho / rho,
        "even": None if rho is None or rho >= epsilon else 2 * atanh(rho / epsilon),
    }
