"""Errors of least squares under unequal variances: those of statsmodels without noise, covering with it, refused where they cannot be."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpnb.datasets.preparation import prepare
from dpnb.errors import OptionError
from dpnb.estimate import ask
from dpnb.planner import Question
from dpnb.planner.expression import BinOp, Ref
from dpnb.planner.matrix_forecast import Columns, forecast
from dpnb.statistics import conclude
from dpnb.statistics.formula import parse
from dpnb.statistics.regression_readings import coefficients
from dpnb.statistics.robust_errors import in_ball
from dpnb.trusted.measurements.matrix import l2_squared
from dpnb.trusted.measurements.sums import WITHIN
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from tests.contracts.statistic import priced
from tests.examples import mostly_long
from tests.statistics.coverage import release
from tests.statistics.test_coverage import enough

X, Y, B = Ref("x"), Ref("y"), Ref("b")
SQUARES = (Y, BinOp("*", X, X), BinOp("*", X, Y), BinOp("*", Y, Y))


def people(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """A line whose errors grow with the distance from the middle: classical errors are a third too small."""
    x = np.round(np.clip(rng.normal(50, 16, n), 0, 100))
    b = (rng.random(n) < 0.4).astype(float)
    spread = 2 + 0.25 * np.abs(x - 50)
    return {
        "x": x,
        "b": b,
        "y": np.round(np.clip(20 + 0.5 * x + 4 * b + spread * rng.standard_normal(n), 0, 100)),
    }


def study(n: int | None, kind: str) -> Schema:
    """Two numbers and a 0/1 column; a public number of rows, or none."""
    columns = (
        Column.integer("x", 0, 100, missing=0),
        Column.integer("y", 0, 100, missing=0),
        Column.category("b", [0, 1], missing=0),
    )
    unit = PrivacyUnit("add-remove") if n is None else PrivacyUnit("change-one", rows=n)
    return Schema("d", "Study", columns, unit, Budget.from_toml({kind: 10**9}))


def moments(where: Schema, kind: str, amount: Any, *others: Any, **options: Any) -> Any:
    """Moments of x and others, priced."""
    question = Question("d", "moments", X, options=tuple(options.items()), others=others)
    return priced(question, where, kind=kind, amount=amount)


def bought(asked: str) -> tuple[Any, ...]:
    """The columns beside x that robust errors of a formula need."""
    if "b" not in asked.split("~")[1]:
        return SQUARES
    return (*SQUARES, B, BinOp("*", X, B), BinOp("*", B, Y))


HALF = {"x": 50, "y": 50, "b": 0.5}


@pytest.mark.parametrize("radius", [None, 1.2])
@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("formula", ["y ~ x", "y ~ x - 1", "y ~ x + b"])
def test_without_noise_they_are_those_of_statsmodels(
    formula: str, public: bool, radius: float | None
) -> None:
    """Coefficients and HC1 standard errors agree; in a ball of 1.2 half ranges those of the moved rows: one in 400, with b one in 13."""
    sm = pytest.importorskip("statsmodels.api")
    raw, asked = people(np.random.default_rng(4), 3000), parse(formula)
    where, used = study(3000 if public else None, "rho"), ["x", "y", *(["b"] if "b" in asked.terms else [])]
    if radius is None:
        item = moments(where, "rho", 10**7, *bought(formula))
    else:
        others = (Y, B) if "b" in used else (Y,)
        item = moments(where, "rho", 10**8, *others, radius=radius, products=True)
    made = release(item, prepare(raw, where), np.random.default_rng(1))
    found = coefficients(item.checked.setting, formula, cov_type="HC1").conclude([made])
    if radius is not None:
        rows = np.stack([raw[name] / HALF[name] - 1 for name in used])
        rows *= radius / np.maximum(radius, np.sqrt((rows**2).sum(axis=0)))
        raw = {name: HALF[name] * (1 + row) for name, row in zip(used, rows, strict=True)}
    constant = [np.ones(3000)] if asked.intercept else []
    theirs = sm.OLS(raw["y"], np.column_stack([*constant, *(raw[term] for term in asked.terms)]))
    fitted = theirs.fit(cov_type="HC1")
    np.testing.assert_allclose(np.sqrt(found.sampling), fitted.bse, rtol=4e-3)
    np.testing.assert_allclose(found.value, fitted.params, rtol=4e-3)
    if asked.intercept and radius is None:
        assert not np.allclose(np.sqrt(found.sampling), theirs.fit().bse, rtol=0.1)
    assert found.flags == ()


def test_a_ball_is_chosen_where_its_largest_noise_is_the_lesser() -> None:
    """At 4 regressors and r 1.5 half of the box's, and a seventh of it for a product of four different columns; not from r 1.9 on."""
    four = parse("y ~ a + b + c + d")
    norms = [l2_squared(5, Fraction(9, 4), WITHIN, 4), l2_squared(20, None, WITHIN)]
    assert 0.49 < math.sqrt(norms[0] / norms[1]) < 0.51
    assert 0.14 < math.sqrt(norms[0] / 24 / (norms[1] / 2)) < 0.15
    assert [in_ball(four, radius) for radius in (1, 1.5, 1.85, 1.9, 2.5, None)] == [True] * 3 + [False] * 3
    assert in_ball(four, 1.5, "epsilon")


STUDIES = 150


def studied(where: Schema, *asked: tuple[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    """How often the confidence intervals of both coefficients held in studies of 20,000 people, and how wide they were together.

    Each is read from the release of an own question on the same people.
    """
    rng, n = np.random.default_rng(6), 20_000
    large = people(np.random.default_rng(9), 2_000_000)
    truth = np.polyfit(large["x"], large["y"], 1)[::-1]
    held, widths = np.zeros((len(asked), 2), int), np.zeros((len(asked), 2))
    for _ in range(STUDIES):
        table = prepare(people(rng, n), where)
        for place, (item, options) in enumerate(asked):
            read = coefficients(item.checked.setting, "y ~ x", **options)
            low, high = read.conclude([release(item, table, rng)]).interval(0.95, "confidence")
            held[place] += (low <= truth) & (truth <= high)
            widths[place] += high - low
    return held, widths


ROBUST = {"cov_type": "HC1"}


@pytest.mark.parametrize("rho", mostly_long([1, "0.2"], "0.2"))
def test_in_a_ball_they_cover_at_less_noise(rho: Any) -> None:
    """Of people whose rows lie inside: coefficients covered at 95 %, with intervals narrower than from the box."""
    where = study(20_000, "rho")
    ball, box = moments(where, "rho", rho, Y, radius=1.2, products=True), moments(where, "rho", rho, *SQUARES)
    held, widths = studied(where, (ball, ROBUST), (box, ROBUST))
    assert all(enough(int(one), STUDIES) for one in held[0])
    assert (widths[0] < widths[1]).all()


@pytest.mark.parametrize(("kind", "amount"), mostly_long([("rho", 5), ("epsilon", 20)], ("rho", 5)))
def test_they_cover_where_classical_errors_do_not(kind: str, amount: Any) -> None:
    """The intervals of both coefficients hold at 95 %, the classical ones of the slope do not."""
    where = study(20_000, kind)
    bought, plain = (moments(where, kind, amount, *others) for others in (SQUARES, (Y,)))
    held, _ = studied(where, (bought, ROBUST), (plain, {}))
    assert all(enough(int(one), STUDIES) for one in held[0])
    assert not enough(int(held[1, 1]), STUDIES)


def test_products_in_a_ball_are_forecast_before_they_are_bought() -> None:
    """What 40 releases of normal rows say of both intervals, within a quarter; and the plan's price has every product of four."""
    where, rng = study(5000, "rho"), np.random.default_rng(7)
    item = moments(where, "rho", "0.5", Y, radius=1.2, products=True)
    assert [row.name for row in item.rows] == [
        "x and y: 2 sums",
        "x and y: 2 squares",
        "x and y: 10 products",
    ]
    read = coefficients(item.checked.setting, "y ~ x", cov_type="HC1")
    columns = Columns((0.0, 0.0), (1 / 3, 1 / 3), 0.3)
    told = forecast(item.checked, read.conclude, columns, item.share, 5000)
    halves = []
    for _ in range(40):
        x = rng.normal(0, 1 / 3, 5000)
        y = 0.3 * x + rng.normal(0, math.sqrt(1 - 0.09) / 3, 5000)
        raw = {name: np.clip(np.round(50 + 50 * one), 0, 100) for name, one in (("x", x), ("y", y))}
        table = prepare({**raw, "b": np.zeros(5000)}, where)
        halves.append(read.conclude([release(item, table, rng)]).interval(0.95, "confidence").half_width)
    assert told.confidence is not None
    np.testing.assert_allclose(told.confidence, np.median(halves, axis=0), rtol=0.25)


def test_noise_that_hides_them_makes_them_wider_and_is_flagged() -> None:
    """At n 2,000 and ρ 0.05 the largest that is likely is taken: several times the error without noise."""
    where, raw = study(2000, "rho"), people(np.random.default_rng(4), 2000)
    item = moments(where, "rho", "0.05", *SQUARES)
    read = coefficients(item.checked.setting, "y ~ x", cov_type="HC1")
    made = [release(item, prepare(raw, where), np.random.default_rng(seed)) for seed in range(20)]
    found = [read.conclude([one]) for one in made]
    assert sum("spread unclear" in one.flags for one in found) >= 15
    assert np.median([np.sqrt(one.sampling)[1] for one in found]) > 2 * 0.0115


def test_moments_without_the_products_are_refused_with_the_question_that_has_them() -> None:
    """So are rows that were moved into a ball, and errors of another name."""
    where = study(1000, "rho")
    with pytest.raises(OptionError, match=r'lack y:y.*\.ols\("y ~ x", cov_type="HC1"\)'):
        coefficients(moments(where, "rho", 1, Y).checked.setting, "y ~ x", cov_type="HC1")
    with pytest.raises(OptionError, match="products=True, or leave out radius="):
        coefficients(moments(where, "rho", 1, *SQUARES, radius=1).checked.setting, "y ~ x", cov_type="HC1")
    with pytest.raises(OptionError, match="cov_type= is"):
        coefficients(moments(where, "rho", 1, Y).checked.setting, "y ~ x", cov_type="HAC")


def test_the_table_says_what_its_errors_suppose() -> None:
    """One sentence, whichever they are."""
    where = study(1000, "rho")
    item = moments(where, "rho", 1, *SQUARES)
    found: Any = ask(item.checked.question, item.checked, dataset=None)
    made = release(item, prepare(people(np.random.default_rng(4), 1000), where), np.random.default_rng(1))
    found.args[0].fill((made,), conclude(item.checked, [made]))
    assert "Errors may have unequal variances (HC1)." in repr(found.ols("y ~ x", cov_type="HC1"))
    assert "Assumes equal error variances; cov_type='HC1' does not." in repr(found.ols("y ~ x"))


@pytest.mark.parametrize(("rho", "rows"), [(10, 20_000), ("0.05", 5000)])
def test_a_forecast_is_what_releases_of_normal_rows_say(rho: Any, rows: int) -> None:
    """The errors that will be read are forecast, the noise on them too: within a tenth where they are clear, a quarter where not."""
    where, rng = study(rows, "rho"), np.random.default_rng(7)
    item = moments(where, "rho", rho, *SQUARES)
    read = coefficients(item.checked.setting, "y ~ x", cov_type="HC1")
    assert len(read.products) == 3
    columns = Columns((0.0, 0.0), (1 / 3, 1 / 3), 0.3)
    told = forecast(
        item.checked, read.conclude, columns, item.share, rows, studies=30, products=read.products
    )
    classical = coefficients(item.checked.setting, "y ~ x")
    plain = forecast(
        item.checked, classical.conclude, columns, item.share, rows, studies=30, products=read.products
    )
    assert not classical.products
    halves = [float(number.highest - number.lowest) / 2 for number in item.checked.setting.numbers[:2]]
    middles = [float(number.highest + number.lowest) / 2 for number in item.checked.setting.numbers[:2]]
    widths = []
    for _ in range(30):
        x = rng.standard_normal(rows)
        y = 0.3 * x + np.sqrt(1 - 0.09) * rng.standard_normal(rows)
        raw = {
            name: middle + half / 3 * z
            for name, middle, half, z in zip("xy", middles, halves, (x, y), strict=True)
        }
        table = prepare({**people(rng, rows), **raw}, where)
        widths.append(read.conclude([release(item, table, rng)]).interval(0.95, "confidence").half_width)
    assert told.confidence == pytest.approx(np.median(widths, axis=0), rel=0.1 if rho == 10 else 0.25)
    assert told.confidence is not None
    assert plain.confidence is not None
    assert (told.confidence[1] > 1.15 * plain.confidence[1]) == (rho != 10)
