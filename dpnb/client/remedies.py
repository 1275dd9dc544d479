"""What to do when a cell asks for more than is left. Each way is tried before it is named: planned, and looked up without spending.

A trial plans the cell as it would be written then, and asks the curator what that would be charged and whether it would be admitted. What
it tells follows from budgets, prices and the asker's own releases alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from dpnb.client.priced_batch import AskedBatch, held_shares, stored_questions
from dpnb.errors import BudgetError, DpnbError
from dpnb.planner.price import PricedQuestion, price
from dpnb.planner.request import Ask, Item
from dpnb.trusted.privacy.accountant import compose
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss, brief, floored_digits
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.wire.codec import exact_json
from dpnb.trusted.wire.messages import Peeked

_SMALLER = (Fraction(1), Fraction(9, 10), Fraction(3, 4), Fraction(1, 2), Fraction(1, 4))
"""Parts of the amount that fits by the mechanisms alone: what is rounded, or fixed by .spend(…), may leave less room."""
_UNCHANGED = "Nothing was spent."

Look = Callable[[AskedBatch], Peeked]


def with_remedies(refusal: BudgetError, batch: AskedBatch, look: Look) -> BudgetError:
    """Return a refusal that names the ways out before its last sentence, each of which would be admitted now.

    Parameters
    ----------
    refusal : BudgetError
    batch : AskedBatch
        What was refused.
    look : callable
        Looks up what a batch would be charged; it spends nothing.
    """
    ways: list[str] = []
    with contextlib.suppress(DpnbError):  # the refusal stands, whatever became of the curator meanwhile
        trials = _Trials(batch, look)
        ways += [way for found in (trials.less(), trials.stored(), trials.fewer()) for way in found]
    if not ways:
        return refusal
    facts = refusal.message.removesuffix(_UNCHANGED)
    return BudgetError(f"{facts}Options: {' · '.join(ways)}. {_UNCHANGED}", **refusal.details)


def option_that_fits(left: PrivacyLoss, events: Sequence[PrivacyEvent]) -> tuple[str, Fraction] | None:
    """Return the option and the amount at which mechanisms together fit what is left, rounded down to three digits.

    What is paid in ρ for an ε is no power of it, and is searched.
    """
    kinds = {event.kind for event in events}
    if left.measure is Measure.PURE:
        name, amount = "epsilon", left.amount
    elif kinds == {"gaussian"}:
        name, amount = "rho", left.amount
    elif "gaussian" not in kinds:
        name, amount = "epsilon", sum((event.amount for event in events), Fraction(0)) * _shrink(left, events)
    else:
        return None
    amount = floored_digits(amount)
    return (name, amount) if amount > 0 else None


def _shrink(left: PrivacyLoss, events: Sequence[PrivacyEvent]) -> Fraction:
    """Return a part of every ε, in millionths, at which the events together fit."""
    low, high = 0, 10**6
    while low < high:
        middle = (low + high + 1) // 2
        scaled = [event.scaled(Fraction(middle, 10**6)) for event in events]
        low, high = (
            (middle, high) if compose(scaled, left.measure).amount <= left.amount else (low, middle - 1)
        )
    return Fraction(low, 10**6)


class _Trials:
    """The ways out of one refused batch, each tried."""

    def __init__(self, batch: AskedBatch, look: Look) -> None:
        self._asked, self._look = batch, look
        peeked = look(batch)
        stored = stored_questions(batch, peeked)
        self._left = PrivacyLoss.from_json(exact_json(peeked.left))
        self._shares = held_shares(batch, peeked)
        self._paying = [
            item
            for item, answered in zip(batch.priced.items, stored, strict=True)
            if not answered and not item.public
        ]

    def less(self) -> Iterator[str]:
        """The same cell at a smaller loss."""
        events = [event for question in self._paying for event in question.events]
        option = option_that_fits(self._left, events)
        if option is None:
            return
        for part in _SMALLER:
            name, amount = option[0], floored_digits(option[1] * part)
            if amount > 0 and self._fits(self._asked.priced.asked, **{name: amount}):
                yield f"%%dp {name}={brief(amount, 'down')}"
                return

    def stored(self) -> Iterator[str]:
        """What is stored, as it is stored: at the loss that it was released with."""
        if self._asked.priced.ask.fresh and self._admitted(replace(self._asked.priced.ask, fresh=False)):
            yield "leave out fresh"
        held = self._held()
        if not held:
            return
        spends = [held.get(item.key, item.share.amount) if item.share else None for item in self._items]
        items = tuple(
            replace(item, spend=spend) for item, spend in zip(self._asked.priced.asked, spends, strict=True)
        )
        if self._fits(items, **{self._kind: sum(filter(None, spends), Fraction(0))}):
            yield f"{self._said(held)} (%dp ledger)"

    def _said(self, held: Mapping[str, Fraction]) -> str:
        if len(held) > 1:
            return f"{len(held)} of these questions are stored"
        ((key, amount),) = held.items()
        (text,) = (item.text for item in self._items if item.key == key)
        return f"{text} is stored at {self._kind}={brief(amount, 'down')}"

    def fewer(self) -> Iterator[str]:
        """The cell without the cheapest question that is enough; the others keep their losses."""
        if len(self._items) < 2:
            return
        for question in sorted(self._paying, key=lambda paying: paying.loss.amount):
            rest = sum((one.loss.amount for one in self._paying if one is not question), Fraction(0))
            if rest <= self._left.amount:
                yield from self._without(question)
                return

    def _without(self, question: PricedQuestion) -> Iterator[str]:
        kept = tuple(
            item
            for item, priced in zip(self._asked.priced.asked, self._items, strict=True)
            if priced is not question
        )
        ask = {}
        if self._asked.priced.ask.kind == self._kind and question.share is not None:
            asked = getattr(self._asked.priced.ask, self._kind) - question.share.amount
            ask = {self._kind: floored_digits(asked, 4)}
        if self._fits(kept, **ask):
            option = "".join(
                f" and write %%dp {name}={brief(amount, 'down')}{self._source(amount)}"
                for name, amount in ask.items()
            )
            yield f"leave out {question.text}{option}"

    def _source(self, amount: Fraction) -> str:
        """Say where an amount comes from that is larger than what is left."""
        return " (what is stored of it is free)" if amount > self._left.amount else ""

    @property
    def _items(self) -> tuple[PricedQuestion, ...]:
        return self._asked.priced.items

    @property
    def _kind(self) -> str:
        return next(question.share.kind for question in self._paying if question.share is not None)

    def _held(self) -> Mapping[str, Fraction]:
        """The losses at which questions to be paid for are stored."""
        paying = {question.key for question in self._paying}
        return {
            item.key: share.amount
            for item, share in zip(self._items, self._shares, strict=True)
            if share is not None and item.key in paying and share.kind == self._kind
        }

    def _fits(self, items: tuple[Item, ...], **asked: Fraction) -> bool:
        """Whether these questions would be admitted, asked like this."""
        ask = self._asked.priced.ask
        return self._admitted(Ask(**asked, fresh=ask.fresh, assume_n=ask.assume_n) if asked else ask, items)

    def _admitted(self, ask: Ask, items: tuple[Item, ...] | None = None) -> bool:
        old = self._asked.priced
        try:
            priced = price(old.asked if items is None else items, ask, old.schema)
        except DpnbError:
            return False
        return self._look(replace(self._asked, priced=priced)).admitted
