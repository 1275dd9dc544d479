"""Intervals drawn apart: the privacy interval is a solid bar, the confidence interval a thin line with end caps.

Positions are percentages, so a drawing fits any width without distortion. Every drawing carries its text as a title and a
description; the same numbers always stand beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal

from dpnb.cards.curves import MOST, ticks
from dpnb.cards.facts import Entry, Line
from dpnb.cards.markup import Markup, el
from dpnb.cards.payments import Step
from dpnb.inference import digits

APART = 25.0
"""What has a stretch so many times smaller than that of all is drawn on an axis of its own: it would be a dot."""
_PAD = 0.06
_LONG = 7
Label = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Scale:
    """The stretch of the number line that a drawing shows."""

    low: float
    high: float

    @classmethod
    def over(cls, entries: Iterable[Entry], trail: Iterable[Step] = ()) -> Scale:
        """The scale that holds all values and intervals of some entries, and earlier intervals."""
        found: list[float] = [end for step in trail for end in (step.low, step.high)]
        for entry in entries:
            found += [
                *([entry.value] if entry.said is None else []),
                *(end for pair in entry.intervals for end in pair),
                *([] if entry.truth is None else [entry.truth]),
            ]
        known = [x for x in found if math.isfinite(x)]
        if not known:
            return cls(0.0, 1.0)
        low, high = min(known), max(known)
        pad = (high - low) * _PAD or abs(low) * 0.05 or 0.5
        return cls(low - pad, high + pad)

    def place(self, x: float) -> float:
        """Where a number lies, from 0 to 1."""
        if math.isnan(x):
            return 0.5
        return min(max((x - self.low) / (self.high - self.low), 0.0), 1.0)

    def percent(self, x: float) -> str:
        """Where a number lies, in percent."""
        return f"{100 * self.place(x):.2f}%"


def entry_scales(line: Line, shared: Scale) -> list[Scale] | None:
    """Return a scale for each coefficient of a regression, where one axis would make some of them dots; else nothing.

    They have no unit in common: of an intercept in thousands and a slope in thousandths only one can be read on one axis.
    """
    own = [Scale.over([entry]) for entry in line.entries] if line.axis == "term" else []
    if not own or shared.high - shared.low <= APART * min(one.high - one.low for one in own):
        return None
    return own


def _bar(
    scale: Scale, pair: tuple[float, float], y: float, height: float, opacity: str | None = None
) -> Markup:
    left, right = scale.place(pair[0]), scale.place(pair[1])
    width = max(right - left, 0.004)
    return el(
        "rect",
        x=f"{100 * left:.2f}%",
        y=f"{y - height / 2:g}",
        width=f"{100 * width:.2f}%",
        height=f"{height:g}",
        class_="pv",
        opacity=opacity,
    )


def _ground(scale: Scale, y: int, height: int) -> list[Markup]:
    """The number line, and a hair at each of its round numbers."""
    across = el("line", x1="0", x2="100%", y1=str(y), y2=str(y), class_="axis")
    places = [scale.percent(x) for x in ticks(scale.low, scale.high)]
    return [
        across,
        *(el("line", x1=x, x2=x, y1="0", y2=str(height), class_="axis") for x in places),
    ]


def _whisker(scale: Scale, pair: tuple[float, float], y: float) -> str:
    left, right = scale.percent(pair[0]), scale.percent(pair[1])
    caps = "".join(
        el("line", x1=x, x2=x, y1=f"{y - 4:g}", y2=f"{y + 4:g}", class_="cf") for x in (left, right)
    )
    return el("line", x1=left, x2=right, y1=f"{y:g}", y2=f"{y:g}", class_="cf") + caps


def _dot(scale: Scale, entry: Entry, y: float, *, inside: bool) -> Markup | None:
    """The value as a dot; nothing where the number is not what is shown."""
    if entry.said is not None:
        return None
    style = {"stroke": "#fff", "stroke-width": "1.5"} if inside else {}
    return el("circle", cx=scale.percent(entry.value), cy=f"{y:g}", r="4", class_="dot", **style)


def _diamond(scale: Scale, entry: Entry, y: float) -> Markup | None:
    """The truth as a hollow diamond, where it is shown."""
    if entry.truth is None or not math.isfinite(entry.truth):
        return None
    at = scale.percent(entry.truth)
    shape = el("path", d=f"M0 {y - 6:g}L6 {y:g}L0 {y + 6:g}L-6 {y:g}Z", class_="cf")
    return el("svg", shape, x=at, width="1", height="1", overflow="visible")


def _drawing(height: int, title: str, words: str, *shapes: object) -> Markup:
    return el(
        "svg",
        el("title", title),
        el("desc", words),
        *shapes,
        height=str(height),
        role="img",
        aria_label=f"{title}: {words}",
    )


def span_track(kind: str, line: Line, entry: Entry, pair: tuple[float, float], scale: Scale) -> Markup:
    """Draw one interval on its own track."""
    axis = _ground(scale, 9, 18)
    solid = kind == "privacy"
    shape = _bar(scale, pair, 9, 8) if solid else Markup(_whisker(scale, pair, 9))
    words = f"{line.span(pair)}, value {line.answer(entry)}"
    return _drawing(18, f"{kind} interval", words, *axis, shape, _dot(scale, entry, 9, inside=solid))


def truth_track(line: Line, entry: Entry, scale: Scale) -> Markup:
    """Draw the truth on its own track, beside the value."""
    axis = _ground(scale, 9, 18)
    words = f"{line.true(entry)} (public data), value {line.answer(entry)}"
    return _drawing(18, "truth", words, *axis, _diamond(scale, entry, 9))


def past_track(line: Line, place: int, scale: Scale) -> Markup:
    """Draw an earlier privacy interval of a line: the older, the fainter."""
    step = line.trail[place]
    axis = _ground(scale, 7, 14)
    faint = f"{0.25 + 0.35 * (place + 1) / len(line.trail):.2f}"
    shape = _bar(scale, (step.low, step.high), 7, 6, faint)
    words = f"{line.span((step.low, step.high))}, when {step.paid} was paid"
    return _drawing(14, "earlier privacy interval", words, *axis, shape)


def entry_track(line: Line, entry: Entry, scale: Scale) -> Markup:
    """Draw both intervals of one row of a table, one above the other."""
    shapes: list[object] = [*_ground(scale, 11, 22)]
    words = []
    for kind, pair, y in (("privacy", entry.privacy, 6), ("confidence", entry.confidence, 16)):
        if pair is None:
            continue
        shapes.append(_bar(scale, pair, y, 6) if kind == "privacy" else Markup(_whisker(scale, pair, y)))
        words.append(f"{kind} interval {line.span(pair)}")
    shapes += [_dot(scale, entry, 11, inside=False), _diamond(scale, entry, 11)]
    words += [f"truth {line.true(entry)}"] if entry.truth is not None else []
    return _drawing(22, f"{entry.key}: {line.answer(entry)}", "; ".join(words) or "no interval", *shapes)


def text_track(entry: Entry, pair: tuple[float, float], scale: Scale, kind: str, width: int = 30) -> str:
    """Draw an interval with characters: heavy for privacy, capped for confidence, dots for an earlier one."""
    left, right = (round(scale.place(end) * (width - 1)) for end in pair)
    here = min(max(round(scale.place(entry.value) * (width - 1)), left), right)
    inner, ends = {"privacy": ("━", "━━"), "past": ("·", "··")}.get(kind, ("─", "├┤"))
    cells = [" "] * width
    cells[left : right + 1] = [inner] * (right - left + 1)
    cells[left], cells[right] = ends[0], ends[1]
    if entry.said is None and kind != "past":
        cells[here] = "●"
    return "".join(cells).rstrip()


# ---------------------------------------------------------------- the number line under them


def labelled(scale: Scale, line: Line) -> list[tuple[float, str]]:
    """Return the ticks of a line's axis with their numbers; fewer where the numbers are long."""
    label: Label = _plain if line.calendar is None else lambda x: digits.dated(round(x), line.calendar)
    for most in (MOST, 4, 3):
        found = [(x, label(x)) for x in ticks(scale.low, scale.high, most)]
        if all(len(text) <= _LONG for _, text in found) or most == 3:
            return found
    return []


def _plain(value: float) -> str:
    """Write a tick without digits that say nothing."""
    return f"{int(value):,}" if value.is_integer() else format(Decimal(repr(value)), ",f")


def axis_svg(scale: Scale, line: Line) -> Markup:
    """Draw the numbers under a track."""
    marks = [
        part
        for x, text in labelled(scale, line)
        for part in (
            el("line", x1=scale.percent(x), x2=scale.percent(x), y1="0", y2="4", class_="axis"),
            el("text", text, x=scale.percent(x), y="15", text_anchor="middle", class_="tick"),
        )
    ]
    return el("svg", *marks, height="18", aria_hidden="true")


def scale_of(line: Line) -> Scale:
    """Return the scale of a line: that of its own intervals. Rows of one question share it; questions do not."""
    return Scale.over(line.entries, line.trail)
