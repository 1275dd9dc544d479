"""A hold outlives kills, older copies and restores: what was closed stays closed, and a charge is never between two states."""

from __future__ import annotations

import contextlib
import os
import sqlite3

import pytest

from dpnb.client.priced_batch import batch_of
from dpnb.errors import BudgetError, CuratorGone, OwnerError
from dpnb.owner.backup import backup
from dpnb.planner.request import Ask
from dpnb.trusted.curator import chain, failpoints, holds
from dpnb.trusted.curator.holds import HeldError
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.mark import MarkFile
from dpnb.trusted.owner import act_entries
from dpnb.trusted.owner.act_entries import Act
from dpnb.trusted.owner.restoration import restore
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.wire.messages import Again, Attach, Submit
from dpnb.trusted.wire.places import Home
from tests.curator import small
from tests.curator.test_failpoints import in_child
from tests.curator.test_ledger import AGE, POOL, SEX, charge, pure, terms
from tests.curator.test_mark import SMALL, message

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

ACT = Act("ann", "why", "2026-01-01T00:00:00+00:00")


def held(ledger, kind, dataset="small"):
    return ledger.act(lambda db: act_entries.hold(db, kind, dataset, ACT))


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "ledger.sqlite3") as found:
        yield found


@pytest.fixture
def home(dpnb_home):
    """A home with one dataset, asked once."""
    with contextlib.closing(small.curator(dpnb_home)) as service:
        data = small.opened(small.session(service), dpnb_home)
        service.reply(message(data), "ann")
    return Home(dpnb_home)


def state(home):
    with Ledger(home.ledger) as ledger:
        assert ledger.frozen is None
        assert ledger.verify().intact
        return ledger.state("small")


@pytest.mark.parametrize("kind", ["freeze", "close"])
@pytest.mark.parametrize("aside", [True, False])
def test_an_older_copy_opens_nothing_that_was_held(home, tmp_path, kind, aside):
    """Whether the newer ledger is still there or lost: the mark knows it too."""
    backup(home, tmp_path / "copy")
    with Ledger(home.ledger) as ledger:
        held(ledger, kind)
    if not aside:
        home.ledger.unlink()
        for end in ("-wal", "-shm"):
            home.ledger.with_name(home.ledger.name + end).unlink(missing_ok=True)
    restore(home, "the disk failed", tmp_path / "copy")
    assert state(home) == holds.STATES[kind]


def test_what_was_opened_again_is_open_after_a_restore(home, tmp_path):
    with Ledger(home.ledger) as ledger:
        held(ledger, "freeze")
        held(ledger, "unfreeze")
    backup(home, tmp_path / "copy")
    restore(home, "moved to another disk", tmp_path / "copy")
    assert state(home) == "open"


@pytest.mark.parametrize("late", [False, True])
def test_killed_about_the_mark_a_closing_stands(home, late, monkeypatch):
    real = MarkFile.raised

    def dying(self, to):
        if late:
            real(self, to)
        os._exit(7)

    def work():
        ledger = Ledger(home.ledger)
        monkeypatch.setattr(MarkFile, "raised", dying)
        held(ledger, "close")
        return b"alive"

    assert in_child(work)[0] == 7
    assert state(home) == "closed"


def test_killed_inside_its_transaction_a_closing_leaves_no_trace(home, monkeypatch):
    def work():
        monkeypatch.setattr(chain, "rows_of", lambda *_: os._exit(7))
        with Ledger(home.ledger) as ledger:
            held(ledger, "close")
        return b"alive"

    assert in_child(work)[0] == 7
    assert state(home) == "open"


class Lost(Exception):
    """An answer that was lost before it was stored."""


def test_what_was_charged_before_a_closing_is_answered_and_nothing_else_is(home):
    """The retry of a charge that has no answer completes it; a new request has what was stored before, and nothing is charged."""

    def losing(step):
        if step == "before-store":
            raise Lost

    with contextlib.closing(small.curator(home.root)) as service:
        data = small.opened(small.session(service), home.root)
        asked, other = message(data, "c" * 32, epsilon=2), message(data, "d" * 32, epsilon=3)
        batch = batch_of([data.x.sum()], Ask.make(epsilon=1))
        unasked = Submit(handle=data.handle, request="f" * 32, digest=batch.digest, plan=batch.body)
        failpoints.install(losing)
        try:
            with pytest.raises(Lost):
                service.reply(asked, "ann")
        finally:
            failpoints.install(None)
        before = service._ledger.spent(SMALL)
        held(service._ledger, "close")
        assert service.reply(other, "ann").entry is None
        with pytest.raises(OwnerError, match="closed"):
            service.reply(unasked, "ann")
    with contextlib.closing(small.curator(home.root)) as service:
        service.reply(Attach(source=Again(handle=data.handle)), "ann")
        assert service.reply(message(data, "e" * 32, epsilon=2), "ann").entry is None
        assert service.reply(asked, "ann").entry is not None
        assert service._ledger.spent(SMALL) == before


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE holds SET state = 'open'",
        "DELETE FROM holds",
        "INSERT INTO holds SELECT 99, dataset, 'open' FROM holds",
        "UPDATE grants SET cap = NULL",
        "DELETE FROM grants",
    ],
)
def test_a_forged_hold_or_grant_does_not_verify(home, forgery):
    with Ledger(home.ledger) as ledger:
        pool = ledger.pins("small").pool
        cap = ledger.pins("small").budget.cap
        held(ledger, "freeze")
        ledger.act(lambda db: act_entries.grant(db, "small", "ann", cap, ACT))
        assert ledger.verify().intact
        assert pool
    with contextlib.closing(sqlite3.connect(home.ledger)) as db:
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        db.execute(forgery)
        for _, text in triggers:
            db.execute(text)
        db.commit()
    with Ledger(home.ledger) as ledger:
        assert not ledger.verify().intact


# ------------------------------------------------------------------ the rules alone, on a ledger


def test_a_hold_stops_a_charge_and_unfreezing_lets_it(ledger):
    ledger.attach(terms(), "content")
    held(ledger, "freeze", "people")
    with pytest.raises(OwnerError, match="nothing was spent"):
        charge(ledger, "r1", pure("0.1"))
    assert not ledger.spent(POOL)
    held(ledger, "unfreeze", "people")
    assert charge(ledger, "r2", pure("0.1")).new
    held(ledger, "close", "people")
    with pytest.raises(OwnerError, match="nothing was spent"):
        charge(ledger, "r3", pure("0.1"))
    assert ledger.spent(POOL) == PrivacyLoss.pure("0.1")


def test_a_hold_is_on_every_name_of_the_same_rows(ledger):
    ledger.attach(terms(pool="pool:town"), "content")
    ledger.attach(terms(dataset="other", pool="pool:town"), "content")
    ledger.attach(terms(dataset="stranger", pool="pool:town"), "different")
    held(ledger, "close", "people")
    assert [ledger.state(name) for name in ("people", "other", "stranger")] == ["closed", "closed", "open"]


def test_closed_rows_get_no_further_name_whatever_is_recorded(ledger):
    ledger.attach(terms(pool="pool:town"), "content")
    held(ledger, "close", "people")
    other = terms(dataset="other", pool="pool:town")
    with pytest.raises(OwnerError, match="cannot be opened under another name"):
        ledger.attach(other, "content")
    with pytest.raises(OwnerError, match="cannot be opened under another name"):
        ledger.attach(other, "content", by="ann", reason="I try")


def test_a_grant_only_tightens(ledger):
    """Above the budget it changes nothing; below it, both the pool's and the principal's hold."""
    ledger.attach(terms(), "content")
    for principal, amount, fits in (("", "100", "4"), ("", "0.5", "0.5"), ("ann", "0.2", "0.2")):
        ledger.act(
            lambda db, who=principal, cap=amount: act_entries.grant(
                db, "people", who, PrivacyLoss.pure(cap), ACT
            )
        )
        assert ledger.room(POOL, "ann", PrivacyLoss.pure(4)).left == PrivacyLoss.pure(fits)
    with pytest.raises(BudgetError):
        charge(ledger, "r", pure("0.3"), cap=4)


def looser(ledger):
    """An owner's act: terms for which no price was made."""
    ledger.attach(terms(columns={"age": AGE, "sex": SEX, "pay": AGE}), "rows", by="ann", reason="pay came")


@pytest.mark.parametrize(
    ("act", "refusal"),
    [
        (lambda ledger: held(ledger, "freeze", "people"), HeldError),
        (lambda ledger: held(ledger, "close", "people"), HeldError),
        (
            lambda ledger: ledger.act(
                lambda db: act_entries.grant(db, "people", "ann", PrivacyLoss.pure("0.1"), ACT)
            ),
            BudgetError,
        ),
        (
            lambda ledger: ledger.act(
                lambda db: act_entries.grant(db, "people", "", PrivacyLoss.pure("0.1"), ACT)
            ),
            BudgetError,
        ),
        (lambda ledger: ledger.set_cap("ann", POOL, PrivacyLoss.pure("0.1")), BudgetError),
        (
            lambda ledger: ledger.attach(
                terms(mode="teaching", public=True, budget=Budget.from_toml({"epsilon": "0.1"})), "rows"
            ),
            BudgetError,
        ),
        (looser, CuratorGone),
    ],
    ids=["frozen", "closed", "granted to ann", "granted to all", "own cap", "smaller budget", "other terms"],
)
@pytest.mark.parametrize("elsewhere", [False, True])
def test_the_next_charge_knows_every_act(tmp_path, act, refusal, elsewhere):
    """Whoever's connection recorded it: what a charge remembers of acts is forgotten at the next one; and a reset gives all back."""
    path, taught = tmp_path / "ledger.sqlite3", {"mode": "teaching", "public": True}
    promised = terms(**taught if refusal is BudgetError else {})
    with Ledger(path) as ledger, Ledger(path) as other:
        ledger.attach(promised, "rows")
        for turn in range(2):
            assert charge(ledger, f"r{turn}", pure("0.1"), cap=4, terms=promised).new
        act(other if elsewhere else ledger)
        with pytest.raises(refusal):
            charge(ledger, "r2", pure("0.1"), cap=4, terms=promised)
        assert ledger.spent(POOL) == PrivacyLoss.pure("0.2")
        if refusal is BudgetError:
            (other if elsewhere else ledger).reset(POOL)
            assert charge(ledger, "r3", pure("0.1"), cap=4, terms=promised).spent_after == PrivacyLoss.pure(
                "0.1"
            )
        assert ledger.verify().intact
