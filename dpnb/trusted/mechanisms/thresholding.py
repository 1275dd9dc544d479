r"""Counts of values that are not listed beforehand: only those whose noised count passes a threshold are shown.

A value that no neighbouring table has would betray a person by being shown at all. Every value that occurs gets discrete Laplace
noise on its count, and is shown, with the noised count, only from the threshold τ on; τ is so high that what one person alone
holds is shown with probability δ at most. The keys are written in their own order, never in that of the rows, and which values
stayed below is not told. Beside the counts, exact sums of some bounded numbers over the rows of each shown value may be released with noise
of their own: means, in the same charge. There is no pure version: the price is a pair (ε, δ), which ledgers of ε or of ρ alone refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from dpnb.trusted.errors import PlanError
from dpnb.trusted.mechanisms._base import Counts, Mechanism, above_zero, bounded_scale
from dpnb.trusted.noise import exact as exact_noise
from dpnb.trusted.noise.bits import BitSource
from dpnb.trusted.privacy.conversion import decimal_of

Values: TypeAlias = Sequence[tuple[int, ...]]


class LabelCounts(Protocol):
    """Labels of several integers each, in rising order, how often each occurs, and for each number its sums."""

    @property
    def labels(self) -> Values:
        """The labels."""

    @property
    def counts(self) -> Sequence[int]:
        """Their counts."""

    @property
    def sums(self) -> Sequence[Sequence[int]]:
        """The exact sums of each number, in the order of the labels."""


Draw: TypeAlias = Callable[[Fraction, int], list[int]]  # noise of a scale, so many times
MOST_SHOWN = 10_000
MOST_ROWS_OF_A_UNIT = 1_000
MOST_SUMS = 8
_DIGITS = 60
_GUARD = Fraction(1, 10**50)


@dataclass(frozen=True, slots=True)
class Thresholding(Mechanism):
    r"""Show the values whose count plus discrete Laplace noise reaches a threshold, with that noised count.

    Parameters
    ----------
    scale : Fraction
        Scale of the noise.
    threshold : int
        Smallest noised count that is shown; above ``rows``.
    rows : int
        Most rows of one privacy unit.

    Notes
    -----
    *Assumes.* One privacy unit holds at most the declared number of rows; keys are written in their own order, not in that of the rows; the
    random words are independent and uniform.

    *Guarantee.* Let D' be D and one unit of at most k rows, ε = k/scale, and δ the probability that a value which only the unit
    holds is shown. (i) Given that none is shown, the outputs on D' are those of the values of D, whose counts differ by at most k
    in L1: their law is within a factor e^±ε of that on D. (ii) Values are noised independently, so with :math:`c_i` of the
    unit's rows on each of its own values, :math:`δ = 1-\prod_i(1-P(Z ≥ τ-c_i))`. :math:`g(c) = -\log(1-P(Z≥τ-c))` is convex in c,
    so for any number m of such values the worst allocation is :math:`(k-m+1, 1, …, 1)`, whose :math:`g(k-m+1) + (m-1)g(1)` is
    convex in m: the worst of all is all rows on one value, or each on its own; :meth:`delta` is the larger. Hence
    (ε, δ)-differential privacy under add-remove.

    *Change-one*: D holds the unit's rows U, D' its rows U'. Let V be the values that only U has, with :math:`C_V` rows in all, W those that only
    U' has, with :math:`C_W`, and a and b the probabilities that nothing of V is shown on D, nothing of W on D'. Outputs that show a value of V
    have probability 1 - a on D and none on D', those that show one of W none on D. On the others D has the law a·P and D' the law b·Q, P and Q
    being those of the values of both, whose counts differ by at most :math:`2k - C_V - C_W` in L1: :math:`P ≤ e^{2ε - (C_V+C_W)/\text{scale}}Q`, so
    that a·P exceeds e^2ε·b·Q by at most :math:`(a - e^{(C_V+C_W)/\text{scale}}b)\,P ≤ (a - b)P` where at all. Together D exceeds e^2ε times D' by at most
    :math:`1 - a + \max(a - b, 0) = \max(1-a, 1-b) ≤ δ` by (ii): **(2ε, δ)**, with the δ of one step, which a unit of values of its own attains at any
    ε. What is more than 10,000 values is cut by rank of the noised counts, a function of the output.

    References
    ----------
    Korolova, Kenthapadi, Mishra & Ntoulas, *Releasing search queries and clicks privately* (2009); Wilson et al., *Differentially
    private SQL with bounded user contribution* (2020).

    Examples
    --------
    >>> float(Thresholding(Fraction(1), 15).delta) <= 1e-6
    True
    """

    name: ClassVar[str] = "thresholding"
    title = "Thresholded counts"
    phrase = "discrete Laplace with a threshold"
    drawn = "threshold of {threshold:,} rows, discrete Laplace noise, scale {scale} rows"
    summary = (
        "Counts the values that occur, adds two-sided geometric noise to each count, and shows a value only if its noised "
        "count reaches a threshold. A value that only one person has is shown with probability at most δ."
    )
    reference = "Korolova, Kenthapadi, Mishra, Ntoulas 2009; Wilson et al. 2020; proof in the docstring"

    scale: Fraction
    threshold: int
    rows: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", above_zero(self.scale, "The noise scale"))
        bounded_scale(self.scale**2)
        if not 1 <= self.rows <= MOST_ROWS_OF_A_UNIT:
            raise PlanError(f"Thresholding is for units of 1 to {MOST_ROWS_OF_A_UNIT:,} rows.")
        if self.threshold <= self.rows:
            raise PlanError("A threshold is above the number of rows of one person.")

    def work(self, cells: int) -> int:  # noqa: ARG002 - whatever it shows
        """The most values that may be shown, each with its count and its sums."""
        return MOST_SHOWN * (1 + len(self.sum_scales))

    @property
    def sum_scales(self) -> tuple[Fraction, ...]:
        """The scale of the noise on each sum that is released beside a count: there is none."""
        return ()

    def epsilon(self, tops: Sequence[int] = (), *, changed: bool) -> Fraction:
        """ε of one release, for the largest absolute value that a row adds to each sum."""
        moved = sum((top / one for top, one in zip(tops, self.sum_scales, strict=True)), 1 / self.scale)
        return Fraction(self.rows) * moved * (2 if changed else 1)

    @property
    def delta(self) -> Fraction:
        """δ of one release, exact but for a rounding up by less than 10⁻²⁰ of it; the same under both adjacencies."""
        one = self._tail(self.threshold - 1)
        spread = min(self.rows * one, 1 - _power_below(1 - one, self.rows))
        return max(self._tail(self.threshold - self.rows), spread)

    def _tail(self, reach: int) -> Fraction:
        """P(Z ≥ reach) for reach ≥ 1, rounded up: q^reach / (1 + q) with q = e^(-1/scale)."""
        below = _exp_above(-1 / self.scale) * (1 - 3 * _GUARD)
        return min(_exp_above(-reach / self.scale) / (1 + below), Fraction(1))

    def noised(self, exact: Sequence[Counts] | LabelCounts, bits: BitSource) -> tuple[int, ...]:
        """A released part: of each value shown its integers, its noised count and sums, in rising order of values.

        A value is one integer, or those of a label.
        """
        return self.shown(exact, lambda scale, many: exact_noise.discrete_laplace(scale, many, bits).tolist())

    def shown(self, exact: Sequence[Counts] | LabelCounts, draw: Draw) -> tuple[int, ...]:
        """Choose by noised counts alone, and draw the noise of sums for what is shown: it is independent of all else."""
        values, counts, *sums = tally(exact)
        chosen = self.chosen(values, counts, draw(self.scale, len(values)))
        more = [
            [total[place] + one for (place, _), one in zip(chosen, draw(scale, len(chosen)), strict=True)]
            for scale, total in zip(self.sum_scales, sums, strict=True)
        ]
        rows = zip(chosen, *more, strict=True)
        return tuple(number for (place, count), *own in rows for number in (*values[place], count, *own))

    def chosen(self, values: Values, counts: Sequence[int], noise: Sequence[int]) -> list[tuple[int, int]]:
        """Return the place and noised count of each value that is shown, in rising order of values."""
        noised = [
            (place, count + draw)
            for place, (count, draw) in enumerate(zip(counts, noise, strict=True))
            if count + draw >= self.threshold
        ]
        if len(noised) > MOST_SHOWN:
            noised = sorted(noised, key=lambda pair: (-pair[1], values[pair[0]]))[:MOST_SHOWN]
        return sorted(noised, key=lambda pair: values[pair[0]])


@dataclass(frozen=True, slots=True)
class ThresholdedSums(Thresholding):
    r"""Show the values whose noised count reaches a threshold, with that count and noised sums over their rows.

    Parameters
    ----------
    scale : Fraction
        Scale of the noise on counts.
    threshold : int
        Smallest noised count that is shown; above ``rows``.
    rows : int
        Most rows of one privacy unit.
    sums : tuple of Fraction
        Scale of the noise on each sum.

    Notes
    -----
    *Assumes.* One privacy unit holds at most the declared number of rows; each row's numbers are within their public range; the random words
    are independent and uniform.

    *Guarantee.* A row adds 1 to the count of one value and to its sums numbers of at most :math:`t_j`. Let
    :math:`ε = k(1/b + \sum_j t_j/b_j)` for units of at most k rows, and δ that of the counts alone. *Add-remove*: given that no value
    that only the unit has is shown, the outputs are a function of the noised counts and sums of the others, which the unit's rows
    move by at most ε in the sum of moves over scales; whether a value of its own is shown depends on its noised count alone, so the
    probability of that is at most δ: (ε, δ). *Change-one*: as for counts. With :math:`C_V` and :math:`C_W` rows on values that only
    one of both units has, the values of both differ by at most :math:`2ε - (C_V+C_W)ε/k` in that sum, and
    :math:`ε/k ≥ 1/b`, which is all that the proof of :class:`Thresholding` uses of it: (2ε, δ).

    Examples
    --------
    >>> ThresholdedSums(Fraction(2), 20, 1, (Fraction(100),)).epsilon((50,), changed=False)
    Fraction(1, 1)
    """

    name: ClassVar[str] = "thresholded-sums"
    title = "Thresholded counts and sums"
    phrase = "discrete Laplace with a threshold on counts"
    drawn = Thresholding.drawn + " and {sums}"
    summary = (
        "Counts the values that occur, adds two-sided geometric noise to each count, and shows a value only if its noised "
        "count reaches a threshold. Of a value that is shown it releases noised sums over its rows as well."
    )
    reference = "Wilson et al. 2020; proof in the docstring"

    sums: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        Thresholding.__post_init__(self)
        object.__setattr__(self, "sums", tuple(above_zero(one, "The noise scale") for one in self.sums))
        for one in self.sums:
            bounded_scale(one**2)
        if not 1 <= len(self.sums) <= MOST_SUMS:
            raise PlanError(f"Beside a thresholded count there are 1 to {MOST_SUMS} sums.")

    @property
    def sum_scales(self) -> tuple[Fraction, ...]:
        """The scale of the noise on each sum."""
        return self.sums

    @property
    def shape(self) -> tuple[str, ...]:
        """What is released apart from how much noise there is: whoever asks the same shape can be given the answer."""
        return (self.name, str(len(self.sums)))


def tally(exact: Any) -> tuple[Any, ...]:
    """Return distinct values, how often each occurs, and of labels each of their sums, in rising order of values."""
    if hasattr(exact, "labels"):
        return exact.labels, exact.counts, *exact.sums
    ((values, counts),) = exact
    pairs = sorted(zip(np.asarray(values).tolist(), np.asarray(counts).tolist(), strict=True))
    return [(value,) for value, _ in pairs], [count for _, count in pairs]


def _exp_above(exponent: Fraction) -> Fraction:
    """Return a rational at least e^exponent, and above it by less than 10⁻⁴⁹ of it; at least e⁻⁹⁰⁰⁰."""
    with localcontext() as context:
        context.prec = _DIGITS
        kept = max(exponent, Fraction(-9_000))
        value = decimal_of(kept).exp()
        return Fraction(value) * (1 + _GUARD)


def _power_below(base: Fraction, power: int) -> Fraction:
    """Return a rational at most base^power, for a base from 0 to 1."""
    with localcontext() as context:
        context.prec, context.rounding = _DIGITS, ROUND_FLOOR
        kept = decimal_of(base)
        found = Decimal(1)
        for _ in range(power):
            found *= kept
        return Fraction(found)
