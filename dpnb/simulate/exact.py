"""Exact answers of many studies at once, and what is true of each: the same meaning as one study's exact answer.

All studies of a block lie in one table, one after the other. Integer aggregates are summed study by study in 64-bit integers;
a request that is not a total, or a sum that could leave 64 bits, is answered study by study by the reference evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.datasets.exact_answers import answer
from dpnb.planner.check import CheckedQuestion
from dpnb.simulate.populations import Floats, Values
from dpnb.statistics import Numeric, Setting
from dpnb.trusted.aggregate.algebra import IntExpr, Key, Pred, Request, Total, cells_of
from dpnb.trusted.aggregate.reference import Evaluator, Ints, Table
from dpnb.trusted.schema import Column

_EXACT_FLOAT = 2**53
_EXACT_INT = 2**62


@dataclass(frozen=True, slots=True)
class Block:
    """Several studies of one size in one table.

    Parameters
    ----------
    table : Table
        The rows of all studies, study after study.
    studies, n : int
        How many, and how many rows each.
    distinct : int, optional
        Where a study is told by how often each distinct row occurs: so many lines of the table are one study.
    """

    table: Table
    studies: int
    n: int
    distinct: int | None = None

    @property
    def lines(self) -> int:
        """Lines of the table in a study."""
        return self.n if self.distinct is None else self.distinct

    def study(self, place: int) -> Table:
        """Return one study."""
        rows = slice(place * self.lines, (place + 1) * self.lines)
        columns = {name: Ints(i.values[rows], i.known[rows]) for name, i in self.table.columns.items()}
        times = self.table.times
        return Table(columns, self.lines, None if times is None else times[rows])

    def places(self) -> NDArray[np.int64]:
        """Return the study of each row."""
        return np.repeat(np.arange(self.studies), self.lines)


Law = tuple[Table, Floats]
"""Rows, and the probability of each."""


def counted(law: Law, rng: np.random.Generator, studies: int, n: int) -> Block:
    """Return studies told by how often each distinct row of a population's law occurs: any size costs the same.

    Rows drawn independently occur as often as a multinomial draw of their counts says, so every study has exactly the law of one
    that is drawn row by row; and whatever a release or a truth reads of a study, it reads from these counts.
    """
    rows, chances = law
    times = rng.multinomial(n, chances / chances.sum(), size=studies).astype(np.int64)
    columns = {
        name: Ints(np.tile(ints.values, studies), np.tile(ints.known, studies))
        for name, ints in rows.columns.items()
    }
    return Block(Table(columns, studies * rows.rows, times.ravel()), studies, n, rows.rows)


def totals(block: Block, requests: Sequence[Total]) -> list[NDArray[np.int64]]:
    """Return each request's exact answer for every study, shape (studies, cells)."""
    evaluate = Evaluator(block.table)
    return [_total(block, evaluate, request) for request in requests]


def _total(block: Block, evaluate: Evaluator, request: Total) -> NDArray[np.int64]:
    value = evaluate.ints(request.value)
    largest = max(abs(int(value.values.max(initial=0))), abs(int(value.values.min(initial=0))), 1) * block.n
    if largest >= _EXACT_INT:
        return _one_by_one(block, request)
    values = value.values if block.table.times is None else value.values * block.table.times
    if not request.keys and request.where is None and value.known.all():
        return np.asarray(values.reshape(block.studies, block.lines).sum(axis=1)[:, None])
    cells, kept = _cells(evaluate, request.keys, request.where)
    kept = kept & value.known
    size = cells_of(request.keys)
    at = (block.places() * size + cells)[kept]
    return _summed(at, values[kept], block.studies * size, largest).reshape(block.studies, size)


def _summed(at: NDArray[np.int64], values: NDArray[np.int64], size: int, largest: int) -> NDArray[np.int64]:
    if largest < _EXACT_FLOAT:
        return np.bincount(at, weights=values.astype(float), minlength=size).astype(np.int64)
    found = np.zeros(size, dtype=np.int64)
    np.add.at(found, at, values)
    return found


def _cells(
    evaluate: Evaluator, keys: Sequence[Key], where: Pred | None
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    cells = evaluate.cells(keys)
    kept = cells >= 0
    return cells, kept if where is None else kept & evaluate.true(where)


def _one_by_one(block: Block, request: Request) -> NDArray[np.int64]:
    found = [answer(block.study(place), [request])[0] for place in range(block.studies)]
    return np.asarray(found, dtype=np.int64)


def histograms(
    block: Block, value: IntExpr, where: Pred | None, keys: Sequence[Key], steps: int
) -> NDArray[np.int64]:
    """Return how often each grid point 0..steps occurs in every cell of every study: (studies, cells, steps + 1)."""
    evaluate, size = Evaluator(block.table), cells_of(keys)
    code = evaluate.ints(value)
    cells, kept = _cells(evaluate, keys, where)
    kept = kept & code.known
    at = ((block.places() * size + cells) * (steps + 1) + code.values)[kept]
    times = None if block.table.times is None else block.table.times[kept]
    found = np.bincount(at, times, minlength=block.studies * size * (steps + 1))
    return found.astype(np.int64).reshape(block.studies, size, steps + 1)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that a question is about, as real numbers, each with its study's cell and a weight."""

    cell: NDArray[np.int64]
    weight: Floats | None
    x: Floats | None
    y: Floats | None
    groups: int
    cells: int

    def sums(self, values: Floats | None = None) -> Floats:
        """Return the weighted sum of values (of ones, if none) for every cell, shape (groups, cells)."""
        weights = self.weight if values is None else values if self.weight is None else values * self.weight
        return (
            np.bincount(self.cell, weights=weights, minlength=self.groups * self.cells)
            .reshape(self.groups, self.cells)
            .astype(float)
        )


def rows_of(block: Block, checked: CheckedQuestion, weight: Floats | None = None) -> Rows:
    """Return the rows that a question is about; for a population, rows with their probabilities as one study."""
    setting, evaluate = checked.setting, Evaluator(block.table)
    cells, kept = _cells(evaluate, setting.keys, setting.where)
    numbers = [None if n is None else evaluate.ints(n.code) for n in (setting.target, setting.other)]
    for found in numbers:
        if found is not None:
            kept = kept & found.known
    x, y = (_real(n, i, kept) for n, i in zip((setting.target, setting.other), numbers, strict=True))
    at = (block.places() * setting.cells + cells)[kept]
    if weight is None and block.table.times is not None:
        weight = block.table.times.astype(float)
    return Rows(at, None if weight is None else weight[kept], x, y, block.studies, setting.cells)


def _real(number: Numeric | None, ints: Ints | None, kept: NDArray[np.bool_]) -> Floats | None:
    if number is None or ints is None:
        return None
    return np.asarray(float(number.offset) + float(number.step) * ints.values[kept])


def decoded(columns: tuple[Column, ...], block: Block) -> dict[str, Values]:
    """Return the columns of every study as values, shape (studies, n); missing numbers are not a number."""
    found = {}
    for column in columns:
        ints = block.table.columns[column.name]
        if column.numeric:
            low, step = float(column.lower or 0), float(column.step or 1)
            values: Values = np.where(ints.known, low + step * ints.values, np.nan)
        else:
            names = np.array([*(column.values or ()), None], dtype=object)
            values = names[np.where(ints.known, ints.values, -1)]
        found[column.name] = values.reshape(block.studies, block.n)
    return found


Truth = Callable[[Rows, Setting], Floats]


def _mean(rows: Rows, values: Floats | None, weights: Floats | None = None) -> Floats:
    assert values is not None
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(rows.sums(values) / rows.sums(weights))


def _centred(rows: Rows, values: Floats | None) -> Floats:
    assert values is not None
    return np.asarray(values - _mean(rows, values).ravel()[rows.cell])


def _moment(rows: Rows, first: Floats | None, second: Floats | None) -> Floats:
    return _mean(rows, _centred(rows, first) * _centred(rows, second))


def _product(rows: Rows) -> Floats:
    assert rows.x is not None and rows.y is not None  # noqa: PT018
    return rows.x * rows.y


def _difference(rows: Rows, _: Setting) -> Floats:
    """The second arm's mean minus the first's."""
    means = _mean(rows, rows.x)
    return np.asarray(means[:, 1::2] - means[:, ::2])


def _correlation(rows: Rows, _: Setting) -> Floats:
    """Pearson's; not a number where a column is constant."""
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(_moment(rows, rows.x, rows.x) * _moment(rows, rows.y, rows.y))
        return np.asarray(_moment(rows, rows.x, rows.y) / spread)


def _quantile(rows: Rows, setting: Setting) -> Floats:
    """The smallest value at or below which the asked share of the rows lies; levels side by side in each cell."""
    assert rows.x is not None
    asked = setting.options["q"]
    levels = np.array([float(q) for q in (asked if isinstance(asked, tuple) else (asked,))])
    order = np.lexsort((rows.x, rows.cell))
    values, cells = rows.x[order], rows.cell[order]
    weights = np.ones(values.size) if rows.weight is None else rows.weight[order]
    before = np.concatenate([[0.0], np.cumsum(weights)])
    edges = np.searchsorted(cells, np.arange(rows.groups * rows.cells + 1))
    low, high = before[edges[:-1], None], before[edges[1:], None]
    target = low + levels * (high - low)
    place = np.searchsorted(before, target - 1e-9 * np.maximum(high - low, 1e-300), side="left") - 1
    place = np.clip(place, edges[:-1, None], np.maximum(edges[1:, None] - 1, edges[:-1, None]))
    found = np.where(edges[1:, None] > edges[:-1, None], values[np.minimum(place, values.size - 1)], np.nan)
    return np.asarray(found.reshape(rows.groups, rows.cells * levels.size))


def _count(rows: Rows, _: Setting) -> Floats:
    return rows.sums()


TRUTHS: dict[str, Truth] = {
    "count": _count,
    "histogram": _count,
    "value_counts": _count,
    "sum": lambda rows, _: rows.sums(rows.x),
    "mean": lambda rows, _: _mean(rows, rows.x),
    "robust_mean": lambda rows, _: _mean(rows, rows.x),
    "weighted_mean": lambda rows, _: _mean(rows, _product(rows), rows.y),
    "weighted_sum": lambda rows, _: rows.sums(_product(rows)),
    "variance": lambda rows, _: _moment(rows, rows.x, rows.x),
    "std": lambda rows, _: np.sqrt(_moment(rows, rows.x, rows.x)),
    "quantile": _quantile,
    "difference": _difference,
    "covariance": lambda rows, _: _moment(rows, rows.x, rows.y),
    "correlation": _correlation,
}
"""What is true of each statistic, without noise, from the rows of every study: variances with divisor n; not a number where nothing
counts. Defined here once more, in plain floating-point numpy, so that an error in a release's formulas cannot hide itself.
"""

TOTALS = frozenset({"weighted_sum"})
"""What grows with the number of rows, and has a population's value all the same: that of so many rows."""


def known(checked: CheckedQuestion) -> Truth | None:
    """Return the truth of a question's statistic, where it is defined here."""
    return TRUTHS.get(checked.statistic)


def given(
    truth: Callable[[Mapping[str, Values]], ArrayLike],
    columns: Mapping[str, Values],
    studies: int,
) -> Floats:
    """Return a truth given as a function of one study's columns, for every study, shape (studies, entries)."""
    found = [
        np.ravel(np.asarray(truth({name: c[place] for name, c in columns.items()}), dtype=float))
        for place in range(studies)
    ]
    return np.stack(found)
