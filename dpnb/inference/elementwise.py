"""One formula for one number and for many: min, max, root and choice of floats, or of arrays entry by entry.

A release has a few cells, and plain floats are fastest there; a simulation has a hundred thousand, and arrays are. What is
concluded must not differ, so the formulas are written once with these functions. They never change a float into an array.
"""

from __future__ import annotations

import dataclasses
import math
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.integer[Any]]
Truths: TypeAlias = NDArray[np.bool_]
Number: TypeAlias = Any
"""A number of one cell, or an array of many: of a union of both numpy's operators give `object`, so that it is named and not checked."""
Truth: TypeAlias = Any
"""Whether something holds of one cell, or an array of it for many."""

_PLAIN = (float, int, str)


def lesser(a: Number, b: Number) -> Number:
    """Return the smaller of two numbers, entry by entry."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.minimum(a, b)
    return min(a, b)


def greater(a: Number, b: Number) -> Number:
    """Return the larger of two numbers, entry by entry."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.maximum(a, b)
    return max(a, b)


def inside(value: Number, low: Number, high: Number) -> Number:
    """Return a number moved between two limits, entry by entry."""
    return lesser(greater(value, low), high)


def around(value: Number, radius: Number, low: Number, high: Number) -> tuple[Number, Number]:
    """Return value ± radius, cut to what is possible, entry by entry.

    Of a value beyond what is possible the radius is taken from the nearest possible value too: an interval that ends at a bound on both
    sides would look certain where noise was large. It holds the other one, so that it covers at least as often.
    """
    nearest = inside(value, low, high)
    bottom, top = lesser(value, nearest) - radius, greater(value, nearest) + radius
    return inside(bottom, low, high), inside(top, low, high)


def drawn_inside(drawn: Number, seen: Number, low: Number, high: Number) -> Number:
    """Return draws of what a value may be without its noise, cut to what is possible, entry by entry.

    Draws around a value beyond what is possible are first moved with it to the nearest possible one, as :func:`around` does: else all of
    them could be that bound, and what is computed from them would look certain.
    """
    return inside(drawn + (inside(seen, low, high) - seen), low, high)


def root(value: Number) -> Number:
    """Return the square root, entry by entry."""
    return np.sqrt(value) if isinstance(value, np.ndarray) else math.sqrt(value)


def choose(condition: Truth, yes: Number, no: Number) -> Number:
    """Return one or the other number, entry by entry."""
    if isinstance(condition, np.ndarray):
        return np.where(condition, yes, no)
    return yes if condition else no


def not_(condition: Truth) -> Truth:
    """Return the opposite truth, entry by entry."""
    return ~condition if isinstance(condition, np.ndarray) else not condition


def raised(flags: dict[str, Truth]) -> tuple[str, ...]:
    """Return the names of the flags that are up, of one cell."""
    return tuple(name for name, up in flags.items() if up)


def subset(value: Any, shape: tuple[int, ...], where: Any) -> Any:
    """Return the entries of arrays of one shape (after broadcasting) at some places, inside any frozen value.

    Parameters
    ----------
    value : array, number, tuple, dict or frozen dataclass of these
        Whatever is not an array stays as it is.
    shape : tuple of int
        The shape to which every array broadcasts.
    where : ndarray of bool, or index
        Which entries; the result's arrays have one axis.
    """
    if value is None or isinstance(value, _PLAIN):
        return value
    if isinstance(value, np.ndarray):
        if value.shape != shape and value.ndim:
            value = np.broadcast_to(value, shape)
        return value[where] if value.ndim else value
    if isinstance(value, tuple):
        return tuple([subset(item, shape, where) for item in value])
    if isinstance(value, dict):
        return {key: subset(item, shape, where) for key, item in value.items()}
    kind: Any = type(value)
    names = _names(kind)
    return (
        value if names is None else kind(**{one: subset(getattr(value, one), shape, where) for one in names})
    )


@lru_cache(maxsize=256)
def _names(kind: type) -> tuple[str, ...] | None:
    """Return the fields of a dataclass; nothing for another kind of value."""
    return tuple(f.name for f in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else None
