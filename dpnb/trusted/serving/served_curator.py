"""The curator of a service: datasets that its owner named, opened when it starts, each ENFORCED.

The owner's act of attaching happens once. Analysts are handed what is open: they read no schema, no file, and pin nothing. What
an owner changes meanwhile takes effect when the service is started anew, or asked to take it up.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import ClassVar

from dpnb.trusted.canonical import read_json
from dpnb.trusted.curator.admission import Limit
from dpnb.trusted.curator.answer_store import EVERYBODY
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.open_dataset import Attached
from dpnb.trusted.curator.release import Guarded, PendingBatch, Randomness, cost, enough, looked_up
from dpnb.trusted.curator.service import Curator, own_cap
from dpnb.trusted.curator.terms import compare
from dpnb.trusted.curator.totals import ChargeRow
from dpnb.trusted.errors import CuratorGone, DpnbError, OwnerError, PlanError, SchemaError
from dpnb.trusted.schema import Mode, nearest
from dpnb.trusted.serving.allowances import (
    BYTES,
    LETTERS,
    LONG,
    NUMBERS,
    TIMES,
    VECTOR,
    LongLane,
    Stored,
    WorkBuckets,
    numbers_of,
    work_of,
)
from dpnb.trusted.serving.health import disk_fault, share_left
from dpnb.trusted.serving.settings import ServedDataset, Settings
from dpnb.trusted.serving.tokens import Token
from dpnb.trusted.wire.messages import Attach, Cap, Peek, Receipt, Receipted, Statement, StatementOf, Submit
from dpnb.trusted.wire.messages import Attached as AttachedReply

_TOKEN = "what its owner lets your token spend, "  # noqa: S105 - words
OWNER = "(owner)"
"""Who opens every dataset at the start: no principal of a token can be called so."""


@dataclass(frozen=True, slots=True)
class BucketedRandomness(Randomness):
    """Randomness whose answers are stored, and thereby known, at a whole multiple of a bucket after their charge.

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


@dataclass(frozen=True, slots=True)
class Asking:
    """A request under way: the token that brought it, and what looks at the token again."""

    token: Token
    check: Callable[[], Token]
    held: ExitStack
    """What it holds until it is answered."""


_ASKING: ContextVar[Asking] = ContextVar("asking")
"""Of this thread. A request that is answered outside of :meth:`ServedCurator.asked_by` fails."""


class ServedCurator(Curator):
    """A curator that another user runs than whoever asks."""

    serves: ClassVar[bool] = True
    settings: Settings
    served: dict[str, Attached]
    declared: dict[str, ServedDataset]
    """What the owner's file says of a dataset, by its name in the ledger."""
    work: WorkBuckets
    long: LongLane
    stored: dict[tuple[str, str], Stored]
    """What is stored for a principal of a pool, as far as that was asked."""

    @classmethod
    def of(
        cls, settings: Settings, randomness: Randomness | None = None, studies: str | None = None
    ) -> ServedCurator:
        """Open a service's home, and every dataset that it serves: what is wrong with one is told before anybody asks.

        Raises
        ------
        OwnerError, SchemaError
            Naming the dataset.
        FrozenError
            When the ledger is not the one that answers were given from.
        """
        made = cls.opened(Config(settings.home, studies=studies), randomness)
        made.settings, made.served, made.declared, made.stored = settings, {}, {}, {}
        made.work, made.long = WorkBuckets(settings.work), LongLane()
        made.refuse_to_start()
        try:
            for one in settings.datasets.values():
                made.served[one.name] = made.open_first(one, {})
        except BaseException:
            made.close()
            raise
        return made

    @contextmanager
    def asked_by(self, token: Token, check: Callable[[], Token]) -> Iterator[None]:
        """Answer what this thread asks within the block to a token; `check` returns it as it stands later, or refuses it."""
        with ExitStack() as held:
            mine = _ASKING.set(Asking(token, check, held))
            try:
                yield
            finally:
                _ASKING.reset(mine)

    def _take(self, principal: str, units: int) -> None:
        """Take work from a principal's bucket, and wait where it is much."""
        self.work.take(principal, units)
        self._wait(units)

    def _wait(self, units: int) -> None:
        """Let one long request be answered at a time, so that short ones do not wait for many; a token revoked meanwhile is refused."""
        if units > LONG:
            _ASKING.get().held.enter_context(self.long)
            _ASKING.get().check()

    def open_served(self, name: str, principal: str) -> AttachedReply:
        """Open a dataset for a principal."""
        first = self.served.get(name)
        if first is None:
            raise SchemaError(self._unknown(name))
        if self._outdated(first):
            raise CuratorGone(
                f"The owner changed the terms of {name}, and the service has not loaded them yet."
            )
        with self._attaching:
            attached = self._keep(first.for_principal(principal), principal)
        return self._opened(attached, principal, self._whom(attached, principal))

    def _outdated(self, first: Attached) -> bool:
        pinned = self._ledger.pins(first.known_as)
        return pinned is None or bool(compare(pinned, first.terms))

    def take_up(self, settings: Settings) -> None:
        """Take up the owner's file as it is now, and the terms that the owner changed; what cannot be is told in the log, and stays as it was.

        What an analyst may do holds from now on; everything else there from the next start.
        """
        before, lives = self.settings, ("work", "free_disk", "datasets")
        names = [one.name for one in fields(Settings) if one.name not in lives]
        waits = [name for name in names if getattr(before, name) != getattr(settings, name)]
        kept = {name: one.source for name, one in before.datasets.items()}
        new = {name: one for name, one in settings.datasets.items() if one.source == kept.get(name)}
        waits += [f"[datasets.{name}]" for name in sorted({*kept, *settings.datasets} - set(new))]
        for name, one in sorted(new.items()):
            try:
                self._declare(one, self.served[name], new)
                if self._outdated(self.served[name]):
                    self.served[name] = self.open_first(one, new)
            except DpnbError as fault:
                self.note(fault, f"taking up {name}")
        if waits:
            told = f"{settings.file.name}: {', '.join(waits)} changed. This holds from the next start of the service."
            self.note(OwnerError(told), "taking up the configuration")
        if settings.work != before.work:
            self.work = WorkBuckets(settings.work)
        datasets = {name: self.declared[one.known_as] for name, one in self.served.items()}
        self.settings = replace(before, work=settings.work, free_disk=settings.free_disk, datasets=datasets)

    def shares_left(self) -> dict[str, float]:
        """Return what is left of each dataset's budget, rounded as an operator is told."""
        return {
            name: share_left(self._ledger.spent(one.pool).amount, one.budget.cap.amount)
            for name, one in self.served.items()
        }

    def whole_statement(self, request: Statement, principal: str) -> StatementOf:
        """Tell every entry of the ledger of a dataset that an auditor has open, whoever it is of."""
        return self._statement_of(request, principal, None)

    def for_groups(self, request: Statement | Receipt, token: Token) -> StatementOf | Receipted:
        """Tell an instructor their own entries or receipts, and those of what was charged to the caps of their groups."""
        declared = self.declared[self._find(str(request.handle), token.principal).known_as]
        shares = [f"group/{name}" for name in declared.named_for(token)]
        if isinstance(request, Receipt):
            return self._receipt_of(request, token.principal, shares)
        return self._statement_of(request, token.principal, token.principal, shares)

    def open_first(self, one: ServedDataset, new: Mapping[str, ServedDataset]) -> Attached:
        """Open a dataset as its owner; `new` is what the owner's file says now."""
        reply = self._attach(Attach(source=one.source, mode=Mode.ENFORCED.value), OWNER)
        attached = self._find(reply.handle, OWNER)
        self._declare(one, attached, new)
        return attached

    def _declare(self, one: ServedDataset, attached: Attached, new: Mapping[str, ServedDataset]) -> None:
        """Let hold what the owner's file says of an open dataset, unless it contradicts that or another dataset, as that is said now."""
        for name, other in self.served.items():
            if name == one.name:
                continue
            if other.known_as == attached.known_as:
                raise OwnerError(
                    f"[datasets.{one.name}] and {name} are the same dataset in the ledger: give their schemas different names."
                )
            said = new.get(name, self.declared[other.known_as])
            if other.pool == attached.pool and (said.each, said.groups) != (one.each, one.groups):
                raise OwnerError(
                    f"[datasets.{one.name}] and {name} share a budget: give both the same each and groups."
                )
        for named, cap in {"each": one.each, **one.groups}.items():
            if cap is not None and cap.measure is not attached.budget.measure:
                symbol = attached.budget.measure.symbol
                raise OwnerError(f"[datasets.{one.name}]: {named} must be in {symbol}, like the budget.")
        self.declared[attached.known_as] = one

    def _whom(self, attached: Attached, principal: str) -> str:
        """Say as whom an analyst asks."""
        declared, token = self.declared[attached.known_as], _ASKING.get().token
        groups = "".join(
            f", in the group {name}, which may spend {declared.groups[name].label} together"
            for name in declared.groups_of(token)
        )
        may = "" if declared.each is None else f" You may spend {declared.each.label}."
        with_it = f" Your token may spend ε {token.epsilon}." if token.epsilon else ""
        return f"You ask as {principal}{groups}.{may}{with_it} Another user has the data and the ledger."

    def _caps(self, attached: Attached, principal: str) -> tuple[Limit, ...]:
        """Return what the owner lets an analyst, their groups and their token spend."""
        if principal == OWNER:
            return ()
        one, token = self.declared[attached.known_as], _ASKING.get().token
        caps = [] if one.each is None else [Limit("what its owner lets each analyst spend, ", one.each.cap)]
        for name in one.groups_of(token):
            words = f"what its owner lets the group {name} spend, "
            caps.append(Limit(words, one.groups[name].cap, f"group/{name}"))
        mine = own_cap(Cap(handle=attached.handle, epsilon=token.epsilon), attached)
        return (*caps, *([] if mine is None else [Limit(_TOKEN, mine, f"token/{token.id}")]))

    def _store(self, attached: Attached) -> str | None:
        """Return the store that the owner lets whoever asks share: everybody's, or that of the first of their groups."""
        one = self.declared.get(attached.known_as)
        if one is None or one.store == "principal":
            return None
        if one.store == "everyone":
            return EVERYBODY
        return next((f"group/{name}" for name in one.groups_of(_ASKING.get().token)), None)

    def _batch(self, request: Peek | Submit, attached: Attached, principal: str) -> PendingBatch:
        self._take(principal, len(bytes(request.plan)) // LETTERS)
        batch = super()._batch(request, attached, principal)
        if isinstance(request, Submit):
            self._take(principal, numbers_of(batch.questions) // NUMBERS)
        return batch

    def _receipt_of(self, request: Receipt, principal: str, shares: Collection[str] = ()) -> Receipted:
        query = "SELECT total(length(answer)) FROM charges JOIN answers ON charge = charges.entry JOIN stored USING (charge) "
        # of their own charges alone: nobody learns how long another's answer is
        with self._ledger.beside() as db:
            mine = f"{query} WHERE charges.entry = ? AND principal = ? AND stored.entry = answers.entry"
            (size,) = db.execute(mine, (request.entry, principal)).fetchone()
        self._take(principal, size // BYTES)
        return super()._receipt_of(request, principal, shares)

    def _unless_cancelled(self, batch: PendingBatch, attached: Attached) -> Guarded:
        guard = super()._unless_cancelled(batch, attached)

        def allowed(charge: Callable[[], ChargeRow]) -> ChargeRow:
            stored = self._stored(batch.principal, attached)
            units = work_of(batch.questions, attached.schema.unit)
            try:
                self._refuse_full(attached, stored, batch)
                self.work.take(batch.principal, units, whole=True)
            except DpnbError:
                if self._pays(batch, attached):
                    raise
            self._wait(units)
            # after all that waits; before the lock of all charges: a slow Hub holds up no short one of others
            _ASKING.get().check().need("release")
            row = guard(charge)
            if row.new:
                names = {question["measured"] for question in row.questions}
                mine = [one for one in batch.questions if one.measured in names]
                stored.add(numbers_of(mine, batch.again), row.questions)
            return row

        return allowed

    def _pays(self, batch: PendingBatch, attached: Attached) -> bool:
        """Say whether a batch is charged now: what was charged, to it or to one that it adopts, is completed whatever is allowed since."""
        unpaid = self._ledger.charged(batch.request, batch.principal) is None
        stored = enough(batch, looked_up(batch, attached, self._ledger), attached, self._ledger)
        return unpaid and bool(cost(batch, stored, attached, self._ledger))

    def _stored(self, principal: str, attached: Attached) -> Stored:
        """Return what is stored for a principal of a dataset's pool; the ledger is read once in a life."""
        place = principal, attached.pool
        if place not in self.stored:
            query = "SELECT body FROM charges JOIN entries USING (entry) WHERE principal = ? AND pool = ?"
            with self._ledger.beside() as db:
                self.stored[place] = Stored(read_json(body) for (body,) in db.execute(query, place))
        return self.stored[place]

    def _refuse_full(self, attached: Attached, stored: Stored, batch: PendingBatch) -> None:
        """Refuse what there is no room for, before it is charged."""
        home, most = self.settings.home.root, self.declared[attached.known_as].numbers
        if (word := disk_fault(home, self.settings.free_disk)) is not None:
            raise OwnerError(f"The disk of {home} is {word}: nothing is charged until there is room.")
        more = numbers_of(batch.questions, batch.again)
        if stored.numbers + more > most:
            raise PlanError(
                f"This cell stores up to {more:,} numbers (a vector counts {VECTOR} more than it has, and long texts and conditions count); "
                f"{max(most - stored.numbers, 0):,} of the {most:,} that you may store of this dataset are left. Ask fewer groups or questions; "
                "the owner can raise numbers = in the service's file. Nothing was spent."
            )
        if any(stored.times[one.measured] >= TIMES for one in batch.questions):
            raise PlanError(
                f"You had one of these questions measured {TIMES} times, which is the most: ask it at a loss that you asked before, in a "
                "cell of its own and without again=True. Nothing was spent."
            )

    def _unknown(self, name: str) -> str:
        close = nearest(name, list(self.served))
        return f"No dataset {name!r} is served here. " + (f"Did you mean {close}?" if close else "")
