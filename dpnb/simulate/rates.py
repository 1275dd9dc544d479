r"""How fast a private distribution function approaches the truth: histogram, perturbed histogram and Kolmogorov-Smirnov mechanism.

Three ways to spend the same ε on m public cells, n being public (change-one): counts with discrete Laplace noise, summed up
(*laplace*); the same with negative counts set to zero and rescaled to one (*perturbed*); k points by the exponential mechanism of
:class:`~dpnb.trusted.mechanisms.KSExponential` (*ks*). Errors are Kolmogorov-Smirnov distances at the cell edges: to the population, to the
data (the part that privacy costs), and of the data to the population (the part that sampling costs).

Wasserman and Zhou bound the third way by :math:`n^{-1/3}`; in one dimension and with an exact sampler the measured exponents are
steeper. What the comparison says plainly: at the same cells the Laplace histogram is about as near, or nearer. Arrays only.

References
----------
Wasserman and Zhou (2010), "A statistical framework for differential privacy".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import OptionError
from dpnb.estimate.table import Table, table_of_rows
from dpnb.inference import fast_noise
from dpnb.inference.simulated_release import choose
from dpnb.simulate.design import amount_of
from dpnb.simulate.populations import Floats, Seed
from dpnb.trusted.mechanisms import KSExponential

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = ("laplace", "perturbed", "ks")
PARTS = ("population", "data", "sampling")
SIZES = (100, 300, 1000, 3000, 10_000, 30_000)
_MOST_CELLS, _MOST_POINTS = 256, 1000


@dataclass(frozen=True, slots=True, eq=False)
class RateResult:
    """Errors by size, method and part.

    Parameters
    ----------
    epsilon : float
    sizes : ndarray of int, shape (sizes,)
    points : ndarray of int, shape (sizes,)
        k, as many as n^(2/3).
    errors : ndarray, shape (sizes, methods, parts, draws)
        Kolmogorov-Smirnov distances; methods and parts in the order of ``METHODS`` and ``PARTS``.
    """

    epsilon: float
    sizes: NDArray[np.int64]
    points: NDArray[np.int64]
    errors: Floats

    @property
    def mean(self) -> Floats:
        """Mean error, shape (sizes, methods, parts)."""
        return np.asarray(self.errors.mean(axis=-1))

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean."""
        return np.asarray(self.errors.std(axis=-1, ddof=1) / np.sqrt(self.errors.shape[-1]))

    def exponent(self, method: str, part: str = "population") -> tuple[float, float]:
        """Return the slope of log error on log n by least squares, and its simulation standard error.

        Parameters
        ----------
        method : {"laplace", "perturbed", "ks"}
        part : {"population", "data", "sampling"}
        """
        if method not in METHODS or part not in PARTS:
            raise OptionError(f"method is one of {', '.join(METHODS)}; part one of {', '.join(PARTS)}.")
        place = METHODS.index(method), PARTS.index(part)
        mean, error = self.mean[:, *place], self.standard_error[:, *place]
        x = np.log(self.sizes) - np.log(self.sizes).mean()
        weights = x / np.sum(x**2)
        return float(weights @ np.log(mean)), float(np.sqrt(np.sum((weights * error / mean) ** 2)))

    def table(self) -> Table:
        """Return one row for each size and method, and the fitted exponents in the last rows."""
        rows: list[dict[str, object]] = []
        for n, k, means in zip(self.sizes.tolist(), self.points.tolist(), self.mean, strict=True):
            for method, errors in zip(METHODS, means, strict=True):
                found = dict(zip(PARTS, errors.tolist(), strict=True))
                rows.append({"n": n, "k": k, "method": method, **found, "n^(-1/3)": n ** (-1 / 3)})
        return table_of_rows(rows)

    def exponents(self) -> Table:
        """Return the fitted exponents with their standard errors."""
        rows = [
            {"method": method, "part": part, "exponent": found[0], "standard error": found[1]}
            for method in METHODS
            for part in PARTS
            for found in [self.exponent(method, part)]
        ]
        return table_of_rows(rows)

    def plot(self) -> Figure:
        """Return a matplotlib figure: error against n on log axes, to the population and to the data."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8.6, 3.8), layout="constrained")
        styles = (("laplace", "#0a6480", "-"), ("perturbed", "#5b5e66", "--"), ("ks", "#b3450c", "-."))
        for axes, part in zip(figure.subplots(1, 2, sharey=True), ("population", "data"), strict=True):
            for method, color, line in styles:
                place = METHODS.index(method), PARTS.index(part)
                slope, error = self.exponent(method, part)
                axes.errorbar(
                    self.sizes,
                    self.mean[:, *place],
                    1.96 * self.standard_error[:, *place],
                    color=color,
                    linestyle=line,
                    label=f"{method}: {slope:.2f} ± {error:.2f}",
                )
            bound = self.sizes ** (-1 / 3)
            axes.plot(self.sizes, bound, ":", color="#1c1d21", label="n^(-1/3)")
            axes.set(
                xscale="log", yscale="log", xlabel="n", title=f"distance to the {part}, ε = {self.epsilon:g}"
            )
            axes.spines[["top", "right"]].set_visible(False)
            axes.legend(frameon=False, fontsize=8)
        figure.axes[0].set_ylabel("Kolmogorov-Smirnov distance")
        return figure


def density_rates(
    sizes: Sequence[int] = SIZES,
    epsilon: float | str = 1,
    *,
    shape: tuple[float, float] = (2.0, 5.0),
    draws: int = 8,
    rng: Seed = 0,
) -> RateResult:
    """Compare the three ways at several sizes, on samples from a beta law.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of rows.
    epsilon : float or str
        Spent by each of the three, on one release.
    shape : (float, float)
        Of the beta law.
    draws : int
        Samples for each size, at least 2; each method is drawn once for each.
    rng : int or Generator

    Returns
    -------
    RateResult

    Examples
    --------
    >>> found = density_rates([100, 300], draws=4)
    >>> found.errors.shape
    (2, 3, 3, 4)
    """
    if draws < 2 or len(sizes) < 2 or min(sizes) < 2:
        raise OptionError("Rates need at least two sizes of two rows or more, and two draws.")
    loss, stream = amount_of(epsilon), np.random.default_rng(rng)
    points = [min(_MOST_POINTS, round(n ** (2 / 3))) for n in sizes]
    errors = [
        np.stack([_one(n, k, loss, shape, stream) for _ in range(draws)], axis=-1)
        for n, k in zip(sizes, points, strict=True)
    ]
    return RateResult(float(loss), np.array(sizes), np.array(points), np.stack(errors))


def _one(
    n: int, points: int, epsilon: Fraction, shape: tuple[float, float], rng: np.random.Generator
) -> Floats:
    """The errors of one sample, shape (methods, parts)."""
    from scipy.special import betainc

    cells = min(points, _MOST_CELLS)
    counts = np.bincount((rng.beta(*shape, n) * cells).astype(np.int64), minlength=cells)
    truth = betainc(*shape, np.arange(1, cells + 1) / cells)
    data = np.cumsum(counts) / n
    noisy = counts + fast_noise.discrete_laplace(float(2 / epsilon), cells, rng)
    kept = np.maximum(noisy, 0)
    placed = choose(KSExponential(epsilon, points, (1,) * cells), counts.tolist(), rng, 1)[0]
    released = (np.cumsum(noisy) / n, np.cumsum(kept) / max(kept.sum(), 1), np.cumsum(placed) / points)
    pairs = [[(truth, found), (data, found), (truth, data)] for found in released]
    return np.array([[np.max(np.abs(a - b)) for a, b in row] for row in pairs])
