"""Receipts of a ledger's charges, signed under the home's own key; a receipt is a function of ledger and key, so that it never changes.

``head`` is the hash of the entry that stored the answers: the chain up to there holds the charge, its totals and the answers' hashes. The
key is made at the first use (0600, complete before it has its name) and never leaves the home.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Collection, Mapping
from typing import Any

from dpnb.trusted.curator import stored, totals
from dpnb.trusted.curator.mark import ledger_id
from dpnb.trusted.curator.owner_acts import acting
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.releases import Release
from dpnb.trusted.releases.receipt import released
from dpnb.trusted.releases.signature import new_key, public_key, sign
from dpnb.trusted.wire.places import Home, write_private


def signing_key(home: Home) -> bytes:
    """Return a home's private key, made at its first use."""
    if not home.signing_key.exists():
        draft = home.root / f".{home.signing_key.name}.{secrets.token_hex(4)}"
        write_private(draft, new_key())
        try:
            with contextlib.suppress(FileExistsError):  # another process was faster: its key is the key
                os.link(draft, home.signing_key)
        finally:
            draft.unlink()
    return home.signing_key.read_bytes()


def receipt_of(db: sqlite3.Connection, charge: int) -> dict[str, Any] | None:
    """Return what the receipt of a charge says, or None where it has no answer yet."""
    answers = stored.answers_of(db, charge)
    if answers is None:
        return None
    body = totals.body_of(db, charge)
    query = "SELECT entry, hash FROM entries WHERE entry = (SELECT entry FROM answers WHERE charge = ?)"
    answered, head = db.execute(query, (charge,)).fetchone()
    return {
        "format": 1,
        "ledger": ledger_id(db),
        "principal": body["principal"],
        "plan": body["digest"],
        "dataset": body["dataset"],
        "data_version": body["data_version"],
        "released": released(map(Release.from_json, answers)),
        "loss": body["loss"],
        "spent": body["spent"],
        "entry": charge,
        "answered": answered,
        "head": head,
    }


def receipts(home: Home, dataset: str, draws: Collection[str]) -> list[dict[str, Any]]:
    """Return the signed receipts of the charges of a dataset under which any of these draws was released, oldest first."""
    private, wanted = signing_key(home), set(draws)
    with acting(home) as ledger, ledger.read() as db:
        query = "SELECT entry FROM charges WHERE dataset = ? AND principal <> '' ORDER BY entry"
        found = [receipt_of(db, entry) for (entry,) in db.execute(query, (dataset,)).fetchall()]
    return [
        {"receipt": one, "signature": sign("receipt", one, private)}
        for one in found
        if one is not None and not wanted.isdisjoint(part["draw"] for part in one["released"])
    ]


def receipt_file(home: Home, charge: int) -> dict[str, Any]:
    """Return the signed receipt of a charge with the answers that were stored under it.

    Raises
    ------
    OwnerError
        When the entry is no charge, or has no answer yet.
    """
    private = signing_key(home)
    with acting(home) as ledger, ledger.read() as db:
        query = "SELECT 1 FROM charges WHERE entry = ? AND principal <> ''"
        known = db.execute(query, (charge,)).fetchone()
        record = None if known is None else receipt_of(db, charge)
        answers = stored.answers_of(db, charge)
    if record is None:
        raise OwnerError(
            f"Entry {charge} is not a charge that was answered. The ledger's card and dpnb verify list those that were."
        )
    return {"receipt": record, "signature": sign("receipt", record, private), "releases": answers}


def signed_publication(home: Home, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a publication with the home's public key and signature."""
    private = signing_key(home)
    whole = {**record, "key": public_key(private)}
    return {**whole, "signature": sign("publication", whole, private)}
