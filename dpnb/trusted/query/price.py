"""What a plan costs, by the curator's own count: from measurements, noise and the schema, never from what a kernel says.

Each group of questions is priced by :func:`dpnb.trusted.measurements.events`, at the worst move of one person through all of them; groups
add (sequential composition), so that any grouping is a valid bound, and the kernel sends the one that it finds cheapest. What is stored
takes no part. The kernel says what it expects the plan to cost, and any other sum is refused: a kernel of another version is told before
a charge, not after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpnb.trusted.errors import PlanError
from dpnb.trusted.measurements import Facts, events
from dpnb.trusted.privacy.accountant import whole
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.query.limits import refuse_unbounded
from dpnb.trusted.query.plan import Plan, Question
from dpnb.trusted.query.plan_record import measured
from dpnb.trusted.query.work import limited
from dpnb.trusted.schema import Schema


@dataclass(frozen=True, slots=True)
class Charged:
    """A question as it would be charged by itself.

    Parameters
    ----------
    question : Question
    measured : str
        The name of what it measures, under which its answer is stored.
    events : tuple of PrivacyEvent
        What it costs alone: a stored answer that cost as much is as good.
    loss : PrivacyLoss
        Their sum in the dataset's measure.
    """

    question: Question
    measured: str
    events: tuple[PrivacyEvent, ...]
    loss: PrivacyLoss


@dataclass(frozen=True, slots=True)
class ChargedPlan:
    """A plan as it would be charged where nothing of it is stored.

    Parameters
    ----------
    questions : tuple of Charged
    events : tuple of PrivacyEvent
        What they cost together.
    facts : Facts
        The public facts from which that follows.
    """

    questions: tuple[Charged, ...]
    events: tuple[PrivacyEvent, ...]
    facts: Facts

    def part(self, questions: Sequence[Charged]) -> tuple[PrivacyEvent, ...]:
        """Return what some of its questions, in their order, cost together."""
        return self.events if tuple(questions) == self.questions else together(questions, self.facts)


def charged_for(plan: Plan, schema: Schema) -> ChargedPlan:
    """Return what a plan would be charged, and each of its questions alone.

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
    facts, units = Facts.of(schema), 0
    for question in plan.questions:
        units = limited(question.parts, units)
        refuse_unbounded(question.parts, facts.ends)
    found = tuple(_charged(question, facts) for question in plan.questions)
    if len({one.measured for one in found}) < len(found):
        raise PlanError(
            "This plan measures the same twice. Measure it once: two questions may share an answer."
        )
    events_of_all = together(found, facts)
    costs = whole(events_of_all, facts.measure)
    if plan.loss != costs:
        raise PlanError(
            f"This plan was made to cost {plan.loss.brief('up')}, and costs {costs.brief('up')}. Nothing was spent: "
            "restart the kernel and open the dataset again."
        )
    return ChargedPlan(found, events_of_all, facts)


def together(questions: Iterable[Charged], facts: Facts) -> tuple[PrivacyEvent, ...]:
    """Return what some questions cost together: the events of each group, at the worst move through all that it holds."""
    groups: dict[int, list[Charged]] = {}
    for one in questions:
        groups.setdefault(one.question.group, []).append(one)
    found: list[PrivacyEvent] = []
    for group in groups.values():
        parts = [part for one in group for part in one.question.parts]
        found += group[0].events if len(group) == 1 else events(parts, facts)
    return tuple(found)


def _charged(question: Question, facts: Facts) -> Charged:
    costs = events(question.parts, facts)
    name = measured(question.parts, question.plan)
    return Charged(question, name, costs, whole(costs, facts.measure))
