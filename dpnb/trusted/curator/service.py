"""The curator's answers to messages. It trusts nothing that a kernel computed: it derives what a plan costs from what is measured.

A refusal changes nothing. What was not expected becomes one constant code on the wire; its details go to the owner's log,
which holds the request's kind and the fault, never a row.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from dpnb.trusted.canonical import JsonObject, Record, canonical
from dpnb.trusted.curator import failpoints
from dpnb.trusted.curator.admission import Limit
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.content import WrongSize
from dpnb.trusted.curator.engines import Engine
from dpnb.trusted.curator.engines.copies import system_of
from dpnb.trusted.curator.guard import REFUSAL, owners_words
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.open_dataset import Attached, Copy, PreparedCopies, sweep
from dpnb.trusted.curator.receipts import refuse_entry, signed_receipt, signing_key
from dpnb.trusted.curator.release import Guarded, PendingBatch, Randomness, cost, enough, looked_up, release
from dpnb.trusted.curator.sources import OpenedSource, look_up
from dpnb.trusted.curator.statement import StatementRow
from dpnb.trusted.curator.terms import compare, taught
from dpnb.trusted.curator.totals import ChargeRow, Room
from dpnb.trusted.curator.upkeep import Upkeep
from dpnb.trusted.errors import (
    CuratorError,
    CuratorGone,
    DpnbError,
    FrozenError,
    LossError,
    OwnerError,
    PlanError,
    to_wire,
)
from dpnb.trusted.privacy.conversion import pure_rho
from dpnb.trusted.privacy.loss import PrivacyLoss, positive
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.plan import Plan, digest_of
from dpnb.trusted.query.price import ChargedPlan, charged_for
from dpnb.trusted.releases.signature import public_key
from dpnb.trusted.wire.codec import MAX_LIST, decode_request, encode, exact_json, limited, raw
from dpnb.trusted.wire.messages import (
    MOST_ROWS,
    PROTOCOL,
    Again,
    Answered,
    Attach,
    BudgetState,
    Cancel,
    Cancelled,
    Cap,
    Describe,
    Described,
    Detach,
    Done,
    Failure,
    Hello,
    Peek,
    Peeked,
    Receipt,
    Receipted,
    Reply,
    Request,
    Reset,
    Statement,
    StatementOf,
    Submit,
    Welcome,
)
from dpnb.trusted.wire.messages import Attached as AttachedReply
from dpnb.trusted.wire.places import Home

_MOST_CANCELLED = 10_000
"""Of each principal."""
_KEPT = 16_384
"""Bytes of a plan whose price is kept for the request after it."""
_ATTEMPTS = 3
"""How often a copy is prepared that is removed again before it is opened."""
_TOLD = ("entry", "time", "kind", "hash", "dataset", "principal", "answered")
"""What is told of an act as it stands in the statement."""
_LONGEST_MESSAGE = 2_000


class Curator:
    """The holder of the data of one home. ``serves`` says whether another user than the kernel's runs it.

    Parameters
    ----------
    home : Home
    ledger : Ledger
    shelf : PreparedCopies
    randomness : Randomness
        Noise bits, draw ids and the clock; a test may bring its own.
    studies : str, optional
        The module that finds public studies by name.
    """

    serves: ClassVar[bool] = False

    def __init__(
        self,
        home: Home,
        ledger: Ledger,
        shelf: PreparedCopies,
        randomness: Randomness | None = None,
        studies: str | None = None,
    ) -> None:
        self._home = home
        self._studies = studies
        self._ledger = ledger
        self._copies = shelf
        self._randomness = randomness or Randomness()
        self._open: dict[tuple[str, str], Attached] = {}
        self._attaching = threading.Lock()
        self._deciding = threading.Condition()
        self._charging: Counter[tuple[str, str]] = Counter()
        self._cancelled: dict[str, dict[str, None]] = {}
        self._ending = False
        self._upkeep: Upkeep | None = None

    @classmethod
    def opened(cls, config: Config, randomness: Randomness | None = None) -> Self:
        """Open a home's ledger and copies, and look after them."""
        home = config.home.make()
        service = cls(
            home, Ledger(home.ledger), PreparedCopies(home, _prepare, _engine), randomness, config.studies
        )
        if service.frozen is None:
            sweep(home)
        service._upkeep = Upkeep(service._ledger, service.note, service._copies.keep).start()
        return service

    @property
    def frozen(self) -> str | None:
        """Why nothing is released, or None: what is wrong with the ledger, in words for its owner."""
        return self._ledger.frozen

    def refuse_frozen(self) -> None:
        """Tell nothing of a frozen ledger."""
        if self.frozen is not None:
            raise FrozenError(REFUSAL) from CuratorError(self.frozen)

    def refuse_to_start(self) -> None:
        """Refuse to serve a frozen ledger: whoever opens a home on their own machine is its owner, and hears the whole of it."""
        if self.frozen is not None:
            self.close()
            raise FrozenError(owners_words(self.frozen))

    def close(self) -> None:
        """Close every engine and the ledger."""
        if self._upkeep is not None:
            self._upkeep.close()
        self._open.clear()
        self._copies.close()
        self._ledger.close()

    def listen(self, told: Callable[[], None]) -> None:
        """Call somebody whenever the ledger grew; it hears that, and nothing else."""
        self._ledger.listen(told)

    def note(self, error: BaseException, what: str = "") -> None:
        """Write a fault to the owner's log; where a service cannot, its own error stream has the little that may be told."""
        if not self._home.note(self._randomness.now(), what, error) and self.serves:
            sys.stderr.write(f"{what}: {to_wire(error)['message']}\n")

    # messages --------------------------------------------------------------------------------------------------

    def answer(self, body: bytes, principal: str) -> bytes:
        """Answer one request body; every error becomes a :class:`Failure`."""
        asked = self.read(body)
        return asked if isinstance(asked, bytes) else self.carry_out(asked, principal)

    def read(self, body: bytes) -> Request | bytes:
        """Read one request body, or return the :class:`Failure` that refuses it."""
        try:
            return decode_request(body)
        except Exception as error:  # noqa: BLE001 - whatever it is, only its code may leave
            return self.failure(error, "")

    def carry_out(self, request: Request, principal: str) -> bytes:
        """Answer one request; every error becomes a :class:`Failure`."""
        try:
            return encode(self.reply(request, principal))
        except Exception as error:  # noqa: BLE001 - whatever it is, only its code may leave
            return self.failure(error, type(request).__name__)

    def failure(self, error: Exception, kind: str) -> bytes:
        """Return the reply to a request that failed; what nobody but the owner may know goes to the log."""
        if not isinstance(error, DpnbError) or type(error) in {CuratorError, FrozenError}:
            self.note(error, kind)
        told = to_wire(error)
        if len(told["message"]) > _LONGEST_MESSAGE:  # it names what was asked, which may be long
            told["message"] = told["message"][:_LONGEST_MESSAGE] + " …"
        return encode(Failure(**told))

    def refuse_charges(self) -> None:
        """Charge nothing from now on: this curator is about to end, and the next one is asked again."""
        self._ending = True

    def reply(self, request: Request, principal: str) -> Reply:
        """Answer one request; of a frozen ledger nothing is told, so that no card shows a budget that it forgot."""
        if not isinstance(request, Hello):
            self.refuse_frozen()
        answer: Callable[[Any, str], Reply] = _ANSWERS[type(request)]
        return answer(self, request, principal)  # type: ignore[call-arg,arg-type]

    def _hello(self, _: Hello, __: str) -> Welcome:
        return Welcome(protocol=PROTOCOL, pid=os.getpid())

    def _attach(self, request: Attach, principal: str) -> AttachedReply:
        if isinstance(request.source, Again):
            with self._attaching:
                attached = self._admitted(self._again(request.source.handle, principal), principal)
        else:
            attached = self._opened_anew(request, principal)
        return self._opened(attached, principal)

    def _opened(self, attached: Attached, principal: str, *notes: str) -> AttachedReply:
        return AttachedReply(
            handle=attached.handle,
            schema=raw(attached.schema.to_json()),
            data_version=attached.data_version,
            mode=attached.schema.mode.value,
            notes=[*attached.notes, *self._held(attached), *notes],
            budget=self._state(attached, principal),
        )

    def _opened_anew(self, request: Attach, principal: str) -> Attached:
        """Read what is named, which may take long and keeps nobody waiting, and open it, which is short."""
        source = cast("Any", request.source)
        found = look_up(source, request.mode, self._home, self._studies, serves=self.serves)
        with found, found.schema_named():
            for _ in range(_ATTEMPTS):
                copy = self._prepared(found, principal)
                with self._attaching:
                    made = self._copies.attach(found, copy, self._ledger, principal, self._randomness.now())
                    if made is not None:
                        return self._admitted(made, principal)
        raise CuratorGone("The prepared copy of this dataset was removed meanwhile. Open the dataset again.")

    def _prepared(self, found: OpenedSource, principal: str) -> Copy:
        """Prepare what was found; a size that is not the declared one is counted, and refused without the true one."""
        try:
            return self._copies.prepared(found)
        except WrongSize as wrong:
            now = self._randomness.now()
            instead = self._ledger.count_wrong_size(found.known_as, found.marks, by=principal, time=now)
            raise (wrong if instead is None else OwnerError(instead)) from None

    def _admitted(self, attached: Attached, principal: str) -> Attached:
        kept = self._keep(attached, principal)
        self._drop_older_terms(kept)
        return kept

    def _held(self, attached: Attached) -> list[str]:
        """What the card must say where the owner froze or closed a dataset."""
        held = self._ledger.held(attached.known_as)
        return [] if held is None else [held]

    def _again(self, handle: str, principal: str) -> Attached:
        kept = self._open.get((principal, handle))
        return kept if kept is not None else self._copies.again(handle, self._ledger, principal)

    def _keep(self, attached: Attached, principal: str) -> Attached:
        """Keep what is open already, unless it paid from another pool: a batch under way is then refused at its charge."""
        kept = self._open.get((principal, attached.handle))
        if kept is None or kept.pool != attached.pool:
            self._open[principal, attached.handle] = attached
            return attached
        if kept is not attached:
            kept.schema, kept.terms = attached.schema, attached.terms
            kept.budget, kept.notes = attached.budget, attached.notes
        return kept

    def _drop_older_terms(self, attached: Attached) -> None:
        """Close what is open under other terms than those just pinned: a tightened promise holds from now on."""
        now = attached.terms
        for place, other in list(self._open.items()):
            mine = other.known_as == attached.known_as and other is not attached
            if mine and not taught(other.terms, now) and compare(now, other.terms):
                del self._open[place]

    def _find(self, handle: str, principal: str) -> Attached:
        attached = self._open.get((principal, handle))
        if attached is None:
            raise CuratorGone("The curator was restarted and has not opened this dataset yet.", reattach=True)
        return attached

    def _describe(self, request: Describe, principal: str) -> Described:
        attached = self._find(request.handle, principal)
        return Described(schema=raw(attached.schema.to_json()), budget=self._state(attached, principal))

    def _peek(self, request: Peek, principal: str) -> Peeked:
        attached = self._find(request.handle, principal)
        batch = self._batch(request, attached, principal)
        found = looked_up(batch, attached, self._ledger)
        stored = enough(batch, found, attached, self._ledger)
        asked = cost(batch, stored, attached, self._ledger)
        if asked:
            self._ledger.refuse_held(attached.known_as)
        room = self._room(attached, principal)
        return Peeked(
            stored=[one is not None for one in stored],
            cost=raw(asked.to_json()),
            **_told(room),
            held=raw([None if one is None else one.paid for one in found]),
            admitted=asked.fits_in(room.left),
        )

    def _submit(self, request: Submit, principal: str) -> Answered:
        failpoints.at("received")
        attached = self._find(request.handle, principal)
        batch = self._batch(request, attached, principal)
        failpoints.at("checked")
        with attached.lock:
            if self._find(request.handle, principal) is not attached:
                raise CuratorGone("This dataset was closed and opened again meanwhile.", reattach=True)
            guard = self._unless_cancelled(batch, attached)
            given = release(batch, attached, self._ledger, self._randomness, guard)
        room = given.room or self._room(attached, principal)
        answered = Answered(
            request=request.request,
            releases=raw(given.records),
            charged=raw(given.charged.to_json()),
            **_told(room),
            entry=given.entry,
            before=raw(None if given.before is None else given.before.to_json()),
        )
        failpoints.at("before-send")
        return answered

    def _batch(self, request: Peek | Submit, attached: Attached, principal: str) -> PendingBatch:
        charged, again, digest = _priced(bytes(request.plan), attached)
        measure = attached.schema.budget.measure
        mine = self._caps(attached, principal), self._store(attached)
        if isinstance(request, Peek):
            return PendingBatch(principal, "", "", charged, measure, again, *mine)
        if digest != request.digest:
            raise PlanError("The plan is not the one that its digest names. Run the cell again.")
        return PendingBatch(principal, request.request, digest, charged, measure, again, *mine)

    def _store(self, attached: Attached) -> str | None:  # noqa: ARG002 - a service has some
        """Return the store that whoever asks now shares with others; None for their own."""
        return None

    def _caps(self, attached: Attached, principal: str) -> tuple[Limit, ...]:  # noqa: ARG002 - a service has some
        """Return the caps on whoever asks now, besides the budget and their own."""
        return ()

    def _unless_cancelled(self, batch: PendingBatch, attached: Attached) -> Guarded:  # noqa: ARG002 - a service looks at it
        def guard(charge: Callable[[], ChargeRow]) -> ChargeRow:
            place = batch.principal, batch.request
            with self._deciding:
                if self._ending:
                    raise CuratorGone("The curator is about to end. Nothing was spent. Run the line again.")
                if batch.request in self._cancelled.get(batch.principal, ()):
                    raise PlanError("Cancelled before the charge. Nothing was spent. Run the cell again.")
                self._charging[place] += 1
            try:
                return charge()
            finally:
                with self._deciding:
                    self._charging -= Counter([place])
                    self._deciding.notify_all()

        return guard

    def _cancel(self, request: Cancel, principal: str) -> Cancelled:
        with self._deciding:  # a charge that has begun is waited for: it is made, or refused
            self._deciding.wait_for(lambda: not self._charging[principal, request.request])
            if self._ledger.charged(request.request, principal) is None:
                mine = self._cancelled.setdefault(principal, {})
                mine[request.request] = None
                if len(mine) > _MOST_CANCELLED:
                    del mine[next(iter(mine))]
                return Cancelled(state="cancelled")
        answered = self._ledger.is_answered(request.request, principal)
        return Cancelled(state="answered" if answered else "charged")

    def _statement(self, request: Statement, principal: str) -> StatementOf:
        return self._statement_of(request, principal, principal)

    def _statement_of(
        self, request: Statement, principal: str, told_of: str | None, shares: Collection[str] = ()
    ) -> StatementOf:
        """Tell the rows of what a principal has open: those of one principal, and of what counts to some shares, or of all."""
        handles = (
            [request.handle]
            if request.handle
            else [handle for who, handle in list(self._open) if who == principal]
        )
        most = MOST_ROWS if request.handle else None
        names = dict.fromkeys(self._find(handle, principal).known_as for handle in handles)
        told = (
            self._ledger.statement(
                one, told_of, request.after, entries=request.entries, shares=shares, most=most
            )
            for one in names
        )
        rows = itertools.chain.from_iterable(told)
        whole = told_of is None or not self.serves
        listed = sorted(rows, key=lambda row: row.entry)
        return StatementOf(rows=raw([_row(row, row.note if whole else row.told) for row in listed]))

    def _receipt(self, request: Receipt, principal: str) -> Receipted:
        return self._receipt_of(request, principal)

    def _receipt_of(self, request: Receipt, principal: str, shares: Collection[str] = ()) -> Receipted:
        """Sign the receipt of a charge of what a principal has open: their own, or one that counts to some shares."""
        dataset, private = self._find(request.handle, principal).known_as, signing_key(self._home)

        def allowed(body: JsonObject) -> bool:
            theirs = body["principal"] == principal or not set(shares).isdisjoint(body.get("shares", ()))
            return theirs and body["dataset"] == dataset

        # an answer may be long: no charge waits while it is read and signed
        with self._ledger.beside() as db:
            signed = signed_receipt(db, request.entry, private, allowed)
        if signed is None:
            refuse_entry(request.entry)
        self._ledger.cover(signed["receipt"]["answered"])
        return Receipted(signed=raw(signed), key=public_key(private))

    def _cap(self, request: Cap, principal: str) -> Done:
        attached = self._find(request.handle, principal)
        cap = own_cap(request, attached)
        if cap != self._ledger.cap(principal, attached.pool):
            self._ledger.set_cap(principal, attached.pool, cap, time=self._randomness.now())
        return Done(budget=self._state(attached, principal))

    def _reset(self, request: Reset, principal: str) -> Done:
        attached = self._find(request.handle, principal)
        self._ledger.reset(attached.pool, by=principal, time=self._randomness.now())
        return Done(budget=self._state(attached, principal))

    def _detach(self, request: Detach, principal: str) -> Done:
        with self._attaching:
            attached = self._open.pop((principal, request.handle), None)
        if not request.remove:
            return Done()
        if attached is None:  # opened at an earlier curator, or under terms that were tightened since
            with self._attaching:
                self._remove(request.handle, self._copies.copy_of(request.handle, principal))
            return Done()
        # a batch under way is answered first; one that waits finds it closed
        with attached.lock, self._attaching:
            self._remove(request.handle, attached.copy)
        return Done()

    def _remove(self, handle: str, copy: Path | None) -> None:
        """Delete the copy of a handle, unless another open dataset is asked on it."""
        if copy is not None and not any(other.copy == copy for other in self._open.values()):
            self._copies.remove(handle, copy)

    # budgets ---------------------------------------------------------------------------------------------------

    def _room(self, attached: Attached, principal: str) -> Room:
        caps = self._caps(attached, principal)
        return self._ledger.room(attached.pool, principal, attached.budget.cap, caps)

    def _state(self, attached: Attached, principal: str) -> BudgetState:
        own = self._ledger.cap(principal, attached.pool)
        room = self._room(attached, principal)
        return BudgetState(
            budget=raw(attached.budget.to_json()),
            **_told(room),
            spent=raw(room.spent.to_json()),
            personal=raw(None if own is None else own.to_json()),
            mine=raw(self._ledger.spent(attached.pool, principal).to_json()),
        )


def _told(room: Room) -> Record:
    """What is left, under which cap, and whose that is."""
    return {"left": raw(room.left.to_json()), "cap": raw(room.cap.to_json()), "whose": room.whose}


_ANSWERS: dict[type, Any] = {
    Hello: Curator._hello,  # noqa: SLF001 - the table of this class's own methods
    Attach: Curator._attach,  # noqa: SLF001
    Describe: Curator._describe,  # noqa: SLF001
    Peek: Curator._peek,  # noqa: SLF001
    Submit: Curator._submit,  # noqa: SLF001
    Cancel: Curator._cancel,  # noqa: SLF001
    Statement: Curator._statement,  # noqa: SLF001
    Receipt: Curator._receipt,  # noqa: SLF001
    Cap: Curator._cap,  # noqa: SLF001
    Reset: Curator._reset,  # noqa: SLF001
    Detach: Curator._detach,  # noqa: SLF001
}


def _priced(text: bytes, attached: Attached) -> tuple[ChargedPlan, tuple[str, ...], str]:
    """Read a plan and price it, from its JSON and the public schema alone; one that was looked at is charged without reading it again.

    Returns
    -------
    (ChargedPlan, tuple of str, str)
        What it costs, what it measures again, its digest.
    """
    priced: tuple[ChargedPlan, tuple[str, ...], str]
    schema, (known, under, priced) = attached.schema, attached.priced
    if known == text and under is schema:
        return priced
    record = exact_json(text)
    if len(text) > MAX_LIST:  # no shorter one holds a list or a text beyond its limit
        limited(record)
    plan = Plan.from_json(record)
    priced = charged_for(plan, schema), plan.again, digest_of(canonical(record))
    if len(text) <= _KEPT:
        attached.priced = text, schema, priced
    return priced


def own_cap(request: Cap, attached: Attached) -> PrivacyLoss | None:
    """Read a cap, in the measure of a dataset's budget; None where there is none."""
    measure = attached.budget.measure
    if (request.epsilon is None) == (request.rho is None):
        if request.epsilon is None:
            return None
        raise LossError("A cap is epsilon= or rho=, not both.")
    if request.rho is not None:
        if measure is Measure.PURE:
            raise LossError("This budget is kept in ε: write cap(epsilon=2).")
        amount = positive(request.rho, name="rho")
    else:
        amount = positive(str(request.epsilon), name="epsilon")
        amount = amount if measure is Measure.PURE else pure_rho(amount)
    return PrivacyLoss(measure, amount, attached.budget.cap.delta)


def _row(row: StatementRow, note: str) -> Record:
    amounts = {"loss": row.loss, "spent_after": row.spent_after}
    return {
        **{name: getattr(row, name) for name in _TOLD},
        **{name: None if amount is None else amount.to_json() for name, amount in amounts.items()},
        **{name: list(getattr(row, name)) for name in ("texts", "measured", "events")},
        "note": note,
    }


def _prepare(rows: Any, schema: Any, into: Path, table: str | None, key: bytes) -> None:
    from dpnb.trusted.curator.engines import prepare

    prepare(rows, schema, into, table=table, key=key)


def _engine(copy: Path) -> Engine:
    engine: Engine = system_of(copy).open_copy(copy)
    return engine
