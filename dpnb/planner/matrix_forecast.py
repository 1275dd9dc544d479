"""What a regression, or another reading of a matrix of moments, would say: simulated before it is bought, from assumed spreads alone.

No bound on a coefficient follows from a noised matrix that the noise could have made singular, and no interval is both finite and valid
everywhere (Gleser and Hwang 1987). So how often that would happen is told before the charge. Nothing here sees a row or spends.

References
----------
Gleser & Hwang, *The nonexistence of 100(1-α)% confidence sets of finite expected diameter in errors-in-variables models* (1987).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpnb.errors import OptionError, Unavailable
from dpnb.inference.digits import rounded
from dpnb.inference.simulated_release import released_parts
from dpnb.planner.check import CheckedQuestion
from dpnb.statistics import Setting
from dpnb.statistics.moment_integers import blocks, of_four, pairs, radius_squared, sides
from dpnb.statistics.result import Result
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release

STUDIES = 60
_ROWS = 4096
_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Columns:
    """What is assumed of the columns, in half ranges from the middle of their bounds.

    Parameters
    ----------
    means, sds : tuple of float
        One for each column.
    correlation : float
        Between every two columns.
    """

    means: tuple[float, ...]
    sds: tuple[float, ...]
    correlation: float

    def sums(self, n: int) -> np.ndarray:
        """Return the sums of products of (1, x₁, …, x_p) over `n` typical rows.

        Raises
        ------
        OptionError
            When columns cannot all have this correlation.
        """
        p, mean, sd = len(self.sds), np.array([1.0, *self.means]), np.array([0.0, *self.sds])
        if not -1 / max(p - 1, 1) < self.correlation < 1:
            raise OptionError(
                f"correlation= of every two of {p} columns lies above {rounded(-1 / max(p - 1, 1))} and below 1."
            )
        ties = np.full((p + 1, p + 1), self.correlation)
        np.fill_diagonal(ties, 1.0)
        return np.asarray(n * (np.outer(mean, mean) + np.outer(sd, sd) * ties))


@dataclass(frozen=True, slots=True)
class MatrixForecast:
    """What simulated releases of a matrix say.

    Parameters
    ----------
    privacy, confidence : ndarray
        Median half-widths of the intervals of every entry; infinite where most are unbounded. No confidence where there is none.
    unbounded : float
        The share of releases in which some interval is unbounded.
    reason : str
        Why there is no confidence interval.
    studies : int
        How many releases were simulated.
    """

    privacy: np.ndarray
    confidence: np.ndarray | None
    unbounded: float
    reason: str = ""
    studies: int = STUDIES


def forecast(
    checked: CheckedQuestion,
    conclude: Callable[[Sequence[Release]], Result],
    columns: Columns,
    share: Share,
    n: int,
    level: float = _LEVEL,
    studies: int = STUDIES,
    products: Sequence[tuple[int, int, int]] = (),
) -> MatrixForecast:
    """Simulate releases of the moments of a typical study, and read them.

    Parameters
    ----------
    checked : CheckedQuestion
        The moments.
    conclude : callable
        The reading.
    columns : Columns
        What is assumed.
    share : Share
        The loss.
    n : int
        Rows.
    level : float
        Of the intervals.
    studies : int
        How many releases are simulated.
    products : sequence of (int, int, int)
        Places of two columns, and of the column that is their product in every row; nothing is assumed of that one.
    """
    setting = _sized(checked.setting, n)
    by_rows = bool(products) or of_four(setting)
    exact = _integers(setting, _of_rows(setting, columns, products, n) if by_rows else columns.sums(n))
    pricing, rng = checked.kind.price(setting, share), np.random.default_rng(1)
    widths: dict[str, list[np.ndarray]] = {"privacy": [], "confidence": []}
    reason = ""
    for study in range(studies):
        parts = released_parts(pricing.parts, (exact[part.name] for part in pricing.parts), rng)
        read = conclude((Release(f"planned {study}", "", "", "", parts, PrivacyLoss.zero(Measure.PURE)),))
        for kind, found in widths.items():
            try:
                found.append(np.ravel(np.asarray(read.interval(level, kind).half_width, dtype=float)))
            except Unavailable as missing:
                reason = str(missing)
    privacy = np.stack(widths["privacy"])
    confidence = np.median(np.stack(widths["confidence"]), axis=0) if widths["confidence"] else None
    unbounded = float(np.mean(np.isinf(privacy).any(axis=1)))
    return MatrixForecast(np.median(privacy, axis=0), confidence, unbounded, reason, studies)


def _of_rows(
    setting: Setting, columns: Columns, products: Sequence[tuple[int, int, int]], n: int
) -> np.ndarray:
    """Return the sums of products of columns some of which are products of others: of rows whose own columns are normal.

    The rows have the assumed means, spreads and correlations exactly, but for what lies beyond the bounds; a column of two values has the
    upper one above a threshold.
    """
    numbers, made = setting.numbers, {place for _, _, place in products}
    own = [place for place in range(1, len(numbers) + 1) if place not in made]
    spread = columns.sums(1)[1:, 1:] - np.outer(columns.means, columns.means)
    normal = np.random.default_rng(1).standard_normal((_ROWS, len(own)))
    normal -= normal.mean(axis=0)
    white = np.linalg.solve(np.linalg.cholesky(np.cov(normal.T, ddof=0).reshape(len(own), -1)), normal.T)
    drawn = np.linalg.cholesky(spread) @ white
    rows = np.ones((len(numbers) + 1, _ROWS))
    for place, mean, values in zip(own, columns.means, drawn, strict=True):
        cut = np.quantile(values, (1 - mean) / 2)
        rows[place] = (
            np.where(values > cut, 1, -1) if numbers[place - 1].binary else np.clip(mean + values, -1, 1)
        )
    found = sides(setting)
    centres = [0.0, *(float(side.centre) for side in found)]
    halves = [1.0, *(float(side.unit * side.half) for side in found)]
    for one, other, place in products:
        value = (centres[one] + halves[one] * rows[one]) * (centres[other] + halves[other] * rows[other])
        rows[place] = np.clip((value - centres[place]) / halves[place], -1, 1)
    if of_four(setting):
        rows = _moved(setting, rows)
    return np.asarray(n / _ROWS * rows @ rows.T)


def _moved(setting: Setting, rows: np.ndarray) -> np.ndarray:
    """Return the rows in the ball, the products of every two of their columns behind them."""
    reach = math.sqrt(float(radius_squared(setting) or 0))
    size = np.sqrt((rows[1:] ** 2).sum(axis=0))
    own = np.vstack([rows[:1], rows[1:] * np.minimum(1.0, reach / np.maximum(size, 1e-12))])
    return np.vstack([own, *(own[a] * own[b] for a, b in pairs(setting))])


def _sized(setting: Setting, n: int) -> Setting:
    if setting.unit.rows is None:
        return setting
    size = n if setting.public_n is not None else max(n, setting.unit.rows)
    return replace(setting, unit=replace(setting.unit, rows=size))


def _integers(setting: Setting, sums: np.ndarray) -> dict[str, Any]:
    """Return the integers of every released block without noise."""
    return {
        block.name: tuple(
            round(float(sums[entry] - block.middle * sums[0, 0] / 2) * block.unit) for entry in block.entries
        )
        for block in blocks(setting)
    }
