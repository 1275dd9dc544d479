"""A tiny dataset, every table that one person can hold in it, and what two such tables really cost under some measurements."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import Thresholding
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from tests.fuzz import laws
from tests.fuzz.laws import Cost
from tests.fuzz.pairs import Pair, Rows, _grid, part_cost
from tests.fuzz.tables import Stack

UNITS = {
    "change a row": PrivacyUnit("change-one", rows=4),
    "add a row": PrivacyUnit("add-remove"),
    "add a unit of two rows": PrivacyUnit("add-remove", unit="who", max_rows=2),
    "change a unit of two rows": PrivacyUnit("change-one", unit="who", max_rows=2, units=3),
}
BUDGETS = {
    "epsilon": {"epsilon": 10**6},
    "rho": {"rho": 10**6},
    "delta": {"epsilon": 10**6, "delta": "0.4"},
}


def schema(unit: PrivacyUnit, measure: str = "epsilon", *, missing: bool = True) -> Schema:
    """X in three codes and g in two, which can be missing; c in three and h in two, which cannot."""
    drop: dict[str, Any] = {} if missing else {"missing": 0}
    columns = (
        Column.integer("x", 0, 2, **drop),
        Column.integer("c", -1, 1, missing=0),
        Column.category("g", ["u", "v"]),
        Column.category("h", ["s", "t"], missing="s"),
    )
    return Schema("tiny", "Tiny", columns, unit, Budget.from_toml(BUDGETS[measure]))


def pool(where: Schema, measured: Sequence[Measured]) -> Rows:
    """Every prepared row, and one only of those that add the same to all measurements."""
    codes = ([*range(column.size), *([None] if column.drops else [])] for column in where.columns)
    rows = Rows.of(where, [list(row) for row in itertools.product(*codes)])
    tables = rows.stack([[at] for at in range(len(rows))])
    added = np.concatenate([tables.totals(one.request, _grid(one.part, tables)) for one in measured], axis=1)
    _, kept = np.unique(added, axis=0, return_index=True)
    return Rows.of(where, [rows.row(int(at)) for at in sorted(kept)])


def neighbours(
    where: Schema, rows: int, *, most: int, common: Sequence[tuple[int, ...]] = ((),)
) -> list[Pair]:
    """Pairs of tables that one unit tells apart, beside some common rows: all of them, or so many drawn."""
    unit = where.unit
    held = [
        one
        for size in range(unit.max_rows + 1)
        for one in itertools.combinations_with_replacement(range(rows), size)
    ]
    if unit.by_row:
        held = [one for one in held if len(one) == 1]
    first = [()] if unit.adjacency == "add-remove" else held
    pairs = [Pair(both, one, two) for both in common for one in first for two in held if one != two]
    return pairs if len(pairs) <= most else random.Random(1).sample(pairs, most)


def ordered(where: Schema, rows: int, *, most: int) -> list[Pair]:
    """As :func:`neighbours`, with a unit's rows in every order: which of them comes first is a secret hash's choice."""
    held = [
        one for size in range(where.unit.max_rows + 1) for one in itertools.product(range(rows), repeat=size)
    ]
    first = [()] if where.unit.adjacency == "add-remove" else held
    rng, pairs = random.Random(1), len(first) * len(held)
    drawn = range(pairs) if pairs <= most else rng.sample(range(pairs), most)
    return [Pair((), first[at // len(held)], held[at % len(held)]) for at in drawn]


def common_rows(where: Schema, rows: int, count: int) -> list[tuple[int, ...]]:
    """What tables have in common: nothing, many of one row, or some."""
    rng, found = random.Random(2), [()]
    while len(found) < count:
        found.append(
            tuple(
                rng.choices([rng.randrange(rows) for _ in range(rng.randint(1, 2))], k=rng.choice([1, 3, 8]))
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class Measured:
    """What is measured, and by which request and mechanism."""

    request: Any
    mechanism: Any
    cells: int

    @property
    def part(self) -> Measurement:
        """The same as a part of a priced question."""
        return Measurement("part", self.request, self.mechanism, self.cells)


def cost(measured: Sequence[Measured], rows: Rows, pairs: Sequence[Pair]) -> Cost:
    """What each pair costs under all measurements together: from the output laws, and from nothing that prices."""
    tables = stack(rows, pairs)
    whole = laws.nothing(len(pairs))
    for one in measured:
        whole = whole + part_cost(one.part, tables, len(pairs))
    return whole


def shown(one: Measured, epsilon: Any, rows: Rows, pairs: Sequence[Pair], grid: tuple[int, int]) -> Any:
    """The δ that each pair needs beside an ε under thresholded counts."""
    assert isinstance(one.mechanism, Thresholding)
    counts = stack(rows, pairs).totals(one.request, grid)
    return laws.shown(one.mechanism, epsilon, counts[: len(pairs)], counts[len(pairs) :])


def stack(rows: Rows, pairs: Sequence[Pair]) -> Stack:
    """Both tables of every pair."""
    return rows.both_of(pairs)
