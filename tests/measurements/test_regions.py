"""Which filters are apart, against every row that there can be; and what that saves."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from functools import reduce

import pytest

from dpnb.planner import Question
from dpnb.planner import expression as e
from dpnb.planner.check import keeps_nobody
from dpnb.trusted.aggregate.algebra import Add, And, Bounds, Cmp, Col, Key, Known, Lit, Not, Or, Total, TrueP
from dpnb.trusted.aggregate.request_record import written_requests
from dpnb.trusted.measurements import Facts, Measurement, code_ranges, events
from dpnb.trusted.measurements.regions import Regions, apart
from dpnb.trusted.mechanisms import DiscreteLaplace
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.query.limits import limited
from dpnb.trusted.schema import Column, Schema
from tests.contracts.derived_loss import loss
from tests.fuzz.algebra import Algebra, divisions
from tests.fuzz.pairs import Rows
from tests.measurements.test_derived_loss import LOW, THIRDS, gaussian, laplace
from tests.measurements.tiny import UNITS, schema
from tests.planner.test_price import priced

WHERE = schema(UNITS["add a row"])
RANGES = code_ranges(WHERE)
X, C, G = Col("x"), Col("c"), Col("g")


def every_row():
    """A table of every row of the tiny schema."""
    codes = ([*range(column.size), *([None] if column.drops else [])] for column in WHERE.columns)
    rows = Rows.of(WHERE, [list(row) for row in itertools.product(*codes)])
    return rows.stack([[*range(len(rows))]])


TABLE = every_row()


def kept(where):
    """The rows that a filter keeps, by the reference."""
    return {at for at, held in enumerate(TABLE.evaluate.true(where)) if held}


def said_apart(one, other):
    regions = Regions(RANGES)
    return apart(regions.of(one), regions.of(other))


def conditions(rng):
    """Two conditions, mostly over the codes of one column."""
    drawn, name = Algebra(rng, RANGES), rng.choice(list(RANGES))

    def made(depth):
        if depth == 0:
            return rng.choice([*divisions(name, RANGES[name][1]), drawn._predicate(1)])
        a, b = made(depth - 1), made(rng.randrange(depth))
        return rng.choice([And(a, b), Or(a, b), Not(a)])

    return made(rng.choice([0, 1, 2, 3])), made(rng.choice([0, 1, 2]))


def test_no_row_is_in_two_random_filters_that_are_said_to_be_apart():
    """Conditions over columns, expressions, NULL and all of them joined; many pairs are found to be apart."""
    found = 0
    for seed in range(1500):
        one, other = conditions(random.Random(seed))
        for a, b in ((one, other), (one, Not(one)), (And(one, other), Not(other))):
            if said_apart(a, b):
                found += 1
                assert not kept(a) & kept(b), (a, b)
    assert found > 200


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LOW, Not(LOW)),
        (Cmp("<", X, Lit(1)), Cmp("<", Lit(1), X)),
        (Cmp("<=", X, Lit(1)), Cmp("<=", Lit(2), X)),
        (Or(THIRDS[0], THIRDS[2]), THIRDS[1]),
        (And(THIRDS[0], Cmp("==", G, Lit(1))), And(Cmp("==", G, Lit(0)), THIRDS[0])),
        (Not(And(Not(THIRDS[0]), Not(THIRDS[1]))), THIRDS[2]),
        (And(Cmp("<", Col("x"), Col("c")), THIRDS[0]), THIRDS[1]),
        (Cmp("==", C, Lit(7)), Cmp("==", C, Lit(7))),
    ],
)
def test_conditions_on_one_column_tell(one, other):
    assert said_apart(one, other)
    assert said_apart(other, one)
    assert not kept(one) & kept(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Known(X), Not(Known(X))),
        (Or(TrueP(), THIRDS[0]), THIRDS[1]),
        (Or(THIRDS[0], Cmp("==", G, Lit(0))), THIRDS[1]),
        (Cmp("<", Lit(0), Col("x")), Cmp("<", Col("c"), Lit(1))),
        (None, THIRDS[0]),
        (Not(Cmp("<", X, Col("c"))), Cmp("<", X, Col("c"))),
    ],
)
def test_what_is_not_said_of_one_column_tells_nothing(one, other):
    """It may be so all the same: what is not proved is priced as if a row could be in both."""
    assert not said_apart(one, other)


def below(number):
    """A filter that nobody holds but who is given it."""
    return Cmp("<", C, Lit(number % 3))


READERS = {
    "regions": (lambda: Regions(RANGES), lambda found, number: found.of(below(number))),
    "ranges": (lambda: Bounds(RANGES), lambda found, number: found(Add(C, Lit(number % 7)))),
    "excluded": (
        lambda: Facts.of(WHERE),
        lambda found, number: found.excluded(Total(C, None, (Key(C, 1 + number % 4),))),
    ),
    "what is missing": (
        lambda: Facts.of(WHERE),
        lambda found, number: found.missing(X, Known(X) if number % 2 else below(0)),
    ),
}
"""What remembers what it read of an object by its id, and a question about an object that is gone with the answer."""


@pytest.mark.parametrize(("made", "asked"), READERS.values(), ids=READERS)
def test_what_is_remembered_by_an_id_is_never_that_of_another_object(made, asked):
    """The seen: 1,800 of 2,000 temporary filters got another one's region; a wrong one would charge too little."""
    shared = made()
    wrong = [number for number in range(2000) if asked(shared, number) != asked(made(), number)]
    assert wrong == []


def test_requests_of_a_moment_are_written_and_counted_as_themselves():
    """Given one after the other, each gone before the next is made."""

    def made():
        return (Total(Add(C, Lit(number % 7))) for number in range(200))

    assert written_requests(made()) == written_requests(list(made()))
    assert limited(map(laplace, made(), itertools.repeat(3))) == limited([laplace(one, 3) for one in made()])


def test_a_filter_of_any_length_is_read_quickly():
    """What stands in many places is read once, else this would never end; a set of many pieces bounds nothing."""
    doubled = Cmp("==", X, Lit(0))
    for _ in range(200):
        doubled = And(doubled, doubled)
    assert Regions(RANGES)(doubled) == ("x", ((0, 0),))
    scattered = Cmp("==", X, Lit(0))
    for at in range(1, 100):
        scattered = Or(scattered, Cmp("==", X, Lit(2 * at)))
    assert Regions({"x": (0, 1000)})(scattered) is None


COUNTS = [Total(Lit(1), where) for where in THIRDS]


@pytest.mark.parametrize(
    ("unit", "epsilon"), [("add a row", Fraction(1, 4)), ("change a row", Fraction(1, 2))]
)
def test_counts_of_three_groups_cost_one_of_them_or_two_where_a_person_may_change(unit, epsilon):
    found = loss([laplace(one, 4) for one in COUNTS], schema(UNITS[unit]))
    assert found.total.amount == epsilon
    assert len(found.events) == 1


@pytest.mark.parametrize(("unit", "rho"), [("add a row", Fraction(1, 8)), ("change a row", Fraction(1, 4))])
def test_the_same_in_rho(unit, rho):
    assert loss([gaussian(one, 4) for one in COUNTS], schema(UNITS[unit], "rho")).total.amount == rho


def test_a_unit_of_two_rows_may_be_in_two_groups():
    found = loss([laplace(one, 4) for one in COUNTS], schema(UNITS["add a unit of two rows"]))
    assert found.total.amount == Fraction(2, 4)


def test_noise_of_two_families_is_not_priced_together():
    where = schema(UNITS["add a row"], "rho")
    parts = [laplace(COUNTS[0], 4), gaussian(COUNTS[1], 4)]
    alone = sum(loss([one], where).total.amount for one in parts)
    assert loss(parts, where).total.amount == alone


def test_of_very_many_filters_each_is_priced_by_itself():
    """So that a plan is priced in time: a kernel sends them in groups."""
    where = schema(UNITS["add a row"])
    parts = [laplace(Total(Lit(1), And(THIRDS[at % 3], Cmp("<", X, Lit(at)))), 4) for at in range(40)]
    assert loss(parts, where).total.amount == 40 * Fraction(1, 4)


def wide(unit=None):
    """A column of a thousand codes, and six small ones."""
    columns = (
        Column.integer("x", 0, 1000, missing=0),
        *(Column.integer(f"k{i}", 0, 2, missing=0) for i in range(6)),
    )
    return Schema("p", "P", columns, unit or PrivacyUnit("add-remove"), Budget.from_toml({"epsilon": 10**6}))


@pytest.mark.parametrize("many", [63, 64, 65])
def test_a_filter_that_leaves_out_many_codes_is_read_planned_and_priced(many):
    """~x.isin([1, 3, …]), of which the pieces are one more than its codes: what has too many bounds nothing."""
    scattered = Not(reduce(Or, (Cmp("==", X, Lit(2 * at + 1)) for at in range(many))))
    assert Regions({"x": (0, 1000)}).of(scattered).keys() == ({"x"} if many < 64 else set())
    assert not keeps_nobody(scattered, wide())
    parts = [
        Measurement("n", Total(Lit(1), where), DiscreteLaplace(Fraction(2)), 1)
        for where in (Cmp("==", X, Lit(1)), scattered)
    ]
    assert loss(parts, wide()).total.amount == (Fraction(1, 2) if many < 64 else 1)
    left_out = e.Invert(e.IsIn(e.Ref("x"), tuple(e.Const(2 * at + 1) for at in range(many))))
    assert priced([Question("p", "count", None, left_out)], wide(), epsilon=1).loss.amount == 1


def test_a_frame_of_many_ways_and_parts_is_priced_by_its_keys():
    """64 ways, times more parts than are quickly compared: each set of keys for itself, dearer and quick; few parts together."""
    unit = PrivacyUnit("change-one", unit="who", max_rows=3, units=50)

    def parts(many):
        return [
            Measurement(
                "s",
                Total(Add(X, Lit(at)), Cmp("==", X, Lit(1)), (Key(Col(f"k{at % 6}"), 3),)),
                DiscreteLaplace(Fraction(3 ** (150 - at % 7) + 2 * at, 2**230 - 2 * at - 1)),
                3,
            )
            for at in range(many)
        ]

    facts = Facts.of(wide(unit))
    assert [len(events(parts(many), facts)) for many in (60, 64, 65, 400)] == [1, 1, 6, 6]
