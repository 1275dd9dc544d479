"""Readings: other things that one release says, free, each with an outcome of its own.

Some releases answer more than one question: a noisy tree has a median and a cumulative distribution, a matrix of moments every
regression on its columns. The statistic lists such *readings*; each is a method of the estimate, before and after the release.
A reading is a leaf over the releases of its root: it asks nothing, costs nothing and never changes what the root paid.
It refuses bad arguments on the line that writes it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from dpnb.estimate.pending_question import PendingQuestion
from dpnb.statistics._base import Axis
from dpnb.statistics.result import Read, ReadingFunction, Result
from dpnb.trusted.releases import Release

K = TypeVar("K")


class Reading:
    """What a reading looks into: a view of a measurement with another text, shape and outcome.

    Parameters
    ----------
    root : PendingQuestion
        The question that is asked, and paid.
    name : str
        Which reading.
    args, kwargs : tuple, dict
        Its arguments.
    """

    __slots__ = ("__weakref__", "_outcome", "args", "kwargs", "name", "read", "root")

    def __init__(
        self, root: PendingQuestion, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.root = root
        self.name, self.args, self.kwargs = name, args, kwargs
        function = readings_of(root)[name]
        assert function is not None
        self.read = function(root.checked.setting, *args, **kwargs)
        self._outcome: Result | None = None

    @property
    def text(self) -> str:
        """The question and what is read from it."""
        return self.root.text + self.read.text

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of the answer; nothing before the release where it is released."""
        if self.read.shape is None and self.outcome is not None:
            return self.outcome.shape
        return self.read.shape

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the answer."""
        if self.read.shape is None and self.outcome is not None:
            return getattr(self.outcome, "axes", ())
        return self.read.axes

    @property
    def releases(self) -> tuple[Release, ...]:
        """The releases of the root."""
        return self.root.releases

    @property
    def released(self) -> bool:
        """Whether the root has its answer."""
        return self.root.released

    @property
    def outcome(self) -> Result | None:
        """What is read from the releases, computed once; None before."""
        if self._outcome is None and self.root.released:
            self._outcome = self.read.conclude(self.root.releases)
        return self._outcome

    def __reduce__(self) -> tuple[Any, ...]:
        return Reading, (self.root, self.name, self.args, self.kwargs)


def readings_of(measurement: PendingQuestion) -> Mapping[str, ReadingFunction]:
    """Return the readings of a question: the names and functions that its statistic lists."""
    found: Mapping[str, ReadingFunction] = getattr(measurement.checked, "readings", None) or {}
    return found


def readable(kind: type[K], measurement: PendingQuestion) -> type[K]:
    """Return the class of the estimates of a question: `kind` with the question's readings as methods."""
    found = readings_of(measurement)
    made: type[K] = _readable(cast("Any", kind), tuple(found.items())) if found else kind
    return made


@functools.cache
def _readable(kind: Any, readings: tuple[tuple[str, ReadingFunction], ...]) -> Any:
    methods = {
        name: kind._OTHER_READINGS[name] if function is None else _method(kind, name, function)  # noqa: SLF001 -- of its own class
        for name, function in readings
    }
    own = {"__slots__": (), "__module__": kind.__module__, "derived": classmethod(lambda _: kind)}
    return type(kind.__name__, (kind,), {**own, **methods})


def _method(kind: Any, name: str, function: Callable[..., Read]) -> Callable[..., Any]:
    def read(self: Any, *args: object, **kwargs: object) -> Any:
        view = Reading(self.args[0], name, args, kwargs)
        return kind(None, (view,), view.read.shape, view.read.axes)

    read.__name__ = name
    read.__qualname__ = f"{kind.__name__}.{name}"
    read.__doc__ = function.__doc__
    mine = inspect.signature(function)
    setting, *rest = mine.parameters.values()
    read.__signature__ = mine.replace(  # type: ignore[attr-defined]
        parameters=[setting.replace(name="self"), *rest], return_annotation=kind
    )
    return read
