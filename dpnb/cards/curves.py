"""Long answers along a number, drawn as one picture: the value as a line or as steps, the intervals as bands around it.

An answer says where its entries lie (``across``: as many points as entries, or one edge more for bins). What is more than a
screen can show is pooled: the mean of the values, the outermost ends of the intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.cards.card import LEVEL, Record
from dpnb.cards.markup import Markup, el
from dpnb.errors import DpnbError, OptionError
from dpnb.estimate import Estimate
from dpnb.inference.digits import dated, number
from dpnb.inference.interval import KINDS, plain_number

FEWEST = 13
_MOST = 240
_FEWEST_BARS, _MOST_BARS = 3, 60
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 190, 68, 12, 10, 24
_BARS = "▁▂▃▄▅▆▇█"
_ACCENT, _INK, _SOFT, _BESIDE = "#0a6480", "#1c1d21", "#5b5e66", "#b3471d"
if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Band = tuple[Floats, Floats]
MOST = 5
_LEADS = ("1", "2", "2.5", "5", "10", "20", "25", "50")


def ticks(low: float, high: float, most: int = MOST) -> tuple[float, ...]:
    """Return at most so many round numbers, evenly apart, between two ends.

    Examples
    --------
    >>> ticks(0.62, 0.79, 4)
    (0.65, 0.7, 0.75)
    """
    wide = high - low
    if not (math.isfinite(wide) and wide > 0):
        return ()
    power = Decimal(10) ** math.floor(math.log10(wide / most))
    for lead in _LEADS:
        step = Decimal(lead) * power
        first, last = math.ceil(Decimal(low) / step), math.floor(Decimal(high) / step)
        if last - first + 1 <= most:
            return tuple(float(place * step) for place in range(first, last + 1))
    return ()


@dataclass(frozen=True, eq=False)
class Curve:
    """Values along a number.

    Parameters
    ----------
    across : ndarray
        Points, or edges of bins (one more than values).
    values : ndarray
        The estimates.
    bands : dict
        Ends of the intervals by kind.
    truth : ndarray, optional
        What the values would be without noise, where public data show that.
    calendar : str, optional
        Of dates the step that `across` counts.
    """

    across: Floats
    values: Floats
    bands: dict[str, Band]
    truth: Floats | None = None
    calendar: str | None = None

    @property
    def binned(self) -> bool:
        """Whether values belong to bins instead of points."""
        return self.across.size > self.values.size

    def path(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the corners of the line through some values: steps over bins, and from each point to the next."""
        if self.binned:
            return np.repeat(self.across, 2)[1:-1], np.repeat(values, 2)
        return np.repeat(self.across, 2)[1:], np.repeat(values, 2)[:-1]

    @property
    def low(self) -> float:
        """The lowest place of the picture, not above zero."""
        lowest = (low.min() for low, _ in self.bands.values())
        return float(min([0.0, self.values.min(), *lowest, *self._true(np.min)]))

    @property
    def high(self) -> float:
        """The highest place of the picture."""
        highest = (high.max() for _, high in self.bands.values())
        found = float(max([self.values.max(), *highest, *self._true(np.max)]))
        return found if np.isfinite(found) and found > self.low else self.low + 1.0

    def _true(self, end: Callable[[Floats], float]) -> list[float]:
        return [] if self.truth is None else [float(end(self.truth))]

    def pooled(self, most: int = _MOST) -> Curve:
        """Return the same picture with fewer entries."""
        size = self.values.size
        if size <= most:
            return self
        starts = np.linspace(0, size, most + 1).astype(int)[:-1]
        counts = np.diff(np.append(starts, size))
        values = np.add.reduceat(self.values, starts) / counts
        bands = {
            kind: (np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts))
            for kind, (low, high) in self.bands.items()
        }
        across = np.append(self.across[starts], self.across[-1]) if self.binned else self.across[starts]
        truth = None if self.truth is None else np.add.reduceat(self.truth, starts) / counts
        return Curve(across, values, bands, truth, self.calendar)

    def to_json(self) -> Record:
        """The picture as plain JSON, pooled to what a screen can show."""
        drawn = self.pooled()
        bands = {kind: [plain_number(end) for end in ends] for kind, ends in drawn.bands.items()}
        truth = {} if drawn.truth is None else {"truth": plain_number(drawn.truth)}
        return {
            "across": plain_number(drawn.across),
            "values": plain_number(drawn.values),
            "bands": bands,
            **truth,
        }


def curve_of(estimate: Estimate) -> Curve | None:
    """Return a released answer as a curve, where it is one: a long vector along a number."""
    return _along(estimate, FEWEST)


def bars_of(estimate: Estimate) -> Curve | None:
    """Return the counts of bins along a number, of which there are few enough to be drawn as bars."""
    found = _along(estimate, _FEWEST_BARS)
    return found if found is not None and found.binned and found.values.size <= _MOST_BARS else None


def heights(estimate: Estimate) -> Floats:
    """Return values as they are drawn: the counts of bins inside what is possible, as their intervals are. A bar has no height below zero."""
    values = np.asarray(estimate.value, dtype=float)
    outcome = estimate.outcome
    return values if outcome is None or _edges(estimate) is None else np.clip(values, *outcome.domain)


def _edges(estimate: Estimate) -> Floats | None:
    """Return the edges of the bins of a histogram; None of every other answer."""
    if estimate.measurement is None:
        return None
    with suppress(OptionError):
        return np.asarray(estimate.edges)
    return None


def _along(estimate: Estimate, fewest: int) -> Curve | None:
    outcome = estimate.outcome
    across = _edges(estimate) if outcome is None or outcome.across is None else outcome.across
    if across is None or len(estimate.shape) != 1 or estimate.size < fewest or across.size < estimate.size:
        return None
    bands: dict[str, Band] = {}
    for kind in KINDS:
        with suppress(DpnbError):
            low, high = estimate.interval(LEVEL, kind)
            bands[kind] = (np.asarray(low, dtype=float), np.asarray(high, dtype=float))
    known = estimate.overlay
    truth = None if known is None else np.asarray(known, dtype=float)
    along = None if outcome is None else outcome.along
    return Curve(across, heights(estimate), bands, truth, along)


def sparkline(curve: Curve, width: int = 60) -> str:
    """Draw the values with block characters, and say where the line starts and ends."""
    pooled = curve.pooled(width)
    top, floor = float(pooled.values.max()), min(float(pooled.values.min()), 0.0)
    scaled = (pooled.values - floor) / (top - floor) if top > floor else np.zeros(pooled.values.size)
    bars = "".join(_BARS[int(place)] for place in np.clip(np.floor(scaled * 8), 0, 7))
    return f"{dated(float(curve.across[0]), curve.calendar)} {bars} {dated(float(curve.across[-1]), curve.calendar)}"


def curve_svg(curve: Curve, title: str) -> Markup:
    """Draw a curve with its bands: privacy shaded, confidence dashed."""
    drawn = curve.pooled()
    shapes: list[object] = []
    if "privacy" in drawn.bands:
        low, high = (drawn.path(end) for end in drawn.bands["privacy"])
        outline = [*zip(*low, strict=True), *reversed(list(zip(*high, strict=True)))]
        shapes.append(el("polygon", points=_points(drawn, outline), class_="pv", opacity="0.35"))
    for end in drawn.bands.get("confidence", ()):
        line = _points(drawn, zip(*drawn.path(end), strict=True))
        shapes.append(el("polyline", points=line, class_="cf", stroke_dasharray="3 3", opacity="0.75"))
    line = _points(drawn, zip(*drawn.path(drawn.values), strict=True))
    shapes.append(el("polyline", points=line, class_="cf"))
    if drawn.truth is not None:
        line = _points(drawn, zip(*drawn.path(drawn.truth), strict=True))
        shapes.append(
            el("polyline", points=line, class_="cf", stroke_dasharray="1 4", stroke_linecap="round")
        )
    return _picture(drawn, title, _words(curve, "Shaded", "Dashed"), shapes)


def bars_svg(curve: Curve, title: str) -> Markup:
    """Draw counts as bars: what the noise hides is a thick line on each, what sampling hides beside it a thin one."""
    shapes: list[object] = []
    places = list(zip(curve.across[:-1], curve.across[1:], curve.values, strict=True))
    for left, right, value in places:
        (x0, top), (x1, ground) = (
            _place(curve, float(left), max(float(value), 0.0)),
            _place(curve, float(right), 0.0),
        )
        size = {"width": f"{max(x1 - x0 - 2, 1):.1f}", "height": f"{max(ground - top, 0):.1f}"}
        shapes.append(el("rect", x=f"{x0 + 1:.1f}", y=f"{top:.1f}", class_="pv", opacity="0.3", **size))
    for kind, look in (("confidence", "cf"), ("privacy", "er")):
        for (left, right, _), low, high in zip(places, *curve.bands.get(kind, ((), ())), strict=False):
            ends = (_place(curve, float(left + right) / 2, float(end)) for end in (low, high))
            shapes.append(el("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in ends), class_=look))
    if curve.truth is not None:
        line = _points(curve, zip(*curve.path(curve.truth), strict=True))
        shapes.append(
            el("polyline", points=line, class_="cf", stroke_dasharray="1 4", stroke_linecap="round")
        )
    return _picture(curve, title, _words(curve, "Thick lines", "Thin lines"), shapes)


def _picture(curve: Curve, title: str, words: str, shapes: Sequence[object]) -> Markup:
    """Put shapes that stretch with the card under numbers that do not."""
    drawn = el(
        "svg",
        *shapes,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        width="100%",
        height=str(_HEIGHT),
        preserveAspectRatio="none",
    )
    return el(
        "svg", el("title", title), el("desc", words), *_ticks(curve), drawn, height=str(_HEIGHT), role="img"
    )


def _words(curve: Curve, privacy: str, confidence: str) -> str:
    top = int(curve.values.argmax())
    return (
        f"{curve.values.size:,} values from {dated(float(curve.across[0]), curve.calendar)} to {dated(float(curve.across[-1]), curve.calendar)}; "
        f"the largest, {number(float(curve.values[top]))}, at {dated(float(curve.across[top]), curve.calendar)}. "
        f"{privacy}: privacy intervals. {confidence}: confidence intervals."
        + ("" if curve.truth is None else " Dotted: the truth of these public data.")
    )


def _place(curve: Curve, x: float, y: float) -> tuple[float, float]:
    wide = float(curve.across[-1] - curve.across[0]) or 1.0
    right = _LEFT + (_WIDTH - _LEFT - _RIGHT) * (x - float(curve.across[0])) / wide
    share = (min(max(y, curve.low), curve.high) - curve.low) / (curve.high - curve.low)
    return right, _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - share)


def _points(curve: Curve, corners: Iterable[tuple[float, float]]) -> str:
    return " ".join("{:.1f},{:.1f}".format(*_place(curve, x, y)) for x, y in corners)


def _ticks(curve: Curve) -> list[object]:
    """Draw lines across at round values, and say these and the places along the ground."""
    made: list[object] = []
    for y in {0.0, *ticks(curve.low, curve.high, 5)}:
        down = _place(curve, float(curve.across[0]), y)[1]
        ends = {
            "x1": _percent(_LEFT),
            "x2": _percent(_WIDTH - _RIGHT),
            "y1": f"{down:.1f}",
            "y2": f"{down:.1f}",
        }
        made.append(el("line", class_="axis", **ends))
        made.append(_text(_percent(_LEFT - 6), f"{down + 4:.1f}", number(y), "end"))
    for x in np.linspace(curve.across[0], curve.across[-1], 5):
        at = _place(curve, float(x), 0.0)[0]
        made.append(_text(_percent(at), f"{_HEIGHT - 6}", dated(float(x), curve.calendar), "middle"))
    return made


def _percent(x: float) -> str:
    return f"{100 * x / _WIDTH:.2f}%"


def _text(x: str, y: str, said: str, anchor: str) -> Markup:
    return el("text", said, x=x, y=y, text_anchor=anchor, class_="tick")


@dataclass(frozen=True, slots=True)
class Beside:
    """Values to draw beside the released ones, and what to call them."""

    values: Floats
    label: str = "beside"

    @classmethod
    def of(cls, estimate: Estimate, given: ArrayLike | None, *, truth: bool | None) -> Beside | None:
        """Return what is drawn beside an estimate: what was given, or the truth of public data where that is shown."""
        if given is not None and truth:
            raise OptionError("Draw beside= or truth=True, not both.")
        if given is not None:
            return cls(_shaped(given, estimate.shape))
        known = estimate.truth if truth else None if truth is False else estimate.overlay
        return None if known is None else cls(_shaped(known, estimate.shape), "truth (public data)")


def _shaped(values: ArrayLike, shape: tuple[int, ...]) -> Floats:
    found = np.asarray(values, dtype=float)
    if found.shape != shape:
        raise OptionError(f"beside= has the shape {found.shape}; the estimate has {shape}.")
    return np.ravel(found)


def date_axis(axes: Axes, calendar: str) -> None:
    """Write dates under an axis of matplotlib's that counts steps of a calendar."""
    axes.xaxis.set_major_formatter(lambda x, _: dated(x, calendar))
    axes.tick_params(axis="x", rotation=20)


def draw_curve(
    axes: Axes, curve: Curve, text: str, beside: Beside | None = None, look: Mapping[str, Any] | None = None
) -> None:
    """Draw a curve on axes of matplotlib's.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    curve : Curve
        What to draw.
    text : str
        The question.
    beside : Beside, optional
        Values to draw beside.
    look : mapping, optional
        matplotlib's own words for the line of the values.
    """
    _draw(axes, curve, look or {})
    if beside is not None:
        axes.plot(*curve.path(beside.values), color=_BESIDE, lw=1.2, label=beside.label)
    axes.set_xlabel(text, color=_SOFT)
    axes.set_ylim(bottom=curve.low)
    axes.margins(x=0)
    if curve.calendar is not None:
        date_axis(axes, curve.calendar)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(axis="y", color="#e9eaee", linewidth=0.8)


def _draw(axes: Axes, curve: Curve, look: Mapping[str, Any]) -> None:
    """Draw the value as a line, privacy as a band, confidence as dashed lines."""
    if "privacy" in curve.bands:
        (x, low), (_, high) = (curve.path(end) for end in curve.bands["privacy"])
        axes.fill_between(x, low, high, color=_ACCENT, alpha=0.35, lw=0, label="privacy interval")
    for place, end in enumerate(curve.bands.get("confidence", ())):
        name = None if place else "confidence interval"
        axes.plot(*curve.path(end), color=_INK, lw=0.9, ls=(0, (3, 3)), label=name)
    axes.plot(*curve.path(curve.values), **{"color": _INK, "linewidth": 1.5, "label": "value", **look})
