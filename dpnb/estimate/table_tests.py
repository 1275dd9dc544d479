"""Chi-square tests of released tables: methods of the estimate of a table, free, and deterministic for a release.

Independence of two keys, and agreement of counts with given shares. The null law is simulated with the noise of the release
itself (:mod:`dpnb.inference.chi_square`), seeded by the release's id, so that a test says the same whenever it is asked. Refused:
rows of people who have several, because the test counts people; tables of one value; tables too large to simulate.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dpnb.errors import OptionError, PlanError, Unavailable
from dpnb.estimate.hypothesis import HypothesisTest, Tested
from dpnb.inference.chi_square import MOST_CELLS, ChiSquare, draws_for, goodness_of_fit, independence
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.statistics._base import Setting
from dpnb.statistics.released import Part, combine, draws_of, fast_draws
from dpnb.statistics.shares import public_total

if TYPE_CHECKING:
    from dpnb.estimate.estimate import Estimate

_CLUSTERED = (
    "One person may have several rows here, and a chi-square test counts independent rows: no test. Test a mean or a "
    'proportion with kind="privacy", or count people.'
)


def independence_test(self: Estimate) -> HypothesisTest:
    """Test whether the two keys of the table are independent in the population.

    Examples
    --------
    >>> hiv.got.crosstab("any").independence_test()  # doctest: +SKIP
    """
    setting = _setting(self)
    names = [axis.name for axis in setting.axes]
    if len(names) != 2 or min(setting.shape) < 2:
        raise PlanError(
            f"A test of independence needs a table of two keys with two values or more; this one has {' × '.join(names)}. "
            "Ask the crosstab of two of them."
        )
    return HypothesisTest(
        self, f"{names[0]} and {names[1]} are independent", _independent, name="chi-square test"
    )


def homogeneity_test(self: Estimate) -> HypothesisTest:
    """Test whether groups have one distribution over these bins or values: a chi-square test of two samples or more.

    Examples
    --------
    >>> census.groupby("sex").age.histogram(bins=10).homogeneity_test()  # doctest: +SKIP
    """
    setting = _setting(self)
    if len(setting.axes) != 2 or min(setting.shape) < 2:
        raise PlanError(
            "A test of one distribution needs two groups or more along one key, and two bins or more: "
            "ds.groupby(…).x.histogram(bins=…)."
        )
    groups, along = setting.axes
    said = f"{along.name} has one distribution in all groups of {groups.name}"
    return HypothesisTest(self, said, _independent, name="chi-square test of homogeneity")


def goodness_of_fit_test(self: Estimate, shares: object = None) -> HypothesisTest:
    """Test whether the counts come from a population with given shares.

    Parameters
    ----------
    shares : list, array or dict, optional
        A share for each declared value, adding up to 1; equal shares by default.

    Examples
    --------
    >>> census.sex.value_counts().goodness_of_fit_test([0.49, 0.51])  # doctest: +SKIP
    """
    setting = _setting(self)
    if isinstance(shares, dict) and len(setting.axes) != 1:
        raise OptionError("Give the shares of a table of several keys as an array of its shape.")
    keys = setting.axes[0].keys if len(setting.axes) == 1 else tuple(range(setting.cells))
    if len(keys) < 2:
        raise PlanError("One declared value has share 1: there is nothing to test.")
    given = given_shares(shares, keys)
    said = "all values are equally frequent" if shares is None else "the shares are those given"
    return HypothesisTest(self, said, partial(_fits, shares=given), name="chi-square test")


def given_shares(shares: object, keys: Sequence[object]) -> np.ndarray:
    """Return the shares of a null as an array, from a list or a mapping by declared value.

    Raises
    ------
    OptionError
        If they are not one for each declared value, or do not add up to one.
    """
    if shares is None:
        return np.full(len(keys), 1 / len(keys))
    if isinstance(shares, dict):
        unknown = [key for key in shares if key not in keys]
        if unknown or len(shares) != len(keys):
            raise OptionError(f"A share for each declared value is needed: {', '.join(map(str, keys))}.")
        shares = [shares[key] for key in keys]
    found = np.asarray(shares, dtype=float).ravel()
    if found.size != len(keys):
        raise OptionError(
            f"{len(keys)} shares are needed, one for each declared value; {found.size} are given."
        )
    if not np.isfinite(found).all() or (found < 0).any() or abs(found.sum() - 1) > 1e-6:
        raise OptionError("Shares are not negative and add up to 1.")
    return np.asarray(found / found.sum())


def _setting(estimate: Estimate) -> Setting:
    checked = estimate.args[0].root.checked
    setting: Setting = checked.setting
    if setting.unit.max_rows > 1:
        raise Unavailable(_CLUSTERED)
    if setting.cells > MOST_CELLS:
        raise PlanError(
            f"A table of {setting.cells:,} cells is too large to test; the limit is {MOST_CELLS:,}. Use wider bins or a margin."
        )
    return setting


def _independent(estimate: Estimate) -> Tested:
    setting, part, rng = _released(estimate, "independence")
    counts = part.values.reshape(setting.shape)
    found = independence(
        counts,
        part.noise.total_variance,
        partial(_noise, part),
        rng,
        total=public_total(setting),
        draws=draws_for(counts.size),
    )
    return _tested(found)


def _fits(estimate: Estimate, shares: np.ndarray) -> Tested:
    setting, part, rng = _released(estimate, "goodness of fit")
    found = goodness_of_fit(
        part.values,
        shares,
        part.noise.total_variance,
        partial(_noise, part),
        rng,
        total=public_total(setting),
        draws=draws_for(part.values.size),
    )
    return _tested(found)


def _released(estimate: Estimate, what: str) -> tuple[Setting, Part, DrawGenerator]:
    root = estimate.args[0].root
    generator = DrawGenerator(draws_of(root.releases))
    return root.checked.setting, combine(root.releases)["count"], generator.of(what)


def _noise(part: Part, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return fresh errors of the whole table, of the laws that the releases declare."""
    shape = (count, part.values.size)
    total = np.zeros(shape)
    for source in part.sources:
        total += source.weight * fast_draws(source.law, shape, rng)
    return total


def _tested(found: ChiSquare) -> Tested:
    basis = (
        f"Against {found.draws:,} simulated tables with the noise of this release; rows are taken as independent draws from "
        "the population."
    )
    smallest = 1 / (found.draws + 1)
    return Tested(
        found.p_value, found.statistic, smallest, found.df, basis, bounded=found.p_value <= smallest
    )
