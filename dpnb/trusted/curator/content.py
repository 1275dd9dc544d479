"""How content is recognised: by what was read, cell by cell, under the curator's own key.

Every cell is its canonical text (:mod:`dpnb.trusted.schema.cell`), so a CSV, a Parquet file, a table and a frame of the same data
are one content. It has *marks*, by which protected rows are known again in another container, order, line end, selection
of columns or under other column names: one of the rows as a multiset, and one of each column that can identify. A column
of fewer than 64 distinct cells, a constant and an evenly repeated run of consecutive integers or days can be guessed from
public knowledge: they leave no mark, or being recognised would say something about rows that one only guesses at; nor do
rows of which fewer than 2^48 tables can be made (:func:`may_be_guessed`). It also has a *state*: two contents of one
state give equal answers, and what is stored for one is stored for the other.

What is not recognised: rows of which one cell was changed, one row added or left out (every sum is another then), and, in
another file, a selection of columns none of which identifies. (The same file is known by its bytes, see
:mod:`dpnb.trusted.curator.sources`.)

**Sums.** Under a secret key a cell is a pseudo-random number h: a number, a day or a missing cell is *mixed*, any other text is hashed by
md5. A number is the bits of its binary64, a missing cell those of NaN, a day those of a NaN of its own. A column is known by Σh over its known cells, a row by Σh over its cells, finished, the rows by Σ of that: sums forget the order.
(The state keeps it: the numbers of a row's cells, each changed by the secret constant of its column's place among the columns' names and
finished, are joined with the row's place, mixed, or what its unit is known by, and finished again.) A run is known by its sum too: it is a multiple of the sum over the integers of its range.
They are exact integers, and everything that is kept is an HMAC of them. Two contents that
differ have equal 64-bit sums with probability of about 2⁻⁶⁴ over the key, which nobody learns. To *finish* up to 128 bits is to put each half through the finaliser of
MurmurHash (twice a shift and a product, one to one), and to join both. To *mix* is to finish 64 bits, to change them by a
secret 64-bit number, to multiply by another, odd one, and to finish the 128-bit product. The secret product takes two cells to numbers that nobody
can relate, the finaliser leaves no relation between sums of them. That is no cipher, and none is needed for sums that nobody sees;
it takes a thirtieth of what md5 takes, and the engine has a function for it. The same sums in SQL are :mod:`dpnb.trusted.curator.engines.recognition`.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpnb.trusted.canonical import canonical as canonical_json
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.schema import Schema
from dpnb.trusted.schema.cell import QUANTISER_VERSION

LEAST_DISTINCT = 64
"""A column of fewer distinct cells can be guessed."""

_LEAST_BITS = 48
"""Fewer tables than two to this power could be guessed one by one: at one attach a millisecond they take 8,900 years."""

DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
"""Canonical texts that may be a day."""

MISSING = 0x7FF8 << 48
"""The bits of a missing cell: of NaN, which is no cell."""

DAYS = 0x7FFC << 48
"""The bits of the first of January 1970; those of the days before and after it are no cell's either."""

FINALISER = 0xD6E8FEB86659FD93
"""The public factor of MurmurHash's finaliser, as DuckDB writes it."""

SUMS_VERSION = 6
"""The version of how rows and cells are summed: a state or mark of rows of another version is another one."""

MASK = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Content:
    """What rows are known by. Nothing of it leaves the curator.

    Parameters
    ----------
    state : str
        Equal exactly if every answer is a function of equal rows: places and unit names included where they matter.
    marks : tuple of str
        Any of them in common means the same data.
    """

    state: str
    marks: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Write the content's state and marks."""
        return {"state": self.state, "marks": list(self.marks)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Content:
        """Read what :meth:`to_json` wrote."""
        return cls(record["state"], tuple(record["marks"]))


@dataclass(frozen=True, slots=True)
class Sums:
    """What is summed over a table.

    Parameters
    ----------
    rows : int
    columns : sequence of (int, int)
        For each column that identifies the number of its known cells, and their sum.
    guessable : bool
        Whether the rows can be guessed too: then they leave no mark either.
    multiset, state : int
        The sums over rows.
    """

    rows: int
    columns: Sequence[tuple[int, int]]
    guessable: bool
    multiset: int
    state: int


@dataclass(frozen=True, slots=True)
class Kind:
    """How many distinct cells a column has (or at least so many), whether they are a run, and whether any is missing."""

    distinct: int
    run: bool
    missing: bool = False


class WrongSize(OwnerError):
    """The data have another size than their schema declares; what they are known by stays in the curator."""

    def __init__(self, message: str, content: Content) -> None:
        super().__init__(message)
        self.content = content


def read_names(schema: Schema) -> tuple[str, ...]:
    """Return the columns that are read, the unit's included, in the order of their names."""
    unit = () if schema.unit_column is None else (schema.unit_column,)
    return tuple(sorted({*schema.names, *unit}))


def hash_text(key: bytes, kind: str) -> str:
    """Return what is written before a text that is hashed: short, so that a short text is one block of md5."""
    return hmac.new(key, f"text|{kind}".encode(), hashlib.sha256).hexdigest()[:32]


def numbers_of(key: bytes, kind: str) -> tuple[int, int]:
    """Return two secret 64-bit numbers of a kind: what changes others, and what is multiplied by."""
    digest = hmac.new(key, f"mix|{kind}".encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little") | 1


def mix(number: int, numbers: tuple[int, int]) -> int:
    """Mix 64 bits under two secret numbers."""
    changed, factor = numbers
    return finished((finished(number) ^ changed) * factor)


def finished(number: int) -> int:
    """Finish a 128-bit number: the halves, each put through MurmurHash's finaliser, joined."""
    return _finalised(number >> 64) ^ _finalised(number & MASK)


def _finalised(half: int) -> int:
    for _ in range(2):
        half = (half ^ half >> 32) * FINALISER & MASK
    return half ^ half >> 32


def finish(sums: Sums, schema: Schema, key: bytes) -> Content:
    """Make a content of its sums."""
    names = read_names(schema)
    marks = [_mark(key, "column", sums.rows, known, total) for known, total in sums.columns]
    if not sums.guessable:
        marks.append(_mark(key, "rows", SUMS_VERSION, sums.rows, len(names), sums.multiset))
    versions = (QUANTISER_VERSION, SUMS_VERSION)
    state = _mark(key, "state", *versions, names, schema.unit.unit, sums.rows, sums.state)
    return Content(state, tuple(sorted(set(marks))))


def together(contents: Sequence[Content], key: bytes) -> Content:
    """Return what several tables are known by that make one dataset: any of them is known again by itself."""
    if len(contents) == 1:
        return contents[0]
    marks = {mark for content in contents for mark in content.marks}
    return Content(_mark(key, "tables", *(content.state for content in contents)), tuple(sorted(marks)))


def _mark(key: bytes, *facts: Any) -> str:
    return hmac.new(key, canonical_json(facts).encode(), hashlib.sha256).hexdigest()[:32]


def identifies(distinct: int, *, run: bool) -> bool:
    """Say whether a column can be known again without its cells being guessed."""
    return distinct >= LEAST_DISTINCT and not run


def may_be_guessed(rows: int, kinds: Sequence[Kind]) -> bool:
    """Say whether the rows can be guessed: every column is, or fewer than 2^48 tables of so many rows have these cells.

    Rows are known as a multiset, so n rows of K possible kinds make C(n + K - 1, n) tables: n + 1 for a column of two
    kinds of cells, whose exact count would be found in n + 1 guesses. K is the product of the kinds of cells that each
    column has.

    Examples
    --------
    >>> two, many = Kind(distinct=2, run=False), Kind(distinct=50, run=False)
    >>> may_be_guessed(10**6, [two]), may_be_guessed(50, [many, two])
    (True, False)
    """
    if all(kind.distinct <= 1 or kind.run for kind in kinds):
        return True
    cells = math.prod(kind.distinct + kind.missing for kind in kinds)
    fewer = min(rows, cells - 1)
    return fewer < _LEAST_BITS and math.comb(rows + cells - 1, fewer) < 2**_LEAST_BITS


def column_numbers(key: bytes, columns: int) -> list[int]:
    """Return a secret 64-bit number for each column's place among the columns' names."""
    numbers = numbers_of(key, "column")
    return [mix(place, numbers) for place in range(columns)]
