"""What a fault of the ledger's file is called: an :class:`~dpnb.trusted.errors.OwnerError` that names the way out.

What was not foreseen stays a bare :class:`~dpnb.trusted.errors.CuratorError`; its cause is in the owner's log.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from dpnb.trusted.errors import ChargedError, CuratorError, OwnerError

FAULTS: dict[int, str] = {
    sqlite3.SQLITE_BUSY: "is locked by another program. Close that program (or end its curator) and run this again",
    sqlite3.SQLITE_LOCKED: "is locked by another program. Close that program (or end its curator) and run this again",
    sqlite3.SQLITE_READONLY: "is read-only. Give its owner write access to the file and its folder, and run this again",
    sqlite3.SQLITE_PERM: "may not be opened. Give its owner read and write access, and run this again",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened. Check that its folder exists and can be written, and run this again",
    sqlite3.SQLITE_FULL: "has no room: the disk is full. Free some space and run this again",
    sqlite3.SQLITE_IOERR: "could not be read or written: the disk reports a fault. Check it and run this again",
    sqlite3.SQLITE_CORRUPT: "is damaged or truncated. Put a copy back with dpnb restore --from BACKUP: a new one would forget what was spent",
    sqlite3.SQLITE_NOTADB: "is not a dpnb ledger, or is damaged. Put a copy back with dpnb restore --from BACKUP, or choose another DPNB_HOME",
}
UNSPENT = " Nothing was spent by this request."
"""How a fault's message ends: what a write could not finish left no trace."""


@contextlib.contextmanager
def named_faults(name: str) -> Iterator[None]:
    """Turn the faults of a ledger's file into errors that name the way out."""
    try:
        yield
    except UnicodeDecodeError as error:  # SQLite quoted a damaged name
        raise OwnerError(f"The ledger {name} {FAULTS[sqlite3.SQLITE_CORRUPT]}.{UNSPENT}") from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        fault = None if code is None else FAULTS.get(code & 0xFF)
        if fault is None:
            raise CuratorError("The ledger met a fault it did not expect.") from error
        raise OwnerError(f"The ledger {name} {fault}.{UNSPENT}") from error


@contextlib.contextmanager
def after_the_charge() -> Iterator[None]:
    """Say the truth about a fault of the file between charge and answer: the charge stands."""
    try:
        yield
    except OwnerError as error:
        cause = error.message.removesuffix(UNSPENT)
        raise ChargedError(
            f"{cause} The charge stands: running again is not charged twice, and gives its answer."
        ) from error
