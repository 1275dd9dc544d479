"""Cells in SQL as the declared rules of their columns read them: :class:`dpnb.trusted.schema.cell_rules.CellRules` over again, equal to it.

Each rule is a step of its own, a SELECT over the one before: what a step makes of a cell is written once and computed once. No
expression looks at another row. Columns without rules pass as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from dpnb.trusted.curator.engines.cell_sql import (
    DATED,
    RULES,
    dated,
    is_text,
    label_sql,
    literal,
    number_sql,
    otherwise_dated,
    text_sql,
)
from dpnb.trusted.schema import Column
from dpnb.trusted.schema.cell import number_of
from dpnb.trusted.schema.cell_rules import MIDNIGHT
from dpnb.trusted.schema.text_rules import TextRule

Step = Callable[[str], str]
"""From the SQL of a cell to that of what a step makes of it."""


def ruled(
    relation: str, found: Sequence[tuple[str, str]], columns: Sequence[Column], unit: str | None
) -> tuple[str, list[tuple[str, str]], str | None]:
    """Return a relation of ruled cells.

    Parameters
    ----------
    relation : str
        A raw relation.
    found : sequence of (str, str)
        SQL name and type of each declared column in it.
    columns : sequence of Column
    unit : str or None
        The SQL of the unit that each row names: it is read of the raw cell, whatever is declared of the column.

    Returns
    -------
    (str, list of (str, str), str or None)
        The relation, SQL name and type of each declared column, and the SQL of the unit in it.
    """
    steps = [_steps(column, kind) for column, (_, kind) in zip(columns, found, strict=True)]
    if not any(made for made, _ in steps):
        return relation, list(found), unit
    names = [f"r{place}" for place in range(len(columns))]
    cells = [f"{sql} AS {name}" for name, (sql, _) in zip(names, found, strict=True)]
    beside, whose = ([], None) if unit is None else ([f'{unit} AS "##unit"'], '"##unit"')
    relation = f"(SELECT {', '.join((*cells, *beside))} FROM {relation})"
    for depth in range(max(len(made) for made, _ in steps)):
        cells = [
            f"{made[depth](name)} AS {name}" if depth < len(made) else name
            for name, (made, _) in zip(names, steps, strict=True)
        ]
        relation = f"(SELECT {', '.join(cells if whose is None else (*cells, whose))} FROM {relation})"
    return relation, [(name, kind) for name, (_, kind) in zip(names, steps, strict=True)], whose


def _steps(column: Column, kind: str) -> tuple[list[Step], str]:
    """What is made of a column's cells, one step after the other, and the type that they have then."""
    steps, kind = _texts(column, kind)
    codes, rules = column.cells.missing_codes, column.cells.rules
    if column.cells.format and not codes:
        return [*steps[:-1], partial(dated, rule=rules[0]), partial(otherwise_dated, rule=rules[0])], DATED
    if not codes or column.type == "category":  # a code is no declared value: it is missing in any case
        return steps, kind
    if column.text is not None:
        return [*steps, partial(label_sql, kind=kind, text=column.text), _without(codes)], "VARCHAR"
    if column.calendar is not None:
        return [*steps, partial(trimmed_sql, kind=kind), partial(_unless_coded, codes=codes)], "VARCHAR"
    numbers = [f"CAST('{number!r}' AS DOUBLE)" for number in map(number_of, codes) if number is not None]
    return [*steps, partial(number_sql, kind=kind), _without(numbers, quote=str)], "DOUBLE"


def _texts(column: Column, kind: str) -> tuple[list[Step], str]:
    """The steps of the rules from text to text, and to the number that such a text is."""
    rules = column.cells.rules
    numbers = column.type in ("integer", "number")
    if not rules or (numbers and not is_text(kind)):  # a number that a type holds as such has no form
        return [], kind
    own: list[Step] = [] if kind == "VARCHAR" else [partial(text_sql, kind=kind)]
    steps = [*own, *map(_rule, rules)]
    return ([*steps, _cast], "DOUBLE") if numbers else (steps, "VARCHAR")


def _rule(rule: TextRule) -> Step:
    return lambda sql: RULES[rule.kind](sql, rule)


def _cast(sql: str) -> str:
    """What a rule makes of a number is one of the plain grammar, or nothing."""
    return f"TRY_CAST({sql} AS DOUBLE)"


def trimmed_sql(sql: str, kind: str) -> str:
    """A cell's text without the blanks around it."""
    return RULES["trim"](text_sql(sql, kind), TextRule("trim"))


def _without(values: Sequence[str], quote: Callable[[str], str] = literal) -> Step:
    """What is one of these values is missing."""
    listed = ", ".join(map(quote, values))
    return lambda sql: f"CASE WHEN {sql} IN ({listed}) THEN NULL ELSE {sql} END" if values else sql


def dated_sql(sql: str) -> str:
    """The text of a moment, where it is a date's midnight that of the date."""
    return f"regexp_replace({sql}, {literal(MIDNIGHT)}, '')"


def _unless_coded(sql: str, codes: Sequence[str]) -> str:
    return f"CASE WHEN {dated_sql(sql)} IN ({', '.join(map(literal, codes))}) THEN NULL ELSE {sql} END"


def read_sql(sql: str, kind: str, column: Column) -> tuple[str, str]:
    """The text or number that is read of a cell, as one expression, and its type; codes for missing cells are as others."""
    steps, kind = _texts(column, kind)
    for step in steps:
        sql = step(sql)
    return sql, kind
