"""What there is to say about one estimate, read once and put into words: every form of a card says the same.

Only what was released is read: values, both intervals, sizes, flags, laws and losses. Long vectors are read for the
places that will be shown and no further.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from dpnb.cards.curves import Curve, bars_of, curve_of
from dpnb.cards.markup import clean
from dpnb.cards.payments import Step, Stored, more_of, stored_of, trail_of
from dpnb.errors import DpnbError, Unavailable
from dpnb.estimate import Estimate, PendingQuestion, shown
from dpnb.estimate.shown import calendar as calendar_of
from dpnb.estimate.shown import words as words_of
from dpnb.inference import digits
from dpnb.inference.mechanism_cards import card_of
from dpnb.planner.estimand import in_words
from dpnb.planner.expression import Ref
from dpnb.statistics import conclude
from dpnb.statistics.quantile import UNCLEAR
from dpnb.statistics.result import FLAG_WORDS
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.releases import Release

LEVEL = 0.95
SHOWN = 12
_ACROSS, _TABLE = 8, 64
_UNEVEN = 30
"""From this ratio of the largest to the smallest half-width on, each number has digits of its own."""

_WHOLE = 2_000

TRUTH = "truth (public data)"

Pair = tuple[float, float]

#: The intervals of an answer that were drawn before: a card that is drawn again computes nothing.
_PAIRS: WeakKeyDictionary[Any, dict[tuple[str, int], list[Pair]]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Entry:
    """One number: its key, value, intervals and sizes.

    ``said`` is what to show in place of the value, where it would mislead; ``truth`` what it would be without noise, where public
    data show that; ``faint`` whether it may be any value.
    """

    key: str
    value: float
    privacy: Pair | None
    confidence: Pair | None
    n: float | None
    n_eff: float | None
    said: str | None = None
    truth: float | None = None
    faint: bool = False

    @property
    def strength(self) -> str:
        """Whether the value is drawn strong, or muted when the noise leaves it undetermined."""
        return "soft" if self.faint else "strong"

    @property
    def intervals(self) -> tuple[Pair, ...]:
        """The intervals there are."""
        return tuple(pair for pair in (self.privacy, self.confidence) if pair is not None)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a card: a name, a question, and its numbers.

    Parameters
    ----------
    name, question : str
        What it is called, and what was asked.
    entries : tuple of Entry
        At most :data:`SHOWN`, or a whole table; empty while pending.
    size : int
        How many numbers there are; ``scalar`` tells one number from a vector of one.
    paid : str
        ``"ε 0.25"``, ``"stored · ε 0"``, ``"public · free"`` or ``"free"``.
    mechanism : tuple of str
        How the noise was made.
    flags : tuple of str
        Warnings in words.
    missing : dict
        Why an interval is not there, by kind.
    uneven : bool
        Whether its numbers are so differently certain, as coefficients are, that each has digits of its own.
    columns : tuple of str
        The values of the last key, where the numbers are shown as a table of keys; else empty.
    trail : tuple of Step
        The privacy intervals before this one, where it was paid for more than once; oldest first.
    stored : Stored or None
        Where it came from, if it came from the store.
    estimand : str
        What is estimated where values are held to bounds, as a sentence; empty where none are.
    calendar : str, optional
        Of dates the step that the values count.
    words : str
        The question in words; empty of what is computed from answers.
    unit : str
        What its numbers are in: lines of one card with one unit share an axis. Empty where that is not known.
    bars : Curve or None
        The counts of bins along a number, to be drawn as bars.
    folded : bool
        Whether its numbers are working material, to be looked at on demand.
    """

    name: str
    question: str
    entries: tuple[Entry, ...]
    size: int
    scalar: bool
    axis: str
    paid: str
    mechanism: tuple[str, ...]
    flags: tuple[str, ...]
    missing: Mapping[str, str]
    noun: str
    derived: bool
    unnamed: bool = False
    decimals: int | None = None
    uneven: bool = False
    record: dict[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    curve: Curve | None = None
    trail: tuple[Step, ...] = ()
    stored: Stored | None = None
    words: str = ""
    estimand: str = ""
    calendar: str | None = None
    unit: str = ""
    bars: Curve | None = None
    folded: bool = False

    @property
    def hidden(self) -> int:
        """How many numbers are not shown."""
        return self.size - len(self.entries)

    @property
    def free(self) -> bool:
        """Whether it cost nothing now."""
        return not self.paid.startswith(("ε ", "ρ "))

    def number(self, value: float) -> str:
        """Write a value of this line."""
        return self._told(value, self.decimals)

    def answer(self, entry: Entry) -> str:
        """Write the value of an entry: a number, the label of a choice, or that it is undefined."""
        if entry.said is not None:
            return entry.said
        return self._told(entry.value, self._decimals(*entry.intervals))

    def span(self, pair: Pair | None) -> str:
        """Write an interval of this line."""
        if pair is not None and self.calendar is not None:
            return "[" + ", ".join(digits.dated(end, self.calendar) for end in pair) + "]"
        return "–" if pair is None else digits.span(*pair, self._decimals(pair))

    def true(self, entry: Entry) -> str:
        """Write the truth of an entry; nothing where it is not shown."""
        if entry.truth is None:
            return ""
        if not math.isfinite(entry.truth):
            return "undefined"
        return self._told(entry.truth, self._decimals(*entry.intervals))

    def _told(self, value: float, decimals: int | None) -> str:
        return digits.number(value, decimals) if self.calendar is None else digits.dated(value, self.calendar)

    @property
    def truths(self) -> bool:
        """Whether the truth is shown."""
        return any(entry.truth is not None for entry in self.entries)

    def _decimals(self, *pairs: Pair) -> int | None:
        if not self.uneven:
            return self.decimals
        return digits.decimals_for([(high - low) / 2 for low, high in pairs])

    def accuracy(self, entry: Entry, say: Callable[[float, float, str], str] = digits.people) -> str | None:
        """Say the accuracy of an entry in people, where it is known; a table says it below its heading."""
        if entry.said is not None or entry.n is None or entry.n_eff is None or round(entry.n) < 1:
            return None
        return say(entry.n_eff, entry.n, self.noun)


def line_of(
    estimate: Estimate,
    name: str = "",
    *,
    record: bool = True,
    now: bool = True,
    fresh: PrivacyLoss | None = None,
) -> Line:
    """Return what a card says about a released estimate.

    Parameters
    ----------
    estimate : Estimate
        Released.
    name : str
        What the user calls it; nothing where the question is its name.
    record : bool
        Whether to collect the JSON record too.
    now : bool
        Whether the price is what was paid now (nothing for a stored answer), or what the answer cost when it was drawn.
    fresh : PrivacyLoss, optional
        What its cell would pay for a stored answer with ``fresh``.
    """
    entries, missing = _entries(estimate)
    halves, whole = _half_widths(estimate, entries), _whole(entries)
    leaf = estimate.measurement
    line = Line(
        name=clean(name) or clean(estimate.text),
        question=clean(estimate.text),
        entries=entries,
        size=estimate.size,
        scalar=estimate.shape == (),
        axis=_axis(estimate),
        paid=_paid(leaf, now=now) if leaf is not None else _read(estimate, now=now),
        mechanism=_mechanism(leaf if leaf is not None or estimate.op is not None else estimate.leaves()[0]),
        flags=_flags(estimate),
        missing=missing,
        noun=noun_of(estimate),
        derived=leaf is None,
        unnamed=name.startswith(("kept, unnamed", "in ")),
        decimals=0 if whole else digits.decimals_for([max(halves, default=None)]),
        uneven=not whole and bool(halves) and max(halves) > _UNEVEN * min(halves),
        columns=_columns(estimate),
        curve=curve_of(estimate),
        trail=() if leaf is None or estimate.shape else trail_of(leaf)[:-1],
        stored=stored_of(leaf, fresh, clean(name)) if now else None,
        estimand=estimand_words(estimate),
        calendar=calendar_of(estimate),
        unit=_unit(estimate),
        words=_in_words(estimate),
        bars=bars_of(estimate),
        folded=estimate.size > 1 and _kind(estimate, "target") == "numbers",
    )
    if record:
        line.record.update(_record(estimate, line))
    return line


def _kind(estimate: Estimate, name: str) -> Any:
    """Return what the statistic of a question declares; nothing of anything that is computed or read."""
    leaf = estimate.measurement
    return None if leaf is None or leaf.root is not leaf else getattr(leaf.checked.kind, name, None)


def _in_words(estimate: Estimate) -> str:
    """Return the question in words; nothing of what is computed from answers."""
    leaf = estimate.measurement
    if leaf is None or leaf.root is not leaf or leaf.dataset is None:
        return ""
    checked = leaf.checked
    return clean(in_words(leaf.question, checked.kind, checked.setting, leaf.dataset.schema))


def _unit(estimate: Estimate) -> str:
    """Return what tells the unit of a question's numbers: their public range."""
    domain, calendar = getattr(estimate.outcome, "domain", None), calendar_of(estimate)
    known = estimate.measurement is not None and domain is not None and domain[0] is not None
    return f"{domain} {calendar}" if known else ""


_AT_BOUND = "Values beyond the bounds count as at the bound"


def estimand_words(estimate: Estimate) -> str:
    """Say what is estimated, and what became of values beyond the bounds."""
    said = clean(estimate.estimand)
    if not said:
        return ""
    if "moved into" in said:
        return f"Estimates the {said}: its intervals are about the moved values."
    leaf = estimate.measurement
    if leaf is None:
        return f"Based on: {said}."
    if leaf.checked.kind.of_bounds:
        return f"Estimates the {said}. A value beyond a bound is counted with those at it."
    if leaf.checked.kind.by_rank:
        return f"Estimates the {said}. {_AT_BOUND}; that changes nothing inside them."
    return (
        f"Estimates the {said}. {_AT_BOUND}{_how_many(leaf)}: no interval for the values as they are is available, since one "
        "value could lie anywhere."
    )


def _how_many(leaf: PendingQuestion) -> str:
    """Say how many values lie there where that was bought, or how to find out, where one column is asked."""
    if known := shown.at_bounds(leaf):
        return f" ({known})"
    target = leaf.question.target
    named = isinstance(target, Ref) and leaf.question.other is None and not leaf.question.others
    return f" ({leaf.question.dataset}.{target.column}.held_share() estimates how many)" if named else ""


def _half_widths(estimate: Estimate, entries: Sequence[Entry]) -> list[float]:
    """The half-widths that decide the digits: of the narrower interval of each row; a vector has those of its least certain."""
    narrow = [min(_halves(estimate, entry), default=None) for entry in entries]
    return [half for half in narrow if half is not None]


def _halves(estimate: Estimate, entry: Entry) -> list[float]:
    pairs = [pair for pair in entry.intervals if not _whole_domain(estimate, pair)]
    return [half for pair in pairs if math.isfinite(half := (pair[1] - pair[0]) / 2) and half > 0]


def _whole(entries: Sequence[Entry]) -> bool:
    """Whether values and ends are whole numbers, as those of counts are: they are told without decimals."""
    told = [
        number
        for entry in entries
        for number in (entry.value, *(end for pair in entry.intervals for end in pair))
    ]
    return all(float(number).is_integer() for number in told if math.isfinite(number))


def _whole_domain(estimate: Estimate, pair: Pair) -> bool:
    """Whether an interval says nothing: the whole public range."""
    outcome = estimate.outcome
    domain = None if outcome is None else outcome.domain
    if domain is None or domain[0] is None:
        return False
    return bool(pair[0] <= domain[0] and pair[1] >= domain[1])


def noun_of(estimate: Estimate) -> str:
    """Return what is counted: people where one row is one person, else rows."""
    for leaf in estimate.leaves():
        unit = getattr(getattr(leaf.checked, "setting", None), "unit", None)
        if unit is not None and not unit.by_row:
            return "rows"
    return "people"


def flag_words(flags: Sequence[str]) -> tuple[str, ...]:
    """Return warnings in words."""
    return tuple(FLAG_WORDS.get(flag, clean(flag)) for flag in flags)


def _flags(estimate: Estimate) -> tuple[str, ...]:
    """Warnings in words; of a vector, in how many places."""
    outcome = estimate.outcome
    cells = getattr(outcome, "cell_flags", None)
    if cells is None or len(cells) == 1:
        return flag_words(estimate.flags)
    counts = Counter(flag for flags in cells for flag in flags)
    said = zip(flag_words(tuple(counts)), counts.values(), strict=True)
    return tuple(f"in {count:,} of {len(cells):,}: {words}" for words, count in said)


def _paid(leaf: PendingQuestion, *, now: bool) -> str:
    if not leaf.releases:
        return "public · free"
    if now and all(release.stored for release in leaf.releases):
        return f"stored · {leaf.releases[0].loss.measure.symbol} 0"
    return " + ".join(str(release.loss) for release in leaf.releases)


def _read(estimate: Estimate, *, now: bool) -> str:
    """Arithmetic is free; a reading is free beside the one release that it reads, whose price it says."""
    return "free" if estimate.op is not None else f"read from {_paid(estimate.leaves()[0], now=now)}"


def _columns(estimate: Estimate) -> tuple[str, ...]:
    """Return the values of the last key of a contingency table that fits on a card, or of what is read from one."""
    root = estimate.leaves()[0] if estimate.op is None else None
    kind = getattr(getattr(root, "checked", None), "kind", None)
    if kind is None or kind.spelling.columns != "keys" or len(estimate.axes) < 2:
        return ()
    keys = estimate.axes[-1].keys
    return tuple(clean(key) for key in keys) if len(keys) <= _ACROSS and estimate.size <= _TABLE else ()


def _axis(estimate: Estimate) -> str:
    return " × ".join(clean(axis.name) for axis in estimate.axes) or "place"


def _mechanism(leaf: PendingQuestion | None) -> tuple[str, ...]:
    if leaf is None:
        return ("arithmetic on released numbers",)
    if not leaf.releases:
        return ("answered from the schema: exact",)
    return (*_combined(leaf), *law_words(leaf.releases))


def _combined(leaf: PendingQuestion) -> tuple[str, ...]:
    """Say what a second measurement won: the privacy half-width of the first answer alone, and of all together."""
    distinct = {release.id: release for release in leaf.releases}
    if len(distinct) < 2 or leaf.outcome is None or tuple(leaf.shape or ()) != ():
        return ()
    try:
        alone = conclude(leaf.checked, leaf.releases[:1]).interval(LEVEL, "privacy")
        now = leaf.outcome.interval(LEVEL, "privacy")
    except Unavailable:
        return ()
    halves = [(pair.high - pair.low) / 2 for pair in (alone, now)]
    places = digits.decimals_for(halves)
    old, new = (digits.number(half, places) for half in halves)
    return (f"{len(distinct)} answers combined: ± {old} → ± {new} (privacy)",)


def law_words(releases: Sequence[Release]) -> tuple[str, ...]:
    """Say which noise was added, read from the releases themselves: one phrase for each law."""
    found: dict[str, list[str]] = {}
    for release in {release.id: release for release in releases}.values():
        for part in release.parts:
            found.setdefault(_law(part.law), []).append(part.name)
    return tuple(f"{law}{_of(parts)}" for law, parts in found.items())


def _law(law: Mapping[str, Any]) -> str:
    card = card_of(law)
    return clean(law.get("mechanism") or law.get("kind") or "noise") if card is None else card.drawn(law)


_PARTS = {
    "frequent": "counts of what occurs",
    "sum": "sum",
    "count": "count",
    "square": "squares",
    "tally": "tallies of 0 and 1",
    "root": "number of rows",
}


def _of(parts: Sequence[str]) -> str:
    names = list(dict.fromkeys(parts))
    if names and all(":" in name for name in names):
        return "" if len(names) == 1 else f", {len(names)} selections"
    levels = [name for name in names if name.startswith("level ")]
    if levels:
        names = [name for name in names if name not in levels] + [f"counts of {len(levels)} levels"]
    known = [_PARTS.get(name) or _reach(clean(name)) for name in names if name != "located"]
    return f" on {' and '.join(known)}" if known else ""


def _reach(name: str) -> str:
    """Say how far each row of a sum can reach, where a part's name ends in it: ``sums/50``."""
    sums, _, reach = name.partition("/")
    return f"{sums} of rows within ±{int(reach):,}" if reach.isdecimal() else name


# ---------------------------------------------------------------- numbers


def _entries(estimate: Estimate) -> tuple[tuple[Entry, ...], dict[str, str]]:
    """The entries that are shown, and why an interval is not there."""
    values = np.ravel(np.asarray(estimate.value, dtype=float))
    count = values.size if _columns(estimate) else min(values.size, SHOWN)
    keys = list(_keys(estimate, count))
    missing: dict[str, str] = {}
    privacy, confidence = (_pairs(estimate, kind, count, missing) for kind in ("privacy", "confidence"))
    sizes = _sizes(estimate, count)
    said = [None if word is None else clean(word) for word in words_of(estimate)[:count]] or [None] * count
    true = _truths(estimate, count)
    faint = list(shown.flagged(estimate, UNCLEAR)[:count]) or [False] * count
    found = zip(keys, values[:count].tolist(), privacy, confidence, sizes, said, true, faint, strict=True)
    return tuple(Entry(k, v, p, c, n, e, w, t, f) for k, v, p, c, (n, e), w, t, f in found), missing


def _truths(estimate: Estimate, count: int) -> Sequence[float | None]:
    """What the entries would be without noise, where their dataset shows that: a choice has none beside its label."""
    known = None if words_of(estimate) else estimate.overlay
    nothing: list[float | None] = [None] * count
    return nothing if known is None else np.ravel(np.asarray(known, dtype=float))[:count].tolist()


def _keys(estimate: Estimate, count: int) -> Iterator[str]:
    shape = estimate.shape
    for place in range(count):
        index = np.unravel_index(place, shape) if shape else ()
        if estimate.axes:
            yield " · ".join(clean(axis.keys[int(i)]) for axis, i in zip(estimate.axes, index, strict=True))
        else:
            yield ", ".join(str(int(i)) for i in index)


def _cells(estimate: Estimate) -> Sequence[Any] | None:
    outcome = estimate.outcome
    return getattr(outcome, "cells", None)


def _pairs(estimate: Estimate, kind: str, count: int, missing: dict[str, str]) -> list[Pair | None]:
    leaf = estimate.measurement
    if leaf is not None and not leaf.releases:
        return [None] * count
    try:
        return list(_remembered(estimate, kind, count))
    except (Unavailable, DpnbError) as reason:
        missing[kind] = clean(reason)
        return [None] * count


def _remembered(estimate: Estimate, kind: str, count: int) -> list[Pair]:
    outcome = estimate.outcome
    if outcome is None:
        return list(_known_pairs(estimate, kind, count))
    memo = _PAIRS.setdefault(outcome, {})
    if (kind, count) not in memo:
        memo[kind, count] = list(_known_pairs(estimate, kind, count))
    return memo[kind, count]


def _known_pairs(estimate: Estimate, kind: str, count: int) -> Iterator[Pair]:
    cells = _cells(estimate)
    if cells is not None and estimate.size > count:
        for cell in cells[:count]:
            low, high = cell.privacy(LEVEL) if kind == "privacy" else cell.confidence(LEVEL)
            yield float(low), float(high)
        return
    if estimate.size > _WHOLE:
        raise Unavailable("Too many derived values for intervals at once: index them first.")
    interval = estimate.interval(LEVEL, kind)  # type: ignore[arg-type]
    ends = (np.ravel(interval.low)[:count].tolist(), np.ravel(interval.high)[:count].tolist())
    yield from zip(*ends, strict=True)


def _sizes(estimate: Estimate, count: int) -> list[tuple[float | None, float | None]]:
    cells = _cells(estimate)
    if cells is not None:
        return [(cell.n, cell.n_eff) for cell in cells[:count]]
    try:
        sizes = [estimate.n, estimate.n_eff]
    except (Unavailable, DpnbError, AttributeError):
        return [(None, None)] * count
    columns = [[None] * count if s is None else np.ravel(s)[:count].tolist() for s in sizes]
    if any(len(column) != count for column in columns):
        return [(None, None)] * count
    return list(zip(*columns, strict=True))


# ---------------------------------------------------------------- JSON


def _record(estimate: Estimate, line: Line) -> dict[str, Any]:
    """The facts of a line in JSON's own types."""
    leaf = estimate.measurement
    return {
        "name": line.name,
        "question": line.question,
        **({"estimand": clean(estimate.estimand)} if line.estimand else {}),
        "shape": list(estimate.shape),
        "entries": [
            {
                "key": entry.key,
                "value": _finite(entry.value),
                **({} if entry.said is None else {"shown": entry.said}),
                "privacy": _ends(entry.privacy),
                "confidence": _ends(entry.confidence),
                "n": _finite(entry.n),
                "n_eff": _finite(entry.n_eff),
                **({} if entry.truth is None else {"truth": _finite(entry.truth)}),
            }
            for entry in line.entries
        ],
        "more": line.hidden,
        **({} if line.curve is None else {"curve": line.curve.to_json()}),
        "level": LEVEL,
        "unavailable": dict(line.missing),
        "flags": list(estimate.flags),
        "paid": line.paid,
        "loss": estimate.loss.to_json(),
        "mechanism": list(line.mechanism),
        "releases": [release.id for release in estimate.releases],
        **({"trail": [step.to_json() for step in line.trail]} if line.trail else {}),
        **({} if line.stored is None else {"stored": line.stored.to_json()}),
        **({"again": symbol} if leaf is not None and (symbol := more_of(leaf)) else {}),
        "derived": line.derived,
    }


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _ends(pair: Pair | None) -> list[float | None] | None:
    return None if pair is None else [_finite(end) for end in pair]
