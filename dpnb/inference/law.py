"""The declared laws of the noise: what every interval, preview and test is computed from.

A law is a frozen value with one exact rational parameter. It states probabilities (as floats, for inference); it refuses to
draw (see :mod:`dpnb.trusted.noise.exact` and :mod:`dpnb.inference.fast_noise`). The JSON form outlives releases: a kind is never renamed, a parameter never re-read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.trusted.errors import PlanError
from dpnb.trusted.mechanisms import AnyMechanism, DiscreteGaussian, DiscreteLaplace
from dpnb.trusted.mechanisms.mechanism_record import read_mechanism
from dpnb.trusted.privacy.loss import brief

Floats = NDArray[np.float64]
_TABLE_SIGMA = 1000.0
_NORMAL = NormalDist()


class Law(Protocol):
    """A symmetric law on the integers with an exact rational parameter."""

    @property
    def kind(self) -> str:
        """The permanent name of the law in JSON."""
        ...

    @property
    def variance_float(self) -> float:
        """The variance of the law itself, in squared grid steps."""
        ...

    def pmf(self, k: ArrayLike) -> Floats:
        """P(K = k)."""
        ...

    def cdf(self, k: ArrayLike) -> Floats:
        """P(K <= k)."""
        ...

    def sf(self, k: ArrayLike) -> Floats:
        """P(K > k), accurate in the tail."""
        ...

    def quantile(self, p: ArrayLike) -> NDArray[np.float64]:
        """The smallest integer k with P(K <= k) >= p, as a float array."""
        ...

    def tail_radius(self, alpha: float) -> int:
        """The smallest integer x >= 0 with P(|K| > x) <= alpha."""
        ...

    def to_json(self) -> dict[str, str]:
        """The law as exact JSON."""
        ...


def _integers(k: ArrayLike) -> Floats:
    return np.floor(np.asarray(k, dtype=np.float64))


def _inside(p: ArrayLike) -> Floats:
    values = np.asarray(p, dtype=np.float64)
    if not np.all((values > 0.0) & (values < 1.0)):
        raise PlanError("A probability must lie strictly between 0 and 1.")
    return values


def _settle_quantile(law: Law, guess: Floats, p: Floats) -> Floats:
    """Move a guess that is off by rounding to the smallest integer whose distribution function reaches `p`."""
    guess = np.where(law.cdf(guess) < p, guess + 1.0, guess)
    return np.asarray(np.where(law.cdf(guess - 1.0) >= p, guess - 1.0, guess))


def _settle_radius(law: Law, guess: int, alpha: float) -> int:
    """Move a guess that is off by rounding to the smallest radius whose two tails hold at most `alpha`."""
    guess = max(guess, 0)
    while guess > 0 and 2.0 * float(law.sf(guess - 1)) <= alpha:
        guess -= 1
    while 2.0 * float(law.sf(guess)) > alpha:
        guess += max(1, math.ceil(math.sqrt(law.variance_float) * 1e-12))
    return guess


def _positive_rational(value: Fraction | int, name: str) -> Fraction:
    exact = Fraction(value)
    if exact <= 0:
        raise PlanError(f"The noise {name} must be positive; zero noise is not a mechanism.")
    return exact


@dataclass(frozen=True, slots=True)
class DiscreteLaplaceLaw:
    """P(k) = tanh(1/(2·scale)) · e^(-|k|/scale) on the integers.

    Parameters
    ----------
    scale : Fraction
        Exact scale, in grid steps.

    Examples
    --------
    >>> law = DiscreteLaplaceLaw(Fraction(2))
    >>> round(float(law.pmf(0)), 4), law.tail_radius(0.05)
    (0.2449, 6)
    """

    kind: ClassVar[str] = DiscreteLaplace.name
    scale: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", _positive_rational(self.scale, "scale"))

    @property
    def variance_float(self) -> float:
        """2e^(-1/t)/(1 - e^(-1/t))² with t the scale."""
        rate = float(1 / self.scale)
        return 2.0 * math.exp(-rate) / math.expm1(-rate) ** 2

    def pmf(self, k: ArrayLike) -> Floats:
        """P(K = k); see :class:`Law`."""
        rate = float(1 / self.scale)
        return np.asarray(math.tanh(rate / 2.0) * np.exp(-np.abs(_integers(k)) * rate))

    def sf(self, k: ArrayLike) -> Floats:
        """P(K > k); see :class:`Law`."""
        rate, at = float(1 / self.scale), _integers(k)
        tail = np.exp(-np.where(at >= 0.0, at + 1.0, -at) * rate) / (1.0 + math.exp(-rate))
        return np.asarray(np.where(at >= 0.0, tail, 1.0 - tail))

    def cdf(self, k: ArrayLike) -> Floats:
        """P(K <= k); see :class:`Law`."""
        return self.sf(-_integers(k) - 1.0)

    def quantile(self, p: ArrayLike) -> Floats:
        """The smallest integer whose distribution function reaches `p`; see :class:`Law`."""
        level, rate = _inside(p), float(1 / self.scale)
        mass = 1.0 + math.exp(-rate)
        upper = np.ceil(-np.log((1.0 - level) * mass) / rate - 1.0)
        lower = -np.floor(-np.log(level * mass) / rate)
        return _settle_quantile(self, np.where(level * mass > math.exp(-rate), upper, lower), level)

    def tail_radius(self, alpha: float) -> int:
        """The smallest integer x with P(|K| > x) <= `alpha`; see :class:`Law`."""
        rate, level = float(1 / self.scale), float(_inside(alpha))
        guess = math.ceil(-math.log(level * (1.0 + math.exp(-rate)) / 2.0) / rate - 1.0)
        return _settle_radius(self, guess, level)

    def to_json(self) -> dict[str, str]:
        """``{"kind": "discrete-laplace", "scale": "5/2"}``."""
        return DiscreteLaplace(self.scale).record


@lru_cache(maxsize=64)
def _gaussian_table(variance: float) -> tuple[Floats, Floats]:
    """Probabilities of 0, 1, 2, … and the tails P(K > 0), P(K > 1), … of a narrow discrete Gaussian."""
    reach = math.ceil(39.0 * math.sqrt(variance)) + 2
    weight = np.exp(-(np.arange(reach + 1, dtype=np.float64) ** 2) / (2.0 * variance))
    above = np.concatenate([np.cumsum(weight[:0:-1])[::-1], [0.0]])
    total = weight[0] + 2.0 * above[0]
    return weight / total, above / total


def _erfc(z: Floats) -> Floats:
    return np.asarray(np.frompyfunc(math.erfc, 1, 1)(z), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class DiscreteGaussianLaw:
    """P(k) ∝ e^(-k²/(2·variance)) on the integers.

    Parameters
    ----------
    variance : Fraction
        Exact variance *parameter* σ², in squared grid steps. The variance of the law is slightly below it.

    Examples
    --------
    >>> law = DiscreteGaussianLaw(Fraction(4))
    >>> round(float(law.pmf(0)), 4), law.tail_radius(0.05)
    (0.1995, 4)
    """

    kind: ClassVar[str] = DiscreteGaussian.name
    variance: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", _positive_rational(self.variance, "variance"))

    @property
    def _sigma(self) -> float:
        return math.sqrt(self.variance)

    @property
    def _narrow(self) -> bool:
        return self._sigma <= _TABLE_SIGMA

    @property
    def variance_float(self) -> float:
        """The variance of the law itself (equal to the parameter unless σ is below about 1)."""
        if not self._narrow:
            return float(self.variance)
        mass, _ = _gaussian_table(float(self.variance))
        return float(2.0 * np.sum(mass * np.arange(mass.size, dtype=np.float64) ** 2))

    def pmf(self, k: ArrayLike) -> Floats:
        """P(K = k); see :class:`Law`."""
        at = np.abs(_integers(k))
        peak = (
            float(_gaussian_table(float(self.variance))[0][0])
            if self._narrow
            else 1.0 / (self._sigma * math.sqrt(2.0 * math.pi))
        )
        return np.asarray(peak * np.exp(-(at**2) / (2.0 * float(self.variance))))

    def _tail(self, at: Floats) -> Floats:
        """P(K > at) for at >= 0: a summed table, or the midpoint rule with its first correction (error below σ⁻⁴)."""
        if self._narrow:
            above = _gaussian_table(float(self.variance))[1]
            return np.asarray(above[np.minimum(at, above.size - 1.0).astype(np.int64)])
        z = (at + 0.5) / self._sigma
        density = np.exp(-(z**2) / 2.0) / math.sqrt(2.0 * math.pi)
        return np.asarray(0.5 * _erfc(z / math.sqrt(2.0)) - z * density / (24.0 * float(self.variance)))

    def sf(self, k: ArrayLike) -> Floats:
        """P(K > k); see :class:`Law`."""
        at = _integers(k)
        tail = self._tail(np.where(at >= 0.0, at, -at - 1.0))
        return np.asarray(np.where(at >= 0.0, tail, 1.0 - tail))

    def cdf(self, k: ArrayLike) -> Floats:
        """P(K <= k); see :class:`Law`."""
        return self.sf(-_integers(k) - 1.0)

    def quantile(self, p: ArrayLike) -> Floats:
        """The smallest integer whose distribution function reaches `p`; see :class:`Law`."""
        level = _inside(p)
        if self._narrow:
            above = _gaussian_table(float(self.variance))[1]
            reach = np.arange(-(above.size - 1), above.size, dtype=np.float64)
            return np.asarray(reach[np.minimum(np.searchsorted(self.cdf(reach), level), reach.size - 1)])
        z = np.asarray(np.frompyfunc(_NORMAL.inv_cdf, 1, 1)(level), dtype=np.float64)
        return _settle_quantile(self, np.ceil(z * self._sigma - 0.5), level)

    def tail_radius(self, alpha: float) -> int:
        """The smallest integer x with P(|K| > x) <= `alpha`; see :class:`Law`."""
        level = float(_inside(alpha))
        if self._narrow:
            above = _gaussian_table(float(self.variance))[1]
            return int(np.searchsorted(-above, -level / 2.0))
        return _settle_radius(self, math.ceil(-_NORMAL.inv_cdf(level / 2.0) * self._sigma - 0.5), level)

    def to_json(self) -> dict[str, str]:
        """``{"kind": "discrete-gaussian", "variance": "5/2"}``."""
        return DiscreteGaussian(self.variance).record


NoiseLaw: TypeAlias = DiscreteLaplaceLaw | DiscreteGaussianLaw


def law_of(mechanism: object) -> NoiseLaw:
    """Return the law of the noise on one entry, of a mechanism that adds some.

    Raises
    ------
    PlanError
        When the mechanism adds none.
    """
    if isinstance(mechanism, DiscreteLaplace):
        return DiscreteLaplaceLaw(mechanism.scale)
    if isinstance(mechanism, DiscreteGaussian):
        return DiscreteGaussianLaw(mechanism.variance)
    raise PlanError("This mechanism adds no noise of one law to each entry.")


def read_law(law: Mapping[str, str]) -> AnyMechanism:
    """Read the law of a released part: what its mechanism's ``record`` wrote.

    Raises
    ------
    PlanError
        If it is not that of a mechanism of this version.

    Examples
    --------
    >>> read_law({"kind": "discrete-laplace", "scale": "3/2"})
    DiscreteLaplace(scale=Fraction(3, 2))
    """
    return _lawful(tuple(law.items()))


@lru_cache(maxsize=256)
def _lawful(items: tuple[tuple[str, str], ...]) -> AnyMechanism:
    mechanism = read_mechanism({"mechanism" if key == "kind" else key: text for key, text in items})
    if mechanism.record != dict(items):
        raise PlanError("A recorded mechanism is not in the form that this version of dpnb writes.")
    return mechanism


def drawn_words(mechanism: AnyMechanism) -> str:
    """Say what was drawn, in a phrase with its parameters.

    Examples
    --------
    >>> drawn_words(DiscreteGaussian(Fraction(9)))
    'discrete Gaussian noise, sd 3'
    """
    known = {one.name: _told(getattr(mechanism, one.name)) for one in fields(mechanism)}
    sd = math.sqrt(mechanism.variance) if isinstance(mechanism, DiscreteGaussian) else None
    return mechanism.drawn.format(**known, sd=sd)


def _told(parameter: object) -> object:
    """A parameter as a phrase says it: exact numbers in four digits."""
    if isinstance(parameter, Fraction):
        return brief(parameter)
    return ", ".join(map(str, map(_told, parameter))) if isinstance(parameter, tuple) else parameter


def law_from_json(record: Mapping[str, str]) -> NoiseLaw:
    """Return the law of the noise of a released part, from its record.

    Raises
    ------
    PlanError
        When the record is not one of the permanent forms.
    """
    try:
        return law_of(read_law(record))
    except (PlanError, TypeError):  # a value that is no text
        raise PlanError("This is not a noise law that dpnb knows; update dpnb to read it.") from None
