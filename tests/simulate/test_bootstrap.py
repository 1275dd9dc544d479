"""The published coverage study, reproduced: 80.1 / 97.1 / 100 % at k = 50, ρ = .5, n = 500."""

from __future__ import annotations

import numpy as np
import pytest

from dpnb.errors import OptionError
from dpnb.inference.bootstrap import Bootstrap
from dpnb.inference.resampling import noise_variance
from dpnb.risk.bootstrap import inflation_for
from dpnb.simulate.bootstrap import bootstrap_coverage, bootstrap_stream
from tests.replication.partitions import noised_partitions


@pytest.fixture(scope="module")
def age():
    """Give the ages of the 944 people of anes96, the named population."""
    from dpnb.datasets import find

    return find("anes96").load()["age"].astype(int)


def by_kind(rows, k=50):
    """Return the rows of one k by kind."""
    return {row.kind: row for row in rows if row.k == k}


def test_published_coverage_is_reproduced(age):
    """Ages: about 79 / 97 / 100 % with the published formula and noise, each within four of our standard errors."""
    found = by_kind(
        bootstrap_coverage(age, np.random.default_rng(1), bounds=(0, 100), ks=[50], simulations=4000)
    )
    for kind, share in (("unbiased", 0.791), ("conservative", 0.974), ("most conservative", 0.9995)):
        error = (share * (1 - share) / 4000) ** 0.5
        assert found[kind].published == pytest.approx(share, abs=4 * error + 0.002)


def test_the_finite_number_of_resamples_counts(age):
    """With the error of k resamples the conservative interval covers 95 % from k = 10 on; without it, not."""
    ten = by_kind(
        bootstrap_coverage(age, np.random.default_rng(2), bounds=(0, 100), ks=[10], simulations=8000), 10
    )
    assert ten["conservative"].published < ten["conservative"].corrected
    assert ten["conservative"].corrected > 0.94


def test_figure_7_is_reproduced():
    """A standard normal in [-3, 3], n = 500: coverages at k = 5 … 200, and conservative over unbiased half-widths 1.5 / 1.8 / 1.95.

    The unbiased interval covers less and less as the same ρ is spread over more resamples.
    """
    from dpnb.simulate import normal

    made = normal(0, 1, lower=-3, upper=3, step="0.006")
    found = bootstrap_coverage(made, np.random.default_rng(12), ks=[5, 10, 50, 100, 200], simulations=1000)
    conservative = [found.of(k, "conservative").published for k in (5, 10, 50, 100, 200)]
    assert conservative == pytest.approx([0.884, 0.942, 0.972, 0.978, 0.984], abs=0.025)
    assert found.of(200, "unbiased").published < found.of(10, "unbiased").published - 0.05
    for k, ratio in ((50, 1.56), (100, 1.76), (200, 1.95)):
        widths = found.of(k, "conservative").published_width / found.of(k, "unbiased").published_width
        assert widths == pytest.approx(ratio, rel=0.05)


def test_a_study_is_a_table_and_a_figure(age):
    """Its text has a line for every row, its figure a curve for every kind."""
    found = bootstrap_coverage(age, np.random.default_rng(13), bounds=(0, 100), ks=[10, 20], simulations=50)
    assert len(str(found).splitlines()) == 2 + len(found) == 8
    labels = found.plot().axes[0].get_legend_handles_labels()[1]
    assert labels == ["unbiased", "conservative", "most conservative"]
    with pytest.raises(OptionError, match="no deconvolved"):
        found.of(10, "deconvolved")


def test_the_provable_noise_covers_too_and_is_wider(age):
    """At c(50) = 1.29 the conservative interval still covers, and pays for the proof in width."""
    c = inflation_for(4.8872, 1e-6, 0.5, 50, 500)
    rng = np.random.default_rng(4)
    published = by_kind(bootstrap_coverage(age, rng, bounds=(0, 100), ks=[50], simulations=2000))[
        "conservative"
    ]
    provable = by_kind(bootstrap_coverage(age, rng, bounds=(0, 100), ks=[50], simulations=2000, inflation=c))[
        "conservative"
    ]
    assert provable.corrected > 0.95
    assert provable.corrected_width > 1.1 * published.corrected_width


def loop(population, studies, rng):
    """Return how often three kinds of interval hold the mean, for two k: 500 rows, one resample at a time."""
    hits = np.zeros((2, 3))
    for _ in range(studies):
        x = rng.choice(population, 500)
        for place, k in enumerate((10, 50)):
            variance = noise_variance(100 / 500, 0.5, k)
            held = rng.multinomial(500, np.full(500, 1 / 500), size=k)
            made = Bootstrap(
                np.array([noised_partitions(x, one, variance, rng).sum() for one in held]), variance
            )
            for j, kind in enumerate(("unbiased", "conservative", "most conservative")):
                reach = 1.96 * made.published_standard_error(kind)
                hits[place, j] += abs(made.estimate - population.mean()) <= reach
    return hits / studies


def test_the_fast_study_agrees_with_the_obvious_loop(age):
    """Forty studies, one resample after another and one part after another as published, agree with 4,000 by table within their error."""
    slow = loop(age, 40, np.random.default_rng(5))
    fast = bootstrap_coverage(age, np.random.default_rng(6), bounds=(0, 100), ks=[10, 50], simulations=4000)
    shares = np.array([row.published for row in fast]).reshape(2, 3)
    error = np.sqrt(shares * (1 - shares) / 40) + 0.01
    assert (np.abs(slow - shares) <= 4 * error).all()


def test_what_cannot_be_simulated_is_refused():
    """Fractions off the grid, no rows, one row a study."""
    rng = np.random.default_rng(0)
    for population, n in (([0.5, 1.0], 10), ([], 10), ([1, 2], 1)):
        with pytest.raises(OptionError):
            bootstrap_coverage(population, rng, bounds=(0, 9), n=n)


def test_deconvolved_intervals_stand_beside_the_others(age):
    """At k = 50 they cover above 90 % and are narrower than the conservative ones."""
    kinds = ("conservative", "deconvolved")
    rng = np.random.default_rng(10)
    found = by_kind(bootstrap_coverage(age, rng, bounds=(0, 100), ks=[50], simulations=200, kinds=kinds))
    assert found["deconvolved"].published is None
    assert found["deconvolved"].corrected > 0.88
    assert found["deconvolved"].corrected_width < found["conservative"].corrected_width


def test_a_mean_with_its_second_moment_is_proven_and_tighter(age):
    """At ρ = .5 the interval of `mean()` covers 95 % with three quarters of the conservative bootstrap's half-width."""
    from dpnb.simulate import coverage, resampled

    made = resampled(age, lower=0, upper=100, step=1)
    mean = coverage("mean", made, n=500, losses={"rho": 0.5}, intervals="confidence", reps=1000).table()
    boot = by_kind(bootstrap_coverage(made, np.random.default_rng(11), ks=[50], simulations=1000))
    assert mean["coverage"][0] > 0.93
    assert mean["width"][0] / 2 < 0.85 * boot["conservative"].corrected_width


def test_monte_carlo_intervals_cover_as_released_ones_do(age):
    """Algorithm 2 with the release's own noise and standard error: 95 % ± 3 % of 600 studies, as wide as the exact test."""
    from dpnb.simulate import coverage, resampled
    from dpnb.simulate.intervals import monte_carlo

    made = resampled(age, lower=0, upper=100, step=1)
    found = coverage("mean", made, n=500, losses=1, intervals=["confidence", monte_carlo()], reps=600).table()
    assert found["coverage"][1] == pytest.approx(0.95, abs=0.03)
    assert found["width"][1] == pytest.approx(found["width"][0], rel=0.08)


def test_a_study_that_is_streamed_is_the_same_to_the_bit(age):
    """Block after block, left and taken up again, or in one piece; alone or beside other k."""
    asked = {"bounds": (0, 100), "n": 120, "simulations": 2100, "kinds": ["unbiased"]}
    whole = bootstrap_coverage(age, 7, ks=[20, 30], **asked)
    first = next(bootstrap_stream(age, 7, ks=[20, 30], **asked))
    assert (first.studies, first.complete) == (1000, False)
    *_, resumed = first.resume()
    assert resumed.rows == whole.rows
    assert bootstrap_coverage(age, 7, ks=[30], **asked).rows == whole.rows[1:]


def test_its_code_makes_it_again():
    """The call that a study shows gives its rows."""
    from dpnb import simulate

    found = bootstrap_coverage(simulate.beta(2, 5), 3, n=80, ks=[15], simulations=40, inflation=1.2)
    again = eval(found.code(), {"simulate": simulate})  # noqa: S307  the study's own line
    assert again.rows == found.rows


def test_missing_values_are_refused():
    """A resample holds n rows with a value: how many there are must be public."""
    from dpnb import simulate

    with pytest.raises(OptionError, match="without missing values"):
        bootstrap_coverage(simulate.with_missing(simulate.beta(2, 5), 0.1), 1, simulations=5)
