"""From a SELECT to its answer: figures as pending estimates; then HAVING, ORDER BY, LIMIT and an outer SELECT on released rows, free."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnb.client.drawing import bundle
from dpnb.client.handles import Dataset
from dpnb.client.sql.aggregates import Groups, aggregate, has_aggregate, is_aggregate
from dpnb.client.sql.expressions import constant, truth
from dpnb.client.sql.figures import Leaf, evaluate, settled
from dpnb.client.sql.keys import Key, at_place, keys_of, plain, same
from dpnb.client.sql.names import TRUE, Rows, found, word_of
from dpnb.client.sql.reader import Statement, each, fail, listed, parse, pointing, refusal
from dpnb.client.sql.refusals import SAID
from dpnb.client.sql.sources import Scope, by_person, projected
from dpnb.errors import DpnbError, PlanError, SchemaError
from dpnb.estimate import Estimate, Table
from dpnb.estimate.table import Tabular
from dpnb.trusted.canonical import Record
from dpnb.trusted.query.limits import MOST_CELLS
from dpnb.trusted.records import nearest

if TYPE_CHECKING:
    from dpnb.client.sql.reader import Node

Step = Callable[[np.ndarray, bool], np.ndarray]
"""What keeps or orders rows, given by their places: once with zeros as figures, to see that it can be done, and once with what was released."""

_GROUPS = (
    "Every declared group is asked, empty ones too: there a sum is 0 ± noise, and a mean may be anywhere in its range. "
    "Rows without a key are in none."
)
_NOISED = "HAVING, WHERE, ORDER BY and LIMIT read noised figures: a group near the limit may be in or out."
_COLUMNS = {
    "value": "",
    "label": "",
    "privacy_low": "_low",
    "privacy_high": "_high",
    "confidence_low": "_ci_low",
    "confidence_high": "_ci_high",
    "note": "_note",
}
"""What the columns of an estimate's table are called after its name; a choice is shown by its label."""


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
        made = found(str(name), self.items)
        if made is None:
            close = nearest(str(name), self.items)
            hint = f"Did you mean {close}?" if close else f"Its columns: {listed(self.items)}."
            raise SchemaError(f"This answer has no column {name!r}. {hint}")
        return made

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and (made := found(name, self.items)) is not None:
            return made
        raise AttributeError(
            f"An answer has no {name}. Its columns: {listed(self.items)}; .to_frame() is a DataFrame."
        )

    def __len__(self) -> int:
        return len(self.rows())

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Record]:
        """The rows that are shown, as dictionaries."""
        return iter(self.table())

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.items)

    def rows(self, *, dry: bool = False) -> np.ndarray:
        """Return which groups are shown, by their places in the order of declared keys; with `dry` before the release, to try the steps."""
        for one in () if dry else self.bought:
            one._need("The table of a SELECT")
        places = np.arange(math.prod(self.shape))
        for step in self.steps:
            places = step(places, dry)
        return places

    def table(self, level: float = 0.95) -> Table:
        """Return the rows that are shown as plain columns; `level` is that of both intervals."""
        places, columns = self.rows().tolist(), dict[str, list[Any]]()
        for name, item in self.items.items():
            made = (
                item.table(level).columns if isinstance(item, Estimate) else {"value": item.ravel().tolist()}
            )
            parts = {name + _COLUMNS[part]: made[part] for part in _COLUMNS if part in made}
            columns |= {called: [column[place] for place in places] for called, column in parts.items()}
        return Table(columns, self.keys)

    def __repr__(self) -> str:
        return f"<pending {' '.join(self.text.split())}>" if self.pending else repr(self.table())

    def _repr_mimebundle_(self, **_: object) -> Record:
        """Draw the card ``dpnb.cards.select_card``, where there is one."""
        return bundle("select_card", self, repr(self))


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
        with pointing():
            tree = parse(statement)
            made = _answer(tree, Scope(tables, parameters, _answer))
            if not isinstance(made, Selected):
                raise _no_rows(made, *tree.expressions[:1])
            made.rows(dry=True)
            return replace(made, text=statement.text)
    except DpnbError as error:
        raise statement.located(error) from None


def _no_rows(rows: Rows, node: Node) -> PlanError:
    """Return the refusal of what would show rows: a star, or a column."""
    if node.key != "star":
        return refusal(node.unalias(), SAID["one row"])
    column = next((one.name for one in rows.dataset.schema.columns if one.numeric), "x")
    return refusal(node, SAID["rows"], column=column, table=rows.dataset.name)


def _answer(select: Node, scope: Scope) -> Rows | Selected:
    if select.key != "select":
        fail(select, "a select")
    if select.args.get("from_") is None:
        fail(select, "no table", name=next(iter(scope.tables), "people"))
    scope, source = scope.within(select), select.args["from_"].this
    with pointing(source):
        made = scope.source(source)
    aliases = {one.alias: one.this for one in select.expressions if one.key == "alias"}
    if isinstance(made, Selected):
        return _outside(made, select, _Released(made, scope.constants, aliases))
    for join in each(select, "joins"):
        made = scope.joined(made, join)
    rows = replace(made, aliases=aliases)
    for where in each(select, "where"):
        with pointing(where):
            rows = rows.kept(truth(rows, where.this))
            rows.nullable(rows.where or TRUE)  # what the schema does not allow is told here
    group = select.args.get("group")
    named = list(each(group, "expressions")) if group is not None else []
    if any(rows.is_unit(one) for one in named):
        if select.parent is None:
            fail(named[0], "unit", unit=rows.unit or "")
        return by_person(rows, select, named)
    if group is None and not any(
        has_aggregate(one) for one in each(select, "expressions", "having", "order")
    ):
        return projected(rows, select)
    keys = [] if group is None else keys_of(rows, select)
    rows = rows.kept(*(key.known for key in keys))
    return _finished(select, _Figures(Groups(rows, tuple(key.expr for key in keys)), keys, aliases))


@dataclass(frozen=True, slots=True)
class _Figures:
    """The leaves of a grouped SELECT: keys, and aggregates that are asked when they are first met."""

    groups: Groups
    keys: list[Key]
    aliases: Mapping[str, Node]
    bought: dict[str, Estimate] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(key.labels) for key in self.keys)

    def __call__(self, node: Node) -> Any:
        if node.key in _CONSTANTS:
            return plain(constant(self.groups.rows, node, ""))
        text = same(node)
        for place, key in enumerate(self.keys):
            if key.text == text:
                return self._axis(place)
        if node.key == "star":
            raise _no_rows(self.groups.rows, node)
        if is_aggregate(node):
            if text not in self.bought:
                self.bought[text] = aggregate(self.groups, node)
            return self.bought[text]
        if node.key == "column":
            alias = found(node.name, self.aliases)
            if alias is not None and not node.text("table") and same(alias) != text:
                return evaluate(alias, self)
            self.groups.rows.column(node)
            fail(node, "one row")
        return None

    def _axis(self, place: int) -> np.ndarray:
        """Return a key's labels in the shape of the groups."""
        labels = np.empty(self.shape[place], dtype=object)
        labels[:] = self.keys[place].labels
        spread: np.ndarray = labels[np.indices(self.shape)[place]]
        return spread


_CONSTANTS = ("literal", "boolean", "placeholder")


def _finished(select: Node, leaf: _Figures) -> Selected:
    schema, size = leaf.groups.rows.dataset.schema, math.prod(leaf.shape)
    if size > MOST_CELLS:
        raise PlanError(
            f"This SELECT has {size:,} groups; the limit is {MOST_CELLS:,}. Use fewer keys or wider ones."
        )
    items: dict[str, Any] = {}
    for one in select.expressions:
        items[_free(word_of(one), items)] = _item(evaluate(one.unalias(), leaf), leaf.shape)
    texts = {key.text for key in leaf.keys}
    keys = tuple(
        name for name, one in zip(items, select.expressions, strict=True) if same(one.unalias()) in texts
    )
    steps = tuple(_filtering(one.this, leaf) for one in each(select, "having"))
    most = schema.unit.max_rows
    people = (f"Rows of one {schema.unit_column} beyond {most} are in no figure.",) if most > 1 else ()
    notes = ((_GROUPS,) if leaf.shape else ()) + people
    made = _ordered(Selected("", items, keys, leaf.shape, steps, notes), select, leaf, leaf.groups.rows)
    bought = tuple(leaf.bought.values())
    return replace(made, bought=bought, notes=(*made.notes, *_limits(bought)))


def _limits(bought: Sequence[Estimate]) -> Iterator[str]:
    """How to ask for the intervals of quantiles: not by default, since the point would be at least twice as far off for the same loss."""
    leaves = [one.measurement for one in bought if one.measurement is not None]
    asked = [
        one.text.removesuffix(")") + ", ci=True)"
        for one in leaves
        if one.checked.setting.options.get("ci") is False
    ]
    if asked:
        yield f"A quantile with both intervals, at a part of its accuracy, is asked in Python: {'; '.join(asked)}."


def _item(made: Any, shape: tuple[int, ...]) -> Any:
    return made if isinstance(made, Estimate) else np.broadcast_to(np.asarray(made, dtype=object), shape)


def _free(name: str, taken: Mapping[str, object]) -> str:
    number, free = 0, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def _outside(inner: Selected, select: Node, leaf: _Released) -> Selected:
    """Return an outer SELECT over released rows: it keeps, orders and computes, and asks nothing."""
    if any(select.args.get(part) for part in ("joins", "group", "having")):
        fail(select, "outside")
    steps = (*inner.steps, *(_filtering(one.this, leaf) for one in each(select, "where")))
    items: dict[str, Any] = {}
    for one in select.expressions:
        if one.key == "star":
            items |= inner.items
        else:
            items[_free(word_of(one), items)] = _item(evaluate(one.unalias(), leaf), inner.shape)
    keys = tuple(name for name, item in items.items() if any(item is inner.items[key] for key in inner.keys))
    return _ordered(replace(inner, items=items, keys=keys, steps=steps), select, leaf, leaf.rows)


@dataclass(frozen=True, slots=True)
class _Released:
    """The leaves of an outer SELECT: the columns of the inner one."""

    inner: Selected
    rows: Rows
    aliases: Mapping[str, Node]

    def __call__(self, node: Node) -> Any:
        if node.key in _CONSTANTS:
            return plain(constant(self.rows, node, ""))
        if is_aggregate(node):
            fail(node, "of figures")
        if node.key != "column":
            return None
        made, alias = found(node.name, self.inner.items), found(node.name, self.aliases)
        if made is None and alias is not None and alias is not node:
            return evaluate(alias, self)
        return self.inner[node.name] if made is None else made


def _filtering(node: Node, leaf: Leaf) -> Step:
    """Return what keeps the rows where a condition on released figures holds; its aggregates are asked now."""
    evaluate(node, leaf, dry=True)

    def step(places: np.ndarray, dry: bool) -> np.ndarray:  # noqa: FBT001
        holds = np.asarray(evaluate(node, leaf, dry=dry)).astype(bool).ravel()
        kept: np.ndarray = places[holds[places] if holds.size > 1 else np.full(len(places), holds[0])]
        return kept

    return step


def _ordered(made: Selected, select: Node, leaf: Leaf, rows: Rows) -> Selected:
    """Add ORDER BY, OFFSET and LIMIT; the notes say that figures are read."""
    steps = list(made.steps)
    for order in each(select, "order"):
        terms = [(item, one) for one in order.expressions for item in _terms(made, select, one.this, leaf)]
        steps += [_sorting(item, descending=bool(one.args.get("desc"))) for item, one in reversed(terms)]
    first, count = (_whole_number(rows, select, part) for part in ("offset", "limit"))
    if first is not None or count is not None:
        stop = None if count is None else (first or 0) + count
        steps.append(lambda places, _: places[first:stop])
    notes = (_NOISED,) if steps and made.estimates and made.shape and _NOISED not in made.notes else ()
    return replace(made, steps=tuple(steps), notes=(*made.notes, *notes))


def _terms(made: Selected, select: Node, node: Node, leaf: Leaf) -> Sequence[Any]:
    """Return what rows are ordered by: columns of the answer by place or name, or an expression."""
    if node.key == "var":
        return list(made.items.values())
    if at_place(select, node) is not None:
        return [list(made.items.values())[int(node.name) - 1]]
    named = found(node.name, made.items) if node.key == "column" and not node.text("table") else None
    return [evaluate(node, leaf) if named is None else named]


def _sorting(item: Any, *, descending: bool) -> Step:
    def step(places: np.ndarray, dry: bool) -> np.ndarray:  # noqa: FBT001
        values = np.ravel(settled(item, dry=dry))
        if values.size == 1:
            return places
        lost = [place for place in places if values[place] != values[place]]
        there = [place for place in places if place not in set(lost)]
        kept = sorted(there, key=lambda place: values[place], reverse=descending)
        return np.array([*kept, *lost], dtype=int)

    return step


def _whole_number(rows: Rows, select: Node, part: str) -> int | None:
    for one in each(select, part):
        if one.expression.key == "var":
            return None
        number = constant(rows, one.expression, part.upper())
        if isinstance(number, str | bool) or number != int(number) or number < 0:
            fail(one, "whole number")
        return int(number)
    return None
