r"""Rényi curves: a mechanism's loss at every order, which add up over releases and turn into (ε, δ).

A curve R says that the Rényi divergence of order α between neighbours is at most R(α). Independent (also adaptive) releases add
their curves. For every order,

.. math:: ε(δ) = \min_{α>1} R(α) + \ln\frac{α-1}{α} - \frac{\ln δ + \ln α}{α-1}.

*Proofs.* Laplace and randomised response: the integral, respectively the sum, of :math:`p^α q^{1-α}`, written down. Gaussian:
completing the square gives αρ with ρ = Δ²/(2σ²). Composition: the divergence of a product is the sum. Conversion: [2]_. ∎ The
minimum is taken over a grid of orders; each order alone gives a valid ε, so that the grid costs accuracy and never privacy.

References
----------
.. [1] Mironov (2017), "Rényi Differential Privacy", Propositions 5 to 7.
.. [2] Canonne, Kamath and Steinke (2020), "The Discrete Gaussian for Differential Privacy", Proposition 12.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from dpnb.errors import OptionError
from dpnb.lessons.arguments import Floats, amount_of, delta_of, loss_of, numbers

ORDERS = 1 + np.geomspace(1e-3, 1e4, 2000)
"""Orders over which an ε is minimised."""


@dataclass(frozen=True, slots=True)
class RenyiCurve:
    """The loss of a mechanism at every order above 1; curves add with ``+``, and ``n * curve`` is n releases.

    Parameters
    ----------
    name : str
    at : callable
        From orders, an array above 1, to divergences.
    """

    name: str
    at: Callable[[Floats], Floats]

    def __call__(self, orders: ArrayLike) -> Floats:
        """Return the divergence at each order; an order is above 1, otherwise OptionError."""
        asked = numbers(np.atleast_1d(np.asarray(orders, dtype=np.float64)), "orders")
        if (asked <= 1).any():
            raise OptionError("orders are above 1: [2, 4, 8].")
        return self.at(asked)

    def __add__(self, other: RenyiCurve) -> RenyiCurve:
        return RenyiCurve(f"{self.name} + {other.name}", lambda orders: self.at(orders) + other.at(orders))

    def __rmul__(self, count: int) -> RenyiCurve:
        times = amount_of(count, "count")
        return RenyiCurve(f"{count} × {self.name}", lambda orders: times * self.at(orders))

    def epsilon(self, delta: float) -> float:
        """Return the least ε at δ over :data:`ORDERS`, at least 0."""
        wanted = np.log(delta_of(delta))
        gain = np.log1p(-1 / ORDERS) - (wanted + np.log(ORDERS)) / (ORDERS - 1)
        return max(0.0, float(np.min(self.at(ORDERS) + gain)))


def gaussian_curve(sigma: float, sensitivity: float = 1.0) -> RenyiCurve:
    """Return the curve of Gaussian noise of standard deviation σ: αΔ²/(2σ²).

    Examples
    --------
    >>> float(gaussian_curve(sigma=2)([4])[0])
    0.5
    """
    rho = (amount_of(sensitivity, "sensitivity") / amount_of(sigma, "sigma")) ** 2 / 2
    return RenyiCurve(f"Gaussian σ={sigma:g}", lambda orders: orders * rho)


def laplace_curve(scale: float, sensitivity: float = 1.0) -> RenyiCurve:
    r"""Return the curve of Laplace noise; with t = Δ/scale, :math:`\frac{1}{α-1}\ln(\frac{α e^{(α-1)t} + (α-1)e^{-αt}}{2α-1})`."""
    loss = amount_of(sensitivity, "sensitivity") / amount_of(scale, "scale")

    def at(orders: Floats) -> Floats:
        near = np.log(orders / (2 * orders - 1)) + (orders - 1) * loss
        far = np.log((orders - 1) / (2 * orders - 1)) - orders * loss
        return np.asarray(np.logaddexp(near, far) / (orders - 1))

    return RenyiCurve(f"Laplace scale={scale:g}", at)


def randomised_response_curve(epsilon: float) -> RenyiCurve:
    r"""Return the curve of binary randomised response: :math:`\frac{1}{α-1}\ln(p^α(1-p)^{1-α} + (1-p)^α p^{1-α})`."""
    loss = loss_of(epsilon)
    keep, flip = -np.logaddexp(0, -loss), -np.logaddexp(0, loss)

    def at(orders: Floats) -> Floats:
        ways = orders * keep + (1 - orders) * flip, orders * flip + (1 - orders) * keep
        return np.asarray(np.logaddexp(*ways) / (orders - 1))

    return RenyiCurve(f"randomised response ε={epsilon:g}", at)


def composed(curves: Iterable[RenyiCurve]) -> RenyiCurve:
    """Add the curves of several releases, at least one."""
    several = list(curves)
    if not several:
        raise OptionError("curves holds at least one curve: [gaussian_curve(2)].")
    return reduce(operator.add, several)
