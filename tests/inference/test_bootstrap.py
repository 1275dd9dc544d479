"""Standard errors, intervals and tests from noised resamples: formulas, levels and edges."""

from __future__ import annotations

import numpy as np
import pytest

from dpnb.errors import OptionError
from dpnb.inference.bootstrap import Bootstrap, deconvolved_interval
from dpnb.inference.resampling import noised_resamples

KINDS = ("unbiased", "conservative", "most conservative")


@pytest.fixture(scope="module")
def made():
    """Give 4,000 studies of 500 normal rows of sd 16, 50 resamples each, with noise of variance 2: drawn from their normal laws."""
    rng = np.random.default_rng(3)
    centre = rng.normal(0, 16 / 500**0.5, (4000, 1))
    return Bootstrap(centre + rng.normal(0, (256 / 500 + 2) ** 0.5, (4000, 50)), 2.0)


def test_the_corrected_error_is_that_of_the_average(made):
    """The unbiased variance of m* averages to f(1 + 1/k) + v/k before it is floored, the published one to less."""
    raw = (made.spread - 2) * (1 + 1 / 50) + 2 / 50
    assert raw.mean() == pytest.approx(np.var(made.estimate), rel=0.06)
    assert raw.mean() == pytest.approx(256 / 500 * 1.02 + 0.04, rel=0.04)


def test_the_readings_are_ordered(made):
    """Unbiased below conservative below most conservative, and corrected never below published."""
    errors = [made.standard_error(kind) for kind in KINDS]
    assert (errors[0] <= errors[1]).all()
    assert (errors[1] <= errors[2]).all()
    assert all(
        (made.standard_error(kind) >= made.published_standard_error(kind) - 1e-12).all() for kind in KINDS
    )


def test_conservative_intervals_cover_and_unbiased_do_not(made):
    """At k = 50 the conservative interval covers at least 95 %, the published unbiased one near 80 %."""
    covered = {kind: np.mean(np.abs(made.estimate) <= 1.96 * made.standard_error(kind)) for kind in KINDS}
    published = np.mean(np.abs(made.estimate) <= 1.96 * made.published_standard_error("unbiased"))
    assert 0.76 < published < 0.82
    assert published + 0.03 < covered["unbiased"] < 0.9
    assert covered["conservative"] > 0.95
    assert covered["most conservative"] > 0.995


def test_a_true_hypothesis_is_rejected_at_most_at_the_level_and_a_false_one_often(made):
    """Conservative test: level at most 5 %, power above 90 % at five standard errors."""
    assert np.mean(made.p_value(0.0) <= 0.05) <= 0.05
    assert np.mean(made.p_value(5.0) <= 0.05) > 0.9


def test_the_test_and_the_interval_agree(made):
    """A value is outside the 90 % interval exactly where its p-value is below 10 %."""
    low, high = made.interval(0.9)
    outside = (low > 0.7) | (high < 0.7)
    assert (outside == (made.p_value(0.7) < 0.1)).all()


def test_the_sd_of_the_variable_is_a_by_product():
    """With little noise, 4,000 resamples of 400 rows give back the sample's standard deviation to 5 %."""
    x = np.random.default_rng(4).integers(0, 50, 400)
    made = Bootstrap(noised_resamples(x, 4000, 0.01, np.random.default_rng(5)), 0.01)
    assert made.variable_sd(400).item() == pytest.approx(x.std(ddof=1), rel=0.05)


def test_one_resample_shows_no_spread():
    """At k = 1: an infinite standard error and an interval without ends, of the same shape, and no error."""
    made = Bootstrap(np.array([[3.0], [4.0]]), 1.0)
    low, high = made.interval()
    assert made.standard_error().shape == (2,)
    assert np.isneginf(low).all()
    assert np.isposinf(high).all()
    assert (made.p_value(0.0) == 1).all()


def test_equal_resamples_without_noise_are_certain():
    """No spread and no noise: a standard error of zero, p-values one at the value and zero elsewhere."""
    made = Bootstrap(np.full(10, 2.0), 0.0)
    assert made.standard_error() == 0
    assert made.p_value(1.0) == 0
    assert made.p_value(2.0) in (0.0, 1.0)


def test_deconvolution_keeps_what_the_noise_hides():
    """Little noise: the interval is the quantiles of the resamples. Much noise: far narrower than their spread."""
    rng = np.random.default_rng(6)
    clear = Bootstrap(rng.normal(10, 1, 400), 0.01)
    low, high = deconvolved_interval(clear, 0.9)
    assert (low, high) == pytest.approx((10 - 1.645, 10 + 1.645), abs=0.3)
    hidden = Bootstrap(rng.normal(10, (1 + 9) ** 0.5, 400), 9.0)
    low, high = deconvolved_interval(hidden, 0.9)
    assert high - low < 0.7 * 2 * 1.645 * 10**0.5


def test_deconvolved_intervals_cover_better_than_the_unbiased():
    """At k = 50, v = 4 f: nominal 95 % covers above 88 % in 150 studies, where published unbiased ones cover about 80 %."""
    rng = np.random.default_rng(7)
    hits = []
    for _ in range(150):
        made = Bootstrap(rng.normal(0, 0.7) + rng.normal(0, (0.49 + 2) ** 0.5, 50), 2.0)
        low, high = deconvolved_interval(made)
        hits.append(low <= 0 <= high)
    assert np.mean(hits) > 0.88


@pytest.mark.parametrize(
    "asked",
    [
        lambda: Bootstrap(np.zeros((3, 0)), 1.0),
        lambda: Bootstrap(np.zeros(3), -1.0),
        lambda: Bootstrap(np.zeros(3), 1.0).standard_error("liberal"),
        lambda: Bootstrap(np.zeros(3), 1.0).interval(95),
        lambda: Bootstrap(np.zeros(3), 1.0).variable_sd(1),
        lambda: deconvolved_interval(Bootstrap(np.zeros(9), 1.0)),
        lambda: deconvolved_interval(Bootstrap(np.zeros((2, 3, 30)), 1.0)),
    ],
)
def test_what_cannot_be_inferred_is_refused(asked):
    """No resample, a negative variance, an unknown reading, a level in percent, too few resamples to deconvolve."""
    with pytest.raises(OptionError):
        asked()
