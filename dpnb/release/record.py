"""What an analyst keeps of a release: records, intervals, and the one mutable thing, the measurement.

A :class:`Release` is the frozen record that came from the curator: noised integers, their laws, the loss paid.
A :class:`Measurement` is a write-once cell: it is pending, then submitted, then released, and every estimate built
on it sees the value at that moment. The room refuses a second write, and holds nothing that was not released.
What may never change: the fields of :class:`Release` and their JSON, because stored releases outlive versions.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from dpnb.errors import DpnbError, OptionError, PlanError
from dpnb.privacy.loss import PrivacyLoss, positive
from dpnb.release import hooks

Kind = Literal["privacy", "confidence"]
State = Literal["pending", "submitted", "released"]
KINDS: tuple[Kind, ...] = ("privacy", "confidence")

_PACKAGE = str(Path(__file__).resolve().parents[1])
_order = itertools.count()


@dataclass(frozen=True, slots=True)
class ReleasedPart:
    """One noised vector of a release.

    Parameters
    ----------
    name : str
        What the vector is, for example ``"sum"`` or ``"count"``.
    law : mapping
        The law of the noise, as JSON (``{"kind": "discrete-laplace", "scale": "12"}``).
    values : tuple of int
        The noised integers, row-major over the question's cells.
    draw : str
        The id of the draw: equal ids are the same noise.
    """

    name: str
    law: Mapping[str, Any]
    values: tuple[int, ...]
    draw: str

    def __hash__(self) -> int:
        return hash((self.name, self.draw))

    def to_json(self) -> dict[str, Any]:
        """The part as plain JSON."""
        return {"name": self.name, "law": dict(self.law), "values": list(self.values), "draw": self.draw}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> ReleasedPart:
        """Rebuild a part; an unknown or missing field is an error."""
        _exactly(record, ("name", "law", "values", "draw"), "released part")
        values = tuple(int(value) for value in record["values"])
        return cls(str(record["name"]), dict(record["law"]), values, str(record["draw"]))


@dataclass(frozen=True, slots=True)
class Release:
    """The frozen record of one answered question: all that ever crossed the wire about it.

    Parameters
    ----------
    id : str
        Hexadecimal id of the draw. Two releases with equal ids are the same noise.
    question : str
        Canonical text of the question.
    dataset, data_version : str
        What was asked, and which version of the data answered.
    parts : tuple of ReleasedPart
        The noised integers with their laws.
    loss : PrivacyLoss
        What this answer cost when it was drawn.
    share : str
        Exact text of the share of its cell's loss.
    stored : bool
        True if this answer came from the store, at no new cost.
    time : str
        When it was drawn, ISO 8601.
    entry : int
        Row of the ledger that holds the charge.
    """

    id: str
    question: str
    dataset: str
    data_version: str
    parts: tuple[ReleasedPart, ...]
    loss: PrivacyLoss
    share: str = "1"
    stored: bool = False
    time: str = ""
    entry: int = 0

    def __hash__(self) -> int:
        return hash(self.id)

    def part(self, name: str) -> ReleasedPart:
        """The part of that name."""
        for part in self.parts:
            if part.name == name:
                return part
        raise KeyError(name)

    def to_json(self) -> dict[str, Any]:
        """The release as plain JSON, exact."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain["parts"] = [part.to_json() for part in self.parts]
        plain["loss"] = self.loss.to_json()
        return plain

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Release:
        """Rebuild a release; an unknown or missing field is an error."""
        _exactly(record, tuple(field.name for field in fields(cls)), "release")
        return cls(
            id=str(record["id"]),
            question=str(record["question"]),
            dataset=str(record["dataset"]),
            data_version=str(record["data_version"]),
            parts=tuple(ReleasedPart.from_json(part) for part in record["parts"]),
            loss=PrivacyLoss.from_json(record["loss"]),
            share=str(record["share"]),
            stored=bool(record["stored"]),
            time=str(record["time"]),
            entry=int(record["entry"]),
        )


def _exactly(record: Mapping[str, Any], names: tuple[str, ...], what: str) -> None:
    """Refuse a record whose fields are not exactly these."""
    wrong = set(record) ^ set(names)
    if wrong:
        raise PlanError(
            f"not a {what} of this version: unknown or missing {', '.join(sorted(map(str, wrong)))}."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """An interval with its level and kind. Unpacks as ``low, high``.

    Parameters
    ----------
    low, high : float or ndarray
        The ends; arrays of the estimate's shape for a vector. Infinite where the data cannot bound the value.
    level : float
        Stated coverage, for each component alone.
    kind : {"privacy", "confidence"}
        *privacy*: what the noise hides about this dataset. *confidence*: what sampling and noise hide about the
        population.
    note : str
        How it was made, and what a reader must know of it.
    """

    low: Any
    high: Any
    level: float
    kind: Kind
    note: str = ""

    def __iter__(self) -> Iterator[Any]:
        return iter((self.low, self.high))

    def __getitem__(self, place: int) -> Any:
        return (self.low, self.high)[place]

    def __len__(self) -> int:
        return 2

    def __contains__(self, value: object) -> bool:
        """Whether every component of `value` lies inside."""
        return bool(np.all((np.asarray(self.low) <= value) & (np.asarray(value) <= self.high)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Interval):
            return NotImplemented
        same = (self.level, self.kind, self.note) == (other.level, other.kind, other.note)
        ends = ((self.low, other.low), (self.high, other.high))
        return same and all(np.array_equal(mine, theirs, equal_nan=True) for mine, theirs in ends)

    def __hash__(self) -> int:
        return hash((self.level, self.kind, self.note))

    def __str__(self) -> str:
        low, high = np.asarray(self.low), np.asarray(self.high)
        if low.ndim:
            return (
                "[" + ", ".join(f"{a:.4g}..{b:.4g}" for a, b in zip(low.flat, high.flat, strict=True)) + "]"
            )
        return f"[{float(low):.4g}, {float(high):.4g}]"

    @property
    def width(self) -> Any:
        """High minus low."""
        return self.high - self.low

    @property
    def half_width(self) -> Any:
        """Half of the width: the ± of a symmetric interval."""
        return (self.high - self.low) / 2

    def to_json(self) -> dict[str, Any]:
        """The interval as plain JSON; infinite ends are ``null``."""
        return {
            "low": plain_number(self.low),
            "high": plain_number(self.high),
            "level": self.level,
            "kind": self.kind,
            "note": self.note,
        }


def plain_number(value: Any) -> Any:
    """A float or nested lists of floats, with ``None`` where JSON has no number (infinite, undefined)."""
    array = np.asarray(value, dtype=float)
    if array.ndim == 0:
        return float(array) if np.isfinite(array) else None
    return [plain_number(item) for item in array]


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
