"""What the first attach promised, and what may still change: terms grow tighter alone, or looser by the owner's recorded act.

Content is known by a hash under the ledger's own key, which never leaves; the world sees random version ids. Every
function works inside its caller's transaction.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from dpnb.curator.chain import append, canonical
from dpnb.curator.terms import Change, Terms, budget_change, compare
from dpnb.errors import OwnerError
from dpnb.privacy import Budget

__all__ = [
    "Attachment",
    "changes_of",
    "modes",
    "pin",
    "pinned",
    "pool_budget",
    "refuse_looser",
    "refuse_measure",
    "refuse_teaching",
    "tag",
    "version_of",
]


@dataclass(frozen=True, slots=True)
class Attachment:
    """A dataset as the ledger knows it: its pool, the version of its content, its pinned budget."""

    dataset: str
    pool: str
    version: str
    budget: Budget
    entry: int
    first: bool


def tag(db: sqlite3.Connection, fingerprint: str) -> str:
    """Map a content hash under the ledger's own key."""
    key = db.execute("SELECT value FROM secrets WHERE name = 'versions'").fetchone()[0]
    return hmac.new(key, fingerprint.encode(), hashlib.sha256).hexdigest()


def refuse_teaching(db: sqlite3.Connection, terms: Terms, tag: str) -> None:
    """Refuse protected content as TEACHING, for good."""
    found = db.execute(
        "SELECT 1 FROM versions WHERE content = ? AND protected = 1 LIMIT 1", (tag,)
    ).fetchone()
    if terms.mode == "teaching" and found:
        raise OwnerError(
            f"{terms.dataset}: this content was attached as protected data and never opens as TEACHING. "
            'Write mode = "guard-rail".'
        )


def pinned(db: sqlite3.Connection, dataset: str) -> Terms | None:
    """Return a dataset's terms as they are pinned now, or None before its first attach."""
    query = "SELECT terms FROM attachments WHERE dataset = ? ORDER BY entry DESC LIMIT 1"
    row = db.execute(query, (dataset,)).fetchone()
    return None if row is None else Terms.from_json(json.loads(row[0]))


def pool_budget(db: sqlite3.Connection, pool: str) -> Budget | None:
    """Return a pool's pinned budget."""
    query = "SELECT budget FROM attachments WHERE pool = ? ORDER BY entry DESC LIMIT 1"
    row = db.execute(query, (pool,)).fetchone()
    return None if row is None else _budget_of(row[0])


@lru_cache(maxsize=256)
def _budget_of(text: str) -> Budget:
    return Budget.from_json(json.loads(text))


def changes_of(db: sqlite3.Connection, pinned: Terms | None, terms: Terms) -> tuple[Change, ...]:
    """Return how terms differ from the pinned ones."""
    changes = () if pinned is None else tuple(c for c in compare(pinned, terms) if c.term != "budget")
    budget = pool_budget(db, terms.pool)
    if budget is None and pinned is not None:
        budget = pinned.budget
    return changes if budget is None else (*budget_change(budget, terms.budget), *changes)


def refuse_looser(terms: Terms, changes: Iterable[Change], reason: str | None) -> None:
    """Refuse looser terms without the owner's reason."""
    looser = [str(change) for change in changes if change.looser]
    if looser and reason is None:
        raise OwnerError(
            f"{terms.dataset}: {'; '.join(looser[:3])}{'; …' if len(looser) > 3 else ''}. The first attach pinned "
            "these terms: write the pinned value again, or record the loosening as the owner: "
            f'dpnb loosen {terms.dataset}.dpnb.toml --reason "…"'
        )


def refuse_measure(db: sqlite3.Connection, terms: Terms) -> None:
    """Refuse another measure for a budget that has charges."""
    row = db.execute("SELECT spent FROM charges WHERE pool = ? LIMIT 1", (terms.pool,)).fetchone()
    if row is not None and json.loads(row[0])["measure"] != terms.budget.measure.value:
        raise OwnerError(
            f"{terms.dataset}: a budget with charges keeps its measure. Write [budget] as it was."
        )


def pin(
    db: sqlite3.Connection,
    terms: Terms,
    changes: tuple[Change, ...],
    by: str,
    time: str,
    reason: str | None,
    *,
    first: bool,
) -> int:
    """Pin terms where they are new or differ; return the entry that pins them."""
    if not first and not changes:
        query = "SELECT entry FROM attachments WHERE dataset = ? ORDER BY entry DESC LIMIT 1"
        return int(db.execute(query, (terms.dataset,)).fetchone()[0])
    looser = any(change.looser for change in changes)
    kind = "loosen" if looser else "attach" if first else "tighten"
    body = {"terms": terms.to_json(), "by": by, "changes": [change.to_json() for change in changes]}
    entry = append(db, time, kind, body if reason is None else {**body, "reason": reason})
    values = (entry, terms.dataset, terms.pool, canonical(terms.budget.to_json()), canonical(terms.to_json()))
    db.execute("INSERT INTO attachments VALUES (?, ?, ?, ?, ?)", values)
    return entry


def version_of(db: sqlite3.Connection, terms: Terms, tag: str, time: str) -> str:
    """Return the random id of this content's version, made at its first sight."""
    query = "SELECT version, protected FROM versions WHERE content = ? AND dataset = ? ORDER BY entry DESC LIMIT 1"
    row = db.execute(query, (tag, terms.dataset)).fetchone()
    protected = int(not terms.public)
    if row is not None and row[1] >= protected:
        return str(row[0])
    version = secrets.token_hex(8) if row is None else str(row[0])
    body = {"dataset": terms.dataset, "content": tag, "version": version, "protected": protected}
    entry = append(db, time, "version", body)
    db.execute("INSERT INTO versions VALUES (?, ?, ?, ?, ?)", (entry, terms.dataset, tag, version, protected))
    return version


def modes(db: sqlite3.Connection, pool: str) -> set[str]:
    """Return the modes of a pool's datasets."""
    query = "SELECT DISTINCT dataset FROM attachments WHERE pool = ?"
    pins = [pinned(db, row[0]) for row in db.execute(query, (pool,)).fetchall()]
    return {terms.mode for terms in pins if terms is not None}
