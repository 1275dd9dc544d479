"""What every lesson takes: a loss above 0, a random generator, arrays of the right shape. Refusals say what to give instead."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.errors import LossError, OptionError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def loss_of(value: object, name: str = "epsilon") -> float:
    """Return a privacy loss as a float; it must be above 0 and finite, otherwise LossError."""
    return _above(value, name, LossError)


def amount_of(value: object, name: str) -> float:
    """Return a number above 0 and finite, otherwise OptionError."""
    return _above(value, name, OptionError)


def _above(value: object, name: str, error: type[Exception]) -> float:
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        found = math.nan
    if not 0 < found < math.inf:
        raise error(f"{name} is a number above 0: {name}=1.")
    return found


def delta_of(value: object) -> float:
    """Return δ as a float; it is above 0 and below 1, otherwise LossError."""
    found = loss_of(value, "delta")
    if found >= 1:
        raise LossError("delta is above 0 and below 1: delta=1e-6.")
    return found


def whole(value: object, name: str, least: int = 1) -> int:
    """Return an integer of at least `least`, otherwise OptionError."""
    if not isinstance(value, int | np.integer) or value is True or value < least:
        raise OptionError(f"{name} is a whole number from {least}: {name}={max(least, 1)}.")
    return int(value)


def generator(rng: object) -> np.random.Generator:
    """Return a numpy generator; ``rng`` is a seed or a generator, otherwise OptionError."""
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        raise OptionError("rng is a seed or a numpy generator: rng=7.")
    return np.random.default_rng(int(rng))


def numbers(values: ArrayLike, name: str, dimensions: int = 1) -> Floats:
    """Return finite numbers as an array of so many dimensions, with at least one row; otherwise OptionError."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array([math.nan])
    if found.ndim != dimensions or not found.size or not np.isfinite(found).all():
        shape = "a list" if dimensions == 1 else "a table"
        raise OptionError(f"{name} is {shape} of finite numbers, at least one: np.asarray(...) of them.")
    return found


def codes(values: ArrayLike, below: int, name: str) -> Integers:
    """Return codes 0, 1, …, `below` - 1 as integers, shape (n,); otherwise OptionError."""
    found = numbers(values, name)
    if (found != np.floor(found)).any() or found.min() < 0 or found.max() >= below:
        raise OptionError(f"{name} holds whole numbers from 0 to {below - 1}; code it first.")
    return found.astype(np.int64)
