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
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.errors import OptionError
from dpnb.inference.bootstrap import Bootstrap, Kind
from dpnb.inference.resampling import noise_variance, resample_sums
from dpnb.inference.spread import normal_quantile

__all__ = ["CoverageRow", "bootstrap_coverage"]


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
        Coverage without and with the error of a finite number of resamples.
    published_width, corrected_width : float
        Mean half-widths.
    simulations : int
        Studies behind the row; a coverage p has standard error √(p(1-p)/simulations).
    """

    k: int
    kind: Kind
    published: float
    corrected: float
    published_width: float
    corrected_width: float
    simulations: int

    @property
    def standard_error(self) -> float:
        """Monte Carlo standard error of the corrected coverage."""
        return float((self.corrected * (1 - self.corrected) / self.simulations) ** 0.5)


def bootstrap_coverage(  # noqa: PLR0913 - a study has this many facts
    population: ArrayLike,
    bounds: tuple[float, float],
    rng: np.random.Generator,
    *,
    n: int = 500,
    rho: float = 0.5,
    ks: Sequence[int] = (10, 25, 50, 100, 200),
    simulations: int = 500,
    level: float = 0.95,
    inflation: float = 1.0,
) -> list[CoverageRow]:
    """Simulate studies, bootstrap each with noise, and count how often the intervals hold the population's mean.

    Parameters
    ----------
    population : array_like of int
        The values that rows are drawn from, on a grid of whole numbers.
    bounds : (float, float)
        The public bounds that scale the noise.
    rng : numpy.random.Generator
        Source of all randomness.
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

    Returns
    -------
    list of CoverageRow
        One for each k and kind.

    Examples
    --------
    >>> rows = bootstrap_coverage(
    ...     np.arange(10), (0, 9), np.random.default_rng(0), n=50, ks=[20], simulations=50
    ... )
    >>> [row.kind for row in rows]
    ['unbiased', 'conservative', 'most conservative']
    """
    counts, start = _studies(population, n, simulations, rng)
    truth = float(np.mean(np.asarray(population, dtype=float)))
    means = start + resample_sums(counts, sum(ks), rng) / n
    rows, first = [], 0
    for k in ks:
        variance = noise_variance((bounds[1] - bounds[0]) / n, rho, k, inflation)
        noised = means[:, first : first + k] + variance**0.5 * rng.standard_normal((simulations, k))
        rows += _rows(Bootstrap(noised, variance), truth, level)
        first += k
    return rows


def _studies(
    population: ArrayLike, n: int, simulations: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], int]:
    """Draw studies with replacement, as counts of every value."""
    values = np.asarray(population)
    if values.ndim != 1 or values.size == 0 or (values != np.rint(values)).any():
        raise OptionError("population is one list of whole numbers; put other values on their grid first.")
    if n < 2 or simulations < 1:
        raise OptionError("n must be at least 2 and simulations at least 1.")
    start = int(values.min())
    shares = np.bincount(values.astype(np.int64) - start)
    return rng.multinomial(n, shares / shares.sum(), size=simulations), start


def _rows(made: Bootstrap, truth: float, level: float) -> list[CoverageRow]:
    reach = normal_quantile(0.5 + level / 2)
    off = np.abs(made.estimate - truth)
    found = []
    for kind in get_args(Kind):
        published = reach * made.published_standard_error(kind)
        corrected = reach * made.standard_error(kind)
        shares = float(np.mean(off <= published)), float(np.mean(off <= corrected))
        widths = float(np.mean(published)), float(np.mean(corrected))
        found.append(CoverageRow(made.k, kind, *shares, *widths, off.size))
    return found
