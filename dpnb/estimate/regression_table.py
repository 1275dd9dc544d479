"""The table that people expect of a regression: coefficients, standard errors, t, p and both intervals, as text, HTML and LaTeX."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpnb.errors import Unavailable
from dpnb.estimate.hypothesis import HypothesisTest, p_text
from dpnb.estimate.table import aligned, tabular
from dpnb.inference.digits import given
from dpnb.statistics.result import FLAG_WORDS

if TYPE_CHECKING:
    from dpnb.estimate.regression_summary import Regression


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


def summary_of(regression: Regression, level: float) -> Summary:
    """Return the table of a released regression at a level."""
    estimate = regression.coefficients
    privacy = estimate.interval(level, "privacy")
    low = high = errors = t = p = None
    notes = []
    try:
        low, high = estimate.interval(level, "confidence")
        errors, t, p = regression.standard_errors, regression.t_values, regression.p_values
    except Unavailable as reason:
        notes.append(str(reason))
    columns = [estimate.value, errors, t, p, low, high, privacy.half_width]
    rows = tuple(
        (
            term,
            *(_cell(None if column is None else column[place]) for column in columns[:3]),
            "–" if p is None else _p_cell(regression.tested, place),
            *(_cell(None if column is None else column[place]) for column in columns[4:]),
        )
        for place, term in enumerate(regression.terms)
    )
    percent = f"{given(100 * level)} %"
    return Summary(
        f"{regression.method} of {regression.formula}",
        regression.facts(),
        ("", "coef", "std err", "t", "p", f"[{percent}", f"{percent}]", "privacy ±"),
        rows,
        (
            "Standard errors and intervals include sampling and noise; privacy ± is what the noise alone hides about this dataset.",
            *regression.notes(),
            *notes,
            *(f"{flag}: {FLAG_WORDS[flag]}." for flag in regression.flags if flag in FLAG_WORDS),
            *regression.advice(),
        ),
    )


def _p_cell(test: HypothesisTest, place: int) -> str:
    return (
        p_text(float(test.p_value[place]), bounded=bool(test.bounded[place])).removeprefix("p ").lstrip("= ")
    )


def _cell(found: float | None) -> str:
    if found is None or math.isnan(found):
        return "–"
    return f"{found:.4g}".replace("inf", "∞")
