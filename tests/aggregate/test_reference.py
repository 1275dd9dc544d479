"""The numpy evaluator means what the algebra says: equal to a row-at-a-time evaluation in Python's own integers."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpnb.datasets.exact_answers import answer, ints_of, table_of
from dpnb.trusted.aggregate.algebra import (
    Add,
    And,
    Case,
    Clip,
    Cmp,
    Col,
    CrossMoments,
    FloorDiv,
    Key,
    Known,
    LabelSums,
    Lit,
    Mul,
    Not,
    Or,
    Sub,
    Total,
    TrueP,
    ValueCounts,
    bounds,
    columns_of,
    conjunction,
    conjuncts,
    substitute,
)
from dpnb.trusted.aggregate.reference import Evaluator, exact_sums
from tests.contracts.expressions import RANGES, SIZES, batches, integers_of, predicates_of, tables


def value(node, row):
    """An expression on one row, in Python's unbounded integers; None is NULL."""
    match node:
        case Col(name):
            return row[name]
        case Lit(n):
            return n
        case Case(cond, then, other):
            decided = truth(cond, row)
            return None if decided is None else value(then if decided else other, row)
        case FloorDiv(a, k):
            return None if (x := value(a, row)) is None else x // k
        case Clip(a, lo, hi):
            return None if (x := value(a, row)) is None else min(max(x, lo), hi)
    x, y = value(node.a, row), value(node.b, row)
    if x is None or y is None:
        return None
    return {Add: x + y, Sub: x - y, Mul: x * y}[type(node)]


def truth(node, row):
    """A predicate on one row: True, False or None for unknown."""
    match node:
        case TrueP():
            return True
        case Known(a):
            return value(a, row) is not None
        case Not(a):
            return None if (p := truth(a, row)) is None else not p
        case Cmp(op, a, b):
            x, y = value(a, row), value(b, row)
            return None if x is None or y is None else {"==": x == y, "<": x < y, "<=": x <= y}[op]
    p, q = truth(node.a, row), truth(node.b, row)
    wins = isinstance(node, Or)
    if wins in (p, q):
        return wins
    return None if None in (p, q) else not wins


def in_the_ball(row, request):
    """A row of integers after its shrink, in fractions and Python's truncation; a product of two moved values that is left out is theirs."""
    shrink, values = request.shrink, request.values
    sized = [(x, half) for x, half in zip(row, shrink.halves, strict=True) if half]
    size = sum(math.ceil(Fraction(2**20 * x * x, half * half)) for x, half in sized)
    factor = Fraction(shrink.steps - sum(limit < size for limit in shrink.limits), shrink.steps)
    moved = [math.trunc(x * factor) if half else x for x, half in zip(row, shrink.halves, strict=True)]
    places = {value: place for place, value in enumerate(values) if shrink.halves[place]}

    def product(place):
        one = values[place]
        if shrink.halves[place] or not isinstance(one, Mul) or {one.a, one.b} - set(places):
            return moved[place]
        return moved[places[one.a]] * moved[places[one.b]]

    return [product(place) for place in range(len(values))]


def products_by_rows(rows, request):
    """Cross moments, row at a time."""
    sums = [0] * len(request.pairs)
    for row in rows:
        kept = request.where is None or truth(request.where, row) is True
        found = [value(node, row) for node in request.values]
        if not kept or None in found:
            continue
        moved = found if request.shrink is None else in_the_ball(found, request)
        sums = [total + moved[i] * moved[j] for total, (i, j) in zip(sums, request.pairs, strict=True)]
    return tuple(sums)


def labels_by_rows(rows, request):
    """Each label with its rows and its sums, row at a time."""
    found = {}
    for row in rows:
        label, values = ([value(node, row) for node in nodes] for nodes in (request.label, request.values))
        if None in label + values or (request.where is not None and truth(request.where, row) is not True):
            continue
        had = found.get(tuple(label), [0] * (1 + len(values)))
        found[tuple(label)] = [total + x for total, x in zip(had, (1, *values), strict=True)]
    return sorted((label, *totals) for label, totals in found.items())


def by_rows(columns, request):
    """A request's answer, row at a time."""
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    if isinstance(request, LabelSums):
        return labels_by_rows(rows, request)
    if isinstance(request, CrossMoments):
        return products_by_rows(rows, request)
    cells = {cell: Counter() for cell in product(*(range(key.size) for key in request.keys))}
    for row in rows:
        cell = tuple(value(key.code, row) for key in request.keys)
        kept = request.where is None or truth(request.where, row) is True
        if kept and cell in cells and (x := value(request.value, row)) is not None:
            cells[cell][x] += 1
    if isinstance(request, Total):
        return tuple(sum(x * n for x, n in found.items()) for found in cells.values())
    return [(sorted(found), [found[x] for x in sorted(found)]) for found in cells.values()]


def plain(request, found):
    """An answer as Python integers."""
    if isinstance(request, Total | CrossMoments):
        return found
    if isinstance(request, LabelSums):
        return list(zip(found.labels, found.counts, *found.sums, strict=True))
    return [(cell.values.tolist(), cell.counts.tolist()) for cell in found]


@given(columns=tables, batch=batches)
def test_every_request_means_what_it_says_row_by_row(columns, batch):
    """Totals and value counts equal the sum over rows, one at a time, in unbounded integers."""
    for request, found in zip(batch, answer(table_of(columns), batch), strict=True):
        assert plain(request, found) == by_rows(columns, request)


SEARCHES = st.recursive(
    st.integers(-5, 5).map(Lit),
    lambda below: st.builds(
        Case,
        st.builds(
            Cmp,
            st.sampled_from(["<", "<", "<", "<="]),
            st.sampled_from([Col("g")] * 9 + [Col("age")]),
            st.integers(-2, 9).map(Lit),
        ),
        below,
        below,
    ),
    max_leaves=6,
)
"""Choices among constants by where a code lies: searches by halving, and what only looks like one."""


def halved(starts, first):
    """A search by halving, as bins are written."""
    if not starts:
        return Lit(first)
    middle = len(starts) // 2
    lower, upper = halved(starts[:middle], first), halved(starts[middle + 1 :], first + middle + 1)
    return Case(Cmp("<", Col("g"), Lit(starts[middle])), lower, upper)


@given(
    columns=tables, node=st.one_of(SEARCHES, st.sets(st.integers(-2, 9)).map(lambda s: halved(sorted(s), -1)))
)
def test_a_search_by_halving_finds_what_its_comparisons_say(columns, node):
    """In order and out of it, with repeated limits, of one code and of two: looked up at once where it is a search, and only there."""
    table = table_of(columns)
    found = Evaluator(table).ints(node).tolist()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    assert found == [value(node, row) for row in rows]


def test_a_search_is_looked_up_at_once(monkeypatch):
    """Fifty bins are one look-up in a sorted list, not fifty comparisons of each row."""
    compared = []
    monkeypatch.setattr(Evaluator, "_decide", lambda *given: compared.append(given))
    table = table_of({"g": [3, None, 77, 0, 50]})
    found = Evaluator(table).ints(halved(list(range(50)), -1)).tolist()
    assert found == [3, None, 49, 0, 49]
    assert not compared


@given(columns=tables, node=integers_of(3))
def test_no_value_leaves_its_bounds(columns, node):
    """Interval analysis is never too narrow."""
    low, high = bounds(node, RANGES)
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    assert all(low <= x <= high for x in (value(node, row) for row in rows) if x is not None)


def test_the_bounds_of_a_square_start_at_zero():
    """The same expression times itself cannot be negative."""
    centred = Sub(Col("age"), Lit(40))
    assert bounds(Mul(centred, centred), {"age": (0, 100)}) == (0, 3600)
    assert bounds(Mul(Col("age"), Col("age")), {"age": (2, 100)}) == (4, 10_000)


@given(columns=tables, batch=batches, times=st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_a_row_that_occurs_n_times_counts_n_times(columns, batch, times):
    """A table with multiplicities has the answers of the table with repeated rows."""
    times = times[: len(columns["g"])]
    repeated = {
        name: [v for v, n in zip(column, times, strict=True) for _ in range(n)]
        for name, column in columns.items()
    }
    weighted = table_of(columns, times=np.array(times, dtype=np.int64))
    pairs = zip(answer(weighted, batch), answer(table_of(repeated), batch), batch, strict=True)
    assert all(plain(request, one) == plain(request, other) for one, other, request in pairs)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(-(2**62), 2**62), st.integers(1, 2**36)), max_size=30),
    st.booleans(),
)
def test_sums_are_exact_integers_of_any_size(rows, weighted):
    """Values near 2^62 that occur 2^36 times sum to the exact integer."""
    cells, values, times = (np.array([row[i] for row in rows], dtype=np.int64) for i in range(3))
    expected = [0, 0, 0]
    for cell, x, n in rows:
        expected[cell] += x * (n if weighted else 1)
    assert exact_sums(cells, values, 3, times if weighted else None) == tuple(expected)


@given(predicate=predicates_of(3), columns=tables)
def test_splitting_a_filter_keeps_the_same_rows(predicate, columns):
    """A row is kept where every part of a conjunction is true."""
    whole, parts = Total(Lit(1), predicate), Total(Lit(1), conjunction(conjuncts(predicate)))
    assert answer(table_of(columns), [whole]) == answer(table_of(columns), [parts])


@given(node=integers_of(3))
def test_substituting_a_column_for_itself_changes_nothing(node):
    """Substitution rebuilds an equal expression, and reads no other columns."""
    assert substitute(node, {Col(name): Col(name) for name in SIZES}) == node
    renamed = substitute(node, {Col(name): Col(name + "!") for name in SIZES})
    assert columns_of(renamed) == {name + "!" for name in columns_of(node)}


def test_masked_arrays_lists_and_arrays_are_one_column():
    """A column can be given in each of numpy's and Python's ways."""
    for column in ([1, None, 3], np.ma.MaskedArray([1, 9, 3], mask=[False, True, False])):
        assert ints_of(column).tolist() == [1, None, 3]
    assert ints_of(np.array([1, 2], dtype=np.uint8)).tolist() == [1, 2]


def test_nodes_that_could_fail_on_data_cannot_be_written():
    """Division by zero or a negative constant, and an empty clip, are refused when they are built."""
    for build in (
        lambda: FloorDiv(Col("x"), 0),
        lambda: FloorDiv(Col("x"), -1),
        lambda: Clip(Col("x"), 2, 1),
    ):
        with pytest.raises(ValueError):
            build()


def test_equal_expressions_are_equal_values():
    """Nodes are frozen values: equal when written equally, usable as keys."""
    one, other = (And(Cmp("<", Col("x"), Lit(3)), Known(Col("y"))) for _ in range(2))
    assert one == other
    assert len({one, other}) == 1
    assert ValueCounts(Col("x")) != Total(Col("x"))
    assert Key(Col("x"), 2) != Key(Col("x"), 3)


def test_what_is_always_known_cannot_be_written_over():
    """One array of truths stands in every literal and filter of a table: who changed it would change later answers."""
    evaluator = Evaluator(table_of({"x": [1, 2, None]}))
    assert evaluator.answer(Total(Lit(1))) == (3,)
    for shared in (evaluator.ints(Lit(1)).known, evaluator.true(TrueP())):
        with pytest.raises(ValueError, match="read-only"):
            shared[0] = False
    assert evaluator.answer(Total(Lit(1))) == (3,)
