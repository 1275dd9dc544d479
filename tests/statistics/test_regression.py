"""Regressions read from released moments: against statsmodels without noise, coverage with it, and data at their edges."""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpnb
from dpnb.datasets.preparation import prepare
from dpnb.errors import OptionError, PendingError, PlanError, SchemaError, Unavailable
from dpnb.estimate import Estimate, ask
from dpnb.estimate.regression_summary import Regression
from dpnb.planner import Question
from dpnb.planner.expression import Ref
from dpnb.statistics import conclude
from dpnb.statistics.formula import parse
from dpnb.statistics.moment_matrix import Crossed
from dpnb.statistics.regression import DRAWS, Fit, solved
from dpnb.statistics.regression_readings import coefficients, standardized
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from tests.contracts.statistic import priced
from tests.examples import mostly_long
from tests.statistics.coverage import release
from tests.statistics.test_coverage import enough

BETA = np.array([0.5, 1.0, -0.5])


def people(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """Two correlated normal columns and a response of them, moved into bounds that hardly any row leaves."""
    one = rng.normal(size=n)
    two = 0.5 * one + np.sqrt(0.75) * rng.normal(size=n)
    y = BETA[0] + BETA[1] * one + BETA[2] * two + rng.normal(size=n)
    return {name: np.clip(values, -5, 5) for name, values in (("x1", one), ("x2", two), ("y", y))}


def study(n: int | None, measure: str, unit: PrivacyUnit | None = None) -> Schema:
    """Three numbers between -5 and 5; a public number of rows, or none."""
    columns = tuple(Column.number(name, -5, 5, missing=0) for name in ("x1", "x2", "y"))
    unit = unit or (PrivacyUnit("add-remove") if n is None else PrivacyUnit("change-one", rows=n))
    return Schema("d", "Simulated", columns, unit, Budget.from_toml({measure: 10**9}))


def moments(where: Schema, kind: str, amount: Any, radius: Any = None) -> Any:
    """The moments of the three, priced."""
    options = () if radius is None else (("radius", radius),)
    question = Question("d", "moments", Ref("x1"), options=options, others=(Ref("x2"), Ref("y")))
    return priced(question, where, kind=kind, amount=amount)


def estimate(item: Any, raw: dict[str, Any], where: Schema, seed: int = 1) -> Any:
    """Released moments as an analyst holds them."""
    made = release(item, prepare(raw, where), np.random.default_rng(seed))
    found = ask(item.checked.question, item.checked, dataset=None)
    found.args[0].fill((made,), conclude(item.checked, [made]))
    return found


def fitted(
    raw: dict[str, Any], n: int | None, loss: tuple[str, Any], formula: str, **options: Any
) -> Regression:
    """A regression on a simulated release."""
    where = study(n, loss[0])
    found: Regression = estimate(moments(where, *loss, **options), raw, where).ols(formula)
    return found


@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("formula", ["y ~ x1 + x2", "y ~ x2", "x1 ~ y", "y ~ 1", "y ~ x1 - 1"])
def test_without_noise_it_is_the_regression_of_statsmodels(formula: str, public: bool) -> None:
    """Coefficients, standard errors, t, p, R² and the intervals agree when hardly any noise is added."""
    sm = pytest.importorskip("statsmodels.api")
    raw = people(np.random.default_rng(4), 3000)
    fit = fitted(raw, 3000 if public else None, ("rho", 10**7), formula)
    asked = parse(formula)
    constant = [np.ones(3000)] if asked.intercept else []
    design = np.column_stack([*constant, *(raw[term] for term in asked.terms)])
    theirs = sm.OLS(raw[asked.response], design).fit()
    np.testing.assert_allclose(fit.coefficients.value, theirs.params, atol=2e-4)
    np.testing.assert_allclose(fit.standard_errors, theirs.bse, rtol=2e-3)
    np.testing.assert_allclose(fit.p_values, theirs.pvalues, atol=0.05)  # 999 draws, and none below 0.002
    assert fit.r_squared == pytest.approx(theirs.rsquared, abs=1e-4)
    assert fit.residual_sd == pytest.approx(np.sqrt(theirs.scale), rel=1e-3)
    half = np.diff(theirs.conf_int(), axis=1)[:, 0] / 2
    np.testing.assert_allclose(fit.interval().half_width, half, rtol=0.2)
    assert fit.flags == ()


def test_a_coefficient_is_an_estimate() -> None:
    """By its name, with both intervals, in arithmetic, and the same for every way to read it."""
    fit = fitted(people(np.random.default_rng(4), 5000), 5000, ("rho", 1), "y ~ x1 + x2")
    one = fit["x1"]
    assert isinstance(one, Estimate)
    assert one.value == fit.coefficients.value[1]
    assert one.interval().half_width == fit.interval().half_width[1]
    ratio = fit["x2"] / one
    low, high = ratio.interval()
    assert low < BETA[2] / BETA[1] < high
    assert one.loss == fit.coefficients.loss
    assert fit.terms == ("Intercept", "x1", "x2")


def test_a_regression_is_free_and_resolves_with_its_moments() -> None:
    """Before the release it says so and raises what a pending estimate raises; after it costs what the moments cost."""
    where = study(1000, "rho")
    item = moments(where, "rho", 1)
    found: Any = ask(item.checked.question, item.checked, dataset=None)
    fit = found.ols("y ~ x1")
    assert fit.pending
    assert "pending regression y ~ x1" in repr(fit)
    assert "pending" in fit._repr_html_()
    with pytest.raises(PendingError):
        _ = fit.r_squared
    made = release(item, prepare(people(np.random.default_rng(4), 1000), where), np.random.default_rng(1))
    found.args[0].fill((made,), conclude(item.checked, [made]))
    assert not fit.pending
    assert fit.coefficients.loss == found.loss


def test_the_table_says_what_people_look_for() -> None:
    """Each term with its error, t, p and ends; size, fit, cost and assumptions; the same in HTML, escaped."""
    fit = fitted(people(np.random.default_rng(4), 5000), 5000, ("rho", 1), "y ~ x1 + x2")
    text = repr(fit.summary())
    assert text == repr(fit)
    for word in (
        "Intercept",
        "x1",
        "x2",
        "std err",
        "≤ 0.002",
        "n 5,000 (public)",
        "R² ",
        "equal error variances",
        "ρ 1",
    ):
        assert word in text
    page = fit._repr_html_()
    assert page.count("<tr>") == 4
    assert "cov_type=&#x27;HC1&#x27;" in page
    assert "[90 %" in repr(fit.summary(0.9))
    assert "beyond the radius" not in text
    moved = fitted(people(np.random.default_rng(4), 5000), 5000, ("rho", 1), "y ~ x1", radius=1)
    assert "beyond the radius" in repr(moved)


def test_r_squared_has_a_privacy_interval_that_covers() -> None:
    """It holds this dataset's own; of the population nothing is claimed, and where nothing is known it is the whole range."""
    where, rng, held = study(2000, "rho"), np.random.default_rng(6), 0
    item = moments(where, "rho", 1)
    for place in range(60):
        raw = people(rng, 2000)
        design = np.column_stack([np.ones(2000), raw["x1"], raw["x2"]])
        residuals = raw["y"] - design @ np.linalg.lstsq(design, raw["y"], rcond=None)[0]
        found = estimate(item, raw, where, seed=place).r_squared("y ~ x1 + x2")
        low, high = found.interval(0.95, "privacy")
        assert low <= found.value <= high
        held += bool(low <= 1 - residuals.var() / raw["y"].var() <= high)
    assert enough(held, 60)
    with pytest.raises(Unavailable, match="privacy interval alone"):
        found.interval(kind="confidence")
    lost = fitted(people(rng, 100), 100, ("rho", "0.01"), "y ~ x1").coefficients
    item = moments(study(100, "rho"), "rho", "0.01")
    unknown = estimate(item, people(rng, 100), study(100, "rho")).r_squared("y ~ x1")
    assert tuple(unknown.interval(0.95, "privacy")) == (0.0, 1.0) or "singular" not in lost.flags


@pytest.mark.parametrize(
    ("formula", "error", "words"),
    [
        ("y x1", OptionError, "Write for example"),
        (None, OptionError, "Write for example"),
        ("y ~ x1 +", OptionError, "empty"),
        ("y ~ x1 + x1", OptionError, "twice"),
        ("y ~ y", OptionError, "twice"),
        ("y ~ x1 * x2", SchemaError, "'x1:x2' is not in these moments"),
        ("y ~ 1 - 1", OptionError, "something else must explain y"),
        ("y ~ x3", SchemaError, "They hold x1, x2, y"),
        ("yy ~ x1", SchemaError, "Did you mean y"),
    ],
)
def test_a_wrong_formula_is_refused_where_it_is_written(
    formula: Any, error: type[Exception], words: str
) -> None:
    """Before any release, with what to write instead."""
    where = study(1000, "rho")
    item = moments(where, "rho", 1)
    found: Any = ask(item.checked.question, item.checked, dataset=None)
    with pytest.raises(error, match=words):
        found.ols(formula)


def test_a_hypothesis_has_one_p_value_wherever_it_is_read() -> None:
    """Columns, table, tests of one and of all coefficients; within 5 % where the interval leaves out zero; none below what is resolved."""
    fit = fitted(people(np.random.default_rng(4), 5000), 5000, ("epsilon", 1), "y ~ x1 + x2")
    p = fit.coefficients.test(0).p_value
    for other in (
        fit.p_values,
        fit.pvalues,
        fit.table().columns["p"],
        [fit[t].test(0).p_value for t in fit.terms],
    ):
        np.testing.assert_array_equal(other, p)
    low, high = fit.interval()
    np.testing.assert_array_equal(p < 0.05, (low > 0) | (high < 0))
    assert p.min() == fit.coefficients.test(0).to_dict()["smallest_p_value"] == 0.002
    assert " 0.0 " not in repr(fit)


def test_noise_that_could_make_the_matrix_singular_gives_unbounded_intervals() -> None:
    """A flag, a finite estimate, and no claim: neither interval excludes anything."""
    fit = fitted(people(np.random.default_rng(4), 100), 100, ("rho", "0.01"), "y ~ x1 + x2")
    assert "singular" in fit.flags
    assert np.isfinite(fit.coefficients.value).all()
    for kind in ("privacy", "confidence"):
        both = fit.interval(0.95, kind)
        assert np.isinf(both.low).all()
        assert np.isinf(both.high).all()
    assert (fit.p_values == 1).all()
    assert "singular" in repr(fit)


EDGES: dict[str, dict[str, Any]] = {
    "no row": {"x1": [], "x2": [], "y": []},
    "one row": {"x1": [1.0], "x2": [2.0], "y": [0.5]},
    "two rows": {"x1": [1.0, -1.0], "x2": [2.0, 0.0], "y": [0.5, 4.0]},
    "constant": {"x1": [1.0] * 200, "x2": [2.0] * 200, "y": [0.5] * 200},
    "collinear": {"x1": [-1.0, 1.0] * 200, "x2": [-2.0, 2.0] * 200, "y": [0.5, 3.0] * 200},
    "all missing": {"x1": [np.nan] * 9, "x2": [np.nan] * 9, "y": [np.nan] * 9},
}


@pytest.mark.parametrize("radius", [None, Fraction(1, 2)])
@pytest.mark.parametrize("loss", [("epsilon", 1), ("rho", 1), ("rho", 10**6)])
@pytest.mark.parametrize("edge", EDGES)
def test_no_data_break_the_shape(edge: str, loss: tuple[str, Any], radius: Any) -> None:
    """Few, constant, collinear or missing rows: finite estimates of the same shape, flagged, and no numpy warning."""
    raw = {name: np.array(values, dtype=float) for name, values in EDGES[edge].items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for public in (False, True):
            n = max(len(raw["y"]), 1) if public else None
            if public and not len(raw["y"]):
                continue
            fit = fitted(raw, n, loss, "y ~ x1 + x2", radius=radius)
            assert np.shape(fit.coefficients.value) == (3,)
            assert np.isfinite(fit.coefficients.value).all()
            for kind in ("privacy", "confidence"):
                low, high = fit.interval(0.95, kind)
                assert (low <= fit.coefficients.value).all()
                assert (fit.coefficients.value <= high).all()
            assert {"singular", "too few rows", "arm too small"} & set(fit.flags)
            assert 0 <= fit.r_squared <= 1
            assert repr(fit)
            assert np.isfinite(fit.coefficients.outcome.draws(20, _rng(), "privacy")).all()


def _rng() -> Any:
    from dpnb.inference.draw_generator import DrawGenerator

    return DrawGenerator(("a",))


def test_people_with_several_rows_have_no_standard_errors() -> None:
    """Privacy intervals stay; what rests on independent rows is refused in words, in the table too."""
    unit = PrivacyUnit("add-remove", unit="who", max_rows=2)
    where = study(None, "rho", unit)
    item = moments(where, "rho", 10)
    fit = estimate(item, people(np.random.default_rng(4), 4000), study(None, "rho")).ols("y ~ x1")
    assert fit.standard_errors is fit.t_values is fit.p_values is None
    for name in ("bse", "tvalues", "pvalues"):
        with pytest.raises(Unavailable, match="several rows"):
            getattr(fit, name)
    assert np.isfinite(fit.interval(0.95, "privacy").width).all()
    with pytest.raises(Unavailable, match="several rows"):
        fit.interval()
    assert "several rows" in repr(fit)


@pytest.mark.parametrize("n", [None, 400])
def test_the_noise_of_the_residual_is_what_its_draws_have(n: int | None) -> None:
    """Also where the squares of 0/1 columns are the released number of rows: then their noise is one draw, not three."""
    columns = tuple(Column.integer(name, 0, 1, missing=0) for name in ("x1", "x2", "y"))
    unit = PrivacyUnit("add-remove") if n is None else PrivacyUnit("change-one", rows=n)
    where = Schema("d", "Simulated", columns, unit, Budget.from_toml({"epsilon": 10**9}))
    rng = np.random.default_rng(8)
    raw = {name: rng.integers(0, 2, 400) for name in ("x1", "x2")}
    raw["y"] = raw["x1"] | raw["x2"]
    item = moments(where, "epsilon", 1)
    made = release(item, prepare(raw, where), rng)
    fit = Fit(Crossed.of(item.checked.setting, [made]), parse("y ~ x1 + x2"))
    weight = np.zeros(4)
    y, x = fit._places
    weight[x], weight[y] = -fit._beta, 1.0
    draws = fit.crossed.noise(20_000, fit.crossed.generator())
    assert fit._residual[1] == pytest.approx(float(np.std(weight @ draws @ weight)), rel=0.04)


def test_a_batch_with_a_singular_system_is_solved() -> None:
    """One exactly singular matrix among many gives a large solution, and leaves the others as they are."""
    systems = np.stack([np.eye(2), np.zeros((2, 2))])
    found = solved(systems, np.ones((2, 2)))
    np.testing.assert_allclose(found[0], 1.0, rtol=1e-6)
    assert np.isfinite(found[0]).all()


def test_moments_of_columns_that_are_not_there_cannot_be_asked() -> None:
    """The schema's own error names the nearest column."""
    with pytest.raises((SchemaError, PlanError)):
        priced(Question("d", "moments", Ref("x9")), study(10, "rho"), kind="rho")


# coverage -------------------------------------------------------------------------------------------------------


def slopes(raw: dict[str, np.ndarray], *, intercept: bool = True) -> np.ndarray:
    """The least squares coefficients of some rows."""
    one = [np.ones(raw["y"].size)] if intercept else []
    design = np.column_stack([*one, raw["x1"], raw["x2"]])
    return np.asarray(np.linalg.lstsq(design, raw["y"], rcond=None)[0])


def shifted(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """A column far from the middle of its bounds, and a response through the origin."""
    one = np.clip(rng.normal(2.5, 0.8, n), -5, 5)
    two = np.clip(rng.normal(-1, 1.2, n), -5, 5)
    return {"x1": one, "x2": two, "y": np.clip(one + 0.5 * two + rng.normal(0, 0.5, n), -5, 5)}


SHIFTED = np.array([1.0, 0.5])


def standard(raw: dict[str, np.ndarray]) -> np.ndarray:
    """The standardised slopes of some rows."""
    scaled = {name: (values - values.mean()) / values.std() for name, values in raw.items()}
    design = np.column_stack([scaled["x1"], scaled["x2"]])
    return np.asarray(np.linalg.lstsq(design, scaled["y"], rcond=None)[0])


STANDARD = BETA[1:] / np.sqrt(BETA[1] ** 2 + BETA[2] ** 2 + BETA[1] * BETA[2] + 1)
"""Of the population: two columns of correlation ½ and deviation one."""


def test_standardised_coefficients_are_those_of_standardised_columns() -> None:
    """Without noise, by name, in the regression and read from the moments; not without an intercept."""
    raw = people(np.random.default_rng(4), 3000)
    fit = fitted(raw, 3000, ("rho", 10**7), "y ~ x1 + x2")
    np.testing.assert_allclose(fit.standardized().value, standard(raw), atol=2e-3)
    assert fit.standardized().keys == ("x1", "x2")
    assert fit.standardized()["x1"].value == fit.standardized().value[0]
    with pytest.raises(OptionError, match="leave out the - 1"):
        fitted(raw, 3000, ("rho", 10**7), "y ~ x1 - 1").standardized()


TRUE_BOUNDS = {"x1": (0, 1.2), "x2": (-0.6, 0)}
KINDS: dict[str, tuple[Any, ...]] = {
    "coefficients": (lambda s: coefficients(s, "y ~ x1 + x2"), people, slopes, BETA),
    "without an intercept": (
        lambda s: coefficients(s, "y ~ x1 + x2 - 1"),
        shifted,
        lambda raw: slopes(raw, intercept=False),
        SHIFTED,
    ),
    "standardised": (lambda s: standardized(s, "y ~ x1 + x2"), people, standard, STANDARD),
    "under bounds": (
        lambda s: coefficients(s, "y ~ x1 + x2", bounds=TRUE_BOUNDS),
        people,
        lambda raw: np.clip(slopes(raw), [-9, 0, -0.6], [9, 1.2, 0]),
        BETA,
    ),
}
"""What is read of three columns, how rows are drawn, and what it is of these rows and of the population."""


def hits(
    kind: str, n: int, public: bool, loss: tuple[str, Any], reps: int, radius: Any = None
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """How often both intervals of each coefficient held what they are about, and how often each was bounded."""
    reading, draw, exact, population = KINDS[kind]
    where, rng = study(n if public else None, loss[0]), np.random.default_rng(1)
    item = moments(where, *loss, radius)
    read = reading(item.checked.setting)
    held = {name: np.zeros(population.size, int) for name in ("privacy", "confidence")}
    bounded = np.zeros(population.size, int)
    for place in range(reps):
        raw = draw(rng, n)
        found = read.conclude([replace(release(item, prepare(raw, where), rng), id=f"1.{place}")])
        for name, truth in (("privacy", exact(raw)), ("confidence", population)):
            both = found.interval(0.95, name)
            held[name] += (both.low <= truth) & (truth <= both.high)
        bounded += np.isfinite(both.half_width)
    return held, bounded


CASES = [
    ("coefficients", 1000, True, ("rho", "0.5")),
    ("coefficients", 5000, True, ("rho", "0.1")),
    ("coefficients", 1000, False, ("rho", "0.5")),
    ("coefficients", 3000, True, ("epsilon", 3)),
    ("coefficients", 60, False, ("rho", 5)),
    ("without an intercept", 1000, True, ("rho", "0.5")),
    ("without an intercept", 3000, True, ("epsilon", 3)),
    ("without an intercept", 1000, False, ("rho", "0.5")),
    ("without an intercept", 300, True, ("rho", "0.05")),
    ("standardised", 1000, True, ("rho", "0.5")),
    ("standardised", 3000, True, ("epsilon", 3)),
    ("standardised", 400, True, ("rho", 1)),
    ("under bounds", 300, True, ("rho", "0.05")),
    ("under bounds", 1000, True, ("rho", "0.5")),
    ("under bounds", 1000, True, ("epsilon", 1)),
]


@pytest.mark.parametrize(("reps", "level"), mostly_long([(60, 0.95), (1000, 0.94)], (60, 0.95)))
@pytest.mark.parametrize(("kind", "n", "public", "loss"), CASES)
def test_intervals_cover(
    kind: str, n: int, public: bool, loss: tuple[str, Any], reps: int, level: float
) -> None:
    """Neither misses more often than a binomial law allows, in many studies less one point; what has bounds is bounded, where most fits are lost too."""
    held, bounded = hits(kind, n, public, loss, reps)
    assert all(enough(count, reps, level) for counts in held.values() for count in counts), held
    if kind == "under bounds":
        assert (bounded[1:] == reps).all()
    elif kind == "without an intercept" and n >= 1000:
        assert bounded.min() >= 0.95 * reps


def test_a_ball_with_few_rows_outside_gives_shorter_intervals_that_cover() -> None:
    """Moving few rows into a ball of 0.8 halves the intervals at this noise, and they still hold the population."""
    held, _ = hits("coefficients", 1000, True, ("rho", "0.5"), 60, Fraction(4, 5))
    assert all(enough(count, 60) for counts in held.values() for count in counts), held
    where = study(1000, "rho")
    raw = people(np.random.default_rng(4), 1000)
    widths = [
        estimate(moments(where, "rho", 2, radius), raw, where)
        .ols("y ~ x1")
        .interval(0.95, "privacy")
        .half_width
        for radius in (None, Fraction(4, 5))
    ]
    assert (widths[1] < 0.6 * widths[0]).all()


def test_the_bootstrap_notices_a_wrong_noise() -> None:
    """With the noise left out of its draws the confidence interval misses far too often: the check has power."""
    where = study(1000, "rho")
    item = moments(where, "rho", "0.5")
    rng, held = np.random.default_rng(3), np.zeros(3, int)
    for _ in range(60):
        made = release(item, prepare(people(rng, 1000), where), rng)
        fit = coefficients(item.checked.setting, "y ~ x1 + x2").conclude([made]).fit
        assert isinstance(fit, Fit)
        half = 1.96 * np.sqrt(np.diagonal(fit.sampling))
        held += np.abs(fit.coefficients - BETA) <= half
    assert not all(enough(count, 60) for count in held)
    assert DRAWS >= 400


def rejected(n: int, loss: tuple[str, Any], reps: int, slope: float) -> int:
    """How often a coefficient is called different from zero at 5 %, when it is this."""
    where, rng, found = study(n, loss[0]), np.random.default_rng(8), 0
    item = moments(where, *loss)
    for place in range(reps):
        one, two, error = rng.normal(size=(3, n))
        raw = {"x1": one, "x2": two, "y": one + slope * two + error}
        raw = {name: np.clip(values, -5, 5) for name, values in raw.items()}
        found += bool(estimate(item, raw, where, seed=place).ols("y ~ x1 + x2").p_values[2] < 0.05)
    return found


@pytest.mark.parametrize(("n", "loss"), [(2000, ("rho", "0.5")), (4000, ("epsilon", 3))])
def test_the_level_of_the_t_test_is_its_own(n: int, loss: tuple[str, Any]) -> None:
    """A coefficient of zero is rejected at 5 % no more often than a binomial law allows, and one of 0.4 nearly always."""
    assert enough(60 - rejected(n, loss, 60, 0.0), 60)
    assert rejected(n, loss, 20, 0.4) >= 16


def wide_study() -> tuple[Schema, dict[str, np.ndarray]]:
    """Ten correlated normal columns between four standard deviations, as in D'Orazio, Honaker and King's simulation."""
    columns = tuple(Column.number(f"c{i}", -4, 4, missing=0) for i in range(10))
    where = Schema(
        "d", "Simulated", columns, PrivacyUnit("change-one", rows=50_000), Budget.from_toml({"rho": 10})
    )
    rng = np.random.default_rng(12)
    common = rng.normal(size=(50_000, 1))
    table = 0.5 * common + np.sqrt(0.75) * rng.normal(size=(50_000, 10))
    return where, {f"c{i}": np.clip(table[:, i], -4, 4) for i in range(10)}


def test_clipping_rows_gains_what_the_theory_says() -> None:
    """At little loss, rows in a ball of 1.07 half ranges give slopes whose mean squared error is below a tenth of the box's."""
    where, raw = wide_study()
    exact = np.linalg.lstsq(
        np.column_stack([np.ones(50_000), *(raw[f"c{i}"] for i in range(1, 10))]), raw["c0"], rcond=None
    )[0]
    table = prepare(raw, where)
    errors = []
    for radius in (None, Fraction(107, 100)):
        options = () if radius is None else (("radius", radius),)
        others = tuple(Ref(f"c{i}") for i in range(1, 10))
        question = Question("d", "moments", Ref("c0"), options=options, others=others)
        item = priced(question, where, kind="rho", amount="0.005")
        read = coefficients(item.checked.setting, "c0 ~ " + " + ".join(f"c{i}" for i in range(1, 10)))
        found = [
            read.conclude([release(item, table, np.random.default_rng(seed))]).value for seed in range(5)
        ]
        errors.append(np.mean((np.array(found) - exact)[:, 1:] ** 2))
    assert errors[1] < 0.1 * errors[0], errors


# ---------------------------------------------------------------- bounds that somebody declares


def test_a_finite_interval_of_a_lost_regression_rests_on_declared_bounds_and_names_them() -> None:
    """Without them it is unbounded; with them it is the range of the terms that have one."""
    raw = people(np.random.default_rng(4), 100)
    where = study(100, "rho")
    found = estimate(moments(where, "rho", "0.01"), raw, where)
    free, held = found.ols("y ~ x1 + x2"), found.ols("y ~ x1 + x2", bounds={"x1": (0, 3)})
    assert "singular" in free.flags
    assert np.isinf(free.interval().low).all()
    low, high = held.interval()
    assert low.tolist() == [-np.inf, 0, -np.inf]
    assert high.tolist() == [np.inf, 3, np.inf]
    assert 0 <= held["x1"].value <= 3
    assert tuple(held["x1"].interval(0.95, "privacy")) == (0, 3)
    assert "Declared, not estimated: x1 from 0 to 3." in repr(held.summary())
    assert "Declared" in held.interval().note
    assert "Declared" not in repr(free.summary())
    assert 'bounds={"x1": (0, 3)}' in held.coefficients.text
    twice = 2 * held["x1"] + 1
    assert np.all(np.array(twice.interval(0.95, "privacy")) >= [1 - 1e-9, 1])


def test_declared_bounds_change_nothing_far_from_them() -> None:
    """Where the data say more than the range, and the spelling of the term is another."""
    raw = people(np.random.default_rng(4), 3000)
    where = study(3000, "rho")
    found = estimate(moments(where, "rho", 10), raw, where)
    free, held = found.ols("y ~ x1 + x2"), found.ols("y ~ x1 + x2", bounds={" x1 ": (-4, 4)})
    np.testing.assert_array_equal(free.coefficients.value, held.coefficients.value)
    np.testing.assert_array_equal(np.array(tuple(free.interval())), np.array(tuple(held.interval())))


# ---------------------------------------------------------------- priors that somebody declares


def test_a_finite_interval_of_a_lost_regression_rests_on_a_declared_prior_and_names_it() -> None:
    """Where nothing is known of a coefficient it is the middle 97.5 % of its prior; a coefficient without one stays unbounded."""
    raw = people(np.random.default_rng(4), 100)
    where = study(100, "rho")
    found = estimate(moments(where, "rho", "0.01"), raw, where)
    held = found.ols("y ~ x1 + x2", prior={" x1 ": (1, 0.5)})
    low, high = held.interval()
    assert np.isinf(low[[0, 2]]).all()
    assert (low[1], high[1]) == pytest.approx((1 - 2.2414 * 0.5, 1 + 2.2414 * 0.5), abs=1e-3)
    assert low[1] <= held["x1"].value <= high[1]
    said = "Declared, not estimated: x1 normal about 1 with standard deviation 0.5."
    assert said in " ".join(repr(held.summary()).split())
    assert said in held.interval().note
    assert 'prior={"x1": (1, 0.5)}' in held.coefficients.text
    both = found.ols("y ~ x1 + x2", prior={"x1": (1, 0.5)}, bounds={"x1": (0.5, 9)})
    assert both["x1"].interval().low == 0.5


def test_a_wide_prior_costs_half_of_the_error_and_other_coefficients_nothing() -> None:
    """Where the data say far more than the prior the interval is that of the data at 97.5 %."""
    raw = people(np.random.default_rng(4), 3000)
    where = study(3000, "rho")
    found = estimate(moments(where, "rho", 10), raw, where)
    free, held = found.ols("y ~ x1 + x2"), found.ols("y ~ x1 + x2", prior={"x1": (0, 1000)})
    np.testing.assert_array_equal(free.coefficients.value, held.coefficients.value)
    for kind in ("privacy", "confidence"):
        plain, wide, mine = (
            np.array(tuple(one.coefficients.interval(level, kind)))
            for one, level in ((free, 0.95), (free, 0.975), (held, 0.95))
        )
        np.testing.assert_array_equal(mine[:, 1], wide[:, 1])
        np.testing.assert_array_equal(mine[:, [0, 2]], plain[:, [0, 2]])


@pytest.mark.parametrize(
    ("option", "declared", "words"),
    [
        ("bounds", {"x3": (0, 1)}, "names x3"),
        ("bounds", {"x1": (1, 0)}, "from a smaller number"),
        ("bounds", {"x1": 3}, "a pair of numbers"),
        ("bounds", {"x1": (0, 1, 2)}, "a pair of numbers"),
        ("bounds", [("x1", (0, 1))], "a range for each coefficient"),
        ("prior", {"x3": (0, 1)}, "names x3"),
        ("prior", {"x1": (1, 0)}, "a standard deviation above 0"),
        ("prior", {"x1": (float("nan"), 1)}, "a finite mean"),
        ("prior", {"x1": 3}, "a pair of numbers"),
        ("prior", [("x1", (0, 1))], "a mean and a standard deviation for each"),
    ],
)
def test_what_is_no_range_or_prior_of_a_coefficient_is_refused(
    option: str, declared: Any, words: str
) -> None:
    """Where it is written."""
    item = moments(study(100, "rho"), "rho", 1)
    with pytest.raises(OptionError, match=words):
        ask(item.checked.question, item.checked, dataset=None).ols("y ~ x1 + x2", **{option: declared})


@pytest.mark.parametrize(("n", "loss"), [(300, ("rho", "0.05")), (1000, ("rho", "0.5"))])
def test_intervals_under_true_priors_are_finite_and_cover(n: int, loss: tuple[str, Any]) -> None:
    """Slopes drawn from their prior, study by study: lost regressions and clear ones hold what they say."""
    where, rng, reps = study(n, loss[0]), np.random.default_rng(8), 100
    item = moments(where, *loss)
    read = coefficients(
        item.checked.setting, "y ~ x1 + x2", prior={"x1": (BETA[1], 0.2), "x2": (BETA[2], 0.1)}
    )
    held = np.zeros(2, int)
    for place in range(reps):
        truth = np.array(BETA[1:]) + rng.standard_normal(2) * [0.2, 0.1]
        raw = people(rng, n)
        raw["y"] = raw["y"] + (truth[0] - BETA[1]) * raw["x1"] + (truth[1] - BETA[2]) * raw["x2"]
        found = read.conclude([replace(release(item, prepare(raw, where), rng), id=f"p.{place}")])
        both = found.interval(0.95, "confidence")
        held += (both.low[1:] <= truth) & (truth <= both.high[1:])
        assert np.isfinite(both.half_width[1:]).all()
    assert all(enough(int(one), reps) for one in held)


@pytest.mark.parametrize("name", ["people", "our-people"])
def test_a_summary_names_columns_and_not_the_dataset(name):
    """The variable that holds the dataset need not have its name: `pay.ols(…)` is read from columns."""
    rng = np.random.default_rng(4)
    table = {"x": rng.integers(0, 101, 500), "y": rng.integers(0, 101, 500)}
    columns = tuple(Column.integer(name, 0, 100, missing=0) for name in table)
    where = Schema(
        name, "People", columns, PrivacyUnit("change-one", rows=500), Budget.from_toml({"epsilon": 100})
    )
    fit = dpnb.open(table, schema=where, quiet=True).ols("y ~ x + x**2")
    dpnb.release({"fit": fit}, epsilon=20)
    text = str(fit.summary())
    assert "computed from sums of products of x, y, (x * x) (ε 20)" in text
    assert "people" not in text
