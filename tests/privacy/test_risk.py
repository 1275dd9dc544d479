"""What a loss means for a person: bounds on beliefs and on membership tests."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import laplace

from dpnb.errors import LossError
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.risk.odds import (
    laplace_tradeoff,
    membership_power,
    odds_sentence,
    posterior,
    posterior_table,
    tradeoff,
)

shares = st.floats(0.001, 0.999)
losses = st.floats(0, 20)


@given(shares, losses)
def test_a_posterior_multiplies_the_odds_by_at_most_e_to_the_epsilon(prior, e):
    """Bayes' rule with a likelihood ratio of e^ε; applying -ε goes back."""
    after = posterior(prior, e)
    # exact odds, turned back into a belief: near certainty a belief's own rounding is much of what is left to 1
    odds = Fraction(prior) / (1 - Fraction(prior)) * Fraction(exp(e))
    assert after == pytest.approx(float(odds / (1 + odds)), rel=2e-15)
    assert after >= prior * (1 - 1e-12)


@given(shares, losses, shares)
def test_delta_only_weakens_a_posterior(prior, e, chance):
    """With evidence of a known chance the bound grows in δ, and without δ it is at most the bound for every output."""
    plain = posterior(prior, e, chance=chance)
    assert plain <= posterior(prior, e) * (1 + 1e-9)
    assert posterior(prior, e, delta="0.01", chance=chance) >= plain * (1 - 1e-12)


def test_with_delta_no_belief_is_bounded_for_every_output():
    """The chance of the evidence must be said; as it vanishes, the bound is certainty."""
    with pytest.raises(LossError, match="chance="):
        posterior("0.1", 1, "1e-6")
    assert posterior("0.1", 1, "1e-6", chance="1e-12") > 0.99999


@given(st.floats(0, 1), losses, st.floats(0, 0.5))
def test_power_is_the_published_bound_with_its_second_branch(alpha, e, d):
    """min(e^ε α + δ, 1 - e^-ε (1 - α - δ)), and never above one."""
    bound = min(exp(e) * alpha + d, 1 - exp(-e) * (1 - alpha - d), 1.0)
    assert membership_power(alpha, e, d) == pytest.approx(bound, abs=1e-12)


@given(st.floats(0.001, 1), st.floats(0.01, 8))
def test_the_epsilon_curve_is_its_own_inverse(alpha, e):
    """A trade-off curve of a symmetric pair: f(f(α)) is α wherever f(α) is above zero."""
    beta = tradeoff(alpha, e)
    if beta > 1e-6:
        assert tradeoff(beta, e) == pytest.approx(alpha, abs=1e-6)


@given(st.floats(0.001, 0.999), st.floats(0.01, 8))
def test_the_laplace_curve_is_that_of_the_best_threshold_and_attains_the_bound(alpha, e):
    """Against scipy's law shifted by one sensitivity; above the ε curve, equal to it for small α."""
    threshold = laplace.isf(alpha)
    power = laplace.sf(threshold, loc=e)
    assert laplace_tradeoff(alpha, e) == pytest.approx(1 - power, abs=1e-9)
    assert laplace_tradeoff(alpha, e) >= tradeoff(alpha, e) - 1e-12
    if alpha < exp(-e) / 2:
        assert laplace_tradeoff(alpha, e) == pytest.approx(tradeoff(alpha, e), abs=1e-12)


def test_a_sentence_is_said_in_frequencies_and_rounded_up():
    """An honest 10 % guess at ε = 0.5."""
    said = odds_sentence("0.1", "0.5")
    assert "An honest 10 % guess becomes at most 15.5 %" in said
    assert "at most 155 after" in said
    assert "1,000 people" in said


def test_tables_hold_numbers_and_read_well():
    """Six columns of posteriors; every line of the text has one width."""
    table = posterior_table()
    assert table.cells[table.index.index("10 %")][table.columns.index("ε 0.5")] == pytest.approx(
        0.1548, abs=1e-4
    )
    lines = repr(table).splitlines()
    assert lines[0] == "Belief after the release, at most"
    assert len({len(line) for line in lines[1:]}) == 1
    assert len(table.index) * len(table.columns) == 42
    assert membership_power("0.05", 1, "0.001") == pytest.approx(0.1369, abs=1e-4)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: posterior(0, 1),
        lambda: posterior("0.1", -1),
        lambda: posterior("0.1", 1, delta=1),
        lambda: membership_power(Fraction(3, 2), 1),
        lambda: odds_sentence("0.1", 1, people=0),
    ],
)
def test_numbers_out_of_range_are_refused(wrong):
    """Priors strictly inside (0, 1), rates inside [0, 1], losses at least 0."""
    with pytest.raises(LossError):
        wrong()


BELIEFS = ("0.01", "0.05", "0.1", "0.25", "0.5", "0.75", "0.9", "0.95", "0.99")


def believed_after_randomised_response(prior, epsilon):
    """Bayes' rule, written out: of those who answer "yes", the share in whom it is true, when truth is e^ε times as likely."""
    with localcontext() as context:
        context.prec = 40
        before, odds = Decimal(prior), Decimal(epsilon).exp()
        truth = odds / (1 + odds)
        said_and_so, said_and_not = before * truth, (1 - before) * (1 - truth)
        return float(said_and_so / (said_and_so + said_and_not))


@pytest.mark.parametrize("epsilon", ["0.2", "0.5", "1"])
def test_a_belief_of_the_table_is_attained_and_no_noised_count_raises_one_above_it(epsilon):
    """Randomised response attains each cell; on every output of discrete Laplace noise Bayes' rule stays below, and comes up to it."""
    law, outputs = DiscreteLaplaceLaw(1 / Fraction(epsilon)), np.arange(-30, 32)
    member, other = law.pmf(outputs - 1), law.pmf(outputs)
    for prior, (cell,) in zip(BELIEFS, posterior_table(BELIEFS, (epsilon,)).cells, strict=True):
        assert cell == pytest.approx(believed_after_randomised_response(prior, epsilon), rel=1e-13)
        before = float(prior)
        after = before * member / (before * member + (1 - before) * other)
        assert after.max() <= cell * (1 + 1e-9)
        assert after.max() == pytest.approx(cell, rel=1e-9)
