"""ε ↔ ±: what accuracy a loss buys, and what loss an accuracy needs. Both are dragged, neither is spent.

Beside ± stands what it means in people: how many, asked without noise, would make the statistic as accurate.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

from dpnb.cards.card import Card
from dpnb.cards.digits import number
from dpnb.cards.explain import at_most
from dpnb.errors import LossError, PlanError
from dpnb.inference import effective_size
from dpnb.privacy.risk import posterior
from dpnb.release import Measurement
from dpnb.statistics import Share
from dpnb.statistics._base import digits
from dpnb.statistics.ratio import mean_noise_sd
from dpnb.widgets import register
from dpnb.widgets._base import Interaction
from dpnb.widgets.curve import Curve, Curves, kind_of, left_of, needs_size, question_of
from dpnb.widgets.wording import still

__all__ = ["Seesaw"]

_SHOWN = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_ASSUMED = 1000


class Seesaw(Interaction):
    """What accuracy a loss buys for one question.

    Parameters
    ----------
    question : Estimate
        A question, released or not.
    assume_n : int, optional
        A number of people to plan with where the true one is private; by default the public number of rows, else 1,000.
    epsilon : number, optional
        Where the handle stands at first.

    Examples
    --------
    >>> dpnb.widgets.seesaw(hiv.got.mean())  # doctest: +SKIP
    """

    module: ClassVar[str] = "seesaw"
    follows: ClassVar[bool] = True

    def __init__(self, question: Any, *, assume_n: int | None = None, epsilon: float | None = None) -> None:
        self._question = question_of(question)
        self._kind = kind_of(self._question)
        self._size = planned_size(self._question, assume_n)
        self._start = epsilon
        self._curves = Curves()
        self._people: dict[int | None, dict[str, Any] | None] = {}
        super().__init__()

    def describe(self) -> dict[str, Any]:
        """Price the question anew; see :class:`Interaction`."""
        asked = self.chosen.get("size")
        if asked is not None:
            self._size = _whole(asked)
        question, kind = self._question, self._kind
        checked = question.checked
        curve = self._curves.of(question, kind, self._size)
        if self._size not in self._people:
            self._people[self._size] = people_of(question, curve, kind, self._size)
        left = left_of(question)
        low, high = checked.kind.domain(checked.setting)
        return {
            "question": question.text,
            "dataset": question.dataset.name,
            "symbol": "ε" if kind == "epsilon" else "ρ",
            "kind": kind,
            "curve": curve.to_json(),
            "law": law_of(question, kind, curve),
            "unit": "rows" if checked.statistic in {"count", "histogram", "value_counts"} else "",
            "left": left,
            "size": {"planned": self._size, "asked": needs_size(question)},
            "start": min(left or 1.0, 1.0) if self._start is None else float(self._start),
            "domain": [float(low), float(high)],
            "people": self._people[self._size],
            "register": register.to_json() if kind == "epsilon" else [],
            "problem": "",
        }

    @property
    def loss(self) -> float:
        """The loss under the handle."""
        curve = self.curve
        return self.held("loss", self.facts["start"], curve.loss[0], curve.loss[-1])

    @property
    def curve(self) -> Curve:
        """The priced curve that is drawn."""
        return Curve(tuple(self.facts["curve"]["loss"]), tuple(self.facts["curve"]["width"]))

    def card(self) -> Card:
        """Draw the table of the see-saw; see :class:`Interaction`."""
        facts = self.facts
        curve, symbol = self.curve, facts["symbol"]
        rows = []
        for loss in _SHOWN:
            words = at_most(posterior(0.1, loss)) if symbol == "ε" else "–"
            fits = "" if loss <= facts["left"] else " (more than is left)"
            row = [f"{symbol} {loss:g}{fits}", f"± {digits(curve.width_at(loss))}", words]
            if facts["people"] is not None:
                row.append(f"{effective(facts['people'], curve, loss):,} people")
            rows.append(row)
        head = ["loss", "95 % privacy interval", "a 10 % guess becomes at most"]
        if facts["people"] is not None:
            head.append(f"as accurate as, of {facts['people']['n']:,}")
        notes = [f"{symbol} {number(facts['left'])} is left in {facts['dataset']}."]
        if facts["size"]["asked"]:
            notes.append(f"Planned for {facts['size']['planned']:,} people: the true number is private.")
        return still("seesaw", "What accuracy costs", facts["question"], head, rows, facts, notes=notes)


def people_of(question: Measurement, curve: Curve, kind: str, planned: int | None) -> dict[str, Any] | None:
    """Return what turns ± into people: the sampling variance of a mean (of a difference, of two equal arms), and the
    sd of its noise along the curve.

    The spread of the values is private, so it is planned with: even over the declared bounds, which for a yes-or-no column is
    half and half. None where the statistic is no mean, or its number of people is neither public nor planned.
    """
    checked = question.checked
    size = planned if checked.setting.public_n is None else checked.setting.public_n
    arms = {"mean": 1, "difference": 2}.get(checked.statistic, 0)
    if arms == 0 or size is None or checked.setting.cells > arms:
        return None
    number = checked.setting.number()
    width = float(number.highest - number.lowest)
    spread = width / 2 if number.binary else width / math.sqrt(12)
    sds = []
    for loss in curve.loss:
        try:
            pricing = checked.kind.price(checked.setting, Share(kind, Fraction(str(loss))))  # type: ignore[arg-type]
        except (LossError, PlanError):
            return None
        law = mean_noise_sd(checked.setting, pricing, size / arms, float(number.centred().half) / 2)
        sds.append(float(law.sd) * math.sqrt(arms))
    return {"n": int(size), "sampling": (arms * spread) ** 2 / size, "noise": sds}


def effective(people: dict[str, Any], curve: Curve, loss: float) -> int:
    """Return how many people without noise would be as accurate, rounded down."""
    noise = Curve(curve.loss, tuple(people["noise"])).width_at(loss)
    return math.floor(effective_size(people["n"], people["sampling"], noise**2))


def law_of(question: Measurement, kind: str, curve: Curve) -> dict[str, Any] | None:
    """Return the one law behind a half-width, scaled to a loss of 1, where there is one: then the browser is exact."""
    checked = question.checked
    pricing = checked.kind.price(checked.setting, Share(kind, Fraction(1)))  # type: ignore[arg-type]
    law = getattr(pricing.parts[0].mechanism, "law", None) if len(pricing.parts) == 1 else None
    if law is None or question.checked.statistic not in {"count", "histogram", "value_counts"}:
        return None
    del curve
    scale = float(law.scale) if law.kind == "discrete-laplace" else float(law.variance) ** 0.5
    return {"kind": law.kind, "scale": scale, "unit": 1.0}


def planned_size(question: Measurement, asked: int | None) -> int | None:
    """Return the number of people to plan with: as asked, else the public number of rows, else 1,000; None where it is public."""
    if asked is not None:
        return _whole(asked)
    if not needs_size(question):
        return None
    rows = question.dataset.schema.unit.public_rows
    return _ASSUMED if rows is None else int(rows)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or value < 1:
        raise PlanError("assume_n is a whole number of people above 0. Write for example assume_n=1000.")
    return int(value)
