"""A tree of counts: what it costs, that its readings are exact without noise, and that their intervals cover with it."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from dpnb.datasets.exact_answers import answer
from dpnb.errors import OptionError, PlanError
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.tree import ConsistentTree, level_sizes, pair_sums, rising
from dpnb.planner.expression import BinOp, Compare, Const, Ref
from dpnb.planner.question import Question
from dpnb.statistics.tree import Tree
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.contracts.statistic import priced, worst_loss
from tests.contracts.statistic import schema as tiny
from tests.examples import mostly_long
from tests.statistics import tree_studies as made
from tests.statistics.test_coverage import enough
from tests.statistics.test_sensitivity import FEW, ROWS, UNITS

TREE = Tree()
X, B, G = Ref("x"), Ref("b"), Ref("g")
QUESTIONS: dict[str, dict[str, Any]] = {
    "tree": {"target": X},
    "two levels": {"target": X, "options": (("levels", 2),)},
    "filtered tree": {"target": X, "where": Compare("==", B, Const(1))},
    "tree by group": {"target": X, "by": (G,)},
    "tree of an expression": {"target": BinOp("-", BinOp("*", X, Const(3)), Const(7))},
}
READINGS = ("share", "cdf", "mean", "quantile", "median")


# ---------------------------------------------------------------- what it costs


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", QUESTIONS)
def test_no_neighbour_costs_more_than_the_claim_and_one_comes_near(name: str, unit: str, kind: str) -> None:
    """Brute force over rows and units: the realised loss of the joint vector is at most the claim, and above 95 % of it."""
    neighbours = UNITS[unit]
    found = priced(Question("tiny", "tree", **QUESTIONS[name]), tiny(neighbours, measure=kind), kind=kind)
    worst = worst_loss(found, neighbours, ROWS if neighbours.max_rows == 1 else FEW)
    assert Fraction(95, 100) < worst <= found.loss.amount == 1


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
def test_the_root_is_released_only_where_it_is_private_and_then_free_under_change_one(kind: str) -> None:
    """A public n is no part; a private one under change-one leaves the noise on the levels as it was."""
    unit = PrivacyUnit("change-one", rows=5)
    whole = priced(Question("tiny", "tree", X, options=()), tiny(unit, measure=kind), kind=kind)
    some = priced(Question("tiny", "tree", **QUESTIONS["filtered tree"]), tiny(unit, measure=kind), kind=kind)
    assert "root" in [part.name for part in some.parts]
    scale = "scale" if kind == "epsilon" else "variance"
    width = {part.name: getattr(part.mechanism, scale) for part in some.parts}
    depth = len(width) - 1
    assert width["level 1"] == (2 * depth if kind == "epsilon" else depth)
    assert width["root"] == (2 if kind == "epsilon" else 1)
    levels = [part for part in whole.parts if part.name != "root"]
    assert {getattr(part.mechanism, scale) for part in levels} == {width["level 1"]}


def test_a_tree_whose_rows_are_public_releases_no_root() -> None:
    """Without filter, missing value or group, n is taken from the schema."""
    item = made.question(made.schema(50, "change-one", "epsilon"), "tree", ("epsilon", 1))
    assert [part.name for part in item.parts] == [f"level {level}" for level in range(7, 0, -1)]
    found = TREE.conclude(item.checked.setting, [made.release(item, np.arange(50), np.random.default_rng(1))])
    assert found.values.sum() == pytest.approx(50)


def test_every_level_is_the_sum_of_the_one_below() -> None:
    """The exact requests of all levels agree, whatever the number of leaves."""
    item = made.question(made.schema(50, "add-remove", "rho"), "tree", ("rho", 1), levels=4)
    x = np.random.default_rng(0).integers(0, 101, 300)
    levels = answer({"x": x, "seen": np.ones_like(x)}, [part.request for part in item.parts])
    for below, above in pairwise(levels):
        np.testing.assert_array_equal(pair_sums(np.array(below, dtype=float)), np.array(above, dtype=float))
    assert sum(map(int, levels[-1])) == 300


# ---------------------------------------------------------------- what it says


@pytest.mark.parametrize("levels", [None, 3, 5])
@pytest.mark.parametrize("filtered", [True, False])
def test_without_noise_every_reading_is_the_truth(levels: int | None, filtered: bool) -> None:
    """At an enormous loss the readings equal numpy's answers; in wide leaves the truth lies in the interval."""
    rng = np.random.default_rng(4)
    x = made.lumpy(rng, 2_001)
    options = {} if levels is None else {"levels": levels}
    where = made.schema(x.size, "change-one", "epsilon")
    item = made.question(where, "tree", ("epsilon", 100_000), filtered=filtered, **options)
    released, setting = [made.release(item, x, rng)], item.checked.setting
    mass = np.bincount(x, minlength=made.GRID + 1) / x.size
    for name, read in made.readings(TREE).items():
        found = read(setting).conclude(released)
        truth = made.truths(mass)[name]
        if levels is None:
            np.testing.assert_allclose(found.value, truth, atol=1e-9, err_msg=name)
        low, high = found.interval(0.95, "privacy")
        assert np.all((low <= truth + 1e-9) & (truth <= np.asarray(high) + 1e-9)), name
    count = TREE.readings["count"](setting, 20, 45).conclude(released)
    low, high = count.interval(0.95, "privacy")
    assert low <= np.sum((x >= 20) & (x <= 45)) <= high
    if levels is None:
        assert count.value == np.sum((x >= 20) & (x <= 45))
        assert TREE.readings["mode"](setting).conclude(released).value == 40
        assert high - low <= 2.1


def test_a_density_integrates_to_one_and_is_level_where_the_noise_hides_its_shape() -> None:
    """With hardly any loss it is flat; with much it is the histogram."""
    rng = np.random.default_rng(5)
    x = made.lumpy(rng, 3_000)
    for amount, level in (("0.000001", True), (100_000, False)):
        item = made.question(made.schema(x.size, "change-one", "rho"), "tree", ("rho", amount))
        read = TREE.readings["density"](item.checked.setting, 7)
        found = read.conclude([made.release(item, x, rng)])
        assert found.value.shape == (101,)
        assert found.value.sum() == pytest.approx(1.0)
        wanted = np.full(101, 1 / 101) if level else np.bincount(x, minlength=101) / x.size
        np.testing.assert_allclose(found.value, wanted, atol=1e-9)


def test_the_noised_curve_never_falls() -> None:
    """The distribution function is made monotone, and is one at the upper bound."""
    rng = np.random.default_rng(6)
    x = made.lumpy(rng, 300)
    item = made.question(made.schema(x.size, "add-remove", "epsilon"), "tree", ("epsilon", "0.5"))
    for band in ("pointwise", "simultaneous"):
        found = TREE.readings["cdf"](item.checked.setting, band=band).conclude([made.release(item, x, rng)])
        assert np.all(np.diff(found.value) >= 0)
        for kind in ("privacy", "confidence"):
            low, high = found.interval(0.95, kind)
            assert low[-1] == high[-1] == found.value[-1] == 1
            assert np.all((low <= found.value) & (found.value <= high))


def test_readings_of_one_release_are_correlated_with_themselves() -> None:
    """In draws, two neighbouring ranges add up to the whole one, and the spread of draws is the stated one."""
    rng = np.random.default_rng(7)
    x = made.lumpy(rng, 2_000)
    for loss in (("epsilon", 1), ("rho", "0.1")):
        item = made.question(made.schema(x.size, "change-one", loss[0]), "tree", loss, filtered=True)
        setting, released = item.checked.setting, [made.release(item, x, rng)]
        ranges = [
            TREE.readings["count"](setting, *ends).conclude(released)
            for ends in ((20, 30), (31, 45), (20, 45))
        ]
        drawn = [one.draws(4_000, DrawGenerator(("ab",)), "privacy") for one in ranges]
        np.testing.assert_allclose(drawn[0] + drawn[1], drawn[2], atol=1e-9)
        for one, draws in zip(ranges, drawn, strict=True):
            assert draws.std() == pytest.approx(one.noise_sd, rel=0.06)
        share = TREE.readings["share"](setting, 20, 45).conclude(released)
        spread = share.draws(4_000, DrawGenerator(("ab",)), "confidence").std()
        assert spread == pytest.approx(share.standard_error, rel=0.06)


def test_combined_releases_are_narrower() -> None:
    """Two releases of one question are averaged on every level: the noise variance halves."""
    rng = np.random.default_rng(8)
    x = made.lumpy(rng, 500)
    item = made.question(made.schema(x.size, "change-one", "rho"), "tree", ("rho", "0.1"))
    setting = item.checked.setting
    two = [made.release(item, x, rng, name) for name in ("aa", "bb")]
    one, both = (TREE.conclude(setting, released) for released in (two[:1], two))
    np.testing.assert_allclose(both.noise, one.noise / 2, rtol=0.02)


# ---------------------------------------------------------------- what it refuses


@pytest.mark.parametrize(
    ("reading", "arguments", "options", "said"),
    [
        ("quantile", (1.5,), {}, "between 0 and 1"),
        ("quantile", ("a",), {}, "must be a number"),
        ("quantile", ([],), {}, "list of 1"),
        ("cdf", (math.nan,), {}, "finite"),
        ("cdf", (), {"band": "wide"}, "pointwise"),
        ("count", (30, 20), {}, "above"),
        ("count", (True, 20), {}, "must be a number"),
        ("density", (99,), {}, "1 to 7"),
        ("density", (2.5,), {}, "1 to 7"),
    ],
)
def test_bad_arguments_of_a_reading_are_refused_on_their_line(
    reading: str, arguments: tuple[Any, ...], options: dict[str, Any], said: str
) -> None:
    """Before any release, with what to type instead."""
    item = made.question(made.schema(50, "change-one", "epsilon"), "tree", ("epsilon", 1))
    with pytest.raises(OptionError, match=said):
        TREE.readings[reading](item.checked.setting, *arguments, **options)


@pytest.mark.parametrize("levels", [0, 17, 2.5, True, "many"])
def test_levels_are_a_whole_number(levels: Any) -> None:
    """From 1 to 16; anything else is refused before the charge."""
    with pytest.raises(OptionError, match="levels="):
        made.question(made.schema(50, "change-one", "epsilon"), "tree", ("epsilon", 1), levels=levels)


def test_one_value_and_too_many_nodes_are_refused() -> None:
    """A constant needs no tree, and groups times nodes are limited."""
    unit = PrivacyUnit("add-remove")
    with pytest.raises(PlanError, match=r"\.count\(\)"):
        priced(Question("tiny", "tree", BinOp("*", X, Const(0))), tiny(unit))
    wide = BinOp("//", BinOp("*", X, Const(10**6)), Const(1))
    with pytest.raises(PlanError, match="200,000"):
        priced(Question("tiny", "tree", wide, None, (G, B), (("levels", 16),)), tiny(unit))


def test_different_points_have_different_texts() -> None:
    """Draws are kept by text, so long lists that look alike must not be taken for each other."""
    item = made.question(made.schema(50, "change-one", "epsilon"), "tree", ("epsilon", 1))
    lists = [list(range(20)), [*range(9), 50, *range(10, 20)], [0.1 + 0.2, 0.3], [0.3, 0.3]]
    texts = {TREE.readings["cdf"](item.checked.setting, points).text for points in lists}
    assert len(texts) == len(lists)


# ---------------------------------------------------------------- how often it is right

SETTINGS = {
    "public n": ("change-one", False, ("epsilon", 1), {}),
    "private n": ("add-remove", False, ("epsilon", "0.5"), {}),
    "filtered, rho": ("change-one", True, ("rho", "0.1"), {}),
    "wide leaves": ("change-one", False, ("rho", "0.05"), {"levels": 5}),
    "hardly any noise": ("add-remove", False, ("epsilon", 50), {}),
}


def hits(setting: str, n: int, reps: int, level: float = 0.95) -> Counter[tuple[str, str]]:
    """How often each entry of each reading holds the dataset's and the population's truth, the least of the entries."""
    adjacency, filtered, loss, options = SETTINGS[setting]
    item = made.question(made.schema(n, adjacency, loss[0]), "tree", loss, filtered=filtered, **options)
    held: dict[tuple[str, str], Any] = {}
    population = made.truths(made.population(made.lumpy))
    for x, released in made.studies(item, made.lumpy, n, reps, seed=n):
        dataset = made.truths(np.bincount(x, minlength=made.GRID + 1) / n)
        for name, read in made.readings(TREE).items():
            found = read(item.checked.setting).conclude([released])
            for kind, truth in (("privacy", dataset), ("confidence", population)):
                low, high = found.interval(level, kind)  # type: ignore[arg-type]
                inside = (low - 1e-9 <= truth[name]) & (truth[name] <= np.asarray(high) + 1e-9)
                held[name, kind] = held.get((name, kind), 0) + np.asarray(inside, dtype=int)
    return Counter({key: int(np.min(value)) for key, value in held.items()})


SHORT = [(400, 0.95, 120)]
LONG = product([30, 400, 4_000], [0.8, 0.95, 0.99], [1_000])


@pytest.mark.parametrize(("n", "level", "reps"), mostly_long([*SHORT, *LONG], *SHORT))
@pytest.mark.parametrize("setting", SETTINGS)
def test_intervals_of_all_readings_cover(setting: str, n: int, level: float, reps: int) -> None:
    """No interval of any reading misses its truth more often than a binomial law allows, in many studies less one point (second-order terms)."""
    found, least = hits(setting, n, reps, level), level - (0.01 if reps > 120 else 0)
    assert not {key: held for key, held in found.items() if not enough(held, reps, least)}


def bands(adjacency: str, loss: tuple[str, Any], n: int, reps: int) -> dict[str, int]:
    """How often a simultaneous band holds the whole curve, and the range of the mode the mode."""
    item = made.question(made.schema(n, adjacency, loss[0]), "tree", loss)
    held = {"privacy": 0, "confidence": 0, "mode": 0}
    for x, released in made.studies(item, made.lumpy, n, reps, seed=9):
        counts = np.bincount(x, minlength=made.GRID + 1)
        found = TREE.readings["cdf"](item.checked.setting, band="simultaneous").conclude([released])
        for kind, mass in (("privacy", counts / n), ("confidence", made.population(made.lumpy))):
            low, high = found.interval(0.95, kind)
            curve = np.cumsum(mass)
            held[kind] += bool(np.all((low <= curve + 1e-9) & (curve <= high + 1e-9)))
        low, high = TREE.readings["mode"](item.checked.setting).conclude([released]).interval(0.95, "privacy")
        held["mode"] += bool(low <= counts.argmax() <= high)
    return held


@pytest.mark.parametrize("loss", [("epsilon", 1), ("rho", "0.1")])
@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
def test_a_simultaneous_band_holds_the_whole_curve(adjacency: str, loss: tuple[str, Any]) -> None:
    """In at least 95 % of studies, within what a binomial law allows; the population's band is conservative."""
    held = bands(adjacency, loss, 400, 60)
    assert all(enough(found, 60) for found in held.values()), held


# ---------------------------------------------------------------- how accurate it is


def test_a_tree_is_as_accurate_as_published() -> None:
    """N = 2,000, 1,024 leaves, ρ = 0.1, n public: root mean squared errors against those of flat noised counts.

    The published figures are: largest error of the distribution function .018 (flat .066), mean .0017 (flat .029), median .0014.
    """
    rng, n, depth, rho = np.random.default_rng(1), 2_000, 10, 0.1
    leaves = 2**depth
    tree = ConsistentTree(leaves, (0.0,) + (depth / rho,) * depth)
    middles, errors = (np.arange(leaves) + 0.5) / leaves, []
    for _ in range(100):
        x = np.clip(rng.normal(0.5, 0.15, n), 0, 0.9999)
        counts = np.bincount((x * leaves).astype(int), minlength=leaves).astype(float)
        levels = [counts]
        while levels[0].size > 1:
            levels.insert(0, pair_sums(levels[0]))
        noised = [levels[0], *(y + rng.normal(0, math.sqrt(depth / rho), y.shape) for y in levels[1:])]
        found, flat = tree.fit(noised), counts + rng.normal(0, math.sqrt(1 / rho), leaves)
        truth = np.cumsum(counts) / n
        curves = [np.clip(rising(np.cumsum(c)) / n, 0, 1) for c in (found, flat)]
        median = middles[np.searchsorted(curves[0], 0.5)]
        errors.append(
            [
                *(np.abs(curve - truth).max() for curve in curves),
                *((c @ middles / n - x.mean()) for c in (found, flat)),
                median - np.median(x),
            ]
        )
    curve, flat_curve, mean, flat_mean, median = np.sqrt(np.mean(np.square(errors), axis=0))
    assert curve < 0.018
    assert flat_curve > 0.05
    assert mean == pytest.approx(0.0017, rel=0.2)
    assert flat_mean == pytest.approx(0.029, rel=0.2)
    assert median < 0.0022


def test_a_range_of_five_nodes_is_better_known_than_its_five_noised_counts() -> None:
    """Five raw counts of sd 10 have an error of 22.4; the consistent one has 5.8 to 15, by the neighbours it has (7.3 published)."""
    leaves = 64
    tree = ConsistentTree(leaves, (0.0,) + (100.0,) * 6)
    first, last = np.triu_indices(leaves + 1, 1)
    five = np.array([nodes(int(a), int(b)) == 5 for a, b in zip(first, last, strict=True)])
    low, high = tree.prefixes(first[five]), tree.prefixes(last[five])
    sd = np.sqrt(low.variances + high.variances - 2 * low.covariances(high))
    assert sd.min() < 7.3 < sd.max() < math.sqrt(500)


def nodes(first: int, last: int) -> int:
    """How few nodes make up a range of leaves."""
    found = 0
    while first < last:
        found += (first & 1) + (last & 1)
        first, last = (first + 1) >> 1, last >> 1
    return found


def test_levels_halve_up_to_one_root() -> None:
    """Any number of leaves has a root of one node, and as many levels as its logarithm."""
    for leaves in (2, 3, 101, 1024, 1025):
        sizes = level_sizes(leaves)
        assert sizes[0] == 1
        assert sizes[-1] == leaves
        assert len(sizes) == 1 + math.ceil(math.log2(leaves))
