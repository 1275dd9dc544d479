"""What is dragged before synthetic rows are paid for is what a plan of them says."""

from __future__ import annotations

import pytest

import dpnb
from dpnb import widgets
from dpnb.synthetic.design import forecast
from tests.curator import small

COLUMNS = ("x", "g", "y")


@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": 1}, {"rho": 0.05}])
def test_the_tables_that_stay_are_those_a_forecast_would_keep(loss):
    """σ and g of all tables are the forecast's where they stay; where they do not, the forecast promises nothing."""
    schema = small.schema()
    said = forecast(schema, COLUMNS, {"x": [0, 2, 4, 6, 8, 9, 10]}, n=5_000, **loss)
    shown = widgets.synthetic({"x": 6, "g": 2, "y": 2}, n=5_000, **loss)
    tables, sigma, g = shown._kept(shown._chosen(), next(iter(loss.values())))
    assert (tables == said.tables) == (said.level is not None)
    if said.level is not None:
        assert (sigma, g) == pytest.approx((said.sigma, said.g), rel=0.02)


def test_pending_rows_bring_their_columns_and_their_budget():
    """Names, levels, pairs, the public number of people and the kind of loss are those of the dataset."""
    hiv = dpnb.open("hiv", quiet=True)
    facts = widgets.synthetic(
        hiv.synthetic("got", "any", "age", relations=[("got", "any"), ("any", "age")])
    ).facts
    assert facts["columns"] == [
        {"name": "got", "levels": 2},
        {"name": "any", "levels": 2},
        {"name": "age", "levels": 6},
    ]
    assert facts["asked"] == [True, False, True]
    assert (facts["n"], facts["kind"], facts["loss"]) == (4_820, "epsilon", 1.0)
    dpnb.client.api.close()


def test_the_still_form_shows_what_was_chosen():
    """A column that a hand left out takes its tables along; what is no choice leaves all of them."""
    shown = widgets.synthetic({"a": 2, "b": 2, "c": 2}, rho=1)
    assert "3 of 3" in str(shown.card().html)
    shown.chosen = {"columns": [1, 1, 0]}
    assert "1 of 1" in str(shown.card().html)
    shown.chosen = {"columns": "all", "pairs": [1]}
    assert "3 of 3" in str(shown.card().html)
