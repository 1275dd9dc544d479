r"""Tails of many sums of Laplace and Gaussian errors at once: the array form of :mod:`dpnb.inference.noise_sum`.

The Normal-Laplace tail is written with the scaled error function :math:`\mathrm{erfcx}(x) = e^{x²}\mathrm{erfc}(x)`,

.. math:: e^{s²/2b² ± t/b}\,Φ(∓t/s - s/b) = ½ e^{-t²/2s²}\,\mathrm{erfcx}\!\left(\frac{s/b ± t/s}{\sqrt 2}\right),

which neither overflows nor cancels for a non-negative argument. Every function works entry by entry: an entry's result does
not depend on its neighbours, so that a simulation gives the same numbers however it is cut into pieces.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpnb.inference.elementwise import Floats, Number

SPREAD = 1.02
MOST = 6
NARROW = 30.0
_ROOT2 = math.sqrt(2.0)
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Mixture:
    """A Gaussian standard deviation and signed Laplace terms ``(weight, scale)``, arrays that broadcast together.

    Attributes
    ----------
    s : array or float
        Zero where there is no Gaussian part.
    terms : tuple of (weight, scale)
        A scale of zero has weight zero.
    """

    s: Number
    terms: tuple[tuple[Number, Number], ...]

    def tail(self, t: Floats) -> tuple[Floats, Floats]:
        """Return ``P(|error| ≥ t)`` and minus its derivative, for ``t`` above zero."""
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            if not np.any(self.s):
                return self._laplace(t)
            return self._normal_laplace(t) if self.terms else self._normal(t)

    def _laplace(self, t: Floats) -> tuple[Floats, Floats]:
        tail, density = np.zeros_like(t), np.zeros_like(t)
        for weight, scale in self.terms:
            b = np.maximum(scale, _TINY)
            part = weight * np.exp(-t / b)
            tail, density = tail + part, density + part / b
        return tail, density

    def _normal(self, t: Floats) -> tuple[Floats, Floats]:
        from scipy.special import erfc

        z = t / self.s
        return erfc(z / _ROOT2), np.exp(-0.5 * z * z) * math.sqrt(2 / math.pi) / self.s

    def _normal_laplace(self, t: Floats) -> tuple[Floats, Floats]:
        from scipy.special import erfcx

        s = np.maximum(self.s, 1e-9 * sum(scale for _, scale in self.terms))
        z = t / (s * _ROOT2)
        bell = np.exp(-z * z)
        tail, density, mixed = bell * erfcx(z), 0.0, np.False_
        for weight, scale in self.terms:
            b = np.maximum(scale, _TINY)
            c = s / (b * _ROOT2)
            below = c - z
            near = bell * erfcx(np.abs(below))
            rise = np.where(below >= 0, near, 2 * np.exp(c * c - t / b) - near)
            fall = bell * erfcx(c + z)
            half = 0.5 * weight
            tail, density = tail + half * (rise - fall), density + half / b * (rise + fall)
            mixed = mixed | np.not_equal(weight, 0)
        return tail, np.where(mixed, density, bell * math.sqrt(2 / math.pi) / s)


def mixture(variance: Number, scales: Sequence[Number]) -> Mixture:
    """Return the law of a Gaussian variance and Laplace scales, both arrays that broadcast together."""
    if not scales:
        return Mixture(np.sqrt(variance), ())
    if len(scales) == 1:
        return _single(np.asarray(variance, dtype=float), np.asarray(scales[0], dtype=float))
    rising = np.sort(np.stack(np.broadcast_arrays(*(np.asarray(b, dtype=float) for b in scales))), axis=0)
    s2 = np.asarray(variance, dtype=float)
    for extra in rising[: max(len(rising) - MOST, 0)]:
        s2 = s2 + 2 * extra**2
    rising = rising[max(len(rising) - MOST, 0) :]
    narrow = np.sqrt(s2) > NARROW * rising
    s2 = s2 + (2 * np.where(narrow, rising, 0.0) ** 2).sum(axis=0)
    return Mixture(np.sqrt(s2), _terms(np.where(narrow, 0.0, rising)))


def _single(s2: Floats, scale: Floats) -> Mixture:
    narrow = np.sqrt(s2) > NARROW * scale
    if not narrow.any():
        return Mixture(np.sqrt(s2), ((1.0, scale),))
    s = np.sqrt(s2 + np.where(narrow, 2 * scale**2, 0.0))
    return Mixture(s, ((np.where(narrow, 0.0, 1.0), np.where(narrow, 0.0, scale)),))


def _terms(rising: Floats) -> tuple[tuple[Floats, Floats], ...]:
    """Return weights and scales of the signed mixture, equal scales spread apart at equal total variance."""
    spread = [rising[0]]
    for scale in rising[1:]:
        spread.append(np.maximum(scale, SPREAD * spread[-1]))
    before, after = (rising**2).sum(axis=0), sum(b * b for b in spread)
    ratio = np.sqrt(np.divide(before, after, out=np.ones_like(before), where=after > 0))
    squares = [(b * ratio) ** 2 for b in spread]
    made = []
    for j, own in enumerate(squares):
        weight = np.where(own > 0, 1.0, 0.0)
        for i, other in enumerate(squares):
            if i != j:
                gap = own - other
                weight = weight * np.divide(own, gap, out=np.zeros_like(gap), where=(gap != 0) & (own > 0))
        made.append((weight, np.sqrt(own)))
    return tuple(made)
