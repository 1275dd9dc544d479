"""The embedded engine: DuckDB over a prepared copy, one statement and one scan for the totals of an ordinary batch (a long one is
shared out), and one for each matrix of cross moments.

Sums are 128-bit inside DuckDB and Python integers outside; nothing is a float. The engine reads its copy alone: it
cannot write, reach a file or load an extension. Value counts that depend on one column come from a structure that is
built on first use and kept, because the copy never changes.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import duckdb
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
    cell_count,
    exact_sums,
    split_tallies,
)
from dpnb.trusted.curator.content import Content
from dpnb.trusted.curator.engines._base import EngineInterrupted
from dpnb.trusted.curator.engines.batching import Aggregate, Cluster, Part, clusters, normal, part, shares
from dpnb.trusted.curator.engines.crossing import Pair, bare, integers, statement, together
from dpnb.trusted.curator.engines.preparing import spill_directory
from dpnb.trusted.curator.engines.raw_table import quoted
from dpnb.trusted.curator.engines.rendering import Renderer
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.schema.cell import QUANTISER_VERSION

_TABLE = "prepared"
_INT63 = 2**62
_PERFECT_BITS = 16
_WRITES_OUT = "filter_pushdown"
"""It writes a column of an inner SELECT out wherever a filter mentions it: forty conditions within conditions never end."""
_MOST_COUNTED_CELLS = 1 << 21
_KEPT_BYTES = 1 << 28


class DuckDBEngine:
    """Answers batches over one prepared copy. Safe to share between threads; one batch runs at a time.

    Parameters
    ----------
    path : path
        What :func:`~dpnb.trusted.curator.engines.preparing.prepare` wrote.
    threads : int, optional
        How many threads a scan may use; all cores by default.
    """

    def __init__(self, path: str | Path, *, threads: int | None = None) -> None:
        path = Path(path)
        config: dict[str, Any] = {"temp_directory": str(spill_directory(path))}
        if threads is not None:
            config["threads"] = threads
        self._connection = duckdb.connect(str(path), read_only=True, config=config)
        self._connection.execute(f"SET perfect_ht_threshold = {_PERFECT_BITS}")
        self._connection.execute(f"SET disabled_optimizers = '{_WRITES_OUT}'")
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")
        self.content = self._made_by_this_quantiser()
        self._sizes = dict(self._connection.execute("SELECT name, size FROM sizes").fetchall())
        self._ranges = {name: (0, size - 1) for name, size in self._sizes.items()}
        self._rows = int(self._rows_of(f"SELECT count(*) FROM {_TABLE}")[0][0])
        self._lock = threading.Lock()
        self._kept: OrderedDict[Any, tuple[Int64s, ...]] = OrderedDict()

    def _made_by_this_quantiser(self) -> Content:
        """Refuse a copy of another quantiser; return what the copy's content is known by."""
        ((quantiser, content),) = self._connection.execute("SELECT quantiser, content FROM about").fetchall()
        if quantiser != QUANTISER_VERSION:
            self._connection.close()
            raise OwnerError("This copy was prepared by another version of dpnb. Open the dataset again.")
        return Content.from_json(json.loads(content))

    def answer(self, requests: Sequence[Request]) -> list[Answer]:
        """Answer a batch exactly, in the order of the requests.

        Raises
        ------
        EngineInterrupted
            When :meth:`interrupt` was called meanwhile.
        """
        with self._lock:
            try:
                return self._answer(requests)
            except duckdb.InterruptException as error:
                raise EngineInterrupted from error

    def interrupt(self) -> None:
        """Cancel what is running, from another thread."""
        self._connection.interrupt()

    def close(self) -> None:
        """Close the copy. A closed engine answers nothing."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def statement(self, totals: Sequence[Total]) -> str:
        """The one SQL statement that serves these totals, if they are few (for EXPLAIN)."""
        return _Batch([normal(total) for total in dict.fromkeys(totals)], self._sizes, self._rows).sql

    def _answer(self, requests: Sequence[Request]) -> list[Answer]:
        distinct = dict.fromkeys(requests)
        totals = [request for request in distinct if isinstance(request, Total)]
        answers: dict[Request, Answer] = dict(zip(totals, self._totals(totals), strict=True))
        for request in distinct:
            if isinstance(request, ValueCounts):
                answers[request] = self._value_counts(request)
            elif isinstance(request, LabelSums):
                answers[request] = self._label_sums(request)
        answers |= self._cross_moments([r for r in distinct if isinstance(r, CrossMoments)])
        return [answers[request] for request in requests]

    # ------------------------------------------------------------------ totals

    def _totals(self, totals: Sequence[Total]) -> list[Answer]:
        found: list[Answer] = []
        for some in shares([normal(total) for total in totals]):
            batch = _Batch(some, self._sizes, self._rows)
            found += batch.finish(self._connection.execute(batch.sql).fetchnumpy())
        return found

    # ----------------------------------------------------------- cross moments

    def _cross_moments(self, requests: Sequence[CrossMoments]) -> dict[Request, Answer]:
        sums: dict[CrossMoments, dict[Pair, int]] = {}
        for whole in together(requests):
            sql = statement(whole, _TABLE, self._ranges, self._rows)
            found = integers(self._rows_of(sql)[0])
            sums[bare(whole)] = dict(zip(whole.pairs, found, strict=True))
        wanted = ((request, sums[bare(request)]) for request in requests)
        return {request: tuple(found[pair] for pair in request.pairs) for request, found in wanted}

    # ------------------------------------------------------------ value counts

    def _value_counts(self, request: ValueCounts) -> tuple[Tally, ...]:
        columns = sorted(columns_of(request.value, request.where, *(key.code for key in request.keys)))
        cells = prod(self._sizes[name] + 1 for name in columns)
        if len(columns) == 1 or cells <= _MOST_COUNTED_CELLS:
            table = self._counted(tuple(columns))
            return cast("tuple[Tally, ...]", Evaluator(table).answer(request))
        if request.where is None:
            cell, value, counts = self._keep(request, lambda: self._sorted_counts(request))
        else:
            cell, value, counts = self._sorted_counts(request)
        return split_tallies(cell, value, counts, cell_count(request.keys))

    def _counted(self, columns: tuple[str, ...]) -> Table:
        """The distinct combinations of some columns, and how often each occurs: prepared on first use."""
        arrays = self._keep(columns, lambda: self._count(columns))
        pairs = zip(columns, arrays[1::2], arrays[2::2], strict=True)
        ints = {name: Ints(values, known.astype(bool)) for name, values, known in pairs}
        return Table(ints, len(arrays[0]), arrays[0])

    def _count(self, columns: tuple[str, ...]) -> tuple[Int64s, ...]:
        names = ", ".join(quoted(name) for name in columns)
        group = f"GROUP BY {names}" if columns else ""
        chosen = "".join(f'{quoted(name)} AS "##{place}", ' for place, name in enumerate(columns))
        found = self._connection.execute(f"SELECT {chosen}count(*) AS n FROM {_TABLE} {group}").fetchnumpy()
        ints = [_ints(found[f"##{place}"]) for place in range(len(columns))]
        return (
            _plain(found["n"]),
            *(array for column in ints for array in (column.values, _codes(column.known))),
        )

    def _sorted_counts(self, request: ValueCounts) -> tuple[Int64s, Int64s, Int64s]:
        render = Renderer(self._ranges)
        cell = _cell_sql(request.keys, render, self._ranges)
        value = f"CAST({render(request.value)} AS BIGINT)"
        where = "TRUE" if request.where is None else render(request.where)
        sql = (
            'SELECT "##cell" AS cell, "##value" AS value, count(*) AS n FROM '
            f'(SELECT {cell} AS "##cell", {value} AS "##value" FROM {render.relation(_TABLE)} WHERE {where}) '
            'WHERE "##cell" IS NOT NULL AND "##value" IS NOT NULL GROUP BY ALL ORDER BY ALL'
        )
        found = self._connection.execute(sql).fetchnumpy()
        return _plain(found["cell"]), _plain(found["value"]), _plain(found["n"])

    def _label_sums(self, request: LabelSums) -> LabelTally:
        """Group by the integers of a label; sums are 128-bit, and texts on their way out."""
        render = Renderer(self._ranges)
        wanted = [render(value) for value in (*request.label, *request.values)]
        where = "TRUE" if request.where is None else render(request.where)
        names = [f'"##v{place}"' for place in range(len(wanted))]
        chosen = ", ".join(f"{sql} AS {name}" for sql, name in zip(wanted, names, strict=True))
        label, values = names[: len(request.label)], names[len(request.label) :]
        sums = "".join(f", CAST(sum({name}) AS VARCHAR)" for name in values)
        known = " AND ".join(f"{name} IS NOT NULL" for name in names)
        rows = self._rows_of(
            f"SELECT {', '.join(label)}, count(*){sums} FROM (SELECT {chosen} FROM {render.relation(_TABLE)} WHERE {where}) "
            f"WHERE {known} GROUP BY {', '.join(label)} ORDER BY {', '.join(label)}"
        )
        columns = list(zip(*rows, strict=True)) or [()] * (len(wanted) + 1)
        labels = tuple(zip(*columns[: len(label)], strict=True))
        counts, *totals = columns[len(label) :]
        return LabelTally(labels, counts, tuple(tuple(map(int, total)) for total in totals))

    def _keep(self, what: Any, build: Any) -> tuple[Int64s, ...]:
        """Remember a structure, as long as all of them together stay small."""
        if what not in self._kept:
            self._kept[what] = build()
        self._kept.move_to_end(what)
        found = self._kept[what]
        while len(self._kept) > 1 and _bytes(self._kept) > _KEPT_BYTES:
            self._kept.popitem(last=False)
        return found

    def _rows_of(self, sql: str) -> list[Any]:
        return self._connection.execute(sql).fetchall()


class _Batch:
    """One statement for some totals, and the way from its result to their answers."""

    def __init__(self, totals: Sequence[Total], sizes: Mapping[str, int], rows: int) -> None:
        self._totals = totals
        self._rows = rows
        self._ranges = {name: (0, size - 1) for name, size in sizes.items()}
        self._clusters = clusters(totals, sizes)
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
        render = Renderer(self._ranges)
        axes = [
            f"{self._axis_sql(axis, render)} AS {quoted(name.name)}" for axis, name in self._names.items()
        ]
        sums = [f"{self._sum_sql(what, render)} AS {name}" for what, name in self._aggregates.items()]
        relation = render.relation(_TABLE)
        groups = [
            [quoted(name.name) for axis, name in self._names.items() if axis in grouping]
            for grouping in self._groupings
        ]
        if not self._names:
            return f"SELECT {', '.join(sums)} FROM {relation}"
        chosen = [quoted(name.name) for name in self._names.values()]
        source = f"(SELECT *, {', '.join(axes)} FROM {relation})"
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
            return f"count(*){_filter(what, render)}"
        total = f"sum({render(what.value)}){_filter(what, render)}"
        return f"CAST(coalesce({total}, 0) AS {'BIGINT' if self._is_narrow(what) else 'VARCHAR'})"

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
        size = cell_count(wanted.keys)
        sums = found[self._aggregates[wanted.summed]][mine]
        if wanted.value is None:
            if self._is_narrow(wanted.summed):
                return exact_sums(cells[kept], _plain(sums)[kept], size)
            return _big_sums(cells[kept].tolist(), np.ma.getdata(sums)[kept].tolist(), size)
        value = over.ints(wanted.value)
        kept &= value.known
        return exact_sums(cells[kept], value.values[kept], size, _plain(sums)[kept])


def _filter(what: Aggregate, render: Renderer) -> str:
    return "" if what.where is None else f" FILTER (WHERE {render(what.where)})"


def _big_sums(cells: list[int], texts: list[str], size: int) -> tuple[int, ...]:
    totals = [0] * size
    for cell, text in zip(cells, texts, strict=True):
        totals[cell] += int(text)
    return tuple(totals)


def _cell_sql(keys: Sequence[Key], render: Renderer, ranges: Mapping[str, tuple[int, int]]) -> str:
    """The row-major cell of a row, NULL for a row in none."""
    cell = "0::BIGINT"
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
