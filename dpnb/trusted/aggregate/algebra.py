"""The integer algebra: expressions, predicates, keys and the four kinds of request.

Every node is a frozen value. A column is a 64-bit integer or NULL; NULL propagates through arithmetic; predicates are
Kleene's three-valued logic; a filter keeps the rows where its predicate is *true*. Ranges are known before any data is
seen (:func:`bounds`): the checker refuses a node beyond 2^62 and a possible sum beyond 2^126, so that an engine never
overflows. Division is floor division by a positive constant: no node can fail on any data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from math import prod
from typing import Any, Literal, TypeAlias, TypeVar, cast, dataclass_transform

CmpOp: TypeAlias = Literal["==", "<", "<="]
_T = TypeVar("_T")


class _Hashed:
    """Keeps its hash and its columns: to find them is to walk through all below it, which is done once."""

    __slots__ = ("_columns", "_hash")


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
_N = TypeVar("_N", bound=Node)
_INTEGERS = (
    Col,
    Lit,
    Add,
    Sub,
    Mul,
    FloorDiv,
    Clip,
    Case,
)  # a tuple: a union of types is made anew each time


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
    if isinstance(node, (Col, Lit, TrueP)):
        return ()
    if isinstance(node, (FloorDiv, Clip, Not, Known)):
        return (node.a,)
    if isinstance(node, Case):
        return (node.cond, node.then, node.other)
    return (node.a, node.b)


def walk(node: Node) -> Iterator[Node]:
    """Every node below and including ``node``; one that stands in many places is met once."""
    stack, met = [node], {id(node)}
    while stack:
        top = stack.pop()
        yield top
        new = [child for child in children(top) if id(child) not in met]
        met.update(map(id, new))
        stack.extend(new)


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


def bounds(node: IntExpr, ranges: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
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


class Bounds:
    """The range of each node, found once: a node that stands in many places is the same object in all of them."""

    def __init__(self, ranges: Mapping[str, tuple[int, int]]) -> None:
        self._ranges = ranges
        self._known: dict[int, tuple[IntExpr, tuple[int, int]]] = {}  # a node that is kept keeps its id

    def __call__(self, node: IntExpr) -> tuple[int, int]:
        """Return the range of a node, both ends inclusive."""
        found = self._known.get(id(node))
        if found is None:
            found = self._known[id(node)] = (node, self._find(node))
        return found[1]

    def _find(self, node: IntExpr) -> tuple[int, int]:
        match node:
            case Col(name):
                return self._ranges[name]
            case Lit(value):
                return value, value
            case Add(a, b):
                (al, ah), (bl, bh) = self(a), self(b)
                return al + bl, ah + bh
            case Sub(a, b):
                (al, ah), (bl, bh) = self(a), self(b)
                return al - bh, ah - bl
            case Mul(a, b) if a == b:
                low, high = self(a)
                ends = (low * low, high * high)
                return (0 if low <= 0 <= high else min(ends)), max(ends)
            case Mul(a, b):
                corners = [x * y for x, y in product(self(a), self(b))]
                return min(corners), max(corners)
            case FloorDiv(a, k):
                low, high = self(a)
                return low // k, high // k
            case Clip(a, lo, hi):
                low, high = self(a)
                return min(max(low, lo), hi), min(max(high, lo), hi)
            case Case(_, then, other):
                (al, ah), (bl, bh) = self(then), self(other)
                return min(al, bl), max(ah, bh)


def reach(node: Node, ranges: Mapping[str, tuple[int, int]]) -> int:
    """The largest absolute value that any integer on the way to a node's value can take, intermediate ones included.

    Parameters
    ----------
    node : Node
    ranges : mapping of column name to (lowest, highest)

    Returns
    -------
    int
        An engine whose integers hold this many cannot overflow on any data.
    """
    found, ends = 0, Bounds(ranges)
    for part in walk(node):
        if isinstance(part, _INTEGERS):
            low, high = ends(part)
            found = max(found, -low, high)
        if isinstance(part, FloorDiv):
            found = max(found, part.k)
        if isinstance(part, Clip):
            found = max(found, abs(part.lo), abs(part.hi))
    return found
