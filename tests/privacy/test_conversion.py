"""What a pure mechanism costs in ρ: certified upwards, never below the divergence of any order, and hardly above it."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpnb.inference.largest_epsilon import exponential_epsilon, largest_epsilon, pure_epsilon
from dpnb.trusted.privacy.conversion import exponential_rho, laplace_rho, pure_rho
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.measure import Measure

ORDERS = (1.0001, 1.01, 1.3, 2.0, 4.0, 10.0, 60.0, 1000.0)
SCALES = (Fraction(1, 5), Fraction(1, 2), Fraction(1), Fraction(7, 3), Fraction(10), Fraction(100))
EPSILONS = st.fractions(Fraction(1, 10**9), 1000, max_denominator=10**9)


def divergence(shift: int, scale: float, order: float) -> float:
    """Rényi divergence of discrete Laplace noise and its shifted copy, summed over the outcomes; the far ones as two series."""
    x, steps = 1 / scale, np.arange(shift + 1)
    power = x * ((1 - order) * (shift - steps) + order * steps)
    ends = np.array([(order - 1) * shift * x, -order * shift * x]) + math.log(math.exp(-x) / -math.expm1(-x))
    logs = np.concatenate([-power, ends])
    total = math.log(math.tanh(x / 2)) + np.logaddexp.reduce(logs)
    return float(total) / (order - 1)


def formula(shift: int, scale: float, order: float) -> float:
    """The same by log(A e^((α-1)s/b) + B e^(-αs/b))/(α-1)."""
    q = math.exp(-1 / scale)
    r = q ** (2 * order - 1)
    a, b = (1 - q * r) / ((1 - r) * (1 + q)), (q - r) / ((1 - r) * (1 + q))
    assert min(a, b) >= 0
    assert a + b == pytest.approx(1)
    both = math.log(a) + (order - 1) * shift / scale, math.log(b or 1e-300) - order * shift / scale
    return float(np.logaddexp(*both)) / (order - 1)


def with_digits(compute: Callable[[], Decimal]) -> Fraction:
    """A hundred and fifty digits."""
    with localcontext() as context:
        context.prec = 150
        return Fraction(compute())


def exact_pure(epsilon: Fraction) -> Fraction:
    """ε·tanh(ε/2)."""

    def compute() -> Decimal:
        e = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        return e * (1 - (-e).exp()) / (1 + (-e).exp())

    return with_digits(compute)


def exact_laplace(shift: Fraction, scale: Fraction) -> Fraction:
    """(s - 2q(1 - q^s)/(1 - q²))/b: the mean of the log-ratio, summed over the outcomes."""

    def compute() -> Decimal:
        s, b = (Decimal(x.numerator) / Decimal(x.denominator) for x in (shift, scale))
        q = (-1 / b).exp()
        return (s - 2 * q * (1 - (-s / b).exp()) / (1 - q * q)) / b

    return with_digits(compute)


def test_the_figures_of_the_notes():
    """At ε = 1: .4621 for any mechanism and a one-step grid, down to .3679 on fine ones; 3.86 instead of 8 at ε = 4."""
    one = Fraction(1)
    assert round(float(pure_rho(one)), 4) == 0.4621
    assert [round(float(laplace_rho(Fraction(s), Fraction(s))), 4) for s in (1, 2, 5, 50)] == [
        0.4621,
        0.3935,
        0.3721,
        0.3679,
    ]
    assert round(float(pure_rho(Fraction(4))), 2) == 3.86
    assert exponential_rho(one) == Fraction(1, 8)
    assert exponential_rho(Fraction(20)) == pure_rho(Fraction(20)) < 20


@settings(max_examples=40)
@given(EPSILONS)
def test_the_charge_of_a_pure_event_is_rounded_up_and_precise(epsilon):
    exact, charged = exact_pure(epsilon), pure_rho(epsilon)
    assert exact <= charged <= min(epsilon**2 / 2, exact * (1 + Fraction(1, 10**13)))


@settings(max_examples=40)
@given(st.integers(1, 10**9), st.fractions(Fraction(1, 10**6), 2**48, max_denominator=10**9))
def test_the_charge_of_a_laplace_entry_is_rounded_up_and_precise(shift, scale):
    exact, charged = exact_laplace(Fraction(shift), scale), laplace_rho(Fraction(shift), scale)
    assert exact <= charged <= exact * (1 + Fraction(1, 10**12)) + Fraction(1, 10**33)
    assert charged <= pure_rho(shift / scale) * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("power", range(10, 31, 2))
@pytest.mark.parametrize("shift", [1, 10**6])
def test_the_charge_of_the_smallest_losses_is_rounded_up_too(power, shift):
    """1 - e^-ε has lost nearly all of its digits there: at ε = 10⁻²⁰ the charge was too small by 10⁻¹⁰ of it, at 10⁻²⁸ by all of it."""
    scale = shift * Fraction(10) ** power + Fraction(1, 3)
    epsilon = shift / scale
    assert exact_laplace(Fraction(shift), scale) <= laplace_rho(Fraction(shift), scale) <= epsilon**2 / 2
    assert exact_pure(epsilon) <= pure_rho(epsilon) <= epsilon**2 / 2


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_no_order_costs_an_entry_more_and_orders_near_one_cost_as_much(scale):
    """Brute force over shifts and orders: D_α/α ≤ ρ, falls in α, and is ρ in the limit, so that 98 % of ρ would not cover it."""
    for shift in (1, 2, 3, 5, 8, 21, 50):
        rho = float(laplace_rho(Fraction(shift), scale))
        ratios = [divergence(shift, float(scale), order) / order for order in ORDERS]
        assert ratios == pytest.approx([formula(shift, float(scale), o) / o for o in ORDERS], rel=1e-6)
        assert 0.98 * rho < ratios[0] <= rho * (1 + 1e-6)
        assert all(later <= earlier * (1 + 1e-6) for earlier, later in pairwise(ratios))


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 4.0, 20.0])
def test_randomised_response_costs_what_any_mechanism_is_charged(epsilon):
    p = np.array([1, math.exp(-epsilon)]) / (1 + math.exp(-epsilon))
    rho = float(pure_rho(Fraction(str(epsilon))))
    found = [np.logaddexp(*(o * np.log(p) + (1 - o) * np.log(p[::-1]))) / (o - 1) / o for o in ORDERS]
    assert 0.995 * rho < found[0] <= rho * (1 + 1e-6)
    assert all(later <= earlier * (1 + 1e-9) for earlier, later in pairwise(found))


def test_the_zeros_that_the_proof_needs_are_real_and_inside():
    """U_s(z) - q U_{s-2}(z) has s real zeros in (-1, 1): the imaginary part of w^(s-1)(w² - q) changes sign s times."""
    grid = np.linspace(1e-6, math.pi - 1e-6, 4_001)
    for s in range(1, 40):
        for q in (0.01, 0.3, 0.9, 0.999):
            signs = np.sign(np.sin((s + 1) * grid) - q * np.sin((s - 1) * grid))
            assert np.count_nonzero(np.diff(signs)) == s


def test_a_vector_never_exceeds_one_entry_that_takes_the_whole_l1():
    """600 random vectors, at every order: the divergences of the entries add to no more than that of one with all of the L1."""
    rng = np.random.default_rng(18)
    for _ in range(600):
        scale = float(np.exp(rng.uniform(-1, 4)))
        shifts = rng.integers(0, 12, rng.integers(1, 6))
        whole = int(shifts.sum())
        for order in (1.001, 3.0, 30.0):
            parts = sum(divergence(int(shift), scale, order) for shift in shifts if shift)
            assert parts <= (divergence(whole, scale, order) if whole else 0) * (1 + 1e-9) + 1e-12


@settings(max_examples=40)
@given(*[st.fractions(0, 50, max_denominator=99)] * 2, st.fractions(1, 50, max_denominator=99))
def test_the_charge_is_superadditive_and_rises_also_between_whole_shifts(one, two, scale):
    together = laplace_rho(one + two, scale)
    assert laplace_rho(one, scale) + laplace_rho(two, scale) <= together * (
        1 + Fraction(1, 10**12)
    ) + Fraction(1, 10**30)


@settings(max_examples=40)
@given(st.integers(1, 40), st.integers(1, 40), st.fractions(Fraction(1, 100), 20))
def test_at_equal_epsilon_a_finer_grid_costs_less(shift, finer, epsilon):
    coarse = laplace_rho(Fraction(shift), shift / epsilon)
    fine = laplace_rho(Fraction(shift * finer), shift * finer / epsilon)
    assert fine <= coarse * (1 + Fraction(1, 10**12))


@settings(max_examples=40)
@given(st.fractions(Fraction(1, 10**6), 10**4, max_denominator=10**9))
def test_an_epsilon_solved_from_rho_is_the_largest_that_fits(rho):
    step = Fraction(1, 10**6)
    for solve, charge in ((pure_epsilon, pure_rho), (exponential_epsilon, exponential_rho)):
        found = solve(rho)
        assert charge(found) <= rho < charge(found + step)


def test_the_search_does_not_trust_its_guess():
    """A guess that is far off, either way, costs time only."""
    for near in (lambda e: e * e / 50, lambda e: 20 * e):
        assert largest_epsilon(Fraction(1, 2), pure_rho, near) == pure_epsilon(Fraction(1, 2))


def test_moves_of_several_parts_add_and_the_worst_move_is_charged():
    """A count beside a sum: under change-one with one private cell the sum alone is charged, under add-remove both."""
    half, scale = Fraction(50), Fraction(100)
    sum_alone, both = [(2 * half, scale)], [(half, scale), (Fraction(1), Fraction(2))]
    changed = PrivacyEvent.laplace([sum_alone, both])
    assert changed.amount == 1
    assert changed.loss(Measure.ZCDP).amount == laplace_rho(2 * half, scale)
    added = PrivacyEvent.laplace([both])
    assert added.amount == 1
    parts = laplace_rho(half, scale) + laplace_rho(Fraction(1), Fraction(2))
    assert added.loss(Measure.ZCDP).amount == parts < pure_rho(Fraction(1)) / 2


@settings(max_examples=40)
@given(
    st.lists(
        st.lists(
            st.tuples(st.integers(0, 9).map(Fraction), st.fractions(1, 9, max_denominator=5)), max_size=4
        ),
        min_size=1,
    )
)
def test_an_event_never_costs_less_than_one_of_its_moves_nor_more_than_any_mechanism(moves):
    if not any(shift for move in moves for shift, _ in move):
        return
    event = PrivacyEvent.laplace(moves)
    charged = event.loss(Measure.ZCDP).amount
    assert event.amount == max(sum(shift / scale for shift, scale in move) for move in moves)
    assert charged <= pure_rho(event.amount) <= event.amount**2 / 2
    worst = max(sum(laplace_rho(*part) for part in move) for move in moves)
    assert charged == min(worst, pure_rho(event.amount))
    assert PrivacyEvent.from_json(event.to_json()) == event


def test_an_event_at_another_loss_is_that_mechanism():
    event = PrivacyEvent.laplace([[(Fraction(3), Fraction(6)), (Fraction(1), Fraction(4))]])
    assert event.scaled(Fraction(1, 2)).amount == event.amount / 2
    assert event.scaled(Fraction(2)) == PrivacyEvent.laplace(
        [[(Fraction(3), Fraction(3)), (Fraction(1), Fraction(2))]]
    )
    assert PrivacyEvent("exponential", Fraction(1)).scaled(Fraction(1, 2)).amount == Fraction(1, 2)
