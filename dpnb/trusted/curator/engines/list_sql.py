"""Columns that are read alike as one list, so that a thousand columns are planned about as fast as ten.

A statement with an expression per column takes DuckDB milliseconds a column to plan, and more for each the more there are;
a column in a list takes microseconds. Columns of one type and one reading are put into one list, and the reading is
written once, as a lambda over its cells. What a list holds is one row's cells: nothing here looks at another row. Where columns are
few, each stays alone: reading a cell of a list costs several times what the cell costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

MOST_ALONE = 32
"""Columns that a statement plans in no time, each by itself."""


@dataclass(frozen=True, slots=True)
class ListOfColumns:
    """Like columns as one list, called ``name``, whose cells are read by ``sql``; ``places`` are the columns' own.

    A column ``alone`` is called by that name itself.
    """

    name: str
    sql: str
    places: tuple[int, ...]
    alone: bool = False

    def mapped(self, reading: Callable[[str, str], str]) -> str:
        """Return the SQL that reads each cell once more: ``reading("x", "n")`` of the cell x, the n-th of its row's list."""
        if self.alone:
            return reading(self.name, "1")
        return f"list_transform({self.name}, lambda x, n: {reading('x', 'n')})"

    def part(self, prefix: str, n: str) -> str:
        """Return the n-th cell of the list of the same columns that has this prefix before its name."""
        return prefix + self.name if self.alone else f"{prefix}{self.name}[{n}]"


def alike(
    columns: Sequence[tuple[str, str]], reading: Callable[[int, str, str], str], becoming: Sequence[str]
) -> list[ListOfColumns]:
    """Group columns that have one type, one reading and one type of codes, where they are many.

    Parameters
    ----------
    columns : sequence of (str, str)
        Each column's SQL name and type.
    reading : callable
        ``reading(place, "x", type)`` gives the SQL that reads a column's cell ``x``.
    becoming : sequence of str
        The type of each column's codes.
    """
    if len(columns) <= MOST_ALONE:
        return [
            ListOfColumns(f"l{place}", reading(place, sql, kind), (place,), alone=True)
            for place, (sql, kind) in enumerate(columns)
        ]
    groups: dict[tuple[str, str, str], list[int]] = {}
    for place, (_, kind) in enumerate(columns):
        groups.setdefault((kind, becoming[place], reading(place, "x", kind)), []).append(place)
    return [
        ListOfColumns(
            f"l{number}",
            f"list_transform([{', '.join(columns[place][0] for place in places)}], lambda x: {read})",
            tuple(places),
        )
        for number, ((_, _, read), places) in enumerate(groups.items())
    ]


def cells_of(lists: Sequence[ListOfColumns]) -> Iterator[str]:
    """Yield the SQL of each column's cell, in the order of the columns."""
    found = {place: one.part("", str(n)) for one in lists for n, place in enumerate(one.places, start=1)}
    return (found[place] for place in sorted(found))


def selected(lists: Sequence[ListOfColumns]) -> str:
    """Return what a SELECT needs to make the lists."""
    return ", ".join(f"{one.sql} AS {one.name}" for one in lists)


def constants(values: Iterable[float]) -> str:
    """Return binary64 constants, exactly, as one SQL list."""
    return f"CAST('[{', '.join(map(repr, values))}]' AS DOUBLE[])"
