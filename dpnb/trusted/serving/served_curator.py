"""The curator of a service: datasets that its owner named, opened when it starts, each ENFORCED.

The owner's act of attaching happens once. Analysts are handed what is open: they read no schema, no file, and pin nothing. What
an owner changes meanwhile takes effect when the service is started anew.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.guard import owners_words
from dpnb.trusted.curator.open_dataset import Attached
from dpnb.trusted.curator.release import Chance, Wanted
from dpnb.trusted.curator.service import Curator
from dpnb.trusted.curator.terms import Terms, compare
from dpnb.trusted.errors import CuratorGone, FrozenError, OwnerError, SchemaError
from dpnb.trusted.schema import Mode, nearest
from dpnb.trusted.serving.settings import ServedDataset, Settings
from dpnb.trusted.wire.codec import raw
from dpnb.trusted.wire.messages import Attach, Statement, StatementOf
from dpnb.trusted.wire.messages import Attached as AttachedReply

OWNER = "(owner)"
"""Who opens every dataset at the start: no principal of a token can be called so."""


@dataclass(frozen=True, slots=True)
class BucketedChance(Chance):
    """Chance whose answers are stored, and thereby known, at a whole multiple of a bucket after their charge.

    Parameters
    ----------
    bucket : float
        Seconds; 0 waits for nothing.
    late : callable
        Told of an answer that missed the first bucket.
    """

    bucket: float = 0.0
    late: Callable[[], None] = lambda: None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def settling(self) -> Callable[[], None]:
        """Return what waits for the next edge, counted from now."""
        began = self.clock()

        def settle() -> None:
            took = self.clock() - began
            if took > self.bucket > 0:
                self.late()
            if self.bucket > 0:
                self.sleep(math.ceil(took / self.bucket) * self.bucket - took)

        return settle


class ServedCurator(Curator):
    """A curator that another user runs than whoever asks."""

    serves: ClassVar[bool] = True
    settings: Settings
    served: dict[str, Attached]
    may_ask: dict[str, Callable[[], None]]
    """What refuses a principal whose batch is under way, where they may ask no more."""

    @classmethod
    def of(
        cls, settings: Settings, chance: Chance | None = None, studies: str | None = None
    ) -> ServedCurator:
        """Open a service's home, and every dataset that it serves: what is wrong with one is told before anybody asks.

        Raises
        ------
        OwnerError, SchemaError
            Naming the dataset.
        FrozenError
            When the ledger is not the one that answers were given from.
        """
        made = cls.opened(Config(settings.home, studies=studies), chance)
        made.settings, made.served, made.may_ask = settings, {}, {}
        if made.frozen is not None:
            made.close()
            raise FrozenError(owners_words(made.frozen))
        try:
            for one in settings.datasets.values():
                made.served[one.name] = made.open_first(one)
        except BaseException:
            made.close()
            raise
        return made

    def open_served(self, name: str, principal: str) -> AttachedReply:
        """Open a dataset for a principal."""
        first = self.served.get(name)
        if first is None:
            raise SchemaError(self._unknown(name))
        pinned = self._ledger.pins(first.known_as)
        if pinned is None or compare(pinned, Terms.of(first.schema, first.known_as)):
            raise CuratorGone(f"The owner changed the terms of {name}: the service has to be started anew.")
        with self._attaching:
            attached = self._keep(first.for_principal(principal), principal)
        return AttachedReply(
            handle=attached.handle,
            schema=raw(attached.schema.to_json()),
            data_version=attached.data_version,
            mode=attached.schema.mode.value,
            notes=[*attached.notes, f"You ask as {principal}. Another user holds data and ledger."],
            budget=self._state(attached, principal),
        )

    def whole_statement(self, request: Statement, principal: str) -> StatementOf:
        """Tell every entry of the ledger of a dataset that an auditor has open, whoever it is of."""
        return self._statement_of(request, principal, None)

    def open_first(self, one: ServedDataset) -> Attached:
        """Open a dataset as its owner."""
        reply = self._attach(Attach(source=one.source, mode=Mode.ENFORCED.value), OWNER)
        attached = self._find(reply.handle, OWNER)
        attached.each = None if one.each is None else one.each.cap
        for name, other in self.served.items():
            if other.known_as == attached.known_as:
                raise OwnerError(
                    f"[datasets.{one.name}] and {name} are one in the ledger: name their schemas apart."
                )
            if other.pool == attached.pool and other.each != attached.each:
                raise OwnerError(f"[datasets.{one.name}] and {name} share a budget: give both the same each.")
        if attached.each is not None and attached.each.measure is not attached.budget.measure:
            symbol = attached.budget.measure.symbol
            raise OwnerError(f"[datasets.{one.name}]: each is kept as the budget is, in {symbol}.")
        return attached

    def _unless_cancelled(self, wanted: Wanted) -> Callable[[Callable[[], Any]], Any]:
        guard = super()._unless_cancelled(wanted)

        def allowed(charge: Callable[[], Any]) -> Any:
            self.may_ask[
                wanted.principal
            ]()  # before the lock of all charges: a slow Hub holds up nobody else's
            return guard(charge)

        return allowed

    def _unknown(self, name: str) -> str:
        close = nearest(name, list(self.served))
        return f"No dataset {name!r} is served here. " + (f"Did you mean {close}?" if close else "")
