"""Predictions: what a student expected, kept until the answer is shown and after.

The first guess counts. It is in ``predictions.json`` beside the notebook, where its author and a teacher can read it; nothing is
graded by it, and nothing about protected data is in it.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import EllipsisType
from typing import Any

from dpnb.errors import OptionError

Guess = int | float | str
FILE = "predictions.json"
"""Where predictions are kept, in the folder of the notebook."""


class NoGuess(Exception):
    """An answer that waits for a guess: the rest of its cell does not run, and a notebook shows this one line."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def predict(name: str, guess: object) -> None:
    """Keep a guess; the first one for a name counts.

    Parameters
    ----------
    name : str
        What is guessed, in a word or two; the same as in :func:`reveal`.
    guess : number, str, bool or ...
        With ``...`` nothing is kept yet.

    Raises
    ------
    OptionError
        For a guess that is not a number, text or boolean.

    Examples
    --------
    >>> predict("alone", ...)
    Replace the dots with your guess, and run this cell again.
    """
    if isinstance(guess, EllipsisType):
        print("Replace the dots with your guess, and run this cell again.")
        return
    if not isinstance(guess, int | float | str):
        raise OptionError('A guess is a number or a text: predict("alone", 40).')
    kept = _read()
    if name in kept and kept[name] != guess:
        print(f"You already predicted {_written(kept[name])}: the first guess counts.")
        return
    _write({**kept, name: guess})
    print(f"Kept: you predict {_written(guess)}.")


def reveal(name: str, answer: object, words: str = "") -> None:
    """Show an answer beside the guess that was kept; without a guess, ask for one and end the cell.

    Put anything else that reveals the answer below it, in the same cell.

    Parameters
    ----------
    name : str
    answer : number or str
    words : str
        What the answer is of: ``"percent of people"``.

    Raises
    ------
    NoGuess
        When nothing was predicted under this name.

    Examples
    --------
    >>> reveal("nobody guessed this", 12)
    Traceback (most recent call last):
    dpnb.course.prediction.NoGuess: Predict first: write your guess at 'nobody guessed this' in place of the dots above, run that cell, and then this one.
    """
    kept = _read()
    if name not in kept:
        raise NoGuess(
            f"Predict first: write your guess at {name!r} in place of the dots above, run that cell, and then this one."
        )
    print(f"You predicted {_written(kept[name])}. It is {_written(answer)}{' ' + words if words else ''}.")


def _written(value: Any) -> str:
    number = isinstance(value, float) or hasattr(value, "dtype")
    return f"{float(value):.4g}" if number else str(value)


def _read() -> dict[str, Guess]:
    try:
        kept = json.loads(Path(FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise OptionError(f"{FILE} can no longer be read: move it away and predict again.") from error
    return kept if isinstance(kept, dict) else {}


def _write(kept: dict[str, Guess]) -> None:
    whole = Path(f"{FILE}.new")
    whole.write_text(json.dumps(kept, indent=2, ensure_ascii=False), encoding="utf-8")
    whole.replace(FILE)
