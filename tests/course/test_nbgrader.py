"""nbgrader itself makes, grades and collects the homework: nothing hidden leaks, good work gets 3 of 3, mistakes are named."""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import sys
from pathlib import Path

import nbformat
import pytest

from dpnb.course import kit
from tests.course.submissions import GOOD, WRONG

# its import takes a second and a half, in every process that only collects
if importlib.util.find_spec("nbgrader") is None:
    pytest.skip("nbgrader is not installed", allow_module_level=True)
pytestmark = [
    pytest.mark.repo,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # nbgrader's and SQLAlchemy's own, about each other
]

NAME = "noisy-answers"
STUDENTS = {"good": {cell: (body, "") for cell, body in GOOD.items()}, **WRONG}
TAKEN = tuple(WRONG)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The teacher's copy; the assignment is generated, and released to an exchange of its own."""
    folder = tmp_path_factory.mktemp("course")
    (folder / "exchange").mkdir(mode=0o777)
    (folder / "exchange").chmod(0o777)
    with pytest.MonkeyPatch.context() as patched:  # nbgrader starts alembic by its name
        patched.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        kit.copy(folder / "dpnb", teacher=True)
        api = _api(folder)
        assert api.generate_assignment(NAME)["success"]
        assert api.release_assignment(NAME)["success"]
        yield folder


def _config(folder, at="dpnb"):
    from traitlets.config import Config, PyFileConfigLoader

    config = PyFileConfigLoader("nbgrader_config.py", path=str(folder / "dpnb")).load_config()
    own = {
        "CourseDirectory": {"root": str(folder / at)},
        "Exchange": {"root": str(folder / "exchange"), "assignment_dir": str(folder / at)},
        "ExchangeCollect": {"check_owner": False},
    }
    config.merge(Config(own))
    return config


def _api(folder):
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    config = _config(folder)
    return NbGraderAPI(CourseDirectory(config=config), config=config)


def _hand_in(folder, student, answers, monkeypatch):
    """Fetch the assignment as a student, fill it in, and submit it; the teacher collects."""
    from nbgrader.auth import Authenticator
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.exchange.default import ExchangeFetchAssignment, ExchangeSubmit, submit

    (folder / student).mkdir()
    monkeypatch.chdir(folder / student)
    monkeypatch.setattr(submit, "get_username", lambda: student)
    config = _config(folder, student)
    here = CourseDirectory(config=config, assignment_id=NAME)
    with_rights = {"coursedir": here, "config": config, "authenticator": Authenticator(config=config)}
    ExchangeFetchAssignment(**with_rights).start()
    paper = folder / student / NAME / f"{NAME}.ipynb"
    notebook = nbformat.read(paper, as_version=4)
    for cell in notebook.cells:
        exercise = cell.metadata.get("nbgrader", {}).get("grade_id")
        if exercise in answers:
            assert kit.CODE in cell.source
            cell.source = cell.source.replace(kit.CODE, answers[exercise][0])
    nbformat.write(notebook, paper)
    ExchangeSubmit(**with_rights).start()
    assert _api(folder).collect(NAME)["success"]


def test_what_nbgrader_releases_is_what_dpnb_copies_to_students(course, tmp_path):
    """Both leave out every answer and every hidden test, and say the same in their place."""
    released = nbformat.read(course / "dpnb" / "release" / NAME / f"{NAME}.ipynb", as_version=4)
    kit.copy(tmp_path / "students")
    copied = nbformat.read(tmp_path / "students" / f"{NAME}.ipynb", as_version=4)
    assert [cell.source for cell in released.cells] == [cell.source for cell in copied.cells]
    text = (course / "dpnb" / "release" / NAME / f"{NAME}.ipynb").read_text()
    assert not re.search(r"BEGIN|HIDDEN|upper / epsilon|0\.3|variance\*\*", text)


def _grades(course, student):
    """Autograde one student; the score of each graded cell and what its output says."""
    from nbgrader.api import Gradebook

    outcome = _api(course).autograde(NAME, student)
    assert outcome["success"], outcome
    with Gradebook(f"sqlite:///{course}/dpnb/gradebook.db") as book:
        found = book.find_submission_notebook(NAME, NAME, student)
        scores = {grade.name: grade.score for grade in found.grades}
    graded = nbformat.read(course / "dpnb" / "autograded" / student / NAME / f"{NAME}.ipynb", as_version=4)
    said = {}
    for cell in graded.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            errors = [out["evalue"] for out in cell.outputs if out["output_type"] == "error"]
            said[cell.metadata.nbgrader.grade_id] = " ".join(errors)
    return scores, said


@pytest.mark.parametrize(
    "student",
    [
        "good",
        "ada",
        *(pytest.param(name, marks=pytest.mark.soak) for name in WRONG if name != "ada"),
    ],
)
def test_a_submission_is_graded_and_each_mistake_named(course, student, monkeypatch):
    logging.getLogger("nbgrader").setLevel(logging.ERROR)
    answers = STUDENTS[student]
    _hand_in(course, student, answers, monkeypatch)
    monkeypatch.chdir(course / "dpnb")
    scores, said = _grades(course, student)
    wanted = 1.0 if student == "good" else 0.0
    assert scores == dict.fromkeys(("count-check", "sum-check", "interval-check"), wanted)
    for cell, (_, words) in answers.items():
        assert words in said[f"{cell}-check"]
        assert ("Next: " in said[f"{cell}-check"]) == (student != "good")
