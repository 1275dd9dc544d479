"""What the ledger knows of content: which rows were attached as protected data, and how often a size was guessed wrongly.

Protected rows never open as TEACHING, and get no second budget under another name without the owner's word: a pool that
both names share, or ``dpnb loosen --reason``. The refusal is one sentence without the name they have, and is recorded.
A name under which protected data were attached, and a path at which they lay, never open as TEACHING either, whatever bytes
are there now: who changes a row, or saves the file anew, does not teach with it by that.
Content and paths are known by marks under the ledger's own key, which never leaves. Every function works inside its caller's
transaction.

**What a refusal tells.** It answers one guess: that this content is somebody's protected one. A frame of which fewer than
2^48 tables could be made leaves no mark (:func:`dpnb.trusted.curator.content.may_be_guessed`), and five refusals of different
contents end every opening of that principal until an owner's recorded act. So m attaches end in at most
C(m, 0) + … + C(m, 5) different ways: what they tell is less than 5 log2(m) + 1 bits, where it was one bit each. A refused
name or path tells nothing of content, and is looked for before it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from dpnb.trusted.canonical import Record, canonical
from dpnb.trusted.curator import holds, pins
from dpnb.trusted.curator.chain import record
from dpnb.trusted.curator.terms import Terms
from dpnb.trusted.errors import OwnerError

_TAUGHT: Final = "These rows were attached before as protected data: they never open as TEACHING. Open them as protected data."
_TAUGHT_THERE: Final = (
    "{dataset}: protected data were attached under this name, or from this path. Nothing under either opens as TEACHING, whatever "
    "it holds now. Open it as protected data, or give public data a name and a path of their own."
)
_KNOWN: Final = (
    "These rows were attached before as protected data, and they have their budget. Open them under the name that they have, "
    'share its budget (the same pool = "…" in both schemas), or record as their owner why {dataset} gets one of its own: {act}'
)

_MOST_WRONG_SIZES = 5
_MOST_KNOWN_TABLES = 5


class Known(NamedTuple):
    """Content as the ledger knows it: under which name, its version, and by what it and its paths are recognised."""

    dataset: str
    content: str
    version: str
    protected: int
    marks: tuple[str, ...]
    places: tuple[str, ...] = ()

    def to_json(self) -> Record:
        """Write the body of its entry; places of protected content alone are known."""
        record = self._asdict()
        return record if self.places else {name: record[name] for name in record if name != "places"}


_NOTHING_TO_LOOSEN = (
    "This ledger knows no dataset {dataset}, so nothing was loosened. Name the home that serves it: DPNB_HOME, or --config "
    "curator.toml. To add it here: dpnb admin add {dataset}.dpnb.toml."
)


class Tagged(NamedTuple):
    """What is attached, as :func:`tags` of what it and its paths are known by."""

    content: str
    marks: Sequence[str]
    places: Sequence[str]


def tagged(
    db: sqlite3.Connection, content: str, marks: Sequence[str] | None, places: Sequence[str]
) -> Tagged:
    """Map what content is known by under the ledger's own key; without marks it is known by itself."""
    own = tags(db, [content])
    return Tagged(own[0], own if marks is None else tags(db, marks), tags(db, places))


def tags(db: sqlite3.Connection, fingerprints: Iterable[str]) -> list[str]:
    """Map fingerprints of content under the ledger's own key."""
    key = db.execute("SELECT value FROM secrets WHERE name = 'versions'").fetchone()[0]
    return [hmac.new(key, one.encode(), hashlib.sha256).hexdigest() for one in fingerprints]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why content may not be attached: what is recorded of it, and what is said."""

    what: str
    text: str


def refusal(
    db: sqlite3.Connection, terms: Terms, given: Tagged, reason: str | None, by: str
) -> Refusal | None:
    """Say why content may not be attached on these terms, or return None.

    Raises
    ------
    OwnerError
        With a reason, for a name and pool that nobody opened and rows that would open without one: nothing can be loosened.
    """
    marks = given.marks
    known = pins.pinned(db, terms.dataset) or pins.pool_budget(db, terms.pool)
    if not (reason is None or known or refusal(db, terms, given, None, by)):
        raise OwnerError(_NOTHING_TO_LOOSEN.format(dataset=terms.dataset))
    if terms.mode == "teaching" and _pinned_as_protected(db, terms.dataset, given.places):
        return Refusal("place", _TAUGHT_THERE.format(dataset=terms.dataset.partition("@")[0]))
    if reason is None and _guessed(db, by):
        return Refusal("closed", _closed_text(terms.dataset))
    if reason is None and frozen(db, terms.dataset, marks):
        return Refusal("frozen", _frozen_text(terms.dataset))
    protected = _protected(db, marks)
    others = protected - {terms.dataset}
    if (closed := holds.refuse_closed_rows(db, terms.dataset, others)) is not None:
        return Refusal("content", closed)
    taught = terms.mode == "teaching" and protected
    if taught or (reason is None and any(_second_budget(db, terms, other) for other in others)):
        text = _TAUGHT if taught else _KNOWN.format(dataset=terms.dataset, act=_act(terms.dataset))
        return Refusal("content", text)
    return None


def _pinned_as_protected(db: sqlite3.Connection, dataset: str, places: Sequence[str]) -> bool:
    """Tell whether protected data were attached under a name, in whichever mode, or lay at one of these places."""
    name = dataset.partition("@")[0]
    named = (
        "SELECT 1 FROM versions WHERE protected = 1 AND (dataset = ? OR instr(dataset, ? || '@') = 1) LIMIT 1"
    )
    there = "SELECT 1 FROM places WHERE mark IN (SELECT value FROM json_each(?)) LIMIT 1"
    rows = (db.execute(named, (name, name)), db.execute(there, (canonical(list(places)),)))
    return any(row.fetchone() is not None for row in rows)


def _guessed(db: sqlite3.Connection, by: str) -> bool:
    """Tell whether a principal was refused five different contents since an owner's last recorded act.

    One content refused again, under whatever name, tells nothing new and counts once.
    """
    query = (
        "SELECT count(DISTINCT json_extract(body, '$.content')) FROM refusals JOIN entries USING (entry) "
        "WHERE what = 'content' AND mark = '' AND json_extract(body, '$.by') = ? AND entry > "
        "(SELECT coalesce(max(entry), 0) FROM attachments JOIN entries USING (entry) WHERE kind = 'loosen')"
    )
    return bool(db.execute(query, (by,)).fetchone()[0] >= _MOST_KNOWN_TABLES)


def _act(dataset: str) -> str:
    return pins.owners_act(f"{dataset}.dpnb.toml")


def _closed_text(dataset: str) -> str:
    return (
        f"{dataset} is not opened, and nothing else is: {_MOST_KNOWN_TABLES} different contents were refused because they "
        "were attached before as protected data, and each such refusal reveals what somebody's rows are. An owner opens "
        f"again by a recorded act: {_act(dataset)}"
    )


def _protected(db: sqlite3.Connection, marks: Sequence[str]) -> set[str]:
    """Return the datasets under which any of these marks was attached as protected."""
    query = (
        "SELECT DISTINCT dataset FROM marks WHERE protected = 1 AND mark IN (SELECT value FROM json_each(?))"
    )
    return {row[0] for row in db.execute(query, (canonical(list(marks)),))}


def _second_budget(db: sqlite3.Connection, terms: Terms, other: str) -> bool:
    """Tell whether content would get a budget beside the one it has: neither shared, nor allowed by the owner before."""
    pinned = pins.pinned(db, other)
    if pinned is not None and pinned.pool == terms.pool:
        return False
    query = (
        "SELECT 1 FROM marks AS mine JOIN marks AS theirs ON mine.mark = theirs.mark "
        "WHERE mine.dataset = ? AND theirs.dataset = ? AND mine.protected = 1 AND theirs.protected = 1 LIMIT 1"
    )
    return db.execute(query, (terms.dataset, other)).fetchone() is None


def note(
    db: sqlite3.Connection,
    time: str,
    what: str,
    dataset: str,
    marks: Sequence[str],
    by: str,
    content: str | None = None,
) -> int:
    """Record a refused attach; `content` is its tag, by which one content counts once."""
    body = {"what": what, "dataset": dataset, "marks": sorted(set(marks)), "by": by}
    body |= {} if content is None else {"content": content}
    return record(db, time, "refuse", body)


def count_wrong_size(
    db: sqlite3.Connection, time: str, dataset: str, marks: Sequence[str], by: str
) -> str | None:
    """Record that a declared size was wrong; return the refusal to give instead once that happened too often."""
    before = frozen(db, dataset, marks)
    note(db, time, "size", dataset, marks, by)
    return _frozen_text(dataset) if before else None


def frozen(db: sqlite3.Connection, dataset: str, marks: Sequence[str]) -> bool:
    """Tell whether a size was declared wrongly five times, of this name or these rows, since the owner's last word."""
    query = (
        "SELECT max(entry) FROM attachments JOIN entries USING (entry) WHERE dataset = ? AND kind = 'loosen'"
    )
    word = db.execute(query, (dataset,)).fetchone()[0] or 0
    query = "SELECT max(entry) FROM holds WHERE dataset = ? AND state = 'open'"
    word = max(word, db.execute(query, (dataset,)).fetchone()[0] or 0)
    query = (
        "SELECT count(DISTINCT entry) FROM refusals WHERE what = 'size' AND entry > ? "
        "AND (dataset = ? OR mark IN (SELECT value FROM json_each(?)))"
    )
    wrong = db.execute(query, (word, dataset, canonical(list(marks)))).fetchone()[0]
    return bool(wrong >= _MOST_WRONG_SIZES)


def _frozen_text(dataset: str) -> str:
    return (
        f"{dataset} is frozen: {_MOST_WRONG_SIZES} times a size was declared that its data do not have, and each such "
        "refusal says something about the data. Its owner opens it again by a recorded act: "
        f"{_act(dataset)}"
    )


def version_of(db: sqlite3.Connection, terms: Terms, given: Tagged, time: str) -> str:
    """Return the random id of this content's version, made at its first sight together with its marks.

    Protected content that is seen at another path is recorded with it.
    """
    query = "SELECT version, protected FROM versions WHERE content = ? AND dataset = ? ORDER BY entry DESC LIMIT 1"
    row = db.execute(query, (given.content, terms.dataset)).fetchone()
    protected = int(not terms.public)
    new = _unknown_places(db, given.places) if protected else ()
    if row is not None and row[1] >= protected and not new:
        return str(row[0])
    version = secrets.token_hex(8) if row is None else str(row[0])
    known = Known(terms.dataset, given.content, version, protected, tuple(sorted(set(given.marks))), new)
    record(db, time, "version", known.to_json())
    return version


def _unknown_places(db: sqlite3.Connection, places: Sequence[str]) -> tuple[str, ...]:
    query = "SELECT 1 FROM places WHERE mark = ? LIMIT 1"
    return tuple(one for one in sorted(set(places)) if db.execute(query, (one,)).fetchone() is None)


def listed(db: sqlite3.Connection) -> list[Known]:
    """List all content that a ledger knows, oldest first."""
    query = "SELECT body FROM entries WHERE kind = 'version' ORDER BY entry"
    return [_known(json.loads(body)) for (body,) in db.execute(query)]


def _known(body: Record) -> Known:
    marks, places = tuple(body["marks"]), tuple(body.get("places", ()))
    return Known(body["dataset"], body["content"], body["version"], body["protected"], marks, places)


def learn(db: sqlite3.Connection, time: str, others: Iterable[Known]) -> None:
    """Record what another copy of this ledger knows and this one does not: protected rows stay known, whatever is restored."""
    query = "SELECT 1 FROM versions WHERE dataset = ? AND content = ? AND protected >= ?"
    for known in others:
        facts = (known.dataset, known.content, known.protected)
        new = _unknown_places(db, known.places)
        if new or db.execute(query, facts).fetchone() is None:
            record(db, time, "version", known._replace(places=new).to_json())
