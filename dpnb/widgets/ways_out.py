"""The ways out of a plan that does not fit: the largest loss that does, an answer that is stored, one statistic less.

Each way is a whole cell, tried before it is offered: the session plans it, which spends nothing. Running the cell is a
person's act. A way that there is not says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpnb.client.asked import batch_of
from dpnb.client.views import PlanView
from dpnb.errors import DpnbError
from dpnb.plan.request import Ask
from dpnb.privacy.event import PrivacyEvent
from dpnb.privacy.loss import PrivacyLoss, brief, exact_text, floored_digits
from dpnb.release import Measurement
from dpnb.widgets.arithmetic import whole_weights
from dpnb.widgets.asking import handle_of
from dpnb.widgets.curve import Kind, kind_of

__all__ = ["ways_out"]

_NAME = re.compile(r"[A-Za-z_]\w*")
_STEPS = 24


@dataclass(frozen=True, slots=True)
class _Line:
    """One question of the plan: its place, name, text, how the notebook writes it, its share, and what it costs now."""

    place: int
    name: str
    text: str
    spoken: str
    share: Fraction
    cost: PrivacyLoss

    def written(self, more: str = "") -> str:
        """Return the line of a cell that asks it."""
        asked = f"{self.spoken}{more}"
        return f"{self.name} = {asked}" if _NAME.fullmatch(self.name) else asked


def ways_out(view: PlanView, body: str | None = None) -> list[dict[str, str]]:
    """Return the three ways out of a plan that does not fit, and none for one that fits.

    Parameters
    ----------
    view : PlanView
        The plan, as it stands now.
    body : str, optional
        The cell that asked it, without its magic line; by default one line for each question.

    Returns
    -------
    list of dict
        ``kind``, the ``label`` of a button, ``why`` in a sentence, and the ``cell``; empty where there is no such way.
    """
    if view.fits:
        return []
    return [_less(view, body), _stored(view), _drop(view)]


def _way(kind: str, label: str, why: str, cell: str = "") -> dict[str, str]:
    return {"kind": kind, "label": label, "why": why, "cell": cell}


def _kind(view: PlanView) -> Kind:
    return kind_of(view.measurements[0]) if view.ask.kind in {None, "within"} else view.ask.kind  # type: ignore[return-value]


def _symbol(kind: Kind) -> str:
    return "ε" if kind == "epsilon" else "ρ"


def _lines(view: PlanView) -> list[_Line]:
    """Each question of the plan; what is stored or public costs nothing and has no share."""
    zero, handle = PrivacyLoss.zero(view.cap.measure), handle_of(view.dataset)
    return [
        _Line(
            place,
            view.label(place),
            item.text,
            replace(item.checked.question, dataset=handle).text,
            Fraction(0) if item.share is None or view.stored[place] else item.share.amount,
            zero if view.stored[place] else item.loss,
        )
        for place, item in enumerate(view.items)
    ]


def _less(view: PlanView, body: str | None) -> dict[str, str]:
    kind, lines = _kind(view), _lines(view)
    found = _largest(view, kind, sum((one.share for one in lines), Fraction(0)))
    if found is None:
        return _way("less", "Ask less", "nothing is left that this cell could be answered with")
    now = f"{_symbol(kind)} {brief(found, 'down')}"
    if body:  # what spends by itself says so in the cell
        lines = [one for one in lines if view.measurements[one.place].spend is None]
    written = body or "\n".join(one.written() for one in lines)
    magic = _magic(kind, found, lines)
    return _way("less", f"Release with {now}", "the most that fits, split as planned", f"{magic}\n{written}")


def _largest(view: PlanView, kind: Kind, asked: Fraction) -> Fraction | None:
    """Return the largest loss, in three digits, at which the plan fits."""
    pinned = (one.spend for one in view.measurements if one.spend is not None and one.spend_as == kind)
    low, high, best = sum(pinned, Fraction(0)), asked, None
    for _ in range(_STEPS):
        tried = floored_digits((low + high) / 2)
        if tried <= low:
            break
        if _fits(view, kind, tried):
            low = best = tried
        else:
            high = tried
    return best


def _fits(view: PlanView, kind: Kind, loss: Fraction) -> bool:
    """Whether the plan fits at a loss, priced here; what is stored at the asked loss is stored at less."""
    try:
        batch = batch_of(view.measurements, _asking(view, kind, loss))
    except DpnbError:
        return False
    free = {item.key for place, item in enumerate(view.items) if view.stored[place]}
    cost = PrivacyLoss.zero(view.cap.measure)
    for item in batch.priced.items:
        cost = cost if item.key in free else cost + item.loss
    return cost.fits_in(view.left)


def _asking(view: PlanView, kind: Kind, loss: Fraction) -> Ask:
    given: dict[str, Any] = {kind: loss}
    return Ask(**given, fresh=view.ask.fresh, assume_n=view.ask.assume_n)


def _stored(view: PlanView) -> dict[str, str]:
    kind, lines = _kind(view), _lines(view)
    held = _answers(view, kind, lines)
    none = _way("stored", "Use a stored answer", "none of these questions has a stored answer")
    if not held:
        return none
    asked = [
        _spending(view.measurements[one.place], kind, held.get(one.place, one.share))
        for one in lines
        if one.share
    ]
    total = sum((held.get(one.place, one.share) for one in lines), Fraction(0))
    found = _tried(view, asked, _asking(view, kind, total))
    if found is None or not any(found.stored):
        return none
    if not found.fits:
        return _way("stored", "Use a stored answer", "the questions that are not stored still cost too much")
    alone = len(asked) == 1
    body = "\n".join(
        one.written(
            f".spend({kind}={exact_text(held[one.place])})" if one.place in held and not alone else ""
        )
        for one in lines
    )
    names = _listed([one.name for one in lines if one.place in held])
    cost = "free" if not found.cost else f"costs {found.cost}"
    return _way(
        "stored",
        f"Use the stored {names}",
        f"as it was released before: {cost}",
        f"%%dp {kind}={exact_text(total)}\n{body}",
    )


def _answers(view: PlanView, kind: Kind, lines: Iterable[_Line]) -> dict[int, Fraction]:
    """For each question that was answered before, the most that one answer to it has cost."""
    best: dict[str, Fraction] = {}
    for act in view.dataset.session.ledger(view.dataset):
        if act["kind"] == "charge" and act["answered"]:
            for text, events in zip(act["texts"], act.get("events", ()), strict=False):
                best[text] = max(best.get(text, Fraction(0)), _share(events, kind))
    return {one.place: best[one.text] for one in lines if one.share and best.get(one.text)}


def _share(events: Sequence[Mapping[str, Any]], kind: Kind) -> Fraction:
    """The loss that was asked for a question, from its events; 0 where it was asked in the other unit."""
    found = [PrivacyEvent.from_json(event) for event in events]
    if any((event.kind == "gaussian") is (kind == "epsilon") for event in found):
        return Fraction(0)
    return sum((event.amount for event in found), Fraction(0))


def _spending(question: Measurement, kind: Kind, loss: Fraction) -> Measurement:
    one = Measurement(question.question, question.checked, dataset=question.dataset)
    one.share(spend=loss, spend_as=kind)
    return one


def _drop(view: PlanView) -> dict[str, str]:
    kind = _kind(view)
    lines = sorted((one for one in _lines(view) if one.share), key=lambda one: one.cost.amount)
    if len(lines) < 2:
        return _way("drop", "Drop a statistic", "this plan asks one question alone")
    whole = sum((one.cost for one in lines), PrivacyLoss.zero(view.cap.measure))
    for dropped in _candidates(lines):
        if not _enough(whole, dropped, view.left):
            continue
        rest = [one for one in _lines(view) if one.place not in {gone.place for gone in dropped}]
        total = sum((one.share for one in rest), Fraction(0))
        asked = [_spending(view.measurements[one.place], kind, one.share) for one in rest if one.share]
        found = _tried(view, asked, _asking(view, kind, total))
        if found is not None and found.fits:
            names = _listed([one.name for one in dropped])
            body = "\n".join(one.written() for one in rest)
            why = f"the rest costs {found.cost}, with the same ±"
            return _way("drop", f"Drop {names}", why, f"{_magic(kind, total, rest)}\n{body}")
    return _way("drop", "Drop a statistic", "whichever is kept still costs too much")


def _candidates(lines: Sequence[_Line]) -> Iterable[tuple[_Line, ...]]:
    """What to leave out: the cheapest question that is enough, else the dearest ones together."""
    yield from ((one,) for one in lines)
    for many in range(2, len(lines)):
        yield tuple(lines[-many:])


def _enough(whole: PrivacyLoss, dropped: Iterable[_Line], left: PrivacyLoss) -> bool:
    """Whether what is left would hold the rest: looked up before the rest is planned, which takes its time."""
    return whole.fits_in(sum((one.cost for one in dropped), left))


def _tried(view: PlanView, asked: Sequence[Measurement], ask: Ask) -> PlanView | None:
    try:
        return view.dataset.session.preview(asked, ask)
    except DpnbError:
        return None


def _listed(names: Sequence[str]) -> str:
    """Some names as the label of a button, which names three at most."""
    return " and ".join(names if len(names) <= 3 else [", ".join(names[:2]), f"{len(names) - 2} more"])


def _magic(kind: Kind, total: Fraction, lines: Iterable[_Line]) -> str:
    """The magic line: the loss, and the weights where the shares differ."""
    paying = [one for one in lines if one.share]
    weights = whole_weights([float(one.share) for one in paying])
    unequal = len(set(weights)) > 1 and all(_NAME.fullmatch(one.name) for one in paying)
    said = ",".join(f"{one.name}:{weight}" for one, weight in zip(paying, weights, strict=True))
    return f"%%dp {kind}={exact_text(total)}" + (f" weights={said}" if unequal else "")
