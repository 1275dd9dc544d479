"""The law of the average of k Laplace answers of 000: see :func:`dpnb.exhibits.composing.averaged_variance` for what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import PlanError
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.trusted.privacy.loss import positive

_FFT_MOST = 2**22


@dataclass(frozen=True, slots=True)
class AveragedLaplaceLaw:
    """The noise of the average of `count` discrete Laplace draws, in grid steps; its support is the multiples of 1/count."""

    each: DiscreteLaplaceLaw
    count: int

    def __post_init__(self) -> None:
        if self.count < 1:
            raise PlanError("At least one draw is averaged.")

    @classmethod
    def calibrate(
        cls, sensitivity: int | Fraction, epsilon: Fraction | str | float, count: int
    ) -> AveragedLaplaceLaw:
        """Return the law that spends exactly `epsilon`: each draw has scale kΔ/ε."""
        size = positive(sensitivity, name="sensitivity")
        return cls(DiscreteLaplaceLaw(max(count, 1) * size / positive(epsilon)), count)

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
        """Return P(ΣL = s) for s from -r to r, by Fourier inversion of the exact characteristic function."""
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
