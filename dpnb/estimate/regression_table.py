"""The table that people expect of a regression: coefficients, standard errors, t, p and both intervals, as text, HTML and LaTeX."""

from __future__ import annotations

import html
from dataclasses import dataclass

from dpnb.estimate.table import aligned, tabular


@dataclass(frozen=True)
class Summary:
    """The table of a regression: text, and HTML where that is shown.

    Parameters
    ----------
    title : str
        What was regressed.
    facts : tuple of str
        Size, fit and cost.
    head : tuple of str
        The names of the columns.
    rows : tuple of tuple of str
        One row for each coefficient.
    notes : tuple of str
        What a reader must know.
    """

    title: str
    facts: tuple[str, ...]
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        lines = aligned((self.head, *self.rows))
        rule = "-" * max(map(len, lines))
        return "\n".join(
            [self.title, "; ".join(self.facts), rule, lines[0], rule, *lines[1:], rule, *self.notes]
        )

    def as_text(self) -> str:
        """The table as text."""
        return repr(self)

    def as_html(self) -> str:
        """The table as HTML."""
        return self._repr_html_()

    def as_latex(self) -> str:
        """The table as LaTeX, for a paper: a tabular of the package booktabs, with its notes below."""
        found = tabular(self.head, self.rows, "l" + "r" * (len(self.head) - 1), self.notes)
        return f"% {self.title}; {'; '.join(self.facts)}\n{found}"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in self.head)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows
        )
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        facts = html.escape("; ".join(self.facts))
        return (
            f"<div><p><strong>{html.escape(self.title)}</strong><br>{facts}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}</div>"
        )
