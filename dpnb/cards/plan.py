"""The plan card: an itemised price list, what accuracy it buys, and what would be left. It says that nothing was spent."""

from __future__ import annotations

from typing import Any

from dpnb.cards import budget
from dpnb.cards.card import Card, frame
from dpnb.cards.markup import Markup, clean, el

__all__ = ["plan_card"]


def plan_card(view: Any) -> Card:
    """Return the card of a batch that was priced and not released.

    Parameters
    ----------
    view : PlanView
        Priced questions, which of them are stored, the cost now, and what is left.
    """
    schema = view.dataset.schema
    rows = _rows(view)
    left = _left(view)
    html = frame(
        el(
            "div",
            el("h3", f"Plan for {schema.name}"),
            el("span", "Nothing was spent.", class_="paid free"),
            class_="head",
        ),
        el("div", _table(rows), class_="scroll"),
        el(
            "div",
            budget.bar(view.left, view.cap, view.cost if view.fits else None, what="this plan"),
            el(
                "p",
                el("strong", f"This plan costs {view.cost}. "),
                left,
                class_="flag" if not view.fits else None,
            ),
            *(el("p", note, class_="soft") for note in _notes(view)),
            class_="foot",
        ),
    )
    text = "\n".join(
        [
            f"plan for {schema.name}: nothing was spent",
            *_text(rows),
            f"costs {view.cost}. {left}",
            *_notes(view),
        ]
    )
    svg = budget.document(view.left, view.cap, view.cost if view.fits else None)
    return Card(html, svg, text, _record(view, rows), "plan")


def _rows(view: Any) -> list[dict[str, Any]]:
    rows = []
    for place, item in enumerate(view.items):
        stored = bool(view.stored[place])
        symbol = view.cost.measure.symbol
        cost = "public · free" if item.public else f"stored · {symbol} 0" if stored else str(item.loss)
        rows.append(
            {
                "name": clean(view.label(place)),
                "question": clean(item.text),
                "expected": clean(item.preview.words),
                "half_width": item.preview.half_width,
                "cost": cost,
                "stored": stored,
                "public": item.public,
                "loss": item.loss.to_json(),
                "parts": [
                    {
                        "name": clean(row.name),
                        "mechanism": row.mechanism,
                        "sensitivity": row.sensitivity,
                        "scale": row.scale,
                        "cost": row.cost,
                    }
                    for row in item.rows
                ],
            }
        )
    return rows


def _left(view: Any) -> str:
    if not view.fits:
        return f"Only {view.left.brief('down')} is left: it would be refused. Ask less, or drop a question."
    return f"{(view.left - view.cost).brief('down')} of {view.cap.brief()} would be left."


def _notes(view: Any) -> list[str]:
    notes = []
    if view.dropped:
        notes.append(f"{view.dropped} built, not kept: free")
    derived = [clean(name) for name, estimate in view.named if estimate.measurement is None]
    if derived:
        notes.append(f"Derived, free: {', '.join(derived)}")
    if any("/ n" in item.preview.words for item in view.items):
        notes.append(
            "n, the number of people behind an answer, is private here: assume_n=1000 plans with a size."
        )
    return notes


def _record(view: Any, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "format": 1,
        "dataset": view.dataset.schema.name,
        "cost": view.cost.to_json(),
        "left": view.left.to_json(),
        "cap": view.cap.to_json(),
        "fits": view.fits,
        "dropped": view.dropped,
        "items": rows,
    }


def _table(rows: list[dict[str, Any]]) -> Markup:
    head = el(
        "thead",
        el(
            "tr",
            el("th", "question", scope="col"),
            el("th", "expected accuracy (95 %)", scope="col"),
            el("th", "cost", scope="col", class_="num"),
        ),
    )
    return el("table", head, *(_item(row) for row in rows), class_="plan")


def _item(row: dict[str, Any]) -> Markup:
    same = row["name"] == row["question"]
    title = el("span", row["name"], class_="strong")
    question = None if same else el("code", row["question"])
    free = row["stored"] or row["public"]
    first = el(
        "tr",
        el("th", title, None if same else Markup("<br>"), question, scope="row"),
        el("td", row["expected"]),
        el("td", row["cost"], class_="num paid free" if free else "num paid"),
    )
    parts = [
        el(
            "tr",
            el("td", part["name"]),
            el("td", f"{part['mechanism']}, {part['scale']}; {part['sensitivity']}"),
            el("td", part["cost"], class_="num"),
            class_="sub",
        )
        for part in row["parts"]
    ]
    return el("tbody", first, *parts, class_="item")


def _text(rows: list[dict[str, Any]]) -> list[str]:
    lines = []
    for row in rows:
        title = row["name"] if row["name"] == row["question"] else f"{row['name']}  {row['question']}"
        lines.append(f"  {title}  [{row['cost']}]  {row['expected']}")
        lines += [
            f"      {part['name']}: {part['mechanism']}, {part['scale']}; {part['sensitivity']}; {part['cost']}"
            for part in row["parts"]
        ]
    return lines
