"""Ed25519 signatures over canonical JSON: how a receipt or a publication is signed; whoever reads it verifies it (:mod:`dpnb.client.verification`).

The text that is signed is ``dpnb``, what kind of record it is and its canonical JSON, so that a signature of one kind is none of another.
This form is permanent. The arithmetic is the package cryptography's; it is loaded when something is signed or verified, not before.

References
----------
.. [1] Josefsson and Liusvaara (2017), RFC 8032.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from dpnb.trusted.canonical import canonical

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


def sign(kind: Kind, record: Mapping[str, Any], private: bytes) -> str:
    """Return the signature of a record, in hexadecimal digits."""
    return str(_private(private).sign(signed_text(kind, record)).hex())


def _private(pem: bytes) -> Any:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    return load_pem_private_key(pem, password=None)


def signed_text(kind: Kind, record: Mapping[str, Any]) -> bytes:
    """Return what is signed of a record."""
    return f"dpnb {kind} 1\n{canonical(record)}".encode()
