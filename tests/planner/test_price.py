"""Prices: exact rationals from public facts, split by weight, equal to what the events record."""

from __future__ import annotations

import inspect
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpnb.client.priced_batch import sent
from dpnb.errors import LossError, PlanError, SchemaError
from dpnb.planner import Ask, Item, PricedBatch, Question, price
from dpnb.planner import expression as e
from dpnb.statistics._base import farthest
from dpnb.trusted.canonical import canonical
from dpnb.trusted.privacy.accountant import Budget, compose
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.query.plan import digest_of
from dpnb.trusted.schema import Column, Schema
from tests.contracts.questions import SAMPLES, UNITS
from tests.contracts.questions import schema as samples_schema

AGE, SEX = e.Ref("age"), e.Ref("sex")
SCORE, TINY = e.Ref("score"), Fraction(1, 2**62)
MEAN = Question("p", "mean", AGE)
COUNT = Question("p", "count", None, e.Compare(">", AGE, e.Const(30)))
ROWS = Question("p", "count")
MEDIAN = Question("p", "quantile", AGE)
PAY = Question("p", "mean", e.Ref("pay"))
ALL = [
    MEAN,
    COUNT,
    MEDIAN,
    PAY,
    Question("p", "histogram", AGE),
    Question("p", "difference", AGE, None, (SEX,)),
]


def schema(budget: dict[str, Any] | None = None, adjacency: str = "change-one") -> Schema:
    """Five hundred people, or an unknown number of them."""
    unit = PrivacyUnit(adjacency, rows=500 if adjacency == "change-one" else None)
    columns = (
        Column.integer("age", 0, 100),
        Column.number("pay", 0, 1000, step=1, missing=0),
        Column.category("sex", [0, 1]),
    )
    return Schema("p", "People", columns, unit, Budget.from_toml(budget or {"epsilon": 4}))


def priced(items: list[Any], where: Schema | None = None, **ask: Any) -> PricedBatch:
    """Price questions or items."""
    where = where or schema()
    made = tuple(item if isinstance(item, Item) else Item(item) for item in items)
    return price(made, Ask.make(**ask), where)


def test_the_price_is_split_equally_and_exactly() -> None:
    """Three questions at ε 1 cost a third each; together exactly 1."""
    found = priced([MEAN, COUNT, MEDIAN], epsilon=1)
    assert [item.loss.amount for item in found.items] == [Fraction(1, 3)] * 3
    assert found.loss == PrivacyLoss.pure(1)


def test_public_answers_cost_nothing_and_take_no_share() -> None:
    """With a public number of rows a plain count is answered from the schema."""
    found = priced([ROWS, COUNT], epsilon=1)
    assert found.items[0].public
    assert (found.items[0].public_value, found.items[1].loss.amount) == (500, 1)
    assert not priced([ROWS], schema(adjacency="add-remove"), epsilon=1).items[0].public


def test_weights_and_own_spends_share_the_rest() -> None:
    """A question with its own loss keeps it; the others split the rest by weight."""
    items = [Item(MEAN, Fraction(3)), Item(COUNT), Item(MEDIAN, spend=Fraction(1, 5))]
    amounts = [item.loss.amount for item in priced(items, epsilon=1).items]
    assert amounts == [Fraction(3, 5), Fraction(1, 5), Fraction(1, 5)]


@given(
    st.lists(st.sampled_from(ALL), min_size=1, max_size=6),
    st.integers(100, 10**7),
    st.sampled_from(["epsilon", "rho"]),
)
def test_events_add_up_to_the_price_and_never_exceed_what_is_asked(
    questions: list[Question], millionths: int, kind: str
) -> None:
    """For random batches the composed events equal the shown loss, which is at most that of the questions apart, and the loss asked."""
    amount = Fraction(millionths, 10**5)
    where = schema({"rho": 1000} if kind == "rho" else {"epsilon": 1000})
    found = priced([Item(question) for question in questions], where, **{kind: amount})
    apart = compose([event for item in found.items for event in item.events], found.measure)
    assert compose(found.events(frozenset()), found.measure) == found.loss
    assert found.loss.amount <= apart.amount <= amount


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
def test_filters_that_exclude_each_other_are_charged_what_one_person_moves(adjacency: str, kind: str) -> None:
    """One more person is in one of two groups; one who changes may leave one for the other, which costs both."""
    apart = [Question("p", "sum", AGE, e.Compare("==", SEX, e.Const(sex))) for sex in (0, 1)]
    where = schema({kind: 4}, adjacency)
    each = [priced([question], where, **{kind: "0.5"}).loss.amount for question in apart]
    found = priced([Item(question) for question in apart], where, **{kind: 1}).loss.amount
    assert found == (max(each) if adjacency == "add-remove" else sum(each))


def test_pure_mechanisms_in_a_rho_budget_are_charged_what_their_law_costs() -> None:
    """ε of Laplace noise costs its own law's ρ in a ρ budget, .4621 for a count at ε = 1; of the exponential mechanism ε²/8."""
    where = schema({"rho": 1})
    assert priced([COUNT], where, epsilon=1).loss == PrivacyLoss.zcdp("0.46211715726001")
    assert priced([MEDIAN], where, epsilon=1).loss == PrivacyLoss.zcdp(Fraction(1, 8))


def test_a_selection_under_rho_uses_its_bounded_range() -> None:
    """A quantile asked for ρ runs at ε = √(8ρ), rounded down, and never costs more than ρ."""
    found = priced([MEDIAN], schema({"rho": 1}), rho="0.02")
    assert Fraction(199, 10000) < found.loss.amount <= Fraction(2, 100)


def test_price_has_no_data_argument() -> None:
    """Pricing is a function of the batch, the schema and questions that were checked already, and of nothing else."""
    assert list(inspect.signature(price).parameters) == ["asked", "ask", "schema", "known"]


@pytest.mark.parametrize(
    ("items", "ask", "words"),
    [
        ([MEAN], {}, "Say what to spend"),
        ([MEAN], {"rho": "0.1"}, r"\[budget\] rho"),
        ([MEAN], {"epsilon": 1, "rho": 1}, "Give one of epsilon="),
        ([MEAN], {"epsilon": 0}, "epsilon"),
        ([MEAN], {"epsilon": -1}, "epsilon"),
        ([MEAN], {"epsilon": float("nan")}, "epsilon"),
        ([MEAN], {"epsilon": "1e-300"}, "epsilon"),
        ([MEAN], {"epsilon": "much"}, "epsilon"),
        ([MEAN], {"within": "0.5"}, "assume_n="),
        ([MEDIAN], {"within": "0.5"}, "cannot plan"),
        ([Item(MEAN, spend=Fraction(2)), COUNT], {"epsilon": 1}, "nothing is left"),
        ([Item(MEAN, spend=Fraction(2))], {"epsilon": 1}, "more than"),
    ],
)
def test_a_loss_that_cannot_be_used_is_refused_with_the_fix(
    items: list[Any], ask: dict[str, Any], words: str
) -> None:
    """Zero, negative, undefined, tiny, text, the wrong measure or too much: one short sentence each."""
    with pytest.raises((LossError, PlanError), match=words):
        priced(items, **ask)


@pytest.mark.parametrize(
    "question", [COUNT, PAY, Question("p", "sum", AGE), Question("p", "variance", e.Ref("pay"))]
)
@pytest.mark.parametrize("budget", [{"epsilon": 100}, {"rho": 100}])
def test_within_solves_for_the_smallest_loss(question: Question, budget: dict[str, Any]) -> None:
    """The solved loss reaches the asked half-width wherever the mean lies, and 7 % less loss does not."""
    where = schema(budget)
    kind = "epsilon" if "epsilon" in budget else "rho"
    wanted = {"count": 20, "mean": 5, "sum": 500, "variance": 3000}[question.statistic]
    solved = priced([question], where, within=wanted)
    share = solved.items[0].share
    assert share is not None
    reached = solved.items[0].preview.half_width
    less = priced([question], where, **{kind: share.amount * Fraction(93, 100)}).items[0]
    assert reached is not None
    assert less.answered_by is not None
    assert reached <= wanted
    farther = less.checked.kind.half_width(farthest(less.checked.setting), less.answered_by, less.size)
    assert farther is not None
    assert farther > wanted * 0.99


def test_assumed_sizes_serve_previews_only() -> None:
    """assume_n= changes the preview and the solved loss, never the mechanisms of an asked loss."""
    plain, assumed = priced([MEAN], epsilon=1), priced([MEAN], epsilon=1, assume_n=250)
    assert plain.items[0].parts == assumed.items[0].parts
    assert plain.items[0].preview.half_width is None
    assert assumed.items[0].preview.half_width is not None


def test_a_price_list_adds_up() -> None:
    """The rows of a price list name each part; their costs add up to the question's, the rest is marked free."""
    rows = priced([MEAN], epsilon=1).items[0].rows
    assert [row.cost for row in rows] == ["ε 0.812", "ε 0.188", "free beside the sum"]


def test_the_digest_of_a_plan_depends_on_all_that_changes_it() -> None:
    """Shares, order and whether it is bought afresh; a size that is assumed changes no plan of a given loss."""
    where = schema()
    mean, count = Item(MEAN), Item(COUNT, Fraction(2))
    small = {"epsilon": "0.1", "assume_n": 5}
    cells = [
        ((mean, count), small),
        ((mean, Item(COUNT)), small),
        ((mean, count), {**small, "fresh": True}),
        ((count, mean), small),
        ((mean,), small),
    ]
    texts = [canonical(sent(price(items, Ask.make(**ask), where)).to_json()) for items, ask in cells]
    assert len(set(map(digest_of, texts))) == 5
    assumed = price((mean, count), Ask.make(epsilon="0.1"), where)
    assert canonical(sent(assumed).to_json()) == texts[0]


def test_limits_of_a_batch() -> None:
    """A thousand and one questions, or questions about another dataset, are refused."""
    with pytest.raises(PlanError, match="at most 1000"):
        priced([Item(MEAN)] * 1001, epsilon=1)
    with pytest.raises(SchemaError, match="of 'p'"):
        priced([Question("q", "mean", AGE)], epsilon=1)
    with pytest.raises(PlanError, match="cells"):
        priced([Question("p", "count", None, None, (AGE, e.Ref("pay"), AGE))], epsilon=1)


@pytest.mark.parametrize(
    "question",
    [
        Question("p", "count", None, e.Compare(">", e.BinOp("//", SCORE, e.Const(TINY)), e.Const(0))),
        Question(
            "p", "count", None, None, (e.Bin(e.BinOp("//", SCORE, e.Const(TINY)), (-(2**62), 0, 2**62)),)
        ),
        Question("p", "histogram", e.BinOp("//", SCORE, e.Const(TINY)), options=(("edges", (0, 2**62)),)),
    ],
    ids=["filter", "key", "target"],
)
def test_a_step_that_could_overflow_on_some_row_is_refused_before_any_charge(question: Question) -> None:
    """The result would fit 62 bits, a step on the way to it would not: an engine would fail on one person's value."""
    where = Schema(
        "p",
        "People",
        (Column.number("score", -1, 1),),
        PrivacyUnit("add-remove"),
        Budget.from_toml({"epsilon": 4}),
    )
    with pytest.raises(PlanError, match="too wide a range"):
        priced([question], where, epsilon=1)


def test_a_single_group_that_holds_every_row_is_refused_with_a_way_out() -> None:
    """Its size is public under change-one, so there is nothing to count."""
    for question in (
        Question("p", "histogram", e.Ref("pay"), options=(("edges", (0, 1000)),)),
        Question("p", "mean", e.Ref("pay"), by=(e.Bin(e.Ref("pay"), (0, 1000)),)),
    ):
        with pytest.raises(PlanError, match="two bins or more"):
            priced([question], epsilon=1)
        assert priced([question], schema(adjacency="add-remove"), epsilon=1).loss == PrivacyLoss.pure(1)


def test_a_list_of_a_thousand_values_is_a_shallow_condition() -> None:
    """isin() at its limit is priced like any other filter: its depth does not grow with its length."""
    question = Question("p", "count", None, e.IsIn(e.Ref("pay"), tuple(range(1000))))
    assert priced([question], epsilon=1).loss == PrivacyLoss.pure(1)


def test_the_sum_of_a_constant_over_a_public_number_of_rows_is_refused() -> None:
    """No neighbouring table has another sum: it is public, and noise of scale zero is no mechanism."""
    constant = Question("p", "sum", e.Const(2))
    with pytest.raises(PlanError, match="public constant"):
        priced([constant], epsilon=1)
    assert priced([constant], schema(adjacency="add-remove"), epsilon=1).loss == PrivacyLoss.pure(1)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_size_is_asked_for_only_where_it_helps(name):
    """What has no ± before the answer says that, with or without a size; what has one with a size asks for the size."""
    for sample in SAMPLES[name][:1]:
        plain, sized = refusal(name, sample), refusal(name, sample, assume_n=1000)
        assert "assume_n=" not in sized
        assert ("depends on the data" in plain) == ("depends on the data" in sized)
        assert ("assume_n=" in plain) == (plain != sized)


def refusal(statistic: str, sample: dict[str, Any], **more: Any) -> str:
    """What is said of a half-width of 1; nothing where it can be planned."""
    where = samples_schema(UNITS["add-remove"], "approx" if statistic == "frequent_values" else "epsilon")
    items = (Item(Question(where.name, statistic, **sample)),)
    try:
        price(items, Ask.make(within=1, **more), where)
    except LossError as error:
        return str(error)
    return ""
