"""``dpnb.power``: which size or which loss is enough, before any data is asked. It spends nothing and needs no curator.

Two of three are given – a size, a loss, a goal – and the third is found; with a size and a loss alone the accuracy is foretold. The
numbers are those that the cards would show: :mod:`dpnb.planner.power` prices with the code that charges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from dpnb.client.assumptions import Assumed, Preset, design_of, number, pending_matrix
from dpnb.client.drawing import bundle
from dpnb.client.matrix_plan import MatrixPlan, matrix_plan
from dpnb.errors import LossError, OptionError, PlanError
from dpnb.estimate import Estimate
from dpnb.inference.elementwise import Number
from dpnb.planner.design import Accuracy, Design
from dpnb.planner.power import Goal, curve, least_loss, least_size, power_table
from dpnb.trusted.canonical import Record
from dpnb.trusted.privacy.loss import positive
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.privacy.unit import Adjacency
from dpnb.trusted.query.plan import Share

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
    def n_eff(self) -> Number:
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

    def _repr_mimebundle_(self, **_: object) -> Record:
        return bundle("power_card", self, self.text)


def power(  # noqa: PLR0913 - a study has this many facts
    what: str | Estimate,
    *,
    n: int | None = None,
    epsilon: object = None,
    rho: object = None,
    within: float | None = None,
    effect: float | None = None,
    power: float | None = None,
    level: float = 0.95,
    kind: Literal["confidence", "privacy"] | None = None,
    bounds: tuple[float, float] | None = None,
    step: float | None = None,
    sd: float | Sequence[float] | None = None,
    mean: float | Sequence[float] | None = None,
    share: float | tuple[float, float] | None = None,
    correlation: float | None = None,
    adjacency: Adjacency = "change-one",
) -> PowerPlan | MatrixPlan:
    """Find the sample size or the loss that is needed, or forecast the accuracy. Spends nothing.

    Parameters
    ----------
    what : {"mean", "proportion", "difference", "count"} or Estimate
        What you plan: a statistic, a pending question for a count, mean or difference, or any released answer. The accuracy of a
        released answer at other losses is computed from its released integers.
    n : int, optional
        Rows (in each cell of a grouped question; in two equal arms together). Computed if a loss and a goal are given.
    epsilon, rho : number or str, optional
        The loss of the question. Computed if only a goal is given.
    within : float, optional
        The half-width that you want.
    effect, power : float, optional
        A distance from the null value, and the probability of detecting it. With an effect alone, its power is reported.
    level : float
        Of the interval and its test.
    kind : {"confidence", "privacy"}, optional
        Which interval `within` is about: sampling and noise, or noise alone. By default confidence, and privacy for a count.
    bounds, step : optional
        Public bounds and grid of a mean's column; a difference without them is a difference of proportions.
    sd : float, optional
        Spread of the column within an arm; by default the widest that the bounds allow.
    mean : float or (float, float), optional
        The assumed mean, of the first of two arms or of both. The default is the worst mean within the bounds: noise on a private
        number of rows matters more if a mean is far from the middle.
    share : float or (float, float), optional
        The assumed proportion, or those of both arms; by default the worst.
    correlation : float, optional
        Between every two columns of moments; by default .3.
    adjacency : {"change-one", "add-remove"}
        For a planned study; a dataset declares its own.

    Returns
    -------
    PowerPlan, or MatrixPlan
        A regression on moments that are not released yet (``dpnb.power(m.coefficients("y ~ x"), n=2000, epsilon=1)``) is simulated: the ± of
        each coefficient, and how often its interval would be unbounded. Its ``sd`` and ``mean`` are lists, one number for each column.

    Raises
    ------
    PlanError, OptionError, LossError
        If the goal cannot be reached, or the arguments do not determine a plan.

    Notes
    -----
    The accuracy is that of a typical study: it is computed from the integers that such a study would release if the noise
    were zero. The power uses the normal approximation with this half-width and standard error.

    Examples
    --------
    >>> plan = power("proportion", within=0.05, epsilon=1)
    >>> plan.n
    401
    """
    given = Assumed(sd, share, mean, effect, correlation)
    what = getattr(what, "estimate", what)
    if (matrix := pending_matrix(what)) is not None:
        if n is None or (epsilon is None) == (rho is None) or within is not None or effect is not None:
            raise OptionError("A figure that is computed from moments is simulated: give n= and epsilon=.")
        loss = _asked(epsilon, rho, None)
        assert loss is not None
        return matrix_plan(matrix, given, _whole(n), loss, level)
    if correlation is not None:
        raise OptionError("correlation= is assumed of the columns of moments alone.")
    design, text, assumed, preset = design_of(what, bounds, step, given, adjacency)
    if design.fixed and n is not None:
        raise OptionError("The size of an existing dataset cannot be planned: leave out n=.")
    goal = _goal(within, effect, power, level, kind or ("privacy" if preset.of_rows else "confidence"))
    asked = _asked(epsilon, rho, preset.measure)
    size = None if n is None else _whole(n)
    if goal.wanted and asked is not None and size is not None:
        raise OptionError("A size, a loss and a goal are given: leave one of them out, and it is computed.")
    if goal.wanted and asked is not None:
        found = _found_size(design, asked, goal, preset)
        return PowerPlan(text, assumed, found, asked, "n", design.accuracy(asked, found, level), goal, design)
    if size is None and preset.n is not None:
        size = preset.n
        assumed = ", ".join(part for part in (assumed, f"if all {size:,} rows count") if part)
    if asked is None:
        if not goal.wanted:
            raise OptionError(
                "Give a goal: within=0.05, or effect=0.1 with power=0.8. Or give epsilon=1 to see how accurate it is."
            )
        least = least_loss(design, preset.kind, size, goal)
        return PowerPlan(
            text, assumed, size, least, "loss", design.accuracy(least, size, level), goal, design
        )
    return PowerPlan(
        text, assumed, size, asked, "accuracy", design.accuracy(asked, size, level), goal, design
    )


def _found_size(design: Design, asked: Share, goal: Goal, preset: Preset) -> int:
    if preset.of_rows:
        raise PlanError(
            "The accuracy of a count does not depend on its size. Leave out epsilon=: the loss is then computed."
        )
    return least_size(design, asked, goal)


def _goal(within: object, effect: object, power: object, level: object, kind: object) -> Goal:
    if kind not in {"confidence", "privacy"}:
        raise OptionError('kind is "confidence" or "privacy".')
    if not 0 < (found := number(level, "level")) < 1:
        raise OptionError(f"A level lies between 0 and 1, such as 0.95; not {level!r}.")
    reach = None if within is None else number(within, "within")
    if reach is not None and reach <= 0:
        raise OptionError("within is a half-width above 0.")
    chance = None if power is None else number(power, "power")
    if chance is not None and (effect is None or not 0 < chance < 1):
        raise OptionError("power= goes with an effect, for example effect=0.1, power=0.8.")
    gap = None if effect is None else number(effect, "effect")
    if gap == 0:
        raise OptionError("An effect of 0 is the null value itself: name another.")
    return Goal(found, kind, reach, gap, chance)


def _asked(epsilon: object, rho: object, measure: Measure | None) -> Share | None:
    if epsilon is not None and rho is not None:
        raise LossError("Give epsilon= or rho=, not both.")
    if rho is not None and measure is Measure.PURE:
        raise LossError("This dataset has a pure ε budget, which does not accept ρ. Use epsilon=.")
    if epsilon is not None:
        return Share("epsilon", _positive(epsilon, "epsilon"))
    return None if rho is None else Share("rho", _positive(rho, "rho"))


def _positive(value: Any, name: str) -> Fraction:
    return positive(value, name=name)


def _whole(n: object) -> int:
    found = number(n, "n")
    if found != int(found) or not _FEWEST <= found <= _MOST:
        raise OptionError(f"n is a whole number of rows from {_FEWEST} to {_MOST:,}.")
    return int(found)
