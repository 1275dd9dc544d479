"""A cell in SQL is the cell in Python, for every type that a file can have."""

from __future__ import annotations

import datetime as dt
import random

import duckdb
import numpy as np
import pytest

from dpnb.datasets.cell_text import canonical, text_of, unit_of
from dpnb.trusted.curator.engines.cell_sql import (
    canonical_sql,
    literal,
    moment_sql,
    number_sql,
    readable,
    text_sql,
    unit_sql,
)
from dpnb.trusted.schema.calendar import STEPS, place_of
from dpnb.trusted.schema.cell import number_of

HUGE = 2**127 - 1
CELLS = {
    "TINYINT": [0, -128, None],
    "INTEGER": [0, -1, 2**31 - 1],
    "BIGINT": [0, 2**53 + 1, 2**53 - 1, -(2**53), -(2**63), 2**63 - 1],
    "UBIGINT": [2**64 - 1, 2**53],
    "HUGEINT": [HUGE, -HUGE, 5],
    "UHUGEINT": [2**128 - 1],
    "BIGNUM": [10**40, -5],
    "DOUBLE": ["0.1", "nan", "inf", "-inf", "-0.0", "1e22", "1e23", "9007199254740992", "5e-324", "1e-5", None],
    "FLOAT": ["0.1", "16777217", "nan", "1e38"],
    "BOOLEAN": ["true", "false", None],
    "DECIMAL(10,2)": ["1.5", "100", "0", "-0.01", "-100.00"],
    "DECIMAL(38,10)": ["1.5", "12345678901234567890.0000000001"],
    "DECIMAL(18,0)": ["100", "123456789012345678"],
    "DATE": ["2020-01-01", "0001-01-01", "9999-12-31", None],
    "TIMESTAMP": ["2020-01-01", "2020-01-01 10:30:00.120", "0001-01-01 00:00:01", "1969-12-31 23:59:59.999999"],
    "TIMESTAMP_S": ["2020-01-01 10:30:01"],
    "TIMESTAMP_MS": ["2020-01-01 10:30:01.5"],
    "VARCHAR": ["1", "01", "true", "", "x", "it's", "9007199254740993", None],
    "ENUM('a', '01', '', 'true')": ["a", "01", "", "true"],
    "UUID": ["829f22d2-8a8d-46fe-bc2b-b80ca48dbb32"],
}  # fmt: skip


def read_by_sql(kind, cells, *readings):
    """Each cell as Python has it, with what SQL makes of it."""
    literals = ["NULL" if cell is None else literal(str(cell)) for cell in cells]
    column = ", ".join(f"(CAST({cell} AS {kind}))" for cell in literals)
    with duckdb.connect() as connection:
        rows = connection.execute(f"SELECT v, {', '.join(readings)} FROM (VALUES {column}) t(v)").fetchall()
    assert len(rows) == len(cells)
    return rows


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "cells"), CELLS.items(), ids=str)
def test_every_type_is_read_as_python_reads_it(kind, cells):
    """Text, canonical text and number of a cell agree with the definition."""
    assert readable(kind)
    readings = [make("v", kind) for make in (text_sql, canonical_sql, number_sql)]
    for held, text, canon, number in read_by_sql(kind, cells, *readings):
        assert (text, canon) == (text_of(held), canonical(held))
        finite = None if number is None or number != number else number  # noqa: PLR0124
        assert finite == number_of(text_of(held))


IDS = (
    "7", "07", "+7", "7.0", " 7", "70e-1", "-7", "-0", "7.5", "true", "A7", " A7", "7a", "", "nan", "inf", "-Infinity", "1e5",
    "9007199254740993", "09007199254740993", "+9007199254740993.0", "9007199254740993.5", "900719925474099.3e1", "-" + "9" * 30,
    "100000000000000000000", "1e20", "123456789012345678901234567890", " 12345678901234567890123456789.00e1 ", "5e1234",
    "50e1233", "1e40", "1e41", "1" + "0" * 41, "1e9" + "9" * 50, "1e-9" + "9" * 50, "2020-01-01", "1_000", "٣",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("declared", [None, "integer", "text"])
@pytest.mark.parametrize(("kind", "cells"), [*CELLS.items(), ("VARCHAR", IDS)], ids=lambda one: str(one)[:30])
def test_every_type_names_the_unit_that_python_says(kind, cells, declared):
    """By the unit's declared type, digit by digit; of a binary64 only what it carries exactly."""
    for held, unit in read_by_sql(kind, cells, unit_sql("v", kind, declared)):
        assert unit == unit_of(held, declared), held


def test_what_names_a_unit_by_its_declared_type():
    """An integer however it is written, every digit of it; a text as it is written; and a number, or else a text."""
    sevens = ("7", "07", "+7", "7.0", " 7", "70e-1", 7, 7.0)
    assert {unit_of(cell, "integer") for cell in sevens} == {unit_of(cell) for cell in sevens} == {"7"}
    assert len({unit_of(cell, "text") for cell in sevens}) == 6
    for one, other in (
        ("9007199254740993", "+09007199254740993.0"),
        ("100000000000000000000", "1e20"),
        ("123456789012345678901234567890", " 12345678901234567890123456789.00e1 "),
        ("5e1234", "50e1233"),
        (2**53 + 1, "9007199254740993"),
    ):
        assert unit_of(one) == unit_of(other) == unit_of(one, "integer") == unit_of(other, "integer")
    assert unit_of("9007199254740993") != unit_of("9007199254740992")
    assert [unit_of(cell, "integer") for cell in ("A7", "7.5", "inf", "", None, 2.0**53)] == [None] * 6
    assert [unit_of(cell) for cell in ("A7", "7.5", "0A7", 2.0**53)] == ["A7", "7.5", "0A7", None]


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS["datetime"])
@pytest.mark.parametrize(("kind", "cells"), CELLS.items(), ids=str)
def test_every_type_falls_in_the_step_that_python_says(kind, cells, step):
    """The hour, day, week and month of a cell of every type; a number is none."""
    for held, place in read_by_sql(kind, cells, moment_sql("v", kind, step)):
        assert place == place_of(text_of(held), step)


DAYS = (
    "2021-03-01",
    "2021-02-29",
    "2020-02-29",
    "1900-02-29",
    "0000-01-01",
    "0001-01-01",
    "9999-12-31",
    "1969-12-28",
)
DAYS += (
    "1582-10-10",
    "2021-13-01",
    "2021-3-1",
    "20210301",
    "infinity",
    "٢021-03-01",
    "2021-03-01\n2021-03-01",
    "x",
    "",
)
TIMES = ("", " 00:00", "T23:59:59.999999999", " 24:00", "T10", " 10:30:61", "T01:30", "x", " ")
ZONES = ("", "Z", "z", "+02:00", "-0230", "+23:59", "+24:00", "-00:01", "+2", " +02:00")


@pytest.mark.parametrize("step", STEPS["datetime"])
def test_every_text_falls_in_the_step_that_python_says(step):
    """Days that do not exist, hours beyond a day, zones across midnight and across the year 1."""
    texts = [f"{day}{time}{zone}" for day in DAYS for time in TIMES for zone in ZONES]
    with duckdb.connect() as connection:
        held = np.array(texts, dtype=object)
        connection.register("cells", {"v": held})
        rows = connection.execute(f"SELECT v, {moment_sql('v', 'VARCHAR', step)} FROM cells").fetchall()
    wrong = [(text, place) for text, place in rows if place != place_of(text, step)]
    assert len(rows) == len(texts)
    assert not wrong
    assert sum(place is not None for _, place in rows) > 100


def test_every_power_of_two_is_written_with_its_shortest_decimal():
    """An engine prints such numbers by a rule of their own: two numbers are never one text."""
    powers = [sign * 2.0**power for power in range(-1074, 1024) for sign in (1, -1)]
    with duckdb.connect() as connection:
        connection.register("powers", {"v": np.array(powers)})
        found = connection.execute(f"SELECT {canonical_sql('v', 'DOUBLE')} FROM powers").fetchall()
    assert [row[0] for row in found] == [canonical(power) for power in powers]


def test_moments_that_python_cannot_hold_are_missing_or_universal():
    """Years beyond 1 to 9999 and infinity are missing, zones become universal time, nanoseconds stay."""
    cases = {
        ("DATE", "infinity"): None,
        ("DATE", "0044-03-15 (BC)"): None,
        ("TIMESTAMP", "12345-01-01"): None,
        ("TIMESTAMP WITH TIME ZONE", "2020-01-01 10:30:00.12+05:30"): "2020-01-01 05:00:00.12",
        ("TIMESTAMP_NS", "2020-01-01 00:00:00.000000500"): "2020-01-01 00:00:00.0000005",
    }
    with duckdb.connect() as connection:
        for (kind, text), wanted in cases.items():
            sql = f"SELECT {canonical_sql('v', kind)} FROM (SELECT CAST({literal(text)} AS {kind}) AS v)"
            assert connection.execute(sql).fetchall() == [(wanted,)]
    zone = dt.timezone(dt.timedelta(hours=5.5))
    assert canonical(dt.datetime(2020, 1, 1, 10, 30, 0, 120_000, zone)) == "2020-01-01 05:00:00.12"


@pytest.mark.parametrize(
    "kind",
    ["BLOB", "INTEGER[]", "VARCHAR[3]", "STRUCT(a INTEGER)", "MAP(INTEGER, INTEGER)", "INTERVAL", "TIME", "BIT"],
)  # fmt: skip
def test_other_types_are_not_readable(kind):
    """Nested values, bytes and spans of time are no cells: such a column is refused by its type."""
    assert not readable(kind)


def test_texts_and_numbers_drawn_at_random_agree_bit_for_bit():
    """Twenty thousand texts of digits, signs, blanks and words, and as many doubles of every exponent."""
    draw = random.Random(5)
    letters = "0123456789+-.eE infINFtrueTRUEfalse\t\x00ſé'\"\n٣"
    texts = ["".join(draw.choices(letters, k=draw.randint(0, 6))) for _ in range(15_000)]
    texts += [repr(draw.uniform(-1, 1) * 10.0 ** draw.randint(-320, 300)) for _ in range(5000)]
    texts += [str(draw.randint(-(10 ** draw.randint(1, 40)), 10**40)) for _ in range(2000)]
    doubles = np.frombuffer(draw.randbytes(8 * 20_000), dtype=np.float64)
    held = np.empty(len(texts), dtype=object)
    held[:] = texts
    with duckdb.connect(config={"pandas_analyze_sample": "0"}) as connection:
        for cells, kind in ((held, "VARCHAR"), (doubles, "DOUBLE")):
            connection.register("cells", {"v": cells})
            sql = f"SELECT {text_sql('v', kind)}, {canonical_sql('v', kind)} FROM cells"
            found = connection.execute(sql).fetchall()
            assert found == [(text_of(cell), canonical(cell)) for cell in cells.tolist()]
            connection.unregister("cells")
