"""A question on its way to its answer: the one mutable thing that an analyst holds.

A :class:`PendingQuestion` is a write-once cell: it is pending, then submitted, then released, and every estimate built
on it sees the value at that moment. It refuses a second write.

A question whose answer is held already may borrow it: it can be read at once, and is still a question that a release asks. Whichever
happens first settles it: what was read does not change afterwards.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, cast

from dpnb.errors import DpnbError, OptionError, PendingError
from dpnb.estimate.host import current_host
from dpnb.planner.check import CheckedQuestion
from dpnb.planner.question import Question
from dpnb.statistics import conclude
from dpnb.statistics._base import Axis
from dpnb.statistics.result import Result
from dpnb.trusted.privacy.loss import PrivacyLoss, positive
from dpnb.trusted.releases import Release

Amount = int | float | str | Fraction | Decimal
"""A loss or a weight as a person writes it."""
State = Literal["pending", "submitted", "released"]

_PACKAGE = str(Path(__file__).resolve().parents[1])
_order = itertools.count()


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
        return cls(name, frame.f_lineno, current_host().labels.get(name))

    def __str__(self) -> str:
        if not self.file:
            return "earlier"
        name = self.label or current_host().labels.get(self.file) or Path(self.file).name
        return f"in {name}, line {self.line}"


class PendingQuestion:
    """A question on its way to its answer: pending, then submitted, then released; written once.

    Parameters
    ----------
    question : Question
        Equal questions are one measurement.
    checked : CheckedQuestion
        The question that the schema allows.
    dataset : object
        The handle that asked (opaque here).
    origin : Origin
        Where it was written.
    """

    __slots__ = (
        "__weakref__",
        "_outcome",
        "_releases",
        "batch",
        "checked",
        "dataset",
        "held",
        "order",
        "origin",
        "own",
        "question",
        "request_id",
        "spend",
        "spend_as",
        "state",
        "stopped",
        "weight",
    )

    def __init__(
        self,
        question: Question,
        checked: CheckedQuestion,
        *,
        dataset: Any = None,
        origin: Origin | None = None,
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
        self._releases: tuple[Release, ...] = ()
        self.own: tuple[Release, ...] = ()
        self._outcome: Result | None = None
        self.held: PendingQuestion | None = None
        self.batch: Any = None
        self.stopped = False

    def __repr__(self) -> str:
        return f"<PendingQuestion {self.text}: {self.state}>"

    @property
    def root(self) -> PendingQuestion:
        """The question that is asked and paid: this one (a reading has another)."""
        return self

    @property
    def text(self) -> str:
        """The question as it was typed."""
        return self.checked.text

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The public shape of the answer; None while a shape that is itself private is unknown."""
        shape = getattr(self.checked, "shape", ())
        if shape is None:
            return None if self.outcome is None else tuple(self.outcome.shape)
        return tuple(shape)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The public axes of the answer."""
        axes = getattr(self.checked, "axes", None)
        if axes is None:
            axes = getattr(self.outcome, "axes", None)
        return tuple(axes or ())

    @property
    def released(self) -> bool:
        """Whether the answer can be read: its own, or one that it borrows."""
        return self.answered or self.held is not None

    @property
    def answered(self) -> bool:
        """Whether it has an answer of its own, so that a release asks nothing."""
        return self._outcome is not None

    @property
    def outcome(self) -> Result | None:
        """What was concluded; None before the release."""
        if self.held is not None:
            self._keep(self.held)
        return self._outcome

    @property
    def releases(self) -> tuple[Release, ...]:
        """The releases that answered it."""
        if self.held is not None:
            self._keep(self.held)
        return self._releases

    def again(self) -> PendingQuestion:
        """Return the same question, pending."""
        return PendingQuestion(self.question, self.checked, dataset=self.dataset)

    def borrow(self, held: PendingQuestion) -> None:
        """Read it from a question that was answered already, until it is asked itself."""
        if not self.released and held.released and self.question == held.question:
            self.held = held.held or held

    def _keep(self, held: PendingQuestion) -> None:
        """Keep a borrowed answer for good: it is about to be read."""
        stored = tuple(replace(release, stored=True) for release in held.releases)
        self.fill(stored, cast("Result", held.outcome))

    @property
    def answerable(self) -> bool:
        """Whether the cell that asks is still running, so that the answer comes when it ends."""
        return self.batch is not None and bool(self.batch.is_open)

    def share(
        self, *, weight: Amount | None = None, spend: Amount | None = None, spend_as: str = "epsilon"
    ) -> None:
        """Set how much of its cell's loss this question takes: a weight, or an exact amount.

        Raises
        ------
        OptionError
            If it is set already, differently, or the question is answered already.
        """
        weight_ = None if weight is None else positive(weight, name="weight")
        spend_ = None if spend is None else positive(spend, name=spend_as)
        if self.answered:
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

    def fill(
        self, releases: tuple[Release, ...], outcome: Result, own: tuple[Release, ...] | None = None
    ) -> None:
        """Write the answer, once: every estimate built on this measurement has a value from here on.

        ``own`` are those of the releases that it was answered with itself, where others of its question were stored beside them.
        """
        self._refuse_second_write()
        self._releases = tuple(releases)
        self.own = self._releases if own is None else own
        self._outcome = outcome
        self.state = "released"
        self.batch = self.held = None

    def _refuse_second_write(self) -> None:
        if self.answered:
            raise DpnbError(f"`{self.text}` has its answer already; an answer is written once.")

    def __reduce__(self) -> tuple[Any, ...]:
        if not self.released:
            raise unpicklable()
        answer = conclude if isinstance(cast("object", self.checked), CheckedQuestion) else self.outcome
        state = (self.question, self.checked, self.origin, self.releases, answer, self.weight, self.spend)
        return (_measurement, state)


def unpicklable() -> PendingError:
    """Error 6: a pending estimate was pickled."""
    return PendingError(
        "A pending estimate cannot be pickled (%store, joblib): it has no value yet. Release it first."
    )


def distinct(releases: Iterable[Release]) -> tuple[Release, ...]:
    """Return some releases, each once."""
    return tuple({release.id: release for release in releases}.values())


def paid_for(releases: Sequence[Release]) -> PrivacyLoss:
    """Return what some releases, at least one, cost together, each once."""
    first, *others = distinct(releases)
    return sum((release.loss for release in others), first.loss)


def _measurement(
    question: Question,
    checked: CheckedQuestion,
    origin: Origin,
    releases: tuple[Release, ...],
    answer: Any,
    weight: Fraction | None,
    spend: Fraction | None,
) -> PendingQuestion:
    """Rebuild a released measurement from its record; the handle stays where it was."""
    measurement = PendingQuestion(question, checked, origin=origin)
    measurement.weight, measurement.spend = weight, spend
    measurement.fill(releases, answer(checked, releases) if callable(answer) else answer)
    return measurement


def _said(weight: Fraction | None, spend: Fraction | None, spend_as: str | None) -> str:
    return f".weight({weight})" if weight is not None else f".spend({spend_as}={spend})"
