"""A declared centre of a skewed column: its variance is less noisy, no forecast is worse, and what one person moves is held."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpnb import simulate
from dpnb.errors import SchemaError
from dpnb.planner.compile import numeric
from dpnb.planner.expression import BinOp, ClipTo, Const, Neg, Ref
from dpnb.planner.question import Question
from dpnb.statistics.variance_powers import spread_centre
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from tests.contracts.statistic import priced, schema, worst_loss
from tests.examples import mostly_long
from tests.statistics.coverage import wider
from tests.statistics.test_coverage import enough
from tests.statistics.test_sensitivity import FEW, ROWS, UNITS

INCOME = Column.number("x", 0, 200_000, step=10, missing=0)
SKEWED = INCOME.centred_on(30_000)
HALF = 10_000


def incomes(rng: np.random.Generator, shape: Any) -> dict[str, np.ndarray]:
    """Mean 32,200, standard deviation 21,000, in bounds that go to 200,000."""
    return {"x": np.clip(10 * np.round(rng.lognormal(10.2, 0.6, shape) / 10), 0, 200_000)}


def people(column: Column, adjacency: str = "change-one", kind: str = "epsilon") -> Schema:
    """A dataset of that column."""
    unit = PrivacyUnit(adjacency, rows=1000 if adjacency == "change-one" else None)
    return Schema("p", "People", (column,), unit, Budget.from_toml({kind: 10**6}))


def noise_on_variance(column: Column, mean: float, *, kind: str, adjacency: str = "change-one") -> float:
    """The standard deviation of the noise on n · variance where the mean is known to lie there, in units of the range squared."""
    where = people(column, adjacency, kind)
    asked = Question("p", "variance", Ref("x"), options=(("ci", False),))
    found = priced(asked, where, kind=kind)
    laws = {part.name: part.mechanism for part in found.parts}
    around = spread_centre(found.checked.setting)
    far = (mean - 100_000) / 10 - around.place
    spread = 2_100**2
    scale = {"square": around.powers.square().scale, "sum": 2 * abs(far), "count": abs(far**2 - spread)}
    total = sum(
        scale[name] ** 2 * float(one.variance if kind == "rho" else 2 * one.scale**2)
        for name, one in laws.items()
    )
    return float(np.sqrt(total)) / 20_000**2


@pytest.mark.parametrize(("kind", "most"), [("epsilon", 0.75), ("rho", 0.85)])
def test_the_variance_of_a_skewed_column_is_less_noisy_with_its_centre(kind, most):
    """A mean of 32,200 in 0 to 200,000: 1.7 times what one whole question of a variance would carry before, about 1.2 then."""
    before, now = (noise_on_variance(column, 32_200, kind=kind) for column in (INCOME, SKEWED))
    assert now < most * before


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("typical", range(0, 200_001, 20_000))
def test_a_declared_centre_makes_no_forecast_worse(typical, kind, adjacency):
    """The worst over a tenth of the range around it; a hundredth is left for the rounding of shares, and for the count."""
    worst = [
        max(
            noise_on_variance(column, typical + miss, kind=kind, adjacency=adjacency)
            for miss in (-20_000, 0, 20_000)
        )
        for column in (INCOME, INCOME.centred_on(typical))
    ]
    assert worst[1] <= 1.01 * worst[0]


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("by", [(), (Ref("g"),)])
def test_no_neighbour_costs_more_than_the_claim_from_a_declared_centre(by, unit, kind):
    """Over every pair of tiny neighbours, with powers measured from the first value, the realised loss is at most the recorded one."""
    where = schema(UNITS[unit], measure=kind)
    first = where.columns[0].centred_on(10)
    found = priced(
        Question("tiny", "variance", Ref("x"), by=by),
        replace(where, columns=(first, *where.columns[1:])),
        kind=kind,
    )
    rows = ROWS if UNITS[unit].max_rows == 1 else FEW
    assert worst_loss(found, UNITS[unit], rows) <= found.loss.amount <= 1


@pytest.mark.parametrize(
    ("stretch", "fits"), mostly_long([(1.0, True), (0.9, False), (1.1, False)], (1.0, True), (0.9, False))
)
@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": "0.1"}])
def test_the_noise_of_a_variance_follows_its_law(loss, stretch, fits):
    """Errors over their stated standard deviation have the variance 1; noise that is a tenth off is noticed."""
    with wider(stretch):
        found = simulate.coverage(
            "variance", incomes, 5000, loss, reps=4000, rng=2, columns=[SKEWED], ci=False, adjacency="change-one",
            intervals="privacy", parameter=0.0,
        )  # fmt: skip
    scores = found.tallies[0].kept["noise z"].ravel()
    assert (abs(float(np.mean(scores**2)) - 1) < 0.12) is fits


@pytest.mark.parametrize("statistic", ["variance", "std"])
@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": "0.1"}, {"epsilon": "0.1"}])
def test_intervals_of_a_column_with_a_centre_hold(statistic, loss):
    """Both kinds, at the centre and where it misses the mean by a fifth of the range."""
    large = incomes(np.random.default_rng(5), (2_000_000,))["x"]
    parameter = float(getattr(large, "var" if statistic == "variance" else "std")())
    for column in (SKEWED, INCOME.centred_on(70_000)):
        found = simulate.coverage(
            statistic,
            incomes,
            1000,
            loss,
            reps=600,
            rng=3,
            parameter=parameter,
            columns=[column],
            adjacency="change-one",
        )
        for kind in ("privacy", "confidence"):
            one = found.held(kind)
            assert enough(int(one.held.sum()), 600)


def test_a_centre_follows_the_number():
    """Through shifts, factors and signs; not through what is no longer that column."""
    where, x = people(SKEWED), Ref("x")
    found = {
        30_000: x,
        30: BinOp("/", x, Const(1000)),
        -30_000: Neg(x),
        170_000: BinOp("-", Const(200_000), x),
        31_000: BinOp("+", x, Const(1000)),
        None: BinOp("*", x, x),
    }
    assert {numeric(one, where).typical for one in found.values()} == set(found)
    assert numeric(ClipTo(x, Const(0), Const(20_000)), where).typical == 30_000
    assert spread_centre(
        priced(Question("p", "variance", ClipTo(x, Const(0), Const(20_000))), where).checked.setting
    ).place in {0, 1000}


def test_a_mean_measures_its_squares_from_the_middle():
    """Most of its loss buys the sum: squares from elsewhere would leave its spread noisier."""
    one, other = (priced(Question("p", "mean", Ref("x")), people(column)) for column in (INCOME, SKEWED))
    assert [part.request for part in one.parts] == [part.request for part in other.parts]


def test_a_centre_is_declared_between_the_bounds_of_a_number():
    """It is public, changes no answer that was bought, and a record keeps it."""
    assert Column.from_json(SKEWED.to_json()) == SKEWED
    assert people(SKEWED).version == people(INCOME).version
    assert "typical" not in INCOME.to_json()
    with pytest.raises(SchemaError, match="typical = 300"):
        INCOME.centred_on(300_000)
    with pytest.raises(SchemaError, match="goes with a column of numbers"):
        Column.category("g", [0, 1]).centred_on(1)
