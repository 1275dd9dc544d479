"""A first question in five small screens: what to know, of which column, who is protected, how accurate, and the cell that asks.

The guide writes the question with the dataset's own handle and prices it with the code that charges; it spends nothing. Its last
screen shows the ``%%dp`` cell, which releases when a person runs it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpnb.cards.card import Card
from dpnb.client.handles import Dataset
from dpnb.errors import DpnbError, PlanError
from dpnb.release import Estimate
from dpnb.schema import Column
from dpnb.statistics import Share
from dpnb.widgets._base import Interaction
from dpnb.widgets.curve import curve_of, kind_of
from dpnb.widgets.see_saw import left_of
from dpnb.widgets.wording import still

__all__ = ["Guide"]

_BINS = 20


@dataclass(frozen=True, slots=True)
class _Goal:
    """Something that people want to know, and how it is asked."""

    words: str
    fits: Callable[[Column], bool]
    ask: Callable[[Any, Any], Estimate]
    code: str
    name: str
    compares: bool = False


def _two(column: Column) -> bool:
    return column.values is not None and len(column.values) == 2


def _many(column: Column) -> bool:
    return column.values is None


_GOALS: dict[str, _Goal] = {
    "average": _Goal(
        "the average of a number", _many, lambda x, _: x.mean(), "{x}.mean()", "average_{column}"
    ),
    "share": _Goal(
        "the share of people who …",
        lambda c: _two(c) and c.numeric,
        lambda x, _: x.mean(),
        "{x}.mean()",
        "share_{column}",
    ),
    "difference": _Goal(
        "whether two groups differ",
        lambda c: c.numeric,
        lambda x, by: x.difference(by=by),
        '{x}.difference(by="{by}")',
        "effect_on_{column}",
        compares=True,
    ),
    "middle": _Goal("the middle value", _many, lambda x, _: x.median(), "{x}.median()", "middle_{column}"),
    "spread": _Goal(
        "how a number is spread over people",
        _many,
        lambda x, _: x.histogram(bins=_BINS),
        f"{{x}}.histogram(bins={_BINS})",
        "spread_of_{column}",
    ),
    "groups": _Goal(
        "how many people are in each group",
        lambda c: c.values is not None,
        lambda x, _: x.value_counts(),
        "{x}.value_counts()",
        "people_by_{column}",
    ),
}


class Guide(Interaction):
    """A guide to a first question about a dataset.

    Parameters
    ----------
    dataset : Dataset
        An open dataset.

    Examples
    --------
    >>> dpnb.widgets.guide(hiv)  # doctest: +SKIP
    """

    module: ClassVar[str] = "guide"

    def __init__(self, dataset: Any) -> None:
        if not isinstance(dataset, Dataset):
            raise PlanError(
                f"A guide takes an open dataset, not {type(dataset).__name__}: dpnb.widgets.guide(hiv)."
            )
        self._dataset = dataset.root
        super().__init__()

    def describe(self) -> dict[str, Any]:
        """State what can be asked, and price what is chosen; see :class:`Interaction`."""
        schema = self._dataset.schema
        goals = [
            {"id": name, "words": goal.words, "compares": goal.compares, "columns": columns}
            for name, goal in _GOALS.items()
            if (columns := [column.name for column in schema.columns if goal.fits(column)])
        ]
        return {
            "dataset": schema.name,
            "goals": goals,
            "columns": [_about(column) for column in schema.columns],
            "groups": [column.name for column in schema.columns if _two(column)],
            "unit": schema.unit.sentence(),
            "mode": f"{self._dataset.mode.badge}: {self._dataset.mode.sentence}",
            "plan": self._plan(),
            "problem": "",
        }

    def _plan(self) -> dict[str, Any] | None:
        """The question that is chosen, as code and as a price; nothing while the choice is not complete."""
        goal = _GOALS.get(str(self.chosen.get("goal")))
        column, by = self.chosen.get("column"), self.chosen.get("by")
        if goal is None or column not in self._dataset.schema.names or (goal.compares and not by):
            return None
        if not goal.fits(self._dataset.schema[column]) or (goal.compares and by == column):
            return None
        place = column if column.isidentifier() and not hasattr(Dataset, column) else None
        spoken = f"{self._dataset.name}.{column}" if place else f"{self._dataset.name}[{column!r}]"
        try:
            question = goal.ask(self._dataset[column], by)
        except DpnbError as error:
            return {"code": "", "refused": str(error)}
        label = "".join(c if c.isalnum() else "_" for c in goal.name.format(column=column))
        code = f"{label} = {goal.code.format(x=spoken, by=by)}"
        return {"code": code, "refused": "", **self._priced(question)}

    def _priced(self, question: Estimate) -> dict[str, Any]:
        measurement = question.measurement
        assert measurement is not None
        kind, rows = kind_of(measurement), self._dataset.schema.unit.public_rows
        try:
            curve: dict[str, Any] | None = curve_of(measurement, kind, rows).to_json()
        except PlanError:
            curve = None
        checked = measurement.checked
        pricing = checked.kind.price(checked.setting, Share(kind, Fraction(1)))
        return {
            "kind": kind,
            "symbol": "ε" if kind == "epsilon" else "ρ",
            "curve": curve,
            "words": checked.kind.accuracy(checked.setting, pricing, None if rows is None else float(rows)),
            "left": left_of(measurement),
        }

    def card(self) -> Card:
        """Draw the questions that can be asked, one row each; see :class:`Interaction`."""
        name = self._dataset.name
        rows = []
        for goal in self.facts["goals"]:
            column = goal["columns"][0]
            groups = [group for group in self.facts["groups"] if group != column]
            if goal["compares"] and not groups:
                continue
            code = _GOALS[goal["id"]].code.format(x=f"{name}.{column}", by=(groups or [""])[0])
            rows.append((goal["words"], code))
        notes = [f"Who is protected: {self.facts['unit']}.", "In a cell that begins with %%dp epsilon=0.5."]
        head = ("to know", "ask, for example")
        return still("guide", f"A first question about {name}", name, head, rows, self.facts, notes=notes)


def _about(column: Column) -> dict[str, str]:
    """What the schema says of a column."""
    missing = "people without it are left out" if column.drops else f"missing counts as {column.missing}"
    return {
        "name": column.name,
        "label": column.label or column.name,
        "words": f"{column.describe()}; {missing}",
    }
