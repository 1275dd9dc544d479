r"""The average of k Laplace draws: nearly normal noise under pure ε, and what it costs.

Split ε into k answers of one integer at ε/k each, and average them: the noise is near a normal law although the promise is
pure ε [1]_. Exactly: release the integer :math:`kx + L_1 + … + L_k` with independent discrete Laplace draws of scale
:math:`kΔ/ε`, and divide by k, which is post-processing. Proof: each of the k answers is ε/k-DP, so all together are ε-DP,
and the sum is a function of them.

The price: k times the variance of one Laplace answer. The source compares it with the classic Gaussian mechanism and finds
it smaller for k < ln(1.25/δ); against the analytic Gaussian [2]_ the threshold at δ = 10⁻⁶ is far lower, k < 6.6, 8.1 and 8.9
at ε = 0.1, 0.5 and 1. At k = 10, where z-intervals become adequate, it is *noisier* than the analytic Gaussian. The room
draws no such answer: it states the law.

References
----------
.. [1] Brawner and Honaker (2018), "Bootstrap Inference and Differential Privacy", Remark 2.
.. [2] Balle and Wang (2018), "Improving the Gaussian Mechanism for Differential Privacy".
"""

from __future__ import annotations

from fractions import Fraction

from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.risk.curves import analytic_gaussian_sigma
from dpnb.trusted.privacy.loss import positive


def averaged_variance(sensitivity: int, epsilon: Fraction | str | float, count: int) -> float:
    """Return the variance of the average of `count` discrete Laplace draws that together spend `epsilon`, near 2kΔ²/ε²."""
    return DiscreteLaplaceLaw(count * sensitivity / positive(epsilon)).variance_float / count


def gaussian_threshold(epsilon: Fraction | str | float, delta: Fraction | str | float) -> float:
    """Return the k below which the average of k Laplaces has less variance than the analytic Gaussian at (ε, δ).

    Examples
    --------
    >>> [round(gaussian_threshold(e, "1e-6"), 1) for e in ("0.1", "0.5", "1")]
    [6.6, 8.1, 8.9]
    """
    sigma = float(analytic_gaussian_sigma(1, epsilon, delta))
    return (sigma * float(positive(epsilon))) ** 2 / 2.0
