"""What holds an open ledger to its mark and to its place: it opens frozen below the mark, and freezes when its files move.

A ledger that is not the one that answers were given from is not repaired and not replaced: nothing is released from it, and
its owner is told which entry is missing and what to do.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dpnb.trusted.canonical import canonical, read_json
from dpnb.trusted.curator.audit_trail import UNREADABLE, unlike_its_entry
from dpnb.trusted.curator.chain import GENESIS, Chain
from dpnb.trusted.curator.mark import Mark, MarkFile, Total, advanced, key_id, keyed, mark_of, shortfall
from dpnb.trusted.wire.places import write_private

_ENDS = (
    "SELECT entry, hash, (SELECT hash FROM entries WHERE entry = ?) FROM entries ORDER BY entry DESC LIMIT 1"
)
"""The last entry, and the hash of the mark's."""
_OVERWRITTEN = "its entries up to {} were overwritten while it was open"
REFUSAL = (
    "This home is frozen: its ledger is not the one that answers were given from. Nothing is released. "
    "Its owner can type dpnb verify in a terminal, which explains what is wrong and what to do."
)


def owners_words(fault: str) -> str:
    """Tell an owner of a frozen ledger: the fault, and what to do."""
    return (
        f"The ledger is frozen, because {fault}. Nothing is released. Put the newest copy of it back with\n"
        '    dpnb restore --from BACKUP --reason "…"\n'
        "or go on with what is there, and what the mark knows booked as spent:\n"
        '    dpnb restore --reason "…"'
    )


def journal_of(ledger: Path) -> Path:
    """Return where SQLite keeps a ledger's journal: beside the file that a link leads to."""
    return _beside(ledger, "-wal")


def _beside(ledger: Path, part: str) -> Path:
    place = Path(os.path.realpath(ledger))
    return place.with_name(f"{place.name}{part}")


def traces(ledger: Path) -> list[Path]:
    """Return what lies about a ledger and is made only after it: the key, the mark, the notes of prepared copies."""
    made = [ledger.with_name("key"), mark_of(ledger)]
    return [path for path in made if path.is_file()] + notes_of(ledger)


def notes_of(ledger: Path) -> list[Path]:
    """Return the notes of the prepared copies beside a ledger."""
    return sorted(ledger.with_name("prepared").glob("*.json"))


def noted(ledger: Path) -> Iterator[Mark]:
    """Yield the marks that the notes of prepared copies carry: each as it was when the note was written."""
    for note in notes_of(ledger):
        with contextlib.suppress(OSError, *UNREADABLE):
            yield Mark.from_json(read_json(note.read_bytes())["mark"])


def mark_at(ledger: Path) -> Mark | None:
    """Read a ledger's mark, or None where there is none that can be read."""
    try:
        marks = MarkFile(mark_of(ledger))
    except OSError:
        return None
    try:
        return marks.read()
    except OSError:  # a pipe, or a disk that fails
        return None
    finally:
        marks.close()


def note_in_copies(ledger: Path, mark: Mark) -> None:
    """Write the mark into the notes of the prepared copies; who calls this keeps others from writing them."""
    for note in notes_of(ledger):
        with contextlib.suppress(OSError, *UNREADABLE):
            record = read_json(note.read_bytes())
            if record.get("mark") != mark.to_json():
                write_private(note, canonical({**record, "mark": mark.to_json()}).encode())


def known_of(ledger: Path, mark: Mark) -> list[Mark]:
    """List a ledger's mark and those in its prepared copies.

    They are read before the ledger is: what others raise meanwhile is not held against an earlier state of it.
    """
    return [mark, *noted(ledger)]


def fault_of(db: sqlite3.Connection, ledger: Path, known: Sequence[Mark]) -> str | None:
    """Say in what a ledger is not what its mark (the first), its notes and its own head say, or return None."""
    for mark in known:
        fault = shortfall(db, mark)
        if fault is not None:
            return fault
    return _strange_key(ledger, known[0]) or unlike_its_entry(db)


def _strange_key(ledger: Path, mark: Mark) -> str | None:
    beside = key_id(ledger)
    if mark.key is None or mark.key == beside:
        return None
    state = "missing" if beside is None else "another one"
    return (
        f"the key beside it is {state}, and the rows that each unit keeps were chosen under their key alone"
    )


class Guard:
    """Holds an open ledger to its mark, and to the files at its paths.

    Parameters
    ----------
    ledger : Path
    marks : MarkFile
    mark : Mark
        The ledger's, as it is now.
    """

    def __init__(self, ledger: Path, marks: MarkFile, mark: Mark) -> None:
        self._inodes = Inodes(_watched(ledger))
        self._ledger = ledger
        self._marks = marks
        self._lock = threading.Lock()
        self.mark = mark

    @classmethod
    def opened(cls, ledger: Path, db: sqlite3.Connection, before: list[Path]) -> Guard | str:
        """Open a ledger's mark and hold the ledger to it; return the guard, or the fault.

        Parameters
        ----------
        ledger : Path
        db : sqlite3.Connection
            In autocommit mode.
        before : list of Path
            What lay about the ledger before it was opened: see :func:`traces`.
        """
        new = _is_new(db)  # before the mark is: a ledger with an entry has had one since before that entry
        try:
            marks = MarkFile(mark_of(ledger))
        except FileNotFoundError:
            if before or not new:
                return "the mark beside it is missing, so that nothing says whether this is the newest copy"
            marks = MarkFile.made(mark_of(ledger), advanced(None, db))
        guard = _held(ledger, db, marks)
        if isinstance(guard, str):
            marks.close()
        return guard

    def moved(self) -> str | None:
        """Say which of the ledger's files is no longer at its path, or return None."""
        name = self._inodes.moved()
        return None if name is None else f"{name} was deleted, renamed or replaced while the ledger was open"

    def replaced(self) -> bool:
        """Say whether another file lies where one of the ledger's was."""
        return self._inodes.replaced()

    def fallen(self, db: Chain) -> str | None:
        """Say whether an open ledger is below its mark, as it is where a file was copied over it, or return None.

        Parameters
        ----------
        db : Chain
            In the transaction that is to go on from what it reads: it knows the last entry from then on.
        """
        mark = self.mark  # as it is now: another thread may raise it meanwhile
        row = db.execute(_ENDS, (mark.entry,)).fetchone() or (0, GENESIS, None)
        db.end = row[:2]
        return None if (row[2] or GENESIS) == mark.head else _OVERWRITTEN.format(mark.entry)

    def below(self, pool: str, total: Total) -> str | None:
        """Say whether a pool's total, as a charge is about to go on from it, is less than the mark's, or return None."""
        known = self.mark.totals.get(pool)
        return None if known is None or not known.exceeds(total) else _OVERWRITTEN.format(self.mark.entry)

    def reached(self, db: Chain) -> Mark:
        """Return the mark of the ledger as it is in a transaction in which it has not fallen."""
        return keyed(advanced(self.mark, db), self._ledger)

    def raised(self, mark: Mark) -> None:
        """Raise the mark, on disk when this returns, unless it knows as much."""
        with self._lock:
            if self.mark.entry < mark.entry:  # who waited for another may find it done
                self._marks.raised(mark)
                self.mark = mark

    def close(self) -> None:
        """Let go of the mark's file."""
        self._marks.close()


def _watched(ledger: Path) -> list[Path]:
    """Return what must stay where it is while a ledger is open.

    The journal's index (``-shm``) too: whoever opens the ledger without it makes another one, and then two processes each
    append where their own index says, one over what the other was charged.
    """
    beside = (_beside(ledger, "-wal"), _beside(ledger, "-shm"), ledger.with_name("key"))
    return [ledger.parent, ledger, mark_of(ledger), *(path for path in beside if path.exists())]


def _is_new(db: sqlite3.Connection) -> bool:
    query = "SELECT 1 FROM entries WHERE kind != 'migration' LIMIT 1"
    return db.execute(query).fetchone() is None


def _held(ledger: Path, db: sqlite3.Connection, marks: MarkFile) -> Guard | str:
    mark = marks.read()
    if mark is None:
        return "the mark beside it is damaged, so that nothing says whether this is the newest copy"
    now = _compared(ledger, db, mark)
    if isinstance(now, str):
        return now
    marks.raised(now)  # what an earlier life stored may leave from now on
    return Guard(ledger, marks, now)


def _compared(ledger: Path, db: sqlite3.Connection, mark: Mark) -> Mark | str:
    """Return the mark of the ledger as it is now, or in what it is not what its mark says."""
    known = known_of(ledger, mark)
    db.execute("BEGIN")
    try:
        return fault_of(db, ledger, known) or keyed(advanced(mark, db), ledger)
    finally:
        db.execute("ROLLBACK")


class Inodes:
    """The files and folders at some paths, as they are now. An open file outlives its name: what is written to it then is forgotten.

    Parameters
    ----------
    paths : iterable of Path
        Each must exist.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._known = {os.fspath(path): _identity(os.fspath(path)) for path in paths}

    def moved(self) -> str | None:
        """Return the name of the first that is no longer at its path, or None."""
        for path, known in self._known.items():
            if _identity(path) != known:
                return Path(path).name
        return None

    def replaced(self) -> bool:
        """Say whether another file lies at one of the paths."""
        return any(_identity(path) not in {known, None} for path, known in self._known.items())


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - fifteen of these are made for each release
    except OSError:
        return None
    return found.st_dev, found.st_ino
