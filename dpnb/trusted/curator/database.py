"""The ledger's file: how it is made, opened and written, and what its faults are called.

The file is made complete under another name and then linked into place, so an empty or half-made ledger is never
mistaken for a new one. It is readable by its user alone. Every write is one ``BEGIN IMMEDIATE`` transaction, on disk
before it returns. A fault of the file is told as an :class:`~dpnb.trusted.errors.OwnerError` that names the way out. A ledger that is
not the one that answers were given from opens frozen: it is read and written no more (see :mod:`dpnb.trusted.curator.guard`).
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from dpnb.trusted.curator import failpoints
from dpnb.trusted.curator.audit_trail import examine, has_our_tables
from dpnb.trusted.curator.chain import Chain, head
from dpnb.trusted.curator.file_faults import FAULTS, after_the_charge, named_faults
from dpnb.trusted.curator.grouped_calls import BY_ITSELF, GroupedCalls
from dpnb.trusted.curator.guard import REFUSAL, Guard, journal_of, traces
from dpnb.trusted.curator.ledger_tables import APPLICATION, DRAFTS, make_tables, refuse_newer
from dpnb.trusted.curator.mark import Mark, Total
from dpnb.trusted.errors import CuratorError, DpnbError, FrozenError, OwnerError

Act = Callable[[Chain], Any]
"""What is done within a transaction."""
_WAIT = 10.0
_UNREADABLE = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
"""What SQLite says at the first statement of a file whose tables it cannot read."""
_CHECKPOINT = "PRAGMA wal_checkpoint(PASSIVE)"
_LONGEST_JOURNAL = 4000
"""Pages after which a writer checkpoints by itself: never, while :mod:`dpnb.trusted.curator.upkeep` does it beside the writers."""


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
        When the file is locked, read-only, truncated, damaged, or from a newer dpnb. One that is missing where there was
        one, or is not the one that answers were given from, opens frozen.
    """

    def __init__(self, path: Path, now: Callable[[], str], wait: float = _WAIT) -> None:
        self.path = path
        self.told: Callable[[], None] = lambda: None
        self.frozen: str | None = None
        self.writes = 0
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._examined = False
        self._connection: Chain | None = None
        self._guard: Guard | None = None
        self._together = GroupedCalls(self._written, self._written_in_one)
        # looked at before the ledger, which is made first: what another process makes meanwhile is not held against it
        before, journal = traces(path), journal_of(path).exists()
        with self._named():
            if not path.exists():
                if before or journal:
                    self.freeze("it is missing, with entry 1 and all after it")
                    return
                made(path, now)
            self._connection = opened(path, wait)
            self._hold(before)

    def _hold(self, before: list[Path]) -> None:
        try:
            guard = Guard.opened(self.path, self._mine(), before)
        except BaseException:
            self.close()
            raise
        if isinstance(guard, Guard):
            self._guard = guard
        else:
            self.freeze(guard)

    def freeze(self, fault: str) -> None:
        """Read and write no more, for this fault; the first one is kept."""
        self.frozen = self.frozen or fault

    def _named(self) -> contextlib.AbstractContextManager[None]:
        return named_faults(self.path.name, self._damage)

    def _damage(self) -> str | None:
        """Freeze a damaged ledger, and return what is wrong with it, or None.

        It is examined once: nobody can make it be read again and again, at the cost of all others.
        """
        if not self._examined:
            self._examined = True
            fault = damage(self.path)
            if fault is not None:
                self.freeze(fault)
        return self.frozen

    @property
    def mark(self) -> Mark | None:
        """The mark as it was raised last, or None for a ledger that opened frozen."""
        return None if self._guard is None else self._guard.mark

    @contextlib.contextmanager
    def writing(self) -> Iterator[Chain]:
        """Open one transaction that is on disk when the block ends, or leaves no trace when it raises."""
        with self._named(), self._lock:
            self._refuse_moved()
            connection = self._mine()
            connection.execute("BEGIN IMMEDIATE")
            try:
                self.refuse_fallen(connection)
                yield connection
                self._commit(connection)
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                connection.forget()
            self.writes += 1

    def together(self, act: Act, *, leaves: bool = False) -> Any:
        """Write as in :meth:`writing`, in one transaction with what others wait to write: on disk for all with one sync.

        Each act reads what those before it wrote, and its entries follow theirs. An act that is refused leaves no trace among
        them. One that fails is done again by itself; where the transaction fails, so are all. It may hence be called twice.
        Where its result may leave, the mark knows it when this returns, raised once for all: see :meth:`cover`.
        """
        return self._together.do((act, leaves))

    def _written(self, asked: tuple[Act, bool]) -> Any:
        act, leaves = asked
        with self.writing() as connection:
            found, mark = act(connection), self._mark_of(connection) if leaves else None
        self._leave(mark)
        return found

    def _written_in_one(self, asked: Sequence[tuple[Act, bool]]) -> list[Any]:
        with self.writing() as connection:
            found = [_tried(connection, act) for act, _ in asked]
            mark = self._mark_of(connection) if any(leaves for _, leaves in asked) else None
        try:
            self._leave(mark)
        except Exception as fault:  # noqa: BLE001 - what is written stands: it is the fault of those who wait for the mark alone
            return [fault if leaves else one for one, (_, leaves) in zip(found, asked, strict=True)]
        return found

    def _commit(self, connection: sqlite3.Connection) -> None:
        failpoints.at("committing")
        connection.execute("COMMIT")

    @contextlib.contextmanager
    def telling(self) -> Iterator[Chain]:
        """Write as in :meth:`writing`, and say so when it is on disk: to :attr:`told`, which hears that, and nothing else.

        Whatever becomes of who is told, it stands, and who wrote it goes on: a charge is never without its answer for that.
        """
        with self.writing() as connection:
            yield connection
        self.tell()

    def listen(self, told: Callable[[], None]) -> None:
        """Call somebody after every charge, reset, cap and change of terms, when it is on disk.

        Storing an answer tells nobody: the time between a charge and its answer is a scan's, and nobody else's business.
        """
        self.told = told

    def tell(self) -> None:
        """Say that something was written."""
        with contextlib.suppress(Exception):
            self.told()

    @contextlib.contextmanager
    def reading(self) -> Iterator[Chain]:
        """Read one consistent state."""
        with self._named(), self._lock:
            connection = self._mine()
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.forget()
                connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def beside(self) -> Iterator[sqlite3.Connection]:
        """Read one consistent state on a connection of its own: no charge waits for it."""
        self._refuse_moved()
        self._mine()
        with self._named(), _snapshot(self.path, _WAIT) as connection:
            yield connection

    @contextlib.contextmanager
    def showing(self) -> Iterator[sqlite3.Connection]:
        """Read stored answers as in :meth:`reading`; when the block is left, the mark knows them, and they may leave."""
        with self.reading() as connection:
            yield connection
            entry = int(connection.execute("SELECT coalesce(max(entry), 0) FROM stored").fetchone()[0])
        self.cover(entry)

    def cover(self, entry: int) -> None:
        """Raise the mark to an entry at least, on disk when this returns.

        Raises
        ------
        ChargedError
            When it cannot be written: an answer is stored and stays in.
        FrozenError
            When a file of the ledger is no longer at its path.
        """
        self._refuse_moved()
        if self._guard is not None and self._guard.mark.entry < entry:
            with after_the_charge(), self.reading() as connection:
                self.refuse_fallen(connection)
                mark = self._guard.reached(connection)
            self._leave(mark)

    def _mark_of(self, connection: Chain) -> Mark | None:
        return None if self._guard is None else self._guard.reached(connection)

    def _leave(self, mark: Mark | None) -> None:
        """Let leave what a mark knows: it is raised so far before."""
        if self._guard is not None and mark is not None:
            self._refuse_moved()
            with after_the_charge():
                self._guard.raised(mark)

    def cover_all(self) -> None:
        """Raise the mark to the last entry."""
        with self.reading() as connection:
            entry = head(connection)[0]
        self.cover(entry)

    def checkpoint(self) -> None:
        """Move the journal's pages into the ledger, nearly all of them beside its writers; the next write begins the journal anew.

        It keeps its length: a sync that makes a file longer takes twice as long.
        """
        self._refuse_moved()
        with self._named(), contextlib.closing(_connect(self.path, 0.0)) as connection:
            connection.execute(_CHECKPOINT)
            with self._lock:  # what was written meanwhile
                connection.execute(_CHECKPOINT)

    def refuse_fallen(self, connection: Chain) -> None:
        """Freeze a ledger that is below its mark in a transaction."""
        self._refuse(None if self._guard is None else self._guard.fallen(connection))

    def refuse_below(self, pool: str, total: Total) -> None:
        """Freeze a ledger that says less of a pool in a transaction than its mark."""
        self._refuse(None if self._guard is None else self._guard.below(pool, total))

    def _refuse_moved(self) -> None:
        self._refuse(None if self._guard is None else self._guard.moved())

    def _refuse(self, fault: str | None) -> None:
        if fault is not None:
            self.freeze(fault)
        if self.frozen is not None:
            raise FrozenError(REFUSAL) from CuratorError(self.frozen)

    def _mine(self) -> Chain:
        if os.getpid() != self._process:
            raise CuratorError("A ledger does not survive a fork: open it again in this process.")
        if self.frozen is not None or self._connection is None:
            raise FrozenError(REFUSAL) from CuratorError(self.frozen or "closed")
        return self._connection

    def close(self) -> None:
        """Close the file, and the mark when it knows all of it."""
        with contextlib.suppress(OwnerError, CuratorError, sqlite3.Error):
            self.cover_all()
        with self._lock:
            if self._connection is not None and self._is_ours():
                self._connection.close()
            elif self._connection is not None:
                _let_go(self._connection, self.path)
            if self._guard is not None:
                self._guard.close()

    def _is_ours(self) -> bool:
        """Tell whether the journal is this ledger's own: moved into it and deleted, it would lose nothing of others."""
        return self.frozen is None if self._guard is None else not self._guard.replaced()


def _tried(connection: Chain, act: Act) -> Any:
    """Carry out an act within a transaction. Where it raises and has written nothing, a refusal is its result.

    What has written something before it raises takes the transaction with it, so that it leaves no trace among the others; so
    does a fault at which SQLite itself gives the transaction up. Nothing of any act was done then, and each is done by itself.
    """
    before = connection.total_changes
    try:
        return act(connection)
    except Exception as fault:
        if connection.total_changes != before or not connection.in_transaction:
            raise
        return fault if isinstance(fault, DpnbError) else BY_ITSELF


def _let_go(connection: sqlite3.Connection, path: Path) -> None:
    """Close a ledger and leave its files as they are.

    The last connection to close would move the journal into the ledger, as far as its own index goes, and delete what lies
    at the journal's path. It is not the last while a reader is open, and a reader deletes nothing.
    """
    with contextlib.ExitStack() as reader:
        with contextlib.suppress(OwnerError, CuratorError):
            reader.enter_context(aside(path))
        connection.close()


@contextlib.contextmanager
def aside(path: Path, wait: float = _WAIT) -> Iterator[sqlite3.Connection]:
    """Read one consistent state of a ledger on a connection of its own, which never writes; nobody waits for it."""
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise OwnerError(f"The ledger {path.name} {FAULTS[sqlite3.SQLITE_NOTADB]}.")
    with named(path), _snapshot(path, wait) as connection:
        yield connection


@contextlib.contextmanager
def _snapshot(path: Path, wait: float) -> Iterator[sqlite3.Connection]:
    mode = "ro" if journal_of(path).exists() or os.access(path.parent, os.W_OK) else "ro&immutable=1"
    with contextlib.closing(_connect(path, wait, mode)) as connection:
        _refuse_other_files(connection, path)
        connection.execute("BEGIN")
        yield connection


def damage(path: Path) -> str | None:
    """Examine a ledger on a connection of its own: say what is wrong with it, or return None."""
    try:
        with _snapshot(path, 0.0) as connection:
            return examine(connection).fault
    except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite quotes a damaged name
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        return "its tables cannot be read" if code in _UNREADABLE else None


def named(path: Path) -> contextlib.AbstractContextManager[None]:
    """Turn the faults of a file into errors that name the way out: see :func:`~dpnb.trusted.curator.file_faults.named_faults`."""
    return named_faults(path.name, lambda: damage(path))


def _refuse_draft_format(path: Path) -> None:
    """Refuse a ledger of the earlier format by its header alone: read without a lock or its journal, it stays as it is.

    SQLite reads it: a file that this process opened and closed itself would take SQLite's locks on it away.
    """
    draft = False
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(address, uri=True)) as header:
        application = header.execute("PRAGMA application_id").fetchone()[0]
        draft = application in DRAFTS and not has_our_tables(header)  # else its id is damaged
    if draft:  # what cannot be read says so when it is opened
        raise OwnerError(
            f"The ledger {path.name} was written by a dpnb from before its first release, in a format that is not read "
            "any more: choose another DPNB_HOME, or move this home away. Nothing was changed."
        )


def _connect(path: Path, wait: float, mode: str = "rw") -> Chain:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=wait,
        isolation_level=None,
        check_same_thread=False,
        factory=Chain,
    )
    try:
        for pragma in (
            "synchronous = FULL",
            "fullfsync = ON",
            "trusted_schema = OFF",
            "recursive_triggers = ON",
            f"wal_autocheckpoint = {_LONGEST_JOURNAL:d}",
        ):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()  # a file that is no database says so at the first statement
        raise
    return connection


def opened(path: Path, wait: float = _WAIT) -> Chain:
    """Open a ledger for writing, in autocommit mode, whatever its mark says of it."""
    if path.stat().st_size == 0:
        raise OwnerError(f"The ledger {path.name} {FAULTS[sqlite3.SQLITE_CORRUPT]}.")
    _refuse_draft_format(path)
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
    connection = _connect(path, wait)
    try:
        _refuse_other_files(connection, path)
        connection.execute("BEGIN IMMEDIATE")  # a read-only or locked file says so now, not at a charge
        connection.execute("ROLLBACK")
        connection.execute("PRAGMA journal_mode = WAL")  # another program may have turned it off
        refuse_newer(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _refuse_other_files(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise OwnerError(f"The ledger {path.name} {FAULTS[sqlite3.SQLITE_NOTADB]}.")


def made(path: Path, now: Callable[[], str]) -> None:
    """Make a new ledger, complete before it has its name; one that another process made meanwhile is left."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise OwnerError(f"The ledger {path.name} {FAULTS[sqlite3.SQLITE_CANTOPEN]}.") from error
    try:
        connection = _connect(draft, _WAIT)
        try:
            connection.execute(f"PRAGMA application_id = {APPLICATION:d}")
            make_tables(connection, now())
            # at the end: no part of the new file is in a journal
            connection.execute("PRAGMA journal_mode = WAL")
        finally:
            connection.close()
        _name(draft, path)
        sync_folder(path.parent)
    finally:
        for part in ("", "-journal", "-wal", "-shm"):
            draft.with_name(draft.name + part).unlink(missing_ok=True)


def _name(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)
    except FileExistsError:
        pass  # another process was faster: its ledger is the ledger
    except OSError as error:
        raise OwnerError(
            f"The ledger {path.name} could not be given its name ({error.strerror}). Set DPNB_HOME to a folder on a local disk whose "
            "file system has hard links."
        ) from error


def sync_folder(folder: Path) -> None:
    """Bring a folder's names to the disk."""
    with contextlib.suppress(OSError):  # not every system can open a folder
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
