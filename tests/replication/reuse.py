r"""Asking a test set many times: plain reuse overfits, noisy scores do not. A demonstration on simulated arrays.

The labels are tosses of a coin, so every classifier is right in half of all cases, whatever a test set says. The analyst asks for the
score of one random classifier after another, keeps each as it is or turned round – whichever scored above one half – and lets them
vote [2]_. With exact scores the vote's score on the test set climbs without end,

.. math:: Φ\left(\sqrt{2k/πn}\right) ,

two thirds after k = 300 questions to n = 1,000 rows. With scores that spend a fixed ε on all questions together the choices are mostly the
noise's, so the vote scores near one half on the test set as well, and what is reported stays honest [1]_.

In a notebook the noisy score is an ordinary question, ``(ds.prediction == ds.label).mean()``.

References
----------
.. [1] Dwork, Feldman, Hardt, Pitassi, Reingold and Roth (2015), "The reusable holdout: Preserving validity in adaptive data analysis".
.. [2] Blum and Hardt (2015), "The Ladder: A Reliable Leaderboard for Machine Learning Competitions", section on the boosting attack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import OptionError
from dpnb.inference import fast_noise

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Reuse:
    """Scores of the vote after so many questions; in truth every vote is right half of the time."""

    questions: tuple[int, ...]
    plain: Floats
    noisy: Floats
    reported: Floats
    n: int
    epsilon: float


def reuse(
    n: int = 1000,
    questions: Sequence[int] = (1, 10, 30, 100, 300),
    *,
    epsilon: float = 1.0,
    repetitions: int = 20,
    rng: np.random.Generator,
) -> Reuse:
    """Attack a test set by voting, with exact scores and with noisy ones."""
    asked = tuple(sorted({int(k) for k in questions}))
    if not (n >= 2 and asked and asked[0] >= 1 and epsilon > 0 and repetitions >= 1):
        raise OptionError("n must be at least 2, questions and repetitions at least 1, and epsilon above 0.")
    plain, noisy, reported = np.empty((3, len(asked), repetitions))
    for place in range(repetitions):
        # +1 where a classifier is right, -1 where it is wrong: the labels themselves need not be drawn
        right = rng.choice(np.array([-1, 1], dtype=np.int8), (asked[-1], n))
        tied = rng.choice(np.array([-1, 1]), n)
        for row, k in enumerate(asked):
            scale = (k + 1) / epsilon
            exact = (right[:k] == 1).sum(axis=1)
            heard = exact + fast_noise.discrete_laplace(scale, k, rng)
            plain[row, place] = _score(right[:k], exact, tied)
            noisy[row, place] = _score(right[:k], heard, tied)
            reported[row, place] = (
                noisy[row, place] + float(fast_noise.discrete_laplace(scale, 1, rng)[0]) / n
            )
    return Reuse(asked, plain, noisy, reported, n, epsilon)


def _score(right: NDArray[Any], scores: NDArray[Any], tied: NDArray[Any]) -> float:
    """Return the share of rows that the vote gets right, each classifier turned so that it scored above one half."""
    signs = np.where(scores * 2 >= right.shape[1], 1, -1)
    votes = signs @ right.astype(np.int64)
    return float(np.mean(np.where(votes == 0, tied, votes) > 0))
