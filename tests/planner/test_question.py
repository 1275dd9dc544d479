"""The canonical form of a question: typed, injective, strict, and fixed for ever by a golden file."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpnb.errors import DpnbError, PlanError
from dpnb.planner import Question
from dpnb.planner import expression as e
from dpnb.trusted.query.plan import Bundle, Plan, Share
from tests.planner.expressions import conditions, numbers

GOLDEN = Path(__file__).parents[1] / "golden" / "plan" / "questions.json"
QUESTIONS = {
    "hiv.count()": Question("hiv", "count"),
    "hiv.got.mean()": Question("hiv", "mean", e.Ref("got")),
    "hiv[hiv.age > 30].got.mean()": Question(
        "hiv", "mean", e.Ref("got"), e.Compare(">", e.Ref("age"), e.Const(30))
    ),
    'hiv.got.difference(by="any")': Question("hiv", "difference", e.Ref("got"), None, (e.Ref("any"),)),
    'hiv.groupby("any").got.mean()': Question("hiv", "mean", e.Ref("got"), None, (e.Ref("any"),)),
    "hiv.age.quantile([0.25, 0.5, 0.75])": Question(
        "hiv", "quantile", e.Ref("age"), options=(("q", (Fraction(1, 4), 0.5, Fraction(3, 4))),)
    ),
    "(hiv.age > 30).mean()": Question("hiv", "mean", e.Compare(">", e.Ref("age"), e.Const(30))),
    "hiv.age.histogram(bins=5)": Question("hiv", "histogram", e.Ref("age"), options=(("bins", 5),)),
    'hiv.groupby("villnum").got.difference(by="any")': Question(
        "hiv", "difference", e.Ref("got"), None, (e.Ref("villnum"), e.Ref("any"))
    ),
    "hiv.age.mean(ci=False)": Question("hiv", "mean", e.Ref("age"), options=(("ci", False),)),
    'hiv.age.correlation("tinc")': Question("hiv", "correlation", e.Ref("age"), other=e.Ref("tinc")),
    "hiv.groupby(\"any\").age.covariance(hiv.tinc * 2, method='separate')": Question(
        "hiv",
        "covariance",
        e.Ref("age"),
        None,
        (e.Ref("any"),),
        (("method", "separate"),),
        e.BinOp("*", e.Ref("tinc"), e.Const(2)),
    ),
    'hiv[hiv.age > 30].moments("got", "tinc", hiv.age * 2, radius=1.5)': Question(
        "hiv",
        "moments",
        e.Ref("got"),
        e.Compare(">", e.Ref("age"), e.Const(30)),
        options=(("radius", 1.5),),
        others=(e.Ref("tinc"), e.BinOp("*", e.Ref("age"), e.Const(2))),
    ),
    "hiv.age.tree()": Question("hiv", "tree", e.Ref("age")),
    "hiv.age.tree(levels=4)": Question("hiv", "tree", e.Ref("age"), options=(("levels", 4),)),
    "hiv.age.density(bins=20, method='perturbed')": Question(
        "hiv", "density", e.Ref("age"), options=(("bins", 20), ("method", "perturbed"))
    ),
    'hiv[hiv.age > 30].crosstab("got", "any")': Question(
        "hiv", "crosstab", e.Ref("any"), e.Compare(">", e.Ref("age"), e.Const(30)), (e.Ref("got"),)
    ),
    "hiv.villnum.frequent_values(delta=1e-06)": Question(
        "hiv", "frequent_values", e.Ref("villnum"), options=(("delta", Fraction(1, 10**6)),)
    ),
    "hiv.age.ks_density(points=40)": Question("hiv", "ks_density", e.Ref("age"), options=(("points", 40),)),
    "hiv.age.robust_mean()": Question("hiv", "robust_mean", e.Ref("age")),
    "hiv.choose({'old': hiv.age > 60, 'paid': hiv.tinc})": Question(
        "hiv",
        "choose",
        e.Compare(">", e.Ref("age"), e.Const(60)),
        options=(("labels", ("old", "paid")),),
        others=(e.Ref("tinc"),),
    ),
    "hiv.villnum.top_k(5)": Question("hiv", "top_k", e.Ref("villnum"), options=(("k", 5),)),
}
TYPED = [1, 1.0, True, "1", "1.0", "True", 0, 0.0, False, "", "é", "e\u0301", Fraction(1, 3), 0.1, "0.1"]
questions: Any = st.builds(
    lambda statistic, target, where, by, options, other, others: Question(
        "d", statistic, target, where, tuple(by), tuple(options.items()), other, tuple(others)
    ),
    st.sampled_from(["mean", "sum", "count"]),
    st.none() | numbers,
    st.none() | conditions,
    st.lists(numbers, max_size=2),
    st.dictionaries(
        st.sampled_from(["q", "bins", "ci"]),
        st.none()
        | st.integers()
        | st.booleans()
        | st.text()
        | st.fractions()
        | st.lists(st.integers() | st.text(), max_size=3).map(tuple),
        max_size=3,
    ),
    st.none() | numbers,
    st.lists(numbers, max_size=2),
)


@pytest.mark.parametrize("text", QUESTIONS)
def test_a_question_reads_as_it_is_typed(text: str) -> None:
    """The text of a question is what a person would type."""
    assert QUESTIONS[text].text == text


def test_canonical_forms_never_change() -> None:
    """Answers are stored under these forms: a change would lose them, or serve one answer for another."""
    found = {text: json.loads(question.canonical()) for text, question in QUESTIONS.items()}
    assert found == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_a_question_of_one_column_has_the_form_it_always_had() -> None:
    """A second target is in the form where there is one, and in no other: ``null`` is a second spelling, and refused."""
    record = json.loads(QUESTIONS["hiv.got.mean()"].canonical())
    assert "other" not in record
    with pytest.raises(PlanError):
        Question.from_json({**record, "other": None})
    assert "other" in json.loads(QUESTIONS['hiv.age.correlation("tinc")'].canonical())


def test_a_canonical_text_is_written_once_and_goes_into_no_pickle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked again it is the text that was kept, and a pickle of the question is as it was before."""
    question = Question("hiv", "mean", e.Ref("got"))
    before = pickle.dumps(question)
    text = question.canonical()
    assert pickle.dumps(question) == before
    read = pickle.loads(before)
    assert (read.canonical(), read) == (text, question)
    monkeypatch.setattr("dpnb.planner.question.canonical", lambda _: "written again")
    assert question.canonical() == text
    assert Question("hiv", "mean", e.Ref("got")).canonical() == "written again"


def test_constants_are_typed() -> None:
    """1, 1.0, True and "1" are four different constants, and Unicode is kept as it is."""
    forms = {
        Question("d", "mean", e.Compare("==", e.Ref("x"), e.Const(value))).canonical() for value in TYPED
    }
    assert len(forms) == len(TYPED)
    assert len({e.Const(value) for value in TYPED}) == len(TYPED)


@given(questions)
def test_a_question_survives_the_wire(question: Question) -> None:
    """Canonical JSON round-trips to an equal question with the same form."""
    again = Question.from_json(json.loads(question.canonical()))
    assert again == question
    assert again.canonical() == question.canonical()


@given(questions, questions)
def test_different_questions_have_different_forms(one: Question, two: Question) -> None:
    """The canonical form is injective."""
    assert (one.canonical() == two.canonical()) == (one == two)


json_values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_arbitrary_json_is_refused_without_a_crash(record: Any) -> None:
    """What is not canonical raises a PlanError and nothing else."""
    for reader in (Question.from_json, Plan.from_json, Bundle.from_json, Share.from_json, e.from_json):
        with pytest.raises(DpnbError):
            reader(record)


@given(questions, st.data())
def test_a_mutated_record_is_refused_or_canonical(question: Question, data: Any) -> None:
    """Replacing any part of a record gives a refusal or another canonical question, never a second spelling."""
    record = json.loads(question.canonical())
    record[data.draw(st.sampled_from(sorted(record)))] = data.draw(json_values)
    try:
        again = Question.from_json(record)
    except DpnbError:
        return
    assert json.loads(again.canonical()) == record


@pytest.mark.parametrize(
    "record",
    [
        ["int", "01"],
        ["int", "+1"],
        ["frac", "2/4"],
        ["frac", "0.5"],
        ["bool", "True"],
        ["int", "1_0"],
        ["float", "1"],
    ],
)
def test_a_constant_has_one_spelling(record: list[str]) -> None:
    """Other spellings of a constant are refused, so that one question has one key."""
    with pytest.raises(PlanError, match="canonical"):
        e.from_json(["const", *record])


def test_depth_and_size_are_limited() -> None:
    """An expression deeper than the limit is refused on the way out and on the way in."""
    deep: e.Expr = e.Ref("x")
    record: Any = ["ref", "x"]
    for _ in range(70):
        deep, record = e.Neg(deep), ["neg", record]
    with pytest.raises(PlanError, match="limited to depth"):
        e.to_json(deep)
    with pytest.raises(PlanError, match="limited to depth"):
        e.from_json(record)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, object(), [1], 1j])
def test_a_constant_is_a_finite_plain_value(value: object) -> None:
    """Not a number, infinite, or an object: refused by name of its type, never shown."""
    with pytest.raises(PlanError):
        e.Const(value)
