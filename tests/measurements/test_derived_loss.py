"""The derived loss of every kind against brute force: no pair of tiny neighbours costs more, and some pair nearly as much."""

from __future__ import annotations

import math
import pkgutil
import re
import tracemalloc
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pytest

from dpnb.inference.selection_law import selection
from dpnb.trusted import measurements
from dpnb.trusted.aggregate.algebra import (
    Add,
    And,
    Case,
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
    ValueCounts,
)
from dpnb.trusted.aggregate.cap import RANK, cap
from dpnb.trusted.errors import DpnbError, PlanError
from dpnb.trusted.measurements import selections
from dpnb.trusted.measurements.facts import Facts
from dpnb.trusted.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    KSExponential,
    LocatedSums,
    PermuteAndFlip,
    QuantileFlip,
    QuantileSelection,
    Thresholding,
)
from dpnb.trusted.mechanisms.located_sums import radii
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.contracts.derived_loss import loss
from tests.measurements.tiny import (
    UNITS,
    Measured,
    common_rows,
    cost,
    neighbours,
    ordered,
    pool,
    schema,
    shown,
)

F = Fraction
X, C, G, H, ONE = Col("x"), Col("c"), Col("g"), Col("h"), Lit(1)
CENTRED = Sub(C, Lit(1))
KNOWN_X, BY_G, BY_H = Known(X), (Key(G, 2),), (Key(H, 2),)
X_CENTRED = Sub(X, Lit(1))
C_ABOVE, X_ABOVE = Add(C, Lit(1)), Add(X, Lit(1))
SIGN, LEANING = Sub(Mul(Lit(2), H), Lit(1)), Sub(Mul(Lit(3), H), Lit(1))
FILTER = Cmp("<", C, Lit(2))
LOW = Cmp("<", C, Lit(1))
THIRDS = tuple(Cmp("==", C, Lit(code)) for code in range(3))
PARTLY = (Key(Sub(C, Lit(1)), 2),)
"""A key that leaves the rows with the lowest code out."""
SEARCHED = (Key(Case(Cmp("<", C, Lit(0)), Lit(-1), Case(Cmp("<", C, Lit(1)), Lit(0), Lit(1))), 2),)
"""A key as bins make it, with a branch that no row takes."""
BALL = Shrink((0, 64, 64), (2**20, 2**20 * 16 // 9), 4)


def laplace(request, scale, cells=None):
    """A sum with Laplace noise."""
    size = math.prod(key.size for key in getattr(request, "keys", ()))
    return Measured(request, DiscreteLaplace(F(scale)), size if cells is None else cells)


def gaussian(request, variance, cells=None):
    """A sum with Gaussian noise."""
    size = math.prod(key.size for key in getattr(request, "keys", ()))
    return Measured(request, DiscreteGaussian(F(variance)), size if cells is None else cells)


def pair_of(noise, keys=(), beside=()):
    """Five moments of two numbers and their count, with noise in every direction of their box, and other sums of the same rows."""
    square = lambda value: Sub(Mul(Lit(2), Mul(value, value)), Lit(1))
    values = (
        (CENTRED, 6),
        (X_CENTRED, 6),
        (square(CENTRED), 12),
        (square(X_CENTRED), 12),
        (Mul(CENTRED, X_CENTRED), 6),
        (ONE, 6),
        *beside,
    )
    return [noise(Total(value, KNOWN_X, keys), scale) for value, scale in values]


BOTH = Mul(CENTRED, X_CENTRED)
POWERS = tuple((Mul(BOTH, other), 10) for other in (BOTH, CENTRED, X_CENTRED))
"""What is bought about the tails of two numbers."""


def matrix(noise, factor, shrink=None):
    """A matrix of moments of two numbers in three parts."""
    power = 1 if noise is laplace else 2
    values = (ONE, Mul(Lit(64), CENTRED), Mul(Lit(64), X_CENTRED))
    blocks = (((0, 0),), ((0, 1), (0, 2)), ((1, 1), (2, 2), (1, 2)))
    return [
        noise(CrossMoments(values, block, None, shrink), scale**power * factor, len(block))
        for block, scale in zip(blocks, (1, 64, 4096), strict=True)
    ]


def of_four(noise, factor):
    """The count, a moved number and its second to fourth powers, a part each; the noise of each goes by how often it stands in the tensor."""
    number = Mul(Lit(64), X_CENTRED)
    values, ball = (ONE, number, Mul(number, number)), Shrink((0, 64, 0), (2**20 * 9 // 16,), 4)
    entries = zip(((0, 0), (0, 1), (1, 1), (1, 2), (2, 2)), (1, 4, 6, 4, 1), strict=True)
    return [
        noise(
            CrossMoments(values, (pair,), None, ball),
            factor * F(64**power) if noise is laplace else factor * F(64 ** (2 * power), times),
            1,
        )
        for power, (pair, times) in enumerate(entries)
    ]


SUMS = {
    "a sum": [laplace(Total(C), 3)],
    "a sum of what can be missing": [laplace(Total(X), 3)],
    "a filtered sum": [laplace(Total(Sub(C, Lit(5)), FILTER), 3)],
    "a sum by a key that cannot be missing": [laplace(Total(C, None, BY_H), 3)],
    "counts by a key that can": [laplace(Total(ONE, None, BY_G), 2)],
    "counts by a partial key": [laplace(Total(ONE, None, PARTLY), 2)],
    "counts by keys of two sizes": [
        laplace(Total(ONE, None, (Key(C, 1),)), 2),
        laplace(Total(ONE, None, (Key(C, 2),)), 2),
    ],
    "counts by bins": [laplace(Total(ONE, None, SEARCHED), 2)],
    "sum and count of one filter": [laplace(Total(CENTRED, KNOWN_X), 4), laplace(Total(ONE, KNOWN_X), 2)],
    "sum and count by groups": [
        laplace(Total(CENTRED, None, BY_G), 4),
        laplace(Total(ONE, None, BY_G), 3),
    ],
    "sums of two filters": [laplace(Total(C, FILTER), 4), laplace(Total(C, KNOWN_X), 5)],
    "a tree": [
        laplace(Total(ONE, KNOWN_X, (Key(X, 3),)), 5),
        laplace(Total(ONE, KNOWN_X, (Key(FloorDiv(X, 2), 2),)), 4),
        laplace(Total(ONE, KNOWN_X), 3),
    ],
    "squares": [laplace(Total(CENTRED), 3), laplace(Total(Mul(CENTRED, CENTRED)), 3)],
    "two numbers": pair_of(laplace),
    "two numbers and powers beside them": pair_of(laplace, (), POWERS),
    "two numbers by groups and another beside them": pair_of(laplace, BY_H, ((SIGN, 4),)),
    "a factor and a product of it": [laplace(Total(C), 4), laplace(Total(Mul(C, SIGN)), 4)],
    "a factor above 0 and products of it": [
        laplace(Total(C_ABOVE), 4),
        laplace(Total(Mul(C_ABOVE, SIGN)), 14),
        laplace(Total(Mul(LEANING, C_ABOVE)), 12),
    ],
    "a product that leans to one side": [laplace(Total(C), 3), laplace(Total(Mul(LEANING, C)), 5)],
    "factors and products by groups": [
        laplace(Total(C, None, BY_G), 4),
        laplace(Total(Mul(C, SIGN), None, BY_G), 4),
    ],
    "a factor that can be missing": [laplace(Total(X_ABOVE), 4), laplace(Total(Mul(X_ABOVE, SIGN)), 12)],
    "a product that can be missing": [laplace(Total(C_ABOVE), 4), laplace(Total(Mul(X_CENTRED, C_ABOVE)), 8)],
    "a factor of either sign": [laplace(Total(CENTRED), 4), laplace(Total(Mul(CENTRED, SIGN)), 4)],
    "a factor in other cells": [laplace(Total(C, None, BY_H), 4), laplace(Total(Mul(C, SIGN)), 4)],
    "counts of filters apart": [laplace(Total(ONE, where), 3) for where in THIRDS],
    "sum and count of filters apart": [
        laplace(Total(value, where), scale)
        for where in (LOW, Not(LOW))
        for value, scale in ((Sub(H, Lit(1)), 3), (ONE, 5))
    ],
    "counts by groups of filters apart": [laplace(Total(ONE, where, BY_H), 3) for where in THIRDS],
    "filters apart and one across them": [
        *(laplace(Total(ONE, where), 3) for where in THIRDS),
        laplace(Total(ONE, KNOWN_X), 4),
    ],
    "filters apart in what can be missing": [
        laplace(Total(ONE, Cmp("==", G, Lit(0))), 3),
        laplace(Total(ONE, Not(Cmp("==", G, Lit(0)))), 4),
    ],
    "filters apart in one column of two": [
        laplace(Total(ONE, And(Cmp("<", X, Lit(2)), LOW)), 3),
        laplace(Total(ONE, And(KNOWN_X, Not(LOW))), 4),
    ],
    "filters that overlap": [laplace(Total(ONE, where), 3) for where in (Not(LOW), FILTER)],
    "filters of which one says nothing of the other's column": [
        laplace(Total(ONE, LOW), 3),
        laplace(Total(ONE, Cmp("<", X, Lit(1))), 4),
    ],
}
"""Additive parts with Laplace noise; the same with Gaussian noise are tried too."""


def with_gaussian(parts):
    """The same sums with Gaussian noise."""
    return [Measured(one.request, DiscreteGaussian(one.mechanism.scale**2), one.cells) for one in parts]


def held_to(parts, where, pairs, rows, *, measure):
    """The largest ratio of what a pair costs to the derived loss."""
    derived = loss(parts, where)
    found = cost(parts, rows, pairs)
    spent = found.epsilon if measure == "epsilon" else found.rho
    return float(spent.max()) / float(derived.total.amount)


LOOSE = dict.fromkeys(
    (
        "sums of two filters",
        "two numbers",
        "two numbers and powers beside them",
        "two numbers by groups and another beside them",
        "squares",
        "filters apart and one across them",
    ),
    0.3,
)
"""How near a pair comes at least: frames that add are not moved everywhere at once, nor are powers of so few codes."""


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", SUMS)
def test_no_neighbours_move_sums_farther_than_derived(name, unit):
    """All of them, with Laplace noise in ε and ρ and Gaussian noise in ρ; and the derived loss is nearly needed."""
    where = schema(UNITS[unit])
    rows = pool(where, SUMS[name])
    pairs = neighbours(where, len(rows), most=2000)
    for parts, measure in ((SUMS[name], "epsilon"), (SUMS[name], "rho"), (with_gaussian(SUMS[name]), "rho")):
        ratio = held_to(parts, schema(UNITS[unit], measure), pairs, rows, measure=measure)
        assert ratio <= 1 + 1e-9
        assert ratio > LOOSE.get(name, 0.91 if measure == "epsilon" else 0.7), (measure, ratio)


@pytest.mark.parametrize("unit", UNITS)
def test_sums_beside_two_numbers_do_not_undo_their_joint_bound(unit):
    """The joint bound of the moments and what the others move: no more than both apart, and less than every sum at its own worst."""
    for noise, measure in ((laplace, "epsilon"), (gaussian, "rho")):
        where = schema(UNITS[unit], measure)
        alone, others = pair_of(noise), pair_of(noise, (), POWERS)[6:]
        apart = loss(alone, where).total.amount + loss(others, where).total.amount
        together = loss([*alone, *others], where).total.amount
        assert together <= apart
        if "change" in unit and noise is laplace:
            assert together < sum(loss([one], where).total.amount for one in (*alone[:-1], *others))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("shrink", [None, BALL], ids=["box", "ball"])
def test_no_neighbours_move_a_matrix_farther_than_derived(shrink, unit):
    """Box and ball, Laplace and Gaussian noise, with a value that can be missing."""
    where = schema(UNITS[unit])
    rows = pool(where, matrix(laplace, 3, shrink))
    pairs = neighbours(where, len(rows), most=2000)
    for noise, measure in ((laplace, "epsilon"), (laplace, "rho"), (gaussian, "rho")):
        parts = matrix(noise, 3, shrink)
        ratio = held_to(parts, schema(UNITS[unit], measure), pairs, rows, measure=measure)
        assert 0.2 < ratio <= 1 + 1e-9


@pytest.mark.parametrize("unit", UNITS)
def test_no_neighbours_move_products_of_four_farther_than_derived(unit):
    """Every product once; the same product in two parts counts as two matrices."""
    where = schema(UNITS[unit])
    rows = pool(where, of_four(laplace, 3))
    pairs = neighbours(where, len(rows), most=2000)
    for noise, measure in ((laplace, "epsilon"), (laplace, "rho"), (gaussian, "rho")):
        parts = of_four(noise, 3)
        found = schema(UNITS[unit], measure)
        assert 0.2 < held_to(parts, found, pairs, rows, measure=measure) <= 1 + 1e-9
        again = replace(parts[2], request=replace(parts[2].request, pairs=((0, 2),)))
        assert held_to([*parts, again], found, pairs, rows, measure=measure) <= 1 + 1e-9


def test_a_product_that_is_named_twice_is_refused():
    """x·x² and x²·x are one entry; so are x·x, and the constant times x²."""
    values = (ONE, X_CENTRED, Mul(X_CENTRED, X_CENTRED))
    ball = Shrink((0, 1, 0), (2**19,), 4)
    for twice in (((1, 2), (2, 1)), ((1, 1), (0, 2))):
        with pytest.raises(PlanError, match="each of them once"):
            loss(
                [gaussian(CrossMoments(values, twice, None, ball), 3, 2)],
                schema(UNITS["change a row"], "rho"),
            )


def test_a_matrix_without_missing_values_reaches_its_norm():
    """A tenth less of the squared Frobenius norm would be too little: two corners of the box need nearly all of it."""
    where = schema(UNITS["change a row"], "rho", missing=False)
    values, whole = (ONE, CENTRED, X_CENTRED), ((0, 1), (0, 2), (1, 2))
    parts = [
        gaussian(CrossMoments(values, whole), 3, 3),
        gaussian(CrossMoments(values, ((1, 1), (2, 2))), 6, 2),
    ]
    rows = pool(where, parts)
    ratio = held_to(parts, where, neighbours(where, len(rows), most=2000), rows, measure="rho")
    assert 0.9 < ratio <= 1 + 1e-9


CAPS = {
    "one row of each": [laplace(Total(C, cap(1)), 3)],
    "two rows of each": [
        laplace(Total(CENTRED, And(cap(2), KNOWN_X)), 4),
        laplace(Total(ONE, And(cap(2), KNOWN_X)), 2),
    ],
    "the smaller of two caps": [laplace(Total(ONE, And(cap(2), And(LOW, cap(1))), BY_H), 2)],
    "caps within caps": [laplace(Total(ONE, None if rows == 3 else cap(rows)), 3) for rows in (1, 2, 3)],
    "caps apart": [laplace(Total(ONE, And(LOW, cap(1))), 3), laplace(Total(ONE, And(Not(LOW), cap(2))), 3)],
    "two numbers of one row": [
        laplace(Total(one.request.value, And(cap(1), KNOWN_X)), one.mechanism.scale)
        for one in pair_of(laplace)
    ],
    "a matrix of two rows": [
        laplace(CrossMoments(one.request.values, one.request.pairs, cap(2)), one.mechanism.scale, one.cells)
        for one in matrix(laplace, 3)
    ],
    "a rank or something else": [laplace(Total(ONE, Or(cap(1), LOW)), 3)],
    "a rank as any other number": [laplace(Total(Col(RANK), Cmp("==", Col(RANK), Lit(1))), 3)],
}
"""Sums over fewer rows of a unit than are declared."""
THREE = {
    "add a unit of three rows": PrivacyUnit("add-remove", unit="who", max_rows=3),
    "change a unit of three rows": PrivacyUnit("change-one", unit="who", max_rows=3, units=3),
}


@pytest.mark.parametrize("unit", THREE)
@pytest.mark.parametrize("name", CAPS)
def test_no_neighbours_move_capped_sums_farther_than_derived(name, unit):
    """Whichever of a person's three rows come first: the loss is that of as many rows as the question keeps, and nearly needed."""
    where = schema(THREE[unit])
    rows = pool(where, CAPS[name])
    pairs = ordered(where, len(rows), most=4000)
    for parts, measure in ((CAPS[name], "epsilon"), (CAPS[name], "rho"), (with_gaussian(CAPS[name]), "rho")):
        ratio = held_to(parts, schema(THREE[unit], measure), pairs, rows, measure=measure)
        assert ratio <= 1 + 1e-9
        assert ratio > CAPPED.get(name, 0.91 if measure == "epsilon" else 0.7), (measure, ratio)


CAPPED = {
    "caps apart": 0.5,
    "two numbers of one row": 0.3,
    "a matrix of two rows": 0.2,
    "a rank as any other number": 0.01,
}
"""How near a pair comes at least: frames apart are priced at the larger of their caps."""


@pytest.mark.parametrize("rows", [0, 4, -1, 2**70])
def test_a_cap_beyond_the_declared_rows_is_refused(rows):
    """Above the declared maximum, and below one row, no loss is derived."""
    for one in (Total(ONE, cap(rows)), Total(ONE, And(LOW, cap(rows)))):
        with pytest.raises(PlanError, match="keeps 1 to 3 rows of each who, as max_rows_per_unit declares"):
            loss([laplace(one, 3)], schema(THREE["add a unit of three rows"]))


def test_selections_of_fewer_rows_cost_as_many_times_less():
    """A quantile, a pick, a choice, a placement and sums in a range of one row cost a third of three."""
    where = schema(THREE["add a unit of three rows"])
    for one in SELECTIONS.values():
        kept = one.request.where
        first = replace(
            one, request=replace(one.request, where=cap(1) if kept is None else And(kept, cap(1)))
        )
        costs = [[event.amount for event in loss([part], where).events] for part in (first, one)]
        assert [3 * amount for amount in costs[0]] == costs[1]


SELECTIONS = {
    "a quantile": Measured(ValueCounts(C), QuantileSelection(F(3), F(1, 2), 0, 2, F(1)), 1),
    "a quantile by groups": Measured(
        ValueCounts(C, None, BY_H), QuantileSelection(F(3), F(9, 10), 0, 2, F(1)), 2
    ),
    "a limit of a filtered quantile": Measured(
        ValueCounts(X, KNOWN_X), QuantileSelection(F(3), F(1, 4), -2, 2, F(2)), 1
    ),
    "a flipped quantile": Measured(ValueCounts(C), QuantileFlip(F(3), F(1, 2), 0, 2, F(1)), 1),
    "a flipped quantile by groups": Measured(
        ValueCounts(C, None, BY_H), QuantileFlip(F(3), F(9, 10), 0, 2, F(1)), 2
    ),
    "a flipped limit of a filtered quantile": Measured(
        ValueCounts(X, KNOWN_X), QuantileFlip(F(3), F(1, 4), -2, 2, F(2)), 1
    ),
    "a pick": Measured(Total(ONE, None, (Key(C, 3),)), PermuteAndFlip(F(2), 3, 1, 1), 1),
    "picks by groups": Measured(Total(ONE, None, (*BY_G, Key(C, 3))), PermuteAndFlip(F(2), 3, 2, 3), 4),
    "a pick of what can be missing": Measured(Total(ONE, None, BY_G), PermuteAndFlip(F(2), 2, 1, 1), 1),
    "a choice": Measured(
        CrossMoments((ONE, C, Sub(H, Lit(1))), ((0, 1), (0, 2))), PermuteAndFlip(F(2), 2, 1, 1), 1
    ),
    "a choice among rows that leave": Measured(
        CrossMoments((ONE, X, H), ((0, 1), (0, 2)), FILTER), PermuteAndFlip(F(2), 2, 1, 1), 1
    ),
    "a placement": Measured(Total(ONE, None, (Key(C, 3),)), KSExponential(F(2), 2, (1, 1, 1), 1, F(1)), 4),
    "placements by groups": Measured(
        Total(ONE, None, (*BY_H, Key(C, 3))), KSExponential(F(2), 2, (1, 2, 1), 1), 6
    ),
    "sums in a range": Measured(
        ValueCounts(C),
        LocatedSums(
            selection(F(2), F(1, 2), 2, F(1)),
            selection(F(2), F(1), len(radii(2)) - 1, F(1), 0.4),
            0,
            F(4),
            F(4),
            F(4),
            None,
        ),
        5,
    ),
    "sums in a range by groups": Measured(
        ValueCounts(X, KNOWN_X, BY_H),
        LocatedSums(
            selection(F(2), F(1, 2), 2, F(1)),
            selection(F(2), F(1), len(radii(2)) - 1, F(1), 0.4),
            1,
            F(4),
            F(4),
            F(4),
            F(3),
        ),
        12,
    ),
}
"""Selections whose mechanisms state any factor: the loss is that of the unit."""


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", SELECTIONS)
def test_no_neighbours_change_a_selection_more_than_derived(name, unit):
    """Whatever factor a mechanism states, what its law loses on tiny neighbours is at most the derived loss."""
    one = SELECTIONS[name]
    for measure in ("epsilon", "rho"):
        where = schema(UNITS[unit], measure)
        rows = pool(where, [one])
        common = common_rows(where, len(rows), 8)
        if where.unit.rows is not None:
            common = [tuple(range(3)), (0, 0, 0), (len(rows) - 1,) * 3]
        pairs = neighbours(where, len(rows), most=600, common=common)
        ratio = held_to([one], where, pairs, rows, measure=measure)
        assert 0.05 < ratio <= 1 + 1e-9


def test_picks_and_quantiles_reach_what_is_derived():
    """With many rows in common some pair needs nearly all of it: a tenth less would be too little."""
    where = schema(UNITS["add a row"])
    for name in ("a pick", "a choice", "a pick of what can be missing", "a flipped quantile"):
        rows = pool(where, [SELECTIONS[name]])
        common = [(at,) * 30 for at in range(len(rows))]
        pairs = neighbours(where, len(rows), most=1000, common=common)
        assert held_to([SELECTIONS[name]], where, pairs, rows, measure="epsilon") > 0.9


@pytest.mark.parametrize("unit", UNITS)
def test_no_neighbours_show_a_value_more_often_than_derived(unit):
    """The δ of thresholded counts is that of the schema's unit, whatever number of rows the mechanism states."""
    where = schema(UNITS[unit], "delta")
    one = Measured(ValueCounts(X), Thresholding(F(2), 4, 1), 1)
    rows = pool(where, [one])
    (event,) = loss([one], where).events
    pairs = neighbours(where, len(rows), most=1000, common=common_rows(where, len(rows), 6))
    found = shown(one, event.amount, rows, pairs, (0, 2)).max()
    assert 0.9 * float(event.delta) < found <= float(event.delta) * (1 + 1e-9)


# Membership, and what is no measurement


@pytest.mark.parametrize(
    ("request_", "private"),
    [
        (Total(C), False),
        (Total(X), False),
        (Total(C, FILTER), True),
        (Total(C, None, BY_H), False),
        (Total(C, None, BY_G), True),
        (Total(C, None, PARTLY), True),
        (Total(C, None, SEARCHED), False),
        (ValueCounts(C), False),
        (ValueCounts(X), True),
        (CrossMoments((ONE, C), ((0, 1),)), False),
        (CrossMoments((ONE, X), ((0, 1),)), True),
        (Total(Case(Cmp("<", X, Lit(1)), Lit(1), Lit(0)), None, (Key(Case(Cmp("<", X, Lit(1)), ONE, Lit(0)), 2),)), True),
        (Total(C, None, (Key(Case(Known(X), ONE, Lit(0)), 2),)), False),
    ],
)  # fmt: skip
def test_membership_is_derived_from_filter_values_and_keys(request_, private):
    """A row can come or go unseen where a filter, a missing value or a partial key leaves it out, and nowhere else."""
    assert Facts.of(schema(UNITS["change a row"])).private(request_) is private
    assert Facts.of(schema(UNITS["change a unit of two rows"])).private(request_)


def test_a_value_that_the_filter_knows_is_not_missing():
    """Known(x) anywhere at the top of the filter says so for everything that is made of x; beside an or it does not."""
    facts = Facts.of(schema(UNITS["change a row"]))
    assert facts.missing(X_CENTRED, None)
    assert not facts.missing(X_CENTRED, And(FILTER, KNOWN_X))
    assert facts.range_of(Sub(X, Lit(5)), None) == (-5, 0)
    assert facts.range_of(Sub(X, Lit(5)), KNOWN_X) == (-5, -3)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "one",
    [
        laplace(Total(Mul(Lit(0), C)), 1),
        gaussian(Total(Lit(0)), 1),
        laplace(Total(Mul(Lit(0), C), None, BY_H), 1),
        laplace(CrossMoments((ONE, Mul(Lit(0), C)), ((0, 1),)), 1, 1),
        Measured(CrossMoments((ONE, Lit(0), Lit(0)), ((0, 1), (0, 2))), PermuteAndFlip(F(1), 2), 1),
    ],
    ids=str,
)
def test_zero_sensitivity_is_refused_by_the_loss(one, unit):
    """A constant would be an exact public number at no loss."""
    with pytest.raises(PlanError, match="constant"):
        loss([one], schema(UNITS[unit]))


def test_a_public_number_of_rows_is_refused_by_the_loss():
    """Under change-one a count that every row is in moves by nothing: as a sum, and as an entry of a matrix."""
    where = schema(UNITS["change a row"])
    for one in (laplace(Total(ONE), 1), laplace(CrossMoments((ONE, C), ((0, 0),)), 1, 1)):
        with pytest.raises(PlanError, match="constant"):
            loss([one], where)
        assert loss([one], schema(UNITS["add a row"])).total.amount == 1


NONE_OF_THE_KINDS = {
    "noise on counts of values": laplace(ValueCounts(C), 1),
    "a quantile of sums": Measured(Total(C), QuantileSelection(F(3), F(1, 2), 0, 2, F(1)), 1),
    "no mechanism": Measured(Total(C), None, 1),
    "another number of cells": laplace(Total(ONE, None, BY_H), 1, 3),
    "a grid that is too short": Measured(ValueCounts(C), QuantileSelection(F(3), F(1, 2), 0, 1, F(1)), 1),
    "an offset without end": Measured(ValueCounts(C), QuantileSelection(F(3), F(1, 2), 2**60, 2, F(1)), 1),
    "a matrix without its constant": gaussian(CrossMoments((C, X), ((0, 1),)), 1, 1),
    "a matrix without entries": gaussian(CrossMoments((ONE, C), ()), 1, 0),
    "an entry twice": gaussian(CrossMoments((ONE, C), ((0, 1), (1, 0))), 1, 2),
    "a value out of its half range": gaussian(
        CrossMoments((ONE, Mul(Lit(2), C)), ((0, 1),), None, Shrink((0, 1), (2**19,), 4)), 1, 1
    ),
    "a pick over other cells": Measured(Total(ONE, None, (Key(C, 3),)), PermuteAndFlip(F(2), 2), 1),
    "a pick of too many": Measured(Total(ONE, None, (Key(C, 3),)), PermuteAndFlip(F(2), 3, 2), 1),
    "a choice among products": Measured(
        CrossMoments((ONE, C, X), ((0, 1), (1, 2))), PermuteAndFlip(F(2), 2), 1
    ),
    "a placement of sums": Measured(Total(C, None, (Key(C, 3),)), KSExponential(F(2), 2, (1, 1, 1)), 3),
    "a placement in other cells": Measured(Total(ONE, None, (Key(C, 3),)), KSExponential(F(2), 2, (1, 1)), 2),
    "sums of labels beside their counts": Measured(LabelSums((C,), (X,)), Thresholding(F(2), 4, 1), 1),
    "frequent values by groups": Measured(ValueCounts(C, None, BY_H), Thresholding(F(2), 4, 1), 1),
}


@pytest.mark.parametrize("name", NONE_OF_THE_KINDS)
def test_what_is_no_measurement_is_refused(name):
    """A request and a mechanism that are of no kind, or of one out of its range."""
    for unit in UNITS.values():
        with pytest.raises(DpnbError):
            loss([NONE_OF_THE_KINDS[name]], schema(unit, "delta"))


def test_nothing_counts_up_to_a_size_that_a_message_states():
    """A pick of many more values than the request has is refused by the request: no list as long as its size is made."""
    asked = Measured(CrossMoments((ONE, C, X), ((0, 1), (0, 2))), PermuteAndFlip(F(2), 10**6), 0)
    where = schema(UNITS["add a row"])
    tracemalloc.start()
    try:
        with pytest.raises(PlanError, match="each candidate"):
            loss([asked], where)
        assert tracemalloc.get_traced_memory()[1] < 10**7
    finally:
        tracemalloc.stop()


def test_frames_are_priced_at_one_move_and_others_add():
    """The count is free beside the sum of the same rows; a count of other rows is not."""
    where = schema(UNITS["change a row"], missing=True)
    paid = laplace(Total(CENTRED, KNOWN_X), 4)
    same, other = laplace(Total(ONE, KNOWN_X), 4), laplace(Total(ONE, FILTER), 4)
    alone = [loss([one], where).total for one in (paid, same, other)]
    together = loss([paid, same], where)
    assert together.total == alone[0]
    assert together.alone == (alone[0], alone[1])
    assert len(together.events) == 1
    apart = loss([paid, other], where)
    assert apart.total == alone[0] + alone[2]
    assert len(apart.events) == 2


@pytest.mark.parametrize("unit", ["change a row", "add a row", "change a unit of two rows"])
def test_a_factor_is_free_beside_its_product(unit):
    """W·R/ε and 2W/ε cost ε together, and in ρ W²R²/2ρ and 2W²/3ρ cost ρ; a change of group is two entries."""
    where, twice = schema(UNITS[unit]), UNITS[unit].max_rows
    sums = [laplace(Total(Mul(C, SIGN)), 4 * twice), laplace(Total(C), 4 * twice)]
    assert loss(sums, where).total.amount == 1
    groups = [Measured(Total(one.request.value, None, BY_G), one.mechanism, 2) for one in sums]
    assert loss(groups, where).total.amount == (2 if where.unit.adjacency == "change-one" else 1)
    squared = [gaussian(Total(Mul(C, SIGN)), 8 * twice**2), gaussian(Total(C), F(8, 3) * twice**2)]
    assert loss(squared, schema(UNITS[unit], "rho")).total.amount == 1


def test_a_threshold_is_priced_for_the_unit_of_the_schema():
    """A mechanism that states one row for a unit of two is charged ε and δ of two, and refused below three."""
    where = schema(UNITS["add a unit of two rows"], "delta")
    for asked in (ValueCounts(C), LabelSums((C, X))):
        (event,) = loss([Measured(asked, Thresholding(F(2), 4, 1), 1)], where).events
        assert (event.amount, event.delta) == (1, Thresholding(F(2), 4, 2).delta)
    with pytest.raises(PlanError):
        loss([Measured(ValueCounts(C), Thresholding(F(2), 2, 1), 1)], where)


def test_every_proof_names_what_enumerates_it():
    """Each kind of measurement says in its docstring which test holds its bound against all tiny neighbours, and there is one of that name."""
    files = (Path(__file__).parents[1] / folder for folder in ("measurements", "mechanisms", "statistics"))
    found = {
        one
        for folder in files
        for path in folder.glob("test_*.py")
        for one in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
    }
    kinds = {one.name for one in pkgutil.iter_modules(measurements.__path__)}
    modules = [
        import_module(f"{measurements.__name__}.{kind}")
        for kind in kinds - {"facts", "derivation", "selections"}
    ]
    proofs = {one.__name__: one.__doc__ for one in (*modules, *selections.ALONE.values())}
    assert len(proofs) > 10
    for name, proof in proofs.items():
        assert (named := set(re.findall("``(test_\\w+)``", proof.partition("*Enumerated*")[2]))), name
        assert named <= found, name
