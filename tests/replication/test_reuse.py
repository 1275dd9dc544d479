"""Plain reuse of a test set overfits as the formula says; noisy scores do not."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from dpnb.errors import OptionError
from tests.replication.reuse import reuse


@pytest.fixture(scope="module")
def attacked():
    """Give forty attacked test sets of 1,000 rows, ε 1 for all scores together."""
    return reuse(1000, [1, 10, 100, 300], epsilon=1, repetitions=40, rng=np.random.default_rng(1))


def test_exact_scores_overfit_as_the_formula_says(attacked):
    """The vote of k questions scores Φ(√(2k/πn)) on the test set: .60 at 100, .67 at 300, although it is right half of the time."""
    for place, k in enumerate((1, 10, 100, 300)):
        expected = NormalDist().cdf((2 * k / (np.pi * 1000)) ** 0.5)
        assert attacked.plain[place].mean() == pytest.approx(expected, abs=0.012)


def test_noisy_scores_do_not(attacked):
    """At ε 1 in all, the vote of 300 questions scores below .53 on the test set: a fifth of the exact scores' climb or less."""
    assert attacked.noisy[3].mean() < 0.53
    assert attacked.noisy[3].mean() - 0.5 < 0.2 * (attacked.plain[3].mean() - 0.5)
    assert abs(attacked.reported[0].mean() - 0.5) < 0.02


def test_with_a_vast_loss_noisy_scores_are_exact_ones():
    """At ε 10⁶ the noise is nothing and the overfit is back."""
    found = reuse(500, [100], epsilon=1e6, repetitions=10, rng=np.random.default_rng(2))
    assert found.noisy == pytest.approx(found.plain)
    assert found.plain.mean() > 0.6


def test_bad_demonstrations_are_refused():
    """No question, no loss, no rows."""
    rng = np.random.default_rng(0)
    for call in (
        lambda: reuse(1000, [], rng=rng),
        lambda: reuse(1000, [0], rng=rng),
        lambda: reuse(1000, [1], epsilon=0, rng=rng),
    ):
        with pytest.raises(OptionError):
            call()
