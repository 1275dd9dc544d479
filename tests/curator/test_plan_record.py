"""A charge's record of its plan gives back exactly what was planned, and nothing that is not exactly in its form."""

from __future__ import annotations

import copy
import json
import random
from fractions import Fraction

import pytest

from dpnb.client.priced_batch import batch_of
from dpnb.errors import PlanError
from dpnb.planner.request import Ask
from dpnb.trusted.aggregate.algebra import (
    Add,
    And,
    Case,
    Clip,
    Cmp,
    Col,
    CrossMoments,
    FloorDiv,
    Key,
    Known,
    LabelSums,
    Lit,
    Mul,
    Not,
    Or,
    Shrink,
    Sub,
    Total,
    TrueP,
    ValueCounts,
    children,
    length,
)
from dpnb.trusted.aggregate.request_record import MOST_DEPTH, Reader, written_requests
from dpnb.trusted.canonical import canonical
from dpnb.trusted.query.plan_record import read_parts, written
from tests.curator import small
from tests.curator.test_store import MAKERS
from tests.examples import mostly_long

HALF = Fraction(1, 2)


def through(record):
    """As it comes back from the ledger's file."""
    return json.loads(canonical(record))


@pytest.mark.parametrize("budget", [{"epsilon": 100}, {"rho": 100}, {"epsilon": 100, "delta": "1e-6"}])
@pytest.mark.parametrize("maker", range(len(MAKERS)))
def test_every_question_is_measured_as_it_was_planned(service, dpnb_home, budget, maker):
    """What a record says is measured equals what was priced: requests, mechanisms, scales, names, cells."""
    data = small.opened(small.session(service), dpnb_home, **budget)
    (priced,) = batch_of([MAKERS[maker](data)], Ask.make(epsilon=1)).priced.items
    if not priced.public:
        assert read_parts(through(written(priced.parts))) == priced.parts


def tree(rng, depth, kind):
    """A random expression or predicate."""
    if kind == "predicate":
        if depth == 0:
            return rng.choice([TrueP(), Known(Col("x")), Cmp("<", Col("x"), Lit(rng.randint(-9, 9)))])
        make = rng.choice([And, Or, Not, Known, Cmp])
        if make is Cmp:
            return Cmp(rng.choice(["==", "<", "<="]), *(tree(rng, depth - 1, "number") for _ in "ab"))
        if make in {And, Or}:
            return make(*(tree(rng, depth - 1, "predicate") for _ in "ab"))
        return make(tree(rng, depth - 1, "predicate" if make is Not else "number"))
    if depth == 0:
        return rng.choice([Col("x"), Col("y"), Lit(rng.randint(-(2**70), 2**70))])
    make = rng.choice([Add, Sub, Mul, FloorDiv, Clip, Case])
    one = tree(rng, depth - 1, "number")
    if make is FloorDiv:
        return FloorDiv(one, rng.randint(1, 9))
    if make is Clip:
        return Clip(one, -rng.randint(0, 9), rng.randint(0, 9))
    if make is Case:
        return Case(tree(rng, depth - 1, "predicate"), one, tree(rng, depth - 1, "number"))
    return make(one, rng.choice([one, tree(rng, depth - 1, "number")]))


def request(rng):
    """A random request of any kind."""
    where = rng.choice([None, tree(rng, 3, "predicate")])
    keys = tuple(Key(tree(rng, 1, "number"), rng.randint(1, 5)) for _ in range(rng.randint(0, 2)))
    values = tuple(Mul(tree(rng, 1, "number"), Col("x")) for _ in range(3))
    shrink = rng.choice([None, Shrink((5, 0, 2**19), (3, 5), 4)])
    return rng.choice(
        [
            Total(tree(rng, 4, "number"), where, keys),
            ValueCounts(tree(rng, 4, "number"), where, keys),
            CrossMoments(values, ((0, 0), (0, 2)), where, shrink),
            LabelSums(values[:2], values[: rng.randint(0, 2)], where),
        ]
    )


@pytest.mark.parametrize("seed", mostly_long(range(200), *range(50)))
def test_random_requests_are_read_back_and_their_records_have_one_form(seed):
    rng = random.Random(seed)
    requests = tuple(request(rng) for _ in range(rng.randint(1, 4)))
    record = through(written_requests(requests))
    assert Reader().read(record) == requests
    assert len({canonical(node) for node in record["nodes"]}) == len(record["nodes"])


def disturbed(rng, record):
    """A record with one node or place of it changed, moved or doubled."""
    wrong = copy.deepcopy(record)
    rows = wrong["nodes"]
    row, other = rng.choice(rows), rng.choice(rows)
    at, place = rng.randrange(len(row)), rng.randrange(len(rows))
    change = rng.randrange(5)
    if change == 0:
        row[at] = rng.choice(other)
    elif change == 1:
        row[at] = rng.randrange(-1, len(rows))
    elif change == 2:
        rows[place], rows[rows.index(other)] = other, rows[place]
    elif change == 3:
        rows.append(list(row))
    else:
        wrong["requests"].append(copy.deepcopy(rng.choice(wrong["requests"])))
    return wrong


@pytest.mark.parametrize("seed", mostly_long(range(200), *range(50)))
def test_whatever_is_read_is_what_would_be_written(seed):
    """A record is read without writing it again; so no other form of the same requests may pass."""
    rng, read = random.Random(seed), 0
    record = through(written_requests(tuple(request(rng) for _ in range(rng.randint(1, 3)))))
    for _ in range(60):
        wrong = disturbed(rng, record)
        try:
            found = Reader().read(wrong)
        except PlanError:
            continue
        assert canonical(written_requests(found)) == canonical(wrong)
        read += 1
    assert read > 0


def test_equal_nodes_of_one_plan_are_one_object():
    """What was found of a node in one record holds in the next: a filter is looked at once, and so is a value."""
    reader, where = Reader(), Cmp("<", Add(Col("x"), Lit(1)), Lit(30))
    one, other = (
        reader.read(through(written_requests([Total(value, where)])))[0]
        for value in (Col("x"), Mul(Add(Col("x"), Lit(1)), Lit(2)))
    )
    assert one.where is other.where
    assert other.value.a is one.where.a
    assert one.value is one.where.a.a
    assert reader.steps == 6 + 10


def written_out(node, above=0):
    """For each node of an expression, wherever it stands, how many lie above it; a list of conditions is one."""
    found = [above]
    for child in children(node):
        same = isinstance(node, And | Or) and type(child) is type(node)
        found += written_out(child, above if same else above + 1)
    return found


@pytest.mark.parametrize("seed", range(50))
def test_a_length_counts_each_place_of_a_node(seed):
    root = tree(random.Random(seed), 5, "predicate")
    found = written_out(root)
    assert length(root)[:2] == (len(found), sum(found))
    depth = lambda node: 1 + max(map(depth, children(node)), default=0)
    assert length(root)[2] == depth(root)


def test_a_length_beyond_all_limits_is_a_short_number():
    """A thousand doublings would be a number of a thousand bits, for each of a record's nodes."""
    doubled = Col("x")
    for _ in range(1000):
        doubled = Add(doubled, doubled)
        nodes, above, _ = length(doubled)
    assert nodes == above == 2**62


def nested(times):
    """A sum of sums."""
    deep = Col("x")
    for _ in range(times - 1):
        deep = Add(deep, Lit(1))
    return through(written_requests([Total(deep)]))


def test_a_deep_expression_is_a_flat_record_and_one_beyond_the_limit_is_refused():
    """What is deeper would end in an interpreter's or an engine's stack, after the charge."""
    record = nested(MOST_DEPTH)
    assert written_requests(Reader().read(record)) == record
    with pytest.raises(PlanError, match="deep"):
        Reader().read(nested(MOST_DEPTH + 1))


def test_an_expression_that_is_short_as_a_record_and_endless_when_written_out_is_refused():
    """Thirty additions of the same node to itself have 2³⁰ leaves."""
    doubled = Col("x")
    for _ in range(30):
        doubled = Add(doubled, doubled)
    with pytest.raises(PlanError, match="written out"):
        Reader().read(through(written_requests([Total(doubled)])))


def test_an_expression_that_repeats_itself_is_written_once():
    """Sixty squarings have 2⁶⁰ leaves and sixty-one rows."""
    square = Col("x")
    for _ in range(60):
        square = Mul(square, square)
    assert len(written_requests([Total(square)])["nodes"]) == 61


RECORD = written_requests(
    [Total(Case(Cmp("<", Col("x"), Lit(3)), Col("x"), Lit(0)), None, (Key(Col("g"), 2),))]
)


def changed(*path, to):
    record = copy.deepcopy(RECORD)
    place = record
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return record


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        {},
        {"nodes": [], "requests": [{"kind": "total"}]},
        {**RECORD, "more": 1},
        changed("nodes", 0, to=["col", "x", "y"]),
        changed("nodes", 0, to=["column", "x"]),
        changed("nodes", 0, to=["col", 7]),
        changed("nodes", 1, to=["lit", True]),
        changed("nodes", 1, to=["lit", 3.0]),
        changed("nodes", 1, to=["lit", "3"]),
        changed("nodes", 2, 1, to=">"),
        changed("nodes", 2, 2, to=2),
        changed("nodes", 2, 2, to=9),
        changed("nodes", 2, 2, to=-1),
        changed("nodes", 4, 1, to=0),
        changed("nodes", to=[*RECORD["nodes"], ["col", "unused"]]),
        changed("nodes", to=[["col", "x"], *RECORD["nodes"]]),
        changed("requests", 0, "kind", to="sql"),
        changed("requests", 0, "value", to=2),
        changed("requests", 0, "where", to=0),
        changed("requests", 0, "keys", 0, 1, to="2"),
        changed("requests", 0, "keys", 0, to=[5]),
    ],
    ids=str,
)
def test_what_is_not_exactly_a_record_is_refused(wrong):
    with pytest.raises(PlanError, match="recorded"):
        Reader().read(wrong)


def test_the_record_above_is_one():
    assert written_requests(Reader().read(RECORD)) == RECORD
