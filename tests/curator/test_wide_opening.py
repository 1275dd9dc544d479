"""What an opening does once, it does once for each column."""

from __future__ import annotations

import pytest

from dpnb.datasets import load
from dpnb.trusted.curator.engines.cell_sql import canonical_sql, number_sql
from dpnb.trusted.curator.engines.preparing import prepared_sql
from dpnb.trusted.curator.engines.raw_table import RawTable
from dpnb.trusted.schema import Column
from dpnb.trusted.wire.codec import raw as as_json
from dpnb.trusted.wire.messages import FileSource
from tests.benchmarks.bench_class import declaration, wide_schema
from tests.curator import small

WIDTH = 40


def opened(session, folder, name):
    """Open a file of one row in so many columns."""
    path = folder / f"{name}.csv"
    header = ",".join(declaration(WIDTH)["columns"])
    path.write_text(header + "\n" + ",".join(str(len(name) + n) for n in range(WIDTH)) + "\n")
    schema = load(declaration(WIDTH, name)).schema
    return session.attach(FileSource(path=str(path), schema=as_json(schema.to_json())))


def test_a_declaration_is_written_out_seven_times_whatever_else_is_open(curator, tmp_path, monkeypatch):
    """Seen: eight times, as the terms of all open datasets were made anew to find those of the same name."""
    session, written, plain = small.session(curator), [], Column.to_json
    opened(session, tmp_path, "first")
    monkeypatch.setattr(Column, "to_json", lambda column: written.append(column.name) or plain(column))
    opened(session, tmp_path, "second")
    # by its owner, as a version, as terms, in the copy's note and in the reply; and twice to compare what was read with what is written
    assert len(written) == 7 * WIDTH


@pytest.mark.parametrize("kind", ["VARCHAR", "BIGINT"])
def test_a_column_of_a_wide_table_adds_few_letters_to_its_statements(kind):
    """Planning is linear in what is written: the reading of a cell is written once for all columns of a type."""
    sizes = {}
    for width in (1000, 2000):
        schema = wide_schema(width)
        raw = RawTable("r", {name: (f'"{name}"', kind) for name in schema.names})
        sizes[width] = len(prepared_sql({"": raw}, schema, b""))
    assert sizes[2000] - sizes[1000] <= 85 * 1000  # seen: 94


def test_the_reading_of_a_type_is_written_once_however_many_columns_have_it():
    """Seen: a fifth of a wide opening was writing the same SQL for each column."""
    schema = wide_schema(1000)
    raw = RawTable("r", {name: (f'"{name}"', "VARCHAR") for name in schema.names})
    canonical_sql.cache_clear()
    number_sql.cache_clear()
    prepared_sql({"": raw}, schema, b"")
    assert canonical_sql.cache_info().misses <= 1
    assert number_sql.cache_info().misses <= 3
