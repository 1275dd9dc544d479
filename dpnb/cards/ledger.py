"""The ledger: its rows as plain JSON values, as a table and as a card of who was charged what, when, and for which questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dpnb.cards.card import Card, Record, frame, heading
from dpnb.cards.markup import Markup, clean, el
from dpnb.estimate import Table
from dpnb.estimate.table import Tabular
from dpnb.trusted.privacy.loss import PrivacyLoss

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
        heading("Ledger", said, "paid free"),
        ledger_table(listed) if listed else el("p", "The ledger has no entry for you yet.", class_="soft"),
    )
    record = {"format": 1, "rows": [_record(row) for row in listed]}
    return Card(html, _text(listed), record, "ledger")


def ledger_table(rows: list[Row]) -> Markup:
    """Return ledger rows as an HTML table; the latest where there are many."""
    shown = rows[-_SHOWN:]
    head = [el("th", name, scope="col") for name in ("entry", "time (UTC)", "dataset", "for")]
    head += [el("th", name, scope="col", class_="num") for name in ("charged", "spent since")]
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


def _loss(loss: PrivacyLoss | None) -> str:
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
        return "The ledger has no entry for you yet."
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


def _record(row: Row) -> Record:
    plain = plain_row(row)
    return {name: plain.get(name) for name in _RECORDED} | {"measured": list(row.get("measured") or ())}


# ---------------------------------------------------------------- rows outside of a card


def plain_row(row: Row) -> Record:
    """Return a row as plain JSON values; losses exactly, as texts."""
    return {name: item.to_json() if isinstance(item, PrivacyLoss) else item for name, item in row.items()}


class LedgerRows(list[Record], Tabular):
    """Rows as plain JSON values, oldest first: a list that can also be written as a table."""

    def table(self, level: float = 0.95) -> Table:  # noqa: ARG002 -- a ledger has no intervals
        """Return what was asked and what it cost, a row for each entry."""
        return table_of(map(_exact_row, self))

    def _plain(self, level: float) -> list[Record]:  # noqa: ARG002
        return list(self)


def _exact_row(row: Row) -> Row:
    losses = {name: row[name] for name in ("loss", "spent_after") if row[name] is not None}
    return {**row, **{name: PrivacyLoss.from_json(loss) for name, loss in losses.items()}}


def table_of(rows: Iterable[Row]) -> Table:
    """Return rows as a table of texts: what was asked, and what it cost."""
    listed = [_texts(row) for row in rows]
    return Table(
        {
            name: [row[name] for row in listed]
            for name in ("entry", "time", "dataset", "for", "charged", "spent since")
        }
    )


def _texts(row: Row) -> Record:
    return {
        "entry": row["entry"],
        "time": str(row["time"]),
        "dataset": row["dataset"] or "",
        "for": "; ".join(row["texts"]) or row["note"] or row["kind"],
        "charged": "" if row["loss"] is None else str(row["loss"]),
        "spent since": "" if row["spent_after"] is None else str(row["spent_after"]),
    }
