"""A regression is forecast before it is bought: the ± of its coefficients, and how often nothing would bound them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpnb
from dpnb.cards.plan import plan_card
from dpnb.datasets.preparation import prepare
from dpnb.errors import OptionError, PlanError
from dpnb.inference.digits import rounded
from dpnb.planner.expression import Ref
from dpnb.planner.matrix_forecast import Columns, forecast
from dpnb.planner.question import Question
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.query.plan import Share
from dpnb.trusted.schema import Column, Schema
from tests.contracts.statistic import priced
from tests.statistics.coverage import release

NAMES, ROWS, TIE = "yabcd", 2000, 0.3
TYPICAL = Columns((0.0,) * 5, (1 / 3,) * 5, TIE)


def study(measure: str = "epsilon") -> Schema:
    """Five numbers, the number of rows private."""
    columns = tuple(Column.number(name, 0, 100, step=Fraction(1, 10)) for name in NAMES)
    return Schema("s", "S", columns, PrivacyUnit("add-remove"), Budget.from_toml({measure: 1000}))


def asked(measure: str, amount: str) -> Any:
    """Moments of all five, priced."""
    question = Question("s", "moments", Ref("y"), others=tuple(map(Ref, NAMES[1:])))
    return priced(question, study(measure), kind=measure, amount=amount)


def read_of(item: Any) -> Any:
    """The regression on all of them."""
    return item.checked.readings["coefficients"](item.checked.setting, "y ~ a + b + c + d")


def simulated(measure: str, amount: str, reps: int) -> tuple[float, np.ndarray]:
    """How often releases of real rows were unbounded, and the median half-widths of the confidence intervals."""
    item, rng = asked(measure, amount), np.random.default_rng(7)
    root = np.linalg.cholesky(np.full((5, 5), TIE) + (1 - TIE) * np.eye(5))
    read, widths = read_of(item), []
    for _ in range(reps):
        rows = np.clip(50 + 100 / 6 * rng.standard_normal((ROWS, 5)) @ root.T, 0, 100)
        raw = dict(zip(NAMES, rows.T, strict=True))
        found = read.conclude([release(item, prepare(raw, study(measure)), rng)])
        widths.append(found.interval(0.95, "confidence").half_width)
    return float(np.mean(np.isinf(widths).any(axis=1))), np.median(widths, axis=0)


@pytest.mark.parametrize(
    ("measure", "amount"), [("epsilon", "0.5"), ("epsilon", "1.3"), ("epsilon", "5"), ("rho", "0.05")]
)
def test_the_forecast_is_what_releases_of_real_rows_say(measure: str, amount: str) -> None:
    """Of 5 columns, n 2,000: how often intervals are unbounded, within sampling error, and how wide they are, within a tenth."""
    item = asked(measure, amount)
    told = forecast(
        item.checked,
        read_of(item).conclude,
        TYPICAL,
        Share(measure, Fraction(amount)),
        ROWS,  # type: ignore[arg-type]
    )
    unbounded, widths = simulated(measure, amount, 60)
    assert told.unbounded == pytest.approx(unbounded, abs=0.25)
    assert told.confidence is not None
    if unbounded < 0.3:
        assert told.confidence == pytest.approx(widths, rel=0.1)
    if amount == "0.5":
        assert told.unbounded == unbounded == 1


def test_a_plan_of_moments_says_how_many_rows_a_regression_needs() -> None:
    """With that many rows about one simulated release in twenty is unbounded; with too few the plan says so before the charge."""
    for measure, amount in (("epsilon", "1"), ("rho", "0.05")):
        item = asked(measure, amount)
        pricing = item.checked.price(Share(measure, Fraction(amount)))  # type: ignore[arg-type]
        words = item.checked.kind.accuracy(item.checked.setting, pricing, None)
        needed = int(words.partition("needs about ")[2].partition(" rows")[0].replace(",", ""))
        share = Share(measure, Fraction(amount))  # type: ignore[arg-type]
        read = read_of(item).conclude
        assert forecast(item.checked, read, TYPICAL, share, needed).unbounded <= 0.15
        assert forecast(item.checked, read, TYPICAL, share, int(0.6 * needed)).unbounded > 0.3
        assert "would be unbounded" in item.checked.kind.accuracy(item.checked.setting, pricing, 0.9 * needed)


def test_a_pending_regression_is_planned_as_it_is_typed(data: Any) -> None:
    """Its text, its terms, what is assumed and a warning with a fix; nothing is spent."""
    fit, spent = data.moments("x", "y").coefficients("x ~ y"), data.budget.spent
    plan = dpnb.power(fit, n=5000, epsilon=8, sd=(2, 2), correlation=0.5)
    assert plan.keys == ("Intercept", "y")
    assert plan.unbounded == 0
    assert np.all(np.isfinite(plan.half_widths))
    assert plan.warning == ""
    assert "correlation 0.5" in str(plan)
    few = dpnb.power(fit, n=100, epsilon="0.1")
    assert few.unbounded > 0.9
    assert np.all(np.isinf(few.half_widths))
    assert "unbounded" in few.warning
    assert few.enough is not None
    assert dpnb.power(fit, n=100, epsilon=few.enough.amount).unbounded <= 0.05
    assert str(few).endswith(few.warning)
    assert dpnb.power(data.moments("x", "y").mean("x"), n=5000, epsilon=8).half_widths.shape == (1,)
    assert data.budget.spent == spent


def test_what_is_assumed_of_columns_is_checked(data: Any) -> None:
    """A list for each column, spreads and correlations that can be, a size and a loss; correlation= of nothing else."""
    fit = data.moments("x", "y").coefficients("x ~ y")
    for wrong, says in (
        ({}, "n= and epsilon="),
        ({"n": 100}, "n= and epsilon="),
        ({"n": 100, "epsilon": 1, "within": 1}, "n= and epsilon="),
        ({"n": 100, "epsilon": 1, "sd": 3}, "one number for each"),
        ({"n": 100, "epsilon": 1, "sd": (3, -1)}, "above 0"),
        ({"n": 100, "epsilon": 1, "mean": (3, 10**6)}, "between its bounds"),
        ({"n": 100, "epsilon": 1, "correlation": -1}, "above -1"),
        ({"n": 100, "epsilon": 1, "share": 0.5}, "proportions"),
    ):
        with pytest.raises(OptionError, match=says):
            dpnb.power(fit, **wrong)
    with pytest.raises(OptionError, match="correlation="):
        dpnb.power("proportion", n=100, epsilon=1, correlation=0.2)
    with pytest.raises(PlanError, match="Release it once"):
        dpnb.power(data.x.tree().median(), n=100, epsilon=1)


def opened(rows: int) -> Any:
    """A dataset of two numbers and a public number of rows."""
    schema = {
        "dataset": {"name": "pairs", "adjacency": "change-one", "rows": rows, "unit": "row"},
        "budget": {"epsilon": 1000},
        "columns": {name: {"type": "number", "lower": 0, "upper": 100, "missing": 0} for name in "xy"},
    }
    rng = np.random.default_rng(1)
    raw = {name: rng.uniform(0, 100, rows) for name in "xy"}
    return dpnb.open(raw, schema=schema, quiet=True)


def test_a_plan_says_what_each_coefficient_will_be_worth(dpnb_home: Any) -> None:
    """In its text and on its card, as dpnb.power says it; nothing once the moments are stored."""
    pairs = opened(2000)
    fit = pairs.ols("y ~ x")
    plan = dpnb.plan({"fit": fit}, epsilon=2)
    told = dpnb.power(fit, n=2000, epsilon=2)
    ((name, found),) = plan.matrix_plans()
    assert name == "fit"
    np.testing.assert_array_equal(found.half_widths, told.half_widths)
    assert not found.warning
    for text in (str(plan), plan_card(plan).text, plan_card(plan).html):
        assert f"fit: expected Intercept ± {rounded(float(told.half_widths[0]))}, x ± " in " ".join(
            text.split()
        )
        assert "correlation 0.3 of every two" in text
    assert plan.matrix_plans()[0][1] is found
    dpnb.release({"fit": fit}, epsilon=2)
    again = pairs.moments("x", "y").coefficients("y ~ x")
    assert dpnb.plan({"again": again}, epsilon=2).matrix_plans() == ()


def test_a_plan_warns_where_nothing_would_bound_the_coefficients(dpnb_home: Any) -> None:
    """Before anything is spent, with the loss that would bound them."""
    fit = opened(60).ols("y ~ x")
    said = str(dpnb.plan({"fit": fit}, epsilon="0.5"))
    assert "x unbounded" in said
    assert "nothing bounds the coefficients" in said
    assert "epsilon=" in said


def test_robust_errors_ask_the_products_and_their_price_is_in_the_plan(dpnb_home: Any) -> None:
    """Five columns instead of two, in one matrix that costs what is asked and is noisier; then any regression on them is free."""
    pairs = opened(2000)
    fit = pairs.ols("y ~ x", cov_type="HC1")
    plan = dpnb.plan({"fit": fit}, epsilon=2)
    assert 'moments("x", "y", pairs.x * pairs.x, pairs.y * pairs.x, pairs.y * pairs.y)' in str(plan)
    assert "5 sums" in plan_card(plan).text
    assert plan.matrix_plans()[0][0] == "fit"
    with pytest.raises(OptionError, match="lack y:y"):
        pairs.moments("x", "y").ols("y ~ x", cov_type="HC1")
    dpnb.release({"fit": fit}, epsilon=2)
    assert np.isfinite(fit.conf_int()).all() or fit.flags
    assert pairs.ols("y ~ x").pending is False


def test_robust_errors_in_a_ball_ask_products_of_four_or_the_box(dpnb_home: Any) -> None:
    """Whichever is forecast to be less noisy, with its price and what to expect; the same question again is the same moments, free."""
    pairs = opened(2000)
    fit = pairs.ols("y ~ x", cov_type="HC1", radius=1.2)
    plan = dpnb.plan({"fit": fit}, epsilon=20)
    assert 'moments("x", "y", products=True, radius=1.2)' in str(plan)
    assert "10 products" in plan_card(plan).text
    assert "fit: expected Intercept ± " in str(plan)
    wide = dpnb.plan({"fit": pairs.ols("y ~ x", cov_type="HC1", radius=1.4)}, epsilon=20)
    assert "pairs.y * pairs.y)" in str(wide)
    assert "radius" not in str(wide)
    dpnb.release({"fit": fit}, epsilon=20)
    assert np.isfinite(fit.conf_int()).all() or fit.flags
    assert "Rows beyond the radius were moved" in str(fit.summary())
    assert pairs.ols("y ~ x", cov_type="HC1", radius=1.2).pending is False
    with pytest.raises(OptionError, match="products=True needs a radius="):
        pairs.moments("x", "y", products=True)


def test_a_plan_of_a_regression_says_at_which_spread_it_would_be_unbounded(data: Any) -> None:
    """What is taken for granted of spreads is told with what becomes of the intervals where it does not hold; a spread that is given needs no such word."""
    for asked in ({"fit": data.ols("y ~ x")}, [data.ols("y ~ x")]):
        plan = dpnb.plan(asked, epsilon=60)
        ((_, told),) = plan.matrix_plans()
        assert told.frail
        assert (
            f"If columns spread over {told.frail} of their range or less, intervals could be unbounded"
            in str(plan)
        )
    fit = data.moments("x", "y").coefficients("y ~ x")
    part = {"a twelfth": 12, "a twenty-fourth": 24, "a sixtieth": 60}[told.frail]
    given = dpnb.power(fit, n=told.n, epsilon=60, sd=(10 / part, 0.5))
    assert given.frail == ""
    assert given.unbounded > 0
