r"""Errors of means and medians from the noise that each library adds, without a simulation: which goals are met exactly.

The root mean square of a discrete Laplace of scale b is :math:`\sqrt{2p}/(1-p), p = e^{-1/b}`, of a continuous one :math:`\sqrt2 b`. A mean
of a private number of rows is a sum over a count, each with noise; its error is, to first order, that of sum − (mean − middle)·count over n.
OpenDP's sized mean and diffprivlib's add Laplace noise of scale range/(n ε); PyDP's adds half of ε to the sum about the middle, and half to
the count. A selected median is off by its whole law over the 101 values: dpnb's by the exponential mechanism, whose score is by how many ranks
the target lies outside a value's own; OpenDP's by its noisy maximum with exponential noise (the law of permute and flip), whose score is the
difference of the numbers of rows below and above.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from dpnb.inference.law import law_of
from dpnb.inference.selection_law import score_factor
from dpnb.planner import Ask, BatchPlan, Item, QueryPlan, price
from dpnb.planner.expression import Ref
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema

from .study import HIGH, study, truths

CASES = tuple(product(("change-one", "add-remove"), (1_000, 10_000), ("0.1", "1")))
ASKED: tuple[tuple[str, str, tuple[tuple[str, Any], ...]], ...] = (
    ("mean", "x", ()),
    ("mean, ci=False", "x", (("ci", False),)),
    ("skewed mean", "s", ()),
    ("skewed mean, ci=False", "s", (("ci", False),)),
)
"""What is asked: its name in the tables, its column, its options."""


def ratios() -> Iterator[tuple[str, int, str, str, float]]:
    """Yield neighbours, rows, ε, statistic, and the error of dpnb over the least of the other libraries, of every mean."""
    for adjacency, rows, epsilon in CASES:
        for name, column, options in ASKED:
            away = float(study(rows)[column].mean()) - HIGH / 2
            mine = mean_error(adjacency, rows, epsilon, options, away)
            yield adjacency, rows, epsilon, name, mine / least_error(adjacency, rows, float(epsilon), away)


def mean_error(adjacency: str, rows: int, epsilon: str, options: Any, away: float) -> float:
    """The error of dpnb's mean, whose value lies so far from the middle of the bounds."""
    unit = PrivacyUnit(adjacency, rows=rows if adjacency == "change-one" else None)
    schema = Schema(
        "p", "P", (Column.integer("x", 0, HIGH, missing=0),), unit, Budget.from_toml({"epsilon": 10**6})
    )
    asked = QueryPlan("p", "mean", Ref("x"), options=options)
    (item,) = price(BatchPlan("p", schema.version, (Item(asked),), Ask.make(epsilon=epsilon)), schema).items
    noise = {part.name: float(law_of(part.mechanism).variance_float) for part in item.parts}
    return math.sqrt(noise["sum"] + away**2 * noise.get("count", 0.0)) / rows


def least_error(adjacency: str, rows: int, epsilon: float, away: float) -> float:
    """The least error of a mean of the other libraries."""
    if adjacency == "change-one":
        return math.sqrt(2) * HIGH / (rows * epsilon)
    return math.sqrt(2) * math.hypot(HIGH / 2, away) / (rows * epsilon / 2)


def medians() -> Iterator[tuple[str, int, str, float, float, float]]:
    """Yield neighbours, rows, ε; the median's error by OpenDP, by dpnb without limits, and by dpnb at nine tenths of ε."""
    for adjacency, rows, epsilon in CASES:
        x, truth = study(rows)["x"], float(truths(study(rows))["median"][0])
        unit = PrivacyUnit(adjacency, rows=rows if adjacency == "change-one" else None)
        rate = float(epsilon) / float(score_factor(Fraction(1, 2), unit, 1))
        whole, most = (_off(_selected(x, rate * part), truth) for part in (1.0, 0.9))
        yield adjacency, rows, epsilon, _off(_noisy_maximum(x, rate), truth), whole, most


def _off(law: np.ndarray, truth: float) -> float:
    return math.sqrt(float((law * (np.arange(HIGH + 1) - truth) ** 2).sum()))


def _ranks(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many rows lie below each value, and how many at or below."""
    counts = np.bincount(x, minlength=HIGH + 1)
    return np.cumsum(counts) - counts, np.cumsum(counts)


def _selected(x: np.ndarray, rate: float) -> np.ndarray:
    below, upto = _ranks(x)
    outside = np.maximum(np.maximum(below - len(x) / 2, len(x) / 2 - upto), 0.0)
    weight = np.exp(-rate / 2 * outside)
    return np.asarray(weight / weight.sum())


def _noisy_maximum(x: np.ndarray, rate: float) -> np.ndarray:
    below, upto = _ranks(x)
    score = np.abs(below - (len(x) - upto)) / 2
    taken = np.exp(-rate / 2 * (score - score.min()))
    nodes, weights = np.polynomial.legendre.leggauss(len(taken) // 2 + 1)
    missed = 1.0 - taken[:, None] * (nodes + 1)[None, :] / 2
    return np.array(
        [
            one * float(np.prod(np.delete(missed, place, axis=0), axis=0) @ weights) / 2
            for place, one in enumerate(taken)
        ]
    )
