"""Linear models: least squares and ridge off moments, and a logistic curve off a table or, as a discriminant, off moments.

Their coefficients are estimates: ``model["age"].interval(0.95)``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from dpnb.client.columns import ColumnHandle, column_of, levels_of
from dpnb.client.handles import Dataset
from dpnb.errors import OptionError
from dpnb.estimate import Estimate
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats
from dpnb.models.bayes import softmax
from dpnb.models.cells import cells_of, is_table, limit
from dpnb.models.classifier import Classifier
from dpnb.models.expressions import total_of
from dpnb.models.model import Means, Model, key_column, names_in, response_of, values_of
from dpnb.statistics.discriminant import Moments, discriminant_of, ridge_of
from dpnb.statistics.formula import INTERCEPT, parse
from dpnb.statistics.logistic import MOST_CELLS, Design, LogisticFit, solved
from dpnb.statistics.released import combine, draws_of

_FEWEST = 4
"""Bins of a number below which a table says little about a slope."""


class Linear(Model):
    """Base of the models with coefficients."""

    _answers: tuple[Estimate, ...]

    def _reading(self, answer: Estimate, formula: str) -> Estimate:
        """Return the coefficients as an estimate."""
        raise NotImplementedError

    @property
    def coefficients(self) -> Estimate:
        """The intercept and slopes as an estimate with intervals; pending while the answers are.

        Raises
        ------
        OptionError
            Of rows of your own: they have no released answer.
        """
        if not self.answers or self._formula is None:
            raise OptionError(
                f"This {type(self).__name__} was fitted to rows of your own: see coef_ and intercept_."
            )
        return self._reading(self.answers[0], self._formula)

    def _spelled(self, formula: str) -> str:
        """Write out factors, whose declared levels only a handle or a table tells."""
        return parse(formula, _levels(self.answers[0])).text

    def __getitem__(self, term: str) -> Estimate:
        """One coefficient, as an estimate."""
        found: Estimate = self.coefficients[term]
        return found

    def _read(self, answers: tuple[Estimate, ...], formula: str | None) -> dict[str, Any]:
        if len(answers) != 1 or formula is None:
            raise OptionError(
                "This model is read from one answer with a formula: .fit(moments, 'y ~ x1 + x2')."
            )
        found = self.coefficients
        return self._named(np.asarray(found.value, dtype=float), tuple(found.axes[-1].keys))

    def _named(self, values: Floats, terms: Sequence[str]) -> dict[str, Any]:
        has = bool(terms) and terms[0] == INTERCEPT
        return {
            "terms_": tuple(terms[1:] if has else terms),
            "coef_": values[1:] if has else values,
            "intercept_": float(values[0]) if has else 0.0,
        }

    def _predictor(self, columns: Sequence[np.ndarray], coef: Floats, intercept: Any) -> Floats:
        x = np.stack(np.broadcast_arrays(*[np.asarray(one, dtype=float) for one in columns]), axis=-1)
        return np.asarray(x @ np.moveaxis(np.asarray(coef), -1, 0) + intercept)

    def _expression(self, people: Dataset) -> ColumnHandle:
        found = self._resolved()
        flat = np.ravel(found["coef_"])
        parts = [
            (column_of(people, term), float(one)) for term, one in zip(found["terms_"], flat, strict=True)
        ]
        return total_of(parts, float(np.ravel(found["intercept_"])[0]))


def _levels(answer: Estimate) -> Any:
    """Return what gives the declared values of a column: of a table its keys, else of the dataset."""
    keys = {axis.name: axis.keys for axis in answer.axes}
    if is_table(answer):
        return lambda name: keys.get(name, ())
    dataset = answer.leaves()[0].dataset
    return None if dataset is None else levels_of(dataset.schema)


class LinearRegression(Linear):
    """Least squares off one matrix of moments; coefficients have both intervals."""

    kind: ClassVar[str] = "regressor"
    title: ClassVar[str] = "least squares"
    _estimator_type = "regressor"

    def _ask(self, means: Means, formula: str) -> Iterable[Estimate]:
        yield means.people.ols(formula).moments

    def _reading(self, answer: Estimate, formula: str) -> Estimate:
        if not hasattr(answer, "ols"):
            raise OptionError(f"{answer.text} is no matrix of moments. Ask people.moments(…).")
        found: Estimate = answer.ols(formula).coefficients
        return found

    def _solve(self, moments: Moments) -> Floats:
        return ridge_of(0.0)(moments)

    def _of_rows(self, x: Sequence[np.ndarray], names: Sequence[str], y: Any) -> dict[str, Any]:
        del names
        values = self._solve(_own_moments(x, np.asarray(y, dtype=float)))
        return {"coef_": values[1:], "intercept_": float(values[0])}

    def predict(self, x: Any) -> np.ndarray:
        """Return the fitted value for rows of your own; for intervals about it see ``people.ols(formula).predict``."""
        columns = self._columns(x, "predict")
        return self._predictor(columns, self.coef_, self.intercept_)

    def score(self, x: Any, y: Any = None, measure: str = "r2") -> Any:
        """Return R² on rows of your own; of a handle ask it, and pay: mean squared error and variance of the response.

        Parameters
        ----------
        x : array, frame or Dataset
        y : array, optional
        measure : {"r2", "mse"}
            What to ask of a handle.

        Returns
        -------
        float or Estimate
        """
        if isinstance(x, Dataset):
            if self._formula is None or measure not in ("r2", "mse"):
                raise OptionError('On a handle a model with a formula has the measures "r2" and "mse".')
            response = column_of(x, parse(self._formula, levels_of(x.schema)).response)
            squared = ((response - self._expression(x)) ** 2).mean(ci=False)
            return squared if measure == "mse" else 1 - squared / response.variance(ci=False)
        given = np.asarray(y, dtype=float)
        return 1 - float(((given - self.predict(x)) ** 2).sum() / ((given - given.mean()) ** 2).sum())


class Ridge(LinearRegression):
    """Ridge regression off one matrix of moments; coefficients have privacy intervals.

    Parameters
    ----------
    alpha : float
        The penalty on the sum of squared slopes, in the columns' own units.
    """

    title: ClassVar[str] = "ridge regression"

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def _reading(self, answer: Estimate, formula: str) -> Estimate:
        if not hasattr(answer, "ridge"):
            raise OptionError(f"{answer.text} is no matrix of moments. Ask people.moments(…).")
        found: Estimate = answer.ridge(formula, alpha=self.alpha)
        return found

    def _solve(self, moments: Moments) -> Floats:
        return ridge_of(self.alpha)(moments)


class LogisticRegression(Classifier, Linear):
    """A logistic curve: maximum likelihood off one table, or the linear discriminant off one matrix of moments.

    The table gives odds with both intervals. The discriminant predicts and ranks; on skewed columns or a rare response its coefficients are no log
    odds ratios and its probabilities can be far too high.

    Parameters
    ----------
    method : {"auto", "table", "discriminant"}
        Of a handle what to ask; ``"auto"`` takes the table where it is less noisy and has room for bins.
    bins : int or mapping, optional
        Of a table, as of :class:`DecisionTree`.
    """

    title: ClassVar[str] = "logistic regression"
    many: ClassVar[bool] = False

    def __init__(self, method: str = "auto", bins: Any = None) -> None:
        self.method = method
        self.bins = bins

    def _ask(self, means: Means, formula: str) -> Iterable[Estimate]:
        if self.method not in ("auto", "table", "discriminant"):
            raise OptionError('method= is "auto", "table" or "discriminant".')
        asked = parse(formula, levels_of(means.people.schema))
        columns = tuple(dict.fromkeys(name for term in asked.terms for name in names_in(term)))
        if self.method == "discriminant" or (self.method == "auto" and not self._suits(means, columns)):
            yield means.people.ols(formula).moments
            return
        target, classes = response_of(means.people, asked.response)
        yield means.people.crosstab(*means.keys(columns, self.bins, classes, readable=MOST_CELLS), target)

    def _read(self, answers: tuple[Estimate, ...], formula: str | None) -> dict[str, Any]:
        if len(answers) != 1 or formula is None or not is_table(answers[0]):
            return super()._read(answers, formula)
        design = Design.of(answers[0].leaves()[0].checked.setting, formula)
        cells_of(answers[0], f"{design.formula.response} ~ {names_in(design.formula.terms[0])[0]}").check()
        releases = answers[0].releases
        fit = LogisticFit(design, combine(releases)["count"], DrawGenerator(draws_of(releases)))
        return self._named(fit.coefficients, design.formula.coefficients)

    def _suits(self, means: Means, columns: Sequence[str]) -> bool:
        """Whether a table is less noisy than moments, and has room for bins that show a slope: from public facts alone."""
        if means.people.schema.budget.measure.name != "PURE":
            return False
        p = len(columns) + 1
        most = min((p * (p + 2) ** 2 / (2 * (p + 1)) / 2) ** 2, limit(means.rows, means.epsilon))
        sizes = [key_column(means.people, name) for name in columns]
        return (
            2
            * math.prod(
                _FEWEST if values_of(one) else 2 if one.is_condition else len(one.column.values or ())
                for one in sizes
            )
            <= most
        )

    def _reading(self, answer: Estimate, formula: str) -> Estimate:
        if hasattr(answer, "log_odds"):
            found: Estimate = answer.log_odds(formula)
        elif hasattr(answer, "discriminant"):
            found = answer.discriminant(formula)
        else:
            raise OptionError(
                f"{answer.text} is neither a table nor moments. Ask people.crosstab(…) or people.moments(…)."
            )
        return found

    def _named(self, values: Floats, terms: Sequence[str]) -> dict[str, Any]:
        found = super()._named(values, terms)
        return {
            **found,
            "classes_": np.array([0, 1]),
            "coef_": found["coef_"][None],
            "intercept_": np.array([found["intercept_"]]),
        }

    def _of_rows(self, x: Sequence[np.ndarray], names: Sequence[str], y: Any) -> dict[str, Any]:
        classes, group = np.unique(y, return_inverse=True)
        if len(classes) != 2:
            raise OptionError(
                f"Only binary classification is supported. The type of the target is multiclass: y has {len(classes)} classes."
            )
        moments = _own_moments(x, group.astype(float))
        values = discriminant_of(moments)
        if self.method != "discriminant":
            raw = np.stack([np.asarray(one, dtype=float) for one in x], axis=1)
            scale = np.maximum(raw.std(axis=0), 1e-12)
            design = np.column_stack([np.ones(len(raw)), (raw - raw.mean(axis=0)) / scale])
            beta = solved(
                design,
                group[None].astype(float),
                np.ones((1, len(raw))),
                np.zeros((1, design.shape[1])),
                60,
                1e-3,
            )[0]
            values = np.concatenate([[beta[0] - (beta[1:] / scale) @ raw.mean(axis=0)], beta[1:] / scale])
        return {**self._named(values, (INTERCEPT, *names)), "classes_": classes}

    def _chances(self, columns: Sequence[np.ndarray]) -> Floats:
        eta = self._predictor(columns, self.coef_[0], self.intercept_[0])
        return softmax(np.stack([np.zeros_like(eta), eta], axis=-1))

    def _drawn(self, columns: Sequence[np.ndarray], count: int) -> Floats | None:
        if not self.answers:
            return None
        outcome = self.coefficients.outcome
        assert outcome is not None
        betas = outcome.draws(count, DrawGenerator(draws_of(self.answers[0].releases)), "privacy")
        eta = self._predictor(columns, betas[:, 1:], betas[:, 0]).T
        return softmax(np.stack([np.zeros_like(eta), eta], axis=-1))

    def _score_column(self, people: Dataset) -> tuple[ColumnHandle, bool]:
        return self._expression(people), True


def _own_moments(x: Sequence[np.ndarray], y: Floats) -> Moments:
    """Return moments of rows of one's own, terms in half ranges about their middle as released ones are."""
    raw = np.column_stack([np.ones(len(y)), *[np.asarray(one, dtype=float) for one in x], y])
    return Moments.of(raw.T @ raw, range(1, raw.shape[1] - 1), raw.shape[1] - 1, np.ones(raw.shape[1] - 2))
