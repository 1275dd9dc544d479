"""Speed of placements and private ranges. A plain script: ``python tests/benchmarks/bench_placement.py``.

Bars: at n = 30,000, k = 965 and 256 cells the tables of a placement take less than 1 s of processor time and a draw less than 20 ms; sums in a private range
over 10⁶ distinct values take less than 300 ms. Exit status 1 when a bar does not hold.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from statistics import median
from time import process_time

import numpy as np

from dpnb.inference.selection_law import selection
from dpnb.trusted.mechanisms import KSExponential, LocatedSums
from dpnb.trusted.mechanisms.located_sums import radii
from dpnb.trusted.noise.secure import SecureBits

BITS = SecureBits()


def seconds(work: Callable[[], object], rounds: int = 5) -> float:
    """Median time of one call, after a first one that is not counted."""
    work()
    times = []
    for _ in range(rounds):
        start = process_time()
        work()
        times.append(process_time() - start)
    return median(times)


def bars() -> list[tuple[str, float, float]]:
    """Every bar as (what, measured, at most)."""
    rng = np.random.default_rng(1)
    counts = np.bincount((rng.beta(2, 5, 30_000) * 256).astype(int), minlength=256).tolist()
    placing = KSExponential(Fraction(1), 965, (4,) * 256)
    sampler = placing.sampler(counts)
    steps, half = 10**9, Fraction(1, 2)
    located = LocatedSums(
        selection(half, half, steps, 1),
        selection(half, Fraction(1), len(radii(steps)) - 1, 1, 0.01),
        3,
        *[Fraction(10)] * 4,
    )
    values = np.unique(rng.integers(0, steps, 1_001_000))[:1_000_000]
    many = (values, np.ones(values.size, dtype=np.int64))
    return [
        ("tables of a placement, s", seconds(lambda: placing.sampler(counts), 3), 1.0),
        ("one placement, s", seconds(lambda: sampler.draw(BITS), 40), 0.02),
        ("sums in a private range, 10⁶ values, s", seconds(lambda: located.release(many, BITS), 3), 0.3),
    ]


def main() -> int:
    """Print every bar and say whether all hold."""
    failed = 0
    for what, measured, most in bars():
        failed += measured > most
        print(f"{'ok  ' if measured <= most else 'MISS'} {what}: {measured:.4f} (at most {most})")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
