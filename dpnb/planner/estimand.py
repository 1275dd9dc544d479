"""What a question estimates, in words: the statistic, and the bounds to which the columns behind it are held.

A number beyond its declared bounds counts as at the bound, so that the answer is about values clamped to them: *mean of income clamped to
0–200,000*. What would be without the bounds no private answer can tell, since one person's value could lie anywhere.
"""

from __future__ import annotations

from fractions import Fraction

from dpnb.inference.digits import dated, given
from dpnb.planner.compile import is_condition, numeric
from dpnb.planner.expression import ClipTo, Expr, Ref, Where, cap_of, show, surely
from dpnb.planner.question import Question
from dpnb.statistics import Setting, Statistic
from dpnb.trusted.schema import Schema

_OF_NUMBERS = frozenset({"number", "pair", "weighted", "numbers"})


def estimand(question: Question, statistic: Statistic, setting: Setting, schema: Schema) -> str:
    """Return what is estimated where values are clamped to bounds; empty where none are.

    Parameters
    ----------
    question : Question
        What was asked.
    statistic : Statistic
        Its statistic.
    setting : Setting
        The question in integer terms.
    schema : Schema
        What was declared.
    """
    if statistic.target not in _OF_NUMBERS:
        return ""
    asked = [expr for expr in (question.target, question.other, *question.others) if expr is not None]
    if not any(_held(expr, schema) for expr in asked):
        return ""
    alone = [_alone(expr, schema) for expr in asked]
    return f"{statistic.said(setting.options)} of {' and '.join(alone)}"


def in_words(question: Question, statistic: Statistic, setting: Setting, schema: Schema) -> tuple[str, str]:
    """Return a question as it is said: *mean of age where any == 1*; and what its column means, empty where that is not declared.

    Parameters
    ----------
    question, statistic, setting, schema
        As of :func:`estimand`.
    """
    asked = [expr for expr in (question.target, question.other, *question.others) if expr is not None]
    parts = [statistic.said(setting.options), " of ", " and ".join(_plain(expr) for expr in asked) or "rows"]
    parts += [f" by {', '.join(_plain(key) for key in question.by)}"] if question.by else []
    cap, where = cap_of(question.where)
    parts += [f" where {_plain(where)}"] if where is not None else []
    parts += [f", at most {cap.most} row{'s' * (cap.most > 1)} of each {setting.unit.unit}"] if cap else []
    only = asked[0] if len(asked) == 1 else None
    means = schema[only.column].label if isinstance(only, Ref) else ""
    said = "".join(parts)
    return f"{said[0].upper()}{said[1:]}", means


def _plain(expr: Expr) -> str:
    """An expression without the dataset's name, and without brackets around all of it; of a choice when it is made."""
    if isinstance(expr, Where) and (when := surely(expr.condition)) is not None:
        return f"{_plain(expr.then)} if {_plain(when)}, else {_plain(expr.other)}"
    shown = show(expr, "")
    return shown[1:-1] if _enclosed(shown) else shown


def _enclosed(shown: str) -> bool:
    """Whether the first bracket of a text is closed by its last letter."""
    depth = 0
    for place, letter in enumerate(shown):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return place > 0 and place == len(shown) - 1
    return False


def _alone(expr: Expr, schema: Schema) -> str:
    """One number, and what it is clamped to; a computed one, and what its columns are clamped to."""
    if isinstance(expr, Ref):
        return _to_bounds(expr.column, schema) if _held(expr, schema) else expr.column
    if isinstance(expr, ClipTo) and isinstance(expr.operand, Ref):
        number = numeric(expr, schema)
        ends = [_told(end, number.calendar) for end in (number.lowest, number.highest)]
        return f"{expr.operand.column} clamped to {'–'.join(ends)}"
    held = [_to_bounds(name, schema) for name in expr.columns() if _bounded(name, schema)]
    shown = _plain(expr)
    return f"{shown}, with {', '.join(held)}" if held and _held(expr, schema) else shown


def _held(expr: Expr, schema: Schema) -> bool:
    """Whether a number is one that bounds can change: a condition, and a column of two values, are not."""
    return not is_condition(expr) and any(_bounded(name, schema) for name in expr.columns())


def _bounded(name: str, schema: Schema) -> bool:
    column = schema[name]
    return column.values is None and column.text is None and column.steps != (2 if column.halved else 1)


def _to_bounds(name: str, schema: Schema) -> str:
    low, high = (_told(end, schema[name].calendar) for end in schema[name].bounds)
    return f"{name} clamped to {low}–{high}"


def _told(end: Fraction, calendar: str | None) -> str:
    return given(float(end)) if calendar is None else dated(float(end), calendar)
