"""``people.synthetic(…)``: the tables that it asks, what a plan says of them, and what is refused before a charge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpnb.errors import PlanError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.inference.law import law_of
from dpnb.planner.check import CheckedQuestion, check
from dpnb.planner.price import PricedQuestion
from dpnb.planner.question import Question
from dpnb.synthetic.design import MOST_PURE, Bins, Forecast, Relations, design_of
from dpnb.synthetic.tables import PairTables, asked_with
from dpnb.trusted.privacy.loss import PrivacyLoss

if TYPE_CHECKING:
    from dpnb.client.columns import ColumnHandle
    from dpnb.client.handles import Dataset
    from dpnb.synthetic.synthetic import Synthetic

_NEEDS_SIZE = (
    "How many people these synthetic rows would stand for is private, and nothing tells yet whether the tables would be worth their price. "
    "Say how many you expect: assume_n=5000."
)


def synthetic(
    people: Dataset,
    columns: Sequence[str | ColumnHandle],
    bins: Bins | None,
    relations: Relations,
    tables: int,
    rows: int | None,
) -> Synthetic:
    """Return the pending synthetic rows of some columns; see :meth:`dpnb.client.handles.Dataset.synthetic`."""
    from dpnb.synthetic.synthetic import Synthetic  # what it draws with takes long to load

    if people._by:
        raise PlanError(
            f"Synthetic rows are not asked by groups: name the group among the columns of {people.root._spoken()}."
        )
    names = [one if isinstance(one, str) else one.column.name for one in columns]
    design, keys = design_of(people.schema, [people._ref(name).column for name in names], bins, relations)
    known = people
    for name in design.names:
        if people.schema[name].drops:
            known = known._holding(known[name].notna())
    found = {pair: known.ask("crosstab", keys[pair[1]], (keys[pair[0]],)) for pair in design.pairs}
    questions = [one.measurement for one in found.values() if one.measurement is not None]
    setting = questions[0].checked.setting
    if setting.clustered:
        raise PlanError(
            f"A person may have several rows here, and intervals hold for people: ask {people._spoken()}.per_unit(1).synthetic(…)."
        )
    public = None if any(one.checked.setting.private for one in questions) else setting.unit.rows
    for one in questions:
        if not one.answered:
            one.share(weight=Fraction(1, len(found)))
    text = f"{people._spoken()}.synthetic({', '.join(map(repr, design.names))})"
    return Synthetic(design, found, text=text, dataset=people.name, public=public, count=tables, length=rows)


@dataclass(frozen=True, slots=True)
class SyntheticPlan:
    """What a plan says of the tables of synthetic rows.

    Parameters
    ----------
    asked : Synthetic
    places : tuple of int
        Of their questions in the plan.
    forecast : Forecast
    refusal : str
        Why a release would be refused; empty where it would not.
    name : str
        What they are called.
    cost : PrivacyLoss
        Of all tables together.
    """

    asked: PairTables
    places: tuple[int, ...]
    forecast: Forecast
    refusal: str
    name: str
    cost: PrivacyLoss

    @property
    def sentence(self) -> str:
        """What the tables would say, and what is in the way."""
        more = "" if not self.refusal or self.refusal == self.forecast.sentence else f" {self.refusal}"
        return self.forecast.sentence + more


def synthetic_plans(
    groups: Sequence[Sequence[PendingQuestion]],
    items: Sequence[PricedQuestion],
    rows_of: Callable[[CheckedQuestion], int | None],
    named: Mapping[str, Estimate] | None = None,
) -> Iterator[SyntheticPlan]:
    """Say what to expect of the synthetic rows whose tables a batch asks.

    Parameters
    ----------
    groups : sequence of sequences of PendingQuestion
        Of each priced question all that wait for it.
    items : sequence of PricedQuestion
    rows_of : callable
        How many rows to plan a question with; none where nothing tells.
    named : mapping of str to Estimate, optional
        What is called how.
    """
    at = {question: place for place, group in enumerate(groups) for question in group}
    for asked in asked_with(at):
        mine = asked.questions()
        places = tuple(dict.fromkeys(at[one] for one in mine if one in at))
        noise = [law_of(items[place].parts[0].mechanism).variance_float for place in places]
        size = rows_of(_count_of(mine[0]))
        forecast = asked.planned(noise, None if size is None else float(size))
        pure = any(
            share is not None and share.kind == "epsilon"
            for share in (items[place].share for place in places)
        )
        name = next((name for name, one in (named or {}).items() if one is asked.estimate), asked.text)
        first, *others = (items[place].loss for place in places)
        refusal = _refusal(asked, forecast, pure=pure)
        yield SyntheticPlan(asked, places, forecast, refusal, name, sum(others, first))


def _count_of(table: PendingQuestion) -> CheckedQuestion:
    """Return the number of all rows that a table counts, as a question."""
    return check(Question(table.question.dataset, "count", where=table.question.where), table.dataset.schema)


def _refusal(asked: PairTables, forecast: Forecast, *, pure: bool) -> str:
    if pure and len(asked.design.pairs) > MOST_PURE:
        return (
            f"{len(asked.design.pairs)} tables under pure ε are mostly noise; at most {MOST_PURE} are asked so. Name fewer relations, or ask "
            "rho= in a budget of ρ or (ε, δ)."
        )
    if forecast.g is None:
        return _NEEDS_SIZE
    return "" if forecast.level is not None else forecast.sentence


def refuse_weak(plans: Iterator[SyntheticPlan]) -> None:
    """Refuse synthetic rows whose tables could not hold any interval.

    Raises
    ------
    PlanError
        Nothing was spent.
    """
    for one in plans:
        if one.refusal:
            raise PlanError(one.refusal)
