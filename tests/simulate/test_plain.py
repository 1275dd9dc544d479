"""Coverage of a plain function: a student's own interval on many studies, without a word of dpnb in it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpnb import simulate
from dpnb.errors import OptionError, PlanError, Unavailable

PEOPLE = simulate.beta(2, 5)


def right(values, epsilon, rng, level):
    """Laplace noise, and the quantile of it that holds the mean of the study with the level."""
    scale = 100 / len(values) / epsilon
    reach = -scale * np.log(1 - level)
    centre = values.mean() + rng.laplace(0, scale)
    return centre - reach, centre + reach


def test_a_right_interval_covers_as_often_as_it_says():
    """At 95 % and 80 %, for two sizes and two losses: the binomial law of 1,500 studies allows what was found."""
    for level in (0.95, 0.8):
        found = simulate.coverage(
            right, PEOPLE, n=[50, 200], losses=[0.2, 2], reps=1_500, truth=np.mean, levels=level
        )
        assert len(found.rows) == 4
        for row in found.rows:
            assert stats.binomtest(row.held, row.known, level).pvalue > 1e-5


def test_an_interval_that_forgets_its_noise_is_seen():
    """Student's t interval around a noisy mean is right about the population without noise, and wrong with it."""

    def forgetful(values, epsilon, rng):
        centre = values.mean() + rng.laplace(0, 100 / len(values) / epsilon)
        reach = 1.96 * values.std(ddof=1) / len(values) ** 0.5
        return centre - reach, centre + reach

    parameter = 100 * 2 / 7
    found = simulate.coverage(forgetful, PEOPLE, n=100, losses=[0.1, 1_000], reps=600, parameter=parameter)
    noisy, quiet = found.rows
    assert noisy.coverage < 0.5
    assert quiet.coverage > 0.9
    assert found.table()["about"] == ("population", "population")


def test_the_same_seed_gives_the_same_and_losses_do_not_disturb_each_other():
    one = simulate.coverage(right_of_95, PEOPLE, n=30, losses=[0.5, 1], reps=200, truth=np.mean, rng=3)
    other = simulate.coverage(right_of_95, PEOPLE, n=30, losses=1, reps=200, truth=np.mean, rng=3)
    assert one.rows[1] == other.rows[0]
    assert one != simulate.coverage(
        right_of_95, PEOPLE, n=30, losses=[0.5, 1], reps=200, truth=np.mean, rng=4
    )


def right_of_95(values, epsilon, rng):
    return right(values, epsilon, rng, 0.95)


def test_several_columns_come_by_name_and_rho_is_a_loss():
    """A difference of two columns, under Gaussian noise."""

    def difference(values, rho, rng):
        sd = 100 / len(values["x"]) / (2 * rho) ** 0.5
        centre = (values["y"] - values["x"]).mean() + rng.normal(0, sd)
        return centre - 1.96 * sd, centre + 1.96 * sd

    source = simulate.pair(simulate.beta(2, 5, name="x"), simulate.beta(3, 3, name="y"), 0.5)
    truth = lambda values: float((values["y"] - values["x"]).mean())
    found = simulate.coverage(difference, source, n=50, losses={"rho": [0.1]}, reps=800, truth=truth)
    assert stats.binomtest(found.rows[0].held, 800, 0.95).pvalue > 1e-5
    assert "rho" in found.table().columns


def test_no_interval_is_counted_and_not_hidden():
    """None, NaN and Unavailable are studies without an interval; another error is the function's own and is shown."""

    def sometimes(values, epsilon, rng):
        choice = rng.integers(4)
        if choice == 0:
            return None
        if choice == 1:
            return np.nan, np.nan
        if choice == 2:
            raise Unavailable("too few")
        return right(values, epsilon, rng, 0.95)

    (row,) = simulate.coverage(sometimes, PEOPLE, n=20, reps=400, truth=np.mean).rows
    assert row.studies == 400
    assert 50 < row.known < 150

    def broken(values, epsilon, rng):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        simulate.coverage(broken, PEOPLE, n=20, reps=5, truth=np.mean)


@pytest.mark.parametrize(
    ("function", "given", "error", "words"),
    [
        (right, {}, PlanError, "What should the interval contain"),
        (right, {"truth": np.mean, "parameter": 3}, PlanError, "the value of each study, or"),
        (lambda values: (0, 1), {"truth": np.mean}, OptionError, "my_interval"),
        (lambda values, epsilon: 3.0, {"truth": np.mean}, PlanError, "returns an interval"),
        (lambda values, rho: (0, 1), {"truth": np.mean}, OptionError, "does not take"),
        (right, {"truth": np.mean, "intervals": "privacy"}, OptionError, "leave out intervals"),
    ],
)
def test_bad_input_is_named(function, given, error, words):
    with pytest.raises(error, match=words):
        simulate.coverage(function, PEOPLE, n=20, reps=5, **given)


def test_a_plain_coverage_is_drawn_on_axes_that_are_given():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    _, axes = plt.subplots()
    found = simulate.coverage(right_of_95, PEOPLE, n=20, losses=[0.5, 1], reps=20, truth=np.mean)
    assert found.plot(ax=axes) is axes
    assert axes.get_xlabel() == "epsilon"
