"""A publication of a secret, a bench of several, and what they promise.

A publication holds the shares that an attack recovered from it. Where ε is paid, a bound stands beside them; rounding,
suppression and resampling promise nothing and have none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpnb.audit.attacks.result import AttackRow, made
from dpnb.errors import OptionError
from dpnb.privacy.risk import posterior

__all__ = ["LABELS", "NEAR", "Bench", "Publication", "fair", "grid", "lifted", "private", "shown"]

NEAR = 0.05
"""An attack has fallen where it recovers at most this much more than guessing."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Publication:
    """One way to publish, and what the attack makes of it.

    Parameters
    ----------
    key, label, note : str
        Its name, what it is called, and what is published in one sentence.
    rows : tuple of AttackRow
        One; or one for each ε of the bench, where it has one.
    bound : callable or None
        The most that its ε promises to let through; None where nothing is promised.
    """

    key: str
    label: str
    note: str
    rows: tuple[AttackRow, ...]
    bound: Callable[[float], float] | None = None


@dataclass(frozen=True, slots=True)
class Bench:
    """An attack, its guessing baseline, and the publications that it was run against.

    Parameters
    ----------
    name, goal, guess, loss : str
        The attack, what it recovers and from what, what guessing means, and what ε pays for.
    epsilons : tuple of float
    baseline : float
        The share that guessing recovers.
    publications : tuple of Publication
    """

    name: str
    goal: str
    guess: str
    loss: str
    epsilons: tuple[float, ...]
    baseline: float
    publications: tuple[Publication, ...]

    def falls(self, key: str) -> float | None:
        """The largest simulated ε up to which the attack is no better than guessing, within five points."""
        found = None
        for epsilon, row in zip(self.epsilons, self[key].rows, strict=True):
            if row.recovered > self.baseline + NEAR:
                break
            found = epsilon
        return found

    def __getitem__(self, key: str) -> Publication:
        for one in self.publications:
            if one.key == key:
                return one
        raise OptionError(f"no publication {key!r}; there are {', '.join(p.key for p in self.publications)}.")


def grid(low: float, high: float, count: int) -> tuple[float, ...]:
    """Return losses, evenly on a logarithmic scale, with two digits."""
    return tuple(float(f"{e:.2g}") for e in np.geomspace(low, high, count))


def shown(name: str, note: str, hits: NDArray[np.bool_] | Floats, baseline: float) -> Publication:
    """Return a publication without ε, from the successes against it."""
    return Publication(name, LABELS[name], note, (made(name, hits, baseline),))


LABELS = {"raw": "as it is", "rounded": "rounded", "suppressed": "suppressed", "resampled": "resampled"}


def fair(epsilon: float) -> float:
    """The most that is right of a fair bit: e^ε/(1 + e^ε)."""
    return 1 / (1 + math.exp(-epsilon))


def lifted(baseline: float) -> Callable[[float], float]:
    """Return the most that a guess can become under ε."""
    return lambda epsilon: posterior(baseline, epsilon)


def private(rows: Sequence[AttackRow], note: str, bound: Callable[[float], float]) -> Publication:
    """Return the publication that pays ε."""
    return Publication("dp", "DP at ε", note, tuple(rows), bound)
