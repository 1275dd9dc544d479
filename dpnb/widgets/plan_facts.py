"""A plan under the hand: the facts that the split board draws, for the widget, the panel and the card that grows it in place.

Priced curves, laws of noise, shares of stored answers and public constants; nothing here draws, spends or reads a row. All that
follows a dragged divider is computed in the browser from these facts: the kernel need not be asked while a hand moves.
"""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction
from typing import Any

from dpnb.cards.markup import clean
from dpnb.client.plan_view import PlanView
from dpnb.errors import LossError, PlanError
from dpnb.estimate import PendingQuestion
from dpnb.estimate.derived import Outlook
from dpnb.planner.price import PricedQuestion
from dpnb.planner.stored_share import gain
from dpnb.statistics._base import all_count
from dpnb.trusted.query.plan import Share
from dpnb.widgets.curve import EPSILONS, RHOS, Curve, Curves, Kind, curve_of, grid
from dpnb.widgets.host_questions import spoken, text_of
from dpnb.widgets.planned_line import accuracy_at, planned_line, planned_size, splitting
from dpnb.widgets.registry import Facts, Names

#: A ± and its number, at the beginning of what is said of an accuracy.
NUMBER = re.compile(r"^± [\d.,]+(e[+-]\d+)?")
_LEAST = Fraction(1, 10**6)
#: Every so many points of the loss grid an accuracy in words is kept.
_EVERY = 3
_MOST_CURVES = 500
_COARSE: dict[tuple[str, str, Kind, int | None], Curve] = {}


def board(
    view: PlanView,
    body: str | None = None,
    chosen: Names | None = None,
    curves: Curves | None = None,
    *,
    verb: str = "",
) -> Facts:
    """Return the facts of a plan's split board, as strict JSON.

    Parameters
    ----------
    view : PlanView
    body : str, optional
        The body of the cell that asks this; by default one line for each question.
    chosen : mapping, optional
        ``loss`` and ``shares`` as a hand set them: what is said in words is said there.
    curves : Curves, optional
        Where priced curves are kept.
    verb : str
        ``"release"`` where a cell without it would stop at its plan again.
    """
    line, told = planned_line(view, body, verb=verb), view.outlook()
    places = splitting(view)
    asked = [line["loss"] * share for share in line["shares"]] or [0.0 for _ in places]
    at = dict(zip(places, _chosen(chosen or {}, asked), strict=True))
    return {
        **line,
        "dataset": view.dataset.name,
        "questions": [
            {
                **one,
                **_question(view, told, place, line["kind"], curves, at.get(place)),
                "held": one["held"] and {**one["held"], "full": _held_full(view, place, told.assumed[place])},
            }
            for place, one in enumerate(line["questions"])
        ],
        "derived": [
            {
                "name": clean(name),
                "text": spoken(clean(one.text), view.dataset),
                "forecast": forecast.to_json(),
            }
            for name, one, forecast in zip(told.names, told.estimates, told.forecasts, strict=True)
        ],
        "others": [
            {"name": text_of(one), "law": None if law is None else law.to_json(), "width": width}
            for one, law, width in list(zip(told.questions, told.laws, told.widths, strict=True))[
                len(view.items) :
            ]
        ],
        "problem": "",
    }


def _chosen(chosen: Names, asked: list[float]) -> list[float]:
    """The losses under the hand: what the browser set last, where it is a split of these questions."""
    loss, shares, total = chosen.get("loss"), chosen.get("shares"), math.fsum(asked)
    if not _number(loss) or not loss:
        loss = total
    good = (
        isinstance(shares, list) and len(shares) == len(asked) and all(map(_number, shares)) and sum(shares)
    )
    if not good:
        shares = [one / total for one in asked] if total else asked
    return [float(loss * share) for share in shares]  # type: ignore[union-attr]


def _number(value: object) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    )


def _question(
    view: PlanView, told: Outlook, place: int, kind: Kind, curves: Curves | None, at: float | None
) -> Facts:
    item, rows = view.items[place], told.assumed[place]
    size = planned_size(item)
    free, times = at is None, float(gain(item))
    curve = said = full = None
    if not free and item.preview.half_width is not None:
        curve = _curve(view.measurements[place], kind, size, curves).sooner(times).to_json()
    elif not free and rows is not None:
        full = _curve(view.measurements[place], kind, rows, curves).sooner(times).to_json()
    elif not free:
        said = _said(item, kind, size, times)
    low, high = item.checked.domain
    law = told.laws[place]
    number = NUMBER.match(item.preview.words)
    return {
        "curve": curve,
        "unit": clean(item.preview.words[number.end() :]) if number and item.preview.half_width else "",
        "words": clean(
            item.preview.words if not at else accuracy_at(item, Share(kind, _exact(at * times)), size)[0]
        ),
        "said": said,
        "at": at or 0.0,
        "full": full,
        "width": item.preview.half_width,
        "full_width": told.widths[place],
        "given": "" if rows is None else f"{all_count(item.checked.setting.unit, rows)}, more if fewer do",
        "span": high - low if math.isfinite(high - low) and high > low else None,
        "law": None if law is None else law.to_json(),
    }


def _held_full(view: PlanView, place: int, rows: int | None) -> float | None:
    """The ± of a stored answer if all public rows count, where the number of rows behind it is private: derived values need it."""
    share = view.held[place]
    return None if rows is None or share is None else accuracy_at(view.items[place], share, rows)[1]


def _curve(question: PendingQuestion, kind: Kind, size: int | None, curves: Curves | None) -> Curve:
    """The priced curve of a question: from an interaction's memory, else a coarse one, priced once for every plan that asks it."""
    if curves is not None:
        return curves.of(question, kind, size)
    checked, version = question.checked, question.dataset.schema.version
    key = (version, checked.question.canonical(), kind, size)
    if key not in _COARSE:
        if len(_COARSE) >= _MOST_CURVES:
            _COARSE.clear()
        _COARSE[key] = curve_of(question, kind, size, every=_EVERY)
    return _COARSE[key]


def _exact(loss: float) -> Fraction:
    return max(Fraction(f"{loss:.6g}"), _LEAST)


def _said(item: PricedQuestion, kind: Kind, size: int | None, times: float) -> list[list[Any]]:
    """Words by loss, for a question whose accuracy is no ±."""
    found: list[list[Any]] = []
    for loss in itertools.islice(grid(*(EPSILONS if kind == "epsilon" else RHOS)), 0, None, _EVERY):
        try:
            found.append([float(loss) / times, clean(accuracy_at(item, Share(kind, loss), size)[0])])
        except (LossError, PlanError):
            continue  # this little loss is below what the question can be answered with
    return found
