"""The bootstrap's coverage study against its bars; in the long run only, since it is a figure of this machine."""

import pytest

from tests.benchmarks.bench_bootstrap import BAR, RATIO, measure

pytestmark = pytest.mark.alone


@pytest.mark.soak
def test_the_study_is_fast():
    """Below 1.5 s, and at least 30 times the obvious loop."""
    ours, obvious, _ = measure()
    assert ours < BAR
    assert obvious / ours >= RATIO
