"""Aggregates: each becomes the question that Python asks of a selection, over declared groups.

An aggregate reads its rows once: WHERE, FILTER and the branches of a CASE without ELSE become the filter of its question, so that a count
that several of them need is one measurement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnb.client.columns import ColumnHandle
from dpnb.client.handles import Dataset
from dpnb.client.sql.expressions import constant, own, truth, value
from dpnb.client.sql.names import TRUE, Rows, Value
from dpnb.client.sql.reader import MAKERS, fail, reads
from dpnb.estimate import Estimate
from dpnb.inference.digits import given
from dpnb.planner.compile import is_condition
from dpnb.planner.expression import Const, Expr, Ref, Where
from dpnb.trusted.schema.unit_summary import Take, UnitSummary

if TYPE_CHECKING:
    from dpnb.client.sql.reader import Node

_SPREADS = {
    "variancepop": "variance",
    "stddevpop": "std",
    "variance": "variance",
    "stddev": "std",
    "stddevsamp": "std",
}


@dataclass(frozen=True, slots=True)
class Groups:
    """Where aggregates are asked: some rows, and the keys by which they are grouped."""

    rows: Rows
    by: tuple[Expr, ...] = ()

    def view(self, *conditions: Expr) -> Dataset:
        """Return the handle on the rows where conditions hold too."""
        rows = self.rows.kept(*conditions)
        return rows.dataset._part(rows.where, self.by)

    def column(self, made: Value, *conditions: Expr) -> ColumnHandle:
        """Return the handle on a value."""
        return ColumnHandle(self.view(*conditions, made.known), made.expr)

    def count(self, node: Node, *conditions: Expr) -> Estimate:
        """Ask how many rows there are: of a second table, the sum of what is prepared of each person's."""
        if self.rows.joined:
            line = line_of(self.rows, node, self.rows.joined, "count", "")
            return self.column(Value(Ref(line.name)), *conditions).sum()
        return self.view(*conditions).count()


def line_of(rows: Rows, node: Node, source: str, take: Take, of: str) -> UnitSummary:
    """Return the line of [prepare] that takes something of a table's rows, or refuse with the line to write."""
    line = prepared(rows, source, take, of)
    if line is None:
        cells = (source or "rows") if take == "count" else f"{source}.{of}" if source else of
        fail(node, "prepare", name=of or "n", take=take, cells=cells)
    return line


def prepared(rows: Rows, source: str, take: Take, of: str = "") -> UnitSummary | None:
    """Return the line of [prepare] that takes something of a table's rows, where there is one."""
    lines = (one for one in rows.dataset.schema.prepared if (one.source, one.take) == (source, take))
    return next((one for one in lines if not of or one.of.name == of), None)


def aggregate(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    """Return the pending estimate of an aggregate.

    Raises
    ------
    PlanError
        With ``at``, the place in the text, and what to write instead.
    """
    asked: Estimate = MAKERS["figures"][node.key](groups, node, *conditions)
    return asked


def is_aggregate(node: Node) -> bool:
    """Tell whether a node is an aggregate by itself."""
    return node.key in MAKERS["figures"]


def has_aggregate(node: Node) -> bool:
    """Tell whether an aggregate is in a node."""
    return any(is_aggregate(one) for one in node.walk())


def _argument(groups: Groups, node: Node, name: str = "this", *, joined: bool = False) -> Value:
    """Return what an aggregate is of; an aggregate of an aggregate, or of distinct values, is refused."""
    inner = node.args.get(name)
    if inner is None or inner.key == "star":
        fail(node, "needs a column")
    if inner.key == "distinct":
        fail(node, "equal values")
    if has_aggregate(inner):
        fail(node, "of an aggregate")
    made = value(groups.rows, inner) if joined else own(groups.rows, inner)
    if groups.rows.joined and not joined:
        fail(node, "repeated", source=groups.rows.joined)
    return made


def _changing(groups: Groups, node: Node, made: Value) -> Value:
    """Return a number, unless it is the same in every row: that is public, and no measurement."""
    number = groups.rows.number(made.expr)
    if number.low == number.high:
        fail(node, "same", number=given(float(number.lowest)))
    return made


def _indicator(expr: Expr) -> Expr | None:
    """Return the condition that a number of 0 and 1 stands for."""
    if isinstance(expr, Where) and isinstance(expr.then, Const) and isinstance(expr.other, Const):
        return expr.condition if (expr.then.value, expr.other.value) == (1, 0) else None
    return expr if is_condition(expr) else None


@reads("figures", "count", "this big_int")
def _count(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    """COUNT(*), COUNT(x), COUNT(DISTINCT person) – rows; rows with a value; people, where that is exact."""
    if node.this is None or node.this.key == "star":
        return groups.count(node, *conditions)
    if node.this.key == "distinct":
        return _people(groups, node, node.this.expressions, *conditions)
    made = _argument(groups, node)
    return groups.count(node, *conditions, made.known, groups.rows.has(made.expr))


def _people(groups: Groups, node: Node, named: list[Node], *conditions: Expr) -> Estimate:
    """Ask how many people there are: exact where each has one row, or where all rows are meant."""
    rows, most = groups.rows, groups.rows.dataset.schema.unit.max_rows
    if len(named) != 1 or not rows.is_unit(named[0]):
        fail(node, "new value")
    if most == 1 and not rows.joined:
        return groups.view(*conditions).count()
    if rows.joined or groups.by or rows.where is not None or any(one != TRUE for one in conditions):
        fail(node, "people", unit=named[0].name)
    return rows.dataset.per_unit(1).count()


@reads("figures", "countif", "this")
def _count_if(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    """COUNT_IF(c) – rows where c is true."""
    return groups.count(node, *conditions, truth(groups.rows, node.this))


@reads("figures", "sum", "this")
def _sum(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    """SUM(x) – the sum; of 1 and 0 a count."""
    made = _argument(groups, node, joined=True)
    if made.source:
        return _second(groups, node, made).sum()
    if isinstance(made.expr, Const):
        times: Estimate = groups.count(node, *conditions, made.known) * made.expr.number
        return times
    made = _changing(groups, node, _argument(groups, node))
    holds = _indicator(made.expr)
    if holds is None:
        return groups.column(made, *conditions).sum()
    return groups.count(node, *conditions, made.known, holds)


@reads("figures", "avg", "this")
def _mean(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    """AVG(x) – the mean; of a condition the share."""
    made = _argument(groups, node, joined=True)
    if made.source:
        ratio: Estimate = _second(groups, node, made).sum() / groups.count(node, *conditions)
        return ratio
    made = _changing(groups, node, _argument(groups, node))
    return groups.column(Value(_indicator(made.expr) or made.expr, made.known), *conditions).mean()


def _second(groups: Groups, node: Node, made: Value) -> ColumnHandle:
    """Return the prepared column of what each person's rows of a second table add up to."""
    assert isinstance(made.expr, Ref)
    return groups.column(Value(Ref(line_of(groups.rows, node, made.source, "sum", made.expr.column).name)))


@reads("figures", " ".join(_SPREADS), "this")
def _spread(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    """VAR_POP, STDDEV_POP, VARIANCE, VAR_SAMP, STDDEV, STDDEV_SAMP – the last four times n/(n - 1), or its root; n as released."""
    made = _argument(groups, node)
    asked: Estimate = getattr(groups.column(made, *conditions), _SPREADS[node.key])()
    if node.key.endswith("pop"):
        return asked
    n: Any = groups.count(node, *conditions, made.known, groups.rows.has(made.expr))
    corrected: Estimate = asked * (np.sqrt(n / (n - 1)) if node.key.startswith("stddev") else n / (n - 1))
    return corrected


@reads("figures", "median", "this")
def _median(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    """MEDIAN, QUANTILE_DISC, QUANTILE_CONT, PERCENTILE_DISC(q) WITHIN GROUP – a point of the declared grid, never between two."""
    return groups.column(_argument(groups, node), *conditions).quantile(0.5)


@reads("figures", "percentiledisc percentilecont", "this expression")
@reads("figures", "quantile approxquantile", "this quantile")
def _quantile(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    share = node.args.get("quantile") or node.args.get("expression")
    if share is None:
        fail(node, "quantile")
    return groups.column(_argument(groups, node), *conditions).quantile(_share(groups, share))


def _share(groups: Groups, node: Node) -> float:
    share = constant(groups.rows, node, "which quantile")
    if isinstance(share, str):
        fail(node, "quantile")
    return float(share)


@reads("figures", "withingroup", "this expression")
def _within(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    inner, ordered = node.this, node.expression.expressions
    if inner.key not in {"percentiledisc", "percentilecont"} or len(ordered) != 1:
        fail(node, "quantile")
    share = _share(groups, inner.this)
    column = groups.column(_argument(groups, ordered[0]), *conditions)
    return column.quantile(1 - share if ordered[0].args.get("desc") else share)


@reads("figures", "mode", "this")
def _mode(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    """MODE(x) – the most frequent declared value."""
    return groups.column(_argument(groups, node), *conditions).mode()


@reads("figures", "corr covarpop covarsamp regrslope", "this expression")
def _pair(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    """CORR, COVAR_POP, COVAR_SAMP, REGR_SLOPE – correlation, covariance and slope, over rows where both are known."""
    first, second = _argument(groups, node), _argument(groups, node, "expression")
    column = groups.column(first, *conditions, second.known)
    other = ColumnHandle(column.dataset, second.expr)
    if node.key == "corr":
        return column.correlation(other)
    asked: Any = column.covariance(other)
    known = (*conditions, first.known, second.known, *(groups.rows.has(one.expr) for one in (first, second)))
    if node.key == "covarsamp":
        n: Any = groups.count(node, *known)
        asked = asked * (n / (n - 1))
    elif node.key == "regrslope":
        asked = asked / groups.column(second, *known).variance()
    covariance: Estimate = asked
    return covariance


@reads("figures", "filter", "")
def _filter(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    """SUM(x) FILTER (WHERE c) – of the rows where c is true."""
    if not is_aggregate(node.this):
        fail(node, "filter")
    return aggregate(groups, node.this, *conditions, truth(groups.rows, node.expression.this))
