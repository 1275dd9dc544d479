"""Where messages go: the addresses that a curator answers.

How a client gets there is its own affair (:mod:`dpnb.client.transport`).
"""

from __future__ import annotations

MESSAGES = "/v1/messages"
HOLD = "/v1/hold"
TOKEN = "X-Dpnb-Token"  # noqa: S105 - the name of a header
