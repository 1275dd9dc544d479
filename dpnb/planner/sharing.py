r"""What the questions of a cell share: equal measurements are bought once, and what one person moves together is priced together.

The loss is divided over questions by weight, and each chooses its noise as if it were asked alone. Then

1. equal measurements (one request, one family of noise, the same cells) become one, at the smallest noise that any of the questions chose;
2. measurements that keep the same rows are priced at the worst move of one person through all of them, where that is cheaper than their
   questions apart, and so are measurements that no row is in two of (:mod:`dpnb.trusted.measurements.regions`): counts of three groups cost one
   more person no more than one of them;
3. what the questions save together is spent on less noise (:func:`refined`), once what is held already is taken out.

So neither the price of a cell nor the noise of any of its measurements exceeds what asking its questions apart would give: 1 and 3 only
lower noise, 2 and 3 keep the price at most the sum. Sums that have a joint bound of their own (moments of two numbers,
:mod:`dpnb.trusted.measurements.products`) are bought as a whole: the bound goes by the smallest noise among them, so that one of them made
finer for another question would make all of them dearer. Where a cell would still cost more, nothing in it is torn apart.

*Proof of 3.* With losses :math:`L` of all that is bought and :math:`F` of what may be refined, dividing its noise (scales in ε, variances in
ρ) by :math:`f ≥ 1` gives at most :math:`L + (f-1) F`, since each bound is a maximum over moves of sums that are linear in 1/scale or
1/variance. So :math:`f = 1 + (A-L)/F` costs at most :math:`A`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Protocol

from dpnb.statistics.noise import amount, with_amount
from dpnb.trusted.aggregate.algebra import Mul, Total
from dpnb.trusted.measurements import Facts, Measurement, events, sums
from dpnb.trusted.measurements.products import joint_event
from dpnb.trusted.measurements.regions import Region, Regions, apart
from dpnb.trusted.mechanisms import DiscreteGaussian, DiscreteLaplace, QuantileSelection
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.plan import LONGEST_TEXT, Bundle, Share
from dpnb.trusted.query.plan_record import measured
from dpnb.trusted.query.price import together

_SLACK = Fraction(1, 1000)
"""What is saved is left where it is less than this part of the loss: the noise stays that of the questions."""
_BITS = 160
"""Numerator and denominator of a refined noise are at most this long, and rounded up beyond."""


class Asker(Protocol):
    """A question with its share, what it would measure if it were asked alone, and what that costs."""

    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def share(self) -> Share | None: ...  # noqa: D102
    @property
    def parts(self) -> tuple[Measurement, ...]: ...  # noqa: D102
    @property
    def events(self) -> tuple[PrivacyEvent, ...]: ...  # noqa: D102


Places = tuple[tuple[int, int], ...]
"""For each part of a question the bundle that serves it, and which of its parts."""


def bundled(
    questions: Sequence[Asker], facts: Facts
) -> tuple[tuple[Bundle, ...], tuple[Places, ...], tuple[str, ...]]:
    """Return what questions buy together: bundles, which of them serves each part, and the names they are stored under."""
    bundles, places, names = _bundled(questions, [pieces(one.parts, facts) for one in questions], facts)
    if not _shares(places, bundles):
        return _numbered(bundles), places, names
    grouped = _grouped(bundles, facts)
    alone = total((event for one in questions for event in one.events), facts.measure)
    if total(together(grouped, facts), facts.measure) > alone:
        whole = [[one.parts] if one.parts else [] for one in questions]
        bundles, places, names = _bundled(questions, whole, facts)
        return _numbered(bundles), places, names
    return grouped, places, names


def _shares(places: Sequence[Places], bundles: Sequence[Bundle]) -> bool:
    """Tell whether anything can be saved: there are two questions, or one that measures the same twice."""
    return len(list(filter(None, places))) > 1 or sum(len(one.parts) for one in bundles) < sum(
        map(len, places)
    )


def _bundled(
    questions: Sequence[Asker], pieces_of: Sequence[Sequence[tuple[Measurement, ...]]], facts: Facts
) -> tuple[list[Bundle], tuple[Places, ...], tuple[str, ...]]:
    at: dict[str, int] = {}
    bundles: list[Bundle] = []
    places: list[Places] = []
    for asker, (question, its) in enumerate(zip(questions, pieces_of, strict=True)):
        mine: list[tuple[int, int]] = []
        texts = (_printable(question.text),)
        for piece in its:
            assert question.share is not None
            one = Bundle(texts, question.share, asker, piece)
            place = at.setdefault(measured(piece, one.plan), len(bundles))
            if place == len(bundles):
                bundles.append(one)
            else:
                bundles[place] = _shared(bundles[place], one, facts)
            mine += [(place, part) for part in range(len(piece))]
        places.append(tuple(mine))
    return bundles, tuple(places), tuple(at)


def _printable(text: str) -> str:
    """Return a text in which what no terminal shows is written out, and which is cut where it is too long to be read."""
    if text.isprintable():
        shown = text
    else:
        letters = (one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
        shown = "".join(letters)
    return shown if len(shown) <= LONGEST_TEXT else f"{shown[: LONGEST_TEXT - 1]}…"


def askers(places: Sequence[Places]) -> list[tuple[int, ...]]:
    """Return for each bundle the places of the questions that it serves."""
    served: dict[int, dict[int, None]] = {}
    for asker, mine in enumerate(places):
        for place, _ in mine:
            served.setdefault(place, {})[asker] = None
    return [tuple(served[place]) for place in sorted(served)]


def pieces(parts: Sequence[Measurement], facts: Facts) -> list[tuple[Measurement, ...]]:
    """Return what a question buys by itself: its sums one by one and then what it selects, or all its parts where these belong together."""
    added = [part for part in parts if additive(part)]
    rest = tuple(part for part in parts if not additive(part))
    selected = all(isinstance(part.mechanism, QuantileSelection) for part in rest)
    if not selected or _bound_together(added, facts):
        return [tuple(parts)]
    return [*((part,) for part in added), *((rest,) if rest else ())]


def _bound_together(parts: Sequence[Measurement], facts: Facts) -> bool:
    """Tell whether some sums have a joint bound, one of products, that is below the plain one."""
    if not any(isinstance(part.request, Total) and isinstance(part.request.value, Mul) for part in parts):
        return False
    listed = [sums.Part.of(part, facts) for part in parts if isinstance(part.request, Total)]
    return len(listed) > 1 and any(_below(frame, facts) for frame in sums.frames(listed, facts))


def _below(frame: sums.Frame, facts: Facts) -> bool:
    joint = joint_event(frame, facts)
    return joint is not None and joint.amount < frame.event(facts).amount


def additive(part: Measurement) -> bool:
    """Tell whether the noise of a measurement may be made smaller by itself."""
    return isinstance(part.mechanism, DiscreteLaplace | DiscreteGaussian)


def _sum(one: Bundle) -> bool:
    return len(one.parts) == 1 and additive(one.parts[0])


def _shared(one: Bundle, other: Bundle, facts: Facts) -> Bundle:
    """Return a bundle that serves the questions of two: of both that which costs more alone, and has less noise."""
    dearer = one if one.parts == other.parts else max(one, other, key=lambda it: cost(it.parts, facts))
    texts = tuple(dict.fromkeys((*one.texts, *other.texts)))
    share = max(one.share, other.share, key=lambda it: it.amount)
    return replace(dearer, texts=texts, share=share, group=one.group)


def _grouped(bundles: list[Bundle], facts: Facts) -> tuple[Bundle, ...]:
    """Price together what keeps the same rows, and what keeps no row in common, where that is cheaper than by questions."""
    for find in (_frames, _apart):
        for many in find(bundles, facts):
            _join(bundles, many, facts)
    return _numbered(bundles)


def _numbered(bundles: Iterable[Bundle]) -> tuple[Bundle, ...]:
    """Number the groups as they come."""
    numbers: dict[int, int] = {}
    return tuple(replace(one, group=numbers.setdefault(one.group, len(numbers))) for one in bundles)


def _join(bundles: list[Bundle], many: Sequence[int], facts: Facts) -> None:
    """Make one group of what stands at some places, where that and what is left of their groups cost less."""
    touched, taken = {bundles[place].group for place in many}, set(many)
    if len(touched) > 1:
        new = 1 + max(one.group for one in bundles)
        changed = {*touched, new}
        joined = [replace(one, group=new) if place in taken else one for place, one in enumerate(bundles)]
        before, after = (
            total(together((one for one in listed if one.group in changed), facts), facts.measure)
            for listed in (bundles, joined)
        )
        if after < before:
            bundles[:] = joined


def _frames(bundles: Sequence[Bundle], facts: Facts) -> list[list[int]]:
    """Return places of sums of several questions that keep the same rows."""
    found: dict[Any, list[int]] = {}
    if len({one.group for one in bundles}) > 1:
        for place, one in enumerate(bundles):
            if _sum(one):
                found.setdefault(_frame(one.parts[0], facts), []).append(place)
    return list(found.values())


def _apart(bundles: Sequence[Bundle], facts: Facts) -> list[list[int]]:
    """Return places of groups of sums of which no row is in two; the dearest first, so that what is cheap parts no two of them."""
    regions, groups = Regions(facts.ranges), dict[int, list[int]]()
    for place, one in enumerate(bundles):
        groups.setdefault(one.group, []).append(place)
    summed = []
    for places in groups.values():
        parts = [part for place in places for part in bundles[place].parts]
        if all(isinstance(part.request, Total) and additive(part) for part in parts):
            summed.append((cost(parts, facts), places, parts))
    lists: list[list[tuple[list[int], list[Region]]]] = []
    for _, places, parts in sorted(summed, key=lambda one: one[0], reverse=True):
        mine = [regions.of(where) for where in dict.fromkeys(part.request.where for part in parts)]
        many = next((one for one in lists if len(one) < sums.MOST_APART and _all_apart(mine, one)), None)
        if many is None:
            lists.append(many := [])
        many.append((places, mine))
    return [[place for places, _ in many for place in places] for many in lists if len(many) > 1]


def divisions(bundles: Sequence[Bundle], places: Sequence[Places]) -> tuple[tuple[int, ...], ...]:
    """Return the questions of each group in which different filters are priced together: no row is in two of them."""
    return tuple(
        asking
        for group, asking in askers_by_group(bundles, places).items()
        if len(asking) > 1
        and len({part.request.where for one in bundles if one.group == group for part in one.parts}) > 1
    )


def askers_by_group(bundles: Sequence[Bundle], places: Sequence[Places]) -> dict[int, tuple[int, ...]]:
    """Return for each group the places of the questions that it serves."""
    served: dict[int, set[int]] = {}
    for one, who in zip(bundles, askers(places), strict=True):
        served.setdefault(one.group, set()).update(who)
    return {group: tuple(sorted(who)) for group, who in served.items()}


def _all_apart(mine: Sequence[Region], others: Sequence[tuple[list[int], list[Region]]]) -> bool:
    return all(apart(one, its) for one in mine for _, theirs in others for its in theirs)


def _frame(part: Measurement, facts: Facts) -> Any:
    """Return what measurements have in common that keep the same rows."""
    request = part.request
    return type(request), facts.membership(request), type(part.mechanism)


def cost(parts: Sequence[Measurement], facts: Facts) -> Fraction:
    """Return what measurements cost together, in the dataset's measure."""
    return total(events(parts, facts), facts.measure)


def total(found: Iterable[PrivacyEvent], measure: Measure) -> Fraction:
    """Return the sum of events in a measure."""
    return sum((event.loss(measure).amount for event in found), Fraction(0))


def spent(found: Iterable[PrivacyEvent], kind: str, measure: Measure) -> Fraction:
    """Return the sum of events as it is asked: of ε in ε, whatever the measure."""
    if kind == "rho":
        return total(found, measure)
    return sum((event.amount for event in found), Fraction(0))


def refined(
    bundles: Sequence[Bundle],
    apart: Sequence[Sequence[Measurement]],
    kind: str,
    fixed: frozenset[int],
    held: frozenset[int],
    facts: Facts,
) -> tuple[Bundle, ...]:
    """Return what is bought with as little noise as the same loss pays for.

    Parameters
    ----------
    bundles : sequence of Bundle
    apart : sequence of sequence of Measurement
        What each question would buy of it alone, without what is held.
    kind : {"epsilon", "rho"}
        In what the loss is asked.
    fixed : frozenset of int
        Places of what serves only questions with a loss of their own: its noise stays.
    held : frozenset of int
        Places of what is held already: nothing is paid for it, and its noise stays.
    facts : Facts
    """
    paid = {place: one for place, one in enumerate(bundles) if place not in held}
    free = {place for place, one in paid.items() if _sum(one) and place not in fixed}
    asked = [event for parts in apart for event in events(parts, facts)]
    now, loose = together(paid.values(), facts), together((paid[place] for place in sorted(free)), facts)
    most, least, part = (spent(found, kind, facts.measure) for found in (asked, now, loose))
    if not free or most - least <= _SLACK * most:
        return tuple(bundles)
    factor = 1 + (most - least) / part
    found = tuple(
        replace(one, parts=(_finer(one.parts[0], factor),), plan={}) if place in free else one
        for place, one in enumerate(bundles)
    )
    costs = total(together((found[place] for place in paid), facts), facts.measure)
    return found if costs <= total(asked, facts.measure) else tuple(bundles)


def _finer(part: Measurement, factor: Fraction) -> Measurement:
    value = amount(part.mechanism) / factor
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _BITS:
        step = 2 ** max(0, 64 - (value.numerator.bit_length() - value.denominator.bit_length()))
        value = Fraction(-(-value * step // 1), step)
    return replace(part, mechanism=with_amount(part.mechanism, value))
