"""The coverage study of the private bootstrap, over studies and resamples at once: published intervals beside corrected ones.

A study is ``n`` rows drawn from a population on a grid; its resamples come from their exact law (:mod:`dpnb.inference.resampling`)
and their noise from a seeded generator. It takes arrays and refuses handles. Nothing in it is private: it shows what the
published noise covers (``inflation=1``) and what the provable noise does. For one seed the studies are those of
:func:`dpnb.simulate.coverage`: the two stand side by side.

References
----------
Brawner and Honaker (2018), "Bootstrap Inference and Differential Privacy: Standard Errors for Free", section 8 and Figure 7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from dpnb.errors import OptionError
from dpnb.inference.bootstrap import Kind
from dpnb.simulate.design import reps_of, seed_of
from dpnb.simulate.populations import Population, resampled
from dpnb.simulate.resampling import BootstrapDesign, IntervalKind, Resampled, begun, mean_of, stepped

_COLOURS = ("#b3471d", "#0a6480", "#5b5e66", "#7a5195")


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """How often one kind of interval holds the population's mean, and how wide it is.

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
    tallies : dict of (int, str) to Resampled
        What was counted so far, for each k and kind.
    """

    design: BootstrapDesign
    tallies: dict[tuple[int, str], Resampled]

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
        """Return the call that reproduces the result; a population that was handed over is named, not written out."""
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

    def plot(self) -> Any:
        """Return a figure of coverage and half-width against k, published (dotted) and corrected."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8.4, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        for colour, kind in zip(_COLOURS, dict.fromkeys(row.kind for row in self.rows), strict=False):
            rows = [row for row in self.rows if row.kind == kind]
            ks = [row.k for row in rows]
            left.plot(ks, [row.corrected for row in rows], "o-", color=colour, label=kind, markersize=4)
            right.plot(ks, [row.corrected_width for row in rows], "o-", color=colour, markersize=4)
            if rows[0].published is not None:
                left.plot(ks, [row.published for row in rows], ":", color=colour)
                right.plot(ks, [row.published_width for row in rows], ":", color=colour)
        left.axhline(self.level, color="#1c1d21", linewidth=0.8)
        left.set_ylabel(f"coverage of {100 * self.level:g} % intervals")
        right.set_ylabel("mean half-width")
        for axes in (left, right):
            axes.set_xscale("log")
            axes.set_xlabel("resamples k")
        left.legend(frameon=False, fontsize=9)
        return figure


def bootstrap_coverage(source: Any, rng: Any, **asked: Any) -> BootstrapStudy:
    """Simulate studies, bootstrap each with noise, and count how often the intervals hold the population's mean.

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
    source: Any,
    rng: Any,
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
    return BootstrapStudy(design, begun(design))


def _running(found: BootstrapStudy) -> Iterator[BootstrapStudy]:
    while not found.complete:
        found = replace(found, tallies=stepped(found.design, found.tallies, found.studies)[0])
        yield found


def _population(source: Any, bounds: tuple[float, float] | None) -> Population:
    """Return the population of a study, of one number without missing values."""
    if hasattr(source, "law") and hasattr(source, "columns"):
        mean_of(source)
        found: Population = source
        return found
    values = np.asarray(source)
    if values.ndim != 1 or values.size == 0 or (values != np.rint(values)).any():
        raise OptionError(
            "The values are one list of whole numbers; put others on their grid: simulate.resampled(x, lower=…, upper=…)."
        )
    if bounds is None or not bounds[0] < bounds[1]:
        raise OptionError("Bounds are public and never taken from the data: give bounds=(lower, upper).")
    return resampled(values, lower=bounds[0], upper=bounds[1], step=1)


def _row(k: int, kind: IntervalKind, found: Resampled) -> CoverageRow:
    many = found.studies
    corrected, half = found.held / many, found.width / many / 2
    if kind == "deconvolved":
        return CoverageRow(k, kind, None, corrected, None, half, many)
    published = found.published / many, found.published_width / many / 2
    return CoverageRow(k, kind, published[0], corrected, published[1], half, many)
