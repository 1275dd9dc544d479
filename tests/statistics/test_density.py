"""Densities and whole counts from one histogram: what they cost, that they add up, and that their intervals cover."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpnb.errors import OptionError, PlanError, Unavailable
from dpnb.planner.expression import Ref
from dpnb.planner.question import Question
from dpnb.statistics import BY_NAME
from dpnb.statistics.binned import largest_remainders
from tests.contracts.statistic import priced, worst_loss
from tests.contracts.statistic import schema as tiny
from tests.statistics import tree_studies as made
from tests.statistics.test_coverage import enough
from tests.statistics.test_sensitivity import FEW, ROWS, UNITS

EDGES = (0, 20, 30, 60, 100)
DENSITY, HISTOGRAM = BY_NAME["density"], BY_NAME["histogram"]
READ: Any = HISTOGRAM.readings  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("unit", UNITS)
def test_no_neighbour_costs_more_than_the_claim_and_one_reaches_it(unit: str, kind: str) -> None:
    """The brute-force loss of the vector of counts is the claim exactly."""
    neighbours = UNITS[unit]
    options = (("bins", 3),)
    found = priced(
        Question("tiny", "density", Ref("x"), options=options), tiny(neighbours, measure=kind), kind=kind
    )
    worst = worst_loss(found, neighbours, ROWS if neighbours.max_rows == 1 else FEW)
    assert Fraction(99, 100) < worst <= found.loss.amount == 1


def one(method: str, adjacency: str, loss: tuple[str, Any], n: int, seed: int = 1) -> Any:
    """One density, its data, and its shares of the bins."""
    rng = np.random.default_rng(seed)
    item = made.question(made.schema(n, adjacency, loss[0]), "density", loss, edges=EDGES, method=method)
    x = made.lumpy(rng, n)
    return DENSITY.conclude(item.checked.setting, [made.release(item, x, rng)]), x


def in_bins(x: np.ndarray) -> np.ndarray:
    """How many rows each bin holds; the last one is closed."""
    return np.histogram(x, EDGES)[0]


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
@pytest.mark.parametrize("method", ["histogram", "perturbed"])
def test_without_noise_a_density_is_counts_over_rows_times_width(method: str, adjacency: str) -> None:
    """At an enormous loss both methods are numpy's density."""
    found, x = one(method, adjacency, ("epsilon", 100_000), 500)
    np.testing.assert_allclose(found.value, np.histogram(x, EDGES, density=True)[0], atol=1e-12)


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
def test_a_perturbed_density_is_a_density(adjacency: str) -> None:
    """Not negative, with integral one, whatever the noise; the unbiased one has integral one too where n is public."""
    for seed in range(30):
        found, _ = one("perturbed", adjacency, ("epsilon", "0.005"), 200, seed)
        assert np.all(found.value >= 0)
        assert found.value @ np.diff(EDGES) == pytest.approx(1)
        low, high = found.interval(0.95, "privacy")
        assert np.all((low <= found.value) & (found.value <= high))
    unbiased, _ = one("histogram", "change-one", ("epsilon", "0.005"), 200)
    assert unbiased.value @ np.diff(EDGES) == pytest.approx(1)


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
@pytest.mark.parametrize(
    ("n", "loss"), [(300, ("epsilon", "0.5")), (300, ("rho", "0.01")), (60, ("epsilon", 20))]
)
def test_intervals_of_a_density_cover(adjacency: str, n: int, loss: tuple[str, Any]) -> None:
    """Both intervals of every bin hold their truth in 95 % of studies, within what a binomial law allows."""
    item = made.question(made.schema(n, adjacency, loss[0]), "density", loss, edges=EDGES)
    mass = made.population(made.lumpy)
    edges = [mass[a:b].sum() for a, b in zip(EDGES, (*EDGES[1:-1], 101), strict=False)]
    held = np.zeros((2, len(EDGES) - 1), dtype=int)
    for x, released in made.studies(item, made.lumpy, n, 200, seed=2):
        found = DENSITY.conclude(item.checked.setting, [released])
        for place, (kind, truth) in enumerate((("privacy", in_bins(x) / n), ("confidence", np.array(edges)))):
            low, high = found.interval(0.95, kind)
            dense = truth / np.diff(EDGES)
            held[place] += (low - 1e-12 <= dense) & (dense <= high + 1e-12)
    assert all(enough(int(count), 200) for count in held.ravel()), held


def test_a_histogram_is_read_as_a_density_and_as_whole_counts() -> None:
    """Free, from the same release; whole counts are not negative and add up to the public number of rows."""
    rng = np.random.default_rng(3)
    item = made.question(made.schema(300, "change-one", "epsilon"), "histogram", ("epsilon", "0.05"), bins=10)
    released = [made.release(item, made.lumpy(rng, 300), rng)]
    whole = READ["rounded"](item.checked.setting).conclude(released)
    assert whole.value.sum() == 300
    assert np.all(whole.value >= 0)
    assert np.all(whole.value == np.rint(whole.value))
    low, high = whole.interval(0.95, "privacy")
    assert np.all((low <= whole.value) & (whole.value <= high))
    with pytest.raises(Unavailable, match="describes this dataset"):
        whole.interval(0.95, "confidence")
    read = READ["density"](item.checked.setting, "perturbed").conclude(released)
    assert read.value @ np.full(10, 10.0) == pytest.approx(1)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40), st.integers(0, 10**6))
def test_largest_remainders_add_up_and_are_within_one(weights: list[float], total: int) -> None:
    """Whole numbers that add up to the total, each less than one away from its share."""
    found = largest_remainders(np.array(weights), np.array([float(total)]))
    assert found.sum() == total
    share = np.array(weights) / sum(weights) if sum(weights) > 0 else np.full(len(weights), 1 / len(weights))
    assert np.all(np.abs(found - share * total) < 1 + 1e-6)


def test_a_category_and_an_unknown_method_are_refused() -> None:
    """A density needs a number; the error says what to ask instead."""
    with pytest.raises(PlanError, match="value_counts"):
        priced(Question("tiny", "density", Ref("g")), tiny(UNITS["add or remove one row"]))
    with pytest.raises(OptionError, match="perturbed"):
        priced(
            Question("tiny", "density", Ref("x"), options=(("method", "kernel"),)),
            tiny(UNITS["add or remove one row"]),
        )
