"""The curator of a service: datasets that its owner named, opened by name, each ENFORCED.

:class:`Desk` is what the server serves: it reads the service's messages alone, asks of each what its token must allow, and hands
it on. One batch of a principal runs at a time. What an owner hears of a fault, an analyst does not.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.guard import owners_words
from dpnb.trusted.curator.open_dataset import Attached
from dpnb.trusted.curator.release import Chance
from dpnb.trusted.curator.service import Curator
from dpnb.trusted.errors import (
    AccessError,
    DpnbError,
    FrozenError,
    OwnerError,
    PlanError,
    SchemaError,
    to_wire,
)
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.schema import Mode, nearest
from dpnb.trusted.serving.settings import ServedDataset, Settings
from dpnb.trusted.serving.tokens import Token
from dpnb.trusted.wire.codec import decode_service_request, encode
from dpnb.trusted.wire.messages import (
    Attach,
    Detach,
    Failure,
    Hello,
    Open,
    ServiceRequest,
    Statement,
    Submit,
)
from dpnb.trusted.wire.messages import (
    Attached as AttachedReply,
)

OWNER = "(owner)"
"""Who opens every dataset at the start: no principal of a token can be called so."""


class _ToldOwnerError(OwnerError):
    """What an analyst may hear."""


class ServedCurator(Curator):
    """A curator that another user runs than whoever asks."""

    serves: ClassVar[bool] = True
    settings: Settings
    each: dict[str, ServedDataset]
    opening: ServedDataset | None = None

    @classmethod
    def of(
        cls, settings: Settings, chance: Chance | None = None, studies: str | None = None
    ) -> ServedCurator:
        """Open a service's home, and every dataset that it serves: what is wrong with one is told before anybody asks.

        Raises
        ------
        OwnerError, SchemaError
            Naming the dataset.
        """
        made = cls.opened(Config(settings.home, studies=studies), chance)
        made.settings, made.each = settings, {}
        if made.frozen is not None:
            made.close()
            raise FrozenError(owners_words(made.frozen))
        try:
            for served in settings.datasets.values():
                made.prepare_served(served)
        except BaseException:
            made.close()
            raise
        return made

    def prepare_served(self, served: ServedDataset) -> None:
        """Open a dataset for the owner, and note what each analyst may spend of it.

        Raises
        ------
        OwnerError
            When two served datasets are one in the ledger, or a cap is of another measure than the budget.
        """
        self.opening = served
        self._open_served(served, OWNER)

    def open_served(self, name: str, principal: str) -> AttachedReply:
        """Open a dataset for a principal."""
        served = self.settings.datasets.get(name)
        if served is None:
            raise SchemaError(self._unknown(name))
        try:
            reply = self._open_served(served, principal)
        except (OwnerError, SchemaError) as fault:
            self.note(fault, f"open {name}")
            raise _ToldOwnerError(
                f"{name} cannot be opened now: its owner finds the reason in the service's log."
            ) from None
        notes = [*reply.notes, f"You ask as {principal}. Another user holds data and ledger."]
        return AttachedReply(
            handle=reply.handle,
            schema=reply.schema,
            data_version=reply.data_version,
            mode=reply.mode,
            notes=notes,
            budget=reply.budget,
        )

    def known_as(self, handle: str, principal: str) -> str:
        """Return the name in the ledger of a dataset that a principal has open."""
        return self._find(handle, principal).known_as

    def whole_statement(self, request: Statement, principal: str) -> Any:
        """Tell every entry of the ledger of a dataset that an auditor has open, whoever it is of."""
        return self._statement_of(request, principal, None)

    def _open_served(self, served: ServedDataset, principal: str) -> AttachedReply:
        return self._attach(Attach(source=served.source, mode=Mode.ENFORCED.value), principal)

    def _each(self, attached: Attached) -> PrivacyLoss | None:
        """Return what each analyst may spend; a schema whose name changed since the start has none, and is not opened."""
        if self.opening is not None:
            if attached.known_as in self.each:
                raise OwnerError(
                    f"[datasets.{self.opening.name}] and another dataset are one in the ledger: name their schemas apart."
                )
            self.each[attached.known_as], self.opening = self.opening, None
        known = self.each.get(attached.known_as)
        if known is None:
            raise OwnerError("The name in this schema has changed: start the service anew.")
        if known.each is not None and known.each.measure is not attached.budget.measure:
            raise OwnerError(
                f"[datasets.{known.name}]: each is kept as the budget is, in {attached.budget.measure.symbol}."
            )
        return None if known.each is None else known.each.cap

    def _unknown(self, name: str) -> str:
        close = nearest(name, list(self.settings.datasets))
        return f"No dataset {name!r} is served here. " + (f"Did you mean {close}?" if close else "")


class Desk:
    """What a server of a service serves.

    Parameters
    ----------
    curator : ServedCurator
    """

    def __init__(self, curator: ServedCurator) -> None:
        self.curator = curator
        self.counts: Counter[str] = Counter()
        self._running: set[str] = set()
        self._opened: dict[tuple[str, str], str] = {}
        self._counting = threading.Lock()

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
            return encode(self._reply(request, token))
        except Exception as error:  # noqa: BLE001 - whatever it is, only its code may leave
            return self._failure(error, kind)

    def count(self, what: str) -> None:
        """Count something for the figures of the service."""
        with self._counting:
            self.counts[what] += 1

    def refuse_charges(self) -> None:
        """Charge nothing from now on."""
        self.curator.refuse_charges()

    def listen(self, told: Callable[[], None]) -> None:
        """Call somebody whenever the ledger grew."""
        self.curator.listen(told)

    def close(self) -> None:
        """Close the ledger and the engines."""
        self.curator.close()

    def _reply(self, request: ServiceRequest, token: Token) -> Any:
        if isinstance(request, Hello):
            return self.curator.reply(request, token.principal)
        self.curator.refuse_frozen()
        if isinstance(request, Open):
            return self._open(request, token)
        if isinstance(request, Statement) and request.handle is None:
            raise PlanError("Name the dataset whose ledger you want to read.")
        self._allow(getattr(request, "handle", None), token)
        if isinstance(request, Statement) and "audit" in token.scopes:
            return self.curator.whole_statement(request, token.principal)
        token.need("release")
        if isinstance(request, Detach):  # the prepared copy is everybody's
            request = Detach(handle=request.handle)
        if not isinstance(request, Submit):
            return self.curator.reply(request, token.principal)
        with self._one_at_a_time(token.principal):
            return self.curator.reply(request, token.principal)

    def _open(self, request: Open, token: Token) -> AttachedReply:
        if not token.opens(request.name):
            raise AccessError(f"Your token is not for {request.name}. Nothing was spent.")
        reply = self.curator.open_served(request.name, token.principal)
        self._opened[token.principal, reply.handle] = request.name
        return reply

    def _allow(self, handle: str | None, token: Token) -> None:
        """Refuse a handle that another token of the same principal opened."""
        name = None if handle is None else self._opened.get((token.principal, handle))
        if name is not None and not token.opens(name):
            raise AccessError(f"Your token is not for {name}. Nothing was spent.")

    @contextmanager
    def _one_at_a_time(self, principal: str) -> Iterator[None]:
        with self._counting:
            if principal in self._running:
                raise PlanError(
                    "Another batch of yours is running: wait for it, and run this again. Nothing was spent."
                )
            self._running.add(principal)
        try:
            yield
        finally:
            with self._counting:
                self._running.discard(principal)

    def _failure(self, error: Exception, kind: str) -> bytes:
        if isinstance(error, OwnerError) and not isinstance(error, _ToldOwnerError):
            self.curator.note(error, kind)
            error = OwnerError("The service cannot do this now: its owner finds the reason in its log.")
        self.count(f"refused {error.code if isinstance(error, DpnbError) else 'internal'}")
        return self.curator.failure(error, kind)


def refusal(error: DpnbError) -> bytes:
    """Return the reply of the door."""
    return encode(Failure(**to_wire(error)))
