"""Expressions of one row: SQL's operators, CASE and functions as expressions of the column language.

Where the two differ, SQL's meaning is kept or the expression is refused: WHEN goes on where its condition is unknown, LEAST passes over
NULL, ``//`` and ``%`` cut toward zero, and nothing is divided by a column.
"""

from __future__ import annotations

import calendar
import datetime as dt
import operator
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpnb.client.sql.names import FALSE, TRUE, Rows, Value, both, found, neither, parameter
from dpnb.client.sql.reader import MAKERS, each, fail, pointing, reads, unknown
from dpnb.errors import PlanError, SchemaError
from dpnb.planner.compile import is_condition
from dpnb.planner.expression import (
    BinOp,
    Compare,
    Const,
    Expr,
    Invert,
    IsIn,
    Neg,
    Part,
    Ref,
    Where,
    show_value,
)
from dpnb.trusted.records import nearest

if TYPE_CHECKING:
    from dpnb.client.sql.reader import Node

_ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_COMPARED = {"eq": "==", "neq": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_TRUTH: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_FLOATS, _WHOLE = ("DOUBLE", "FLOAT"), ("TINYINT", "SMALLINT", "INT", "BIGINT", "INT128")
_DATES = ("DATE", "TIMESTAMP", "TIMESTAMPNTZ")
_TOWARD_ZERO = "{sql}: of negative numbers and fractions DuckDB cuts toward zero and dpnb goes down. Write FLOOR(x / k), which means one thing."
_NO_ELSE = "{sql} is NULL in some rows, and so is what is made of it here. Give its CASE an ELSE."


def value(rows: Rows, node: Node) -> Value:
    """Return what an expression is in each row.

    Raises
    ------
    PlanError
        With ``at``, the place in the text, and what to write instead.
    """
    with pointing(node):
        make = MAKERS["rows"].get(node.key)
        if make is None:
            fail(node, "{sql} is no value of a row.")
        made = make(rows, node)
        found = made if isinstance(made, Value) else Value(made)
        rows.allowed(found.expr)
        return found


def whole(rows: Rows, node: Node) -> Expr:
    """Return an expression that is NULL only where its columns are missing."""
    found = value(rows, node)
    if found.source:
        fail(
            node,
            f'{{sql}} is of the rows of {found.source}. Its owner declares what is taken of them: [prepare] x = {{ any = "{found.source}.…", is = … }}.',
        )
    if found.known != TRUE:
        fail(node, _NO_ELSE)
    return found.expr


def constant(rows: Rows, node: Node, what: str) -> Any:
    """Return a constant as Python has it."""
    found = value(rows, node).expr
    if not isinstance(found, Const):
        fail(node, f"{what} is a constant.")
    return found.value


def truth(rows: Rows, node: Node) -> Expr:
    """Return an expression as a condition."""
    found = whole(rows, node)
    column = rows.declared(found)
    if (
        column is not None
        and column.values is not None
        and all(isinstance(one, bool) for one in column.values)
    ):
        return Compare("==", found, Const(True))
    if found not in (TRUE, FALSE) and not is_condition(found):
        if isinstance(found, Where) and {found.then, found.other} <= {TRUE, FALSE}:
            return found.condition if found.then == TRUE else neither(found.condition)
        fail(node, "{sql} is not a condition. Compare it: {sql} = …")
    return found


# names and constants ------------------------------------------------------------------------------------------


@reads(
    "rows",
    "column",
    "",
    "a column, an alias, a name of an inner SELECT",
    "the column, or what the name stands for",
)
def _column(rows: Rows, node: Node) -> Value:
    alias = found(node.name, rows.aliases)
    own = found(node.name, rows.every)
    if alias is None or own is not None or node.text("table") or rows.is_unit(node):
        return rows.column(node)
    return value(replace(rows, aliases={}), alias)


@reads("rows", "literal", "", "numbers, 'texts', TRUE, FALSE", "constants")
def _literal(_: Rows, node: Node) -> Expr:
    text = node.name
    if node.is_string:
        return Const(text)
    return Const(int(text)) if text.isdigit() else Const(Fraction(text))


@reads("rows", "boolean", "")
def _boolean(_: Rows, node: Node) -> Expr:
    return TRUE if node.this else FALSE


@reads("rows", "null", "")
def _null(_: Rows, node: Node) -> Expr:
    fail(node, "NULL is compared with IS NULL, and stands in CASE … ELSE NULL. Nowhere else has it a value.")


@reads("rows", "placeholder", "", ":x, $x, {{x}}", "a constant of the notebook, or a released estimate")
def _placeholder(rows: Rows, node: Node) -> Expr:
    return parameter(node, rows.parameters)


@reads("rows", "paren", "")
def _paren(rows: Rows, node: Node) -> Value:
    return value(rows, node.this)


# arithmetic ---------------------------------------------------------------------------------------------------


def _joined(rows: Rows, node: Node, make: Callable[[Expr, Expr], Expr]) -> Value:
    left, right = (value(rows, one) for one in each(node, "this", "expression"))
    for one, at in ((left, node.this), (right, node.expression)):
        if one.source:
            whole(rows, at)
    return Value(make(left.expr, right.expr), both("and", left.known, right.known))


@reads(
    "rows",
    "add sub mul div",
    "this expression",
    "+ − * /",
    "arithmetic; the divisor of a row is a constant; a date ± INTERVAL or days, date − date",
)
def _arithmetic(rows: Rows, node: Node) -> Value:
    sign = _ARITHMETIC[node.key]
    if node.expression.key == "interval" and sign in "+-":
        return Value(_later(rows, node, sign))

    def make(left: Expr, right: Expr) -> Expr:
        if isinstance(left, Const) and isinstance(right, Const):
            return _folded(node, sign, left.value, right.value)
        if sign == "/" and not isinstance(right, Const):
            fail(
                node,
                "{sql}: division by a column could fail in some row. Divide by a constant, or divide two aggregates.",
            )
        return BinOp(sign, left, right)

    return _joined(rows, node, make)


def _folded(node: Node, sign: str, left: Any, right: Any) -> Const:
    if isinstance(left, str) and not isinstance(right, str) and sign in "+-":
        days = dt.timedelta(int(right))
        return Const(str(_date(node, left) + (days if sign == "+" else -days)))
    if isinstance(left, str) or isinstance(right, str):
        if sign == "-" and isinstance(left, str) and isinstance(right, str):
            return Const((_date(node, left) - _date(node, right)).days)
        fail(node, "{sql}: a text has no arithmetic.")
    if sign == "/" and not right:
        fail(node, "{sql} divides by zero.")
    if sign == "/":
        exact = Fraction(left) / Fraction(right)
        return Const(int(exact) if exact.denominator == 1 else exact)
    return Const({"+": operator.add, "-": operator.sub, "*": operator.mul}[sign](left, right))


def _date(node: Node, text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text.strip()[:10])
    except ValueError:
        fail(node, f"{text[:40]!r} is not a date: write DATE '2021-03-01'.")


def _later(rows: Rows, node: Node, sign: str) -> Expr:
    """Return a date so many days, months or years later or earlier."""
    interval, date = node.expression, whole(rows, node.this)
    unit = interval.args["unit"].name.rstrip("S").upper() if interval.args.get("unit") else ""
    count = constant(rows, interval.this, "An interval")
    try:
        steps = int(count) * (1 if sign == "+" else -1)
    except ValueError:
        fail(node, "{sql}: an interval is a whole number: INTERVAL 90 DAY.")
    if isinstance(date, Const) and isinstance(date.value, str):
        moment = _date(node, date.value)
        try:
            return Const(str(_moved(moment, steps, unit))) if unit in _MOVES else _no_step(node)
        except (ValueError, OverflowError):
            fail(node, "{sql} is no date of the calendar.")
    step = rows.number(date).calendar
    if (unit, step) not in {("DAY", "day"), ("HOUR", "hour"), ("MONTH", "month"), ("WEEK", "day")}:
        _no_step(node)
    return BinOp("+" if steps >= 0 else "-", date, Const(abs(steps) * (7 if unit == "WEEK" else 1)))


_MOVES = {"DAY": 0, "WEEK": 0, "MONTH": 1, "QUARTER": 3, "YEAR": 12}


def _no_step(node: Node) -> Expr:
    fail(
        node,
        "{sql}: a date column moves by its own step, such as INTERVAL 3 DAY; a constant date by DAY, WEEK, MONTH, QUARTER or YEAR.",
    )


def _moved(date: dt.date, steps: int, unit: str) -> dt.date:
    if not _MOVES[unit]:
        return date + dt.timedelta(steps * (7 if unit == "WEEK" else 1))
    year, month = divmod(date.year * 12 + date.month - 1 + steps * _MOVES[unit], 12)
    return dt.date(year, month + 1, min(date.day, calendar.monthrange(year, month + 1)[1]))


@reads("rows", "interval", "this unit")
def _interval(_: Rows, node: Node) -> Expr:
    fail(node, "{sql} stands beside a date: DATE '1998-12-01' - INTERVAL 90 DAY.")


@reads(
    "rows",
    "intdiv mod",
    "this expression",
    "// %",
    "whole division and remainder, where the declared range is not negative and both are whole",
)
def _cut(rows: Rows, node: Node) -> Value:
    def make(left: Expr, right: Expr) -> Expr:
        if (
            not isinstance(right, Const)
            or isinstance(right.value, str)
            or right.number <= 0
            or right.number.denominator != 1
        ):
            fail(node, "{sql}: divide by a whole number above zero.")
        if isinstance(left, Const):
            by = int(right.number)
            if left.number.denominator != 1 or left.number < 0:
                fail(node, _TOWARD_ZERO)
            return Const(int(left.number) // by if node.key == "intdiv" else int(left.number) % by)
        number = rows.number(left)
        if (
            number.lowest < 0
            or number.calendar
            or number.step.denominator != 1
            or number.offset.denominator != 1
        ):
            fail(node, _TOWARD_ZERO)
        down = BinOp("//", left, right)
        return down if node.key == "intdiv" else BinOp("-", left, BinOp("*", down, right))

    return _joined(rows, node, make)


@reads("rows", "neg", "this")
def _negative(rows: Rows, node: Node) -> Value:
    found = value(rows, node.this)
    if isinstance(found.expr, Const) and not isinstance(found.expr.value, str):
        return Value(Const(-found.expr.value))
    return Value(Neg(whole(rows, node.this)))


@reads("rows", "pow", "this expression", "POWER(x, 2), x ** 2", "the square")
def _power(rows: Rows, node: Node) -> Expr:
    base = whole(rows, node.this)
    if constant(rows, node.expression, "A power") != 2:
        fail(node, "{sql}: of a row there is the square; write x * x * x for a cube.")
    return BinOp("*", base, base)


@reads("rows", "abs", "this", "ABS(x)", "x where x > 0, else −x")
def _absolute(rows: Rows, node: Node) -> Expr:
    found = whole(rows, node.this)
    if isinstance(found, Const):
        return Const(abs(found.number))
    return Where(Compare(">", found, Const(0)), found, Neg(found))


@reads("rows", "floor ceil", "this", "FLOOR(x), CEIL(x)", "x // 1, −(−x // 1)")
def _floor(rows: Rows, node: Node) -> Expr:
    found = whole(rows, node.this)
    return BinOp("//", found, Const(1)) if node.key == "floor" else Neg(BinOp("//", Neg(found), Const(1)))


@reads(
    "rows",
    "cast",
    "this to",
    "CAST(x AS …), x::…",
    "casts that do not round: DOUBLE; INTEGER of whole numbers; DATE and TIMESTAMP of such columns and of texts",
)
@reads("rows", "trycast", "this to safe")
def _cast(rows: Rows, node: Node) -> Value:
    kind, found = node.args["to"].this.name, value(rows, node.this)
    expr = found.expr
    text = isinstance(expr, Const) and isinstance(expr.value, str)
    if kind in _DATES:
        if text:
            moment = expr.value.strip()  # type: ignore[attr-defined]
            _date(node, moment)
            return Value(Const(moment[:10] if kind == "DATE" else moment))
        column = rows.declared(expr)
        if column is not None and column.type == ("date" if kind == "DATE" else "datetime"):
            return found
    elif text:
        pass
    elif kind in _FLOATS or (kind == "BOOLEAN" and is_condition(expr)):
        return found
    elif kind in _WHOLE and not (isinstance(expr, Ref) and not rows.declared(expr).numeric):  # type: ignore[union-attr]
        number = rows.number(expr)
        if number.step.denominator == 1 and number.offset.denominator == 1 and number.calendar is None:
            return found
    return fail(node, "{sql} rounds, or changes what is read. Leave the cast out, or write FLOOR(x).")


# conditions ---------------------------------------------------------------------------------------------------


@reads(
    "rows",
    "eq neq gt gte lt lte",
    "this expression",
    "= <> < <= > >=",
    "comparisons; of a category with its declared values",
)
def _compared(rows: Rows, node: Node) -> Expr:
    for side in each(node, "this", "expression"):
        if side.key == "null":
            fail(node, "{sql} is never true. Write IS NULL or IS NOT NULL.")
    return compared(rows, node, _COMPARED[node.key], whole(rows, node.this), whole(rows, node.expression))


_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def compared(rows: Rows, node: Node, sign: str, left: Expr, right: Expr) -> Expr:
    """Return a comparison; texts have an order only among declared values."""
    if isinstance(left, Const) and isinstance(right, Const):
        if isinstance(left.value, str) != isinstance(right.value, str):
            fail(node, "{sql} compares a text with a number.")
        return TRUE if _TRUTH[sign](left.value, right.value) else FALSE
    if isinstance(left, Const):
        left, right, sign = right, left, _FLIPPED.get(sign, sign)
    column = rows.declared(left)
    if isinstance(right, Const) and column is not None and column.values is not None:
        if isinstance(right.value, str) and sign in _FLIPPED and isinstance(column.values[0], str):
            return _among(
                left, [one for one in column.values if _TRUTH[sign](one, right.value)], column.values
            )
        if isinstance(right.value, str) and right.value not in column.values:
            close = nearest(right.value, [str(one) for one in column.values])
            hint = f" Did you mean '{close}'?" if close else ""
            raise SchemaError(
                f"{column.name} is declared {column.describe()}: it has no value {show_value(right.value)}.{hint}"
            )
    if is_condition(left) and right in (TRUE, FALSE) and sign in {"==", "!="}:
        return left if (right == TRUE) == (sign == "==") else Invert(left)
    return Compare(sign, left, right)


def _among(column: Expr, chosen: list[Any], every: tuple[Any, ...]) -> Expr:
    """Return the condition that a category has one of some declared values, perhaps none."""
    return IsIn(column, tuple(chosen)) if chosen else Invert(IsIn(column, every))


@reads("rows", "and or", "this expression", "AND OR NOT", "three-valued logic, as in SQL")
def _logic(rows: Rows, node: Node) -> Expr:
    parts, left = list[Any](), [node]
    while left:  # a chain of a thousand is no deep tree
        one = left.pop()
        if one.key == node.key:
            left += [one.expression, one.this]
        else:
            parts.append(truth(rows, one))
    while len(parts) > _CHAIN:
        parts = [
            both(node.key, *pair) if len(pair) == 2 else pair[0]
            for pair in (parts[at : at + 2] for at in range(0, len(parts), 2))
        ]
    joined: Expr = parts[0]
    for one in parts[1:]:
        joined = both(node.key, joined, one)
    return joined


_CHAIN = 16
"""Up to so many conditions stand in a row as Python's & does; more are joined by halves, so that depth is logarithmic."""


@reads("rows", "not", "this")
def _not(rows: Rows, node: Node) -> Expr:
    return neither(truth(rows, node.this))


@reads("rows", "is", "this expression", "IS [NOT] NULL, TRUE, FALSE", "never unknown")
def _is(rows: Rows, node: Node) -> Expr:
    if node.expression.key == "null":
        found = value(rows, node.this)
        if found.source:
            whole(rows, node.this)
        return neither(both("and", found.known, rows.has(found.expr)))
    if node.expression.key != "boolean":
        fail(node, "{sql}: IS goes with NULL, TRUE and FALSE.")
    asked = truth(rows, node.this)
    return rows.certain(asked if node.expression.this else neither(asked))


@reads(
    "rows",
    "nullsafeeq nullsafeneq",
    "this expression",
    "IS [NOT] DISTINCT FROM",
    "never unknown; two NULLs are the same",
)
def _distinct(rows: Rows, node: Node) -> Expr:
    left, right = whole(rows, node.this), whole(rows, node.expression)
    same = rows.certain(compared(rows, node, "==", left, right))
    gone = both("and", neither(rows.has(left)), neither(rows.has(right)))
    found = both("or", same, gone)
    return found if node.key == "nullsafeeq" else neither(found)


@reads("rows", "in", "this expressions", "IN (…)", "one of some constants")
def _in(rows: Rows, node: Node) -> Expr:
    subject, found = whole(rows, node.this), list[Expr]()
    for one in node.expressions:
        if one.key == "null":
            fail(node, "{sql}: leave NULL out of IN; add OR x IS NULL.")
        found.append(whole(rows, one))
        compared(rows, one, "==", subject, found[-1])
    if (
        all(isinstance(one, Const) for one in found)
        and not isinstance(subject, Const)
        and not is_condition(subject)
    ):
        return IsIn(subject, tuple(found))
    parts: Expr = FALSE
    for one in found:
        parts = both("or", parts, compared(rows, node, "==", subject, one))
    return parts


@reads("rows", "between", "this low high", "BETWEEN", "both ends included")
def _between(rows: Rows, node: Node) -> Expr:
    subject = whole(rows, node.this)
    low, high = (whole(rows, one) for one in each(node, "low", "high"))
    return both("and", compared(rows, node, ">=", subject, low), compared(rows, node, "<=", subject, high))


@reads("rows", "like ilike", "this expression negate", "[NOT] LIKE, ILIKE", "which declared values match")
def _like(rows: Rows, node: Node) -> Expr:
    subject, pattern = whole(rows, node.this), constant(rows, node.expression, "A pattern")
    column = rows.declared(subject)
    if (
        column is None
        or column.values is None
        or not isinstance(column.values[0], str)
        or not isinstance(pattern, str)
    ):
        fail(
            node,
            "{sql}: LIKE is over declared values. Compare a text that nobody listed with =, or ask .frequent_values().",
        )
    signs = {"%": ".*", "_": "."}
    matches = re.compile(
        "".join(signs.get(sign, re.escape(sign)) for sign in pattern),
        re.DOTALL | (re.IGNORECASE if node.key == "ilike" else 0),
    )
    found = _among(subject, [one for one in column.values if matches.fullmatch(str(one))], column.values)
    return neither(found) if node.args.get("negate") else found


# choices ------------------------------------------------------------------------------------------------------


@reads(
    "rows",
    "case",
    "this ifs default",
    "CASE WHEN … THEN … ELSE … END, IF",
    "the first branch whose condition is true; without ELSE NULL",
)
def _case(rows: Rows, node: Node) -> Value:
    return chosen(
        [(when, value(rows, then) if then is not None else None) for when, then in branches(rows, node)]
    )


@reads("rows", "if", "this true false")
def _if(rows: Rows, node: Node) -> Value:
    return _case(rows, node)


def branches(rows: Rows, node: Node) -> list[tuple[Expr, Node | None]]:
    """Return the branches of a CASE: conditions that are never unknown, and results; the last one always holds, and NULL is None."""
    found: list[tuple[Expr, Node | None]] = []
    subject = node.this if node.key == "case" else None
    for one in node.args["ifs"] if node.key == "case" else [node]:
        if subject is None:
            when = truth(rows, one.this)
        else:
            when = compared(rows, one, "==", whole(rows, subject), whole(rows, one.this))
        found.append((rows.certain(when), one.args["true"]))
    found.append((TRUE, node.args.get("default" if node.key == "case" else "false")))
    return [(when, None if then is None or then.key == "null" else then) for when, then in found]


def chosen(cases: list[tuple[Expr, Value | None]]) -> Value:
    """Return the value of the first case that holds; None is NULL."""
    expr: Expr | None = None
    known: Expr = FALSE
    for when, then in reversed(cases):
        here = FALSE if then is None else then.known
        known = (
            both("or", both("and", when, here), both("and", neither(when), known)) if here != known else known
        )
        if then is not None and when != FALSE:
            expr = (
                then.expr
                if expr is None or when == TRUE
                else expr
                if expr == then.expr
                else Where(when, then.expr, expr)
            )
    if expr is None:
        raise PlanError("This is NULL in every row.")
    return Value(expr, known)


@reads("rows", "coalesce", "this expressions", "COALESCE(x, …)", "the first that is not NULL")
def _coalesce(rows: Rows, node: Node) -> Value:
    *firsts, last = [value(rows, one) for one in each(node, "this", "expressions")]
    if any(one.source for one in (*firsts, last)):
        fail(node, "{sql} is of a second table's rows, which are added or counted and nothing else.")
    cases = [(both("and", one.known, rows.has(one.expr)), Value(one.expr)) for one in firsts]
    return chosen([*cases, (TRUE, last)])


@reads("rows", "nullif", "this expression", "NULLIF(x, c)", "x, and NULL where it is c")
def _nullif(rows: Rows, node: Node) -> Value:
    subject = whole(rows, node.this)
    same = rows.certain(compared(rows, node, "==", subject, whole(rows, node.expression)))
    return Value(subject, neither(same))


@reads(
    "rows",
    "least greatest",
    "this expressions ignore_nulls",
    "LEAST, GREATEST",
    "of those that are not NULL, as DuckDB has it",
)
def _extreme(rows: Rows, node: Node) -> Expr:
    found, *others = (whole(rows, one) for one in each(node, "this", "expressions"))
    sign = "<=" if node.key == "least" else ">="
    for other in others:
        first = both("or", rows.certain(compared(rows, node, sign, found, other)), neither(rows.has(other)))
        found = found if first == TRUE else other if first == FALSE else Where(first, found, other)
    return found


# dates --------------------------------------------------------------------------------------------------------

_PARTS = ["year", "quarter", "month", "hour", "dayofweek", "dayofweekiso"]


@reads(
    "rows",
    " ".join(_PARTS),
    "this",
    "YEAR, QUARTER, MONTH, DAYOFWEEK, ISODOW, HOUR",
    "parts of a date; DAYOFWEEK is 0 on Sundays, ISODOW 7",
)
def _part_of(rows: Rows, node: Node) -> Expr:
    return _part(node.key, whole(rows, node.this))


@reads("rows", "extract", "this expression", "EXTRACT(year FROM d), DATE_PART('year', d)", "the same")
def _extract(rows: Rows, node: Node) -> Expr:
    return _named_part(node, node.this.name, whole(rows, node.expression))


@reads("rows", "anonymous", "this expressions")
def _anonymous(rows: Rows, node: Node) -> Expr:
    name = node.name.lower()
    if name in {"date_part", "datepart"} and len(node.expressions) == 2:
        return _named_part(
            node, str(constant(rows, node.expressions[0], "A part")), whole(rows, node.expressions[1])
        )
    if name in {"dow", "weekday"} and len(node.expressions) == 1:
        return _part("dayofweek", whole(rows, node.expressions[0]))
    return fail(node, unknown(node))


def _named_part(node: Node, word: str, date: Expr) -> Expr:
    word = {"dow": "dayofweek", "weekday": "dayofweek", "isodow": "dayofweekiso"}.get(
        word.lower(), word.lower()
    )
    if word not in _PARTS:
        fail(node, f"{word[:20]} is no part of a date here: year, quarter, month, dow, isodow, hour.")
    return _part(word, date)


def _part(word: str, date: Expr) -> Expr:
    if word == "quarter":
        return BinOp("//", BinOp("+", Part("month", date), Const(2)), Const(3))
    if word == "dayofweekiso":
        return BinOp("+", Part("weekday", date), Const(1))
    if word == "dayofweek":
        return Where(
            Compare("==", Part("weekday", date), Const(6)),
            Const(0),
            BinOp("+", Part("weekday", date), Const(1)),
        )
    return Part(word, date)


@reads(
    "rows",
    "datediff",
    "this expression unit date_part_boundary",
    "DATE_DIFF('day', a, b)",
    "days, months, quarters or years from a to b, as DuckDB counts their ends",
)
def _difference(rows: Rows, node: Node) -> Expr:
    unit = node.args["unit"].name.lower() if node.args.get("unit") else "day"
    later, earlier = whole(rows, node.this), whole(rows, node.expression)
    if unit == "day":
        return BinOp("-", later, earlier)
    if unit not in {"month", "quarter", "year"} or isinstance(later, Const) or isinstance(earlier, Const):
        fail(
            node,
            "{sql}: two dates have a difference in days; two columns also in months, quarters and years.",
        )
    return BinOp("-", *(_count(unit, one) for one in (later, earlier)))


def _count(unit: str, date: Expr) -> Expr:
    if unit == "year":
        return Part("year", date)
    a_year = 12 if unit == "month" else 4
    return BinOp("+", BinOp("*", Part("year", date), Const(a_year)), _part(unit, date))


@reads("rows", "timestamptrunc", "this unit")
def _truncated(_: Rows, node: Node) -> Expr:
    fail(node, "{sql} is a key: GROUP BY it. To filter, write d >= DATE '…' AND d < DATE '…'.")


def constants(cases: list[tuple[Expr, Node | None]], rows: Rows) -> list[tuple[Expr, Any]] | None:
    """Return the branches of a CASE whose results are all constants; None where they are not."""
    found = []
    for when, then in cases:
        made = None if then is None else value(rows, then).expr
        if made is not None and not isinstance(made, Const):
            return None
        found.append((when, made))
    return found
