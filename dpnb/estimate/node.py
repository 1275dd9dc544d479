"""The core of an estimate: an immutable node of an expression, its public shape and its value.

A node is a leaf (one measurement) or an operation on nodes and plain constants. It registers itself weakly in the open
batch. It refuses to change, and to give a value before the release.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from dpnb.estimate import refusals, wording
from dpnb.estimate.batch import OPEN_BATCH
from dpnb.estimate.evaluate import Expression, Op, Operand, evaluate, leaves, nodes, plain
from dpnb.estimate.pending_question import PendingQuestion
from dpnb.estimate.reading import readable
from dpnb.inference.elementwise import Number
from dpnb.statistics._base import Axis
from dpnb.statistics.result import Result


class Node:
    """A leaf or an operation, before and after the release.

    Parameters
    ----------
    op : None, ufunc or Operation
        None for a leaf.
    args : tuple
        The measurement of a leaf; estimates and plain constants of a node.
    shape : tuple of int, optional
        None for a leaf whose shape is itself private.
    axes : tuple of Axis
        Public keys of the axes; empty where arithmetic lost them.
    """

    __slots__ = ("__weakref__", "_axes", "_display", "_memo", "_shape", "_value", "args", "op")

    op: Op
    args: tuple[Operand, ...]
    _shape: tuple[int, ...] | None
    _axes: tuple[Axis, ...]
    _value: Number
    _memo: dict[object, Any] | None
    _display: object

    def __init__(
        self, op: Op, args: tuple[Operand, ...], shape: tuple[int, ...] | None, axes: tuple[Axis, ...] = ()
    ) -> None:
        put = object.__setattr__
        put(self, "op", op)
        put(self, "args", args)
        put(self, "_shape", shape)
        put(self, "_axes", axes)
        put(self, "_value", None)
        put(self, "_memo", None)
        put(self, "_display", None)
        batch = OPEN_BATCH.get()
        if batch is not None and batch.is_open:
            batch.register(self)

    @classmethod
    def leaf(cls, measurement: PendingQuestion) -> Self:
        """The estimate of one measurement."""
        return readable(cls, measurement)(None, (measurement,), measurement.shape, measurement.axes)

    @classmethod
    def derived(cls) -> type[Self]:
        """The class of what arithmetic makes of it: without the readings of a question."""
        return cls

    def __setattr__(self, name: str, value: object) -> None:
        if name != "_display":
            raise AttributeError("An estimate cannot be changed. Assign a new expression to a new name.")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError("An estimate cannot be changed.")

    # ---------------------------------------------------------------- what it is

    @property
    def measurement(self) -> PendingQuestion | None:
        """The measurement of a question; None for a derived estimate and for a reading."""
        return self.args[0] if self.op is None and self.args[0].root is self.args[0] else None

    @property
    def outcome(self) -> Result | None:
        """The result of a question or a reading; None before the release and for arithmetic."""
        return self.args[0].outcome if self.op is None else None

    def leaves(self) -> tuple[PendingQuestion, ...]:
        """The distinct measurements under this estimate."""
        return tuple(leaves([self]))

    @property
    def text(self) -> str:
        """The question or expression as it was typed, for example ``hiv.got.mean()``."""
        return wording.text(self)

    @property
    def resolved(self) -> bool:
        """Whether the value is known *and* was read already."""
        return self._value is not None

    @property
    def pending(self) -> bool:
        """Whether some question under this estimate has no answer yet."""
        return self._value is None and self._first_pending() is not None

    def _first_pending(self) -> PendingQuestion | None:
        for node in nodes([self], _resolved):
            if node.op is None and not node.args[0].released:
                measurement: PendingQuestion = node.args[0].root
                return measurement
        return None

    def _need(self, by: str) -> None:
        """Raise error 1 or 2 if the value is not here; `by` says what needs it."""
        if self._value is None:
            missing = self._first_pending()
            if missing is not None:
                raise refusals.value_needed(missing, refusals.asked_by(by) if missing.answerable else by)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value: public, so known while pending."""
        if self._shape is not None:
            return self._shape
        self._need("`shape`")
        return self.leaves()[0].shape or ()

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes with their public keys; empty if arithmetic removed them."""
        if self._shape is None and self.op is None:
            return self.leaves()[0].axes
        return self._axes

    @property
    def keys(self) -> tuple[Any, ...]:
        """The public keys: those of the only axis, or one tuple for each axis."""
        if len(self.axes) == 1:
            return tuple(self.axes[0].keys)
        return tuple(tuple(axis.keys) for axis in self.axes)

    # ---------------------------------------------------------------- what it is worth

    @property
    def value(self) -> Number:
        """The point value: a number, whole for a number of rows, or a read-only array for a vector.

        Raises
        ------
        PendingError
            Before the release.
        """
        if self._value is None:
            self._need("`.value`")
            found = evaluate(self, _leaf_value, stop=_resolved)
            object.__setattr__(self, "_value", wording.whole(self, plain(found)))
        return self._value


def _resolved(node: Expression) -> bool:
    return node.resolved


def _leaf_value(node: Expression) -> np.ndarray:
    """The array of a leaf, or of a node that was read already."""
    value = node.value if node.resolved else node.args[0].outcome.value
    return np.asarray(value, dtype=float)
