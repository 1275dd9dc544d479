r"""The difference of two arms' means from two noised centred sums and one noised size, **on arrays alone**: the corrected Algorithm 1.

With n rows public, arm sizes private and outcomes y bounded with middle c and width R, what is released is
:math:`S_1 = Σ t(y-c)`, :math:`S_0 = Σ (1-t)(y-c)` and :math:`n_1 = Σ t`. A row that keeps its arm moves one sum by at most R; a row that
changes arms moves each sum by at most R/2 and the size by 1. Laplace noise of scale R/ε_s on both sums and 1/ε_c on the size is therefore
(ε_s + ε_c)-DP, change-one: both sums together cost no more than one.

The published release [1]_ scales its noise by the private arm sizes, and computes that scale from sizes that include the row itself.
On protected data the same measurement is ``ds.y.difference(by="t")``, in exact integers; this one simulates, vectorised over studies.

References
----------
.. [1] D'Orazio, Honaker and King (2015), "Differential Privacy for Social Science Inference", Algorithms 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.errors import OptionError
from dpnb.inference.noise_sum import NoiseSum

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NoisedArms:
    """Noised sums and size of two arms, of one study or of many."""

    first: Floats
    second: Floats
    size: Floats
    n: int
    sum_scale: float
    size_scale: float

    @property
    def estimate(self) -> Floats:
        """The second arm's mean minus the first's; a size outside 1 … n - 1 counts as the nearest inside."""
        return _difference(self.first, self.second, self.size, self.n)

    @property
    def too_small(self) -> NDArray[np.bool_]:
        """Whether an arm's size is not clear of its noise: below three standard deviations of it."""
        limit = 3 * sqrt(2) * self.size_scale
        return np.asarray((self.size < limit) | (self.n - self.size < limit))

    @property
    def noise_variance(self) -> Floats:
        """Variance of the estimate from the noise, to first order."""
        one, two = np.clip(self.size, 1, self.n - 1), self.n - np.clip(self.size, 1, self.n - 1)
        means = self.second / one / one + self.first / two / two
        return np.asarray(
            2 * self.sum_scale**2 * (1 / one**2 + 1 / two**2) + 2 * self.size_scale**2 * means**2
        )

    def interval(
        self, standard_error: ArrayLike, rng: np.random.Generator, *, level: float = 0.95, draws: int = 400
    ) -> tuple[Floats, Floats]:
        """Return the Monte Carlo interval [1]_: fresh noise on sums and size, and a normal sampling error."""
        if not (0 < level < 1 and draws >= 10):
            raise OptionError("level lies between 0 and 1, and draws is at least 10.")
        shape = (draws, *np.shape(self.size))
        sums = rng.laplace(0.0, self.sum_scale, (2, *shape))
        size = self.size + rng.laplace(0.0, self.size_scale, shape)
        redrawn = _difference(self.first + sums[0], self.second + sums[1], size, self.n)
        sampling = np.maximum(np.asarray(standard_error, dtype=float), 0.0) * rng.standard_normal(shape)
        radius = np.quantile(np.abs(redrawn - self.estimate + sampling), level, axis=0)
        return self.estimate - radius, self.estimate + radius


def _difference(first: Floats, second: Floats, size: Floats, n: int) -> Floats:
    one = np.clip(size, 1.0, n - 1.0)
    return np.asarray(second / one - first / (n - one))


def noised_difference(
    y: ArrayLike,
    arm: ArrayLike,
    bounds: tuple[float, float],
    epsilon: float,
    rng: np.random.Generator,
    *,
    size_share: float = 0.1,
) -> NoisedArms:
    """Release both arms' centred sums and the second arm's size with Laplace noise, simulated."""
    low, high = bounds
    values, second = np.asarray(y, dtype=float), np.asarray(arm, dtype=float)
    if not (low < high and epsilon > 0 and 0 < size_share < 1):
        raise OptionError("bounds must grow, epsilon be above 0, and size_share between 0 and 1.")
    if values.ndim < 1 or values.shape != second.shape or values.shape[-1] < 2 or np.isnan(values).any():
        raise OptionError("y and arm have the same shape, at least two rows, and no missing values.")
    if not np.isin(second, (0.0, 1.0)).all():
        raise OptionError("arm has a 0 or a 1 for every row.")
    centred = np.clip(values, low, high) - (low + high) / 2
    sums = (high - low) / ((1 - size_share) * epsilon)
    sizes = 1 / (size_share * epsilon)
    shape = values.shape[:-1]
    return NoisedArms(
        (centred * (1 - second)).sum(axis=-1) + rng.laplace(0.0, sums, shape),
        (centred * second).sum(axis=-1) + rng.laplace(0.0, sums, shape),
        second.sum(axis=-1) + rng.laplace(0.0, sizes, shape),
        values.shape[-1],
        sums,
        sizes,
    )


def noisy_interval(
    estimate: ArrayLike, standard_error: ArrayLike, scale: float, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return the interval of an estimate with Laplace noise and a normal sampling error, by the exact Normal-Laplace quantile.

    Notes
    -----
    The Laplace critical value of the whole standard deviation, 2.118 at 95 %, is conservative only at levels above 90.7 %:
    at 90 % the normal one is larger, 1.645 against 1.628. The exact quantile has no such condition.
    """
    if not (0 < level < 1 and scale > 0):
        raise OptionError("level lies between 0 and 1, and scale is above 0.")
    error = np.maximum(np.atleast_1d(np.asarray(standard_error, dtype=float)), 0.0)
    centre = np.asarray(estimate, dtype=float)
    radius = np.reshape(
        NoiseSum(error**2, (np.full(error.shape, float(scale)),)).radius(1 - level), np.shape(standard_error)
    )
    return np.asarray(centre - radius), np.asarray(centre + radius)
