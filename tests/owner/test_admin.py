"""Every act of an owner at a terminal is one entry of the ledger, with who, when and why; what cannot be taken back asks once."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import dpnb
from dpnb.__main__ import _parser
from dpnb.client import api
from dpnb.errors import BudgetError, OwnerError
from dpnb.owner import deposit_page
from dpnb.owner.deposit import run_act
from dpnb.owner.signed_records import examined
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.wire.places import Home

WHY = ("--reason", "the study ended")


def released(folder, epsilon="0.5", **asked):
    """Release a mean as an analyst does."""
    people = dpnb.open(folder / "people.dpnb.toml", quiet=True)
    mean = people.age.mean()
    dpnb.release([mean], epsilon=epsilon, **asked)
    return mean


def acts(kind):
    """The acts of one kind in the ledger's statement."""
    with Ledger(Home.current().ledger) as ledger:
        return [row for row in ledger.statement("people") if row.kind == kind]


def test_add_makes_a_dataset_known_before_anybody_opens_it(folder, admin):
    status, facts = admin("add", folder / "people.dpnb.toml", as_json=True)
    assert (status, facts["dataset"], facts["pool"]) == (0, "people", "dataset:people")
    assert len(acts("attach")) == 1
    assert admin("add", folder / "people.dpnb.toml")[1].startswith("Known already: people, ε 4, entry")
    assert float(released(folder)) > 0


def test_add_of_a_file_without_a_declaration_names_the_command_that_drafts_one(folder, admin):
    (folder / "people.dpnb.toml").unlink()
    assert admin("add", folder / "people.csv") == (
        2,
        f"dpnb: {folder / 'people.csv'} has no declaration yet: dpnb init {folder / 'people.csv'}\n",
    )


def test_schema_shows_the_declaration_and_reads_no_row(folder, admin):
    (folder / "people.csv").unlink()
    status, said = admin("schema", folder / "people.dpnb.toml")
    assert status == 0
    assert "age" in said
    assert admin("schema", folder / "people.dpnb.toml", as_json=True)[1]["name"] == "people"


def test_a_frozen_dataset_releases_nothing_new_beside_a_curator_that_runs(folder, admin):
    """What is stored stays free; unfreezing asks once; the card of the next opening says it."""
    mean = released(folder)
    assert admin("freeze", "people", *WHY)[0] == 0
    assert float(released(folder)) == float(mean)
    with pytest.raises(OwnerError, match=r"people is frozen by its owner.*nothing was spent"):
        released(folder, epsilon="1")
    api.close()
    again = dpnb.open(folder / "people.dpnb.toml", quiet=True)
    assert again.notes[-1] == (
        "people is frozen by its owner until they open it again: stored and published answers stay, free."
    )
    with pytest.raises(OwnerError, match="frozen"):
        dpnb.plan([again.age.quantile(0.5)], epsilon="0.1")
    assert admin("unfreeze", "people", *WHY)[0] == 2
    assert admin("unfreeze", "people", *WHY, "--yes")[0] == 0
    released(folder, epsilon="1")
    (freeze,), (unfreeze,) = acts("freeze"), acts("unfreeze")
    assert (freeze.note, freeze.told) == ("now frozen (the study ended)", "now frozen")
    assert unfreeze.entry > freeze.entry
    assert examined(Home.current().ledger)[0].intact


def test_what_was_closed_opens_under_no_name_and_by_no_act(folder, admin):
    """Not by unfreezing, not by another name in the same pool, not by a recorded loosening."""
    mean = released(folder)
    assert admin("close", "people", *WHY) == (
        2,
        "dpnb: This closes people for ever; nothing opens it again. Add --yes where nobody can be asked. Nothing was done.\n",
    )
    assert admin("close", folder / "people.dpnb.toml", *WHY, "--yes")[0] == 0
    assert float(released(folder)) == float(mean)
    assert "closed by its owner for ever" in admin("unfreeze", "people", *WHY, "--yes")[1]
    with pytest.raises(OwnerError, match="was closed by its owner for ever"):
        released(folder, epsilon="1", fresh=True)
    text = (folder / "people.dpnb.toml").read_text()
    (folder / "again.dpnb.toml").write_text(text.replace('name = "people"', 'name = "again"'))
    with pytest.raises(OwnerError, match="cannot be opened under another name"):
        dpnb.open(folder / "again.dpnb.toml", quiet=True)
    assert "cannot be opened under another name" in _loosened(folder / "again.dpnb.toml")


def _loosened(path):
    command = [sys.executable, "-m", "dpnb", "loosen", str(path), "--reason", "I try", "--yes"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def test_a_cap_of_the_owner_keeps_a_reserve_and_a_grant_holds_one_analyst(folder, admin):
    released(folder, epsilon="1")
    admin("cap", "people", "--epsilon", "1.5", *WHY)
    with pytest.raises(BudgetError, match=r"0\.5 is left of its owner's cap of 1\.5"):
        released(folder, epsilon="0.6", fresh=True)
    me = acts("charge")[0].principal
    assert admin("grant", "people", "--principal", me, "--epsilon", "1.2", *WHY)[0] == 0
    with pytest.raises(BudgetError, match=r"0\.2 is left of what its owner grants you, 1\.2"):
        released(folder, epsilon="0.3", fresh=True)
    admin("grant", "people", "--principal", me, "--lift", *WHY)
    admin("cap", "people", "--lift", *WHY)
    released(folder, epsilon="3", fresh=True)
    assert [row.note for row in acts("grant")][:2] == [
        "everybody together: ε 1.5 (the study ended)",
        f"{me}: ε 1.2 (the study ended)",
    ]
    assert "kept in ε" in admin("cap", "people", "--rho", "1", *WHY)[1]


def test_the_budget_is_told_by_what_it_means_and_to_whom_answers_left(folder, admin):
    status, said = admin("budget", folder / "people.dpnb.toml")
    assert status == 0
    assert "An honest 10 % guess becomes at most" in said
    released(folder, epsilon="1")
    status, facts = admin("budget", "people", as_json=True)
    assert (status, facts["state"]) == (0, "open")
    assert [loss["amount"] for loss in facts["promised"].values()] == ["1"]
    assert admin("budget", "nobody")[0] == 2


@pytest.mark.parametrize(
    "words",
    [
        ("freeze", "nobody", *WHY),
        ("freeze", "people", "--reason", "  "),
        ("close", "people", *WHY),
        ("unfreeze", "people", *WHY),
        ("cap", "people", "--epsilon", "-1", *WHY),
        ("grant", "people", "--principal", "ada", "--epsilon", "lots", *WHY),
        ("check", "people.dpnb.toml"),
        ("restore", *WHY),
    ],
)
def test_an_act_that_is_refused_changes_nothing(folder, admin, words):
    admin("add", folder / "people.dpnb.toml")
    before = examined(Home.current().ledger)[0]
    status, said = admin(*words)
    assert status == 2
    assert said.startswith("dpnb: ")
    assert examined(Home.current().ledger)[0] == before


def test_no_act_makes_a_home_where_there_is_none(tmp_path, admin, monkeypatch):
    monkeypatch.setenv("DPNB_HOME", str(tmp_path / "elsewhere"))
    assert "There is no ledger" in admin("freeze", "people", *WHY)[1]
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can act as somebody else")
@pytest.mark.parametrize(
    "words",
    [
        ("freeze",),
        ("unfreeze", "--yes"),
        ("close", "--yes"),
        ("grant", "--principal", "x", "--lift"),
        ("cap", "--lift"),
    ],
)
def test_another_user_of_the_machine_acts_on_no_home_but_their_own(folder, admin, words):
    """The acts have no door but the home's files: whoever cannot write them is refused, in words."""
    admin("add", folder / "people.dpnb.toml")
    before = examined(Home.current().ledger)[0]
    home = str(Home.current().root)
    program = (
        "import os, sys; from dpnb.__main__ import main; import dpnb.trusted.owner.owner_acts; "
        f"os.setgroups([]); os.setgid(54321); os.setuid(54321); os.environ['DPNB_HOME'] = {home!r}; "
        f"sys.exit(main(['admin', {words[0]!r}, 'people', *{words[1:]!r}, '--reason', 'mine']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("dpnb: ")
    assert "Traceback" not in done.stderr
    assert examined(Home.current().ledger)[0] == before


def test_the_page_of_a_deposit_is_one_notebook_beside_its_file(folder, admin, monkeypatch):
    """It starts JupyterLab on it, for this machine alone; a notebook that is there is left as it is; what is wrong is said before."""
    begun = []
    monkeypatch.setattr(
        deposit_page.subprocess,
        "run",
        lambda command, **_: begun.append(command) or subprocess.CompletedProcess(command, len(begun) - 1),
    )
    assert admin("deposit", folder / "people.csv", "--no-browser")[0] == 0
    (command,) = begun
    assert command[1:4] == ["-m", "jupyterlab", "people.deposit.ipynb"]
    assert {"--ServerApp.ip=127.0.0.1", "--no-browser"} <= set(command)
    notebook = folder / "people.deposit.ipynb"
    sources = [cell["source"] for cell in json.loads(notebook.read_text())["cells"]]
    assert sources[1] == '%load_ext dpnb\n%dp deposit "people.csv"'
    notebook.write_text("mine")
    status, said = admin("deposit", folder / "people.csv")
    assert (status, notebook.read_text()) == (2, "mine")
    assert "JupyterLab ended with 1" in said
    monkeypatch.setattr(deposit_page.importlib.util, "find_spec", lambda name: None)
    assert 'pip install "dpnb[lab]"' in admin("deposit", folder / "people.csv")[1]
    assert "absent.csv" in admin("deposit", folder / "absent.csv")[1]
    assert len(begun) == 2


def test_an_act_in_a_cell_is_that_of_the_terminal(folder, admin):
    """The same words, the same entry; a refusal is an error of the cell; what is not private is refused there too."""
    admin("add", folder / "people.dpnb.toml")
    assert "people is frozen" in run_act(["freeze", "people", *WHY])
    assert len(acts("freeze")) == 1
    with pytest.raises(OwnerError, match="Add --yes where nobody can be asked"):
        run_act(["close", "people", *WHY])
    with pytest.raises(OwnerError, match="not private"):
        run_act(["check", str(folder / "people.dpnb.toml")])
    assert not acts("close")


PAGE = Path(__file__).parents[2] / "docs" / "owner.md"


def test_every_command_on_the_owners_page_is_one_that_there_is():
    """Each line of shell is read by the command line's own parser, and every act that there is stands in the page's table."""
    text = PAGE.read_text()
    lines = [line.split("  #")[0] for line in text.split("```sh\n")[1].split("```")[0].splitlines()]
    assert len(lines) == 8
    for line in lines:
        program, *words = shlex.split(line)
        assert program == "dpnb"
        assert _parser().parse_args(words).run
    with pytest.raises(SystemExit):
        _parser().parse_args(["admin", "no-act"])
    table = text.split("| command | what it does |")[1].split("\n\n")[0]
    assert set(re.findall("`([a-z]+)`", table)) == {*_acts()}


def _acts():
    (commands,) = (one for one in _parser()._actions if isinstance(one, argparse._SubParsersAction))
    admin = commands.choices["admin"]
    (acts,) = (one for one in admin._actions if isinstance(one, argparse._SubParsersAction))
    return acts.choices


@pytest.mark.parametrize("name", sorted(_acts()))
def test_the_help_of_an_act_teaches(name):
    """What it does, in sentences, and one line that the parser reads."""
    act = _acts()[name]
    assert len(act.description.split()) >= 12
    program, *words = shlex.split(act.epilog.removeprefix("example: "))
    assert program == "dpnb"
    assert name in words[:2]
    assert _parser().parse_args(words).run


_ENDING = {"close", "loosen", "publish", "release", "restore", "revoke", "unfreeze"}
"""What cannot be taken back."""


def test_what_cannot_be_taken_back_asks_once_and_every_act_prints_json():
    """``--yes`` on these and no others; ``--json`` on all but the page that opens in a browser."""
    found = {**_acts(), **_below(_acts()["token"])}
    del found["token"]
    flags = {name: act._option_string_actions for name, act in found.items()}
    assert {name for name, known in flags.items() if "--yes" in known} == _ENDING
    assert {name for name, known in flags.items() if "--json" not in known} == {"deposit"}


def _below(parser):
    """The commands below a parser."""
    (commands,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    return commands.choices
