"""The columns that a formula asks for, as expressions of a dataset, and the declared levels of its factors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dpnb.client.columns import ColumnHandle
from dpnb.errors import OptionError
from dpnb.planner.compile import numeric
from dpnb.statistics.formula_terms import spelling, value
from dpnb.statistics.robust_errors import is_zero_one, product_of, products

if TYPE_CHECKING:
    from dpnb.client.handles import Dataset
    from dpnb.statistics.formula import Formula
    from dpnb.trusted.schema import Schema

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
        raise OptionError(f"{term} is a constant: a regression has its intercept, and columns beside it.")
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
