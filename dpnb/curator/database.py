"""The ledger's file: how it is made, opened and written, and what its faults are called.

The file is made complete under another name and then linked into place, so an empty or half-made ledger is never
mistaken for a new one. It is readable by its user alone. Every write is one ``BEGIN IMMEDIATE`` transaction, on disk
before it returns. A fault of the file is told as an :class:`~dpnb.errors.OwnerError` that names the way out.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from dpnb.curator.migrations import APPLICATION, DRAFT_APPLICATION, migrate
from dpnb.errors import CuratorError, OwnerError

__all__ = ["UNSPENT", "Database"]

_WAIT = 10.0

_FAULTS: dict[int, str] = {
    sqlite3.SQLITE_BUSY: "is locked by another program. Close that program (or end its curator) and run this again",
    sqlite3.SQLITE_LOCKED: "is locked by another program. Close that program (or end its curator) and run this again",
    sqlite3.SQLITE_READONLY: "is read-only. Give its owner write access to the file and its folder, and run this again",
    sqlite3.SQLITE_PERM: "may not be opened. Give its owner read and write access, and run this again",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened. Check that its folder exists and can be written, and run this again",
    sqlite3.SQLITE_FULL: "has no room: the disk is full. Free some space and run this again",
    sqlite3.SQLITE_IOERR: "could not be read or written: the disk reports a fault. Check it and run this again",
    sqlite3.SQLITE_CORRUPT: "is damaged or truncated. Restore it from a backup: a new one would forget what was spent",
    sqlite3.SQLITE_NOTADB: "is no dpnb ledger, or is damaged. Restore it from a backup, or choose another DPNB_HOME",
}
_DAMAGE = _FAULTS[sqlite3.SQLITE_CORRUPT]
_APPLICATION_AT = slice(68, 72)
"""Where the header of a SQLite file has its application id, big-endian."""

UNSPENT = " Nothing was spent by this request."
"""How a fault's message ends: what a write could not finish left no trace."""


@contextlib.contextmanager
def named_faults(name: str) -> Iterator[None]:
    """Turn the faults of a ledger's file into errors that name the way out."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        fault = None if code is None else _FAULTS.get(code & 0xFF)
        if fault is None:
            raise CuratorError("The ledger met a fault it did not expect.") from error
        raise OwnerError(f"The ledger {name} {fault}.{UNSPENT}") from error


class Database:
    """One open ledger file.

    Parameters
    ----------
    path : Path
        Made (mode 0600) when it does not exist.
    now : callable
        The time to record when tables are made.
    wait : float
        Seconds to wait for another writer.

    Raises
    ------
    OwnerError
        When the file is locked, read-only, truncated, damaged, from a newer dpnb, or missing beside its journal.
    """

    def __init__(self, path: Path, now: Callable[[], str], wait: float = _WAIT) -> None:
        self._path = path
        self.told: Callable[[], None] = _nobody
        self._lock = threading.RLock()
        self._process = os.getpid()
        with named_faults(path.name):
            if not path.exists():
                _make(path, now)
            self._connection = self._open(now, wait)

    def _open(self, now: Callable[[], str], wait: float) -> sqlite3.Connection:
        if self._path.stat().st_size == 0:
            raise OwnerError(f"The ledger {self._path.name} {_DAMAGE}.")
        _refuse_draft_format(self._path)
        if self._path.stat().st_mode & 0o077:
            self._path.chmod(0o600)
        connection = _connect(self._path, wait)
        try:
            self._refuse_other_files(connection)
            connection.execute("BEGIN IMMEDIATE")  # a read-only or locked file says so now, not at a charge
            connection.execute("ROLLBACK")
            migrate(connection, now)
        except BaseException:
            connection.close()
            raise
        return connection

    def _refuse_other_files(self, connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise OwnerError(f"The ledger {self._path.name} {_FAULTS[sqlite3.SQLITE_NOTADB]}.")

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open one transaction that is on disk when the block ends, or leaves no trace when it raises."""
        with self._lock, named_faults(self._path.name):
            connection = self._mine()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def telling(self) -> Iterator[sqlite3.Connection]:
        """Write as in :meth:`writing`, and say so when it is on disk: to :attr:`told`, which hears that, and nothing else.

        Whatever becomes of who is told, it stands, and who wrote it goes on: a charge is never without its answer for that.
        """
        with self.writing() as connection:
            yield connection
        with contextlib.suppress(Exception):
            self.told()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read one consistent state."""
        with self._lock, named_faults(self._path.name):
            connection = self._mine()
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    def _mine(self) -> sqlite3.Connection:
        if os.getpid() != self._process:
            raise CuratorError("A ledger does not survive a fork: open it again in this process.")
        return self._connection

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()


def _nobody() -> None:
    pass


def _refuse_draft_format(path: Path) -> None:
    """Refuse a ledger of the earlier format by its header alone: the file is not opened, and stays as it is."""
    header = b""
    with (
        contextlib.suppress(OSError),
        path.open("rb") as file,
    ):  # what cannot be read says so when it is opened
        header = file.read(_APPLICATION_AT.stop)
    if int.from_bytes(header[_APPLICATION_AT], "big") == DRAFT_APPLICATION:
        raise OwnerError(
            f"The ledger {path.name} was written by a dpnb from before its first release, in a format that is not read "
            "any more: choose another DPNB_HOME, or move this home away. Nothing was changed."
        )


def _connect(path: Path, wait: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=wait,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        for pragma in (
            "synchronous = FULL",
            "fullfsync = ON",
            "trusted_schema = OFF",
            "recursive_triggers = ON",
        ):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()  # a file that is no database says so at the first statement
        raise
    return connection


def _make(path: Path, now: Callable[[], str]) -> None:
    journal = path.with_name(f"{path.name}-wal")
    if journal.exists():
        raise OwnerError(f"The ledger {path.name} is missing beside its journal. Restore it from a backup.")
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise OwnerError(f"The ledger {path.name} {_FAULTS[sqlite3.SQLITE_CANTOPEN]}.") from error
    try:
        connection = _connect(draft, _WAIT)
        try:
            connection.execute(f"PRAGMA application_id = {APPLICATION:d}")
            connection.execute("PRAGMA journal_mode = WAL")
            migrate(connection, now)
        finally:
            connection.close()
        with contextlib.suppress(FileExistsError):  # another process was faster: its ledger is the ledger
            os.link(draft, path)
        _sync(path.parent)
    finally:
        draft.unlink()


def _sync(folder: Path) -> None:
    with contextlib.suppress(OSError):  # not every system can open a folder
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
