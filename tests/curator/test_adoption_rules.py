"""When a charge without an answer is adopted, when it is not, and that it is answered once whoever completes it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from dpnb.client.priced_batch import batch_of
from dpnb.errors import ChargedError, CuratorError, CuratorGone, OwnerError, PlanError, RequestReused
from dpnb.estimate import PendingQuestion
from dpnb.planner.request import Ask
from dpnb.trusted.canonical import canonical
from dpnb.trusted.curator import failpoints, release
from dpnb.trusted.curator.chain import append, link
from dpnb.trusted.wire.codec import encode, exact_json
from dpnb.trusted.wire.messages import Again, Attach, Cancel, Detach, Peek, Reset, Submit
from dpnb.trusted.wire.places import Home
from tests.curator import small
from tests.curator.test_adoption import Killed

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


class House:
    """A home whose curator can be killed and started anew."""

    def __init__(self, home, **dataset):
        self.home, self.requests, self.service = home, 0, small.curator(home)
        self.data = small.opened(small.session(self.service), home, **dataset)

    def submit(self, *items, epsilon=1, fresh=False, again=(), weights=None):
        """A batch under a new request id."""
        self.requests += 1
        ask = Ask.make(epsilon=epsilon, fresh=fresh)
        batch = batch_of(
            [anew(item, weight) for item, weight in zip(items, weights or [None] * 9, strict=False)], ask
        )
        batch = dataclasses.replace(batch, again=tuple(again))
        return Submit(
            handle=self.data.handle,
            request=f"{self.requests:032x}",
            digest=batch.digest,
            plan=batch.body,
        )

    def abandon(self, message, step="charged", principal="ann"):
        """Let the curator be killed while it answers, and start it anew."""
        before = len(self.charges())
        failpoints.install(lambda now: dies(now, step))
        try:
            with pytest.raises(Killed):
                self.service.reply(message, principal)
        finally:
            failpoints.install(None)
        self.anew()
        assert len(self.charges()) == before + 1
        return self.charges()[-1]

    def anew(self):
        """Start another curator on the same home."""
        self.service.close()
        self.service = small.curator(self.home)
        self.service.answer(encode(Attach(source=Again(handle=self.data.handle))), "ann")

    def ask(self, message, principal="ann"):
        return self.service.reply(message, principal)

    def charges(self):
        return [row.entry for row in self.service._ledger.statement("small") if row.kind == "charge"]


def dies(now, step):
    if now == step:
        raise Killed


def anew(item, weight=None):
    old = item.measurement
    made = PendingQuestion(old.question, old.checked, dataset=old.dataset)
    if weight is not None:
        made.weight = weight
    return made


@pytest.fixture
def house(dpnb_home):
    made = House(dpnb_home)
    yield made
    made.service.close()


def adopted(house, message, entry):
    """Ask, and tell whether that charge was adopted; either way the books are in order."""
    before = len(house.charges())
    reply = house.ask(message)
    taken = reply.entry == entry
    assert (len(house.charges()) == before) is taken
    assert (exact_json(reply.before) is not None) is taken
    assert (exact_json(reply.charged)["amount"] == "0") is taken
    assert house.service._ledger.verify().intact
    return taken


def test_a_rerun_under_a_new_id_adopts_and_says_what_was_charged_before(house):
    """The reply names the entry and its loss, and charges nothing; a retry of the adopter says the same."""
    x = house.data.x.mean()
    entry = house.abandon(house.submit(x))
    message = house.submit(x)
    reply = house.ask(message)
    assert (reply.entry, exact_json(reply.before)["amount"], exact_json(reply.charged)["amount"]) == (
        entry,
        "1",
        "0",
    )
    assert {release["entry"] for release in exact_json(reply.releases)} == {entry}
    again = house.ask(message)
    assert (again.releases, again.charged, again.before, again.entry) == (
        reply.releases,
        reply.charged,
        reply.before,
        reply.entry,
    )
    rows = [row for row in house.service._ledger.statement("small", "ann") if row.kind == "adopt"]
    assert [row.note for row in rows] == [f"entry {entry}, charged before; nothing more is charged"]


def test_the_price_of_what_would_be_adopted_is_nothing(house):
    x = house.data.x.mean()
    message = house.submit(x)
    house.abandon(message)
    peeked = house.ask(Peek(handle=message.handle, plan=message.plan))
    assert exact_json(peeked.cost)["amount"] == "0"
    other = house.submit(x, epsilon=2)
    assert exact_json(house.ask(Peek(handle=other.handle, plan=other.plan)).cost)["amount"] == "2"


def test_a_session_started_anew_completes_the_charge_and_its_card_says_so(house):
    """Through the client: a new kernel, the same cell, no second charge."""
    entry = house.abandon(house.submit(house.data.x.mean()))
    here = small.session(house.service)
    data = small.opened(here, house.home)
    report = here.release([data.x.mean()], Ask.make(epsilon=1))
    assert (report.charged.amount, report.before.amount, report.entry) == (0, 1, entry)
    assert f"ε 1 was charged before the crash (ledger entry {entry})" in str(report)
    card = report._repr_mimebundle_()["text/html"]
    assert f"ledger entry {entry}" in card
    assert "paid before" in card
    assert data.budget.spent.amount == 1


def test_another_principal_adopts_nothing(house):
    """What Ann was charged is hers."""
    x = house.data.x.mean()
    entry = house.abandon(house.submit(x))
    bob = small.session(house.service, "bob")
    theirs = small.opened(bob, house.home)
    report = bob.release([theirs.x.mean()], Ask.make(epsilon=1))
    assert report.entry != entry
    assert report.charged.amount == 1


def test_a_charge_of_this_life_of_the_curator_is_not_adopted(house):
    """Its first worker may still be at work."""
    x = house.data.x.mean()
    failpoints.install(lambda now: dies(now, "charged"))
    with pytest.raises(Killed):
        house.ask(house.submit(x))
    failpoints.install(None)
    assert not adopted(house, house.submit(x), house.charges()[0])


@pytest.mark.parametrize(
    "change",
    [{"fresh": True}, {"again": ["ab" * 16]}, {"epsilon": "1.5"}, {"epsilon": "0.5"}],
    ids=["fresh", "again", "more", "less"],
)
def test_another_request_for_the_same_question_is_charged(house, change):
    x = house.data.x.mean()
    entry = house.abandon(house.submit(x))
    assert not adopted(house, house.submit(x, **change), entry)
    if change == {"epsilon": "0.5"}:  # the others are stored now for as much as was asked at first
        assert adopted(house, house.submit(x), entry)


def test_a_fresh_or_a_further_measurement_is_adopted_by_its_like_alone(house):
    x, y, held = house.data.x.mean(), house.data.y.mean(), ["ab" * 16, "cd" * 16]
    for item, facts in ((x, {"fresh": True}), (y, {"again": held})):
        entry = house.abandon(house.submit(item, **facts))
        assert not adopted(house, house.submit(item, epsilon="0.9"), entry)
        assert not adopted(house, house.submit(item, epsilon="0.8", fresh=True), entry)
        assert not adopted(house, house.submit(item, epsilon="0.9", fresh=True, again=["ef" * 16]), entry)
        assert adopted(house, house.submit(item, **facts), entry)


def test_what_else_is_asked_must_be_stored_or_public(house):
    x, y, s = house.data.x.mean(), house.data.y.mean(), house.data.x.sum()
    entry = house.abandon(house.submit(x, y, epsilon=2))
    assert not adopted(house, house.submit(x), entry)  # y is not asked
    assert not adopted(house, house.submit(x, y, s, epsilon=3), entry)  # s would be charged
    assert house.ask(house.submit(x, y, epsilon=2)).entry is None  # all is stored since


def test_a_question_that_was_stored_since_does_not_keep_a_charge_from_its_rerun(house):
    """The cell is run again after another one that stored part of it: what was left is completed, whole."""
    x, y = house.data.x.mean(), house.data.y.mean()
    entry = house.abandon(house.submit(x, y, epsilon=2))
    assert not adopted(house, house.submit(x), entry)
    assert adopted(house, house.submit(x, y, epsilon=2), entry)


def test_a_charge_is_adopted_in_another_order_and_beside_stored_and_public_questions(house):
    x, y, n, s = house.data.x.mean(), house.data.y.mean(), house.data.count(), house.data.x.sum()
    house.ask(house.submit(s, epsilon="0.5"))
    entry = house.abandon(house.submit(x, y))
    assert adopted(house, house.submit(y, n, s, x, epsilon="1.5"), entry)


def test_changed_data_are_charged_anew(house):
    x = house.data.x.mean()
    entry = house.abandon(house.submit(x))
    here = small.session(house.service)
    other = small.opened(here, house.home, small.rows(seed=2))
    assert here.release([other.x.mean()], Ask.make(epsilon=1)).entry != entry
    assert adopted(house, house.submit(x), entry)


def test_a_copy_that_was_removed_and_prepared_again_is_the_same_data(house):
    x = house.data.x.mean()
    entry = house.abandon(house.submit(x))
    house.ask(Detach(handle=house.data.handle, remove=True))
    with pytest.raises(CuratorGone):
        house.ask(house.submit(x))
    small.opened(small.session(house.service), house.home)
    assert adopted(house, house.submit(x), entry)


def test_nothing_is_adopted_over_a_reset(dpnb_home):
    house = House(dpnb_home, mode="teaching", public=True, source="generated.csv")
    x = house.data.x.mean()
    entry = house.abandon(house.submit(x))
    house.ask(Reset(handle=house.data.handle))
    assert not adopted(house, house.submit(x), entry)
    house.service.close()


def test_nothing_is_adopted_or_retried_over_a_restoration(house):
    """Whether it was answered since the copy was made, the copy cannot know: not even the same request completes it."""
    x = house.data.x.mean()
    first = house.submit(x)
    entry = house.abandon(first)
    with house.service._ledger.writing() as db:
        append(db, "2026-01-01T00:00:00+00:00", "restore", {})
    with pytest.raises(RequestReused, match="restored"):
        house.ask(first)
    reply = house.ask(house.submit(x))
    assert reply.entry != entry
    assert exact_json(reply.charged)["amount"] == "1"


def test_other_mechanisms_complete_nothing(house, monkeypatch):
    """A record is run by the version that wrote it, or not at all."""
    x = house.data.x.mean()
    first = house.submit(x)
    entry = house.abandon(first)
    monkeypatch.setattr(release, "MECHANISM_VERSION", "next")
    with pytest.raises(RequestReused):
        house.ask(first)
    assert not adopted(house, house.submit(x), entry)


def test_whoever_completes_a_charge_runs_its_record_and_plans_nothing(house, monkeypatch):
    """The scale that is run is the recorded one, also where a plan would say another."""
    x = house.data.x.mean()
    first = house.submit(x)
    house.abandon(first)
    asked = []
    read = release.read_parts
    monkeypatch.setattr(release, "read_parts", lambda plan: asked.append(plan) or read(plan))
    reply = house.ask(first)
    with house.service._ledger.reading() as db:
        (body,) = db.execute("SELECT body FROM entries WHERE kind = 'charge'").fetchone()
    recorded = [question["plan"] for question in json.loads(body)["questions"]]
    assert asked[-len(recorded) :] == recorded
    sent = exact_json(reply.releases)
    scales = [[part["mechanism"]["scale"] for part in plan["parts"]] for plan in recorded]
    assert [[part["law"]["scale"] for part in one["parts"]] for one in sent] == scales


def test_a_record_that_was_edited_before_it_was_answered_is_run_by_nobody(house):
    """No mark holds the last charge before its answer: a smaller scale is seen by whoever would draw with it."""
    x = house.data.x.mean()
    first = house.submit(x)
    failpoints.install(lambda now: dies(now, "charged"))
    with pytest.raises(Killed):
        house.ask(first)
    failpoints.install(None)
    (entry,) = house.charges()
    house.service._ledger._connection.close()  # a kill: the mark is not raised
    with_smaller_scales(Home(house.home).ledger, entry)
    house.service = small.curator(house.home)
    house.service.reply(Attach(source=Again(handle=house.data.handle)), "ann")
    assert house.service.frozen is None
    assert house.service._ledger.verify().intact
    with pytest.raises(CuratorError, match="not what was asked"):
        house.ask(first)
    assert not adopted(house, house.submit(x), entry)


def with_smaller_scales(path, entry):
    """Edit the plan of the last charge, and make its hash follow again."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        guards = db.execute("SELECT sql FROM sqlite_master WHERE name = 'entries_no_update'").fetchone()
        db.execute("DROP TRIGGER entries_no_update")
        time, kind, text = db.execute(
            "SELECT time, kind, body FROM entries WHERE entry = ?", (entry,)
        ).fetchone()
        body = json.loads(text)
        for part in body["questions"][0]["plan"]["parts"]:
            part["mechanism"]["scale"] = "1/100"
        (before,) = db.execute("SELECT hash FROM entries WHERE entry = ?", (entry - 1,)).fetchone()
        text = canonical(body)
        values = (text, link(before, entry, time, kind, text), entry)
        db.execute("UPDATE entries SET body = ?, hash = ? WHERE entry = ?", values)
        db.execute(*guards)
    db.close()


def test_a_cancelled_request_adopts_nothing_and_leaves_nothing_to_adopt(house):
    x = house.data.x.mean()
    entry = house.abandon(house.submit(x))
    message = house.submit(x)
    house.ask(Cancel(request=message.request))
    with pytest.raises(PlanError, match="Cancelled"):
        house.ask(message)
    assert adopted(house, house.submit(x), entry)
    other = house.submit(house.data.y.mean())
    house.ask(Cancel(request=other.request))
    with pytest.raises(PlanError, match="Cancelled"):
        house.ask(other)
    house.anew()
    assert house.charges() == [entry]


def test_a_full_disk_at_the_store_leaves_the_charge_to_be_completed(house, monkeypatch):
    """By a retry in this life, and by an adopter in the next."""
    x, y = house.data.x.mean(), house.data.y.mean()

    def full(*_, **__):
        raise OwnerError("The ledger has no room: the disk is full.")

    messages = [house.submit(x), house.submit(y)]
    with monkeypatch.context() as broken:
        broken.setattr("dpnb.trusted.curator.answer_store.insert", full)
        for message in messages:
            with pytest.raises(ChargedError, match="You were charged"):
                house.ask(message)
    first, second = house.charges()
    assert house.ask(messages[0]).entry == first
    house.anew()
    assert adopted(house, house.submit(y), second)
    assert house.charges() == [first, second]


def test_a_killed_adopter_leaves_the_charge_to_the_next(house):
    x = house.data.x.mean()
    entry = house.abandon(house.submit(x))
    for step in ("charged", "scanned", "before-store"):
        failpoints.install(lambda now, step=step: dies(now, step))
        with pytest.raises(Killed):
            house.ask(house.submit(x))
        failpoints.install(None)
        house.anew()
    assert adopted(house, house.submit(x), entry)
    assert house.charges() == [entry]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"principal": "bob"}, "other than a charge of the same principal"),
        ({"pool": "dataset:other"}, "other than a charge of the same principal"),
        ({"charge": 2}, "other than a charge of the same principal"),
        ({"charge": 99}, "other than a charge of the same principal"),
        ({"life": "the charge's"}, "its own life"),
        ({}, None),
    ],
    ids=str,
)
def test_an_adoption_that_could_not_have_been_is_found(house, wrong, said):
    """The examination of the ledger reads adoptions too: a well-formed entry of the chain is not yet a true one."""
    x = house.data.x.mean()
    entry = house.abandon(house.submit(x))
    with house.service._ledger.writing() as db:
        (text,) = db.execute("SELECT body FROM entries WHERE entry = ?", (entry,)).fetchone()
        paid = json.loads(text)
        names = ("principal", "pool", "dataset", "digest")
        facts = {name: paid[name] for name in names} | {
            "request": "f" * 32,
            "life": "another",
            "charge": entry,
        }
        facts |= {"life": paid["life"]} if "life" in wrong else wrong
        made = append(db, "2026-01-01T00:00:00+00:00", "adopt", facts)
        row = (made, facts["request"], facts["principal"], facts["digest"], facts["charge"])
        db.execute("INSERT INTO requests VALUES (?, ?, ?, ?, ?)", row)
    found = house.service._ledger.verify()
    assert found.intact if said is None else said in found.fault


def test_what_a_charge_runs_at_once_is_what_its_record_reads_as(house, monkeypatch):
    """Whoever completes the charge later, from its record alone, runs the same."""
    drawn = []
    draw = release._draw
    monkeypatch.setattr(
        release, "_draw", lambda charge, *rest: drawn.append((charge, rest[0])) or draw(charge, *rest)
    )
    house.ask(house.submit(house.data.x.mean()))
    with house.service._ledger.reading() as db:
        (body,) = db.execute("SELECT body FROM entries WHERE kind = 'charge'").fetchone()
    ((charge, run),) = drawn
    assert run == release._recorded_alone(
        dataclasses.replace(charge, questions=json.loads(body)["questions"])
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_late_first_worker_and_racing_adopters_store_one_row_and_all_send_it(house, seed):
    """Two curators on one ledger: the first worker is held before its store while others adopt its charge."""
    x, y = house.data.x.mean(), house.data.groupby("g").y.mean()
    late, turn, go = house.service, threading.Event(), threading.Event()
    worker = threading.local()

    def hook(step):
        if getattr(worker, "late", False) and step == "before-store":
            turn.set()
            go.wait(30)

    def work():
        worker.late = True
        return late.reply(first, "ann")

    first, others = house.submit(x, y, fresh=seed % 2), [house.submit(x, y, fresh=seed % 2) for _ in range(2)]
    failpoints.install(hook)
    with ThreadPoolExecutor(4) as pool:
        working = pool.submit(work)
        assert turn.wait(30)
        house.service = small.curator(house.home)
        house.service.answer(encode(Attach(source=Again(handle=house.data.handle))), "ann")
        attached = house.service._find(house.data.handle, "ann")
        attached.lock = threading.Semaphore(4)  # as two curators would: nobody waits for anybody
        if seed < 3:
            go.set()
        replies = [future.result() for future in [pool.submit(house.ask, message) for message in others]]
        go.set()
        replies.append(working.result())
    failpoints.install(None)
    late.close()
    entry = house.charges()[0]
    bound = [reply for reply in replies if reply.entry == entry]
    assert replies[-1] in bound
    said = {tuple((r["id"], *map(str, r["parts"])) for r in exact_json(reply.releases)) for reply in bound}
    assert len(said) == 1
    with house.service._ledger.reading() as db:
        assert db.execute("SELECT count(*) FROM stored WHERE charge = ?", (entry,)).fetchone() == (4,)
        assert db.execute("SELECT count(*) FROM answers WHERE charge = ?", (entry,)).fetchone() == (1,)
    assert house.service._ledger.verify().intact
