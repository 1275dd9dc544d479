r"""Standard errors of least squares that hold under unequal variances (HC1), from moments that hold the products of the columns.

Classical errors suppose that errors have one variance. The estimator of Eicker and White does not:

.. math:: V = \frac{n}{n-p} A^{-1}\Big(\sum_i x_i x_i' e_i^2\Big) A^{-1},\quad e_i = y_i - x_i'\hat β.

The middle is a sum of products of four columns. Where some moments hold, beside the columns themselves, each product of two of them, the sums of
products of two such columns are those of four: :math:`x_a x_b` and :math:`e^2` are linear in :math:`v = (1, columns, products)`, so that
:math:`\sum x_ax_be^2 = q_{ab}' M f` with M the released matrix. Nothing else is bought; k terms need :math:`(k+1)(k+2)/2` products.

Each variance is the form :math:`F'Mf` with a law that is known, since M's noise is. Half a standard deviation of it is added, as for variances
(:mod:`dpnb.statistics.variance_powers`); where the form is not clear of its noise, what is likely at most.

*In a ball* (``radius=``) the products are those of the moved rows, and the sums of all products of four of them are bought, each once
(:mod:`dpnb.statistics.moment_integers`): 126 with the number of rows at 4 regressors. A changed row moves their tensor by
:math:`\sqrt2(1+r^2)^2`, and the matrix of columns and products in the box by :math:`\sqrt2(k+2)(k+3)/2`; where the ball's is the larger it
buys nothing, and rows stay where they are (:func:`in_ball`). At 4 regressors and r = 1.5 the noise of a fourth power is half of the box's, that
of a product of four different columns a seventh.

References
----------
Eicker (1967); White, *A heteroskedasticity-consistent covariance matrix estimator* (1980); MacKinnon & White (1985), for the factor n/(n - p).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from dpnb.errors import OptionError, SchemaError, Unavailable
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Number
from dpnb.inference.spread import MARGIN, is_clear, upper_limit
from dpnb.statistics._base import Numeric, Setting
from dpnb.statistics.formula import Formula
from dpnb.statistics.moment_integers import of_four, radius_squared
from dpnb.statistics.moment_matrix import Named, place_of
from dpnb.statistics.ratio import CLUSTERED
from dpnb.statistics.regression import DRAWS, Fit, solved
from dpnb.trusted.measurements.matrix import l1, l2_squared
from dpnb.trusted.measurements.sums import WITHIN

CLASSICAL, ROBUST = "nonrobust", "HC1"
NOTE = "draws of the noise, and errors of unequal variances (HC1) from the released products"


_OWN_LEVERAGE = (
    'needs the leverage of each row by itself, and no released sum tells it. Ask cov_type="HC1": intervals there carry Student\'s '
    "factor for few rows too."
)
_OTHERS = {
    "hc0": 'cov_type="HC0" is "HC1" without its factor for few rows: ask "HC1".',
    "hc2": f'cov_type="HC2" {_OWN_LEVERAGE}',
    "hc3": f'cov_type="HC3" {_OWN_LEVERAGE}',
    "cluster": "Errors that go together within a person need totals of each person, which moments do not hold. Take one row for each "
    "person first, ds.per_unit(1), and regress that.",
}


def is_robust(cov_type: object) -> bool:
    """Read which errors are asked.

    Raises
    ------
    OptionError
        For others than two.
    """
    if isinstance(cov_type, str) and cov_type.lower() in _OTHERS:
        raise OptionError(_OTHERS[cov_type.lower()])
    if cov_type not in (CLASSICAL, ROBUST):
        raise OptionError(f'cov_type= is "{CLASSICAL}", for equal error variances, or "{ROBUST}", for any.')
    return cov_type == ROBUST


def products(asked: Formula) -> tuple[str, ...]:
    """Return the products of two columns that robust errors of a regression need, as terms."""
    return tuple(product_of(a, b) for a, b in combinations_with_replacement(asked.columns, 2))


def product_of(one: str, other: str) -> str:
    """Return the product of two columns as a term."""
    return f"{_bracketed(one)}:{_bracketed(other)}"


def _bracketed(term: str) -> str:
    return term if term.isidentifier() or ":" in term else f"({term})"


def in_ball(asked: Formula, radius: float | None, kind: str = "rho") -> bool:
    """Tell whether products of four in a ball are forecast to be less noisy than columns and products in the box: by their largest noise.

    Parameters
    ----------
    asked : Formula
    radius : float, optional
        In half ranges; nothing for no ball.
    kind : {"rho", "epsilon"}
        The noise: by what a changed row moves in L2 or in L1.
    """
    if radius is None:
        return False
    count, square = len(asked.columns), Fraction(str(radius)) ** 2
    norm = l1 if kind == "epsilon" else l2_squared
    return norm(count, square, WITHIN, 4) < norm(count + len(products(asked)), None, WITHIN)


def is_zero_one(number: Numeric) -> bool:
    """Whether a column is its own square."""
    return number.binary and number.lowest == 0 and number.highest == 1


def places(asked: Formula, columns: Named, zero_one: Collection[int]) -> Iterator[tuple[int, int, int]]:
    """Yield where every two columns are in some moments, and where their product is; a column of 0 and 1 is its own square.

    Raises
    ------
    OptionError
        With the question that has the products, where one is missing.
    """
    pairs = combinations_with_replacement(asked.columns, 2)
    for (a, b), term in zip(pairs, products(asked), strict=True):
        first, second = place_of(a, columns), place_of(b, columns)
        if first == second and first in zero_one:
            yield first, second, first
            continue
        try:
            yield first, second, place_of(term, columns)
        except SchemaError:
            raise OptionError(
                f'cov_type="{ROBUST}" needs the products of every two columns, and these moments lack {term}. Ask them with '
                f'.ols("{asked.text}", cov_type="{ROBUST}") of the dataset: the plan shows what they cost.'
            ) from None


def check_products(setting: Setting, asked: Formula) -> tuple[tuple[int, int, int], ...]:
    """Return the columns that are products; refuse moments that do not hold the products; see :func:`places`."""
    if of_four(setting):
        return ()
    if radius_squared(setting) is not None:
        raise OptionError(
            f'cov_type="{ROBUST}" needs the products of the rows that were moved into a ball: ask these moments with products=True, or '
            "leave out radius=."
        )
    zero_one = {p for p, one in enumerate(setting.numbers, 1) if is_zero_one(one)}
    return tuple(one for one in places(asked, setting, zero_one) if one[2] not in one[:2])


@dataclass(frozen=True, eq=False)
class RobustFit(Fit):
    """One regression, its sampling errors under unequal variances."""

    def _pairs(self) -> Iterator[tuple[int, int, int]]:
        crossed = self.crossed
        if crossed.pairs:
            first = len(crossed.names) + 1
            return ((a, b, place) for place, (a, b) in enumerate(crossed.pairs, first))
        own = [crossed.centres[p - 1] == crossed.halves[p - 1] == 0.5 for p in crossed.counts]
        return places(
            self.formula,
            crossed,
            {p for p, zero_one in zip(crossed.counts, own, strict=True) if zero_one},
        )

    def _unit(self, place: int) -> Floats:
        found = np.zeros(len(self.crossed.whole))
        found[place] = 1.0
        return found

    def _own(self, place: int) -> Floats:
        """A column in its own unit, as a form in v."""
        crossed = self.crossed
        return np.asarray(
            crossed.centres[place - 1] * self._unit(0) + crossed.halves[place - 1] * self._unit(place)
        )

    def _product(self, a: int, b: int, place: int) -> Floats:
        """The product of two columns in their own units, as a form in v, from where the product of both is."""
        if not self.crossed.pairs:
            return self._own(place)
        (one, two), (left, right) = self.crossed.centres[[a - 1, b - 1]], self.crossed.halves[[a - 1, b - 1]]
        return np.asarray(one * self._own(b) + two * left * self._unit(a) + left * right * self._unit(place))

    @cached_property
    def _quadratics(self) -> Floats:
        """The products of every two of (1, terms, response), as the regression measures them: forms in v, shape (m, m, v)."""
        half = self.crossed.halves
        columns = [place_of(name, self.crossed) for name in (*self.formula.terms, self.formula.response)]
        origin = {
            p: 0.0 if not self.formula.intercept else float(self.crossed.centres[p - 1]) for p in columns
        }
        known = {frozenset((a, b)): place for a, b, place in self._pairs()}
        size = len(columns) + 1
        found = np.zeros((size, size, len(self.crossed.whole)))
        found[0, 0] = self._unit(0)
        for i, a in enumerate(columns, 1):
            found[0, i] = found[i, 0] = (self._own(a) - origin[a] * self._unit(0)) / half[a - 1]
            for j, b in enumerate(columns, 1):
                moved = (
                    self._product(a, b, known[frozenset((a, b))])
                    - origin[b] * self._own(a)
                    - origin[a] * self._own(b)
                )
                found[i, j] = (moved + origin[a] * origin[b] * self._unit(0)) / (half[a - 1] * half[b - 1])
        return found if self.formula.intercept else found[1:, 1:]

    @cached_property
    def _squared_error(self) -> Floats:
        """The squared residual of a row, as a form in v."""
        weights = np.append(-self._beta, 1.0)
        return np.asarray(np.einsum("a,b,abv->v", weights, weights, self._quadratics))

    def _form(self, row: Floats) -> tuple[float, float]:
        """Return the sum over rows of a squared combination of the terms times the squared residual, and the sd of its noise."""
        terms = self._quadratics[:-1, :-1]
        one, other = np.einsum("a,b,abv->v", row, row, terms), self._squared_error
        weights = (np.outer(one, other) + np.outer(other, one)) / 2
        return float((weights * self.crossed.whole).sum()), self.crossed.form_sd(weights)

    @cached_property
    def _variances(self) -> tuple[Floats, bool]:
        """The variance of each coefficient from sampling, in its unit, and whether all are clear of noise."""
        turn, _ = self._units
        rows = turn @ np.linalg.inv(self._gram)
        factor = max(self.crossed.size, 1.0) / max(self.freedom, 1.0)
        found, clear = [], True
        for row in rows:
            value, noise = self._form(row)
            sure = is_clear(value, noise)
            clear = clear and sure
            found.append(factor * (value + MARGIN * noise if sure else upper_limit(value, noise)))
        return np.array(found), clear

    @cached_property
    def sampling(self) -> Floats | None:
        """The covariance of the coefficients from sampling: their variances as released, correlated as under one variance."""
        plain = super().sampling
        if plain is None:
            return None
        sd = np.sqrt(self._variances[0])
        scale = np.sqrt(np.maximum(np.diagonal(plain), 1e-300))
        return np.asarray(plain / np.outer(scale, scale) * np.outer(sd, sd))

    @property
    def flags(self) -> tuple[str, ...]:
        """Warnings, from released numbers only."""
        found = super().flags
        return found if self._variances[1] or "spread unclear" in found else (*found, "spread unclear")

    def deviations(self, level: float | None) -> Floats:
        """Return draws of noise and sampling, less the estimates."""
        if self.sampling is None:
            raise Unavailable(CLUSTERED)
        rng, (turn, _) = self.crossed.generator(), self._units
        noise_a, noise_b, _ = self._noise
        noise = (solved(self._gram + noise_a, self._gram @ self._beta + noise_b) - self._beta) @ turn.T
        return np.asarray(noise + self._sampled(DRAWS, rng, self.inflation(level)))

    def _sampled(self, count: int, rng: DrawGenerator, inflation: Number = 1.0) -> Floats:
        """Return draws of the sampling error."""
        assert self.sampling is not None
        values, vectors = np.linalg.eigh(self.sampling)
        normal = rng.of("sampling").standard_normal((count, len(values)))
        return np.asarray(np.sqrt(inflation) * (normal * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
