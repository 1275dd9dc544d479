"""Keys that are functions of others in a batch share their grouping: a tree's levels are one GROUP BY over its leaves."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from dpnb.datasets.exact_answers import answer
from dpnb.trusted.aggregate.algebra import Cmp, Col, FloorDiv, IntExpr, Key, Lit, Sub, Total
from tests.contracts.engine import many
from tests.curator.engines.test_duckdb import engine_over

LEAF: IntExpr = FloorDiv(Col("income"), 10)
ROWS = Lit(1)
TREE = [Total(ROWS, None, (Key(LEAF, 20_001),))] + [
    Total(ROWS, Cmp("<", Col("age"), Lit(60)), (Key(FloorDiv(LEAF, 2**up), 20_000 // 2**up + 1),))
    for up in (1, 4, 9)
]
CUT = FloorDiv(Sub(Col("income"), Lit(100_000)), 10)
"""Negative for half of the incomes: as a key it holds the others alone."""


@contextlib.contextmanager
def scanning(columns: Mapping[str, Any]) -> Iterator[Any]:
    """An engine that keeps no counts of few codes, so that a statement answers every batch."""
    with engine_over(columns) as engine:
        engine._keeps = False
        yield engine


@pytest.mark.parametrize("batch", [TREE, TREE[::-1]], ids=["leaves first", "leaves last"])
def test_levels_of_a_tree_equal_the_reference(batch: list[Total]) -> None:
    """Whatever the order, every level is the reference's."""
    columns = many()
    with scanning(columns) as engine:
        assert engine.answer(batch) == answer(columns, batch)


def test_levels_of_a_tree_are_one_grouping() -> None:
    """The statement groups by the leaves and by nothing else."""
    with scanning(many()) as engine:
        assert "GROUPING SETS" not in engine.statement(
            [TREE[0], *(Total(t.value, None, t.keys) for t in TREE[1:])]
        )


def test_a_coarser_key_loses_no_row_of_a_key_that_holds_some() -> None:
    """Where the finer key leaves rows out, the coarser one is grouped on its own."""
    columns = many()
    batch = [
        Total(ROWS, None, (Key(CUT, 10_001),)),
        Total(ROWS, None, (Key(Sub(FloorDiv(CUT, 16), Lit(-700)), 1_400),)),
    ]
    with scanning(columns) as engine:
        assert engine.answer(batch) == answer(columns, batch)


def test_one_key_of_two_sizes_in_a_batch_loses_no_row() -> None:
    """The grouping holds the codes of the larger one, whichever is asked first."""
    columns = many()
    sizes = [Total(ROWS, None, (Key(CUT, size),)) for size in (10_001, 50)]
    with scanning(columns) as engine:
        for batch in (sizes, sizes[::-1]):
            assert engine.answer(batch) == answer(columns, batch)


@pytest.mark.parametrize("small", [3, 50])
def test_one_key_of_two_sizes_beyond_a_shared_grouping_counts_no_row_twice(small: int) -> None:
    """A code asked with few cells and with very many is one grouping: each row is in each answer once."""
    columns = many()
    code = FloorDiv(Sub(Col("income"), Lit(7)), 2)
    sizes = [Total(ROWS, None, (Key(code, size),)) for size in (small, 90_000)]
    with scanning(columns) as engine:
        for batch in (sizes, sizes[::-1], [*sizes, Total(ROWS, None, ())]):
            assert engine.answer(batch) == answer(columns, batch)


def test_a_key_of_part_of_another_key_that_leaves_rows_out_keeps_them() -> None:
    """Inside a longer key an expression is read from an axis only where that axis holds all of its values."""
    columns = many()
    part = Sub(Col("age"), Lit(3))
    batch = [Total(ROWS, None, (Key(part, 4),)), Total(ROWS, None, (Key(FloorDiv(part, 2), 50),))]
    with scanning(columns) as engine:
        for asked in (batch, batch[::-1]):
            assert engine.answer(asked) == answer(columns, asked)


def test_a_key_of_many_cells_is_not_read_from_the_few_cells_of_another() -> None:
    """A code asked with few cells leaves rows out; asked with many beside it, it is read from the columns themselves."""
    columns = many()
    code = Sub(Col("age"), Lit(3))
    few, most = Key(code, 4), Key(code, 1_000)
    batch = [Total(ROWS, None, (few,)), Total(ROWS, None, (most,)), Total(ROWS, None, (few, most))]
    with scanning(columns) as engine:
        for asked in (batch, batch[::-1], batch[:2], batch[1:]):
            assert engine.answer(asked) == answer(columns, asked)
