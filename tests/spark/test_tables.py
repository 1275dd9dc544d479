"""A table that Spark reads becomes the same copy, bit for bit, as a file of the same cells; and what is refused of one."""

from __future__ import annotations

import datetime as dt
import itertools
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpnb.trusted.curator.engines import spark_session
from dpnb.trusted.curator.engines.spark_table import fetch, identified, look
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from dpnb.trusted.schema.lake_table import LakeTable
from tests.contracts.handed import prepare
from tests.contracts.sources import CELLS, OF_TEXTS

LONG = 'a column\'s name of 70 characters with a `backtick`, a "quote" & a dot.'
assert len(LONG) == 70


def micros(moment):
    """A moment in microseconds since 1970."""
    return int(np.datetime64(moment, "us").astype(np.int64))


INF, NAN = float("inf"), float("nan")
ARROW = {
    "byte": (pa.int8(), [-128, 127, 0]),
    "short": (pa.int16(), [-(2**15), 2**15 - 1, 7]),
    "whole": (pa.int32(), [-(2**31), 2**31 - 1, 41]),
    "large": (pa.int64(), [-(2**63), 2**63 - 1, 2**53 + 1]),
    "single": (pa.float32(), [NAN, INF, 1.5, 0.1]),
    "double": (pa.float64(), [NAN, INF, -INF, 1e300, -0.0, 5e-324, 2.5]),
    "exact": (pa.decimal128(38, 9), [Decimal("1.5"), Decimal("-0.000000001"), Decimal(10) ** 28]),
    "truth": (pa.bool_(), [True, False]),
    "day": (
        pa.date32(),
        [dt.date(1, 1, 1), dt.date(1500, 3, 1), dt.date(9999, 12, 31), dt.date(2020, 2, 29)],
    ),
    "moment": (
        pa.timestamp("us", "UTC"),
        [micros("1582-10-14T00"), micros("2020-01-02T03:04:05.0006")],
    ),
    "local": (pa.timestamp("us"), [micros("1582-10-04T23"), micros("2020-01-02")]),
    LONG: (pa.string(), ["", " 1 ", "1e400", "1_000", "0x1A", "1d", "+1e0", "True", "'", "ä\n", "yes"]),
}
DECLARED = (
    *(
        Column.number(name, -100, 100, step="0.5")
        for name in ("byte", "short", "whole", "large", "single", "double", "exact", "truth")
    ),
    *(
        Column.category(name, ["2020-02-29", "1582-10-04 23:00:00", "1500-03-01"])
        for name in ("day", "local", "moment")
    ),
    Column.category(LONG, ["1", "ä\n", "yes", "1d"]),
)


def schema_of(columns, unit=None):
    """A schema of these columns."""
    kept = unit or PrivacyUnit("add-remove")
    return Schema("visits", "visits", tuple(columns), kept, Budget.from_toml({"epsilon": 1}))


ALL = schema_of(DECLARED)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file of every type that Spark has, each cell beside others and missing ones."""
    rows = 40
    columns = {
        name: pa.array(list(itertools.islice(itertools.cycle([*cells, None]), rows)), kind)
        for name, (kind, cells) in ARROW.items()
    }
    path = tmp_path_factory.mktemp("lake") / "visits" / "part-0.parquet"
    path.parent.mkdir()
    pq.write_table(pa.table(columns), path)
    return path


@pytest.fixture(scope="module")
def table(file):
    """The same as a table of the catalogue."""
    spark = spark_session.session()
    spark.sql("CREATE DATABASE IF NOT EXISTS lake")
    spark.read.parquet(file.parent.as_uri()).write.saveAsTable("lake.visits", mode="overwrite")
    return "lake.visits"


def rows_of(copy):
    """Every code of a copy, in one order of the rows."""
    with duckdb.connect(str(copy), read_only=True) as connection:
        return connection.execute("SELECT * FROM prepared ORDER BY ALL").fetchall()


def copy_of(source, schema, folder):
    """A copy of a table of Spark."""
    where = LakeTable(str(source))
    with fetch(where, schema, identified(where, schema)[1], folder / "fetched") as rows:
        made = prepare(rows, schema, folder / "copy.duckdb", key=b"k")
    assert not (folder / "fetched").exists()
    return made


@pytest.mark.parametrize("named", ["a folder", "a table"])
def test_every_type_is_read_as_from_a_file(named, file, table, tmp_path):
    """Codes are equal to the last bit."""
    expected = prepare(file, ALL, tmp_path / "file.duckdb", key=b"k")
    found = copy_of(file.parent if named == "a folder" else table, ALL, tmp_path)
    assert rows_of(found) == rows_of(expected)
    assert any(code is not None for row in rows_of(found) for code in row)


def test_cells_of_every_rule_are_read_as_from_a_file(tmp_path):
    """Codes for unknown, dates and numbers as people write them, truths and cases, in texts of every odd form."""
    declared = schema_of(OF_TEXTS)
    texts = [*(cell for cell in CELLS if isinstance(cell, str)), None]
    path = tmp_path / "texts" / "part-0.parquet"
    path.parent.mkdir()
    pq.write_table(pa.table({name: pa.array(texts, pa.string()) for name in declared.names}), path)
    expected = prepare(path, declared, tmp_path / "file.duckdb", key=b"k")
    found = rows_of(copy_of(path.parent, declared, tmp_path))
    assert found == rows_of(expected)
    assert all(any(code is not None for code in column) for column in zip(*found, strict=True))


def test_units_have_the_same_ranks(file, table, tmp_path):
    """The rows of a unit are bounded by the same keyed hash."""
    schema = schema_of(DECLARED[2:4], PrivacyUnit("add-remove", "day", 2))
    expected = prepare(file, schema, tmp_path / "file.duckdb", key=b"k")
    assert rows_of(copy_of(table, schema, tmp_path)) == rows_of(expected)


def test_a_folder_and_the_table_on_it_are_one_source(table):
    """Whoever names the files instead of the table is recognised."""
    location = identified(LakeTable(table), ALL)[0]
    folder = Path(spark_session.session().conf.get("spark.sql.warehouse.dir").removeprefix("file:"))
    assert identified(LakeTable(f"{folder}/lake.db/visits"), ALL)[0] == location


def test_a_changed_table_is_another_version(tmp_path):
    """A row more is seen, while it is opened too; a declared version is taken as it is."""
    spark = spark_session.session()
    spark.sql("CREATE TABLE changing USING parquet AS SELECT 1 AS whole")
    try:
        where, schema = LakeTable("changing"), schema_of(DECLARED[2:3])
        before, declared = identified(where, schema), LakeTable("changing", "2026-11")
        kept = identified(declared, schema)
        assert identified(where, schema) == before
        spark.sql("INSERT INTO changing SELECT 2")
        after = identified(where, schema)
        assert after[0] == before[0]
        assert after[1] != before[1]
        assert identified(declared, schema) == kept
        with pytest.raises(OwnerError, match="changed while it was opened"):
            fetch(where, schema, before[1], tmp_path / "fetched")
        assert not (tmp_path / "fetched").exists()
    finally:
        spark.sql("DROP TABLE changing")


def test_a_text_that_is_no_utf_8_is_missing(tmp_path):
    """As in the reference: it is no error that depends on a row."""
    spark_session.session().sql(
        "CREATE TABLE broken USING parquet AS SELECT CAST(X'ff31' AS STRING) AS t UNION ALL SELECT '1'"
    )
    try:
        copy = copy_of("broken", schema_of([Column.category("t", ["1", "2"])]), tmp_path)
        assert sorted((row[0] for row in rows_of(copy)), key=str) == [0, None]
    finally:
        spark_session.session().sql("DROP TABLE broken")


def test_a_table_of_no_rows_is_a_copy_of_none(tmp_path):
    """Its columns are there all the same."""
    spark_session.session().sql("CREATE TABLE nothing (whole INT) USING parquet")
    try:
        assert rows_of(copy_of("nothing", schema_of(DECLARED[2:3]), tmp_path)) == []
    finally:
        spark_session.session().sql("DROP TABLE nothing")


@pytest.mark.parametrize(
    ("source", "column", "words"),
    [
        ("lake.visits", "weight", 'no column "weight"'),
        ("lake.vists", "whole", "Spark has no such table"),
        ("/no/such/folder", "whole", "Spark has no such folder"),
        ("lake.seen", "whole", "is a view"),
        ("lake.odd", "listed", '"listed" holds array, not numbers'),
        ("lake.odd", "span", '"span" holds interval, not numbers'),
        ("lake.odd", "raw", '"raw" holds binary, not numbers'),
    ],
)
def test_what_cannot_be_read_is_told_in_words(source, column, words, table):
    """Before a row is read, and without a word of Spark's own."""
    spark = spark_session.session()
    if source == "lake.odd":
        spark.sql(
            "CREATE TABLE IF NOT EXISTS lake.odd USING parquet AS SELECT array(1) AS listed, X'00' AS raw, INTERVAL '1' DAY AS span"
        )
    if source == "lake.seen":
        spark.sql("CREATE OR REPLACE VIEW lake.seen AS SELECT * FROM lake.visits")
    with pytest.raises(OwnerError, match=words):
        look(LakeTable(source), schema_of([Column.integer(column, 0, 9)]))


def test_a_damaged_file_is_told_without_its_text(tmp_path):
    """What Spark says may quote a row or a key."""
    folder = tmp_path / "visits"
    folder.mkdir()
    (folder / "part-0.parquet").write_bytes(b"no parquet, secret")
    with pytest.raises(OwnerError, match="damaged") as told:
        look(LakeTable(str(folder)), ALL)
    assert "secret" not in str(told.value)
    assert told.value.__cause__ is None
