"""What a card says of an answer that was paid before, and of one that was paid more than once: the same in every form."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace

import nbformat
import nh3
import pytest

from dpnb import widgets
from dpnb.cards import estimate_card, release_card
from dpnb.cards.payments import AGAIN, LONGEST, more_of, stored_of, trail_of, when
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.exhibits import EXHIBITS
from dpnb.exhibits.card import exhibit_card
from dpnb.inference.seeded_bits import SeededBits
from dpnb.statistics import conclude
from dpnb.trusted.privacy.loss import PrivacyLoss
from tests.cards import made
from tests.cards.test_cards import all_cards
from tests.contracts.questions import TABLES, UNITS, X, asked, released, schema


def measured(times, *, stored=False, statistic="mean", options=None):
    """A number that was paid for so many times, each time with noise of its own."""
    where = schema(UNITS["change-one"])
    one = asked({"target": X, **(options or {})}, statistic, where, "epsilon", "8")
    leaves = [released(one, TABLES["constant"], where, SeededBits(seed)).measurement for seed in range(times)]
    releases = tuple(
        replace(leaf.releases[0], id=f"{place:02}", entry=place + 3, stored=stored)
        for place, leaf in enumerate(leaves)
    )
    first = leaves[0]
    leaf = PendingQuestion(first.question, first.checked, dataset=first.dataset)
    leaf.fill(releases, conclude(first.checked, releases))
    return leaf


def words(card):
    """The words of a card without its styles, as a sanitiser leaves it."""
    return re.sub(r"<[^>]+>|\s+", " ", html.unescape(nh3.clean(card.html)))


def test_the_badge_opens_on_what_was_paid_and_what_asking_again_costs():
    """When it was paid, its ledger entry and loss; that asking again is free; what fresh would cost: in HTML, text and JSON."""
    card = release_card(made.report("collected", "effect", stored=("collected",)))
    said = "ε 0.5 on 2026-01-02 03:04, ledger entry 7"
    assert said in card.text
    assert card.html.count('<details class="stored"') == 1
    for part in (said, f"ε 0: {AGAIN}", "ε 0.5 for new noise"):
        assert part in words(card)
        assert any(part == row[1] for row in card.json["lines"][0]["stored"]["rows"])
    assert "stored" not in card.json["lines"][1]


def test_what_fresh_costs_is_the_price_of_this_cell():
    """Not what was paid before: the cell asks with another loss."""
    leaf = measured(1, stored=True)
    assert stored_of(leaf).fresh == "ε 8"
    assert stored_of(leaf, PrivacyLoss.pure("0.1")).fresh == "ε 0.1"


def test_only_an_answer_that_cost_nothing_now_has_the_badge():
    """A paid one, a public one and a derived one have none."""
    assert stored_of(measured(1)) is None
    assert stored_of(None) is None
    assert '<details class="stored"' not in release_card(made.report("collected", "everyone")).html


def test_both_payments_of_a_stored_answer_are_told():
    """Each with its own ledger entry."""
    assert [text.rpartition(" ")[2] for text in stored_of(measured(2, stored=True)).paid] == ["3", "4"]


@pytest.mark.parametrize(
    ("time", "said"),
    [
        ("2026-01-02T03:04:05+00:00", "2026-01-02 03:04 UTC"),
        ("2026-01-02T03:04:05Z", "2026-01-02 03:04 UTC"),
        ("2026-01-02T03:04:05", "2026-01-02 03:04"),
        ("", ""),
        ("soon", "soon"),
    ],
)
def test_a_time_is_written_to_the_minute(time, said):
    """And left alone where it is none."""
    assert when(time) == said


def test_earlier_intervals_stay_as_a_trail():
    """Each is what was concluded then, and has a row of its own, fainter the older it is; the present one is drawn as ever."""
    leaf = measured(3)
    steps = trail_of(leaf)
    for upto, step in enumerate(steps, 1):
        then = conclude(leaf.checked, leaf.releases[:upto]).interval(0.95, "privacy")
        assert (step.low, step.high) == tuple(then)
    assert [step.paid for step in steps] == ["ε 8", "ε 16", "ε 24"]
    card = estimate_card(Estimate.leaf(leaf))
    assert [step["paid"] for step in card.json["trail"]] == ["ε 8", "ε 16"]
    assert "before, at ε 8" in words(card)
    assert "before, at ε 16 " in card.text
    faint = [float(x) for x in re.findall(r'opacity="([\d.]+)"', card.html)]
    assert faint == sorted(faint)
    assert len(faint) == 2
    assert json.loads(json.dumps(card.json, allow_nan=False)) == card.json


def test_an_answer_paid_once_has_no_trail():
    """Nothing is drawn of what there was not."""
    card = estimate_card(Estimate.leaf(measured(1)))
    assert "trail" not in card.json
    assert "before, at" not in card.text


def test_a_long_trail_shows_its_newest():
    """Ten payments do not make a card of ten rows."""
    steps = trail_of(measured(10))
    assert len(steps) == LONGEST
    assert steps[-1].paid == "ε 80"


def test_a_trail_is_concluded_once(monkeypatch):
    """A card that is drawn again computes nothing."""
    leaf = measured(2)
    first = trail_of(leaf)
    monkeypatch.setattr("dpnb.cards.payments.conclude", pytest.fail)
    assert trail_of(leaf) is first


def test_what_can_be_paid_on_top_is_said_where_it_can_be_foretold():
    """A mean can, and means by group; a quantile's accuracy depends on the data; a public count and a derived number have nothing to buy."""
    assert more_of(measured(1)) == "ε"
    card = release_card(
        made.report(
            "collected", "age", "by_any", "everyone", named=[("half", lambda found: found["collected"] / 2)]
        )
    )
    assert [line["name"] for line in card.json["lines"] if line.get("again")] == ["collected", "by_any"]


def exported(form, bundles):
    """What nbconvert makes of a notebook with these outputs, and the files beside it."""
    nbconvert = pytest.importorskip("nbconvert")  # one Python has JupyterLab and what comes with it
    cell = nbformat.v4.new_code_cell("m")
    cell.outputs = [nbformat.v4.new_output("display_data", bundle) for bundle in bundles]
    page, resources = nbconvert.get_exporter(form)().from_notebook_node(
        nbformat.v4.new_notebook(cells=[cell])
    )
    return page, resources["outputs"]


def test_an_exported_notebook_has_the_card_that_stands_still():
    """An export by nbconvert takes the HTML of a bundle, whatever record stands beside it: the badge opens there without scripts."""
    page, _ = exported("html", [release_card(made.report("collected", stored=("collected",))).bundle()])
    assert '<details class="stored"><summary' in page
    assert "vnd.dpnb" not in page


def test_a_notebook_with_every_kind_of_card_is_exported_as_latex():
    """Cards, an exhibit and an interaction stand in it as text; none needs Inkscape, or any other program."""
    lab = widgets.coverage_lab("mean", "skewed", epsilon=0.5)
    shown = [*all_cards().values(), exhibit_card(EXHIBITS[0]), lab.card()]
    page, files = exported("latex", [card.bundle() for card in shown])
    assert not files
    for card in shown:
        assert card.text.split()[0] in page
