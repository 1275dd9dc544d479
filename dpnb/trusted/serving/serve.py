"""``dpnb serve --config curator.toml``: the service as a process.

It ends when it is asked to (SIGTERM): it takes nothing new, charges nothing more, and what was charged has a moment to be stored
and sent. ``/health`` answers anybody who may connect; ``/metrics`` whoever holds an owner's token with that scope
(:mod:`dpnb.trusted.serving.health`).
"""

from __future__ import annotations

import asyncio
import math
import os
import re
import socket
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import tornado.netutil
from tornado.iostream import IOStream

from dpnb.trusted import system
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.server import Address, Listener, Refused, RequestHandler, end, say, serve
from dpnb.trusted.errors import AccessError, OwnerError
from dpnb.trusted.serving.gateway import Gateway, refusal
from dpnb.trusted.serving.health import TYPE, Figure, openmetrics, tens
from dpnb.trusted.serving.hub import Identities
from dpnb.trusted.serving.settings import Settings, read_settings
from dpnb.trusted.serving.tokens import Token, Tokens, tokens_file
from dpnb.trusted.wire.filelock import FileLock

_BEARER = re.compile(r"(?:Bearer|token) +(\S{1,200})", re.IGNORECASE)
MOST_CONNECTIONS = 1024
"""A kernel has two: four hundred kernels, and some room."""
_SWITCH = 0.001
"""Seconds after which a thread lets another go on: with five milliseconds a short release waits for every long one at each of its steps."""
_AT_THE_DOOR = 32
"""Tokens of a Hub that are looked at at once."""
_ASK = "The service asks who you are: set DPNB_TOKEN to the token that its owner gave you. Nothing was spent."


class ServiceListener(Listener):
    """A port of this host, encrypted or behind a proxy, whose callers show a token."""

    most = MOST_CONNECTIONS
    releases = 32

    def __init__(self, settings: Settings, identities: Identities, gateway: Gateway) -> None:
        self._settings, self._identities, self._gateway = settings, identities, gateway
        self._doorkeepers = ThreadPoolExecutor(_AT_THE_DOOR)
        self.ssl: Any = settings.tls()
        self.prefix = settings.prefix

    def listen(self) -> socket.socket:
        """Return the listening socket."""
        try:
            first, *others = tornado.netutil.bind_sockets(self._settings.port, self._settings.host)
        except OSError as fault:
            where = f"{self._settings.host}:{self._settings.port}"
            raise OwnerError(f"listen = {where} cannot be used: {fault.strerror}.") from None
        for other in others:  # a name of two addresses: nobody would answer at the second
            other.close()
        return first

    def announce(self, bound: socket.socket) -> None:
        """Say on standard output where it listens; from now on a hang-up signal asks to take up what the owner changed."""
        loop = asyncio.get_running_loop()
        system.at_hang_up(loop, self._gateway.take_up)
        scheme, port = "http" if self.ssl is None else "https", bound.getsockname()[1]
        say({"ready": True, "url": f"{scheme}://{self._settings.host}:{port}{self.prefix}/"})

    def withdraw(self) -> None:
        """Nothing to remove."""

    async def admit(self, request: RequestHandler) -> Token:
        """Return the token of whoever asks, as it stands now."""
        shown = _BEARER.fullmatch(request.headers.get("Authorization", ""))
        if shown is None:
            raise self._refused(AccessError(_ASK))
        try:
            found = await self._found(shown[1])
        except AccessError as error:
            raise self._refused(error) from None
        except OwnerError as fault:  # nobody can be looked up: the owner hears why, and whoever asks that it is not their mistake
            self._gateway.note(fault, "the door")
            raise Refused(503) from None
        if not request.path.endswith("/metrics") and set(found.scopes) <= {"metrics"}:
            raise self._refused(AccessError("Your token can only read the service's statistics."), 403)
        return found

    async def _found(self, text: str) -> Token:
        if not self._identities.waits(text):
            return self._identities.find(text)
        return await asyncio.get_running_loop().run_in_executor(
            self._doorkeepers, self._identities.find, text
        )

    def _refused(self, error: AccessError, status: int = 401) -> Refused:
        self._gateway.count("refused access")
        return Refused(status, refusal(error))

    def owner(self, who: Token, stream: IOStream) -> str:  # noqa: ARG002 - a listener's
        """Return the principal: nobody's connections push out another's."""
        return who.principal

    def knows(self, who: Token) -> bool:
        """Say whether a token still holds."""
        return self._identities.holds(who)

    def addresses(self) -> Mapping[str, Address]:
        """Health and figures."""
        return {"/health": Address(_health, "GET", asks=False), "/metrics": Address(_metrics, "GET")}


async def _health(asked: RequestHandler) -> None:
    """Say that it can be asked, or in one word why it cannot."""
    word = _gateway(asked).fault()
    asked.send(f"{word or 'ok'}\n".encode(), "text/plain", status=503 if word else 200)


async def _metrics(asked: RequestHandler) -> None:
    """Write the figures as OpenMetrics has them, for whoever holds the scope."""
    try:
        asked.who.need("metrics")
    except AccessError as error:
        raise Refused(403, refusal(error)) from None
    lines = {"": tens(len(asked.life.lines))}
    open_lines = Figure("dpnb_lines", "gauge", "Kernels that hold a line, in tens.", lines)
    figures = await asked.application.workers.run("rest", _gateway(asked).figures)
    asked.send(openmetrics([*figures, open_lines]), TYPE)


def _gateway(asked: RequestHandler) -> Gateway:
    gateway: Any = asked.application.service
    return cast("Gateway", gateway)


def run(path: Path, studies: str | None = None) -> int:
    """Serve what a file says until a signal asks to end; return the status of the process.

    Raises
    ------
    OwnerError, SchemaError
        When the file, a dataset or the home does not allow it.
    """
    settings = read_settings(path)
    os.umask(0o077)
    sys.setswitchinterval(_SWITCH)
    system.allow_files(2 * MOST_CONNECTIONS)
    lock = FileLock(settings.home.make().lock)
    if not lock.acquire():
        raise OwnerError(f"A curator serves {settings.home.root} already: one ledger has one writer.")
    identities = Identities(Tokens(tokens_file(settings.home)), settings.hub)
    gateway = Gateway.of(settings, identities, studies)
    listener = ServiceListener(settings, identities, gateway)
    end(gateway, lock, quiet=serve(gateway, Config(settings.home, linger=math.inf), listener))
    return 0
