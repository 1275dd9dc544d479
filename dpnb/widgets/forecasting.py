"""What paying more for a released number would buy: the facts, for the widget and for the card that grows it in place.

Priced curves, released numbers and public constants; nothing here draws, spends or reads a row. A question whose accuracy
public facts do not give is refused in the words that say why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dpnb.cards.facts import line_of
from dpnb.cards.trail import paid_for, trail_of
from dpnb.errors import PlanError
from dpnb.release import Estimate, Measurement
from dpnb.widgets.curve import Curves, kind_of, left_of, needs_size, question_of

__all__ = ["answer_of", "forecast", "holder"]


def answer_of(estimate: Any) -> Measurement:
    """Return the one released question of an estimate that is one number.

    Raises
    ------
    PlanError
        If it is pending, public, a vector, or made of several.
    """
    question = question_of(estimate)
    if not question.releases or not isinstance(estimate, Estimate):
        raise PlanError("Only a released answer can be measured again. Release it first: %%dp epsilon=1.")
    if estimate.shape != ():
        raise PlanError(
            "This draws one number; remeasure a vector in a cell: by = by.remeasure(epsilon=0.5)."
        )
    return question


def forecast(estimate: Estimate, name: str, curves: Curves) -> dict[str, Any]:
    """Return what the browser needs to draw it, as strict JSON.

    Parameters
    ----------
    estimate : Estimate
        Released, one number of one question.
    name : str
        What it is called in the notebook.
    curves : Curves
        Where priced curves are kept.
    """
    question = answer_of(estimate)
    if question.dataset is None:
        raise PlanError("This answer was loaded without its dataset: open the dataset, and ask again.")
    kind = kind_of(question)
    trail = trail_of(question)
    if not trail:
        raise PlanError(f"{question.text} has no bounded privacy interval to narrow.")
    paid = paid_for(tuple({release.id: release for release in question.releases}.values()))
    return {
        "name": name,
        "question": question.text,
        "kind": kind,
        "symbol": "ε" if kind == "epsilon" else "ρ",
        "value": float(estimate.value),
        "trail": [step.to_json() for step in trail],
        "curve": curves.of(question, kind, _size(estimate, question)).to_json(),
        "left": left_of(question),
        "paid": float(paid.amount),
        "problem": "",
    }


def _size(estimate: Estimate, question: Measurement) -> int | None:
    """Return the released number of people, where the accuracy depends on a private one."""
    if not needs_size(question):
        return None
    n = line_of(estimate, record=False).entries[0].n
    if n is None or not math.isfinite(n):
        raise PlanError(f"How many people {question.text} is about is not known: there is no forecast.")
    return max(1, round(n))


def holder(
    held: Sequence[tuple[str, Estimate]], name: str, releases: Sequence[str]
) -> tuple[str, Estimate] | None:
    """Return the name that holds the answer with these releases, and the answer; None where none does.

    Parameters
    ----------
    held : sequence of (str, Estimate)
        The named estimates of a notebook.
    name : str
        The one to prefer, where several names hold it.
    releases : sequence of str
        The ids of its releases.
    """
    wanted = set(releases)
    found = [
        (called, one)
        for called, one in held
        if one.measurement is not None and {release.id for release in one.releases} == wanted
    ]
    return next((pair for pair in found if pair[0] == name), found[0] if found else None)
