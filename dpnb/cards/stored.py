"""What there is to say of an answer that came from the store: when it was paid, by which entry, and what asking anew would cost.

Read from the releases alone. Every form of a card says it in the same words, behind the badge "stored · ε 0".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpnb.cards.markup import Markup, clean, el
from dpnb.cards.trail import paid_for
from dpnb.estimate import PendingQuestion
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.releases import Release


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
