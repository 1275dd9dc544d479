"""One row of each person's rows, before anybody asks: the engine equals the reference, and nobody else's row takes part."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpnb.trusted.aggregate.algebra as reference
from dpnb.datasets import preparation
from dpnb.errors import OwnerError, SchemaError
from dpnb.trusted.aggregate.cap import RANK
from dpnb.trusted.curator.engines import DuckDBEngine
from dpnb.trusted.curator.engines.raw_table import quoted
from dpnb.trusted.files.named_file import NamedFile, NamedFiles, Tables
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from dpnb.trusted.schema.unit_summary import UnitSummary
from tests.contracts.handed import prepare
from tests.examples import examples

KEY = bytes(range(32))
COST = Column.number("cost", Fraction(-1, 2), 10, step=Fraction(1, 4))
VISITS = Column.integer("beds", 1, 8, missing=3)
WARD = Column.category("ward", ["a", "b", "c"])
DAY = Column.dates("day", "2024-01-01", "2024-01-04")
SMOKES = Column.category("smokes", [0, 1], missing=0)


def lines_of(source=""):
    """Every kind of line, and the columns that they make."""
    made = [
        (UnitSummary("n", "count", source, COST), Column.integer("n", 0, 3, missing=0)),
        (UnitSummary("total", "sum", source, COST), Column.number("total", -1, 12, step=Fraction(1, 2))),
        (UnitSummary("beds", "sum", source, VISITS), Column.integer("beds", 0, 9, missing=0)),
        (UnitSummary("middle", "mean", source, COST), Column.number("middle", 0, 10, step=Fraction(1, 3))),
        (UnitSummary("share", "mean", source, SMOKES), Column.number("share", 0, 1, step=Fraction(1, 4))),
        (UnitSummary("ever", "any", source, WARD, among=(0, 2)), Column.category("ever", [0, 1])),
        (
            UnitSummary("last", "latest", source, WARD, DAY),
            Column.category("last", ["a", "b", "c"], missing="c"),
        ),
        (
            UnitSummary("dear", "latest", source, COST, DAY),
            Column.number("dear", Fraction(-1, 2), 10, step=Fraction(1, 4)),
        ),
    ]
    return tuple(line for line, _ in made), tuple(column for _, column in made)


def declared(columns, lines, *, most=1, adjacency="add-remove"):
    """A schema of what is prepared."""
    unit = PrivacyUnit(adjacency, unit="who", max_rows=most)
    return Schema("t", "t", tuple(columns), unit, Budget.from_toml({"epsilon": 1}), prepared=tuple(lines))


def columns_of(rows):
    """Rows of (who, cost, beds, ward, day, smokes) as columns of cells."""
    names = ("who", "cost", "beds", "ward", "day", "smokes")
    cells = list(zip(*rows, strict=True)) or [[] for _ in names]
    return {
        name: np.array([*column, None], dtype=object)[:-1] for name, column in zip(names, cells, strict=True)
    }


def in_engine(path, names):
    """The copy as a multiset of rows."""
    with duckdb.connect(str(path), read_only=True) as connection:
        listed = ", ".join(map(quoted, names))
        return sorted(map(repr, connection.execute(f"SELECT {listed} FROM prepared").fetchall()))


def in_reference(table, names):
    """The same of the reference."""
    return sorted(map(repr, zip(*(table.columns[name].tolist() for name in names), strict=True)))


CELLS = {
    "who": ["ann", "bob", "cy", None],
    "cost": [0, 1.25, -3, "7.5", "n/a", None, math.inf, 1e300, "1.125"],
    "beds": [1, 8, 99, "?", None, 4.4],
    "ward": ["a", "b", "c", "d", "", None],
    "day": ["2024-01-01", "2024-01-03", "2024-01-03 10:00", "2025-01-01", "soon", None],
    "smokes": [0, 1, True, None, "yes"],
}
rows_ = st.lists(st.tuples(*(st.sampled_from(cells) for cells in CELLS.values())), max_size=14)


@settings(deadline=None, max_examples=examples(3))
@given(rows=rows_, order=st.randoms())
def test_one_row_of_each_unit_equals_the_reference_in_any_order(tmp_path_factory, rows, order):
    """Every kind of line, bad cells and rows without a unit among them: engine and reference agree, whatever order rows come in."""
    lines, columns = lines_of()
    schema, folder = declared(columns, lines), tmp_path_factory.mktemp("copy")
    wanted = in_reference(preparation.prepare(columns_of(rows), schema, key=KEY), schema.names)
    assert len(wanted) == len({row[0] for row in rows} - {None})
    for _ in range(2):
        copy = prepare(columns_of(rows), schema, folder / "copy.duckdb", key=KEY)
        assert in_engine(copy, schema.names) == wanted
        order.shuffle(rows)


@settings(deadline=None, max_examples=examples(3))
@given(rows=rows_, visits=rows_, most=st.integers(1, 3))
def test_a_joined_table_equals_the_reference(tmp_path_factory, rows, visits, most):
    """People have their rows up to the cap, each with what is prepared of the other table; without a partner it is as declared."""
    lines, columns = lines_of("visits")
    schema = declared((Column.integer("age", 0, 8), *columns), lines, most=most)
    own, folder = columns_of(rows), tmp_path_factory.mktemp("copy")
    people = {"who": own["who"], "age": own["beds"]}
    wanted = preparation.prepare(people, schema, key=KEY, others={"visits": columns_of(visits)})
    (folder / "people.csv").write_text(as_csv(people))
    (folder / "visits.csv").write_text(as_csv(columns_of(visits)))
    with NamedFile.open(folder / "people.csv") as one, NamedFile.open(folder / "visits.csv") as two:
        copy = prepare(NamedFiles(one, {"visits": two}), schema, folder / "copy.duckdb", key=KEY)
    assert in_engine(copy, schema.names) == in_reference(wanted, schema.names)


@pytest.mark.slow
@pytest.mark.parametrize(("declared_type", "mean"), [("integer", 2.0), ("text", 0.0), (None, 2.0)])
def test_ids_of_two_tables_are_one_by_the_declared_type_whatever_holds_them(tmp_path, declared_type, mean):
    """Seen: of people 7 and 8 the visits of 07 and 08 were nobody's. The keyed order of rows is that of the same names too."""
    people = {"who": [7, 8, 9], "age": [1, 2, 3]}
    visits = {"who": ["07", "+8", "008", "7.0", "07", "08", "A9", None], "cost": [1] * 8}
    line, column = UnitSummary("n", "count", "visits", COST), Column.integer("n", 0, 8, missing=0)
    whose = PrivacyUnit("add-remove", unit="who", max_rows=2, type=declared_type)
    schema = replace(declared((Column.integer("age", 0, 8), column), (line,), most=2), unit=whose)
    wanted = preparation.prepare(people, schema, key=KEY, others={"visits": visits})
    assert sum(wanted.columns["n"].tolist()) / 3 == mean
    for name, table in (("people", people), ("visits", visits)):
        (tmp_path / f"{name}.csv").write_text(as_csv(table))
        pq.write_table(pa.table(table), tmp_path / f"{name}.parquet")
    files = [[tmp_path / f"{name}.{kind}" for kind in ("csv", "parquet")] for name in ("people", "visits")]
    names = (*schema.names, RANK)
    framed = prepare(Tables(people, {"visits": visits}), schema, tmp_path / "copy.duckdb", key=KEY)
    assert in_engine(framed, names) == in_reference(wanted, names)
    for own, other in itertools.product(*files):
        with NamedFile.open(own) as one, NamedFile.open(other) as two:
            copy = prepare(NamedFiles(one, {"visits": two}), schema, tmp_path / "copy.duckdb", key=KEY)
        assert in_engine(copy, names) == in_reference(wanted, names)


def as_csv(columns):
    """A table as text, a missing cell empty."""
    cells = [["" if cell is None else str(cell) for cell in column] for column in columns.values()]
    return "\n".join([",".join(columns), *map(",".join, zip(*cells, strict=True))]) + "\n"


def test_the_definition_by_hand():
    """Two visits of one person, a third without a cost, and nobody's: each answer worked out on paper."""
    lines, columns = lines_of()
    rows = [
        ("ann", 2, 8, "b", "2024-01-03", 1),
        ("ann", "n/a", 2, "a", "2024-01-03", 0),
        ("ann", 1.5, 99, "d", "2024-01-01", None),
        (None, 9, 9, "c", "2024-01-04", 1),
    ]
    schema = declared(columns, lines)
    (found,) = zip(
        *(preparation.prepare(columns_of(rows), schema).columns[n].tolist() for n in schema.names),
        strict=True,
    )
    values = {
        name: None if code is None else schema[name].value_of(code)
        for name, code in zip(schema.names, found, strict=True)
    }
    assert values == {
        "n": 3,  # rows, whatever their cells
        "total": Fraction(7, 2),  # 2 + 1.5
        "beds": 9,  # 8 + 2 + 8, held to 9
        "middle": Fraction(5, 3),  # 1.75 to the next third
        "share": Fraction(1, 4),  # 1/3 to the next quarter; what is missing counts as 0
        "ever": 1,
        "last": "b",  # of both rows of the last day the larger value
        "dear": 2,  # a missing cell is the smallest
    }


@pytest.mark.parametrize("adjacency", ["add-remove", "change-one"])
def test_one_persons_rows_move_one_row(adjacency):
    """Brute force over one to three rows of a person beside others: the prepared tables differ in that person's row alone, on its grid."""
    lines, columns = lines_of()
    schema, rng = declared(columns, lines), random.Random(3)
    row = lambda who: (who, *(rng.choice(cells) for name, cells in CELLS.items() if name != "who"))
    for _ in range(150):
        others = [row(who) for who in ("bob", "bob", "cy", None)]
        mine = [[row("ann") for _ in range(rng.randint(1, 3))] for _ in range(2)]
        sides = [mine[0], mine[1] if adjacency == "change-one" else []]
        tables = [[*others, *side] for side in sides]
        for table in tables:
            rng.shuffle(table)
        counts = [prepared_rows(table, schema) for table in tables]
        apart = [multiset_difference(counts[0], counts[1]), multiset_difference(counts[1], counts[0])]
        assert len(apart[0]) <= 1
        assert len(apart[1]) <= (1 if adjacency == "change-one" else 0)
        for codes in counts[0]:
            assert all(
                code is None or 0 <= code < schema[name].size
                for name, code in zip(schema.names, codes, strict=True)
            )


def prepared_rows(rows, schema):
    """The reference's rows."""
    table = preparation.prepare(columns_of(rows), schema)
    return sorted(zip(*(table.columns[name].tolist() for name in schema.names), strict=True), key=repr)


def multiset_difference(one, other):
    """What one list has beyond another."""
    left = list(other)
    return [row for row in one if not (row in left and not left.remove(row))]


def test_the_copy_holds_one_row_of_a_unit_and_codes_only(tmp_path):
    """Columns of codes: no rank, no unit, no raw cell."""
    lines, columns = lines_of()
    schema = declared(columns, lines)
    rows = [(who, 1, 1, "a", "2024-01-02", 1) for who in ("ann", "bob", "ann", None)]
    copy = prepare(columns_of(rows), schema, tmp_path / "copy.duckdb", key=KEY)
    with duckdb.connect(str(copy), read_only=True) as connection:
        names = [row[0] for row in connection.execute("DESCRIBE prepared").fetchall()]
    assert names == list(schema.names)
    with DuckDBEngine(copy) as engine:
        assert engine.answer([reference.Total(reference.Lit(1))]) == [(2,)]


def test_sums_of_the_widest_grid_are_exact(tmp_path):
    """Rows at the ends of the widest grids add up, and are held to the column's ends."""
    wide = Column.integer("x", -(2**39), 2**39)
    line = UnitSummary("s", "sum", "", wide)
    schema = declared([Column.integer("s", -(2**38), 2**39)], [line])
    raw = {"who": ["a"] * 3 + ["b"] * 9 + ["c"], "x": [2**39] * 3 + [-(2**39)] * 9 + [7]}
    copy = prepare(raw, schema, tmp_path / "copy.duckdb", key=KEY)
    codes = sorted(schema["s"].value_of(int(row[1:-2])) for row in in_engine(copy, ["s"]))
    assert codes == [-(2**38), 7, 2**39]


def wide_sum():
    """A sum of numbers on a grid so fine that one row leaves 62 bits in it."""
    fine = Column.number("x", 0, 1, step=Fraction(1, 10**9))
    return declared([Column.number("s", 0, 1, step=Fraction(1, 9**11))], [UnitSummary("s", "sum", "", fine)])


def wide_latest():
    """The latest of a grid that leaves no room for the order."""
    fine = Column.integer("x", 0, 2**39)
    return declared([Column.integer("s", 0, 2**39)], [UnitSummary("s", "latest", "", fine, fine)])


@pytest.mark.parametrize("made", [wide_sum, wide_latest])
def test_what_leaves_62_bits_is_refused_with_the_line_to_write(made):
    """Before any row is read."""
    with pytest.raises(
        SchemaError, match=r"leaves 62 bits on this grid: write a wider step for x, such as step = 0\.01"
    ):
        made()


def test_the_record_of_a_schema_brings_its_preparation_back():
    """Exactly, with a version of its own: what is stored for another preparation is another answer."""
    lines, columns = lines_of("visits")
    schema = declared((Column.integer("age", 0, 8), *columns), lines)
    assert Schema.from_json(schema.to_json()) == schema
    fewer = declared((Column.integer("age", 0, 8), columns[0]), (UnitSummary("n", "count", "visits", WARD),))
    more = declared((Column.integer("age", 0, 8), columns[0]), (UnitSummary("n", "count", "trips", WARD),))
    assert fewer.version != more.version
    record = schema.to_json()
    record["prepared"][0]["take"] = "median"
    with pytest.raises(SchemaError, match="takes one of count, sum, mean, any, latest"):
        Schema.from_json(record)


def test_tables_that_are_not_at_hand_are_named(tmp_path):
    """A frame cannot stand for two files."""
    lines, columns = lines_of("visits")
    schema = declared((Column.integer("age", 0, 8), *columns), lines)
    with pytest.raises(OwnerError, match=r"t is prepared of the tables visits: open its declaration"):
        prepare({"who": ["a"], "age": [1]}, schema, tmp_path / "copy.duckdb")


def drawn_line(rng, name, source):
    """Any kind of line of any cells that it takes, on a grid of its own."""
    take = rng.choice(["count", "sum", "mean", "any", "latest"])
    of = rng.choice([COST, VISITS, SMOKES] if take in {"sum", "mean"} else [COST, VISITS, WARD, DAY, SMOKES])
    if take == "latest":
        by = rng.choice([DAY, VISITS, COST])
        return UnitSummary(name, take, source, of, by), of.called(
            name, missing=rng.choice(["drop", of.value_of(0)])
        )
    if take == "any":
        among = tuple(sorted(rng.sample(range(of.size), rng.randint(1, min(of.size, 4)))))
        return UnitSummary(name, take, source, of, among=among), Column.category(name, [0, 1])
    step, low = Fraction(rng.choice(["1", "1/3", "0.25", "2"])), rng.choice([-3, 0, 2])
    made = Column.number(name, low, low + step * rng.randint(1, 9), step=step)
    return UnitSummary(name, take, source, of), made


def test_random_preparations_equal_the_reference(tmp_path):
    """Lines, grids, rows and joins as they come: forty columns over drawn tables."""
    rng = random.Random(29)
    for turn in range(4):
        source = rng.choice(["", "visits"])
        made = [drawn_line(rng, f"c{place}", source) for place in range(10)]
        own = () if not source else (Column.integer("age", 0, 8),)
        schema = declared(
            (*own, *(column for _, column in made)), [line for line, _ in made], most=1 if not source else 2
        )
        rows = [tuple(rng.choice(cells) for cells in CELLS.values()) for _ in range(rng.choice([0, 5, 40]))]
        visits = columns_of(rows)
        people = columns_of(rows[:7])
        raw = {"who": people["who"], "age": people["beds"]} if source else visits
        wanted = in_reference(
            preparation.prepare(raw, schema, key=KEY, others={"visits": visits}), schema.names
        )
        folder = tmp_path / str(turn)
        folder.mkdir()
        if not source:
            copy = prepare(raw, schema, folder / "copy.duckdb", key=KEY)
        else:
            (folder / "people.csv").write_text(as_csv(raw))
            (folder / "visits.csv").write_text(as_csv(visits))
            with NamedFile.open(folder / "people.csv") as one, NamedFile.open(folder / "visits.csv") as two:
                copy = prepare(NamedFiles(one, {"visits": two}), schema, folder / "copy.duckdb", key=KEY)
        assert in_engine(copy, schema.names) == wanted


FAR = {
    "int8": [-128, 0, 1, 127],
    "int64": [-(2**63), -1, 0, 2**63 - 1],
    "uint64": [0, 1, 2**63, 2**64 - 1],
    "texts": ["0", "1", "-1", "07", "ann"],
}
"""People's names of several types; those of integers are grouped as integers."""


def people(rng, kind, size, path, *, once=False):
    """Rows with units of one type, of each one row or several: in a file, and with the units' texts."""
    names = FAR[kind]
    drawn = rng.sample(names, len(names)) if once else rng.choices(names, k=size)
    rows = [(name, rng.choice([0, 1.25, 7.5]), rng.randint(1, 8), "a", "2024-01-01", 1) for name in drawn]
    columns = columns_of(rows)
    cells = {name: pa.array(column.tolist()) for name, column in columns.items() if name != "who"}
    who = pa.array(drawn, type=pa.string() if kind == "texts" else kind)
    pq.write_table(pa.table(cells | {"who": who}), path)
    return columns | {"who": np.array([str(name) for name in drawn], dtype=object)}


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("once", [True, False], ids=["one row each", "several rows"])
@pytest.mark.parametrize("kind", FAR)
def test_units_of_any_type_have_the_rows_of_the_reference(kind, once, most, tmp_path):
    """The smallest and the largest names too, whether rows are to be chosen or each unit has one."""
    for turn in range(2):
        file, copy = tmp_path / f"people{turn}.parquet", tmp_path / f"copy{turn}.duckdb"
        raw = people(random.Random(turn), kind, 12, file, once=once)
        schema = declared([COST, VISITS], [], most=most)
        wanted = in_reference(preparation.prepare(raw, schema, key=KEY), schema.names)
        assert in_engine(prepare(file, schema, copy, key=KEY), schema.names) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("other", FAR)
@pytest.mark.parametrize("own", FAR)
def test_tables_meet_by_the_same_unit_whatever_types_hold_it(own, other, tmp_path):
    """An integer and its text are one person, 07 is another; integers of two types are the numbers that they are."""
    lines, columns = lines_of("visits")
    schema = declared([VISITS.called("age"), *columns], lines, most=2)
    for turn in range(2):
        rng = random.Random(turn)
        one, two = tmp_path / f"people{turn}.parquet", tmp_path / f"visits{turn}.parquet"
        mine, visits = people(rng, own, 6, one), people(rng, other, 12, two)
        pq.write_table(pq.read_table(one).rename_columns({"beds": "age"}), one)
        raw = {"who": mine["who"], "age": mine["beds"]}
        wanted = preparation.prepare(raw, schema, key=KEY, others={"visits": visits})
        with NamedFile.open(one) as first, NamedFile.open(two) as second:
            files = NamedFiles(first, {"visits": second})
            copy = prepare(files, schema, tmp_path / f"copy{turn}.duckdb", key=KEY)
        assert in_engine(copy, schema.names) == in_reference(wanted, schema.names)
