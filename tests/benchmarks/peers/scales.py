r"""Errors from the noise that each library adds, without a simulation: which goals are met exactly.

The root mean square of a discrete Laplace of scale b is :math:`\sqrt{2p}/(1-p), p = e^{-1/b}`, of a continuous one :math:`\sqrt2 b`. A mean
of a private number of rows is a sum over a count, each with noise; its error is, to first order, that of sum − (mean − middle)·count over n.
A variance and a slope are to first order in the noise too, as are differences and means of groups: in root mean square over the groups.
OpenDP's sized mean and diffprivlib's add Laplace noise of scale range/(n ε); PyDP's adds half of ε to the sum about the middle, and half to
the count. A selected median is off by its whole law over the 101 values: dpnb's by the exponential mechanism, whose score is by how many ranks
the target lies outside a value's own, or inside; OpenDP's by its noisy maximum with exponential noise (the law of permute and flip), whose score is the
difference of the numbers of rows below and above.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from dpnb.inference.law import DiscreteLaplaceLaw, law_of
from dpnb.planner import Ask, Item, Question, price
from dpnb.planner.expression import Compare, Const, Ref
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from tests.contracts.derived_loss import score_factor

from .study import HIGH, study, truths

CASES = tuple(product(("change-one", "add-remove"), (1_000, 10_000), ("0.1", "1")))
ASKED: dict[str, tuple[str, str, tuple[tuple[str, Any], ...]]] = {
    "count": ("count", "x", ()),
    "histogram": ("histogram", "r", ()),
    "mean": ("mean", "x", ()),
    "mean, ci=False": ("mean", "x", (("ci", False),)),
    "skewed mean": ("mean", "s", ()),
    "skewed mean, ci=False": ("mean", "s", (("ci", False),)),
    "variance": ("variance", "x", ()),
    "variance, ci=False": ("variance", "x", (("ci", False),)),
    "group means": ("mean", "x", ()),
    "difference": ("difference", "x", ()),
    "difference, ci=False": ("difference", "x", (("ci", False),)),
    "least squares": ("moments", "x", ()),
}
"""What is asked: its name in the tables; the statistic, its column, its options."""
KEYS = {"group means": "r", "difference": "g"}
Moves = list[tuple[float, float]]
"""Of each noise on an answer how much it weighs, and its variance."""


def ratios(missing: float | str = 0) -> Iterator[tuple[str, int, str, str, float]]:
    """Yield neighbours, rows, ε, statistic, and the error of dpnb over the least of the other libraries, of all but medians.

    Parameters
    ----------
    missing : 0 or "drop"
        As what the columns are declared: complete, as the benchmarks do, or as ones of which a value may be missing, the default.
    """
    for adjacency, rows, epsilon in CASES:
        table, exact = study(rows), truths(study(rows))
        for name in ASKED:
            mine = error(own_noise(adjacency, rows, epsilon, name, table, missing))
            others = peers_noise(adjacency, rows, float(epsilon), name.partition(",")[0], table, exact)
            yield adjacency, rows, epsilon, name, mine / min(map(error, others))


def error(answers: list[Moves]) -> float:
    """The root mean square error of an answer of one or several numbers, to first order."""
    return math.sqrt(
        sum(weight**2 * variance for moves in answers for weight, variance in moves) / len(answers)
    )


def own_noise(
    adjacency: str, rows: int, epsilon: str, name: str, table: dict[str, np.ndarray], missing: float | str = 0
) -> list[Moves]:
    """What moves dpnb's answer, of columns declared as :func:`ratios` says."""
    statistic, column, options = ASKED[name]
    key = KEYS.get(name.partition(",")[0])
    unit = PrivacyUnit(adjacency, rows=rows if adjacency == "change-one" else None)
    columns = (
        *(Column.integer(one, 0, HIGH, missing=missing) for one in ("x", "s", "y")),
        Column.category("g", [0, 1], missing=missing),
        Column.category("r", list(range(5)), missing=missing),
    )
    schema = Schema("p", "P", columns, unit, Budget.from_toml({"epsilon": 10**6}))
    asked = Question(
        "p",
        statistic,
        None if name == "count" else Ref(column),
        Compare("==", Ref("g"), Const(1)) if name == "count" else None,
        (Ref(key),) if key else (),
        options,
        others=(Ref("y"),) if name == "least squares" else (),
    )
    (item,) = price((Item(asked),), Ask.make(epsilon=epsilon), schema).items
    noise = {part.name: float(law_of(part.mechanism).variance_float) for part in item.parts}
    if name in {"count", "histogram"}:
        return [[(1.0, *noise.values())]]
    if name == "least squares":
        half = HIGH / 2
        squares = noise["xx"] / 4 + half**4 / 4 * noise.get("count", 0.0)
        return [_slope(table, noise["x"], noise["y"], squares, noise["xy"], noise.get("count", 0.0))]
    if name.startswith("variance"):
        return [_variance(table["x"], HIGH / 2, noise["square"], noise["sum"], noise.get("count", 0.0))]
    groups = [table[column]] if key is None else _groups(table, key)
    found = [_mean(one, HIGH / 2, noise["sum"], noise.get("count", 0.0)) for one in groups]
    return [found[0] + found[1]] if name.startswith("difference") else found


def peers_noise(
    adjacency: str,
    rows: int,
    epsilon: float,
    name: str,
    table: dict[str, np.ndarray],
    exact: dict[str, np.ndarray],
) -> Iterator[list[Moves]]:
    """What moves the answers of the other libraries whose noise is least."""
    sized, half = adjacency == "change-one", HIGH / 2
    whole = float(DiscreteLaplaceLaw(Fraction(str(1 / epsilon))).variance_float)
    if name == "count":  # diffprivlib's count of what is not zero; OpenDP's, a row less or a row more
        yield [[(1.0, whole)]]
    elif name == "histogram":  # OpenDP's, diffprivlib's
        scale = Fraction(2 if sized else 1) / Fraction(str(epsilon))
        yield [[(1.0, float(DiscreteLaplaceLaw(scale).variance_float))]]
    elif name == "least squares":  # OpenDP's Laplace noise on sums about the middle
        share, moved = epsilon / (4 if sized else 5), 2 if sized else 1
        linear, square, count = (_laplace(moved * one / share) for one in (half, half**2, 1))
        yield [_slope(table, linear, linear, square, square, 0.0 if sized else count)]
    elif name == "variance" and sized:  # OpenDP's sized variance
        yield [[(1.0, _laplace(HIGH**2 / (rows * epsilon)))]]
    elif (
        name == "variance"
    ):  # PyDP's: thirds for the sums of values and of squares about the middles of their ranges, and for the count
        share = epsilon / 3
        x = table["x"].astype(float)
        off = -float((x**2).mean() - HIGH**2 / 2) + 2 * float(x.mean()) * float(x.mean() - half)
        yield [
            [
                (1 / rows, _laplace(HIGH**2 / 2 / share)),
                (2 * float(x.mean()) / rows, _laplace(half / share)),
                (off / rows, _laplace(1 / share)),
            ]
        ]
    elif name in KEYS:
        groups = _groups(table, KEYS[name])
        if sized:  # OpenDP's Laplace noise on sums and counts of the groups, two of which a row may change
            parts = [_mean(one, 0.0, *(_laplace(4 * most / epsilon) for most in (HIGH, 1))) for one in groups]
        else:  # PyDP's means, each at all of ε
            parts = [
                _mean(one, half, *(_laplace(2 * most / epsilon) for most in (half, 1))) for one in groups
            ]
        yield [parts[0] + parts[1]] if name == "difference" else parts
    elif sized:  # OpenDP's sized mean, diffprivlib's
        yield [[(1.0, _laplace(HIGH / (rows * epsilon)))]]
    else:  # PyDP's, half of ε for the sum about the middle and half for the count
        column = ASKED[name][1]
        yield [_mean(table[column], half, *(_laplace(2 * most / epsilon) for most in (half, 1)))]


def _laplace(scale: float) -> float:
    """The variance of continuous Laplace noise."""
    return 2 * scale**2


def _groups(table: dict[str, np.ndarray], key: str) -> list[np.ndarray]:
    return [table["x"][table[key] == one] for one in range(int(table[key].max()) + 1)]


def _mean(values: np.ndarray, middle: float, total: float, count: float) -> Moves:
    """Of a mean as a sum about a point over a number of rows."""
    return [(1 / len(values), total), ((float(values.mean()) - middle) / len(values), count)]


def _variance(values: np.ndarray, middle: float, squares: float, total: float, count: float) -> Moves:
    """Of a variance as the mean of squares about a point, less the squared mean about it."""
    away, spread, rows = float(values.mean()) - middle, float(values.var()), len(values)
    return [(1 / rows, squares), (2 * away / rows, total), ((spread - away**2) / rows, count)]


def _slope(
    table: dict[str, np.ndarray], x: float, y: float, squares: float, products: float, count: float
) -> Moves:
    """Of a slope from sums about the middle of the bounds; the count moves squares about their own middle too, which those hold."""
    one, two = (table[name] - HIGH / 2 for name in ("x", "y"))
    m, k = float(one.mean()), float(two.mean())
    slope, spread = float(np.cov(one, two)[0, 1] / one.var(ddof=1)), float(one.var()) * len(one)
    return [
        (1 / spread, products),
        (slope / spread, squares),
        ((2 * slope * m - k) / spread, x),
        (m / spread, y),
        ((m * k - slope * m**2) / spread, count),
    ]


def medians() -> Iterator[tuple[Any, ...]]:
    """Yield neighbours, rows, ε; the median's error by OpenDP, by dpnb without limits and at nine tenths of ε, and by permute-and-flip of its score."""
    for adjacency, rows, epsilon in CASES:
        x, truth = study(rows)["x"], float(truths(study(rows))["median"][0])
        unit = PrivacyUnit(adjacency, rows=rows if adjacency == "change-one" else None)
        rate = float(epsilon) / float(score_factor(Fraction(1, 2), unit, 1))
        whole, most = (_off(_selected(x, rate * part), truth) for part in (1.0, 0.9))
        below, upto = _ranks(x)
        flipped = _flipped(np.maximum(below - rows / 2, rows / 2 - upto), rate)
        errors = _off(_noisy_maximum(x, rate), truth), whole, most, _off(flipped, truth)
        yield adjacency, rows, epsilon, *errors


def _off(law: np.ndarray, truth: float) -> float:
    return math.sqrt(float((law * (np.arange(HIGH + 1) - truth) ** 2).sum()))


def _ranks(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many rows lie below each value, and how many at or below."""
    counts = np.bincount(x, minlength=HIGH + 1)
    return np.cumsum(counts) - counts, np.cumsum(counts)


def _selected(x: np.ndarray, rate: float) -> np.ndarray:
    below, upto = _ranks(x)
    missed = np.maximum(below - len(x) / 2, len(x) / 2 - upto)
    weight = np.exp(-rate / 2 * (missed - missed.min()))
    return np.asarray(weight / weight.sum())


def _noisy_maximum(x: np.ndarray, rate: float) -> np.ndarray:
    below, upto = _ranks(x)
    return _flipped(np.abs(below - (len(x) - upto)) / 2, rate)


def _flipped(score: np.ndarray, rate: float) -> np.ndarray:
    """The law of permute-and-flip, which is that of a maximum with exponential noise, of a score that is best where it is least."""
    taken = np.exp(-rate / 2 * (score - score.min()))
    nodes, weights = np.polynomial.legendre.leggauss(len(taken) // 2 + 1)
    missed = 1.0 - taken[:, None] * (nodes + 1)[None, :] / 2
    return np.array(
        [
            one * float(np.prod(np.delete(missed, place, axis=0), axis=0) @ weights) / 2
            for place, one in enumerate(taken)
        ]
    )
