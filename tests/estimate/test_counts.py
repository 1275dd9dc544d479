"""A number of rows is a whole number wherever it is told; what makes it real makes it a decimal number."""

from __future__ import annotations

import json

import numpy as np

import dpnb
from dpnb.cards.facts import line_of
from dpnb.cards.released import line_text


def test_a_count_is_told_without_decimals(data):
    """In `.value`, its interval, tables, data frames, JSON and cards, however narrow the interval; a key stays as it was declared."""
    asked = {"n": data[data.x > 3].count(), "by": data.groupby("g").count(), "bins": data.x.histogram(bins=2)}
    found = dpnb.release(asked, epsilon=3)
    for one in (found["n"], found["by"], found["bins"], found["by"][0]):
        assert np.asarray(one.value).dtype == np.int64
        assert {np.asarray(end).dtype for end in one.interval()} == {np.dtype(np.int64)}
        assert one.to_frame()["value"].dtype == np.int64
        assert "." not in one.to_csv()
        assert ".0" not in json.dumps([one.to_dict()[name] for name in ("value", "intervals")]).replace(
            "0.95", ""
        )
        numbers = line_text(line_of(one)).partition("Confidence interval")[0]
        assert ".0" not in numbers.partition("\n")[2]
    assert type(float(found["n"])) is float  # which Python asks of `__float__`
    assert str(found["n"]) == str(found["n"].value)
    assert str(found["by"]) == "0: {}; 1: {}".format(*found["by"].value)


def test_what_makes_a_count_real_is_told_as_such(data):
    """A mean, half of a count, and several answers combined are no numbers of rows."""
    found = dpnb.release({"n": data[data.x > 3].count(), "m": data.x.mean()}, epsilon=3)
    assert isinstance((found["n"] / 2).value, float)
    assert isinstance(found["m"].value, float)
    assert isinstance(found["n"].remeasure(epsilon="0.7").value, float)


def test_a_thousand_is_told_with_its_comma_and_a_year_without():
    """Numbers of a table are read with their thousands apart; keys are names."""
    table = dpnb.estimate.Table({"year": (2004,), "value": (1204,)}, keys=("year",))
    assert str(table).splitlines()[1].split() == ["2004", "1,204"]
    assert "| 2004 | 1,204 |" in table.to_markdown()
    assert "2004,1204" in table.to_csv()
