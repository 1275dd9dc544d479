"""One fresh release of one statistic of 10,000 rows, end to end: kernel, the curator's process with its syncs, and kernel again.

Each is asked as a question that was never asked before (another bound or filter each time), and as the same question again, which
was planned and priced before; both are charged, drawn and stored anew each time. Beside the wait stands the processor time of kernel
and curator, which other work on the machine moves less. The parts are taken in one process.

Run ``pytest tests/benchmarks/bench_roundtrip.py -s`` to read the figures.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import time
from pathlib import Path

import pytest

import dpnb
from dpnb.client import session
from dpnb.client.priced_batch import batch_of
from dpnb.client.transport import InMemory
from dpnb.client.upload import hand_over
from dpnb.datasets import census, census_schema
from dpnb.estimate import PendingQuestion
from dpnb.planner.price import price
from dpnb.planner.request import Ask
from dpnb.trusted.curator import release, service
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.engines import DuckDBEngine
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.wire.places import Home
from tests.benchmarks.measuring import load, processor_of_threads, seconds

ROWS, ROUNDS = 10_000, 60
MOST, MOST_PRICING = 15.0, 5.0
"""Milliseconds that one number may take again, and pricing one: the median of its rounds, on a machine that does nothing else. New, or as fifty
numbers, twice that."""
FEW = {"count", "mean", "variance", "median"}
ASKED = {
    "count": lambda data, turn: data[data.age > 20 + turn % 60].count(),
    "mean": lambda data, turn: data.age.clip(0, 40 + turn % 60).mean(),
    "variance": lambda data, turn: data.age.clip(0, 40 + turn % 60).variance(),
    "histogram of 50": lambda data, turn: data.income.clip(0, 50_000 + 50 * turn).histogram(bins=50),
    "median": lambda data, turn: data.age.clip(0, 40 + turn % 60).median(),
    "mean of 50 groups": lambda data, turn: data[data.age > 10 + turn % 60].groupby("state").hours.mean(),
    "least squares": lambda data, turn: data[data.age > 10 + turn % 60].moments("age", "hours", "education"),
}
ASK = Ask.make(epsilon="0.0001", fresh=True)
PARTS = {
    "plan": (session, "batch_of"),
    "conclude": (session, "_fill"),
    "the curator": (service.Curator, "answer"),
    "read the plan and price it": (service.Curator, "_batch"),
    "charge, synced": (Ledger, "charge"),
    "exact integers": (DuckDBEngine, "answer"),
    "noise and its record, of each part": (release, "_released"),
    "store, synced, and raise the mark": (Ledger, "store"),
}
"""The parts of a release, and where each is called."""


def pending(question, data):
    """A question as nobody has asked it yet."""
    return [PendingQuestion(question.measurement.question, question.measurement.checked, dataset=data)]


def rounds(data, curator, of):
    """Of some releases, each charged, the median wait, and the processor time of kernel and curator; a question is made before the clock starts."""
    waits, used = [], [0.0, 0.0]
    for turn in range(ROUNDS):
        question = pending(of(turn), data)
        before, start = (time.process_time(), processor_of_threads(curator)), time.perf_counter()
        report = data.session.release(question, ASK)
        waits.append(time.perf_counter() - start)
        after = time.process_time(), processor_of_threads(curator)
        used = [one + new - old for one, new, old in zip(used, after, before, strict=True)]
        assert report.entry is not None
        assert report.charged
        assert not any(report.stored)
    return tuple(1e3 * seconds for seconds in (statistics.median(waits), *(one / ROUNDS for one in used)))


@pytest.mark.slow
def test_a_fresh_release_of_one_statistic_takes_milliseconds(dpnb_home):
    """Every statistic, as a new question and as the same again: a row for each, and its parts."""
    data = dpnb.open(census(ROWS, 1), schema=census_schema(ROWS), quiet=True)
    curator = json.loads(next(dpnb_home.glob("*.json")).read_text())["pid"]
    print(f"\n{load()}; ms: wait, processor of kernel and of curator")
    print(f"{'':18} {'new':>23} {'the same again':>23}")
    found = {}
    for name, asked in ASKED.items():
        same = asked(data, ROUNDS)
        rounds(data, curator, lambda _, same=same: same)
        again = rounds(data, curator, lambda _, same=same: same)
        new = rounds(data, curator, lambda turn, asked=asked: asked(data, turn))
        found[name] = new, again
        print(f"{name:18} " + "  ".join(" ".join(f"{one:7.2f}" for one in each) for each in (new, again)))
    print("\n".join(lines()))
    mean = batch_of(pending(ASKED["mean"](data, 0), data), ASK)
    prices = [seconds(lambda: price(mean.priced.asked, ASK, data.schema)) for _ in range(ROUNDS)]
    assert 1e3 * statistics.median(prices) <= MOST_PRICING
    for name, (new, again) in found.items():
        few = name in FEW
        assert again[0] <= (MOST if few else 2 * MOST)
        assert new[0] <= (2 * MOST if few else 4 * MOST)


@contextlib.contextmanager
def in_one_process(home):
    """Give a session whose curator is in this process, and the milliseconds that each part takes, call by call."""
    took = {name: [] for name in PARTS}

    def noting(name, work):
        def noted(*given, **named):
            start = time.perf_counter()
            try:
                return work(*given, **named)
            finally:
                took[name].append(1e3 * (time.perf_counter() - start))

        return noted

    with pytest.MonkeyPatch.context() as patch:
        for name, (where, call) in PARTS.items():
            patch.setattr(where, call, noting(name, getattr(where, call)))
        curator = service.Curator.opened(Config(home))
        yield session.Session(lambda: InMemory(lambda body: curator.answer(body, "ann"))), took
    curator.close()


def parts(rows=ROWS, rounds=ROUNDS, names=tuple(ASKED)):
    """For each statistic the milliseconds that each part takes of a release, kernel and curator in one process."""
    home = Home(Path(os.environ["DPNB_HOME"]) / "apart")
    with in_one_process(home) as (here, took):
        data = here.attach(hand_over(census(rows, 1), census_schema(rows), home))
        for name in names:
            for calls in took.values():
                calls.clear()
            for turn in range(rounds):
                here.release(pending(ASKED[name](data, turn), data), ASK)
            yield name, {part: sum(calls) / rounds for part, calls in took.items()}


def lines():
    """The parts of every statistic, a line each."""
    yield f"{'ms of the clock':20} " + " ".join(f"{name.split(',')[0][:12]:>12}" for name in PARTS)
    for name, each in parts():
        yield f"{name:20} " + " ".join(f"{one:12.2f}" for one in each.values())
