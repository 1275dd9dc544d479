"""What a coverage simulation found, so far or in the end: shares with their own Wilson bands, widths, scores, warnings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpnb.estimate.table import Table, table_of_rows
from dpnb.planner.expression import Expr, Ref, show
from dpnb.simulate.design import Design
from dpnb.simulate.tally import IntervalCounts, Tally, share

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = 40


@dataclass(frozen=True, slots=True, eq=False)
class CoverageResult:
    """The result of :func:`dpnb.simulate.coverage`.

    Parameters
    ----------
    design : Design
        What was simulated.
    tallies : tuple of Tally
        One for each size of study.
    """

    design: Design
    tallies: tuple[Tally, ...]

    @property
    def complete(self) -> bool:
        """Whether all studies have been simulated."""
        return all(tally.studies >= self.design.reps for tally in self.tallies)

    @property
    def studies(self) -> int:
        """How many studies of each size there are so far."""
        return min(tally.studies for tally in self.tallies)

    def resume(self) -> Iterator[CoverageResult]:
        """Yield the results that follow, until all studies have been simulated."""
        from dpnb.simulate.coverage import running

        return running(self)

    @property
    def labels(self) -> tuple[str, ...]:
        """What the entries of an answer are called; one empty label for a single number."""
        axes = self.design.items(self.design.sizes[0])[0].checked.axes
        labels = [""]
        for axis in axes or ():
            labels = [f"{label} {axis.name} {key}".strip() for label in labels for key in axis.keys]
        return tuple(labels)

    def table(self) -> Table:
        """Return one row for each size, loss, entry, interval and level.

        Notes
        -----
        ``coverage`` with its 95 % Wilson band ``low`` to ``high``; ``width``, the mean width; ``without``, the share of
        studies that had no interval; ``standard_error``, its mean, and ``zero``, the share of them that are zero; ``n_eff``,
        the mean effective size; ``flagged``, the share of studies with a warning.
        """
        return table_of_rows(list(self._rows()))

    def _rows(self) -> Iterator[dict[str, object]]:
        labels = self.labels
        for n, tally in zip(self.design.sizes, self.tallies, strict=True):
            for (name, level), held in tally.held.items():
                for i, loss in enumerate(self.design.losses):
                    for j, label in enumerate(labels):
                        yield {
                            "n": n,
                            loss.kind: float(loss.amount),
                            **({"entry": label} if len(labels) > 1 else {}),
                            "interval": name,
                            "level": level,
                            "studies": int(held.studies[i, j]),
                            **share(float(held.held[i, j]), float(held.studies[i, j])),
                            "width": _share(held.width[i, j], held.studies[i, j]),
                            "without": float(1 - held.studies[i, j] / tally.studies),
                            **_figures(tally, i, j),
                        }

    def held(self, interval: str, level: float | None = None, n: int | None = None) -> IntervalCounts:
        """Return the counts of one interval: arrays of shape (losses, entries)."""
        tally = self.tallies[0 if n is None else self.design.sizes.index(n)]
        return tally.held[interval, self.design.levels[0] if level is None else level]

    def reasons(self) -> dict[str, str]:
        """Return why an interval was missing, by method."""
        return {
            name: held.reason
            for tally in self.tallies
            for (name, _), held in tally.held.items()
            if held.reason
        }

    def code(self) -> str:
        """Return the call that reproduces the result.

        A population or a function that you passed is named, not written out.
        """
        design, asked = self.design, self.design.question
        sizes = None if design.population.size is not None else list(design.sizes)
        losses = {
            kind: [_number(x.amount) for x in design.losses if x.kind == kind] for kind in _kinds(design)
        }
        named = {
            "n": sizes[0] if sizes is not None and len(sizes) == 1 else sizes,
            "losses": losses,
            "intervals": [method.name for method in design.methods],
            "reps": design.reps,
            "rng": design.seed,
            "levels": design.levels[0] if len(design.levels) == 1 else list(design.levels),
            "adjacency": asked["adjacency"],
            **asked["options"],
        }
        words = [repr(design.statistic), design.population.code]
        words += [f"{name}={value!r}" for name, value in named.items() if value is not None]
        words += _asked(design)
        return f"simulate.coverage({', '.join(words)})"

    def plot(self) -> Figure:
        """Return the figure: coverage with its Wilson bands, mean widths, densities of the z-scores."""
        from dpnb.simulate.figure import coverage_figure

        return coverage_figure(self)

    def describe(self) -> str:
        """Return in words what the figure shows: the text alternative."""
        from dpnb.simulate.figure import describe

        return describe(self)

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"<coverage of {self.design.statistic}: {self.studies:,} of {self.design.reps:,} studies>"


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else float("nan")


def _figures(tally: Tally, i: int, j: int) -> dict[str, float]:
    sums, nothing = tally.sums, np.zeros((1, 1))
    flagged = tally.flags.get("", nothing)
    return {
        "standard_error": _share(sums["error"][i, j], sums["error known"][i, j]),
        "zero": _share(sums["error zero"][i, j], sums["error known"][i, j]),
        "n_eff": _share(sums["n_eff"][i, j], sums["n_eff known"][i, j]),
        "bias": _share(sums["miss"][i, j], sums["miss known"][i, j]),
        "noise_sd": _share(sums["noise squared"][i, j], sums["noise known"][i, j]) ** 0.5,
        "flagged": float(flagged[min(i, len(flagged) - 1), min(j, flagged.shape[1] - 1)] / tally.studies),
    }


def _kinds(design: Design) -> tuple[str, ...]:
    return tuple(dict.fromkeys(loss.kind for loss in design.losses))


def _number(amount: Fraction) -> int | float | str:
    if amount.denominator == 1:
        return int(amount)
    return float(amount) if Fraction(repr(float(amount))) == amount else str(amount)


def _asked(design: Design) -> list[str]:
    """Return the arguments of a call that are expressions or functions, by name."""
    asked, words = design.question, []
    columns = design.population.columns
    if asked["column"] is not None and asked["column"] != Ref(columns[0].name):
        words.append(f"column={_expr(asked['column'])}")
    words += [f"other={_expr(asked['other'])}"] if asked["other"] is not None else []
    words += [f"by=[{', '.join(_expr(key) for key in asked['by'])}]"] if asked["by"] else []
    words += ["where=where"] if asked["where"] is not None else []
    words += ["truth=truth"] if design.truth is not None else []
    words += ["common=True"] if design.common else []
    words += ["counted=True"] if design.counted else []
    return words + ([f"parameter={design.parameter!r}"] if design.parameter is not None else [])


def _expr(expr: Expr) -> str:
    return repr(expr.column) if isinstance(expr, Ref) else show(expr, "simulated")
