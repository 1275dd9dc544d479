"""What is asked for synthetic rows: the two-way tables, as ``people.crosstab`` asks them, each with an equal part of one share.

What they cost is derived where any table's cost is. This knows nothing of what is read from them, so that a session loads no more than it needs.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from dpnb.errors import OptionError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.synthetic.design import Design, Forecast, Pair, Variable, foretold

MOST_ROWS = 10**6
_PARTS: weakref.WeakKeyDictionary[PendingQuestion, weakref.WeakSet[PairTables]] = weakref.WeakKeyDictionary()
"""Of which synthetic rows a question is a table."""


class PairTables:
    """The tables of synthetic rows, pending or released.

    Parameters
    ----------
    design : Design
        What is measured.
    tables : mapping of (int, int) to Estimate
        The question of each pair.
    text : str
        How it was asked.
    dataset : str
        Whose rows.
    public : int or None
        The number of rows where it is public.
    count : int
        How many tables of rows are drawn.
    length : int or None
        Rows of each; by default twice those of the data.
    """

    def __init__(
        self,
        design: Design,
        tables: Mapping[Pair, Estimate],
        *,
        text: str,
        dataset: str,
        public: int | None,
        count: int = 20,
        length: int | None = None,
    ) -> None:
        if count not in range(5, 101):
            raise OptionError(
                "tables= is a whole number from 5 to 100; 20 by default. Fewer make intervals wide."
            )
        if length is not None and length not in range(10, MOST_ROWS + 1):
            raise OptionError(
                f"rows= is how many rows each table has: a whole number from 10 to {MOST_ROWS:,}."
            )
        self.design, self.text, self.dataset = design, text, dataset
        self.count, self.public = count, public
        self._length, self._estimates = length, dict(tables)
        for one in self._estimates.values():
            if one.measurement is not None:
                _PARTS.setdefault(one.measurement, weakref.WeakSet()).add(self)

    # what is asked ---------------------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[Variable, ...]:
        """The columns with their levels."""
        return self.design.variables

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs that are measured."""
        return tuple(map(self.design.called, self.design.pairs))

    @property
    def tables(self) -> dict[tuple[str, str], Estimate]:
        """The question of each pair, pending or released; none where this was read from files."""
        return {self.design.called(pair): one for pair, one in self._estimates.items()}

    @property
    def bins(self) -> dict[str, tuple[float, ...]]:
        """The edges of the bins of each column that has some."""
        return {one.name: one.edges for one in self.columns if one.edges is not None}

    @cached_property
    def estimate(self) -> Estimate:
        """The number of rows as all tables tell it together: what stands for them in a plan and a report."""
        parts = [(1 / self.design.cells(pair), one) for pair, one in self._estimates.items()]
        whole = sum(weight for weight, _ in parts)
        (weight, first), *others = parts
        found: Any = first.sum() * (weight / whole)
        for weight, one in others:
            found = found + one.sum() * (weight / whole)
        return found  # type: ignore[no-any-return]

    @property
    def pending(self) -> bool:
        """Whether a table has no answer yet."""
        return any(one.pending for one in self._estimates.values())

    def questions(self) -> list[PendingQuestion]:
        """Return the questions of its tables."""
        return [one.measurement for one in self._estimates.values() if one.measurement is not None]

    def planned(self, variances: Sequence[float], size: float | None) -> Forecast:
        """Return what tables of some noise, the variance of a cell of each, would say of so many rows."""
        return foretold(self.design, size, math.sqrt(max(variances)))


def asked_with(questions: Iterable[PendingQuestion]) -> list[PairTables]:
    """Return the synthetic rows of which some questions are tables, each once."""
    return list(dict.fromkeys(one for question in questions for one in _PARTS.get(question, ())))
