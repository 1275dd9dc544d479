"""What was paid for an answer: the interval that each payment bought, what a stored answer says of them, and what can be paid on top.

Intervals are concluded from each prefix of the releases by the code that concludes from all of them. Nothing else is read, and what was
concluded once is kept with the answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from dpnb.cards.markup import Markup, clean, el
from dpnb.errors import DpnbError, Unavailable
from dpnb.estimate import PendingQuestion
from dpnb.statistics import conclude
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release

LEVEL = 0.95
#: The newest are drawn; a question measured more often than that is no longer read one by one.
LONGEST = 6
#: A longer vector has no one entry to look at.
_SHORT = 64
#: How far the half-width that is priced may be from the one that was released, for an entry of a vector.
_LIKE = 1.5
_ANY_SIZE = 1000.0

_TRAILS: WeakKeyDictionary[Any, tuple[Step, ...]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Step:
    """The 95 % privacy interval after a payment, and what had been paid until then."""

    low: float
    high: float
    paid: str

    @property
    def half_width(self) -> float:
        """Half of its width."""
        return (self.high - self.low) / 2

    def to_json(self) -> dict[str, Any]:
        """Return it in JSON's own types."""
        return {"low": self.low, "high": self.high, "paid": self.paid}


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
    shape = tuple(leaf.shape or ())
    if shape == ():
        return 0
    pairs = _pairs(leaf.outcome) if math.prod(shape) <= _SHORT else None
    if not pairs:  # no interval, or an answer without entries
        return None
    ends = leaf.outcome.domain  # type: ignore[union-attr]
    known = [None if end is None else float(end) for end in np.ravel(np.asarray(ends, dtype=object))[:2]]
    widths = [_width(pair, known) for pair in pairs]
    widest = max(range(len(widths)), key=widths.__getitem__)
    return widest if widths[widest] > 0 else None


def _width(pair: tuple[float, float], domain: list[float | None]) -> float:
    low, high = pair
    at_ends = (domain[0] is not None and low <= domain[0]) or (domain[1] is not None and high >= domain[1])
    return 0.0 if at_ends or not math.isfinite(high - low) else high - low


def _pairs(outcome: Any) -> list[tuple[float, float]] | None:
    """Return both ends for every entry; None where there are none."""
    try:
        low, high = outcome.interval(LEVEL, "privacy")
    except Unavailable:
        return None
    return [(float(a), float(b)) for a, b in zip(np.ravel(low), np.ravel(high), strict=True)]


def paid_for(releases: tuple[Release, ...]) -> PrivacyLoss:
    """Return what some distinct releases cost together."""
    return sum((release.loss for release in releases[1:]), releases[0].loss)


def more_of(leaf: PendingQuestion) -> str:
    """Return the symbol of what can be paid on top, where what that would buy is known from public facts; else nothing."""
    if not trail_of(leaf) or not leaf.checked.kind.foretold:
        return ""
    return leaf.releases[0].loss.measure.symbol if leaf.shape == () or _alike(leaf) else ""


def _alike(leaf: PendingQuestion) -> bool:
    """Tell whether what is planned of a vector is about the entry that is drawn: it may hold numbers of several kinds."""
    paid, kind = paid_for(leaf.releases), leaf.checked.kind
    share = Share("epsilon" if paid.measure is Measure.PURE else "rho", paid.amount)
    try:
        width = kind.half_width(leaf.checked.setting, kind.price(leaf.checked.setting, share), _size(leaf))
    except DpnbError:
        return False
    return width is not None and 1 / _LIKE <= width / trail_of(leaf)[-1].half_width <= _LIKE


def first_of(leaf: PendingQuestion) -> str:
    """Return the symbol of what a pending question can be paid with, where what that buys is known from public facts; else nothing.

    A question that is public, is read from another, or names its own loss has no price to choose.
    """
    budget = getattr(getattr(leaf.dataset, "schema", None), "budget", None)
    public = getattr(leaf.checked, "public_value", None) is not None
    if leaf.root is not leaf or budget is None or public or leaf.spend is not None:
        return ""
    if not leaf.checked.kind.foretold:
        return ""
    return "ε" if budget.measure is Measure.PURE else "ρ"


def _size(leaf: PendingQuestion) -> float:
    """Return the released number of people behind the entry that is drawn, where it is known."""
    place, sizes = least_certain(leaf), getattr(leaf.outcome, "n", None)
    found = _ANY_SIZE if place is None or sizes is None else float(np.ravel(sizes)[place])
    return found if math.isfinite(found) and found >= 1 else _ANY_SIZE


def _trail(leaf: PendingQuestion, place: int) -> tuple[Step, ...]:
    releases = tuple({release.id: release for release in leaf.releases}.values())
    steps = []
    for upto in range(max(1, len(releases) - LONGEST + 1), len(releases) + 1):
        known = releases[:upto]
        outcome = leaf.outcome if upto == len(releases) else conclude(leaf.checked, known)
        pairs = _pairs(outcome)
        if pairs is None or not all(map(math.isfinite, pairs[place])):
            return ()
        steps.append(Step(*pairs[place], str(paid_for(known))))
    return tuple(steps)


# ---------------------------------------------------------------- an answer from the store


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
    name : str
        What it is called in code.
    """

    symbol: str
    paid: tuple[str, ...]
    fresh: str
    name: str = "answer"

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """What there is to say, each with its heading."""
        return (
            ("paid before", "; ".join(self.paid)),
            ("asked again", f"{self.symbol} 0: the same answer, also after Restart and Run All"),
            ("with fresh", f"{self.fresh} for new noise"),
            ("together", f"dpnb.combine({self.name}) makes one of every answer held of it, free"),
        )

    @property
    def text(self) -> str:
        """The same in one line."""
        return " · ".join(f"{head}: {words}" for head, words in self.rows)

    def to_json(self) -> dict[str, Any]:
        """Return it in JSON's own types."""
        return {"rows": [list(row) for row in self.rows]}


def stored_of(
    leaf: PendingQuestion | None, fresh: PrivacyLoss | None = None, name: str = ""
) -> Stored | None:
    """Return what to say of a stored answer; None where something was paid for it now, or it is public or derived.

    Parameters
    ----------
    leaf : PendingQuestion or None
    fresh : PrivacyLoss, optional
        What its cell would pay for it with ``fresh``.
    name : str
        What it is called on its card.
    """
    if leaf is None or not leaf.releases or not all(release.stored for release in leaf.releases):
        return None
    loss = paid_for(tuple(leaf.releases)) if fresh is None else fresh
    called = name if name.isidentifier() else "answer"
    return Stored(loss.measure.symbol, payments(leaf.releases), str(loss), called)


def payments(releases: Sequence[Release]) -> tuple[str, ...]:
    """Return each payment in words."""
    distinct = {release.id: release for release in releases}.values()
    return tuple(f"{one.loss}{_on(when(one.time))}, ledger entry {one.entry}" for one in distinct)


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
