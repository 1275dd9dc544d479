"""One picture for each result: what was seen in bars, what should be seen as a line; SVG, with its text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpnb.cards.markup import Markup, el
from dpnb.course.noise_law import NoiseLaw
from dpnb.inference.digits import number

_WIDE, _HIGH = 480, 120
_STYLE = Markup(
    "<style>.seen{fill:#0a6480;fill-opacity:.55}.law{fill:none;stroke:#b5482a;stroke-width:2}"
    ".axis{stroke:#5b5e66;stroke-width:1}text{font:12px sans-serif;fill:#3a3d44}</style>"
)


def _frame(words: str, *children: object) -> Markup:
    return el(
        "svg",
        _STYLE,
        el("title", words),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDE} {_HIGH + 24}",
        width=str(_WIDE),
        role="img",
        aria_label=words,
    )


def _text(x: float, said: str, anchor: str = "start", y: float = _HIGH + 18) -> Markup:
    return el("text", said, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor)


def _axis() -> Markup:
    return el("line", x1="0", x2=str(_WIDE), y1=str(_HIGH), y2=str(_HIGH), class_="axis")


def histogram(noise: NDArray[np.float64], law: NoiseLaw) -> Markup:
    """Draw a student's noise under the law that it should have."""
    half = 5 * law.mean_size
    if law.name == "geometric":
        half = max(round(half), 1) + 0.5
    bins = min(41, int(2 * half)) if law.name == "geometric" else 41
    edges = np.linspace(-half, half, bins + 1)
    counts = np.histogram(noise, edges)[0] / noise.size
    middles = (edges[1:] + edges[:-1]) / 2
    share = law.cdf(edges[1:]) - law.cdf(edges[:-1])
    top = max(min(counts.max(initial=0), 2.5 * share.max()), share.max()) * 1.05
    x = (middles + half) / (2 * half) * _WIDE
    bars = [_bar(at, _WIDE / bins, value / top) for at, value in zip(x, counts, strict=True) if value]
    path = " ".join(f"{at:.1f},{_HIGH - _HIGH * value / top:.1f}" for at, value in zip(x, share, strict=True))
    words = f"your noise in bars; {law.words} as a line"
    return _frame(
        words,
        *bars,
        el("polyline", points=path, class_="law"),
        _axis(),
        _text(0, number(-half)),
        _text(_WIDE / 2, "bars: your noise · line: as it should be", "middle"),
        _text(_WIDE, number(half), "end"),
    )


def _bar(middle: float, width: float, share: float) -> Markup:
    high = _HIGH * min(share, 1.0)
    return el(
        "rect",
        x=f"{middle - width / 2:.1f}",
        y=f"{_HIGH - high:.1f}",
        width=f"{width * 0.92:.1f}",
        height=f"{high:.1f}",
        class_="seen",
    )


def shares(labels: Sequence[str], seen: Sequence[float], wanted: Sequence[float]) -> Markup:
    """Draw shares in bars, and marks where they should end."""
    top = max([*seen, *wanted, 1e-9]) * 1.05
    step = _WIDE / max(len(labels), 1)
    found: list[Markup] = []
    for place, (label, share, law) in enumerate(zip(labels, seen, wanted, strict=True)):
        middle, level = (place + 0.5) * step, _HIGH - _HIGH * law / top
        found += [
            _bar(middle, step * 0.7, share / top),
            el(
                "line",
                x1=f"{middle - step * 0.4:.1f}",
                x2=f"{middle + step * 0.4:.1f}",
                y1=f"{level:.1f}",
                y2=f"{level:.1f}",
                class_="law",
            ),
        ]
        if len(labels) <= 12:
            found.append(_text(middle, label, "middle"))
    return _frame("bars: how often you answer each; marks: how often you should", *found, _axis())


def spans(rows: Sequence[tuple[str, float, float]]) -> Markup:
    """Draw intervals under each other on one axis: yours first."""
    low, high = min(row[1] for row in rows), max(row[2] for row in rows)
    room = (high - low) or 1.0
    found: list[Markup] = []
    for place, (label, start, stop) in enumerate(rows):
        y = 28 + place * 40
        ends = [(value - low) / room * (_WIDE - 20) + 10 for value in (start, stop)]
        found += [
            el(
                "line",
                x1=f"{ends[0]:.1f}",
                x2=f"{max(ends[1], ends[0] + 2):.1f}",
                y1=str(y),
                y2=str(y),
                class_="law",
            ),
            _text(10, f"{label}: {start:.5g} to {stop:.5g}", y=y - 8),
        ]
    return _frame("; ".join(f"{label} from {a:.5g} to {b:.5g}" for label, a, b in rows), *found)


def levels(rows: Sequence[tuple[str, float]]) -> Markup:
    """Draw amounts as bars under each other."""
    top = max([abs(row[1]) for row in rows] + [1e-12])
    found: list[Markup] = []
    for place, (label, value) in enumerate(rows):
        y = 12 + place * 40
        found += [
            el(
                "rect",
                x="10",
                y=str(y + 8),
                height="14",
                width=f"{abs(value) / top * (_WIDE - 20):.1f}",
                class_="seen",
            ),
            _text(10, f"{label}: {value:.6g}", y=y + 4),
        ]
    return _frame("; ".join(f"{label} {value:.6g}" for label, value in rows), *found)


def message(words: str) -> Markup:
    """Draw a word where there is nothing to draw."""
    return _frame(words, _text(_WIDE / 2, words, "middle", _HIGH / 2))
