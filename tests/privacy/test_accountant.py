"""The accountant compares sums; its conversions are true statements, checked against an independent library."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpnb.errors import LossError
from dpnb.trusted.privacy.accountant import Budget, admits, epsilon_of, rho_for, spent_after
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure

RHOS = ["1e-6", "0.001", "0.02", "0.1", "0.5", "1", "5"]
DELTAS = ["1e-12", "1e-9", "1e-6", "1e-3", "0.1"]


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("rho", RHOS)
def test_epsilon_is_the_oracles_and_never_below_it(rho, delta):
    """dp-accounting minimises the same formula over a grid of orders; ours is at most its value, within 0.1 %."""
    from dp_accounting.rdp import rdp_privacy_accountant as oracle

    orders = 1 + np.exp(np.linspace(-6, 16, 4000))
    theirs, _ = oracle.compute_epsilon(orders, orders * float(rho), float(delta))
    ours = float(epsilon_of(rho, delta))
    assert ours <= theirs * (1 + 1e-9) + 1e-9
    assert ours == pytest.approx(theirs, rel=1e-3, abs=1e-8)


@pytest.mark.parametrize(("sigma", "delta"), [(1.0, 1e-6), (2.0, 1e-6), (5.0, 1e-3), (20.0, 1e-5)])
def test_epsilon_covers_the_discrete_gaussians_own_curve(sigma, delta):
    """The exact curve of the discrete law lies below the conversion: no domination is assumed."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    truth = pld.from_discrete_gaussian_mechanism(
        sigma, value_discretization_interval=1e-3
    ).get_epsilon_for_delta(delta)
    assert truth <= float(epsilon_of(1 / (2 * sigma**2), delta))


def test_the_figure_of_the_theory_page():
    assert float(epsilon_of("0.5", "1e-6")) == pytest.approx(5.222, abs=1e-3)


@given(
    st.fractions(Fraction(1, 100), 50, max_denominator=10**6),
    st.fractions(Fraction(1, 10**10), Fraction(1, 10), max_denominator=10**10),
)
def test_rho_for_is_safe_and_within_one_per_cent_of_the_best(epsilon, delta):
    rho = rho_for(epsilon, delta)
    assert epsilon_of(rho, delta) <= epsilon
    assert epsilon_of(rho * Fraction(102, 100), delta) > epsilon


@given(
    st.fractions(Fraction(1, 10**6), 10, max_denominator=10**6),
    st.fractions(Fraction(1, 10**10), Fraction(1, 2), max_denominator=10**10),
)
def test_conversion_is_monotone(rho, delta):
    assert epsilon_of(rho, delta) <= epsilon_of(rho * 2, delta)
    assert epsilon_of(rho, delta) <= epsilon_of(rho, delta / 2)


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2, "nan"])
def test_a_delta_outside_zero_and_one_is_refused(delta):
    with pytest.raises(LossError, match="delta"):
        epsilon_of(1, delta)
    with pytest.raises(LossError, match="delta"):
        rho_for(1, delta)


@pytest.mark.parametrize(
    "epsilon", ["1e101", "1e400", "1e9999", 10**200_000, Fraction(10**400, 3)], ids=range(5)
)
def test_an_epsilon_that_no_float_holds_is_refused(epsilon):
    with pytest.raises(LossError, match=r"above 1e\+100"):
        rho_for(epsilon, "1e-6")
    with pytest.raises(LossError, match=r"above 1e\+100"):
        epsilon_of(epsilon, "1e-6")


@pytest.mark.parametrize("epsilon", ["1e9", "1e30", "1e100"])
def test_a_huge_epsilon_is_nearly_its_rho(epsilon):
    assert 0.99 <= rho_for(epsilon, "1e-6") / Fraction(epsilon) <= 1
    assert epsilon_of(rho_for(epsilon, "1e-6"), "1e-6") <= Fraction(epsilon)


@pytest.mark.parametrize("delta", ["1e-301", "1e-390", "1e-9999", Fraction(1, 10**5_000)], ids=range(4))
def test_a_delta_that_no_float_holds_is_refused(delta):
    for convert in (rho_for, epsilon_of):
        with pytest.raises(LossError, match="below 1e-300"):
            convert(1, delta)
    with pytest.raises(LossError, match="below 1e-300"):
        Budget.from_toml({"epsilon": 1, "delta": delta})


def test_the_smallest_delta_is_converted():
    assert epsilon_of(rho_for(1, "1e-300"), "1e-300") <= 1
    assert Budget.from_toml({"epsilon": 1, "delta": "2e-300"}).cap.delta == Fraction(1, 10**300)


def test_no_loss_converts_to_no_loss():
    assert epsilon_of(0, "1e-6") == 0


def test_a_cap_admits_a_loss_up_to_it_and_not_a_billionth_more():
    cap, spent = PrivacyLoss.pure(1), PrivacyLoss.pure("2/3")
    assert admits(cap, spent, PrivacyLoss.pure("1/3"))
    assert not admits(cap, spent, PrivacyLoss.pure("1/3") + PrivacyLoss.pure("1e-9"))


def test_a_cap_refuses_when_either_part_exceeds_it():
    cap = PrivacyLoss.approx(1, 1e-6)
    spent = PrivacyLoss.approx(0.5, 5e-7)
    assert admits(cap, spent, PrivacyLoss.approx(0.5, 5e-7))
    assert not admits(cap, spent, PrivacyLoss.approx(0.1, 6e-7))
    assert not admits(cap, spent, PrivacyLoss.approx(0.6, 1e-7))


@given(st.lists(st.fractions(0, 10, max_denominator=10**9), max_size=30))
def test_an_odometer_never_goes_back(amounts):
    reading = PrivacyLoss.zero(Measure.ZCDP)
    for amount in amounts:
        after = spent_after(reading, PrivacyLoss.zcdp(amount))
        assert reading.fits_in(after)
        reading = after


@pytest.mark.parametrize(
    ("table", "label", "measure"),
    [
        ({"epsilon": 4}, "ε 4", Measure.PURE),
        ({"epsilon": 0.1}, "ε 0.1", Measure.PURE),
        ({"rho": "0.5"}, "ρ 0.5", Measure.ZCDP),
        ({"epsilon": 1, "delta": 1e-6}, "ε 1, δ 1e-06", Measure.APPROX_ZCDP),
    ],
)
def test_a_budget_reads_as_its_owner_wrote_it_and_survives_json(table, label, measure):
    budget = Budget.from_toml(table)
    assert (budget.label, budget.measure) == (label, measure)
    assert Budget.from_json(budget.to_json()) == budget
    assert hash(Budget.from_json(budget.to_json())) == hash(budget)


@pytest.mark.parametrize(
    "table", [{"epsilon": 1, "delta": 1e-6}, {"epsilon": 0.5, "delta": 1e-9}, {"epsilon": 8, "delta": 0.01}]
)
def test_an_epsilon_delta_budget_keeps_its_promise_as_a_whole(table):
    """What δ the events may use and what δ the conversion uses add up to at most the δ promised."""
    cap = Budget.from_toml(table).cap
    promised = Fraction(str(table["delta"]))
    assert epsilon_of(cap.amount, promised - cap.delta) <= Fraction(str(table["epsilon"]))


@pytest.mark.parametrize(
    "table",
    [
        {},
        {"eps": 1},
        {"epsilon": 1, "rho": 1},
        {"delta": 1e-6},
        {"rho": 1, "delta": 1e-6},
        {"epsilon": "many"},
    ],
)
def test_a_budget_table_that_is_not_one_of_three_forms_is_refused_with_the_forms(table):
    with pytest.raises(LossError, match=r"epsilon ?="):
        Budget.from_toml(table)


@pytest.mark.parametrize(
    ("cap", "words"),
    [
        (PrivacyLoss.pure(1000), {"epsilon": "1"}),
        (PrivacyLoss.zcdp(1), {"epsilon": "1"}),
        (PrivacyLoss.zcdp(2), {"rho": "1"}),
        (PrivacyLoss.approx("0.5", "1e-6"), {"epsilon": "1", "delta": "0.000001"}),
        (PrivacyLoss.pure(1), {}),
    ],
)
def test_a_budget_that_allows_more_than_its_words_is_not_read(cap, words):
    """A card shows the words and the filter holds the cap: a record in which they differ is refused."""
    with pytest.raises(LossError):
        Budget.from_json({"cap": cap.to_json(), "asked_as": words})
    for honest in ({"epsilon": 1}, {"rho": "0.5"}, {"epsilon": 1, "delta": "1e-6"}):
        written = Budget.from_toml(honest)
        assert Budget.from_json(written.to_json()) == written
