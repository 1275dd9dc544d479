"""What arithmetic on estimates means: numpy's elementwise functions, and a few that change the shape.

An operation is either a numpy ufunc or one of the frozen classes below. It acts on plain arrays that may carry one
leading axis, the draws: ``lead`` is 0 for values and 1 for draws, and axes of the estimate are counted from the
right, so that one code computes both. It refuses whatever would make the shape depend on values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

Shape = tuple[int, ...]
Place = int | slice | tuple[int, ...]

#: ufuncs whose result is a yes or no: they compare point values and carry no draws.
VERDICTS = frozenset(
    (
        np.less,
        np.less_equal,
        np.greater,
        np.greater_equal,
        np.equal,
        np.not_equal,
        np.logical_and,
        np.logical_or,
        np.logical_xor,
        np.logical_not,
        np.isnan,
        np.isinf,
        np.isfinite,
        np.signbit,
    )
)

#: ufuncs with a pole where their second argument is zero.
DIVISIONS = frozenset((np.true_divide, np.floor_divide, np.remainder, np.fmod))

#: ufuncs that are defined wherever there are numbers, or watched where they are not.
ARITHMETIC = frozenset((np.add, np.subtract, np.multiply, np.negative, np.positive, *DIVISIONS))

SYMBOLS: dict[object, str] = {
    np.add: "+",
    np.subtract: "-",
    np.multiply: "*",
    np.true_divide: "/",
    np.floor_divide: "//",
    np.remainder: "%",
    np.power: "**",
}


class Operation:
    """A function of arrays that is not a ufunc. Subclasses are frozen values."""

    __slots__ = ()
    name: ClassVar[str]
    #: whether component i of the result depends on component i of each argument alone
    elementwise: ClassVar[bool] = False

    def shape(self, shapes: Sequence[Shape]) -> Shape:
        """Shape of the result; raises ValueError where numpy would."""
        raise NotImplementedError

    def apply(self, arrays: Sequence[np.ndarray], lead: int) -> np.ndarray:
        """Compute; each array has `lead` leading axes of draws."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Take(Operation):
    """Indexing, one place for each axis: a number drops the axis, a slice or a tuple of numbers keeps it."""

    name: ClassVar[str] = "take"
    places: tuple[Place, ...]

    def shape(self, shapes: Sequence[Shape]) -> Shape:
        (shape,) = shapes
        kept = []
        for size, place in zip(shape, self.places, strict=True):
            if isinstance(place, slice):
                kept.append(len(range(*place.indices(size))))
            elif isinstance(place, tuple):
                kept.append(len(place))
        return tuple(kept)

    def apply(self, arrays: Sequence[np.ndarray], lead: int) -> np.ndarray:
        (array,) = arrays
        for axis in reversed(range(len(self.places))):
            place = self.places[axis]
            where = place if isinstance(place, int | slice) else list(place)
            array = array[(slice(None),) * (lead + axis) + (where,)]
        return array


@dataclass(frozen=True, slots=True)
class Reduce(Operation):
    """Sum or mean over some axes, counted from the right."""

    name: ClassVar[str] = "reduce"
    what: str
    axes: tuple[int, ...]
    keepdims: bool = False

    def shape(self, shapes: Sequence[Shape]) -> Shape:
        (shape,) = shapes
        gone = {axis + len(shape) for axis in self.axes}
        if self.keepdims:
            return tuple(1 if axis in gone else size for axis, size in enumerate(shape))
        return tuple(size for axis, size in enumerate(shape) if axis not in gone)

    def apply(self, arrays: Sequence[np.ndarray], lead: int) -> np.ndarray:
        (array,) = arrays
        function = np.sum if self.what == "sum" else np.mean
        result: np.ndarray = function(array, axis=self.axes, keepdims=self.keepdims)
        return result


@dataclass(frozen=True, slots=True)
class Cumulate(Operation):
    """Running sum along one axis, counted from the right."""

    name: ClassVar[str] = "cumsum"
    axis: int

    def shape(self, shapes: Sequence[Shape]) -> Shape:
        return shapes[0]

    def apply(self, arrays: Sequence[np.ndarray], lead: int) -> np.ndarray:
        result: np.ndarray = np.cumsum(arrays[0], axis=self.axis)
        return result


@dataclass(frozen=True, slots=True)
class Reshape(Operation):
    """The same values in another shape, row-major."""

    name: ClassVar[str] = "reshape"
    to: Shape

    def shape(self, shapes: Sequence[Shape]) -> Shape:
        return self.to

    def apply(self, arrays: Sequence[np.ndarray], lead: int) -> np.ndarray:
        (array,) = arrays
        return array.reshape(array.shape[:lead] + self.to)


@dataclass(frozen=True, slots=True)
class Round(Operation):
    """Rounding to decimals."""

    name: ClassVar[str] = "round"
    elementwise: ClassVar[bool] = True
    decimals: int

    def shape(self, shapes: Sequence[Shape]) -> Shape:
        return shapes[0]

    def apply(self, arrays: Sequence[np.ndarray], lead: int) -> np.ndarray:
        result: np.ndarray = np.round(arrays[0], self.decimals)
        return result


@dataclass(frozen=True, slots=True)
class Where(Operation):
    """One of two by a fixed condition (row-major bytes of a boolean array)."""

    name: ClassVar[str] = "where"
    elementwise: ClassVar[bool] = True
    condition: bytes
    of: Shape

    def shape(self, shapes: Sequence[Shape]) -> Shape:
        return np.broadcast_shapes(self.of, *shapes)

    def apply(self, arrays: Sequence[np.ndarray], lead: int) -> np.ndarray:
        condition = np.frombuffer(self.condition, dtype=bool).reshape(self.of)
        result: np.ndarray = np.where(condition, *arrays)
        return result


@dataclass(frozen=True, slots=True)
class Dot(Operation):
    """Inner or matrix product of vectors and matrices."""

    name: ClassVar[str] = "dot"

    def shape(self, shapes: Sequence[Shape]) -> Shape:
        left, right = shapes
        if not 1 <= len(left) <= 2 or not 1 <= len(right) <= 2:
            raise ValueError("dot takes vectors and matrices.")
        if left[-1] != right[0]:
            raise ValueError(f"shapes {left} and {right} are not aligned.")
        return left[:-1] + right[1:]

    def apply(self, arrays: Sequence[np.ndarray], lead: int) -> np.ndarray:
        left, right = arrays
        flat_left, flat_right = left.ndim == lead + 1, right.ndim == lead + 1
        product: np.ndarray = np.matmul(
            left[..., None, :] if flat_left else left, right[..., None] if flat_right else right
        )
        if flat_right:
            product = product[..., 0]
        if flat_left:
            product = product[..., 0, :] if not flat_right else product[..., 0]
        return product


@dataclass(frozen=True, slots=True)
class Join(Operation):
    """Concatenate along an axis, or stack along a new one, counted from the right."""

    name: ClassVar[str] = "join"
    axis: int
    new: bool

    def shape(self, shapes: Sequence[Shape]) -> Shape:
        models = [np.empty(shape, dtype=np.int8) for shape in shapes]
        joined = np.stack(models, self.axis) if self.new else np.concatenate(models, self.axis)
        return joined.shape

    def apply(self, arrays: Sequence[np.ndarray], lead: int) -> np.ndarray:
        return np.stack(arrays, self.axis) if self.new else np.concatenate(arrays, self.axis)
