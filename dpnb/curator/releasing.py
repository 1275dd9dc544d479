r"""From a priced batch to stored releases: look up, charge, answer, store. The order is the guarantee.

1. What is stored with a loss at least as large as its share is free. 2. The rest is charged in one ledger transaction.
3. One engine call answers all of it exactly; exact noise from the operating system is added in unbounded integers.
4. The noised integers are stored; what *is* stored (the first writer's) is sent.

A crash before 2 leaves nothing; a crash after 2 leaves a charge that the retry of the same request completes. There is no
refund and no second draw: one insertion decides which draw exists.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from dpnb.curator import faults
from dpnb.curator.attached import Attached
from dpnb.curator.ledger import ChargeRow, Ledger, Question
from dpnb.curator.stored import StoredAnswer
from dpnb.errors import PlanError
from dpnb.noise.bits import BitSource
from dpnb.noise.secure import SecureBits
from dpnb.plan.price import PricedBatch, PricedPart, PricedQuestion, total
from dpnb.privacy.loss import PrivacyLoss, exact_text
from dpnb.release import Release, ReleasedPart

MECHANISM_VERSION = "1"
"""Part of the store's key: raised when any mechanism's sampler, split or grid changes.

It starts at 1 with version 1 of the ledger, which no earlier code wrote; tests/golden/releases holds what it releases for fixed bits.
"""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Chance:
    """All that is not a function of the request and the data: noise bits, ids of draws, the clock."""

    bits: BitSource = field(default_factory=SecureBits)
    new_id: Callable[[], str] = lambda: secrets.token_hex(16)
    now: Callable[[], str] = _now


@dataclass(frozen=True, slots=True)
class Wanted:
    """A batch under way: who asks what, under which request id, and which draws do not count as stored."""

    principal: str
    request: str
    digest: str
    priced: PricedBatch
    besides: frozenset[str]
    fresh: bool


@dataclass(frozen=True, slots=True)
class Given:
    """What a batch was answered: a record per question (none where the schema answers), its charge, its ledger row."""

    records: list[dict[str, Any] | None]
    charged: PrivacyLoss
    entry: int | None


def stored_answers(wanted: Wanted, attached: Attached, ledger: Ledger) -> list[dict[str, Any] | None]:
    """Return the stored answer of each question, or ``None`` where none suffices.

    Of several that suffice the cheapest, then the oldest, is returned: the one made for this question at this loss, so
    that a notebook that is run again shows its own numbers.
    """
    if wanted.fresh:
        return [None] * len(wanted.priced.items)
    return [_stored(question, wanted, attached, ledger) for question in wanted.priced.items]


def _stored(
    question: PricedQuestion, wanted: Wanted, attached: Attached, ledger: Ledger
) -> dict[str, Any] | None:
    best = _enough(question, _answers(question, wanted, attached, ledger))
    return None if best is None else {**best.answer, "stored": True}


def held_shares(wanted: Wanted, attached: Attached, ledger: Ledger) -> list[dict[str, str] | None]:
    """Return for each question the share of the stored answer that suffices; where none does, of the one that cost most.

    A plan says with it how accurate a free answer is, and that one is bought anew because more is asked of it now. What is
    told is what the asker was told when the answer was released.
    """
    found: list[dict[str, str] | None] = []
    for question in wanted.priced.items:
        known = [] if wanted.fresh else _answers(question, wanted, attached, ledger)
        one = _enough(question, known) or (known[0] if known else None)
        found.append(None if one is None else one.share)
    return found


def _answers(
    question: PricedQuestion, wanted: Wanted, attached: Attached, ledger: Ledger
) -> list[StoredAnswer]:
    """Return what is stored for a question and not held already, the one that cost most first."""
    if question.public:
        return []
    found = ledger.best_stored(
        wanted.principal,
        attached.data_version,
        attached.schema.version,
        MECHANISM_VERSION,
        question.key,
        wanted.priced.measure,
    )
    return [stored for stored in found if stored.answer["id"] not in wanted.besides]


def _enough(question: PricedQuestion, known: Sequence[StoredAnswer]) -> StoredAnswer | None:
    """Return the cheapest, then the oldest, whose loss is at least what is asked."""
    enough = [stored for stored in known if question.loss.fits_in(stored.loss)]
    return min(enough, key=lambda stored: (stored.loss.amount, stored.loss.delta, stored.entry), default=None)


def to_charge(wanted: Wanted, stored: Sequence[dict[str, Any] | None]) -> list[PricedQuestion]:
    """Return the questions that are neither public nor stored."""
    pairs = zip(wanted.priced.items, stored, strict=True)
    return [question for question, answer in pairs if answer is None and not question.public]


def release(
    wanted: Wanted,
    attached: Attached,
    ledger: Ledger,
    chance: Chance,
    guard: Callable[[Callable[[], Any]], Any],
) -> Given:
    """Answer a batch. The caller holds the dataset's lock.

    Parameters
    ----------
    wanted : Wanted
    attached : Attached
    ledger : Ledger
    chance : Chance
    guard : callable
        Runs the charge, unless the request was cancelled.
    """
    stored = stored_answers(wanted, attached, ledger)
    mine = to_charge(wanted, stored)
    if not mine and ledger.charged(wanted.request, wanted.principal) is None:
        return Given(list(stored), PrivacyLoss.zero(wanted.priced.measure), None)
    faults.at("before-charge")
    charge = guard(lambda: _charge(wanted, mine, attached, ledger, chance))
    faults.at("charged")
    answers = ledger.answers(wanted.request, wanted.principal)
    if answers is None:
        drawn = _draw(_paid(wanted, charge), attached, chance, charge.entry)
        faults.at("before-store")
        answers = ledger.store(wanted.request, wanted.principal, drawn, time=chance.now())
        faults.at("stored")
    new = {question["key"]: answer for question, answer in zip(charge.questions, answers, strict=True)}
    records = [
        new.get(question.key, old) if not question.public else None
        for question, old in zip(wanted.priced.items, stored, strict=True)
    ]
    return Given(records, charge.loss, charge.entry)


def _paid(wanted: Wanted, charge: ChargeRow) -> list[PricedQuestion]:
    """Return the questions that a charge was made for."""
    by_key = {question.key: question for question in wanted.priced.items}
    return [by_key[question["key"]] for question in charge.questions]


def _charge(
    wanted: Wanted, mine: Sequence[PricedQuestion], attached: Attached, ledger: Ledger, chance: Chance
) -> ChargeRow:
    return ledger.charge(
        request_id=wanted.request,
        principal=wanted.principal,
        digest=wanted.digest,
        pool=attached.pool,
        dataset=attached.known_as,
        data_version=attached.data_version,
        schema_version=attached.schema.version,
        mechanism_version=MECHANISM_VERSION,
        cap=attached.budget.cap,
        questions=[_charged(question) for question in mine],
        others=[_charged(question) for question in wanted.priced.items if not question.public],
        besides=sorted(wanted.besides),
        fresh=wanted.fresh,
        time=chance.now(),
    )


def _charged(question: PricedQuestion) -> Question:
    share = {} if question.share is None else {"kind": question.share.kind, "share": _share(question)}
    return Question(question.key, question.text, question.events, share)


def _draw(
    mine: Sequence[PricedQuestion], attached: Attached, chance: Chance, entry: int
) -> list[dict[str, Any]]:
    """Answer exactly with one engine call, add noise, and write the releases."""
    parts = [part for question in mine for part in question.parts]
    exact = iter(attached.engine.answer([part.request for part in parts]))
    faults.at("scanned")
    releases = [_released(question, exact, attached, chance, entry) for question in mine]
    faults.at("noised")
    return releases


def _released(
    question: PricedQuestion, exact: Any, attached: Attached, chance: Chance, entry: int
) -> dict[str, Any]:
    made = Release(
        id=chance.new_id(),
        question=question.key,
        dataset=attached.schema.name,
        data_version=attached.data_version,
        parts=tuple(_noised(part, next(exact), chance) for part in question.parts),
        loss=question.loss,
        share=_share(question),
        stored=False,
        time=chance.now(),
        entry=entry,
    )
    return made.to_json()


def _share(question: PricedQuestion) -> str:
    return "0" if question.share is None else exact_text(question.share.amount)


def _noised(part: PricedPart, exact: Any, chance: Chance) -> ReleasedPart:
    values = part.mechanism.noised(exact, chance.bits)
    return ReleasedPart(part.name, part.mechanism.record, values, chance.new_id())


def cost(wanted: Wanted, stored: Sequence[dict[str, Any] | None]) -> PrivacyLoss:
    """Return what a batch would be charged now."""
    return total(to_charge(wanted, stored), wanted.priced.measure)


def refuse_twins(priced: PricedBatch) -> None:
    """Refuse a batch that asks one question twice: it would pay twice for one answer."""
    keys = [question.key for question in priced.items]
    if len(set(keys)) != len(keys):
        raise PlanError(
            "A batch asks one question twice. Ask it once: both names may hold the same estimate."
        )
