"""What a session shows: the plan of a batch before it is released, and the report after. Frozen values, for cards to draw."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dpnb.client.handles import Dataset
from dpnb.client.matrix_plan import MatrixPlan, planned_readings
from dpnb.client.synthetic_plan import SyntheticPlan, synthetic_plans
from dpnb.errors import SchemaError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.estimate.derived import Outlook
from dpnb.planner.check import CheckedQuestion
from dpnb.planner.price import PricedBatch, PricedQuestion
from dpnb.planner.request import Ask
from dpnb.planner.schema_words import cap_words
from dpnb.synthetic.tables import PairTables
from dpnb.trusted.canonical import Record
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.query.plan import Share
from dpnb.trusted.schema import nearest


def numbered(names: Iterable[str]) -> list[str]:
    """Return names of which no two are alike: a second one has its number.

    Examples
    --------
    >>> numbered(["count", "mean", "count"])
    ['count', 'mean', 'count (2)']
    """
    found: dict[str, None] = {}
    for name in names:
        others = (f"{name} ({place})" for place in itertools.count(2))
        found[name if name not in found else next(one for one in others if one not in found)] = None
    return list(found)


Price = tuple[tuple[int, ...], PrivacyLoss]
"""The places of questions that are paid for together, and what is paid."""


@dataclass(frozen=True, slots=True)
class PlanView:
    """A batch, priced: what each question would cost now, and what is left. Nothing has been spent for it.

    Parameters
    ----------
    dataset : Dataset
    priced : PricedBatch
        Mechanisms, scales and losses, one item per distinct question.
    stored : tuple of bool
        Which questions are answered from the store, free.
    cost : PrivacyLoss
        What a release would be charged now.
    left : PrivacyLoss
        What is left before it.
    cap : PrivacyLoss
        Of the caps that hold, the one of which the least is left.
    measurements : tuple of PendingQuestion
        One per distinct question, in the order of `priced`.
    labels : dict of PendingQuestion to str
        Their names.
    dropped : int
        Questions that were built and not kept: free.
    named : tuple of (str, Estimate)
        Names and estimates to show, derived ones included.
    hidden : tuple of PendingQuestion
        Drawn elsewhere.
    held : tuple of Share or None
        For each question the share of the stored answer that suffices, else of the one that cost most; empty where it was
        not asked for.
    whose : str
        Whose cap it is; empty for the dataset's budget.
    together : tuple of PairTables
        The synthetic rows whose tables are asked.
    prices : tuple of (tuple of int, PrivacyLoss)
        The places of questions that have one price now, and that price: they add up to the cost.
    """

    dataset: Dataset
    priced: PricedBatch
    stored: tuple[bool, ...]
    cost: PrivacyLoss
    left: PrivacyLoss
    cap: PrivacyLoss
    measurements: tuple[PendingQuestion, ...]
    labels: dict[PendingQuestion, str] = field(default_factory=dict)
    dropped: int = 0
    named: tuple[tuple[str, Estimate], ...] = ()
    hidden: tuple[PendingQuestion, ...] = ()
    held: tuple[Share | None, ...] = ()
    whose: str = ""
    together: tuple[PairTables, ...] = ()
    prices: tuple[Price, ...] = ()

    @property
    def ask(self) -> Ask:
        """What is asked for all questions."""
        return self.priced.ask

    @property
    def fits(self) -> bool:
        """Whether the cost fits in what is left."""
        return self.cost.fits_in(self.left)

    @property
    def items(self) -> tuple[PricedQuestion, ...]:
        """The priced questions."""
        return self.priced.items

    @property
    def bought_anew(self) -> tuple[int, ...]:
        """Places of the questions that have a stored answer of a smaller share than is asked now: they are paid in full."""
        pairs = zip(self.held, self.stored, self.items, strict=False)
        return tuple(
            place
            for place, (held, stored, item) in enumerate(pairs)
            if held is not None and not stored and not item.public
        )

    def outlook(self) -> Outlook:
        """Return what is known of the ± of the derived values, from public facts alone."""
        size = self.ask.assume_n
        named = [(name, one) for name, one in self.named if id(one) not in self._of_tables]
        return Outlook.of(self.items, self.measurements, named, None if size is None else float(size))

    @property
    def _of_tables(self) -> set[int]:
        """The estimates that stand for synthetic rows, which are told as one."""
        return {id(one.estimate) for one in self.together}

    def matrix_plans(self) -> tuple[tuple[str, MatrixPlan], ...]:
        """Return what to expect of everything named that is read from moments, before they are bought, where a number of rows is known."""
        free = [
            item.share if not stored else None for item, stored in zip(self.items, self.stored, strict=True)
        ]
        found = planned_readings(self.named, self.measurements, free, self._rows_of)
        return tuple((name, plan) for _, name, plan in found)

    def synthetic_plans(self) -> tuple[SyntheticPlan, ...]:
        """Return what to expect of the synthetic rows whose tables are asked."""
        groups = [(one,) for one in self.measurements]
        return tuple(synthetic_plans(groups, self.items, self._rows_of, dict(self.named)))

    def _rows_of(self, checked: CheckedQuestion) -> int | None:
        return self.ask.assume_n or self.dataset.session.sizes(self.dataset).rows_of(checked)

    @property
    def divided(self) -> tuple[str, ...]:
        """Which questions are priced together because nobody is in two of them, a sentence each."""
        who, nobody = ("rows", "no row") if self.dataset.schema.unit.max_rows > 1 else ("people", "nobody")
        found = []
        for many in self.priced.divided:
            names = [self.label(place) for place in many]
            where = "both" if len(many) == 2 else "two of them"
            found.append(
                f"{', '.join(names[:-1])} and {names[-1]} are about different {who}: {nobody} is in {where}, so they are priced together."
            )
        return tuple(found)

    def label(self, place: int) -> str:
        """Return the name of the question at a place, or its text."""
        return self.labels.get(self.measurements[place], self.priced.items[place].text)

    def __str__(self) -> str:
        lines = [
            f"plan for {self.dataset.name}: {self.cost} of {self.left.brief('down')} left{cap_words(self.whose)}; nothing spent"
        ]
        asked = self.synthetic_plans()
        tables = {place for one in asked for place in one.places}
        for place, item in enumerate(self.items):
            if place in tables:
                continue
            paid = (
                "public · free" if item.public else "stored · free" if self.stored[place] else str(item.loss)
            )
            lines.append(f"  {self.label(place)}: {paid}; {item.preview.words}")
        lines += [f"  {one.name}: {one.cost}; {one.sentence}" for one in asked]
        lines += [f"  {sentence}" for sentence in self.divided]
        lines += [f"  {name}: expected {one.sentence}" for name, one in self.matrix_plans()]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_mimebundle_(self, **_: object) -> Record:
        from dpnb.client.drawing import bundle

        return bundle("plan_card", self, str(self))


@dataclass(frozen=True, eq=False)
class BatchReport(Mapping[str, Any]):
    """A released batch, a mapping of names to what was asked under them: what was charged for it, and what is left.

    Parameters
    ----------
    plan : PlanView
        As it was when released; its cost is what was charged.
    left : PrivacyLoss
        What is left after it.
    entry : int or None
        The ledger's row, if there was a charge.
    before : PrivacyLoss or None
        What was charged in that row already, before kernel and curator ended without an answer: this release completed it.
    labels, dropped, named, hidden
        As in :class:`PlanView`.
    whole : dict
        What was asked under a name where that is more than an estimate: a regression, a test.
    """

    plan: PlanView
    left: PrivacyLoss
    entry: int | None
    labels: dict[PendingQuestion, str] = field(default_factory=dict)
    dropped: int = 0
    named: tuple[tuple[str, Estimate], ...] = ()
    hidden: tuple[PendingQuestion, ...] = ()
    before: PrivacyLoss | None = None
    whole: dict[str, Any] = field(default_factory=dict)

    @property
    def dataset(self) -> Dataset:
        """The dataset that was asked."""
        return self.plan.dataset

    @property
    def measurements(self) -> tuple[PendingQuestion, ...]:
        """One per distinct question, in the order of the plan."""
        return self.plan.measurements

    @property
    def together(self) -> tuple[PairTables, ...]:
        """The synthetic rows whose tables were asked."""
        return self.plan.together

    @property
    def prices(self) -> tuple[Price, ...]:
        """What was paid for which questions."""
        return self.plan.prices

    @property
    def charged(self) -> PrivacyLoss:
        """What this release was charged: zero where everything was stored or public."""
        return self.plan.cost

    @property
    def cap(self) -> PrivacyLoss:
        """Of the caps that hold the one of which the least is left."""
        return self.plan.cap

    @property
    def whose(self) -> str:
        """Whose cap it is; empty for the dataset's budget."""
        return self.plan.whose

    @property
    def stored(self) -> tuple[bool, ...]:
        """Which questions were answered from the store, free."""
        return tuple(any(release.stored for release in one.releases) for one in self.measurements)

    @property
    def completed(self) -> str:
        """What to say of a charge that was made before a crash and got its answer now; empty where there was none."""
        if self.before is None:
            return ""
        return f"{self.before} was charged before the crash (ledger entry {self.entry}); nothing more was charged now."

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The estimates by label."""
        if self.named:
            return dict(self.named)
        names = numbered(self.labels.get(one, one.text) for one in self.measurements)
        return dict(zip(names, map(Estimate.leaf, self.measurements), strict=True))

    def __getitem__(self, label: str | int) -> Any:  # a place works too
        found = self.estimates | self.whole
        if isinstance(label, int):
            return list(found.values())[label]
        if label not in found:
            close = nearest(str(label), found)
            raise SchemaError(
                f"nothing was released as {label!r}." + (f" Did you mean {close}?" if close else "")
            )
        return found[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __str__(self) -> str:
        left = f"{self.left.brief('down')} left{cap_words(self.whose)}"
        lines = [f"released from {self.dataset.name}: {self.charged} charged, {left}"]
        lines += [] if self.before is None else [f"  {self.completed}"]
        shown = {id(one.estimate): one for one in self.together}
        tables = {id(question) for one in shown.values() for question in one.questions()}
        lines += [
            f"  {label}: {shown.get(id(estimate), estimate)!r}"
            for label, estimate in self.estimates.items()
            if id(estimate.measurement) not in tables
        ]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_mimebundle_(self, **_: object) -> Record:
        from dpnb.client.drawing import bundle

        return bundle("release_card", self, str(self))
