r"""The law of a sum of independent Laplace and Gaussian errors, in closed form.

For distinct scales :math:`b_1, …, b_J` the sum of independent Laplace variables has the density of a signed mixture of
Laplace densities with weights :math:`A_j = \prod_{i≠j} b_j^2/(b_j^2-b_i^2)` (partial fractions of the characteristic
function :math:`\prod 1/(1+b_j^2ω^2)`), and adding a Gaussian turns every term into a Normal-Laplace law, whose tail is

.. math:: P(X>t) = Φ(-t/s) + ½\left[e^{s²/2b²-t/b}Φ(t/s-s/b) - e^{s²/2b²+t/b}Φ(-t/s-s/b)\right].

Equal scales are spread by two per cent at equal total variance. A discrete Laplace variable is stochastically smaller in
absolute value than a continuous one of the same scale plus half a grid step, so tails are read half a step further in:
the ``slack``. Tests hold the result against simulation of the discrete laws.

Variance, scales and slack may be arrays that broadcast together: many laws at once, as a simulation has them. Then the radius
is an array, and so is the tail of an array; the formulas are those of :mod:`dpnb.inference.mixture`.

References
----------
Reed, *The Normal-Laplace distribution and its relatives* (2006).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpnb.inference.elementwise import Floats, Number, greater, root
from dpnb.inference.mixture import MOST, NARROW, SPREAD, Mixture, mixture

_ROOT2 = math.sqrt(2.0)
_STEPS = 60


def log_ndtr(x: float) -> float:
    """Return ``log Φ(x)`` without underflow."""
    if x > -20.0:
        return math.log(0.5 * math.erfc(-x / _ROOT2))
    inverse = 1.0 / (x * x)
    return (
        -0.5 * x * x
        - math.log(-x * math.sqrt(2 * math.pi))
        + math.log1p(-inverse * (1 - 3 * inverse * (1 - 5 * inverse * (1 - 7 * inverse))))
    )


def _exp_phi(exponent: float, x: float) -> float:
    total = exponent + log_ndtr(x)
    return math.exp(total) if total > -745.0 else 0.0


def _normal_laplace(t: float, s: float, b: float) -> tuple[float, float]:
    """Return ``P(X > t)`` and the density of a Gaussian plus a Laplace variable."""
    half = 0.5 * (s / b) ** 2
    body = 0.5 * math.erfc(t / s / _ROOT2)
    rise = _exp_phi(half - t / b, t / s - s / b)
    fall = _exp_phi(half + t / b, -t / s - s / b)
    return body + 0.5 * (rise - fall), 0.5 / b * (rise + fall)


@dataclass(frozen=True)
class NoiseSum:
    """A symmetric error: a Gaussian part, Laplace parts, and a half grid step that makes discrete laws safe.

    Parameters
    ----------
    variance : float, or array
        Variance of the Gaussian part.
    scales : tuple of float, or of arrays
        Scales ``b`` of the Laplace parts (variance ``2 b²`` each).
    slack : float, or array
        Half grid steps of the discrete laws behind the parts.
    """

    variance: Number = 0.0
    scales: tuple[Number, ...] = ()
    slack: Number = 0.0

    def scaled(self, factor: Number) -> NoiseSum:
        """Return the law of the error times a constant."""
        size = abs(factor)
        return NoiseSum(
            self.variance * size * size, tuple([b * size for b in self.scales]), self.slack * size
        )

    def __add__(self, other: NoiseSum) -> NoiseSum:
        return NoiseSum(self.variance + other.variance, self.scales + other.scales, self.slack + other.slack)

    def plus_normal(self, variance: Number) -> NoiseSum:
        """Return the law with an independent Gaussian of this variance added."""
        return NoiseSum(self.variance + greater(variance, 0.0), self.scales, self.slack)

    @property
    def total_variance(self) -> Number:
        """The variance of the whole error."""
        return self.variance + sum([2 * b * b for b in self.scales])

    @property
    def sd(self) -> Number:
        """The standard deviation of the whole error."""
        return root(self.total_variance)

    @property
    def many(self) -> bool:
        """Whether this is an array of laws."""
        return any(isinstance(value, np.ndarray) for value in (self.variance, self.slack, *self.scales))

    @cached_property
    def _mixture(self) -> Mixture:
        return mixture(self.variance, self.scales)

    @cached_property
    def _terms(self) -> tuple[float, tuple[tuple[float, float], ...]]:
        """Gaussian standard deviation and the signed mixture ``(weight, scale)``."""
        s2, kept = self.variance, sorted([b for b in self.scales if b > 0], reverse=True)
        while len(kept) > MOST:
            s2 += 2 * kept.pop() ** 2
        if s2 > 0:
            wide = math.sqrt(s2)
            s2 += sum([2 * b * b for b in kept if wide > NARROW * b])
            kept = [b for b in kept if wide <= NARROW * b]
        scales = _distinct(kept)
        weights = []
        for j, b in enumerate(scales):
            product = 1.0
            for i, other in enumerate(scales):
                if i != j:
                    product *= b * b / (b * b - other * other)
            weights.append((product, b))
        return math.sqrt(s2), tuple(weights)

    def tail(self, t: Number) -> Number:
        """Return ``P(|error| ≥ t)``, not below the tail of the discrete law."""
        if isinstance(t, np.ndarray):
            out = t - self.slack
            found, _ = self._mixture.tail(np.maximum(out, 0.0))
            return np.where(out > 0, np.clip(found, 0.0, 1.0), 1.0)
        t = t - self.slack
        return 1.0 if t <= 0 else min(max(self._tail(t)[0], 0.0), 1.0)

    def _tail(self, t: float) -> tuple[float, float]:
        """Return the tail of the continuous law and minus its derivative."""
        s, terms = self._terms
        if not terms:
            if s == 0:
                return 0.0, 0.0
            return math.erfc(t / s / _ROOT2), math.exp(-0.5 * (t / s) ** 2) * math.sqrt(2 / math.pi) / s
        if s == 0:
            found = [(weight * math.exp(-t / b), b) for weight, b in terms]
            return sum([part for part, _ in found]), sum([part / b for part, b in found])
        tail = density = 0.0
        for weight, b in terms:
            above, slope = _normal_laplace(t, s, b)
            tail, density = tail + weight * above, density + weight * slope
        return 2 * tail, 2 * density

    def radius(self, alpha: float) -> Number:
        """Return the smallest ``t`` with ``P(|error| > t) ≤ alpha``.

        Notes
        -----
        The density is log-concave, so Newton's method on the logarithm of the tail converges, from the right.
        """
        if self.many:
            return self._radii(alpha)
        if self.total_variance == 0:
            return self.slack
        t, target = 2 * self.sd, math.log(alpha)
        for _ in range(_STEPS):
            tail, density = self._tail(t)
            step = (math.log(tail) - target) * tail / density
            t = max(t + step, 0.5 * t)
            if abs(step) < 1e-12 * t:
                break
        return t + self.slack

    def _radii(self, alpha: float) -> Floats:
        """Return the radius of every law of an array."""
        shape = np.broadcast_shapes(*(np.shape(value) for value in (self.variance, self.slack, *self.scales)))
        variance = np.broadcast_to(self.total_variance, shape)
        t, target = 2 * np.sqrt(variance), math.log(alpha)
        going = variance > 0
        for _ in range(_STEPS):
            tail, density = self._mixture.tail(t)
            tail, density = np.where(going, tail, 1.0), np.where(going, density, 1.0)
            step = np.where(going, (np.log(tail) - target) * tail / density, 0.0)
            t = np.maximum(t + step, 0.5 * t)
            going = going & (np.abs(step) >= 1e-12 * t)
            if not going.any():
                break
        return np.asarray(t + self.slack)


def _distinct(scales: Sequence[float]) -> list[float]:
    """Spread equal scales apart, largest first, at equal total variance."""
    if len(scales) < 2:
        return list(scales)
    spread = sorted(scales)
    for i in range(1, len(spread)):
        spread[i] = max(spread[i], spread[i - 1] * SPREAD)
    ratio = math.sqrt(sum([b * b for b in scales]) / sum([b * b for b in spread]))
    return [b * ratio for b in reversed(spread)]
