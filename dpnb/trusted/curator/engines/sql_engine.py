"""Batches as SQL, whatever engine runs it: totals in one statement and one scan (a long batch is shared out), and one statement
for each matrix of cross moments.

Sums are exact, as wide as they have to be, and Python integers outside; nothing is a float. What engines write differently is
in :mod:`~dpnb.trusted.curator.engines.sql_dialect`, whose class says how to add one. How often each combination of a few columns'
codes occurs is counted when a question groups by them, or comes back to them, and kept where the prepared copy never changes: what
depends on such columns alone is then answered without a scan.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from types import TracebackType
from typing import Any, Self, cast

import numpy as np

from dpnb.trusted.aggregate.algebra import (
    Col,
    CrossMoments,
    IntExpr,
    Key,
    Known,
    LabelSums,
    Node,
    Request,
    Total,
    ValueCounts,
    bounds,
    cells_of,
    columns_of,
)
from dpnb.trusted.aggregate.reference import (
    Answer,
    Evaluator,
    Int64s,
    Ints,
    LabelTally,
    Table,
    Tally,
    exact_sums,
    split_tallies,
)
from dpnb.trusted.curator.engines.batching import Aggregate, Cluster, Part, clusters, normal, part, shares
from dpnb.trusted.curator.engines.crossing import Pair, bare, integers, statement, together
from dpnb.trusted.curator.engines.rendering import Renderer
from dpnb.trusted.curator.engines.sql_dialect import SqlDialect
from dpnb.trusted.curator.grouped_calls import GroupedCalls

_INT63 = 2**62
_MOST_COUNTED_CELLS = 1 << 21
_MOST_KEPT_CELLS = 1 << 16
"""Joint cells, or rows of a table, up to which columns are counted for sums, too: adding up so many takes less than a scan of any size."""
_MOST_SUMS_AT_ONCE = 3
"""Sums over the same columns that are not cheaper to scan for than to count for."""
_KEPT_BYTES = 1 << 28


class SqlEngine:
    """Answers batches over one prepared copy. Safe to share between threads; batches that wait for one another run as one.

    Subclass it for an engine: set what is below, and give :meth:`_columns`, :meth:`_rows_of` and :meth:`close`; :meth:`_one_batch` where the statements of a batch must be told to see one snapshot.

    Parameters
    ----------
    relation : str
        The prepared copy as SQL: codes, NULL where missing.
    sizes : mapping of str to int
        How many codes each column has.
    rows : int
        The most rows that the copy has.
    dialect : SqlDialect
    """

    _keeps = True
    """Whether the copy never changes, so that structures of it may be kept between batches."""

    def __init__(self, relation: str, sizes: Mapping[str, int], rows: int, dialect: SqlDialect) -> None:
        self._relation = relation
        self._sizes = dict(sizes)
        self._ranges = {name: (0, size - 1) for name, size in self._sizes.items()}
        self._rows = rows
        self._short = rows <= _MOST_KEPT_CELLS
        self._dialect = dialect
        self._lock = threading.Lock()
        self._together = GroupedCalls(self._answered, self._answered_in_one)
        self._kept: OrderedDict[Any, tuple[Int64s, ...]] = OrderedDict()
        self._scanned: set[tuple[str, ...]] = set()

    def answer(self, requests: Sequence[Request]) -> list[Answer]:
        """Answer a batch exactly, in the order of the requests."""
        found: list[Answer] = self._together.do(requests)
        return found

    def _answered(self, requests: Sequence[Request]) -> list[Answer]:
        with self._lock, self._one_batch():
            return self._answer(requests)

    def _answered_in_one(self, batches: Sequence[Sequence[Request]]) -> list[list[Answer]]:
        """Answer batches that wait for one another as one batch of all their requests."""
        found = iter(self._answered(list(itertools.chain.from_iterable(batches))))
        return [list(itertools.islice(found, len(batch))) for batch in batches]

    def _one_batch(self) -> contextlib.AbstractContextManager[None]:
        """Enter what the statements of one batch run in. Of a copy that never changes nothing has to be held still."""
        return contextlib.nullcontext()

    def _columns(self, sql: str) -> Mapping[str, Any]:
        """Run a statement: its columns by name, as masked arrays of integers (objects where they are texts)."""
        raise NotImplementedError

    def _rows_of(self, sql: str) -> list[Any]:
        """Run a statement: its rows."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of the copy. A closed engine answers nothing."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def statement(self, totals: Sequence[Total]) -> str:
        """The one SQL statement that serves these totals, if they are few (for EXPLAIN)."""
        return self._batch([normal(total) for total in dict.fromkeys(totals)]).sql

    def _batch(self, totals: Sequence[Total], *, grouped: bool = True) -> _Batch:
        return _Batch(totals, self._relation, self._sizes, self._rows, self._dialect, grouped=grouped)

    def _answer(self, requests: Sequence[Request]) -> list[Answer]:
        distinct = dict.fromkeys(requests)
        answers = self._without_scan(distinct) if self._keeps else {}
        rest = [request for request in distinct if request not in answers]
        totals = [request for request in rest if isinstance(request, Total)]
        answers |= zip(totals, self._totals(totals), strict=True)
        answers |= {one: self._value_counts(one) for one in rest if isinstance(one, ValueCounts)}
        answers |= {one: self._label_sums(one) for one in rest if isinstance(one, LabelSums)}
        answers |= self._cross_moments([r for r in rest if isinstance(r, CrossMoments)])
        return [answers[request] for request in requests]

    # ------------------------------------------------------------------ counts

    def _without_scan(self, requests: Iterable[Request]) -> dict[Request, Answer]:
        """Answer what depends on few joint codes from how often each occurs, where that is counted or worth counting."""
        asked: dict[tuple[str, ...], list[Total | ValueCounts | CrossMoments]] = {}
        for request in requests:
            if not isinstance(request, LabelSums):
                asked.setdefault(_columns_read(request), []).append(request)
        found: dict[Request, Answer] = {}
        for columns in sorted(asked, key=self._cells, reverse=True):  # what serves others, first
            counted = self._whatever_holds(columns)
            if counted is None and self._worth_counting(columns, asked[columns]):
                counted = columns
            if counted is not None:
                evaluator = Evaluator(self._counted(counted))
                found |= {request: evaluator.answer(request) for request in asked[columns]}
        return found

    def _cells(self, columns: tuple[str, ...]) -> int:
        """How many joint codes columns may have, NULL included in each; a short table has no more than rows."""
        cells = prod(self._sizes[name] + 1 for name in columns)
        return min(cells, _MOST_KEPT_CELLS) if self._short else cells

    def _whatever_holds(self, columns: tuple[str, ...]) -> tuple[str, ...] | None:
        """The columns of the shortest kept counts that hold these columns."""
        holding = [
            (len(arrays[0]), held)
            for held, arrays in self._kept.items()
            if isinstance(held, tuple) and set(columns).issubset(held)
        ]
        rows, held = min(holding, default=(0, None))
        return held if rows <= _MOST_KEPT_CELLS or held == columns else None

    def _worth_counting(self, columns: tuple[str, ...], requests: Sequence[Request]) -> bool:
        """Whether counts are made now: of a short table, at the first question that would group by the columns, or at the second."""
        if self._cells(columns) > _MOST_KEPT_CELLS:
            return False
        grouped = any(isinstance(request, ValueCounts) or bool(_keys_of(request)) for request in requests)
        again = columns in self._scanned
        self._scanned.add(columns)
        return self._short or grouped or again or not columns or len(requests) > _MOST_SUMS_AT_ONCE

    # ------------------------------------------------------------------ totals

    def _totals(self, totals: Sequence[Total]) -> list[Answer]:
        """Answer totals in their order; few codes without a group by sums alone, which cost a fraction of what groups do."""
        found: dict[Total, Answer] = {}
        for grouped in (True, False):
            mine = [total for total in totals if grouped == self._is_grouped(total)]
            for some in shares(mine):
                batch = self._batch([normal(total) for total in some], grouped=grouped)
                found |= zip(some, batch.finish(self._columns(batch.sql)), strict=True)
        return [found[total] for total in totals]

    def _is_grouped(self, total: Total) -> bool:
        return bool(total.keys) or self._cells(_columns_read(total)) > _MOST_KEPT_CELLS

    # ----------------------------------------------------------- cross moments

    def _cross_moments(self, requests: Sequence[CrossMoments]) -> dict[Request, Answer]:
        sums: dict[CrossMoments, dict[Pair, int]] = {}
        for whole in together(requests):
            found = sums[bare(whole)] = {}
            most = self._dialect.most_columns
            for start in range(0, len(whole.pairs), most):
                some = replace(whole, pairs=whole.pairs[start : start + most])
                sql = statement(some, self._relation, self._ranges, self._rows, self._dialect)
                found |= zip(some.pairs, integers(self._rows_of(sql)[0]), strict=True)
        wanted = ((request, sums[bare(request)]) for request in requests)
        return {request: tuple(found[pair] for pair in request.pairs) for request, found in wanted}

    # ------------------------------------------------------------ value counts

    def _value_counts(self, request: ValueCounts) -> tuple[Tally, ...]:
        columns = _columns_read(request)
        if len(columns) == 1 or self._cells(columns) <= _MOST_COUNTED_CELLS:
            table = self._counted(columns)
            return cast("tuple[Tally, ...]", Evaluator(table).answer(request))
        if request.where is None:
            cell, value, counts = self._keep(request, lambda: self._sorted_counts(request))
        else:
            cell, value, counts = self._sorted_counts(request)
        return split_tallies(cell, value, counts, cells_of(request.keys))

    def _counted(self, columns: tuple[str, ...]) -> Table:
        """The distinct combinations of some columns, and how often each occurs: prepared on first use."""
        arrays = self._keep(columns, lambda: self._count(columns))
        pairs = zip(columns, arrays[1::2], arrays[2::2], strict=True)
        ints = {name: Ints(values, known.astype(bool)) for name, values, known in pairs}
        return Table(ints, len(arrays[0]), arrays[0])

    def _count(self, columns: tuple[str, ...]) -> tuple[Int64s, ...]:
        own, names = self._dialect.own, [self._dialect.column(name) for name in columns]
        group = f"GROUP BY {', '.join(names)}" if columns else ""
        chosen = "".join(f"{name} AS {own(f'##{place}')}, " for place, name in enumerate(names))
        found = self._columns(f"SELECT {chosen}count(*) AS n FROM {self._relation} {group}")
        ints = [_ints(found[f"##{place}"]) for place in range(len(columns))]
        return (
            _plain(found["n"]),
            *(array for column in ints for array in (column.values, _codes(column.known))),
        )

    def _sorted_counts(self, request: ValueCounts) -> tuple[Int64s, Int64s, Int64s]:
        own, inner = self._dialect.own, self._dialect.inner
        render = Renderer(self._ranges, self._dialect)
        cell = _cell_sql(request.keys, render, self._ranges)
        value = f"CAST({render(request.value)} AS BIGINT)"
        where = "TRUE" if request.where is None else render(request.where)
        source = f"SELECT {cell} AS {own('##cell')}, {value} AS {own('##value')} FROM {render.relation(self._relation)} WHERE {where}"
        found = self._columns(
            f"SELECT {own('##cell')} AS cell, {own('##value')} AS value, count(*) AS n FROM {inner(source)} "
            f"WHERE {own('##cell')} IS NOT NULL AND {own('##value')} IS NOT NULL {self._dialect.by_all}"
        )
        return _plain(found["cell"]), _plain(found["value"]), _plain(found["n"])

    def _label_sums(self, request: LabelSums) -> LabelTally:
        """Group by the integers of a label; sums are 128-bit, and texts on their way out."""
        own, inner = self._dialect.own, self._dialect.inner
        render = Renderer(self._ranges, self._dialect)
        wanted = [render(value) for value in (*request.label, *request.values)]
        where = "TRUE" if request.where is None else render(request.where)
        names = [own(f"##v{place}") for place in range(len(wanted))]
        chosen = ", ".join(f"{sql} AS {name}" for sql, name in zip(wanted, names, strict=True))
        label, values = names[: len(request.label)], names[len(request.label) :]
        sums = "".join(f", {self._dialect.as_text(self._dialect.total(name))}" for name in values)
        known = " AND ".join(f"{name} IS NOT NULL" for name in names)
        source = inner(f"SELECT {chosen} FROM {render.relation(self._relation)} WHERE {where}")
        rows = self._rows_of(
            f"SELECT {', '.join(label)}, count(*){sums} FROM {source} "
            f"WHERE {known} GROUP BY {', '.join(label)} ORDER BY {', '.join(label)}"
        )
        columns = list(zip(*rows, strict=True)) or [()] * (len(wanted) + 1)
        labels = tuple(zip(*columns[: len(label)], strict=True))
        counts, *totals = columns[len(label) :]
        return LabelTally(labels, counts, tuple(tuple(map(int, total)) for total in totals))

    def _keep(self, what: Any, build: Any) -> tuple[Int64s, ...]:
        """Remember a structure, as long as all of them together stay small and the copy stays as it is."""
        if not self._keeps:
            return cast("tuple[Int64s, ...]", build())
        if what not in self._kept:
            self._kept[what] = build()
        self._kept.move_to_end(what)
        found = self._kept[what]
        while len(self._kept) > 1 and _bytes(self._kept) > _KEPT_BYTES:
            self._kept.popitem(last=False)
        return found


class _Batch:
    """One statement for some totals, grouped where that serves them, and the way from its result to their answers."""

    def __init__(
        self,
        totals: Sequence[Total],
        relation: str,
        sizes: Mapping[str, int],
        rows: int,
        dialect: SqlDialect,
        *,
        grouped: bool,
    ) -> None:
        self._totals = totals
        self._relation = relation
        self._dialect = dialect
        self._rows = rows
        self._ranges = {name: (0, size - 1) for name, size in sizes.items()}
        alone = Cluster(members=list(range(len(totals))))
        self._clusters = clusters(totals, sizes) if grouped else [alone]
        self._names = {axis: Col(f"##a{place}") for place, axis in enumerate(self._axes())}
        # Clusters of the same axes share one grouping: asked twice, it would return every row twice.
        self._groupings = list(dict.fromkeys(frozenset(cluster.axes) for cluster in self._clusters))
        self._parts: dict[int, Part] = {}
        self._aggregates: dict[Aggregate, str] = {}
        for cluster in self._clusters:
            self._plan(cluster)
        self.sql = self._statement()

    def _axes(self) -> list[IntExpr]:
        return list(dict.fromkeys(axis for cluster in self._clusters for axis in cluster.axes))

    def _size(self, axis: IntExpr) -> int:
        return max(cluster.axes.get(axis, 0) for cluster in self._clusters)

    def _exact(self, axis: IntExpr) -> bool:
        low, high = bounds(axis, self._ranges)
        return low >= 0 and high < self._size(axis)

    def _plan(self, cluster: Cluster) -> None:
        axes: dict[Node, Node] = {axis: self._names[axis] for axis in cluster.axes}
        exact = {axis: name for axis, name in axes.items() if self._exact(cast("IntExpr", axis))}
        for place in cluster.members:
            self._parts[place] = found = part(self._totals[place], axes, exact)
            self._aggregates.setdefault(found.summed, f"s{len(self._aggregates)}")

    def _statement(self) -> str:
        own = self._dialect.own
        render = Renderer(self._ranges, self._dialect)
        axes = [f"{self._axis_sql(axis, render)} AS {own(name.name)}" for axis, name in self._names.items()]
        sums = [f"{self._sum_sql(what, render)} AS {name}" for what, name in self._aggregates.items()]
        relation = render.relation(self._relation)
        groups = [
            [own(name.name) for axis, name in self._names.items() if axis in grouping]
            for grouping in self._groupings
        ]
        if not self._names:
            return f"SELECT {', '.join(sums)} FROM {relation}"
        chosen = [own(name.name) for name in self._names.values()]
        source = self._dialect.inner(f"SELECT *, {', '.join(axes)} FROM {relation}")
        if len(groups) == 1:
            return f"SELECT {', '.join(chosen + sums)} FROM {source} GROUP BY {', '.join(chosen)}"
        which = [f"GROUPING({name}) AS g{place}" for place, name in enumerate(chosen)]
        sets = ", ".join(f"({', '.join(group)})" for group in groups)
        return f"SELECT {', '.join(chosen + which + sums)} FROM {source} GROUP BY GROUPING SETS ({sets})"

    def _axis_sql(self, axis: IntExpr, render: Renderer) -> str:
        sql = render(axis)
        if self._exact(axis):
            return sql
        return f"CASE WHEN {sql} BETWEEN 0 AND {self._size(axis) - 1} THEN {sql} END"

    def _sum_sql(self, what: Aggregate, render: Renderer) -> str:
        if what.value is None:
            if isinstance(what.where, Known):
                return f"count({render(what.where.a)})"
            return "count(*)" if what.where is None else self._dialect.counted.format(render(what.where))
        narrow = self._is_narrow(what)
        total = (
            f"coalesce({self._dialect.total(render(what.value), narrow=narrow)}{_filter(what, render)}, 0)"
        )
        return f"CAST({total} AS BIGINT)" if narrow else self._dialect.as_text(total)

    def _is_narrow(self, what: Aggregate) -> bool:
        """Whether a sum fits 63 bits whatever the data are."""
        low, high = bounds(cast("IntExpr", what.value), self._ranges)
        return max(abs(low), abs(high)) * max(self._rows, 1) < _INT63

    # ------------------------------------------------------------------ answers

    def finish(self, found: Mapping[str, Any]) -> list[Answer]:
        """Marginalise the cells of each cluster to each total's own cells, in exact integers."""
        answers: dict[int, Answer] = {}
        for cluster in self._clusters:
            mine = self._rows_of(cluster, found)
            names = {axis: self._names[axis].name for axis in cluster.axes}
            columns = {name: _ints(found[name][mine]) for name in names.values()}
            evaluator = Evaluator(Table(columns, int(mine.sum())))
            for place in cluster.members:
                answers[place] = self._one(self._parts[place], evaluator, found, mine)
        return [answers[place] for place in range(len(self._totals))]

    def _rows_of(self, cluster: Cluster, found: Mapping[str, Any]) -> Any:
        """Which rows of the result belong to this cluster's grouping."""
        some = next(iter(self._aggregates.values()))
        mine = np.ones(len(found[some]), dtype=bool)
        if len(self._groupings) > 1:
            for place, axis in enumerate(self._names):
                mine &= _plain(found[f"g{place}"]) == (0 if axis in cluster.axes else 1)
        return mine

    def _one(self, wanted: Part, over: Evaluator, found: Mapping[str, Any], mine: Any) -> Answer:
        cells = over.cells(wanted.keys)
        kept = cells >= 0
        if wanted.where is not None:
            kept &= over.true(wanted.where)
        size = cells_of(wanted.keys)
        sums = found[self._aggregates[wanted.summed]][mine]
        if wanted.value is None:
            if self._is_narrow(wanted.summed):
                return exact_sums(cells[kept], _plain(sums)[kept], size)
            return _big_sums(cells[kept].tolist(), np.ma.getdata(sums)[kept].tolist(), size)
        value = over.ints(wanted.value)
        kept &= value.known
        return exact_sums(cells[kept], value.values[kept], size, _plain(sums)[kept])


def _keys_of(request: Request) -> tuple[Key, ...]:
    return request.keys if isinstance(request, Total | ValueCounts) else ()


def _columns_read(request: Total | ValueCounts | CrossMoments) -> tuple[str, ...]:
    """The names of the columns that a request reads, in their order."""
    values = request.values if isinstance(request, CrossMoments) else (request.value,)
    return tuple(sorted(columns_of(*values, request.where, *(key.code for key in _keys_of(request)))))


def _filter(what: Aggregate, render: Renderer) -> str:
    return "" if what.where is None else f" FILTER (WHERE {render(what.where)})"


def _big_sums(cells: list[int], texts: list[str], size: int) -> tuple[int, ...]:
    totals = [0] * size
    for cell, text in zip(cells, texts, strict=True):
        totals[cell] += int(text)
    return tuple(totals)


def _cell_sql(keys: Sequence[Key], render: Renderer, ranges: Mapping[str, tuple[int, int]]) -> str:
    """The row-major cell of a row, NULL for a row in none."""
    cell = render.dialect.typed(0, "BIGINT")
    for key in keys:
        code = render(key.code)
        low, high = bounds(key.code, ranges)
        inside = (
            code
            if low >= 0 and high < key.size
            else f"CASE WHEN {code} BETWEEN 0 AND {key.size - 1} THEN {code} END"
        )
        cell = f"({cell} * {key.size} + {inside})"
    return cell


def _plain(column: Any) -> Int64s:
    return np.asarray(np.ma.getdata(column), dtype=np.int64)


def _ints(column: Any) -> Ints:
    known = ~np.ma.getmaskarray(column)
    return Ints(np.where(known, np.ma.getdata(column), 0).astype(np.int64), known)


def _codes(known: Any) -> Int64s:
    return cast("Int64s", known.astype(np.int64))


def _bytes(kept: Mapping[Any, tuple[Int64s, ...]]) -> int:
    return sum(array.nbytes for arrays in kept.values() for array in arrays)
