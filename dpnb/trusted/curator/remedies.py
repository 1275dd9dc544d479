"""What to do when a cell asks for more than is left. Each way is tried before it is named, by the code that would charge it.

A trial plans the cell as it would be written then, looks up what is stored, and asks the ledger whether the rest would be admitted. It
writes nothing, and what it tells follows from budgets, prices and the asker's own releases alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from dpnb.plan.price import PricedQuestion, price
from dpnb.plan.request import Ask, BatchPlan, Item
from dpnb.trusted.curator.admission import option_that_fits
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.open_dataset import Attached
from dpnb.trusted.curator.release import Wanted, cost, held_shares, stored_answers, to_charge
from dpnb.trusted.errors import DpnbError
from dpnb.trusted.privacy import PrivacyLoss, brief, floored_digits
from dpnb.trusted.privacy.loss import parse_exact

_SMALLER = (Fraction(1), Fraction(9, 10), Fraction(3, 4), Fraction(1, 2), Fraction(1, 4))
"""Parts of the amount that fits by the mechanisms alone: what is rounded, or fixed by .spend(…), may leave less room."""


def remedies(wanted: Wanted, attached: Attached, ledger: Ledger) -> list[str]:
    """Return the ways out of a batch that was refused, each of which would be admitted now.

    Parameters
    ----------
    wanted : Wanted
        What was refused.
    attached : Attached
        The dataset; its lock is held.
    ledger : Ledger
    """
    trials = _Trials(wanted, attached, ledger)
    return [way for found in (trials.less(), trials.stored(), trials.fewer()) for way in found]


class _Trials:
    """The ways out of one refused batch, each tried."""

    def __init__(self, wanted: Wanted, attached: Attached, ledger: Ledger) -> None:
        self._wanted, self._attached, self._ledger = wanted, attached, ledger
        self._batch = wanted.priced.batch
        stored = stored_answers(wanted, attached, ledger)
        self._paying = to_charge(wanted, stored)

    def less(self) -> Iterator[str]:
        """The same cell at a smaller loss."""
        events = [event for question in self._paying for event in question.events]
        option = option_that_fits(self._left, events)
        if option is None:
            return
        for part in _SMALLER:
            name, amount = option[0], floored_digits(option[1] * part)
            if amount > 0 and self._fits(self._batch.items, **{name: amount}):
                yield f"%%dp {name}={brief(amount, 'down')}"
                return

    def stored(self) -> Iterator[str]:
        """What is stored, as it is stored: at the loss that it was released with."""
        if self._wanted.fresh and self._admitted(replace(self._wanted, fresh=False)):
            yield "leave out fresh"
        held = self._held()
        if not held:
            return
        spends = [held.get(item.key, item.share.amount) if item.share else None for item in self._items]
        items = tuple(
            replace(item, spend=spend) for item, spend in zip(self._batch.items, spends, strict=True)
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
        kept = [
            item
            for item, priced in zip(self._batch.items, self._items, strict=True)
            if priced is not question
        ]
        ask = {}
        if self._batch.ask.kind == self._kind and question.share is not None:
            asked = getattr(self._batch.ask, self._kind) - question.share.amount
            ask = {self._kind: floored_digits(asked, 4)}
        if self._fits(tuple(kept), **ask):
            option = "".join(
                f" and write %%dp {name}={brief(amount, 'down')}" for name, amount in ask.items()
            )
            yield f"leave out {question.text}{option}"

    @property
    def _items(self) -> tuple[PricedQuestion, ...]:
        return self._wanted.priced.items

    @property
    def _kind(self) -> str:
        return next(question.share.kind for question in self._paying if question.share is not None)

    @property
    def _left(self) -> PrivacyLoss:
        return self._ledger.left(self._attached.pool, self._wanted.principal, self._attached.budget.cap)

    def _held(self) -> Mapping[str, Fraction]:
        """The losses at which questions to be paid for are stored."""
        shares = held_shares(self._wanted, self._attached, self._ledger)
        paying = {question.key for question in self._paying}
        return {
            item.key: parse_exact(share["share"])
            for item, share in zip(self._items, shares, strict=True)
            if share is not None and item.key in paying and share["kind"] == self._kind
        }

    def _fits(self, items: tuple[Item, ...], **asked: Fraction) -> bool:
        """Whether these questions would be admitted, asked like this."""
        ask = self._batch.ask
        if asked:
            ask = Ask(**asked, fresh=ask.fresh, assume_n=ask.assume_n)
        try:
            priced = price(
                BatchPlan(self._batch.dataset, self._batch.schema_version, items, ask), self._attached.schema
            )
        except DpnbError:
            return False
        return self._admitted(replace(self._wanted, priced=priced))

    def _admitted(self, wanted: Wanted) -> bool:
        stored = stored_answers(wanted, self._attached, self._ledger)
        asked = cost(wanted, stored, self._attached, self._ledger)
        return self._ledger.admits(self._attached.pool, wanted.principal, self._attached.budget.cap, asked)
