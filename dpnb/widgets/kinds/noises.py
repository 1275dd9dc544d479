"""Two noises: what privacy adds to a share, beside what sampling adds, for any number of people and any ε."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

from dpnb.cards.card import Card
from dpnb.errors import PlanError
from dpnb.inference import effective_size
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.trusted.mechanisms import DiscreteLaplace
from dpnb.widgets._base import Interaction
from dpnb.widgets.kinds.odds import scaled_law
from dpnb.widgets.registry import Facts, a_loss
from dpnb.widgets.still_picture import lines, still

_SIZES = (30, 100, 300, 1_000, 3_000, 10_000)


class Noises(Interaction):
    """Sampling noise and privacy noise of one share.

    Parameters
    ----------
    share : number
        The share of people that is estimated, strictly between 0 and 1.
    n : int
        The number of people asked, at least 10.
    epsilon : number
        The loss of the count behind the share.
    """

    module: ClassVar[str] = "noises"
    example: ClassVar[str] = "0.3"
    otherwise: ClassVar[object] = 0.5

    def __init__(self, share: float = 0.5, *, n: int = 1000, epsilon: float = 1.0) -> None:
        if not 0 < float(share) < 1:
            raise PlanError(f"share lies between 0 and 1, not at {share}. Write for example share=0.3.")
        if int(n) != n or n < 10:
            raise PlanError("n is a whole number of people, at least 10. Write for example n=1000.")
        self._share, self._n, self._epsilon = float(share), int(n), a_loss(epsilon)
        super().__init__()

    def describe(self) -> Facts:
        """State the share and the noise of its count at ε = 1; see :class:`Interaction`."""
        return {
            "question": f"a share of about {100 * self._share:g} %",
            "share": self._share,
            "n": self._n,
            "epsilon": self._epsilon,
            "law": scaled_law(DiscreteLaplace.calibrate(1, Fraction(1))),
            "problem": "",
        }

    def card(self) -> Card:
        """Draw the table of both noises; see :class:`Interaction`."""
        epsilon = self.held("epsilon", self._epsilon, 0.01, 10)
        law = DiscreteLaplaceLaw(Fraction(self.facts["law"]["scale"]) / Fraction(epsilon))
        sampled = [math.sqrt(self._share * (1 - self._share) / n) for n in _SIZES]
        noised = [math.sqrt(law.variance_float) / n for n in _SIZES]
        rows = [
            (f"{n:,}", f"{one:.2g}", f"{two:.2g}", f"{math.floor(effective_size(n, one**2, two**2)):,}")
            for n, one, two in zip(_SIZES, sampled, noised, strict=True)
        ]
        head = ("people", "sampling, sd", "privacy, sd", "as accurate as")
        drawn = [("sampling", _SIZES, sampled), ("privacy", _SIZES, noised)]
        about = f"{self.facts['question']}, ε {epsilon:g}"
        picture = lines("both noises, sd", drawn, "n")
        return still("noises", "Two noises", about, head, rows, self.facts, picture=picture)
