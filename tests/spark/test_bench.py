"""The benchmark of Spark runs, on a table that is no measure of anything."""

from __future__ import annotations

import pytest

from tests.benchmarks.bench_spark import measure


@pytest.mark.soak
def test_the_benchmark_runs():
    """Every way is timed."""
    assert all(value > 0 for value in measure(2_000, 1).values())
