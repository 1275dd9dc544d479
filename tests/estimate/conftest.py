"""Whatever another test of the run provided, this room is tested in a plain script."""

from __future__ import annotations

import pytest

from dpnb.estimate import host


@pytest.fixture(autouse=True)
def plain_script(monkeypatch):
    """Take the notebook away for one test."""
    monkeypatch.setattr(host, "_host", host.Host())
