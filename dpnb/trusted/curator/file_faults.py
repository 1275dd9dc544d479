"""What a fault of the ledger's file is called: an :class:`~dpnb.trusted.errors.OwnerError` that names the way out.

What was not foreseen stays a bare :class:`~dpnb.trusted.errors.CuratorError`; its cause is in the owner's log.
"""

from __future__ import annotations

import contextlib
import sqlite3
import zlib
from collections.abc import Callable, Iterator

from dpnb.trusted.errors import ChargedError, CuratorError, DpnbError, LossError, OwnerError

FAULTS: dict[int, str] = {
    sqlite3.SQLITE_BUSY: "is locked by another program. Close that program (or end its curator) and run this again",
    sqlite3.SQLITE_LOCKED: "is locked by another program. Close that program (or end its curator) and run this again",
    sqlite3.SQLITE_READONLY: "is read-only. Give its owner write access to it and its folder, and run this again; if it is damaged: "
    "dpnb restore --from BACKUP",
    sqlite3.SQLITE_PERM: "may not be opened. Give its owner read and write access, and run this again",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened. Check that its folder exists and can be written, and run this again",
    sqlite3.SQLITE_FULL: "has no room: the disk is full. Free some space and run this again",
    sqlite3.SQLITE_IOERR: "could not be read or written: the disk reports a fault. Check it and run this again",
    sqlite3.SQLITE_CORRUPT: "is damaged or truncated. Put a copy back with dpnb restore --from BACKUP: a new one would forget what was spent",
    sqlite3.SQLITE_NOTADB: "is not a dpnb ledger, or is damaged. Put a copy back with dpnb restore --from BACKUP, or choose another DPNB_HOME",
}
MISREAD = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, zlib.error)
"""What reading a damaged record raises, beside SQLite's own errors."""
UNSPENT = " Nothing was spent by this request."
"""How a fault's message ends: what a write could not finish left no trace."""


@contextlib.contextmanager
def named_faults(name: str, damage: Callable[[], str | None]) -> Iterator[None]:
    """Turn the faults of a ledger's file into errors that name the way out.

    A missing column, or a record that cannot be read, has no code of its own. A damaged file causes that, and so does a
    mistake in this program: an examination of the file decides.

    Parameters
    ----------
    name : str
    damage : callable
        Examines the ledger, and says what is wrong with it, or returns None.
    """
    try:
        yield
    except (sqlite3.Error, *MISREAD) as error:
        if _is_refusal(error):
            raise
        fault = FAULTS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
        if fault is None and damage() is not None:
            fault = FAULTS[sqlite3.SQLITE_CORRUPT]
        if fault is not None:
            raise OwnerError(f"The ledger {name} {fault}.{UNSPENT}") from error
        if isinstance(error, sqlite3.Error):
            raise CuratorError("The ledger hit an unexpected fault.") from error
        raise


def _is_refusal(error: Exception) -> bool:
    """Whether an error was raised on purpose; a loss that cannot be read is what a damaged record raises, too."""
    return isinstance(error, DpnbError) and not isinstance(error, LossError)


@contextlib.contextmanager
def after_the_charge() -> Iterator[None]:
    """Say the truth about a fault of the file between charge and answer: the charge stands."""
    try:
        yield
    except OwnerError as error:
        cause = error.message.removesuffix(UNSPENT)
        raise ChargedError(
            f"{cause} You were charged: run this again to get the answer, without a second charge."
        ) from error
