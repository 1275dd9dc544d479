"""The permanent record of exact requests: what a charge writes down, so that it can be answered later without a plan.

All nodes of a question stand in one list, each after those that it is made of, and name them by their places; equal nodes
are written once. So a record is as deep as a list, however deep an expression is. Only the closed tables below are read:
what is not exactly in this form is refused, and nothing in a record is ever executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, cast, get_args

from dpnb.trusted.aggregate import algebra
from dpnb.trusted.canonical import Record, is_record
from dpnb.trusted.errors import PlanError

_NODES: Final[dict[str, tuple[type[algebra.Node], tuple[str, ...]]]] = {
    "col": (algebra.Col, ("text",)),
    "lit": (algebra.Lit, ("integer",)),
    "add": (algebra.Add, ("number", "number")),
    "sub": (algebra.Sub, ("number", "number")),
    "mul": (algebra.Mul, ("number", "number")),
    "floor-div": (algebra.FloorDiv, ("number", "integer")),
    "clip": (algebra.Clip, ("number", "integer", "integer")),
    "case": (algebra.Case, ("predicate", "number", "number")),
    "cmp": (algebra.Cmp, ("comparison", "number", "number")),
    "and": (algebra.And, ("predicate", "predicate")),
    "or": (algebra.Or, ("predicate", "predicate")),
    "not": (algebra.Not, ("predicate",)),
    "known": (algebra.Known, ("number",)),
    "true": (algebra.TrueP, ()),
}
"""Each node's name in a record, and what its fields hold, in order. Names are permanent."""

MOST_DEPTH = 200
"""How deep an expression may be nested: a third of what ends in an interpreter's stack, and more than a column expression becomes."""
MOST_WRITTEN = 300_000
"""Nodes of a record's requests, written out: a node that stands in many places counts in each."""

_REQUESTS: Final[dict[str, tuple[type[algebra.Request], tuple[str, ...]]]] = {
    "total": (algebra.Total, ("number", "filter", "keys")),
    "value-counts": (algebra.ValueCounts, ("number", "filter", "keys")),
    "cross-moments": (algebra.CrossMoments, ("numbers", "pairs", "filter", "shrink")),
    "label-sums": (algebra.LabelSums, ("numbers", "numbers", "filter")),
}
"""The same of each kind of request."""

_RECORD: Final = {"nodes": list, "requests": list}
_SHRINK: Final = {"halves": list, "limits": list, "steps": int}
_NAMES: Final = {kind: name for name, (kind, _) in _REQUESTS.items()}
_CHILDREN: Final[Record] = {
    "number": set(get_args(algebra.IntExpr)),
    "predicate": set(get_args(algebra.Pred)),
}
_PLAIN: Final[dict[str, type]] = {
    "text": str,
    "comparison": str,
    **dict.fromkeys(("integer", "number", "predicate"), int),
}
_COMPARISONS: Final = get_args(algebra.CmpOp)
_LAYOUT: Final = {
    kind: (name, [(field, what in _CHILDREN) for field, what in zip(kind.__match_args__, holds, strict=True)])
    for name, (kind, holds) in _NODES.items()
}
"""Of each node its name, and its fields in order: whether each is a node too."""


def written_requests(requests: Iterable[algebra.Request]) -> Record:
    """Write requests as ``{"nodes": […], "requests": […]}``, plain JSON.

    Examples
    --------
    >>> written_requests([algebra.Total(algebra.Add(algebra.Col("x"), algebra.Lit(1)))])["nodes"]
    [['col', 'x'], ['lit', 1], ['add', 0, 1]]
    """
    nodes = _Nodes()
    listed = [_written(request, nodes) for request in requests]
    return {"nodes": nodes.listed, "requests": listed}


class Reader:
    """Reads the records of one plan: equal nodes are one object, in whatever records they stand.

    Attributes
    ----------
    steps : int
        How many nodes the requests that were read have when each is written out wherever it stands.
    """

    def __init__(self) -> None:
        self.steps = self._deepest = 0
        self._nodes: list[algebra.Node] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        """The nodes; and the place of each among them by its name and fields, in which other nodes stand by theirs."""
        self._here: list[int] = []
        self._below: list[list[int]] = []
        self._roots: list[int] = []
        """Of the record that is read: the number of each node, the places of what it is made of, and the places that requests name."""

    def read(self, record: object) -> tuple[algebra.Request, ...]:
        """Return the requests of a record that :func:`written_requests` wrote.

        Raises
        ------
        PlanError
            If the record is anything else, is nested too deeply, or stands for too much when it is written out.
        """
        self._here, self._below, self._roots = [], [], []
        try:
            found = self._read(record)
        except (KeyError, IndexError, TypeError, ValueError):
            raise _refusal() from None
        if self._deepest > MOST_DEPTH:
            raise PlanError(
                f"An expression is nested more than {MOST_DEPTH} deep: split it, or use isin or clip."
            )
        steps = sum(algebra.length(self._nodes[self._here[place]])[0] for place in self._roots)
        if steps > MOST_WRITTEN:
            raise PlanError(
                f"A question has more than {MOST_WRITTEN:,} steps when it is written out: use fewer values or edges."
            )
        if len(set(self._here)) < len(self._here) or not _in_order(self._roots, self._below):
            raise _refusal()
        self.steps += steps
        return found

    def _read(self, record: object) -> tuple[algebra.Request, ...]:
        if not is_record(record, _RECORD):
            raise _refusal()
        for row in record["nodes"]:
            self._add(*_typed(row, list))
        return tuple(map(self._request, record["requests"]))

    def _add(self, name: str, *values: Any) -> None:
        """Take up the next node of a record: the same object as an equal one that was read before."""
        holds, below, key = _NODES[name][1], list[int](), list[Any]([name])
        if [*map(type, values)] != [_PLAIN[what] for what in holds]:
            raise _refusal()
        for value, what in zip(values, holds, strict=True):
            if what in _CHILDREN:
                below.append(_place(value))
                key.append(self._here[value])
            else:
                key.append(value)
        number = self._numbers.get(made := tuple(key))
        self._here.append(self._make(made) if number is None else number)
        self._below.append(below)

    def _make(self, key: tuple[Any, ...]) -> int:
        """Make a node that is new."""
        kind, holds = _NODES[key[0]]
        pairs = zip(key[1:], holds, strict=True)
        fields = [self._node(value, what) if what in _CHILDREN else value for value, what in pairs]
        if kind is algebra.Cmp and fields[0] not in _COMPARISONS:
            raise _refusal()
        self._nodes.append(node := cast("Callable[..., algebra.Node]", kind)(*fields))
        self._deepest = max(self._deepest, algebra.length(node)[2])
        return self._numbers.setdefault(key, len(self._numbers))

    def _node(self, number: int, what: str) -> Any:
        """Return a node, of the kind that a field holds."""
        node = self._nodes[number]
        if type(node) not in _CHILDREN[what]:
            raise _refusal()
        return node

    def _request(self, record: Any) -> algebra.Request:
        kind, holds = _REQUESTS[record["kind"]]
        names = kind.__match_args__
        if record.keys() != {"kind", *names}:
            raise _refusal()
        fields = [self._value(record[name], what) for name, what in zip(names, holds, strict=True)]
        return cast("Callable[..., algebra.Request]", kind)(*fields)

    def _value(self, value: object, what: str) -> Any:
        """Read a field of a request."""
        match what:
            case "filter" | "shrink" if value is None:
                return None
            case "number" | "filter":
                return self._root(value, "number" if what == "number" else "predicate")
            case "numbers":
                return tuple(self._root(one, "number") for one in _typed(value, list))
            case "keys":
                pairs = (_typed(one, list) for one in _typed(value, list))
                return tuple(
                    algebra.Key(self._root(code, "number"), _typed(size, int)) for code, size in pairs
                )
            case "pairs":
                pairs = (_typed(one, list) for one in _typed(value, list))
                return tuple((_typed(one, int), _typed(other, int)) for one, other in pairs)
        if not is_record(value, _SHRINK):
            raise _refusal()
        halves, limits = (tuple(_typed(one, int) for one in value[name]) for name in ("halves", "limits"))
        return algebra.Shrink(halves, limits, value["steps"])

    def _root(self, place: Any, what: str) -> Any:
        found = self._node(self._here[_place(place)], what)
        self._roots.append(place)
        return found


def _in_order(roots: Sequence[int], below: Sequence[Sequence[int]]) -> bool:
    """Tell whether nodes stand as :class:`_Nodes` lists them: each after what it is made of, left to right, and none besides."""
    met, waiting = 0, list(reversed(roots))
    while waiting:
        place = waiting[-1]
        if place < met:
            waiting.pop()
        elif new := [one for one in below[place] if one >= met]:
            waiting += reversed(new)
        elif place == met:
            met += 1
        else:
            return False
    return met == len(below)


def _place(value: object) -> int:
    if _typed(value, int) < 0:  # counted from the end
        raise _refusal()
    return cast("int", value)


def _typed(value: object, kind: type) -> Any:
    if type(value) is not kind:
        raise _refusal()
    return value


def _refusal() -> PlanError:
    return PlanError("A recorded request is not in the form that this version of dpnb writes.")


class _Nodes:
    """The list of nodes of one record: equal nodes have one place."""

    def __init__(self) -> None:
        self.listed: list[list[object]] = []
        self._places: dict[tuple[object, ...], int] = {}
        self._known: dict[int, tuple[int, algebra.Node]] = {}  # a node that is kept keeps its id

    def place(self, node: algebra.Node) -> int:
        """Return the place of a node, writing it and what it is made of where they are new."""
        known = self._known.get(id(node))
        if known is None:
            name, fields = _LAYOUT[type(node)]
            row: list[object] = [name]
            for field, inside in fields:
                value = getattr(node, field)
                row.append(self.place(value) if inside else value)
            known = self._known[id(node)] = self._places.setdefault(tuple(row), len(self.listed)), node
            if known[0] == len(self.listed):
                self.listed.append(row)
        return known[0]


def _written(request: algebra.Request, nodes: _Nodes) -> Record:
    fields: Record = {field: _put(getattr(request, field), nodes) for field in request.__match_args__}
    return {"kind": _NAMES[type(request)], **fields}


def _put(value: Any, nodes: _Nodes) -> object:
    """Write a field of a request, each expression in it by its place."""
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, tuple):
        return [_put(one, nodes) for one in value]
    if isinstance(value, algebra.Key):
        return [nodes.place(value.code), value.size]
    if isinstance(value, algebra.Shrink):
        return {"halves": list(value.halves), "limits": list(value.limits), "steps": value.steps}
    return nodes.place(value)
