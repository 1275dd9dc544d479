"""What is estimated is said where the number stands: values beyond declared bounds count as at the bound."""

from __future__ import annotations

import pytest

import dpnb
from dpnb.cards import report
from dpnb.cards.facts import line_of
from dpnb.cards.released import estimate_card
from dpnb.errors import Unavailable
from dpnb.planner.estimand import in_words
from dpnb.planner.expression import BoolOp, Compare, Const, Ref, show

MEAN = "mean of x clamped to 0–10"


@pytest.fixture
def mean(data):
    """A released mean of a bounded column."""
    found = data.x.mean()
    dpnb.release({"found": found}, epsilon=5)
    return found


def test_a_held_mean_names_its_estimand_in_every_form(mean):
    """`.estimand`, repr, card, table, record, explanation, report and methods all say it."""
    table = mean.table()
    made = report({"mean": mean})
    assert mean.estimand == MEAN
    for text in (
        repr(mean),
        estimate_card(mean).text,
        estimate_card(mean).html,
        repr(table),
        table._repr_html_(),
        str(mean.explain()),
        made.text,
        made.methods,
        made.html,
    ):
        assert MEAN in " ".join(text.split())
    assert mean.to_dict()["estimand"] == MEAN
    assert "count as the bound" in estimate_card(mean).html
    assert "small.x.held_share() estimates how many" in estimate_card(mean).html
    assert "No interval for the unclamped values is available" in estimate_card(mean).html


def test_a_clamped_mean_says_how_many_rows_are_at_the_bounds(data):
    """On the card, from the same release."""
    found = data.x.mean(clamped=True)
    dpnb.release({"found": found}, epsilon=5)
    said = estimate_card(found).text
    assert "% of rows lie at or below the lower bound" in " ".join(said.split())
    assert "held_share() estimates" not in said
    assert found.held_share().shape == (3,)


@pytest.mark.parametrize(
    ("asked", "estimand"),
    [
        pytest.param(lambda d: (d.x * 2).mean(), "mean of x * 2, with x clamped to 0–10", id="computed"),
        pytest.param(lambda d: d.x.clip(2, 5).mean(), "mean of x clamped to 2–5", id="clipped"),
        pytest.param(lambda d: d.x.clip(-5, 500).mean(), MEAN, id="clipped beyond the bounds"),
        pytest.param(lambda d: d.x.clip(5, 500).mean(), "mean of x clamped to 5–10", id="half beyond"),
        pytest.param(lambda d: d.x.mean() - d.x.mean(), MEAN, id="each question once"),
        pytest.param(lambda d: d.count(), "", id="a count"),
        pytest.param(lambda d: (d.x > 3).mean(), "", id="a share"),
        pytest.param(lambda d: d.g.value_counts(), "", id="a category"),
    ],
)
def test_an_estimand_says_to_what_columns_are_clamped(data, asked, estimand):
    assert asked(data).estimand == estimand


def test_a_quantile_says_that_bounds_change_nothing_inside_them(data):
    """Its order is that of the values as they are."""
    found = data.x.median()
    dpnb.release({"found": found}, epsilon=5)
    assert found.estimand == "median of x clamped to 0–10"
    assert "inside the bounds this changes nothing" in estimate_card(found).text.replace("\n", " ").replace(
        "    ", ""
    )


def test_the_usual_interval_is_the_one_that_there_is(data, mean):
    """The confidence interval where there is one, else the privacy interval; its kind is in it and in its repr."""
    many = data[data.x > 3].count()
    dpnb.release({"many": many}, epsilon=5)
    assert mean.interval().kind == "confidence"
    assert mean.interval(0.9) == mean.interval(0.9, "confidence")
    assert many.interval().kind == "privacy"
    assert many.interval() == many.interval(kind="privacy")
    assert "kind='privacy'" in repr(many.interval())
    assert (many * 2).interval().kind == "privacy"
    with pytest.raises(Unavailable, match="describes this dataset"):
        many.interval(kind="confidence")


def test_an_answer_without_any_interval_says_why(data):
    """The first reason, as before."""
    first = data.g.mode()
    dpnb.release({"first": first}, epsilon=5)
    with pytest.raises(Unavailable):
        first.interval()


def test_a_robust_mean_says_its_range_and_has_no_confidence_interval_where_that_is_unclear(data):
    """With a handful of rows the range may lie anywhere."""
    found = data.x.robust_mean()
    dpnb.release({"found": found}, epsilon=1)
    low, high = found.bounds().value
    assert (
        found.estimand
        == f"mean of x with each value moved into {low:g}–{high:g}, a range that was chosen privately"
    )
    assert "range unclear" in found.flags
    with pytest.raises(Unavailable, match="too few rows for a private range"):
        found.interval(kind="confidence")
    with pytest.raises(Unavailable, match="too few rows for a private range"):
        (found - 1 + found * found).interval(kind="confidence")
    assert found.standard_error is None
    assert found.interval().kind == "privacy"
    assert "for the moved values" in estimate_card(found).text.replace("\n", " ").replace("    ", "")


def test_a_question_is_asked_in_words(data):
    """The statistic, what it is of, groups and filter, without the dataset's name; a filter keeps its brackets where it needs them."""
    asked = {
        data.x.mean(): "Mean of x",
        data.x.difference(by="g"): "Difference of means of x by g",
        data[data.g == 1].count(): "Count of rows where g == 1",
        data[(data.x > 3) & (data.g == 1)].x.median(): "Median of x where (x > 3) & (g == 1)",
        data.x.correlation("y"): "Correlation of x and y",
    }
    for estimate, words in asked.items():
        leaf = estimate.measurement
        said, _ = in_words(leaf.question, leaf.checked.kind, leaf.checked.setting, data.schema)
        assert said == words


def test_a_constant_is_said_as_it_was_typed():
    """Only columns lose the dataset's name: points and brackets inside of a text stay."""
    town = Compare("==", Ref("town"), Const("St .Gallen (.x)"))
    assert show(town, "") == "(town == 'St .Gallen (.x)')"
    assert show(BoolOp("and", town, Compare(">", Ref("visit date"), Const(3))), "").endswith(
        "(visit date > 3))"
    )


def test_a_card_asks_in_words_before_it_asks_in_code(data):
    """Name, words, the answer, and then the code."""
    html = dpnb.release({"m": data.x.mean()}, epsilon=1)._repr_mimebundle_()["text/html"]
    places = [html.index(part) for part in ("<h4>m", "Mean of x", 'class="answer"', "small.x.mean()")]
    assert places == sorted(places)


def test_the_two_ways_to_a_difference_of_groups_are_told_apart(data):
    """Two means subtracted have the noise of both, and the card says what asks their difference as one question."""
    by, young = data.groupby("g").x.mean(), data[data.y == 1]
    asked = {
        "two": by[1] - by[0],
        "filtered": data[data.g == 1].x.mean() - data[data.g == 0].x.mean(),
        "part": young.groupby("g").x.mean()[1] - young.groupby("g").x.mean()[0],
        "other": data[data.g == 1].x.mean() - data[data.y == 0].x.mean(),
        "unlike": data[data.g == 1].x.mean() - data[data.g == 0].y.mean(),
        "many": data[data.x == 1].y.mean() - data[data.x == 2].y.mean(),
        "counts": data[data.g == 1].count() - data[data.g == 0].count(),
        "sum": by[1] + by[0],
        "effect": data.x.difference(by="g"),
    }
    found = dpnb.release(asked, epsilon=5)
    said = {name: " · ".join(line_of(one).mechanism) for name, one in found.items()}
    subtracted = "two means subtracted, with the noise of both"
    once = "asks the difference as one question, with noise of its own"
    assert said["two"] == f'{subtracted}; small.x.difference(by="g") {once}, unless one cell asks both'
    assert said["filtered"] == f'{subtracted}; small.x.difference(by="g") {once}'
    assert said["part"].startswith(f'{subtracted}; small[small.y == 1].x.difference(by="g") {once}')
    assert said["other"] == said["unlike"] == said["many"] == subtracted
    assert said["counts"] == said["sum"] == "arithmetic on released numbers"
    assert "discrete Laplace" in said["effect"]
    # what the card says of noise: shared draws give one number, others two
    assert found["two"].value == pytest.approx(found["effect"].value)
    assert found["filtered"].value != pytest.approx(found["effect"].value, abs=1e-9)
    line = said["two"].partition("; ")[2].partition(" asks")[0]
    assert eval(line, {"small": data}).measurement.question == found["effect"].measurement.question  # noqa: S307
