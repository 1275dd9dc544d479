"""Confidence intervals of variances and covariances are as wide as they must be, and no wider: within 1.25 of the ideal, and covering.

The ideal is what the same releases need: twice the 95 % quantile of their errors. Before third and fourth moments were bought, and tails
supposed, the widths below were 1.3 to 4.2 times that.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpnb import simulate
from dpnb.datasets.preparation import prepare
from dpnb.errors import Unavailable
from dpnb.inference.law import law_of
from dpnb.planner.expression import Ref
from dpnb.planner.question import Question
from dpnb.statistics import conclude
from dpnb.statistics._base import Setting
from dpnb.statistics.pair import sides, units_of
from dpnb.statistics.pair_spread import product_share
from dpnb.statistics.released import law_as_sum
from dpnb.statistics.variance_powers import LEAST_SHARE, MOST_SHARE, tail_share
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.query.plan import Share
from dpnb.trusted.schema import Column, Schema
from tests.contracts.statistic import priced
from tests.examples import mostly_long
from tests.statistics.coverage import Raw, columns, release
from tests.statistics.coverage_table import PEOPLE, population
from tests.statistics.test_coverage import enough
from tests.statistics.test_pair import aging, apart, tied

Draw = Callable[[np.random.Generator, Any], np.ndarray]


def clipped(values: np.ndarray) -> np.ndarray:
    """On the grid of the simulated study."""
    return np.asarray(np.clip(np.round(values, 1), 0, 100))


POPULATIONS: dict[str, Draw] = {
    "skewed": lambda rng, shape: clipped(100 * rng.beta(2, 5, shape)),
    "heaped": lambda rng, shape: clipped(10 * np.round(rng.gamma(4, 1.1, shape))),
    "income": lambda rng, shape: clipped(np.exp(rng.normal(2.6, 0.8, shape))),
    "normal": lambda rng, shape: clipped(rng.normal(50, 16, shape)),
    "far from the middle": lambda rng, shape: clipped(rng.normal(80, 5, shape)),
}
PAIRS: dict[str, Callable[[np.random.Generator, Any], Raw]] = {"tied": tied, "apart": apart, "aging": aging}
CASES = [(500, {"epsilon": 1}), (2000, {"epsilon": 1}), (2000, {"epsilon": 5}), (2000, {"rho": "0.1"})]


def measured(
    statistic: str, source: Any, n: int, losses: Any, parameter: float, reps: int, **more: Any
) -> tuple[int, float]:
    """Return how often the confidence interval held the population's value, and its mean width over the ideal one."""
    found = simulate.coverage(
        statistic, source, n, losses, reps=reps, rng=3, parameter=parameter, intervals="confidence", **more
    )
    held, kept = found.held("confidence"), found.tallies[0].kept
    errors = np.abs(kept["z"] * kept["error"]).ravel()
    ideal = 2 * np.quantile(errors[np.isfinite(errors)], 0.95)
    return int(held.held.sum()), float(held.width.sum() / held.studies.sum() / ideal)


def of_one(name: str, statistic: str, n: int, losses: Any, reps: int, **more: Any) -> tuple[int, float]:
    """Measure a statistic of one number."""
    draw = POPULATIONS[name]
    large = draw(np.random.default_rng(5), (4_000_000,))
    parameter = float(large.var() if statistic == "variance" else large.std())
    public = 0 if more.get("adjacency") == "change-one" else "drop"
    return measured(
        statistic, lambda rng, shape: {"x": draw(rng, shape)}, n, losses, parameter, reps,
        columns=columns(public)[:1], **more,
    )  # fmt: skip


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
@pytest.mark.parametrize("name", [name for name in POPULATIONS if name != "far from the middle"])
def test_a_variance_has_an_interval_of_the_right_width(name: str, adjacency: str) -> None:
    """At n 2,000 and ε 1: 1.3 to 2.6 times too wide before, now at most 1.25, and covering."""
    held, wide = of_one(name, "variance", 2000, {"epsilon": 1}, 800, adjacency=adjacency)
    assert enough(held, 800)
    assert wide < 1.25


def test_a_spread_that_the_noise_hides_widens_the_interval() -> None:
    """Far from the middle the third and fourth moments drown in their noise: the interval widens, it does not miss."""
    for n, losses in CASES[1:]:
        held, wide = of_one("far from the middle", "variance", n, losses, 500)
        assert enough(held, 500)
        assert wide < 2.5


def of_two(raw: Raw, grid: list[Column], epsilon: float, adjacency: str) -> tuple[float, float]:
    """Return the width that an interval for the covariance of 2,000 people would have who knew how their products vary, and the covariance."""
    unit = PrivacyUnit("change-one", rows=2000) if adjacency == "change-one" else PrivacyUnit("add-remove")
    where = Schema("s", "S", tuple(grid), unit, Budget.from_toml({"epsilon": 1000}))
    item = priced(Question("s", "covariance", Ref("x"), None, (), (), Ref("y")), where, amount=epsilon)
    units = units_of(*sides(item.checked.setting))
    noise = {
        p.name: law_as_sum(law_of(p.mechanism)).scaled(1 / units[p.name])
        for p in item.parts
        if p.name in units
    }
    x, y = ((raw[one] - 50) / 50 for one in "xy")
    products = (x - x.mean()) * (y - y.mean())
    law = noise["xy"] + noise["x"].scaled(float(y.mean())) + noise["y"].scaled(float(x.mean()))
    if "count" in noise:
        law = law + noise["count"].scaled(float(x.mean() * y.mean() - products.mean()))
    radius = law.plus_normal(2000 * float(products.var())).radius(0.05)
    return 2 * float(radius) / 2000 * 50**2, float(products.mean()) * 50**2


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
@pytest.mark.parametrize(
    ("name", "epsilon", "reps"),
    mostly_long(
        [
            *itertools.product(PAIRS, [1, 5], [600]),
            *itertools.product([*PAIRS, "log-normal"], [1, 2.5, 5], [10_000]),
        ],
        *itertools.product(PAIRS, [1], [600]),
    ),
)
def test_a_covariance_has_an_interval_of_the_right_width(
    name: str, epsilon: float, reps: int, adjacency: str
) -> None:
    """2.5 to 4.2 times too wide at ε 5 once, 1.27 with skewed columns supposed to vary together; now at most 1.2 beside the exact law of the error.

    The products of two skewed columns that have nothing to do with each other vary as those of normal ones do, those of log-normal columns 2.6 times
    as much; at n ε = 10,000 their squares are bought (:mod:`dpnb.statistics.pair_spread`). In many studies 94 % at least, never 1.25 times too wide.
    """
    people, many = population("skewed"), reps > 600
    draw = PAIRS.get(
        name, lambda rng, shape: {c: people[c][at] for at in [rng.integers(0, PEOPLE, shape)] for c in "xy"}
    )
    large = draw(np.random.default_rng(5), (4_000_000,)) if name in PAIRS else {c: people[c] for c in "xy"}
    columns_ = columns(0 if adjacency == "change-one" else "drop", other="y")
    ideal, parameter = of_two(large, columns_, epsilon, adjacency)
    found = simulate.coverage(
        "covariance", draw, 2000, {"epsilon": epsilon}, reps=reps, rng=3, parameter=parameter, intervals="confidence",
        columns=columns_, other="y", adjacency=adjacency,
    ).held("confidence")  # fmt: skip
    assert enough(int(found.held.sum()), reps, 0.94 if many else 0.95)
    wide = float(found.width.sum() / found.studies.sum()) / ideal
    assert wide < 1.25 if many else 0.99 < wide < 1.2


@pytest.mark.soak
@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
@pytest.mark.parametrize(("n", "losses"), CASES)
@pytest.mark.parametrize("statistic", ["variance", "std"])
@pytest.mark.parametrize("name", POPULATIONS)
def test_a_variance_covers_for_long(
    name: str, statistic: str, n: int, losses: dict[str, Any], adjacency: str
) -> None:
    """10,000 studies of each: within a point of the nominal level, and at most 1.25 times too wide but far from the middle."""
    held, wide = of_one(name, statistic, n, losses, 10_000, adjacency=adjacency)
    assert enough(held, 10_000, 0.94)
    assert wide < (2.5 if name == "far from the middle" else 1.25)


def study(rows: int, adjacency: str = "change-one", measure: str = "epsilon") -> Schema:
    """The public facts of a study."""
    unit = PrivacyUnit("change-one", rows=rows) if adjacency == "change-one" else PrivacyUnit("add-remove")
    return Schema("s", "S", (columns(0)[0],), unit, Budget.from_toml({measure: 1000}))


def asked(**options: Any) -> Question:
    """The variance of x."""
    return Question("s", "variance", Ref("x"), None, (), tuple(options.items()))


def test_higher_moments_are_bought_for_a_confidence_interval_alone() -> None:
    """ci=False buys none and has no confidence interval; spread="bound" buys none and has a wide one; more rows than one buy none."""
    rng = np.random.default_rng(4)
    raw = {"x": clipped(100 * rng.beta(2, 5, 3000))}
    where, names, widths = study(3000, "add-remove"), {}, {}
    for label, options in {"bought": {}, "bound": {"spread": "bound"}, "none": {"ci": False}}.items():
        item = priced(asked(**options), where, amount=2)
        names[label] = [part.name for part in item.parts]
        found = conclude(item.checked, [release(item, prepare(raw, where), rng)])
        assert found.interval(0.95, "privacy").low < np.var(raw["x"]) < found.interval(0.95, "privacy").high
        if label == "none":
            with pytest.raises(Unavailable, match="ci=False"):
                found.interval(0.95, "confidence")
        else:
            widths[label] = found.interval(0.95, "confidence").width
    assert names["bought"] == ["sum", "square", "cube", "fourth", "count"]
    assert names["bound"] == names["none"] == ["sum", "square", "count"]
    assert 1.5 * widths["bought"] < widths["bound"]


@pytest.mark.parametrize(("kind", "losses"), [("epsilon", (10**-3, 10)), ("rho", (10**-6, 50))])
def test_what_is_left_for_the_variance_grows_with_the_loss(kind: Any, losses: tuple[float, float]) -> None:
    """The share for higher moments lies between a fiftieth and a fifth; more loss is never less for the variance itself."""
    left = []
    for amount in np.geomspace(*losses, 60):
        share = Share(kind, Fraction(str(amount)))
        setting = priced(asked(), study(1000, measure=kind), kind=kind, amount=1).checked.setting
        assert isinstance(setting, Setting)
        assert setting.public_n == 1000
        part = tail_share(setting, share)
        assert LEAST_SHARE <= part <= MOST_SHARE
        left.append((1 - part) * share.amount)
    assert left == sorted(left)
    private = priced(asked(), study(1000, "add-remove"), amount=1).checked.setting
    assert tail_share(private, Share("epsilon", Fraction(1))) == MOST_SHARE


def products_asked(**options: Any) -> Question:
    """The covariance of x and y."""
    return Question("s", "covariance", Ref("x"), None, (), tuple(options.items()), Ref("y"))


def of_products(rows: int | None, measure: str = "epsilon", unit: PrivacyUnit | None = None) -> Schema:
    """The public facts of a study of two numbers."""
    unit = unit or PrivacyUnit("add-remove" if rows is None else "change-one", rows=rows)
    grid = tuple(columns(0 if rows else "drop", other="y"))
    return Schema("s", "S", grid, unit, Budget.from_toml({measure: 10**6}))


@pytest.mark.parametrize(("kind", "losses"), [("epsilon", (10**-2, 10**4)), ("rho", (10**-5, 10**6))])
def test_what_is_left_for_a_covariance_grows_with_the_loss(kind: Any, losses: tuple[float, float]) -> None:
    """Nothing is bought about products of few rows at a small loss, a fifth at most, a fiftieth at least of many; more loss is never less for the covariance."""
    left, bought = [], []
    setting = priced(products_asked(), of_products(1000, kind), kind=kind, amount=1).checked.setting
    assert isinstance(setting, Setting)
    for amount in np.geomspace(*losses, 80):
        share = Share(kind, Fraction(str(amount)))
        bought.append(product_share(setting, share))
        left.append((1 - bought[-1]) * share.amount)
    assert left == sorted(left)
    assert bought[0] == 0
    assert max(bought) <= Fraction(1, 5)
    assert bought[-1] == Fraction(1, 50)


def test_squares_of_products_are_bought_where_they_count() -> None:
    """By the public number of rows, the one that is named, or 2,000; not where tails= says what to suppose, for rows of one person, or of two 0/1 columns."""

    def bought(where: Schema, amount: Any, **options: Any) -> bool:
        parts = priced(products_asked(**options), where, amount=amount).parts
        assert {"x", "y", "xx", "yy", "xy"} <= {part.name for part in parts}
        return {"xxyy", "xxy", "xyy"} <= {part.name for part in parts}

    assert bought(of_products(10_000), 1)
    assert not bought(of_products(4000), 1)
    private = of_products(None)
    assert bought(private, 5)
    assert not bought(private, 1)
    assert bought(private, 1, about=16_384)
    assert not bought(private, 5, about=512)
    assert not bought(private, 5, tails=2)
    assert not bought(private, 5, method="separate")
    assert not bought(of_products(None, unit=PrivacyUnit("add-remove", unit="who", max_rows=2)), 5)
    two = Schema(
        "s", "S", tuple(columns()[1:]), PrivacyUnit("add-remove"), Budget.from_toml({"epsilon": 1000})
    )
    ones = Question("s", "covariance", Ref("b"), None, (), (), Ref("arm"))
    assert "xxyy" not in {part.name for part in priced(ones, two, amount=100).parts}


def test_an_interval_goes_by_the_squares_that_were_bought() -> None:
    """At n 10,000 and ε 2 two skewed columns have a narrower interval than with what would be supposed, the note says why, and the price is the share."""
    rng = np.random.default_rng(4)
    raw, where, widths = apart(rng, (10_000,)), of_products(10_000), {}
    for label, options in {"bought": {}, "supposed": {"tails": Fraction(161, 100)}}.items():
        item = priced(products_asked(**options), where, amount=2)
        assert item.loss.amount <= 2
        found = conclude(item.checked, [release(item, prepare(raw, where), rng)])
        interval = found.interval(0.95, "confidence")
        assert interval.low < np.cov(raw["x"], raw["y"])[0, 1] < interval.high
        assert ("squares of products as released" in interval.note) is (label == "bought")
        widths[label] = interval.width
    assert widths["bought"] < 0.97 * widths["supposed"]
