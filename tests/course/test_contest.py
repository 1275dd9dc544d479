"""The contest is scored by running entries again on other people; what a student writes beside the entry changes nothing."""

from __future__ import annotations

import json

import pytest

import dpnb
from dpnb.__main__ import main
from dpnb.course import contest
from dpnb.errors import OwnerError


def _notebook(*sources):
    cells = [
        {"cell_type": "code", "source": source, "metadata": {}, "outputs": [{"text": "999 points"}]}
        for source in sources
    ]
    return json.dumps({"cells": cells, "metadata": {"points": 999}, "nbformat": 4, "nbformat_minor": 5})


def test_an_entry_is_read_and_nothing_is_run(tmp_path):
    """The last literal counts; a cell with a magic or with code is passed over, not run."""
    path = tmp_path / "ada.ipynb"
    trap = f"open({str(tmp_path / 'ran')!r}, 'w')"
    path.write_text(
        _notebook("%load_ext dpnb", "entry = {'age': 1}", trap, f"entry = {dict(contest.EXAMPLE)!r}")
    )
    assert contest.read_entry(path) == dict(contest.EXAMPLE)
    assert not (tmp_path / "ran").exists()
    path.write_text(_notebook(f"entry = {trap}"))
    with pytest.raises(OwnerError, match="readable"):
        contest.read_entry(path)
    path.write_text(_notebook("points = 999"))
    with pytest.raises(OwnerError, match="no `entry"):
        contest.read_entry(path)


MEAN = {"statistic": "mean", "column": "income", "epsilon": 0.4}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({}, "maps some of"),
        ({"points": 100}, "maps some of"),
        ({"income": {**MEAN, "truth": 1}}, "a question has"),
        ({"income": {**MEAN, "column": "__class__"}}, "declared column"),
        ({"income": {**MEAN, "statistic": "public_rows"}}, "declared column"),
        ({"income": {**MEAN, "by": "trained"}}, "difference"),
        ({"income": {**MEAN, "epsilon": 5}}, "at most"),
        ({"income": {**MEAN, "epsilon": -1}}, "epsilon"),
    ],
)
def test_an_entry_outside_of_the_closed_list_is_not_scored(entry, words):
    found = contest.score(entry)
    assert words in found.reason
    assert found.points == 0


def test_more_noise_or_a_wider_clamp_is_less_accurate_and_epsilon_is_taken_off(dpnb_home):
    """Scores are the same each time, whatever was asked before; the session that was open stays."""
    study = dpnb.open("hiv", quiet=True)
    narrow = contest.score(contest.EXAMPLE)
    wide = contest.score({**contest.EXAMPLE, "income": {**contest.EXAMPLE["income"], "clip": (0, 1_000_000)}})
    again = contest.score(contest.EXAMPLE)
    assert narrow.epsilon == wide.epsilon == 1
    assert wide.accuracy["income"] < narrow.accuracy["income"] - 0.2
    assert again == narrow
    assert narrow.points == pytest.approx(100 * sum(narrow.accuracy.values()) / 4 - contest.PENALTY)
    assert dpnb.session() is study.session


def test_teams_are_ranked_on_the_teachers_people(dpnb_home, tmp_path, capsys):
    """The command runs every entry again; an unreadable one is last, with its reason."""
    (tmp_path / "ada.ipynb").write_text(_notebook(f"entry = {dict(contest.EXAMPLE)!r}"))
    (tmp_path / "ben.json").write_text(
        json.dumps({"employed": {"statistic": "mean", "column": "employed", "epsilon": 0.1}})
    )
    (tmp_path / "cleo.py").write_text("entry = steal()")
    assert main(["course", "contest", str(tmp_path), "--seed", "nobody knows"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("ada: ")
    assert lines[1].startswith("ben: ")
    assert lines[2].startswith("cleo: not scored.")
    assert lines[0] != contest.score(contest.EXAMPLE, "practice", "ada").text


def test_hidden_people_are_others_of_the_same_kind():
    mine, hidden = contest.people(), contest.people("nobody knows")
    assert set(mine) == set(hidden) == set(contest.SCHEMA["columns"])
    assert (mine["income"] != hidden["income"]).any()
    assert contest.truth(mine) != contest.truth(hidden)
