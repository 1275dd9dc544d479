"""Hypothesis strategies: a small table with awkward columns, and expressions over it."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from dpnb.planner import expression as e
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema

SCHEMA = Schema(
    "t",
    "Awkward columns",
    (
        Column.integer("age", 0, 100),
        Column.integer("odd", -3, 4),
        Column.number("pay", Fraction(1, 10), 10, step=Fraction(1, 10), missing=Fraction(1, 2)),
        Column.number("score", -1, 1),
        Column.category("sex", [0, 1]),
        Column.category("state", ["CA", "NY", "ß"]),
        Column.dates("day", "2019-12-30", "2024-03-02"),
        Column.dates("until", "1999-12-01", "2024-03-01", missing="2000-02-29"),
        Column.dates("month", "2019-11-01", "2024-03-01", step="month"),
        Column.dates("at", "2023-12-30 22:30", "2024-03-02", kind="datetime"),
    ),
    PrivacyUnit("add-remove"),
    Budget.from_toml({"epsilon": 10}),
)
NUMBERS = ("age", "odd", "pay", "score", "sex")

constants = st.one_of(
    st.integers(-200, 200),
    st.fractions(-20, 20, max_denominator=20),
    st.sampled_from([0.1, -0.5, 1e-3, 10**9, -(10**9)]),
).map(e.Const)
DAYS = ("2019-12-30", "2020-02-29", "2020-03-01", "2021-01-01", "2024-02-29", "1970-01-01", "2100-01-01")
parts = st.one_of(
    st.builds(
        e.Part, st.sampled_from(["year", "month", "weekday"]), st.sampled_from(["day", "at"]).map(e.Ref)
    ),
    st.builds(e.Part, st.sampled_from(["year", "month"]), st.just(e.Ref("month"))),
    st.just(e.Part("hour", e.Ref("at"))),
    st.just(e.BinOp("-", e.Ref("day"), e.Ref("until"))),
    st.builds(lambda day: e.BinOp("-", e.Const(day), e.Ref("day")), st.sampled_from(DAYS)),
)
leaves: Any = st.one_of(st.sampled_from(NUMBERS).map(e.Ref), constants, parts)


def _numbers(inner: Any) -> Any:
    small = st.one_of(
        st.integers(1, 9), st.integers(-9, -1), st.fractions(Fraction(1, 9), 5, max_denominator=9)
    )
    return st.one_of(
        st.builds(e.BinOp, st.sampled_from("+-*"), inner, inner),
        st.builds(times_itself, inner, small),
        st.builds(e.BinOp, st.sampled_from(["/", "//"]), inner, small.map(e.Const)),
        st.builds(e.Neg, inner),
        st.builds(e.Where, conditions_over(inner), inner, inner),
        conditions_over(inner),
    )


def times_itself(number: e.Expr, factor: int | Fraction) -> e.Expr:
    """A number times a multiple of itself: its code is squared, though the two expressions differ."""
    return e.BinOp("*", number, e.BinOp("*", number, e.Const(factor)))


def conditions_over(inner: Any) -> Any:
    """Conditions over numbers: comparisons, lists, ranges, missing, categories, and Kleene combinations of two."""
    simple = st.one_of(
        st.builds(
            e.Compare,
            st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
            st.sampled_from(NUMBERS).map(e.Ref),
            inner,
        ),
        st.builds(
            lambda a, vs: e.IsIn(a, tuple(vs)),
            st.sampled_from(("age", "odd")).map(e.Ref),
            st.lists(st.integers(-5, 30), min_size=1, max_size=3),
        ),
        st.builds(e.Between, st.sampled_from(NUMBERS).map(e.Ref), st.integers(-5, 50), st.integers(-5, 50)),
        st.builds(
            e.Compare,
            st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
            st.sampled_from(["day", "until", "at"]).map(e.Ref),
            st.sampled_from(DAYS).map(e.Const),
        ),
        st.builds(
            lambda days: e.Between(e.ClipTo(e.Ref("until"), "2000-01-01", "2021-01-01"), *sorted(days)),
            st.lists(st.sampled_from(DAYS), min_size=2, max_size=2),
        ),
        st.builds(e.Compare, st.sampled_from(["<", "=="]), st.just(e.Ref("day")), st.just(e.Ref("until"))),
        st.builds(e.IsMissing, st.sampled_from(("age", "sex", "state")).map(e.Ref)),
        st.builds(
            e.Compare,
            st.sampled_from(["==", "!="]),
            st.just(e.Ref("state")),
            st.sampled_from(["CA", "ß"]).map(e.Const),
        ),
    )
    both = st.builds(e.BoolOp, st.sampled_from(["and", "or"]), simple, simple)
    return st.one_of(simple, both, st.builds(e.Invert, both))


numbers: Any = st.recursive(leaves, _numbers, max_leaves=6)
conditions: Any = conditions_over(leaves)


@st.composite
def codes(draw: Any) -> dict[str, int | None]:
    """A prepared row: a code for every column, or None where it is missing and may be."""
    row: dict[str, int | None] = {}
    for column in SCHEMA.columns:
        code = st.one_of(st.sampled_from([0, column.size - 1]), st.integers(0, column.size - 1))
        row[column.name] = draw(st.one_of(st.none(), code) if column.drops else code)
    return row


def values(row: dict[str, int | None]) -> dict[str, Any]:
    """The declared values of a prepared row; integers on halved grids are rounded up to whole ones."""
    found: dict[str, Any] = {}
    for column in SCHEMA.columns:
        code = row[column.name]
        if code is None:
            found[column.name] = None
        elif column.calendar is not None:
            whole = (code + 1) // 2 * 2 if column.halved else code
            found[column.name] = dt.datetime.fromisoformat(str(column.value_of(whole)))
        elif column.type == "integer" and column.halved:
            found[column.name] = Fraction(column.value_of((code + 1) // 2 * 2))
        else:
            value = column.value_of(code)
            found[column.name] = value if isinstance(value, str) else Fraction(value)
    return found
