"""The words of pandas that have a private meaning: several pending questions, priced and released like any other."""

from __future__ import annotations

import numpy as np
import pytest

import dpnb
from dpnb import datasets
from dpnb.errors import DpnbError, OptionError


def texts(asked):
    return {name: one.text for name, one in asked.items()}


def test_agg_asks_figures_by_name(data):
    """Of a column, of groups, and of several columns at once; the questions are those that are typed one by one."""
    assert texts(data.x.agg(["mean", "std"])) == {"mean": "small.x.mean()", "std": "small.x.std()"}
    assert texts(data.x.agg("median")) == {"median": data.x.median().text}
    assert texts(data.agg({"x": ["mean", "sum"], "y": "mean"})) == {
        "x_mean": "small.x.mean()",
        "x_sum": "small.x.sum()",
        "y_mean": "small.y.mean()",
    }
    assert data.groupby("g").agg({"x": "mean"})["x_mean"].text == data.groupby("g").x.mean().text
    numbers = [name for name in data.columns if data.schema[name].numeric]
    assert list(data.agg(["mean", "std"])) == [
        f"{name}_{word}" for name in numbers for word in ("mean", "std")
    ]
    assert list(data.groupby("y").agg("mean")) == [f"{name}_mean" for name in numbers if name != "y"]


def test_a_columns_count_is_of_its_known_values(data):
    """As pandas counts; of groups too, and never of a condition, whose rows are counted by a filter."""
    assert data.x.count().text == data[data.x.notna()].count().text
    here = data[data.y > 0].groupby("g")
    assert here.x.agg(["mean", "count"])["count"].text == here.x.count().text
    assert here.x.count().text == data[(data.y > 0) & data.x.notna()].groupby("g").count().text
    with pytest.raises(DpnbError, match="count\\(\\) counts rows"):
        (data.x > 1).count()


def test_describe_fits_the_declaration_and_is_released_within_its_loss(data):
    """Numbers have mean, spread and quarters, categories counts; all of it costs what the release was given."""
    asked = data.describe()
    assert set(texts(data.x.describe())) == {"mean", "std", "quartiles"}
    assert set(texts(data.g.describe())) == {"value_counts"}
    assert {name.rsplit("_", 1)[0].removesuffix("_value") for name in asked} == set(data.columns)
    report = dpnb.release(asked, epsilon=2)
    assert report.charged.amount <= 2
    assert all(not one.pending for one in asked.values())


def test_a_pivot_table_is_one_question_on_groups_laid_out_wide(data):
    """The keys in order, the figure by name, and the table with the last key across."""
    found = data.pivot_table("x", index="g", columns="y")
    assert found.text == data.groupby("g", "y").x.mean().text
    dpnb.release([found], epsilon=3)
    wide = found.table().wide()
    assert len(wide) == len(found.axes[0].keys)
    assert np.asarray(found.value).shape == (len(wide), len(wide.columns) - 1)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda data: data.x.agg([]), "Name each figure as text"),
        (lambda data: data.x.agg(np.mean), "Name each figure as text"),
        (lambda data: data.x.agg(["mean", np.std]), "Name each figure as text"),
        (lambda data: data.x.agg("column"), "'column' is not a question"),
        (lambda data: data.x.agg("_ask"), "'_ask' is not a question"),
        (lambda data: data.x.agg("max"), "one person's"),
        (lambda data: data.x.agg("isin"), "isin"),
        (lambda data: data.agg([np.mean]), "which figures of which columns"),
        (lambda data: data.agg({"z": "mean"}), "z"),
        (lambda data: data.pivot_table("x", index=[]), "what to group by"),
    ],
)
def test_what_agg_cannot_ask_is_said_and_spends_nothing(data, ask, words):
    """Functions, words that are no questions, those that would need rows, and columns that are not there."""
    before = data.budget.spent
    with pytest.raises(DpnbError, match=words):
        ask(data)
    assert data.budget.spent == before


def test_choose_takes_numbers_as_labels(data):
    """`choose({0: …})` of the README was refused; two labels that read the same still are."""
    found = data.choose({0: data.x < 3, 1: data.x >= 3})
    dpnb.release([found], epsilon=5)
    assert set(np.ravel(found.labels)) <= {"0", "1"}
    with pytest.raises(OptionError, match="read the same"):
        data.choose({0: data.x < 3, "0": data.x >= 3})


def test_columns_and_studies_are_public_and_free(data):
    """The declared names, and what can be opened by name; no file is read."""
    assert data.columns == data.schema.names
    assert dpnb.studies()["name"] == datasets.names()
    assert all(dpnb.studies()["title"])
