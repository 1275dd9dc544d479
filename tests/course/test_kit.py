"""The kit: what students get holds no answers, what teachers get holds all, and nothing is overwritten."""

from __future__ import annotations

import json
import re

import pytest

from dpnb.__main__ import main
from dpnb.course import kit
from dpnb.errors import OwnerError


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """Both versions, written by the command."""
    folder = tmp_path_factory.mktemp("kit")
    assert main(["course", "copy", str(folder / "students")]) == 0
    assert main(["course", "copy", str(folder / "teacher"), "--teacher"]) == 0
    return folder


def _answers(text):
    """The lines of a source that students must not get."""
    cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
    marked = r"### BEGIN (?:SOLUTION|HIDDEN TESTS).*?\n(.*?)\n[^\n]*### END"
    return [
        line.strip()
        for cell in cells
        for part in re.findall(marked, cell, re.DOTALL)
        for line in part.splitlines()
    ]


@pytest.mark.parametrize("source", kit.lessons(), ids=lambda path: path.stem)
def test_the_students_version_holds_no_answers(copies, source):
    """No mark, and no line of an answer or a hidden test that does not stand in the open elsewhere too."""
    text = source.read_text(encoding="utf-8")
    copied = (copies / "students" / source.name).read_text(encoding="utf-8")
    answers = _answers(text)
    assert answers
    assert not re.search(r"(BEGIN|END) (SOLUTION|HIDDEN)", copied)
    student = "\n".join("".join(cell["source"]) for cell in json.loads(copied)["cells"])
    everywhere = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    leaked = [line for line in answers if len(line) > 12 and student.count(line) >= everywhere.count(line)]
    assert not leaked
    assert kit.CODE in student or kit.TEXT in student


def test_the_teachers_version_is_the_source_with_guide_and_configuration(copies):
    for source in kit.lessons():
        copied = copies / "teacher" / "source" / source.stem / source.name
        assert copied.read_bytes() == source.read_bytes()
    assert "code_stub" in (copies / "teacher" / "nbgrader_config.py").read_text()
    guide = kit.folder_of("guide")
    assert {path.name for path in guide.rglob("*.md")} <= {
        path.name for path in (copies / "teacher" / "guide").rglob("*.md")
    }


def test_students_keep_the_checklist_and_no_other_page(copies):
    assert [path.name for path in (copies / "students").rglob("*.md")] == ["readiness.md"]


def test_nothing_is_overwritten(copies, capsys):
    assert main(["course", "copy", str(copies / "students")]) == 2
    assert "holds files already" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "### BEGIN SOLUTION\nx = 1",
        "x = 1\n### END SOLUTION",
        "### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION",
        "### BEGIN SOLUTION\n### END HIDDEN TESTS",
    ],
)
def test_a_mark_out_of_place_writes_nothing(text):
    cell = {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "execution_count": None}
    with pytest.raises(OwnerError):
        kit.student_version({"cells": [cell]})


def test_an_answer_in_a_function_keeps_its_place():
    cell = {
        "cell_type": "code",
        "source": ["def f():\n", "    ### BEGIN SOLUTION\n", "    return 1\n", "    ### END SOLUTION"],
        "metadata": {},
    }
    assert kit.student_version({"cells": [cell]})["cells"][0]["source"] == f"def f():\n    {kit.CODE}"


@pytest.mark.parametrize(
    "source", [path for path in kit.lessons() if path.parent.name == "homework"], ids=lambda path: path.stem
)
def test_the_teachers_homework_passes_its_own_checks(source):
    """Hidden tests too; a failed check raises."""
    names: dict[str, object] = {}
    for cell in json.loads(source.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert "noisy_count" in names
