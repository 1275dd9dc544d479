"""The small dataset of the curator's tests, opened in this process."""

from __future__ import annotations

import pytest

from tests.curator import small


@pytest.fixture
def data(dpnb_home):
    """A handle on forty protected rows."""
    service = small.curator(dpnb_home)
    yield small.opened(small.session(service, "ann"), dpnb_home)
    service.close()
