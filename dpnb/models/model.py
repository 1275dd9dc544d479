"""What every model does: parameters, fitting from a handle, a released answer or rows of one's own, and predictions for rows of one's own.

A model keeps released answers, never a handle. Fitted from a handle it is pending, and reads its answers when it is first used
after the release; another model from the same answers charges nothing. Of rows of one's own it is an ordinary model without noise: such a
fit protects nobody. It refuses to predict, transform or cross-validate on a handle, where no row is.
"""

from __future__ import annotations

import ast
import inspect
import math
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from dpnb.client.columns import ColumnHandle, column_of, levels_of
from dpnb.client.handles import Dataset
from dpnb.client.no_data import HoldsNoData
from dpnb.errors import HandleError, OptionError, SchemaError
from dpnb.estimate import Estimate, open_batch
from dpnb.estimate.pending_question import distinct, paid_for
from dpnb.models.cells import MOST_CLASSES, bins_of, choose_bins, limit, plain_name
from dpnb.planner.check import check
from dpnb.planner.question import Question
from dpnb.statistics.formula_terms import spelling, value

_SIZE = (
    "The number of rows is not public, and the bins depend on it. Release {0}.count() first, or give bins=."
)


@dataclass(frozen=True)
class Means:
    """What a question of a model may go by: the ε that it gets, and the number of rows, public or released."""

    people: Dataset
    epsilon: float

    @property
    def rows(self) -> float:
        """The number of rows.

        Raises
        ------
        OptionError
            If nobody declared or released it.
        """
        asked = Question(self.people.name, "count", None, self.people._where, self.people._by)  # noqa: SLF001 -- rows of the handle
        checked = check(asked, self.people.schema)
        found = checked.setting.public_n or self.people.session.sizes(self.people).rows_of(checked)
        if found is None:
            raise OptionError(_SIZE.format(self.people.name))
        return float(found)

    def keys(
        self,
        terms: Sequence[str],
        bins: object,
        taken: int,
        *,
        grid: bool = False,
        readable: float = math.inf,
    ) -> list[ColumnHandle]:
        """Return the columns of a formula as keys of one table that is not too large for the ε.

        Parameters
        ----------
        terms : sequence of str
        bins : int or mapping, optional
            As of the estimators.
        taken : int
            Classes of the response.
        grid : bool
            Whether it is a grid for k-means, which may be finer.
        readable : float
            How many cells the model can read.

        Raises
        ------
        OptionError
            If the table has more than n ε/2 cells or more than can be read, with the number of bins that would do.
        """
        columns = {term: key_column(self.people, term) for term in terms}
        numbers = {term: values_of(column) for term, column in columns.items()}
        open_ = {
            term: size for term, size in numbers.items() if size and bins_of(plain_name(term), bins) is None
        }
        fixed = {
            term: _cells(column, bins_of(plain_name(term), bins))
            for term, column in columns.items()
            if term not in open_
        }
        taken *= math.prod(fixed.values())
        most = int(min(limit(self.rows, self.epsilon, grid=grid), readable))
        chosen = choose_bins(open_, taken, most) if open_ else {}
        self._fit_in(columns, numbers, {**fixed, **chosen}, taken * math.prod(chosen.values()), readable)
        return [
            binned(column, chosen.get(term, bins_of(plain_name(term), bins)) if numbers[term] else None)
            for term, column in columns.items()
        ]

    def _fit_in(
        self,
        columns: Mapping[str, ColumnHandle],
        numbers: Mapping[str, int],
        sizes: Mapping[str, int],
        cells: int,
        readable: float,
    ) -> None:
        """Refuse a table that is mostly noise, or too large to be read."""
        most = int(min(limit(self.rows, self.epsilon, grid=True), readable))
        if cells <= most:
            return
        free = {term: size for term, size in numbers.items() if size}
        other = cells // math.prod(sizes[term] for term in free)
        do = choose_bins(free, other, most) if free else {}
        fits = do and other * math.prod(do.values()) <= most
        what = (
            f"Bins that would do: bins={ {plain_name(term): size for term, size in do.items()} }."
            if fits
            else "Use fewer columns, or CategoricalNB."
        )
        why = f"with {self.rows:,.0f} rows and ε {self.epsilon:g} it may have {most:,} (n ε/2), since the rest would be noise"
        if most == readable:
            why = f"this model reads tables of up to {most:,}"
        raise OptionError(
            f"A table of {' × '.join(str(sizes[term]) for term in columns)} × the response has {cells:,} cells; {why}. {what}"
        )


def key_column(people: Dataset, term: str) -> ColumnHandle:
    """Return a column that can be counted in cells; a text cannot, since nobody listed its values."""
    found = column_of(people, term)
    try:
        text = not found.is_condition and found.column.text is not None
    except (AttributeError, SchemaError):
        text = False
    if text:
        raise OptionError(
            f"{term} is a text whose values nobody declared: leave it out, or write a condition such as {term} == 'yes'."
        )
    return found


def values_of(column: ColumnHandle) -> int:
    """How many values a number has that has to be put into bins; 0 of categories and conditions."""
    if column.is_condition:
        return 0
    try:
        declared = column.column
    except (AttributeError, SchemaError):
        return 10**6
    return 0 if declared.values is not None else int(declared.size)


def _cells(column: ColumnHandle, bins: Any) -> int:
    if bins is not None and values_of(column):
        return bins if isinstance(bins, int) else len(list(bins)) - 1
    return 2 if column.is_condition else len(column.column.values or ())


def binned(column: ColumnHandle, bins: Any) -> ColumnHandle:
    """Return a number as bins of its public range: so many of equal width, or between given edges; another column as it is."""
    if bins is None:
        return column
    if isinstance(bins, int):
        low, high = map(float, column.column.bounds)
        whole = column.column.type == "integer"
        if whole and bins >= values_of(column):
            return column
        edges = np.linspace(low, high + 1 if whole else high, bins + 1)[:-1]
        edges = np.unique(np.ceil(edges) if whole else np.round(edges, 6))
        bins = [*edges[edges < high].tolist(), high]
    return column.bin(bins)


def response_of(people: Dataset, response: str) -> tuple[ColumnHandle, int]:
    """Return the response of a classifier as a key, and how many classes it has.

    Raises
    ------
    OptionError
        For a number of more than 20 values.
    """
    column = key_column(people, response)
    if column.is_condition:
        return column, 2
    try:
        levels = levels_of(people.schema)(column.column.name)
    except OptionError:
        levels = [None] * (MOST_CLASSES + 1)
    if len(levels) > MOST_CLASSES:
        raise OptionError(
            f"{response} has more than {MOST_CLASSES} values. Predict a condition: ({response} > …) ~ …"
        )
    return column, len(levels)


class Model:
    """Base of all models: what scikit-learn expects of an estimator, and where a fit may come from."""

    kind: ClassVar[str] = "classifier"
    title: ClassVar[str] = ""
    many: ClassVar[bool] = True  # whether a response may have more than two classes
    why: str = ""

    # parameters ------------------------------------------------------------------------------------------------

    @classmethod
    def _names(cls) -> list[str]:
        return [
            name
            for name in inspect.signature(cls.__init__).parameters
            if name not in ("self", "args", "kwargs")
        ]

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002, FBT001, FBT002 -- scikit-learn's signature
        """Return the parameters of the constructor by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the constructor, and return the model."""
        for name, one in params.items():
            if name not in self._names():
                raise OptionError(
                    f"{type(self).__name__} has no parameter {name!r}. It has {', '.join(self._names()) or 'none'}."
                )
            setattr(self, name, one)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import (  # type: ignore[import-untyped]
            ClassifierTags,
            InputTags,
            RegressorTags,
            Tags,
            TargetTags,
            TransformerTags,
        )

        tags = Tags(
            self.kind if self.kind != "transformer" else None,
            TargetTags(required=self.kind in ("classifier", "regressor")),
        )
        tags.input_tags = InputTags()
        tags.classifier_tags = ClassifierTags(multi_class=self.many) if self.kind == "classifier" else None
        tags.regressor_tags = RegressorTags() if self.kind == "regressor" else None
        tags.transformer_tags = TransformerTags(preserves_dtype=[]) if self.kind == "transformer" else None
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "_found" in self.__dict__ or bool(self.__dict__.get("_answers"))

    # fitting ---------------------------------------------------------------------------------------------------

    def fit(self, source: Any, y: Any = None, *, epsilon: Any = None) -> Self:
        """Fit from a handle (pending until its cell is released), from released answers (free), or from rows of your own.

        Parameters
        ----------
        source : Dataset, Estimate, sequence of Estimate, or array of shape (rows, columns)
            A handle buys the least that the model needs. A released table or matrix of moments costs nothing, however many models read
            it. Rows of your own are read as they are: no noise, and no protection.
        y : str or array of shape (rows,)
            The formula, ``"married ~ age + educ"``; for rows of your own their response.
        epsilon : number, optional
            What the questions of this model may cost together. Without it they share what their cell offers.

        Raises
        ------
        OptionError
            For columns without values that were declared, and for tables too large for the ε: before anything is charged.
        """
        self.__dict__.pop("_found", None)
        self._answers: tuple[Estimate, ...] = ()
        self._formula: str | None = None
        if isinstance(source, Dataset):
            planned = Means(source, planned_epsilon(epsilon))
            self._answers = tuple(self._ask(planned, str(y)))
            self._formula = self._spelled(str(y))
            if epsilon is not None:
                share = Fraction(str(epsilon)) / len(self._answers)
                for one in self._answers:
                    one.spend(share)
            return self
        answers = _answers_in(source)
        if answers:
            self._answers = answers
            self._formula = None if y is None else self._spelled(str(y))
            if not any(one.pending for one in answers):
                self._resolved()
            return self
        x, names = rows_of(source)
        self._found = {
            **self._of_rows(x, names, self._target(y, len(x[0]))),
            "terms_": tuple(names),
            "feature_names_in_": np.array(names, dtype=object),
        }
        return self

    def _spelled(self, formula: str) -> str:
        """Return a formula as it is kept."""
        return formula

    def _target(self, y: Any, rows: int) -> Any:
        if y is None:
            raise OptionError(
                "This model requires y to be passed, but the target y is None. For a handle write a formula: .fit(people, 'y ~ x')."
            )
        found = np.asarray(y)
        if found.ndim == 2 and found.shape[1] == 1:
            known = sys.modules.get("sklearn.exceptions")
            words = "A column-vector y was passed when a 1d array was expected. Pass y.ravel()."
            warnings.warn(words, UserWarning if known is None else known.DataConversionWarning, stacklevel=3)
            found = found.ravel()
        if found.ndim != 1 or len(found) != rows:
            raise OptionError(f"y has shape {found.shape}; it needs one value for each of {rows} rows.")
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise OptionError("y contains NaN or infinity.")
        if self.kind == "classifier" and found.dtype.kind == "f" and (found != np.round(found)).any():
            raise OptionError("Unknown label type: y is continuous. A classifier needs classes: pass y > …")
        if self.kind == "classifier" and len(np.unique(found)) < 2:
            raise OptionError("y has one class: a classifier needs two classes or more.")
        return found

    def _ask(self, means: Means, formula: str) -> Iterable[Estimate]:
        raise NotImplementedError

    def _read(self, answers: tuple[Estimate, ...], formula: str | None) -> dict[str, Any]:
        raise NotImplementedError

    def _of_rows(self, x: Sequence[np.ndarray], names: Sequence[str], y: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _resolved(self) -> dict[str, Any]:
        """Return what was learned, read from the answers once they are there."""
        if "_found" not in self.__dict__:
            if not self.__dict__.get("_answers"):
                raise _not_fitted(self)
            found = self._read(self._answers, self._formula)
            names = dict.fromkeys(name for term in found["terms_"] for name in names_in(term))
            self._found = {"feature_names_in_": np.array(list(names), dtype=object), **found}
        return self._found

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: of released answers these, from which the rest is read again."""
        return {name: one for name, one in self.__dict__.items() if name != "_found" or not self.answers}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not name.endswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        found = self._resolved()
        if name == "n_features_in_":
            return len(found["feature_names_in_"])
        if name not in found:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return found[name]

    # what it rests on ------------------------------------------------------------------------------------------

    @property
    def answers(self) -> tuple[Estimate, ...]:
        """The answers that it is read from, pending or released; none of rows of your own."""
        return tuple(self.__dict__.get("_answers", ()))

    @property
    def pending(self) -> bool:
        """Whether an answer is not released yet."""
        return any(one.pending for one in self.answers)

    @property
    def loss(self) -> Any:
        """What the answers cost together; None of rows of your own."""
        releases = distinct(release for one in self.answers for release in one.releases)
        return paid_for(releases) if releases else None

    # predicting ------------------------------------------------------------------------------------------------

    def _columns(self, x: Any, verb: str) -> list[np.ndarray]:
        """Return the terms of the model for rows of one's own."""
        if isinstance(x, HoldsNoData):
            raise HandleError(
                f"No row of a protected dataset leaves, so {verb} has none to read. Pass rows of your own: model.{verb}(frame); "
                f"to learn how well the model does on the dataset: model.score({getattr(x, 'name', 'people')})."
            )
        found = self._resolved()
        names = [str(name) for name in found["feature_names_in_"]]
        columns = frame_of(x, names)
        return [
            np.asarray(columns[term] if term in columns else value(term, partial(_look, columns)))
            for term in found["terms_"]
        ]

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={one!r}" for name, one in self.get_params().items() if one is not None)
        return f"{type(self).__name__}({given})"

    def _repr_html_(self) -> str:
        from dpnb.models.card import html_of

        return html_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return what was learned as plain numbers, lists and texts: enough to predict elsewhere; JSON writes it."""
        from dpnb.models.card import plain_of

        return plain_of(self)

    def paragraph(self) -> str:
        """Return the sentences for a paper: what was fitted, from which released answers, and what they cost."""
        from dpnb.models.card import paragraph_of

        return paragraph_of(self)


def names_in(term: str) -> tuple[str, ...]:
    """Return the columns that a term names."""
    seen: dict[str, None] = {}
    tree = ast.parse(spelling(term), mode="eval") if _parses(spelling(term)) else None
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Name):
            seen[node.id] = None
    return tuple(seen) if seen else (plain_name(term),)


def _parses(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


def _look(columns: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    if name not in columns:
        raise OptionError(f"These rows have no column {name!r}. They have {', '.join(columns)}.")
    return columns[name]


def rows_of(x: Any) -> tuple[list[np.ndarray], list[str]]:
    """Return the columns of rows of one's own, and their names."""
    if hasattr(x, "toarray"):
        raise TypeError("A sparse matrix was passed, but dense data is required. Use X.toarray().")
    if isinstance(x, Mapping) or hasattr(x, "columns"):
        keys = list(x if isinstance(x, Mapping) else x.columns)
        return [np.asarray(x[key]) for key in keys], [str(key) for key in keys]
    found = np.asarray(x)
    if found.dtype.kind == "O":
        found = found.astype(float)
    if found.ndim != 2:
        raise OptionError(
            f"Expected a table of rows and columns, got shape {found.shape}. Reshape your data: X.reshape(-1, 1) is one column."
        )
    if min(found.shape) == 0:
        raise OptionError(
            f"Found array with {found.shape[0]} sample(s) and {found.shape[1]} feature(s) (shape={found.shape}) while a minimum of 1 is required."
        )
    if found.dtype.kind == "c":
        raise OptionError("Complex data not supported.")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise OptionError("Input X contains NaN or infinity: leave such rows out.")
    return list(found.T), [f"x{place}" for place in range(found.shape[1])]


def frame_of(x: Any, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return rows of one's own as columns of these names: by name of a frame, by place of an array."""
    columns, own = rows_of(x)
    if isinstance(x, Mapping) or hasattr(x, "columns"):
        return dict(zip(own, columns, strict=True))
    if len(columns) != len(names):
        raise OptionError(
            f"X has {len(columns)} features, but it is expecting {len(names)} features as input: {', '.join(names)}."
        )
    return dict(zip(names, columns, strict=True))


def _answers_in(source: Any) -> tuple[Estimate, ...]:
    if isinstance(source, Estimate):
        return (source,)
    if isinstance(source, Mapping):
        source = list(source.values())
    listed = (
        isinstance(source, list | tuple) and bool(source) and all(isinstance(one, Estimate) for one in source)
    )
    return tuple(source) if listed else ()


def planned_epsilon(given: Any) -> float:
    """The ε that the bins go by: as given, of the open cell, else 1."""
    if given is not None:
        return float(given)
    batch = open_batch()
    return 1.0 if batch is None or batch.epsilon is None else float(batch.epsilon)


def _not_fitted(model: Model) -> Exception:
    words = f"This {type(model).__name__} is not fitted yet: call fit first."
    known = sys.modules.get("sklearn.exceptions")
    return known.NotFittedError(words) if known is not None else NotFitted(words)


class NotFitted(OptionError, AttributeError):
    """A model was used before it was fitted."""
