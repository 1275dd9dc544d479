"""What a ``%%dp`` cell releases: what it built and still holds when it ends, and nothing else.

Each case runs a cell and asserts the ledger, the values and the labels of the card.
"""

from __future__ import annotations

import pytest

HELD = {
    "assignment": ("q = study.ask('a')", {"a": "q"}),
    "augmented": ("t = 0\nt += study.ask('a')", {"a": "in t"}),
    "unpacking": ("p, q = study.ask('a'), study.ask('b')", {"a": "p", "b": "q"}),
    "comprehension": ("r = {k: study.ask(k) for k in 'ab'}", {"a": "r['a']", "b": "r['b']"}),
    "attribute": ("class S: pass\ns = S()\ns.x = study.ask('a')", {"a": "s.x"}),
    "list": ("res = [study.ask('a')]", {"a": "res[0]"}),
    "data frame": (
        "import pandas\nframe = pandas.DataFrame({'q': [study.ask('a'), None]}, dtype=object)",
        {"a": "kept, unnamed, line 3"},
    ),
    "derived": ("mix = study.ask('a') / study.ask('b')", {"a": "in mix", "b": "in mix"}),
    "nested": ("box = [[{'k': (study.ask('a'),)}]]", {"a": "kept, unnamed, line 2"}),
    "cycle": ("c = []\nc.append(c)\nc.append(study.ask('a'))", {"a": "c[1]"}),
    "two names": ("q = study.ask('a')\nalias = q", {"a": "q"}),
    "last expression": ("study.ask('a') + 1", {"a": "kept, unnamed, line 2"}),
}


@pytest.mark.parametrize(("body", "labels"), HELD.values(), ids=HELD.keys())
def test_what_is_held_is_released_and_named(notebook, body, labels):
    """Every way of holding a question releases it in one charge, under the name a person gave it."""
    notebook(f"%%dp epsilon=1\n{body}")
    expected = [tuple(sorted(f"study.{text}" for text in labels))] if labels else []
    assert notebook.charged == expected
    if labels:
        assert notebook.labels == labels


OLDER = {
    "in a list": "res = [old]",
    "last expression": "old",
    "derived last expression": "old + 1",
    "attribute": "s.x = old",
}


@pytest.mark.parametrize("body", OLDER.values(), ids=OLDER.keys())
def test_an_older_question_is_released_where_the_cell_binds_or_shows_it(notebook, body):
    """What the cell binds, or ends with, releases the earlier pending questions inside it."""
    notebook("class S: pass\ns = S()\nold = study.ask('a')")
    notebook(f"%%dp epsilon=1\n{body}")
    assert notebook.charged == [("study.a",)]
    assert isinstance(notebook.names["old"].value, float)


@pytest.mark.parametrize("body", ["L.append(old)", "old\n0", "print(repr(old))"])
def test_an_older_question_that_is_only_touched_stays_pending(notebook, body):
    """Appending an old question or naming it mid-cell releases nothing."""
    notebook("L = []\nold = study.ask('a')")
    notebook(f"%%dp epsilon=1\n{body}")
    assert notebook.charged == []
    assert notebook.names["old"].pending


def test_an_old_object_keeps_its_value_when_its_name_moves_on(notebook):
    """Names are never touched: the estimate of an earlier cell lives on in ``Out``."""
    notebook("%%dp epsilon=1\nq = study.ask('a')\nq")
    first = notebook.names["q"]
    notebook("%%dp epsilon=1\nq = study.ask('b')\nq")
    assert notebook.names["q"] is not first
    assert first.value != notebook.names["q"].value
    assert first in [notebook.names["Out"][key] for key in notebook.names["Out"]]


def test_the_last_expression_is_out_and_is_resolved(notebook):
    """``Out[n]`` and ``_`` hold the very object of the body, with its value, drawn once."""
    shown = notebook("%%dp epsilon=1\nq = study.ask('a')\nq")
    assert shown is notebook.names["q"] is notebook.names["_"]
    assert isinstance(shown.value, float)
    assert notebook.report.hidden == (shown.measurement,)


def test_a_semicolon_hides_the_value_and_never_the_spending(notebook):
    """``…;`` releases and charges, leaves ``Out`` alone, and draws the batch card all the same."""
    notebook("1")
    shown = notebook("%%dp epsilon=1\nq = study.ask('a')\nq;")
    assert shown is None
    assert notebook.names["_"] == 1
    assert notebook.charged == [("study.a",)]
    assert notebook.report.hidden == ()
    assert "charged" in notebook.shell.text_drawn


def test_a_cell_without_a_question_spends_nothing_and_says_so(notebook, capsys):
    """Run All must not break on a ``%%dp`` cell without a query."""
    assert notebook("%%dp epsilon=1\n# only a comment\n") is None
    assert notebook("%%dp\n40 + 2") == 42
    assert "no question to release: nothing spent" in capsys.readouterr().out
    assert notebook.charged == []


def test_a_cell_that_keeps_nothing_spends_nothing_and_says_so(notebook, capsys):
    """Three bare questions and no name: the line says that they were built and not kept."""
    notebook("%%dp epsilon=1\nfor k in 'abc': study.ask(k)\n")
    assert (
        "3 questions had no name when the cell ended: not released, nothing spent." in capsys.readouterr().out
    )
    assert notebook.charged == []


@pytest.mark.parametrize("interrupt", ["ValueError()", "KeyboardInterrupt()", "SystemExit()", "1 / 0"])
def test_a_cell_that_fails_spends_nothing(notebook, interrupt):
    """An exception of any kind in the body spends nothing, and the next cell works."""
    what = interrupt if "/" in interrupt else f"raise {interrupt}"
    with pytest.raises((Exception, KeyboardInterrupt, SystemExit)):
        notebook(f"%%dp epsilon=1\nq = study.ask('a')\n{what}")
    assert notebook.charged == []
    assert notebook.names["q"].pending
    notebook("%%dp epsilon=1\nr = study.ask('b')")
    assert notebook.charged == [("study.b",)]


def test_threads_are_found_by_their_bound_results(notebook):
    """A plain thread has no open batch; its question is found because the cell binds the result."""
    notebook(
        """
        %%dp epsilon=1
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(study.ask, "ab"))
        """
    )
    assert notebook.charged == [("study.a", "study.b")]


def test_a_nested_spend_is_refused(notebook):
    """Error 7: a ``%%dp`` inside a ``%%dp`` fails, and neither spends."""
    text = notebook.fails(
        """
        %%dp epsilon=1
        q = study.ask('a')
        get_ipython().run_cell_magic('dp', 'epsilon=1', "r = study.ask('b')")
        """
    )
    assert text.startswith(
        "A %%dp cell is one batch: a second spend inside it would be charged even if the cell"
    )
    assert notebook.charged == []


def test_a_time_magic_around_and_inside_works(notebook, capsys):
    """``%%time`` around a ``%%dp`` cell, and inside its body, change nothing."""
    notebook("%%time\n%%dp epsilon=1\nq = study.ask('a')")
    notebook("%%dp epsilon=1\n%%time\nr = study.ask('b')")
    assert notebook.charged == [("study.a",), ("study.b",)]


def test_weights_on_the_line_set_shares(notebook):
    """``weights=name:2`` gives the named estimate its weight; an unknown name is told the nearest."""
    notebook("%%dp epsilon=1 weights=effect:2\neffect = study.ask('a')\nage = study.ask('b')")
    assert notebook.names["effect"].measurement.weight == 2
    text = notebook.fails("%%dp epsilon=1 weights=efect:2\neffect = study.ask('c')")
    assert text.startswith("weights=efect:… names no estimate of this cell: did you mean effect?")
    assert len(notebook.charged) == 1


def test_a_weight_of_nothing_leaves_a_question_out(notebook):
    """``weights=age:0`` asks the others alone; what is left out, and what is computed from it, stays pending."""
    body = "effect = study.ask('a')\nage = study.ask('b')\nboth = effect + age"
    notebook(f"%%dp epsilon=1 weights=effect:1,age:0\n{body}")
    assert notebook.charged == [("study.a",)]
    assert notebook.names["age"].pending
    assert notebook.names["both"].pending
    text = notebook.fails("%%dp epsilon=1 weights=c:0\na = study.ask('c')\nc = a + 1")
    assert text.startswith("weights=c:0 leaves out a question; c is computed from others.")
    assert len(notebook.charged) == 1


def test_a_cell_without_a_loss_is_told_what_to_write(notebook):
    """A query and no loss is an error that names both ways out; the configured default is one of them."""
    text = notebook.fails("%%dp\nq = study.ask('a')")
    assert text.startswith(
        "This cell names no loss: write %%dp epsilon=1, or set a default: %config DPMagic.epsilon"
    )
    notebook('%config DPMagic.epsilon = "1/2"')
    notebook("%%dp\nq = study.ask('a')")
    assert notebook.session.spent == 0.5


def test_own_spends_need_no_loss_on_the_line(notebook):
    """Where every question says what it pays, the line may be bare."""
    notebook("%%dp\nq = study.ask('a').spend(epsilon=0.25)")
    assert notebook.session.spent == 0.25


def test_a_plan_spends_nothing(notebook):
    """``%%dp plan`` draws the plan, leaves the objects pending and the ledger empty."""
    notebook("%%dp plan epsilon=1\nq = study.ask('a')\nq")
    assert notebook.charged == []
    assert notebook.names["q"].pending
    assert "plan: ε 1 for ['q']" in notebook.shell.text_drawn


def test_ask_mode_stops_every_cell_at_its_plan(notebook, capsys):
    """With ``mode = "ask"`` a cell plans; ``%%dp release`` releases."""
    notebook('%config DPMagic.mode = "ask"')
    notebook("%%dp epsilon=1\nq = study.ask('a')")
    assert notebook.charged == []
    assert "%%dp release" in capsys.readouterr().out
    notebook("%%dp release epsilon=1\nq = study.ask('a')")
    assert notebook.charged == [("study.a",)]


def test_a_plan_on_screen_becomes_the_card_when_its_questions_are_released(notebook):
    """The place of a shown plan, and of a shown pending object, is updated on release."""
    notebook("%%dp plan epsilon=1\nq = study.ask('a')")
    notebook("q")
    before = len(notebook.shell.drawn)
    notebook("%%dp epsilon=1\nq\n0")
    notebook("%%dp epsilon=1\nq")
    updates = [output for output in notebook.shell.display_pub.outputs[before:] if output.get("update")]
    assert len(updates) == 2


def test_assume_n_may_name_a_released_estimate(notebook):
    """``assume_n=size`` takes the rounded value of an earlier release."""
    notebook("%%dp epsilon=1\nsize = study.ask('a') * 0 + 41.6")
    notebook("%%dp epsilon=1 assume_n=size\nq = study.ask('b')")
    assert notebook.report.ask.assume_n == 42
