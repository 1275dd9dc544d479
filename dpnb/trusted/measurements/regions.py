r"""Which rows a filter keeps, as far as single columns tell, and which filters keep no row in common.

A condition that compares one column with numbers (``==``, ``<``, ``<=``, joined by and, or, not) is true for a set of its codes, and unknown
where the column is NULL: such a row is not kept. So the conditions that a filter joins by *and* each bound the codes of one column in the rows that
are kept, and what is said of several columns, of an expression or of NULL itself bounds nothing.

*Proof that two filters are apart.* A row has one code in each column. If the codes of some column that one filter keeps and those that the
other keeps have none in common, no row is in both.

*Enumerated* over all rows of a tiny schema: ``test_no_row_is_in_two_random_filters_that_are_said_to_be_apart``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from dpnb.trusted.aggregate.algebra import And, Cmp, Col, Lit, Not, Or, Pred, Range, conjuncts

_MOST_PIECES: Final = 64
"""The most pieces of a set of codes. A condition with more is taken to bound nothing, so that a filter of any length is read quickly."""
Codes = tuple[Range, ...]
"""Ranges of codes, ascending, no two of which touch."""
Region = dict[str, Codes]
_Known = tuple[str, Codes]


@dataclass(slots=True)
class Regions:
    """Reads filters over columns of known ranges; a condition that stands in many places is the same object, and is read once."""

    ranges: Mapping[str, Range]
    found: dict[int, tuple[Pred, _Known | None]] = field(default_factory=dict)
    # a condition that is kept keeps its id

    def of(self, where: Pred | None) -> Region:
        """Return for some columns all codes that the rows of a filter can have."""
        region: Region = {}
        for condition in conjuncts(where):
            if (known := self(condition)) is not None:
                name, codes = known
                held = _both(region.get(name, codes), codes)
                if len(held) <= _MOST_PIECES:
                    region[name] = held
        return region

    def __call__(self, condition: Pred) -> _Known | None:
        """Return the one column of a condition, and for which of its codes it is true: of no others, and not for NULL."""
        if id(condition) not in self.found:
            self.found[id(condition)] = condition, self._read(condition)
        return self.found[id(condition)][1]

    def _read(self, condition: Pred) -> _Known | None:
        match condition:
            case Cmp(op, Col(name), Lit(value)) if name in self.ranges:
                return name, self._held(name, _below(op, value))
            case Cmp(op, Lit(value), Col(name)) if name in self.ranges:
                return name, self._held(name, _above(op, value))
            case Not(a):
                known = self(a)
                return None if known is None else _short(known[0], self._others(*known))
            case And(a, b):
                return _joined(self(a), self(b), _both)
            case Or(a, b):
                return _joined(self(a), self(b), _either)
        return None

    def _held(self, name: str, codes: Range) -> Codes:
        return _both((self.ranges[name],), (codes,) if codes[0] <= codes[1] else ())

    def _others(self, name: str, codes: Codes) -> Codes:
        low, high = self.ranges[name]
        starts = [low, *(last + 1 for _, last in codes)]
        ends = [*(first - 1 for first, _ in codes), high]
        return tuple((first, last) for first, last in zip(starts, ends, strict=True) if first <= last)


def apart(one: Region, other: Region) -> bool:
    """Tell whether no row is in both regions."""
    return any(not _both(codes, other[name]) for name, codes in one.items() if name in other)


_FAR: Final = 2**64
"""Beyond every code."""


def _below(op: str, value: int) -> Range:
    """Return for which codes ``code op value`` is true."""
    return (value if op == "==" else -_FAR), (value - 1 if op == "<" else value)


def _above(op: str, value: int) -> Range:
    """Return for which codes ``value op code`` is true."""
    return (value + 1 if op == "<" else value), (value if op == "==" else _FAR)


def _joined(one: _Known | None, other: _Known | None, join: Callable[[Codes, Codes], Codes]) -> _Known | None:
    if one is None or other is None or one[0] != other[0]:
        return None
    return _short(one[0], join(one[1], other[1]))


def _short(name: str, codes: Codes) -> _Known | None:
    """Return what is known of a column; nothing where it has too many pieces."""
    return (name, codes) if len(codes) <= _MOST_PIECES else None


def _both(one: Codes, other: Codes) -> Codes:
    """Return the codes of two sets that are in both."""
    return tuple(_meeting(one, other))


def _meeting(one: Codes, other: Codes) -> Iterator[Range]:
    a = b = 0
    while a < len(one) and b < len(other):
        low, high = max(one[a][0], other[b][0]), min(one[a][1], other[b][1])
        if low <= high:
            yield low, high
        if one[a][1] < other[b][1]:
            a += 1
        else:
            b += 1


def _either(one: Codes, other: Codes) -> Codes:
    """Return the codes of two sets that are in one of them."""
    found: list[Range] = []
    for low, high in sorted((*one, *other)):
        if found and low <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return tuple(found)
