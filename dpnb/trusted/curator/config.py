"""What a curator is told when it starts: its home, and how long it outlives its last kernel. Nothing here changes a guarantee."""

from __future__ import annotations

import os
from dataclasses import dataclass

from dpnb.trusted import system
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.wire.places import Home

LINGER = 5.0
FIRST_WAIT = 30.0


@dataclass(frozen=True, slots=True)
class Config:
    """A curator's settings.

    Parameters
    ----------
    home : Home
    linger : float
        Seconds between the last kernel's end and the curator's.
    tcp : bool
        Listen on loopback with a token instead of on a Unix socket.
    studies : str, optional
        The module that finds the public studies that can be opened by name; it is loaded when one is.
    """

    home: Home
    linger: float = LINGER
    tcp: bool = False
    studies: str | None = None

    @classmethod
    def from_environment(cls, home: Home, studies: str | None = None) -> Config:
        """Read ``DPNB_LINGER`` (seconds) and ``DPNB_TCP`` (``1``)."""
        tcp = os.environ.get("DPNB_TCP") == "1" or not system.UNIX_SOCKETS
        return cls(home, _seconds(os.environ.get("DPNB_LINGER")), tcp, studies)


def _seconds(text: str | None) -> float:
    if not text:
        return LINGER
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 86_400:
        raise OwnerError("DPNB_LINGER must be a number of seconds between 0 and 86400.")
    return seconds
