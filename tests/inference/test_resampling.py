"""Resamples drawn from a table have exactly the law of rows drawn with replacement."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from dpnb.errors import OptionError
from dpnb.inference import resampling
from dpnb.inference.resampling import (
    noise_variance,
    resample_means,
    resample_sums,
)
from dpnb.risk.bootstrap import multiplicities
from tests.replication.partitions import noised_partitions, partitions


def chi_square(seen, expected):
    """Return the p-value of counts against expected counts, all at least five."""
    from scipy.stats import chi2

    return chi2.sf(((seen - expected) ** 2 / expected).sum(), len(expected) - 1)


@pytest.mark.parametrize("counts", [[2, 1, 1], [3, 0, 0, 1], [0, 2, 2]])
@pytest.mark.parametrize("widest", [1 << 18, 0])
def test_sums_follow_the_enumerated_law(counts, widest, monkeypatch):
    """All 4⁴ resamples of four rows, enumerated, against 60,000 draws: by table, and by rows."""
    monkeypatch.setattr(resampling, "_WIDEST", widest)
    rows = np.repeat(np.arange(len(counts)), counts)
    law = Counter(sum(chosen) for chosen in product(rows.tolist(), repeat=4))
    drawn = resample_sums([counts], 60_000, np.random.default_rng(5))[0]
    assert set(drawn.tolist()) <= set(law)
    seen = np.array([np.count_nonzero(drawn == s) for s in law])
    expected = np.array([law[s] for s in law]) / 4**4 * 60_000
    big = expected >= 5
    assert chi_square(seen[big], expected[big]) > 1e-5


def test_a_wrong_number_of_rows_would_be_seen():
    """The same check rejects resamples of five rows instead of four."""
    rows = np.repeat(np.arange(3), [2, 1, 1])
    law = Counter(sum(chosen) for chosen in product(rows.tolist(), repeat=4))
    drawn = np.random.default_rng(5).choice(rows, (60_000, 5)).sum(axis=1)
    seen = np.array([np.count_nonzero(drawn == s) for s in law])
    assert chi_square(seen, np.array([law[s] for s in law]) / 4**4 * 60_000) < 1e-9


def test_sums_of_a_real_study_fit_rows_drawn_one_by_one():
    """500 ages: mean, variance and quantiles of 40,000 table draws agree with 40,000 resamples of rows."""
    from scipy.stats import ks_2samp

    rng = np.random.default_rng(6)
    x = np.round(rng.gamma(4, 9, 500)).astype(int)
    ours = resample_sums([np.bincount(x)], 40_000, rng)[0]
    theirs = x[rng.integers(0, 500, (40_000, 500))].sum(axis=1)
    assert ks_2samp(ours, theirs).pvalue > 1e-4
    assert ours.mean() == pytest.approx(500 * x.mean(), abs=5 * np.sqrt(500 * x.var() / 40_000))
    assert ours.var() == pytest.approx(500 * x.var(), rel=0.04)


def test_the_cut_window_loses_no_probability():
    """A rare large value among many zeros: the sums are multiples of it, with binomial odds, none wrapped."""
    counts = np.zeros((1, 5001), int)
    counts[0, 0], counts[0, 5000] = 1999, 1
    drawn = resample_sums(counts, 20_000, np.random.default_rng(7))[0]
    assert (drawn % 5000 == 0).all()
    odds = np.array(multiplicities(2000)[:5])
    seen = np.bincount(drawn // 5000, minlength=5)[:5]
    assert chi_square(seen, odds * 20_000) > 1e-5


def test_means_of_numbers_off_the_grid_are_drawn_by_rows():
    """Fractions have resample means with the study's mean and its variance over n."""
    x = np.random.default_rng(8).normal(size=(3, 60))
    found = resample_means(x, 20_000, np.random.default_rng(9))
    assert found.shape == (3, 20_000)
    assert found.mean(axis=1) == pytest.approx(x.mean(axis=1), abs=0.01)
    assert found.var(axis=1) == pytest.approx(x.var(axis=1) / 60, rel=0.05)


def test_means_on_a_shifted_grid_are_in_their_unit():
    """Whole numbers from -3 to 6 give means around their own mean."""
    x = np.arange(-3, 7)
    found = resample_means(x, 20_000, np.random.default_rng(10))
    assert found.mean() == pytest.approx(1.5, abs=0.03)
    assert found.min() >= -3


def test_partitions_rebuild_the_resample():
    """Multiplicity times the partition's rows, added up, is the resample's sum; the noise adds up to v."""
    rng = np.random.default_rng(11)
    x = rng.normal(size=200)
    held = rng.multinomial(200, np.full(200, 1 / 200))
    groups = partitions(held)
    assert sorted(np.concatenate(groups)) == list(range(200))
    quiet = noised_partitions(x, held, 0.0, rng)
    assert quiet.sum() == pytest.approx((held * x).sum() / 200)
    noisy = np.array([noised_partitions(x, held, 4.0, rng).sum() for _ in range(4000)]) - quiet.sum()
    assert noisy.var() == pytest.approx(4.0, rel=0.1)


def test_the_noise_of_high_multiplicities_vanishes():
    """The share i p_i of the noise falls from .37 to below .001 at i = 7: published one by one, the answers would not be private."""
    shares = [times * odd for times, odd in enumerate(multiplicities(500))]
    assert sum(shares) == pytest.approx(1)
    assert shares[1] > 0.36
    assert shares[7] < 0.001


def test_noise_variance_is_the_published_one():
    """.2² · 50 / 1 = 2 at n = 500, R = 100, ρ = .5, k = 50; a factor enters squared."""
    assert noise_variance(0.2, 0.5, 50) == pytest.approx(2)
    assert noise_variance(0.2, 0.5, 50, 1.5) == pytest.approx(4.5)


@pytest.mark.parametrize(
    "asked",
    [
        lambda rng: resample_sums([[1, 2], [1, 1]], 3, rng),
        lambda rng: resample_sums([[0, 0]], 3, rng),
        lambda rng: resample_sums([[1, -1]], 3, rng),
        lambda rng: resample_sums([[1, 2]], 0, rng),
        lambda rng: resample_means([], 3, rng),
        lambda rng: resample_means([1.0, float("nan")], 3, rng),
        lambda rng: partitions([]),
        lambda rng: noise_variance(0, 0.5, 10),
    ],
)
def test_what_cannot_be_resampled_is_refused(asked):
    """Studies of different sizes, empty ones, negative counts, no resample, missing values, no sensitivity."""
    with pytest.raises(OptionError):
        asked(np.random.default_rng(0))
