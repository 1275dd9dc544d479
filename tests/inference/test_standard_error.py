"""Private standard errors: the figures, the guarantee by exact ratios on neighbours, and the edges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpnb.errors import OptionError
from dpnb.inference import standard_error
from dpnb.inference.standard_error import (
    bin_odds,
    dyadic_standard_error,
    gap_odds,
    subset_variances,
    winsorized_standard_error,
)
from tests.replication.arms import noised_difference, noisy_interval

N, EPSILON = 2000, 0.5


@pytest.fixture(scope="module")
def trial():
    """Give 3,000 studies of the published size: n = 2,000, outcomes in [0, 1] with sd .1, arms by the toss of a coin."""
    rng = np.random.default_rng(20)
    y = np.clip(rng.normal(0.5, 0.1, (3000, N)), 0, 1)
    return y, rng.integers(0, 2, y.shape).astype(float)


@pytest.fixture(scope="module")
def exact(trial):
    """Give the standard error of the difference without noise."""
    return np.sqrt(subset_variances(trial[0], 1, trial[1])[:, 0])


def ceiling(subsets):
    """Return the largest value that [0, 1] allows for two equal arms in a subset."""
    half = N / subsets / 2
    return 2 * 0.25 / (half - 1)


def test_the_exact_standard_error_is_that_of_the_difference(trial, exact):
    """It is .0045 on average, and so is the spread of the difference itself."""
    y, arm = trial
    found = noised_difference(y, arm, (0, 1), 1e9, np.random.default_rng(0)).estimate
    assert exact.mean() == pytest.approx(0.00447, rel=0.01)
    assert found.std() == pytest.approx(exact.mean(), rel=0.05)


@pytest.mark.parametrize(("subsets", "ratio"), [(100, 14), (200, 4.0), (250, 2.8)])
def test_dyadic_errors_have_the_tabulated_noise(trial, exact, subsets, ratio):
    """Noise over sampling spread of the standard error is about 14 / 4.0 / 2.8 at M = 100 / 200 / 250, and they are unbiased."""
    v = subset_variances(trial[0], subsets, trial[1])
    found = dyadic_standard_error(v, ceiling(subsets), EPSILON, np.random.default_rng(1))
    assert (found - exact).std() / exact.std() == pytest.approx(ratio, rel=0.25)
    assert found.mean() / exact.mean() == pytest.approx(1, abs=0.04)


@pytest.mark.parametrize(("subsets", "ratio"), [(100, 44), (200, 17), (250, 13)])
def test_winsorized_errors_are_three_to_four_times_noisier(trial, exact, subsets, ratio):
    """With their constants put right: about 44 / 17 / 13."""
    v = subset_variances(trial[0], subsets, trial[1])
    found = winsorized_standard_error(v, ceiling(subsets), EPSILON, np.random.default_rng(2))
    assert (found - exact).std() / exact.std() == pytest.approx(ratio, rel=0.25)


def test_the_corrected_difference_is_less_noisy_than_the_published_one(trial):
    """Two sums and a size: sd .0064 to .0067 in all, below the published .0070; sampling alone .0045; n_eff near 950."""
    y, arm = trial
    made = noised_difference(y, arm, (0, 1), EPSILON, np.random.default_rng(3))
    assert 0.0062 < made.estimate.std() < 0.0067
    sampling = 0.00447**2
    assert N * sampling / (sampling + made.noise_variance.mean()) > 900
    assert 2000 * sampling / (sampling + 32 / (N * EPSILON) ** 2) == pytest.approx(769, abs=3)
    assert not made.too_small.any()


def test_monte_carlo_intervals_cover(trial):
    """ε = .5 for the difference and .5 for its dyadic standard error: 95 % within the error of 3,000 studies, 91 % with none."""
    y, arm = trial
    rng = np.random.default_rng(4)
    made = noised_difference(y, arm, (0, 1), EPSILON, rng)
    error = dyadic_standard_error(subset_variances(y, 200, arm), ceiling(200), EPSILON, rng)

    def covered(found):
        low, high = made.interval(found, rng, draws=400)
        return np.mean((low <= 0) & (high >= 0))

    assert covered(error) == pytest.approx(0.95, abs=4 * (0.05 * 0.95 / 3000) ** 0.5)
    assert covered(np.zeros_like(error)) < 0.9


def test_the_exact_quantile_is_between_its_limits():
    """All noise: -b ln α; hardly any: 1.96 standard errors; and the simulated quantile of the sum between them."""
    assert noisy_interval(0.0, 0.0, 2.0)[1] == pytest.approx(-2 * np.log(0.05), rel=1e-6)
    assert noisy_interval(0.0, 1.0, 1e-4)[1] == pytest.approx(1.95996, rel=1e-4)
    rng = np.random.default_rng(5)
    drawn = np.abs(rng.normal(size=400_000) + rng.laplace(size=400_000))
    low, high = noisy_interval(np.array([1.0]), np.array([1.0]), 1.0, 0.9)
    assert high[0] - 1 == pytest.approx(np.quantile(drawn, 0.9), rel=0.01)
    assert low[0] - 1 == pytest.approx(-np.quantile(drawn, 0.9), rel=0.01)


def test_the_laplace_critical_value_is_not_always_larger():
    """At 90 % the normal error of the same variance reaches further, 1.645 against 1.628: the published footnote is false."""
    normal = noisy_interval(0.0, 1.0, 1e-5, 0.9)[1]
    laplace = noisy_interval(0.0, 0.0, 1 / 2**0.5, 0.9)[1]
    assert (float(normal), float(laplace)) == pytest.approx((1.645, 1.628), abs=1e-3)


def laplace_p(noise, scale):
    """Return the p-value of draws against the Laplace law: the smaller of its shape's and its mean absolute value's."""
    size = np.abs(np.mean(np.abs(noise)) / scale - 1) * len(noise) ** 0.5
    return min(stats.kstest(noise, stats.laplace(scale=scale).cdf).pvalue, 2 * stats.norm.sf(size))


def test_the_noise_of_the_dyadic_average_has_its_scale_and_no_other():
    """Equal values: M·SE² - v is Laplace with scale u/(Mε₂), and a scale a tenth smaller or larger is rejected."""
    v = np.full((8000, 100), 0.1)
    found = dyadic_standard_error(v, 1.0, 40.0, np.random.default_rng(11))
    noise = 100 * found**2 - 0.1
    scale = 0.25 / (100 * 20.0)  # 0.1 lies in [1/16, 1/8), so u = 1/4
    assert laplace_p(noise, scale) > 1e-4
    assert laplace_p(noise, 0.9 * scale) < 1e-6
    assert laplace_p(noise, 1.1 * scale) < 1e-6


def test_the_noise_of_the_winsorized_average_has_its_scale_and_no_other(monkeypatch):
    """Quartiles held at .2 and .4: the limits are 0 to .7 wide apart, the noise Laplace with scale 2·.8/(Mε)."""
    quartiles = {0.25: 0.2, 0.75: 0.4}
    monkeypatch.setattr(
        standard_error, "_drawn", lambda ordered, q, e, rng: np.full(len(ordered), quartiles[q])
    )
    found = winsorized_standard_error(np.full((8000, 50), 0.09), 1.0, 2.0, np.random.default_rng(12))
    noise = found * 50**0.5 - 0.3
    scale = 2 * 0.8 / (50 * 2.0)
    assert laplace_p(noise, scale) > 1e-4
    assert laplace_p(noise, 0.9 * scale) < 1e-6


def test_the_noise_of_the_arms_has_its_scales_and_no_other():
    """Sums R/(.9ε) and size 1/(.1ε): drawn 8,000 times, and a tenth less is rejected."""
    y, arm = np.full((8000, 4), 0.5), np.zeros((8000, 4))
    made = noised_difference(y, arm, (0, 1), 2.0, np.random.default_rng(13))
    for noise, scale in ((made.first, 1 / 1.8), (made.second, 1 / 1.8), (made.size, 1 / 0.2)):
        assert laplace_p(noise, scale) > 1e-4
        assert laplace_p(noise, 0.9 * scale) < 1e-6


@pytest.mark.parametrize(
    ("n", "share", "epsilon"), [(2000, 0.05, 2.0), (400, 0.5, 1.0), (400, 0.15, 4.0), (100, 0.5, 8.0)]
)
def test_intervals_cover_down_to_small_studies_and_unbalanced_arms(n, share, epsilon):
    """With the exact standard error, where no arm is flagged: at least 93.5 % of 3,000 studies; where many are, they say so."""
    rng = np.random.default_rng(14)
    arm = (rng.random((3000, n)) < share).astype(float)
    y = np.clip(0.6 + 0.1 * arm + rng.normal(0, 0.15, arm.shape), 0, 1)
    truth = (
        np.clip(0.7 + rng.normal(0, 0.15, 10**6), 0, 1).mean()
        - np.clip(0.6 + rng.normal(0, 0.15, 10**6), 0, 1).mean()
    )
    made = noised_difference(y, arm, (0, 1), epsilon, rng)
    low, high = made.interval(np.sqrt(subset_variances(y, 1, arm)[:, 0]), rng)
    clear = ~made.too_small
    assert clear.mean() > 0.5
    assert np.mean(((low <= truth) & (truth <= high))[clear]) > 0.935


def neighbours(rng, cases=400, size=40):
    """Give lists of M values and copies in which one value is another, among them the extremes and ties."""
    for _ in range(cases):
        v = np.exp(rng.normal(-6, rng.choice([0.0, 0.3, 2.0]), size))
        w = v.copy()
        w[rng.integers(size)] = rng.choice([0.0, 0.2, 1.0, np.exp(rng.normal(-6, 2))])
        yield np.clip(v, 0, 1), np.clip(w, 0, 1)


def dyadic_loss(v, w, epsilon, noise_factor=1.0):
    """Return the exact loss of (bin, noised average) between two lists."""
    odds, exponents = bin_odds(v, 1.0, epsilon / 2)
    others, _ = bin_odds(w, 1.0, epsilon / 2)
    upper = np.exp2(exponents + 2.0)[:, None]
    moved = np.abs(np.clip(v, 0, upper).mean(axis=1) - np.clip(w, 0, upper).mean(axis=1))
    scale = noise_factor * upper[:, 0] / (len(v) * epsilon / 2)
    return np.max(np.abs(np.log(odds / others)) + moved / scale)


def test_dyadic_loss_never_exceeds_its_claim():
    """Exact log-ratios of bin and noised average over 1,500 neighbours, ties and extremes included: at most ε, and attained."""
    losses = [dyadic_loss(v, w, 1.0) for v, w in neighbours(np.random.default_rng(6), 1500)]
    assert max(losses) <= 1.0 + 1e-9
    assert max(losses) > 0.99


def test_noise_a_tenth_too_small_would_be_seen():
    """The same audit convicts a mechanism that adds .9 of the noise."""
    losses = [dyadic_loss(v, w, 1.0, 0.9) for v, w in neighbours(np.random.default_rng(6), 1500)]
    assert max(losses) > 1.05


def gap_loss(v, w, epsilon):
    """Return the exact loss of one private quantile: the largest ratio of its densities."""
    pairs = []
    for values in (v, w):
        ordered = np.concatenate([[0.0], np.sort(values), [1.0]])
        pairs.append((ordered, gap_odds(ordered, 0.25, epsilon)))
    cuts = np.unique(np.concatenate([pairs[0][0], pairs[1][0]]))
    points = ((cuts[1:] + cuts[:-1]) / 2)[np.diff(cuts) > 1e-12]
    logs = []
    for ordered, odds in pairs:
        place = np.searchsorted(ordered, points) - 1
        logs.append(np.log(odds[place] / np.diff(ordered)[place]))
    return np.max(np.abs(logs[0] - logs[1]))


def test_a_private_quartile_costs_a_quarter_of_epsilon_and_twice_that_as_published():
    """Exact density ratios over neighbours: at most ε/4 with weight ε/8; with the published weight ε/4 above ε/4."""
    rng = np.random.default_rng(7)
    pairs = list(neighbours(rng))
    assert max(gap_loss(v, w, 0.25) for v, w in pairs) <= 0.25 + 1e-9
    assert max(gap_loss(v, w, 0.5) for v, w in pairs) > 0.26


def test_a_changed_row_changes_one_subset():
    """Any change of one row, of its outcome or its arm, moves at most one of the M values: brute force over 300 tables."""
    rng = np.random.default_rng(8)
    for _ in range(300):
        y, arm = rng.random(23), rng.integers(0, 2, 23).astype(float)
        z, other = y.copy(), arm.copy()
        row = rng.integers(23)
        z[row], other[row] = rng.random(), rng.integers(0, 2)
        moved = subset_variances(y, 5, arm) != subset_variances(z, 5, other)
        assert moved.sum() <= 1


def test_a_changed_row_moves_the_sums_by_no_more_than_their_noise_pays_for():
    """Brute force on a grid: |ΔS₁| + |ΔS₀| ≤ R/2 + R/2 with a switch, ≤ R without, and the size by at most 1."""
    grid = [(y, t) for y in (-0.5, -0.2, 0.0, 0.5) for t in (0, 1)]
    for y, t in grid:
        for z, s in grid:
            sums = abs(y * t - z * s) + abs(y * (1 - t) - z * (1 - s))
            assert 0.9 * sums + 0.1 * abs(t - s) <= 1.0 + 1e-12


def test_odd_data_give_flagged_answers_of_the_same_shape():
    """An empty arm, one row a subset, one distinct outcome: finite answers, zero variances, and the flag."""
    rng = np.random.default_rng(9)
    y = np.full((2, 50), 0.3)
    nobody = np.zeros_like(y)
    assert (subset_variances(y, 10, nobody) == 0).all()
    assert (subset_variances(y, 50) == 0).all()
    found = dyadic_standard_error(subset_variances(y, 10), 0.25, 1.0, rng)
    assert found.shape == (2,)
    assert np.isfinite(found).all()
    made = noised_difference(y, nobody, (0, 1), 5.0, rng)
    assert made.too_small.all()
    assert np.isfinite(made.estimate).all()


@pytest.mark.parametrize(
    "asked",
    [
        lambda rng: subset_variances([1.0, 2.0], 3),
        lambda rng: subset_variances([1.0, np.nan], 1),
        lambda rng: subset_variances([1.0, 2.0], 1, [0, 2]),
        lambda rng: dyadic_standard_error([0.1], 0, 1.0, rng),
        lambda rng: dyadic_standard_error([0.1], 1.0, 1.0, rng, choice=1),
        lambda rng: winsorized_standard_error([0.1], 1.0, 0, rng),
        lambda rng: noisy_interval(0, 1, 0),
        lambda rng: noised_difference([1.0, 2.0], [0, 1], (1, 0), 1.0, rng),
        lambda rng: noised_difference([1.0, 2.0], [0], (0, 1), 1.0, rng),
        lambda rng: noised_difference([1.0, 2.0], [0, 3], (0, 1), 1.0, rng),
        lambda rng: noised_difference([1.0, 0.0], [0, 1], (0, 1), 1.0, rng).interval(0.1, rng, level=95),
    ],
)
def test_what_cannot_be_estimated_is_refused(asked):
    """Too many subsets, missing values, arms other than 0 and 1, no noise, bounds that do not grow, a level in percent."""
    with pytest.raises(OptionError):
        asked(np.random.default_rng(0))
