"""Frequent values: counts of the values that occur, shown only where the noised count passes a threshold.

For texts that nobody listed (job titles, post codes, diagnoses), and for a number or a category with too many declared values to
count each of them. *Rows* are counted: a person of k rows counts up to k times, and the threshold is as high as that needs.
Released: value and noised count of what passed, in rising order of values; how many there are is released with them, so the shape
of the answer is known after the release alone. The price is a pair (ε, δ): a budget of ε or of ρ refuses it. A count is shown
*because* it passed, so that its interval is that of the noise given that it passed; near the threshold it says little, honestly.
Nothing is said about values that are not shown. What is shown is public from then on: a filter or ``among`` may name it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from dpnb.errors import LossError, OptionError, PlanError, Unavailable
from dpnb.inference.digits import dated, rounded
from dpnb.inference.interval import Interval
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.inference.selection_law import calibrated_threshold
from dpnb.statistics._base import Axis, Options, PriceRow, Pricing, Setting, Target
from dpnb.statistics.count import NO_POPULATION
from dpnb.statistics.declaration import Statistic
from dpnb.statistics.frequent_means import NO_DRAWS as NO_MEAN_DRAWS
from dpnb.statistics.frequent_means import ShownCount, ShownSum, beside, readings, shown_means, spread_of
from dpnb.statistics.noise import unit_loss
from dpnb.statistics.ratio import NO_SAMPLING
from dpnb.statistics.released import best, mechanism_of
from dpnb.statistics.result import Cell, Pair, ReadingFunction, Result
from dpnb.statistics.selection import pick_epsilon
from dpnb.trusted.aggregate.algebra import Col, IntExpr, LabelSums, ValueCounts
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import ThresholdedSums, Thresholding
from dpnb.trusted.privacy.loss import rational
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release

NO_DRAWS = (
    "A count that is shown because it passed a threshold is not its value plus noise alone: arithmetic on it has no interval. "
    "Ask .value_counts() of the values you name, for example of bins or of a category."
)
MOST_NUMBERS = 4
"""Numbers that have sums and squares beside the counts."""
_COUNTS, _SQUARES = Fraction(2, 5), Fraction(3, 10)
"""The part of a loss that the counts have beside sums, and the part of the rest that squares have."""


@dataclass(frozen=True, eq=False)
class FrequentResult(Result):
    """The values that passed, and their counts; ``axes`` names the values, which only the release tells.

    Parameters
    ----------
    axes : tuple of Axis
        The values shown.
    no_population : str
        Why there is no confidence interval, whether anything is shown or not; empty where there is one.
    """

    axes: tuple[Axis, ...] = ()
    no_population: str = NO_POPULATION

    standard_error: ClassVar[None] = None
    n: ClassVar[None] = None
    n_eff: ClassVar[None] = None

    def interval(self, level: float, kind: str) -> Interval:
        """Return the interval of every value shown."""
        if kind == "confidence" and self.no_population:
            raise Unavailable(self.no_population)
        return super().interval(level, kind)


class FrequentValues(Statistic):
    """Counts of the values that many rows have, of a column with too many values to count each."""

    name: ClassVar[str] = "frequent_values"
    title: ClassVar[str] = "frequent values"
    target: ClassVar[Target] = "value"
    of_dates: ClassVar[bool] = True
    beside: ClassVar[bool] = True
    defaults: ClassVar[Options] = {"delta": Fraction(1, 10**8)}
    reference: ClassVar[str] = "Korolova, Kenthapadi, Mishra & Ntoulas 2009; Wilson et al. 2020"
    counts: ClassVar[bool] = True

    def extra_axes(self, setting: Setting) -> tuple[Axis, ...]:
        """No public axis: which values are shown is released. A δ that cannot be is refused, and sums of dates."""
        _delta(setting)
        if any(number.calendar is not None or number.low == number.high for number in setting.numbers):
            raise PlanError("frequent_values takes sums and means of numbers that vary, not of dates.")
        if len(setting.numbers) > MOST_NUMBERS:
            raise PlanError(
                f"frequent_values takes at most {MOST_NUMBERS} numbers: ask for others in another question."
            )
        return ()

    def domain(self, setting: Setting) -> Pair:
        """From one to the public number of rows, where there is one."""
        return 1.0, setting.row_range[1]

    def readings_of(self, setting: Setting) -> Mapping[str, ReadingFunction]:
        """Means and sums, where a number was asked beside the counts."""
        return {} if setting.other is None else _READINGS

    def price(self, setting: Setting, share: Share) -> Pricing:
        """One vector of counts above a threshold, with all of the share and the δ that was asked; or counts and sums."""
        return _priced_counts(setting, share) if setting.other is None else _priced_sums(setting, share)

    def half_width(self, setting: Setting, pricing: Pricing, n: float | None) -> float | None:  # noqa: ARG002
        """The radius of the noise on the count of a value that is shown in any case."""
        return float(DiscreteLaplaceLaw(_mechanism(pricing).scale).tail_radius(0.05))

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """Which values are shown, and ± in rows."""
        mechanism = _mechanism(pricing)
        sure = mechanism.threshold + int(DiscreteLaplaceLaw(mechanism.scale).quantile(0.95))
        width = rounded(self.half_width(setting, pricing, n) or 0.0)
        return f"values of {sure:,} rows or more are shown (95 %), ± {width} rows each"

    def conclude(self, setting: Setting, releases: Sequence[Release]) -> Result:
        """Return the values shown with their noised counts and intervals."""
        release = best(releases)
        part = release.part("frequent")
        mechanism = mechanism_of(part.law, Thresholding)
        labels, numbers = _rows(setting, part.values)
        counts = [row[0] for row in numbers]
        low, high = self.domain(setting)
        cells = [
            ShownCount(float(count), DiscreteLaplaceLaw(mechanism.scale), mechanism.threshold, high)
            for count in counts
        ]
        note = f"exact law of the noise, given that the count passed the threshold of {mechanism.threshold:,}"
        return FrequentResult.of(
            cells,
            (len(cells),),
            (low, high),
            None,
            NO_DRAWS,
            notes={"privacy": note},
            axes=_axes(setting, labels),
        )


def _priced_counts(setting: Setting, share: Share) -> Pricing:
    """Price counts alone."""
    mechanism = _calibrated(setting, pick_epsilon(share, 1))
    part = Measurement("frequent", _request(setting), mechanism, 1)
    return Pricing((part,), (_count_row(setting, mechanism),))


def _priced_sums(setting: Setting, share: Share) -> Pricing:
    """Price counts, centred sums and squares: ε = k(1/b_n + (R/2)/b_S + top/b_Q), with the δ of the counts."""
    epsilon, request, sums = pick_epsilon(share, 1), _request(setting), _sums(setting)
    counted = _calibrated(setting, _COUNTS * epsilon)
    moved = [int(_unit(setting)) * max(map(abs, setting.facts.ends(code))) for _, code, _ in sums]
    scales = tuple(most / (part * epsilon) for most, (part, *_) in zip(moved, sums, strict=True))
    mechanism = ThresholdedSums(counted.scale, counted.threshold, counted.rows, scales)
    part = Measurement("frequent", request, mechanism, 1)
    words = [one[-1] for one in sums]
    rows = (_count_row(setting, counted), *map(_sum_row, words, moved, scales))
    return Pricing((part,), rows)


def _unit(setting: Setting) -> Fraction:
    """Return the ε that counts cost at a scale of one: how far one person moves them."""
    rows, counts = setting.unit.max_rows, LabelSums(_label(setting), (), setting.where)
    return unit_loss(setting, [Measurement("", counts, Thresholding(Fraction(1), rows + 1, rows), 1)])


def _calibrated(setting: Setting, epsilon: Fraction) -> Thresholding:
    """Return counts above a threshold that cost ε and the δ that was asked."""
    return calibrated_threshold(epsilon, _delta(setting), setting.unit.max_rows, _unit(setting))


def _sums(setting: Setting) -> list[tuple[Fraction, IntExpr, str]]:
    """Return the sums beside the counts: part of the loss, what a row adds, and words."""
    left = (1 - _COUNTS) / max(len(setting.numbers), 1)
    return [one for number in beside(setting) for one in _sums_of(number, left)]


def _sums_of(setting: Setting, left: Fraction) -> list[tuple[Fraction, IntExpr, str]]:
    """Return the sums of one number."""
    centred, name = setting.second().centred(), setting.names[1]
    if spread_of(setting) != "bought":
        return [(left, centred.code, f"sum of {name}, centred")]
    return [
        ((1 - _SQUARES) * left, centred.code, f"sum of {name}, centred"),
        (_SQUARES * left, centred.square().code, f"squares of {name}, for its spread"),
    ]


def _count_row(setting: Setting, mechanism: Thresholding) -> PriceRow:
    unit = _unit(setting)
    return PriceRow(
        f"rows by {setting.subject}, shown from {mechanism.threshold:,} on",
        "discrete Laplace above a threshold",
        f"one person moves the counts by at most {int(unit):,}",
        f"scale {rounded(float(mechanism.scale))} rows",
        f"ε {rounded(float(unit / mechanism.scale))}, δ {float(mechanism.delta):.3g}",
    )


def _sum_row(words: str, most: int, scale: Fraction) -> PriceRow:
    return PriceRow(
        f"{words}, of each value shown",
        "discrete Laplace",
        f"one person moves them by at most {most:,}",
        f"scale {rounded(float(scale))}",
        f"ε {rounded(float(most / scale))}",
    )


def _read(setting: Setting, place: int, word: str, releases: Sequence[Release]) -> FrequentResult:
    """Return the means or sums of one number for the values shown."""
    part = best(releases).part("frequent")
    mechanism = mechanism_of(part.law, ThresholdedSums)
    labels, rows = _rows(setting, part.values)
    each = beside(setting)
    first = sum(len(_sums_of(one, Fraction(1))) for one in each[:place])
    held = slice(first, first + len(_sums_of(each[place], Fraction(1))))
    setting, mechanism = each[place], replace(mechanism, sums=mechanism.sums[held])
    means = shown_means(setting, [(row[0], *row[1:][held]) for row in rows], mechanism)
    number = setting.second()
    note = "exact law of the noise, given that the count passed, by the union bound"
    cells: Sequence[Cell] = list(means) if word == "means" else [ShownSum(mean) for mean in means]
    return FrequentResult.of(
        cells,
        (len(cells),),
        number.bounds if word == "means" else (-float("inf"), float("inf")),
        None,
        NO_MEAN_DRAWS,
        notes={"privacy": note, "confidence": f"{note}, and sampling"},
        axes=_axes(setting, labels),
        no_population=NO_SAMPLING.get(spread_of(setting), "") if word == "means" else NO_POPULATION,
    )


_READINGS = readings(_read)


def _axes(setting: Setting, labels: Sequence[Sequence[int]]) -> tuple[Axis, ...]:
    return (Axis(setting.subject, setting.subject, tuple(_key(setting, label) for label in labels)),)


def _mechanism(pricing: Pricing) -> Thresholding | ThresholdedSums:
    mechanism = pricing.parts[0].mechanism
    assert isinstance(mechanism, Thresholding | ThresholdedSums)
    return mechanism


def _delta(setting: Setting) -> Fraction:
    try:
        delta = rational(setting.options["delta"], name="delta")
    except (LossError, TypeError, ValueError):
        raise OptionError("delta= is a number between 0 and 1, for example delta=1e-8.") from None
    if not Fraction(1, 10**15) <= delta < Fraction(1, 2):
        raise OptionError("delta= lies between 1e-15 and 0.5, for example delta=1e-8.")
    return delta


def _request(setting: Setting) -> ValueCounts | LabelSums:
    if setting.text is None and setting.other is None:
        return ValueCounts(setting.number().code, setting.where)
    sums = tuple(code for _, code, _ in _sums(setting))
    return LabelSums(_label(setting), sums, setting.where)


def _label(setting: Setting) -> tuple[IntExpr, ...]:
    """Return the integers of a value."""
    return (setting.number().code,) if setting.text is None else tuple(map(Col, setting.text.parts))


def _rows(setting: Setting, values: Sequence[int]) -> tuple[list[Sequence[int]], list[Sequence[int]]]:
    """Return the integers of each value shown, and its noised count and sums."""
    width, more = len(_label(setting)), 1 + len(_sums(setting))
    rows = [values[at : at + width + more] for at in range(0, len(values), width + more)]
    return [row[:width] for row in rows], [row[width:] for row in rows]


def _key(setting: Setting, codes: Sequence[int]) -> Any:
    if setting.text is not None:
        assert setting.text.text is not None
        return setting.text.text.told(codes)
    number = setting.number()
    value = number.offset + number.step * codes[0]
    if setting.choices is not None:
        return setting.choices.keys[int(value)]
    if number.calendar is not None:
        return dated(float(value), number.calendar)
    return int(value) if value.denominator == 1 else float(value)
