"""What there is to say about one estimate, read once and put into words: every form of a card says the same.

Only what was released is read: values, both intervals, sizes, flags, laws and losses.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpnb.cards.card import LEVEL, Record
from dpnb.cards.curves import Curve, bars_of, curve_of
from dpnb.cards.markup import clean
from dpnb.cards.payments import Step, Stored, more_of, stored_of, trail_of
from dpnb.errors import DpnbError, Unavailable
from dpnb.estimate import Estimate, PendingQuestion, wording
from dpnb.estimate.pending_question import distinct
from dpnb.inference import digits
from dpnb.inference.interval import KINDS, Kind
from dpnb.inference.law import drawn_words, read_law
from dpnb.planner.estimand import in_words
from dpnb.planner.expression import Ref
from dpnb.statistics import conclude
from dpnb.statistics.quantile import UNCLEAR
from dpnb.statistics.result import FLAG_WORDS
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.releases import Release

SHOWN = 12
_ACROSS, _TABLE = 8, 64
_UNEVEN = 30
"""From this ratio of the largest to the smallest half-width on, each number has digits of its own."""

_MOST_DERIVED = 2_000

TRUTH = "truth (public data)"

Pair = tuple[float, float]


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
        return tuple([pair for pair in (self.privacy, self.confidence) if pair is not None])

    def to_json(self) -> Record:
        """Return it in JSON's own types."""
        return {
            "key": self.key,
            "value": _finite(self.value),
            **({} if self.said is None else {"shown": self.said}),
            "privacy": _ends(self.privacy),
            "confidence": _ends(self.confidence),
            "n": _finite(self.n),
            "n_eff": _finite(self.n_eff),
            **({} if self.truth is None else {"truth": _finite(self.truth)}),
        }


@dataclass(frozen=True, eq=False)
class Line:
    """One line of a card: an estimate under a name, its numbers, and what was paid for it.

    Parameters
    ----------
    estimate : Estimate
        Released.
    name : str
        What it is called.
    entries : tuple of Entry
        At most :data:`SHOWN`, or a whole table.
    missing : dict
        Why an interval is not there, by kind.
    paid : str
        ``"ε 0.25"``, ``"stored · ε 0"``, ``"public · free"`` or ``"free"``.
    stored : Stored or None
        Where it came from, if it came from the store.
    unnamed : bool
        Whether nobody named it.
    price : str
        What its cell paid for it, with those that it was paid for together with; empty where that is not known apart.
    joint : bool
        Whether that price is of other lines too.
    """

    estimate: Estimate
    name: str
    entries: tuple[Entry, ...]
    missing: Mapping[str, str]
    paid: str
    stored: Stored | None = None
    unnamed: bool = False
    price: str = ""
    joint: bool = False

    # ---------------------------------------------------------------- what was asked

    @property
    def question(self) -> str:
        """What was asked, as it was typed."""
        return clean(self.estimate.text)

    @property
    def _asked(self) -> PendingQuestion | None:
        """The question itself; nothing of what is computed from answers, or read from one."""
        leaf = self.estimate.measurement
        return leaf if leaf is None or leaf.root is leaf else None

    @property
    def words(self) -> tuple[str, str]:
        """The question in words, and what its column means; empty of what is computed from answers."""
        leaf = self._asked
        if leaf is None or leaf.dataset is None:
            return "", ""
        checked = leaf.checked
        said, means = in_words(leaf.question, checked.kind, checked.setting, leaf.dataset.schema)
        return clean(said), clean(means)

    @property
    def cost(self) -> str:
        """What was paid for it, as its line says it."""
        return self.price or self.paid

    @cached_property
    def derived(self) -> bool:
        """Whether it is computed from answers."""
        return self.estimate.measurement is None

    @property
    def free(self) -> bool:
        """Whether it cost nothing now."""
        return not self.paid.startswith(("ε ", "ρ "))

    @cached_property
    def mechanism(self) -> tuple[str, ...]:
        """How the noise was made."""
        one = self.estimate
        if one.op is not None:
            return (clean(wording.computed(one)),)
        return _mechanism(one.measurement or one.leaves()[0])

    @property
    def estimand(self) -> str:
        """What is estimated where values are clamped to bounds, as a sentence; empty where none are."""
        return estimand_words(self.estimate)

    @property
    def flags(self) -> tuple[str, ...]:
        """Warnings in words."""
        return _flags(self.estimate)

    # ---------------------------------------------------------------- its numbers

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return self.estimate.size

    @property
    def scalar(self) -> bool:
        """Whether it is one number, and not a vector of one."""
        return self.estimate.shape == ()

    @property
    def hidden(self) -> int:
        """How many numbers are not shown."""
        return self.size - len(self.entries)

    @property
    def folded(self) -> bool:
        """Whether its numbers are working material, to be looked at on demand."""
        return self.size > 1 and self._asked is not None and self._asked.checked.kind.target == "numbers"

    @property
    def axis(self) -> str:
        """What tells its numbers apart."""
        return " × ".join(clean(axis.name) for axis in self.estimate.axes) or "place"

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The values of the last key, where the numbers are shown as a table of keys; else empty."""
        return _columns(self.estimate)

    @cached_property
    def calendar(self) -> str | None:
        """Of dates the step that the values count."""
        return wording.calendar(self.estimate)

    @cached_property
    def curve(self) -> Curve | None:
        """The numbers along a number, where they are many."""
        return curve_of(self.estimate)

    @cached_property
    def bars(self) -> Curve | None:
        """The counts of bins along a number, to be drawn as bars."""
        return bars_of(self.estimate)

    @cached_property
    def trail(self) -> tuple[Step, ...]:
        """The privacy intervals before this one, where it was paid for more than once; oldest first."""
        leaf = self.estimate.measurement
        return () if leaf is None or not self.scalar else trail_of(leaf)[:-1]

    @property
    def truths(self) -> bool:
        """Whether the truth is shown."""
        return any(entry.truth is not None for entry in self.entries)

    # ---------------------------------------------------------------- written

    @cached_property
    def _places(self) -> tuple[int | None, bool]:
        """How many decimals its numbers have, and whether each has digits of its own, as unlike coefficients have."""
        whole, halves = _whole(self.entries), _half_widths(self.estimate, self.entries)
        uneven = not whole and bool(halves) and max(halves) > _UNEVEN * min(halves)
        return 0 if whole else digits.decimals_for([max(halves, default=None)]), uneven

    def _decimals(self, *pairs: Pair) -> int | None:
        decimals, uneven = self._places
        return digits.decimals_for([(high - low) / 2 for low, high in pairs]) if uneven else decimals

    def _told(self, value: float, decimals: int | None) -> str:
        return digits.number(value, decimals) if self.calendar is None else digits.dated(value, self.calendar)

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
        decimals = self._decimals(*entry.intervals)
        return self._told(entry.truth, digits.decimals_to_tell(entry.truth, decimals))

    def accuracy(self, entry: Entry, say: Callable[[float, float], str] = digits.noise_costs) -> str | None:
        """Say what the noise costs of the sample, where that is known; a table says it below its heading."""
        if entry.said is not None or entry.n is None or entry.n_eff is None or round(entry.n) < 1:
            return None
        return say(entry.n_eff, entry.n)

    @property
    def people(self) -> str:
        """The accuracy of its one number in people; empty where it is not known."""
        noun = noun_of(self.estimate)
        said = [
            self.accuracy(entry, lambda part, whole: digits.people(part, whole, noun))
            for entry in self.entries
        ]
        return said[0] or "" if self.scalar else ""


def line_of(
    estimate: Estimate, name: str = "", *, now: bool = True, fresh: PrivacyLoss | None = None
) -> Line:
    """Return what a card says about a released estimate.

    Parameters
    ----------
    estimate : Estimate
        Released.
    name : str
        What the user calls it; nothing where the question is its name.
    now : bool
        Whether the price is what was paid now (nothing for a stored answer), or what the answer cost when it was drawn.
    fresh : PrivacyLoss, optional
        What its cell would pay for a stored answer with ``fresh``.
    """
    entries, missing = _entries(estimate)
    leaf = estimate.measurement
    return Line(
        estimate,
        clean(name) or clean(estimate.text),
        entries,
        missing,
        _paid(leaf, now=now) if leaf is not None else _read(estimate, now=now),
        stored_of(leaf, fresh) if now else None,
        name.startswith(("kept, unnamed", "in ")),
    )


_AT_BOUND = "Values beyond the bounds count as the bound"


def estimand_words(estimate: Estimate) -> str:
    """Say what is estimated, and what became of values beyond the bounds."""
    said = clean(estimate.estimand)
    if not said:
        return ""
    if "moved into" in said:
        return f"Estimates the {said}. Its intervals are for the moved values."
    leaf = estimate.measurement
    if leaf is None:
        return f"Based on: {said}."
    if leaf.checked.kind.of_bounds:
        return f"Estimates the {said}. A value beyond a bound counts as one at the bound."
    if leaf.checked.kind.by_rank:
        return f"Estimates the {said}. {_AT_BOUND}; inside the bounds this changes nothing."
    return (
        f"Estimates the {said}. {_AT_BOUND}{_how_many(leaf)}. No interval for the unclamped values is available, because one "
        "value could be anywhere."
    )


def _how_many(leaf: PendingQuestion) -> str:
    """Say how many values lie there where that was bought, or how to find out, where one column is asked."""
    if known := wording.at_bounds(leaf):
        return f" ({known})"
    target = leaf.question.target
    if not isinstance(target, Ref) or leaf.question.other is not None or leaf.question.others:
        return ""
    return f" ({leaf.question.dataset}.{target.column}.held_share() estimates how many)"


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
    if estimate.outcome is None:
        return False
    low, high = estimate.outcome.domain
    return bool(pair[0] <= low and pair[1] >= high)


def noun_of(estimate: Estimate) -> str:
    """Return what is counted: people where one row is one person, else rows."""
    return "people" if all(leaf.checked.setting.unit.by_row for leaf in estimate.leaves()) else "rows"


def flag_words(flags: Sequence[str]) -> tuple[str, ...]:
    """Return warnings in words."""
    return tuple(FLAG_WORDS.get(flag, clean(flag)) for flag in flags)


def _flags(estimate: Estimate) -> tuple[str, ...]:
    """Warnings in words; of a vector, in how many places."""
    cells = () if estimate.outcome is None else estimate.outcome.cell_flags
    if len(cells) < 2:
        return flag_words(estimate.flags)
    counts = Counter(flag for flags in cells for flag in flags)
    said = zip(flag_words(tuple(counts)), counts.values(), strict=True)
    return tuple(f"in {count:,} of {len(cells):,}: {words}" for words, count in said)


def _paid(leaf: PendingQuestion, *, now: bool) -> str:
    if not leaf.releases:
        return "public · free"
    if now and all(release.stored for release in leaf.releases):
        return f"{wording.stored(leaf.releases)} · {leaf.releases[0].loss.measure.symbol} 0"
    return " + ".join(str(release.loss) for release in leaf.releases)


def _read(estimate: Estimate, *, now: bool) -> str:
    """Arithmetic is free; a reading is free beside the one release that it reads, whose price it says."""
    return "free" if estimate.op is not None else f"read from {_paid(estimate.leaves()[0], now=now)}"


def _columns(estimate: Estimate) -> tuple[str, ...]:
    """Return the values of the last key of a contingency table that fits on a card, or of what is read from one."""
    kind = estimate.leaves()[0].checked.kind if estimate.op is None else None
    if kind is None or kind.spelling.columns != "keys" or len(estimate.axes) < 2:
        return ()
    keys = estimate.axes[-1].keys
    return tuple(clean(key) for key in keys) if len(keys) <= _ACROSS and estimate.size <= _TABLE else ()


def _mechanism(leaf: PendingQuestion) -> tuple[str, ...]:
    if not leaf.releases:
        return ("answered from the schema: exact",)
    return (*_combined(leaf), *law_words(leaf.releases))


def _combined(leaf: PendingQuestion) -> tuple[str, ...]:
    """Say what a second measurement won: the privacy half-width of the first answer alone, and of all together."""
    answers = distinct(leaf.releases)
    if len(answers) < 2 or leaf.outcome is None or leaf.shape != ():
        return ()
    try:
        alone = conclude(leaf.checked, leaf.releases[:1]).interval(LEVEL, "privacy")
        now = leaf.outcome.interval(LEVEL, "privacy")
    except Unavailable:
        return ()
    halves = [(pair.high - pair.low) / 2 for pair in (alone, now)]
    places = digits.decimals_for(halves)
    old, new = (digits.number(half, places) for half in halves)
    return (f"{len(answers)} answers combined: ± {old} → ± {new} (privacy)",)


def law_words(releases: Sequence[Release]) -> tuple[str, ...]:
    """Say which noise was added, read from the releases themselves: one phrase for each law."""
    found: dict[str, list[str]] = {}
    for release in distinct(releases):
        for part in release.parts:
            found.setdefault(drawn_words(read_law(part.law)), []).append(part.name)
    return tuple(f"{law}{_of(parts)}" for law, parts in found.items())


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
    privacy, confidence = (_pairs(estimate, kind, count, missing) for kind in KINDS)
    sizes = _sizes(estimate, count)
    said = [None if word is None else clean(word) for word in wording.words(estimate)[:count]] or [
        None
    ] * count
    true = _truths(estimate, count)
    faint = list(wording.flagged(estimate, UNCLEAR)[:count]) or [False] * count
    found = zip(keys, values[:count].tolist(), privacy, confidence, sizes, said, true, faint, strict=True)
    return tuple(Entry(k, v, p, c, n, e, w, t, f) for k, v, p, c, (n, e), w, t, f in found), missing


def _truths(estimate: Estimate, count: int) -> Sequence[float | None]:
    """What the entries would be without noise, where their dataset shows that: a choice has none beside its label."""
    known = None if wording.words(estimate) else estimate.overlay
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


def _pairs(estimate: Estimate, kind: Kind, count: int, missing: dict[str, str]) -> Sequence[Pair | None]:
    """The first intervals of a kind; nothing of a public answer, and the reason where there is none."""
    leaf = estimate.measurement
    nothing: list[Pair | None] = [None] * count
    if leaf is not None and not leaf.releases:
        return nothing
    try:
        if estimate.outcome is None and estimate.size > _MOST_DERIVED:
            raise Unavailable("Too many derived values for intervals at once: index them first.")
        low, high = (np.ravel(end)[:count].tolist() for end in estimate.interval(LEVEL, kind))
    except DpnbError as reason:
        missing[kind] = clean(reason)
        return nothing
    return list(zip(low, high, strict=True))


def _sizes(estimate: Estimate, count: int) -> list[tuple[float | None, float | None]]:
    try:
        sizes = [estimate.n, estimate.n_eff]
    except DpnbError:
        return [(None, None)] * count
    columns = [[None] * count if s is None else np.ravel(s)[:count].tolist() for s in sizes]
    if any(len(column) != count for column in columns):
        return [(None, None)] * count
    return list(zip(*columns, strict=True))


# ---------------------------------------------------------------- JSON


def record_of(line: Line) -> Record:
    """Return the facts of a line in JSON's own types."""
    estimate, leaf = line.estimate, line.estimate.measurement
    return {
        "name": line.name,
        "question": line.question,
        **({"estimand": clean(estimate.estimand)} if line.estimand else {}),
        "shape": list(estimate.shape),
        "entries": [entry.to_json() for entry in line.entries],
        "more": line.hidden,
        **({} if line.curve is None else {"curve": line.curve.to_json()}),
        "level": LEVEL,
        "unavailable": dict(line.missing),
        "flags": list(estimate.flags),
        "paid": line.cost,
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
