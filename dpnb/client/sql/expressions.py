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
from dpnb.client.sql.reader import MAKERS, each, fail, pointing, reads, unread
from dpnb.errors import PlanError, SchemaError
from dpnb.planner.compile import is_condition
from dpnb.planner.expression import (
    BinOp,
    ClipTo,
    Compare,
    Const,
    Expr,
    Invert,
    IsIn,
    Neg,
    Part,
    Where,
    show_value,
)
from dpnb.trusted.records import nearest

if TYPE_CHECKING:
    from dpnb.client.sql.reader import Node

_ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_COMPARED = {"eq": "==", "neq": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
TRUTH: dict[str, Callable[[Any, Any], Any]] = {
    kind: getattr(operator, kind[:2]) for kind in ("eq", "gt", "lt")
}
TRUTH |= {"neq": operator.ne, "gte": operator.ge, "lte": operator.le}
_OF_SIGN = {sign: TRUTH[kind] for kind, sign in _COMPARED.items()}
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FLOATS, _WHOLE = ("DOUBLE", "FLOAT"), ("TINYINT", "SMALLINT", "INT", "BIGINT", "INT128")
_CHAIN = 16
"""Up to so many conditions stand in a row as Python's & does; more are joined by halves, so that depth is logarithmic."""
_MONTHS = {"DAY": 0, "WEEK": 0, "MONTH": 1, "QUARTER": 3, "YEAR": 12}
_PARTS = ("year", "quarter", "month", "hour", "dayofweek", "dayofweekiso")
_CALLED = {"dow": "dayofweek", "weekday": "dayofweek", "isodow": "dayofweekiso"}


def value(rows: Rows, node: Node) -> Value:
    """Return what an expression is in each row.

    Raises
    ------
    PlanError
        With ``at``, the place in the text, and what to write instead.
    """
    with pointing(node):
        make = MAKERS["rows"].get(node.key)
        if node.key in MAKERS["figures"]:
            fail(node, "figure in row")
        if make is None:
            raise unread(node)
        made = make(rows, node)
        known: Value = made if isinstance(made, Value) else Value(made)
        rows.allowed(known.expr)
        return known


def own(rows: Rows, node: Node) -> Value:
    """Return a value of the dataset's own rows; of a second table's there are sums and counts alone."""
    made = value(rows, node)
    if made.source:
        fail(node, "second table", source=made.source)
    return made


def whole(rows: Rows, node: Node) -> Expr:
    """Return an expression that is NULL only where its columns are missing."""
    made = own(rows, node)
    if made.known != TRUE:
        fail(node, "no else")
    return made.expr


def constant(rows: Rows, node: Node, what: str) -> Any:
    """Return a constant as Python has it."""
    made = value(rows, node).expr
    if not isinstance(made, Const):
        fail(node, "constant", what=what)
    return made.value


def truth(rows: Rows, node: Node) -> Expr:
    """Return an expression as a condition."""
    made = whole(rows, node)
    column = rows.declared(made)
    if (
        column is not None
        and column.values is not None
        and all(isinstance(one, bool) for one in column.values)
    ):
        return Compare("==", made, TRUE)
    if isinstance(made, Where) and {made.then, made.other} == {TRUE, FALSE}:
        return made.condition if made.then == TRUE else neither(made.condition)
    if made not in (TRUE, FALSE) and not is_condition(made):
        fail(node, "no condition")
    return made


# names and constants ------------------------------------------------------------------------------------------


@reads("rows", "column", "")
def _column(rows: Rows, node: Node) -> Value:
    """A column, an alias, a name of an inner SELECT – the column, or what the name stands for."""
    alias, taken = found(node.name, rows.aliases), found(node.name, rows.every)
    if alias is None or taken is not None or node.text("table") or rows.is_unit(node):
        return rows.column(node)
    return value(replace(rows, aliases={}), alias)


@reads("rows", "literal", "")
def _literal(_: Rows, node: Node) -> Expr:
    """Numbers, 'texts', TRUE, FALSE, DATE '2021-03-01' – constants."""
    text = node.name
    return Const(text if node.is_string else int(text) if text.isdigit() else Fraction(text))


@reads("rows", "boolean", "")
def _boolean(_: Rows, node: Node) -> Expr:
    return TRUE if node.this else FALSE


@reads("rows", "null", "")
def _null(_: Rows, node: Node) -> Expr:
    fail(node, "null")


@reads("rows", "placeholder", "")
def _placeholder(rows: Rows, node: Node) -> Expr:
    """:x, $x, {{x}} – a constant of the notebook, or a released estimate."""
    return parameter(node, rows.parameters)


@reads("rows", "paren", "")
def _paren(rows: Rows, node: Node) -> Value:
    return value(rows, node.this)


# arithmetic ---------------------------------------------------------------------------------------------------


def _operated(rows: Rows, node: Node, make: Callable[[Expr, Expr], Expr]) -> Value:
    left, right = (own(rows, one) for one in each(node, "this", "expression"))
    return Value(make(left.expr, right.expr), both("and", left.known, right.known))


@reads("rows", "add sub mul div", "this expression")
def _arithmetic(rows: Rows, node: Node) -> Value:
    """+, -, *, / – arithmetic; the divisor of a row is a constant; a date ± INTERVAL or days, date - date."""
    sign = _ARITHMETIC[node.key]
    if node.expression.key == "interval" and sign in "+-":
        return Value(_later(rows, node, sign))

    def make(left: Expr, right: Expr) -> Expr:
        if isinstance(left, Const) and isinstance(right, Const):
            return _folded(node, sign, left.value, right.value)
        if sign == "/" and not isinstance(right, Const):
            fail(node, "by column")
        return BinOp(sign, left, right)

    return _operated(rows, node, make)


def _folded(node: Node, sign: str, left: Any, right: Any) -> Const:
    """Return arithmetic of two constants, exactly."""
    texts = isinstance(left, str), isinstance(right, str)
    if texts == (True, True) and sign == "-":
        return Const((_date(node, left) - _date(node, right)).days)
    if texts == (True, False) and sign in "+-" and right == int(right):
        return Const(str(_moved(node, _date(node, left), int(right) if sign == "+" else -int(right), "DAY")))
    if any(texts):
        fail(node, "text")
    if sign == "/" and not right:
        fail(node, "by zero")
    exact = (
        Fraction(left) / Fraction(right)
        if sign == "/"
        else Fraction({"+": operator.add, "-": operator.sub, "*": operator.mul}[sign](left, right))
    )
    return _exact(exact)


def _exact(number: Fraction) -> Const:
    """Return a number as Python types it: a whole one is whole, so that its question is the one of Python."""
    return Const(int(number) if number.denominator == 1 else number)


def _date(node: Node, text: Any) -> dt.date:
    try:
        return dt.date.fromisoformat(text.strip()[:10])
    except (ValueError, AttributeError):
        fail(node, "date", text=str(text)[:40])


def _moved(node: Node, date: dt.date, steps: int, unit: str) -> dt.date:
    """Return a date so many days, weeks, months, quarters or years later."""
    try:
        if not _MONTHS[unit]:
            return date + dt.timedelta(steps * (7 if unit == "WEEK" else 1))
        year, month = divmod(date.year * 12 + date.month - 1 + steps * _MONTHS[unit], 12)
        return dt.date(year, month + 1, min(date.day, calendar.monthrange(year, month + 1)[1]))
    except (KeyError, ValueError, OverflowError, calendar.IllegalMonthError):
        fail(node, "step")


def _later(rows: Rows, node: Node, sign: str) -> Expr:
    """Return a date plus or minus an interval."""
    interval, date = node.expression, whole(rows, node.this)
    unit = interval.text("unit").rstrip("S").upper()
    count = constant(rows, interval.this, "the length")
    if not re.fullmatch(r"-?\d{1,9}", str(count)):
        fail(node, "interval")
    steps = int(count) if sign == "+" else -int(count)
    if isinstance(date, Const):
        return Const(str(_moved(node, _date(node, date.value), steps, unit)))
    if (unit, rows.number(date).calendar) not in {
        ("DAY", "day"),
        ("HOUR", "hour"),
        ("MONTH", "month"),
        ("WEEK", "day"),
    }:
        fail(node, "step")
    return BinOp("+" if steps >= 0 else "-", date, Const(abs(steps) * (7 if unit == "WEEK" else 1)))


@reads("rows", "interval", "this unit")
def _interval(_: Rows, node: Node) -> Expr:
    fail(node, "interval")


@reads("rows", "intdiv mod", "this expression")
def _cut(rows: Rows, node: Node) -> Value:
    """//, % – whole division and remainder, where both are whole and the declared range is not negative."""

    def make(left: Expr, right: Expr) -> Expr:
        if not isinstance(right, Const) or isinstance(right.value, str) or right.number <= 0:
            fail(node, "by whole")
        number = rows.number(left)
        if number.calendar or any(one.denominator != 1 for one in (number.step, number.offset, right.number)):
            fail(node, "by whole")
        if number.lowest < 0:
            fail(node, "toward zero")
        if isinstance(left, Const):
            return Const(
                int({"intdiv": operator.floordiv, "mod": operator.mod}[node.key](left.number, right.number))
            )
        down = BinOp("//", left, right)
        return (
            down
            if node.key == "intdiv"
            else ClipTo(BinOp("-", left, BinOp("*", down, right)), 0, right.number - 1)
        )

    return _operated(rows, node, make)


@reads("rows", "neg", "this")
def _negative(rows: Rows, node: Node) -> Value:
    made = own(rows, node.this)
    if isinstance(made.expr, Const):
        return Value(_exact(-made.expr.number))
    return replace(made, expr=Neg(made.expr))


@reads("rows", "pow", "this expression")
def _power(rows: Rows, node: Node) -> Expr:
    """POWER(x, 2), x ** 2 – the square."""
    base = whole(rows, node.this)
    if constant(rows, node.expression, "the power") != 2:
        fail(node, "power")
    return BinOp("*", base, base)


@reads("rows", "abs", "this")
def _absolute(rows: Rows, node: Node) -> Expr:
    """ABS(x) – x where x > 0, else -x."""
    made = whole(rows, node.this)
    return (
        _exact(abs(made.number))
        if isinstance(made, Const)
        else Where(Compare(">", made, Const(0)), made, Neg(made))
    )


@reads("rows", "floor ceil", "this")
def _floor(rows: Rows, node: Node) -> Expr:
    """FLOOR(x), CEIL(x) – the whole number below, or above."""
    made = whole(rows, node.this)
    return BinOp("//", made, Const(1)) if node.key == "floor" else Neg(BinOp("//", Neg(made), Const(1)))


@reads("rows", "cast", "this to")
@reads("rows", "trycast", "this to safe")
def _cast(rows: Rows, node: Node) -> Value:
    """CAST(x AS DOUBLE), x::INTEGER – casts that do not round: of whole numbers to INTEGER, of dates and texts to DATE and TIMESTAMP."""
    kind, made = node.args["to"].this.name, own(rows, node.this)
    column = rows.declared(made.expr)
    if kind in {"DATE", "TIMESTAMP", "TIMESTAMPNTZ"}:
        if isinstance(made.expr, Const):
            moment = str(_date(node, made.expr.value))
            return Value(Const(moment if kind == "DATE" else made.expr.value.strip()))
        if column is not None and column.type == ("date" if kind == "DATE" else "datetime"):
            return made
        fail(node, "cast")
    number = rows.number(made.expr) if kind in (*_FLOATS, *_WHOLE) else None
    exact = number is not None and number.step.denominator == number.offset.denominator == 1
    if (kind == "BOOLEAN" and is_condition(made.expr)) or (
        number is not None and number.calendar is None and (exact or kind in _FLOATS)
    ):
        return made
    return fail(node, "cast")


# conditions ---------------------------------------------------------------------------------------------------


@reads("rows", "eq neq gt gte lt lte", "this expression")
def _compared(rows: Rows, node: Node) -> Expr:
    """=, <>, <, <=, >, >= – comparisons; of a category with its declared values."""
    if "null" in {one.key for one in each(node, "this", "expression")}:
        fail(node, "never true")
    left, right = whole(rows, node.this), whole(rows, node.expression)
    if node.key not in {"eq", "neq"} and is_condition(left) and not is_condition(right):
        fail(node, "chain")
    return compared(rows, node, _COMPARED[node.key], left, right)


def compared(rows: Rows, node: Node, sign: str, left: Expr, right: Expr) -> Expr:
    """Return a comparison; texts have an order only among declared values."""
    if isinstance(left, Const) and isinstance(right, Const):
        if isinstance(left.value, str) != isinstance(right.value, str):
            fail(node, "two kinds")
        return TRUE if _OF_SIGN[sign](left.value, right.value) else FALSE
    if isinstance(left, Const):
        left, right, sign = right, left, _FLIPPED.get(sign, sign)
    column = rows.declared(left)
    if (
        isinstance(right, Const)
        and isinstance(right.value, str)
        and column is not None
        and column.values is not None
    ):
        if sign in _FLIPPED and isinstance(column.values[0], str):
            return _among(
                left, [one for one in column.values if _OF_SIGN[sign](one, right.value)], column.values
            )
        if right.value not in column.values:
            close = nearest(right.value, [str(one) for one in column.values])
            hint = f" Did you mean '{close}'?" if close else ""
            if close and close not in column.values:
                hint = f" Its values are numbers: write {close} without quotes."
            raise SchemaError(
                f"{column.name} is declared {column.describe()}: it has no value {show_value(right.value)}.{hint}"
            )
    if is_condition(left) and right in (TRUE, FALSE) and sign in {"==", "!="}:
        return left if (right == TRUE) == (sign == "==") else Invert(left)
    return Compare(sign, left, right)


def _among(column: Expr, chosen: list[Any], every: tuple[Any, ...]) -> Expr:
    """Return the condition that a category has one of some declared values, perhaps none."""
    return IsIn(column, tuple(chosen)) if chosen else Invert(IsIn(column, every))


@reads("rows", "and or", "this expression")
def _logic(rows: Rows, node: Node) -> Expr:
    """AND, OR, NOT – three-valued logic, as in SQL."""
    parts, left = list[Expr](), [node]
    while left:  # a chain of a thousand is no deep tree
        one = left.pop()
        if one.key == node.key:
            left += [one.expression, one.this]
        else:
            parts.append(truth(rows, one))
    while len(parts) > _CHAIN:
        pairs = (parts[at : at + 2] for at in range(0, len(parts), 2))
        parts = [both(node.key, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
    joined, *others = parts
    for one_more in others:
        joined = both(node.key, joined, one_more)
    return joined


@reads("rows", "not", "this")
def _not(rows: Rows, node: Node) -> Expr:
    return neither(truth(rows, node.this))


@reads("rows", "is", "this expression")
def _is(rows: Rows, node: Node) -> Expr:
    """IS [NOT] NULL, TRUE, FALSE – never unknown."""
    if node.expression.key == "null":
        made = own(rows, node.this)
        return neither(both("and", made.known, rows.has(made.expr)))
    if node.expression.key != "boolean":
        fail(node, "is")
    asked = truth(rows, node.this)
    return rows.certain(asked if node.expression.this else neither(asked))


@reads("rows", "nullsafeeq nullsafeneq", "this expression")
def _distinct(rows: Rows, node: Node) -> Expr:
    """IS [NOT] DISTINCT FROM – never unknown; two NULLs are the same."""
    left, right = whole(rows, node.this), whole(rows, node.expression)
    gone = both("and", neither(rows.has(left)), neither(rows.has(right)))
    same = both("or", rows.certain(compared(rows, node, "==", left, right)), gone)
    return same if node.key == "nullsafeeq" else neither(same)


@reads("rows", "in", "this expressions")
def _in(rows: Rows, node: Node) -> Expr:
    """IN (1, 2) – one of some values."""
    if any(one.key == "null" for one in node.expressions):
        fail(node, "null in")
    subject, listed = whole(rows, node.this), [whole(rows, one) for one in node.expressions]
    parts = [compared(rows, at, "==", subject, one) for at, one in zip(node.expressions, listed, strict=True)]
    if (
        all(isinstance(one, Const) for one in listed)
        and not isinstance(subject, Const)
        and not is_condition(subject)
    ):
        return IsIn(subject, tuple(listed))
    joined: Expr = FALSE
    for one in parts:
        joined = both("or", joined, one)
    return joined


@reads("rows", "between", "this low high")
def _between(rows: Rows, node: Node) -> Expr:
    """BETWEEN – both ends included."""
    subject, low, high = (whole(rows, one) for one in each(node, "this", "low", "high"))
    return both("and", compared(rows, node, ">=", subject, low), compared(rows, node, "<=", subject, high))


def matching(node: Node, pattern: object) -> Callable[[object], bool]:
    """Return what tells whether a text matches the pattern of LIKE or ILIKE, which may be negated."""
    signs = {"%": ".*", "_": "."}
    text = "".join(signs.get(sign, re.escape(sign)) for sign in str(pattern))
    matches = re.compile(text, re.DOTALL | (re.IGNORECASE if node.key == "ilike" else 0))
    return lambda one: (matches.fullmatch(str(one)) is None) == bool(node.args.get("negate"))


@reads("rows", "like ilike", "this expression negate")
def _like(rows: Rows, node: Node) -> Expr:
    """[NOT] LIKE, ILIKE – which declared values match."""
    subject, pattern = whole(rows, node.this), constant(rows, node.expression, "the pattern")
    column = rows.declared(subject)
    if column is None or column.values is None or not isinstance(column.values[0], str):
        fail(node, "like")
    return _among(subject, list(filter(matching(node, pattern), column.values)), column.values)


# choices ------------------------------------------------------------------------------------------------------


@reads("rows", "case", "this ifs default")
@reads("rows", "if", "this true false")
def _case(rows: Rows, node: Node) -> Value:
    """CASE WHEN … THEN … ELSE … END, IF – the first branch whose condition is true; without ELSE NULL."""
    return chosen([(when, None if then is None else own(rows, then)) for when, then in branches(rows, node)])


def branches(rows: Rows, node: Node) -> list[tuple[Expr, Node | None]]:
    """Return the branches of a CASE: conditions that are never unknown, and results; the last one always holds, and NULL is None."""
    simple = node.key == "if"
    subject = None if simple or node.this is None else whole(rows, node.this)
    cases: list[tuple[Expr, Node | None]] = []
    for one in [node] if simple else node.args["ifs"]:
        when = (
            truth(rows, one.this)
            if subject is None
            else compared(rows, one, "==", subject, whole(rows, one.this))
        )
        cases.append((rows.certain(when), one.args["true"]))
    cases.append((TRUE, node.args.get("false" if simple else "default")))
    return [(when, None if then is None or then.key == "null" else then) for when, then in cases]


def chosen(cases: list[tuple[Expr, Value | None]]) -> Value:
    """Return the value of the first case that holds; None is NULL."""
    expr: Expr | None = None
    known: Expr = FALSE
    for when, then in reversed(cases):
        here = FALSE if then is None else then.known
        if here != known:
            known = both("or", both("and", when, here), both("and", neither(when), known))
        if then is not None and when != FALSE and then.expr != expr:
            expr = then.expr if expr is None or when == TRUE else Where(when, then.expr, expr)
    if expr is None:
        raise PlanError("This is NULL in every row.")
    return Value(expr, known)


@reads("rows", "coalesce", "this expressions")
def _coalesce(rows: Rows, node: Node) -> Value:
    """COALESCE(x, …) – the first that is not NULL."""
    *firsts, last = [own(rows, one) for one in each(node, "this", "expressions")]
    cases = [(both("and", one.known, rows.has(one.expr)), Value(one.expr)) for one in firsts]
    return chosen([*cases, (TRUE, last)])


@reads("rows", "nullif", "this expression")
def _nullif(rows: Rows, node: Node) -> Value:
    """NULLIF(x, 0) – x, and NULL where it is 0."""
    subject, other = whole(rows, node.this), whole(rows, node.expression)
    return Value(subject, neither(rows.certain(compared(rows, node, "==", subject, other))))


@reads("rows", "least greatest", "this expressions ignore_nulls")
def _extreme(rows: Rows, node: Node) -> Expr:
    """LEAST, GREATEST – of those that are not NULL, as DuckDB has it."""
    least, *others = (whole(rows, one) for one in each(node, "this", "expressions"))
    for other in others:
        before = compared(rows, node, "<=" if node.key == "least" else ">=", least, other)
        first = both("or", rows.certain(before), neither(rows.has(other)))
        least = least if first == TRUE else other if first == FALSE else Where(first, least, other)
    return least


# dates --------------------------------------------------------------------------------------------------------


@reads("rows", " ".join(_PARTS), "this")
def _part_of(rows: Rows, node: Node) -> Expr:
    """YEAR(d), QUARTER, MONTH, DAYOFWEEK, ISODOW, HOUR – parts of a date; DAYOFWEEK is 0 on Sundays, ISODOW 7."""
    return _part(node, node.key, whole(rows, node.this))


@reads("rows", "extract", "this expression")
def _extract(rows: Rows, node: Node) -> Expr:
    """EXTRACT(year FROM d), DATE_PART('year', d) – the same."""
    return _part(node, node.this.name, whole(rows, node.expression))


@reads("rows", "anonymous", "this expressions")
def _anonymous(rows: Rows, node: Node) -> Expr:
    name, given = node.name.lower(), node.expressions
    if name in {"date_part", "datepart"} and len(given) == 2:
        return _part(node, str(constant(rows, given[0], "the part")), whole(rows, given[1]))
    if name in _CALLED and len(given) == 1:
        return _part(node, name, whole(rows, given[0]))
    raise unread(node)


def _part(node: Node, word: str, date: Expr) -> Expr:
    word = _CALLED.get(word.lower(), word.lower())
    if word not in _PARTS:
        fail(node, "date part", text=word[:20])
    if word == "quarter":
        return BinOp("//", BinOp("+", Part("month", date), Const(2)), Const(3))
    later = BinOp("+", Part("weekday", date), Const(1))
    if word == "dayofweek":
        return Where(Compare("==", Part("weekday", date), Const(6)), Const(0), later)
    return later if word == "dayofweekiso" else Part(word, date)


@reads("rows", "datediff", "this expression unit date_part_boundary")
def _difference(rows: Rows, node: Node) -> Expr:
    """DATE_DIFF('day', a, b) – days, months, quarters or years from a to b, as DuckDB counts their ends."""
    unit, dates = node.text("unit").lower(), [whole(rows, node.this), whole(rows, node.expression)]
    if unit == "day":
        return BinOp("-", *dates)
    a_year = {"year": 1, "quarter": 4, "month": 12}.get(unit)
    if a_year is None or any(isinstance(one, Const) for one in dates):
        fail(node, "date difference")
    if a_year == 1:
        return BinOp("-", *(Part("year", one) for one in dates))
    counts = (
        BinOp("+", BinOp("*", Part("year", one), Const(a_year)), _part(node, unit, one)) for one in dates
    )
    return BinOp("-", *counts)


@reads("rows", "timestamptrunc", "this unit")
def _truncated(_: Rows, node: Node) -> Expr:
    fail(node, "truncated")


def constants(rows: Rows, cases: list[tuple[Expr, Node | None]]) -> list[tuple[Expr, Any]] | None:
    """Return the branches of a CASE with constants as results; None where one is no constant."""
    made = [(when, None if then is None else value(rows, then).expr) for when, then in cases]
    return made if all(one is None or isinstance(one, Const) for _, one in made) else None
