"""Neighbours among raw tables, with cells of every kind: only the changed unit's rows move, and no more than is charged."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pytest

from dpnb.datasets.preparation import prepare
from dpnb.errors import DpnbError
from dpnb.planner import price
from dpnb.trusted.schema.cell_rules import KEYS
from tests.fuzz import pairs, questions
from tests.fuzz.report import value

KEY = b"a key"
ODD = (
    None,
    float("nan"),
    float("inf"),
    float("-inf"),
    0.49999,
    -1e300,
    10**20,
    2.5,
    7,
    -3,
    True,
    np.float32(1.5),
)
TEXTS = ("?", "", " 3 ", "1.0", "01", "+2", "1e1", "nan", "true", "u", "٣", 'x"', "a,b", "-inf", "0x10")
TEXTS += ("2020-02-29", "2020-02-30", " 2020-02-15T23:30-02:00", "2019-01-01 00:00:00", "9999-12-31")
TEXTS += (
    "0,5",
    "1.000",
    "(2)",
    "$ 1",
    "50 %",
    "-1,5 €",
    "29/02/2020",
    "31/02/2020",
    "1/3/2020 9:30 PM",
    "U",
    " v ",
    "Yes",
    "N",
    "999",
)


CODES = [999, -3, "?", "u", " 3 ", "2020-02-29", "a"]
RULES = {
    "number": {"decimal": [","], "thousands": [",", ".", "'"], "strip": ["$ €"], "percent": [True], "parentheses": [True]},
    "date": {"format": ["%d/%m/%Y"]},
    "datetime": {"format": ["%d/%m/%Y", "%d/%m/%Y %I:%M %p"]},
    "category": {"trim": [True], "case": ["any"], "true": [["Yes", 1]], "false": [["N", 0, "no"]]},
    "text": {},
}  # fmt: skip
"""What may be declared of the cells of a column of each type, beside codes for unknown."""


def ruled(rng, where):
    """The same columns, each with some rules of its cells; what contradicts itself or the values is drawn again."""
    return replace(where, columns=tuple(_ruled(rng, column) for column in where.columns))


def _ruled(rng, column):
    offered = {"missing_codes": [rng.sample(CODES, 2)]} | RULES.get(column.type, RULES["number"])
    for _ in range(5):
        keys = {key: rng.choice(values) for key, values in offered.items() if rng.random() < 0.5}
        if ("true" in keys) == ("false" in keys):
            with suppress(DpnbError):
                return column.ruled(keys)
    return column


def cell(rng, column):
    """A declared value, or anything else."""
    kind = rng.random()
    if column.text is not None and kind < 0.7:
        return rng.choice([*questions.LABELS, " a", "A ", "much too long a label"])
    if column.text is None and kind < 0.6:
        return value(column, rng.choice([0, column.size - 1, rng.randrange(column.size)]))
    odd = [
        one for one in ODD if column.text is None or one != 10**20
    ]  # as a number or as a float: another text
    return rng.choice(odd if kind < 0.8 else TEXTS) if kind < 0.9 else None


def contained(cells, column=None):
    """A column in the container that its cells suggest: whole numbers, floats with NaN for what is missing, else objects.

    Of texts with a comma for a point all are objects: a column of floats is refused there.
    """
    kinds = {type(found) for found in cells if found is not None}
    if column is not None and column.cells.of_texts:
        kinds.add(str)
    whole = bool(cells) and kinds == {int} and None not in cells and max(map(abs, cells)) < 2**62
    if whole:
        return np.array(cells, dtype=np.int64)
    if cells and kinds <= {int, float}:
        return np.array([np.nan if found is None else float(found) for found in cells])
    return np.array([*cells, None], dtype=object)[:-1]


@dataclass(frozen=True)
class Rows:
    """Raw rows of one table, and the unit that each belongs to."""

    rows: tuple = ()
    units: tuple = ()

    def columns(self, where):
        """The table as columns, in the containers that their cells suggest."""
        found = {
            column.name: contained([row[at] for row in self.rows], column)
            for at, column in enumerate(where.columns)
        }
        return found | {"who": contained(list(self.units))}

    def also(self, rows, unit):
        """These rows, and some of one unit."""
        return Rows((*self.rows, *rows), (*self.units, *[unit] * len(rows)))


@dataclass(frozen=True)
class Raw:
    """Raw rows of a schema, and those of the other tables of which it prepares columns."""

    where: object
    tables: dict

    @classmethod
    def empty(cls, where):
        """No rows in any table."""
        return cls(where, dict.fromkeys(("", *where.sources), Rows()))

    def columns(self):
        """Each table as columns."""
        return {name: rows.columns(self.where.rows_of(name)) for name, rows in self.tables.items()}

    def prepared(self):
        """The prepared rows, as codes."""
        columns = self.columns()
        others = {name: columns[name] for name in self.where.sources}
        table = prepare(columns[""], self.where, key=KEY, others=others)
        lists = [table.columns[part].tolist() for part in self.where.parts]
        return [tuple(row) for row in zip(*lists, strict=True)]

    def also(self, held, unit):
        """These rows, and in each table some of one unit."""
        return Raw(self.where, {name: rows.also(held[name], unit) for name, rows in self.tables.items()})


def row(rng, where):
    """One raw row."""
    return tuple(cell(rng, column) for column in where.columns)


def rows_of_one(rng, where):
    """What one unit holds in each table: one row where the unit is the row, else one to many, some of them equal; elsewhere also none."""
    if where.unit.by_row:
        return {"": [row(rng, where)]}
    held = {}
    for name in ("", *where.sources):
        found = [row(rng, where.rows_of(name)) for _ in range(rng.randint(1, 3))]
        held[name] = rng.choices(found, k=rng.randint(0 if name else 1, 3 * where.unit.max_rows))
    return held


def others(rng, where):
    """The rows of everybody else: as many units as are declared."""
    unit = where.unit
    size = (unit.rows or unit.units or rng.choice([1, 2, 6])) - 1
    found, ids = Raw.empty(where), rng.choice([range(10, 50), [f"p{at}" for at in range(40)]])
    for who in list(ids)[:size]:
        found = found.also(rows_of_one(rng, where), who)
    return found


def neighbours(rng, where):
    """Two raw tables, and what is common to both."""
    common, me = others(rng, where), rng.choice([1, "me"])
    one = common.also(rows_of_one(rng, where), me)
    return (
        common,
        one,
        common if where.unit.adjacency == "add-remove" else common.also(rows_of_one(rng, where), me),
    )


def moved_rows(common, table):
    """The prepared rows that a table has beside the common ones; none of those may be lost or changed."""
    before, after = Counter(common.prepared()), Counter(table.prepared())
    assert not before - after
    return after - before


def raw_pairs(seed, cells, each=6, *, summed=False):
    """Hold raw neighbours against what cells are charged, of prepared columns where they are ``summed``; how many there were."""
    rng, seen = random.Random(seed), 0
    while seen < cells * each:
        where, batch = pairs.case(rng, rng.choice(list(questions.PARTS)))
        where = questions.prepared(rng, where) if summed else ruled(rng, where)
        try:
            priced = price(*batch, where)
            for item in priced.items:
                pairs.listable(item)
        except (DpnbError, pairs.TooLong):
            continue
        tables, made = [], []
        for _ in range(each):
            common, one, two = neighbours(rng, where)
            for side in (one, two):
                assert sum(moved_rows(common, side).values()) <= where.unit.max_rows
            prepared = [one.prepared(), two.prepared()]
            start = len(tables)
            tables += [*prepared[0], *prepared[1]]
            middle = start + len(prepared[0])
            made.append(pairs.Pair((), tuple(range(start, middle)), tuple(range(middle, len(tables)))))
        try:
            found, whole = pairs.judged(priced, pairs.Rows.of(where, tables), made)
        except pairs.TooLong:
            continue
        ratios = [*(r for claim in found for r in claim.ratios.values()), *whole.values()]
        assert all((r <= 1 + pairs.EXACT).all() for r in ratios), (where.to_json(), batch, made)
        seen += each
    return seen


def test_every_rule_of_a_cell_is_drawn():
    """What is never drawn is never tried."""
    rng = random.Random(43)
    wheres = [ruled(rng, questions.schema(rng)) for _ in range(60)]
    drawn = {key for where in wheres for column in where.columns for key in column.cells.to_json()}
    assert drawn == {key for keys in KEYS.values() for key in keys}


@pytest.mark.parametrize("seed", range(2))
def test_one_units_raw_rows_move_no_others_and_cost_no_more_than_is_charged(seed):
    """Numbers off the grid, texts, infinities, NaN and missing, in whatever container they make and by whatever rules; units with too many rows."""
    assert raw_pairs(seed, 60) >= 360


@pytest.mark.parametrize("seed", range(2))
def test_one_units_rows_of_every_table_move_its_prepared_row_and_no_other(seed):
    """Lines of preparation of a unit's own rows and of another table's, joined to its rows: any rows of it, none among them."""
    assert raw_pairs(seed, 60, summed=True) >= 360


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4))
def test_many_raw_rows_move_no_others_and_cost_no_more_than_is_charged(part):
    """The long version, anew each time."""
    seed = random.SystemRandom().randrange(2**40)
    print(f"raw_pairs({seed}, 5000, summed={part % 2 == 1}), part {part}")
    raw_pairs(seed, 5000, summed=part % 2 == 1)
