"""A session with an in-memory ledger and a study without rows: what the magics talk to in most of these tests."""

from __future__ import annotations

import hashlib
import itertools
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from dpnb.errors import BudgetError, PlanError
from dpnb.estimate import Estimate, Origin, PendingQuestion, ask, current_host
from dpnb.inference.interval import Interval
from dpnb.planner.request import Ask
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.releases import Release, ReleasedPart

LAW = {"kind": "discrete-laplace", "scale": "4"}


@dataclass(frozen=True)
class Checked:
    """What the plan room says about a question."""

    text: str
    shape: tuple[int, ...] = ()
    axes: tuple[Any, ...] = ()
    statistic: str = "mean"


@dataclass(frozen=True)
class Outcome:
    """A value that was drawn, with intervals of a fixed width."""

    value: Any
    shape: tuple[int, ...] = ()
    standard_error: Any = 0.1
    n: Any = 100
    n_eff: Any = 90
    flags: tuple[str, ...] = ()
    domain: tuple[Any, Any] = (None, None)

    def interval(self, level, kind):
        return Interval(self.value - 0.1, self.value + 0.1, level, kind)

    def draws(self, count, rng, kind):
        return self.value + 0.05 * rng.standard_normal((count, *self.shape))


class Study:
    """Builds pending estimates: ``study.ask("any text")``."""

    name = "study"

    def ask(self, text: str, shape: tuple[int, ...] = (), statistic: str = "mean") -> Estimate:
        checked = Checked(f"study.{text}", shape, (), statistic)
        frame = sys._getframe(1)
        while frame.f_code.co_filename == __file__:
            frame = frame.f_back
        origin = Origin(
            frame.f_code.co_filename, frame.f_lineno, current_host().labels.get(frame.f_code.co_filename)
        )
        return ask(text, checked, dataset=self, origin=origin)

    def mean(self, name: str = "got") -> Estimate:
        return self.ask(f"{name}.mean()")

    def histogram(self, bins: int = 5) -> Estimate:
        return self.ask(f"age.histogram(bins={bins})", (bins,), "histogram")


@dataclass(frozen=True)
class PlanView:
    """What a plan says."""

    measurements: tuple[PendingQuestion, ...]
    ask: Ask
    labels: Mapping[PendingQuestion, str]
    cost: PrivacyLoss
    named: tuple[tuple[str, Estimate], ...] = ()
    dropped: int = 0

    def __repr__(self) -> str:
        return f"plan: {self.cost} for {sorted(self.labels.values())}"


@dataclass(frozen=True)
class BatchReport:
    """What a release says."""

    measurements: tuple[PendingQuestion, ...]
    ask: Ask
    labels: Mapping[PendingQuestion, str]
    charged: PrivacyLoss
    left: PrivacyLoss
    named: tuple[tuple[str, Estimate], ...] = ()
    hidden: tuple[PendingQuestion, ...] = ()
    dropped: int = 0

    def __repr__(self) -> str:
        return f"{self.charged} charged, {self.left} left: {sorted(self.labels.values())}"


@dataclass
class FakeSession:
    """Charges an in-memory ledger; a stored question is free."""

    cap: Fraction = Fraction(4)
    charges: list[tuple[tuple[str, ...], Fraction]] = field(default_factory=list)
    stored: dict[str, Any] = field(default_factory=dict)
    datasets: dict[str, Any] = field(default_factory=dict)
    before: Any = None
    _ids: Any = field(default_factory=itertools.count)

    @property
    def spent(self) -> Fraction:
        return sum((amount for _, amount in self.charges), Fraction(0))

    def preview(self, items: Sequence[Any], ask: Ask, labels: Any = None) -> PlanView:
        """No ways out without a real plan."""
        raise PlanError("no preview here")

    def plan(
        self, items: Sequence[Any], ask: Ask, labels: Mapping[PendingQuestion, str] | None = None
    ) -> PlanView:
        cost = PrivacyLoss.pure(self._price(items, ask)[1])
        return PlanView(tuple(items), ask, dict(labels or {}), cost)

    def release(
        self, items: Sequence[Any], ask: Ask, labels: Mapping[PendingQuestion, str] | None = None
    ) -> BatchReport:
        if self.before is not None:
            self.before()
        new, cost = self._price(items, ask)
        left = self.cap - self.spent
        if cost > left:
            asked, rest = f"{float(cost):g}", f"{float(left):g}"
            raise BudgetError(
                f"This cell asks for ε {asked}; {rest} is left of {self.cap}. Nothing was spent.", asked=asked
            )
        if new:
            self.charges.append((tuple(sorted(new)), cost))
        for item in items:
            item.submit("ab" * 16)
            value, ident = self.stored.get(item.text) or self._draw(item)
            self.stored[item.text] = (value, ident)
            item.fill((self._record(item, ident),), Outcome(value, item.shape))
        charged, rest_ = PrivacyLoss.pure(cost), PrivacyLoss.pure(self.cap - self.spent)
        return BatchReport(tuple(items), ask, dict(labels or {}), charged, rest_)

    def _price(self, items: Sequence[Any], ask: Ask) -> tuple[set[str], Fraction]:
        texts = {item.text for item in items}
        own = {item.text: item.spend for item in items if item.spend is not None}
        new = {text for text in texts if ask.fresh or text not in self.stored}
        each = (ask.epsilon or Fraction(0)) / max(1, len(texts))
        return new, sum((own.get(text, each) for text in new), Fraction(0))

    def _draw(self, item: Any) -> tuple[Any, str]:
        number = int(hashlib.sha256(item.text.encode()).hexdigest()[:4], 16) / 65536
        value = number if not item.shape else number + np.arange(np.prod(item.shape)).reshape(item.shape)
        return value, f"{next(self._ids):032x}"

    def _record(self, item: Any, ident: str) -> Release:
        part = ReleasedPart("sum", LAW, (1,), ident)
        return Release(ident, item.text, "study", "v1", (part,), PrivacyLoss.pure(1))
