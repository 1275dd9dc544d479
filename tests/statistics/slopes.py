"""Intervals of the slope of a regression on one column, of many releases at once: the reading of :mod:`dpnb.statistics.regression` on arrays.

A release is a row of every array; matrices are of (1, y, x) in half ranges. ``tests/statistics/test_coverage_table.py`` holds it to what a release
is read as, draw by draw.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpnb.inference import student_inflation
from dpnb.inference.law import law_of
from dpnb.planner import PricedQuestion
from dpnb.statistics.moment_integers import blocks
from dpnb.statistics.regression import _TINY, DRAWS
from dpnb.statistics.released import Law, fast_draws, law_as_sum

Y, X = 1, 2
_TERMS = np.array([0, X])
Laws = Mapping[tuple[int, int], tuple[Law, int, bool]]
"""For each entry the law of its integers, how many of them are one, and whether half of the count is taken off."""


def laws_of(item: PricedQuestion) -> Laws:
    """Return the laws of a priced question of two columns' moments."""
    mechanisms = {part.name: part.mechanism for part in item.parts}
    return {
        entry: (law_of(mechanisms[block.name]), block.unit, block.middle)
        for block in blocks(item.checked.setting)
        for entry in block.entries
    }


def noise_of(laws: Laws, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Draw the noise of so many matrices."""
    found = np.zeros((*shape, 3, 3))
    for (i, j), (law, unit, _) in laws.items():
        found[..., i, j] = found[..., j, i] = fast_draws(law, shape, rng) / unit
    for (i, _), (*_, middle) in laws.items():
        if middle:
            found[..., i, i] += found[..., 0, 0] / 2
    return found


@dataclass(frozen=True, eq=False)
class Slopes:
    """Slopes of many noised matrices, shape ``(releases, 3, 3)``."""

    matrices: np.ndarray
    laws: Laws

    def _variance(self, entry: tuple[int, int]) -> float:
        law, unit, middle = self.laws.get(entry, (None, 1, False))
        own = 0.0 if law is None else law_as_sum(law).total_variance / unit**2
        return own + (self._variance((0, 0)) / 4 if middle else 0.0)

    @property
    def size(self) -> np.ndarray:
        """Rows, as released."""
        return self.matrices[:, 0, 0]

    @property
    def _gram(self) -> np.ndarray:
        return self.matrices[:, _TERMS[:, None], _TERMS]

    @property
    def lost(self) -> np.ndarray:
        """Of which releases nothing bounds the slope."""
        rows = max(sum(self._variance((min(i, j), max(i, j))) for j in _TERMS) for i in _TERMS)
        norm = 2 * math.sqrt(rows) + 1e-9 * np.maximum(np.abs(np.trace(self._gram, axis1=1, axis2=2)), 1.0)
        small = (self.size < 3 * math.sqrt(self._variance((0, 0)))) | (self.size < 1)
        return (np.linalg.eigvalsh(self._gram)[:, 0] < norm) | small | (self.size < 3)

    @property
    def coefficients(self) -> np.ndarray:
        """Intercept and slope, in half ranges."""
        return np.stack(solved(self.matrices), axis=-1)

    def residual_variance(self) -> np.ndarray:
        """The residual variance, where it is not clear of its noise the largest that is likely."""
        beta, right = self.coefficients, self.matrices[:, _TERMS, Y]
        explained = 2 * (beta * right).sum(1) - np.einsum("ri,rij,rj->r", beta, self._gram, beta)
        total = self.matrices[:, Y, Y] - explained
        weight = np.stack([-beta[:, 0], np.ones(len(beta)), -beta[:, 1]], axis=1)
        noise = 0.0
        for (i, j), (law, unit, _) in self.laws.items():
            each = weight[:, i] * weight[:, j] * (1 if i == j else 2)
            if (i, j) == (0, 0):
                each = (
                    each + sum(weight[:, p] ** 2 for (p, _), (*_, middle) in self.laws.items() if middle) / 2
                )
            noise = noise + each**2 * law_as_sum(law).total_variance / unit**2
        clear = total > 2 * np.sqrt(noise)
        likely = np.where(clear, total, np.maximum(total, 0.0) + 1.645 * np.sqrt(noise))
        return np.clip(likely / np.maximum(self.size - 2, 1.0), _TINY, 1.0)

    def radii(
        self, noise: np.ndarray, normal: np.ndarray, level: float = 0.95
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the half-widths of both intervals from draws of the noise, shape ``(releases, draws, 3, 3)``, and of the normal law."""
        slope = self.coefficients[:, 1]
        privacy = solved(self.matrices[:, None] - noise)[1] - slope[:, None]
        spread = np.sqrt(self.residual_variance() * student_inflation(self.size - 1, level))
        root = np.linalg.cholesky(self._gram)
        bootstrap = self.matrices[:, None] + noise
        bootstrap[..., _TERMS, Y] = (
            (self._gram @ self.coefficients[..., None])[..., 0][:, None]
            + spread[:, None, None] * normal @ np.swapaxes(root, 1, 2)
            + noise[..., _TERMS, Y]
        )
        confidence = solved(bootstrap)[1] - slope[:, None]
        place = min(math.ceil(level * (DRAWS + 1)) - 1, DRAWS - 1)
        found = (np.partition(np.abs(one), place, axis=1)[:, place] for one in (privacy, confidence))
        return next(found), next(found)


def solved(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return intercepts and slopes of exact matrices."""
    n, s, q = matrices[..., 0, 0], matrices[..., 0, X], matrices[..., X, X]
    t, p = matrices[..., 0, Y], matrices[..., X, Y]
    pivot = n * q - s * s
    with np.errstate(all="ignore"):
        return (q * t - s * p) / pivot, (n * p - s * t) / pivot


def exact(y: np.ndarray, x: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return the matrices of studies, a row of values each."""
    half, centre = (high - low) / 2, (high + low) / 2
    rows: Any = np.stack([np.ones(y.shape), (y - centre) / half, (x - centre) / half], axis=-1)
    return np.einsum("rni,rnj->rij", rows, rows)
