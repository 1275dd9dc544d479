"""The contract of a noise law: both samplers fit it, and a scale that is ten per cent off is noticed.

Fits are judged by a chi-square test at p = 1e-6 on fixed seeds, so an honest sampler fails one new seed in a million; a scale
that is 10 % off must give p < 1e-12, so the same test would overlook it less than once in a million runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import pytest
from scipy import stats

from dpnb.inference.law import law_from_json
from dpnb.inference.seeded_bits import SeededBits

FITS = 1e-6
MISFITS = 1e-12


def fit(draws: np.ndarray, law, bins: int = 60) -> float:
    """P-value of a chi-square test of `draws` against `law`, on at most about `bins` cells of fair size."""
    draws = np.asarray(draws, dtype=np.float64)
    levels = np.linspace(0, 1, bins + 1)[1:-1]
    edges = np.unique(law.quantile([1e-3, *levels, 1 - 1e-3]))
    cumulative = law.cdf(edges)
    expected = np.diff(np.concatenate([[0.0], cumulative, [1.0]])) * draws.size
    observed = np.bincount(np.searchsorted(edges, draws, side="left"), minlength=edges.size + 1)
    keep = expected >= 5
    observed = np.append(observed[keep], observed[~keep].sum())
    expected = np.append(expected[keep], expected[~keep].sum())
    some = expected > 0.5
    if observed[~some].sum() > 10:
        return 0.0
    statistic = float(np.sum((observed[some] - expected[some]) ** 2 / expected[some]))
    return float(stats.chi2.sf(statistic, some.sum() - 1))


class LawContract(ABC):
    """What every pair of samplers must satisfy; a subclass names its law and its samplers."""

    size = 100_000
    parameters: tuple = ()

    @abstractmethod
    def law(self, parameter):
        """The declared law."""

    @abstractmethod
    def stretched(self, parameter, factor):
        """The parameter of the same law with its scale times `factor`."""

    @abstractmethod
    def exact(self, parameter, size, bits):
        """Draw exactly."""

    @abstractmethod
    def fast(self, parameter, size, rng):
        """Draw for a simulation."""

    @pytest.fixture
    def parameter(self, request):
        return request.param

    def pytest_generate_tests(self, metafunc):
        if "parameter" in metafunc.fixturenames:
            metafunc.parametrize("parameter", self.parameters, ids=str)

    def test_many_exact_draws_fit_the_law_and_misfit_a_wrong_scale(self, parameter):
        """The vectorised exact sampler fits its law and neither 0.9 nor 1.1 times its scale."""
        self.judge(self.exact(parameter, self.size, SeededBits(11)), parameter)

    def test_single_exact_draws_fit_the_law_and_misfit_a_wrong_scale(self, parameter):
        """Draws in small requests, which take the scalar route, fit the same law just as well."""
        bits = SeededBits(12)
        draws = np.concatenate([self.exact(parameter, 50, bits) for _ in range(self.size // 250)])
        self.judge(draws, parameter)

    def test_fast_draws_fit_the_law_and_misfit_a_wrong_scale(self, parameter):
        """The simulator fits the same declared law."""
        self.judge(self.fast(parameter, self.size, np.random.default_rng(13)), parameter)

    def judge(self, draws, parameter):
        assert fit(draws, self.law(parameter)) > FITS
        for factor in ("0.9", "1.1"):
            wrong = self.law(self.stretched(parameter, factor))
            assert fit(draws, wrong) < MISFITS, factor

    def test_the_variance_of_draws_is_the_declared_variance(self, parameter):
        """The sample variance lies within six standard errors of `variance_float`."""
        draws = self.exact(parameter, self.size, SeededBits(14)).astype(np.float64)
        variance = self.law(parameter).variance_float
        spread = np.sqrt(np.var(draws**2) / self.size)
        assert abs(np.mean(draws**2) - variance) < 6 * spread

    def test_the_same_words_give_the_same_draws(self, parameter):
        """A sampler keeps nothing between calls and reads nothing but its words."""
        for size in (3, 500):
            one, two = (self.exact(parameter, size, SeededBits(15)) for _ in range(2))
            assert one.tolist() == two.tolist()
            assert len(one) == size

    def test_the_law_survives_json(self, parameter):
        """The exact parameter comes back from JSON."""
        law = self.law(parameter)
        assert law_from_json(law.to_json()) == law

    def test_probabilities_are_consistent(self, parameter):
        """Pmf, cdf, sf, quantile and tail radius describe one symmetric law."""
        law = self.law(parameter)
        reach = law.tail_radius(1e-3)
        around = np.unique(np.linspace(-reach, reach, 401).astype(np.int64))
        np.testing.assert_allclose(law.cdf(around) + law.sf(around), 1, atol=1e-12)
        np.testing.assert_allclose(law.pmf(around), law.pmf(-around), rtol=1e-12)
        if law.variance_float < 1e10:
            np.testing.assert_allclose(
                law.cdf(around) - law.cdf(around - 1), law.pmf(around), rtol=1e-6, atol=1e-15
            )
        levels = np.array([1e-6, 0.01, 0.3, 0.5, 0.7, 0.99, 1 - 1e-6])
        at = law.quantile(levels)
        assert (law.cdf(at) >= levels).all()
        if law.variance_float < 1e20:
            assert (law.cdf(at - 1) < levels).all()
        for alpha in (0.5, 0.05, 1e-6, 1e-12):
            radius = law.tail_radius(alpha)
            assert 2 * law.sf(radius) <= alpha
            assert radius == 0 or law.variance_float > 1e20 or 2 * law.sf(radius - 1) > alpha
