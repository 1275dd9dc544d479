"""The pictures of still forms: a bar for each of a few numbers, lines along a logarithmic axis, intervals below each other.

Places of bars and lines are percentages and letters are in pixels: a picture fits any width and stays readable on a telephone. Each
says in words what it shows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpnb.cards.card import Card, frame
from dpnb.cards.markup import Markup, clean, code, el
from dpnb.estimate.table import aligned
from dpnb.exhibits.drawing import themed
from dpnb.inference.digits import number
from dpnb.widgets import _base
from dpnb.widgets.registry import Facts

Bar = tuple[str, float, str]
Line = tuple[str, Sequence[float], Sequence[float]]
"""A name, places along, and heights."""
Interval = tuple[str, float, float, float, str]
"""A name, the lower end, the value, the upper end, and how wide the line is."""

_WIDTH, _ROW, _HEIGHT = 640, 38, 190
_LEFT, _RIGHT, _TOP, _FLOOR = 11.0, 78.0, 12, 160
_SOFT, _HAIR, _ACCENT = "#5b5e66", "#dcdde2", "#0a6480"
_DASHES = (None, "7 5", "2 4", "10 4 2 4")
_LONGEST, _MOST = 34, 10
_NAMES, _MARGIN, _STEP, _SHORT = 130, 14, 22, 20


def bars(title: str, rows: Sequence[Bar], marks: Sequence[Sequence[float]] = ()) -> Markup:
    """Return a picture of bars.

    Parameters
    ----------
    title : str
        What is drawn.
    rows : sequence of (str, float, str)
        A name, the length of its bar from 0 to 1, and the number in words. At most ten are drawn.
    marks : sequence of sequences of float, optional
        Where strokes stand on each bar.
    """
    shown = list(rows[:_MOST])
    parts = [part for place, row in enumerate(shown) for part in _bar(_ROW * place, row)]
    for place, strokes in enumerate(marks[:_MOST]):
        parts += [_stroke(_ROW * place, mark) for mark in strokes]
    said = "; ".join(f"{name}: {words}" for name, _, words in shown) or "nothing yet"
    return _picture(title, said, _ROW * max(len(shown), 1), parts)


def _bar(top: int, row: Bar) -> list[Markup]:
    name, share, words = row
    share = min(max(share, 0.0), 1.0) if math.isfinite(share) else 1.0
    size = {"y": str(top + 19), "height": "9", "x": "0"}
    return [
        _words(_short(name), x="0", y=str(top + 13)),
        _words(words, x="100%", y=str(top + 13), text_anchor="end"),
        el("rect", width="100%", fill=_HAIR, **size),
        el("rect", width=f"{100 * share:.2f}%", fill=_ACCENT, **size),
    ]


def _stroke(top: int, share: float) -> Markup:
    at = f"{100 * min(max(share, 0.0), 1.0):.2f}%"
    return el("line", x1=at, x2=at, y1=str(top + 16), y2=str(top + 31), stroke=_SOFT, stroke_width="2")


def intervals(
    title: str,
    said: str,
    rows: Sequence[Interval],
    ends: tuple[float, float],
    at: tuple[float, str] | None = None,
) -> Markup:
    """Return a picture of intervals on one axis, each with a dot at its value.

    Parameters
    ----------
    title, said : str
        What is drawn, and the same in words.
    rows : sequence of Interval
        From above.
    ends : (float, float)
        Of the axis; what lies beyond is cut there.
    at : (float, str), optional
        Where a dashed line goes across, and what it stands for.
    """
    floor = _STEP * len(rows)
    parts = [part for place, row in enumerate(rows) for part in _interval(row, ends, _STEP * place + 11)]
    if at is not None:
        x = _along(at[0], ends)
        parts.append(el("path", d=f"M{x:.1f} 0V{floor}", stroke="currentColor", stroke_dasharray="4 3"))
        parts.append(_said(x, floor + 15, at[1], "middle"))
    return el(
        "svg",
        el("title", clean(title)),
        el("desc", clean(said)),
        *parts,
        viewBox=f"0 0 {_WIDTH} {floor + 20}",
        role="img",
        aria_label=f"{title}: {said}",
        font_size="11",
    )


def _along(value: float, ends: tuple[float, float]) -> float:
    share = min(max((value - ends[0]) / (ends[1] - ends[0]), 0.0), 1.0)
    return _NAMES + (_WIDTH - _NAMES - _MARGIN) * share


def _interval(row: Interval, ends: tuple[float, float], y: int) -> list[Markup]:
    name, low, value, high, wide = row
    left, right = _along(low, ends), _along(high, ends)
    return [
        _said(0, y + 4, _short(name, _SHORT), "start"),
        el(
            "path",
            d=f"M{left:.1f} {y}H{max(right, left + 1):.1f}",
            stroke="currentColor",
            stroke_width=wide,
            opacity="0.75",
        ),
        el("circle", cx=f"{_along(value, ends):.1f}", cy=y, r=3, fill="currentColor"),
    ]


def _said(x: float, y: float, words: str, anchor: str) -> Markup:
    return el("text", words, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, fill="currentColor")


def lines(title: str, drawn: Sequence[Line], along: str, at: float | None = None) -> Markup:
    """Return a picture of lines on logarithmic paper, each named where it ends.

    Parameters
    ----------
    title : str
        What is drawn.
    drawn : sequence of (str, sequence of float, sequence of float)
        Up to four lines; places and heights are above 0.
    along : str
        What the numbers below the axis are called: ``ε``.
    at : float, optional
        Where an upright line stands.
    """
    wide = _ends([x for _, xs, _ in drawn for x in xs])
    tall = _ends([y for _, _, ys in drawn for y in ys])
    parts = [*_frame(wide, tall, along)]
    for dashes, (_, xs, ys) in zip(_DASHES, drawn, strict=False):
        corners = " ".join(
            f"{10 * _across(x, wide):.1f},{_down(y, tall):.1f}" for x, y in zip(xs, ys, strict=True)
        )
        parts.append(_stretched(el("polyline", points=corners, stroke_dasharray=dashes, **_STROKE)))
    parts += _names([(name, _down(ys[-1], tall)) for name, _, ys in drawn])
    if at is not None and wide[0] <= at <= wide[1]:
        place = f"{_across(at, wide):.2f}%"
        parts.append(el("line", x1=place, x2=place, y1=str(_TOP), y2=str(_FLOOR), stroke=_SOFT))
    said = "; ".join(
        f"{name or title}: {number(ys[0])} at {along} {number(xs[0])}, {number(ys[-1])} at {along} {number(xs[-1])}"
        for name, xs, ys in drawn
    )
    return _picture(title, said, _HEIGHT, parts)


_STROKE = {"fill": "none", "stroke": _ACCENT, "stroke_width": "2", "vector_effect": "non-scaling-stroke"}


def _stretched(shape: Markup) -> Markup:
    """Put a shape, a thousand wide, on the whole width."""
    return el(
        "svg",
        shape,
        viewBox=f"0 0 1000 {_HEIGHT}",
        preserveAspectRatio="none",
        width="100%",
        height=str(_HEIGHT),
    )


def _ends(values: Sequence[float]) -> tuple[float, float]:
    known = [value for value in values if 0 < value < math.inf] or [1.0]
    low, high = min(known), max(known)
    return (low, high) if high > low else (low / 2, low * 2)


def _share(value: float, ends: tuple[float, float]) -> float:
    held = min(max(value, ends[0]), ends[1])
    return math.log(held / ends[0]) / math.log(ends[1] / ends[0])


def _across(value: float, ends: tuple[float, float]) -> float:
    return _LEFT + (_RIGHT - _LEFT) * _share(value, ends)


def _down(value: float, ends: tuple[float, float]) -> float:
    return _FLOOR - (_FLOOR - _TOP) * _share(value, ends)


def _powers(ends: tuple[float, float]) -> list[float]:
    """Return the powers of ten between two ends, at most five of them."""
    first, last = math.ceil(math.log10(ends[0]) - 1e-9), math.floor(math.log10(ends[1]) + 1e-9)
    found = [10.0**power for power in range(first, last + 1)]
    return found[:: max(1, math.ceil(len(found) / 5))] or [ends[0], ends[1]]


def _frame(wide: tuple[float, float], tall: tuple[float, float], along: str) -> list[Markup]:
    made = []
    for tick in _powers(tall):
        down = f"{_down(tick, tall):.1f}"
        made.append(el("line", x1=f"{_LEFT}%", x2=f"{_RIGHT}%", y1=down, y2=down, stroke=_HAIR))
        made.append(
            _words(number(tick), x=f"{_LEFT - 1}%", y=f"{_down(tick, tall) + 4:.1f}", text_anchor="end")
        )
    for tick in _powers(wide):
        place = f"{_across(tick, wide):.2f}%"
        made.append(el("line", x1=place, x2=place, y1=str(_FLOOR), y2=str(_FLOOR + 5), stroke=_SOFT))
        made.append(_words(f"{along} {number(tick)}", x=place, y=str(_FLOOR + 19), text_anchor="middle"))
    return made


def _names(ends: Sequence[tuple[str, float]]) -> list[Markup]:
    """Write names where lines end, one below the other where they would meet."""
    made, last = [], -math.inf
    for name, down in sorted(ends, key=lambda one: one[1]):
        last = max(down + 4, last + 15)
        made.append(_words(_short(name, 12), x=f"{_RIGHT + 1}%", y=f"{last:.1f}"))
    return made


def _short(name: str, most: int = _LONGEST) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _words(text: str, **places: str) -> Markup:
    return el("text", text, fill=_SOFT, font_size="12", font_family="sans-serif", **places)


def _picture(title: str, said: str, high: int, parts: Sequence[object]) -> Markup:
    return themed(
        el(
            "svg",
            el("title", clean(title)),
            el("desc", clean(said)),
            *parts,
            xmlns="http://www.w3.org/2000/svg",
            width=str(_WIDTH),
            height=str(high),
            role="img",
            aria_label=f"{title}. {said}",
        )
    )


#: What every still form says about its missing controls, where the front end is installed, and where it is not.
DRAG = "Open this notebook with a kernel and run the cell to drag it. Moving a control spends nothing."
ABSENT = (
    "The front end of dpnb is not installed here, so nothing can be dragged. Install a wheel of dpnb; or, with Node.js "
    "20.19 or newer, type pip install . in its source folder. Then restart the kernel. Moving a control spends nothing."
)


def drag() -> str:
    """Return how to have the controls of a still form: by a kernel, or first by the front end."""
    return DRAG if _base.built() else ABSENT


def still(
    kind: str,
    title: str,
    about: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    facts: Facts,
    *,
    picture: Markup | None,
    notes: Sequence[str] = (),
) -> Card:
    """Return a card with a picture and a table.

    Parameters
    ----------
    kind : str
        What the interaction is called.
    title, about : str
        Its heading, and what it is about.
    head, rows : sequences of str
        The table; first column left, the others right.
    facts : dict
        For the JSON form.
    picture : Markup or None
        An SVG document of the same numbers; None where there are none yet.
    notes : sequence of str
        Sentences below the table.
    """
    table = el(
        "table",
        el("thead", el("tr", *(el("th", name, scope="col", class_=_side(i)) for i, name in enumerate(head)))),
        el("tbody", *(_row(row) for row in rows)),
    )
    html = frame(
        el("div", el("h3", title), code(about), class_="head"),
        None if picture is None else picture,
        el("div", table, class_="scroll", tabindex="0", role="group", aria_label="table"),
        *(el("p", note, class_="soft") for note in (*notes, drag())),
    )
    cells = [list(map(clean, head)), *(list(map(clean, row)) for row in rows)]
    lines = [f"  {line}" for line in aligned(cells)]
    text = "\n".join([clean(title), clean(about), *lines, *map(clean, notes)])
    record = {"format": 1, "interaction": kind, "title": clean(title), "facts": facts}
    return Card(html, text, record, "interaction")


def _side(place: int) -> str | None:
    return "num" if place else None


def _row(row: Sequence[str]) -> Markup:
    first, *others = row
    first = first.replace("ε ", "ε\u00a0").replace("ρ ", "ρ\u00a0")  # a loss stays on one line
    return el("tr", el("th", first, scope="row"), *(el("td", cell, class_="num") for cell in others))


def when(at: str) -> str:
    """Return a time for people: ``2026-01-02 03:04 UTC``."""
    return f"{at[:16].replace('T', ' ')} UTC"
