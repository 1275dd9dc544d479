"""What measurements cost, and each alone: the events that the wing derives, and their sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpnb.trusted.aggregate.algebra import Col, Key, Lit, ValueCounts
from dpnb.trusted.measurements import Facts, Measurement, events, selections
from dpnb.trusted.privacy.accountant import whole
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Schema


@dataclass(frozen=True, slots=True)
class DerivedLoss:
    """What some measurements cost: what the ledger records, and the sum in the dataset's measure."""

    measurements: tuple[Measurement, ...]
    facts: Facts
    events: tuple[PrivacyEvent, ...]
    total: PrivacyLoss

    @property
    def alone(self) -> tuple[PrivacyLoss, ...]:
        """What each measurement would cost by itself, in their order."""
        return tuple(whole(events((one,), self.facts), self.facts.measure) for one in self.measurements)


def loss(measurements: Sequence[Measurement], schema: Schema) -> DerivedLoss:
    """Return what measurements cost together."""
    facts = Facts.of(schema)
    made = events(measurements, facts)
    return DerivedLoss(tuple(measurements), facts, made, whole(made, facts.measure))


def score_factor(q: Fraction, unit: PrivacyUnit, cells: int) -> Fraction:
    """Return by how much one person moves the scores of a quantile in all cells together."""
    facts = Facts(unit, Measure.PURE, {"x": (0, 4)}, frozenset())
    return unit.max_rows * selections.score(q, ValueCounts(Col("x"), None, (Key(Lit(0), cells),)), facts)
