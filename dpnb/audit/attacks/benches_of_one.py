"""Attacks on one person or one count: differencing, averaging and floating point, against several publications.

The people are simulated here and nowhere else: no array comes in. Each attack gets answers alone; the secret marks its guesses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpnb.audit.attacks.averaging import averaging
from dpnb.audit.attacks.differencing import _best_window, _prior, differencing
from dpnb.audit.attacks.floating_point import floating_point
from dpnb.audit.attacks.publications import Bench, Publication, grid, lifted, private, shown
from dpnb.audit.attacks.result import AttackRow, fair

Floats = NDArray[np.float64]


def on_differencing(rng: int | Sequence[int]) -> Bench:
    """Take the mean before from the mean after."""
    generator, size, reps = np.random.default_rng(rng), 30, 1_000
    grades = np.rint(np.clip(generator.normal(68, 15, 400), 0, 100))
    epsilons = grid(0.1, 100, 10)
    known = differencing(grades, 0, 100, epsilons=epsilons, reps=reps, rng=generator)
    places, prior = _prior(grades, 0, 100)
    spread = grades.std() * np.sqrt(2 * size + 1)
    classes = generator.choice(grades, (reps, size + 1))
    alice, before, after = classes[:, -1], classes[:, :-1].mean(axis=1), classes.mean(axis=1)
    again = [
        generator.choice(c[:k], k).mean() for k, part in ((size, classes), (size + 1, classes)) for c in part
    ]
    drawn = np.reshape(again, (2, reps))

    def right(first: Floats, second: Floats, sd: float = 0.0) -> NDArray[np.bool_]:
        told = (size + 1) * second - size * first
        if sd:
            gap = (told[:, None] - places[None, :]) / sd
            told = _best_window(places, prior[None, :] * np.exp(-(gap**2) / 2), 5)
        return np.asarray(np.abs(told - alice) <= 5 + 1e-9)

    base = known.baseline
    return Bench(
        "differencing",
        "The grade of the one student who joined a class of 30, within 5 points, from the mean before and the mean after.",
        known.guess,
        "one published mean",
        epsilons,
        base,
        (
            shown("raw", "Both means are exact.", right(before, after), base),
            shown(
                "rounded",
                "Both means have one decimal.",
                right(before.round(1), after.round(1)),
                base,
            ),
            shown(
                "suppressed",
                "No mean of fewer than 10 students is shown; these have 30 and 31.",
                right(before, after),
                base,
            ),
            shown(
                "resampled",
                "Each mean is that of a bootstrap resample of its class.",
                right(drawn[0], drawn[1], spread),
                base,
            ),
            private(known.rows, "Each mean carries Laplace noise.", lifted(base)),
        ),
    )


_PEOPLE, _ASKS = 1_000, 1_000


def count_bound(epsilon: float) -> float:
    r"""The most that is right of a count, all of 0 to n alike: :math:`1/\sum_{k=0}^n e^{-kε}`.

    :math:`P(y \mid c) \ge e^{-ε|c-c'|} P(y \mid c')`, so that each answer's best guess has at most that share of its
    probability; the sum is smallest at the ends.
    """
    return math.expm1(-epsilon) / math.expm1(-epsilon * (_PEOPLE + 1))


def on_averaging(rng: int | Sequence[int]) -> Bench:
    """Ask for one count a thousand times."""
    generator, reps, base = np.random.default_rng(rng), 200, 1 / (_PEOPLE + 1)
    counts = generator.integers(0, _PEOPLE + 1, 2_000)
    epsilons = grid(0.01, 10, 10)

    def noisy(defence: str) -> tuple[AttackRow, ...]:
        return tuple(
            averaging(500, epsilon=e, asks=(_ASKS,), defence=defence, reps=reps, rng=generator).rows[0]  # type: ignore[arg-type]
            for e in epsilons
        )

    drawn = generator.binomial(_PEOPLE * _ASKS, counts / _PEOPLE) / _ASKS
    return Bench(
        "averaging",
        f"An exact count among {_PEOPLE:,} people, from {_ASKS:,} answers to one question.",
        "any count from 0 to 1,000",
        "each answer, or all of them together",
        epsilons,
        base,
        (
            shown("raw", "The count is exact.", counts.copy() == counts, base),
            shown("rounded", "The count is rounded to tens.", np.rint(counts / 10) * 10 == counts, base),
            shown(
                "suppressed",
                "Counts under 10 are not shown.",
                np.where(counts < 10, 5, counts) == counts,
                base,
            ),
            shown(
                "resampled", "Each answer counts a new bootstrap resample.", np.rint(drawn) == counts, base
            ),
            Publication(
                "fresh",
                "fresh noise, no cap",
                f"Each of {_ASKS:,} answers pays ε: together {_ASKS:,} ε.",
                noisy("none"),
                lambda epsilon: count_bound(epsilon * _ASKS),
            ),
            private(noisy("cap"), f"{_ASKS:,} answers share one ε.", count_bound),
        ),
    )


def on_floating_point(rng: int | Sequence[int]) -> Bench:
    """Tell a count of 0 from a count of 1."""
    generator, reps = np.random.default_rng(rng), 2_000
    epsilons = tuple(2.0**power for power in range(-4, 4))
    known = [floating_point(scale=1 / e, reps=reps, rng=generator) for e in epsilons]
    counts = np.repeat([0, 1], reps)
    coins = generator.permutation(counts)
    return Bench(
        "floating point",
        "Whether a count among 100 people was 0 or 1, from one answer.",
        "a coin",
        "one answer",
        epsilons,
        0.5,
        (
            shown("raw", "The count is exact.", counts.copy() == counts, 0.5),
            shown("rounded", "The count is rounded to fives: always 0.", coins == counts, 0.5),
            shown("suppressed", "Counts under 5 are not shown.", coins == counts, 0.5),
            shown(
                "resampled",
                "The count is that of a bootstrap resample.",
                (generator.binomial(100, counts / 100) > 0) == counts,
                0.5,
            ),
            Publication(
                "floats",
                "noise in floats at ε",
                "Laplace noise in floating point: low-order bits rule out the other count.",
                tuple(result["floats"] for result in known),
                fair,
            ),
            private([r["integers"] for r in known], "The count carries discrete Laplace noise.", fair),
        ),
    )
