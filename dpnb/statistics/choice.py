r"""The candidate with the largest total: one of a short public list of conditions or bounded numbers, by permute-and-flip.

A candidate's score is the number of rows for which its condition holds, or the sum of its number, over the rows in which all candidates
are known. What is released is the place of one candidate; no score is.

A choice does not change when all scores move alike. So what counts of a row is by how much it moves one score against another
(:mod:`dpnb.trusted.measurements.pick`): of conditions by 1 where it enters or leaves, without a factor 2, and by 2 where it changes.

Refuses candidates from the data: labels and expressions are public. The loss is pure ε; a ρ ledger is charged ε·tanh(ε/2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, ClassVar

from dpnb.errors import OptionError, PlanError, Unavailable
from dpnb.inference.digits import rounded
from dpnb.inference.selection_law import count_radius
from dpnb.statistics._base import PriceRow, Pricing, Setting, Target, common_step, scaled
from dpnb.statistics.axis import Axis
from dpnb.statistics.declaration import Spelling, Statistic
from dpnb.statistics.outcome import Pair
from dpnb.statistics.released import best
from dpnb.statistics.result import Entries
from dpnb.statistics.selection import NO_DRAWS, ChosenCell, Selected, pick_epsilon, pick_factor
from dpnb.trusted.aggregate.algebra import CrossMoments, IntExpr, Lit
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import PermuteAndFlip
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release

_BETA = 0.05


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


@dataclass(frozen=True, slots=True)
class CandidateCell(ChosenCell):
    """One picked candidate; its error is in the unit of the scores."""

    def privacy(self, level: float) -> Pair:  # noqa: ARG002 - one protocol for all cells
        """Refuse: the error is in scores, not in places."""
        raise Unavailable(
            f"A choice has no interval: its total is within {rounded(self.reach)} of the largest (95 %). "
            "Ask the totals themselves, for example .count() of each condition, for intervals."
        )

    def confidence(self, level: float) -> Pair:
        """Refuse: whether the population's largest is the same is not known from a choice."""
        return self.privacy(level)


class Choice(Statistic):
    """Which of some public candidates has the largest total."""

    name: ClassVar[str] = "choose"
    title: ClassVar[str] = "largest of some totals"
    target: ClassVar[Target] = "numbers"
    defaults: ClassVar[Mapping[str, Any]] = {"labels": None}
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
            "permute-and-flip",
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
        law = part.law
        mechanism = PermuteAndFlip(
            Fraction(law["epsilon"]), int(law["size"]), int(law["picks"]), int(law["factor"])
        )
        reach = count_radius(mechanism, _BETA) * float(Scores.of(setting).step)
        cells = [CandidateCell(float(place), reach) for place in part.values]
        found = tuple(labels[place] for place in part.values)
        return Selected.of(Entries(cells), (), self.domain(setting), None, NO_DRAWS, labels=found)
