"""The Kolmogorov-Smirnov exponential mechanism draws exactly the law it declares, and no tiny neighbours lose more than ε."""

from __future__ import annotations

import itertools
import math
import time
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from scipy import stats

from dpnb.errors import LossError, PlanError
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.inference.seeded_bits import SeededBits
from dpnb.inference.selection_law import placements, probabilities
from dpnb.inference.simulated_release import choose
from dpnb.trusted.mechanisms import KSExponential
from dpnb.trusted.mechanisms.corridor import Corridor, step_weights
from dpnb.trusted.mechanisms.ks_exponential import distance
from dpnb.trusted.noise.exact import exp_bounds, stream
from dpnb.trusted.privacy.loss import PrivacyLoss
from tests.contracts.law import FITS, MISFITS, fit
from tests.contracts.mechanism import Audited, Drawn, MechanismContract

CASES = [
    ((7, 2, 0, 1), Fraction(1), 5, (1, 1, 1, 1), 1),
    ((0, 0, 0, 30), Fraction(2), 6, (1, 2, 1, 3), 1),
    ((40, 3, 50), Fraction(3, 2), 12, (4, 3, 4), 2),
    ((0, 0, 0), Fraction(1), 4, (1, 5, 1), 1),
    ((200, 0, 0, 0, 200), Fraction(1, 2), 4, (2, 1, 1, 1, 2), 1),
]


class TestKSExponential(MechanismContract):
    def mechanism(self):
        return KSExponential(Fraction(1), 5, (1, 2, 1))

    def audited(self):
        half = Fraction(1, 2)
        return Audited(KSExponential(half, 1, (1, 1)), ([3, 0], [2, 1]), PrivacyLoss.pure(half), runs=3_000)

    def drawn(self):
        mechanism = KSExponential(Fraction(1), 4, (1, 2, 1), 1, Fraction(1, 2))
        return {"synthetic sample": Drawn(mechanism, [3, 1, 2] * 200)}


# Tables


def walks(points, lows, highs):
    """Every placement whose running sums stay in the corridor."""
    for steps in placements(points, len(lows)):
        if all(low <= at <= high for low, at, high in zip(lows, accumulate(steps), highs, strict=True)):
            yield steps


def weight(steps, places):
    """Weight of a placement, exactly."""
    found = Fraction(1)
    for count, place in zip(steps, places, strict=True):
        found *= Fraction(place**count, math.factorial(count))
    return found


def number(mantissa, power):
    return Fraction(mantissa) * Fraction(2) ** power


def bound(table, steps):
    """w̃ of a placement, exactly."""
    found = Fraction(1)
    for step, count in zip(table.steps, steps, strict=True):
        found *= number(step.mantissas[count], step.exponents[count])
    return found


CORRIDORS = [
    ((1, 1, 1, 1), 6, (0, 0, 0, 6), (6, 6, 6, 6)),
    ((3, 1, 2, 5), 7, (1, 2, 4, 7), (4, 5, 6, 7)),
    ((1, 1, 1), 9, (8, 8, 9), (9, 9, 9)),
    ((2, 2, 2), 5, (0, 5, 5), (0, 5, 5)),
]


@pytest.mark.parametrize(("places", "points", "lows", "highs"), CORRIDORS)
def test_a_table_is_an_upper_bound_and_hardly_more(places, points, lows, highs):
    """A_m(k) is at least the exact weight of the corridor, and at most a billionth above."""
    table = Corridor.of(places, points, lows, highs)
    exact = sum(weight(steps, places) for steps in walks(points, lows, highs))
    assert exact <= number(*table.total) <= exact * (1 + Fraction(1, 10**9))


def check_columns(places, points, lows, highs):
    """Every entry is at least the exact sum of the products that its paths take."""
    table = Corridor.of(places, points, lows, highs)
    for column in range(1, len(places) + 1):
        before, step = table.lows[column - 1], table.steps[column - 1]
        for place in range(table.mantissas[column].size):
            state, total = table.lows[column] + place, Fraction(0)
            for start in range(table.mantissas[column - 1].size):
                gap = state - before - start
                if gap >= 0:
                    total += number(step.mantissas[gap], step.exponents[gap]) * number(
                        *table.entry(column - 1, start)
                    )
            assert number(*table.entry(column, place)) >= total


@pytest.mark.parametrize(("places", "points", "lows", "highs"), CORRIDORS)
def test_no_entry_is_below_the_exact_sum(places, points, lows, highs):
    """The proof's one inequality holds for every entry, in integers."""
    check_columns(places, points, lows, highs)


def test_no_entry_of_a_wide_table_is_below_the_exact_sum():
    """Weights that differ by 2^-1000 and more neither vanish nor sink below what they must bound."""
    check_columns((1, 2**40, 1, 7, 1), 160, (0, 0, 80, 100, 160), (160, 150, 160, 160, 160))


def test_step_weights_are_rounded_up_by_little():
    """v^d/d! is bounded from above within 2^-51, far beyond the range of floats."""
    for places in (1, 3, 2**30):
        table = step_weights(places, 300)
        for count in range(301):
            exact = Fraction(places**count, math.factorial(count))
            found = number(table.mantissas[count], table.exponents[count])
            assert exact <= found <= exact * (1 + Fraction(1, 2**51))
            assert 2**52 <= table.mantissas[count] <= 2**53


def backward_law(table, points):
    """The probability of every path, from the entries alone: products of (weight · entry before)/entry."""
    found = {}
    for steps in placements(points, len(table.steps)):
        chance, state = Fraction(1), points
        for column in range(len(steps), 0, -1):
            step, count = table.steps[column - 1], steps[column - 1]
            here = number(*table.entry(column, state - table.lows[column]))
            before = state - count - table.lows[column - 1]
            inside = 0 <= before < table.mantissas[column - 1].size
            there = number(*table.entry(column - 1, before)) if inside else Fraction(0)
            chance *= number(step.mantissas[count], step.exponents[count]) * there / here
            state -= count
            if not chance:
                break
        found[steps] = chance
    return found


@pytest.mark.parametrize(("places", "points", "lows", "highs"), CORRIDORS)
def test_the_law_of_paths_telescopes_exactly(places, points, lows, highs):
    """A path has probability w̃/A_m(k), as rationals, whatever the rounding."""
    table, inside = Corridor.of(places, points, lows, highs), set(walks(points, lows, highs))
    for steps, chance in backward_law(table, points).items():
        assert chance == (bound(table, steps) / number(*table.total) if steps in inside else 0)


def chi_square(seen, expected, reps):
    """P-value of drawn placements against a law; cells that are expected less than five times are joined."""
    names = [name for name, p in expected.items() if p * reps >= 5]
    observed = [seen.get(name, 0) for name in names]
    wanted = [expected[name] * reps for name in names]
    observed.append(reps - sum(observed))
    wanted.append(max(reps - sum(wanted), 1e-9))
    if wanted[-1] < 1:
        observed[-2:], wanted[-2:] = [sum(observed[-2:])], [sum(wanted[-2:])]
    return float(stats.chisquare(observed, np.array(wanted) * reps / sum(wanted)).pvalue)


def tally(draws):
    found = {}
    for draw in draws:
        found[draw] = found.get(draw, 0) + 1
    return found


def test_drawn_paths_fit_their_weights():
    """Backward draws have the law of the corridor, and fail as often as the tables are too large."""
    places, points, lows, highs = CORRIDORS[1]
    table = Corridor.of(places, points, lows, highs)
    words = stream(SeededBits(5))
    draws = [table.draw(words) for _ in range(8000)]
    total = sum(weight(steps, places) for steps in walks(points, lows, highs))
    exact = {steps: float(weight(steps, places) / total) for steps in walks(points, lows, highs)}
    assert None not in draws
    assert chi_square(tally(draws), exact, len(draws)) > FITS


def test_a_table_that_is_twice_too_large_fails_half_the_time():
    """What rounding up leaves over is a failed attempt, not a wrong path."""
    places, points, lows, highs = CORRIDORS[1]
    table = Corridor.of(places, points, lows, highs)
    table.exponents[-1][0] += 1
    words = stream(SeededBits(6))
    draws = [table.draw(words) for _ in range(8000)]
    assert stats.binomtest(draws.count(None), 8000).pvalue > FITS
    total = sum(weight(steps, places) for steps in walks(points, lows, highs))
    exact = {steps: float(weight(steps, places) / total) for steps in walks(points, lows, highs)}
    kept = [draw for draw in draws if draw is not None]
    assert chi_square(tally(kept), exact, len(kept)) > FITS


# The mechanism


def law(mechanism, counts):
    """The declared law, by placement."""
    found = probabilities(mechanism, counts)
    return dict(zip(placements(mechanism.points, len(mechanism.places)), found.tolist(), strict=True))


def analytic(sampler):
    """The law of the algorithm, computed from its own numbers: proposals times odds, exactly but for e^-x at 200 bits."""
    mechanism, logs = sampler.mechanism, {}
    shares = [b - a for a, b in itertools.pairwise((0, *sampler.shares))]
    for steps in placements(mechanism.points, len(mechanism.places)):
        total, missed = Fraction(0), distance(sampler.sums, steps)
        for ring, share in enumerate(shares):
            free = ring == len(sampler.corridors)
            if not free and missed > sampler.edges[ring]:
                continue
            if free:
                chance = (
                    weight(steps, mechanism.places)
                    * math.factorial(mechanism.points)
                    / sum(mechanism.places) ** mechanism.points
                )
            else:
                table = sampler.corridors[ring]
                chance = bound(table, steps) / number(*table.total)
            exponent, top, bottom = sampler.odds(steps, free=free)
            low, high = exp_bounds(exponent, 2000)
            assert Fraction(low, 2**2000) * top / bottom <= 1
            total += share * chance * Fraction(high, 2**2000) * top / bottom
        logs[steps] = total
    whole = sum(logs.values())
    return {steps: float(value / whole) for steps, value in logs.items()}


def made(case):
    counts, epsilon, points, places, factor = case
    return KSExponential(epsilon, points, places, factor), counts


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_law_of_the_algorithm_is_the_declared_law(case):
    """Corridors, ceilings and odds together give w·e^(-rD) for every placement, to the last digit of enumeration."""
    mechanism, counts = made(case)
    found, declared = analytic(mechanism.sampler(counts)), law(mechanism, counts)
    assert len(found) == math.comb(mechanism.points + len(counts) - 1, mechanism.points)
    for steps, chance in declared.items():
        assert found[steps] == pytest.approx(chance, rel=1e-11, abs=0)


def test_many_rings_are_used_and_ceilings_bound_their_rings():
    """In an ordinary case several corridors propose; every ceiling is at least e^(-r(D - first)) on its ring, and they fall."""
    sampler = KSExponential(Fraction(4), 12, (1,) * 12).sampler([50, 0, 80, 120, 60, 10, 0, 0, 5, 90, 0, 40])
    assert len(sampler.corridors) > 4
    ceilings = [number(*pair) for pair in sampler.ceilings]
    assert ceilings == sorted(ceilings, reverse=True)
    starts = (sampler.first, *(edge + 1 for edge in sampler.edges[:-1]))
    for start, ceiling in zip(starts, ceilings, strict=True):
        low, _ = exp_bounds(sampler.mechanism.rate * (start - sampler.first), 400)
        assert ceiling >= Fraction(low, 2**400)


@pytest.mark.parametrize("case", CASES[:3], ids=str)
def test_draws_fit_the_law_and_misfit_a_rate_a_tenth_off(case):
    """Exact and simulated draws have the enumerated law; with ε 10 % (here: more, for few draws) off they have not."""
    mechanism, counts = made(case)
    sampler, bits = mechanism.sampler(counts), SeededBits(7)
    draws = [sampler.draw(bits) for _ in range(6000)]
    assert chi_square(tally(draws), law(mechanism, counts), len(draws)) > FITS
    fast = [tuple(row) for row in choose(mechanism, counts, np.random.default_rng(8), 2000).tolist()]
    assert chi_square(tally(fast), law(mechanism, counts), len(fast)) > FITS


def test_a_rate_ten_percent_off_is_noticed():
    """60,000 draws of a steep law fit it, and neither 0.9 nor 1.1 times its ε."""
    counts, epsilon = (60, 0, 60), Fraction(1, 10)
    mechanism = KSExponential(epsilon, 4, (1, 1, 1))
    sampler, bits = mechanism.sampler(counts), SeededBits(9)
    seen = tally(sampler.draw(bits) for _ in range(60_000))
    assert chi_square(seen, law(mechanism, counts), 60_000) > FITS
    for factor in (Fraction(9, 10), Fraction(11, 10)):
        wrong = KSExponential(epsilon * factor, 4, (1, 1, 1))
        assert chi_square(seen, law(wrong, counts), 60_000) < MISFITS


def near(counts, adjacency):
    """Neighbours: one row fewer, or one row moved."""
    for at, here in enumerate(counts):
        if here:
            fewer = (*counts[:at], here - 1, *counts[at + 1 :])
            if adjacency == "add-remove":
                yield fewer
            else:
                yield from ((*fewer[:to], fewer[to] + 1, *fewer[to + 1 :]) for to in range(len(counts)))


def worst(mechanism, most, adjacency):
    """The largest log-ratio of the whole law over all neighbouring vectors of up to `most` rows a cell."""
    laws = {
        counts: law(mechanism, counts)
        for counts in itertools.product(range(most + 1), repeat=len(mechanism.places))
    }
    return max(
        abs(math.log(one[steps] / laws[other][steps]))
        for counts, one in laws.items()
        for other in near(counts, adjacency)
        if other in laws
        for steps in one
    )


@pytest.mark.parametrize("adjacency", ["add-remove", "change-one"])
def test_no_tiny_neighbours_lose_more_than_the_claim(adjacency):
    """Every vector of up to four rows a cell: the log-ratio is at most ε, and half of it is reached."""
    for epsilon in (Fraction(3, 10), Fraction(1, 2), Fraction(2), Fraction(8)):
        for places in ((1, 1, 1), (1, 3, 2)):
            found = worst(KSExponential(epsilon, 4, places), 4, adjacency)
            assert 0.45 * float(epsilon) < found <= float(epsilon) * (1 + 1e-12)


def test_a_change_of_group_costs_nearly_the_claim_and_no_more():
    """A row that leaves one group and enters another, at a pair that is nearly the worst: both groups together stay below ε."""
    mechanism = KSExponential(Fraction(4), 12, (10**6, 1), 2)
    less, more, other = (np.log(probabilities(mechanism, counts)) for counts in ((11, 0), (12, 0), (11, 1)))
    loss = np.max(less - more) + np.max(other - less)
    assert 0.7 * 4 < loss <= 4


def test_a_sample_of_full_size_is_quick():
    """At n = 30,000, k = 965, 256 cells the tables take seconds at most even here, a draw tens of milliseconds."""
    rng = np.random.default_rng(1)
    counts = np.bincount((rng.beta(2, 5, 30_000) * 256).astype(int), minlength=256).tolist()
    start = time.process_time()
    sampler = KSExponential(Fraction(1), 965, (4,) * 256).sampler(counts)
    ready = time.process_time()
    bits = SeededBits(1)
    misses = [distance(sampler.sums, sampler.draw(bits)) / (965 * 30_000) for _ in range(10)]
    assert ready - start < 5
    assert (time.process_time() - ready) / 10 < 0.5
    assert np.mean(misses) < 0.008


EDGES = [[0, 0, 0], [1, 0, 0], [0, 2, 0], [10**12, 0, 0], [10**9, 10**9, 10**9]]


@pytest.mark.parametrize("counts", EDGES, ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(1), Fraction(1000)])
def test_no_counts_make_a_placement_fail(counts, epsilon):
    """Empty, single, huge and equal counts give k points in declared cells like any others."""
    found = KSExponential(epsilon, 7, (5, 1, 2)).noised(counts, SeededBits(3))
    assert len(found) == 3
    assert sum(found) == 7
    assert min(found) >= 0


def test_no_row_gives_the_base_measure():
    """With nothing to be near to, points fall as the public weights say."""
    found = law(KSExponential(Fraction(1), 3, (1, 2)), (0, 0))
    assert found[(1, 2)] == pytest.approx(3 * (1 / 3) * (2 / 3) ** 2)


def test_groups_are_placed_one_after_the_other():
    """A vector of two groups gives k points in each."""
    found = KSExponential(Fraction(5), 6, (1, 1)).noised([100, 0, 0, 100], SeededBits(4))
    assert found[0] + found[1] == 6 == found[2] + found[3]
    assert found[0] > 3 > found[2]


def test_a_check_measures_the_drawn_placement(monkeypatch):
    """The noise on D has the law of scale k·factor/check and misfits 0.9 and 1.1 times it; it is paid for."""
    mechanism = KSExponential(Fraction(1), 3, (1, 1), 2, Fraction(1, 4))
    assert mechanism.check_scale == 24
    sampler = mechanism.sampler([4, 1])  # as each of the groups would make it
    monkeypatch.setattr(KSExponential, "sampler", lambda *_: sampler)
    found = np.array(mechanism.noised([4, 1] * 30_000, SeededBits(17))).reshape(-1, 3)
    assert (found[:, :2].sum(axis=1) == 3).all()
    noise = found[:, 2] - np.maximum(np.abs(12 - 5 * found[:, 0]), 0)
    assert fit(noise, DiscreteLaplaceLaw(Fraction(24))) > FITS
    for factor in (Fraction(9, 10), Fraction(11, 10)):
        assert fit(noise, DiscreteLaplaceLaw(24 * factor)) < MISFITS


def test_no_step_moves_a_distance_by_more_than_the_points():
    """Given any placement, D changes by at most k between neighbours, and k is reached."""
    moved = 0
    for counts in itertools.product(range(4), repeat=3):
        for other in (*near(counts, "add-remove"), *near(counts, "change-one")):
            for steps in placements(4, 3):
                one, two = (distance(list(accumulate(each)), steps) for each in (counts, other))
                moved = max(moved, abs(one - two))
    assert moved == 4


def test_the_same_words_give_the_same_placement():
    """A draw reads nothing but its words."""
    mechanism = KSExponential(Fraction(1, 3), 20, (1, 2, 3, 4), 2, Fraction(1, 7))
    one, two = (mechanism.noised([5, 5, 90, 0], SeededBits(15)) for _ in range(2))
    assert one == two


def test_what_cannot_be_placed_is_refused():
    """No point, too many, no cell, too many, a cell without weight, a factor of zero, no loss and a float are refused."""
    good = {"epsilon": Fraction(1), "points": 5, "places": (1, 1)}
    for bad in (
        {"points": 0},
        {"points": 2001},
        {"places": ()},
        {"places": (1,) * 1025},
        {"places": (1, 0)},
        {"factor": 0},
    ):
        with pytest.raises(PlanError):
            KSExponential(**good | bad)
    for name, loss in (("epsilon", Fraction(0)), ("epsilon", 0.5), ("check", 0.5), ("check", Fraction(-1))):
        with pytest.raises(LossError):
            KSExponential(**good | {name: loss})
    with pytest.raises(PlanError):
        Corridor.of((1,), 2001, (2001,), (2001,))
