r"""What may be inferred from the private bootstrap: k noised resamples ``m_1, …, m_k`` and the public variance of their noise.

With ``s²`` the variance of the ``m_i`` (divisor k - 1) and ``v`` that of one noise, ``s² - v`` estimates the sampling variance
``f`` of the statistic. The average ``m*`` has variance

.. math:: Var(m^*) = f\,(1 + 1/k) + v/k ,

the sampling error, the error of taking only k resamples, and the noise [3]_. The published formula [1]_ leaves out ``f/k``; as
published and corrected stand side by side. Three readings of ``f`` differ in how much of ``s²`` they take to be noise: the
*unbiased* one ``v``, the *conservative* one its lower ``α`` quantile ``v χ²_{k-1;α}/(k-1)``, the *most conservative* nothing.

All is post-processing. Whether the releases are private is another question: :mod:`dpnb.risk.bootstrap`. For a mean prefer
``mean()``, which buys its second moment: proven in every measure, and tighter. For ages (sd 16.4, bounds 0 to 100, n = 500, ρ = 0.5) its
standard error is .77 at 95.3 % coverage; the conservative bootstrap's of 50 resamples is 1.07 with the published noise (97.5 %) and 1.25
with the noise that keeps the promise of one release of that ρ (97.6 %).

References
----------
.. [1] Brawner and Honaker (2018), "Bootstrap Inference and Differential Privacy: Standard Errors for Free", sections 6 and 7.
.. [2] Wang, Cheng and Awan (2022), "Differentially Private Bootstrap: New Privacy Analysis and Inference Strategies", section 4.
.. [3] Law of total variance over the resamples of one study.
.. [4] Efron (2016), "Empirical Bayes deconvolution estimates".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import OptionError
from dpnb.inference.elementwise import Number
from dpnb.inference.spread import normal_quantile

Kind = Literal["unbiased", "conservative", "most conservative"]
"""How much of the spread between resamples is taken to be noise."""

_ALPHA = 0.05
_GRID = 161
_DEGREE = 4
_PENALTY = np.array([1e-3, 1e-3, 1.0, 1.0])
_NEWTON = 50
_TOGETHER = 32
_SETTLED = 1e-3


@dataclass(frozen=True)
class Bootstrap:
    """Noised resamples of one study, or of many.

    Parameters
    ----------
    values : ndarray, shape (..., k)
        The noised statistic of each resample; k at least 2 for a spread.
    noise_variance : float
        Variance of the noise on each, public.
    alpha : float
        Level of the quantile of the conservative reading.

    Examples
    --------
    >>> made = Bootstrap(np.array([4.0, 5.0, 6.0, 5.0]), 0.25)
    >>> made.estimate.item(), round(made.standard_error("unbiased").item(), 3)
    (5.0, 0.764)
    """

    values: NDArray[np.float64]
    noise_variance: float
    alpha: float = _ALPHA

    def __post_init__(self) -> None:
        if np.ndim(self.values) < 1 or np.shape(self.values)[-1] < 1:
            raise OptionError("values needs at least one resample along its last axis.")
        if not (self.noise_variance >= 0 and 0 < self.alpha < 1):
            raise OptionError("noise_variance must not be below 0, and alpha between 0 and 1.")

    @property
    def k(self) -> int:
        """Number of resamples."""
        return int(np.shape(self.values)[-1])

    @cached_property
    def estimate(self) -> NDArray[np.float64]:
        """The average m* of the noised resamples."""
        return np.asarray(np.mean(self.values, axis=-1))

    @cached_property
    def spread(self) -> NDArray[np.float64]:
        """The variance s² between noised resamples; infinite for a single one, which shows no spread."""
        if self.k == 1:
            return np.full(np.shape(self.values)[:-1], np.inf)
        return np.asarray(np.var(self.values, axis=-1, ddof=1))

    def _taken_for_noise(self, kind: Kind) -> float:
        from scipy.special import gammaincinv

        if kind not in get_args(Kind):
            raise OptionError(f"kind is one of {', '.join(get_args(Kind))}, not {kind!r}.")
        if kind == "most conservative" or self.k == 1:
            return 0.0
        if kind == "unbiased":
            return self.noise_variance
        free = self.k - 1
        return float(self.noise_variance * 2 * gammaincinv(free / 2, self.alpha) / free)

    def sampling_variance(self, kind: Kind = "unbiased") -> NDArray[np.float64]:
        """Return the estimated sampling variance of the statistic, 0 where the noise explains all the spread."""
        return np.asarray(np.maximum(self.spread - self._taken_for_noise(kind), 0.0))

    def standard_error(self, kind: Kind = "conservative") -> NDArray[np.float64]:
        """Return the standard error of :attr:`estimate`: sampling, a finite number of resamples, and noise."""
        variance = self.sampling_variance(kind) * (1 + 1 / self.k) + self.noise_variance / self.k
        return np.asarray(np.sqrt(variance))

    def published_standard_error(self, kind: Kind = "conservative") -> NDArray[np.float64]:
        """Return the standard error as published [1]_: without the error of k resamples, and 0 where negative."""
        variance = self.spread - self._taken_for_noise(kind) + self.noise_variance / self.k
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))

    def variable_sd(self, n: int, kind: Kind = "unbiased") -> NDArray[np.float64]:
        """Return the standard deviation of the variable, where the statistic is its mean over `n` rows: a by-product.

        A resample's mean varies by the study's variance (divisor n) over n.
        """
        if n < 2:
            raise OptionError("n, the number of rows, must be at least 2.")
        return np.asarray(np.sqrt(self.sampling_variance(kind) * n * n / (n - 1)))

    def interval(
        self, level: float = 0.95, kind: Kind = "conservative", *, published: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the ends of the normal interval around :attr:`estimate`, by the standard error or by the published one."""
        error = self.published_standard_error(kind) if published else self.standard_error(kind)
        reach = _quantile(level) * error
        return self.estimate - reach, self.estimate + reach

    def p_value(self, null: float, kind: Kind = "conservative") -> NDArray[np.float64]:
        """Return the two-sided p-value of the hypothesis that the population's value is `null`."""
        from scipy.special import erfc

        error = self.standard_error(kind)
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = np.where(error > 0, np.abs(self.estimate - null) / error, np.inf)
        return np.asarray(erfc(distance / sqrt(2)))


def _quantile(level: float) -> float:
    if not 0 < level < 1:
        raise OptionError(f"A level lies between 0 and 1, not {level}.")
    return normal_quantile(0.5 + level / 2)


def deconvolved_interval(made: Bootstrap, level: float = 0.95) -> tuple[Number, Number]:
    """Return intervals from the deconvolved law of the resamples [2]_.

    The law of a resample's statistic without noise is estimated by maximum penalised likelihood within an exponential family of
    polynomials on a grid [4]_; the noise of the average is put back, and quantiles are read.

    Parameters
    ----------
    made : Bootstrap
        The noised resamples of one study, or of many side by side; at least 10.
    level : float
        Of the interval.

    Returns
    -------
    (float, float), or two arrays of the shape of the studies

    Notes
    -----
    Skewed sampling laws keep their skewness, which normal intervals lose. With few resamples or much noise it has the unbiased
    interval's weakness: it can cover less than it says.
    """
    if np.ndim(made.values) not in (1, 2) or made.k < 10:
        raise OptionError("A deconvolved interval needs studies with at least 10 resamples each.")
    _quantile(level)
    values = np.atleast_2d(made.values)
    parts = [
        _deconvolved_ends(Bootstrap(values[start : start + _TOGETHER], made.noise_variance), level)
        for start in range(0, len(values), _TOGETHER)
    ]
    low, high = (np.concatenate(ends) for ends in zip(*parts, strict=True))
    return (low, high) if np.ndim(made.values) == 2 else (float(low[0]), float(high[0]))


def _deconvolved_ends(made: Bootstrap, level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy.special import ndtr

    grid, law = _deconvolved(made)
    mean = (grid * law).sum(axis=1)
    # what the average adds: noise, and the error of k resamples
    extra = np.sqrt((made.noise_variance + (grid**2 * law).sum(axis=1) - mean**2) / made.k)
    extra = np.maximum(extra, 1e-300)
    low, high = np.empty(len(grid)), np.empty(len(grid))
    for study, (places, masses, sd) in enumerate(zip(grid, law, extra, strict=True)):
        wide = np.linspace(places[0] - 6 * sd, places[-1] + 6 * sd, 2 * _GRID)
        below = ndtr((wide[:, None] - places) / sd) @ masses
        low[study], high[study] = np.interp([(1 - level) / 2, (1 + level) / 2], below, wide)
    return low, high


def _deconvolved(made: Bootstrap) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return grid and masses of the law behind noised values of each study, by Newton's method; the penalty pulls towards a normal."""
    centre, noise = made.estimate, sqrt(made.noise_variance)
    sd = np.maximum(np.sqrt(made.spread), 1e-12)
    grid = np.linspace(-4.0, 4.0, _GRID)
    basis = np.linalg.qr(np.vander(grid, _DEGREE + 1, increasing=True))[0][:, 1:]
    basis = basis / basis.std(axis=0)
    scale = np.maximum(noise / sd, 0.02)[:, None, None]
    gaps = ((made.values - centre[:, None]) / sd[:, None])[:, :, None] - grid
    likelihood = np.exp(-0.5 * (gaps / scale) ** 2) + 1e-300
    start = np.linalg.lstsq(basis, -0.5 * grid**2, rcond=None)[0]
    weights = np.tile(start, (len(centre), 1))
    left = np.arange(len(centre))
    for _ in range(_NEWTON):
        law = _softmax(weights[left] @ basis.T)
        posterior = likelihood[left] * law[:, None, :]
        posterior /= posterior.sum(axis=2, keepdims=True)
        mean = posterior @ basis - (law @ basis)[:, None, :]
        information = np.swapaxes(mean, 1, 2) @ mean + np.diag(_PENALTY)
        slope = mean.sum(axis=1) - _PENALTY * weights[left]
        step = np.linalg.solve(information, slope[:, :, None])[:, :, 0]
        size = np.abs(step).max(axis=1)
        weights[left] += step * np.minimum(1.0, 2.0 / np.maximum(size, 1e-300))[:, None]
        left = left[size >= _SETTLED]
        if not left.size:
            break
    return centre[:, None] + sd[:, None] * grid, _softmax(weights @ basis.T)


def _softmax(exponent: NDArray[np.float64]) -> NDArray[np.float64]:
    law = np.exp(exponent - exponent.max(axis=1, keepdims=True))
    return np.asarray(law / law.sum(axis=1, keepdims=True))
