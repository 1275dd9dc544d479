"""One attack against several publications of one secret: as it is, rounded, suppressed, resampled, and under ε.

The people are simulated here and nowhere else: no array comes in, so that none can be protected. Each attack gets answers
alone; the secret marks its guesses. Rounding, suppression and resampling promise nothing, so that no bound stands beside
them.

References
----------
Dinur and Nissim (2003); Dwork, Smith, Steinke and Ullman (2017), "Exposed! A Survey of Attacks on Private Data".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dpnb.audit.attacks.averaging import averaging
from dpnb.audit.attacks.differencing import _best_window, _prior, differencing
from dpnb.audit.attacks.floating_point import floating_point
from dpnb.audit.attacks.linkage import linkage
from dpnb.audit.attacks.membership import membership
from dpnb.audit.attacks.reconstruction import reconstruct, reconstruction
from dpnb.audit.attacks.result import AttackRow, made
from dpnb.datasets import census
from dpnb.errors import OptionError
from dpnb.privacy.risk import membership_power, posterior

__all__ = ["BENCHES", "Bench", "Publication", "bench"]

NEAR = 0.05
"""An attack has fallen where it recovers at most this much more than guessing."""

Floats = NDArray[np.float64]
EXACT = math.inf


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


def bench(name: str, rng: int = 0) -> Bench:
    """Run one attack against every publication.

    Parameters
    ----------
    name : {"differencing", "averaging", "reconstruction", "linkage", "membership", "floating point"}
    rng : int
        Seed of the people and of the noise.

    Examples
    --------
    >>> found = bench("reconstruction")
    >>> found["raw"].rows[0].recovered, found["rounded"].rows[0].recovered > 0.9
    (1.0, True)
    """
    if name not in BENCHES:
        raise OptionError(f"no attack {name!r}. There are: {', '.join(BENCHES)}.")
    return BENCHES[name](rng)


def _grid(low: float, high: float, count: int) -> tuple[float, ...]:
    return tuple(float(f"{e:.2g}") for e in np.geomspace(low, high, count))


def _shown(name: str, note: str, hits: NDArray[np.bool_] | Floats, baseline: float) -> Publication:
    return Publication(name, _LABELS[name], note, (made(name, hits, baseline),))


_LABELS = {"raw": "as it is", "rounded": "rounded", "suppressed": "suppressed", "resampled": "resampled"}


def _fair(epsilon: float) -> float:
    """The most that is right of a fair bit: e^ε/(1 + e^ε)."""
    return 1 / (1 + math.exp(-epsilon))


def _lifted(baseline: float) -> Callable[[float], float]:
    return lambda epsilon: posterior(baseline, epsilon)


def _private(rows: Sequence[AttackRow], note: str, bound: Callable[[float], float]) -> Publication:
    return Publication("dp", "DP at ε", note, tuple(rows), bound)


def _differencing(rng: int) -> Bench:
    generator, size, reps = np.random.default_rng(rng), 30, 1_000
    grades = np.rint(np.clip(generator.normal(68, 15, 400), 0, 100))
    epsilons = _grid(0.1, 100, 10)
    known = differencing(grades, 0, 100, epsilons=epsilons, reps=reps, rng=generator)
    grid, prior = _prior(grades, 0, 100)
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
            gap = (told[:, None] - grid[None, :]) / sd
            told = _best_window(grid, prior[None, :] * np.exp(-(gap**2) / 2), 5)
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
            _shown("raw", "Both means are exact.", right(before, after), base),
            _shown(
                "rounded",
                "Both means have one decimal.",
                right(before.round(1), after.round(1)),
                base,
            ),
            _shown(
                "suppressed",
                "No mean of fewer than 10 students is shown; these have 30 and 31.",
                right(before, after),
                base,
            ),
            _shown(
                "resampled",
                "Each mean is that of a bootstrap resample of its class.",
                right(drawn[0], drawn[1], spread),
                base,
            ),
            _private(known.rows, "Each mean carries Laplace noise.", _lifted(base)),
        ),
    )


_PEOPLE, _ASKS = 1_000, 1_000


def _count_bound(epsilon: float) -> float:
    r"""The most that is right of a count, all of 0 to n alike: :math:`1/\sum_{k=0}^n e^{-kε}`.

    :math:`P(y \mid c) \ge e^{-ε|c-c'|} P(y \mid c')`, so that each answer's best guess has at most that share of its
    probability; the sum is smallest at the ends.
    """
    return math.expm1(-epsilon) / math.expm1(-epsilon * (_PEOPLE + 1))


def _averaging(rng: int) -> Bench:
    generator, reps, base = np.random.default_rng(rng), 200, 1 / (_PEOPLE + 1)
    counts = generator.integers(0, _PEOPLE + 1, 2_000)
    epsilons = _grid(0.01, 10, 10)

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
            _shown("raw", "The count is exact.", counts.copy() == counts, base),
            _shown("rounded", "The count is rounded to tens.", np.rint(counts / 10) * 10 == counts, base),
            _shown(
                "suppressed",
                "Counts under 10 are not shown.",
                np.where(counts < 10, 5, counts) == counts,
                base,
            ),
            _shown(
                "resampled", "Each answer counts a new bootstrap resample.", np.rint(drawn) == counts, base
            ),
            Publication(
                "fresh",
                "fresh noise, no cap",
                f"Each of {_ASKS:,} answers pays ε: together {_ASKS:,} ε.",
                noisy("none"),
                lambda epsilon: _count_bound(epsilon * _ASKS),
            ),
            _private(noisy("cap"), f"{_ASKS:,} answers share one ε.", _count_bound),
        ),
    )


def _reconstruction(rng: int) -> Bench:
    generator, people, queries, reps = np.random.default_rng(rng), 48, 144, 12
    bits = generator.permutation(np.arange(people) % 2)
    epsilons = _grid(0.1, 1_000, 10)
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

    shown = [
        _shown(name, note, right(name), known.baseline) for name, note in zip(publish, notes, strict=True)
    ]
    return Bench(
        "reconstruction",
        f"{people} people's yes or no, from {queries} counts of random subsets.",
        known.guess,
        "all answers together",
        epsilons,
        known.baseline,
        (*shown, _private(known.rows, f"{queries} answers share one ε.", _fair)),
    )


def _linkage(rng: int) -> Bench:
    generator, people = np.random.default_rng(rng), census(2_000, 3)
    quasi, secret = [people[name] for name in ("age", "sex", "state")], people["education"]
    epsilons = _grid(0.1, 10, 9)
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
        known.guess,
        "the whole table",
        epsilons,
        base,
        (
            Publication("raw", _LABELS["raw"], "Each count is exact.", (known["exact"],)),
            _shown("rounded", "Each count is rounded to threes.", right(np.rint(table / 3) * 3), base),
            _shown("suppressed", "Counts under 3 are not shown.", right(np.where(table < 3, 0, table)), base),
            _shown(
                "resampled", "The table is that of one bootstrap resample.", right(draw.astype(float)), base
            ),
            _private(known.rows[:-1], "Each count carries discrete Laplace noise.", _lifted(base)),
        ),
    )


def _membership(rng: int) -> Bench:
    generator, size, questions, alpha = np.random.default_rng(rng), 100, 1_000, 0.05
    rates = generator.uniform(0.1, 0.9, questions)
    inside, outside = ((generator.random((n, questions)) < rates).astype(float) for n in (size, 1_000))
    epsilons = _grid(0.1, 1_000, 9)
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
            Publication("raw", _LABELS["raw"], "Each average is exact.", (known["exact"],)),
            _shown("rounded", "Each average is rounded to 5 %.", accused(np.rint(means * 20) / 20), alpha),
            _shown(
                "suppressed",
                "Averages of fewer than 20 people with a yes are not shown.",
                accused(np.where(means < 0.2, np.nan, means)),
                alpha,
            ),
            _shown("resampled", "The averages are those of one bootstrap resample.", np.array(again), alpha),
            _private(
                known.rows[:-1],
                f"{questions:,} averages share one ε.",
                lambda epsilon: membership_power(alpha, epsilon),
            ),
        ),
    )


def _floating_point(rng: int) -> Bench:
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
            _shown("raw", "The count is exact.", counts.copy() == counts, 0.5),
            _shown("rounded", "The count is rounded to fives: always 0.", coins == counts, 0.5),
            _shown("suppressed", "Counts under 5 are not shown.", coins == counts, 0.5),
            _shown(
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
                _fair,
            ),
            _private([r["integers"] for r in known], "The count carries discrete Laplace noise.", _fair),
        ),
    )


BENCHES: Mapping[str, Callable[[int], Bench]] = MappingProxyType(
    {
        "differencing": _differencing,
        "averaging": _averaging,
        "reconstruction": _reconstruction,
        "linkage": _linkage,
        "membership": _membership,
        "floating point": _floating_point,
    }
)
