r"""Sums with additive noise: what one person moves, and what parts that keep the same rows cost together.

A row adds an integer w to the one cell it falls in, or nothing. With :math:`l ≤ w ≤ h` by interval arithmetic, ``enter`` is
:math:`\max(|l|, |h|)` and ``within`` is :math:`h - l`.

=========  ==========================================  =====================  ===========================
move       when                                        shifts of a part       that is in L1, squared L2
=========  ==========================================  =====================  ===========================
within     change-one                                  ``within``             ``within``, ``within²``
enter      add-remove; change-one, private membership  ``enter``              ``enter``, ``enter²``
switch     change-one, several cells                   ``enter``, ``enter``   ``2 enter``, ``2 enter²``
=========  ==========================================  =====================  ===========================

Products and a factor that they share cannot all move by their ``within`` at once: :mod:`~dpnb.trusted.measurements.factors`.

**Frames.** Parts with equal filter and equal exclusions keep the same rows. A row that comes or goes does so in all of them; a
row that changes stays in its cell or switches, the same way in all parts of equal keys. So a frame is priced at its worst single move: with
several sets of keys, as in a tree, a change is any combination of within and switch over the sets. Frames add.

**Frames apart.** Where filters keep no row in common (:mod:`dpnb.trusted.measurements.regions`), a row is in one of their frames at most: it comes or goes
in one of them, changes within one, or, under change-one, leaves one and enters another. So they are priced together at the worst of these moves: with
one more person the dearest frame alone, with a changed one the dearest change or the two dearest entries together, never less.

*Proof.* For a unit of one row the log-ratio of a product of discrete Laplace laws is at most :math:`\sum_i |Δ_i|/b_i`, and the Rényi divergence
of order α of a product of discrete Gaussians at most :math:`α\sum_i Δ_i^2/2v_i`. A unit of k rows changes by at most k such row moves (rows are
paired; an unpaired row enters or leaves). Scaled L1 norms add, and scaled L2 norms add by the triangle inequality, so that the losses grow by
k and k². In ρ, Laplace noise costs :math:`\max_{moves}\sum_i K(k\,s_i, b_i)` over the entries that a move shifts by :math:`s_i`, K being that of
:mod:`dpnb.trusted.privacy.conversion`: the sum is convex in the vector of shifts, which is the mean of k times the move of each row, so that k times
one move is the worst. A filter with a cap keeps k rows of a unit for a k of its own (:mod:`dpnb.trusted.aggregate.cap`), and of the rows that frames
apart keep at most as many as the largest of their caps are in one of them or another: the same holds with that k. Frames are independent
releases: they compose.

*Enumerated* over tiny neighbouring tables: ``test_no_neighbours_move_sums_farther_than_derived``, with caps
``test_no_neighbours_move_capped_sums_farther_than_derived``.

A part that no move shifts is refused: it would be an exact public number, and its loss zero.

References
----------
Bun & Steinke, *Concentrated differential privacy* (2016); Canonne, Kamath & Steinke, *The discrete Gaussian* (2020).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

from dpnb.trusted.aggregate.algebra import Key, Total, cells_of
from dpnb.trusted.errors import PlanError
from dpnb.trusted.measurements.factors import shared
from dpnb.trusted.measurements.facts import Facts, Measurement, Membership, same_cells
from dpnb.trusted.measurements.regions import Region, Regions, apart
from dpnb.trusted.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import quotients

WITHIN, ENTER, SWITCH = "within", "enter", "switch"
_MOST_WAYS = 64
MOST_APART = 16
"""Frames that are priced together because no row is in two of them."""
_MOST_PARTS_APART, _MOST_WAYS_APART = 256, 128
_MOST_MOVED = 4096
"""Ways to change times parts that move, at most, in frames with several sets of keys: the time to find the worst move grows with it."""
Noise = DiscreteLaplace | DiscreteGaussian


@dataclass(frozen=True, slots=True)
class Part:
    """One vector of sums: its request, its noise, and what a row adds and changes in its cell."""

    request: Total
    noise: Noise
    enter: int
    within: int

    @classmethod
    def of(cls, measurement: Measurement, facts: Facts) -> Part:
        """Derive what a row moves."""
        request, noise = measurement.request, measurement.mechanism
        assert isinstance(request, Total)
        assert isinstance(noise, Noise)
        same_cells(measurement, cells_of(request.keys))
        low, high = facts.range_of(request.value, request.where)
        return cls(request, noise, max(abs(low), abs(high)), high - low)

    def shifts(self, kind: str) -> tuple[int, ...]:
        """Return how far each entry moves when one row does: a switch leaves one entry and enters another."""
        if kind == SWITCH:
            return self.enter, self.enter
        return (self.enter if kind == ENTER else self.within,)


Move = list[tuple[Part, str]]
"""What each part does when one row does something."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Parts that keep the same rows, under one family of noise; made by :func:`frames`, or of one part."""

    parts: tuple[Part, ...]
    kept: Membership

    @property
    def several(self) -> tuple[tuple[Key, ...], ...]:
        """The sets of keys of the parts."""
        found: list[tuple[Key, ...]] = []
        for part in self.parts:
            if part.request.keys not in found:
                found.append(part.request.keys)
        return tuple(found)

    def moves(self, facts: Facts) -> Iterator[Move]:
        """Give every move of one row: what each part does."""
        if not facts.changed or self.kept.private:
            yield [(part, ENTER) for part in self.parts]
        if facts.changed:
            keys = self.several
            for kinds in product(*(self.ways(one) for one in keys)):
                yield [(part, kinds[keys.index(part.request.keys)]) for part in self.parts]

    def ways(self, keys: tuple[Key, ...]) -> tuple[str, ...]:
        """Return how a row that stays in the frame can change in the parts of some keys."""
        if cells_of(keys) == 1:
            return (WITHIN,)
        still = all(part.within == 0 for part in self.parts if part.request.keys == keys)
        return (SWITCH,) if still else (WITHIN, SWITCH)

    def event(self, facts: Facts) -> PrivacyEvent:
        """Return the event of the worst move."""
        moves = list(self.moves(facts))
        moved = {id(part) for move in moves for part, kind in move if any(part.shifts(kind))}
        if not moved.issuperset(map(id, self.parts)):
            raise constant()
        return _worst(moves, facts.capped(self.kept.where))


@dataclass(frozen=True, slots=True)
class Apart:
    """Frames under one family of noise, of which each row is in one at most."""

    frames: tuple[Frame, ...]

    def moves(self, facts: Facts) -> Iterator[Move]:
        """Give every move of one row: of one frame, or out of one and into another.

        A row that leaves a frame and enters none makes a move of that frame alone: who is in a filter is private, so that frames of
        different filters have it among their own.
        """
        for frame in self.frames:
            yield from frame.moves(facts)
        if facts.changed:
            for one, other in combinations(self.frames, 2):
                yield [(part, ENTER) for part in (*one.parts, *other.parts)]

    def event(self, facts: Facts) -> PrivacyEvent:
        """Return the event of the worst move, of as many rows as the frame of the largest cap keeps of a person."""
        return _worst(self.moves(facts), facts.capped(*(frame.kept.where for frame in self.frames)))


def _worst(moves: Iterable[Move], facts: Facts) -> PrivacyEvent:
    """Return the event of the worst of some moves of one row, for as many rows as a person has."""
    listed, rows = [shifted for move in moves for shifted in _shifted(move, facts)], facts.rows
    if isinstance(listed[0][0][0].noise, DiscreteLaplace):
        return PrivacyEvent.laplace(
            [(Fraction(rows * shift), part.noise.scale) for part, shift in move]  # type: ignore[union-attr]
            for move in listed
        )
    costs = (quotients((shift**2, part.noise.variance) for part, shift in move) for move in listed)  # type: ignore[union-attr]
    return PrivacyEvent("gaussian", Fraction(rows**2, 2) * max(costs))


def _shifted(move: Move, facts: Facts) -> Iterator[list[tuple[Part, int]]]:
    """Give how far entries move when one row does; parts that share a factor and stay in their cell as :mod:`.factors` says.

    Those have two worst ends, one for ε and one for ρ: where the two differ, a move is given twice, once with each.
    """
    staying = [part for part, kind in move if kind == WITHIN]
    for end in shared(staying, facts):
        ends = {id(staying[at]): (shift,) for at, shift in end.items()}
        yield [(part, shift) for part, kind in move for shift in ends.get(id(part), part.shifts(kind))]


def constant() -> PlanError:
    """Return the refusal of a part of zero sensitivity."""
    return PlanError("This sum is the same whatever the data are: a public constant needs no release.")


def frames(parts: Sequence[Part], facts: Facts) -> list[Frame]:
    """Sort parts into frames: equal filter, equal exclusions, one family of noise."""
    if len(parts) == 1:  # to hash what it keeps is to walk through it
        return [Frame(tuple(parts), facts.membership(parts[0].request))]
    alike: dict[tuple[Membership, type], list[Part]] = {}
    for part in parts:
        alike.setdefault((facts.membership(part.request), type(part.noise)), []).append(part)
    made = [Frame(tuple(found), kept) for (kept, _), found in alike.items()]
    return [one for frame in made for one in _short(frame)]


def _short(frame: Frame) -> list[Frame]:
    """Return a frame, or one for each set of keys where there are too many ways to change."""
    keys, ways = frame.several, _ways(frame)
    if len(keys) == 1 or (ways <= _MOST_WAYS and ways * len(frame.parts) <= _MOST_MOVED):
        return [frame]
    split = [tuple(part for part in frame.parts if part.request.keys == one) for one in keys]
    return [Frame(parts, frame.kept) for parts in split]


def apart_from_each_other(found: Sequence[Frame], facts: Facts) -> list[tuple[Frame, ...]]:
    """Sort frames into lists of such that no row is in two of a list, the dearest first; of many frames, each stands alone."""
    if not 1 < len(found) <= MOST_APART or not _few(found):
        return [(frame,) for frame in found]
    regions, lists = Regions(facts.ranges), list[list[tuple[Frame, Region]]]()
    for frame in sorted(found, key=lambda one: one.event(facts).amount, reverse=True):
        mine = regions.of(frame.kept.where)
        many = next((one for one in lists if all(_apart(frame, mine, *other) for other in one)), None)
        if many is None:
            lists.append(many := [])
        many.append((frame, mine))
    return [tuple(frame for frame, _ in many) for many in lists]


def _few(found: Sequence[Frame]) -> bool:
    """Tell whether frames have few enough moves to be compared with each other."""
    ways, parts = [_ways(frame) for frame in found], [len(frame.parts) for frame in found]
    moved = sum(map(operator.mul, ways, parts))
    return sum(ways) <= _MOST_WAYS_APART and sum(parts) <= _MOST_PARTS_APART and moved <= _MOST_MOVED


def _ways(frame: Frame) -> int:
    return math.prod(len(frame.ways(keys)) for keys in frame.several)


def _apart(frame: Frame, mine: Region, other: Frame, its: Region) -> bool:
    """Tell whether frames have one family of noise and no row in common."""
    return type(frame.parts[0].noise) is type(other.parts[0].noise) and apart(mine, its)
