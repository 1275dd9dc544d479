"""The figure of a bench: what the attack recovers from each publication at one ε, and along ε from one of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpnb.audit.attacks.publications import Bench, Publication

_ACCENT, _INK, _SOFT = "#0a6480", "#1c1d21", "#5b5e66"


def bench_figure(found: Bench, epsilon: float, key: str) -> Any:
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


def _bars(axes: Any, found: Bench, epsilon: float) -> None:
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


def _curve(axes: Any, found: Bench, chosen: Publication, epsilon: float) -> None:
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
            label="most that ε lets through",
        )
    axes.axvline(epsilon, color=_SOFT, linewidth=1)
    axes.set_xscale("log")
    axes.set_ylim(0, 104)
    axes.set_title(chosen.label, fontsize=10)
    axes.set_xlabel(f"ε, for {found.loss}", color=_SOFT)
