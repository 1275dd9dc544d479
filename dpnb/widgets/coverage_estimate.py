"""From an estimate to a simulation of it: the same statistic, size, bounds and loss, on a population that somebody declares.

What is taken are public facts: the question, its columns' bounds and steps, what was paid, and numbers that were released. No row
is touched, nothing is asked of the curator, and nothing is spent. What is not public, the shape of the rows, is what the sliders
declare.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from dpnb.errors import DpnbError, PlanError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.planner.expression import Ref
from dpnb.trusted.privacy.loss import floored_digits, parse_exact
from dpnb.trusted.schema import Column
from dpnb.widgets.coverage_setup import LARGE, MOST
from dpnb.widgets.curve import question_of
from dpnb.widgets.host_questions import text_of
from dpnb.widgets.scenes import Asked, Kind

_KINDS: dict[str, Kind] = {
    "mean": "number",
    "sum": "number",
    "count": "share",
    "variance": "number",
    "std": "number",
    "quantile": "number",
    "difference": "arms",
    "covariance": "pair",
    "correlation": "pair",
}
_DEFAULT = 0.5
_FAR = 0.45


@dataclass(frozen=True, slots=True)
class Subject:
    """What a lab simulates that was started from an estimate.

    Parameters
    ----------
    asked : Asked
        The question: its text, its statistic and options.
    kind : str
        The kind of population that it is asked of.
    grids : tuple
        The public grids of its columns.
    missing : float or None
        The share of rows without a value, from released numbers; nothing where none can be missing.
    n : int
        Rows of a study: the public number of rows, or the released one.
    loss : (str, float) or None
        What was paid, where it is paid.
    start : dict
        Where the sliders stand at first.
    words : str
        Where the facts come from.
    """

    asked: Asked
    kind: Kind
    grids: tuple[tuple[tuple[str, Any], ...], ...]
    missing: float | None
    n: int
    loss: tuple[str, float] | None
    start: dict[str, float]
    words: str

    @property
    def most(self) -> int:
        """The most rows that are simulated: of pairs with missing values those that are drawn one by one."""
        return LARGE if self.kind == "pair" and self.missing is not None else MOST["n"]


def subject_of(estimate: Estimate, n: int | None = None) -> Subject:
    """Return what is simulated for an estimate.

    Parameters
    ----------
    estimate : Estimate
        One number, of one base question; released or not.
    n : int, optional
        Rows to plan with where neither the schema nor a release says how many there are.

    Raises
    ------
    PlanError
        For a vector, an estimate that was computed from others, or a statistic that the lab does not simulate.
    """
    question = question_of(estimate)
    statistic = question.checked.statistic
    if statistic not in _KINDS or estimate.shape != ():
        raise PlanError(
            f"The lab watches one number at a time, a {', '.join(list(_KINDS)[:-1])} or {list(_KINDS)[-1]}; "
            f"{question.text} is none of these. See dpnb.simulate.coverage for vectors."
        )
    unit = question.dataset.schema.unit
    if unit.unit != "row":
        raise PlanError(
            f"{question.text} protects people with several rows each, and the lab simulates one row a person. "
            "See dpnb.audit for whole people."
        )
    columns = _columns(question)
    kind: Kind = "share" if _KINDS[statistic] == "number" and _flag(columns[0]) else _KINDS[statistic]
    rows, known = unit.rows, _known(estimate)
    size = _size(question, n, rows, known)
    missing = _missing(question, rows if rows is not None and n is None else size, known)
    options = {name: _plain(value) for name, value in question.question.options}
    adjacency = "add-remove" if question.checked.kind.target == "none" else unit.adjacency
    asked = Asked(
        text_of(question), (kind,), statistic, MappingProxyType({**options, "adjacency": adjacency})
    )
    grids = tuple(_grid(column) for column in columns)
    return Subject(
        asked,
        kind,
        grids,
        missing,
        size,
        _paid(question),
        _start(estimate, question, kind),
        _words(question, size),
    )


def _columns(question: PendingQuestion) -> list[Column]:
    """Return the columns that are summarised: each as the schema declares it."""
    plan, schema = question.question, question.dataset.schema
    found = []
    for expression in (plan.target, plan.other):
        if expression is None:
            continue
        if not isinstance(expression, Ref):
            raise PlanError(
                f"{question.text} computes with columns before it summarises them. The lab takes bounds from one "
                "column as it is declared: dpnb.simulate.coverage takes any population."
            )
        found.append(schema[expression.column])
    return found or [Column.category("x", [0, 1])]


def _flag(column: Column) -> bool:
    return column.values is not None and tuple(column.values) == (0, 1)


def _grid(column: Column) -> tuple[tuple[str, Any], ...]:
    if _flag(column):
        return (("name", column.name),)
    low, high = column.bounds
    step = column.declared_step or Fraction(1)
    found = {"lower": _plain(low), "upper": _plain(high), "step": _text(step), "name": column.name}
    return tuple(found.items())


def _known(estimate: Estimate) -> float | None:
    """Return how many rows the release says that it is about."""
    try:
        found = float(estimate.n)
    except (DpnbError, TypeError, ValueError):
        return None
    return found if math.isfinite(found) and found >= 1 else None


def _size(question: PendingQuestion, n: int | None, rows: int | None, known: float | None) -> int:
    found = n if n is not None else rows if rows is not None else known
    if found is None:
        raise PlanError(
            f"How many rows {question.text} is about is private. Say how many to plan with: coverage_lab(estimate, n=1000)."
        )
    return max(10, round(found))


def _missing(question: PendingQuestion, rows: int, known: float | None) -> float | None:
    """Return the share of the rows that the question leaves out: by a filter, or for want of a value."""
    setting = question.checked.setting
    if not setting.private or setting.unit.adjacency != "change-one" or setting.target is None:
        return None if setting.target is None or not setting.target.nullable else 0.0
    return 0.0 if known is None else round(min(max(1 - known / rows, 0.0), 0.99), 3)


def _paid(question: PendingQuestion) -> tuple[str, float] | None:
    """Return the kind of loss that buys an answer's noise, and how much of it, to six digits: what a lab can be asked."""
    kinds = {release.share_kind for release in question.releases}
    if len(kinds) != 1:
        return None
    paid = sum((parse_exact(release.share) for release in question.releases), Fraction(0))
    return kinds.pop(), float(floored_digits(paid, 6))


def _start(estimate: Estimate, question: PendingQuestion, kind: Kind) -> dict[str, float]:
    """Return where the sliders stand: at what was released, where a release says something about the shape."""
    if estimate.pending or not math.isfinite(float(estimate.value)):
        return {}
    value, statistic = float(estimate.value), question.checked.statistic
    low, high = (float(end) for end in question.checked.domain)
    if statistic == "mean" and kind == "share":
        return {"share": round(min(max(value, 0.001), 0.999), 3)}
    if statistic in ("mean", "quantile") and high > low:
        return {"skew": round(min(max((0.5 - (value - low) / (high - low)) / _FAR, -1.0), 1.0), 2)}
    if statistic == "difference":
        effect = value / max(abs(low), abs(high), 1e-300)
        return {"share": round(min(max(0.5 - effect / 2, 0.02), 0.98), 3), "effect": round(effect, 3)}
    if statistic == "correlation":
        return {"effect": round(min(max(value, -0.9), 0.9), 2)}
    return {}


def _words(question: PendingQuestion, size: int) -> str:
    paid = "as it was paid" if question.releases else "not paid yet"
    return f"{text_of(question)}: {size:,} rows, bounds and steps as declared, {paid}. The distribution of the rows is assumed: choose it."


def _plain(value: object) -> object:
    """Return a number as it is typed."""
    if not isinstance(value, Fraction):
        return value
    if value.denominator == 1:
        return int(value)
    return float(value) if Fraction(str(float(value))) == value else str(value)


def _text(step: Fraction) -> int | str:
    return int(step) if step.denominator == 1 else str(step)
