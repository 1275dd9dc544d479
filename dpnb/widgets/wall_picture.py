"""The wall that stands still: a dot with its interval for each answer, the truth as a line, the average below, on one axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpnb.cards.markup import Markup, el

_WIDTH, _LEFT, _RIGHT, _ROW = 640, 110, 14, 22
_NAME = 14

Scale = Callable[[float], float]


def wall_picture(facts: Mapping[str, Any]) -> Markup | None:
    """Return the picture of a wall, or None while it is empty.

    Parameters
    ----------
    facts : dict
        What :func:`dpnb.widgets.wall_facts.facts_of` says.
    """
    rows = facts["answers"]
    if not rows:
        return None
    floor = _ROW * (len(rows) + 2)
    x = _scale(facts)
    return el(
        "svg",
        el("title", "answers with their 95 % privacy intervals"),
        el("desc", facts["sentence"]),
        *_truth(facts["truth"], x, floor),
        *(part for place, row in enumerate(rows) for part in _answer(row, x, _ROW * place + 10)),
        *_average(facts["average"], x, floor - 12),
        viewBox=f"0 0 {_WIDTH} {floor + 20}",
        role="img",
        aria_label=f"answers with their 95 % privacy intervals: {facts['sentence']}",
        font_size="11",
    )


def _scale(facts: Mapping[str, Any]) -> Scale:
    low, high = facts["reach"]

    def x(value: float) -> float:
        share = min(max((value - low) / (high - low), 0), 1)
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * share

    return x


def _answer(row: Mapping[str, Any], x: Scale, y: int) -> list[Markup]:
    missed = row["held"] is False
    name = row["who"] if len(row["who"]) <= _NAME else f"{row['who'][: _NAME - 1]}…"
    return [
        _text(0, y + 4, f"✕ {name}" if missed else name, "start"),
        _line(x(row["low"]), x(row["high"]), y, "2.6" if missed else "1.4"),
        el("circle", cx=f"{x(row['value']):.1f}", cy=y, r=3, fill="currentColor"),
    ]


def _average(average: Mapping[str, Any] | None, x: Scale, y: int) -> list[Markup]:
    if average is None:
        return []
    at = x(average["value"])
    return [
        _text(0, y + 4, "averaged", "start"),
        _line(x(average["low"]), x(average["high"]), y, "5"),
        el("path", d=f"M{at:.1f} {y - 6}l6 6l-6 6l-6 -6Z", fill="currentColor"),
    ]


def _truth(truth: Mapping[str, Any] | None, x: Scale, floor: int) -> list[Markup]:
    if truth is None:
        return []
    at = f"{x(truth['value']):.1f}"
    line = el("path", d=f"M{at} 0V{floor}", stroke="currentColor", stroke_dasharray="4 3")
    return [line, _text(x(truth["value"]), floor + 14, f"truth {truth['words']}", "middle")]


def _line(low: float, high: float, y: int, width: str) -> Markup:
    return el(
        "path",
        d=f"M{low:.1f} {y}H{max(high, low + 1):.1f}",
        stroke="currentColor",
        stroke_width=width,
        opacity="0.75",
    )


def _text(x: float, y: float, said: str, anchor: str) -> Markup:
    return el("text", said, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, fill="currentColor")
