"""The published coverage study of the private bootstrap: below 1.5 s, and at least 30 × the obvious numpy loop.

500 studies of n = 500 rows of ``anes96.age``, k ∈ {10, 25, 50, 100, 200} resamples, three kinds of interval at 95 %. The obvious loop
is the published algorithm as a person would write it: draw multiplicities, answer each partition with its own noise, add up.
It is timed on a few studies and scaled. Run from the repository's root: ``python tests/benchmarks/bench_bootstrap.py``.
"""

from __future__ import annotations

import time

import numpy as np

from dpnb.datasets import find
from dpnb.inference.bootstrap import Bootstrap
from dpnb.inference.resampling import noise_variance
from dpnb.risk.bootstrap import multiplicities
from dpnb.simulate.bootstrap import bootstrap_coverage

BAR, RATIO = 1.5, 30.0
KS, STUDIES, N, RHO, BOUNDS = (10, 25, 50, 100, 200), 500, 500, 0.5, (0, 100)


def obvious_resample(x, odds, variance, rng):
    """Draw one resample and answer its partitions, as published."""
    held = rng.multinomial(len(x), np.full(len(x), 1 / len(x)))
    total = 0.0
    for times in range(1, max(len(odds), held.max() + 1)):
        odd = odds[times] if times < len(odds) else 0.0
        noise = rng.normal(0, np.sqrt(times * odd * variance))
        total += times * x[held == times].sum() / len(x) + noise
    return total


def rows_resample(x, odds, variance, rng):
    """Draw one resample by its rows and add noise once: a shorter loop of the same law."""
    return rng.choice(x, len(x)).mean() + rng.normal(0, np.sqrt(variance))


def loop(population, studies, rng, resample=obvious_resample):
    """Return the coverage of three kinds of interval for every k, one resample at a time."""
    truth, odds, hits = population.mean(), multiplicities(N)[:8], np.zeros((len(KS), 3))
    for _ in range(studies):
        x = rng.choice(population, N)
        for place, k in enumerate(KS):
            variance = noise_variance((BOUNDS[1] - BOUNDS[0]) / N, RHO, k)
            made = Bootstrap(np.array([resample(x, odds, variance, rng) for _ in range(k)]), variance)
            for j, kind in enumerate(("unbiased", "conservative", "most conservative")):
                hits[place, j] += abs(made.estimate - truth) <= 1.96 * made.published_standard_error(kind)
    return hits / studies


def measure(studies: int = 5) -> tuple[float, float, float]:
    """Return the seconds of ours (best of three) and of both loops, scaled to all studies."""
    population = find("anes96").load()["age"].astype(int)
    ours = []
    for _ in range(3):
        start = time.perf_counter()
        rng = np.random.default_rng(1)
        bootstrap_coverage(population, rng, bounds=BOUNDS, n=N, rho=RHO, ks=KS, simulations=STUDIES)
        ours.append(time.perf_counter() - start)
    times = []
    for resample in (obvious_resample, rows_resample):
        start = time.perf_counter()
        loop(population, studies, np.random.default_rng(2), resample)
        times.append((time.perf_counter() - start) * STUDIES / studies)
    return min(ours), times[0], times[1]


def main() -> None:
    """Print the figures."""
    ours, obvious, rows = measure()
    print(f"ours {ours:.3f} s (bar {BAR} s: {'holds' if ours < BAR else 'MISSED'})")
    ratio = obvious / ours
    print(
        f"published loop {obvious:.1f} s: {ratio:.0f} × (bar {RATIO:.0f} ×: {'holds' if ratio >= RATIO else 'MISSED'})"
    )
    print(f"loop over rows {rows:.1f} s: {rows / ours:.0f} ×")


if __name__ == "__main__":
    main()
