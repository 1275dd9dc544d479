"""What a request id is bound to: the plan and the draws that do not count as stored. Kernel and curator compute the same."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def request_digest(plan_digest: str, besides: Sequence[str] = ()) -> str:
    """Return the digest that binds a request id.

    Examples
    --------
    >>> request_digest("ab" * 32) == "ab" * 32
    True
    """
    if not besides:
        return plan_digest
    return hashlib.sha256("\n".join([plan_digest, *besides]).encode("ascii")).hexdigest()
