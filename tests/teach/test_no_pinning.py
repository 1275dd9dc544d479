"""TEACHING data pin nothing but that they are public, and their pool: bounds, steps and budgets change from cell to cell."""

from __future__ import annotations

import pytest

import dpnb
from dpnb.errors import BudgetError, OwnerError
from tests.teach.conftest import COLUMNS, declared, toy


def opened(**facts):
    """The toy under changed terms."""
    return dpnb.open(toy(), schema=declared(**facts), quiet=True)


def released(estimate, epsilon=1):
    dpnb.release([estimate], epsilon=epsilon)
    return estimate


def bounds(lower, upper, **more):
    """The toy's columns with other bounds of x."""
    return {**COLUMNS, "x": {"type": "integer", "lower": lower, "upper": upper, **more}}


def test_bounds_steps_and_budgets_change_and_old_handles_go_on(session):
    """One budget holds what all of them spent; each asks under its own terms."""
    first = opened(budget={"epsilon": 4})
    released(first.x.mean())
    wide = opened(columns=bounds(0, 1000), budget={"epsilon": 20})
    released(wide.x.mean())
    coarse = opened(columns=bounds(0, 200, step=5), budget={"epsilon": 20})
    released(coarse.x.mean())
    assert wide.budget.spent.amount == coarse.budget.spent.amount == 3
    assert released(first.x.sum(), "0.5").truth == toy()["x"].sum()
    assert str(first.schema["x"].bounds[1]) == "100"
    lower = opened(budget={"epsilon": 4})
    with pytest.raises(BudgetError, match="left"):
        released(lower.x.mean(), 2)
    assert {row["dataset"] for row in session.ledger()} == {"toy@add-remove"}


def test_add_remove_and_change_one_are_compared_on_one_dataset(session):
    """Each has a ledger of its own: what was spent in one says nothing in the other."""
    alone = opened()
    both = [dpnb.open("incentive33", adjacency=word, quiet=True) for word in ("add-remove", "change-one")]
    usual = dpnb.open("incentive33", quiet=True)
    counts = [released(data[data.schema.names[0]].value_counts(), 1) for data in both]
    scales = [one.releases[0].parts[0].law["scale"] for one in counts]
    assert scales == ["1", "2"]
    assert [data.schema.unit.adjacency for data in both] == ["add-remove", "change-one"]
    assert both[0].budget.spent.amount == 1
    assert usual.budget.spent.amount == both[1].budget.spent.amount == 1
    assert alone.schema.unit.adjacency == "add-remove"
    assert released(both[0].count()).truth == usual.schema.unit.rows


def test_an_adjacency_is_of_two_words_and_of_teaching_data(session):
    """An owner's declaration is for everybody."""
    del session
    with pytest.raises(OwnerError, match='"change-one" or "add-remove"'):
        dpnb.open("incentive33", adjacency="both", quiet=True)
    with pytest.raises(OwnerError, match="its owner declares the adjacency"):
        dpnb.open(toy(), schema=declared(mode="guard-rail", public=False), adjacency="add-remove", quiet=True)


def test_another_adjacency_of_a_file(session, tmp_path):
    """Its rows are counted where their number becomes public."""
    del session
    path = tmp_path / "toy.csv"
    path.write_text("x,t\n" + "1,0\n" * 30 + "2,1\n" * 12)
    columns = {name: COLUMNS[name] for name in ("x", "t")}
    data = dpnb.open(path, schema=declared(columns=columns), adjacency="change-one", quiet=True)
    assert data.schema.unit.rows == 42
    assert released(data.x.sum()).truth == 54


def test_protected_terms_stay_pinned_beside_teaching_ones(session):
    """What is protected opens no looser for a TEACHING dataset beside it; nor does it become TEACHING."""
    del session
    facts = {"name": "people", "mode": "guard-rail", "public": False}
    people = dpnb.open(toy(), schema=declared(**facts, budget={"epsilon": 4}), quiet=True)
    released(people.x.mean())
    dpnb.open(toy(30, 9), schema=declared(name="open"), quiet=True)
    for looser in ({"budget": {"epsilon": 5}}, {"columns": bounds(0, 200)}):
        with pytest.raises(OwnerError, match="pinned"):
            dpnb.open(toy(), schema=declared(**{**facts, "budget": {"epsilon": 4}, **looser}), quiet=True)
    with pytest.raises(OwnerError, match="opens as TEACHING"):
        dpnb.open(toy(), schema=declared(name="people"), quiet=True)


def test_teaching_data_in_the_pool_of_protected_data_are_pinned_as_they_are(session):
    """A pool has one budget; what is public cannot raise it."""
    del session
    facts = {"name": "people", "mode": "guard-rail", "public": False, "pool": "county"}
    dpnb.open(toy(), schema=declared(**facts, budget={"epsilon": 4}), quiet=True)
    dpnb.open(toy(30, 9), schema=declared(name="open", pool="county", budget={"epsilon": 4}), quiet=True)
    with pytest.raises(OwnerError, match="budget was pinned"):
        dpnb.open(toy(30, 9), schema=declared(name="open", pool="county", budget={"epsilon": 40}), quiet=True)


def test_no_owner_is_sent_to_a_file_that_does_not_exist(session):
    """A frame's owner is told what a file would have to say."""
    del session
    facts = {"name": "people", "mode": "guard-rail", "public": False}
    released(dpnb.open(toy(), schema=declared(**facts, budget={"epsilon": 4}), quiet=True).x.mean())
    with pytest.raises(OwnerError, match="SCHEMA is a file that declares this dataset") as refused:
        dpnb.open(toy(), schema=declared(**facts, budget={"epsilon": 5}), quiet=True)
    assert "people.dpnb.toml" not in str(refused.value)
