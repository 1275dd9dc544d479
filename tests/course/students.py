"""Simulated students: a right answer to each exercise, and the wrong answers whose miss rates are stated.

Each exercise has a function of a student's chance; equal chances give equal students. A wrong answer has the name of the mistake
that the check must tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpnb.teach import check

EPSILON = 0.5
AGES = np.clip(np.random.default_rng(22).normal(45, 25, 300), -20, 140)
LOW, HIGH = 0.0, 100.0
"""Some ages lie outside of the bounds: a sum that does not clamp has another answer."""
CLAMPED = float(np.clip(AGES, LOW, HIGH).sum())


@dataclass(frozen=True)
class Exercise:
    """One exercise: how it is checked, the right answer, and the wrong ones by name of mistake."""

    name: str
    check: Callable[[Any, Any], Any]
    right: Any
    wrong: dict[str, Any] = field(default_factory=dict)


def noisy(answer, law):
    """Make a student's function from a way to compute the answer and one to draw noise (scale, rng, size)."""

    def student(rows, epsilon, size=None, rng=None):
        return answer(rows) + law(epsilon, rng, size)

    return student


def laplace(scale):
    return lambda epsilon, rng, size: rng.laplace(0, scale(epsilon), size)


def seeded(rows, epsilon, size=None, rng=None):
    return len(rows) + np.random.default_rng(7).laplace(0, 1 / epsilon, size)


def clamped_after(rows, epsilon, size=None, rng=None):
    return np.clip(len(rows) + rng.laplace(0, 1 / epsilon, size), 0, len(rows))


def forgetful(rows, epsilon, size=None, rng=None):
    """Give away exactly whether the last person is in the data: noise stands on a part that depends on them."""
    noise = rng.laplace(0, 1 / epsilon, size)
    return len(rows) + (noise if len(rows) == 300 else noise * 0.2)


COUNT = Exercise(
    "count",
    lambda student, rng: check.mechanism(student, AGES, expected=len(AGES), epsilon=EPSILON, rng=rng),
    noisy(len, laplace(lambda e: 1 / e)),
    {
        "no noise": noisy(len, lambda epsilon, rng, size: np.zeros(size)),
        "half the noise": noisy(len, laplace(lambda e: 0.5 / e)),
        "noise × 0.8": noisy(len, laplace(lambda e: 0.8 / e)),
        "noise × 1.25": noisy(len, laplace(lambda e: 1.25 / e)),
        "twice the noise": noisy(len, laplace(lambda e: 2 / e)),
        "ε inverted": noisy(len, laplace(lambda e: e)),
        "Gaussian for Laplace": noisy(len, lambda e, rng, size: rng.normal(0, 2**0.5 / e, size)),
        "uniform for Laplace": noisy(len, lambda e, rng, size: rng.uniform(-2 / e, 2 / e, size)),
        "noise clamped afterwards": clamped_after,
        "seed fixed": seeded,
        "more is given away": forgetful,
    },
)


def clamped_sum(rows):
    return np.clip(rows, LOW, HIGH).sum()


def doubled(rows, epsilon, size=None, rng=None):
    """Spend ε twice: two answers, each with all of ε, and their mean, which is less noisy than one."""
    return clamped_sum(rows) + rng.laplace(0, HIGH / epsilon, (size, 2)).mean(axis=1)


SUM = Exercise(
    "sum",
    lambda student, rng: check.mechanism(
        student,
        AGES,
        expected=CLAMPED,
        epsilon=EPSILON,
        sensitivity=HIGH,
        neighbour=np.delete(AGES, AGES.argmax()),
        rng=rng,
    ),
    noisy(clamped_sum, laplace(lambda e: HIGH / e)),
    {
        "wrong sensitivity": noisy(clamped_sum, laplace(lambda e: 1 / e)),
        "wrong answer beneath": noisy(np.sum, laplace(lambda e: HIGH / e)),
        "budget exceeded": doubled,
    },
)
