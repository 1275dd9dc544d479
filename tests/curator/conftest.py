"""A curator in this process, a session with it, and the small dataset opened."""

from __future__ import annotations

import pytest

from tests.curator import small


@pytest.fixture
def service(dpnb_home):
    """A curator on this test's home."""
    made = small.curator(dpnb_home)
    yield made
    made.close()


@pytest.fixture
def ann(service):
    """Ann's session."""
    return small.session(service)


@pytest.fixture
def data(ann, dpnb_home):
    """Ann's handle on the small dataset: change-one, 40 rows, ε 10."""
    return small.opened(ann, dpnb_home)
