"""Prepared columns and a first opening, beside exact DuckDB on the raw file: the promised ratios."""

from __future__ import annotations

import pytest

from tests.benchmarks import bench_prepared

pytestmark = [pytest.mark.alone, pytest.mark.soak]


def test_two_tables_are_prepared_in_twice_the_join_and_asked_no_slower_than_by_hand():
    """Preparation writes what the join by hand writes: at most twice its processor time, once per data version. Four questions
    of what is prepared, warm: no slower than the exact join of the raw files. A million visits.
    """
    found = bench_prepared.measure(1_000_000)
    assert found["joined"][1] <= 2 * found["by hand"][1]
    assert found["asked"][1] <= found["raw"][1]


def test_a_first_opening_takes_at_most_twice_what_reading_the_file_takes():
    """Ten million rows: read as declared, written, and hashed before and after; beside all columns read by hand."""
    found = bench_prepared.opening(10_000_000)
    assert found["opened"][1] <= 2 * found["read"][1]
