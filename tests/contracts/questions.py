"""Sample questions of every registered statistic on one small dataset, and their release without a curator.

A statistic is asked of what it is of, whole and by groups, with each of its examples; one that needs more has samples of its own here.
tests/statistics/test_every_statistic.py runs them on tables of no, one and two rows, constant and missing columns, empty groups and
units of several rows.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dpnb.datasets.exact_answers import answer
from dpnb.datasets.preparation import prepare
from dpnb.estimate import Estimate, ask
from dpnb.planner import Ask, Item, PricedQuestion, Question, price
from dpnb.planner.expression import Compare, Const, Ref
from dpnb.statistics import STATISTICS, Statistic, conclude
from dpnb.trusted.noise.bits import BitSource
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.releases import Release, ReleasedPart
from dpnb.trusted.schema import Column, Schema

X, Y, B, G = Ref("x"), Ref("y"), Ref("b"), Ref("g")
_ids = itertools.count()

OWN_SAMPLES: dict[str, tuple[dict[str, Any], ...]] = {
    "count": ({}, {"where": Compare("==", B, Const(1))}, {"by": (G,)}),
    "sum": ({"target": X}, {"target": X, "by": (G,)}),
    "mean": (
        {"target": X},
        {"target": B},
        {"target": X, "by": (G,)},
        {"target": B, "by": (G,)},
        {"target": X, "options": (("spread", "bound"),)},
        {"target": X, "options": (("clamped", True),)},
        {"target": X, "by": (G,), "options": (("clamped", True),)},
    ),
    "weighted_mean": (
        {"target": X, "other": Y, "options": (("ci", False),)},
        {"target": X, "other": Y, "options": (("spread", "bound"),)},
        {"target": X, "other": Y, "options": (("ci", False),), "by": (G,)},
    ),
    "variance": ({"target": X}, {"target": B, "by": (G,)}),
    "std": ({"target": X}, {"target": X, "by": (G,)}),
    "quantile": (
        {"target": X, "options": (("q", 0.5),)},
        {"target": X, "options": (("q", (0.25, 0.75)), ("ci", True))},
        {"target": X, "by": (G,), "options": (("q", 0.9),)},
        {"target": X, "options": (("q", 0.5), ("ci", True))},
    ),
    "histogram": (
        {"target": X, "options": (("bins", 4),)},
        {"target": X, "options": (("bins", 50),)},
        {"target": X, "by": (G,), "options": (("bins", 2),)},
    ),
    "value_counts": ({"target": G}, {"target": B, "by": (G,)}),
    "frequent_values": (
        {"target": X},
        {"target": G, "where": Compare("==", B, Const(1))},
        {"target": G, "other": X},
        {"target": X, "other": B},
    ),
    "crosstab": ({"target": B, "by": (G,)}, {"target": B, "by": (G, Compare(">", X, Const(50)))}),
    "difference": ({"target": X, "by": (B,)}, {"target": X, "by": (G, B)}),
    "covariance": (
        {"target": X, "other": Y},
        {"target": X, "other": Y, "options": (("method", "separate"),)},
    ),
    "correlation": ({"target": X, "other": Y}, {"target": X, "other": Y, "by": (G,)}),
    "moments": (
        {"target": X, "others": (Y, B)},
        {"target": X, "others": (Y,), "options": (("radius", 1),)},
    ),
    "mode": ({"target": G}, {"target": B, "by": (G,)}),
    "top_k": ({"target": G, "options": (("k", 2),)},),
    "choose": (
        {"target": B, "others": (Compare(">", X, Const(30)),), "options": (("labels", ("b", "x > 30")),)},
        {"target": X, "others": (Y, B), "options": (("labels", ("x", "y", "b")),)},
    ),
    "robust_mean": ({"target": X}, {"target": X, "by": (G,)}),
    "ks_density": ({"target": X}, {"target": X, "by": (G,), "options": (("cells", 5), ("points", 7))}),
    "density": (
        {"target": X},
        {"target": X, "by": (G,), "options": (("bins", 50), ("method", "perturbed"))},
    ),
    "tree": (
        {"target": X},
        {"target": X, "options": (("levels", 4),)},
        {"target": X, "by": (G,), "where": Compare("==", B, Const(1))},
    ),
}
"""Statistic -> keyword arguments of :class:`Question`."""

COLUMNS: dict[str, dict[str, Any]] = {
    "none": {},
    "number": {"target": X},
    "pair": {"target": X, "other": Y},
    "weighted": {"target": X, "other": Y},
    "numbers": {"target": X, "others": (Y, B)},
    "key": {"target": G},
    "choice": {"target": G},
    "value": {"target": X},
}
"""What a statistic is of -> columns of that kind."""


def usual_samples(statistic: Statistic) -> tuple[dict[str, Any], ...]:
    """Samples by what a statistic is of: with its first example, by groups where it can be, and with each further example.

    So an example that a new option brings stands last, and what was pinned of the others keeps its name.
    """
    columns, arms = COLUMNS[statistic.target], (B,) * statistic.arms
    options = [{"options": tuple(sorted(one.items()))} for one in statistic.examples] or [{}]
    groups = () if statistic.target in {"numbers", "value"} else (G,)
    plain = [{**columns, **one, **({"by": arms} if arms else {})} for one in options]
    return (plain[0], *({**plain[0], "by": (group, *arms)} for group in groups), *plain[1:])


SAMPLES = {one.name: OWN_SAMPLES.get(one.name) or usual_samples(one) for one in STATISTICS}

UNITS: dict[str, PrivacyUnit] = {
    "change-one": PrivacyUnit("change-one", rows=6),
    "add-remove": PrivacyUnit("add-remove"),
    "units of three rows": PrivacyUnit("add-remove", unit="who", max_rows=3),
}

ABSENT = np.nan
TABLES: dict[str, dict[str, list[Any]]] = {
    "no rows": {"x": [], "y": [], "b": [], "g": []},
    "one row": {"x": [31.0], "y": [2.0], "b": [1], "g": ["u"]},
    "two rows": {"x": [31.0, 31.0], "y": [2.0, 9.0], "b": [1, 0], "g": ["u", "u"]},
    "constant": {"x": [100.0] * 6, "y": [0.0] * 6, "b": [1] * 6, "g": ["w"] * 6},
    "all missing": {"x": [ABSENT] * 6, "y": [ABSENT] * 6, "b": [None] * 6, "g": [None] * 6},
    "not a number": {
        "x": [np.inf, -np.inf, ABSENT] * 2,
        "y": [1e300, -1e300, 0.0] * 2,
        "b": [2] * 6,
        "g": [""] * 6,
    },
}


def schema(unit: PrivacyUnit, measure: str = "epsilon") -> Schema:
    """Two numbers, a two-valued column and three groups; the measure ``"approx"`` has an (ε, δ) budget."""
    columns = (
        Column.number("x", 0, 100, step=1),
        Column.number("y", 0, 10, step=1).weighing(True),
        Column.category("b", [0, 1]),
        Column.category("g", ["u", "v", "w"]),
    )
    return Schema("small", "Small", columns, unit, budget_of(measure))


def budget_of(measure: str) -> Budget:
    """A budget that holds whatever is tried."""
    return Budget.from_toml({"epsilon": 1000, "delta": "0.1"} if measure == "approx" else {measure: 1000})


def asked(sample: dict[str, Any], statistic: str, where: Schema, kind: str, amount: Any) -> PricedQuestion:
    """The priced question of a sample."""
    question = Question(where.name, statistic, **sample)
    ask = Ask.make(**{"epsilon" if kind == "approx" else kind: amount})
    return price((Item(question),), ask, where).items[0]


def released(item: PricedQuestion, table: dict[str, list[Any]], where: Schema, bits: BitSource) -> Estimate:
    """Answer a question with exact noise, as the curator does, and give the estimate that holds the answer."""
    raw = {name: np.array(values, dtype=object if name in "bg" else float) for name, values in table.items()}
    raw["who"] = np.array([f"person {place // 2}" for place in range(len(table["x"]))], dtype=object)
    exact = answer(prepare(raw, where), [part.request for part in item.parts])
    parts = tuple(
        ReleasedPart(part.name, part.mechanism.record, part.mechanism.noised(found, bits), f"{next(_ids):x}")
        for part, found in zip(item.parts, exact, strict=True)
    )
    made = Release(
        f"{next(_ids):032x}", item.key, where.name, "v1", parts, item.loss, time="2026-01-01", entry=1
    )
    estimate = ask(item.checked.question, item.checked)
    answers = () if item.public else (made,)
    assert estimate.measurement is not None
    estimate.measurement.fill(answers, conclude(item.checked, answers))
    return estimate
