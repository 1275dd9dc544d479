"""What the answers of a wall say together: their average with its interval, and what all their releases cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import median

from dpnb.errors import DpnbError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.statistics import conclude
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.releases import Release
from dpnb.widgets.wall_answers import LEVEL, Answer


@dataclass(frozen=True, slots=True)
class Average:
    """The averaged answer.

    Parameters
    ----------
    value, low, high : float
        The average, and the ends of its 95 % privacy interval.
    count : int
        How many answers are in it.
    """

    value: float
    low: float
    high: float
    count: int

    @property
    def half(self) -> float:
        """Half of its interval."""
        return (self.high - self.low) / 2


def average(answers: Sequence[Answer], asked: PendingQuestion | None = None) -> Average | None:
    r"""Average answers of one question, each weighted by one over its noise variance.

    Where the question itself is held, the released integers of all answers are put together under their laws, as :func:`dpnb.combine`
    does it. Of exports alone the widths of their intervals are known: with half-widths :math:`h_i` the weights are
    :math:`w_i ∝ 1/h_i^2` and the half-width is :math:`1/\sqrt{\sum 1/h_i^2}`, exact for normal noise and at most a tenth too wide
    for Laplace noise; an average of ratios (a mean of few rows) is off by their bias. Answers under the same laws have the same
    noise: then :math:`h` is the median of theirs, since an interval that ends at a bound is too short.

    Parameters
    ----------
    answers : sequence of Answer
        Of one question, without copies.
    asked : PendingQuestion, optional
        A question that is held, and may be theirs.

    Returns
    -------
    Average or None
        None for fewer than two answers that can be averaged: choices cannot, and of answers that share a draw one counts.
    """
    if not all(one.additive for one in answers):
        return None
    apart = _apart(answers)
    if len(apart) < 2:
        return None
    return _put_together(answers, asked) or _weighted(apart)


def _put_together(answers: Sequence[Answer], asked: PendingQuestion | None) -> Average | None:
    """The exact average; None where the held question is not that of the answers, to the last digit of each."""
    if asked is None or asked.checked is None:
        return None
    releases = {release.id: release for one in answers for release in one.releases}
    if {release.question for release in releases.values()} != {asked.question.canonical()}:
        return None
    with suppress(DpnbError, LookupError, TypeError, ValueError, ArithmeticError):  # integers of a file
        if all(math.isclose(_concluded(asked, one.releases).value, one.value) for one in answers):
            both = _concluded(asked, tuple(releases.values()))
            low, high = both.interval(LEVEL, "privacy")
            return Average(float(both.value), float(low), float(high), len(answers))
    return None


def _concluded(asked: PendingQuestion, releases: tuple[Release, ...]) -> Estimate:
    """What releases say of a question, whichever ledger paid for them."""
    made = PendingQuestion(asked.question, asked.checked, dataset=None)
    made.fill(releases, conclude(asked.checked, releases))
    return Estimate.leaf(made)


def _weighted(answers: Sequence[Answer]) -> Average | None:
    halves = _halves(answers)
    known = [(one.value, half) for one, half in zip(answers, halves, strict=True) if half > 0]
    if len(known) < 2:
        return None
    weights = [half**-2 for _, half in known]
    value = sum(weight * value for weight, (value, _) in zip(weights, known, strict=True)) / sum(weights)
    half = 1 / math.sqrt(sum(weights))
    return Average(value, value - half, value + half, len(known))


def _halves(answers: Sequence[Answer]) -> list[float]:
    """The half-width of each answer: the median of all under the same laws."""
    same: dict[str, list[float]] = {}
    for one in answers:
        same.setdefault(one.laws, []).append(one.half)
    return [median(same[one.laws]) for one in answers]


def _apart(answers: Iterable[Answer]) -> list[Answer]:
    """The answers in their order, without those that share a draw with one before."""
    seen: set[str] = set()
    found = []
    for one in answers:
        if seen.isdisjoint(one.draws):
            found.append(one)
        seen |= one.draws
    return found


def paid(answers: Iterable[Answer]) -> list[PrivacyLoss]:
    """Return what all releases of the answers cost together, each release once: a sum for each measure."""
    releases: dict[str, Release] = {release.id: release for one in answers for release in one.releases}
    sums: dict[Measure, PrivacyLoss] = {}
    for release in releases.values():
        loss = release.loss
        sums[loss.measure] = sums[loss.measure] + loss if loss.measure in sums else loss
    return list(sums.values())
