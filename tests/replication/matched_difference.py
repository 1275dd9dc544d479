"""The private difference over matched pairs of 004, with the right sensitivities: see :mod:`dpnb.inference.matching`."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from dpnb.errors import OptionError
from dpnb.inference.matching import Pairs
from dpnb.inference.noise_sum import NoiseSum


@dataclass(frozen=True, slots=True)
class NoisedPairs:
    """What is released of matched pairs: signed sum, sum of squares and number, each with Laplace noise."""

    total: float
    square: float
    pairs: float
    width: float
    total_scale: float
    square_scale: float
    pairs_scale: float

    @property
    def _number(self) -> float:
        return max(self.pairs, 1.0)

    @property
    def estimate(self) -> float:
        """The mean difference within pairs, inside ±R."""
        return min(max(self.total / self._number, -self.width), self.width)

    @property
    def standard_error(self) -> float:
        """The sampling error, at most: both arms' variances, as if pairing had won nothing.

        With arm means a and b around c, ``Q/m - a² - b² ≤ Q/m - (a - b)²/2``; the noise of Q is allowed for at 90 %.
        """
        moment = (max(self.square, 0.0) + self.square_scale * log(5)) / self._number
        moment = min(moment, self.width**2 / 2)
        return sqrt(max(moment - self.estimate**2 / 2, 0.0) / self._number)

    @property
    def flags(self) -> tuple[str, ...]:
        """``arm too small`` where the number of pairs is not clear of its noise."""
        return ("arm too small",) if self.pairs < 3 * sqrt(2) * self.pairs_scale else ()

    def interval(self, level: float = 0.95, *, sampling: bool = True) -> tuple[float, float]:
        """Return the interval of the mean difference: noise alone, or noise and sampling (at most).

        Where the number of pairs is not clear of its noise, the interval is the whole domain.
        """
        if not 0 < level < 1:
            raise OptionError(f"A level lies between 0 and 1, not {level}.")
        if self.flags:
            return -self.width, self.width
        scales = (self.total_scale, abs(self.estimate) * self.pairs_scale)
        law = NoiseSum(0.0, tuple(b for b in scales if b > 0)).scaled(1 / self._number)
        if sampling:
            law = law.plus_normal(self.standard_error**2)
        reach = float(law.radius(1 - level))
        return max(self.estimate - reach, -self.width), min(self.estimate + reach, self.width)


def noised_matching(
    y: ArrayLike,
    pairs: Pairs,
    bounds: tuple[float, float],
    epsilon: float,
    rng: np.random.Generator,
    *,
    shares: tuple[float, float, float] = (0.7, 0.2, 0.1),
) -> NoisedPairs:
    """Release the difference over matched pairs with Laplace noise, simulated; ε-DP, change-one, with the pairs of :func:`match`."""
    low, high = bounds
    if not (low < high and epsilon > 0 and min(shares) > 0 and abs(sum(shares) - 1) < 1e-9):
        raise OptionError("bounds must grow, epsilon be above 0, and shares be above 0 and sum to 1.")
    values = np.asarray(y, dtype=float)
    if values.ndim != 1 or np.isnan(values).any() or max(pairs.rows, default=0) >= values.size:
        raise OptionError("y is the outcome of the rows that were matched, without missing values.")
    width, centred = high - low, np.clip(values, low, high) - (low + high) / 2
    one, two = centred[pairs.second], centred[pairs.first]
    exact = (one.sum() - two.sum(), (one**2).sum() + (two**2).sum(), len(pairs))
    reaches = (2 * width, 3 * width**2 / 4, 1.0)
    first, second, third = (reach / (share * epsilon) for reach, share in zip(reaches, shares, strict=True))
    total, square, number = (
        float(value + rng.laplace(0.0, scale))
        for value, scale in zip(exact, (first, second, third), strict=True)
    )
    return NoisedPairs(total, square, number, width, first, second, third)
