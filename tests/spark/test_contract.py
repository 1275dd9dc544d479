"""Spark keeps the engine's contract."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from tests.contracts.engine import EngineContract
from tests.contracts.expressions import batches, tables
from tests.examples import examples
from tests.spark.over import engine_over


class TestSparkEngine(EngineContract):
    """A copy in Parquet, asked through the dialect. A statement takes Spark a hundred times as long: fewer examples."""

    @classmethod
    def open_engine(cls, columns):
        """An engine over a fresh copy."""
        return engine_over(columns)

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
