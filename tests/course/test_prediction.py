"""Predictions: the first guess is kept, the answer waits for it, and both survive the kernel."""

from __future__ import annotations

import numpy as np
import pytest

from dpnb.course.prediction import NoGuess
from dpnb.errors import OptionError
from dpnb.teach import predict, reveal


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A notebook's own folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_answer_waits_for_a_guess(capsys):
    """Without a guess the answer is not said and the cell ends; dots are no guess, and no traceback is drawn."""
    predict("alone", ...)
    with pytest.raises(NoGuess, match="Predict first: write your guess at 'alone'") as waits:
        reveal("alone", 73)
    assert "73" not in f"{waits.value}{capsys.readouterr().out}"
    assert waits.value._render_traceback_() == [str(waits.value)]


def test_the_first_guess_stands_beside_the_answer(capsys, folder):
    """A second thought does not replace it; the file keeps it for the next kernel."""
    predict("alone", 40)
    predict("alone", 40)
    predict("alone", 73)
    reveal("alone", np.float64(73.25), "percent of people")
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "You already predicted 40: the first guess counts."
    assert lines[3] == "You predicted 40. It is 73.25 percent of people."
    assert (folder / "predictions.json").read_text() == '{\n  "alone": 40\n}'


def test_what_cannot_be_read_or_kept_says_what_to_do(folder):
    """A guess that is no number, and a file that was spoilt."""
    with pytest.raises(OptionError, match="number or a text"):
        predict("alone", [1, 2])
    (folder / "predictions.json").write_text("{")
    with pytest.raises(OptionError, match="move it away"):
        reveal("alone", 1)
