"""A name that a handle does not have is answered with the question to ask instead, as an AttributeError that spends nothing."""

from __future__ import annotations

import copy

import pytest

import dpnb
from dpnb.errors import DpnbError, HandleError, PlanError
from dpnb.trusted.privacy.loss import PrivacyLoss


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("bootstrap", r"small\.x\.mean\(\): its interval is proven"),
        ("regress", r"fitted to the dataset, by its formula: \.ols\("),
        ("min", r"one person's. Ask small\.x\.quantile"),
        ("head", r"no row may be shown\. What each column may hold is public: small\.schema"),
        ("sample", r"no rows to draw from.*: small\.x\.histogram\(\)"),
        ("shape", r"number of rows may be private, so it is a question: small\.count\(\)"),
        (
            "to_csv",
            r"no rows here to write\. Release an answer and write that: small\.x\.histogram\(\), then \.to_csv",
        ),
        ("iloc", r"no positions here.*: small\[small\.x > 1\]"),
        ("str", r'texts are not changed here.*: small\.x == "…", small\.x\.isin\(\["…"\]\)'),
        ("dt", r'declared without dates\. With type = "date"'),
        ("apply", "cannot be bounded"),
        ("unique", "value_counts"),
        ("hist", "histogram"),
        ("isnull", r"ask small\.x\.isna\(\)"),
        ("plot", "plot the answer"),
        ("medain", r"Did you mean \.median\?"),
        ("frobnicate", "%dp statistics lists all"),
    ],
)
def test_a_column_says_what_to_ask_instead(data, name, says):
    """Words of other libraries and typing errors are answered with the fix."""
    with pytest.raises(AttributeError, match=says) as caught:
        getattr(data.x, name)
    assert isinstance(caught.value, PlanError)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("match", "groupby"),
        ("regression", r'small\.ols\("y ~ x \+ z"\)'),
        ("bootstrap", "resampling"),
        (
            "shape",
            r"may be private, so it is a question: small\.count\(\)\. The columns are public: small\.columns",
        ),
        ("head", r"no row may be shown.*: small\.schema"),
        ("sample", r"no rows to draw from.*: small\.count\(\)"),
        ("to_csv", r"write that: small\.count\(\), then \.to_csv"),
        ("loc", r"no positions here.*: small\[small\.x > 1\]"),
        ("iterrows", "holds no rows"),
        ("dtypes", "schema.columns"),
        ("query", "condition"),
        ("merge", "one dataset"),
        ("apply", r"question for each figure"),
        ("dropna", r"isna"),
        ("drop", r"no table to change"),
        ("size", r"ask small\.count\(\)"),
        ("nowhere", "has no column nowhere"),
    ],
)
def test_a_dataset_says_what_to_ask_instead(data, name, says):
    """A column of that name comes first; what is neither column nor known word is a missing column."""
    with pytest.raises(AttributeError, match=says):
        getattr(data, name)


def test_probing_a_handle_is_quiet_and_costs_nothing(data):
    """Unknown names are absent to hasattr, private names stay private, copies and completions work."""
    spent, column = data.budget.spent, data.x
    assert not hasattr(data.x, "values")
    assert not hasattr(data.x, "_repr_html_x")
    assert copy.copy(column) is column
    assert "bootstrap" not in dir(data.x)
    assert "mean" in dir(data.x)
    assert data.budget.spent == spent


def test_a_condition_and_an_expression_are_named_as_they_were_written(data):
    """The message names the expression, so that it can be copied."""
    with pytest.raises(AttributeError, match=r"\(small\.x > 3\)|small\.x > 3"):
        _ = (data.x > 3).hist


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        (lambda d: d.x[d.y == 1], "small[small.y == 1].x"),
        (lambda d: d.x[(d.y == 1) & (d.g == 0)].mean(), "small[(small.y == 1) & (small.g == 0)].x"),
        (lambda d: (d.x - d.y)[d.g == 0], "small[small.g == 0].x - small[small.g == 0].y"),
        (lambda d: d[d.g == 0].x[d.y == 1], "small[(small.g == 0) & (small.y == 1)].x"),
    ],
)
def test_rows_of_a_column_are_answered_with_the_line_repaired(data, typed, line):
    """What pandas writes behind a column is written before it here; the line in the error runs as it stands."""
    with pytest.raises(HandleError) as caught:
        typed(data)
    assert str(caught.value) == f"Rows are chosen before the column: {line}"
    repaired = eval(line.partition(" - ")[0], {"small": data})  # noqa: S307  the line that the error writes
    assert repaired.mean().pending


def test_positions_and_columns_of_a_column_are_answered(data):
    """A number or a slice asks for rows by place, a name for another column."""
    for key in (3, slice(5)):
        with pytest.raises(HandleError, match=r"no positions.*small\[small\.x > 1\]\.count"):
            data.x[key]
    with pytest.raises(HandleError, match=r"Take another from the dataset: small\['y'\]"):
        data.x["y"]


def test_columns_that_are_named_together_are_asked_together(data):
    """``ds[["x", "y"]]`` correlates these columns, from one question; figures and descriptions are of these alone."""
    both = data[["x", "y"]]
    assert repr(both).startswith('<small[["x", "y"]]: ')
    asked = {"r": both.corr(), "c": both.cov(), "again": data.moments("x", "y").correlation()}
    found = dpnb.release(asked, epsilon=5)
    assert data.budget.spent == PrivacyLoss.pure(5)
    assert found["r"].value.tolist() == found["again"].value.tolist()
    assert found["r"].keys == (("x", "y"), ("x", "y"))
    assert list(both.agg("mean")) == ["x_mean", "y_mean"]
    assert {name.partition("_")[0] for name in both.describe()} == {"x", "y"}
    assert both.columns == ("x", "y")
    assert both[both.g == 0].corr().text == 'small[small.g == 0].moments("x", "y").correlation()'


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (lambda d: d.corr(), r'Name at least two columns; .*: small\[\["x", '),
        (lambda d: d[["x"]].cov(), r"Name at least two columns"),
        (lambda d: d["x", "y"], r'named in a list: small\[\["x", "y"\]\]'),
        (lambda d: d[[]], "named in a list"),
        (lambda d: d[[1, 2]], "named in a list"),
        (lambda d: d[["x", "nowhere"]], "has no column nowhere"),
    ],
)
def test_columns_that_cannot_be_asked_together_are_answered(data, typed, says):
    with pytest.raises(DpnbError, match=says):
        typed(data)
    assert not data.budget.spent
