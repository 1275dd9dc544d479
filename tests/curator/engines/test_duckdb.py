"""The embedded engine equals the reference, scans once, and can be interrupted."""

from __future__ import annotations

import re
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
import pytest

from dpnb.trusted.aggregate.algebra import (
    Cmp,
    Col,
    CrossMoments,
    FloorDiv,
    Key,
    Known,
    Lit,
    Mul,
    Sub,
    Total,
    ValueCounts,
    cells_of,
)
from dpnb.trusted.curator.engines import DuckDBEngine
from dpnb.trusted.curator.engines.batching import MOST_STATES, MOST_TOTALS, shares
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from tests.contracts.engine import EngineContract, many
from tests.contracts.expressions import SIZES
from tests.contracts.handed import prepare


def schema_of(sizes):
    """A schema whose codes are the values themselves: one column for each size."""
    columns = [
        Column.integer(name, 0, size - 1) if size % 2 else Column.category(name, list(range(size)))
        for name, size in sizes.items()
    ]
    budget = Budget.from_toml({"epsilon": 1})
    return Schema(name="t", title="t", columns=tuple(columns), unit=PrivacyUnit("add-remove"), budget=budget)


@contextmanager
def engine_over(columns):
    """A prepared copy of these codes, and an engine over it that asks statements, as of a long table."""
    arrays = {n: np.array([np.nan if v is None else v for v in c], dtype=float) for n, c in columns.items()}
    with tempfile.TemporaryDirectory() as folder:
        copy = prepare(arrays, schema_of(SIZES), Path(folder) / "copy.duckdb")
        with DuckDBEngine(copy, threads=2) as engine:
            engine._short = False
            yield engine


class TestDuckDBEngine(EngineContract):
    """DuckDB over a prepared copy keeps the engine's contract."""

    @classmethod
    def open_engine(cls, columns):
        """An engine over a fresh prepared copy."""
        return engine_over(columns)

    def check(self, opened, batch, *, short=False):
        """Engine and reference agree on every table: where statements answer all, without counts from before, and with them."""
        for keeps in (False, True, True):
            for _, engine in opened:
                engine._keeps = keeps
                if not keeps:
                    engine._kept.clear()
                    engine._scanned.clear()
            super().check(opened, batch, short=short)
        if not short:
            super().check(opened, batch, short=True)


BATCH = [
    Total(Lit(1)),
    Total(Col("income")),
    Total(FloorDiv(Mul(Sub(Col("income"), Lit(100_000)), Sub(Col("income"), Lit(100_000))), 9537)),
    Total(Lit(1), None, (Key(Col("g"), 7),)),
    Total(Col("income"), Known(Col("age")), (Key(Col("g"), 7),)),
    Total(Col("income"), Cmp("<", Col("age"), Lit(30)), (Key(Col("flag"), 2),)),
]
FAR_APART = [
    Total(Lit(1), None, (Key(FloorDiv(Col(name), k), 20_001),))
    for name, k in [("income", 10), ("wide", 2**26)]
]


@pytest.mark.parametrize("batch", [BATCH, FAR_APART, BATCH + FAR_APART], ids=["one grouping", "two", "three"])
def test_all_totals_of_a_batch_are_one_scan(batch):
    """EXPLAIN of a batch's one statement shows one table scan."""
    with engine_over(many()) as engine:
        rows = engine._connection.execute("EXPLAIN " + engine.statement(batch)).fetchall()
    assert len(re.findall(r"─ Seq Scan|SEQ_SCAN", "".join(row[1] for row in rows))) == 1


def statements(engine, batch):
    """What an engine answers a batch, and the statements that it executes for it."""
    asked, real = [], engine._connection

    class Counting:
        def execute(self, sql):
            asked.append(sql)
            return real.execute(sql)

    engine._connection = Counting()
    answers = engine.answer(batch)
    engine._connection = real
    return answers, asked


def test_a_batch_is_one_statement_and_one_for_few_codes_that_it_groups_by():
    """The engine executes once for all totals of an ordinary batch, and once to count the codes of a small key."""
    with engine_over(many()) as engine:
        assert len(statements(engine, BATCH + FAR_APART)[1]) == 2


LONG = [
    Total(Col("income"), Cmp("<", Col("wide"), Lit(k)), (Key(FloorDiv(Col("income"), 9 + k), 21_000),))
    for k in range(60)
]
FILTERED = [Total(Col("income"), Cmp("<", Col("wide"), Lit(k))) for k in range(100)]


@pytest.mark.slow
@pytest.mark.parametrize("batch", [LONG, FILTERED], ids=["groupings", "filters"])
def test_a_long_batch_is_shared_out(batch):
    """Each of a thousand sums in each group of a thousand groupings would be gigabytes, asked in one short message."""
    with engine_over(many()) as engine:
        answers, asked = statements(engine, batch)
        for sql in asked:
            sets = max(sql.count("GROUP BY"), sql.partition("GROUPING SETS")[2].count("("))
            assert sql.count(" FILTER ") <= MOST_TOTALS
            assert sets * sql.count(" FILTER ") * 21_000 <= 8 * MOST_STATES or sets == 0
        assert answers == [engine.answer([total])[0] for total in batch]


def test_shares_are_few_totals_with_few_cells_in_their_order():
    """Nothing is lost or doubled, and no share but a single total holds more than a statement may."""
    batch = [*LONG, *FILTERED, Total(Lit(1), None, (Key(Col("income"), 2 * MOST_STATES),)), *BATCH]
    found = list(shares(batch))
    assert [total for share in found for total in share] == batch
    assert max(map(len, found)) == MOST_TOTALS
    for share in found:
        cells = sum(cells_of(total.keys) for total in share)
        assert len(share) == 1 or len(share) * cells <= MOST_STATES


def test_the_second_value_count_of_a_column_reads_no_table():
    """Value counts that one column determines come from the structure that the first one built."""
    with engine_over(many()) as engine:
        first = engine.answer([ValueCounts(Col("wide"))])
        engine._connection.close()
        again = engine.answer([ValueCounts(Col("wide"), Known(Col("wide")))])
    assert first[0][0].values.tolist() == again[0][0].values.tolist()


def test_what_depends_on_columns_that_are_counted_reads_no_table():
    """A question that groups by few codes counts them; their sums, filters, value counts and products need no scan then."""
    age, g = Col("age"), Col("g")
    grouped = Total(age, None, (Key(g, 7),))
    then = [
        Total(Lit(1)),
        Total(age, Cmp("<", Lit(2), g)),
        Total(Mul(age, age), Known(g), (Key(age, 50),)),
        ValueCounts(age),
        CrossMoments((Lit(1), age), ((0, 0), (0, 1), (1, 1))),
    ]
    with engine_over(many()) as engine, engine_over(many()) as other:
        exact = [other.answer([one])[0] for one in then]
        engine.answer([grouped])
        found, asked = statements(engine, then)
    assert asked == []
    assert str(found) == str(exact)


def test_a_sum_over_few_codes_is_a_scan_once_and_counted_when_it_comes_back():
    """The first sum scans without a group, which is faster; the second about the same columns counts; the third needs nothing."""
    age = Col("age")
    with engine_over(many()) as engine:
        asked = [statements(engine, [Total(age, Cmp("<", age, Lit(k)))]) for k in (30, 31, 30)]
    assert ["GROUP BY" in "".join(sql) for _, sql in asked] == [False, True, False]
    assert [len(sql) for _, sql in asked] == [1, 1, 0]
    assert asked[0][0] == asked[2][0]


def test_the_engine_cannot_write_or_reach_a_file():
    """The connection reads its own copy alone."""
    with engine_over(many()) as engine:
        for sql in ("CREATE TABLE x (a INT)", "SELECT * FROM read_csv('/etc/passwd')", "SET threads = 1"):
            with pytest.raises(duckdb.Error):
                engine._connection.execute(sql)


def test_the_spill_folder_is_its_owners_alone(tmp_path):
    """What the engine spills lies in a folder of mode 0700 beside the copy."""
    columns = {name: [0, 1] for name in SIZES}
    copy = prepare(columns, schema_of(SIZES), tmp_path / "copy.duckdb")
    with DuckDBEngine(copy):
        assert stat.S_IMODE((tmp_path / ".copy.duckdb.spill").stat().st_mode) == 0o700


def test_a_million_groups_are_answered():
    """Keys of 10^6 cells are exact; empty cells are zero."""
    with engine_over(many()) as engine:
        found = engine.answer([Total(Lit(1), None, (Key(FloorDiv(Col("wide"), 2**20), 2**20),))])[0]
        known = engine.answer([Total(Lit(1), Known(Col("wide")))])[0][0]
    assert len(found) == 2**20
    assert sum(found) in {known, known - 1}


def test_five_hundred_questions_are_one_batch():
    """A batch of 500 filtered sums is answered exactly."""
    batch = [Total(Col("income"), Cmp("<", Col("wide"), Lit(k * 2**31))) for k in range(500)]
    with engine_over(many()) as engine:
        found = [total for (total,) in engine.answer(batch)]
    assert found == sorted(found)
    assert found[-1] > 0
