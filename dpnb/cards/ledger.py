"""The ledger as a card: who was charged what, when, and for which questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dpnb.cards.card import Card, frame
from dpnb.cards.ledger_rows import plain_row
from dpnb.cards.markup import Markup, clean, el

_SHOWN = 50
_QUESTIONS = 6

_WORDS = {
    "adopt": "completed after a crash",
    "attach": "opened",
    "charge": "released",
    "close": "closed for ever",
    "correct": "terms corrected",
    "freeze": "frozen",
    "grant": "cap of the owner",
    "loosen": "terms loosened",
    "publish": "published",
    "tighten": "terms tightened",
    "unfreeze": "opened again",
}

Row = Mapping[str, Any]


def ledger_card(rows: Iterable[Row]) -> Card:
    """Return the card of ledger rows, oldest first.

    Parameters
    ----------
    rows : iterable of mappings
        With entry, time, kind, dataset, principal, loss, spent_after, texts (the asker's words), answered and note; measured where
        it is known, in the curator's words.
    """
    listed = list(rows)
    charges = sum(1 for row in listed if row["loss"] is not None)
    said = "1 charge" if charges == 1 else f"{charges:,} charges"
    html = frame(
        el("div", el("h3", "Ledger"), el("span", said, class_="paid free"), class_="head"),
        ledger_table(listed) if listed else el("p", "The ledger has no row for you yet.", class_="soft"),
    )
    record = {"format": 1, "rows": [_record(row) for row in listed]}
    return Card(html, _text(listed), record, "ledger")


def ledger_table(rows: list[Row]) -> Markup:
    """Return ledger rows as an HTML table; the latest where there are many."""
    shown = rows[-_SHOWN:]
    head = [
        el("th", name, scope="col", class_=style)
        for name, style in (
            ("entry", None),
            ("time (UTC)", None),
            ("dataset", None),
            ("for", None),
            ("charged", "num"),
            ("spent since", "num"),
        )
    ]
    earlier = len(rows) - len(shown)
    return el(
        "div",
        el("p", f"… {earlier:,} earlier rows", class_="soft") if earlier else None,
        el("table", el("thead", el("tr", *head)), el("tbody", *(_row(row) for row in shown))),
        class_="scroll",
        tabindex="0",
        role="group",
        aria_label="table",
    )


def _row(row: Row) -> Markup:
    return el(
        "tr",
        el("th", str(row["entry"]), scope="row"),
        el("td", _time(row), class_="keep"),
        el("td", row["dataset"] or "–"),
        el("td", _what(row), _measured(row)),
        el("td", _loss(row["loss"]), class_="num strong"),
        el("td", _loss(row["spent_after"]), class_="num"),
    )


def _time(row: Row) -> str:
    return clean(row["time"])[:16].replace("T", " ")


def _loss(loss: Any) -> str:
    return "–" if loss is None else str(loss)


def _what(row: Row) -> str:
    texts = [clean(text) for text in row["texts"]]
    if not texts:
        word = _WORDS.get(row["kind"], clean(row["kind"]))
        return f"{word}: {clean(row['note'])}" if row["note"] else word
    more = len(texts) - _QUESTIONS
    said = "; ".join(texts[:_QUESTIONS]) + (f"; … and {more} more" if more > 0 else "")
    return said if row["answered"] or row["kind"] != "charge" else f"{said} (not answered yet)"


def _measured(row: Row) -> Markup | None:
    """Return what the curator says was measured; the line above it is what the asker calls it."""
    told = row.get("measured") or ()
    listed = [el("li", clean(text)) for text in told]
    return el("details", el("summary", "what the curator measured"), el("ul", *listed)) if listed else None


def _text(rows: list[Row]) -> str:
    if not rows:
        return "The ledger has no row for you yet."
    shown = rows[-_SHOWN:]
    lines = [
        f"{row['entry']:>5}  {_time(row)}  {clean(row['dataset'] or ''):<16} {_loss(row['loss']):>8}  {_what(row)}"
        for row in shown
    ]
    return "\n".join(
        ([f"… {len(rows) - len(shown):,} earlier rows"] if len(rows) > len(shown) else []) + lines
    )


_RECORDED = (
    "entry",
    "time",
    "kind",
    "dataset",
    "principal",
    "answered",
    "note",
    "texts",
    "measured",
    "loss",
    "spent_after",
)


def _record(row: Row) -> dict[str, Any]:
    plain = plain_row(row)
    return {name: plain.get(name) for name in _RECORDED} | {"measured": list(plain.get("measured") or ())}
