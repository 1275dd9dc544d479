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
from dpnb.exhibits.averaged_law import AveragedLaplaceLaw
from dpnb.inference import fast_noise
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.inference.mechanism_cards import MechanismCard
from dpnb.trusted.mechanisms._base import add, bounded_scale, positive
from dpnb.trusted.noise.bits import BitSource
from dpnb.trusted.noise.exact import discrete_laplace


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
