"""The store: answers that were paid for, each with its charge; the first writer wins, and every retry reads that one.

Every function works inside its caller's transaction.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dpnb.curator.database import UNSPENT
from dpnb.errors import ChargedError, CuratorError, OwnerError
from dpnb.privacy import Measure, PrivacyEvent, PrivacyLoss, compose

__all__ = [
    "Answer",
    "StoredAnswer",
    "after_the_charge",
    "answers_of",
    "charge_body",
    "next_entry",
    "stored_answer",
]

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer that was paid for, with what it cost."""

    answer: Answer
    loss: PrivacyLoss
    text: str
    entry: int
    time: str


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


def charge_body(db: sqlite3.Connection, request_id: str, principal: str) -> tuple[int, dict[str, Any]]:
    """Return a request's charge: its entry and its body."""
    query = "SELECT charges.entry, body FROM charges JOIN entries USING (entry) WHERE request = ? AND principal = ?"
    row = db.execute(query, (request_id, principal)).fetchone()
    if row is None:
        raise CuratorError("No answer is stored without a charge.")
    return int(row[0]), json.loads(row[1])


def next_entry(db: sqlite3.Connection) -> int:
    """Return the number that the next entry will have."""
    return int(db.execute("SELECT coalesce(max(entry), 0) + 1 FROM entries").fetchone()[0])


def answers_of(db: sqlite3.Connection, request_id: str, principal: str) -> list[Answer] | None:
    """Return the stored answers of a request, or None."""
    query = "SELECT entry FROM answers WHERE request = ? AND principal = ?"
    row = db.execute(query, (request_id, principal)).fetchone()
    if row is None:
        return None
    rows = db.execute("SELECT answer FROM stored WHERE entry = ? ORDER BY place", row)
    return [json.loads(text) for (text,) in rows]


def stored_answer(row: tuple[str, str, int, str], measure: Measure) -> StoredAnswer:
    """Read one row of the store."""
    question, answer, entry, time = row
    record = json.loads(question)
    loss = compose([PrivacyEvent.from_json(event) for event in record["events"]], measure)
    return StoredAnswer(json.loads(answer), loss, record["text"], entry, time)
