r"""What is read of a regression from released moments: its coefficients, standardised ones, and the share of the variance that it explains. Free.

*Standardised coefficients* are slopes in standard deviations of response and column:
:math:`\tilde β_j = β_j s_j / s_y`, with the standard deviations of these rows. Both intervals carry the noise on all three: every draw of
the noise gives coefficients and deviations together. The confidence interval takes the rows' deviations for the population's, as is usual;
for one normal column it is then conservative.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpnb.errors import OptionError, Unavailable
from dpnb.inference import effective_size
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats
from dpnb.inference.spread import is_clear
from dpnb.statistics._base import Axis, Setting
from dpnb.statistics.declared_coefficients import Bounds, CoefficientBounds, CoefficientPriors, Priors
from dpnb.statistics.formula import parse
from dpnb.statistics.moment_matrix import Crossed, Matrices
from dpnb.statistics.regression import DRAWS, Fit, anything, around_draws, drawn_variances
from dpnb.statistics.result import Read, Result
from dpnb.statistics.robust_errors import CLASSICAL, NOTE, ROBUST, RobustFit, check_products, is_robust
from dpnb.trusted.releases import Release


class AnyFit(Protocol):
    """What every fit tells beside its coefficients."""

    @property
    def coefficients(self) -> Floats:
        """The estimates."""

    @property
    def lost(self) -> bool:
        """Whether nothing bounds the coefficients."""

    def together(self, kind: str) -> Floats:
        """Draws of the errors of all coefficients together, shape ``(draws, terms)``."""


@dataclass(frozen=True, eq=False)
class Fitted(Result):
    """The coefficients of a regression, with the fit behind them."""

    fit: AnyFit | None = None
    declared: str = ""


NO_SAMPLING = "No sampling error is derived for R²: it has a privacy interval alone."
NOTES = {
    "privacy": "draws of the noise",
    "confidence": "parametric bootstrap: assumes equal error variances (cov_type='HC1' does not)",
}


def coefficients(
    setting: Setting,
    formula: str,
    *,
    bounds: Bounds | None = None,
    prior: Priors | None = None,
    cov_type: str = CLASSICAL,
) -> Read:
    """Read the coefficients of a least-squares regression: free, one value for the intercept and for each term.

    Parameters
    ----------
    formula : str
        For example ``"y ~ x1 + x2"``, with names of columns of the moments.
    bounds : mapping of str to (float, float), optional
        Ranges in which coefficients are known to lie, from elsewhere than these data: intervals are cut to them, and name them.
    prior : mapping of str to (float, float), optional
        Mean and standard deviation of a normal law of coefficients, from elsewhere than these data: intervals rest on it too, and name it.
    cov_type : {"nonrobust", "HC1"}
        Whether errors are supposed to have one variance. ``"HC1"`` needs moments that hold the product of every two columns too.
    """
    asked = parse(formula)
    asked.places(setting)
    known, robust = CoefficientBounds.of(asked, bounds), is_robust(cov_type)
    laws = CoefficientPriors.of(asked, prior)
    declared = " ".join(filter(None, (known.sentence, laws.sentence)))
    products = check_products(setting, asked) if robust else ()

    def conclude(releases: Sequence[Release]) -> Fitted:
        return found((RobustFit if robust else Fit)(Crossed.of(setting, releases), asked))

    def found(fit: Fit) -> Fitted:
        sampling = None if fit.sampling is None else np.diagonal(fit.sampling)
        noise = fit.noise_variances
        sizes = np.full(len(fit.terms), max(fit.crossed.size, 0.0))

        def ends(level: float, kind: str) -> tuple[Floats, Floats]:
            return known.cut(*laws.cut(lambda one: fit.ends(one, kind), level))

        def redraw(count: int, rng: DrawGenerator, kind: str) -> Floats:
            return known.inside(fit.redraw(count, rng, kind))

        said = f"; {declared}" if declared else ""
        notes = NOTES | ({"confidence": NOTE} if isinstance(fit, RobustFit) else {})
        return Fitted(
            known.inside(laws.inside(fit.coefficients)),
            (len(fit.terms),),
            (-math.inf, math.inf),
            ends,
            noise,
            sampling=sampling,
            sizes=sizes,
            effective=None if sampling is None else effective_size(sizes, sampling, noise),
            cell_flags=(fit.flags,) * len(fit.terms),
            redraw=redraw,
            notes={kind: note + said for kind, note in notes.items()},
            drawn=True,
            fit=fit,
            declared=declared,
        )

    terms = asked.coefficients
    axis = Axis("term", "term", terms)
    said = f', cov_type="{ROBUST}"' if robust else ""
    text = f'.coefficients("{asked.text}"{known.text}{laws.text}{said})'
    return Read(text, (len(terms),), (axis,), conclude, products)


def r_squared(setting: Setting, formula: str) -> Read:
    """Read the share of the response's variance that a regression explains, with its privacy interval: free.

    Parameters
    ----------
    formula : str
        For example ``"y ~ x1 + x2"``.
    """
    asked = parse(formula)
    asked.places(setting)

    def conclude(releases: Sequence[Release]) -> Result:
        fit = Fit(Crossed.of(setting, releases), asked)
        value = np.array([fit.r_squared])
        crossed = fit.crossed
        drawn = fit.explained(crossed.matrix - crossed.noise(DRAWS, crossed.generator()))[:, None]

        def ends(level: float, kind: str) -> tuple[Floats, Floats]:
            if kind == "confidence":
                raise Unavailable(NO_SAMPLING)
            radius = 1.0 if fit.lost else np.quantile(np.abs(drawn - value), level, axis=0)
            return np.clip(value - radius, 0.0, 1.0), np.clip(value + radius, 0.0, 1.0)

        def redraw(count: int, rng: DrawGenerator, kind: str) -> Floats:  # noqa: ARG001
            return fit.explained(crossed.matrix - crossed.noise(count, rng))[:, None]

        noise = drawn_variances(drawn - value)
        sizes = np.array([max(crossed.size, 0.0)])
        return Result(
            value,
            (),
            (0.0, 1.0),
            ends,
            noise,
            sizes=sizes,
            cell_flags=(fit.flags,),
            redraw=redraw,
            notes={"privacy": NOTES["privacy"]},
            drawn=True,
        )

    return Read(f'.r_squared("{asked.text}")', (), (), conclude)


_FLOOR = 1e-12
_NOTES = {
    "privacy": "draws of the noise",
    "confidence": "parametric bootstrap: assumes equal error variances, and the standard deviations of these rows",
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

    def _variances(self, matrices: Matrices) -> Floats:
        """The variances of response and columns, in half ranges."""
        n = np.maximum(matrices[..., 0, 0], 1.0)[..., None]
        means = matrices[..., 0, self.places] / n
        squares = matrices[..., self.places, self.places] / n
        return np.asarray(np.maximum(squares - means**2, _FLOOR))

    def _ratios(self, matrices: Matrices) -> Floats:
        """What a slope is multiplied with: the column's deviation over the response's, in their units."""
        halves = self.fit.crossed.halves[self.places - 1]
        deviations = np.sqrt(self._variances(matrices)) * halves
        return np.asarray(deviations[..., 1:] / deviations[..., :1])

    @property
    def _values(self) -> Floats:
        return np.asarray(self.fit.coefficients[1:] * self._ratios(self.fit.crossed.matrix))

    def _exact(self, matrices: Matrices) -> Floats:
        return np.asarray(self.fit.exact(matrices)[..., 1:] * self._ratios(matrices))

    def _privacy(self) -> Floats:
        crossed = self.fit.crossed
        return np.asarray(
            self._exact(crossed.matrix - self.fit.crossed.noise(DRAWS, crossed.generator())) - self._values
        )

    def _confidence(self, level: float) -> Floats:
        """Draws of the bootstrap of the slopes, each with the deviations that the same draw of the noise gives."""
        crossed = self.fit.crossed
        slopes = self.fit.coefficients[1:] + self.fit.deviations(level)[:, 1:]
        noisy = crossed.matrix + self.fit.crossed.noise(DRAWS, crossed.generator())
        return np.asarray(slopes * self._ratios(noisy) - self._values)

    @property
    def unclear(self) -> bool:
        """Whether the response's variance is not clear of its noise: anything divided by it may be anything."""
        crossed, y = self.fit.crossed, int(self.places[0])
        mean = crossed.matrix[0, y] / crossed.count
        noise = crossed.variances[y, y] + 4 * mean**2 * crossed.variances[0, y]
        spread = float(self._variances(crossed.matrix)[0])
        return not is_clear(spread * crossed.count, math.sqrt(noise))

    def result(self) -> Result:
        """Return the coefficients with both intervals; unbounded where the slopes are, or where the response's variance is not clear."""
        fit, values = self.fit, self._values
        lost = fit.lost or self.unclear
        flags = (
            fit.flags if not self.unclear or "spread unclear" in fit.flags else (*fit.flags, "spread unclear")
        )
        drawn = self._privacy()

        def ends(level: float, kind: str) -> tuple[Floats, Floats]:
            spread = drawn if kind == "privacy" else self._confidence(level)
            if lost:
                return anything(values.size)
            return around_draws(values, spread, level)

        def redraw(count: int, rng: DrawGenerator, kind: str) -> Floats:
            slopes = fit.redraw(count, rng, kind)[:, 1:]
            matrices = fit.crossed.matrix - self.fit.crossed.noise(count, rng)
            return np.asarray(slopes * self._ratios(matrices))

        noise = drawn_variances(drawn)
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
