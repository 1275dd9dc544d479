"""A teaching study, opened by a session whose curator is in this process."""

from __future__ import annotations

import pytest

import dpnb
from dpnb.client import sessions
from dpnb.client.session import Session
from dpnb.client.transport import InMemory
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.service import Curator
from dpnb.trusted.wire.places import Home


@pytest.fixture
def study(dpnb_home, monkeypatch):
    """The incentive trial, opened, nothing spent."""
    service = Curator.opened(Config(Home(dpnb_home), studies="dpnb.datasets"))
    made = Session(lambda: InMemory(lambda body: service.answer(body, "ann")))
    monkeypatch.setattr(sessions, "plain", lambda: made)
    yield dpnb.open("incentive33", quiet=True)
    sessions._LATEST.clear()
    service.close()
