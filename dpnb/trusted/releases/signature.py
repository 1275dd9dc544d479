"""Ed25519 signatures over canonical JSON: how a receipt or a publication is signed; whoever reads it verifies it (:mod:`dpnb.client.verification`).

A *receipt* says what was released under one charge of which ledger, so that anybody with the owner's public key can hold answers to it.

It holds no number and no question of what was released: for each draw the law of its noise and the hash of its integers, and for each answer,
in their order, the hash of its whole record, as the ledger has it. So it binds question, ``measured``, names of parts, dataset and version, time,
loss, and the set of draws; and it may go wherever a part of the release goes.

The text that is signed is ``dpnb``, what kind of record it is and its canonical JSON, so that a signature of one kind is none of another.
This form is permanent. The arithmetic is the package cryptography's; it is loaded when something is signed or verified, not before.

References
----------
.. [1] Josefsson and Liusvaara (2017), RFC 8032.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Literal

from dpnb.trusted.canonical import JsonObject, Record, canonical
from dpnb.trusted.releases.record import Release

Kind = Literal["receipt", "publication"]


def new_key() -> bytes:
    """Return a new private key, as PEM."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def public_key(private: bytes) -> str:
    """Return the public key of a private one, as PEM."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    public = _private(private).public_key()
    return str(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode())


def sign(kind: Kind, record: JsonObject, private: bytes) -> str:
    """Return the signature of a record, in hexadecimal digits."""
    return str(_private(private).sign(signed_text(kind, record)).hex())


def _private(pem: bytes) -> Any:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    return load_pem_private_key(pem, password=None)


def signed_text(kind: Kind, record: JsonObject) -> bytes:
    """Return what is signed of a record."""
    return f"dpnb {kind} 1\n{canonical(record)}".encode()


def digest(value: Any) -> str:
    """Return the hash of a JSON value: of an answer's record, or of the integers of a released vector."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def released(releases: Iterable[Release]) -> list[Record]:
    """Return what a receipt says of releases: for each draw the law of its noise and the hash of its integers."""
    parts = [part for release in releases for part in release.parts]
    return [{"draw": part.draw, "law": dict(part.law), "sha256": digest(list(part.values))} for part in parts]
