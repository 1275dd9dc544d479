"""Synthetic rows side by side: a population whose every chance is known, samples of it, and how near a synthetic table is. Needs numpy alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

LEVELS = (7, 6, 9, 2, 2, 2, 2, 2)
NAMES = ("age", "educ", "income", "sex", "married", "works", "city", "owner")
RHO = 1 / 40.96
"""ρ 0.0244140625, a sum of powers of 2, is (ε 1, δ 1e-6): OpenDP refuses its own budget at 0.02436, by rounding."""
SLOPES = slice(10, 13)
"""Where the coefficients of the logistic regression stand among the estimands."""


def population(seed: int = 49) -> tuple[np.ndarray, np.ndarray]:
    """Every combination of levels, shape ``(cells, columns)``, and its chance: effects of all pairs, and of one triple that no pair shows."""
    rng = np.random.default_rng(seed)
    cells = np.array(list(itertools.product(*map(range, LEVELS))), dtype=np.int64)
    scores = [np.linspace(-1, 1, k)[cells[:, place]] for place, k in enumerate(LEVELS)]
    log = sum(
        (rng.normal(0, 0.4) * one - rng.uniform(0.2, 0.8) * one**2 for one in scores), np.zeros(len(cells))
    )
    for one, other in itertools.combinations(scores, 2):
        log += rng.normal(0, 0.5) * one * other
    log += 0.1 * scores[3] * scores[4] * scores[5]
    chances = np.exp(log - log.max())
    return cells, chances / chances.sum()


def sample(rows: int, seed: int) -> np.ndarray:
    """So many people, shape ``(rows, columns)``."""
    cells, chances = population()
    return cells[np.random.default_rng(seed).choice(len(cells), rows, p=chances)]


@dataclass(frozen=True)
class Synthetic:
    """What a library made.

    Parameters
    ----------
    method : str
        How, in its own words.
    seconds : float
        From the table to the rows.
    rows : ndarray, shape (rows, columns)
        One synthetic table.
    low, high : ndarray, optional
        Its own 95 % intervals of the estimands, where it has some.
    """

    method: str
    seconds: float
    rows: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None


def distances(rows: np.ndarray, data: np.ndarray) -> Iterator[float]:
    """The mean total variation between two tables, over their one-, two- and three-way margins."""
    for ways in (1, 2, 3):
        apart = [
            np.abs(_margin(rows, places) - _margin(data, places)).sum() / 2
            for places in itertools.combinations(range(len(LEVELS)), ways)
        ]
        yield float(np.mean(apart))


def _margin(rows: np.ndarray, places: tuple[int, ...]) -> np.ndarray:
    shape = tuple(LEVELS[place] for place in places)
    at = np.ravel_multi_index(tuple(rows[:, place] for place in places), shape)
    return np.bincount(at, minlength=int(np.prod(shape))) / len(rows)


def estimates(rows: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Fifteen estimands and their variances as a first course has them: three shares, two means, three two-way cells, two differences, three slopes
    of a logistic regression, one of least squares, one three-way cell.
    """
    w = np.ones(len(rows)) if weights is None else weights
    n = w.sum()
    age, educ, income, sex, married, works, city, _ = rows.T.astype(float)

    def mean(x: np.ndarray, at: np.ndarray) -> tuple[float, float]:
        v = w * at
        middle = (v * x).sum() / v.sum()
        return middle, (v * (x - middle) ** 2).sum() / v.sum() ** 2

    everybody = np.ones(len(rows))
    found = [mean(x, everybody) for x in (sex, married, city, age, income)]
    found += [mean(x, everybody) for x in (sex * married, (age == 0) * works, (educ == 1) * (income == 2))]
    for x, by in ((income, married), (age, works)):
        (one, first), (other, second) = mean(x, by), mean(x, 1 - by)
        found.append((one - other, first + second))
    found += _logistic(married, np.column_stack([everybody, age, sex, educ]), w)
    found.append(_slope(educ, income, w, n))
    found.append(mean(sex * married * works, everybody))
    values, variances = np.array(found).T
    return values, variances


def _logistic(y: np.ndarray, x: np.ndarray, w: np.ndarray) -> list[tuple[float, float]]:
    beta = np.zeros(x.shape[1])
    for _ in range(25):
        p = 1 / (1 + np.exp(-x @ beta))
        information = (x * (w * p * (1 - p))[:, None]).T @ x + 1e-9 * np.eye(x.shape[1])
        step = np.linalg.solve(information, x.T @ (w * (y - p)))
        beta += step
        if np.abs(step).max() < 1e-9:
            break
    return list(zip(beta[1:], np.diag(np.linalg.inv(information))[1:], strict=True))


def _slope(x: np.ndarray, y: np.ndarray, w: np.ndarray, n: float) -> tuple[float, float]:
    dx, dy = x - (w * x).sum() / n, y - (w * y).sum() / n
    spread = (w * dx * dx).sum()
    slope = (w * dx * dy).sum() / spread
    return float(slope), float((w * (dy - slope * dx) ** 2).sum() / (n - 2) / spread)


def truths() -> np.ndarray:
    """The estimands of the population."""
    cells, chances = population()
    return estimates(cells, chances * 1e9)[0]


def figures(made: Synthetic, data: np.ndarray) -> dict[str, float | None]:
    """How near one synthetic table is to the data, and how many of the fifteen intervals hold the population: as if rows were people, and its own."""
    truth, (values, variances), (true, of_data) = truths(), estimates(made.rows), estimates(data)
    one, two, three = distances(made.rows, data)
    off = ((values - true)[SLOPES] ** 2 / of_data[SLOPES]).mean() ** 0.5
    naive = np.abs(values - truth) <= 1.96 * np.sqrt(variances)
    own = None if made.low is None or made.high is None else (made.low <= truth) & (truth <= made.high)
    return {
        "tv1": one,
        "tv2": two,
        "tv3": three,
        "logit": float(off),
        "naive": float(naive.mean()),
        "combined": None if own is None else float(own.mean()),
    }
