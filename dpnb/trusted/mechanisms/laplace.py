"""The discrete Laplace mechanism: pure ε for integer vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpnb.trusted.mechanisms._base import Additive, Card, add, bounded_scale, positive
from dpnb.trusted.noise import exact as exact_noise
from dpnb.trusted.noise import fast
from dpnb.trusted.noise.bits import BitSource
from dpnb.trusted.noise.law import DiscreteLaplaceLaw


@dataclass(frozen=True, slots=True)
class DiscreteLaplace(Additive):
    """Add P(k) ∝ e^(-|k|/scale) to each entry of an integer vector.

    Parameters
    ----------
    scale : Fraction
        Exact, in grid steps, at most 2⁴⁸.

    Notes
    -----
    *Guarantee.* Let x, x' be integer vectors with ‖x - x'‖₁ <= Δ. For every integer vector y the two probabilities are in
    the ratio ∏ e^((|y_i - x'_i| - |y_i - x_i|)/scale) <= e^(Δ/scale): the release is (Δ/scale)-differentially private.
    The sampler is exact, so this holds for what is printed and not only for its idealisation. In ρ it costs what its own law does
    (:func:`dpnb.trusted.privacy.conversion.laplace_rho`).

    References
    ----------
    Ghosh, Roughgarden, Sundararajan (2009); Canonne, Kamath, Steinke (2020).

    Examples
    --------
    >>> DiscreteLaplace.calibrate(1, Fraction(1, 2)).scale
    Fraction(2, 1)
    """

    name: ClassVar[str] = "discrete-laplace"
    event: ClassVar[str] = "laplace"
    card: ClassVar[Card] = Card(
        name="Discrete Laplace mechanism",
        summary=(
            "Adds two-sided geometric noise to an exact integer. The probability of a noise value falls by the same factor "
            "with every grid step, so one person's contribution can change no answer's probability by more than e^ε."
        ),
        assumptions=(
            "every entry is an integer on a public grid",
            "the L1 sensitivity is computed from the integer map",
            "the random words are independent and uniform",
        ),
        reference="Ghosh, Roughgarden, Sundararajan 2009; exact sampling: Canonne, Kamath, Steinke 2020",
    )

    scale: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "The noise scale"))
        bounded_scale(self.scale**2)

    @classmethod
    def calibrate(cls, sensitivity_l1: int | Fraction, epsilon: Fraction) -> DiscreteLaplace:
        """Return the mechanism that spends exactly `epsilon` on a vector of L1 sensitivity `sensitivity_l1`.

        Raises
        ------
        LossError
            When either is not positive.
        PlanError
            When the scale would exceed 2⁴⁸ grid steps.
        """
        return cls(positive(sensitivity_l1, "The sensitivity") / positive(epsilon, "epsilon"))

    @property
    def law(self) -> DiscreteLaplaceLaw:
        """The law of the noise of one entry."""
        return DiscreteLaplaceLaw(self.scale)

    def loss(self, l1: int | Fraction) -> Fraction:
        """ε for a vector whose neighbours differ by at most `l1` in L1."""
        return Fraction(l1) / self.scale

    def release(self, exact: Sequence[int], bits: BitSource) -> tuple[int, ...]:
        """Add fresh exact noise to each entry, in unbounded integers."""
        return add(exact, exact_noise.discrete_laplace(self.scale, len(exact), bits))

    def simulate(self, values: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Add simulated noise to an array of any shape; integer arrays stay integer."""
        return np.asarray(values) + fast.discrete_laplace(float(self.scale), np.shape(values), rng)

    def to_json(self) -> dict[str, str]:
        """``{"mechanism": "discrete-laplace", "scale": "2"}``."""
        return {"mechanism": self.name, "scale": str(self.scale)}
