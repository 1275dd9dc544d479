"""A violation as text: the question as it is typed, and a few lines of Python that show it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from pprint import pformat
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnb.datasets.preparation import prepare
from dpnb.planner import Ask, Item, Question, price
from dpnb.trusted.schema import Column, Schema
from tests.fuzz.questions import Cell

if TYPE_CHECKING:
    from tests.fuzz.pairs import Pair, Rows, Violation

WIDTH = 110


def pasted(found: Violation) -> str:
    """What to read, and what to paste into a file and run from the repository's root."""
    found = shrunk(found)
    typed = [f"#   {item.question.text}" for item in found.batch.items]
    asked = written(found.batch)["ask"]
    one, two = (raw_rows(found.where, found.pool, found.pair, side) for side in ("one", "two"))
    return "\n".join(
        [
            "",
            f"# {found.said}",
            f"# Typed in one cell, {asked}, on {kind_of(found.where)}:",
            *typed,
            "from tests.fuzz.report import replay",
            f"schema = {pformat(found.where.to_json(), width=WIDTH)}",
            f"batch = {pformat(written(found.batch), width=WIDTH)}",
            f"table = {pformat(one, width=WIDTH)}",
            f"neighbour = {pformat(two, width=WIDTH)}",
            "print(replay(schema, batch, table, neighbour))",
            "",
        ]
    )


def written(batch: Cell) -> dict[str, Any]:
    """A batch as plain values, to be pasted."""
    ask = {field.name: getattr(batch.ask, field.name) for field in fields(batch.ask)}
    return {
        "items": [
            [item.question.to_json(), str(item.weight), None if item.spend is None else str(item.spend)]
            for item in batch.items
        ],
        "ask": {
            name: str(value) if isinstance(value, Fraction) else value for name, value in ask.items() if value
        },
    }


def read(record: Mapping[str, Any]) -> Cell:
    """The batch that was written."""
    items = tuple(
        Item(Question.from_json(question), Fraction(weight), None if spend is None else Fraction(spend))
        for question, weight, spend in record["items"]
    )
    return Cell(items, Ask.make(**record["ask"]))


def kind_of(where: Schema) -> str:
    """Whom a dataset protects, and its budget."""
    unit = where.unit
    return f"{where.name} ({unit.adjacency}, unit {unit.unit}, {unit.max_rows} rows, {where.budget.label})"


def raw_rows(where: Schema, pool: Rows, pair: Pair, side: str) -> dict[str, list[Any]]:
    """A table as it would be handed over: values, None where missing, and who owns the row."""
    places = [*pair.both, *getattr(pair, side)]
    rows = [pool.row(at) for at in places]
    columns = {column.name: [cell(where, column, row) for row in rows] for column in where.columns}
    if where.unit.unit != "row":
        columns[where.unit.unit] = [f"p{at}" for at in range(len(pair.both))] + ["me"] * len(
            getattr(pair, side)
        )
    return columns


def cell(where: Schema, column: Column, row: Sequence[int | None]) -> Any:
    """The plain value of a column in a row of codes: of a text, the label that several are."""
    start = list(where.parts).index(column.parts[0])
    if column.text is None:
        return value(column, row[start])
    codes = [code for code in row[start : start + len(column.parts)] if code is not None]
    return column.text.told(codes) if codes else None


def value(column: Column, code: int | None) -> Any:
    """The value that a code stands for, as a plain Python value."""
    if code is None:
        return None
    found = column.value_of(code)
    return found if isinstance(found, int | str) else float(found)


def shrunk(found: Violation) -> Violation:
    """The violation with as few common rows as still show it, where their number is private."""
    from tests.fuzz.pairs import Pair, Violation

    pair = found.pair
    if found.where.unit.rows is not None:
        return found
    for at in reversed(range(len(pair.both))):
        less = Pair(pair.both[:at] + pair.both[at + 1 :], pair.one, pair.two)
        if largest(found.where, found.batch, found.pool, less) > 1:
            pair = less
    return Violation(found.where, found.batch, found.pool, pair, found.said)


def largest(where: Schema, batch: Cell, pool: Rows, pair: Pair) -> float:
    """The largest ratio of one pair."""
    from tests.fuzz.pairs import EXACT, judged

    claims, whole = judged(price(*batch, where).refined(frozenset()), pool, [pair])
    every = [*(ratios for claim in claims for ratios in claim.ratios.values()), *whole.values()]
    return max((float(ratios[0]) for ratios in every), default=0.0) - EXACT


def replay(
    schema: Mapping[str, Any],
    batch: Mapping[str, Any],
    table: Mapping[str, Sequence[Any]],
    neighbour: Mapping[str, Sequence[Any]],
) -> dict[str, float]:
    """What each question of a cell needs on two tables, as ratios of what it is charged."""
    from tests.fuzz.pairs import Pair, Rows, judged

    where, asked = Schema.from_json(schema), read(batch)
    cells = [row for rows in (table, neighbour) for row in prepared_rows(rows, where)]
    first = len(prepared_rows(table, where))
    pair = Pair((), tuple(range(first)), tuple(range(first, len(cells))))
    claims, whole = judged(price(*asked, where).refined(frozenset()), Rows.of(where, cells), [pair])
    found = {
        f"{claim.item.text}: {kind}": float(ratios[0])
        for claim in claims
        for kind, ratios in claim.ratios.items()
    }
    return {**found, **{f"the whole cell: {kind}": float(ratios[0]) for kind, ratios in whole.items()}}


def prepared_rows(raw: Mapping[str, Sequence[Any]], where: Schema) -> list[list[int | None]]:
    """The rows of a raw table as codes."""
    columns = {name: np.array(values, dtype=object) for name, values in raw.items()}
    table = prepare(columns, replace(where, prepared=()))  # the rows are what was prepared
    lists = [table.columns[part].tolist() for part in where.parts]
    return [list(row) for row in zip(*lists, strict=True)]
