"""Cross moments as one SQL statement: every value once per row, then the sums of products, in one scan.

An inner SELECT computes the values in the narrowest integers that hold them and drops the rows in which one is unknown;
further SELECTs move rows into a ball where that is asked; the outermost adds up products. Integers only, and exactly those of
:meth:`dpnb.trusted.aggregate.reference.Evaluator.answer`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpnb.trusted.aggregate.algebra import (
    SIZE_BITS,
    Add,
    Clip,
    Col,
    CrossMoments,
    FloorDiv,
    IntExpr,
    Known,
    Lit,
    Mul,
    Shrink,
    Sub,
    bounds,
    conjuncts,
)
from dpnb.trusted.curator.engines.rendering import Renderer, integer_type
from dpnb.trusted.curator.engines.sql_dialect import DUCKDB, SqlDialect

_INT63 = 2**62

Pair = tuple[int, int]


def bare(request: CrossMoments) -> CrossMoments:
    """The rows and values of a request, without its pairs."""
    return replace(request, pairs=())


def together(requests: Sequence[CrossMoments]) -> list[CrossMoments]:
    """Join requests about the same rows and values: one request for all their pairs."""
    found: dict[CrossMoments, dict[Pair, None]] = {}
    for request in requests:
        found.setdefault(bare(request), {}).update(dict.fromkeys(request.pairs))
    return [replace(rows, pairs=tuple(pairs)) for rows, pairs in found.items()]


def statement(
    request: CrossMoments,
    table: str,
    ranges: Mapping[str, tuple[int, int]],
    rows: int,
    dialect: SqlDialect = DUCKDB,
) -> str:
    """The SQL of a request: one row, one column for each pair."""
    return _Crossing(request, ranges, rows, dialect).sql(table)


def integers(found: Sequence[Any]) -> tuple[int, ...]:
    """The one row of a result as Python integers."""
    return tuple(int(value) for value in found)


@dataclass(frozen=True, slots=True)
class _Crossing:
    """A request being written in a dialect."""

    request: CrossMoments
    ranges: Mapping[str, tuple[int, int]]
    rows: int
    dialect: SqlDialect

    def sql(self, table: str) -> str:
        request, inner = self.request, self.dialect.inner
        render = Renderer(self.ranges, self.dialect)
        ends = [bounds(value, self.ranges) for value in request.values]
        listed = [
            f"CAST({render(value)} AS {integer_type(*end)}) AS {self._name(place)}"
            for place, (value, end) in enumerate(zip(request.values, ends, strict=True))
            if not isinstance(value, Lit)
        ]
        where = "" if request.where is None else f" WHERE {render(request.where)}"
        chosen = ", ".join([f"0 AS {self.dialect.own('##')}", *listed])
        source = inner(f"SELECT {chosen} FROM {render.relation(table)}{where}")
        unknown = [f"{self._name(place)} IS NOT NULL" for place in _nullable(request)]
        kept = f" WHERE {' AND '.join(unknown)}" if unknown else ""
        if request.shrink is not None:
            source, kept = self._shrunk(inner(f"SELECT * FROM {source}{kept}"), request.shrink), ""
        sums = [
            self._sum((request.values[i], request.values[j]), (i, j), (ends[i], ends[j]))
            for i, j in request.pairs
        ]
        return f"SELECT {', '.join(sums)} FROM {source}{kept}"

    def _name(self, place: int) -> str:
        return self.dialect.own(f"##v{place}")

    def _sum(self, values: tuple[IntExpr, IntExpr], pair: Pair, ends: tuple[Pair, Pair]) -> str:
        typed = self.dialect.typed
        constant, named = 1, []
        for value, place in zip(values, pair, strict=True):
            if isinstance(value, Lit):
                constant *= value.value
            else:
                named.append(place)
        # The ranges of stand-in columns: the product's range follows from them alone.
        low, high = bounds(Mul(Col("i"), Col("j")), {"i": ends[0], "j": ends[1]})
        kind = integer_type(low, high, *ends[0], *ends[1])
        if not named:
            return self.dialect.as_text(f"count(*) * {typed(constant, self.dialect.wide)}")
        factors = [*(f"CAST({self._name(place)} AS {kind})" for place in named)]
        if constant != 1:
            factors.append(typed(f"({constant})", kind))
        narrow = max(abs(low), abs(high)) * max(self.rows, 1) < _INT63
        total = f"coalesce({self.dialect.total(' * '.join(factors), narrow=narrow)}, 0)"
        return f"CAST({total} AS BIGINT)" if narrow else self.dialect.as_text(total)

    def _shrunk(self, source: str, shrink: Shrink) -> str:
        """The rows moved into the ball: four further SELECTs, so that nothing is computed twice."""
        own, inner, typed = self.dialect.own, self.dialect.inner, self.dialect.typed
        moved = [place for place, half in enumerate(shrink.halves) if half]
        sizes = [self._size(place, half) for place, half in enumerate(shrink.halves) if half]
        cases = " ".join(
            f"WHEN {own('##size')} <= {limit} THEN {typed(shrink.steps - place, 'BIGINT')}"
            for place, limit in enumerate(shrink.limits)
        )
        factor = f"CASE {cases} ELSE {typed(shrink.steps - len(shrink.limits), 'BIGINT')} END"
        values = [
            f"CAST({self._toward_zero(place, shrink.steps)} AS INTEGER) AS {self._name(place)}"
            if place in moved
            else self._name(place)
            for place, value in enumerate(self.request.values)
            if not isinstance(value, Lit)
        ]
        sized = inner(f"SELECT *, {' + '.join(sizes)} AS {own('##size')} FROM {source}")
        scaled = inner(f"SELECT *, {factor} AS {own('##factor')} FROM {sized}")
        ball = inner(f"SELECT {', '.join([own('##'), *values])} FROM {scaled}")
        factors = [self.request.factors(place) for place in range(len(self.request.values))]
        if max(map(len, factors)) == 1:
            return ball
        products = [
            f"{self._wide(one)} * {self._wide(other[0])} AS {self._name(place)}"
            if other
            else self._name(place)
            for place, (one, *other) in enumerate(factors)
            if not isinstance(self.request.values[place], Lit)
        ]
        return inner(f"SELECT {', '.join([own('##'), *products])} FROM {ball}")

    def _size(self, place: int, half: int) -> str:
        """The square of a value's part of its half width, rounded up."""
        typed, wide = self.dialect.typed, self._wide(place)
        above = f"({wide} * {wide} * {typed(2**SIZE_BITS, 'BIGINT')} + {typed(half * half - 1, 'BIGINT')})"
        return f"({self.dialect.divided(above, typed(half * half, 'BIGINT'))})"

    def _wide(self, place: int) -> str:
        return f"CAST({self._name(place)} AS BIGINT)"

    def _toward_zero(self, place: int, steps: int) -> str:
        wide, by = self._wide(place), self.dialect.typed(steps, "BIGINT")
        return (
            f"(sign({wide}) * ({self.dialect.divided(f'abs({wide}) * ' + self.dialect.own('##factor'), by)}))"
        )


def _nullable(request: CrossMoments) -> list[int]:
    """The values that a kept row may still lack."""
    known = {part.a for part in conjuncts(request.where) if isinstance(part, Known)}
    return [
        place
        for place, value in enumerate(request.values)
        if not isinstance(value, Lit) and not _always_known(value, known)
    ]


def _always_known(value: IntExpr, known: set[IntExpr]) -> bool:
    """Whether a value is known wherever some others are: it is one of them, or made of such by what keeps the known known."""
    if isinstance(value, Lit) or value in known:
        return True
    if isinstance(value, Add | Sub | Mul):
        return _always_known(value.a, known) and _always_known(value.b, known)
    return isinstance(value, FloorDiv | Clip) and _always_known(value.a, known)
