"""Matched pairs: the greedy rule, the row distance of four by brute force, noise, coverage and edges."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dpnb.errors import OptionError
from dpnb.inference.matching import match
from tests.inference.test_standard_error import laplace_p
from tests.replication.matched_difference import NoisedPairs, noised_matching

MOVES = {(0, 0), (0, 2), (1, 1), (1, 3), (2, 0), (2, 2), (3, 1)}


def obvious(score, arm, caliper):
    """Match by looking at every free row: an independent reading of the rule."""
    free, pairs = {i for i, t in enumerate(arm) if t == 0}, []
    for i, t in enumerate(arm):
        if t == 1 and free:
            distance, j = min((abs(score[i] - score[j]), j) for j in free)
            if distance <= caliper:
                free.remove(j)
                pairs.append((i, j))
    return pairs


def tagged(pairs, row, version):
    """Return matched rows, the changed row under a name of its own: changed, it is another row."""
    return {(i, version if i == row else 0) for i in pairs.rows}


def moved(before, after, row):
    """Return how many rows left and entered the matched set."""
    one, two = tagged(before, row, 1), tagged(after, row, 2)
    return len(one - two), len(two - one)


def test_matching_agrees_with_the_obvious_search():
    """2,000 random tables with many ties: the same pairs in the same order."""
    rng = np.random.default_rng(0)
    for _ in range(2000):
        n = rng.integers(1, 25)
        score, arm = rng.integers(0, rng.integers(1, 12), n).astype(float), rng.integers(0, 2, n)
        caliper = rng.choice([0.0, 1.0, 3.0, 100.0])
        found = match(score, arm, caliper)
        assert list(zip(found.second.tolist(), found.first.tolist(), strict=True)) == obvious(
            score, arm, caliper
        )


def test_every_change_of_every_tiny_table_moves_at_most_four_rows():
    """All tables of four rows with scores 0, 1, 2 and two arms, and all changes of one row: only the seven proven moves."""
    cells = list(product((0.0, 1.0, 2.0), (0, 1)))
    found = {table: match(*zip(*table, strict=True), 1.0) for table in product(cells, repeat=4)}
    seen = set()
    for table, pairs in found.items():
        for row, cell in product(range(4), cells):
            other = found[(*table[:row], cell, *table[row + 1 :])]
            seen.add(moved(pairs, other, row))
            assert abs(len(pairs) - len(other)) <= 1
    # an identical row counts as one leaving and one entering, which the seven moves allow for
    assert seen <= MOVES
    assert {(2, 2), (1, 3), (3, 1)} & seen


@pytest.mark.parametrize("cases", [12_000, pytest.param(60_000, marks=pytest.mark.soak)])
def test_random_neighbours_move_at_most_four_rows(cases):
    """Random tables of up to 14 rows and random changes: the seven moves, all of which occur."""
    rng, seen = np.random.default_rng(1), set()
    for _ in range(cases):
        n = int(rng.integers(2, 15))
        score, arm = rng.integers(0, 8, n).astype(float), rng.integers(0, 2, n)
        row = int(rng.integers(n))
        other_score, other_arm = score.copy(), arm.copy()
        other_score[row], other_arm[row] = rng.integers(0, 8), rng.integers(0, 2)
        caliper = float(rng.integers(0, 4))
        before, after = match(score, arm, caliper), match(other_score, other_arm, caliper)
        seen.add(moved(before, after, row))
        assert abs(len(before) - len(after)) <= 1
    assert seen == MOVES


def test_three_times_the_change_one_sensitivity_is_no_bound():
    """The number of matched rows has change-one sensitivity 0 as a function of rows, yet moves by two."""
    before, after = match([0.0, 0.0, 9.0], [0, 1, 0], 1.0), match([0.0, 5.0, 9.0], [0, 1, 0], 1.0)
    assert (len(before.rows), len(after.rows)) == (2, 0)


def test_pairs_may_all_change_although_the_set_does_not():
    """One control leaves: every treated row is paired anew while one row leaves the set and one enters.

    This is why sums of squared pair differences are not released.
    """
    arm = [0, 0, 0, 1, 1, 1, 0]
    before = match([2.0, 3.0, 4.0, 1.45, 2.45, 3.45, 1.0], arm, 1.0)
    after = match([2.0, 3.0, 4.0, 1.45, 2.45, 3.45, 50.0], arm, 1.0)
    assert before.first.tolist() == [6, 0, 1]
    assert after.first.tolist() == [0, 1, 2]
    assert moved(before, after, 6) == (1, 1)


def sums(y, pairs, middle):
    """Return what is released, without noise: for outcomes around a middle."""
    one, two = y[pairs.second] - middle, y[pairs.first] - middle
    return one.sum() - two.sum(), (one**2).sum() + (two**2).sum(), len(pairs)


def test_the_released_sums_never_move_further_than_their_noise_pays_for():
    """Extreme outcomes, 2,000 random neighbours: |ΔS| ≤ 2R, |ΔQ| ≤ 3R²/4, |Δm| ≤ 1, the first and last attained."""
    rng, worst = np.random.default_rng(2), np.zeros(3)
    for _ in range(2000):
        n = int(rng.integers(2, 12))
        score, arm, y = (
            rng.integers(0, 5, n).astype(float),
            rng.integers(0, 2, n),
            rng.choice([0.0, 0.5, 1.0], n),
        )
        other = score.copy(), arm.copy(), y.copy()
        row = rng.integers(n)
        other[0][row], other[1][row], other[2][row] = (
            rng.integers(0, 5),
            rng.integers(0, 2),
            rng.choice([0.0, 0.5, 1.0]),
        )
        before = sums(y, match(score, arm, 1.0), 0.5)
        after = sums(other[2], match(other[0], other[1], 1.0), 0.5)
        worst = np.maximum(worst, np.abs(np.subtract(before, after)))
    assert (worst <= [2.0, 0.75, 1.0]).all()
    assert worst[2] == 1
    assert worst[0] >= 1.5


def test_noise_has_the_scales_of_the_proof():
    """At ε = 2: 2R/(.7ε), (3R²/4)/(.2ε) and 1/(.1ε); their losses add to ε for the largest moves."""
    made = noised_matching([0.0, 3.0], match([0, 0], [0, 1], 0), (0, 3), 2.0, np.random.default_rng(3))
    assert (made.total_scale, made.square_scale, made.pairs_scale) == pytest.approx(
        (6 / 1.4, 6.75 / 0.4, 5.0)
    )
    assert 6 / made.total_scale + 6.75 / made.square_scale + 1 / made.pairs_scale == pytest.approx(2.0)


def test_the_noise_on_pairs_has_its_scales_and_no_other():
    """No pairs at all: 6,000 releases are pure noise of the three scales; a tenth less is rejected."""
    rng, pairs = np.random.default_rng(30), match([0.0, 9.0], [0, 1], 1.0)
    made = [noised_matching([0.0, 1.0], pairs, (0, 1), 2.0, rng) for _ in range(6000)]
    for name, scale in (("total", 2 / 1.4), ("square", 0.75 / 0.4), ("pairs", 5.0)):
        noise = [getattr(one, name) for one in made]
        assert laplace_p(noise, scale) > 1e-4
        assert laplace_p(noise, 0.9 * scale) < 1e-6


def study(rng, effect, n=1500):
    """Give one study with a confounder on a grid."""
    score = rng.integers(0, 40, n).astype(float)
    arm = (rng.random(n) < 0.2 + 0.3 * score / 40).astype(int)
    y = np.clip(0.3 + 0.2 * score / 40 + effect * arm + rng.normal(0, 0.1, n), 0, 1)
    return y, score, arm


def test_matched_differences_are_unbiased_and_their_intervals_cover():
    """A confounded study, ε = 2: matching removes a bias of a noise-free difference, and 95 % intervals cover at least 95 % of 400."""
    rng, inside, estimates, plain = np.random.default_rng(4), [], [], []
    for _ in range(400):
        y, score, arm = study(rng, 0.1)
        made = noised_matching(y, match(score, arm, 1.0), (0, 1), 2.0, rng)
        low, high = made.interval()
        inside.append(low <= 0.1 <= high)
        estimates.append(made.estimate)
        plain.append(y[arm == 1].mean() - y[arm == 0].mean())
    assert np.mean(estimates) == pytest.approx(0.1, abs=0.005)
    assert np.mean(plain) > 0.12
    assert np.mean(inside) >= 0.94


def test_privacy_intervals_hold_the_exact_matched_difference():
    """Noise alone: 95 % intervals hold the exact mean difference of the same pairs in at least 93 % of 600."""
    rng = np.random.default_rng(5)
    y, score, arm = study(rng, 0.1)
    pairs = match(score, arm, 1.0)
    exact = (y[pairs.second] - y[pairs.first]).mean()
    hits = [
        low <= exact <= high
        for low, high in (
            noised_matching(y, pairs, (0, 1), 1.0, rng).interval(sampling=False) for _ in range(600)
        )
    ]
    assert 0.93 <= np.mean(hits) <= 0.975


def test_no_match_within_the_caliper_is_a_flagged_answer():
    """Nobody to pair with, one arm empty: an estimate inside ±R, the whole domain as interval, and the flag."""
    rng = np.random.default_rng(6)
    for score, arm in (([0.0, 50.0], [0, 1]), ([0.0, 50.0], [0, 0]), ([0.0, 50.0], [1, 1])):
        made = noised_matching([0.2, 0.9], match(score, arm, 1.0), (0, 1), 0.1, rng)
        if made.flags:
            assert made.interval() == (-1.0, 1.0)
        assert abs(made.estimate) <= 1
    assert NoisedPairs(0.3, 0.1, -2.0, 1.0, 1.0, 1.0, 1.0).flags == ("arm too small",)


@pytest.mark.parametrize(
    "asked",
    [
        lambda: match([0.0, np.nan], [0, 1], 1),
        lambda: match([0.0], [0, 1], 1),
        lambda: match([0.0, 1.0], [0, 2], 1),
        lambda: match([0.0, 1.0], [0, 1], -1),
        lambda: noised_matching([0.0], match([0.0, 0.0], [0, 1], 1), (0, 1), 1.0, np.random.default_rng(0)),
        lambda: noised_matching(
            [0.0, 1.0], match([0.0, 0.0], [0, 1], 1), (1, 1), 1.0, np.random.default_rng(0)
        ),
        lambda: NoisedPairs(0.3, 0.1, 900.0, 1.0, 1.0, 1.0, 1.0).interval(95),
    ],
)
def test_what_cannot_be_matched_is_refused(asked):
    """Missing scores, lists of two lengths, a third arm, a negative caliper, outcomes of other rows, empty bounds."""
    with pytest.raises(OptionError):
        asked()
