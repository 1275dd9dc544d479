"""Tables as files: CSV, Markdown and LaTeX texts, JSON values and DataFrames of whatever has a ``.table()``.

Files for machines (CSV, JSON, DataFrame) hold all digits; texts for people (Markdown, LaTeX) are rounded as cards are.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpnb.errors import OptionError
from dpnb.inference.digits import number

if TYPE_CHECKING:
    from dpnb.estimate.table import Table

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

    def to_frame(self, level: float = 0.95) -> Any:
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


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of cells as lines of text: the first column to the left, the others to the right.

    Examples
    --------
    >>> aligned([["age", "n"], ["of all", "40"]])
    ['age      n', 'of all  40']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        numbers = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        lines.append("  ".join([first.ljust(widths[0]), *numbers]).rstrip())
    return lines


def written(text: str, path: str | Path | None) -> str:
    """Return a text, and write it where a path is given."""
    if path is not None:
        Path(path).write_text(text, encoding="utf-8", newline="")
    return text


def json_text(plain: Any) -> str:
    """Return plain values as JSON that every reader takes: no NaN, no infinity."""
    return json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def rows(table: Table) -> list[dict[str, Any]]:
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


def tabular(head: Any, body: Any, shape: str, notes: Any = ()) -> str:
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


def told(item: Any, *, key: bool) -> str:
    """Return a cell as people read it: numbers rounded, a dash where one is undefined; a key, such as a year, as it is."""
    if isinstance(item, float):
        return "–" if math.isnan(item) else number(item)
    return str(item) if key or isinstance(item, bool) or not isinstance(item, int) else number(item)


def _told(table: Table) -> list[list[str]]:
    return [[told(item, key=name in table.keys) for name, item in row.items()] for row in table]


def _markdown(text: str) -> str:
    return "".join(_MARKDOWN.get(letter, letter) for letter in text)


def _numeric(column: tuple[Any, ...]) -> bool:
    return all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in column)


def _exact(item: Any) -> Any:
    return "" if isinstance(item, float) and math.isnan(item) else item


def _plain(item: Any) -> Any:
    if isinstance(item, float):
        return item if math.isfinite(item) else None
    return item if isinstance(item, (int, str, bool)) or item is None else str(item)
