"""The course, executed cell by cell as its teacher version; and what each lesson must have."""

from __future__ import annotations

import re
import time
from fractions import Fraction

import matplotlib.pyplot as plt
import pytest

from dpnb.client import api
from dpnb.client.handles import Dataset
from tests.conftest import PROFILE
from tests.course.lessons import COURSE, TABLE, Lesson, all_of, course, known_seconds, page
from tests.examples import mostly_long
from tests.notebook.conftest import Notebook, shell  # noqa: F401 - a fixture

LESSONS, ALL = all_of(COURSE), course()
LIMIT = 15
PARTS = ("**Question.**", "You will be able to", "## What people get wrong", "## Further reading")


def named(one: Lesson) -> str:
    """Name a case by its notebook."""
    return one.path.stem


@pytest.mark.slow
@pytest.mark.parametrize("lesson", ALL, ids=named)
def test_a_notebook_runs(lesson, shell, tmp_path, monkeypatch, capsys):  # noqa: F811
    """No cell raises, every answer that waits for a prediction is shown, and a long run holds the limit of 15 s."""
    monkeypatch.chdir(tmp_path)
    notebook = Notebook(shell, None)
    begun = time.process_time()  # of this process: other tests may share the machine
    for source in lesson.code:
        notebook(source)
    seconds = time.process_time() - begun
    api.close()
    said = capsys.readouterr().out
    assert said.count("You predicted") == lesson.predicted
    assert PROFILE != "soak" or seconds <= LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("lesson", mostly_long(LESSONS, *LESSONS[::3]), ids=named)
def test_nothing_is_shown_before_a_guess(lesson, shell, tmp_path, monkeypatch, capsys):  # noqa: F811
    """With dots in the place of guesses a cell that reveals ends with the request and shows nothing; all others run as ever."""
    monkeypatch.chdir(tmp_path)
    notebook, waited = Notebook(shell, None), 0
    for cell in (one for one in lesson.cells if one.cell_type == "code"):
        if "reveal(" not in cell.source:
            notebook(cell.source)
            continue
        drawn, _ = (len(shell.drawn), plt.get_fignums()), capsys.readouterr()
        assert notebook.fails(cell.source).startswith("Predict first"), cell.id
        assert (len(shell.drawn), plt.get_fignums()) == drawn, cell.id
        assert not capsys.readouterr().out, cell.id
        waited += 1
    api.close()
    assert waited == lesson.predicted


@pytest.mark.parametrize("test", ["one", "the next"])
def test_no_figure_outlives_a_test(test):
    """A notebook's cells draw as many as their own tests see, whatever ran before them. Either leaves one."""
    assert plt.get_fignums() == []
    plt.figure()


@pytest.mark.parametrize("lesson", LESSONS, ids=named)
def test_a_cell_reveals_before_it_shows(lesson):
    """Above the line that asks for the guess nothing is printed or drawn."""
    for cell in lesson.cells:
        above, found, _ = cell.source.partition("\nreveal(")
        if found and cell.cell_type == "code":
            assert not re.search(r"print\(|plt\.|widgets\.|axes\.", above), cell.id


@pytest.mark.slow
@pytest.mark.parametrize("lesson", ALL[len(LESSONS) :], ids=named)
def test_a_guided_analysis_keeps_its_budget(lesson, shell, tmp_path, monkeypatch, capsys):  # noqa: F811
    """It states ε 1, spends that and no more, and running it again is free."""
    monkeypatch.chdir(tmp_path)
    notebook = Notebook(shell, None)
    for source in lesson.code + lesson.code:
        notebook(source)
    dataset = next(one for one in shell.user_ns.values() if isinstance(one, Dataset))
    spent = dataset.budget.spent.amount
    api.close()
    assert "**The budget of this study is ε = 1" in lesson.cells[0].source
    assert Fraction(99, 100) < spent <= 1


@pytest.mark.parametrize("lesson", LESSONS, ids=named)
def test_a_lesson_has_its_parts(lesson):
    """A question, a goal, predictions, an interaction, two exercises to write with checks, two to decide, and what to read."""
    text = "\n".join(cell.source for cell in lesson.cells if cell.cell_type == "markdown")
    assert [part for part in PARTS if part not in text] == []
    assert lesson.predicted >= 2
    assert lesson.dragged >= 1
    assert lesson.written >= 2
    assert lesson.decided == 2
    assert lesson.marked(grade=True, cell_type="code") == lesson.written


@pytest.mark.parametrize("lesson", LESSONS, ids=named)
def test_solutions_can_be_taken_out(lesson):
    """Every solution stands between nbgrader's marks, the marks stand in solution cells alone, and a check is locked."""
    for cell in lesson.cells:
        mark = cell.metadata.get("nbgrader", {})
        begins, ends = cell.source.count("### BEGIN SOLUTION"), cell.source.count("### END SOLUTION")
        assert begins == ends
        assert bool(begins) is bool(mark.get("solution")), cell.id
        assert mark.get("locked", False) is (bool(mark) and not mark["solution"])
        assert not mark or mark["grade_id"] == cell.id
        assert cell.get("outputs", []) == []


def test_the_table_of_lessons_is_up_to_date():
    """Words, reading level, exercises and minutes are those of the notebooks; the seconds are whatever was measured."""
    text = TABLE.read_text(encoding="utf-8")
    assert text == page(text, known_seconds(text)), "python -m tests.course.lessons"
    assert all(one.minutes <= 50 for one in LESSONS)


def test_the_guide_plans_fifty_minutes_of_each_lesson():
    """A section for every lesson, by its number and first words, whose minutes add up."""
    text = (TABLE.parent / "guide.md").read_text(encoding="utf-8")
    sections = re.findall(r"(?ms)^## (\d+) · ([^\n]*)\n(.*?)(?=^## )", text)
    assert [int(number) for number, _, _ in sections] == list(range(1, 15))
    for (number, name, body), lesson in zip(sections, LESSONS, strict=True):
        assert lesson.title.startswith(f"{number} · {name.split(',')[0].split(':')[0][:6]}"), name
        planned = body.partition("**Board.**")[0].replace("- **Minutes.**", " ·")
        assert sum(int(minutes) for minutes in re.findall(r"· (\d+) ", " ".join(planned.split()))) == 50, name
        assert all(part in body for part in ("**Board.**", "**Answers.**", "**Where they trip.**"))
