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
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dpnb.statistics.noise import amount, with_amount
from dpnb.trusted.aggregate.algebra import Mul, Total
from dpnb.trusted.measurements import Facts, Measurement, events, sums
from dpnb.trusted.measurements.products import joint_event
from dpnb.trusted.measurements.regions import Region, Regions, apart
from dpnb.trusted.mechanisms import DiscreteGaussian, DiscreteLaplace, QuantileSelection
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.plan_record import measured, written

_SLACK = Fraction(1, 1000)
"""What is saved is left where it is less than this part of the loss: the noise stays that of the questions."""
_BITS = 160
"""Numerator and denominator of a refined noise are at most this long, and rounded up beyond."""


@dataclass(frozen=True, slots=True)
class Bought:
    """What is bought once, whatever the number of questions that it serves.

    Parameters
    ----------
    parts : tuple of Measurement
        One sum with its noise; or all parts of a question whose parts belong together.
    measured : str
        The name under which it is stored.
    askers : tuple of int
        Places of the questions that it serves.
    group : int
        With which others it is priced.
    plan : dict
        The record of the parts, where it is at hand.
    """

    parts: tuple[Measurement, ...]
    measured: str
    askers: tuple[int, ...]
    group: int
    plan: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def with_parts(self, parts: tuple[Measurement, ...]) -> Bought:
        """Return what measures the same under other noise."""
        return replace(self, parts=parts, plan={})


Places = tuple[tuple[int, int], ...]
"""For each part of a question the purchase that serves it, and which of its parts."""


def bought_once(
    questions: Sequence[Sequence[Measurement]], facts: Facts, alone: Fraction
) -> tuple[tuple[Bought, ...], tuple[Places, ...]]:
    """Return what the questions buy together, and for each of them which purchase serves each of its parts; alone they cost so much."""
    bought, places = _bought([pieces(parts, facts) for parts in questions], facts)
    if not _shares(questions, bought):
        return _numbered(bought), places
    together = _grouped(bought, facts)
    if total(joint(together, facts), facts.measure) > alone:
        bought, places = _bought([[tuple(parts)] if parts else [] for parts in questions], facts)
        return _numbered(bought), places
    return together, places


def _shares(questions: Sequence[Sequence[Measurement]], bought: Sequence[Bought]) -> bool:
    """Tell whether anything can be saved: there are two questions, or one that measures the same twice."""
    return len(list(filter(None, questions))) > 1 or sum(len(one.parts) for one in bought) < sum(
        map(len, questions)
    )


def _bought(
    questions: Sequence[Sequence[tuple[Measurement, ...]]], facts: Facts
) -> tuple[list[Bought], tuple[Places, ...]]:
    found: dict[str, int] = {}
    bought: list[Bought] = []
    places: list[Places] = []
    for asker, pieces_of in enumerate(questions):
        mine: list[tuple[int, int]] = []
        for piece in pieces_of:
            plan = written(piece)
            name = measured(piece, plan)
            place = found.setdefault(name, len(bought))
            if place == len(bought):
                bought.append(Bought(piece, name, (asker,), asker, plan))
            else:
                bought[place] = _shared(bought[place], piece, asker, facts)
            mine += [(place, at) for at in range(len(piece))]
        places.append(tuple(mine))
    return bought, tuple(places)


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


def _sum(one: Bought) -> bool:
    return len(one.parts) == 1 and additive(one.parts[0])


def _shared(one: Bought, other: tuple[Measurement, ...], asker: int, facts: Facts) -> Bought:
    """Return a purchase that serves one question more: of the two that which costs more alone, and has less noise."""
    if one.parts != other:
        one = one.with_parts(max(one.parts, other, key=lambda parts: cost(parts, facts)))
    return replace(one, askers=tuple(dict.fromkeys((*one.askers, asker))))


def _grouped(bought: list[Bought], facts: Facts) -> tuple[Bought, ...]:
    """Price together what keeps the same rows, and what keeps no row in common, where that is cheaper than by questions."""
    for find in (_frames, _apart):
        for many in find(bought, facts):
            _join(bought, many, facts)
    return _numbered(bought)


def _numbered(bought: Iterable[Bought]) -> tuple[Bought, ...]:
    """Number the groups as they come."""
    numbers: dict[int, int] = {}
    return tuple(replace(one, group=numbers.setdefault(one.group, len(numbers))) for one in bought)


def _join(bought: list[Bought], many: Sequence[int], facts: Facts) -> None:
    """Make one group of what stands at some places, where that and what is left of their groups cost less."""
    touched, taken = {bought[place].group for place in many}, set(many)
    if len(touched) > 1:
        before = _by_group(one for one in bought if one.group in touched)
        rest = (one for place, one in enumerate(bought) if one.group in touched and place not in taken)
        after = [_everything([bought[place].parts for place in many]), *_by_group(rest)]
        if sum(cost(parts, facts) for parts in after) < sum(cost(parts, facts) for parts in before):
            new = 1 + max(one.group for one in bought)
            for place in many:
                bought[place] = replace(bought[place], group=new)


def _frames(bought: Sequence[Bought], facts: Facts) -> list[list[int]]:
    """Return places of sums of several questions that keep the same rows."""
    found: dict[Any, list[int]] = {}
    if len({one.group for one in bought}) > 1:
        for place, one in enumerate(bought):
            if _sum(one):
                found.setdefault(_frame(one.parts[0], facts), []).append(place)
    return list(found.values())


def _apart(bought: Sequence[Bought], facts: Facts) -> list[list[int]]:
    """Return places of groups of sums of which no row is in two; the dearest first, so that what is cheap parts no two of them."""
    regions, groups = Regions(facts.ranges), dict[int, list[int]]()
    for place, one in enumerate(bought):
        groups.setdefault(one.group, []).append(place)
    summed = []
    for places in groups.values():
        parts = [part for place in places for part in bought[place].parts]
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


def divisions(bought: Sequence[Bought]) -> tuple[tuple[int, ...], ...]:
    """Return the questions of each group in which different filters are priced together: no row is in two of them."""
    groups: dict[int, list[Bought]] = {}
    for one in bought:
        groups.setdefault(one.group, []).append(one)
    found = (
        many
        for many in groups.values()
        if len({part.request.where for one in many for part in one.parts}) > 1
    )
    askers = (tuple(sorted({asker for one in many for asker in one.askers})) for many in found)
    return tuple(one for one in askers if len(one) > 1)


def _all_apart(mine: Sequence[Region], others: Sequence[tuple[list[int], list[Region]]]) -> bool:
    return all(apart(one, its) for one in mine for _, theirs in others for its in theirs)


def _frame(part: Measurement, facts: Facts) -> Any:
    """Return what measurements have in common that keep the same rows."""
    request = part.request
    return type(request), facts.membership(request), type(part.mechanism)


def _by_group(bought: Iterable[Bought]) -> list[list[Measurement]]:
    found: dict[int, list[Measurement]] = {}
    for one in bought:
        found.setdefault(one.group, []).extend(one.parts)
    return list(found.values())


def _everything(groups: Iterable[Sequence[Measurement]]) -> list[Measurement]:
    return [part for parts in groups for part in parts]


def joint(bought: Iterable[Bought], facts: Facts) -> tuple[PrivacyEvent, ...]:
    """Return the events of what is bought: each group at the worst move through all that it holds, as the curator derives them."""
    return tuple(event for parts in _by_group(bought) for event in events(parts, facts))


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
    bought: Sequence[Bought],
    apart: Sequence[Sequence[Measurement]],
    kind: str,
    fixed: frozenset[int],
    held: frozenset[int],
    facts: Facts,
) -> tuple[Bought, ...]:
    """Return what is bought with as little noise as the same loss pays for.

    Parameters
    ----------
    bought : sequence of Bought
    apart : sequence of sequence of Measurement
        What each question would buy of it alone, without what is held.
    kind : {"epsilon", "rho"}
        In what the loss is asked.
    fixed : frozenset of int
        Questions with a loss of their own: noise that serves no other stays.
    held : frozenset of int
        Places of what is held already: nothing is paid for it, and its noise stays.
    facts : Facts
    """
    paid = {place: one for place, one in enumerate(bought) if place not in held}
    free = {place for place, one in paid.items() if _sum(one) and not fixed.issuperset(one.askers)}
    asked = [event for parts in apart for event in events(parts, facts)]
    now, loose = joint(paid.values(), facts), joint((paid[place] for place in sorted(free)), facts)
    most, least, part = (spent(found, kind, facts.measure) for found in (asked, now, loose))
    if not free or most - least <= _SLACK * most:
        return tuple(bought)
    factor = 1 + (most - least) / part
    found = tuple(
        one.with_parts((_finer(one.parts[0], factor),)) if place in free else one
        for place, one in enumerate(bought)
    )
    costs = total(joint((found[place] for place in paid), facts), facts.measure)
    return found if costs <= total(asked, facts.measure) else tuple(bought)


def _finer(part: Measurement, factor: Fraction) -> Measurement:
    value = amount(part.mechanism) / factor
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _BITS:
        step = 2 ** max(0, 64 - (value.numerator.bit_length() - value.denominator.bit_length()))
        value = Fraction(-(-value * step // 1), step)
    return replace(part, mechanism=with_amount(part.mechanism, value))
