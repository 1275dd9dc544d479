"""The average of k Laplace draws: its law, its moments, its loss, and the comparison with the analytic Gaussian."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from dpnb.errors import DpnbError
from dpnb.exhibits.composing import averaged_variance, gaussian_threshold
from dpnb.inference.seeded_bits import SeededBits
from dpnb.trusted.noise import exact
from tests.replication.averaged_laplace import AveragedLaplaceLaw


def moments(law):
    mass = law.pmf_of_sum()
    at = np.arange(mass.size) - mass.size // 2
    average = at / law.count
    variance = float(mass @ average**2)
    return float(mass.sum()), variance, float(mass @ average**4) / variance**2 - 3


@pytest.mark.parametrize("count", [1, 2, 5, 10, 30])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "20"])
def test_the_tabulated_law_has_the_stated_moments(count, epsilon):
    """Mass one, variance Var(L)/k and excess kurtosis (3 + 1/Var L)/k."""
    law = AveragedLaplaceLaw.calibrate(1, epsilon, count)
    total, variance, kurtosis = moments(law)
    assert total == pytest.approx(1, abs=1e-10)
    assert variance == pytest.approx(law.variance_float, rel=1e-8)
    assert law.variance_float == averaged_variance(1, epsilon, count)
    assert kurtosis == pytest.approx(law.excess_kurtosis, rel=1e-5, abs=1e-7)


def test_the_table_is_the_convolution_of_single_laws():
    """Three draws, against direct convolution."""
    law = AveragedLaplaceLaw.calibrate(1, 3, 3)
    reach = np.arange(-60, 61)
    one = law.each.pmf(reach)
    three = np.convolve(np.convolve(one, one), one)
    mass = law.pmf_of_sum()
    middle = mass.size // 2
    assert np.allclose(mass[middle - 20 : middle + 21], three[180 - 20 : 180 + 21], atol=1e-14)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_loss_is_at_most_epsilon_at_every_output(count):
    """Neighbours shift k·x by k: the log-ratio of the whole law of the sum stays within ε, and comes near it."""
    law = AveragedLaplaceLaw.calibrate(1, 1, count)
    mass = law.pmf_of_sum()
    middle = mass.size // 2
    inside = mass[middle - 15 * count : middle + 15 * count + 1]
    ratio = np.abs(np.log(inside[count:] / inside[:-count]))
    assert ratio.max() <= 1 + 1e-6
    assert ratio.max() > 0.7


def test_exact_draws_have_this_variance():
    """20,000 averages of ten exact draws, within five standard errors; ten per cent off would be seen."""
    law = AveragedLaplaceLaw.calibrate(1, "0.5", 10)
    draws = exact.discrete_laplace(law.each.scale, 200_000, SeededBits(5)).reshape(-1, 10).mean(axis=1)
    found = float(np.mean(np.asarray(draws, dtype=float) ** 2)) / law.variance_float
    error = np.sqrt((2 + law.excess_kurtosis) / 20_000)
    assert abs(found - 1) < 5 * error < 0.1


def test_the_thresholds_against_the_analytic_gaussian_are_lower_than_published():
    """Thresholds 6.6, 8.1, 8.9 at δ = 1e-6; the source says ln(1.25/δ) = 14; at k = 10 the average is 1.52, 1.23, 1.12 times noisier."""
    for epsilon, threshold, noisier in (("0.1", 6.6, 1.52), ("0.5", 8.1, 1.23), ("1", 8.9, 1.12)):
        found = gaussian_threshold(epsilon, "1e-6")
        assert found == pytest.approx(threshold, abs=0.05)
        assert found < log(1.25e6)
        assert 10 / found == pytest.approx(noisier, abs=0.01)


@pytest.mark.parametrize("wrong", [(1, 1, 0), (0, 1, 2), (1, 0, 2)])
def test_numbers_that_give_no_law_are_refused(wrong):
    """No draw, no sensitivity, no loss."""
    with pytest.raises(DpnbError):
        AveragedLaplaceLaw.calibrate(*wrong)


def test_a_law_too_wide_to_tabulate_is_refused():
    """Its moments are still stated."""
    law = AveragedLaplaceLaw.calibrate(10**6, "0.1", 10)
    assert law.variance_float > 0
    with pytest.raises(DpnbError, match="too wide"):
        law.pmf_of_sum()
