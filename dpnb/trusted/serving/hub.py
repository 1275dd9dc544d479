"""Tokens of a JupyterHub: who asks is what the Hub says of a token now, and nothing is remembered but a moment for life-lines.

A kernel that a Hub started holds a token of its own (``JUPYTERHUB_API_TOKEN``). The service asks the Hub whose it is and what it
allows: at the door, when an answer begins, and at the charge. One check answers every request of a token that arrived before the
check began, so that many at once cost one; what arrives later is asked anew, so that a revoked token spends nothing.
A Hub that is down, slow or says anything else lets nobody in.

References
----------
JupyterHub's REST API, ``GET /user``, and its custom scopes (JupyterHub 5 and later give ``token_id``).
"""

from __future__ import annotations

import hashlib
import http.client
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from dpnb.trusted.curator.grouped_calls import GroupedCalls
from dpnb.trusted.errors import AccessError, OwnerError
from dpnb.trusted.serving.tokens import OURS, SCOPES, Token, Tokens

PATIENCE = 5.0
"""Seconds for which a Hub may think."""
REMEMBERED = 60.0
"""Seconds after a check for which a life-line is held; no answer is given and nothing is charged on it."""
_GIVEN = tuple(scope for scope in SCOPES if scope != "metrics")
"""What a Hub can give; the figures of the service are for whom its owner gave a token."""
_LONGEST = 2**20
_NEVER = 2**62
_DOWN = "The Hub that identifies you does not answer. Nothing was spent. Try again, or tell whoever runs it."
_NOT_KNOWN = (
    "The Hub does not know this token: it has expired or was revoked. Nothing was spent. Restart your server."
)
_NOT_LET_IN = (
    "Your Hub gives you no access to {service}. Nothing was spent. Whoever runs it can give you the role."
)


@dataclass(frozen=True, slots=True)
class HubToken(Token):
    """What a Hub said of a token, with its text, to ask again; never stored or shown."""

    text: str = field(default="", repr=False, kw_only=True)


class Hub:
    """A JupyterHub.

    Parameters
    ----------
    api : str
        The address of its API: ``http://127.0.0.1:8081/hub/api``.
    service : str
        What the Hub calls this service.
    ask : callable, optional
        ``ask(text)`` returns status and body of what the Hub says of a token.
    """

    def __init__(
        self,
        api: str,
        service: str,
        ask: Callable[[str], tuple[int, bytes]] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api, self._service, self._clock = urlsplit(api), service, clock
        self._ask = ask or self._get
        self._checks: WeakValueDictionary[str, GroupedCalls] = WeakValueDictionary()
        self._seen: dict[str, float] = {}
        self._counting = threading.Lock()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hub) and (self._api, self._service) == (other._api, other._service)

    __hash__ = None  # type: ignore[assignment]

    def find(self, text: str) -> HubToken:
        """Return what a token allows, as the Hub says after this was called.

        Raises
        ------
        AccessError
            The Hub does not answer, does not know it, or gives no access.
        """
        found: HubToken | str = self._check_of(text).do(text)
        if isinstance(found, str):
            raise AccessError(found)
        return found

    def holds(self, token: HubToken) -> bool:
        """Say whether a token was good a moment ago: enough to keep a line open, never to answer on it."""
        return self._clock() - self._seen.get(token.digest, -REMEMBERED) < REMEMBERED

    def _check_of(self, text: str) -> GroupedCalls:
        """Return what checks a token; forgotten when nobody waits for it any more."""
        with self._counting:
            return self._checks.setdefault(text, GroupedCalls(self._look, self._look_once))

    def _look_once(self, texts: Sequence[str]) -> list[HubToken | str]:
        """Answer all that waited for a check of one token with one."""
        return [self._look(texts[0])] * len(texts)

    def _look(self, text: str) -> HubToken | str:
        """Ask the Hub; return what it allows, or the words of the refusal."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        found = self._said(text, digest)
        with self._counting:
            now = self._clock()
            self._seen = {one: then for one, then in self._seen.items() if now - then < REMEMBERED}
            self._seen.pop(digest, None)
            if not isinstance(found, str):
                self._seen[digest] = now
        return found

    def _said(self, text: str, digest: str) -> HubToken | str:
        try:
            status, body = self._ask(text)
        except (OSError, http.client.HTTPException, ValueError):
            return _DOWN
        if status in {401, 403, 404}:
            return _NOT_KNOWN
        if status != 200:
            return _DOWN
        try:
            return self._read(json.loads(body), text, digest)
        except (ValueError, TypeError, KeyError, AttributeError):
            return _DOWN

    def _read(self, model: Mapping[str, Any], text: str, digest: str) -> HubToken | str:
        """Read a Hub's model of whoever holds a token; scopes are compared by hand, with no inheritance."""
        scopes = {str(scope) for scope in model["scopes"]}
        mine = f"access:services!service={self._service}"
        if model.get("kind") != "user" or not {"access:services", mine} & scopes:
            return _NOT_LET_IN.format(service=self._service)
        held = tuple(scope for scope in _GIVEN if f"custom:{self._service}:{scope}" in scopes)
        name, id_ = str(model["name"]), str(model.get("token_id") or digest[:8])
        groups = tuple(map(str, model["groups"])) if isinstance(model.get("groups"), list) else None
        return HubToken(id_, principal_of(name), held, (), 0, _NEVER, digest, groups=groups, text=text)

    def _get(self, text: str) -> tuple[int, bytes]:
        host, port = self._api.hostname or "", self._api.port
        kind = http.client.HTTPSConnection if self._api.scheme == "https" else http.client.HTTPConnection
        connection = kind(host, port, timeout=PATIENCE)
        try:
            connection.request("GET", f"{self._api.path}/user", headers={"Authorization": f"token {text}"})
            reply = connection.getresponse()
            return reply.status, reply.read(_LONGEST)
        finally:
            connection.close()


def principal_of(name: str) -> str:
    """Return who a user of a Hub is: nobody whom an owner's token names can be called so.

    Raises
    ------
    ValueError
        For no name.
    """
    if not name or not name.isprintable() or len(name) > 200:
        raise ValueError
    return f"hub/{name}"


def hub_of(facts: Mapping[str, Any], environment: Mapping[str, str], where: str) -> Hub:
    """Return the Hub that an owner's file names, or the one that started this process.

    Raises
    ------
    OwnerError
        Neither says where it is.
    """
    api = facts.get("api", environment.get("JUPYTERHUB_API_URL"))
    service = facts.get("service", environment.get("JUPYTERHUB_SERVICE_NAME") or "dpnb")
    if (
        not isinstance(api, str)
        or urlsplit(api).scheme not in {"http", "https"}
        or not urlsplit(api).hostname
    ):
        raise OwnerError(f'{where}: where is the Hub? Write api = "http://127.0.0.1:8081/hub/api".')
    if not isinstance(service, str) or not service.isidentifier():
        raise OwnerError(f'{where}: service is what the Hub calls this: write service = "dpnb".')
    return Hub(api.rstrip("/"), service)


class Identities:
    """Who asks, by whichever token: one that the owner issued, or one of a JupyterHub.

    Parameters
    ----------
    tokens : Tokens
        The owner's.
    hub : Hub, optional
        Asked of every other token.
    """

    def __init__(self, tokens: Tokens, hub: Hub | None = None) -> None:
        self._tokens, self._hub = tokens, hub

    def waits(self, text: str) -> bool:
        """Say whether somebody else is asked, so that finding it takes a while."""
        return self._hub is not None and not text.startswith(OURS)

    def find(self, text: str) -> Token:
        """Return what a token allows now; AccessError where it allows nothing."""
        if self._hub is not None and self.waits(text):
            return self._hub.find(text)
        return self._tokens.find(text)

    def check(self, token: Token) -> Token:
        """Return what a token that was found allows by now; AccessError where it is nothing."""
        return self.find(token.text) if isinstance(token, HubToken) else self._tokens.check(token)

    def readable(self) -> bool:
        """Say whether the owner's tokens can be read."""
        try:
            self._tokens.renew()
        except OwnerError:
            return False
        return True

    def holds(self, token: Token) -> bool:
        """Say whether a line may be kept open for whoever showed a token."""
        if self._hub is not None and isinstance(token, HubToken):
            return self._hub.holds(token)
        return self._tokens.holds(token)
