"""Attacks on everyone at once: reconstruction, linkage and membership, against several publications.

The people are simulated here, or are the arrays of whoever teaches: a protected handle turns into no array. Each attack gets answers
alone; the secret marks its guesses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.audit.attacks.linkage import linkage, table_of
from dpnb.audit.attacks.membership import accused, membership
from dpnb.audit.attacks.publications import LABELS, Bench, Publication, grid, lifted, private, shown
from dpnb.audit.attacks.reconstruction import reconstruct, reconstruction
from dpnb.audit.attacks.result import EXACT, fair
from dpnb.datasets import census
from dpnb.errors import PlanError
from dpnb.risk.odds import membership_power

Floats = NDArray[np.float64]

_MOST_BITS = 128
_FEWEST = 20


def on_reconstruction(rng: int | Sequence[int], secret: ArrayLike | None = None) -> Bench:
    """Reconstruct everyone's bit from counts of random subsets.

    Parameters
    ----------
    rng : int or sequence of int
    secret : array_like of 0 and 1, optional
        Your own people, at most 128.
    """
    generator, reps = np.random.default_rng(rng), 12
    bits: NDArray[Any] = generator.permutation(np.arange(48) % 2) if secret is None else _bits(secret)
    people, queries = bits.size, 3 * bits.size
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

    bound = fair if secret is None else lifted(known.baseline)
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
        (*without, private(known.rows, f"{queries} answers share one ε.", bound)),
    )


def on_linkage(
    rng: int | Sequence[int], quasi: Sequence[ArrayLike] | None = None, secret: ArrayLike | None = None
) -> Bench:
    """Link a register with names to a table of counts without.

    Parameters
    ----------
    rng : int or sequence of int
    quasi : sequence of array_like, each of shape (people,), optional
        What the register knows of your own people.
    secret : array_like, shape (people,), optional
        What only the table knows of them.
    """
    generator = np.random.default_rng(rng)
    if quasi is None or secret is None:
        people = census(2_000, int(generator.integers(2**31)))
        quasi, secret = [people[name] for name in ("age", "sex", "state")], people["education"]
        goal = "The education of 2,000 people in a register, from counts by age, sex, state and education without names."
    else:
        quasi, secret = _register(quasi, secret)
        goal = f"A value of {len(secret):,} people in a register, from counts by {len(quasi)} known columns and it, without names."
    blocks = 20 if len(secret) % 20 == 0 else len(secret)
    epsilons = grid(0.1, 10, 9)
    known = linkage(quasi, secret, epsilons=(*epsilons, EXACT), reps=10, rng=generator)
    cells, values, table = table_of(quasi, secret)
    share = table.sum(axis=0) / values.size

    def right(seen: Floats) -> NDArray[np.bool_]:
        return np.asarray(((seen + share / 2).argmax(axis=1)[cells] == values).reshape(blocks, -1))

    draw = generator.multinomial(values.size, (table / values.size).ravel()).reshape(table.shape)
    base = known.baseline
    return Bench(
        "linkage",
        goal,
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


def on_membership(
    rng: int | Sequence[int], members: ArrayLike | None = None, outsiders: ArrayLike | None = None
) -> Bench:
    """Trace who was in a study through its averages.

    Parameters
    ----------
    rng : int or sequence of int
    members, outsiders : array_like of 0 and 1, shape (people, questions), optional
        Your own people: who was in the study, and others like them.
    """
    generator, alpha = np.random.default_rng(rng), 0.05
    if members is None or outsiders is None:
        rates = generator.uniform(0.1, 0.9, 1_000)
        inside, outside = ((generator.random((n, 1_000)) < rates).astype(float) for n in (100, 1_000))
    else:
        inside, outside = _answers(members, "members"), _answers(outsiders, "outsiders")
    if inside.shape[1] != outside.shape[1]:
        raise PlanError(
            "members and outsiders answer the same questions: give arrays with the same number of columns."
        )
    (size, questions), half = inside.shape, len(outside) // 2
    epsilons = grid(0.1, 1_000, 9)
    known = membership(inside, outside, epsilons=(*epsilons, EXACT), alpha=alpha, reps=20, rng=generator)
    reference, control, means = outside[:half].mean(axis=0), outside[half:], inside.mean(axis=0)

    def caught(seen: Floats) -> NDArray[np.bool_]:
        return accused(seen, inside, control, reference, alpha)

    again = [caught(inside[generator.integers(0, size, size)].mean(axis=0)) for _ in range(20)]
    return Bench(
        "membership",
        f"Who of {size} people was in a study, from {questions:,} published averages; 5 % of outsiders may be accused.",
        known.guess,
        "all averages together",
        epsilons,
        alpha,
        (
            Publication("raw", LABELS["raw"], "Each average is exact.", (known["exact"],)),
            shown("rounded", "Each average is rounded to 5 %.", caught(np.rint(means * 20) / 20), alpha),
            shown(
                "suppressed",
                "Averages of fewer than 20 people with a yes are not shown.",
                caught(np.where(means < 0.2, np.nan, means)),
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


def _bits(secret: ArrayLike) -> NDArray[np.int64]:
    found = np.asarray(secret)
    if found.ndim != 1 or not _FEWEST <= found.size <= _MOST_BITS or not np.isin(found, (0, 1)).all():
        raise PlanError(f"secret= is a list of 0 and 1, of {_FEWEST} to {_MOST_BITS} people.")
    return found.astype(np.int64)


def _register(
    quasi: Sequence[ArrayLike], secret: ArrayLike
) -> tuple[list[NDArray[np.generic]], NDArray[np.generic]]:
    columns, values = [np.asarray(column) for column in quasi], np.asarray(secret)
    whole = values.ndim == 1 and values.size >= _FEWEST and values.dtype.kind in "biufUS"
    if not whole or not columns or any(column.shape != values.shape for column in columns):
        raise PlanError(
            f"quasi= is a list of columns and secret= a column, all of the same {_FEWEST} people or more."
        )
    return columns, values


def _answers(given: ArrayLike, name: str) -> Floats:
    found = np.asarray(given)
    if found.ndim != 2 or len(found) < _FEWEST or not np.isin(found, (0, 1)).all():
        raise PlanError(
            f"{name}= is a table of 0 and 1: {_FEWEST} people or more, a column for each question."
        )
    return found.astype(np.float64)
