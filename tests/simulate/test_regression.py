"""The coverage study of regressions: what it counts, that its naive interval fails, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from dpnb.errors import OptionError, PlanError
from dpnb.simulate import study
from dpnb.simulate.regression import regression_coverage
from dpnb.trusted.schema import Column
from tests.statistics.test_coverage import enough

GRID = [Column.number("x", -1, 1), Column.number("w", -1, 1), Column.number("y", -1, 1)]


def drawn(rng, shape):
    """Two uniform columns and a response of them: slopes 0.5 and -0.2, errors within the bounds."""
    x, w, error = rng.uniform(-1, 1, (3, *shape))
    return {"x": x, "w": w, "y": 0.5 * x - 0.2 * w + 0.3 * error}


def test_intervals_that_know_the_noise_cover_and_naive_ones_do_not():
    """At small losses privacy and confidence intervals hold their truth, and the interval of sampling alone misses it."""
    found = regression_coverage("y ~ x + w", drawn, 800, {"rho": [0.1, 2]}, 60, columns=GRID)
    assert len(found) == 2 * 3 * 3
    for row in found:
        if row.interval != "naive":
            assert enough(row.hits, row.studies), row
    noisy, clear = found.of("x", "naive")
    assert noisy.coverage < 0.8
    widths = [row.half_width for row in found.of("x", "confidence")]
    assert widths[0] > 1.5 * widths[1]
    assert clear.error < noisy.error
    low, high = noisy.band
    assert low < noisy.coverage < high


def test_the_sums_of_a_simulated_study_have_noises_of_their_own():
    """With one id for all six sums their noises were one: 54 to 61 % of intervals held a slope, and 95 % of those of real releases."""
    found = regression_coverage("y ~ x", drawn, 300, 5, 50, columns=GRID)
    for term in ("Intercept", "x"):
        (row,) = found.of(term, "privacy")
        assert enough(row.hits, row.studies), row


def test_it_prints_as_a_table_and_draws_a_figure():
    """One line for each row, and coverage against the loss with bands."""
    found = regression_coverage("y ~ x", drawn, 300, [3, 6], 5, columns=GRID, radius=1)
    assert str(found).count("\n") == 1 + len(found) == 1 + 2 * 2 * 3
    assert "coverage of 95 % intervals of y ~ x" in str(found)
    assert found.plot("x").axes[0].get_ylabel().endswith("of x")


def test_bias_and_spread_are_those_of_least_squares_where_there_is_hardly_any_noise():
    """A slope on 400 uniform rows with uniform errors has the standard deviation .3 / sqrt(400), and no bias."""
    found = regression_coverage("y ~ x", drawn, 400, {"rho": 1000}, 300, columns=GRID)
    (slope,) = found.of("x", "confidence")
    spread = np.sqrt(0.3**2 + 0.2**2) / np.sqrt(400)
    assert 0.85 * spread < slope.sd < 1.15 * spread
    assert abs(slope.bias) < 4 * slope.sd / np.sqrt(slope.studies)


def test_bias_and_spread_are_in_its_table():
    """A row for each; noise makes the estimate vary more."""
    found = regression_coverage("y ~ x", drawn, 300, {"rho": [0.1, 10]}, 40, columns=GRID, radius=1)
    table = found.table()
    assert len(table["sd"]) == len(found)
    assert table["rho"][0] == 0.1
    assert table["bias"] == tuple(row.bias for row in found)
    noisy, clear = found.of("x", "privacy")
    assert noisy.sd > 2 * clear.sd


def test_the_same_seed_gives_the_same_result():
    """And another seed another one."""
    one, two, three = (
        regression_coverage("y ~ x", drawn, 200, 5, 5, seed, columns=GRID) for seed in (1, 1, 2)
    )
    assert one == two != three


def test_a_fixed_study_has_privacy_intervals_alone():
    """Nothing is sampled, so nothing is said of a population."""
    rng = np.random.default_rng(3)
    table = {name: values[0] for name, values in drawn(rng, (1, 500)).items()}
    found = regression_coverage("y ~ x", study(table, GRID), None, {"rho": 1}, 20)
    assert {row.interval for row in found} == {"privacy"}
    assert all(enough(row.hits, row.studies) for row in found)


def test_the_parameters_of_a_table_are_those_of_its_rows():
    """Of a population with a law the parameter is exact: with hardly any noise or sampling every interval is about it."""
    rng = np.random.default_rng(3)
    table = {name: values[0] for name, values in drawn(rng, (1, 400)).items()}
    found = regression_coverage(
        "y ~ x + w", table, 20_000, {"rho": 100}, 5, columns=GRID, adjacency="add-remove"
    )
    assert all(row.error < 0.01 for row in found)


def test_what_cannot_be_simulated_is_refused():
    """An unknown column and an unknown row name their fix."""
    with pytest.raises(PlanError, match="z is not a column"):
        regression_coverage("y ~ z", drawn, 100, columns=GRID)
    found = regression_coverage("y ~ x", drawn, 100, 5, 2, columns=GRID)
    with pytest.raises(OptionError, match="no naive interval of w"):
        found.of("w", "naive")
