r"""Ordinary least squares from a noised matrix of moments: coefficients with both intervals, from the released matrix alone.

With :math:`A = X'X, b = X'y, c = y'y` taken from the matrix, :math:`\hat β = A^{-1}b`. The *privacy interval* asks which
coefficients of this dataset the noise cannot reject: draws of :math:`(A - E)^{-1}(b - e)`. The *confidence interval* is the
parametric bootstrap of Ferrando, Wang and Sheldon: :math:`A^* = A + E^*, b^* = Aβ + N(0, σ^2A) + e^*`, the symmetric quantile of
:math:`|β^* - β|`; it supposes errors of one variance. Draws are seeded by the ids of the releases.

Where noise of this size could have made the matrix singular, a ridge keeps the estimate finite, the intervals are unbounded and a
flag says so; nothing fails on any data. Rows that were moved into a ball are regressed where they were moved to.

Without an intercept the columns are taken from their own zero, not from the middle of their bounds: a linear map of the matrix and of its
noise, whose entries are then dependent. Whether noise could have made that matrix singular is asked of draws of the noise, in the metric of
the matrix itself.

References
----------
Ferrando, Wang & Sheldon, *Parametric bootstrap for differentially private confidence intervals* (2022); Wang, *Revisiting
differentially private linear regression* (2018), for the ridge; Dwork, Talwar, Thakurta & Zhang, *Analyze Gauss* (2014).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpnb.errors import Unavailable
from dpnb.inference import student_inflation
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats
from dpnb.inference.spread import is_clear, likely_variance
from dpnb.statistics.formula import Formula
from dpnb.statistics.moment_matrix import Crossed, Matrices
from dpnb.statistics.ratio import CLUSTERED

DRAWS = 999
ONE_SD = 0.6826894921370859
ANY_SIZE = 1e305  # beyond what an interval that is computed from draws takes for a bound
WELL = 2.0
_TINY = 1e-12
_SELDOM = 0.99


def clearance(matrix: Floats, draws: Floats) -> float:
    """Return how many times draws of the noise on a matrix would have to be as large to make it singular; below one they could have."""
    if np.linalg.eigvalsh(matrix)[0] <= 0:
        return 0.0
    root = np.linalg.inv(np.linalg.cholesky(matrix))
    norms = np.linalg.norm(root @ draws @ root.T, 2, axis=(-2, -1))
    return 1 / max(float(np.quantile(norms, _SELDOM)), _TINY)


@dataclass(frozen=True, eq=False)
class Fit:
    """One regression on the columns of a noised matrix, in half ranges inside and in the columns' units outside.

    Parameters
    ----------
    crossed : Crossed
        The matrix.
    formula : Formula
        What is explained by what.
    """

    crossed: Crossed
    formula: Formula

    @cached_property
    def _places(self) -> tuple[int, Floats]:
        y, terms = self.formula.places(self.crossed)
        return y, np.array(terms)

    @property
    def terms(self) -> tuple[str, ...]:
        """The coefficients' names."""
        return self.formula.coefficients

    @cached_property
    def _origin(self) -> Floats:
        """The map that measures columns from where the regression does: the middle of their bounds, or without an intercept zero."""
        found = np.eye(len(self.crossed.names) + 1)
        if not self.formula.intercept:
            found[1:, 0] = self.crossed.centres / self.crossed.halves
        return found

    def _cut(self, matrices: Matrices) -> tuple[Floats, Floats, Floats]:
        y, x = self._places
        if not self.formula.intercept:
            matrices = self._origin @ matrices @ self._origin.T
        return matrices[..., x[:, None], x], matrices[..., x, y], matrices[..., y, y]

    @cached_property
    def _system(self) -> tuple[Floats, Floats, float]:
        a, b, c = self._cut(self.crossed.matrix)
        return a, b, float(c)

    @cached_property
    def _smallest(self) -> float:
        return float(np.linalg.eigvalsh(self._system[0])[0])

    @cached_property
    def _noise_norm(self) -> float:
        """A size that the spectral norm of the noise on X'X seldom exceeds."""
        if not self.formula.intercept:
            return float(np.quantile(np.linalg.norm(self._noise_draws, 2, axis=(-2, -1)), _SELDOM))
        spread, _, _ = self._cut(self.crossed.variances)
        return 2 * math.sqrt(float(spread.sum(axis=1).max())) + 1e-9 * max(
            abs(float(np.trace(self._system[0]))), 1.0
        )

    @cached_property
    def _noise(self) -> tuple[Floats, Floats, Floats]:
        """Draws of the noise on X'X, X'y and y'y: the same whatever is read from them."""
        return self._cut(self.crossed.noise(DRAWS, self.crossed.generator()))

    @property
    def _noise_draws(self) -> Floats:
        return self._noise[0]

    @cached_property
    def _clearance(self) -> float:
        """How many times the noise on X'X would have to be as large to make it singular; below one it could have been."""
        if self.formula.intercept:
            return self._smallest / self._noise_norm
        return clearance(self._system[0], self._noise_draws)

    @property
    def singular(self) -> bool:
        """Whether noise of this size could have made the exact X'X singular."""
        return self._clearance < 1

    @property
    def lost(self) -> bool:
        """Whether nothing bounds the coefficients."""
        return self.singular or self.crossed.small or self.freedom < 1

    @property
    def freedom(self) -> float:
        """Rows beyond the number of coefficients, as released."""
        return self.crossed.size - len(self.terms)

    @cached_property
    def _gram(self) -> Floats:
        """X'X, with the ridge that a possibly singular one needs."""
        a = self._system[0]
        ridge = max(self._noise_norm - self._smallest, 0.0) if self.singular else 0.0
        return np.asarray(a + ridge * np.eye(len(a)))

    @cached_property
    def _beta(self) -> Floats:
        return np.asarray(np.linalg.solve(self._gram, self._system[1]))

    @cached_property
    def _residual(self) -> tuple[float, float]:
        """The sum of squared residuals, and the standard deviation of its noise."""
        a, b, c = self._system
        beta = self._beta
        total = c - 2 * float(b @ beta) + float(beta @ a @ beta)
        y, x = self._places
        weight = np.zeros(len(self.crossed.matrix))
        weight[x], weight[y] = -beta, 1.0
        weight = self._origin.T @ weight
        behind = np.zeros(len(self.crossed.pairs))
        weight = np.concatenate([weight, behind])
        return total, self.crossed.form_sd(np.outer(weight, weight))

    @property
    def unclear(self) -> bool:
        """Whether the residual spread is not clear of its noise."""
        return not is_clear(*self._residual)

    @property
    def variance(self) -> float:
        """The residual variance in half ranges: where it is not clear of its noise the largest that is likely."""
        likely, _ = likely_variance(*self._residual)
        return float(min(max(likely / max(self.freedom, 1.0), _TINY), self._largest))

    @property
    def _largest(self) -> float:
        """The largest square of a response, from where the regression measures it."""
        return float(np.abs(self._origin[self._places[0]]).sum()) ** 2

    @property
    def residual_sd(self) -> float:
        """The standard deviation of the residuals, in the response's unit."""
        return math.sqrt(self.variance) * float(self.crossed.halves[self._places[0] - 1])

    @property
    def r_squared(self) -> float:
        """The share of the response's variance that is explained, in [0, 1]; without an intercept, of its squares about zero."""
        return float(self._explained(self.crossed.matrix[None], self._beta[None])[0])

    def explained(self, matrices: Matrices) -> Floats:
        """Return R² of the regressions of exact matrices, shape ``(count,)``."""
        a, b, _ = self._cut(matrices)
        return self._explained(matrices, solved(a, b))

    def _explained(self, matrices: Matrices, betas: Floats) -> Floats:
        a, b, c = self._cut(matrices)
        left = c - 2 * (b * betas).sum(axis=-1) + np.einsum("...i,...ij,...j->...", betas, a, betas)
        total = c - b[..., 0] ** 2 / np.maximum(a[..., 0, 0], 1.0) if self.formula.intercept else c
        good = total > 0
        return np.asarray(np.where(good, np.clip(1 - left / np.where(good, total, 1.0), 0.0, 1.0), 0.0))

    # ------------------------------------------------------------ the columns' own units

    @cached_property
    def _units(self) -> tuple[Floats, Floats]:
        """The linear map and the shift that take coefficients in half ranges to the columns' units."""
        y, x = self._places
        halves, centres = self.crossed.halves, self.crossed.centres
        if not self.formula.intercept:
            return np.diag(halves[y - 1] / halves[x - 1]), np.zeros(len(x))
        slopes = halves[y - 1] / halves[x[1:] - 1]
        turn = np.diag(np.concatenate([[halves[y - 1]], slopes]))
        turn[0, 1:] = -slopes * centres[x[1:] - 1]
        shift = np.zeros(len(turn))
        shift[0] = centres[y - 1]
        return turn, shift

    @property
    def coefficients(self) -> Floats:
        """The estimates, in the columns' units."""
        turn, shift = self._units
        return np.asarray(turn @ self._beta + shift)

    @cached_property
    def sampling(self) -> Floats | None:
        """The covariance of the coefficients from sampling, in the columns' units."""
        if self.crossed.clustered:
            return None
        turn, _ = self._units
        return np.asarray(turn @ (self.variance * np.linalg.inv(self._gram)) @ turn.T)

    # ------------------------------------------------------------ draws

    def exact(self, matrices: Matrices) -> Floats:
        """Return the coefficients of exact matrices in the columns' units, shape ``(count, terms)``."""
        a, b, _ = self._cut(matrices)
        turn, shift = self._units
        return np.asarray(solved(a, b) @ turn.T + shift)

    @cached_property
    def privacy_deviations(self) -> Floats:
        """How far this dataset's coefficients may lie from the estimates."""
        (a, b, _), (noise_a, noise_b, _) = self._system, self._noise
        turn, shift = self._units
        return np.asarray(solved(a - noise_a, b - noise_b) @ turn.T + shift - self.coefficients)

    def inflation(self, level: float | None) -> Floats:
        """Return what the residual variance is multiplied with, as it is estimated: at a level, or in draws of all levels."""
        if level is not None:
            return np.asarray(student_inflation(self.freedom + 1, level))
        freedom = max(self.freedom, 1.0)
        return np.asarray(
            freedom / self.crossed.generator().of("residual variance").chisquare(freedom, (DRAWS, 1))
        )

    def together(self, kind: str) -> Floats:
        """Return draws of the errors of all coefficients together, shape ``(draws, terms)``; without noise they have Student's law."""
        return self.privacy_deviations if kind == "privacy" else self.deviations(None)

    def deviations(self, level: float | None) -> Floats:
        """Return draws of the parametric bootstrap, less the estimates."""
        if self.sampling is None:
            raise Unavailable(CLUSTERED)
        rng = self.crossed.generator()
        gram, beta = self._gram, self._beta
        noise_a, noise_b, _ = self._noise
        spread = np.sqrt(self.variance * self.inflation(level))
        normal = rng.of("sampling").standard_normal((DRAWS, len(beta)))
        response = gram @ beta + spread * normal @ np.linalg.cholesky(gram).T + noise_b
        turn, _ = self._units
        return np.asarray((solved(gram + noise_a, response) - beta) @ turn.T)

    @cached_property
    def noise_variances(self) -> Floats:
        """The variance of each coefficient from the mechanism: the squared half-width of its middle 68 %."""
        return drawn_variances(self.privacy_deviations)

    @property
    def flags(self) -> tuple[str, ...]:
        """Warnings, from released numbers only."""
        found = ["arm too small"] if self.crossed.small else []
        if self.freedom < 1:
            found.append("too few rows")
        if self.singular:
            found.append("singular")
        elif self._clearance < WELL:
            found.append("ill-conditioned")
        return (*found, "spread unclear") if self.unclear else tuple(found)

    def ends(self, level: float, kind: str) -> tuple[Floats, Floats]:
        """Return both ends of the intervals of all coefficients."""
        if kind == "confidence" and self.crossed.clustered:
            raise Unavailable(CLUSTERED)
        if self.lost:
            return anything(len(self.terms))
        spread = self.privacy_deviations if kind == "privacy" else self.deviations(level)
        return around_draws(self.coefficients, spread, level)

    def redraw(self, count: int, rng: DrawGenerator, kind: str) -> Floats:
        """Return plausible coefficients of this dataset, or of the population; where nothing is known, of any size."""
        found = self.exact(self.crossed.matrix - self.crossed.noise(count, rng))
        if self.lost:
            return np.asarray(ANY_SIZE * rng.of("sampling").standard_normal(found.shape))
        if kind == "confidence" and self.sampling is not None:
            found = found + self._sampled(count, rng)
        return found

    def _sampled(self, count: int, rng: DrawGenerator) -> Floats:
        """Return draws of the sampling error, in the columns' units."""
        normal = rng.of("sampling").standard_normal((count, len(self.terms)))
        root = math.sqrt(self.variance) * np.linalg.inv(np.linalg.cholesky(self._gram)).T
        turn, _ = self._units
        return np.asarray(normal @ (turn @ root).T)


def solved(a: Floats, b: Floats) -> Floats:
    """Return the solutions of many symmetric systems at once; a singular one has a large solution, never an error."""
    size = a.shape[-1]
    scale = np.abs(np.trace(a, axis1=-2, axis2=-1))[..., None, None] + 1e-300
    try:
        found = np.linalg.solve(a, b[..., None])
    except np.linalg.LinAlgError:
        found = np.linalg.solve(a + 1e-9 * scale * np.eye(size), b[..., None])
    return np.asarray(found[..., 0])


def around_draws(values: Floats, deviations: Floats, level: float) -> tuple[Floats, Floats]:
    """Return symmetric intervals about values: the ``⌈level · (draws + 1)⌉``-th smallest of the absolute deviations either way."""
    draws = len(deviations)
    radius = np.sort(np.abs(deviations), axis=0)[min(math.ceil(level * (draws + 1)) - 1, draws - 1)]
    return values - radius, values + radius


def anything(size: int) -> tuple[Floats, Floats]:
    """Return the unbounded intervals of what nothing is known of."""
    return np.full(size, -math.inf), np.full(size, math.inf)


def drawn_variances(deviations: Floats) -> Floats:
    """Return the variance of each value from the mechanism: the squared half-width of the middle 68 % of draws."""
    return np.asarray(np.quantile(np.abs(deviations), ONE_SD, axis=0) ** 2)
