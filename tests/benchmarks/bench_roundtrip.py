"""One fresh release of one statistic of 10,000 rows, end to end: kernel, the curator's process with its syncs, and kernel again.

Each is asked as a question that was never asked before (another bound or filter each time), and as the same question again, which
was planned and priced before; both are charged, drawn and stored anew each time. Beside the wait stands the processor time of kernel
and curator, which other work on the machine moves less. The parts are taken in one process.

Run ``pytest tests/benchmarks/bench_roundtrip.py -s`` to read the figures.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from pathlib import Path

import pytest

import dpnb
from dpnb.client.priced_batch import batch_of
from dpnb.client.upload import hand_over
from dpnb.datasets import census, census_schema
from dpnb.estimate import PendingQuestion
from dpnb.planner.price import price
from dpnb.planner.request import Ask
from dpnb.trusted.wire.places import Home
from tests.benchmarks.bench_before import processor
from tests.benchmarks.bench_questions import in_one_process

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
PARTS = (
    "  plan",
    "  conclude",
    "the curator",
    "  read the plan and price it",
    "  charge, synced",
    "  exact integers",
)
PARTS = (*PARTS, "  noise and its record, of each part", "  store, synced, and raise the mark")


def pending(question, data):
    """A question as nobody has asked it yet."""
    return [PendingQuestion(question.measurement.question, question.measurement.checked, dataset=data)]


def rounds(data, curator, of):
    """Of some releases, each charged, the median wait, and the processor time of kernel and curator; a question is made before the clock starts."""
    waits, used = [], [0.0, 0.0]
    for turn in range(ROUNDS):
        question = pending(of(turn), data)
        before, start = (time.process_time(), processor(curator)), time.perf_counter()
        report = data.session.release(question, ASK)
        waits.append(time.perf_counter() - start)
        after = time.process_time(), processor(curator)
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
    print(
        f"\nload {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; ms: wait, processor of kernel and of curator"
    )
    print(f"{'':18} {'new':>23} {'the same again':>23}")
    found = {}
    for name, asked in ASKED.items():
        same = asked(data, ROUNDS)
        rounds(data, curator, lambda _, same=same: same)
        again = rounds(data, curator, lambda _, same=same: same)
        new = rounds(data, curator, lambda turn, asked=asked: asked(data, turn))
        found[name] = new, again
        print(f"{name:18} " + "  ".join(" ".join(f"{one:7.2f}" for one in each) for each in (new, again)))
    print(parts())
    mean, prices = batch_of(pending(ASKED["mean"](data, 0), data), ASK), []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        price(mean.plan, data.schema)
        prices.append(time.perf_counter() - start)
    assert 1e3 * statistics.median(prices) <= MOST_PRICING
    for name, (new, again) in found.items():
        few = name in FEW
        assert again[0] <= (MOST if few else 2 * MOST)
        assert new[0] <= (2 * MOST if few else 4 * MOST)


def parts():
    """A line for each statistic: medians of its parts, kernel and curator in one process."""
    lines = [
        f"{'ms of the clock':20} " + " ".join(f"{name.strip().split(',')[0][:12]:>12}" for name in PARTS)
    ]
    home = Home(Path(os.environ["DPNB_HOME"]) / "apart")
    with in_one_process(home) as (here, took):
        data = here.attach(hand_over(census(ROWS, 1), census_schema(ROWS), home))
        for name, asked in ASKED.items():
            took.clear()
            for turn in range(ROUNDS):
                here.release(pending(asked(data, turn), data), ASK)
            each = {part: sum(clock for clock, _ in took[part]) / ROUNDS for part in PARTS}
            lines.append(f"{name:20} " + " ".join(f"{each[part]:12.2f}" for part in PARTS))
    return "\n".join(lines)
