"""What every engine must do: equal the numpy reference bit for bit, and never raise on data."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from dpnb.datasets.exact_answers import answer, table_of
from dpnb.trusted.aggregate.algebra import (
    Add,
    Case,
    Clip,
    Cmp,
    Col,
    CrossMoments,
    FloorDiv,
    Key,
    Known,
    Lit,
    Mul,
    Not,
    Shrink,
    Sub,
    Total,
    ValueCounts,
)
from tests.contracts.expressions import SIZES, batches, tables
from tests.examples import examples

EXTREME = {
    "empty": {name: [] for name in SIZES},
    "all NULL": {name: [None] * 5 for name in SIZES},
    "one row, all highest": {
        name: [None if name == "only_null" else size - 1] for name, size in SIZES.items()
    },
    "many": None,
}


def many(rows=3000, seed=7):
    """A table of every kind of column, a fifth of it missing."""
    rng = np.random.default_rng(seed)
    table = {}
    for name, size in SIZES.items():
        known = rng.random(rows) < (0 if name == "only_null" else 0.8)
        codes = rng.integers(0, size, rows)
        table[name] = [int(code) if here else None for code, here in zip(codes, known, strict=True)]
    return table


def as_lists(answers):
    """Answers as plain lists, so that == compares every number and its type."""
    return [
        [[cell.values.tolist(), cell.counts.tolist()] if hasattr(cell, "counts") else cell for cell in found]
        for found in answers
    ]


class Opened(tuple):
    """Pairs of a table and an engine over it, with a short repr for failure reports."""

    __slots__ = ()

    def __repr__(self):
        return f"{len(self)} engines"


OF_EVERY_ENGINE = (HealthCheck.too_slow, HealthCheck.differing_executors)
"""One method is the test of several engines, also in one process: each draws its examples anew, and none is kept from another."""


class EngineContract:
    """Subclass it and give ``open_engine(columns)`` as a context manager."""

    @classmethod
    def open_engine(cls, columns):
        """An engine over these columns (lists of integers and None), as a context manager."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def opened(cls):
        """Engines over the extreme tables, opened once."""
        with ExitStack() as stack:
            yield Opened(
                (table_of(columns), stack.enter_context(cls.open_engine(columns)))
                for columns in (rows or many() for rows in EXTREME.values())
            )

    @settings(
        suppress_health_check=[*OF_EVERY_ENGINE, HealthCheck.function_scoped_fixture],
        deadline=None,
        max_examples=examples(20),
    )
    @given(batch=batches)
    def test_equals_the_reference_on_extreme_tables(self, opened, batch):
        """Any batch of admitted expressions has the reference's integers on empty, NULL, extreme and large tables."""
        self.check(opened, batch)

    @settings(suppress_health_check=OF_EVERY_ENGINE, deadline=None, max_examples=examples(6))
    @given(columns=tables, batch=batches)
    def test_equals_the_reference_on_generated_tables(self, columns, batch):
        """Any batch has the reference's integers on any small table."""
        with self.open_engine(columns) as engine:
            for engine._short in (False, True):
                assert as_lists(engine.answer(batch)) == as_lists(answer(table_of(columns), batch))

    def check(self, opened, batch, *, short=False):
        """Engine and reference agree on every table, as if it were a long one of which little is counted, or as the short one that it is."""
        for table, engine in opened:
            engine._short = short
            assert as_lists(engine.answer(batch)) == as_lists(answer(table, batch))

    def test_a_row_with_one_unknown_key_counts_where_that_key_is_not_used(self, opened):
        """NULL in one key removes a row from the totals that use the key, and from no other."""
        flag, g = Key(Col("flag"), 2), Key(Col("g"), 7)
        self.check(opened, [Total(Lit(1), None, keys) for keys in [(), (flag,), (g,), (flag, g), (g, flag)]])

    def test_codes_outside_a_key_are_in_no_cell(self, opened):
        """A code below 0 or beyond the declared cells adds to none of them."""
        shifted = Sub(Col("age"), Lit(50))
        key = Key(shifted, 20)
        where = Cmp("==", shifted, Lit(33))
        self.check(opened, [Total(Lit(1), None, (key,)), Total(shifted, where), Total(Lit(1), where, (key,))])
        wide = Key(FloorDiv(Sub(Col("wide"), Lit(2**39)), 2**33), 5)
        outside = Cmp("<", wide.code, Lit(0))
        self.check(opened, [Total(Lit(1), None, (wide,)), Total(Lit(1), outside), Total(wide.code, None)])
        values = (Col("age"), Col("wide"))
        keys = [(key,), (wide,), (Key(Col("flag"), 2), key), (Key(Col("flag"), 2), wide)]
        self.check(opened, [ValueCounts(value, None, both) for value in values for both in keys])

    def test_sums_beyond_64_bits_are_exact(self, opened):
        """A sum of values near 2^62 is exact, ungrouped and grouped, whatever its sign."""
        huge = Mul(Col("wide"), Lit(2**21))
        negative = Sub(Lit(-1), huge)
        self.check(opened, [Total(v, None, k) for v in (huge, negative) for k in [(), (Key(Col("g"), 7),)]])

    def test_cross_moments_are_exact_in_every_pair(self, opened):
        """A row counts where every value is known; sums beyond 64 bits, constants and squares are exact."""
        age, income = Sub(Col("age"), Lit(50)), Sub(Lit(7), Col("income"))
        values = (Lit(1), age, income, Mul(Col("wide"), Lit(2**4)))
        pairs = tuple((i, j) for i in range(4) for j in range(3))
        older = Cmp("<", Lit(30), Col("age"))
        requests = [CrossMoments(values[:3], pairs[:9], where) for where in (None, Known(age), older)]
        self.check(opened, [*requests, CrossMoments(values, pairs), CrossMoments(values, pairs[5:7])])

    def test_rows_are_moved_into_a_ball_toward_zero(self, opened):
        """A shrunk row has the reference's integers: no side of zero is rounded away from it, no constant is moved."""
        age, income = Sub(Col("age"), Lit(50)), FloorDiv(Sub(Col("income"), Lit(100_000)), 10)
        pairs = tuple((i, j) for i in range(3) for j in range(i, 3))
        for limits in [(2**18,), (0, 1, 2**20), tuple(2**20 * k // 7 for k in range(1, 12))]:
            shrink = Shrink((0, 51, 10_001), limits, 13)
            self.check(opened, [CrossMoments((Lit(1), age, income), pairs, None, shrink)])

    def test_products_of_moved_values_are_products_of_what_they_were_moved_to(self, opened):
        """A product that is left out of the ball has its factors' moved values, one that is no product of two moved ones its own."""
        age, income = Sub(Col("age"), Lit(50)), FloorDiv(Sub(Col("income"), Lit(100_000)), 10)
        values = (Mul(income, age), Lit(1), age, income, Mul(age, age), Mul(age, Lit(2)))
        pairs = tuple((i, j) for i in range(6) for j in range(i, 6))
        for limits in [(0, 1, 2**20), tuple(2**20 * k // 7 for k in range(1, 12))]:
            shrink = Shrink((0, 0, 51, 10_001, 0, 0), limits, 13)
            self.check(opened, [CrossMoments(values, pairs, None, shrink)])

    def test_division_is_towards_minus_infinity(self, opened):
        """Negative values are floored, not truncated."""
        value = FloorDiv(Sub(Col("income"), Lit(100_000)), 7)
        self.check(opened, [Total(value), ValueCounts(FloorDiv(Sub(Col("age"), Lit(50)), 7))])

    def test_an_unknown_condition_gives_an_unknown_value(self, opened):
        """A Case whose condition is unknown is NULL, and adds nothing."""
        value = Case(Cmp("<", Col("age"), Lit(30)), Col("income"), Lit(10))
        self.check(opened, [Total(value), Total(Lit(1), Known(value)), Total(Lit(1), Not(Known(value)))])

    def test_batches_whose_joint_cells_are_too_many_are_still_exact(self, opened):
        """Keys that cannot share one grouping are served by several, in one statement."""
        by_age, by_g = Key(Col("age"), 101), Key(Col("g"), 7)
        by_income, by_wide = Key(FloorDiv(Col("income"), 10), 20_001), Key(FloorDiv(Col("wide"), 2**28), 4097)
        groups = [(), (by_age,), (by_income,), (by_wide,), (by_g, by_wide), (by_age, by_g)]
        small = Cmp("==", Col("flag"), Lit(1))
        self.check(opened, [Total(Col("income"), w, k) for k in groups for w in (None, small)])

    def test_deep_clips_do_not_grow_the_statement_exponentially(self, opened):
        """Sixty nested clips, each of which mentions its argument three times, are answered."""
        value = Col("income")
        for depth in range(60):
            value = Clip(Add(value, Lit(depth % 3 - 1)), depth, 199_900 - depth)
        self.check(opened, [Total(value), Total(value, Cmp("<", value, Lit(500)))])

    def test_an_empty_batch_has_no_answers(self, opened):
        """No request, no answer, no error."""
        self.check(opened, [])

    def test_repeated_requests_are_answered_in_their_places(self, opened):
        """A request that occurs twice is answered twice, in the order asked."""
        one, other = Total(Col("age")), ValueCounts(Col("age"))
        self.check(opened, [one, other, one, Total(Lit(1)), other])
