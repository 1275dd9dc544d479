"""The small dataset, opened by a session whose curator is in this process."""

from __future__ import annotations

import pytest

from tests.curator import small


@pytest.fixture
def session(service):
    """Ann's session."""
    return small.session(service, "ann")


@pytest.fixture
def data(session, dpnb_home):
    """Ann's handle on the small dataset."""
    return small.opened(session, dpnb_home)
