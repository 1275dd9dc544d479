r"""Counts of values that are not listed beforehand, and sums over the rows of each value that is shown.

As :class:`~dpnb.trusted.mechanisms.thresholding.Thresholding`, whose noised count alone decides which values are shown. Beside it the exact
sums of some bounded numbers over a shown value's rows are released with discrete Laplace noise of their own: means, in the same charge.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpnb.trusted.errors import PlanError
from dpnb.trusted.mechanisms._base import bounded_scale, positive
from dpnb.trusted.mechanisms.thresholding import Thresholding

MOST_SUMS = 8
"""Beside one count."""


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
    summary = (
        "Counts the values that occur, adds two-sided geometric noise to each count, and shows a value only if its noised "
        "count reaches a threshold. Of a value that is shown it releases noised sums over its rows as well."
    )
    reference = "Wilson et al., Differentially private SQL with bounded user contribution (2020); proof in the docstring"

    sums: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        Thresholding.__post_init__(self)
        object.__setattr__(self, "sums", tuple(positive(one, "The noise scale") for one in self.sums))
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
