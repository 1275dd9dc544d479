"""The exhibit gallery: pages of the exhibits' own facts, opened by name, computed when they are opened; no data, no loss."""

from __future__ import annotations

import inspect
import json

import pytest

from dpnb import widgets
from dpnb.errors import OptionError
from dpnb.exhibits import EXHIBITS, find
from dpnb.exhibits.page import record
from dpnb.notebook.commands import INTERACTION_COMMANDS


def test_pages_are_those_of_the_exhibits():
    """Every exhibit has its page, in the order in which they teach, with the facts of its card."""
    pages = widgets.exhibits().facts["pages"]
    assert [page["name"] for page in pages] == [exhibit.name for exhibit in EXHIBITS]
    for page, exhibit in zip(pages, EXHIBITS, strict=True):
        assert page == record(exhibit, lever=False)


def test_a_lever_is_computed_when_its_page_is_opened():
    """The index computes none; a page computes its own; ``run()`` all, for where there is no kernel."""
    gallery = widgets.exhibits()
    assert gallery.facts["levers"] == {}
    gallery.chosen = {"open": "rule-2.996"}
    assert set(gallery.facts["levers"]) == {"rule-2.996"}
    assert gallery.facts["levers"]["rule-2.996"] == record(find("rule-2.996"))["lever"]
    assert set(gallery.run().facts["levers"]) == {exhibit.name for exhibit in EXHIBITS}


def test_a_link_names_its_page():
    """A whole name, or a part that one exhibit alone has; what is none or several lists them all."""
    assert widgets.exhibits("resized-bootstrap").chosen["open"] == "resized-bootstrap"
    assert INTERACTION_COMMANDS["exhibits"]({}, "Resized Bootstrap").chosen["open"] == "resized-bootstrap"
    assert INTERACTION_COMMANDS["exhibits"]({}, "hash").chosen["open"] == "content-hash-partition"
    assert INTERACTION_COMMANDS["exhibits"]({}, "").chosen["open"] == ""
    for name in ("bootstrap", "hope"):
        with pytest.raises(OptionError, match="resized-bootstrap"):
            widgets.exhibits(name)


def test_the_still_form_is_the_table_or_the_page():
    """Of the index all exhibits, of a page everything that it says: in HTML, as text, without scripts."""
    table = widgets.exhibits().card()
    assert all(exhibit.name in table.text for exhibit in EXHIBITS)
    page = widgets.exhibits("matching").card()
    assert find("matching").correction.split()[0] in page.text
    assert "%%dp" in widgets.exhibits("difference").card().text
    assert "<script" not in page.html
    assert {card.mime for card in (table, page)} == {"application/vnd.dpnb.interaction+json"}
    assert all("Moving a control spends nothing" in card.html for card in (table, page))


def test_what_no_exhibit_is_called_leaves_the_page_open():
    """A name from the browser that is none is answered in the picture; page and still form stay."""
    gallery = widgets.exhibits("matching")
    for nonsense in ("hope", 3, None, ["matching"], {"a": 1}):
        gallery.chosen = {"open": nonsense}
        assert "No exhibit" in gallery.facts["problem"]
        assert gallery.card().text == find("matching").text
    gallery.chosen = {"open": "float-sum"}
    assert gallery.facts["problem"] == ""
    json.dumps(gallery.facts, allow_nan=False)


def test_a_gallery_takes_no_data(data):
    """The only parameter is a name; a dataset or a column is refused with the reason."""
    assert set(inspect.signature(widgets.exhibits).parameters) == {"name"}
    for given in (data, data.x, data.x.mean(), [0, 1]):
        with pytest.raises(OptionError, match="takes no data"):
            widgets.exhibits(given)
