"""The model builder: y and x of a regression become the cell that asks its moments once and reads the regression from them.

It writes text and prices it; nothing is asked of the data. Where moments that cover the columns are released and still held
under a name, the cell reads from those and is free.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from dpnb.cards.markup import clean
from dpnb.client.assumptions import Assumed, pending_matrix
from dpnb.client.handles import Dataset
from dpnb.client.matrix_plan import MatrixPlan, matrix_plan
from dpnb.client.plan_view import PlanView
from dpnb.errors import DpnbError, OptionError, PlanError
from dpnb.estimate import Estimate
from dpnb.planner.question import Question
from dpnb.planner.request import Ask
from dpnb.statistics._base import SOME_ROWS, who
from dpnb.statistics.formula import parse
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.plan import Share
from dpnb.widgets.host_questions import opening
from dpnb.widgets.questions import quoted
from dpnb.widgets.registry import Facts, Names

_LOSS = {"epsilon": "0.5", "rho": "0.05"}
LEVEL = 0.95
_STUDIES = 20
"""So many releases are simulated while a loss is typed: a fifth of a second for three columns."""
_HOW = 'Choose one y and at least one x: hiv.ols("got ~ age + any").'


def model(dataset: Dataset, name: str, asked: Names, held: Iterable[tuple[str, Estimate]] = ()) -> Facts:
    """Return the cell of a regression, what it costs, and what is known of its accuracy.

    Parameters
    ----------
    dataset : Dataset
    name : str
        What the notebook calls it.
    asked : mapping
        ``y``, a column; ``x``, a list of columns; ``loss``, what to pay for the moments.
    held : iterable of (str, Estimate)
        Names of released estimates in the notebook.

    Returns
    -------
    dict
        ``cell``, ``cost`` in words, ``free``, ``fits``, ``words`` on it, and the ``problem`` if there is one. Before moments are bought also the expected
        ``width`` of the interval of each of the ``coefficients`` (nothing where it would be unbounded), what it is ``given``, and a
        ``warning``.

    Raises
    ------
    PlanError
        When y or x is missing or no column.
    """
    y, x = _columns(dataset, asked)
    formula = _formula(y, x)
    known = list(held)
    found = _covering(dataset, {y, *x}, known)
    if found is not None:
        words = f"read from {found}, which is released: any regression on its columns is free"
        return _found(f"fit = {found}.ols({formula})\nfit", cost="free", words=words, free=True)
    columns = [column for column in dataset.schema.names if column in {y, *x}]
    taken = {label for label, _ in known}
    moments = next(label for label in ("zz", *(f"zz{i}" for i in range(2, 10_000))) if label not in taken)
    return _priced(dataset, columns, asked.get("loss"), (moments, name, formula))


def _columns(dataset: Dataset, asked: Names) -> tuple[str, list[str]]:
    y, x = asked.get("y"), asked.get("x")
    if not isinstance(y, str) or not isinstance(x, list | tuple) or not x:
        raise PlanError(_HOW)
    unknown = [one for one in (y, *x) if one not in dataset.schema.names]
    if unknown:
        raise PlanError(f"{dataset.name} has no column {unknown[0]!r}. {_HOW}")
    if y in x or len(set(x)) < len(x):
        raise PlanError("A column occurs once in a regression: as y, or as one x.")
    return y, list(x)


def _formula(y: str, x: Sequence[str]) -> str:
    """Return the formula as it is typed; a column that a formula cannot name is refused."""
    text = f"{y} ~ {' + '.join(x)}"
    try:
        named = parse(text).columns
    except OptionError:
        named = ()
    if named != (y, *x) or set(text) & set("()[]{}"):
        raise PlanError("A formula cannot name one of these columns: give it a name of letters and digits.")
    return quoted(text)


def _covering(dataset: Dataset, columns: set[str], held: Sequence[tuple[str, Estimate]]) -> str | None:
    """Return the name of released moments of all rows that hold these columns; of several, the narrowest."""
    found = []
    for label, estimate in held:
        one = estimate.measurement
        if one is None or estimate.pending or one.dataset is not dataset:
            continue
        if replace(one.question, target=None, others=()) != Question(dataset.name, "moments"):
            continue  # another question, other rows, or rows that were moved
        names = set(one.checked.setting.names)
        if columns <= names and label.isidentifier():
            found.append((len(names), label))
    return min(found)[1] if found else None


def _priced(dataset: Dataset, columns: Sequence[str], loss: object, names: tuple[str, str, str]) -> Facts:
    """The cell that asks the moments, priced by the session; a refusal is told beside the cell."""
    moments, handle, formula = names
    unit = "epsilon" if dataset.schema.budget.measure is Measure.PURE else "rho"
    text = _LOSS[unit] if loss is None or loss == "" else str(loss).strip()
    listed = ", ".join(map(quoted, columns))
    cell = f"%%dp {unit}={text}\n{opening(dataset)}{moments} = {handle}.moments({listed})\nfit = {moments}.ols({formula})\nfit"
    try:
        asked = dataset.moments(*columns)
        view = dataset.session.preview([asked], _ask(unit, text))
    except DpnbError as error:
        return _found("", cost="", words="", problem=str(error).splitlines()[0])
    free = not view.cost
    problem = "" if view.fits else f"Only {view.left.brief('down')} is left: this would be refused."
    cost = f"stored · {view.cost}" if free else str(view.cost)
    return _found(cell, cost=cost, words="", free=free, problem=problem) | _foretold(
        dataset, columns, formula, view
    )


def _foretold(dataset: Dataset, columns: Sequence[str], formula: str, view: PlanView) -> Facts:
    """Return the ± that each coefficient would have, simulated from assumed spreads, and a warning where nothing would bound some."""
    checked, share = view.items[0].checked, view.items[0].share
    if share is None:
        return {}
    setting, n = checked.setting, dataset.session.sizes(dataset).rows_of(checked) or SOME_ROWS
    plan = _simulated(dataset, tuple(columns), formula, n, view.held[0] if view.stored[0] else share)
    widths = zip(plan.keys, np.ravel(plan.half_widths), strict=True)
    return {
        "coefficients": [{"name": clean(name), "width": _bounded(float(width))} for name, width in widths],
        "given": f"for about {n:,} {who(setting.unit)}; {plan.assumed}",
        "warning": plan.warning,
    }


def _bounded(width: float) -> float | None:
    return width if math.isfinite(width) else None


@lru_cache(maxsize=64)  # somebody who types a loss comes back to the losses between
def _simulated(dataset: Dataset, columns: tuple[str, ...], formula: str, n: int, share: Share) -> MatrixPlan:
    moments: Any = dataset.moments(*columns)
    reading = pending_matrix(moments.coefficients(json.loads(formula)))
    assert reading is not None
    return matrix_plan(reading, Assumed(None, None, None, None), n, share, LEVEL, _STUDIES)


def _ask(unit: str, text: str) -> Ask:
    return Ask.make(epsilon=text) if unit == "epsilon" else Ask.make(rho=text)


def _found(cell: str, *, cost: str, words: str, free: bool = False, problem: str = "") -> Facts:
    return {"is": "model", "cell": cell, "cost": cost, "words": words, "free": free, "problem": problem}
