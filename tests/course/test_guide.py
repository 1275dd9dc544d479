"""The teacher's pages and slides: every lesson has its hour, its slides need no network, every wrong choice its misconception."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest

from dpnb.course import kit
from dpnb.course.kit import inline, slides

GUIDE = kit.folder_of("guide")
LESSONS = [path for path in kit.lessons() if path.stem[:2].isdigit()]


def page(name):
    return (GUIDE / name).read_text(encoding="utf-8")


def test_each_distractor_of_the_eight_questions_names_its_misconception():
    questions = re.split(r"^\*\*\d\. ", page("concepts.md"), flags=re.MULTILINE)[1:]
    assert len(questions) == 8
    for question in questions:
        choices = re.findall(r"^- [A-D]\. (.+)$", question, re.MULTILINE)
        assert len(choices) == 4
        right = [choice for choice in choices if choice.startswith("**")]
        assert len(right) == 1
        assert all(re.search(r" — \*.+\*$", choice) for choice in choices if choice not in right)


def test_the_right_choices_do_not_stand_at_one_place():
    places = re.findall(r"^- ([A-D])\. \*\*", page("concepts.md"), re.MULTILINE)
    assert len(set(places)) >= 3


def test_the_checklist_is_one_page():
    """At most 55 lines and 450 words: it prints on one sheet."""
    text = page("readiness.md")
    assert text.count("- [ ] ") >= 12
    assert len(text.splitlines()) <= 55
    assert len(text.split()) <= 450


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_slides_need_no_network_and_hold_no_answers(lesson):
    """No address that a browser would load, no formula left in TeX, and nothing of a solution."""
    notebook = json.loads(lesson.read_text(encoding="utf-8"))
    made = slides(notebook)
    shown = made.split("<script>", maxsplit=1)[0]
    assert not re.search(r"(src|href)=|url\(|@import|https?://", made)
    assert not re.search(r"\\[a-z]|\$", shown)
    assert shown.count("<section") >= 5
    assert "What people get wrong" in shown
    assert "SOLUTION" not in shown
    answers = [
        re.findall(r"BEGIN SOLUTION.*?\n(.*?)\n.*?END", "".join(cell["source"]), re.DOTALL)
        for cell in notebook["cells"]
    ]
    assert not [one for found in answers for one in found if one.strip()[:60] in shown]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_an_exercise_is_whole_on_its_slide(lesson):
    """Every word of it, whatever list or formula it has: a class that reads the slide can work."""
    notebook = json.loads(lesson.read_text(encoding="utf-8"))
    texts = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    asked = [
        one for text in texts for one in re.findall(r"(?ms)^##+ Exercise \d[^\n]*\n(.*?)(?=^#|\Z)", text)
    ]
    assert len(asked) == 4
    shown = set(re.findall(r"[^\W\d_]{3,}", unescape(slides(notebook))))
    for one in asked:
        assert set(re.findall(r"[^\W\d_]{3,}", re.sub(r"(?s)\$\$.*?\$\$|\$[^$]*\$", " ", one))) <= shown


def test_a_slide_shows_lists_and_displayed_formulas():
    text = "### Exercise 1: split\nSo\n\n$$x = \\frac{w_i^{1/3}}{2}.$$\n\n1. *one*\n2. two"
    made = slides({"cells": [{"cell_type": "markdown", "source": source} for source in ("# T", text)]})
    assert '<p class="formula"><i>x = (w<sub>i</sub><sup>1/3</sup>)/2</i></p>' in made
    assert "<ol><li><em>one</em></li><li>two</li></ol>" in made


def test_a_line_of_markdown_is_escaped_and_short_formulas_are_plain_signs():
    assert inline("a < b & **c**") == "a &lt; b &amp; <strong>c</strong>"
    assert inline(r"$\sigma = \sqrt{2\rho}$, $\sqrt\rho$") == "<i>σ = √(2ρ)</i>, <i>√ρ</i>"
    assert inline(r"$x_{12}$ [here](page.md)") == "<i>x<sub>12</sub></i> here"


@pytest.mark.parametrize("name", ["guide.md", "kit.md"])
def test_pages_that_a_page_names_are_there(name):
    targets = re.findall(r"\]\(([\w-]+\.md)\)", page(name))
    assert targets
    assert all((Path(GUIDE) / target).is_file() for target in targets)
