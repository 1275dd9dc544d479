"""The card of an exhibit: claim, neighbours, the number that breaks it, the correction that holds, and its price."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dpnb.cards.card import Card, frame
from dpnb.cards.markup import Markup, el
from dpnb.exhibits.exhibit import Exhibit, Finding, Numbers, number

__all__ = ["exhibit_card", "overview_card"]


def exhibit_card(exhibit: Exhibit) -> Card:
    """Return the card of an exhibit.

    Parameters
    ----------
    exhibit : Exhibit
    """
    found = exhibit.numbers()
    html = frame(
        el(
            "div",
            el("h3", exhibit.title),
            el("span", "exhibit · not as claimed", class_="badge"),
            class_="head",
        ),
        el("p", exhibit.source, class_="soft"),
        _table(
            ("claim", exhibit.claim),
            ("neighbours", f"A: {exhibit.worlds[0]}"),
            ("", f"B: {exhibit.worlds[1]}"),
            ("what breaks it", f"{found.how}. {exhibit.why}"),
        ),
        el("p", el("strong", f"As published: {found.broken.text}.", class_="flag")),
        _bars(found.broken),
        _table(("correction", exhibit.correction), ("its price", exhibit.cost)),
        el("p", el("strong", f"Corrected: {found.mended.text}.")),
        _bars(found.mended),
        _table(*found.more) if found.more else None,
    )
    return Card(html, str(_picture(found)), exhibit.text, _record(exhibit, found), "exhibit")


def overview_card(exhibits: Sequence[Exhibit]) -> Card:
    """Return a table of exhibits: name, unit, promised, found, and the correction's own promise and finding.

    Parameters
    ----------
    exhibits : sequence of Exhibit
    """
    head = ("exhibit", "measured in", "promised", "found", "corrected: promised", "found")
    lines = [
        (
            exhibit.name,
            found.broken.unit,
            number(found.broken.promised),
            number(found.broken.found),
            number(found.mended.promised),
            number(found.mended.found) + _other_unit(found),
        )
        for exhibit in exhibits
        for found in (exhibit.numbers(),)
    ]
    body = [
        el(
            "tr",
            el("th", line[0], scope="row"),
            el("td", line[1]),
            *(el("td", x, class_="num") for x in line[2:]),
        )
        for line in lines
    ]
    titles = [el("th", name, scope="col", class_="num" if i > 1 else None) for i, name in enumerate(head)]
    html = frame(
        el("div", el("h3", "Exhibits"), class_="head"),
        el("div", el("table", el("thead", el("tr", *titles)), el("tbody", *body)), class_="scroll"),
    )
    widths = [max(len(row[i]) for row in (head, *lines)) for i in range(len(head))]
    text = "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *lines)
    )
    record = {"format": 1, "exhibits": [dict(zip(("name", "unit"), line[:2], strict=True)) for line in lines]}
    return Card(html, None, text, record, "exhibits")


def _other_unit(found: Numbers) -> str:
    """The correction's unit, where it is not that of the claim."""
    return "" if found.mended.unit == found.broken.unit else f" ({found.mended.unit})"


def _table(*rows: tuple[str, str]) -> Markup:
    return el(
        "table",
        *(el("tr", el("th", name, scope="row", class_="keep"), el("td", said)) for name, said in rows),
        class_="slim",
    )


def _shares(finding: Finding) -> tuple[float, float]:
    """The promised and the found length, of a full width of 1."""
    finite = [abs(v) for v in (finding.promised, finding.found) if math.isfinite(v)]
    top = max(finite, default=1.0) or 1.0
    if math.isinf(finding.found):
        return 0.12, 1.0
    return abs(finding.promised) / top, abs(finding.found) / top


def _bars(finding: Finding, top: int = 0, **more: Any) -> Markup:
    promised, found = _shares(finding)
    return el(
        "svg",
        el("title", "promised and found"),
        el("desc", finding.text),
        el("rect", x="0", y=str(top), width="100%", height="7", class_="room"),
        el("rect", x="0", y=str(top), width=f"{100 * promised:.2f}%", height="7", class_="used"),
        el("rect", x="0", y=str(top + 9), width="100%", height="7", class_="room"),
        el("rect", x="0", y=str(top + 9), width=f"{100 * found:.2f}%", height="7", class_="pv"),
        height=str(top + 18),
        role="img",
        aria_label=finding.text,
        **more,
    )


def _picture(found: Numbers) -> Markup:
    style = Markup("<style>.room{fill:#e9eaee}.used{fill:#5b5e66}.pv{fill:#0a6480}</style>")
    return el(
        "svg",
        style,
        el("title", "as published, and corrected"),
        el("desc", f"{found.broken.text}; corrected: {found.mended.text}"),
        _bars(found.broken, width="480"),
        _bars(found.mended, 26, width="480"),
        xmlns="http://www.w3.org/2000/svg",
        width="480",
        height="46",
    )


def _record(exhibit: Exhibit, found: Numbers) -> dict[str, Any]:
    def said(finding: Finding) -> dict[str, Any]:
        return {
            "promised": finding.promised,
            "found": finding.found if math.isfinite(finding.found) else "inf",
            "unit": finding.unit,
            "sense": finding.sense,
            "kept": finding.kept,
        }

    return {
        "format": 1,
        "name": exhibit.name,
        "source": exhibit.source,
        "claim": exhibit.claim,
        "neighbours": list(exhibit.worlds),
        "exact": found.exact,
        "how": found.how,
        "published": said(found.broken),
        "corrected": said(found.mended),
        "more": [list(pair) for pair in found.more],
        "words": [number(found.broken.found), number(found.mended.found)],
    }
