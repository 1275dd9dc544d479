"""The numbers that a reader sees in two places, and the test that holds each equal; one session is followed through all places here.

=====================  ==========================================  =====================================================
number                 places                                      test
=====================  ==========================================  =====================================================
what is paid           plan, card, ledger, budget                  widgets/test_same_numbers.py::test_one_price_everywhere
what is left           plan, card, budget, interactions            widgets/test_same_numbers.py::test_one_price_everywhere
prices of lines        plan, card                                  cards/test_cards.py::test_the_prices_of_a_card_add_up_to_what_was_paid
half-width             plan, released interval                     client/test_forecasts.py::test_plans_tell_what_the_release_gives
half-width, stored     plan, stored answer                         client/test_planned_store.py::test_a_stored_answer_shows_its_own_accuracy
half-width, stored     plan's board, stored answer                 widgets/test_interactions.py::test_board_shows_what_is_stored_with_its_own_accuracy
half-width, more paid  remeasure, released interval                widgets/test_interactions.py::test_remeasure_forecasts_what_remeasuring_gives
earlier intervals      trail of a card, interval concluded then    cards/test_stored.py::test_earlier_intervals_stay_as_a_trail
price of new noise     badge of a stored answer, price of a cell   cards/test_stored.py::test_what_fresh_costs_is_the_price_of_this_cell
spent                  gauge, session                              browser/test_extension.py::test_gauge_follows_the_session
=====================  ==========================================  =====================================================
"""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import dpnb
from dpnb import cards, widgets
from dpnb.widgets import _base


def test_one_price_everywhere(data):
    """What a plan costs is what the ledger charges, the budget spends and every interaction no longer has; its card says the same."""
    asked = {"m": data.x.mean(), "by": data.groupby("g").x.mean(), "n": data.count()}
    plan = dpnb.plan(asked, epsilon=1)
    board = widgets.plan(plan)
    before = data.budget.state()
    dpnb.release(asked, epsilon=1)
    after = data.budget.state()
    (row,) = (row for row in data.session.ledger(data) if row["kind"] == "charge")
    assert plan.cost.amount == Fraction(row["loss"]["amount"]) == after.mine.amount - before.mine.amount
    _base.refresh_all()
    lefts = {
        float(after.left.amount),
        board.facts["left"],
        widgets.seesaw(data.y.mean(), assume_n=40).facts["left"],
    }
    assert lefts == {float(before.left.amount - plan.cost.amount)}
    assert sum(loss.amount for _, loss in plan.prices) == plan.cost.amount
    assert str(after.left) in cards.budget_card(data.schema, after).text


def test_the_test_of_each_number_is_there():
    """A row of the table above whose test was renamed or taken away is found."""
    rows = re.findall(r"(\w+/\w+\.py)::(test_\w+)", __doc__)
    assert len(rows) == __doc__.count("::") >= 10
    for file, name in rows:
        assert f"def {name}(" in (Path(__file__).parents[1] / file).read_text(encoding="utf-8"), name
