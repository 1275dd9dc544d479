"""Coverage of a plain function: somebody's own interval, tried on many studies, before anything of dpnb's is asked.

::

    def my_interval(ages, epsilon, rng):
        centre = np.mean(ages) + rng.laplace(0, 100 / len(ages) / epsilon)
        return centre - 2, centre + 2


    simulate.coverage(my_interval, simulate.beta(2, 5), n=500, losses=[0.1, 1], truth=np.mean)

The function gets arrays and a seeded generator, never a handle, and is called once a study.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dpnb.errors import OptionError, PlanError, Unavailable
from dpnb.estimate.table import Table, table_of_rows
from dpnb.simulate.design import Loss, Losses, Sizes, levels_of, losses_of, reps_of, seed_of, sizes_of
from dpnb.simulate.exact import Block, decoded
from dpnb.simulate.figure import LOOKS, curve_of, draw_coverage
from dpnb.simulate.populations import Population, Seed, Source, population
from dpnb.simulate.tally import share
from dpnb.trusted.aggregate.reference import Table as Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Function: TypeAlias = Callable[..., Any]
"""A function of a student's own: of values, or of values, a loss and a generator."""
_BLOCK = 1 << 20
_DATA, _NOISE = 0, 1


@dataclass(frozen=True, slots=True)
class PlainRow:
    """The coverage of a function at one size and loss.

    Parameters
    ----------
    n : int
    loss : Loss
    studies : int
        Studies that were simulated.
    known : int
        Of them, with an interval.
    held : int
        Of those, with the truth inside.
    width : float
        Mean width.
    """

    n: int
    loss: Loss
    studies: int
    known: int
    held: int
    width: float

    @property
    def coverage(self) -> float:
        """The share of intervals that contain the truth."""
        return self.held / self.known if self.known else float("nan")


@dataclass(frozen=True, slots=True)
class PlainCoverage:
    """The coverage of a plain function.

    Parameters
    ----------
    name : str
        What the function is called.
    about : {"dataset", "population"}
        Whether truth is of each study or of the population.
    level : float
        The level that the intervals claim.
    rows : tuple of PlainRow
    """

    name: str
    about: str
    level: float
    rows: tuple[PlainRow, ...]

    def table(self) -> Table:
        """Return one row for each size and loss: coverage with its 95 % Wilson band, mean width, share without an interval."""
        return table_of_rows([self._row(row) for row in self.rows])

    def _row(self, row: PlainRow) -> dict[str, object]:
        return {
            "n": row.n,
            row.loss.kind: float(row.loss.amount),
            "about": self.about,
            "level": self.level,
            "studies": row.known,
            **share(row.held, row.known),
            "width": row.width,
            "without": 1 - row.known / row.studies,
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw coverage along the loss, with the Wilson bands and the level; return the axes."""
        import matplotlib.pyplot as plt

        axes, curves = plt.subplots()[1] if ax is None else ax, []
        for place, n in enumerate(dict.fromkeys(row.n for row in self.rows)):
            rows = [row for row in self.rows if row.n == n]
            counts = np.array([(row.known, row.held, row.width * row.known) for row in rows], dtype=float).T
            losses = [float(row.loss.amount) for row in rows]
            curves.append(curve_of("", f"n = {n:,}", (*LOOKS["confidence"], place), losses, counts))
        draw_coverage(axes, curves, (self.level,))
        axes.set(xscale="log", xlabel=self.rows[0].loss.kind, ylabel=f"coverage of {self.name}")
        axes.legend()
        return axes

    def __repr__(self) -> str:
        return str(self.table())


def function_coverage(  # noqa: PLR0913 - a design and what is true
    function: Function,
    source: Source,
    n: Sizes = None,
    losses: Losses = 1,
    reps: int = 1000,
    rng: Seed = 1,
    *,
    truth: Function | None = None,
    parameter: float | None = None,
    levels: float = 0.95,
    **grid: Any,
) -> PlainCoverage:
    """Count how often the interval of a plain function contains the truth; see :func:`dpnb.simulate.coverage`.

    Parameters
    ----------
    function : callable
        ``function(values, epsilon, rng)`` returns ``(low, high)``, or None where it has no interval. `values` is an array, or a mapping
        of arrays where the population has several columns. It may also take ``rho`` (for losses in ρ) and ``level``.
    source : Population, array, mapping of arrays, or callable
    n : int or list of int
    losses : number, list, or mapping
    reps : int
    rng : int or numpy Generator
    truth : callable, optional
        Of `values`: what is true of each study (``np.mean``).
    parameter : float, optional
        What is true of the population, instead.
    levels : float
        What the interval claims.
    **grid
        ``columns=`` or ``lower=``, ``upper=``, ``step=`` of the population.

    Returns
    -------
    PlainCoverage
    """
    if (truth is None) == (parameter is None):
        raise PlanError(
            "What should the interval contain? Give truth=np.mean, the value of each study, or parameter=28.6, that of the population."
        )
    (level,) = levels_of(levels)
    made, seed, studies = population(source, **grid), seed_of(rng), reps_of(reps)
    asked = _Asked.of(function, level)
    rows = tuple(
        _row(asked, made, size, loss, studies, seed, truth or parameter)
        for size in sizes_of(n, made)
        for loss in losses_of(losses)
    )
    name = getattr(function, "__name__", "the function")
    return PlainCoverage(name, "dataset" if truth is not None else "population", level, rows)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A function, with what it takes."""

    function: Function
    takes: frozenset[str]
    level: float

    @classmethod
    def of(cls, function: Callable[..., object], level: float) -> _Asked:
        try:
            names = frozenset(inspect.signature(function).parameters)
        except (TypeError, ValueError):
            names = frozenset()
        if not names & {"epsilon", "rho"}:
            raise OptionError(
                "The function takes the values, the loss and a generator: def my_interval(values, epsilon, rng)."
            )
        return cls(function, names, level)

    def ends(self, values: object, loss: Loss, rng: np.random.Generator) -> tuple[float, float] | None:
        """Return the interval of one study, or None."""
        if loss.kind not in self.takes:
            raise OptionError(f"losses= are values of {loss.kind}, which the function does not take.")
        offered = {loss.kind: float(loss.amount), "rng": rng, "level": self.level}
        given = {name: value for name, value in offered.items() if name in self.takes}
        try:
            found = self.function(values, **given)
        except Unavailable:
            return None
        return None if found is None else _pair(found)


def _pair(found: Sequence[float]) -> tuple[float, float] | None:
    try:
        low, high = (float(end) for end in found)
    except (TypeError, ValueError):
        raise PlanError(
            f"The function returns an interval, (low, high), not {type(found).__name__}."
        ) from None
    return None if np.isnan(low) or np.isnan(high) else (low, high)


def _row(asked: _Asked, made: Population, n: int, loss: Loss, studies: int, seed: int, true: Any) -> PlainRow:
    known = held = 0
    width = 0.0
    key = (0 if loss.kind == "epsilon" else 1, loss.amount.numerator, loss.amount.denominator)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_NOISE, n, *key)))
    for values in _studies(made, n, studies, seed):
        found = asked.ends(values, loss, rng)
        if found is None:
            continue
        truth = float(true(values)) if callable(true) else float(true)
        known += 1
        held += int(found[0] <= truth <= found[1])
        width += found[1] - found[0]
    return PlainRow(n, loss, studies, known, held, width / known if known else float("nan"))


def _studies(made: Population, n: int, studies: int, seed: int) -> Iterator[Any]:
    """Yield the values of every study: the same ones for every loss."""
    size = max(1, min(studies, _BLOCK // n))
    for start in range(0, studies, size):
        count = min(size, studies - start)
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_DATA, n, start)))
        codes = made.draw(rng, count, n)
        columns = decoded(made.columns, Block(Rows(codes, count * n), count, n))
        yield from (_values(columns, place) for place in range(count))


def _values(columns: Mapping[str, Any], place: int) -> Any:
    found = {name: values[place] for name, values in columns.items()}
    return next(iter(found.values())) if len(found) == 1 else found
