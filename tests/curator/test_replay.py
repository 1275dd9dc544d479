"""The replay test: neighbouring tables whose noised integers coincide give byte-identical traces everywhere."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest

from dpnb.client.handles import Dataset
from dpnb.client.priced_batch import batch_of
from dpnb.inference.seeded_bits import SeededBits
from dpnb.planner.request import Ask
from dpnb.trusted.curator.release import Randomness
from dpnb.trusted.owner.act_entries import Act, grant
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.wire.codec import encode, exact_json
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
    chance = Randomness(SeededBits(5), Counter(), lambda: "2026-01-01T00:00:00+00:00")
    service = small.curator(home, chance)
    service._ledger._life = "0" * 16  # as the clock and the ids: random, and no function of the data
    here = small.session(service)
    data: Dataset = small.opened(here, home, table)
    here.cap(epsilon=9, dataset=data)  # so that a reply names a cap and whose it is
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
    assert b'"whose":"your own cap"' in one[0]


def test_the_trace_does_follow_the_noised_integers(tmp_path_factory, monkeypatch):
    """Without the coincidence the traces differ: the test above can fail."""
    table = small.rows()
    neighbour = {**table, "x": 10 - table["x"]}
    _, one = trace(tmp_path_factory.mktemp("a"), table, None, monkeypatch)
    _, two = trace(tmp_path_factory.mktemp("b"), neighbour, None, monkeypatch)
    assert one != two


REPLY = {
    "request": "chosen by whoever asks",
    "releases": "noised integers, and what RECORD says",
    "charged": "a function of the plan, of the schema and of what the asker's store holds",
    "left": "of the caps below, after the charges that the ledger lists; neither is a function of rows",
    "cap": "one that holds whoever asks: declared or recorded by the owner, or set by the asker; read from the ledger alone",
    "whose": "the words for that cap: never another person's own cap, grant, token or group",
    "entry": "counts the ledger's acts",
    "before": "the loss of a charge of the asker's own, which an earlier request made",
}
"""Why each field of a reply says nothing of a row. That no byte of any of them does is shown above: ``whose`` is not empty there."""
RECORD = {
    "id": "random",
    "draw": "random",
    "time": "when the charge was made, which waits for no row",
    "entry": "of the charge",
    "stored": "whether the asker paid for it before",
    "dataset": "declared",
    "data_version": "a random id, given when the data are attached",
    **dict.fromkeys(("question", "measured", "share", "share_kind", "loss"), "a function of plan and schema"),
}


def test_a_reply_has_no_field_but_noised_integers_and_public_facts(service, data):
    """The fields of a release are a fixed list; a new one needs a new argument for its privacy."""
    reply = replied(service, data)
    assert set(type(reply).__struct_fields__) == set(REPLY)
    records = exact_json(reply.releases)
    assert [set(record) for record in records] == [{*RECORD, "parts"} - {"draw"}] * 3
    parts = [part for record in records for part in record["parts"]]
    assert all(set(part) == {"name", "law", "values", "draw"} for part in parts)


CAPS = {
    "the budget": ({}, ("10", "")),
    "ann's own": ({"caps": {"ann": 3}}, ("3", "your own cap")),
    "the owner's": ({"grants": {"": 4}}, ("4", "its owner's cap")),
    "granted to ann": ({"grants": {"ann": 5}}, ("5", "what its owner grants you")),
    "the least of four": ({"caps": {"ann": 3}, "grants": {"": 2, "ann": 5}}, ("2", "its owner's cap")),
}


@pytest.mark.parametrize("strangers", [{}, {"caps": {"bob": 1, "owner": 1}, "grants": {"bob": 1}}])
@pytest.mark.parametrize("case", CAPS)
def test_the_cap_of_a_reply_holds_whoever_asks_and_is_no_other_persons(service, data, case, strangers):
    """It is one of those listed in ``admission.recorded``, whatever others may spend; a service adds its own (``test_desk``)."""
    mine, (amount, whose) = CAPS[case]
    ledger, pool = service._ledger, service._find(data.handle, "ann").pool
    act = Act("owner", "a test", "2026-01-01T00:00:00+00:00")
    for acts in (mine, strangers):
        for name, cap in acts.get("caps", {}).items():
            ledger.set_cap(name, pool, PrivacyLoss.pure(cap))
        for name, cap in acts.get("grants", {}).items():
            ledger.act(partial(grant, dataset="small", principal=name, cap=PrivacyLoss.pure(cap), act=act))
    reply = replied(service, data)
    assert (exact_json(reply.cap)["amount"], reply.whose) == (amount, whose)


def replied(service, data):
    """Ann's reply to a mean at ε 1."""
    batch = batch_of([data.x.mean()], Ask.make(epsilon=1))
    message = Submit(handle=data.handle, request="a" * 32, digest=batch.digest, plan=batch.body)
    return service.reply(message, "ann")
