"""A mean where the declared bounds are very wide: a private range first, then the mean of the values moved into it.

Three twentieths of the loss choose a middle (a median), as much a radius about it that nearly all rows lie in, both by exponential mechanisms; the
rest buys sum, squares and number of rows with noise as wide as that range (:mod:`dpnb.trusted.mechanisms.located_sums`). With bounds that are
tight already, :class:`~dpnb.statistics.mean.Mean` is better.

*What the intervals are of*: the mean of the moved values. What was cut off is not in them; no private answer can bound it. So the number of
moved rows is released too, a flag is raised where it is clearly not zero, another where the noise could hide a twentieth of the rows, and
:func:`bounds` shows the range. (With 5,000 lognormal values at
ε = 1 the 95 % confidence interval, of the moved values, held the population's mean in 92.6 % of 1,000 studies; with normal and uniform
values in 95 %.) *Of incomes the intervals seldom hold the plain mean*, mostly without a flag: few rows lie beyond the range, but far. Of 10,000
Pareto incomes of index 1.6 from 20,000 to 5,000,000 at ε = 1, 14 % of 500 privacy intervals did. Refuses nothing that a quantile does not refuse.

References
----------
Karwa & Vadhan 2018; Biswas, Dong, Kamath & Ullman 2020 (the problem); Smith 2011.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from dpnb.errors import PlanError
from dpnb.inference import NoiseSum, fast_noise
from dpnb.inference.digits import rounded
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Number, Truth
from dpnb.inference.largest_epsilon import largest_epsilon, pure_epsilon
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.inference.selection_law import rank_radius, selection
from dpnb.statistics._base import Axis, PriceRow, Pricing, Setting, Target
from dpnb.statistics.count import LinearCell
from dpnb.statistics.declaration import Statistic
from dpnb.statistics.mean import MeanCell
from dpnb.statistics.noise import moves_of, shared
from dpnb.statistics.quantile import score_factor, selection_epsilon
from dpnb.statistics.ratio import Ratio, means_inside
from dpnb.statistics.released import best, law_as_sum, mechanism_of
from dpnb.statistics.result import Chosen, Pair, Read, ReadingFunction, Result
from dpnb.trusted.aggregate.algebra import Lit, Sub, ValueCounts
from dpnb.trusted.measurements import Measurement, selections
from dpnb.trusted.mechanisms import LocatedSums, QuantileSelection
from dpnb.trusted.mechanisms.located_sums import PrivateRange, radii
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import floored
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release

MIDDLE = RADIUS = Fraction(3, 20)
WIDEN = 3
_BETA = 0.01
_FEW = 0.05
"""Of the rows: where more may lie outside the range without being seen, a flag says so."""
_SUMS = {
    "sum_scale": "sum in the chosen range",
    "square_scale": "squares, for the spread",
    "outside_scale": "rows outside the range",
    "count_scale": "number of rows",
}
_PRIVATE = (Fraction(1, 2), Fraction(1, 5), Fraction(1, 10), None)
_PUBLIC = (Fraction(13, 20), Fraction(6, 25), Fraction(11, 100))
"""Parts of the loss of the sums; a private number of rows takes what the others leave free."""
UNCLEAR = (
    "There are too few rows for a private range at this loss: the range may lie far from the data, so there is no confidence interval. "
    "Declare bounds and ask .mean(), or ask at a larger loss."
)
NO_RANGE_INTERVAL = (
    "The range was chosen to contain nearly all values; it estimates nothing, so it has no interval."
)
_NOTES = {
    "privacy": "exact test of the noise; of the mean of the values moved into the range; all of the bounds where that is unclear",
    "confidence": "exact test of noise and sampling; of the mean of the values moved into the range",
}


@dataclass(frozen=True, slots=True)
class Located:
    """The released numbers of one cell."""

    setting: Setting
    law: Mapping[str, str]
    values: tuple[int, ...]

    @property
    def range(self) -> PrivateRange:
        """The chosen range, in grid indices from the lowest."""
        return PrivateRange(self.values[0], self.values[1])

    def real(self, index: Fraction | int) -> float:
        """A grid index in the unit of the column."""
        number = self.setting.number()
        return float(number.offset + number.step * (number.low + index))

    def scale(self, name: str) -> float:
        """Scale of the noise on a sum, in its own unit."""
        wide = {"sum_scale": self.range.half, "square_scale": self.range.top}.get(name, 1)
        return float(Fraction(self.law[name]) * wide)

    @property
    def rows(self) -> float:
        """Number of rows, public or as released."""
        return float(self.values[5]) if len(self.values) > 5 else float(self.setting.public_n or 1)

    @property
    def ratio(self) -> Ratio:
        """Sum and size with the laws of their errors, in units of the centred range."""
        square = 4**self.range.square_shift
        counted = len(self.values) > 5
        return Ratio(
            float(self.values[2]),
            self.rows,
            NoiseSum(0.0, (self.scale("sum_scale"),), 0.5),
            NoiseSum(0.0, (self.scale("count_scale"),), 0.5) if counted else NoiseSum(),
            False,
            float(self.range.half),
            float(self.values[3] * square),
            NoiseSum(0.0, (self.scale("square_scale"),), 0.5).scaled(square),
            "clustered" if self.setting.clustered else "bought",
        )

    @property
    def centre(self) -> float:
        """The middle of the range in the unit of the column."""
        return self.real(Fraction(self.values[0] + self.values[1], 2))

    @property
    def unit(self) -> float:
        """One unit of the ratio in that of the column."""
        return float(self.setting.number().step * self.range.unit)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Flags about the range."""
        unseen = 3 * math.sqrt(2) * self.scale("outside_scale")
        clipped = self.values[4] > unseen
        mechanism = mechanism_of(self.law, LocatedSums)
        unclear = self.rows < needed(mechanism.middle, -mechanism.radius.offset)
        hidden = unseen > _FEW * self.rows and not clipped and not unclear
        found = {"values cut off": clipped, "cut-off hidden": hidden, "range unclear": unclear}
        return tuple(flag for flag, up in found.items() if up)


def needed(middle: QuantileSelection, offset: int) -> int:
    """Return from how many rows on the range is clear: both selections then lie among the data but for one time in fifty."""
    return 2 * max(math.ceil(rank_radius(middle, _BETA)), offset)


@dataclass(frozen=True)
class RobustCell(MeanCell):
    """The mean of the moved values of one cell; ``alone`` where it is the only one of its answer."""

    warnings: tuple[str, ...]
    bounds: Pair
    alone: bool = True

    @property
    def no_population(self) -> str:
        """Why there is none where the range itself may be far from the data."""
        return super().no_population or (UNCLEAR if self.unclear and self.alone else "")

    def _interval(self, level: float, *, sampling: bool) -> Pair:
        """Return an interval about the moved values; where the range may lie beside the data all within the bounds, or any."""
        if self.unclear:
            return (-math.inf, math.inf) if sampling else self.bounds
        return super()._interval(level, sampling=sampling)

    @property
    def unclear(self) -> bool:
        """Whether the range may lie far from the data."""
        return "range unclear" in self.warnings

    @property
    def sampling_variance(self) -> Number:
        """Variance from sampling; none where the range may be far from the data, so that nothing computed from it has one either."""
        return None if self.unclear and self.alone else super().sampling_variance

    @property
    def raised(self) -> dict[str, Truth]:
        """Warnings about the range, and those of any mean."""
        return dict.fromkeys(self.warnings, True) | self.ratio.raised


def _with_sums(setting: Setting, request: ValueCounts, located: LocatedSums, share: Share) -> LocatedSums:
    """Return a mechanism with the noise of its sums that a share buys.

    It is that of a range of one step, where the grids of the sums are the coarsest: at equal ε the charge in ρ falls with the scale, so
    that it covers every range that can be chosen.
    """
    shares = _PUBLIC if setting.public_n is not None else _PRIVATE
    names = list(_SUMS)[: len(shares)]
    one: dict[str, Any] = dict.fromkeys(names, Fraction(1))
    unit = replace(located, **one)
    frame = selections.located_frame(request, unit, setting.facts)
    moves = moves_of(frame, setting.facts)
    found = shared(moves, Fraction(1), shares, [_SUMS[name] for name in names])

    def at(epsilon: Fraction) -> LocatedSums:
        scales: dict[str, Any] = {name: size / epsilon for name, (size, _) in zip(names, found, strict=True)}
        return replace(located, **scales)

    if share.kind == "epsilon":
        return at(floored(share.amount))

    def charge(epsilon: Fraction) -> Fraction:
        return _event(setting, request, at(epsilon)).loss(Measure.ZCDP).amount

    low = pure_epsilon(share.amount)
    first, power = float(charge(low)), math.log2(charge(2 * low) / charge(low))
    return at(largest_epsilon(share.amount, charge, lambda epsilon: first * (epsilon / float(low)) ** power))


def _event(setting: Setting, request: ValueCounts, mechanism: LocatedSums) -> PrivacyEvent:
    """Return what the sums cost."""
    return selections.located_frame(request, mechanism, setting.facts).event(setting.facts)


def _located(setting: Setting, releases: Sequence[Release]) -> list[Located]:
    part = best(releases).part("located")
    width = len(part.values) // setting.cells
    return [
        Located(setting, part.law, tuple(part.values[start : start + width]))
        for start in range(0, len(part.values), width)
    ]


class RobustMean(Statistic):
    """The mean of a number whose range is not known."""

    name: ClassVar[str] = "robust_mean"
    title: ClassVar[str] = "mean in a private range"
    target: ClassVar[Target] = "number"
    reference: ClassVar[str] = "Karwa & Vadhan 2018 (idea); Smith 2011; Fieller 1954"
    readings: ClassVar[Mapping[str, ReadingFunction]]

    def domain(self, setting: Setting) -> Pair:
        """The declared bounds."""
        return setting.number().bounds

    def price(self, setting: Setting, share: Share) -> Pricing:
        """Two selections, and the sums with the rest."""
        number = setting.number()
        steps = number.high - number.low
        if steps == 0:
            raise PlanError("A mean of a single possible value is that value: nothing to release.")
        request = ValueCounts(Sub(number.code, Lit(number.low)), setting.where, setting.keys)
        mechanism = self._mechanism(setting, share, request, steps)
        part = Measurement("located", request, mechanism, setting.cells * (mechanism.width))
        return Pricing((part,), _rows(setting, mechanism, _event(setting, request, mechanism).amount))

    def _mechanism(self, setting: Setting, share: Share, request: ValueCounts, steps: int) -> LocatedSums:
        half, whole = Fraction(1, 2), Fraction(1)
        factors = [score_factor(setting, request, q) for q in (half, whole)]
        located = LocatedSums(
            selection(selection_epsilon(share, MIDDLE), half, steps, factors[0]),
            selection(selection_epsilon(share, RADIUS), whole, len(radii(steps)) - 1, factors[1], _BETA),
            WIDEN,
            *[Fraction(1)] * 3,
        )
        return _with_sums(setting, request, located, Share(share.kind, share.amount * (1 - MIDDLE - RADIUS)))

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """The noise in half ranges, and from how many rows on the range is clear."""
        mechanism = pricing.parts[0].mechanism
        assert isinstance(mechanism, LocatedSums)
        size = setting.size(n)
        radius = DiscreteLaplaceLaw(mechanism.sum_scale * 1000).tail_radius(0.05) / 1000
        noise = f"± {rounded(radius / size)} times" if size else f"± {rounded(radius)} / n times"
        return f"{noise} half of the chosen range; reliable with {needed(mechanism.middle, -mechanism.radius.offset):,} rows or more"

    def conclude(self, setting: Setting, releases: Sequence[Release]) -> Result:
        """Return the mean of the moved values of every cell with both intervals."""
        found, draw = _located(setting, releases), best(releases).parts[0].draw
        ends, alone = self.domain(setting), len(found) == 1
        cells = [RobustCell(each.ratio, each.centre, each.unit, each.warnings, ends, alone) for each in found]

        def redraw(count: int, rng: DrawGenerator) -> Floats:
            columns = [
                _redrawn(each, count, rng.of(f"{draw}:{i}"), ends if cell.unclear else None)
                for i, (each, cell) in enumerate(zip(found, cells, strict=True))
            ]
            return np.stack(columns, axis=-1)

        return Result.of(
            cells,
            setting.shape,
            ends,
            redraw,
            notes=_NOTES,
            estimand=_estimand(setting, found),
        )


def _estimand(setting: Setting, found: Sequence[Located]) -> str:
    """Say what the mean is of, once the range is chosen."""
    mean = f"mean of {setting.subject} with each value moved into"
    if len(found) > 1:
        return f"{mean} a range that was chosen privately for each group: .bounds()"
    low, high = (rounded(found[0].real(end)) for end in (found[0].range.low, found[0].range.high))
    return f"{mean} {low}–{high}, a range that was chosen privately"


def _redrawn(cell: Located, count: int, rng: np.random.Generator, ends: Pair | None) -> Floats:
    """Plausible exact means of the moved values of one cell; either of the bounds where these are given, as the range is unclear."""
    if ends is not None:
        return np.asarray(rng.choice(ends, count))
    ratio = cell.ratio
    total = ratio.total - fast_noise.discrete_laplace(cell.scale("sum_scale"), count, rng)
    size = np.full(count, ratio.size)
    if len(cell.values) > 5:
        size = size - fast_noise.discrete_laplace(cell.scale("count_scale"), count, rng)
    mean = means_inside((total, size), (ratio.total, ratio.size), ratio.half)
    return np.asarray(cell.centre + cell.unit * mean)


def _rows(setting: Setting, mechanism: LocatedSums, loss: Fraction) -> tuple[PriceRow, ...]:
    rank = "one person moves a rank by at most 1"
    near = rounded(rank_radius(mechanism.middle, 0.05)), rounded(rank_radius(mechanism.radius, 0.05))
    return (
        PriceRow(
            f"middle of {setting.subject}",
            "exponential mechanism",
            rank,
            f"rank error at most {near[0]} (95 %)",
            f"ε {rounded(float(mechanism.middle.epsilon))}",
        ),
        PriceRow(
            "radius about it",
            "exponential mechanism",
            rank,
            f"rank error at most {near[1]} (95 %)",
            f"ε {rounded(float(mechanism.radius.epsilon))}",
        ),
        PriceRow(
            "sum, squares, rows outside" + ("" if mechanism.count_scale is None else ", rows"),
            "discrete Laplace",
            "as wide as the chosen range",
            f"scale {rounded(float(mechanism.sum_scale))} half ranges",
            f"ε {rounded(float(loss))}",
        ),
    )


def bounds(setting: Setting) -> Read:
    """The range that was chosen, into which every value was moved."""
    axes = (*setting.axes, Axis("bound", "bound", ("low", "high")))

    def conclude(releases: Sequence[Release]) -> Result:
        found = _located(setting, releases)
        ends = [each.real(end) for each in found for end in (each.range.low, each.range.high)]
        cells, domain = [Chosen(end, NO_RANGE_INTERVAL) for end in ends], setting.number().bounds
        return Result.of(cells, (*setting.shape, 2), domain, None, "The range is a choice.")

    return Read(".bounds()", (*setting.shape, 2), axes, conclude)


def outside(setting: Setting) -> Read:
    """How many rows lay outside the range and were moved to its ends."""

    def conclude(releases: Sequence[Release]) -> Result:
        domain, cells = setting.row_range, []
        for each in _located(setting, releases):
            law = DiscreteLaplaceLaw(Fraction(each.law["outside_scale"]))
            cells.append(LinearCell(float(each.values[4]), 1.0, law_as_sum(law), law, *domain))
        return Result.of(cells, setting.shape, domain, notes={"privacy": "exact law of the noise"})

    return Read(".outside()", setting.shape, setting.axes, conclude)


RobustMean.readings = MappingProxyType({"bounds": bounds, "outside": outside})
