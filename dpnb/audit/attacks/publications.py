"""A publication of a secret, a bench of several, and what they promise.

A publication holds the shares that an attack recovered from it. Where ε is paid, a bound stands beside them; rounding,
suppression and resampling promise nothing and have none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpnb.audit.attacks.result import AttackRow, made
from dpnb.audit.sampling import Floats
from dpnb.errors import OptionError
from dpnb.estimate.table import Table
from dpnb.risk.odds import posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FEWEST = 20
"""People that an attack on arrays of one's own needs, at least."""
NEAR = 0.05
"""An attack has fallen where it recovers at most this much more than guessing."""


@dataclass(frozen=True, slots=True)
class Publication:
    """One way to publish, and the result of the attack on it.

    Parameters
    ----------
    key, label, note : str
        Its name, what it is called, and what is published in one sentence.
    rows : tuple of AttackRow
        One; or one for each ε of the bench, where it has one.
    bound : callable or None
        The most that its ε promises to let through; None where nothing is promised.
    """

    key: str
    label: str
    note: str
    rows: tuple[AttackRow, ...]
    bound: Callable[[float], float] | None = None


@dataclass(frozen=True, slots=True)
class Bench:
    """An attack, its guessing baseline, and the publications that it was run against.

    Parameters
    ----------
    name, goal, guess, loss : str
        The attack, what it recovers and from what, what guessing means, and what ε pays for.
    epsilons : tuple of float
    baseline : float
        The share that guessing recovers.
    publications : tuple of Publication
    reps : int
        How often the attack was run, each time on new people.
    """

    name: str
    goal: str
    guess: str
    loss: str
    epsilons: tuple[float, ...]
    baseline: float
    publications: tuple[Publication, ...]
    reps: int = 1

    def falls(self, key: str) -> float | None:
        """The largest simulated ε up to which the attack is no better than guessing, within five points."""
        found = None
        for epsilon, row in zip(self.epsilons, self[key].rows, strict=True):
            if row.recovered > self.baseline + NEAR:
                break
            found = epsilon
        return found

    def share(self, key: str, epsilon: float) -> float:
        """The share recovered at an ε: the straight line over ln ε between two computed ones."""
        return self._read(epsilon, [row.recovered for row in self[key].rows])

    def error(self, key: str, epsilon: float) -> float:
        """The standard error of :meth:`share`, read in the same way."""
        return self._read(epsilon, [row.error for row in self[key].rows])

    def _read(self, epsilon: float, values: Sequence[float]) -> float:
        known = np.nan_to_num(np.asarray(values))
        return float(
            known[0] if known.size == 1 else np.interp(np.log(epsilon), np.log(self.epsilons), known)
        )

    def table(self) -> Table:
        """Return one row for each publication and, where it has one, each ε.

        Notes
        -----
        ``recovered`` with its standard error; ``guessing``, what guessing recovers; ``bound``, the most that ε lets
        through, or NaN where nothing is promised.
        """
        rows = [
            (one.label, epsilon, row.recovered, row.error, self.baseline, _bound(one, epsilon))
            for one in self.publications
            for epsilon, row in zip(
                self.epsilons if len(one.rows) > 1 else (math.nan,), one.rows, strict=True
            )
        ]
        names = ("published", "epsilon", "recovered", "error", "guessing", "bound")
        return Table(dict(zip(names, zip(*rows, strict=True), strict=True)))

    def figure(self, epsilon: float = 1.0, key: str = "dp") -> Figure:
        """Return the figure of the bench at an ε; see :func:`bench_figure`."""
        return bench_figure(self, epsilon, key)

    def __getitem__(self, key: str) -> Publication:
        for one in self.publications:
            if one.key == key:
                return one
        raise OptionError(
            f"unknown publication {key!r}; known: {', '.join(p.key for p in self.publications)}."
        )


def _bound(one: Publication, epsilon: float) -> float:
    return math.nan if one.bound is None else one.bound(epsilon)


def grid(low: float, high: float, count: int) -> tuple[float, ...]:
    """Return losses, evenly on a logarithmic scale, with two digits."""
    return tuple(float(f"{e:.2g}") for e in np.geomspace(low, high, count))


def shown(name: str, note: str, hits: NDArray[np.bool_] | Floats, baseline: float) -> Publication:
    """Return a publication without ε, from the successes against it."""
    return Publication(name, LABELS[name], note, (made(name, hits, baseline),))


LABELS = {"raw": "as it is", "rounded": "rounded", "suppressed": "suppressed", "resampled": "resampled"}


def lifted(baseline: float) -> Callable[[float], float]:
    """Return the largest probability that a guess can reach under ε."""
    return lambda epsilon: posterior(baseline, epsilon)


def private(rows: Sequence[AttackRow], note: str, bound: Callable[[float], float]) -> Publication:
    """Return the publication with ε."""
    return Publication("dp", "DP at ε", note, tuple(rows), bound)


_ACCENT, _INK, _SOFT = "#0a6480", "#1c1d21", "#5b5e66"


def bench_figure(found: Bench, epsilon: float, key: str) -> Figure:
    """Return a matplotlib figure of a bench.

    Parameters
    ----------
    found : Bench
    epsilon : float
        Where the bars stand; between two computed losses the straight line over ln ε is read.
    key : str
        Whose curve is drawn; one without ε has none, and that of the private publication is drawn.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    _bars(left, found, epsilon)
    chosen = found[key]
    _curve(right, found, chosen if len(chosen.rows) > 1 else found["dp"], epsilon)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    handles, names = right.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper left", ncols=3, frameon=False, fontsize=9)
    figure.supxlabel(f"{found.goal} {_times(found)}", fontsize=9, color=_SOFT)
    return figure


def _times(found: Bench) -> str:
    return "One repetition." if found.reps == 1 else f"{found.reps:,} repetitions."


def _bars(axes: Axes, found: Bench, epsilon: float) -> None:
    at = np.arange(len(found.publications))
    shares = [100 * found.share(one.key, epsilon) for one in found.publications]
    errors = [200 * found.error(one.key, epsilon) for one in found.publications]
    axes.barh(at, shares, height=0.6, color=_ACCENT, xerr=errors, ecolor=_INK, capsize=3)
    axes.axvline(100 * found.baseline, color=_INK, linestyle="--", linewidth=1.3)
    for place, one in enumerate(found.publications):
        if one.bound is not None:
            edge = 100 * one.bound(epsilon)
            axes.plot([edge, edge], [place - 0.4, place + 0.4], color=_INK, linewidth=2.5)
    axes.set_yticks(at, [one.label for one in found.publications])
    axes.invert_yaxis()
    axes.set_xlim(0, 104)
    axes.set_xlabel(f"share recovered at ε {epsilon:g}, %", color=_SOFT)


def _curve(axes: Axes, found: Bench, chosen: Publication, epsilon: float) -> None:
    shares = 100 * np.array([row.recovered for row in chosen.rows])
    errors = 200 * np.array([row.error for row in chosen.rows])
    axes.errorbar(
        found.epsilons, shares, yerr=errors, fmt="o-", color=_ACCENT, markersize=4, label="recovered"
    )
    axes.axhline(100 * found.baseline, color=_INK, linestyle="--", linewidth=1.3, label="guessing")
    if chosen.bound is not None:
        fine = np.geomspace(found.epsilons[0], found.epsilons[-1], 200)
        axes.plot(
            fine,
            [100 * chosen.bound(float(e)) for e in fine],
            ":",
            color=_INK,
            label="most that ε allows",
        )
    axes.axvline(epsilon, color=_SOFT, linewidth=1)
    axes.set_xscale("log")
    axes.set_ylim(0, 104)
    axes.set_title(chosen.label, fontsize=10)
    axes.set_xlabel(f"ε, for {found.loss}", color=_SOFT)
