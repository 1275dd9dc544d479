"""Indexing an estimate: keys before positions, and what becomes of the axes. Public facts only."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpnb.errors import PlanError
from dpnb.estimate.node import Node
from dpnb.statistics._base import Axis

_KINDS = {True: "text", False: "a number"}


class NoKey(PlanError, KeyError):
    """A key that a table of answers does not have."""

    __str__ = PlanError.__str__


def find(index: Any, shape: tuple[int, ...], axes: tuple[Any, ...]) -> tuple[Any, ...]:
    """One place for each axis that is named, by key or by number."""
    if (
        axes
        and not isinstance(index, list | slice | np.ndarray)
        and _hashable(index)
        and index in axes[0].keys
    ):
        return (_at(index, shape[0], axes[0]),)
    parts = index if isinstance(index, tuple) else (index,)
    if Ellipsis in [part if part is Ellipsis else None for part in parts]:
        at = next(number for number, part in enumerate(parts) if part is Ellipsis)
        parts = (*parts[:at], *(slice(None),) * (len(shape) - len(parts) + 1), *parts[at + 1 :])
    if len(parts) > len(shape):
        raise IndexError(f"too many indices: this estimate has {len(shape)} axes.")
    return tuple(
        _at(part, size, axes[number] if axes else None)
        for number, (part, size) in enumerate(zip(parts, shape, strict=False))
    )


def _at(part: Any, size: int, axis: Any) -> Any:
    """The place or places on one axis."""
    if isinstance(part, Node):
        raise TypeError("An estimate cannot be an index: use its value, int(x), after release.")
    if isinstance(part, slice):
        return part
    if isinstance(part, np.ndarray | list | tuple) and not (
        axis is not None and _hashable(part) and part in axis.keys
    ):
        chosen = np.asarray(part)
        if chosen.dtype == bool:
            return tuple(int(place) for place in np.flatnonzero(_fits(chosen, size)))
        return tuple(_at(item, size, axis) for item in chosen.tolist())
    if axis is not None:
        for place, key in enumerate(axis.keys):
            if key is part or (key == part and isinstance(key, str) == isinstance(part, str)):
                return place
        if isinstance(part, str) or any(isinstance(key, int) for key in axis.keys):
            raise NoKey(_no_key(part, axis))
    place = operator.index(part)
    if not -size <= place < size:
        raise IndexError(f"place {place} is outside: this axis has {size} places.")
    return place % size


def _fits(mask: np.ndarray, size: int) -> np.ndarray:
    if mask.shape != (size,):
        raise IndexError(f"a condition of {mask.shape} does not fit an axis of {size} places.")
    return mask


def _no_key(part: Any, axis: Any) -> str:
    other = next((key for key in axis.keys if str(key) == str(part)), None)
    if other is None:
        return f"{axis.name} has no key {part!r}. Its keys: {_shortly(axis.keys)}."
    return f"{axis.name} has no key {part!r}: write {other!r} instead, which is {_KINDS[isinstance(other, str)]}."


def _shortly(keys: Sequence[Any]) -> str:
    return ", ".join(map(repr, keys[:8])) + (", …" if len(keys) > 8 else "")


def _hashable(item: Any) -> bool:
    try:
        hash(item)
    except TypeError:
        return False
    return True


def remaining(axis: Any, place: Any) -> Axis | None:
    """What is left of an axis."""
    if isinstance(place, int):
        return None
    if place == slice(None):
        return axis  # type: ignore[no-any-return]
    keys = axis.keys[place] if isinstance(place, slice) else tuple(axis.keys[number] for number in place)
    return Axis(axis.name, axis.label, tuple(keys))


def from_right(axis: int, ndim: int) -> int:
    """The number of an axis counted from the right: negative."""
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of bounds for an estimate of {ndim} axes.")
    return axis - ndim if axis >= 0 else axis
