"""Without a copy: codes are computed by the server in every batch, and are the reference's, whatever a cell holds."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from dpnb.datasets.exact_answers import answer
from dpnb.datasets.preparation import read
from dpnb.errors import CuratorGone, OwnerError
from dpnb.planner.request import Ask
from dpnb.trusted.aggregate.algebra import Col, ValueCounts
from dpnb.trusted.curator.engines.postgres import PostgresEngine, write_copy
from dpnb.trusted.curator.engines.postgres_session import connect
from dpnb.trusted.curator.engines.postgres_table import look
from dpnb.trusted.curator.engines.postgres_view import relation
from dpnb.trusted.schema.owner import load
from dpnb.trusted.schema.server_table import ServerTable
from tests.contracts.engine import as_lists, many
from tests.contracts.expressions import SIZES
from tests.contracts.handed import prepare
from tests.curator.engines.test_duckdb import schema_of
from tests.curator.engines.test_sql_dialect import ALL
from tests.postgres.test_attach import PostgresHome
from tests.postgres.test_rows import DAYS, DOUBLES, MOMENTS, OUTSIDE, TYPES

WIDE = [2.0**53, 1e308, -1e308, 1.7e308, 5e-324, 0.49999999999999994, 0.5, 2.5, 99.5, 100.49, 100.5, *DOUBLES]
NUMERICS = [
    *TYPES["numeric"],
    *map(Decimal, ("1e400", "-1e400", "1e-400", "1.8e308", "1.7e308", "1e-310", "41.5", "1e-323")),
]
GRIDS = [
    {"type": "integer", "lower": 0, "upper": 100},
    {"type": "number", "lower": -5, "upper": 5, "step": "0.1", "missing": 0},
    {"type": "number", "lower": 0, "upper": "1e6", "step": "1e-3"},
    {"type": "category", "values": ["0", "1", "2", "x", "41.5", "100", "inf"]},
    {"type": "integer", "lower": 0, "upper": 100, "missing_codes": [41, 99.5, 1, "x"]},
]
STEPS = [
    {"type": "date", "bounds": ["1960-01-01", "2024-12-31"], "step": step}
    for step in ("day", "week", "month")
] + [
    {"type": "datetime", "bounds": ["1960-01-01", "2024-12-31"], "step": "hour"},
    {
        "type": "date",
        "bounds": ["1960-01-01", "2024-12-31"],
        "missing_codes": ["2020-01-02", "2020-01-02 10:30:00.5", 7],
    },
]
DATES = [{"type": "category", "values": ["2020-01-02", "2020-01-02 10:30:00.5", "7"]}]
TEXTS = [{"type": "category", "values": ["Goa", "goa", "é", "it's", "nan", " a "], "missing": "goa"}]
READ = {
    "smallint": (TYPES["smallint"], GRIDS),
    "bigint": ([*TYPES["bigint"], 41, 100, 101], GRIDS),
    "boolean": (TYPES["boolean"], GRIDS),
    "numeric": (NUMERICS, GRIDS),
    "real": (TYPES["real"], GRIDS),
    "double precision": (WIDE, GRIDS),
    "date": (DAYS, [*STEPS, *DATES]),
    "timestamp": (MOMENTS, [*STEPS, *DATES]),
    "timestamptz": (TYPES["timestamptz"], [*STEPS, *DATES]),
    "text": (TYPES["text"], TEXTS),
}


def declared(columns):
    """A declaration of these columns, each of its own type."""
    facts = {"name": "visits", "adjacency": "add-remove"}
    listed = {f"x{place}": column for place, column in enumerate(columns)}
    return load({"dataset": facts, "budget": {"epsilon": 1}, "columns": listed}).schema


def codes(place, schema):
    """The codes that a batch would see."""
    table = ServerTable(place.uri, "visits", copy=False, version="1")
    with connect(table) as connection:
        sql = relation(table, schema, look(connection, table, schema))
        return connection.execute(f"SELECT * FROM {sql}").fetchall()


@pytest.mark.parametrize("kind", READ)
def test_codes_are_the_references(place, kind):
    """Every type on every grid that it can be declared on, with cells at, between and far beyond its ends."""
    values, columns = READ[kind]
    values, schema = [*values, None], declared(columns)
    listed = ", ".join(f"{name} {kind}" for name in schema.names)
    with place.server.admin(place.database) as connection:
        connection.execute(f"CREATE TABLE visits ({listed})")
        with connection.cursor() as cursor:
            marks = ", ".join([f"%s::{kind}"] * len(columns))
            cursor.executemany(f"INSERT INTO visits VALUES ({marks})", [[v] * len(columns) for v in values])
    wanted = [tuple(_filled(read(value, column), column) for column in schema.columns) for value in values]
    assert codes(place, schema) == wanted


def _filled(code, column):
    return column.missing_code if code is None else code


@pytest.mark.parametrize("kind", OUTSIDE)
def test_a_day_outside_of_the_years_is_missing_and_no_error(place, kind):
    """Of infinite dates nothing is subtracted."""
    values = ", ".join("(" + ", ".join([f"'{text}'"] * len(STEPS)) + ")" for text in OUTSIDE[kind])
    schema = declared(STEPS)
    place.run(f"CREATE TABLE visits ({', '.join(f'{n} {kind}' for n in schema.names)})",
              f"INSERT INTO visits VALUES {values}")  # fmt: skip
    assert set(codes(place, schema)) == {(None,) * len(STEPS)}


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        ("text", {"type": "integer", "lower": 0, "upper": 9}),
        ("text", {"type": "category", "values": ["a", "1"]}),
        ("text", {"type": "date", "bounds": ["2020-01-01", "2020-12-31"]}),
        ("integer", {"type": "date", "bounds": ["2020-01-01", "2020-12-31"]}),
    ],
    ids=["number in text", "number among texts", "date in text", "date in numbers"],
)
def test_what_needs_a_copy_is_refused(place, kind, column):
    """With what to change."""
    place.run(f"CREATE TABLE visits (x0 {kind})")
    with pytest.raises(OwnerError, match="Remove copy = false"):
        codes(place, declared([column]))


def test_batches_are_the_references_without_a_copy(place, tmp_path):
    """Every kind of request over codes that are computed in the batch."""
    rows = many(rows=300)
    place.run(f"CREATE TABLE visits ({', '.join(f'{name} bigint' for name in SIZES)})")
    with (
        place.server.admin(place.database) as connection,
        connection.cursor() as cursor,
        cursor.copy("COPY visits FROM STDIN") as into,
    ):
        for row in zip(*rows.values(), strict=True):
            into.write_row(row)
    arrays = {n: np.array([np.nan if v is None else v for v in c], dtype=float) for n, c in rows.items()}
    draft = prepare(arrays, schema_of(SIZES), tmp_path / "copy.duckdb")
    table = ServerTable(place.uri, "visits", copy=False, version="1")
    write_copy(draft, table, schema_of(SIZES), tmp_path / "copy.server")
    batch = [*ALL, ValueCounts(Col("income"))]
    with PostgresEngine(tmp_path / "copy.server") as engine:
        assert as_lists(engine.answer(batch)) == as_lists(answer(rows, batch))
        assert as_lists(engine.answer(batch[::-1])) == as_lists(answer(rows, batch[::-1]))


DECLARED = """
[dataset]
name = "visits"
source = "{source}"
adjacency = "add-remove"
[budget]
epsilon = 4
[source]
{section}
[columns.age]
type = "integer"
lower = 0
upper = 100
[columns.sex]
type = "category"
values = ["f", "m"]
"""


@pytest.fixture
def write(place, tmp_path):
    """Write a declaration of the table `visits`, which holds some rows."""
    place.run("CREATE TABLE visits (age double precision, sex text)",
              "INSERT INTO visits SELECT g - 20, CASE g % 3 WHEN 0 THEN 'f' WHEN 1 THEN 'm' END FROM generate_series(1, 300) g")  # fmt: skip

    def make(section):
        file = tmp_path / "visits.dpnb.toml"
        file.write_text(DECLARED.format(source=f"{place.uri}&table=visits", section=section))
        return file

    return make


def asked(data):
    """Every kind of question."""
    return [
        data.count(),
        data.age.mean(),
        data.age.quantile(0.5),
        data.groupby("sex").age.mean(),
        data.age.histogram(),
        data.age.variance(),
    ]


def test_answers_are_those_of_a_copy(place, write, tmp_path):
    """The same integers, nothing written into the server, and what it costs is said."""
    batches = []
    for name, section in (("copy", ""), ("none", 'copy = false\nversion = "1"')):
        desk = PostgresHome(tmp_path / name)
        data = desk.open(write(section))
        copies = place.run("SELECT count(*) FROM pg_class WHERE relname LIKE 'copy_%'")[0][0]
        assert copies == (1 if name == "copy" else 0)
        desk.session.release(asked(data), Ask.make(epsilon=2))
        assert ("every batch reads" in " ".join(data.notes)) == (name == "none")
        batches.append(repr(desk.batches))
        desk.session.detach(data)
        desk.service.close()
    assert batches[0] == batches[1]


def test_a_table_that_changes_is_seen_in_the_next_batch(place, write, dpnb_home):
    """Each batch in one snapshot; a column that was dropped is told after the charge, and completed when it is back."""
    desk = PostgresHome(dpnb_home)
    data = desk.open(write('copy = false\nversion = "1"'))
    desk.session.release([data.count()], Ask.make(epsilon=1))
    place.run("INSERT INTO visits SELECT * FROM visits")
    desk.session.release([data[data.age >= 0].count()], Ask.make(epsilon=1))
    (first,), (second,) = (found[0] for _, found in desk.batches)
    assert (first, second) == (300, 600)
    place.run("ALTER TABLE visits RENAME age TO gone")
    question = data.age.mean()
    with pytest.raises(CuratorGone, match="no longer fits"):
        desk.session.release([question], Ask.make(epsilon=1))
    with pytest.raises(OwnerError, match='no column "age"'):
        desk.open(write('copy = false\nversion = "1"'))
    place.run("ALTER TABLE visits RENAME gone TO age")
    data = desk.open(write('copy = false\nversion = "1"'))
    desk.session.release([data.age.mean()], Ask.make(epsilon=1))
    assert data.budget.spent.amount == 3
    desk.service.close()


def test_no_copy_needs_a_version(write):
    """Its owner says when the data are others."""
    with pytest.raises(OwnerError, match='write version = "2026-11" beside copy = false'):
        load(write("copy = false"))
