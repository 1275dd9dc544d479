"""Attacks on a home: parts of it are lost, swapped or changed by another process, and nothing is spent twice or forgotten."""

from __future__ import annotations

import contextlib
import json
import os

import pytest

from dpnb.__main__ import main
from dpnb.client.frames import hand_over
from dpnb.curator import backup as copying
from dpnb.curator import examination, faults, restoration
from dpnb.curator.backup import backup
from dpnb.curator.guard import note_in_copies, notes_of
from dpnb.curator.ledger import Ledger
from dpnb.curator.mark import mark_of
from dpnb.curator.restoration import restore
from dpnb.curator.terms import Terms
from dpnb.datasets import load
from dpnb.errors import CuratorGone, FrozenError, OwnerError
from dpnb.wire.messages import Again, Attach
from dpnb.wire.places import Home
from tests.curator import small
from tests.curator.test_mark import SMALL, Desk, message


class Killed(BaseException):
    """The process ends here."""


def killed(*_):
    """End."""
    raise Killed


@pytest.fixture
def desk(dpnb_home):
    return Desk(dpnb_home)


def spent(desk):
    """What the small dataset has spent, by a ledger that is opened anew and is not frozen."""
    with Ledger(desk.home.ledger) as ledger:
        assert ledger.frozen is None
        return str(ledger.spent(SMALL))


# ------------------------------------------------------------- terms that change beside a curator


def unsized():
    """The small dataset with a private size."""
    record = small.declared(adjacency="add-remove")
    del record["dataset"]["rows"]
    return load(record).schema


@pytest.mark.parametrize("loosened", [{}, {"adjacency": "add-remove", "pool": "county"}])
def test_what_is_open_is_not_charged_under_terms_that_the_owner_changed_from_a_terminal(dpnb_home, loosened):
    with contextlib.closing(small.curator(dpnb_home)) as service:
        data = small.session(service).attach(hand_over(small.rows(), unsized(), Home(dpnb_home)))
        service.reply(message(data, "1" * 32), "ann")
        record = small.declared(**loosened)
        if loosened:
            del record["dataset"]["rows"]
        with Ledger(Home(dpnb_home).ledger) as owner:
            owner.loosen(Terms.of(load(record).schema), "rows", by="owner", reason="a correction")
            before = str(owner.spent(SMALL))
        with pytest.raises(CuratorGone, match="changed the terms"):
            service.reply(message(data, "2" * 32, fresh=True), "ann")
        assert before == ("ε 1" if loosened else "ε 2")
        assert str(service._ledger.spent(SMALL)) == before
        again = service.reply(message(data, "1" * 32), "ann")
    assert again.entry is not None  # what was charged before is answered as ever


def test_a_dataset_that_joins_a_pool_while_it_is_open_pays_from_that_pool(dpnb_home):
    """Its handle is the same as before; what its open batch would charge is refused, and what comes after is counted jointly."""
    with contextlib.closing(small.curator(dpnb_home)) as service:
        session, home = small.session(service), Home(dpnb_home)
        alone = small.opened(session, dpnb_home)
        before = service._find(alone.handle, "ann")
        county = load(small.declared(pool="county")).schema
        with Ledger(home.ledger) as owner:
            owner.loosen(Terms.of(county), "rows", by="owner", reason="the same people")
        joined = session.attach(hand_over(small.rows(), county, home))
        assert joined.handle == alone.handle
        with pytest.raises(CuratorGone, match="changed the terms"):
            charged_as(service, before, message(joined, "1" * 32))
        service.reply(message(joined, "2" * 32), "ann")
        assert str(service._ledger.spent("pool:county")) == "ε 1"
        assert not service._ledger.spent(SMALL)


def charged_as(service, attached, request):
    """Answer a request on what was open before: the batch was past every check but the charge's own."""
    service._open["ann", attached.handle], now = attached, service._open["ann", attached.handle]
    try:
        service.reply(request, "ann")
    finally:
        service._open["ann", attached.handle] = now


# ------------------------------------------------------------- the key


@pytest.mark.parametrize("how", ["missing", "another one"])
def test_a_home_whose_key_is_lost_or_swapped_opens_frozen_and_not_with_a_second_budget(desk, how, capsys):
    desk.home.key.unlink()
    if how == "another one":
        desk.home.key.write_bytes(os.urandom(32))
    with contextlib.closing(small.curator(desk.home.root)) as service:
        assert f"the key beside it is {how}" in service.frozen
        with pytest.raises(FrozenError):
            small.opened(small.session(service), desk.home.root, name="alias")
    assert main(["verify"]) == 2
    assert "the key beside it" in capsys.readouterr().err


def test_a_backup_puts_its_key_back_and_sets_the_other_one_aside(desk, tmp_path):
    backup(desk.home, tmp_path / "copy")
    key, other = desk.home.key.read_bytes(), os.urandom(32)
    desk.home.key.write_bytes(other)
    restore(desk.home, "the key was lost", tmp_path / "copy")
    assert desk.home.key.read_bytes() == key
    assert other in [path.read_bytes() for path in desk.home.root.glob("set-aside-*/key")]
    with contextlib.closing(small.curator(desk.home.root)) as service:
        assert service.frozen is None
        with pytest.raises(OwnerError, match="attached before as protected"):
            small.opened(small.session(service), desk.home.root, name="alias")


def test_an_owner_may_go_on_with_another_key_by_a_recorded_act(desk):
    desk.home.key.write_bytes(os.urandom(32))
    restore(desk.home, "the key is lost for good")
    assert spent(desk) == "ε 6"


# ------------------------------------------------------------- backup, verification and restore


@pytest.mark.parametrize("room", [examination, copying])
def test_what_is_answered_and_noted_meanwhile_is_not_held_against_an_earlier_state(
    dpnb_home, room, monkeypatch, tmp_path
):
    home = Home(dpnb_home)
    with contextlib.closing(small.curator(dpnb_home)) as service:
        data = small.opened(small.session(service), dpnb_home)
        examine = room.examine

        def slowly(db):
            found = examine(db)
            service.reply(message(data, "1" * 32), "ann")
            note_in_copies(home.ledger, service._ledger.mark)
            return found

        monkeypatch.setattr(room, "examine", slowly)
        said = examination.verify(home) if room is examination else backup(home, tmp_path / "copy")
        assert "Head" in said
        assert service.frozen is None


def charged_and_killed(desk):
    """A charge of ε 2 that has no answer, and that no mark was raised to."""
    service = small.curator(desk.home.root)
    service.reply(Attach(source=Again(handle=desk.data.handle)), "ann")
    faults.install(lambda step: killed() if step == "charged" else None)
    try:
        with pytest.raises(Killed):
            service.reply(message(desk.data, "9" * 32, epsilon=2, fresh=True), "ann")
    finally:
        faults.install(None)
    service._ledger._database._connection.close()


def dying_after(step, patch):
    """Let a restore die right after a step."""
    done = getattr(restoration, step)
    patch.setattr(restoration, step, lambda *arguments: killed(done(*arguments)))


@pytest.mark.parametrize("dies", [False, True])
def test_an_older_copy_refunds_no_charge_of_the_newer_ledger_that_it_replaces(
    desk, tmp_path, monkeypatch, dies
):
    backup(desk.home, tmp_path / "copy")
    charged_and_killed(desk)
    if dies:
        with monkeypatch.context() as patch:
            dying_after("_set_aside", patch)
            with pytest.raises(Killed):
                restore(desk.home, "why", tmp_path / "copy")
        assert not desk.home.ledger.exists()
    restore(desk.home, "why", tmp_path / "copy")
    assert spent(desk) == "ε 8"


def test_an_older_copy_without_a_mark_refunds_no_pool_that_only_the_newer_ledger_knows(desk, tmp_path):
    backup(desk.home, tmp_path / "copy")
    with contextlib.closing(small.curator(desk.home.root)) as service:
        data = small.opened(small.session(service), desk.home.root, small.rows(2), name="other")
        service.reply(message(data, "7" * 32), "ann")
    mark_of(desk.home.ledger).unlink()
    for note in notes_of(desk.home.ledger):
        note.unlink()
    restore(desk.home, "why", tmp_path / "copy")
    with Ledger(desk.home.ledger) as ledger:
        assert str(ledger.spent("dataset:other")) == "ε 10"


def test_a_restore_that_dies_before_it_replaces_the_mark_books_the_same_when_it_is_done_again(
    desk, monkeypatch
):
    with monkeypatch.context() as patch:
        dying_after("note_in_copies", patch)
        with pytest.raises(Killed):
            restore(desk.home, "why")
    restore(desk.home, "why")
    assert spent(desk) == "ε 6"


@pytest.mark.parametrize("wrong", ["curator.lock", "mark-of-ledger"])
def test_what_keeps_a_restore_from_its_files_is_named(desk, wrong, capsys):
    path = desk.home.root / wrong
    path.unlink(missing_ok=True)
    path.mkdir()
    assert main(["restore", "--reason", "why"]) == 2
    assert wrong in capsys.readouterr().err


@pytest.mark.parametrize(
    "note", [[1], None, {"mark": {"ledger": "l", "entry": 1, "head": "h", "totals": []}}]
)
def test_a_note_that_no_curator_wrote_is_passed_over(desk, note):
    notes_of(desk.home.ledger)[0].write_text(json.dumps(note))
    assert spent(desk) == "ε 6"
    restore(desk.home, "why")
    assert spent(desk) == "ε 6"
