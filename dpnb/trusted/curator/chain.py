"""The chain: every act of the ledger is an entry, and every entry carries the hash of all before it.

An entry's hash is SHA-256 over the JSON list ``[previous hash, number, time, kind, body]``. This form is permanent.
The chain shows tampering to whoever keeps an earlier hash; it does not prevent it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from typing import Any, Final

from dpnb.trusted.canonical import canonical

GENESIS: Final = "0" * 64


def link(previous: str, entry: int, time: str, kind: str, body: str) -> str:
    """Return the hash of an entry."""
    return hashlib.sha256(canonical([previous, entry, time, kind, body]).encode()).hexdigest()


class Chain(sqlite3.Connection):
    """A connection to a ledger, which within a transaction remembers the last entry and the last act of an owner."""

    end: tuple[int, str] | None = None
    act: Any = None

    def forget(self) -> None:
        """Forget them: the transaction ends."""
        self.end = self.act = None


def head(database: sqlite3.Connection) -> tuple[int, str]:
    """Return the number and the hash of the last entry."""
    if isinstance(database, Chain) and database.end:
        return database.end
    row = database.execute("SELECT entry, hash FROM entries ORDER BY entry DESC LIMIT 1").fetchone()
    return (0, GENESIS) if row is None else (int(row[0]), str(row[1]))


def append(db: sqlite3.Connection, time: str, kind: str, body: dict[str, Any]) -> int:
    """Append an entry inside the caller's transaction, and return its number."""
    last, previous = head(db)
    entry, text = last + 1, canonical(body)
    digest = link(previous, entry, time, kind, text)
    db.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", (entry, time, kind, text, digest))
    if isinstance(db, Chain):
        db.end = entry, digest
    return entry
