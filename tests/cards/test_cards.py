"""Cards say what was released, escape what is not theirs, and read without styles, drawings and scripts."""

from __future__ import annotations

import html as html_text
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import nh3
import numpy as np
import pytest

from dpnb import cards
from dpnb.cards.explain import explain, odds_sentence
from dpnb.cards.facts import Entry, flag_words, line_of
from dpnb.estimate import Estimate
from dpnb.inference import digits
from tests.cards import made
from tests.estimate import fakes

GOLDEN = Path(__file__).parents[1] / "golden" / "cards"

FIVE = ("collected", "effect", "age", "by_any")
SPREAD = ("spread", lambda found: (found["collected"] * (1 - found["collected"])) ** 0.5)


def five():
    """The batch of the tour."""
    return made.report(*FIVE, named=[SPREAD], dropped=3)


def all_cards(schema=None):
    """One card of each kind."""
    schema = schema or made.study()
    released = made.report(*FIVE, schema=schema, named=[SPREAD])
    return {
        "attach": cards.attach_card(schema, made.budget(), ["These rows were here before."]),
        "schema": cards.schema_card(schema),
        "plan": cards.plan_card(made.plan(*FIVE, schema=schema)),
        "release": cards.release_card(released),
        "estimate": cards.estimate_card(Estimate.leaf(released.measurements[1])),
        "ledger": cards.ledger_card(made.rows()),
        "budget": cards.budget_card(schema, made.budget()),
        "explanation": explain(Estimate.leaf(released.measurements[0])).card(),
    }


KINDS = sorted(all_cards())


def sanitised(html):
    """The text that is left when a sanitiser has done its work, one line for each table row or block."""
    kept = nh3.clean(str(html))
    assert "style=" not in kept
    assert "<svg" not in kept
    kept = re.sub(r"</(tr|p|h3|h4|div)>", "\n", kept)
    text = html_text.unescape(re.sub(r"<[^>]+>", " ", kept))
    lines = (re.sub(r"\s+", " ", line).strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


#: What is not seen, or is no word: drawings, code, and what is folded but its summary.
_UNSEEN = re.compile(r"<(svg|code|style)\b.*?</\1>|<details\b[^>]*>(?=<summary)", re.DOTALL)
_FOLDED = re.compile(r"(</summary>).*?</details>", re.DOTALL)


def words_seen(card):
    """The words that are seen of a card before anything is unfolded."""
    seen = _FOLDED.sub(r"\1", _UNSEEN.sub(" ", str(card.html)))
    return re.findall(r"[^\W\d_][\w'’-]+", html_text.unescape(re.sub(r"<[^>]+>", " ", seen)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_card_has_few_words(kind):
    """At most 90 words of the release card of the tour's questions, and 120 of any other, are seen before anything is unfolded."""
    words = words_seen(all_cards()[kind])
    assert 0 < len(words) <= {"release": 90}.get(kind, 120), words


@pytest.mark.parametrize("kind", KINDS)
def test_text_is_golden(kind):
    """The text form of each card is what it was."""
    text = all_cards()[kind].text + "\n"
    path = GOLDEN / f"{kind}.txt"
    assert text == path.read_text(encoding="utf-8")


def test_release_reads_without_styles_drawings_and_scripts():
    """After nh3 each line still says name, question, value, both named intervals, accuracy, price and mechanism, in order."""
    text = sanitised(cards.release_card(five()).html)
    wanted = [
        "Released from hiv",
        "collected",
        "ε 0.375",
        "0.6964 noise costs 3 % of the sample",
        "privacy interval 0.69",
        "confidence interval 0.67",
        "effect",
        "ε 0.375 with by_any",
        "0.463",
        "privacy interval 0.443 to 0.484",
        "confidence interval 0.416 to 0.508",
        "by_any",
        "paid with effect",
        "any value privacy interval confidence interval noise costs",
        "age",
        "Right to ± 2.3 % of people",
        "spread",
        "free",
        "ε 0.375 + ε 0.375 + ε 0.25 = ε 1 · ε 3 of 4 left",
        "3 questions had no name when the cell ended: not released, nothing spent.",
        "How it was made",
        "collected hiv.got.mean()",
        "discrete Laplace noise, scale",
        "as accurate as 2,821 people without noise (of 2,897)",
        "ledger entry 7",
    ]
    places = []
    start = 0
    for words in wanted:
        start = text.index(words, start)
        places.append(start)
    assert places == sorted(places)


def test_the_card_of_the_tour_has_few_words():
    """Five answers with at most 90 words, of which 27 say the questions of an open dataset; each thing is said once, the rest on demand."""
    card = cards.release_card(made.report(*FIVE, named=[SPREAD]))
    seen = words_seen(card)
    assert 40 <= len(seen) <= 90 - 27, " ".join(seen)
    assert " ".join(seen).count("of the sample") == 1
    assert "No interval was bought" not in " ".join(seen)
    assert "No interval was bought" in sanitised(card.html)


@pytest.mark.parametrize("kind", KINDS)
def test_every_card_survives_the_sanitiser(kind):
    """What a sanitiser leaves of a card still holds its first words and its numbers."""
    card = all_cards()[kind]
    text = sanitised(card.html)
    assert len(text) > 30
    for number in re.findall(r"\d+\.\d{2,}", text):
        assert number in card.text


def test_plan_says_nothing_was_spent_and_itemises():
    """A plan names each question, its parts with mechanism and sensitivity, its cost, the total and what would be left."""
    text = sanitised(cards.plan_card(made.plan("collected", "effect")).html)
    assert "Nothing was spent." in text
    assert "one person moves it by at most 2" in text
    assert "This plan costs ε 1. ε 3 of ε 4 would be left." in text
    assert text.count("ε 0.5") >= 2


def test_plan_that_does_not_fit_says_so():
    """A plan that costs more than is left says that it would be refused."""
    assert "would be refused" in cards.plan_card(made.plan("collected", left="0.5")).text


def test_stored_line_is_free():
    """An answer from the store is badged and adds nothing."""
    report = made.report("collected", stored=("collected",))
    assert "stored · ε 0" in sanitised(cards.release_card(report).html)


def test_public_answer_is_exact():
    """A public size is shown whole, without an interval, and as exact."""
    text = cards.release_card(made.report("everyone")).text
    assert "4,820" in text
    assert "4,820.0" not in text
    assert "public · free" in text
    assert "interval" not in text.split("░")[0]


def test_attach_names_what_everybody_may_know():
    """Unit, columns with label, type, bounds and missing rule, dummy rows, budget and the mode's honest sentence."""
    text = sanitised(all_cards()["attach"].html)
    for words in (
        "GUARD-RAIL",
        "Stops accidents.",
        "These rows were here before.",
        "one row = one person",
        "got collected the result category 0/1 left out",
        "age collected the result integer 0 to 100 counted as 30",
        "Made-up rows",
        "spent ε 1.5 · ε 2.5 of 4 left",
    ):
        assert words in text


def test_long_vector_shows_twelve_and_how_to_see_the_rest():
    """Twelve rows, then how many more and what lists them."""
    card = cards.release_card(made.report("villages"))
    assert "… and 8 more: villages.table()" in card.text
    assert card.json["lines"][0]["more"] == 8
    assert len(card.json["lines"][0]["entries"]) == 12


def test_hidden_line_leaves_headline_and_budget():
    """Where the cell draws its only estimate itself, the batch card is headline and budget."""
    text = sanitised(cards.release_card(made.report("collected", hidden=("collected",))).html)
    assert "Released from hiv" in text
    assert "ε 3 of 4 left" in text
    assert "privacy interval" not in text


def test_pending_estimate_says_that_nothing_was_spent():
    """A pending estimate has a card, without a number."""
    leaf = made.plan("collected").measurements[0]
    assert "Nothing was spent" in sanitised(cards.estimate_card(Estimate.leaf(leaf)).html)


# ---------------------------------------------------------------- other people's text


@pytest.mark.parametrize("kind", KINDS)
def test_labels_cannot_become_markup(kind):
    """An owner's label stays text: no tag, no attribute, no terminal escape, no reversed line."""
    card = all_cards(made.study(label=made.EVIL, title=made.EVIL))[kind]
    assert "<script>alert" not in card.html
    assert "<img" not in card.html
    assert "\u202e" not in card.html
    assert "\x1b" not in card.text
    assert "\u202e" not in card.text


def test_names_and_questions_cannot_become_markup():
    """A user's name for an estimate is escaped in the HTML and in its drawings."""
    report = made.report("collected", labels=[made.EVIL])
    card = cards.release_card(report)
    assert "<script>alert" not in card.html
    drawings = re.findall(r"<svg.*?</svg>", card.html)
    assert drawings
    for drawing in drawings:
        ET.fromstring(drawing)  # noqa: S314  our own drawing


def test_no_card_asks_the_network():
    """No address, import or source outside the card."""
    for card in all_cards().values():
        text = card.html.replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|@import|url\(|src=|<link", text)


# ---------------------------------------------------------------- forms


@pytest.mark.parametrize("kind", KINDS)
def test_bundle_has_every_form(kind):
    """A bundle holds HTML, text and strict JSON that names its kind."""
    card = all_cards()[kind]
    bundle = card.bundle()
    assert {"text/html", "text/plain", card.mime} <= set(bundle)
    record = json.loads(json.dumps(bundle[card.mime], allow_nan=False))
    assert record["kind"] == card.kind
    assert record["format"] == 1


def test_release_json_holds_the_numbers():
    """The JSON form has value, intervals, sizes and losses, exact where they are exact."""
    record = cards.release_card(five()).json
    assert record["charged"] == {"measure": "pure", "amount": "1", "delta": "0"}
    line = record["lines"][1]
    assert line["entries"][0]["value"] == pytest.approx(0.46312493)
    assert line["entries"][0]["privacy"][0] < line["entries"][0]["value"] < line["entries"][0]["privacy"][1]
    assert line["loss"]["amount"] == "0.25"
    assert record["lines"][-1]["derived"] is True


def test_drawings_have_words_and_different_shapes():
    """Each track is named for a reader that cannot see it; privacy is a bar, confidence a capped line."""
    html = str(cards.release_card(made.report("effect")).html)
    privacy, confidence = (
        re.search(rf'<svg[^>]*aria-label="{kind} interval: [^"]*".*?</svg>', html).group()
        for kind in ("privacy", "confidence")
    )
    assert "<title>privacy interval</title>" in privacy
    assert 'class="pv"' in privacy
    assert 'class="cf"' not in privacy
    assert confidence.count('class="cf"') == 3
    assert 'class="pv"' not in confidence


def test_a_card_that_is_drawn_again_computes_no_interval(monkeypatch):
    """Answers' intervals are remembered: a second drawing of a card, in place of the first, takes milliseconds."""
    report, computed = made.report(*FIVE, named=[SPREAD]), []
    for leaf in report.measurements:
        real = leaf.outcome.ends
        counted = lambda *asked, real=real: computed.append(found := real(*asked)) or found
        object.__setattr__(leaf.outcome, "ends", counted)
    first = cards.release_card(report)
    assert computed
    computed.clear()
    monkeypatch.setattr("dpnb.estimate.draws.interval", pytest.fail)
    assert cards.release_card(report).text == first.text
    assert computed == []


@pytest.mark.parametrize("derived", [False, True])
def test_a_long_vector_has_intervals_where_it_was_released(derived):
    """Regression: a released vector of more than 2,000 numbers was drawn without intervals, as one that is derived is."""
    vector = fakes.released(np.arange(2_001.0))
    line = line_of(2 * vector if derived else vector)
    assert [entry.privacy is None for entry in line.entries] == [derived] * len(line.entries)
    assert ("privacy" in line.missing) == derived


# ---------------------------------------------------------------- digits, figure, explanation, report


@pytest.mark.parametrize(
    ("half", "decimals"),
    [(0.0304, 3), (0.45, 2), (3.2, 1), (24.0, 0), (2500.0, 0), (None, None), (0.0, None)],
)
def test_digits_follow_the_uncertainty(half, decimals):
    """Two significant digits of the half-width, and no decimals beyond."""
    assert digits.decimals_for([half]) == decimals


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.46312, 3, "0.463"),
        (-0.0001, 2, "0.00"),
        (4820.0, None, "4,820"),
        (12345.6, None, "12,346"),
        (float("nan"), 2, "undefined"),
        (float("-inf"), 2, "-unbounded"),
    ],
)
def test_numbers_are_written_honestly(value, decimals, text):
    """No minus zero, thousands separated, words where there is no number."""
    assert digits.number(value, decimals) == text


def test_odds_round_up():
    """A bound on a guess is never rounded down."""
    assert odds_sentence(0.5) == "an honest 10 % guess about one person becomes at most 15.5 %"
    assert "10.1 %" in odds_sentence(0.001)


def test_figure_sorts_by_released_values():
    """order= puts the largest released value, or the largest released group, first."""
    by_any = made.estimate("by_any")
    labels = [t.get_text() for t in by_any.plot(order="effect").get_yticklabels()]
    assert labels == ["1", "0"]
    with pytest.raises(Exception, match="unknown order"):
        by_any.plot(order="siez")


def test_report_is_one_file_with_methods_and_ledger(tmp_path):
    """The report holds results, both intervals, a methods paragraph with all its parts, and the ledger's row."""
    path = tmp_path / "report.html"
    found = made.report("collected", "effect", stored=("effect",)).estimates
    written = cards.report(found, schemas=[made.study()], rows=made.rows(), to=path)
    html = path.read_text(encoding="utf-8")
    assert html == written.html
    text = sanitised(html)
    for words in (
        "privacy interval",
        "confidence interval",
        "pure ε-differential privacy",
        "the privacy unit is one row",
        "change-one adjacency",
        "discrete Laplace",
        "cost ε 1 together",
        "adds up the losses",
        "Ledger extract",
        "7 2026-01-02 03:04 hiv hiv.got.mean() ε 1 ε 1",
    ):
        assert words in text
    assert "stored" not in text
    assert not re.search(r"https?:|@import|src=|<link", html)


def test_a_second_measurement_says_what_it_won():
    """Two answers combined show the privacy half-width before and after, and the one after is smaller."""
    text = cards.estimate_card(made.combined("effect")).text
    found = re.search(r"2 answers combined: ± (0\.\d+) → ± (0\.\d+) \(privacy\)", text)
    assert found is not None
    assert float(found[2]) < float(found[1])
    assert "combined" not in cards.estimate_card(made.estimate("effect")).text


def test_numbers_of_one_answer_that_differ_much_in_certainty_have_digits_of_their_own():
    """A slope per year and an intercept are not rounded alike: that would leave nothing of the slope."""
    intercept = Entry("Intercept", 0.6491, (0.593, 0.706), None, None, None)
    slope = Entry("age", 0.00141, (-0.0003, 0.0031), None, None, None)
    uneven = made.fit(intercept, slope)
    assert (uneven.answer(slope), uneven.span((0.0, 0.004))) == ("0.0014", "0.0000 to 0.0040")
    assert uneven.answer(intercept) == "0.649"
    assert made.fit(intercept, replace(slope, privacy=(-0.05, 0.05))).answer(slope) == "0.001"


def test_intervals_stand_on_axes_with_numbers():
    """Each line has the numbers of its own axis, chosen from its intervals; a bar's hairs stand where its numbers do."""
    card = cards.release_card(five()).html
    scales = re.findall(r'<tr class="scale">.*?</tr>', str(card))
    drawn = [re.findall(r'x="([\d.]+%)"[^>]*>([^<]+)</text>', row) for row in scales]
    assert len(drawn) >= 3
    assert all(len(one) >= 2 for one in drawn)
    collected, effect, by_any = drawn[:3]
    assert collected != by_any != effect
    bar = re.search(r'aria-label="privacy interval: 0\.6934.*?width="([\d.]+)%" height="8"', str(card))
    assert float(bar[1]) > 10, "a narrow interval is no dot"
    for place, _ in collected:
        assert str(card).count(f'x1="{place}" x2="{place}"') >= 3


def test_the_prices_of_a_card_add_up_to_what_was_paid():
    """Two answers that share their integers have one price, told once: the prices of the card, and of its plan, sum to its cost."""
    report = five()
    assert sum(loss.amount for _, loss in report.prices) == report.charged.amount == 1
    assert [places for places, _ in report.prices] == [(0,), (1, 3), (2,)]
    paid = [line["paid"] for line in cards.release_card(report).json["lines"]]
    assert paid == ["ε 0.375", "ε 0.375 with by_any", "paid with effect", "ε 0.25", "free"]
    planned = [item["cost"] for item in cards.plan_card(made.plan(*FIVE)).json["items"]]
    assert planned == ["ε 0.375", "ε 0.375 with by_any", "ε 0.25", "paid with effect"]
    assert str(cards.release_card(report).html).count('class="line joint"') == 2


def test_a_sentence_stands_once_on_a_card_and_one_note_is_seen(monkeypatch):
    """A warning that two lines share stands once, and what is read at leisure is folded."""
    report = made.report("collected", "effect", "by_any")
    monkeypatch.setattr(
        "dpnb.cards.facts._flags", lambda one: flag_words(["spread unclear"] * ("any" in one.text))
    )
    html = str(cards.release_card(report).html)
    shown, _, folded = html.partition("How it was made")
    assert shown.count('class="flag"') == 1
    assert "effect, by_any: the noised spread was not clear" in shown
    assert folded.count("discrete Laplace noise") == 2
    for words in ("grid steps", "without noise (of"):
        assert words not in shown
