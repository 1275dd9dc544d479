"""What is derived against what each statistic claims: never more, the same for most, and less only where that is proved."""

from __future__ import annotations

import random
from fractions import Fraction
from importlib import import_module

import pytest

from dpnb.errors import DpnbError
from dpnb.planner import price
from dpnb.statistics import BY_NAME
from dpnb.statistics.pair import price_pair
from dpnb.statistics.sum import Sum
from dpnb.trusted.measurements import events
from dpnb.trusted.mechanisms import DiscreteLaplace
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
from tests.contracts.derived_loss import loss
from tests.contracts.questions import UNITS, X, Y, asked, schema
from tests.fuzz import pairs

CASES = 25
CHEAPER = {"covariance", "correlation", "frequent_values", "moments", "std", "variance"}
"""Where less is charged than claimed: separate sums share a worst move; joint ones are bounded entry by entry too; a threshold's own δ; a
ball that is as large as its integer limits; a cube that moves most where the square does not; a weight that ends the product's worst
move."""


def cases(name):
    """Random priced questions of a statistic, and the schema of each."""
    rng, found = random.Random(f"derived {name}"), []
    while len(found) < CASES:
        where, batch = pairs.case(rng, name, alone=True)
        try:
            (item,) = price(batch, where).items
        except (DpnbError, ValueError, ZeroDivisionError):
            continue
        if not item.public:
            found.append((where, item))
    return found


@pytest.mark.parametrize("name", BY_NAME)
def test_the_derived_loss_is_charged_and_is_at_most_the_claim(name):
    """Every adjacency and unit, filters, groups, missing values, all budgets: what is shown and charged is what is derived."""
    for where, item in cases(name):
        pricing = item.checked.kind.price(item.checked.setting, item.share)
        claimed = sum(
            (event.loss(where.budget.measure) for event in pricing.events),
            PrivacyLoss.zero(where.budget.measure),
        )
        derived = loss(item.parts, where)
        assert (item.loss, item.events) == (derived.total, derived.events)
        assert derived.total.amount <= claimed.amount
        assert derived.total.delta <= claimed.delta
        assert derived.total == claimed or name in CHEAPER, item.text


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", ["epsilon", "rho"])
def test_a_statistic_that_halves_its_sensitivity_is_refused(unit, kind, monkeypatch):
    """Half of the noise for the whole of the share: the kernel refuses to show it, and the curator, by the same call, to charge it."""
    real = Sum.price

    def lying(self, setting, share):
        found = real(self, setting, share)
        (part,) = found.parts
        size = (
            part.mechanism.scale if isinstance(part.mechanism, DiscreteLaplace) else part.mechanism.variance
        )
        mechanism = type(part.mechanism)(size * Fraction(1, 2))
        return type(found)(
            (type(part)(part.name, part.request, mechanism, part.cells),), found.events, found.rows
        )

    assert asked({"target": X}, "sum", schema(UNITS[unit], kind), kind, 1).loss.amount == 1
    monkeypatch.setattr(Sum, "price", lying)
    with pytest.raises(AssertionError, match="costs more than its share"):
        asked({"target": X}, "sum", schema(UNITS[unit], kind), kind, 1)


def test_a_statistic_that_claims_a_cheaper_event_is_charged_the_truth(monkeypatch):
    """What a statistic says of its loss is not read: not by whoever shows it, charges it or records it."""
    real = Sum.price

    def lying(self, setting, share):
        found = real(self, setting, share)
        return type(found)(found.parts, (PrivacyEvent("pure", share.amount / 2),), found.rows)

    where = schema(UNITS["add-remove"])
    honest = asked({"target": X}, "sum", where, "epsilon", 1)
    monkeypatch.setattr(Sum, "price", lying)
    told = asked({"target": X}, "sum", where, "epsilon", 1)
    assert (told.loss, told.events) == (honest.loss, honest.events)


def test_separate_moments_are_charged_at_one_move_and_their_rows_say_what_each_costs_by_itself():
    """Five sums and a count of equal shares: a changed row leaves the count, so that a sixth is not charged."""
    sample = {"target": X, "other": Y, "options": (("method", "separate"),)}
    where = schema(UNITS["change-one"])
    item = asked(sample, "covariance", where, "epsilon", 1)
    assert item.loss.amount == Fraction(5, 6)
    claimed = price_pair(item.checked.setting, item.share)
    assert claimed.events[0].amount == 1
    assert [one.amount for one in loss(item.parts, where).alone] == [Fraction(1, 6)] * 6
    assert all(row.cost == "ε 0.167 by itself" for row in item.rows)


def test_a_price_comes_from_the_parts_alone(monkeypatch):
    """The pure function that prices calls the one loss function, once for each question, and charges its total."""
    where, seen = schema(UNITS["add-remove"]), []
    module = import_module("dpnb.planner.price")
    monkeypatch.setattr(module, "events", lambda parts, facts: (seen.append(parts), events(parts, facts))[1])
    item = asked({"target": X}, "mean", where, "epsilon", 1)
    assert seen == [item.parts]
