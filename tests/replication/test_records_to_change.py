"""The mean by records to change: its law on arrays, its claim, and that Laplace noise is at least as good."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from dpnb.errors import LossError, OptionError
from tests.contracts.law import FITS
from tests.replication.records_to_change import InverseSensitivityMean, compare_means

N = 1000
RNG = np.random.default_rng(1)
ARRAYS = {
    "all at -0.99": np.full(N, -0.99),
    "all in the middle": np.zeros(N),
    "uniform": np.linspace(-1, 1, N),
    "half at each end": np.repeat([-1.0, 1.0], N // 2),
    "normal": RNG.normal(0, 0.1, N),
}


def test_the_published_errors_are_reproduced():
    """At n = 1,000, ε = 0.1 on [-1, 1]: .056 at -.99, .028 in the middle, .053 uniform; Laplace .028."""
    found = {row["data"]: row for row in compare_means(ARRAYS, (-1, 1), "0.1")}
    for name, rms in (("all at -0.99", 0.056), ("all in the middle", 0.028), ("uniform", 0.053)):
        assert found[name]["records to change"] == pytest.approx(rms, abs=0.001)
        assert found[name]["laplace"] == pytest.approx(0.0283, abs=0.0001)


def test_laplace_noise_is_never_worse():
    """Over many shapes of data the error is at least that of Laplace noise, and at most about twice."""
    rng = np.random.default_rng(2)
    shapes = {f"beta {i}": rng.beta(*rng.uniform(0.2, 8, 2), N) * 2 - 1 for i in range(30)}
    ratios = compare_means(ARRAYS | shapes, (-1, 1), "0.1")["ratio"]
    assert min(ratios) > 0.999
    assert max(ratios) < 2.01


def number_of_changes(values, target, grid):
    """Fewest records to change for the mean to reach a target, by trying every choice of records."""
    n = len(values)
    for count in range(n + 1):
        for chosen in itertools.combinations(range(n), count):
            kept = sum(v for i, v in enumerate(values) if i not in chosen)
            if kept + count * grid[0] <= target * n + 1e-12 and target * n - 1e-12 <= kept + count * grid[1]:
                return count
    raise AssertionError("no mean in the range is out of reach")


def test_the_score_counts_records():
    """Between two edges the score is the fewest records that must change, by exhaustion."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        values = rng.uniform(0, 1, 5)
        found = InverseSensitivityMean.of(values, (0, 1), 1)
        middles = (found.edges[:-1] + found.edges[1:]) / 2
        for target, count in zip(middles, found.changes, strict=True):
            assert number_of_changes(values.tolist(), target, (0, 1)) == count
        assert found.edges[0] == pytest.approx(0)
        assert found.edges[-1] == pytest.approx(1)


def worst(exponent=1.0):
    """The largest log-ratio of densities over all neighbours of four records on a grid, at ε = 2."""
    at, found = np.linspace(0.001, 0.999, 997), 0.0
    for values in itertools.combinations_with_replacement([0.0, 0.3, 0.5, 1.0], 4):
        one = np.log(InverseSensitivityMean.of(values, (0, 1), 2 * exponent).density(at))
        for other in (0.0, 0.3, 0.5, 1.0):
            two = np.log(InverseSensitivityMean.of([*values[:3], other], (0, 1), 2 * exponent).density(at))
            found = max(found, float(np.max(np.abs(one - two))))
    return found


def test_no_neighbours_lose_more_than_the_claim():
    """The log-ratio of the densities of neighbouring arrays is at most ε, and more than half of it somewhere."""
    assert 1 < worst() <= 2 + 1e-9


def test_a_forgotten_half_is_caught():
    """With e^(-ε·len) instead of e^(-ε·len/2) the claim is broken."""
    assert worst(2.0) > 2


def test_draws_fit_the_law():
    """Draws fall between the edges as often as the law says, and a loss a tenth larger does not fit."""
    values = np.random.default_rng(4).uniform(-1, 1, 60)
    found, wrong = (InverseSensitivityMean.of(values, (-1, 1), loss) for loss in ("0.5", "0.55"))
    draws = found.draw(60_000, 5)
    assert np.sqrt(np.mean((draws - found.mean) ** 2)) == pytest.approx(found.rms, rel=0.03)
    assert np.mean(draws) - found.mean == pytest.approx(found.bias, abs=0.01)
    seen = np.histogram(draws, found.edges)[0]
    for law, fits in ((found, True), (wrong, False)):
        kept = law.masses * draws.size > 5
        expected = law.masses[kept] * seen[kept].sum() / law.masses[kept].sum()
        assert (stats.chisquare(seen[kept], expected).pvalue > FITS) == fits


def test_bad_arguments_are_refused():
    """No value, a value that is none, bounds the wrong way round, no loss and no array."""
    for values, bounds in (([], (0, 1)), ([np.nan], (0, 1)), ([1], (1, 0))):
        with pytest.raises(OptionError, match="finite"):
            InverseSensitivityMean.of(values, bounds, 1)
    with pytest.raises(LossError):
        InverseSensitivityMean.of([1], (0, 1), 0)
    with pytest.raises(OptionError, match="at least one"):
        compare_means({}, (0, 1), 1)


def test_a_computed_loss_is_read_as_in_every_simulation():
    """A float is rounded to six significant digits, and the value used is shown."""
    assert InverseSensitivityMean.of([0.2, 0.4], (0, 1), 2 / 3).epsilon == 0.666667
