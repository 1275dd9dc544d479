r"""Private standard errors by subsample and aggregate, **on arrays alone**: a dyadic one, and the published one with its constants put right.

The rows are cut into M public subsets, fixed before any row is read, and the variance of the statistic is estimated on each. A
changed row changes one of the M values, and a row that changes its arm stays in its subset. What is released is a noised average.

*Dyadic* (recommended). Values fall into bins :math:`[2^j, 2^{j+1})` of a public range; the exponential mechanism takes the fullest
bin with weight :math:`e^{ε_1 c_j/2}` (a changed value moves two counts by one each: sensitivity 1, ε₁); the values are clipped to
:math:`[0, u]`, :math:`u = 2^{j+2}`, and averaged with Laplace noise of scale :math:`u/(Mε_2)` (one value moves the average by at most
u/M: ε₂). By composition ε₁ + ε₂, change-one.

*Winsorized* [1]_ [2]_. Quartiles a, b by the exponential mechanism with weight :math:`e^{-(ε/8)|i - qM|}` on the gap above the i-th value
(rank error has sensitivity 1: ε/4 each), limits :math:`(a+b)/2 ± 2|a-b|`, and Laplace noise of scale :math:`2(u-l)/(Mε)` (ε/2). As
published the exponent is ε/4 and the noise :math:`|u-l|/(2Mε)`, which together cost 3ε.

Simulated noise in floating point: nothing here may touch protected data, and no plan names it. On protected data a standard error
comes from released moments.

References
----------
.. [1] Smith (2011), "Privacy-preserving statistical estimation with optimal convergence rates".
.. [2] D'Orazio, Honaker and King (2015), "Differential Privacy for Social Science Inference", Algorithms 4 and 5, corrected.
"""

from __future__ import annotations

from math import floor, log2

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.errors import OptionError

Floats = NDArray[np.float64]
_DEEPEST = 40


def subset_variances(y: ArrayLike, subsets: int, arm: ArrayLike | None = None) -> Floats:
    """Return the unbiased variance of a mean, or of a difference of means, estimated on each of M subsets.

    Parameters
    ----------
    y : array_like, shape (..., n)
        Outcomes, in an order that does not depend on them (shuffle with a public seed first). Leading axes are studies.
    subsets : int
        M, from 1 to n. Subset i holds the rows from iM/n on; sizes differ by at most one.
    arm : array_like of 0 and 1, shape (..., n), optional
        Which arm each row is in; private. Without it, the statistic is the mean.

    Returns
    -------
    ndarray, shape (..., M)
        ``s²/m``, or ``s₁²/m₁ + s₀²/m₀``. A subset with fewer than two rows in an arm has the public default 0.
    """
    values = np.asarray(y, dtype=float)
    n = values.shape[-1] if values.ndim else 0
    if n < 1 or not 1 <= subsets <= n:
        raise OptionError(f"subsets must lie between 1 and the number of rows, {n}.")
    if not np.isfinite(values).all():
        raise OptionError("y has missing or infinite values; drop or bound them first.")
    starts = np.arange(subsets) * n // subsets
    if arm is None:
        return _variance_of_mean(values, np.ones_like(values), starts)
    second = np.asarray(arm, dtype=float)
    if second.shape != values.shape or not np.isin(second, (0.0, 1.0)).all():
        raise OptionError("arm has a 0 or a 1 for every value of y.")
    one = _variance_of_mean(values, second, starts)
    two = _variance_of_mean(values, 1.0 - second, starts)
    sizes = np.add.reduceat(second, starts, axis=-1)
    whole = np.diff(np.append(starts, n))
    return np.asarray(np.where((sizes >= 2) & (whole - sizes >= 2), one + two, 0.0))


def _variance_of_mean(values: Floats, weight: Floats, starts: NDArray[np.intp]) -> Floats:
    size = np.add.reduceat(weight, starts, axis=-1)
    total = np.add.reduceat(weight * values, starts, axis=-1)
    square = np.add.reduceat(weight * values * values, starts, axis=-1)
    some = np.maximum(size, 2.0)
    spread = np.maximum(square - total * total / some, 0.0) / (some - 1.0)
    return np.asarray(np.where(size >= 2, spread / some, 0.0))


def bin_odds(v: ArrayLike, ceiling: float, epsilon: float) -> tuple[Floats, NDArray[np.int64]]:
    """Return the probability of each dyadic bin, and the bins' exponents j.

    Parameters
    ----------
    v : array_like, shape (..., M)
        One value for each subset.
    ceiling : float
        The largest value that the public bounds allow; larger ones count in the top bin, the tiniest in the bottom one.
    epsilon : float
        What the choice costs.

    Returns
    -------
    (ndarray of shape (..., bins), ndarray of shape (bins,))
    """
    values = np.asarray(v, dtype=float)
    if not (ceiling > 0 and epsilon > 0):
        raise OptionError("ceiling and epsilon must be above 0.")
    top = floor(log2(ceiling))
    exponents = np.arange(top - _DEEPEST, top + 1)
    place = np.frexp(values)[1] - 1 - exponents[0]
    place = np.clip(np.where(values > 0, place, 0), 0, len(exponents) - 1)
    counts = (place[..., None, :] == np.arange(len(exponents))[:, None]).sum(axis=-1)
    weight = np.exp(epsilon / 2 * (counts - counts.max(axis=-1, keepdims=True)))
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True)), exponents


def dyadic_standard_error(
    v: ArrayLike, ceiling: float, epsilon: float, rng: np.random.Generator, *, choice: float = 0.5
) -> Floats:
    """Return private standard errors of the statistic on all rows, by dyadic bins; 0 where the noise went below it.

    Parameters
    ----------
    v : array_like, shape (..., M)
        From :func:`subset_variances`. M of at least 50/ε keeps standard errors of 0 rare.
    ceiling : float
        The largest value that the public bounds allow, for example (upper - lower)²/4 for one mean.
    epsilon : float
        The whole loss, change-one.
    rng : numpy.random.Generator
        Source of the noise.
    choice : float
        Share of ε that chooses the bin.

    Examples
    --------
    >>> v = subset_variances(np.tile([0.4, 0.6], 1000), 100)
    >>> round(float(dyadic_standard_error(v, 0.25, 1000.0, np.random.default_rng(0))), 4)
    0.0023
    """
    values = np.asarray(v, dtype=float)
    if not 0 < choice < 1:
        raise OptionError("choice is a share of epsilon, between 0 and 1.")
    odds, exponents = bin_odds(values, ceiling, choice * epsilon)
    chosen = (np.cumsum(odds, axis=-1) < rng.random((*odds.shape[:-1], 1))).sum(axis=-1)
    upper = np.exp2(exponents[np.minimum(chosen, len(exponents) - 1)] + 2.0)
    average = np.clip(values, 0.0, upper[..., None]).mean(axis=-1)
    size = values.shape[-1]
    noisy = average + rng.laplace(0.0, upper / (size * (1 - choice) * epsilon))
    return np.asarray(np.sqrt(np.maximum(noisy, 0.0) / size))


def gap_odds(ordered: Floats, share: float, epsilon: float) -> Floats:
    """Return the probability of each gap between ordered values, ends included, for a private quantile.

    Parameters
    ----------
    ordered : ndarray, shape (..., M + 2)
        Public lower end, the M values in order, public upper end.
    share : float
        Which quantile.
    epsilon : float
        What the choice costs: the weight of gap i is its width times ``exp(-(ε/2)|i - share·M|)``.
    """
    size = ordered.shape[-1] - 2
    rank = np.abs(np.arange(size + 1) - share * size)
    with np.errstate(divide="ignore"):
        exponent = np.log(np.diff(ordered, axis=-1)) - epsilon / 2 * rank
    weight = np.exp(exponent - exponent.max(axis=-1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True))


def winsorized_standard_error(
    v: ArrayLike, ceiling: float, epsilon: float, rng: np.random.Generator
) -> Floats:
    """Return private standard errors by the corrected Winsorized mean; noisier than the dyadic one, kept for comparison.

    Parameters
    ----------
    v : array_like, shape (..., M)
        From :func:`subset_variances`; their roots are what is averaged.
    ceiling : float
        The largest value that the public bounds allow.
    epsilon : float
        The whole loss, change-one.
    rng : numpy.random.Generator
        Source of the noise.

    Returns
    -------
    ndarray, shape (...)
        May be negative, as the published one.
    """
    if not (ceiling > 0 and epsilon > 0):
        raise OptionError("ceiling and epsilon must be above 0.")
    errors = np.sqrt(np.clip(np.asarray(v, dtype=float), 0.0, ceiling))
    ends = np.zeros((*errors.shape[:-1], 1))
    ordered = np.concatenate([ends, np.sort(errors, axis=-1), ends + ceiling**0.5], axis=-1)
    first, second = (_drawn(ordered, share, epsilon / 4, rng) for share in (0.25, 0.75))
    middle, reach = (first + second) / 2, 2 * np.abs(first - second)
    kept = np.clip(errors, (middle - reach)[..., None], (middle + reach)[..., None])
    size = errors.shape[-1]
    noise = rng.laplace(0.0, 2 * (2 * reach) / (size * epsilon))
    return np.asarray((kept.mean(axis=-1) + noise) / size**0.5)


def _drawn(ordered: Floats, share: float, epsilon: float, rng: np.random.Generator) -> Floats:
    odds = gap_odds(ordered, share, epsilon)
    place = (np.cumsum(odds, axis=-1) < rng.random((*odds.shape[:-1], 1))).sum(axis=-1, keepdims=True)
    place = np.minimum(place, odds.shape[-1] - 1)
    low = np.take_along_axis(ordered, place, -1)
    high = np.take_along_axis(ordered, place + 1, -1)
    return np.asarray((low + (high - low) * rng.random(low.shape))[..., 0])
