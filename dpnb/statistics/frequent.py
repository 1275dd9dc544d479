"""Frequent values: counts of the values that occur, shown only where the noised count passes a threshold.

For a number or a category with too many declared values to count each of them: post codes, product numbers, long code lists.
Released: value and noised count of what passed, in rising order of values; how many there are is released with them, so the shape
of the answer is known after the release alone. The price is a pair (ε, δ): a budget of ε or of ρ refuses it. A count is shown
*because* it passed, so that its interval is that of the noise given that it passed; near the threshold it says little, honestly.
Nothing is said about values that are not shown. Texts whose values are not declared at all are not counted, and counts are all
that is released: the mean of another column where a shown value holds is asked afterwards, by filter or by groups of declared
values, at the price of that question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from dpnb.errors import LossError, OptionError, Unavailable
from dpnb.inference.digits import dated, rounded
from dpnb.inference.interval import Interval
from dpnb.statistics._base import PriceRow, Pricing, Setting, Target
from dpnb.statistics.count import NO_POPULATION
from dpnb.statistics.declaration import Statistic
from dpnb.statistics.outcome import Pair, Result
from dpnb.statistics.released import best
from dpnb.statistics.selection import pick_epsilon
from dpnb.trusted.aggregate.algebra import ValueCounts
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms.thresholding import Thresholding
from dpnb.trusted.noise.law import DiscreteLaplaceLaw
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import rational
from dpnb.trusted.query import Share
from dpnb.trusted.releases import Axis, Release

NO_DRAWS = (
    "A count that is shown because it passed a threshold is not its value plus noise alone: arithmetic on it has no interval. "
    "Ask .value_counts() of the values you name, for example of bins or of a category."
)
_FEWEST = 1


@dataclass(frozen=True, slots=True)
class FrequentCell:
    """One value that passed: its noised count, and the law of the noise given that it passed."""

    value: float
    law: DiscreteLaplaceLaw
    threshold: int
    most: float

    sampling_variance: ClassVar[float | None] = None
    n: ClassVar[float | None] = None
    n_eff: ClassVar[float | None] = None
    flags: ClassVar[tuple[str, ...]] = ()

    @property
    def noise_variance(self) -> float:
        """Variance of the noise, before the threshold."""
        return self.law.variance_float

    def privacy(self, level: float) -> Pair:
        """Return the exact counts that the noise cannot reject, given that the count was shown."""
        low, high = conditional_limits(self.law, self.threshold, int(self.value), 1 - level)
        return min(low, self.most), min(high, self.most)

    def confidence(self, level: float) -> Pair:  # noqa: ARG002 - one protocol for all cells
        """Refuse: no population is meant."""
        raise Unavailable(NO_POPULATION)


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


@dataclass(frozen=True, eq=False)
class FrequentResult(Result):
    """The values that passed, and their counts; ``axes`` names the values, which only the release tells."""

    axes: tuple[Axis, ...] = ()

    standard_error: ClassVar[None] = None
    n: ClassVar[None] = None
    n_eff: ClassVar[None] = None

    def interval(self, level: float, kind: str) -> Interval:
        """Return the interval of every count; no population is meant, whether anything is shown or not."""
        if kind == "confidence":
            raise Unavailable(NO_POPULATION)
        return super().interval(level, kind)


class FrequentValues(Statistic):
    """Counts of the values that many rows have, of a column with too many values to count each."""

    name: ClassVar[str] = "frequent_values"
    title: ClassVar[str] = "frequent values"
    target: ClassVar[Target] = "value"
    of_dates: ClassVar[bool] = True
    defaults: ClassVar[Mapping[str, Any]] = {"delta": Fraction(1, 10**8)}
    reference: ClassVar[str] = "Korolova, Kenthapadi, Mishra & Ntoulas 2009; Wilson et al. 2020"
    counts: ClassVar[bool] = True

    def extra_axes(self, setting: Setting) -> tuple[Axis, ...]:
        """No public axis: which values are shown is released. A δ that cannot be is refused."""
        _delta(setting)
        return ()

    def domain(self, setting: Setting) -> Pair:
        """From one to the public number of rows, where there is one."""
        rows = setting.unit.public_rows
        return 1.0, float("inf") if rows is None else float(rows)

    def price(self, setting: Setting, share: Share) -> Pricing:
        """One vector of counts above a threshold, with all of the share and the δ that was asked."""
        changed, delta = setting.unit.adjacency == "change-one", _delta(setting)
        mechanism = Thresholding.calibrate(
            pick_epsilon(share, 1), delta, setting.unit.max_rows, changed=changed
        )
        epsilon = mechanism.epsilon(changed=changed)
        if mechanism.delta > delta or epsilon > pick_epsilon(share, 1):
            raise AssertionError("The threshold chosen costs more than its share.")
        part = Measurement("frequent", ValueCounts(setting.number().code, setting.where), mechanism, 1)
        row = PriceRow(
            f"rows by {setting.subject}, shown from {mechanism.threshold:,} on",
            "discrete Laplace above a threshold",
            f"one person moves the counts by at most {setting.unit.max_rows * (2 if changed else 1):,}",
            f"scale {rounded(float(mechanism.scale))} rows",
            f"ε {rounded(float(epsilon))}, δ {float(mechanism.delta):.3g}",
        )
        return Pricing((part,), (PrivacyEvent("approximate", epsilon, delta),), (row,))

    def half_width(self, setting: Setting, pricing: Pricing, n: float | None) -> float | None:  # noqa: ARG002
        """The radius of the noise on the count of a value that is shown in any case."""
        return float(_mechanism(pricing).noise.tail_radius(0.05))

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """Which values are shown, and ± in rows."""
        mechanism = _mechanism(pricing)
        sure = mechanism.threshold + int(mechanism.noise.quantile(0.95))
        width = rounded(self.half_width(setting, pricing, n) or 0.0)
        return f"values of {sure:,} rows or more are shown (95 %), ± {width} rows each"

    def conclude(self, setting: Setting, releases: Sequence[Release]) -> Result:
        """Return the values shown with their noised counts and intervals."""
        release = best(releases)
        part = release.part("frequent")
        mechanism, number = Thresholding.from_json(dict(part.law)), setting.number()
        codes, counts = part.values[::2], part.values[1::2]
        low, high = self.domain(setting)
        cells = [FrequentCell(float(count), mechanism.noise, mechanism.threshold, high) for count in counts]
        keys = tuple(_key(setting, number.offset + number.step * code) for code in codes)
        axis = Axis(setting.subject, setting.subject, keys)
        note = f"exact law of the noise, given that the count passed the threshold of {mechanism.threshold:,}"
        return FrequentResult(
            cells, (len(cells),), (low, high), None, NO_DRAWS, notes={"privacy": note}, axes=(axis,)
        )


def _mechanism(pricing: Pricing) -> Thresholding:
    mechanism = pricing.parts[0].mechanism
    assert isinstance(mechanism, Thresholding)
    return mechanism


def _delta(setting: Setting) -> Fraction:
    try:
        delta = rational(setting.options["delta"], name="delta")
    except (LossError, TypeError, ValueError):
        raise OptionError("delta= is a number between 0 and 1, for example delta=1e-8.") from None
    if not Fraction(1, 10**15) <= delta < Fraction(1, 2):
        raise OptionError("delta= lies between 1e-15 and 0.5, for example delta=1e-8.")
    return delta


def _key(setting: Setting, value: Fraction) -> Any:
    if setting.choices is not None:
        return setting.choices.keys[int(value)]
    if setting.number().calendar is not None:
        return dated(float(value), setting.number().calendar)
    return int(value) if value.denominator == 1 else float(value)
