"""The picture of a lever that stands still: claimed, actual and corrected at each of its settings, one line style each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dpnb.cards.markup import Markup, el
from dpnb.exhibits.page import Record
from dpnb.inference.digits import loss_figure

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _FLOOR = 640, 244, 64, 12, 14, 176
_SOFT, _HAIR = "#5b5e66", "#dcdde2"
_STROKES: dict[str, dict[str, str]] = {
    "claimed": {"stroke": _SOFT, "stroke_width": "2", "stroke_dasharray": "7 5"},
    "actual": {"stroke": "#8a4600", "stroke_width": "2.5"},
    "corrected": {"stroke": "#0a6480", "stroke_width": "2.5", "stroke_dasharray": "2 4"},
}
_THEMED = {
    _SOFT: "var(--soft,#5b5e66)",
    _HAIR: "var(--hair,#dcdde2)",
    "#8a4600": "var(--dp-warn,#8a4600)",
    "#0a6480": "var(--dp-accent,#0a6480)",
}
Across = Callable[[int], float]
"""Where a setting of the lever lies."""
_SPAN = 100
"""From this ratio of the largest to the smallest on, the axis is logarithmic."""


def drawing(told: Record) -> Markup | None:
    """Return the picture of an exhibit's lever, or None where it has none.

    Parameters
    ----------
    told : dict
        What :func:`dpnb.exhibits.page.record` says.
    """
    lever = told["lever"]
    if lever is None:
        return None
    height = _Height.of([lever["claimed"], lever["actual"], lever["corrected"] or []])
    across = _across(len(lever["values"]))
    at = lever["at"]
    said = f"At {loss_figure(lever['values'][at])}: claimed {loss_figure(lever['claimed'][at])}, actual {_said(lever['actual'][at])}."
    return frame(
        f"{lever['unit']} along {lever['label']}",
        said,
        (_WIDTH, _HEIGHT),
        *_axes(lever, height, across),
        el("path", stroke=_SOFT, d=f"M{across(at):.1f} {_TOP}V{_FLOOR}"),
        *(
            el("path", fill="none", d=_path(lever[name], height, across), **_STROKES[name])
            for name in ("claimed", "actual", "corrected")
            if lever[name]
        ),
    )


def frame(title: str, said: str, size: tuple[int, int], *parts: Markup) -> Markup:
    """Return a picture of some width and height that tells its title and what it shows in words."""
    width, height = map(str, size)
    return el(
        "svg",
        el("title", title),
        el("desc", said),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=f"{title}. {said}",
    )


def _said(value: float | str) -> str:
    return "infinite" if isinstance(value, str) else loss_figure(value)


def _across(count: int) -> Across:
    room = _WIDTH - _LEFT - _RIGHT
    return lambda place: _LEFT + room * place / max(count - 1, 1)


@dataclass(frozen=True, slots=True)
class _Height:
    """Where a value lies between the two ends of the axis; what is infinite lies on the edge of the picture."""

    low: float
    high: float

    @classmethod
    def of(cls, lines: Sequence[Sequence[float | str]]) -> _Height:
        """Start at 0, or at the least value where a logarithm shows more."""
        known = [v for line in lines for v in line if not isinstance(v, str)]
        top, least = max(known), min((v for v in known if v > 0), default=1.0)
        return cls(least if top > _SPAN * least and min(known) > 0 else 0.0, top)

    def __call__(self, value: float | str) -> float:
        """Return the place of a value in the picture."""
        if isinstance(value, str):
            return _TOP
        share = math.log(value / self.low) / math.log(self.high / self.low) if self.low else value / self.high
        return _FLOOR - (_FLOOR - _TOP - 6) * share


def _axes(lever: Record, height: _Height, across: Across) -> list[Markup]:
    last = len(lever["values"]) - 1
    ends = [(0, "start"), (last, "end")]
    if 0.08 < lever["at"] / last < 0.92:
        ends.append((lever["at"], "middle"))
    return [
        el("path", fill="none", stroke=_HAIR, d=f"M{_LEFT} {_TOP}V{_FLOOR}H{_WIDTH - _RIGHT}"),
        _words(
            loss_figure(height.high), x=str(_LEFT - 6), y=f"{height(height.high) + 4:.0f}", text_anchor="end"
        ),
        _words(
            loss_figure(height.low), x=str(_LEFT - 6), y=f"{height(height.low) + 4:.0f}", text_anchor="end"
        ),
        *(
            _words(loss_figure(lever["values"][p]), x=f"{across(p):.0f}", y=str(_FLOOR + 17), text_anchor=s)
            for p, s in ends
        ),
        _words(lever["label"], x=str(_LEFT), y=str(_FLOOR + 36)),
        _words(
            f"{lever['unit']}: ╌ claimed  ━ actual" + ("  ┄ corrected" if lever["corrected"] else ""),
            x=str(_LEFT),
            y=str(_FLOOR + 60),
        ),
    ]


def _words(text: str, **places: str) -> Markup:
    return el("text", text, fill=_SOFT, font_size="13", font_family="sans-serif", **places)


def themed(picture: Markup) -> Markup:
    """Return the picture in the colours of the page around it, light or dark."""
    text = str(picture)
    for plain, variable in _THEMED.items():
        text = text.replace(f'"{plain}"', f'"{variable}"')
    return Markup(text)


def _path(values: Sequence[float | str], height: _Height, across: Across) -> str:
    points = [f"{across(i):.1f} {height(value):.1f}" for i, value in enumerate(values)]
    return "M" + "L".join(points)
