"""What an owner signs with the home's key: receipts of charges, a receipt's file, a publication. Nothing is changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from dpnb.trusted.curator.receipts import receipt_of, signed_receipt, signing_key
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.owner.owner_acts import acting
from dpnb.trusted.releases.signature import public_key, sign
from dpnb.trusted.wire.places import Home


def receipts(home: Home, dataset: str, draws: Collection[str]) -> list[dict[str, Any]]:
    """Return the signed receipts of the charges of a dataset under which any of these draws was released, oldest first."""
    private, wanted = signing_key(home), set(draws)
    with acting(home) as ledger, ledger.showing() as db:
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
    with acting(home) as ledger, ledger.showing() as db:
        found = signed_receipt(db, charge, private, lambda _: True)
    if found is None:
        raise OwnerError(
            f"Entry {charge} is not a charge that was answered. The ledger's card and dpnb verify list those that were."
        )
    return found


def signed_publication(home: Home, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a publication with the home's public key and signature."""
    private = signing_key(home)
    whole = {**record, "key": public_key(private)}
    return {**whole, "signature": sign("publication", whole, private)}
