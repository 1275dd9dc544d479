"""A batch of totals as one aggregation: the finest grouping that serves them all, and what to add up in it.

Columns with few codes become *axes*. Whatever depends on axes alone (keys, most filters, many values) is evaluated once
per cell instead of once per row, by the reference evaluator; the scan only counts rows and sums what no axis determines.
Totals whose joint cells would be too many go to separate *clusters*, which one statement serves by grouping sets.
Regrouping integers is exact, so the plan never changes an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import cast

from dpnb.trusted.aggregate.algebra import (
    Add,
    Case,
    Clip,
    Col,
    FloorDiv,
    IntExpr,
    Key,
    Known,
    Lit,
    Mul,
    Node,
    Pred,
    Sub,
    Total,
    bounds,
    cells_of,
    children,
    columns_of,
    conjunction,
    conjuncts,
    substitute,
)

MOST_CELLS = 1 << 14
"""Joint cells, NULL codes included, that totals may share."""

MOST_EXTRA_CELLS = 1 << 12
"""Joint cells up to which filters and values become axes although no key asks for them."""

MOST_TOTALS, MOST_STATES = 32, 1 << 22
"""Totals of one statement, and cells of all of them times totals: every group of a statement keeps every sum of it."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Something to add up in the scan: rows (``value`` None) or a value, over the rows that ``where`` keeps."""

    value: IntExpr | None
    where: Pred | None


@dataclass(slots=True)
class Cluster:
    """Totals that one grouping serves: ``axes`` maps each grouped expression to how many codes it has."""

    axes: dict[IntExpr, int] = field(default_factory=dict)
    members: list[int] = field(default_factory=list)

    def cells(self, extra: Mapping[IntExpr, int] | None = None) -> int:
        """How many joint cells the axes (with ``extra``) span, an unknown code included in each."""
        return prod(size + 1 for size in (self.axes | dict(extra or {})).values())


@dataclass(frozen=True, slots=True)
class Part:
    """A total over a cluster's cells: its keys, the filter and the value that cells decide, and what was summed."""

    keys: tuple[Key, ...]
    where: Pred | None
    value: IntExpr | None
    summed: Aggregate


def normal(total: Total) -> Total:
    """The same total with a conditional value turned into a filter, where that is what it is."""
    where, value = total.where, total.value
    while isinstance(value, Case) and value.other == Lit(0):
        where = conjunction((*conjuncts(where), *conjuncts(value.cond)))
        value = value.then
    return Total(value, where, total.keys)


def shares(totals: Sequence[Total]) -> Iterator[list[Total]]:
    """Share out totals over statements, in their order.

    In one statement a sum with a filter takes time for every other sum, and memory in every group: what a thousand questions take
    would grow with the square of their number.
    """
    share: list[Total] = []
    cells = 0
    for total in totals:
        more = cells + cells_of(total.keys)
        if share and (len(share) == MOST_TOTALS or (len(share) + 1) * more > MOST_STATES):
            yield share
            share, more = [], cells_of(total.keys)
        share.append(total)
        cells = more
    if share:
        yield share


def clusters(totals: Sequence[Total], sizes: Mapping[str, int]) -> list[Cluster]:
    """Group totals so that each group's joint cells are few, then let filters and values join as axes."""
    found: list[Cluster] = []
    for place, total in enumerate(totals):
        nested = next((c for c in found if _within(total, c, sizes)), None)
        if nested is not None:
            nested.members.append(place)
            continue
        asked = _key_axes(total, sizes)
        home = next(
            (c for c in found if c.cells(asked) <= MOST_CELLS or asked.items() <= c.axes.items()), None
        )
        if home is None:
            home = Cluster()
            found.append(home)
        home.axes |= {axis: max(size, home.axes.get(axis, 0)) for axis, size in asked.items()}
        home.members.append(place)
    for cluster in found:
        for place in cluster.members:
            _add_axes(cluster, [*conjuncts(totals[place].where)], sizes)
        for place in cluster.members:
            _add_axes(cluster, [totals[place].value], sizes)
    return found


def _within(total: Total, cluster: Cluster, sizes: Mapping[str, int]) -> bool:
    """Whether a total's keys are functions of axes that a cluster has anyway, as the nodes of a tree are of its leaves.

    Only axes that hold every value of their expression count: of the others a coarser key would lose rows.
    """
    ranges = {name: (0, size - 1) for name, size in sizes.items()}
    whole = {axis for axis, size in cluster.axes.items() if _holds_all(axis, size, ranges)}
    return bool(total.keys) and all(_made_of(key.code, whole) for key in total.keys)


def _holds_all(axis: IntExpr, size: int, ranges: Mapping[str, tuple[int, int]]) -> bool:
    low, high = bounds(axis, ranges)
    return low >= 0 and high < size


def _made_of(node: Node, axes: set[IntExpr]) -> bool:
    """Whether a node is an axis, a constant, or an operation on such."""
    if node in axes or isinstance(node, Lit):
        return True
    below = children(node)
    return bool(below) and all(_made_of(child, axes) for child in below)


def _key_axes(total: Total, sizes: Mapping[str, int]) -> dict[IntExpr, int]:
    """The grouped expressions that a total's keys need: small columns themselves, else the key's own code."""
    axes: dict[IntExpr, int] = {}
    for key in total.keys:
        columns = sorted(columns_of(key.code))
        if isinstance(key.code, Col) or prod(sizes[name] + 1 for name in columns) <= 2 * key.size + 64:
            axes |= {Col(name): sizes[name] for name in columns}
        else:
            axes[key.code] = max(key.size, axes.get(key.code, 0))
    return axes


def _add_axes(cluster: Cluster, nodes: Sequence[Node], sizes: Mapping[str, int]) -> None:
    for node in nodes:
        extra: dict[IntExpr, int] = {Col(name): sizes[name] for name in sorted(columns_of(node))}
        if cluster.cells(extra) <= MOST_EXTRA_CELLS:
            cluster.axes |= extra


def part(total: Total, axes: Mapping[Node, Node], exact: Mapping[Node, Node]) -> Part:
    """Split a total into what the cells decide and what the scan must add up.

    Parameters
    ----------
    total : Total
    axes : mapping of grouped expression to its column over cells
    exact : mapping
        Those axes that hold every value of their expression, so that filters and values may use them too; the others
        hold only the codes of a key.
    """
    known = frozenset().union(*(columns_of(axis) for axis in axes.values()))
    keys = tuple(Key(_over(key.code, axes, exact, known), key.size) for key in total.keys)
    asked = [(predicate, substitute(predicate, exact)) for predicate in conjuncts(total.where)]
    decided = conjunction(tuple(over for _, over in asked if columns_of(over) <= known))
    rest = tuple(raw for raw, over in asked if not columns_of(over) <= known)
    value = substitute(total.value, exact)
    if columns_of(value) <= known:
        return Part(keys, decided, value, Aggregate(None, conjunction(rest)))
    needed = strict_parts(total.value)
    rest = tuple(p for p in rest if not (isinstance(p, Known) and p.a in needed))
    return Part(keys, decided, None, Aggregate(total.value, conjunction(rest)))


def _over(
    code: IntExpr, axes: Mapping[Node, Node], exact: Mapping[Node, Node], known: frozenset[str]
) -> IntExpr:
    """A key's code over cells: of axes that hold every value of their expression, else the axis that was made for it."""
    over = substitute(code, exact)
    return over if columns_of(over) <= known else cast("IntExpr", axes[code])


def strict_parts(node: IntExpr) -> frozenset[IntExpr]:
    """The sub-expressions that make ``node`` unknown wherever they are unknown."""
    match node:
        case Add(a, b) | Sub(a, b) | Mul(a, b):
            return strict_parts(a) | strict_parts(b) | {node}
        case FloorDiv(a, _) | Clip(a, _, _):
            return strict_parts(a) | {node}
        case _:
            return frozenset({node})
