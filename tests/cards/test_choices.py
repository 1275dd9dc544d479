"""Cards, reports and explanations show the declared label of a choice, and *undefined* in place of a correlation that has no value."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from dpnb.cards.explain import explain
from dpnb.cards.facts import line_of, record_of
from dpnb.cards.released import estimate_card
from dpnb.cards.report import report
from dpnb.estimate import Estimate
from dpnb.inference.seeded_bits import SeededBits
from dpnb.planner.expression import Compare, Const
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.schema import Column, Schema
from tests.contracts.questions import UNITS, B, G, X, Y, asked, released, schema

TABLE = {"x": [31.0] * 5, "y": [2.0] * 5, "b": [1, 1, 1, 0, 0], "g": ["w", "w", "u", "u", "u"]}
LABELS = ("few", "x > 30")


def answer(
    statistic: str, *, where: Schema | None = None, table: Any = TABLE, loss: Any = 400, **sample: Any
):
    """A released answer; with so large a loss a choice is the largest."""
    where = where or schema(UNITS["add-remove"])
    return released(asked(sample, statistic, where, "epsilon", loss), table, where, SeededBits(1))


CHOICES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "mode": ({"target": G}, ["u"]),
    "top_k": ({"target": G, "options": (("k", 2),)}, ["u", "w"]),
    "mode by group": ({"target": G, "by": (B,)}, ["u", "w"]),
    "choose": (
        {"target": B, "others": (Compare(">", X, Const(30)),), "options": (("labels", LABELS),)},
        ["x > 30"],
    ),
}


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_shows_its_label(name: str) -> None:
    """Headline, rows, text, record, table and report show what was picked, and not its place; `.value` is the place."""
    sample, wanted = CHOICES[name]
    found = answer(name.split(maxsplit=1)[0], **sample)
    line = line_of(found)
    assert [line.answer(entry) for entry in line.entries] == wanted
    assert [entry["shown"] for entry in record_of(line)["entries"]] == wanted
    assert list(found.table()["label"]) == wanted
    assert np.ravel(np.asarray(found.value)).dtype == float
    card = estimate_card(found)
    page = report({"answer": found})
    for text in wanted:
        escaped = text.replace(">", "&gt;")
        shown = (
            f'<p class="value">{escaped} </p>' if line.scalar else f'<td class="num strong">{escaped}</td>'
        )
        assert shown in card.html
        assert shown in page.html
        assert re.search(rf"^  .*{re.escape(text)}$", card.text, re.MULTILINE)
        assert text in repr(found)
        assert text in page.text


def test_an_explanation_names_the_label() -> None:
    """The value told in an explanation is the label."""
    assert ("value", "u") in explain(answer("mode", target=G)).steps


def test_numbers_stay_numbers() -> None:
    """A choice among numbers shows the number, without a label beside it."""
    found = answer("mode", target=B)
    line = line_of(found)
    assert line.entries[0].said is None
    assert "shown" not in record_of(line)["entries"][0]
    assert (line.answer(line.entries[0]), repr(found), found.labels) == ("1", "<small.b.mode(): 1>", 1)


def test_a_label_is_escaped_and_cannot_redraw_a_terminal() -> None:
    """Markup in a declared label is text; control characters are left out; a long label is cut in a column of text alone."""
    evil, long = "<script>x</script>\u202e", "z" * 200
    columns = (Column.category("b", [0, 1]), Column.category("g", [evil, long]))
    where = Schema("small", "Small", columns, UNITS["add-remove"], Budget.from_toml({"epsilon": 1000}))
    found = answer(
        "top_k",
        where=where,
        table={"x": [1.0] * 3, "b": [1] * 3, "g": [evil, evil, long]},
        target=G,
        options=(("k", 2),),
    )
    card = estimate_card(found)
    assert "<script>x" not in card.html
    assert "&lt;script&gt;x" in card.html
    assert "\u202e" not in card.html + card.text + repr(found)
    assert long in card.html
    assert "z" * 59 + "…" in card.text
    assert "z" * 60 not in card.text


def undefined_correlation(**sample: Any) -> Estimate:
    """A correlation with a constant, at a loss at which the noised variance is below zero."""
    for seed in range(40):
        where = schema(UNITS["add-remove"])
        item = asked({"target": X, "other": Y, **sample}, "correlation", where, "epsilon", 0.1)
        found = released(item, TABLE, where, SeededBits(seed))
        if all("undefined" in flags for flags in found.outcome.cell_flags[:1]):
            return found
    raise AssertionError("no seed leaves it undefined")


def test_an_undefined_correlation_shows_no_number() -> None:
    """The card, its drawing and the text say *undefined*, without dot and without people; `.value` stays what it was."""
    found = undefined_correlation()
    card = estimate_card(found)
    assert found.value == 0.0
    assert '<p class="value">undefined </p>' in card.html
    assert card.text.splitlines()[1].strip() == "undefined"
    assert "0.0000" not in card.text
    assert "●" not in card.text
    assert 'class="dot"' not in card.html
    assert repr(found).startswith('<small.x.correlation("y"): undefined (')


def test_only_the_entries_that_are_undefined_say_so() -> None:
    """Of groups, each entry goes by its own flags."""
    found = undefined_correlation(by=(G,))
    line = line_of(found)
    for entry, flags in zip(line.entries, found.outcome.cell_flags, strict=True):
        assert (entry.said == "undefined") == ("undefined" in flags)
    assert [one == "undefined" for one in found.table()["note"]] == [
        "undefined" in flags for flags in found.outcome.cell_flags
    ]


def test_a_defined_correlation_is_a_number() -> None:
    """Without the flag the number is shown, with its dot."""
    table = {"x": [0.0, 100.0] * 200, "y": [0.0, 10.0] * 200, "b": [1] * 400, "g": ["u"] * 400}
    found = answer("correlation", table=table, target=X, other=Y)
    line = line_of(found)
    assert line.entries[0].said is None
    assert float(line.answer(line.entries[0])) == pytest.approx(found.value, abs=1e-4)
    assert 'class="dot"' in estimate_card(found).html


def test_a_figure_names_what_was_picked() -> None:
    """The axis of a drawn choice shows its label, where it had shown a place among the declared values."""
    sample, wanted = CHOICES["choose"]
    axes = answer("choose", **sample).plot()
    assert [label.get_text() for label in axes.get_xticklabels()] == wanted
