"""Column expressions to integer programs, with their public range: the check that makes the language total.

A column is first an integer on its declared grid, or missing. Every operation after that is integer arithmetic whose range
is computed here from the schema; what could leave 62 bits is refused before any charge, and no operation can fail on any row.
Constants are compared exactly, as rationals, with grid points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import singledispatch
from itertools import pairwise
from typing import Any

from dpnb.errors import PlanError, SchemaError
from dpnb.inference.digits import given
from dpnb.planner import dates, labels
from dpnb.planner.expression import (
    Among,
    Between,
    Bin,
    BinOp,
    BoolOp,
    ClipTo,
    Compare,
    Const,
    Expr,
    Invert,
    IsIn,
    IsMissing,
    Neg,
    Part,
    PerUnit,
    Ref,
    Where,
    show,
    show_value,
)
from dpnb.planner.schema_words import unit_sentence
from dpnb.statistics import Numeric
from dpnb.statistics._base import Axis, common_step, scaled
from dpnb.trusted.aggregate.algebra import (
    Add,
    And,
    Case,
    Clip,
    Cmp,
    Col,
    FloorDiv,
    IntExpr,
    Key,
    Known,
    Lit,
    Mul,
    Not,
    Or,
    Pred,
    Sub,
)
from dpnb.trusted.aggregate.cap import cap
from dpnb.trusted.query.limits import LARGEST
from dpnb.trusted.schema import Column, Schema
from dpnb.trusted.schema.calendar import start_of

MAX_KEY = 100_000
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True, slots=True)
class Condition:
    """A predicate, and whether a missing value can leave it unknown."""

    pred: Pred
    nullable: bool


@dataclass(frozen=True, slots=True)
class Cells:
    """A group key: its code, its labels, and whether a row can fall in no cell."""

    key: Key
    axis: Axis
    partial: bool


# Numbers


def numeric(expr: Expr, schema: Schema) -> Numeric:
    """Return an expression as a number on a public grid.

    Raises
    ------
    PlanError, SchemaError
        If it is not a number, or its range is too wide.
    """
    if is_condition(expr):
        found = condition(expr, schema)
        return Numeric(Case(found.pred, Lit(1), Lit(0)), Fraction(0), Fraction(1), 0, 1, found.nullable)
    return _numeric(expr, schema)


def is_condition(expr: Expr) -> bool:
    """Tell whether an expression is true or false rather than a number."""
    return isinstance(expr, Compare | BoolOp | Invert | IsIn | Between | IsMissing | PerUnit)


@singledispatch
def _numeric(expr: Expr, schema: Schema) -> Numeric:
    raise PlanError(
        f"{show(expr, schema.name)} is not a number: bins and conditions are group keys or filters."
    )


@_numeric.register
def _(expr: Ref, schema: Schema) -> Numeric:
    column = schema[expr.column]
    if column.text is not None:
        raise labels.no_number(column, schema)
    if not column.numeric or column.lower is None or column.step is None or column.steps is None:
        raise SchemaError(
            f"{column.name} is a category without numbers. Ask .value_counts(), group by it, or compare it with a value."
        )
    code: IntExpr = Col(column.name)
    steps, step = column.steps, column.step
    if column.halved and column.type != "number":
        code, steps, step = FloorDiv(Add(code, Lit(1)), 2), steps // 2, 2 * step
    return Numeric(code, column.lower, step, 0, steps, column.drops, column.calendar, column.typical)


@_numeric.register
def _(expr: Const, schema: Schema) -> Numeric:
    del schema
    return Numeric(Lit(0), expr.number, Fraction(1), 0, 0, nullable=False)


@_numeric.register
def _(expr: Neg, schema: Schema) -> Numeric:
    return _negative(_plain(expr.operand, schema))


@_numeric.register
def _(expr: BinOp, schema: Schema) -> Numeric:
    if expr.sign in {"/", "//"}:
        return _divided(_plain(expr.left, schema), _divisor(expr.right), expr.sign)
    if expr.sign == "*":
        return _product(_plain(expr.left, schema), _plain(expr.right, schema))
    a, b = _both(expr.left, expr.right, schema)
    calendar = dates.shifted(a.calendar, a, b, expr.sign, show(expr, schema.name))
    return replace(_sum(a, b if expr.sign == "+" else _negative(b)), calendar=calendar)


def _negative(a: Numeric) -> Numeric:
    return _times(a, Fraction(-1))


def _plain(expr: Expr, schema: Schema) -> Numeric:
    """Return a number that is no date, for arithmetic that dates have not."""
    found = numeric(expr, schema)
    return found if found.calendar is None else dates.refuse_arithmetic(show(expr, schema.name))


def _both(left: Expr, right: Expr, schema: Schema) -> tuple[Numeric, Numeric]:
    """Return two numbers; a literal beside a date is a date."""
    if isinstance(left, Const) and isinstance(left.value, str):
        b = numeric(right, schema)
        return _beside(left, b, right, schema), b
    a = numeric(left, schema)
    return a, _beside(right, a, left, schema)


def _beside(expr: Expr, other: Numeric, shown: Expr, schema: Schema) -> Numeric:
    if isinstance(expr, Const) and isinstance(expr.value, str) and other.calendar is not None:
        place = dates.literal(expr, other.calendar, show(shown, schema.name))
        return Numeric(Lit(0), place, Fraction(1), 0, 0, nullable=False, calendar=other.calendar)
    return numeric(expr, schema)


def _constant(constant: Const, beside: Numeric, shown: Expr, schema: Schema) -> Fraction:
    """Return a constant as a number; beside a date it is a literal date."""
    if beside.calendar is None:
        return constant.number
    return dates.literal(constant, beside.calendar, show(shown, schema.name))


@_numeric.register
def _(expr: Part, schema: Schema) -> Numeric:
    return dates.part(expr.word, numeric(expr.operand, schema), show(expr.operand, schema.name))


@_numeric.register
def _(expr: ClipTo, schema: Schema) -> Numeric:
    a = numeric(expr.operand, schema)
    ends = [_constant(end, a, expr.operand, schema) for end in (expr.low, expr.high)]
    low = max(math.ceil((ends[0] - a.offset) / a.step), a.low)
    high = min(math.floor((ends[1] - a.offset) / a.step), a.high)
    if low > high:
        raise PlanError(
            f"clip({show_value(expr.low.value)}, {show_value(expr.high.value)}) leaves no grid point between "
            f"{given(float(a.lowest))} and {given(float(a.highest))}."
        )
    return replace(a, code=Clip(a.code, low, high), low=low, high=high)


@_numeric.register
def _(expr: Where, schema: Schema) -> Numeric:
    found = condition(expr.condition, schema)
    both = _both(expr.then, expr.other, schema)
    if both[0].calendar != both[1].calendar:
        dates.refuse_arithmetic(show(expr, schema.name))
    a, b = aligned(*both)
    nullable = found.nullable or a.nullable or b.nullable
    code = Case(found.pred, a.code, b.code)
    return Numeric(code, a.offset, a.step, min(a.low, b.low), max(a.high, b.high), nullable, both[0].calendar)


def aligned(a: Numeric, b: Numeric) -> tuple[Numeric, Numeric]:
    """Return two numbers on one grid: the same offset and step."""
    step = common_step(common_step(a.step, b.step), a.offset - b.offset) if a.offset != b.offset else None
    step = step or common_step(a.step, b.step)
    return _on_grid(a, a.offset, step), _on_grid(b, a.offset, step)


def _on_grid(a: Numeric, offset: Fraction, step: Fraction) -> Numeric:
    factor, shift = int(a.step / step), int((a.offset - offset) / step)
    if factor == 1 and shift == 0:
        return a
    code = scaled(a.code, factor) if shift == 0 else Add(scaled(a.code, factor), Lit(_small(shift)))
    return Numeric(code, offset, step, factor * a.low + shift, factor * a.high + shift, a.nullable)


def _small(value: int) -> int:
    if abs(value) > LARGEST:
        raise PlanError("A constant in this expression is too large for the column's grid.")
    return value


def _sum(a: Numeric, b: Numeric) -> Numeric:
    for constant, other in ((b, a), (a, b)):
        if _always(constant):
            return replace(other, offset=a.offset + b.offset, typical=_moved(other.typical, constant.offset))
    step = common_step(a.step, b.step)
    x, y = _on_grid(a, a.offset, step), _on_grid(b, b.offset, step)
    code = Add(x.code, y.code)
    return Numeric(code, a.offset + b.offset, step, x.low + y.low, x.high + y.high, a.nullable or b.nullable)


def _moved(typical: Fraction | None, by: Fraction) -> Fraction | None:
    return None if typical is None else typical + by


def _always(a: Numeric) -> bool:
    """Tell whether a number is one value on every row; a value that can be missing is not."""
    return a.low == a.high == 0 and not a.nullable


def _product(a: Numeric, b: Numeric) -> Numeric:
    for constant, other in ((a, b), (b, a)):
        if _always(constant):
            return _times(other, constant.offset)
    x, y = a.rebased(), b.rebased()
    corners = [x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high]
    square = x.code == y.code and x.low <= 0 <= x.high  # as its range is derived where it is priced
    low, high = 0 if square else min(corners), max(corners)
    return Numeric(Mul(x.code, y.code), Fraction(0), x.step * y.step, low, high, a.nullable or b.nullable)


def _times(a: Numeric, factor: Fraction) -> Numeric:
    if factor == 0:
        return Numeric(Mul(Lit(0), a.code), Fraction(0), Fraction(1), 0, 0, a.nullable)
    typical = None if a.typical is None else a.typical * factor
    offset, step = a.offset * factor, a.step * abs(factor)
    if factor > 0:
        return Numeric(a.code, offset, step, a.low, a.high, a.nullable, typical=typical)
    return Numeric(Sub(Lit(0), a.code), offset, step, -a.high, -a.low, a.nullable, typical=typical)


def _divisor(expr: Expr) -> Fraction:
    if not isinstance(expr, Const):
        raise PlanError(
            "A column is divided by a non-zero constant only. Release both and divide the estimates."
        )
    if expr.number == 0:
        raise PlanError("Division by zero: divide by a constant that is not zero.")
    return expr.number


def _divided(a: Numeric, by: Fraction, sign: str) -> Numeric:
    quotient = _times(a, 1 / by)
    if sign == "/":
        return quotient
    whole = math.lcm(quotient.offset.denominator, quotient.step.denominator)
    start, step = int(quotient.offset * whole), int(quotient.step * whole)
    low, high = start + step * quotient.low, start + step * quotient.high
    _small(max(abs(low), abs(high)))
    code = FloorDiv(Add(scaled(quotient.code, step), Lit(_small(start))), whole)
    return Numeric(code, Fraction(0), Fraction(1), low // whole, high // whole, a.nullable)


# Conditions


def condition(expr: Expr, schema: Schema) -> Condition:
    """Return an expression as a Kleene predicate.

    Raises
    ------
    PlanError, SchemaError
        If it is not a condition, or names a value that is not declared.
    """
    return _condition(expr, schema)


@singledispatch
def _condition(expr: Expr, schema: Schema) -> Condition:
    shown = show(expr, schema.name)
    if isinstance(expr, Const):
        raise PlanError(f"{shown} is a constant, not a condition.")
    raise PlanError(f"{shown} is not a condition. Compare it: ({shown} {_compared(expr, schema)}).")


def _compared(expr: Expr, schema: Schema) -> str:
    """How a column may be compared, for an example."""
    if labels.text_column(expr, schema) is not None:
        return '== "…"'
    category = _category(expr, schema)
    if category is not None and category.values:
        return f"== {show_value(category.values[-1])}"
    number = numeric(expr, schema)
    if number.calendar is not None:
        return f'>= "{start_of(int(number.lowest + number.highest) // 2, number.calendar)}"'
    return "== 1" if (number.low, number.high) == (0, 1) and number.step == 1 else f"> {_middle(number):g}"


@_condition.register
def _(expr: Compare, schema: Schema) -> Condition:
    left, right, sign = expr.left, expr.right, expr.sign
    if isinstance(left, Const):
        left, right, sign = right, left, _FLIPPED[sign]
    if isinstance(left, Const):
        raise PlanError("Both sides of this comparison are constants.")
    if isinstance(right, Const):
        text = labels.text_column(left, schema)
        if text is not None and sign in {"==", "!="}:
            equal = labels.equals(text, right)
            return Condition(equal if sign == "==" else Not(equal), text.drops)
        category = _category(left, schema)
        if category is not None and sign in {"==", "!="}:
            found = _equals_category(category, right)
            return found if sign == "==" else Condition(Not(found.pred), found.nullable)
        number = numeric(left, schema)
        if number.calendar is not None:
            return _against(number, sign, _constant(right, number, left, schema))
        return _against(number, sign, _number_beside(left, sign, right, schema))
    first, second = _category(left, schema), _category(right, schema)
    if first is not None and second is not None and not (first.numeric and second.numeric):
        return _same_category(first, second, sign)
    a = numeric(left, schema)
    b = numeric(right, schema)
    if a.calendar != b.calendar:
        dates.refuse_arithmetic(show(expr, schema.name))
    gap = _sum(a, _negative(b))
    return _against(gap, sign, Fraction(0))


@_condition.register
def _(expr: PerUnit, schema: Schema) -> Condition:
    rows, unit = expr.rows.value if isinstance(expr.rows, Const) else None, schema.unit
    if unit.max_rows == 1:
        raise PlanError(
            f"per_unit is for people with several rows: here {unit_sentence(unit).partition(';')[0]}."
        )
    if type(rows) is not int or not 1 <= rows <= unit.max_rows:
        raise PlanError(
            f"per_unit takes 1 to {unit.max_rows:,} rows of each {unit.unit}: max_rows_per_unit = {unit.max_rows} is declared."
        )
    return Condition(cap(rows), nullable=False)


def _number_beside(number: Expr, sign: str, constant: Const, schema: Schema) -> Fraction:
    """Return what a number is compared with; a text is none."""
    if isinstance(constant.value, str):
        shown, middle = show(number, schema.name), _middle(numeric(number, schema))
        raise PlanError(f"{shown} is a number; {constant.value!r} is text. Try {shown} {sign} {middle:g}.")
    return constant.number


def _middle(number: Numeric) -> float:
    """A number of one digit between the public bounds, for an example."""
    low, high = (float(number.offset + number.step * code) for code in (number.low, number.high))
    middle = float(f"{(low + high) / 2:.1g}")
    return middle if low <= middle <= high else (low + high) / 2


def _category(expr: Expr, schema: Schema) -> Column | None:
    if isinstance(expr, Ref) and schema[expr.column].type == "category":
        return schema[expr.column]
    return None


def _place(column: Column, constant: Const) -> int:
    assert column.values is not None
    for place, value in enumerate(column.values):
        if type(value) is type(constant.value) and value == constant.value:
            return place
    if not isinstance(constant.value, str):
        for place, value in enumerate(column.values):
            if not isinstance(value, str) and Fraction(value) == constant.number:
                return place
    raise SchemaError(
        f"{column.name} is declared {column.describe()}: it has no value {show_value(constant.value)}."
    )


def _equals_category(column: Column, constant: Const) -> Condition:
    return Condition(Cmp("==", Col(column.name), Lit(_place(column, constant))), column.drops)


def _same_category(a: Column, b: Column, sign: str) -> Condition:
    if a.values != b.values or sign not in {"==", "!="}:
        raise PlanError(f"{a.name} and {b.name} are categories with different values and cannot be compared.")
    pred: Pred = Cmp("==", Col(a.name), Col(b.name))
    return Condition(pred if sign == "==" else Not(pred), a.drops or b.drops)


def _against(a: Numeric, sign: str, bound: Fraction) -> Condition:
    place = (bound - a.offset) / a.step
    floor, ceil = math.floor(place), math.ceil(place)

    def lit(value: int) -> Lit:
        return Lit(min(max(value, a.low - 1), a.high + 1))

    if sign in {"==", "!="}:
        equal: Pred = Cmp("==", a.code, lit(floor)) if floor == ceil else Cmp("<", a.code, Lit(a.low))
        return Condition(equal if sign == "==" else Not(equal), a.nullable)
    preds: dict[str, Pred] = {
        "<": Cmp("<", a.code, lit(ceil)),
        "<=": Cmp("<=", a.code, lit(floor)),
        ">": Not(Cmp("<=", a.code, lit(floor))),
        ">=": Not(Cmp("<", a.code, lit(ceil))),
    }
    return Condition(preds[sign], a.nullable)


@_condition.register
def _(expr: BoolOp, schema: Schema) -> Condition:
    a, b = condition(expr.left, schema), condition(expr.right, schema)
    pred: Pred = And(a.pred, b.pred) if expr.sign == "and" else Or(a.pred, b.pred)
    return Condition(pred, a.nullable or b.nullable)


@_condition.register
def _(expr: Invert, schema: Schema) -> Condition:
    found = condition(expr.operand, schema)
    return Condition(Not(found.pred), found.nullable)


@_condition.register
def _(expr: IsIn, schema: Schema) -> Condition:
    if not expr.values:
        raise PlanError("isin([]) is never true: name at least one value.")
    parts = [condition(Compare("==", expr.operand, value), schema) for value in expr.values]
    return Condition(_any([part.pred for part in parts]), parts[0].nullable)


def _any(preds: list[Pred]) -> Pred:
    """Return whether one of some conditions holds, by halving: depth is logarithmic."""
    if len(preds) == 1:
        return preds[0]
    middle = len(preds) // 2
    return Or(_any(preds[:middle]), _any(preds[middle:]))


@_condition.register
def _(expr: Between, schema: Schema) -> Condition:
    low = condition(Compare(">=", expr.operand, expr.low), schema)
    high = condition(Compare("<=", expr.operand, expr.high), schema)
    return Condition(And(low.pred, high.pred), low.nullable)


@_condition.register
def _(expr: IsMissing, schema: Schema) -> Condition:
    if isinstance(expr.operand, Ref):
        return Condition(Not(Known(Col(schema[expr.operand.column].parts[0]))), nullable=False)
    return Condition(Not(Known(numeric(expr.operand, schema).code)), nullable=False)


# Group keys


def cells(expr: Expr, schema: Schema) -> Cells:
    """Return an expression as a group key with public labels.

    Raises
    ------
    PlanError, SchemaError
        If it has no declared, finite list of values.
    """
    if isinstance(expr, Bin):
        return _bins(numeric(expr.operand, schema), edge_numbers(expr, schema), expr, schema)
    if isinstance(expr, Among):
        return Cells(*labels.among(expr.operand, expr.values, schema), partial=True)
    if text := labels.text_column(expr, schema):
        raise labels.no_list(text, schema)
    if is_condition(expr):
        number = numeric(expr, schema)
        axis = Axis(show(expr, schema.name), show(expr, schema.name), (False, True))
        return Cells(Key(number.code, 2), axis, number.nullable)
    column = _category(expr, schema)
    if column is not None and column.values is not None:
        axis = Axis(column.name, column.label or column.name, tuple(column.values))
        return Cells(Key(Col(column.name), len(column.values)), axis, column.drops)
    return _small_integers(expr, schema)


def edge_numbers(expr: Bin, schema: Schema) -> list[Fraction]:
    """Return the edges of bins as numbers; of dates they are literal dates."""
    number = numeric(expr.operand, schema)
    return [_constant(edge, number, expr.operand, schema) for edge in expr.edges]


def place_of(expr: Expr, schema: Schema) -> Numeric:
    """Return a number, or the place of a category in its declaration, as the integer that a value of a long list is.

    Raises
    ------
    PlanError, SchemaError
        If it is neither.
    """
    column = _category(expr, schema)
    if column is None or column.values is None or column.numeric:
        return numeric(expr, schema)
    return Numeric(Col(column.name), Fraction(0), Fraction(1), 0, len(column.values) - 1, column.drops)


def value_names(expr: Expr, schema: Schema) -> Axis | None:
    """Return the declared values of a category that are no numbers; nothing for a number."""
    column = _category(expr, schema)
    if column is None or column.values is None or column.numeric:
        return None
    return Axis(column.name, column.label or column.name, tuple(column.values))


def _small_integers(expr: Expr, schema: Schema) -> Cells:
    number, shown = numeric(expr, schema), show(expr, schema.name)
    size = number.high - number.low + 1
    if number.step.denominator != 1 or number.offset.denominator != 1:
        raise PlanError(f"{shown} has no short list of declared values. Group by bins: {shown}.bin([…]).")
    if size > MAX_KEY:
        raise PlanError(
            f"{shown} has {size:,} declared values; a key is limited to {MAX_KEY:,}. Group by bins; "
            "or ask .frequent_values() in a budget with δ."
        )
    origin, step = int(number.offset), int(number.step)
    places = tuple(origin + step * z for z in range(number.low, number.high + 1))
    keys = tuple(start_of(place, number.calendar) for place in places) if number.calendar else places
    name = expr.column if isinstance(expr, Ref) else shown
    label = schema[expr.column].label or name if isinstance(expr, Ref) else shown
    return Cells(Key(Sub(number.code, Lit(number.low)), size), Axis(name, label, keys), number.nullable)


def _bins(number: Numeric, edges: list[Fraction], expr: Bin, schema: Schema) -> Cells:
    if len(edges) < 2 or any(a >= b for a, b in pairwise(edges)):
        raise PlanError(
            "Bins need at least two edges in increasing order, for example .bin([0, 18, 65, 100])."
        )
    places = [(edge - number.offset) / number.step for edge in edges]
    starts = [min(max(math.ceil(p), number.low - 1), number.high + 2) for p in places[:-1]]
    end = min(max(math.floor(places[-1]) + 1, number.low - 1), number.high + 2)
    code = _bin_code(number.code, starts, end)
    labels = [f"[{_tick(a, number.calendar)}, {_tick(b, number.calendar)})" for a, b in pairwise(edges)]
    labels[-1] = labels[-1][:-1] + "]"
    partial = number.nullable or starts[0] > number.low or end <= number.high
    name = show(expr.operand, schema.name) if not isinstance(expr.operand, Ref) else expr.operand.column
    label = (schema[expr.operand.column].label or name) if isinstance(expr.operand, Ref) else name
    return Cells(Key(code, len(labels)), Axis(name, label, tuple(labels)), partial)


def _bin_code(code: IntExpr, starts: list[int], end: int) -> IntExpr:
    bounds = [*starts, end]
    widths = {b - a for a, b in pairwise(bounds)}
    if len(widths) == 1 and (width := widths.pop()) > 0:
        return FloorDiv(Sub(code, Lit(starts[0])), width)
    return _search(code, bounds, -1)


def _search(code: IntExpr, bounds: list[int], first: int) -> IntExpr:
    """Return the number of the half-open interval that holds the code, by halving: depth is logarithmic."""
    if not bounds:
        return Lit(first)
    middle = len(bounds) // 2
    lower = _search(code, bounds[:middle], first)
    upper = _search(code, bounds[middle + 1 :], first + middle + 1)
    return Case(Cmp("<", code, Lit(bounds[middle])), lower, upper)


def _tick(edge: Fraction, calendar: str | None) -> str:
    if calendar is not None:
        return start_of(int(edge), calendar)
    return str(edge.numerator) if edge.denominator == 1 else f"{float(edge):g}"


def equal_edges(expr: Expr, bins: int, schema: Schema) -> tuple[Any, ...]:
    """Return the edges of equal bins over an expression's public range."""
    number = numeric(expr, schema)
    if not 1 <= bins <= 1000:
        raise PlanError("A histogram takes 1 to 1,000 bins.")
    low, width = number.lowest, (number.highest - number.lowest) / bins
    if width == 0:
        raise PlanError("A single possible value has no histogram.")
    if number.calendar is not None:
        places = sorted({math.ceil(low + width * i) for i in range(bins + 1)})
        return tuple(start_of(place, number.calendar) for place in places)
    return tuple(low + width * i for i in range(bins + 1))
