"""Receipts of a ledger's charges, signed under the home's own key; a receipt is a function of ledger and key, so that it never changes.

``head`` is the hash of the entry that stored the answers: the chain up to there holds the charge, its totals and the answers' hashes. The
key is made at the first use (0600, complete before it has its name) and never leaves the home.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import NoReturn

from dpnb.trusted.canonical import JsonObject, Record
from dpnb.trusted.curator import answer_store, totals
from dpnb.trusted.curator.audit_trail import fault_of_entry
from dpnb.trusted.curator.mark import ledger_id
from dpnb.trusted.errors import PlanError
from dpnb.trusted.releases import Release
from dpnb.trusted.releases.signature import new_key, released, sign
from dpnb.trusted.wire.places import Home, write_once


def signing_key(home: Home) -> bytes:
    """Return a home's private key, made at its first use."""
    if not home.signing_key.exists():
        write_once(home.signing_key, new_key())
    return home.signing_key.read_bytes()


def receipt_of(db: sqlite3.Connection, charge: int) -> Record | None:
    """Return what the receipt of a charge says, or None where it has no answer yet.

    Raises
    ------
    ValueError
        When the charge, its answers or the entry that stored them are not what was written: nothing that changed in the file
        is signed.
    """
    answers = answer_store.answers_of(db, charge)
    if answers is None:
        return None
    body = totals.body_of(db, charge)
    query = "SELECT entry, hash FROM entries WHERE entry = (SELECT entry FROM answers WHERE charge = ?)"
    answered, head = db.execute(query, (charge,)).fetchone()
    for fault in filter(None, (fault_of_entry(db, entry) for entry in (charge, answered))):
        raise ValueError(fault)
    return {
        "format": 2,
        "ledger": ledger_id(db),
        "principal": body["principal"],
        "plan": body["digest"],
        "dataset": body["dataset"],
        "data_version": body["data_version"],
        "released": released(map(Release.from_json, answers)),
        "answers": totals.body_of(db, answered)["answers"],
        "loss": body["loss"],
        "spent": body["spent"],
        "entry": charge,
        "answered": answered,
        "head": head,
    }


def signed_receipt(
    db: sqlite3.Connection, charge: int, private: bytes, allowed: Callable[[JsonObject], bool]
) -> Record | None:
    """Return the signed receipt of a charge with the answers that were stored under it.

    Parameters
    ----------
    db : sqlite3.Connection
    charge : int
    private : bytes
        The key that signs.
    allowed : callable
        Says of a charge's body whether whoever asks may read it.

    Returns
    -------
    dict or None
        None alike where the entry is no charge, has no answer yet, or is not for whoever asks.
    """
    query = "SELECT 1 FROM charges WHERE entry = ? AND principal <> ''"
    if db.execute(query, (charge,)).fetchone() is None or not allowed(totals.body_of(db, charge)):
        return None
    record, answers = receipt_of(db, charge), answer_store.answers_of(db, charge)
    signed = {} if record is None else {"receipt": record, "signature": sign("receipt", record, private)}
    return {**signed, "releases": answers} if signed else None


def refuse_entry(charge: int) -> NoReturn:
    """Refuse an entry that has no receipt for whoever asks."""
    raise PlanError(
        f"Entry {charge} is not a charge of yours that was answered: the ledger's card lists those that were."
    )
