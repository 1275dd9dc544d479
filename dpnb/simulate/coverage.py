"""Coverage: how often an interval holds what it claims to hold, over many simulated studies.

``coverage`` runs to the end; ``stream`` hands out partial results after every block of studies, so that a page can paint them,
stop by closing the generator, and go on later from the last result. However it is cut, the finished result is the same to the
bit: what is drawn depends on the design alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import OptionError, PlanError
from dpnb.planner import PricedQuestion
from dpnb.planner.check import CheckedQuestion
from dpnb.simulate.declared import Incomplete, Pair
from dpnb.simulate.design import (
    Design,
    Loss,
    Losses,
    Sizes,
    expressions,
    levels_of,
    losses_of,
    reps_of,
    seed_of,
    sizes_of,
)
from dpnb.simulate.exact import TOTALS, Block, counted, decoded, given, known, rows_of
from dpnb.simulate.intervals import Intervals, methods_of
from dpnb.simulate.plain import Function, PlainCoverage, function_coverage
from dpnb.simulate.populations import Drawn, Population, Seed, Source, population
from dpnb.simulate.result import CoverageResult
from dpnb.simulate.studies import Studies, draw
from dpnb.simulate.tally import Tally, tally
from dpnb.statistics import BY_NAME
from dpnb.trusted.aggregate.reference import Table

_DATA, _NOISE, _METHOD = 0, 1, 2
_QUESTION = {"column", "other", "by", "where", "adjacency"}


@overload
def coverage(
    statistic: str,
    source: Source,
    n: Sizes = None,
    losses: Losses = 1,
    intervals: Intervals = ...,
    reps: int = 1000,
    rng: Seed = 1,
    **more: Any,
) -> CoverageResult: ...


@overload
def coverage(
    statistic: Function,
    source: Source,
    n: Sizes = None,
    losses: Losses = 1,
    *,
    reps: int = 1000,
    rng: Seed = 1,
    **more: Any,
) -> PlainCoverage: ...


def coverage(
    statistic: str | Function,
    source: Source,
    n: Sizes = None,
    losses: Losses = 1,
    intervals: Intervals = ("privacy", "confidence"),
    reps: int = 1000,
    rng: Seed = 1,
    **more: Any,
) -> CoverageResult | PlainCoverage:
    """Simulate studies, release them, and count how often each interval contains the truth.

    Parameters
    ----------
    statistic : str or callable
        A registered name: ``"mean"``, ``"difference"``, ``"quantile"``, …; or a plain function, ``my_interval(values, epsilon, rng)``,
        that returns ``(low, high)``: then ``truth=np.mean`` (of each study) or ``parameter=28.6`` (of the population) is what it
        should contain.
    source : Population, array, mapping of arrays, or callable
        Where the rows of a study come from; see :func:`dpnb.simulate.population`.
    n : int or list of int
        Rows of a study.
    losses : number, list, or mapping
        Values of ε; or ``{"epsilon": [...]}`` or ``{"rho": [...]}``. Floats are rounded to six significant digits (and nine
        decimals), so you can pass ``np.geomspace(0.05, 10, 20)``; the values used are in the result and in ``.code()``.
    intervals : name, method, or list of them
        ``"privacy"``, ``"confidence"``, ``"naive"``, ``"normal"``, or a method of your own.
    reps : int
        The number of studies of each size.
    rng : int or numpy Generator
        The seed.
    **more
        ``levels=0.95``; ``column=``, ``other=``, ``by=``, ``where=`` and the statistic's own options, as in a question;
        ``adjacency="change-one"``; ``truth=`` and ``parameter=``, if they are not known for the statistic;
        ``columns=`` or ``lower=``, ``upper=``, ``step=`` of the population; ``common=True``, the noise of all losses from the
        same random numbers; ``counted=True``, studies drawn as counts of distinct rows, which has the same law and takes studies
        of any size; ``progress=``, called with each partial result.

    Returns
    -------
    CoverageResult
        Or a :class:`PlainCoverage`, with ``.table()`` and ``.plot()``, for a plain function.

    Examples
    --------
    >>> from dpnb import simulate
    >>> found = simulate.coverage("mean", simulate.beta(2, 5), n=200, losses=1, reps=200)
    >>> found.table()["interval"]
    ('privacy', 'confidence')
    >>> def my_interval(values, epsilon, rng):  # forgets its own noise
    ...     centre = values.mean() + rng.laplace(0, 100 / len(values) / epsilon)
    ...     return centre - 1, centre + 1
    >>> simulate.coverage(my_interval, simulate.beta(2, 5), n=100, truth=np.mean).table()["coverage"][0] < 0.7
    True
    """
    if callable(statistic):
        if intervals != ("privacy", "confidence"):
            raise OptionError("A plain function returns its own interval: leave out intervals=.")
        return function_coverage(statistic, source, n, losses, reps, rng, **more)
    progress = more.pop("progress", None)
    found = None
    for found in stream(statistic, source, n, losses, intervals, reps, rng, **more):
        if progress is not None:
            progress(found)
    assert found is not None
    return found


def stream(
    statistic: str,
    source: Source,
    n: Sizes = None,
    losses: Losses = 1,
    intervals: Intervals = ("privacy", "confidence"),
    reps: int = 1000,
    rng: Seed = 1,
    **more: Any,
) -> Iterator[CoverageResult]:
    """Yield partial results of :func:`coverage`, the last of which is complete.

    Bad input is refused at once, before the first result. :meth:`CoverageResult.resume` continues from any of them.
    """
    design = designed(statistic, source, n, losses, intervals, reps, rng, **more)
    return running(CoverageResult(design, _start(design)))


def designed(
    statistic: str,
    source: Source,
    n: Sizes,
    losses: Losses,
    intervals: Intervals,
    reps: int,
    rng: Seed,
    **more: Any,
) -> Design:
    """Return the checked design of a simulation."""
    grid = {name: more.pop(name) for name in ("columns", "lower", "upper", "step") if name in more}
    made = population(source, **grid)
    truth, parameter = more.pop("truth", None), more.pop("parameter", None)
    common = more.pop("common", False)
    if not isinstance(common, bool):
        raise OptionError("common= is True or False: whether all losses share their random numbers.")
    by_counts = more.pop("counted", False)
    if not isinstance(by_counts, bool):
        raise OptionError("counted= is True or False: whether studies are drawn as counts of distinct rows.")
    if by_counts and (not _countable(made) or truth is not None):
        raise OptionError(
            "counted=True needs a population whose law is known, such as simulate.beta(…) or an array, and no truth=."
        )
    levels = levels_of(more.pop("levels", 0.95))
    asked = {name: more.pop(name) for name in _QUESTION if name in more}
    if truth is not None and not callable(truth):
        raise OptionError(
            "truth= is a function of a study's columns, {name: array}, that returns what is true of it."
        )
    return Design(
        statistic,
        made,
        sizes_of(n, made),
        losses_of(losses),
        methods_of(intervals),
        levels,
        reps_of(reps),
        seed_of(rng),
        _question(statistic, made, asked, more),
        truth,
        parameter,
        common,
        by_counts,
    )


def _question(
    statistic: str, source: Population, asked: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, object]:
    column = asked.get("column", None if _of_rows(statistic) else source.columns[0].name)
    return {
        "column": None if column is None else expressions(column)[0],
        "other": None if asked.get("other") is None else expressions(asked["other"])[0],
        "by": () if asked.get("by") is None else expressions(asked["by"]),
        "where": asked.get("where"),
        "adjacency": asked.get("adjacency", "change-one"),
        "options": dict(options),
    }


def _countable(source: Population) -> bool:
    """Whether a population's law tells all of it: not where it is estimated from draws, or leaves out who lacks a value."""
    partial = isinstance(source, Pair) and any(
        isinstance(one, Incomplete) for one in (source.first, source.second)
    )
    return not isinstance(source, Drawn) and not partial and source.law() is not None


def _of_rows(statistic: str) -> bool:
    return statistic in BY_NAME and BY_NAME[statistic].target == "none"


def _start(design: Design) -> tuple[Tally, ...]:
    """Check what can be checked, so that a bad design is refused before anything is drawn."""
    for n in design.sizes:
        checked = design.items(n)[0].checked
        if design.truth is None and known(checked) is None:
            raise PlanError(
                f"What is true of a dataset is not defined here for {checked.statistic}(): give truth=, a function of a "
                "study's columns, and parameter=."
            )
    return tuple(Tally() for _ in design.sizes)


def running(found: CoverageResult) -> Iterator[CoverageResult]:
    """Yield the results that follow a partial one, block after block, until it is complete."""
    runs = [Run(found.design, n) for n in found.design.sizes]
    while not found.complete:
        tallies = list(found.tallies)
        for place, run in enumerate(runs):
            left = found.design.reps - tallies[place].studies
            if left > 0:
                tallies[place] = tallies[place] + run.block(tallies[place].studies, left)
        found = CoverageResult(found.design, tuple(tallies))
        yield found


class Run:
    """The simulation of studies of one size: its prices and parameters are computed once."""

    def __init__(self, design: Design, n: int) -> None:
        self.design, self.n = design, n
        self.items: tuple[PricedQuestion, ...] = design.items(n)
        checked = self.items[0].checked
        entries = max(part.cells for part in self.items[0].parts)
        self.law = design.population.law() if design.counted else None
        self.size = design.block(n, entries, None if self.law is None else self.law[0].rows)
        self.parameter = _parameter(design, checked, n)

    def block(self, done: int, left: int) -> Tally:
        """Return the tally of the next block, after so many studies."""
        studies, block = self.draw(done, min(self.size, left))
        return tally(studies, self.design.methods, self.design.levels, self.truth(block), self.parameter)

    def truth(self, block: Block) -> NDArray[np.float64]:
        """Return what is true of each study, shape (studies, entries)."""
        return _truth(self.design, self.items[0].checked, block)

    def draw(self, done: int, count: int) -> tuple[Studies, Block]:
        """Return a block of simulated releases, and its rows."""
        design, place = self.design, done // self.size
        rows = design.rng(_DATA, self.n, place)
        if self.law is not None:
            block = counted(self.law, rows, count, self.n)
        else:
            codes = design.population.draw(rows, count, self.n)
            block = Block(Table(codes, count * self.n), count, self.n)
        noise = [
            design.rng(_NOISE, self.n, place, *([] if design.common else _words(loss)))
            for loss in design.losses
        ]
        rng = design.rng(_METHOD, self.n, place)
        return draw(self.items, block, noise, rng, common=design.common), block


def draw_studies(
    statistic: str,
    source: Source,
    n: Sizes = None,
    losses: Losses = 1,
    reps: int = 250,
    rng: Seed = 1,
    **more: Any,
) -> tuple[Studies, NDArray[np.float64]]:
    """Return simulated releases and what is true of each study: for interval methods in the making, and for tests.

    Returns
    -------
    (Studies, ndarray)
        Arrays of shape (losses, studies, entries), and the truths, shape (studies, entries). At most one block of studies.
    """
    design = designed(statistic, source, n, losses, ("privacy",), reps, rng, **more)
    _start(design)
    run = Run(design, design.sizes[0])
    studies, block = run.draw(0, min(design.reps, run.size))
    return studies, _truth(design, run.items[0].checked, block)


def _words(loss: Loss) -> tuple[int, ...]:
    return (0 if loss.kind == "epsilon" else 1, loss.amount.numerator, loss.amount.denominator)


def _truth(design: Design, checked: CheckedQuestion, block: Block) -> NDArray[np.float64]:
    if design.truth is not None:
        return given(design.truth, decoded(design.population.columns, block), block.studies)
    found = known(checked)
    assert found is not None
    return found(rows_of(block, checked), checked.setting)


def _parameter(design: Design, checked: CheckedQuestion, n: int) -> NDArray[np.float64] | None:
    if design.parameter is not None:
        return np.ravel(np.asarray(design.parameter, dtype=float))
    if checked.kind.grows or all(m.about == "dataset" for m in design.methods):
        return None
    law = design.population.law()
    if law is None:
        return None
    table, probabilities = law
    block = Block(table, 1, table.rows)
    if design.truth is not None:
        if not np.allclose(probabilities, probabilities[0]):
            raise PlanError("With truth= give parameter= too: what is true of the population.")
        return np.asarray(given(design.truth, decoded(design.population.columns, block), 1)[0])
    found = known(checked)
    assert found is not None
    true = np.asarray(found(rows_of(block, checked, probabilities), checked.setting)[0])
    return n * true if checked.statistic in TOTALS else true
