r"""Resamples of rows and the noise on them: the mechanism behind the private bootstrap, **on arrays alone**.

Functions here see rows, so they serve simulated, public and taught data; no plan names them and the curator has no way to them.
What ``k`` noised resamples provably cost is said by :mod:`dpnb.risk.bootstrap`; what may be inferred from them by
:mod:`dpnb.inference.bootstrap`.

The sum of a resample of ``n`` rows is a sum of ``n`` independent draws from the study's empirical law, whose law is that law's
n-fold convolution. On a grid one Fourier transform gives it to 10⁻¹³, and any number of resamples are draws from one table:
exact in law, and far cheaper than drawing rows.

References
----------
.. [1] Brawner and Honaker (2018), "Bootstrap Inference and Differential Privacy: Standard Errors for Free", sections 5 and 6.
"""

from __future__ import annotations

from math import ceil, log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.errors import OptionError

_ALIASED = 1e-16
_WIDEST = 1 << 18
_CHEAPER = 5
_TOGETHER = 1 << 16
_DRAWN = 1 << 22


def noise_variance(sensitivity: float, rho: float, k: int, inflation: float = 1.0) -> float:
    """Return the variance of the noise on one of `k` resamples: ``inflation² Δ² k / 2ρ`` [1]_.

    Parameters
    ----------
    sensitivity : float
        How far one row moves the statistic, in its unit: (upper - lower) / n for a mean.
    rho : float
        What the resamples together are calibrated to.
    k : int
        Number of resamples.
    inflation : float
        1 as published; :func:`dpnb.risk.bootstrap.inflation_for` gives the factor that keeps a promise.

    Examples
    --------
    >>> round(noise_variance(100 / 500, 0.5, 50), 9)
    2.0
    """
    if not (sensitivity > 0 and rho > 0 and inflation > 0 and k >= 1):
        raise OptionError("sensitivity, rho and inflation must be above 0, and k at least 1.")
    return inflation**2 * sensitivity**2 * k / (2 * rho)


def resample_sums(counts: ArrayLike, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the sums of `k` resamples of each of many studies, drawn from their exact law.

    Parameters
    ----------
    counts : array_like of int, shape (studies, cells)
        How many rows of each study have the code 0, 1, 2, …; every study has the same number n of rows.
    k : int
        Resamples of each study.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of int64, shape (studies, k)
        Sums of the codes of n rows drawn with replacement.

    Examples
    --------
    >>> resample_sums([[0, 4]], 3, np.random.default_rng(0)).tolist()  # four rows, all of code 1
    [[4, 4, 4]]
    """
    table = np.asarray(counts, dtype=np.int64)
    if table.ndim != 2 or table.size == 0 or table.min() < 0:
        raise OptionError("counts has one row for each study and one column for each code, none below 0.")
    sizes = table.sum(axis=1)
    n = int(sizes[0])
    if n < 1 or (sizes != n).any():
        raise OptionError("Every study needs the same number of rows, at least 1.")
    if k < 1:
        raise OptionError("k, the number of resamples, must be at least 1.")
    window = _window(table, n)
    if window > _WIDEST or k * n < _CHEAPER * window:
        return _by_rows(table, n, k, rng)
    found = np.empty((len(table), k), np.int64)
    together = max(1, _TOGETHER // window)
    for start in range(0, len(table), together):
        found[start : start + together] = _by_table(table[start : start + together], n, k, window, rng)
    return found


def _moments(table: NDArray[np.int64], n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    code = np.arange(table.shape[1], dtype=float)
    mean = table @ code / n
    return mean, np.maximum(table @ code**2 / n - mean**2, 0.0)


def _window(table: NDArray[np.int64], n: int) -> int:
    """Return a length outside which, around its mean, a sum falls with probability below 10⁻¹⁶ (Bernstein)."""
    from scipy.fft import next_fast_len

    width = table.shape[1] - 1
    reach, variance = log(2 / _ALIASED), n * float(_moments(table, n)[1].max())
    half = reach * width / 3 + sqrt((reach * width / 3) ** 2 + 2 * reach * variance)
    return int(next_fast_len(max(min(2 * ceil(half) + 3, n * width + 1), table.shape[1]), real=True))


def _by_table(
    table: NDArray[np.int64], n: int, k: int, window: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw from the n-fold convolution, taken modulo the window and unrolled around each study's mean."""
    from scipy.fft import irfft, rfft

    law = irfft(_power(rfft(table / n, window, axis=1), n), window, axis=1)
    below = np.cumsum(law.clip(0.0), axis=1)
    uniform = rng.random((len(table), k)) * below[:, -1:]
    rests = np.stack([np.searchsorted(row, u, side="right") for row, u in zip(below, uniform, strict=True)])
    if window > n * (table.shape[1] - 1):
        return rests
    low = (np.rint(n * _moments(table, n)[0]).astype(np.int64) - window // 2)[:, None]
    return np.asarray(low + (rests - low) % window)


def _power(spectrum: NDArray[np.complex128], n: int) -> NDArray[np.complex128]:
    """Return the n-th power by repeated squaring."""
    total = None
    while n:
        if n & 1:
            total = spectrum if total is None else total * spectrum
        n >>= 1
        spectrum = spectrum * spectrum if n else spectrum
    assert total is not None
    return total


def _by_rows(table: NDArray[np.int64], n: int, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw rows: for grids too fine for one table, and where few rows are cheaper than a fine one."""
    found = np.empty((len(table), k), np.int64)
    together = max(1, _DRAWN // n)
    for study, counts in enumerate(table):
        rows = np.repeat(np.arange(table.shape[1]), counts)
        for start in range(0, k, together):
            size = min(together, k - start)
            found[study, start : start + size] = rows[rng.integers(0, n, (size, n))].sum(axis=1)
    return found


def resample_means(x: ArrayLike, k: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the means of `k` resamples of each study.

    Parameters
    ----------
    x : array_like, shape (n,) or (studies, n)
        Rows of one study or of several.
    k : int
        Resamples of each.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray, shape (k,) or (studies, k)
    """
    values = np.asarray(x, dtype=float)
    rows = np.atleast_2d(values)
    if rows.ndim != 2 or rows.size == 0 or not np.isfinite(rows).all():
        raise OptionError("x is one study or a table of studies, one row each, without missing values.")
    low = float(rows.min())
    codes = np.rint(rows - low)
    if (codes == rows - low).all() and codes.max() < _WIDEST // 8:
        cells = int(codes.max()) + 1
        flat = codes.astype(np.int64) + cells * np.arange(len(rows))[:, None]
        counts = np.bincount(flat.ravel(), minlength=cells * len(rows)).reshape(len(rows), cells)
        found = low + resample_sums(counts, k, rng) / rows.shape[1]
    else:
        found = np.stack([row[rng.integers(0, row.size, (k, row.size))].mean(axis=1) for row in rows])
    return np.asarray(found[0] if values.ndim == 1 else found)


def noised_resamples(x: ArrayLike, k: int, variance: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the means of `k` resamples of each study with Gaussian noise of a variance; see :func:`resample_means`."""
    means = resample_means(x, k, rng)
    return np.asarray(means + sqrt(variance) * rng.standard_normal(means.shape))
