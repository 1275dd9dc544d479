"""A receipt: what was released under one charge of which ledger, so that anybody with the owner's public key can hold answers to it.

It holds no number and no question of what was released: for each draw the law of its noise and the hash of its integers, and for each answer,
in their order, the hash of its whole record, as the ledger has it. So it binds question, ``measured``, names of parts, dataset and version, time,
loss, and the set of draws; and it may go wherever a part of the release goes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from dpnb.trusted.canonical import canonical
from dpnb.trusted.releases.record import Release


def digest(value: Any) -> str:
    """Return the hash of a JSON value: of an answer's record, or of the integers of a released vector."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def released(releases: Iterable[Release]) -> list[dict[str, Any]]:
    """Return what a receipt says of releases: for each draw the law of its noise and the hash of its integers."""
    parts = [part for release in releases for part in release.parts]
    return [{"draw": part.draw, "law": dict(part.law), "sha256": digest(list(part.values))} for part in parts]
