"""What a class waits for costs no more than so many times what it cannot do without."""

from __future__ import annotations

import pytest

from tests.benchmarks import bench_class

pytestmark = pytest.mark.alone


def test_a_thousand_columns_are_planned_about_as_fast_as_ten():
    """Seen: 18 s, a hundred times a narrow table of as many cells. Now about four times."""
    found = bench_class.attaching()
    print(found)
    assert found.ratio <= 12


def test_a_kernels_first_snapshot_costs_what_reading_its_json_costs():
    """Seen: 1.6 s at 10,000 entries. Of 500 entries it is at most four times their plain JSON; each entry costs the same."""
    found = bench_class.first_snapshot(500)
    print(found)
    assert found.ratio <= 4


def test_opening_a_study_costs_what_loading_the_libraries_costs():
    """Seen: 3 to 4 s. A warm opening is at most four times the bare import of what kernel and curator load."""
    found = bench_class.opening()
    print(found)
    assert found.ratio <= 4


@pytest.mark.soak
def test_six_kernels_at_once_take_no_longer_than_six_one_after_the_other():
    """Seen: 10 s. On two cores, six at once take less than six times one."""
    found = bench_class.six_kernels()
    print(found)
    assert found.ratio <= 6


@pytest.mark.soak
def test_a_release_costs_little_beside_its_two_commits():
    """One count: pricing, wire, check, scan, noise and mark, beside the charge and the answer that are waited for on disk."""
    found = bench_class.one_release()
    print(found)
    assert found.act <= found.floor + 0.03
