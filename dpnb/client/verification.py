"""Whether a receipt or a publication is what a curator signed, without any server: the reader's side of a signature."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from dpnb.trusted.canonical import Record
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.releases.record import Release
from dpnb.trusted.releases.signature import Kind, digest, signed_text

_NO_KEY: Final = (
    "This is not an Ed25519 key in PEM. Name the file that the owner published, such as people.pub."
)


def verify(kind: Kind, record: Mapping[str, object], signature: object, public: str) -> None:
    """Verify the signature of a record.

    Raises
    ------
    OwnerError
        When the key did not sign just this record, or is none.
    """
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(public.encode())
    except (ValueError, UnsupportedAlgorithm):
        raise OwnerError(_NO_KEY) from None
    if not isinstance(key, Ed25519PublicKey):
        raise OwnerError(_NO_KEY)
    verified: str | None = None
    with contextlib.suppress(InvalidSignature, ValueError):
        found = bytes.fromhex(str(signature))
        key.verify(found, signed_text(kind, record))
        verified = found.hex()
    if verified is None or verified != signature:  # capitals and spaces are a difference too
        raise OwnerError(
            f"This {kind} is not what the key {_key_name(public)} signed: something in it was changed, or it is another key's."
        )


def verify_receipt(signed: Record, public: str) -> Record:
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
    if not isinstance(record, dict) or record.get("format") != 2:
        raise OwnerError("This receipt is of another version of dpnb.")
    return record


def verify_answers(answers: Sequence[Record], receipt: Record) -> None:
    """Hold the answers of a charge against its verified receipt: what was asked, under which name, when, of what, in which order.

    Raises
    ------
    OwnerError
        When there is one more or less, or one differs in anything.
    """
    signed: list[str] = receipt["answers"]
    if len(answers) != len(signed):
        raise OwnerError(f"The receipt is of {len(signed)} answers, and the file holds {len(answers)}.")
    for answer, known in zip(answers, signed, strict=True):
        if digest(answer) != known:
            raise OwnerError(
                f"`{answer['question']}`: something in this answer, or their order, was changed."
            )


def _key_name(public: str) -> str:
    """Return the short name of a public key, by which two are told apart."""
    return hashlib.sha256(public.encode()).hexdigest()[:16]


def verify_released(releases: Iterable[Release], receipts: Iterable[Record]) -> None:
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
            if one["sha256"] != digest(list(part.values)) or one["law"] != dict(part.law):
                raise OwnerError(f"`{release.question}`: a number or its law is not what was released.")
            if receipt["data_version"] != release.data_version:
                raise OwnerError(f"`{release.question}`: its receipt is of another version of the data.")
