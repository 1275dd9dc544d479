"""The ledger's own examination: does every entry still follow from those before it, and does every table agree?

Nothing here writes. A fault is named by its entry's number; an examination never repairs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from dpnb.trusted.canonical import Record, canonical
from dpnb.trusted.curator.answer_store import address, brief, draws_of, published_rows, unpacked
from dpnb.trusted.curator.chain import GENESIS, link, rows_of
from dpnb.trusted.curator.file_faults import MISREAD
from dpnb.trusted.curator.ledger_tables import COLUMNS, make_tables
from dpnb.trusted.curator.mark import Mark, shortfall
from dpnb.trusted.curator.meters import doubled
from dpnb.trusted.errors import DpnbError
from dpnb.trusted.privacy.accountant import compose, spent_after
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss

_FEW = 20
UNREADABLE = (*MISREAD, DpnbError)
"""What reading a body raises that is not written as the ledger writes it."""


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
    ended: Callable[[], bool] = bool


def examine(
    database: sqlite3.Connection,
    known: str | None = None,
    mark: Mark | None = None,
    ended: Callable[[], bool] = bool,
) -> Verification:
    """Walk the chain from its start, recomputing hashes, totals and the tables beside it.

    Parameters
    ----------
    database : sqlite3.Connection
    known : str, optional
        A hash seen earlier; it must still be in the chain.
    mark : Mark, optional
        The high-water mark that the ledger must not be below.
    ended : callable
        Asked every few entries whether nobody waits for the outcome any more.

    Raises
    ------
    CancelledError
        When nobody does.
    """
    reading = _Reading(ended=ended)
    try:
        fault = next(_faults(database, reading, known, mark), None)
    except (sqlite3.Error, *UNREADABLE):
        fault = (
            f"entry {reading.entries + 1}, or what the tables hold of entry {reading.entries}, cannot be read"
        )
    return Verification(reading.entries, reading.previous, fault)


def _faults(db: sqlite3.Connection, reading: _Reading, known: str | None, mark: Mark | None) -> Iterator[str]:
    found = known is None or known == GENESIS
    for entry, time, kind, text, stated in db.execute("SELECT * FROM entries ORDER BY entry"):
        if not entry % _FEW and reading.ended():
            raise CancelledError
        if entry != reading.entries + 1:
            yield f"entry {reading.entries + 1} is missing"
        if stated != link(reading.previous, entry, time, kind, text):
            yield f"entry {entry} was changed: its hash does not follow from the entries before it"
        reading.previous, reading.entries = stated, entry
        found = found or stated == known
        yield from _disagreements(db, reading, entry, kind, text)
    if mark is not None and (fault := shortfall(db, mark)):
        yield fault
    if not found:
        yield "the hash known from earlier is not in this ledger: entries were cut off or the ledger was replaced"
    yield from _strange_tables(db, reading)


_TABLES = tuple(table for table in COLUMNS if table not in {"entries", "secrets"})


def _strange_tables(db: sqlite3.Connection, reading: _Reading) -> Iterator[str]:
    for table in _TABLES:
        rows = db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608 - our own names
        if rows != reading.owed.get(table, 0):
            yield f"the table {table} holds rows that no entry made, or has lost some"
    if not has_our_tables(db):
        yield _STRANGE
    said = db.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if said != "ok":
        yield "an index does not agree with its table"


def has_our_tables(db: sqlite3.Connection) -> bool:
    """Say whether a ledger's tables, indexes and triggers are those that this version makes."""
    return _tables(db) == _tables_of_this_version()


def _tables(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    return sorted(map(tuple, db.execute(query)))


@cache
def _tables_of_this_version() -> list[tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        make_tables(db, "")
        return _tables(db)


_STRANGE = "its tables, indexes or triggers are not those that dpnb makes"
_NOW = (
    "SELECT max(entry) FROM charges GROUP BY principal, pool",
    "SELECT max(entry) FROM shares GROUP BY share, pool",
    "SELECT entry FROM attachments",
    "SELECT entry FROM versions",
    "SELECT entry FROM caps",
    "SELECT entry FROM resets",
    "SELECT entry FROM meters",
    "SELECT entry FROM grants",
    "SELECT DISTINCT entry FROM holds",
    "SELECT DISTINCT entry FROM refusals",
    "SELECT max(entry) FROM entries",
)
"""The rows that a running total, a budget, a cap and a period are read from, and the head."""


def unlike_its_entry(db: sqlite3.Connection) -> str | None:
    """Look at the head, and at all that says now what is spent and what is allowed; return the first fault, or None.

    It is a part of :func:`examine`, fast enough for every opening.
    """
    if not has_our_tables(db):
        return _STRANGE
    wanted = {row[0] for query in _NOW for row in db.execute(query) if row[0] is not None}
    return next(filter(None, (fault_of_entry(db, entry) for entry in sorted(wanted))), None)


def fault_of_entry(db: sqlite3.Connection, entry: int) -> str | None:
    """Look at one entry and at its rows in the tables; return the first fault, or None."""
    query = "SELECT entry, time, kind, body, hash FROM entries WHERE entry BETWEEN ? AND ? ORDER BY entry"
    rows = db.execute(query, (entry - 1, entry)).fetchall()
    previous = GENESIS if entry == 1 else rows[0][4] if len(rows) == 2 else None
    if not rows or previous is None:
        return f"entry {entry} or the one before it is missing"
    if rows[-1][4] != link(previous, *rows[-1][:4]):
        return f"entry {entry} was changed: its hash does not follow from the entry before it"
    return next(_disagreements(db, None, entry, *rows[-1][2:4]), None)


def _disagreements(
    db: sqlite3.Connection, reading: _Reading | None, entry: int, kind: str, text: str
) -> Iterator[str]:
    try:
        body = json.loads(text)
        yield from _unlike(db, reading, entry, kind, body)
        if reading is not None:
            yield from _wrong(db, reading, entry, kind, body)
    except UNREADABLE:
        yield f"entry {entry} is not written as the ledger writes it"


def _unlike(
    db: sqlite3.Connection, reading: _Reading | None, entry: int, kind: str, body: Record
) -> Iterator[str]:
    for table, expected in rows_of(entry, kind, body):
        if reading is not None:
            reading.owed[table] = reading.owed.get(table, 0) + len(expected)
        query = f"SELECT * FROM {table} WHERE entry = ?"  # noqa: S608 - our own names
        if sorted(db.execute(query, (entry,)).fetchall()) != sorted(expected):
            yield f"the table {table} does not agree with entry {entry}"


def _wrong(db: sqlite3.Connection, reading: _Reading, entry: int, kind: str, body: Record) -> Iterator[str]:
    if kind == "reset":
        reading.periods[body["pool"]] = entry
    if body.get("meter"):
        _new_meter(reading, entry, body["terms"]["pool"])
    if kind == "charge":
        yield from _wrong_totals(reading, entry, body)
    if kind == "adopt":
        yield from _wrong_adoption(db, entry, body)
    if kind == "restore":
        yield from _lowered(reading, entry, body)
    if kind == "store":
        yield from _wrong_answers(db, reading, entry, body)
    if kind == "publish":
        yield from _wrong_publication(db, reading, entry, body)


def _lowered(reading: _Reading, entry: int, body: Record) -> Iterator[str]:
    period = reading.periods.get(body["pool"], 0)
    if body["period"] != period:
        yield f"entry {entry} names another budget period than the one it was made in"
    spent = PrivacyLoss.from_json(body["spent"])
    scope = (body["pool"], str(period))
    before = reading.totals.get(scope, PrivacyLoss.zero(spent.measure))
    if not before.fits_in(spent):
        yield f"entry {entry} restores less than was spent"
    reading.totals[scope] = spent


def _new_meter(reading: _Reading, entry: int, pool: str) -> None:
    """Carry a pool's totals into the period that begins here, doubled."""
    period, reading.periods[pool] = str(reading.periods.get(pool, 0)), entry
    for scope, loss in list(reading.totals.items()):
        if scope[:2] == (pool, period):
            reading.totals[pool, str(entry), *scope[2:]] = doubled(loss)


def _wrong_totals(reading: _Reading, entry: int, body: Record) -> Iterator[str]:
    loss = PrivacyLoss.from_json(body["loss"])
    events = [PrivacyEvent.from_json(event) for event in body["events"]]
    if compose(events, loss.measure) != loss:
        yield f"entry {entry} charges another loss than its events have"
    period = reading.periods.get(body["pool"], 0)
    if body["period"] != period:
        yield f"entry {entry} names another budget period than the one it was made in"
    pool = (body["pool"], str(period))
    stated = {pool: body["spent"], (*pool, body["principal"]): body["mine"]}
    stated |= {(*pool, "share", name): spent for name, spent in body.get("shares", {}).items()}
    for scope, total in stated.items():
        before = reading.totals.get(scope, PrivacyLoss.zero(loss.measure))
        reading.totals[scope] = spent_after(before, loss)
        if PrivacyLoss.from_json(total) != reading.totals[scope]:
            yield f"entry {entry} states another running total than its charges have"


def _charge(db: sqlite3.Connection, entry: int, charge: int) -> Record | None:
    """Return the body of a charge made before an entry, or None."""
    query = "SELECT body FROM entries WHERE entry = ? AND entry < ? AND kind = 'charge'"
    row = db.execute(query, (charge, entry)).fetchone()
    return None if row is None else dict(json.loads(row[0]))


def _wrong_adoption(db: sqlite3.Connection, entry: int, body: Record) -> Iterator[str]:
    paid = _charge(db, entry, body["charge"])
    if paid is None or any(paid[name] != body[name] for name in ("principal", "pool", "dataset")):
        yield f"entry {entry} adopts something other than a charge of the same principal and dataset"
    elif paid["life"] == body["life"]:
        yield f"entry {entry} adopts a charge of its own life of the curator"


def _wrong_answers(db: sqlite3.Connection, reading: _Reading, entry: int, body: Record) -> Iterator[str]:
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


def _wrong_publication(db: sqlite3.Connection, reading: _Reading, entry: int, body: Record) -> Iterator[str]:
    places = body.get("answers", [])
    reading.owed["stored"] = reading.owed.get("stored", 0) + len(places)
    paid = [_charge(db, entry, charge) for charge, _ in places]
    if any(one is None or one["dataset"] != body["dataset"] for one in paid):
        yield f"entry {entry} publishes something other than answers of its dataset"
        return
    rows = db.execute("SELECT * FROM stored WHERE entry = ? ORDER BY place", (entry,)).fetchall()
    if rows != published_rows(db, entry, places):
        yield f"the table stored does not agree with entry {entry}"


def _stored_rows(db: sqlite3.Connection, entry: int) -> list[tuple[Any, ...]]:
    query = (
        "SELECT place, address, charge, question, draws, answer FROM stored WHERE entry = ? ORDER BY place"
    )
    rows = [(*row, unpacked(packed)) for *row, packed in db.execute(query, (entry,))]
    same = all(draws_of(json.loads(text)) == draws for *_, draws, text in rows)
    return [(*row, hashlib.sha256(text).hexdigest()) for *row, _, text in rows] if same else []


def _stated_rows(body: Record, paid: Record) -> list[tuple[Any, ...]]:
    questions = zip(paid["questions"], body["answers"], strict=True)
    return [
        (place, address(paid, question["measured"]), body["charge"], canonical(brief(question)), digest)
        for place, (question, digest) in enumerate(questions)
    ]
