"""Hidden cases of lessons 10 to 14 and of the homework: intervals, regression, no curator, synthetic data, what looks private."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from scipy import optimize, special

from dpnb.course.attack_check import attack
from dpnb.course.choice_check import selection
from dpnb.course.coverage_check import Ends, coverage
from dpnb.course.function_check import function
from dpnb.course.noise_check import mechanism
from dpnb.course.result import CheckResult
from dpnb.course.trial import Function, Seed
from dpnb.lessons import above_threshold_law

Chance = np.random.Generator


# ---------------------------------------------------------------- 10


@cache
def half_width(normal: float, laplace: float, level: float = 0.95) -> float:
    """The distance from 0 within which a share `level` of a normal (standard deviation) plus a Laplace error (scale) lies."""
    middle = (np.arange(4_000) + 0.5) / 4_000
    noise = -laplace * np.log(middle)  # quantiles of |Laplace|

    def outside(q: float) -> float:
        return float(np.mean(special.ndtr((noise - q) / normal) + special.ndtr((-noise - q) / normal))) - (
            1 - level
        )

    return float(optimize.brentq(outside, 0, 12 * (normal + laplace)))


def _around(answer: str, half: Function) -> Ends:
    return lambda seen: (seen[answer] - half(seen), seen[answer] + half(seen))


def _sampling(seen: Any) -> float:
    return float(seen["sd"] / math.sqrt(seen["n"]))


def honest_mean(student: Function, rng: Seed) -> CheckResult:
    """10.1: 900 people, a noise that is larger than the sampling error, another mean."""

    def study(chance: Chance) -> dict[str, float]:
        answer = 62 + chance.normal(0, 9 / 30) + chance.laplace(0, 0.8)
        return {"answer": answer, "n": 900, "sd": 9.0, "scale": 0.8}

    def both(seen: Any) -> float:
        return math.hypot(_sampling(seen), math.sqrt(2) * seen["scale"])

    return coverage(
        student,
        study,
        truth=62,
        exact=_around("answer", lambda seen: half_width(_sampling(seen), seen["scale"])),
        within=0.05,
        mistakes={
            "1.96 standard errors, as if the noise were normal": _around("answer", lambda s: 1.96 * both(s)),
            "sampling alone": _around("answer", lambda s: 1.96 * _sampling(s)),
            "b² for 2b²": _around("answer", lambda s: 1.96 * math.hypot(_sampling(s), s["scale"])),
        },
        rng=rng,
        title="honest, another study",
    )


def effective_people(effective: Function, loss: Function, rng: Seed) -> CheckResult:
    """10.2: other studies, both functions together; an ε that was found on a grid of .001 is right."""

    def needed(sd: float, n: int, width: float, share: float) -> float:
        return width / n / math.sqrt((sd**2 / (share * n) - sd**2 / n) / 2)

    def case(chance: Chance) -> tuple[float, ...]:
        sd, n, share = (
            float(chance.uniform(5, 20)),
            int(chance.integers(100, 900)),
            float(chance.uniform(0.5, 0.95)),
        )
        return sd, n, float(chance.uniform(0.2, 2)), float(chance.uniform(50, 120)), share

    def right(sd: float, n: int, scale: float, width: float, share: float) -> tuple[float, float]:
        return sd**2 / (sd**2 / n + 2 * scale**2), needed(sd, n, width, share)

    def holds(answer: Any, *seen: Any) -> str | None:
        people, epsilon = right(*seen)
        if not np.isclose(answer[0], people, rtol=1e-3):
            return f"For sd {seen[0]:.3g}, n {seen[1]} and scale {seen[2]:.3g}, n_eff is {people:.4g}, not {float(answer[0]):.4g}."
        if abs(float(answer[1]) - epsilon) > 0.0011 + 1e-3 * epsilon:
            return f"For sd {seen[0]:.3g}, n {seen[1]}, width {seen[3]:.3g} and share {seen[4]:.2g}, ε is {epsilon:.4g}, not {float(answer[1]):.4g}."
        return None

    return function(
        lambda sd, n, scale, width, share: (effective(sd, n, scale), loss(sd, n, width, share)),
        case,
        holds=holds,
        mistakes={
            "b² for 2b²": lambda sd, n, b, w, s: (
                right(sd, n, b / math.sqrt(2), w, s)[0],
                needed(sd, n, w, s) / math.sqrt(2),
            ),
            "n is forgotten in the scale": lambda sd, n, b, w, s: (
                right(sd, n, b, w, s)[0],
                n * needed(sd, n, w, s),
            ),
            "ε is not inverted": lambda sd, n, b, w, s: (right(sd, n, b, w, s)[0], 1 / needed(sd, n, w, s)),
        },
        step="The variance of Laplace noise is 2·scale². Set n_eff = share·n, solve for the scale, and then for ε.",
        rng=rng,
        title="effective n and its ε, other studies",
    )


# ---------------------------------------------------------------- 11


def noisy_products(student: Function, rng: Seed) -> CheckResult:
    """11.1: eight rows of three columns, all away from the bounds, ε 0.3; a neighbour at the bounds comes."""
    data, epsilon = np.random.default_rng(111).uniform(-0.8, 0.8, (8, 3)).round(2), 0.3
    whole = data.T @ data
    return mechanism(
        student,
        data,
        expected=whole[np.triu_indices(3)],
        epsilon=epsilon,
        sensitivity=6,
        neighbour=np.vstack([data, [1, -1, 1]]),
        mistakes={
            "d + 1 for d(d + 1)/2": 4 / epsilon,
            "all d² entries are counted": 9 / epsilon,
            "the three sums of d = 2": 3 / epsilon,
            "twice, for somebody who changes": 12 / epsilon,
        },
        answers={
            "means and not sums": whole[np.triu_indices(3)] / 8,
            "the lower triangle": whole[np.tril_indices(3)],
        },
        rng=rng,
        title="noisy moments, three columns",
    )


def _whole(upper: Any, d: int) -> Any:
    found = np.zeros((d, d))
    found[np.triu_indices(d)] = upper
    return found + np.triu(found, 1).T


def _fitted(upper: Any, d: int, ridge: float) -> Any:
    whole = _whole(upper, d)
    return np.linalg.solve(whole[:-1, :-1] + ridge * np.eye(d - 1), whole[:-1, -1])


def coefficients(student: Function, rng: Seed) -> CheckResult:
    """11.2: other rows, two to five columns, with a ridge and without."""

    def case(chance: Chance) -> tuple[Any, int, float]:
        d = int(chance.integers(2, 6))
        rows = chance.uniform(-1, 1, (40, d))
        return (rows.T @ rows)[np.triu_indices(d)], d, float(chance.choice([0.0, chance.uniform(0.5, 20)]))

    return function(
        student,
        case,
        _fitted,
        mistakes={
            "no ridge": lambda u, d, _: _fitted(u, d, 0.0),
            "the ridge is taken off": lambda u, d, r: _fitted(u, d, -r),
            "the matrix is not made symmetric": lambda u, d, r: np.linalg.solve(
                np.triu(_whole(u, d))[:-1, :-1] + r * np.eye(d - 1), _whole(u, d)[:-1, -1]
            ),
            "the ridge is divided out afterwards": lambda u, d, r: _fitted(u, d, 0.0) / (1 + r),
        },
        step="Fill the upper triangle, mirror it without its diagonal, put the ridge onto the diagonal of A, and solve.",
        rng=rng,
        title="coefficients, other rows",
    )


# ---------------------------------------------------------------- 12


def debiased(student: Function, rng: Seed) -> CheckResult:
    """12.1: other answers, other numbers of people, other losses."""

    def parts(answers: Any, epsilon: float) -> tuple[float, float, float]:
        p = math.exp(epsilon) / (1 + math.exp(epsilon))
        return p, float(np.mean(answers)), math.sqrt(p * (1 - p) / len(answers))

    def right(answers: Any, epsilon: float) -> tuple[float, float]:
        p, mean, error = parts(answers, epsilon)
        return (mean - 1 + p) / (2 * p - 1), error / (2 * p - 1)

    return function(
        student,
        lambda chance: (
            (chance.random(int(chance.integers(40, 600))) < chance.uniform(0.2, 0.8)).astype(int),
            float(chance.uniform(0.2, 3)),
        ),
        right,
        mistakes={
            "the share of yes": lambda a, e: (parts(a, e)[1], right(a, e)[1]),
            "the error is not divided by 2p - 1": lambda a, e: (right(a, e)[0], parts(a, e)[2]),
            "cut to 0 and 1": lambda a, e: (min(max(right(a, e)[0], 0.0), 1.0), right(a, e)[1]),
            "divided by p": lambda a, e: (
                (parts(a, e)[1] - 1 + parts(a, e)[0]) / parts(a, e)[0],
                right(a, e)[1],
            ),
        },
        step="Solve ȳ = (2p - 1) μ + (1 - p) for μ; the error of ȳ is divided by the same 2p - 1.",
        rng=rng,
        title="debiased, other people",
    )


_WARDS, _BAR, _LOSS = (-6.0, -5.0, -4.0, 5.0), 2.0, 1.5


def first_above(student: Function, rng: Seed) -> CheckResult:
    """12.2: four wards, most of them far below; there Gaussian noise is told from Laplace noise."""
    law: dict[float, float] = dict.fromkeys(range(-1, len(_WARDS)), 0.0)
    for outcome, chance in above_threshold_law(list(_WARDS), _BAR, _LOSS).items():
        law[outcome.index(1) if 1 in outcome else -1] += chance
    return selection(
        student,
        list(_WARDS),
        law=law,
        epsilon=_LOSS,
        neighbour=[-5.0, -6.0, -5.0, 4.0],
        mistakes=_wrong_laws(),
        arguments={"threshold": _BAR},
        rng=rng,
        title="first above, other wards",
    )


@cache
def _wrong_laws() -> dict[str, list[float]]:
    """Laws of usual mistakes, from 200,000 runs each."""
    rng, size, wards = np.random.default_rng(12), 200_000, np.array(_WARDS)

    def places(noise: Any, bar: Any) -> list[float]:
        above = wards + noise >= _BAR + bar
        found = np.where(above.any(axis=1), above.argmax(axis=1), -1)
        return [float(np.mean(found == place)) for place in range(-1, len(wards))]

    each, once = (size, len(wards)), (size, 1)
    laplace, normal = rng.laplace, rng.normal
    zero = np.zeros(once)
    return {
        "Gaussian noise": places(
            normal(0, math.sqrt(2) * 4 / _LOSS, each), normal(0, math.sqrt(2) * 2 / _LOSS, once)
        ),
        "Gaussian noise of the Laplace scale": places(normal(0, 4 / _LOSS, each), normal(0, 2 / _LOSS, once)),
        "a threshold without noise": places(laplace(0, 4 / _LOSS, each), zero),
        "questions without noise": places(np.zeros(each), laplace(0, 2 / _LOSS, once)),
        "a new threshold for each question": places(laplace(0, 4 / _LOSS, each), laplace(0, 2 / _LOSS, each)),
        "2/ε for both": places(laplace(0, 2 / _LOSS, each), laplace(0, 2 / _LOSS, once)),
        "the ε of the case that you see": places(laplace(0, 8, each), laplace(0, 4, once)),
    }


# ---------------------------------------------------------------- 13


def noisy_table(student: Function, rng: Seed) -> CheckResult:
    """13.1: eleven people, ε 0.3."""
    first, second, epsilon = [1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0], [0, 3, 3, 4, 1, 3, 3, 2, 0, 4, 2], 0.3
    counts = np.bincount(5 * np.array(first) + np.array(second), minlength=10)
    return mechanism(
        student,
        [first, second],
        expected=counts,
        epsilon=epsilon,
        neighbour=[first[1:], second[1:]],
        mistakes={
            "the scale for somebody who changes": 2 / epsilon,
            "ε is split over the cells": 10 / epsilon,
            "the noise of the case that you see": 2.0,
        },
        answers={"the table is turned": counts.reshape(2, 5).T.ravel()},
        rng=rng,
        title="noisy table, other people",
    )


def honest_share(student: Function, rng: Seed) -> CheckResult:
    """13.2: 900 people of whom 60 % have it, ε 0.06, and 500 synthetic rows."""
    n, epsilon = 900, 0.06

    def study(chance: Chance) -> dict[str, Any]:
        ones = chance.binomial(n, 0.6)
        noisy = np.maximum(np.array([n - ones, ones]) + chance.laplace(0, 1 / epsilon, 2), 0)
        rows = (chance.random(500) < noisy[1] / noisy.sum()).astype(int)
        return {"rows": rows, "noisy": noisy, "n": n, "epsilon": epsilon}

    def ends(seen: Any, share: float, times: float, variance: float = 2.0) -> tuple[float, float]:
        p = min(max(share, 0.01), 0.99)
        half = times * math.sqrt(p * (1 - p) / n + variance / (seen["epsilon"] * n) ** 2)
        return p - half, p + half

    return coverage(
        student,
        study,
        truth=0.6,
        exact=lambda seen: ends(seen, seen["noisy"][1] / n, 2.02),
        within=0.02,
        mistakes={
            "1.96 standard errors, as if the noise were normal": lambda s: ends(s, s["noisy"][1] / n, 1.96),
            "the share of the synthetic rows": lambda s: ends(s, float(np.mean(s["rows"])), 2.02),
            "the noisy total for n": lambda s: ends(s, s["noisy"][1] / s["noisy"].sum(), 2.02),
            "1/(εn)² for 2/(εn)²": lambda s: ends(s, s["noisy"][1] / n, 2.02, 1.0),
            "sampling alone": lambda s: ends(s, s["noisy"][1] / n, 2.02, 0.0),
        },
        rng=rng,
        title="honest, another study",
    )


# ---------------------------------------------------------------- 14


def telltale(worst: Function, event: Function, rng: Seed) -> CheckResult:
    """14.1: thirty people, who differ in one place."""

    def holds(pair: Any, n: int) -> str | None:
        one, other = pair
        if len(one) == len(other) == n and sum(a != b for a, b in zip(one, other, strict=True)) == 1:
            return None
        return f"For n = {n} the two lists are not neighbours: both have n numbers, and differ in one place."

    neighbours = function(worst, lambda chance: (int(chance.integers(5, 60)),), holds=holds, rng=rng)
    if not neighbours.passed:
        return neighbours
    first, second = (np.asarray(one, dtype=float) for one in worst(30))

    def resampled(data: Any) -> Function:
        return lambda chance: (data[chance.integers(0, len(data), len(data))].mean(), True)

    return attack(
        event,
        resampled(second),
        least=0.5,
        nothing=resampled(first),
        step="Choose an event that comes whenever the odd value was drawn: about 63 % is possible.",
        rng=rng,
        title="the telltale event, thirty people",
    )


def guess_count(student: Function, rng: Seed) -> CheckResult:
    """14.2: seven answers about each count; and three of which the digits are rounded off."""

    def answered(chance: Chance, asked: int = 7) -> tuple[Any, int]:
        count = int(chance.integers(0, 2))
        return count + chance.laplace(0, 1, asked), count

    def rounded(chance: Chance) -> tuple[Any, int]:
        answers, count = answered(chance, 1)
        return np.rint(answers), count

    return attack(
        student,
        answered,
        least=0.995,
        nothing=rounded,
        most=0.75,
        cases=800,
        step="Look at all answers, and use the certain ones first.",
        rng=rng,
        title="guess count, more answers",
    )


# ---------------------------------------------------------------- homework


def homework_interval(student: Function, rng: Seed) -> CheckResult:
    """The homework's third: 150 people, ε 0.3, another spread and bounds."""
    seen = {"n": 150, "sd": 14.0, "upper": 60.0, "epsilon": 0.3}
    scale = seen["upper"] / (seen["n"] * seen["epsilon"])

    def study(chance: Chance) -> dict[str, float]:
        return {"mean": 31 + chance.normal(0, 14 / math.sqrt(150)) + chance.laplace(0, scale), **seen}

    def by(times: float, variance: float) -> Ends:
        return _around("mean", lambda s: times * math.sqrt(_sampling(s) ** 2 + variance * scale**2))

    return coverage(
        student,
        study,
        truth=31,
        exact=_around("mean", lambda s: half_width(_sampling(s), scale)),
        within=0.02,
        mistakes={
            "1.96 standard errors, as if the noise were normal": by(1.96, 2.0),
            "b² for 2b²": by(2.02, 1.0),
            "sampling alone": by(1.96, 0.0),
        },
        rng=rng,
        title="interval, another study",
    )


EXERCISES: dict[str, Function] = {
    "10.1": honest_mean,
    "10.2": effective_people,
    "11.1": noisy_products,
    "11.2": coefficients,
    "12.1": debiased,
    "12.2": first_above,
    "13.1": noisy_table,
    "13.2": honest_share,
    "14.1": telltale,
    "14.2": guess_count,
    "homework.3": homework_interval,
}
