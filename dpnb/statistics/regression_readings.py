"""What is read of a regression from released moments: its coefficients and the share of the variance that it explains. Free."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpnb.errors import Unavailable
from dpnb.statistics._base import Setting
from dpnb.statistics.axis import Axis
from dpnb.statistics.coefficient_bounds import Bounds, CoefficientBounds
from dpnb.statistics.coefficient_priors import CoefficientPriors, Priors
from dpnb.statistics.formula import parse
from dpnb.statistics.moment_matrix import Crossed
from dpnb.statistics.reading import Read
from dpnb.statistics.regression import DRAWS, ONE_SD, Fit
from dpnb.statistics.result import Result, effective_sizes
from dpnb.statistics.robust_errors import CLASSICAL, NOTE, ROBUST, RobustFit, check_products, is_robust
from dpnb.trusted.releases import Release


@dataclass(frozen=True, eq=False)
class Fitted(Result):
    """The coefficients of a regression, with the fit behind them."""

    fit: Fit | None = None
    declared: str = ""


NO_SAMPLING = "No sampling error is derived for R²: it has a privacy interval alone."
NOTES = {
    "privacy": "draws of the noise",
    "confidence": "parametric bootstrap: supposes errors of one variance (cov_type='HC1' does not)",
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

        def ends(level: float, kind: str) -> tuple[np.ndarray, np.ndarray]:
            return known.cut(*laws.cut(lambda one: fit.ends(one, kind), level))

        def redraw(count: int, rng: Any, kind: str) -> np.ndarray:
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
            effective=None if sampling is None else effective_sizes(sizes, sampling, noise),
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

        def ends(level: float, kind: str) -> tuple[np.ndarray, np.ndarray]:
            if kind == "confidence":
                raise Unavailable(NO_SAMPLING)
            radius = 1.0 if fit.lost else np.quantile(np.abs(drawn - value), level, axis=0)
            return np.clip(value - radius, 0.0, 1.0), np.clip(value + radius, 0.0, 1.0)

        def redraw(count: int, rng: Any, kind: str) -> np.ndarray:  # noqa: ARG001
            return fit.explained(crossed.matrix - crossed.noise(count, rng))[:, None]

        noise = np.quantile(np.abs(drawn - value), ONE_SD, axis=0) ** 2
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
