"""The answers of a class wall: what released estimates and their exports say of one number, and which of them are the same noise.

An export is a file of its student's own making. It is read strictly and never run: what is no answer is refused with a reason that
holds none of it, and texts are cut and cleaned before they are shown.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import median

from dpnb.cards.markup import clean
from dpnb.errors import DpnbError, OptionError, PlanError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.statistics import conclude
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.releases import Release
from dpnb.widgets.registry import Names

LEVEL = 0.95
_DEEPEST = 3
"""How deep answers may lie in an export: ``{"monday": [mean, count]}``."""
_NAME, _TEXT = 60, 300
_RECORD = {"question", "value", "intervals", "releases"}
_FOREIGN = "it holds no answer of dpnb"


@dataclass(frozen=True, slots=True)
class Answer:
    """One released number, as a wall shows it.

    Parameters
    ----------
    who : str
        Whose it is: the name of a file, or of an answer.
    question : str
        What was asked, in words.
    asked : tuple of str
        What two answers of one question have in common: its words, its estimand and its canonical texts. No version of the data
        is among them: every ledger names its own.
    value, low, high : float
        The answer, and the ends of its 95 % privacy interval.
    releases : tuple of Release
        The records beneath.
    estimate : Estimate, optional
        Where it is held alive.
    protected : bool
        Whether it is known to be of data that are no TEACHING data.
    """

    who: str
    question: str
    asked: tuple[str, ...]
    value: float
    low: float
    high: float
    releases: tuple[Release, ...]
    estimate: Estimate | None = None
    protected: bool = False

    @property
    def draws(self) -> frozenset[str]:
        """The ids of its draws: equal ids are the same noise."""
        return frozenset(part.draw for release in self.releases for part in release.parts)

    @property
    def laws(self) -> str:
        """The laws of its noise: what is equal here has the same spread."""
        return str(
            [(part.name, sorted(part.law.items())) for release in self.releases for part in release.parts]
        )

    @property
    def additive(self) -> bool:
        """Whether it is a number with noise added, and no choice among candidates."""
        return all("kind" in part.law for release in self.releases for part in release.parts)

    @property
    def loss(self) -> PrivacyLoss:
        """What its releases cost together."""
        first, *others = (release.loss for release in self.releases)
        return sum(others, first)

    @property
    def half(self) -> float:
        """The longer side of its interval."""
        return max(abs(self.value - self.low), abs(self.high - self.value))

    def holds(self, truth: float | None) -> bool | None:
        """Whether its interval holds the truth; None where that is not known."""
        return None if truth is None else self.low <= truth <= self.high


def answer_of(estimate: object, who: str) -> Answer:
    """Return an estimate that is held, as an answer of a wall.

    Raises
    ------
    OptionError
        For something else than an estimate.
    PlanError
        For what has no single number with a privacy interval; the message says why.
    PendingError
        Before the release.
    """
    found = getattr(estimate, "estimate", estimate)
    if not isinstance(found, Estimate):
        raise OptionError(f'A wall shows released answers, or a folder of them: wall("answers/"), not {who}.')
    record = found.to_dict(LEVEL)
    try:
        return _read(record, who, found, protected=_protected(found))
    except PlanError as reason:
        raise PlanError(f"`{clean(found.text)}` cannot be shown on a wall: {reason}.") from None


def _protected(estimate: Estimate) -> bool:
    held = [leaf.dataset.root for leaf in estimate.leaves() if leaf.dataset is not None]
    return any(not hasattr(type(root), "public_rows") for root in held)


def answers_in(plain: object, who: str, *, protected: bool = False) -> Iterator[Answer]:
    """Yield the answers of an export: one record, or several in a list or by name.

    Raises
    ------
    PlanError
        With the reason, where there is none, or one that a wall cannot show.
    """
    records = list(_records(plain, _DEEPEST))
    if not records:
        raise PlanError(_FOREIGN)
    for record in records:
        yield _read(record, who, None, protected=protected)


def _records(plain: object, depth: int) -> Iterator[Names]:
    if isinstance(plain, Mapping) and set(plain) >= _RECORD:
        yield plain
    elif depth and isinstance(plain, Mapping | list):
        for one in plain.values() if isinstance(plain, Mapping) else plain:
            yield from _records(one, depth - 1)


def _read(record: Names, who: str, estimate: Estimate | None, *, protected: bool) -> Answer:
    value, low, high = _numbers(record)
    try:
        releases = tuple(Release.from_json(one) for one in record["releases"])
        question = _short(record["question"], _TEXT)
        asked = (question, _short(record.get("estimand", ""), _TEXT), *sorted({r.question for r in releases}))
        made = Answer(_short(who, _NAME), question, asked, value, low, high, releases, estimate, protected)
        made.loss  # noqa: B018 - added once here, so that losses that cannot be added are refused now
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, DpnbError):
        raise PlanError(_FOREIGN) from None
    return made


def _numbers(record: Names) -> tuple[float, float, float]:
    """The value and the ends of its privacy interval, if a wall can show them."""
    if isinstance(record["value"], list):
        raise PlanError("it is several numbers, and a wall shows one")
    if record["releases"] == []:
        raise PlanError("it is public, and has no noise to show")
    interval = _interval(record["intervals"])
    ends = record["value"], interval.get("low"), interval.get("high")
    if None in ends:
        raise PlanError("its interval has no end: the noise leaves it open")
    value, low, high = map(_finite, ends)
    if low > high:
        raise PlanError(_FOREIGN)
    return value, low, high


def _interval(intervals: object) -> Names:
    interval = intervals.get("privacy") if isinstance(intervals, Mapping) else None
    if not isinstance(interval, Mapping):
        raise PlanError(_FOREIGN)
    if "unavailable" in interval:
        raise PlanError("it has no privacy interval")
    if interval.get("level") != LEVEL:
        raise PlanError(f"its interval is not at {100 * LEVEL:g} %: export it again with level={LEVEL}")
    return interval


def _finite(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise PlanError(_FOREIGN)
    return float(value)


def _short(text: object, most: int) -> str:
    if not isinstance(text, str):
        raise PlanError(_FOREIGN)
    said = clean(text[: 4 * most])
    return said if len(said) <= most else f"{said[: most - 1]}…"


def distinct(answers: Sequence[Answer]) -> list[Answer]:
    """Return the answers without copies: one whose draws another one has, all of them, is the same noise again.

    Of equal ones the first stays; of an answer and the same one measured again, the one with more draws.
    """
    users: dict[str, list[int]] = {}
    draws = [one.draws for one in answers]
    for place, ids in enumerate(draws):
        for draw in ids:
            users.setdefault(draw, []).append(place)
    return [
        one
        for place, one in enumerate(answers)
        if not any(_covers(draws, other, place) for other in _beside(users, draws[place]))
    ]


def _beside(users: Mapping[str, list[int]], ids: frozenset[str]) -> Iterable[int]:
    """The places of the answers that have one of these draws in common."""
    return users[min(ids)] if ids else ()


def _covers(draws: Sequence[frozenset[str]], other: int, place: int) -> bool:
    mine, theirs = draws[place], draws[other]
    return mine < theirs or (mine == theirs and other < place)


def most_asked(answers: Sequence[Answer]) -> list[Answer]:
    """Return the answers of the question that has most of them; of equally many, of the one that came first."""
    counted = Counter(one.asked for one in answers)
    shown = max(counted, key=lambda asked: counted[asked], default=())
    return [one for one in answers if one.asked == shown]


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
