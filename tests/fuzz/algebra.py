"""Random measurements in the integer algebra: what a hostile kernel may send, and dpnb's own planner never would.

Numbers, filters and keys are drawn from few columns and used again, so that parts come to share rows, cells and values in part and in whole.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

from dpnb.inference.selection_law import selection
from dpnb.trusted.aggregate.algebra import (
    Add,
    And,
    Case,
    Clip,
    Cmp,
    Col,
    CrossMoments,
    FloorDiv,
    IntExpr,
    Key,
    Known,
    Lit,
    Mul,
    Not,
    Or,
    Pred,
    Shrink,
    Sub,
    Total,
    TrueP,
    ValueCounts,
    bounds,
)
from dpnb.trusted.measurements.matrix import monomial
from dpnb.trusted.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    KSExponential,
    LocatedSums,
    PermuteAndFlip,
    QuantileFlip,
    QuantileSelection,
    Thresholding,
)
from dpnb.trusted.mechanisms.located_sums import radii
from tests.measurements.tiny import Measured

ONE = Lit(1)
MOST_CELLS, MOST_GRID, MOST_LOCATED = 60, 8, 4
Ranges = dict[str, tuple[int, int]]


@dataclass
class Algebra:
    """Draws expressions over some columns, and again those that it drew before."""

    rng: random.Random
    ranges: Ranges
    numbers: list[IntExpr] = field(default_factory=list)
    filters: list[Pred] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)

    def again(self, drawn: list[Any], draw: Callable[[], Any]) -> Any:
        """One that was drawn before, or a new one."""
        if drawn and self.rng.random() < 0.6:
            return self.rng.choice(drawn)
        drawn.append(draw())
        return drawn[-1]

    def number(self) -> IntExpr:
        """A number: often a column alone."""
        return self.again(self.numbers, lambda: self._number(self.rng.choice([0, 0, 1, 2, 3])))

    def where(self) -> Pred | None:
        """A filter, or none."""
        if self.rng.random() < 0.5:
            return None
        return self.again(self.filters, lambda: self._predicate(self.rng.choice([0, 1, 2, 3])))

    def key(self) -> Key:
        """A key, with cells for some of its codes or for more: sometimes one that was drawn, with another size."""
        found: Key = self.again(self.keys, lambda: Key(self.number(), self.rng.randint(1, 4)))
        return found if self.rng.random() < 0.7 else Key(found.code, self.rng.randint(1, 4))

    def some_keys(self) -> tuple[Key, ...]:
        """No key, one or two."""
        return tuple(self.key() for _ in range(self.rng.choice([0, 0, 1, 1, 2])))

    def top(self, value: IntExpr) -> int:
        """The largest absolute value of a number."""
        return max(map(abs, bounds(value, self.ranges)))

    def grid(self, most: int) -> tuple[IntExpr, int]:
        """A number that is an index of a grid, and the grid's last."""
        value = self.number()
        low, high = bounds(value, self.ranges)
        if not 0 <= low <= high <= most:
            value = Clip(value, 0, min(max(high, 1), most))
        return value, max(bounds(value, self.ranges)[1], 1) + self.rng.choice([0, 0, 1])

    def _number(self, depth: int) -> IntExpr:
        rng = self.rng
        if depth == 0:
            return Col(rng.choice(list(self.ranges))) if rng.random() < 0.85 else Lit(rng.randint(-2, 3))
        a, b = self._number(depth - 1), self._number(rng.randrange(depth))
        made: list[Callable[[], IntExpr]] = [
            lambda: Add(a, b),
            lambda: Sub(a, b),
            lambda: Mul(a, rng.choice([a, b])),
            lambda: FloorDiv(a, rng.randint(1, 3)),
            lambda: Clip(a, rng.randint(-2, 1), rng.randint(1, 3)),
            lambda: Case(self._predicate(depth - 1), a, b),
            lambda: Case(Known(a), a, b),
        ]
        return rng.choice(made)()

    def _predicate(self, depth: int) -> Pred:
        rng = self.rng
        if depth == 0:
            a = self._number(rng.randint(0, 1))
            plain: list[Pred] = [Cmp(rng.choice(["==", "<", "<="]), a, self._number(0)), Known(a)]
            return rng.choice([*plain, *plain, *plain, TrueP()])
        a, b = self._predicate(depth - 1), self._predicate(rng.randrange(depth))
        return rng.choice([And(a, b), And(b, a), Or(a, b), Not(a)])


def measurements(rng: random.Random, ranges: Ranges, *, gaussian: bool) -> list[Measured]:
    """Draw one to four parts that share expressions; `gaussian` where the budget holds such noise."""
    drawn = Algebra(rng, ranges)
    draw = rng.choice([_sums, _sums, _sums, _divided, _divided, _tree, _box, _joint, _selected])
    return draw(drawn, _noise(rng, gaussian=gaussian))


def thresholded(rng: random.Random, ranges: Ranges, rows: int) -> Measured:
    """Draw frequent values; the mechanism says any number of rows."""
    drawn, threshold = Algebra(rng, ranges), rng.randint(rows + 1, 6)
    said = rng.randint(1, threshold - 1)
    return Measured(
        ValueCounts(drawn.number(), drawn.where()), Thresholding(_amount(rng), threshold, said), 1
    )


def _noise(rng: random.Random, *, gaussian: bool) -> Callable[[int], Any]:
    """Noise of one family, seldom of both, in units of what it protects."""
    kinds = [rng.choice([DiscreteLaplace, DiscreteGaussian]) if gaussian else DiscreteLaplace]
    if gaussian and rng.random() < 0.2:
        kinds = [DiscreteLaplace, DiscreteGaussian]

    def made(unit: int) -> Any:
        kind, wide = rng.choice(kinds), max(unit, 1) * _amount(rng)
        return kind(wide if kind is DiscreteLaplace else wide**2)

    return made


def _amount(rng: random.Random) -> Fraction:
    return rng.choice([Fraction(1), Fraction(2), Fraction(5, 2), Fraction(4)])


def _total(drawn: Algebra, noise: Any, value: IntExpr, where: Pred | None, keys: tuple[Key, ...]) -> Measured:
    return Measured(Total(value, where, keys), noise(drawn.top(value)), _cells(keys))


def _cells(keys: tuple[Key, ...]) -> int:
    return math.prod(key.size for key in keys)


def _sums(drawn: Algebra, noise: Any) -> list[Measured]:
    """Sums with filters and keys of their own, or of another."""
    made = []
    for _ in range(drawn.rng.randint(1, 4)):
        value = drawn.rng.choice([ONE, drawn.number()])
        made.append(_total(drawn, noise, value, drawn.where(), drawn.some_keys()))
    return made


def _divided(drawn: Algebra, noise: Any) -> list[Measured]:
    """Sums over filters that nearly divide the rows by the codes of a column, sometimes with a condition beside."""
    rng = drawn.rng
    name = rng.choice(list(drawn.ranges))
    made = []
    for condition in rng.sample(divisions(name, drawn.ranges[name][1]), 2):
        where = rng.choice([condition, condition, And(drawn._predicate(1), condition)])
        keys = rng.choice([(), drawn.some_keys()])
        made += [
            _total(drawn, noise, value, where, keys)
            for value in dict.fromkeys((ONE, rng.choice([ONE, drawn.number()])))
        ]
    return made


def divisions(name: str, last: int) -> list[Pred]:
    """Ways to keep some codes of a column; of each its opposite too."""
    code = Col(name)
    made: list[Pred] = [Cmp("==", code, Lit(at)) for at in range(last + 1)]
    made += [Cmp("<=", code, Lit(0)), Cmp("<", Lit(0), code), Or(made[0], made[-1]), Known(code)]
    return [*made, *map(Not, made)]


def _tree(drawn: Algebra, noise: Any) -> list[Measured]:
    """Sums of the same rows by keys over one code: of equal and of other sizes."""
    code, where = drawn.number(), drawn.where()
    return [
        _total(
            drawn,
            noise,
            drawn.rng.choice([ONE, drawn.number()]),
            where,
            (Key(code, drawn.rng.randint(1, 4)),),
        )
        for _ in range(drawn.rng.randint(2, 3))
    ]


def _joint(drawn: Algebra, noise: Any) -> list[Measured]:
    """Some moments of two numbers, which may be one, and what does not quite belong to them."""
    x, y, rng = drawn.number(), drawn.number(), drawn.rng
    where = Known(Add(x, y)) if rng.random() < 0.3 else And(Known(x), Known(y))
    keys = tuple(drawn.key() for _ in range(rng.choice([0, 0, 1])))

    def square(value: IntExpr) -> IntExpr:
        return Sub(
            Mul(Lit(2), Mul(value, value)), Lit((drawn.top(value) + rng.choice([0, 0, 0, 1, -1])) ** 2)
        )

    beside = rng.choice(
        [x, y, Mul(y, x), square(x), Mul(Mul(x, y), x), Mul(Mul(x, y), Mul(x, y)), drawn.number()]
    )
    values = [Mul(x, y), x, y, square(x), square(y), ONE, beside]
    chosen = [value for value in values if rng.random() < 0.8]
    return [_total(drawn, noise, value, where, keys) for value in chosen or [Mul(x, y)]]


def _box(drawn: Algebra, noise: Any) -> list[Measured]:
    """Entries of a matrix in one part or two, its rows moved into a ball or not."""
    rng = drawn.rng
    values = (ONE, *(drawn.number() for _ in range(rng.randint(1, 3))))
    halves = [drawn.top(value) for value in values]
    shrink = _shrink(rng, values, halves) if rng.random() < 0.5 else None
    if shrink is not None and rng.random() < 0.5:
        values, halves, shrink = _multiplied(rng, values, shrink)
    entries = [(i, j) for i in range(len(values)) for j in range(i, len(values)) if rng.random() < 0.8]
    rng.shuffle(entries)
    whole = CrossMoments(values, (), None, shrink)
    entries = list({monomial(whole, entry): entry for entry in entries}.values())
    entries, cut, where = entries or [(0, 1)], rng.randint(0, 3), drawn.where()
    blocks = [block for block in (entries[:cut], entries[cut:]) if block]
    return [
        Measured(
            CrossMoments(values, tuple(block), where, shrink),
            noise(max(halves[i] * halves[j] for i, j in block)),
            len(block),
        )
        for block in blocks
    ]


def _multiplied(
    rng: random.Random, values: tuple[IntExpr, ...], shrink: Shrink
) -> tuple[tuple[IntExpr, ...], list[int], Shrink]:
    """Some products of two moved values behind them, left out of the ball."""
    moved = range(1, len(values))
    pairs = [pair for pair in combinations_with_replacement(moved, 2) if rng.random() < 0.7]
    tops = [shrink.halves[a] * shrink.halves[b] for a, b in pairs]
    behind = replace(shrink, halves=(*shrink.halves, *(0 for _ in pairs)))
    return (*values, *(Mul(values[a], values[b]) for a, b in pairs)), [1, *shrink.halves[1:], *tops], behind


def _shrink(rng: random.Random, values: tuple[IntExpr, ...], halves: list[int]) -> Shrink | None:
    """Limits anywhere, also where no row is; half ranges as wide as needed, or wider."""
    if any(isinstance(value, Lit) for value in values[1:]):
        return None
    steps = rng.randint(2, 8)
    limits = sorted({rng.randint(-1, len(values) * 2**20) for _ in range(rng.randint(1, steps - 1))})
    return Shrink((0, *(half + rng.choice([0, 0, 1]) for half in halves[1:])), tuple(limits), steps)


def _selected(drawn: Algebra, _: Any) -> list[Measured]:
    """One that is priced by itself: what the mechanism says of factors need not be true."""
    draw = drawn.rng.choice([_quantile, _located, _pick, _choice, _placement])
    return [draw(drawn)]


def _quantile(drawn: Algebra) -> Measured:
    value, steps = drawn.grid(MOST_GRID)
    keys, rng = tuple(drawn.key() for _ in range(drawn.rng.choice([0, 0, 1]))), drawn.rng
    q = rng.choice([Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10), Fraction(1)])
    kind = QuantileFlip if steps % 2 else QuantileSelection
    mechanism = kind(_amount(rng), q, rng.randint(-3, 3), steps, _amount(rng))
    return Measured(ValueCounts(value, drawn.where(), keys), mechanism, _cells(keys))


def _located(drawn: Algebra) -> Measured:
    value, steps = drawn.grid(MOST_LOCATED)
    keys, rng = tuple(drawn.key() for _ in range(drawn.rng.choice([0, 0, 1]))), drawn.rng
    mechanism = LocatedSums(
        selection(
            _amount(rng), rng.choice([Fraction(1, 2), Fraction(1, 4), Fraction(1)]), steps, _amount(rng)
        ),
        selection(
            _amount(rng), rng.choice([Fraction(1), Fraction(1, 2)]), len(radii(steps)) - 1, _amount(rng)
        ),
        rng.randint(0, 3),
        _amount(rng),
        _amount(rng),
        _amount(rng),
        rng.choice([None, _amount(rng)]),
    )
    return Measured(ValueCounts(value, drawn.where(), keys), mechanism, _cells(keys) * mechanism.width)


def _pick(drawn: Algebra) -> Measured:
    rng, value = drawn.rng, drawn.rng.choice([ONE, drawn.number()])
    keys = tuple(drawn.key() for _ in range(rng.choice([1, 1, 2])))
    size = keys[-1].size
    picks = rng.randint(1, min(size, 3))
    mechanism = PermuteAndFlip(_amount(rng) / max(drawn.top(value), 1), size, picks, rng.randint(1, 3))
    return Measured(Total(value, drawn.where(), keys), mechanism, _cells(keys[:-1]) * picks)


def _choice(drawn: Algebra) -> Measured:
    rng = drawn.rng
    values = tuple(drawn.number() for _ in range(rng.randint(1, 4)))
    size = rng.randint(1, len(values))
    picks = rng.randint(1, min(size, 3))
    unit = max(*map(drawn.top, values), 1)
    mechanism = PermuteAndFlip(_amount(rng) / unit, size, picks, rng.randint(1, 3))
    pairs = tuple((0, place) for place in range(1, size + 1))
    return Measured(CrossMoments((ONE, *values), pairs, drawn.where()), mechanism, picks)


def _placement(drawn: Algebra) -> Measured:
    rng = drawn.rng
    keys = tuple(drawn.key() for _ in range(rng.choice([1, 1, 2])))
    places = tuple(rng.randint(1, 3) for _ in range(keys[-1].size))
    check = rng.choice([Fraction(0), _amount(rng)])
    mechanism = KSExponential(_amount(rng), rng.randint(1, 3), places, rng.randint(1, 3), check)
    cells = _cells(keys[:-1]) * (len(places) + bool(check))
    return Measured(Total(ONE, drawn.where(), keys), mechanism, cells)
