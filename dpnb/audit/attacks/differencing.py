r"""Differencing: two averages, before and after one person joins, and that person's value.

With N public, :math:`x = N'm' - Nm`: no answer is about Alice, and together they are nothing else. Under ε each mean carries
Laplace noise of scale :math:`R/(Nε)`, so that the difference is off by two such noises times N: at ε = 0.5 and R = 100 its
standard deviation is 400 points.

References
----------
Denning, Denning and Schwartz (1979), "The Tracker: A Threat to Statistical Database Security".
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.audit.attacks.publications import Bench, grid, lifted, private, shown
from dpnb.audit.attacks.result import EXACT, AttackResult, epsilon_label, epsilons_of, made
from dpnb.audit.sampling import Floats
from dpnb.errors import OptionError
from dpnb.risk.odds import posterior


def differencing(
    values: ArrayLike,
    lower: float,
    upper: float,
    *,
    epsilons: Sequence[float] = (0.1, 0.5, 1, 2, 4, 8, EXACT),
    tolerance: float | None = None,
    reps: int = 2_000,
    rng: int | np.random.Generator = 0,
) -> AttackResult:
    """Recover the value of a person who joins a group, from the group's mean before and after.

    Parameters
    ----------
    values : array_like, shape (people,)
        Everyone's values; each repetition lets one of them join last.
    lower, upper : float
        Their public bounds, to which they are clamped.
    epsilons : sequence of float
        Loss of each published mean; ``inf`` publishes it exactly.
    tolerance : float, optional
        A value counts as recovered within this; default a twentieth of the range.
    reps : int
    rng : int or Generator

    Returns
    -------
    AttackResult
        The attacker weighs the difference against what is common among the others, so that no answer makes it worse
        than guessing. The first mean does not contain the person: the loss is one ε.

    Examples
    --------
    >>> grades = np.random.default_rng(1).integers(40, 101, 30)
    >>> differencing(grades, 0, 100, epsilons=(float("inf"),)).rows[0].recovered
    1.0
    """
    people = np.clip(np.asarray(values, dtype=float).ravel(), lower, upper)
    losses = epsilons_of(epsilons)
    if people.size < 3 or not upper > lower or not np.isfinite(people).all():
        raise OptionError("differencing needs at least three finite values and bounds with lower < upper.")
    width = (upper - lower) / 20 if tolerance is None else float(tolerance)
    generator = np.random.default_rng(rng)
    grid, prior = _prior(people, lower, upper)
    alices = people[generator.integers(0, people.size, reps)]
    guess = _best_window(grid, prior[None, :], width)[0]
    baseline = float((np.abs(alices - guess) <= width).mean())
    rows = []
    for epsilon in losses:
        seen = alices + _difference_noise(upper - lower, epsilon, reps, generator)
        hits = np.abs(_guesses(seen, grid, prior, (upper - lower) / epsilon, width) - alices) <= width
        bound = None if math.isinf(epsilon) else posterior(min(max(baseline, 1e-9), 1 - 1e-9), epsilon)
        rows.append(made(epsilon_label(epsilon), hits, baseline, bound))
    return AttackResult(
        "Differencing",
        f"the value of one person among {people.size}, within {width:g}, from a mean before and a mean after",
        "ε",
        tuple(rows),
        "the value that most of the group is near",
    )


def _prior(people: Floats, lower: float, upper: float) -> tuple[Floats, Floats]:
    grid = np.linspace(lower, upper, 401)
    spread = (upper - lower) / 50
    weight = np.exp(-0.5 * ((grid[:, None] - people[None, :]) / spread) ** 2).sum(axis=1) + 1e-6
    return grid, weight / weight.sum()


def _difference_noise(
    span: float, epsilon: float, reps: int, generator: np.random.Generator
) -> Floats | float:
    """The noise of N'm' - Nm: two Laplace draws of scale R/ε."""
    if math.isinf(epsilon):
        return 0.0
    return np.asarray(generator.laplace(0, span / epsilon, (2, reps)).sum(axis=0))


def _guesses(seen: Floats, grid: Floats, prior: Floats, scale: float, width: float) -> Floats:
    """The centre of the likeliest window, for each observed difference."""
    if scale == 0:
        return seen
    gap = np.abs(seen[:, None] - grid[None, :]) / scale
    weight = prior[None, :] * (1 + gap) * np.exp(-(gap - gap.min(axis=1, keepdims=True)))
    return _best_window(grid, weight, width)


def _best_window(grid: Floats, weight: Floats, width: float) -> Floats:
    step = grid[1] - grid[0]
    reach = int(width / step)
    total = np.concatenate([np.zeros((len(weight), 1)), np.cumsum(weight, axis=1)], axis=1)
    at = np.arange(grid.size)
    mass = total[:, np.minimum(at + reach + 1, grid.size)] - total[:, np.maximum(at - reach, 0)]
    return np.asarray(grid[mass.argmax(axis=1)])


def on_differencing(rng: int | Sequence[int]) -> Bench:
    """Subtract the mean before from the mean after."""
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
