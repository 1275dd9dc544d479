"""How far released numbers lie from the file's, beside OpenDP at equal privacy: one person of 1,000 changes, ε 0.1 and 1.

Run ``pytest tests/benchmarks/bench_peers.py -s`` to read the table. OpenDP has sized domains and the symmetric distance (a change is a row less
and a row more) and is told nothing that dpnb is not. Each figure is a root mean squared error over so many releases, with its standard error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import opendp.prelude as dp
import pandas as pd
import pytest

import dpnb
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema

ROWS, RELEASES, HIGH = 1000, 400, 100
POPULATIONS = {
    "bell": lambda rng: rng.normal(50, HIGH / 6, ROWS),
    "skewed": lambda rng: np.exp(rng.normal(2.6, 0.8, ROWS)),
}


@dataclass(frozen=True)
class Errors:
    """Errors of releases."""

    found: np.ndarray

    @property
    def rmse(self) -> float:
        """Their root mean square."""
        return math.sqrt(float(np.mean(self.found**2)))

    @property
    def uncertain(self) -> float:
        """The standard error of the root mean square, relative to it, by the fourth moments."""
        squares = self.found**2
        return float(np.std(squares) / np.mean(squares) / 2 / math.sqrt(len(squares)))


def study(name: str) -> pd.DataFrame:
    """Whole numbers from 0 to 100, and a group of two fifths."""
    rng = np.random.default_rng(7)
    x = np.clip(np.round(POPULATIONS[name](rng)), 0, HIGH).astype(int)
    return pd.DataFrame({"x": x, "g": (rng.random(ROWS) < 0.4).astype(int)})


ASKED: dict[str, tuple[Callable[[Any], Any], Callable[[pd.DataFrame], float], str]] = {
    "count of a group": (lambda data: data[data.g == 1].count(), lambda t: float((t.g == 1).sum()), "count"),
    "sum": (lambda data: data.x.sum(), lambda t: float(t.x.sum()), "sum"),
    "mean": (lambda data: data.x.mean(), lambda t: float(t.x.mean()), "mean"),
    "mean, ci=False": (lambda data: data.x.mean(ci=False), lambda t: float(t.x.mean()), "mean"),
    "variance": (lambda data: data.x.variance(), lambda t: float(t.x.var()), "variance"),
    "variance, ci=False": (lambda data: data.x.variance(ci=False), lambda t: float(t.x.var()), "variance"),
    "median": (lambda data: data.x.median(), lambda t: float(t.x.median()), "median"),
}


def opened(table: pd.DataFrame) -> Any:
    """The study with one person's change protected, and a budget that hardly ends."""
    columns = (Column.integer("x", 0, HIGH, missing=0), Column.category("g", [0, 1], missing=0))
    unit = PrivacyUnit("change-one", rows=ROWS)
    schema = Schema("peers", "Peers", columns, unit, Budget.from_toml({"epsilon": 10**6}))
    return dpnb.open(table, schema=schema, quiet=True)


def ours(data: Any, ask: Callable[[Any], Any], truth: float, epsilon: str) -> Errors:
    """Errors of real releases, each paid for."""
    found = [
        float(dpnb.release({"a": ask(data)}, epsilon=epsilon, fresh=True)["a"].value) for _ in range(RELEASES)
    ]
    return Errors(np.array(found) - truth)


def theirs(table: pd.DataFrame, statistic: str, truth: float, epsilon: str) -> Errors:
    """Errors of OpenDP's own measurement for the statistic."""
    dp.enable_features("contrib", "honest-but-curious")
    values: list[Any] = [float(value) for value in table.x]
    if statistic == "count":
        values = [1] * int((table.g == 1).sum())
    candidates = [float(code) for code in range(HIGH + 1)]
    release = measurement(statistic, float(epsilon), candidates)
    read = (lambda place: candidates[place]) if statistic == "median" else float
    return Errors(np.array([read(release(values)) for _ in range(RELEASES)]) - truth)


def measurement(statistic: str, epsilon: float, candidates: list[float]) -> Any:
    """The measurement, its noise found by OpenDP's own search."""
    numbers = dp.vector_domain(dp.atom_domain(bounds=(0.0, float(HIGH)), nan=False), size=ROWS)
    plain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=ROWS)
    ones = dp.vector_domain(dp.atom_domain(T=int))
    distance = dp.symmetric_distance()
    made = {
        "count": lambda s: (ones, distance) >> dp.t.then_count() >> dp.m.then_laplace(s),
        "sum": lambda s: (numbers, distance) >> dp.t.then_sum() >> dp.m.then_laplace(s),
        "mean": lambda s: (numbers, distance) >> dp.t.then_mean() >> dp.m.then_laplace(s),
        "variance": lambda s: (numbers, distance) >> dp.t.then_variance() >> dp.m.then_laplace(s),
        "median": lambda s: (
            (plain, distance)
            >> dp.t.then_quantile_score_candidates(candidates, 0.5)
            >> dp.m.then_noisy_max(dp.max_divergence(), s, negate=True)
        ),
    }[statistic]
    return dp.binary_search_chain(made, d_in=2, d_out=epsilon, bounds=(1e-9, 1e12))


SHORT = {("skewed", "variance"): 1.75, ("skewed", "variance, ci=False"): 1.6}
"""Where dpnb falls short of the goal, and how far: a variance is computed about the middle of the declared bounds, from which a skewed column is far."""


@pytest.mark.slow
@pytest.mark.parametrize("population", POPULATIONS)
def test_released_numbers_are_as_near_as_a_peers(population):
    """From n ε = 1,000 on at most 1.1 × with its interval, 1.0 × without; within three standard errors."""
    table = study(population)
    data = opened(table)
    print(
        f"\n{population}, n {ROWS}, {RELEASES} releases\n{'':20} {'ε':>4} {'dpnb':>9} {'OpenDP':>9} {'ratio':>7}"
    )
    far = []
    for name, (ask, truth, statistic) in ASKED.items():
        for epsilon in ("0.1", "1"):
            mine = ours(data, ask, truth(table), epsilon)
            peer = theirs(table, statistic, truth(table), epsilon)
            ratio = mine.rmse / peer.rmse
            spread = ratio * math.hypot(mine.uncertain, peer.uncertain)
            print(
                f"{name:20} {epsilon:>4} {mine.rmse:9.4g} {peer.rmse:9.4g} {ratio:7.2f} ± {spread:.2f}",
                flush=True,
            )
            goal = 1.0 if "ci=False" in name or statistic in {"count", "sum"} else 1.1
            if epsilon == "1" and ratio - 3 * spread > goal:
                far.append((name, round(ratio, 2)))
    assert not far
