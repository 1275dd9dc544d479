"""Coverage simulations: 1,000 studies of 500 people at 20 values of ε in at most 0.5 s. ``python -m tests.benchmarks.bench_simulate``.

The bar is for a mean with both intervals, the number of rows public or private. Times are processor seconds.
"""

from __future__ import annotations

from statistics import median
from time import process_time

import numpy as np

from dpnb import simulate
from tests.benchmarks.measuring import seconds

BAR = 0.5
LOSSES = [float(e) for e in np.geomspace(0.05, 5, 20).round(3)]
CASES = {
    "mean, public n": ("mean", {}),
    "mean, private n": ("mean", {"adjacency": "add-remove"}),
    "proportion": ("mean", {"adjacency": "add-remove"}),
    "variance": ("variance", {"adjacency": "add-remove"}),
    "quantile with limits": ("quantile", {"ci": True}),
}


def simulated(name: str) -> simulate.CoverageResult:
    """1,000 studies of 500 people at 20 values of ε."""
    statistic, asked = CASES[name]
    people = simulate.bernoulli(0.3) if name == "proportion" else simulate.beta(2, 5)
    return simulate.coverage(statistic, people, 500, LOSSES, reps=1000, **asked)


def main() -> None:
    """Print the median of three calls of each case, after a first one that is not counted."""
    for name in CASES:
        simulated(name)
        found = median(seconds(lambda name=name: simulated(name), process_time) for _ in range(3))
        bar = f" (bar {BAR} s: {'holds' if found <= BAR else 'MISSED'})" if name.startswith("mean") else ""
        print(f"{name}: 20,000 releases {found:.3f} s{bar}")


if __name__ == "__main__":
    main()
