"""The average of k Laplace answers: nearly normal noise under pure ε. A mechanism to compare with; no statistic uses it.

Refuses nothing that the discrete Laplace mechanism accepts, and gains nothing over it but the shape of its noise: its variance is k
times that of one Laplace answer at the same ε. It is not in the curator's tuple.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import PlanError
from dpnb.inference import fast_noise
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.inference.mechanism_cards import MechanismCard
from dpnb.trusted.mechanisms._base import add, bounded_scale, positive
from dpnb.trusted.noise.bits import BitSource
from dpnb.trusted.noise.exact import discrete_laplace
from dpnb.trusted.privacy import loss as privacy_loss

_FFT_MOST = 2**22


@dataclass(frozen=True, slots=True)
class AveragedLaplaceLaw:
    """The noise of the average of `count` discrete Laplace draws, in grid steps; its support is the multiples of 1/count.

    Parameters
    ----------
    each : DiscreteLaplaceLaw
        The law of one draw.
    count : int
        How many are averaged.

    Examples
    --------
    >>> AveragedLaplaceLaw.calibrate(1, "0.5", 10).each.scale
    Fraction(20, 1)
    """

    each: DiscreteLaplaceLaw
    count: int

    def __post_init__(self) -> None:
        if self.count < 1:
            raise PlanError("At least one draw is averaged.")

    @classmethod
    def calibrate(
        cls, sensitivity: int | Fraction, epsilon: Fraction | str | float, count: int
    ) -> AveragedLaplaceLaw:
        """Return the law that spends exactly `epsilon`: each draw has scale kΔ/ε.

        Raises
        ------
        LossError, PlanError
            When a number is not positive.
        """
        size = privacy_loss.positive(sensitivity, name="sensitivity")
        return cls(DiscreteLaplaceLaw(max(count, 1) * size / privacy_loss.positive(epsilon)), count)

    @property
    def variance_float(self) -> float:
        """Variance of the average: that of one draw over the count, near 2kΔ²/ε²."""
        return self.each.variance_float / self.count

    @property
    def excess_kurtosis(self) -> float:
        r"""Excess kurtosis of the average: :math:`(3 + 1/v)/k` with v the variance of one draw; 3/k on a fine grid.

        A draw is the difference of two geometric ones, whose cumulants give κ₄/κ₂² = 3 + 1/κ₂.
        """
        return (3.0 + 1.0 / self.each.variance_float) / self.count

    def pmf_of_sum(self) -> NDArray[np.float64]:
        """Return P(ΣL = s) for s from -r to r, by Fourier inversion of the exact characteristic function.

        Raises
        ------
        PlanError
            When the law is wider than some four million grid steps.
        """
        rate = float(1 / self.each.scale)
        reach = int(np.ceil((40.0 + 3.0 * self.count) / rate)) + 2
        size = 1 << (2 * reach).bit_length()
        if size > _FFT_MOST:
            raise PlanError("This law is too wide to be tabulated. Use its variance and kurtosis.")
        omega = 2.0 * np.pi * np.arange(size // 2 + 1) / size
        # (1-q)²/(1-2q cos ω+q²), written so that nothing cancels at small ω.
        one = np.expm1(-rate) ** 2
        factor = one / (one + 4.0 * np.exp(-rate) * np.sin(omega / 2.0) ** 2)
        mass = np.fft.irfft(factor**self.count, size)
        return np.asarray(np.maximum(np.concatenate([mass[size - reach :], mass[: reach + 1]]), 0.0))


@dataclass(frozen=True, slots=True)
class AveragedLaplace:
    """Release k·x + L₁ + … + L_k for each integer x; divided by k it is the average of k Laplace answers.

    Parameters
    ----------
    scale : Fraction
        Of each draw, in grid steps: k·Δ/ε.
    count : int
        k, from 1 to 1,000.

    Notes
    -----
    *Guarantee.* The k answers x + L_i are (ε/k)-differentially private each, for vectors of L1 sensitivity Δ, and independent: together ε.
    Their sum is a function of them. All are integers, and the sampler is exact.

    *Cost.* The average has k times the variance of one answer at ε, near 2kΔ²/ε², and excess kurtosis 3/k. At k = 10, where normal
    intervals become adequate, the analytic Gaussian mechanism at δ = 10⁻⁶ has less noise (:mod:`dpnb.exhibits.averaged_law`).

    References
    ----------
    Brawner, Honaker (2018), Remark 2; Balle, Wang (2018).

    Examples
    --------
    >>> AveragedLaplace.calibrate(1, Fraction(1, 2), 10).scale
    Fraction(20, 1)
    """

    name: ClassVar[str] = "averaged-laplace"
    card: ClassVar[MechanismCard] = MechanismCard(
        event="pure",
        name="Average of k discrete Laplace answers",
        words="the average of discrete Laplace answers",
        drawn=lambda law: f"average of {law['count']} discrete Laplace answers",
        summary=(
            "Answers k times at ε/k and averages: pure ε, and noise that is nearly normal. The price is k times the variance of one "
            "Laplace answer at ε; where a small δ is acceptable, the analytic Gaussian is less noisy from about k = 8 on. "
            "To be preferred for nothing but the shape of its noise."
        ),
        assumptions=(
            "every entry is an integer on a public grid",
            "the L1 sensitivity is computed from the integer map",
            "the random words are independent and uniform",
        ),
        reference="Brawner, Honaker 2018; composition: proof in the docstring",
    )

    scale: Fraction
    count: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "The noise scale"))
        bounded_scale(self.scale**2)
        if not 1 <= self.count <= 1000:
            raise PlanError("From 1 to 1,000 answers are averaged.")

    @classmethod
    def calibrate(cls, sensitivity_l1: int | Fraction, epsilon: Fraction, count: int) -> AveragedLaplace:
        """Return the mechanism that spends exactly `epsilon` on a vector of L1 sensitivity `sensitivity_l1`."""
        return cls(count * positive(sensitivity_l1, "The sensitivity") / positive(epsilon, "epsilon"), count)

    @property
    def noise(self) -> AveragedLaplaceLaw:
        """The law of the noise on the average."""
        return AveragedLaplaceLaw(DiscreteLaplaceLaw(self.scale), self.count)

    def loss(self, l1: int | Fraction) -> Fraction:
        """ε for a vector whose neighbours differ by at most `l1` in L1."""
        return self.count * Fraction(l1) / self.scale

    def release(self, exact: Sequence[int], bits: BitSource) -> tuple[int, ...]:
        """Return k·x + ΣL for each entry, in unbounded integers."""
        draws = discrete_laplace(self.scale, len(exact) * self.count, bits).reshape(len(exact), self.count)
        return add([self.count * int(value) for value in exact], draws.sum(axis=1))

    def simulate(self, values: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Return the simulated average for each entry of an array."""
        shape = (*np.shape(values), self.count)
        noise = fast_noise.discrete_laplace(float(self.scale), shape, rng).mean(axis=-1)
        return np.asarray(np.asarray(values) + noise)

    def to_json(self) -> dict[str, str]:
        """The exact parameters, all as text."""
        return {"mechanism": self.name, "scale": str(self.scale), "count": str(self.count)}
