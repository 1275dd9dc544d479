"""Deep expressions as SQL: no negation above a leaf, no list within a list, nothing written out twice; and they mean the same."""

from __future__ import annotations

import random
from functools import reduce
from itertools import product

import duckdb
import pytest

from dpnb.datasets.exact_answers import answer, table_of
from dpnb.trusted.aggregate.algebra import (
    Add,
    And,
    Case,
    Clip,
    Cmp,
    Col,
    CrossMoments,
    FloorDiv,
    Known,
    Lit,
    Not,
    Or,
    Sub,
    TrueP,
)
from dpnb.trusted.aggregate.reference import Evaluator
from dpnb.trusted.curator.engines.crossing import statement
from dpnb.trusted.curator.engines.rendering import Renderer, alike, pushed
from dpnb.trusted.errors import PlanError
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import DiscreteLaplace
from dpnb.trusted.query.limits import MOST_WORK, limited
from tests.contracts.engine import many
from tests.curator.engines.test_duckdb import engine_over

X, Y, ONE = Col("x"), Col("y"), Lit(1)
RANGES = {"x": (0, 2), "y": (0, 2)}
ROWS = list(product((None, 0, 1, 2), repeat=2))
TABLE = table_of({"x": [x for x, _ in ROWS], "y": [y for _, y in ROWS]})
LEAVES = (Cmp("==", X, Y), Cmp("<", X, Lit(1)), Cmp("<=", Y, X), Known(X), TrueP())


def grown(preds):
    """Predicates, and every negation, conjunction and disjunction of them."""
    pairs = list(product(preds, repeat=2))
    return [*preds, *map(Not, preds), *(And(a, b) for a, b in pairs), *(Or(a, b) for a, b in pairs)]


def deep(draw, levels):
    """A random predicate of so many levels."""
    if not levels:
        return draw.choice(LEAVES)
    below, kind = deep(draw, levels - 1), draw.choice((Not, Not, And, Or))
    return Not(below) if kind is Not else kind(*draw.sample((below, draw.choice(LEAVES)), 2))


def in_sql(preds):
    """What each predicate is on each row, by DuckDB: true, false or unknown."""
    db = duckdb.connect()
    db.execute("CREATE TABLE t (place INTEGER, x INTEGER, y INTEGER)")
    db.executemany("INSERT INTO t VALUES (?, ?, ?)", [(i, *row) for i, row in enumerate(ROWS)])
    found = []
    for start in range(0, len(preds), 400):
        render = Renderer(RANGES)
        texts = ", ".join(render(pred) for pred in preds[start : start + 400])
        found += zip(*db.execute(f"SELECT {texts} FROM t ORDER BY place").fetchall(), strict=True)
    return found


def in_the_reference(pred):
    """The same by the reference."""
    true, false = Evaluator(TABLE)._kleene(pred)
    return tuple(True if t else False if f else None for t, f in zip(true, false, strict=True))


@pytest.mark.slow
def test_every_small_predicate_is_in_sql_what_it_is_in_kleenes_logic():
    """All 7,320 of two levels over five leaves, and 300 of up to forty levels, on every row of codes and NULLs."""
    draw = random.Random(5)
    preds = grown(grown(LEAVES)) + [deep(draw, draw.randrange(3, 40)) for _ in range(300)]
    assert len(preds) == 7620
    assert in_sql(preds) == [in_the_reference(pred) for pred in preds]


def test_pushing_a_negation_down_changes_no_row():
    """On the reference alone, one step."""
    for pred in grown(grown(LEAVES[:3])):
        assert in_the_reference(pushed(Not(pred))) == in_the_reference(Not(pred))


def test_a_list_is_one_list_whatever_its_form():
    """Two hundred conditions to the left, to the right, or behind double negations."""
    conditions = [Cmp("==", X, Lit(k)) for k in range(200)]
    left = reduce(Or, conditions)
    right = reduce(lambda below, above: Or(above, below), reversed(conditions))
    negated = reduce(lambda e, c: Not(And(Not(e), Not(c))), conditions)
    for form in (left, right, pushed(negated)):
        assert list(alike(form)) == conditions


NEGATED = reduce(lambda e, k: Or(Not(e), Cmp("<", X, Lit(k % 9))), range(97), Cmp("<", X, Y))
SHAPES = {
    "negated lists": Case(NEGATED, X, Y),
    "conditions in conditions": reduce(lambda e, _: Case(Cmp("<", e, Y), X, Y), range(60), X),
    "known in conditions": reduce(lambda e, _: Case(Known(Case(Cmp("<", e, Y), X, Y)), X, Y), range(30), X),
    "clips": reduce(lambda e, k: Clip(Add(e, ONE), 0, 20 + k), range(90), X),
    "floors": reduce(lambda e, _: FloorDiv(Sub(e, Lit(5)), 2), range(90), X),
}


def swapped(node):
    """The same over columns of the engine's test table."""
    names = {"x": Col("g"), "y": Col("flag")}
    if isinstance(node, Col):
        return names[node.name]
    values = [getattr(node, name) for name in node.__dataclass_fields__]
    return type(node)(*(value if isinstance(value, int | str) else swapped(value) for value in values))


@pytest.mark.parametrize("name", SHAPES)
def test_a_deep_expression_is_answered_as_the_reference_answers_it(name):
    """A matrix, as value and as filter: conditions within conditions were written out twice at each level, without an end."""
    value = swapped(SHAPES[name])
    requests = [
        CrossMoments((ONE, value, Col("g")), ((0, 1), (1, 2))),
        CrossMoments((ONE, Col("g")), ((0, 1),), Cmp("<", value, Lit(3))),
    ]
    with engine_over(many()) as engine:
        assert engine.answer(requests) == answer(many(), requests)


def test_a_negation_is_written_at_leaves_alone():
    """A planner moved each of 97 through all above it: three seconds."""
    sql = statement(CrossMoments((ONE, X), ((0, 1),), NEGATED), "t", RANGES, 9)
    assert "NOT (" not in sql
    assert sql.count("(") < 800


def asked(value, where=None):
    """A measurement of a matrix."""
    return Measurement("a", CrossMoments((ONE, value), ((0, 1),), where), DiscreteLaplace(4), 1)


def test_depth_is_work_and_a_list_is_not_deep():
    """A thousand lists of two hundred alternatives are asked; of differences two hundred deep a cell has less than five hundred."""
    alternatives = reduce(Or, [Cmp("==", X, Lit(k)) for k in range(200)])
    tower = reduce(lambda e, k: Sub(Lit(k), e), range(190), X)
    assert limited(asked(X, alternatives) for _ in range(1000)) < MOST_WORK
    with pytest.raises(PlanError, match="Nothing was spent"):
        limited([asked(reduce(lambda e, k: Sub(Lit(k), e), range(190), X)) for _ in range(500)])
    assert 5_000 < limited([asked(tower)]) < 20_000
    assert limited([asked(tower)] * 2) - limited([asked(tower)]) < 1_000
