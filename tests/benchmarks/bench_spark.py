"""How fast Spark answers a batch, beside Spark doing the same by hand: ratios within one run.

Run it with ``python -m tests.benchmarks.bench_spark [rows]``. Three ways to the same statistics, interleaved:

engine    one batch through the engine, warm, from the prepared copy
raw       Spark, the same exact statistics by hand from the raw floats in Parquet, one statement each
at once   the same by hand, all but the median in one grouped statement
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from dpnb.trusted.curator.engines import spark_session
from dpnb.trusted.curator.engines.spark import SparkEngine, write_copy
from dpnb.trusted.curator.engines.spark_table import fetch, identified
from dpnb.trusted.schema.lake_table import LakeTable
from tests.benchmarks.bench_engine import BATCH, KEPT, MEDIAN, RAW, RAW_AT_ONCE, SCHEMA, people
from tests.benchmarks.measuring import load, medians, milliseconds
from tests.contracts.handed import prepare

REPEATS = 5
EXACT_MEDIAN = f"SELECT percentile(age, 0.5) FROM people WHERE {KEPT.replace('income', 'age')}"


def by_hand(spark, wanted):
    """Run statements and fetch their results."""
    for statement in wanted:
        spark.sql(statement).collect()


def measure(rows, repeats=REPEATS):
    """Median milliseconds of each way, and the seconds that preparing and the first batch took."""
    with tempfile.TemporaryDirectory() as folder:
        home, lake = Path(folder), Path(folder) / "lake"
        table, found = people(rows), {}
        lake.mkdir()
        with duckdb.connect() as connection:
            connection.register("arrays", table)
            connection.execute(f"COPY arrays TO '{lake}/part-0.parquet' (FORMAT parquet)")
        start = time.perf_counter()
        spark = spark_session.session()
        found["seconds to start"] = time.perf_counter() - start
        own = spark.newSession()  # as an owner has it, but for as many partitions as there are cores
        own.conf.set("spark.sql.shuffle.partitions", spark.conf.get("spark.sql.shuffle.partitions"))
        own.read.parquet(lake.as_uri()).createOrReplaceTempView("people")
        start = time.perf_counter()
        where = LakeTable(str(lake))
        with fetch(where, SCHEMA, identified(where, SCHEMA)[1], home / "fetched") as handed:
            found["seconds to hand out"] = time.perf_counter() - start
            draft = prepare(handed, SCHEMA, home / "draft.duckdb")
        write_copy(draft, None, None, home / "copy.spark")
        found["seconds to prepare"] = time.perf_counter() - start
        with SparkEngine(home / "copy.spark") as engine:
            found["first batch"] = milliseconds(lambda: engine.answer([*BATCH, MEDIAN]))
            ways = {
                "engine": lambda: engine.answer([*BATCH, MEDIAN]),
                "raw": lambda: by_hand(own, [*RAW, EXACT_MEDIAN]),
                "at once": lambda: by_hand(own, [*RAW_AT_ONCE, EXACT_MEDIAN]),
            }
            return found | medians(ways, repeats)


def main():
    """Print one run."""
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", "--master local[2] --driver-memory 4g pyspark-shell")
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    found = measure(rows)
    spark_session.stop()
    print(f"{rows} rows, {load()}")
    for name, value in found.items():
        print(f"{name:20} {value:10.1f}")
    print(f"engine / the faster by hand: {found['engine'] / min(found['raw'], found['at once']):.2f}")


if __name__ == "__main__":
    main()
