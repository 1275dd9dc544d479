"""What engines write differently: DuckDB's statements stay as they are, and a dialect reaches every word of them."""

from __future__ import annotations

from pathlib import Path

from dpnb.trusted.aggregate.algebra import (
    Clip,
    Cmp,
    Col,
    CrossMoments,
    FloorDiv,
    Key,
    LabelSums,
    Lit,
    Mul,
    Shrink,
    Sub,
    Total,
    ValueCounts,
)
from dpnb.trusted.aggregate.reference import Tally
from dpnb.trusted.curator.engines.sql_dialect import DUCKDB, SqlDialect
from dpnb.trusted.curator.engines.sql_engine import SqlEngine
from tests.contracts.expressions import SIZES
from tests.curator.engines.test_duckdb import BATCH, FAR_APART, engine_over, many, statements

GOLDEN = Path(__file__).parents[2] / "golden" / "engine" / "duckdb.sql"
HALVES = (0, 50, 2**15)
BALL = CrossMoments(
    (Lit(-3), Clip(Sub(Col("age"), Lit(50)), -50, 50), Clip(Col("income"), -(2**15), 2**15)),
    ((0, 0), (0, 1), (1, 2), (2, 2)),
    Cmp("<", Col("g"), Lit(5)),
    Shrink(HALVES, (3, 2**21), 256),
)
WIDE = Mul(Col("wide"), Lit(2**21))
ALL = [
    *BATCH,
    *FAR_APART,
    BALL,
    Total(FloorDiv(Sub(Lit(-1), WIDE), 7)),
    Total(Lit(1), Cmp("<", WIDE, Lit(9))),
    Total(Clip(FloorDiv(Sub(Col("income"), Lit(9)), 10), 3, 5), None, (Key(Sub(Col("age"), Lit(5)), 9),)),
    CrossMoments((Lit(1), Col("age"), Col("wide")), ((0, 2), (1, 1))),
    ValueCounts(Mul(Col("wide"), Lit(3)), Cmp("==", Col("income"), Col("age")), (Key(Col("g"), 7),)),
    LabelSums((Col("wide"), Col("g")), (WIDE,), Cmp("<=", Col("age"), Lit(30))),
]


def test_duckdbs_statements_stay_as_they_are():
    """Every kind of question, as one page of SQL that a change shows in its diff."""
    with engine_over(many(rows=40)) as engine:
        _, asked = statements(engine, ALL)
    assert ";\n".join(asked) + ";\n" == GOLDEN.read_text()


class Written(SqlEngine):
    """An engine that runs nothing: what it would say."""

    def __init__(self, dialect):
        super().__init__(dialect.own("copy"), SIZES, 40, dialect)
        self.asked = []

    def _columns(self, sql):
        self.asked.append(sql)
        raise StopIteration

    _rows_of = _columns


def written(request, dialect):
    """The first statement of a request."""
    engine = Written(dialect)
    try:
        engine._answer([request])
    except StopIteration:
        return engine.asked[0]
    raise AssertionError("nothing was asked")


def test_a_dialect_reaches_every_word():
    """With another quote, quotient, wide sum, text and alias, nothing of DuckDB's own is left in any statement."""
    other = SqlDialect(
        quote="`",
        quotient="div",
        wide="DECIMAL(38,0)",
        widens=True,
        text="STRING",
        alias=" AS t",
        by_all="GROUP BY 1, 2 ORDER BY 1, 2",
        names={"age": "c2"},
    )
    for request in ALL:
        sql = written(request, other)
        for word in ('"', "//", "HUGEINT", "VARCHAR", "BY ALL", "`age`", "count_if"):
            assert word not in sql
        assert sql.count("(SELECT") == sql.count(") AS t")
        narrow = sql.count(", 0) AS BIGINT)")  # every sum of some is known to fit
        assert sql.count("sum(") == sql.count("AS DECIMAL(38,0)))") + narrow


def test_pairs_beyond_the_columns_of_one_select_are_shared_out():
    """An engine of few columns adds up the same moments in more statements."""
    pairs = tuple((i, j) for i in range(3) for j in range(3))
    request = CrossMoments((Lit(1), Col("age"), Col("income")), pairs)
    with engine_over(many(rows=40)) as engine:
        whole = engine.answer([request])
        engine._dialect = SqlDialect(most_columns=4)
        shared, asked = statements(engine, [request])
    assert shared == whole
    assert len(asked) == 3


def test_nothing_is_kept_of_a_copy_that_may_change():
    """Value counts are read anew in every batch where a copy is not one's own."""
    with engine_over(many(rows=40)) as engine:
        engine._keeps = False
        batch = [ValueCounts(Col("wide"))]
        (first, one), (second, other) = statements(engine, batch), statements(engine, batch)
    assert isinstance(first[0][0], Tally)
    assert first[0][0].counts.tolist() == second[0][0].counts.tolist()
    assert len(one) == len(other) == 1


def test_a_name_holds_its_own_quote():
    """A quote inside of a name is doubled."""
    assert DUCKDB.column('a"b') == '"a""b"'
    assert SqlDialect(quote="`").column("a`b") == "`a``b`"
