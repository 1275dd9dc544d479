"""Arithmetic on estimates: free, and it carries its uncertainty.

Operators, numpy's elementwise functions and a few others build new nodes, pending or released. The room refuses numpy
functions that would drop the uncertainty silently; functions that only look take the values, after the release. Of an index, keys come before
places.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

import numpy as np

from dpnb.errors import PlanError
from dpnb.estimate import refusals
from dpnb.estimate.evaluate import Op, Operand, is_node
from dpnb.estimate.node import Node
from dpnb.estimate.operations import (
    VERDICTS,
    Cumulate,
    Dot,
    Join,
    Operation,
    Place,
    Reduce,
    Reshape,
    Round,
    Take,
    Where,
)
from dpnb.statistics._base import Axis

_KINDS = {True: "text", False: "a number"}


class NoKey(PlanError, KeyError):
    """A key that a table of answers does not have."""

    __str__ = PlanError.__str__


def find(index: object, shape: tuple[int, ...], axes: tuple[Axis, ...]) -> tuple[Any, ...]:
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


def _at(part: Any, size: int, axis: Axis | None) -> Operand:
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


def _no_key(part: object, axis: Axis) -> str:
    other = next((key for key in axis.keys if str(key) == str(part)), None)
    if other is None:
        return f"{axis.name} has no key {part!r}. Its keys: {_shortly(axis.keys)}."
    return f"{axis.name} has no key {part!r}: write {other!r} instead, which is {_KINDS[isinstance(other, str)]}."


def _shortly(keys: Sequence[object]) -> str:
    return ", ".join(map(repr, keys[:8])) + (", …" if len(keys) > 8 else "")


def _hashable(item: object) -> bool:
    try:
        hash(item)
    except TypeError:
        return False
    return True


def remaining(axis: Axis, place: Place) -> Axis | None:
    """What is left of an axis."""
    if isinstance(place, int):
        return None
    if place == slice(None):
        return axis
    keys = axis.keys[place] if isinstance(place, slice) else tuple(axis.keys[number] for number in place)
    return Axis(axis.name, axis.label, tuple(keys))


def from_right(axis: int, ndim: int) -> int:
    """The number of an axis counted from the right: negative."""
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of bounds for an estimate of {ndim} axes.")
    return axis - ndim if axis >= 0 else axis


N = TypeVar("N", bound=Node)
Operator = Callable[[object, object], Operand]


def _operator(ufunc: np.ufunc) -> tuple[Operator, Operator]:
    """Python's operator of an elementwise function, with an estimate on its left, and on its right."""
    return (lambda self, other: _ufunc(ufunc, self, other)), (lambda self, other: _ufunc(ufunc, other, self))


class Arithmetic(Node):
    """A node with Python's operators, places and numpy's protocol."""

    __slots__ = ()

    # ---------------------------------------------------------------- places

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("This estimate is a single number: it has no len().")
        return self.shape[0]

    def __iter__(self) -> Iterator[Self]:
        if not self.shape:
            raise TypeError("This estimate is a single number: it cannot be iterated.")
        return (self._take((place,)) for place in range(self.shape[0]))

    def __contains__(self, item: object) -> bool:
        if isinstance(item, str):
            return any(item in axis.keys for axis in self.axes[:1])
        return any(item is mine or item == mine for mine in self)

    def __getitem__(self, index: object) -> Self:
        """Values by key (``eff["Goa"]``, ``by_any[1]``) or, where keys are not whole numbers, by place (``h[0]``)."""
        shape = self.shape
        if not shape:
            raise TypeError("This estimate is a single number: it cannot be indexed.")
        return self._take(find(index, shape, self.axes))

    def _take(self, places: Sequence[Any]) -> Self:
        whole = (*places, *(slice(None),) * (self.ndim - len(places)))
        axes = tuple(remaining(axis, place) for axis, place in zip(self.axes, whole, strict=False))
        return _node(self.derived(), Take(whole), (self,), tuple(axis for axis in axes if axis is not None))

    # ---------------------------------------------------------------- arithmetic

    __add__, __radd__ = _operator(np.add)
    __sub__, __rsub__ = _operator(np.subtract)
    __mul__, __rmul__ = _operator(np.multiply)
    __truediv__, __rtruediv__ = _operator(np.true_divide)
    __floordiv__, __rfloordiv__ = _operator(np.floor_divide)
    __mod__, __rmod__ = _operator(np.remainder)
    __pow__, __rpow__ = _operator(np.power)

    def __divmod__(self, other: object) -> Operand:
        if operand(other) is NotImplemented:
            return NotImplemented
        return self // other, self % other

    def __rdivmod__(self, other: object) -> Operand:
        if operand(other) is NotImplemented:
            return NotImplemented
        return other // self, other % self

    def __matmul__(self, other: object) -> Operand:
        return _dot(self, other)

    def __rmatmul__(self, other: object) -> Operand:
        return _dot(other, self)

    def __neg__(self) -> Self:
        return _node(self.derived(), np.negative, (self,), self._axes)

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        return _node(self.derived(), np.absolute, (self,), self._axes)

    def __round__(self, decimals: int | None = None) -> Self:
        return self.round(decimals or 0)

    if not TYPE_CHECKING:  # a checker sees the declared names alone

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(
                    f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self
                )
            raise refusals.no_attribute(self.text, name, dir(type(self)))

    # ---------------------------------------------------------------- numpy

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object) -> Operand:
        if ufunc is np.matmul and method == "__call__" and not kwargs:
            return _dot(*inputs)
        if method != "__call__" or ufunc.nout != 1 or ufunc.signature is not None or kwargs:
            raise refusals.carries_no_interval(ufunc, CARRIED)
        if ufunc in VERDICTS:
            return ufunc(*(_known(arg, f"`np.{ufunc.__name__}`") for arg in inputs))
        return _ufunc(ufunc, *inputs)

    def __array_function__(
        self, func: Callable[..., object], types: object, args: tuple[object, ...], kwargs: dict[str, Any]
    ) -> Operand:
        if func in _FUNCTIONS:
            return _FUNCTIONS[func](*args, **kwargs)
        if func in _ON_VALUES:
            name = f"`np.{func.__name__}`"
            return func(*_all_known(args, name), **{k: _all_known(v, name) for k, v in kwargs.items()})
        raise refusals.carries_no_interval(func, CARRIED)

    def sum(self, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Self:
        """Sum over all axes, or some."""
        return self._reduce("sum", axis, keepdims=keepdims)

    def mean(self, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Self:
        """Mean over all axes, or some."""
        return self._reduce("mean", axis, keepdims=keepdims)

    def _reduce(self, what: str, axis: int | Sequence[int] | None, *, keepdims: bool) -> Self:
        gone = range(self.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        counted = tuple(sorted(from_right(number, self.ndim) for number in gone))
        kept = tuple(x for number, x in enumerate(self.axes) if number - self.ndim not in counted)
        return _node(self.derived(), Reduce(what, counted, keepdims), (self,), () if keepdims else kept)

    def cumsum(self, axis: int | None = None) -> Self:
        """Running sum along an axis; of all values, row-major, if none is given."""
        if axis is None and self.ndim != 1:
            return _node(self.derived(), Reshape((self.size,)), (self,), ()).cumsum(0)
        return _node(self.derived(), Cumulate(from_right(axis or 0, self.ndim)), (self,), self.axes)

    def clip(self, low: object = None, high: object = None) -> Operand:
        """Values clipped to two bounds."""
        held = self if low is None else _ufunc(np.maximum, self, low)
        return held if high is None else _ufunc(np.minimum, held, high)

    def round(self, decimals: int = 0) -> Self:
        """Values rounded to decimals."""
        return _node(self.derived(), Round(operator.index(decimals)), (self,), self.axes)

    def dot(self, other: object) -> Operand:
        """Inner or matrix product."""
        return _dot(self, other)


# ---------------------------------------------------------------- making nodes


def _kind(args: tuple[object, ...]) -> type[Any]:
    """The class of the estimates among some operands."""
    return next(arg.derived() for arg in args if isinstance(arg, Node))


def _node(kind: type[N], op: Op, args: tuple[Operand, ...], axes: tuple[Axis, ...]) -> N:
    """A derived estimate; numpy's shape rules, numpy's errors."""
    shapes = [arg.shape if is_node(arg) else np.shape(arg) for arg in args]
    shape = op.shape(shapes) if isinstance(op, Operation) else np.broadcast_shapes(*shapes)
    return kind(op, args, shape, axes if len(axes) == len(shape) else ())


def _ufunc(op: np.ufunc, *inputs: object) -> Operand:
    """An elementwise node; NotImplemented for an operand of an unknown kind."""
    args = tuple(operand(item) for item in inputs)
    if any(arg is NotImplemented for arg in args):
        return NotImplemented
    shape = np.broadcast_shapes(*(arg.shape if is_node(arg) else np.shape(arg) for arg in args))
    return _kind(args)(op, args, shape, _common_axes(args, shape) if shape else ())


def _common_axes(args: tuple[object, ...], shape: tuple[int, ...]) -> tuple[Axis, ...]:
    """The axes of the first estimate that has this shape and axes."""
    for arg in args:
        if is_node(arg) and arg.shape == shape and arg.axes:
            return arg.axes
    return ()


def operand(item: object) -> Operand:
    """An estimate, a float, or a read-only float array; NotImplemented for anything else."""
    if isinstance(item, Node):
        return item
    if isinstance(item, Decimal | Fraction | Real):
        return float(item)
    if isinstance(item, np.ndarray | list | tuple):
        if isinstance(item, list | tuple) and any(isinstance(part, Node) for part in item):
            return _join(item, new=True)
        array = np.asarray(item)
        if array.dtype.kind not in "biuf":
            return NotImplemented
        constant = np.array(array, dtype=float)
        constant.flags.writeable = False
        return constant if constant.ndim else float(constant)
    return NotImplemented


def _operands(items: Sequence[object], function: Callable[..., object]) -> tuple[Operand, ...]:
    found = tuple(operand(item) for item in items)
    if any(item is NotImplemented for item in found):
        raise refusals.carries_no_interval(function, CARRIED)
    return found


def _known(arg: object, by: str) -> Operand:
    """The values of an estimate, where no interval can be carried; anything else as it is."""
    if isinstance(arg, Node):
        arg._need(by)  # noqa: SLF001 -- its own kind
        return arg.value
    return arg


def _all_known(arg: object, by: str) -> Operand:
    if isinstance(arg, list | tuple):
        return type(arg)([_all_known(part, by) for part in arg])
    return _known(arg, by)


# ---------------------------------------------------------------- numpy functions that carry intervals


def _dot(left: object, right: object) -> Operand:
    args = tuple(operand(item) for item in (left, right))
    if any(arg is NotImplemented for arg in args):
        return NotImplemented
    if any(np.ndim(arg) == 0 for arg in args):
        return _ufunc(np.multiply, *args)
    return _node(_kind(args), Dot(), args, ())


def _join(items: Iterable[object], axis: int = 0, *, new: bool) -> Operand:
    args = _operands(list(items), np.stack if new else np.concatenate)
    ndim = max(np.ndim(arg) for arg in args) + new
    return _node(_kind(args), Join(from_right(axis, ndim), new), args, ())


def _where(condition: object, *options: object) -> Operand:
    decided = np.asarray(_known(condition, "`np.where`"), dtype=bool)
    if not options:
        return np.nonzero(decided)
    args = _operands(options, np.where)
    return _node(
        _kind(args), Where(decided.tobytes(), decided.shape), args, _common_axes(args, decided.shape)
    )


def _clip(array: object, a_min: object = None, a_max: object = None, **kwargs: object) -> Operand:
    low, high = kwargs.pop("min", a_min), kwargs.pop("max", a_max)
    if kwargs:
        raise refusals.carries_no_interval(np.clip, CARRIED)
    held = operand(array)
    held = held if low is None else _ufunc(np.maximum, held, low)
    return held if high is None else _ufunc(np.minimum, held, high)


def _method(name: str) -> Callable[..., Any]:
    def call(array: object, *args: object, **kwargs: object) -> Operand:
        if not isinstance(array, Arithmetic):
            raise refusals.carries_no_interval(getattr(np, name), CARRIED)
        return getattr(array, name)(*args, **kwargs)

    return call


def _size(array: Node, axis: int | None = None) -> int:
    return array.size if axis is None else array.shape[axis]


#: numpy functions that carry draws, by name; the text of error 9 lists them.
CARRIED = (
    "clip",
    "concatenate",
    "cumsum",
    "dot",
    "mean",
    "ndim",
    "round",
    "shape",
    "size",
    "stack",
    "sum",
    "where",
)

_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.sum: _method("sum"),
    np.mean: _method("mean"),
    np.cumsum: _method("cumsum"),
    np.round: _method("round"),
    np.clip: _clip,
    np.where: _where,
    np.dot: _dot,
    np.concatenate: lambda arrays, axis=0: _join(arrays, axis, new=False),
    np.stack: lambda arrays, axis=0: _join(arrays, axis, new=True),
    np.shape: lambda array: array.shape,
    np.ndim: lambda array: array.ndim,
    np.size: _size,
}

#: numpy functions that look at values without making new ones: drawing libraries call them on what they are given.
_ON_VALUES: frozenset[Any] = frozenset(
    (
        np.all,
        np.allclose,
        np.any,
        np.argmax,
        np.argmin,
        np.argsort,
        np.array2string,
        np.array_equal,
        np.array_repr,
        np.array_str,
        np.atleast_1d,
        np.atleast_2d,
        np.broadcast_arrays,
        np.broadcast_to,
        np.column_stack,
        np.copyto,
        np.iscomplexobj,
        np.isclose,
        np.isrealobj,
        np.nonzero,
        np.ravel,
        np.result_type,
    )
)
