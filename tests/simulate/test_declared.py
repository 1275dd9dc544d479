"""Declared populations draw what their law says, on the grid that was declared, and say the call that makes them again."""

from __future__ import annotations

import numpy as np
import pytest

from dpnb import simulate
from dpnb.errors import PlanError

MADE = [
    simulate.shaped(0.6),
    simulate.shaped(-1, 0.05, lower=-3, upper=3, step="0.5"),
    simulate.with_missing(simulate.shaped(0.2, name="age"), 0.3),
    simulate.with_missing(simulate.bernoulli(0.4, name="got"), 0),
    simulate.arms(simulate.bernoulli(0.2), simulate.bernoulli(0.7), 0.25),
    simulate.arms(*(simulate.with_missing(simulate.beta(2, b), 0.1) for b in (5, 3))),
    simulate.pair(simulate.beta(2, 5), simulate.with_missing(simulate.beta(5, 2, name="y"), 0.2), -0.5),
]


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.name)
def test_code_makes_it_again(made):
    """Evaluated, the code draws the same rows."""
    again = eval(made.code, {"simulate": simulate})  # noqa: S307  the population's own line
    one, two = (which.draw(np.random.default_rng(3), 2, 50) for which in (made, again))
    assert again.columns == made.columns
    for name, ints in one.items():
        assert np.array_equal(ints.values, two[name].values)
        assert np.array_equal(ints.known, two[name].known)


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.name)
def test_draws_follow_the_law(made):
    """Mean and spread of each column, and how many values are missing, within five standard errors."""
    table, weights = made.law()
    drawn = made.draw(np.random.default_rng(1), 40, 1000)
    for name, ints in drawn.items():
        law = table.columns[name]
        known = weights[law.known].sum()
        if not isinstance(made, type(MADE[-1])):
            assert ints.known.mean() == pytest.approx(
                known, abs=5 * (max(known * (1 - known), 0) / 40_000) ** 0.5 + 1e-12
            )
        share = weights[law.known] / known
        mean = float(share @ law.values[law.known])
        sd = float(share @ (law.values[law.known] - mean) ** 2) ** 0.5
        found = ints.values[ints.known]
        assert found.mean() == pytest.approx(mean, abs=5 * sd / found.size**0.5 + 1e-9)
        assert found.std() == pytest.approx(sd, rel=0.05)


def test_a_pair_goes_together_as_told():
    """The correlation that is drawn is that of the law, near the one of the normal numbers behind it."""
    made = simulate.pair(simulate.normal(50, 12), simulate.normal(50, 12, name="y"), 0.6)
    x, y = (ints.values for ints in made.draw(np.random.default_rng(2), 1, 50_000).values())
    assert np.corrcoef(x, y)[0, 1] == pytest.approx(0.6, abs=0.02)
    found = simulate.coverage("correlation", made, 800, 5, other="y", intervals="confidence", reps=200)
    assert found.table()["coverage"][0] > 0.85


def test_an_arm_has_its_effect():
    """The difference of the arms is what the laws say, and is covered."""
    made = simulate.arms(simulate.bernoulli(0.2), simulate.bernoulli(0.5))
    found = simulate.coverage("difference", made, 600, 2, by="arm", intervals="confidence", reps=300).table()
    assert found["coverage"][0] > 0.9
    assert found["bias"][0] == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: simulate.shaped(2), "skew lies between"),
        (lambda: simulate.with_missing(simulate.beta(2, 5), 1), "share of missing"),
        (lambda: simulate.arms(simulate.beta(2, 5), simulate.bernoulli(0.5)), "one outcome"),
        (lambda: simulate.arms(simulate.beta(2, 5), simulate.beta(2, 5), 1), "a share between"),
        (lambda: simulate.pair(simulate.beta(2, 5), simulate.beta(2, 5), 0.5), "two names"),
        (lambda: simulate.pair(simulate.beta(2, 5), simulate.beta(2, 5, name="y"), 1), "together lies"),
    ],
)
def test_what_is_no_population_is_refused(make, words):
    """A clear short error."""
    with pytest.raises(PlanError, match=words):
        make()
