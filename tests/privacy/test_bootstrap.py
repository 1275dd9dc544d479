"""What k noised resamples provably cost, held against an independent accountant, closed forms and brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dpnb.datasets import find
from dpnb.errors import LossError, PlanError
from dpnb.planner.check import check
from dpnb.planner.expression import Ref
from dpnb.planner.question import Question
from dpnb.risk import bootstrap
from dpnb.risk.curves import gaussian_delta, gaussian_epsilon
from dpnb.risk.loss_distribution import LossDistribution, dominating, reach_of
from dpnb.statistics import STATISTICS
from dpnb.trusted.mechanisms import MECHANISMS

TARGET = float(gaussian_epsilon(1, "1e-6"))  # one Gaussian release of ρ = 0.5


@pytest.mark.parametrize(
    ("k", "epsilon", "factor"), [(1, 43.4, 4.05), (10, 11.0, 1.785), (50, 6.75, 1.291), (200, 5.92, 1.176)]
)
def test_the_provable_price_and_noise_are_the_tabulated_ones(k, epsilon, factor):
    """At ρ = .5, δ = 10⁻⁶, N = 500 the published noise costs 43.4 … 5.92, and c(k) = 4.05 … 1.18 keeps the promise."""
    assert bootstrap.resampling_epsilon(1e-6, 0.5, k, 500) == pytest.approx(epsilon, rel=3e-3)
    assert bootstrap.inflation_for(TARGET, 1e-6, 0.5, k, 500) == pytest.approx(factor, abs=5e-3)


@pytest.mark.parametrize(("k", "delta"), [(1, 3.5e-2), (10, 2.2e-3), (50, 1.5e-4), (200, 3.9e-5)])
def test_the_published_charge_is_exceeded_for_every_k(k, delta):
    """Where one Gaussian release of ρ = .5 has δ = 10⁻⁶, the bound on k resamples is 39 to 35,000 times as large."""
    found = bootstrap.resampling_delta(TARGET, 0.5, k, 500)
    assert found == pytest.approx(delta, rel=0.05)
    assert found > 35 * gaussian_delta(1, TARGET)


@pytest.mark.parametrize("k", [1, 10, 50])
def test_the_provable_price_is_never_below_the_attained_loss(k):
    """Others at the minimum, one at minimum or maximum: k draws of Σ Bin(r) N(rμ, 1) lose 34.0 / 6.55 / 5.17."""
    attained = {1: 34.0, 10: 6.55, 50: 5.17}[k]
    assert bootstrap.resampling_epsilon(1e-6, 0.5, k, 500) > attained


@pytest.mark.parametrize(("mu", "k"), [(1.0, 1), (0.3, 10), (0.14, 50)])
def test_composition_agrees_with_the_independent_accountant(mu, k):
    """dp-accounting, given the same profile on a grid of its own, finds the same δ to a thousandth."""
    from dp_accounting.pld import pld_pmf

    step = 2e-3 if k == 1 else 5e-4
    grid = np.arange(0, math.ceil(reach_of(lambda e: bootstrap.resampling_profile(mu, 500, e)) / step) + 1)
    above = bootstrap.resampling_profile(mu, 500, grid * step)
    below = 1 - np.exp(-grid[1:] * step) * (1 - above[1:])  # the pair is symmetric
    rounded, deltas = np.concatenate([-grid[:0:-1], grid]), np.concatenate([below[::-1], above])
    theirs = pld_pmf.create_pmf_pessimistic_connect_dots(step, rounded, deltas).self_compose(k)
    ours = bootstrap._composed(mu, 500, k)
    for epsilon in (0.5, 2.0, 5.0):
        assert ours.delta(epsilon) == pytest.approx(
            theirs.get_delta_for_epsilon(epsilon), rel=1e-3, abs=1e-10
        )


def test_one_row_resampled_once_is_the_gaussian_curve():
    """A resample of one row is the row: the profile is Gaussian DP's, and k of them compose to √k μ."""
    grid = np.array([0.0, 0.5, 1.0, 3.0])
    single = bootstrap.resampling_profile(0.7, 1, grid)
    assert single == pytest.approx([gaussian_delta("0.7", str(x)) for x in grid], rel=1e-9)
    composed = bootstrap._composed(0.1, 1, 100)
    for epsilon in (0.5, 2.0, 4.0):
        assert composed.delta(epsilon) == pytest.approx(gaussian_delta(1, str(epsilon)), rel=1e-3)
        assert composed.delta(epsilon) >= gaussian_delta(1, str(epsilon)) * (1 - 1e-9)


@pytest.mark.parametrize(("mu", "n", "k"), [(0.1, 1, 1), (0.14, 500, 50), (1.0, 20, 3)])
def test_the_epsilon_at_a_delta_is_where_the_curve_crosses_it(mu, n, k):
    """At each δ, from infinity's to above δ(0): the curve is there at that ε, and above it before."""
    composed = bootstrap._composed(mu, n, k)
    for delta in (1e-9, 1e-6, 1e-3, 0.01):
        epsilon = composed.epsilon(delta)
        assert composed.delta(epsilon) == pytest.approx(delta, rel=1e-6)
        assert composed.delta(epsilon - 1e-6) > delta
    assert composed.epsilon(composed.delta(0.0)) == pytest.approx(0.0, abs=1e-9)
    assert composed.epsilon(min(2 * composed.delta(0.0), 1.0)) == 0.0
    assert composed.epsilon(composed.infinite / 2) == math.inf


def attained_delta(mu, epsilon, n=500):
    """Return by quadrature the δ of P = N(0,1) against Q = Σ Bin(n,1/n)(r) N(rμ,1), the larger of both directions."""
    odds = [stats.binom.pmf(r, n, 1 / n) for r in range(20)]
    x = np.linspace(-12, 30, 200_001)
    p, q = stats.norm.pdf(x), sum(odd * stats.norm.pdf(x - r * mu) for r, odd in enumerate(odds))
    factor = math.exp(epsilon)
    return max(np.trapezoid(np.maximum(p - factor * q, 0), x), np.trapezoid(np.maximum(q - factor * p, 0), x))


def test_the_profile_bounds_the_attained_pair_of_one_resample():
    """Others at the minimum, one row at minimum or maximum: the δ of that pair stays below the profile."""
    for mu in (0.1, 0.5, 1.0):
        for epsilon in (0.0, 0.5, 1.5, 4.0):
            bound = float(bootstrap.resampling_profile(mu, 500, np.array([epsilon]))[0])
            assert attained_delta(mu, epsilon) <= bound * (1 + 1e-6)


def test_multiplicities_are_binomial():
    """They sum to one, their mean is one, and the first is (1 - 1/N)^N."""
    for n in (2, 10, 500, 100_000):
        odds = bootstrap.multiplicities(n)
        assert sum(odds) == pytest.approx(1, abs=1e-10)
        assert sum(r * odd for r, odd in enumerate(odds)) == pytest.approx(1, abs=1e-10)
        assert odds[0] == pytest.approx((1 - 1 / n) ** n, rel=1e-9)


def test_any_profile_becomes_a_pair_that_passes_through_its_dots():
    """Randomised response, Laplace and Gaussian: one use gives the profile back, never below it; ten uses of a Gaussian, √10 μ."""
    response = lambda e: np.maximum((math.e - np.exp(e)) / (1 + math.e), 0.0)
    laplace = lambda e: np.maximum(1 - np.exp((e - 1) / 2), 0.0)
    for profile in (response, laplace):
        pair = dominating(profile)
        for epsilon in (0.0, 0.3, 0.9):
            exact = float(profile(np.array([epsilon]))[0])
            assert exact * (1 - 1e-9) <= pair.delta(epsilon) <= exact + 1e-6
        assert pair.delta(1.01) < 1e-9
    gauss = dominating(lambda e: bootstrap.resampling_profile(0.3, 1, e)).times(10)
    assert gauss.delta(2.0) == pytest.approx(gaussian_delta(str(0.3 * 10**0.5), 2), rel=1e-3)


def test_trimming_never_lowers_a_loss():
    """What is cut below is moved up to the lowest kept loss, what is cut above to infinity: δ only grows."""
    masses = np.array([1e-15, 0.25, 0.5, 0.25 - 2e-15, 1e-15])
    whole = LossDistribution(0.5, -2, masses, 0.0)
    short = whole.trimmed()
    assert len(short.masses) == 3
    assert all(short.delta(e) >= whole.delta(e) for e in (0.0, 0.2, 0.7, 1.2))


def test_less_noise_than_c_breaks_the_promise():
    """The factor is tight in the bound: three thousandths less and δ is exceeded."""
    c = bootstrap.inflation_for(TARGET, 1e-6, 0.5, 50, 500)
    assert bootstrap.resampling_delta(TARGET, 0.5, 50, 500, c) <= 1e-6
    assert bootstrap.resampling_delta(TARGET, 0.5, 50, 500, c - 0.003) > 1e-6


@pytest.mark.parametrize(
    "asked",
    [
        lambda: bootstrap.resampling_epsilon(0, 0.5, 10, 500),
        lambda: bootstrap.resampling_epsilon(1e-6, 0, 10, 500),
        lambda: bootstrap.resampling_epsilon(1e-6, 0.5, 0, 500),
        lambda: bootstrap.resampling_epsilon(1e-6, 0.5, 10, 500, -1),
        lambda: bootstrap.resampling_delta(-1, 0.5, 10, 500),
        lambda: bootstrap.multiplicities(0),
        lambda: bootstrap.resampling_epsilon(1e-14, 0.5, 10, 500),
    ],
)
def test_what_cannot_be_priced_is_refused(asked):
    """A zero δ, ρ, k or n, a negative ε or factor, and a δ below the computation's resolution."""
    with pytest.raises(LossError):
        asked()


def test_no_plan_can_ask_for_a_resample():
    """No statistic and no mechanism that a plan can name is a resample, and a plan that names one is refused before any charge."""
    named = {one.name for one in (*STATISTICS, *MECHANISMS)}
    assert not {name for name in named if "boot" in name or "resampl" in name}
    for name in ("bootstrap", "resample", "noised-bootstrap"):
        with pytest.raises(PlanError, match="unknown statistic"):
            check(Question("hiv", name, Ref("got")), find("hiv").schema)
