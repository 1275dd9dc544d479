"""``%dp auto``: ordinary cells that build questions are planned or released, and looking never spends."""

from __future__ import annotations

import ast

import pytest

from dpnb.notebook.auto import rewrite


@pytest.fixture
def auto(notebook, capsys):
    """A notebook where ordinary cells release."""
    notebook("%dp auto release epsilon=1")
    return notebook


def test_auto_on_shows_the_plan_and_spends_nothing(notebook, capsys):
    """The default of auto is the plan card."""
    notebook("%dp auto on")
    notebook("q = study.ask('a')")
    assert notebook.charged == []
    assert "plan: ε 1 for ['q']" in notebook.shell.text_drawn
    notebook("q = study.ask('a')\nq")
    assert notebook.names["_"] is notebook.names["q"]
    assert notebook.names["q"].pending


def test_auto_release_needs_a_loss(notebook):
    """Releasing every cell without naming a loss is refused with the line to write."""
    text = notebook.fails("%dp auto release")
    assert text.startswith("%dp auto release needs a loss for each cell: %dp auto release epsilon=0.1")


def test_auto_releases_what_a_cell_created_and_holds(auto):
    """An ordinary cell pays for what it built and kept, and its last value is Out, resolved."""
    shown = auto("q = study.ask('a')\nstudy.ask('scratch')\nq")
    assert auto.charged == [("study.a",)]
    assert shown is auto.names["q"]
    assert auto.report.dropped == 1


def test_a_helper_that_asks_is_seen(auto):
    """Whether a cell asks is decided while it runs: a helper of an earlier cell counts."""
    auto("def f():\n    return study.ask('a')")
    auto("result = f()")
    assert auto.charged == [("study.a",)]


def test_a_cell_without_a_question_is_left_alone(auto):
    """Other cells return, display and fail as always."""
    before = len(auto.shell.drawn)
    assert auto("40 + 2") == 42
    with pytest.raises(ZeroDivisionError):
        auto("1 / 0")
    assert auto.charged == []
    assert len(auto.shell.drawn) == before


def test_a_silent_execution_never_spends(auto):
    """Inspectors run silently: the transformer is not armed for them."""
    auto("def f():\n    return study.ask('a')")
    auto.shell.run_cell("hidden = f()", silent=True)
    assert auto.charged == []


def test_looking_at_a_leftover_never_spends(auto):
    """The pending object of a failed cell is shown, not charged; derived from it with new, new alone is charged."""
    auto.fails("s = study.ask('a')\n1 / 0")
    auto("s")
    assert auto.charged == []
    auto("new = study.ask('b')\nt = s + new")
    assert auto.charged == [("study.b",)]
    assert auto.names["t"].pending
    auto("%%dp epsilon=1\ns")
    assert not auto.names["t"].pending


def test_timeit_charges_nothing(auto, capsys):
    """``%timeit`` runs its body many times and finds the transformer disarmed."""
    auto("%timeit -n2 -r2 study.ask('a')")
    assert auto.charged == []


def test_a_dp_cell_inside_auto_is_charged_once(auto):
    """``%%dp`` in an automatic notebook is its own affair."""
    auto("%%dp epsilon=0.25\nq = study.ask('a')")
    assert auto.session.charges == [(("study.a",), 0.25)]


def test_over_budget_fails_the_cell(auto):
    """A refusal is the cell's own error, and nothing is spent."""
    auto("%dp auto release epsilon=9")
    assert auto.fails("q = study.ask('a')").startswith("This cell asks for ε 9")
    assert auto.charged == []


def test_future_imports_stay_first(auto):
    """``from __future__`` may begin an automatic cell."""
    auto("from __future__ import annotations\nq = study.ask('a')")
    assert auto.charged == [("study.a",)]


@pytest.mark.parametrize("mode", ["last_expr", "last_expr_or_assign", "all", "none"])
def test_interactivity_modes_are_honoured(auto, mode):
    """Each of IPython's modes releases once; an assignment is shown under ``last_expr_or_assign``."""
    auto.shell.ast_node_interactivity = mode
    auto("1\nq = study.ask('a')")
    assert auto.charged == [("study.a",)]
    if mode == "last_expr_or_assign":
        assert auto.names["_"] is auto.names["q"]


def test_an_await_in_an_automatic_cell(auto):
    """A top-level await keeps its batch open across the suspension."""
    auto("import asyncio\nawait asyncio.sleep(0)\nq = study.ask('a')")
    assert auto.charged == [("study.a",)]


def test_the_transformer_survives_its_own_error(auto, monkeypatch):
    """A transformer that raised would be unregistered: ours runs the cell as it was written."""
    with monkeypatch.context() as patch:
        patch.setattr("dpnb.notebook.auto.rewrite", lambda *_: 1 / 0)
        assert auto("40 + 2") == 42
    assert auto.magic.automatic in auto.shell.ast_transformers


def test_off_is_off(auto):
    """After ``%dp auto off`` an ordinary cell builds pending objects and nothing else."""
    auto("%dp auto off")
    auto("q = study.ask('a')")
    assert auto.charged == []


def test_lines_and_names_survive_the_rewriting():
    """The rewritten module keeps the statements' own line numbers."""
    tree = rewrite(ast.parse("x = 1\n\ny = 2\nx + y"))
    ast.fix_missing_locations(tree)
    assert [node.lineno for node in tree.body] == [4, 1, 3, 4]
    namespace = {}
    exec(compile(tree, "<cell>", "exec"), namespace)
    assert namespace["y"] == 2


def test_tracebacks_in_automatic_cells_name_the_users_line(auto):
    """An error in an automatic cell points at its own line."""
    text = auto.fails("q = study.ask('a')\n\nif q > 3:\n    pass")
    assert text.splitlines()[-1] == "line 3: if q > 3:"
