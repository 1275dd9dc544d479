"""From a SELECT to its answer: sources, keys and figures; then HAVING, ORDER BY, LIMIT and an outer SELECT on released rows, free.

Figures are pending estimates of the batch that is open. What reads them afterwards sees noised numbers alone, and costs nothing.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnb.client.drawing import bundle
from dpnb.client.handles import Dataset
from dpnb.client.sql.aggregates import Groups, aggregate, is_aggregate, line_of, prepared
from dpnb.client.sql.expressions import branches, chosen, constant, constants, truth, value, whole
from dpnb.client.sql.names import TRUE, Rows, Value, found, word_of
from dpnb.client.sql.reader import (
    MAKERS,
    Statement,
    each,
    fail,
    listed,
    parse,
    pointing,
    reads,
    refusal,
)
from dpnb.errors import DpnbError, PlanError, SchemaError
from dpnb.estimate import Estimate, Table
from dpnb.estimate.table import Tabular
from dpnb.planner.compile import cells
from dpnb.planner.expression import Bin, Compare, Const, Expr, Ref
from dpnb.trusted.canonical import Record
from dpnb.trusted.query.limits import MOST_CELLS
from dpnb.trusted.records import nearest
from dpnb.trusted.schema.calendar import place_of, start_of

if TYPE_CHECKING:
    from dpnb.client.sql.reader import Node

Leaf = Callable[["Node"], Any]
Step = Callable[[np.ndarray, bool], np.ndarray]
"""What keeps or orders rows: from their places, once without values to see that it can be done, and once with them."""

_NO_ROWS = (
    "SELECT * shows rows, and no row leaves. Ask aggregates: SELECT COUNT(*), AVG({column}) FROM {table}."
)
_ONE_ROW = "{sql} is one row's value. Aggregate it, or group by it: GROUP BY {sql}."
_ROWS_ORDER = "LIMIT, ORDER BY and DISTINCT on single rows would let one person decide about others. Leave them out, or filter with WHERE."
_OTHER_JOIN = "{said} is not a declared second table of {whole}: a row that met many people's rows would let one person change what is asked of others. Declare [source.{name}], or join before you declare."
_FIGURES = ("_low", "_high"), ("_ci_low", "_ci_high")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Selected(Tabular):
    """The answer to one SELECT: pending until its cell releases it, then a table of keys, figures and both intervals.

    ``answer["pay"]`` is the estimate of a figure over all declared groups; ``.to_frame()``, ``.table()`` and the files of every answer
    have the columns of the SELECT in their order, and of each figure ``pay``, ``pay_low`` and ``pay_high`` (privacy interval),
    ``pay_ci_low`` and ``pay_ci_high`` (confidence interval, where there is one), with the rows that HAVING, WHERE and LIMIT leave.

    Parameters
    ----------
    text : str
        The SELECT as it was typed.
    items : mapping of str to Estimate or array
        Its columns, in order: a figure is an estimate, a key or constant an array, both in the shape of the groups.
    keys : tuple of str
        Which of them are keys.
    shape : tuple of int
        How many declared values each key has; ``()`` without GROUP BY.
    steps : tuple of callable
        What keeps and orders rows.
    notes : tuple of str
        What a card says below its figures.
    bought : tuple of Estimate
        Every question of the statement, also one that HAVING alone names.
    """

    text: str
    items: Mapping[str, Any]
    keys: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()
    bought: tuple[Estimate, ...] = ()

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The figures, by name."""
        return {name: one for name, one in self.items.items() if isinstance(one, Estimate)}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the SELECT, in order."""
        return tuple(self.items)

    @property
    def pending(self) -> bool:
        """Whether a figure is not released yet; keys alone never are."""
        return any(one.pending for one in self.bought)

    def __getitem__(self, name: object) -> Any:
        """The estimate of a figure over all groups; of a key or constant its values."""
        made = found(name, self.items) if isinstance(name, str) else None
        if made is None:
            close = nearest(str(name), self.items)
            raise SchemaError(
                f"This answer has no column {name!r}. "
                + (f"Did you mean {close}?" if close else f"Its columns: {listed(self.items)}.")
            )
        return made

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.items)

    def rows(self) -> np.ndarray:
        """Return which groups are shown, by their places in the order of declared keys."""
        for one in self.bought:
            one._need("The table of a SELECT")
        return self._kept(dry=False)

    def _kept(self, *, dry: bool) -> np.ndarray:
        places = np.arange(math.prod(self.shape))
        for step in self.steps:
            places = step(places, dry)
        return places

    def table(self, level: float = 0.95) -> Table:
        """Return the rows that are shown as plain columns; `level` is that of both intervals."""
        places, columns = self.rows().tolist(), dict[str, list[Any]]()
        for name, item in self.items.items():
            made = (
                _figure_columns(item.table(level))
                if isinstance(item, Estimate)
                else {"": item.ravel().tolist()}
            )
            columns |= {name + more: [column[place] for place in places] for more, column in made.items()}
        return Table(columns, self.keys)

    def __repr__(self) -> str:
        return f"<pending {' '.join(self.text.split())}>" if self.pending else repr(self.table())

    def _repr_mimebundle_(self, **_: object) -> Record:
        """Draw the card ``dpnb.cards.select_card``, where there is one."""
        return bundle("select_card", self, repr(self))


def _figure_columns(table: Table) -> dict[str, Sequence[Any]]:
    named = {
        "value": "",
        "privacy_low": "_low",
        "privacy_high": "_high",
        "confidence_low": "_ci_low",
        "confidence_high": "_ci_high",
        "note": "_note",
    }
    made = {more: table.columns[name] for name, more in named.items() if name in table.columns}
    return made | ({"": table.columns["label"]} if "label" in table.columns else {})


def translate(
    statement: Statement, tables: Mapping[str, Dataset], parameters: Mapping[str, object]
) -> Selected:
    """Build the pending estimates of a SELECT in the batch that is open, and return its answer.

    Parameters
    ----------
    statement : Statement
    tables : mapping of str to Dataset
        What FROM can name; see :func:`~dpnb.client.sql.names.tables_of`.
    parameters : mapping of str to object
        What ``:x``, ``$x`` and ``{{x}}`` stand for: constants, or released estimates; a notebook's names will do.

    Raises
    ------
    PlanError
        With the line and column, and what to write instead. Nothing is spent.
    """
    try:
        with pointing_at_nothing():
            tree = parse(statement)
            made = _answer(tree, _Scope(tables, parameters))
            if isinstance(made, Rows):
                raise _no_rows(tree, made)
            made._kept(dry=True)
            return replace(made, text=statement.text)
    except DpnbError as error:
        raise statement.located(error) from None


class pointing_at_nothing:  # noqa: N801 - as pointing
    """Turn a recursion that is too deep into a refusal."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, RecursionError):
            raise PlanError("This statement is nested too deeply. Write it as several.", at=0) from None


# sources ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Scope:
    """What FROM can name: CTEs first."""

    tables: Mapping[str, Dataset]
    parameters: Mapping[str, object]
    inner: Mapping[str, Any] = field(default_factory=dict)

    def within(self, select: Node) -> _Scope:
        scope = self
        for one in each(select.args["with_"], "expressions") if select.args.get("with_") else ():
            scope = replace(scope, inner={**scope.inner, one.alias: (one.this, scope)})
        return scope

    def source(self, node: Node) -> tuple[str, Rows | Selected]:
        """Return what a table, a CTE or a subquery in FROM is, and what it is called."""
        if node.key == "subquery":
            return node.alias or "the inner SELECT", _renamed(_answer(node.this, self), node.alias or "q")
        if node.key != "table" or node.this.key != "identifier":
            fail(node, "{sql} is no table here. Name an open dataset: FROM people.")
        called = node.alias or node.name
        inner = found(node.name, self.inner)
        if inner is not None:
            return called, _renamed(_answer(*inner), called)
        dataset = found(node.name, self.tables)
        if dataset is not None:
            with pointing(node):
                return called, Rows.of(called, dataset, self.parameters)
        for dataset in self.tables.values():
            if node.name in dataset.schema.sources:
                return called, _second_table(Rows.of("", dataset, self.parameters), node.name, called)
        close = nearest(node.name, [*self.inner, *self.tables])
        known = (
            f"Open are: {listed({**self.tables})}."
            if self.tables
            else f"Open it first: {node.name} = dpnb.open(…)."
        )
        raise SchemaError(
            f"There is no table {node.name}. " + (f"Did you mean {close}?" if close else known),
            at=refusal(node, "").details["at"],
        )


def _renamed(made: Rows | Selected, name: str) -> Rows | Selected:
    return replace(made, names={name: made.every}) if isinstance(made, Rows) else made


def _second_table(rows: Rows, source: str, called: str) -> Rows:
    """Return the rows of a declared second table, each beside its person's."""
    lines = [line for line in rows.dataset.schema.prepared if line.source == source]
    columns = {
        column.name: Value(Ref(column.name), source=source) for line in lines for column in line.columns
    }
    own = {name: names for name, names in rows.names.items() if name}
    return replace(rows, names={called: columns, **own}, joined=source)


def _joined(rows: Rows, join: Node, scope: _Scope) -> Rows:
    """Return the rows with a declared second table, or with what is prepared of each person's rows, beside them."""
    node, whole_name = join.this, rows.dataset.name
    said = f"{node.name} AS {node.alias}" if node.key == "table" and node.alias else node.alias or node.name
    kind = str(join.args.get("side") or join.args.get("kind") or "").upper()
    if kind not in {"", "INNER", "LEFT"} or not _by_unit(rows, join):
        fail(join, _OTHER_JOIN, said=said, whole=whole_name, name=node.name or "NAME")
    if (
        node.key == "table"
        and node.name in rows.dataset.schema.sources
        and found(node.name, scope.inner) is None
    ):
        if kind == "LEFT" or rows.joined:
            fail(
                join,
                f"A {kind or 'second'} JOIN of {said} counts people without rows too: join it without LEFT, once.",
            )
        return _second_table(rows, node.name, node.alias or node.name)
    called, made = scope.source(node)
    if not isinstance(made, Rows) or made.dataset is not rows.dataset or made.joined or not made.per_person:
        fail(join, _OTHER_JOIN, said=said, whole=whole_name, name=node.name or "NAME")
    joined = replace(rows, names={called: made.every, **rows.names})
    return joined if kind == "LEFT" else joined.kept(made.where)


def _by_unit(rows: Rows, join: Node) -> bool:
    """Tell whether a join is by the column that names people."""
    if not rows.unit:
        return False
    using = [one.name.casefold() for one in each(join, "using")]
    on = join.args.get("on")
    if on is not None and on.key == "eq":
        using = [side.name.casefold() for side in each(on, "this", "expression") if side.key == "column"]
        return using == [rows.unit.casefold()] * 2
    return using == [rows.unit.casefold()]


def _answer(select: Node, scope: _Scope) -> Rows | Selected:
    if select.key != "select":
        fail(select, "A private cell answers one SELECT; {word} is not one.", word=select.key.upper())
    scope = scope.within(select)
    if select.args.get("from_") is None:
        fail(select, "Name the dataset: SELECT … FROM people.")
    _, made = scope.source(select.args["from_"].this)
    aliases = {one.alias: one.this for one in select.expressions if one.key == "alias"}
    if isinstance(made, Selected):
        return _outside(made, select, scope, aliases)
    for join in each(select, "joins"):
        made = _joined(made, join, scope)
    made = replace(made, aliases=aliases)
    where = select.args.get("where")
    if where is not None:
        with pointing(where):
            made = made.kept(truth(made, where.this))
    return _grouped(made, select)


def _grouped(rows: Rows, select: Node) -> Rows | Selected:
    group = select.args.get("group")
    named = list(each(group, "expressions")) if group is not None else []
    if any(rows.is_unit(one) for one in named):
        return _per_person(rows, select, named)
    outside = [one for part in each(select, "expressions", "having", "order") for one in part.walk()]
    if group is None and not any(is_aggregate(one) for one in outside):
        if any(select.args.get(part) for part in ("order", "limit", "offset", "having")):
            fail(select, _ROWS_ORDER)
        return _projected(rows, select)
    if group is not None and group.args.get("all"):
        named = [one.unalias() for one in select.expressions if _is_key(one)]
    keys = [_key(rows, _meant(rows, select, one)) for one in named]
    figures = _Figures(
        Groups(rows.kept(*(key.known for key in keys)), tuple(key.expr for key in keys)), keys, rows.aliases
    )
    return _finished(select, figures, tuple(len(key.labels) for key in keys))


def _is_key(node: Node) -> bool:
    return not any(is_aggregate(one) for one in node.walk()) and any(
        one.key == "column" for one in node.walk()
    )


def _meant(rows: Rows, select: Node, node: Node) -> Node:
    """Return the expression that a number or an alias under GROUP BY stands for."""
    if node.key == "literal" and not node.is_string:
        place = int(node.name) if node.name.isdigit() else 0
        if not 1 <= place <= len(select.expressions):
            fail(node, f"GROUP BY {node.name}: SELECT has {len(select.expressions)} columns.")
        chosen_: Node = select.expressions[place - 1].unalias()
        return chosen_
    if node.key == "column" and not node.text("table") and found(node.name, rows.every) is None:
        return found(node.name, rows.aliases) or node
    return node


def _projected(rows: Rows, select: Node) -> Rows:
    """Return the rows under the names of an inner SELECT of projections and filters."""
    names: dict[str, Value] = {}
    for one in select.expressions:
        node = one.unalias()
        if node.key == "star":
            names |= rows.every
        elif rows.is_unit(node):
            continue
        else:
            names[word_of(one)] = value(rows, node)
    return replace(rows, names={"": names}, aliases={})


def _no_rows(select: Node, rows: Rows) -> PlanError:
    """Return the refusal of what would show rows."""
    schema = rows.dataset.schema
    column = next((one.name for one in schema.columns if one.numeric), "x")
    for one in select.expressions:
        node = one.unalias()
        if node.key == "star" or (node.key == "column" and node.name == "*"):
            return refusal(select, _NO_ROWS, column=column, table=schema.name)
    return refusal(select.expressions[0].unalias() if select.expressions else select, _ONE_ROW)


def _per_person(rows: Rows, select: Node, named: list[Node]) -> Rows:
    """Return the rows of a SELECT by person: the lines of [prepare] that say the same."""
    source = rows.joined
    if (
        len(named) > 1
        or (rows.where is not None and rows.joined)
        or any(select.args.get(part) for part in ("having", "order", "limit"))
    ):
        fail(
            select,
            "Rows by person are made before anybody asks: GROUP BY {unit} alone, and WHERE outside.",
            unit=named[0].name,
        )
    if not source and not rows.dataset.schema.prepares_own and not rows.dataset.schema.prepared:
        for one in select.expressions:
            _taken(rows, one.unalias(), source)
    names = {
        word_of(one): _taken(rows, one.unalias(), source)
        for one in select.expressions
        if not rows.is_unit(one.unalias())
    }
    if not names:
        fail(
            named[0],
            f"{named[0].name} names people. It can be counted, COUNT(DISTINCT {named[0].name}), and nothing else.",
        )
    there = _there(rows, source)
    return replace(
        rows,
        names={"": names},
        where=None if there == TRUE else there,
        joined="",
        per_person=True,
        aliases={},
    )


def _taken(rows: Rows, node: Node, source: str) -> Value:
    """Return the prepared column that an aggregate of each person's rows is."""
    take = {"sum": "sum", "avg": "mean", "count": "count"}.get(node.key)
    inner = node.this if take else None
    if (
        take is None
        or (take == "count") != (inner is None or inner.key == "star")
        or (inner is not None and inner.key not in {"column", "star"})
    ):
        fail(
            node,
            'One row of each person is made by its owner, before anybody asks: under [prepare] x = {{ sum = "…", upper = … }}, with count, mean, any or latest. Then ask the column.',
        )
    of = "" if take == "count" or inner is None else inner.name
    line = line_of(rows, node, source, take, of)  # type: ignore[arg-type]
    made = Ref(line.name)
    if rows.dataset.schema[line.name].drops:
        return Value(made)
    return Value(made, _there(rows, source))


def _there(rows: Rows, source: str) -> Expr:
    """Return the condition that a person has a row of a table; of the dataset's own everybody has."""
    line = prepared(rows, source, "count")
    if not source or line is None:
        return TRUE
    if rows.dataset.schema[line.name].drops:
        return rows.has(Ref(line.name))
    return Compare(">", Ref(line.name), Const(0))


# keys ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Key:
    """A key: how it is written, its expression, its labels, and where it is not NULL."""

    text: str
    expr: Expr
    labels: tuple[Any, ...]
    known: Expr = TRUE


def _key(rows: Rows, node: Node) -> _Key:
    with pointing(node):
        text = _same(node)
        if any(is_aggregate(one) for one in node.walk()):
            fail(node, "{sql} is a figure, and groups are made before it.")
        if node.key == "timestamptrunc":
            return _Key(text, *_periods(rows, node))
        if node.key in {"case", "if"}:
            cases = constants(branches(rows, node), rows)
            if cases is not None:
                return _Key(text, *_coded(cases))
        made = value(rows, node)
        if made.source:
            whole(rows, node)
        return _Key(
            text,
            made.expr,
            tuple(map(_plain, cells(rows.allowed(made.expr), rows.dataset.schema).axis.keys)),
            made.known,
        )


def _coded(cases: list[tuple[Expr, Any]]) -> tuple[Expr, tuple[Any, ...], Expr]:
    """Return a CASE of constants as a small number, with its labels."""
    labels = tuple(dict.fromkeys(one for _, one in cases if one is not None))
    made = chosen([(when, None if one is None else Value(Const(labels.index(one)))) for when, one in cases])
    return made.expr, tuple(_plain(one.value) for one in labels), made.known


def _plain(label: Any) -> Any:
    return float(label) if isinstance(label, Fraction) else label


_PERIODS = {"WEEK": ("week", 1), "MONTH": ("month", 1), "QUARTER": ("month", 3), "YEAR": ("month", 12)}


def _periods(rows: Rows, node: Node) -> tuple[Expr, tuple[Any, ...], Expr]:
    """Return the bins of date_trunc over a date's public range, and the date at which each begins."""
    word, date = node.args["unit"].name.upper(), whole(rows, node.this)
    number = rows.number(date)
    step = number.calendar
    if step is None:
        fail(node, "{sql}: this is no column of dates.")
    if word.lower() == step:
        return date, tuple(cells(date, rows.dataset.schema).axis.keys), TRUE
    if word not in _PERIODS or step == "week" or (word, step) == ("WEEK", "month"):
        fail(
            node,
            f"{{sql}}: dates that are kept by {step} are cut to a longer period: week, month, quarter or year.",
        )
    unit, width = _PERIODS[word]
    low, high = (place_of(start_of(int(end), step), unit) or 0 for end in (number.lowest, number.highest))
    starts = range(low - low % width, high + width + 1, width)
    edges = [start_of(place, unit) for place in starts]
    edges = [one if len(one) > 7 else f"{one}-01" for one in edges]
    last = start_of(int(number.highest), step)
    kept = [one for one in edges[:-1] if one <= last]
    return Bin(date, tuple(edges[: len(kept) + 1])), tuple(kept), TRUE


def _same(node: Node) -> str:
    """Return an expression's text without its tables and in small letters, by which a key and a figure are found again."""
    copy = node.copy()
    for one in list(copy.find_all(_column_class())):
        one.set("table", None)
        one.this.set("quoted", False)
        one.this.set("this", one.name.casefold())
    while copy.key == "paren":
        copy = copy.this
    return str(copy.sql(dialect="duckdb"))


def _column_class() -> Any:
    from dpnb.client.sql.reader import sqlglot

    return sqlglot().exp.Column


# figures, and what reads them ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Figures:
    """The leaves of released expressions: keys, and aggregates that are asked when they are first met."""

    groups: Groups
    keys: list[_Key]
    aliases: Mapping[str, Node]
    bought: dict[str, Estimate] = field(default_factory=dict)

    def __call__(self, node: Node) -> Any:
        constant_ = _constant(self.groups.rows, node)
        if constant_ is not None:
            return constant_
        text = _same(node)
        for place, key in enumerate(self.keys):
            if key.text == text:
                return self.axis(place)
        if is_aggregate(node):
            with pointing(node):
                if text not in self.bought:
                    self.bought[text] = aggregate(self.groups, node)
                return self.bought[text]
        if node.key == "column":
            alias = None if node.text("table") else found(node.name, self.aliases)
            if alias is not None and alias is not node and _same(alias) != text:
                return evaluate(alias, self)
            self.groups.rows.column(node)
            fail(node, _ONE_ROW)
        if node.key not in MAKERS["released"]:
            _refuse_figure(node)
        return None

    def axis(self, place: int) -> np.ndarray:
        """Return a key's labels in the shape of the groups."""
        labels = np.empty(len(self.keys[place].labels), dtype=object)
        labels[:] = self.keys[place].labels
        shape = [len(key.labels) for key in self.keys]
        spread = [1] * len(shape)
        spread[place] = shape[place]
        return np.broadcast_to(labels.reshape(spread), shape)


def _constant(rows: Rows, node: Node) -> Any:
    if node.key in {"literal", "boolean", "placeholder"}:
        return _plain(constant(rows, node, "This"))
    return None


def _refuse_figure(node: Node) -> None:
    if any(is_aggregate(one) for one in node.walk()) and node.key != "star":
        fail(
            node,
            "{sql}: of figures there are + − * /, ROUND, POWER, SQRT, LN, EXP and ABS. Compute others from .to_frame().",
        )
    if node.key == "star":
        fail(node, _NO_ROWS, column="x", table="people")
    if node.key == "subquery":
        fail(node, "A subquery inside an expression is a release of its own: m << {inner}; then write :m.")
    fail(node, _ONE_ROW)


def _finished(select: Node, figures: _Figures, shape: tuple[int, ...]) -> Selected:
    items: dict[str, Any] = {}
    for one in select.expressions:
        name = _free(word_of(one), items)
        made = evaluate(one.unalias(), figures)
        items[name] = (
            made if isinstance(made, Estimate) else np.broadcast_to(np.asarray(made, dtype=object), shape)
        )
    size = math.prod(shape)
    if size > MOST_CELLS:
        raise PlanError(
            f"This SELECT has {size:,} groups; the limit is {MOST_CELLS:,}. Use fewer keys or wider ones."
        )
    texts = {key.text for key in figures.keys}
    keys = tuple(
        name for name, one in zip(items, select.expressions, strict=True) if _same(one.unalias()) in texts
    )
    having = select.args.get("having")
    steps = [] if having is None else [_filtering(having.this, figures)]
    notes = [_GROUPS] if shape else []
    most = figures.groups.rows.dataset.schema.unit.max_rows
    notes += [f"Rows of a {figures.groups.rows.unit} beyond {most} are in no figure."] if most > 1 else []
    made = Selected("", items, keys, shape, tuple(steps), tuple(notes))
    made = _ordered(made, select, figures)
    return replace(made, bought=tuple(figures.bought.values()))


_GROUPS = "Every declared group is shown, empty ones too; rows without a key are in none."
_NOISED = "HAVING, WHERE, ORDER BY and LIMIT read noised figures: a group near the limit may be in or out."


def _free(name: str, taken: Mapping[str, object]) -> str:
    number, free = 0, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def _ordered(made: Selected, select: Node, leaf: Leaf) -> Selected:
    """Add ORDER BY, OFFSET and LIMIT; the notes say that figures are read."""
    steps = list(made.steps)
    order = select.args.get("order")
    terms = list(each(order, "expressions")) if order is not None else []
    if any(one.this.key == "var" for one in terms):
        steps.append(_sorting([(partial(_itself, item), terms[0]) for item in made.items.values()]))
    elif terms:
        steps.append(_sorting([(_term(made, one.this, leaf), one) for one in terms]))
    rows = leaf.groups.rows if isinstance(leaf, _Figures) else leaf.rows  # type: ignore[attr-defined]
    first, count = (_whole_number(rows, select.args.get(part)) for part in ("offset", "limit"))
    if first or count is not None:
        steps.append(lambda places, _: places[first or 0 :][: len(places) if count is None else count])
    read = (_NOISED,) if len(steps) > len(made.steps) or made.steps else ()
    noised = (
        read
        if any(isinstance(one, Estimate) for one in made.items.values()) and _NOISED not in made.notes
        else ()
    )
    return replace(made, steps=tuple(steps), notes=(*made.notes, *noised))


def _itself(item: Any) -> Any:
    return item


def _whole_number(rows: Rows, node: Node | None) -> int | None:
    if node is None or node.expression.key == "var":
        return None
    number = constant(rows, node.expression, "LIMIT and OFFSET")
    if isinstance(number, str | bool) or number != int(number) or number < 0:
        fail(node, "LIMIT and OFFSET take a whole number.")
    return int(number)


def _term(made: Selected, node: Node, leaf: Leaf) -> Callable[[], Any]:
    """Return what rows are ordered by: a column of the answer by its place or name, or an expression."""
    if node.key == "literal" and not node.is_string:
        place = int(node.name) if node.name.isdigit() else 0
        if not 1 <= place <= len(made.items):
            fail(node, f"ORDER BY {node.name}: SELECT has {len(made.items)} columns.")
        item = list(made.items.values())[place - 1]
        return lambda: item
    if node.key == "column" and not node.text("table"):
        named = found(node.name, made.items)
        if named is not None:
            return lambda: named
    asked = evaluate(node, leaf)
    return lambda: asked


def _sorting(terms: list[tuple[Callable[[], Any], Node]]) -> Step:
    def step(places: np.ndarray, dry: bool) -> np.ndarray:  # noqa: FBT001
        for term, node in reversed(terms):
            values = (
                np.broadcast_to(_settled(term(), dry), ()).ravel()
                if np.ndim(_settled(term(), dry)) == 0
                else _settled(term(), dry).ravel()
            )
            if values.size == 1 and len(places) != 1:
                continue
            chosen_ = [values[place] for place in places]
            order = sorted(
                range(len(places)),
                key=lambda at: (_undefined(chosen_[at]), chosen_[at] if not _undefined(chosen_[at]) else 0),
                reverse=False,
            )
            if node.args.get("desc"):
                order = sorted(
                    range(len(places)),
                    key=lambda at: (
                        not _undefined(chosen_[at]),
                        chosen_[at] if not _undefined(chosen_[at]) else 0,
                    ),
                    reverse=True,
                )
                # reverse keeps equal rows in their order
            places = places[np.asarray(order, dtype=int)]
        return places

    return step


def _undefined(one: Any) -> bool:
    return isinstance(one, float) and math.isnan(one)


def _filtering(node: Node, leaf: Leaf) -> Step:
    """Return what keeps the rows where a condition on released figures holds; its aggregates are asked now."""
    evaluate(node, leaf, dry=True)

    def step(places: np.ndarray, dry: bool) -> np.ndarray:  # noqa: FBT001
        holds = np.asarray(evaluate(node, leaf, dry=dry)).astype(bool)
        kept: np.ndarray = places[holds.ravel()[places] if holds.ndim else np.full(len(places), bool(holds))]
        return kept

    return step


def _settled(made: Any, dry: bool) -> Any:  # noqa: FBT001
    """Return the numbers of an estimate, or zeros in their place."""
    if not isinstance(made, Estimate):
        return made
    if dry:
        return np.zeros(made.shape)
    return np.asarray(
        made.value if made.labels is None else made.labels, dtype=None if made.labels is None else object
    )


def evaluate(node: Node, leaf: Leaf, *, dry: bool | None = None) -> Any:
    """Return an expression of released figures and keys: an estimate, numbers or labels.

    Parameters
    ----------
    node : Expr of sqlglot
    leaf : callable
        What gives keys and figures; None for an operator.
    dry : bool, optional
        If given, figures are read as numbers: with True as zeros, to see that it can be done.
    """
    made = leaf(node)
    if made is not None:
        return made if dry is None else _settled(made, dry)
    make = MAKERS["released"].get(node.key)
    if make is None:
        _refuse_figure(node)
    with pointing(node), np.errstate(all="ignore"):
        return make(node, lambda one: evaluate(one, leaf, dry=dry))  # type: ignore[misc]


def _outside(inner: Selected, select: Node, scope: _Scope, aliases: Mapping[str, Node]) -> Selected:
    """Return an outer SELECT over released rows: it keeps, orders and computes, and asks nothing."""
    if (
        select.args.get("joins")
        or select.args.get("group") is not None
        or select.args.get("having") is not None
    ):
        fail(
            select,
            "Over released rows there are WHERE, ORDER BY and LIMIT: join and group their .to_frame().",
        )
    leaf = _Released(inner, scope.parameters, aliases)
    where = select.args.get("where")
    made = inner if where is None else replace(inner, steps=(*inner.steps, _filtering(where.this, leaf)))
    items: dict[str, Any] = {}
    for one in select.expressions:
        if one.key == "star":
            items |= inner.items
            continue
        asked = evaluate(one.unalias(), leaf)
        items[_free(word_of(one), items)] = (
            asked
            if isinstance(asked, Estimate)
            else np.broadcast_to(np.asarray(asked, dtype=object), inner.shape)
        )
    keys = tuple(name for name, item in items.items() if any(item is inner.items[key] for key in inner.keys))
    return _ordered(replace(made, items=items, keys=keys), select, leaf)


@dataclass(frozen=True, slots=True)
class _Released:
    """The leaves of an outer SELECT: the columns of the inner one."""

    inner: Selected
    parameters: Mapping[str, object]
    aliases: Mapping[str, Node]

    @property
    def rows(self) -> Any:
        """What reads constants."""
        return self

    def __call__(self, node: Node) -> Any:
        made = _constant(self, node)  # type: ignore[arg-type]
        if made is not None:
            return made
        if is_aggregate(node):
            fail(
                node,
                "{sql}: an aggregate of released figures. Release the inner SELECT; .sum() and .mean() of the answer are free.",
            )
        if node.key == "column":
            made = found(node.name, self.inner.items)
            alias = found(node.name, self.aliases)
            if made is None and alias is not None and alias is not node:
                return evaluate(alias, self)
            if made is None:
                raise SchemaError(
                    f"The inner SELECT has no column {node.name}. Its columns: {listed(self.inner.items)}.",
                    at=refusal(node, "").details["at"],
                )
            return made
        return None

    def allowed(self, expr: Expr) -> Expr:
        """Constants are small."""
        return expr


_READ_A_FIGURE = (
    "{sql} reads a noised figure: HAVING does, or WHERE of an outer SELECT; or compute it from .to_frame()."
)


def _of_numbers(
    kinds: str, parts: str, function: Callable[..., Any], words: str = "", meaning: str = ""
) -> None:
    def make(node: Node, read: Callable[[Node], Any]) -> Any:
        names = [name for name in parts.split() if name in node.args]
        given = [read(one) for one in each(node, *names)]
        return function(
            *(
                np.asarray(one, dtype=float) if isinstance(one, np.ndarray) and one.dtype == object else one
                for one in given
            )
        )

    reads(
        "released",
        kinds,
        parts if kinds.split(maxsplit=1)[0] in {"sqrt", "ln", "exp", "round"} else "",
        words,
        meaning,
    )(make)


def _of_values(
    kinds: str,
    function: Callable[..., Any],
    parts: str = "this expression",
    words: str = "",
    meaning: str = "",
) -> None:
    def make(node: Node, read: Callable[[Node], Any]) -> Any:
        given = [read(one) for one in each(node, *parts.split())]
        if any(isinstance(one, Estimate) for one in given):
            fail(node, _READ_A_FIGURE)
        return function(node, *given)

    reads("released", kinds, "", words, meaning)(make)


def _like(node: Node, labels: Any, pattern: str) -> Any:
    signs = {"%": ".*", "_": "."}
    matches = re.compile(
        "".join(signs.get(sign, re.escape(sign)) for sign in str(pattern)),
        re.DOTALL | (re.IGNORECASE if node.key == "ilike" else 0),
    )
    held = np.vectorize(lambda one: bool(matches.fullmatch(str(one))), otypes=[bool])(labels)
    return ~held if node.args.get("negate") else held


_of_numbers(
    "add",
    "this expression",
    operator.add,
    "+ − * / of figures, constants and keys",
    "estimate arithmetic: both intervals follow",
)
_of_numbers("sub", "this expression", operator.sub)
_of_numbers("mul", "this expression", operator.mul)
_of_numbers("div", "this expression", operator.truediv)
_of_numbers("neg", "this", operator.neg)
_of_numbers(
    "round",
    "this decimals",
    lambda one, digits=0: np.round(one, int(digits)),
    "ROUND, POWER, SQRT, LN, EXP, ABS, LEAST, GREATEST",
    "of figures: both intervals follow",
)
_of_numbers("pow", "this expression", operator.pow)
_of_numbers("sqrt", "this", np.sqrt)
_of_numbers("ln", "this", np.log)
_of_numbers("exp", "this", np.exp)
_of_numbers("abs", "this", np.abs)
_of_numbers("least", "this expressions", lambda one, *others: _reduced(np.minimum, one, others))
_of_numbers("greatest", "this expressions", lambda one, *others: _reduced(np.maximum, one, others))


def _reduced(function: Callable[..., Any], one: Any, others: Sequence[Any]) -> Any:
    for other in others:
        one = function(one, other)
    return one


@reads("released", "paren", "")
def _paren(node: Node, read: Callable[[Node], Any]) -> Any:
    return read(node.this)


@reads(
    "released", "coalesce nullif", "", "COALESCE, NULLIF of figures", "the figure itself: it is never NULL"
)
def _first(node: Node, read: Callable[[Node], Any]) -> Any:
    return read(node.this)


@reads("released", "cast", "", "CAST(figure AS DOUBLE)", "the figure itself")
def _cast(node: Node, read: Callable[[Node], Any]) -> Any:
    if node.args["to"].this.name not in {"DOUBLE", "FLOAT"}:
        fail(node, "{sql} rounds a figure: write ROUND(x, 2), of which both intervals follow.")
    return read(node.this)


for _sign, _compare in (
    ("eq", operator.eq),
    ("neq", operator.ne),
    ("gt", operator.gt),
    ("gte", operator.ge),
    ("lt", operator.lt),
    ("lte", operator.le),
):
    _of_values(_sign, lambda _, one, other, compare=_compare: compare(one, other))
_of_values(
    "and",
    lambda _, one, other: np.logical_and(one, other),
    words="HAVING; WHERE of an outer SELECT",
    meaning="= <> < > BETWEEN IN LIKE AND OR NOT on released figures and keys",
)
_of_values("or", lambda _, one, other: np.logical_or(one, other))
_of_values("not", lambda _, one: np.logical_not(one), "this")
_of_values("between", lambda _, one, low, high: np.logical_and(one >= low, one <= high), "this low high")
_of_values(
    "in",
    lambda _, one, *others: _reduced(np.logical_or, one == others[0], [one == other for other in others[1:]]),
    "this expressions",
)
_of_values("like ilike", _like)
