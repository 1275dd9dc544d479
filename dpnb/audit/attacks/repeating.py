"""An attack more than once: new people and new noise each time, and how far the shares differ between them.

One repetition has the error of its own simulation; several have that of their spread as well. Each repetition has a stream of
random numbers of its own, so that the first ones are the same however many follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dpnb.audit.attacks.publications import Bench, Publication
from dpnb.audit.attacks.result import AttackRow

Seed = Sequence[int]


def repetitions(attack: Callable[[Seed], Bench], rng: int) -> Iterator[Bench]:
    """Yield an attack after one repetition, after two, and so on without end.

    Parameters
    ----------
    attack : callable
        Makes a bench from a seed.
    rng : int
        The seed of all of them.
    """
    found: list[Bench] = []
    while True:
        found.append(attack([rng, len(found)]))
        yield pooled(found)


def pooled(found: Sequence[Bench]) -> Bench:
    """Return the mean of several repetitions of one attack, with its standard error.

    Parameters
    ----------
    found : sequence of Bench
        Of the same attack and losses, each from people of its own.
    """
    first = found[0]
    if len(found) == 1:
        return first
    return Bench(
        first.name,
        first.goal,
        first.guess,
        first.loss,
        first.epsilons,
        float(np.mean([one.baseline for one in found])),
        tuple(_publication([one[part.key] for one in found]) for part in first.publications),
        len(found),
    )


def _publication(found: Sequence[Publication]) -> Publication:
    first = found[0]
    rows = tuple(_row(several) for several in zip(*(one.rows for one in found), strict=True))
    bounds = [one.bound for one in found if one.bound is not None]
    return Publication(first.key, first.label, first.note, rows, _mean_of(bounds) if bounds else None)


def _mean_of(bounds: Sequence[Callable[[float], float]]) -> Callable[[float], float]:
    return lambda epsilon: float(np.mean([bound(epsilon) for bound in bounds]))


def _row(several: Sequence[AttackRow]) -> AttackRow:
    """The mean; its error is that of the spread between repetitions, or of the simulation where that is larger."""
    shares = np.array([row.recovered for row in several])
    between = shares.std(ddof=1) / math.sqrt(shares.size)
    within = math.sqrt(np.nansum([row.error**2 for row in several])) / shares.size
    bounds = [row.bound for row in several if row.bound is not None]
    return AttackRow(
        several[0].setting,
        float(shares.mean()),
        float(max(between, within)),
        float(np.mean([row.baseline for row in several])),
        float(np.mean(bounds)) if bounds else None,
    )
