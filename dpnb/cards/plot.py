"""A matplotlib figure of an estimate: values with both intervals, drawn apart and named. Sorted by released values only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dpnb.cards.curves import Beside, curve_of, date_axis, draw_curve, heights
from dpnb.errors import DpnbError, OptionError
from dpnb.estimate import Estimate
from dpnb.estimate.wording import calendar, names, printable
from dpnb.inference.interval import KINDS, Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ORDERS = (None, "size", "effect")
_ACCENT, _INK, _SOFT, _BESIDE = "#0a6480", "#1c1d21", "#5b5e66", "#b3471d"
_BAR, _GRID = "#c8dfe7", "#e9eaee"
_KINDS = (None, "points", "bars", "curve")
_PANDAS = {"bar": "bars", "barh": "bars", "hist": "bars", "line": "curve", "scatter": "points"}
_BIN = re.compile(r"\[[^\[\]]+, [^\[\]]+[\])]")
_BARS, _CURVE = (7.0, 3.6), (7.0, 3.4)
_LETTERS = 60  # more than that many letters under bars are turned
_MOST = 400


def estimate_axes(
    estimate: Estimate,
    order: str | None = None,
    *,
    beside: ArrayLike | None = None,
    truth: bool | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    kind: str | None = None,
    **look: Any,
) -> Axes:
    """Draw released values with both intervals, and return the axes.

    Parameters
    ----------
    estimate : Estimate
        Released; at most 400 values, or a curve.
    order : {None, "size", "effect"}
        In the order asked, by the released number of rows, or by the released value.
    beside : array of the estimate's shape, optional
        Values to draw beside the estimate; they never change the order.
    truth : bool, optional
        Whether to draw the truth too, for TEACHING data; by default if the dataset was opened with ``truth=True``.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.
    title : str, optional
        The title above the picture.
    kind : {None, "points", "bars", "curve"}
        A row with its intervals for each value, a bar for each, or one line along a number. By default what the answer is: a
        histogram has bars, a long answer along a number is a curve. The words of pandas ("bar", "hist", "line") are taken too.
    **look
        matplotlib's own words for the values that are drawn, as ``color="0.8"`` or ``alpha=0.5``: those of its ``bar`` for bars, of its
        ``plot`` for points and curves.

    Raises
    ------
    OptionError
        A word that matplotlib does not know, an unknown order or kind, too many values, or an answer that is no curve.
    """
    if order not in _ORDERS:
        raise OptionError(f'unknown order {order!r}: write order="size" or order="effect".')
    kind = _PANDAS.get(kind, kind) if isinstance(kind, str) else kind
    if kind not in _KINDS:
        raise OptionError(f'unknown kind {kind!r}: write kind="points", kind="bars" or kind="curve".')
    curve = curve_of(estimate) if kind == "curve" or (kind is None and order is None) else None
    if kind == "curve" and curve is None:
        raise OptionError('This answer is not a curve along a number: use kind="points" or kind="bars".')
    if curve is None and estimate.size > _MOST:
        raise OptionError(
            f"{estimate.size:,} values are too many for one figure: index it first, x[:{_MOST}]."
        )
    others = Beside.of(estimate, beside, truth=truth)
    bars = kind == "bars" or (kind is None and order is None and _binned(estimate))
    size = _CURVE if curve is not None else _BARS if bars else (7.0, 0.9 + 0.36 * max(estimate.size, 2))
    axes = _axes(size) if ax is None else ax
    try:
        if curve is not None:
            draw_curve(axes, curve, estimate.text, others, look)
        elif bars:
            _draw_bars(estimate, axes, order, others, look)
        else:
            _points(estimate, axes, order, others, look)
    except (AttributeError, TypeError, ValueError) as error:
        if not look:
            raise
        raise OptionError(
            f"matplotlib does not take {', '.join(f'{name}=' for name in look)} here: {error}"
        ) from None
    _finish(axes, title, own=ax is None)
    return axes


def _axes(size: tuple[float, float]) -> Axes:
    """Axes on a figure of their own, which notebooks show as any other figure of matplotlib's."""
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def _finish(axes: Axes, title: str | None, *, own: bool) -> None:
    if title is not None:
        axes.set_title(title)
    axes.set_axisbelow(True)
    found = axes.get_legend_handles_labels()
    if own:
        axes.figure.legend(*found, loc="outside upper left", ncols=4, frameon=False, fontsize=9)
    else:
        axes.legend(*found, frameon=False, fontsize=8)


def _binned(estimate: Estimate) -> bool:
    """Whether these are the bins of a number: bins are named by their ends, ``[0, 10)``."""
    if len(estimate.shape) != 1 or not estimate.axes or estimate.size < 2:
        return False
    return all(isinstance(key, str) and _BIN.fullmatch(key) for key in estimate.axes[0].keys)


def _draw_bars(
    estimate: Estimate, axes: Axes, order: str | None, beside: Beside | None, look: dict[str, Any]
) -> None:
    """A bar for each value, with what noise leaves open on its top; the bars of bins touch, and none goes below zero."""
    values = np.ravel(heights(estimate))
    places, at = _ordered(estimate, values, order), np.arange(values.size)
    width = 1.0 if _binned(estimate) and order is None else 0.75
    drawn = {"width": width, "color": _BAR, "edgecolor": "white", "label": "value", **look}
    axes.bar(at, values[places], **drawn)
    for kind, colour, shift in zip(KINDS, (_ACCENT, _INK), (-0.08, 0.08), strict=True):
        _whiskers(estimate, axes, places, at + shift, kind, colour)
    if beside is not None:
        others = beside.values[places]
        axes.plot(at, others, "D", mfc="none", color=_BESIDE, markersize=5, zorder=5, label=beside.label)
    labels = _labels(estimate)
    axes.set_xticks(at, [labels[place] for place in places])
    if max(map(len, labels)) * len(labels) > _LETTERS:
        axes.set_xticks(at, [labels[place] for place in places], rotation=45, ha="right")
    axes.set_ylabel(estimate.text, color=_SOFT)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(axis="y", color=_GRID, linewidth=0.8)


def _whiskers(
    estimate: Estimate, axes: Axes, places: np.ndarray, at: np.ndarray, kind: Kind, colour: str
) -> None:
    try:
        low, high = (np.ravel(np.asarray(end, dtype=float))[places] for end in estimate.interval(0.95, kind))
    except DpnbError:
        return
    bold = 3.0 if kind == "privacy" else 1.2
    middle, half = (low + high) / 2, (high - low) / 2
    axes.errorbar(
        at, middle, yerr=half, fmt="none", ecolor=colour, elinewidth=bold, label=f"{kind} interval", zorder=3
    )


def _points(
    estimate: Estimate, axes: Axes, order: str | None, beside: Beside | None, look: dict[str, Any]
) -> None:
    """A row for each value, with its intervals."""
    values = np.ravel(np.asarray(estimate.value, dtype=float))
    places, labels = _ordered(estimate, values, order), _labels(estimate)
    rows = np.arange(len(values))
    _draw(estimate, axes, places, rows, "privacy", 0.14)
    _draw(estimate, axes, places, rows, "confidence", -0.14)
    drawn = {"color": _INK, "marker": "o", "linestyle": "", "markersize": 5, "zorder": 4, "label": "value"}
    axes.plot(values[places], rows, **{**drawn, **look})
    if beside is not None:
        others = beside.values[places]
        axes.plot(others, rows, "D", mfc="none", color=_BESIDE, markersize=6, zorder=5, label=beside.label)
    low, high = axes.get_xlim()
    if low < 0 < high:
        axes.axvline(0, color="#c9cbd1", linewidth=1, zorder=1)
    axes.set_yticks(rows, [labels[i] for i in places])
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.set_xlabel(estimate.text, color=_SOFT)
    if step := calendar(estimate):
        date_axis(axes, step)
    picked = dict(zip(values.tolist(), map(printable, names(estimate)), strict=False))
    if picked:  # a choice is drawn at its declared place, and named there
        axes.set_xticks(sorted(picked), [picked[place] for place in sorted(picked)])
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=_GRID, linewidth=0.8)


def _draw(
    estimate: Estimate, axes: Axes, places: np.ndarray, rows: np.ndarray, kind: Kind, shift: float
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
