"""A density by a small synthetic sample: the exponential mechanism with the Kolmogorov-Smirnov score of Wasserman and Zhou.

What is released is how many of k points lie in each of m equal public cells; their distribution function is near that of the data.
A fifth of the loss measures how far they are apart, a twentieth the number of rows where that is private. Refuses to choose the cells by the data. What else it says, and its intervals: :mod:`dpnb.statistics.placement`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from dpnb.errors import PlanError
from dpnb.inference.digits import rounded
from dpnb.inference.largest_epsilon import largest_epsilon
from dpnb.statistics._base import ONE, Axis, Options, PriceRow, Pricing, Setting, Target
from dpnb.statistics.declaration import Statistic
from dpnb.statistics.noise import additive, count_of, unit_loss
from dpnb.statistics.placement import (
    NO_DRAWS,
    NOTES,
    READINGS,
    Grid,
    Placed,
    PlacedCell,
    about,
    asked_points,
    points_of,
    tick,
)
from dpnb.statistics.quantile import selection_epsilon
from dpnb.statistics.released import best
from dpnb.statistics.result import Pair, ReadingFunction, Result
from dpnb.trusted.aggregate.algebra import FloorDiv, Key, Lit, Mul, Sub, Total
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import KSExponential
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import floored
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release

MOST_WORK = 2**22
CHECK_SHARE, COUNT_SHARE = Fraction(1, 5), Fraction(1, 20)


class KSDensity(Statistic):
    """A density through a synthetic sample."""

    name: ClassVar[str] = "ks_density"
    title: ClassVar[str] = "density by a synthetic sample"
    target: ClassVar[Target] = "number"
    by_rank: ClassVar[bool] = True
    defaults: ClassVar[Options] = {"points": None, "cells": None}
    reference: ClassVar[str] = "Wasserman & Zhou 2010; McSherry & Talwar 2007"
    readings: ClassVar[Mapping[str, ReadingFunction]] = READINGS

    def extra_axes(self, setting: Setting) -> tuple[Axis, ...]:
        """The cells."""
        asked_points(setting)
        number, grid = setting.number(), Grid.of(setting)
        ends = [*grid.firsts, grid.firsts[-1] + grid.sizes[-1] - 1]
        ticks = [tick(number.offset + number.step * code) for code in ends]
        labels = [f"[{a}, {b})" for a, b in pairwise(ticks)]
        labels[-1] = labels[-1][:-1] + "]"
        return (Axis(setting.subject, setting.subject, tuple(labels)),)

    def domain(self, setting: Setting) -> Pair:
        """From zero to all points in the smallest cell."""
        return 0.0, 1.0 / (min(Grid.of(setting).sizes) * float(setting.number().step))

    def price(self, setting: Setting, share: Share) -> Pricing:
        """One placement for each group; where the number of rows is private, that number for a twentieth of the loss."""
        number, public = setting.number(), setting.public_n is not None
        if number.low == number.high:
            raise PlanError("A density of a single possible value is that value: nothing to release.")
        placement = self._placement(setting, share, Fraction(1) if public else 1 - COUNT_SHARE)
        if public:
            return placement
        count = additive(setting, Share(share.kind, share.amount * COUNT_SHARE), [count_of(setting)])
        return Pricing(placement.parts + count.parts, placement.rows + count.rows)

    def _placement(self, setting: Setting, share: Share, portion: Fraction) -> Pricing:
        number, grid = setting.number(), Grid.of(setting)
        cells, epsilon = len(grid.sizes), selection_epsilon(share, portion * (1 - CHECK_SHARE))
        code = FloorDiv(Mul(Lit(cells), Sub(number.code, Lit(number.low))), number.high - number.low + 1)
        request = Total(ONE, setting.where, (*setting.keys, Key(code, cells)))
        rate = Measurement("", request, KSExponential(Fraction(1), 1, grid.sizes), setting.cells * cells)
        factor = math.ceil(unit_loss(setting, [rate]))
        points = points_of(setting, epsilon, factor)
        if setting.cells * points * cells > MOST_WORK:
            raise PlanError(
                "Too many groups for so fine a density: ask fewer points= and cells=, or histogram()."
            )
        check = _check(
            Share(share.kind, share.amount * portion * CHECK_SHARE),
            points * setting.unit.max_rows,
            factor // setting.unit.max_rows,
        )
        mechanism = KSExponential(epsilon, points, grid.sizes, factor, check)
        steps = f"one person moves a rank by at most 1{f', times {factor}' if factor > 1 else ''}"
        rows = (
            PriceRow(
                f"{points:,} points in {cells:,} cells of {setting.subject}",
                "exponential mechanism (Kolmogorov-Smirnov score)",
                steps,
                f"a distribution function in steps of 1/{points:,}",
                f"ε {rounded(float(epsilon))}",
            ),
            PriceRow(
                "largest rank error of the points",
                "discrete Laplace",
                steps,
                f"scale {rounded(float(factor / check))} rows",
                f"ε {rounded(float(check))}",
            ),
        )
        part = Measurement("placement", request, mechanism, setting.cells * (cells + 1))
        return Pricing((part,), rows)

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:  # noqa: ARG002
        """What can be said before: the resolution."""
        mechanism = pricing.parts[0].mechanism
        assert isinstance(mechanism, KSExponential)
        return f"a distribution function in steps of 1/{mechanism.points:,}; its error is measured with it"

    def conclude(self, setting: Setting, releases: Sequence[Release]) -> Result:
        """Return the density of the best paid placement."""
        made, step = Placed(setting, best(releases)), float(setting.number().step)
        widths, cells = [size * step for size in Grid.of(setting).sizes], []
        low, high = self.domain(setting)
        for placed, band in made.groups():
            for count, width in zip(placed, widths, strict=True):
                value = count / sum(placed) / width
                cells.append(PlacedCell(value, band, about(value, 2 / width, low, high), counted=True))
        return Result.of(cells, setting.shape, (low, high), None, NO_DRAWS, notes=NOTES)


def _check(share: Share, steps: int, groups: int) -> Fraction:
    """Return the ε of the check: a unit moves D by so many steps, in one group or in each of two."""

    def event(epsilon: Fraction) -> PrivacyEvent:
        return PrivacyEvent.laplace([[(Fraction(steps), groups * steps / epsilon)] * groups])

    def near(epsilon: float) -> float:
        return epsilon + groups * math.expm1(-epsilon / groups)

    if share.kind == "epsilon":
        return floored(share.amount)
    return largest_epsilon(share.amount, lambda one: event(one).loss(Measure.ZCDP).amount, near)
