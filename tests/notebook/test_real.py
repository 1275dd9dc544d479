"""The magics over the real client, curator, ledger and noise, on a real study."""

from __future__ import annotations

import re

import pytest
from IPython.core.completer import provisionalcompleter

from dpnb.client import api
from dpnb.notebook import load, unload
from dpnb.notebook.complete import offered
from dpnb.statistics import BY_NAME
from dpnb.widgets import _base
from dpnb.widgets._base import living
from tests.notebook.conftest import Notebook

pytestmark = pytest.mark.slow

BATCH = """
%%dp epsilon=1
collected = hiv.got.mean()
effect = hiv.got.difference(by="any")
age = hiv.age.quantile([0.25, 0.5, 0.75])
by_any = hiv.groupby("any").got.mean()
spread = (collected * (1 - collected)) ** 0.5
"""


@pytest.fixture
def real(shell):
    """A shell with dpnb loaded and the study open, its rows with a curator process."""
    _base._LIVING.clear()  # what an earlier test of this process has shown is not this notebook's
    load(shell)
    notebook = Notebook(shell, None)
    notebook('import dpnb\nhiv = dpnb.open("hiv", mode="guard-rail")')
    yield notebook
    api.close()


def _spent(notebook):
    return str(notebook("hiv.budget.spent"))


def test_a_cell_goes_through_all_eight_steps(real):
    """Open shows the card, a plan spends nothing, a release is near the truth, running again is free."""
    assert "hiv" in real.shell.text_drawn
    real(BATCH.replace("%%dp", "%%dp plan"))
    assert _spent(real) == "ε 0"
    assert real.names["collected"].pending
    real(BATCH)
    assert _spent(real) == "ε 1"
    assert real.names["collected"].value == pytest.approx(0.697, abs=0.03)
    assert real.names["effect"].value == pytest.approx(0.451, abs=0.2)
    assert 0.4 < real.names["spread"].value < 0.5
    values = {name: real.names[name].value for name in ("collected", "effect")}
    real(BATCH)
    assert _spent(real) == "ε 1"
    assert values == {name: real.names[name].value for name in values}


def test_a_long_wait_for_a_dataset_shows_time_alone(shell, monkeypatch):
    """Opening a study shows elapsed time once it takes long, and that it is over; no size and no count."""
    monkeypatch.setattr("dpnb.notebook.host.PATIENCE", 0.0)
    _base._LIVING.clear()  # what an earlier test of this process has shown is not this notebook's
    load(shell)
    notebook = Notebook(shell, None)
    notebook('import dpnb\nhiv = dpnb.open("hiv", quiet=True)')
    api.close()
    assert re.search(r"opening the dataset … \d+\.\d s", shell.text_drawn)
    assert "4,820" not in shell.text_drawn


def test_a_public_answer_needs_no_loss(real):
    """A cell whose questions are all public is answered from the schema, free, and may name no loss."""
    real("%%dp\nn = hiv.count()")
    assert real.names["n"].value == 4820
    assert _spent(real) == "ε 0"


ERRORS = {
    "for row in hiv.age: pass": "hiv.age holds no data here, so it cannot be iterated. Ask a question: "
    "hiv.age.mean(), .histogram(), .quantile(0.5).",
    "import dpnb\nwith dpnb.spend(epsilon=1):\n    pass": "A %%dp cell is one batch: a second spend inside it "
    "would be charged even if the cell fails. Put it in its own cell.",
    "if hiv.got.mean() > 0.5: pass": "`if` needs the value of `hiv.got.mean()`, which is released when this cell "
    "ends. Move this line to the next cell.",
}


def test_errors_are_their_text_and_the_users_line(real):
    """A mistake in a cell shows one sentence and the line, and spends nothing."""
    for line, text in ERRORS.items():
        seen = real.fails(f"%%dp epsilon=1\nq = hiv.age.mean()\n{line}")
        assert seen.startswith(text)
        assert seen.splitlines()[-1].startswith("line ")
    assert _spent(real) == "ε 0"


def test_commands_answer_from_the_ledger(real, capsys):
    """``%dp budget``, ``ledger`` and ``schema`` say what is spent, for what, and what is public."""
    real("%%dp epsilon=1\nq = hiv.got.mean()")
    before = len(real.shell.drawn)
    real("%dp budget")
    real("%dp ledger hiv")
    real("%dp schema hiv")
    drawn = "\n".join(str(data["text/plain"]) for data in real.shell.drawn[before:])
    assert "ε 3" in drawn
    assert "hiv.got.mean()" in drawn
    assert "distance to the result centre" in drawn or "distvct" in drawn
    assert "no dataset 'hib' is open: did you mean hiv?" in real.fails("%dp schema hib")
    assert "unknown command 'bugdet' for %dp: did you mean budget?" in real.fails("%dp bugdet")


def test_commands_take_the_name_of_the_dataset_or_of_the_variable(real):
    """Both for the ledger, the schema and the guide; what is refused is told in the notebook's own name."""
    real("mine = hiv\ndel hiv")
    for name in ("hiv", "mine"):
        before = len(real.shell.drawn)
        for command in ("ledger", "schema", "guide"):
            real(f"%dp {command} {name}")
        assert len(real.shell.drawn) == before + 3
    assert "use one of: hiv, mine" in real.fails("%dp schema other")
    assert "mine.age is a number; 'old' is text. Try mine.age > 50." in real.fails("mine.age > 'old'")
    assert "Write for example mine[x > 1]" in real.fails("mine[mine.age + 1]")


def test_a_fit_and_a_table_are_explained_too(real):
    """Whatever was read from a release: its question, its noise, what it cost; and a name that is no answer is refused."""
    real("%%dp epsilon=1\nby = hiv.groupby('any').got.mean()\nfit = hiv.ols('got ~ any')")
    for text, question in (
        ("fit", "coefficients("),
        ("by.table()", "groupby("),
        ("by[1]", "groupby("),
        ("fit['any']", "any"),
    ):
        real(f"%dp explain {text}")
        drawn = real.shell.drawn[-1]["text/plain"]
        assert question in drawn, text
        assert "noise: discrete Laplace" in drawn, text
    assert "'3' is not an estimate: use one of: by, fit" in real.fails("%dp explain 3")
    assert "'fti' is not an estimate: did you mean fit?" in real.fails("%dp explain fti")


def test_open_as_a_command_binds_the_name(real, capsys):
    """``%dp open`` opens a study under its own name."""
    real("%dp open fair")
    assert real.names["fair"].schema.name == "fair"


def test_asking_what_a_handle_is_shows_the_schema(real):
    """``hiv?`` and ``hiv.age?`` are the public facts, over the shell's own inspection."""
    whole = real.shell.object_inspect_mime("hiv")
    assert "age" in whole["text/plain"]
    column = real.shell.object_inspect_mime("hiv.age")
    assert "0 to 100" in column["text/plain"]
    assert "42" in real.shell.object_inspect_mime("answer")["text/plain"] if real("answer = 42") else True


COMPLETIONS = {
    "%%dp epsilon=1\nq = hiv.go": ["q = hiv.got"],
    "%%dp epsilon=1\nq = hiv.got.me": ["q = hiv.got.mean", "q = hiv.got.median"],
    "hiv.dist": ["hiv.distvct"],
    "hiv.hist": [],
    "hiv['dist": ["hiv['distvct"],
    "hiv.groupby('vil": ["hiv.groupby('villnum"],
    "hiv.got.difference(by='an": ["hiv.got.difference(by='any"],
    "dpnb.open('hi": ["dpnb.open('hiv"],
    "%%dp fr": ["%%dp fresh"],
    "%%dp --fr": ["%%dp --fresh"],
    "%%dp epsilon={ep": ["%%dp epsilon={eps"],
    "%%dp plan epsilon=$ep": ["%%dp plan epsilon=$eps"],
    "%dp bud": ["%dp budget"],
    "%dp schema h": ["%dp schema hiv"],
    "%dp auto re": ["%dp auto release"],
}


def test_completion_knows_columns_statistics_and_options(real):
    """Completion offers public names, and they end as a person would have typed them."""
    real.names["eps"] = 0.5
    for code, expected in COMPLETIONS.items():
        with provisionalcompleter():
            found = list(real.shell.Completer.completions(code, len(code)))
        lines = [(code[: item.start] + item.text).split("\n")[-1] for item in found]
        assert sorted(set(lines)) == expected, code


@pytest.mark.parametrize(
    ("code", "first"),
    [
        ("hiv.age.", ["hiv.age.mean", "hiv.age.count", "hiv.age.sum"]),
        ("%%dp epsilon=1\nm = hiv.age.", ["m = hiv.age.mean", "m = hiv.age.count", "m = hiv.age.sum"]),
        ("hiv.", ["hiv.got", "hiv.any"]),
        ("%%dp ", ["%%dp epsilon=", "%%dp rho=", "%%dp within="]),
    ],
)
def test_completion_offers_what_is_asked_most_first(real, code, first):
    """The usual questions of a column stand before the alphabet; the columns of a dataset before its methods."""
    with provisionalcompleter():
        found = list(real.shell.Completer.completions(code, len(code)))
    assert [(code[: item.start] + item.text).split("\n")[-1] for item in found][: len(first)] == first


def test_parameters_of_a_notebook_reach_the_magic_line(real):
    """A cell of parameters, as papermill writes one, sets a name; the cells below spend what it says."""
    real("# Parameters\neps = 0.25")
    real("%%dp epsilon={eps}\nq = hiv.got.mean()")
    assert _spent(real) == "ε 0.25"
    real("%%dp epsilon=$eps\nage = hiv.age.mean()")
    assert _spent(real) == "ε 0.5"
    assert "{missing}: missing has no value here." in real.fails(
        "%%dp epsilon={missing}\nx = hiv.age.median()"
    )
    assert "{missing}: missing has no value here." in real.fails("%dp auto release epsilon={missing}")
    assert _spent(real) == "ε 0.5"


def test_losses_are_shown_for_people(real):
    """A loss is written as on the cards, and what remains with its cap; without the extension Python's own words are back."""
    shown = lambda line: real.shell.display_formatter.format(real(line))[0]["text/plain"]
    real("%%dp epsilon=0.5\nq = hiv.got.mean()")
    assert shown("hiv.budget.remaining") == "ε 3.5 of 4"
    assert shown("hiv.budget.spent, hiv.budget.left") == "(ε 0.5, ε 3.5 of 4)"
    unload(real.shell)
    assert shown("hiv.budget.spent").startswith("PrivacyLoss(")


def test_completion_behind_a_column_offers_all_that_can_be_asked_of_it(real):
    """Every registered statistic that is asked of one column, and every way to go on from it; nothing that it refuses."""
    _, offers = offered("hiv.age.", real.shell.user_ns)
    column = real.shell.user_ns["hiv"].age
    asked = {name for name, one in BY_NAME.items() if one.spelling.columns in {"before", "keys"}}
    assert asked | {"median", "proportions", "isin", "between"} <= set(offers)
    assert all(callable(getattr(column, name)) for name in offers)


def test_a_report_is_exported(real, tmp_path, capsys):
    """``%dp export`` writes the named releases as one file, and needs one to be released."""
    assert real.fails(f"%dp export {tmp_path / 'r.html'}").startswith("Nothing is released yet")
    real("%%dp epsilon=1\nq = hiv.got.mean()")
    real(f"%dp export {tmp_path / 'r.html'}")
    assert "hiv.got.mean()" in (tmp_path / "r.html").read_text()


def test_a_regression_read_in_a_cell_is_on_its_card(real):
    """A card shows the coefficients of a regression that the cell reads, free, each with digits of its own."""
    real('%%dp epsilon=1\nzz = hiv.moments("age", "got")\nfit = zz.ols("got ~ age")')
    assert _spent(real) == "ε 1"
    card = real.shell.drawn[-1]["text/plain"]
    assert 'fit.coefficients  hiv.moments("age", "got").coefficients("got ~ age")  [read from ε 1]' in card
    assert "on sums of rows within ±50 and products" in " ".join(card.split())
    row = re.search(r"^  age +(-?[0-9.]+) ", card, re.MULTILINE)
    assert row is not None
    assert len(row[1].partition(".")[2]) > 3


def test_a_refused_cell_shows_the_ways_out_with_its_own_body(real):
    """More than is left: the budget with three ways out stands above the refusal; the first keeps the cell's body as it was."""
    body = "low = hiv.tinc.mean()  # as written\n"
    result = real.shell.run_cell(f"%%dp epsilon=9\n{body}")
    assert type(result.error_in_exec or result.error_before_exec).__name__ == "BudgetError"
    shown = real.shell.text_drawn
    assert "Ask ε 4" in shown
    assert "Use a stored answer" in shown
    assert "Leave a statistic out" in shown
    cells = [one.facts["ways"][0]["cell"] for one in living() if one.module == "budget" and one.facts["ways"]]
    assert f"%%dp epsilon=4\n{body.rstrip()}" in cells
    assert _spent(real) == "ε 0"


def test_a_notebook_reads_its_own_name_of_a_dataset_everywhere(shell):
    """What `h` holds is `h` in its cards, plans, hints, errors and interactions, and in the guide; commands take either name."""
    _base._LIVING.clear()  # what an earlier test of this process has shown is not this notebook's
    load(shell)
    notebook = Notebook(shell, None)
    notebook('import dpnb\nh = dpnb.open("hiv", mode="guard-rail", quiet=True)')
    notebook("%%dp epsilon=1 plan\nage = h.age.mean()")
    notebook("%%dp epsilon=1\nage = h.age.mean()")
    for line in ("guide h", "guide hiv", "seesaw age", "remeasure age", "stored age", "plan h.got.mean()"):
        notebook(f"%dp {line}")
    said = shell.text_drawn + "".join(data.get("text/html", "") for data in shell.drawn)
    assert "h.age.held_share()" in said
    assert "hiv.age" not in re.sub(
        r'"[^"<>]*"', "", said
    )  # but in what names a picture for whoever does not see it
    assert 'h.got.difference(by="any")' in shell.text_drawn
    for command in ("ledger", "schema"):
        drawn = len(shell.drawn)
        notebook(f"%dp {command} h\n%dp {command} hiv")
        assert shell.drawn[drawn]["text/plain"] == shell.drawn[drawn + 1]["text/plain"]
    api.close()


def test_a_magic_below_the_first_line_is_told_where_it_belongs(real):
    """Nothing of the cell runs: neither what stands above `%%dp` nor what is below; text that only quotes it is text."""
    for above in ("seen = 1\n", "# a comment\n", "if True:\n    "):
        said = real.fails(f"{above}%%dp epsilon=1\nlater = hiv.got.mean()")
        assert said.startswith("%%dp must be the first line of its cell")
    assert "seen" not in real.names
    assert "later" not in real.names
    assert real('"""\n%%dp epsilon=1\n"""') == "\n%%dp epsilon=1\n"
    assert _spent(real) == "ε 0"


def test_a_cell_that_is_answered_already_says_how_to_pay_for_more(real, capsys):
    """A fit read from moments that are held is free, whatever its cell would pay; the line that is told makes it more accurate."""
    real('%%dp epsilon=1\nzz = hiv.moments("got", "any")')
    real('%%dp epsilon=2\nfit = zz.ols("got ~ any")')
    said = capsys.readouterr().out
    assert "Everything in this cell is answered already: nothing was asked, nothing spent." in said
    before, line = real.names["fit"].standard_errors[1], said.strip().rpartition(": ")[2]
    real(line.replace("…", "2"))
    assert _spent(real) == "ε 3"
    assert real.names["fit"].standard_errors[1] < before


def test_a_fit_shows_its_coefficients_first(real):
    """The moments that they were read from come last, as one line: nobody reads a matrix before an answer."""
    real('%%dp epsilon=1\nfit = hiv.ols("got ~ any")\nage = hiv.age.mean()')
    card = real.shell.drawn[-1]
    text = card["text/plain"]
    assert text.index("fit.coefficients  ") < text.index("in fit.coefficients  ")
    assert "9 numbers: .table() lists them" in text
    assert card["text/html"].index("<h4>fit.coefficients") < card["text/html"].index("in fit.coefficients")
    lines = card["application/vnd.dpnb.release+json"]["lines"]
    assert [one["name"] for one in lines] == ["age", "fit.coefficients", "in fit.coefficients"]
