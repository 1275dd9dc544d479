"""Interquartile range, trimmed mean, skewness and Gini off a tree: exact without noise, covering with it, words at the edges."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpnb.errors import OptionError
from dpnb.planner.expression import BinOp, Const, Ref
from dpnb.planner.question import Question
from dpnb.statistics.tree import Tree
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.contracts.statistic import priced
from tests.contracts.statistic import schema as tiny
from tests.examples import mostly_long
from tests.statistics import tree_studies as made

NAMES = ("iqr", "trimmed_mean", "skewness", "gini")
READ = Tree().readings
GRID = np.arange(made.GRID + 1)


def truth(name: str, mass: np.ndarray) -> float:
    """A measure of a distribution on 0…100, by its definition."""
    below = np.cumsum(mass)
    mean = float(mass @ GRID)
    if name == "iqr":
        low, high = (np.searchsorted(below, q - 1e-12) for q in (0.25, 0.75))
        return float(high - low)
    if name == "trimmed_mean":
        held = np.diff(np.clip(np.concatenate([[0.0], below]), 0.1, 0.9))
        return float(held @ GRID / held.sum())
    if name == "skewness":
        return float(mass @ (GRID - mean) ** 3 / (mass @ (GRID - mean) ** 2) ** 1.5)
    return float(mass @ np.abs(GRID[:, None] - GRID) @ mass / (2 * mean))


def shares(x: np.ndarray) -> np.ndarray:
    """The distribution of some rows."""
    return np.bincount(x, minlength=made.GRID + 1) / max(x.size, 1)


def item_of(n: int, epsilon: Any, *, filtered: bool = False) -> Any:
    """A priced tree."""
    where = made.schema(n, "change-one", "epsilon")
    return made.question(where, "tree", ("epsilon", epsilon), filtered=filtered)


@pytest.mark.parametrize("name", NAMES)
def test_without_noise_it_is_its_definition(name: str) -> None:
    """At a very large ε, of 3,000 rows with a gap and a spike; skewness is scipy's, and the trimmed mean close to scipy's."""
    item = item_of(3_000, 100_000)
    (x, release), *_ = made.studies(item, made.lumpy, 3_000, 1, 5)
    found = float(READ[name](item.checked.setting).conclude([release]).value)  # type: ignore[misc, arg-type]
    assert found == pytest.approx(truth(name, shares(x)), rel=2e-3)
    if name == "skewness":
        assert found == pytest.approx(float(stats.skew(x)), rel=2e-3)
    if name == "trimmed_mean":
        assert found == pytest.approx(float(stats.trim_mean(x, 0.1)), abs=0.02)
    if name == "iqr":
        assert found == pytest.approx(float(stats.iqr(x)), abs=1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("n", "epsilon"),
    mostly_long([(n, e) for n in (60, 400, 4_000) for e in ("0.1", 1, 5)], (400, 1), (4_000, 5)),
)
def test_intervals_hold_the_truth(name: str, n: int, epsilon: Any) -> None:
    """Of 60 studies at least as many as 95 % less two standard errors hold the dataset's and the population's value."""
    item, reps, filtered = item_of(n, epsilon, filtered=True), 60, truth(name, made.population(made.lumpy))
    held = {"privacy": 0, "confidence": 0}
    for x, release in made.studies(item, made.lumpy, n, reps, 7):
        result = READ[name](item.checked.setting).conclude([release])  # type: ignore[misc]
        for kind, wanted in (("privacy", truth(name, shares(x))), ("confidence", filtered)):
            low, high = result.interval(0.95, kind)  # type: ignore[arg-type]
            held[kind] += int(low - 1e-9 <= wanted <= high + 1e-9)
    assert min(held.values()) >= reps * (0.95 - 2 * np.sqrt(0.95 * 0.05 / reps)), held


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [0, 1, 50])
def test_what_nothing_is_known_of_has_the_whole_range(name: str, rows: int) -> None:
    """Nobody, one row, or a constant of zero: a wide or unbounded interval with a flag, never a narrow one."""
    item = item_of(50, "0.5", filtered=True)
    release = made.release(item, np.zeros(rows, dtype=int), np.random.default_rng(1))
    result = READ[name](item.checked.setting).conclude([release])  # type: ignore[misc]
    low, high = result.interval(0.95, "confidence")
    whole = {"iqr": 20, "trimmed_mean": 20, "skewness": np.inf, "gini": 1}[name]
    assert high - low >= whole
    assert result.flags or rows > 1


def test_arguments_that_make_no_sense_are_refused() -> None:
    """Half of the rows at either end, and amounts that may be negative."""
    item = item_of(100, 1)
    with pytest.raises(OptionError, match=r"below 0\.5"):
        READ["trimmed_mean"](item.checked.setting, 0.5)  # type: ignore[misc]
    moved = Question("tiny", "tree", BinOp("-", Ref("x"), Const(12)))
    where = tiny(PrivacyUnit("add-remove"), measure="epsilon")
    with pytest.raises(OptionError, match="may be negative"):
        READ["gini"](priced(moved, where, kind="epsilon").checked.setting)  # type: ignore[misc]
    assert READ["trimmed_mean"](item.checked.setting, Fraction(1, 4)).text == ".trimmed_mean(0.25)"  # type: ignore[misc]
