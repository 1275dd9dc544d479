"""What accuracy a loss buys: the facts, for the see-saw and for the card of a pending estimate that grows it in place.

Priced curves, laws of noise and public constants; nothing here draws, spends or reads a row. A question whose accuracy public
facts do not give is refused in the words that say why.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from weakref import WeakKeyDictionary

from dpnb.errors import LossError, PlanError
from dpnb.estimate import PendingQuestion
from dpnb.inference import effective_size
from dpnb.planner.check import CheckedQuestion
from dpnb.statistics._base import SOME_ROWS
from dpnb.statistics.ratio import mean_noise_sd
from dpnb.trusted.query.plan import Share
from dpnb.widgets.curve import Curve, Curves, by_rank, kind_of, left_of, needs_size
from dpnb.widgets.host_questions import text_of
from dpnb.widgets.registry import Facts

#: The unit of a ± that is one of ranks.
RANK = "rows of rank"


class Balance:
    """The facts of see-saws: what depends on the question alone is computed once, and remembered as long as it lives."""

    def __init__(self) -> None:
        self._curves = Curves()
        self._people: WeakKeyDictionary[PendingQuestion, dict[int | None, Facts | None]] = WeakKeyDictionary()

    def of(self, question: PendingQuestion, size: int | None, start: float | None = None) -> Facts:
        """Return what the browser needs to draw it, as strict JSON.

        Parameters
        ----------
        question : PendingQuestion
            A base question that is not public.
        size : int or None
            The number of people to plan with where the true one is private; see :func:`planned_size`.
        start : float, optional
            Where the handle stands at first; by default at 1, or at half of what is left.

        Raises
        ------
        PlanError
            Where public facts do not give the accuracy.
        """
        checked, kind = question.checked, kind_of(question)
        curve = self._curves.of(question, kind, size)
        people = self._people.setdefault(question, {})
        if size not in people:
            people[size] = people_of(question, curve, kind, size)
        left = left_of(question)
        low, high = checked.kind.domain(checked.setting)
        return {
            "question": text_of(question),
            "dataset": question.dataset.name,
            "symbol": "ε" if kind == "epsilon" else "ρ",
            "kind": kind,
            "curve": curve.to_json(),
            "law": law_of(question, kind),
            "unit": "rows" if checked.kind.counts else RANK if by_rank(question) else "",
            "left": left,
            "size": {"planned": size, "asked": needs_size(question)},
            "start": min(left / 2 or 1.0, 1.0) if start is None else float(start),
            "domain": [float(low), float(high)],
            "people": people[size],
            "register": published_losses() if kind == "epsilon" else [],
            "problem": "",
        }


def people_of(question: PendingQuestion, curve: Curve, kind: str, planned: int | None) -> Facts | None:
    """Return what turns ± into people: the sampling variance of a mean (of a difference, of two equal arms), and the
    sd of its noise along the curve.

    The spread of the values is private, so it is planned with: even over the declared bounds, which for a yes-or-no column is
    half and half. None where the statistic is no mean, or its number of people is neither public nor planned.
    """
    checked = question.checked
    size = planned if checked.setting.public_n is None else checked.setting.public_n
    arms = 2 if checked.kind.arms else 1
    if not _of_means(checked) or size is None or checked.setting.cells > arms:
        return None
    number = checked.setting.number()
    width = float(number.highest - number.lowest)
    spread = width / 2 if number.binary else width / math.sqrt(12)
    sds = []
    for loss in curve.loss:
        try:
            pricing = checked.price(Share(kind, Fraction(str(loss))))  # type: ignore[arg-type]
        except (LossError, PlanError):
            return None
        law = mean_noise_sd(checked.setting, pricing, size / arms, float(number.centred().half) / 2)
        sds.append(float(law.sd) * math.sqrt(arms))
    return {"n": int(size), "sampling": (arms * spread) ** 2 / size, "noise": sds}


def _of_means(checked: CheckedQuestion) -> bool:
    """Whether the answer is a mean, or a difference of means: what can be planned from means and spreads, and is of a number."""
    return checked.kind.plannable and checked.kind.target == "number"


def effective(people: Facts, curve: Curve, loss: float) -> int:
    """Return how many people without noise would be as accurate, rounded down."""
    noise = Curve(curve.loss, tuple(people["noise"])).width_at(loss)
    return math.floor(effective_size(people["n"], people["sampling"], noise**2))


def law_of(question: PendingQuestion, kind: str) -> Facts | None:
    """Return the one law behind a half-width, scaled to a loss of 1, where there is one: then the browser is exact."""
    checked = question.checked
    pricing = checked.price(Share(kind, Fraction(1)))  # type: ignore[arg-type]
    law = getattr(pricing.parts[0].mechanism, "law", None) if len(pricing.parts) == 1 else None
    if law is None or not checked.kind.counts:
        return None
    scale = float(law.scale) if law.kind == "discrete-laplace" else float(law.variance) ** 0.5
    return {"kind": law.kind, "scale": scale, "unit": 1.0}


def planned_size(question: PendingQuestion, asked: int | None) -> int | None:
    """Return the number of people to plan with: as asked, as released, at most as many as are public, else 1,000; None where it is public."""
    if asked is not None:
        return whole(asked)
    if not needs_size(question):
        return None
    sizes, checked = question.dataset.session.sizes(question.dataset), question.checked
    return sizes.planned(checked) or sizes.known(checked).setting.at_most or SOME_ROWS


def whole(value: object) -> int:
    """Return a number of people that was asked for.

    Raises
    ------
    PlanError
        If it is no whole number above 0.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or value < 1:
        raise PlanError("assume_n is a whole number of people above 0. Write for example assume_n=1000.")
    return int(value)


@dataclass(frozen=True, slots=True)
class Deployment:
    """One published ε: who, for what, and whom it protects."""

    epsilon: float
    who: str
    what: str
    protects: str


REGISTER = (
    Deployment(1.68, "Google", "symptom search trends", "one person's searches of one day"),
    Deployment(2.0, "Apple", "which health data are kept", "one device and day, noised on the device"),
    Deployment(2.19, "Google", "vaccination search trends", "one person's searches of one day, δ 1e-5"),
    Deployment(4.0, "Apple", "emoji in use", "one device and day, noised on the device"),
    Deployment(9.98, "Israel's Ministry of Health", "births of 2014", "one mother and newborn"),
)


def published_losses() -> list[Facts]:
    """Return losses that others published with, for ticks beside an ε: a reference, not advice.

    Each names whom its ε protects, since an ε a day is not an ε for ever. Only what its publisher stated is listed.

    References
    ----------
    .. [1] Desfontaines, "A list of real-world uses of differential privacy".
    .. [2] Bavadekar et al. (2020), arXiv:2009.01265.
    .. [3] Bavadekar et al. (2021), arXiv:2107.01179 (with δ = 1e-5).
    .. [4] Hod and Canetti (2024), arXiv:2405.00267.
    .. [5] Apple, "Differential Privacy Overview".
    """
    return [{"epsilon": one.epsilon, "words": f"{one.who}, {one.what}: {one.protects}"} for one in REGISTER]
