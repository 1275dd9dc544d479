"""Impact codes: shrinkage by what is known of a group, from numbers and from released means."""

from __future__ import annotations

import numpy as np
import pytest

import dpnb
from dpnb.errors import OptionError, PendingError
from dpnb.estimate.impact import impact_codes


def test_with_equal_variances_the_spread_is_what_the_noise_does_not_explain():
    """τ² = s² - v, and every deviation is kept by the same share."""
    values = np.array([0.1, 0.3, 0.5, 0.9])
    found = impact_codes(values, 0.02)
    assert found.between == pytest.approx(values.var(ddof=1) - 0.02)
    assert found.grand == pytest.approx(values.mean())
    assert found.codes == pytest.approx((values - values.mean()) * found.between / (found.between + 0.02))


def test_a_group_of_which_little_is_known_is_pulled_to_the_grand_mean():
    """The same deviation with ten times the variance keeps less."""
    found = impact_codes([0.2, 0.4, 0.6, 0.8, 0.8], [0.001, 0.001, 0.001, 0.001, 0.1])
    assert found.shrinkage[4] < 0.5
    assert found.shrinkage[3] > 0.9
    assert 0 < found.codes[4] < found.codes[3]


def test_differences_that_the_noise_explains_are_coded_zero():
    """Where the spread is no more than the variances say, all codes are 0."""
    found = impact_codes([0.49, 0.5, 0.51], 0.04)
    assert found.between == 0
    assert (found.codes == 0).all()


def test_codes_predict_better_than_raw_means():
    """Over 200 draws of groups, shrunken codes lie nearer to the true effects than the noised means themselves."""
    rng, shrunk, raw = np.random.default_rng(3), [], []
    for _ in range(200):
        true = rng.normal(0.5, 0.1, 30)
        spread = rng.choice([0.001, 0.05], 30)
        seen = true + rng.normal(0, spread**0.5)
        found = impact_codes(seen, spread)
        shrunk.append(np.mean((found.grand + found.codes - true) ** 2))
        raw.append(np.mean((seen - true) ** 2))
    assert np.mean(shrunk) < 0.4 * np.mean(raw)


def test_a_released_group_mean_is_coded_free(data):
    """Names, means and standard errors come from the release; encoding a column costs nothing; unknown values get 0."""
    means = data.groupby("g").x.mean()
    with pytest.raises(PendingError):
        impact_codes(means)
    dpnb.release({"means": means}, epsilon=8)
    spent = data.budget.spent
    found = impact_codes(means)
    assert found.keys == means.axes[0].keys
    encoded = found.encode([*found.keys, "nowhere", None])
    assert encoded.tolist() == [*found.codes.tolist(), 0.0, 0.0]
    assert found[found.keys[0]] == found.codes[0]
    assert data.budget.spent == spent
    with pytest.raises(OptionError, match="not a declared value"):
        found["nowhere"]


def test_what_cannot_be_coded_is_refused(data):
    """One group, no variance, a variance of 0, names of another number, a single mean."""
    single = data.x.mean()
    dpnb.release({"m": single}, epsilon=1)
    for call in (
        lambda: impact_codes([0.5], [0.1]),
        lambda: impact_codes([0.5, 0.6]),
        lambda: impact_codes([0.5, 0.6], [0.1, 0.0]),
        lambda: impact_codes([0.5, 0.6], [0.1, 0.1], keys=["a"]),
        lambda: impact_codes(single),
    ):
        with pytest.raises(OptionError):
            call()
