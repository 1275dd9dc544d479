"""The kit of a course: student and teacher versions of every lesson, made from one source.

The source is a notebook with nbgrader's marks: ``### BEGIN SOLUTION`` to ``### END SOLUTION`` is taken out of a student's version,
and so is ``### BEGIN HIDDEN TESTS`` to ``### END HIDDEN TESTS``; where something is to be written, a line says so. nbgrader makes the same
from the teacher's version, and keeps its own record of what was hidden.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dpnb.course.slides import slides
from dpnb.errors import OwnerError

_ROOT = Path(__file__).parents[2]
_MARKED = re.compile(r"### (BEGIN|END) (SOLUTION|HIDDEN TESTS)\b")
CODE = 'raise NotImplementedError("Write your answer here, and delete this line.")'
"""What stands in a student's cell in place of an answer; the same words in nbgrader's configuration."""
TEXT = "*Write your answer here.*"
CHECKLIST = "readiness.md"
"""The page that students keep."""
CONFIG = """# Made by dpnb. In this folder: nbgrader generate_assignment NAME, then release, collect and autograde.
c = get_config()
c.CourseDirectory.course_id = "dpnb"
c.ClearSolutions.code_stub = {{"python": {code!r}}}
c.ClearSolutions.text_stub = {text!r}
c.ExecutePreprocessor.timeout = 120
"""


def folder_of(part: str) -> Path:
    """Return where ``notebooks`` or ``guide`` lies: beside this module when installed, in the checkout else.

    Raises
    ------
    OwnerError
    """
    checkout = {"notebooks": _ROOT / "notebooks" / "course", "guide": _ROOT / "docs" / "course"}
    for place in (Path(__file__).parent / part, checkout[part]):
        if place.is_dir():
            return place
    raise OwnerError(
        "The course is not part of this installation: install dpnb from its wheel or its source."
    )


def lessons() -> tuple[Path, ...]:
    """Return the lessons and the homework, in order."""
    place = folder_of("notebooks")
    return tuple(sorted(place.glob("*.ipynb")) + sorted(place.glob("homework/*.ipynb")))


def student_version(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """Return a notebook without answers and hidden tests; what a student gets.

    Raises
    ------
    OwnerError
        When a mark is left open: nothing is written, so that no answer leaks.
    """
    cells = [_without_answers(cell) for cell in notebook["cells"]]
    return {**notebook, "cells": cells}


def _without_answers(cell: Mapping[str, Any]) -> dict[str, Any]:
    text = "".join(cell["source"])
    stub = CODE if cell["cell_type"] == "code" else TEXT
    kept = "\n".join(_kept(text.splitlines(), stub))
    found: dict[str, Any] = {**cell, "source": kept}
    if cell["cell_type"] == "code":
        found |= {"outputs": [], "execution_count": None}
    return found


def _kept(lines: list[str], stub: str) -> Iterator[str]:
    inside: str | None = None
    for line in lines:
        mark = _MARKED.search(line)
        if mark is None:
            if inside is None:
                yield line
            continue
        act, what = mark.groups()
        if (act == "BEGIN") == (inside is not None) or (act == "END" and inside != what):
            raise OwnerError(f"A mark is out of place: {line.strip()}. Each BEGIN needs its END.")
        if act == "BEGIN" and what == "SOLUTION":
            yield re.match(r"\s*", line)[0] + stub  # type: ignore[index]
        inside = what if act == "BEGIN" else None
    if inside is not None:
        raise OwnerError(f"### BEGIN {inside} has no END: the answer would leak.")


def copy(target: Path, *, teacher: bool = False) -> tuple[Path, ...]:
    """Write the course into a new folder, and return the files.

    Parameters
    ----------
    target : Path
        A folder that does not exist, or is empty.
    teacher : bool
        With answers, in nbgrader's layout (``source/NAME/NAME.ipynb``, ``nbgrader_config.py``), with the guide and slides.

    Raises
    ------
    OwnerError
        When the folder holds something already: nothing is overwritten.
    """
    try:
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise OwnerError(f"{target} holds files already. Name a new folder: dpnb course copy my-course")
        return tuple(_written(target, teacher))
    except OSError as fault:
        raise OwnerError(f"{target} cannot be written: {fault.strerror}") from None


def _written(target: Path, teacher: bool) -> Iterator[Path]:  # noqa: FBT001 - as it was asked
    for source in lessons():
        text = source.read_text(encoding="utf-8")
        place = target / "source" / source.stem / source.name if teacher else target / source.name
        if not teacher:
            text = json.dumps(student_version(json.loads(text)), indent=1, ensure_ascii=False) + "\n"
        yield _file(place, text)
        if teacher and re.match(r"\d\d-", source.stem):
            yield _file(target / "slides" / f"{source.stem}.html", slides(json.loads(text)))
    guide = folder_of("guide")
    if not teacher:
        yield _file(target / CHECKLIST, (guide / CHECKLIST).read_text(encoding="utf-8"))
        return
    yield _file(target / "nbgrader_config.py", CONFIG.format(code=CODE, text=TEXT))
    for page in sorted(path for path in guide.rglob("*") if path.is_file()):
        yield _file(target / "guide" / page.relative_to(guide), page.read_text(encoding="utf-8"))


def _file(place: Path, text: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return place
