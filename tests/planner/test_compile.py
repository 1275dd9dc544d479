"""The compiler against a second reading of the language, on random expressions and extreme rows."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from dpnb.datasets.exact_answers import answer
from dpnb.errors import PlanError, SchemaError
from dpnb.planner import expression as e
from dpnb.planner.compile import cells, condition, numeric
from dpnb.statistics import Numeric
from dpnb.trusted.aggregate.algebra import Col, Key, Lit, Total, ValueCounts
from dpnb.trusted.measurements import Facts
from tests.planner.expressions import SCHEMA, codes, conditions, numbers, times_itself, values
from tests.planner.meaning import meaning

FACTS = Facts.of(SCHEMA)
NOBODY: dict[str, int | None] = {
    column.name: None if column.drops else column.size - 1 for column in SCHEMA.columns
}
SINCE, BETWEEN = (
    e.BinOp("-", day, e.Ref(until))
    for day, until in ((e.Const("2019-12-30"), "day"), (e.Ref("day"), "until"))
)


def one(row: dict[str, int | None], value: Any, where: Any = None) -> int | None:
    """The integer that a program gives on one row, or None."""
    columns = {name: [code] for name, code in row.items()}
    tally = answer(columns, [ValueCounts(value, where, ())])[0][0]
    return int(tally.values[0]) if len(tally.values) else None


@given(numbers, codes())
@example(times_itself(e.Ref("score"), Fraction(3, 5)), NOBODY)
@example(SINCE, NOBODY)
@example(BETWEEN, NOBODY)
def test_numbers_mean_what_they_say(expr: e.Expr, row: dict[str, int | None]) -> None:
    """A compiled number equals its exact rational value, is missing where that is missing, and stays in the range that the curator derives."""
    try:
        found = numeric(expr, SCHEMA)
    except PlanError:
        assume(False)
        raise
    assert (found.low, found.high) == FACTS.ends(found.code)
    code, said = one(row, found.code), meaning(expr, values(row))
    assert (code is None) == (said is None)
    if code is not None and said is not None:
        assert found.low <= code <= found.high
        assert found.offset + found.step * code == Fraction(said)
    if not found.nullable:
        assert code is not None


def test_a_number_is_centred_once_and_a_pickle_does_not_hold_it() -> None:
    """Asked again it is the value that was kept; neither equality nor a pickle knows of it."""
    first, second = (Numeric(Col("x"), Fraction(0), Fraction(1, 2), 0, high, False) for high in (9, 10))
    before = pickle.dumps(first)
    centred = first.centred()
    assert first.centred() is centred
    assert (centred.half, second.centred().half) == (9, 5)
    assert pickle.dumps(first) == before
    read = pickle.loads(before)
    assert (read, read.centred()) == (first, centred)


@given(conditions, codes())
@example(e.Compare("==", e.Ref("age"), SINCE), NOBODY)
@example(e.Compare("==", e.Ref("age"), BETWEEN), NOBODY)
def test_conditions_are_kleene(expr: e.Expr, row: dict[str, int | None]) -> None:
    """A compiled condition is true, false or unknown exactly where the exact reading is."""
    try:
        found = condition(expr, SCHEMA)
    except PlanError:
        assume(False)
        raise
    columns = {name: [code] for name, code in row.items()}
    from dpnb.trusted.aggregate.algebra import Not

    true, false = (answer(columns, [Total(Lit(1), pred, ())])[0][0] for pred in (found.pred, Not(found.pred)))
    said = meaning(expr, values(row))
    assert (true, false) == {True: (1, 0), False: (0, 1), None: (0, 0)}[said]
    if not found.nullable:
        assert said is not None


@given(st.lists(st.integers(-10, 120), min_size=2, max_size=6, unique=True).map(sorted), st.integers(0, 100))
def test_bins_are_half_open_and_the_last_one_is_closed(edges: list[int], age: int) -> None:
    """An age falls in the bin whose edges hold it, and outside them in none."""
    found = cells(e.Bin(e.Ref("age"), tuple(edges)), SCHEMA)
    counts = answer({"age": [age]}, [Total(Lit(1), None, (Key(found.key.code, found.key.size),))])[0]
    expected = [int(a <= age < b or (b == edges[-1] and age == b)) for a, b in itertools.pairwise(edges)]
    assert list(counts) == expected
    assert found.partial or sum(expected) == 1


@given(numbers, codes(), st.integers(-50, 50), st.integers(0, 60))
def test_clip_moves_into_the_bounds_on_the_grid(
    expr: e.Expr, row: dict[str, int | None], low: int, width: int
) -> None:
    """A clipped number is the nearest grid value inside the clip's bounds."""
    try:
        inner, found = numeric(expr, SCHEMA), numeric(e.ClipTo(expr, low, low + width), SCHEMA)
    except PlanError:
        assume(False)
        raise
    code, before = one(row, found.code), one(row, inner.code)
    assert (code is None) == (before is None)
    if code is not None and before is not None:
        value, said = found.offset + found.step * code, inner.offset + inner.step * before
        assert low <= value <= low + width
        if low <= said <= low + width:
            assert value == said
        else:
            assert abs(value - min(max(said, low), low + width)) < found.step


@pytest.mark.parametrize(
    ("expr", "words"),
    [
        (e.Ref("agee"), "Did you mean age?"),
        (e.Ref("state"), "Ask .value_counts()"),
        (e.BinOp("/", e.Ref("age"), e.Const(0)), "Division by zero"),
        (e.BinOp("/", e.Ref("age"), e.Ref("sex")), "divided by a non-zero constant only"),
        (e.ClipTo(e.Ref("age"), 200, 300), "leaves no grid point"),
        (e.Compare("==", e.Ref("sex"), e.Const(2)), "sex is declared 0/1"),
        (e.Compare("==", e.Ref("state"), e.Const("TX")), "it has no value 'TX'"),
        (e.Compare("<", e.Ref("state"), e.Const(1)), "category without numbers"),
        (e.BoolOp("and", e.Ref("age"), e.Ref("sex")), "is not a condition"),
        (e.IsIn(e.Ref("age"), ()), "name at least one value"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_the_fix(expr: e.Expr, words: str) -> None:
    """Public mistakes are found before any charge, in one short sentence."""
    with pytest.raises((PlanError, SchemaError)) as caught:
        numeric(expr, SCHEMA)
    assert words in str(caught.value)


def test_a_missing_constant_stays_missing() -> None:
    """A choice between two zeros is missing where its condition is unknown, also as a term or a factor."""
    nothing = e.Where(e.Between(e.Ref("age"), 1, 1), e.Const(0), e.Const(0))
    row: dict[str, int | None] = dict.fromkeys(SCHEMA.names, 0) | {"age": None}
    for sign in "+-*":
        found = numeric(e.BinOp(sign, e.Ref("pay"), nothing), SCHEMA)
        assert found.nullable
        assert one(row, found.code) is None


def test_a_range_beyond_62_bits_is_refused() -> None:
    """Nine factors of a hundred and a finer grid leave 62 bits: refused, not wrapped around."""
    expr: e.Expr = e.Ref("score")
    for _ in range(3):
        expr = e.BinOp("*", expr, e.Ref("score"))
    with pytest.raises(PlanError, match="too wide a range"):
        numeric(expr, SCHEMA)


@pytest.mark.parametrize(
    ("edges", "words"), [((1,), "at least two"), ((3, 2), "increasing"), ((1, 1), "increasing")]
)
def test_bad_edges_are_refused(edges: tuple[int, ...], words: str) -> None:
    """Bins need increasing edges."""
    with pytest.raises(PlanError, match=words):
        cells(e.Bin(e.Ref("age"), edges), SCHEMA)
