"""Integer expressions as SQL that cannot overflow, cannot divide by zero and does not grow exponentially.

Each operation runs in the narrowest of 32 and 64 bits that its operands and its result are known to fit. A sub-expression
that SQL has to mention twice becomes a column of an inner SELECT, so that the text stays as long as the expression is.
Results are those of :mod:`dpnb.trusted.aggregate.reference`: floor division, NULL propagation and Kleene's logic are spelled
out where an engine's own operators differ; what is written differently comes from its dialect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from dpnb.trusted.aggregate.algebra import (
    Add,
    And,
    Bounds,
    Case,
    Clip,
    Cmp,
    Col,
    FloorDiv,
    IntExpr,
    Known,
    Lit,
    Mul,
    Node,
    Not,
    Or,
    Pred,
    Sub,
    TrueP,
)
from dpnb.trusted.curator.engines.sql_dialect import DUCKDB, SqlDialect

_INT32 = 2**31 - 1
_OPERATORS: dict[type, str] = {Add: "+", Sub: "-", Mul: "*"}


class Text(NamedTuple):
    """SQL, and how many inner SELECTs have to exist before it can be written."""

    sql: str
    stage: int


@dataclass(slots=True)
class Renderer:
    """Renders expressions over one prepared copy and remembers which columns the inner SELECTs must add."""

    ranges: Mapping[str, tuple[int, int]]
    dialect: SqlDialect = DUCKDB
    stages: list[list[str]] = field(default_factory=list)
    _done: dict[Node, Text] = field(default_factory=dict)
    _lifted: dict[Node, Text] = field(default_factory=dict)
    _bounds: Bounds = field(init=False)

    def __post_init__(self) -> None:
        self._bounds = Bounds(self.ranges)

    def relation(self, table: str) -> str:
        """The table with every column that the rendered expressions need."""
        sql = table
        for added in self.stages:
            sql = self.dialect.inner(f"SELECT *, {', '.join(added)} FROM {sql}")
        return sql

    def __call__(self, node: IntExpr | Pred) -> str:
        """The SQL of an expression, valid over :meth:`relation`."""
        return self._text(node).sql

    def _text(self, node: IntExpr | Pred) -> Text:
        if node not in self._done:
            self._done[node] = self._write(node)
        return self._done[node]

    def _write(self, node: IntExpr | Pred) -> Text:
        match node:
            case Col(name):
                return Text(self.dialect.column(name), 0)
            case Lit(value):
                return Text(f"({value})", 0)
            case Add(a, b) | Sub(a, b) | Mul(a, b):
                kind = self._kind(node, a, b)
                left, right = self._cast(a, kind), self._cast(b, kind)
                return _join(f"({left.sql} {_OPERATORS[type(node)]} {right.sql})", left, right)
            case FloorDiv(a, k):
                return self._floor(a, k)
            case Clip(a, lo, hi):
                return self._clip(a, lo, hi)
            case Case(cond, then, other):
                return self._case(node, cond, then, other)
            case _:
                return self._predicate(node)

    def _predicate(self, node: Pred) -> Text:
        match node:
            case Cmp(op, a, b):
                left, right = self._text(a), self._text(b)
                return _join(f"({left.sql} {'=' if op == '==' else op} {right.sql})", left, right)
            case And() | Or():
                listed = [self._text(part) for part in alike(node)]
                word = " AND " if isinstance(node, And) else " OR "
                return _join(f"({word.join(part.sql for part in listed)})", *listed)
            case Not(a):
                return self._negation(a)
            case Known(a):
                inner = self._text(a)
                return _join(f"({inner.sql} IS NOT NULL)", inner)
            case TrueP():
                return Text("TRUE", 0)

    def _negation(self, node: Pred) -> Text:
        """The negation of a predicate, spelled without NOT, so that no rule of an engine's planner has to move it."""
        match node:
            case Cmp("==", a, b):
                left, right = self._text(a), self._text(b)
                return _join(f"({left.sql} <> {right.sql})", left, right)
            case Known(a):
                inner = self._text(a)
                return _join(f"({inner.sql} IS NULL)", inner)
            case TrueP():
                return Text("FALSE", 0)
            case _:
                return self._text(pushed(Not(node)))

    def _floor(self, a: IntExpr, k: int) -> Text:
        low, high = self._bounds(a)
        kind = integer_type(low, high, k)
        by = self.dialect.typed(k, kind)
        if low >= 0:
            inner = self._cast(a, kind)
            if self.dialect.shifts and k.bit_count() == 1:
                return _join(f"({inner.sql} >> {k.bit_length() - 1})", inner)
            return _join(f"({self.dialect.divided(inner.sql, by)})", inner)
        inner = self._lift(a)
        x = f"CAST({inner.sql} AS {kind})"
        return _join(f"({self.dialect.divided(x, by)} - CASE WHEN {x} % {by} < 0 THEN 1 ELSE 0 END)", inner)

    def _clip(self, a: IntExpr, lo: int, hi: int) -> Text:
        low, high = self._bounds(a)
        if lo <= low and high <= hi:
            return self._text(a)
        inner = self._lift(a)
        x = inner.sql
        return _join(f"(CASE WHEN {x} < {lo} THEN {lo} WHEN {x} > {hi} THEN {hi} ELSE {x} END)", inner)

    def _case(self, node: IntExpr, cond: Pred, then: IntExpr, other: IntExpr) -> Text:
        kind = self._kind(node, then, other)
        left, right = self._cast(then, kind), self._cast(other, kind)
        if never_unknown(cond):
            test = self._text(cond)
            return _join(f"(CASE WHEN {test.sql} THEN {left.sql} ELSE {right.sql} END)", test, left, right)
        test = self._lift(cond)
        sql = f"(CASE WHEN {test.sql} THEN {left.sql} WHEN NOT {test.sql} THEN {right.sql} END)"
        return _join(sql, test, left, right)

    def _cast(self, node: IntExpr, kind: str) -> Text:
        if isinstance(node, Lit):
            return Text(self.dialect.typed(f"({node.value})", kind), 0)
        inner = self._text(node)
        return _join(f"CAST({inner.sql} AS {kind})", inner)

    def _kind(self, *nodes: IntExpr) -> str:
        return integer_type(*(end for node in nodes for end in self._bounds(node)))

    def _lift(self, node: IntExpr | Pred) -> Text:
        """Make an expression a column, so that it can be mentioned more than once."""
        if isinstance(node, Col):
            return self._text(node)
        if node not in self._lifted:
            inner = self._text(node)
            name = self.dialect.own(f"##{len(self._lifted)}")
            while len(self.stages) <= inner.stage:
                self.stages.append([])
            self.stages[inner.stage].append(f"{inner.sql} AS {name}")
            self._lifted[node] = Text(name, inner.stage + 1)
        return self._lifted[node]


def never_unknown(node: Pred) -> bool:
    """Whether a predicate is true or false on every row."""
    match node:
        case Known() | TrueP():
            return True
        case And(a, b) | Or(a, b):
            return never_unknown(a) and never_unknown(b)
        case Not(a):
            return never_unknown(a)
        case Cmp(_, a, b):
            return isinstance(a, Lit) and isinstance(b, Lit)


def pushed(node: Pred) -> Pred:
    r"""Return the same predicate with no negation at its top, unless it is of ``==``, of ``Known`` or of what is always true.

    Exact in Kleene's logic, by its tables: let true, unknown and false be 1, 1/2 and 0. Then *not* is 1 - x, *and* the smaller
    of two, *or* the greater; :math:`1 - \min(x, y) = \max(1 - x, 1 - y)`, the same with both exchanged, and
    :math:`1 - (1 - x) = x`. A comparison of integers is unknown where a side is NULL, whichever way it is written, and elsewhere
    not a < b is b <= a.
    """
    while isinstance(node, Not):
        match node.a:
            case Not(a):
                node = a
            case And(a, b):
                return Or(Not(a), Not(b))
            case Or(a, b):
                return And(Not(a), Not(b))
            case Cmp("<", a, b):
                return Cmp("<=", b, a)
            case Cmp("<=", a, b):
                return Cmp("<", b, a)
            case _:
                return node
    return node


def alike(node: And | Or) -> Iterator[Pred]:
    """Give the parts of a conjunction in conjunctions, or of a disjunction in disjunctions, left to right: both are associative."""
    waiting: list[Pred] = [node]
    while waiting:
        part = pushed(waiting.pop())
        if isinstance(part, And | Or) and type(part) is type(node):
            waiting += (part.b, part.a)
        else:
            yield part


def integer_type(*ends: int) -> str:
    """Return the narrowest of two integer types that holds every one of these."""
    return "INTEGER" if all(-_INT32 <= end <= _INT32 for end in ends) else "BIGINT"


def _join(sql: str, *parts: Text) -> Text:
    return Text(sql, max(part.stage for part in parts))
