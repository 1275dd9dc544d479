"""What a charge and a store cost beside a bare SQLite full-sync commit on the same disk: ``python tests/benchmarks/bench_ledger.py``.

The wish is a ratio of at most 3 for a charge, and one that does not grow with the ledger's length. A store raises the mark
before its answer may leave: it is timed beside one that does not, in another ledger, turn and turn about.
"""

from __future__ import annotations

import argparse
import contextlib
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

from dpnb.trusted.curator.adoption import Question
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.terms import Terms
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.unit import PrivacyUnit

EVENTS = [Question("key", ["people.age.mean()"], [PrivacyEvent("pure", Fraction(1, 1000))])]


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


def store(ledger: Ledger, number: int) -> None:
    """Store the answer of a charge."""
    ledger.store(f"request-{number:012d}", f"analyst-{number % 7}", [{"value": number}])


@contextlib.contextmanager
def opened(folder: Path, name: str) -> Iterator[Ledger]:
    """A ledger in a folder of its own, with one dataset."""
    (folder / name).mkdir()
    with Ledger(folder / name / "ledger.sqlite3") as ledger:
        unit, budget = PrivacyUnit("add-remove"), Budget.from_toml({"epsilon": 10**9})
        ledger.attach(Terms("people", "dataset:people", unit, budget, "enforced", {}), "content")
        yield ledger


def without_mark(ledger: Ledger) -> Ledger:
    """Let a ledger's answers leave without the mark: for this comparison alone."""
    ledger._leave = lambda _: None
    return ledger


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
        opened(Path(folder), "marked") as ledger,
        opened(Path(folder), "unmarked") as other,
    ):
        commit = bare_commit(Path(folder) / "bare.sqlite3")
        unmarked = without_mark(other)
        acts: dict[str, Callable[[int], None]] = {
            "bare": commit,
            "charge": lambda i: charge(ledger, i),
            "store": lambda i: store(ledger, i),
            "(charge)": lambda i: charge(unmarked, i),
            "store without mark": lambda i: store(unmarked, i),
        }
        rounds = []
        for block in range(5):
            numbers = range(block * n // 5, (block + 1) * n // 5)
            # turn and turn about, so that a busy disk slows all
            times = [[seconds(act, i) for act in acts.values()] for i in numbers]
            medians = [1000 * statistics.median(column) for column in zip(*times, strict=True)]
            rounds.append(dict(zip(acts, medians, strict=True)))
            print(
                f"after {numbers.stop:6d}: "
                + ", ".join(f"{name} {ms:.3f} ms" for name, ms in rounds[-1].items())
            )
        for one, two in (("charge", "bare"), ("store", "bare"), ("store", "store without mark")):
            ratio = statistics.median(times[one] / times[two] for times in rounds)
            print(f"{one} / {two}: {ratio:.2f}" + " (wish: at most 3)" * (one == "charge"))
        mark = statistics.median(times["store"] - times["store without mark"] for times in rounds)
        print(
            f"the mark: {mark:.3f} ms a store, {mark / statistics.median(t['bare'] for t in rounds):.2f} bare commits"
        )
        print(
            f"last fifth / first fifth of charges: {rounds[-1]['charge'] / rounds[0]['charge']:.2f} (wish: no growth)"
        )


if __name__ == "__main__":
    main()
