"""The coverage study of the private bootstrap, over studies and resamples at once: published intervals beside corrected ones.

A study is ``n`` rows drawn from a population on a grid; its resamples come from their exact law (:mod:`dpnb.inference.resampling`)
and their noise from a seeded generator. It takes arrays and refuses handles. Nothing in it is private: it shows what the
published noise covers (``inflation=1``) and what the provable noise does.

References
----------
Brawner and Honaker (2018), "Bootstrap Inference and Differential Privacy: Standard Errors for Free", section 8 and Figure 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import OptionError
from dpnb.inference.bootstrap import Bootstrap, Kind, deconvolved_interval
from dpnb.inference.resampling import noise_variance, resample_sums
from dpnb.inference.spread import normal_quantile
from dpnb.simulate.populations import Population

__all__ = ["CoverageRow", "bootstrap_coverage"]

IntervalKind = Kind | Literal["deconvolved"]


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
) -> list[CoverageRow]:
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
    list of CoverageRow
        One for each k and kind.

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
    rows, first = [], 0
    for k in ks:
        variance = noise_variance(grid.width / n, rho, k, inflation)
        noised = means[:, first : first + k] + variance**0.5 * rng.standard_normal((simulations, k))
        made = Bootstrap(noised, variance)
        rows += [_row(made, kind, grid.mean, level) for kind in kinds]
        first += k
    return rows


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
