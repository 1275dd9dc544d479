"""Whether groups differ at all: a one-way analysis of variance of released means, with the law of the noise. Free.

All groups have one mean if no difference from the first is other than 0. These differences are tested together by Wald's statistic
(:mod:`dpnb.inference.wald`) against draws of their errors: the noise as it is, and each group's sampling error with Student's factor for its own
released size, as Welch's test has, so that variances may be unequal. Groups too small to tell have draws all over the range, and reject nothing.

References
----------
Welch, *On the comparison of several mean values* (1951); Wald (1943).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dpnb.errors import PlanError, Unavailable
from dpnb.estimate import draws
from dpnb.estimate.draws import PUSHED
from dpnb.estimate.hypothesis import HypothesisTest, Tested
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats
from dpnb.inference.interval import Kind
from dpnb.inference.wald import wald

if TYPE_CHECKING:
    from dpnb.estimate.estimate import Estimate

_BASIS = {
    "confidence": "Wald's statistic against draws of noise and sampling; variances of groups may differ (Welch). Rows are taken as "
    "independent draws from the population.",
    "privacy": "Wald's statistic against draws of the noise alone, nothing about a population.",
}


def anova(self: Estimate, *, kind: Kind = "confidence") -> HypothesisTest:
    """Test whether all groups have one value: a one-way analysis of variance that knows the noise. Free.

    Parameters
    ----------
    kind : {"confidence", "privacy"}
        About the population, or about this dataset.

    Returns
    -------
    HypothesisTest
        None of its p-values is told below 0.0005. Which groups differ: :meth:`compare_groups`.

    Raises
    ------
    PlanError
        If these are not the answers of two groups or more along one key.

    Examples
    --------
    >>> census.groupby("education").income.mean().anova()  # doctest: +SKIP
    """
    if len(self.shape) != 1 or not self.axes or self.size < 2:
        raise PlanError(
            "anova() takes the answers of two groups or more along one key: ds.groupby(…).x.mean().anova()."
        )
    said = f"all groups have one value in {'the population' if kind == 'confidence' else 'this dataset'}"
    return HypothesisTest(self, said, partial(_equal, kind=kind), name="analysis of variance")


def _equal(estimate: Estimate, kind: Kind) -> Tested:
    estimate.interval(0.95, kind)  # raises the reason where there is none
    value = np.asarray(estimate.value, dtype=float)
    noise, _ = draws.push(estimate, "privacy")
    errors = noise - value
    if kind == "confidence":
        moved, _ = draws.push(estimate, "confidence")  # the same draws of the noise
        with np.errstate(invalid="ignore"):
            errors = errors + (moved - noise) * _student(estimate, len(noise))
    df = value.size - 1
    undefined = ~np.isfinite(errors).all(axis=1)
    if undefined.mean() > PUSHED or not np.isfinite(value).all():
        return Tested(
            1.0, 0.0, PUSHED, df, f"{_BASIS[kind]} Some groups are undefined: nothing is known of them."
        )
    kept = errors[~undefined]
    statistic, p_value = wald(value[1:] - value[0], kept[:, 1:] - kept[:, :1])
    return Tested(max(p_value, PUSHED), statistic, PUSHED, df, _BASIS[kind], bounded=p_value <= PUSHED)


def _student(estimate: Estimate, count: int) -> Floats:
    """Return draws of what each group's sampling error is multiplied with, as its spread is estimated from its own rows."""
    try:
        sizes = np.asarray(estimate.n, dtype=float)
    except Unavailable:
        return np.ones((count, 1))
    freedom = np.maximum(sizes - 1, 1.0)
    rng = DrawGenerator(tuple(sorted(release.id for release in estimate.releases))).of("variances of groups")
    return np.asarray(np.sqrt(freedom / rng.chisquare(freedom, (count, sizes.size))))
