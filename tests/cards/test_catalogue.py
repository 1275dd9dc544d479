"""The table of what can be asked is found by asking, and the reference shows it as it is."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from dpnb.__main__ import main
from dpnb.cards import catalogue as room
from dpnb.cards.catalogue import catalogue, catalogue_card, markdown
from dpnb.errors import SchemaError
from dpnb.statistics import BY_NAME, STATISTICS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "statistics.md"


def test_every_registered_statistic_has_a_row():
    assert [entry.name for entry in catalogue()] == [statistic.name for statistic in STATISTICS]


def test_the_reference_and_the_command_line_say_what_the_registry_says():
    """Every fact of a statistic is on the page, in its overview or its section; write it anew with ``make reference``."""
    overview, *sections = PAGE.read_text(encoding="utf-8").split("\n## ")
    lines = [line for line in overview.splitlines() if line.startswith("| [")]
    rows = markdown().splitlines()[2:]
    for entry, line, section, row in zip(catalogue(), lines, sections, rows, strict=True):
        in_section = (*entry.released, *entry.readings, entry.reference)
        for text, facts in ((line, (entry.example, *entry.intervals)), (section, in_section)):
            for fact in facts:
                assert fact in text
                assert fact in row


def test_what_the_table_says_of_known_statistics_is_so():
    found = {entry.name: entry for entry in catalogue()}
    assert found["mean"].intervals == ("privacy", "confidence")
    assert found["count"].intervals == ("privacy",)
    assert found["mode"].intervals == ()
    assert found["mean"].losses == ("ε", "ρ", "(ε, δ)")
    assert ".median()" in found["tree"].readings
    assert all(entry.status == "proven" and entry.reference for entry in found.values())


@pytest.mark.parametrize("name", [statistic.name for statistic in STATISTICS])
def test_an_example_is_a_question_as_it_is_typed(name):
    entry = next(entry for entry in catalogue() if entry.name == name)
    assert entry.example.startswith("ds")
    assert entry.released


def test_the_card_has_a_block_for_each_statistic_and_no_wide_table():
    """Every fact of the table is in the card, in rows of two cells, so that no column is squeezed or cut off."""
    made = catalogue_card().html
    shown = html.unescape(made.replace("<wbr>", ""))
    for entry in catalogue():
        example, adjacency, loss, released, intervals, readings, status, reference = entry.cells()
        for fact in (example, adjacency, loss, released, intervals, status, reference):
            assert fact in shown
        assert readings in shown or not entry.readings
    rows = re.findall(r"<tr>(.*?)</tr>", made)
    assert len(rows) >= 2 * len(STATISTICS)
    assert all(row.count("<td") == row.count("<th") == 1 for row in rows)


def test_the_card_says_in_text_what_it_says_in_html():
    card = catalogue_card()
    for entry in catalogue():
        assert entry.example in card.text


def test_a_statistic_that_refuses_every_column_of_the_example_has_a_row_that_says_why(monkeypatch, capsys):
    """The table is printed all the same, by the command line too, and its card is drawn."""

    class Nightly(type(BY_NAME["sum"])):
        name, title = "nightly", "sum of nights"

        def domain(self, setting):
            raise SchemaError(f"{setting.target.highest} is no number of nights. Ask it of nights.")

    monkeypatch.setitem(BY_NAME, "nightly", Nightly())
    monkeypatch.setattr(room, "STATISTICS", (BY_NAME["mean"], BY_NAME["nightly"]))
    catalogue.cache_clear()
    try:
        assert main(["statistics"]) == 0
        *_, mean, nightly = capsys.readouterr().out.splitlines()
        assert "confidence" in mean
        assert nightly.startswith(
            "| `nightly` | – | – | no example: 100 is no number of nights. Ask it of nights. | – |"
        )
        assert "Ask it of nights." in catalogue_card().text
    finally:
        catalogue.cache_clear()
