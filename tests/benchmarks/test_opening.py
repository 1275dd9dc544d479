"""What a first opening takes, beside reading the same file by hand."""

from __future__ import annotations

import pytest

from tests.benchmarks.bench_prepared import opening


@pytest.mark.soak
def test_a_first_opening_takes_at_most_twice_the_processor_time_of_reading():
    """Ten million rows, hashed twice, read, recognised and written: medians of rounds of both in one run (seen: 1.80)."""
    found = opening(10_000_000)
    assert found["opened"][1] <= 2 * found["read"][1]
