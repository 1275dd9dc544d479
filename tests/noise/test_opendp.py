"""OpenDP, an independent vetted library, draws from the same laws and states the same losses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpnb.inference.law import DiscreteGaussianLaw, DiscreteLaplaceLaw
from dpnb.inference.seeded_bits import SeededBits
from dpnb.trusted.mechanisms import DiscreteGaussian, DiscreteLaplace
from tests.contracts.law import FITS, fit

dp = pytest.importorskip("opendp.prelude")

DRAWS = 20_000


def vector(distance):
    return dp.vector_domain(dp.atom_domain(T=int)), distance


def theirs_laplace(scale: float):
    return dp.m.make_laplace(*vector(dp.l1_distance(T=int)), scale=scale)


def theirs_gaussian(sigma: float):
    return dp.m.make_gaussian(*vector(dp.l2_distance(T=int)), scale=sigma)


def same_law(one: np.ndarray, two: np.ndarray) -> float:
    """P-value of a two-sample chi-square test on cells that each hold at least twenty draws of the first sample."""
    edges = np.unique(np.quantile(one, np.linspace(0.01, 0.99, 41)))
    table = np.array(
        [np.bincount(np.searchsorted(edges, draws), minlength=edges.size + 1) for draws in (one, two)]
    )
    table = table[:, table.sum(axis=0) > 0]
    return float(stats.chi2_contingency(table).pvalue)


@pytest.fixture(scope="module", autouse=True)
def contrib():
    dp.enable_features("contrib")


@pytest.mark.parametrize("scale", [Fraction(3, 2), Fraction(50)], ids=str)
def test_discrete_laplace_agrees_with_opendp(scale):
    """OpenDP's draws fit our declared law, ours fit theirs, and both state ε = Δ/scale."""
    other = theirs_laplace(float(scale))
    draws = np.array(other([0] * DRAWS))
    mechanism = DiscreteLaplace(scale)
    ours = np.array(mechanism.release([0] * DRAWS, SeededBits(31)))
    # OpenDP draws from the operating system: an honest run fails with probability 1e-6
    assert fit(draws, DiscreteLaplaceLaw(scale)) > FITS
    assert same_law(draws, ours) > FITS
    assert (
        same_law(
            draws, np.array(DiscreteLaplace(scale * Fraction("0.8")).release([0] * DRAWS, SeededBits(31)))
        )
        < FITS
    )
    assert other.map(3) == pytest.approx(3 / float(mechanism.scale), rel=1e-12)


@pytest.mark.parametrize("sigma", [Fraction(3, 2), Fraction(50)], ids=str)
def test_discrete_gaussian_agrees_with_opendp(sigma):
    """OpenDP's draws fit our declared law, ours fit theirs, and both state ρ = Δ²/2σ²."""
    other = theirs_gaussian(float(sigma))
    draws = np.array(other([0] * DRAWS))
    mechanism = DiscreteGaussian(sigma**2)
    ours = np.array(mechanism.release([0] * DRAWS, SeededBits(32)))
    assert fit(draws, DiscreteGaussianLaw(sigma**2)) > FITS
    assert same_law(draws, ours) > FITS
    assert (
        same_law(
            draws,
            np.array(DiscreteGaussian(sigma**2 * Fraction("0.64")).release([0] * DRAWS, SeededBits(32))),
        )
        < FITS
    )
    assert other.map(2) == pytest.approx(4 / (2 * float(mechanism.variance)), rel=1e-12)
