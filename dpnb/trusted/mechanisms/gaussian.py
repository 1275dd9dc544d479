"""The discrete Gaussian mechanism: ρ-zCDP for integer vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpnb.trusted.mechanisms._base import AdditiveMechanism, above_zero, add, bounded_scale
from dpnb.trusted.noise import exact as exact_noise
from dpnb.trusted.noise.bits import BitSource


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(AdditiveMechanism):
    """Add P(k) ∝ e^(-k²/(2·variance)) to each entry of an integer vector.

    Parameters
    ----------
    variance : Fraction
        The exact parameter σ², in squared grid steps; σ is at most 2⁴⁸.

    Notes
    -----
    *Assumes.* Every entry is an integer on a public grid; the L2 sensitivity is computed from the integer map; the random words are independent
    and uniform.

    *Guarantee.* For integers μ, ν and every order α > 1 the Rényi divergence of the two shifted laws is at most
    α(μ - ν)²/(2σ²), as for continuous Gaussians (Canonne, Kamath and Steinke 2020, proposition 5: the ratio of the sums over
    shifted lattices is largest at shift zero). Independent entries add: ‖x - x'‖₂² <= Δ² gives ρ = Δ²/(2σ²)-zCDP.
    Calibration is closed, so the variance is rational and nothing is rounded.
    Conversions to (ε, δ) must use the discrete law or a bound on ρ, never the continuous curve.

    Examples
    --------
    >>> DiscreteGaussian.calibrate(1, Fraction(1, 2)).variance
    Fraction(1, 1)
    """

    name: ClassVar[str] = "discrete-gaussian"
    title = "Discrete Gaussian mechanism"
    phrase = "discrete Gaussian"
    drawn = "discrete Gaussian noise, sd {sd:.4g}"
    summary = (
        "Adds bell-shaped integer noise to an exact integer. Its tails are as thin as those of the normal law, which makes it "
        "the better choice when many numbers are released together; its loss is counted in ρ."
    )
    reference = "Canonne, Kamath, Steinke, The discrete Gaussian for differential privacy (2020), theorem 4 and proposition 5"

    variance: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", above_zero(self.variance, "The noise variance"))
        bounded_scale(self.variance)

    @classmethod
    def calibrate(cls, sensitivity_l2_squared: int | Fraction, rho: Fraction) -> DiscreteGaussian:
        """Return the mechanism that spends exactly `rho` on a vector of squared L2 sensitivity `sensitivity_l2_squared`.

        Raises
        ------
        LossError
            When either is not positive.
        PlanError
            When σ would exceed 2⁴⁸ grid steps.
        """
        return cls(above_zero(sensitivity_l2_squared, "The sensitivity") / (2 * above_zero(rho, "rho")))

    def release(self, exact: Sequence[int], bits: BitSource) -> tuple[int, ...]:
        """Add fresh exact noise to each entry, in unbounded integers."""
        return add(exact, exact_noise.discrete_gaussian(self.variance, len(exact), bits))
