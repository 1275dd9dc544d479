"""Fieller's set in closed form is the set that the test accepts, and the critical value holds every mixture of errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpnb.inference import NoiseSum
from dpnb.inference.ratio_interval import accepted_ratio, critical
from dpnb.inference.spread import normal_quantile


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.905, 0.907, 0.91, 0.95, 0.99, 0.999])
def test_the_critical_value_holds_every_sum_of_laplace_and_gaussian_errors(level: float) -> None:
    """No standardised quantile of 120 random sums exceeds the stated one; one Laplace alone comes within 0.2 %."""
    rng, alpha = np.random.default_rng(1), 1 - level
    stated = critical(alpha, laplace=True)
    for _ in range(120):
        scales = rng.dirichlet(np.full(rng.integers(1, 7), 0.7)) ** 0.5 + 1e-3
        law = NoiseSum(rng.random() ** 3 * 2 * float((scales**2).sum()), tuple(scales))
        assert law.radius(alpha) <= stated * law.sd * (1 + 1e-6)
    assert critical(0.05, laplace=True) == pytest.approx(-math.log(0.05) / math.sqrt(2), rel=2e-3)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_a_laplace_sum_beside_sampling_error_is_held_too(level: float) -> None:
    """Noise at its own critical value and sampling at the normal one, squared and added, are never too few."""
    alpha = 1 - level
    z, t = normal_quantile(1 - alpha / 2), critical(alpha, laplace=True)
    for share in np.linspace(0.0, 1.0, 21):
        law = NoiseSum(1 - share, (math.sqrt(share / 2),) if share else ())
        assert law.radius(alpha) <= math.sqrt(t * t * share + z * z * (1 - share)) * (1 + 1e-6)


def test_the_quadratic_gives_the_accepted_set() -> None:
    """On a fine grid of candidates, exactly those between the two ends pass the test, of a ratio that is moved into the domain."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        size, total = rng.uniform(50, 200), rng.uniform(-20, 150)
        q0, q2 = rng.uniform(1, 200), rng.uniform(0, 100)
        q1 = rng.uniform(-1, 1) * 2 * math.sqrt(q0 * q2)
        low, high = accepted_ratio(total, size, (q0, q1, q2), 0.5, (0.0, 1.0))
        grid = np.linspace(0, 1, 2001)
        inside = np.abs(np.clip(total, 0, size) - grid * size) <= 0.5 + np.sqrt(
            np.maximum(q0 + q1 * grid + q2 * grid**2, 0)
        )
        if inside.any():
            assert abs(grid[inside][0] - low) < 1e-3
            assert abs(grid[inside][-1] - high) < 1e-3


def test_a_denominator_that_noise_hides_gives_the_whole_domain() -> None:
    """An unbounded Fieller set is shown as the public range."""
    low, high = accepted_ratio(3.0, np.array([1.0, -5.0]), (1.0, 0.0, 4.0), 0.0, (0.0, 1.0))
    np.testing.assert_array_equal(low, [0.0, 0.0])
    np.testing.assert_array_equal(high, [1.0, 1.0])
