"""Simulated tables: multinomial counts, noise from the fast samplers, releases as the curator would write them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dpnb.inference.law import law_of
from dpnb.inference.simulated_release import add_noise
from dpnb.planner import PricedQuestion, Question
from dpnb.planner.expression import Ref
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.releases import Release, ReleasedPart
from dpnb.trusted.schema import Column, Schema
from tests.contracts.statistic import priced


def asked(
    shape: tuple[int, ...],
    n: int,
    loss: tuple[str, Any],
    adjacency: str = "change-one",
    *,
    statistic: str = "crosstab",
    max_rows: int = 1,
) -> PricedQuestion:
    """A priced question whose cells are the combinations of columns c0, c1, … without missing values."""
    kind, amount = loss
    names = [f"c{axis}" for axis in range(len(shape))]
    columns = [
        Column.category(name, list(range(size)), missing=0) for name, size in zip(names, shape, strict=True)
    ]
    unit = PrivacyUnit(adjacency, rows=n) if adjacency == "change-one" else PrivacyUnit(adjacency)
    if max_rows > 1:
        unit = PrivacyUnit("add-remove", unit="who", max_rows=max_rows)
    where = Schema("d", "Simulated", tuple(columns), unit, Budget.from_toml({kind: 1000}))
    *by, target = map(Ref, names)
    return priced(Question("d", statistic, target, by=tuple(by)), where, kind=kind, amount=amount)


def released(
    item: PricedQuestion,
    counts: np.ndarray,
    rng: np.random.Generator,
    *,
    name: str = "a",
    stretch: float = 1.0,
) -> Release:
    """One release of exact counts, its noise wider than declared by ``stretch``."""
    (part,) = item.parts
    noise = add_noise(part.mechanism, np.zeros(counts.size, dtype=np.int64), rng)
    values = tuple(int(v) for v in counts.ravel() + np.rint(stretch * noise).astype(np.int64))
    parts = (ReleasedPart(part.name, law_of(part.mechanism).to_json(), values, f"draw {name}"),)
    return Release(name, item.key, "d", "v", parts, item.loss)


def studies(
    item: PricedQuestion, shares: np.ndarray, n: int, reps: int, *, seed: int = 1, stretch: float = 1.0
) -> Iterator[tuple[np.ndarray, Release]]:
    """Exact tables of n people from a population with these shares, and their releases."""
    rng = np.random.default_rng(seed)
    for rep in range(reps):
        counts = rng.multinomial(n, shares.ravel())
        yield counts, released(item, counts, rng, name=f"r{seed}-{rep}", stretch=stretch)


def reading(item: PricedQuestion, name: str, *args: Any, **kwargs: Any) -> Any:
    """One reading of a question, with its arguments."""
    return item.checked.readings[name](item.checked.setting, *args, **kwargs)
