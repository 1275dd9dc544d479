"""An exhibit about a score: counting records to change sounds sharper than adding noise, and is not."""

from __future__ import annotations

import math

import numpy as np

from dpnb.exhibits.exhibit import Exhibit, Finding, Lever, Lines, Numbers
from dpnb.exhibits.inputs import PRIMER
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.trusted.privacy.loss import rational

_ROWS, _EPSILON, _AT = 1000, 0.1, -0.99
_STEPS = 100_000


def records_to_change_rms(at: float, rows: int, epsilon: float) -> tuple[float, float]:
    """Return the exact root mean squared error of the score for data that all equal `at` in [-1, 1], and P(error < 0).

    The j-th interval on either side of the mean holds the means that j changed records reach, and has weight
    width · e^(-ε(j-1)/2).
    """
    weights, squares, below = 0.0, 0.0, 0.0
    j = np.arange(1, rows + 1)
    falling = np.exp(-epsilon * (j - 1) / 2)
    for reach, sign in ((1 - at, 1), (at + 1, -1)):
        ends = reach * np.arange(rows + 1) / rows
        weights += float((np.diff(ends) * falling).sum())
        squares += float((np.diff(ends**3) / 3 * falling).sum())
        if sign < 0:
            below = float((np.diff(ends) * falling).sum())
    return math.sqrt(squares / weights), below / weights


def _measure() -> Numbers:
    found, below = records_to_change_rms(_AT, _ROWS, _EPSILON)
    # a mean on a grid of 10⁵ steps, change-one: sensitivity R/n
    law = DiscreteLaplaceLaw(_STEPS / rational(str(_EPSILON)))
    laplace = math.sqrt(law.variance_float) * 2 / _STEPS / _ROWS
    theory = math.sqrt(2) * 2 / (_ROWS * _EPSILON)
    return Numbers(
        Finding(laplace, found, "rms error"),
        Finding(theory, laplace, "rms error", tolerance=1e-6),
        exact=True,
        how="a thousand values of -0.99 in [-1, 1], ε 0.1: the score's whole law, against Laplace noise on the same mean",
        more=(("the tight side", f"the error is downwards with probability {below:.3f} only"),),
    )


def _lying_at(at: float) -> Lines:
    """Errors of the score and of noise, for data that all lie at one place."""
    found, _ = records_to_change_rms(at, _ROWS, _EPSILON)
    noise = math.sqrt(DiscreteLaplaceLaw(_STEPS / rational(str(_EPSILON))).variance_float)
    laplace = noise * 2 / _STEPS / _ROWS
    return laplace, found, laplace


RECORDS_TO_CHANGE = Exhibit(
    "records-to-change",
    "The number of records to change as a score for the mean",
    f"{PRIMER}, end",
    "scoring a mean by how many records must change to reach it concentrates more than noise does when data lie near a bound",
    "Downwards that is true: there is little room. Upwards one record moves the mean by nearly all of the range, "
    "and the exponential mechanism pays a factor of two for not knowing the normaliser.",
    "Laplace or Gaussian noise on the sum for means; scores for medians and quantiles: dpnb's mean() and quantile().",
    "None: noise is never worse here, and half as wide for these data.",
    ([_AT] * 3, [_AT] * 2 + [1.0]),
    (
        "values that all lie near the lower bound",
        "one of them moved to the upper bound: this claim is about accuracy",
    ),
    _measure,
    sampled=False,
    theme="accuracy",
    cell="%%dp epsilon=0.1\ndistance = hiv.distvct.mean()\nmiddle = hiv.distvct.median()",
    lever=Lever(
        "where all values lie",
        "rms error",
        (-0.999, -0.99, -0.95, -0.9, -0.8, -0.7, -0.6, -0.5, -0.4, -0.3, -0.2, -0.1, 0),
        -0.99,
        "Near a bound or in the middle, the noise errs half as much.",
        _lying_at,
    ),
)
