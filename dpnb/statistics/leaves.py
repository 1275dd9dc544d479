"""The leaves of a tree: equal public intervals of a number's grid, and where a value lies among them.

A leaf holds ``width`` neighbouring grid values (the last one may hold fewer). With one value to a leaf every question about
ranges is exact; with wider leaves an end that cuts through a leaf is shared out, and its interval spans the whole leaf.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from dpnb.errors import OptionError, PlanError
from dpnb.inference.digits import dated
from dpnb.inference.elementwise import Floats, Integers, Number
from dpnb.inference.tree import level_sizes
from dpnb.statistics._base import Axis, Numeric, Setting
from dpnb.trusted.aggregate.algebra import FloorDiv, IntExpr, Key, Lit, Sub

LEVELS = 10
MOST_LEVELS = 16
MOST_NODES = 200_000


@dataclass(frozen=True, slots=True)
class Places:
    """Where some values lie: the leaf edge before, the one behind, and how far between them."""

    before: Integers
    behind: Integers
    share: Floats


@dataclass(frozen=True, slots=True)
class Leaves:
    """Public leaves over a number.

    Parameters
    ----------
    number : Numeric
        The number.
    width : int
        Grid values in a leaf.
    """

    number: Numeric
    width: int

    @property
    def grid(self) -> int:
        """How many values the number can take."""
        return self.number.high - self.number.low + 1

    @property
    def count(self) -> int:
        """How many leaves there are."""
        return -(-self.grid // self.width)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Nodes on each level, root first."""
        return level_sizes(self.count)

    @property
    def depth(self) -> int:
        """Levels below the root."""
        return len(self.sizes) - 1

    def key(self, level: int) -> Key:
        """Return the nodes of a level as cells: a leaf is a quotient of the code, a node one of the leaf."""
        low = self.number.low
        code: IntExpr = self.number.code if low == 0 else Sub(self.number.code, Lit(low))
        code = code if self.width == 1 else FloorDiv(code, self.width)
        up = self.depth - level
        return Key(code if up == 0 else FloorDiv(code, 2**up), self.sizes[level])

    def value(self, index: Number) -> Floats:
        """Return the values of some places on the grid, counted from the lowest."""
        return np.asarray(
            float(self.number.lowest) + float(self.number.step) * np.asarray(index, dtype=float)
        )

    def held(self, leaves: Number) -> Floats:
        """Return how many grid values each leaf holds."""
        return np.asarray(np.minimum(self.width, self.grid - np.asarray(leaves) * self.width))

    @property
    def middles(self) -> Floats:
        """The middle of every leaf on the grid, counted from the lowest value."""
        at = np.arange(self.count)
        return np.asarray(at * self.width + (self.held(at) - 1) / 2)

    def first(self, leaf: Number) -> Floats:
        """Return the lowest value of each leaf."""
        return self.value(np.asarray(leaf) * self.width)

    def last(self, leaf: Number) -> Floats:
        """Return the highest value of each leaf."""
        return self.value(np.asarray(leaf) * self.width + self.held(leaf) - 1)

    def said(self, values: Floats) -> tuple[Any, ...]:
        """Return values as keys: numbers, or dates."""
        calendar = self.number.calendar
        found = values.tolist()
        return tuple(found if calendar is None else (dated(value, calendar) for value in found))

    def upto(self, values: tuple[Fraction, ...], *, inclusive: bool = True) -> Places:
        """Return where the rows up to some values end."""
        number, ends = self.number, []
        for value in values:
            place = (value - number.offset) / number.step
            end = math.floor(place) + 1 if inclusive else math.ceil(place)
            ends.append(min(max(end - number.low, 0), self.grid))
        at = np.array(ends, dtype=np.int64)
        before = at // self.width
        rest = at - before * self.width
        share = rest / np.maximum(self.held(before), 1)
        return Places(before, before + (rest > 0), np.asarray(share, dtype=float))

    def edges(self, level: int) -> Floats:
        """Return the edges of the nodes of a level as values; a node of one value reaches half a step to each side."""
        width = self.width * 2 ** (self.depth - level)
        ends = np.minimum(np.arange(self.sizes[level] + 1) * width, self.grid)
        return self.value(ends - 0.5 if width == 1 else np.minimum(ends, self.grid - 1))

    def axis(self, name: str) -> Axis:
        """Return the leaves as an axis: their value, or the interval that they cover."""
        return self.level_axis(self.depth, name)

    def level_axis(self, level: int, name: str) -> Axis:
        """Return the nodes of a level as an axis."""
        return Axis(name, name, _keys(self, self.depth - level))


@lru_cache(maxsize=16)
def _keys(leaves: Leaves, up: int) -> tuple[Any, ...]:
    number, width = leaves.number, leaves.width * 2**up
    if number.calendar is not None:
        return _dates(leaves, width)
    whole = math.lcm(number.offset.denominator, number.step.denominator)
    low, step = int(number.lowest * whole), int(number.step * whole)
    starts = range(low, low + step * leaves.grid, step * width)
    if width == 1:
        return tuple(start // whole if start % whole == 0 else start / whole for start in starts)
    ticks = [f"{start / whole:.12g}" for start in (*starts, int(number.highest * whole))]
    labels = [f"[{first}, {last})" for first, last in pairwise(ticks)]
    return (*labels[:-1], labels[-1][:-1] + "]")


def _dates(leaves: Leaves, width: int) -> tuple[str, ...]:
    """The first step of each node, or the first and the last."""
    first = np.arange(0, leaves.grid, width)
    starts = [dated(day, leaves.number.calendar) for day in leaves.value(first).tolist()]
    if width == 1:
        return tuple(starts)
    last = leaves.value(np.minimum(first + width, leaves.grid) - 1).tolist()
    ends = [dated(day, leaves.number.calendar) for day in last]
    return tuple(f"[{a}, {b}]" for a, b in zip(starts, ends, strict=True))


def leaves_of(setting: Setting) -> Leaves:
    """Return the leaves of a tree question.

    Raises
    ------
    OptionError, PlanError
        If the levels are no whole number, or a number with a single value is asked.
    """
    asked, number = setting.options.get("levels"), setting.number()
    levels = LEVELS if asked is None else asked
    whole = isinstance(levels, int | float | Fraction) and not isinstance(levels, bool)
    if not whole or Fraction(levels).denominator != 1 or not 1 <= levels <= MOST_LEVELS:
        raise OptionError(
            f"levels= is a whole number from 1 to {MOST_LEVELS}: a tree of levels=10 has at most 1,024 leaves."
        )
    grid = number.high - number.low + 1
    if grid == 1:
        raise PlanError("A single possible value needs no tree: its count is .count().")
    found = Leaves(number, -(-grid // 2 ** int(levels)))
    nodes = sum(found.sizes) * setting.cells
    if nodes > MOST_NODES:
        raise PlanError(
            f"This question has {nodes:,} tree nodes; the limit is {MOST_NODES:,}. Use fewer groups, or fewer levels="
        )
    return found
