"""What FROM, WITH and JOIN name: datasets and selections of them, inner SELECTs, and rows by person as ``[prepare]`` made them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from dpnb.client.handles import Dataset
from dpnb.client.sql.aggregates import line_of, prepared
from dpnb.client.sql.expressions import value
from dpnb.client.sql.names import TRUE, Rows, Value, found, word_of
from dpnb.client.sql.reader import each, fail, listed
from dpnb.errors import SchemaError
from dpnb.planner.expression import Compare, Const, Expr, Ref
from dpnb.trusted.records import nearest
from dpnb.trusted.schema.unit_summary import Take

if TYPE_CHECKING:
    from dpnb.client.sql.reader import Node

_TAKES: dict[str, Take] = {"sum": "sum", "avg": "mean", "count": "count"}


@dataclass(frozen=True, slots=True)
class Scope:
    """What FROM can name: the SELECTs of WITH first; `answer` reads an inner SELECT."""

    tables: Mapping[str, Dataset]
    parameters: Mapping[str, object]
    answer: Callable[[Node, Scope], Any]
    inner: Mapping[str, tuple[Node, Scope]] = field(default_factory=dict)

    def within(self, select: Node) -> Scope:
        """Return the scope with the SELECTs of WITH."""
        scope = self
        for part in each(select, "with_"):
            for one in part.expressions:
                scope = replace(scope, inner={**scope.inner, one.alias: (one.this, scope)})
        return scope

    @property
    def constants(self) -> Rows:
        """What reads the constants of an outer SELECT, which has no rows of people."""
        return Rows(next(iter(self.tables.values())), None, {}, self.parameters)

    def source(self, node: Node) -> Any:
        """Return the rows of a table, a SELECT of WITH or a subquery; of a grouped one its answer."""
        called = node.alias or node.name
        if node.key == "subquery":
            return _renamed(self.answer(node.this, self), called or "q")
        if node.key != "table" or node.this.key != "identifier":
            fail(node, "names no table")
        inner, dataset = found(node.name, self.inner), found(node.name, self.tables)
        if inner is not None:
            return _renamed(self.answer(*inner), called)
        if dataset is not None:
            return Rows.of(called, dataset, self.parameters)
        for other in self.tables.values():
            if node.name in other.schema.sources:
                return _beside(replace(Rows.of("", other, self.parameters), names={}), node.name, called)
        close = nearest(node.name, [*self.inner, *self.tables])
        hint = (
            f"Open are: {listed(self.tables)}."
            if self.tables
            else f"Open it first: {node.name} = dpnb.open(…)."
        )
        raise SchemaError(f"There is no table {node.name}. " + (f"Did you mean {close}?" if close else hint))

    def joined(self, rows: Rows, join: Node) -> Rows:
        """Return the rows with a declared second table, or with what is prepared of each person's rows, beside them."""
        node, whole = join.this, rows.dataset.name
        said = (
            f"{node.name} AS {node.alias}" if node.key == "table" and node.alias else node.alias or node.name
        )
        other = None
        kind = (join.text("side") or join.text("kind")).upper()
        if kind in {"", "INNER", "LEFT"} and _by_unit(rows, join):
            if node.name in rows.dataset.schema.sources and found(node.name, self.inner) is None:
                if kind == "LEFT" or rows.joined:
                    fail(join, "left", said=said)
                return _beside(rows, node.name, node.alias or node.name)
            other = (
                self.source(node)
                if node.key == "subquery" or found(node.name, {**self.inner, **self.tables}) is not None
                else None
            )
        if (
            not isinstance(other, Rows)
            or other.dataset is not rows.dataset
            or other.joined
            or not other.per_person
        ):
            own = isinstance(other, Rows | None) and node.name in rows.dataset.schema.sources
            unit = {"unit": rows.unit or ""} if own else {"whole": whole}
            fail(
                join,
                "by person alone" if own else "another table",
                said=said,
                name=node.name or "NAME",
                **unit,
            )
        beside = replace(rows, names={**other.names, **rows.names})
        return beside if kind == "LEFT" else beside.kept(other.where)


def _renamed(made: Any, name: str) -> Any:
    return replace(made, names={name: made.every}) if isinstance(made, Rows) else made


def _beside(rows: Rows, source: str, called: str) -> Rows:
    """Return the rows of a declared second table, each beside its person's."""
    lines = [line for line in rows.dataset.schema.prepared if line.source == source]
    columns = {
        column.name: Value(Ref(column.name), source=source) for line in lines for column in line.columns
    }
    return replace(rows, names={called: columns, **rows.names}, joined=source)


def _by_unit(rows: Rows, join: Node) -> bool:
    """Tell whether a join is by the column that names people."""
    unit, on = (rows.unit or "").casefold(), join.args.get("on")
    if on is not None:
        sides = [one.name.casefold() for one in each(on, "this", "expression") if one.key == "column"]
        return on.key == "eq" and sides == [unit, unit]
    return [one.name.casefold() for one in each(join, "using")] == [unit]


def projected(rows: Rows, select: Node) -> Rows:
    """Return the rows under the names of an inner SELECT of projections and filters."""
    if select.parent is not None and any(
        select.args.get(part) for part in ("order", "limit", "offset", "having")
    ):
        fail(select, "rows order")
    names: dict[str, Value] = {}
    for one in select.expressions:
        if one.key == "star":
            names |= rows.every
        elif not rows.is_unit(one.unalias()):
            names[word_of(one)] = value(rows, one.unalias())
    return replace(rows, names={"": names}, aliases={})


def by_person(rows: Rows, select: Node, named: list[Node]) -> Rows:
    """Return the rows of a SELECT by person: the lines of [prepare] that say the same."""
    source, unit = rows.joined, next(one for one in named if rows.is_unit(one))
    taken = {
        word_of(one): _taken(rows, one.unalias(), source)
        for one in select.expressions
        if not rows.is_unit(one.unalias())
    }
    if (
        len(named) > 1
        or rows.where is not None
        or any(select.args.get(part) for part in ("having", "order", "limit"))
    ):
        fail(unit, "by person", unit=unit.name)
    there = _there(rows, source)
    return replace(
        rows,
        names={"": taken},
        where=None if there == TRUE else there,
        joined="",
        per_person=True,
        aliases={},
    )


def _taken(rows: Rows, node: Node, source: str) -> Value:
    """Return the prepared column that an aggregate of each person's rows is."""
    take, inner = _TAKES.get(node.key), node.args.get("this")
    if (
        take is None
        or (inner is not None and inner.key not in {"column", "star"})
        or (take == "count") != (inner is None or inner.key == "star")
    ):
        fail(node, "prepare any")
    line = line_of(rows, node, source, take, "" if take == "count" else cast("Node", inner).name)
    return Value(Ref(line.name), TRUE if rows.dataset.schema[line.name].drops else _there(rows, source))


def _there(rows: Rows, source: str) -> Expr:
    """Return the condition that a person has a row of a table; of the dataset's own everybody has."""
    line = prepared(rows, source, "count") if source else None
    if line is None:
        return TRUE
    drops = rows.dataset.schema[line.name].drops
    return rows.has(Ref(line.name)) if drops else Compare(">", Ref(line.name), Const(0))
