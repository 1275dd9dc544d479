"""Sweeps: one thing is varied, everything else and the seed stay, and the coverages stand side by side.

Over ε, ρ or the number of rows a sweep is one coverage simulation; over a population, an adjacency or an option of the statistic
it is one for each value, of the same studies wherever the rows are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnb.errors import OptionError
from dpnb.estimate.table import Table
from dpnb.simulate.coverage import coverage
from dpnb.simulate.figure import Curve, curve_of, level_suffix, styles_of, two_panels
from dpnb.simulate.populations import Source
from dpnb.simulate.result import CoverageResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_AT_ONCE = ("epsilon", "rho", "n")


@dataclass(frozen=True, slots=True, eq=False)
class SweepResult:
    """The result of :func:`dpnb.simulate.sweep`.

    Parameters
    ----------
    over : str
        What is varied.
    values : tuple
        Its values.
    results : tuple of CoverageResult
        One for each value; a single one where all values were simulated at once.
    """

    over: str
    values: tuple[object, ...]
    results: tuple[CoverageResult, ...]

    def __iter__(self) -> Iterator[tuple[object, CoverageResult]]:
        """Values with their results, where each has its own."""
        return iter(zip(self.values, self.results, strict=False))

    def table(self) -> Table:
        """Return the rows of all coverages, with what was varied first."""
        tables = [found.table() for found in self.results]
        columns: dict[str, list[object]] = {}
        if self.over not in _AT_ONCE:
            columns[self.over] = [
                word for word, table in zip(self.words, tables, strict=True) for _ in range(len(table))
            ]
        for name in tables[0].columns:
            columns[name] = [value for table in tables for value in table[name]]
        return Table(columns)

    @property
    def words(self) -> tuple[object, ...]:
        """The values as they are shown: populations by name."""
        return tuple(getattr(value, "name", value) for value in self.values)

    def code(self) -> str:
        """Return the calls that reproduce the result, one a line."""
        return "\n".join(found.code() for found in self.results)

    def plot(self) -> Figure:
        """Return the figure: coverage with Wilson bands and mean widths against what was varied."""
        if self.over in _AT_ONCE:
            return self.results[0].plot()
        numbers = [one for one in self.values if isinstance(one, int | float) and not isinstance(one, bool)]
        places = numbers if len(numbers) == len(self.values) else range(len(self.values))
        figure, panels = two_panels(list(self._curves(places)), self.results[0].design.levels, self.over)
        if places is not numbers:  # what is no number stands side by side
            for axes in panels:
                axes.set_xticks(places, [str(word) for word in self.words])
        figure.set_label(self.describe())
        return figure

    def _curves(self, places: Sequence[float]) -> Iterator[Curve]:
        """Yield a curve for each method, level and loss, of the first size."""
        design, styles = self.results[0].design, styles_of(self.results[0])
        for name, level in self.results[0].tallies[0].held:
            held = [found.tallies[0].held[name, level] for found in self.results]
            for i, loss in enumerate(design.losses):
                counts = np.array([[part[i].sum() for part in (h.studies, h.held, h.width)] for h in held]).T
                label = name + level_suffix(design.levels, level)
                label += "" if len(design.losses) == 1 else f", {loss}"
                yield curve_of(name, label, (*styles[name], i), places, counts)

    def describe(self) -> str:
        """Return in words what the figure shows."""
        if self.over in _AT_ONCE:
            return self.results[0].describe()
        return "\n".join(
            f"{self.over} = {word}: {r.describe()}" for word, r in zip(self.words, self.results, strict=True)
        )

    def __str__(self) -> str:
        return self.describe()


def sweep(statistic: str, source: Source, over: str, values: Sequence[Any], **more: Any) -> SweepResult:
    """Simulate coverage for each value of one argument.

    Parameters
    ----------
    statistic, source
        As in :func:`dpnb.simulate.coverage`.
    over : str
        ``"epsilon"``, ``"rho"``, ``"n"``, ``"population"``, ``"adjacency"``, or an option of the statistic.
    values : sequence
        The values of that argument; for ``over="population"`` these are populations, and ``source`` is not used.
    **more
        Everything else that :func:`dpnb.simulate.coverage` takes.

    Examples
    --------
    >>> from dpnb import simulate
    >>> found = simulate.sweep("mean", simulate.beta(2, 5), "spread", ["bought", "bound"], n=200, reps=100)
    >>> found.table()["spread"]
    ('bought', 'bought', 'bound', 'bound')
    """
    chosen = () if isinstance(values, str) else tuple(values)
    if not chosen:
        raise OptionError("values= is a list of at least one value.")
    if over in more or (over in ("epsilon", "rho") and "losses" in more):
        raise OptionError(f"{over} is what is varied: leave it out of the other arguments.")
    if over in ("epsilon", "rho"):
        return SweepResult(over, chosen, (coverage(statistic, source, losses={over: chosen}, **more),))
    if over == "n":
        return SweepResult(over, chosen, (coverage(statistic, source, n=chosen, **more),))
    if over == "population":
        return SweepResult(over, chosen, tuple(coverage(statistic, value, **more) for value in chosen))
    return SweepResult(
        over, chosen, tuple(coverage(statistic, source, **more, **{over: value}) for value in chosen)
    )
