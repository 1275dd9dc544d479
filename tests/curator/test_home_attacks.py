"""Attacks on a home: parts of it are lost, swapped or changed by another process, and nothing is spent twice or forgotten."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dpnb.__main__ import main
from dpnb.client.upload import hand_over
from dpnb.datasets import load
from dpnb.errors import BudgetError, CuratorError, CuratorGone, FrozenError, OwnerError
from dpnb.owner import backup as copying
from dpnb.owner import signed_records
from dpnb.owner.backup import backup
from dpnb.trusted.curator import database, failpoints
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.guard import note_in_copies, notes_of
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.ledger_tables import make_tables
from dpnb.trusted.curator.mark import mark_of
from dpnb.trusted.curator.open_dataset import key_of
from dpnb.trusted.curator.service import Curator
from dpnb.trusted.curator.terms import Terms
from dpnb.trusted.owner import restoration
from dpnb.trusted.owner.restoration import restore
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.wire.messages import Again, Attach
from dpnb.trusted.wire.places import Home
from tests.curator import small
from tests.curator.test_ledger import POOL, charge, pure, terms
from tests.curator.test_mark import SMALL, SpentHome, in_child, message

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

ROOT = Path(__file__).parents[2]


class Killed(BaseException):
    """The process ends here."""


def killed(*_):
    """End."""
    raise Killed


@pytest.fixture
def desk(dpnb_home):
    return SpentHome(dpnb_home)


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
            owner.attach(Terms.of(load(record).schema), "rows", by="owner", reason="a correction")
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
            owner.attach(Terms.of(county), "rows", by="owner", reason="the same people")
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


ANOTHER = bytes(range(32))
"""A key that is not the home's."""


@pytest.mark.parametrize("how", ["missing", "another one"])
def test_a_home_whose_key_is_lost_or_swapped_opens_frozen_and_not_with_a_second_budget(desk, how, capsys):
    desk.home.key.unlink()
    if how == "another one":
        desk.home.key.write_bytes(ANOTHER)
    with contextlib.closing(small.curator(desk.home.root)) as service:
        assert f"the key beside it is {how}" in service.frozen
        with pytest.raises(FrozenError):
            small.opened(small.session(service), desk.home.root, name="alias")
    assert main(["verify"]) == 2
    assert "the key beside it" in capsys.readouterr().err


def test_zeros_in_the_place_of_a_ledger_have_a_way_out_without_a_backup(desk):
    """Seen: a restore said to put a copy back, or to choose another home, and nothing else."""
    was = spent(desk)
    desk.home.ledger.write_bytes(bytes(desk.home.ledger.stat().st_size))
    with pytest.raises(OwnerError, match="move it out of the home and restore again"):
        restore(desk.home, "the disk wrote zeros")
    desk.home.ledger.rename(desk.home.root.parent / "zeros")
    restore(desk.home, "the disk wrote zeros")
    assert spent(desk) == was


def test_a_backup_puts_its_key_back_and_sets_the_other_one_aside(desk, tmp_path):
    assert "If the home itself is lost" in backup(desk.home, tmp_path / "copy")
    key, other = desk.home.key.read_bytes(), ANOTHER
    desk.home.key.write_bytes(other)
    restore(desk.home, "the key was lost", tmp_path / "copy")
    assert desk.home.key.read_bytes() == key
    assert other in [path.read_bytes() for path in desk.home.root.glob("set-aside-*/key")]
    with contextlib.closing(small.curator(desk.home.root)) as service:
        assert service.frozen is None
        with pytest.raises(OwnerError, match="attached before as protected"):
            small.opened(small.session(service), desk.home.root, name="alias")


def test_an_owner_may_go_on_with_another_key_by_a_recorded_act(desk):
    desk.home.key.write_bytes(ANOTHER)
    restore(desk.home, "the key is lost for good")
    assert spent(desk) == "ε 6"


# ------------------------------------------------------------- backup, verification and restore


@pytest.mark.parametrize("room", [signed_records, copying])
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
        said = signed_records.verify(home) if room is signed_records else backup(home, tmp_path / "copy")
        assert "Head" in said
        assert service.frozen is None


def charged_and_killed(desk):
    """A charge of ε 2 that has no answer, and that no mark was raised to."""
    service = small.curator(desk.home.root)
    service.reply(Attach(source=Again(handle=desk.data.handle)), "ann")
    failpoints.install(lambda step: killed() if step == "charged" else None)
    try:
        with pytest.raises(Killed):
            service.reply(message(desk.data, "9" * 32, epsilon=2, fresh=True), "ann")
    finally:
        failpoints.install(None)
    service._ledger._connection.close()


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


def test_rows_that_were_attached_after_a_backup_have_no_second_budget_when_it_is_restored(desk, tmp_path):
    backup(desk.home, tmp_path / "copy")
    with contextlib.closing(small.curator(desk.home.root)) as service:
        data = small.opened(small.session(service), desk.home.root, small.rows(2), name="other")
        service.reply(message(data, "7" * 32), "ann")
        before = data.data_version
    restore(desk.home, "why", tmp_path / "copy")
    restore(desk.home, "again", tmp_path / "copy")
    with contextlib.closing(small.curator(desk.home.root)) as service:
        here = small.session(service)
        with pytest.raises(OwnerError, match="attached before as protected"):
            small.opened(here, desk.home.root, small.rows(2), name="alias")
        data = small.opened(here, desk.home.root, small.rows(2), name="other")
        assert data.data_version == before
        assert data.budget.spent.amount == 1
        assert service._ledger.verify().intact


@pytest.mark.slow
@pytest.mark.parametrize("step", ["mkdir", "link", "rename", "unlink", "replace"])
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_restore_without_a_mark_that_dies_anywhere_forgets_no_pool_of_the_ledger_that_it_set_aside(
    desk, tmp_path, monkeypatch, step, nth
):
    backup(desk.home, tmp_path / "copy")
    service = small.curator(desk.home.root)  # killed: its charges stay in the journal
    data = small.opened(small.session(service), desk.home.root, small.rows(2), name="other")
    service.reply(message(data, "7" * 32), "ann")
    mark_of(desk.home.ledger).unlink()
    for note in notes_of(desk.home.ledger):
        note.unlink()
    kept = shutil.copytree(desk.home.root, tmp_path / "kept")
    service.close()
    home = Home(kept)
    with monkeypatch.context() as patch:
        die_at(step, nth, patch)
        with contextlib.suppress(Killed):
            restore(home, "why", tmp_path / "copy")
    restore(home, "why", tmp_path / "copy")
    with Ledger(home.ledger) as ledger:
        assert ledger.frozen is None
        assert ledger.verify().intact
        assert [str(ledger.spent(pool)) for pool in (SMALL, "dataset:other")] == ["ε 10", "ε 10"]


def die_at(step, nth, patch):
    """Let the process end before a step on the file system is done for the nth time, while a ledger is put back."""
    holder = os if step == "link" else Path
    done, left = getattr(holder, step), [nth]

    def or_die(path, *more, **options):
        if "set-aside" in f"{path}{more}" or (step in {"unlink", "replace"} and "ledger" in path.name):
            left[0] -= 1
            if left[0] == 0:
                raise Killed
        return done(path, *more, **options)

    patch.setattr(holder, step, or_die)


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
    assert main(["restore", "--yes", "--reason", "why"]) == 2
    assert wrong in capsys.readouterr().err


@pytest.mark.parametrize(
    "note", [[1], None, {"mark": {"ledger": "l", "entry": 1, "head": "h", "totals": []}}]
)
def test_a_note_that_no_curator_wrote_is_passed_over(desk, note):
    notes_of(desk.home.ledger)[0].write_text(json.dumps(note))
    assert spent(desk) == "ε 6"
    restore(desk.home, "why")
    assert spent(desk) == "ε 6"


# ------------------------------------------------------------- what a frozen home keeps as it is


def contents(home):
    """Every file of a home that says what was spent, with its bytes."""
    beside = ("", "-wal")
    paths = [home.ledger.with_name(f"{home.ledger.name}{part}") for part in beside]
    paths += [home.key, mark_of(home.ledger), *home.prepared.iterdir()]
    return {path.name: path.read_bytes() for path in paths if path.exists()}


def test_a_frozen_home_without_its_key_is_left_as_it_is_by_a_curator_and_by_loosen(desk, tmp_path, capsys):
    desk.home.key.unlink()
    (desk.home.prepared / "draft-1").write_bytes(b"half")
    before = contents(desk.home)
    service = Curator.opened(Config(desk.home))
    assert "the key beside it is missing" in service.frozen
    service.close()
    assert contents(desk.home) == before
    (tmp_path / "small.csv").write_text("x,g,y\n" + "1,0,1\n" * 40)
    declared = '[dataset]\nname = "small"\nsource = "small.csv"\nadjacency = "change-one"\nrows = 40\n'
    columns = '[budget]\nepsilon = 10\n[columns.x]\ntype = "integer"\nlower = 0\nupper = 10\n'
    (tmp_path / "small.dpnb.toml").write_text(declared + columns)
    assert main(["loosen", str(tmp_path / "small.csv"), "--reason", "why", "--yes"]) == 2
    assert "The ledger is frozen" in capsys.readouterr().err
    assert contents(desk.home) == before


def test_of_many_who_make_a_key_at_once_one_wins_and_all_read_it(tmp_path):
    home = Home(tmp_path).make()
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: key_of(home), range(64)))
    assert len(keys) == 1
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["key"]


def by_another_process(path, request):
    """Let another process open a ledger, charge and store an answer."""
    code = (
        "import sys; from tests.curator.test_ledger import Ledger, charge\n"
        "with Ledger(sys.argv[1]) as ledger:\n"
        "    charge(ledger, sys.argv[2]); ledger.store(sys.argv[2], 'ann', [{}])\n"
    )
    subprocess.run([sys.executable, "-c", code, path, request], cwd=ROOT, check=True)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["-wal", "-shm"])
@pytest.mark.parametrize("link", [False, True])
def test_a_journal_or_index_that_is_taken_away_loses_no_charge_of_another_process(tmp_path, part, link):
    """Without its index two processes append to the journal each where its own says: one writes over the other's charge."""
    real = tmp_path / "elsewhere" / "ledger.sqlite3"
    real.parent.mkdir()
    path = tmp_path / "ledger.sqlite3" if link else real
    if link:
        path.symlink_to(real)
        Ledger(real).close()
        mark_of(real).rename(mark_of(path))
    with Ledger(path) as ledger:
        assert ledger.frozen is None
        ledger.attach(terms(), "content")
        charge(ledger, "r1")
        ledger.store("r1", "ann", [{}])
        ledger.checkpoint()
        real.with_name(f"{real.name}{part}").unlink()
        by_another_process(path, "theirs")
        with pytest.raises(FrozenError):
            charge(ledger, "r2")
        assert f"{part} was deleted" in ledger.frozen
    with Ledger(path) as ledger:
        assert ledger.frozen is None
        assert ledger.spent(POOL) == PrivacyLoss.pure("0.2")
        assert ledger.verify().intact


@pytest.mark.parametrize("table", ["charges", "entries"])
@pytest.mark.parametrize("cold", [False, True])
def test_an_older_copy_written_over_an_open_ledger_gives_no_second_budget(tmp_path, cold, table):
    """Written in place it has the same inode, and what SQLite has not cached is read from it: a total, or the entries."""
    path = tmp_path / "ledger.sqlite3"
    with Ledger(path) as ledger:
        ledger.attach(terms(), "content")
        for n in range(3):
            charge(ledger, f"r{n}", pure("1"), cap=4)
            ledger.store(f"r{n}", "ann", [{}])
            ledger.checkpoint()
            if n == 0:
                older = path.read_bytes()
    with Ledger(path) as ledger:
        before = ledger.mark
        connection = ledger._connection
        connection.execute("PRAGMA shrink_memory" if cold else f"SELECT count(*) FROM {table}")
        with path.open("r+b") as file:
            file.write(older)
            file.truncate()
        for n in range(3, 6):
            with pytest.raises((FrozenError, CuratorError, BudgetError)):
                charge(ledger, f"r{n}", pure("2"), cap=4)
        assert ledger.mark == before
    with Ledger(path) as ledger:
        assert "are missing, and an answer left" in ledger.frozen


# ------------------------------------------------------------- what other programs do to the file


def by_another_program(path, *statements):
    """Let another program work on a ledger that nobody has open."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


@pytest.mark.parametrize("mode", ["DELETE", "PERSIST", "MEMORY", "OFF"])
def test_a_ledger_whose_journal_another_program_turned_off_keeps_one_again(desk, mode):
    by_another_program(desk.home.ledger, f"PRAGMA journal_mode = {mode}", "VACUUM")
    with Ledger(desk.home.ledger) as ledger:
        assert ledger.frozen is None
        assert ledger.spent(SMALL) == PrivacyLoss.pure(6)
        assert desk.files()[1].exists()
        assert ledger.verify().intact


def test_a_journal_that_another_program_left_is_not_played_into_a_restored_ledger(desk, tmp_path):
    backup(desk.home, tmp_path / "copy")

    def die_while_writing():
        db = sqlite3.connect(desk.home.ledger, isolation_level=None)
        for statement in ("PRAGMA journal_mode = DELETE", "PRAGMA cache_size = 1", "BEGIN IMMEDIATE"):
            db.execute(statement)
        rows = [(1000 + n, f"q{n}" * 50, "a", "d", 1) for n in range(500)]
        db.executemany("INSERT INTO requests VALUES (?, ?, ?, ?, ?)", rows)

    in_child(die_while_writing)
    journal = desk.home.ledger.with_name(f"{desk.home.ledger.name}-journal")
    assert journal.stat().st_size > 1000
    restore(desk.home, "why", tmp_path / "copy")
    assert not journal.exists()
    assert spent(desk) == "ε 6"
    assert main(["verify"]) == 0


def test_a_new_ledger_is_whole_when_it_gets_its_name_also_where_its_journal_cannot_be_moved_into_it(
    tmp_path, monkeypatch
):
    """On a full disk, or beside a reader, SQLite closes a database in silence and leaves what it wrote in the journal."""
    readers = []

    def beside_a_reader(db, now):
        make_tables(db, now)
        readers.append(sqlite3.connect(db.execute("PRAGMA database_list").fetchone()[2]))
        readers[-1].execute("SELECT count(*) FROM entries").fetchone()

    monkeypatch.setattr(database, "make_tables", beside_a_reader)
    database.made(tmp_path / "ledger.sqlite3", str)
    monkeypatch.undo()
    readers.pop().close()
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.sqlite3"]
    with Ledger(tmp_path / "ledger.sqlite3") as ledger:
        assert ledger.verify().intact
