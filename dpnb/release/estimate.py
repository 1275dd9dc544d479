"""The object that an analyst holds, before and after the release: an immutable expression over measurements.

An :class:`Estimate` is a leaf (one measurement) or a node (an operation on estimates and constants). Arithmetic on
estimates is free and carries its uncertainty. While a leaf is pending, whatever needs a value raises an error that
says what to type; when its measurement is filled, every alias sees the value. It refuses numpy functions that would
drop the uncertainty silently. What may never change: hash and identity, before and after.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, NoReturn

import numpy as np

from dpnb.errors import OptionError, PlanError, Unavailable
from dpnb.privacy.loss import PrivacyLoss
from dpnb.privacy.measure import Measure
from dpnb.release import draws, hooks, needs, wording
from dpnb.release.batch import OPEN_BATCH, open_batch
from dpnb.release.evaluate import evaluate, is_node, leaves, nodes
from dpnb.release.operations import (
    VERDICTS,
    Cumulate,
    Dot,
    Join,
    Operation,
    Reduce,
    Reshape,
    Round,
    Take,
    Where,
)
from dpnb.release.record import KINDS, Axis, Interval, Kind, Measurement, Origin, Release, plain_number
from dpnb.release.table import Table, table_of

_Constant = float | int | np.ndarray


class Estimate:
    """A released number, or one that will be: use it in ordinary Python.

    Leaves are made by :func:`ask`; every other estimate comes from arithmetic. A constructor call by hand is never
    needed.

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

    op: Any
    args: tuple[Any, ...]
    _shape: tuple[int, ...] | None
    _axes: tuple[Any, ...]
    _value: Any
    _memo: dict[Any, Any] | None
    _display: Any

    def __init__(
        self, op: Any, args: tuple[Any, ...], shape: tuple[int, ...] | None, axes: tuple[Any, ...] = ()
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
    def leaf(cls, measurement: Measurement) -> Estimate:
        """The estimate of one measurement."""
        return cls(None, (measurement,), measurement.shape, measurement.axes)

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "_display":
            raise AttributeError("An estimate does not change. Bind a new name to a new expression.")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError("An estimate does not change.")

    # ---------------------------------------------------------------- what it is

    @property
    def measurement(self) -> Measurement | None:
        """The measurement of a leaf; None for a derived estimate."""
        return self.args[0] if self.op is None else None

    def leaves(self) -> tuple[Measurement, ...]:
        """The distinct measurements under this estimate."""
        return tuple(leaves([self]))

    @property
    def text(self) -> str:
        """The question or expression as it was typed, for example ``hiv.got.mean()``."""
        return wording.text(self)

    @property
    def resolved(self) -> bool:
        """Whether the value is known *and* was read already (then it needs no search)."""
        return self._value is not None

    @property
    def pending(self) -> bool:
        """Whether some question under this estimate has no answer yet."""
        return self._value is None and self._first_pending() is not None

    def _first_pending(self) -> Measurement | None:
        for node in nodes([self], _resolved):
            if node.op is None and not node.args[0].released:
                measurement: Measurement = node.args[0]
                return measurement
        return None

    def _need(self, by: str) -> None:
        """Raise error 1 or 2 if the value is not here; `by` says what needs it."""
        if self._value is None:
            missing = self._first_pending()
            if missing is not None:
                raise needs.value_needed(missing, needs.asked_by(by) if missing.answerable else by)

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
    def axes(self) -> tuple[Any, ...]:
        """The axes with their public keys; empty if arithmetic lost them."""
        if self._shape is None and self.op is None:
            return self.leaves()[0].axes
        return self._axes

    @property
    def keys(self) -> tuple[Any, ...]:
        """The public keys: of the one axis, or one tuple for each axis."""
        if len(self.axes) == 1:
            return tuple(self.axes[0].keys)
        return tuple(tuple(axis.keys) for axis in self.axes)

    # ---------------------------------------------------------------- what it is worth

    @property
    def value(self) -> Any:
        """The point value: a float, or a read-only array for a vector.

        Raises
        ------
        PendingError
            Before the release.
        """
        if self._value is None:
            self._need("`.value`")
            found = evaluate(self, _leaf_value, stop=_resolved)
            object.__setattr__(self, "_value", draws.plain(found))
        return self._value

    def interval(self, level: Any = 0.95, kind: Kind = "confidence") -> Interval:
        """The interval of a level and kind; each component of a vector alone.

        Parameters
        ----------
        level : float
            Coverage, between 0 and 1.
        kind : {"confidence", "privacy"}
            *confidence*: what sampling and noise hide about the population. *privacy*: what the noise hides about
            this dataset.

        Returns
        -------
        Interval
            Unpacks as ``low, high``.

        Raises
        ------
        PendingError
            Before the release.
        Unavailable
            If the releases cannot support it; the message is the reason.
        """
        if kind not in KINDS:
            raise OptionError(f'No interval of kind {kind!r}. Use kind="confidence" or kind="privacy".')
        if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
            raise OptionError(f"A level lies between 0 and 1, such as 0.95; not {level!r}.")
        self._need("`.interval()`")
        return self._remember((float(level), kind), lambda: self._interval(float(level), kind))  # type: ignore[no-any-return]

    def _interval(self, level: float, kind: Kind) -> Interval:
        if self.op is None:
            return self._outcome().interval(level, kind)  # type: ignore[no-any-return]
        return draws.interval(self, level, kind)

    def _remember(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Compute once."""
        memo = self._memo
        if memo is None:
            memo = {}
            object.__setattr__(self, "_memo", memo)
        if key not in memo:
            memo[key] = compute()
        return memo[key]

    def _outcome(self) -> Any:
        return self.args[0].outcome

    @property
    def standard_error(self) -> Any:
        """Standard error about the population: sampling and noise together."""
        self._need("`.standard_error`")
        if self.op is None:
            return self._outcome().standard_error
        return self._remember("standard error", lambda: draws.standard_error(self))

    @property
    def n(self) -> Any:
        """Rows that the estimate speaks of: public, or released with noise."""
        return self._of_leaf("n")

    @property
    def n_eff(self) -> Any:
        """As accurate as this many rows would be without noise."""
        return self._of_leaf("n_eff")

    def _of_leaf(self, name: str) -> Any:
        """A figure of a leaf, or of places of a leaf."""
        self._need(f"`.{name}`")
        if self.op is None:
            return getattr(self._outcome(), name)
        if isinstance(self.op, Take):
            whole = self.args[0]._of_leaf(name)  # noqa: SLF001 -- another of its kind
            figure = np.asarray(whole)
            return draws.plain(self.op.apply([figure], 0)) if figure.ndim else whole
        raise Unavailable(
            f"A derived estimate has no `.{name}` of its own. Ask `{self.leaves()[0].text}` for it."
        )

    @property
    def flags(self) -> tuple[str, ...]:
        """Warnings, computed from released numbers alone."""
        self._need("`.flags`")
        found = dict.fromkeys(
            flag for m in self.leaves() if m.outcome is not None for flag in m.outcome.flags
        )
        if self.op is not None and not np.isfinite(self.value).all():
            found["undefined"] = None
        return tuple(found)

    @property
    def releases(self) -> tuple[Release, ...]:
        """The distinct releases under this estimate."""
        self._need("`.releases`")
        found = {release.id: release for m in self.leaves() for release in m.releases}
        return tuple(found.values())

    @property
    def release(self) -> Release:
        """The record of the release: integers, laws, loss, provenance (the newest, if it was measured again)."""
        self._need("`.release`")
        found = self.releases
        if len(self.leaves()) == 1 and found:
            return found[-1]
        if not found:
            raise Unavailable(f"`{self.text}` is public: it was answered from the schema, without a release.")
        raise Unavailable(f"This estimate is built on {len(found)} releases. Use .releases.")

    @property
    def loss(self) -> PrivacyLoss:
        """What the distinct releases under this estimate cost together."""
        self._need("`.loss`")
        total: PrivacyLoss | None = None
        for release in self.releases:
            total = release.loss if total is None else total + release.loss
        return self._nothing() if total is None else total

    def _nothing(self) -> PrivacyLoss:
        schema = getattr(self.leaves()[0].checked, "schema", None)
        measure = getattr(getattr(schema, "budget", None), "measure", Measure.PURE)
        return PrivacyLoss.zero(measure)

    # ---------------------------------------------------------------- what to do with it

    def weight(self, weight: Any) -> Estimate:
        """Set this question's weight in its cell's split; returns the same estimate."""
        self._base("weight").share(weight=weight)
        return self

    def spend(self, epsilon: Any = None, *, rho: Any = None) -> Estimate:
        """Set exactly what this question spends of its cell's loss; returns the same estimate."""
        if (epsilon is None) == (rho is None):
            raise OptionError("Give one of epsilon= and rho=, for example .spend(epsilon=0.3).")
        amount, name = (epsilon, "epsilon") if rho is None else (rho, "rho")
        self._base("spend").share(spend=amount, spend_as=name)
        return self

    def remeasure(self, epsilon: Any = None, *, rho: Any = None, within: Any = None) -> Estimate:
        """Pay more for the same question, and combine: a new estimate with a narrower interval.

        Parameters
        ----------
        epsilon, rho, within : number or str
            What to pay now, or the half-width of the privacy interval to reach; exactly one of them.
        """
        asked = {
            name: x for name, x in (("epsilon", epsilon), ("rho", rho), ("within", within)) if x is not None
        }
        if len(asked) != 1:
            raise OptionError("Give one of epsilon=, rho= and within=, for example .remeasure(epsilon=0.5).")
        self._need("`.remeasure()`")
        self._base("remeasure")
        hook = getattr(sys.modules[__name__.rpartition(".")[0]], "REMEASURE", None) or hooks.REMEASURE
        if hook is None:
            raise PlanError("Measuring again needs an open dataset: import dpnb and dpnb.open(...) it first.")
        return hook(self, **asked)  # type: ignore[no-any-return]

    def _base(self, name: str) -> Measurement:
        if self.op is not None:
            raise PlanError(
                f".{name}() belongs to a question. This is derived from it: use `{self.leaves()[0].text}`.{name}(...)."
            )
        measurement: Measurement = self.args[0]
        return measurement

    def table(self, level: float = 0.95) -> Table:
        """Plain columns: keys, values and both intervals; ``.to_pandas()`` gives a DataFrame."""
        self._need("`.table()`")
        return table_of(self, level)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything as plain JSON values; what is infinite or undefined becomes None."""
        self._need("`.to_dict()`")
        intervals: dict[str, Any] = {}
        for kind in KINDS:
            try:
                intervals[kind] = self.interval(level, kind).to_json()
            except Unavailable as reason:
                intervals[kind] = {"unavailable": str(reason)}
        return {
            "question": self.text,
            "value": plain_number(self.value),
            "keys": [[_plain_key(key) for key in axis.keys] for axis in self.axes],
            "intervals": intervals,
            "flags": list(self.flags),
            "loss": self.loss.to_json(),
            "releases": [release.to_json() for release in self.releases],
        }

    def plot(self, order: str | None = None) -> Any:
        """A matplotlib figure; ``order="size"`` or ``"effect"`` sorts by released values."""
        self._need("`.plot()`")
        from dpnb.cards.plot import estimate_figure

        return estimate_figure(self, order=order)

    def explain(self) -> Any:
        """How this number came about: mechanism, scale, loss, both intervals."""
        from dpnb.cards.explain import explain

        return explain(self)

    # ---------------------------------------------------------------- text

    def __repr__(self) -> str:
        try:
            return self._described()
        except Exception:  # noqa: BLE001 -- debuggers and tracebacks call repr: it never raises
            return "<estimate>"

    def _described(self) -> str:
        if self.pending:
            return f"<pending {self.text}>"
        shown = f"{self.text}: {wording.value(self.value)}"
        if self.op is None and self.shape == ():
            shown += f", 95% privacy interval {self.interval(0.95, 'privacy')}"
        return f"<{shown}>"

    def __str__(self) -> str:
        try:
            return f"<pending {self.text}>" if self.pending else wording.value(self.value)
        except Exception:  # noqa: BLE001 -- as repr
            return "<estimate>"

    def __format__(self, spec: str) -> str:
        self._need("A format string")
        if not spec:
            return str(self)
        return format(self._one("A format string"), spec)

    def _ipython_display_(self) -> None:
        if hooks.SHOW_PENDING is None or not self.pending:
            raise NotImplementedError
        hooks.SHOW_PENDING(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        if hooks.BUNDLE is None:
            return {"text/plain": repr(self)}
        return hooks.BUNDLE(self)

    # ---------------------------------------------------------------- one value

    def _one(self, by: str) -> float:
        if self.shape != ():
            raise needs.many_values(self)
        self._need(by)
        return self.value  # type: ignore[no-any-return]

    def __float__(self) -> float:
        return self._one("`float`")

    def __int__(self) -> int:
        return int(self._one("`int`"))

    def __complex__(self) -> complex:
        return complex(self._one("`complex`"))

    def __bool__(self) -> bool:
        return bool(self._one("`if`"))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        self._need("`np.asarray`")
        result = np.array(self.value, dtype=dtype)
        if copy is False and dtype is not None and np.dtype(dtype) != np.float64:
            raise ValueError("the values of an estimate are float64: another dtype needs a copy")
        return result

    def to_numpy(self) -> np.ndarray:
        """The point values as an array."""
        return self.__array__()

    # ---------------------------------------------------------------- equality, order, identity

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Any:
        return True if other is self else self._compare(other, operator.eq, "`==`")

    def __ne__(self, other: object) -> Any:
        return False if other is self else self._compare(other, operator.ne, "`!=`")

    def __lt__(self, other: object) -> Any:
        return self._compare(other, operator.lt, "`<`")

    def __le__(self, other: object) -> Any:
        return self._compare(other, operator.le, "`<=`")

    def __gt__(self, other: object) -> Any:
        return self._compare(other, operator.gt, "`>`")

    def __ge__(self, other: object) -> Any:
        return self._compare(other, operator.ge, "`>=`")

    def _compare(self, other: object, verdict: Callable[[Any, Any], Any], by: str) -> Any:
        """Compare point values; a plain bool for scalars."""
        operand = _operand(other)
        if operand is NotImplemented:
            return NotImplemented
        self._need(by)
        if isinstance(operand, Estimate):
            operand._need(by)  # noqa: SLF001 -- another of its kind
            operand = operand.value
        found = verdict(self.value, operand)
        return bool(found) if np.ndim(found) == 0 else found

    def __copy__(self) -> Estimate:
        return self

    def __deepcopy__(self, memo: Any) -> Estimate:
        return self

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        if self.pending:
            raise needs.unpicklable()
        return _rebuild, (_flat(self),)

    # ---------------------------------------------------------------- places

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("This estimate is a single number: it has no len().")
        return self.shape[0]

    def __iter__(self) -> Iterator[Estimate]:
        if not self.shape:
            raise TypeError("This estimate is a single number: it cannot be iterated.")
        return (self._take((place,)) for place in range(self.shape[0]))

    def __contains__(self, item: object) -> bool:
        if isinstance(item, str):
            return any(item in axis.keys for axis in self.axes[:1])
        return any(item is mine or item == mine for mine in self)

    def __getitem__(self, index: Any) -> Estimate:
        """Values by key (``eff["Goa"]``, ``by_any[1]``) or, where keys are not whole numbers, by place (``h[0]``)."""
        shape = self.shape
        if not shape:
            raise TypeError("This estimate is a single number: it cannot be indexed.")
        return self._take(_index(index, shape, self.axes))

    def _take(self, places: Sequence[Any]) -> Estimate:
        whole = (*places, *(slice(None),) * (self.ndim - len(places)))
        axes = tuple(_axis(axis, place) for axis, place in zip(self.axes, whole, strict=False))
        return _node(Take(whole), (self,), tuple(axis for axis in axes if axis is not None))

    # ---------------------------------------------------------------- arithmetic

    def __add__(self, other: Any) -> Any:
        return _ufunc(np.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return _ufunc(np.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return _ufunc(np.subtract, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _ufunc(np.subtract, other, self)

    def __mul__(self, other: Any) -> Any:
        return _ufunc(np.multiply, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _ufunc(np.multiply, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _ufunc(np.true_divide, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _ufunc(np.true_divide, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _ufunc(np.floor_divide, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _ufunc(np.floor_divide, other, self)

    def __mod__(self, other: Any) -> Any:
        return _ufunc(np.remainder, self, other)

    def __rmod__(self, other: Any) -> Any:
        return _ufunc(np.remainder, other, self)

    def __divmod__(self, other: Any) -> Any:
        if _operand(other) is NotImplemented:
            return NotImplemented
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        if _operand(other) is NotImplemented:
            return NotImplemented
        return other // self, other % self

    def __pow__(self, other: Any) -> Any:
        return _ufunc(np.power, self, other)

    def __rpow__(self, other: Any) -> Any:
        return _ufunc(np.power, other, self)

    def __matmul__(self, other: Any) -> Any:
        return _dot(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _dot(other, self)

    def __neg__(self) -> Estimate:
        return _node(np.negative, (self,), self._axes)

    def __pos__(self) -> Estimate:
        return self

    def __abs__(self) -> Estimate:
        return _node(np.absolute, (self,), self._axes)

    def __round__(self, decimals: int | None = None) -> Estimate:
        return self.round(decimals or 0)

    # ---------------------------------------------------------------- numpy

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if ufunc is np.matmul and method == "__call__" and not kwargs:
            return _dot(*inputs)
        if method != "__call__" or ufunc.nout != 1 or ufunc.signature is not None or kwargs:
            raise needs.carries_no_interval(ufunc, CARRIED)
        if ufunc in VERDICTS:
            return ufunc(*(_known(arg, f"`np.{ufunc.__name__}`") for arg in inputs))
        return _ufunc(ufunc, *inputs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in _FUNCTIONS:
            return _FUNCTIONS[func](*args, **kwargs)
        if func in _ON_VALUES:
            name = f"`np.{func.__name__}`"
            return func(*_all_known(args, name), **{k: _all_known(v, name) for k, v in kwargs.items()})
        raise needs.carries_no_interval(func, CARRIED)

    def sum(self, axis: Any = None, *, keepdims: bool = False) -> Estimate:
        """Sum over all axes, or some."""
        return self._reduce("sum", axis, keepdims=keepdims)

    def mean(self, axis: Any = None, *, keepdims: bool = False) -> Estimate:
        """Mean over all axes, or some."""
        return self._reduce("mean", axis, keepdims=keepdims)

    def _reduce(self, what: str, axis: Any, *, keepdims: bool) -> Estimate:
        gone = range(self.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        counted = tuple(sorted(_from_right(number, self.ndim) for number in gone))
        kept = tuple(x for number, x in enumerate(self.axes) if number - self.ndim not in counted)
        return _node(Reduce(what, counted, keepdims), (self,), () if keepdims else kept)

    def cumsum(self, axis: int | None = None) -> Estimate:
        """Running sum along an axis; of all values, row-major, if none is given."""
        if axis is None and self.ndim != 1:
            return _node(Reshape((self.size,)), (self,), ()).cumsum(0)
        return _node(Cumulate(_from_right(axis or 0, self.ndim)), (self,), self.axes)

    def clip(self, low: Any = None, high: Any = None) -> Any:
        """Values held between two bounds."""
        held = self if low is None else _ufunc(np.maximum, self, low)
        return held if high is None else _ufunc(np.minimum, held, high)

    def round(self, decimals: int = 0) -> Estimate:
        """Values rounded to decimals."""
        return _node(Round(operator.index(decimals)), (self,), self.axes)

    def dot(self, other: Any) -> Any:
        """Inner or matrix product."""
        return _dot(self, other)


# ---------------------------------------------------------------- making leaves and nodes


def ask(question: Any, checked: Any, *, dataset: Any = None, origin: Origin | None = None) -> Estimate:
    """The pending estimate of a question. Equal questions of one open batch are one measurement.

    Parameters
    ----------
    question : object
        The plan; hashable, equal for equal questions.
    checked : object
        The checked plan (``text``, ``shape``, ``axes``, ``statistic``).
    dataset : object
        The handle that asks.
    origin : Origin, optional
        Where it was written; the calling line outside dpnb by default.

    Returns
    -------
    Estimate
        A pending leaf.
    """
    where = Origin.here() if origin is None else origin

    def make() -> Measurement:
        return Measurement(question, checked, dataset=dataset, origin=where)

    batch = open_batch()
    if batch is None:
        return Estimate.leaf(make())
    canonical = question.canonical() if hasattr(question, "canonical") else question
    return Estimate.leaf(batch.ask((id(dataset), canonical), make))


def _node(op: Any, args: tuple[Any, ...], axes: tuple[Any, ...]) -> Estimate:
    """A derived estimate; numpy's shape rules, numpy's errors."""
    shapes = [arg.shape if is_node(arg) else np.shape(arg) for arg in args]
    shape = op.shape(shapes) if isinstance(op, Operation) else np.broadcast_shapes(*shapes)
    return Estimate(op, args, shape, axes if len(axes) == len(shape) else ())


def _ufunc(op: Any, *inputs: Any) -> Any:
    """An elementwise node; NotImplemented for an operand of an unknown kind."""
    args = tuple(_operand(item) for item in inputs)
    if any(arg is NotImplemented for arg in args):
        return NotImplemented
    shape = np.broadcast_shapes(*(arg.shape if is_node(arg) else np.shape(arg) for arg in args))
    return Estimate(op, args, shape, _common_axes(args, shape) if shape else ())


def _common_axes(args: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """The axes of the first estimate that has this shape and axes."""
    for arg in args:
        if is_node(arg) and arg.shape == shape and arg.axes:
            return arg.axes  # type: ignore[no-any-return]
    return ()


def _operand(item: Any) -> Any:
    """An estimate, a float, or a read-only float array; NotImplemented for anything else."""
    if isinstance(item, Estimate):
        return item
    if isinstance(item, Decimal | Fraction | Real):
        return float(item)
    if isinstance(item, np.ndarray | list | tuple):
        if isinstance(item, list | tuple) and any(isinstance(part, Estimate) for part in item):
            return _join(item, new=True)
        array = np.asarray(item)
        if array.dtype.kind not in "biuf":
            return NotImplemented
        constant = np.array(array, dtype=float)
        constant.flags.writeable = False
        return constant if constant.ndim else float(constant)
    return NotImplemented


def _operands(items: Sequence[Any], function: Any) -> tuple[Any, ...]:
    found = tuple(_operand(item) for item in items)
    if any(item is NotImplemented for item in found):
        raise needs.carries_no_interval(function, CARRIED)
    return found


def _resolved(node: Estimate) -> bool:
    return node.resolved


def _leaf_value(node: Estimate) -> np.ndarray:
    """The array of a leaf, or of a node that was read already."""
    value = node._value if node._value is not None else node.args[0].outcome.value  # noqa: SLF001 -- its own kind
    return np.asarray(value, dtype=float)


def _known(arg: Any, by: str) -> Any:
    """The values of an estimate, where no interval can be carried; anything else as it is."""
    if isinstance(arg, Estimate):
        arg._need(by)  # noqa: SLF001 -- its own kind
        return arg.value
    return arg


def _all_known(arg: Any, by: str) -> Any:
    if isinstance(arg, list | tuple):
        return type(arg)([_all_known(part, by) for part in arg])
    return _known(arg, by)


# ---------------------------------------------------------------- indexing


def _index(index: Any, shape: tuple[int, ...], axes: tuple[Any, ...]) -> tuple[Any, ...]:
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
    if isinstance(part, Estimate):
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
            raise KeyError(f"{part!r} is not a key of {axis.name}; its keys are {_shortly(axis.keys)}.")
    place = operator.index(part)
    if not -size <= place < size:
        raise IndexError(f"place {place} is outside: this axis has {size} places.")
    return place % size


def _fits(mask: np.ndarray, size: int) -> np.ndarray:
    if mask.shape != (size,):
        raise IndexError(f"a condition of {mask.shape} does not fit an axis of {size} places.")
    return mask


def _shortly(keys: Sequence[Any]) -> str:
    return ", ".join(map(repr, keys[:8])) + (", …" if len(keys) > 8 else "")


def _hashable(item: Any) -> bool:
    try:
        hash(item)
    except TypeError:
        return False
    return True


def _axis(axis: Any, place: Any) -> Axis | None:
    """What is left of an axis."""
    if isinstance(place, int):
        return None
    if place == slice(None):
        return axis  # type: ignore[no-any-return]
    keys = axis.keys[place] if isinstance(place, slice) else tuple(axis.keys[number] for number in place)
    return Axis(axis.name, axis.label, tuple(keys))


def _from_right(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of bounds for an estimate of {ndim} axes.")
    return axis - ndim if axis >= 0 else axis


# ---------------------------------------------------------------- numpy functions that carry intervals


def _dot(left: Any, right: Any) -> Any:
    args = tuple(_operand(item) for item in (left, right))
    if any(arg is NotImplemented for arg in args):
        return NotImplemented
    if any(np.ndim(arg) == 0 if not is_node(arg) else arg.ndim == 0 for arg in args):
        return _ufunc(np.multiply, *args)
    return _node(Dot(), args, ())


def _join(items: Any, axis: int = 0, *, new: bool) -> Estimate:
    args = _operands(list(items), np.stack if new else np.concatenate)
    ndim = max(arg.ndim if is_node(arg) else np.ndim(arg) for arg in args) + new
    return _node(Join(_from_right(axis, ndim), new), args, ())


def _where(condition: Any, *options: Any) -> Any:
    decided = np.asarray(_known(condition, "`np.where`"), dtype=bool)
    if not options:
        return np.nonzero(decided)
    args = _operands(options, np.where)
    return _node(Where(decided.tobytes(), decided.shape), args, _common_axes(args, decided.shape))


def _clip(array: Any, a_min: Any = None, a_max: Any = None, **kwargs: Any) -> Any:
    low, high = kwargs.pop("min", a_min), kwargs.pop("max", a_max)
    if kwargs:
        raise needs.carries_no_interval(np.clip, CARRIED)
    held = _operand(array)
    held = held if low is None else _ufunc(np.maximum, held, low)
    return held if high is None else _ufunc(np.minimum, held, high)


def _method(name: str) -> Callable[..., Any]:
    def call(array: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(array, Estimate):
            raise needs.carries_no_interval(getattr(np, name), CARRIED)
        return getattr(array, name)(*args, **kwargs)

    return call


def _size(array: Any, axis: int | None = None) -> int:
    return array.size if axis is None else array.shape[axis]  # type: ignore[no-any-return]


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

_FUNCTIONS: dict[Any, Callable[..., Any]] = {
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


# ---------------------------------------------------------------- pickling: by record, without recursion


def _flat(estimate: Estimate) -> list[tuple[Any, ...]]:
    """The graph as a list, arguments before the nodes that use them, the root last."""
    order: list[Estimate] = []
    numbers: dict[int, int] = {}
    stack: list[tuple[Estimate, bool]] = [(estimate, False)]
    while stack:
        node, ready = stack.pop()
        if id(node) in numbers:
            continue
        if ready or node.op is None:
            numbers[id(node)] = len(order)
            order.append(node)
            continue
        stack.append((node, True))
        stack.extend((arg, False) for arg in reversed(node.args) if is_node(arg))
    return [
        (node.op, node.args, None, node._shape, node._axes)  # noqa: SLF001 -- its own kind
        if node.op is None
        else (
            node.op,
            tuple(None if is_node(arg) else arg for arg in node.args),
            tuple(numbers[id(arg)] if is_node(arg) else None for arg in node.args),
            node._shape,  # noqa: SLF001 -- its own kind
            node._axes,  # noqa: SLF001 -- its own kind
        )
        for node in order
    ]


def _rebuild(records: list[tuple[Any, ...]]) -> Estimate:
    """The graph of :func:`_flat`."""
    built: list[Estimate] = []
    for op, constants, places, shape, axes in records:
        args = constants
        if places is not None:
            args = tuple(
                constant if place is None else built[place]
                for constant, place in zip(constants, places, strict=True)
            )
        built.append(Estimate(op, args, shape, axes))
    return built[-1]


def to_json(thing: Any) -> Any:
    """``default=`` for :func:`json.dumps`: estimates, releases, intervals, losses, exact numbers, numpy numbers."""
    if isinstance(thing, Estimate):
        return thing.to_dict()
    if isinstance(thing, Table):
        return thing.to_dict()
    if isinstance(thing, np.generic):
        return plain_number(thing) if isinstance(thing, np.floating) else thing.item()
    if isinstance(thing, np.ndarray):
        return plain_number(thing) if thing.dtype.kind == "f" else thing.tolist()
    if isinstance(thing, Fraction):
        return str(thing)
    if hasattr(thing, "to_json"):
        return thing.to_json()
    return _refuse(thing)


def _refuse(thing: Any) -> NoReturn:
    raise TypeError(f"Object of type {type(thing).__name__} is not JSON serializable")


def _plain_key(key: Any) -> Any:
    return key if isinstance(key, str | int | float | bool | None) else str(key)
