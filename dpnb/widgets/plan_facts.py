"""The facts of a plan: what its magic line says, which questions share its loss, what each costs, and what its split board draws.

Priced curves, laws of noise, shares of stored answers and public constants; nothing here draws, spends or reads a row. All that
follows a dragged divider is computed in the browser from these facts: the kernel is not asked while a hand moves.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from dataclasses import replace
from fractions import Fraction

from dpnb.cards.markup import clean
from dpnb.client.plan_view import PlanView
from dpnb.errors import LossError, PlanError
from dpnb.estimate import PendingQuestion
from dpnb.estimate.derived import Outlook
from dpnb.planner.price import PricedQuestion
from dpnb.planner.stored_share import gain
from dpnb.statistics._base import all_count
from dpnb.trusted.measurements import events
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import exact_text
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.plan import Share
from dpnb.widgets.arithmetic import Rate, event_rho, largest_loss
from dpnb.widgets.curve import EPSILONS, RHOS, Curve, Curves, Kind, as_known, curve_of, grid, kind_of
from dpnb.widgets.host_questions import handle_of, opening, spoken, text_of
from dpnb.widgets.registry import Facts, Names, is_number
from dpnb.widgets.snapshot import listed

#: A ± and its number, at the beginning of what is said of an accuracy.
NUMBER = re.compile(r"^± [\d.,]+(e[+-]\d+)?")
_LEAST = Fraction(1, 10**6)
#: Every so many points of the loss grid an accuracy in words is kept.
_EVERY = 3
_MOST_CURVES = 500
_COARSE: dict[tuple[str, str, Kind, int | None, float | None], Curve] = {}
_NAME = re.compile(r"[A-Za-z_]\w*")
_SHARE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?")
"""What a magic line can give a share: a name, or a figure of a SELECT."""


def asked_in(view: PlanView) -> Kind:
    """Return the loss that a plan's magic line names: what was asked, else what the budget counts."""
    if view.ask.rho is not None:
        return "rho"
    return "epsilon" if view.ask.epsilon is not None else kind_of(view.measurements[0])


def planned_line(view: PlanView, body: str | None = None, *, verb: str = "") -> Facts:
    """Return what a plan's magic line says and may say, as strict JSON.

    Parameters
    ----------
    view : PlanView
    body : str, optional
        The body of the cell that asks this; by default one line for each question.
    verb : str
        ``"release"`` where a cell without it would stop at its plan again; before it ``"sql"`` where the body is SQL.
    """
    kind, pure = asked_in(view), view.cap.measure is Measure.PURE
    text, split = written(view) if body is None else body, splitting(view)
    asked = [_amount(view.items[place]) for place in split]
    total = math.fsum(asked)
    return {
        "kind": kind,
        "symbol": "ε" if kind == "epsilon" else "ρ",
        "paid": {"symbol": view.cap.measure.symbol, "power": 2 if kind == "epsilon" and not pure else 1},
        "loss": total,
        "left": float(view.dataset.budget.state().left.amount),
        "cap": float(view.cap.amount),
        "shares": [one / total for one in asked] if total else [],
        "questions": [_line_question(view, place, kind) for place in range(len(view.items))],
        "body": text,
        "verb": verb,
        "rest": _rest(view),
        "pinned": _pinned(view, split, text),
    }


def as_it_stands(view: PlanView) -> PlanView:
    """Return a plan as it stands after what was released since; what it shows besides its questions stays."""
    now = view.dataset.session.preview(view.measurements, view.ask, view.labels)
    return replace(now, named=view.named, dropped=view.dropped, hidden=view.hidden)


def splitting(view: PlanView) -> list[int]:
    """Return the places of the questions that share the line's loss: those that are not public and have no loss of their own."""
    places = zip(view.items, view.measurements, strict=True)
    return [place for place, (item, one) in enumerate(places) if not item.public and one.spend is None]


def _line_question(view: PlanView, place: int, kind: Kind) -> Facts:
    item, name = view.items[place], view.label(place)
    owns = view.measurements[place].spend is not None
    return {
        "name": spoken(clean(name), view.dataset),
        "text": spoken(clean(item.text), view.dataset),
        "state": "public" if item.public else "own" if owns else "split",
        "own": _amount(item) if owns or item.public else 0.0,
        "rate": _rate(view, item, kind),
        "stored": bool(view.stored[place]),
        "held": _held(view, place, kind),
        "nameable": _SHARE.fullmatch(name) is not None,
    }


def _amount(item: PricedQuestion) -> float:
    return 0.0 if item.share is None else float(item.share.amount)


def _rate(view: PlanView, item: PricedQuestion, kind: Kind) -> Rate:
    """What a loss of one costs in the budget's measure: one; or the events of ε 1, where ρ is counted and ε asked."""
    if view.cap.measure is Measure.PURE or kind == "rho" or item.share is None:
        return 1.0
    one = Share("epsilon", Fraction(1))
    at, known = (item.share, item.events) if item.share.kind == "epsilon" else (one, _events(view, item, one))
    return listed(event.scaled(1 / at.amount) for event in known)


def _events(view: PlanView, item: PricedQuestion, share: Share) -> tuple[PrivacyEvent, ...]:
    return events(item.checked.price(share).parts, view.priced.facts)


def _held(view: PlanView, place: int, kind: Kind) -> Facts | None:
    """The stored answer of a question: the largest loss that it covers, and its own accuracy."""
    share = view.held[place] if view.held else None
    if share is None:
        return None
    item = view.items[place]
    own = item.preview if item.own is not None else None
    words, width = (
        accuracy_at(item, share, planned_size(item)) if own is None else (own.words, own.half_width)
    )
    amount = float(share.amount)
    if share.kind != kind and kind == "epsilon":
        amount = largest_loss([1.0], [None], [_rate(view, item, kind)], 2, amount, 1e6)
    elif share.kind != kind:
        amount = math.fsum(map(event_rho, listed(_events(view, item, share))))
    return {"amount": amount, "words": clean(words), "width": width}


def planned_size(item: PricedQuestion) -> int | None:
    """Return the number of rows that a question is planned with: asked for, or released."""
    return None if item.size is None else int(item.size)


def accuracy_at(item: PricedQuestion, share: Share, size: int | None) -> tuple[str, float | None]:
    """Return what is known of a question's accuracy at a share: in words, and its half-width."""
    checked, n = item.checked, None if size is None else float(size)
    pricing = checked.price(share)
    return checked.kind.accuracy(checked.setting, pricing, n), checked.kind.half_width(
        checked.setting, pricing, n
    )


def _rest(view: PlanView) -> str:
    """What else the magic line says."""
    parts = [] if view.ask.assume_n is None else [f"assume_n={view.ask.assume_n}"]
    return " ".join([*parts, "fresh"] if view.ask.fresh else parts)


def _pinned(view: PlanView, split: list[int], body: str) -> str:
    """Why the split cannot be written on the magic line; empty where it can."""
    if ".weight(" in body:
        return "This cell sets weights in its body: change them there."
    unnamed = [view.items[place].text for place in split if not _SHARE.fullmatch(view.label(place))]
    if unnamed and len(split) > 1:
        return f"{spoken(clean(unnamed[0]), view.dataset)} has no name in this cell: give it one, and its share can be moved."
    return ""


def written(view: PlanView) -> str:
    """Return a cell's body that asks this plan: one line for each named question and each derived value that is plain Python."""
    handle = handle_of(view.dataset)
    lines = opening(view.dataset).splitlines()
    for place, item in enumerate(view.items):
        name = view.label(place)
        asked = replace(item.checked.question, dataset=handle).text + _spent(view.measurements[place])
        lines.append(f"{name} = {asked}" if _NAME.fullmatch(name) else asked)
    for name, one in view.named:
        if one.op is not None and _NAME.fullmatch(name) and _plain(one.text):
            lines.append(f"{name} = {spoken(one.text, view.dataset)}")
    return "\n".join(lines)


def _spent(question: PendingQuestion) -> str:
    """What a question spends by itself, as a cell says it."""
    return "" if question.spend is None else f".spend({question.spend_as}={exact_text(question.spend)})"


def _plain(text: str) -> bool:
    """Whether an expression is one that a cell understands: operators on questions, no function by name alone."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, RecursionError):
        return False
    return not any(isinstance(node, ast.Call) and isinstance(node.func, ast.Name) for node in ast.walk(tree))


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
    """The losses that are set: what the browser set last, where it is a split of these questions."""
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
    return is_number(value) and value >= 0


def _question(
    view: PlanView, told: Outlook, place: int, kind: Kind, curves: Curves | None, at: float | None
) -> Facts:
    item, rows = view.items[place], told.assumed[place]
    size = planned_size(item)
    free, times = at is None, float(gain(item))
    # a stored answer has a width of its own, also where nobody knows how wide another would be
    foreseen = replace(item, own=None).preview.half_width
    curve = said = full = None
    if not free and foreseen is not None:
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
    key = (version, checked.question.canonical(), kind, size, as_known(question).setting.place)
    if key not in _COARSE:
        if len(_COARSE) >= _MOST_CURVES:
            _COARSE.clear()
        _COARSE[key] = curve_of(question, kind, size, every=_EVERY)
    return _COARSE[key]


def _exact(loss: float) -> Fraction:
    return max(Fraction(f"{loss:.6g}"), _LEAST)


def _said(item: PricedQuestion, kind: Kind, size: int | None, times: float) -> list[list[float | str]]:
    """Words by loss, for a question whose accuracy is no ±."""
    found: list[list[float | str]] = []
    for loss in itertools.islice(grid(*(EPSILONS if kind == "epsilon" else RHOS)), 0, None, _EVERY):
        try:
            found.append([float(loss) / times, clean(accuracy_at(item, Share(kind, loss), size)[0])])
        except (LossError, PlanError):
            continue  # this little loss is below what the question can be answered with
    return found
