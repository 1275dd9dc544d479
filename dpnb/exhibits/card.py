"""The card of an exhibit: claim, neighbours, the number that breaks it, the correction that holds, and its price."""

from __future__ import annotations

import math
from typing import Any

from dpnb.cards.card import Card, frame
from dpnb.cards.markup import Markup, el
from dpnb.exhibits.exhibit import Exhibit, Finding, Numbers, number

__all__ = ["exhibit_card"]


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
            el("span", "exhibit · not private as claimed", class_="badge"),
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
