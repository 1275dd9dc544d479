"""The permanent record of exact requests: what a charge writes down, so that it can be answered later without a plan.

All nodes of a question stand in one list, each after those that it is made of, and name them by their places; equal nodes
are written once. So a record is as deep as a list, however deep an expression is. Only the closed tables below are read:
what is not exactly in this form is refused, and nothing in a record is ever executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from dpnb.trusted.aggregate.algebra import (
    Add,
    And,
    Case,
    Clip,
    Cmp,
    Col,
    CrossMoments,
    FloorDiv,
    IntExpr,
    Key,
    Known,
    LabelSums,
    Lit,
    Mul,
    Node,
    Not,
    Or,
    Pred,
    Request,
    Shrink,
    Sub,
    Total,
    TrueP,
    ValueCounts,
    children,
)
from dpnb.trusted.errors import PlanError

_NODES: Final[dict[str, tuple[type[Node], tuple[str, ...]]]] = {
    "col": (Col, ("text",)),
    "lit": (Lit, ("integer",)),
    "add": (Add, ("number", "number")),
    "sub": (Sub, ("number", "number")),
    "mul": (Mul, ("number", "number")),
    "floor-div": (FloorDiv, ("number", "integer")),
    "clip": (Clip, ("number", "integer", "integer")),
    "case": (Case, ("predicate", "number", "number")),
    "cmp": (Cmp, ("comparison", "number", "number")),
    "and": (And, ("predicate", "predicate")),
    "or": (Or, ("predicate", "predicate")),
    "not": (Not, ("predicate",)),
    "known": (Known, ("number",)),
    "true": (TrueP, ()),
}
"""Each node's name in a record, and what its fields hold, in order. Names are permanent."""

MOST_DEPTH = 200
"""How deep an expression may be nested: a third of what ends in an interpreter's stack, and more than a column expression becomes."""
MOST_WRITTEN = 300_000
"""Nodes of a record's requests, written out: a node that stands in many places counts in each."""

_REQUESTS: Final[dict[str, tuple[type[Request], tuple[str, ...]]]] = {
    "total": (Total, ("number", "filter", "keys")),
    "value-counts": (ValueCounts, ("number", "filter", "keys")),
    "cross-moments": (CrossMoments, ("numbers", "pairs", "filter", "shrink")),
    "label-sums": (LabelSums, ("numbers", "numbers", "filter")),
}
"""The same of each kind of request."""

_NAMES: Final = {kind: name for name, (kind, _) in _REQUESTS.items()}
_CHILDREN: Final[dict[str, Any]] = {"number": IntExpr, "predicate": Pred}
_LAYOUT: Final = {
    kind: (name, [(field, what in _CHILDREN) for field, what in zip(kind.__match_args__, holds, strict=True)])
    for name, (kind, holds) in _NODES.items()
}
"""Of each node its name, and its fields in order: whether each is a node too."""


def written_requests(requests: Iterable[Request]) -> dict[str, Any]:
    """Write requests as ``{"nodes": […], "requests": […]}``, plain JSON.

    Examples
    --------
    >>> written_requests([Total(Add(Col("x"), Lit(1)))])["nodes"]
    [['col', 'x'], ['lit', 1], ['add', 0, 1]]
    """
    nodes = _Nodes()
    listed = [_written(request, nodes) for request in requests]
    return {"nodes": nodes.listed, "requests": listed}


def read_requests(record: object) -> tuple[Request, ...]:
    """Read what :func:`written_requests` wrote.

    Raises
    ------
    PlanError
        If the record is anything else, is nested too deeply, or stands for too much when it is written out.
    """
    try:
        found = _read(record)
    except (KeyError, IndexError, TypeError, ValueError):
        raise _refusal() from None
    _refuse_long(record)
    if written_requests(found) != record:
        raise _refusal()
    return found


def _refusal() -> PlanError:
    return PlanError("A recorded request is not in the form that this version of dpnb writes.")


def written_size(record: Mapping[str, Any]) -> int:
    """Return how many nodes the requests of a record have when each is written out wherever it stands.

    Parameters
    ----------
    record : mapping
        What :func:`read_requests` accepts.
    """
    return _written_out(record, _measures(record["nodes"]))


def _written_out(record: Mapping[str, Any], nodes: Sequence[tuple[int, int]]) -> int:
    return sum(nodes[place][0] for request in record["requests"] for place in _roots(request))


def _refuse_long(record: Any) -> None:
    nodes = _measures(record["nodes"])
    if any(depth > MOST_DEPTH for _, depth in nodes):
        raise PlanError(
            f"An expression is nested more than {MOST_DEPTH} deep: split it, or use isin or clip."
        )
    if _written_out(record, nodes) > MOST_WRITTEN:
        raise PlanError(
            f"A question has more than {MOST_WRITTEN:,} steps when it is written out: use fewer values or edges."
        )


def _measures(rows: Sequence[Sequence[Any]]) -> list[tuple[int, int]]:
    """Return the size of each node written out, and its depth."""
    found: list[tuple[int, int]] = []
    for name, *values in rows:
        pairs = zip(values, _NODES[name][1], strict=True)
        below = [found[place] for place, holds in pairs if holds in _CHILDREN]
        found.append((1 + sum(size for size, _ in below), 1 + max((depth for _, depth in below), default=0)))
    return found


def _roots(request: Mapping[str, Any]) -> Iterator[int]:
    """Give the places of the expressions of a request."""
    if request["where"] is not None:
        yield request["where"]
    if request["kind"] in ("cross-moments", "label-sums"):
        yield from (*request.get("label", ()), *request["values"])
    else:
        yield request["value"]
        yield from (place for place, _ in request["keys"])


class _Nodes:
    """The list of nodes of one record: equal nodes have one place."""

    def __init__(self) -> None:
        self.listed: list[list[Any]] = []
        self._places: dict[tuple[Any, ...], int] = {}

    def place(self, root: Node) -> int:
        """Return the place of a node, writing it and what it is made of where they are new."""
        known: dict[int, int] = {}
        stack = [root]
        while stack:
            below = [child for child in children(stack[-1]) if id(child) not in known]
            if below:
                stack += reversed(below)
            else:
                node = stack.pop()
                known[id(node)] = self._add(node, known)
        return known[id(root)]

    def _add(self, node: Node, known: Mapping[int, int]) -> int:
        name, fields = _LAYOUT[type(node)]
        values = [(getattr(node, field), inside) for field, inside in fields]
        row = (name, *[known[id(value)] if inside else value for value, inside in values])
        place = self._places.setdefault(row, len(self.listed))
        if place == len(self.listed):
            self.listed.append(list(row))
        return place


def _written(request: Request, nodes: _Nodes) -> dict[str, Any]:
    fields: dict[str, Any] = {field: _put(getattr(request, field), nodes) for field in request.__match_args__}
    return {"kind": _NAMES[type(request)], **fields}


def _put(value: Any, nodes: _Nodes) -> Any:
    """Write a field of a request, each expression in it by its place."""
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, tuple):
        return [_put(one, nodes) for one in value]
    if isinstance(value, Key):
        return [nodes.place(value.code), value.size]
    if isinstance(value, Shrink):
        return {"halves": list(value.halves), "limits": list(value.limits), "steps": value.steps}
    return nodes.place(value)


def _read(record: Any) -> tuple[Request, ...]:
    nodes: list[Node] = []
    for row in record["nodes"]:
        nodes.append(_node(row, nodes))
    return tuple(_request(request, nodes) for request in record["requests"])


def _request(record: Mapping[str, Any], nodes: Sequence[Node]) -> Request:
    kind, holds = _REQUESTS[record["kind"]]
    fields = zip(kind.__match_args__, holds, strict=True)
    return cast("Callable[..., Request]", kind)(
        *[_value(record[field], what, nodes) for field, what in fields]
    )


def _node(row: Sequence[Any], nodes: Sequence[Node]) -> Node:
    name, *values = row
    kind, holds = _NODES[name]
    read = [_value(value, what, nodes) for value, what in zip(values, holds, strict=True)]
    return cast("Callable[..., Node]", kind)(*read)


def _value(value: Any, what: str, nodes: Sequence[Node]) -> Any:
    match what:
        case "number" | "predicate":
            return _child(value, what, nodes)
        case "filter":
            return None if value is None else _child(value, "predicate", nodes)
        case "numbers":
            return tuple(_child(one, "number", nodes) for one in value)
        case "keys":
            return tuple(Key(_child(code, "number", nodes), _integer(size)) for code, size in value)
        case "pairs":
            return tuple((_integer(one), _integer(other)) for one, other in value)
        case "shrink" if value is None:
            return None
        case "shrink":
            halves, limits = (tuple(map(_integer, value[name])) for name in ("halves", "limits"))
            return Shrink(halves, limits, _integer(value["steps"]))
        case "integer":
            return _integer(value)
    if not isinstance(value, str) or (what == "comparison" and value not in {"==", "<", "<="}):
        raise _refusal()
    return value


def _child(place: Any, what: str, nodes: Sequence[Node]) -> Any:
    found: Any = nodes[_integer(place)]
    if place < 0 or not isinstance(found, _CHILDREN[what]):
        raise _refusal()
    return found


def _integer(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _refusal()
    return value
