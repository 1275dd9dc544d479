"""The declared laws are the textbook ones, checked against scipy and against plain sums."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpnb.errors import PlanError
from dpnb.inference.law import DiscreteGaussianLaw, DiscreteLaplaceLaw, law_from_json


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(1000, 7), Fraction(10**6)], ids=str)
def test_the_laplace_law_is_that_of_scipy(scale):
    """Pmf, cdf, sf, quantiles and variance agree with scipy.stats.dlaplace."""
    law, other = DiscreteLaplaceLaw(scale), stats.dlaplace(float(1 / scale))
    k = np.unique(np.round(np.linspace(-8, 8, 33) * float(scale)))
    np.testing.assert_allclose(law.pmf(k), other.pmf(k), rtol=1e-9)
    np.testing.assert_allclose(law.cdf(k), other.cdf(k), rtol=1e-9)
    np.testing.assert_allclose(law.sf(k), other.sf(k), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(law.variance_float, other.var(), rtol=1e-6)
    levels = np.array([0.001, 0.1, 0.4999, 0.6, 0.999])
    assert law.quantile(levels).tolist() == other.ppf(levels).tolist()


@pytest.mark.parametrize(
    "variance",
    [Fraction(1, 9), Fraction(1), Fraction(77, 3), Fraction(999_000), Fraction(1_000_001)],
    ids=str,
)
def test_the_gaussian_law_is_its_definition(variance):
    """Pmf, sf and variance agree with sums of e^(-k²/2σ²), on both sides of the change from table to midpoint rule."""
    law, sigma = DiscreteGaussianLaw(variance), math.sqrt(variance)
    reach = math.ceil(12 * sigma) + 2
    k = np.arange(-reach, reach + 1)
    weight = np.exp(-(k.astype(float) ** 2) / (2 * float(variance)))
    total = math.fsum(weight)
    np.testing.assert_allclose(law.pmf(k), weight / total, rtol=1e-9, atol=1e-300)
    above = np.cumsum(weight[::-1])[::-1] / total
    at = np.unique(np.linspace(-4 * sigma, 7 * sigma, 50).astype(int))
    np.testing.assert_allclose(law.sf(at), above[at + 1 + reach], rtol=1e-9)
    np.testing.assert_allclose(law.variance_float, np.sum(weight * k.astype(float) ** 2) / total, rtol=1e-9)


def test_probabilities_outside_zero_and_one_are_refused():
    """A quantile or tail level of 0, 1 or NaN is refused."""
    for level in (0.0, 1.0, math.nan, -1.0):
        for law in (DiscreteLaplaceLaw(Fraction(2)), DiscreteGaussianLaw(Fraction(2))):
            with pytest.raises(PlanError):
                law.quantile(level)
            with pytest.raises(PlanError):
                law.tail_radius(level)


def test_json_of_a_law_is_permanent_and_strict():
    """The written form never changes, and anything else is refused."""
    assert DiscreteLaplaceLaw(Fraction(5, 2)).to_json() == {"kind": "discrete-laplace", "scale": "5/2"}
    assert DiscreteGaussianLaw(Fraction(3)).to_json() == {"kind": "discrete-gaussian", "variance": "3"}
    for bad in (
        {},
        {"kind": "laplace", "scale": "1"},
        {"kind": "discrete-laplace", "scale": 1},
        {"kind": "discrete-laplace", "scale": "1", "x": 1},
    ):
        with pytest.raises(PlanError):
            law_from_json(bad)


def test_a_law_without_noise_does_not_exist():
    """Scale or variance zero is refused: it would be an exact answer."""
    for kind in (DiscreteLaplaceLaw, DiscreteGaussianLaw):
        with pytest.raises(PlanError):
            kind(Fraction(0))
