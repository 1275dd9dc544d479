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
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import PlanError
from dpnb.inference.spread import normal_quantile
from dpnb.planner import Ask, BatchPlan, Item, PricedQuestion, QueryPlan, price
from dpnb.planner.expression import Ref
from dpnb.simulate.design import Loss, levels_of, losses_of, reps_of, seed_of, sizes_of
from dpnb.simulate.populations import Codes, Population, population
from dpnb.simulate.regression_result import RegressionRow, RegressionStudy
from dpnb.simulate.studies import released
from dpnb.statistics.formula import Formula, parse
from dpnb.statistics.regression_readings import Fitted, coefficients
from dpnb.statistics.result import Read
from dpnb.trusted.aggregate.reference import Evaluator, Table
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Schema

Floats = NDArray[np.float64]
_MANY = 200_000


def regression_coverage(  # noqa: PLR0913 - a study has this many facts
    formula: str,
    source: Any,
    n: Any = None,
    losses: Any = 1,
    reps: int = 200,
    rng: Any = 1,
    *,
    level: float = 0.95,
    adjacency: str = "change-one",
    radius: float | None = None,
    **columns: Any,
) -> RegressionStudy:
    """Simulate studies, release their moments, regress, and count how often each interval holds the truth.

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
    adjacency: str
    radius: float | None

    def priced(self, n: int, loss: Loss) -> PricedQuestion:
        """Return the moments of the formula's columns, priced."""
        return _priced(self, n, loss)

    def rows(
        self, n: int, reps: int, rng: np.random.Generator, parameter: Floats | None
    ) -> Iterator[RegressionRow]:
        """Simulate one size: the same studies for every loss."""
        items = [self.priced(n, loss) for loss in self.losses]
        reads = [coefficients(item.checked.setting, self.formula.text) for item in items]
        judged: list[list[_Judged]] = [[] for _ in items]
        for _ in range(reps):
            table = Table(self.population.draw(rng, 1, n), n)
            truth = _exact(self.formula, items[0], table)
            for item, read, found in zip(items, reads, judged, strict=True):
                fitted = _fitted(read, item, table, rng)
                found.append(_Judged.of(fitted, self.level, truth, parameter))
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
        return _exact(self.formula, item, Table(codes, _MANY))


def _priced(design: _Design, n: int, loss: Loss) -> PricedQuestion:
    unit = PrivacyUnit(cast("Any", design.adjacency), rows=n if design.adjacency == "change-one" else None)
    budget = Budget.from_toml({loss.kind: 10**6})
    where = Schema("simulated", "Simulated", design.population.columns, unit, budget)
    options: Any = () if design.radius is None else (("radius", design.radius),)
    first, *others = (Ref(name) for name in design.formula.columns)
    question = QueryPlan("simulated", "moments", first, options=options, others=tuple(others))
    ask = Ask(**{loss.kind: loss.amount})  # type: ignore[arg-type]
    batch = BatchPlan("simulated", where.version, (Item(question),), ask)
    return price(batch, where).items[0]


@dataclass(frozen=True, slots=True)
class _Judged:
    """One study: which intervals held their truth, their half-widths, and the errors of the estimates."""

    held: dict[str, NDArray[np.bool_]]
    widths: dict[str, Floats]
    errors: Floats

    @classmethod
    def of(cls, fitted: Fitted, level: float, truth: Floats, parameter: Floats | None) -> _Judged:
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
        slack = 1e-9
        held = {name: (low - slack <= t) & (t <= high + slack) for name, (low, high, t) in ends.items()}
        widths = {name: np.asarray((high - low) / 2) for name, (low, high, _) in ends.items()}
        return cls(held, widths, value - (truth if parameter is None else parameter))


def _of_term(found: list[_Judged], place: int, n: int, loss: Loss, term: str) -> list[RegressionRow]:
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


def _fitted(read: Read, item: PricedQuestion, table: Table, rng: np.random.Generator) -> Fitted:
    found = read.conclude([released(item, table, rng)])
    assert isinstance(found, Fitted)
    return found


def _exact(asked: Formula, item: PricedQuestion, table: Table, weights: Floats | None = None) -> Floats:
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
