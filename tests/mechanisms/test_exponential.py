"""Quantile selection releases exactly the law it declares, on any data."""

from __future__ import annotations

import math
import time
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpnb.errors import LossError, PlanError
from dpnb.inference.seeded_bits import SeededBits
from dpnb.inference.selection_law import probabilities, rank_radius
from dpnb.inference.simulated_release import choose, penalties_of, points_of
from dpnb.trusted.mechanisms import QuantileFlip, QuantileSelection, exponential
from dpnb.trusted.mechanisms.exponential import FLOOR, Terrain
from dpnb.trusted.privacy.loss import PrivacyLoss
from tests.contracts.law import FITS
from tests.contracts.mechanism import Audited, Drawn, MechanismContract
from tests.mechanisms.enumeration import counted

HALF = Fraction(1, 2)


class QuantileContract(MechanismContract):
    """A selection of a quantile: its class, and what it is called."""

    kind = QuantileSelection
    called = "quantile"

    def mechanism(self):
        return self.kind(Fraction(1), HALF, 0, 100)

    def audited(self):
        median = (counted((0, 1, 1, 4)), counted((1, 1, 4, 4)))
        return Audited(self.kind(Fraction(4), HALF, 0, 4), median, PrivacyLoss.pure(4), runs=3_000)

    def drawn(self):
        ages = [counted((0, 0, 0, 2, 3, 3, 3, 3, 5, 5))]
        return {
            self.called: Drawn(self.kind(Fraction(2), HALF, 0, 5), ages * 1000),
            f"{self.called}, beyond": Drawn(self.kind(Fraction(2), Fraction(9, 10), -2, 5), ages * 1000),
        }


class TestQuantileSelection(QuantileContract):
    pass


def score(rows, point, q, offset, steps):
    """The score by its definition, in exact fractions: the ends of the grid are never too far out."""
    target = q * len(rows) + offset
    too_high = [sum(x < point for x in rows) - target] if point > 0 else []
    too_low = [target - sum(x <= point for x in rows)] if point < steps else []
    return -max(too_high + too_low, default=Fraction(0))


CASES = st.tuples(
    st.integers(0, 30).flatmap(
        lambda steps: st.tuples(st.just(steps), st.lists(st.integers(0, steps), max_size=12))
    ),
    st.fractions(0, 1, max_denominator=7),
    st.integers(-4, 4),
    st.sampled_from([Fraction(1, 100), Fraction(1, 3), Fraction(2), Fraction(40), Fraction(300)]),
)


@given(CASES)
def test_probabilities_are_those_of_the_definition(case):
    """Weights follow e^(ε'u/2) with floor 2²⁰ and lie within half a unit of it, for random data, quantiles and offsets."""
    (steps, rows), q, offset, epsilon = case
    mechanism = QuantileSelection(epsilon, q, offset, steps)
    law = probabilities(mechanism, counted(rows))
    assert sum(law) == 1
    scores = [score(rows, point, q, offset, steps) for point in range(steps + 1)]
    terrain = Terrain.of(counted(rows), q, offset, steps)
    for point, value in enumerate(scores):
        assert Fraction(-terrain.penalty(point), terrain.unit) == value - max(scores)
        weight = mechanism.weight(terrain.penalty(point))
        wanted = (60 + steps.bit_length()) * math.log(2) + float(mechanism.inner * (value - max(scores)) / 2)
        if wanted > 21 * math.log(2):
            assert abs(math.log(weight) - wanted) < 2**-21 + 1e-12
        assert weight >= FLOOR


@given(CASES)
def test_rings_hold_every_point_once_under_a_ceiling(case):
    """Rings and places number the grid without gap or repeat, and no weight exceeds its ring's ceiling: the release is exact."""
    (steps, rows), q, offset, epsilon = case
    mechanism = QuantileSelection(epsilon, q, offset, steps)
    terrain = Terrain.of(counted(rows), q, offset, steps)
    rings = mechanism.rings(terrain)
    seen = []
    for ring, size in enumerate(rings.sizes()):
        points = [rings.point(ring, place) for place in range(size)]
        places = np.arange(size, dtype=np.int64)
        assert points_of(rings, np.full(size, ring), places).tolist() == points
        assert all(mechanism.weight(terrain.penalty(point)) <= rings.ceilings[ring] for point in points)
        seen += points
    assert sorted(seen) == list(range(steps + 1))
    exact = [terrain.penalty(point) for point in range(steps + 1)]
    assert penalties_of(terrain, np.arange(steps + 1)).tolist() == exact


def chi_square(draws, law):
    """P-value of draws against an exact law, cells with less than five expected pooled."""
    expected = np.array([float(p) for p in law]) * len(draws)
    observed = np.bincount(draws, minlength=len(law))
    keep = expected >= 5
    observed = np.append(observed[keep], observed[~keep].sum())
    expected = np.append(expected[keep], max(expected[~keep].sum(), 1e-9))
    keep = expected > 0.5
    return stats.chi2.sf(np.sum((observed[keep] - expected[keep]) ** 2 / expected[keep]), keep.sum() - 1)


SAMPLES = [
    ((3, 3, 4, 9, 9, 9, 15), HALF, 0, 20, Fraction(1)),
    ((), HALF, 0, 7, Fraction(1)),
    ((0, 0, 0, 20), Fraction(1, 4), 1, 20, Fraction(3)),
    ((5, 6, 7), Fraction(1), 2, 12, Fraction(2)),
    ((5, 6, 7), Fraction(0), -2, 12, Fraction(2)),
]


@pytest.mark.parametrize(("rows", "q", "offset", "steps", "epsilon"), SAMPLES, ids=str)
def test_release_and_simulation_fit_the_law_and_misfit_another_epsilon(rows, q, offset, steps, epsilon):
    """Exact draws (p > 1e-6) and simulated ones fit the enumerated law, and misfit that of 0.7 ε unless it is flat."""
    mechanism, bits = QuantileSelection(epsilon, q, offset, steps), SeededBits(51)
    law = probabilities(mechanism, counted(rows))
    draws = np.array([mechanism.release(counted(rows), bits) for _ in range(4000)])
    fast = choose(mechanism, counted(rows), np.random.default_rng(52), 40_000)
    assert chi_square(draws, law) > FITS
    assert chi_square(fast, law) > FITS
    if rows:
        wrong = probabilities(QuantileSelection(epsilon * Fraction(7, 10), q, offset, steps), counted(rows))
        assert chi_square(fast, wrong) < FITS


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(5)], ids=str)
def test_the_rank_radius_holds_its_promise(epsilon):
    """By enumeration, the rank is wrong by more than r with probability at most β, and r is not vacuous."""
    rows = tuple(range(0, 400, 2))
    mechanism = QuantileSelection(epsilon, HALF, 0, 512)
    law = probabilities(mechanism, counted(rows))
    for beta in (0.5, 0.05, 1e-6):
        radius = rank_radius(mechanism, beta)
        beyond = sum(float(p) for point, p in enumerate(law) if -score(rows, point, HALF, 0, 512) > radius)
        assert beyond <= beta
        assert radius < 2 / float(epsilon) * (math.log(513) + math.log(1 / beta)) * 1.001
    assert rank_radius(mechanism, 1e-13) == math.inf


EXTREMES = [
    ([], [], HALF, 0, 0),
    ([0], [1], HALF, 0, 0),
    ([], [], HALF, 0, 2**62),
    ([0, 2**62], [1, 1], HALF, 0, 2**62),
    ([7], [2**50], HALF, 0, 2**40),
    ([1, 2], [2**40, 2**40], Fraction(123_456_789, 10**9), 10**9, 2**30),
    ([1, 2], [1, 1], HALF, 10**12, 100),
    ([1, 2], [1, 1], HALF, -(10**12), 100),
    ([100], [1], Fraction(0), 0, 100),
    ([0], [1], Fraction(1), 0, 100),
]


@pytest.mark.parametrize("kind", [QuantileSelection, QuantileFlip])
@pytest.mark.parametrize(("values", "counts", "q", "offset", "steps"), EXTREMES, ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**5), Fraction(1), Fraction(10**6)], ids=str)
def test_no_data_makes_a_selection_fail(kind, values, counts, q, offset, steps, epsilon):
    """Empty, constant, huge and far-off data give a point of the grid like any other."""
    mechanism = kind(epsilon, q, offset, steps)
    data = (np.array(values, dtype=np.int64), np.array(counts, dtype=np.int64))
    bits = SeededBits(53)
    assert all(0 <= mechanism.release(data, bits) <= steps for _ in range(20))
    fast = choose(mechanism, data, np.random.default_rng(1), 20)
    assert 0 <= fast.min() <= fast.max() <= steps


def test_values_without_rows_change_nothing():
    """A listed value with count zero has the same law as an unlisted one."""
    mechanism = QuantileSelection(Fraction(2), HALF, 0, 9)
    padded = (np.array([1, 3, 5, 8]), np.array([2, 0, 1, 0]))
    bare = (np.array([1, 5]), np.array([2, 1]))
    assert probabilities(mechanism, padded) == probabilities(mechanism, bare)
    assert mechanism.release(padded, SeededBits(1)) == mechanism.release(bare, SeededBits(1))


@given(CASES)
def test_the_quantile_scores_above_zero_and_all_other_values_below(case):
    """So that it is the likeliest answer at any ε, and more likely than by the score that stops at zero inside of a value's ranks."""
    (steps, rows), q, offset, epsilon = case
    mechanism = QuantileSelection(epsilon, q, offset, steps)
    scores = [score(rows, point, q, offset, steps) for point in range(steps + 1)]
    inside = [point for point, value in enumerate(scores) if value > 0]
    assert len(inside) <= 1
    assert max(scores) >= 0 or steps == 0
    law = [float(mechanism.inner * value / 2) for value in scores]
    stopped = [min(value, 0) for value in law]
    for point in inside:
        chance = float(probabilities(mechanism, counted(rows))[point])
        assert chance == pytest.approx(_softmax(law)[point], abs=1e-9)
        assert chance >= _softmax(stopped)[point] - 1e-9


def _softmax(logs):
    weights = np.exp(np.array(logs) - max(logs))
    return weights / weights.sum()


def test_a_rare_value_beside_a_frequent_median_does_not_win():
    """Of 84 rows 40 are 4, with 4 below and 40 above: that is the median, though 5 has more nearly as many rows below as above."""
    rows = (1, 1, 1, 2, *[4] * 40, *[5] * 2, *[9] * 38)
    mechanism = QuantileSelection(Fraction(8), HALF, 0, 10)
    law = probabilities(mechanism, counted(rows))
    middles = [abs(sum(x < v for x in rows) - sum(x > v for x in rows)) for v in range(11)]
    assert middles.index(min(middles)) == 5
    assert max(law) == law[4]
    assert law[4] / law[5] > math.exp(3.99 * 2 * (44 - 42))


def test_constant_data_are_nearly_certain():
    """With all data equal another answer has probability below N·e^(-ε'n/4) and the floor's 2⁻⁴⁰."""
    mechanism = QuantileSelection(Fraction(1), HALF, 0, 100)
    law = probabilities(mechanism, (np.array([40]), np.array([200])))
    assert 1 - law[40] < 100 * math.exp(-0.999 * 100 / 2) + 2.0**-40
    assert min(law) > 0


@pytest.mark.parametrize("kind", [QuantileSelection, QuantileFlip])
def test_a_million_distinct_values_are_no_effort(kind):
    """Weights are computed for drawn points alone, so the loss asked for makes no difference to the work."""
    rng = np.random.default_rng(54)
    values = np.unique(rng.integers(0, 2**40, 1_000_000))
    data = (values, np.ones(values.size, dtype=np.int64))
    start = time.process_time()
    for epsilon in ("1", "0.001"):
        mechanism = kind(Fraction(epsilon), HALF, 0, 2**40)
        rank = np.searchsorted(values, mechanism.release(data, SeededBits(55)))
        assert abs(rank - values.size / 2) <= rank_radius(mechanism, 1e-9)
    assert time.process_time() - start < 5  # a hang, not a benchmark


def test_what_cannot_be_selected_is_refused():
    """A float or outlying quantile, no grid, a factor of zero, and an ε that rounding would eat are refused."""
    for bad in ({"q": 0.5}, {"q": Fraction(3, 2)}, {"steps": -1}, {"factor": 0}):
        with pytest.raises(PlanError):
            QuantileSelection(**{"epsilon": Fraction(1), "q": HALF, "offset": 0, "steps": 10} | bad)
    for epsilon, factor in ((Fraction(1, 10**6), 1), (Fraction(1, 10**5), 4), (Fraction(0), 1), (0.5, 1)):
        with pytest.raises(LossError):
            QuantileSelection(epsilon, HALF, 0, 10, factor)


def test_a_factor_that_no_float_holds_is_refused_in_words():
    """It overflowed while the refusal was written (found by mutated requests)."""
    with pytest.raises(LossError, match=r"above 8e\+394 here"):
        QuantileSelection(Fraction(1), Fraction(1, 2), 0, 10, Fraction(10) ** 400)


@pytest.mark.parametrize(("offset", "end"), [(-40, 0), (40, 100)])
@pytest.mark.parametrize("rows", [[], [50] * 10, list(range(5, 95, 3))])
def test_a_target_beyond_all_rows_selects_the_end_of_the_grid(rows, offset, end):
    """A confidence limit whose rank no row has is the bound itself: it is the one best point, and misses are in ranks from it."""
    mechanism = QuantileSelection(Fraction(1), HALF, offset, 100)
    law = probabilities(mechanism, counted(rows))
    assert max(law) == law[end]
    missed = abs(HALF * len(rows) + offset) - (0 if end == 0 else len(rows))
    assert law[end] / law[50] > math.exp(0.499 * missed)


PINNED = [
    QuantileSelection(Fraction(1), HALF, 0, 100),
    QuantileSelection(Fraction(2), Fraction(9, 10), -1, 10**6, Fraction(9, 5)),
    QuantileSelection(Fraction(1, 10**4), HALF, 0, 5, Fraction(2)),
]


def off_the_definition():
    """The weights that are not max(2²⁰, round(2^(60+⌈log₂ N⌉)·e^(-(ε/factor - 4·10⁻⁶)·miss/2))), in sixty digits."""
    found = []
    with localcontext(prec=60):
        for mechanism in PINNED:
            row = mechanism.epsilon / mechanism.factor - Fraction(4, 10**6)
            for penalty in (0, 1, 7, 50, 10**9):
                fall = -row * penalty / mechanism.q.denominator / 2
                fall = (Decimal(fall.numerator) / fall.denominator).exp()
                wanted = max(2**20, round(2 ** (60 + mechanism.steps.bit_length()) * fall))
                if mechanism.weight(penalty) != wanted:
                    found.append((mechanism, penalty))
    return found


def test_every_weight_is_the_integer_of_its_definition(monkeypatch):
    """Floor and allowance for rounding are pinned here: no draw shows either, and a stored answer means them."""
    assert not off_the_definition()
    monkeypatch.setattr(exponential, "FLOOR", 2**20 - 1)
    assert {penalty for _, penalty in off_the_definition()} == {10**9}
    monkeypatch.undo()
    monkeypatch.setattr(QuantileSelection, "rounding", Fraction(404, 10**8))
    assert len(off_the_definition()) > 8
