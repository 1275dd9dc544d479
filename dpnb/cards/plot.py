"""A matplotlib figure of an estimate: values with both intervals, drawn apart and named. Sorted by released values only."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpnb.cards.curves import curve_figure, curve_of
from dpnb.errors import DpnbError, OptionError
from dpnb.estimate import Estimate
from dpnb.estimate.shown import names, printable

_ORDERS = (None, "size", "effect")
_ACCENT, _INK, _SOFT, _BESIDE = "#0a6480", "#1c1d21", "#5b5e66", "#b3471d"
_MOST = 400


def estimate_figure(estimate: Estimate, order: str | None = None, beside: Any = None) -> Any:
    """Return a figure with one row for each value; a long answer along a number is one curve.

    Parameters
    ----------
    estimate : Estimate
        Released; at most 400 values.
    order : {None, "size", "effect"}
        As asked, by the released number of rows, or by the released value.
    beside : array of the estimate's shape, optional
        Values to draw beside, such as the exact ones of a public study; they never sort.
    """
    if order not in _ORDERS:
        raise OptionError(f'unknown order {order!r}: write order="size" or order="effect".')
    curve = curve_of(estimate) if order is None else None
    if curve is not None:
        return curve_figure(curve, estimate.text, beside)
    if estimate.size > _MOST:
        raise OptionError(
            f"{estimate.size:,} values are too many for one figure: index it first, x[:{_MOST}]."
        )
    from matplotlib.figure import Figure

    values = np.ravel(np.asarray(estimate.value, dtype=float))
    places = _ordered(estimate, values, order)
    labels = _labels(estimate)
    figure = Figure(figsize=(7.0, 0.9 + 0.36 * max(len(values), 2)), layout="constrained")
    axes = figure.add_subplot()
    rows = np.arange(len(values))
    _draw(estimate, axes, places, rows, "privacy", 0.14)
    _draw(estimate, axes, places, rows, "confidence", -0.14)
    axes.plot(values[places], rows, "o", color=_INK, markersize=5, zorder=4, label="value")
    if beside is not None:
        others = _beside(beside, estimate.shape)
        axes.plot(
            others[places], rows, "D", mfc="none", color=_BESIDE, markersize=6, zorder=5, label="beside"
        )
    low, high = axes.get_xlim()
    if low < 0 < high:
        axes.axvline(0, color="#c9cbd1", linewidth=1, zorder=1)
    axes.set_yticks(rows, [labels[i] for i in places])
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.set_xlabel(estimate.text, color=_SOFT)
    picked = dict(zip(values.tolist(), map(printable, names(estimate)), strict=False))
    if picked:  # a choice is drawn at its declared place, and named there
        axes.set_xticks(sorted(picked), [picked[place] for place in sorted(picked)])
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#e9eaee", linewidth=0.8)
    axes.set_axisbelow(True)
    figure.legend(
        *axes.get_legend_handles_labels(), loc="outside upper left", ncols=3, frameon=False, fontsize=9
    )
    return figure


def _draw(
    estimate: Estimate, axes: Any, places: np.ndarray, rows: np.ndarray, kind: Any, shift: float
) -> bool:
    """Draw the intervals of one kind where there are any: privacy as solid bars, confidence as capped lines."""
    try:
        interval = estimate.interval(0.95, kind)
    except DpnbError:
        return False
    low, high = (np.ravel(np.asarray(end, dtype=float))[places] for end in interval)
    middle, half = (low + high) / 2, (high - low) / 2
    at, label = rows - shift, f"{kind} interval"
    if kind == "privacy":
        axes.barh(at, high - low, left=low, height=0.16, color=_ACCENT, label=label, zorder=3)
    else:
        axes.errorbar(
            middle, at, xerr=half, fmt="none", ecolor=_INK, elinewidth=1.3, capsize=4, label=label, zorder=3
        )
    return True


def _beside(values: Any, shape: tuple[int, ...]) -> np.ndarray:
    found = np.asarray(values, dtype=float)
    if found.shape != shape:
        raise OptionError(f"beside= has the shape {found.shape}; the estimate has {shape}.")
    return np.ravel(found)


def _labels(estimate: Estimate) -> list[str]:
    if estimate.shape == ():
        return [""]
    if estimate.axes:
        grids = np.indices(estimate.shape).reshape(len(estimate.shape), -1).T
        return [
            " · ".join(str(axis.keys[i]) for axis, i in zip(estimate.axes, index, strict=True))
            for index in grids
        ]
    return [str(i) for i in range(estimate.size)]


def _ordered(estimate: Estimate, values: np.ndarray, order: str | None) -> np.ndarray:
    if order == "effect":
        return np.argsort(-values, kind="stable")
    if order == "size":
        try:
            sizes = estimate.n
        except DpnbError:
            sizes = None
        if sizes is None:
            raise OptionError('The sizes were not released with this estimate: use order="effect".')
        return np.argsort(-np.ravel(np.broadcast_to(sizes, estimate.shape)), kind="stable")
    return np.arange(len(values))
