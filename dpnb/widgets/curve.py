"""A priced curve: loss → 95 % privacy half-width, made by the functions that price a release.

The kernel prices a question at the points of a logarithmic grid; the browser reads between them while a handle is dragged
(``labextension/src/maths/curve.ts`` computes what this module computes). It refuses questions whose accuracy public facts do
not give, in the words that ``within=`` uses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal
from weakref import WeakKeyDictionary

from dpnb.errors import LossError, PlanError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.planner.check import CheckedQuestion
from dpnb.statistics import Pricing
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.plan import Share

POINTS_A_DECADE = 12
#: The ends of the ε that can be dragged, and of the ρ.
EPSILONS = (0.01, 10.0)
RHOS = (0.0001, 10.0)

Kind = Literal["epsilon", "rho"]


@dataclass(frozen=True, slots=True)
class Curve:
    """Half-widths at increasing losses; between two points a power law, beyond the ends the end."""

    loss: tuple[float, ...]
    width: tuple[float, ...]

    def sooner(self, times: float) -> Curve:
        """Return the curve of what has at a loss the half-width that was bought with that many times as much."""
        return self if times == 1 else Curve(tuple(loss / times for loss in self.loss), self.width)

    def width_at(self, loss: float) -> float:
        """Return the half-width at a loss."""
        if loss <= self.loss[0]:
            return self.width[0]
        if loss >= self.loss[-1]:
            return self.width[-1]
        i = next(i for i, x in enumerate(self.loss) if x > loss)
        x0, x1, y0, y1 = (math.log(v) for v in (*self.loss[i - 1 : i + 1], *self.width[i - 1 : i + 1]))
        return math.exp(y0 + (math.log(loss) - x0) / (x1 - x0) * (y1 - y0))

    def loss_for(self, width: float) -> float | None:
        """Return the smallest loss whose half-width is at most `width`, or None where no loss of the curve is enough."""
        if not width >= self.width[-1]:
            return None
        if width >= self.width[0]:
            return self.loss[0]
        i = next(i for i, y in enumerate(self.width) if y <= width)
        x0, x1, y0, y1 = (math.log(v) for v in (*self.loss[i - 1 : i + 1], *self.width[i - 1 : i + 1]))
        return math.exp(x0 + (1.0 if y0 == y1 else (y0 - math.log(width)) / (y0 - y1)) * (x1 - x0))

    def to_json(self) -> dict[str, list[float]]:
        """Return the curve as the browser takes it."""
        return {"loss": list(self.loss), "width": list(self.width)}


def grid(low: float, high: float) -> list[Fraction]:
    """Return losses with three significant digits, evenly spaced on a log scale, both ends included."""
    count = round(POINTS_A_DECADE * math.log10(high / low))
    texts = [f"{low * (high / low) ** (i / count):.3g}" for i in range(count + 1)]
    return [Fraction(text) for text in dict.fromkeys(texts)]


def question_of(subject: object) -> PendingQuestion:
    """Return the one base question of an estimate.

    Raises
    ------
    PlanError
        If it is not a question, is made of several, or is public.
    """
    if isinstance(subject, PendingQuestion):
        return _paid(subject)
    if not isinstance(subject, Estimate):
        raise PlanError(
            f"This takes a question, not {type(subject).__name__}. For example dpnb.widgets.seesaw(hiv.got.mean())."
        )
    if subject.measurement is None:
        raise PlanError(
            "This takes one base question, and this estimate is computed from others: show one of those."
        )
    return _paid(subject.measurement.root)


def _paid(question: PendingQuestion) -> PendingQuestion:
    if getattr(question.checked, "public_value", None) is not None:
        raise PlanError(
            f"{question.text} is public: it is exact already, and free. There is nothing to drag."
        )
    return question


def kind_of(question: PendingQuestion) -> Kind:
    """Return the loss that a question's dataset counts first: ε, or ρ where the budget is a ρ."""
    dataset = question.dataset
    measure = Measure.PURE if dataset is None else dataset.schema.budget.measure
    return "epsilon" if measure is Measure.PURE else "rho"


def needs_size(question: PendingQuestion) -> bool:
    """Whether the accuracy of a question depends on a private number of people."""
    checked = question.checked
    pricing = checked.price(Share("epsilon", Fraction(1)))
    return radius_of(checked, pricing, None) is None


def left_of(question: PendingQuestion) -> float:
    """Return what is left of the budget, in the measure that is dragged."""
    left = question.dataset.budget.state().left
    return float(left.amount)


class Curves:
    """The curves of one interaction: each priced once, since a price is a function of public facts alone.

    A curve is remembered as long as its question lives, and keeps none alive.
    """

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[
            PendingQuestion, dict[tuple[Kind, int | None, float | None], Curve]
        ] = WeakKeyDictionary()

    def of(self, question: PendingQuestion, kind: Kind, size: int | None) -> Curve:
        """Return :func:`curve_of`, from memory where it was asked before."""
        known, place = self._known.setdefault(question, {}), as_known(question).setting.place
        if (kind, size, place) not in known:
            known[kind, size, place] = curve_of(question, kind, size)
        return known[kind, size, place]


def curve_of(question: PendingQuestion, kind: Kind, size: int | None, *, every: int = 1) -> Curve:
    """Price a question at every loss of the grid.

    Parameters
    ----------
    question : PendingQuestion
        The base question.
    kind : {"epsilon", "rho"}
        What is spent.
    size : int or None
        The number of people to plan with where the true one is private.
    every : int
        Every so many points of the grid: fewer are priced sooner.

    Raises
    ------
    PlanError
        Where public facts do not give the accuracy.
    """
    checked = as_known(question)
    low, high = EPSILONS if kind == "epsilon" else RHOS
    losses, widths = [], []
    for amount in grid(low, high)[::every]:
        try:
            pricing = checked.price(Share(kind, amount))
        except (LossError, PlanError):
            continue  # this little loss is below what the question can be answered with
        width = radius_of(checked, pricing, size)
        if width is None:
            raise PlanError(_no_width(question))
        losses.append(float(amount))
        widths.append(float(width))
    return Curve(tuple(losses), tuple(_falling(widths)))


def as_known(question: PendingQuestion) -> CheckedQuestion:
    """Return a question with what released answers tell of its rows."""
    dataset = question.dataset
    sizes = None if dataset is None or dataset.session is None else dataset.session.sizes(dataset)
    return question.checked if sizes is None else sizes.known(question.checked)


def radius_of(checked: CheckedQuestion, pricing: Pricing, size: int | None) -> float | None:
    """Return the 95 % half-width of an answer, or of its rank where that is what the noise moves; None where it depends on the data."""
    width = checked.kind.half_width(checked.setting, pricing, None if size is None else float(size))
    return checked.kind.rank_radius(checked.setting, pricing) if width is None else width


def by_rank(question: PendingQuestion) -> bool:
    """Whether the curve of a question is one of ranks, in rows."""
    checked = question.checked
    pricing = checked.price(Share("epsilon", Fraction(1)))
    return checked.kind.rank_radius(checked.setting, pricing) is not None


def _falling(widths: Sequence[float]) -> list[float]:
    """Return the widths as a curve that never rises and never reaches zero: a grid step can make them level."""
    found = [max(width, 1e-300) for width in widths]
    for i, (before, now) in enumerate(pairwise(found)):
        found[i + 1] = min(before, now)
    return found


def _no_width(question: PendingQuestion) -> str:
    return (
        f"The accuracy of {question.text} depends on the data, so it cannot be drawn before it is paid for. "
        "Its plan says what is known: %%dp plan epsilon=1."
    )
