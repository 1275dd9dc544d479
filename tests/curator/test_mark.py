"""The mark notices what the ledger forgot: whatever is deleted, replaced, cut or flipped, nothing is released below it."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import re
import shutil
import sqlite3
import struct
import threading
import time
import zlib
from collections import Counter
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpnb.__main__ import main
from dpnb.client.priced_batch import batch_of
from dpnb.errors import BudgetError, ChargedError, CuratorError, FrozenError, OwnerError, RequestReused
from dpnb.owner.backup import backup
from dpnb.planner.request import Ask
from dpnb.trusted import system
from dpnb.trusted.curator import database, failpoints
from dpnb.trusted.curator.audit_trail import examine
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.database import aside
from dpnb.trusted.curator.guard import journal_of, mark_at, note_in_copies
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.mark import Mark, MarkFile, Total, mark_of
from dpnb.trusted.curator.release import Randomness
from dpnb.trusted.curator.service import Curator
from dpnb.trusted.curator.upkeep import Upkeep
from dpnb.trusted.owner.restoration import restore
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.wire.codec import encode, exact_json
from dpnb.trusted.wire.messages import Again, Attach, Receipt, Submit
from dpnb.trusted.wire.places import Home
from tests.curator import small
from tests.curator.test_ledger import POOL, charge, forge, pure, terms
from tests.curator.test_process import wait_until

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

SMALL = "dataset:small"


def message(data, request="a" * 32, epsilon=1, **ask):
    """The message that asks for a mean."""
    batch = batch_of([data.x.mean()], Ask.make(epsilon=epsilon, **ask))
    return Submit(handle=data.handle, request=request, digest=batch.digest, plan=batch.body)


def in_child(work):
    """Run `work` in a forked process that ends at once and without clean-up, as if it were killed."""
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            work()
            status = 0
        os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


class SpentHome:
    """A home in which ann has spent ε 6 of 10 in two releases, by curators that were killed."""

    def __init__(self, home):
        self.home = Home(Path(home))
        with contextlib.closing(small.curator(home)) as service:
            self.data = small.opened(small.session(service), home)
        self.messages = [message(self.data, f"{n:032x}", epsilon=3, fresh=True) for n in (1, 2)]
        in_child(lambda: self.ask(self.messages[0]))
        self.older = self.home.root.with_name(f"{self.home.root.name}-older")
        shutil.copytree(self.home.root, self.older)
        in_child(lambda: self.ask(self.messages[1]))

    def ask(self, message):
        """Ask a curator that is never closed."""
        service = small.curator(self.home.root)
        service.reply(Attach(source=Again(handle=message.handle)), "ann")
        return service.reply(message, "ann")

    def files(self, root=None):
        """The ledger's files: main, journal, its index."""
        root = self.home.root if root is None else root
        return [root / f"{self.home.ledger.name}{part}" for part in ("", "-wal", "-shm")]

    def lose(self, *parts):
        """Delete files of the ledger."""
        for part in parts:
            self.home.ledger.with_name(f"{self.home.ledger.name}{part}").unlink(missing_ok=True)


@pytest.fixture
def desk(dpnb_home):
    return SpentHome(dpnb_home)


def refused(desk, fault):
    """Nothing opens, is released, shown or charged; the owner is told the fault by `dpnb verify`, which fails."""
    with contextlib.closing(small.curator(desk.home.root)) as service:
        assert fault in service.frozen
        again = Attach(source=Again(handle=desk.data.handle))
        for request in (again, *desk.messages, message(desk.data, "f" * 32)):
            with pytest.raises(FrozenError) as refusal:
                service.reply(request, "ann")
            assert "dpnb verify" in refusal.value.message
            assert str(desk.home.root) not in refusal.value.message
            assert not refusal.value.details
        with pytest.raises(FrozenError):
            small.opened(small.session(service, "bob"), desk.home.root)
    return True


def verified(capsys):
    """Run `dpnb verify`: its status, and what it said."""
    status = main(["verify"])
    said = capsys.readouterr()
    return status, said.out + said.err


def restored(desk, *more, reason="the disk failed"):
    assert main(["restore", "--yes", "--reason", reason, *map(str, more)]) == 0
    service = small.curator(desk.home.root)
    here = small.session(service)
    return service, here, small.opened(here, desk.home.root)


# ------------------------------------------------------------------ what was seen


def test_a_home_that_is_whole_opens_after_kills_and_its_answers_are_the_same(desk, capsys):
    with contextlib.closing(small.curator(desk.home.root)) as service:
        assert service.frozen is None
        data = small.opened(small.session(service), desk.home.root)
        assert data.budget.spent.amount == 6
    assert verified(capsys)[0] == 0


@pytest.mark.slow
def test_a_deleted_ledger_stops_the_start_of_a_curator_process_and_its_kernel_hears_what_to_do(
    dpnb_home, tmp_path
):
    import dpnb

    (tmp_path / "small.csv").write_text("x,g,y\n" + "1,0,1\n" * 40)
    declared = '[dataset]\nname = "small"\nsource = "small.csv"\nadjacency = "change-one"\nrows = 40\n'
    columns = '[budget]\nepsilon = 10\n[columns.x]\ntype = "integer"\nlower = 0\nupper = 10\n'
    (tmp_path / "small.dpnb.toml").write_text(declared + columns)
    data = dpnb.open(tmp_path / "small.csv", quiet=True)
    dpnb.release([data.x.mean()], epsilon=9)
    dpnb.client.api.close()
    home = Home(Path(dpnb_home))
    deadline = time.monotonic() + 20
    while home.address.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    with small.locked(home.lock):
        home.ledger.unlink()
    with pytest.raises(FrozenError, match=r"(?s)missing.*dpnb restore") as told:
        dpnb.open(tmp_path / "small.csv", quiet=True)
    assert "Nothing is released" in str(told.value)


def without_mark(desk):
    desk.lose("", "-wal", "-shm")
    mark_of(desk.home.ledger).unlink()


def without_mark_and_key(desk):
    without_mark(desk)
    desk.home.key.unlink()


def copied_alone(desk):
    content = desk.home.ledger.read_bytes()
    desk.lose("", "-wal", "-shm")
    desk.home.ledger.write_bytes(content)


def put_back(desk, *more):
    """Put older files in the place of the ledger's."""
    desk.lose("", "-wal", "-shm")
    for file in (*desk.files(desk.older), *more):
        if file.exists():
            shutil.copy(file, desk.home.root)


def yesterdays(desk):
    """All but the folder of prepared copies, whose notes know a later entry."""
    note_in_copies(desk.home.ledger, mark_at(desk.home.ledger))
    put_back(desk, mark_of(desk.older / desk.home.ledger.name))


def another_homes(desk):
    with Ledger(desk.home.root.with_name("other.sqlite3")) as other:
        for n in range(20):
            charge(other, f"r{n}", cap=100)
    desk.lose("", "-wal", "-shm")
    shutil.copy(other.path, desk.home.ledger)


def overwritten_mark(content):
    return lambda desk: mark_of(desk.home.ledger).write_bytes(content)


LOST = {
    "deleted": (lambda desk: desk.lose("", "-wal", "-shm"), "it is missing, with entry 1"),
    "deleted with its mark": (without_mark, "it is missing"),
    "deleted with its mark and its key": (without_mark_and_key, "it is missing"),
    "an older copy": (put_back, "to {last} are missing"),
    "its journal is deleted": (lambda desk: desk.lose("-wal", "-shm"), "missing"),
    "its main file alone": (copied_alone, "missing"),
    "of yesterday, with its mark": (yesterdays, "missing"),
    "another home's": (another_homes, "another ledger"),
    "its mark is empty": (overwritten_mark(b""), "the mark beside it is damaged"),
    "its mark is cut": (overwritten_mark(b"x" * 100), "the mark beside it is damaged"),
    "its mark is nothing": (overwritten_mark(b"\0" * 32768), "the mark beside it is damaged"),
    "its mark is something else": (overwritten_mark(b"x" * 32768), "the mark beside it is damaged"),
}


@pytest.mark.parametrize(("lose", "fault"), LOST.values(), ids=LOST)
def test_what_the_ledger_lost_is_noticed_and_its_owner_told_what_to_do(desk, capsys, lose, fault):
    """Nothing is released, and no new ledger is made in its place; `dpnb verify` fails with the fault and the way out."""
    fault = fault.format(last=mark_at(desk.home.ledger).entry)
    lose(desk)
    there = desk.home.ledger.exists()
    assert refused(desk, fault)
    assert desk.home.ledger.exists() is there
    status, said = verified(capsys)
    assert status != 0
    assert re.search("dpnb restore|the mark beside it is missing or damaged", said)


def test_a_whole_ledger_without_its_mark_is_frozen(desk, tmp_path):
    mark_of(desk.home.ledger).unlink()
    assert refused(desk, "the mark beside it is missing")
    with contextlib.closing(sqlite3.connect(desk.home.ledger)) as source:
        source.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(desk.home.ledger, tmp_path / "ledger.sqlite3")
    with Ledger(tmp_path / "ledger.sqlite3") as elsewhere:
        assert "mark" in elsewhere.frozen


def test_a_ledger_cut_between_charge_and_store_does_not_pass_and_draw_again(dpnb_home):
    """The answer left; the ledger of a moment before its store would let a retry, or an adopter, draw a second one."""
    with contextlib.closing(small.curator(dpnb_home)) as service:
        data = small.opened(small.session(service), dpnb_home)
        asked = message(data)
        kept = []

        def keep(step):
            if step == "before-store":
                opened = contextlib.closing(sqlite3.connect(":memory:"))
                with aside(service._ledger.path) as db, opened as copy:
                    db.backup(copy)
                    kept.append(copy.serialize())

        failpoints.install(keep)
        try:
            answered = service.reply(asked, "ann")
        finally:
            failpoints.install(None)
        assert answered.entry
    home = Home(Path(dpnb_home))
    for part in ("", "-wal", "-shm"):
        home.ledger.with_name(home.ledger.name + part).unlink(missing_ok=True)
    home.ledger.write_bytes(kept[0])
    with aside(home.ledger) as db:
        assert examine(db).intact  # nothing but the mark can tell
    with contextlib.closing(small.curator(dpnb_home)) as service:
        for request in (asked, message(data, "b" * 32)):
            with pytest.raises(FrozenError):
                service.reply(request, "ann")


# ------------------------------------------------------------------ while it runs


def moved_home(home):
    home.root.rename(home.root.with_name(home.root.name + "-moved"))


def unlinked(part):
    return lambda home: home.ledger.with_name(f"{home.ledger.name}{part}").unlink()


def replaced_by_its_copy(home):
    shutil.copy(home.ledger, home.root / "copy")
    (home.root / "copy").replace(home.ledger)


@pytest.mark.parametrize(
    "move",
    [
        unlinked(""),
        unlinked("-wal"),
        lambda home: mark_of(home.ledger).unlink(),
        lambda home: home.ledger.rename(home.root / "elsewhere"),
        replaced_by_its_copy,
        moved_home,
    ],
    ids=[
        "ledger deleted",
        "journal deleted",
        "mark deleted",
        "ledger renamed",
        "ledger replaced",
        "home renamed",
    ],
)
def test_a_running_curator_refuses_and_freezes_when_its_files_are_no_longer_at_their_paths(
    service, ann, data, dpnb_home, move
):
    stored = message(data, "1" * 32)
    service.reply(stored, "ann")
    before = service._ledger.mark
    move(Home(Path(dpnb_home)))
    with pytest.raises(FrozenError):
        service.reply(message(data, "2" * 32, fresh=True), "ann")
    assert "while the ledger was open" in service.frozen
    for request in (stored, message(data, "3" * 32)):  # the store's answers neither
        with pytest.raises(FrozenError):
            service.reply(request, "ann")
    assert service._ledger.mark == before


def test_files_that_move_between_charge_and_answer_keep_the_answer_in(service, ann, data, dpnb_home):
    failpoints.install(lambda step: step == "before-store" and mark_of(Home(Path(dpnb_home)).ledger).unlink())
    try:
        with pytest.raises(FrozenError):
            service.reply(message(data), "ann")
    finally:
        failpoints.install(None)


def test_what_is_frozen_stays_frozen_and_its_reason_is_the_first_and_in_the_owners_log(
    service, ann, data, dpnb_home
):
    service._ledger.freeze("entry 7 was changed")
    service._ledger.freeze("something else")
    service.answer(encode(message(data)), "ann")
    assert service.frozen == "entry 7 was changed"
    assert "entry 7 was changed" in Home(Path(dpnb_home)).log.read_text()


# ------------------------------------------------------------------ edited behind its back


EDITS = [
    "UPDATE charges SET spent = replace(spent, '0.5', '0.1') WHERE entry = (SELECT max(entry) FROM charges)",
    "UPDATE charges SET mine = replace(mine, '0.5', '0.1') WHERE entry = (SELECT max(entry) FROM charges)",
    "UPDATE charges SET pool = 'dataset:other' WHERE entry = (SELECT max(entry) FROM charges)",
    "UPDATE charges SET period = 7",
    "DELETE FROM charges",
    "DELETE FROM charges WHERE entry = (SELECT max(entry) FROM charges)",
    f"INSERT INTO resets VALUES (99, '{POOL}')",
    "UPDATE attachments SET budget = replace(budget, '\"4\"', '\"400\"')",
    "UPDATE caps SET cap = NULL",
    "UPDATE versions SET protected = 0",
    "UPDATE entries SET body = replace(body, '0.5', '0.1') WHERE kind = 'charge'",
    "UPDATE entries SET hash = 'x' WHERE entry = (SELECT max(entry) FROM entries)",
    "DELETE FROM entries WHERE entry = (SELECT max(entry) FROM entries)",
    "INSERT INTO entries VALUES (99, 'now', 'reset', '{}', 'x')",
]


def five_charges(path):
    with Ledger(path) as ledger:
        ledger.attach(terms(), "content")
        ledger.set_cap("ann", POOL, PrivacyLoss.pure(3))
        for n in range(5):
            charge(ledger, f"r{n}", cap=4)
            ledger.store(f"r{n}", "ann", [{"value": [n]}])


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_total_budget_cap_or_head_is_seen_at_opening(tmp_path, edit):
    path = tmp_path / "ledger.sqlite3"
    five_charges(path)
    forge(path, edit)
    with Ledger(path) as ledger:
        assert ledger.frozen
        with pytest.raises(FrozenError):
            charge(ledger, "r9")
        with pytest.raises(FrozenError):
            ledger.answers("r1", "ann")
        with pytest.raises(FrozenError):
            ledger.spent(POOL)


def old_entry_forged(home):
    """Change what no opening looks at: an early charge's text, in a ledger that has grown since."""
    with contextlib.closing(small.curator(home)) as service:
        here = small.session(service)
        data = small.opened(here, home)
        for _ in range(3):
            here.release([data.x.mean()], Ask.make(epsilon=1, fresh=True))
    path = Home(Path(home)).ledger
    first = "(SELECT min(entry) FROM charges)"
    forge(path, f"UPDATE entries SET body = replace(body, 'small', 'smell') WHERE entry = {first}")
    with contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT min(entry) FROM charges").fetchone()[0]


def test_a_running_curator_examines_the_whole_chain_freezes_and_logs_the_entry(dpnb_home, capsys):
    entry = old_entry_forged(dpnb_home)
    with contextlib.closing(Curator.opened(Config(Home(Path(dpnb_home))))) as service:
        end = time.monotonic() + 20
        while service.frozen is None:
            assert time.monotonic() < end
            time.sleep(0.01)
        assert f"entry {entry} was changed" in service.frozen
    assert f"entry {entry} was changed" in Home(Path(dpnb_home)).log.read_text()
    status, said = verified(capsys)
    assert status != 0
    assert f"entry {entry} was changed" in said


def test_verify_works_beside_a_running_curator_and_changes_nothing(service, ann, data, dpnb_home, capsys):
    ann.release([data.x.mean()], Ask.make(epsilon=3))
    before = service._ledger.mark
    status, said = verified(capsys)
    assert status == 0
    assert "intact" in said
    assert before.head in said
    assert f"{SMALL}: ε 3 spent" in said
    ann.release([data.y.mean()], Ask.make(epsilon=3))
    assert service._ledger.verify().intact


def test_verify_of_a_home_without_a_ledger_says_so(dpnb_home, capsys):
    status, said = verified(capsys)
    assert status != 0
    assert "DPNB_HOME" in said


# ------------------------------------------------------------------ the order of a release


class Syncs:
    """Counts the syncs of the mark, and fails them while `broken`."""

    def __init__(self, monkeypatch):
        self.count, self.broken = 0, False
        real = system.sync

        def sync(descriptor):
            self.count += 1
            if self.broken:
                raise OSError(errno.EIO, "Input/output error")
            real(descriptor)

        monkeypatch.setattr(system, "sync", sync)


def test_an_answer_costs_one_sync_of_the_mark_and_a_charge_none(tmp_path, monkeypatch):
    with Ledger(tmp_path / "ledger.sqlite3") as ledger:
        syncs = Syncs(monkeypatch)
        charge(ledger)
        assert syncs.count == 0
        ledger.store("r1", "ann", [{"value": [1]}])
        assert syncs.count == 1
        ledger.answers("r1", "ann")
        charge(ledger)
        assert syncs.count == 1


def test_no_answer_leaves_while_the_mark_cannot_be_raised_and_the_retry_completes_the_charge(
    service, ann, data, monkeypatch
):
    """Neither from the store of this request nor as a stored answer of another; and once it can, one charge, one draw."""
    syncs = Syncs(monkeypatch)
    syncs.broken = True
    asked = message(data)
    for _ in range(2):
        with pytest.raises(ChargedError, match=r"You were charged"):
            service.reply(asked, "ann")
    with pytest.raises(ChargedError, match="could not be raised"):
        service.reply(message(data, "b" * 32), "ann")
    stored = service._ledger
    with stored.reading() as db:
        kept = [json.loads(zlib.decompress(row[0])) for row in db.execute("SELECT answer FROM stored")]
    assert len(kept) == 3
    syncs.broken = False
    answered = service.reply(asked, "ann")
    told = [(release["id"], release["parts"]) for release in exact_json(answered.releases)]
    assert told == [(one["id"], one["parts"]) for one in kept]
    assert service._ledger.spent(SMALL).amount == 1
    assert service._ledger.mark.entry >= answered.entry + 1


@pytest.mark.parametrize("late", [False, True])
def test_killed_about_the_raise_of_the_mark_a_retry_reads_the_stored_answer(dpnb_home, late, monkeypatch):
    """Between store and raise, or just after the raise: one charge, one stored answer, and the ledger opens."""
    with contextlib.closing(small.curator(dpnb_home)) as service:
        data = small.opened(small.session(service), dpnb_home)
    asked = message(data)
    real = MarkFile.raised

    def dying(self, to):
        if to.entry > 3:  # not when it is opened
            if late:
                real(self, to)
            os._exit(0)
        real(self, to)

    def work():
        monkeypatch.setattr(MarkFile, "raised", dying)
        service = small.curator(dpnb_home)
        service.reply(Attach(source=Again(handle=asked.handle)), "ann")
        service.reply(asked, "ann")
        os._exit(7)

    in_child(work)
    with contextlib.closing(small.curator(dpnb_home)) as service:
        service.reply(Attach(source=Again(handle=asked.handle)), "ann")
        kept = service._ledger.answers(asked.request, "ann")
        assert kept is not None
        assert service._ledger.mark.entry == service._ledger.verify().entries
        service.reply(asked, "ann")
        assert service._ledger.answers(asked.request, "ann") == kept
        assert service._ledger.spent(SMALL).amount == 1


def test_every_pools_total_is_in_the_mark_and_a_reset_begins_a_new_period(tmp_path):
    path = tmp_path / "ledger.sqlite3"
    with Ledger(path) as ledger:
        ledger.attach(terms(mode="teaching", public=True), "content")
        for n, pool in enumerate(["dataset:a", "dataset:b", POOL]):
            charge(ledger, f"r{n}", pure(f"0.{n + 1}"), pool=pool)
            ledger.store(f"r{n}", "ann", [{}])
        spent = {pool: str(total.spent) for pool, total in ledger.mark.totals.items()}
        assert spent == {"dataset:a": "ε 0.1", "dataset:b": "ε 0.2", POOL: "ε 0.3"}
        reset = ledger.reset(POOL)
    assert mark_at(path).totals[POOL] == Total(reset, PrivacyLoss.pure(0))
    with Ledger(path) as ledger:
        assert ledger.frozen is None
        assert ledger.mark == mark_at(path)


def test_threads_and_processes_that_answer_at_once_leave_the_highest_mark(tmp_path):
    path = tmp_path / "ledger.sqlite3"
    Ledger(path).close()

    def work(name):
        with Ledger(path, wait=60) as ledger:
            threads = [threading.Thread(target=some, args=(ledger, f"{name}{n}")) for n in range(4)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]

    def some(ledger, name):
        for n in range(8):
            charge(ledger, f"{name}-{n}", pure("0.01"), cap=100, dataset=name[0])
            ledger.store(f"{name}-{n}", "ann", [{}])

    children = []
    for name in "abc":
        child = os.fork()
        if child == 0:
            status = 1
            with contextlib.suppress(BaseException):
                work(name)
                status = 0
            os._exit(status)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 3
    with Ledger(path) as ledger:
        found = ledger.verify()
        assert found.intact
        assert found.entries == 1 + 3 * 4 * 8 * 2
        assert (ledger.mark.entry, ledger.mark.head) == (found.entries, found.head)
        assert ledger.mark.totals[POOL].spent == PrivacyLoss.pure(Fraction(96, 100))


# ------------------------------------------------------------------ the mark's file


def a_mark(entry, pools=1):
    return Mark(
        "l" * 32, entry, f"{entry:064x}", {f"p{n}": Total(0, PrivacyLoss.pure(entry)) for n in range(pools)}
    )


@pytest.mark.parametrize("pools", [0, 1, 40])
def test_a_write_torn_anywhere_leaves_the_mark_before_it(tmp_path, monkeypatch, pools):
    """The bytes of a raise reach the disk in any part, in any order of blocks: the reader finds the old mark or the new."""
    draw = random.Random(5)
    marks = MarkFile.made(tmp_path / "mark", a_mark(1, pools))
    real = system.write_at
    for entry in range(2, 60):

        def torn(descriptor, content, place):
            noise = bytes(draw.randrange(256) for _ in content)
            start, end = sorted(draw.choices(range(len(content) + 1), k=2))
            real(descriptor, content[:start] + noise[start:end] + content[end:], place)
            raise OSError(errno.EIO, "torn")

        before = marks.read()
        monkeypatch.setattr(system, "write_at", torn)
        with pytest.raises(OwnerError):
            marks.raised(a_mark(entry, pools))
        monkeypatch.setattr(system, "write_at", real)
        with contextlib.closing(MarkFile(tmp_path / "mark")) as again:
            assert again.read() in (before, a_mark(entry, pools))
        marks.raised(a_mark(entry, pools))
        assert marks.read() == a_mark(entry, pools)
    marks.close()


def test_the_file_grows_in_place_with_the_number_of_pools_and_a_torn_growth_loses_nothing(
    tmp_path, monkeypatch
):
    path = tmp_path / "mark"
    marks = MarkFile.made(path, a_mark(1))
    inode = path.stat().st_ino
    real = system.write_at
    for entry, pools in enumerate([1, 10, 300, 20, 900, 900, 5, 2500], start=2):
        before = marks.read()
        for whole in (0, 1):  # the growth alone is written, or the growth and a part of the mark
            calls = []

            def torn(descriptor, content, place, whole=whole, calls=calls):
                calls.append(place)
                part = content if len(calls) <= whole else content[: len(content) // 3]
                real(descriptor, part, place)
                if len(calls) > whole:
                    raise OSError(errno.ENOSPC, "No space left on device")

            monkeypatch.setattr(system, "write_at", torn)
            with contextlib.suppress(OwnerError):
                marks.raised(a_mark(entry, pools))
            monkeypatch.setattr(system, "write_at", real)
            with contextlib.closing(MarkFile(path)) as again:
                assert again.read() in (before, a_mark(entry, pools))
        marks.raised(a_mark(entry, pools))
        with contextlib.closing(MarkFile(path)) as again:
            assert again.read() == a_mark(entry, pools)
    assert path.stat().st_ino == inode
    marks.close()


def test_a_mark_is_never_lowered_by_who_comes_late(tmp_path):
    one = MarkFile.made(tmp_path / "mark", a_mark(1))
    two = MarkFile(tmp_path / "mark")
    one.raised(a_mark(9))
    two.raised(a_mark(5))
    one.raised(a_mark(7))
    assert one.read() == two.read() == a_mark(9)
    two.raised(a_mark(10))
    assert one.read() == a_mark(10)
    one.close()
    two.close()


def test_the_mark_is_written_as_it_always_was(tmp_path):
    """Golden: the form of the file and of its record outlive a release."""
    made = MarkFile.made(tmp_path / "mark", a_mark(3))
    made.close()
    content = (tmp_path / "mark").read_bytes()
    digest, sequence, length = struct.unpack(">32sQI", content[:44])
    body = (
        '{"entry":3,"head":"' + f"{3:064x}" + '","key":null,"ledger":"' + "l" * 32 + '","totals":'
        '{"p0":[0,{"amount":"3","delta":"0","measure":"pure"}]}}'
    )
    assert (sequence, content[44 : 44 + length].decode()) == (1, body)
    import hashlib

    assert digest == hashlib.sha256(b"1\n" + body.encode()).digest()
    assert len(content) == 32768
    assert (tmp_path / "mark").stat().st_mode & 0o777 == 0o600


# ------------------------------------------------------------------ flips


def flips(tmp_path, count, seed):
    """Flip bits of the ledger, of its table definitions, of its journal and of the mark; count what became of the ledger."""
    path = tmp_path / "ledger.sqlite3"

    def busy():
        ledger = Ledger(path)
        ledger.attach(terms(), "content")
        for n in range(4):
            charge(ledger, f"r{n}", cap=4)
            ledger.store(f"r{n}", "ann", [{"value": [n]}])
            if n == 1:
                ledger.checkpoint()
        charge(ledger, "r9", cap=4)

    in_child(busy)
    known = mark_at(path)
    contents = {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}
    definitions = [at.start() for at in re.finditer(b"CREATE (TABLE|TRIGGER|INDEX)", contents[path.name])]
    targets = [path.name, f"{path.name}-wal", path.name, mark_of(path).name]
    draw = random.Random(seed)
    seen = Counter()
    for n in range(count):
        home = tmp_path / "flipped"
        home.mkdir()
        for name, content in contents.items():
            if not name.endswith("-shm"):
                (home / name).write_bytes(content)
        target = home / targets[n % 4]
        damaged = bytearray(target.read_bytes())
        for _ in range(draw.choice((1, 1, 1, 8))):
            at = (
                draw.choice(definitions) + draw.randrange(-40, 200)
                if n % 4 == 2
                else draw.randrange(len(damaged))
            )
            damaged[at] ^= 1 << draw.randrange(8)
        target.write_bytes(damaged)
        seen[outcome(home / path.name, known)] += 1
        shutil.rmtree(home)
    assert seen.keys() <= {"refused", "frozen", "harmless", "found by verify"}
    return seen


def outcome(path, known):
    """Open a damaged ledger: whatever it admits, it has spent no less than the mark knows, and no other answer leaves."""
    try:
        with Ledger(path) as ledger:
            if ledger.frozen is not None:
                return "frozen"
            total = known.totals[POOL].spent
            assert total.fits_in(ledger.spent(POOL))
            row = charge(ledger, "new", pure("0.1"), cap=4)
            assert (total + PrivacyLoss.pure("0.1")).fits_in(row.spent_after)
            for n in range(4):  # an id that was flipped is another request's, which is charged anew
                assert ledger.answers(f"r{n}", "ann") in (None, [{"value": [n]}])
            ledger.statement()
            return "harmless" if ledger.verify().intact else "found by verify"
    except (OwnerError, ChargedError, FrozenError) as refusal:
        return "refused" if re.search("dpnb (restore|verify)", refusal.message) else f"no way out: {refusal}"


def test_200_bit_flips_never_read_less_spent_than_the_mark_and_what_is_refused_names_the_way_out(tmp_path):
    seen = flips(tmp_path, 200, seed=13)
    assert seen["refused"] + seen["frozen"] > 80, seen


def test_a_bit_that_makes_the_ledgers_id_that_of_a_draft_is_damage(tmp_path):
    """The tables are those of today: nobody is sent to another home, where what was spent is forgotten."""
    path = tmp_path / "ledger.sqlite3"
    five_charges(path)
    content = bytearray(path.read_bytes())
    content[71] ^= 3  # the last letter of "dpnN" becomes that of "dpnM"
    path.write_bytes(content)
    with pytest.raises(OwnerError, match=r"is damaged.*dpnb restore"):
        Ledger(path)


COLUMN = b"time TEXT NOT NULL, kind TEXT"


@pytest.mark.parametrize(
    "bit", [0, 1, 2, 3, 4, 6, 7]
)  # the other one makes a capital, which SQLite reads alike
def test_a_bit_that_is_flipped_in_a_columns_name_is_damage(tmp_path, bit):
    """SQLite says of it what it says of a mistake in our own SQL: no such column."""
    path = tmp_path / "ledger.sqlite3"
    five_charges(path)
    content = bytearray(path.read_bytes())
    content[content.index(COLUMN) + COLUMN.index(b"kind")] ^= 1 << bit
    path.write_bytes(content)
    with pytest.raises(OwnerError, match=r"is damaged.*dpnb restore"):
        Ledger(path)


def test_a_mistake_in_our_own_sql_is_not_called_damage_and_the_ledger_is_examined_once(tmp_path, monkeypatch):
    examined = []
    real = database.examine
    monkeypatch.setattr(database, "examine", lambda db: examined.append(1) or real(db))
    path = tmp_path / "ledger.sqlite3"
    with Ledger(path) as ledger:
        charge(ledger)
        for _ in range(3):  # the cause is for the owner's log
            with pytest.raises(CuratorError, match="unexpected fault") as fault, ledger.reading() as db:
                db.execute("SELECT kin FROM entries")
            assert "no such column: kin" in str(fault.value.__cause__)
        with pytest.raises(ZeroDivisionError), ledger.reading():
            1 / 0
        assert ledger.frozen is None
    assert examined == [1]


@pytest.mark.parametrize("request_id", ["r1", "new"], ids=["retry", "adoption"])
def test_an_answered_charge_whose_answers_are_lost_is_never_drawn_again(tmp_path, request_id):
    """A bit in the table of answers made its row invisible, and the next equal request adopted the charge: a second draw, unpaid."""
    path = tmp_path / "ledger.sqlite3"
    five_charges(path)
    forge(path, "DELETE FROM answers WHERE charge = (SELECT charge FROM requests WHERE request = 'r1')")
    with Ledger(path) as ledger:
        assert ledger.frozen is None
        with pytest.raises(OwnerError, match="dpnb restore"):
            charge(ledger, request_id, cap=4)
        assert "entry" in ledger.frozen


DAMAGE = {
    "charge": """UPDATE entries SET body = replace(body, '"amount":"1"', '"amount":"0"') WHERE entry = {charge}""",
    "answer": "UPDATE stored SET answer = zeroblob(9) WHERE charge = {charge}",
    "record": "UPDATE entries SET body = substr(body, 2) WHERE entry = {charge}",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_changed_in_the_file_is_neither_sent_nor_signed(service, ann, data, dpnb_home, damage):
    """Beside a ledger that is open, in entries that no opening looks at: it freezes when they are read."""
    entry, _ = (service.reply(message(data, f"{n:032x}", fresh=True), "ann").entry for n in (1, 2))
    forge(Home(Path(dpnb_home)).ledger, DAMAGE[damage].format(charge=entry))
    with pytest.raises((OwnerError, FrozenError), match="dpnb restore"):
        service.reply(Receipt(handle=data.handle, entry=entry), "ann")
    assert service.frozen


@pytest.mark.soak
def test_20000_bit_flips_never_read_less_spent_than_the_mark(tmp_path):
    seed = int(time.time())
    print(f"seed {seed}")  # shown where it fails
    print(flips(tmp_path, 20_000, seed))


# ------------------------------------------------------------------ restore


def test_a_restore_without_a_ledger_books_what_the_mark_knows_and_the_rest_can_be_used(desk):
    desk.lose("", "-wal", "-shm")
    service, here, data = restored(desk)
    assert data.budget.spent.amount == 6
    here.release([data.x.mean()], Ask.make(epsilon=3))
    with pytest.raises(BudgetError):
        here.release([data.y.mean()], Ask.make(epsilon="1.5"))
    assert service._ledger.verify().intact
    service.close()
    with contextlib.closing(small.curator(desk.home.root)) as service:
        assert service.frozen is None


def test_a_restore_of_an_older_copy_books_the_larger_of_mark_and_ledger_in_the_chain(desk, capsys):
    service, here, data = restored(desk, "--from", desk.older)
    assert f"{SMALL}: ε 6" in capsys.readouterr().out
    assert data.budget.spent.amount == 6
    row = next(row for row in here.ledger(data) if row["kind"] == "restore")
    assert row["note"] == "restored with ε 6 spent (the disk failed)"
    here.release([data.y.mean()], Ask.make(epsilon=4))
    with pytest.raises(BudgetError):
        here.release([data.x.mean()], Ask.make(epsilon="0.1", fresh=True))
    assert service._ledger.verify().intact
    service.close()
    aside_ = list(desk.home.root.glob("set-aside-*/ledger.sqlite3"))
    assert len(aside_) == 1


def test_a_restore_with_an_older_mark_than_the_prepared_copies_know_books_the_whole_budget(desk):
    note_in_copies(desk.home.ledger, mark_at(desk.home.ledger))
    shutil.copy(mark_of(desk.older / desk.home.ledger.name), mark_of(desk.home.ledger))
    desk.lose("", "-wal", "-shm")
    service, _, data = restored(desk)
    assert data.budget.spent.amount == 10
    service.close()


def test_a_restore_with_neither_ledger_nor_mark_books_the_budgets_of_the_prepared_copies(desk):
    desk.lose("", "-wal", "-shm")
    mark_of(desk.home.ledger).unlink()
    service, _, data = restored(desk)
    assert data.budget.spent.amount == 10
    service.close()


def test_a_restore_with_nothing_that_says_what_was_spent_is_refused(desk, capsys):
    desk.lose("", "-wal", "-shm")
    mark_of(desk.home.ledger).unlink()
    shutil.rmtree(desk.home.prepared)
    assert main(["restore", "--yes", "--reason", "all is lost"]) != 0
    assert "nothing says what was spent" in capsys.readouterr().err
    assert not desk.home.ledger.exists()


def test_a_charge_from_before_a_restore_is_never_completed(dpnb_home):
    """Its answer may have left: the retry of its request, and a new request that would adopt it, draw nothing for it."""
    with contextlib.closing(small.curator(dpnb_home)) as service:
        data = small.opened(small.session(service), dpnb_home)
    home, asked = Home(Path(dpnb_home)), message(data)

    def dies_when_charged():
        service = small.curator(dpnb_home)
        service.reply(Attach(source=Again(handle=asked.handle)), "ann")
        failpoints.install(lambda step: os._exit(0) if step == "charged" else None)
        service.reply(asked, "ann")

    in_child(dies_when_charged)
    older = home.root.with_name(home.root.name + "-older")
    shutil.copytree(home.root, older)
    with contextlib.closing(small.curator(dpnb_home)) as service:
        service.reply(Attach(source=Again(handle=asked.handle)), "ann")
        service.reply(asked, "ann")  # answered and sent, after the copy was made
    restore(home, "from the copy", older)
    with contextlib.closing(small.curator(dpnb_home)) as service:
        service.reply(Attach(source=Again(handle=asked.handle)), "ann")
        assert service._ledger.spent(SMALL).amount == 1
        with pytest.raises(RequestReused, match="restored"):
            service.reply(asked, "ann")
        answered = service.reply(message(data, "b" * 32), "ann")
        assert answered.entry > service._ledger.mark.entry - 2
        assert service._ledger.spent(SMALL).amount == 2


def test_a_restore_that_dies_halfway_leaves_the_home_frozen_and_the_next_one_finishes_it(desk, monkeypatch):
    desk.lose("", "-wal", "-shm")
    for name in ("note_in_copies", "_replace_mark"):
        with monkeypatch.context() as broken:
            broken.setattr(f"dpnb.trusted.owner.restoration.{name}", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                restore(desk.home, "first try")
        with Ledger(desk.home.ledger) as ledger:
            assert ledger.frozen
    service, _, data = restored(desk)
    assert data.budget.spent.amount in {6, 10}  # never less
    service.close()


def test_a_restore_is_refused_without_a_reason_beside_a_curator_and_for_a_damaged_ledger(desk, capsys):
    with pytest.raises(OwnerError, match="needs a reason"):
        restore(desk.home, " ")
    with small.locked(desk.home.lock), pytest.raises(OwnerError, match="A curator runs"):
        restore(desk.home, "now")
    with pytest.raises(OwnerError, match="no copy of a ledger"):
        restore(desk.home, "now", desk.home.root / "nowhere")
    with contextlib.closing(small.curator(desk.home.root)):
        pass
    forge(desk.home.ledger, "UPDATE entries SET time = '1999' WHERE entry = 2")
    with pytest.raises(OwnerError, match="entry 2 was changed"):
        restore(desk.home, "now")
    assert main(["restore", "--yes", "--reason", "a good copy", "--from", str(desk.older)]) == 0


def test_a_restore_where_nothing_was_charged_says_so(tmp_path):
    """The marks of a home without a charge: nothing is booked, in one sentence."""
    home = Home(tmp_path).make()
    with Ledger(home.ledger) as ledger:
        ledger.attach(terms(), "content")
    assert restore(home, "moved") == "Restored. Nothing was ever charged, so nothing is booked as spent."


def test_totals_never_fall_in_any_mix_of_copies(tmp_path):
    """Random histories, random older copies, marks lost or kept: after a restore no pool has less than it had."""
    draw = random.Random(3)
    for history in range(6):
        home = Home(tmp_path / f"home{history}").make()
        copies, spent = [], {}
        with Ledger(home.ledger) as ledger:
            for pool in ("dataset:a", "dataset:b"):
                ledger.attach(
                    terms(dataset=pool[8:], pool=pool, budget=Budget.from_toml({"epsilon": 4})),
                    f"content {pool}",
                )
        for n in range(8):
            with Ledger(home.ledger) as ledger:
                pool = draw.choice(("dataset:a", "dataset:b"))
                charge(ledger, f"r{n}", pure("0.3"), pool=pool, dataset=pool[8:], cap=4)
                ledger.store(f"r{n}", "ann", [{}])
                spent = {pool: ledger.spent(pool) for pool in ("dataset:a", "dataset:b")}
            copy = tmp_path / f"copy{history}-{n}"
            backup(home, copy)
            copies.append(copy)
        older = draw.choice(copies[:-1])
        lost = draw.random() < 0.3
        if lost:
            mark_of(home.ledger).unlink()
        restore(home, "a mix", older)
        with Ledger(home.ledger) as ledger:
            assert ledger.verify().intact
            for pool, before in spent.items():
                assert before.fits_in(ledger.spent(pool))
                assert ledger.spent(pool) == (PrivacyLoss.pure(4) if lost else before)


# ------------------------------------------------------------------ backup


def test_a_backup_copies_ledger_mark_and_key_and_opens_intact(desk, tmp_path, capsys):
    target = tmp_path / "copy"
    assert main(["backup", str(target)]) == 0
    assert "up to entry" in capsys.readouterr().out
    names = {file.name for file in target.iterdir()}
    assert names == {desk.home.ledger.name, mark_of(desk.home.ledger).name, "key"}
    assert {file.stat().st_mode & 0o777 for file in target.iterdir()} == {0o600}
    assert target.stat().st_mode & 0o777 == 0o700
    with Ledger(target / desk.home.ledger.name) as copy:
        assert copy.frozen is None
        assert copy.spent(SMALL).amount == 6
        assert copy.verify().intact


def test_a_backup_overwrites_nothing_and_a_refused_one_leaves_nothing(desk, tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(OwnerError, match="exists"):
        backup(desk.home, tmp_path / "there")
    with pytest.raises(OwnerError, match="cannot be written"):
        backup(desk.home, tmp_path / "none" / "there")
    desk.lose("-wal", "-shm")
    with pytest.raises(OwnerError, match="missing"):
        backup(desk.home, tmp_path / "copy")
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_a_backup_made_while_others_are_charged_is_whole(tmp_path):
    home = Home(tmp_path / "home").make()
    Ledger(home.ledger).close()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException), Ledger(home.ledger) as ledger:
            for n in range(10**6):
                charge(ledger, f"r{n}", pure("0.001"), cap=100)
                ledger.store(f"r{n}", "ann", [{}])
        os._exit(1)
    try:
        for n in range(5):
            time.sleep(0.02)
            backup(home, tmp_path / f"copy{n}")
            with Ledger(tmp_path / f"copy{n}" / home.ledger.name) as copy:
                assert copy.frozen is None
                assert copy.verify().intact
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
    with Ledger(home.ledger) as ledger:
        assert ledger.frozen is None


# ------------------------------------------------------------------ upkeep


def head_without_journal(path):
    """The hash of the last entry that the ledger's file holds by itself."""
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as file:
        return file.execute("SELECT hash FROM entries ORDER BY entry DESC LIMIT 1").fetchone()[0]


def test_a_ledger_that_rests_is_whole_without_its_journal_and_has_a_full_mark_and_noted_copies(
    service, ann, data, dpnb_home
):
    home = Home(Path(dpnb_home))
    upkeep = Upkeep(service._ledger, service.note, service._copies.keep).start()
    ann.release([data.x.mean()], Ask.make(epsilon=1))
    assert head_without_journal(home.ledger) != service._ledger.mark.head
    wait_until(lambda: head_without_journal(home.ledger) == service._ledger.mark.head)
    wait_until(lambda: str(service._ledger.mark.head) in (home.prepared / f"{data.handle}.json").read_text())
    ann.release([data.y.mean()], Ask.make(epsilon=1))
    assert service.frozen is None
    upkeep.close()
    assert not home.log.exists()


def test_a_journal_that_was_moved_into_the_ledger_is_begun_anew_in_its_place(tmp_path):
    """It becomes neither longer nor shorter: a sync that changes a file's length waits for that, too."""
    path = tmp_path / "ledger.sqlite3"
    with Ledger(path) as ledger:
        for n in range(20):
            charge(ledger, f"r{n}", pure("0.01"), cap=4)
        ledger.checkpoint()
        before = journal_of(path).stat().st_size
        for n in range(20, 35):
            charge(ledger, f"r{n}", pure("0.01"), cap=4)
        assert journal_of(path).stat().st_size == before > 0
        assert ledger.verify().intact


def test_a_busy_ledgers_journal_stays_short(tmp_path, monkeypatch):
    """Without a rest, too, it is begun anew after some hundred entries."""
    monkeypatch.setattr("dpnb.trusted.curator.upkeep._REST", 0.05)
    monkeypatch.setattr(Upkeep, "_rest", lambda _: None)
    with Ledger(tmp_path / "ledger.sqlite3") as ledger:
        upkeep = Upkeep(ledger, lambda fault, _: pytest.fail(str(fault)), lambda _: None).start()
        moved = []
        real = ledger.checkpoint
        ledger.checkpoint = lambda: (moved.append(ledger.writes), real())
        for n in range(5000):
            charge(ledger, f"r{n}", pure("0.0001"), cap=4)
            if moved:
                break
        upkeep.close()
        assert moved
        assert ledger.verify().intact


def test_a_mark_that_is_raised_while_a_charge_looks_at_it_freezes_nothing(tmp_path):
    """The background raises it on a thread of its own: entry and hash that are compared are of one mark."""
    with Ledger(tmp_path / "ledger.sqlite3") as ledger:
        guard = ledger._guard
        charge(ledger, "r1", pure("0.1"))
        ledger.cover_all()
        older = guard.mark
        charge(ledger, "r2", pure("0.1"))
        ledger.cover_all()
        newer, guard.mark = guard.mark, older
        assert newer.entry > older.entry

        def raised_meanwhile(*statement):
            guard.mark = newer
            return db.execute(*statement)

        with ledger.reading() as db:
            assert guard.fallen(SimpleNamespace(execute=raised_meanwhile)) is None
        (pool,) = newer.totals
        assert guard.below(pool, newer.totals[pool]) is None
        assert "were overwritten" in guard.below(pool, older.totals[pool])


def test_an_examination_that_nobody_waits_for_ends(tmp_path):
    from concurrent.futures import CancelledError

    with Ledger(tmp_path / "ledger.sqlite3") as ledger:
        for n in range(30):
            charge(ledger, f"r{n}", pure("0.01"))
        with pytest.raises(CancelledError):
            ledger.verify(ended=lambda: True)


# ------------------------------------------------------------------ disks and clocks


def limited(size, work):
    """Run `work` in a child that may write no file beyond a size, as on a full disk."""
    import resource

    def inner():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        work()

    in_child(inner)


def test_a_disk_that_fills_up_releases_nothing_that_is_not_charged_on_disk(desk):
    """Wherever the limit strikes: what the child was told and what the ledger holds agree, and the home opens whole."""
    journal = desk.files()[1]
    told = desk.home.root.with_name("told")
    told.mkdir()
    for n, more in enumerate(range(0, 60_000, 6_000)):
        asked = message(desk.data, f"{100 + n:032x}", epsilon="0.1", fresh=True)
        size = max(desk.home.ledger.stat().st_size, journal.stat().st_size if journal.exists() else 0)

        def work(asked=asked, n=n):
            with contextlib.suppress(OwnerError, ChargedError):
                desk.ask(asked)
                (told / str(n)).write_text("")

        limited(size + more, work)
        with contextlib.closing(small.curator(desk.home.root)) as service:
            assert service.frozen is None
            charged = service._ledger.charged(asked.request, "ann") is not None
            answered = service._ledger.answers(asked.request, "ann") is not None
            if (told / str(n)).exists():
                assert charged
                assert answered
            service.reply(Attach(source=Again(handle=desk.data.handle)), "ann")
            service.reply(asked, "ann")  # the retry completes what was charged
            assert service._ledger.spent(SMALL).amount == 6 + Fraction(n + 1, 10)


def test_a_clock_that_jumps_backwards_moves_no_entry(dpnb_home):
    """Times go back years between charge, store and the next charge: order is by entry, and the chain holds."""
    times = iter([f"{year}-01-01T00:00:00+00:00" for year in range(2090, 1970, -1)])
    with contextlib.closing(small.curator(dpnb_home, Randomness(now=lambda: next(times)))) as service:
        here = small.session(service)
        data = small.opened(here, dpnb_home)
        for n in range(4):
            here.release([data.x.mean()], Ask.make(epsilon=1 + n / 10, fresh=True))
        rows = [row for row in here.ledger(data) if row["kind"] == "charge"]
        assert [row["time"] for row in rows] == sorted((row["time"] for row in rows), reverse=True)
        assert [row["entry"] for row in rows] == sorted(row["entry"] for row in rows)
        assert service._ledger.verify().intact
        spent = service._ledger.spent(SMALL)
    with contextlib.closing(small.curator(dpnb_home)) as service:
        assert service.frozen is None
        assert service._ledger.spent(SMALL) == spent


def test_a_new_home_makes_ledger_mark_and_key_in_an_order_that_a_kill_cannot_freeze(dpnb_home, monkeypatch):
    """Killed between ledger and mark, or between mark and key, the next curator opens; nothing was ever spent."""
    home = Home(Path(dpnb_home)).make()

    def dies_before_the_mark():
        monkeypatch.setattr(MarkFile, "made", lambda *_: os._exit(0))
        Ledger(home.ledger)

    def dies_before_the_key():
        Ledger(home.ledger)

    for dies in (dies_before_the_mark, dies_before_the_key):
        in_child(dies)
        assert home.ledger.exists()
        assert not home.key.exists()
    with Ledger(home.ledger) as ledger:
        assert ledger.frozen is None
