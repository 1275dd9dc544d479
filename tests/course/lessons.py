"""The lessons and guides as files, and the table about them in ``docs/course/lessons.md``.

``python -m tests.course.lessons`` writes the table anew; ``--seconds`` runs every notebook and measures. A test compares everything but
the seconds, which belong to the machine that measured them.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).parents[2]
COURSE, GUIDES = ROOT / "notebooks" / "course", ROOT / "notebooks" / "guides"
ANALYSES = ("incentive-trial", "income-regression", "survey-tables")
"""The guided analyses of the course; other guides stand beside them."""
TABLE = ROOT / "docs" / "course" / "lessons.md"
READING, WRITE, DECIDE, PREDICT, DRAG = 200, 8, 4, 1.5, 2
"""Words read in a minute, and the minutes that each exercise, prediction and interaction is given."""


@dataclass(frozen=True)
class Lesson:
    """One notebook of the course."""

    path: Path

    @cached_property
    def cells(self) -> list[Any]:
        """Its cells, in order."""
        return list(nbformat.read(self.path, as_version=4).cells)

    @property
    def code(self) -> list[str]:
        """The source of every code cell, with a guess in the place of the dots."""
        return [
            re.sub(r"(predict\([^\n]*), \.\.\.", r"\1, 1", cell.source)
            for cell in self.cells
            if cell.cell_type == "code"
        ]

    @property
    def with_guesses(self) -> nbformat.NotebookNode:
        """The notebook with a guess in the place of every dot, as a student fills it in."""
        notebook, code = nbformat.read(self.path, as_version=4), iter(self.code)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.source = next(code)
        return notebook

    @property
    def title(self) -> str:
        """The title, without its mark."""
        return str(self.cells[0].source.splitlines()[0]).removeprefix("# ")

    @property
    def prose(self) -> str:
        """What is read: text without formulas, code, links, references and model solutions."""
        texts = [cell.source for cell in self.cells if cell.cell_type == "markdown"]
        text = re.sub(r"(?s)### BEGIN SOLUTION.*?### END SOLUTION", " ", "\n\n".join(texts))
        text = re.sub(r"(?s)## Further reading.*", " ", text)
        return re.sub(r"(?s)\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|<!--.*?-->|[*#|_]", " ", text)

    @property
    def words(self) -> int:
        """Words of the text."""
        return len(re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", self.prose))

    @property
    def grade(self) -> float:
        """The grade of Flesch and Kincaid (1975): years of school; syllables are counted as groups of vowels."""
        words = re.findall(r"[A-Za-z]+(?:['’-][A-Za-z]+)*", self.prose)
        pieces = re.split(r"[.!?](?=\s|$)|\n\s*\n|\n- ", self.prose)
        sentences = sum(len(piece.split()) > 2 for piece in pieces)
        return 0.39 * len(words) / sentences + 11.8 * sum(map(syllables, words)) / len(words) - 15.59

    def marked(self, **wanted: Any) -> int:
        """How many cells have such nbgrader marks."""
        marks = [cell.metadata.get("nbgrader", {}) for cell in self.cells]
        return sum(all(mark.get(key) == value for key, value in wanted.items()) for mark in marks)

    @property
    def written(self) -> int:
        """Exercises in which something is written."""
        return self.marked(solution=True, cell_type="code")

    @property
    def decided(self) -> int:
        """Exercises in which something is decided."""
        return self.marked(solution=True, cell_type="markdown")

    @property
    def predicted(self) -> int:
        """Predictions."""
        return sum(len(re.findall(r"^predict\(", source, re.MULTILINE)) for source in self.code)

    @property
    def dragged(self) -> int:
        """Interactions."""
        return sum(len(re.findall(r"\bwidgets\.\w+\(", source)) for source in self.code)

    @property
    def minutes(self) -> float:
        """Minutes of work in class, estimated."""
        work = WRITE * self.written + DECIDE * self.decided
        return self.words / READING + work + PREDICT * self.predicted + DRAG * self.dragged


def syllables(word: str) -> int:
    """Count groups of vowels; a final silent e is none."""
    found = len(re.findall(r"[aeiouy]+", re.sub(r"(?<=[a-z])e$", "", word.lower())))
    return max(found, 1)


def all_of(folder: Path) -> list[Lesson]:
    """Return the notebooks of a folder, in order."""
    return [Lesson(path) for path in sorted(folder.glob("*.ipynb"))]


def course() -> list[Lesson]:
    """Return the lessons and the guided analyses."""
    return [*all_of(COURSE), *(Lesson(GUIDES / f"{name}.ipynb") for name in ANALYSES)]


def table(seconds: dict[str, str]) -> str:
    """Write the table; the seconds are given, by the name of the notebook."""
    head = "| notebook | words | reading level | exercises | minutes | seconds |\n|---|--:|--:|--:|--:|--:|\n"
    lines = [
        f"| {one.title} | {one.words} | {one.grade:.1f} | {one.written} + {one.decided} | {one.minutes:.0f} | {seconds.get(one.path.stem, '–')} |"
        for one in course()
    ]
    return head + "\n".join(lines) + "\n"


def known_seconds(text: str) -> dict[str, str]:
    """Read the seconds out of a page."""
    found = dict(re.findall(r"^\| ([^|]+?) \|.*\| ([^|]+?) \|$", text, re.MULTILINE))
    return {one.path.stem: found.get(one.title, "–") for one in course()}


def page(text: str, seconds: dict[str, str]) -> str:
    """Put the table into a page, between its marks."""
    before, _, rest = text.partition("<!-- made by tests.course.lessons; a test compares -->\n")
    after = rest.partition("<!-- end -->")[2]
    return (
        f"{before}<!-- made by tests.course.lessons; a test compares -->\n{table(seconds)}<!-- end -->{after}"
    )


def processor_seconds() -> float:
    """What the children of this process have used of a processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(lessons: Iterable[Lesson]) -> dict[str, str]:
    """Run each notebook in a kernel of its own and return its processor seconds, start and end included."""
    found = {}
    for one in lessons:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, one.path.name)  # a kernel works where its notebook is
            nbformat.write(one.with_guesses, copy)
            begun = processor_seconds()
            command = [
                sys.executable,
                "-m",
                "nbconvert",
                "--to",
                "notebook",
                "--execute",
                "--inplace",
                str(copy),
            ]
            own = os.environ | {"DPNB_HOME": f"{folder}/home"}
            subprocess.run(command, check=True, capture_output=True, cwd=folder, env=own)
            found[one.path.stem] = f"{processor_seconds() - begun:.0f}"
    return found


def main() -> None:
    """Write the page anew."""
    text = TABLE.read_text(encoding="utf-8")
    lessons = course()
    seconds = measured(lessons) if "--seconds" in sys.argv else known_seconds(text)
    TABLE.write_text(page(text, seconds), encoding="utf-8")


if __name__ == "__main__":
    main()
