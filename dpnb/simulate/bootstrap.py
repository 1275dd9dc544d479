"""The coverage study of the private bootstrap, over studies and resamples at once: published intervals beside corrected ones.

A study is ``n`` rows drawn from a population on a grid; its resamples come from their exact law (:mod:`dpnb.inference.resampling`)
and their noise from a seeded generator. It takes arrays and refuses handles. Nothing in it is private: it shows what the
published noise covers (``inflation=1``) and what the provable noise does. The rows of a block are those that
:func:`dpnb.simulate.coverage` draws for the same seed and size, so that the two stand side by side; resamples and noise depend on the
seed, the size, the block and k alone. However a study is cut, the finished result is the same to the bit.

References
----------
Brawner and Honaker (2018), "Bootstrap Inference and Differential Privacy: Standard Errors for Free", section 8 and Figure 7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from dpnb.errors import OptionError
from dpnb.inference.bootstrap import Bootstrap, Kind, deconvolved_interval
from dpnb.inference.resampling import noise_variance, resample_sums
from dpnb.simulate.design import block_of, reps_of, seed_of
from dpnb.simulate.figure import LOOKS, curve_of, two_panels
from dpnb.simulate.populations import Floats, Population, Seed, Source, is_population, resampled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

IntervalKind = Kind | Literal["deconvolved"]
KINDS: tuple[IntervalKind, ...] = (*get_args(Kind), "deconvolved")
_DATA, _RESAMPLES = 0, 3
_FEWEST = 10


@dataclass(frozen=True, slots=True, eq=False)
class BootstrapDesign:
    """Everything that determines a bootstrap study, to the bit.

    Parameters
    ----------
    population : Population
        Of one number without missing values.
    n : int
        Rows of a study.
    rho : float
        The ρ to which the resamples of a study are calibrated.
    ks : tuple of int
        Numbers of resamples.
    kinds : tuple of str
        Readings of the spread.
    level, inflation : float
        What the intervals claim, and the factor on the published noise.
    simulations, seed : int
        How many studies, and the seed of everything drawn.
    """

    population: Population
    n: int
    rho: float
    ks: tuple[int, ...]
    kinds: tuple[IntervalKind, ...]
    level: float
    inflation: float
    simulations: int
    seed: int

    def __post_init__(self) -> None:
        if not self.ks or min(self.ks) < 2 or len(set(self.ks)) != len(self.ks):
            raise OptionError("ks= names numbers of resamples, each at least 2 and each once.")
        if not self.kinds or not set(self.kinds) <= set(KINDS):
            raise OptionError(f"kinds= names at least one of {', '.join(KINDS)}.")
        if "deconvolved" in self.kinds and min(self.ks) < _FEWEST:
            raise OptionError("A deconvolved interval needs at least 10 resamples.")
        if not 0 < self.level < 1:
            raise OptionError(f"A level lies between 0 and 1, not {self.level}.")
        for k in self.ks:
            self.variance(k)

    def variance(self, k: int) -> float:
        """Return the variance of the noise on one of k resamples."""
        low, high = self.population.columns[0].bounds
        return noise_variance(float(high - low) / self.n, self.rho, k, self.inflation)


@dataclass(frozen=True, slots=True)
class KindTally:
    """What was counted of one k and kind: studies, intervals that held the mean, and sums of their widths."""

    studies: int = 0
    held: float = 0.0
    width: float = 0.0
    published: float = 0.0
    published_width: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """The intervals of a block of studies, of one k and kind, as they were published (deconvolved ones as they are)."""

    low: Floats
    high: Floats
    truth: float
    estimate: Floats


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """How often one kind of interval contains the population's mean, and how wide it is.

    Parameters
    ----------
    k : int
        Resamples.
    kind : str
        Which reading of the spread.
    published, corrected : float
        Coverage without and with the error of a finite number of resamples; nothing published for the deconvolved interval.
    published_width, corrected_width : float
        Mean half-widths.
    simulations : int
        Studies behind the row; a coverage p has standard error √(p(1-p)/simulations).
    """

    k: int
    kind: IntervalKind
    published: float | None
    corrected: float
    published_width: float | None
    corrected_width: float
    simulations: int

    @property
    def standard_error(self) -> float:
        """Monte Carlo standard error of the corrected coverage."""
        return float((self.corrected * (1 - self.corrected) / self.simulations) ** 0.5)


@dataclass(frozen=True, slots=True, repr=False)
class BootstrapStudy:
    """The rows of a coverage study, one for each k and kind; iterates over them.

    Parameters
    ----------
    design : BootstrapDesign
        What is simulated.
    tallies : dict of (int, str) to KindTally
        What was counted so far, for each k and kind.
    """

    design: BootstrapDesign
    tallies: dict[tuple[int, str], KindTally]

    @property
    def rows(self) -> tuple[CoverageRow, ...]:
        """Coverages and half-widths; none before the first studies."""
        return tuple(
            _row(k, kind, self.tallies[k, kind])
            for k in self.design.ks
            for kind in self.design.kinds
            if self.studies
        )

    @property
    def studies(self) -> int:
        """How many studies there are so far."""
        return min(tally.studies for tally in self.tallies.values())

    @property
    def complete(self) -> bool:
        """Whether all studies have been simulated."""
        return self.studies >= self.design.simulations

    @property
    def level(self) -> float:
        """What the intervals claim."""
        return self.design.level

    @property
    def inflation(self) -> float:
        """Factor on the published noise."""
        return self.design.inflation

    def resume(self) -> Iterator[BootstrapStudy]:
        """Yield the results that follow, until all studies have been simulated."""
        return _running(self)

    def code(self) -> str:
        """Return the call that reproduces the result; a population that you passed is named, not written out."""
        design = self.design
        return (
            f"simulate.bootstrap_coverage({design.population.code}, {design.seed}, n={design.n}, rho={design.rho!r}, "
            f"ks={list(design.ks)}, simulations={design.simulations}, level={design.level!r}, "
            f"inflation={design.inflation!r}, kinds={list(design.kinds)})"
        )

    def __iter__(self) -> Iterator[CoverageRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.design.ks) * len(self.design.kinds) if self.studies else 0

    def of(self, k: int, kind: IntervalKind) -> CoverageRow:
        """Return one row."""
        for row in self.rows:
            if (row.k, row.kind) == (k, kind):
                return row
        raise OptionError(f"This study has no {kind} interval at k = {k}.")

    def __str__(self) -> str:
        lines = [f"coverage of {100 * self.level:g} % intervals, noise × {self.inflation:g} the published"]
        lines.append(
            f"{'k':>5}  {'interval':<18}{'published':>10}{'corrected':>11}{'± (95 %)':>10}{'half-width':>12}"
        )
        for row in self.rows:
            published = "–" if row.published is None else f"{100 * row.published:.1f}"
            lines.append(
                f"{row.k:>5}  {row.kind:<18}{published:>10}{100 * row.corrected:>11.1f}"
                f"{196 * row.standard_error:>10.1f}{row.corrected_width:>12.4g}"
            )
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self) -> Figure:
        """Return a figure of coverage and mean width against k, published (dotted) and corrected."""
        ks, curves = list(self.design.ks), []
        for kind in self.design.kinds:
            tallies = [self.tallies[k, kind] for k in ks]
            colour, marker, line = LOOKS[kind]
            counts = np.array([(one.studies, one.held, one.width) for one in tallies], dtype=float).T
            curves.append(curve_of(kind, kind, (colour, marker, line, 0), ks, counts))
            if kind != "deconvolved":
                counts = np.array([(one.studies, one.published, one.published_width) for one in tallies]).T
                label = f"_{kind}, as published"
                curves.append(curve_of(kind, label, (colour, marker, ":", 1), ks, counts))
        figure, panels = two_panels(curves, (self.level,), "resamples k")
        for axes in panels:
            axes.set_xscale("log")
        return figure


def bootstrap_coverage(source: Source, rng: Seed, **asked: Any) -> BootstrapStudy:
    """Simulate studies, bootstrap each with noise, and count how often the intervals contain the population's mean.

    Parameters
    ----------
    source : Population, or array_like of int
        Where rows come from: a population of :mod:`dpnb.simulate` with one column and a known law, or values on a grid of whole
        numbers, drawn with replacement.
    rng : int or numpy.random.Generator
        The seed.
    **asked
        ``bounds=(lower, upper)``, the public bounds that scale the noise (a population brings its own); ``n=500`` rows of a
        study; ``rho=0.5``, what the resamples of a study are calibrated to; ``ks=(10, 25, 50, 100, 200)``, numbers of
        resamples; ``simulations=500`` studies, the same for every k; ``level=0.95`` of the intervals; ``inflation=1``, a factor
        on the noise, 1 being the published mechanism; ``kinds``, readings of the spread, and ``"deconvolved"``.

    Returns
    -------
    BootstrapStudy
        Prints as a table; one row for each k and kind.

    Notes
    -----
    To compare with the mean that buys its second moment, on the same studies and at the same ρ:
    ``simulate.coverage("mean", source, n=500, losses={"rho": 0.5}, rng=1)``.

    Examples
    --------
    >>> rows = bootstrap_coverage(np.arange(10), 0, bounds=(0, 9), n=50, ks=[20], simulations=50)
    >>> [row.kind for row in rows]
    ['unbiased', 'conservative', 'most conservative']
    """
    *_, found = bootstrap_stream(source, rng, **asked)
    return found


def bootstrap_stream(  # noqa: PLR0913 - a study has this many facts
    source: Source,
    rng: Seed,
    *,
    bounds: tuple[float, float] | None = None,
    n: int = 500,
    rho: float = 0.5,
    ks: Sequence[int] = (10, 25, 50, 100, 200),
    simulations: int = 500,
    level: float = 0.95,
    inflation: float = 1.0,
    kinds: Sequence[IntervalKind] = get_args(Kind),
) -> Iterator[BootstrapStudy]:
    """Yield partial results of :func:`bootstrap_coverage`, the last of which is complete; bad input is refused at once."""
    if n < 2:
        raise OptionError("n must be at least 2.")
    design = BootstrapDesign(
        _population(source, bounds),
        int(n),
        float(rho),
        tuple(int(k) for k in ks),
        tuple(kinds),
        float(level),
        float(inflation),
        reps_of(simulations),
        seed_of(rng),
    )
    return _running(begun_study(design))


def begun_study(design: BootstrapDesign) -> BootstrapStudy:
    """Return the study of which nothing is simulated yet; see :meth:`BootstrapStudy.resume`."""
    return BootstrapStudy(design, {(k, kind): KindTally() for k in design.ks for kind in design.kinds})


def _running(found: BootstrapStudy) -> Iterator[BootstrapStudy]:
    while not found.complete:
        found = replace(found, tallies=stepped(found.design, found.tallies, found.studies)[0])
        yield found


def _population(source: Source, bounds: tuple[float, float] | None) -> Population:
    """Return the population of a study, of one number without missing values."""
    if is_population(source):
        mean_of(source)
        return source
    values = np.asarray(source)
    if values.ndim != 1 or values.size == 0 or (values != np.rint(values)).any():
        raise OptionError(
            "The values are one list of whole numbers; put others on their grid: simulate.resampled(x, lower=…, upper=…)."
        )
    if bounds is None or not bounds[0] < bounds[1]:
        raise OptionError("Bounds are public and never taken from the data: give bounds=(lower, upper).")
    return resampled(values, lower=bounds[0], upper=bounds[1], step=1)


def _row(k: int, kind: IntervalKind, found: KindTally) -> CoverageRow:
    many = found.studies
    corrected, half = found.held / many, found.width / many / 2
    if kind == "deconvolved":
        return CoverageRow(k, kind, None, corrected, None, half, many)
    published = found.published / many, found.published_width / many / 2
    return CoverageRow(k, kind, published[0], corrected, published[1], half, many)


def stepped(
    design: BootstrapDesign, tallies: dict[tuple[int, str], KindTally], done: int
) -> tuple[dict[tuple[int, str], KindTally], dict[tuple[int, str], Intervals]]:
    """Return the tallies with one more block of studies, and the block's intervals."""
    size, n = block_of(design.n), design.n
    count, place = min(size, design.simulations - done), done // size
    column = design.population.columns[0]
    codes = design.population.draw(np.random.default_rng((design.seed, _DATA, n, place)), count, n)[
        column.name
    ]
    if not codes.known.all():
        raise OptionError("A bootstrap study needs a population without missing values.")
    places = codes.values.reshape(count, n) + column.size * np.arange(count)[:, None]
    counts = np.bincount(places.ravel(), minlength=column.size * count).reshape(count, column.size)
    low, step, truth = float(column.bounds[0]), float(column.step or 1), mean_of(design.population)
    found = dict(tallies)
    seen: dict[tuple[int, str], Intervals] = {}
    for k in design.ks:
        rng = np.random.default_rng((design.seed, _RESAMPLES, n, place, k))
        variance = design.variance(k)
        means = low + step * resample_sums(counts, k, rng) / n
        made = Bootstrap(means + variance**0.5 * rng.standard_normal(means.shape), variance)
        for kind in design.kinds:
            found[k, kind], seen[k, kind] = _counted(made, kind, truth, design.level, found[k, kind])
    return found, seen


def _counted(
    made: Bootstrap, kind: IntervalKind, truth: float, level: float, before: KindTally
) -> tuple[KindTally, Intervals]:
    if kind == "deconvolved":
        published = corrected = deconvolved_interval(made, level)
    else:
        published, corrected = made.interval(level, kind, published=True), made.interval(level, kind)
    after = KindTally(
        before.studies + made.estimate.size,
        before.held + _inside(corrected, truth),
        before.width + float(np.sum(corrected[1] - corrected[0])),
        before.published + _inside(published, truth),
        before.published_width + float(np.sum(published[1] - published[0])),
    )
    return after, Intervals(published[0], published[1], truth, made.estimate)


def _inside(ends: tuple[Floats, Floats], truth: float) -> float:
    return float(np.sum((ends[0] <= truth) & (truth <= ends[1])))


def mean_of(source: Population) -> float:
    """Return the mean of a population of one number with a known law.

    Raises
    ------
    OptionError
        Where it has another shape, no law, or missing values.
    """
    law, column = source.law(), source.columns[0]
    if law is None or len(source.columns) != 1 or not column.numeric:
        raise OptionError(
            "A bootstrap study needs a population of one number with a known law, not a fixed study."
        )
    table, weights = law
    ints = table.columns[column.name]
    if not ints.known.all():
        raise OptionError("A bootstrap study needs a population without missing values.")
    low, step = float(column.bounds[0]), float(column.step or 1)
    return low + step * float(weights @ ints.values / weights.sum())
