"""What a column expression means, said a second time: exact rationals, row by row, with None for missing.

It shares no code with the compiler: the tests hold the two against each other.
"""

from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction
from typing import Any

from dpnb.planner import expression as e

Value = Fraction | bool | str | dt.datetime | None


def meaning(expr: e.Expr, row: dict[str, Value]) -> Value:
    """The value of an expression on one row of declared values."""
    if isinstance(expr, e.Ref):
        return row[expr.column]
    if isinstance(expr, e.Const):
        return expr.value if isinstance(expr.value, str) else Fraction(expr.value)
    return _RULES[type(expr)](expr, row)


def _number(expr: e.Expr, row: dict[str, Value]) -> Fraction | None:
    value = meaning(expr, row)
    return None if value is None else Fraction(value)


def _arithmetic(expr: e.BinOp, row: dict[str, Value]) -> Fraction | None:
    first, second = _like(meaning(expr.left, row), meaning(expr.right, row))
    if first is None or second is None:
        return None
    if isinstance(first, dt.datetime):
        return Fraction((first - second).days)
    a, b = Fraction(first), Fraction(second)
    if expr.sign == "//":
        return Fraction(math.floor(a / b))
    return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}[expr.sign]()


def _compare(expr: e.Compare, row: dict[str, Value]) -> bool | None:
    a, b = _like(meaning(expr.left, row), meaning(expr.right, row))
    if a is None or b is None:
        return None
    if expr.sign == "==":
        return bool(a == b)
    if expr.sign == "!=":
        return bool(a != b)
    x, y = (a, b) if isinstance(a, dt.datetime) else (Fraction(a), Fraction(b))
    return {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[expr.sign]


def _like(a: Any, b: Any) -> tuple[Any, Any]:
    """A text beside a date is a date."""
    if isinstance(a, dt.datetime) and isinstance(b, str):
        return a, dt.datetime.fromisoformat(b)
    return _like(b, a)[::-1] if isinstance(b, dt.datetime) and isinstance(a, str) else (a, b)


def _part(expr: e.Part, row: dict[str, Value]) -> Fraction | None:
    date = meaning(expr.operand, row)
    if date is None:
        return None
    found = date.weekday() if expr.word == "weekday" else getattr(date, expr.word)
    return Fraction(found)


def _bool(expr: e.BoolOp, row: dict[str, Value]) -> bool | None:
    found = [meaning(expr.left, row), meaning(expr.right, row)]
    decisive = expr.sign == "or"
    if any(value is decisive for value in found):
        return decisive
    return None if None in found else not decisive


def _where(expr: e.Where, row: dict[str, Value]) -> Fraction | None:
    condition = meaning(expr.condition, row)
    if condition is None:
        return None
    return _number(expr.then if condition else expr.other, row)


def _clip(expr: e.ClipTo, row: dict[str, Value]) -> Fraction | None:
    value = meaning(expr.operand, row)
    if value is None:
        return None
    low, high = (_like(value, end.value)[1] for end in (expr.low, expr.high))
    return min(max(value, low), high)


def _isin(expr: e.IsIn, row: dict[str, Value]) -> bool | None:
    value = meaning(expr.operand, row)
    return None if value is None else any(value == meaning(listed, row) for listed in expr.values)


def _between(expr: e.Between, row: dict[str, Value]) -> bool | None:
    value = meaning(expr.operand, row)
    if value is None:
        return None
    low, high = (_like(value, end.value)[1] for end in (expr.low, expr.high))
    return bool(low <= value <= high)


def _not(expr: e.Invert, row: dict[str, Value]) -> bool | None:
    value = meaning(expr.operand, row)
    return None if value is None else not value


def _negative(expr: e.Neg, row: dict[str, Value]) -> Fraction | None:
    value = _number(expr.operand, row)
    return None if value is None else -value


def _missing(expr: e.IsMissing, row: dict[str, Value]) -> bool:
    return meaning(expr.operand, row) is None


_RULES: dict[type[e.Expr], Any] = {
    e.BinOp: _arithmetic,
    e.Compare: _compare,
    e.BoolOp: _bool,
    e.Where: _where,
    e.ClipTo: _clip,
    e.IsIn: _isin,
    e.Between: _between,
    e.Invert: _not,
    e.Neg: _negative,
    e.IsMissing: _missing,
    e.Part: _part,
}
