"""What was paid for an answer: the interval that each payment bought, what a stored answer says of them, and what can be paid on top.

Intervals are concluded from each prefix of the releases by the code that concludes from all of them. Nothing else is read, and what was
concluded once is kept with the answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from dpnb.cards.card import LEVEL, Record
from dpnb.cards.markup import Markup, clean, el
from dpnb.errors import Unavailable
from dpnb.estimate import PendingQuestion
from dpnb.estimate.pending_question import distinct, paid_for
from dpnb.statistics import conclude
from dpnb.statistics.result import Pair, Result
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.releases import Release

#: The newest are drawn; a question measured more often than that is no longer read one by one.
LONGEST = 6
#: A longer vector has no one entry to look at.
_SHORT = 64

_TRAILS: WeakKeyDictionary[Result, tuple[Step, ...]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Step:
    """The 95 % privacy interval after a payment, and what had been paid until then."""

    low: float
    high: float
    paid: str

    def to_json(self) -> Record:
        """Return it in JSON's own types."""
        return {"low": self.low, "high": self.high, "paid": self.paid}


def price_words(names: Sequence[str], loss: PrivacyLoss) -> list[str]:
    """Say of each of some questions what was paid for all of them: the price once, so that the prices of a card add up.

    Examples
    --------
    >>> price_words(["effect", "groups"], PrivacyLoss.pure("0.375"))
    ['ε 0.375 with groups', 'paid with effect']
    """
    first, *others = names
    whole = f"{loss} with {', '.join(others)}" if others else str(loss)
    return [whole, *(f"paid with {first}" for _ in others)]


def trail_of(leaf: PendingQuestion) -> tuple[Step, ...]:
    """Return the privacy intervals of a released number, oldest first, the present one last.

    Parameters
    ----------
    leaf : PendingQuestion
        Released; of a short vector, its least certain entry. A public answer, a reading, and one without a bounded privacy
        interval have no trail.
    """
    if leaf.root is not leaf or leaf.outcome is None or not leaf.releases:
        return ()
    if leaf.outcome not in _TRAILS:
        place = least_certain(leaf)
        _TRAILS[leaf.outcome] = () if place is None else _trail(leaf, place)
    return _TRAILS[leaf.outcome]


def least_certain(leaf: PendingQuestion) -> int | None:
    """Return the place of the widest bounded privacy interval that is not the whole domain: 0 of a single number."""
    if leaf.shape == ():
        return 0
    outcome = leaf.outcome
    pairs = None if outcome is None or outcome.values.size > _SHORT else _pairs(outcome)
    if outcome is None or not pairs:  # no interval, or an answer without entries
        return None
    widths = [_width(pair, outcome.domain) for pair in pairs]
    widest = max(range(len(widths)), key=widths.__getitem__)
    return widest if widths[widest] > 0 else None


def _width(pair: Pair, domain: Pair) -> float:
    (low, high), (lowest, highest) = pair, domain
    return 0.0 if low <= lowest or high >= highest or not math.isfinite(high - low) else high - low


def _pairs(outcome: Result) -> list[Pair] | None:
    """Return both ends for every entry; None where there are none."""
    try:
        low, high = outcome.both(LEVEL, "privacy")
    except Unavailable:
        return None
    return list(zip(low.tolist(), high.tolist(), strict=True))


def more_of(leaf: PendingQuestion) -> str:
    """Return the symbol of what can be paid on top, where what that would buy is known from public facts; else nothing.

    Of a vector where each entry is foretold by itself, so that the one that is drawn stands for what is planned.
    """
    kind = leaf.checked.kind
    if not trail_of(leaf) or not kind.foretold:
        return ""
    return leaf.releases[0].loss.measure.symbol if leaf.shape == () or kind.apart or kind.plannable else ""


def first_of(leaf: PendingQuestion) -> str:
    """Return the symbol of what a pending question can be paid with, where what that buys is known from public facts; else nothing.

    A question that is public, is read from another, or names its own loss has no price to choose.
    """
    checked = leaf.checked
    chosen = leaf.root is leaf and leaf.dataset is not None and leaf.spend is None
    if not chosen or checked.public_value is not None or not checked.kind.foretold:
        return ""
    return "ε" if leaf.dataset.schema.budget.measure is Measure.PURE else "ρ"


def _trail(leaf: PendingQuestion, place: int) -> tuple[Step, ...]:
    releases, steps = distinct(leaf.releases), []
    for upto in range(max(1, len(releases) - LONGEST + 1), len(releases) + 1):
        known = releases[:upto]
        outcome = leaf.outcome if upto == len(releases) else conclude(leaf.checked, known)
        pairs = None if outcome is None else _pairs(outcome)
        if pairs is None or not all(map(math.isfinite, pairs[place])):
            return ()
        steps.append(Step(*pairs[place], str(paid_for(known))))
    return tuple(steps)


# ---------------------------------------------------------------- an answer from the store


AGAIN = "the same answer, also after Restart and Run All, together with what is bought of it later"


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer from the store.

    Parameters
    ----------
    symbol : str
        Of the measure that its dataset counts.
    paid : tuple of str
        Each payment: how much, when, and the entry of the ledger.
    fresh : str
        What new noise would cost: the loss that this cell asks of it, or what was paid before.
    """

    symbol: str
    paid: tuple[str, ...]
    fresh: str

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """What there is to say, each with its heading."""
        return (
            ("paid before", "; ".join(self.paid)),
            ("asked again", f"{self.symbol} 0: {AGAIN}"),
            ("with fresh", f"{self.fresh} for new noise"),
        )

    @property
    def text(self) -> str:
        """The same in one line."""
        return " · ".join(f"{head}: {words}" for head, words in self.rows)

    def to_json(self) -> Record:
        """Return it in JSON's own types."""
        return {"rows": [list(row) for row in self.rows]}


def stored_of(leaf: PendingQuestion | None, fresh: PrivacyLoss | None = None) -> Stored | None:
    """Return what to say of a stored answer; None where something was paid for it now, or it is public or derived.

    Parameters
    ----------
    leaf : PendingQuestion or None
    fresh : PrivacyLoss, optional
        What its cell would pay for it with ``fresh``.
    """
    if leaf is None or not leaf.releases or not all(release.stored for release in leaf.releases):
        return None
    loss = paid_for(leaf.releases) if fresh is None else fresh
    return Stored(loss.measure.symbol, payments(leaf.releases), str(loss))


def payments(releases: Sequence[Release]) -> tuple[str, ...]:
    """Return each payment in words."""
    return tuple(f"{one.loss}{_on(when(one.time))}, ledger entry {one.entry}" for one in distinct(releases))


def when(time: str) -> str:
    """Return a time as a person writes it, to the minute; what is not one is left as it is."""
    day, mark, rest = clean(time).partition("T")
    if not mark or len(rest) < len("00:00"):
        return clean(time)
    zone = " UTC" if rest.endswith(("+00:00", "Z")) else ""
    return f"{day} {rest[:5]}{zone}"


def _on(time: str) -> str:
    return f" on {time}" if time else ""


def badge(paid: str, stored: Stored) -> Markup:
    """Return the badge, which opens: a disclosure that reads without scripts and styles."""
    rows = [el("tr", el("th", head, scope="row"), el("td", words)) for head, words in stored.rows]
    return el(
        "details",
        el("summary", paid, class_="paid free"),
        el("table", el("tbody", *rows), class_="slim"),
        class_="stored",
    )
