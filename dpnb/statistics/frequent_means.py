r"""Sums and means of a number for the values that passed a threshold, from the same release as their counts.

Of each value shown a noised count, a noised centred sum and, where a spread is needed, noised squares are released. A count is shown
*because* it passed, so its noise has the law given that it passed, whose mean is not nought: an interval is made of two that hold
together. A quarter of its error is the conditional interval of the count n, three quarters that of the centred sum S; the mean is
between the smallest and the largest S/n of both, and a sum between those of S + c·n, c being the middle of the range. By the union
bound it holds with its level at least, whatever the count is.

*A count* that is shown because its noised value passed a threshold has the interval of the noise given that it passed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product
from typing import ClassVar

from dpnb.errors import PlanError
from dpnb.inference import NoiseSum, student_inflation
from dpnb.inference.elementwise import Truth
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.statistics._base import Centred, Setting
from dpnb.statistics.count import NO_POPULATION
from dpnb.statistics.formula_terms import spelling
from dpnb.statistics.ratio import Ratio, Spread
from dpnb.statistics.released import law_as_sum
from dpnb.statistics.result import Cell, Pair, Read, ReadingFunction, Result
from dpnb.trusted.mechanisms import ThresholdedSums
from dpnb.trusted.releases import Release

COUNT_PART = 0.25
"""The part of an interval's error that the count has."""
NO_DRAWS = (
    "A mean of a value that was shown because its count passed a threshold has no noise of a plain law: arithmetic on it has no "
    "interval. Ask it by groups: .groupby(….among(shown)).….mean()."
)


def spread_of(setting: Setting) -> Spread:
    """Return where the spread of the number comes from."""
    if setting.clustered:
        return "clustered"
    return "known" if setting.second().binary else "bought"


@dataclass(frozen=True, slots=True)
class ShownMean(Cell):
    """The mean of a number over the rows of a value that was shown, in the unit of its column.

    Parameters
    ----------
    count : ShownCount
        The noised count, and the law of its noise given that it passed.
    ratio : Ratio
        Count, sum and squares as released.
    centred : Centred
        The number, from the middle of its range.
    """

    count: ShownCount
    ratio: Ratio
    centred: Centred

    def _real(self, code: float) -> float:
        return float(self.centred.centre) + float(self.centred.unit) * code

    @property
    def value(self) -> float:
        """The estimate, inside the declared bounds."""
        return self._real(float(self.ratio.mean))

    @property
    def noise_variance(self) -> float:
        """Variance from the mechanism, were the count not chosen by its noise."""
        return float(self.ratio.noise_variance) * float(self.centred.unit) ** 2

    @property
    def sampling_variance(self) -> float | None:
        """Variance from sampling."""
        found = self.ratio.sampling_variance
        return None if found is None else float(found) * float(self.centred.unit) ** 2

    @property
    def n(self) -> float:
        """The noised count."""
        return self.count.value

    n_eff: ClassVar[None] = None

    @property
    def raised(self) -> dict[str, Truth]:
        """Warnings from released numbers, and whether they are up."""
        return self.ratio.raised

    @property
    def no_population(self) -> str:
        """Why sampling error is unknown; empty where it is known."""
        return self.ratio.no_sampling

    def _interval(self, level: float, *, sampling: bool) -> Pair:
        """Return the means that neither the noise of the sum nor that of the count, nor sampling, can reject."""
        if not sampling:
            return self._between(level, lambda most: self.ratio.sum_noise)  # noqa: ARG005 - one form for both laws
        variance = self.ratio.row_variance()
        grown = student_inflation(self.ratio.rows, level)
        return self._between(level, lambda most: self.ratio.sum_noise.plus_normal(most * variance * grown))

    def _between(self, level: float, law: Callable[[float], NoiseSum]) -> Pair:
        sizes = self.count.privacy(1 - COUNT_PART * (1 - level))
        reach = float(law(sizes[1]).radius((1 - COUNT_PART) * (1 - level)))
        ends = [(self.ratio.total + sign * reach) / n for sign, n in product((-1, 1), sizes)]
        half = self.ratio.half
        return self._real(min(max(min(ends), -half), half)), self._real(min(max(*ends, -half), half))


@dataclass(frozen=True, slots=True)
class ShownSum(Cell):
    """The sum of a number over the rows of a value that was shown."""

    mean: ShownMean

    no_population: ClassVar[str] = NO_POPULATION

    def _real(self, total: float, size: float) -> float:
        centred = self.mean.centred
        return float(centred.unit) * total + float(centred.centre) * size

    @property
    def value(self) -> float:
        """The estimate."""
        return self._real(self.mean.ratio.total, self.mean.n)

    @property
    def n(self) -> float:
        """The noised count."""
        return self.mean.n

    @property
    def noise_variance(self) -> float:
        """Variance from the mechanism, were the count not chosen by its noise."""
        ratio, centred = self.mean.ratio, self.mean.centred
        law = ratio.sum_noise.scaled(float(centred.unit)) + ratio.size_noise.scaled(float(centred.centre))
        return float(law.total_variance)

    def _interval(self, level: float, *, sampling: bool) -> Pair:  # noqa: ARG002 - one form for all cells
        """Return the sums of this dataset's rows that the noise cannot reject."""
        sizes = self.mean.count.privacy(1 - COUNT_PART * (1 - level))
        reach = float(self.mean.ratio.sum_noise.radius((1 - COUNT_PART) * (1 - level)))
        ends = [self._real(self.mean.ratio.total + sign * reach, n) for sign, n in product((-1, 1), sizes)]
        return min(ends), max(ends)


def shown_means(
    setting: Setting, rows: Sequence[Sequence[int]], mechanism: ThresholdedSums
) -> list[ShownMean]:
    """Return the means of the values shown, from the count, sum and squares of each."""
    centred = setting.second().centred()
    square, spread = centred.square(), spread_of(setting)
    _, most = setting.row_range
    noises = [law_as_sum(DiscreteLaplaceLaw(one)) for one in mechanism.sums]
    second = noises[1].scaled(square.scale) if len(noises) > 1 else NoiseSum()
    size_noise = law_as_sum(DiscreteLaplaceLaw(mechanism.scale))
    found = []
    for count, total, *squares in rows:
        shown = ShownCount(
            float(count),
            DiscreteLaplaceLaw(mechanism.scale),
            mechanism.threshold,
            most,
        )
        squared = float(squares[0] * square.scale) if squares else None
        ratio = Ratio(
            float(total),
            float(count),
            noises[0],
            size_noise,
            False,
            float(centred.half),
            squared,
            second,
            spread,
        )
        found.append(ShownMean(shown, ratio, centred))
    return found


def beside(setting: Setting) -> list[Setting]:
    """Return the question of each number beside the counts, as if it were the only one."""
    return [
        replace(setting, other=number, numbers=(number,), names=(setting.subject, name), terms=())
        for number, name in zip(setting.numbers, setting.names[1:], strict=True)
    ]


def _reading(conclude: Callable[..., Result], word: str, setting: Setting, of: object) -> Read:
    if setting.other is None:
        raise PlanError(
            'No number was asked beside the counts: write .frequent_values("amount"), of a number.'
        )
    names = [name.removeprefix("(").removesuffix(")") for name in setting.names[1:]]
    if of is None and len(names) == 1:
        return Read(f".{word}()", None, (), partial(conclude, setting, 0, word))
    wanted = spelling(str(of))
    if of is None or wanted not in setting.terms[1:]:
        raise PlanError(
            f"Say of which number: {' or '.join(f'.{word}({json.dumps(one)})' for one in names)}."
        )
    place = setting.terms[1:].index(wanted)
    return Read(f".{word}({json.dumps(names[place])})", None, (), partial(conclude, setting, place, word))


def readings(
    conclude: Callable[[Setting, int, str, Sequence[Release]], Result],
) -> dict[str, ReadingFunction]:
    """Return the readings of a release with sums: ``means()`` and ``sums()``, of several numbers each by its name."""

    def means(setting: Setting, of: str | None = None) -> Read:
        """Return the mean of the number, or of one of several, for each value shown: of the same release, free."""
        return _reading(conclude, "means", setting, of)

    def sums(setting: Setting, of: str | None = None) -> Read:
        """Return the sum of the number, or of one of several, for each value shown: of the same release, free."""
        return _reading(conclude, "sums", setting, of)

    return {"means": means, "sums": sums}


_FEWEST = 1


@dataclass(frozen=True, slots=True)
class ShownCount(Cell):
    """One value that passed: its noised count, and the law of the noise given that it passed."""

    value: float
    law: DiscreteLaplaceLaw
    threshold: int
    most: float

    no_population: ClassVar[str] = NO_POPULATION

    @property
    def noise_variance(self) -> float:
        """Variance of the noise, before the threshold."""
        return self.law.variance_float

    def _interval(self, level: float, *, sampling: bool) -> Pair:  # noqa: ARG002 - one form for all cells
        """Return the exact counts that the noise cannot reject, given that the count was shown."""
        low, high = conditional_limits(self.law, self.threshold, int(self.value), 1 - level)
        return min(low, self.most), min(high, self.most)


@lru_cache(maxsize=4096)
def conditional_limits(law: DiscreteLaplaceLaw, threshold: int, seen: int, alpha: float) -> Pair:
    """Return the counts c for which neither P(c + Z ≥ seen) nor P(c + Z ≤ seen), given c + Z ≥ threshold, is at most α/2.

    Parameters
    ----------
    law : DiscreteLaplaceLaw
        Law of the noise Z.
    threshold, seen : int
        The threshold, and a noised count that passed it.
    alpha : float
        One minus the level.
    """

    def shown(count: int) -> float:
        return float(law.sf(threshold - 1 - count))

    def not_too_small(count: int) -> bool:
        return float(law.sf(seen - 1 - count)) > alpha / 2 * shown(count)

    def not_too_large(count: int) -> bool:
        return shown(count) - float(law.sf(seen - count)) > alpha / 2 * shown(count)

    reach = law.tail_radius(alpha / 4) + 1
    low = _first(not_too_small, _FEWEST, max(seen + reach, _FEWEST))
    high = _first(lambda count: not not_too_large(count), _FEWEST, max(seen + reach, _FEWEST) + 1) - 1
    return float(low), float(max(high, low))


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first integer from ``low`` on at which a rising condition holds, ``high`` where none below does."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
