"""Posterior draws: textbook posteriors where there are some, beliefs that hold as often as they say, words where nothing is known."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpnb.errors import OptionError, PendingError, PlanError, Unavailable
from dpnb.estimate.draws import joint
from dpnb.estimate.posterior import combined, shrunk
from tests.estimate.fakes import pending
from tests.estimate.test_together import study

EVERYWHERE = (-np.inf, np.inf)


@pytest.mark.parametrize("prior", [stats.norm(0, 1), stats.norm(2.5, 0.05), stats.norm(0, 10)])
def test_normal_prior_and_error_give_the_normal_posterior(prior):
    """Precisions add up, whichever of the two is narrower."""
    rng = np.random.default_rng(1)
    found = combined(3 + rng.standard_normal(10_000), prior, EVERYWHERE, rng)
    weight = 1 / prior.var()
    assert found.mean() == pytest.approx((weight * prior.mean() + 3) / (weight + 1), abs=0.05)
    assert found.std() == pytest.approx((1 / (weight + 1)) ** 0.5, rel=0.04)


def test_a_flat_prior_stays_in_the_public_range():
    """Without a prior the answer is as it was, and cut at what is possible."""
    rng = np.random.default_rng(2)
    drawn = 0.5 + rng.standard_normal(10_000)
    assert combined(drawn, None, EVERYWHERE, rng).std() == pytest.approx(1, rel=0.04)
    cut = combined(drawn, None, (0, np.inf), rng)
    assert cut.min() >= 0
    assert cut.mean() == pytest.approx(stats.truncnorm(-0.5, np.inf, 0.5).mean(), rel=0.03)


def test_beliefs_hold_as_often_as_they_say():
    """Truths from the prior, answers with noise and sampling: 90 % of central intervals hold the truth; without the noise fewer do."""
    rng = np.random.default_rng(3)
    runs, held = 300, np.zeros(2)
    for _ in range(runs):
        truth = rng.normal(0, 2)
        answer = truth + rng.normal(0, 1) + rng.laplace(0, 1.5)
        sampling, noise = rng.normal(0, 1, 2_000), rng.laplace(0, 1.5, 2_000)
        for place, errors in enumerate((sampling + noise, sampling)):
            low, high = np.quantile(
                combined(answer - errors, stats.norm(0, 2.5), EVERYWHERE, rng), [0.05, 0.95]
            )
            held[place] += low <= truth <= high
    assert 0.87 <= held[0] / runs <= 0.96
    assert held[1] / runs < 0.8


def test_a_prior_that_contradicts_the_answer_is_refused():
    """Draws resolve no far tails: neither beyond them, nor where a few of them lie."""
    rng = np.random.default_rng(4)
    for prior in (stats.norm(30, 1), stats.norm(5, 0.05)):
        with pytest.raises(Unavailable, match="wider prior"):
            combined(rng.standard_normal(10_000), prior, EVERYWHERE, rng)


def test_posterior_of_released_means():
    """Each group alone, in the shape of the answer, the same whenever it is asked; a narrow prior moves all to it."""
    means = study(5, epsilon=Fraction(5))
    found = means.posterior()
    assert (found.draws.shape[1:], found.kind) == ((3,), "confidence")
    np.testing.assert_array_equal(found.draws, means.posterior().draws)
    low, high = found.interval(0.95)
    usual = means.interval(0.95)
    np.testing.assert_allclose(low, usual.low, atol=0.6)
    np.testing.assert_allclose(high, usual.high, atol=0.6)
    pulled = means.posterior(stats.norm(45, 0.5))
    assert (np.abs(np.asarray(pulled.mean) - 45) < 0.5).all()
    assert (np.asarray(pulled.sd) < 0.55).all()
    assert (np.asarray(pulled.probability(lambda x: x > 40)) > 0.99).all()
    gap = means[1] - means[0]
    assert 0 < gap.posterior(stats.norm(0, 5)).probability(lambda x: x > 0) < 1
    assert means.posterior(kind="privacy").kind == "privacy"


def test_draws_that_are_undefined_are_left_out():
    """Of a logarithm of what the noise hides: as many draws of each component all the same."""
    means = study(5, epsilon=Fraction(5))
    found = np.log(means - 40).posterior()
    drawn = joint([np.log(means - 40)], "confidence")
    assert 0 < np.isnan(drawn).sum() < drawn.size / 2
    assert found.draws.shape == drawn.shape
    assert np.isfinite(found.draws).all()


def test_what_is_no_posterior():
    """Before the release, of an unbounded answer, with a prior of another kind: words."""
    with pytest.raises(PendingError):
        pending().posterior()
    with pytest.raises(OptionError, match=r"scipy\.stats"):
        study(6).posterior("normal")
    means = study(7, n=9, epsilon=Fraction(1, 100))
    ratio = means[0] / (means[1] - means[2])
    with pytest.raises(Unavailable, match="unbounded"):
        ratio.posterior(kind="privacy")


@pytest.mark.parametrize("spread", [0.0, 1.0, 4.0])
def test_shrunk_groups_hold_their_values_and_are_narrower(spread):
    """Twelve groups, half with four times the error: 90 % of intervals hold at least as often, over the groups; alike groups have far narrower ones."""
    rng = np.random.default_rng(8)
    errors = np.where(np.arange(12) % 2, 2.0, 0.5)
    runs, held, width, away = 100, 0.0, 0.0, np.zeros(2)
    for _ in range(runs):
        truth = 50 + spread * rng.standard_normal(12)
        values = truth + errors * (rng.standard_normal(12) + rng.laplace(0, 0.7, 12)) / 1.407
        found = shrunk(values, errors, rng)
        low, high = np.quantile(found, [0.05, 0.95], axis=0)
        held += ((low <= truth) & (truth <= high)).mean() / runs
        width += ((high - low) / (2 * 1.645 * errors)).mean() / runs
        away += [((one - truth) ** 2).mean() / runs for one in (found.mean(axis=0), values)]
    assert 0.88 <= held <= (0.995 if spread == 0 else 0.96)
    assert away[0] < away[1] * (0.4 if spread == 0 else 0.9 if spread == 1 else 1.0)
    assert width < (0.6 if spread == 0 else 1.0)


def test_a_group_without_an_error_is_one_like_the_others():
    """It lies among them, less certain than any; two known groups at least."""
    rng = np.random.default_rng(9)
    found = shrunk(np.array([1.0, 2.0, 3.0, np.nan, 2.5]), np.array([0.3, 0.3, 0.3, np.inf, 0.3]), rng)
    assert 1 < np.median(found[:, 3]) < 3
    assert found[:, 3].std() > found[:, [0, 1, 2, 4]].std(axis=0).max()
    with pytest.raises(Unavailable, match="two of these groups"):
        shrunk(np.array([1.0, np.nan, 2.0, 3.0]), np.array([1.0, np.inf, np.inf, np.inf]), rng)
    with pytest.raises(PlanError, match="four groups"):
        study(5).shrink()
