"""The discrete Laplace mechanism: pure ε for integer vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpnb.trusted.mechanisms._base import AdditiveMechanism, above_zero, add, bounded_scale
from dpnb.trusted.noise import exact as exact_noise
from dpnb.trusted.noise.bits import BitSource


@dataclass(frozen=True, slots=True)
class DiscreteLaplace(AdditiveMechanism):
    """Add P(k) ∝ e^(-|k|/scale) to each entry of an integer vector.

    Parameters
    ----------
    scale : Fraction
        Exact, in grid steps, at most 2⁴⁸.

    Notes
    -----
    *Assumes.* Every entry is an integer on a public grid; the L1 sensitivity is computed from the integer map; the random words are independent
    and uniform.

    *Guarantee.* Let x, x' be integer vectors with ‖x - x'‖₁ <= Δ. For every integer vector y the two probabilities are in
    the ratio ∏ e^((|y_i - x'_i| - |y_i - x_i|)/scale) <= e^(Δ/scale): the release is (Δ/scale)-differentially private.
    The sampler is exact, so this holds for what is printed and not only for its idealisation. In ρ it costs what its own law does
    (:func:`dpnb.trusted.privacy.conversion.laplace_rho`).

    Examples
    --------
    >>> DiscreteLaplace.calibrate(1, Fraction(1, 2)).scale
    Fraction(2, 1)
    """

    name: ClassVar[str] = "discrete-laplace"
    title = "Discrete Laplace mechanism"
    phrase = "discrete Laplace"
    drawn = "discrete Laplace noise, scale {scale}"
    summary = (
        "Adds two-sided geometric noise to an exact integer. The probability of a noise value falls by the same factor "
        "with every grid step, so one person's contribution can change no answer's probability by more than e^ε."
    )
    reference = "Ghosh, Roughgarden, Sundararajan 2009; exact sampling: Canonne, Kamath, Steinke 2020"

    scale: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", above_zero(self.scale, "The noise scale"))
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
        return cls(above_zero(sensitivity_l1, "The sensitivity") / above_zero(epsilon, "epsilon"))

    def release(self, exact: Sequence[int], bits: BitSource) -> tuple[int, ...]:
        """Add fresh exact noise to each entry, in unbounded integers."""
        return add(exact, exact_noise.discrete_laplace(self.scale, len(exact), bits))
