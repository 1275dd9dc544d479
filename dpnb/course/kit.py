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

from dpnb.cards.markup import Markup, el, join
from dpnb.errors import OwnerError
from dpnb.trusted.canonical import Record

Notebook = Mapping[str, Any]
"""A notebook, or a cell of one, as it is on disk."""
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


def student_version(notebook: Notebook) -> Record:
    """Return a notebook without answers and hidden tests; what a student gets.

    Raises
    ------
    OwnerError
        When a mark is left open: nothing is written, so that no answer leaks.
    """
    cells = [_without_answers(cell) for cell in notebook["cells"]]
    return {**notebook, "cells": cells}


def _without_answers(cell: Notebook) -> Record:
    text = "".join(cell["source"])
    stub = CODE if cell["cell_type"] == "code" else TEXT
    kept = "\n".join(_kept(text.splitlines(), stub))
    found: Record = {**cell, "source": kept}
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


_SIGNS = {
    r"\varepsilon": "ε",
    r"\delta": "δ",
    r"\Delta": "Δ",
    r"\sigma": "σ",
    r"\rho": "ρ",
    r"\mu": "μ",
    r"\propto": "∝",
    r"\cdot": "·",
    r"\times": "×",
    r"\le": "≤",
    r"\ge": "≥",
    r"\approx": "≈",
    r"\sum": "Σ",
    r"\infty": "∞",
    r"\pm": "±",
    r"\in": "∈",
    r"\dots": "…",
    r"\top": "⊤",
}
_GROUP = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
_FRACTION = re.compile(rf"\\[td]?frac{_GROUP}{_GROUP}")
_STYLE = Markup(
    "<style>body{margin:0;background:#fff;color:#1d1f24;font:28px/1.45 Georgia,serif}"
    "section{display:none;box-sizing:border-box;min-height:100vh;padding:8vh 9vw}section.now{display:block}"
    "h1,h2{font:600 1.5em/1.25 system-ui,sans-serif;color:#0a6480;margin:0 0 1em}li{margin:.5em 0}"
    "nav{position:fixed;right:1.5em;bottom:1em;font:16px system-ui,sans-serif}button{font:inherit;padding:.3em .8em}"
    "code{font-size:.85em}.formula{text-align:center}@media print{section{display:block;page-break-after:always}nav{display:none}}</style>"
)
_SCRIPT = Markup(
    "<script>const all=[...document.querySelectorAll('section')];let at=0;"
    "function show(to){at=Math.max(0,Math.min(all.length-1,to));all.forEach((s,i)=>s.classList.toggle('now',i===at));"
    "document.getElementById('at').textContent=`${at+1} / ${all.length}`}"
    "document.getElementById('back').onclick=()=>show(at-1);document.getElementById('on').onclick=()=>show(at+1);"
    "addEventListener('keydown',e=>{if(['ArrowRight','PageDown',' '].includes(e.key)){show(at+1);e.preventDefault()}"
    "if(['ArrowLeft','PageUp'].includes(e.key)){show(at-1);e.preventDefault()}});show(0)</script>"
)


def slides(notebook: Notebook) -> str:
    """Return the slides of a lesson as a page.

    Parameters
    ----------
    notebook : mapping
        As its JSON.
    """
    texts = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    title = texts[0].splitlines()[0].removeprefix("# ")
    page = el(
        "html",
        el("head", el("meta", charset="utf-8"), el("title", title), _STYLE),
        el("body", *_sections(title, texts), _buttons(), _SCRIPT),
        lang="en",
    )
    return f"<!doctype html>\n{page}\n"


def _buttons() -> Markup:
    return el(
        "nav",
        el("button", "←", id="back", aria_label="back"),
        " ",
        el("span", id="at", aria_live="polite"),
        " ",
        el("button", "→", id="on", aria_label="on"),
    )


def _sections(title: str, texts: list[str]) -> Iterator[Markup]:
    question = re.search(r"\*\*Question\.\*\* (.+)", texts[0])
    yield el("section", el("h1", title), el("p", inline(question[1])) if question else None)
    for text in texts:
        for found in re.finditer(r"\*\*Predict\.\*\* (.+)", text):
            yield el("section", el("h2", "Predict"), el("p", inline(found[1])))
        for found in re.finditer(r"(?ms)^##+ (Exercise \d[^\n]*)\n(.*?)(?=^#|\Z)", text):
            yield el("section", el("h2", inline(found[1])), *_blocks(found[2]))
        if "## What people get wrong" in text:
            wrong = text.split("## What people get wrong")[1].split("\n## ")[0]
            items = re.findall(r"^- (.+)", wrong, re.MULTILINE)
            yield el(
                "section",
                el("h2", "What people get wrong"),
                el("ul", *(el("li", inline(one)) for one in items)),
            )


def _blocks(text: str) -> Iterator[Markup]:
    """The paragraphs, numbered lists and displayed formulas of some Markdown."""
    for block in re.split(r"\n\s*\n", text.strip()):
        if block.startswith("$$"):
            yield el("p", inline(f"${block.strip('$ .')}$"), class_="formula")
        elif re.match(r"1\. ", block):
            yield el("ol", *(el("li", inline(one)) for one in re.findall(r"(?m)^\d+\. (.+)$", block)))
        else:
            yield el("p", inline(block))


def inline(text: str) -> Markup:
    """Return a line of Markdown as HTML: emphasis, code, links by their words, short formulas in plain signs.

    Examples
    --------
    >>> inline("*twice* $e^{0.5}$ at `n`")
    '<em>twice</em> <i>e<sup>0.5</sup></i> at <code>n</code>'
    """
    return join(_pieces(text))


def _pieces(text: str) -> Iterator[object]:
    pattern = r"\$([^$]+)\$|`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\([^)]*\)"
    last = 0
    for found in re.finditer(pattern, text):
        yield text[last : found.start()]
        formula, code, strong, weak, link = found.groups()
        if formula is not None:
            yield el("i", *_formula(formula))
        elif code is not None:
            yield el("code", code)
        else:
            yield el("strong" if strong else "em", inline(strong or weak)) if link is None else link
        last = found.end()
    yield text[last:]


def _formula(text: str) -> Iterator[object]:
    """A short formula in Unicode; powers and indices are raised and lowered."""
    for command in (r"\Pr", r"\ln", r"\log", r"\text", r"\operatorname", r"\mathrm"):
        text = text.replace(command, command[1:] if command in {r"\Pr", r"\ln", r"\log"} else "")
    text = _FRACTION.sub(lambda found: "/".join(map(_grouped, found.groups())), text)
    for command in sorted(_SIGNS, key=len, reverse=True):
        text = re.sub(re.escape(command) + r"(?![a-zA-Z])", _SIGNS[command], text)
    text = re.sub(r"\\sqrt\{([^{}]{2,})\}", r"√(\1)", text).replace("\\sqrt", "√")
    text = re.sub(r"\\[,;! ]", " ", text).replace("{,}", ",").replace("\\{", "{").replace("\\}", "}")
    last = 0
    for found in re.finditer(r"([\^_])(?:\{([^{}]*)\}|(\S))", text):
        yield _bare(text[last : found.start()])
        yield el("sup" if found[1] == "^" else "sub", _bare(found[2] or found[3] or ""))
        last = found.end()
    yield _bare(text[last:])


def _grouped(text: str) -> str:
    """A part of a fraction, in parentheses where it is more than one sign."""
    return text if re.fullmatch(r"\\?\w+", text) else f"({text})"


def _bare(text: str) -> str:
    return re.sub(r"\\([a-zA-Z]+)", r"\1", text).replace("\\", "").replace("{", "").replace("}", "")
