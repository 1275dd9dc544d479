"""What is asked together: the pending questions of a cell as one priced batch, without a curator and without spending."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from msgspec import Raw

from dpnb.client.handles import Dataset
from dpnb.errors import OptionError, PlanError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.planner.price import PricedBatch, price
from dpnb.planner.request import Ask, BatchPlan, Item
from dpnb.trusted.canonical import canonical
from dpnb.trusted.query import Plan, Question
from dpnb.trusted.query.plan import digest_of
from dpnb.trusted.wire.binding import request_digest

Asked = PendingQuestion | Estimate
T = TypeVar("T")


@dataclass(frozen=True)
class AskedBatch:
    """A batch ready to be sent: its distinct questions, every measurement that waits for each, its plan and price.

    What the schema alone answers is not sent.
    """

    dataset: Dataset
    plan: BatchPlan
    priced: PricedBatch
    groups: tuple[tuple[PendingQuestion, ...], ...]
    besides: tuple[str, ...] = ()

    @property
    def firsts(self) -> tuple[PendingQuestion, ...]:
        """One measurement of each distinct question."""
        return tuple(group[0] for group in self.groups)

    @property
    def everyone(self) -> tuple[PendingQuestion, ...]:
        """Every measurement that waits for an answer."""
        return tuple(one for group in self.groups for one in group)

    @cached_property
    def text(self) -> str:
        """What crosses the wire: measurements with their noise, and the loss that they are expected to cost."""
        return canonical(sent(self.priced).to_json())

    @property
    def body(self) -> Raw:
        """The same, as a message holds it."""
        return Raw(self.text.encode())

    @property
    def digest(self) -> str:
        """What identifies the request: a retry has the same."""
        return request_digest(digest_of(self.text), self.besides)

    @property
    def all_public(self) -> bool:
        """Whether the schema answers every question."""
        return all(item.public for item in self.priced.items)

    def spread(self, told: Iterable[T], public: T) -> tuple[T, ...]:
        """Return one entry for each question: what a curator told of those that were sent, or `public`."""
        given = iter(told)
        return tuple(public if item.public else next(given) for item in self.priced.items)


def sent(priced: PricedBatch) -> Plan:
    """Return the plan of a priced batch as it crosses the wire, without what the schema answers."""
    questions = tuple(
        Question(item.key, _printable(item.text), item.share, item.parts)
        for item in priced.items
        if item.share is not None
    )
    batch = priced.batch
    return Plan(batch.dataset, batch.schema_version, questions, batch.ask.fresh, priced.loss)


def _printable(text: str) -> str:
    """Return a text in which what no terminal shows is written out."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text
    )


def batch_of(items: Iterable[Asked], ask: Ask) -> AskedBatch:
    """Return the batch of the pending questions under some estimates, priced.

    Raises
    ------
    PlanError, LossError, OptionError
        If nothing is pending, two datasets are asked, a question has two shares, or the loss does not fit.
    """
    pending = _pending(items)
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
    plan = BatchPlan(dataset.name, dataset.schema.version, listed, ask)
    return AskedBatch(dataset, plan, price(plan, dataset.schema), found)


def _pending(items: Iterable[Asked]) -> list[PendingQuestion]:
    found: dict[int, PendingQuestion] = {}
    for item in items:
        for one in item.leaves() if isinstance(item, Estimate) else (item,):
            if not one.released:
                found.setdefault(id(one), one)
    return list(found.values())


def _item(group: Sequence[PendingQuestion], ask: Ask) -> Item:
    """One question with its share; the same question asked twice must not name two shares."""
    shares = {(one.weight, one.spend) for one in group if one.weight is not None or one.spend is not None}
    if len(shares) > 1:
        raise OptionError(f"`{group[0].text}` has two different shares in this batch. Keep one.")
    weight, spend = next(iter(shares), (None, None))
    said = next((one.spend_as for one in group if one.spend is not None), None)
    if said is not None and ask.kind in {"epsilon", "rho"} and said != ask.kind:
        raise OptionError(f"`{group[0].text}` spends {said}, the batch asks {ask.kind}. Use one of them.")
    return Item(group[0].question, Fraction(1) if weight is None else weight, spend)
