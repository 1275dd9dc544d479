"""One promise counted two ways: by adding ε, and by zCDP. What each way takes of it says what the tighter one saves.

The numbers are the accountant's: an event costs what :class:`~dpnb.trusted.privacy.event.PrivacyEvent` charges for it, and ρ becomes ε
by :func:`~dpnb.trusted.privacy.accountant.epsilon_of`, always with the δ at which that holds. It is a display: the ledger counts in its
own measure, whatever is shown here. The page counts (``labextension/src/maths/composition.ts``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpnb.trusted.privacy.accountant import Budget, compose
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss, rational
from dpnb.trusted.privacy.measure import Measure

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
