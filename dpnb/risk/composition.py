r"""Composition as arithmetic: how losses split, add, and what groups of people or disjoint cells cost.

These are displays, previews and calibration. **No ledger uses them**: a ledger adds losses of one measure and nothing
else (:mod:`dpnb.trusted.privacy.accountant`). Every result that is not exact is rounded up, so that it stays a true statement.

References
----------
.. [1] Dwork, Rothblum and Vadhan (2010), "Boosting and Differential Privacy", Theorem III.3.
.. [2] Bun and Steinke (2016), "Concentrated Differential Privacy", Proposition 1.9; :mod:`dpnb.trusted.privacy.conversion`.
.. [3] Dong, Roth and Su (2022), "Gaussian Differential Privacy", Corollary 2 and Theorem 5.
.. [4] Brawner and Honaker (2018), "Bootstrap Inference and Differential Privacy", equation 12.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import reduce
from math import ceil, isqrt
from operator import add
from statistics import NormalDist
from typing import Literal

from dpnb.errors import LossError
from dpnb.risk.losses import non_negative
from dpnb.trusted.privacy.conversion import pure_rho
from dpnb.trusted.privacy.loss import (
    FINEST,
    PrivacyLoss,
    brief,
    floored,
    proper_delta,
    rational,
)
from dpnb.trusted.privacy.measure import Measure

Adjacency = Literal["change-one", "add-remove"]
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


def sequential(losses: Iterable[PrivacyLoss]) -> PrivacyLoss:
    """Return what several measurements of the same people cost together: the sum.

    Raises
    ------
    LossError
        When there is none, or they are in different measures.
    """
    return reduce(add, _some(losses)).bounded()


def grouped(losses: Sequence[PrivacyLoss], adjacency: Adjacency) -> PrivacyLoss:
    """Return what one measurement on each of several disjoint cells costs, one loss for each cell.

    Parameters
    ----------
    losses : sequence of PrivacyLoss
        Each cell's loss when one person enters or leaves that cell (add-remove). All in one measure.
    adjacency : {"add-remove", "change-one"}
        What two neighbouring datasets may differ in.

    Returns
    -------
    PrivacyLoss
        Add-remove: the largest. Change-one: one person may change inside a cell, or leave one cell for another; both
        are two add-remove steps, so the largest ε twice, or the largest ρ four times.

    Raises
    ------
    LossError
        For change-one with a δ, which two steps do not double.

    Notes
    -----
    The sum of the two largest is enough only where a person is nothing but a member of a cell (a histogram of counts):
    a value that changes inside its cell costs two steps of that cell.

    Examples
    --------
    >>> str(grouped([PrivacyLoss.pure("0.5"), PrivacyLoss.pure("0.2")], "change-one"))
    'ε 1'
    """
    if adjacency not in {"add-remove", "change-one"}:
        raise LossError('adjacency is "add-remove" or "change-one".')
    cells = _some(losses)
    total = reduce(add, cells)  # refuses mixed measures
    largest = PrivacyLoss(
        total.measure, max(cell.amount for cell in cells), max(cell.delta for cell in cells)
    )
    return largest if adjacency == "add-remove" else group(largest, 2)


def group(loss: PrivacyLoss, people: int) -> PrivacyLoss:
    """Return the loss of `people` persons taken together: gε, or g²ρ [2]_.

    Raises
    ------
    LossError
        For more than one person with a δ: the pair (ρ, δ) has no such rule here.

    Examples
    --------
    >>> str(group(PrivacyLoss.pure(1), 3)), str(group(PrivacyLoss.zcdp(1), 3))
    ('ε 3', 'ρ 9')
    """
    size = _count(people, "people")
    if loss.delta and size > 1:
        raise LossError("A loss with δ has no group rule here. State the group's loss for a ρ without δ.")
    factor = size if loss.measure is Measure.PURE else size * size
    return PrivacyLoss(loss.measure, loss.amount * factor, loss.delta)


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


def advanced_as_published(epsilon: Number, questions: int, delta: Number) -> Fraction:
    r"""Return the total that the published rule :math:`ε_i = ε/\sqrt{k \ln(1/δ)}` claims [4]_. **It is not a bound.**

    The constant √2 is missing: for a claimed 0.5 with k = 100 and δ = 10⁻⁶, :func:`advanced` proves 0.725, and the
    exact composition of Laplace mechanisms is .536. Shown beside the correction; nothing is calibrated with it.

    Examples
    --------
    >>> round(float(advanced_as_published("0.0134521", 100, "1e-6")), 3)
    0.5
    """
    e, k, d = non_negative(epsilon), _count(questions, "questions"), proper_delta(delta)
    return _upward(lambda: _dec(e) * (k * (1 / _dec(d)).ln()).sqrt())


def zcdp_of_pure(epsilon: Number) -> Fraction:
    """Return the ρ = ε·tanh(ε/2) of an ε-DP measurement, rounded up; at most ε²/2 [2]_.

    Examples
    --------
    >>> round(float(zcdp_of_pure("0.5")), 5)
    0.12246
    """
    return pure_rho(non_negative(epsilon))


def gaussian_of_pure(epsilon: Number) -> Fraction:
    r"""Return a μ of Gaussian DP for an ε-DP measurement: :math:`-2Φ^{-1}(1/(1+e^ε))`, rounded up [3]_.

    An ε-DP pair is a function of one randomised answer; μ is the least for which the Gaussian curve lies below that
    answer's curve, at its corner.

    Examples
    --------
    >>> round(float(gaussian_of_pure(1)), 4)
    1.232
    """
    e = non_negative(epsilon)
    if e > 30:
        raise LossError(f"epsilon {brief(e)} is above 30, where no useful μ is known. Keep ε.")
    corner = float(1 / (1 + Fraction(_upward(lambda: _dec(e).exp()))))
    mu = -2 * NormalDist().inv_cdf(corner)
    return Fraction(ceil(Fraction(mu) * (1 + Fraction(1, 10**12)) * FINEST), FINEST)


def compose_gaussian(mus: Iterable[Number]) -> Fraction:
    """Return the μ of several Gaussian-DP measurements with parameters fixed in advance: √Σμ², rounded up [3]_.

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


def _some(losses: Iterable[PrivacyLoss]) -> list[PrivacyLoss]:
    found = list(losses)
    if not found:
        raise LossError("There is no loss to compose.")
    return found


def _count(number: int, name: str) -> int:
    whole = rational(number, name=name)
    if whole.denominator != 1 or whole < 1:
        raise LossError(f"{name} must be a whole number, at least 1.")
    return int(whole)
