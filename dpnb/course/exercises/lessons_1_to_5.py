"""Hidden cases of lessons 1 to 5: uniqueness and reconstruction, odds, noise, clamping, the privacy unit."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnb.course import trial
from dpnb.course.attack_check import attack
from dpnb.course.choice_check import selection
from dpnb.course.function_check import function
from dpnb.course.noise_check import mechanism
from dpnb.course.result import CheckResult
from dpnb.course.trial import Function, Seed

if TYPE_CHECKING:
    import pandas as pd

Chance = np.random.Generator


# ---------------------------------------------------------------- 1


def _town(rng: Chance) -> tuple[dict[str, list[int]], list[str]]:
    """People with up to four columns, few values each, and some of the columns."""
    names = ["age", "sex", "zip", "job"][: int(rng.integers(3, 5))]
    people = {name: rng.integers(0, 5, 60).tolist() for name in names}
    return people, rng.permutation(names)[: int(rng.integers(1, len(names) + 1))].tolist()


def _combinations(people: dict[str, Any], columns: list[str]) -> Counter[Any]:
    return Counter(zip(*(people[name] for name in columns), strict=True))


def _alone(people: dict[str, Any], columns: list[str]) -> float:
    times = _combinations(people, columns)
    return sum(count == 1 for count in times.values()) / sum(times.values())


def unique_share(student: Function, rng: Seed) -> CheckResult:
    """1.1: other people, other columns, one to four of them."""
    return function(
        student,
        _town,
        _alone,
        mistakes={
            "combinations are counted and not people": lambda p, c: (
                len(t := _combinations(p, c)) / sum(t.values())
            ),
            "those who are not alone": lambda p, c: 1 - _alone(p, c),
            "the first two columns alone": lambda p, c: _alone(p, c[:2]),
            "a number and no share": lambda p, c: 60 * _alone(p, c),
        },
        step="Count how often each combination of all the columns comes, and then the people whose combination comes once.",
        rng=rng,
        title="unique share, other people",
    )


def _survey(rng: Chance, blur: float = 0) -> tuple[tuple[Any, Any], Any]:
    """Forty answers and 130 counts of them, rounded to 3; `blur` adds noise to the counts."""
    answers, groups = rng.integers(0, 2, 40), rng.integers(0, 2, (130, 40))
    return (groups, 3 * np.round(groups @ answers / 3) + rng.laplace(0, blur, 130)), answers


def rebuild(student: Function, rng: Seed) -> CheckResult:
    """1.2: fewer people, fewer counts."""
    return attack(
        student,
        _survey,
        least=0.97,
        goal=0.95,
        nothing=lambda chance: _survey(chance, 100),
        most=0.01,
        cases=60,
        step="Fit all answers and all counts at once with least squares, and cut the fit at one half.",
        rng=rng,
        title="rebuild, another survey",
    )


# ---------------------------------------------------------------- 2


def _odds(p: float) -> float:
    return p / (1 - p)


def belief(most: Function, largest: Function, rng: Seed) -> CheckResult:
    """2.1: other beliefs, losses and limits, both functions together."""

    def right(prior: float, loss: float, limit: float) -> tuple[float, float]:
        odds = math.exp(loss) * _odds(prior)
        return odds / (1 + odds), math.log(_odds(limit) / _odds(prior))

    return function(
        lambda prior, loss, limit: (most(prior, loss), largest(prior, limit)),
        lambda chance: tuple(
            float(x) for x in (chance.uniform(0.01, 0.4), chance.uniform(0.1, 4), chance.uniform(0.5, 0.99))
        ),
        right,
        mistakes={
            "probabilities are multiplied": lambda p, e, u: (min(1.0, p * math.exp(e)), math.log(u / p)),
            "the odds are not turned back": lambda p, e, u: (_odds(p) * math.exp(e), right(p, e, u)[1]),
            "the inverse is turned round": lambda p, e, u: (right(p, e, u)[0], -right(p, e, u)[1]),
        },
        step="Turn the probability into odds, multiply by e^ε, and turn the odds back into a probability.",
        rng=rng,
        title="most belief and largest ε, other numbers",
    )


def coin_answer(student: Function, rng: Seed) -> CheckResult:
    """2.2: somebody whose truth is 0, at another ε."""
    kept = math.exp(0.6) / (1 + math.exp(0.6))
    return selection(
        student,
        0,
        law={0: kept, 1: 1 - kept},
        epsilon=0.6,
        neighbour=1,
        mistakes={"the ε of the case that you see": _kept(1.5)},
        rng=rng,
        title="coin answer, another truth",
    )


def _kept(epsilon: float) -> tuple[float, float]:
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    return p, 1 - p


# ---------------------------------------------------------------- 3


def noisy_count(student: Function, rng: Seed) -> CheckResult:
    """3.1: nineteen people, two, seven or eleven ones, another ε each time."""
    chance = trial.chance_of(rng)
    ones, epsilon = int(chance.choice([2, 7, 11])), float(chance.uniform(0.15, 0.4))
    data = [0] * (19 - ones) + [1] * ones
    return mechanism(
        student,
        data,
        expected=ones,
        epsilon=epsilon,
        neighbour=[1, *data[1:]],
        mistakes={"the noise of the case that you see": 2.0, "n times ε for 1/ε": 19 * epsilon},
        answers={
            "the answer of the case that you see": 3,
            "rows are counted and not ones": 19,
            "one less than the number of rows": 18,
            "zeros are counted": 19 - ones,
        },
        rng=chance,
        title="noisy count, other people",
    )


def privacy_interval(student: Function, rng: Seed) -> CheckResult:
    """3.2: other answers, losses and levels."""

    def around(radius: Any) -> Function:
        return lambda answer, epsilon, level: (
            answer - radius(epsilon, level),
            answer + radius(epsilon, level),
        )

    return function(
        student,
        lambda chance: (
            int(chance.integers(200, 900)),
            float(chance.uniform(0.05, 3)),
            float(chance.uniform(0.5, 0.995)),
        ),
        around(lambda epsilon, level: math.log(1 / (1 - level)) / epsilon),
        mistakes={
            "always 95 %": around(lambda epsilon, _: math.log(20) / epsilon),
            "half of what is outside on each side": around(
                lambda epsilon, level: math.log(2 / (1 - level)) / epsilon
            ),
            "ε is not inverted": around(lambda epsilon, level: math.log(1 / (1 - level)) * epsilon),
            "the level for what is outside": around(lambda epsilon, level: math.log(1 / level) / epsilon),
            "two standard deviations": around(lambda epsilon, _: 2 * math.sqrt(2) / epsilon),
        },
        step="Outside of ±r lies e^(-r/b) of the noise. Set that to 1 - level, and solve for r.",
        rng=rng,
        title="privacy interval, other levels",
    )


# ---------------------------------------------------------------- 4


def private_mean(student: Function, rng: Seed) -> CheckResult:
    """4.1: seven people, bounds from 2 to 14, values below the lower bound and none at the upper one."""
    data, n, epsilon = [-3, 1, 5, 11, 4, 8, 2], 7, 0.3
    clamped = np.clip(data, 2, 14)
    return mechanism(
        student,
        data,
        expected=clamped.mean(),
        epsilon=epsilon,
        sensitivity=12 / n,
        neighbour=[40, *data[1:]],
        mistakes={
            "U for U - L": 14 / (n * epsilon),
            "the scale follows the data": 9 / (n * epsilon),
            "n - 1 for n": 12 / ((n - 1) * epsilon),
            "n is forgotten": 12 / epsilon,
            "the noise of the case that you see": 5.0,
            "the ε of the case that you see": 12 / (n * 0.5),
        },
        answers={
            "the lower bound is not used": np.minimum(data, 14).mean(),
            "values outside are dropped": np.mean([x for x in data if 2 <= x <= 14]),
        },
        arguments={"low": 2, "high": 14},
        rng=rng,
        title="private mean, other people and bounds",
    )


def _error(data: Any, low: float, high: float, epsilon: float, variance: float = 2.0) -> float:
    bias = np.clip(data, low, high).mean() - np.mean(data)
    return float(np.sqrt(bias**2 + variance * ((high - low) / (len(data) * epsilon)) ** 2))


def clamping_error(typical: Function, choose: Function, rng: Seed) -> CheckResult:
    """4.2: other people, a lower bound that is not 0, other losses."""

    def case(chance: Chance) -> tuple[Any, float, float, float]:
        data = np.minimum(chance.exponential(8, int(chance.integers(20, 90))).round(1), 76)
        return (
            data,
            float(chance.integers(0, 4)),
            float(chance.integers(6, 30)),
            float(chance.uniform(0.05, 2)),
        )

    def holds(answer: Any, data: Any, low: float, high: float, epsilon: float) -> str | None:
        right = _error(data, low, high, epsilon)
        if not np.isclose(answer[0], right, rtol=2e-3):
            return f"The typical error for bounds {low:g} and {high:g} is {right:.4g}, not {float(answer[0]):.4g}."
        best = min(_error(data, 0, one, epsilon) for one in range(1, 78))
        chosen = _error(data, 0, float(answer[1]), epsilon)
        if 1 <= float(answer[1]) <= 77 and chosen <= 1.002 * best:
            return None
        return f"At the upper bound {float(answer[1]):g} the typical error is {chosen:.4g}; the smallest is {best:.4g}."

    def mistaken(error: Any) -> Function:
        def both(data: Any, low: float, high: float, epsilon: float) -> tuple[float, float]:
            return error(data, low, high, epsilon), min(
                range(1, 78), key=lambda one: error(data, 0, one, epsilon)
            )

        return both

    return function(
        lambda data, low, high, epsilon: (typical(data, low, high, epsilon), choose(data, epsilon)),
        case,
        holds=holds,
        mistakes={
            "b² for 2b²": mistaken(lambda d, low, high, e: _error(d, low, high, e, 1.0)),
            "the lower bound is forgotten in the scale": mistaken(
                lambda d, low, high, e: math.hypot(
                    _error(d, low, high, 1e12), math.sqrt(2) * high / (len(d) * e)
                )
            ),
            "errors are added and not squares": mistaken(
                lambda d, low, high, e: (
                    _error(d, low, high, 1e12) + math.sqrt(2) * (high - low) / (len(d) * e)
                )
            ),
        },
        step="The root of bias² + 2·scale², with scale (high - low)/(nε); then try all whole bounds from 1 to 77.",
        rng=rng,
        title="typical error and its best bound, other people",
    )


# ---------------------------------------------------------------- 5


def _visits(rng: Chance) -> pd.DataFrame:
    """Visits of made-up people in households; each has a number of its own."""
    import pandas as pd

    often = rng.integers(1, 8, 40)
    person = np.repeat(np.arange(40) + 100, often)
    table = pd.DataFrame({"visit": np.arange(often.sum()), "person": person, "household": person // 3})
    return table.sample(frac=1, random_state=rng).reset_index(drop=True)


def _wrong_cap(answer: Any, table: Any, unit: str, k: int) -> str | None:
    """Say what is wrong with a table of which at most k rows of each unit should be left."""
    kept = answer if unit in answer.columns else answer.reset_index()
    left, had = kept.groupby(unit).size(), table.groupby(unit).size()
    if not np.isin(kept["visit"], table["visit"]).all() or kept["visit"].duplicated().any():
        return "Every row that is left is a row of the table, and comes once."
    if left.max() > k:
        return f"With k = {k} by {unit}, a {unit} has {left.max()} rows left."
    if not left.reindex(had.index, fill_value=0).equals(np.minimum(had, k)):
        return f"With k = {k} by {unit}, some have fewer rows left than they may keep."
    return None


def capped(student: Function, rng: Seed) -> CheckResult:
    """5.1: another table, by person and by household, with other caps; rows are known by their content, not by their index."""

    def twice(table: Any, unit: str, k: int, one: Chance, other: Chance) -> tuple[Any, Any]:
        return student(table, unit, k, one), student(table, unit, k, other)

    def case(chance: Chance) -> tuple[Any, ...]:
        unit = str(chance.choice(["person", "household"]))
        return (_visits(chance), unit, int(chance.integers(1, 5)), *chance.spawn(2))

    def holds(answer: Any, table: Any, unit: str, k: int, *_: Chance) -> str | None:
        wrong = next((said for one in answer if (said := _wrong_cap(one, table, unit, k))), None)
        if wrong or k * table[unit].nunique() >= len(table):
            return wrong
        one, other = (set(kept["visit"]) for kept in answer)
        return "Two rngs keep the same rows: which ones stay should be drawn." if one == other else None

    return function(
        twice,
        case,
        holds=holds,
        step="Use unit and k as they are given, shuffle the rows with rng, and keep the first k of each unit.",
        rng=rng,
        title="capped, another table",
    )


def night_visits(student: Function, rng: Seed) -> CheckResult:
    """5.2: five people with at most two visits, where four would be used: the scale follows the cap, not the data."""
    import pandas as pd

    table = pd.DataFrame({"person": [7, 7, 8, 9, 9, 10, 11, 11], "night": [1, 1, 0, 1, 1, 1, 0, 1]})
    epsilon, k = 0.3, 4
    return mechanism(
        student,
        table,
        expected=6,
        epsilon=epsilon,
        sensitivity=k,
        neighbour=table[table.person != 7],
        mistakes={
            "noise for one row": 1 / epsilon,
            "the scale follows the data, or k is not used": 2 / epsilon,
            "2k for somebody who comes or goes": 2 * k / epsilon,
            "the ε of the case that you see": k / 0.5,
            "the noise of the case that you see": 4.0,
        },
        answers={"rows are counted": 8, "the answer of the case that you see": 4, "one visit of each": 4},
        arguments={"k": k},
        rng=rng,
        title="night visits, another table",
    )


EXERCISES: dict[str, Function] = {
    "1.1": unique_share,
    "1.2": rebuild,
    "2.1": belief,
    "2.2": coin_answer,
    "3.1": noisy_count,
    "3.2": privacy_interval,
    "4.1": private_mean,
    "4.2": clamping_error,
    "5.1": capped,
    "5.2": night_visits,
}
