"""Wrong versions of what runs on arrays: partitions, quantiles, matching and the bootstrap's price."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpnb.inference import matching, standard_error
from dpnb.risk import bootstrap
from dpnb.statistics.moment_matrix import Crossed
from tests.inference.test_matching import MOVES, moved
from tests.inference.test_standard_error import neighbours
from tests.mutants.table import Mutant, replaced
from tests.privacy.test_bootstrap import attained_delta
from tests.statistics import test_moments


def one_subset_moves(_: Any) -> None:
    """A changed row moves the value of one subset."""
    rng = np.random.default_rng(0)
    for _i in range(60):
        y = rng.random(24)
        z = y.copy()
        z[rng.integers(24)] = rng.random()
        moved_ones = standard_error.subset_variances(y, 6) != standard_error.subset_variances(z, 6)
        assert moved_ones.sum() <= 1


def quartile_costs_its_share(_: Any) -> None:
    """The densities of a private quartile at ε/4 = .25 differ by at most e^.25 between neighbours."""
    for v, w in neighbours(np.random.default_rng(1), 120):
        ends = [np.concatenate([[0.0], np.sort(values), [1.0]]) for values in (v, w)]
        cuts = np.unique(np.concatenate(ends))
        points = ((cuts[1:] + cuts[:-1]) / 2)[np.diff(cuts) > 1e-12]
        logs = []
        for ordered in ends:
            place = np.searchsorted(ordered, points) - 1
            logs.append(np.log(standard_error.gap_odds(ordered, 0.25, 0.25)[place] / np.diff(ordered)[place]))
        assert np.max(np.abs(logs[0] - logs[1])) <= 0.25 + 1e-9


def matched_rows_move_by_four(_: Any) -> None:
    """Random neighbours move the matched set by one of the seven proven moves."""
    rng = np.random.default_rng(2)
    for _i in range(1500):
        n = int(rng.integers(4, 15))
        score, arm = rng.integers(0, 8, n).astype(float), rng.integers(0, 2, n)
        row = int(rng.integers(n))
        other_score, other_arm = score.copy(), arm.copy()
        other_score[row], other_arm[row] = rng.integers(0, 8), rng.integers(0, 2)
        before, after = matching.match(score, arm, 2.0), matching.match(other_score, other_arm, 2.0)
        assert moved(before, after, row) in MOVES


def profile_bounds_the_attained_pair(_: Any) -> None:
    """One resample: δ of the pair that is known lies below the bound."""
    for mu in (0.5, 1.0):
        for epsilon in (0.5, 1.5, 4.0):
            bound = float(bootstrap.resampling_profile(mu, 500, np.array([epsilon]))[0])
            assert attained_delta(mu, epsilon) <= bound * (1 + 1e-6)


def _sorted_first(real: Any) -> Any:
    return lambda y, subsets, arm=None: real(np.sort(y), subsets, arm)


def _by_rank(real: Any) -> Any:
    """Score rows by their rank in the table: one row moves everybody's score."""
    return lambda score, arm, caliper: real(np.argsort(np.argsort(score)) % 7, arm, caliper)


def _again(real: Any) -> Any:
    """Let partners be chosen more than once."""

    def take(free: Any, score: float, caliper: float) -> int:
        stacks = [list(stack) for stack in free.stacks]
        links = free.left[:], free.right[:]
        found = real(free, score, caliper)
        free.stacks, (free.left, free.right) = stacks, links
        return int(found)

    return take


def _once_at_most(real: Any) -> Any:
    """Forget that a resample may hold a row more than once."""

    def odds(n: int, negligible: float = 1e-18) -> list[float]:
        first, *_ = real(n, negligible)
        return [first, 1 - first, 0.0]

    return odds


def squares_are_those_of_numpy(_: Any) -> None:
    """A matrix of two columns, whose squares are summed from the middle, is that of numpy."""
    test_moments.test_with_hardly_any_noise_readings_are_those_of_numpy(False, test_moments.ALL[:2])


def told_noise_is_drawn(_: Any) -> None:
    """The noise that is told of a matrix of two columns is that of its draws."""
    test_moments.test_the_noise_that_is_told_of_a_matrix_is_that_of_its_draws(
        None, "rho", test_moments.ALL[:2]
    )


MUTANTS = {
    "half of a count forgotten in a square": Mutant(
        "A sum of squares from the middle is read as one of squares: every variance is too small by a quarter of the range squared.",
        replaced(Crossed, "_counted", lambda real: lambda one, found, part=0.5: real(one, found, 0.0 * part)),
        squares_are_those_of_numpy,
    ),
    "noise of a count forgotten in a square": Mutant(
        "The count that a square from the middle is read with is told to have no noise: intervals are too narrow.",
        replaced(
            Crossed,
            "_counted",
            lambda real: lambda one, found, part=0.5: real(one, found, part if part == 0.5 else 0.0),
        ),
        told_noise_is_drawn,
    ),
    "subsets cut by content": Mutant(
        "Rows are sorted before they are cut into subsets: one row moves the values of several.",
        replaced(standard_error, "subset_variances", _sorted_first),
        one_subset_moves,
    ),
    "published quantile weight": Mutant(
        "The weight of a gap is exp(-ε/4 rank) instead of exp(-ε/8 rank): each quartile costs twice its share.",
        replaced(standard_error, "gap_odds", lambda real: lambda o, q, e: real(o, q, 2 * e)),
        quartile_costs_its_share,
    ),
    "matching on ranks": Mutant(
        "Scores are ranks in the table, as an estimated propensity is: one row moves many scores.",
        replaced(matching, "match", _by_rank),
        matched_rows_move_by_four,
    ),
    "matching with replacement": Mutant(
        "A partner may be chosen again: one row may leave many others with new partners.",
        replaced(matching._Free, "take", _again),
        matched_rows_move_by_four,
    ),
    "resamples hold a row at most once": Mutant(
        "The price of a resample forgets that a row may be in it twice or more.",
        replaced(bootstrap, "multiplicities", _once_at_most),
        profile_bounds_the_attained_pair,
    ),
}
