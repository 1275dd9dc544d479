"""The number line under drawn intervals: round ticks with their numbers, one scale for lines whose units agree.

Places are percentages, and type is in pixels: a drawing fits any width, and its numbers stay readable on a telephone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from dpnb.cards.facts import Line
from dpnb.cards.markup import Markup, el
from dpnb.cards.ticks import MOST, ticks
from dpnb.cards.tracks import APART, Scale
from dpnb.inference import digits

_LONG = 7
Label = Callable[[float], str]


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


def scales_of(lines: Sequence[Line]) -> list[Scale]:
    """Return the scale of each line: that of all lines in its unit, where it can be read on it; else its own."""
    own = [Scale.over(line.entries, line.trail) for line in lines]
    found = []
    for line, mine in zip(lines, own, strict=True):
        alike = [
            other for one, other in zip(lines, own, strict=True) if line.unit and one.unit == line.unit
        ] or [mine]
        all_of_them = Scale(min(one.low for one in alike), max(one.high for one in alike))
        narrow = min(one.high - one.low for one in alike)
        found.append(mine if all_of_them.high - all_of_them.low > APART * narrow else all_of_them)
    return found
