"""What a server of a service serves: messages of the service alone, each held against the token that brings it.

A token is looked at when its request begins to be answered, and once more at the charge, so that what waited behind others or
for its last byte is not answered to a token that was revoked meanwhile. Nobody's requests keep another's from being answered:
a principal has one batch and a few other requests under way. What an owner hears of a fault, an analyst does not.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from dpnb.trusted.curator.holds import HeldError
from dpnb.trusted.errors import (
    AccessError,
    ChargedError,
    CuratorGone,
    DpnbError,
    OwnerError,
    PlanError,
    to_wire,
)
from dpnb.trusted.serving.allowances import REQUEST, STATEMENT
from dpnb.trusted.serving.health import Figure, disk_fault, labelled, sizes, tens
from dpnb.trusted.serving.hub import Identities
from dpnb.trusted.serving.served_curator import BucketedRandomness, ServedCurator
from dpnb.trusted.serving.settings import Settings, read_settings
from dpnb.trusted.serving.tokens import Token
from dpnb.trusted.wire.codec import decode_service_request, encode
from dpnb.trusted.wire.messages import Attached as AttachedReply
from dpnb.trusted.wire.messages import (
    Cancel,
    Cap,
    Detach,
    Failure,
    Hello,
    Open,
    Receipt,
    ServiceRequest,
    Statement,
    Submit,
)


class _Most(NamedTuple):
    """How many requests of a principal may be under way, and what one too many is told."""

    what: str
    number: int
    words: str


_BATCHES = _Most("batches", 1, "Another batch of yours is running: wait for it, and run this again.")
_OTHERS = _Most("others", 3, "Several requests of yours are under way: try again in a moment.")
"""Fewer than there are threads of any kind."""
_SEVERAL = 3
"""Faults one after the other, without an answer between them, after which the service is called failing."""
_MOST_CAPS, _MINUTE = 10, 60.0
_LATER = "The service cannot do this now: its owner must act, and can see why in its log. Run this again later: it is charged once at most."
"""What an analyst hears of a fault of the owner's."""


class Gateway:
    """What a server of a service serves.

    Parameters
    ----------
    identities : Identities
    clock : callable
        Returns seconds.
    """

    curator: ServedCurator

    def __init__(self, identities: Identities, clock: Callable[[], float] = time.monotonic) -> None:
        self.counts: Counter[str] = Counter()
        self._identities, self._clock = identities, clock
        self._busy: Counter[tuple[str, str]] = Counter()
        self._caps: dict[str, deque[float]] = {}
        self._opened: dict[tuple[str, str], str] = {}
        self._counting = threading.Lock()
        self._taking_up = threading.Lock()
        self._failed = 0

    @classmethod
    def of(cls, settings: Settings, identities: Identities, studies: str | None = None) -> Gateway:
        """Open a service's curator behind a gateway; raises what :meth:`ServedCurator.of` raises."""
        made = cls(identities)
        randomness = BucketedRandomness(
            bucket=settings.bucket, late=lambda: made.count("later than the first bucket")
        )
        made.curator = ServedCurator.of(settings, randomness, studies)
        return made

    def read(self, body: bytes) -> ServiceRequest | bytes:
        """Read one request body, or return the :class:`Failure` that refuses it."""
        try:
            return decode_service_request(body)
        except Exception as error:  # noqa: BLE001 - whatever it is, only its code may leave
            return self._failure(error, "read")

    def carry_out(self, request: ServiceRequest, token: Token) -> bytes:
        """Answer one request; every error becomes a :class:`Failure`."""
        kind = type(request).__name__
        self.count(f"requests {kind.lower()}")
        try:
            token = self._identities.check(token)
            with self.curator.asked_by(token, lambda: self._identities.check(token)):
                told = self._reply(request, token)
            reply = encode(told)
        except Exception as error:  # noqa: BLE001 - whatever it is, only its code may leave
            return self._failure(error, kind)
        if isinstance(request, Submit):
            self._failed = 0
        return reply

    def count(self, what: str) -> None:
        """Count something for the figures of the service."""
        with self._counting:
            self.counts[what] += 1

    def note(self, fault: BaseException, what: str = "") -> None:
        """Write a fault to the owner's log."""
        self.curator.note(fault, what)

    def fault(self) -> str | None:
        """Return one word for what keeps the service from answering, or None."""
        if self.curator.frozen is not None:
            return "frozen"
        if not self._identities.readable():
            return "tokens"
        word = disk_fault(self.curator.settings.home.root, self.curator.settings.free_disk)
        return f"disk {word}" if word else "failing" if self._failed >= _SEVERAL else None

    def figures(self) -> list[Figure]:
        """Return what an operator is told, rounded."""
        counted = {labelled("what", what): tens(count) for what, count in sorted(self.counts.copy().items())}
        frozen = self.curator.frozen is not None
        shares = {} if frozen else self.curator.shares_left()
        left = {labelled("dataset", name): share for name, share in shares.items()}
        return [
            Figure("dpnb_requests", "counter", "Requests by kind and outcome, in tens.", counted),
            Figure("dpnb_budget_left", "gauge", "Share of each dataset's budget that is left.", left),
            Figure("dpnb_frozen", "gauge", "1 where the ledger is frozen.", {"": frozen}),
            *sizes(self.curator.settings.home.ledger),
        ]

    def refuse_charges(self) -> None:
        """Charge nothing from now on."""
        self.curator.refuse_charges()

    def take_up(self) -> None:
        """Read the owner's file again, and take up what changed since; see :meth:`ServedCurator.take_up`."""
        with self._taking_up:
            settings = self.curator.settings
            try:
                settings = read_settings(settings.file)
            except DpnbError as fault:  # the old file holds, but the owner's acts are taken up all the same
                self.note(fault, "reading the configuration again")
            self.curator.take_up(settings)

    def listen(self, told: Callable[[], None]) -> None:
        """Call somebody whenever the ledger grew."""
        self.curator.listen(told)

    def close(self) -> None:
        """Close the ledger and the engines."""
        self.curator.close()

    def _reply(self, request: ServiceRequest, token: Token) -> Any:
        if isinstance(request, Cancel):
            token.need("release")
        if isinstance(request, Hello | Cancel):  # neither waits, least of all for what it cancels
            return self.curator.reply(request, token.principal)
        self.curator.refuse_frozen()
        with self._at_once(token.principal, _BATCHES if isinstance(request, Submit) else _OTHERS):
            return self._other(request, token)

    def _other(self, request: Any, token: Token) -> Any:
        self.curator.work.take(token.principal, STATEMENT if isinstance(request, Statement) else REQUEST)
        if isinstance(request, Open):
            return self._open(request, token)
        if isinstance(request, Statement) and request.handle is None:
            raise PlanError("Name the dataset whose ledger you want to read.")
        self._allow(request.handle, token)
        if isinstance(request, Statement) and "audit" in token.scopes:
            return self.curator.whole_statement(request, token.principal)
        if isinstance(request, Statement | Receipt) and "instruct" in token.scopes:
            return self.curator.for_groups(request, token)
        token.need("release")
        if isinstance(request, Cap):
            self._now_and_then(token.principal)
        if isinstance(request, Detach):  # the prepared copy is everybody's
            request = Detach(handle=request.handle)
        return self.curator.reply(request, token.principal)

    def _open(self, request: Open, token: Token) -> AttachedReply:
        if not token.opens(request.name):
            raise AccessError(f"Your token is not for {request.name}. Nothing was spent.")
        reply = self.curator.open_served(request.name, token.principal)
        self._opened[token.principal, reply.handle] = request.name
        return reply

    def _allow(self, handle: str, token: Token) -> None:
        """Refuse a handle that nobody opened here, or that another token of the same principal did."""
        name = self._opened.get((token.principal, handle))
        if name is None:
            raise CuratorGone("The service has not opened this dataset for you yet.", reattach=True)
        if not token.opens(name):
            raise AccessError(f"Your token is not for {name}. Nothing was spent.")

    @contextmanager
    def _at_once(self, principal: str, most: _Most) -> Iterator[None]:
        """Let so many requests of a principal be under way, of those that are counted together."""
        mine = (principal, most.what)
        with self._counting:
            if self._busy[mine] >= most.number:
                raise PlanError(f"{most.words} It is charged once at most.", later=True)
            self._busy[mine] += 1
        try:
            yield
        finally:
            with self._counting:
                self._busy[mine] -= 1

    def _now_and_then(self, principal: str) -> None:
        """Refuse caps that are set all the time: each is an entry of the ledger, for good."""
        with self._counting:
            now, lately = self._clock(), self._caps.setdefault(principal, deque(maxlen=_MOST_CAPS))
            if len(lately) == _MOST_CAPS and now - lately[0] < _MINUTE:
                raise PlanError(f"You set your cap {_MOST_CAPS} times within a minute: wait a little.")
            lately.append(now)

    def _failure(self, error: Exception, kind: str) -> bytes:
        if isinstance(error, OwnerError | ChargedError) and not isinstance(error, HeldError):
            self.curator.note(error, kind)
            self._failed += 1
            error = (ChargedError if isinstance(error, ChargedError) else OwnerError)(_LATER)
        self.count(f"refused {getattr(error, 'code', 'internal')}")
        return self.curator.failure(error, kind)


def refusal(error: AccessError) -> bytes:
    """Return the reply to whoever is not admitted."""
    return encode(Failure(**to_wire(error)))
