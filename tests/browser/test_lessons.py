"""The course in JupyterLab, as a student runs it: every cell in order, no error of the page, and every interaction drawn."""

from __future__ import annotations

import nbformat
import pytest
from playwright.sync_api import expect

from tests.course.lessons import course
from tests.examples import mostly_long

ALL = course()
TALL = {"width": 1200, "height": 9000}  # a whole lesson in one picture


ORDINARY = ("06-budgets",)  # what each lesson computes, tests/course shows of all of them


@pytest.mark.parametrize(
    "lesson",
    mostly_long(ALL, *(lesson for lesson in ALL if lesson.path.stem in ORDINARY)),
    ids=lambda one: one.path.stem,
)
def test_a_lesson_in_the_browser(lesson, lab):
    """No cell fails, no page error; each interaction shows itself and not its still form."""
    nbformat.write(lesson.with_guesses, lab.server.work / lesson.path.name)
    lab.show(lesson.path.name)
    code = [place for place, cell in enumerate(lesson.cells) if cell.cell_type == "code"]
    for place in code:
        lab.run_cell(place)
    lab.select(0)
    lab.page.set_viewport_size(TALL)
    lab.cell(0).scroll_into_view_if_needed()
    faults = lab.page.locator('[data-mime-type$="stderr"], [data-mime-type$="error"]')
    assert faults.all_inner_texts() == []
    shown = [place for place in code if "widgets." in lesson.cells[place].source]
    for place in shown:
        drawn = lab.cell(place).locator(".jp-OutputArea-output").last
        expect(drawn).to_be_visible()
        expect(drawn).not_to_contain_text("not installed here")
    lab.shots(lab.page, lesson.path.stem)
