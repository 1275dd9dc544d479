"""What a coverage study of regressions found: a row for each size, loss, coefficient and interval; a table and a figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpnb.errors import OptionError
from dpnb.estimate.table import Table, table_of_rows
from dpnb.simulate.design import Loss
from dpnb.simulate.tally import wilson

_COLOURS = {"privacy": "#0a6480", "confidence": "#1c1d21", "naive": "#b3471d"}


@dataclass(frozen=True, slots=True)
class RegressionRow:
    """How often one interval of one coefficient held what it claims to hold, at one size and loss.

    Parameters
    ----------
    n : int
        Rows of a study.
    loss : Loss
        What was spent.
    term, interval : str
        Which coefficient, which interval.
    hits, studies : int
        Intervals that held their truth, of how many.
    unbounded : int
        How many were unbounded, because noise could have made the matrix singular.
    half_width : float
        The median half-width; infinite where most are unbounded.
    error : float
        The median absolute error of the estimate about its truth: the population's coefficient, or that of a fixed study's
        own rows.
    bias, sd : float
        The mean error of the estimate about the same truth, and the standard deviation of its errors. A bias is known to
        about ``sd / sqrt(studies)``; both are of all studies, so that one nearly singular matrix can make them large.
    """

    n: int
    loss: Loss
    term: str
    interval: str
    hits: int
    studies: int
    unbounded: int
    half_width: float
    error: float
    bias: float
    sd: float

    @property
    def coverage(self) -> float:
        """The share of intervals that held their truth."""
        return self.hits / self.studies

    @property
    def band(self) -> tuple[float, float]:
        """Wilson's 95 % interval for the coverage."""
        low, high = wilson(self.hits, self.studies)
        return float(low), float(high)


@dataclass(frozen=True, slots=True, repr=False)
class RegressionStudy:
    """The rows of a coverage study of a regression; prints as a table, iterates over its rows.

    Parameters
    ----------
    formula : str
        What was regressed.
    level : float
        What the intervals claim.
    rows : tuple of RegressionRow
        One for each size, loss, coefficient and interval.
    """

    formula: str
    level: float
    rows: tuple[RegressionRow, ...]

    def __iter__(self) -> Iterator[RegressionRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        lines = [f"coverage of {100 * self.level:g} % intervals of {self.formula}"]
        lines.append(
            f"{'n':>8} {'loss':>10}  {'term':<14}{'interval':<12}{'coverage':>9}{'band':>16}{'half-width':>12}{'unbounded':>11}"
        )
        for row in self.rows:
            low, high = row.band
            band = f"{100 * low:.1f}–{100 * high:.1f}"
            lines.append(
                f"{row.n:>8,} {_said(row.loss):>10}  {row.term:<14}{row.interval:<12}{100 * row.coverage:>9.1f}{band:>16}"
                f"{row.half_width:>12.3g}{row.unbounded:>11}"
            )
        return "\n".join(lines)

    __repr__ = __str__

    def table(self) -> Table:
        """Return one row for each size, loss, coefficient and interval.

        Notes
        -----
        ``coverage`` with its 95 % Wilson band ``low`` to ``high``; ``half_width``, the median; ``unbounded``, the share of
        studies whose interval has no ends; ``bias`` and ``sd`` of the estimate, and its median absolute ``error``.
        """
        return table_of_rows([_record(row) for row in self.rows])

    def of(self, term: str, interval: str) -> tuple[RegressionRow, ...]:
        """Return the rows of one coefficient and interval."""
        found = tuple(row for row in self.rows if (row.term, row.interval) == (term, interval))
        if not found:
            raise OptionError(f"This study has no {interval} interval of {term}.")
        return found

    def plot(self, term: str | None = None) -> Any:
        """Return a figure of the coverage of one coefficient against the loss, with Wilson bands."""
        from matplotlib.figure import Figure

        shown = term or self.rows[-1].term
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        axes = figure.subplots()
        for interval in dict.fromkeys(row.interval for row in self.rows):
            rows = self.of(shown, interval)
            x = [float(row.loss.amount) for row in rows]
            bands = np.array([row.band for row in rows]).T
            middle = np.array([row.coverage for row in rows])
            axes.errorbar(
                x,
                middle,
                np.abs(bands - middle),
                fmt="o-",
                label=interval,
                color=_COLOURS[interval],
                markersize=4,
            )
        axes.axhline(self.level, color="#1c1d21", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_xlabel(f"{self.rows[0].loss.kind} of the moments")
        axes.set_ylabel(f"coverage of {100 * self.level:g} % intervals of {shown}")
        axes.legend(frameon=False, fontsize=9)
        return figure


def _record(row: RegressionRow) -> dict[str, Any]:
    low, high = row.band
    return {
        "n": row.n,
        row.loss.kind: float(row.loss.amount),
        "term": row.term,
        "interval": row.interval,
        "coverage": row.coverage,
        "low": low,
        "high": high,
        "half_width": row.half_width,
        "unbounded": row.unbounded / row.studies,
        "bias": row.bias,
        "sd": row.sd,
        "error": row.error,
    }


def _said(loss: Loss) -> str:
    return f"{'ε' if loss.kind == 'epsilon' else 'ρ'} {float(loss.amount):g}"
