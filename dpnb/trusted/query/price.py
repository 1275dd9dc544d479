"""What a plan costs, by the curator's own count: from measurements, noise and the schema, never from what a kernel says.

Each group of questions is priced by :func:`dpnb.trusted.measurements.events`, at the worst move of one person through all of them; groups
add (sequential composition), so that any grouping is a valid bound, and the kernel sends the one that it finds cheapest. What is stored
takes no part. The kernel says what it expects the plan to cost, and any other sum is refused: a kernel of another version is told before
a charge, not after it. A kernel of this version asks :func:`together` what it says, with the bundles that it sends: it has no sum of its own
that could differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpnb.trusted.errors import PlanError
from dpnb.trusted.measurements import Events, Facts, Measurement, events
from dpnb.trusted.privacy.accountant import whole
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.limits import limited, refuse_unbounded
from dpnb.trusted.query.plan import Bundle, Plan
from dpnb.trusted.query.plan_record import measured
from dpnb.trusted.schema import Schema

Known = tuple[Sequence[Measurement], Events]  # some measurements, and what they cost


@dataclass(frozen=True, slots=True)
class Charge:
    """A bundle as it would be charged by itself.

    Parameters
    ----------
    bundle : Bundle
    measured : str
        The name of what is measured, without its noise: under it the answer is stored.
    events : tuple of PrivacyEvent
        What it costs alone: a stored answer that cost as much is as good.
    """

    bundle: Bundle
    measured: str
    events: Events

    def loss(self, measure: Measure) -> PrivacyLoss:
        """Return what it costs alone, in a measure."""
        return whole(self.events, measure)


@dataclass(frozen=True, slots=True)
class ChargedPlan:
    """A plan as it would be charged where nothing of it is stored.

    Parameters
    ----------
    questions : tuple of Charge
        What is measured under each name, by itself.
    events : tuple of PrivacyEvent
        What they cost together.
    facts : Facts
        The public facts from which that follows.
    """

    questions: tuple[Charge, ...]
    events: Events
    facts: Facts

    def part(self, questions: Sequence[Charge]) -> Events:
        """Return what some of its charges, in their order, cost together."""
        if tuple(questions) == self.questions:
            return self.events
        return together((one.bundle for one in questions), self.facts)


def charged_for(plan: Plan, schema: Schema) -> ChargedPlan:
    """Return what a plan would be charged, and each of its bundles alone.

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
    for bundle in plan.questions:
        units = limited(bundle.parts, units)
        refuse_unbounded(bundle.parts, facts.ends)
    charges = tuple(
        Charge(bundle, measured(bundle.parts, bundle.plan), events(bundle.parts, facts))
        for bundle in plan.questions
    )
    if len({one.measured for one in charges}) < len(charges):
        raise PlanError(
            "This plan measures the same twice. Measure it once: two questions may share an answer."
        )
    events_of_all = together(plan.questions, facts, ((one.bundle.parts, one.events) for one in charges))
    costs = whole(events_of_all, facts.measure)
    if plan.loss != costs:
        raise PlanError(
            f"This plan was made to cost {plan.loss.brief('up')}, and costs {costs.brief('up')}. Nothing was spent: "
            "restart the kernel and open the dataset again."
        )
    return ChargedPlan(charges, events_of_all, facts)


def together(bundles: Iterable[Bundle], facts: Facts, known: Iterable[Known] = ()) -> Events:
    """Return what bundles cost together: the events of each group, at the worst move through all that it holds.

    Parameters
    ----------
    bundles : iterable of Bundle
    facts : Facts
    known : iterable of Known, optional
        What :func:`dpnb.trusted.measurements.events` said before: it is not asked again for the same objects. Objects are told apart by
        their ids, so whoever asks keeps them meanwhile.
    """
    derived = {tuple(map(id, parts)): made for parts, made in known}
    groups: dict[int, list[Measurement]] = {}
    for one in bundles:
        groups.setdefault(one.group, []).extend(one.parts)
    costs = (derived.get(tuple(map(id, parts))) or events(parts, facts) for parts in groups.values())
    return tuple(event for made in costs for event in made)
