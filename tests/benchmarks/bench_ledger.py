"""What a charge costs beside a bare SQLite full-sync commit on the same disk, in one run: ``python tests/benchmarks/bench_ledger.py``.

The wish is a ratio of at most 3, and one that does not grow with the ledger's length.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from dpnb.curator.ledger import Ledger, Question
from dpnb.curator.terms import Terms
from dpnb.privacy import Budget, PrivacyEvent, PrivacyLoss, PrivacyUnit

EVENTS = [Question("key", "people.age.mean()", [PrivacyEvent("pure", Fraction(1, 1000))])]


def bare_commit(path: Path) -> Callable[[int], None]:
    """Return a function that commits one small row with full sync, as plainly as SQLite can."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE bare (entry INTEGER PRIMARY KEY, body TEXT)")

    def commit(number: int) -> None:
        database.execute("BEGIN IMMEDIATE")
        database.execute("INSERT INTO bare VALUES (?, ?)", (number, "x" * 600))
        database.execute("COMMIT")

    return commit


def charge(ledger: Ledger, number: int) -> None:
    """Charge one question."""
    ledger.charge(
        request_id=f"request-{number:012d}",
        principal=f"analyst-{number % 7}",
        digest="0" * 64,
        pool="dataset:people",
        dataset="people",
        data_version="0123456789abcdef",
        cap=PrivacyLoss.pure(10**9),
        questions=EVENTS,
    )


def seconds(act: Callable[[int], None], number: int) -> float:
    """Return how long one act takes."""
    start = time.perf_counter()
    act(number)
    return time.perf_counter() - start


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--charges", type=int, default=1000)
    parser.add_argument("--folder", type=Path, default=None, help="a folder on the disk to measure")
    options = parser.parse_args()
    n = options.charges
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        Ledger(Path(folder) / "ledger.sqlite3") as ledger,
    ):
        commit = bare_commit(Path(folder) / "bare.sqlite3")
        unit, budget = PrivacyUnit("add-remove"), Budget.from_toml({"epsilon": 10**9})
        ledger.attach(Terms("people", "dataset:people", unit, budget, "enforced", {}), "content")
        rounds = []
        for block in range(5):
            numbers = range(block * n // 5, (block + 1) * n // 5)
            # turn and turn about, so that a busy disk slows both
            pairs = [(seconds(commit, i), seconds(lambda i: charge(ledger, i), i)) for i in numbers]
            bare, ours = (1000 * statistics.median(column) for column in zip(*pairs, strict=True))
            rounds.append((bare, ours))
            print(
                f"after {numbers.stop:6d}: bare {bare:.3f} ms, charge {ours:.3f} ms, ratio {ours / bare:.2f}"
            )
        ratio = statistics.median(ours / bare for bare, ours in rounds)
        print(f"charge / bare full-sync commit: {ratio:.2f} (wish: at most 3)")
        print(f"last fifth / first fifth: {rounds[-1][1] / rounds[0][1]:.2f} (wish: no growth)")


if __name__ == "__main__":
    main()
