"""What every fit says beside its coefficients: Wald's test, marginal effects, predictions, one law for t, p and interval."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dpnb
from dpnb.errors import OptionError
from dpnb.inference.wald import wald
from dpnb.statistics.hypotheses import constraints
from tests.examples import mostly_long
from tests.statistics.test_regression import estimate, fitted, moments, people, study

TERMS = ("Intercept", "x1", "x2", "age ** 2", "sex == 1")
SIZES, LOSSES = (200, 2_000, 20_000), ("0.1", 1, 5)


@pytest.mark.parametrize(
    ("text", "matrix", "right"),
    [
        ("x1 = x2 = 0", [[0, 1, -1, 0, 0], [0, 0, 1, 0, 0]], [0, 0]),
        ("x1 = x2", [[0, 1, -1, 0, 0]], [0]),
        ("x1 + 2*x2 = 1, age**2 = 0", [[0, 1, 2, 0, 0], [0, 0, 0, 1, 0]], [1, 0]),
        ("-x1 - 3 = 2*x2 - 1", [[0, -1, -2, 0, 0]], [2]),
        ("sex == 1 = 0.5", [[0, 0, 0, 0, 1]], [0.5]),
        ("(sex == 1) = 0", [[0, 0, 0, 0, 1]], [0]),
        ("x1 = 0, 2*x1 = 0", [[0, 1, 0, 0, 0]], [0]),
    ],
)
def test_hypotheses_are_read_as_statsmodels_writes_them(text: str, matrix: Any, right: Any) -> None:
    """Sums, multiples, chains and commas; a term in any spelling; what follows from another counts once."""
    found = constraints(text, TERMS)
    np.testing.assert_allclose(found[0], matrix)
    np.testing.assert_allclose(found[1], right)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x1", "no equation"),
        ("x3 = 0", "'x3' is no coefficient: Intercept, x1"),
        ("x1 = 0, x1 = 1", "contradict"),
        ("x1 = x1", "says nothing"),
        ("x1 = ", "is empty"),
        (3, "is a text"),
    ],
)
def test_what_is_no_hypothesis_says_so(text: Any, words: str) -> None:
    """With what to write."""
    with pytest.raises(OptionError, match=words):
        constraints(text, TERMS)


@pytest.mark.parametrize("hypothesis", ["x1 = 1, x2 = -0.5", "x1 + x2 = 0.53", "x1 = 1.02, x2 = -0.52"])
def test_without_noise_it_is_the_f_test_of_statsmodels(
    hypothesis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With hardly any noise and few rows, p is that of the F test; 19,999 draws tell it to .0035, of which four are allowed."""
    sm = pytest.importorskip("statsmodels.api")
    monkeypatch.setattr("dpnb.statistics.regression.DRAWS", 19_999)
    raw = people(np.random.default_rng(4), 30)
    test = fitted(raw, 30, ("rho", 10**7), "y ~ x1 + x2").test(hypothesis)
    names = ["const", "x1", "x2"]
    design = np.column_stack([np.ones(30), raw["x1"], raw["x2"]])
    known = sm.OLS(raw["y"], design, hasconst=True).fit()
    known.model.data.xnames = names
    assert test.p_value == pytest.approx(float(known.f_test(hypothesis).pvalue), abs=0.014)
    assert test.df == len(constraints(hypothesis, names)[1])


def test_of_one_coefficient_it_is_its_own_test() -> None:
    """One law: Wald's p-value of one coefficient is that of its interval."""
    fit = fitted(people(np.random.default_rng(5), 20_000), None, ("epsilon", 1), "y ~ x1 + x2")
    for null in (0.9, 0.95, 1.0, 1.1):
        assert fit.test(f"x1 = {null}").p_value == pytest.approx(fit["x1"].test(null).p_value, abs=0.03)


def null_p_values(n: int, epsilon: Any, reps: int) -> np.ndarray:
    """p-values of "nothing but the intercept counts" where that is true."""
    where, rng, found = study(None, "epsilon"), np.random.default_rng(8), []
    item = moments(where, "epsilon", epsilon)
    for place in range(reps):
        raw = dict(zip(("x1", "x2", "y"), np.clip(rng.normal(size=(3, n)), -5, 5), strict=True))
        found.append(estimate(item, raw, where, seed=place).ols("y ~ x1 + x2").test().p_value)
    return np.array(found)


@pytest.mark.parametrize(
    ("n", "epsilon"),
    mostly_long([(n, e) for n in SIZES for e in LOSSES], (200, 5), (2_000, 5)),
)
def test_a_true_joint_null_is_rejected_as_seldom_as_stated(n: int, epsilon: Any) -> None:
    """At 5 % at most the level and two standard errors, whatever the size and the loss; where nothing is known never."""
    reps = 100
    p = null_p_values(n, epsilon, reps)
    assert (p <= 0.05).mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / reps)
    assert ((p > 0) & (p <= 1)).all()


def test_a_false_joint_null_is_rejected() -> None:
    """Slopes of 1 and -.5 are found in 2,000 people at ε 5."""
    fit = fitted(people(np.random.default_rng(1), 2_000), None, ("epsilon", 5), "y ~ x1 + x2")
    assert fit.test().p_value == 0.002
    assert fit.test().bounded
    assert "p ≤ 0.002" in repr(fit.test())
    assert fit.test(kind="privacy").rejects()


def test_t_p_and_interval_say_one_thing() -> None:
    """Where noise has long tails, |t| above 1.96, p below .05 and an interval without 0 go together; two standard errors do not."""
    apart, plain_apart, n = 0, 0, 2_000
    for seed in range(25):
        one, two, error = np.random.default_rng(seed).normal(size=(3, n))
        raw = {"x1": one, "x2": two, "y": 0.12 * one + 0.1 * two + error}
        raw = {name: np.clip(values, -5, 5) for name, values in raw.items()}
        fit = fitted(raw, None, ("epsilon", 5), "y ~ x1 + x2")
        low, high = fit.interval(0.95)
        out = (low > 0) | (high < 0)
        plain = np.abs(fit.coefficients.value / fit.standard_errors) > 1.96
        apart += int((out != (np.abs(fit.t_values) > 1.96)).sum() + (out != (fit.p_values < 0.05)).sum())
        plain_apart += int((out != plain).sum())
    assert apart == 0
    assert plain_apart > 5


def test_what_nothing_bounds_rejects_nothing() -> None:
    """One row, no row, a constant column, all missing: p is 1, in words, never an error."""
    for raw in (
        {"x1": [], "x2": [], "y": []},
        {"x1": [1.0], "x2": [0.0], "y": [2.0]},
        {"x1": [1.0] * 50, "x2": [0.0] * 50, "y": [2.0] * 50},
        {"x1": [np.nan] * 50, "x2": [np.nan] * 50, "y": [np.nan] * 50},
    ):
        fit = fitted({name: np.array(one) for name, one in raw.items()}, None, ("epsilon", 1), "y ~ x1 + x2")
        assert fit.test().p_value == 1.0
        assert "Nothing bounds the coefficients" in fit.test().basis


def test_far_draws_do_not_decide_the_statistic() -> None:
    """A draw a million spreads out leaves p where it was; equal draws of no spread are no error."""
    rng = np.random.default_rng(1)
    errors = rng.normal(size=(999, 2))
    gaps = np.array([2.0, 1.0])
    far = errors.copy()
    far[0] = 1e6
    assert wald(gaps, far)[1] == pytest.approx(wald(gaps, errors)[1], abs=0.01)
    assert wald(np.zeros(2), np.zeros((99, 2)))[1] == 1.0


def test_marginal_effects_are_derivatives_of_predictions() -> None:
    """Of a column that enters alone it is the coefficient itself, with its intervals; a column that does not enter has none."""
    where = study(None, "epsilon")
    raw = people(np.random.default_rng(2), 5_000)
    zz = estimate(moments(where, "epsilon", 50), raw, where)
    fit = zz.ols("y ~ x1 + x2")
    assert float(fit.marginal_effect("x1")) == pytest.approx(float(fit["x1"]))
    assert fit.marginal_effect("x1").interval(0.95).low == pytest.approx(fit["x1"].interval(0.95).low)
    with pytest.raises(OptionError, match="is not in"):
        fit.marginal_effect("age")


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Fits of the built-in made-up people, in a home of their own."""
    patch = pytest.MonkeyPatch()
    patch.setenv("DPNB_HOME", str(tmp_path_factory.mktemp("home")))
    people = dpnb.open("census", mode="guard-rail", quiet=True)
    fit = people.ols("income ~ age + age**2 + sex*age")
    table = people.crosstab("sex", people.age.bin([0, 20, 40, 60, 80, 100]))
    dpnb.release({"fit": fit, "table": table}, epsilon=2)
    yield people, fit, table
    dpnb.client.api.close()
    patch.undo()


def test_effects_of_squares_and_products_follow_the_formula(census: Any) -> None:
    """Twice the value times the square's coefficient, and the product's coefficient times the other column."""
    _, fit, _ = census
    found = fit.marginal_effect("age", age=[20, 50], sex=1)
    wanted = [float(fit["age"] + 2 * age * fit["age**2"] + fit["sex:age"]) for age in (20, 50)]
    np.testing.assert_allclose(found.value, wanted, rtol=1e-6)
    with pytest.raises(OptionError, match="needs a value of age"):
        fit.marginal_effect("age", sex=1)


def test_a_logistic_regression_has_what_every_fit_has(census: Any) -> None:
    """Summary, test, probabilities between 0 and 1 with intervals, effects, picture and files; words for what it has not."""
    _, _, table = census
    fit = table.logistic("(sex == 1) ~ age")
    chance = fit.predict(age=[20, 60])
    odds = float(fit["Intercept"]) + 60 * float(fit["age"])
    assert float(chance[1]) == pytest.approx(1 / (1 + np.exp(-odds)))
    low, high = chance.interval(0.95)
    assert ((low > 0) & (high < 1) & (low < chance.value) & (chance.value < high)).all()
    p = float(chance[0])
    assert float(fit.marginal_effect("age", age=20)) == pytest.approx(p * (1 - p) * float(fit["age"]))
    assert fit.test("age = 0").p_value == pytest.approx(fit.p_values[1], rel=1e-3)
    assert repr(fit).startswith("Logistic regression of (sex == 1) ~ age\nn ")
    assert fit.summary().as_latex().startswith("% Logistic regression")
    assert '"formula"' in fit.to_json()
    assert fit.plot().figure is not None
    for call in (lambda: fit.r_squared, fit.standardized):
        with pytest.raises(OptionError, match=r"least squares|no R²"):
            call()


def test_options_that_moments_do_not_allow_say_what_to_ask(census: Any) -> None:
    """Weights, HC3 and clusters; a ridge is a prior and says so."""
    people, _, _ = census
    for options, words in (
        ({"weights": "hours"}, "weighted means by group"),
        ({"cov_type": "HC3"}, 'cov_type="HC1"'),
        ({"cov_type": "cluster"}, r"per_unit\(1\)"),
        ({"ridge": -1}, "standard deviation of a normal law"),
    ):
        with pytest.raises(OptionError, match=words):
            people.ols("income ~ age", **options)
    ridge = people.ols("income ~ age", ridge=900)
    same = people.ols("income ~ age", prior={"age": (0, 900)})
    assert ridge.coefficients.text == same.coefficients.text
    assert "Declared, not estimated: age normal about 0" in repr(ridge)


def test_a_jump_has_no_slope(census: Any) -> None:
    """A column that enters by a condition is a difference of two predictions."""
    people, _, _ = census
    fit = people.ols("income ~ C(education)")
    with pytest.raises(OptionError, match="difference of two predictions"):
        fit.marginal_effect("education", education=2)
