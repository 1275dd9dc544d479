"""The high-water mark: what the ledger held when the last answer left. It is kept outside the ledger, beside the key.

A ledger alone cannot tell that its end was cut off, or that an older copy of it was put in its place: both are whole. The
mark names the ledger, its last entry with that entry's hash, and every pool's total. It is raised after an answer is
stored and before it leaves, so that no answer is ever out that the mark does not know. A ledger below its mark opens
frozen.

The file holds two slots, each with a checksum and a sequence number. A raise overwrites the older slot, so that a write torn
by a crash leaves the newer one whole. Its inode never changes: it grows in place. This form is permanent.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import sqlite3
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from dpnb.trusted import system
from dpnb.trusted.canonical import JsonObject, Record, canonical, read_json
from dpnb.trusted.curator.chain import GENESIS, head
from dpnb.trusted.curator.holds import held_since
from dpnb.trusted.curator.totals import loss_of, period_of, totals
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.privacy.loss import PrivacyLoss

_SLOT: Final = 16_384
_HEADER: Final = struct.Struct(">32sQI")


@dataclass(frozen=True, slots=True)
class Total:
    """What a pool had spent, and in which period: the entry of its last reset, 0 before any."""

    period: int
    spent: PrivacyLoss

    def exceeds(self, other: Total) -> bool:
        """Say whether `other` has less spent in the same period, or is of an earlier one."""
        if self.period != other.period:
            return self.period > other.period
        if self.spent.measure is not other.spent.measure:
            return bool(self.spent)
        return not self.spent.fits_in(other.spent)


@dataclass(frozen=True, slots=True)
class Mark:
    """What a ledger held.

    Parameters
    ----------
    ledger : str
        Which ledger: see :func:`ledger_id`.
    entry, head : int, str
        Its last entry, and that entry's hash.
    totals : mapping of str to Total
        What each pool had spent.
    key : str, optional
        Which key lay beside it (:func:`key_id`): the rows that a unit keeps were chosen under that key alone. None before there
        was one.
    holds : mapping of str to str
        What an owner froze, closed or opened again, by dataset.
    """

    ledger: str
    entry: int
    head: str
    totals: Mapping[str, Total]
    key: str | None = None
    holds: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> Record:
        """Return the mark as JSON."""
        totals = {pool: [total.period, total.spent.to_json()] for pool, total in self.totals.items()}
        facts = {"ledger": self.ledger, "entry": self.entry, "head": self.head, "totals": totals}
        return {**facts, "key": self.key, **({"holds": dict(self.holds)} if self.holds else {})}

    @classmethod
    def from_json(cls, record: JsonObject) -> Mark:
        """Read a mark.

        Raises
        ------
        ValueError, TypeError, KeyError, DpnbError
            When the record is no mark.
        """
        pairs = record["totals"].items()
        totals = {pool: Total(int(period), PrivacyLoss.from_json(spent)) for pool, (period, spent) in pairs}
        facts = (str(record["ledger"]), int(record["entry"]), str(record["head"]))
        holds = {dataset: str(state) for dataset, state in record.get("holds", {}).items()}
        found = cls(*facts, totals, record["key"], holds)
        if canonical(found.to_json()) != canonical(record):
            raise ValueError("This mark is not in the form in which marks are written.")
        return found


# ---------------------------------------------------------------------- a mark and its ledger


def ledger_id(db: sqlite3.Connection) -> str:
    """Return which ledger this is: a hash under its own key, made with it at random."""
    key = db.execute("SELECT value FROM secrets WHERE name = 'versions'").fetchone()[0]
    return hashlib.sha256(b"the ledger's own name\n" + key).hexdigest()[:32]


def key_id(ledger: Path) -> str | None:
    """Return which key lies beside a ledger, or None where there is none."""
    path = ledger.with_name("key")
    try:
        key = path.read_bytes() if path.is_file() else None
    except OSError:
        return None
    return None if key is None else hashlib.sha256(b"the home's own key\n" + key).hexdigest()[:32]


def keyed(mark: Mark, ledger: Path) -> Mark:
    """Return a mark that knows the key beside its ledger; the one that it knows already stays."""
    return mark if mark.key is not None else replace(mark, key=key_id(ledger))


def advanced(mark: Mark | None, db: sqlite3.Connection) -> Mark:
    """Return the mark of a ledger as it is now, from an earlier mark of it: only what came since is read."""
    mark = mark or Mark(ledger_id(db), 0, GENESIS, {})
    since, found = mark.entry, dict(mark.totals)
    query = "SELECT pool, period, spent FROM charges WHERE entry > ? ORDER BY entry"
    for pool, period, spent in db.execute(query, (since,)):
        found[pool] = Total(period, loss_of(spent))
    for entry, pool in db.execute("SELECT entry, pool FROM resets WHERE entry > ? ORDER BY entry", (since,)):
        if pool in found and found[pool].period < entry:
            found[pool] = Total(entry, PrivacyLoss.zero(found[pool].spent.measure))
    for (pool,) in db.execute("SELECT DISTINCT pool FROM meters WHERE entry > ?", (since,)).fetchall():
        total = total_of(db, pool)
        found |= {} if total is None else {pool: total}
    return Mark(mark.ledger, *head(db), found, mark.key, {**mark.holds, **held_since(db, since)})


def total_of(db: sqlite3.Connection, pool: str) -> Total | None:
    """Return what a ledger says that a pool has spent, or None where it knows no charge of it."""
    row = db.execute("SELECT spent FROM charges WHERE pool = ? LIMIT 1", (pool,)).fetchone()
    if row is None:
        return None
    measure, period = loss_of(row[0]).measure, period_of(db, pool)
    return Total(period, totals(db, pool, "", period, measure)[0])


def shortfall(db: sqlite3.Connection, mark: Mark) -> str | None:
    """Say in what a ledger is below a mark, or return None.

    Examples
    --------
    ``"entries 12 to 14 are missing, and an answer left after entry 14"``
    """
    if ledger_id(db) != mark.ledger:
        return (
            f"this is another ledger than the one whose entry {mark.entry} was the last to be answered from"
        )
    row = db.execute("SELECT hash FROM entries WHERE entry = ?", (mark.entry,)).fetchone()
    if row is None and mark.entry > 0:
        return _missing(head(db)[0] + 1, mark.entry)
    if (GENESIS if row is None else row[0]) != mark.head:
        return f"entry {mark.entry} is not the one that was answered from"
    for pool, total in mark.totals.items():
        if total.exceeds(total_of(db, pool) or Total(0, PrivacyLoss.zero(total.spent.measure))):
            return f"the running total of {pool} is less than it was at entry {mark.entry}"
    return None


def _missing(first: int, last: int) -> str:
    which = f"entry {last} is" if first >= last else f"entries {first} to {last} are"
    return f"{which} missing, and an answer left after entry {last}"


# ---------------------------------------------------------------------- its file


def mark_of(ledger: Path) -> Path:
    """Return where a ledger's mark is: beside it, under a name that a pattern for the ledger's own files does not match."""
    return ledger.with_name(f"mark-of-{ledger.stem}")


@dataclass(frozen=True, slots=True)
class _Slot:
    place: int
    sequence: int
    mark: Mark


class MarkFile:
    """An open mark.

    Parameters
    ----------
    path : Path

    Raises
    ------
    FileNotFoundError
        When there is none.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = os.open(path, os.O_RDWR | system.BINARY)
        self._lock = threading.Lock()
        self._known: _Slot | None = None
        self._on_disk = 0

    @classmethod
    def made(cls, path: Path, mark: Mark) -> MarkFile:
        """Make the file complete, unless there is one already, and open it."""
        draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | system.BINARY, 0o600)
        try:
            try:
                os.write(descriptor, _packed(1, mark).ljust(2 * _SLOT, b"\0"))
                system.sync(descriptor)
            finally:
                os.close(descriptor)
            with contextlib.suppress(FileExistsError):  # another process was faster: its mark is the mark
                os.link(draft, path)
        finally:
            draft.unlink()
        return cls(path)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._descriptor >= 0:
                os.close(self._descriptor)
            self._descriptor = -1

    def read(self) -> Mark | None:
        """Return the mark, or None where neither slot is whole."""
        with self._lock, self._alone():
            slot = self._latest()
            return None if slot is None else slot.mark

    def raised(self, mark: Mark) -> None:
        """Raise the mark, on disk when this returns. One that is as high already is kept, and brought to the disk.

        Raises
        ------
        OwnerError
            When it cannot be written. What was to leave must not.
        """
        self._write(lambda slot: mark if slot is None or slot.mark.entry < mark.entry else slot.mark)

    def replaced(self, mark: Mark) -> None:
        """Put another mark in its place, a lower one too: the owner's act, after a restore was booked."""
        self._write(lambda _: mark)

    def _write(self, chosen: Callable[[_Slot | None], Mark]) -> None:
        try:
            with self._lock, self._alone():
                slot = self._latest()
                mark = chosen(slot)
                if slot is None or slot.mark is not mark or slot.sequence != self._on_disk:
                    self._known = self._written(slot, mark)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise OwnerError(
                f"The mark beside the ledger could not be raised: {reason}. Check the disk and "
                "run this again. No answer has left."
            ) from error

    def _written(self, slot: _Slot | None, mark: Mark) -> _Slot:
        """Write over the older slot. What a failed sync may have left in memory alone is written again by the next raise."""
        sequence = 1 if slot is None else slot.sequence + 1
        packed = _packed(sequence, mark)
        half = self._half(len(packed))
        place = half if slot is not None and slot.place != half else 0
        self._known = None  # if the write fails, what is there is read again
        system.write_at(self._descriptor, packed, place)
        system.sync(self._descriptor)
        self._on_disk = sequence
        return _Slot(place, sequence, mark)

    def _half(self, needed: int) -> int:
        """Return where the second slot begins, after the file has grown if a slot is too small."""
        size, half = os.fstat(self._descriptor).st_size, _SLOT
        while half < needed or 2 * half < size:
            half *= 2
        if 2 * half > size:
            system.write_at(self._descriptor, b"\0" * (2 * half - size), size)
        return half

    def _latest(self) -> _Slot | None:
        places = self._places()
        if self._known is not None and max(map(self._sequence, places)) == self._known.sequence:
            return self._known
        slots = [slot for slot in map(self._slot, places) if slot is not None]
        self._known = max(slots, key=lambda slot: slot.sequence, default=None)
        return self._known

    def _places(self) -> list[int]:
        """Return where slots may begin: at the start, and where the second one began at each size that the file has had."""
        size, places, place = os.fstat(self._descriptor).st_size, [0], _SLOT
        while place < size:
            places.append(place)
            place *= 2
        return places

    def _sequence(self, place: int) -> int:
        header = system.read_at(self._descriptor, _HEADER.size, place)
        return int(_HEADER.unpack(header)[1]) if len(header) == _HEADER.size else 0

    def _slot(self, place: int) -> _Slot | None:
        header = system.read_at(self._descriptor, _HEADER.size, place)
        if len(header) < _HEADER.size:
            return None
        digest, sequence, length = _HEADER.unpack(header)
        if not sequence or length > os.fstat(self._descriptor).st_size:
            return None
        body = system.read_at(self._descriptor, length, place + _HEADER.size)
        if _digest(sequence, body) != digest:
            return None
        return _Slot(place, sequence, Mark.from_json(read_json(body)))

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the file against other processes."""
        system.lock(self._descriptor)
        try:
            yield
        finally:
            system.unlock(self._descriptor)


def _packed(sequence: int, mark: Mark) -> bytes:
    body = canonical(mark.to_json()).encode()
    return _HEADER.pack(_digest(sequence, body), sequence, len(body)) + body


def _digest(sequence: int, body: bytes) -> bytes:
    return hashlib.sha256(b"%d\n" % sequence + body).digest()
