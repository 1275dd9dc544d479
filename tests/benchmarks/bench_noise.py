"""Speed of the exact noise, as ratios measured in one run. A plain script: ``python tests/benchmarks/bench_noise.py``.

Bars: 10⁶ exact discrete Laplace draws take at most 40 times numpy's insecure ``Generator.laplace``; per draw they are at least
25 times faster than OpenDP's vector release, both at 10⁴; a single draw takes at most 100 µs; a quantile over 10⁶ distinct
values at most 150 ms. Exit status 1 when a bar does not hold.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from statistics import median
from time import perf_counter

import numpy as np
import opendp.prelude as dp

from dpnb.trusted.mechanisms import DiscreteGaussian, DiscreteLaplace, QuantileSelection
from dpnb.trusted.noise.exact import _geometric_tables, discrete_gaussian, discrete_laplace
from dpnb.trusted.noise.secure import SecureBits

SCALES = (Fraction(5, 2), Fraction(1000), Fraction(2**20 * 10**9, 123_456_789))
BITS = SecureBits()


def seconds(work: Callable[[], object], rounds: int = 7) -> float:
    """Median time of one call, after a first one that is not counted."""
    work()
    times = []
    for _ in range(rounds):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return median(times)


def opendp_vector(maker, distance, scale: float):
    """OpenDP's own vector release."""
    return maker(dp.vector_domain(dp.atom_domain(T=int)), distance, scale=scale)


def bars() -> list[tuple[str, float, float]]:
    """Every bar as (what, measured, at most)."""
    rng = np.random.default_rng(1)
    found = []
    for scale in SCALES:
        name = f"scale {float(scale):.4g}"
        insecure = seconds(lambda scale=scale: rng.laplace(0, float(scale), 1_000_000))
        million = seconds(lambda scale=scale: discrete_laplace(scale, 1_000_000, BITS))
        normal = seconds(lambda scale=scale: discrete_gaussian(scale**2, 1_000_000, BITS))
        print(
            f"{name}: 10⁶ numpy laplace {1e3 * insecure:.1f} ms, exact Laplace {1e3 * million:.1f} ms, exact Gaussian {1e3 * normal:.1f} ms"
        )
        found.append((f"{name}: 10⁶ exact Laplace / numpy laplace", million / insecure, 40))
        found.append((f"{name}: 10⁶ exact Gaussian / numpy laplace", normal / insecure, 40))
        found += against_opendp(scale, name)
        single = (
            seconds(lambda scale=scale: [DiscreteLaplace(scale).release([5], BITS) for _ in range(500)]) / 500
        )
        gauss = (
            seconds(lambda scale=scale: [DiscreteGaussian(scale**2).release([5], BITS) for _ in range(500)])
            / 500
        )
        found += [
            (f"{name}: one Laplace release, µs", 1e6 * single, 100),
            (f"{name}: one Gaussian release, µs", 1e6 * gauss, 100),
        ]
    return found + quantiles(rng)


def against_opendp(scale: Fraction, name: str) -> list[tuple[str, float, float]]:
    """Vector releases of 10⁴ zeros, ours over theirs; ours also with cold tables."""
    zeros, found = [0] * 10_000, []
    pairs = (
        (
            "Laplace",
            DiscreteLaplace(scale),
            opendp_vector(dp.m.make_laplace, dp.l1_distance(T=int), float(scale)),
        ),
        (
            "Gaussian",
            DiscreteGaussian(scale**2),
            opendp_vector(dp.m.make_gaussian, dp.l2_distance(T=int), float(scale)),
        ),
    )
    for law, ours, theirs in pairs:
        mine, other = (
            seconds(lambda ours=ours: ours.release(zeros, BITS)),
            seconds(lambda theirs=theirs: theirs(zeros), 3),
        )
        print(
            f"{name}: 10⁴ {law} release {1e6 * mine / 1e4:.3f} µs a draw, OpenDP {1e6 * other / 1e4:.2f} µs ({other / mine:.0f} ×)"
        )
        found.append((f"{name}: 10⁴ {law}, 25 × ours / OpenDP", 25 * mine / other, 1))

    def cold() -> None:
        _geometric_tables.cache_clear()
        discrete_laplace(scale, 10_000, BITS)

    print(f"{name}: 10⁴ exact Laplace with cold tables {1e3 * seconds(cold):.2f} ms")
    return found


def quantiles(rng: np.random.Generator) -> list[tuple[str, float, float]]:
    """A median over 10⁶ distinct values, at a large and a small ε, and one over a small cell."""
    values = np.unique(rng.integers(0, 2**40, 1_000_000))
    many = (values, np.ones(values.size, dtype=np.int64))
    few = (np.arange(100), np.full(100, 30))
    found = []
    for epsilon in (Fraction(1), Fraction(1, 1000)):
        wide = QuantileSelection(epsilon, Fraction(1, 2), 0, 2**40)
        found.append(
            (
                f"ε {epsilon}: quantile of 10⁶ values, ms",
                1e3 * seconds(lambda wide=wide: wide.release(many, BITS)),
                150,
            )
        )
        small = QuantileSelection(epsilon, Fraction(1, 2), 0, 100)
        found.append(
            (
                f"ε {epsilon}: quantile of a small cell, ms",
                1e3 * seconds(lambda small=small: small.release(few, BITS)),
                5,
            )
        )
    return found


def main() -> int:
    """Print every figure and bar; 1 if one does not hold."""
    dp.enable_features("contrib")
    results = bars()
    for what, measured, limit in results:
        print(f"{'holds' if measured <= limit else 'FAILS'}  {what}: {measured:.3g} (at most {limit:g})")
    return int(any(measured > limit for _, measured, limit in results))


if __name__ == "__main__":
    sys.exit(main())
