"""What questions share: bought once, priced together, and what they save spent on less noise. No price and no noise grows."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpnb.client.priced_batch import sent
from dpnb.errors import LossError
from dpnb.planner import Item, PricedBatch, Question
from dpnb.planner import expression as e
from dpnb.planner.sharing import additive, bundled, cost, total
from dpnb.statistics.noise import amount
from dpnb.trusted.aggregate.algebra import Cmp, Col, Key, Lit, Mul, Sub, Total
from dpnb.trusted.measurements import Facts, Measurement, events
from dpnb.trusted.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.query.plan import Share
from dpnb.trusted.query.price import charged_for, together
from dpnb.trusted.schema import Column, Schema
from tests.measurements import tiny
from tests.planner.test_price import AGE, SEX
from tests.planner.test_price import priced as priced_with

OLD = e.Compare(">", AGE, e.Const(30))
AGES, COUNT = Question("p", "mean", AGE, OLD), Question("p", "count", None, OLD)
PAYS, SPREAD = Question("p", "mean", e.Ref("pay"), OLD), Question("p", "variance", AGE, OLD)
SHIFTED = Question("p", "mean", e.BinOp("+", AGE, e.Const(3)), OLD)
MANY = [
    AGES,
    COUNT,
    PAYS,
    SPREAD,
    SHIFTED,
    Question("p", "count", None, OLD, (SEX,)),
    Question("p", "mean", AGE, OLD, (SEX,)),
    Question("p", "mean", AGE),
    Question("p", "mean", e.Ref("pay")),
    Question("p", "sum", AGE, OLD),
    Question("p", "covariance", AGE, OLD, (), (), e.Ref("pay")),
    Question("p", "quantile", AGE, OLD),
    Question("p", "quantile", AGE, OLD, (), (("ci", True),)),
    Question("p", "histogram", AGE, OLD),
    Question("p", "difference", AGE, OLD, (SEX,)),
    *(Question("p", "mean", AGE, e.Compare("==", SEX, e.Const(sex))) for sex in (0, 1)),
    Question("p", "count", None, e.Compare("<=", AGE, e.Const(30))),
    Question("p", "mean", e.Ref("pay"), e.Compare("<", AGE, e.Const(20))),
]


def schema(budget: Any = None, adjacency: str = "change-one") -> Schema:
    """Five hundred people, or an unknown number of them; nothing is missing."""
    unit = PrivacyUnit(adjacency, rows=500 if adjacency == "change-one" else None)
    columns = (
        Column.integer("age", 0, 100, missing=50),
        Column.number("pay", 0, 1000, step=1, missing=0),
        Column.category("sex", [0, 1], missing=0),
    )
    return Schema("p", "People", columns, unit, Budget.from_toml(budget or {"epsilon": 4}))


def priced(items: list[Any], where: Schema | None = None, **ask: Any) -> PricedBatch:
    """Price questions or items."""
    return priced_with(items, where or schema(), **ask)


def refined(found: PricedBatch, held: frozenset[int] = frozenset()) -> PricedBatch:
    """A batch as it is sent."""
    return found.refined(held)


def noise(item: Any) -> list[Fraction]:
    """The amounts of noise of a question, in the order of its parts."""
    return [amount(part.mechanism) for part in item.parts]


def test_a_count_that_three_questions_want_is_bought_once_at_the_smallest_noise() -> None:
    """Two means and a count under one filter have five sums, not seven, and one group."""
    found = priced([Item(AGES), Item(PAYS), Item(COUNT, Fraction(2))], epsilon=1)
    counts = [one for one in found.bundles if len(one.texts) == 3]
    assert len(found.bundles) == 5
    assert {one.group for one in found.bundles} == {0}
    (count,) = counts
    assert amount(count.parts[0].mechanism) == min(noise(item)[-1] for item in found.alone) == 2
    assert all(item.parts[-1].mechanism == count.parts[0].mechanism for item in found.items)


def test_what_is_saved_is_spent_on_less_noise_to_the_last_digit() -> None:
    """Under change-one the count is free beside the means' worst move: the whole loss is spent again, exactly."""
    found = priced([AGES, PAYS, COUNT], epsilon=1)
    assert found.loss.amount == Fraction(35, 48)  # entering: 2 (13/96 + 1/16) + 1/3
    finer = refined(found)
    assert finer.loss == PrivacyLoss.pure(1)
    for new, old in zip(finer.items, found.items, strict=True):
        assert noise(new) == [value * Fraction(35, 48) for value in noise(old)]
    assert finer.items[2].preview.half_width < found.alone[2].preview.half_width


def test_one_measurement_under_two_names_is_one_answer() -> None:
    """A shifted column has the same integers: bought once, at twice the share."""
    found = refined(priced([AGES, SHIFTED], epsilon=1))
    alone = priced([AGES], epsilon=1)
    assert len(found.bundles) == len(alone.bundles)
    assert [part.mechanism for part in found.items[0].parts] == [
        part.mechanism for part in alone.items[0].parts
    ]
    assert found.items[0].parts == found.items[1].parts


def test_other_than_additive_noise_is_bought_as_a_whole() -> None:
    """Quantiles are selected by their own loss: they are not torn apart, and not made finer."""
    limits = Question("p", "quantile", AGE, OLD, (), (("q", (0.25, 0.75)),))
    found = refined(priced([limits, COUNT], epsilon=1))
    assert sorted(len(one.parts) for one in found.bundles) == [1, 2]
    assert found.items[0].parts == found.alone[0].parts


def test_a_question_with_a_loss_of_its_own_is_not_made_finer() -> None:
    """The others spend what is saved."""
    found = refined(priced([Item(AGES, spend=Fraction(1, 2)), Item(PAYS), Item(COUNT)], epsilon=1))
    assert noise(found.items[0])[:2] == noise(found.alone[0])[:2]
    assert noise(found.items[1])[0] < noise(found.alone[1])[0]
    assert found.loss.amount <= 1


def test_an_accuracy_that_was_asked_is_not_made_finer() -> None:
    """within= costs what it needs: what is saved is not spent."""
    found = priced([AGES, COUNT], within=5, assume_n=300)
    assert found.refined(frozenset()) is found
    assert found.loss.amount < sum(item.loss.amount for item in found.alone)


def test_what_is_held_is_taken_out_first() -> None:
    """A count that is held costs nothing and keeps its noise; the means spend what they would have spent with it."""
    found = priced([AGES, COUNT], epsilon=1)
    (held,) = (place for place, one in enumerate(found.bundles) if len(one.texts) == 2)
    finer = refined(found, frozenset({held}))
    assert finer.bundles[held] == found.bundles[held]
    assert finer.costs(frozenset({held})).amount <= Fraction(1, 2)


ASKS = st.lists(
    st.tuples(st.sampled_from(MANY), st.integers(1, 3), st.sampled_from([None, None, None, Fraction(1, 50)])),
    min_size=1,
    max_size=5,
    unique_by=lambda one: one[0].canonical(),
)


@given(
    ASKS,
    st.sampled_from(["epsilon", "rho", "mixed"]),
    st.sampled_from(["change-one", "add-remove"]),
    st.data(),
)
def test_neither_the_price_nor_the_noise_exceeds_that_of_the_questions_apart(
    asked: list[Any], kind: str, adjacency: str, data: Any
) -> None:
    """For random cells, budgets, neighbours, weights, own losses and held answers; and the curator counts the same."""
    where = schema({"epsilon": 1000} if kind == "epsilon" else {"rho": 1000}, adjacency)
    found = priced(
        [Item(question, Fraction(weight), spend) for question, weight, spend in asked],
        where,
        **{"rho" if kind == "rho" else "epsilon": 1},
    )
    held = (
        frozenset(data.draw(st.sets(st.sampled_from(range(len(found.bundles))))))
        if found.bundles
        else frozenset()
    )
    finer = refined(found, held)
    for new, old in zip(finer.items, found.alone, strict=True):
        assert [part.request for part in new.parts] == [part.request for part in old.parts]
        for mine, alone in zip(new.parts, old.parts, strict=True):
            assert not finer_noise(alone.mechanism, mine.mechanism)
    wanted = [
        [part for part, (place, _) in zip(item.parts, places, strict=True) if place not in held]
        for item, places in zip(found.alone, found.places, strict=True)
    ]
    apart = sum((alone_cost(parts, found) for parts in wanted if parts), Fraction(0))
    assert finer.costs(held).amount <= apart
    for place in held:
        assert finer.bundles[place] == found.bundles[place]
    plan = sent(finer)
    told = charged_for(plan, where).questions if plan.questions else ()
    assert tuple(one.measured for one in told) == (finer.measured if told else ())


def alone_cost(parts: Any, found: PricedBatch) -> Fraction:
    """What some measurements cost together, by the wing."""
    return cost(parts, found.facts)


def finer_noise(one: Any, other: Any) -> bool:
    """Whether one mechanism has less noise than another of its family."""
    if isinstance(one, DiscreteLaplace | DiscreteGaussian) and type(one) is type(other):
        return amount(one) < amount(other)
    return False


def test_purchases_are_in_the_order_of_questions_and_groups_are_numbered_as_they_come() -> None:
    """What crosses the wire is the same for the same cell, whoever plans it."""
    found = refined(priced([COUNT, Question("p", "mean", AGE), AGES, PAYS], epsilon=1))
    groups = [one.group for one in found.bundles]
    assert list(dict.fromkeys(groups)) == list(range(len(set(groups))))
    assert all(additive(part) for one in found.bundles for part in one.parts)
    again = refined(priced([COUNT, Question("p", "mean", AGE), AGES, PAYS], epsilon=1))
    assert sent(again).to_json() == sent(found).to_json()


LIMITS, LIMITS_BY = (Question("p", "quantile", AGE, OLD, by, (("ci", True),)) for by in ((), (SEX,)))
"""Sums of a tree, and a selection that no sum is priced with."""
REGROUPED: list[tuple[str, str, list[Any]]] = [
    ("rho", "epsilon", [Question("p", "count", None, OLD, (SEX,)), Item(LIMITS, spend=Fraction(1, 50))]),
    ("rho", "rho", [LIMITS_BY, Item(COUNT, spend=Fraction(1, 50))]),
    ("rho", "epsilon", [LIMITS, LIMITS_BY]),
    ("epsilon", "epsilon", [SPREAD, Item(LIMITS_BY, spend=Fraction(1, 50))]),
]


@pytest.mark.parametrize(("budget", "kind", "cell"), REGROUPED)
def test_a_cell_is_asked_at_what_the_curator_counts_however_its_sums_are_grouped(
    budget: str, kind: str, cell: list[Any]
) -> None:
    """Sums are priced together while selections stay apart: there are no fewer groups than questions, and yet it costs less.

    Such a cell was taken for one that shares nothing and sent with the sum of its questions, which the curator refused however often it was asked.
    """
    where = schema({budget: 1000})
    found = priced(cell, where, **{kind: 1})
    finer = refined(found)
    for one in (found, finer):
        assert charged_for(sent(one), where).events == one.events(frozenset())
    assert len({one.group for one in found.bundles}) >= len(cell)
    assert found.saves
    assert found.loss.amount < sum(item.loss.amount for item in found.alone)


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
def test_questions_about_other_rows_share_nothing(adjacency: str) -> None:
    """Another filter keeps other rows, and some people are in both: apart, as before."""
    young = Question("p", "mean", AGE, e.Compare("<", AGE, e.Const(40)))
    found = priced([AGES, young], schema(adjacency=adjacency), epsilon=1)
    assert not found.saves
    assert found.items == found.alone


def parted(statistic: str, parts: int, **asked: Any) -> list[Question]:
    """The same question of people in bands of ages."""
    ends = [e.Const(100 * at // parts) for at in range(parts + 1)]
    bands = [
        e.BoolOp("and", e.Compare(">=", AGE, low), e.Compare("<", AGE, high)) for low, high in pairwise(ends)
    ]
    return [Question("p", statistic, asked.get("value"), band) for band in bands]


@pytest.mark.parametrize(
    ("adjacency", "parts", "times"),
    [("add-remove", 2, 2), ("add-remove", 5, 5), ("change-one", 4, 2), ("change-one", 2, 1)],
)
@pytest.mark.parametrize("kind", ["epsilon", "rho"])
def test_groups_that_nobody_is_in_two_of_are_paid_once(
    adjacency: str, parts: int, times: int, kind: str
) -> None:
    """Counts of bands of ages: with one more person the dearest costs all, with a changed one any two of them."""
    where = schema({"epsilon": 4} if kind == "epsilon" else {"rho": 4}, adjacency)
    found = priced(parted("count", parts), where, **{kind: 1})
    finer = refined(found)
    assert [noise(item) for item in finer.items] == [[noise(item)[0] / times] for item in found.alone]
    assert 1 - Fraction(1, 10**6) <= finer.loss.amount <= 1
    assert found.divided == ((tuple(range(parts)),) if times > 1 else ())


def test_means_of_groups_are_finer_together_and_each_is_told_why() -> None:
    """Three groups under change-one: noise as of two questions instead of three."""
    found = refined(priced(parted("mean", 3, value=e.Ref("pay")), epsilon=1))
    for new, old in zip(found.items, found.alone, strict=True):
        assert noise(new) == [value * Fraction(2, 3) for value in noise(old)]
        assert all("no row is in two" in row.cost for row in new.rows)


def test_a_question_across_groups_is_paid_beside_them() -> None:
    """Everybody is in it: what the groups cost together, and what it costs."""
    questions = [*parted("count", 4), Question("p", "mean", e.Ref("pay"))]
    found = priced(questions, schema(adjacency="add-remove"), epsilon=1)
    assert found.loss.amount == Fraction(2, 5)
    assert found.divided == ((0, 1, 2, 3),)
    plan = sent(refined(found))
    assert charged_for(plan, schema(adjacency="add-remove")).events == refined(found).events(frozenset())


def count_of(*fifths: int) -> Question:
    """A count of people in some fifths of the ages."""
    bands = [
        e.BoolOp(
            "and", e.Compare(">=", AGE, e.Const(20 * fifth)), e.Compare("<", AGE, e.Const(20 * fifth + 20))
        )
        for fifth in fifths
    ]
    where = bands[0]
    for one in bands[1:]:
        where = e.BoolOp("or", where, one)
    return Question("p", "count", None, where)


CROSSED = {
    "a": Item(count_of(0, 1, 4), spend=Fraction(1, 100)),
    "c": Item(count_of(3), spend=Fraction(1, 100)),
    "b": Item(count_of(0, 1, 2), spend=Fraction(1)),
    "d": Item(count_of(3, 4), spend=Fraction(1)),
}
"""The cheap ones would part the dear ones where groups are made in the order of the cell."""


@pytest.mark.parametrize("names", ["acbd", "bcd", "cbd", "bd", "dba"])
def test_the_dearest_groups_are_priced_together_first(names: str) -> None:
    """What is left of a cell, where an answer is held, costs no more than all of it; kernel and curator agree."""
    where = schema(adjacency="add-remove")
    found = priced([CROSSED[name] for name in names], where, epsilon=3)
    assert found.loss.amount <= Fraction(101, 100)
    assert charged_for(sent(found), where).events == found.events(frozenset())
    parts = [part for item in found.items for part in item.parts]
    assert cost(parts, found.facts) == found.loss.amount


PAIRS = [*MANY, Question("p", "correlation", AGE, OLD, (), (), e.Ref("pay"))]


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
@pytest.mark.parametrize("kind", ["epsilon", "rho", "mixed"])
@pytest.mark.parametrize("weights", [(1, 4), (5, 1)])
def test_no_two_questions_cost_more_together_than_apart(
    adjacency: str, kind: str, weights: tuple[int, int]
) -> None:
    """Each pair, one of them at several times the other's share: a sum made finer for one must not make the other's bound dearer."""
    where, seen = schema({"epsilon": 1000} if kind == "epsilon" else {"rho": 1000}, adjacency), 0
    for pair in combinations(PAIRS, 2):
        items = [Item(question, Fraction(weight)) for question, weight in zip(pair, weights, strict=True)]
        try:
            found = priced(items, where, **{"rho" if kind == "rho" else "epsilon": 1})
        except LossError:
            continue  # a statistic of the other kind of loss
        apart = sum((cost(item.parts, found.facts) for item in found.alone if item.parts), Fraction(0))
        assert max(found.loss.amount, refined(found).loss.amount) <= apart, [one.statistic for one in pair]
        seen += 1
    assert seen > 80


def test_moments_that_are_bound_together_are_bought_as_a_whole() -> None:
    """The joint bound of a covariance goes by its smallest noise: a mean beside it buys its own sum."""
    both = Question("p", "covariance", AGE, OLD, (), (), e.Ref("pay"))
    found = priced([AGES, both], epsilon=1)
    assert sorted(len(one.parts) for one in found.bundles) == [1, 1, 1, len(found.alone[1].parts)]
    assert found.items[1].parts == found.alone[1].parts


def test_questions_that_keep_several_sets_of_rows_cost_no_more_together() -> None:
    """Priced at 23.57 for questions of 13.5: a sum is taken out of its question, whose other sum was priced with it.

    No statistic of dpnb has parts of two filters now; the first that has would be charged more than was asked.
    """
    where = tiny.schema(tiny.UNITS["change a row"], "rho")
    g, big = Col("g"), Sub(Mul(Lit(2), Mul(Col("c"), Col("c"))), Lit(4))
    x2, x0 = (Cmp("==", Col("x"), Lit(at)) for at in (2, 0))
    cells = (Key(Col("h"), 2), Key(Col("x"), 3))

    def part(value: Any, kept: Any, keys: Any, variance: Any) -> Measurement:
        size = 6 if keys else 1
        return Measurement("s", Total(value, kept, keys), DiscreteGaussian(Fraction(variance)), size)

    questions = [
        [part(g, x2, (), 1), part(g, x2, cells, 5)],
        [part(big, x2, cells, Fraction(5, 2)), part(big, x0, (), 3)],
    ]
    facts = Facts.of(where)
    alone = sum((cost(parts, facts) for parts in questions), Fraction(0))
    share = Share("rho", Fraction(1))
    asked = [
        SimpleNamespace(text="sums", share=share, parts=tuple(parts), events=events(parts, facts))
        for parts in questions
    ]
    bundles, _, _ = bundled(asked, facts)
    assert total(together(bundles, facts), facts.measure) <= alone
