r"""Gaussian privacy curves: δ as a function of ε, and back, each rounded to the safe side.

Two laws, kept apart. The *continuous* curve belongs to μ-Gaussian DP (a real-valued Gaussian with σ = Δ/μ) [1]_:

.. math:: δ(ε) = Φ(-ε/μ + μ/2) - e^ε Φ(-ε/μ - μ/2).

What dpnb releases is *discrete*, and its curve is another one [2]_: at σ = Δ = 1 the true δ can be more than twice the
continuous one, or far below it. :func:`discrete_gaussian_delta` computes it. These are displays; no ledger uses them.

References
----------
.. [1] Balle and Wang (2018), "Improving the Gaussian Mechanism for Differential Privacy", Theorem 8.
.. [2] Canonne, Kamath and Steinke (2020), "The Discrete Gaussian for Differential Privacy", Theorem 7.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import ceil, erfc, exp, expm1, floor, fsum, log, log1p, pi, sqrt

from dpnb.errors import LossError
from dpnb.trusted.privacy.loss import FINEST, brief, proper_delta, rational

Number = Fraction | str | float

_ULP = 2.0**-50
_WIDEST = 20_000.0


def gaussian_delta(mu: Number, epsilon: Number) -> float:
    """Return a δ such that μ-Gaussian DP implies (ε, δ)-DP, not below the exact one.

    Examples
    --------
    >>> round(gaussian_delta(1, 1), 4)
    0.1269
    """
    m, e = float(_above(mu, "mu")), float(non_negative(epsilon))
    return _gaussian_delta(m, e)


def gaussian_epsilon(mu: Number, delta: Number) -> Fraction:
    """Return an ε such that μ-Gaussian DP implies (ε, δ)-DP, rounded up to a multiple of 10⁻⁹.

    Examples
    --------
    >>> round(float(gaussian_epsilon(1, "1e-6")), 3)  # ρ = μ²/2 = 0.5; through zCDP it would be 5.222
    4.887
    """
    m, d = float(_above(mu, "mu")), float(proper_delta(delta))
    return _least(lambda e: _gaussian_delta(m, e) <= d)


def gaussian_mu(epsilon: Number, delta: Number) -> Fraction:
    """Return a μ for which μ-Gaussian DP implies (ε, δ)-DP, rounded down: the inverse of :func:`gaussian_epsilon`.

    Examples
    --------
    >>> round(float(gaussian_mu(1, "1e-6")), 4)
    0.2367
    """
    e, d = float(non_negative(epsilon)), float(proper_delta(delta))
    low, high = Fraction(0), Fraction(1)
    while _gaussian_delta(float(high), e) <= d:
        low, high = high, 2 * high
    while (high - low) * FINEST > 1:
        middle = (low + high) / 2
        low, high = (middle, high) if _gaussian_delta(float(middle), e) <= d else (low, middle)
    mu = Fraction(floor(low * FINEST), FINEST)
    if mu == 0:
        raise LossError(
            "This epsilon and delta leave less than the smallest μ, 1e-09. Raise epsilon or delta."
        )
    return mu


def analytic_gaussian_sigma(sensitivity: Number, epsilon: Number, delta: Number) -> Fraction:
    """Return the standard deviation of the analytic Gaussian mechanism, rounded up [1]_. For real-valued noise only.

    Examples
    --------
    >>> round(float(analytic_gaussian_sigma(1, 1, "1e-6")), 3)
    4.225
    """
    size = _above(sensitivity, "sensitivity")
    return Fraction(ceil(size / gaussian_mu(epsilon, delta) * FINEST), FINEST)


def discrete_gaussian_delta(variance: Number, epsilon: Number, sensitivity: int = 1) -> float:
    r"""Return the δ at ε of discrete Gaussian noise on one integer, not below the exact one [2]_.

    .. math:: δ(ε) = \sum_k \max(0, p(k) - e^ε p(k + Δ)), \quad p(k) ∝ e^{-k²/2σ²}

    summed over its positive terms, so that nothing cancels.

    Parameters
    ----------
    variance : number
        The parameter σ², in squared grid steps; σ at most 20,000.
    epsilon : number
        At least 0.
    sensitivity : int
        Largest change of the integer between neighbours, in grid steps.

    Examples
    --------
    >>> discrete_gaussian_delta(1, 3) > 1.1 * gaussian_delta(1, 3)
    True
    """
    v, e = _above(variance, "variance"), float(non_negative(epsilon))
    step = _above(sensitivity, "sensitivity")
    if step.denominator != 1:
        raise LossError("sensitivity must be a whole number of grid steps.")
    if v > _WIDEST**2:
        raise LossError(
            "This noise is wider than 20,000 grid steps. Use epsilon_of(rho, delta): it holds for discrete noise too."
        )
    return _discrete_delta(float(v), e, int(step))


def discrete_gaussian_epsilon(variance: Number, delta: Number, sensitivity: int = 1) -> Fraction:
    """Return an ε such that discrete Gaussian noise on one integer is (ε, δ)-DP, rounded up.

    Examples
    --------
    >>> round(float(discrete_gaussian_epsilon(1, "1e-3")), 3), round(float(gaussian_epsilon(1, "1e-3")), 3)
    (3.272, 3.139)
    """
    d = float(proper_delta(delta))
    return _least(lambda e: discrete_gaussian_delta(variance, e, sensitivity) <= d)


def _least(holds: Callable[[float], bool]) -> Fraction:
    """Return a multiple of 10⁻⁹ at which a condition that stays true once true has been seen to hold."""
    if holds(0.0):
        return Fraction(0)
    low, high = 0, FINEST
    while not holds(high / FINEST):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle / FINEST) else (middle, high)
    return Fraction(high, FINEST)


def _gaussian_delta(mu: float, epsilon: float) -> float:
    a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    first, second = _log_upper(a), epsilon + _log_upper(b)
    if first < -740.0:
        return 1e-300
    error = _ULP * (8 + a * a + b * b + epsilon)
    plus = exp(first) * (1 + error)
    minus = exp(min(second, first)) * max(1 - error, 0.0)
    return min(max(plus - minus, 0.0) + 1e-300, 1.0)


def _log_upper(x: float) -> float:
    """Return ``log Φ(-x)``."""
    if x < 25.0:
        return log(0.5 * erfc(x / sqrt(2.0)))
    term, series = 1.0, 0.0
    for k in range(1, 13):
        term *= -(2 * k - 1) / (x * x)
        series += term
    return -0.5 * x * x - log(x * sqrt(2.0 * pi)) + log1p(series)


def _discrete_delta(variance: float, epsilon: float, step: int) -> float:
    sigma = sqrt(variance)
    reach = ceil(40.0 * sigma) + 1
    total = 1.0 + 2.0 * fsum(exp(-k * k / (2 * variance)) for k in range(1, reach + 1))
    start = floor(epsilon * variance / step - step / 2) - 1
    terms = []
    for k in range(max(start, -reach), reach + 1):
        gap = epsilon - step * (2 * k + step) / (2 * variance)
        if gap < 0:
            terms.append(-exp(-k * k / (2 * variance)) * expm1(gap))
    return min(fsum(terms) / total * (1 + 1e-11) + 1e-300, 1.0)


def _above(value: Number, name: str) -> Fraction:
    number = rational(value, name=name)
    if number <= 0:
        raise LossError(f"{name} must be above 0, not {brief(number)}.")
    return number


def non_negative(value: str | float | Decimal | Fraction, *, name: str = "epsilon") -> Fraction:
    """Read a number exactly that is at least 0."""
    number = rational(value, name=name)
    if number < 0:
        raise LossError(f"{name} must be at least 0.")
    return number
