"""The publication figure of a simulation, and the same in words. Matplotlib is imported when a figure is asked for.

Three panels: coverage with its Wilson band against the nominal level, mean widths, and densities of the z-scores beside the
standard normal. Methods differ by colour, by marker and by line, so that nothing is said by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnb.simulate.tally import wilson

if TYPE_CHECKING:
    from dpnb.simulate.result import CoverageResult

_INK, _SOFT, _HAIR = "#1c1d21", "#5b5e66", "#e9eaee"
_STYLES = {
    "privacy": ("#0a6480", "s", "-"),
    "confidence": ("#1c1d21", "o", "-"),
    "naive": ("#8a4600", "v", "--"),
    "normal": ("#7a4a9a", "D", ":"),
}
_MORE = (("#2f7d32", "^", "-."), ("#b0305a", "P", "--"), ("#6b6f1d", "X", ":"))
_BINS = np.linspace(-5, 5, 51)
_MOST_DENSITIES = 3
_FEW = 8


@dataclass(frozen=True, slots=True)
class Curve:
    """One method at one level along one direction: places, shares, bands and widths."""

    name: str
    label: str
    style: tuple[str, str, str]
    x: Sequence[float]
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray
    width: np.ndarray


def coverage_figure(found: CoverageResult) -> Any:
    """Return the figure of a coverage simulation, finished or not.

    Parameters
    ----------
    found : CoverageResult
        Where an answer has several entries, their studies are counted together.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 3.7), layout="constrained")
    first, second, third = figure.subplots(1, 3)
    curves = list(_curves(found))
    _draw_coverage(first, found, curves)
    _draw_widths(second, found, curves)
    _draw_scores(third, found)
    for axes in (first, second, third):
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        axes.grid(color=_HAIR, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.tick_params(labelsize=9, colors=_SOFT)
    handles, names = first.get_legend_handles_labels()
    figure.legend(
        handles, names, loc="outside upper left", ncols=min(len(names), 5), frameon=False, fontsize=9
    )
    figure.set_label(describe(found))
    return figure


def _curves(found: CoverageResult) -> Iterator[Curve]:
    """Yield the curves: along the losses for each size, or along the sizes where there is one loss."""
    design = found.design
    along_sizes = _along_sizes(found)
    spare = iter(_MORE * _FEW)
    styles = {m.name: _STYLES.get(m.name) or next(spare) for m in design.methods}
    for name, level in found.tallies[0].held:
        held = [tally.held[name, level] for tally in found.tallies]
        counts = np.array([[part.sum(axis=1) for part in (h.studies, h.held, h.width)] for h in held])
        suffix = "" if len(design.levels) == 1 else f" {100 * level:g} %"
        if along_sizes:
            yield _curve(name, name + suffix, styles[name], list(design.sizes), counts[:, :, 0].T)
            continue
        for n, rows in zip(design.sizes, counts, strict=True):
            size = "" if len(design.sizes) == 1 else f", n = {n:,}"
            yield _curve(
                name, name + suffix + size, styles[name], [float(x.amount) for x in design.losses], rows
            )


def _curve(name: str, label: str, style: tuple[str, str, str], x: list[Any], counts: np.ndarray) -> Curve:
    studies, held, width = counts
    low, high = wilson(held, studies)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Curve(name, label, style, x, held / studies, low, high, width / studies)


def _along_sizes(found: CoverageResult) -> bool:
    return len(found.design.losses) == 1 and len(found.design.sizes) > 1


def _across(axes: Any, found: CoverageResult) -> None:
    kind = found.design.losses[0].kind
    axes.set_xlabel(
        "rows of a study" if _along_sizes(found) else {"epsilon": "ε", "rho": "ρ"}[kind], color=_SOFT
    )
    if max(len(found.design.losses), len(found.design.sizes)) > 1:
        axes.set_xscale("log")


def _draw_coverage(axes: Any, found: CoverageResult, curves: list[Curve]) -> None:
    for curve in curves:
        if np.isnan(curve.share).all():
            continue
        colour, marker, line = curve.style
        axes.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(
            curve.x,
            curve.share,
            line,
            marker=marker,
            markersize=4,
            color=colour,
            linewidth=1.2,
            label=curve.label,
        )
    for level in found.design.levels:
        axes.axhline(level, color=_INK, linewidth=0.9, linestyle=(0, (2, 3)))
    _across(axes, found)
    axes.set_title("coverage, with its 95 % Wilson band", fontsize=10, loc="left")
    axes.set_ylim(max(min(_lowest(curves), min(found.design.levels) - 0.05) - 0.02, 0.0), 1.005)


def _lowest(curves: list[Curve]) -> float:
    lows = [float(np.nanmin(curve.low)) for curve in curves if not np.isnan(curve.low).all()]
    return min(lows, default=1.0)


def _draw_widths(axes: Any, found: CoverageResult, curves: list[Curve]) -> None:
    for curve in curves:
        if np.isnan(curve.width).all():
            continue
        colour, marker, line = curve.style
        axes.plot(curve.x, curve.width, line, marker=marker, markersize=4, color=colour, linewidth=1.2)
    _across(axes, found)
    axes.set_title("mean width", fontsize=10, loc="left")
    axes.set_ylim(bottom=0)


def _draw_scores(axes: Any, found: CoverageResult) -> None:
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
    axes.legend(frameon=False, fontsize=7)


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


def describe(found: CoverageResult) -> str:
    """Return in words what the figure shows: one line for each method, level and size."""
    design = found.design
    population, sizes = design.population.name, ", ".join(f"{n:,}" for n in design.sizes)
    lines = [
        f"{design.statistic} of {population}, n = {sizes}: {found.studies:,} simulated studies at each loss"
    ]
    where = "rows" if _along_sizes(found) else "ε" if design.losses[0].kind == "epsilon" else "ρ"
    for curve in _curves(found):
        if np.isnan(curve.share).all():
            lines.append(f"  {curve.label}: none. {found.reasons().get(curve.name, '')}".rstrip())
            continue
        least, most = int(np.nanargmin(curve.share)), int(np.nanargmax(curve.share))
        lines.append(
            f"  {curve.label}: covers {_percent(curve, least)} at {where} {curve.x[least]:g}"
            + (f" to {_percent(curve, most)} at {where} {curve.x[most]:g}" if least != most else "")
            + f"; mean width {np.nanmax(curve.width):.3g}"
            + (f" to {np.nanmin(curve.width):.3g}" if len(curve.x) > 1 else "")
        )
    return "\n".join(lines)


def _percent(curve: Curve, place: int) -> str:
    return f"{100 * curve.share[place]:.1f} % ({100 * curve.low[place]:.1f}-{100 * curve.high[place]:.1f})"
