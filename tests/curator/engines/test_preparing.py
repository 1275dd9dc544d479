"""The prepared copy equals the numpy quantiser bit for bit, whatever the source holds and whatever it comes in."""

from __future__ import annotations

import csv
import math
import stat
import struct
from fractions import Fraction

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpnb.datasets import preparation
from dpnb.datasets.containers import plain_column
from dpnb.errors import OwnerError
from dpnb.trusted.curator import engines
from dpnb.trusted.curator.engines.raw_table import quoted
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from tests.contracts.handed import prepare
from tests.examples import examples

KEY = bytes(range(32))


def schema_of(*columns, unit=None):
    """A schema of these columns."""
    unit = unit or PrivacyUnit("add-remove")
    return Schema(name="t", title="t", columns=columns, unit=unit, budget=Budget.from_toml({"epsilon": 1}))


def codes_in(path, name):
    """A column of a prepared copy, in the order of the source."""
    with duckdb.connect(str(path), read_only=True) as connection:
        return [
            row[0]
            for row in connection.execute(f"SELECT {quoted(name)} FROM prepared ORDER BY rowid").fetchall()
        ]


def copied(source, schema, folder, **options):
    """All codes of a source's prepared copy, row by row."""
    path = prepare(source, schema, folder / "copy.duckdb", **options)
    return tuple(zip(*(codes_in(path, name) for name in schema.names), strict=True))


def both(raw, schema, folder, source=None):
    """Codes by the engine and codes by the reference, for every column; of units in one order of the rows."""
    copy = prepare(raw if source is None else source, schema, folder / "copy.duckdb", key=KEY)
    table = preparation.prepare(raw, schema, key=KEY)
    engine = {name: codes_in(copy, name) for name in table.columns}
    numpy = {name: column.tolist() for name, column in table.columns.items()}
    return (engine, numpy) if schema.unit.unit == "row" else (in_one_order(engine), in_one_order(numpy))


def in_one_order(columns):
    """The same rows, sorted: which unit's come first means nothing."""
    rows = sorted(zip(*columns.values(), strict=True), key=repr)
    return dict(zip(columns, zip(*rows, strict=True), strict=True)) if rows else columns


NUMBERS = (
    Column.integer("age", 0, 100),
    Column.integer("shifted", -7, 8),
    Column.number("money", 0, 200_000, step=1),
    Column.number("tenth", Fraction(-1, 10), Fraction(11, 10), step=Fraction(1, 10)),
    Column.number("fine", Fraction(1, 3), Fraction(2, 3)),
    Column.number("huge", -(10**12), 10**12, step=2),
    Column.integer("filled", 0, 10, missing=3),
)

CATEGORIES = (
    Column.category("sex", [0, 1]),
    Column.category("odd", [7, -1, 10**15, 0]),
    Column.category("yes", [False, True]),
    Column.category("place", ["Goa", "goa", "nan", " Goa", "1", "é", "it's", "1e2"]),
    Column.category("known", ["a", "b"], missing="b"),
)


def around(column):
    """Values at, and one binary64 beside, each kind of edge of a grid: bounds, grid points, half-way points."""
    lower, step = float(column.lower), float(column.step)
    points = [
        lower + step * k
        for k in (-1, -0.5, 0, 0.5, 1, 1.5, column.steps / 2 + 0.5, column.steps - 0.5, column.steps)
    ]
    return [x for p in points for x in (p, math.nextafter(p, -math.inf), math.nextafter(p, math.inf))]


SPECIAL = [
    math.nan,
    math.inf,
    -math.inf,
    0.0,
    -0.0,
    5e-324,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    2.0**53 + 2,
]
doubles = st.one_of(
    st.sampled_from(SPECIAL + [x for column in NUMBERS for x in around(column)]),
    st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack("<d", struct.pack("<Q", bits))[0]),
    st.floats(-10, 250_000),
)
texts = st.one_of(
    st.sampled_from(
        [
            "1",
            "0",
            "-1",
            "1.0",
            " 1",
            "1 ",
            "\t1\n",
            "+1",
            "1.",
            ".5",
            ".",
            "1e2",
            "1E2",
            "1e",
            "1_000",
            "1,5",
            "0x1F",
            "inf",
            "-Infinity",
            "+inf",
            "nan",
            "NaN",
            "n/a",
            "NA",
            "true",
            "FALSE",
            "True",
            "é",
            "Goa",
            "goa",
            " Goa",
            "it's",
            "a",
            "b",
            "1e999",
            "-1e999",
            "1e-999",
            "٣",
            "１",
            "--1",
            "1 2",
            "1e15",
            "1000000000000000",
            "7",
            "-1.0",
            "NULL",
            "'",
            '"',
            "1\x00",
        ]
    ),
    st.floats().map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.text(st.characters(codec="utf-8"), max_size=5),
)


@pytest.mark.slow
@settings(max_examples=examples(3))
@given(rows=st.lists(st.tuples(*(doubles for _ in NUMBERS + CATEGORIES)), min_size=1, max_size=40))
def test_numbers_become_the_same_codes_as_in_numpy(tmp_path_factory, rows):
    """Any binary64, in any kind of column, has the reference's code."""
    columns = NUMBERS + CATEGORIES
    raw = {
        column.name: np.array(values) for column, values in zip(columns, zip(*rows, strict=True), strict=True)
    }
    engine, numpy = both(raw, schema_of(*columns), tmp_path_factory.mktemp("copy"))
    assert engine == numpy


@pytest.mark.slow
@settings(max_examples=examples(3))
@given(rows=st.lists(st.tuples(*(st.none() | texts for _ in NUMBERS + CATEGORIES)), min_size=1, max_size=40))
def test_texts_become_the_same_codes_as_in_numpy(tmp_path_factory, rows):
    """Any text, in any kind of column, has the reference's code: what does not parse is missing."""
    columns = NUMBERS + CATEGORIES
    raw = {
        column.name: np.array([*values, "x"], dtype=object)
        for column, values in zip(columns, zip(*rows, strict=True), strict=True)
    }
    engine, numpy = both(raw, schema_of(*columns), tmp_path_factory.mktemp("copy"))
    assert engine == numpy


def test_every_edge_of_every_grid_has_the_code_of_numpy(tmp_path):
    """Bounds, grid points, half-way points and their neighbours in binary64 agree, column by column."""
    values = SPECIAL + [x for column in NUMBERS for x in around(column)]
    raw = {column.name: np.array(values) for column in NUMBERS}
    engine, numpy = both(raw, schema_of(*NUMBERS), tmp_path)
    assert engine == numpy


def test_whole_numbers_of_every_width_have_the_code_of_numpy(tmp_path):
    """64-bit, unsigned and small integers and booleans are read as numbers, beyond 2^53 too."""
    column = Column.number("huge", -(10**15), 10**15, step=2000)
    for kind in (np.int64, np.uint64, np.int32, np.uint8, np.bool_, np.float32):
        top = 1 if kind is np.bool_ else 2**62 if kind is np.float32 else np.iinfo(kind).max
        array = np.array([v for v in (0, 1, 200, 2**31 - 1, 2**53 + 1, 2**62 + 1) if v <= top], dtype=kind)
        engine, numpy = both({"huge": array}, schema_of(column), tmp_path)
        assert engine == numpy


def write_csv(path, raw):
    """A raw table as CSV; missing is an empty field."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(raw)
        writer.writerows(
            zip(*[["" if v is None else v for v in column] for column in raw.values()], strict=True)
        )


RAW_TEXTS = {
    "age": ["41", None, "n/a", "100.5", "-3", "nan", "4 1", "1e1"],
    "place": ["Goa", "goa", None, " Goa", "it's", "é", "a,b", 'say "no"'],
    "sex": ["1", "0", "1.0", None, "2", "yes", "0.0", "01"],
}
MIXED = (Column.integer("age", 0, 100), CATEGORIES[3], CATEGORIES[0])


def test_csv_is_read_as_text(tmp_path):
    """A CSV file has the codes of its texts: one "n/a" changes one row and no type."""
    path = tmp_path / "people.csv"
    write_csv(path, RAW_TEXTS)
    engine, numpy = both(RAW_TEXTS, schema_of(*MIXED), tmp_path, path)
    assert engine == numpy
    assert engine["age"] == [41, None, None, 100, 0, None, None, 10]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_the_delimiter_is_taken_from_the_first_line(tmp_path, delimiter):
    """Semicolons, tabs and bars are read, and a byte-order mark is no part of a name."""
    path = tmp_path / "people.csv"
    path.write_text(
        delimiter.join(["age", "sex"]) + "\n" + delimiter.join(["41", "1"]) + "\n", encoding="utf-8-sig"
    )
    copy = prepare(path, schema_of(MIXED[0], MIXED[2]), tmp_path / "copy.duckdb")
    assert (codes_in(copy, "age"), codes_in(copy, "sex")) == ([41], [1])


def test_every_kind_of_source_gives_the_same_copy(tmp_path):
    """CSV, Parquet, a DuckDB file, arrays, pandas, polars and Arrow tables of the same texts have one copy."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    write_csv(tmp_path / "people.csv", RAW_TEXTS)
    arrow = pa.table(RAW_TEXTS)
    pq.write_table(arrow, tmp_path / "people.parquet")
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.register("texts", arrow)
        connection.execute("CREATE TABLE people AS SELECT * FROM texts; CREATE TABLE other (a INT)")
    coded = pa.table({name: pa.array(values).dictionary_encode() for name, values in RAW_TEXTS.items()})
    frame = pd.DataFrame(RAW_TEXTS)
    sources = [
        RAW_TEXTS,
        tmp_path / "people.csv",
        str(tmp_path / "people.parquet"),
        tmp_path / "people.duckdb",
        arrow,
        coded,
        frame,
        frame.astype("category"),
        pl.DataFrame(RAW_TEXTS),
    ]
    schema = schema_of(*MIXED)
    prints = {copied(source, schema, tmp_path, table="people") for source in sources}
    assert len(prints) == 1


def test_nullable_numbers_of_every_frame_agree(tmp_path):
    """Missing whole numbers in pandas (float or nullable), polars, Arrow and decimals give one copy."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    values = [41, None, 0, 100]
    decimals = pa.array(values).cast(pa.decimal128(21, 2))
    sources = [
        {"age": values},
        {"age": np.ma.MaskedArray([41, 5, 0, 100], mask=[False, True, False, False])},
        pd.DataFrame({"age": values}),
        pd.DataFrame({"age": pd.array(values, dtype="Int64")}),
        pl.DataFrame({"age": values}),
        pa.table({"age": values}),
        pa.table({"age": decimals}),
    ]
    schema = schema_of(MIXED[0])
    assert len({copied(source, schema, tmp_path) for source in sources}) == 1


def test_the_copy_is_its_owners_alone_and_holds_codes_only(tmp_path):
    """Mode 0600; integer columns of the narrowest type and the public sizes: nothing that rows could be cut into parts by."""
    path = prepare(RAW_TEXTS, schema_of(*MIXED), tmp_path / "copy.duckdb")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["copy.duckdb"]
    with duckdb.connect(str(path), read_only=True) as connection:
        types = {row[0]: row[1] for row in connection.execute("DESCRIBE prepared").fetchall()}
        tables = [
            row[0]
            for row in connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
        ]
    assert types == {"age": "TINYINT", "place": "TINYINT", "sex": "TINYINT"}
    assert tables == ["about", "prepared", "sizes"]


def test_no_level_that_was_not_declared_is_in_the_copy(tmp_path):
    """The bytes of the copy hold no text of the source."""
    raw = {"place": ["Xanadu-by-the-sea", "Goa"] * 500}
    path = prepare(raw, schema_of(MIXED[1]), tmp_path / "copy.duckdb")
    assert b"Xanadu" not in path.read_bytes()


units = st.none() | st.sampled_from(["a", "b", "c|1", ""]) | st.integers(0, 3).map(str)


@pytest.mark.slow
@settings(max_examples=examples(6))
@given(
    rows=st.lists(st.tuples(units, st.none() | st.integers(0, 3)), min_size=1, max_size=30),
    most=st.integers(1, 4),
)
def test_a_unit_keeps_the_same_rows_as_in_numpy(tmp_path_factory, rows, most):
    """Each unit keeps its first rows by the keyed hash, duplicates counted; rows without a unit are dropped."""
    raw = {"who": [*(u for u, _ in rows), "z"], "age": [*(a for _, a in rows), 1]}
    raw["who"] = plain_column(np.array(raw["who"], dtype=object))
    schema = schema_of(MIXED[0], unit=PrivacyUnit("add-remove", unit="who", max_rows=most))
    engine, numpy = both(raw, schema, tmp_path_factory.mktemp("copy"))
    assert engine == numpy


def test_which_rows_a_unit_keeps_does_not_depend_on_their_order(tmp_path):
    """Shuffling the source changes no unit's kept rows."""
    rng = np.random.default_rng(1)
    who, age = rng.integers(0, 20, 400).astype(float), rng.integers(0, 100, 400)
    schema = schema_of(MIXED[0], unit=PrivacyUnit("add-remove", unit="who", max_rows=3))
    kept = []
    for order in (np.arange(400), rng.permutation(400)):
        engine, numpy = both({"who": who[order], "age": age[order]}, schema, tmp_path)
        assert engine == numpy
        kept.append(sorted(engine["age"]))
    assert kept[0] == kept[1]
    assert len(kept[0]) == 60


def test_another_key_keeps_other_rows(tmp_path):
    """The kept rows are the key's choice: without it nobody can predict them."""
    raw = {"who": ["a"] * 50, "age": list(range(50))}
    schema = schema_of(MIXED[0], unit=PrivacyUnit("add-remove", unit="who", max_rows=5))
    prints = {copied(raw, schema, tmp_path, key=bytes([n])) for n in range(4)}
    assert len(prints) == 4


@pytest.mark.parametrize("adjacency", ["add-remove", "change-one"])
def test_a_row_or_unit_has_no_name_in_the_copy(adjacency, tmp_path):
    """By rows and by units alike: two tables of equal codes have equal copies, whoever's they are and wherever they stood."""
    for unit, ranked in (
        (PrivacyUnit(adjacency, rows=3 if adjacency == "change-one" else None), []),
        (
            PrivacyUnit(adjacency, unit="who", max_rows=2, units=3 if adjacency == "change-one" else None),
            [0, 0, 0],
        ),
    ):
        found = []
        for who, ages in (("abc", [5, 6, None]), ("zyx", [None, 6, 5])):
            copy = prepare(
                {"who": list(who), "age": ages},
                schema_of(MIXED[0], unit=unit),
                tmp_path / "c.duckdb",
                key=KEY,
            )
            with duckdb.connect(str(copy), read_only=True) as connection:
                found.append(sorted(map(repr, connection.execute("SELECT * FROM prepared").fetchall())))
        assert found[0] == found[1] == sorted(repr((age, *ranked[:1])) for age in (5, 6, None))


def test_the_order_of_a_large_source_is_kept(tmp_path):
    """300,000 rows of a Parquet file keep their places, where each is a unit: a copy is as good as the file, read in its order."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    values = np.random.default_rng(3).integers(0, 101, 300_000)
    pq.write_table(pa.table({"age": values}), tmp_path / "big.parquet", row_group_size=10_000)
    unit = PrivacyUnit("change-one", rows=300_000)
    copy = prepare(tmp_path / "big.parquet", schema_of(MIXED[0], unit=unit), tmp_path / "copy.duckdb")
    with duckdb.connect(str(copy), read_only=True) as connection:
        found = connection.execute("SELECT age FROM prepared ORDER BY rowid").fetchnumpy()["age"]
    assert np.array_equal(found, values)


def test_a_one_row_and_an_all_missing_source_are_prepared(tmp_path):
    """Few rows, no rows and only missing rows are not faults."""
    for values in ([5], [None, None], []):
        copy = prepare({"age": values}, schema_of(MIXED[0]), tmp_path / "copy.duckdb")
        assert codes_in(copy, "age") == values
    (tmp_path / "none.csv").write_text("age,place,sex\n")
    assert codes_in(prepare(tmp_path / "none.csv", schema_of(*MIXED), tmp_path / "c.duckdb"), "age") == []


def refusal(source, schema, folder, make=prepare, **options):
    """The message of the OwnerError that preparing raises; nothing is left behind."""
    with pytest.raises(OwnerError) as caught:
        make(source, schema, folder / "copies" / "copy.duckdb", **options)
    assert list(folder.glob("copies/*")) == []
    return str(caught.value)


def test_files_that_cannot_be_read_are_told_to_the_owner(tmp_path):
    """Missing, empty, nameless, damaged, mis-encoded files and unknown endings each have their message."""
    schema = schema_of(*MIXED)
    cases = {
        "absent.csv": (None, "There is no file"),
        "empty.csv": (b"", "is empty"),
        "nameless.csv": (b"\n1,2\n", "no column names"),
        "twice.csv": (b"age,age\n1,2\n", "twice"),
        "latin.csv": ("age,place,sex\n1,é,0\n".encode("latin-1"), "not UTF-8 text"),
        "ragged.csv": (b"age,place,sex\n1,Goa\n1,Goa,0,secret\n", "line 2 has another number"),
        "wrong.parquet": (b"not parquet", "cannot be read as parquet"),
        "wrong.duckdb": (b"not a database" * 100, "cannot be read as duckdb"),
        "people.xls": (b"PK", "dpnb reads .csv"),
    }
    for name, (content, message) in cases.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
        told = refusal(tmp_path / name, schema, tmp_path)
        assert message in told
        assert "secret" not in told


def test_a_missing_column_is_named(tmp_path):
    """The message names the column that the schema declares and the data lack."""
    ages = {"age": np.array([1])}
    assert '"place"' in refusal(ages, schema_of(MIXED[0], MIXED[1]), tmp_path, engines.prepare)


def test_a_wrong_type_is_named(tmp_path):
    """Dates and nested values are no numbers: the owner is told what to convert."""
    dates = {"age": np.array(["2020-01-01"], dtype="datetime64[D]")}
    import pyarrow as pa

    assert "convert it" in refusal(pa.table(dates), schema_of(MIXED[0]), tmp_path)
    assert "convert it" in refusal(pa.table({"age": [[1, 2]]}), schema_of(MIXED[0]), tmp_path)


def test_a_wrong_public_size_is_refused_without_the_true_one(tmp_path):
    """Neither the number of rows nor of units is printed when it differs from the schema's."""
    rows = schema_of(MIXED[0], unit=PrivacyUnit("change-one", rows=5))
    assert "7319" not in (told := refusal({"age": np.zeros(7319)}, rows, tmp_path))
    assert "rows = 5" in told
    by_unit = schema_of(MIXED[0], unit=PrivacyUnit("change-one", unit="who", max_rows=2, units=5))
    raw = {"age": np.zeros(7319), "who": np.arange(7319)}
    assert "7319" not in (told := refusal(raw, by_unit, tmp_path))
    assert "units = 5" in told


def test_tables_of_a_database_are_chosen_by_name(tmp_path):
    """A file with several tables needs a name; an unknown one is refused with the names there are."""
    with duckdb.connect(str(tmp_path / "two.duckdb")) as connection:
        connection.execute("CREATE TABLE one AS SELECT 41 AS age; CREATE TABLE two AS SELECT 42 AS age")
    schema = schema_of(MIXED[0])
    for table in (None, "three"):
        assert "one, two" in refusal(tmp_path / "two.duckdb", schema, tmp_path, table=table)
    assert codes_in(prepare(tmp_path / "two.duckdb", schema, tmp_path / "c.duckdb", table="two"), "age") == [
        42
    ]


def test_names_that_sql_cannot_tell_apart_are_refused(tmp_path):
    """Two columns that differ only in case are told to the owner."""
    assert "only in case" in refusal(
        {}, schema_of(Column.integer("a", 0, 2), Column.integer("A", 0, 2)), tmp_path, engines.prepare
    )


def test_odd_names_are_quoted(tmp_path):
    """Quotes, spaces, keywords and the names that statements use inside are ordinary column names."""
    names = ['a"b', "select", "cell", "c0", "s0", "r0", "t0", "ö x", "name", "prepared"]
    names += ["l0", "tl0", "x", "n", "cells", "owner", "h", "i", "d", "place"]
    columns = [Column.integer(name, 0, 100) for name in names]
    copy = prepare(
        {name: [place] for place, name in enumerate(names)}, schema_of(*columns), tmp_path / "copy.duckdb"
    )
    assert [codes_in(copy, name) for name in names] == [[place] for place in range(len(names))]
