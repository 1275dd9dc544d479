"""Columns, conditions and groups of a protected dataset, as an analyst writes them.

A handle is a name and an expression; it holds no rows and never asks for any. Operators build an expression of the total
column language; a method of statistics (:mod:`dpnb.client.column_questions`) builds a question, checks it against the public schema where it
is written, and returns a pending estimate. What the language cannot bound is refused here, on the line that wrote it.
"""

from __future__ import annotations

import ast
import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from dpnb.client.arguments import checked_calls
from dpnb.client.column_questions import ColumnQuestions
from dpnb.client.no_data import HoldsNoData
from dpnb.client.suggestions import for_column
from dpnb.errors import HandleError, OptionError, PlanError, SchemaError
from dpnb.estimate import Estimate, ask
from dpnb.planner.check import check
from dpnb.planner.compile import condition, numeric
from dpnb.planner.dates import PARTS
from dpnb.planner.expression import (
    Among,
    Between,
    Bin,
    BinOp,
    BoolOp,
    ClipTo,
    Compare,
    Const,
    Expr,
    Invert,
    IsIn,
    IsMissing,
    Neg,
    Part,
    Ref,
    Where,
    show,
)
from dpnb.planner.question import Question
from dpnb.statistics.formula_terms import spelling, value
from dpnb.statistics.robust_errors import is_zero_one, product_of, products
from dpnb.trusted.schema import Column, Mode

if TYPE_CHECKING:
    from dpnb.client.handles import Dataset
    from dpnb.statistics.formula import Formula
    from dpnb.trusted.schema import Schema

_PARENTHESES = (
    "& | ~ are read before < > ==, so give each comparison its own parentheses: (x > 1) & (y == 0)."
)
_ROWS = "rows__"
"""Stands for a selection of rows while an expression of its columns is written."""
_QUARTERS = (0.25, 0.5, 0.75)
_CONDITIONS = (Compare, BoolOp, Invert, IsIn, Between, IsMissing)


class NoColumn(SchemaError, AttributeError):
    """A column that the schema does not declare, asked for as an attribute."""


class NoQuestion(PlanError, AttributeError):
    """A method that a column does not have; the message says what to write instead."""


@checked_calls
class ColumnHandle(ColumnQuestions):
    """A column, or an expression of columns, of a protected dataset. It holds no data.

    Parameters
    ----------
    dataset : Dataset
        The dataset, with the selection and the groups in which the column is asked.
    expr : Expr
        The expression.

    Examples
    --------
    >>> import dpnb
    >>> hiv = dpnb.open("hiv", quiet=True)  # doctest: +SKIP
    >>> (hiv.age > 30).mean()  # doctest: +SKIP
    """

    __slots__ = ("__weakref__", "_dataset", "_expr")
    _dataset: Dataset

    def __init__(self, dataset: Dataset, expr: Expr) -> None:
        self._dataset = dataset
        self._expr = expr

    # what it is ------------------------------------------------------------------------------------------------

    @property
    def expression(self) -> Expr:
        """The expression, as data."""
        return self._expr

    @property
    def dataset(self) -> Dataset:
        """The dataset that it belongs to."""
        return self._dataset

    @property
    def column(self) -> Column:
        """The declared column; an expression of columns has none."""
        if not isinstance(self._expr, Ref):
            raise PlanError(f"{self._spoken()} is an expression of columns, not a declared column.")
        return self._dataset.schema[self._expr.column]

    @property
    def is_condition(self) -> bool:
        """Whether the expression is true or false in each row."""
        return isinstance(self._expr, _CONDITIONS)

    def __repr__(self) -> str:
        about = ""
        if isinstance(self._expr, Ref):
            column = self.column
            missing = "missing rows leave" if column.drops else f"missing means {column.missing}"
            label = f"{column.label}, " if column.label and column.label != column.name else ""
            about = f": {label}{column.describe()}, {missing}"
        held = "public or made-up data" if self._dataset.mode is Mode.TEACHING else "protected, holds no data"
        return f"<{self._spoken()}{about}; {held}>"

    def _spoken(self) -> str:
        return show(self._expr, self._dataset.name)

    def _instead(self) -> str:
        name = self._spoken()
        if self.is_condition:
            return f"Ask a question: {name}.mean(), or filter with it: {self._dataset.name}[{name}].count()."
        if isinstance(self._expr, Ref) and self.column.text is not None:
            return f'Ask a question: {name}.frequent_values(), or compare it: {name} == "…".'
        if isinstance(self._expr, Ref) and not self.column.numeric:
            return f"Ask a question: {name}.value_counts(), .count()."
        return f"Ask a question: {name}.mean(), .histogram(), .quantile(0.5)."

    def __getitem__(self, key: object) -> NoReturn:
        """Refuse rows of a column: rows are chosen before it, and the error writes the line that does so."""
        shown = self._spoken()
        if isinstance(key, ColumnHandle):
            line = show(self._expr, _ROWS).replace(_ROWS, self._dataset[key]._spoken())
            line = ast.unparse(ast.parse(line, mode="eval"))  # without needless parentheses
            raise HandleError(f"Rows are chosen before the column: {line}")
        if isinstance(key, str | list):
            raise HandleError(
                f"{shown} is one column. Take another from the dataset: {self._dataset.name}[{key!r}]."
            )
        raise HandleError(
            f"{shown} holds no rows here, so it has no positions. Ask {shown}.quantile(0.5), or choose rows by a "
            f"condition: {self._dataset.name}[{shown} > 1].count()."
        )

    def __getattr__(self, name: str) -> ColumnHandle:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in PARTS and self._has_dates():
            return self._made(Part(name, self._expr))
        if name == "dt" and self._has_dates():  # pandas writes ds.visit.dt.month
            return self
        raise NoQuestion(for_column(name, self._spoken(), dir(type(self))))

    def _has_dates(self) -> bool:
        return not self.is_condition and any(
            self._dataset.schema[name].calendar for name in self._expr.columns()
        )

    def __bool__(self) -> bool:
        if self.is_condition:
            raise HandleError(_no_truth(self._dataset.name, self._expr, self._dataset.schema.names))
        return super().__bool__()

    # expressions -----------------------------------------------------------------------------------------------

    def _made(self, expr: Expr) -> ColumnHandle:
        return ColumnHandle(self._dataset, expr)

    def _operand(self, value: object) -> Expr:
        if isinstance(value, ColumnHandle):
            self._dataset.same_rows(value._dataset)
            return value._expr
        if isinstance(value, HoldsNoData):
            raise HandleError(f"{value._spoken()} is not a column. Name one: {value._spoken()}[...].")
        if isinstance(value, Estimate):
            return Const(float(value))
        return Const(value)

    def _with(
        self, build: Callable[[Expr, Expr], Expr], other: object, *, swapped: bool = False
    ) -> ColumnHandle:
        mine, theirs = self._expr, self._operand(other)
        return self._made(build(theirs, mine) if swapped else build(mine, theirs))

    def __add__(self, other: object) -> ColumnHandle:
        return self._with(_sign("+"), other)

    def __radd__(self, other: object) -> ColumnHandle:
        return self._with(_sign("+"), other, swapped=True)

    def __sub__(self, other: object) -> ColumnHandle:
        return self._with(_sign("-"), other)

    def __rsub__(self, other: object) -> ColumnHandle:
        return self._with(_sign("-"), other, swapped=True)

    def __mul__(self, other: object) -> ColumnHandle:
        return self._with(_sign("*"), other)

    def __rmul__(self, other: object) -> ColumnHandle:
        return self._with(_sign("*"), other, swapped=True)

    def __truediv__(self, other: object) -> ColumnHandle:
        return self._with(_sign("/"), other)

    def __floordiv__(self, other: object) -> ColumnHandle:
        return self._with(_sign("//"), other)

    def __rtruediv__(self, _: object) -> NoReturn:
        raise PlanError(
            f"Division by a column ({self._spoken()}) could fail in some row. Divide by a non-zero constant."
        )

    __rfloordiv__ = __rtruediv__

    def __neg__(self) -> ColumnHandle:
        return self._made(Neg(self._expr))

    def __pos__(self) -> ColumnHandle:
        return self

    def __abs__(self) -> NoReturn:
        name = self._spoken()
        self._lacks("abs", f"Write {name}.where({name} > 0, -{name}).")

    def __round__(self, _: int | None = None) -> NoReturn:
        name = self._spoken()
        self._lacks("round", f"Write {name} // 10 * 10 for steps of 10, or round the answer.")

    def __mod__(self, _: object) -> NoReturn:
        self._lacks("%")

    def __matmul__(self, _: object) -> NoReturn:
        self._lacks("@", "Ask .covariance(…) or .moments(…).")

    def __xor__(self, _: object) -> NoReturn:
        self._lacks("^", "The square is ** 2; for two conditions, exactly one is true where they are !=.")

    def __rpow__(self, _: object) -> NoReturn:
        self._lacks("power with a column as exponent")

    __rmod__ = __divmod__ = __rdivmod__ = __mod__
    __rmatmul__, __rxor__ = __matmul__, __xor__
    __floor__ = __ceil__ = __trunc__ = __round__

    def _lacks(self, word: str, instead: str = "") -> NoReturn:
        has = "It has + - * and / by a constant, comparisons, .clip(), .where(), .bin()."
        raise PlanError(f"The column language has no {word}. {instead or has}")

    def __pow__(self, power: object) -> ColumnHandle:
        if power != 2:
            raise PlanError(
                "Only the square of a column is in the column language: write x * x * x for a cube."
            )
        return self * self

    def __lt__(self, other: object) -> ColumnHandle:
        return self._compared("<", other)

    def __le__(self, other: object) -> ColumnHandle:
        return self._compared("<=", other)

    def __gt__(self, other: object) -> ColumnHandle:
        return self._compared(">", other)

    def __ge__(self, other: object) -> ColumnHandle:
        return self._compared(">=", other)

    def __eq__(self, other: object) -> ColumnHandle:  # type: ignore[override]
        return self._compared("==", other)

    def __ne__(self, other: object) -> ColumnHandle:  # type: ignore[override]
        return self._compared("!=", other)

    def _compared(self, sign: str, other: object) -> ColumnHandle:
        expr = Compare(sign, self._expr, self._operand(other))
        # a number beside a text, or beside a date, is told on the line that wrote it
        if isinstance(other, str | dt.date | np.datetime64) or self._has_dates():
            condition(expr, self._dataset.schema)
        return self._made(expr)

    __hash__ = object.__hash__

    def __and__(self, other: object) -> ColumnHandle:
        return self._joined("and", other)

    def __rand__(self, other: object) -> ColumnHandle:
        return self._joined("and", other, swapped=True)

    def __or__(self, other: object) -> ColumnHandle:
        return self._joined("or", other)

    def __ror__(self, other: object) -> ColumnHandle:
        return self._joined("or", other, swapped=True)

    def __invert__(self) -> ColumnHandle:
        return self._made(Invert(self._held(self._expr)))

    def _joined(self, word: str, other: object, *, swapped: bool = False) -> ColumnHandle:
        mine, theirs = self._expr, self._operand(other)
        for one in (theirs, mine) if swapped else (mine, theirs):
            self._held(one)
        return self._made(BoolOp(word, theirs, mine) if swapped else BoolOp(word, mine, theirs))

    def _held(self, expr: Expr) -> Expr:
        """Return a condition; what is none stands beside & or | because a parenthesis is missing."""
        if not isinstance(expr, _CONDITIONS):
            try:
                condition(expr, self._dataset.schema)
            except PlanError as error:
                raise PlanError(f"{error} {_PARENTHESES}") from None
        return expr

    def agg(self, figures: str | Iterable[str]) -> dict[str, Estimate]:
        """Ask several figures at once.

        Parameters
        ----------
        figures : str or iterable of str
            Names of questions: ``["mean", "std"]``.

        Returns
        -------
        dict of str to Estimate
            Pending, by these names.
        """
        names = [figures] if isinstance(figures, str) or not isinstance(figures, Iterable) else list(figures)
        if not names or not all(isinstance(name, str) for name in names):
            raise OptionError('Name each figure as text: .agg(["mean", "std"]).')
        return {name: self._figure(name) for name in names}

    def _figure(self, name: str) -> Estimate:
        question = None if name.startswith("_") else getattr(self, name)
        asked = question() if callable(question) else None
        if not isinstance(asked, Estimate):
            raise OptionError(
                f'{name!r} is not a question that .agg() can ask. It takes their names: .agg(["mean"]).'
            )
        return asked

    def describe(self) -> dict[str, Estimate]:
        """Ask what describes the column: mean, spread and quarters of a number, counts of a category.

        Returns
        -------
        dict of str to Estimate
            Pending: ``mean``, ``std`` and ``quartiles``, or ``value_counts``.
        """
        declared = self.column
        if declared.text is not None:
            return {"frequent_values": self.frequent_values()}
        if declared.values is not None or not declared.numeric:
            return {"value_counts": self.value_counts()}
        moments = {one.leaves()[0].question.statistic: one for one in (self.mean(), self.std())}
        return moments | {"quartiles": self.quantile(_QUARTERS)}

    def isin(self, values: Iterable[object]) -> ColumnHandle:
        """Return the condition that the value is one of `values`."""
        if isinstance(values, str | HoldsNoData) or not isinstance(values, Iterable):
            raise PlanError("isin takes a list of constants, for example isin([1, 2]).")
        return self._made(IsIn(self._expr, tuple(values)))

    def between(self, low: object, high: object) -> ColumnHandle:
        """Return the condition ``low <= value <= high``."""
        return self._made(Between(self._expr, self._constant(low), self._constant(high)))

    def clip(self, low: object, high: object) -> ColumnHandle:
        """Return the value moved into ``[low, high]``."""
        return self._made(ClipTo(self._expr, self._constant(low), self._constant(high)))

    def where(self, condition: ColumnHandle, other: object) -> ColumnHandle:
        """Return the value where `condition` holds, `other` where it does not; missing where it is unknown."""
        return self._made(Where(self._operand(condition), self._expr, self._operand(other)))

    def bin(self, edges: Iterable[object]) -> ColumnHandle:
        """Return the interval between public `edges` that the value falls in, as a group key."""
        if isinstance(edges, str | HoldsNoData) or not isinstance(edges, Iterable):
            raise PlanError(
                "bin takes public edges, for example bin([0, 10, 20]); equal bins: histogram(bins=10)."
            )
        return self._made(Bin(self._expr, tuple(edges)))

    def among(self, labels: Iterable[object] | Estimate) -> ColumnHandle:
        """Return which of some labels a text is, as a group key: labels that you name, or that :meth:`frequent_values` showed.

        Parameters
        ----------
        labels : list of str, or released estimate
            Any other label is in no group.
        """
        found = labels.keys if isinstance(labels, Estimate) else labels
        if isinstance(found, str | HoldsNoData) or not isinstance(found, Iterable):
            raise PlanError(
                'among takes labels, for example among(["tea", "coffee"]), or what frequent_values() showed.'
            )
        return self._made(Among(self._expr, tuple(found)))

    def is_missing(self) -> ColumnHandle:
        """Return the condition that the value is missing."""
        return self._made(IsMissing(self._expr))

    isna = is_missing

    def notna(self) -> ColumnHandle:
        """Return the condition that the value is known."""
        return ~self.is_missing()

    def count(self) -> Estimate:
        """Ask how many rows have a known value here; the rows of a condition are counted by a filter."""
        if self.is_condition:
            return self._ask("count")  # refused, with what to write
        return self._dataset._holding(self.notna()).count()

    def _constant(self, value: object) -> Any:
        return float(value) if isinstance(value, Estimate) else value

    def __array_ufunc__(self, ufunc: object, method: str, *inputs: object, **more: object) -> Any:
        """Let ``np.float64(3) < hiv.age`` mean what it does in Python; refuse functions that the column language lacks."""
        forward, swapped = _UFUNCS.get(ufunc, ("", ""))
        mine = isinstance(inputs[0], ColumnHandle)
        name = forward if mine else swapped
        if not name or method != "__call__" or more:
            said = getattr(ufunc, "__name__", "function")
            self._lacks(said)
        # numpy hands over its own constants as arrays of one number
        given = [one.item() if isinstance(one, np.ndarray) and one.ndim == 0 else one for one in inputs]
        return getattr(given[0], name)(*given[1:]) if mine else getattr(given[1], name)(given[0])

    def __array_function__(
        self,
        function: Callable[..., object],
        _: object,
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> Any:
        """Let ``np.mean(hiv.age)`` ask ``hiv.age.mean()``."""
        name = _NUMPY.get(function)
        if name is None or not args or args[0] is not self:
            self._refuse(f"given to numpy.{getattr(function, '__name__', 'function')}")
        kept = {key: value for key, value in kwargs.items() if value is not None and key != "axis"}
        return getattr(self, name)(*args[1:], **kept)


_UFUNCS: dict[object, tuple[str, str]] = {
    np.add: ("__add__", "__radd__"),
    np.subtract: ("__sub__", "__rsub__"),
    np.multiply: ("__mul__", "__rmul__"),
    np.true_divide: ("__truediv__", "__rtruediv__"),
    np.floor_divide: ("__floordiv__", "__rfloordiv__"),
    np.power: ("__pow__", ""),
    np.negative: ("__neg__", ""),
    np.positive: ("__pos__", ""),
    np.less: ("__lt__", "__gt__"),
    np.less_equal: ("__le__", "__ge__"),
    np.greater: ("__gt__", "__lt__"),
    np.greater_equal: ("__ge__", "__le__"),
    np.equal: ("__eq__", "__eq__"),
    np.not_equal: ("__ne__", "__ne__"),
    np.bitwise_and: ("__and__", "__rand__"),
    np.bitwise_or: ("__or__", "__ror__"),
    np.logical_and: ("__and__", "__rand__"),
    np.logical_or: ("__or__", "__ror__"),
    np.invert: ("__invert__", ""),
    np.logical_not: ("__invert__", ""),
}
_NUMPY: dict[object, str] = {
    np.mean: "mean",
    np.sum: "sum",
    np.std: "std",
    np.var: "variance",
    np.median: "median",
    np.quantile: "quantile",
    np.histogram: "histogram",
    np.clip: "clip",
}


def _sign(sign: str) -> Callable[[Expr, Expr], Expr]:
    return lambda left, right: BinOp(sign, left, right)


def _no_truth(name: str, expr: Expr, names: tuple[str, ...]) -> str:
    first = next(iter((*expr.columns(), *names)))
    second = next((other for other in (*expr.columns()[1:], *names) if other != first), first)
    return (
        "A column condition has no truth value. Use & | ~ with parentheses: "
        f"({name}.{first} > 18) & ({name}.{second} == 1). For 18 < {first} < 30: {name}.{first}.between(18, 30)."
    )


def asked(dataset: Dataset, question: Question) -> Estimate:
    """Check a question against the public schema and return its pending estimate."""
    question.canonical()  # its limits of depth and size are told on the line that passes them
    checked = check(question, dataset.schema)
    return ask(question, checked, dataset=dataset)


_MOST_LEVELS = 50


def levels_of(schema: Schema) -> Callable[[str], Sequence[object]]:
    """Return what gives the declared values of a column: of a category, or of a whole number with few of them."""

    def levels(name: str) -> Sequence[object]:
        column = schema[name]
        if column.values is not None:
            return list(column.values)
        if column.text is not None:
            raise OptionError(
                f"C({name}) needs a column with declared values: {name} is declared {column.describe()}."
            )
        low, high = column.bounds
        if column.type != "integer" or high - low >= _MOST_LEVELS:
            raise OptionError(
                f"C({name}) needs a column with at most {_MOST_LEVELS} declared values: {name} is declared {column.describe()}."
            )
        return list(range(int(low), int(high) + 1))

    return levels


def column_of(dataset: Dataset, term: str) -> ColumnHandle:
    """Return a term of a formula as a column of a dataset.

    Raises
    ------
    OptionError
        If it says what the column language cannot.
    SchemaError
        If it names a column that is not declared.
    """
    found = dataset[term] if term in dataset.schema.names else value(term, dataset.__getitem__)
    if not isinstance(found, ColumnHandle):
        raise OptionError(f"{term} is a constant. A regression has an intercept anyway: name columns.")
    return found


def needed_columns(dataset: Dataset, asked: Formula) -> tuple[str, ...]:
    """Return the columns of a regression with robust errors: its own, and the products of every two; a column of 0 and 1 is its own square."""
    found = {spelling(term): term for term in asked.columns}
    squares = {spelling(product_of(one, one)) for one in asked.columns if _zero_one(dataset, one)}
    for term in products(asked):
        if spelling(term) not in squares:
            found.setdefault(spelling(term), term)
    return tuple(found.values())


def _zero_one(dataset: Dataset, term: str) -> bool:
    return is_zero_one(numeric(dataset.key(column_of(dataset, term)), dataset.schema))
