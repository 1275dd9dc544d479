"""Ledgers that notice nothing: a mark that is not raised, not compared, torn or forgotten; restores that give budget back."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from typing import Any

import pytest

from dpnb.errors import ChargedError, FrozenError
from dpnb.owner.backup import backup
from dpnb.trusted import system
from dpnb.trusted.curator import guard, mark
from dpnb.trusted.curator.database import Database
from dpnb.trusted.curator.guard import Inodes, mark_at
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.mark import MarkFile, mark_of
from dpnb.trusted.owner import act_entries, restoration
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.wire.places import Home
from tests.curator import test_mark as on_mark
from tests.curator.test_ledger import POOL, charge, terms
from tests.mutants.table import Mutant, replaced


def answered(ledger: Ledger, *requests: str) -> None:
    """Charge and answer requests of ε 0.1."""
    for request in requests:
        charge(ledger, request, cap=4)
        ledger.store(request, "ann", [{"value": [1]}])


def an_older_copy_is_frozen(folder: Path) -> None:
    """The ledger of a moment ago, put in its place while dpnb did not run, opens frozen."""
    path = folder / "ledger.sqlite3"
    with Ledger(path) as ledger:
        answered(ledger, "r1")
    shutil.copy(path, folder / "older")
    with Ledger(path) as ledger:
        answered(ledger, "r2")
    shutil.copy(folder / "older", path)
    with Ledger(path) as ledger:
        assert ledger.frozen


def unlinked_files_keep_the_answer_in(folder: Path) -> None:
    """Nothing is charged once the ledger has no name any more."""
    with Ledger(folder / "ledger.sqlite3") as ledger:
        (folder / "ledger.sqlite3").unlink()
        with pytest.raises(FrozenError):
            answered(ledger, "r1")


def stored_answers_wait_for_the_mark(folder: Path) -> None:
    """An answer whose mark could not be raised does not leave by another door."""
    with Ledger(folder / "ledger.sqlite3") as ledger, pytest.MonkeyPatch.context() as patch:

        def broken(_: int) -> None:
            raise OSError(errno.EIO, "Input/output error")

        patch.setattr(system, "sync", broken)
        for leave in (lambda: answered(ledger, "r1"), lambda: ledger.answers("r1", "ann")):
            with pytest.raises(ChargedError):
                leave()


def a_torn_raise_leaves_the_mark_before_it(folder: Path) -> None:
    """The test of torn writes."""
    with pytest.MonkeyPatch.context() as patch:
        on_mark.test_a_write_torn_anywhere_leaves_the_mark_before_it(folder, patch, 1)


def restored(folder: Path, *, with_its_mark: bool) -> PrivacyLoss:
    """What is spent after a restore from a copy of ε 0.1, when ε 0.2 of 4 were spent."""
    home = Home(folder / "home").make()
    with Ledger(home.ledger) as ledger:
        ledger.attach(terms(), "content")
        answered(ledger, "r1")
    backup(home, folder / "copy")
    with Ledger(home.ledger) as ledger:
        answered(ledger, "r2")
    if not with_its_mark:
        mark_of(home.ledger).unlink()
    restoration.restore(home, "the disk failed", folder / "copy")
    with Ledger(home.ledger) as ledger:
        return ledger.spent(POOL)


def the_mark_is_booked(folder: Path) -> None:
    """A restore from an older copy books what the mark knows."""
    assert restored(folder, with_its_mark=True) == PrivacyLoss.pure("0.2")


def without_a_mark_all_is_booked(folder: Path) -> None:
    """A restore without a mark books the whole budget."""
    assert restored(folder, with_its_mark=False) == PrivacyLoss.pure(4)


def late_raises_lower_nothing(folder: Path) -> None:
    """The test of two writers."""
    on_mark.test_a_mark_is_never_lowered_by_who_comes_late(folder)


def what_is_open_is_what_is_marked(folder: Path) -> None:
    """An answer that left is in the mark on the disk at that moment, not only when the ledger is closed."""
    path = folder / "ledger.sqlite3"
    with Ledger(path) as ledger:
        answered(ledger, "r1")
        known = mark_at(path)
        assert known is not None
        assert {pool: total.spent for pool, total in known.totals.items()} == {POOL: PrivacyLoss.pure("0.1")}


def an_act_is_marked(folder: Path) -> None:
    """What the owner did is in the mark on the disk once they are told that it is done."""
    path = folder / "ledger.sqlite3"
    with Ledger(path) as ledger:
        ledger.attach(terms(), "content")
        act = act_entries.Act("owner", "a test", "2026-01-01T00:00:00+00:00")
        entry = ledger.act(lambda db: act_entries.hold(db, "freeze", terms().dataset, act))
        known = mark_at(path)
        assert known is not None
        assert known.entry == entry


def into_the_newest_slot(real: Any) -> Any:
    """Write over the slot that holds the mark."""

    def written(marks: Any, slot: Any, to: Any) -> Any:
        old = None if slot is None else mark._Slot(marks._half(0) - slot.place, slot.sequence, slot.mark)
        return real(marks, old, to)

    return written


MUTANTS = {
    "a mark that is never raised": Mutant(
        "The ledger of a moment ago is as high as the mark, and draws again.",
        replaced(MarkFile, "raised", lambda _: lambda marks, to: None),
        an_older_copy_is_frozen,
    ),
    "a mark that is never compared": Mutant(
        "The mark is raised, and nobody looks at it.",
        replaced(guard, "fault_of", lambda _: lambda db, ledger, known: None),
        an_older_copy_is_frozen,
    ),
    "a mark raised at the next rest": Mutant(
        "An answer is out before its mark is.",
        replaced(Database, "_leave", lambda _: lambda database, mark: None),
        what_is_open_is_what_is_marked,
    ),
    "an owner's act marked at the next rest": Mutant(
        "A copy of a moment ago gives back what its owner froze since.",
        replaced(Database, "cover", lambda _: lambda database, entry: None),
        an_act_is_marked,
    ),
    "files that may be anywhere": Mutant(
        "A curator goes on charging a ledger that no longer has a name.",
        replaced(Inodes, "moved", lambda _: lambda inodes: None),
        unlinked_files_keep_the_answer_in,
    ),
    "stored answers that leave unmarked": Mutant(
        "The retry sends what the first attempt kept in.",
        replaced(Database, "showing", lambda _: Database.reading),
        stored_answers_wait_for_the_mark,
    ),
    "a raise over the newest slot": Mutant(
        "A torn write leaves no mark, or an older one.",
        replaced(MarkFile, "_written", into_the_newest_slot),
        a_torn_raise_leaves_the_mark_before_it,
    ),
    "a mark lowered by a late writer": Mutant(
        "The last to write decides, not the highest.",
        replaced(MarkFile, "raised", lambda _: MarkFile.replaced),
        late_raises_lower_nothing,
    ),
    "a restore that believes the copy": Mutant(
        "What was spent since the copy was made is given back.",
        replaced(restoration, "_larger", lambda _: lambda pool, one, two: two if one is None else one),
        the_mark_is_booked,
    ),
    "a restore without a mark that believes the copy": Mutant(
        "Nobody knows what was spent since, and it is taken for nothing.",
        replaced(restoration, "_pinned", lambda _: lambda db: iter(())),
        without_a_mark_all_is_booked,
    ),
}
