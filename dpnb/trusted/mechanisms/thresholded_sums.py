r"""Counts of values that are not listed beforehand, and sums over the rows of each value that is shown.

As :class:`~dpnb.trusted.mechanisms.thresholding.Thresholding`, whose noised count alone decides which values are shown. Beside it the exact
sums of some bounded numbers over a shown value's rows are released with discrete Laplace noise of their own: means, in the same charge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple, Protocol

from dpnb.trusted.errors import PlanError
from dpnb.trusted.mechanisms._base import Mechanism, bounded_scale, positive
from dpnb.trusted.mechanisms.thresholding import LabelCounts, Thresholding
from dpnb.trusted.noise import exact as exact_noise
from dpnb.trusted.noise.bits import BitSource

MOST_SUMS = 8
"""The largest sum whose law is listed, for audits."""
Draw = Callable[[Fraction, int], list[int]]


class LabelTotals(LabelCounts, Protocol):
    """Labels, how often each occurs, and for each number its sums."""

    @property
    def sums(self) -> Sequence[Sequence[int]]:
        """The exact sums of each number, in the order of the labels."""


class _Totals(NamedTuple):
    labels: Sequence[tuple[int, ...]]
    counts: Sequence[int]
    sums: Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class ThresholdedSums(Mechanism):
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
    *Guarantee.* A row adds 1 to the count of one value and to its sums numbers of at most :math:`t_j`. Let
    :math:`ε = k(1/b + \sum_j t_j/b_j)` for units of at most k rows, and δ that of the counts alone. *Add-remove*: given that no value
    that only the unit has is shown, the outputs are a function of the noised counts and sums of the others, which the unit's rows
    move by at most ε in the sum of moves over scales; whether a value of its own is shown depends on its noised count alone, so the
    probability of that is at most δ: (ε, δ). *Change-one*: as for counts. With :math:`C_V` and :math:`C_W` rows on values that only
    one of both units has, the values of both differ by at most :math:`2ε - (C_V+C_W)ε/k` in that sum, and
    :math:`ε/k ≥ 1/b`, which is all that the proof of :class:`Thresholding` uses of it: (2ε, δ).

    References
    ----------
    Wilson et al., *Differentially private SQL with bounded user contribution* (2020).

    Examples
    --------
    >>> ThresholdedSums(Fraction(2), 20, 1, (Fraction(100),)).epsilon((50,), changed=False)
    Fraction(1, 1)
    """

    name: ClassVar[str] = "thresholded-sums"
    event: ClassVar[str] = "approximate"

    scale: Fraction
    threshold: int
    rows: int
    sums: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", self.counted.scale)
        object.__setattr__(self, "sums", tuple(positive(one, "The noise scale") for one in self.sums))
        for one in self.sums:
            bounded_scale(one**2)
        if not 1 <= len(self.sums) <= MOST_SUMS:
            raise PlanError(f"Beside a thresholded count there are 1 to {MOST_SUMS} sums.")

    @property
    def counted(self) -> Thresholding:
        """The counts and their threshold alone."""
        return Thresholding(self.scale, self.threshold, self.rows)

    def epsilon(self, tops: Sequence[int], *, changed: bool) -> Fraction:
        """ε of one release, for the largest absolute value that a row adds to each sum."""
        moved = sum((top / one for top, one in zip(tops, self.sums, strict=True)), 1 / self.scale)
        return Fraction(self.rows) * moved * (2 if changed else 1)

    @property
    def delta(self) -> Fraction:
        """δ of one release: that of the counts."""
        return self.counted.delta

    def release(self, totals: Sequence[Sequence[int]], bits: BitSource) -> tuple[int, ...]:
        """What is shown of a list of counts with their sums: place, noised count and sums, of those that pass."""
        labels = tuple((place,) for place, (count, *_) in enumerate(totals) if count)
        counts, *sums = (
            [totals[place][column] for (place,) in labels] for column in range(1 + len(self.sums))
        )
        return self.noised(_Totals(labels, counts, sums), bits)

    @property
    def shape(self) -> tuple[str, ...]:
        """What is released apart from how much noise there is: whoever asks the same shape can be given the answer."""
        return (self.name, str(len(self.sums)))

    def noised(self, exact: LabelTotals, bits: BitSource) -> tuple[int, ...]:
        """A released part: of each value shown its integers, its noised count and sums, in rising order of values."""
        return self.shown(exact, lambda scale, many: exact_noise.discrete_laplace(scale, many, bits).tolist())

    def shown(self, exact: LabelTotals, draw: Draw) -> tuple[int, ...]:
        """Choose by noised counts alone, and draw the noise of sums for what is shown: it is independent of all else."""
        noise = draw(self.scale, len(exact.labels))
        chosen = self.counted.chosen(exact.labels, exact.counts, noise)
        more = [
            [total[place] + one for (place, _), one in zip(chosen, draw(scale, len(chosen)), strict=True)]
            for scale, total in zip(self.sums, exact.sums, strict=True)
        ]
        rows = zip(chosen, *more, strict=True)
        return tuple(
            number for (place, count), *sums in rows for number in (*exact.labels[place], count, *sums)
        )
