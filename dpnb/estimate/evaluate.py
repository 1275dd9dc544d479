"""Walking and computing expressions without recursion, so that a chain of 100,000 sums is an ordinary thing.

The left argument is computed first, uses are counted, and an intermediate is dropped after its last use: the memory
of a long sum is that of a few terms. Draws lie on the first axis. The room refuses nothing and decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from dpnb.estimate.operations import DIVISIONS, Operation
from dpnb.estimate.pending_question import PendingQuestion
from dpnb.inference.elementwise import Number
from dpnb.inference.interval import Interval, Kind
from dpnb.statistics._base import Axis
from dpnb.statistics.result import Result

Op: TypeAlias = np.ufunc | Operation | None
"""What makes a node of its operands; None for a leaf."""
Operand: TypeAlias = Any
"""An estimate, a number or an array of numbers; the measurement of a leaf."""


class Expression(Protocol):
    """What lower files ask of an estimate: a leaf or an operation, its public shape and its value."""

    op: Op
    args: tuple[Operand, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value."""

    @property
    def size(self) -> int:
        """Number of values."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes with their public keys."""

    @property
    def text(self) -> str:
        """The question or expression as it was typed."""

    @property
    def measurement(self) -> PendingQuestion | None:
        """The measurement of a question; None for everything else."""

    @property
    def outcome(self) -> Result | None:
        """The result of a question or a reading."""

    @property
    def resolved(self) -> bool:
        """Whether the value was read already."""

    @property
    def pending(self) -> bool:
        """Whether some question under it has no answer yet."""

    @property
    def keys(self) -> tuple[Any, ...]:
        """The public keys of its axes."""

    @property
    def value(self) -> Number:
        """The point value."""

    def leaves(self) -> tuple[PendingQuestion, ...]:
        """The distinct measurements under it."""


class IntervalEstimate(Expression, Protocol):
    """What tests and tables ask of an estimate besides."""

    @property
    def estimand(self) -> str:
        """What is estimated, in words."""

    def interval(self, level: object = 0.95, kind: Kind | None = None) -> Interval:
        """The interval of a level and kind."""


Leaf = Callable[[Expression], np.ndarray]


def nodes(
    roots: Iterable[Expression], stop: Callable[[Expression], bool] | None = None
) -> Iterator[Expression]:
    """Every distinct node of these expressions, left arguments first, each root before its arguments.

    `stop` says of a node that the walk need not go below it.
    """
    seen: set[int] = set()
    kept = list(roots)  # an id is only good while its object lives
    stack = kept[::-1]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if node.op is not None and not (stop is not None and stop(node)):
            stack.extend(arg for arg in reversed(node.args) if is_node(arg))


def leaves(
    roots: Iterable[Expression], stop: Callable[[Expression], bool] | None = None
) -> list[PendingQuestion]:
    """The distinct measurements under these expressions, in the order in which they are read."""
    found: dict[int, PendingQuestion] = {}
    for node in nodes(roots, stop):
        if node.op is None:
            root = node.args[0].root
            found.setdefault(id(root), root)
    return list(found.values())


class Poles:
    """Watches divisions by something that may be zero: results whose denominator has the rarer sign are blanked."""

    def __init__(self) -> None:
        self.crossed = False

    def divide(self, below: np.ndarray, result: np.ndarray) -> np.ndarray:
        """Blank the results beyond a pole, and remember that there were any."""
        usual = np.where((below > 0).mean(axis=0) >= (below < 0).mean(axis=0), 1.0, -1.0)
        beyond = below * usual <= 0
        if not beyond.any():
            return result
        self.crossed = True
        return np.where(beyond, np.nan, result)


def evaluate(
    root: Expression,
    leaf: Leaf,
    *,
    stop: Callable[[Expression], bool] | None = None,
    lead: int = 0,
    poles: Poles | None = None,
) -> np.ndarray:
    """Compute an expression.

    Parameters
    ----------
    root : Expression
        The expression.
    leaf : callable
        The array of a leaf, or of a node where `stop` says to stop.
    stop : callable, optional
        Of a node: whether `leaf` gives its array, so that nothing below it is needed.
    lead : int
        1 if arrays carry draws on their first axis.
    poles : Poles, optional
        Watches divisions, for draws.

    Returns
    -------
    ndarray
        The value, with `lead` leading axes.
    """
    uses = _uses(root, stop)
    values: dict[int, np.ndarray] = {}
    stack: list[tuple[Expression, bool]] = [(root, False)]
    with np.errstate(all="ignore"):
        while stack:
            node, ready = stack.pop()
            if id(node) in values:
                continue
            if ready:
                values[id(node)] = _apply(node, [_take(arg, values, uses) for arg in node.args], lead, poles)
                continue
            if node.op is None or (stop is not None and stop(node)):
                values[id(node)] = leaf(node)
            else:
                stack.append((node, True))
                stack.extend((arg, False) for arg in reversed(node.args) if is_node(arg))
    return values[id(root)]


def _uses(root: Expression, stop: Callable[[Expression], bool] | None) -> dict[int, int]:
    """How often each node is an argument of what will be computed."""
    uses: dict[int, int] = {}
    for node in nodes([root], stop):
        if node.op is not None and not (stop is not None and stop(node)):
            for arg in node.args:
                if is_node(arg):
                    uses[id(arg)] = uses.get(id(arg), 0) + 1
    return uses


def _take(arg: object, values: dict[int, np.ndarray], uses: dict[int, int]) -> Operand:
    """The array of an argument, dropped from the store at its last use."""
    if not is_node(arg):
        return arg
    uses[id(arg)] -= 1
    return values[id(arg)] if uses[id(arg)] else values.pop(id(arg))


def _apply(node: Expression, arrays: list[Number], lead: int, poles: Poles | None) -> np.ndarray:
    """One operation on arrays."""
    if isinstance(node.op, Operation):
        if lead and (len(arrays) > 1):
            count = max(len(array) for arg, array in zip(node.args, arrays, strict=True) if is_node(arg))
            arrays = [
                _aligned(arg, array, node) if node.op.elementwise else _led(arg, array, count)
                for arg, array in zip(node.args, arrays, strict=True)
            ]
        return node.op.apply(arrays, lead)
    if lead:
        arrays = [_aligned(arg, array, node) for arg, array in zip(node.args, arrays, strict=True)]
    assert node.op is not None
    result: np.ndarray = node.op(*arrays)
    below = _denominator(node)
    if poles is not None and below is not None:
        result = poles.divide(np.asarray(arrays[below]), result)
    return result


def _denominator(node: Expression) -> int | None:
    """Which argument must not be zero; None where there is none, or where it divides itself."""
    if node.op in DIVISIONS and is_node(node.args[1]) and node.args[0] is not node.args[1]:
        return 1
    if node.op is np.reciprocal:
        return 0
    inverse = node.op in {np.power, np.float_power} and not is_node(node.args[1]) and np.any(node.args[1] < 0)
    return 0 if inverse and is_node(node.args[0]) else None


def _aligned(arg: Operand, array: Number, node: Expression) -> Number:
    """Put the axes that broadcasting will add between the draws and the argument's own axes."""
    missing = len(node.shape) - len(arg.shape) if is_node(arg) else 0
    return array.reshape(array.shape[:1] + (1,) * missing + array.shape[1:]) if missing else array


def _led(arg: Operand, array: Number, count: int) -> np.ndarray:
    """Give a constant the axis of draws."""
    return array if is_node(arg) else np.broadcast_to(array, (count, *np.shape(array)))


def is_node(arg: object) -> TypeGuard[Expression]:
    """Whether an argument is an estimate; the others are plain constants."""
    return not isinstance(arg, float | int | np.ndarray)


def plain(array: ArrayLike) -> Number:
    """A float for a scalar, a read-only array otherwise."""
    result = np.asarray(array, dtype=float)
    if result.ndim == 0:
        return float(result)
    return frozen(result)


def frozen(array: np.ndarray) -> np.ndarray:
    """A read-only array of the same numbers."""
    result = array.copy() if array.flags.writeable else array
    result.flags.writeable = False
    return result
