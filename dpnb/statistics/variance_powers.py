r"""The powers of a number that a variance is read from: squares from a chosen centre, and third and fourth moments for its sampling error.

*From where squares are measured.* A variance is read as :math:`\tilde Q/n - (\tilde m - c)^2` from the squares :math:`Q = Σ(x-c)^2` and the sum, for any public centre c. Its noise
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

*Third and fourth moments* are bought so that the sampling error of a variance is known. A variance is the mean of :math:`(x-m)^2`; its sampling error follows from the variance of that, :math:`μ_4 - v^2`. The bounds alone allow
:math:`v((h+|m|)^2 - v)`, which made intervals 1.3 to 3.3 times too wide from ε = 1 on. The moments bought give

.. math:: μ_4 = q_4 - 4mq_3 + 6m^2q_2 - 3m^4,

to which half a standard deviation of its own noise is added, never more than the bounds allow. So where the noise hides the fourth moment,
the interval widens.

*How much is paid for them* follows the public number of rows: by simulation a share of about 1,200/(n ε), at most a fifth, and where n ε is
below 500 less and less down to a fiftieth, since the noise on the variance itself then counts for more. In ρ, n ε stands for n√(2ρ). Of a private number of rows, which
no price may know, it is a fifth.

References
----------
Cramér, *Mathematical Methods of Statistics* (1946), 27.4, for the variance of a variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpnb.inference import NoiseSum
from dpnb.inference.digits import given
from dpnb.inference.elementwise import Number, greater, root
from dpnb.inference.spread import MARGIN
from dpnb.statistics._base import Centred, Setting
from dpnb.statistics.noise import Summand, unit_losses
from dpnb.statistics.released import Parts
from dpnb.trusted.aggregate.algebra import Total
from dpnb.trusted.query.plan import Share

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


MOST_SHARE, LEAST_SHARE = Fraction(1, 5), Fraction(1, 50)
CUBE_SHARE = Fraction(3, 5)
"""Of what is paid for both: the third moment is multiplied by four times the mean."""
NOTE = (
    "the fourth moment as released, and half a standard deviation of its noise; at most what the bounds allow"
)
_FEW, _SOME, _ENOUGH = Fraction(100), Fraction(500), 1200


def tail_share(setting: Setting, share: Share) -> Fraction:
    """Return the part of the loss that third and fourth moments are bought with.

    It is continuous in the loss, and what is left for the variance itself grows with the loss.
    """
    rows = setting.public_n
    if rows is None:
        return MOST_SHARE
    if share.kind == "epsilon":
        reach, few, some, enough = rows * share.amount, _FEW, _SOME, Fraction(_ENOUGH)
    else:
        reach, enough = rows**2 * share.amount, Fraction(_ENOUGH**2, 4)
        few, some = _FEW**2 / 2, _SOME**2 / 2
    grown = min(Fraction(1), max(Fraction(0), (reach - few) / (some - few)))
    return max(LEAST_SHARE, min(MOST_SHARE * grown, enough / reach))


def tail_summands(setting: Setting, powers: Centred, share: Fraction) -> tuple[Summand, Summand]:
    """Return the sums of third and fourth powers, and how a part of the loss is divided over them."""
    (cube, fourth), words = powers.higher(), setting.subject
    return (
        Summand(
            "cube", setting.total(cube.code), f"third powers of {words}, for its spread", share * CUBE_SHARE
        ),
        Summand(
            "fourth",
            setting.total(fourth.code),
            f"fourth powers of {words}, for its spread",
            share * (1 - CUBE_SHARE),
        ),
    )


@dataclass(frozen=True)
class Tails:
    """Noised third and fourth moments times rows in powers of the grid unit; of one cell, or of many as arrays."""

    cube: Number
    fourth: Number
    cube_noise: NoiseSum
    fourth_noise: NoiseSum

    @classmethod
    def of(cls, powers: Centred, parts: Parts) -> Tails | None:
        """Read the released parts; nothing where none were bought."""
        if "fourth" not in parts:
            return None
        cube, fourth = powers.higher()
        third, last = parts["cube"], parts["fourth"]
        return cls(
            third.values * float(cube.scale),
            last.values * float(fourth.scale),
            third.noise.scaled(float(cube.scale)),
            last.noise.scaled(float(fourth.scale)),
        )

    def spread(
        self, mean: Number, square: Number, square_noise: NoiseSum, rows: Number, variance: Number
    ) -> Number:
        """Return the likely variance of ``(x - mean)²``, and half a standard deviation of its noise."""
        found = (self.fourth - 4 * mean * self.cube + 6 * mean**2 * square) / rows - 3 * mean**4
        noise = (
            self.fourth_noise.total_variance
            + 16 * mean**2 * self.cube_noise.total_variance
            + 36 * mean**4 * square_noise.total_variance
        )
        return greater(found - variance**2, 0.0) + MARGIN * root(noise) / rows
