r"""Posterior draws of an answer: what is believed of the true value, from a prior, the law of the noise and the sampling error. Free.

The likelihood of a candidate is the density of the answer's draws there (:mod:`dpnb.estimate.draws`): the value less draws of its error, noise and
sampling together, smoothed by a normal kernel. The posterior is its product with the prior, over the answer's public range. For a vector each
component stands alone. Draws resolve no far tails: a prior that lies where the answer says nearly nothing is refused.

*Shrinking.* Values of groups are taken as draws of one normal population, their errors as normal with the answer's standard errors. Its mean has a
flat prior, and so has its standard deviation: what is known of both is integrated over. Groups with large errors move most.

References
----------
Rubin, *Estimation in parallel randomized experiments* (1981), and Gelman, *Prior distributions for variance parameters* (2006), for shrinking;
Silverman, *Density Estimation* (1986), 3.4.2, for the kernel's width; Fraser, *Statistical inference: likelihood to significance* (1991), for a
density of errors as a likelihood of a location.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dpnb.errors import OptionError, PlanError, Unavailable
from dpnb.estimate import draws, wording
from dpnb.estimate.evaluate import plain
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Number
from dpnb.inference.interval import Interval, Kind

if TYPE_CHECKING:
    from dpnb.estimate.estimate import Estimate

_POINTS = 4_001
_TAIL = 1e-7
_FEWEST = 4
_APART = (
    "This prior lies where the answer says nearly nothing: the draws of its errors do not reach there. Give a wider prior, or report the "
    "answer's interval beside it."
)
_PRIOR = "prior= takes a distribution of scipy.stats with its parameters, for example stats.norm(0, 10), stats.beta(2, 2) or stats.halfnorm(0, 5)."


class Prior(Protocol):
    """What a prior must be able to do, as a frozen continuous distribution of ``scipy.stats``."""

    def pdf(self, x: Any, /) -> Any:
        """Return the density."""

    def ppf(self, q: Any, /) -> Any:
        """Return quantiles."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws of what is believed of a value.

    Parameters
    ----------
    draws : ndarray, shape (count, *shape)
        Of each component alone.
    kind : {"confidence", "privacy"}
        About the population, or about this dataset.
    calendar : str, optional
        Of dates the step that the values count.
    """

    draws: Floats
    kind: Kind
    calendar: str | None = None

    @property
    def mean(self) -> Number:
        """The posterior mean."""
        return plain(self.draws.mean(axis=0))

    @property
    def sd(self) -> Number:
        """The posterior standard deviation."""
        return plain(self.draws.std(axis=0))

    def interval(self, level: float = 0.95) -> Interval:
        """The central credible interval: it holds the value with this probability, if the prior is right."""
        if not 0 < level < 1:
            raise OptionError(f"A level lies between 0 and 1, such as 0.95; not {level!r}.")
        ends = np.quantile(self.draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return Interval(
            plain(ends[0]), plain(ends[1]), level, self.kind, "a credible interval", self.calendar
        )

    def probability(self, event: Callable[[Floats], Any]) -> Number:
        """The probability of an event: ``p.probability(lambda x: x > 0)``."""
        return plain(np.mean(np.asarray(event(self.draws), dtype=float), axis=0))

    def __repr__(self) -> str:
        return f"<posterior of {len(self.draws):,} draws, mean {self.mean}, 95% credible interval {self.interval()}>"


def posterior(self: Estimate, prior: Prior | None = None, *, kind: Kind | None = None) -> Posterior:
    """Combine the answer with a prior: draws of what is then believed. Free.

    Parameters
    ----------
    prior : frozen distribution of scipy.stats, optional
        What was believed before, of each component; by default every value of the public range alike.
    kind : {"confidence", "privacy"}, optional
        About the population or about this dataset; by default as for :meth:`interval`.

    Raises
    ------
    PendingError
        Before the release.
    OptionError
        If this is no such distribution.
    Unavailable
        If nothing bounds the answer, or the prior lies where the answer says nearly nothing.

    Examples
    --------
    >>> gap.posterior(stats.norm(0, 1_000)).probability(lambda x: x > 0)  # doctest: +SKIP
    """
    if prior is not None and not all(callable(getattr(prior, name, None)) for name in ("pdf", "ppf")):
        raise OptionError(_PRIOR)
    found = self.interval(0.95, kind)
    if not np.isfinite(np.asarray(found.low)).all() or not np.isfinite(np.asarray(found.high)).all():
        raise Unavailable("The noise leaves this answer unbounded: there is no posterior. Measure it again.")
    drawn = draws.joint([self], found.kind)
    keys = draws.sources(self)
    rng = DrawGenerator(tuple(key for one in keys for key in one[0])).of("posterior")
    domain = (-math.inf, math.inf) if self.outcome is None else self.outcome.domain
    columns = [combined(one, prior, domain, rng) for one in drawn.T]
    return Posterior(np.stack(columns, axis=-1).reshape(-1, *self.shape), found.kind, found.calendar)


def shrink(self: Estimate) -> Posterior:
    """Move the answers of groups towards each other, those with the largest errors most. Free.

    Returns
    -------
    Posterior
        Its intervals hold the values of a share of the groups, not of each group whatever its value: a group that is unlike the others is
        moved too far.

    Raises
    ------
    PendingError
        Before the release.
    PlanError
        If these are not the answers of four groups or more along one key.
    Unavailable
        If no two groups have a standard error.

    Examples
    --------
    >>> census.groupby("region").income.mean().shrink().interval(0.9)  # doctest: +SKIP
    """
    if len(self.shape) != 1 or self.size < _FEWEST:
        raise PlanError(
            "shrink() takes the answers of four groups or more along one key: ds.groupby(…).x.mean()."
        )
    errors = np.asarray(self.standard_error, dtype=float)
    keys = tuple(key for one in draws.sources(self) for key in one[0])
    found = shrunk(np.asarray(self.value, dtype=float), errors, DrawGenerator(keys).of("shrink"))
    return Posterior(found, "confidence", wording.calendar(self))


def shrunk(values: Floats, errors: Floats, rng: np.random.Generator) -> Floats:
    """Return posterior draws of the values of groups, shape ``(count, groups)``; a group without a value or a finite error is one like the others."""
    known = np.isfinite(values) & np.isfinite(errors) & (errors > 0)
    if known.sum() < 2:
        raise Unavailable(
            "Fewer than two of these groups have a standard error: there is nothing to move them to."
        )
    v, variances = values[known], errors[known] ** 2
    top = 10 * (float(np.std(v)) + float(np.sqrt(variances.min())))
    spread = np.linspace(0, top, 1_001)[:, None]
    precision = 1 / (variances + spread**2)
    whole = precision.sum(axis=1, keepdims=True)
    centre = (precision * v).sum(axis=1, keepdims=True) / whole
    fit = (
        -0.5 * np.log(whole)
        + (np.log(precision) - precision * (v - centre) ** 2).sum(axis=1, keepdims=True) / 2
    )
    weight = np.exp(fit - fit.max()).ravel()
    at = rng.choice(len(weight), draws.DRAWS, p=weight / weight.sum())
    mean = centre[at] + rng.standard_normal((len(at), 1)) / np.sqrt(whole[at])
    told = np.where(known, 1 / np.where(known, errors, 1.0) ** 2, 0.0)
    with np.errstate(divide="ignore"):
        before = 1 / spread[at] ** 2
    keep = np.where(np.isinf(before), 0.0, told / (told + before))
    left = np.where(np.isinf(before), 0.0, 1 / (told + before))
    middle = mean + keep * (np.where(known, values, 0.0) - mean)
    return np.asarray(middle + np.sqrt(left) * rng.standard_normal(middle.shape))


def combined(
    drawn: Floats, prior: Prior | None, domain: tuple[float, float], rng: np.random.Generator
) -> Floats:
    """Return draws of the posterior of one value, as many as there are of its likelihood.

    Parameters
    ----------
    drawn : ndarray, shape (count,)
        Draws of the value under no prior; those that are undefined, of a root or a logarithm, are left out.
    prior : Prior or None
        None for a flat one.
    domain : (float, float)
        The public range.
    rng : Generator
    """
    count, drawn = len(drawn), drawn[np.isfinite(drawn)]
    low, high = float(drawn.min()), float(drawn.max())
    if low == high:
        return np.full(count, np.clip(low, *domain))
    spread = min(
        float(drawn.std()), float(np.subtract(*np.quantile(drawn, [0.75, 0.25]))) / 1.349 or math.inf
    )
    width = 0.9 * spread * len(drawn) ** -0.2
    grid = np.linspace(low - 4 * width, high + 4 * width, _POINTS)
    step = float(grid[1] - grid[0])
    counts, _ = np.histogram(drawn, np.append(grid - step / 2, grid[-1] + step / 2))
    reach = min(math.ceil(4 * width / step), _POINTS // 2)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / width) ** 2)
    likelihood = np.convolve(counts, kernel, mode="same")
    # a prior that is narrower than the answer has points of its own
    known = (-math.inf, math.inf) if prior is None else tuple(float(x) for x in prior.ppf([_TAIL, 1 - _TAIL]))
    first, last = max(grid[0], known[0], domain[0]), min(grid[-1], known[1], domain[1])
    if not first < last:
        raise Unavailable(_APART)
    points = np.linspace(first, last, _POINTS)
    density = np.interp(points, grid, likelihood)
    # of 10,000 draws a density below that of a few of them is not known
    if density.max() < 20 / len(drawn) * likelihood.max():
        raise Unavailable(_APART)
    mass = density if prior is None else density * np.nan_to_num(np.asarray(prior.pdf(points)), posinf=0.0)
    below = np.concatenate([[0.0], np.cumsum((mass[1:] + mass[:-1]) / 2)])
    if not below[-1] > 0:
        raise Unavailable(_APART)
    return np.asarray(np.interp(rng.random(count) * below[-1], below, points))
