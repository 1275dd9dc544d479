"""A ledger; a curator in this process, a session with it, and the small dataset opened."""

from __future__ import annotations

import pytest

from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.service import Curator
from dpnb.trusted.wire.places import Home
from tests.curator import small


@pytest.fixture
def path(tmp_path):
    """Where a ledger is made."""
    return tmp_path / "ledger.sqlite3"


@pytest.fixture
def ledger(path):
    """A new ledger, open."""
    with Ledger(path) as opened:
        yield opened


@pytest.fixture
def curator(dpnb_home):
    """The curator as it is, with its real engine."""
    made = Curator.opened(Config(Home(dpnb_home), studies="dpnb.datasets"))
    yield made
    made.close()


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
