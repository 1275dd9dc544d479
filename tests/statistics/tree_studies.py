"""Studies with a known truth for trees and densities: many releases of one question, and how often its readings hold the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from dpnb.datasets.exact_answers import answer
from dpnb.inference.simulated_release import released_parts
from dpnb.planner import Ask, Item, PricedQuestion, price
from dpnb.planner.expression import Compare, Const, Ref
from dpnb.planner.question import Question
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.releases import Release
from dpnb.trusted.schema import Column, Schema

GRID = 100
X = Ref("x")
SEEN = Compare("==", Ref("seen"), Const(1))


def schema(n: int, adjacency: str, measure: str, *, max_rows: int = 1) -> Schema:
    """A number from 0 to 100, and whether a row is seen."""
    unit = (
        PrivacyUnit(adjacency, rows=n if adjacency == "change-one" else None)
        if max_rows == 1
        else PrivacyUnit(adjacency, unit="who", max_rows=max_rows)
    )
    columns = (Column.number("x", 0, GRID, step=1, missing=0), Column.category("seen", [0, 1], missing=0))
    return Schema("d", "Simulated", columns, unit, Budget.from_toml({measure: 1_000_000}))


def question(
    where: Schema, statistic: str, loss: tuple[str, Any], *, filtered: bool = False, **options: Any
) -> PricedQuestion:
    """The priced question about x, over all rows or those that are seen."""
    plan = Question("d", statistic, X, SEEN if filtered else None, (), tuple(options.items()))
    return price((Item(plan),), Ask.make(**{loss[0]: loss[1]}), where).items[0]


def release(item: PricedQuestion, x: np.ndarray, rng: np.random.Generator, identity: str = "ab") -> Release:
    """A simulated release of rows that are all seen."""
    table = {"x": x.astype(np.int64), "seen": np.ones(x.size, dtype=np.int64)}
    exact = answer(table, [part.request for part in item.parts])
    return Release(identity, item.key, "d", "v", released_parts(item.parts, exact, rng), item.loss)


def lumpy(rng: np.random.Generator, n: int) -> np.ndarray:
    """Two humps, an empty stretch and a spike: quantiles beside gaps, and a clear mode."""
    kind = rng.random(n)
    humps = np.where(kind < 0.5, rng.normal(25, 6, n), rng.normal(70, 10, n))
    return np.clip(np.rint(np.where(kind > 0.85, 40.0, humps)), 0, GRID).astype(int)


@cache
def population(draw: Callable[[np.random.Generator, int], np.ndarray]) -> np.ndarray:
    """The probabilities of 0…100, from four million draws."""
    found = np.bincount(draw(np.random.default_rng(12345), 4_000_000), minlength=GRID + 1)
    return found / found.sum()


def truths(mass: np.ndarray) -> dict[str, Any]:
    """Every reading of a distribution on 0…100."""
    at, below = np.arange(GRID + 1), np.cumsum(mass)
    return {
        "share": mass[20:46].sum(),
        "cdf": below[[10, 25, 39, 40, 41, 60, 90]],
        "mean": (mass * at).sum(),
        "quantile": np.searchsorted(below, np.array([0.1, 0.25, 0.5, 0.9]) - 1e-12).astype(float),
        "median": float(np.searchsorted(below, 0.5 - 1e-12)),
    }


def readings(tree: Any) -> dict[str, Callable[[Any], Any]]:
    """The readings of a tree statistic whose truths are known."""
    found = tree.readings
    return {
        "share": lambda setting: found["share"](setting, 20, 45),
        "cdf": lambda setting: found["cdf"](setting, [10, 25, 39, 40, 41, 60, 90]),
        "mean": found["mean"],
        "quantile": lambda setting: found["quantile"](setting, [0.1, 0.25, 0.5, 0.9]),
        "median": found["median"],
    }


def studies(
    item: PricedQuestion,
    draw: Callable[[np.random.Generator, int], np.ndarray],
    n: int,
    reps: int,
    seed: int,
) -> Iterator[tuple[np.ndarray, Release]]:
    """Datasets and their releases."""
    rng = np.random.default_rng(seed)
    for place in range(reps):
        x = draw(rng, n)
        yield x, release(item, x, rng, f"{place:04x}")


STEP = Fraction(1)
