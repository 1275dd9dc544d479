"""A batch on PostgreSQL's prepared copy, beside the server's own exact queries on the raw table: ratios within one run.

Run it with ``python -m tests.benchmarks.bench_postgres [rows]``; a server is started for it. Four ways, interleaved:

engine       count, mean, variance, histogram, means and variances by groups and the median as one batch, from the prepared copy
no copy      the same batch where no copy is allowed: codes are computed from the raw table in every batch
raw          the same exact statistics (clamped, missing handled) by hand from the raw table, one statement for each
raw at once  all of them but the median in one grouped statement, and the median

The table is the one of :mod:`tests.benchmarks.bench_engine`, in double precision.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from dpnb.trusted.curator.engines.postgres import PostgresEngine, drop_copy, write_copy
from dpnb.trusted.curator.engines.postgres_table import fetch, identified
from dpnb.trusted.schema.server_table import ServerTable
from tests.benchmarks.bench_engine import BATCH, MEDIAN, RAW, RAW_AT_ONCE, SCHEMA, by_hand, people
from tests.benchmarks.measuring import medians, milliseconds, seconds
from tests.contracts.handed import prepare
from tests.postgres.server import running

REPEATS = 7
MIDDLE = "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY age) FROM people"


def in_its_words(statements):
    """The same statements for PostgreSQL, where a NaN is a number that equals itself."""
    return [one.replace("NOT isnan(income)", "income <> 'NaN'") for one in statements]


def loaded(connection, table):
    """Write the raw table."""
    listed = ", ".join(f"{name} double precision" for name in table)
    connection.execute(f"CREATE TABLE people ({listed})")
    with connection.cursor() as cursor, cursor.copy("COPY people FROM STDIN") as into:
        for row in zip(*map(np.ndarray.tolist, table.values()), strict=True):
            into.write_row(row)
    connection.execute("VACUUM (FREEZE, ANALYZE) people")


def measure(rows):
    """Median milliseconds of each way, interleaved, and the seconds that preparing took."""
    with (
        tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder,
        tempfile.TemporaryDirectory() as aside,
        running(Path(folder)) as server,
        server.admin() as raw,
    ):
        loaded(raw, people(rows))
        table = ServerTable(f"postgresql://postgres@/postgres?host={folder}", "people")
        note, draft = Path(aside) / "copy.server", Path(aside) / "copy.duckdb"

        def prepared():
            _, version = identified(table, SCHEMA)
            with fetch(table, SCHEMA, version, Path(aside) / "rows.csv") as found:
                prepare(found, SCHEMA, draft)
            write_copy(draft, table, SCHEMA, note)

        preparing = seconds(prepared)
        opening = seconds(lambda: identified(table, SCHEMA))
        none = Path(aside) / "none.server"
        write_copy(draft, replace(table, copy=False, version="1"), SCHEMA, none)
        with PostgresEngine(note) as engine, PostgresEngine(none) as bare:
            cold = milliseconds(lambda: engine.answer([MEDIAN]))
            ways = {
                "engine": lambda: engine.answer([*BATCH, MEDIAN]),
                "no copy": lambda: bare.answer([*BATCH, MEDIAN]),
                "raw": lambda: by_hand(raw, in_its_words([*RAW, MIDDLE])),
                "raw at once": lambda: by_hand(raw, in_its_words([*RAW_AT_ONCE, MIDDLE])),
            }
            first = milliseconds(ways["engine"])
            found = medians(ways, REPEATS)
        drop_copy(note)
        return {
            **found,
            "first batch": first,
            "first median": cold,
            "preparing (s)": preparing,
            "opening again (s)": opening,
        }


if __name__ == "__main__":
    found = measure(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000)
    for name, value in found.items():
        print(f"{name:18} {value:10.1f}")
    for name in ("raw", "raw at once"):
        print(
            f"engine / {name:11} {found['engine'] / found[name]:8.2f}   no copy {found['no copy'] / found[name]:8.2f}"
        )
