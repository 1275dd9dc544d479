"""Contingency tables and shares as they are typed: handles, the whole path through the curator, free readings."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import dpnb
from dpnb.errors import OptionError, PlanError
from dpnb.trusted.privacy.loss import PrivacyLoss


def test_they_read_as_typed(data):
    """A table is asked of a column or of the dataset, in one canonical form; groups become keys."""
    assert data.g.crosstab("x").text == data.crosstab("g", "x").text == 'small.crosstab("g", "x")'
    assert data.g.crosstab("x").shape == (2, 11)
    assert data.groupby("g").crosstab("x").text == 'small.crosstab("g", "x")'
    assert data.g.crosstab(data.x > 3).text == 'small.crosstab("g", (small.x > 3))'
    assert data.crosstab("g", "x", data.x > 3).shape == (2, 11, 2)
    assert data.g.proportions().text == "small.g.value_counts().proportions()"
    assert data.g.value_counts(normalize=True).text == data.g.proportions().text
    assert data.groupby("g").x.proportions(simultaneous=True).shape == (2, 11)


def test_what_is_no_table_is_refused_where_it_is_written(data):
    """One key, no key, a column without declared values and an unknown key of a reading are told by name."""
    for ask in (lambda: data.crosstab("g"), data.g.crosstab, data.crosstab):
        with pytest.raises(PlanError, match=r"two (keys|columns)"):
            ask()
    with pytest.raises(PlanError, match="bin"):
        data.g.crosstab(data.x / 3)
    with pytest.raises(OptionError, match="no key 'sex'"):
        data.g.crosstab("x").proportions(within="sex")


def test_a_table_and_all_that_is_read_from_it_cost_one_release(session, data):
    """Shares, margins and the table in one cell are charged once; the same table asked again is stored."""
    table = data.g.crosstab(data.x > 3)
    shares, rows, margin = table.proportions(), table.proportions(within="rows"), table.margin("g")
    done = dpnb.release({"t": table, "s": shares, "r": rows, "m": margin}, epsilon=4)
    assert done.charged == PrivacyLoss.pure(4)
    assert rows.loss == table.loss
    np.testing.assert_allclose(margin.value, table.value.sum(axis=1))
    np.testing.assert_allclose(rows.value.sum(axis=1), 1)
    assert rows.table().columns["g"] == ("u", "u", "v", "v") or len(rows.table()) == 4
    again = data.crosstab("g", data.x > 3)
    assert not dpnb.release({"a": again}, epsilon=2).charged
    assert again.value.tolist() == table.value.tolist()


def test_shares_are_what_value_counts_released(session, data):
    """After counts were released their shares are free, and the other way round."""
    shares = data.g.proportions()
    assert dpnb.release({"p": shares}, epsilon=1).charged
    counts = data.g.value_counts()
    assert not dpnb.release({"c": counts}, epsilon=1).charged
    assert counts.proportions().value.tolist() == shares.value.tolist()
    gap = shares[0] - shares[1]
    low, high = gap.interval(0.95)
    assert low < gap.value < high


def test_tests_of_a_table_are_free_and_say_the_same_again(session, data):
    """Written beside the question, filled by its release, charged nothing, and the same after pickling."""
    table, counts = data.g.crosstab(data.x > 3), data.g.value_counts()
    test, fit = table.independence_test(), counts.goodness_of_fit_test({1: 0.5, 0: 0.5})
    assert repr(test) == f"<pending chi-square test of {table.text}>"
    done = dpnb.release([table, counts], epsilon=4)
    assert done.charged == PrivacyLoss.pure(4)
    assert 0 < test.p_value <= 1
    assert 0 < fit.p_value <= 1
    again = pickle.loads(pickle.dumps(table)).independence_test()
    assert again.to_dict() == test.to_dict()
    assert "9,999 simulated tables" in repr(test)


def test_what_cannot_be_tested_is_refused_where_it_is_written(session, data):
    """Three keys, shares that do not add up, wrong shapes, unknown values and huge tables are told by name."""
    with pytest.raises(PlanError, match="two keys"):
        data.crosstab("g", "x", data.x > 3).independence_test()
    with pytest.raises(PlanError, match="limit is 1,000"):
        data.crosstab("x", data.x + 1, data.x + 2).goodness_of_fit_test()
    counts = data.g.value_counts()
    for wrong, words in (
        ([0.5, 0.4], "add up"),
        ([1], "2 shares"),
        ({2: 1}, "each declared"),
        ([1.5, -0.5], "negative"),
    ):
        with pytest.raises(OptionError, match=words):
            counts.goodness_of_fit_test(wrong)


def test_a_list_with_a_reading_keeps_every_answer_in_its_place(session, data):
    """What is read from a question stands in a list beside the others, which are neither hidden nor moved."""
    asked = [data.x.mean(), data.g.proportions(), data.count()]
    planned = [name for name, _ in dpnb.plan(asked, epsilon=4).named]
    done = dpnb.release(asked, epsilon=4)
    assert list(done) == planned == [one.text for one in asked]
    for place, one in enumerate(asked):
        np.testing.assert_array_equal(done[place].value, one.value)


def test_a_question_that_stands_twice_in_a_list_keeps_both_places(session, data):
    """Seen: [count, count, mean] had two answers, and the second was the mean."""
    done = dpnb.release([data.count(), data.count(), data.x.mean()], epsilon=4)
    first, second, third = done
    assert (second, len(done)) == (f"{first} (2)", 3)
    assert done[0].value == done[1].value == done[first].value
    assert done[2].value == done[third].value
