"""The answer to a question, put together from the releases of what it measures."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from dpnb.planner.held import covered_share
from dpnb.planner.price import PricedBatch, PricedQuestion
from dpnb.planner.sharing import additive
from dpnb.trusted.measurements import events
from dpnb.trusted.mechanisms.mechanism_record import read_law
from dpnb.trusted.privacy.accountant import whole
from dpnb.trusted.privacy.loss import PrivacyLoss, exact_text
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release, ReleasedPart


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
