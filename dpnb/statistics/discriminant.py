r"""What is read of released moments besides least squares: the linear discriminant of a 0/1 column, and ridge regression. Free.

*Discriminant.* With shares :math:`π_0, π_1`, least-squares slopes :math:`b` of the column on the terms and their :math:`R^2`, the log odds of two normal
classes of equal covariance have slopes :math:`b / (π_0 π_1 (1 - R^2))`, and an intercept at which the middle between both classes' means has
the odds :math:`π_1/π_0`. It predicts and ranks; on skewed terms or rare responses it is no log odds ratio.

*Ridge.* :math:`(n S + αI)^{-1} n s` in the terms' own units, the intercept without penalty. Both have a privacy interval, from the matrices
that draws of the known noise are taken from; none is derived for sampling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpnb.errors import OptionError, Unavailable
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats
from dpnb.statistics._base import Axis, Setting
from dpnb.statistics.formula import Formula, parse
from dpnb.statistics.moment_matrix import Crossed, Matrices
from dpnb.statistics.regression import DRAWS, anything, around_draws, clearance, drawn_variances
from dpnb.statistics.result import Read, Result
from dpnb.trusted.releases import Release

NO_SAMPLING = "No sampling error is derived for these coefficients: they have a privacy interval alone."
_LEAST = 1e-6


def discriminant(setting: Setting, formula: str) -> Read:
    """Read the linear discriminant of a 0/1 column, as the coefficients of a logistic curve: free.

    Parameters
    ----------
    formula : str
        For example ``"married ~ age + educ"``, with names of columns of the moments.
    """
    asked = parse(formula)
    place = asked.places(setting)[0]
    if not setting.numbers[place - 1].binary:
        raise OptionError(
            f"{asked.response} is no column of 0 and 1: write a condition when you ask the moments."
        )
    return _read(setting, asked, f'.discriminant("{asked.text}")', discriminant_of)


def ridge(setting: Setting, formula: str, *, alpha: float = 1.0) -> Read:
    """Read the coefficients of a ridge regression: free.

    Parameters
    ----------
    formula : str
    alpha : float
        The penalty on the sum of squared slopes, in the terms' own units; the same as scikit-learn's.
    """
    if not alpha >= 0:
        raise OptionError("alpha is a number of at least 0.")
    asked = parse(formula)
    asked.places(setting)
    return _read(setting, asked, f'.ridge("{asked.text}", alpha={alpha})', ridge_of(float(alpha)))


def discriminant_of(moments: Moments) -> Floats:
    """Return intercept and slopes of the discriminant, shape ``(…, 1 + terms)``; see the module."""
    share, along = np.clip(moments.response, _LEAST, 1 - _LEAST), moments.along
    slopes = moments.solved()
    both = share * (1 - share)
    left = np.maximum(1 - _dot(slopes, along) / both, 0.01)
    slopes = slopes / (both * left)[..., None]
    middle = moments.means + along * ((1 / share - 1 / (1 - share)) / 2)[..., None]
    return _joined(np.log(share / (1 - share)) - _dot(slopes, middle), slopes)


def ridge_of(alpha: float) -> Solve:
    """Return what solves a ridge regression with a penalty."""

    def solve(moments: Moments) -> Floats:
        slopes = moments.solved(alpha)
        return _joined(moments.response - _dot(slopes, moments.means), slopes)

    return solve


def _dot(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.einsum("...i,...i->...", one, other))


def _joined(first: Floats, slopes: Floats) -> Floats:
    return np.concatenate([np.asarray(first)[..., None], slopes], axis=-1)


@dataclass(frozen=True, eq=False)
class Moments:
    """Means and covariances of terms and a response; leading axes are draws.

    Parameters
    ----------
    n, response : ndarray, shape (…)
        The number of rows, and the mean of the response.
    means, along : ndarray, shape (…, terms)
        Means of the terms, and their covariances with the response.
    spread : ndarray, shape (…, terms, terms)
    halves : ndarray, shape (terms,)
        How many own units of a term one of these is.
    least : float
        Eigenvalues of the covariances below this are told from nothing, and count as this.
    """

    n: Floats
    means: Floats
    spread: Floats
    response: Floats
    along: Floats
    halves: Floats
    least: float = 0.0

    @classmethod
    def of(
        cls, matrices: Floats, terms: Sequence[int], response: int, halves: Floats, least: float = 0.0
    ) -> Moments:
        """Read matrices of sums of products, the constant first."""
        n = np.maximum(matrices[..., 0, 0], 1.0)
        scaled = matrices / n[..., None, None]
        at = np.array(terms, dtype=int)
        means, mean = scaled[..., 0, at], scaled[..., 0, response]
        spread = scaled[..., at[:, None], at] - means[..., :, None] * means[..., None, :]
        return cls(n, means, spread, mean, scaled[..., at, response] - means * mean[..., None], halves, least)

    def solved(self, alpha: float = 0.0) -> Floats:
        """Return slopes under a penalty of ``alpha`` on their squares, in own units."""
        ridge = alpha / self.n[..., None, None] * np.diag(1 / self.halves**2)
        values, vectors = np.linalg.eigh(self.spread + ridge)
        tiny = 1e-10 * np.abs(values).max(axis=-1, keepdims=True) + 1e-300
        turned = np.einsum("...ji,...j->...i", vectors, self.along) / np.maximum(
            values, np.maximum(tiny, self.least)
        )
        return np.asarray(np.einsum("...ij,...j->...i", vectors, turned))


Solve = Callable[[Moments], Floats]
"""Intercept and slopes of moments."""


def _read(setting: Setting, asked: Formula, text: str, solve: Solve) -> Read:
    terms = asked.coefficients
    if not asked.intercept or len(terms) < 2:
        raise OptionError("This model has an intercept and at least one term.")

    def conclude(releases: Sequence[Release]) -> Result:
        crossed = Crossed.of(setting, releases)
        response, (_, *places) = asked.places(crossed)
        at = np.array(places)
        halves, centres = crossed.halves[at - 1], crossed.centres[at - 1]
        turn = np.eye(len(crossed.matrix))  # the response in its own unit, the terms in half ranges
        turn[response, response], turn[response, 0] = (
            crossed.halves[response - 1],
            crossed.centres[response - 1],
        )
        noise = math.sqrt(float(crossed.variances[1, min(2, len(crossed.names))]))

        def solved(matrices: Matrices) -> Floats:
            least = noise * math.sqrt(len(places)) / crossed.count
            found = solve(Moments.of(turn @ matrices @ turn.T, places, response, halves, least))
            slopes = found[..., 1:] / halves
            return _joined(found[..., 0] - slopes @ centres, slopes)

        def redraw(count: int, rng: DrawGenerator, kind: str = "privacy") -> Floats:
            if kind == "confidence":
                raise Unavailable(NO_SAMPLING)
            return solved(crossed.matrix - crossed.noise(count, rng))

        values = solved(crossed.matrix)
        deviations = redraw(DRAWS, crossed.generator()) - values
        inner = np.ix_([0, *places], [0, *places])
        drawn = np.moveaxis(crossed.noise(DRAWS, crossed.generator()), 0, -1)[inner]
        lost = clearance(crossed.matrix[inner], np.moveaxis(drawn, -1, 0)) < 1

        def ends(level: float, kind: str) -> tuple[Floats, Floats]:
            if kind == "confidence":
                raise Unavailable(NO_SAMPLING)
            return anything(len(terms)) if lost else around_draws(values, deviations, level)

        return Result(
            values,
            (len(terms),),
            (-math.inf, math.inf),
            ends,
            drawn_variances(deviations),
            sizes=np.full(len(terms), max(crossed.size, 0.0)),
            cell_flags=(("singular",) if lost else (),) * len(terms),
            redraw=redraw,
            notes={"privacy": "draws of the noise"},
            drawn=True,
        )

    return Read(text, (len(terms),), (Axis("term", "term", terms),), conclude)
