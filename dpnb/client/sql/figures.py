"""Expressions of released figures and keys: estimate arithmetic in SELECT, and numbers in HAVING, ORDER BY and an outer WHERE. All free."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnb.client.sql.aggregates import has_aggregate
from dpnb.client.sql.expressions import TRUTH, matching
from dpnb.client.sql.reader import MAKERS, each, fail, pointing, reads, unread
from dpnb.client.sql.refusals import NEVER
from dpnb.estimate import Estimate

if TYPE_CHECKING:
    from dpnb.client.sql.reader import Node

Leaf = Callable[["Node"], Any]
_NUMBERS: dict[str, tuple[str, Callable[..., Any]]] = {
    "add": ("this expression", operator.add),
    "sub": ("this expression", operator.sub),
    "mul": ("this expression", operator.mul),
    "div": ("this expression", operator.truediv),
    "pow": ("this expression", operator.pow),
    "neg": ("this", operator.neg),
    "abs": ("this", np.abs),
    "sqrt": ("this", np.sqrt),
    "ln": ("this", np.log),
    "exp": ("this", np.exp),
    "round": ("this decimals", lambda one, digits=0: np.round(one, int(digits))),
    "least": ("this expressions", lambda *given: reduce(np.minimum, given)),
    "greatest": ("this expressions", lambda *given: reduce(np.maximum, given)),
}
_TRUTHS: dict[str, tuple[str, Callable[..., Any]]] = {
    **{kind: ("this expression", compare) for kind, compare in TRUTH.items()},
    "and": ("this expression", np.logical_and),
    "or": ("this expression", np.logical_or),
    "not": ("this", np.logical_not),
    "between": ("this low high", lambda one, low, high: np.logical_and(one >= low, one <= high)),
    "in": (
        "this expressions",
        lambda one, *others: reduce(np.logical_or, [one == other for other in others]),
    ),
}


def evaluate(node: Node, leaf: Leaf, *, dry: bool | None = None) -> Any:
    """Return an expression of released figures and keys: an estimate, numbers or labels.

    Parameters
    ----------
    node : Expr of sqlglot
    leaf : callable
        What gives keys and figures; None for an operator.
    dry : bool, optional
        If given, figures are read as numbers: with True as zeros, to see that it can be done.
    """
    with pointing(node), np.errstate(all="ignore"):
        made = leaf(node)
        if made is not None:
            return made if dry is None else settled(made, dry=dry)
        make = MAKERS["released"].get(node.key)
        if make is None:
            if node.key == "anonymous" or node.key in NEVER:
                raise unread(node)
            fail(node, "figure" if has_aggregate(node) else "one row")
        return make(node, lambda one: evaluate(one, leaf, dry=dry))


def settled(made: Any, *, dry: bool) -> Any:
    """Return the numbers or labels of an estimate, or zeros in their place."""
    if not isinstance(made, Estimate):
        return made
    if dry:
        return np.zeros(made.shape)
    return np.asarray(made.value) if made.labels is None else np.array(made.labels, dtype=object)


@reads("released", "round", "this decimals")
@reads("released", "sqrt ln exp", "this")
@reads("released", "add sub mul div pow neg abs least greatest", "")
def _number(node: Node, read: Callable[[Node], Any]) -> Any:
    """+, -, *, /, ROUND, POWER, SQRT, LN, EXP, ABS, LEAST, GREATEST – of figures, constants and keys: both intervals follow."""
    names, function = _NUMBERS[node.key]
    given = [read(one) for one in each(node, *names.split())]
    return function(
        *(one.astype(float) if isinstance(one, np.ndarray) and one.dtype == object else one for one in given)
    )


@reads("released", " ".join(_TRUTHS), "")
def _truth(node: Node, read: Callable[[Node], Any]) -> Any:
    """=, <>, <, <=, >, >=, BETWEEN, IN, LIKE, AND, OR, NOT – in HAVING and WHERE of an outer SELECT, which read noised figures."""
    names, function = _TRUTHS[node.key]
    return function(*_read(node, read, names))


@reads("released", "like ilike", "")
def _like(node: Node, read: Callable[[Node], Any]) -> Any:
    labels, pattern = _read(node, read, "this expression")
    return np.vectorize(matching(node, pattern), otypes=[bool])(labels)


def _read(node: Node, read: Callable[[Node], Any], names: str) -> list[Any]:
    given = [read(one) for one in each(node, *names.split())]
    if any(isinstance(one, Estimate) for one in given):
        fail(node, "read")
    return given


@reads("released", "paren", "")
@reads("released", "coalesce nullif", "")
def _first(node: Node, read: Callable[[Node], Any]) -> Any:
    """COALESCE, NULLIF – the figure itself: it is never NULL."""
    return read(node.this)


@reads("released", "cast", "")
def _cast(node: Node, read: Callable[[Node], Any]) -> Any:
    """CAST(figure AS DOUBLE) – the figure itself."""
    if node.args["to"].this.name not in {"DOUBLE", "FLOAT"}:
        fail(node, "cast figure")
    return read(node.this)
