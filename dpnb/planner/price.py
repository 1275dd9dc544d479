"""The price of a batch: mechanisms, scales and exact losses, from public facts alone.

There is no data argument. A statistic says which integers leave and under which noise; what that costs is derived from these and the schema
(:mod:`dpnb.trusted.measurements`), and nothing that a statistic says of sensitivities is charged. What a batch costs is what
:func:`dpnb.trusted.query.price.together` says of its bundles: the curator asks the same of what crossed the wire. The asked loss is split
over the questions by weight, unless a question names its own; public answers cost nothing and take no share. What questions share is bought once (:mod:`dpnb.planner.sharing`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from dpnb.errors import LossError, PlanError
from dpnb.inference.digits import given, rounded
from dpnb.inference.law import law_of
from dpnb.planner.check import CheckedQuestion, check
from dpnb.planner.request import Ask, Item
from dpnb.planner.sharing import Places, additive, askers, askers_by_group, bundled, divisions, refined
from dpnb.planner.work import STEP, WITHIN, limited_steps, limited_work
from dpnb.statistics import PriceRow, Pricing
from dpnb.statistics._base import ONE, farthest
from dpnb.statistics.noise import restated
from dpnb.trusted.aggregate.algebra import Total
from dpnb.trusted.measurements import Facts, Measurement, events
from dpnb.trusted.mechanisms import AnyMechanism
from dpnb.trusted.privacy.accountant import whole
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss, floored, floored_digits
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.limits import limited, refuse_unbounded
from dpnb.trusted.query.plan import MOST_QUESTIONS, Bundle, Share
from dpnb.trusted.query.price import together
from dpnb.trusted.schema import Schema

_LOW, _HIGH = Fraction(1, 10**6), Fraction(10**6)
_STEPS = 60
_FINER = Fraction(101, 100)
"""From a loss of three digits to the next, or one soon after it."""

__all__ = [
    "Preview",
    "PriceRow",
    "PricedBatch",
    "PricedQuestion",
    "as_stored",
    "price",
]


@dataclass(frozen=True, slots=True)
class Preview:
    """Expected accuracy before anything is spent: the 95 % privacy half-width, where public facts give it."""

    half_width: float | None
    words: str


@dataclass(frozen=True)
class PricedQuestion:
    """One question with its mechanisms and exact loss.

    Parameters
    ----------
    checked : CheckedQuestion
        The question.
    share : Share or None
        Its share as asked; nothing for a public answer.
    loss : PrivacyLoss
        What its share is in the dataset's measure: what it would cost if it were asked alone.
    events : tuple of PrivacyEvent
        The events of that.
    parts : tuple of Measurement
        What is released; a question that shares with others may have less noise than its share pays for.
    answered_by : Pricing, optional
        With what it is answered, which its expected accuracy goes by; nothing for a public answer.
    size : float, optional
        The number of rows to plan with.
    shares : bool
        Whether it has less noise than its own share pays for, since it shares with others.
    own : float, optional
        The 95 % privacy half-width of the stored answer that it is answered with.
    """

    checked: CheckedQuestion
    share: Share | None
    loss: PrivacyLoss
    events: tuple[PrivacyEvent, ...]
    parts: tuple[Measurement, ...]
    answered_by: Pricing | None = None
    size: float | None = None
    shares: bool = False
    own: float | None = None

    @property
    def rows(self) -> tuple[PriceRow, ...]:
        """The price list in words; empty for a public answer."""
        return () if self.answered_by is None else self.answered_by.rows

    @cached_property
    def preview(self) -> Preview:
        """Expected accuracy; it is worked out where somebody looks at it."""
        if self.answered_by is None:
            return Preview(0.0, "public: answered from the schema, free")
        if self.own is not None:
            return Preview(self.own, f"± {rounded(self.own)}, as stored")
        kind, setting = self.checked.kind, self.checked.setting
        width = kind.half_width(setting, self.answered_by, self.size)
        return Preview(width, kind.accuracy(setting, self.answered_by, self.size))

    def as_asked(self, laws: Sequence[Mapping[str, Any]]) -> bool:
        """Tell whether noise of some laws is just that which its own share pays for."""
        return not self.shares and self._records == list(laws)

    @cached_property
    def _records(self) -> list[Mapping[str, Any]]:
        return [part.mechanism.record for part in self.parts]

    @property
    def text(self) -> str:
        """The question as a person would type it."""
        return self.checked.text

    @property
    def key(self) -> str:
        """The canonical question, under which answers are stored."""
        return self.checked.question.canonical()

    @property
    def public(self) -> bool:
        """Whether the schema alone answers."""
        return self.share is None

    @property
    def public_value(self) -> float | None:
        """The public answer."""
        return self.checked.public_value


@dataclass(frozen=True, slots=True)
class PricedBatch:
    """All questions of a batch, priced.

    Parameters
    ----------
    asked : tuple of Item
        The questions, with their weights or losses.
    ask : Ask
        What is asked for all of them.
    schema : Schema
        Of the dataset that they ask.
    facts : Facts
        The public facts from which every loss follows.
    items, alone : tuple of PricedQuestion
        The questions in the order of the batch, as they are answered; and as they would be if each were asked alone.
    bundles : tuple of Bundle
        What they buy together.
    places : tuple
        For each part of each question the bundle that serves it, and which of its parts.
    measured : tuple of str
        The names under which the bundles are stored.
    texts : dict
        What a curator is sent of it and its digest, once it was written: by the ids of what is measured again.
    """

    asked: tuple[Item, ...]
    ask: Ask
    schema: Schema
    facts: Facts
    items: tuple[PricedQuestion, ...]
    alone: tuple[PricedQuestion, ...]
    bundles: tuple[Bundle, ...]
    places: tuple[Places, ...]
    measured: tuple[str, ...]
    texts: dict[tuple[str, ...], tuple[str, str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def measure(self) -> Measure:
        """In what the dataset's loss is counted."""
        return self.facts.measure

    @property
    def loss(self) -> PrivacyLoss:
        """What the whole batch costs if nothing is stored."""
        return self.costs(frozenset())

    def costs(self, held: frozenset[int]) -> PrivacyLoss:
        """Return what the batch costs where some of what it buys is held."""
        return whole(self.events(held), self.measure)

    def events(self, held: frozenset[int]) -> tuple[PrivacyEvent, ...]:
        """Return the events that would be charged where some of what the batch buys is held."""
        asked = (one for place, one in enumerate(self.bundles) if place not in held)
        return together(asked, self.facts, ((item.parts, item.events) for item in self.alone))

    def prices(self, held: Collection[int] = ()) -> tuple[tuple[tuple[int, ...], PrivacyLoss], ...]:
        """Return which questions have one price, and what it is: the prices add up to what :meth:`costs` says.

        Questions share a price where they share a measurement, or where theirs are priced together. What is held, or public, has none.
        """
        served = askers(self.places)
        who = [served[place] for place in range(len(self.bundles))]
        joined: list[tuple[set[int], set[int]]] = []
        for place, one in enumerate(self.bundles):
            if place not in held:
                asking, groups = set(who[place]), {one.group}
                for other in [it for it in joined if it[0] & asking or it[1] & groups]:
                    joined.remove(other)
                    asking |= other[0]
                    groups |= other[1]
                joined.append((asking, groups))
        everything = frozenset(range(len(self.bundles)))
        found = []
        for asking, groups in joined:
            its = {place for place, one in enumerate(self.bundles) if one.group in groups}
            found.append((tuple(sorted(asking)), self.costs(everything - (its - set(held)))))
        return tuple(sorted(found, key=lambda it: it[0]))

    @property
    def saves(self) -> bool:
        """Whether questions save by being asked together: something is bought once for two of them, or two are priced together."""
        if sum(len(one.parts) for one in self.bundles) < sum(map(len, self.places)):
            return True
        return any(len(who) > 1 for who in askers_by_group(self.bundles, self.places).values())

    @property
    def divided(self) -> tuple[tuple[int, ...], ...]:
        """Questions that are priced together because no row is in two of them."""
        return divisions(self.bundles, self.places)

    def refined(self, held: frozenset[int]) -> PricedBatch:
        """Return the batch with what its questions save together spent on less noise; what is held is taken out before."""
        if self.ask.kind == "within" or not self.saves:
            return self
        own = {asker for asker, item in enumerate(self.asked) if item.spend is not None}
        fixed = frozenset(place for place, who in enumerate(askers(self.places)) if own.issuperset(who))
        wanted = [
            [part for part, (place, _) in zip(item.parts, places, strict=True) if place not in held]
            for item, places in zip(self.alone, self.places, strict=True)
        ]
        kind = next(item.share.kind for item in self.items if item.share is not None)
        bundles = refined(self.bundles, [parts for parts in wanted if parts], kind, fixed, held, self.facts)
        return self if bundles == self.bundles else _served(self, bundles)


def as_stored(
    priced: PricedBatch,
    stored: Sequence[bool],
    held: Sequence[Share | None],
    widths: Sequence[float | None],
) -> PricedBatch:
    """Return a priced batch whose stored questions show the mechanism and the accuracy that their answers have.

    What is asked of them, and their loss, stay: a stored answer is free because its share is at least as large.

    Parameters
    ----------
    priced : PricedBatch
    stored : sequence of bool
        Which questions are answered from the store.
    held : sequence of Share or None
        The shares of those answers.
    widths : sequence of float or None
        Their own 95 % privacy half-widths, where they have such.
    """
    items = tuple(
        replace(_as_held(item, priced.ask, share), own=width) if kept and share is not None else item
        for item, kept, share, width in zip(priced.items, stored, held, widths, strict=True)
    )
    return replace(priced, items=items)


def _as_held(item: PricedQuestion, ask: Ask, share: Share) -> PricedQuestion:
    return replace(item, answered_by=item.checked.price(share), size=_planned(ask, item.checked))


def _served(priced: PricedBatch, bundles: tuple[Bundle, ...]) -> PricedBatch:
    """Return a batch whose questions are served by some bundles."""
    divided = frozenset(asker for many in divisions(bundles, priced.places) for asker in many)
    reasons = [_why_finer(who, divided) for who in askers(priced.places)]
    items = tuple(
        _served_by(item, [(bundles[place].parts[at].mechanism, reasons[place]) for place, at in places])
        for item, places in zip(priced.alone, priced.places, strict=True)
    )
    return replace(priced, items=items, bundles=bundles)


def _served_by(item: PricedQuestion, served: Sequence[tuple[AnyMechanism, str]]) -> PricedQuestion:
    """Return a question with the noise of what serves it, and the accuracy that this gives."""
    parts = tuple(
        replace(part, mechanism=mechanism) for part, (mechanism, _) in zip(item.parts, served, strict=True)
    )
    if parts == item.parts:
        return item
    rows = item.rows
    if len(rows) == len(parts):
        changes = zip(rows, item.parts, parts, served, strict=True)
        rows = tuple(
            row if new == old else restated(row, mechanism, reason)
            for row, old, new, (mechanism, reason) in changes
        )
    return replace(item, parts=parts, answered_by=Pricing(parts, rows), shares=True)


def _why_finer(who: tuple[int, ...], divided: frozenset[int]) -> str:
    if len(who) > 1:
        return f"bought once for {len(who)} questions"
    if who[0] in divided:
        return "less noise, since no row is in two of these questions"
    return "less noise, since questions share"


def price(
    asked: tuple[Item, ...],
    ask: Ask,
    schema: Schema,
    known: Sequence[CheckedQuestion | None] | None = None,
) -> PricedBatch:
    """Return the priced batch.

    Parameters
    ----------
    asked : tuple of Item
        The questions of a cell, with their weights or losses.
    ask : Ask
        What is asked for all of them.
    schema : Schema
        Public metadata of the dataset that they ask.
    known : sequence of CheckedQuestion or None, optional
        The questions as this schema allowed them already, where they were checked.

    Raises
    ------
    PlanError, LossError
        If a question cannot be asked, or this budget does not accept the loss.
    """
    if len(asked) > MOST_QUESTIONS:
        raise PlanError(f"A cell holds at most {MOST_QUESTIONS} questions; this one has {len(asked)}.")
    checked = _checked(asked, ask, schema, known or [None] * len(asked))
    shares = _shares(ask, asked, checked, schema)
    facts, items, units = Facts.of(schema), list[PricedQuestion](), 0
    for question, share in zip(checked, shares, strict=True):
        items.append(_priced(question, share, ask))
        units = limited(items[-1].parts, units)
    alone = tuple(items)
    bundles, places, measured = bundled(alone, facts)
    return _served(PricedBatch(asked, ask, schema, facts, alone, alone, bundles, places, measured), bundles)


def _checked(
    asked: tuple[Item, ...], ask: Ask, schema: Schema, known: Sequence[CheckedQuestion | None]
) -> list[CheckedQuestion]:
    """Return the checked questions; their steps have a limit that is met before any is looked at, their cells before the last."""
    found, units = [], 0
    each = WITHIN if ask.kind == "within" else 0
    for item in asked:
        units = limited_work(units + each + STEP * limited_steps(item.question))
    for item, one in zip(asked, known, strict=True):
        found.append(check(item.question, schema) if one is None else one)
        units = limited_work(units + found[-1].setting.cells)
    return found


def _shares(
    ask: Ask, items: tuple[Item, ...], checked: list[CheckedQuestion], schema: Schema
) -> list[Share | None]:
    private = [question.public_value is None for question in checked]
    kind = ask.kind
    if kind is None and any(paid and item.spend is None for paid, item in zip(private, items, strict=True)):
        measure = "epsilon" if schema.budget.measure is Measure.PURE else "rho"
        raise LossError(f"Say what to spend: %%dp {measure}=1, or within=0.02 for an accuracy.")
    if kind == "within":
        return [
            _solved(ask, item, question, schema) if paid else None
            for item, question, paid in zip(items, checked, private, strict=True)
        ]
    return _split(ask, items, private, schema)


def _split(ask: Ask, items: tuple[Item, ...], private: list[bool], schema: Schema) -> list[Share | None]:
    kind: Literal["epsilon", "rho"] = "rho" if ask.kind == "rho" else "epsilon"
    if kind == "rho" and schema.budget.measure is Measure.PURE:
        raise LossError(
            f"{schema.name} has a pure ε budget, which does not accept ρ. Use epsilon=, or give the dataset [budget] rho = 0.5."
        )
    asked = ask.rho if kind == "rho" else ask.epsilon
    pairs = list(zip(items, private, strict=True))
    own = sum((item.spend for item, paid in pairs if paid and item.spend is not None), Fraction(0))
    weights = sum((item.weight for item, paid in pairs if paid and item.spend is None), Fraction(0))
    rest = Fraction(0) if asked is None else asked - own
    if weights and rest <= 0:
        raise LossError(
            f"The questions with .spend(…) take {rounded(float(own))} of the {kind} {rounded(float(asked or 0))} asked, "
            "and nothing is left for the others. Ask more, or spend less."
        )
    if asked is not None and own > asked:
        raise LossError(
            f"The questions with .spend(…) take {rounded(float(own))}, more than the {kind} asked."
        )
    shares: list[Share | None] = []
    for item, paid in pairs:
        amount = (
            item.spend if item.spend is not None else floored(rest * item.weight / weights) if paid else None
        )
        shares.append(Share(kind, _worth(amount)) if paid and amount is not None else None)
    return shares


def _worth(amount: Fraction) -> Fraction:
    if amount < _LOW:
        raise LossError(
            "A question's share of this loss is below 0.000001. Use a larger loss, or ask fewer questions."
        )
    return amount


def _solved(ask: Ask, item: Item, question: CheckedQuestion, schema: Schema) -> Share:
    """Return the smallest share of three digits whose 95 % privacy half-width is at most what is asked.

    Wherever the mean lies that nobody released, and where the noise makes a private size as small as 1 time in 20.
    """
    pure = schema.budget.measure is Measure.PURE
    kind: Literal["epsilon", "rho"] = "epsilon" if pure else "rho"
    if item.spend is not None:
        return Share(kind, item.spend)
    assert ask.within is not None
    wanted, setting, rows = float(ask.within), farthest(question.setting), _planned(ask, question)

    def width(amount: Fraction) -> float:
        pricing = question.price(Share(kind, amount))
        found = question.kind.half_width(setting, pricing, _released_rows(question, pricing, rows))
        if found is None:
            raise LossError(_no_width(question))
        return found

    if width(_HIGH) > wanted:
        raise LossError(f"{question.text} cannot be within {given(wanted)}: its grid is coarser than that.")
    low, high = _LOW, _HIGH
    for _ in range(_STEPS):
        middle = Fraction((float(low) * float(high)) ** 0.5).limit_denominator(10**9)
        if width(middle) > wanted:
            low = middle
        else:
            high = middle
        if float(high) / float(low) < 1.0005:
            break
    share = floored_digits(high, 3)
    while width(share) > wanted and share < _HIGH:
        share = floored_digits(share * _FINER, 3)
    return Share(kind, share)


def _planned(ask: Ask, question: CheckedQuestion) -> float | None:
    """Return the rows to plan a question with, of each group or of both arms: as typed, for all of them together; as released; as named with it."""
    setting = question.setting
    groups = max(setting.cells // (2 if question.kind.arms else 1), 1)
    if ask.assume_n is not None:
        return max(ask.assume_n / groups, 1.0)
    if setting.least is not None and setting.least == setting.most:
        return float(setting.least)
    named = setting.options.get("about")
    return None if named is None else max(int(named) / groups, 1.0)


def _released_rows(question: CheckedQuestion, pricing: Pricing, rows: float | None) -> float | None:
    """Return the number of rows that is released at least, but 1 time in 40, where it is released with noise."""
    if rows is None or question.setting.public_n is not None:
        return rows
    counts = [part for part in pricing.parts if isinstance(part.request, Total) and part.request.value == ONE]
    noised = next(filter(additive, counts), None)
    if noised is None:
        return rows
    return max(rows - (2 if question.kind.arms else 1) * law_of(noised.mechanism).tail_radius(0.05), 1.0)


def _no_width(question: CheckedQuestion) -> str:
    if not question.kind.foretold:
        return f"within= cannot plan {question.text}: its accuracy depends on the data. Ask epsilon= for it, or .spend(epsilon=…)."
    return (
        f"How many people {question.text} is about is private, so within= needs a size to plan with: "
        "add assume_n=1000 (the number of all of them that you expect), or release a count of them first."
    )


def _priced(question: CheckedQuestion, share: Share | None, ask: Ask) -> PricedQuestion:
    facts = question.setting.facts  # whose ranges were looked at for the noise
    if share is None:
        return PricedQuestion(question, None, PrivacyLoss.zero(facts.measure), (), ())
    pricing = question.price(share)
    refuse_unbounded(pricing.parts, facts.ends)
    made = events(pricing.parts, facts)
    costs = whole(made, facts.measure)
    return PricedQuestion(question, share, costs, made, pricing.parts, pricing, _planned(ask, question))
