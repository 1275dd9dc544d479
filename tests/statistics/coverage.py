"""The suite's own words for :mod:`dpnb.simulate`: populations of its cases, studies that count, and noise made wider on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpnb import simulate
from dpnb.inference import fast_noise
from dpnb.planner import PricedQuestion
from dpnb.simulate.studies import released
from dpnb.trusted.releases import Release
from dpnb.trusted.schema import Column

Raw = dict[str, np.ndarray]
Shape = tuple[int, ...]
Population = Callable[[np.random.Generator, Shape], Raw]


def skewed(rng: np.random.Generator, shape: Any) -> Raw:
    """A skewed number of mean 28.57, a rare event of probability .3, two arms."""
    x = np.round(100 * rng.beta(2, 5, shape), 1)
    return {
        "x": x,
        "b": (rng.random(shape) < 0.3).astype(float),
        "arm": rng.integers(0, 2, shape).astype(float),
    }


def narrow(rng: np.random.Generator, shape: Any) -> Raw:
    """A number far from the middle of its bounds with a small spread: mean 80, standard deviation 5."""
    return {**skewed(rng, shape), "x": np.round(np.clip(rng.normal(80, 5, shape), 0, 100), 1)}


def columns(missing: Any = "drop", other: str | None = None) -> list[Column]:
    """The public columns of such a study; with a second number in place of the arms, where one is named."""
    first = Column.number("x", 0, 100, step=Fraction(1, 10), missing=missing)
    if other is not None:
        return [first, Column.number(other, 0, 100, step=Fraction(1, 10), missing=missing)]
    return [first, Column.category("b", [0, 1]), Column.category("arm", [0, 1])]


@dataclass(frozen=True)
class Coverage:
    """How often each interval held its truth, in how many studies, and how often a flag was raised."""

    reps: int
    privacy: int
    confidence: int
    flagged: int


@contextmanager
def wider(stretch: float) -> Iterator[None]:
    """Make all simulated noise wider than its mechanism declares."""
    laplace, gaussian = fast_noise.discrete_laplace, fast_noise.discrete_gaussian
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_noise, "discrete_laplace", lambda scale, *rest: laplace(stretch * scale, *rest))
        patch.setattr(fast_noise, "discrete_gaussian", lambda v, *rest: gaussian(stretch**2 * v, *rest))
        yield


def release(item: PricedQuestion, table: Any, rng: np.random.Generator, stretch: float = 1.0) -> Release:
    """One simulated release: exact aggregates with simulated noise, wider than declared by ``stretch``."""
    with wider(stretch):
        return released(item, table, rng)


def coverage(
    statistic: str,
    population: Population,
    n: int,
    loss: tuple[str, Any],
    mean: float,
    *,
    missing: Any = "drop",
    other: str | None = None,
    reps: int = 1000,
    seed: int = 1,
    stretch: float = 1.0,
    **more: Any,
) -> Coverage:
    """Simulate studies and count: privacy intervals against the dataset, confidence intervals against the population."""
    kind, amount = loss
    with wider(stretch):
        found = simulate.coverage(
            statistic,
            population,
            n,
            {kind: amount},
            reps=reps,
            rng=seed,
            columns=columns(missing, other),
            other=other,
            parameter=mean,
            **more,
        )
    privacy, confidence = (found.held(name) for name in ("privacy", "confidence"))
    assert confidence.studies[0, 0] == reps
    undefined = reps - int(privacy.studies[0, 0])  # an empty arm has no mean that could be missed
    assert undefined <= 0.01 * reps
    flagged = found.tallies[0].flags.get("", np.zeros((1, 1)))
    return Coverage(reps, int(privacy.held[0, 0]) + undefined, int(confidence.held[0, 0]), int(flagged[0, 0]))
