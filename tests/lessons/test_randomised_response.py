"""The local model: its laws, its unbiased estimates, its audits, and what it costs beside a curator."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dpnb import lessons
from dpnb.audit import audit
from dpnb.errors import LossError, OptionError

KINDS = ["symmetric", "optimised"]


def fits(seen, expected):
    """The p-value of counts against expected counts."""
    return stats.chisquare(seen, expected).pvalue


@pytest.mark.parametrize("bit", [0, 1])
def test_answers_follow_the_stated_law_and_not_one_ten_percent_off(bit):
    """A chi-square test accepts the law at ε and refuses the laws at 0.9 ε and 1.1 ε."""
    n, epsilon = 200_000, 1.0
    answers = lessons.randomised_response(np.full(n, bit), epsilon, rng=11)
    seen = np.bincount(answers, minlength=2)
    law = lambda loss: n * np.array([lessons.response_law(bit, loss)[k] for k in (0, 1)])
    assert fits(seen, law(epsilon)) > 1e-4
    assert max(fits(seen, law(0.9 * epsilon)), fits(seen, law(1.1 * epsilon))) < 1e-12


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_one_answer_loses_exactly_epsilon(epsilon):
    """The enumerated loss of the law is ε, neither more nor less."""
    verdict = audit(lambda bit: lessons.response_law(bit, epsilon), (0, 1), epsilon)
    assert verdict.exact
    assert verdict.loss == pytest.approx(epsilon, abs=1e-9)


def test_a_sampled_audit_of_randomised_response_stays_below_its_claim():
    mechanism = lambda bit, size, rng: lessons.randomised_response(np.full(size, bit), 1.0, rng)
    verdict = audit(mechanism, (0, 1), 1.0)
    assert not verdict.breaks
    assert verdict.loss > 0.93
    assert audit(mechanism, (0, 1), 0.9).breaks


@pytest.mark.parametrize("kind", KINDS)
def test_a_sampled_audit_of_unary_encoding_stays_below_its_claim_and_comes_close(kind):
    mechanism = lambda code, size, rng: lessons.unary_encoding(np.full(size, code), 3, 1.0, rng, kind)
    differ = {"bit 0 is 1 and bit 1 is 0": lambda rows: (rows[:, 0] == 1) & (rows[:, 1] == 0)}
    verdict = audit(mechanism, (0, 1), 1.0, events=differ)
    assert not verdict.breaks
    assert verdict.loss > 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_unary_encoding_loses_exactly_epsilon_by_its_probabilities(kind):
    p, q = lessons.unary_probabilities(1.3, kind)
    assert math.log(p * (1 - q) / ((1 - p) * q)) == pytest.approx(1.3, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_every_unary_bit_has_the_stated_probability(kind):
    """Chi-square over the bits of one category: accepted at ε, refused 10 % off."""
    n = 200_000
    ones = lessons.unary_encoding(np.full(n, 1), 3, 1.0, 5, kind).sum(axis=0)

    def p_value(loss):
        p, q = lessons.unary_probabilities(loss, kind)
        share = np.array([q, p, q])
        return stats.chi2.sf(((ones - n * share) ** 2 / (n * share * (1 - share))).sum(), 3)

    assert p_value(1.0) > 1e-4
    assert max(p_value(0.9), p_value(1.1)) < 1e-12


def test_the_debiased_mean_is_unbiased_and_its_standard_error_is_true():
    """Over 4,000 surveys the bias is within 4 standard errors and the sd within 5 % of the stated one."""
    truth = np.repeat([0, 1], [700, 300])
    rng = np.random.default_rng(3)
    found = [lessons.debiased_mean(lessons.randomised_response(truth, 0.8, rng), 0.8) for _ in range(4000)]
    values, stated = np.array([one.value for one in found]), found[0].standard_error
    assert abs(values.mean() - 0.3) < 4 * stated / math.sqrt(len(values))
    assert values.std() == pytest.approx(stated, rel=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_debiased_counts_are_unbiased_and_their_standard_errors_are_true(kind):
    truth = np.repeat([0, 1, 2], [600, 300, 100])
    rng = np.random.default_rng(4)
    found = [
        lessons.debiased_counts(lessons.unary_encoding(truth, 3, 1.0, rng, kind), 1.0, kind)
        for _ in range(3000)
    ]
    values = np.array([one.value for one in found])
    stated = np.sqrt(np.mean([one.standard_error**2 for one in found], axis=0))
    assert np.all(np.abs(values.mean(axis=0) - [600, 300, 100]) < 4.5 * stated / math.sqrt(len(values)))
    np.testing.assert_allclose(values.std(axis=0), stated, rtol=0.06)


def test_the_optimised_encoding_has_the_smaller_error_for_an_absent_category():
    """q(1-q)/(p-q)² is the variance of one person elsewhere: Wang et al., Table 1."""
    spread = {
        kind: math.sqrt(q * (1 - q)) / (p - q)
        for kind in KINDS
        for p, q in [lessons.unary_probabilities(2, kind)]
    }
    assert spread["optimised"] < spread["symmetric"]
    assert spread["optimised"] ** 2 == pytest.approx(4 * math.exp(2) / (math.exp(2) - 1) ** 2)


@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
@pytest.mark.parametrize("n", [10, 20_000])
def test_the_local_model_pays_the_square_root_of_half_its_people(epsilon, n):
    assert lessons.local_and_central(epsilon, n).ratio == pytest.approx(math.sqrt(n / 2))


def test_the_central_error_is_that_of_the_discrete_laplace_mechanism():
    """An independent oracle: the variance summed from the pmf of noise at scale 1/ε."""
    k = np.arange(-2000, 2001)
    pmf = np.exp(-0.5 * np.abs(k))
    sd = math.sqrt((pmf * k**2).sum() / pmf.sum())
    assert lessons.local_and_central(0.5, 100).central == pytest.approx(sd / 100)


@pytest.mark.parametrize("epsilon", [0, -1, math.inf, math.nan, "much"])
def test_a_loss_that_is_no_loss_is_refused(epsilon):
    with pytest.raises(LossError, match="epsilon is a number above 0"):
        lessons.randomised_response([0, 1], epsilon, 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: lessons.randomised_response([0, 2], 1, 1),
        lambda: lessons.randomised_response([], 1, 1),
        lambda: lessons.randomised_response([0, 1], 1, None),
        lambda: lessons.unary_encoding([0, 3], 3, 1, 1),
        lambda: lessons.unary_encoding([0], 1, 1, 1),
        lambda: lessons.unary_probabilities(1, "best"),
        lambda: lessons.debiased_counts([0, 1], 1),
        lambda: lessons.local_and_central(1, 0),
    ],
)
def test_bad_input_is_refused_with_what_to_give(call):
    with pytest.raises(OptionError):
        call()
