"""How long an audit will take that must call a function once for every run, and how many runs fit in a time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from dpnb.audit.sampling import runs_of

_SLOW = 3.0
_FEWEST = 1_000
_TRIED = 20


class SlowAudit(UserWarning):
    """An audit will take seconds, because its mechanism makes one answer a call."""


def seconds_of_one(mechanism: Callable[..., Any], pair: tuple[Any, Any], rng: np.random.Generator) -> float:
    """Return how long one call takes, measured on a few."""
    start = time.perf_counter()
    for data in pair:
        runs_of(mechanism, data, _TRIED, rng)
    return (time.perf_counter() - start) / (2 * _TRIED)


def trials_within(seconds: float, one: float) -> int:
    """Return the runs of each neighbour, half of them for the choice of events, that fit in a time."""
    return max(_FEWEST, int(seconds / (4 * one)))


def warn_of(trials: int, one: float) -> None:
    """Say how long it will take, if that is longer than a person waits without asking."""
    total = 4 * trials * one
    if total > _SLOW:
        warnings.warn(
            f"This audit calls your function {4 * trials:,} times, about {total:.0f} s. Faster: let it take size= and return that many "
            "answers at once, or draw its noise from rng= without conditions on it. Shorter: seconds=5, or fewer trials.",
            SlowAudit,
            stacklevel=4,
        )
