"""A teaching study, opened by a session whose curator is in this process."""

from __future__ import annotations

import pytest

import dpnb
from tests.teach.conftest import session  # noqa: F401 - a fixture


@pytest.fixture
def study(session):  # noqa: F811
    """The incentive trial, opened, nothing spent."""
    del session
    return dpnb.open("incentive33", quiet=True)
