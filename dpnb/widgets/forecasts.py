"""What paying more for a released number would buy: the facts, for the widget and for the card that grows it in place.

Priced curves, released numbers and public constants; nothing here draws, spends or reads a row. A question whose accuracy
public facts do not give is refused in the words that say why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpnb.cards.markup import clean
from dpnb.cards.payments import least_certain, more_of, trail_of
from dpnb.errors import PlanError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.estimate.pending_question import paid_for
from dpnb.widgets.curve import Curves, kind_of, left_of, needs_size, question_of
from dpnb.widgets.host_questions import text_of
from dpnb.widgets.registry import Facts, Names


def answer_of(estimate: object) -> PendingQuestion:
    """Return the one released question of an estimate.

    Raises
    ------
    PlanError
        If it is pending, public, read from another, a vector without an entry that stands for it, or made of several.
    """
    question = question_of(estimate)
    if not question.releases or not isinstance(estimate, Estimate):
        raise PlanError("Only a released answer can be measured again. Release it first: %%dp epsilon=1.")
    if estimate.shape != () and not more_of(question):
        raise PlanError(
            "A vector has no single number to show here. Measure it again in a cell: by = by.remeasure(epsilon=0.5)."
        )
    return question


def forecast(estimate: Estimate, name: str, curves: Curves) -> Facts:
    """Return what the browser needs to draw it, as strict JSON.

    Parameters
    ----------
    estimate : Estimate
        Released: a number, or a short vector, which its least certain entry stands for.
    name : str
        What it is called in the notebook.
    curves : Curves
        Where priced curves are kept.
    """
    question = answer_of(estimate)
    if question.dataset is None:
        raise PlanError("This answer was loaded without its dataset: open the dataset, and ask again.")
    kind = kind_of(question)
    trail, place = trail_of(question), least_certain(question)
    if not trail or place is None:
        raise PlanError(f"{question.text} has no bounded privacy interval to narrow.")
    paid = paid_for(question.releases)
    return {
        "name": name,
        "question": text_of(question),
        "kind": kind,
        "symbol": "ε" if kind == "epsilon" else "ρ",
        "value": float(np.ravel(estimate.value)[place]),
        "entry": _entry(estimate, place),
        "trail": [step.to_json() for step in trail],
        "curve": curves.of(question, kind, _size(estimate, question, place)).to_json(),
        "left": left_of(question),
        "paid": float(paid.amount),
        "problem": "",
    }


def succeeded(estimate: Estimate, name: str, names: Names) -> Estimate:
    """Return the answer that a name holds by now in the place of another: the same question, with all its releases and more.

    Parameters
    ----------
    estimate : Estimate
        Released.
    name : str
        What it was called.
    names : mapping
        What the notebook's names hold.
    """
    now = names.get(name)
    if not isinstance(now, Estimate) or now.measurement is None or now.pending or now.text != estimate.text:
        return estimate
    before, after = ({release.id for release in one.releases} for one in (estimate, now))
    return now if before < after else estimate


def _entry(estimate: Estimate, place: int) -> str:
    """Say which entry of a vector is drawn; nothing of a single number."""
    if estimate.shape == ():
        return ""
    index = np.unravel_index(place, estimate.shape)
    keys = [f"{axis.name} {axis.keys[int(i)]}" for axis, i in zip(estimate.axes, index, strict=False)]
    return clean(", ".join(keys) or f"place {place}")


def _size(estimate: Estimate, question: PendingQuestion, place: int) -> int | None:
    """Return the released number of people, where the accuracy depends on a private one."""
    if not needs_size(question):
        return None
    sizes = estimate.n
    n = None if sizes is None else float(np.ravel(sizes)[place])
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
