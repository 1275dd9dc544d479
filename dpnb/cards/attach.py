"""The attach card: all that everybody may know about a dataset, and one honest sentence on what protects it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpnb.cards import budget as budgets
from dpnb.cards.card import Card, Record, frame, heading, scrolled
from dpnb.cards.markup import Markup, clean, code, el
from dpnb.estimate.table import aligned
from dpnb.planner.schema_words import dummy_rows, mode_badge, mode_sentence, unit_sentence
from dpnb.trusted.schema import Column, Schema

_COLUMNS = 40
_DUMMIES = 5
_WIDEST = 8


def attach_card(
    schema: Schema, budget: budgets.State | budgets.View | None = None, notes: Sequence[str] = ()
) -> Card:
    """Return the card of a dataset.

    Parameters
    ----------
    schema : Schema
        The public description.
    budget : BudgetView or BudgetState, optional
        What is spent and left; None leaves the bar out.
    notes : sequence of str
        What its card must say beside the mode, for example that this kernel has already held the rows.
    """
    now = None if budget is None else budgets.state_of(budget)
    return Card(
        _html(schema, now, notes),
        _text(schema, now, notes),
        _record(schema, now, notes),
        "dataset",
    )


def schema_card(schema: Schema) -> Card:
    """Return the card of a schema alone, without a budget to read."""
    return attach_card(schema)


def missing_rule(column: Column) -> str:
    """Say what happens to a missing value."""
    return "left out" if column.drops else f"counted as {_value(column.missing)}"


def _kind(column: Column) -> str:
    """Type and bounds, in words."""
    words = column.describe()
    return words if column.type != "category" else f"category {words}"


def _value(value: object) -> str:
    if isinstance(value, Fraction | float):
        return f"{float(value):,.6g}"
    return (
        f"{value:,}"
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10_000
        else clean(value)
    )


def sources(schema: Schema) -> list[tuple[str, str]]:
    """Return where the data are from, how to cite them and under which licence, as far as it is declared."""
    found = (("Source", schema.source_note), ("Cite", schema.citation), ("Licence", schema.licence))
    return [(name, text) for name, text in found if text]


def _budget_line(now: budgets.State) -> str:
    own = budgets.own_cap(now)
    return f"spent {now.spent} · {budgets.words(now.left, now.cap, now.whose)}" + (f" · {own}" if own else "")


def _html(schema: Schema, now: budgets.State | None, notes: Sequence[str]) -> Markup:
    shown = schema.columns[:_COLUMNS]
    title = schema.title or schema.name
    return frame(
        heading(el("div", el("h3", title), code(schema.name)), mode_badge(schema.mode), "badge"),
        el("p", mode_sentence(schema.mode), class_="soft"),
        *(el("p", note, class_="flag") for note in notes),
        el("p", schema.description) if schema.description else None,
        el("p", el("strong", "Privacy unit: "), unit_sentence(schema.unit), "."),
        scrolled(_columns(shown)),
        _more(len(schema.columns) - len(shown), "columns"),
        el("p", el("strong", "Made-up rows"), " that fit these declarations and say nothing about the data:"),
        scrolled(_dummies(schema)),
        None
        if now is None
        else el(
            "div",
            budgets.bar(now.left, now.cap),
            el("p", el("strong", "Budget: "), _budget_line(now), class_="soft"),
            class_="foot",
        ),
        *(el("p", f"{name}: {text}", class_="soft") for name, text in sources(schema)),
    )


def _more(count: int, what: str) -> Markup | None:
    return el("p", f"… and {count:,} more {what}", class_="soft") if count > 0 else None


def _columns(columns: Sequence[Column]) -> Markup:
    head = ("column", "meaning", "type and bounds", "missing")
    rows = [
        el(
            "tr",
            el("th", column.name, scope="row", class_="strong"),
            el("td", column.label if column.label != column.name else "–"),
            el("td", _kind(column)),
            el("td", missing_rule(column)),
        )
        for column in columns
    ]
    return el(
        "table",
        el("thead", el("tr", *(el("th", name, scope="col") for name in head))),
        el("tbody", *rows),
        class_="cols",
    )


def dummy_table(schema: Schema) -> list[list[str]]:
    """Return the names of the first columns and five made-up rows under them, as text."""
    names = schema.names[:_WIDEST]
    return [list(names), *([_value(row[name]) for name in names] for row in dummy_rows(schema, _DUMMIES))]


def _dummies(schema: Schema) -> Markup:
    names, *made = dummy_table(schema)
    numeric = {column.name: column.numeric for column in schema.columns}
    heads = [el("th", name, scope="col", class_="num" if numeric[name] else None) for name in names]
    rows = [
        el(
            "tr",
            *(
                el("td", text, class_="num" if numeric[name] else None)
                for name, text in zip(names, row, strict=True)
            ),
        )
        for row in made
    ]
    return el("table", el("thead", el("tr", *heads)), el("tbody", *rows))


def _text(schema: Schema, now: budgets.State | None, notes: Sequence[str]) -> str:
    columns = [
        [column.name, _kind(column), f"missing {missing_rule(column)}", clean(column.label)]
        for column in schema.columns[:_COLUMNS]
    ]
    lines = [
        f"{clean(schema.title or schema.name)}  ({schema.name})",
        f"{mode_badge(schema.mode)}: {mode_sentence(schema.mode)}",
        *map(clean, notes),
        *([clean(schema.description)] if schema.description else []),
        f"privacy unit: {unit_sentence(schema.unit)}",
        "column · type and bounds · missing · meaning",
        *(f"  {row}" for row in aligned(columns, left=True)),
        *([f"  … and {len(schema.columns) - _COLUMNS:,} more"] if len(schema.columns) > _COLUMNS else []),
        "made-up rows that fit these declarations",
        *(f"  {row}" for row in aligned(dummy_table(schema), left=True)),
    ]
    if now is not None:
        lines.append(f"budget {budgets.text_bar(now.left, now.cap)} {_budget_line(now)}")
    return "\n".join(lines + [f"{name.lower()}: {clean(text)}" for name, text in sources(schema)])


def _record(schema: Schema, now: budgets.State | None, notes: Sequence[str]) -> Record:
    record: Record = {
        "format": 1,
        "schema": schema.to_json(),
        "version": schema.version,
        "badge": mode_badge(schema.mode),
        "unit_sentence": unit_sentence(schema.unit),
        "notes": [clean(note) for note in notes],
        "budget": None,
    }
    if now is not None:
        losses = {name: getattr(now, name).to_json() for name in ("cap", "spent", "left", "mine")}
        record["budget"] = {**losses, "whose": now.whose}
    return record
