"""The coverage of regressions read from released moments, over many studies and losses, beside intervals that ignore the noise.

A study is drawn from a population of several columns, its moments are priced, noised by the mechanisms' simulators and read by the
same code as a release. It takes arrays and refuses handles; nothing in it is private.

References
----------
Ferrando, Wang & Sheldon, *Parametric bootstrap for differentially private confidence intervals* (2022).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import OptionError, PlanError
from dpnb.estimate.table import Table, table_of_rows
from dpnb.inference.spread import normal_quantile
from dpnb.planner import PricedQuestion, Question
from dpnb.planner.expression import Ref
from dpnb.simulate.design import Loss, Losses, Sizes, levels_of, losses_of, priced, reps_of, seed_of, sizes_of
from dpnb.simulate.figure import LOOKS, curve_of, draw_coverage
from dpnb.simulate.populations import Codes, Floats, Population, Seed, Source, population
from dpnb.simulate.studies import released
from dpnb.simulate.tally import holds, share, wilson
from dpnb.statistics.formula import Formula, parse
from dpnb.statistics.regression_readings import Fitted, coefficients
from dpnb.statistics.result import Read
from dpnb.trusted.aggregate.reference import Evaluator
from dpnb.trusted.aggregate.reference import Table as Rows
from dpnb.trusted.privacy.unit import Adjacency

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MANY = 200_000


def regression_coverage(  # noqa: PLR0913 - a study has this many facts
    formula: str,
    source: Source,
    n: Sizes = None,
    losses: Losses = 1,
    reps: int = 200,
    rng: Seed = 1,
    *,
    level: float = 0.95,
    adjacency: Adjacency = "change-one",
    radius: float | None = None,
    **columns: Any,
) -> RegressionStudy:
    """Simulate studies, release their moments, fit regressions, and count how often each interval contains the truth.

    Parameters
    ----------
    formula : str
        For example ``"y ~ x1 + x2"``.
    source : Population, mapping of arrays, or callable
        Where rows come from; see :func:`dpnb.simulate.population`.
    n : int or list of int
        Rows of a study.
    losses : number, list, or mapping
        Values of ε; or ``{"rho": [...]}``. Floats are rounded to six significant digits, as in :func:`dpnb.simulate.coverage`.
    reps : int
        Studies of each size, the same for every loss.
    rng : int
        The seed.
    level : float
        Of the intervals.
    adjacency : {"change-one", "add-remove"}
        What a neighbour is.
    radius : float, optional
        As in ``ds.moments(…, radius=)``.
    **columns
        ``columns=`` of the population, where it has none of its own.

    Returns
    -------
    RegressionStudy
        The *privacy* interval is judged by the study's own regression, the others by the population's. *naive* takes the
        sampling error alone, as if nothing had been noised.

    Examples
    --------
    >>> import numpy as np
    >>> from dpnb.trusted.schema import Column
    >>> x = np.random.default_rng(1).uniform(-1, 1, 500)
    >>> table = {"x": x, "y": np.clip(0.5 * x + 0.1 * np.sin(9 * x), -1, 1)}
    >>> grid = [Column.number("x", -1, 1), Column.number("y", -1, 1)]
    >>> found = regression_coverage("y ~ x", table, n=400, losses=5, reps=20, columns=grid)
    >>> [row.interval for row in found][:3]
    ['privacy', 'confidence', 'naive']
    """
    asked, made = parse(formula), population(source, **columns)
    missing = set(asked.columns) - {column.name for column in made.columns}
    if missing:
        names = ", ".join(column.name for column in made.columns)
        raise PlanError(
            f"{', '.join(sorted(missing))} is not a column of this population, which has {names}."
        )
    design = _Design(asked, made, losses_of(losses), levels_of(level)[0], adjacency, radius)
    generator, reps = np.random.default_rng(seed_of(rng)), reps_of(reps)
    parameter = None if made.size is not None else design.parameter()
    rows = [row for size in sizes_of(n, made) for row in design.rows(size, reps, generator, parameter)]
    return RegressionStudy(asked.text, design.level, tuple(rows))


@dataclass(frozen=True, slots=True)
class _Design:
    """What is simulated."""

    formula: Formula
    population: Population
    losses: tuple[Loss, ...]
    level: float
    adjacency: Adjacency
    radius: float | None

    def priced(self, n: int, loss: Loss) -> PricedQuestion:
        """Return the moments of the formula's columns, priced."""
        options: Any = () if self.radius is None else (("radius", self.radius),)
        first, *others = (Ref(name) for name in self.formula.columns)
        question = Question("simulated", "moments", first, options=options, others=tuple(others))
        return priced(question, self.population.columns, self.adjacency, n, loss)

    def rows(
        self, n: int, reps: int, rng: np.random.Generator, parameter: Floats | None
    ) -> Iterator[RegressionRow]:
        """Simulate one size: the same studies for every loss."""
        items = [self.priced(n, loss) for loss in self.losses]
        reads = [coefficients(item.checked.setting, self.formula.text) for item in items]
        judged: list[list[_Study]] = [[] for _ in items]
        for _ in range(reps):
            table = Rows(self.population.draw(rng, 1, n), n)
            truth = _exact(self.formula, items[0], table)
            for item, read, found in zip(items, reads, judged, strict=True):
                fitted = _fitted(read, item, table, rng)
                found.append(_Study.of(fitted, self.level, truth, parameter))
        for loss, found in zip(self.losses, judged, strict=True):
            for place, term in enumerate(self.formula.coefficients):
                yield from _of_term(found, place, n, loss, term)

    def parameter(self) -> Floats:
        """The regression of the population: of its law where that is known, else of a large sample of it."""
        item = self.priced(_MANY, self.losses[0])
        law = self.population.law()
        if law is not None:
            return _exact(self.formula, item, law[0], np.asarray(law[1]))
        codes: Codes = self.population.draw(np.random.default_rng(0), 1, _MANY)
        return _exact(self.formula, item, Rows(codes, _MANY))


@dataclass(frozen=True, slots=True)
class _Study:
    """One study: which intervals held their truth, their half-widths, and the errors of the estimates."""

    held: dict[str, NDArray[np.bool_]]
    widths: dict[str, Floats]
    errors: Floats

    @classmethod
    def of(cls, fitted: Fitted, level: float, truth: Floats, parameter: Floats | None) -> _Study:
        """Judge one release."""
        value = np.asarray(fitted.values)
        privacy = fitted.interval(level, "privacy")
        ends = {"privacy": (privacy.low, privacy.high, truth)}
        if parameter is not None:
            confidence = fitted.interval(level, "confidence")
            assert fitted.sampling is not None
            half = normal_quantile(0.5 + level / 2) * np.sqrt(fitted.sampling)
            ends["confidence"] = (confidence.low, confidence.high, parameter)
            ends["naive"] = (value - half, value + half, parameter)
        held = {name: holds(*one) for name, one in ends.items()}
        widths = {name: np.asarray((high - low) / 2) for name, (low, high, _) in ends.items()}
        return cls(held, widths, value - (truth if parameter is None else parameter))


def _of_term(found: list[_Study], place: int, n: int, loss: Loss, term: str) -> list[RegressionRow]:
    rows, errors = [], np.array([one.errors[place] for one in found])
    for interval in found[0].held:
        widths = np.array([one.widths[interval][place] for one in found])
        rows.append(
            RegressionRow(
                n,
                loss,
                term,
                interval,
                sum(bool(one.held[interval][place]) for one in found),
                len(found),
                int(np.isinf(widths).sum()),
                float(np.sort(widths)[len(widths) // 2]),
                float(np.median(np.abs(errors))),
                float(errors.mean()),
                float(errors.std(ddof=1)) if len(errors) > 1 else math.nan,
            )
        )
    return rows


def _fitted(read: Read, item: PricedQuestion, table: Rows, rng: np.random.Generator) -> Fitted:
    found = read.conclude([released(item, table, rng)])
    assert isinstance(found, Fitted)
    return found


def _exact(asked: Formula, item: PricedQuestion, table: Rows, weights: Floats | None = None) -> Floats:
    """The regression of the rows themselves, those with a missing value left out."""
    setting, evaluate = item.checked.setting, Evaluator(table)
    columns = {
        name: (evaluate.ints(number.code), float(number.offset), float(number.step))
        for name, number in zip(setting.names, setting.numbers, strict=True)
    }
    kept = np.logical_and.reduce([ints.known for ints, _, _ in columns.values()])
    values = {name: offset + step * ints.values[kept] for name, (ints, offset, step) in columns.items()}
    root = np.ones(int(kept.sum())) if weights is None else np.sqrt(weights[kept])
    constant = [np.ones(len(root))] if asked.intercept else []
    design = np.column_stack([*constant, *(values[term] for term in asked.terms)])
    return np.asarray(np.linalg.lstsq(design * root[:, None], values[asked.response] * root, rcond=None)[0])


@dataclass(frozen=True, slots=True)
class RegressionRow:
    """How often one interval of one coefficient contained the truth, at one size and loss.

    Parameters
    ----------
    n : int
        Rows of a study.
    loss : Loss
        What was spent.
    term, interval : str
        Which coefficient, which interval.
    hits, studies : int
        Intervals that held their truth, of how many.
    unbounded : int
        How many were unbounded, because noise could have made the matrix singular.
    half_width : float
        The median half-width; infinite where most are unbounded.
    error : float
        The median absolute error of the estimate about its truth: the population's coefficient, or that of a fixed study's
        own rows.
    bias, sd : float
        The mean error of the estimate about the same truth, and the standard deviation of its errors. A bias is known to
        about ``sd / sqrt(studies)``; both are of all studies, so that one nearly singular matrix can make them large.
    """

    n: int
    loss: Loss
    term: str
    interval: str
    hits: int
    studies: int
    unbounded: int
    half_width: float
    error: float
    bias: float
    sd: float

    @property
    def coverage(self) -> float:
        """The share of intervals that contained the truth."""
        return self.hits / self.studies

    @property
    def band(self) -> tuple[float, float]:
        """Wilson's 95 % interval for the coverage."""
        low, high = wilson(self.hits, self.studies)
        return float(low), float(high)


@dataclass(frozen=True, slots=True, repr=False)
class RegressionStudy:
    """The rows of a coverage study of a regression; prints as a table, iterates over its rows.

    Parameters
    ----------
    formula : str
        What was regressed.
    level : float
        The level that the intervals claim.
    rows : tuple of RegressionRow
        One for each size, loss, coefficient and interval.
    """

    formula: str
    level: float
    rows: tuple[RegressionRow, ...]

    def __iter__(self) -> Iterator[RegressionRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        lines = [f"coverage of {100 * self.level:g} % intervals of {self.formula}"]
        lines.append(
            f"{'n':>8} {'loss':>10}  {'term':<14}{'interval':<12}{'coverage':>9}{'band':>16}{'half-width':>12}{'unbounded':>11}"
        )
        for row in self.rows:
            band = "–".join(f"{100 * end:.1f}" for end in row.band)
            lines.append(
                f"{row.n:>8,} {row.loss!s:>10}  {row.term:<14}{row.interval:<12}{100 * row.coverage:>9.1f}{band:>16}"
                f"{row.half_width:>12.3g}{row.unbounded:>11}"
            )
        return "\n".join(lines)

    __repr__ = __str__

    def table(self) -> Table:
        """Return one row for each size, loss, coefficient and interval.

        Notes
        -----
        ``coverage`` with its 95 % Wilson band ``low`` to ``high``; ``half_width``, the median; ``unbounded``, the share of
        studies whose interval has no ends; ``bias`` and ``sd`` of the estimate, and its median absolute ``error``.
        """
        return table_of_rows([_record(row) for row in self.rows])

    def of(self, term: str, interval: str) -> tuple[RegressionRow, ...]:
        """Return the rows of one coefficient and interval."""
        found = tuple(row for row in self.rows if (row.term, row.interval) == (term, interval))
        if not found:
            raise OptionError(f"This study has no {interval} interval of {term}.")
        return found

    def plot(self, term: str | None = None) -> Figure:
        """Return a figure of the coverage of one coefficient against the loss, with Wilson bands."""
        from matplotlib.figure import Figure

        shown, curves = term or self.rows[-1].term, []
        for interval in dict.fromkeys(row.interval for row in self.rows):
            rows = self.of(shown, interval)
            counts = np.array([(row.studies, row.hits, np.nan) for row in rows], dtype=float).T
            losses = [float(row.loss.amount) for row in rows]
            curves.append(curve_of(interval, interval, (*LOOKS[interval], 0), losses, counts))
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        axes = figure.subplots()
        draw_coverage(axes, curves, (self.level,))
        axes.set_xscale("log")
        axes.set_xlabel(f"{self.rows[0].loss.kind} of the moments")
        axes.set_ylabel(f"coverage of {100 * self.level:g} % intervals of {shown}")
        axes.legend(frameon=False, fontsize=9)
        return figure


def _record(row: RegressionRow) -> dict[str, object]:
    return {
        "n": row.n,
        row.loss.kind: float(row.loss.amount),
        "term": row.term,
        "interval": row.interval,
        **share(row.hits, row.studies),
        "half_width": row.half_width,
        "unbounded": row.unbounded / row.studies,
        "bias": row.bias,
        "sd": row.sd,
        "error": row.error,
    }
