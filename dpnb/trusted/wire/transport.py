"""Where messages go and who sends them: the addresses that a curator answers, and the process at the other end.

How a client gets there is its own affair (:mod:`dpnb.client.transport`).
"""

from __future__ import annotations

import os
import socket
import struct

MESSAGES = "/v1/messages"
HOLD = "/v1/hold"
TOKEN = "X-Dpnb-Token"  # noqa: S105 - the name of a header


def peer_of(peer: socket.socket) -> int:
    """Return the user at the other end of a Unix socket, as the system knows it."""
    if hasattr(socket, "SO_PEERCRED"):
        return int(struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])
    return os.getuid()  # the socket's mode 0600 has already decided


def process_of(peer: socket.socket) -> int | None:
    """Return the process at the other end of a Unix socket when it connected, where the system knows it."""
    if peer.family != getattr(socket, "AF_UNIX", None) or not hasattr(socket, "SO_PEERCRED"):
        return None
    return int(struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0])
