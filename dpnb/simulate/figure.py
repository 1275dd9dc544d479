"""The publication figure of a simulation, and the same in words. Matplotlib is imported when a figure is asked for.

Three panels: coverage with its Wilson band against the nominal level, mean widths, and densities of the z-scores beside the
standard normal. Methods differ by colour, by marker and by line, so that nothing is said by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpnb.simulate.tally import wilson

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpnb.simulate.result import CoverageResult

_INK, _SOFT, _HAIR = "#1c1d21", "#5b5e66", "#e9eaee"
LOOKS = {
    "privacy": ("#0a6480", "s", "-"),
    "confidence": ("#1c1d21", "o", "-"),
    "naive": ("#8a4600", "v", "--"),
    "normal": ("#7a4a9a", "D", ":"),
    "monte carlo": ("#2f7d32", "^", "-."),
    "unbiased": ("#b0305a", "v", "--"),
    "conservative": ("#6b6f1d", "P", "-"),
    "most conservative": ("#3f51b5", "X", "-."),
    "deconvolved": ("#00796b", "*", ":"),
}
"""Colour, marker and line of each method that dpnb has."""
_MORE = (("#2f7d32", "^", "-."), ("#b0305a", "P", "--"), ("#6b6f1d", "X", ":"))
_BINS = np.linspace(-5, 5, 51)
_MOST_DENSITIES = 3
_FEW = 8


@dataclass(frozen=True, slots=True)
class Curve:
    """One method at one level along one direction: places, shares, bands and widths.

    The style is a colour, a marker, a line, and which of several curves of the method this is.
    """

    name: str
    label: str
    style: tuple[str, str, str, int]
    x: Sequence[float]
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray
    width: np.ndarray


def coverage_figure(found: CoverageResult) -> Figure:
    """Return the figure of a coverage simulation, finished or not.

    Parameters
    ----------
    found : CoverageResult
        Where an answer has several entries, their studies are counted together.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 3.9), layout="constrained")
    first, second, third = figure.subplots(1, 3)
    curves = list(_curves(found))
    draw_coverage(first, curves, found.design.levels)
    _draw_widths(second, curves)
    for axes in (first, second):
        _across(axes, found)
    _draw_scores(third, found)
    _finish(figure, (first, second, third))
    figure.set_label(describe(found))
    return figure


def two_panels(curves: list[Curve], levels: Sequence[float], along: str) -> tuple[Figure, Sequence[Axes]]:
    """Return a figure of coverage and mean width along one thing, and its two panels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.9), layout="constrained")
    panels = figure.subplots(1, 2)
    draw_coverage(panels[0], curves, levels)
    _draw_widths(panels[1], curves)
    for axes in panels:
        axes.set_xlabel(along, color=_SOFT)
    _finish(figure, panels)
    return figure, panels


def _curves(found: CoverageResult) -> Iterator[Curve]:
    """Yield the curves: along the losses for each size, or along the sizes where there is one loss."""
    design, styles = found.design, styles_of(found)
    for name, level in found.tallies[0].held:
        held = [tally.held[name, level] for tally in found.tallies]
        counts = np.array([[part.sum(axis=1) for part in (h.studies, h.held, h.width)] for h in held])
        label = name + level_suffix(design.levels, level)
        if _along_sizes(found):
            yield curve_of(name, label, (*styles[name], 0), list(design.sizes), counts[:, :, 0].T)
            continue
        for place, (n, rows) in enumerate(zip(design.sizes, counts, strict=True)):
            size = "" if len(design.sizes) == 1 else f", n = {n:,}"
            losses = [float(loss.amount) for loss in design.losses]
            yield curve_of(name, label + size, (*styles[name], place), losses, rows)


def styles_of(found: CoverageResult) -> dict[str, tuple[str, str, str]]:
    """Return colour, marker and line of each method of a simulation."""
    spare = iter(_MORE * _FEW)
    return {method.name: LOOKS.get(method.name) or next(spare) for method in found.design.methods}


def level_suffix(levels: Sequence[float], level: float) -> str:
    """Return what a label says of the level; nothing where there is only one."""
    return "" if len(levels) == 1 else f" {100 * level:g} %"


def curve_of(
    name: str, label: str, style: tuple[str, str, str, int], x: Sequence[float], counts: np.ndarray
) -> Curve:
    """Return a curve from its counts: rows of studies, of those that held the truth, and of summed widths."""
    studies, held, width = counts
    low, high = wilson(held, studies)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Curve(name, label, style, x, held / studies, low, high, width / studies)


def _along_sizes(found: CoverageResult) -> bool:
    return len(found.design.losses) == 1 and len(found.design.sizes) > 1


def _across(axes: Axes, found: CoverageResult) -> None:
    loss = {"epsilon": "ε", "rho": "ρ"}[found.design.losses[0].kind]
    axes.set_xlabel("rows of a study" if _along_sizes(found) else loss, color=_SOFT)
    if max(len(found.design.losses), len(found.design.sizes)) > 1:
        axes.set_xscale("log")


def draw_coverage(axes: Axes, curves: list[Curve], levels: Sequence[float]) -> None:
    """Draw shares with their Wilson bands, and the nominal levels as dotted lines."""
    for curve in curves:
        if not np.isnan(curve.share).all():
            axes.fill_between(curve.x, curve.low, curve.high, color=curve.style[0], alpha=0.15, linewidth=0)
            _line(axes, curve, curve.share)
    for level in levels:
        axes.axhline(level, color=_INK, linewidth=0.9, linestyle=(0, (2, 3)))
    lows = [float(np.nanmin(curve.low)) for curve in curves if not np.isnan(curve.low).all()]
    axes.set_ylim(max(min([*lows, min(levels) - 0.05]) - 0.02, 0.0), 1.005)
    axes.set_title("coverage, with its 95 % Wilson band", fontsize=10, loc="left")


def _draw_widths(axes: Axes, curves: list[Curve]) -> None:
    for curve in curves:
        if not np.isnan(curve.width).all():
            _line(axes, curve, curve.width)
    axes.set_title("mean width", fontsize=10, loc="left")
    axes.set_ylim(bottom=0)


def _line(axes: Axes, curve: Curve, y: np.ndarray) -> None:
    """Draw a curve; the first of a method has full markers, the others have empty ones and thinner lines."""
    colour, marker, line, place = curve.style
    axes.plot(
        curve.x,
        y,
        line,
        marker=marker,
        markersize=4,
        linewidth=max(1.5 - 0.3 * place, 0.6),
        color=colour,
        markerfacecolor=colour if place == 0 else "white",
        label=curve.label,
    )


def _draw_scores(axes: Axes, found: CoverageResult) -> None:
    middle = (_BINS[1:] + _BINS[:-1]) / 2
    for name, style, word in (("noise z", "-", "noise"), ("z", "--", "noise and sampling")):
        for place in _shown(len(found.design.losses)):
            density = _density(found, name, place)
            if density is not None:
                label = f"{word}, {found.design.losses[place]}"
                axes.plot(middle, density, style, linewidth=1.1, label=label)
    axes.plot(middle, np.exp(-(middle**2) / 2) / np.sqrt(2 * np.pi), color=_INK, linewidth=0.9, linestyle=":")
    axes.set_title("z-scores; dotted: standard normal", fontsize=10, loc="left")
    axes.set_xlabel("(estimate - truth) / standard error", color=_SOFT)
    if axes.get_legend_handles_labels()[0]:
        axes.set_ylim(0, 1.45 * axes.get_ylim()[1])
        axes.legend(frameon=False, fontsize=7, loc="upper left", ncols=2)


def _shown(losses: int) -> list[int]:
    places = np.linspace(0, losses - 1, min(losses, _MOST_DENSITIES))
    return [int(place) for place in np.unique(np.rint(places))]


def _density(found: CoverageResult, name: str, place: int) -> np.ndarray | None:
    kept = [tally.kept[name][place].ravel() for tally in found.tallies if name in tally.kept]
    scores = np.concatenate(kept) if kept else np.empty(0)
    scores = scores[np.isfinite(scores)]
    if not scores.size:
        return None
    return np.asarray(np.histogram(scores, _BINS)[0] / (scores.size * np.diff(_BINS)))


def _finish(figure: Figure, panels: Sequence[Axes]) -> None:
    for axes in panels:
        plain(axes)
    handles, names = panels[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, names, loc="outside upper left", ncols=4, frameon=False, fontsize=9)


def plain(axes: Axes, size: int = 9) -> None:
    """Give axes two spines, a light grid and small quiet ticks."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(color=_HAIR, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=size, colors=_SOFT)


def describe(found: CoverageResult) -> str:
    """Return in words what the figure shows: one line for each method, level and size."""
    design = found.design
    population, sizes = design.population.name, ", ".join(f"{n:,}" for n in design.sizes)
    first = (
        f"{design.statistic} of {population}, n = {sizes}: {found.studies:,} simulated studies at each loss"
    )
    return "\n".join([first, *(f"  {_told(found, curve)}" for curve in _curves(found))])


def _told(found: CoverageResult, curve: Curve) -> str:
    if np.isnan(curve.share).all():
        return f"{curve.label}: none. {found.reasons().get(curve.name, '')}".rstrip()
    places = found.design.sizes if _along_sizes(found) else found.design.losses
    words = [f"n = {place:,}" if isinstance(place, int) else str(place) for place in places]
    least, most = int(np.nanargmin(curve.share)), int(np.nanargmax(curve.share))
    told = f"{curve.label}: covers {_percent(curve, least)} at {words[least]}"
    told += f" to {_percent(curve, most)} at {words[most]}" if least != most else ""
    widest, narrowest = (found_width(curve.width) for found_width in (np.nanmax, np.nanmin))
    return f"{told}; mean width {widest:.3g}" + (f" to {narrowest:.3g}" if len(words) > 1 else "")


def _percent(curve: Curve, place: int) -> str:
    return f"{100 * curve.share[place]:.1f} % ({100 * curve.low[place]:.1f}-{100 * curve.high[place]:.1f})"
