"""What one row does to a matching, drawn: each row before and after, the pairs, and an arrow at the row that changes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpnb.cards.markup import Markup, el
from dpnb.exhibits.drawing import frame
from dpnb.inference.matching import match

_WIDTH, _LEFT, _RIGHT, _PANEL, _APART, _OFF, _ROOM = 360, 24, 348, 116, 42, 6, 8
_SOFT, _HAIR, _CONTROL, _TREATED = "#5b5e66", "#dcdde2", "#8a4600", "#0a6480"
Row = tuple[float, int]
"""A score from 0 to 1, and an arm."""


@dataclass(frozen=True, slots=True)
class Change:
    """A table whose first row becomes another one.

    Parameters
    ----------
    rows : tuple of (float, int)
        Score and arm of each row.
    to : (float, int)
        What the first row becomes.
    caliper : float
        The largest difference of scores within a pair.
    """

    rows: tuple[Row, ...]
    to: Row
    caliper: float

    def tables(self) -> list[tuple[tuple[Row, ...], list[tuple[int, int]]]]:
        """Return both tables, each with its pairs by place."""
        found = []
        for table in (self.rows, (self.to, *self.rows[1:])):
            scores, arms = zip(*table, strict=True)
            pairs = match(scores, arms, self.caliper)
            found.append((table, list(zip(pairs.second.tolist(), pairs.first.tolist(), strict=True))))
        return found

    def differing(self) -> int:
        """How many rows the matched sets differ by; the changed row counts twice where it is in both."""
        before, after = ({row for pair in pairs for row in pair} for _, pairs in self.tables())
        return len(before ^ after) + 2 * (0 in before and 0 in after)

    @property
    def text(self) -> str:
        """The change in words."""
        before, after = (2 * len(pairs) for _, pairs in self.tables())
        old, new = (f"the {_arm(arm)} row at {score:g}" for score, arm in (self.rows[0], self.to))
        return f"{old} becomes {new}: {before} rows matched, then {after}; {self.differing()} differ"


def matching_picture(changes: tuple[Change, ...]) -> Markup:
    """Return a picture of some changes, one below the other.

    Parameters
    ----------
    changes : tuple of Change
    """
    title, height = "One row changes: who is matched before and after", _PANEL * len(changes) + 22
    said = ". ".join(f"{change.text[0].upper()}{change.text[1:]}" for change in changes) + "."
    return frame(
        title,
        said,
        (_WIDTH, height),
        *(part for place, change in enumerate(changes) for part in _panel(change, _PANEL * place)),
        _words("▲ treated  ● control · filled: matched", _LEFT, height - 8),
    )


def _arm(arm: int) -> str:
    return "treated" if arm else "control"


def _panel(change: Change, top: int) -> list[Markup]:
    tables = change.tables()
    before, after = (2 * len(pairs) for _, pairs in tables)
    parts = [
        _words(f"{before} rows matched, then {after}; {change.differing()} differ", _LEFT, top + 18),
        _arrow(_place(change.rows[0], top + 44), _place(change.to, top + 44 + _APART)),
    ]
    for side, (table, pairs) in enumerate(tables):
        level = top + 44 + _APART * side
        places = [_place(row, level) for row in table]
        parts += [
            _words("AB"[side], 4, level + 4),
            el("path", fill="none", stroke=_HAIR, d=f"M{_LEFT} {level}H{_RIGHT}"),
        ]
        parts += [_line(places[one], places[other]) for one, other in pairs]
        matched = {row for pair in pairs for row in pair}
        parts += [
            _mark(x, y, arm, filled=row in matched)
            for row, ((_, arm), (x, y)) in enumerate(zip(table, places, strict=True))
        ]
    return parts


def _place(row: Row, level: int) -> tuple[float, float]:
    score, arm = row
    return _LEFT + 10 + (_RIGHT - _LEFT - 20) * score, level + (_OFF if arm else -_OFF)


def _mark(x: float, y: float, arm: int, *, filled: bool) -> Markup:
    colour = _TREATED if arm else _CONTROL
    look = {"fill": colour if filled else "none", "stroke": colour, "stroke_width": "1.5"}
    if arm:
        return el("path", d=f"M{x:.1f} {y - 5:.1f}l5 9h-10z", **look)
    return el("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="4.5", **look)


def _line(one: tuple[float, float], other: tuple[float, float]) -> Markup:
    return el(
        "path",
        stroke=_SOFT,
        stroke_width="2",
        d=f"M{one[0]:.1f} {one[1]:.1f}L{other[0]:.1f} {other[1]:.1f}",
    )


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> Markup:
    """Return an arrow that begins and ends a little away from both marks."""
    turn = math.atan2(end[1] - start[1], end[0] - start[0])
    along = (_ROOM * math.cos(turn), _ROOM * math.sin(turn))
    (x, y), (tip, drop) = (start[0] + along[0], start[1] + along[1]), (end[0] - along[0], end[1] - along[1])
    barbs = [(tip - 7 * math.cos(turn + by), drop - 7 * math.sin(turn + by)) for by in (-0.45, 0.45)]
    head = "".join(f"M{tip:.1f} {drop:.1f}L{a:.1f} {b:.1f}" for a, b in barbs)
    return el(
        "path",
        fill="none",
        stroke=_SOFT,
        stroke_width="1.5",
        d=f"M{x:.1f} {y:.1f}L{tip:.1f} {drop:.1f}{head}",
    )


def _words(text: str, x: int, y: int) -> Markup:
    return el("text", text, x=str(x), y=str(y), fill=_SOFT, font_size="13", font_family="sans-serif")
