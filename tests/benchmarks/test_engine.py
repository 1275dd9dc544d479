"""The engine's promised ratios, on a table that an ordinary test run can afford."""

from __future__ import annotations

import pytest

from tests.benchmarks.bench_engine import measure

pytestmark = pytest.mark.alone


@pytest.mark.soak
def test_a_warm_batch_is_as_fast_as_the_same_by_hand():
    """10^7 rows: no slower than the raw floats by hand, at most 1.5 times the same integers by hand."""
    found = measure(10_000_000)
    assert found["engine"] <= min(found["raw"], found["raw at once"])
    assert found["engine"] <= 1.5 * min(found["integers"], found["integers at once"])
