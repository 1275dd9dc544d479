"""Wrong versions of the six rules by which SQL is translated, and of the reader that keeps to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpnb
from dpnb.client.sql import aggregates, expressions, reader
from dpnb.client.sql.aggregates import Groups
from dpnb.client.sql.names import Rows, Value
from dpnb.client.upload import hand_over
from dpnb.datasets import load
from dpnb.errors import PlanError
from dpnb.planner.expression import BinOp, BoolOp, Compare, Ref, Where
from dpnb.trusted.wire.places import Home
from tests.curator import small
from tests.mutants.table import Mutant, Patch, replaced

DECLARED = {
    "dataset": {"name": "t", "adjacency": "add-remove", "unit": "who", "max_rows_per_unit": 2},
    "budget": {"epsilon": 10**9},
    "columns": {
        "x": {"type": "integer", "lower": -10, "upper": 10},
        "z": {"type": "integer", "lower": 0, "upper": 10},
        "c": {"type": "category", "values": ["aa", "ab", "b"]},
    },
}
ROWS = {
    "who": np.array(["p", "p", "q", "q", "r"]),
    "x": np.array([-7, 3, np.nan, 8, 1]),
    "z": np.array([1, 5, 6, 7, 2]),
    "c": np.array(["aa", "b", "ab", "b", "b"]),
}


def answers(text: str, *wanted: float) -> Callable[[Path], None]:
    """Check what a SELECT of one figure answers, over all its groups."""

    def check(folder: Path) -> None:
        service = small.curator(folder)
        try:
            table = small.session(service).attach(hand_over(ROWS, load(DECLARED).schema, Home(folder)))
            found = dpnb.sql(text, epsilon=10**8, t=table)
            assert np.ravel(found["f"].value).tolist() == pytest.approx(wanted, abs=0.01)
        finally:
            service.close()

    return check


def refused(text: str, words: str) -> Callable[[Path], None]:
    """Check that a SELECT is refused."""

    def check(folder: Path) -> None:
        with pytest.raises(PlanError, match=words):
            answers(text)(folder)

    return check


def made(kind: str, wrong: Callable[[Rows, Any], Any]) -> Patch:
    """Put a wrong version in the place of what translates a kind of node in a row."""
    return lambda patch: patch.setitem(reader.MAKERS["rows"], kind, wrong)


def _as_python_cuts(rows: Rows, node: Any) -> Any:
    return BinOp("//", expressions.whole(rows, node.this), expressions.whole(rows, node.expression))


def _least_with_null(rows: Rows, node: Any) -> Any:
    left, right = expressions.whole(rows, node.this), expressions.whole(rows, node.expressions[0])
    return Where(Compare("<=", left, right), left, right)


def _like_without_not(rows: Rows, node: Any) -> Any:
    return expressions._like(rows, type(node)(this=node.this, expression=node.expression))


def _one_row_each(groups: Groups, _node: Any, _named: Any, *conditions: Any) -> Any:
    rows, capped = groups.rows.kept(*conditions), groups.rows.dataset.per_unit(1)
    return capped._part(BoolOp("and", capped._where, rows.where), ()).count()


def _looked_up_again(real: Any) -> Any:
    def column(self: Rows, node: Any) -> Value:
        return Value(Ref(node.name)) if node.name in self.dataset.schema else real(self, node)

    return column


def _grouped_without_filter(real: Any) -> Any:
    def view(self: Groups, *conditions: Any) -> Any:
        found = real(self, *conditions)
        return found.root._part(None, self.by) if self.by else found

    return view


MUTANTS = {
    "a part of a SELECT that nobody reads": Mutant(
        "What is not read is passed over: a sample of the rows is answered as all of them.",
        replaced(reader, "_refuse_unread", lambda _: lambda node: None),
        refused("SELECT COUNT(*) AS f FROM t TABLESAMPLE 10", "takes some rows"),
    ),
    "NOT LIKE read as LIKE": Mutant(
        "The negation is a part of the node, and is left out: the opposite question is answered.",
        made("like", _like_without_not),
        answers("SELECT SUM(z) AS f FROM t WHERE c NOT LIKE 'a%'", 14),
    ),
    "LEAST that keeps NULL": Mutant(
        "DuckDB's LEAST passes over NULL.",
        made("least", _least_with_null),
        answers("SELECT SUM(LEAST(x, 5)) AS f FROM t", -7 + 3 + 5 + 5 + 1),
    ),
    "WHEN with an unknown condition": Mutant(
        "A row whose WHEN is unknown is missing, where SQL goes on to ELSE.",
        replaced(Rows, "certain", lambda _: lambda self, expr: expr),
        answers("SELECT SUM(CASE WHEN x > 0 THEN z ELSE 100 END) AS f FROM t", 100 + 5 + 100 + 7 + 2),
    ),
    "// that goes down": Mutant(
        "Of negative numbers DuckDB cuts toward zero.",
        made("intdiv", _as_python_cuts),
        refused("SELECT SUM(x // 2) AS f FROM t", "cuts toward zero"),
    ),
    "people counted by their first row": Mutant(
        "One row of each person is kept before WHERE, which another of their rows would meet.",
        replaced(aggregates, "_people", lambda _: _one_row_each),
        refused("SELECT COUNT(DISTINCT who) AS f FROM t WHERE z > 4", "How many people have such a row"),
    ),
    "a name that is looked up twice": Mutant(
        "A name of an inner SELECT that is also a column's is that column again.",
        replaced(Rows, "column", _looked_up_again),
        answers("SELECT SUM(z) AS f FROM (SELECT z + 1 AS z FROM t) AS inner_one", 21 + 5),
    ),
    "groups of all rows": Mutant(
        "Keys are made on the root, and the filter is lost there.",
        replaced(Groups, "view", _grouped_without_filter),
        answers("SELECT c, SUM(z) AS f FROM t WHERE z > 1 GROUP BY c", 0, 6, 14),
    ),
}
