"""The cells of a server's table are read as those of any other source, type by type; no cell is an error."""

from __future__ import annotations

import datetime as dt
import math
import struct
from decimal import Decimal

import numpy as np
import pytest

from dpnb.datasets.cell_text import canonical, text_of
from dpnb.datasets.preparation import prepare as by_reference
from dpnb.errors import OwnerError
from dpnb.trusted.curator.engines import DuckDBEngine
from dpnb.trusted.curator.engines.postgres_session import connect
from dpnb.trusted.curator.engines.postgres_table import fetch, identified, look, text_sql
from dpnb.trusted.curator.engines.raw_table import quoted
from dpnb.trusted.schema.owner import load
from dpnb.trusted.schema.server_table import ServerTable
from tests.contracts.handed import prepare
from tests.contracts.sources import CELLS, OF_TEXTS

RNG = np.random.default_rng(11)
DOUBLES = [
    *(struct.unpack("d", RNG.bytes(8))[0] for _ in range(400)),
    *(float(x) for x in RNG.normal(size=200) * 10.0 ** RNG.integers(-8, 20, 200)),
    *(x for power in range(-6, 24) for x in (10.0**power, np.nextafter(10.0**power, 0), -3.5 * 10.0**power)),
    *(2.0**53 + k for k in range(-3, 4)),
    *(1e15 + 0.5, 1e15 + 0.125, 2.0**52 + 0.5, 0.0, -0.0, 5e-324, 1.7976931348623157e308),
    *(math.inf, -math.inf, math.nan),
]
REALS = [float(x) for x in np.array(DOUBLES[400:700], dtype=np.float32)]
DAYS = [dt.date(1, 1, 1), dt.date(2024, 2, 29), dt.date(9999, 12, 31)]
MOMENTS = [
    dt.datetime.fromisoformat(text) for text in ("0001-01-01T00:00:01", "2020-01-02", "2020-01-02T10:30:00.5")
]
TYPES = {
    "smallint": [-(2**15), 0, 7, 2**15 - 1],
    "integer": [-(2**31), 1, 2**31 - 1],
    "bigint": [-(2**63), 2**53 + 1, 2**63 - 1],
    "boolean": [True, False],
    "numeric": [*map(Decimal, ("1.50", "0", "-0.10", "100", "1e30", "0.1e-30", "NaN", "Infinity", "-Infinity"))],
    "numeric(9,3)": [Decimal("1.500"), Decimal("-7.000")],
    "real": REALS,
    "double precision": DOUBLES,
    "date": DAYS,
    "timestamp": MOMENTS,
    "timestamptz": [moment.replace(tzinfo=dt.UTC) for moment in MOMENTS],
    "text": [c for c in CELLS if isinstance(c, str) and "\x00" not in c],
    "varchar": ["a", " a ", "é"],
    "uuid": ["0b4b2c7e-6f5b-4d68-8f0f-2f0f2f0f2f0f"],
}  # fmt: skip
OUTSIDE = {
    "date": ["infinity", "-infinity", "0044-03-15 BC", "10000-01-01", "5874897-12-31"],
    "timestamp": ["infinity", "-infinity", "0044-03-15 01:00 BC", "10000-01-01 00:00:00", "294276-12-31 23:59"],
    "timestamptz": ["infinity", "-infinity", "10000-01-01 00:00:00Z"],
}  # fmt: skip


def declared(columns=(("x", {"type": "category", "values": ["a", "b"]}),), **dataset):
    """A declaration of these columns, as one reads it from its file."""
    facts = {"name": "visits", "adjacency": "add-remove", **dataset}
    return load({"dataset": facts, "budget": {"epsilon": 1}, "columns": dict(columns)}).schema


def texts_in(place, table, schema):
    """What the server writes of the first column, in the table's order."""
    with connect(table) as connection:
        seen = look(connection, table, schema)
        sql = text_sql(quoted(seen.columns[0].name), seen.columns[0])
        return [row[0] for row in connection.execute(f"SELECT {sql} FROM {seen.sql}").fetchall()]


@pytest.mark.parametrize("kind", TYPES)
def test_a_cell_has_its_own_text(place, kind):
    """Every type that a column can have writes the reference's text of the same value, NULL where that is missing."""
    values = [*TYPES[kind], None]
    with place.server.admin(place.database) as connection:
        connection.execute(f"CREATE TABLE visits (x {kind})")
        with connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO visits VALUES (%s::{kind})", [(v,) for v in values])
    found = texts_in(place, ServerTable(place.uri, "visits"), declared())
    told = canonical if kind in {"real", "double precision"} else text_of
    assert [told(text) if told is canonical else text or None for text in found] == [told(v) for v in values]


@pytest.mark.parametrize("kind", OUTSIDE)
def test_a_day_outside_of_the_years_is_missing(place, kind):
    """Infinite, before the year 1 or after 9999."""
    values = ", ".join(f"('{text}')" for text in OUTSIDE[kind])
    place.run(f"CREATE TABLE visits (x {kind})", f"INSERT INTO visits VALUES {values}")
    assert set(texts_in(place, ServerTable(place.uri, "visits"), declared())) == {None}


def test_what_a_role_sets_changes_no_text(place):
    """Date style, time zone, digits and search path of a role are not those of a session here."""
    place.run("CREATE TABLE visits (x timestamptz)", "INSERT INTO visits VALUES ('2020-01-02 10:30Z')",
              "CREATE SCHEMA evil", f"GRANT USAGE ON SCHEMA evil TO {place.role}",
              f"ALTER ROLE {place.role} SET timezone = 'Asia/Tokyo'",
              f"ALTER ROLE {place.role} SET datestyle = 'German'",
              f"ALTER ROLE {place.role} SET statement_timeout = '1ms'",
              f"ALTER ROLE {place.role} SET search_path = evil, public",
              "CREATE FUNCTION evil.regexp_replace(text, text, text) RETURNS text LANGUAGE sql AS 'SELECT ''evil'''")  # fmt: skip
    assert texts_in(place, ServerTable(place.uri, "visits"), declared()) == ["2020-01-02 10:30:00"]


@pytest.mark.parametrize("kind", ["interval", "time", "bytea", "integer[]", "jsonb", "money", "point"])
def test_another_type_is_refused_by_name(place, kind):
    """With the fix, before a row is read."""
    place.run(f"CREATE TABLE visits (x {kind})")
    with pytest.raises(OwnerError, match="not numbers, texts or dates: convert it first"):
        identified(ServerTable(place.uri, "visits"), declared())


def columns_of(texts):
    """Each declared column of the contract, holding all of the cells."""
    return {column.name: texts for column in OF_TEXTS}


def test_rows_are_prepared_as_the_reference_prepares_them(place, tmp_path):
    """Numbers, categories and dates in texts of every odd form: equal codes, in the table's order."""
    from tests.contracts.sources import schema

    where = schema(columns=OF_TEXTS)
    texts = [*TYPES["text"], None]
    names = [column.name for column in OF_TEXTS]
    with place.server.admin(place.database) as connection:
        connection.execute(f"CREATE TABLE visits ({', '.join(f'{quoted(name)} text' for name in names)})")
        with connection.cursor() as cursor:
            marks = ", ".join(["%s"] * len(names))
            cursor.executemany(
                f"INSERT INTO visits VALUES ({marks})", [[text] * len(names) for text in texts]
            )
    table = ServerTable(place.uri, "visits")
    _, version = identified(table, where)
    with fetch(table, where, version, tmp_path / "rows.csv") as rows:
        prepare(rows, where, tmp_path / "copy.duckdb", key=b"k")
    assert not (tmp_path / "rows.csv").exists()
    found = columns_of(texts)
    with DuckDBEngine(tmp_path / "copy.duckdb") as engine:
        codes = engine._rows_of(f"SELECT {', '.join(map(quoted, names))} FROM prepared")
    wanted = by_reference(found, where, key=b"k")
    assert sorted(map(repr, codes)) == sorted(
        repr(tuple(None if not column.known[row] else int(column.values[row]) for column in
                   (wanted.columns[name] for name in names)))
        for row in range(len(texts))
    )  # fmt: skip


def test_names_of_seventy_bytes_are_read(place, tmp_path):
    """A declaration may write a name as it was written to the server, which cut it; two that are cut to one are refused."""
    long = "é" + "n" * 69
    place.run(f'CREATE TABLE visits ("{long}" integer)', "INSERT INTO visits VALUES (3), (NULL)")
    table = ServerTable(place.uri, "visits")
    schema = declared({long: {"type": "integer", "lower": 0, "upper": 9}}.items())
    _, version = identified(table, schema)
    with fetch(table, schema, version, tmp_path / "rows.csv") as rows:
        prepare(rows, schema, tmp_path / "copy.duckdb")
    both = declared(
        {name: {"type": "integer", "lower": 0, "upper": 9} for name in (long, long + "x")}.items()
    )
    with pytest.raises(OwnerError, match="first 63 bytes"):
        identified(table, both)


def test_a_version_is_what_the_rows_are_known_by(place):
    """Another row, another cell, a row less: another version each; nothing changed: the same; and the table stays itself."""
    place.run(
        "CREATE TABLE visits (x text)", "INSERT INTO visits SELECT g::text FROM generate_series(1, 50) g"
    )
    table, seen = ServerTable(place.uri, "visits"), []
    for act in ("SELECT 1", "INSERT INTO visits VALUES ('a')", "UPDATE visits SET x = 'b' WHERE x = '7'",
                "DELETE FROM visits WHERE x = '9'", "TRUNCATE visits", "VACUUM FULL visits"):  # fmt: skip
        place.run(act)
        seen.append(identified(table, declared()))
    assert len({version for _, version in seen}) == 5
    assert len({identity for identity, _ in seen}) == 1
    assert identified(table, declared()) == seen[-1]


def test_a_table_that_changed_since_it_was_looked_over_is_refused(place, tmp_path):
    """Nothing is left of what was fetched."""
    place.run("CREATE TABLE visits (x text)")
    table = ServerTable(place.uri, "visits")
    _, version = identified(table, declared())
    place.run("INSERT INTO visits VALUES ('a')")
    with pytest.raises(OwnerError, match="changed while it was opened"):
        fetch(table, declared(), version, tmp_path / "rows.csv")
    assert list(tmp_path.iterdir()) == []
