"""What an owner's check says of their own file: exact counts in words, marked *not private* on the first and the last line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from dpnb.cards.markup import clean
from dpnb.owner.command_output import Output
from dpnb.owner.header_lines import leave_out
from dpnb.trusted.schema import Column, Schema
from dpnb.trusted.schema.calendar import start_of

if TYPE_CHECKING:
    from dpnb.owner.inspection import ColumnCount, Inspected, Inspection, UnitCount
    from dpnb.owner.unread_cells import Remedy

    Remedies: TypeAlias = Mapping[tuple[str, str], Remedy]

NOT_PRIVATE = "NOT PRIVATE: exact counts, for your eyes. Do not paste them where others read."
_MUCH = 0.05
"""A share of cells beyond the bounds from which a mean can be far off."""


def check_sheet(
    tables: Inspected,
    remedies: Remedies = MappingProxyType({}),
    *,
    shown: bool = False,
    total: tuple[str, Sequence[str]] = ("", ()),
) -> Output:
    """Return the sheet of a dataset's tables under their declaration.

    Parameters
    ----------
    tables : sequence of (Schema, Inspection)
        The dataset's own rows, and then those of tables that are joined.
    remedies : mapping of (str, str) to Remedy
        By table (the dataset's own is empty) and column: what would read its unread cells.
    shown : bool
        Whether cells may be shown: on the owner's terminal alone.
    total : (str, sequence of str)
        How the last line of the dataset's own table begins, if that is a word such as *Total* and may be shown, and which words are left
        out already.
    """
    (schema, own), *others = tables
    lines = [
        NOT_PRIVATE,
        "",
        *_sheet(schema, own, _of_table("", remedies), shown=shown, total=total),
        *(line for one in others for line in _sheet(*one, _of_table(one[0].name, remedies), shown=shown)),
        NOT_PRIVATE,
    ]
    joined = {"joined": {one.name: asdict(found) for one, found in others}} if others else {}
    keys = [
        {"table": table, "column": name, "write": one.keys}
        for (table, name), one in remedies.items()
        if one.keys
    ]
    facts = {"not_private": True, "dataset": schema.name, **asdict(own), **joined, "remedies": keys}
    return Output("\n".join(lines), facts)


def _of_table(table: str, remedies: Remedies) -> dict[str, Remedy]:
    return {name: one for (place, name), one in remedies.items() if place == table}


def _sheet(
    schema: Schema,
    found: Inspection,
    remedies: Mapping[str, Remedy],
    *,
    shown: bool,
    total: tuple[str, Sequence[str]] = ("", ()),
) -> Iterator[str]:
    """The lines of one table."""
    yield from (f"{clean(schema.name)}: {_rows(found.rows)}.", *_sizes(schema, found, total))
    yield from ("", *_table(found), "", *_advice(schema, found))
    for one in found.columns:
        yield from _unread(schema, one, found.rows, remedies.get(one.name), shown=shown)


def _unread(
    schema: Schema, one: ColumnCount, rows: int, remedy: Remedy | None, *, shown: bool
) -> Iterator[str]:
    """Say what share of a column is not read, where it says anything, and what would read it."""
    name, kind = clean(one.name), schema[one.name].type
    if one.unread and one.unread == rows - one.missing:
        what = "declared value" if kind == "category" else kind
        hint = "" if remedy and remedy.keys else " Check its type, and how its cells are written."
        yield f"{name}: no cell is a {what} as it is declared.{hint}"
    elif one.unread and kind == "category":
        yield f"{name}: {_share(one.unread, rows)} of the cells are none of the declared values, and count as missing."
    if remedy is not None and (words := remedy.words(shown=shown)):
        them = "with them" if len(next(iter(remedy.keys), ())) > 1 else "with it"
        them = "either way," if len(remedy.keys) > 1 else them
        read = (
            "" if remedy.unread is None else f"; {them} {_read(rows - one.missing, remedy.unread)} are read."
        )
        yield f"{name}: {words}{read}"
    if remedy is not None and (words := remedy.coded(shown=shown)):
        yield f"{name}: {words}"


def _read(cells: int, unread: int) -> str:
    """The share of some cells that is read; 100 % are all of them."""
    share = 100 * (1 - unread / cells)
    return f"{share if not unread else min(share, 99.9):.3g} %"


def _rows(count: int, one: str = "", more: str = "") -> str:
    """Say how many rows there are, and what the one or the many do."""
    return f"{count:,} row {one}".rstrip() if count == 1 else f"{count:,} rows {more}".rstrip()


def _sizes(schema: Schema, found: Inspection, total: tuple[str, Sequence[str]]) -> Iterator[str]:
    declared = schema.unit.rows
    if declared is not None and declared != found.rows:
        yield f"rows = {declared} is declared: it will be refused."
    if found.totals:
        begins, skip = total
        word = f'"{clean(begins)}"' if begins else "a word such as Total or Note"
        counts = "counts as a person" if found.totals == 1 else "count as people"
        what = leave_out(clean(begins) or "Total", skip) + ("" if begins else ", as the file writes it")
        yield (
            f"{_rows(found.totals, 'begins', 'begin')} with {word}, and {counts}. If that is not a person, {what}."
        )
    if found.unit is not None:
        yield from _units(schema, found.unit)
    elif found.repeated_rows:
        yield (
            f"{_rows(found.repeated_rows, 'repeats', 'repeat')} another one in every declared column. If that is one person twice, declare "
            "their column as the unit."
        )


def _units(schema: Schema, unit: UnitCount) -> Iterator[str]:
    name, most = clean(schema.unit.unit), schema.unit.max_rows
    yield f"{unit.units:,} different values of {name}; {unit.repeated:,} have more than one row, the most {unit.most:,}."
    if unit.nobody is None and schema.unit.units not in (None, unit.units):
        yield f"units = {schema.unit.units} is declared: it will be refused."
    if unit.over:
        yield (
            f"{unit.over:,} {'has' if unit.over == 1 else 'have'} more than the {most} rows that are declared: {_rows(unit.cut)} will be left out. Write a larger "
            "max_rows_per_unit (all noise grows with it), or keep it."
        )
    if unit.without:
        yield f"{_rows(unit.without, 'names', 'name')} no {name}, and will be left out."
    if unit.nobody:
        yield f"{_rows(unit.nobody, 'belongs', 'belong')} to nobody, because their {name} has no row of its own in the dataset. Nothing counts them."


def _table(found: Inspection) -> Iterator[str]:
    width = max(len("column"), *(len(clean(one.name)) for one in found.columns))
    yield f"{'column':{width}}  {'missing':>9}  {'unread':>9}  {'beyond the bounds':>17}"
    for one in found.columns:
        cells = (_share(count, found.rows) for count in (one.missing, one.unread, one.beyond))
        missing, unread, beyond = cells
        yield f"{clean(one.name):{width}}  {missing:>9}  {unread:>9}  {beyond:>17}"


def _share(count: int, rows: int) -> str:
    if not count:
        return "–"
    share = 100 * count / rows
    return "<0.1 %" if share < 0.1 else f"{share:.1f} %"


def _advice(schema: Schema, found: Inspection) -> Iterator[str]:
    told = [line for one in found.columns for line in _of_column(schema, one, found.rows)]
    yield from told
    if told:
        yield (
            'Bounds that you change after this look were seen on the data: write bounds = "seen on data" under [dataset], so '
            "that the card says so."
        )
        yield ""


def _of_column(schema: Schema, one: ColumnCount, rows: int) -> Iterator[str]:
    name = clean(one.name)
    text = schema[one.name].text is not None
    if rows and one.beyond / rows > _MUCH and text:
        yield f"{name}: {_share(one.beyond, rows)} of the texts are cut, or lose characters that are not declared."
    elif rows and one.beyond / rows > _MUCH:
        yield f"{name}: {_share(one.beyond, rows)} of the cells are clamped to the bounds, which changes means and sums."
    if one.beyond and (day := _begins(schema[one.name])):
        yield (
            f'{name}: its second bound is {day} 00:00, the hour at which that day begins. If all of that day counts, write "{day} 23:00".'
        )


def _begins(column: Column) -> str | None:
    """The day at whose beginning a column of hours ends: as a bound without a time says."""
    if column.calendar != "hour":
        return None
    day, time = start_of(int(column.bounds[1]), "hour").split(" ")
    return day if time == "00:00" else None
