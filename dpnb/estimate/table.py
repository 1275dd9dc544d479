"""A small table of released numbers: named columns, rows to iterate over, and files; see table_formats.py."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnb.errors import OptionError, Unavailable
from dpnb.estimate import shown
from dpnb.estimate.table_formats import Tabular, told
from dpnb.inference.digits import dated
from dpnb.inference.interval import KINDS

if TYPE_CHECKING:
    from dpnb.estimate.estimate import Estimate

_SHOWN = 60


class Table(Tabular):
    """Plain columns of equal length.

    Parameters
    ----------
    columns : mapping of str to sequence
        The columns in order.
    keys : tuple of str
        Which of them are keys.
    estimand : str
        What the values estimate where they are held to bounds; empty where they are not.
    estimate : Estimate, optional
        Where the numbers come from.
    """

    __slots__ = ("columns", "estimand", "estimate", "keys")

    def __init__(
        self,
        columns: Mapping[str, Sequence[Any]],
        keys: tuple[str, ...] = (),
        estimand: str = "",
        estimate: Estimate | None = None,
    ) -> None:
        self.keys, self.estimand, self.estimate = keys, estimand, estimate
        self.columns: dict[str, tuple[Any, ...]] = {name: tuple(column) for name, column in columns.items()}

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Rows, as dictionaries."""
        for row in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, row, strict=True))

    def __getitem__(self, name: str | int) -> Any:
        """A column by name, or a row by number."""
        if isinstance(name, str):
            return self.columns[name]
        return {column: values[name] for column, values in self.columns.items()}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All rows."""
        return list(self)

    def wide(self, values: str = "value") -> Table:
        """The same numbers with the last key across: a row for each combination of the other keys.

        Parameters
        ----------
        values : str
            Which column fills the cells, for example ``"confidence_low"``.
        """
        if values not in self.columns or len(self.keys) < 2:
            known = ", ".join(name for name in self.columns if name not in self.keys)
            raise OptionError(f"wide() needs two keys and a column of numbers: one of {known}.")
        *down, across = self.keys
        heads = list(dict.fromkeys(self.columns[across]))
        width = len(heads)
        columns: dict[str, Sequence[Any]] = {name: self.columns[name][::width] for name in down}
        for place, head in enumerate(heads):
            columns[f"{across}={head}"] = self.columns[values][place::width]
        return Table(columns, keys=tuple(down), estimand=self.estimand, estimate=self.estimate)

    def table(self, level: float = 0.95) -> Table:  # noqa: ARG002 -- its intervals were made before
        """Return the table itself."""
        return self

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as lists."""
        return {name: list(column) for name, column in self.columns.items()}

    def _cells(self) -> list[list[str]]:
        cells = [list(self.columns)]
        for place, row in enumerate(zip(*self.columns.values(), strict=True)):
            if place == _SHOWN:
                cells.append([f"… {len(self) - _SHOWN:,} more"] + [""] * (len(self.columns) - 1))
                break
            cells.append(
                [told(item, key=name in self.keys) for name, item in zip(self.columns, row, strict=True)]
            )
        return cells

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells
        ]
        return "\n".join([*lines, *([self.estimand] if self.estimand else [])])

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        rows = ["".join(f"<th>{html.escape(cell)}</th>" for cell in head)]
        rows += ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in body]
        caption = f"<caption>{html.escape(self.estimand)}</caption>" if self.estimand else ""
        return "<table>" + caption + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def table_of_rows(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the table of rows, at least one, that name the same columns in one order."""
    return Table({name: [row[name] for row in rows] for name in rows[0]})


def table_of(estimate: Estimate, level: float = 0.95) -> Table:
    """One row for each value: its keys, the value, and both intervals where they can be given.

    A choice has its label before the value where the label is no number; where entries are undefined, a note says which.
    """
    columns: dict[str, Sequence[Any]] = dict(_key_columns(estimate))
    keys = tuple(columns)
    if names := shown.names(estimate):
        columns[_free("label", keys)] = names
    step = shown.calendar(estimate)

    def listed(numbers: Any) -> list[Any]:
        values = np.ravel(numbers).tolist()
        return values if step is None else [dated(value, step) for value in values]

    columns["value"] = listed(estimate.value)
    for kind in KINDS:
        try:
            interval = estimate.interval(level, kind)
        except Unavailable:
            continue
        columns[f"{kind}_low"] = listed(interval.low)
        columns[f"{kind}_high"] = listed(interval.high)
    if lost := shown.undefined(estimate):
        columns[_free("note", keys)] = [shown.UNDEFINED if one else "" for one in lost]
    return Table(columns, keys, estimate.estimand, estimate)


def _free(name: str, keys: tuple[str, ...]) -> str:
    """A name for a column that no key has."""
    return _free(f"{name} of value", keys) if name in keys else name


def _key_columns(estimate: Estimate) -> Iterator[tuple[str, list[Any]]]:
    shape = estimate.shape
    if not shape:
        return
    axes = estimate.axes
    if not axes:
        places = np.indices(shape).reshape(len(shape), -1)
        for number, column in enumerate(places):
            yield ("place" if len(shape) == 1 else f"place {number}"), column.tolist()
        return
    places = np.indices(shape).reshape(len(shape), -1)
    for number, (axis, column) in enumerate(zip(axes, places, strict=True)):
        name = axis.name if axis.name not in {"value", ""} else f"key {number}"
        yield name, [axis.keys[place] for place in column]
