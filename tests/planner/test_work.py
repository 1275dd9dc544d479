"""What a message may ask the curator to do has a limit, which is told before the charge; what people ask is far below it."""

from __future__ import annotations

import contextlib
import faulthandler
import tempfile
from decimal import Decimal
from fractions import Fraction

import pytest

from dpnb.errors import PlanError
from dpnb.planner import expression as e
from dpnb.planner.price import price
from dpnb.planner.question import Question
from dpnb.planner.request import Ask, Item
from dpnb.trusted.query.limits import MOST_WORK, work_of
from dpnb.trusted.schema import Schema
from tests.curator import small

WIDE = {
    "dataset": {"name": "wide", "mode": "guard-rail", "adjacency": "add-remove"},
    "budget": {"rho": 1000},
    "columns": {
        "a": {"type": "integer", "lower": 0, "upper": 499},
        "b": {"type": "integer", "lower": 0, "upper": 399},
        "w": {"type": "integer", "lower": 0, "upper": 99_999},
        "x": {"type": "integer", "lower": 0, "upper": 1_000_000},
        **{f"n{place}": {"type": "number", "lower": 0, "upper": 1} for place in range(32)},
    },
}


@pytest.fixture(scope="module")
def wide() -> Schema:
    """Columns with which one question can have as many cells, levels and products as one may."""
    return small.load(WIDE).schema


@contextlib.contextmanager
def ending(seconds):
    """End the process where a message keeps it busy for so long; no signal would be heard there."""
    with tempfile.TemporaryFile("w") as told:
        faulthandler.dump_traceback_later(seconds, exit=True, file=told)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def priced(schema, *questions, **asked):
    items = tuple(Item(question) for question in questions)
    return price(items, Ask.make(**asked or {"rho": 1}), schema)


X, A, B, W = (e.Ref(name) for name in "xabw")
N = tuple(e.Ref(f"n{place}") for place in range(32))
LEVELS = tuple(Fraction(place, 1001) for place in range(1, 1001))


def over(column, least):
    return e.Compare(">=", column, e.Const(least))


LARGEST = {
    "count": Question("wide", "count", by=(A, B)),
    "mean": Question("wide", "mean", X, by=(A, B)),
    "std": Question("wide", "std", X, by=(A, B)),
    "correlation": Question("wide", "correlation", X, by=(A, B), other=W),
    "value_counts": Question("wide", "value_counts", W),
    "levels": Question("wide", "quantile", X, options=(("q", LEVELS), ("ci", True))),
    "medians": Question("wide", "quantile", X, by=(A, B), options=(("q", Fraction(1, 2)),)),
    "moments": Question("wide", "moments", N[0], others=N[1:]),
    "tree": Question("wide", "tree", X, options=(("levels", 16),)),
    "top_k": Question("wide", "top_k", W, options=(("k", 1_000),)),
    "robust_mean": Question("wide", "robust_mean", X, by=(W,)),
    "isin": Question("wide", "count", where=e.IsIn(X, tuple(range(1000)))),
    "bins": Question("wide", "histogram", X, options=(("bins", 1000),)),
}


@pytest.mark.parametrize("question", LARGEST.values(), ids=LARGEST)
def test_the_largest_single_questions_are_within_the_limit(wide, question):
    """Two hundred thousand cells of a mean, a thousand levels, thirty-two columns: one question of each may be asked."""
    (item,) = priced(wide, question, rho=100).items
    assert 0 < sum(work_of(part) for part in item.parts) <= MOST_WORK


def batch(count, question):
    """Return what makes a thousand questions or so when a test asks for them: as many as that take seconds to be written down."""
    return lambda: [question(place) for place in range(count)]


TOO_MANY = {
    "sixty of a hundred thousand cells": batch(
        60, lambda i: Question("wide", "value_counts", W, where=over(X, i))
    ),
    "medians of everybody": batch(
        2,
        lambda i: Question(
            "wide", "quantile", X, by=(A, B), where=over(X, i), options=(("q", Fraction(1, 2)),)
        ),
    ),
    "a hundred thousand levels": batch(
        100, lambda i: Question("wide", "quantile", X, where=over(X, i), options=(("q", LEVELS),))
    ),
    "a hundred of all moments": batch(
        100, lambda i: Question("wide", "moments", N[0], where=over(X, i), others=N[1:])
    ),
    "a thousand bins, by their number": batch(
        500, lambda i: Question("wide", "histogram", X, where=over(W, i), options=(("bins", 1000),))
    ),
    "every pick": batch(1, lambda _: Question("wide", "top_k", W, options=(("k", 50_000),))),
    "robust means of everybody": batch(1, lambda _: Question("wide", "robust_mean", X, by=(A, B))),
    "samples in five hundred groups": batch(
        1, lambda _: Question("wide", "ks_density", X, by=(A,), options=(("cells", 256), ("points", 2)))
    ),
    "samples by the hundred": batch(
        200,
        lambda i: Question(
            "wide", "ks_density", X, where=over(X, i), options=(("cells", 256), ("points", 2))
        ),
    ),
    "a hundred long lists": batch(
        100,
        lambda i: Question("wide", "count", where=e.BoolOp("and", over(W, i), e.IsIn(X, tuple(range(900))))),
    ),
}


@pytest.mark.parametrize("questions", TOO_MANY.values(), ids=TOO_MANY)
def test_more_than_a_batch_may_ask_is_refused_before_the_charge(wide, questions):
    """The price itself refuses, from public facts, and before it has looked at all of it."""
    with ending(120), pytest.raises(PlanError, match=r"2,000,000.*Nothing was spent"):
        priced(wide, *questions(), rho=100)


def test_frequent_values_count_as_what_may_be_shown():
    """Ten thousand values may pass in each of a thousand questions, whatever the data are: ten million pairs."""
    schema = small.load({**WIDE, "budget": {"epsilon": 1000, "delta": "0.01"}}).schema
    questions = [Question("wide", "frequent_values", W, where=over(X, i)) for i in range(1000)]
    assert len(priced(schema, *questions[:100], epsilon=100).items) == 100
    with ending(120), pytest.raises(PlanError, match=r"2,000,000.*Nothing was spent"):
        priced(schema, *questions, epsilon=100)


def test_finding_what_an_accuracy_costs_is_work(wide):
    """Each question of within= is priced some twenty times: a thousand of them in one message kept the processor for 13 seconds."""
    questions = [Question("wide", "count", where=over(X, place)) for place in range(1000)]
    assert len(priced(wide, *questions, rho=100).items) == 1000
    with ending(120), pytest.raises(PlanError, match=r"within= as 4,000.*Nothing was spent"):
        priced(wide, *questions, within=5, assume_n=1000)
    assert len(priced(wide, *questions[:100], within=5, assume_n=1000).items) == 100


def nested(times, grow):
    expr = X
    for _ in range(times):
        expr = grow(expr)
    return expr


MULTIPLIED = {
    "lists in lists": nested(40, lambda expr: e.IsIn(expr, (0, 1))),
    "ranges in ranges": nested(50, lambda expr: e.Between(expr, 0, 1)),
    "lists of a thousand": nested(3, lambda expr: e.IsIn(expr, tuple(range(1000)))),
    "one expression in its own place": nested(60, lambda expr: e.Where(over(expr, 1), X, expr)),
    "sums of themselves": nested(60, lambda expr: e.BinOp("+", expr, expr)),
}


@pytest.mark.parametrize("expr", MULTIPLIED.values(), ids=MULTIPLIED)
def test_lists_within_lists_are_counted_before_they_are_written_out(wide, expr):
    """Each list copies what is inside it: forty of two values are a million million comparisons, and one short message."""
    with ending(60):
        for question in (Question("wide", "mean", expr), Question("wide", "count", where=over(expr, 1))):
            with pytest.raises(PlanError, match="steps long"):
                priced(wide, question)


def test_a_grid_of_bins_of_one_expression_is_one_walk(wide):
    """A node that stands in a thousand bins is looked at once: a long expression in many bins is priced in a moment."""
    long = nested(10, lambda expr: e.BinOp("+", expr, A))
    edges = tuple(Fraction(place**2, 7) for place in range(300))
    with ending(60):
        priced(wide, Question("wide", "mean", X, by=(e.Bin(long, edges),)))


@pytest.mark.parametrize(
    "value",
    [
        10**400,
        -(10**5_000),
        Fraction(1, 10**5_000),
        Decimal("1e999999999"),
        Decimal("-1e-999999999"),
        Decimal("1" * 500),
    ],
    ids=["401 digits", "5,001 digits", "a small ratio", "a huge power", "a tiny power", "a long decimal"],
)
def test_a_number_of_many_digits_is_refused_in_words(value):
    """Python itself refuses to write 5,000 digits, and would build a number of a billion digits."""
    with ending(60), pytest.raises(PlanError, match="limited to 400 digits"):
        e.Compare(">", X, e.Const(value))


@pytest.mark.parametrize(
    "text",
    ["1e999999999", "1E9", "9" * 401 + "/7", "1/" + "9" * 999, "1_0/3", " 1/3", "1/3\n", "+1/3", "٣/٤"],
)
def test_a_ratio_on_the_wire_has_one_spelling(text):
    """An exponent of nine digits would be a number of a billion."""
    with ending(60), pytest.raises(PlanError):
        e.from_json(["const", "frac", text])


def test_numbers_that_people_write_are_constants(wide):
    """The largest and the smallest float, a decimal zero of any power, four hundred digits."""
    for value in (1e308, 5e-324, Decimal("0e99999"), 10**308, Fraction(1, 10**399), Fraction(1, 3)):
        assert e.from_json(e.to_json(e.Const(value))) == e.Const(value)
    assert priced(wide, Question("wide", "count", where=over(X, 1e308)))


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(
    "factor",
    [Fraction(10**110), Fraction(1, 10**110), 10**308, -(10**308)],
    ids=["large", "small", "huge", "low"],
)
def test_values_that_no_float_shows_are_refused(wide, factor, times):
    """A sum, a spread or a range of them would be infinite, or an error of Python's, after the plan was made."""
    expr = nested(times, lambda inner: e.BinOp("*", inner, e.Const(factor)))
    for name in ("sum", "mean", "std", "tree", "quantile", "histogram"):
        with pytest.raises(PlanError, match=r"scale it|steps long"):
            priced(wide, Question("wide", name, expr))
    with pytest.raises(PlanError, match=r"1\.7e308"):
        e.Const(10**309)


def test_a_thousand_levels_cross_the_wire():
    """As many values as a list may hold are canonical, and one more is refused in words."""
    question = Question("wide", "quantile", X, options=(("q", LEVELS),))
    assert Question.from_json(question.to_json()) == question
    with pytest.raises(PlanError, match="at most 1,000 values"):
        Question("wide", "quantile", X, options=(("q", (*LEVELS, Fraction(1, 3))),))


def coprime(place):
    """A constant of 390 digits over as many; no two of them have a common denominator."""
    return e.Const(Fraction(10**390 - 1 - place, 10**389 + 2 * place + 1))


def summed(terms):
    while len(terms) > 1:
        pairs = [terms[place : place + 2] for place in range(0, len(terms), 2)]
        terms = [e.BinOp("+", *pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return terms[0]


def test_constants_that_grow_with_each_other_are_refused(wide):
    """The sum of a thousand ratios is a ratio of half a million digits: a megabyte of them kept the processor for seconds, deaf."""
    expr = e.BinOp("+", X, summed([coprime(place) for place in range(1000)]))
    spread = e.Compare("<", expr, A)
    with ending(60):
        for question in (Question("wide", "mean", expr), Question("wide", "count", where=spread)):
            with pytest.raises(PlanError, match="too many digits together"):
                priced(wide, question)


def test_constants_that_people_write_do_not_grow_too_long(wide):
    """Sixty conversions with floats one after another, and the sum of a thousand prices."""
    chain = nested(60, lambda expr: e.BinOp("*", expr, e.Const(1.0000000000000002)))
    prices = summed([e.Const(round(0.07 * place, 2)) for place in range(1000)])
    assert priced(wide, Question("wide", "mean", chain), Question("wide", "mean", e.BinOp("+", X, prices)))
