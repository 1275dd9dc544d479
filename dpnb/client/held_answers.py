"""Every stored answer of a question, free: what a cell that is run again hands out is the best that is held, or all of it combined.

The curator hands out its own bytes, one answer at a time: the oldest that cost enough and is not held yet. The kernel asks on, for a
thousandth of the share, until nothing more is stored. Which answers are taken, and their weights, follow from their losses and from the
laws of their noise, never from released values. Selections cannot be averaged: of them the answer with the largest loss is taken.

A look-up comes before each request, so that only what is stored is asked; nothing is charged.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpnb.client.connection import Line
from dpnb.client.priced_batch import AskedBatch, batch_of, stored_questions, told_answers
from dpnb.errors import DpnbError, Unavailable
from dpnb.estimate import PendingQuestion
from dpnb.estimate.pending_question import distinct
from dpnb.planner.price import PricedQuestion, price
from dpnb.planner.request import Ask
from dpnb.planner.sharing import additive
from dpnb.statistics import conclude
from dpnb.statistics.released import best, draws_of
from dpnb.trusted.privacy.loss import floored_digits, parse_exact
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release
from dpnb.trusted.wire.messages import Answered, Peek, Peeked, Submit

_FAR_LESS, _MOST_HELD = 1000, 99
"""How much less an answer may have cost to be worth adding to another, and how many are."""
_LEVEL = 0.95


@dataclass
class Wanted:
    """A question whose stored answers are wanted: a share that each should have a thousandth of, and the answers that are held already."""

    question: PendingQuestion
    share: Share
    releases: tuple[Release, ...] = ()


def fetch_held(line: Line, wanted: Sequence[Wanted]) -> None:
    """Add to some questions every other answer to them that is stored; where one cannot be fetched now, what was found stays."""
    for kind in ("epsilon", "rho"):
        left = [one for one in wanted if one.share.kind == kind]
        for _ in range(_MOST_HELD):
            left = _one_more(line, left) if left else []


def _one_more(line: Line, wanted: Sequence[Wanted]) -> list[Wanted]:
    """Add one more answer to each question that has one; return these."""
    try:
        batch = _asked(wanted)
        stored = stored_questions(batch, _look_up(line, batch))
        if any(stored) and not all(stored):
            wanted = [one for one, there in zip(wanted, stored, strict=True) if there]
            batch = _asked(wanted)
            stored = stored_questions(batch, _look_up(line, batch))
        if not stored or not all(stored):
            return []
        found = [release for release in _fetched(line, batch) if release is not None]
    except DpnbError:
        return []
    if len(found) != len(wanted) or not all(release.stored for release in found):
        return []
    for one, release in zip(wanted, found, strict=True):
        one.releases = (*one.releases, release)
    return list(wanted)


def _look_up(line: Line, batch: AskedBatch) -> Peeked:
    told: Peeked = line.ask(Peek(handle=batch.dataset.handle, plan=batch.body), Peeked)
    return told


def _fetched(line: Line, batch: AskedBatch) -> tuple[Release | None, ...]:
    """Return the answers of a batch of which all was just found stored; its questions stay as they are."""
    request = secrets.token_hex(16)
    message = Submit(handle=batch.dataset.handle, request=request, digest=batch.digest, plan=batch.body)
    return told_answers(batch, line.ask(message, Answered))


def _asked(wanted: Sequence[Wanted]) -> AskedBatch:
    """Return the batch that asks a thousandth of each share, and none of the draws that are held."""
    pending = []
    for one in wanted:
        more = one.question.again()
        more.share(spend=floored_digits(one.share.amount / _FAR_LESS), spend_as=one.share.kind)
        pending.append(more)
    total = sum((more.spend for more in pending if more.spend is not None), Fraction(0))
    batch = batch_of(pending, Ask(rho=total) if wanted[0].share.kind == "rho" else Ask(epsilon=total))
    return replace(batch, again=draws_of(release for one in wanted for release in one.releases))


def handed_out(item: PricedQuestion, releases: Sequence[Release]) -> tuple[Release, ...]:
    """Return what a question is answered with: all that is held where noise is added, of selections what cost most."""
    known = distinct(releases)
    return known if len(known) == 1 or all(map(additive, item.parts)) else (best(known),)


def with_held(
    line: Line, batch: AskedBatch, releases: Sequence[Release | None]
) -> tuple[tuple[Release, ...], ...]:
    """Return the answers of a batch, each stored one beside the others that are held."""
    wanted = {
        place: Wanted(group[0], _share(release), (release,))
        for place, (group, release) in enumerate(zip(batch.groups, releases, strict=True))
        if release is not None and release.stored and not batch.again
    }
    fetch_held(line, list(wanted.values()))
    return tuple(
        handed_out(item, wanted[place].releases) if place in wanted else () if release is None else (release,)
        for place, (item, release) in enumerate(zip(batch.priced.items, releases, strict=True))
    )


def _share(release: Release) -> Share:
    return Share(release.share_kind, parse_exact(release.share))


def stored_widths(line: Line, batch: AskedBatch, stored: Sequence[bool]) -> tuple[float | None, ...]:
    """Return the 95 % privacy half-width that the stored answer of each question will show, the widest of several; else nothing."""
    wanted = {
        place: Wanted(group[0], item.share)
        for place, (group, item, there) in enumerate(
            zip(batch.groups, batch.priced.items, stored, strict=True)
        )
        if there and item.share is not None
    }
    fetch_held(line, list(wanted.values()))
    items = batch.priced.items
    return tuple(
        half_width_of(items[place], wanted[place].releases) if place in wanted else None
        for place in range(len(items))
    )


def half_width_of(item: PricedQuestion, releases: Sequence[Release]) -> float | None:
    """Return the 95 % privacy half-width of what some answers are handed out as; nothing where there is no such interval."""
    if not releases:
        return None
    try:
        found = conclude(item.checked, handed_out(item, releases)).interval(_LEVEL, "privacy").half_width
    except Unavailable:
        return None
    return float(np.max(np.asarray(found, dtype=float)))


def met_by_held(line: Line, batch: AskedBatch) -> AskedBatch:
    """Return a batch of ``within=`` in which a question that a held answer is accurate enough for asks no more than this cost.

    So that a cell that is run again is free, whatever is known of sizes since.
    """
    if batch.priced.ask.within is None or batch.priced.ask.fresh:
        return batch
    wanted = {
        place: Wanted(group[0], item.share)
        for place, (group, item) in enumerate(zip(batch.groups, batch.priced.items, strict=True))
        if item.share is not None
    }
    fetch_held(line, list(wanted.values()))
    asked = list(batch.priced.asked)
    for place, one in wanted.items():
        good = [release for release in one.releases if _meets(batch, place, release)]
        if good:
            enough = min(good, key=lambda release: parse_exact(release.share))
            asked[place] = replace(asked[place], spend=parse_exact(enough.share))
    if asked == list(batch.priced.asked):
        return batch
    known = [item.checked for item in batch.priced.items]
    priced = price(tuple(asked), batch.priced.ask, batch.dataset.schema, known)
    return replace(batch, priced=priced)


def _meets(batch: AskedBatch, place: int, release: Release) -> bool:
    item, within = batch.priced.items[place], batch.priced.ask.within
    kind = None if item.share is None else item.share.kind
    found = half_width_of(item, (release,))
    return release.share_kind == kind and found is not None and within is not None and found <= within
