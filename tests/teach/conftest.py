"""Public data, opened as TEACHING data by a session whose curator is in this process."""

from __future__ import annotations

import numpy as np
import pytest

import dpnb
from dpnb.client import sessions
from dpnb.client.session import Session
from dpnb.client.transport import InMemory
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.service import Curator
from dpnb.trusted.wire.places import Home

COLUMNS = {
    "x": {"type": "integer", "lower": 0, "upper": 100},
    "y": {"type": "number", "lower": 0, "upper": 1, "step": 0.015625},
    "g": {"type": "category", "values": ["a", "b", "c"]},
    "t": {"type": "category", "values": [0, 1]},
}


def toy(rows=400, seed=5):
    """A frame of public rows."""
    rng = np.random.default_rng(seed)
    arm = rng.integers(0, 2, rows)
    x = np.clip(rng.normal(40 + 8 * arm, 15, rows).round(), 0, 100)
    return {
        "x": x,
        "y": np.clip((x / 100 + rng.normal(0, 0.2, rows)) * 64, 0, 64).round() / 64,
        "g": np.array(["a", "b", "c"], dtype=object)[rng.choice(3, rows, p=[0.5, 0.3, 0.2])],
        "t": arm,
    }


def declared(**facts):
    """The toy's schema as an owner writes it, as TEACHING data without a source."""
    columns = facts.pop("columns", COLUMNS)
    budget = facts.pop("budget", {"epsilon": 10_000})
    dataset = {"name": "toy", "adjacency": "add-remove", "mode": "teaching", "public": True, **facts}
    return {"dataset": dataset, "budget": budget, "columns": columns}


@pytest.fixture
def session(dpnb_home, monkeypatch):
    """The session that ``dpnb.open`` uses."""
    service = Curator.opened(Config(Home(dpnb_home), studies="dpnb.datasets"))
    made = Session(lambda: InMemory(lambda body: service.answer(body, "ann")))
    monkeypatch.setattr(sessions, "plain", lambda: made)
    yield made
    sessions._LATEST.clear()
    service.close()


@pytest.fixture
def data(session):
    """The toy, opened."""
    del session
    return dpnb.open(toy(), schema=declared(), quiet=True)
