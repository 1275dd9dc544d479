"""Random measurements in the integer algebra against brute force: no tiny neighbours cost more than is derived."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from dpnb.trusted.aggregate.algebra import Bounds
from dpnb.trusted.errors import DpnbError
from dpnb.trusted.measurements import code_ranges
from dpnb.trusted.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpnb.trusted.query.limits import refuse_unbounded
from tests.contracts.derived_loss import loss
from tests.fuzz.algebra import MOST_CELLS, measurements, thresholded
from tests.fuzz.pairs import EXACT, Pair, _grid
from tests.measurements.tiny import UNITS, common_rows, cost, pool, schema, shown

MOST_PAIRS = 1200


def neighbours(rng, where, rows, *, common):
    """Every move of one row, or of two alike; of a unit of two rows also moves that are drawn."""
    unit, most = where.unit, where.unit.max_rows
    alike = [(at,) * most for at in range(rows)]
    first = [()] if unit.adjacency == "add-remove" else alike
    moves = [(one, two) for one in first for two in alike if one != two]
    moves += [(one, ()) for one in alike if not unit.by_row]
    if most > 1:
        held = lambda: tuple(rng.choices(range(rows), k=rng.randint(0, most)))
        drawn = [(() if unit.adjacency == "add-remove" else held(), held()) for _ in range(300)]
        moves += [(one, two) for one, two in drawn if one != two]
    if unit.adjacency == "add-remove":
        moves = [(one, two) for one, two in moves if not one or not two]
    pairs = [Pair(both, one, two) for both in common for one, two in moves]
    return pairs if len(pairs) <= MOST_PAIRS else rng.sample(pairs, MOST_PAIRS)


def together(rng, where, rows, *, additive):
    """Rows in common: none where they do not matter; as many as are public."""
    if additive:
        return [()]
    if where.unit.rows is None:
        return common_rows(where, rows, 4)
    return [tuple(rng.choices(range(rows), k=3)), (rng.randrange(rows),) * 3]


def examined(seed):
    """The kinds of one random plan and how near a pair comes to its loss; nothing where it is refused."""
    rng = random.Random(seed)
    unit, measure = rng.choice(list(UNITS)), rng.choice(["epsilon", "rho", "rho", "delta"])
    where = schema(UNITS[unit], measure, missing=rng.random() < 0.7)
    ranges = code_ranges(where)
    if measure == "delta":
        return _thresholded(rng, where, ranges)
    try:
        parts = measurements(rng, ranges, gaussian=measure == "rho")
        refuse_unbounded([one.part for one in parts], Bounds(ranges))
        derived = float(loss([one.part for one in parts], where).total.amount)
    except DpnbError:
        return None
    if sum(one.cells for one in parts) > MOST_CELLS:
        return None
    additive = all(isinstance(one.mechanism, DiscreteLaplace | DiscreteGaussian) for one in parts)
    rows = pool(where, parts)
    pairs = neighbours(rng, where, len(rows), common=together(rng, where, len(rows), additive=additive))
    if not pairs:
        return None
    found = cost(parts, rows, pairs)
    spent = found.epsilon if measure == "epsilon" else found.rho
    kind = "+".join(sorted({f"{type(one.request).__name__}/{type(one.mechanism).__name__}" for one in parts}))
    return kind, float(spent.max()) / derived


def _thresholded(rng, where, ranges):
    one = thresholded(rng, ranges, where.unit.max_rows)
    try:
        refuse_unbounded([one.part], Bounds(ranges))
        (event,) = loss([one.part], where).events
    except DpnbError:
        return None
    rows = pool(where, [one])
    pairs = neighbours(rng, where, len(rows), common=together(rng, where, len(rows), additive=False))
    pairs = pairs if len(pairs) <= 60 else rng.sample(pairs, 60)
    grid = _grid(one.part, rows.stack([[*range(len(rows))]]))
    if not pairs or grid is None or grid[1] - grid[0] > 40:
        return None
    needed = shown(one, event.amount, rows, pairs, grid)
    return "ValueCounts/Thresholding", float(needed.max()) / float(event.delta)


def held(first, count):
    """Examine so many seeds: for each kind how many plans there were, and the highest ratio."""
    seen, highest = Counter(), {}
    for seed in range(first, first + count):
        found = examined(seed)
        if found is not None:
            kind, ratio = found
            seen[kind] += 1
            highest[kind] = max(highest.get(kind, 0.0), ratio)
            assert ratio <= 1 + EXACT, f"examined({seed}): {kind} needs {ratio} of what is charged"
    return seen, highest


def test_no_random_plan_costs_more_than_is_derived():
    """Every kind comes up, and sums come to all that they are charged."""
    seen, highest = held(0, 400)
    assert sum(seen.values()) > 200
    assert len({kind for kind in seen if "+" not in kind}) >= 10, seen
    assert highest["Total/DiscreteLaplace"] > 0.999


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4))
def test_no_more_random_plans_cost_more_than_is_derived(part):
    """The long version, anew each time."""
    first = random.SystemRandom().randrange(2**40)
    print(f"held({first}, 20000), part {part}")
    held(first, 20_000)
