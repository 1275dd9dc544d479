"""The average of k Laplace answers has the law that is stated, keeps its claim, and is not for protected data."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpnb.errors import LossError, PlanError
from dpnb.inference.law import law_of
from dpnb.inference.seeded_bits import SeededBits
from dpnb.trusted.mechanisms import MECHANISMS
from dpnb.trusted.mechanisms.laplace import DiscreteLaplace
from tests.contracts.law import FITS, MISFITS
from tests.contracts.mechanism import MechanismContract
from tests.replication.averaged_laplace import AveragedLaplace

HALF = Fraction(1, 2)


class TestAveragedLaplace(MechanismContract):
    def mechanism(self):
        return AveragedLaplace.calibrate(3, HALF, 10)

    def card(self):
        return AveragedLaplace.card

    def test_it_is_registered(self):
        """No: a curator cannot reach it."""
        assert AveragedLaplace not in MECHANISMS

    def test_its_card_gives_the_verdict(self):
        """The price is said where the mechanism is described."""
        assert "k times the variance" in self.mechanism().card.summary


def fit_of_sums(sums: np.ndarray, mechanism: AveragedLaplace) -> float:
    """P-value of a chi-square test of integer sums against the tabulated law."""
    mass = mechanism.noise.pmf_of_sum()
    reach = (mass.size - 1) // 2
    cumulative = np.cumsum(mass)
    edges = np.unique(np.searchsorted(cumulative, np.linspace(0, 1, 61)[1:-1]))
    expected = np.diff(np.concatenate([[0.0], cumulative[edges], [1.0]])) * sums.size
    seen = np.bincount(np.searchsorted(edges, sums + reach, side="left"), minlength=edges.size + 1)
    return float(stats.chisquare(seen, expected * sums.size / expected.sum()).pvalue)


@pytest.mark.parametrize("count", [1, 3, 10])
def test_releases_fit_the_law_and_misfit_a_scale_a_tenth_off(count):
    """ΣL fits its convolution, and neither 0.9 nor 1.1 times its scale; so does the simulated average."""
    mechanism = AveragedLaplace.calibrate(1, HALF, count)
    exact = np.arange(40_000)
    sums = np.array(mechanism.release(exact.tolist(), SeededBits(3))) - count * exact
    assert fit_of_sums(sums, mechanism) > FITS
    fast = np.round((mechanism.simulate(exact, np.random.default_rng(4)) - exact) * count).astype(int)
    assert fit_of_sums(fast, mechanism) > FITS
    for factor in (Fraction(9, 10), Fraction(11, 10)):
        assert fit_of_sums(sums, AveragedLaplace(mechanism.scale * factor, count)) < MISFITS


@pytest.mark.parametrize("count", [1, 2, 10])
def test_no_output_tells_more_than_the_claim(count):
    """The law of k·x + ΣL and the law of k·(x + 1) + ΣL differ by at most ε, and at the tail by nearly ε."""
    mechanism = AveragedLaplace.calibrate(1, HALF, count)
    mass = mechanism.noise.pmf_of_sum()
    sure = mass > 1e-10
    both = sure[count:] & sure[:-count]
    losses = np.abs(np.log(mass[count:][both] / mass[:-count][both]))
    assert 0.3 * 0.5 < losses.max() <= 0.5 * (1 + 1e-4)
    assert mechanism.loss(1) == HALF


def test_it_has_k_times_the_variance_of_one_answer():
    """The honest comparison, at the same ε."""
    one = law_of(DiscreteLaplace.calibrate(1, Fraction(1, 10))).variance_float
    ten = AveragedLaplace.calibrate(1, Fraction(1, 10), 10).noise
    assert ten.variance_float == pytest.approx(10 * one, rel=0.01)
    assert ten.excess_kurtosis == pytest.approx(0.3, rel=0.01)


def test_wrong_parameters_are_refused():
    """No answer, too many, no loss and a float."""
    for count in (0, 1001):
        with pytest.raises(PlanError):
            AveragedLaplace(Fraction(1), count)
    for epsilon in (Fraction(0), 0.5):
        with pytest.raises(LossError):
            AveragedLaplace.calibrate(1, epsilon, 3)
    with pytest.raises(PlanError, match="2\\^48"):
        AveragedLaplace.calibrate(2**62, HALF, 3)
