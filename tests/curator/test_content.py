"""Content is known by its cells: the same in every container, order and selection of columns, and never by what is guessed."""

from __future__ import annotations

import csv
import datetime as dt
import random
import time
from decimal import Decimal
from functools import partial

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpnb.datasets import load
from dpnb.trusted.curator.content import MASK, MISSING, column_numbers, finished, mix, numbers_of
from dpnb.trusted.curator.engines import recognition
from tests.contracts.content import content_of
from tests.contracts.handed import prepare
from tests.examples import examples

KEY = b"the curator's"
TEXTS = st.sampled_from(
    ["x", "07", "1.0", "true", "é", "2020-01-01", "a,b", 'q"', "|", "~", " s ", "1e400", "NaN"]
)
CELLS = st.one_of(st.none(), st.integers(-5, 5), st.floats(-3, 3), TEXTS)
UNITS = st.one_of(st.none(), TEXTS.filter(lambda text: text != "true"))
"""Ids that write no number in two ways, such as 1 and 1.0: a table that does is refused."""


def schema_of(names, unit=None, **sizes):
    """Text columns of these names: what is declared about cells is not what they are known by."""
    dataset = {"name": "s", "adjacency": "add-remove", **sizes}
    dataset |= {} if unit is None else {"unit": unit, "max_rows_per_unit": 2}
    columns = {name: {"type": "category", "values": ["x", "y"]} for name in names}
    return load({"dataset": dataset, "budget": {"epsilon": 1}, "columns": columns}).schema


def known(source, schema, folder, **options):
    """What a source is known by, as the engine reads it."""
    return prepare(source, schema, folder / "copy.duckdb", marking=KEY, **options).content


@pytest.mark.slow
@settings(max_examples=examples(15), deadline=None)
@given(st.data(), st.booleans())
def test_the_engine_sums_as_the_reference_does(tmp_path_factory, data, by_unit):
    """SQL and Python agree on state and marks, whatever the cells are."""
    rows = data.draw(st.lists(st.tuples(CELLS, CELLS, UNITS if by_unit else CELLS), max_size=12))
    columns = {name: [row[place] for row in rows] for place, name in enumerate("abc")}
    schema = schema_of("ab", unit="c") if by_unit else schema_of("abc")
    arrow = pa.table(
        {
            name: pa.array([None if c is None else str(c) for c in cells], pa.string())
            for name, cells in columns.items()
        }
    )
    texts = {name: [None if c is None else str(c) for c in cells] for name, cells in columns.items()}
    assert known(arrow, schema, tmp_path_factory.mktemp("c")) == content_of(texts, schema, KEY)


TYPED = {
    "small": (pa.int8(), [-128, 127, 0, None]),
    "large": (
        pa.int64(),
        [2**53 - 1, 2**53, -(2**53), -(2**53) + 1, 10**15, -(10**15), 2**63 - 1, -(2**63), 7, None],
    ),
    "unsigned": (pa.uint64(), [2**64 - 1, 2**53, 2**53 - 1, 10**15 - 1, 0, None]),
    "float": (
        pa.float64(),
        [
            2.0**53,
            2.0**53 - 1,
            -(2.0**53),
            1e15,
            1e16,
            1e300,
            -0.0,
            0.5,
            0.1,
            -2.75,
            2.0**52 + 0.5,
            5e-324,
            1e-9,
            1 / 3,
            float("inf"),
            float("nan"),
            None,
        ],
    ),
    "short": (pa.float32(), [0.5, -0.25, 2.0**100, 16777216.0, None]),
    "money": (
        pa.decimal128(18, 2),
        [Decimal("0.10"), Decimal("-12.34"), Decimal("7.00"), Decimal("1234567890123456.78"), None],
    ),
    "yes": (pa.bool_(), [True, False, None]),
    "day": (pa.date32(), [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1970, 1, 1), None]),
    "word": (
        pa.string(),
        [
            "",
            " 7",
            "7",
            "x",
            "-",
            "inf",
            "0.1",
            " 2.50",
            "1e-3",
            "1_000",
            ".5",
            "-.5e1",
            "1-2",
            "9007199254740993",
            "\u00a07",
            "true",
            "2020-01-01",
            "é",
            None,
        ],
    ),
    "file_row_number": (pa.int32(), [5, 5, 3, None]),
}
"""Cells at every edge of how a type is read; one column has the name of a number that the reader of a file gives."""


@pytest.mark.slow
@pytest.mark.parametrize("names", [list(TYPED), [name for name in TYPED if name != "file_row_number"]])
@pytest.mark.parametrize("unit", [None, "large", "unsigned", "word"])
def test_cells_of_every_type_are_summed_as_the_reference_sums_them(names, unit, tmp_path):
    """A Parquet file of several row groups, by rows in their order and by units: state and marks to the last bit."""
    rng = random.Random(4)
    columns = {name: [rng.choice(TYPED[name][1]) for _ in range(300)] for name in names}
    if unit == "word":  # ids that write no number in two ways
        columns["word"] = [rng.choice(["", "7", "x", "é", "07a", None]) for _ in range(300)]
    table = pa.table({name: pa.array(cells, TYPED[name][0]) for name, cells in columns.items()})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=100)
    schema = schema_of([name for name in names if name != unit], unit=unit)
    assert known(tmp_path / "t.parquet", schema, tmp_path) == content_of(columns, schema, KEY)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_same_cells_are_one_content_in_every_container_order_and_selection(tmp_path, seed):
    """CSV (with and without its last newline, with other line ends), Parquet, DuckDB and frames of one table share all marks."""
    rng = random.Random(seed)
    rows = 200
    table = pd.DataFrame(
        {
            "id": [f"p{n}" for n in rng.sample(range(10**6), rows)],
            "pay": [rng.choice([None, round(rng.uniform(0, 9), 3)]) for _ in range(rows)],
            "age": [rng.randrange(90) for _ in range(rows)],
            "sex": [rng.choice(["f", "m", None]) for _ in range(rows)],
        }
    )
    schema = schema_of(table.columns)
    first = known(table, schema, tmp_path)
    assert len(first.marks) >= 3
    for source in (*containers(table, tmp_path), table.iloc[::-1], table[sorted(table.columns)]):
        assert known(source, schema, tmp_path).marks == first.marks
    for source in containers(table, tmp_path):
        assert known(source, schema, tmp_path).state == first.state
    assert known(table.iloc[::-1], schema, tmp_path).state != first.state
    renamed = table.rename(columns={"age": "years", "id": "who"})
    assert known(renamed, schema_of(renamed.columns), tmp_path).marks == first.marks
    for names in (["id"], ["pay", "sex"], ["age", "id"]):
        assert set(known(table, schema_of(names), tmp_path).marks) & set(first.marks)


def containers(table, folder):
    """The table in files of every kind, and as an Arrow table."""
    text = table.to_csv(index=False)
    for name, content in {
        "lines.csv": text,
        "cut.csv": text.removesuffix("\n"),
        "dos.csv": text.replace("\n", "\r\n"),
        "semicolons.csv": text.replace(",", ";"),
    }.items():
        (folder / name).write_bytes(content.encode())
        yield folder / name
    table.to_csv(folder / "quoted.csv", index=False, quoting=csv.QUOTE_ALL)
    yield folder / "quoted.csv"
    table.to_parquet(folder / "t.parquet")
    yield folder / "t.parquet"
    (folder / "t.duckdb").unlink(missing_ok=True)
    with duckdb.connect(str(folder / "t.duckdb")) as database:
        database.register("people", table)
        database.execute("CREATE TABLE t AS SELECT * FROM people")
    yield folder / "t.duckdb"
    yield pa.Table.from_pandas(table)


def test_one_row_or_cell_more_is_another_content(tmp_path):
    """The limit that is stated: whole rows and whole columns are known, not most of them."""
    rng = random.Random(1)
    table = pd.DataFrame({"a": [rng.random() for _ in range(100)], "b": [rng.random() for _ in range(100)]})
    first = known(table, schema_of("ab"), tmp_path)
    more = pd.concat([table, table.iloc[:1]])
    assert not set(known(more, schema_of("ab"), tmp_path).marks) & set(first.marks)
    changed = table.copy()
    changed.loc[3, "a"] = 0.5
    other = known(changed, schema_of("ab"), tmp_path)
    assert other.state != first.state
    assert len(set(other.marks) & set(first.marks)) == 1  # column b is as it was


GUESSED = {
    "63 distinct": ([n * n for n in range(63)] * 3, False),
    "64 distinct": ([n * n for n in range(64)] * 3, True),
    "a constant": ([7.5] * 500, False),
    "a run": (list(range(5, 505)), False),
    "a run, shuffled": (random.Random(2).sample(range(500), 500), False),
    "a run thrice": (list(range(200)) * 3, False),
    "a run with a hole": ([n for n in range(500) if n != 77], True),
    "a run, one twice": ([*range(500), 77], True),
    "negative run": (list(range(-300, 300)), False),
    "days": ([f"{day:%Y-%m-%d}" for day in pd.date_range("2019-12-01", periods=400)], False),
    "texts": ([f"p{n}" for n in range(100)], True),
    "huge": ([2**70 + 2**30 * n for n in range(100)], True),
    "nothing": ([None] * 100, False),
    "many": (list(range(0, 40000, 2)), True),
    "long run": (list(range(20000)), False),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", GUESSED)
def test_what_can_be_guessed_leaves_no_mark(tmp_path, kind):
    """A column of few distinct cells, a constant and an evenly repeated run do not identify, beside a column that does not either."""
    cells, marks = GUESSED[kind]
    cells = [None if cell is None else str(cell) for cell in cells]
    raw = {"a": cells, "b": [str(n * n % 3) for n in range(len(cells))]}
    found = known(
        pa.table({name: pa.array(c, pa.string()) for name, c in raw.items()}), schema_of("ab"), tmp_path
    )
    assert found == content_of(raw, schema_of("ab"), KEY)
    counted = kind in {
        "a constant",
        "nothing",
    }  # the other column has two kinds of cells, which can be counted out
    assert len(found.marks) == (not counted) + marks  # the rows themselves, and the column


def test_rows_that_are_all_guessed_leave_no_mark_at_all(tmp_path):
    """A run beside a constant says nothing about anybody."""
    assert known({"a": np.arange(100), "b": np.ones(100)}, schema_of("ab"), tmp_path).marks == ()
    assert known({"a": np.array([]), "b": np.array([])}, schema_of("ab"), tmp_path).marks == ()


NARROW = {
    "two kinds": (["0", "1"] * 500, ["x"] * 1000, False),
    "two kinds, one cell missing": (["0", "1", None, "1"] * 250, ["x"] * 1000, False),
    "two columns of two kinds": (["0", "1"] * 500, ["x", "x", "y", "y"] * 250, False),
    "twelve kinds": ([str(n * n % 23) for n in range(2000)], ["x"] * 2000, True),
    "few rows, rich": ([f"p{n}" for n in range(50)], [f"q{n}" for n in range(50)], True),
    "few rows, poor": (["0", "1"] * 8, ["x", "y", "z", "y"] * 4, False),
}


@pytest.mark.parametrize("kind", NARROW)
def test_rows_that_can_be_counted_out_leave_no_mark(tmp_path, kind):
    """Seen: N + 1 attaches of one column of 0 and 1 found how many are 1. What fewer than 2^48 tables can be is not known."""
    one, two, marked = NARROW[kind]
    raw = {"a": one, "b": two}
    arrow = pa.table({name: pa.array(c, pa.string()) for name, c in raw.items()})
    found = known(arrow, schema_of("ab"), tmp_path)
    assert found == content_of(raw, schema_of("ab"), KEY)
    assert bool(found.marks) == marked


def test_one_rows_cells_in_other_columns_are_another_state(tmp_path):
    """Seen: 1, 0, 0, 1 and 0, 1, 1, 0 in a row had one state, so that the second file got the stored answers of the first."""
    rows = [
        ["1", "0", "0", "1"],
        ["0", "1", "1", "0"],
        ["1", None, None, "1"],
        [None, "1", "1", None],
        ["1", "1", "0", "0"],
    ]
    states = set()
    for row in rows:
        raw = {name: [cell, "1", "0"] for name, cell in zip("abcd", row, strict=True)}
        arrow = pa.table({name: pa.array(cells, pa.string()) for name, cells in raw.items()})
        found = known(arrow, schema_of("abcd"), tmp_path)
        assert found == content_of(raw, schema_of("abcd"), KEY)
        states.add(found.state)
    assert len(states) == len(rows)


def test_another_key_knows_nothing(tmp_path):
    """Without the curator's key neither marks nor states of two homes can be compared."""
    raw, schema = {"a": ["x", "y", "x"]}, schema_of("a")
    one, two = content_of(raw, schema, b"one"), content_of(raw, schema, b"two")
    assert not {one.state, *one.marks} & {two.state, *two.marks}


def test_units_are_told_apart_to_their_last_digit(tmp_path):
    """Two ids that are one binary64 are two people: another state, though the cells are read as one number."""
    schema = schema_of("a", unit="who")
    one, two = ({"a": ["x", "y"], "who": [str(2**60), str(2**60 + step)]} for step in (0, 1))
    assert known(one, schema, tmp_path).state != known(two, schema, tmp_path).state
    backwards = {name: cells[::-1] for name, cells in two.items()}
    assert known(backwards, schema, tmp_path).state == known(two, schema, tmp_path).state


@pytest.mark.soak
def test_a_million_rows_are_known_in_seconds(tmp_path):
    """Ten columns of a million rows: linear, in the engine."""
    rng = np.random.default_rng(1)
    raw = {f"c{n}": rng.integers(0, 10**6, 10**6) for n in range(10)}
    started = time.process_time()
    assert len(known(raw, schema_of(raw), tmp_path).marks) == 11
    assert time.process_time() - started < 60


@pytest.mark.slow
def test_more_columns_than_an_expression_may_be_deep_are_known(tmp_path):
    """DuckDB reads expressions up to 1,000 deep: the sum over a row's cells is not one chain of additions."""
    texts = {f"c{place}": [str(place), str(place + 1), "x"] for place in range(1_001)}
    arrow = pa.table({name: pa.array(cells, pa.string()) for name, cells in texts.items()})
    schema = schema_of(texts)
    assert known(arrow, schema, tmp_path) == content_of(texts, schema, KEY)


PROBES = [0, 1, MASK, MASK + 1, 2**127 - 1, *(3**power * 7 for power in range(78))]


@pytest.mark.parametrize("own", [True, False])
def test_a_number_is_finished_alike_by_the_engine_and_written_out(own):
    """DuckDB's own hash is the finaliser; the arithmetic in its place, for a version that hashes otherwise, is the same."""
    with duckdb.connect() as connection:
        recognition.define_finished(connection, own=own)
        (sql,) = connection.execute(
            "SELECT macro_definition FROM duckdb_functions() WHERE function_name = '##finished'"
        ).fetchone()
        assert ("hash(" in sql) == own
        connection.execute(
            "CREATE TABLE probes AS SELECT unnest(?::VARCHAR[])::UHUGEINT AS x",
            [[str(one) for one in PROBES]],
        )
        found = connection.execute('SELECT x, "##finished"(x) FROM probes').fetchall()
    assert {int(x): y for x, y in found} == {one: finished(one) for one in PROBES}


NUMBERS = [0.0, -0.0, 1.0, -1.5, 0.1, 5e-324, 2.0**53, 1.7e308, float("inf"), float("-inf"), float("nan")]


@pytest.mark.parametrize("own", [True, False])
def test_a_number_is_its_bits_to_the_engine_and_written_out(own):
    """There is one zero, and NaN, which a missing cell is, has the bits of the constant."""
    with duckdb.connect() as connection:
        recognition.define_finished(connection, own=own)
        found = connection.execute(
            'SELECT "##number"(x) FROM (SELECT unnest(?::DOUBLE[]) AS x)', [NUMBERS]
        ).fetchall()
    bits = [int((np.float64(x) + 0.0).view(np.uint64)) for x in NUMBERS[:-1]]
    assert [row[0] for row in found] == [finished(one) for one in (*bits, MISSING)]


@pytest.mark.slow
def test_content_is_the_same_where_the_engine_hashes_otherwise(tmp_path, monkeypatch):
    columns = {
        "a": [1, 2, None, 5, 5],
        "b": ["x", "07", "1.5", None, "é"],
        "c": [0.1, -0.0, None, float("nan"), 2.0**70],
        "d": [dt.date(1970, 1, 1), dt.date(1, 1, 1), None, dt.date(2024, 2, 29), dt.date(9999, 12, 31)],
    }
    types = [pa.int64(), pa.string(), pa.float64(), pa.date32()]
    cells = zip(columns.items(), types, strict=True)
    pq.write_table(
        pa.table({name: pa.array(one, kind) for (name, one), kind in cells}), tmp_path / "t.parquet"
    )
    schema = schema_of("abcd")
    first = known(tmp_path / "t.parquet", schema, tmp_path)
    written_out = partial(recognition.define_finished, own=False)
    monkeypatch.setattr(recognition, "define_finished", written_out)
    assert known(tmp_path / "t.parquet", schema, tmp_path) == first == content_of(columns, schema, KEY)


LATE = 2**14 + 1000
FIRST_ALIKE = {
    "kinds that only later rows have": [7] * LATE + [n * n % 61 for n in range(500)],
    "64 that only later rows have": [7] * LATE + [n % 64 for n in range(500)],
    "far apart": [7] * LATE + [0, 10**6] * 200,
    "nothing": [None] * (LATE + 1),
    "two kinds": [0] * LATE + [1] * 9,
    "a run at last": [n * 25 // 1000 * 40 % 400 for n in range(20_000)],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FIRST_ALIKE)
@pytest.mark.parametrize("type", [pa.int32(), pa.float64(), pa.string()])
def test_a_column_is_counted_to_its_end_where_its_first_rows_do_not_tell(tmp_path, kind, type):
    """Distinct cells are counted in the first rows, and in all where that decides nothing: marks are those of the whole column."""
    cells = [None if cell is None else str(cell) for cell in FIRST_ALIKE[kind]]
    given = cells if type == pa.string() else [None if cell is None else float(cell) for cell in cells]
    table = pa.table({"a": pa.array(given, pa.float64() if type == pa.int32() else type).cast(type)})
    pq.write_table(table, tmp_path / "t.parquet")
    raw = {"a": cells}
    assert known(tmp_path / "t.parquet", schema_of("a"), tmp_path) == content_of(raw, schema_of("a"), KEY)


def test_a_run_beside_missing_numbers_is_a_run_whatever_they_are(tmp_path):
    """A NaN is a missing cell: the largest number is another."""
    for missing in (None, float("nan")):
        cells = [*map(float, range(500)), missing]
        pq.write_table(pa.table({"a": pa.array(cells, pa.float64())}), tmp_path / "t.parquet")
        found = known(tmp_path / "t.parquet", schema_of("a"), tmp_path)
        assert found.marks == ()
        assert found == content_of({"a": cells}, schema_of("a"), KEY)


@pytest.mark.parametrize("last", ["z", "7.0", "", "2020-01-01", None])
def test_labels_are_hashed_as_they_stand_whatever_the_last_of_them_is(last, tmp_path):
    """A column of labels alone is read faster than one in which any text may be a number: both as the reference reads them."""
    columns = {"a": ["x", "y z", "é", "~"] * 3 + [last], "b": [*range(12), None]}
    table = pa.table({"a": pa.array(columns["a"], pa.string()), "b": pa.array(columns["b"], pa.int32())})
    pq.write_table(table, tmp_path / "t.parquet")
    assert known(tmp_path / "t.parquet", schema_of("ab"), tmp_path) == content_of(
        columns, schema_of("ab"), KEY
    )


def test_a_bit_of_a_cell_changes_every_bit_of_its_number_in_half_of_the_keys():
    """Of 64 bits in and out, under 400 keys: the share of flips is within 6 standard errors of a half."""
    rng, keys = random.Random(5), 400
    flips = np.zeros((64, 64))
    for _ in range(keys):
        numbers = numbers_of(rng.randbytes(16), "cell")
        cell = rng.randrange(2**64)
        there = mix(cell, numbers)
        for bit in range(64):
            changed = there ^ mix(cell ^ 1 << bit, numbers)
            flips[bit] += [changed >> place & 1 for place in range(64)]
    assert np.abs(flips / keys - 0.5).max() < 6 * 0.5 / keys**0.5


def test_cells_that_change_places_change_every_sum():
    """Two rows whose cells add up to what two others' do: their sums, and the last bits of these, agree as chance has it."""
    rng, keys, bits = random.Random(6), 20_000, 6
    alike = 0
    for _ in range(keys):
        numbers = numbers_of(rng.randbytes(16), "cell")
        a, b, c, d = (mix(cell, numbers) for cell in (10, 13, 11, 12))
        assert a + b != c + d
        assert finished(a + c) + finished(b + d) != finished(a + d) + finished(b + c)
        alike += (a + b - c - d) % 2**bits == 0
    assert abs(alike - keys / 2**bits) < 6 * (keys / 2**bits) ** 0.5


def test_cells_that_change_columns_change_the_state():
    """Two cells of a row in each other's column: what the state adds up is another number, and its last bits agree as chance has it."""
    rng, keys, bits = random.Random(7), 20_000, 6
    alike = 0
    for _ in range(keys):
        key = rng.randbytes(16)
        one, two = column_numbers(key, 2)
        a, b = (mix(cell, numbers_of(key, "cell")) for cell in (0x3FF0 << 48, 0))  # the bits of 1 and 0
        there, here = finished(a ^ one) ^ finished(b ^ two), finished(b ^ one) ^ finished(a ^ two)
        assert there != here
        alike += (there ^ here) % 2**bits == 0
    assert abs(alike - keys / 2**bits) < 6 * (keys / 2**bits) ** 0.5
