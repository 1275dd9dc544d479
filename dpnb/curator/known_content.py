"""What the ledger knows of content: which rows were attached as protected data, and how often a size was guessed wrongly.

Protected rows never open as TEACHING, and get no second budget under another name without the owner's word: a pool that
both names share, or ``dpnb loosen --reason``. The refusal is one constant sentence without a name, and is recorded.
Content is known by marks under the ledger's own key, which never leaves. Every function works inside its caller's
transaction.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

from dpnb.curator import pins
from dpnb.curator.chain import append
from dpnb.curator.terms import Terms

__all__ = ["KNOWN", "count_wrong_size", "frozen", "note", "refusal", "tag", "tags", "version_of"]

KNOWN: Final = (
    "These rows were attached before as protected data: they never open as TEACHING, and they have their budget. Open "
    'them under the name that they have, share its budget (the same pool = "…" in both schemas), or record as their '
    'owner why they get another one: dpnb loosen SCHEMA.dpnb.toml --reason "…"'
)

_MOST_WRONG_SIZES = 5


def tag(db: sqlite3.Connection, fingerprint: str) -> str:
    """Map a fingerprint of content under the ledger's own key."""
    return tags(db, [fingerprint])[0]


def tags(db: sqlite3.Connection, fingerprints: Iterable[str]) -> list[str]:
    """Map fingerprints of content under the ledger's own key."""
    key = db.execute("SELECT value FROM secrets WHERE name = 'versions'").fetchone()[0]
    return [hmac.new(key, one.encode(), hashlib.sha256).hexdigest() for one in fingerprints]


def refusal(db: sqlite3.Connection, terms: Terms, marks: Sequence[str], reason: str | None) -> str | None:
    """Say why content may not be attached on these terms, or return None."""
    if frozen(db, terms.dataset, marks) and reason is None:
        return _frozen_text(terms.dataset)
    protected = _protected(db, marks)
    if terms.mode == "teaching" and protected:
        return KNOWN
    others = protected - {terms.dataset}
    if reason is None and any(_second_budget(db, terms, other) for other in others):
        return KNOWN
    return None


def _protected(db: sqlite3.Connection, marks: Sequence[str]) -> set[str]:
    """Return the datasets under which any of these marks was attached as protected."""
    query = (
        "SELECT DISTINCT dataset FROM marks WHERE protected = 1 AND mark IN (SELECT value FROM json_each(?))"
    )
    return {row[0] for row in db.execute(query, (json.dumps(list(marks)),))}


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


def note(db: sqlite3.Connection, time: str, what: str, dataset: str, marks: Sequence[str], by: str) -> int:
    """Record a refused attach."""
    body = {"what": what, "dataset": dataset, "marks": sorted(set(marks)), "by": by}
    entry = append(db, time, "refuse", body)
    rows = [(entry, mark, dataset, what) for mark in ("", *body["marks"])]
    db.executemany("INSERT INTO refusals VALUES (?, ?, ?, ?)", rows)
    return entry


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
    query = (
        "SELECT count(DISTINCT entry) FROM refusals WHERE what = 'size' AND entry > ? "
        "AND (dataset = ? OR mark IN (SELECT value FROM json_each(?)))"
    )
    wrong = db.execute(query, (word, dataset, json.dumps(list(marks)))).fetchone()[0]
    return bool(wrong >= _MOST_WRONG_SIZES)


def _frozen_text(dataset: str) -> str:
    return (
        f"{dataset} is frozen: {_MOST_WRONG_SIZES} times a size was declared that its data do not have, and each such "
        "refusal says something about the data. Its owner opens it again by a recorded act: "
        f'dpnb loosen {dataset}.dpnb.toml --reason "…"'
    )


def version_of(db: sqlite3.Connection, terms: Terms, tag: str, marks: Sequence[str], time: str) -> str:
    """Return the random id of this content's version, made at its first sight together with its marks."""
    query = "SELECT version, protected FROM versions WHERE content = ? AND dataset = ? ORDER BY entry DESC LIMIT 1"
    row = db.execute(query, (tag, terms.dataset)).fetchone()
    protected = int(not terms.public)
    if row is not None and row[1] >= protected:
        return str(row[0])
    version = secrets.token_hex(8) if row is None else str(row[0])
    body = {"dataset": terms.dataset, "content": tag, "version": version, "protected": protected}
    known = sorted(set(marks))
    entry = append(db, time, "version", {**body, "marks": known})
    db.execute("INSERT INTO versions VALUES (?, ?, ?, ?, ?)", (entry, terms.dataset, tag, version, protected))
    rows = [(entry, mark, terms.dataset, protected) for mark in known]
    db.executemany("INSERT INTO marks VALUES (?, ?, ?, ?)", rows)
    return version
