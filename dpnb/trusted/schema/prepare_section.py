"""``[prepare]`` of an owner's file: the lines by which each person's rows become one row, or columns beside their own rows.

``visits = { count = "visits", upper = 20 }``: a name, what is taken of which cells, and what the new column's grid needs. It reads
declarations, never rows; what it refuses it refuses with the line to write.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from dpnb.trusted.canonical import Record
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.records import Section, known, meant, needed, within
from dpnb.trusted.schema.cell_rules import NO_RULES
from dpnb.trusted.schema.column import Column
from dpnb.trusted.schema.grid import exact
from dpnb.trusted.schema.unit_summary import TAKES, UnitSummary

ROWS: Final = "rows"
"""What is counted of the dataset's own rows."""
_EXAMPLE: Final = (
    'write for example stays = { count = "rows", upper = 20 } or cost = { sum = "cost", upper = 10000 }'
)

Tables = Mapping[str, Mapping[str, Column]]
"""The columns of cells of each table, by its name; the dataset's own rows have none."""


def read_lines(
    section: object, tables: Tables, where: str
) -> tuple[tuple[UnitSummary, ...], tuple[Column, ...]]:
    """Read ``[prepare]``.

    Parameters
    ----------
    section : mapping
        Of the name of a column to its line.
    tables : mapping
    where : str
        The file and section, for refusals.

    Returns
    -------
    (tuple of UnitSummary, tuple of Column)
        Each line, and the column that it makes.

    Raises
    ------
    OwnerError
    """
    if not isinstance(section, Mapping) or not section:
        raise OwnerError(f"{where}: no line: {_EXAMPLE}")
    made = [_made(name, facts, tables, f"{where}, {name}") for name, facts in section.items()]
    return tuple(line for line, _ in made), tuple(column for _, column in made)


def _made(name: str, facts: Any, tables: Tables, where: str) -> tuple[UnitSummary, Column]:
    takes = [word for word in facts if word in TAKES] if isinstance(facts, Mapping) else []
    if len(takes) != 1:
        raise OwnerError(f"{where}: a line needs exactly one of {', '.join(TAKES)}: {_EXAMPLE}")
    (take,) = takes
    read, words = _READ[take]
    known(facts, (take, "label", "missing", *words), f"{where}, {take}")
    with within(where, name):
        asked = _Asked(name, facts, *_cells(facts[take], take, tables, where), tables, where)
        line, column = read(asked)
        line.check(column)
    return line, column


@dataclass(frozen=True, slots=True)
class _Asked:
    """A line as it was written: its table, and the column of its cells."""

    name: str
    facts: Section
    source: str
    of: Column
    tables: Tables
    where: str

    def options(self, *words: str, **usual: object) -> Record:
        """What the new column takes of the line."""
        given = {word: self.facts[word] for word in ("label", "missing", *words) if word in self.facts}
        return {**usual, **given}

    def needed(self, word: str, fix: str) -> Any:
        """What the line says under a key that it must have."""
        return needed(self.facts, word, self.where, fix)


def _cells(text: Any, take: str, tables: Tables, where: str) -> tuple[str, Column]:
    """Find the table and the column of cells that a line names."""
    counted = [ROWS, *(name for name in tables if name)]
    if take == "count":
        if text not in counted:
            listed = " or ".join(f'count = "{name}"' for name in counted)
            raise OwnerError(f"{where}: count = {text!r}: write {listed}")
        source = "" if text == ROWS else str(text)
        numbers = [column for column in tables[source].values() if column.text is None]
        if not numbers:
            raise OwnerError(
                f"{where}: rows are counted by a column that is not a text: declare one more column of them"
            )
        return source, numbers[0]
    source, dot, name = text.partition(".") if isinstance(text, str) else ("", "", "")
    if not dot or source not in counted[1:]:
        source, name = "", text
    return source, _column(name, source, tables, where)


def _column(name: Any, source: str, tables: Tables, where: str) -> Column:
    columns = tables[source]
    if name not in columns:
        hint = meant(name, columns, f"it declares {', '.join(columns)}")
        whose = f"[source.{source}]" if source else "the dataset"
        raise OwnerError(f"{where}: {whose} declares no column {name!r}: {hint}")
    if columns[name].text is not None:
        raise OwnerError(
            f'{where}: a text cannot be summarised: declare {name} as type = "category", with its values'
        )
    return columns[name]


def _count(asked: _Asked) -> tuple[UnitSummary, Column]:
    upper = asked.needed("upper", "upper = 20, where larger numbers become 20")
    column = Column.integer(asked.name, 0, upper, **asked.options(missing=0))
    return UnitSummary(asked.name, "count", asked.source, asked.of), column


def _sum(asked: _Asked) -> tuple[UnitSummary, Column]:
    line = UnitSummary(asked.name, "sum", asked.source, asked.of)
    upper = asked.needed("upper", f"upper = 10000, the most that one person's {asked.of.name} add up to")
    if "lower" not in asked.facts and asked.of.bounds[0] < 0:
        asked.needed("lower", f"lower = -10000, the least that one person's {asked.of.name} add up to")
    lower, step = asked.facts.get("lower", 0), asked.of.declared_step or Fraction(1)
    span = exact(upper, asked.name, "upper") - exact(lower, asked.name, "lower")
    usual = {"step": step} if (span / step).denominator == 1 else {}
    make = Column.integer if usual and _whole(asked.of) and "step" not in asked.facts else Column.number
    return line, make(asked.name, lower, upper, **asked.options("step", **usual))


def _mean(asked: _Asked) -> tuple[UnitSummary, Column]:
    line = UnitSummary(asked.name, "mean", asked.source, asked.of)
    ends = (asked.facts.get(word, end) for word, end in zip(("lower", "upper"), asked.of.bounds, strict=True))
    return line, Column.number(asked.name, *ends, **asked.options("step"))


def _any(asked: _Asked) -> tuple[UnitSummary, Column]:
    flag = asked.of.size == 2 and asked.of.numeric and asked.of.values is not None
    given = (
        asked.facts.get("is", asked.of.value_of(1))
        if flag
        else asked.needed("is", f"is = {_shown(asked.of)}")
    )
    listed = given if isinstance(given, list | tuple) else [given]
    among = tuple(sorted({asked.of.code_of(value) for value in listed}))
    line = UnitSummary(asked.name, "any", asked.source, asked.of, among=among)
    return line, Column.category(asked.name, [0, 1], **asked.options())


def _latest(asked: _Asked) -> tuple[UnitSummary, Column]:
    order = asked.needed("by", 'by = "day", the column of which the last is the latest')
    prefix = f"{asked.source}."
    name = order.removeprefix(prefix) if isinstance(order, str) and asked.source else order
    by = _column(name, asked.source, asked.tables, asked.where)
    line = UnitSummary(asked.name, "latest", asked.source, asked.of, by)
    made = replace(asked.of, cells=NO_RULES)  # a code, not a cell, is what it is made of
    return line, made.called(asked.name, **asked.options())


def _whole(column: Column) -> bool:
    """Whether every value of a column is a whole number."""
    parts = (column.lower, column.declared_step)
    return all(part is not None and part.denominator == 1 for part in parts)


def _shown(column: Column) -> str:
    value = column.value_of(column.size - 1)
    return f'"{value}", or a list of values' if isinstance(value, str) else f"{value}, or a list of values"


_READ: Final[dict[str, tuple[Callable[[_Asked], tuple[UnitSummary, Column]], tuple[str, ...]]]] = {
    "count": (_count, ("upper",)),
    "sum": (_sum, ("lower", "upper", "step")),
    "mean": (_mean, ("lower", "upper", "step")),
    "any": (_any, ("is",)),
    "latest": (_latest, ("by",)),
}
"""How each line is read, and its words beside ``label`` and ``missing``."""
