"""The loss that a stored answer covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpnb.planner.price import PricedQuestion
from dpnb.planner.sharing import additive, pieces
from dpnb.statistics.noise import amount
from dpnb.trusted.measurements import Facts, Measurement, events
from dpnb.trusted.mechanisms import AnyMechanism, DiscreteGaussian
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases.record import ShareKind

Paid = Mapping[str, Any]


def held_share(item: PricedQuestion, paid: Sequence[Paid | None], facts: Facts) -> Share | None:
    """Return the largest share that what is stored of a question covers; nothing where a part of it is not stored.

    Nothing either where what is stored was paid in another measure, in which the question is answered by other parts.

    Parameters
    ----------
    item : PricedQuestion
    paid : sequence of mapping or None
        For each of its parts what the stored answer cost: its events alone, and the share that was asked.
    facts : Facts
    """
    known = [Share.from_json(one["share"]) for one in paid if one is not None]
    if item.share is None or len(known) < len(paid) or len({share.kind for share in known}) > 1:
        return None
    if len(pieces(item.parts, facts)) < len(item.parts) or not all(map(additive, item.parts)):
        return min(known, key=lambda share: share.amount)
    unit = item.share if item.share.kind == known[0].kind else Share(known[0].kind, Fraction(1))
    wanted = item.checked.price(unit).parts
    if [part.name for part in wanted] != [part.name for part in item.parts]:
        return None
    covered = [_covered(part, one, facts) for part, one in zip(wanted, paid, strict=True) if one is not None]
    return Share(unit.kind, unit.amount * min(covered))


def covered_share(item: PricedQuestion, mechanisms: Sequence[AnyMechanism]) -> Share:
    """Return the largest share whose noise is nowhere less than that of some sums, which serve a question.

    Where another kind of loss would choose other sums, as for a quantile, it is the share that was asked for.
    """
    assert item.share is not None
    kind: ShareKind = "rho" if any(isinstance(one, DiscreteGaussian) for one in mechanisms) else "epsilon"
    unit = item.share if item.share.kind == kind else Share(kind, Fraction(1))
    wanted = item.checked.price(unit).parts
    if [part.name for part in wanted] != [part.name for part in item.parts]:
        return item.share
    ratios = [amount(part.mechanism) / amount(one) for part, one in zip(wanted, mechanisms, strict=True)]
    return Share(kind, unit.amount * min(ratios))


def gain(item: PricedQuestion) -> Fraction:
    """Return how many times its share a question would have to spend alone for the noise that it has beside others."""
    if not item.shares or item.share is None or not all(map(additive, item.parts)):
        return Fraction(1)
    return covered_share(item, [part.mechanism for part in item.parts]).amount / item.share.amount


def _covered(part: Measurement, paid: Paid, facts: Facts) -> Fraction:
    """Return how many times a measurement was paid for, by what it costs alone."""
    (wanted,) = events((part,), facts)
    return sum((PrivacyEvent.from_json(one).amount for one in paid["events"]), Fraction(0)) / wanted.amount
