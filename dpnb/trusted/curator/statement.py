"""The acts of the ledger as a person reads them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dpnb.trusted.canonical import JsonObject, Record, canonical
from dpnb.trusted.curator.holds import STATES
from dpnb.trusted.curator.wording import worded
from dpnb.trusted.errors import PlanError
from dpnb.trusted.privacy.accountant import compose
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.plan_record import read_parts

_MOST_TOLD = 10


@dataclass(frozen=True, slots=True)
class StatementRow:
    """One act of the ledger as a person reads it. Fields that an act does not have are None or empty."""

    entry: int
    time: str
    kind: str
    hash: str
    dataset: str | None = None
    pool: str | None = None
    principal: str | None = None
    loss: PrivacyLoss | None = None
    spent_after: PrivacyLoss | None = None
    texts: tuple[str, ...] = ()
    """What the asker calls the questions."""
    measured: tuple[str, ...] = ()
    """What was measured, in the curator's words, with what each question costs alone; empty where that was not asked for."""
    events: tuple[Record, ...] = ()
    """The privacy events, as they were charged."""
    answered: bool = False
    note: str = ""
    shares: tuple[str, ...] = ()
    """The shares of the pool to which a charge counts."""
    told: str = ""
    """The note without the owner's own words: what another user's analyst may read."""


def entries_of(
    db: sqlite3.Connection, after: int, dataset: str | None, principal: str | None, shares: Collection[str]
) -> list[int]:
    """Return the entries after one that may concern whoever asks, in order: of charges theirs alone, by the tables beside the entries."""
    others = "SELECT entry FROM entries WHERE entry > ?"
    if principal is None:
        return sorted(row[0] for row in db.execute(others, (after,)))
    found = {row[0] for row in db.execute(f"{others} AND kind NOT IN ('charge', 'store')", (after,))}
    mine = "SELECT entry FROM charges WHERE principal = ? AND entry > ? AND (? IS NULL OR dataset = ?)"
    found |= {row[0] for row in db.execute(mine, (principal, after, dataset, dataset))}
    for share in shares:
        found |= {
            row[0]
            for row in db.execute("SELECT entry FROM shares WHERE share = ? AND entry > ?", (share, after))
        }
    return sorted(found)


def rows_of(db: sqlite3.Connection, entries: Sequence[int], *, worded: bool = False) -> list[StatementRow]:
    """Read acts, in order; where they are to be worded, a charge says what was measured."""
    listed = canonical(list(entries))
    query = "SELECT charge FROM answers WHERE charge IN (SELECT value FROM json_each(?))"
    answered = {row[0] for row in db.execute(query, (listed,))}
    query = (
        "SELECT entry, time, kind, hash, body FROM entries WHERE entry IN (SELECT value FROM json_each(?)) "
        "AND kind NOT IN ('store', 'migration', 'version', 'refuse') ORDER BY entry"
    )
    return [row_of(act, answered, worded=worded) for act in db.execute(query, (listed,))]


def row_of(act: tuple[int, str, str, str, str], answered: set[int], *, worded: bool = False) -> StatementRow:
    """Read one act; where it is to be worded, a charge says what was measured."""
    entry, time, kind, digest, text = act
    body = json.loads(text)
    about = {**body.get("terms", {}), **body}
    facts: Record = {"dataset": about.get("dataset"), "pool": about.get("pool")}
    facts |= {"principal": body.get("principal") or None}
    if kind != "charge":
        facts |= {"note": _note(kind, body), "told": _note(kind, {**body, "reason": ""})}
        return StatementRow(entry, time, kind, digest, **facts)
    return StatementRow(
        entry,
        time,
        kind,
        digest,
        **facts,
        loss=PrivacyLoss.from_json(body["loss"]),
        spent_after=PrivacyLoss.from_json(body["spent"]),
        measured=_measured(body) if worded else (),
        texts=tuple(dict.fromkeys(text for question in body["questions"] for text in question["texts"])),
        events=tuple(body["events"]),
        answered=entry in answered,
        shares=tuple(body.get("shares", ())),
    )


def _measured(body: JsonObject) -> tuple[str, ...]:
    """Return what was measured for each question, from the record of its measurements; of many questions, for the first."""
    measure = PrivacyLoss.from_json(body["loss"]).measure
    questions = body["questions"]
    told = [_question(question, measure) for question in questions[:_MOST_TOLD]]
    more = len(questions) - _MOST_TOLD
    return (*told, *([f"… and {more:,} more questions"] if more > 0 else ()))


def _question(question: JsonObject, measure: Measure) -> str:
    try:
        parts = read_parts(question["plan"])
    except PlanError:
        return "a record that this version of dpnb cannot read"  # the other acts are told all the same
    more = len(parts) - _MOST_TOLD
    told = "; ".join(worded(part) for part in parts[:_MOST_TOLD]) + (
        f"; … and {more:,} more" if more > 0 else ""
    )
    alone = compose((PrivacyEvent.from_json(event) for event in question["events"]), measure)
    return f"{told}; {alone} alone"


def _note(kind: str, body: JsonObject) -> str:
    if kind == "cap":
        return "cap lifted" if body["cap"] is None else f"cap {PrivacyLoss.from_json(body['cap'])}"
    if kind == "grant":
        who = body["principal"] or "everybody together"
        cap = "no cap" if body["cap"] is None else f"{PrivacyLoss.from_json(body['cap'])}"
        return f"{who}: {cap}{_given(body)}"
    if kind in STATES:
        return f"now {STATES[kind]}{_given(body)}"
    if kind == "publish":
        return f"sha256 {body['sha256']}{_given(body)}"
    if kind == "reset":
        return "a new budget period"
    if kind == "adopt":
        return f"entry {body['charge']}, charged before; nothing more is charged"
    if kind == "restore":
        return f"restored with {PrivacyLoss.from_json(body['spent'])} spent" + _given(body)
    changes = "; ".join(f"{c['term']}: {c['pinned']} → {c['now']}" for c in body.get("changes", ()))
    return changes + _given(body)


def _given(body: JsonObject) -> str:
    return f" ({body['reason']})" if body.get("reason") else ""


def concerns(
    row: StatementRow,
    dataset: str | None,
    pool: str | None,
    principal: str | None,
    shares: Collection[str] = (),
) -> bool:
    """Tell whether an act belongs to what was asked for."""
    here = dataset is None or row.dataset == dataset or (row.dataset is None and row.pool == pool)
    mine = principal is None or row.principal in {None, principal}
    return here and (mine or not set(shares).isdisjoint(row.shares))
