r"""From a plan to stored releases: look up, charge, answer, store. The order is the guarantee.

1. What is stored with a loss at least as large as its share is free. 2. The rest is charged in one ledger transaction, which
records the resolved plan. 3. One engine call answers all of the record exactly; exact noise from the operating system is added
in unbounded integers. 4. The noised integers are stored under the charge; what *is* stored (the first writer's) is sent.

A crash before 2 leaves nothing; a crash after 2 leaves a charge that a retry of the same request completes, or, where kernel
and curator died together, a new request that adopts it (:mod:`dpnb.trusted.curator.adoption`). Whoever completes a charge runs its
record and plans nothing; a record that is not what the request is priced at is not run. There is no refund and no second draw: one insertion decides which draw exists.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpnb.trusted.canonical import JsonObject, Record, canonical
from dpnb.trusted.curator import failpoints
from dpnb.trusted.curator.admission import Limit
from dpnb.trusted.curator.adoption import Scope, record_of
from dpnb.trusted.curator.answer_store import StoredAnswer
from dpnb.trusted.curator.chain import timestamp
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.open_dataset import Attached
from dpnb.trusted.curator.totals import ChargeRow, Room
from dpnb.trusted.errors import CuratorError, PlanError
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.noise.bits import BitSource
from dpnb.trusted.noise.secure import SecureBits
from dpnb.trusted.privacy.accountant import whole
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.plan import EVERYTHING
from dpnb.trusted.query.plan_record import read_parts
from dpnb.trusted.query.price import Charge, ChargedPlan
from dpnb.trusted.releases import Release, ReleasedPart

MECHANISM_VERSION = "10"
"""Part of the store's key: raised when any mechanism's sampler, split or grid changes.

It starts at 1 with version 1 of the ledger, which no earlier code wrote; tests/golden/releases holds what it releases for fixed bits.
"""


Parts = tuple[Measurement, ...]
Alone = tuple[Parts, PrivacyLoss]
"""What is measured for a question, and what that costs by itself."""


@dataclass(frozen=True, slots=True)
class Randomness:
    """All that is not a function of the request and the data: noise bits, ids of draws, the clock."""

    bits: BitSource = field(default_factory=SecureBits)
    new_id: Callable[[], str] = lambda: secrets.token_hex(16)
    now: Callable[[], str] = timestamp

    def settling(self) -> Callable[[], None]:
        """Return what waits until an answer that was charged now may be known to be there; nothing where time is no secret."""
        return lambda: None

    def of(self, dataset: str, question: JsonObject) -> Randomness:  # noqa: ARG002 - for seeds, which are not in this wing
        """Return the randomness of one draw of a question."""
        return self


@dataclass(frozen=True, slots=True)
class PendingBatch:
    """A batch under way: who asks what, under which request id, what is measured again, and the caps on who asks."""

    principal: str
    request: str
    digest: str
    charged: ChargedPlan
    measure: Measure
    again: tuple[str, ...]
    caps: tuple[Limit, ...] = ()
    store: str | None = None
    """The store that whoever asks shares with others; their own where it is None."""

    @property
    def questions(self) -> tuple[Charge, ...]:
        """The questions, each as it would be charged by itself."""
        return self.charged.questions


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What a batch was answered: a record per question, its charge, its ledger row.

    `before` is what an earlier request was charged for these answers, where this one adopted its charge and paid nothing. `room`
    is what every cap left after a charge that was made now.
    """

    records: list[Record]
    charged: PrivacyLoss
    entry: int | None
    before: PrivacyLoss | None = None
    room: Room | None = None


def looked_up(batch: PendingBatch, attached: Attached, ledger: Ledger) -> list[StoredAnswer | None]:
    """Return what is stored for each question and not held already: the oldest that is enough, or else the dearest.

    The oldest, so that a notebook that is run again shows its own numbers.
    """
    if batch.again == EVERYTHING:
        return [None] * len(batch.questions)
    key = batch.principal, attached.data_version, attached.schema.version, MECHANISM_VERSION
    asked = [(question.measured, question.loss(batch.measure)) for question in batch.questions]
    return ledger.best_stored(*key, asked, batch.again, batch.store)


Stored = Sequence[StoredAnswer | None]  # for each question of a batch
Guarded = Callable[[Callable[[], ChargeRow]], ChargeRow]  # makes a charge, or refuses it


def enough(batch: PendingBatch, found: Stored, attached: Attached, ledger: Ledger) -> Stored:
    """Return the stored answers that cost at least what is asked now; of a closed dataset, whatever is stored: they are free."""
    pairs = list(zip(batch.questions, found, strict=True))
    fits = [one is not None and question.loss(batch.measure).fits_in(one.loss) for question, one in pairs]
    if any(found) and not all(fits) and ledger.state(attached.known_as) == "closed":
        fits = [one is not None for one in found]
    return [one if fit else None for one, fit in zip(found, fits, strict=True)]


def to_charge(batch: PendingBatch, stored: Stored) -> list[Charge]:
    """Return the questions that are not stored."""
    return [question for question, one in zip(batch.questions, stored, strict=True) if one is None]


def release(
    batch: PendingBatch, attached: Attached, ledger: Ledger, randomness: Randomness, guard: Guarded
) -> BatchResult:
    """Answer a batch. The caller holds the dataset's lock.

    Parameters
    ----------
    batch : PendingBatch
    attached : Attached
    ledger : Ledger
    randomness : Randomness
    guard : callable
        Runs the charge, unless the request was cancelled.
    """
    stored = enough(batch, looked_up(batch, attached, ledger), attached, ledger)
    mine, old = to_charge(batch, stored), _read(stored, ledger)
    if not mine and ledger.charged(batch.request, batch.principal) is None:
        return BatchResult(_known(old), PrivacyLoss.zero(batch.measure), None)
    failpoints.at("before-charge")
    charge = guard(lambda: _charge(batch, mine, attached, ledger, randomness))
    settle, now = randomness.settling(), randomness.now()
    failpoints.at("charged")
    answers = None if charge.new else ledger.answers(batch.request, batch.principal)
    if answers is None:
        if not charge.new:
            _refuse_strange_record(charge, batch)
        alone = (
            [(one.bundle.parts, one.loss(batch.measure)) for one in mine]
            if charge.new
            else _recorded_alone(charge)
        )
        drawn = _draw(charge, alone, attached, randomness, now)
        settle()
        failpoints.at("before-store")
        answers = ledger.store(batch.request, batch.principal, drawn, time=randomness.now())
        failpoints.at("stored")
    return _given(batch, old, charge, answers)


def _refuse_strange_record(charge: ChargeRow, batch: PendingBatch) -> None:
    """Run a record only if it is what this request is priced at: no mark holds the last charge before it is answered."""
    asked = {question.measured: question for question in batch.questions}
    for recorded in charge.questions:
        question = asked.get(recorded["measured"])
        if question is None or canonical(record_of(question)) != canonical(recorded):
            raise CuratorError("The ledger's record of a charge is not what was asked.")


def _given(
    batch: PendingBatch, stored: Sequence[Record | None], charge: ChargeRow, answers: Sequence[Record]
) -> BatchResult:
    """Put together what the charge and what the store answers."""
    new = {question["measured"]: answer for question, answer in zip(charge.questions, answers, strict=True)}
    pairs = zip(batch.questions, stored, strict=True)
    records = _known([new.get(question.measured, old) for question, old in pairs])
    if charge.adopted:
        return BatchResult(records, PrivacyLoss.zero(charge.loss.measure), charge.entry, charge.loss)
    return BatchResult(records, charge.loss, charge.entry, room=charge.room)


def _read(stored: Stored, ledger: Ledger) -> list[Record | None]:
    """Read what is stored, before anything is charged: a damaged answer is found now."""
    found = iter(ledger.stored([one for one in stored if one is not None]) if any(stored) else ())
    return [None if one is None else {**next(found), "stored": True} for one in stored]


def _known(answers: Sequence[Record | None]) -> list[Record]:
    """Return the answers of a batch, one to each question."""
    found = [answer for answer in answers if answer is not None]
    if len(found) != len(answers):
        raise CuratorError("A question of this batch was neither stored nor charged.")
    return found


def _charge(
    batch: PendingBatch, mine: Sequence[Charge], attached: Attached, ledger: Ledger, randomness: Randomness
) -> ChargeRow:
    scope = _scope(batch, attached)
    return ledger.charge(
        request_id=batch.request,
        digest=batch.digest,
        **{name: getattr(scope, name) for name in scope.__slots__},
        cap=attached.budget.cap,
        caps=batch.caps,
        store=batch.store,
        terms=attached.terms,
        questions=mine,
        events=batch.charged.part(mine),
        others=_others(batch, mine) if ledger.has_abandoned(scope.principal, scope.pool) else (),
        time=randomness.now(),
    )


def _scope(batch: PendingBatch, attached: Attached) -> Scope:
    state = attached.known_as, attached.data_version, attached.schema.version, MECHANISM_VERSION
    return Scope(batch.principal, attached.pool, *state, batch.again)


def _others(batch: PendingBatch, mine: Sequence[Charge]) -> list[Charge]:
    """Return the questions that the store answers."""
    names = {question.measured for question in mine}
    return [question for question in batch.questions if question.measured not in names]


def _draw(
    charge: ChargeRow, alone: Sequence[Alone], attached: Attached, randomness: Randomness, now: str
) -> list[Record]:
    """Answer a charge's own record exactly with one engine call, add noise, and write the releases."""
    exact = iter(attached.engine.answer([part.request for parts, _ in alone for part in parts]))
    failpoints.at("scanned")
    pairs = zip(charge.questions, alone, strict=True)
    releases = [
        _released(question, *one, exact, attached, randomness, charge, now) for question, one in pairs
    ]
    failpoints.at("noised")
    return releases


def _recorded_alone(charge: ChargeRow) -> list[Alone]:
    try:
        return [
            (
                read_parts(question["plan"]),
                whole(map(PrivacyEvent.from_json, question["events"]), charge.loss.measure),
            )
            for question in charge.questions
        ]
    except PlanError as error:  # refused before a charge, never after one
        raise CuratorError("The ledger's record of a charge cannot be read.") from error


def _released(
    question: JsonObject,
    parts: Parts,
    loss: PrivacyLoss,
    exact: Iterator[Any],
    attached: Attached,
    randomness: Randomness,
    charge: ChargeRow,
    now: str,
) -> Record:
    randomness = randomness.of(attached.known_as, question)
    made = Release(
        id=randomness.new_id(),
        question=question["texts"][0],
        dataset=attached.schema.name,
        data_version=attached.data_version,
        parts=tuple(_noised(part, next(exact), randomness) for part in parts),
        loss=loss.bounded(),
        share=question["share"]["share"],
        stored=False,
        time=now,
        entry=charge.entry,
        share_kind=question["share"]["kind"],
        measured=question["measured"],
    )
    return made.to_json()


def _noised(part: Measurement, exact: Any, randomness: Randomness) -> ReleasedPart:
    values = part.mechanism.noised(exact, randomness.bits)
    return ReleasedPart(part.name, part.mechanism.record, values, randomness.new_id())


def cost(batch: PendingBatch, stored: Stored, attached: Attached, ledger: Ledger) -> PrivacyLoss:
    """Return what a batch would be charged now: nothing where it would adopt a charge that was left without an answer."""
    mine, scope = to_charge(batch, stored), _scope(batch, attached)
    waiting = mine and ledger.has_abandoned(scope.principal, scope.pool)
    if waiting and ledger.adoptable(scope, mine, _others(batch, mine)) is not None:
        return PrivacyLoss.zero(batch.measure)
    return whole(batch.charged.part(mine), batch.measure)
