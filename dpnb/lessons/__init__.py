"""Lessons: the mechanisms of a course on differential privacy, short enough to read, on plain arrays.

Each is ε-private (or states what it is) *over the real numbers*: the noise comes from numpy's generators with a seed. Students
need that, and protected data must never get it: use :func:`dpnb.open` for protected data. Nothing here can read a
handle, and no plan can name anything here. The tests compare every mechanism with its law and audit it below its claim.
"""

from dpnb.lessons.gradient_descent import Descent, gradient_descent, noise_scale
from dpnb.lessons.randomised_response import (
    Debiased,
    ModelErrors,
    debiased_counts,
    debiased_mean,
    local_and_central,
    randomised_response,
    response_law,
    unary_encoding,
    unary_probabilities,
)
from dpnb.lessons.renyi import RenyiCurve, composed, gaussian_curve, laplace_curve, randomised_response_curve
from dpnb.lessons.sample_and_aggregate import BlockMedian, median_law, private_median, sample_and_aggregate
from dpnb.lessons.sparse_vector import WRONG_VERSIONS, WrongVersion, above_threshold, above_threshold_law
from dpnb.lessons.synthetic import Synthetic, draw_rows, noisy_marginals, synthetic_rows

__all__ = [
    "WRONG_VERSIONS",
    "BlockMedian",
    "Debiased",
    "Descent",
    "ModelErrors",
    "RenyiCurve",
    "Synthetic",
    "WrongVersion",
    "above_threshold",
    "above_threshold_law",
    "composed",
    "debiased_counts",
    "debiased_mean",
    "draw_rows",
    "gaussian_curve",
    "gradient_descent",
    "laplace_curve",
    "local_and_central",
    "median_law",
    "noise_scale",
    "noisy_marginals",
    "private_median",
    "randomised_response",
    "randomised_response_curve",
    "response_law",
    "sample_and_aggregate",
    "synthetic_rows",
    "unary_encoding",
    "unary_probabilities",
]
