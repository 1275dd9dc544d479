"""Notebooks of the course as the site shows them: the first as it ran, its answers folded away; the others as a student gets them.

A notebook of the course is one source for students and teachers, answers included. Nobody who opens the site to do a lesson wants to
read its answers first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dpnb.course.kit import student_version

FIRST = "notebooks/course/01-names-off.ipynb"
GUESS = 50
"""What is predicted where a student writes a guess of their own."""
NOTE = (
    f"*On this page the lesson has run: each prediction is a guess of {GUESS}, and answers are folded away. For a copy of your own, without "
    "answers, type* `dpnb course copy my-course`."
)
_MARKS = re.compile(r"^[ \t]*(?:<!-- )?### (?:BEGIN|END) SOLUTION(?: -->)?\n?", re.MULTILINE)
_ANSWER = re.compile(r"<!-- ### BEGIN SOLUTION -->\n(.*?)\n<!-- ### END SOLUTION -->", re.DOTALL)


def staged(path: str, notebook: Mapping[str, Any]) -> dict[str, Any]:
    """Return a notebook of the repository as the site shows it.

    Parameters
    ----------
    path : str
        In the repository.
    notebook : mapping
        As it was read.
    """
    if not path.startswith("notebooks/course/"):
        return dict(notebook)
    return worked(notebook) if path == FIRST else student_version(notebook)


def worked(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """Return a lesson that can be run: a guess for each prediction, each answer behind a click."""
    first, *rest = (_worked(cell) for cell in notebook["cells"])
    note = {"cell_type": "markdown", "id": "as-it-ran", "metadata": {}, "source": NOTE}
    return {**notebook, "cells": [first, note, *rest]}


def _worked(cell: Mapping[str, Any]) -> dict[str, Any]:
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return {**cell, "source": _ANSWER.sub(_folded, text)}
    asked = re.sub(r"^(predict\(.*), \.\.\.\)", rf"\1, {GUESS})", text, flags=re.MULTILINE)
    found = {**cell, "source": _MARKS.sub("", asked)}
    if _MARKS.search(text):
        words = {"code_prompt_show": "Show an answer", "code_prompt_hide": "Hide the answer"}
        found["metadata"] = {**cell["metadata"], "tags": ["hide-input"], "mystnb": words}
    return found


def _folded(answer: re.Match[str]) -> str:
    return f"<details><summary>Show an answer</summary>\n\n{answer[1]}\n\n</details>"
