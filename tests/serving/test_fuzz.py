"""Requests, right and wrong at every level, at the desk of a service: none stops it, spends in silence, or shows its inside."""

from __future__ import annotations

import os
import random
from collections import Counter
from fractions import Fraction

import pytest

from dpnb.trusted.curator import service
from dpnb.trusted.serving.settings import read_settings
from dpnb.trusted.wire.codec import encode
from dpnb.trusted.wire.messages import Open
from tests.curator import small
from tests.serving.conftest import CONFIG
from tests.serving.test_gateway import Office
from tests.wire.requests import Requests, World
from tests.wire.test_fuzz import Asked, fuzzed

SEED = int(os.environ.get("DPNB_FUZZ_SEED", "20261125"))
SCHEMA = """[dataset]
name = "small"
source = "people.csv"
adjacency = "add-remove"
[budget]
epsilon = 1000000
[columns.x]
type = "integer"
lower = 0
upper = 10
[columns.g]
type = "category"
values = [0, 1]
[columns.y]
type = "category"
values = [0, 1]
"""


def _prepare(_, schema, into, table, key):
    small.prepare_numpy(small.rows(), schema, into, table, key)


class Served:
    """A desk in the place of a curator; whoever asks holds a token to ask."""

    def __init__(self, folder):
        (folder / "people.csv").write_text("x,g,y\n1,1,1\n")
        (folder / "people.dpnb.toml").write_text(SCHEMA)
        (folder / "curator.toml").write_text(CONFIG.format(port=8443, each="", more=""))
        with pytest.MonkeyPatch.context() as patch:  # a million requests are not a million scans
            patch.setattr(service, "_prepare", _prepare)
            patch.setattr(service, "_engine", small.NumpyEngine)
            self.office = Office(read_settings(folder / "curator.toml"))
        self._ledger, self._token = self.office.curator._ledger, self.office.token("ann")
        self._ledger._connection.execute("PRAGMA synchronous = OFF")  # no power is cut here

    def answer(self, body, _):
        """Answer one request body, as the server has the desk do it."""
        request = self.office.desk.read(body)
        return request if isinstance(request, bytes) else self.office.desk.carry_out(request, self._token)

    def close(self):
        """Close it."""
        self.office.desk.close()


class AskedOfAService(Asked):
    """One service in this process, and what it must keep to."""

    wrong, broken = 0.6, 0

    def __init__(self, home, seed):
        self.home, self.service = home, Served(home)
        opened = self.service.office.told(Open(name="people"), self.service._token)
        schema = self.service.office.curator.served["people"].schema
        self.world = World(opened["handle"], schema, [])
        self.requests = Requests(seed, self.world, self.wrong, self.broken)
        self.seen, self.paid, self.entries = Counter(), Fraction(0), set()

    def again(self):
        """Open a closed handle again."""
        self.service.answer(encode(Open(name="people")), "ann")


class AskedWrongly(AskedOfAService):
    """As above, nearly all requests changed, most in their bytes: those that are left show that it still answers."""

    wrong, broken = 0.9, 4


@pytest.mark.slow
def test_requests_at_a_service_stop_nothing_and_spend_nothing_in_silence(tmp_path):
    """Every reply is of the vocabulary, every error has a permanent code; the ledger is whole and adds up; what attaches does not decode."""
    found = fuzzed(tmp_path, SEED, 600, AskedOfAService)
    assert found["Answered"] > 10
    assert found["plan"] > 100
    assert found["Attached"] == 0


@pytest.mark.slow
def test_malformed_requests_at_a_service_stop_nothing(tmp_path):
    """The short form of the million below."""
    found = fuzzed(tmp_path, SEED, 1_000, AskedWrongly)
    assert found["plan"] > 700
    assert found["Answered"] > 0


@pytest.mark.soak
@pytest.mark.parametrize("part", range(20))
def test_a_million_requests_at_a_service_stop_nothing(tmp_path, part):
    """As above, 50,000 requests a part, with another seed each time; `DPNB_FUZZ_SEED` and `DPNB_FUZZ` repeat one."""
    seed = int(os.environ.get("DPNB_FUZZ_SEED", random.SystemRandom().randrange(10**9)))
    times = int(os.environ.get("DPNB_FUZZ", "50000"))
    print("part", part, "seed", seed, flush=True)
    assert fuzzed(tmp_path, seed, times, AskedWrongly).total() == times
