"""A contingency table is drawn as a table, with both intervals in each cell; a large one is a list of cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpnb.cards.released import estimate_card
from dpnb.errors import OptionError
from dpnb.inference.seeded_bits import SeededBits
from dpnb.planner.expression import Compare, Const
from tests.contracts.questions import UNITS, B, G, X, asked, released, schema

TABLE = {"x": [31.0, 80.0, 2.0], "y": [1.0] * 3, "b": [1, 0, 1], "g": ["u", "v", "w"]}


def table(**sample: Any) -> Any:
    """A released table of groups by the two-valued column."""
    where = schema(UNITS["add-remove"])
    item = asked({"target": B, "by": (G,), **sample}, "crosstab", where, "epsilon", 5)
    return released(item, TABLE, where, SeededBits(3))


def test_rows_and_columns_are_the_keys():
    """The last key is across, the other down, and every cell has its value and interval, in text and in HTML."""
    found = table()
    card = estimate_card(found)
    lines = card.text.splitlines()
    assert lines[1].split() == ["g", "\\", "b", "0", "1"]
    assert [line.split()[0] for line in lines[2:8:2]] == ["u", "v", "w"]
    assert '<thead><tr><th scope="col">g \\ b</th>' in card.html
    assert card.html.count("<small>[") == 6
    assert "[privacy interval]" in card.text


def test_shares_show_both_intervals():
    """Shares read from a table are a table too, and say which bracket is which interval."""
    card = estimate_card(table().proportions(within="rows"))
    assert "[privacy interval], (confidence interval)" in card.text
    assert card.html.count("<small>(") == 6


def test_three_keys_name_two_in_each_row():
    """With three keys the rows are the combinations of the first two."""
    card = estimate_card(table(by=(G, Compare(">", X, Const(50)))))
    assert "u · False" in card.text


def test_a_large_table_is_a_list_of_cells():
    """More than eight columns do not fit: the first cells are listed, and how many more there are."""
    found = table(target=X)
    assert found.shape == (3, 101)
    assert "291 more" in estimate_card(found).text


def test_a_margin_is_an_ordinary_vector():
    """One key is left: a list, as for any other vector."""
    assert "\\" not in estimate_card(table().margin("g")).text


def test_a_table_can_be_made_wide():
    """The last key goes across, in the order of its values, whatever column fills the cells."""
    found = table()
    wide = found.table().wide()
    assert list(wide.columns) == ["g", "b=0", "b=1"]
    assert np.array([wide["b=0"], wide["b=1"]]).T.tolist() == found.value.tolist()
    low = found.table().wide("privacy_low")
    assert low["b=1"] == tuple(found.interval(0.95, "privacy").low[:, 1])


def test_what_cannot_be_made_wide_says_what_can():
    """One key or an unknown column of numbers is refused by name."""
    for call in (lambda: table().margin("g").table().wide(), lambda: table().table().wide("mean")):
        with pytest.raises(OptionError, match="two keys"):
            call()
