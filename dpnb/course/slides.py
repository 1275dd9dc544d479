"""Slides of a lesson, made from its notebook: one HTML file that needs no network and no program.

A title with the question of the lesson, each prediction, each exercise and decision as a prompt, and what people get wrong. Answers stay in
the notebook. Arrow keys, space and the page's own buttons turn the slides; printing puts each on a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dpnb.cards.markup import Markup, el, join

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


def slides(notebook: Mapping[str, Any]) -> str:
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
