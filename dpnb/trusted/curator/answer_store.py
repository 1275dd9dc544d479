"""The store: answers that were paid for. A charge is answered once: the first writer wins, and everybody reads that one row.

However many requests are bound to a charge, what is sent to any of them is what is stored under the charge.

An answer may be long, and is stored compressed. What is looked up at a price are prices and the ids of draws: no answer is read for it. Answers
are written out and compressed before the transaction that stores them, and read from their bytes after the one that found them.

What an owner published is everybody's: it stands in the store once more, under the address of nobody in particular.

Every function works inside its caller's transaction.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from dpnb.trusted.canonical import JsonObject, Record, canonical
from dpnb.trusted.curator import totals
from dpnb.trusted.curator.chain import Chain, append, head
from dpnb.trusted.errors import CuratorError
from dpnb.trusted.privacy.accountant import compose
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.wire.codec import MAX_REPLY

Answer = Record

EVERYBODY: Final = ""
"""Whose published answers are: no principal and no group has an empty name."""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """Where an answer is that was paid for, with what it cost alone, and the record of that: its events, and the share that was asked."""

    row: tuple[int, int]
    """Its entry in the store, and its place there."""
    loss: PrivacyLoss
    paid: Record
    entry: int
    time: str


Packed = tuple[str, str, bytes]
"""An answer as it is stored: the hash of its text, the ids of its draws, and the text, compressed."""

Found = tuple[int, list[bytes], str]
"""A charge, answers of it as they are stored, and the text of the entry that holds their hashes."""


def packed(answer: Answer) -> Packed:
    """Write an answer out and compress it."""
    text = canonical(answer).encode()
    return hashlib.sha256(text).hexdigest(), draws_of(answer), zlib.compress(text, 1)


def unpacked(stored: bytes) -> bytes:
    """Return the text of an answer that is stored compressed.

    Raises
    ------
    ValueError
        When there is anything else, or the text is longer than a reply: nobody can keep a curator busy by what a row unpacks to.
    """
    packing = zlib.decompressobj()
    text = packing.decompress(stored, MAX_REPLY)
    if not packing.eof or packing.unused_data:
        raise ValueError("A stored answer is cut off, longer than a reply, or followed by something else.")
    return text


def draws_of(answer: Answer) -> str:
    """Return the ids of an answer's draws, as they are stored."""
    return canonical([part["draw"] for part in answer.get("parts", ())])


def charge_of(
    db: sqlite3.Connection, request_id: str, principal: str, known: Mapping[str, Record]
) -> tuple[int, Record] | None:
    """Return the entry and the body of the charge that a request is bound to, or None; what is known by its hash is not read again."""
    query = "SELECT charge, hash FROM requests JOIN entries ON entries.entry = charge WHERE request = ? AND principal = ?"
    row = db.execute(query, (request_id, principal)).fetchone()
    return None if row is None else (row[0], known.get(row[1]) or totals.body_of(db, row[0]))


def brief(question: JsonObject) -> Record:
    """Return what the store keeps of a charged question beside its answer: what it cost, not how it was measured."""
    return {name: question[name] for name in ("texts", "share", "events")}


def insert(db: Chain, time: str, charge: int, body: Answer, answers: Sequence[Packed]) -> bool:
    """Store the answers of a charge, unless it has some: the second writer's are passed over in silence.

    Returns
    -------
    bool
        Whether these are what *is* stored.

    Raises
    ------
    CuratorError
        When the number of answers is not that of the charged questions.
    """
    if len(body["questions"]) != len(answers):
        raise CuratorError("A charge of other questions: the answers do not match.")
    entry = head(db)[0] + 1
    won = db.execute("INSERT INTO answers VALUES (?, ?) ON CONFLICT DO NOTHING", (charge, entry)).rowcount
    if won != 1:
        return False
    append(db, time, "store", {"charge": charge, "answers": [digest for digest, *_ in answers]})
    rows = [
        (entry, place, address(body, question["measured"]), charge, canonical(brief(question)), *stored)
        for place, (question, (_, *stored)) in enumerate(zip(body["questions"], answers, strict=True))
    ]
    db.executemany("INSERT INTO stored VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    return True


def found(db: sqlite3.Connection, charge: int, row: tuple[int, int] | None = None) -> Found | None:
    """Find the stored answers of a charge, or the one in a row of the store; None where there are none."""
    query = "SELECT entry, body FROM answers JOIN entries USING (entry) WHERE charge = ?"
    at = db.execute(query, (charge,)).fetchone()
    if at is None:
        return None
    entry, first, last = (at[0], 0, 2**31) if row is None else (*row, row[1])
    query = "SELECT answer FROM stored WHERE entry = ? AND place BETWEEN ? AND ? ORDER BY place"
    return charge, [stored for (stored,) in db.execute(query, (entry, first, last))], at[1]


def read(answers: Found, *, whole: bool = True) -> list[Answer]:
    """Read answers that were found, all that their entry names where they are the `whole`; no transaction is needed.

    Raises
    ------
    ValueError
        When they are not those of which the entry that stored them holds the hashes: an answer that changed in the file never
        leaves.
    """
    charge, stored, said = answers
    texts, listed = list(map(unpacked, stored)), json.loads(said)["answers"]
    hashes = [hashlib.sha256(text).hexdigest() for text in texts]
    if (hashes != listed) if whole else not set(hashes) <= set(listed):
        raise ValueError(f"The answers of charge {charge} are not those that were stored.")
    return [json.loads(text) for text in texts]


def answers_of(db: sqlite3.Connection, charge: int) -> list[Answer] | None:
    """Return the stored answers of a charge, or None."""
    answers = found(db, charge)
    return None if answers is None else read(answers)


def serving(
    db: sqlite3.Connection, scope: JsonObject, measured: str, asked: PrivacyLoss, again: frozenset[str]
) -> StoredAnswer | None:
    """Return the best of somebody's own answers, as :func:`best` says; where none cost enough, a published one that cost more."""
    mine = best(db, address(scope, measured), asked, again)
    if mine is not None and asked.fits_in(mine.loss):
        return mine
    theirs = best(db, address({**scope, "store": EVERYBODY}, measured), asked, again)
    both = [one for one in (mine, theirs) if one is not None]
    return max(both, key=lambda one: (asked.fits_in(one.loss), _rank(one.loss)), default=None)


def published_rows(
    db: sqlite3.Connection, entry: int, places: Sequence[tuple[int, int]]
) -> list[tuple[Any, ...]]:
    """Return the rows by which stored answers, each by its charge and place, are everybody's from an entry on."""
    query = "SELECT charge, question, draws, answer FROM answers JOIN stored USING (entry, charge) WHERE charge = ? AND place = ?"
    rows = []
    for at, (charge, place) in enumerate(places):
        body = totals.body_of(db, charge)
        where = address({**body, "store": EVERYBODY}, body["questions"][place]["measured"])
        rows.append((entry, at, where, *db.execute(query, (charge, place)).fetchone()))
    return rows


def best(
    db: sqlite3.Connection, where: str, asked: PrivacyLoss, again: frozenset[str]
) -> StoredAnswer | None:
    """Return the oldest answer at an address that cost at least `asked`; where none did, the dearest.

    The oldest, so that a notebook that is run again shows the numbers that it showed, whatever was bought afresh since.

    What is paid at one address differs little: thousands of answers bought afresh are a few questions with one price each. So
    prices are read from the index, one for each; rows only until one is not in `again`.
    """
    paid: dict[PrivacyLoss, list[str]] = {}
    for (question,) in db.execute(_QUESTIONS, {"where": where}):
        paid.setdefault(_loss(question, asked.measure), []).append(question)
    enough = [question for loss in paid if asked.fits_in(loss) for question in paid[loss]]
    less = sorted((loss for loss in paid if not asked.fits_in(loss)), key=_rank, reverse=True)
    for listed in (enough, *(paid[loss] for loss in less)):
        found = filter(None, (_oldest(db, where, question, again) for question in listed))
        if (row := min(found, default=None)) is not None:
            charge, entry, place, question = row
            return _stored_answer(db, (entry, place), question, asked.measure, charge)
    return None


def _oldest(
    db: sqlite3.Connection, where: str, question: str, again: frozenset[str]
) -> tuple[int, int, int, str] | None:
    """Return where the oldest answer to a question as it was put once is; draws in `again` are left out."""
    rows = db.execute(_PLACES, (where, question))
    return next((row for *row, draws in rows if again.isdisjoint(json.loads(draws))), None)


# one look-up in the index for each different question, however many rows have it
_QUESTIONS = (
    "WITH RECURSIVE listed(one) AS (SELECT min(question) FROM stored WHERE address = :where UNION ALL "
    "SELECT (SELECT min(question) FROM stored WHERE address = :where AND question > one) FROM listed WHERE one IS NOT NULL) "
    "SELECT one FROM listed WHERE one IS NOT NULL"
)
_PLACES = (
    "SELECT charge, entry, place, question, draws FROM stored WHERE address = ? AND question = ? "
    "ORDER BY charge, entry, place"
)


def _stored_answer(
    db: sqlite3.Connection, row: tuple[int, int], question: str, measure: Measure, charge: int
) -> StoredAnswer:
    (time,) = db.execute("SELECT time FROM entries WHERE entry = ?", (charge,)).fetchone()
    record = json.loads(question)
    paid = {name: record[name] for name in ("events", "share")}
    return StoredAnswer(row, _loss(question, measure), paid, charge, time)


def _loss(question: str, measure: Measure) -> PrivacyLoss:
    """Return what a question cost in a measure, by the record of its events, which comes first: whoever asks may word each as they like."""
    return _composed(question.partition(',"share":')[0], measure)


@lru_cache(maxsize=4096)
def _composed(events: str, measure: Measure) -> PrivacyLoss:
    return compose([PrivacyEvent.from_json(event) for event in json.loads(f"{events}}}")["events"]], measure)


def _rank(loss: PrivacyLoss) -> tuple[Fraction, Fraction]:
    return loss.amount, loss.delta


def address(scope: JsonObject, measured: str) -> str:
    """Return the store's address of what is measured: a hash of all that an answer depends on, and of whose it is.

    It is its principal's, or, where the scope names a ``store``, that of all who share this one.
    """
    parts = [scope[part] for part in ("data_version", "schema_version", "mechanism_version")]
    parts.insert(0, scope.get("store", scope["principal"]))
    return hashlib.sha256(canonical([*parts, measured]).encode()).hexdigest()
