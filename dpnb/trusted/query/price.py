"""What a plan costs, by the curator's own count: from measurements, noise and the schema, never from what a kernel says.

Each question is priced by :func:`dpnb.trusted.measurements.loss`; questions of a plan add. The kernel says what it expects the plan to
cost, and any other sum is refused: a kernel of another version is told before a charge, not after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dpnb.trusted.errors import PlanError
from dpnb.trusted.measurements import code_ranges, loss
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.limits import refuse_unbounded
from dpnb.trusted.query.plan import Plan, Question
from dpnb.trusted.query.plan_record import measured
from dpnb.trusted.query.work import limited
from dpnb.trusted.schema import Schema


@dataclass(frozen=True, slots=True)
class Charged:
    """A question as it would be charged.

    Parameters
    ----------
    question : Question
    measured : str
        The name of what it measures, under which its answer is stored.
    events : tuple of PrivacyEvent
        What the ledger records.
    loss : PrivacyLoss
        Their sum in the dataset's measure.
    """

    question: Question
    measured: str
    events: tuple[PrivacyEvent, ...]
    loss: PrivacyLoss

    @property
    def key(self) -> str:
        """What the kernel calls the question."""
        return self.question.key


def charged_for(plan: Plan, schema: Schema) -> tuple[Charged, ...]:
    """Return what each question of a plan would be charged.

    Parameters
    ----------
    plan : Plan
    schema : Schema
        Public metadata; its name and version must be the ones that the plan was made with.

    Raises
    ------
    PlanError
        If the plan names what is not declared, is too much work, cannot be priced, or expects another loss.
    LossError
        If the budget's measure cannot hold the loss.
    """
    if plan.dataset != schema.name or plan.schema_version != schema.version:
        raise PlanError(f"{schema.name} has another schema now. Open it again.")
    ranges, units = code_ranges(schema), 0
    for question in plan.questions:
        units = limited(question.parts, units)
        refuse_unbounded(question.parts, ranges)
    found = tuple(_charged(question, schema) for question in plan.questions)
    costs = whole(found, schema.budget.measure)
    if plan.loss != costs:
        raise PlanError(
            f"This plan was made to cost {plan.loss.brief('up')}, and costs {costs.brief('up')}. Nothing was spent: "
            "restart the kernel and open the dataset again."
        )
    return found


def whole(questions: Iterable[Charged], measure: Measure) -> PrivacyLoss:
    """Return what some questions cost together."""
    costs = PrivacyLoss.zero(measure)
    for question in questions:
        costs = costs + question.loss
    return costs


def _charged(question: Question, schema: Schema) -> Charged:
    derived = loss(question.parts, schema)
    return Charged(question, measured(question.parts), derived.events, derived.total)
