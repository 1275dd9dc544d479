"""The bench that stands still: one bar for each publication, with guessing and the bound on the same axis."""

from __future__ import annotations

from dpnb.audit.attacks.publications import Bench, Publication
from dpnb.cards.markup import Markup, el
from dpnb.exhibits.drawing import themed

_WIDTH, _LEFT, _RIGHT, _TOP, _ROW = 640, 180, 64, 26, 30
_SOFT, _HAIR, _ACCENT, _INK = "#5b5e66", "#dcdde2", "#0a6480", "#5b5e66"


def bench_picture(found: Bench, epsilon: float) -> Markup:
    """Return the picture of a bench at an ε.

    Parameters
    ----------
    found : Bench
    epsilon : float
        Inside its losses.
    """
    floor = _TOP + _ROW * len(found.publications)
    guess = _across(found.baseline)
    said = "; ".join(
        f"{one.label}: {100 * found.share(one.key, epsilon):.0f} %" for one in found.publications
    )
    picture = el(
        "svg",
        el("title", f"share recovered by {found.name} at ε {epsilon:g}"),
        el("desc", f"{said}; guessing: {100 * found.baseline:.0f} %"),
        *(part for place, one in enumerate(found.publications) for part in _bar(found, one, epsilon, place)),
        el(
            "path", stroke=_SOFT, stroke_width="1.5", stroke_dasharray="5 4", d=f"M{guess} {_TOP - 6}V{floor}"
        ),
        _words("┆ guessing   ▮ the most that ε lets through", x=str(_LEFT), y="14"),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {floor + 8}",
        width=str(_WIDTH),
        height=str(floor + 8),
        role="img",
        aria_label=f"share recovered at ε {epsilon:g}: {said}; guessing: {100 * found.baseline:.0f} %",
    )
    return themed(picture)


def _across(share: float) -> str:
    return f"{_LEFT + (_WIDTH - _LEFT - _RIGHT) * share:.1f}"


def _bar(found: Bench, one: Publication, epsilon: float, place: int) -> list[Markup]:
    top, share = _TOP + _ROW * place, found.share(one.key, epsilon)
    end, high, low = _across(share), top + 22, top + 6
    parts = [
        _words(one.label, x=str(_LEFT - 8), y=str(top + 19), text_anchor="end"),
        el("path", fill=_HAIR, d=f"M{_LEFT} {low}H{_across(1)}V{high}H{_LEFT}Z"),
        el("path", fill=_ACCENT, d=f"M{_LEFT} {low}H{end}V{high}H{_LEFT}Z"),
        _words(f"{100 * share:.0f} %", x=str(_WIDTH - _RIGHT + 8), y=str(top + 19)),
    ]
    if one.bound is not None:
        edge = _across(one.bound(epsilon))
        parts.append(el("path", stroke=_INK, stroke_width="4", d=f"M{edge} {top + 2}V{top + 26}"))
    return parts


def _words(text: str, **places: str) -> Markup:
    return el("text", text, fill=_SOFT, font_size="13", font_family="sans-serif", **places)
