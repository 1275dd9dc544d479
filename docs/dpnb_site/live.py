"""A live page of each interaction in docs/gallery.md, made by the code of its section: one file that drags without a kernel and asks the network for nothing, as ``%dp export`` writes it."""

from __future__ import annotations

import ast
import contextlib
import re
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpnb_site.links import ROOT

if TYPE_CHECKING:
    from dpnb.client.handles import Dataset
    from dpnb.widgets._base import Interaction


SECTION = re.compile(r"^## (\w+)\n\n(.*?)\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOTEBOOK = ROOT / "notebooks" / "01-gallery.ipynb"


def sections() -> dict[str, tuple[str, str]]:
    """Return the words and the code of each section of docs/gallery.md, by the interaction that it shows."""
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    return {name: (words, code) for name, words, code in SECTION.findall(page)}


def examples() -> dict[str, str]:
    """Return the code of each section."""
    return {name: code for name, (_, code) in sections().items()}


def without_screen(notebook: dict[str, Any]) -> list[str]:
    """Return the interactions that no cell of the gallery's notebook shows, by the name in dpnb.widgets or by the line."""
    from dpnb.widgets.registry import INTERACTIONS

    code = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    return [
        entry.name
        for entry in INTERACTIONS
        if not re.search(rf"widgets\.{entry.public}\(|^%dp {entry.name}\b", code, re.MULTILINE)
    ]


def with_screens(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook with a screen for each section of the page that it lacks, before its last one."""
    *cells, words, code = notebook["cells"]
    for name in without_screen(notebook):
        said, example = sections()[name]
        told = f"## {name.capitalize()}\n\n{said.replace(chr(10), ' ')}"
        cells.append({**words, "id": f"gallery-{name}", "source": told.splitlines(keepends=True)})
        lines = example.rstrip().splitlines(keepends=True)
        cells.append({**code, "id": f"gallery-{name}-code", "source": lines})
    return {**notebook, "cells": [*cells, words, code]}


def _released(hiv: Dataset) -> Any:
    import dpnb

    return dpnb.release({"collected": hiv.got.mean()}, epsilon=0.25)["collected"]


def _questions(hiv: Dataset) -> Any:
    return {
        "collected": hiv.got.mean(),
        "effect": hiv.got.difference(by="any"),
        "age": hiv.age.quantile([0.5]),
    }


def _answers(_: Dataset) -> Any:
    """Thirty answers of simulated people, whose truth may be drawn."""
    import dpnb

    lesson = dpnb.open("incentive33", seed=7, quiet=True)
    return [dpnb.release([lesson.got.mean()], epsilon=0.1, fresh=True)[0] for _ in range(30)]


_NAMES: dict[str, Callable[[Dataset], Any]] = {
    "collected": _released,
    "questions": _questions,
    "answers": _answers,
}
"""What the page's first cell makes, each made here when a section needs it, from public data with a seed."""


def made(code: str, hiv: Dataset) -> Interaction:
    """Run a section's code in a folder of its own, and return what its last line shows."""
    import dpnb
    from dpnb import widgets

    tree = ast.parse(code)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names: dict[str, Any] = {name: make(hiv) for name, make in _NAMES.items() if name in used}
    names |= {"dpnb": dpnb, "widgets": widgets, "hiv": hiv}
    *before, last = tree.body
    assert isinstance(last, ast.Expr)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        exec(compile(ast.Module(before, []), "docs/gallery.md", "exec"), names)  # noqa: S102 - our own page
        shown: Interaction = eval(compile(ast.Expression(last.value), "docs/gallery.md", "eval"), names)  # noqa: S307
    return shown


def write(folder: Path, names: Collection[str] = ()) -> set[str]:
    """Write the pages, or some of them, and return their names; none where the front end is not built: the site then shows pictures."""
    import dpnb
    from dpnb import widgets
    from dpnb.errors import DpnbError

    folder.mkdir(parents=True)
    if not widgets.built():
        print(
            "-- The front end is not built: the site shows pictures instead of live interactions.", flush=True
        )
        return set()
    hiv = dpnb.open("hiv", seed=7, quiet=True)  # public data: the same noise in every build
    chosen = {name: code for name, code in examples().items() if not names or name in names}
    dpnb.release({"distance": hiv.distvct.mean()}, epsilon=0.75)
    for name, code in chosen.items():
        try:
            text = widgets.page([made(code, hiv)], name)
        except DpnbError as fault:
            raise SystemExit(f"-- The live page of {name} was not made: {fault}") from fault
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    dpnb.session().close()
    return set(chosen)
