"""Keys of GROUP BY: their expressions, and the public labels of their groups."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpnb.client.sql.aggregates import has_aggregate
from dpnb.client.sql.expressions import branches, chosen, constants, own, whole
from dpnb.client.sql.names import TRUE, Rows, Value, found
from dpnb.client.sql.reader import each, fail, pointing
from dpnb.planner.compile import cells
from dpnb.planner.expression import Bin, Const, Expr
from dpnb.trusted.schema.calendar import place_of, start_of

if TYPE_CHECKING:
    from dpnb.client.sql.reader import Node

_PERIODS = {"WEEK": ("week", 1), "MONTH": ("month", 1), "QUARTER": ("month", 3), "YEAR": ("month", 12)}


@dataclass(frozen=True, slots=True)
class Key:
    """A key: how it is written, its expression, its labels, and where it is not NULL."""

    text: str
    expr: Expr
    labels: tuple[Any, ...]
    known: Expr = TRUE


def keys_of(rows: Rows, select: Node) -> list[Key]:
    """Return the keys of a SELECT."""
    group = select.args["group"]
    named = list(each(group, "expressions"))
    if group.args.get("all"):
        shown = [one.unalias() for one in select.expressions]
        named = [
            one
            for one in shown
            if not has_aggregate(one) and any(part.key == "column" for part in one.walk())
        ]
    return [_key(rows, _meant(rows, select, one)) for one in named]


def at_place(select: Node, node: Node) -> Node | None:
    """Return the column of a SELECT that a number stands for under GROUP BY and ORDER BY."""
    if node.key != "literal" or node.is_string:
        return None
    place = int(node.name) if node.name.isdigit() else 0
    if not 1 <= place <= len(select.expressions):
        fail(node, "place", size=str(len(select.expressions)))
    found_: Node = select.expressions[place - 1].unalias()
    return found_


def _meant(rows: Rows, select: Node, node: Node) -> Node:
    """Return the expression that a number or an alias stands for; a column comes before an alias."""
    placed = at_place(select, node)
    if placed is not None:
        return placed
    taken = node.key != "column" or node.text("table") or found(node.name, rows.every) is not None
    return node if taken else found(node.name, rows.aliases) or node


def _key(rows: Rows, node: Node) -> Key:
    with pointing(node):
        if has_aggregate(node):
            fail(node, "key of figure")
        if node.key == "timestamptrunc":
            return Key(same(node), *_periods(rows, node))
        cases = constants(rows, branches(rows, node)) if node.key in {"case", "if"} else None
        if cases is not None:
            labels = tuple(dict.fromkeys(one for _, one in cases if one is not None))
            coded = chosen(
                [(when, None if one is None else Value(Const(labels.index(one)))) for when, one in cases]
            )
            return Key(same(node), coded.expr, tuple(plain(one.value) for one in labels), coded.known)
        made = own(rows, node)
        labels = cells(rows.allowed(made.expr), rows.dataset.schema).axis.keys
        return Key(same(node), made.expr, tuple(map(plain, labels)), made.known)


def plain(label: Any) -> Any:
    """Return a label as Python writes it."""
    return float(label) if isinstance(label, Fraction) else label


def _periods(rows: Rows, node: Node) -> tuple[Expr, tuple[Any, ...]]:
    """Return the bins of date_trunc over a date's public range, and the date at which each begins."""
    word, date = node.text("unit").upper(), whole(rows, node.this)
    number = rows.number(date)
    step = number.calendar
    if step is not None and word.lower() == step:
        return date, tuple(cells(date, rows.dataset.schema).axis.keys)
    if step not in {"day", "hour", "month"} or word not in _PERIODS or (word, step) == ("WEEK", "month"):
        fail(node, "period")
    unit, width = _PERIODS[word]
    low, high = (place_of(start_of(int(end), step), unit) or 0 for end in (number.lowest, number.highest))
    starts = [
        start_of(place, unit) for place in range(low - low % width, high - high % width + width + 1, width)
    ]
    edges = tuple(one if len(one) > len("2021-03") else f"{one}-01" for one in starts)
    return Bin(date, edges), edges[:-1]


def same(node: Node) -> str:
    """Return an expression's text without its tables and in small letters, by which a key and a figure are found again."""
    copy = node.copy()
    for one in list(copy.walk()):
        if one.key == "column":
            one.set("table", None)
            one.this.set("this", one.name.casefold())
            one.this.set("quoted", False)
    while copy.key == "paren":
        copy = copy.this
    return str(copy.sql(dialect="duckdb"))
