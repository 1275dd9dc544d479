"""Wrong matrices of moments: brute force over tiny neighbouring tables finds a pair that costs more than was paid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpnb.statistics import moments
from dpnb.statistics.sensitivity import ENTER, WITHIN
from dpnb.trusted.aggregate import reference
from dpnb.trusted.mechanisms import DiscreteGaussian
from tests.contracts.statistic import priced, worst_loss
from tests.mutants.sensitivity import ADDED, ROW, UNIT
from tests.mutants.table import Mutant, replaced
from tests.statistics.test_moments import ASKED, FEW, ROWS, tiny


def costs_at_most_one(asked: str, unit: Any, kind: str = "rho", rows: Any = None) -> Callable[[Any], None]:
    """Asked for a loss of 1, the matrix costs no tiny neighbours more than 1 under the noise that pricing chose."""
    held = rows or (ROWS if unit.max_rows == 1 else FEW)

    def check(_: Any) -> None:
        found = priced(ASKED[asked], tiny(unit, measure=kind), kind=kind)
        assert worst_loss(found, unit, held) <= 1

    return check


def quarter_off_the_diagonal(real: Any) -> Any:
    """Give sums and products half of their share of the Frobenius norm."""

    def gaussian(moves: Any, share: Any, size: Any, found: Any) -> Any:
        mechanisms, loss = real(moves, share, size, found)
        factors = [1 if block.times == 1 else Fraction(1, 2) for block in found]
        return [DiscreteGaussian(m.variance * f) for m, f in zip(mechanisms, factors, strict=True)], loss

    return gaussian


def no_root_two(real: Any) -> Any:
    """Price a row that changes as one that comes."""
    return lambda columns, square, kind, order=2: (
        real(columns, square, kind, order) / (2 if kind == WITHIN else 1)
    )


def away_from_zero(real: Any) -> Any:
    """Shrink a row by one step too few: it ends outside the ball."""

    def shrink(setting: Any) -> Any:
        found = real(setting)
        return None if found is None else replace(found, limits=found.limits[1:], steps=found.steps)

    return shrink


def fewer_columns(real: Any) -> Any:
    """Price a matrix as that of one column less."""
    return lambda columns, square, kind, order=2: real(columns - 1, square, kind, order)


def as_of_two(real: Any) -> Any:
    """Price products of four by the norm of products of two."""
    return lambda columns, square, kind, order=2: real(columns, square, kind)


def of_a_row_that_comes(real: Any) -> Any:
    """Price a changed row of products of four as one that comes."""
    return lambda columns, square, kind, order=2: real(columns, square, ENTER if order == 4 else kind, order)


def once_too_often(real: Any) -> Any:
    """Give each entry the variance of one that stands in the tensor half as often again."""

    def gaussian(moves: Any, share: Any, size: Any, found: Any) -> Any:
        return real(moves, share, size, tuple(replace(one, times=2 * one.times) for one in found))

    return gaussian


def left_where_they_are(real: Any) -> Any:
    """Multiply the columns as they were before their row was moved."""

    def shrunk(values: Any, request: Any) -> Any:
        places = enumerate(zip(values, real(values, request), strict=True))
        return [old if len(request.factors(place)) > 1 else new for place, (old, new) in places]

    return shrunk


OUTSIDE = [(0, 0, 0), (6, 4, 0), (0, 4, 0), (6, 0, 0), (3, 1, 0)]


def one_row(real: Any) -> Any:
    """Price a unit of several rows as one row."""
    return lambda moves, share, size, found: real(replace(moves, rows=1), share, size, found)


MUTANTS = {
    "moments: products of four priced as products of two": Mutant(
        "The norm of the matrix is taken for that of the tensor.",
        replaced(moments, "l2_squared", as_of_two),
        costs_at_most_one("products of four in a ball", ADDED),
    ),
    "moments: products of four in L1 priced as products of two": Mutant(
        "The L1 of the triangle is taken for that of the tensor's entries.",
        replaced(moments, "l1", as_of_two),
        costs_at_most_one("products of four in a ball", ADDED, "epsilon"),
    ),
    "moments: a changed row of products of four as one that comes": Mutant(
        "The root of two is lost.",
        replaced(moments, "l2_squared", of_a_row_that_comes),
        costs_at_most_one("products of one column in a ball", ROW, rows=OUTSIDE),
    ),
    "moments: entries of the tensor twice as often as they stand in it": Mutant(
        "Half of each variance.",
        replaced(moments, "_gaussian", once_too_often),
        costs_at_most_one("products of four in a ball", ADDED, rows=OUTSIDE),
    ),
    "moments: products of rows that were not moved": Mutant(
        "Products are taken before the ball.",
        replaced(reference, "shrunk", left_where_they_are),
        costs_at_most_one("products of four in a ball", ADDED, rows=OUTSIDE),
    ),
    "moments: a quarter off the diagonal": Mutant(
        "Off the diagonal a quarter of the variance instead of half.",
        replaced(moments, "_gaussian", quarter_off_the_diagonal),
        costs_at_most_one("one column", ROW),
    ),
    "moments: root two lost": Mutant(
        "The bound of a row that comes is used for a row that changes.",
        replaced(moments, "l2_squared", no_root_two),
        costs_at_most_one("one column", ROW),
    ),
    "moments: rows outside the ball": Mutant(
        "Priced for the ball, rows are left where they are.",
        replaced(moments, "shrink", lambda _: lambda setting: None),
        costs_at_most_one("in a ball", ADDED),
    ),
    "moments: the first step of the ball forgotten": Mutant(
        "Each row is moved one step too little.",
        replaced(moments, "shrink", away_from_zero),
        costs_at_most_one("in a ball", ADDED, rows=[(4, 4, 0), (6, 2, 0), (3, 4, 0), (6, 4, 0)]),
    ),
    "moments: a unit of two rows as one": Mutant(
        "The factor k squared is dropped.",
        replaced(moments, "_gaussian", one_row),
        costs_at_most_one("one column", UNIT),
    ),
    "moments: a unit of two rows as one, L1": Mutant(
        "The factor k is dropped.",
        replaced(moments, "_laplace", one_row),
        costs_at_most_one("one column", UNIT, "epsilon"),
    ),
    "moments: a column forgotten": Mutant(
        "The bound is that of one column less.",
        replaced(moments, "l1", fewer_columns),
        costs_at_most_one("one column", ADDED, "epsilon"),
    ),
}
