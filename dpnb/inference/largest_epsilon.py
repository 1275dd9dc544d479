"""The largest ε that a ρ buys, downwards: what a plan asks of a pure mechanism whose charge is counted in ρ."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import floor, isqrt, sqrt, tanh

from dpnb.trusted.privacy.conversion import pure_rho

_FINEST = 10**6
"""Solved ε are multiples of one millionth."""


@lru_cache(maxsize=4096)
def pure_epsilon(rho: Fraction) -> Fraction:
    """Return the largest ε, in millionths, whose :func:`~dpnb.trusted.privacy.conversion.pure_rho` is at most `rho`.

    Examples
    --------
    >>> pure_epsilon(Fraction(1, 2))
    Fraction(521813, 500000)
    """
    return largest_epsilon(rho, pure_rho, lambda epsilon: epsilon * tanh(epsilon / 2))


@lru_cache(maxsize=4096)
def exponential_epsilon(rho: Fraction) -> Fraction:
    """Return the largest ε, in millionths, whose :func:`~dpnb.trusted.privacy.conversion.exponential_rho` is at most `rho`.

    Examples
    --------
    >>> exponential_epsilon(Fraction(1, 8)), exponential_epsilon(Fraction(20)) == 20
    (Fraction(1, 1), True)
    """
    bounded = isqrt(floor(8 * rho * _FINEST**2))
    return max(Fraction(bounded, _FINEST), pure_epsilon(rho))


def largest_epsilon(
    rho: Fraction, charge: Callable[[Fraction], Fraction], near: Callable[[float], float]
) -> Fraction:
    """Return an ε in millionths that `charge` puts at `rho` or less, and the next one above `rho`.

    Parameters
    ----------
    rho : Fraction
        What may be spent.
    charge : callable
        The exact charge of an ε: rising, and at most ε²/2.
    near : callable
        About the same in floating point: it finds the place, and decides nothing.
    """
    low, high = sqrt(2 * float(rho)), max(4.0, 4 * float(rho), 4 * sqrt(2 * float(rho)))
    while near(high) < rho:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if near(middle) <= rho else (low, middle)
    return Fraction(
        _settled(floor(low * _FINEST), lambda millionths: charge(Fraction(millionths, _FINEST)) <= rho),
        _FINEST,
    )


def _settled(place: int, fits: Callable[[int], bool]) -> int:
    """Return the last whole number that fits, from one nearby; 0 always fits."""
    step = 1
    while place > 0 and not fits(place):
        place, step = max(place - step, 0), 2 * step
    while fits(place + step):
        place, step = place + step, 2 * step
    while step > 1:
        step = (step + 1) // 2 if step > 2 else 1
        place = place + step if fits(place + step) else place
    return place
