"""A question on its way to its answer: the one mutable thing that an analyst holds.

A :class:`Measurement` is a write-once cell: it is pending, then submitted, then released, and every estimate built
on it sees the value at that moment. It refuses a second write.
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from dpnb.errors import DpnbError, OptionError
from dpnb.privacy.loss import positive
from dpnb.release import hooks
from dpnb.release.interval import Interval, Kind
from dpnb.release.record import Release

State = Literal["pending", "submitted", "released"]

_PACKAGE = str(Path(__file__).resolve().parents[1])
_order = itertools.count()


@runtime_checkable
class Outcome(Protocol):
    """What ``statistics`` concludes from the releases of one measurement.

    An outcome of *several* releases (a remeasured question) sets ``draws_by_release = True`` and takes its noise
    from ``rng.of(release.id)`` (see :class:`dpnb.release.pushing.DrawGenerator`), one generator for each release, so
    that it is rightly correlated with estimates that share one of them.
    """

    @property
    def value(self) -> Any:
        """The point estimate: a float, or an array of the question's shape."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""

    @property
    def standard_error(self) -> Any:
        """Its standard error about the population (sampling and noise)."""

    @property
    def n(self) -> Any:
        """The rows it speaks of (public, or released with noise)."""

    @property
    def n_eff(self) -> Any:
        """As accurate as this many of the `n` rows would be without noise."""

    @property
    def flags(self) -> tuple[str, ...]:
        """Warnings computed from released numbers alone."""

    @property
    def domain(self) -> tuple[Any, Any]:
        """Public bounds of the value; ``(None, None)`` or infinite where there are none."""

    def interval(self, level: float, kind: Kind) -> Interval:
        """The exact interval; raises Unavailable with the reason."""

    def draws(self, count: int, rng: np.random.Generator, kind: Kind) -> np.ndarray:
        """Plausible true values, shape ``(count, *shape)``; raises Unavailable with the reason."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a vector: its keys are public.

    Parameters
    ----------
    name, label : str
        The column, and how to say it.
    keys : tuple
        One key for each place.
    """

    name: str
    label: str
    keys: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a question was written."""

    file: str = ""
    line: int = 0
    label: str | None = None

    @classmethod
    def here(cls) -> Origin:
        """The innermost frame outside dpnb."""
        frame = sys._getframe(1)  # noqa: SLF001 -- the documented way to ask who calls
        while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
            frame = frame.f_back
        name = frame.f_code.co_filename
        return cls(name, frame.f_lineno, hooks.CELL_LABELS.get(name))

    def __str__(self) -> str:
        if not self.file:
            return "earlier"
        name = self.label or hooks.CELL_LABELS.get(self.file) or Path(self.file).name
        return f"in {name}, line {self.line}"


class Measurement:
    """A question on its way to its answer: pending, then submitted, then released; written once.

    Parameters
    ----------
    question : object
        The plan (opaque here); equal questions are one measurement.
    checked : object
        The checked plan: has ``text``, ``shape``, ``axes`` and ``statistic``.
    dataset : object
        The handle that asked (opaque here).
    origin : Origin
        Where it was written.
    """

    __slots__ = (
        "__weakref__",
        "batch",
        "checked",
        "dataset",
        "order",
        "origin",
        "outcome",
        "question",
        "releases",
        "request_id",
        "spend",
        "spend_as",
        "state",
        "stopped",
        "weight",
    )

    def __init__(
        self, question: Any, checked: Any, *, dataset: Any = None, origin: Origin | None = None
    ) -> None:
        self.question = question
        self.checked = checked
        self.dataset = dataset
        self.origin = origin if origin is not None else Origin.here()
        self.order = next(_order)
        self.weight: Fraction | None = None
        self.spend: Fraction | None = None
        self.spend_as: str | None = None
        self.state: State = "pending"
        self.request_id: str | None = None
        self.releases: tuple[Release, ...] = ()
        self.outcome: Outcome | None = None
        self.batch: Any = None
        self.stopped = False

    def __repr__(self) -> str:
        return f"<Measurement {self.text}: {self.state}>"

    @property
    def root(self) -> Measurement:
        """The question that is asked and paid: this one (a reading has another)."""
        return self

    @property
    def text(self) -> str:
        """The question as it was typed."""
        return str(getattr(self.checked, "text", None) or "a question")

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The public shape of the answer; None while a shape that is itself private is unknown."""
        shape = getattr(self.checked, "shape", ())
        if shape is None:
            return None if self.outcome is None else tuple(self.outcome.shape)
        return tuple(shape)

    @property
    def axes(self) -> tuple[Any, ...]:
        """The public axes of the answer."""
        axes = getattr(self.checked, "axes", None)
        if axes is None:
            axes = getattr(self.outcome, "axes", None)
        return tuple(axes or ())

    @property
    def released(self) -> bool:
        """Whether the answer is here."""
        return self.outcome is not None

    @property
    def answerable(self) -> bool:
        """Whether the cell that asks is still running, so that the answer comes when it ends."""
        return self.batch is not None and bool(self.batch.is_open)

    def share(self, *, weight: Any = None, spend: Any = None, spend_as: str = "epsilon") -> None:
        """Set how much of its cell's loss this question takes: a weight, or an exact amount.

        Raises
        ------
        OptionError
            If it is set already, differently, or the question is answered already.
        """
        weight_ = None if weight is None else positive(weight, name="weight")
        spend_ = None if spend is None else positive(spend, name=spend_as)
        if self.released:
            raise OptionError(
                f"`{self.text}` is released: its share is spent. Ask more with .remeasure(epsilon=...)."
            )
        new = (weight_, spend_, spend_as if spend_ is not None else None)
        old = (self.weight, self.spend, self.spend_as)
        if old not in {(None, None, None), new}:
            raise OptionError(
                f"`{self.text}` has two different shares: {_said(*old)} and {_said(*new)}. Keep one."
            )
        self.weight, self.spend, self.spend_as = new

    def submit(self, request_id: str) -> None:
        """Note that the plan is on its way, under this request id."""
        self._refuse_second_write()
        self.request_id = request_id
        self.state = "submitted"

    def withdraw(self, *, forget: bool = True) -> None:
        """Note that the plan was refused before any charge: pending again."""
        self._refuse_second_write()
        self.state = "pending"
        if forget:
            self.request_id = None

    def fill(self, releases: tuple[Release, ...], outcome: Outcome) -> None:
        """Write the answer, once: every estimate built on this measurement has a value from here on."""
        self._refuse_second_write()
        self.releases = tuple(releases)
        self.outcome = outcome
        self.state = "released"
        self.batch = None

    def _refuse_second_write(self) -> None:
        if self.released:
            raise DpnbError(f"`{self.text}` has its answer already; an answer is written once.")

    def __reduce__(self) -> tuple[Any, ...]:
        if not self.released:
            from dpnb.release.needs import unpicklable

            raise unpicklable()
        answer = self.outcome if hooks.CONCLUDE is None else hooks.CONCLUDE
        state = (self.question, self.checked, self.origin, self.releases, answer, self.weight, self.spend)
        return (_measurement, state)


def _measurement(
    question: Any,
    checked: Any,
    origin: Origin,
    releases: tuple[Release, ...],
    answer: Any,
    weight: Fraction | None,
    spend: Fraction | None,
) -> Measurement:
    """Rebuild a released measurement from its record; the handle stays where it was."""
    measurement = Measurement(question, checked, origin=origin)
    measurement.weight, measurement.spend = weight, spend
    measurement.fill(releases, answer(checked, releases) if callable(answer) else answer)
    return measurement


def _said(weight: Fraction | None, spend: Fraction | None, spend_as: str | None) -> str:
    return f".weight({weight})" if weight is not None else f".spend({spend_as}={spend})"
