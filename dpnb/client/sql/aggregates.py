"""Aggregates: each becomes the question that Python asks of a selection, over declared groups.

An aggregate reads its rows once: WHERE, FILTER and the branches of a CASE without ELSE become the filter of its question, so that a count
that several of them need is one measurement.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnb.client.columns import ColumnHandle
from dpnb.client.handles import Dataset
from dpnb.client.sql.expressions import constant, truth, value, whole
from dpnb.client.sql.names import TRUE, Rows, Value
from dpnb.client.sql.reader import MAKERS, fail, reads, refusal
from dpnb.errors import PlanError
from dpnb.estimate import Estimate
from dpnb.planner.compile import is_condition
from dpnb.planner.expression import Const, Expr, Ref, Where
from dpnb.trusted.schema.unit_summary import Take, UnitSummary

if TYPE_CHECKING:
    from dpnb.client.sql.reader import Node

_SAMPLE = {
    "variance": "variance",
    "stddev": "std",
    "stddevsamp": "std",
    "variancepop": "variance",
    "stddevpop": "std",
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

    def column(self, found: Value, *conditions: Expr) -> ColumnHandle:
        """Return the handle on a value."""
        return ColumnHandle(self.view(*conditions, found.known), found.expr)

    def count(self, *conditions: Expr) -> Estimate:
        """Ask how many rows there are: of a second table, the sum of what is prepared of each person's."""
        if self.rows.joined:
            line = prepared(self.rows, self.rows.joined, "count")
            if line is None:
                raise PlanError(
                    f'Nobody declared how many rows of {self.rows.joined} each person has: [prepare] n = {{ count = "{self.rows.joined}", upper = … }}.'
                )
            return self.column(Value(Ref(line.name)), *conditions).sum()
        return self.view(*conditions).count()


def prepared(rows: Rows, source: str, take: Take, of: str = "") -> UnitSummary | None:
    """Return the line of [prepare] that takes something of a table's rows."""
    lines = rows.dataset.schema.prepared
    return next(
        (one for one in lines if (one.source, one.take) == (source, take) and (not of or one.of.name == of)),
        None,
    )


def aggregate(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    """Return the pending estimate of an aggregate.

    Raises
    ------
    PlanError
        With ``at``, the place in the text, and what to write instead.
    """
    made: Estimate = MAKERS["figures"][node.key](groups, node, *conditions)
    return made


def is_aggregate(node: Node) -> bool:
    """Tell whether a node is an aggregate by itself."""
    return node.key in MAKERS["figures"]


def _argument(groups: Groups, node: Node) -> Value:
    """Return what an aggregate is of; an aggregate of an aggregate, or of distinct values, is refused."""
    inner = node.this
    if inner is None or isinstance(inner, str):
        fail(node, "{sql} needs a column.")
    if inner.key == "distinct":
        fail(
            node,
            "{sql} leaves out equal values of different people, so that one person's row depends on others'.",
        )
    if inner.key == "star":
        fail(node, "{sql}: * stands in COUNT(*) alone. Name a column.")
    if any(is_aggregate(one) for one in inner.walk()):
        fail(
            node,
            "{sql}: an aggregate of an aggregate. Release the inner one; .sum() and .mean() of the answer are free.",
        )
    return value(groups.rows, inner)


def _of_rows(groups: Groups, node: Node) -> Value:
    """Return what an aggregate of the dataset's own rows is of."""
    made = _argument(groups, node)
    if made.source or groups.rows.joined:
        fail(
            node,
            "{sql}: the join repeats each person for every row of "
            + groups.rows.joined
            + ", of which SUM, AVG and COUNT are asked. Ask this without the JOIN.",
        )
    return made


def _indicator(expr: Expr) -> Expr | None:
    """Return the condition that a number of 0 and 1 stands for."""
    if is_condition(expr):
        return expr
    if isinstance(expr, Where) and isinstance(expr.then, Const) and isinstance(expr.other, Const):
        ends = (expr.then.value, expr.other.value)
        if ends == (1, 0):
            return expr.condition
    return None


@reads(
    "figures",
    "count",
    "this big_int",
    "COUNT(*), COUNT(x), COUNT(DISTINCT person)",
    "rows; rows with a value; people, where that is exact",
)
def _count(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    rows, inner = groups.rows, node.this
    if inner is None or inner.key == "star":
        return groups.count(*conditions)
    if inner.key == "distinct":
        return _people(groups, node, inner.expressions, *conditions)
    made = _argument(groups, node)
    if made.source:
        fail(node, "{sql}: write COUNT(*), which counts the rows of " + made.source + ".")
    return groups.count(*conditions, made.known, rows.has(made.expr))


def _people(groups: Groups, node: Node, named: list[Node], *conditions: Expr) -> Estimate:
    """Ask how many people there are: exact where each has one row, or where all rows are meant."""
    rows, schema = groups.rows, groups.rows.dataset.schema
    if len(named) != 1 or not rows.is_unit(named[0]):
        fail(
            node,
            "{sql}: one person alone can add a value. The declared values are public; which of them many rows have: .frequent_values().",
        )
    if schema.unit.max_rows == 1 and not rows.joined:
        return groups.view(*conditions).count()
    if rows.joined or groups.by or rows.where is not None or any(one != TRUE for one in conditions):
        fail(
            node,
            f'How many people have such a row is not asked of single rows: of each person dpnb would have to look at all. Its owner declares [prepare] x = {{ any = "…", is = … }}; COUNT(DISTINCT {named[0].name}) without WHERE, GROUP BY and JOIN works.',
        )
    return rows.dataset.per_unit(1).count()


@reads("figures", "countif", "this", "COUNT_IF(c)", "rows where c is true")
def _count_if(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    return groups.count(*conditions, groups.rows.certain(truth(groups.rows, node.this)))


@reads("figures", "sum", "this", "SUM(x)", "the sum; of 1 and 0 a count")
def _sum(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    made = _argument(groups, node)
    if made.source:
        return _second(groups, node, made, "sum").sum()
    if isinstance(made.expr, Const):
        times: Estimate = groups.count(*conditions, made.known) * made.expr.number
        return times
    made = _of_rows(groups, node)
    holds = _indicator(made.expr)
    if holds is not None:
        return groups.count(*conditions, made.known, groups.rows.certain(holds))
    return groups.column(made, *conditions).sum()


@reads("figures", "avg", "this", "AVG(x)", "the mean; of a condition the share")
def _mean(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    made = _argument(groups, node)
    if made.source:
        ratio: Estimate = _second(groups, node, made, "sum").sum() / groups.count(*conditions)
        return ratio
    made = _of_rows(groups, node)
    holds = _indicator(made.expr)
    return groups.column(made if holds is None else Value(holds, made.known), *conditions).mean()


def _second(groups: Groups, node: Node, made: Value, take: Take) -> ColumnHandle:
    """Return the prepared column of what each person's rows of a second table add up to."""
    assert isinstance(made.expr, Ref)
    return groups.column(Value(Ref(line_of(groups.rows, node, made.source, take, made.expr.column).name)))


def line_of(rows: Rows, node: Node, source: str, take: Take, of: str) -> UnitSummary:
    """Return a line of [prepare], or refuse with the line to write."""
    line = prepared(rows, source, take, of)
    if line is None:
        cells = (
            "rows"
            if take == "count" and not source
            else source
            if take == "count"
            else f"{source}.{of}"
            if source
            else of
        )
        name = of if take != "count" else "n"
        fail(
            node,
            f'One row of each person is made by its owner, before anybody asks: under [prepare] write {name} = {{ {take} = "{cells}", upper = … }}. Then ask the column.',
        )
    return line


def _spread(name: str, *, sample: bool) -> Callable[..., Estimate]:
    def asked(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
        made = _of_rows(groups, node)
        found: Estimate = getattr(groups.column(made, *conditions), name)()
        if not sample:
            return found
        n = groups.count(*conditions, made.known, groups.rows.has(made.expr))
        more: Any = n / (n - 1)
        corrected: Estimate = found * (more if name == "variance" else np.sqrt(more))
        return corrected

    return asked


reads(
    "figures", "variancepop", "this", "VAR_POP, STDDEV_POP", "variance and standard deviation, divided by n"
)(_spread("variance", sample=False))
reads("figures", "stddevpop", "this")(_spread("std", sample=False))
reads(
    "figures",
    "variance",
    "this",
    "VARIANCE, VAR_SAMP, STDDEV, STDDEV_SAMP",
    "the same times n/(n − 1), or its root; n as released",
)(_spread("variance", sample=True))
reads("figures", "stddev", "this")(_spread("std", sample=True))
reads("figures", "stddevsamp", "this")(_spread("std", sample=True))


@reads(
    "figures",
    "median",
    "this",
    "MEDIAN, QUANTILE_DISC, QUANTILE_CONT, PERCENTILE_… WITHIN GROUP",
    "a quantile: a point of the declared grid, never between two",
)
def _median(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    return groups.column(_of_rows(groups, node), *conditions).quantile(0.5)


@reads("figures", "percentiledisc percentilecont", "this expression")
def _percentile(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    if node.args.get("expression") is None:
        fail(node, "{sql} needs its column: quantile_cont(income, 0.9).")
    return groups.column(_of_rows(groups, node), *conditions).quantile(_share(groups, node.expression))


@reads("figures", "quantile", "this quantile")
def _quantile(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    return groups.column(_of_rows(groups, node), *conditions).quantile(_share(groups, node.args["quantile"]))


def _share(groups: Groups, node: Node) -> float:
    share = constant(groups.rows, node, "Which quantile")
    if isinstance(share, str):
        fail(node, "Which quantile is a number between 0 and 1.")
    return float(share)


@reads("figures", "withingroup", "this expression")
def _within(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    inner, ordered = node.this, node.expression.expressions
    if inner.key not in {"percentiledisc", "percentilecont"} or len(ordered) != 1:
        fail(node, "{sql}: WITHIN GROUP goes with PERCENTILE_CONT and PERCENTILE_DISC of one column.")
    share = _share(groups, inner.this)
    made = value(groups.rows, ordered[0].this)
    if made.source or groups.rows.joined:
        fail(node, "{sql} is of a second table's rows, which are added or counted and nothing else.")
    return groups.column(made, *conditions).quantile(1 - share if ordered[0].args.get("desc") else share)


@reads("figures", "mode", "this", "MODE(x)", "the most frequent declared value")
def _mode(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    return groups.column(_of_rows(groups, node), *conditions).mode()


@reads(
    "figures",
    "corr covarpop covarsamp regrslope",
    "this expression",
    "CORR, COVAR_POP, COVAR_SAMP, REGR_SLOPE",
    "correlation, covariance, slope; over rows where both are known",
)
def _pair(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    rows = groups.rows
    first, second = _of_rows(groups, node), Value(whole(rows, node.expression))
    both_known = (*conditions, first.known)
    column = groups.column(first, *conditions)
    other = ColumnHandle(column.dataset, second.expr)
    if node.key == "corr":
        return column.correlation(other)
    covariance: Any = column.covariance(other)
    if node.key == "covarpop":
        factor: Any = 1
    elif node.key == "covarsamp":
        n: Any = groups.count(*both_known, rows.has(first.expr), rows.has(second.expr))
        factor = n / (n - 1)
    else:
        factor = 1 / groups.column(second, *both_known, rows.has(first.expr)).variance()
    asked: Estimate = covariance if node.key == "covarpop" else covariance * factor
    return asked


@reads("figures", "filter", "", "aggregate FILTER (WHERE c)", "of the rows where c is true")
def _filter(groups: Groups, node: Node, *conditions: Expr) -> Estimate:
    if not is_aggregate(node.this):
        raise refusal(node, "{sql}: FILTER goes with an aggregate.")
    holds = truth(groups.rows, node.expression.this)
    return aggregate(groups, node.this, *conditions, holds)
