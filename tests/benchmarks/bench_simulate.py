"""Coverage simulations, as ratios measured in one run. A plain script: ``python tests/benchmarks/bench_simulate.py``.

Bars: 1,000 coverage simulations of the mean at 20 values of ε, both intervals, take at most 0.5 s, with a public and with a private
number of rows; concluding them all at once takes at most a fiftieth of what it takes release by release; a single release is
concluded in at most 3 ms. Times are processor seconds. Exit status 1 when a bar does not hold.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from time import process_time

import numpy as np

from dpnb import simulate
from dpnb.statistics import conclude

LOSSES = [float(e) for e in np.geomspace(0.05, 5, 20).round(3)]
POPULATION = simulate.beta(2, 5)
CASES = {
    "mean, public n": ("mean", {}),
    "mean, private n": ("mean", {"adjacency": "add-remove"}),
    "proportion": ("mean", {"adjacency": "add-remove"}),
    "variance": ("variance", {"adjacency": "add-remove"}),
    "quantile with limits": ("quantile", {"ci": True}),
}


def seconds(work: Callable[[], object], rounds: int = 5) -> float:
    """Median processor time of one call, after a first one that is not counted: one thread, whatever else the machine does."""
    work()
    times = []
    for _ in range(rounds):
        start = process_time()
        work()
        times.append(process_time() - start)
    return median(times)


def simulated(name: str) -> Callable[[], object]:
    """1,000 studies of 500 people at 20 values of ε."""
    statistic, asked = CASES[name]
    people = simulate.bernoulli(0.3) if name == "proportion" else POPULATION
    return lambda: simulate.coverage(statistic, people, 500, LOSSES, reps=1000, **asked)


def against_releases() -> tuple[float, float]:
    """Seconds for one interval of each kind: all at once, and release by release."""
    studies, _ = simulate.draw_studies("mean", POPULATION, 500, LOSSES, 1000, adjacency="add-remove")
    losses, count, _ = studies.shape
    releases = [studies.release(i, j) for i in range(losses) for j in range(5)]

    def at_once() -> None:
        for kind in ("privacy", "confidence"):
            type(studies)(studies.items, studies.parts, studies.rng).interval(0.95, kind)

    def one_by_one() -> None:
        for release in releases:
            found = conclude(studies.checked, [release])
            for kind in ("privacy", "confidence"):
                found.interval(0.95, kind)

    return seconds(at_once) / (losses * count), seconds(one_by_one, 3) / len(releases)


def main() -> int:
    """Print every figure and bar; 1 if one does not hold."""
    results = []
    for name in CASES:
        found = seconds(simulated(name), 3)
        print(f"{name}: 20,000 releases {found:.3f} s")
        if name.startswith("mean"):
            results.append((f"{name}: 1,000 studies at 20 values of ε, s", found, 0.5))
    together, apart = against_releases()
    print(f"one study: {1e6 * together:.2f} µs at once, {1e6 * apart:.0f} µs as a release")
    results.append(("at once / release by release", together / apart, 0.02))
    results.append(("one release concluded, ms", 1e3 * apart, 3))
    for what, measured, limit in results:
        print(f"{'holds' if measured <= limit else 'FAILS'}  {what}: {measured:.3g} (at most {limit:g})")
    return int(any(measured > limit for _, measured, limit in results))


if __name__ == "__main__":
    sys.exit(main())
