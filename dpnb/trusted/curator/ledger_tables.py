"""The ledger's tables: made once, in one transaction with the entry that says so, and permanent. The golden schema in the tests holds them.

Every table is append-only: triggers refuse updates and deletions, and insertions that would replace a row.

A request is bound to one charge (``requests``): the one that it made, or one that an earlier life of the curator left
without an answer. A charge is answered once (``answers``), whichever request completes it. Beside the totals of its pool and
principal it states those of the groups and of the token that an owner has capped (``shares``). What an owner froze, closed or
capped below the budget stands in ``holds`` and ``grants``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

from dpnb.trusted.curator.chain import append
from dpnb.trusted.errors import OwnerError

APPLICATION: Final = 0x64706E4E
"""SQLite's application id of a dpnb ledger: the letters "dpnN"."""

DRAFTS: Final = frozenset({0x64706E62, 0x64706E31, 0x64706E4C, 0x64706E4D})
"""The ids of ledgers from before the format was fixed, the letters "dpnb", "dpn1", "dpnL" and "dpnM": they are refused.

Those of "dpnL" knew protected rows by sums of their cells, which nothing computes any more: opened, such a home would let
rows that it protects open as TEACHING, or with a second budget. Those of "dpnM" stored answers as they are written, not compressed.
"""

_VERSION: Final = 1

COLUMNS: Final = {
    "entries": "entry INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, hash TEXT NOT NULL",
    "secrets": "name TEXT PRIMARY KEY, value BLOB NOT NULL",
    "attachments": "entry INTEGER PRIMARY KEY, dataset TEXT NOT NULL, pool TEXT NOT NULL, budget TEXT NOT NULL, terms TEXT NOT NULL",
    "versions": "entry INTEGER PRIMARY KEY, dataset TEXT NOT NULL, content TEXT NOT NULL, version TEXT NOT NULL, protected INTEGER NOT NULL",
    "marks": "entry INTEGER NOT NULL, mark TEXT NOT NULL, dataset TEXT NOT NULL, protected INTEGER NOT NULL, PRIMARY KEY (entry, mark)",
    "places": "entry INTEGER NOT NULL, mark TEXT NOT NULL, PRIMARY KEY (entry, mark)",
    "refusals": "entry INTEGER NOT NULL, mark TEXT NOT NULL, dataset TEXT NOT NULL, what TEXT NOT NULL, PRIMARY KEY (entry, mark)",
    "charges": (
        "entry INTEGER PRIMARY KEY, principal TEXT NOT NULL, pool TEXT NOT NULL, dataset TEXT NOT NULL, "
        "period INTEGER NOT NULL, spent TEXT NOT NULL, mine TEXT NOT NULL"
    ),
    "requests": (
        "entry INTEGER PRIMARY KEY, request TEXT NOT NULL UNIQUE, principal TEXT NOT NULL, digest TEXT NOT NULL, charge INTEGER NOT NULL"
    ),
    "answers": "charge INTEGER PRIMARY KEY, entry INTEGER NOT NULL",
    "stored": (
        "entry INTEGER NOT NULL, place INTEGER NOT NULL, address TEXT NOT NULL, charge INTEGER NOT NULL, question TEXT NOT NULL, "
        "draws TEXT NOT NULL, answer BLOB NOT NULL, PRIMARY KEY (entry, place)"
    ),
    "caps": "entry INTEGER PRIMARY KEY, principal TEXT NOT NULL, pool TEXT NOT NULL, cap TEXT",
    "resets": "entry INTEGER PRIMARY KEY, pool TEXT NOT NULL",
    "meters": "entry INTEGER PRIMARY KEY, pool TEXT NOT NULL",
    "shares": (
        "entry INTEGER NOT NULL, share TEXT NOT NULL, pool TEXT NOT NULL, period INTEGER NOT NULL, spent TEXT NOT NULL, "
        "PRIMARY KEY (entry, share)"
    ),
    "holds": "entry INTEGER NOT NULL, dataset TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (entry, dataset)",
    "grants": "entry INTEGER PRIMARY KEY, pool TEXT NOT NULL, principal TEXT NOT NULL, cap TEXT",
}
"""Each table's columns, in SQL."""

_INDEXES = (
    "attachments_by_dataset ON attachments (dataset, entry)",
    "attachments_by_pool ON attachments (pool, entry)",
    "versions_by_content ON versions (content, dataset)",
    "marks_by_mark ON marks (mark, dataset)",
    "places_by_mark ON places (mark)",
    "refusals_by_mark ON refusals (mark)",
    "refusals_by_dataset ON refusals (dataset)",
    "charges_by_pool ON charges (pool, entry)",
    "charges_by_principal ON charges (principal, pool, entry)",
    "stored_by_address ON stored (address, question, charge)",
    "caps_by_principal ON caps (principal, pool, entry)",
    "resets_by_pool ON resets (pool, entry)",
    "meters_by_pool ON meters (pool, entry)",
    "shares_by_share ON shares (share, pool, entry)",
    "holds_by_dataset ON holds (dataset, entry)",
    "grants_by_principal ON grants (pool, principal, entry)",
)


_KEYS = {
    "secrets": "name = NEW.name",
    "requests": "entry = NEW.entry OR request = NEW.request",
    "answers": "charge = NEW.charge",
    "stored": "entry = NEW.entry AND place = NEW.place",
    "marks": "entry = NEW.entry AND mark = NEW.mark",
    "places": "entry = NEW.entry AND mark = NEW.mark",
    "refusals": "entry = NEW.entry AND mark = NEW.mark",
    "shares": "entry = NEW.entry AND share = NEW.share",
    "holds": "entry = NEW.entry AND dataset = NEW.dataset",
}
"""When a new row would take the place of another; in the other tables where their entry is the same."""


def _made(table: str, columns: str) -> Iterator[str]:
    """Give the statements that make a table and guard it."""
    refuse = "SELECT RAISE(ABORT, 'the ledger is append-only')"
    # `answers` is written with ON CONFLICT DO NOTHING: the second writer is passed over in silence.
    clash = "SELECT RAISE(IGNORE)" if table == "answers" else refuse
    taken = f"EXISTS (SELECT 1 FROM {table} WHERE {_KEYS.get(table, 'entry = NEW.entry')})"  # noqa: S608 - our own names
    kind = "STRICT" if "INTEGER PRIMARY KEY" in columns else "STRICT, WITHOUT ROWID"
    yield f"CREATE TABLE {table} ({columns}) {kind}"
    yield f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} BEGIN {refuse}; END"
    yield f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} BEGIN {refuse}; END"
    yield f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {taken} BEGIN {clash}; END"


def make_tables(database: sqlite3.Connection, now: str) -> None:
    """Make a new ledger's tables, in one transaction with the entry that records it.

    Parameters
    ----------
    database : sqlite3.Connection
        In autocommit mode.
    now : str
        The time to record.
    """
    database.execute("BEGIN IMMEDIATE")
    for table, columns in COLUMNS.items():
        for statement in _made(table, columns):
            database.execute(statement)
    for index in _INDEXES:
        database.execute(f"CREATE INDEX {index}")
    database.execute("INSERT INTO secrets VALUES ('versions', randomblob(32))")
    database.execute(f"PRAGMA user_version = {_VERSION:d}")
    append(database, now, "migration", {"number": _VERSION, "name": "the ledger"})
    database.execute("COMMIT")


def refuse_newer(database: sqlite3.Connection) -> None:
    """Refuse a ledger that a newer dpnb wrote.

    Raises
    ------
    OwnerError
    """
    if int(database.execute("PRAGMA user_version").fetchone()[0]) > _VERSION:
        raise OwnerError(
            "This ledger was written by a newer dpnb. Upgrade dpnb to open it; nothing was changed. "
            "Where no newer dpnb has opened it, it is damaged: put a copy back with dpnb restore --from BACKUP."
        )
