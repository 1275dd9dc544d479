"""Ed25519 signatures over canonical JSON: how a receipt or a publication is known to be what was signed, without any server.

The text that is signed is ``dpnb``, what kind of record it is and its canonical JSON, so that a signature of one kind is none of another.
This form is permanent. The arithmetic is the package cryptography's; it is loaded when something is signed or verified, not before.

References
----------
.. [1] Josefsson and Liusvaara (2017), RFC 8032.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final, Literal

from dpnb.trusted.canonical import canonical
from dpnb.trusted.errors import OwnerError

Kind = Literal["receipt", "publication"]

_NO_KEY: Final = (
    "This is not an Ed25519 key in PEM. Name the file that the owner published, such as people.pub."
)


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


def key_name(public: str) -> str:
    """Return the short name of a public key, by which two are told apart."""
    return hashlib.sha256(public.encode()).hexdigest()[:16]


def sign(kind: Kind, record: Mapping[str, Any], private: bytes) -> str:
    """Return the signature of a record, in hexadecimal digits."""
    return str(_private(private).sign(_text(kind, record)).hex())


def verify(kind: Kind, record: Mapping[str, Any], signature: object, public: str) -> None:
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
    try:
        key.verify(bytes.fromhex(str(signature)), _text(kind, record))
    except (InvalidSignature, ValueError):
        raise OwnerError(
            f"This {kind} is not what the key {key_name(public)} signed: something in it was changed, or it is another key's."
        ) from None


def _private(pem: bytes) -> Any:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    return load_pem_private_key(pem, password=None)


def _text(kind: Kind, record: Mapping[str, Any]) -> bytes:
    return f"dpnb {kind} 1\n{canonical(record)}".encode()
