"""The chain: every act of the ledger is an entry, and every entry carries the hash of all before it.

An entry's hash is SHA-256 over the JSON list ``[previous hash, number, time, kind, body]``. This form is permanent.
The chain shows tampering to whoever keeps an earlier hash; it does not prevent it.

An entry also makes rows in the tables beside the chain: written with it, and held against it ever after. What is looked up at a
charge is in these rows; what makes them is the entry's body alone. Only answers are more than their entry says (it holds their
hashes), so that :mod:`dpnb.trusted.curator.answer_store` writes them.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from dpnb.trusted.canonical import JsonObject, Record, canonical
from dpnb.trusted.curator.holds import STATES
from dpnb.trusted.privacy.loss import PrivacyLoss

GENESIS: Final = "0" * 64

Rows = list[tuple[Any, ...]]


def timestamp() -> str:
    """Return the time as it is recorded."""
    return _written(int(time.time()))


@lru_cache(maxsize=1)
def _written(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).isoformat()


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


def append(db: sqlite3.Connection, time: str, kind: str, body: Record) -> int:
    """Append an entry inside the caller's transaction, and return its number."""
    last, previous = head(db)
    entry, text = last + 1, canonical(body)
    digest = link(previous, entry, time, kind, text)
    db.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", (entry, time, kind, text, digest))
    if isinstance(db, Chain):
        db.end = entry, digest
    return entry


def record(db: sqlite3.Connection, time: str, kind: str, body: Record) -> int:
    """Append an entry with its rows, inside the caller's transaction, and return its number."""
    entry = append(db, time, kind, body)
    for table, rows in rows_of(entry, kind, body):
        for row in rows:
            db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608 - our own names
    return entry


def rows_of(entry: int, kind: str, body: JsonObject) -> Iterator[tuple[str, Rows]]:
    """Give each table in which an entry has rows, with these rows."""
    match kind:
        case "charge":
            facts = (body[name] for name in ("principal", "pool", "dataset", "period"))
            yield "charges", [(entry, *facts, canonical(body["spent"]), canonical(body["mine"]))]
            yield "requests", [(entry, body["request"], body["principal"], body["digest"], entry)]
            scope = (body["pool"], body["period"])
            shares = body.get("shares", {}).items()
            yield "shares", [(entry, name, *scope, canonical(spent)) for name, spent in shares]
        case "adopt":
            facts = (body[name] for name in ("request", "principal", "digest", "charge"))
            yield "requests", [(entry, *facts)]
        case "restore":  # a total without a charge, from which the pool's next charge goes on
            nothing = canonical(PrivacyLoss.zero(PrivacyLoss.from_json(body["spent"]).measure).to_json())
            spent = canonical(body["spent"])
            yield "charges", [(entry, "", body["pool"], "", body["period"], spent, nothing)]
        case "attach" | "tighten" | "loosen" | "correct":
            terms = body["terms"]
            yield "meters", [(entry, terms["pool"])] if body.get("meter") else []
            pinned = (terms["dataset"], terms["pool"], canonical(terms["budget"]), canonical(terms))
            yield "attachments", [(entry, *pinned)]
        case "version":
            dataset, protected = body["dataset"], body["protected"]
            yield "versions", [(entry, dataset, body["content"], body["version"], protected)]
            yield "marks", [(entry, mark, dataset, protected) for mark in body["marks"]]
            yield "places", [(entry, place) for place in body.get("places", ())]
        case "refuse":
            yield "refusals", [(entry, mark, body["dataset"], body["what"]) for mark in ("", *body["marks"])]
        case _:
            yield from _rows_of_caps_and_holds(entry, kind, body)


def _rows_of_caps_and_holds(entry: int, kind: str, body: JsonObject) -> Iterator[tuple[str, Rows]]:
    if kind in {"cap", "grant"}:
        cap, who = None if body["cap"] is None else canonical(body["cap"]), (body["principal"], body["pool"])
        yield f"{kind}s", [(entry, *(who if kind == "cap" else reversed(who)), cap)]
    elif kind == "reset":
        yield "resets", [(entry, body["pool"])]
    elif kind in STATES:
        yield "holds", [(entry, name, STATES[kind]) for name in body["names"]]
