"""A question against the public schema: integers, cells and shape, or an error that names the fix.

What is wrong with a question is found here, before any charge, from public facts. What may be wrong in the data (no rows,
an empty arm, a constant column) is never an error: the release has the same shape and carries flags.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpnb.errors import OptionError, PlanError, SchemaError
from dpnb.planner.compile import (
    Cells,
    cells,
    condition,
    edge_numbers,
    equal_edges,
    is_condition,
    numeric,
    place_of,
    value_names,
)
from dpnb.planner.dates import period_edges
from dpnb.planner.estimand import estimand
from dpnb.planner.expression import Bin, Const, Expr, Ref, show
from dpnb.planner.labels import text_column
from dpnb.planner.question import Question
from dpnb.planner.work import limited_steps
from dpnb.statistics import BY_NAME, Numeric, Pricing, Setting, Statistic
from dpnb.statistics._base import Axis
from dpnb.statistics.formula_terms import spelling
from dpnb.statistics.result import ReadingFunction
from dpnb.trusted.aggregate.algebra import (
    And,
    Cmp,
    Known,
    Not,
    Pred,
    Range,
    bounds,
    conjuncts,
)
from dpnb.trusted.measurements.facts import Facts, capped, code_ranges
from dpnb.trusted.measurements.regions import Regions
from dpnb.trusted.query.limits import MOST_CELLS
from dpnb.trusted.query.plan import Share
from dpnb.trusted.schema import Schema, nearest


@dataclass(frozen=True, slots=True)
class CheckedQuestion:
    """A question that the schema allows.

    Parameters
    ----------
    question : Question
        What was asked.
    statistic : str
        Registered name.
    text : str
        The question as a person would type it.
    axes : tuple of Axis
        Public directions of the answer; nothing where they are released with it.
    shape : tuple of int
        Shape of the answer; ``()`` for one number; nothing where it is released with it.
    setting : Setting
        The question in integer terms.
    domain : (float, float)
        Public range of the answer.
    estimand : str
        What is estimated where values are clamped to bounds; empty where none are.
    """

    question: Question
    statistic: str
    text: str
    axes: tuple[Axis, ...] | None
    shape: tuple[int, ...] | None
    setting: Setting
    domain: tuple[float, float]
    estimand: str = ""

    @property
    def kind(self) -> Statistic:
        """The statistic."""
        return BY_NAME[self.statistic]

    @property
    def readings(self) -> Mapping[str, ReadingFunction]:
        """What the release can be read as beside the answer, free."""
        return self.kind.readings_of(self.setting)

    @property
    def public_value(self) -> float | None:
        """The answer, where the schema alone gives it."""
        return self.kind.public_value(self.setting)

    def price(self, share: Share) -> Pricing:
        """Return the measurements that a share buys, with their noise."""
        return self.kind.price(self.setting, share)


def check(question: Question, schema: Schema) -> CheckedQuestion:
    """Return the checked question.

    Raises
    ------
    PlanError, SchemaError, OptionError
        If it names what is not declared, or asks what cannot be bounded.
    """
    if question.dataset != schema.name:
        raise SchemaError(f"This question asks {question.dataset!r}, but the schema is of {schema.name!r}.")
    limited_steps(question)
    statistic = _statistic(question.statistic)
    options = _options(question, statistic)
    key = _key(question, statistic, options, schema)
    target, target_cells = _target(question, statistic, key, schema)
    other = _other(question, statistic, schema)
    others = _others(question, statistic, schema)
    groups = [cells(key, schema) for key in question.by]
    if statistic.arms:
        _two_arms(groups, question, schema)
    if target_cells is not None:
        groups.append(target_cells)
    _limit(groups)
    setting = _setting(question, schema, (target, other, *others), groups, statistic, options)
    _refuse_dates(statistic, (target, other, *others), question, schema)
    binned = key.operand if isinstance(key, Bin) else None
    calendar = None if binned is None else numeric(binned, schema).calendar
    setting = replace(setting, edges=_edges(statistic, key, schema), calendar=calendar)
    if setting.nobody and statistic.public_value(setting) is None:
        raise PlanError(
            f"Nobody can be in {question.subset}: the declared columns allow no such row. Ask it of a wider selection."
        )
    if statistic.target == "value":
        return _of_values(question, statistic, setting, schema)
    axes = setting.axes + statistic.extra_axes(setting)
    setting = replace(setting, axes=axes)
    shape = tuple(len(axis.keys) for axis in axes)
    return CheckedQuestion(
        question,
        statistic.name,
        question.text,
        axes,
        shape,
        setting,
        statistic.domain(setting),
        estimand(question, statistic, setting, schema),
    )


def _of_values(question: Question, statistic: Statistic, setting: Setting, schema: Schema) -> CheckedQuestion:
    """Return a question about the values of a long list: which of them the answer names is released with it."""
    if question.by:
        raise PlanError(
            f"{statistic.name}() is not asked by groups: ask it of each selection, for example {schema.name}[…]."
        )
    assert question.target is not None
    beside = [one for one in (question.other, *question.others) if one is not None]
    named = tuple(_called(one, schema) for one in (question.target, *beside))
    numbers = tuple(numeric(one, schema) for one in beside)
    terms = tuple(map(_term, (question.target, *beside)))
    setting = replace(setting, subject=named[0], names=named, terms=terms, numbers=numbers)
    setting = replace(
        setting, choices=value_names(question.target, schema), text=text_column(question.target, schema)
    )
    statistic.extra_axes(setting)
    domain = statistic.domain(setting)
    return CheckedQuestion(question, statistic.name, question.text, None, None, setting, domain)


def _statistic(name: str) -> Statistic:
    if name not in BY_NAME:
        close = nearest(name, tuple(BY_NAME))
        hint = f" Did you mean {close}?" if close else f" Known: {', '.join(BY_NAME)}."
        raise PlanError(f"unknown statistic {name!r}.{hint}")
    return BY_NAME[name]


def _options(question: Question, statistic: Statistic) -> dict[str, Any]:
    given = dict(question.options)
    for name in given:
        if name not in statistic.defaults:
            close = nearest(name, tuple(statistic.defaults))
            hint = (
                f": did you mean {close}?"
                if close
                else f". It takes {', '.join(statistic.defaults) or 'none'}."
            )
            raise OptionError(f"unknown option {name!r} for {statistic.name}(){hint}")
    options = {**statistic.defaults, **given}
    return {name: statistic.option(name, value) for name, value in options.items()}


def _target(
    question: Question, statistic: Statistic, key: Expr | None, schema: Schema
) -> tuple[Numeric | None, Cells | None]:
    expr = question.target
    if statistic.target == "none":
        if expr is not None:
            raise PlanError("count() counts rows: filter them, for example hiv[hiv.age > 30].count().")
        return None, None
    if expr is None:
        raise PlanError(f"{statistic.name}() needs a column.")
    if statistic.target in {"number", "pair", "weighted", "numbers"}:
        return numeric(expr, schema), None
    if statistic.target == "value":
        return (None if text_column(expr, schema) else place_of(expr, schema)), None
    return None, cells(expr if key is None else key, schema)


def _key(question: Question, statistic: Statistic, options: dict[str, Any], schema: Schema) -> Expr | None:
    """Return what a statistic of a key counts, or chooses from; nothing where it is of something else, or of nothing."""
    if question.target is None or statistic.target not in {"key", "choice"}:
        return None
    return _binned(question.target, options, schema)


def _other(question: Question, statistic: Statistic, schema: Schema) -> Numeric | None:
    """Return the second number, where the statistic is of two."""
    if statistic.target not in {"pair", "weighted"}:
        if question.other is not None and statistic.beside:
            return numeric(question.other, schema)
        if question.other is not None:
            raise PlanError(f"{statistic.name}() is about one column, not two.")
        return None
    if question.other is None:
        raise PlanError(
            f'{statistic.name}() needs a second column, for example .{statistic.name}("{_example(schema)}").'
        )
    if statistic.target == "weighted":
        _declared_weight(question.other, schema)
    return numeric(question.other, schema)


def _declared_weight(expr: Expr, schema: Schema) -> None:
    """Refuse weights that may depend on other people's rows: nobody has declared that they do not."""
    if isinstance(expr, Ref) and schema[expr.column].weights_fixed:
        return
    if not isinstance(expr, Ref):
        raise PlanError(f"A weight is a declared column, not {show(expr, schema.name)}.")
    raise PlanError(
        f"{expr.column} is not declared as a weight: its owner writes weights_fixed = true under [columns.{expr.column}], "
        "if no weight depends on other people's rows. Raked or calibrated weights do."
    )


def _others(question: Question, statistic: Statistic, schema: Schema) -> list[Numeric]:
    """Return the further numbers of a statistic of many."""
    beside = statistic.beside and question.other is not None
    if statistic.target != "numbers" and not beside:
        if question.others:
            raise PlanError(f"{statistic.name}() is not about several columns.")
        return []
    named = [question.other if beside else question.target, *question.others]
    if len(set(named)) < len(named):
        raise PlanError(f"{statistic.name}() names a column twice: name each once.")
    if question.by and not beside:
        raise PlanError(
            f"{statistic.name}() is not asked by groups: ask it of each selection, for example {schema.name}[…].{statistic.name}(…)."
        )
    return [numeric(expr, schema) for expr in question.others]


def _example(schema: Schema) -> str:
    return next((column.name for column in schema.columns if column.numeric), "income")


def _binned(expr: Expr, options: dict[str, Any], schema: Schema) -> Expr:
    """Return the key that a histogram counts: bins where they are asked or needed."""
    if "bins" not in options:
        return expr
    bins, edges = options["bins"], options["edges"]
    if bins is not None and edges is not None:
        raise OptionError("Give bins= or edges=, not both.")
    number = None if is_condition(expr) or isinstance(expr, Bin) else _dates(expr, schema)
    if number is not None and isinstance(bins, str):
        return Bin(expr, tuple(period_edges(number, bins, show(expr, schema.name))))
    texts = isinstance(edges, tuple) and any(isinstance(edge, str) for edge in edges)
    if isinstance(bins, str) or (number is None and texts):
        raise OptionError("bins= is a whole number such as 10, or edges such as [0, 10, 20].")
    if edges is not None:
        return Bin(expr, edges if isinstance(edges, tuple) else (edges,))
    if bins is None and isinstance(expr, Ref) and schema[expr.column].type == "category":
        return expr
    if isinstance(expr, Bin):
        return expr
    if bins is not None and (isinstance(bins, bool | str | tuple) or Fraction(bins).denominator != 1):
        raise OptionError("bins= is a whole number; give edges= for uneven bins.")
    return Bin(
        expr, tuple(Const(edge) for edge in equal_edges(expr, 10 if bins is None else int(bins), schema))
    )


def _dates(expr: Expr, schema: Schema) -> Numeric | None:
    """Return an expression of dates as a number; nothing of other expressions."""
    if isinstance(expr, Ref) and not schema[expr.column].numeric:
        return None
    number = numeric(expr, schema)
    return None if number.calendar is None else number


def _refuse_dates(
    statistic: Statistic, numbers: tuple[Numeric | None, ...], question: Question, schema: Schema
) -> None:
    """Refuse sums of dates, and what is made of them: a date has no zero."""
    if statistic.of_dates or all(number is None or number.calendar is None for number in numbers):
        return
    shown = show(question.target, schema.name) if question.target is not None else "This question"
    raise PlanError(
        f"{statistic.name}() is asked of numbers, and {shown} holds dates: ask .median() or .histogram(), "
        "or ask it of a difference of two dates."
    )


def _edges(statistic: Statistic, key: Expr | None, schema: Schema) -> tuple[Fraction, ...]:
    """Return the edges of the bins that a statistic of a key counts."""
    counted = key if statistic.target == "key" else None
    return tuple(edge_numbers(counted, schema)) if isinstance(counted, Bin) else ()


def _two_arms(groups: list[Cells], question: Question, schema: Schema) -> None:
    if not groups:
        raise PlanError('difference() compares two declared groups: .difference(by="any").')
    if groups[-1].key.size != 2:
        shown = show(question.by[-1], schema.name)
        raise PlanError(
            f"difference(by=…) needs exactly two declared values; {shown} has {groups[-1].key.size}. "
            "Compare two sides of a condition instead, for example by=(… > 30)."
        )


def _limit(groups: list[Cells]) -> None:
    size = math.prod(group.key.size for group in groups)
    if size > MOST_CELLS:
        raise PlanError(
            f"This question has {size:,} cells; the limit is {MOST_CELLS:,}. Use fewer keys or wider bins."
        )


def _several_cells(groups: list[Cells], *, private: bool) -> None:
    """Refuse a single cell that is known to hold every row: the number in it is public, so nothing is left to count."""
    if groups and not private and math.prod(group.key.size for group in groups) == 1:
        raise PlanError(
            "This question has one group, and every row is in it: ask it without the group, or use two bins or more."
        )


def _setting(
    question: Question,
    schema: Schema,
    numbers: tuple[Numeric | None, ...],
    groups: list[Cells],
    statistic: Statistic,
    options: dict[str, Any],
) -> Setting:
    where: Pred | None = None
    private = any(group.partial for group in groups)
    if question.where is not None:
        where, private = condition(question.where, schema).pred, True
    for number in numbers:
        if number is not None and number.nullable:
            known = Known(number.code)
            where, private = known if where is None else And(where, known), True
    unit = capped(schema.unit, where)
    private = private or unit.rows is None
    chosen = groups[-1].axis if statistic.target == "choice" else None
    axes = tuple(group.axis for group in (groups[:-1] if statistic.arms or chosen else groups))
    _bounded_sum(numbers[0], unit.rows)
    _several_cells(groups, private=private)
    subject = _subject(question, schema)
    keys = tuple(group.key for group in groups)
    target, other, *_ = numbers
    many = tuple(n for n in numbers if n is not None) if statistic.target == "numbers" else ()
    called = [expr for expr in (question.target, *question.others) if expr is not None] if many else []
    return Setting(
        unit,
        target,
        where,
        keys,
        axes,
        private,
        options,
        subject,
        other,
        chosen,
        many,
        tuple(_called(expr, schema) for expr in called),
        terms=tuple(map(_term, called)),
        nobody=keeps_nobody(where, schema),
        facts=Facts.of(schema),
    )


def _bounded_sum(target: Numeric | None, rows: int | None) -> None:
    """Refuse a sum that could leave 126 bits for any table that fits in memory."""
    reach = 0 if target is None else max(abs(target.low), abs(target.high))
    if reach * max(rows or 0, 2**48) > 2**126:
        raise PlanError(
            "This expression has too wide a range to be summed exactly; use wider steps or clip it."
        )


def _subject(question: Question, schema: Schema) -> str:
    if question.target is None:
        return "rows"
    named = [question.target, *([] if question.other is None else [question.other]), *question.others]
    return " and ".join(_called(expr, schema) for expr in named)


def _term(expr: Expr) -> str:
    """An expression as a term of a formula, in one spelling, whatever the dataset is called."""
    return spelling(show(expr, "it"))


def _called(expr: Expr, schema: Schema) -> str:
    return expr.column if isinstance(expr, Ref) else show(expr, schema.name)


def keeps_nobody(where: Pred | None, schema: Schema) -> bool:
    """Tell whether a filter is true for no row that the schema allows; what is not proved is no.

    A condition on one column is compared with its declared codes, together with all others on it that must hold too;
    a comparison of expressions with the ranges that they can have.
    """
    ranges = code_ranges(schema)
    if not all(Regions(ranges).of(where).values()):
        return True
    return any(_never(condition, ranges) for condition in conjuncts(where))


def _never(condition: Pred, ranges: Mapping[str, Range]) -> bool:
    if isinstance(condition, Not):
        return isinstance(condition.a, Cmp) and _always(condition.a, ranges)
    if not isinstance(condition, Cmp):
        return False
    (low, high), (first, last) = (bounds(side, ranges) for side in (condition.a, condition.b))
    match condition.op:
        case "==":
            return high < first or last < low
        case "<":
            return low >= last
    return low > last


def _always(comparison: Cmp, ranges: Mapping[str, Range]) -> bool:
    """Tell whether a comparison holds wherever both sides are known."""
    (low, high), (first, last) = (bounds(side, ranges) for side in (comparison.a, comparison.b))
    match comparison.op:
        case "==":
            return low == high == first == last
        case "<":
            return high < first
    return high <= first
