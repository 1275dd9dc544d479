"""Attacks on everyone at once: reconstruction, linkage and membership, against several publications.

The people are simulated here and nowhere else: no array comes in. Each attack gets answers alone; the secret marks its guesses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dpnb.audit.attacks.linkage import linkage
from dpnb.audit.attacks.membership import membership
from dpnb.audit.attacks.publications import LABELS, Bench, Publication, fair, grid, lifted, private, shown
from dpnb.audit.attacks.reconstruction import reconstruct, reconstruction
from dpnb.datasets import census
from dpnb.risk.odds import membership_power

Floats = NDArray[np.float64]
EXACT = math.inf


def on_reconstruction(rng: int | Sequence[int]) -> Bench:
    """Reconstruct everyone's bit from counts of random subsets."""
    generator, people, queries, reps = np.random.default_rng(rng), 48, 144, 12
    bits = generator.permutation(np.arange(people) % 2)
    epsilons = grid(0.1, 1_000, 10)
    known = reconstruction(
        bits, queries=queries, epsilons=epsilons, method="least-squares", reps=reps, rng=generator
    )
    publish: dict[str, Callable[[NDArray[np.int64]], Floats]] = {
        "raw": lambda asked: asked @ bits,
        "rounded": lambda asked: np.rint(asked @ bits / 5) * 5,
        "suppressed": lambda asked: np.where(asked @ bits < 10, np.nan, asked @ bits),
        "resampled": lambda asked: (
            asked @ (bits * np.bincount(generator.integers(0, people, people), minlength=people))
        ),
    }
    notes = (
        "Each count is exact.",
        "Each count is rounded to fives.",
        "Counts under 10 are not shown.",
        "All counts are of one bootstrap resample.",
    )

    def right(name: str) -> NDArray[np.bool_]:
        hits = []
        for _ in range(reps):
            asked = generator.integers(0, 2, (queries, people))
            seen = publish[name](asked)
            there = np.isfinite(seen)
            hits.append(reconstruct(asked[there], seen[there], "least-squares") == bits)
        return np.array(hits)

    without = [
        shown(name, note, right(name), known.baseline) for name, note in zip(publish, notes, strict=True)
    ]
    return Bench(
        "reconstruction",
        f"{people} people's yes or no, from {queries} counts of random subsets.",
        known.guess,
        "all answers together",
        epsilons,
        known.baseline,
        (*without, private(known.rows, f"{queries} answers share one ε.", fair)),
    )


def on_linkage(rng: int | Sequence[int]) -> Bench:
    """Link a register with names to a table of counts without."""
    generator = np.random.default_rng(rng)
    people = census(2_000, int(generator.integers(2**31)))
    quasi, secret = [people[name] for name in ("age", "sex", "state")], people["education"]
    epsilons = grid(0.1, 10, 9)
    known = linkage(quasi, secret, epsilons=(*epsilons, EXACT), reps=10, rng=generator)
    _, values = np.unique(secret, return_inverse=True)
    coded = np.stack([np.unique(column, return_inverse=True)[1] for column in quasi])
    cells = np.unique(coded, axis=1, return_inverse=True)[1].ravel()
    table = np.zeros((cells.max() + 1, values.max() + 1))
    np.add.at(table, (cells, values), 1)
    share = table.sum(axis=0) / values.size

    def right(seen: Floats) -> NDArray[np.bool_]:
        return np.asarray(((seen + share / 2).argmax(axis=1)[cells] == values).reshape(20, -1))

    draw = generator.multinomial(values.size, (table / values.size).ravel()).reshape(table.shape)
    base = known.baseline
    return Bench(
        "linkage",
        "The education of 2,000 people in a register, from counts by age, sex, state and education without names.",
        "the commonest value for everyone",
        "the whole table",
        epsilons,
        base,
        (
            Publication("raw", LABELS["raw"], "Each count is exact.", (known["exact"],)),
            shown("rounded", "Each count is rounded to threes.", right(np.rint(table / 3) * 3), base),
            shown("suppressed", "Counts under 3 are not shown.", right(np.where(table < 3, 0, table)), base),
            shown(
                "resampled", "The table is that of one bootstrap resample.", right(draw.astype(float)), base
            ),
            private(known.rows[:-1], "Each count carries discrete Laplace noise.", lifted(base)),
        ),
    )


def on_membership(rng: int | Sequence[int]) -> Bench:
    """Trace who was in a study through its averages."""
    generator, size, questions, alpha = np.random.default_rng(rng), 100, 1_000, 0.05
    rates = generator.uniform(0.1, 0.9, questions)
    inside, outside = ((generator.random((n, questions)) < rates).astype(float) for n in (size, 1_000))
    epsilons = grid(0.1, 1_000, 9)
    known = membership(inside, outside, epsilons=(*epsilons, EXACT), alpha=alpha, reps=20, rng=generator)
    reference, control, means = outside[:500].mean(axis=0), outside[500:], inside.mean(axis=0)

    def accused(seen: Floats) -> NDArray[np.bool_]:
        direction = np.where(np.isfinite(seen), seen - reference, 0)
        scores, others = (rows @ direction for rows in (inside, control))
        return np.asarray(scores > np.quantile(others, 1 - alpha, method="higher"))

    again = [accused(inside[generator.integers(0, size, size)].mean(axis=0)) for _ in range(20)]
    return Bench(
        "membership",
        f"Who of {size} people was in a study, from {questions:,} published averages; 5 % of outsiders may be accused.",
        known.guess,
        "all averages together",
        epsilons,
        alpha,
        (
            Publication("raw", LABELS["raw"], "Each average is exact.", (known["exact"],)),
            shown("rounded", "Each average is rounded to 5 %.", accused(np.rint(means * 20) / 20), alpha),
            shown(
                "suppressed",
                "Averages of fewer than 20 people with a yes are not shown.",
                accused(np.where(means < 0.2, np.nan, means)),
                alpha,
            ),
            shown("resampled", "The averages are those of one bootstrap resample.", np.array(again), alpha),
            private(
                known.rows[:-1],
                f"{questions:,} averages share one ε.",
                lambda epsilon: membership_power(alpha, epsilon),
            ),
        ),
    )
