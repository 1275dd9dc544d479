"""A plan under the hand: the facts that the split board draws, for the widget, the panel and the card that grows it in place.

Priced curves, laws of noise, shares of stored answers and public constants; nothing here draws, spends or reads a row. All that
follows a dragged divider is computed in the browser from these facts: the kernel need not be asked while a hand moves.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpnb.cards.markup import clean
from dpnb.client.views import PlanView
from dpnb.errors import LossError, PlanError
from dpnb.plan.price import PricedQuestion
from dpnb.privacy.measure import Measure
from dpnb.release import Measurement
from dpnb.statistics import Share
from dpnb.widgets.curve import EPSILONS, RHOS, Curve, Curves, Kind, curve_of, grid, kind_of

__all__ = ["asked_in", "board", "written"]

_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"^± [\d.,]+(e[+-]\d+)?")
_LEAST = Fraction(1, 10**6)
#: Every so many points of the loss grid an accuracy in words is kept.
_EVERY = 3
_MOST_CURVES = 500
_COARSE: dict[tuple[str, str, Kind, int | None], Curve] = {}


def asked_in(view: PlanView) -> Kind:
    """Return the loss that a plan's magic line names: what was asked, else what the budget counts."""
    if view.ask.rho is not None:
        return "rho"
    return "epsilon" if view.ask.epsilon is not None else kind_of(view.measurements[0])


def board(
    view: PlanView,
    body: str | None = None,
    chosen: Mapping[str, Any] | None = None,
    curves: Curves | None = None,
    *,
    verb: str = "",
) -> dict[str, Any]:
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
    kind, left = asked_in(view), view.dataset.budget.state().left
    text = written(view) if body is None else body
    split = [place for place in range(len(view.items)) if _splits(view, place)]
    asked = [_amount(view.items[place]) for place in split]
    total, at = math.fsum(asked), dict(zip(split, _chosen(chosen or {}, asked), strict=True))
    pure = view.cap.measure is Measure.PURE
    told = view.outlook()
    return {
        "dataset": view.dataset.name,
        "kind": kind,
        "symbol": "ε" if kind == "epsilon" else "ρ",
        "paid": {"symbol": view.cap.measure.symbol, "power": 2 if kind == "epsilon" and not pure else 1},
        "loss": total,
        "left": float(left.amount),
        "cap": float(view.cap.amount),
        "shares": [one / total for one in asked] if total else [],
        "questions": [
            _question(view, place, kind, curves, at.get(place)) for place in range(len(view.items))
        ],
        "derived": [
            {"name": clean(name), "text": clean(one.text), "forecast": forecast.to_json()}
            for name, one, forecast in zip(told.names, told.estimates, told.forecasts, strict=True)
        ],
        "others": [
            {"name": clean(one.text), "law": None if law is None else law.to_json(), "width": width}
            for one, law, width in list(zip(told.questions, told.laws, told.widths, strict=True))[
                len(view.items) :
            ]
        ],
        "body": text,
        "verb": verb,
        "rest": _rest(view),
        "pinned": _pinned(view, split, text),
        "problem": "",
    }


def _splits(view: PlanView, place: int) -> bool:
    """Whether a question takes its share from the line: it is not public and has no loss of its own."""
    return not view.items[place].public and view.measurements[place].spend is None


def _amount(item: PricedQuestion) -> float:
    return 0.0 if item.share is None else float(item.share.amount)


def _chosen(chosen: Mapping[str, Any], asked: list[float]) -> list[float]:
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


def _number(value: Any) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    )


def _question(
    view: PlanView, place: int, kind: Kind, curves: Curves | None, at: float | None
) -> dict[str, Any]:
    item, name = view.items[place], view.label(place)
    size = view.ask.assume_n
    free = at is None
    curve = said = None
    if not free and item.preview.half_width is not None:
        curve = _curve(view.measurements[place], kind, size, curves).to_json()
    elif not free:
        said = _said(item, kind, size)
    low, high = item.checked.domain
    law = _law(view, place)
    number = _NUMBER.match(item.preview.words)
    return {
        "name": clean(name),
        "text": clean(item.text),
        "state": "public" if item.public else "own" if free else "split",
        "curve": curve,
        "unit": clean(item.preview.words[number.end() :]) if number and item.preview.half_width else "",
        "words": clean(item.preview.words if not at else _accuracy(item, Share(kind, _exact(at)), size)[0]),
        "said": said,
        "at": at or 0.0,
        "own": _amount(item) if free else 0.0,
        "width": item.preview.half_width,
        "span": high - low if math.isfinite(high - low) and high > low else None,
        "rate": _rate(view, item, kind),
        "stored": bool(view.stored[place]),
        "held": _held(view, place, kind),
        "law": law,
        "nameable": _NAME.fullmatch(name) is not None,
    }


def _curve(question: Measurement, kind: Kind, size: int | None, curves: Curves | None) -> Curve:
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


def _law(view: PlanView, place: int) -> dict[str, Any] | None:
    from dpnb.plan.derived import law_of

    item, size = view.items[place], view.ask.assume_n
    if item.share is None or item.preview.half_width is None:
        return None
    pricing = item.checked.kind.price(item.checked.setting, item.share)
    law = law_of(item, pricing, None if size is None else float(size))
    return None if law is None else law.to_json()


def _exact(loss: float) -> Fraction:
    return max(Fraction(f"{loss:.6g}"), _LEAST)


def _accuracy(item: PricedQuestion, share: Share, size: int | None) -> tuple[str, float | None]:
    """What is known of a question's accuracy at a share: in words, and its half-width."""
    checked, n = item.checked, None if size is None else float(size)
    pricing = checked.kind.price(checked.setting, share)
    return checked.kind.accuracy(checked.setting, pricing, n), checked.kind.half_width(
        checked.setting, pricing, n
    )


def _said(item: PricedQuestion, kind: Kind, size: int | None) -> list[list[Any]]:
    """Words by loss, for a question whose accuracy is no ±."""
    found: list[list[Any]] = []
    for loss in itertools.islice(grid(*(EPSILONS if kind == "epsilon" else RHOS)), 0, None, _EVERY):
        try:
            found.append([float(loss), clean(_accuracy(item, Share(kind, loss), size)[0])])
        except (LossError, PlanError):
            continue  # this little loss is below what the question can be answered with
    return found


def _rate(view: PlanView, item: PricedQuestion, kind: Kind) -> float:
    """What a loss of one costs in the budget's measure: one, or half or an eighth of an ε squared where ρ is counted."""
    if view.cap.measure is Measure.PURE or kind == "rho" or item.share is None or not item.share.amount:
        return 1.0
    exact = float(item.loss.amount / item.share.amount**2) if item.share.kind == "epsilon" else 0.5
    return 0.125 if abs(exact - 0.125) < abs(exact - 0.5) else 0.5


def _held(view: PlanView, place: int, kind: Kind) -> dict[str, Any] | None:
    """The stored answer of a question: the largest loss that it covers, and its own accuracy."""
    share = view.held[place] if view.held else None
    if share is None:
        return None
    words, width = _accuracy(view.items[place], share, view.ask.assume_n)
    amount = float(share.amount)
    if share.kind != kind:
        amount = math.sqrt(2 * amount) if kind == "epsilon" else amount**2 / 2
    return {"amount": amount, "words": clean(words), "width": width}


def _rest(view: PlanView) -> str:
    """What else the magic line says."""
    parts = [] if view.ask.assume_n is None else [f"assume_n={view.ask.assume_n}"]
    return " ".join([*parts, "fresh"] if view.ask.fresh else parts)


def _pinned(view: PlanView, split: list[int], body: str) -> str:
    """Why the split cannot be written on the magic line; empty where it can."""
    if ".weight(" in body:
        return "This cell sets weights in its body: change them there."
    unnamed = [view.items[place].text for place in split if not _NAME.fullmatch(view.label(place))]
    if unnamed and len(split) > 1:
        return f"{clean(unnamed[0])} has no name in this cell: give it one, and its share can be moved."
    return ""


def written(view: PlanView) -> str:
    """Return a cell's body that asks this plan: one line for each named question and each derived value that is plain Python."""
    lines = []
    for place, item in enumerate(view.items):
        name = view.label(place)
        lines.append(f"{name} = {item.text}" if _NAME.fullmatch(name) else item.text)
    for name, one in view.named:
        if one.op is not None and _NAME.fullmatch(name) and _plain(one.text):
            lines.append(f"{name} = {one.text}")
    return "\n".join(lines)


def _plain(text: str) -> bool:
    """Whether an expression is one that a cell understands: operators on questions, no function by name alone."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, RecursionError):
        return False
    return not any(isinstance(node, ast.Call) and isinstance(node.func, ast.Name) for node in ast.walk(tree))
