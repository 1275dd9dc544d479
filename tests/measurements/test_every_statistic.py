"""What each statistic measures costs what is derived of it, and no more than its share: less only where a share is rounded, or parts move apart."""

from __future__ import annotations

import random
from fractions import Fraction
from importlib import import_module

import pytest

from dpnb.errors import DpnbError
from dpnb.planner import price
from dpnb.statistics import BY_NAME
from dpnb.statistics.count import Sum
from dpnb.trusted.measurements import events
from dpnb.trusted.mechanisms import DiscreteLaplace
from tests.contracts.derived_loss import loss
from tests.contracts.questions import UNITS, X, Y, asked, schema
from tests.fuzz import pairs

CASES = 25
CHEAPER = {"covariance", "correlation", "std", "variance", "weighted_mean"}
"""Where less may be charged: sums that are paid one by one share a worst move; a cube moves most where the square does not; a weight ends the
product's worst move."""
SELECTED = Fraction(1, 10**4)
"""What the ε of a selection, a threshold or a private range leaves at most, which is rounded down."""


def cases(name):
    """Random priced questions of a statistic, and the schema of each."""
    rng, found = random.Random(f"derived {name}"), []
    while len(found) < CASES:
        where, batch = pairs.case(rng, name, alone=True)
        try:
            (item,) = price(*batch, where).items
        except (DpnbError, ValueError, ZeroDivisionError):
            continue
        if not item.public:
            found.append((where, item))
    return found


@pytest.mark.parametrize("name", BY_NAME)
def test_the_derived_loss_is_charged_and_is_at_most_the_share(name):
    """Every adjacency and unit, filters, groups, missing values, all budgets: what is shown and charged is what is derived."""
    for where, item in cases(name):
        derived = loss(item.parts, where)
        assert (item.loss, item.events) == (derived.total, derived.events)
        spent = share_spent(item)
        assert spent <= item.share.amount
        assert spent > (1 - SELECTED) * item.share.amount or name in CHEAPER, item.text


def share_spent(item):
    """The loss of a question as it was asked: of ε in ε, whatever the measure, without Gaussian noise."""
    if item.share.kind == "rho":
        return item.loss.amount
    assert all(event.kind != "gaussian" for event in item.events)
    return sum(event.amount for event in item.events)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", ["epsilon", "rho"])
def test_a_statistic_that_halves_its_noise_is_charged_the_truth(unit, kind, monkeypatch):
    """Half of the noise costs twice as much, whatever the share was: so it is shown, and so the curator charges it, by the same call."""
    real = Sum.price

    def lying(self, setting, share):
        found = real(self, setting, share)
        (part,) = found.parts
        size = (
            part.mechanism.scale if isinstance(part.mechanism, DiscreteLaplace) else part.mechanism.variance
        )
        mechanism = type(part.mechanism)(size * Fraction(1, 2))
        return type(found)((type(part)(part.name, part.request, mechanism, part.cells),), found.rows)

    assert asked({"target": X}, "sum", schema(UNITS[unit], kind), kind, 1).loss.amount == 1
    monkeypatch.setattr(Sum, "price", lying)
    assert asked({"target": X}, "sum", schema(UNITS[unit], kind), kind, 1).loss.amount == 2


def test_separate_moments_are_charged_at_one_move_and_their_rows_say_what_each_costs_by_itself():
    """Five sums and a count of equal shares: a changed row leaves the count, so that a sixth is not charged."""
    sample = {"target": X, "other": Y, "options": (("method", "separate"),)}
    where = schema(UNITS["change-one"])
    item = asked(sample, "covariance", where, "epsilon", 1)
    assert item.loss.amount == Fraction(5, 6)
    assert [one.amount for one in loss(item.parts, where).alone] == [Fraction(1, 6)] * 6
    assert all(row.cost == "ε 0.167 by itself" for row in item.rows)


def test_a_price_comes_from_the_parts_alone(monkeypatch):
    """The pure function that prices calls the one loss function, once for each question, and charges its total."""
    where, seen = schema(UNITS["add-remove"]), []
    module = import_module("dpnb.planner.price")
    monkeypatch.setattr(module, "events", lambda parts, facts: (seen.append(parts), events(parts, facts))[1])
    item = asked({"target": X}, "mean", where, "epsilon", 1)
    assert seen == [item.parts]
