"""The ledger's own examination: does every entry still follow from those before it, and does every table agree?

Nothing here writes. A fault is named by its entry's number; an examination never repairs.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dpnb.curator.chain import GENESIS, canonical, link
from dpnb.curator.stored import address, brief
from dpnb.privacy import Odometer, PrivacyEvent, PrivacyLoss, compose

__all__ = ["Verification", "examine"]


@dataclass(frozen=True, slots=True)
class Verification:
    """What an examination found.

    Parameters
    ----------
    entries : int
        How many entries were read.
    head : str
        The hash of the last one: keep it, and a later examination can be held to it.
    fault : str, optional
        The first thing that does not agree, or None.
    """

    entries: int
    head: str
    fault: str | None = None

    @property
    def intact(self) -> bool:
        """Whether everything agrees."""
        return self.fault is None


@dataclass(slots=True)
class _Reading:
    """What has been read so far: the chain's state, the running totals, and how many rows each table owes."""

    previous: str = GENESIS
    entries: int = 0
    seen: set[str] = field(default_factory=set)
    periods: dict[str, int] = field(default_factory=dict)
    totals: dict[tuple[str, ...], PrivacyLoss] = field(default_factory=dict)
    owed: dict[str, int] = field(default_factory=dict)


def examine(database: sqlite3.Connection, known: str | None = None) -> Verification:
    """Walk the chain from its start, recomputing hashes, totals and the tables beside it."""
    reading = _Reading()
    fault = next(_faults(database, reading, known), None)
    return Verification(reading.entries, reading.previous, fault)


def _faults(db: sqlite3.Connection, reading: _Reading, known: str | None) -> Iterator[str]:
    found = known is None or known == GENESIS
    for entry, time, kind, text, stated in db.execute("SELECT * FROM entries ORDER BY entry"):
        if entry != reading.entries + 1:
            yield f"entry {reading.entries + 1} is missing"
        if stated != link(reading.previous, entry, time, kind, text):
            yield f"entry {entry} was changed: its hash does not follow from the entries before it"
        reading.previous, reading.entries = stated, entry
        found = found or stated == known
        yield from _disagreements(db, reading, entry, kind, json.loads(text))
    if not found:
        yield "the hash known from earlier is not in this ledger: entries were cut off or the ledger was replaced"
    for table in ("attachments", "versions", "charges", "requests", "answers", "stored", "caps", "resets"):
        rows = db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608 - our own names
        if rows != reading.owed.get(table, 0):
            yield f"the table {table} holds rows that no entry made, or has lost some"


def _disagreements(
    db: sqlite3.Connection, reading: _Reading, entry: int, kind: str, body: dict[str, Any]
) -> Iterator[str]:
    for table, expected in _expected(entry, kind, body):
        reading.owed[table] = reading.owed.get(table, 0) + len(expected)
        query = f"SELECT * FROM {table} WHERE entry = ?"  # noqa: S608 - our own names
        if db.execute(query, (entry,)).fetchall() != expected:
            yield f"the table {table} does not agree with entry {entry}"
    if kind == "reset":
        reading.periods[body["pool"]] = entry
    if kind == "charge":
        yield from _wrong_totals(reading, entry, body)
    if kind == "adopt":
        yield from _wrong_adoption(db, entry, body)
    if kind == "store":
        yield from _wrong_answers(db, reading, entry, body)


def _expected(entry: int, kind: str, body: dict[str, Any]) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    match kind:
        case "charge":
            facts = (body[name] for name in ("principal", "pool", "dataset", "period"))
            yield "charges", [(entry, *facts, canonical(body["spent"]), canonical(body["mine"]))]
            yield "requests", [(entry, body["request"], body["principal"], body["digest"], entry)]
        case "adopt":
            facts = (body[name] for name in ("request", "principal", "digest", "charge"))
            yield "requests", [(entry, *facts)]
        case "attach" | "tighten" | "loosen":
            terms = body["terms"]
            yield (
                "attachments",
                [(entry, terms["dataset"], terms["pool"], canonical(terms["budget"]), canonical(terms))],
            )
        case "version":
            yield "versions", [(entry, body["dataset"], body["content"], body["version"], body["protected"])]
        case "cap":
            cap = None if body["cap"] is None else canonical(body["cap"])
            yield "caps", [(entry, body["principal"], body["pool"], cap)]
        case "reset":
            yield "resets", [(entry, body["pool"])]


def _wrong_totals(reading: _Reading, entry: int, body: dict[str, Any]) -> Iterator[str]:
    loss = PrivacyLoss.from_json(body["loss"])
    events = [PrivacyEvent.from_json(event) for question in body["questions"] for event in question["events"]]
    if compose(events, loss.measure) != loss:
        yield f"entry {entry} charges another loss than its events have"
    period = reading.periods.get(body["pool"], 0)
    if body["period"] != period:
        yield f"entry {entry} names another budget period than the one it was made in"
    scopes = {"spent": (body["pool"], str(period)), "mine": (body["pool"], str(period), body["principal"])}
    for name, scope in scopes.items():
        before = reading.totals.get(scope, PrivacyLoss.zero(loss.measure))
        reading.totals[scope] = Odometer(before).after(loss).spent
        if PrivacyLoss.from_json(body[name]) != reading.totals[scope]:
            yield f"entry {entry} states another running total than its charges have"


def _charge(db: sqlite3.Connection, entry: int, charge: int) -> dict[str, Any] | None:
    """Return the body of a charge made before an entry, or None."""
    query = "SELECT body FROM entries WHERE entry = ? AND entry < ? AND kind = 'charge'"
    row = db.execute(query, (charge, entry)).fetchone()
    return None if row is None else dict(json.loads(row[0]))


def _wrong_adoption(db: sqlite3.Connection, entry: int, body: dict[str, Any]) -> Iterator[str]:
    paid = _charge(db, entry, body["charge"])
    if paid is None or any(paid[name] != body[name] for name in ("principal", "pool", "dataset")):
        yield f"entry {entry} adopts what is no charge of the same principal and dataset"
    elif paid["life"] == body["life"]:
        yield f"entry {entry} adopts a charge of its own life of the curator"


def _wrong_answers(
    db: sqlite3.Connection, reading: _Reading, entry: int, body: dict[str, Any]
) -> Iterator[str]:
    row = db.execute("SELECT entry FROM answers WHERE charge = ?", (body["charge"],)).fetchone()
    paid = _charge(db, entry, body["charge"])
    if paid is None or row is None:
        yield f"entry {entry} stores answers without a charge"
        return
    if row != (entry,):
        yield f"the table answers does not agree with entry {entry}"
    reading.owed["answers"] = reading.owed.get("answers", 0) + 1
    reading.owed["stored"] = reading.owed.get("stored", 0) + len(body["answers"])
    if _stored_rows(db, entry) != _stated_rows(body, paid):
        yield f"the table stored does not agree with entry {entry}"


def _stored_rows(db: sqlite3.Connection, entry: int) -> list[tuple[Any, ...]]:
    query = "SELECT place, address, charge, question, answer FROM stored WHERE entry = ? ORDER BY place"
    rows = db.execute(query, (entry,)).fetchall()
    return [(*row[:4], hashlib.sha256(row[4].encode()).hexdigest()) for row in rows]


def _stated_rows(body: dict[str, Any], paid: dict[str, Any]) -> list[tuple[Any, ...]]:
    questions = zip(paid["questions"], body["answers"], strict=True)
    return [
        (place, address(paid, question["key"]), body["charge"], canonical(brief(question)), digest)
        for place, (question, digest) in enumerate(questions)
    ]
