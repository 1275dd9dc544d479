"""Logistic regression from a released table: the maximum likelihood of exact counts, intervals that hold, words for what cannot be."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import dpnb
from dpnb.errors import OptionError, Unavailable
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.planner import Question
from dpnb.planner.check import check
from dpnb.planner.expression import Ref
from dpnb.statistics.logistic import DRAWS, Design, LogisticFit, log_odds, solved
from dpnb.statistics.released import Part, Source, fast_draws
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from tests.examples import mostly_long

TRUE = np.array([-1.0, 0.5, 0.2])
COLUMNS = (
    Column.category("y", [0, 1]),
    Column.category("s", [0, 1]),
    Column.integer("a", 0, 5),
    Column.category("vote", ["no", "yes"]),
    Column.category("region", ["n", "s", "w"]),
    Column.category("year", [2000, 2001, 2002]),
)
ROWS = PrivacyUnit("add-remove")


def table(*keys, unit=ROWS):
    """A checked contingency table of made-up people."""
    where = Schema("people", "People", COLUMNS, unit, Budget(PrivacyLoss.pure(9), "epsilon 9"))
    *more, last = map(Ref, keys)
    return check(Question("people", "crosstab", last, by=tuple(more)), where).setting


SETTING = table("y", "s", "a")
DESIGN = Design.of(SETTING, "y ~ s + a")


def people(rng, n):
    """Exact counts of a study."""
    s, a = rng.integers(0, 2, n), rng.integers(0, 6, n)
    y = (rng.random(n) < 1 / (1 + np.exp(-(TRUE[0] + TRUE[1] * s + TRUE[2] * a)))).astype(int)
    found = np.zeros(SETTING.shape)
    np.add.at(found, (y, s, a), 1)
    return found.ravel()


def noise(epsilon):
    return DiscreteLaplaceLaw(1 / Fraction(epsilon))


def fit(counts, epsilon="1", draw="d", design=DESIGN):
    return LogisticFit(
        design, Part("count", counts, (Source(draw, 1.0, noise(epsilon)),)), DrawGenerator((draw,))
    )


def test_exact_counts_give_the_maximum_likelihood_of_the_rows():
    """Against statsmodels on the same table: coefficients and their standard errors."""
    import statsmodels.api as sm

    counts = people(np.random.default_rng(1), 5000)
    y, s, a = np.indices(SETTING.shape).reshape(3, -1)
    x = sm.add_constant(np.column_stack([s, a]).astype(float))
    wanted = sm.GLM(y, x, sm.families.Binomial(), freq_weights=counts).fit()
    found = fit(counts, "1000")
    assert found.coefficients == pytest.approx(wanted.params, abs=1e-6)
    assert np.sqrt(np.diagonal(found.sampling)) == pytest.approx(wanted.bse, rel=1e-4)


def test_the_noise_moves_the_coefficients_as_much_as_is_said():
    """4,000 releases of one table: the mean square of what noise moved is the variance that draws tell, within 10 %."""
    counts, law, rng = people(np.random.default_rng(2), 20_000), noise("0.5"), np.random.default_rng(3)
    exact = fit(counts, "1000")
    noised = counts - fast_draws(law, (4_000, counts.size), rng)
    hits = noised @ DESIGN.ones.T
    start = np.broadcast_to(exact._solution[0], (len(noised), 3))
    moved = solved(DESIGN.x, hits, hits + noised @ DESIGN.noughts.T, start, 6) @ DESIGN.turn.T
    seen = ((moved - exact.coefficients) ** 2).mean(axis=0)
    told = (fit(counts, "0.5").privacy_deviations ** 2).mean(axis=0)
    assert told == pytest.approx(seen, rel=0.1)  # a scale 10 % off is 21 %
    assert abs((moved - exact.coefficients).mean(axis=0) / np.sqrt(seen)).max() < 0.06


@pytest.mark.parametrize(
    ("n", "epsilon"), mostly_long([(500, "0.5"), (2_000, "0.5"), (20_000, "0.1")], (500, "0.5"))
)
def test_intervals_hold_what_they_claim_to_hold(n, epsilon):
    """100 studies each, of the population by confidence intervals and of the dataset by privacy intervals."""
    rng, held = np.random.default_rng(4), np.zeros((2, 3))
    for study in range(100):
        exact = people(rng, n)
        found = fit(exact + fast_draws(noise(epsilon), exact.shape, rng), epsilon, f"d{study}")
        for kind, truth in enumerate((TRUE, fit(exact, "1000").coefficients)):
            low, high = found.ends(0.95, ("confidence", "privacy")[kind])
            held[kind] += (low <= truth) & (truth <= high)
    assert (held >= 100 * 0.95 - 4 * math.sqrt(100 * 0.05 * 0.95)).all()
    assert held.min() < 100


def test_any_counts_have_finite_coefficients_and_unbounded_intervals_where_nothing_is_known():
    """Below zero, all of one kind, next to none: never an error, and never an interval that claims too much."""
    rng = np.random.default_rng(5)
    for study, size in enumerate([0, 1, 3, 10, 30] * 6):
        found = fit(rng.normal(0, size + 0.1, SETTING.cells).round(), "0.1", f"d{study}")
        assert np.isfinite(found.coefficients).all()
        assert found.lost
        assert all(np.isinf(end).all() for end in found.ends(0.95, "privacy"))
        assert found.flags[0] in {"no maximum", "information unclear"}


def test_a_term_that_decides_the_response_has_no_maximum():
    counts = np.zeros(SETTING.shape)
    counts[1, 1], counts[0, 0] = 500, 500
    assert fit(counts.ravel()).flags == ("no maximum",)


def test_people_with_several_rows_have_a_privacy_interval_alone():
    unit = PrivacyUnit("add-remove", unit="s", max_rows=3)
    found = fit(
        people(np.random.default_rng(6), 5000), design=Design.of(table("y", "s", "a", unit=unit), "y ~ s + a")
    )
    assert found.sampling is None
    with pytest.raises(Unavailable, match="several rows"):
        found.ends(0.95, "confidence")
    assert np.isfinite(found.ends(0.95, "privacy")[0]).all()


@pytest.mark.parametrize(
    ("keys", "formula", "terms"),
    [
        (("y", "s", "region"), "y ~ s + C(region)", ("Intercept", "s", "region == 's'", "region == 'w'")),
        (("y", "region"), "y ~ C(region) - 1", ("region == 'n'", "region == 's'", "region == 'w'")),
        (("vote", "a"), "(vote == 'yes') ~ a + a**2", ("Intercept", "a", "a**2")),
        (("y", "s", "a"), "y ~ s * a", ("Intercept", "s", "a", "s:a")),
    ],
)
def test_formulas_are_those_of_other_regressions(keys, formula, terms):
    (axis,) = log_odds(table(*keys), formula).axes
    assert axis.keys == terms


@pytest.mark.parametrize(
    ("keys", "formula", "words"),
    [
        (("y", "a"), "y ~ b", "no key 'b'. Its keys: y, a"),
        (("vote", "a"), "vote ~ a", "vote is not a 0/1 column"),
        (("a", "s"), "a ~ s", "a is not a 0/1 column"),
        (("y", "region"), "y ~ region", "write C.region."),
        (("y", "s"), "y ~ s + (s == 0)", "leave one out"),
        (("y", "s"), "y + s", "Write for example"),
    ],
)
def test_what_cannot_be_regressed_is_refused_with_the_words_to_write(keys, formula, words):
    with pytest.raises(OptionError, match=words):
        log_odds(table(*keys), formula)


def test_a_released_table_is_regressed_free_and_a_pending_one_later(small):
    """As a user writes it: one release, any number of regressions, the same numbers whenever they are asked."""
    counts = small.y.crosstab("s", small.a.bin([0, 2, 4, 5]))
    effect = counts.logistic("y ~ s + a")
    dpnb.release([counts], epsilon=1)
    spent = small.budget.spent
    assert effect.terms == ("Intercept", "s", "a")
    assert effect["a"].interval().low < 0.2 < effect["a"].interval().high
    assert (counts.logistic("y ~ s + a").value == effect.value).all()
    assert effect.flags == ()
    assert "Logistic regression of y ~ s + a" in repr(effect)
    assert small.budget.spent == spent
    assert DRAWS == 999


def test_what_is_computed_from_unbounded_coefficients_is_unbounded(small):
    """A difference of two coefficients of which nothing is known is not known either."""
    counts = small.y.crosstab("s", small.a.bin([0, 2, 4, 5]))
    lost = counts.logistic("y ~ s + a")
    gap = lost["s"] - lost["a"]
    dpnb.release([counts], epsilon="0.001")
    assert lost.flags[0] in {"no maximum", "information unclear"}
    for kind in ("privacy", "confidence"):
        assert (np.isinf(gap.interval(kind=kind).low), np.isinf(gap.interval(kind=kind).high)) == (True, True)


def test_a_key_far_from_zero_is_drawn_from():
    """Years from 2000 on: the intercept lies two thousand units away, and its draws do not fail."""
    setting = table("y", "year")
    found = LogisticFit(
        Design.of(setting, "y ~ year"),
        Part("count", np.array([900.0, 800, 700, 100, 200, 300]), (Source("d", 1.0, noise("1")),)),
        DrawGenerator(("d",)),
    )
    drawn = found.result().draws(500, DrawGenerator(("d",)), "confidence")
    assert np.isfinite(drawn).all()
    assert drawn[:, 1].std() == pytest.approx(math.sqrt(found.sampling[1, 1]), rel=0.15)


@pytest.fixture
def small(dpnb_home):
    """Twelve thousand made-up people."""
    rng = np.random.default_rng(8)
    n = 12_000
    s, a = rng.integers(0, 2, n), rng.integers(0, 6, n)
    y = (rng.random(n) < 1 / (1 + np.exp(-(TRUE[0] + TRUE[1] * s + TRUE[2] * a)))).astype(int)
    pandas = pytest.importorskip("pandas")
    yes = {"type": "category", "values": [0, 1]}
    columns = {"y": yes, "s": yes, "a": {"type": "integer", "lower": 0, "upper": 5}}
    facts = {"name": "people", "unit": "row", "adjacency": "add-remove"}
    return dpnb.open(
        pandas.DataFrame({"y": y, "s": s, "a": a}),
        schema={"dataset": facts, "budget": {"epsilon": 3}, "columns": columns},
        quiet=True,
    )
