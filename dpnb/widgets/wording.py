"""The still form of an interaction: a title, a picture, and the same numbers as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpnb.cards.card import Card, frame
from dpnb.cards.markup import Markup, clean, code, el
from dpnb.estimate.table import aligned
from dpnb.widgets import _base

#: What every still form says about its missing controls, where the front end is installed, and where it is not.
DRAG = "Open this notebook with a kernel and run the cell to drag it. Moving a control spends nothing."
ABSENT = (
    "The front end of dpnb is not installed here, so nothing can be dragged. Install a wheel of dpnb; or, with Node.js "
    "20.19 or newer, type pip install . in its source folder. Then restart the kernel. Moving a control spends nothing."
)


def drag() -> str:
    """Return how to have the controls of a still form: by a kernel, or first by the front end."""
    return DRAG if _base.built() else ABSENT


def still(
    kind: str,
    title: str,
    about: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    facts: dict[str, Any],
    *,
    picture: Markup | None,
    notes: Sequence[str] = (),
) -> Card:
    """Return a card with a picture and a table.

    Parameters
    ----------
    kind : str
        What the interaction is called.
    title, about : str
        Its heading, and what it is about.
    head, rows : sequences of str
        The table; first column left, the others right.
    facts : dict
        For the JSON form.
    picture : Markup or None
        An SVG document of the same numbers; None where there are none yet.
    notes : sequence of str
        Sentences below the table.
    """
    table = el(
        "table",
        el("thead", el("tr", *(el("th", name, scope="col", class_=_side(i)) for i, name in enumerate(head)))),
        el("tbody", *(_row(row) for row in rows)),
    )
    html = frame(
        el("div", el("h3", title), code(about), class_="head"),
        None if picture is None else picture,
        el("div", table, class_="scroll", tabindex="0", role="group", aria_label="table"),
        *(el("p", note, class_="soft") for note in (*notes, drag())),
    )
    cells = [list(map(clean, head)), *(list(map(clean, row)) for row in rows)]
    lines = [f"  {line}" for line in aligned(cells)]
    text = "\n".join([clean(title), clean(about), *lines, *map(clean, notes)])
    record = {"format": 1, "interaction": kind, "title": clean(title), "facts": facts}
    return Card(html, text, record, "interaction")


def _side(place: int) -> str | None:
    return "num" if place else None


def _row(row: Sequence[str]) -> Markup:
    first, *others = row
    first = first.replace("ε ", "ε\u00a0").replace("ρ ", "ρ\u00a0")  # a loss stays on one line
    return el("tr", el("th", first, scope="row"), *(el("td", cell, class_="num") for cell in others))


def when(at: str) -> str:
    """Return a time for people: ``2026-01-02 03:04 UTC``."""
    return f"{at[:16].replace('T', ' ')} UTC"
