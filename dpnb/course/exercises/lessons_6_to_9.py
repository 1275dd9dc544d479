"""Hidden cases of lessons 6 to 9: averaging attacks and splits, zCDP, moments, choices and histograms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from dpnb.course.function_check import function
from dpnb.course.noise_check import mechanism
from dpnb.course.result import CheckResult
from dpnb.course.trial import LEVEL, Function, Seed
from dpnb.lessons import median_law

Chance = np.random.Generator


# ---------------------------------------------------------------- 6

_CASES, _RUNS, _CALLS = 6, 600, 10


def hit_share(epsilon: float, asks: int) -> float:
    """The probability that the mean of one or two Laplace draws of scale 1/ε is within a half of 0."""
    return 1 - math.exp(-epsilon / 2) if asks == 1 else 1 - (1 + epsilon / 2) * math.exp(-epsilon)


def recovered(student: Function, rng: Seed) -> CheckResult:
    """6.1: other counts and losses, the mean of one answer and of two, whose shares are known exactly."""

    def often(count: int, epsilon: float, asks: int, rngs: list[Chance]) -> list[float]:
        return [float(student(count, epsilon, asks, _RUNS, one)) for one in rngs]

    def case(chance: Chance) -> tuple[Any, ...]:
        asks = int(chance.integers(1, 3))
        return int(chance.integers(5, 900)), float(chance.uniform(0.4, 3)), asks, chance.spawn(_CALLS)

    def holds(shares: list[float], count: int, epsilon: float, asks: int, _: list[Chance]) -> str | None:
        if len(set(shares)) == 1:
            return "The share is the same for every rng: draw from the rng that you are given."
        right, hits = hit_share(epsilon, asks), round(_RUNS * sum(shares))
        if max(shares) <= 1 and stats.binomtest(hits, _RUNS * _CALLS, right).pvalue >= LEVEL / _CASES:
            return None
        seen = f"the mean of {asks} answer{'s' if asks > 1 else ''} at ε = {epsilon:.2g} hits {count}"
        return f"In {100 * right:.3g} % of the runs {seen}; yours says {100 * float(np.mean(shares)):.3g} %."

    return function(
        often,
        case,
        holds=holds,
        cases=_CASES,
        level=LEVEL,
        step="Draw answers of shape (reps, asks) with Laplace noise of scale 1/ε, average each row, round, and compare.",
        rng=rng,
        title="recovered, other counts",
    )


def split(student: Function, rng: Seed) -> CheckResult:
    """6.2: other weights, two to six of them, and other budgets."""

    def by(power: float) -> Function:
        return lambda w, e: e * np.asarray(w) ** power / (np.asarray(w) ** power).sum()

    return function(
        student,
        lambda chance: (
            chance.integers(1, 30, int(chance.integers(2, 7))).tolist(),
            float(chance.uniform(0.1, 3)),
        ),
        by(1 / 3),
        mistakes={
            "equal shares": by(0.0),
            "shares by weight": by(1.0),
            "square roots for cube roots": by(0.5),
            "turned round": by(-1 / 3),
            "the budget is left out": lambda w, _: by(1 / 3)(w, 1.0),
            "the shares do not add up to the budget": lambda w, e: e * np.cbrt(w),
        },
        step="Take the cube root of each weight, divide by the sum of all cube roots, and multiply by ε.",
        rng=rng,
        title="split, other weights",
    )


# ---------------------------------------------------------------- 7


def gaussian_table(student: Function, rng: Seed) -> CheckResult:
    """7.1: eleven people, ρ 0.04."""
    data, rho, moved = [3, 3, 0, 2, 1, 3, 4, 1, 3, 0, 3], 0.04, math.sqrt(2)
    return mechanism(
        student,
        data,
        expected=np.bincount(data, minlength=5),
        rho=rho,
        law="gaussian",
        sensitivity=moved,
        neighbour=[4, *data[1:]],
        mistakes={
            "the noise of the case that you see": moved / math.sqrt(2 * 0.1),
            "L2 sensitivity and no ρ": moved,
        },
        answers={"the answer of the case that you see": [1, 2, 0, 1, 0]},
        arguments={"rho": rho},
        rng=rng,
        title="gaussian table, other people",
    )


def _epsilon(rho: float, delta: float) -> float:
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def _rho(epsilon: float, delta: float) -> float:
    root = math.sqrt(math.log(1 / delta))
    return (math.sqrt(root**2 + epsilon) - root) ** 2


def _base_10(delta: float) -> float:
    """The δ whose natural logarithm is the decimal one of `delta`."""
    return math.exp(math.log10(delta))


def conversions(to_epsilon: Function, to_rho: Function, rng: Seed) -> CheckResult:
    """7.2: other losses and δ, both functions together."""
    return function(
        lambda rho, epsilon, delta: (to_epsilon(rho, delta), to_rho(epsilon, delta)),
        lambda chance: (
            float(chance.uniform(0.01, 1)),
            float(chance.uniform(0.2, 6)),
            float(10 ** chance.uniform(-9, -2)),
        ),
        lambda rho, epsilon, delta: (_epsilon(rho, delta), _rho(epsilon, delta)),
        mistakes={
            "a logarithm to base 10": lambda r, e, d: (_epsilon(r, _base_10(d)), _rho(e, _base_10(d))),
            "the square is forgotten in ρ": lambda r, e, d: (_epsilon(r, d), math.sqrt(_rho(e, d))),
            "ρ is left out in the inverse": lambda r, e, d: (_epsilon(r, d), e**2 / (4 * math.log(1 / d))),
            "the factor 2 is forgotten": lambda r, e, d: (r + math.sqrt(r * math.log(1 / d)), _rho(e, d)),
        },
        step="ε = ρ + 2√(ρ ln(1/δ)); with x = √ρ that is x² + 2x√ln(1/δ) - ε = 0.",
        rng=rng,
        title="the conversions, other numbers",
    )


# ---------------------------------------------------------------- 8


def noisy_moments(student: Function, rng: Seed) -> CheckResult:
    """8.1: seventeen people, both columns of both signs and away from the bounds, ε 0.3; a neighbour at the bounds comes."""
    data, epsilon = np.random.default_rng(81).uniform(-0.9, 0.9, (17, 2)).round(2), 0.3
    u, v = data.T
    return mechanism(
        student,
        data,
        expected=[len(u), u.sum(), v.sum(), (u * u).sum(), (v * v).sum(), (u * v).sum()],
        epsilon=epsilon,
        sensitivity=6,
        neighbour=np.vstack([data, [1, -1]]),
        mistakes={
            "five shares for six sums": 5 / epsilon,
            "twice six: for somebody who changes": 12 / epsilon,
            "the noise of the case that you see": 12.0,
        },
        answers={
            "products of sums": [len(u), u.sum(), v.sum(), u.sum() ** 2, v.sum() ** 2, u.sum() * v.sum()]
        },
        rng=rng,
        title="noisy moments, other people",
    )


def _correlation(sums: Any) -> float:
    n, su, sv, suu, svv, suv = sums
    first, second = n * suu - su**2, n * svv - sv**2
    if first <= 0 or second <= 0:
        return math.nan
    return float(np.clip((n * suv - su * sv) / math.sqrt(first * second), -1, 1))


def _sums(rng: Chance) -> tuple[list[float]]:
    """Sums of a correlated pair of either sign; of each three, one with so much noise that a variance or the ratio breaks."""
    u = rng.uniform(-1, 1, 30)
    v = np.clip(rng.choice([-1, 1]) * rng.uniform(0.2, 1) * u + rng.normal(0, 0.3, 30), -1, 1)
    sums = np.array([30, u.sum(), v.sum(), (u * u).sum(), (v * v).sum(), (u * v).sum()])
    kind = rng.integers(6)
    if kind == 0:
        sums[rng.integers(3, 5)] = -2.0
    elif kind == 1:
        sums[5] = rng.choice([-1, 1]) * 40.0
    return (sums.tolist(),)


def correlation(student: Function, rng: Seed) -> CheckResult:
    """8.2: correlations of both signs, some undefined, some beyond 1 or -1."""
    return function(
        student,
        _sums,
        _correlation,
        cases=60,
        mistakes={
            "the sign is lost": lambda s: abs(_correlation(s)),
            "cut at 1 and not at -1": lambda s: _uncut(s, upper=True),
            "not cut": lambda s: _uncut(s, upper=False),
        },
        step="A correlation lies between -1 and 1, has a sign, and is undefined where a variance is not above 0.",
        rng=rng,
        title="correlation, of both signs",
    )


def _uncut(sums: Any, *, upper: bool) -> float:
    n, su, sv, suu, svv, suv = sums
    if math.isnan(_correlation(sums)):
        return math.nan
    ratio = (n * suv - su * sv) / math.sqrt((n * suu - su**2) * (n * svv - sv**2))
    return float(min(1.0, ratio) if upper else ratio)


# ---------------------------------------------------------------- 9

_AGES = np.arange(101)


def _law(data: Any, epsilon: float) -> Any:
    return np.array(list(median_law(data, _AGES, epsilon).values()))


def _ages(rng: Chance) -> tuple[Any, float]:
    """A few people; and of each five cases one in which every weight is 0 unless the largest exponent is taken off."""
    if rng.random() < 0.2:
        return np.full(3_000, 120), 5.0
    return rng.integers(0, 101, int(rng.integers(4, 40))), float(rng.uniform(0.05, 2))


def median_chances(student: Function, rng: Seed) -> CheckResult:
    """9.1: other people, even and odd numbers of them, other losses."""
    return function(
        student,
        _ages,
        _law,
        mistakes={
            "the ½ of ε·u/2 is missing": lambda d, e: _law(d, 2 * e),
            "the ½ is taken once too often": lambda d, e: _law(d, e / 2),
            "the distance to the median is the score": lambda d, e: _softmax(
                -e * np.abs(_AGES - np.median(d)) / 2
            ),
        },
        step="Compute u for three ages by hand; take the largest exponent off before np.exp.",
        rng=rng,
        title="median chances, other people",
    )


def _softmax(exponents: Any) -> Any:
    weights = np.exp(exponents - exponents.max())
    return weights / weights.sum()


def noisy_histogram(student: Function, rng: Seed) -> CheckResult:
    """9.2: twelve people, some bins empty, ε 0.3."""
    data, epsilon = [3, 8, 22, 25, 27, 29, 41, 44, 63, 70, 78, 90], 0.3
    return mechanism(
        student,
        data,
        expected=np.bincount(np.array(data) // 10, minlength=10),
        epsilon=epsilon,
        sensitivity=2,
        neighbour=[55, *data[1:]],
        mistakes={
            "the scale for somebody who comes or goes": 1 / epsilon,
            "ε is split over the bins": 10 / epsilon,
            "the noise of the case that you see": 4.0,
        },
        rng=rng,
        title="noisy histogram, other people",
    )


EXERCISES: dict[str, Function] = {
    "6.1": recovered,
    "6.2": split,
    "7.1": gaussian_table,
    "7.2": conversions,
    "8.1": noisy_moments,
    "8.2": correlation,
    "9.1": median_chances,
    "9.2": noisy_histogram,
}
