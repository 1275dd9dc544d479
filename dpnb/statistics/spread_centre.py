r"""From where the squares of a number are measured, so that its variance is least noisy.

A variance is read as :math:`\tilde Q/n - (\tilde m - c)^2` from the squares :math:`Q = Σ(x-c)^2` and the sum, for any public centre c. Its noise
is that of :math:`e_Q - 2(m-c)e_S` over n. Squares from the middle of the bounds move least, by :math:`h^2` where h is half of the range; but a
mean far from the middle then carries the noise of the sum into the variance, :math:`2|m-c|` times. Squares from a declared centre t move by up
to :math:`(h+|t|)^2`, and hardly any of that noise is carried where t is near the mean.

*The choice* is made from public facts alone. With :math:`A` what one person moves in the squares, and :math:`B = 2(|t-c|+h/5)` times what they
move in the sum (t may miss the mean by a tenth of the range), a share s of the loss for the squares leaves a noise whose square is
:math:`(A/s)^2 + (B/(1-s))^2` in ε and :math:`A^2/s + B^2/(1-s)` in ρ, least at :math:`s = A^{2/3}/(A^{2/3}+B^{2/3})` and at :math:`s = A/(A+B)`.
The declared centre is taken where it leaves less in ε and in ρ, so that one question has one request whatever it is paid with. Where no centre is declared it is the middle, and both get one half.

*Why a mean does not do so:* its sum is bought with most of the loss anyway, so that little noise is carried, and the squares with little, so
that a larger move costs much. At two fifths for the spread, the most that is paid, the middle leaves less noise whatever the centre.

No loss depends on the centre in any other way than through the request: the curator derives what :math:`(x-c)^2` can move by from the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpnb.inference.digits import given
from dpnb.statistics._base import Centred, Setting
from dpnb.statistics.noise import unit_losses
from dpnb.trusted.aggregate.algebra import Total

_HALF = Fraction(1, 2)
_MISSES = Fraction(1, 5)
"""By how much of half the range a declared centre may miss the mean."""


@dataclass(frozen=True, slots=True)
class SpreadCentre:
    """From where powers are measured.

    Parameters
    ----------
    place : int
        The centre in grid units from the middle of the range.
    powers : Centred
        The number measured from there.
    declared : bool
        Whether a centre was declared for the column.
    carried : Fraction
        How many times the noise of the sum is carried into the variance, at most.
    """

    place: int
    powers: Centred
    declared: bool
    carried: Fraction

    @property
    def words(self) -> str:
        """From where, where that is not the middle."""
        return f"from {given(float(self.powers.centre))}" if self.place else "centred"

    def requests(self, setting: Setting) -> tuple[Total, Total]:
        """Return the sum from the middle, and the squares from here."""
        return setting.total(setting.number().centred().code), setting.total(self.powers.square().code)

    def moved(self, setting: Setting) -> tuple[float, float]:
        """Return how far a row moves the squares, and the sum as it is carried."""
        total, square = (
            costs / setting.unit.max_rows for costs in unit_losses(setting, "epsilon", self.requests(setting))
        )
        return float(self.powers.square().scale * square), float(self.carried * total)

    def left(self, setting: Setting) -> tuple[float, float]:
        """Return how much noise the best share leaves on the variance, in ε and in ρ."""
        squares, total = self.moved(setting)
        return float((squares ** (2 / 3) + total ** (2 / 3)) ** 1.5), squares + total

    def square_share(self, setting: Setting, kind: str) -> Fraction:
        """Return the share of the squares beside the sum, in hundredths; a half where no centre is declared."""
        if not self.declared:
            return _HALF
        power = 2 / 3 if kind == "epsilon" else 1.0
        squares, total = (size**power for size in self.moved(setting))
        return Fraction(round(100 * squares / (squares + total)), 100)


def spread_centre(setting: Setting) -> SpreadCentre:
    """Return from where the powers of a question's number are measured: the same for every loss."""
    number = setting.number()
    centred = number.centred()
    if number.typical is None:
        return SpreadCentre(0, centred, declared=False, carried=Fraction(0))
    place = round((number.typical - centred.centre) / centred.unit)
    place = max(-centred.half, min(centred.half, place))
    missed = _MISSES * centred.half
    middle, there = (
        SpreadCentre(c, centred.around(c), declared=True, carried=2 * (abs(place - c) + missed))
        for c in (0, place)
    )
    less = (one < other for one, other in zip(there.left(setting), middle.left(setting), strict=True))
    return there if all(less) else middle
