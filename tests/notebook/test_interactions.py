"""``%dp panel``, ``%dp seesaw …`` and the others: one line shows an interaction, and nothing is spent."""

from __future__ import annotations

import pytest

from dpnb.errors import DpnbError
from dpnb.notebook.commands import COMMANDS, INTERACTION_COMMANDS
from dpnb.widgets.registry import INTERACTIONS


@pytest.fixture
def names(data):
    """A user's names, with one protected dataset."""
    return {"small": data}


@pytest.mark.parametrize(
    ("name", "text", "module"),
    [
        ("panel", "", "panel"),
        ("seesaw", "small.x.mean()", "seesaw"),
        ("plan", '{"m": small.x.mean()}', "plan"),
        ("odds", "", "odds"),
        ("odds", "1/4", "odds"),
        ("noises", "0.3", "noises"),
        ("person", "[21, 35, 44]", "person"),
        ("clamp", "", "clamp"),
        ("clamp", "small.x", "clamp"),
        ("coverage", "", "coverage"),
        ("coverage", "proportion rare", "coverage"),
        ("coverage", "lower quartile bell", "coverage"),
        ("coverage", "small.x.mean()", "coverage"),
        ("clamp", "[1, 2, 30]", "clamp"),
    ],
)
def test_one_line_shows_one_interaction(names, name, text, module):
    """What follows the command is Python in the user's names; the ledger stays as it was."""
    before = names["small"].budget.spent
    assert INTERACTION_COMMANDS[name](names, text).module == module
    assert names["small"].budget.spent == before


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("seesaw", "", "needs a question"),
        ("seesaw", "small.x.", "not a Python expression"),
        ("seesaw", "smal.x.mean()", "NameError"),
        ("seesaw", "small.z.mean()", "no column"),
        ("plan", "[3]", "Only questions"),
        ("odds", "2", "prior"),
        ("person", "small.x", "never a protected"),
        ("panel", "hiv", "takes nothing"),
        ("remeasure", "", "needs a question"),
        ("remeasure", "small.x.mean()", "Only a released"),
        ("clamp", "small", "never a protected"),
        ("coverage", "mean small.x", "population is one of"),
        ("coverage", "mean skewed 500", "a statistic and a population"),
        ("coverage", "mode", "statistic is one of"),
        ("coverage", "small.x.quantile([0.2, 0.8])", "one number at a time"),
        ("coverage", "small.z.mean()", "no column"),
    ],
)
def test_bad_lines_say_what_to_type(names, name, text, words):
    """A clear short error of dpnb's own, never a stack."""
    with pytest.raises(DpnbError, match=words):
        INTERACTION_COMMANDS[name](names, text)


def test_every_line_is_one_of_the_table():
    """``%dp NAME`` is the interaction's own name; ``%dp budget`` is a command that prints, and a sentence is code."""
    assert set(INTERACTION_COMMANDS) == {entry.name for entry in INTERACTIONS} - {"budget", "sentence"}
    assert set(INTERACTION_COMMANDS) & set(COMMANDS) == set()


def test_commands_are_offered(notebook):
    """An unknown command names the nearest, interactions among them; help lists them."""
    assert "seesaw" in notebook.fails("%dp seesow")
