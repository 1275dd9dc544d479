"""PostgreSQL's promised ratio, with a server of its own."""

from __future__ import annotations

import pytest

from tests.benchmarks.bench_postgres import measure

pytestmark = pytest.mark.alone


@pytest.mark.soak
def test_a_batch_is_as_fast_as_the_servers_own_exact_queries():
    """10^6 rows: at most 1.3 times the exact queries on the raw table, whichever way they are written."""
    found = measure(1_000_000)
    assert found["engine"] <= 1.3 * min(found["raw"], found["raw at once"])
