"""Events are permanent: their JSON and what they cost never change."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpnb.errors import LossError
from dpnb.trusted.privacy.accountant import compose
from dpnb.trusted.privacy.event import KINDS, PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss, exact_text, parse_exact
from dpnb.trusted.privacy.measure import Measure

GOLDEN = Path(__file__).parents[1] / "golden" / "events"


RECORDS = json.loads((GOLDEN / "v1.json").read_text())
WITHOUT_DELTA = [kind for kind in KINDS if kind not in ("approximate", "laplace")]


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: str(r["event"]))
def test_every_event_ever_written_is_read_and_costs_what_it_always_cost(record):
    event = PrivacyEvent.from_json(record["event"])
    assert event.to_json() == record["event"]
    for measure, amount in record["loss"].items():
        if amount is None:
            with pytest.raises(LossError, match=r"\[budget\] (rho|epsilon and delta)"):
                event.loss(Measure(measure))
        else:
            delta = parse_exact(record["event"].get("delta", "0"))
            assert event.loss(Measure(measure)) == PrivacyLoss(Measure(measure), parse_exact(amount), delta)


def test_the_golden_files_hold_every_kind():
    assert {record["event"]["kind"] for record in RECORDS} == set(KINDS)


def test_an_event_has_a_delta_if_and_only_if_it_is_approximate():
    for kind, delta in [*((kind, "1e-6") for kind in WITHOUT_DELTA), ("approximate", 0), ("approximate", 1)]:
        with pytest.raises(LossError, match="δ"):
            PrivacyEvent(kind, Fraction(1), Fraction(delta))


@given(
    st.sampled_from([*WITHOUT_DELTA, "approximate"]),
    st.fractions(min_value=Fraction(1, 10**9), max_value=10**9),
    st.fractions(Fraction(1, 10**12), Fraction(1, 2)),
)
def test_an_event_survives_json_exactly(kind, amount, delta):
    stated = delta if kind == "approximate" else Fraction(0)
    event = PrivacyEvent(kind, amount, stated)
    assert PrivacyEvent.from_json(json.loads(json.dumps(event.to_json()))) == event
    assert event.delta >= stated


@pytest.mark.parametrize(
    "record",
    [
        {"event": 2, "kind": "pure", "amount": "1"},
        {"event": 1, "kind": "pure", "amount": "1", "delta": "0.1"},
        {"event": 1, "kind": "approximate", "amount": "1"},
        {"event": 2, "kind": "approximate", "amount": "1", "delta": "0.1"},
        {"event": 1, "kind": "approximate", "amount": "1", "delta": "1"},
        {"event": 1, "kind": "laplace", "amount": "1"},
        {"event": 1, "kind": "laplace", "amount": "1", "moves": []},
        {"event": 1, "kind": "laplace", "amount": "1", "moves": [[]]},
        {"event": 1, "kind": "laplace", "amount": "1", "moves": [[["1", "2"]]]},
        {"event": 1, "kind": "laplace", "amount": "1", "moves": [[["1"]]]},
        {"event": 1, "kind": "laplace", "amount": "1", "moves": [[["-1", "-1"]]]},
        {"event": 1, "kind": "laplace", "amount": "1", "moves": 3},
        {"event": 1, "kind": "pure", "amount": "1", "moves": [[["1", "1"]]]},
        {"event": 1, "kind": "permute-and-flip", "amount": "1"},
        {"event": 1, "kind": "pure", "amount": "1", "delta": "0"},
        {"event": 1, "kind": "pure"},
        {"event": 1, "kind": "pure", "amount": "0"},
        {"event": 1, "kind": "pure", "amount": "-1"},
        {"event": 1, "kind": ["pure"], "amount": "1"},
    ],
)
def test_an_unknown_event_is_refused_not_guessed(record):
    with pytest.raises(LossError):
        PrivacyEvent.from_json(record)


@pytest.mark.parametrize("part", [(-1, 1), (1, -1), (-1, -1), (1, 0)])
def test_a_shift_or_a_scale_that_would_lower_a_charge_is_no_move(part):
    """A shift of -1 beside one of 2 was charged as one step, however the event was made."""
    moves = [[tuple(map(Fraction, part)), (Fraction(2), Fraction(1))]]
    with pytest.raises(LossError, match="above 0"):
        PrivacyEvent.laplace(moves)
    with pytest.raises(LossError, match="above 0"):
        PrivacyEvent("laplace", Fraction(1), moves=(tuple(moves[0]),))


def _renyi(p, q, order):
    return np.log(np.sum(p**order * q ** (1 - order))) / (order - 1)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
def test_pure_epsilon_costs_at_least_the_renyi_divergence_of_randomized_response(epsilon):
    """Randomized response is the worst ε-DP pair, and ε·tanh(ε/2) covers it while 98 % of that does not."""
    p = np.array([np.exp(epsilon), 1]) / (1 + np.exp(epsilon))
    rho = float(PrivacyEvent("pure", Fraction(str(epsilon))).loss(Measure.ZCDP).amount)
    worst = max(_renyi(p, p[::-1], order) / order for order in np.linspace(1.001, 60, 500))
    assert 0.98 * rho < worst <= rho


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
def test_the_exponential_mechanism_costs_at_least_every_pair_of_bounded_range(epsilon):
    """Two-point pairs whose log ratios lie ε apart are the worst of bounded range ε; ε²/8 covers them, tightly."""
    rho = float(PrivacyEvent("exponential", Fraction(str(epsilon))).loss(Measure.ZCDP).amount)
    worst = 0.0
    for t in np.linspace(0.01, 0.99, 99) * epsilon:
        q = np.array([-np.expm1(t - epsilon) / (np.exp(t) - np.exp(t - epsilon)), 0])
        q[1] = 1 - q[0]
        p = q * np.exp([t, t - epsilon])
        p = p / p.sum()
        worst = max(worst, *(_renyi(p, q, order) / order for order in np.linspace(1.001, 60, 300)))
    assert 0.9 * rho * (1 - epsilon / 8) <= worst <= rho * (1 + 1e-9)


@given(
    st.lists(
        st.builds(
            PrivacyEvent,
            st.sampled_from(["pure", "exponential"]),
            st.fractions(Fraction(1, 10**6), 100, max_denominator=10**9),
        ),
        max_size=20,
    ),
    st.sampled_from(list(Measure)),
)
def test_composition_is_the_sum_in_any_order_and_exact_unless_its_denominator_outgrows_all_use(
    events, measure
):
    total = compose(events, measure)
    assert total == compose(reversed(events), measure)
    exact = sum((event.loss(measure).amount for event in events), Fraction(0))
    assert exact <= total.amount < exact + Fraction(1, 10**60)
    assert total.amount == exact or exact.denominator > 10**60


@given(st.lists(st.decimals(Decimal("1e-9"), 100, places=9), max_size=20), st.sampled_from(list(Measure)))
def test_losses_written_as_decimals_compose_exactly(amounts, measure):
    events = [PrivacyEvent("pure", Fraction(amount)) for amount in amounts]
    assert compose(events, measure).amount == sum((e.loss(measure).amount for e in events), Fraction(0))


def test_a_thousand_awkward_denominators_stay_readable_and_never_undercharge():
    events = [PrivacyEvent("pure", Fraction(1, 10**9 - 2 * i - 1)) for i in range(1000)]
    total, exact = compose(events, Measure.PURE).amount, sum(event.amount for event in events)
    assert exact <= total < exact + Fraction(1, 10**56)
    assert parse_exact(exact_text(total)) == total
