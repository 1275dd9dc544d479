"""What a request means: the numpy evaluator that engines run over their counts, and that every engine must equal bit for bit.

A :class:`Table` is a set of integer columns with their known-masks, and optionally how often each row occurs.
:class:`Evaluator` returns exact Python integers for totals and sorted 64-bit arrays for value counts; it never raises on
any data whose ranges the checker admitted, and it never looks at the order of rows. Tables of anything, and the sums of labels,
which an engine always scans for, stand outside (:mod:`dpnb.datasets.exact_answers`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpnb.trusted.aggregate import algebra
from dpnb.trusted.canonical import Record

Int64s: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

# Of few rows, the methods of arrays take twice as long.
_sum, _least, _most = np.add.reduce, np.minimum.reduce, np.maximum.reduce
_EXACT_FLOAT_BITS = 53
_INT63 = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Ints:
    """A column: 64-bit values and where they are known (an unknown value is 0 and means nothing)."""

    values: Int64s
    known: Bools

    def __len__(self) -> int:
        return len(self.values)

    def tolist(self) -> list[int | None]:
        """The column as Python integers and ``None``."""
        return [int(v) if k else None for v, k in zip(self.values, self.known, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Integer columns of one length; ``times`` says how often each row occurs (once, when ``None``)."""

    columns: Mapping[str, Ints]
    rows: int
    times: Int64s | None = None


class Tally(NamedTuple):
    """The distinct values of a cell, ascending, and how often each occurs."""

    values: Int64s
    counts: Int64s


class LabelTally(NamedTuple):
    """Labels in ascending order, how many rows have each, and for each value the exact sums over them."""

    labels: tuple[tuple[int, ...], ...]
    counts: tuple[int, ...]
    sums: tuple[tuple[int, ...], ...]


Answer: TypeAlias = tuple[int, ...] | tuple[Tally, ...] | LabelTally


class Evaluator:
    """Evaluates nodes over one table, each distinct node once."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._ints: dict[algebra.Node, Ints] = {}
        self._preds: dict[algebra.Node, tuple[Bools, Bools]] = {}
        self._always = np.ones(table.rows, dtype=bool)
        self._always.setflags(write=False)  # it stands in many answers

    def answer(self, request: algebra.Total | algebra.ValueCounts | algebra.CrossMoments) -> Answer:
        """One request's answer."""
        if isinstance(request, algebra.CrossMoments):
            values, times = self.complete(request.values, request.where)
            if request.shrink is not None:
                values = shrunk(values, request)
            return exact_products(values, request.pairs, times)
        value = self.ints(request.value)
        if isinstance(request, algebra.Total) and not request.keys:
            return (self._sum(value, request.where),)
        cells = self.cells(request.keys)
        (cells, kept), times = self._kept(value.known & (cells >= 0), request.where, cells, value.values)
        add = exact_sums if isinstance(request, algebra.Total) else tallies
        return add(cells, kept, algebra.cells_of(request.keys), times)

    def complete(
        self, wanted: Sequence[algebra.IntExpr], where: algebra.Pred | None
    ) -> tuple[list[Int64s], Int64s | None]:
        """The values of the kept rows in which each of some is known, and how often each row occurs."""
        columns = [self.ints(value) for value in wanted]
        known = self._always
        for column in columns:
            known = known & column.known
        return self._kept(known, where, *(column.values for column in columns))

    def _sum(self, value: Ints, where: algebra.Pred | None) -> int:
        """The sum of a value over the rows that a filter keeps: no row is copied, the others occur 0 times."""
        kept, times = value.known if where is None else value.known & self.true(where), self.table.times
        return exact_sum(value.values, kept.astype(np.int64) if times is None else kept * times)

    def _kept(
        self, rows: Bools, where: algebra.Pred | None, *columns: Int64s
    ) -> tuple[list[Int64s], Int64s | None]:
        """What some columns hold in those of some rows that a filter keeps, where each occurs at all, and how often."""
        kept, times = rows if where is None else rows & self.true(where), self.table.times
        if times is not None:
            kept = kept & (times > 0)
        if np.count_nonzero(kept) == len(kept):  # to copy whole columns takes longer than to see that
            return list(columns), times
        return [column[kept] for column in columns], None if times is None else times[kept]

    def cells(self, keys: Sequence[algebra.Key]) -> Int64s:
        """The row-major cell of each row; −1 for a row in no cell."""
        cells = np.zeros(self.table.rows, dtype=np.int64)
        inside = self._always
        for key in keys:
            code = self.ints(key.code)
            inside = inside & code.known & (code.values >= 0) & (code.values < key.size)
            cells = np.where(inside, cells * key.size + code.values, 0)
        cells[~inside] = -1
        return cells

    def true(self, predicate: algebra.Pred) -> Bools:
        """Where the predicate is true (not false, not unknown)."""
        return self._kleene(predicate)[0]

    def ints(self, node: algebra.IntExpr) -> Ints:
        """The values of an expression."""
        if node not in self._ints:
            self._ints[node] = self._compute(node)
        return self._ints[node]

    def _compute(self, node: algebra.IntExpr) -> Ints:
        match node:
            case algebra.Col(name):
                return self.table.columns[name]
            case algebra.Lit(value):
                return self._everywhere(value)
            case algebra.Add(a, b):
                return self._both(np.add, a, b)
            case algebra.Sub(a, b):
                return self._both(np.subtract, a, b)
            case algebra.Mul(a, b):
                return self._both(np.multiply, a, b)
            case algebra.FloorDiv(a, k):
                inner = self.ints(a)
                return Ints(inner.values // np.int64(k), inner.known)
            case algebra.Clip(a, lo, hi):
                inner = self.ints(a)
                return Ints(np.minimum(np.maximum(inner.values, np.int64(lo)), np.int64(hi)), inner.known)
            case algebra.Case(algebra.Cmp(_, code), _, _) if len(steps := _steps(node, code)) > 2:
                return self._stepped(code, steps)
            case algebra.Case(cond, then, other):
                return self._choose(cond, self.ints(then), self.ints(other))

    def _everywhere(self, value: int) -> Ints:
        return Ints(np.full(self.table.rows, value, dtype=np.int64), self._always)

    def _both(self, operate: np.ufunc, a: algebra.IntExpr, b: algebra.IntExpr) -> Ints:
        left, right = self.ints(a), self.ints(b)
        return Ints(operate(left.values, right.values), left.known & right.known)

    def _choose(self, cond: algebra.Pred, then: Ints, other: Ints) -> Ints:
        true, false = self._kleene(cond)
        known = (true & then.known) | (false & other.known)
        return Ints(np.where(known, np.where(true, then.values, other.values), 0), known)

    def _stepped(self, code: algebra.IntExpr, steps: Sequence[tuple[int, int]]) -> Ints:
        """Look up each value in a list of steps."""
        column, (starts, values) = self.ints(code), np.array(steps[1:], dtype=np.int64).T
        leaves = np.append(np.int64(steps[0][1]), values)
        return Ints(
            np.where(column.known, leaves[np.searchsorted(starts, column.values, "right")], 0), column.known
        )

    def _kleene(self, node: algebra.Pred) -> tuple[Bools, Bools]:
        """Where the predicate is true, and where it is false."""
        if node not in self._preds:
            self._preds[node] = self._decide(node)
        return self._preds[node]

    def _decide(self, node: algebra.Pred) -> tuple[Bools, Bools]:
        match node:
            case algebra.Cmp(op, a, b):
                left, right = self.ints(a), self.ints(b)
                known = left.known & right.known
                holds = _COMPARE[op](left.values, right.values)
                return known & holds, known & ~holds
            case algebra.And(a, b):
                (at, af), (bt, bf) = self._kleene(a), self._kleene(b)
                return at & bt, af | bf
            case algebra.Or(a, b):
                (at, af), (bt, bf) = self._kleene(a), self._kleene(b)
                return at | bt, af & bf
            case algebra.Not(a):
                true, false = self._kleene(a)
                return false, true
            case algebra.Known(a):
                known = self.ints(a).known
                return known, ~known
            case _:
                return self._always, ~self._always


def shrunk(values: Sequence[Int64s], request: algebra.CrossMoments) -> list[Int64s]:
    """The rows moved into the ball, column by column: the meaning of a :class:`Shrink`."""
    shrink = request.shrink
    assert shrink is not None
    size = np.zeros(len(values[0]), dtype=np.int64)
    for value, half in zip(values, shrink.halves, strict=True):
        if half:
            size += -(-(value * value << algebra.SIZE_BITS) // np.int64(half * half))
    below = np.searchsorted(np.asarray(shrink.limits, dtype=np.int64), size, side="left")
    factor = shrink.steps - below.astype(np.int64)
    moved = [
        np.sign(value) * (np.abs(value) * factor // np.int64(shrink.steps)) if half else value
        for value, half in zip(values, shrink.halves, strict=True)
    ]
    products = map(request.factors, range(len(moved)))
    return [moved[one] * moved[other[0]] if other else moved[one] for one, *other in products]


def _steps(root: algebra.IntExpr, code: algebra.IntExpr) -> list[tuple[int, int]]:
    """Return the steps of a search for a code by halving: where each starts, and its constant. Nothing of any other expression."""
    found: list[tuple[int, int]] = []
    waiting: list[tuple[int, algebra.IntExpr]] = [(-(2**63), root)]
    while waiting:
        start, part = waiting.pop()
        match part:
            case algebra.Lit(value) if not found or found[-1][0] < start:
                found.append((start, value))
            case algebra.Case(algebra.Cmp("<", one, algebra.Lit(bound)), then, other) if one == code:
                waiting += [(bound, other), (start, then)]
            case _:
                return []
    return found


_COMPARE: Record = {"==": np.equal, "<": np.less, "<=": np.less_equal}


def _largest(values: Int64s) -> int:
    return max(-int(_least(values)), int(_most(values)), 1)


def exact_sum(values: Int64s, times: Int64s) -> int:
    """Σ values·times as an exact Python integer."""
    if len(values) and _largest(values) * int(_sum(times)) < _INT63:  # then no partial sum leaves 63 bits
        return int(values @ times)
    return exact_sums(np.zeros(len(values), dtype=np.int64), values, 1, times)[0]


def exact_sums(cells: Int64s, values: Int64s, size: int, times: Int64s | None = None) -> tuple[int, ...]:
    """Σ values·times per cell as exact Python integers.

    The values are cut into digits so small that a binary64 sum of one digit over all rows stays below 2^53: every
    partial sum is then an integer that binary64 holds, whatever the order of addition.
    """
    if not len(values):
        return (0,) * size
    occurrences = len(values) if times is None else int(_sum(times))
    top = _largest(values)
    width = _EXACT_FLOAT_BITS - occurrences.bit_length()
    if top.bit_length() <= width:
        return tuple(int(total) for total in _digit_sums(cells, values, size, times).tolist())
    low = values & np.int64((1 << width) - 1)
    lows = _digit_sums(cells, low, size, times).tolist()
    highs = exact_sums(cells, values >> np.int64(width), size, times)
    return tuple((high << width) + int(rest) for high, rest in zip(highs, lows, strict=True))


def exact_products(
    values: Sequence[Int64s], pairs: Sequence[tuple[int, int]], times: Int64s | None = None
) -> tuple[int, ...]:
    """Σ values[i]·values[j]·times for each pair as exact Python integers.

    Where no partial sum can leave 2^53, a binary64 matrix product holds every one exactly, whatever the order of addition.
    """
    rows = len(values[0])
    if not rows:
        return (0,) * len(pairs)
    top = max(max(abs(int(v.min())), abs(int(v.max()))) for v in values)
    if top * top * (rows if times is None else int(times.sum())) < 2**_EXACT_FLOAT_BITS:
        matrix = np.stack([v.astype(np.float64) for v in values])
        product = (matrix if times is None else matrix * times) @ matrix.T
        return tuple(int(product[i, j]) for i, j in pairs)
    one = np.zeros(rows, dtype=np.int64)
    return tuple(exact_sums(one, values[i] * values[j], 1, times)[0] for i, j in pairs)


def _digit_sums(cells: Int64s, digits: Int64s, size: int, times: Int64s | None) -> NDArray[np.float64]:
    weights = (digits if times is None else digits * times).astype(np.float64)
    return np.asarray(np.bincount(cells, weights=weights, minlength=size), dtype=np.float64)


def tallies(cells: Int64s, values: Int64s, size: int, times: Int64s | None = None) -> tuple[Tally, ...]:
    """Sorted distinct values with their counts, per cell."""
    order = np.lexsort((values, cells))
    cells, values = cells[order], values[order]
    first = np.ones(len(values), dtype=bool)
    first[1:] = (cells[1:] != cells[:-1]) | (values[1:] != values[:-1])
    starts = np.flatnonzero(first)
    if times is None:
        counts = np.diff(np.append(starts, len(values)))
    else:
        counts = np.add.reduceat(times[order], starts) if len(starts) else starts
    return split_tallies(cells[starts], values[starts], counts.astype(np.int64), size)


def split_tallies(cells: Int64s, values: Int64s, counts: Int64s, size: int) -> tuple[Tally, ...]:
    """Cut rows sorted by (cell, value) into one :class:`Tally` per cell."""
    edges = np.searchsorted(cells, np.arange(size + 1))
    pairs = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    return tuple(Tally(values[i:j], counts[i:j]) for i, j in pairs)
