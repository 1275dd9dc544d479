"""Lessons: the mechanisms of a course on differential privacy, short enough to read, on plain arrays.

Each is ε-private (or says what it is) *over the real numbers*: noise comes from numpy's generators with a seed, which is what a
student needs and what protected data must never get. Protected data is asked through :func:`dpnb.open`. Nothing here can read a
handle, and no plan can name anything here. Every mechanism is held against its law in the tests, and audited below its claim.
"""

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
from dpnb.lessons.sparse_vector import WRONG_VERSIONS, WrongVersion, above_threshold, above_threshold_law

__all__ = [
    "WRONG_VERSIONS",
    "Debiased",
    "ModelErrors",
    "WrongVersion",
    "above_threshold",
    "above_threshold_law",
    "debiased_counts",
    "debiased_mean",
    "local_and_central",
    "randomised_response",
    "response_law",
    "unary_encoding",
    "unary_probabilities",
]
