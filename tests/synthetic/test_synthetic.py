"""Synthetic rows as an analyst asks and reads them."""

import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpnb
from dpnb.errors import OptionError, PendingError, PlanError, Unavailable
from dpnb.synthetic.design import design_of, forecast
from dpnb.synthetic.synthetic import Synthetic
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema

COLUMNS = (
    Column.integer("age", 18, 77),
    Column.category("sex", ["f", "m"]),
    Column.category("married", [0, 1]),
    Column.number("pay", 0, 100),
)


def people(size=3000, *, adjacency="change-one", missing=0.0):
    rng = np.random.default_rng(8)
    age = rng.integers(18, 78, size)
    frame = pd.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], size),
            "married": (rng.uniform(size=size) < age / 90).astype(int),
            "pay": np.round(rng.uniform(0, 100, size), 1),
        }
    ).astype({"married": "Int64"})
    frame.loc[rng.uniform(size=size) < missing, "married"] = pd.NA
    unit = PrivacyUnit(adjacency, rows=size if adjacency == "change-one" else None)
    schema = Schema(f"people_{adjacency[:3]}", "People", COLUMNS, unit, Budget.from_toml({"rho": "10"}))
    return dpnb.open(frame, schema=schema, quiet=True)


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
def test_the_tables_cost_what_they_cost_by_hand_and_the_plan_says_what_they_are_worth(adjacency):
    data = people(adjacency=adjacency)
    asked = data.synthetic("age", "sex", "married")
    plan = dpnb.plan({"rows": asked}, rho="0.3", assume_n=3000)
    known = data[data.age.notna() & data.sex.notna() & data.married.notna()]
    age = known.age.bin(asked.bins["age"])
    tables = [known.crosstab(*keys) for keys in ((age, "sex"), (age, "married"), ("sex", "married"))]
    hand = dpnb.plan(tables, rho="0.3")
    assert plan.cost == hand.cost
    assert plan.cost.amount == Fraction("0.3")
    assert [one.parts[0].mechanism for one in plan.items] == [one.parts[0].mechanism for one in hand.items]
    (told,) = plan.synthetic_plans()
    foreseen = forecast(data.schema, ["age", "sex", "married"], n=3000, rho=0.3)
    assert told.forecast.sigma == pytest.approx(foreseen.sigma, rel=0.01)
    assert foreseen.sigma == pytest.approx(math.sqrt(3 * (2 if adjacency == "change-one" else 1) / 0.6))
    assert told.forecast.level == 0.95
    assert "95 % intervals hold" in plan._repr_mimebundle_()["text/plain"]


def test_what_is_released_reads_the_same_from_its_record_and_knows_what_it_supports():
    data = people(missing=0.1)
    asked = data.synthetic("age", "sex", "married", relations=[("age", "married"), ("sex", "married")])
    with pytest.raises(PendingError):
        asked.mean("age")
    found = dpnb.release({"rows": asked}, rho="1")["rows"]
    assert found.level == 0.95
    assert found.size == pytest.approx(2700, abs=120)
    assert found.length == 2 * round(found.size)
    low, high = found.mean("age").interval()
    assert low < 47.5 < high
    assert "spread evenly" in found.mean("age").estimand
    assert found.ols("married ~ age").status == "measured"
    assert not found.supports("age ~ sex")
    with pytest.raises(Unavailable, match="age × sex was not measured"):
        found.ols("married ~ age + sex")
    with pytest.raises(Unavailable, match="not measured"):
        found.combine(lambda frame: (1.0, 1.0))
    one = found.combine(
        lambda frame: (frame.age.mean(), frame.age.var(ddof=0) / len(frame)), "age", "married"
    )
    assert one.value == pytest.approx(found.mean("age").value)
    again = Synthetic.read(json.loads(json.dumps(found.record())), [found.rows(m) for m in range(20)])
    assert again.mean("age").interval() == found.mean("age").interval()
    assert again.margin("age", "married") == pytest.approx(found.margin("age", "married"), abs=1e-6)


@pytest.mark.parametrize("bounds", [*((0, high) for high in range(1, 70)), (-3, 7), (18, 77), (1900, 2024)])
def test_the_default_bins_of_whole_numbers_are_never_refused(bounds):
    """*Seen:* 0 to 10 in six bins had a last one of three values, wider than a quarter of the range."""
    low, high = bounds
    column = Column.integer("x", low, high)
    schema = Schema(
        "d", "D", (column, *COLUMNS[1:]), PrivacyUnit("add-remove"), Budget.from_toml({"rho": "10"})
    )
    variable = design_of(schema, ["x", "sex"], None, "all")[0].variables[0]
    if variable.edges is None:
        assert len(variable.keys) == high - low + 1
    else:
        spans = np.diff([*variable.edges[:-1], high + 1])
        assert spans.sum() == high - low + 1
        assert spans.max() - spans.min() <= 1


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        (("age",), {}, "two columns"),
        (("age", "sex"), {"bins": {"age": 3}}, "wider than a quarter"),
        (("age", "sex"), {"bins": {"age": [18, 30, 40]}}, "whole range"),
        (("age", "sex"), {"relations": [("age", "pay")]}, "not among the columns"),
        (("age", "sex", "pay"), {"relations": [("age", "sex")]}, "in no relation"),
        (("age", "sex"), {"tables": 2}, "5 to 100"),
        (("age", "pay"), {"bins": {"age": 60, "pay": 60}}, "cells"),
    ],
)
def test_what_cannot_be_measured_is_refused_where_it_is_written(columns, options, words):
    with pytest.raises((PlanError, OptionError), match=words):
        people(100).synthetic(*columns, **options)


def test_tables_that_are_mostly_noise_are_refused_before_the_charge():
    data = people(300)
    before = data.budget.spent
    with pytest.raises(PlanError, match="no interval holds below"):
        dpnb.release({"rows": data.synthetic("age", "sex", "pay")}, rho="0.001")
    hidden = people(301, adjacency="add-remove")
    with pytest.raises(PlanError, match="assume_n"):
        dpnb.release({"rows": hidden.synthetic("age", "sex")}, rho="0.5")
    assert data.budget.spent == before
