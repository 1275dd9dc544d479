"""A cell of SQL: its SELECTs become answers, which are named, planned and released as what a Python cell builds.

Statements are read and translated by the client (:mod:`dpnb.client.sql`); here are the names of a notebook: which word is which
dataset, which parameter has which value, and what each answer is called. A statement that is refused leaves every name as it was.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dpnb.client.sql import Selected, statements, tables_of, translate
from dpnb.errors import DpnbError


@dataclass(frozen=True, slots=True)
class Answers:
    """What a cell of SQL built.

    Attributes
    ----------
    named : dict of str to Selected
        The SELECTs with a name.
    others : tuple of Selected
        Those without one.
    """

    named: dict[str, Selected]
    others: tuple[Selected, ...] = ()

    @property
    def last(self) -> Selected | None:
        """What the cell shows: its last SELECT without a name."""
        return self.others[-1] if self.others else None

    @property
    def labelled(self) -> dict[str, Selected]:
        """All of them, by what a plan and a card call them: a single one without a name is called by its figures alone."""
        count = len(self.others)
        return self.named | {f"select {i + 1}" if count > 1 else "": one for i, one in enumerate(self.others)}


def answers(
    cell: str, above: int, names: Mapping[str, object], values: Mapping[str, object] | None = None
) -> Answers:
    """Translate the statements of a cell; nothing is asked yet.

    Parameters
    ----------
    cell : str
        What stands below the magic line.
    above : int
        How many lines of the cell stand above it: errors count from the first.
    names : mapping
        The notebook's: what FROM may name, beside the open datasets.
    values : mapping, optional
        What parameters stand for; by default the same names.

    Raises
    ------
    DpnbError
        With line and column of what was not understood, and what to write.
    """
    named: dict[str, Selected] = {}
    others, tables = [], tables_of(names)
    for statement in statements("\n" * above + cell):
        found = translate(statement, tables, names if values is None else values)
        if statement.name is None:
            others.append(found)
        else:
            named[statement.name] = found
    return Answers(named, tuple(others))


@contextlib.contextmanager
def in_sql(raw: str) -> Iterator[None]:
    """Let an error show the line of the cell that it is about, and name the magic line of a cell of SQL.

    Parameters
    ----------
    raw : str
        The cell as it was typed.
    """
    __tracebackhide__ = True
    try:
        yield
    except DpnbError as error:
        lines, line, column = raw.split("\n"), error.details.get("line"), error.details.get("column")
        error.message = re.sub(r"%%dp(?! sql)", "%%dp sql", error.message)
        if isinstance(line, int) and isinstance(column, int) and 1 < line <= len(lines):
            before = f"line {line}: "
            error.message += f"\n{before}{lines[line - 1]}\n{' ' * (len(before) + column - 1)}^"
        raise
