"""Wrong matrices of moments: brute force over tiny neighbouring tables finds a pair that costs more than was paid."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpnb.statistics import moment_integers
from dpnb.trusted.aggregate import reference
from dpnb.trusted.measurements import box, matrix
from dpnb.trusted.measurements.facts import Facts
from dpnb.trusted.measurements.sums import ENTER, WITHIN
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


def more_off_the_diagonal(monkeypatch: Any) -> None:
    """Count an entry off the diagonal four times, where noise is chosen and where it is charged."""
    many = lambda real: (
        lambda entry, order: real(entry, order) * (2 if len(set(entry)) > 1 or len(entry) == 1 else 1)
    )
    for owner in (moment_integers, matrix):
        replaced(owner, "multiplicity", many)(monkeypatch)


def no_root_two(real: Any) -> Any:
    """Price a row that changes as one that comes."""
    return lambda columns, square, kind, order=2: (
        real(columns, square, kind, order) / (2 if kind == WITHIN else 1)
    )


def fewer_columns(real: Any) -> Any:
    """Price a matrix as that of one column less."""
    return lambda columns, square, kind, order=2: real(columns - 1, square, kind, order)


def as_of_two(real: Any) -> Any:
    """Price products of four by the norm of products of two."""
    return lambda columns, square, kind, order=2: real(columns, square, kind)


def of_a_row_that_comes(real: Any) -> Any:
    """Price a changed row of products of four as one that comes."""
    return lambda columns, square, kind, order=2: real(columns, square, ENTER if order == 4 else kind, order)


def left_where_they_are(real: Any) -> Any:
    """Multiply the columns as they were before their row was moved."""

    def shrunk(values: Any, request: Any) -> Any:
        places = enumerate(zip(values, real(values, request), strict=True))
        return [old if len(request.factors(place)) > 1 else new for place, (old, new) in places]

    return shrunk


OUTSIDE = [(0, 0, 0), (6, 4, 0), (0, 4, 0), (6, 0, 0), (3, 1, 0)]


ONE_ROW = replaced(Facts, "rows", lambda _: property(lambda self: 1))
"""A unit of several rows is derived as one row."""


MUTANTS = {
    "moments: products of four priced as products of two": Mutant(
        "The norm of the matrix is taken for that of the tensor.",
        replaced(box, "l2_squared", as_of_two),
        costs_at_most_one("products of four in a ball", ADDED),
    ),
    "moments: products of four in L1 priced as products of two": Mutant(
        "The L1 of the triangle is taken for that of the tensor's entries.",
        replaced(box, "l1", as_of_two),
        costs_at_most_one("products of four in a ball", ADDED, "epsilon"),
    ),
    "moments: a changed row of products of four as one that comes": Mutant(
        "The root of two is lost.",
        replaced(box, "l2_squared", of_a_row_that_comes),
        costs_at_most_one("products of one column in a ball", ROW, rows=OUTSIDE),
    ),
    "moments: entries of the tensor twice as often as they stand in it": Mutant(
        "Half of each variance.",
        replaced(matrix, "multiplicity", lambda real: lambda entry, order: 2 * real(entry, order)),
        costs_at_most_one("products of four in a ball", ADDED, rows=OUTSIDE),
    ),
    "moments: products of rows that were not moved": Mutant(
        "Products are taken before the ball.",
        replaced(reference, "shrunk", left_where_they_are),
        costs_at_most_one("products of four in a ball", ADDED, rows=OUTSIDE),
    ),
    "moments: a quarter off the diagonal": Mutant(
        "Off the diagonal a quarter of the variance is said to be enough, instead of half.",
        more_off_the_diagonal,
        costs_at_most_one("one column", ROW),
    ),
    "moments: root two lost": Mutant(
        "The bound of a row that comes is used for a row that changes.",
        replaced(box, "l2_squared", no_root_two),
        costs_at_most_one("one column", ROW),
    ),
    "moments: rows outside the ball": Mutant(
        "The ball is taken to be smaller than the one that rows are moved into.",
        replaced(matrix, "radius_squared", lambda real: lambda request: Fraction(4, 5) * real(request)),
        costs_at_most_one("in a ball", ADDED),
    ),
    "moments: a unit of two rows as one": Mutant(
        "The factor k squared is dropped.",
        ONE_ROW,
        costs_at_most_one("one column", UNIT),
    ),
    "moments: a unit of two rows as one, L1": Mutant(
        "The factor k is dropped.",
        ONE_ROW,
        costs_at_most_one("one column", UNIT, "epsilon"),
    ),
    "moments: a column forgotten": Mutant(
        "The bound is that of one column less.",
        replaced(box, "l1", fewer_columns),
        costs_at_most_one("one column", ADDED, "epsilon"),
    ),
}
