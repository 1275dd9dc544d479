"""How fast a batch is answered, beside DuckDB doing the same by hand: ratios within one run.

Run it with ``python -m tests.benchmarks.bench_engine [rows]``. Three ways to the same statistics, interleaved:

engine    one batch through the engine, warm, from the prepared copy
raw       DuckDB, the same exact statistics (clamped, missing handled) by hand from the raw float table
integers  DuckDB, the same integer aggregates by hand from the same prepared copy

The hand-written statements are one per statistic, or all in one grouped statement: the faster counts.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import duckdb
import numpy as np

from dpnb.trusted.aggregate.algebra import Col, FloorDiv, Key, Known, Lit, Mul, Sub, Total, ValueCounts
from dpnb.trusted.curator.engines import DuckDBEngine
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from tests.benchmarks.measuring import medians, milliseconds, seconds
from tests.contracts.handed import prepare

REPEATS = 9
GROUPS = 50

SCHEMA = Schema(
    name="people",
    title="people",
    columns=(
        Column.integer("age", 0, 100),
        Column.number("income", 0, 200_000, step=1),
        Column.category("county", list(range(GROUPS))),
        Column.category("arm", [0, 1]),
    ),
    unit=PrivacyUnit("add-remove"),
    budget=Budget.from_toml({"epsilon": 1}),
)

CENTRED = Sub(Col("income"), Lit(100_000))
SQUARE = FloorDiv(Mul(CENTRED, CENTRED), 10**10 >> 20)
COUNTY, ARM = Key(Col("county"), GROUPS), Key(Col("arm"), 2)
KNOWN = Known(Col("income"))
BATCH = [
    Total(Lit(1)),
    Total(CENTRED),
    Total(Lit(1), KNOWN),
    Total(SQUARE),
    Total(Lit(1), None, (COUNTY,)),
    Total(CENTRED, None, (COUNTY,)),
    Total(Lit(1), KNOWN, (COUNTY,)),
    Total(CENTRED, None, (ARM,)),
    Total(Lit(1), KNOWN, (ARM,)),
    Total(SQUARE, None, (ARM,)),
]
MEDIAN = ValueCounts(Col("age"))

X = "CASE WHEN income < 0 THEN 0 WHEN income > 200000 THEN 200000 ELSE income END"
KEPT = "income IS NOT NULL AND NOT isnan(income)"
RAW = [
    "SELECT count(*) FROM people",
    f"SELECT sum({X}), count(*), sum(({X} - 100000) * ({X} - 100000)) FROM people WHERE {KEPT}",
    f"SELECT var_pop({X}) FROM people WHERE {KEPT}",
    "SELECT county, count(*) FROM people GROUP BY county",
    f"SELECT county, avg({X}) FROM people WHERE {KEPT} GROUP BY county",
    f"SELECT arm, avg({X}), var_pop({X}) FROM people WHERE {KEPT} GROUP BY arm",
]
RAW_AT_ONCE = [
    (
        f"SELECT county, arm, count(*), count(*) FILTER (WHERE {KEPT}), sum({X}) FILTER (WHERE {KEPT}), "
        f"sum(({X} - 100000) * ({X} - 100000)) FILTER (WHERE {KEPT}) FROM people GROUP BY county, arm"
    )
]
SQ = "((income::BIGINT - 100000) * (income::BIGINT - 100000)) // 9536"
INTEGERS = [
    "SELECT count(*) FROM prepared",
    f"SELECT sum(income::BIGINT - 100000), count(income), sum({SQ}) FROM prepared",
    "SELECT county, count(*) FROM prepared GROUP BY county",
    "SELECT county, sum(income::BIGINT - 100000), count(income) FROM prepared GROUP BY county",
    f"SELECT arm, sum(income::BIGINT - 100000), count(income), sum({SQ}) FROM prepared GROUP BY arm",
]
INTEGERS_AT_ONCE = [
    (
        f"SELECT county, arm, count(*), count(income), sum(income::BIGINT - 100000), sum({SQ}) FROM prepared "
        "GROUP BY county, arm"
    )
]


def people(rows, seed=1):
    """A raw float table of this many rows, a twentieth of the incomes missing."""
    rng = np.random.default_rng(seed)
    income = rng.lognormal(10.5, 0.8, rows)
    income[rng.random(rows) < 0.05] = np.nan
    return {
        "age": rng.integers(0, 101, rows).astype(float),
        "income": income,
        "county": rng.integers(0, GROUPS, rows).astype(float),
        "arm": rng.integers(0, 2, rows).astype(float),
    }


def by_hand(connection, statements):
    """Execute statements and fetch their results."""
    for statement in statements:
        connection.execute(statement).fetchall()


def measure(rows):
    """Median milliseconds of each way, interleaved, and the seconds that preparing took."""
    with tempfile.TemporaryDirectory() as folder:
        raw, table = duckdb.connect(str(Path(folder) / "raw.duckdb")), people(rows)
        raw.register("arrays", table)
        raw.execute("CREATE TABLE people AS SELECT * FROM arrays")
        copy = Path(folder) / "copy.duckdb"
        preparing = seconds(lambda: prepare(table, SCHEMA, copy))
        with DuckDBEngine(copy) as engine:
            cold = milliseconds(lambda: engine.answer([MEDIAN]))
            ways = {
                "engine": lambda: engine.answer([*BATCH, MEDIAN]),
                "raw": lambda: by_hand(raw, RAW),
                "raw at once": lambda: by_hand(raw, RAW_AT_ONCE),
                "integers": lambda: by_hand(engine._connection, INTEGERS),
                "integers at once": lambda: by_hand(engine._connection, INTEGERS_AT_ONCE),
            }
            found = medians(ways, REPEATS)
        raw.close()
    return found | {"cold value counts": cold, "prepare (s)": preparing}


def main():
    """Print the figures and the two ratios that are promised."""
    found = measure(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000)
    for name, value in found.items():
        print(f"{name:20} {value:10.1f}")
    to_raw = found["engine"] / min(found["raw"], found["raw at once"])
    to_integers = found["engine"] / min(found["integers"], found["integers at once"])
    print(f"engine / raw         {to_raw:10.2f}   promised: at most 1")
    print(f"engine / integers    {to_integers:10.2f}   promised: at most 1.5")


if __name__ == "__main__":
    main()
