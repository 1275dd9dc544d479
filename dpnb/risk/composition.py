r"""Composition as arithmetic: how a loss splits into equal shares, and what several add up to.

These are displays, previews and calibration. **No ledger uses them**: a ledger adds losses of one measure and nothing
else (:mod:`dpnb.trusted.privacy.accountant`). Every result that is not exact is rounded up, so that it stays a true statement.

References
----------
.. [1] Dwork, Rothblum and Vadhan (2010), "Boosting and Differential Privacy", Theorem III.3.
.. [2] Dong, Roth and Su (2022), "Gaussian Differential Privacy", Corollary 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil, isqrt

from dpnb.errors import LossError
from dpnb.risk.curves import non_negative
from dpnb.trusted.privacy.loss import (
    FINEST,
    PrivacyLoss,
    floored,
    proper_delta,
    rational,
)

Number = Fraction | str | float

_GUARD = Fraction(1, 10**40)


def equipartition(loss: PrivacyLoss, questions: int) -> PrivacyLoss:
    """Return the loss of each of `questions` equal shares; together they never exceed `loss`.

    Examples
    --------
    >>> str(equipartition(PrivacyLoss.pure(1), 4))
    'ε 0.25'
    """
    count = _count(questions, "questions")
    return PrivacyLoss(loss.measure, floored(loss.amount / count), loss.delta / count)


def advanced(epsilon: Number, questions: int, delta: Number) -> Fraction:
    r"""Return ε' such that `questions` adaptive ε-DP measurements are together (ε', δ)-DP.

    .. math:: ε' = \sqrt{2k \ln(1/δ)}\,ε + kε(e^ε - 1)

    or kε where that is smaller. Dwork, Rothblum and Vadhan's theorem [1]_, with its constant √2; rounded up.

    Examples
    --------
    >>> round(float(advanced("0.0134521", 100, "1e-6")), 3)
    0.725
    """
    e, k, d = non_negative(epsilon), _count(questions, "questions"), proper_delta(delta)
    if e > 100:
        return k * e
    bound = _upward(
        lambda: _dec(e) * ((2 * k * (1 / _dec(d)).ln()).sqrt() + k * (_dec(e).exp() - 1)),
    )
    return min(bound, k * e)


def compose_gaussian(mus: Iterable[Number]) -> Fraction:
    """Return the μ of several Gaussian-DP measurements with parameters fixed in advance: √Σμ², rounded up [2]_.

    Examples
    --------
    >>> compose_gaussian([3, 4])
    Fraction(5, 1)
    """
    squares = sum((rational(mu, name="mu") ** 2 for mu in mus), Fraction(0))
    root = Fraction(isqrt(squares.numerator * 10**40 // squares.denominator), 10**20)
    if root**2 == squares:
        return root
    return _upward(lambda: _dec(squares).sqrt())


def _upward(formula: Callable[[], Decimal]) -> Fraction:
    """Evaluate with 60 digits and round up to a multiple of 10⁻⁹."""
    with localcontext() as context:
        context.prec = 60
        value = Fraction(formula())
    return Fraction(ceil((value * (1 + _GUARD)) * FINEST), FINEST)


def _dec(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def _count(number: int, name: str) -> int:
    whole = rational(number, name=name)
    if whole.denominator != 1 or whole < 1:
        raise LossError(f"{name} must be a whole number, at least 1.")
    return int(whole)
