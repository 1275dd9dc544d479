"""Interval methods by name: what is put around an answer, and what it claims to hold.

``privacy`` and ``confidence`` are the intervals of a release, computed by the release's own code. ``naive`` and ``normal`` are
there to be compared: ``naive`` treats the noised numbers as exact, as every statistics package would; ``normal`` adds the
noise's variance and a normal quantile. Any other method is an object with the three names of :class:`Method`, or
:func:`per_release` of a function of one release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.errors import OptionError, Unavailable
from dpnb.inference.spread import normal_quantile, student_inflation
from dpnb.planner.check import CheckedQuestion
from dpnb.trusted.releases import Release

if TYPE_CHECKING:
    from dpnb.simulate.studies import Studies
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.statistics import conclude

About = Literal["dataset", "population"]
Ends = tuple[NDArray[np.float64], NDArray[np.float64]]
OneRelease = Callable[[CheckedQuestion, Release, float, np.random.Generator], tuple[ArrayLike, ArrayLike]]


class Method(Protocol):
    """An interval method."""

    @property
    def name(self) -> str:
        """Its name in tables and figures."""
        ...

    @property
    def about(self) -> About:
        """Whose value it claims to contain."""
        ...

    def __call__(self, studies: Studies, level: float) -> Ends:
        """Return both ends for all losses, studies and entries; not a number where there is no interval."""
        ...


@dataclass(frozen=True, slots=True)
class Shipped:
    """An interval of a release."""

    name: Literal["privacy", "confidence"]
    about: About

    def __call__(self, studies: Studies, level: float) -> Ends:
        """Return what the release says."""
        return studies.interval(level, self.name)


@dataclass(frozen=True, slots=True)
class Naive:
    """Treats noised numbers as exact: Student's interval without the noise."""

    name: str = "naive"
    about: About = "population"

    def __call__(self, studies: Studies, level: float) -> Ends:
        """Return value ± t · sampling error."""
        sampling = studies.sampling_variance
        if sampling is None:
            raise Unavailable("There is no sampling error here, and without it a naive interval is a point.")
        rows = np.nan_to_num(studies.n, nan=1e9) if studies.n is not None else np.full(studies.shape, 1e9)
        reach = np.sqrt(sampling * student_inflation(rows, level)) * normal_quantile(0.5 + level / 2)
        return studies.value - reach, studies.value + reach


@dataclass(frozen=True, slots=True)
class Normal:
    """Sampling and noise added as variances, with a normal quantile."""

    name: str = "normal"
    about: About = "population"

    def __call__(self, studies: Studies, level: float) -> Ends:
        """Return value ± z · standard error."""
        error = studies.standard_error
        if error is None:
            raise Unavailable("No standard error about a population is defined here.")
        reach = error * normal_quantile(0.5 + level / 2)
        return studies.value - reach, studies.value + reach


@dataclass(frozen=True, slots=True)
class PerRelease:
    """A function of one release, called for every study."""

    name: str
    about: About
    function: OneRelease

    def __call__(self, studies: Studies, level: float) -> Ends:
        """Call the function study by study; where it raises Unavailable there is no interval."""
        low, high = np.full((2, *studies.shape), np.nan)
        losses, count, _ = studies.shape
        for loss in range(losses):
            rng = _of_loss(studies, loss)
            for place in range(count):
                try:
                    ends = self.function(studies.checked, studies.release(loss, place), level, rng)
                except Unavailable:
                    continue
                low[loss, place], high[loss, place] = (np.ravel(np.asarray(end, dtype=float)) for end in ends)
        return low, high


def _of_loss(studies: Studies, loss: int) -> np.random.Generator:
    """Return a generator that depends on the block and the loss alone: other losses beside it change nothing."""
    block, paid = studies.rng.bit_generator.seed_seq, studies.items[loss].loss.amount
    key = (paid.numerator, paid.denominator)
    return np.random.default_rng(np.random.SeedSequence(block.entropy, spawn_key=key))  # type: ignore[attr-defined]


def per_release(name: str, about: About, function: OneRelease) -> PerRelease:
    """Return the method that calls ``function(checked, release, level, rng) -> (low, high)`` for every study.

    Parameters
    ----------
    name : str
        Its name in tables and figures.
    about : {"dataset", "population"}
        Whose value the interval claims to contain.
    function : callable
        May raise Unavailable where there is no interval.
    """
    if about not in ("dataset", "population"):
        raise OptionError(f'about= is "dataset" or "population", not {about!r}.')
    return PerRelease(name, about, function)


Intervals = str | Method | Iterable[str | Method]
"""Interval methods, by name or as they are."""
METHODS: dict[str, Method] = {
    method.name: method
    for method in (Shipped("privacy", "dataset"), Shipped("confidence", "population"), Naive(), Normal())
}


def methods_of(given: Intervals) -> tuple[Method, ...]:
    """Read interval methods: names, or objects that are methods."""
    several: Iterable[object] = [given] if isinstance(given, str) or callable(given) else given
    found = tuple(_method(one) for one in several)
    names = [method.name for method in found]
    if not found or len(set(names)) != len(names):
        raise OptionError("intervals= names at least one method, and each of them once.")
    return found


def _method(given: object) -> Method:
    if isinstance(given, str):
        if given not in METHODS:
            raise OptionError(
                f"unknown interval {given!r}: there are {', '.join(METHODS)}, or a method of your own."
            )
        return METHODS[given]
    if not (callable(given) and hasattr(given, "name") and hasattr(given, "about")):
        raise OptionError(
            "an interval method has a name, says what it is about, and is called with (studies, level)."
        )
    return cast("Method", given)


def monte_carlo(draws: int = 400) -> PerRelease:
    """Return the Monte Carlo interval [1]_ as the method for ``coverage(..., intervals=[monte_carlo()])``.

    It is the published Algorithm 2, fed with a release's own noise and standard error: quantiles of |simulated - released|. The
    intervals of a release invert an exact test instead; this one is there to be compared.

    Parameters
    ----------
    draws : int
        Simulated errors for each release, at least 20.

    References
    ----------
    .. [1] D'Orazio, Honaker and King (2015), "Differential Privacy for Social Science Inference", Algorithm 2.
    """
    if draws < 20:
        raise OptionError("draws must be at least 20.")

    def interval(
        checked: CheckedQuestion, release: Release, level: float, rng: np.random.Generator
    ) -> tuple[ArrayLike, ArrayLike]:
        result = conclude(checked, [release])
        chance = DrawGenerator((f"{rng.integers(2**62):x}",))
        drawn = result.draws(draws, chance, "confidence")
        centre = np.asarray(result.value, dtype=float)
        radius = np.quantile(np.abs(drawn - centre), level, axis=0)
        return centre - radius, centre + radius

    return per_release("monte carlo", "population", interval)
