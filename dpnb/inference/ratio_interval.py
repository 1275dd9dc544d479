r"""Intervals for a ratio of two noised numbers in closed form, many at once: the roots of a quadratic (Fieller).

A candidate x of the ratio of P to N is accepted where :math:`|P - xN| ≤ s + \sqrt{q_0 + q_1x + q_2x^2}`, a critical value times the
standard deviation of the residual plus a slack. Where noise leaves N unclear the accepted set is unbounded and the public range
is returned. :func:`critical` is the critical value of any weighted sum of independent Laplace and Gaussian errors: such a sum is a
scale mixture of Gaussians, and at every level its standardised quantile is at most the larger of the normal and the
Laplace one (equal at 90.7 %, where a mixture exceeds both by less than 0.1 %, which is added; tests hold it against the exact law).
"""

from __future__ import annotations

import math

import numpy as np

from dpnb.inference.elementwise import Floats, Number, Truth
from dpnb.inference.spread import normal_quantile

_SAFE = 1.001


def critical(alpha: float, *, laplace: bool) -> float:
    """Return t with ``P(|error| > t · sd) ≤ alpha`` for a sum of independent errors.

    Parameters
    ----------
    alpha : float
        Two-sided error.
    laplace : bool
        Whether Laplace errors may be among them.
    """
    z = normal_quantile(1 - alpha / 2)
    return _SAFE * max(z, -math.log(alpha) / math.sqrt(2)) if laplace else z


def accepted_ratio(
    total: Number,
    size: Number,
    spread: tuple[Number, Number, Number],
    slack: float,
    domain: tuple[float, float],
    *,
    lost: Truth = False,
) -> tuple[np.ndarray, Floats]:
    """Return the ends of the accepted ratios ``total / size``, cut to the domain; a ratio beyond it is first moved there.

    Parameters
    ----------
    total, size : float or ndarray
        Noised numerator and denominator.
    spread : (q0, q1, q2)
        The squared radius of ``total - x · size`` at a candidate x, as a polynomial in x.
    slack : float
        What is added to the radius, in units of the numerator.
    domain : (float, float)
        Public range of the ratio.
    lost : bool or ndarray
        Where nothing is known, so that all of the domain is accepted.

    References
    ----------
    Fieller, *Some problems in interval estimation* (1954).
    """
    ends = np.multiply(domain[0], size), np.multiply(domain[1], size)
    total = np.clip(total, np.minimum(*ends), np.maximum(*ends))
    low = _root(total - slack, size, spread, -1, domain)
    high = _root(total + slack, size, spread, +1, domain)
    return np.where(lost, domain[0], low), np.where(lost, domain[1], high)


def _root(
    total: Number, size: Number, spread: tuple[Number, Number, Number], side: int, domain: tuple[float, float]
) -> Floats:
    constant, linear, square = spread
    size, lead = np.asarray(size, dtype=float), size**2 - square
    middle = total * size + linear / 2
    inside = middle**2 - lead * (total**2 - constant)
    clear = (lead > 0) & (size > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        bare = total / size
        root = (middle + side * np.sqrt(np.maximum(inside, 0.0))) / lead
        found = np.where(inside >= 0, root, bare)
    found = np.where(clear, found, domain[0] if side < 0 else domain[1])
    return np.clip(found, *domain)
