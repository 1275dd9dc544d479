"""Simulated studies: rows drawn from a population, exact aggregates, noise from the fast samplers, the shipped conclusions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpnb.aggregate import answer, prepare
from dpnb.mechanisms import DiscreteLaplace, PermuteAndFlip, QuantileSelection
from dpnb.noise.fast import discrete_gaussian, discrete_laplace
from dpnb.plan import Ask, BatchPlan, Item, PricedQuestion, QueryPlan, price
from dpnb.plan.expression import Ref
from dpnb.privacy.accountant import Budget
from dpnb.privacy.unit import PrivacyUnit
from dpnb.release import Release, ReleasedPart
from dpnb.schema import Column, Schema
from dpnb.statistics import Result, conclude

Raw = dict[str, np.ndarray]
Population = Callable[[np.random.Generator, int], Raw]


def skewed(rng: np.random.Generator, n: int) -> Raw:
    """A skewed number of mean 28.57, a rare event of probability .3, two arms."""
    x = np.round(100 * rng.beta(2, 5, n), 1)
    return {"x": x, "b": (rng.random(n) < 0.3).astype(float), "arm": rng.integers(0, 2, n).astype(float)}


def narrow(rng: np.random.Generator, n: int) -> Raw:
    """A number far from the middle of its bounds with a small spread: mean 80, standard deviation 5."""
    return {**skewed(rng, n), "x": np.round(np.clip(rng.normal(80, 5, n), 0, 100), 1)}


def study(n: int, adjacency: str, budget: str, missing: Any = "drop", other: str | None = None) -> Schema:
    """The public schema of such a study; with a second number in place of the arms, where one is named."""
    unit = PrivacyUnit(adjacency, rows=n if adjacency == "change-one" else None)
    columns = (
        Column.number("x", 0, 100, step=Fraction(1, 10), missing=missing),
        Column.category("b", [0, 1]),
        Column.category("arm", [0, 1]),
    )
    if other is not None:
        columns = (columns[0], Column.number(other, 0, 100, step=Fraction(1, 10), missing=missing))
    return Schema("d", "Simulated", columns, unit, Budget.from_toml({budget: 1000}))


@dataclass(frozen=True)
class Coverage:
    """How often each interval held its truth, in how many studies, and how often a flag was raised."""

    reps: int
    privacy: int
    confidence: int
    flagged: int


def release(item: PricedQuestion, table: Any, rng: np.random.Generator, stretch: float = 1.0) -> Release:
    """One simulated release: exact aggregates with simulated noise, wider than declared by ``stretch``."""
    parts = []
    for part, exact in zip(item.parts, answer(table, [part.request for part in item.parts]), strict=True):
        mechanism = part.mechanism
        if isinstance(mechanism, QuantileSelection):
            values = tuple(int(mechanism.simulate(cell, rng, 1)[0]) for cell in exact)
            parts.append(ReleasedPart(part.name, mechanism.to_json(), values, "d"))
            continue
        if isinstance(mechanism, PermuteAndFlip):
            cells = np.array(exact).reshape(-1, mechanism.size)
            picked = [int(at) for cell in cells for at in mechanism.simulate(cell, rng, 1)[0]]
            parts.append(ReleasedPart(part.name, mechanism.to_json(), tuple(picked), "d"))
            continue
        size, law = len(exact), mechanism.law
        if isinstance(mechanism, DiscreteLaplace):
            noise = discrete_laplace(stretch * float(mechanism.scale), size, rng)
        else:
            noise = discrete_gaussian(stretch**2 * float(mechanism.variance), size, rng)
        values = tuple(int(v) + int(z) for v, z in zip(exact, noise, strict=True))
        parts.append(ReleasedPart(part.name, law.to_json(), values, "d"))
    return Release("a", item.key, "d", "v", tuple(parts), item.loss)


def coverage(
    statistic: str,
    population: Population,
    n: int,
    loss: tuple[str, Any],
    truth: Callable[[Raw], float],
    mean: float,
    *,
    adjacency: str = "change-one",
    column: str = "x",
    by: tuple[str, ...] = (),
    other: str | None = None,
    missing: Any = "drop",
    reps: int = 200,
    seed: int = 1,
    stretch: float = 1.0,
    **options: Any,
) -> Coverage:
    """Simulate studies and count: privacy intervals against the dataset, confidence intervals against the population."""
    rng = np.random.default_rng(seed)
    kind, amount = loss
    schema = study(n, adjacency, kind, missing, other)
    second = None if other is None else Ref(other)
    asked = tuple(options.items())
    question = QueryPlan("d", statistic, Ref(column), None, tuple(map(Ref, by)), asked, second)
    batch = BatchPlan("d", schema.version, (Item(question),), Ask.make(**{kind: amount}))
    item = price(batch, schema).items[0]
    held = {"privacy": 0, "confidence": 0}
    flagged = 0
    for _ in range(reps):
        raw = population(rng, n)
        found: Result = conclude(item.checked, [release(item, prepare(raw, schema), rng, stretch)])
        flagged += bool(found.flags)
        for interval, value in (("privacy", truth(raw)), ("confidence", mean)):
            low, high = found.interval(0.95, interval)
            held[interval] += bool(low - 1e-9 <= value <= high + 1e-9)
    return Coverage(reps, held["privacy"], held["confidence"], flagged)
