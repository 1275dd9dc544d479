r"""The most frequent declared values: one (``mode``) or several, best first (``top_k``), chosen by permute-and-flip.

A selection: which value is picked is noisy, not the value. What is released is the index of a *declared* value, so nothing observed
can show; a value that no row has may be picked. An answer is the declared number itself, or for values that are no numbers
(labels, bins) their place in the declaration, from 0, so that ``.value`` is a number in any case; :attr:`Selected.labels` gives the declared values,
and cards, texts and tables show them.

The loss is pure ε, divided over the picks; a ρ ledger is charged ε·tanh(ε/2) a pick, never ε²/8.

*The candidate with the largest total* (``choose``): one of a short public list of conditions or bounded numbers, by permute-and-flip. A candidate's score is the number of rows for which its condition holds, or the sum of its number, over the rows in which all candidates
are known. What is released is the place of one candidate; no score is.

A choice does not change when all scores move alike. So what counts of a row is by how much it moves one score against another
(:func:`dpnb.trusted.measurements.selections.pick_events`): of conditions by 1 where it enters or leaves, without a factor 2, and by 2 where it changes.

Refuses candidates from the data: labels and expressions are public. The loss is pure ε; a ρ ledger is charged ε·tanh(ε/2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, ClassVar

from dpnb.errors import OptionError, PlanError
from dpnb.inference.digits import rounded
from dpnb.inference.largest_epsilon import pure_epsilon
from dpnb.inference.selection_law import count_radius
from dpnb.statistics._base import ONE, Axis, Options, PriceRow, Pricing, Setting, Target, common_step, scaled
from dpnb.statistics.declaration import Spelling, Statistic, Summary
from dpnb.statistics.noise import unit_loss
from dpnb.statistics.released import best, mechanism_of
from dpnb.statistics.result import Chosen, Pair, Result
from dpnb.trusted.aggregate.algebra import CrossMoments, IntExpr, Lit, Total
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import PermuteAndFlip
from dpnb.trusted.privacy.loss import floored
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release

NO_DRAWS = "A choice among declared values: the noise picks a value, it does not move one, so there is nothing to carry through arithmetic."
_BETA = 0.05


class PickedCell(Chosen):
    """One picked value: whether the population's most frequent value is the same is not known from a choice."""

    no_population: ClassVar[str] = (
        "A choice has no confidence interval. Ask .value_counts() for the counts of all values with intervals."
    )


@dataclass(frozen=True, eq=False)
class Selected(Result):
    """The picked values, and what they are called.

    Parameters
    ----------
    labels : tuple
        The declared value behind each entry, row-major.
    """

    labels: tuple[Any, ...] = ()


def numbers(choices: Axis) -> tuple[float, ...]:
    """Return the declared values as numbers, or their places where they are none."""
    if all(isinstance(key, int | float | Fraction) for key in choices.keys):
        return tuple(float(key) for key in choices.keys)
    return tuple(float(place) for place in range(len(choices.keys)))


class Mode(Statistic):
    """The most frequent declared value."""

    name: ClassVar[str] = "mode"
    title: ClassVar[str] = "most frequent value"
    summary: ClassVar[Summary] = "mode"
    target: ClassVar[Target] = "choice"
    reference: ClassVar[str] = "McKenna & Sheldon 2020 (permute-and-flip); Ding et al. 2021"

    def _choices(self, setting: Setting) -> Axis:
        assert setting.choices is not None
        return setting.choices

    def _picks(self, setting: Setting) -> int:  # noqa: ARG002
        return 1

    def domain(self, setting: Setting) -> Pair:
        """The smallest and the largest declared number, or place."""
        found = numbers(self._choices(setting))
        return min(found), max(found)

    def price(self, setting: Setting, share: Share) -> Pricing:
        """One selection for each group; the picks share the loss equally."""
        picks, size = self._picks(setting), len(self._choices(setting).keys)
        epsilon = pick_epsilon(share, picks)
        request, groups = setting.total(ONE), setting.cells // size
        mechanism = PermuteAndFlip(epsilon, size, picks, pick_factor(setting, request, size, groups))
        part = Measurement("choice", request, mechanism, groups * picks)
        name = f"most frequent of {size:,} declared values of {setting.subject}"
        row = PriceRow(
            name if picks == 1 else f"{picks} {name}",
            mechanism.phrase,
            f"one person moves counts by {mechanism.factor} in all",
            f"within {rounded(count_radius(mechanism, _BETA))} rows of the largest (95 %)",
            f"ε {rounded(float(epsilon))}" + (" a pick" if picks > 1 else ""),
        )
        return Pricing((part,), (row,))

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:  # noqa: ARG002
        """How far the count of a pick may be below the largest."""
        mechanism = pricing.parts[0].mechanism
        assert isinstance(mechanism, PermuteAndFlip)
        return f"count within {rounded(count_radius(mechanism, _BETA))} rows of the largest"

    def conclude(self, setting: Setting, releases: Sequence[Release]) -> Selected:
        """Return the picked declared values."""
        part, choices = best(releases).part("choice"), self._choices(setting)
        shown, reach = numbers(choices), count_radius(mechanism_of(part.law, PermuteAndFlip), _BETA)
        why = (
            f"A choice has no interval: its count is within {rounded(reach)} rows of the largest (95 %). "
            "Ask .value_counts() for the counts with intervals."
        )
        cells = [PickedCell(shown[index], why) for index in part.values]
        labels = tuple(choices.keys[index] for index in part.values)
        return Selected.of(cells, setting.shape, self.domain(setting), None, NO_DRAWS, labels=labels)


class TopK(Mode):
    """The k most frequent declared values, best first."""

    name: ClassVar[str] = "top_k"
    title: ClassVar[str] = "most frequent values"
    summary: ClassVar[Summary] = "other"
    defaults: ClassVar[Options] = {"k": 3}
    spelling: ClassVar[Spelling] = Spelling(bare=("k",))

    def _picks(self, setting: Setting) -> int:
        asked, size = setting.options["k"], len(self._choices(setting).keys)
        whole = isinstance(asked, int | float | Fraction) and not isinstance(asked, bool)
        if not whole or Fraction(asked).denominator != 1 or not 1 <= asked <= size:
            raise OptionError(f"k= is a whole number from 1 to {size}, the number of declared values.")
        return int(asked)

    def extra_axes(self, setting: Setting) -> tuple[Axis, ...]:
        """The ranks, best first."""
        return (Axis("rank", "rank", tuple(range(1, self._picks(setting) + 1))),)


def pick_factor(setting: Setting, request: Total | CrossMoments, size: int, groups: int = 1) -> int:
    """Return by how much one person moves the scores of candidates apart, in all groups together: the charge of a pick at a rate of one."""
    return math.ceil(
        unit_loss(setting, [Measurement("", request, PermuteAndFlip(Fraction(1), size), groups)])
    )


def pick_epsilon(share: Share, picks: int) -> Fraction:
    """Return the ε of one pick: an equal part of ε, or the ε whose ε·tanh(ε/2) is an equal part of ρ, rounded down."""
    part = share.amount / picks
    return floored(part) if share.kind == "epsilon" else pure_epsilon(part)


@dataclass(frozen=True, slots=True)
class Scores:
    """The candidates as integers on one grid.

    Parameters
    ----------
    codes : tuple of IntExpr
        What a row adds to each score.
    step : Fraction
        The value of one.
    """

    codes: tuple[IntExpr, ...]
    step: Fraction

    @classmethod
    def of(cls, setting: Setting) -> Scores:
        """Measure all candidates in the largest unit of which every value is a multiple."""
        numbers = [number.rebased() for number in setting.numbers]
        step = reduce(common_step, (number.step for number in numbers))
        factors = [int(number.step / step) for number in numbers]
        pairs = list(zip(numbers, factors, strict=True))
        return cls(
            tuple(scaled(number.code, factor) for number, factor in pairs),
            step,
        )


class Choice(Statistic):
    """Which of some public candidates has the largest total."""

    name: ClassVar[str] = "choose"
    title: ClassVar[str] = "largest of some totals"
    target: ClassVar[Target] = "numbers"
    defaults: ClassVar[Options] = {"labels": None}
    spelling: ClassVar[Spelling] = Spelling("labelled")
    reference: ClassVar[str] = "McKenna & Sheldon 2020 (permute-and-flip); Ding et al. 2021"

    def _labels(self, setting: Setting) -> tuple[str, ...]:
        labels = setting.options["labels"]
        labels = setting.names if labels is None else labels
        fine = isinstance(labels, tuple) and all(isinstance(label, str) for label in labels)
        if not fine or len(set(labels)) != len(setting.numbers) or len(labels) != len(setting.numbers):
            raise OptionError("labels= names each candidate once, as text.")
        if len(labels) < 2:
            raise PlanError("A choice needs two candidates at least.")
        return tuple(labels)

    def extra_axes(self, setting: Setting) -> tuple[Axis, ...]:
        """No axis: one candidate."""
        self._labels(setting)
        return ()

    def domain(self, setting: Setting) -> Pair:
        """The places of the candidates, from 0."""
        return 0.0, float(len(self._labels(setting)) - 1)

    def price(self, setting: Setting, share: Share) -> Pricing:
        """One choice with all of the share."""
        scores, size = Scores.of(setting), len(self._labels(setting))
        pairs = tuple((0, place) for place in range(1, size + 1))
        request = CrossMoments((Lit(1), *scores.codes), pairs, setting.where)
        mechanism = PermuteAndFlip(pick_epsilon(share, 1), size, 1, pick_factor(setting, request, size))
        row = PriceRow(
            f"largest of {size:,} totals",
            mechanism.phrase,
            f"one person moves totals against each other by at most {rounded(float(mechanism.factor * scores.step))}",
            f"{self._reach(mechanism, scores)} (95 %)",
            f"ε {rounded(float(mechanism.epsilon))}",
        )
        part = Measurement("choice", request, mechanism, 1)
        return Pricing((part,), (row,))

    def _reach(self, mechanism: PermuteAndFlip, scores: Scores) -> str:
        return f"total within {rounded(count_radius(mechanism, _BETA) * float(scores.step))} of the largest"

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:  # noqa: ARG002
        """How far the total of the choice may be below the largest."""
        mechanism = pricing.parts[0].mechanism
        assert isinstance(mechanism, PermuteAndFlip)
        return self._reach(mechanism, Scores.of(setting))

    def conclude(self, setting: Setting, releases: Sequence[Release]) -> Selected:
        """Return the place of the chosen candidate, with its label."""
        part, labels = best(releases).part("choice"), self._labels(setting)
        reach = count_radius(mechanism_of(part.law, PermuteAndFlip), _BETA) * float(Scores.of(setting).step)
        why = (
            f"A choice has no interval: its total is within {rounded(reach)} of the largest (95 %). "
            "Ask the totals themselves, for example .count() of each condition, for intervals."
        )
        cells = [Chosen(float(place), why) for place in part.values]
        chosen = tuple(labels[place] for place in part.values)
        return Selected.of(cells, (), self.domain(setting), None, NO_DRAWS, labels=chosen)
