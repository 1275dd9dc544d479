"""Cross moments as one SQL statement: every value once per row, then the sums of products, in one scan.

An inner SELECT computes the values in the narrowest integers that hold them and drops the rows in which one is unknown;
further SELECTs move rows into a ball where that is asked; the outermost adds up products. Integers only, and exactly those of
:meth:`dpnb.trusted.aggregate.reference.Evaluator.cross_moments`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
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

_INT63 = 2**62
_MARK = '0 AS "##"'

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


def statement(request: CrossMoments, table: str, ranges: Mapping[str, tuple[int, int]], rows: int) -> str:
    """The SQL of a request: one row, one column for each pair."""
    render = Renderer(ranges)
    ends = [bounds(value, ranges) for value in request.values]
    listed = [
        f"CAST({render(value)} AS {integer_type(*end)}) AS {_name(place)}"
        for place, (value, end) in enumerate(zip(request.values, ends, strict=True))
        if not isinstance(value, Lit)
    ]
    where = "" if request.where is None else f" WHERE {render(request.where)}"
    chosen = ", ".join([_MARK, *listed])
    source = f"(SELECT {chosen} FROM {render.relation(table)}{where})"
    unknown = [f"{_name(place)} IS NOT NULL" for place in _nullable(request)]
    kept = f" WHERE {' AND '.join(unknown)}" if unknown else ""
    if request.shrink is not None:
        source, kept = _shrunk(f"(SELECT * FROM {source}{kept})", request, request.shrink), ""
    sums = [
        _sum((request.values[i], request.values[j]), (i, j), (ends[i], ends[j]), rows)
        for i, j in request.pairs
    ]
    return f"SELECT {', '.join(sums)} FROM {source}{kept}"


def integers(found: Sequence[Any]) -> tuple[int, ...]:
    """The one row of a result as Python integers."""
    return tuple(int(value) for value in found)


def _name(place: int) -> str:
    return f'"##v{place}"'


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


def _sum(values: tuple[IntExpr, IntExpr], pair: Pair, ends: tuple[Pair, Pair], rows: int) -> str:
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
        return f"CAST(count(*) * {constant}::HUGEINT AS VARCHAR)"
    factors = [*(f"CAST({_name(place)} AS {kind})" for place in named)]
    if constant != 1:
        factors.append(f"({constant})::{kind}")
    narrow = max(abs(low), abs(high)) * max(rows, 1) < _INT63
    return f"CAST(coalesce(sum({' * '.join(factors)}), 0) AS {'BIGINT' if narrow else 'VARCHAR'})"


def _shrunk(source: str, request: CrossMoments, shrink: Shrink) -> str:
    """The rows moved into the ball: three further SELECTs, so that nothing is computed twice."""
    moved = [place for place, half in enumerate(shrink.halves) if half]
    sizes = [
        f"(({_wide(place)} * {_wide(place)} * {2**SIZE_BITS}::BIGINT + {half * half - 1}::BIGINT) // {half * half}::BIGINT)"
        for place, half in enumerate(shrink.halves)
        if half
    ]
    cases = " ".join(
        f'WHEN "##size" <= {limit} THEN {shrink.steps - place}::BIGINT'
        for place, limit in enumerate(shrink.limits)
    )
    factor = f"CASE {cases} ELSE {shrink.steps - len(shrink.limits)}::BIGINT END"
    values = [
        f"CAST({_toward_zero(place, shrink.steps)} AS INTEGER) AS {_name(place)}"
        if place in moved
        else _name(place)
        for place, value in enumerate(request.values)
        if not isinstance(value, Lit)
    ]
    sized = f'(SELECT *, {" + ".join(sizes)} AS "##size" FROM {source})'
    scaled = f'(SELECT *, {factor} AS "##factor" FROM {sized})'
    chosen = ", ".join(['"##"', *values])
    return f"(SELECT {chosen} FROM {scaled})"


def _wide(place: int) -> str:
    return f"CAST({_name(place)} AS BIGINT)"


def _toward_zero(place: int, steps: int) -> str:
    return f'(sign({_wide(place)}) * (abs({_wide(place)}) * "##factor" // {steps}::BIGINT))'
