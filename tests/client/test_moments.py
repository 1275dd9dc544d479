"""Moments and regressions as they are typed: handles, the whole path through the curator, what is free, and their cards."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import dpnb
from dpnb.errors import OptionError, PlanError, SchemaError
from dpnb.trusted.privacy.loss import PrivacyLoss
from tests.curator import small


def test_moments_keep_the_order_in_which_columns_are_named(data):
    """The question, its text and its axes have the user's order; a column counts once; another order is another question."""
    one, two = data.moments("y", "x", "g"), data.moments(data.g, "x", "y", "x")
    assert one.text == 'small.moments("y", "x", "g")'
    assert two.text == 'small.moments("g", "x", "y")'
    assert one.measurement.question.canonical() != two.measurement.question.canonical()
    assert [tuple(axis.keys) for axis in two.axes] == [("1", "g", "x", "y")] * 2
    assert data[data.x > 3].moments(data.x * 2, "g", radius=1).text == (
        'small[small.x > 3].moments(small.x * 2, "g", radius=1)'
    )
    assert data.moments("x", "g").shape == (3, 3)


def test_everything_read_from_moments_has_the_order_of_the_user(session, dpnb_home):
    """At an ε that leaves hardly any noise, three columns in no sorted order agree with numpy entry by entry."""
    data = small.opened(session, dpnb_home, epsilon=10**6)
    order = ("y", "g", "x")
    zz = data.moments(*order)
    dpnb.release([zz], epsilon=10**5)
    raw = small.rows()
    known = ~np.isnan(raw["y"])  # rows in which a column is missing leave
    columns = [raw[name][known] for name in order]
    full = np.stack([np.ones(known.sum()), *columns])
    assert np.allclose(zz.value, full @ full.T, atol=0.5)
    assert np.allclose(zz.covariance().value, np.cov(columns, ddof=0), atol=0.01)
    assert np.allclose(zz.correlation().value, np.corrcoef(columns), atol=0.01)
    for read in (zz.covariance(), zz.correlation()):
        assert read["g", "x"].value == read.value[1, 2]
        table = read.table()
        pairs = [(one, other) for one in order for other in order]
        assert list(zip(table["row"], table["column"], strict=True)) == pairs
        assert list(read.keys) == [order] * 2
    for name, column in zip(order, columns, strict=True):
        assert zz.mean(name).value == pytest.approx(column.mean(), abs=0.01)
        assert zz["1", name].value == pytest.approx(column.sum(), abs=0.5)
    for formula, terms in (("x ~ y + g", ("y", "g")), ("g ~ x + y", ("x", "y"))):
        design = np.stack([np.ones(known.sum()), *(columns[order.index(term)] for term in terms)], axis=1)
        best = np.linalg.lstsq(design, columns[order.index(formula[0])], rcond=None)[0]
        for fit in (zz.ols(formula), data.ols(formula)):
            assert fit.terms == ("Intercept", *terms)
            assert fit.coefficients.leaves()[0].releases[0].id == zz.release.id
            assert np.allclose(fit.coefficients.value, best, atol=0.01)
    assert data.budget.spent == PrivacyLoss.pure(10**5)


def test_a_regression_beside_pending_moments_of_its_columns_is_the_same_question(session, data):
    """In whatever order they were named: the batch pays once; regressions alone share a question too."""
    zz = data.moments("y", "g", "x")
    assert data.ols("g ~ x + y").coefficients.leaves() == (zz.measurement,)
    first, second = data.ols("x ~ g"), data.ols("g ~ x")
    questions = {fit.coefficients.leaves()[0].question.canonical() for fit in (first, second)}
    assert len(questions) == 1


def test_a_regression_is_read_from_moments_that_are_held_and_cover_it(session, data):
    """The narrowest released moments of the same rows answer free; without any, the formula's own columns are asked."""
    wide, narrow = data.moments("x", "g", "y"), data.moments("x", "g")
    dpnb.release([wide, narrow], epsilon=4)
    assert data.ols("x ~ g").coefficients.leaves()[0].releases[0].id == narrow.release.id
    assert data.ols("y ~ g").coefficients.leaves()[0].releases[0].id == wide.release.id
    assert data[data.x > 3].ols("x ~ g").pending
    assert data.ols("x ~ g", radius=1).pending
    del narrow
    gc.collect()
    assert data.ols("x ~ g").coefficients.leaves()[0].releases[0].id == wide.release.id
    assert data.budget.spent == PrivacyLoss.pure(4)


def test_what_a_release_returns_of_a_regression_is_the_regression(session, data):
    """By its name, by its place, and released alone: with statsmodels' names, its table and its summary."""
    fit, mean = data.ols("x ~ g"), data.x.mean()
    done = dpnb.release({"fit": fit, "m": mean}, epsilon=4)
    assert done["fit"] is fit
    assert done[0] is fit
    assert done["m"] is mean
    assert list(done) == ["fit", "m"]
    older, younger = data[data.x > 5], data[data.x <= 5]
    for asked in ([older.ols("x ~ g")], younger.ols("x ~ g")):
        found = dpnb.release(asked, epsilon=2)[0]
        assert "Least squares of x ~ g" in found.summary().as_text()
        for name in ("params", "bse", "tvalues", "pvalues"):
            assert np.shape(getattr(found, name)) == (2,)
        assert 0 <= found.rsquared <= 1
        assert found.conf_int().shape == (2, 2)
        assert list(found.table())[:2]
        np.testing.assert_array_equal(found.value, found.coefficients.value)
        assert found["g"].value == found.value[1]


def test_a_coefficient_beyond_the_draws_of_its_interval_has_bounds_for_p_and_z(session, dpnb_home):
    """One coefficient and all of them together claim no smaller p-value than the draws resolve, and no z of their own."""
    x = np.arange(small.ROWS) % 11.0
    raw = {"x": x, "g": (x > 5).astype(float), "y": np.ones(small.ROWS)}
    data = small.opened(session, dpnb_home, raw, epsilon=10**4)
    fit = data.ols("x ~ g")
    dpnb.release([fit], epsilon=10**3)
    assert fit.t_values[1] > 5
    one, both = fit["g"].test(0), fit.coefficients.test(0)
    assert one.p_value == both.p_value[1] == fit.p_values[1] == 0.002
    assert "p ≤ 0.002   (|z| ≥ 3.09)" in repr(one)
    assert "p ≤ 0.002" in repr(both)
    assert both.bounded.tolist()[1] is True
    assert fit["g"].test(float(fit["g"])).p_value > 0.9


def test_measured_again_the_noise_is_less(session, dpnb_home):
    """A second measurement is combined with the first, entry by entry, and readings follow; no bound of x cuts either interval off."""
    data = small.opened(session, dpnb_home, epsilon=10**3)
    zz = data.moments("x", "g")
    dpnb.release([zz], epsilon=20)
    more = zz.remeasure(epsilon=60)
    assert more.mean("x").interval(0.95, "privacy").width < 0.6 * zz.mean("x").interval(0.95, "privacy").width


def test_what_cannot_be_asked_costs_nothing(session, data):
    """No column, an unknown one, groups, and a formula that is none name their fix before any charge."""
    for ask, error, words in (
        (data.moments, PlanError, "needs columns"),
        (lambda: data.moments("x", "z"), SchemaError, "z"),
        (lambda: data.groupby("g").moments("x", "y"), PlanError, "not asked by groups"),
        (lambda: data.moments("x", "g", radius=0), OptionError, "radius="),
        (lambda: data.moments("x", "g", radius=1 / 3), OptionError, "six decimals"),
        (lambda: data.ols("x"), OptionError, "Write for example"),
        (lambda: data.ols("x ~ z"), SchemaError, "z"),
        (lambda: data.moments("x", "g").ols("x ~ y"), SchemaError, "They hold x, g"),
    ):
        with pytest.raises(error, match=words):
            ask()
    assert not data.budget.spent
