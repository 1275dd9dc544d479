"""A receipt: what was released under one charge of which ledger, so that anybody with the owner's public key can hold numbers to it.

It holds no number that was released, only their hash with their law, by draw; it may go wherever the release goes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from dpnb.trusted.canonical import canonical
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.releases.record import Release, ReleasedPart
from dpnb.trusted.releases.signature import verify


def digest(part: ReleasedPart) -> str:
    """Return the hash of a released vector's integers."""
    return hashlib.sha256(canonical(list(part.values)).encode()).hexdigest()


def released(releases: Iterable[Release]) -> list[dict[str, Any]]:
    """Return what a receipt says of releases: for each draw the law of its noise and the hash of its integers."""
    parts = [part for release in releases for part in release.parts]
    return [{"draw": part.draw, "law": dict(part.law), "sha256": digest(part)} for part in parts]


def verify_receipt(signed: Mapping[str, Any], public: str) -> Mapping[str, Any]:
    """Verify a signed receipt, and return what it says.

    Raises
    ------
    OwnerError
        When it is no receipt, or not what the key signed.
    """
    if set(signed) != {"receipt", "signature"}:
        raise OwnerError("This is not a receipt of dpnb.")
    record = signed["receipt"]
    verify("receipt", record, signed["signature"], public)
    if not isinstance(record, Mapping) or record.get("format") != 1:
        raise OwnerError("This receipt is of another version of dpnb.")
    return record


def verify_released(releases: Iterable[Release], receipts: Iterable[Mapping[str, Any]]) -> None:
    """Hold released integers and their laws against verified receipts.

    Raises
    ------
    OwnerError
        Naming the first question of which a number, a law or the receipt is not the one that was released.
    """
    known = {one["draw"]: (receipt, one) for receipt in receipts for one in receipt["released"]}
    for release in releases:
        for part in release.parts:
            receipt, one = known.get(part.draw, ({}, {}))
            if not one:
                raise OwnerError(f"`{release.question}`: no receipt names its draw {part.draw}.")
            if one["sha256"] != digest(part) or one["law"] != dict(part.law):
                raise OwnerError(f"`{release.question}`: a number or its law is not what was released.")
            if receipt["data_version"] != release.data_version:
                raise OwnerError(f"`{release.question}`: its receipt is of another version of the data.")
