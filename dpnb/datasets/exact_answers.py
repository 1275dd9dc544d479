"""What every request means on a table of integers: the oracle that each engine must equal bit for bit, and what simulation runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from dpnb.trusted.aggregate.algebra import LabelSums, Request
from dpnb.trusted.aggregate.reference import Answer, Evaluator, Int64s, Ints, LabelTally, Table, exact_sums


def answer(table: Table | Mapping[str, object], requests: Iterable[Request]) -> list[Answer]:
    """Answer each request exactly.

    Parameters
    ----------
    table : Table, or mapping of column name to integers
    requests : iterable of Total, ValueCounts, CrossMoments and LabelSums

    Returns
    -------
    list
        For a :class:`Total` a tuple of Python integers, for a :class:`ValueCounts` a tuple of :class:`Tally`,
        one entry per cell, row-major over the keys; for :class:`CrossMoments` one integer per pair; for :class:`LabelSums`
        a :class:`LabelTally`.

    Examples
    --------
    >>> from dpnb.trusted.aggregate.algebra import Col, Total
    >>> answer({"x": [1, None, 4]}, [Total(Col("x"))])
    [(5,)]
    """
    evaluate = Evaluator(table if isinstance(table, Table) else table_of(table))
    return [
        label_sums(evaluate, one) if isinstance(one, LabelSums) else evaluate.answer(one) for one in requests
    ]


def label_sums(evaluate: Evaluator, request: LabelSums) -> LabelTally:
    """Each label of the kept rows in which every number is known, how many have it, and the exact sums over them."""
    columns, times = evaluate.complete((*request.label, *request.values), request.where)
    labels, values = columns[: len(request.label)], columns[len(request.label) :]
    rows = np.stack(labels, axis=1)
    distinct, cells = np.unique(rows, axis=0, return_inverse=True)
    cells, size = cells.reshape(-1), len(distinct)
    ones = np.ones(len(rows), dtype=np.int64)
    counts, *sums = (exact_sums(cells, value, size, times) for value in (ones, *values))
    return LabelTally(tuple(map(tuple, distinct.tolist())), counts, tuple(sums))


def ints_of(column: Any) -> Ints:
    """Read an integer array, a masked array, or a sequence of integers and ``None``."""
    if isinstance(column, Ints):
        return column
    if isinstance(column, np.ma.MaskedArray):
        known = ~np.ma.getmaskarray(column)
        return Ints(np.where(known, np.ma.getdata(column), 0).astype(np.int64), known)
    if isinstance(column, np.ndarray) and column.dtype != object:
        return Ints(column.astype(np.int64), np.ones(len(column), dtype=bool))
    known = np.array([v is not None for v in column], dtype=bool)
    return Ints(np.array([0 if v is None else int(v) for v in column], dtype=np.int64), known)


def table_of(columns: Mapping[str, object], times: Int64s | None = None) -> Table:
    """Build a table from anything that :func:`ints_of` reads; ``times`` says how often each row occurs."""
    ints = {name: ints_of(column) for name, column in columns.items()}
    rows = {len(column) for column in ints.values()}
    if len(rows) != 1:
        raise ValueError("a table needs at least one column, and columns of one length")
    return Table(ints, rows.pop(), times)
