r"""Whether draws have the law that they should have: too little noise, too much, off centre, another shape.

With :math:`U = F(X)` (at a jump of :math:`F`, a uniform point of it), the draws of a right mechanism are uniform, so three tests hold their
level exactly, whatever the law:

- *centre*: how many :math:`U` lie above ½ is binomial;
- *scale*: :math:`-\sum \ln(2 \min(U, 1 - U))` is gamma with shape n; for Laplace noise it is :math:`\sum |x - c| / b`;
- *shape*: Kolmogorov and Smirnov's distance of :math:`U` from uniform.

Each takes a third of the level. Draws that are no numbers, or all the same, fail without a test: under a law with noise they do not occur.

References
----------
.. [1] Brockwell (2007), "Universal residuals: a multivariate transformation" (the uniform point of a jump).
.. [2] Marsaglia, Tsang and Wang (2003), "Evaluating Kolmogorov's distribution".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from dpnb.audit.sampling import Floats
from dpnb.errors import OptionError, PlanError

_FEWEST = 100
_CAUGHT = 0.999
_GRID, _HALVINGS = 2_000, 30


class Law(Protocol):
    """The law that an answer should have."""

    def cdf(self, x: object, /) -> Any:
        """Return the probability at or below each of some points."""
        ...


class WholeLaw(Law, Protocol):
    """A law of whole numbers."""

    def pmf(self, x: object, /) -> Any:
        """Return the probability of each of some points."""
        ...


@dataclass(frozen=True, slots=True)
class NoiseFit:
    """How well draws fit their expected law.

    Parameters
    ----------
    n : int
        Draws.
    alpha : float
        Probability that a right mechanism does not fit, at most.
    centre, scale, shape : float
        p-values of the three tests; each fails below a third of `alpha`.
    ratio : float
        Mean distance from the law's centre, over what it should be: 0.8 is too little noise, 1.25 too much.
    rescaled : float
        p-value of the shape after rescaling: it distinguishes a wrong scale from a wrong law, and decides nothing.
    undefined : int
        Draws that are not numbers, and failures.
    constant : float or None
        The single answer, if all draws are the same.
    law : object
        What the draws should be.
    """

    n: int
    alpha: float
    centre: float
    scale: float
    shape: float
    ratio: float
    rescaled: float
    undefined: int = 0
    constant: float | None = None
    law: Law | None = field(default=None, repr=False, compare=False)

    @property
    def resolution(self) -> tuple[float, float]:
        """A scale below the first or above the second times the right one is caught at least 999 times in 1,000.

        NaN if the law is of whole numbers, or has no quantiles.
        """
        return _resolution(self.law, self.n, self.alpha)

    @property
    def passes(self) -> bool:
        """Whether no test rejects the law."""
        return not self.problems

    @property
    def problems(self) -> tuple[str, ...]:
        """The mistakes found, in plain words, with the most likely one first."""
        if self.undefined:
            return (f"{self.undefined:,} of {self.n:,} answers are not numbers",)
        if self.constant is not None:
            return (f"every answer is {self.constant:g}: no noise, or a fixed seed",)
        level = self.alpha / 3
        found = []
        if self.scale < level:
            word = "little" if self.ratio < 1 else "much"
            found.append(f"too {word} noise: it spreads {self.ratio:.3g} times as far as it should")
            found += ["and another shape of noise"] if self.rescaled < level else []
        if self.centre < level:
            found.append("off centre: answers lie on one side too often")
        if self.shape < level and not found:
            found.append("another shape of noise: centre and spread are right, the law is not")
        return tuple(found)

    @property
    def words(self) -> str:
        """The finding in one line."""
        if self.problems:
            return "; ".join(self.problems)
        low, high = self.resolution
        seen = (
            "" if math.isnan(low) else f"; a scale below {low:.2f} or above {high:.2f} times that would show"
        )
        return f"fits the expected law on {self.n:,} draws{seen}"

    def to_json(self) -> dict[str, object]:
        """The facts in JSON's own types."""
        named = {"n": self.n, "alpha": self.alpha, "undefined": self.undefined, "constant": self.constant}
        tests = {
            name: _known(getattr(self, name)) for name in ("centre", "scale", "shape", "ratio", "rescaled")
        }
        return {
            **named,
            **tests,
            "resolution": [_known(end) for end in self.resolution],
            "passes": self.passes,
        }


def fit_noise(
    draws: ArrayLike, law: Law, alpha: float = 1e-6, rng: int | np.random.Generator = 0
) -> NoiseFit:
    """Test draws against their expected law, for too little and too much noise.

    Parameters
    ----------
    draws : array-like, shape (n,)
        Independent answers to one question on one dataset, at least 100.
    law : object
        With ``cdf(x)``, and with ``pmf(x)`` if it is of whole numbers: ``scipy.stats.laplace(true_answer, scale)``, or one of dpnb's.
    alpha : float
        Probability that right draws fail, at most.
    rng : int or numpy Generator
        For the uniform points at the jumps of a law of whole numbers.

    Returns
    -------
    NoiseFit

    Raises
    ------
    PlanError, OptionError
        If there are too few draws, they are not single numbers, or `law` has no ``cdf``.

    Examples
    --------
    >>> from scipy import stats
    >>> draws = 3 + np.random.default_rng(1).laplace(0, 1, 4000)  # should be 2
    >>> fit_noise(draws, stats.laplace(3, 2)).problems
    ('too little noise: it spreads 0.502 times as far as it should',)
    """
    values = np.asarray(draws, dtype=np.float64)
    if values.ndim != 1 or values.size < _FEWEST:
        raise PlanError(
            f"A fit takes at least {_FEWEST} single numbers, not an array of shape {values.shape}."
        )
    if not callable(getattr(law, "cdf", None)):
        raise PlanError("The expected law has a cdf: scipy.stats.laplace(true_answer, scale), for example.")
    if not 0 < alpha < 0.5:
        raise OptionError(f"alpha is a small probability, above 0 and below 0.5, not {alpha}.")
    undefined = int((~np.isfinite(values)).sum())
    constant = float(values[0]) if not undefined and np.all(values == values[0]) else None
    if undefined or constant is not None:
        nan = math.nan
        return NoiseFit(values.size, alpha, nan, nan, nan, nan, nan, undefined, constant, law)
    uniform = _uniform(values, law, np.random.default_rng(rng))
    return _tested(uniform, values, law, alpha)


def _uniform(values: Floats, law: Law, rng: np.random.Generator) -> Floats:
    """Return F of each draw, with a uniform point of each jump; strictly inside (0, 1)."""
    found = np.asarray(law.cdf(values), dtype=np.float64)
    if _of_whole_numbers(law):
        found = found - rng.random(values.size) * np.asarray(law.pmf(values), dtype=np.float64)
    return np.asarray(np.clip(found, 1e-300, 1 - 2**-53))


def _of_whole_numbers(law: Law) -> TypeGuard[WholeLaw]:
    return callable(getattr(law, "pmf", None))


def _quantiles(law: Law | None) -> Callable[[Any], Any] | None:
    """Return the quantiles of a law of real numbers, where it says them."""
    return None if law is None or _of_whole_numbers(law) else getattr(law, "ppf", None)


def _distance(uniform: Floats) -> Floats:
    """Return how far each lies from the middle: exponential with mean 1 under the law."""
    return np.asarray(-np.log(2 * np.minimum(uniform, 1 - uniform)))


def scale_p_value(exponentials: Floats) -> float:
    """Return the exact two-sided p-value of a sum of exponentials of mean 1.

    Examples
    --------
    >>> round(scale_p_value(np.ones(100)), 2) > 0.9
    True
    """
    from scipy.special import gammainc, gammaincc

    n, total = exponentials.size, float(exponentials.sum())
    return float(min(1.0, 2 * min(gammainc(n, total), gammaincc(n, total))))


def _tested(uniform: Floats, values: Floats, law: Law, alpha: float) -> NoiseFit:
    n, distance = uniform.size, _distance(uniform)
    ratio = float(distance.sum()) / n
    return NoiseFit(
        n,
        alpha,
        _two_sided_half(int((uniform > 0.5).sum()), n),
        scale_p_value(distance),
        shape_p_value(uniform),
        ratio,
        _rescaled(values, law, ratio),
        law=law,
    )


def _two_sided_half(hits: int, n: int) -> float:
    """Return the p-value of so many hits where a fair coin decides."""
    from scipy.special import bdtr

    return float(min(1.0, 2 * bdtr(min(hits, n - hits), n, 0.5)))


def shape_p_value(uniform: Floats) -> float:
    """Return the p-value of the largest distance from the uniform distribution, by its exact law."""
    from scipy.stats import kstwo

    n = uniform.size
    places, ordered = np.arange(n), np.sort(uniform, axis=None)
    distance = max(float((ordered - places / n).max()), float(((places + 1) / n - ordered).max()))
    return float(kstwo.sf(distance, n))


def _rescaled(values: Floats, law: Law, ratio: float) -> float:
    ppf = _quantiles(law)
    if ppf is None:
        return math.nan
    middle = float(ppf(0.5))
    return shape_p_value(np.asarray(law.cdf(middle + (values - middle) / ratio), dtype=np.float64))


def _resolution(law: Law | None, n: int, alpha: float) -> tuple[float, float]:
    """Return the scales, below and above 1, from which on the test of scale misses at most once in 1,000."""
    from scipy import stats

    ppf = _quantiles(law)
    if law is None or ppf is None:
        return math.nan, math.nan
    middle = float(ppf(0.5))
    noise = np.asarray(ppf((np.arange(_GRID) + 0.5) / _GRID), dtype=np.float64) - middle
    accepted = stats.gamma(n).ppf([alpha / 6, 1 - alpha / 6])
    reach = float(stats.norm.ppf(_CAUGHT))

    def edge(ratio: float, way: int) -> float:
        found = _distance(np.clip(np.asarray(law.cdf(middle + ratio * noise)), 1e-300, 1 - 2**-53))
        beyond = way * (n * found.mean() - accepted[(way + 1) // 2])
        return float(beyond - reach * math.sqrt(n * found.var()))

    return _root(lambda r: edge(r, -1), 0.0, 1.0), _root(lambda r: edge(r, 1), 1e3, 1.0)


def _root(gain: Callable[[float], float], far: float, near: float) -> float:
    """Return the ratio next to 1 at which a wrong scale is caught; the far end where even that is not."""
    if gain(far) < 0:
        return math.nan
    for _ in range(_HALVINGS):
        middle = (far + near) / 2 if far < near else math.sqrt(far * near)
        far, near = (middle, near) if gain(middle) >= 0 else (far, middle)
    return far


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
