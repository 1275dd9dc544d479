"""Hypothesis strategies for the integer algebra: expressions whose ranges the checker would admit, over extreme tables."""

from __future__ import annotations

from math import prod

from hypothesis import strategies as st

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
    bounds,
)

SIZES = {"flag": 2, "g": 7, "age": 101, "income": 200_001, "wide": 2**40 + 1, "only_null": 3}
RANGES = {name: (0, size - 1) for name, size in SIZES.items()}
LIMIT = 2**62

constants = st.one_of(
    st.integers(-5, 110), st.sampled_from([0, 1, -1, 2**31 - 1, 2**31, -(2**31), 2**40, -(2**61), 2**61])
)


def admitted(node):
    """Whether the checker would let this range through."""
    low, high = bounds(node, RANGES)
    return low > -LIMIT and high < LIMIT


@st.composite
def integers_of(draw, depth=3):
    """An integer expression of at most this depth, every node's range below 2^62."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.one_of(st.sampled_from([Col(name) for name in SIZES]), constants.map(Lit)))
    kind = draw(st.sampled_from([Add, Sub, Mul, FloorDiv, Clip, Case]))
    a = draw(integers_of(depth - 1))
    if kind is FloorDiv:
        return FloorDiv(a, draw(st.one_of(st.integers(1, 12), st.sampled_from([2**20, 2**31, 2**61]))))
    if kind is Clip:
        return Clip(a, *sorted((draw(constants), draw(constants))))
    b = draw(integers_of(depth - 1))
    node = Case(draw(predicates_of(depth - 1)), a, b) if kind is Case else kind(a, b)
    return node if admitted(node) else a


@st.composite
def predicates_of(draw, depth=2):
    """A predicate of at most this depth."""
    kinds = ["cmp", "known", "true"] if depth == 0 else ["cmp", "cmp", "and", "or", "not", "known"]
    kind = draw(st.sampled_from(kinds))
    if kind == "cmp":
        inner = integers_of(max(depth - 1, 0))
        return Cmp(draw(st.sampled_from(["==", "<", "<="])), draw(inner), draw(inner))
    if kind == "known":
        return Known(draw(integers_of(max(depth - 1, 0))))
    if kind == "true":
        return TrueP()
    if kind == "not":
        return Not(draw(predicates_of(depth - 1)))
    return (And if kind == "and" else Or)(draw(predicates_of(depth - 1)), draw(predicates_of(depth - 1)))


keys = st.one_of(
    st.sampled_from([Key(Col(name), SIZES[name]) for name in ("flag", "g", "age", "only_null")]),
    st.builds(Key, integers_of(2), st.integers(1, 30)),
)

totals = st.builds(Total, integers_of(3), st.none() | predicates_of(2), st.lists(keys, max_size=2).map(tuple))
value_counts = st.builds(
    ValueCounts, integers_of(2), st.none() | predicates_of(2), st.lists(keys, max_size=2).map(tuple)
)


label_sums = st.builds(
    LabelSums,
    st.lists(integers_of(1), min_size=1, max_size=3).map(tuple),
    st.lists(integers_of(2), max_size=2).map(tuple),
    st.none() | predicates_of(2),
)


@st.composite
def cross_moments(draw):
    """Sums of products of a constant and one to three values, moved into a ball or not."""
    halves = draw(st.lists(st.sampled_from([1, 2, 50, 2**15, 2**20 - 1]), min_size=1, max_size=3))
    values = [Lit(draw(st.sampled_from([1, -3, 0]))), *(Clip(draw(integers_of(2)), -h, h) for h in halves)]
    if shrink := draw(st.booleans()):
        rises = sorted(draw(st.sets(st.integers(0, 2**22), min_size=1, max_size=5)))
        if max(halves) <= 2**15 and draw(st.booleans()):
            values.append(Mul(values[1], values[-1]))
        left_out = (0,) * (len(values) - 1 - len(halves))
        shrink = Shrink((0, *halves, *left_out), tuple(rises), draw(st.sampled_from([len(rises) + 1, 256])))
    elif draw(st.booleans()):
        values[-1] = draw(
            integers_of(2).filter(lambda node: all(admitted(Mul(node, v)) for v in [node, *values]))
        )
    places = st.integers(0, len(values) - 1)
    pairs = draw(st.lists(st.tuples(places, places), min_size=1, max_size=6))
    return CrossMoments(tuple(values), tuple(pairs), draw(st.none() | predicates_of(2)), shrink or None)


@st.composite
def nested_batches(draw):
    """Totals by few codes in several sizes, small, exact and beyond a shared grouping, alone and inside longer codes."""
    pool = [Col("age"), Sub(Col("age"), Lit(3)), Col("g"), draw(integers_of(1))]
    plain = st.sampled_from(pool)
    longer = st.builds(FloorDiv, plain, st.integers(1, 4))
    key = st.builds(Key, plain | longer, st.sampled_from([1, 2, 3, 12, 17_000]))
    grouped = st.lists(key, min_size=1, max_size=2).map(tuple)
    total = st.builds(Total, integers_of(1), st.none() | predicates_of(1), grouped)
    return draw(
        st.lists(total.filter(lambda t: prod(k.size for k in t.keys) <= 60_000), min_size=2, max_size=4)
    )


batches = st.one_of(
    st.lists(totals | value_counts | cross_moments() | label_sums, min_size=1, max_size=6), nested_batches()
)

codes = {
    name: st.none() | st.integers(0, size - 1) | st.sampled_from([0, size - 1])
    for name, size in SIZES.items()
}
rows = st.fixed_dictionaries({**codes, "only_null": st.none()})
tables = st.lists(rows, max_size=12).map(lambda found: {name: [row[name] for row in found] for name in SIZES})
