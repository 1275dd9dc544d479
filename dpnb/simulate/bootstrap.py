"""The coverage study of the private bootstrap, over studies and resamples at once: published intervals beside corrected ones.

A study is ``n`` rows drawn from a population on a grid; its resamples come from their exact law (:mod:`dpnb.inference.resampling`)
and their noise from a seeded generator. It takes arrays and refuses handles. Nothing in it is private: it shows what the
published noise covers (``inflation=1``) and what the provable noise does.

References
----------
Brawner and Honaker (2018), "Bootstrap Inference and Differential Privacy: Standard Errors for Free", section 8 and Figure 7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import OptionError
from dpnb.inference.bootstrap import Bootstrap, Kind, deconvolved_interval
from dpnb.inference.resampling import noise_variance, resample_sums
from dpnb.inference.spread import normal_quantile
from dpnb.simulate.populations import Population

__all__ = ["BootstrapStudy", "CoverageRow", "bootstrap_coverage"]

IntervalKind = Kind | Literal["deconvolved"]
_COLOURS = ("#b3471d", "#0a6480", "#5b5e66", "#7a5195")


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """How often one kind of interval holds the population's mean, and how wide it is.

    Parameters
    ----------
    k : int
        Resamples.
    kind : str
        Which reading of the spread.
    published, corrected : float
        Coverage without and with the error of a finite number of resamples; nothing published for the deconvolved interval.
    published_width, corrected_width : float
        Mean half-widths.
    simulations : int
        Studies behind the row; a coverage p has standard error √(p(1-p)/simulations).
    """

    k: int
    kind: IntervalKind
    published: float | None
    corrected: float
    published_width: float | None
    corrected_width: float
    simulations: int

    @property
    def standard_error(self) -> float:
        """Monte Carlo standard error of the corrected coverage."""
        return float((self.corrected * (1 - self.corrected) / self.simulations) ** 0.5)


@dataclass(frozen=True, slots=True, repr=False)
class BootstrapStudy:
    """The rows of a coverage study, one for each k and kind; iterates over them.

    Parameters
    ----------
    rows : tuple of CoverageRow
        Coverages and half-widths.
    level : float
        What the intervals claim.
    inflation : float
        Factor on the published noise.
    """

    rows: tuple[CoverageRow, ...]
    level: float
    inflation: float

    def __iter__(self) -> Iterator[CoverageRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, k: int, kind: IntervalKind) -> CoverageRow:
        """Return one row."""
        for row in self.rows:
            if (row.k, row.kind) == (k, kind):
                return row
        raise OptionError(f"This study has no {kind} interval at k = {k}.")

    def __str__(self) -> str:
        lines = [f"coverage of {100 * self.level:g} % intervals, noise × {self.inflation:g} the published"]
        lines.append(
            f"{'k':>5}  {'interval':<18}{'published':>10}{'corrected':>11}{'± (95 %)':>10}{'half-width':>12}"
        )
        for row in self.rows:
            published = "–" if row.published is None else f"{100 * row.published:.1f}"
            lines.append(
                f"{row.k:>5}  {row.kind:<18}{published:>10}{100 * row.corrected:>11.1f}"
                f"{196 * row.standard_error:>10.1f}{row.corrected_width:>12.4g}"
            )
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self) -> Any:
        """Return a figure of coverage and half-width against k, published (dotted) and corrected."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8.4, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        for colour, kind in zip(_COLOURS, dict.fromkeys(row.kind for row in self.rows), strict=False):
            rows = [row for row in self.rows if row.kind == kind]
            ks = [row.k for row in rows]
            left.plot(ks, [row.corrected for row in rows], "o-", color=colour, label=kind, markersize=4)
            right.plot(ks, [row.corrected_width for row in rows], "o-", color=colour, markersize=4)
            if rows[0].published is not None:
                left.plot(ks, [row.published for row in rows], ":", color=colour)
                right.plot(ks, [row.published_width for row in rows], ":", color=colour)
        left.axhline(self.level, color="#1c1d21", linewidth=0.8)
        left.set_ylabel(f"coverage of {100 * self.level:g} % intervals")
        right.set_ylabel("mean half-width")
        for axes in (left, right):
            axes.set_xscale("log")
            axes.set_xlabel("resamples k")
        left.legend(frameon=False, fontsize=9)
        return figure


def bootstrap_coverage(  # noqa: PLR0913 - a study has this many facts
    source: Any,
    rng: np.random.Generator,
    *,
    bounds: tuple[float, float] | None = None,
    n: int = 500,
    rho: float = 0.5,
    ks: Sequence[int] = (10, 25, 50, 100, 200),
    simulations: int = 500,
    level: float = 0.95,
    inflation: float = 1.0,
    kinds: Sequence[IntervalKind] = get_args(Kind),
) -> BootstrapStudy:
    """Simulate studies, bootstrap each with noise, and count how often the intervals hold the population's mean.

    Parameters
    ----------
    source : Population, or array_like of int
        Where rows come from: a population of :mod:`dpnb.simulate` with one column and a known law, or values on a grid of whole
        numbers, drawn with replacement.
    rng : numpy.random.Generator
        Source of all randomness.
    bounds : (float, float), optional
        The public bounds that scale the noise; a population brings its own.
    n, simulations : int
        Rows of a study, and number of studies. The same studies serve every k.
    rho : float
        What the resamples of a study are calibrated to.
    ks : sequence of int
        Numbers of resamples.
    level : float
        Of the intervals.
    inflation : float
        Factor on the noise; 1 is the published mechanism.
    kinds : sequence of str
        Readings of the spread, and ``"deconvolved"``, which is computed study by study.

    Returns
    -------
    BootstrapStudy
        Prints as a table; one row for each k and kind.

    Notes
    -----
    To compare with the mean that buys its second moment, on the same population and at the same ρ:
    ``simulate.coverage("mean", source, n=500, losses={"rho": 0.5})``.

    Examples
    --------
    >>> rows = bootstrap_coverage(
    ...     np.arange(10), np.random.default_rng(0), bounds=(0, 9), n=50, ks=[20], simulations=50
    ... )
    >>> [row.kind for row in rows]
    ['unbiased', 'conservative', 'most conservative']
    """
    grid = _grid(source, bounds)
    if n < 2 or simulations < 1:
        raise OptionError("n must be at least 2 and simulations at least 1.")
    counts = rng.multinomial(n, grid.probabilities, size=simulations)
    means = grid.start + grid.step * resample_sums(counts, sum(ks), rng) / n
    rows: list[CoverageRow] = []
    first = 0
    for k in ks:
        variance = noise_variance(grid.width / n, rho, k, inflation)
        noised = means[:, first : first + k] + variance**0.5 * rng.standard_normal((simulations, k))
        made = Bootstrap(noised, variance)
        rows += [_row(made, kind, grid.mean, level) for kind in kinds]
        first += k
    return BootstrapStudy(tuple(rows), level, inflation)


@dataclass(frozen=True, slots=True)
class _Grid:
    """A population as probabilities of ``start + step · code``, and the width of its public bounds."""

    probabilities: NDArray[np.float64]
    start: float
    step: float
    width: float

    @property
    def mean(self) -> float:
        return self.start + self.step * float(self.probabilities @ np.arange(self.probabilities.size))


def _grid(source: Any, bounds: tuple[float, float] | None) -> _Grid:
    if hasattr(source, "law") and hasattr(source, "columns"):
        return _of_population(source)
    values = np.asarray(source)
    if values.ndim != 1 or values.size == 0 or (values != np.rint(values)).any():
        raise OptionError(
            "The values are one list of whole numbers; put others on their grid: simulate.resampled(x, lower=…, upper=…)."
        )
    if bounds is None or not bounds[0] < bounds[1]:
        raise OptionError("Bounds are public and never taken from the data: give bounds=(lower, upper).")
    start = int(values.min())
    shares = np.bincount(values.astype(np.int64) - start)
    return _Grid(shares / shares.sum(), float(start), 1.0, bounds[1] - bounds[0])


def _of_population(source: Population) -> _Grid:
    law, column = source.law(), source.columns[0]
    if law is None or len(source.columns) != 1 or column.values is not None:
        raise OptionError(
            "A bootstrap study needs a population of one number with a known law, not a fixed study."
        )
    table, weights = law
    codes = table.columns[column.name].values
    probabilities = np.bincount(codes, weights=weights, minlength=1)
    low, high = (float(bound) for bound in column.bounds)
    return _Grid(probabilities / probabilities.sum(), low, float(column.step or 1), high - low)


def _row(made: Bootstrap, kind: IntervalKind, truth: float, level: float) -> CoverageRow:
    off = np.abs(made.estimate - truth)
    if kind == "deconvolved":
        ends = np.array(
            [deconvolved_interval(Bootstrap(row, made.noise_variance), level) for row in made.values]
        )
        share = float(np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])))
        half = float(np.mean(ends[:, 1] - ends[:, 0])) / 2
        return CoverageRow(made.k, kind, None, share, None, half, off.size)
    reach = normal_quantile(0.5 + level / 2)
    published = reach * made.published_standard_error(kind)
    corrected = reach * made.standard_error(kind)
    shares = float(np.mean(off <= published)), float(np.mean(off <= corrected))
    return CoverageRow(made.k, kind, *shares, float(np.mean(published)), float(np.mean(corrected)), off.size)
