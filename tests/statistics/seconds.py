"""``python -m tests.statistics.seconds`` measures how long one answer of each statistic takes, and writes docs/benchmarks/seconds.csv.

Each question is the example of the reference, asked of 100,000 rows as a person would: planned, charged to the ledger on disk, scanned,
released. A time is the least of several, each asked afresh: what else runs on the machine only adds. ``make reference`` puts them beside each statistic.
"""

from __future__ import annotations

import csv
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dpnb.cards.catalogue import Entry, catalogue

OUT = Path(__file__).parents[2] / "docs" / "benchmarks" / "seconds.csv"
ROWS, TIMES = 100_000, 25
_COLUMNS = {
    "age": {"type": "number", "lower": 0, "upper": 100, "step": 1},
    "pay": {"type": "number", "lower": 0, "upper": 10, "step": 1},
    "arm": {"type": "category", "values": [0, 1]},
    "town": {"type": "category", "values": ["u", "v", "w"]},
}


def measured() -> Iterator[tuple[str, int, str]]:
    """Yield each statistic, the rows, and the milliseconds of one answer."""
    import dpnb

    rng = np.random.default_rng(1)
    rows = {
        "age": rng.integers(0, 101, ROWS),
        "pay": rng.integers(0, 11, ROWS),
        "arm": rng.integers(0, 2, ROWS),
        "town": rng.choice(np.array(["u", "v", "w"]), ROWS),
    }
    ds = dpnb.open(_frame(rows), _declared(), quiet=True)
    for entry in catalogue():
        seconds = [_timed(dpnb, ds, entry) for _ in range(TIMES)]
        yield entry.name, ROWS, f"{1000 * min(seconds):.3g}"
    dpnb.session().close()


def _timed(dpnb: Any, ds: Any, entry: Entry) -> float:
    question = eval(entry.example, {"ds": ds})  # noqa: S307 - a text of our own
    begun = time.perf_counter()
    dpnb.release([question], rho=0.01, fresh=True)
    return time.perf_counter() - begun


def _frame(rows: dict[str, Any]) -> Any:
    import pyarrow as pa

    return pa.table(rows)


def _declared() -> dict[str, Any]:
    dataset = {
        "name": "made_up",
        "title": "Made-up rows",
        "unit": "row",
        "adjacency": "change-one",
        "rows": ROWS,
    }
    budget = {"epsilon": 10_000, "delta": "1e-6"}
    return {"dataset": dataset, "budget": budget, "columns": _COLUMNS}


def main() -> None:
    """Measure and write."""
    with tempfile.TemporaryDirectory(prefix="dpnb-seconds-") as home:
        os.environ["DPNB_HOME"] = home
        rows = list(measured())
    with OUT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("statistic", "rows", "milliseconds"))
        writer.writerows(rows)


if __name__ == "__main__":
    main()
