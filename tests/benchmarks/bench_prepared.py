"""How long people's rows take to prepare, and to ask, beside exact DuckDB on the raw file: ratios within one run.

Run it with ``python -m tests.benchmarks.bench_prepared [visits]``.

joined    the whole preparation of two tables, once per data version: read, grouped, joined, written
statement the one statement in it that groups and joins
by hand   DuckDB: the join itself by hand, of the same files with the same aggregates, written into a table of a new file as well
asked     four questions of the prepared copy, warm
raw       DuckDB: the same four, exactly, from the raw files
opened    the first opening of one file of ten times as many rows: hashed, read, checked, written, hashed again
read      DuckDB: the same file read, all its columns as they are, into a table of a new file

Of each way the seconds of the clock and of the processor, of all threads; ratios of the processor hold on a busy machine too.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import duckdb
import numpy as np

from dpnb.trusted.aggregate.algebra import Col, Key, Lit, Total
from dpnb.trusted.curator.engines import DuckDBEngine, preparing
from dpnb.trusted.files.named_file import NamedFile, NamedFiles
from dpnb.trusted.schema.owner import load
from tests.benchmarks.bench_scale import TERMS, write_people
from tests.benchmarks.measuring import used
from tests.contracts.handed import prepare

REPEATS = 5
SCHEMA = load(
    {
        "dataset": {"name": "h", "adjacency": "add-remove", "unit": "person", "max_rows_per_unit": 1},
        "budget": {"epsilon": 1},
        "columns": {"age": {"type": "integer", "lower": 0, "upper": 110}},
        "source": {
            "visits": {
                "file": "visits.parquet",
                "on": "person",
                "columns": {
                    "day": {"type": "date", "bounds": ["2024-01-01", "2024-12-31"]},
                    "minutes": {"type": "integer", "lower": 0, "upper": 600},
                    "ward": {"type": "category", "values": ["surgery", "medicine", "emergency"]},
                },
            }
        },
        "prepare": {
            "visits": {"count": "visits", "upper": 20},
            "minutes": {"sum": "visits.minutes", "upper": 2000, "missing": 0},
            "surgery": {"any": "visits.ward", "is": "surgery", "missing": 0},
            "ward": {"latest": "visits.ward", "by": "day"},
        },
    }
).schema
CUT = "least(greatest(minutes, 0), 600)"
GROUPED = (
    f"SELECT person, least(count(*), 20) AS visits, least(sum({CUT}), 2000) AS minutes, "
    "bool_or(ward = 'surgery') AS surgery, arg_max(ward, day) AS ward FROM read_parquet('{visits}') GROUP BY person"
)
JOINED = (
    "SELECT p.person, least(greatest(p.age, 0), 110) AS age, coalesce(v.visits, 0) AS visits, "
    "coalesce(v.minutes, 0) AS minutes, coalesce(v.surgery, false) AS surgery, v.ward "
    f"FROM read_parquet('{{people}}') AS p LEFT JOIN ({GROUPED}) AS v USING (person)"
)
RAW = f"SELECT count(*), sum(minutes), sum(visits), count(*) FILTER (age > 60 AND surgery) FROM ({JOINED})"
ASKED = [
    Total(Lit(1)),
    Total(Col("minutes")),
    Total(Col("visits")),
    Total(Lit(1), None, (Key(Col("surgery"), 2), Key(Col("age"), 111))),
]


def written(folder: Path, visits: int) -> tuple[Path, Path]:
    """A fifth as many people as visits, in two Parquet files."""
    people, other = folder / "people.parquet", folder / "visits.parquet"
    duckdb.sql(f"SELECT i AS person, i * 7 % 101 AS age FROM range({visits // 5}) t(i)").write_parquet(
        str(people)
    )
    duckdb.sql(
        f"SELECT hash(i) % {visits // 5} AS person, DATE '2024-01-01' + CAST(hash(i, 1) % 366 AS INTEGER) AS day, "
        f"CAST(hash(i, 2) % 700 AS INTEGER) AS minutes, ['surgery', 'medicine', 'emergency', '?'][CAST(1 + hash(i, 3) % 4 AS BIGINT)] AS ward "
        f"FROM range({visits}) t(i)"
    ).write_parquet(str(other))
    return people, other


def measure(visits: int) -> dict[str, np.ndarray]:
    """Median seconds of each way, of the clock and of the processor, in rounds: a busy machine is busy for all."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        people, other = written(folder, visits)
        paths = {"people": str(people), "visits": str(other)}
        statement: list[np.ndarray] = []
        real = preparing._write
        preparing._write = lambda *given: statement.append(used(lambda: real(*given)))

        def joined() -> None:
            with NamedFile.open(people) as one, NamedFile.open(other) as two:
                prepare(
                    NamedFiles(one, {"visits": two}),
                    SCHEMA,
                    folder / "copy.duckdb",
                    key=b"k" * 32,
                )

        def by_hand() -> None:
            (folder / "hand.duckdb").unlink(missing_ok=True)
            with duckdb.connect(str(folder / "hand.duckdb")) as connection:
                connection.execute(f"CREATE TABLE joined AS {JOINED.format(**paths)}")

        joined()
        with DuckDBEngine(folder / "copy.duckdb") as engine, duckdb.connect() as raw:
            ways = {
                "joined": joined,
                "by hand": by_hand,
                "asked": lambda: engine.answer(ASKED),
                "raw": lambda: raw.execute(RAW.format(**paths)).fetchall(),
            }
            rounds = [{way: used(act) for way, act in ways.items()} for _ in range(REPEATS)]
        preparing._write = real
        found = {way: [one[way] for one in rounds] for way in ways} | {"statement": statement[1:]}
    return {way: np.median(seconds, axis=0) for way, seconds in found.items()}


def opening(rows: int) -> dict[str, np.ndarray]:
    """Median seconds of a first opening of a file, and of reading it into DuckDB by hand."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, declared = folder / "people.parquet", folder / "people.dpnb.toml"
        write_people(path, rows)
        declared.write_text(TERMS)
        schema = load(declared, source=path).schema

        def opened() -> None:
            with NamedFile.open(path) as file:
                before = file.digest()
                prepare(file, schema, folder / "copy.duckdb", key=b"k" * 32)
                assert file.digest() == before

        def read() -> None:
            (folder / "raw.duckdb").unlink(missing_ok=True)
            with duckdb.connect(str(folder / "raw.duckdb")) as connection:
                connection.execute(f"CREATE TABLE people AS FROM '{path}'")

        rounds = [{"opened": used(opened), "read": used(read)} for _ in range(REPEATS)]
    return {way: np.median([one[way] for one in rounds], axis=0) for way in ("opened", "read")}


if __name__ == "__main__":
    visits = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    seconds = measure(visits) | opening(10 * visits)
    print(f"{'':27}{'clock':>8}{'processor':>11}")
    for way, (clock, processor) in seconds.items():
        print(f"{way:27}{clock:8.3f}{processor:11.3f}")
    for one, other in (
        ("joined", "by hand"),
        ("statement", "by hand"),
        ("asked", "raw"),
        ("opened", "read"),
    ):
        clock, processor = seconds[one] / seconds[other]
        print(f"{one + ' / ' + other:27}{clock:8.3f}{processor:11.3f}")
