"""The ledger's tables, and how an older ledger becomes a newer one.

A migration's effect and the record that it ran (the ledger's own entry of kind ``migration``) share one transaction: no
crash can leave one without the other. A published migration is never edited; the golden schema in the tests holds it.
Every table is append-only: triggers refuse updates and deletions, and insertions that would replace a row.

A request is bound to one charge (``requests``): the one that it made, or one that an earlier life of the curator left
without an answer. A charge is answered once (``answers``), whichever request completes it. Beside the totals of its pool and
principal it states those of the groups and of the token that an owner has capped (``shares``). What an owner froze, closed or
capped below the budget stands in ``holds`` and ``grants``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dpnb.trusted.curator.chain import append
from dpnb.trusted.errors import OwnerError

APPLICATION: Final = 0x64706E4C
"""SQLite's application id of a dpnb ledger: the letters "dpnL"."""

DRAFTS: Final = frozenset({0x64706E62, 0x64706E31})
"""The ids of ledgers from before the format was fixed, the letters "dpnb" and "dpn1": they are refused, not migrated."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step, given as single SQL statements."""

    number: int
    name: str
    statements: tuple[str, ...]


_TABLES = (
    (
        "CREATE TABLE entries (entry INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, "
        "body TEXT NOT NULL, hash TEXT NOT NULL) STRICT"
    ),
    "CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID",
    (
        "CREATE TABLE attachments (entry INTEGER PRIMARY KEY, dataset TEXT NOT NULL, pool TEXT NOT NULL, "
        "budget TEXT NOT NULL, terms TEXT NOT NULL) STRICT"
    ),
    "CREATE INDEX attachments_by_dataset ON attachments (dataset, entry)",
    "CREATE INDEX attachments_by_pool ON attachments (pool, entry)",
    (
        "CREATE TABLE versions (entry INTEGER PRIMARY KEY, dataset TEXT NOT NULL, content TEXT NOT NULL, "
        "version TEXT NOT NULL, protected INTEGER NOT NULL) STRICT"
    ),
    "CREATE INDEX versions_by_content ON versions (content, dataset)",
    (
        "CREATE TABLE marks (entry INTEGER NOT NULL, mark TEXT NOT NULL, dataset TEXT NOT NULL, "
        "protected INTEGER NOT NULL, PRIMARY KEY (entry, mark)) STRICT, WITHOUT ROWID"
    ),
    "CREATE INDEX marks_by_mark ON marks (mark, dataset)",
    (
        "CREATE TABLE refusals (entry INTEGER NOT NULL, mark TEXT NOT NULL, dataset TEXT NOT NULL, "
        "what TEXT NOT NULL, PRIMARY KEY (entry, mark)) STRICT, WITHOUT ROWID"
    ),
    "CREATE INDEX refusals_by_mark ON refusals (mark)",
    "CREATE INDEX refusals_by_dataset ON refusals (dataset)",
    (
        "CREATE TABLE charges (entry INTEGER PRIMARY KEY, principal TEXT NOT NULL, pool TEXT NOT NULL, "
        "dataset TEXT NOT NULL, period INTEGER NOT NULL, spent TEXT NOT NULL, mine TEXT NOT NULL) STRICT"
    ),
    "CREATE INDEX charges_by_pool ON charges (pool, entry)",
    "CREATE INDEX charges_by_principal ON charges (principal, pool, entry)",
    (
        "CREATE TABLE requests (entry INTEGER PRIMARY KEY, request TEXT NOT NULL UNIQUE, principal TEXT NOT NULL, "
        "digest TEXT NOT NULL, charge INTEGER NOT NULL) STRICT"
    ),
    "CREATE TABLE answers (charge INTEGER PRIMARY KEY, entry INTEGER NOT NULL) STRICT",
    (
        "CREATE TABLE stored (entry INTEGER NOT NULL, place INTEGER NOT NULL, address TEXT NOT NULL, "
        "charge INTEGER NOT NULL, question TEXT NOT NULL, answer TEXT NOT NULL, PRIMARY KEY (entry, place)) "
        "STRICT, WITHOUT ROWID"
    ),
    "CREATE INDEX stored_by_address ON stored (address, question, charge)",
    "CREATE TABLE caps (entry INTEGER PRIMARY KEY, principal TEXT NOT NULL, pool TEXT NOT NULL, cap TEXT) STRICT",
    "CREATE INDEX caps_by_principal ON caps (principal, pool, entry)",
    "CREATE TABLE resets (entry INTEGER PRIMARY KEY, pool TEXT NOT NULL) STRICT",
    "CREATE INDEX resets_by_pool ON resets (pool, entry)",
    "CREATE TABLE meters (entry INTEGER PRIMARY KEY, pool TEXT NOT NULL) STRICT",
    "CREATE INDEX meters_by_pool ON meters (pool, entry)",
    (
        "CREATE TABLE shares (entry INTEGER NOT NULL, share TEXT NOT NULL, pool TEXT NOT NULL, "
        "period INTEGER NOT NULL, spent TEXT NOT NULL, PRIMARY KEY (entry, share)) STRICT, WITHOUT ROWID"
    ),
    "CREATE INDEX shares_by_share ON shares (share, pool, entry)",
    (
        "CREATE TABLE holds (entry INTEGER NOT NULL, dataset TEXT NOT NULL, state TEXT NOT NULL, "
        "PRIMARY KEY (entry, dataset)) STRICT, WITHOUT ROWID"
    ),
    "CREATE INDEX holds_by_dataset ON holds (dataset, entry)",
    "CREATE TABLE grants (entry INTEGER PRIMARY KEY, pool TEXT NOT NULL, principal TEXT NOT NULL, cap TEXT) STRICT",
    "CREATE INDEX grants_by_principal ON grants (pool, principal, entry)",
)

_KEYS = {
    "entries": "entry = NEW.entry",
    "secrets": "name = NEW.name",
    "attachments": "entry = NEW.entry",
    "versions": "entry = NEW.entry",
    "charges": "entry = NEW.entry",
    "requests": "entry = NEW.entry OR request = NEW.request",
    "answers": "charge = NEW.charge",
    "stored": "entry = NEW.entry AND place = NEW.place",
    "caps": "entry = NEW.entry",
    "resets": "entry = NEW.entry",
    "meters": "entry = NEW.entry",
    "marks": "entry = NEW.entry AND mark = NEW.mark",
    "refusals": "entry = NEW.entry AND mark = NEW.mark",
    "shares": "entry = NEW.entry AND share = NEW.share",
    "holds": "entry = NEW.entry AND dataset = NEW.dataset",
    "grants": "entry = NEW.entry",
}


def _guards(table: str, key: str) -> tuple[str, ...]:
    # `answers` is written with ON CONFLICT DO NOTHING: the second writer is passed over in silence.
    clash = "RAISE(IGNORE)" if table == "answers" else "RAISE(ABORT, 'the ledger is append-only')"
    taken = f"EXISTS (SELECT 1 FROM {table} WHERE {key})"  # noqa: S608 - our own names
    refuse = "SELECT RAISE(ABORT, 'the ledger is append-only')"
    return (
        f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} BEGIN {refuse}; END",
        f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} BEGIN {refuse}; END",
        f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {taken} BEGIN SELECT {clash}; END",
    )


MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        1,
        "the ledger",
        (
            *_TABLES,
            *(statement for table, key in _KEYS.items() for statement in _guards(table, key)),
            "INSERT INTO secrets VALUES ('versions', randomblob(32))",
        ),
    ),
)


def migrate(
    database: sqlite3.Connection, now: Callable[[], str], migrations: tuple[Migration, ...] = MIGRATIONS
) -> int:
    """Bring a ledger's tables to the newest version, each step in one transaction with its record.

    Parameters
    ----------
    database : sqlite3.Connection
        In autocommit mode.
    now : callable
        The time to record.
    migrations : tuple of Migration
        Numbered from 1 without a gap.

    Returns
    -------
    int
        How many migrations ran.

    Raises
    ------
    OwnerError
        When the ledger was written by a newer dpnb.
    """
    ran = 0
    if _version(database) > len(migrations):
        raise OwnerError(
            "This ledger was written by a newer dpnb. Upgrade dpnb to open it; nothing was changed."
        )
    for migration in migrations[_version(database) :]:
        database.execute("BEGIN IMMEDIATE")
        try:
            ran += _run(database, migration, now)
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")
    return ran


def _run(database: sqlite3.Connection, migration: Migration, now: Callable[[], str]) -> bool:
    if _version(database) >= migration.number:  # another process was faster
        return False
    for statement in migration.statements:
        database.execute(statement)
    database.execute(f"PRAGMA user_version = {migration.number:d}")
    append(database, now(), "migration", {"number": migration.number, "name": migration.name})
    return True


def _version(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])
