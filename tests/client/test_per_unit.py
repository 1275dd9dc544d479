"""Fewer rows of each person than are declared, chosen for each question: less noise for the same loss, on the same dataset."""

from __future__ import annotations

import numpy as np
import pytest

import dpnb
from dpnb.errors import PlanError
from dpnb.trusted.aggregate.algebra import Lit, Total
from dpnb.trusted.aggregate.cap import cap

PEOPLE, EACH = 30, 4
WHO = np.repeat(np.arange(PEOPLE), EACH)
DECLARED = {
    "dataset": {"name": "visits", "adjacency": "add-remove", "unit": "who", "max_rows_per_unit": 3},
    "budget": {"epsilon": 10_000},
    "columns": {
        "minutes": {"type": "integer", "lower": 0, "upper": 10},
        "ward": {"type": "category", "values": ["a", "b"]},
    },
}


@pytest.fixture
def visits(dpnb_home):
    """Thirty people with four visits each, of which three are used, held in a frame."""
    rng = np.random.default_rng(4)
    frame = {"who": WHO, "minutes": rng.integers(0, 11, len(WHO)), "ward": rng.choice(["a", "b"], len(WHO))}
    return dpnb.open(frame, schema=DECLARED, quiet=True)


def released(question):
    """The answer with so much loss that noise is nothing beside the rows."""
    return float(dpnb.release({"q": question}, epsilon=300)["q"])


def test_fewer_rows_have_less_noise_for_the_same_loss(visits):
    """Noise and rows of a person shrink together; what is charged does not, and the release keeps so many rows."""
    for rows in (1, 2, 3):
        asked = visits.per_unit(rows)
        (item,) = dpnb.plan({"q": asked.minutes.sum()}, epsilon=1).priced.items
        assert item.parts[0].mechanism.scale == 10 * rows
        assert dpnb.plan({"q": asked.minutes.sum()}, epsilon=1).priced.loss.amount == 1
        assert released(asked.count()) == pytest.approx(PEOPLE * rows, abs=1)


def test_every_question_keeps_the_same_rows(visits):
    """The rows of a smaller cap are among those of a larger one: groups and filters of one row each add up to it."""
    first = visits.per_unit(1)
    by_ward = dpnb.release({"q": first.groupby("ward").count()}, epsilon=300)["q"]
    assert float(by_ward[0]) + float(by_ward[1]) == pytest.approx(PEOPLE, abs=2)
    long = released(first[visits.minutes > 5].count()) + released(first[first.minutes <= 5].count())
    assert long == pytest.approx(PEOPLE, abs=2)


def test_a_question_of_fewer_rows_reads_as_it_is_typed(visits):
    """The cap stands before the filter, wherever it was written; the declared maximum is no cap."""
    older = visits[visits.minutes > 5]
    assert older.per_unit(2).minutes.mean().text == "visits.per_unit(2)[visits.minutes > 5].minutes.mean()"
    assert visits.per_unit(2)[visits.minutes > 5].count().text == older.per_unit(2).count().text
    assert older.per_unit(3).count().text == older.count().text
    assert visits.per_unit(1).per_unit(2).count().text == visits.per_unit(2).per_unit(1).count().text
    assert "visits.per_unit(1)" in repr(visits.per_unit(1))


def test_questions_of_different_caps_share_nothing(visits):
    """Each keeps rows of its own: both are bought, and none costs less for the other."""
    plan = dpnb.plan({f"q{rows}": visits.per_unit(rows).count() for rows in (1, 2)}, epsilon=1)
    (one,), (two,) = (item.parts for item in plan.priced.items)
    assert one.request == Total(Lit(1), cap(1))
    assert two.request == Total(Lit(1), cap(2))


def test_a_number_of_rows_that_is_not_declared_is_refused(visits):
    """Before any charge, with the numbers that it takes."""
    for rows in (0, 4, -1, 1.5, True, "2"):
        with pytest.raises(PlanError, match="per_unit takes 1 to 3 rows of each who: max_rows_per_unit = 3"):
            visits.per_unit(rows)


def test_where_a_row_is_a_person_one_row_is_all_there_is(dpnb_home):
    """per_unit(1) asks the same question, and more are refused."""
    declared = {**DECLARED, "dataset": {"name": "people", "adjacency": "add-remove"}}
    people = dpnb.open({"minutes": [1, 2], "ward": ["a", "b"]}, schema=declared, quiet=True)
    assert people.per_unit(1).count().text == people.count().text
    with pytest.raises(PlanError, match="for people with several rows: here one row = one person"):
        people.per_unit(2)
