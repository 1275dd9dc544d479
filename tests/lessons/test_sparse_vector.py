"""Sparse vector: the law of the correct one, its audits below the claim, and its published wrong versions caught."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from scipy import integrate, stats

from dpnb import lessons
from dpnb.audit import audit
from dpnb.errors import LossError, OptionError

ANSWERS = (1.3, -3.5, 5.2, -2.0)
NEIGHBOURS = [
    ((0, 0, 0, 0), (1, 1, 1, 1)),
    ((0, 0, 0, 0), (1, 1, -1, -1)),
    ((0, 1, 0, 1), (1, 0, 1, 0)),
    ((2.5, -1.5, 0.5), (1.5, -0.5, 1.5)),
]
WRONG = {one.name: one for one in lessons.WRONG_VERSIONS}


def counted(runs, outcomes):
    """How often each outcome came, stops cut off."""
    seen = dict.fromkeys(outcomes, 0)
    rows, counts = np.unique(runs, axis=0, return_counts=True)
    for row, count in zip(rows, counts, strict=True):
        seen[tuple(int(x) for x in row if x != -1)] += int(count)
    return np.array([seen[outcome] for outcome in outcomes])


@pytest.mark.parametrize("hits", [1, 2])
def test_runs_follow_the_law_and_not_one_ten_percent_off(hits):
    """Chi-square over all outcomes: the law at ε is accepted, those at 0.9 ε and 1.1 ε are refused."""
    runs = 400_000
    law = partial(lessons.above_threshold_law, ANSWERS, 0.5, hits=hits)
    outcomes = list(law(1.0))
    seen = counted(lessons.above_threshold(ANSWERS, 0.5, 1.0, 9, hits=hits, size=runs), outcomes)
    p_value = lambda epsilon: (
        stats.chisquare(seen, runs * np.array([law(epsilon)[k] for k in outcomes])).pvalue
    )
    assert p_value(1.0) > 1e-4
    assert max(p_value(0.9), p_value(1.1)) < 1e-6


def test_one_question_has_the_probability_that_an_independent_integral_gives():
    """P(0.7 + Lap(4) ≥ Lap(2)) by scipy's adaptive quadrature and its own distribution."""
    inner = lambda z: stats.laplace.pdf(z, scale=2) * stats.laplace.sf(z - 0.7, scale=4)
    oracle = sum(
        integrate.quad(inner, a, b, epsabs=1e-13)[0] for a, b in [(-80, 0), (0, 0.7), (0.7, 20), (20, 80)]
    )
    assert lessons.above_threshold_law([0.7], 0, 1.0)[1,] == pytest.approx(oracle, abs=1e-10)


@pytest.mark.parametrize("pair", NEIGHBOURS)
@pytest.mark.parametrize("hits", [1, 2, 3])
def test_an_exact_audit_of_the_correct_version_stays_below_its_claim(pair, hits):
    verdict = audit(lambda answers: lessons.above_threshold_law(answers, 0, 1.0, hits=hits), pair, 1.0)
    assert verdict.exact
    assert 0.1 < verdict.loss <= 1.0 + 1e-9


def test_a_sampled_audit_of_the_correct_version_stays_below_its_claim():
    mechanism = lambda answers, size, rng: lessons.above_threshold(answers, 0, 1.0, rng, hits=2, size=size)
    verdict = audit(mechanism, NEIGHBOURS[1], 1.0)
    assert not verdict.breaks
    assert verdict.loss > 0.1


@pytest.mark.parametrize("name", WRONG)
def test_an_exact_audit_catches_every_wrong_version(name):
    wrong = WRONG[name]
    assert wrong.status == "exhibit"
    assert audit(lambda answers: wrong.law(answers, 1.0), wrong.neighbours, 1.0).breaks


@pytest.mark.parametrize("name", WRONG)
def test_a_sampled_audit_catches_every_wrong_version(name):
    """Run, not read: the event is half below, then half above, as in the published counterexamples."""
    wrong = WRONG[name]
    half = len(wrong.neighbours[0]) // 2
    outcome = np.array([0] * half + [1] * half)
    mechanism = lambda answers, size, rng: wrong.run(answers, 1.0, rng, size=size)
    event = {"half below, then half above": lambda rows: (rows == outcome).all(axis=1)}
    assert audit(mechanism, wrong.neighbours, 1.0, events=event).breaks


def test_without_noise_on_the_questions_an_outcome_is_impossible_under_the_neighbour():
    wrong = WRONG["no-query-noise"]
    assert audit(lambda answers: wrong.law(answers, 1.0), wrong.neighbours, 1.0).loss == math.inf


def test_without_a_stop_the_loss_grows_with_the_questions():
    """The counterexample of Lyu, Su and Li: 2m questions lose at least mε/2, and no more than m(ε)."""
    wrong = WRONG["no-stop"]
    loss = lambda m: audit(lambda a: wrong.law(a, 1.0), ((0,) * (2 * m), (1,) * m + (-1,) * m), 1.0).loss
    losses = [loss(m) for m in (1, 2, 3, 4)]
    assert all(found >= m / 2 for m, found in enumerate(losses, start=1))
    assert np.all(np.diff(losses) > 0.4)


def test_noise_that_ignores_c_loses_no_more_than_its_analysis_allows():
    """(1 + 6c)ε/4 with c = 3, from the same paper."""
    wrong = WRONG["noise-without-c"]
    verdict = audit(lambda answers: wrong.law(answers, 1.0), wrong.neighbours, 1.0)
    assert 1.0 < verdict.loss <= 19 / 4


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_version_runs_by_its_law(name):
    wrong, runs = WRONG[name], 100_000
    answers = wrong.neighbours[0][:4]
    law = wrong.law(answers, 1.0)
    seen = counted(wrong.run(answers, 1.0, 2, size=runs), list(law))
    assert stats.chisquare(seen, runs * np.array(list(law.values()))).pvalue > 1e-4


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (LossError, lambda: lessons.above_threshold([1], 0, 0, 1)),
        (OptionError, lambda: lessons.above_threshold([], 0, 1, 1)),
        (OptionError, lambda: lessons.above_threshold([1], math.nan, 1, 1)),
        (OptionError, lambda: lessons.above_threshold([1], 0, 1, 1, hits=0)),
        (OptionError, lambda: lessons.above_threshold([1], 0, 1, 1, sensitivity=0)),
        (OptionError, lambda: lessons.above_threshold_law([0] * 13, 0, 1)),
    ],
)
def test_bad_input_is_refused_with_what_to_give(error, call):
    with pytest.raises(error):
        call()
