"""Spark keeps the engine's contract."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from hypothesis import HealthCheck, given, settings

from dpnb.datasets.exact_answers import table_of
from tests.contracts.engine import EXTREME, EngineContract, Opened, many
from tests.contracts.expressions import batches, tables
from tests.examples import examples
from tests.spark.over import engine_over


class TestSparkEngine(EngineContract):
    """A copy in Parquet, asked through the dialect. A statement takes Spark a hundred times as long: fewer examples and tables."""

    @classmethod
    def open_engine(cls, columns):
        """An engine over a fresh copy."""
        return engine_over(columns)

    @pytest.fixture(scope="class")
    @classmethod
    def opened(cls):
        """Engines over a large table and an empty one; in the long run over all extreme ones."""
        names = ["many", "empty", "all NULL", "one row, all highest"][: examples(2)]
        assert set(names) <= set(EXTREME)
        with ExitStack() as stack:
            yield Opened(
                (table_of(columns), stack.enter_context(cls.open_engine(columns)))
                for columns in (EXTREME[name] or many() for name in names)
            )

    @settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=examples(3))
    @given(batch=batches)
    def test_equals_the_reference_on_extreme_tables(self, opened, batch):
        """Any batch of admitted expressions has the reference's integers on empty, NULL, extreme and large tables."""
        self.check(opened, batch)

    @settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=examples(3))
    @given(columns=tables, batch=batches)
    def test_equals_the_reference_on_generated_tables(self, columns, batch):
        """Any batch has the reference's integers on any small table."""
        EngineContract.test_equals_the_reference_on_generated_tables.hypothesis.inner_test(
            self, columns, batch
        )
