"""Handles: what they build, what they are called, and everything they refuse because they hold no data."""

from __future__ import annotations

import copy
import itertools
import operator
import pickle

import numpy as np
import pytest

from dpnb.client.columns import ColumnHandle
from dpnb.client.handles import Dataset
from dpnb.errors import HandleError, PlanError, SchemaError
from dpnb.planner.expression import from_json, to_json
from dpnb.planner.request import Ask
from tests.curator import small

DOORS = {
    "iteration": iter,
    "len": len,
    "bool": bool,
    "in": lambda h: 3 in h,
    "asarray": np.asarray,
    "float": float,
    "int": int,
    "complex": complex,
    "index": operator.index,
    "reversed": reversed,
    "list": list,
    "sum": sum,
    "sorted": sorted,
    "unpacking": lambda h: print(*h),
    "for": lambda h: [row for row in h],  # noqa: C416
    "pickle": pickle.dumps,
}


def answers(door, handle):
    """Whether a door leads anywhere but to the one error class."""
    try:
        door(handle)
    except HandleError:
        return False
    return True


def test_no_handle_is_data(data):
    """Every way in which Python reads data out of an object is refused by one error class."""
    handles = {
        "dataset": data,
        "column": data.x,
        "condition": data.x > 3,
        "filtered": data[data.x > 3],
        "groups": data.groupby("g"),
    }
    pairs = itertools.product(handles, DOORS)
    assert [(kind, door) for kind, door in pairs if answers(DOORS[door], handles[kind])] == []


def test_error_4_names_the_questions_to_ask_instead(data):
    """The golden text of error 4."""
    with pytest.raises(HandleError) as caught:
        iter(data.x)
    assert str(caught.value) == (
        "small.x holds no data here, so it cannot be iterated. "
        "Ask a question: small.x.mean(), .histogram(), .quantile(0.5)."
    )


def test_error_5_shows_the_operators_and_between(data):
    """The golden text of error 5, for `and`, `or`, `not`, `if` and chained comparisons."""
    text = (
        "A column condition has no truth value. Use & | ~ with parentheses: (small.x > 18) & (small.g == 1). "
        "For 18 < x < 30: small.x.between(18, 30)."
    )
    for wrong in (
        lambda: (data.x > 3) and (data.g == 1),
        lambda: not (data.x > 3),
        lambda: 3 < data.x < 7,
        lambda: 1 if data.x == 2 else 0,
    ):
        with pytest.raises(HandleError) as caught:
            wrong()
        assert str(caught.value) == text


def test_error_8_names_the_near_match(data):
    """An unknown column, by attribute or by key: the declared one that is nearest, and how it is declared."""
    text = "small has no column gg. Did you mean g?"
    for wrong in (
        lambda: data.gg,
        lambda: data["gg"],
        lambda: data.groupby("gg"),
        lambda: data.x.difference(by="gg"),
    ):
        with pytest.raises(SchemaError) as caught:
            wrong()
        assert str(caught.value) == text


def test_an_unknown_attribute_is_an_attribute_error_too(data):
    """Hasattr and completion work: an unknown column is no attribute."""
    assert not hasattr(data, "nothing_like_it")
    assert not hasattr(data, "__wrapped__")
    assert "x" in dir(data)
    assert "groupby" in dir(data)


def test_a_column_named_like_a_method_is_reached_by_key(session, dpnb_home):
    """ds["count"] is the column; ds.count is the question."""
    declared = small.declared()
    declared["columns"] = {"count": {"type": "integer", "lower": 0, "upper": 10}}
    from dpnb.client.upload import hand_over
    from dpnb.datasets import load
    from dpnb.trusted.wire.places import Home

    of = load(declared).schema
    data = session.attach(hand_over({"count": small.rows()["x"]}, of, Home(dpnb_home)))
    assert isinstance(data["count"], ColumnHandle)
    assert data.count().text == "small.count()"
    assert data["count"].mean().text.endswith(".mean()")


EXPRESSIONS = {
    "x + 1": lambda d: d.x + 1,
    "1 + x": lambda d: 1 + d.x,
    "x - 1.5": lambda d: d.x - 1.5,
    "2 - x": lambda d: 2 - d.x,
    "x * g": lambda d: d.x * d.g,
    "3 * x": lambda d: 3 * d.x,
    "x / 2": lambda d: d.x / 2,
    "x // 2": lambda d: d.x // 2,
    "-x": lambda d: -d.x,
    "+x": lambda d: +d.x,
    "x ** 2": lambda d: d.x**2,
    "x == 2": lambda d: d.x == 2,
    "x != 2": lambda d: d.x != 2,
    "x < 2": lambda d: d.x < 2,
    "2 < x": lambda d: d.x > 2,
    "x <= 2": lambda d: d.x <= 2,
    "x >= 2": lambda d: d.x >= 2,
    "and": lambda d: (d.x > 2) & (d.g == 1),
    "or": lambda d: (d.x > 2) | (d.g == 1),
    "not": lambda d: ~(d.x > 2),
    "isin": lambda d: d.x.isin([1, 2]),
    "between": lambda d: d.x.between(1, 2),
    "clip": lambda d: d.x.clip(2, 4),
    "np.clip": lambda d: np.clip(d.x, 2, 4),
    "where": lambda d: d.x.where(d.g == 1, 0),
    "is_missing": lambda d: d.y.is_missing(),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_operators_build_expressions_that_can_be_asked(data, name):
    """Each operator gives a handle whose expression crosses the wire and whose mean can be planned."""
    handle = EXPRESSIONS[name](data)
    assert isinstance(handle, ColumnHandle)
    assert from_json(to_json(handle.expression)) == handle.expression
    assert handle.mean().pending


def test_a_numpy_scalar_on_the_left_builds_an_expression(data):
    """np.float64(2) < x is a condition, not an array."""
    assert (np.float64(2) < data.x).is_condition
    assert isinstance(np.int64(2) * data.x, ColumnHandle)


def test_numpy_functions_ask_the_question(data):
    """np.mean(x) is x.mean(); a function that is no question is refused by name."""
    assert np.mean(data.x).text == data.x.mean().text
    assert np.sum(data.x).text == data.x.sum().text
    assert np.median(data.x).text == data.x.median().text
    assert np.quantile(data.x, 0.25).text == data.x.quantile(0.25).text
    assert np.std(data.x).text == data.x.std().text
    with pytest.raises(HandleError, match=r"numpy\.sort"):
        np.sort(data.x)


def test_texts_read_as_typed(data):
    """A question is called as a person would type it."""
    assert data.x.mean().text == "small.x.mean()"
    assert data[data.x > 3].count().text == "small[small.x > 3].count()"
    assert data.groupby("g").x.mean().text == 'small.groupby("g").x.mean()'
    assert data.y.difference(by="g").text == 'small.y.difference(by="g")'
    assert data.x.quantile([0.25, 0.5]).text == "small.x.quantile([0.25, 0.5])"


def test_two_filters_are_both_held(data):
    """A filter of a filter keeps the rows of both."""
    both = data[data.x > 3][data.g == 1]
    assert both.count().text == data[(data.x > 3) & (data.g == 1)].count().text


def test_rows_of_other_selections_and_datasets_do_not_mix(data, session, dpnb_home):
    """An expression over two selections has no meaning: refused where it is written."""
    part = data[data.x > 3]
    other = small.opened(session, dpnb_home, small.rows(2), name="other")
    for wrong in (
        lambda: data.x + part.x,
        lambda: data[part.g == 1],
        lambda: data.x + other.x,
        lambda: data[other.g == 1],
    ):
        with pytest.raises(PlanError):
            wrong()
    assert (part.x + data.g).mean().pending


def test_a_released_estimate_is_a_constant_in_an_expression(data, session):
    """X > q takes the value of q; a pending q is error 1."""
    q = data.x.quantile(0.5)
    from dpnb.errors import PendingError

    with pytest.raises(PendingError):
        _ = data.x > q
    session.release([q], Ask.make(epsilon=1))
    above = data.x > q
    assert isinstance(above, ColumnHandle)
    assert isinstance(q < data.x, ColumnHandle)


def test_the_same_question_has_one_canonical_form(data):
    """Default options do not make another question."""
    assert data.x.mean().measurement.question == data.x.mean(ci=True, spread="bought").measurement.question
    assert data.x.median().measurement.question == data.x.quantile(0.5).measurement.question


def test_copies_are_the_handle_itself(data):
    """Copy and deepcopy give the same object: there is nothing to copy."""
    for handle in (data, data.x):
        assert copy.copy(handle) is handle
        assert copy.deepcopy(handle) is handle


def test_reading_a_handle_says_what_it_is_and_that_it_holds_nothing(data):
    """Repr is public metadata."""
    assert repr(data) == "<small: small, GUARD-RAIL; protected, holds no data>"
    assert repr(data.x) == "<small.x: integer 0 to 10, missing rows leave; protected, holds no data>"
    assert repr(data[data.x > 3]).startswith("<small[(small.x > 3)]")


def test_a_handle_has_no_attribute_that_leads_to_rows(data):
    """What can be reached from a handle by attributes is public: schema, names, ids and the session."""
    import gc

    seen, queue = set(), [data, data.x]
    while queue:
        item = queue.pop()
        if id(item) in seen or not type(item).__module__.startswith("dpnb.client"):
            continue
        seen.add(id(item))
        queue.extend(gc.get_referents(item))
        assert not isinstance(item, np.ndarray)
    assert isinstance(data, Dataset)


def test_groups_have_the_shape_of_their_keys(data):
    """Of two columns, and of bins."""
    assert data.groupby("g", "y").count().shape == (2, 2)
    assert data.groupby(data.x.bin([0, 5, 10])).count().shape == (2,)
