"""Permute-and-flip for quantiles releases exactly the law it declares, on any data and grids of any length."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from dpnb.inference.seeded_bits import SeededBits
from dpnb.inference.selection_law import probabilities, rank_radius
from dpnb.inference.simulated_release import choose
from dpnb.trusted.mechanisms import QuantileFlip, QuantileSelection
from dpnb.trusted.mechanisms.exponential import Terrain
from dpnb.trusted.mechanisms.quantile_flip import struck_before
from tests.contracts.law import FITS
from tests.mechanisms.enumeration import counted
from tests.mechanisms.test_exponential import CASES, HALF, SAMPLES, QuantileContract, chi_square, score


class TestQuantileFlip(QuantileContract):
    kind = QuantileFlip
    called = "flipped quantile"


def by_runs(rows, mechanism):
    """The law by its definition alone: of each run of equal scores a binomial number is taken, and all that are taken win equally often.

    Summed over every combination of these numbers, from the scores as they are defined.
    """
    points = range(mechanism.steps + 1)
    scores = [score(rows, at, mechanism.q, mechanism.offset, mechanism.steps) for at in points]
    runs = [(gap, scores.count(gap)) for gap in sorted(set(scores))]
    rate = float(mechanism.epsilon / (2 * mechanism.factor))
    laws = []
    for gap, size in runs:
        taken = math.exp(-rate * float(max(scores) - gap))
        laws.append([math.comb(size, k) * taken**k * (1 - taken) ** (size - k) for k in range(size + 1)])
    found = dict.fromkeys(scores, 0.0)
    for numbers in product(*(range(size + 1) for _, size in runs)):
        chance = math.prod(law[k] for law, k in zip(laws, numbers, strict=True))
        for (gap, size), k in zip(runs, numbers, strict=True):
            found[gap] += chance * k / max(sum(numbers), 1) / size
    return [found[one] for one in scores]


SMALL = [
    ((1, 1, 3, 6), HALF, 0, 7, Fraction(2)),
    ((), HALF, 0, 4, Fraction(1)),
    ((0, 0, 0, 5), Fraction(1, 4), 1, 6, Fraction(3)),
    ((2, 3), Fraction(1), 2, 5, Fraction(2)),
    ((2, 3), Fraction(9, 10), -2, 5, Fraction(1, 3)),
]


def flips_fit(mechanism, rows, reps=3000):
    """P-value of exact draws against binomials over runs."""
    bits = SeededBits(51)
    draws = np.array([mechanism.release(counted(rows), bits) for _ in range(reps)])
    return chi_square(draws, by_runs(rows, mechanism))


@pytest.mark.parametrize(("rows", "q", "offset", "steps", "epsilon"), SMALL, ids=str)
@pytest.mark.parametrize("factor", [Fraction(1), Fraction(3, 2)])
def test_release_fits_binomials_over_runs(rows, q, offset, steps, epsilon, factor):
    """Draws and the listed law are those of binomials over runs of equal scores; draws misfit a rate that is a third off."""
    mechanism = QuantileFlip(epsilon, q, offset, steps, factor)
    oracle = by_runs(rows, mechanism)
    assert sum(oracle) == pytest.approx(1)
    np.testing.assert_allclose(probabilities(mechanism, counted(rows)), oracle, rtol=1e-10)
    assert flips_fit(mechanism, rows) > FITS
    if len(set(np.round(oracle, 12))) > 1:
        fast = choose(mechanism, counted(rows), np.random.default_rng(52), 40_000)
        assert chi_square(fast, oracle) > FITS
        wrong = QuantileFlip(epsilon * Fraction(3, 2), q, offset, steps, factor)
        assert chi_square(fast, by_runs(rows, wrong)) < FITS


@pytest.mark.parametrize(("rows", "q", "offset", "steps", "epsilon"), SAMPLES, ids=str)
def test_release_fits_the_law_on_longer_grids(rows, q, offset, steps, epsilon):
    """Exact draws fit the listed law where many points and rings take part."""
    mechanism, bits = QuantileFlip(epsilon, q, offset, steps), SeededBits(53)
    draws = np.array([mechanism.release(counted(rows), bits) for _ in range(3000)])
    assert chi_square(draws, probabilities(mechanism, counted(rows))) > FITS


def run_law(mechanism, rows):
    """The law of runs on a grid of any length, by the integral over the moment at which the answer is visited, in the logarithm of it."""
    terrain = Terrain.of(counted(rows), mechanism.q, mechanism.offset, mechanism.steps)
    marks = sorted({0, *rows, *(one + 1 for one in rows), 1, mechanism.steps, mechanism.steps + 1})
    firsts = [one for one in marks if one <= mechanism.steps]
    sizes = np.diff([*firsts, mechanism.steps + 1]).astype(float)
    taken = np.exp(-np.array([float(mechanism.rate * terrain.penalty(one)) for one in firsts]))
    logs = (np.arange(400_000) - 400_000 + 0.5) * 60 / 400_000
    moments = np.exp(logs)
    missed = np.log1p(-taken[:, None] * moments)
    none = (sizes[:, None] * missed).sum(axis=0)
    here = sizes[:, None] * taken[:, None] * np.exp(none - missed) * moments
    return firsts, here.sum(axis=1) * 60 / 400_000


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(9), Fraction(40)])
def test_a_grid_of_two_to_the_forty_has_its_law(epsilon):
    """Where binomials would be as large as 2⁴⁰, how often each run is the answer is what the integral says; the place in a run is uniform."""
    steps = 2**40
    rows = (5, 2**20, 2**20, 2**30, 2**38, 2**39, 2**39, 2**39 + 1, 2**40 - 9)
    mechanism, bits = QuantileFlip(epsilon, HALF, 0, steps), SeededBits(54)
    firsts, law = run_law(mechanism, rows)
    assert law.sum() == pytest.approx(1, abs=1e-3)
    draws = np.array([mechanism.release(counted(rows), bits) for _ in range(2000)])
    runs = np.searchsorted(firsts, draws, "right") - 1
    assert chi_square(runs, law / law.sum()) > FITS
    fast = choose(mechanism, counted(rows), np.random.default_rng(1), 20_000)
    assert chi_square(np.searchsorted(firsts, fast, "right") - 1, law / law.sum()) > FITS
    widest = int(np.argmax(np.bincount(runs)))
    inside = draws[runs == widest] - firsts[widest]
    size = int(np.diff([*firsts, steps + 1])[widest])
    assert chi_square((inside * 8 // size).astype(int), [1 / 8] * 8) > FITS or size < 8


@given(CASES)
@settings(max_examples=100)
def test_rings_hold_every_point_once_under_a_ceiling(case):
    """Rings number the grid without gap or repeat, and no probability exceeds its ring's ceiling."""
    (steps, rows), q, offset, epsilon = case
    mechanism = QuantileFlip(epsilon, q, offset, steps)
    terrain = Terrain.of(counted(rows), q, offset, steps)
    rings = mechanism.rings(terrain)
    seen = []
    for ring, (size, ceiling) in enumerate(zip(rings.sizes(), rings.ceilings, strict=True)):
        points = [rings.point(ring, place) for place in range(size)]
        taken = [math.exp(-float(mechanism.rate * terrain.penalty(point))) * 2.0**64 for point in points]
        assert all(one <= ceiling * (1 + 1e-12) for one in taken)
        assert 1 <= ceiling <= 2**64
        seen += points
    assert sorted(seen) == list(range(steps + 1))
    assert rings.ceilings[0] == 2**64


def heard_fits(heard):
    """P-value of what three clocks tell of one exponential time, asked one after the other, against integrals over that time.

    That silent clocks stay silent has the probability rate/(rate + theirs); those that strike come in by inclusion and exclusion.
    """
    rate, clocks, bits = 2, (3, 1, 5), SeededBits(55)
    seen = np.empty(8000, dtype=np.int64)
    for study in range(seen.size):
        pieces = [rate]
        answers = [heard(pieces, clock, bits) for clock in clocks]
        seen[study] = sum(answer << place for place, answer in enumerate(answers))
    law = np.zeros(8)
    for code, subset in product(range(8), range(8)):
        if code | subset == 7:
            silent = sum(clock for place, clock in enumerate(clocks) if subset >> place & 1)
            law[code] += (-1) ** (code & subset).bit_count() * rate / (rate + silent)
    assert law.sum() == pytest.approx(1)
    return chi_square(seen, law)


def test_what_was_heard_tells_of_the_time():
    """How often each of the eight answers comes."""
    assert heard_fits(struck_before) > FITS


def test_a_flip_is_never_farther_off_than_the_exponential_mechanism():
    """At equal ε the expected miss is smaller, by up to one half where few points are near."""
    rows, steps = tuple(range(0, 400, 2)), 512
    misses = np.array([-float(score(rows, at, HALF, 0, steps)) for at in range(steps + 1)])
    for epsilon, most in ((Fraction(1, 10), 1.0), (Fraction(2), 0.95), (Fraction(8), 0.8)):
        ours, theirs = (
            float(np.array(probabilities(kind(epsilon, HALF, 0, steps), counted(rows)), dtype=float) @ misses)
            for kind in (QuantileFlip, QuantileSelection)
        )
        assert ours <= most * theirs


def test_the_rank_radius_of_a_flip_holds_its_promise():
    """By the listed law the rank is wrong by more than r with probability at most β; and it is no larger than the exponential mechanism's."""
    rows, steps = tuple(range(0, 400, 2)), 512
    misses = np.array([-float(score(rows, at, HALF, 0, steps)) for at in range(steps + 1)])
    for epsilon, beta in product((Fraction(1, 2), Fraction(5)), (0.5, 0.05, 1e-6)):
        mechanism = QuantileFlip(epsilon, HALF, 0, steps)
        radius = rank_radius(mechanism, beta)
        assert probabilities(mechanism, counted(rows))[misses > radius].sum() <= beta
        assert radius <= rank_radius(QuantileSelection(epsilon, HALF, 0, steps), beta)


@pytest.mark.parametrize("kind", [QuantileFlip, QuantileSelection])
def test_of_one_point_no_rank_is_missed(kind):
    """The only point is the best one."""
    assert rank_radius(kind(Fraction(1), HALF, 0, 0), 0.05) == 0
