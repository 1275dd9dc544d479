"""Where a class feels the time, each beside what it cannot do without: ``python -m tests.benchmarks.bench_class``.

A wide table beside a narrow one of as many cells, the first snapshot of a long ledger beside reading its JSON, opening a study
beside loading the libraries that it needs, six kernels at once beside one, one release beside two commits to the same disk.
Every ratio is of one run, turn and turn about, so that a busy machine slows both sides.
"""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dpnb
from dpnb.datasets import load as declared_by
from dpnb.trusted.canonical import read_json
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.service import _row
from dpnb.trusted.curator.terms import Terms
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Schema
from dpnb.trusted.wire.codec import raw
from tests.benchmarks.bench_scale import charge
from tests.benchmarks.measuring import Act, load, seconds
from tests.contracts.handed import prepare

OPEN = "import dpnb; dpnb.open('incentive33', quiet=True)"
LIBRARIES = "import asyncio, http.client, sqlite3, msgspec, numpy, duckdb, tornado.httpserver"


@dataclass(frozen=True, slots=True)
class Beside:
    """Seconds (medians) of an act and of what it is held to."""

    act: float
    floor: float

    @property
    def ratio(self) -> float:
        """How many times the floor the act takes."""
        return self.act / self.floor

    def __str__(self) -> str:
        return f"{1000 * self.act:.1f} ms, {self.ratio:.1f} times {1000 * self.floor:.1f} ms"


def in_turn(act: Act, floor: Act, rounds: int, clock: Callable[[], float] = time.perf_counter) -> Beside:
    """Time both, turn and turn about."""
    times = [(seconds(act, clock), seconds(floor, clock)) for _ in range(rounds)]
    return Beside(*(statistics.median(column) for column in zip(*times, strict=True)))


def attaching(width: int = 1000, rows: int = 100, rounds: int = 3) -> Beside:
    """Prepare a table of many columns, and one of ten columns with as many cells: seconds of processor."""
    folder = Path(tempfile.mkdtemp(prefix="dpnb-bench-"))
    draw = np.random.default_rng(1)

    def table(columns: int) -> Callable[[], object]:
        data = {f"v{n}": draw.integers(0, 100, width * rows // columns) for n in range(columns)}
        schema = wide_schema(columns)
        return lambda: prepare(data, schema, folder / "copy.duckdb")

    return in_turn(table(width), table(10), rounds, time.process_time)


def wide_schema(columns: int) -> Schema:
    """Return a schema of so many columns of whole numbers."""
    return declared_by(declaration(columns)).schema


def declaration(columns: int, name: str = "wide") -> dict[str, Any]:
    """Declare so many columns of whole numbers, as an owner does."""
    declared = {f"v{n}": {"type": "integer", "lower": 0, "upper": 100} for n in range(columns)}
    dataset = {"name": name, "adjacency": "add-remove"}
    return {"dataset": dataset, "budget": {"epsilon": 1}, "columns": declared}


def first_snapshot(entries: int = 10_000, rounds: int = 3) -> Beside:
    """Tell a kernel a whole ledger, and write and read its charges as plain JSON."""
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "ledger.sqlite3") as ledger:
        charges(ledger, entries)
        database = sqlite3.connect(Path(folder) / "ledger.sqlite3")
        query = "SELECT body FROM entries WHERE kind = 'charge'"

        def told() -> None:
            rows = ledger.statement("people", "ann")
            for row in read_json(bytes(raw([_row(one, one.note) for one in rows]))):
                for word in ("loss", "spent_after"):
                    _ = None if row[word] is None else PrivacyLoss.from_json(row[word])

        def plain() -> None:
            json.loads(json.dumps([json.loads(body) for (body,) in database.execute(query)]))

        return in_turn(told, plain, rounds)


def charges(ledger: Ledger, number: int) -> None:
    """Charge so many questions, each with an answer; the disk is not waited for."""
    budget = Budget.from_toml({"epsilon": 10**6})
    ledger.attach(
        Terms("people", "dataset:people", PrivacyUnit("add-remove"), budget, "enforced", {}), "content"
    )
    ledger._connection.execute("PRAGMA synchronous = OFF")
    for n in range(number):
        charge(ledger, n)


def run(program: str, home: str) -> subprocess.Popen[bytes]:
    """Start a program in a new interpreter."""
    return subprocess.Popen([sys.executable, "-c", program], env={**os.environ, "DPNB_HOME": home})


def opening(rounds: int = 3, *, first: bool = False) -> Beside:
    """Open a built-in study in a new interpreter, and load the libraries alone in one: kernel and curator load them at once."""
    home = tempfile.mkdtemp(prefix="dpnb-bench-")
    homes = iter([tempfile.mkdtemp(prefix="dpnb-bench-") for _ in range(rounds)]) if first else None
    if homes is None:
        run(OPEN, home).wait()
    return in_turn(
        lambda: run(OPEN, home if homes is None else next(homes)).wait(),
        lambda: run(LIBRARIES, home).wait(),
        rounds,
    )


def six_kernels(rounds: int = 2) -> Beside:
    """Open a study in six kernels at once, and in one."""
    home = tempfile.mkdtemp(prefix="dpnb-bench-")
    run(OPEN, home).wait()

    def six() -> None:
        for kernel in [run(OPEN, home) for _ in range(6)]:
            kernel.wait()

    return in_turn(six, lambda: run(OPEN, home).wait(), rounds)


def one_release(rounds: int = 60) -> Beside:
    """Release one count, and commit twice to the same disk: the charge, and the answer."""
    folder = tempfile.mkdtemp(prefix="dpnb-bench-", dir=os.environ.get("DPNB_HOME"))
    database = sqlite3.connect(Path(folder) / "bare.sqlite3", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE bare (body TEXT)")
    study = dpnb.open("incentive33", quiet=True)

    def release() -> None:
        dpnb.release([study[study.age > 40].count()], epsilon="0.0001", fresh=True)

    def commits() -> None:
        for _ in range(2):
            database.execute("INSERT INTO bare VALUES (?)", ("x" * 600,))

    release()
    return in_turn(release, commits, rounds)


def main() -> None:
    """Print the figures."""
    os.environ.setdefault("DPNB_HOME", tempfile.mkdtemp(prefix="dpnb-bench-"))
    print(load())
    for words, measured in {
        "1,000 columns of 100 rows attach (processor), beside 10 columns of as many cells": attaching,
        "10,000 charges in a kernel's first snapshot, beside their plain JSON": first_snapshot,
        "a study opens for the first time, beside loading the libraries": lambda: opening(first=True),
        "a study opens warm, beside loading the libraries": opening,
        "six kernels open it at once, beside one": six_kernels,
        "one count is released, beside two commits": one_release,
    }.items():
        print(f"{words}: {measured()}", flush=True)


if __name__ == "__main__":
    main()
