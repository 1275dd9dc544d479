"""Hooks of upper rooms are taken off: whatever another test of the run imported, this room is tested alone."""

from __future__ import annotations

import pytest

from dpnb.release import hooks


@pytest.fixture(autouse=True)
def bare_hooks(monkeypatch):
    """Take every hook off for one test, whatever other tests of the same run have imported."""
    for name in ("REMEASURE", "CONCLUDE", "SHOW_PENDING", "BUNDLE"):
        monkeypatch.setattr(hooks, name, None)
