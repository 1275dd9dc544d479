"""What waits for one another is done in one go: one transaction, one scan, and still each by itself as if it were alone."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from dpnb.errors import BudgetError
from dpnb.trusted.curator import admission, failpoints, grouped_calls
from dpnb.trusted.curator.chain import append
from dpnb.trusted.curator.database import aside
from dpnb.trusted.curator.grouped_calls import BY_ITSELF, GroupedCalls
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.privacy.loss import PrivacyLoss
from tests.curator.test_ledger import POOL, charge, pure

ROOT = Path(__file__).parents[2]
WAIT = 30.0


def until(true):
    """Wait for a condition."""
    end = time.monotonic() + WAIT
    while not true():
        assert time.monotonic() < end
        time.sleep(0.002)


class Held:
    """The first that begins is held until so many others wait; then all go on."""

    def __init__(self, shared, others):
        self.shared, self.others, self.first = shared, others, True

    def __call__(self, *_):
        if self.first:
            self.first = False
            until(lambda: len(self.shared._waiting) >= self.others)


def all_at_once(acts):
    """Do each on a thread of its own; return results and faults, in order."""
    found = [None] * len(acts)

    def run(place, act):
        try:
            found[place] = act()
        except Exception as fault:  # noqa: BLE001 - whatever it is, it is compared
            found[place] = fault

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    return found


def in_a_group(ledger, acts):
    """Let all but the first of some acts on a ledger wait for its commit."""
    hold = Held(ledger._together, len(acts) - 1)
    failpoints.install(lambda step: hold() if step == "committing" else None)
    try:
        return all_at_once(acts)
    finally:
        failpoints.install(None)


def test_what_waits_is_done_in_one_go():
    """The first begins at once, alone; the five that came meanwhile are done together, and each has its own result."""
    groups, alone = [], []

    def by_itself(act):
        hold()
        alone.append(act)
        return -act

    def in_one(acts):
        groups.append(sorted(acts))
        return [-act for act in acts]

    shared = GroupedCalls(by_itself, in_one)
    hold = Held(shared, 5)
    assert all_at_once([lambda act=act: shared.do(act) for act in range(6)]) == [-act for act in range(6)]
    assert len(alone) == 1
    assert groups == [sorted(set(range(6)) - set(alone))]


@pytest.mark.parametrize("whole", [False, True])
def test_a_fault_is_of_its_own_act_alone(whole):
    """Where one act of a group fails, or the whole group, who failed hears its own fault on its own thread, the others none."""
    threads = {}

    def by_itself(act):
        hold()
        threads[act] = threading.get_ident()
        if act == 3:
            raise ValueError(act)
        return act

    def in_one(acts):
        if whole:
            raise OSError
        return [BY_ITSELF if act == 3 else act for act in acts]

    shared = GroupedCalls(by_itself, in_one)
    hold = Held(shared, 5)
    mine = {}

    def asked(act):
        mine[act] = threading.get_ident()
        return shared.do(act)

    found = all_at_once([lambda act=act: asked(act) for act in range(6)])
    assert isinstance(found.pop(3), ValueError)
    assert found == [0, 1, 2, 4, 5]
    assert all(mine[act] == thread for act, thread in threads.items())
    assert shared.do(7) == 7  # nobody leads any more


class Leaving(grouped_calls._Act):
    """An act whose caller, where the act is 2, is interrupted once it was told to lead."""

    def __init__(self, act):
        super().__init__(act)
        if act == 2:
            self.turn = self

    def acquire(self):
        self.go.set()
        until(lambda: self.leads)
        raise KeyboardInterrupt

    def release(self):
        """It is told so."""


def test_who_leaves_when_told_to_lead_hands_the_lead_on(monkeypatch):
    """An interrupt at somebody who was to lead keeps nobody else from being served, and nothing of theirs is done."""
    entered, Leaving.go, done = threading.Event(), threading.Event(), []

    def by_itself(act):
        entered.set()
        assert Leaving.go.wait(WAIT)
        done.append(act)
        return act

    monkeypatch.setattr(grouped_calls, "_Act", Leaving)
    shared = GroupedCalls(by_itself, lambda acts: acts)
    first = threading.Thread(target=shared.do, args=(1,))
    first.start()
    assert entered.wait(WAIT)
    with pytest.raises(KeyboardInterrupt):
        shared.do(2)
    first.join(WAIT)
    assert shared.do(3) == 3
    assert done == [1, 3]


def test_charges_that_wait_are_one_transaction(ledger):
    """Eleven of a tenth of a budget of one, by two people: ten stand in order, in two transactions, and one is refused."""
    before = ledger.writes
    found = in_a_group(
        ledger,
        [lambda i=i: charge(ledger, f"r{i}", pure("0.1"), principal="ab"[i % 2]) for i in range(11)],
    )
    refused = [one for one in found if isinstance(one, BudgetError)]
    rows = sorted((one for one in found if one not in refused), key=lambda row: row.entry)
    assert len(refused) == 1
    assert [row.spent_after for row in rows] == [PrivacyLoss.pure(f"{n / 10:.1f}") for n in range(1, 11)]
    assert [row.entry for row in rows] == list(range(rows[0].entry, rows[0].entry + 10))
    assert ledger.writes == before + 2
    assert ledger.verify().intact
    assert ledger.spent(POOL, "a") + ledger.spent(POOL, "b") == PrivacyLoss.pure(1)


def test_a_refusal_among_others_is_heard_by_who_was_refused_and_not_tried_again(ledger, monkeypatch):
    """Of eleven tenths of a budget of one the last is refused once, in the transaction of those before it."""
    asked, admit = [], admission.admit
    monkeypatch.setattr(admission, "admit", lambda *given: asked.append(given) or admit(*given))
    found = in_a_group(ledger, [lambda i=i: charge(ledger, f"r{i}", pure("0.1")) for i in range(11)])
    assert [type(one) for one in found].count(BudgetError) == 1
    assert len(asked) == 11
    assert ledger.spent(POOL) == PrivacyLoss.pure(1)


def test_an_act_that_fails_leaves_no_trace_among_the_others(ledger):
    """One appends its entry and then raises; those before and after it stand, with their links."""

    def noted(name):
        return lambda db: append(db, "2026-01-01T00:00:00+00:00", "note", {"name": name})

    def torn(db):
        noted("torn")(db)
        raise ValueError("too late")

    charge(ledger)
    acts = [noted("a"), noted("b"), torn, noted("c"), noted("d")]
    found = in_a_group(ledger, [lambda act=act: ledger.together(act) for act in acts])
    with ledger.reading() as db:
        bodies = [row[0] for row in db.execute("SELECT body FROM entries WHERE kind = 'note'")]
        assert db.execute("SELECT count(*), max(entry) FROM entries").fetchone()[0] == max(
            one for one in found if isinstance(one, int)
        )
    assert sorted(bodies) == [f'{{"name":"{name}"}}' for name in "abcd"]
    assert [type(one) for one in found].count(ValueError) == 1


def test_a_transaction_that_sqlite_gives_up_takes_nobody_with_it(ledger):
    """A full disk undoes the whole transaction: each tries again by itself, and only who met it hears of it."""

    def full(db):
        db.execute("ROLLBACK")
        raise sqlite3.OperationalError("disk full")

    acts = [
        *(lambda i=i: charge(ledger, f"r{i}", pure("0.1")) for i in range(3)),
        lambda: ledger.together(full),
    ]
    found = in_a_group(ledger, acts)
    assert all(row.new for row in found[:3])
    assert isinstance(found[3], Exception)
    assert ledger.spent(POOL) == PrivacyLoss.pure("0.3")
    assert ledger.verify().intact


def test_answers_that_wait_are_stored_together_and_leave_when_the_mark_knows_them(ledger):
    """Each reads its own, and the mark holds the last of them before any of them is told."""
    for i in range(6):
        charge(ledger, f"r{i}", pure("0.1"))
    told = []

    def stored(i):
        answer = ledger.store(f"r{i}", "ann", [{"value": i}])
        told.append(ledger.mark.entry >= 6 + i)
        return answer

    before = ledger.writes
    assert in_a_group(ledger, [lambda i=i: stored(i) for i in range(6)]) == [[{"value": i}] for i in range(6)]
    assert ledger.writes == before + 2
    with aside(ledger.path) as db:
        assert ledger.mark.entry == db.execute("SELECT max(entry) FROM entries").fetchone()[0]
    assert all(told)


VICTIM = """
import os, signal, sys, threading, time
from fractions import Fraction
from dpnb.trusted.curator import failpoints, grouped_calls
from tests.contracts.charges import charge_of
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
ledger, where, commits = Ledger(sys.argv[1]), sys.argv[2], []
def at(step):
    if step != "committing":
        return
    commits.append(step)
    while len(commits) == 1 and len(ledger._together._waiting) < 5:
        time.sleep(.001)
    if len(commits) == 2 and where == "before":
        os.kill(os.getpid(), signal.SIGKILL)
def told():
    if len(commits) == 2 and where == "after":
        os.kill(os.getpid(), signal.SIGKILL)
failpoints.install(at)
ledger.listen(told)
def spend(name):
    ledger.charge(
        request_id=name, principal="ann", digest="d", pool="dataset:people", dataset="people", data_version="v1",
        schema_version="s1", mechanism_version="m1", cap=PrivacyLoss.pure(1),
        questions=[charge_of("k", ["q"], [PrivacyEvent("pure", Fraction(1, 10))])],
    )
    print(name, flush=True)
for i in range(6):
    threading.Thread(target=spend, args=(f"r{i}",)).start()
"""


@pytest.mark.parametrize(("where", "kept"), [("before", 1), ("after", 6)])
def test_a_kill_takes_the_whole_group_or_none_of_it(tmp_path, where, kept):
    """Before the commit nothing of the five is there; after it all of them are, none answered, and a retry charges none again."""
    path = tmp_path / "ledger.sqlite3"
    victim = subprocess.run(
        [sys.executable, "-c", VICTIM, str(path), where],
        check=False,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
    )
    assert victim.returncode == -signal.SIGKILL
    told = victim.stdout.split()
    with Ledger(path) as ledger:
        assert ledger.spent(POOL) == PrivacyLoss.pure(f"0.{kept}")
        assert ledger.verify().intact
        assert len(told) <= 1  # of the five nobody went on
        again = [charge(ledger, f"r{i}", pure("0.1"), digest="d") for i in range(6)]
        assert sum(row.new for row in again) == 6 - kept
        assert ledger.spent(POOL) == PrivacyLoss.pure("0.6")
