"""What is asked together: the pending questions of a cell as one priced batch, without a curator and without spending."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar

from msgspec import Raw

from dpnb.client.handles import Dataset
from dpnb.errors import CuratorError, OptionError, PlanError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.inference.law import read_law
from dpnb.planner.check import CheckedQuestion
from dpnb.planner.price import PricedBatch, PricedQuestion, price
from dpnb.planner.request import Ask, Item
from dpnb.planner.sharing import additive
from dpnb.planner.stored_share import covered_share, held_share
from dpnb.trusted.canonical import canonical
from dpnb.trusted.measurements import events
from dpnb.trusted.privacy.accountant import whole
from dpnb.trusted.privacy.loss import PrivacyLoss, exact_text
from dpnb.trusted.query.plan import EVERYTHING, Plan, Share, digest_of
from dpnb.trusted.releases import Release, ReleasedPart
from dpnb.trusted.schema import Schema
from dpnb.trusted.wire.codec import exact_json
from dpnb.trusted.wire.messages import Answered, Peeked

Asked = PendingQuestion | Estimate
T = TypeVar("T")
_ONE = Fraction(1)
_KEPT = 8
"""Plans whose price is kept: what was just shown is released without working it out again."""


@dataclass(frozen=True)
class AskedBatch:
    """A batch ready to be sent: its distinct questions, every measurement that waits for each, and its price.

    What the schema alone answers is not sent.
    """

    dataset: Dataset
    priced: PricedBatch
    groups: tuple[tuple[PendingQuestion, ...], ...]
    again: tuple[str, ...] = ()

    @property
    def firsts(self) -> tuple[PendingQuestion, ...]:
        """One measurement of each distinct question."""
        return tuple(group[0] for group in self.groups)

    @property
    def everyone(self) -> tuple[PendingQuestion, ...]:
        """Every measurement that waits for an answer."""
        return tuple(one for group in self.groups for one in group)

    @property
    def text(self) -> str:
        """What crosses the wire: measurements with their noise, and the loss that they are expected to cost."""
        return self._written[0]

    @property
    def body(self) -> Raw:
        """The same, as a message holds it."""
        return Raw(self.text.encode())

    @property
    def digest(self) -> str:
        """What identifies the request: a retry has the same."""
        return self._written[1]

    @property
    def _written(self) -> tuple[str, str]:
        texts = self.priced.texts
        if self.again not in texts:
            text = canonical(sent(self.priced, self.again).to_json())
            texts[self.again] = text, digest_of(text)
        return texts[self.again]

    @property
    def all_public(self) -> bool:
        """Whether the schema answers every question."""
        return all(item.public for item in self.priced.items)

    def served(self, told: Sequence[T]) -> tuple[tuple[T, ...], ...]:
        """Return for each question what a curator told of the measurements that serve it: nothing for a public one."""
        return tuple(tuple(told[place] for place, _ in places) for places in self.priced.places)

    def refined(self, stored: Sequence[bool]) -> AskedBatch:
        """Return the batch with what its questions save together spent on less noise in what is not stored."""
        priced = self.priced.refined(held_places(stored))
        return self if priced is self.priced else replace(self, priced=priced)


def sent(priced: PricedBatch, held: Sequence[str] = ()) -> Plan:
    """Return the plan of a priced batch as it crosses the wire, without what the schema answers; draws that are held are measured again."""
    again = EVERYTHING if priced.ask.fresh else tuple(sorted(set(held)))
    return Plan(priced.schema.name, priced.schema.version, priced.bundles, again, priced.loss)


def stored_questions(batch: AskedBatch, peeked: Peeked) -> tuple[bool, ...]:
    """Tell which questions are stored: all that serves them is."""
    return tuple(bool(served) and all(served) for served in batch.served(peeked.stored))


def held_shares(batch: AskedBatch, peeked: Peeked) -> tuple[Share | None, ...]:
    """Return the shares that stored answers cover."""
    told = batch.served(exact_json(peeked.held))
    pairs = zip(batch.priced.items, told, strict=True)
    return tuple(held_share(item, served, batch.priced.facts) if served else None for item, served in pairs)


def batch_of(items: Iterable[Asked], ask: Ask) -> AskedBatch:
    """Return the batch of the pending questions under some estimates, priced.

    Raises
    ------
    PlanError, LossError, OptionError
        If nothing is pending, two datasets are asked, a question has two shares, or the loss does not fit.
    """
    asked = list(items)
    pending = _pending(asked)
    if not pending and asked:
        raise PlanError(
            "Everything here is answered already: nothing was asked, nothing spent. "
            "To pay for more accuracy, write answer.remeasure(epsilon=…)."
        )
    if not pending:
        raise PlanError("There is no pending question to release: nothing was spent.")
    roots = {one.dataset.handle: one.dataset for one in pending}
    if len(roots) > 1:
        names = " and ".join(sorted(root.name for root in roots.values()))
        raise PlanError(f"A batch asks one dataset; this one asks {names}. Split it: one cell for each.")
    dataset = next(iter(roots.values()))
    groups: dict[str, list[PendingQuestion]] = {}
    for one in pending:
        groups.setdefault(one.question.canonical(), []).append(one)
    found = tuple(tuple(group) for group in groups.values())
    listed = tuple(_item(group, ask) for group in found)
    known = [group[0].checked if group[0].dataset.schema is dataset.schema else None for group in found]
    sizes = [] if ask.within is None or ask.assume_n is not None else [dataset.session.sizes(dataset)]
    known = [one and here.known(one) for one in known for here in sizes] if sizes else known
    told = [one and (one.setting.least, one.setting.most, one.setting.place) for one in known]
    said = (tuple(groups), tuple((item.weight, item.spend) for item in listed), tuple(told), ask)
    return AskedBatch(dataset, _priced(_Wanted(said, listed, ask, dataset.schema, known)), found)


class _Wanted:
    """A batch that may have been priced already: questions in their canonical form, shares and what is asked tell it from others."""

    def __init__(
        self,
        said: tuple[Any, ...],
        asked: tuple[Item, ...],
        ask: Ask,
        schema: Schema,
        known: list[CheckedQuestion | None],
    ) -> None:
        self.said, self.asked, self.ask, self.schema, self.known = said, asked, ask, schema, known

    def __hash__(self) -> int:
        return hash(self.said[0])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Wanted) and self.schema is other.schema and self.said == other.said


@lru_cache(maxsize=_KEPT)
def _priced(wanted: _Wanted) -> PricedBatch:
    """Return a batch's price."""
    return price(wanted.asked, wanted.ask, wanted.schema, wanted.known)


def read_from_store(items: Iterable[Asked]) -> list[PendingQuestion]:
    """Return the questions under some estimates where all came from the store already; nothing where any is to be asked, or was paid."""
    found = _questions(items)
    stored = all(
        one.answered and one.dataset is not None and all(release.stored for release in one.releases)
        for one in found
    )
    return found if stored else []


def _pending(items: Iterable[Asked]) -> list[PendingQuestion]:
    return [one for one in _questions(items) if not one.answered]


def _questions(items: Iterable[Asked]) -> list[PendingQuestion]:
    listed = [one for item in items for one in (item.leaves() if isinstance(item, Estimate) else (item,))]
    return list({id(one): one for one in listed}.values())


def _item(group: Sequence[PendingQuestion], ask: Ask) -> Item:
    """One question with its share; the same question asked twice must not name two shares."""
    shares = {(one.weight, one.spend) for one in group if one.weight is not None or one.spend is not None}
    if len(shares) > 1:
        raise OptionError(f"`{group[0].text}` has two different shares in this batch. Keep one.")
    weight, spend = next(iter(shares), (None, None))
    said = next((one.spend_as for one in group if one.spend is not None), None)
    if said is not None and ask.kind in {"epsilon", "rho"} and said != ask.kind:
        raise OptionError(f"`{group[0].text}` spends {said}, the batch asks {ask.kind}. Use one of them.")
    return Item(group[0].question, _ONE if weight is None else weight, spend)


def told_answers(batch: AskedBatch, answered: Answered) -> tuple[Release | None, ...]:
    """Return the answer of each question, as the curator told it; an answer to something else than was asked is refused."""
    return answers(batch.priced, told_releases(batch, answered))


def told_releases(batch: AskedBatch, answered: Answered) -> tuple[Release, ...]:
    """Return what the curator told of each measurement; an answer to something else than was asked is refused."""
    told = tuple(map(Release.from_json, exact_json(answered.releases)))
    if tuple(one.measured for one in told) != batch.priced.measured:
        raise CuratorError("The curator's answer does not belong to this question.")
    return told


def held_places(stored: Iterable[bool]) -> frozenset[int]:
    """Return the places of what a batch buys that are held."""
    return frozenset(place for place, one in enumerate(stored) if one)


def answers(priced: PricedBatch, releases: Sequence[Release]) -> tuple[Release | None, ...]:
    """Return the answer of each question, nothing for a public one.

    Parameters
    ----------
    priced : PricedBatch
    releases : sequence of Release
        One for each measurement that the batch buys, in their order.
    """
    return tuple(
        _answer(item, [(releases[place], at) for place, at in places], priced) if places else None
        for item, places in zip(priced.items, priced.places, strict=True)
    )


def _answer(item: PricedQuestion, served: Sequence[tuple[Release, int]], priced: PricedBatch) -> Release:
    parts = tuple(
        _named(one.parts[at], part.name) for (one, at), part in zip(served, item.parts, strict=True)
    )
    found = list({one.id: one for one, _ in served}.values())
    first = found[0]
    if not all(map(additive, item.parts)):
        return replace(first, question=item.key, parts=parts)
    latest = max(found, key=lambda one: one.entry)
    loss, share = _paid(item, parts, priced)
    return Release(
        id=first.id if len(found) == 1 else _digest(part.draw for part in parts)[:32],
        question=item.key,
        dataset=first.dataset,
        data_version=first.data_version,
        parts=parts,
        loss=loss,
        share=exact_text(share.amount),
        share_kind=share.kind,
        stored=all(one.stored for one in found),
        entry=latest.entry,
        time=latest.time,
        measured=first.measured if len(found) == 1 else _digest(one.measured for one in found),
    )


def _named(part: ReleasedPart, name: str) -> ReleasedPart:
    return part if part.name == name else replace(part, name=name)


def _digest(names: Iterable[str]) -> str:
    return hashlib.sha256("|".join(names).encode()).hexdigest()


def _paid(
    item: PricedQuestion, parts: Sequence[ReleasedPart], priced: PricedBatch
) -> tuple[PrivacyLoss, Share]:
    """Return what several sums cost together, at the noise that they have, and the share that buys as much."""
    if item.share is not None and item.as_asked([part.law for part in parts]):
        return item.loss, item.share
    served = [
        replace(part, mechanism=read_law(released.law))
        for part, released in zip(item.parts, parts, strict=True)
    ]
    loss = whole(events(served, priced.facts), priced.measure)
    return loss, covered_share(item, [part.mechanism for part in served])
