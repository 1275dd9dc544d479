"""The question that is printed is the one that was asked: typed at a handle it is the same, and the curator charges and answers it so."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpnb.client.handles import Dataset
from dpnb.client.session import Opened
from dpnb.client.upload import hand_over
from dpnb.datasets.exact_answers import answer
from dpnb.datasets.preparation import prepare
from dpnb.errors import DpnbError
from dpnb.planner import Ask, Item, price
from dpnb.trusted.curator import service
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.open_dataset import PreparedCopies
from dpnb.trusted.mechanisms import DiscreteLaplace
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.schema import Mode
from dpnb.trusted.wire.places import Home
from tests.curator import small
from tests.fuzz import pairs, questions
from tests.fuzz.report import raw_rows

SILENT = Fraction(1, 60)
"""A scale at which discrete Laplace noise is zero but for one time in e^60."""
LOUD = "400000"


def drawn(rng):
    """A schema and a question that it admits, without options that are defaults."""
    while True:
        where, batch = pairs.case(rng, rng.choice(list(questions.PARTS)), alone=True)
        try:
            price(*batch, where)
        except DpnbError:
            continue
        # of the same columns, and handed over as they are
        return replace(where, prepared=()), batch.items[0].question


def held(question):
    """The canonical question without what defaults leave out."""
    found = question.to_json()
    defaults = {"ci": ["bool", "false"], "delta": ["frac", "1/100000000"]}
    options = [[name, value] for name, value in found["options"] if defaults.get(name) != value]
    return {**found, "options": options}


def typed(question, handle):
    """The pending answer of a question's text."""
    return eval(question.text, {questions.NAME: handle})  # noqa: S307 - the text is drawn above


def test_a_typed_question_is_the_one_that_was_printed(dpnb_home):
    """The text of a question, evaluated at a handle, asks that question: signs, selections, groups and all."""
    curator, rng = small.curator(dpnb_home), random.Random(17)
    session = small.session(curator)
    for _ in range(300):
        where, question = drawn(rng)
        handle = Dataset(session, Opened("h", where, "v", Mode("guard-rail"), ()))
        asked = typed(question, handle)
        if asked.measurement is not None:
            assert held(asked.measurement.question) == held(question), question.text
    curator.close()


def table(rng, where):
    """Raw rows of as many units as are declared."""
    pool = pairs.Rows.drawn(rng, where, 12)
    size = where.unit.rows or where.unit.units or 8
    made = raw_rows(where, pool, pairs.Pair(tuple(rng.choices(range(12), k=size)), (), ()), "one")
    return {name: np.array([*cells, None], dtype=object)[:-1] for name, cells in made.items()}


def silent(rng):
    """A question that discrete Laplace noise of vanishing scale answers, and its price."""
    while True:
        where, question = drawn(rng)
        if where.budget.measure is not Measure.PURE:
            continue
        priced = price((Item(question),), Ask.make(epsilon=LOUD), where)
        parts = [part.mechanism for item in priced.items for part in item.parts]
        if parts and all(isinstance(m, DiscreteLaplace) and m.scale < SILENT for m in parts):
            return where, question, priced


@pytest.mark.parametrize("seed", range(12))
def test_the_curator_charges_and_answers_what_was_typed(seed, dpnb_home):
    """Handle, plan, wire, price, ledger and DuckDB: where the noise vanishes, the reference's integers come back."""
    where, question, priced = silent(random.Random(seed))
    raw, home = table(random.Random(seed), where), Home(dpnb_home).make()
    curator = service.Curator(
        home, Ledger(home.ledger), PreparedCopies(home, service._prepare, service._engine)
    )
    session = small.session(curator)
    asked = typed(question, session.attach(hand_over(raw, where, home)))
    ask = Ask.make(epsilon=LOUD)
    assert session.plan([asked], ask).cost == priced.loss
    assert session.release([asked], ask).charged == priced.loss
    (item,), (release,) = priced.items, asked.measurement.releases
    exact = answer(prepare(raw, where), [part.request for part in item.parts])
    assert [part.values for part in release.parts] == exact
    assert release.loss == priced.loss
    curator.close()
