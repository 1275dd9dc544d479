"""The pages of the exhibits: levers are the exhibits' own functions, neighbours are shown as they are, cells run."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

from dpnb import widgets
from dpnb.exhibits import EXHIBITS, find
from dpnb.exhibits.card import exhibit_card
from dpnb.exhibits.drawing import drawing, themed
from dpnb.exhibits.exhibit import THEMES
from dpnb.exhibits.matching_picture import Change
from dpnb.exhibits.page import frequencies, neighbour_rows, record

NAMES = [exhibit.name for exhibit in EXHIBITS]
LEVERS = {exhibit.name: exhibit.lever for exhibit in EXHIBITS if exhibit.lever}
# levers that show a consequence in another unit than the exhibit's number, each tested below
OTHERWISE = {"resized-bootstrap", "free-bootstrap", "zero-noise-error", "winsorized-noise", "same-utility"}


def test_every_exhibit_has_one_theme_and_one_cell():
    """Every theme has exhibits, and each has something to type."""
    assert {exhibit.theme for exhibit in EXHIBITS} == set(THEMES)
    assert all(exhibit.cell for exhibit in EXHIBITS)
    assert set(NAMES) - set(LEVERS) == {"nan-through-the-clamp", "matching", "trimmed-regression"}


@pytest.mark.parametrize("name", LEVERS)
def test_a_lever_at_the_exhibit_s_place_breaks_the_claim(name):
    """The setting at which the exhibit stands is one of the lever's, and there the promise is not kept."""
    lever = record(find(name))["lever"]
    assert lever["values"] == sorted(lever["values"])
    assert lever["kept"][lever["at"]] is False


@pytest.mark.parametrize("name", sorted(set(LEVERS) - OTHERWISE))
def test_a_lever_at_the_exhibit_s_place_shows_its_numbers(name):
    """Claimed, actual and corrected are those of the exhibit, to four digits."""
    lever, numbers = LEVERS[name], find(name).numbers()
    claimed, actual, corrected = lever.lines(lever.at)
    assert claimed == pytest.approx(numbers.broken.claimed, rel=1e-4)
    assert actual == pytest.approx(numbers.broken.actual, rel=1e-4)
    if corrected is not None:
        assert corrected == pytest.approx(numbers.corrected.actual, rel=1e-4)


def test_levers_in_another_unit_show_what_the_exhibit_says_in_words():
    """Seven uses give proof with probability one half; δ, the sensitivity at N* = 1 and the noise alone are those in the text."""
    uses, inflated, small_arm, crossed, resamples = (
        LEVERS[name].lines
        for name in (
            "resized-bootstrap",
            "free-bootstrap",
            "zero-noise-error",
            "winsorized-noise",
            "same-utility",
        )
    )
    more = {name: dict(find(name).numbers().more) for name in OTHERWISE}
    assert uses(6)[1] < 0.5 <= uses(7)[1]
    assert more["resized-bootstrap"]["uses"].startswith("7 uses")
    assert re.search(
        r"0\.1[123] from the resized .* 0\.4\d from plain .* 0\.2\d with .* 0\.0\d with .* 0\.00 from fresh",
        more["resized-bootstrap"]["data reuse"],
    )
    assert more["free-bootstrap"]["δ at that ε"].startswith(f"{inflated(1)[1]:.2g} ")
    assert inflated(4.05)[1] < 1e-6 < inflated(2)[1]
    assert f"{small_arm(1)[1]:.3f} at N* = 1" in more["zero-noise-error"]["true sensitivity"]
    assert small_arm(1)[0] == 0
    assert crossed(1)[1] == pytest.approx(find("winsorized-noise").numbers().broken.actual)
    simulated = find("same-utility").numbers().broken
    assert abs(resamples(1)[1] - simulated.actual) <= simulated.tolerance


def test_a_chain_s_loss_is_that_of_all_its_outputs():
    """The lever looks at the outputs near both ends alone; the whole law has no worse one."""
    from dpnb.exhibits.composing import chain_laws

    assert LEVERS["product-of-epsilons"].lines(0.1)[1] == pytest.approx(chain_laws().pure().loss, abs=1e-9)


def test_a_lever_that_can_be_kept_says_where():
    """Few answers, a value near the old one, a bound of 5: the same rule then keeps its promise."""
    for name, kept_at in (("advanced-constant", 1), ("change-one-noise", 0), ("zero-sensitivity", 5)):
        lever = record(find(name))["lever"]
        assert lever["kept"][lever["values"].index(kept_at)] is True


@pytest.mark.parametrize("name", NAMES)
def test_neighbours_are_shown_as_they_are(name):
    """What differs is marked, what is left out is counted, and the rows are those of the exhibit."""
    exhibit = find(name)
    shown, sizes = neighbour_rows(exhibit), [_size(data) for data in exhibit.neighbours]
    if shown is None:
        assert all(_size(data) == 1 for data in exhibit.neighbours)
        return
    assert len(shown["rows"]) + shown["same"] + shown["different"] == max(sizes)
    assert all(differs is (one != two) for one, two, differs in shown["rows"])
    assert any(differs for _, _, differs in shown["rows"])


def _size(data):
    return len(data[0]) if isinstance(data, tuple) else len(data)


def test_the_event_is_seen_in_one_world_alone():
    """Where the loss is infinite an event is impossible under one neighbour and seen under the other."""
    infinite = [e.name for e in EXHIBITS if math.isinf(e.numbers().broken.actual)]
    for name in infinite:
        _, first, second = frequencies(find(name))
        assert min(first, second) == 0 < max(first, second), name
    assert frequencies(find("change-one-noise")) is None
    share = find("resized-bootstrap").flawed(np.append(np.zeros(999), 1))
    assert frequencies(find("resized-bootstrap"))[2] == round(1000 * (1 - share[0.0]))


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_strict_json_and_its_picture_stands_still(name):
    """No infinity crosses; the still picture has a text, and names no colour by itself."""
    told = record(find(name))
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["theme"] in THEMES
    picture = drawing(told)
    assert (picture is None) is (told["lever"] is None)
    if picture is not None:
        assert "<title>" in picture
        assert "<desc>" in picture
        assert "inf " not in picture
        assert "nan" not in picture


def test_what_one_row_does_to_a_matching_is_drawn_with_its_words():
    """In the exhibit's card and the gallery's still form: its own neighbours first, then four rows that differ, net 0 and net −2."""
    matching = find("matching")
    picture = str(matching.picture())
    for sentence in (
        "The control row at 0.1 becomes the control row at 0.6: 2 rows matched, then 0; 2 differ.",
        "The treated row at 0.14 becomes the control row at 0.64: 2 rows matched, then 2; 4 differ.",
        "The treated row at 0.14 becomes the control row at 0.56: 4 rows matched, then 2; 4 differ.",
    ):
        assert picture.count(sentence) == 2  # the description and the label
    shown = themed(picture)
    assert "var(--dp-accent" in shown
    assert shown in exhibit_card(matching).html
    assert shown in widgets.exhibits("matching").card().html
    assert [exhibit.name for exhibit in EXHIBITS if exhibit.picture is not None] == ["matching"]
    # rows that match nobody, and one that is matched in both tables
    assert Change(((0.1, 1), (0.9, 0)), (0.2, 1), 0.05).differing() == 0
    assert Change(((0.1, 1), (0.1, 0)), (0.12, 1), 0.05).differing() == 2


def test_a_page_without_its_lever_says_everything_else():
    """The lever is what takes time; the rest is there at once."""
    whole, quick = record(find("matching")), record(find("matching"), lever=False)
    assert whole == quick
    assert record(find("rule-2.996"), lever=False)["lever"] is None
