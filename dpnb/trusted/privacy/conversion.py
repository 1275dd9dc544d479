r"""From ε to ρ: what a pure mechanism costs in a ρ ledger, certified upwards.

**Any ε-DP mechanism is** :math:`ε\tanh(ε/2)`-**zCDP.** Its neighbouring laws are a post-processing of randomised response [1]_,
:math:`P = (p, 1-p), Q = (1-p, p)` with :math:`p = e^ε/(1+e^ε)`, and Rényi divergences only fall under post-processing. With
:math:`h = ε/2` and :math:`u = 2α - 1`, summing the two outcomes gives

.. math:: D_α/α = \frac{4}{u^2-1}\log\frac{\cosh uh}{\cosh h} = \frac{4}{u^2-1}\int_1^u h\tanh(th)\,dt
          ≤ \frac{4}{u^2-1}\int_1^u t\,h\tanh(h)\,dt = ε\tanh(ε/2),

since tanh is concave on [0, ∞) and zero at 0: :math:`\tanh(th) ≤ t\tanh h` for t ≥ 1. The bound is the limit α → 1 and is attained.

**One discrete Laplace entry** of scale b, shifted by s steps, costs with x = 1/b and ε = sx

.. math:: K(ε, x) = ε - (1 - e^{-ε})\,\frac{x}{\sinh x},

its Kullback-Leibler divergence: :math:`\tanh(x/2)\,x` for one step, :math:`ε - 1 + e^{-ε}` on ever finer grids. *Proof* that no order is
worse. Let :math:`q = e^{-x}` and y = ux/2. Summing :math:`\sqrt{PQ}(P/Q)^{u/2}` over the outcomes left of, between and right of the two centres,

.. math:: e^{(α-1)D_α} ∝ M(y) = \frac{\sinh((s+1)y) - q\sinh((s-1)y)}{\sinh y} = U_s(\cosh y) - q\,U_{s-2}(\cosh y)

with Chebyshev polynomials of the second kind. At y = iθ the numerator is the imaginary part of :math:`w^{s-1}(w^2 - q)`, :math:`w = e^{iθ}`: all
s + 1 zeros of that polynomial lie inside the unit circle, so that its argument rises by 2π(s + 1) along it, and its imaginary part
vanishes 2(s + 1) times, at 0 and π and s times between. So all s zeros :math:`\cos θ_k` of the polynomial in cosh y are real and inside (-1, 1), and
:math:`M(y) ∝ ∏_k (\cosh y - \cos θ_k)`. Each factor is :math:`2\sin^2(θ_k/2)∏_n(1 + y^2/(θ_k + 2πn)^2)`: log M is a **concave** function of
:math:`v = y^2`. Therefore :math:`(α-1)D_α = \log M(y) - \log M(x/2) ≤ (y^2 - x^2/4)\,\frac{d\log M}{dv}(x/2)`, where :math:`y^2 - x^2/4 = α(α-1)x^2` and
the slope at α = 1 is :math:`K/x^2`: :math:`D_α ≤ αK`, with equality as α → 1. ∎

**Vectors.** For every α, with :math:`r = q^{u}`, :math:`(α-1)D_α(s) = \log(A e^{(α-1)sx} + B e^{-αsx})`, where :math:`A = \frac{1-qr}{(1-r)(1+q)}` and
:math:`B = \frac{q-r}{(1-r)(1+q)}` are at least 0 and add to 1: a logarithm of a sum of exponentials, convex in s, and zero at s = 0. A convex function that is zero at 0 is
superadditive, so entries of one scale never exceed one entry that takes the whole L1; K is convex and superadditive in s too, and
rises in s and in x. Entries of different scales are independent: their divergences add, and so do their K. Where a unit has several
rows the shifts of the rows add; a sum of convex functions is largest at a corner, where all rows make the same move.

**A mechanism of bounded range ε** (the exponential mechanism, and it alone) is ε²/8-zCDP [2]_, and ε-DP.

The tight values of all three are known too from [3]_.

References
----------
.. [1] Kairouz, Oh and Viswanath (2015), *The composition theorem for differential privacy*.
.. [2] Cesar and Rogers (2021), *Bounding, concentrating, and truncating*.
.. [3] Harrison and Manurangsi (2025), *Exact zCDP characterizations for fundamental differentially private mechanisms*.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from dpnb.trusted.privacy.loss import LEAST_EXPONENT, MOST_EXPONENT

_EXACT = Context(prec=50, Emin=LEAST_EXPONENT, Emax=MOST_EXPONENT)
_UP = Context(prec=15, rounding=ROUND_CEILING, Emin=LEAST_EXPONENT, Emax=MOST_EXPONENT)
_GUARD, _LEAST = Decimal("1e-34"), Decimal("1e-48")
_FAR, _NEAR = Fraction(200), Fraction(1, 10**12)


@lru_cache(maxsize=4096)
def pure_rho(epsilon: Fraction) -> Fraction:
    """Return a ρ of any ε-DP mechanism: ε·tanh(ε/2), rounded up to fifteen digits; at most ε²/2.

    Parameters
    ----------
    epsilon : Fraction
        At least 0.

    Examples
    --------
    >>> float(pure_rho(Fraction(1))), float(pure_rho(Fraction(4)))
    (0.46211715726001, 3.85611032030327)
    """
    with localcontext(_EXACT):
        whole, power = decimal_of(epsilon), decimal_of(min(epsilon, _FAR)).exp()
        found = whole if epsilon > _FAR else whole * (power - 1) / (power + 1)
        return min(_raised(found, whole), epsilon**2 / 2)


@lru_cache(maxsize=4096)
def laplace_rho(shift: Fraction, scale: Fraction) -> Fraction:
    """Return the ρ of discrete Laplace noise on entries that move by at most `shift` steps in L1, rounded up to fifteen digits.

    Parameters
    ----------
    shift : Fraction
        At least 0, in grid steps.
    scale : Fraction
        Above 0, in grid steps.

    Examples
    --------
    >>> [round(float(laplace_rho(Fraction(s), Fraction(s))), 4) for s in (1, 2, 5, 50)]
    [0.4621, 0.3935, 0.3721, 0.3679]
    """
    epsilon = shift / scale
    with localcontext(_EXACT):
        whole = decimal_of(epsilon)
        fall = 1 - decimal_of(-min(epsilon, _FAR)).exp()
        return min(_raised(whole - fall * _over_sinh(1 / scale), whole), epsilon**2 / 2)


def _over_sinh(x: Fraction) -> Decimal:
    """x/sinh x in the precision of the context, or less."""
    if x > _FAR:
        return Decimal(0)
    if x < _NEAR:
        return 1 - decimal_of(x) ** 2 / 6
    power = decimal_of(x).exp()
    return 2 * decimal_of(x) / (power - 1 / power)


def _raised(value: Decimal, epsilon: Decimal) -> Fraction:
    """Round up to fifteen digits, after adding more than the fifty digits of the arithmetic can have lost.

    Every operation is rounded correctly, to a part in 10⁵⁰. Only two lose digits: sinh x at most the twelve of the smallest x, so that what
    is taken from ε, and is at most ε, is wrong by less than a part in 10³⁷; and 1 - e^-ε, where it is wrong by less than 10⁻⁴⁸ however
    small ε is.
    """
    return Fraction(_UP.plus(value + _GUARD * epsilon + _LEAST))


def exponential_rho(epsilon: Fraction) -> Fraction:
    """Return a ρ of the exponential mechanism, and of it alone: the lesser of ε²/8 and ε·tanh(ε/2).

    Examples
    --------
    >>> exponential_rho(Fraction(1)), float(exponential_rho(Fraction(20))) < 20
    (Fraction(1, 8), True)
    """
    return min(epsilon**2 / 8, pure_rho(epsilon))


def decimal_of(x: Fraction) -> Decimal:
    """Return a rational in the precision of the context."""
    return Decimal(x.numerator) / Decimal(x.denominator)
