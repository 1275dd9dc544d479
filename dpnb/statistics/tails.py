r"""Third and fourth moments, bought so that the sampling error of a variance is known.

A variance is the mean of :math:`(x-m)^2`; its sampling error follows from the variance of that, :math:`μ_4 - v^2`. The bounds alone allow
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

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpnb.inference import NoiseSum
from dpnb.inference.elementwise import greater, root
from dpnb.statistics._base import Centred, Setting
from dpnb.statistics.noise import Summand
from dpnb.statistics.released import Part, SimulatedPart
from dpnb.trusted.query.plan import Share

MOST_SHARE, LEAST_SHARE = Fraction(1, 5), Fraction(1, 50)
CUBE_SHARE = Fraction(3, 5)
"""Of what is paid for both: the third moment is multiplied by four times the mean."""
NOTE = (
    "the fourth moment as released, and half a standard deviation of its noise; at most what the bounds allow"
)
_FEW, _SOME, _ENOUGH = Fraction(100), Fraction(500), 1200
_MARGIN = 0.5


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

    cube: Any
    fourth: Any
    cube_noise: NoiseSum
    fourth_noise: NoiseSum

    @classmethod
    def of(cls, powers: Centred, parts: Mapping[str, Part | SimulatedPart]) -> Tails | None:
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

    def spread(self, mean: Any, square: Any, square_noise: NoiseSum, rows: Any, variance: Any) -> Any:
        """Return the likely variance of ``(x - mean)²``, and half a standard deviation of its noise."""
        found = (self.fourth - 4 * mean * self.cube + 6 * mean**2 * square) / rows - 3 * mean**4
        noise = (
            self.fourth_noise.total_variance
            + 16 * mean**2 * self.cube_noise.total_variance
            + 36 * mean**4 * square_noise.total_variance
        )
        return greater(found - variance**2, 0.0) + _MARGIN * root(noise) / rows
