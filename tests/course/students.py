"""Simulated students: a right answer to each exercise, and the wrong answers whose miss rates are stated.

Each exercise has a function of a student's chance; equal chances give equal students. A wrong answer has the name of the mistake
that the check must tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpnb.course.exercises.lessons_10_to_14 import half_width
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
    told: dict[str, str] = field(default_factory=dict)
    """The mistake that is told where it has another name than the wrong answer."""


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


_OWN = np.random.default_rng(7)


def own_generator(rows, epsilon, size=None, rng=None):
    """Draw from a generator with a seed that stands outside of the function: it goes on from call to call."""
    return len(rows) + _OWN.laplace(0, 1 / epsilon, size)


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
    {
        "noise × 0.8": "less noise than it should be",
        "noise × 1.25": "more noise than it should be",
    },
)


DRAWS = Exercise(
    "draws",
    COUNT.check,
    COUNT.right,
    {
        "a generator of one's own": own_generator,
        "each noise twice": noisy(len, lambda e, rng, size: np.repeat(rng.laplace(0, 1 / e, size // 2), 2)),
        "the noise tiled": noisy(len, lambda e, rng, size: np.tile(rng.laplace(0, 1 / e, size // 2), 2)),
        "noise × 0.9": noisy(len, laplace(lambda e: 0.9 / e)),
    },
    {
        "noise × 0.9": "less noise than it should be",
        "a generator of one's own": "seed fixed",
        "each noise twice": "noise is not independent",
        "the noise tiled": "noise is not independent",
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


DECADES = np.array([3, 8, 22, 25, 27, 29, 41, 44, 63, 70, 78, 90])
BINS = np.bincount(DECADES // 10, minlength=10)


def bins(law):
    """Make a student's histogram from a way to draw noise of shape (size, 10) for a scale."""

    def student(ages, epsilon, size=None, rng=None):
        return np.bincount(np.asarray(ages) // 10, minlength=10) + law(2 / epsilon, rng, size)

    return student


def _bare(scale, rng, size):
    noise = rng.laplace(0, scale, (size, 10))
    noise[:, 4] = 0
    return noise


def _opposite(scale, rng, size):
    noise = rng.laplace(0, scale, (size, 10))
    noise[:, 9] = -noise[:, 0]
    return noise


def _partly(scale, rng, size):
    """A tenth of the draws have one noise for the first two bins."""
    noise = rng.laplace(0, scale, (size, 10))
    noise[: size // 10, 1] = noise[: size // 10, 0]
    return noise


HISTOGRAM = Exercise(
    "histogram",
    lambda student, rng: check.mechanism(
        student,
        DECADES,
        expected=BINS,
        epsilon=EPSILON,
        sensitivity=2,
        neighbour=np.r_[55, DECADES[1:]],
        mistakes={"ε is split over the bins": 10 / EPSILON},
        rng=rng,
    ),
    bins(lambda scale, rng, size: rng.laplace(0, scale, (size, 10))),
    {
        "wrong sensitivity": bins(lambda scale, rng, size: rng.laplace(0, scale / 2, (size, 10))),
        "ε is split over the bins": bins(lambda scale, rng, size: rng.laplace(0, 5 * scale, (size, 10))),
        "same noise in every cell": bins(lambda scale, rng, size: rng.laplace(0, scale, (size, 1))),
        "pairs share": bins(lambda scale, rng, size: np.repeat(rng.laplace(0, scale, (size, 5)), 2, axis=1)),
        "the second half is the first": bins(
            lambda scale, rng, size: np.tile(rng.laplace(0, scale, (size, 5)), 2)
        ),
        "one bin the opposite of another": bins(_opposite),
        "two bins share in a tenth of the draws": bins(_partly),
        "sizes shared, signs not": bins(
            lambda scale, rng, size: rng.laplace(0, scale, (size, 1)) * rng.choice([-1, 1], (size, 10))
        ),
        "a cell without noise": bins(_bare),
        "cells with unequal noise": bins(
            lambda scale, rng, size: rng.laplace(0, scale, (size, 10)) * np.repeat([0.5, 1.5], 5)
        ),
    },
    {
        "pairs share": "noise shared by cells",
        "the second half is the first": "noise shared by cells",
        "one bin the opposite of another": "noise shared by cells",
        "two bins share in a tenth of the draws": "noise is not independent",
        "sizes shared, signs not": "noise is not independent",
    },
)


def gaussian(deviation):
    """Make a student's Gaussian table from a way to compute its standard deviation from ρ."""

    def student(rows, rho, size=None, rng=None):
        return np.bincount(rows, minlength=5) + rng.normal(0, deviation(rho), (size, 5))

    return student


CODES = [3, 3, 0, 2, 1, 3, 4, 1, 3, 0, 3]
GAUSSIAN = Exercise(
    "Gaussian table",
    lambda student, rng: check.mechanism(
        student,
        CODES,
        expected=np.bincount(CODES, minlength=5),
        rho=0.1,
        law="gaussian",
        sensitivity=2**0.5,
        neighbour=[4, *CODES[1:]],
        arguments={"rho": 0.1},
        rng=rng,
    ),
    gaussian(lambda rho: rho**-0.5),
    {
        "wrong sensitivity": gaussian(lambda rho: (2 * rho) ** -0.5),
        "L1 sensitivity for L2": gaussian(lambda rho: 2 * (2 * rho) ** -0.5),
        "ρ inverted": gaussian(lambda rho: (2 * 2 * rho) ** 0.5),
        "the root forgotten": gaussian(lambda rho: 2**0.5 / (2 * rho)),
        "ρ left out": gaussian(lambda rho: 2**0.5),
        "2ρ in the numerator": gaussian(lambda rho: 2**0.5 * 2 * rho),
        "variance for standard deviation": gaussian(lambda rho: 1 / rho),
        "Laplace for Gaussian": lambda rows, rho, size=None, rng=None: (
            np.bincount(rows, minlength=5) + rng.laplace(0, (2 * rho) ** -0.5, (size, 5))
        ),
    },
    {"2ρ in the numerator": "less noise than it should be"},
)


VOTES = np.array([30.0, 26.0, 21.0, 12.0])
"""Rows with each of four answers: one person changes a score by 1."""
NEIGHBOUR = VOTES - np.array([1, -1, 0, 0])


def exponential(votes, epsilon, factor):
    """Probabilities of the exponential mechanism, with e^{ε · score · factor}."""
    weights = np.exp(epsilon * factor * (np.asarray(votes) - np.max(votes)))
    return weights / weights.sum()


def chooser(law):
    def student(votes, epsilon, size=None, rng=None):
        return rng.choice(4, size, p=law(votes, epsilon))

    return student


CHOICE = Exercise(
    "choice",
    lambda student, rng: check.selection(
        student,
        VOTES,
        law=dict(enumerate(exponential(VOTES, 0.5, 0.5))),
        epsilon=0.5,
        neighbour=NEIGHBOUR,
        mistakes={
            "the 2 of 2Δ is missing": exponential(VOTES, 0.5, 1),
            "ε halved twice": exponential(VOTES, 0.5, 0.25),
            "ε inverted": exponential(VOTES, 2, 0.5),
            "factor 0.8": exponential(VOTES, 0.5, 0.4),
            "factor 1.25": exponential(VOTES, 0.5, 0.625),
        },
        rng=rng,
    ),
    chooser(lambda votes, e: exponential(votes, e, 0.5)),
    {
        "no randomness": lambda votes, epsilon, size=None, rng=None: np.full(size, np.argmax(votes)),
        "the 2 of 2Δ is missing": chooser(lambda votes, e: exponential(votes, e, 1)),
        "ε halved twice": chooser(lambda votes, e: exponential(votes, e, 0.25)),
        "factor 0.8": chooser(lambda votes, e: exponential(votes, e, 0.4)),
        "factor 1.25": chooser(lambda votes, e: exponential(votes, e, 0.625)),
        "ε inverted": chooser(lambda votes, e: exponential(votes, 1 / e, 0.5)),
        "uniform": chooser(lambda votes, e: np.full(4, 0.25)),
        "seed fixed": lambda votes, epsilon, size=None, rng=None: np.random.default_rng(3).choice(
            4, size, p=exponential(votes, epsilon, 0.5)
        ),
    },
)


def kept(epsilon):
    return np.exp(epsilon) / (1 + np.exp(epsilon))


def responder(chance):
    def student(bit, epsilon, size=None, rng=None):
        return np.where(rng.random(size) < chance(epsilon), bit, 1 - bit)

    return student


def _response(student, rng):
    usual = {
        "ε doubled": kept(1.0),
        "ε halved": kept(0.25),
        "ε inverted": kept(2.0),
    }
    return check.selection(
        student,
        1,
        law={0: 1 - kept(0.5), 1: kept(0.5)},
        epsilon=0.5,
        neighbour=0,
        mistakes={name: (1 - p, p) for name, p in usual.items()},
        rng=rng,
    )


RESPONSE = Exercise(
    "randomised response",
    _response,
    responder(kept),
    {
        "no randomness": responder(lambda e: 1.0),
        "ε doubled": responder(lambda e: kept(2 * e)),
        "ε halved": responder(lambda e: kept(e / 2)),
        "ε inverted": responder(lambda e: kept(1 / e)),
        "uniform": responder(lambda e: 0.5),
        "seed fixed": lambda bit, epsilon, size=None, rng=None: np.where(
            np.random.default_rng(3).random(size) < kept(epsilon), bit, 1 - bit
        ),
    },
)

COINS = Exercise(
    "coins",
    _response,
    responder(kept),
    {
        "the truth, or else a fair coin": responder(lambda e: (1 + kept(e)) / 2),
        "1 - e^-ε for e^ε/(1 + e^ε)": responder(lambda e: 1 - np.exp(-e)),
    },
)

_SAMPLE, _NOISE = 0.6, 0.8
"""Standard errors of sample and noise in the study of the interval: together 1."""


def normal_interval(width):
    def student(released):
        return released - width, released + width

    return student


COVERAGE = Exercise(
    "interval",
    lambda student, rng: check.coverage(
        student, lambda chance: 3 + chance.normal(0, _SAMPLE) + chance.normal(0, _NOISE), truth=3, rng=rng
    ),
    normal_interval(1.96),
    {
        "no width": normal_interval(0),
        "noise forgotten": normal_interval(1.96 * _SAMPLE),
        "sampling forgotten": normal_interval(1.96 * _NOISE),
        "half the width": normal_interval(0.98),
        "width × 0.8": normal_interval(1.96 * 0.8),
        "width × 1.25": normal_interval(1.96 * 1.25),
        "twice the width": normal_interval(2 * 1.96),
        "standard errors added": normal_interval(1.96 * (_SAMPLE + _NOISE)),
        "level 90 %": normal_interval(1.645),
        "level 99 %": normal_interval(2.576),
    },
    dict.fromkeys(
        (
            "no width",
            "noise forgotten",
            "sampling forgotten",
            "half the width",
            "width × 0.8",
            "level 90 %",
        ),
        "too narrow",
    )
    | dict.fromkeys(("width × 1.25", "twice the width", "standard errors added", "level 99 %"), "too wide"),
)


_B = 0.8
"""The scale of the noise in the study whose interval is compared with an exact one; the sampling error is 0.3."""


def _exact(width):
    return lambda released: (released - width, released + width)


EXACT = Exercise(
    "exact interval",
    lambda student, rng: check.coverage(
        student,
        lambda chance: 62 + chance.normal(0, 0.3) + chance.laplace(0, _B),
        truth=62,
        exact=_exact(half_width(0.3, _B)),
        within=0.03,
        mistakes={"1.96 standard errors": _exact(1.96 * np.hypot(0.3, 2**0.5 * _B))},
        rng=rng,
    ),
    normal_interval(half_width(0.3, _B)),
    {
        "1.96 standard errors": normal_interval(1.96 * np.hypot(0.3, 2**0.5 * _B)),
        "width × 1.05": normal_interval(1.05 * half_width(0.3, _B)),
        "width × 0.95": normal_interval(0.95 * half_width(0.3, _B)),
        "another middle": lambda released: (
            released - 0.4 - half_width(0.3, _B),
            released - 0.4 + half_width(0.3, _B),
        ),
    },
    {"width × 1.05": "another width", "width × 0.95": "another width"},
)


def counted(rng, people=12, counts=60):
    """A secret column, and counts of random groups of its people, rounded to 3."""
    secret, asked = rng.integers(0, 2, people), rng.integers(0, 2, (counts, people))
    return (asked, 3 * np.round(asked @ secret / 3)), secret


def drowned(rng):
    """The same counts under noise that leaves nothing to find."""
    (asked, published), secret = counted(rng)
    return (asked, published + rng.laplace(0, 60, len(published))), secret


def fitted(asked, published, cut=0.5):
    return (np.linalg.lstsq(asked, published, rcond=None)[0] > cut).astype(int)


def correlated(asked, published):
    return ((asked - 0.5).T @ (published - published.mean()) > 0).astype(int)


REBUILD = Exercise(
    "rebuilt column",
    lambda student, rng: check.attack(
        student, counted, least=0.95, goal=0.9, nothing=drowned, most=0.05, cases=60, rng=rng
    ),
    fitted,
    {
        "all no": lambda asked, published: np.zeros(12, dtype=int),
        "thrown dice": lambda asked, published: np.random.default_rng(int(abs(published).sum())).integers(
            0, 2, 12
        ),
        "cut at 0": lambda asked, published: fitted(asked, published, 0),
        "turned round": lambda asked, published: 1 - fitted(asked, published),
        "one person at a time": correlated,
        "a third of the counts": lambda asked, published: fitted(asked[:20], published[:20]),
    },
    {
        "all no": "always the same guess",
        "thrown dice": "no better than chance",
        "cut at 0": "too weak",
        "one person at a time": "too weak",
        "a third of the counts": "too weak",
    },
)

_SEEN: list[int] = []


def asked_often(rng):
    """A count, and 400 fresh answers about it."""
    count = int(rng.integers(0, 1_000))
    _SEEN[:] = [count]
    return count + rng.laplace(0, 2, 400), count


def asked_once(rng):
    """A count, and one answer about it that the store gives 400 times."""
    count = int(rng.integers(0, 1_000))
    _SEEN[:] = [count]
    return np.full(400, count + rng.laplace(0, 2)), count


AVERAGE = Exercise(
    "averaged answers",
    lambda student, rng: check.attack(
        student, asked_often, least=0.99, nothing=asked_once, most=0.3, cases=100, rng=rng
    ),
    lambda answers: round(answers.mean()),
    {
        "one answer": lambda answers: round(answers[0]),
        "not rounded": lambda answers: answers.mean(),
        "rounded down": lambda answers: int(answers.mean()),
        "a number from elsewhere": lambda answers: _SEEN[0],
        "always 500": lambda answers: 500,
    },
    {
        "one answer": "too weak",
        "not rounded": "no better than chance",
        "rounded down": "too weak",
        "a number from elsewhere": "always the same guess",
        "always 500": "always the same guess",
    },
)


def resampled(last):
    """The mean of a bootstrap sample of 50 people, of whom one may stand out; the event should be seen."""
    return lambda rng: (np.mean(rng.integers(0, 50, 50) == 49) * last, True)


EVENT = Exercise(
    "telltale event",
    lambda student, rng: check.attack(
        student, resampled(1), least=0.3, nothing=resampled(0), cases=200, rng=rng
    ),
    lambda answer: answer > 0,
    {
        "always": lambda answer: True,
        "never": lambda answer: False,
        "also where it cannot be": lambda answer: answer >= 0,
        "turned round": lambda answer: answer == 0,
        "too seldom": lambda answer: answer > 0.05,
    },
    {
        "always": "finds what is not there",
        "never": "always the same guess",
        "also where it cannot be": "finds what is not there",
        "turned round": "finds what is not there",
        "too seldom": "too weak",
    },
)

EXERCISES = (
    COUNT,
    DRAWS,
    SUM,
    HISTOGRAM,
    GAUSSIAN,
    CHOICE,
    RESPONSE,
    COINS,
    COVERAGE,
    EXACT,
    REBUILD,
    AVERAGE,
    EVENT,
)
