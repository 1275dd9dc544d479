"""The words of pandas that have a private meaning: several questions at once, each an estimate of its own.

Nothing here is released: the estimates are pending, and a cell or ``dpnb.release`` decides what they may cost together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dpnb.errors import OptionError
from dpnb.estimate import Estimate
from dpnb.planner.expression import Ref

if TYPE_CHECKING:
    from dpnb.client.columns import ColumnHandle
    from dpnb.client.handles import Dataset

_QUARTERS = (0.25, 0.5, 0.75)


def figures_of(column: ColumnHandle, figures: Any) -> dict[str, Estimate]:
    """Ask several figures of a column by their names.

    Parameters
    ----------
    column : ColumnHandle
        The column, of all rows or of groups.
    figures : str or iterable of str
        Names of questions that need nothing else: ``["mean", "std"]``.

    Raises
    ------
    OptionError
        What is no name, or names no question.
    NoQuestion
        A word that a column does not have; it says which to use.
    """
    names = [figures] if isinstance(figures, str) or not isinstance(figures, Iterable) else list(figures)
    if not names or not all(isinstance(name, str) for name in names):
        raise OptionError('Name each figure as text: .agg(["mean", "std"]).')
    return {name: _asked(column, name) for name in names}


def _asked(column: ColumnHandle, name: str) -> Estimate:
    question = None if name.startswith("_") else getattr(column, name)
    found = question() if callable(question) else None
    if not isinstance(found, Estimate):
        raise OptionError(
            f'{name!r} is not a question that .agg() can ask. It takes their names: .agg(["mean"]).'
        )
    return found


def aggregated(dataset: Dataset, figures: Any) -> dict[str, Estimate]:
    """Ask figures of several columns; each is named for its column and what is asked: ``age_mean``."""
    if _names_alone(figures):
        figures = {name: figures for name in _others(dataset) if dataset.schema[name].numeric}
    if not isinstance(figures, Mapping) or not figures:
        raise OptionError(
            'Say which figures of which columns: .agg({"age": ["mean", "std"], "pay": "mean"}), '
            'or figures of every column of numbers: .agg(["mean", "std"]).'
        )
    return {
        f"{column}_{name}": estimate
        for column, asked in figures.items()
        for name, estimate in figures_of(dataset[column], asked).items()
    }


def _names_alone(figures: Any) -> bool:
    named = (
        isinstance(figures, list | tuple) and bool(figures) and all(isinstance(one, str) for one in figures)
    )
    return named or isinstance(figures, str)


def _others(dataset: Dataset) -> list[str]:
    """The columns that the rows are not grouped by."""
    keys = {key.column for key in dataset._by if isinstance(key, Ref)}
    return [name for name in dataset.schema.names if name not in keys]


def described(column: ColumnHandle) -> dict[str, Estimate]:
    """Ask what describes a column: of a number mean, spread and quarters, of a category how many rows have each value."""
    declared = column.column
    if declared.text is not None:
        return {"frequent_values": column.frequent_values()}
    if declared.values is not None or not declared.numeric:
        return {"value_counts": column.value_counts()}
    quartiles = column.quantile(_QUARTERS)
    return {one.leaves()[0].question.statistic: one for one in (column.mean(), column.std())} | {
        "quartiles": quartiles
    }


def described_all(dataset: Dataset) -> dict[str, Estimate]:
    """Ask what describes each declared column."""
    return {
        f"{name}_{asked}": estimate
        for name in _others(dataset)
        for asked, estimate in described(dataset[name]).items()
    }


def pivoted(dataset: Dataset, values: str, index: Any, columns: Any, figure: str) -> Estimate:
    """Ask one figure of a column for each combination of groups."""
    keys = [key for given in (index, columns) for key in ([given] if isinstance(given, str) else given or ())]
    if not keys:
        raise OptionError('Say what to group by: .pivot_table(values="pay", index="sex", columns="region").')
    (found,) = figures_of(dataset.groupby(*keys)[values], figure).values()
    return found
