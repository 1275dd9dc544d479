"""A small table of released numbers: named columns, rows to iterate over, and files.

Tables as files: CSV, Markdown and LaTeX texts, JSON values and DataFrames of whatever has a ``.table()``.

Files for machines (CSV, JSON, DataFrame) hold all digits; texts for people (Markdown, LaTeX) are rounded as cards are.
"""

from __future__ import annotations

import csv
import html
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dpnb.errors import OptionError, Unavailable
from dpnb.estimate import wording
from dpnb.estimate.evaluate import IntervalEstimate
from dpnb.inference.digits import dated, number
from dpnb.inference.interval import KINDS
from dpnb.trusted.canonical import Record

if TYPE_CHECKING:
    import pandas as pd

_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "±": r"$\pm$",
    "∞": r"$\infty$",
    "²": "$^2$",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "×": r"$\times$",
    "ε": r"$\varepsilon$",
    "δ": r"$\delta$",
    "ρ": r"$\rho$",
    "|": r"\textbar{}",
    "–": "--",
    "…": r"\ldots{}",
    "\u202f": r"\,",
    "\u00a0": "~",
}
_MARKDOWN = {"|": r"\|", "\n": " ", "\r": " ", "<": "&lt;", "*": r"\*", "_": r"\_", "`": r"\`"}


class Tabular:
    """What has a ``.table()`` can be written as one: to a DataFrame, CSV, Markdown, LaTeX or JSON.

    Each ``to_…`` takes a path or nothing, and returns the text; ``level`` is the level of both intervals.
    """

    __slots__ = ()

    def table(self, level: float = 0.95) -> Table:
        """The columns to be written."""
        raise NotImplementedError

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return the table as a DataFrame; needs pandas."""
        try:
            import pandas as pd
        except ImportError:
            raise OptionError(
                "to_frame() needs pandas: pip install pandas. to_csv() and to_json() do without."
            ) from None
        return pd.DataFrame({name: list(column) for name, column in self.table(level).columns.items()})

    def to_csv(self, path: str | Path | None = None, *, level: float = 0.95) -> str:
        """Return the table as CSV, with all digits; write it to ``path`` if one is given."""
        return written(csv_text(self.table(level)), path)

    def to_markdown(self, path: str | Path | None = None, *, level: float = 0.95) -> str:
        """Return the table as Markdown, rounded; write it to ``path`` if one is given."""
        return written(markdown_text(self.table(level)), path)

    def to_latex(self, path: str | Path | None = None, *, level: float = 0.95) -> str:
        """Return the table as a LaTeX tabular (package booktabs), rounded; write it to ``path`` if one is given."""
        return written(latex_text(self.table(level)), path)

    def to_json(self, path: str | Path | None = None, *, level: float = 0.95) -> str:
        """Return everything as JSON, with all digits; write it to ``path`` if one is given."""
        return written(json_text(self._plain(level)), path)

    def _plain(self, level: float) -> Any:
        return rows(self.table(level))


def aligned(rows: Sequence[Sequence[str]], *, left: bool = False) -> list[str]:
    """Return rows of cells as lines of text: the first column to the left, the others to the right, or all to the left.

    Examples
    --------
    >>> aligned([["age", "n"], ["of all", "40"]])
    ['age      n', 'of all  40']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        beside = zip(others, widths[1:], strict=True)
        cells = (cell.ljust(width) if left else cell.rjust(width) for cell, width in beside)
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return lines


def written(text: str, path: str | Path | None) -> str:
    """Return a text, and write it where a path is given."""
    if path is not None:
        Path(path).write_text(text, encoding="utf-8", newline="")
    return text


def json_text(plain: object) -> str:
    """Return plain values as JSON that every reader takes: no NaN, no infinity."""
    return json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def rows(table: Table) -> list[Record]:
    """Return the rows as plain JSON values; what is infinite or undefined is ``None``."""
    return [{name: _plain(item) for name, item in row.items()} for row in table]


def csv_text(table: Table) -> str:
    """Return a table as CSV; an undefined number is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([_exact(item) for item in row.values()] for row in table)
    return out.getvalue()


def markdown_text(table: Table) -> str:
    """Return a table as Markdown, numbers to the right."""
    marks = ["---:" if _numeric(column) else "---" for column in table.columns.values()]
    lines = [[_markdown(name) for name in table.columns], marks]
    lines += [[_markdown(cell) for cell in row] for row in _told(table)]
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return text + (f"\n{_markdown(table.estimand)}\n" if table.estimand else "")


def latex_text(table: Table) -> str:
    """Return a table as a LaTeX tabular of the package booktabs, numbers to the right."""
    shape = "".join("r" if _numeric(column) else "l" for column in table.columns.values())
    body = _told(table)
    notes = (table.estimand,) if table.estimand else ()
    return tabular(tuple(table.columns), body, shape, notes) + "\n"


def tabular(head: Sequence[str], body: Iterable[Sequence[str]], shape: str, notes: Sequence[str] = ()) -> str:
    """Return rows of texts as a LaTeX tabular, with notes below."""
    first, *lines = (" & ".join(map(latex, line)) + r" \\" for line in (head, *body))
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{shape}}}",
            r"\toprule",
            first,
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par\footnotesize {latex(note)}" for note in notes),
        ]
    )


def latex(text: str) -> str:
    """Return a text that LaTeX prints as it is."""
    return "".join(_LATEX.get(letter, letter) for letter in text)


def told(item: object, *, key: bool) -> str:
    """Return a cell as people read it: numbers rounded, a dash where one is undefined; a key, such as a year, as it is."""
    if isinstance(item, float):
        return "–" if math.isnan(item) else number(item)
    return str(item) if key or isinstance(item, bool) or not isinstance(item, int) else number(item)


def _told(table: Table) -> list[list[str]]:
    return [[told(item, key=name in table.keys) for name, item in row.items()] for row in table]


def _markdown(text: str) -> str:
    return "".join(_MARKDOWN.get(letter, letter) for letter in text)


def _numeric(column: Sequence[object]) -> bool:
    return all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in column)


def _exact(item: object) -> object:
    return "" if isinstance(item, float) and math.isnan(item) else item


def _plain(item: object) -> object:
    if isinstance(item, float):
        return item if math.isfinite(item) else None
    return item if isinstance(item, (int, str, bool)) or item is None else str(item)


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
        What the values estimate where they are clamped to bounds; empty where they are not.
    estimate : Estimate, optional
        Where the numbers come from.
    """

    __slots__ = ("columns", "estimand", "estimate", "keys")

    def __init__(
        self,
        columns: Mapping[str, Sequence[object]],
        keys: tuple[str, ...] = (),
        estimand: str = "",
        estimate: IntervalEstimate | None = None,
    ) -> None:
        self.keys, self.estimand, self.estimate = keys, estimand, estimate
        self.columns: dict[str, tuple[Any, ...]] = {name: tuple(column) for name, column in columns.items()}

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __iter__(self) -> Iterator[Record]:
        """Rows, as dictionaries."""
        for row in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, row, strict=True))

    def __getitem__(self, name: str | int) -> Any:
        """A column by name, or a row by number."""
        if isinstance(name, str):
            return self.columns[name]
        return {column: values[name] for column, values in self.columns.items()}

    @property
    def rows(self) -> list[Record]:
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
        columns: dict[str, Sequence[object]] = {name: self.columns[name][::width] for name in down}
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


def table_of_rows(rows: Sequence[Mapping[str, object]]) -> Table:
    """Return the table of rows, at least one, that name the same columns in one order."""
    return Table({name: [row[name] for row in rows] for name in rows[0]})


def table_of(estimate: IntervalEstimate, level: float = 0.95) -> Table:
    """One row for each value: its keys, the value, and both intervals where they can be given.

    A choice has its label before the value where the label is no number; where entries are undefined, a note says which.
    """
    columns: dict[str, Sequence[object]] = dict(_key_columns(estimate))
    keys = tuple(columns)
    if names := wording.names(estimate):
        columns[_free("label", keys)] = names
    step = wording.calendar(estimate)

    def listed(numbers: ArrayLike) -> list[Any]:
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
    if lost := wording.undefined(estimate):
        columns[_free("note", keys)] = [wording.UNDEFINED if one else "" for one in lost]
    return Table(columns, keys, estimate.estimand, estimate)


def _free(name: str, keys: tuple[str, ...]) -> str:
    """A name for a column that no key has."""
    return _free(f"{name} of value", keys) if name in keys else name


def _key_columns(estimate: IntervalEstimate) -> Iterator[tuple[str, list[object]]]:
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
