"""What is shown in place of a number: the declared labels of a choice, and that an entry is undefined."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dpnb.estimate import Estimate
from dpnb.estimate.wording import printable, words
from dpnb.statistics._base import Axis
from tests.estimate.fakes import FakeOutcome, fill, make_release, pending


@dataclass(frozen=True, eq=False)
class Choice(FakeOutcome):
    labels: tuple[Any, ...] = ()
    cell_flags: tuple[tuple[str, ...], ...] = ()


def made(value: Any, *axes: Axis, labels: Any = (), flags: Any = ()) -> Estimate:
    """A released answer with labels, or with flags of its entries."""
    value = np.asarray(value, dtype=float) if np.ndim(value) else float(value)
    estimate = pending("shop.town.mode()", np.shape(value))
    checked = estimate.measurement.checked
    object.__setattr__(checked, "axes", axes)
    filled = Estimate.leaf(estimate.measurement)
    outcome = Choice(value, labels=tuple(labels), cell_flags=tuple(flags))
    estimate.measurement.fill((make_release(),), outcome)
    return filled


TOWN = Axis("town", "town", ("north", "south"))
RANK = Axis("rank", "rank", (1, 2))


def test_one_choice_reads_as_its_label_and_its_value_stays_the_number():
    """repr, str and an empty format show the label; float, arithmetic and a number format use the place."""
    one = made(0, labels=["Aa"])
    assert repr(one).startswith("<shop.town.mode(): Aa")
    assert (str(one), f"{one}", f"{one:.1f}") == ("Aa", "Aa", "0.0")
    assert one.value == 0.0
    assert float(one + 1) == 1.0
    assert str(one + 1) == "1"


def test_several_picks_and_groups_read_as_lists():
    """Picks are listed best first, groups by key, and both with a semicolon between groups."""
    assert str(made([0, 1], RANK, labels=["Aa", "Bb"])) == "Aa, Bb"
    assert str(made([1, 0], TOWN, labels=["Bb", "Aa"])) == "north: Bb; south: Aa"
    both = made([[0, 1], [1, 0]], TOWN, RANK, labels=["Aa", "Bb", "Bb", "Aa"])
    assert str(both) == "north: Aa, Bb; south: Bb, Aa"
    assert str(made([0], Axis("rank", "rank", (1,)), labels=["Aa"])) == "Aa"


def test_groups_are_shown_with_their_labels_in_the_declared_order():
    """Each number stands behind its keys, in print and in a list; several keys are joined; what has no keys is a list."""
    groups = made([1234.0, -2.5], TOWN)
    assert (str(groups), f"{groups}") == ("north: 1,234; south: -2.5",) * 2
    assert repr([groups]) == "[<shop.town.mode(): north: 1,234; south: -2.5>]"
    both = made([[1.0, 2.0], [3.0, 4.0]], TOWN, Axis("open", "open", (0, 1)))
    assert str(both) == "north · 0: 1; north · 1: 2; south · 0: 3; south · 1: 4"
    assert str(both["south"]) == "0: 3; 1: 4"
    assert str(made([1.0, 2.0])) == "[1, 2]"
    assert str(groups["north"]) == "1,234"


@pytest.mark.parametrize("labels", [["Aa"], []])
def test_a_long_list_says_how_much_it_leaves_out(labels):
    """``print`` writes sixty lines and ``repr`` twenty entries; each counts the others."""
    shown = labels[0] if labels else "0"
    many = made([0] * 70, Axis("place", "place", tuple(range(70))), labels=labels * 70)
    lines = str(many).split("\n")
    assert lines == [*(f"{key}: {shown}" for key in range(60)), "… and 10 more: .table() has them all"]
    assert repr(many).endswith(f"18: {shown}; 19: {shown}; … and 50 more>")
    some = made([0] * 60, Axis("place", "place", tuple(range(60))), labels=labels * 60)
    assert str(some).split("\n") == lines[:60]


def test_a_long_list_without_keys_says_how_much_it_leaves_out():
    """Arithmetic may leave no keys: the values stand in brackets."""
    many = made(np.arange(30.0))
    assert repr(many).endswith("18, 19, … and 10 more]>")
    assert str(many).split("\n") == [str(place) for place in range(30)]


def test_an_indexed_choice_keeps_its_labels():
    """Indexing by key, by slice and twice gives the labels of those places."""
    both = made([[0, 1], [2, 0]], TOWN, RANK, labels=["Aa", "Bb", "Cc", "Aa"])
    assert str(both["south"]) == "Cc, Aa"
    assert both["south"].labels.tolist() == ["Cc", "Aa"]
    assert str(both["south"][1]) == "Cc"
    assert both["south"][1].value == 2.0
    assert both["south"][1].labels == "Cc"


@pytest.mark.parametrize("label", [7, 7.0, True])
def test_a_label_that_is_its_number_changes_nothing(label):
    """Where the declared values are numbers the text is the number, and the table has no label."""
    one = made(float(label), labels=[label])
    assert words(one) == ()
    assert str(one) == f"{float(label):g}"
    assert "label" not in one.table().columns
    assert "labels" not in one.to_dict()


def test_a_number_among_labels_is_shown_and_not_its_place():
    """Where only some declared values are numbers, 3 at place 1 is shown as 3; text that looks like its place is text."""
    assert str(made(1, labels=[3])) == "3"
    assert words(made(1, labels=["1"])) == ("1",)


def test_a_table_has_the_label_before_the_value():
    """The column says what was picked; a key that has its name keeps it."""
    table = made([1, 0], TOWN, labels=["Bb", "Aa"]).table()
    assert list(table.columns)[:3] == ["town", "label", "value"]
    assert table["label"] == ("Bb", "Aa")
    assert table["value"] == (1.0, 0.0)
    assert "Bb" in repr(table)
    clash = made([1, 0], Axis("label", "label", ("x", "y")), labels=["Bb", "Aa"]).table()
    assert clash["label"] == ("x", "y")
    assert clash["label of value"] == ("Bb", "Aa")


def test_labels_go_into_json():
    """to_dict names what was picked, in JSON's own types."""
    assert json.loads(json.dumps(made([1, 0], TOWN, labels=["Bb", "Aa"]).to_dict()))["labels"] == ["Bb", "Aa"]


def test_labels_cannot_redraw_a_terminal():
    """Control characters and marks of direction are left out of texts; line ends and other spaces become a space."""
    assert printable("a\x1b[2J\u202eb\nc\u00a0d") == "a[2Jb c d"
    assert "\x1b" not in repr(made(0, labels=["A\x1b[2Ja"]))
    assert made(0, labels=["A\x1b[2Ja"]).labels == "A\x1b[2Ja"


def test_undefined_entries_say_so_and_the_others_stay_numbers():
    """Only entries with their own flag read *undefined*, indexed or not; values stay, and the table has a note."""
    pair = made([0.0, 0.5], TOWN, flags=[("undefined",), ()])
    assert str(pair) == "north: undefined; south: 0.5"
    assert str(pair["north"]) == "undefined"
    assert str(pair["south"]) == "0.5"
    assert pair.value.tolist() == [0.0, 0.5]
    assert pair.table()["note"] == ("undefined", "")
    assert "note" not in pair["south"].table().columns
    assert "note" not in fill(pending()).table().columns
