"""How the figures of the replication are drawn: canvas, axes, lines, densities, in one set of colours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ACCENT, INK, SOFT, WARN, HAIR = "#0a6480", "#1c1d21", "#7b7e86", "#b05a00", "#dcdde2"
COLOURS = (ACCENT, INK, WARN, SOFT)
STYLES = ("-", "--", "-.", ":")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure, what it is of, its caption, and its text alternative."""

    source: str
    caption: str
    alternative: str
    figure: Any


def canvas(panels: int = 1, height: float = 3.1) -> tuple[Any, list[Any]]:
    """Return a figure of so many panels, two to a line, and its axes."""
    lines, across = divmod(panels + 1, 2) if panels > 2 else (1, panels)
    across = 2 if lines > 1 else across
    figure = Figure(figsize=(4.2 * across if across > 1 else 5.6, height * lines), layout="constrained")
    axes = [figure.add_subplot(lines, across, i + 1) for i in range(panels)]
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.spines[["left", "bottom"]].set_color(SOFT)
        one.tick_params(colors=INK, labelsize=8.5)
        one.grid(axis="y", color=HAIR, linewidth=0.7)
        one.set_axisbelow(True)
    return figure, axes


def plain(axis: Any, ticks: Any) -> None:
    """Write a logarithmic axis with ordinary numbers."""
    axis.set_ticks(list(ticks), [f"{tick:,g}" for tick in ticks])
    axis.set_minor_locator(NullLocator())


def logarithmic(axes: Any, x: Any, y: Any = ()) -> None:
    """Make an axis, or both, logarithmic with these ticks."""
    axes.set_xscale("log")
    plain(axes.xaxis, x)
    if y:
        axes.set_yscale("log")
        plain(axes.yaxis, y)


def named(axes: Any, x: str, y: str, title: str = "", *, legend: str | None = "best") -> None:
    """Name the axes, the panel and, unless there is none, the legend."""
    axes.set_xlabel(x, fontsize=9, color=INK)
    axes.set_ylabel(y, fontsize=9, color=INK)
    if title:
        axes.set_title(title, fontsize=9.5, loc="left", color=INK)
    if legend:
        axes.legend(frameon=False, fontsize=8, loc=legend)


def lines(axes: Any, x: Any, series: Mapping[str, Any], marker: str = "o") -> None:
    """Draw a line for each series, in one order of colours and strokes."""
    for i, (name, y) in enumerate(series.items()):
        axes.plot(
            x,
            y,
            STYLES[i % 4],
            color=COLOURS[i % 4],
            marker=marker,
            markersize=3.5,
            linewidth=1.5,
            label=name,
        )


def densities(axes: Any, samples: Mapping[Any, Floats], low: float, high: float) -> None:
    """Draw the histogram of each sample as a density."""
    for i, (name, values) in enumerate(samples.items()):
        heights, edges = np.histogram(values, 48, (low, high))
        density = heights / max(values.size, 1) / (edges[1] - edges[0])
        axes.stairs(density, edges, color=COLOURS[i % 4], linestyle=STYLES[i % 4], linewidth=1.4, label=name)
    axes.set_xlim(low, high)
    axes.set_ylim(bottom=0)


def cdfs(axes: Any, samples: Mapping[Any, Floats], low: float, high: float) -> None:
    """Draw the distribution function of each sample."""
    for i, (name, values) in enumerate(samples.items()):
        ordered = np.sort(values)
        share = np.arange(1, ordered.size + 1) / ordered.size
        axes.plot(ordered, share, STYLES[i % 4], color=COLOURS[i % 4], linewidth=1.5, label=name)
    axes.set_xlim(low, high)
    axes.set_ylim(0, 1)
