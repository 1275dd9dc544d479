"""The publication figure of the coverage lab: what is on the screen, in matplotlib, which is imported when it is asked for.

Methods differ by colour, by marker and by line; a miss is a heavier line with a cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dpnb.simulate import wilson
from dpnb.simulate.figure import LOOKS, plain
from dpnb.widgets.coverage_run import LAST, StudyRun, SweepRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _SOFT, _HOLD, _MISS = "#1c1d21", "#5b5e66", "#0a6480", "#8a4600"


def studies_figure(run: StudyRun, shown: Sequence[str], title: str) -> Figure:
    """Return the figure of studies: the last intervals of each method, running coverage, errors and z-scores.

    Parameters
    ----------
    run : StudyRun
        Of which something is simulated.
    shown : sequence of str
        Its methods, in their order.
    title : str
        What is simulated.
    """
    from matplotlib.figure import Figure

    names = [name for name in shown if name in run.watches]
    many = max(len(names), 1)
    figure = Figure(figsize=(max(1.9 * many, 7.0), 9.8), layout="constrained")
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    grid = figure.add_gridspec(5, many, height_ratios=(2.2, 1.7, 1, 1, 1))
    reach = _reach(run, names)
    for place, name in enumerate(names):
        stack, errors, scores = (figure.add_subplot(grid[row, place]) for row in (0, 2, 3))
        _stack(stack, run, name, reach)
        _errors(errors, run, name, first=place == 0)
        _scores(scores, run, name, first=place == 0)
    _running(figure.add_subplot(grid[1, :]), run, names)
    _releases(figure.add_subplot(grid[4, :]), run)
    return figure


def sweep_figure(
    run: SweepRun, shown: Sequence[str], title: str, symbol: str, level: float, at: int
) -> Figure:
    """Return the figure of a sweep: coverage with its band, and mean width, with the cursor where it stands."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 3.9), layout="constrained")
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    left, right = figure.subplots(1, 2)
    found = run.to_json()
    rows = {row["name"]: row for row in found["rows"]}
    for name in (name for name in shown if name in rows):
        row, values = rows[name], found["values"]
        known = [i for i, share in enumerate(row["coverage"]) if share is not None]
        x = [values[i] for i in known]
        low, high = ([row[end][i] for i in known] for end in ("low", "high"))
        left.fill_between(x, low, high, color=_look(name)[0], alpha=0.13, linewidth=0)
        _line(left, name, x, [row["coverage"][i] for i in known])
        wide = [i for i in known if row["width"][i] is not None]
        _line(right, name, [values[i] for i in wide], [row["width"][i] for i in wide])
    left.axhline(level, color=_INK, linewidth=0.9, linestyle=(0, (2, 3)))
    left.set_title("coverage, with its 95 % Wilson band", fontsize=9, loc="left")
    right.set_title("mean width", fontsize=9, loc="left")
    for axes in (left, right):
        axes.axvline(found["values"][at], color=_SOFT, linewidth=0.8)
        axes.set_xscale("log")
        axes.set_xlabel(symbol, color=_SOFT)
        plain(axes, 8)
    right.set_yscale("log")
    left.legend(frameon=False, fontsize=8)
    return figure


def _look(name: str) -> tuple[str, str, str]:
    return LOOKS.get(name, (_SOFT, "o", "-"))


def _line(axes: Axes, name: str, x: ArrayLike, y: ArrayLike, *, marked: bool = True) -> None:
    colour, marker, line = _look(name)
    [drawn] = axes.plot(x, y, line, color=colour, linewidth=1.4, label=name)
    if marked:
        drawn.set(marker=marker, markersize=4)


def _reach(run: StudyRun, names: Sequence[str]) -> tuple[float, float]:
    """Return the ends that most of the last intervals lie within."""
    ends = [
        end[-_seen(run, name) :]
        for name in names
        for end in (run.watches[name].last.low, run.watches[name].last.high)  # type: ignore[union-attr]
    ]
    known = np.concatenate(ends)[np.isfinite(np.concatenate(ends))] if ends else np.empty(0)
    if not known.size:
        return 0.0, 1.0
    low, high = np.quantile(known, [0.02, 0.98])
    return float(low - 0.05 * (high - low)), float(high + 0.05 * (high - low))


def _seen(run: StudyRun, name: str) -> int:
    last = run.watches[name].last
    assert last is not None
    return min(LAST, last.low.size)


def _stack(axes: Axes, run: StudyRun, name: str, reach: tuple[float, float]) -> None:
    last, many = run.watches[name].last, _seen(run, name)
    assert last is not None
    low, high, truth, held = (part[-many:] for part in (last.low, last.high, last.truth, last.held))
    for place in range(many):
        colour, wide = (_HOLD, 0.9) if held[place] else (_MISS, 1.6)
        axes.plot([low[place], high[place]], [place, place], color=colour, linewidth=wide)
        if not held[place]:
            near = (
                low[place]
                if abs(low[place] - truth[place]) < abs(high[place] - truth[place])
                else high[place]
            )
            axes.plot([near], [place], "x", color=_MISS, markersize=4)
    axes.plot(truth, range(many), "|", color=_INK, markersize=3)
    axes.set_xlim(*reach)
    axes.invert_yaxis()
    axes.set_yticks([])
    axes.set_title(f"{name}\n{many - int(np.sum(held))} of the last {many} miss", fontsize=8, loc="left")
    plain(axes, 8)


def _running(axes: Axes, run: StudyRun, names: Sequence[str]) -> None:
    lowest = run.level - 0.05
    for name in names:
        trail = [point for point in run.watches[name].trail if point[1]]
        if not trail:
            continue
        studies, known, held = (np.array(part) for part in zip(*trail, strict=True))
        low, high = wilson(held, known)
        axes.fill_between(studies, low, high, color=_look(name)[0], alpha=0.13, linewidth=0)
        _line(axes, name, studies, held / known, marked=False)
        lowest = min(lowest, float(low[-1]))
    axes.axhline(run.level, color=_INK, linewidth=0.9, linestyle=(0, (2, 3)))
    axes.set_ylim(max(lowest - 0.03, 0), 1.005)
    axes.set_title("running coverage, with its 95 % Wilson band", fontsize=9, loc="left")
    axes.set_xlabel("studies", color=_SOFT)
    axes.legend(frameon=False, fontsize=8, ncols=5, loc="lower right")
    plain(axes, 8)


def _errors(axes: Axes, run: StudyRun, name: str, *, first: bool) -> None:
    found = run.watches[name].to_json()
    step = run.top / len(found["errors"])
    axes.bar(np.arange(len(found["errors"])) * step, found["errors"], step, align="edge", color=_SOFT)
    if found["zero"]:
        axes.bar([0], [found["zero"]], step, align="edge", color=_MISS, hatch="//", label="zero")
        axes.set_title(f"{100 * found['zero']:.1f} % are zero", fontsize=8, loc="left", color=_MISS)
    axes.set_yticks([])
    axes.set_xlabel("standard error" if first else "", color=_SOFT, fontsize=8)
    plain(axes, 8)


def _scores(axes: Axes, run: StudyRun, name: str, *, first: bool) -> None:
    shares = run.watches[name].to_json()["scores"]
    step = 8 / len(shares)
    places = -4 + step * np.arange(len(shares))
    axes.bar(places, shares, step, align="edge", color=_SOFT)
    z = np.linspace(-4, 4, 81)
    axes.plot(z, step * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi), color=_INK, linewidth=0.9, linestyle="--")
    axes.set_yticks([])
    axes.set_xlabel("z; dashed: normal" if first else "", color=_SOFT, fontsize=8)
    plain(axes, 8)


def _releases(axes: Axes, run: StudyRun) -> None:
    """Draw the shares of what was released, a curve for the releases and one for averages of resamples."""
    for word, colour, line in (("the release", _INK, "-"), ("the average of k resamples", _MISS, "--")):
        found = run.released[word].to_json() if word in run.released else None
        if found is not None:
            places = found["low"] + found["step"] * (0.5 + np.arange(len(found["shares"])))
            axes.plot(
                places, found["shares"], line, color=colour, linewidth=1.2, drawstyle="steps-mid", label=word
            )
    axes.set_yticks([])
    axes.set_title("what the studies answered", fontsize=9, loc="left")
    if run.released:
        axes.legend(frameon=False, fontsize=8)
    plain(axes, 8)
