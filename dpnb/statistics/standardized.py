r"""Standardised coefficients of a regression on released moments: slopes in standard deviations of response and column. Free.

:math:`\tilde β_j = β_j s_j / s_y`, with the standard deviations of these rows. Both intervals carry the noise on all three: every draw of
the noise gives coefficients and deviations together. The confidence interval takes the rows' deviations for the population's, as is usual;
for one normal column it is then conservative.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpnb.errors import OptionError
from dpnb.statistics._base import Setting
from dpnb.statistics.axis import Axis
from dpnb.statistics.formula import parse
from dpnb.statistics.moment_matrix import Crossed, Matrices
from dpnb.statistics.reading import Read
from dpnb.statistics.regression import DRAWS, ONE_SD, Fit
from dpnb.statistics.result import Result
from dpnb.trusted.releases import Release

_FLOOR = 1e-12
_CLEAR = 2.0
_NOTES = {
    "privacy": "draws of the noise",
    "confidence": "parametric bootstrap: supposes errors of one variance, and the standard deviations of these rows",
}


def standardized(setting: Setting, formula: str) -> Read:
    """Read the standardised coefficients of a least-squares regression: free, one value for each term.

    Parameters
    ----------
    formula : str
        For example ``"y ~ x1 + x2"``; with an intercept.
    """
    asked = parse(formula)
    if not asked.intercept:
        raise OptionError("Standardised coefficients are about means: leave out the - 1.")
    if not asked.terms:
        raise OptionError("A regression on nothing has no standardised coefficients: name a term.")
    asked.places(setting)

    def conclude(releases: Sequence[Release]) -> Result:
        return _Standard(Fit(Crossed.of(setting, releases), asked)).result()

    axis = Axis("term", "term", asked.terms)
    return Read(f'.standardized("{asked.text}")', (len(asked.terms),), (axis,), conclude)


class _Standard:
    """A fit, and the deviations that its slopes are measured in."""

    def __init__(self, fit: Fit) -> None:
        y, x = fit.formula.places(fit.crossed)
        self.fit, self.places = fit, np.array((y, *x[1:]))

    def _variances(self, matrices: Matrices) -> np.ndarray:
        """The variances of response and columns, in half ranges."""
        n = np.maximum(matrices[..., 0, 0], 1.0)[..., None]
        means = matrices[..., 0, self.places] / n
        squares = matrices[..., self.places, self.places] / n
        return np.asarray(np.maximum(squares - means**2, _FLOOR))

    def _ratios(self, matrices: Matrices) -> np.ndarray:
        """What a slope is multiplied with: the column's deviation over the response's, in their units."""
        halves = self.fit.crossed.halves[self.places - 1]
        deviations = np.sqrt(self._variances(matrices)) * halves
        return np.asarray(deviations[..., 1:] / deviations[..., :1])

    @property
    def _values(self) -> np.ndarray:
        return np.asarray(self.fit.coefficients[1:] * self._ratios(self.fit.crossed.matrix))

    def _exact(self, matrices: Matrices) -> np.ndarray:
        return np.asarray(self.fit.exact(matrices)[..., 1:] * self._ratios(matrices))

    def _noise(self, count: int, rng: Any) -> Matrices:
        return self.fit.crossed.noise(count, rng)

    def _privacy(self) -> np.ndarray:
        crossed = self.fit.crossed
        return np.asarray(
            self._exact(crossed.matrix - self._noise(DRAWS, crossed.generator())) - self._values
        )

    def _confidence(self, level: float) -> np.ndarray:
        """Draws of the bootstrap of the slopes, each with the deviations that the same draw of the noise gives."""
        crossed = self.fit.crossed
        slopes = self.fit.coefficients[1:] + self.fit.deviations(level)[:, 1:]
        noisy = crossed.matrix + self._noise(DRAWS, crossed.generator())
        return np.asarray(slopes * self._ratios(noisy) - self._values)

    @property
    def unclear(self) -> bool:
        """Whether the response's variance is not clear of its noise: anything divided by it may be anything."""
        crossed, y = self.fit.crossed, int(self.places[0])
        mean = crossed.matrix[0, y] / crossed.count
        noise = crossed.variances[y, y] + 4 * mean**2 * crossed.variances[0, y]
        spread = float(self._variances(crossed.matrix)[0])
        return bool(spread * crossed.count <= _CLEAR * math.sqrt(noise))

    def result(self) -> Result:
        """Return the coefficients with both intervals; unbounded where the slopes are, or where the response's variance is not clear."""
        fit, values = self.fit, self._values
        lost = fit.lost or self.unclear
        flags = (
            fit.flags if not self.unclear or "spread unclear" in fit.flags else (*fit.flags, "spread unclear")
        )
        drawn = self._privacy()

        def ends(level: float, kind: str) -> tuple[np.ndarray, np.ndarray]:
            spread = drawn if kind == "privacy" else self._confidence(level)
            if lost:
                return np.full(values.size, -math.inf), np.full(values.size, math.inf)
            place = min(math.ceil(level * (DRAWS + 1)) - 1, DRAWS - 1)
            radius = np.sort(np.abs(spread), axis=0)[place]
            return values - radius, values + radius

        def redraw(count: int, rng: Any, kind: str) -> np.ndarray:
            slopes = fit.redraw(count, rng, kind)[:, 1:]
            matrices = fit.crossed.matrix - self._noise(count, rng)
            return np.asarray(slopes * self._ratios(matrices))

        noise = np.quantile(np.abs(drawn), ONE_SD, axis=0) ** 2
        sizes = np.full(values.size, max(fit.crossed.size, 0.0))
        ratios = self._ratios(fit.crossed.matrix)
        sampling = None if fit.sampling is None else np.diagonal(fit.sampling)[1:] * ratios**2
        return Result(
            values,
            (values.size,),
            (-math.inf, math.inf),
            ends,
            noise,
            sampling=sampling,
            sizes=sizes,
            cell_flags=(flags,) * values.size,
            redraw=redraw,
            notes=_NOTES,
            drawn=True,
        )
