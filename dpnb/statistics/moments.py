"""Cross moments of several bounded numbers: one paid matrix from which every mean, covariance and regression is read free.

The sums over rows of all products of two of (1, x₁, …, x_p), as one vector with noise in the norm in which one row is bounded
(:mod:`dpnb.statistics.moment_integers`). What is read from it (:mod:`dpnb.statistics.moment_readings`, :mod:`dpnb.statistics.regression`) costs
nothing more. It refuses groups: each selection of rows is a question of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from dpnb.inference.digits import rounded
from dpnb.inference.law import law_of
from dpnb.statistics._base import Axis, Options, PriceRow, Pricing, Setting, Target
from dpnb.statistics.declaration import Spelling, Statistic
from dpnb.statistics.discriminant import discriminant, ridge
from dpnb.statistics.moment_integers import (
    Block,
    blocks,
    columns,
    of_two_columns,
    shrink,
    sides,
)
from dpnb.statistics.moment_matrix import matrix_outcome
from dpnb.statistics.moment_readings import correlation, covariance, mean
from dpnb.statistics.noise import scaled, unit_loss
from dpnb.statistics.pair import price_together
from dpnb.statistics.regression_readings import coefficients, r_squared, standardized
from dpnb.statistics.result import Pair, ReadingFunction, Result
from dpnb.trusted.aggregate.algebra import CrossMoments, Lit
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release

_DRAWS = 2_000


class CrossMoment(Statistic):
    """The matrix of cross moments of several bounded numbers."""

    name: ClassVar[str] = "moments"
    title: ClassVar[str] = "moments"
    target: ClassVar[Target] = "numbers"
    defaults: ClassVar[Options] = {"radius": None, "products": False}
    spelling: ClassVar[Spelling] = Spelling("listed")
    reference: ClassVar[str] = (
        "Dwork, Talwar, Thakurta & Zhang 2014; Bun & Steinke 2016; sensitivities proved in dpnb.trusted.measurements"
    )
    readings: ClassVar[Mapping[str, ReadingFunction]] = MappingProxyType(
        {
            "mean": mean,
            "covariance": covariance,
            "correlation": correlation,
            "coefficients": coefficients,
            "r_squared": r_squared,
            "standardized": standardized,
            "discriminant": discriminant,
            "ridge": ridge,
            "ols": None,
        }
    )

    def extra_axes(self, setting: Setting) -> tuple[Axis, ...]:
        """The constant and the columns, twice."""
        sides(setting)
        keys = ("1", *setting.names)
        return Axis("row", "moment of", keys), Axis("column", "and", keys)

    def domain(self, setting: Setting) -> Pair:  # noqa: ARG002
        """Unbounded: sums over rows."""
        return -math.inf, math.inf

    def price(self, setting: Setting, share: Share) -> Pricing:
        """The whole matrix as one vector, in the norm of its noise; of two columns with squares from the middle."""
        if of_two_columns(setting):
            x, y = sides(setting)
            return price_together(setting, share, x, y)
        found, values, moved = blocks(setting), (Lit(1), *columns(setting)), shrink(setting)
        parts = [
            Measurement(
                b.name,
                CrossMoments(values, b.entries, setting.where, moved),
                _relative(b, share.kind),
                len(b.entries),
            )
            for b in found
        ]
        return Pricing(scaled(setting, share, parts), _rows(setting, share, unit_loss(setting, parts), found))

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """The noise in rows, for columns measured in half ranges; and from how many rows on a regression has bounded intervals."""
        noise, size = _noise_sd(setting, pricing), setting.public_n if setting.public_n is not None else n
        said = f"noise of sd {rounded(noise)} rows on each moment, in half ranges"
        if len(setting.numbers) < 2:
            return said
        laplace = not isinstance(pricing.parts[0].mechanism, DiscreteGaussian)
        needed = noise * _clear(len(setting.numbers), _squares_sd(setting, pricing) / noise, laplace=laplace)
        few = size is not None and size < needed
        fit = (
            "a regression on all of them would be unbounded: it needs"
            if few
            else "a regression on all of them needs"
        )
        return f"{said}; {fit} about {rounded(round(needed))} rows (for columns with an sd of a sixth of their range, correlation .3)"

    def conclude(self, setting: Setting, releases: Sequence[Release]) -> Result:
        """Return the matrix of sums of products, in the columns' own units."""
        return matrix_outcome(setting, releases)


@cache
def _clear(columns: int, diagonal: float, *, laplace: bool) -> float:
    """Return how many rows for each row of noise on a product leave X'X clear of it in 95 of 100 draws: the test of :mod:`~dpnb.statistics.regression`.

    The smallest eigenvalue of X'X of n rows is about n/9 · .7; the noise lowers it by its own smallest one. On squares it is so many times as large.
    """
    rng = np.random.default_rng(1)
    draws = rng.standard_normal((_DRAWS, columns, columns))
    if laplace:
        draws = rng.laplace(0, math.sqrt(0.5), draws.shape)
    lower = np.tril(draws, -1) + diagonal * draws * np.eye(columns)
    smallest = np.linalg.eigvalsh(lower)[:, 0]
    norm = 2 * math.sqrt(diagonal**2 + columns - 1)
    return float(norm - np.quantile(smallest, 0.05)) * 9 / 0.7


def _noise_sd(setting: Setting, pricing: Pricing) -> float:
    """The standard deviation of the noise on a product; of a single column on its sum."""
    return _sd(setting, pricing, (1, 2) if len(setting.numbers) > 1 else (0, 1)) or 0.0


def _squares_sd(setting: Setting, pricing: Pricing) -> float:
    """The standard deviation of the noise on a square, where one is released."""
    squares = (_sd(setting, pricing, (place, place)) for place in range(1, len(setting.numbers) + 1))
    return next(filter(None, squares), _noise_sd(setting, pricing))


def _sd(setting: Setting, pricing: Pricing, entry: tuple[int, int]) -> float | None:
    """The standard deviation of the noise on an entry; nothing where it is not released."""
    holds = (one for one in blocks(setting) if any(entry in alike for alike in one.alike))
    block = next(holds, None)
    if block is None:
        return None
    variances = {part.name: law_of(part.mechanism).variance_float for part in pricing.parts}
    counted = variances.get("count", 0.0) / 4 if block.middle else 0.0
    return math.sqrt(variances[block.name] / block.unit**2 + counted)


def _relative(block: Block, kind: str) -> DiscreteLaplace | DiscreteGaussian:
    """Return noise that is equal in the units of the entries, or of the Frobenius norm: half the variance off the diagonal."""
    if kind == "epsilon":
        return DiscreteLaplace(Fraction(block.unit))
    return DiscreteGaussian(Fraction(block.unit**2, block.times))


def _rows(setting: Setting, share: Share, loss: Fraction, found: tuple[Block, ...]) -> tuple[PriceRow, ...]:
    """Return the price list of a matrix that costs so much under noise of one unit."""
    pure = share.kind == "epsilon"
    reach = float(loss) if pure else math.sqrt(2 * loss)
    spread = reach / float(share.amount) if pure else reach / math.sqrt(2 * share.amount)
    words = f"one person moves the matrix by at most {rounded(reach)} ({'L1' if pure else 'Frobenius'}, in half ranges)"
    listed: list[PriceRow] = []
    for kind in ("count", "sums", "squares", "products"):
        count = sum(len(b.entries) for b in found if b.name.partition("/")[0] == kind)
        if not count:
            continue
        entries = "number of rows" if kind == "count" else f"{count:,} {kind if count > 1 else kind[:-1]}"
        times = {b.times for b in found if b.name.partition("/")[0] == kind}
        scales = sorted({spread if pure else spread / math.sqrt(one) for one in times})
        cost = (
            "in the same matrix"
            if listed
            else f"{'ε' if pure else 'ρ'} {rounded(float(share.amount))} for the whole matrix"
        )
        listed.append(
            PriceRow(
                f"{setting.subject}: {entries}",
                (DiscreteLaplace if pure else DiscreteGaussian).phrase,
                words,
                f"{'scale' if pure else 'sd'} {' to '.join(map(rounded, scales[:1] + scales[1:][-1:]))} rows",
                cost,
            )
        )
    return tuple(listed)
