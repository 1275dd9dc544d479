"""A table of two or more keys as a table: the last key across, the others down, both intervals under each value.

Cards write a contingency table and the shares read from it this way, as far as it fits; a larger one is a list of cells like any
other answer. Nothing is computed here: values, intervals and digits are those of the line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpnb.cards.card import scrolled
from dpnb.cards.facts import TRUTH, Entry, Line
from dpnb.cards.markup import Markup, el
from dpnb.estimate.table import aligned

_FEW = 4
"""So many cells are told with their intervals; more are a picture, and told on demand."""
_DARKEST = 45
_BRACKETS = {"privacy": ("[", "]"), "confidence": ("(", ")")}


def _rows(line: Line) -> list[tuple[str, Sequence[Entry]]]:
    """Return the name and the entries of each row."""
    width = len(line.columns)
    starts = range(0, len(line.entries), width)
    return [(line.entries[i].key.rpartition(" · ")[0], line.entries[i : i + width]) for i in starts]


def _kinds(line: Line) -> list[str]:
    return [kind for kind in _BRACKETS if any(getattr(entry, kind) for entry in line.entries)]


def _legend(line: Line) -> str:
    """Say which interval is which."""
    said = [f"{_BRACKETS[kind][0]}{kind} interval{_BRACKETS[kind][1]}" for kind in _kinds(line)]
    return ", ".join([*said, TRUTH] if line.truths else said)


def _interval(line: Line, entry: Entry, kind: str) -> str:
    left, right = _BRACKETS[kind]
    return f"{left}{line.span(getattr(entry, kind))}{right}"


def _corner(line: Line) -> str:
    down, _, across = line.axis.rpartition(" × ")
    return f"{down} \\ {across}"


def grid_html(line: Line) -> Markup:
    """Return a table of keys as HTML."""
    head = [
        el("th", _corner(line), scope="col"),
        *(el("th", key, scope="col", class_="num") for key in line.columns),
    ]
    body = [
        el("tr", el("th", name, scope="row"), *(_cell(line, entry) for entry in entries))
        for name, entries in _rows(line)
    ]
    whole = scrolled(el("table", el("thead", el("tr", *head)), el("tbody", *body), class_="rows slim"))
    legend = el("p", words, class_="soft") if (words := _legend(line)) else None
    if len(line.entries) <= _FEW:
        return el("div", whole, legend)
    heat = [
        el("tr", el("th", name, scope="row"), *(_shade(line, entry) for entry in entries))
        for name, entries in _rows(line)
    ]
    drawn = el("table", el("thead", el("tr", *head)), el("tbody", *heat), class_="rows slim heat")
    numbers = el("details", el("summary", "Intervals"), whole, legend, class_="numbers soft")
    return el("div", scrolled(drawn), numbers)


def _shade(line: Line, entry: Entry) -> Markup:
    """A cell as dark as its value is large; what noise moved below zero is not shaded, nor are values of both signs."""
    values = [one.value for one in line.entries if math.isfinite(one.value)]
    top = max(values, default=0.0)
    share = 0.0 if top <= 0 or min(values) < -top / 2 else max(entry.value, 0.0) / top
    look = f"background:color-mix(in srgb,var(--dp-accent) {round(_DARKEST * share)}%,transparent)"
    return el("td", line.answer(entry), class_=f"num {entry.strength}", style=look if share > 0 else None)


def _cell(line: Line, entry: Entry) -> Markup:
    said = [_interval(line, entry, kind) for kind in _kinds(line)]
    said += [f"truth {line.true(entry)}"] if line.truths else []
    under = [part for text in said for part in (el("br"), el("small", text))]
    return el("td", el("span", line.answer(entry), class_=entry.strength), *under, class_="num")


def grid_text(line: Line) -> list[str]:
    """Return a table of keys as lines of text."""
    table = [[_corner(line), *line.columns]]
    for name, entries in _rows(line):
        table.append([name[:24], *(line.answer(entry) for entry in entries)])
        table += [["", *(_interval(line, entry, kind) for entry in entries)] for kind in _kinds(line)]
        table += [["", *(f"truth {line.true(entry)}" for entry in entries)]] if line.truths else []
    rows = aligned(table)
    legend = _legend(line)
    return [*rows, legend] if legend else rows
