"""A receipt: what was released under one charge of which ledger, so that anybody with the owner's public key can hold numbers to it.

It holds no number that was released, only their hash with their law, by draw; it may go wherever the release goes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from dpnb.trusted.canonical import canonical
from dpnb.trusted.releases.record import Release, ReleasedPart


def digest(part: ReleasedPart) -> str:
    """Return the hash of a released vector's integers."""
    return hashlib.sha256(canonical(list(part.values)).encode()).hexdigest()


def released(releases: Iterable[Release]) -> list[dict[str, Any]]:
    """Return what a receipt says of releases: for each draw the law of its noise and the hash of its integers."""
    parts = [part for release in releases for part in release.parts]
    return [{"draw": part.draw, "law": dict(part.law), "sha256": digest(part)} for part in parts]
