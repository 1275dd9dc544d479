r"""What a private bootstrap provably costs: the (ε, δ) of k noised resamples, and the noise that a target needs.

A resample of ``N`` rows holds one row ``r`` times, ``r`` binomial (N, 1/N). Gaussian noise that makes one copy μ-Gaussian DP
makes ``r`` copies rμ-Gaussian DP; the resample as a whole has, by advanced joint convexity over the common part ``r = 0`` of
probability :math:`1-η = (1-1/N)^N`, the privacy profile [1]_

.. math:: δ(\log(1+η(e^ε-1))) ≤ \sum_{r≥1} \binom{N}{r} N^{-r} (1-1/N)^{N-r} δ_{rμ}(ε),

and ``k`` resamples the k-fold composition of the pair that this profile dominates [3]_, computed on a grid with every rounding
to the safe side up to floating point (about 10⁻¹²). Nothing is assumed about the statistic but its sensitivity.

The published charge, "the bootstrap is ρ-zCDP, for free" [2]_, is false for every k: see :func:`resampling_delta` at
``inflation=1``. These are displays and calibration for simulated data. **No ledger uses them, and no bootstrap runs on protected
data**: a mean with its second moment is proven in every measure, and tighter.

References
----------
.. [1] Balle, Barthe and Gaboardi (2018), "Privacy Amplification by Subsampling", Theorem 10.
.. [2] Brawner and Honaker (2018), "Bootstrap Inference and Differential Privacy: Standard Errors for Free", Remark 3.
.. [3] :mod:`dpnb.risk.loss_distribution`.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, exp, log1p, sqrt
from typing import TYPE_CHECKING

from dpnb.errors import LossError
from dpnb.risk.loss_distribution import LossDistribution, dominating

if TYPE_CHECKING:
    import numpy as np


def multiplicities(n: int, negligible: float = 1e-18) -> list[float]:
    """Return how probable it is that a resample of `n` rows holds a given row 0, 1, 2, … times.

    Parameters
    ----------
    n : int
        Number of rows, at least 1; public.
    negligible : float
        Where the remaining probability falls below this the list ends.

    Examples
    --------
    >>> [round(p, 3) for p in multiplicities(500)[:4]]
    [0.368, 0.368, 0.184, 0.061]
    """
    _whole(n, "n")
    if n == 1:
        return [0.0, 1.0]
    found = [exp(n * log1p(-1 / n))]
    for r in range(n):
        found.append(found[-1] * (n - r) / ((r + 1) * (n - 1)))
        if found[-1] < negligible:
            break
    return found


def resampling_profile(mu: float, n: int, epsilon: np.ndarray) -> np.ndarray:
    """Return δ at each ε ≥ 0 of one resample whose noise makes one copy of a row μ-Gaussian DP [1]_.

    Parameters
    ----------
    mu : float
        Sensitivity of the statistic to one row over the standard deviation of the noise.
    n : int
        Number of rows.
    epsilon : ndarray
        Not below 0.
    """
    import numpy as np

    odds = multiplicities(n)
    eta = 1.0 - odds[0]
    inner = epsilon - np.log(eta) + np.log1p(-odds[0] * np.exp(-epsilon))
    rest = odds[-1] if len(odds) <= n else 0.0
    parts = (p * _gaussian(r * mu, inner) for r, p in enumerate(odds) if r)
    return np.minimum(sum(parts, np.full(np.shape(epsilon), rest)), eta)


def _gaussian(mu: float, epsilon: np.ndarray) -> np.ndarray:
    import numpy as np
    from scipy.special import log_ndtr

    first = np.exp(log_ndtr(mu / 2 - epsilon / mu))
    return np.asarray(np.maximum(first - np.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu)), 0.0))


def claimed_mu(rho: float) -> float:
    """Return the μ of Gaussian DP that "ρ-zCDP by Gaussian noise" stands for: √(2ρ)."""
    return sqrt(2 * _above(rho, "rho"))


@lru_cache(maxsize=16)
def _composed(mu: float, n: int, k: int) -> LossDistribution:
    return dominating(lambda epsilon: resampling_profile(mu, n, epsilon)).times(k)


def _release(rho: float, k: int, n: int, inflation: float) -> LossDistribution:
    _whole(k, "k")
    _whole(n, "n")
    return _composed(claimed_mu(rho) / sqrt(k) / _above(inflation, "inflation"), n, k)


def resampling_delta(epsilon: float, rho: float, k: int, n: int, inflation: float = 1.0) -> float:
    """Return a δ at which k noised resamples are together (ε, δ)-DP, change-one.

    Parameters
    ----------
    epsilon : float
        At least 0.
    rho : float
        What the resamples are calibrated to: each gets noise of variance ``inflation² Δ² k / 2ρ``.
    k, n : int
        Number of resamples, and the public number of rows.
    inflation : float
        Factor on the standard deviation of the noise; 1 is the published mechanism.

    Examples
    --------
    >>> resampling_delta(4.887, 0.5, 50, 500) > 1e-4  # and not 10⁻⁶, as one Gaussian release of ρ = 0.5
    True
    """
    if not epsilon >= 0:
        raise LossError("epsilon must be at least 0.")
    return min(_release(rho, k, n, inflation).delta(epsilon), 1.0)


def resampling_epsilon(delta: float, rho: float, k: int, n: int, inflation: float = 1.0) -> float:
    """Return an ε at which k noised resamples are together (ε, δ)-DP, rounded up to 10⁻⁶; see :func:`resampling_delta`.

    Examples
    --------
    >>> round(resampling_epsilon(1e-6, 0.5, 50, 500), 1)
    6.7
    """
    found = _release(rho, k, n, inflation)
    wanted = _proper(delta)
    if found.infinite > wanted:
        raise LossError(
            f"delta {delta:g} is below what this computation can resolve. Use a delta above 1e-10."
        )
    return ceil(found.epsilon(wanted) * 1e6) / 1e6


@lru_cache(maxsize=256)
def inflation_for(epsilon: float, delta: float, rho: float, k: int, n: int) -> float:
    """Return the factor c(k) on the noise for which k resamples are provably (ε, δ)-DP, rounded up to three digits.

    Parameters
    ----------
    epsilon, delta : float
        The promise.
    rho : float
        What the published mechanism would call the cost; its noise is multiplied.
    k, n : int
        Number of resamples, and the public number of rows.

    Examples
    --------
    The promise of one Gaussian release at ρ = 0.5:

    >>> inflation_for(4.8872, 1e-6, 0.5, 50, 500)
    1.292
    """
    wanted = _proper(delta)
    low, high = 0, 1000
    while resampling_delta(epsilon, rho, k, n, high / 1000) > wanted:
        low, high = high, 2 * high
        if high > 10**7:
            raise LossError("No useful noise keeps this promise. Raise epsilon or delta.")
    while high - low > 1:
        middle = (low + high) // 2
        kept = resampling_delta(epsilon, rho, k, n, middle / 1000) <= wanted
        low, high = (low, middle) if kept else (middle, high)
    return high / 1000


def _above(value: float, name: str) -> float:
    if not value > 0:
        raise LossError(f"{name} must be above 0, not {value}.")
    return float(value)


def _proper(delta: float) -> float:
    if not 0 < delta < 1:
        raise LossError("delta must be above 0 and below 1. Write for example delta=1e-6.")
    return float(delta)


def _whole(value: int, name: str) -> None:
    if int(value) != value or value < 1:
        raise LossError(f"{name} must be a whole number, at least 1.")
