"""What can be asked of a column, ready to be typed: one list for the guide, the attach card and whoever writes a question.

Each kind of question says in words what it answers, which declared columns it fits, and how it is written. Public metadata
alone decides; nothing here asks anything.
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpnb.client.handles import Dataset
from dpnb.estimate import Estimate
from dpnb.trusted.schema import Column, Schema

BINS = 20


@dataclass(frozen=True, slots=True)
class Goal:
    """Something that people want to know, and how it is asked.

    Parameters
    ----------
    words : str
        The question as a person thinks of it.
    short : str
        The same in a word or two, for a button.
    fits : callable
        Whether a declared column can be asked so.
    ask : callable
        Asks it of a column handle and, where it compares, of the column that tells two groups apart.
    code : str
        How it is written, ``{x}`` being the column and ``{by}`` the groups.
    name : str
        What the answer is called, ``{column}`` being the column.
    compares : bool
        Whether it needs two groups.
    """

    words: str
    short: str
    fits: Callable[[Column], bool]
    ask: Callable[[Any, Any], Estimate]
    code: str
    name: str
    compares: bool = False

    def line(self, spoken: str, column: str, by: str | None = None) -> str:
        """Return the line of a cell that asks it of a column, as it is spoken of."""
        label = "".join(c if c.isalnum() else "_" for c in self.name.format(column=column))
        return f"{label} = {self.code.format(x=spoken, by=quoted(by))}"


def two_valued(column: Column) -> bool:
    """Return whether a column has two declared values."""
    return column.values is not None and len(column.values) == 2


def _many(column: Column) -> bool:
    return column.values is None and column.text is None


GOALS: dict[str, Goal] = {
    "average": Goal(
        "the average of a number",
        "average",
        _many,
        lambda x, _: x.mean(),
        "{x}.mean()",
        "average_{column}",
    ),
    "share": Goal(
        "the share of people who …",
        "share",
        lambda c: two_valued(c) and c.numeric,
        lambda x, _: x.mean(),
        "{x}.mean()",
        "share_{column}",
    ),
    "difference": Goal(
        "whether two groups differ",
        "difference",
        lambda c: c.numeric,
        lambda x, by: x.difference(by=by),
        "{x}.difference(by={by})",
        "effect_on_{column}",
        compares=True,
    ),
    "middle": Goal(
        "the middle value", "middle", _many, lambda x, _: x.median(), "{x}.median()", "middle_{column}"
    ),
    "spread": Goal(
        "how a number is spread over people",
        "histogram",
        _many,
        lambda x, _: x.histogram(bins=BINS),
        f"{{x}}.histogram(bins={BINS})",
        "spread_of_{column}",
    ),
    "groups": Goal(
        "how many people are in each group",
        "how many in each group",
        lambda c: c.values is not None,
        lambda x, _: x.value_counts(),
        "{x}.value_counts()",
        "people_by_{column}",
    ),
}


def subject(handle: str, column: str) -> str:
    """Return how a column is written: ``hiv.age``, or ``hiv["number of visits"]`` where an attribute cannot be."""
    plain = column.isidentifier() and not column.startswith("_") and not hasattr(Dataset, column)
    plain = plain and not keyword.iskeyword(column)
    return f"{handle}.{column}" if plain else f"{handle}[{quoted(column)}]"


def ready(schema: Schema, column: Column, handle: str) -> list[dict[str, str]]:
    """Return the questions that a column can be asked, each in words and as a line of a cell.

    Parameters
    ----------
    schema : Schema
        Names the columns that tell two groups apart.
    column : Column
        Is asked.
    handle : str
        What the notebook calls the dataset.
    """
    spoken, found = subject(handle, column.name), []
    for goal in GOALS.values():
        by = _groups(schema, column) if goal.compares else None
        if goal.fits(column) and (by is not None or not goal.compares):
            line = goal.line(spoken, column.name, by)
            words = f"{goal.short} by {by}" if by else goal.short
            found.append({"words": words, "line": line})
    return found


def _groups(schema: Schema, column: Column) -> str | None:
    """Return the first column that tells two groups apart, other than the one that is asked."""
    return next((one.name for one in schema.columns if two_valued(one) and one.name != column.name), None)


def quoted(text: str | None) -> str:
    """Return text as it stands in a cell, whatever is in it."""
    return json.dumps(text, ensure_ascii=False)
