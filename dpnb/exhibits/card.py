"""The card of an exhibit, its page without scripts: claim, neighbours, break, repair; and the table of all exhibits."""

from __future__ import annotations

from collections.abc import Sequence

from dpnb.cards.card import Card, frame, heading, scrolled
from dpnb.cards.markup import Markup, code, el
from dpnb.exhibits.drawing import drawing, themed
from dpnb.exhibits.exhibit import Exhibit, Finding, Numbers
from dpnb.exhibits.page import Record, record, shares
from dpnb.inference.digits import loss_figure


def exhibit_card(exhibit: Exhibit, note: str = "") -> Card:
    """Return the page of an exhibit as it stands still: claim, neighbours, break, repair, and the cell to type.

    Parameters
    ----------
    exhibit : Exhibit
    note : str
        A sentence below it.
    """
    found, told = exhibit.numbers(), record(exhibit)
    picture = drawing(told)
    how = "computed from the laws" if found.exact else "simulated, with a fixed seed"
    html = frame(
        heading(exhibit.title, "exhibit · not as claimed", "badge"),
        _heading("The claim"),
        el("p", exhibit.claim),
        el("p", exhibit.source, class_="soft"),
        _heading("Two neighbours"),
        _neighbours(told),
        None if exhibit.picture is None else themed(exhibit.picture()),
        _heading("The break"),
        el("p", el("strong", f"As published: {found.broken.text}.", class_="flag")),
        _bars(found.broken),
        el("p", f"{found.how} ({how}). {exhibit.why}"),
        _event(told["event"]),
        None if picture is None else themed(picture),
        None if told["lever"] is None else el("p", told["lever"]["says"], class_="soft"),
        _heading("The repair"),
        el("p", exhibit.correction),
        el("p", el("strong", f"Corrected: {found.corrected.text}.")),
        _bars(found.corrected),
        el("p", f"Its price: {exhibit.cost}", class_="soft"),
        el("p", "In dpnb type, after ", code('hiv = dpnb.open("hiv")'), ":"),
        el("pre", code(told["cell"], style="white-space:pre-wrap"), style="margin:.3rem 0"),
        _table(*found.more) if found.more else None,
        el("p", note, class_="soft") if note else None,
    )
    return Card(html, exhibit.text, told, "exhibit")


def _heading(text: str) -> Markup:
    return el("h4", text, style="margin-top:.7rem")


def _neighbours(told: Record) -> Markup:
    """Both datasets, one below the other; what differs is set in bold, between marks."""
    rows = told["rows"]
    if rows is None:
        return _table(*zip("AB", told["neighbours"], strict=True))
    lines = [
        el("tr", el("th", "AB"[side], scope="row"), *(el("td", _marked(row, side)) for row in rows["rows"]))
        for side in (0, 1)
    ]
    table = scrolled(el("table", el("tbody", *lines), class_="slim"))
    said = _table(*zip("AB", told["neighbours"], strict=True))
    more = " ".join(filter(None, [rows["columns"] and f"{rows['columns']}.", told["left_out"]]))
    return Markup(f"{said}{table}{el('p', more, class_='soft') if more else ''}")


def _marked(row: tuple[str, str, bool], side: int) -> Markup | str:
    text, differs = row[side] or "–", row[2]
    return el("strong", f"▸{text}◂") if differs else str(text)


def _event(event: tuple[str, int, int] | None) -> Markup | None:
    if event is None:
        return None
    said, first, second = event
    return el("p", f"In {first:,} of 1,000 answers under A, and in {second:,} of 1,000 under B, {said}.")


def overview_card(exhibits: Sequence[Exhibit], note: str = "") -> Card:
    """Return a table of exhibits: name, unit, claimed, actual, and the same of the correction.

    Parameters
    ----------
    exhibits : sequence of Exhibit
    note : str
        A sentence below it.
    """
    head = ("exhibit", "measured in", "claimed", "actual", "corrected: claimed", "actual")
    lines = [
        (
            exhibit.name,
            found.broken.unit,
            loss_figure(found.broken.claimed),
            loss_figure(found.broken.actual),
            loss_figure(found.corrected.claimed),
            loss_figure(found.corrected.actual) + _other_unit(found),
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
        heading("Exhibits"),
        scrolled(el("table", el("thead", el("tr", *titles)), el("tbody", *body))),
        el("p", note, class_="soft") if note else None,
    )
    widths = [max(len(row[i]) for row in (head, *lines)) for i in range(len(head))]
    text = "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *lines)
    )
    record = {"format": 1, "exhibits": [dict(zip(("name", "unit"), line[:2], strict=True)) for line in lines]}
    return Card(html, text, record, "exhibits")


def _other_unit(found: Numbers) -> str:
    """The correction's unit, where it is not that of the claim."""
    return "" if found.corrected.unit == found.broken.unit else f" ({found.corrected.unit})"


def _table(*rows: tuple[str, str]) -> Markup:
    return el(
        "table",
        *(el("tr", el("th", name, scope="row", class_="keep"), el("td", said)) for name, said in rows),
        class_="slim",
    )


def _bars(finding: Finding) -> Markup:
    claimed, actual = shares(finding)
    return el(
        "svg",
        el("title", "claimed and actual"),
        el("desc", finding.text),
        el("rect", x="0", y="0", width="100%", height="7", class_="room"),
        el("rect", x="0", y="0", width=f"{100 * claimed:.2f}%", height="7", class_="used"),
        el("rect", x="0", y="9", width="100%", height="7", class_="room"),
        el("rect", x="0", y="9", width=f"{100 * actual:.2f}%", height="7", class_="pv"),
        height="18",
        role="img",
        aria_label=finding.text,
    )
