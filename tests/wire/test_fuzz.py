"""Hundreds of thousands of requests, right and wrong at every level: none stops the curator, spends in silence or shows its inside."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from dpnb.client.transport import decode_reply
from dpnb.errors import DpnbError
from dpnb.trusted.wire.codec import encode, exact_json
from dpnb.trusted.wire.messages import Answered, Failure
from tests.curator import small
from tests.wire.requests import Requests, World

SEED = int(os.environ.get("DPNB_FUZZ_SEED", "20261122"))
LIFE = 10_000
"""Requests that one curator is asked before it is looked over and another is made."""
INSIDE = (
    "Traceback",
    'File "',
    "Error:",
    "Error(",
    "duckdb",
    "sqlite",
    "numpy",
    "msgspec",
    "/dpnb/",
)
"""Words of programs, which no message says."""
PATIENCE = 30.0
BUDGETS = ({"epsilon": 10**6}, {"rho": 10**5}, {"epsilon": 1000, "delta": "1e-6"})


def codes(kind=DpnbError):
    """The permanent codes of all errors but that of what was not expected."""
    return {kind.code}.union(*(codes(below) for below in kind.__subclasses__())) - {"internal"}


class Asked:
    """One curator in this process, and what it must keep to."""

    def __init__(self, home: Path, seed: int) -> None:
        self.home = home
        self.service = small.curator(home)
        here = small.session(self.service)
        data = small.opened(here, home, **BUDGETS[seed % len(BUDGETS)])
        self.world = World(data.handle, data.schema, [])
        self.requests = Requests(seed, self.world)
        self.seen: Counter[str] = Counter()
        self.paid = Fraction(0)
        self.entries: set[int] = set()

    def ask(self) -> None:
        """Send one request, and look at the reply."""
        body = self.requests.body()
        before = time.thread_time()
        reply = decode_reply(self.service.answer(body, "ann"))
        assert time.thread_time() - before < PATIENCE, body[:3000]
        self.seen[type(reply).__name__ if not isinstance(reply, Failure) else reply.code] += 1
        if isinstance(reply, Failure):
            assert reply.code in CODES, (reply, body[:3000], self.log())
            shown = reply.message + str(reply.details)
            assert not any(word in shown for word in INSIDE), (reply, body[:3000])
            assert len(shown) < 2_500, (len(shown), body[:3000])
            assert str(self.home) not in shown
        if isinstance(reply, Answered) and reply.entry is not None and reply.entry not in self.entries:
            self.entries.add(reply.entry)
            self.paid += Fraction(exact_json(reply.charged)["amount"])
        if isinstance(reply, Failure) and reply.code == "gone":
            self.again()

    def again(self) -> None:
        """Open a closed handle again."""
        self.service.answer(encode_again(self.world.handle), "ann")

    def look_over(self) -> None:
        """The chain is whole, each charge has its answer, and what was spent is the sum of what was charged."""
        ledger = self.service._ledger
        assert ledger.verify().intact
        rows = [row for row in ledger.statement() if row.kind == "charge"]
        assert {row.entry for row in rows} == self.entries
        assert all(row.answered for row in rows)
        assert (
            sum((row.loss.amount for row in rows), Fraction(0))
            == self.paid
            == ledger.spent(rows_pool(ledger)).amount
        )
        assert not (self.home / "curator.log").exists(), self.log()

    def log(self) -> str:
        """What the curator noted for its owner: nothing, where nothing was unexpected."""
        log = self.home / "curator.log"
        return log.read_text()[-3000:] if log.exists() else ""


CODES = codes()


def rows_pool(ledger):
    """The one pool."""
    return ledger.pins("small").pool


def encode_again(handle):
    """A request that opens a closed handle again."""
    from dpnb.trusted.wire.messages import Again, Attach

    return encode(Attach(source=Again(handle=handle)))


def fuzzed(folder, seed, times, kind=Asked, life=LIFE):
    """Ask a number of requests of one curator after another, and return what they were answered; plans of equal schemas are kept."""
    found: Counter[str] = Counter()
    made: dict[str, list[str]] = {}
    for place in range(-(-times // life)):
        home = folder / str(place)
        home.mkdir(mode=0o700)
        asked = kind(home, seed + place)
        asked.requests.made = made.setdefault(asked.world.schema.version, asked.requests.made)
        for _ in range(min(life, times - place * life)):
            asked.ask()
        asked.look_over()
        found += asked.seen
        asked.service.close()
        shutil.rmtree(home)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("half", range(2))
def test_thousands_of_requests_stop_nothing_and_spend_nothing_in_silence(tmp_path, half):
    """Every reply is of the vocabulary, every error has a permanent code; the ledger is whole and adds up.

    Of four curators, with budgets of each kind: one of them may have spent everything early.
    """
    found = fuzzed(tmp_path, SEED + 1_000 * half, 1_000, life=250)
    assert found["Answered"] > 25
    assert found["Peeked"] > 50
    assert found["plan"] > 250
    assert {"loss", "owner", "Described", "StatementOf", "Cancelled"} <= set(found)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(20))
def test_a_million_requests_stop_nothing_and_spend_nothing_in_silence(tmp_path, part):
    """As above, 50,000 requests a part, with another seed each time; `DPNB_FUZZ_SEED` and `DPNB_FUZZ` repeat one."""
    seed = int(os.environ.get("DPNB_FUZZ_SEED", random.SystemRandom().randrange(10**9)))
    times = int(os.environ.get("DPNB_FUZZ", "50000"))
    print("part", part, "seed", seed, flush=True)
    found = fuzzed(tmp_path, seed, times)
    assert found.total() == times
    print(found)


@pytest.mark.parametrize(
    "message",
    [
        {"is": "statement", "after": 10**30},
        {"is": "statement", "after": 2**63},
        {"is": "statement", "entries": [2**63]},
        {"is": "statement", "entries": [1] * 201},
        {"is": "attach", "source": {"is": "file", "path": "/"}},
        {"is": "attach", "source": {"is": "file", "path": ""}},
        {"is": "attach", "source": {"is": "file", "path": "a\x00b"}},
        {"is": "attach", "source": {"is": "file", "path": "x" * 4_000}},
        {"is": "attach", "source": {"is": "file", "path": "people.csv", "schema_path": "/"}},
        {"is": "attach", "source": {"is": "file", "path": "people.csv", "schema_path": "x" * 4_000}},
        {"is": "attach", "source": {"is": "study", "name": "../hiv"}},
    ],
    ids=range(11),
)
def test_what_the_fuzzer_found_is_a_refusal(tmp_path, message):
    """An entry beyond 64 bits, a path without a name, with a NUL, of any length: refused in dpnb's own words."""
    (tmp_path / "home").mkdir(mode=0o700)
    asked = Asked(tmp_path / "home", 0)
    asked.requests.body = lambda: json.dumps(message).encode()
    asked.ask()
    assert asked.seen.total() == 1
    asked.look_over()
    asked.service.close()
