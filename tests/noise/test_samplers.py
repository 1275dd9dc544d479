"""Both samplers of both laws keep the law contract, over scales from a third of a step to 2⁴⁷ steps."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpnb.inference import fast_noise
from dpnb.inference.law import DiscreteGaussianLaw, DiscreteLaplaceLaw
from dpnb.inference.seeded_bits import SeededBits
from dpnb.trusted.noise import exact
from tests.contracts.law import FITS, LawContract, fit

SCALES = (
    Fraction(1, 3),
    Fraction(1),
    Fraction(5, 2),
    Fraction(7001, 700),
    Fraction(10**9, 999_999_937),
    Fraction(1000),
    Fraction(2**20 * 10**9, 123_456_789),
    Fraction(2**47),
)


class TestDiscreteLaplace(LawContract):
    parameters = SCALES

    def law(self, parameter):
        return DiscreteLaplaceLaw(parameter)

    def stretched(self, parameter, factor):
        return parameter * Fraction(factor)

    def exact(self, parameter, size, bits):
        return exact.discrete_laplace(parameter, size, bits)

    def fast(self, parameter, size, rng):
        return fast_noise.discrete_laplace(float(parameter), size, rng)


class TestDiscreteGaussian(LawContract):
    parameters = (
        *(scale**2 for scale in SCALES[:5]),
        Fraction(1, 4),
        Fraction(7, 11),
        Fraction(64**2) + 1,
        Fraction(2**94),
    )

    def law(self, parameter):
        return DiscreteGaussianLaw(parameter)

    def stretched(self, parameter, factor):
        return parameter * Fraction(factor) ** 2

    def exact(self, parameter, size, bits):
        return exact.discrete_gaussian(parameter, size, bits)

    def fast(self, parameter, size, rng):
        return fast_noise.discrete_gaussian(float(parameter), size, rng)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("scale", SCALES[:6], ids=str)
def test_twenty_million_draws_fit(scale, seed):
    """At 2·10⁷ draws and 400 cells, where 0.1 % of a scale would show, both exact laws still fit."""
    bits = SeededBits(1000 + seed)
    assert fit(exact.discrete_laplace(scale, 20_000_000, bits), DiscreteLaplaceLaw(scale), 400) > FITS
    assert fit(exact.discrete_gaussian(scale**2, 20_000_000, bits), DiscreteGaussianLaw(scale**2), 400) > FITS


def test_a_million_draws_fit_closely():
    """At 10⁶ draws and 200 cells, where 0.5 % of a scale would show, the vectorised routes fit."""
    bits = SeededBits(16)
    scale = Fraction(37, 3)
    laplace, gaussian = DiscreteLaplaceLaw(scale), DiscreteGaussianLaw(scale**2)
    assert fit(exact.discrete_laplace(scale, 1_000_000, bits), laplace, 200) > FITS
    draws = exact.discrete_gaussian(scale**2, 1_000_000, bits)
    assert fit(draws, gaussian, 200) > FITS
    assert fit(draws, DiscreteGaussianLaw((scale * Fraction("0.99")) ** 2), 200) < FITS


@pytest.mark.parametrize(
    "scale", [Fraction(2**60), Fraction(10**30, 7), Fraction(2**200 + 1, 3**5)], ids=["2^60", "big", "huge"]
)
def test_scales_beyond_machine_integers_stay_in_law(scale):
    """Above 2⁴⁸ draws are Python integers of any length, and |K|/scale is exponential, K/σ normal."""
    for size in (40, 4000):
        draws = exact.discrete_laplace(scale, size, SeededBits(17))
        assert draws.dtype == object
        assert all(isinstance(draw, int) for draw in draws)
    # P(|K| <= scale·x) -> 1 - e^-x; sixteen equal cells, 4000 draws
    cells = np.bincount((16 * (1 - np.exp(-np.abs(draws / scale).astype(float)))).astype(int), minlength=16)
    assert np.sum((cells - 250) ** 2 / 250) < 60
    assert abs(sum(draw < 0 for draw in draws) - 2000) < 200
    normal = exact.discrete_gaussian(scale**2, 4000, SeededBits(18))
    assert normal.dtype == object
    ratio = (normal / scale).astype(float)
    assert abs(np.mean(ratio**2) - 1) < 6 * np.sqrt(2 / 4000)
    assert abs(np.mean(ratio**4) - 3) < 6 * np.sqrt(96 / 4000)


@pytest.mark.parametrize("scale", [Fraction(1, 2**200), Fraction(1, 10**9), Fraction(1, 60)], ids=str)
def test_noise_far_below_one_step_is_nearly_always_zero(scale):
    """Scales far below one step are valid, and draw zero but for a chance below 2e⁻⁶⁰."""
    assert not exact.discrete_laplace(scale, 200, SeededBits(19)).any()
    assert not exact.discrete_laplace(scale, 20, SeededBits(19)).any()
    assert not exact.discrete_gaussian(scale**2, 200, SeededBits(19)).any()
    assert not exact.discrete_gaussian(scale**2, 20, SeededBits(19)).any()


@pytest.mark.parametrize("n", [1, 2, 3, 10, 2**64, 2**64 + 1, 3**90])
def test_uniform_below_is_uniform_for_any_size(n):
    """Draws lie below n, and fall evenly into up to ten equal parts."""
    bits = SeededBits(20)
    draws = [exact.uniform_below(n, bits) for _ in range(2000)]
    assert 0 <= min(draws) <= max(draws) < n
    parts = min(n, 10)
    cells = np.bincount([draw * parts // n for draw in draws], minlength=parts)
    assert np.sum((cells - 2000 / parts) ** 2 / (2000 / parts)) < 60


def test_no_draws_are_an_empty_array():
    """Size zero is allowed: a question over no declared group releases an empty vector."""
    assert exact.discrete_laplace(Fraction(3), 0, SeededBits(1)).shape == (0,)
    assert exact.discrete_gaussian(Fraction(3), 0, SeededBits(1)).shape == (0,)


@pytest.mark.parametrize("size", [95, 96, 97, 98, 65_536, 65_537, 131_073])
def test_every_size_gives_as_many_draws_as_asked(size):
    """The change of route and the cut into chunks lose and repeat nothing."""
    assert exact.discrete_laplace(Fraction(1, 2), size, SeededBits(2)).shape == (size,)
    assert exact.discrete_gaussian(Fraction(1, 2), size, SeededBits(2)).shape == (size,)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(200))
def test_random_rationals_fit(seed):
    """Scales with random numerators and denominators, from a quarter of a step to 10⁶ steps: both exact laws fit."""
    rng = np.random.default_rng(seed)
    bottom = int(rng.integers(1, 10**9))
    scale = Fraction(int(bottom * 4.0 ** rng.uniform(-1, 10)) + 1, bottom)
    bits = SeededBits(5000 + seed)
    assert fit(exact.discrete_laplace(scale, 300_000, bits), DiscreteLaplaceLaw(scale)) > FITS
    assert fit(exact.discrete_gaussian(scale**2, 300_000, bits), DiscreteGaussianLaw(scale**2)) > FITS
