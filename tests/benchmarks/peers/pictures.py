"""The pictures of the page: errors and times of every library on logarithmic axes, by colour, mark and place, for light and dark grounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .comparison import Case, Line
from .study import STATISTICS, TOGETHER
from .timing import SEVEN, TIMED

COLOURS = {
    "dpnb": ("#0a6480", "#5cc4e6"),
    "OpenDP": ("#b05a00", "#f0a050"),
    "diffprivlib": ("#5b3f8c", "#b39ae8"),
    "SmartNoise": ("#3d7a33", "#86cc78"),
    "PyDP": ("#a3324b", "#f08aa0"),
    "OpenDP Polars": ("#d39b4a", "#ffd28a"),
    "PipelineDP": ("#c98aa0", "#e8bccb"),
    "Tumult": ("#4a90c2", "#9ccbf0"),
    "DuckDB, exact": ("#7b7e86", "#a9acb5"),
    "Polars, exact": ("#1c1d21", "#f2f2f5"),
}
"""Of each library, on a light and on a dark ground."""
MARKS = dict(zip(COLOURS, "osD^v<>hPX", strict=True))
GROUNDS = {
    False: {"ground": "#ffffff", "ink": "#1c1d21", "grid": "#dcdde2"},
    True: {"ground": "#14181e", "ink": "#e6e7eb", "grid": "#3a3f48"},
}


def error_picture(found: Sequence[Case], path: Path, *, dark: bool = False) -> None:
    """Errors over dpnb's own, a panel for each case; 1 is dpnb."""
    figure, panels = _canvas(len(found), 3.4, dark)
    asked = [*STATISTICS, *(f"together: {name}" for name in TOGETHER)]
    drawn: dict[str, Any] = {}
    for axes, case in zip(panels, found, strict=True):
        for peer in sorted(case.peers, key=list(COLOURS).index):
            at, values = [], []
            for place, name in enumerate(asked):
                mine, theirs = case.by.get(("dpnb", name)), case.by.get((peer, name))
                if mine and theirs and mine["rmse"] > 0 and 0 < theirs["rmse"] < math.inf:
                    at.append(place)
                    values.append(min(theirs["rmse"] / mine["rmse"], 1e3))
            drawn[peer] = _marked(axes, values, at, peer, dark)
        drawn["dpnb"] = axes.axvline(1, color=COLOURS["dpnb"][dark], linewidth=1.2)
        _logarithmic(axes, (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1_000))
        axes.set_yticks(range(len(asked)), asked)
        axes.invert_yaxis()
        axes.set_title(f"{case.adjacency}, {case.title}", fontsize=9, loc="left", color=GROUNDS[dark]["ink"])
        axes.set_xlabel("error ÷ dpnb's", fontsize=8)
    _save(figure, drawn, path, dark)


def time_picture(lines: Sequence[Line], path: Path, *, dark: bool = False) -> None:
    """Least times in milliseconds, a panel for each size."""
    sizes = sorted({line["rows"] for line in lines})
    figure, panels = _canvas(len(sizes), 3.0, dark)
    asked = [*TIMED, SEVEN]
    drawn: dict[str, Any] = {}
    for axes, rows in zip(panels, sizes, strict=True):
        for library in COLOURS:
            by = {
                line["statistic"]: line["min"]
                for line in lines
                if (line["library"], line["rows"]) == (library, rows)
            }
            pairs = [(place, 1e3 * by[name]) for place, name in enumerate(asked) if by.get(name)]
            if pairs:
                at, values = zip(*pairs, strict=True)
                drawn[library] = _marked(axes, values, at, library, dark)
        _logarithmic(axes, (0.1, 1, 10, 100, 1_000, 10_000, 100_000))
        axes.set_yticks(range(len(asked)), asked)
        axes.invert_yaxis()
        axes.set_title(f"{rows:,} rows", fontsize=9, loc="left", color=GROUNDS[dark]["ink"])
        axes.set_xlabel("ms, least of warm repeats", fontsize=8)
    _save(figure, drawn, path, dark)


def _marked(axes: Any, values: Sequence[float], at: Sequence[int], library: str, dark: bool) -> Any:
    (line,) = axes.plot(
        values, at, MARKS[library], color=COLOURS[library][dark], markersize=4.5, alpha=0.85, label=library
    )
    return line


def _canvas(panels: int, height: float, dark: bool) -> tuple[Any, list[Any]]:
    from matplotlib.figure import Figure

    across = min(panels, 2)
    down = math.ceil(panels / across)
    colour = GROUNDS[dark]
    figure = Figure(
        figsize=(5.4 * across, height * down + 0.5), layout="constrained", facecolor=colour["ground"]
    )
    axes = [figure.add_subplot(down, across, place + 1) for place in range(panels)]
    for one in axes:
        one.set_facecolor(colour["ground"])
        one.spines[["top", "right"]].set_visible(False)
        one.spines[["left", "bottom"]].set_color(colour["ink"])
        one.tick_params(labelsize=7.5, colors=colour["ink"])
        one.xaxis.label.set_color(colour["ink"])
        one.grid(axis="x", color=colour["grid"], linewidth=0.7)
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


def _save(figure: Any, drawn: dict[str, Any], path: Path, dark: bool) -> None:
    """One legend below all panels, and the file."""
    import matplotlib as mpl

    if drawn:
        figure.legend(
            [drawn[name] for name in COLOURS if name in drawn],
            [name for name in COLOURS if name in drawn],
            loc="outside lower center",
            ncols=5,
            frameon=False,
            fontsize=8,
            labelcolor=GROUNDS[dark]["ink"],
        )
    with mpl.rc_context({"svg.hashsalt": "dpnb"}):
        figure.savefig(path, format="svg", metadata={"Date": None}, facecolor=GROUNDS[dark]["ground"])
