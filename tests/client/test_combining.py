"""dpnb.combine: answers of one question become one estimate, and a shared draw counts once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dpnb
from dpnb.errors import OptionError, PlanError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.statistics import conclude


def released(data, epsilon, fresh=False):
    estimate = data.x.sum()
    dpnb.release([estimate], epsilon=epsilon, fresh=fresh)
    return estimate


def copied(estimate, changes):
    """An answer whose record was changed."""
    old = estimate.measurement
    new = PendingQuestion(old.question, old.checked, dataset=old.dataset)
    releases = tuple(replace(release, **changes) for release in old.releases)
    new.fill(releases, conclude(old.checked, releases))
    return Estimate.leaf(new)


def test_two_draws_combine_by_inverse_variance_and_cost_nothing(data):
    """The value lies between, nearer to the dearer answer; the interval is narrower; nothing is charged."""
    a, b = released(data, "0.5"), released(data, 1)
    spent = data.budget.spent
    both = dpnb.combine(a, b)
    assert len(both.releases) == 2
    assert data.budget.spent == spent
    assert min(a.value, b.value) <= both.value <= max(a.value, b.value)
    assert abs(both.value - b.value) <= abs(both.value - a.value)
    width = both.interval(kind="privacy").width
    assert width < b.interval(kind="privacy").width < a.interval(kind="privacy").width


def test_an_answer_combined_with_its_copies_is_itself(data):
    """The same draw id is the same noise, thirty times over."""
    a = released(data, "0.5")
    again = dpnb.combine(*[a] * 30)
    assert again.value == a.value
    assert again.releases == a.releases
    assert again.interval(kind="privacy") == a.interval(kind="privacy")


def test_a_combination_and_one_of_its_parts_combine_to_the_combination(data):
    """Draws are counted, not estimates."""
    a, b = released(data, "0.5"), released(data, 1)
    both = dpnb.combine(a, b)
    assert dpnb.combine(both, a).value == both.value
    assert (both - dpnb.combine(a, b)).interval(kind="privacy").width == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("copies", "coverage"), [(2, 0.83), (30, 0.28)])
def test_copies_taken_as_independent_would_not_cover(copies, coverage):
    """Averaging copies with an interval for independent answers covers 83 % and 28 %: why ids are counted."""
    noise = np.random.default_rng(7).normal(size=200_000)
    naive = np.abs(noise) <= 1.96 / np.sqrt(copies)
    assert naive.mean() == pytest.approx(coverage, abs=0.006)


def test_a_copy_under_another_id_would_narrow_the_interval(data):
    """The failure that the ids prevent, shown on a forged record."""
    a = released(data, "0.5")
    (part,) = a.release.parts
    forged = dpnb.combine(a, copied(a, {"id": "f" * 32, "parts": (replace(part, draw="f" * 32),)}))
    assert forged.interval(kind="privacy").width < 0.8 * a.interval(kind="privacy").width


@pytest.mark.parametrize("asked", ["sum", "mean"])
def test_one_answer_brings_all_that_are_stored_of_its_question(data, asked):
    """Three answers: together they are free, once each, and from any of them; who asks again is handed all of them."""

    def made(epsilon, fresh=False):
        estimate = getattr(data.x, asked)()
        dpnb.release([estimate], epsilon=epsilon, fresh=fresh)
        return estimate

    first, second, third = made("0.5"), made(1), made("0.5", fresh=True)
    spent = data.budget.spent
    every = dpnb.combine(first)
    assert made("0.5").value == pytest.approx(every.value)
    assert data.budget.spent == spent
    draws = [part.draw for one in (first, second, third) for part in one.releases[0].parts]
    assert sorted(part.draw for one in every.releases for part in one.parts) == sorted(draws)
    assert every.value == pytest.approx(dpnb.combine(first, second, third).value)
    assert every.interval(kind="privacy").width < second.interval(kind="privacy").width
    assert dpnb.combine(third).value == pytest.approx(every.value)
    assert dpnb.combine(every).releases == every.releases
    assert data.budget.spent == spent


def test_one_answer_that_is_alone_stays_itself(data):
    """Nothing is bought for it."""
    a = released(data, "0.5")
    spent = data.budget.spent
    assert dpnb.combine(a).releases == a.releases
    assert data.budget.spent == spent


def test_what_is_not_two_answers_of_one_question_is_refused(data):
    """None, a number, a derived, pending or public value, another question, another version of the data."""
    a = released(data, "0.1")
    other = data.y.sum()
    dpnb.release([other], epsilon="0.1")
    public = data.count()
    dpnb.release([public], epsilon="0.1")
    with pytest.raises(OptionError, match="takes released answers"):
        dpnb.combine()
    with pytest.raises(OptionError, match="not float"):
        dpnb.combine(a, 1.0)
    with pytest.raises(PlanError, match="derived"):
        dpnb.combine(a, a + 1)
    with pytest.raises(PlanError, match="not released yet"):
        dpnb.combine(a, data.x.mean())
    with pytest.raises(PlanError, match="public"):
        dpnb.combine(public, public)
    with pytest.raises(PlanError, match="different questions"):
        dpnb.combine(a, other)
    with pytest.raises(PlanError, match="different data"):
        dpnb.combine(a, copied(a, {"data_version": "another"}))
