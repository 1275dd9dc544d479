"""ε ↔ ±: what accuracy a loss buys, and what loss an accuracy needs. Both are dragged, neither is spent."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from dpnb.cards.card import Card
from dpnb.cards.digits import number
from dpnb.errors import PlanError
from dpnb.privacy.risk import posterior
from dpnb.release import Measurement
from dpnb.statistics import Share
from dpnb.statistics._base import digits
from dpnb.widgets._base import Interaction
from dpnb.widgets.curve import Curve, Curves, kind_of, left_of, needs_size, question_of
from dpnb.widgets.wording import still

__all__ = ["Seesaw"]

_SHOWN = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
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
        self._size = _size(self._question, assume_n)
        self._start = epsilon
        self._curves = Curves()
        super().__init__()

    def describe(self) -> dict[str, Any]:
        """Price the question anew; see :class:`Interaction`."""
        asked = self.chosen.get("size")
        if asked is not None:
            self._size = _whole(asked)
        question, kind = self._question, self._kind
        checked = question.checked
        curve = self._curves.of(question, kind, self._size)
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
            "problem": "",
        }

    @property
    def loss(self) -> float:
        """The loss under the handle."""
        return float(self.chosen.get("loss", self.facts["start"]))

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
            words = f"{100 * posterior(0.1, loss):.1f} %" if symbol == "ε" else "–"
            fits = "" if loss <= facts["left"] else " (more than is left)"
            rows.append((f"{symbol} {loss:g}{fits}", f"± {digits(curve.width_at(loss))}", words))
        head = ("loss", "95 % privacy interval", "a 10 % guess becomes at most")
        notes = [f"{symbol} {number(facts['left'])} is left in {facts['dataset']}."]
        if facts["size"]["asked"]:
            notes.append(f"Planned for {facts['size']['planned']:,} people: the true number is private.")
        return still("seesaw", "What accuracy costs", facts["question"], head, rows, facts, notes=notes)


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


def _size(question: Measurement, asked: int | None) -> int | None:
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
