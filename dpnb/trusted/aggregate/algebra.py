"""The integer algebra: expressions, predicates, keys and the four kinds of request.

Every node is a frozen value. A column is a 64-bit integer or NULL; NULL propagates through arithmetic; predicates are
Kleene's three-valued logic; a filter keeps the rows where its predicate is *true*. Ranges are known before any data is
seen (:func:`bounds`): a node beyond 2^62 is refused, and a sum over fewer than 2^64 rows then stays below 2^126, so that an
engine never overflows. Division is floor division by a positive constant: no node can fail on any data.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from math import prod
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeVar, cast, dataclass_transform

CmpOp: TypeAlias = Literal["==", "<", "<="]
_T = TypeVar("_T")


class _Hashed:
    """Keeps its hash, its columns and its length: to find them is to walk through all below it, which is done once."""

    __slots__ = ("_columns", "_hash", "_length")


@dataclass_transform(frozen_default=True)
def _node(cls: type[_T]) -> type[_T]:
    """Make a class a frozen value that keeps its hash."""
    made = dataclass(frozen=True, slots=True)(cls)
    plain = made.__hash__

    def kept(self: Any) -> int:
        try:
            found: int = self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", found := plain(self))
        return found

    made.__hash__ = kept  # type: ignore[method-assign]
    return made


@_node
class Col(_Hashed):
    """A column of the prepared copy."""

    name: str


@_node
class Lit(_Hashed):
    """An integer constant."""

    value: int


@_node
class Add(_Hashed):
    """``a + b``."""

    a: IntExpr
    b: IntExpr


@_node
class Sub(_Hashed):
    """``a - b``."""

    a: IntExpr
    b: IntExpr


@_node
class Mul(_Hashed):
    """``a * b``."""

    a: IntExpr
    b: IntExpr


@_node
class FloorDiv(_Hashed):
    """``⌊a / k⌋``, toward minus infinity, for a constant ``k > 0``."""

    a: IntExpr
    k: int

    def __post_init__(self) -> None:
        if self.k <= 0:
            raise ValueError(f"FloorDiv divides by a positive constant, not by {self.k}")


@_node
class Clip(_Hashed):
    """``min(max(a, lo), hi)``; NULL stays NULL."""

    a: IntExpr
    lo: int
    hi: int

    def __post_init__(self) -> None:
        if self.lo > self.hi:
            raise ValueError(f"Clip needs lo <= hi, not {self.lo} and {self.hi}")


@_node
class Case(_Hashed):
    """``then`` where ``cond`` is true, ``other`` where it is false, NULL where it is unknown."""

    cond: Pred
    then: IntExpr
    other: IntExpr


@_node
class Cmp(_Hashed):
    """``a op b`` for ``op`` in ``==``, ``<``, ``<=``; unknown where either side is NULL."""

    op: CmpOp
    a: IntExpr
    b: IntExpr


@_node
class And(_Hashed):
    """Kleene's conjunction: false wins over unknown."""

    a: Pred
    b: Pred


@_node
class Or(_Hashed):
    """Kleene's disjunction: true wins over unknown."""

    a: Pred
    b: Pred


@_node
class Not(_Hashed):
    """Negation; unknown stays unknown."""

    a: Pred


@_node
class Known(_Hashed):
    """Whether ``a`` is not NULL; never unknown itself."""

    a: IntExpr


@_node
class TrueP(_Hashed):
    """The predicate that is always true."""


IntExpr: TypeAlias = Col | Lit | Add | Sub | Mul | FloorDiv | Clip | Case
Pred: TypeAlias = Cmp | And | Or | Not | Known | TrueP
Node: TypeAlias = IntExpr | Pred
Range: TypeAlias = tuple[int, int]
_N = TypeVar("_N", bound=Node)


@_node
class Key(_Hashed):
    """One axis of cells: a row belongs to cell ``code``; NULL and anything outside ``0..size-1`` to none."""

    code: IntExpr
    size: int

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"an axis has cells, not {self.size}")


def cells_of(keys: Sequence[Key]) -> int:
    """How many disjoint cells some keys make: 1 without keys."""
    return prod(key.size for key in keys)


@_node
class Total(_Hashed):
    """The exact sum of ``value`` over the kept rows of each cell (row-major over ``keys``; NULL adds 0)."""

    value: IntExpr
    where: Pred | None = None
    keys: tuple[Key, ...] = ()


@_node
class ValueCounts(_Hashed):
    """How often each known ``value`` occurs among the kept rows of each cell, in ascending order of value."""

    value: IntExpr
    where: Pred | None = None
    keys: tuple[Key, ...] = ()


@_node
class LabelSums(_Hashed):
    """How many kept rows have each label, and the exact sum of each of ``values`` over them, in ascending order of label.

    A label is the integers ``label``; a row is kept where the filter is true and each of these and of ``values`` is known.
    """

    label: tuple[IntExpr, ...]
    values: tuple[IntExpr, ...] = ()
    where: Pred | None = None

    def __post_init__(self) -> None:
        if not self.label:
            raise ValueError("a label is one integer or more")


SIZE_BITS = 20
"""Row sizes are counted in units of 2⁻²⁰."""


@dataclass(frozen=True, slots=True)
class Shrink:
    r"""How a row of integers is moved into a ball: its size chooses one of finitely many factors.

    The size of a row is :math:`s = \sum_j ⌈2^{20} v_j^2 / h_j^2⌉` over the values with a half range (``halves``; 0 leaves
    a value out). With k the number of ``limits`` below s, each value becomes :math:`v_j (steps - k) / steps`, truncated toward zero.
    A value that is left out is the product of the moved ones if it is a product of two (:meth:`CrossMoments.factors`), else unchanged.
    """

    halves: tuple[int, ...]
    limits: tuple[int, ...]
    steps: int

    def __post_init__(self) -> None:
        if not all(0 <= half < 2**SIZE_BITS for half in self.halves):
            raise ValueError("a half range lies between 0 and 2^20")
        if not 0 < self.steps <= 2**SIZE_BITS:
            raise ValueError("a row shrinks by at most 2^20 steps")
        if list(self.limits) != sorted(set(self.limits)) or not 0 < len(self.limits) < self.steps:
            raise ValueError("limits rise, and there are fewer of them than steps")


@_node
class CrossMoments(_Hashed):
    """The exact sums of ``values[i] * values[j]`` for each pair, over the kept rows in which every value is known."""

    values: tuple[IntExpr, ...]
    pairs: tuple[tuple[int, int], ...]
    where: Pred | None = None
    shrink: Shrink | None = None

    def __post_init__(self) -> None:
        if any(not 0 <= place < len(self.values) for pair in self.pairs for place in pair):
            raise ValueError("a pair names two of the values")
        halves = None if self.shrink is None else self.shrink.halves
        if halves is not None and len(halves) != len(self.values):
            raise ValueError("a shrink has a half range for each value, 0 where it leaves one out")
        if halves is not None and any(
            h and isinstance(v, Lit) for v, h in zip(self.values, halves, strict=True)
        ):
            raise ValueError("a constant is not moved into a ball")

    def factors(self, place: int) -> tuple[int, ...]:
        """The places of the two moved values of which a value that is left out of the ball is the product; else its own place."""
        value = self.values[place]
        if self.shrink is None or self.shrink.halves[place] or not isinstance(value, Mul):
            return (place,)
        moved = {one: at for at, one in enumerate(self.values) if self.shrink.halves[at]}
        return (moved[value.a], moved[value.b]) if value.a in moved and value.b in moved else (place,)


Request: TypeAlias = Total | ValueCounts | CrossMoments | LabelSums


def expressions(request: Request) -> tuple[IntExpr, ...]:
    """The integer expressions that a request reads, left to right; its filter is none of them."""
    match request:
        case CrossMoments(values):
            return values
        case LabelSums(label, values):
            return (*label, *values)
        case Total(value, _, keys) | ValueCounts(value, _, keys):
            return (value, *(key.code for key in keys))


def roots(request: Request) -> tuple[Node, ...]:
    """The expressions that a request reads, and its filter where it has one."""
    return expressions(request) if request.where is None else (*expressions(request), request.where)


def children(node: Node) -> tuple[Node, ...]:
    """The sub-nodes of a node, left to right."""
    return _BELOW[type(node)](node)


_BELOW: Final[dict[type, Callable[[Any], tuple[Node, ...]]]] = {
    **dict.fromkeys((Col, Lit, TrueP), lambda _: ()),
    **dict.fromkeys((FloorDiv, Clip, Not, Known), lambda node: (node.a,)),
    **dict.fromkeys((Add, Sub, Mul, Cmp, And, Or), attrgetter("a", "b")),
    Case: attrgetter("cond", "then", "other"),
}


_MANY: Final = 2**62
"""Counts of nodes stop here, so that none of them grows without end."""


def length(node: Node) -> tuple[int, int, int]:
    """Return how long an expression is; of a node that stands in many places it is found once.

    Returns
    -------
    (int, int, int)
        Its nodes, written out; how many lie above all of them together, where a list of conditions is one node deep; and its depth.
    """
    found: tuple[int, int, int] | None = getattr(node, "_length", None)
    if found is None:
        nodes, above, depth, kind = 1, 0, 0, type(node)
        for child in children(node):
            more, higher, deep = length(child)
            nodes, depth = nodes + more, max(depth, deep)
            listed = type(child) is kind and (kind is And or kind is Or)
            above += higher if listed else higher + more
        found = min(nodes, _MANY), min(above, _MANY), 1 + depth
        object.__setattr__(node, "_length", found)
    return found


def columns_of(*nodes: Node | None) -> frozenset[str]:
    """The names of the columns that ``nodes`` read."""
    return frozenset[str]().union(*(_columns(node) for node in nodes if node is not None))


def _columns(node: Node) -> frozenset[str]:
    found: frozenset[str] | None = getattr(node, "_columns", None)
    if found is None:
        found = frozenset([node.name]) if isinstance(node, Col) else columns_of(*children(node))
        object.__setattr__(node, "_columns", found)
    return found


def substitute(node: _N, mapping: Mapping[Node, Node]) -> _N:
    """Replace each sub-node found in ``mapping`` (outermost first)."""
    if node in mapping:
        return cast("_N", mapping[node])
    if not (below := children(node)):
        return node
    names = [f.name for f in fields(node)]
    swap = {id(child): substitute(child, mapping) for child in below}
    values = [getattr(node, name) for name in names]
    return type(node)(*(swap.get(id(value), value) for value in values))


def conjuncts(predicate: Pred | None) -> tuple[Pred, ...]:
    """Split a filter at its top-level conjunctions: a row is kept where every part is true."""
    if predicate is None or isinstance(predicate, TrueP):
        return ()
    if isinstance(predicate, And):
        return conjuncts(predicate.a) + conjuncts(predicate.b)
    return (predicate,)


def conjunction(parts: tuple[Pred, ...]) -> Pred | None:
    """The filter that keeps the rows where every part is true; the inverse of :func:`conjuncts`."""
    whole: Pred | None = None
    for part in parts:
        whole = part if whole is None else And(whole, part)
    return whole


def bounds(node: IntExpr, ranges: Mapping[str, Range]) -> Range:
    """The range that a node's known values cannot leave, given the range of each column.

    Parameters
    ----------
    node : IntExpr
    ranges : mapping of column name to (lowest, highest)

    Returns
    -------
    (int, int)
        Both ends inclusive. Interval arithmetic: never too narrow, sometimes too wide.
    """
    return Bounds(ranges)(node)


class NodeBounds(NamedTuple):
    """What is known of a node before any data is seen.

    Attributes
    ----------
    node : Node
    ends : (int, int)
        Its range, both ends inclusive; of a predicate (0, 0).
    taken : (int, int)
        The same without branches that no row takes.
    reach : int
        The largest absolute value that any integer on the way to its value can take, intermediate ones included: an engine whose integers
        hold this many cannot overflow on any data.
    nullable : bool
        Whether it can be missing in some row.
    """

    node: Node
    ends: Range
    taken: Range
    reach: int
    nullable: bool


class Bounds:
    """What ranges of columns say of each node, found once: one that stands in many places is the same object in all of them."""

    def __init__(self, ranges: Mapping[str, Range], nullable: Collection[str] = ()) -> None:
        self._ranges, self._nullable = ranges, nullable
        self._seen: dict[int, NodeBounds] = {}  # a node that is kept keeps its id

    def __call__(self, node: IntExpr) -> Range:
        """Return the range of a node, both ends inclusive."""
        return self.of(node).ends

    def of(self, node: Node) -> NodeBounds:
        """Return what is known of a node."""
        found = self._seen.get(id(node))
        if found is None:
            found = self._seen[id(node)] = self._find(node)
        return found

    def _find(self, node: Any) -> NodeBounds:
        kind = type(node)
        if kind is Lit:
            return NodeBounds(node, ends := (node.value, node.value), ends, abs(node.value), nullable=False)
        if kind is Col:
            low, high = ends = self._ranges[node.name]
            return NodeBounds(node, ends, ends, max(-low, high), node.name in self._nullable)
        below = list(map(self.of, children(node)))
        low, high = ends = _ENDS[kind](node, *[one.ends for one in below])
        reach = max(-low, high, *[one.reach for one in below])
        if kind is FloorDiv:
            reach = max(reach, node.k)
        if kind is Clip:
            reach = max(reach, abs(node.lo), abs(node.hi))
        taken = self._taken(node, *below[1:]) if kind is Case else ends
        nullable = kind is not Known and True in [one.nullable for one in below]
        return NodeBounds(node, ends, taken, reach, nullable)

    def _taken(self, node: Case, then: NodeBounds, other: NodeBounds) -> Range:
        cond = node.cond
        if isinstance(cond, Cmp) and cond.op == "<":
            (low, high), (first, last) = self(cond.a), self(cond.b)
            if high < first or low >= last:
                return (then if high < first else other).taken
        return min(then.taken[0], other.taken[0]), max(then.taken[1], other.taken[1])


def _product(node: Mul, one: Range, other: Range) -> Range:
    corners = [x * y for x in one for y in other]
    if node.a == node.b and one[0] <= 0 <= one[1]:
        return 0, max(corners)
    return min(corners), max(corners)


_ENDS: Final[dict[type, Callable[..., Range]]] = {
    Add: lambda _, a, b: (a[0] + b[0], a[1] + b[1]),
    Sub: lambda _, a, b: (a[0] - b[1], a[1] - b[0]),
    Mul: _product,
    FloorDiv: lambda node, a: (a[0] // node.k, a[1] // node.k),
    Clip: lambda node, a: (min(max(a[0], node.lo), node.hi), min(max(a[1], node.lo), node.hi)),
    Case: lambda _, __, a, b: (min(a[0], b[0]), max(a[1], b[1])),
    **dict.fromkeys((Cmp, And, Or, Not, Known, TrueP), lambda *_: (0, 0)),
}
"""The range of each kind of node, from those of what it is made of."""
