"""``dpnb.power``: which size or which loss is enough, before any data is asked. It spends nothing and needs no curator.

Two of three are given – a size, a loss, a goal – and the third is found; with a size and a loss alone the accuracy is foretold. The
numbers are those that the cards would show: :mod:`dpnb.plan.power` prices with the code that charges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import isfinite
from typing import Any, Literal

import numpy as np

from dpnb.client.drawing import bundle
from dpnb.errors import LossError, OptionError, PlanError
from dpnb.plan.check import CheckedQuestion, check
from dpnb.plan.expression import Compare, Const, Expr, Ref
from dpnb.plan.power import (
    Accuracy,
    Design,
    Facts,
    FromFacts,
    FromRelease,
    Goal,
    curve,
    least_loss,
    least_size,
    power_table,
)
from dpnb.plan.question import QueryPlan
from dpnb.privacy.accountant import Budget
from dpnb.privacy.loss import positive
from dpnb.privacy.measure import Measure
from dpnb.privacy.unit import Adjacency, PrivacyUnit
from dpnb.release import Estimate
from dpnb.release.reading import Reading
from dpnb.schema import Column, Schema
from dpnb.statistics import Share, conclude

__all__ = ["PowerPlan", "power"]

_KINDS = ("mean", "proportion", "difference", "count")
_ANY_SIZE = 10**6
_FEWEST, _MOST = 2, 10**12


@dataclass(frozen=True, slots=True, repr=False)
class PowerPlan:
    """A size, a loss, and the accuracy that goes with them.

    Parameters
    ----------
    text : str
        What is planned.
    assumed : str
        What was assumed of the data.
    n : int or None
        Rows; in each cell where there are several.
    share : Share
        The loss.
    found : {"n", "loss", "accuracy"}
        Which of the three was found.
    accuracy : Accuracy
        What a card would say.
    goal : Goal
        What was wanted.
    design : Design
        The question, to be asked at other losses.
    """

    text: str
    assumed: str
    n: int | None
    share: Share
    found: Literal["n", "loss", "accuracy"]
    accuracy: Accuracy
    goal: Goal
    design: Design

    @property
    def loss(self) -> float:
        """The loss as a number: ε, or ρ."""
        return float(self.share.amount)

    @property
    def half_width(self) -> float:
        """The half-width of the kind that was asked."""
        return self.accuracy.half_width(self.goal.kind)

    @property
    def power(self) -> float | None:
        """The probability of finding the effect, where one was named."""
        return None if self.goal.effect is None else self.accuracy.chance(self.goal.effect)

    @property
    def n_eff(self) -> Any:
        """As accurate as this many rows without noise; an array for several cells."""
        sizes = self.accuracy.n_eff
        return None if sizes is None else float(sizes) if sizes.ndim == 0 else sizes

    def curve(self, losses: Sequence[float]) -> np.ndarray:
        """Return the effective size at other losses: shape ``(losses,)``, or ``(losses, cells)`` for several cells."""
        found = curve(self.design, self.share.kind, losses, self.n)
        return np.asarray(found[:, 0] if found.shape[1] == 1 else found)

    def table(self) -> list[tuple[float, Accuracy]]:
        """Return the accuracy at a quarter, half, once, twice and four times the loss."""
        return power_table(self.design, self.share, self.n, self.goal.level)

    def plot(self) -> Any:
        """Return a figure: the effective size against the loss, from a hundredth to ten times this one."""
        from dpnb.cards.power import power_figure

        losses = np.array(
            [float(f"{loss:.4g}") for loss in np.geomspace(self.loss / 100, self.loss * 10, 31)]
        )
        return power_figure(self, losses, self.curve(losses.tolist()))

    def __str__(self) -> str:
        from dpnb.cards.power import power_card

        return power_card(self).text

    __repr__ = __str__

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return bundle("power_card", self, self.text)


def power(  # noqa: PLR0913 - a study has this many facts
    what: str | Estimate,
    *,
    n: int | None = None,
    epsilon: Any = None,
    rho: Any = None,
    within: float | None = None,
    effect: float | None = None,
    power: float | None = None,
    level: float = 0.95,
    kind: Literal["confidence", "privacy"] | None = None,
    bounds: tuple[float, float] | None = None,
    step: float | None = None,
    sd: float | None = None,
    share: float | tuple[float, float] | None = None,
    adjacency: Adjacency = "change-one",
) -> PowerPlan:
    """Find the size or the loss that is enough, or foretell the accuracy. Spends nothing.

    Parameters
    ----------
    what : {"mean", "proportion", "difference", "count"} or Estimate
        What is planned; a pending question of a count, mean or difference; or any released answer, whose accuracy at other losses is
        read from its released integers.
    n : int, optional
        Rows (in each cell of a grouped question; in both arms together, taken as equal). Found when a loss and a goal are given.
    epsilon, rho : number or str, optional
        The loss of the question. Found when a goal is given without it.
    within : float, optional
        The half-width wanted.
    effect, power : float, optional
        A distance from the null value, and the probability with which it must be found. An effect alone is reported on.
    level : float
        Of the interval and its test.
    kind : {"confidence", "privacy"}, optional
        Which interval `within` is about: sampling and noise, or noise alone. By default confidence, and privacy for a count.
    bounds, step : optional
        Public bounds and grid of a mean's column; a difference without them is one of proportions.
    sd : float, optional
        Spread of the column within an arm; by default the widest that the bounds allow.
    share : float or (float, float), optional
        The proportion assumed, or those of both arms; by default ½, where the noise and the sampling hurt most.
    adjacency : {"change-one", "add-remove"}
        For a planned study; a dataset has its own.

    Returns
    -------
    PowerPlan

    Raises
    ------
    PlanError, OptionError, LossError
        When the goal cannot be reached, or what was given does not determine a plan.

    Notes
    -----
    The accuracy is that of a typical study: the statistic concludes from the integers that such a study would release if the noise
    happened to be zero. The power is that of the normal approximation with this half-width and standard error.

    Examples
    --------
    >>> plan = power("proportion", within=0.05, epsilon=1)
    >>> plan.n
    401
    """
    design, text, assumed, preset = _design(what, bounds, step, sd, share, effect, adjacency)
    if design.fixed and n is not None:
        raise OptionError("The size of a dataset that exists cannot be planned: leave out n=.")
    goal = _goal(
        within, effect, power, level, kind or ("privacy" if preset.statistic == "count" else "confidence")
    )
    asked = _asked(epsilon, rho, preset.measure)
    size = None if n is None else _whole(n)
    if goal.wanted and asked is not None and size is not None:
        raise OptionError("A size, a loss and a goal are given: leave one of them out, and it is found.")
    if goal.wanted and asked is not None:
        found = _found_size(design, asked, goal, preset)
        return PowerPlan(text, assumed, found, asked, "n", design.accuracy(asked, found, level), goal, design)
    if size is None and preset.n is not None:
        size = preset.n
        assumed = ", ".join(part for part in (assumed, f"if all {size:,} rows count") if part)
    if asked is None:
        if not goal.wanted:
            raise OptionError(
                "Say what is wanted: within=0.05, or effect=0.1 with power=0.8; or give epsilon=1 to see what it buys."
            )
        least = least_loss(design, preset.kind, size, goal)
        return PowerPlan(
            text, assumed, size, least, "loss", design.accuracy(least, size, level), goal, design
        )
    return PowerPlan(
        text, assumed, size, asked, "accuracy", design.accuracy(asked, size, level), goal, design
    )


@dataclass(frozen=True, slots=True)
class _Preset:
    """What the question itself brings along."""

    statistic: str
    n: int | None
    measure: Measure | None

    @property
    def kind(self) -> Literal["epsilon", "rho"]:
        return "epsilon" if self.measure in {None, Measure.PURE} else "rho"


def _found_size(design: Design, asked: Share, goal: Goal, preset: _Preset) -> int:
    if preset.statistic == "count":
        raise PlanError(
            "The accuracy of a count does not depend on its size. Leave out epsilon=: the loss is then found."
        )
    return least_size(design, asked, goal)


def _design(
    what: Any,
    bounds: tuple[float, float] | None,
    step: float | None,
    sd: float | None,
    share: Any,
    effect: float | None,
    adjacency: Adjacency,
) -> tuple[Design, str, str, _Preset]:
    """Return the design, what it is called, what it assumes, and what the question brings along."""
    if isinstance(what, Estimate):
        return _of_estimate(what, sd, share, effect)
    if what not in _KINDS:
        raise OptionError(f"dpnb.power plans {', '.join(_KINDS)}, or takes a question; not {what!r}.")
    if what == "mean" and bounds is None:
        raise OptionError(
            'A mean needs the public bounds of its column: dpnb.power("mean", bounds=(0, 100), sd=15, …).'
        )
    if bounds is not None and np.shape(bounds) != (2,):
        raise OptionError("bounds= is a pair: bounds=(0, 100).")
    if what == "proportion" and bounds is not None:
        raise OptionError('A proportion has no bounds. Plan dpnb.power("mean", bounds=…) instead.')
    checked = _planned_question(what, bounds, step, adjacency)
    facts, assumed = _facts(checked, sd, share, effect)
    text = {"count": "count of a condition"}.get(what, what)
    if what == "difference":
        text = (
            "difference of proportions, two equal arms"
            if bounds is None
            else "difference of means, two equal arms"
        )
    return FromFacts(checked, facts), text, assumed, _Preset(checked.statistic, None, None)


def _of_estimate(
    estimate: Estimate, sd: float | None, share: Any, effect: float | None
) -> tuple[Design, str, str, _Preset]:
    if estimate.op is not None:
        raise PlanError("This value is derived. Plan the questions that it is made of.")
    view = estimate.args[0]
    one, reading = view.root, isinstance(view, Reading)
    checked, measure = one.checked, None if one.dataset is None else one.dataset.schema.budget.measure
    if checked.public_value is not None:
        raise PlanError(f"`{view.text}` is public: it is exact, and free.")
    if one.released:
        if sd is not None or share is not None:
            raise OptionError("A released answer brings its own spread: leave out sd= and share=.")
        said = view.read.conclude if reading else partial(conclude, checked)
        design = FromRelease(checked, tuple(one.releases), said)
        return design, view.text, "from what was released", _Preset(checked.statistic, None, measure)
    if reading:
        raise PlanError(
            f"`{view.text}` is read from a release. Release it once: dpnb.power(released, …) then plans it."
        )
    facts, assumed = _facts(checked, sd, share, effect) if checked.statistic != "count" else (None, "")
    rows = checked.setting.unit.rows
    if checked.question.where is not None or checked.question.by[checked.kind.arms :]:
        rows = None
    return FromFacts(checked, facts), view.text, assumed, _Preset(checked.statistic, rows, measure)


def _planned_question(
    what: str, bounds: tuple[float, float] | None, step: float | None, adjacency: Adjacency
) -> CheckedQuestion:
    """Return the question of a study that does not exist yet, checked against a schema made for it."""
    unit = PrivacyUnit(adjacency, rows=_ANY_SIZE if adjacency == "change-one" else None)
    column = Column.category("y", [0, 1]) if bounds is None else Column.number("y", *bounds, step=step)
    columns = (column, Column.category("arm", [0, 1]))
    schema = Schema("planned", "A planned study", columns, unit, Budget.from_toml({"epsilon": 1000}))
    where: Expr | None = Compare("==", Ref("arm"), Const(1)) if what == "count" else None
    target = None if what == "count" else Ref("y")
    by = (Ref("arm"),) if what == "difference" else ()
    statistic = "mean" if what == "proportion" else what
    return check(QueryPlan("planned", statistic, target, where, by), schema)


def _facts(
    checked: CheckedQuestion, sd: float | None, share: Any, effect: float | None
) -> tuple[Facts | None, str]:
    """Return what is assumed of the data, and say it."""
    if checked.statistic == "count":
        return None, ""
    if checked.setting.target is None:
        raise PlanError(f"dpnb.power cannot plan {checked.text} before it is released.")
    number = checked.setting.target
    low, high = float(number.lowest), float(number.highest)
    arms = 2 if checked.kind.arms else 1
    if number.binary:
        if sd is not None:
            raise OptionError("The spread of a proportion follows from share=: leave out sd=.")
        return _shares(share, arms, effect, low, high)
    if share is not None:
        raise OptionError("share= is for proportions. Give the spread instead: sd=.")
    widest = (high - low) / 2
    spread = widest if sd is None else _number(sd, "sd")
    if not 0 < spread <= widest:
        raise OptionError(f"sd must lie above 0 and be at most {widest:g}, half of the bounds' width.")
    middle, gap = (low + high) / 2, _number(effect or 0.0, "effect") if arms == 2 else 0.0
    means = (middle - gap / 2, middle + gap / 2) if arms == 2 else (middle,)
    return Facts(_inside(means, low, high), spread), f"sd {spread:g}" + (
        " (the widest possible)" if sd is None else ""
    )


def _shares(share: Any, arms: int, effect: float | None, low: float, high: float) -> tuple[Facts, str]:
    gap = _number(effect or 0.0, "effect") if arms == 2 else 0.0
    given = share if isinstance(share, tuple | list) else None
    if given is None:
        centre = 0.5 if share is None else _number(share, "share")
        pair = (centre, centre + gap) if share is not None else (0.5 - gap / 2, 0.5 + gap / 2)
        given = pair[:arms]
    if len(given) != arms:
        raise OptionError("share= is one proportion, or one for each of two arms: share=(0.3, 0.4).")
    parts = [_number(part, "share") for part in given]
    means = tuple(low + (high - low) * part for part in parts)
    said = " and ".join(f"{part:.3g}" for part in parts)
    return Facts(_inside(means, low, high), (high - low) / 2), f"share {said}"


def _inside(means: tuple[float, ...], low: float, high: float) -> tuple[float, ...]:
    if not all(low <= mean <= high for mean in means):
        raise OptionError(
            f"These facts put a mean outside the bounds {low:g} to {high:g}. Name a smaller effect, or another share."
        )
    return means


def _goal(within: Any, effect: Any, power: Any, level: Any, kind: Any) -> Goal:
    if kind not in {"confidence", "privacy"}:
        raise OptionError('kind is "confidence" or "privacy".')
    if not 0 < (found := _number(level, "level")) < 1:
        raise OptionError(f"A level lies between 0 and 1, such as 0.95; not {level!r}.")
    reach = None if within is None else _number(within, "within")
    if reach is not None and reach <= 0:
        raise OptionError("within is a half-width above 0.")
    chance = None if power is None else _number(power, "power")
    if chance is not None and (effect is None or not 0 < chance < 1):
        raise OptionError("power= goes with an effect, for example effect=0.1, power=0.8.")
    gap = None if effect is None else _number(effect, "effect")
    if gap == 0:
        raise OptionError("An effect of 0 is the null value itself: name another.")
    return Goal(found, kind, reach, gap, chance)


def _number(value: Any, name: str) -> float:
    """Read a number that a person typed."""
    if isinstance(value, int | float | np.number) and not isinstance(value, bool) and isfinite(value):
        return float(value)
    raise OptionError(f"{name}= is a number, not {value!r}.")


def _asked(epsilon: Any, rho: Any, measure: Measure | None) -> Share | None:
    if epsilon is not None and rho is not None:
        raise LossError("Ask for one of epsilon= or rho=, not both.")
    if rho is not None and measure is Measure.PURE:
        raise LossError("This dataset has a pure ε budget, which cannot hold ρ. Ask epsilon=.")
    if epsilon is not None:
        return Share("epsilon", _positive(epsilon, "epsilon"))
    return None if rho is None else Share("rho", _positive(rho, "rho"))


def _positive(value: Any, name: str) -> Fraction:
    return positive(value, name=name)


def _whole(n: Any) -> int:
    found = _number(n, "n")
    if found != int(found) or not _FEWEST <= found <= _MOST:
        raise OptionError(f"n is a whole number of rows from {_FEWEST} to {_MOST:,}.")
    return int(found)
