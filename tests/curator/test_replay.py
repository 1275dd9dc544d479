"""The replay test: neighbouring tables whose noised integers coincide give byte-identical traces everywhere."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dpnb.client.handles import Dataset
from dpnb.client.priced_batch import batch_of
from dpnb.inference.seeded_bits import SeededBits
from dpnb.planner.request import Ask
from dpnb.trusted.curator import release
from dpnb.trusted.curator.release import Chance
from dpnb.trusted.wire.codec import encode
from dpnb.trusted.wire.messages import Submit
from tests.curator import small


class Counter:
    """Ids that depend on nothing but their order."""

    def __init__(self):
        self.count = itertools.count(1)

    def __call__(self):
        return f"{next(self.count):032x}"


class Rigged:
    """Replaces an engine's exact answers after the scan by what makes the noised integers coincide."""

    def __init__(self, engine, exact):
        self.engine, self.exact, self.seen = engine, exact, None

    def answer(self, requests):
        self.seen = self.engine.answer(requests)
        return self.seen if self.exact is None else self.exact

    def close(self):
        self.engine.close()


def trace(home, table, exact, monkeypatch):
    """Attach a table, release a batch, and return everything that it left: reply, store, ledger rows, log."""
    monkeypatch.setenv("DPNB_HOME", str(home))
    chance = Chance(SeededBits(5), Counter(), lambda: "2026-01-01T00:00:00+00:00")
    service = small.curator(home, chance)
    service._ledger._life = "0" * 16  # as the clock and the ids: random, and no function of the data
    here = small.session(service)
    data: Dataset = small.opened(here, home, table)
    attached = next(iter(service._open.values()))
    attached.data_version = "0" * 16  # a random id of its own in each home
    attached.engine = rigged = Rigged(attached.engine, exact)
    items = [
        data.count(),
        data.x.mean(),
        data.y.mean(),
        data.groupby("g").y.mean(),
        data.x.histogram(),
        data.y.difference(by="g"),
        data[data.x > 5].count(),
        data.x.variance(),
        data.x.tree(),
        data.x.density(4),
    ]
    batch = batch_of(items, Ask.make(epsilon=4))
    message = Submit(handle=data.handle, request="a" * 32, digest=batch.digest, plan=batch.body)
    reply = service.answer(encode(message), "ann")
    with service._ledger.reading() as db:
        rows = db.execute(
            "SELECT body FROM entries WHERE kind IN ('charge', 'store') ORDER BY entry"
        ).fetchall()
        stored = db.execute("SELECT place, question, answer FROM stored ORDER BY place").fetchall()
    log = service._home.log.read_bytes() if service._home.log.exists() else b""
    service.close()
    return rigged.seen, (reply, rows, stored, log)


@pytest.mark.parametrize("change", ["value", "missing", "group", "extreme"])
def test_neighbours_with_coinciding_integers_leave_identical_bytes(tmp_path_factory, monkeypatch, change):
    """Response, stored release, ledger row and log are functions of the noised integers and public facts alone.

    The noise of the second table is chosen so that the noised integers coincide with the first's: its exact answers are
    replaced, after its own scan, by the first's, under the same bits.
    """
    table = small.rows()
    neighbour = {name: values.copy() for name, values in table.items()}
    row = 20
    new = {
        "value": ("x", 10 - table["x"][row]),
        "missing": ("y", np.nan),
        "group": ("g", np.nan),
        "extreme": ("x", np.inf),
    }
    column, value = new[change]
    neighbour[column][row] = value
    first, one = trace(tmp_path_factory.mktemp("a"), table, None, monkeypatch)
    second, two = trace(tmp_path_factory.mktemp("b"), neighbour, first, monkeypatch)
    assert first != second
    assert one == two
    assert b"failure" not in one[0]


def test_the_trace_does_follow_the_noised_integers(tmp_path_factory, monkeypatch):
    """Without the coincidence the traces differ: the test above can fail."""
    table = small.rows()
    neighbour = {**table, "x": 10 - table["x"]}
    _, one = trace(tmp_path_factory.mktemp("a"), table, None, monkeypatch)
    _, two = trace(tmp_path_factory.mktemp("b"), neighbour, None, monkeypatch)
    assert one != two


def test_a_reply_has_no_field_but_noised_integers_and_public_facts(service, data):
    """The fields of a release are a fixed list; a new one needs a new argument for its privacy."""
    from dpnb.trusted.wire.codec import exact_json

    batch = batch_of([data.x.mean()], Ask.make(epsilon=1))
    message = Submit(handle=data.handle, request="a" * 32, digest=batch.digest, plan=batch.body)
    reply = service.reply(message, "ann")
    assert set(type(reply).__struct_fields__) == {"request", "releases", "charged", "left", "entry", "before"}
    records = exact_json(reply.releases)
    names = {
        "id",
        "question",
        "dataset",
        "data_version",
        "parts",
        "loss",
        "share",
        "stored",
        "time",
        "entry",
        "share_kind",
        "measured",
    }
    assert [set(record) for record in records] == [names] * 3
    parts = [part for record in records for part in record["parts"]]
    assert all(set(part) == {"name", "law", "values", "draw"} for part in parts)
    assert release.MECHANISM_VERSION == "8"
