"""Names in SQL: tables, columns, values and parameters, each with its nearest; and the rows that a SELECT sees under them.

Names are DuckDB's: not case-sensitive, exact spelling first. ``"…"`` is a name and ``'…'`` a text. A selection of a dataset is a view.
A name of an inner SELECT stands for what it was computed from; it is never looked up as a column again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from dpnb.client import sessions
from dpnb.client.handles import Dataset
from dpnb.client.sql.reader import fail, listed
from dpnb.errors import PlanError, SchemaError
from dpnb.estimate import Estimate
from dpnb.planner.compile import condition, is_condition, numeric
from dpnb.planner.expression import BoolOp, Const, Expr, Invert, Ref, plain, presence, surely, to_json
from dpnb.trusted.records import nearest
from dpnb.trusted.schema import Column

if TYPE_CHECKING:
    from dpnb.client.sql.reader import Node
    from dpnb.statistics import Numeric
T = TypeVar("T")

TRUE, FALSE = Const(True), Const(False)


@dataclass(frozen=True, slots=True)
class Value:
    """What a name or an expression stands for in each row.

    Parameters
    ----------
    expr : Expr
        In the column language; missing where SQL has NULL.
    known : Expr
        A condition, never unknown, outside of which the value is NULL too: of a CASE without ELSE.
    source : str
        The second table whose rows it is of, where `expr` is a column of theirs; empty for the dataset's own.
    """

    expr: Expr
    known: Expr = TRUE
    source: str = ""


def tables_of(namespace: Mapping[str, object]) -> dict[str, Dataset]:
    """Return what FROM can name: the datasets among some names, and those that are open."""
    opened = {one.name: one for one in sessions.current()._roots.values()}
    return opened | {name: one for name, one in namespace.items() if isinstance(one, Dataset)}


def found(name: str, candidates: Mapping[str, T]) -> T | None:
    """Return what has a name: the exact one first, then one that differs in its case."""
    if name in candidates:
        return candidates[name]
    folded = name.casefold()
    return next((one for key, one in candidates.items() if key.casefold() == folded), None)


def parameter(node: Node, parameters: Mapping[str, object]) -> Const:
    """Return the constant that a parameter stands for.

    Raises
    ------
    PlanError
        Where it has none, is pending, or is no constant.
    """
    name = str(node.args.get("this") or "?")
    if name not in parameters:
        close = nearest(name, [one for one in parameters if not one.startswith("_")])
        fail(
            node,
            "parameter",
            name=name,
            hint=f"Did you mean :{close}?" if close else f"Set it first: {name} = …",
        )
    given: Any = parameters[name]
    if len(figures := getattr(given, "estimates", {})) == 1:  # the answer of a SELECT of one figure
        (given,) = figures.values()
    if isinstance(given, Estimate):
        if given.pending:
            fail(node, "pending", name=name)
        if given.shape:
            fail(node, "several", name=name, size=str(given.size))
        given = float(given) if given.labels is None else given.labels
    try:
        return Const(plain(given))
    except PlanError:
        fail(node, "no constant", name=name, kind=type(given).__name__)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one dataset that a SELECT reads.

    Parameters
    ----------
    dataset : Dataset
        The whole dataset.
    where : Expr or None
        Which of its rows.
    names : mapping of str to mapping of str to Value
        By the name of each table, what its columns stand for.
    parameters : mapping
        The constants.
    joined : str
        The second table whose rows stand beside the dataset's: each of them is counted.
    aliases : mapping of str to node
        What the names of this SELECT's own columns stand for, where no column has them.
    per_person : bool
        Whether they are what a SELECT by person gave.
    """

    dataset: Dataset
    where: Expr | None
    names: Mapping[str, Mapping[str, Value]]
    parameters: Mapping[str, object]
    joined: str = ""
    aliases: Mapping[str, Node] = field(default_factory=dict)
    per_person: bool = False

    @classmethod
    def of(cls, name: str, dataset: Dataset, parameters: Mapping[str, object]) -> Rows:
        """Return the rows of a dataset, or of a selection of it, under a name."""
        if dataset._by:
            raise PlanError(f"{name} is grouped already. Name the dataset, and GROUP BY in the SELECT.")
        columns = {column: Value(Ref(column)) for column in dataset.columns}
        return cls(dataset.root, dataset._where, {name: columns}, parameters)

    @property
    def every(self) -> dict[str, Value]:
        """All names without their tables: the first table's first."""
        return {name: value for names in reversed([*self.names.values()]) for name, value in names.items()}

    @property
    def unit(self) -> str | None:
        """The column that names people, where one does."""
        return self.dataset.schema.unit_column

    def kept(self, *conditions: Expr | None) -> Rows:
        """Return the rows where conditions hold too."""
        return replace(self, where=together(self.where, *map(_kept, conditions)))

    def is_unit(self, node: Node) -> bool:
        """Tell whether a node is the column that names people."""
        named = (
            node.key == "column" and self.unit is not None and node.name.casefold() == self.unit.casefold()
        )
        return named and found(node.name, self.every) is None

    def column(self, node: Node) -> Value:
        """Return what a column's name stands for.

        Raises
        ------
        SchemaError
            Where there is none; with the nearest name.
        """
        if self.is_unit(node):
            fail(node, "unit", unit=node.name)
        table = node.text("table")
        names = found(table, self.names) if table else self.every
        if names is None:
            fail(node, "no such table", table=table, names=listed(self.names))
        known = found(node.name, names)
        if known is not None:
            return known
        close = nearest(node.name, names)
        its = (
            f"[prepare] takes of {self.joined}: {listed(names)}"
            if self.joined
            else f"Its columns: {listed(names)}"
        )
        hint = f"Did you mean {close}?" if close else f"{its}."
        if node.this.args.get("quoted"):
            hint = f"A text is in single quotes: '{node.name}'."
        raise SchemaError(
            f"{table or next(filter(None, self.names), 'The inner SELECT')} has no column {node.name}. {hint}"
        )

    # what an expression is; its limits of depth and size come first, since all that follows walks it ------------

    def allowed(self, expr: Expr) -> Expr:
        """Return an expression that is within the limits of a plan."""
        to_json(expr)
        return expr

    def number(self, expr: Expr) -> Numeric:
        """Return an expression as a number with its public range."""
        return numeric(self.allowed(expr), self.dataset.schema)

    def declared(self, expr: Expr) -> Column | None:
        """Return the declared column that an expression is."""
        return self.dataset.schema[expr.column] if isinstance(expr, Ref) else None

    def nullable(self, expr: Expr) -> bool:
        """Tell whether an expression can be missing in a row."""
        if isinstance(expr, Const):
            return False
        column = self.declared(expr)
        if column is not None:
            return column.drops
        if is_condition(self.allowed(expr)):
            return condition(expr, self.dataset.schema).nullable
        return numeric(expr, self.dataset.schema).nullable

    def has(self, expr: Expr) -> Expr:
        """Return the condition, never unknown, that an expression has a value."""
        return presence(expr) if self.nullable(expr) else TRUE

    def certain(self, expr: Expr) -> Expr:
        """Return the condition that another one is true: SQL goes on where one is unknown."""
        return both("and", self.has(expr), expr)


def _kept(condition: Expr | None) -> Expr | None:
    """Return a condition as a filter needs it, which leaves out what is unknown by itself: as Python would type it."""
    return condition if condition is None else surely(condition) or condition


def both(sign: str, left: Expr, right: Expr) -> Expr:
    """Return two conditions joined by *and* or *or*; a constant decides, or falls out."""
    decides = FALSE if sign == "and" else TRUE
    for one, other in ((left, right), (right, left)):
        if one in (TRUE, FALSE):
            return one if one == decides else other
    return BoolOp(sign, left, right)


def neither(expr: Expr) -> Expr:
    """Return the negation of a condition."""
    if expr in (TRUE, FALSE):
        return FALSE if expr == TRUE else TRUE
    return Invert(expr)


def together(*conditions: Expr | None) -> Expr | None:
    """Return the conditions that are there, joined by *and*; nothing where all rows are meant."""
    joined: Expr = TRUE
    for one in conditions:
        joined = joined if one is None else both("and", joined, one)
    if joined == FALSE:
        raise PlanError("This condition is never true: nobody is in it.")
    return None if joined == TRUE else joined


def word_of(node: Node) -> str:
    """Return the name of a node's column in the answer: its alias, its own, or its text."""
    return str(node.alias or (node.name if node.key == "column" else node.sql(dialect="duckdb")))
