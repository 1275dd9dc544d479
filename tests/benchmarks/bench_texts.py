"""How long frequent texts and questions of dates take, beside exact DuckDB on the raw file: ratios within one run.

Run it with ``python tests/benchmarks/bench_texts.py [rows]``. The file has a hundred thousand texts in which nobody listed anything, and dates.

counted   the counts of all texts from the prepared copy, warm
released  the same, and the texts and noised counts that pass the threshold
raw       DuckDB: the exact counts of the raw file's texts, trimmed and in one case
dated     counts by month and of a year, from the prepared copy, warm
by dates  DuckDB: the same of the raw file's dates
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

import duckdb

from dpnb.planner import Ask, BatchPlan, Item, QueryPlan, price
from dpnb.planner import expression as e
from dpnb.trusted.curator.engines import DuckDBEngine
from dpnb.trusted.files.named_file import NamedFile
from dpnb.trusted.noise.secure import SecureBits
from dpnb.trusted.schema.owner import load
from tests.benchmarks.bench_prepared import timed
from tests.contracts.handed import prepare

REPEATS, DISTINCT = 5, 100_000
SCHEMA = load(
    {
        "dataset": {"name": "log", "adjacency": "add-remove"},
        "budget": {"epsilon": 10, "delta": "1e-4"},
        "columns": {
            "item": {"type": "text", "length": 16, "case": "lower"},
            "day": {"type": "date", "bounds": ["2020-01-01", "2024-12-31"]},
        },
    }
).schema
TEXTS = (
    "SELECT lower(trim(item)) AS label, count(*) FROM read_parquet('{path}') GROUP BY label ORDER BY label"
)
DATES = (
    "SELECT date_trunc('month', day) AS month, count(*), count(*) FILTER (day >= DATE '2022-01-01' AND day < DATE '2023-01-01') "
    "FROM read_parquet('{path}') GROUP BY month ORDER BY month"
)


def written(path: Path, rows: int) -> None:
    """Texts of which some are far more frequent than others, with blanks and in both cases; and a day of five years."""
    duckdb.sql(
        f"SELECT CASE WHEN i % 3 = 0 THEN ' Item ' ELSE 'item ' END || CAST(hash(i) % (1 + hash(i, 1) % {DISTINCT}) AS VARCHAR) AS item, "
        f"DATE '2020-01-01' + CAST(hash(i, 2) % 1827 AS INTEGER) AS day FROM range({rows}) t(i)"
    ).write_parquet(str(path))


def asked(*questions: QueryPlan) -> list:
    """What questions ask and with which noise."""
    batch = BatchPlan(SCHEMA.name, SCHEMA.version, tuple(map(Item, questions)), Ask.make(epsilon="1"))
    return [part for item in price(batch, SCHEMA).items for part in item.parts]


def measure(rows: int) -> dict[str, float]:
    """Median seconds of each way."""
    day = e.Ref("day")
    (texts,) = asked(QueryPlan("log", "frequent_values", e.Ref("item")))
    year = e.Between(day, "2022-01-01", "2022-12-31")
    dates = asked(
        QueryPlan("log", "count", by=(e.Part("year", day), e.Part("month", day))),
        QueryPlan("log", "count", where=year),
    )
    with tempfile.TemporaryDirectory() as name:
        path, copy = Path(name) / "log.parquet", Path(name) / "copy.duckdb"
        written(path, rows)
        with NamedFile.open(path) as file:
            prepare(file, SCHEMA, copy)
        with DuckDBEngine(copy) as engine, duckdb.connect() as raw:

            def released() -> None:
                (found,) = engine.answer([texts.request])
                texts.mechanism.noised(found, SecureBits())

            ways = {
                "counted": lambda: engine.answer([texts.request]),
                "released": released,
                "raw": lambda: raw.execute(TEXTS.format(path=path)).fetchall(),
                "dated": lambda: engine.answer([part.request for part in dates]),
                "by dates": lambda: raw.execute(DATES.format(path=path)).fetchall(),
            }
            for act in ways.values():
                act()
            return {way: statistics.median(timed(act) for _ in range(REPEATS)) for way, act in ways.items()}


if __name__ == "__main__":
    seconds = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
    for way, took in seconds.items():
        print(f"{way:10} {took:8.3f} s")
    for one, other in (("counted", "raw"), ("released", "raw"), ("dated", "by dates")):
        print(f"{one} / {other:10} {seconds[one] / seconds[other]:.2f}")
