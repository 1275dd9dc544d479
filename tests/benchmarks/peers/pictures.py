"""The pictures of the page: errors and times of every library on logarithmic axes, by colour, mark and place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .comparison import Case, Line
from .study import STATISTICS, TOGETHER

COLOURS = {
    "dpnb": "#0a6480",
    "OpenDP": "#b05a00",
    "diffprivlib": "#5b3f8c",
    "SmartNoise": "#3d7a33",
    "PyDP": "#a3324b",
    "OpenDP Polars": "#d39b4a",
    "PipelineDP": "#c98aa0",
    "Tumult": "#4a90c2",
    "DuckDB, exact": "#7b7e86",
    "Polars, exact": "#1c1d21",
}
MARKS = dict(zip(COLOURS, "osD^v<>hPX", strict=True))


def error_picture(found: Sequence[Case], path: Path) -> None:
    """Errors over dpnb's own, a panel for each case; 1 is dpnb."""
    figure, panels = _canvas(len(found), 3.4)
    asked = [*STATISTICS, *(f"together: {name}" for name in TOGETHER)]
    for axes, case in zip(panels, found, strict=True):
        for peer in case.peers:
            at, values = [], []
            for place, name in enumerate(asked):
                mine, theirs = case.by.get(("dpnb", name)), case.by.get((peer, name))
                if mine and theirs and mine["rmse"] > 0 and 0 < theirs["rmse"] < math.inf:
                    at.append(place)
                    values.append(min(theirs["rmse"] / mine["rmse"], 1e3))
            axes.plot(values, at, MARKS[peer], color=COLOURS[peer], markersize=4.5, alpha=0.85, label=peer)
        axes.axvline(1, color=COLOURS["dpnb"], linewidth=1.2)
        _logarithmic(axes, (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1_000))
        axes.set_yticks(range(len(asked)), asked)
        axes.invert_yaxis()
        axes.set_title(f"{case.adjacency}, {case.title}", fontsize=9, loc="left")
        axes.set_xlabel("error ÷ dpnb's", fontsize=8)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False, fontsize=7, loc="lower right")
    _save(figure, path)


def time_picture(lines: Sequence[Line], path: Path) -> None:
    """Least times in milliseconds, a panel for each size."""
    sizes = sorted({line["rows"] for line in lines})
    figure, panels = _canvas(len(sizes), 3.0)
    asked = [*STATISTICS, "the seven"]
    for axes, rows in zip(panels, sizes, strict=True):
        for library, colour in COLOURS.items():
            by = {
                line["statistic"]: line["min"]
                for line in lines
                if (line["library"], line["rows"]) == (library, rows)
            }
            pairs = [(place, 1e3 * by[name]) for place, name in enumerate(asked) if by.get(name)]
            if pairs:
                at, values = zip(*pairs, strict=True)
                axes.plot(values, at, MARKS[library], color=colour, markersize=4.5, alpha=0.85, label=library)
        _logarithmic(axes, (0.1, 1, 10, 100, 1_000, 10_000))
        axes.set_yticks(range(len(asked)), asked)
        axes.invert_yaxis()
        axes.set_title(f"n {rows:,}", fontsize=9, loc="left")
        axes.set_xlabel("ms, least of warm repeats", fontsize=8)
        axes.legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    _save(figure, path)


def _canvas(panels: int, height: float) -> tuple[Any, list[Any]]:
    from matplotlib.figure import Figure

    across = min(panels, 2)
    down = math.ceil(panels / across)
    figure = Figure(figsize=(5.4 * across, height * down), layout="constrained")
    axes = [figure.add_subplot(down, across, place + 1) for place in range(panels)]
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.tick_params(labelsize=7.5)
        one.grid(axis="x", color="#dcdde2", linewidth=0.7)
    return figure, axes


def _logarithmic(axes: Any, ticks: Sequence[float]) -> None:
    """A logarithmic axis with ordinary numbers, those of the ticks that lie within what is drawn."""
    from matplotlib.ticker import NullLocator

    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xticks(
        [tick for tick in ticks if low <= tick <= high],
        [f"{tick:,g}" for tick in ticks if low <= tick <= high],
    )
    axes.xaxis.set_minor_locator(NullLocator())


def _save(figure: Any, path: Path) -> None:
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "dpnb"}):
        figure.savefig(path, format="svg", metadata={"Date": None})
