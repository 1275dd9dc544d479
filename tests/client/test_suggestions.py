"""A name that a handle does not have is answered with the question to ask instead, as an AttributeError that spends nothing."""

from __future__ import annotations

import copy

import pytest

from dpnb.errors import PlanError


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("bootstrap", r"small\.x\.mean\(\): its interval is proven"),
        ("regress", r"fitted to the dataset, by its formula: \.ols\("),
        ("min", r"one person's. Ask small\.x\.quantile"),
        ("head", "holds no rows"),
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
        ("shape", "count"),
        ("dtypes", "schema.columns"),
        ("query", "condition"),
        ("merge", "one dataset"),
        ("apply", r"question for each figure"),
        ("corr", r"correlation"),
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
