"""Many small tables at once: rows stacked under each other with the number of their table, and exact aggregates of all of them.

The meaning of a request is that of :mod:`dpnb.trusted.aggregate.reference`; the number of the table is one more key of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpnb.datasets.exact_answers import ints_of, label_sums, table_of
from dpnb.trusted.aggregate.algebra import (
    Col,
    CrossMoments,
    Key,
    LabelSums,
    Lit,
    Request,
    Sub,
    Total,
    ValueCounts,
    cells_of,
)
from dpnb.trusted.aggregate.cap import RANK
from dpnb.trusted.aggregate.reference import Evaluator, Ints, exact_sums, shrunk

TABLE = "table number"
"""The column that holds it."""

Array = np.ndarray[Any, Any]


class Stack:
    """Tables over one pool of rows.

    Parameters
    ----------
    names : sequence of str
        Columns.
    codes, known : ndarray, shape (rows, columns)
        The pool; an unknown code is 0.
    places : sequence of sequence of int
        For each table, the rows it has.
    common : sequence of int, optional
        For each table, how many of its first rows have units of their own; the others have one, and their ranks in it by their
        place. All, when it is left out.
    """

    def __init__(
        self,
        names: Sequence[str],
        codes: Array,
        known: Array,
        places: Sequence[Sequence[int]],
        common: Sequence[int] | None = None,
    ):
        self.tables = len(places)
        rows = np.concatenate(
            [np.asarray(found, dtype=np.int64) for found in places] or [np.empty(0, np.int64)]
        )
        self.number = np.repeat(np.arange(self.tables), [len(found) for found in places])
        columns = {name: Ints(codes[rows, at], known[rows, at]) for at, name in enumerate(names)}
        columns[TABLE] = Ints(self.number, np.ones(len(rows), dtype=bool))
        alone = common or [len(found) for found in places]
        ranks = [
            max(at - first, 0) for found, first in zip(places, alone, strict=True) for at in range(len(found))
        ]
        columns[RANK] = ints_of(np.array(ranks, dtype=np.int64))
        self.table = table_of(columns)
        self.evaluate = Evaluator(self.table)

    def keyed(self, request: Request) -> Request:
        """The same request by table."""
        return type(request)(request.value, request.where, (Key(Col(TABLE), self.tables), *request.keys))

    def totals(self, request: Request, grid: tuple[int, int] | None = None) -> Array:
        """Exact answers of shape ``(table, entries)``; a count of values over a grid, from its lowest to its highest."""
        if isinstance(request, CrossMoments):
            return self._moments(request)
        if isinstance(request, ValueCounts):
            assert grid is not None
            low, high = grid
            place = Key(Sub(request.value, Lit(low)), high - low + 1)
            request = Total(Lit(1), request.where, (*request.keys, place))
        found = self.evaluate.answer(self.keyed(request))
        return as_integers(found).reshape(self.tables, cells_of(request.keys))

    def labels(self, request: LabelSums) -> tuple[Array, Array]:
        """Exact counts of shape ``(table, label)`` of every label that a table has, and sums of shape ``(table, label, number)``."""
        tally = label_sums(
            self.evaluate, LabelSums((Col(TABLE), *request.label), request.values, request.where)
        )
        seen = {found: at for at, found in enumerate(dict.fromkeys(one[1:] for one in tally.labels))}
        counts = np.zeros((self.tables, len(seen)), dtype=np.int64)
        sums = np.zeros((*counts.shape, len(request.values)), dtype=object)
        for at, ((table, *mine), count) in enumerate(zip(tally.labels, tally.counts, strict=True)):
            counts[table, seen[tuple(mine)]] = count
            sums[table, seen[tuple(mine)]] = [one[at] for one in tally.sums]
        return counts, sums

    def _moments(self, request: CrossMoments) -> Array:
        columns = [self.evaluate.ints(value) for value in request.values]
        kept = (
            np.ones(len(self.number), dtype=bool)
            if request.where is None
            else self.evaluate.true(request.where)
        )
        for column in columns:
            kept = kept & column.known
        values = [column.values[kept] for column in columns]
        if request.shrink is not None:
            values = shrunk(values, request)
        cells = self.number[kept]
        sums = [as_integers(exact_sums(cells, values[i] * values[j], self.tables)) for i, j in request.pairs]
        return np.stack(sums, axis=-1)


def as_integers(found: Any) -> Array:
    """Exact integers as an array: 64 bits where they fit."""
    try:
        return np.array(found, dtype=np.int64)
    except OverflowError:
        return np.array(found, dtype=object)
