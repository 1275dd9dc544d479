r"""Measures of shape that people name, read off a tree: interquartile range, trimmed mean, skewness, Gini coefficient. Free.

The *interquartile range* is the difference of two quantiles; its interval holds if both of theirs do, each at half of the error. The others
are smooth functions of the leaves: their intervals are the symmetric quantile of draws of noise and sampling about the value, with Student's
factor, as for a regression. Where leaves hold several values, the interval is wider by what their width leaves open. Where the size of a group, the
variance (skewness) or the mean (Gini) is not clear of its noise, the interval is the whole range.

*Gini.* :math:`G = \int F(1 - F)\,dx / μ`; what noise takes off :math:`F(1 - F)` on average is known and put back.

References
----------
Tukey & McLaughlin (1963), for the trimmed mean; Gini (1912); Yitzhaki, *More than a dozen alternative ways of spelling Gini* (1998).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpnb.errors import OptionError
from dpnb.inference import student_inflation
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Truths
from dpnb.inference.spread import is_clear
from dpnb.inference.tree import prefix_sums, rising
from dpnb.statistics.regression import DRAWS, around_draws, drawn_variances
from dpnb.statistics.result import Kind, Pair, Result
from dpnb.statistics.tree_fit import Fitted
from dpnb.statistics.tree_location import Means, quantile_results, quantiles_of
from dpnb.statistics.tree_shares import sampling_known, small

_QUARTERS = (Fraction(1, 4), Fraction(3, 4))
_NOTES = {"privacy": "draws of the noise", "confidence": "draws of noise and sampling"}


def iqr_result(found: Fitted) -> Result:
    """Return the interquartile range of each group."""
    both, read = quantile_results(found, _QUARTERS), quantiles_of(found, _QUARTERS)
    values = np.diff(both.values.reshape(-1, 2), axis=1).ravel()
    domain = (0.0, float(np.ptp(found.leaves.number.bounds)))

    def ends(level: float, kind: Kind) -> tuple[Floats, Floats]:
        low, high = (end.reshape(-1, 2) for end in both.both((1 + level) / 2, kind))
        return np.maximum(low[:, 1] - high[:, 0], 0.0), high[:, 1] - low[:, 0]

    notes = dict.fromkeys(_NOTES, "both quartiles, each at half of the error")
    return Result(
        values,
        (),
        domain,
        ends,
        np.full(values.size, math.nan),
        sizes=np.maximum(found.sizes, 0.0),
        cell_flags=small(found, 1),
        redraw=found.redraw(lambda counts: np.diff(read(counts), axis=-1)),
        notes=notes,
    )


@dataclass(frozen=True, eq=False)
class _Smooth:
    """A smooth function of the leaves of each group.

    Parameters
    ----------
    found : Fitted
    read : callable
        From leaves, shape ``(…, groups, leaves)``, to values, shape ``(…, groups, 1)``.
    domain : (float, float)
        What the value can be.
    open_by : ndarray, shape (groups,)
        What the width of the leaves leaves open.
    unclear : ndarray of bool, shape (groups,)
        Where nothing is known.
    flag : str
        What is then said.
    """

    found: Fitted
    read: Callable[[Floats], Floats]
    domain: Pair
    open_by: Floats
    unclear: Truths
    flag: str

    def _deviations(self, kind: Kind) -> Floats:
        """Draws of the errors, shape ``(draws, groups)``."""
        ids = sorted({source.draw for part in self.found.parts.values() for source in part.sources})
        drawn = self.found.redraw(self.read)(DRAWS, DrawGenerator(tuple(ids)), kind)
        return np.asarray(drawn - self.read(self.found.counts).ravel())

    def result(self) -> Result:
        """Return the value of each group with both intervals."""
        found, values = self.found, self.read(self.found.counts).ravel()

        def ends(level: float, kind: Kind) -> tuple[Floats, Floats]:
            factor = np.ones(values.size)
            if kind == "confidence":
                sampling_known(found)
                factor = np.array(
                    [math.sqrt(student_inflation(n, level)) for n in np.maximum(found.sizes, 2.0)]
                )
            low, high = around_draws(values, self._deviations(kind) * factor, level)
            low, high = low - self.open_by, high + self.open_by
            least, most = self.domain
            lost = self.unclear | found.small
            return (
                np.where(lost, least, np.clip(low, least, most)),
                np.where(lost, most, np.clip(high, least, most)),
            )

        sizes = small(found, 1) or ((),) * values.size
        flags = tuple(
            (*one, self.flag) if unclear else one for one, unclear in zip(sizes, self.unclear, strict=True)
        )
        return Result(
            values,
            (),
            self.domain,
            ends,
            drawn_variances(self._deviations("privacy")),
            sizes=np.maximum(found.sizes, 0.0),
            cell_flags=flags,
            redraw=found.redraw(self.read),
            notes=_NOTES,
            drawn=True,
        )


def _half_leaf(found: Fitted) -> float:
    """How far a value may lie from the middle of its leaf, in the column's unit."""
    return (found.leaves.width - 1) / 2 * float(found.leaves.number.step)


def trimmed_mean_result(found: Fitted, share: Fraction) -> Result:
    """Return the mean of each group without a share of the rows at either end."""
    middles, cut = found.leaves.value(found.leaves.middles), float(share)

    def read(counts: Floats) -> Floats:
        size = np.maximum(found.size_of(counts), 1.0)[..., None]
        curve = np.clip(rising(prefix_sums(counts)), cut * size, (1 - cut) * size)
        held = np.diff(curve, axis=-1)
        whole = held.sum(axis=-1)
        middle = np.full_like(whole, middles.mean())
        kept = np.divide(held @ middles, whole, out=middle, where=whole > 0)
        return np.asarray(kept[..., None])

    groups = found.sizes.size
    none = np.zeros(groups, dtype=bool)
    bounds = found.leaves.number.bounds
    return _Smooth(found, read, bounds, np.full(groups, _half_leaf(found)), none, "").result()


def skewness_result(found: Fitted) -> Result:
    """Return the skewness of each group: the third central moment over the standard deviation cubed."""
    means = Means(found)
    scale = max(means.half, 1.0)
    powers = np.stack([(means.weights / scale) ** k for k in (1, 2, 3, 4)], axis=-1)

    def moments(counts: Floats) -> tuple[Floats, Floats, Floats]:
        one, two, three, four = np.moveaxis(
            counts @ powers / np.maximum(found.size_of(counts), 1.0)[..., None], -1, 0
        )
        variance = np.maximum(two - one**2, 1e-9)
        third = three - 3 * one * two + 2 * one**3
        fourth = four - 4 * one * three + 6 * one**2 * two - 3 * one**4
        return variance, third, fourth

    def read(counts: Floats) -> Floats:
        variance, third, _ = moments(counts)
        return np.asarray((third / variance**1.5)[..., None])

    variance, third, fourth = moments(found.counts)
    skew = third / variance**1.5
    slope = np.sqrt(np.maximum(fourth / variance**2 - 1 - skew**2, 0.0))
    half = (found.leaves.width - 1) / 2 / scale
    unclear = np.array([not clear for _, clear in means.row_variances])
    flag = "spread unclear"
    return _Smooth(
        found, read, (-math.inf, math.inf), 3 * half / np.sqrt(variance) * slope, unclear, flag
    ).result()


def gini_result(found: Fitted) -> Result:
    """Return the Gini coefficient of each group."""
    leaves = found.leaves
    middles = leaves.value(leaves.middles)
    gaps = np.diff(middles)
    law = found.prefixes(np.arange(1, leaves.count))
    root = found.structure.root_variance

    def read(counts: Floats) -> Floats:
        size = np.maximum(found.size_of(counts), 1.0)[..., None]
        share = prefix_sums(counts)[..., 1:-1] / size
        lost = (law.variances - 2 * share * law.slope * root + share**2 * root) / size**2
        spread = (share * (1 - share) + np.maximum(lost, 0.0)) @ gaps
        mean = (counts @ middles) / size[..., 0]
        found_ = np.divide(spread, mean, out=np.ones_like(mean), where=mean > 0)
        return np.asarray(np.clip(found_, 0.0, 1.0)[..., None])

    total, noise = found.counts @ middles, math.sqrt(found.covariance(middles, middles))
    unclear = np.array([not is_clear(float(one), noise) for one in total])
    half, gini = _half_leaf(found), read(found.counts).ravel()
    mean = total / np.maximum(found.sizes, 1.0)
    open_by = np.where(mean > half, half * (1 + gini) / np.where(mean > half, mean - half, 1.0), 1.0)
    return _Smooth(found, read, (0.0, 1.0), open_by if half else 0 * gini, unclear, "undefined").result()


def check_share(share: Fraction) -> None:
    """Refuse a share that leaves nothing between both ends."""
    if not 0 <= share < Fraction(1, 2):
        raise OptionError("share= is what is left out at either end: at least 0, and below 0.5.")


def check_gini(lowest: Fraction) -> None:
    """Refuse a column that may be negative."""
    if lowest < 0:
        raise OptionError(
            "A Gini coefficient is about amounts: this column may be negative as declared. Ask it of x.clip(0, …)."
        )
