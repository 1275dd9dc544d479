"""Wrong versions of samplers and mechanisms that ``tests/mutants`` has not: the very checks that pass the right ones catch each of these."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from dpnb.inference.law import law_of
from dpnb.inference.seeded_bits import SeededBits
from dpnb.inference.selection_law import probabilities
from dpnb.trusted.mechanisms import DiscreteGaussian, DiscreteLaplace, QuantileSelection, exponential
from dpnb.trusted.noise import exact
from tests.contracts.law import MISFITS, fit
from tests.mechanisms.enumeration import counted, tight_pair, worst
from tests.mechanisms.test_additive import renyi

HALF = Fraction(1, 2)
SCALE = Fraction(5, 2)


def laplace_loss(mechanism, shift=1):
    """The largest log-ratio over all outputs between neighbours `shift` apart."""
    outputs = np.arange(-100, 100)
    return float(
        np.max(
            np.abs(np.log(law_of(mechanism).pmf(outputs)) - np.log(law_of(mechanism).pmf(outputs - shift)))
        )
    )


def test_a_scale_of_nine_tenths_is_caught():
    """Calibrating to 0.9 Δ/ε loses more than ε."""
    right = DiscreteLaplace.calibrate(1, HALF)
    wrong = DiscreteLaplace(right.scale * Fraction(9, 10))
    assert laplace_loss(right) <= 0.5 + 1e-9 < laplace_loss(wrong)


def test_add_remove_sensitivity_under_change_one_is_caught():
    """A histogram calibrated to one cell per row loses 2ε when a row moves between cells."""
    wrong = DiscreteLaplace.calibrate(1, HALF)
    assert 2 * laplace_loss(wrong) > 0.5 + 1e-9
    assert 2 * laplace_loss(DiscreteLaplace.calibrate(2, HALF)) <= 0.5 + 1e-9


@pytest.mark.parametrize(
    "shrink", [Fraction(81, 100), Fraction(1, 2)], ids=["sigma × 0.9", "the 2 of 2ρ lost"]
)
def test_a_small_variance_is_caught(shrink):
    """Gaussian noise with too small a variance exceeds αρ at order 2."""
    right = DiscreteGaussian.calibrate(9, HALF)
    assert renyi(law_of(right), 3, 2.0) <= 1 + 1e-9
    assert renyi(law_of(DiscreteGaussian(right.variance * shrink)), 3, 2.0) > 1 + 1e-9


def laplace_draws():
    return exact.discrete_laplace(SCALE, 100_000, SeededBits(61))


def gaussian_draws():
    return exact.discrete_gaussian(SCALE**2, 100_000, SeededBits(61))


def drawn(draws, law):
    return fit(draws, law) > MISFITS


LAPLACE, GAUSSIAN = law_of(DiscreteLaplace(SCALE)), law_of(DiscreteGaussian(SCALE**2))


def test_the_right_samplers_pass_what_the_mutants_fail():
    """The checks below have nothing against the real samplers."""
    assert drawn(laplace_draws(), LAPLACE)
    assert drawn(gaussian_draws(), GAUSSIAN)


def test_minus_zero_kept_is_caught(monkeypatch):
    """Without redrawing "minus zero", zero is twice too likely."""
    real = exact._negate
    monkeypatch.setattr(exact, "_negate", lambda value, bits: real(value, bits)[:0])
    assert not drawn(laplace_draws(), LAPLACE)


def test_one_sided_noise_is_caught(monkeypatch):
    """Noise that never falls below zero."""
    monkeypatch.setattr(exact, "_negate", lambda value, bits: np.empty(0, dtype=np.int64))
    assert not drawn(laplace_draws(), LAPLACE)


def test_a_gaussian_that_keeps_every_candidate_is_caught(monkeypatch):
    """Without rejection the discrete Gaussian is a discrete Laplace."""
    monkeypatch.setattr(
        exact._Acceptance, "keep", lambda law, candidates, bits: np.ones(candidates.size, dtype=bool)
    )
    assert not drawn(gaussian_draws(), GAUSSIAN)


def test_a_gaussian_accepted_around_zero_is_caught(monkeypatch):
    """Acceptance centred at 0 instead of σ²/t."""
    law = exact._Acceptance.of(SCALE**2)
    wrong = exact._Acceptance(law.variance, law.scale, law.far, law.shift, 0, law.factor)
    monkeypatch.setattr(exact, "_acceptance", lambda variance: wrong)
    assert not drawn(gaussian_draws(), GAUSSIAN)


def test_undecided_draws_set_to_zero_are_caught(monkeypatch):
    """Taking 16 bits for enough, one draw in seven hundred becomes a zero: seen in three million."""

    def draws():
        return exact.discrete_laplace(Fraction(8), 3_000_000, SeededBits(64))

    law = law_of(DiscreteLaplace(Fraction(8)))
    assert drawn(draws(), law)
    monkeypatch.setattr(
        exact._Digits, "_finer", lambda table, lead, bits: np.zeros(lead.size, dtype=np.uint16)
    )
    assert not drawn(draws(), law)


def test_rounded_continuous_noise_is_caught():
    """A rounded continuous Laplace variable is not the discrete Laplace law."""
    assert not drawn(np.rint(np.random.default_rng(62).laplace(0, float(SCALE), 100_000)), LAPLACE)


def test_rounded_normal_noise_is_caught():
    """A rounded normal variable is not the discrete Gaussian law at σ = 1/2."""
    law = law_of(DiscreteGaussian(Fraction(1, 4)))
    assert not drawn(np.rint(np.random.default_rng(62).normal(0, 0.5, 100_000)), law)


def test_a_repeated_seed_is_caught():
    """Two requests that share their entropy give equal noise; two requests to one source do not."""
    mechanism, bits = DiscreteLaplace(Fraction(2**20)), SeededBits(63)
    same = [mechanism.release([0] * 8, SeededBits(63)) for _ in range(2)]
    other = [mechanism.release([0] * 8, bits) for _ in range(2)]
    assert same[0] == same[1]
    assert not set(other[0]) & set(other[1])


# --- quantile selection ---


@dataclass
class Wrong:
    """A selection with a law of its own."""

    steps: int
    law: Callable


@probabilities.register
def _(mechanism: Wrong, counts):
    return mechanism.law(counts)


def quantile(epsilon=Fraction(1), factor=1, steps=4):
    return QuantileSelection(Fraction(epsilon), HALF, 0, steps, factor)


def floating(mechanism):
    """The mechanism with a law made of its float weights."""

    def law(counts):
        terrain = exponential.Terrain.of(counts, mechanism.q, mechanism.offset, mechanism.steps)
        weights = [Fraction(mechanism.weight(terrain.penalty(point))) for point in range(mechanism.steps + 1)]
        return [weight / sum(weights) for weight in weights]

    return Wrong(mechanism.steps, law)


def test_a_low_floor_is_caught(monkeypatch):
    """A floor of one lets rounding cost far more than is subtracted."""
    monkeypatch.setattr(exponential, "FLOOR", 1)
    claim, loss = max(
        (tight_low(Fraction(step, 4)) for step in range(30, 40)), key=lambda pair: pair[1] - pair[0]
    )
    assert loss > claim


def tight_low(epsilon):
    """The tight pair, with its point's weight two penalties above one instead of above 2²⁰."""
    steps = 2**40
    copies = int((60 + steps.bit_length()) * math.log(2) / (float(epsilon) / 2)) - 1
    return tight_pair(lambda e, q, steps: QuantileSelection(e, q, 0, steps), epsilon, steps, copies=copies)


def test_the_score_of_greater_minus_less_is_caught(monkeypatch):
    """The score -|#{x > v} - #{x < v}| has sensitivity 2 under change-one."""

    def penalty(terrain, point):
        below = terrain._count(int(np.searchsorted(terrain.values, point, "left")))
        upto = terrain._count(int(np.searchsorted(terrain.values, point, "right")))
        return 2 * abs(terrain._count(terrain.values.size) - upto - below)

    monkeypatch.setattr(exponential.Terrain, "penalty", penalty)
    assert worst(quantile(), 4, "change-one") > 1


def test_a_factor_ignored_is_caught(monkeypatch):
    """Two cells under change-one cost twice the loss of one."""
    minimum = QuantileSelection(Fraction(1), Fraction(0), 2, 4, 2)
    assert 2 * worst(minimum, 4, "add-remove") <= 1
    monkeypatch.setattr(
        QuantileSelection, "inner", property(lambda mechanism: mechanism.epsilon - mechanism.rounding)
    )
    assert 2 * worst(minimum, 4, "add-remove") > 1


def test_candidates_taken_from_the_data_are_caught():
    """Choosing among observed values only rules out every dataset without them."""
    real = quantile()

    def law(counts):
        chances = probabilities(real, counts)
        seen = set(counts[0].tolist()) or set(range(5))
        total = sum(chances[point] for point in seen)
        return [chances[point] / total if point in seen else Fraction(0) for point in range(5)]

    assert worst(Wrong(4, law), 3, "change-one") == math.inf


def test_gaps_that_count_once_are_caught():
    """Weighing a gap like one point makes its points likelier when the gap shrinks: more than ε."""
    real = quantile(Fraction(1, 20), steps=8)

    def law(counts):
        chances = probabilities(real, counts)
        gap = np.searchsorted(counts[0], np.arange(9)).tolist()
        seen = set(counts[0].tolist())
        cells = [("atom", point) if point in seen else ("gap", gap[point]) for point in range(9)]
        weights = [chances[point] / cells.count(cells[point]) for point in range(9)]
        return [weight / sum(weights) for weight in weights]

    wrong = Wrong(8, law)
    assert worst(real, 2, "change-one") <= 0.05 < worst(wrong, 2, "change-one")


def test_counted_gives_distinct_rising_values():
    """The audit's own input is what a mechanism is promised."""
    values, counts = counted((3, 1, 3))
    assert values.tolist() == [1, 3]
    assert counts.tolist() == [1, 2]
