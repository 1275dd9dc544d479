"""What the coverage lab can simulate: statistics, and populations made up, public or simulated. Never protected rows.

Each population says the call that makes it again, so that every picture of the lab has its line of code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from dpnb import simulate
from dpnb.datasets import find
from dpnb.simulate import Population

__all__ = ["ASKED", "SCENES", "Asked", "Kind", "Scene", "made"]

Kind = Literal["number", "share", "arms", "pair"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A statistic of the lab: its words, the kind of population it is asked of, and how it is asked."""

    label: str
    kinds: tuple[Kind, ...]
    statistic: str
    options: MappingProxyType[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Scene:
    """A population of the lab: its words, what can be asked of it, how it is made, and how a question names its columns."""

    label: str
    kind: Kind
    make: Callable[[], Population]
    question: MappingProxyType[str, Any] = field(default_factory=lambda: MappingProxyType({}))


def _asked(label: str, kinds: tuple[Kind, ...], statistic: str, **options: Any) -> Asked:
    return Asked(label, kinds, statistic, MappingProxyType(options))


ASKED: dict[str, Asked] = {
    "mean": _asked("mean", ("number",), "mean"),
    "proportion": _asked("proportion", ("share",), "mean"),
    "difference": _asked("difference of two arms", ("arms",), "difference"),
    "median": _asked("median", ("number",), "quantile", q=0.5, ci=True),
    "variance": _asked("variance", ("number",), "variance"),
    "std": _asked("standard deviation", ("number",), "std"),
    "correlation": _asked("correlation", ("pair",), "correlation"),
    "count": _asked("count", ("share",), "count", adjacency="add-remove"),
}


def _study(name: str, *columns: str) -> Callable[[], Population]:
    """Return the maker of a built-in study's rows, drawn with replacement."""

    def make() -> Population:
        study = find(name)
        table = study.load()
        found = simulate.resampled(
            {column: table[column] for column in columns},
            [study.schema[column] for column in columns],
            name=f"{study.name}.{columns[0]}",
        )
        code = f"simulate.resampled(find({name!r}).load(), [find({name!r}).schema[c] for c in {list(columns)!r}])"
        return replace(found, code=code)

    return make


def _scene(label: str, kind: Kind, make: Callable[[], Population], **question: Any) -> Scene:
    return Scene(label, kind, make, MappingProxyType(question))


SCENES: dict[str, Scene] = {
    "skewed": _scene("skewed: Beta(2, 5) on 0 to 100", "number", lambda: simulate.beta(2, 5)),
    "even": _scene("even: Beta(1, 1) on 0 to 100", "number", lambda: simulate.beta(1, 1)),
    "bell": _scene("a bell: normal(50, 12)", "number", lambda: simulate.normal(50, 12)),
    "outliers": _scene(
        "a bell with 2 % outliers", "number", lambda: simulate.with_outliers(simulate.normal(30, 6), 0.02)
    ),
    "heavy": _scene(
        "very skewed: lognormal, cut at 100", "number", lambda: simulate.lognormal(2.0, 1.0, upper=100)
    ),
    "income": _scene("census (simulated): income", "number", _study("census", "income")),
    "hours": _scene("census (simulated): hours of work", "number", _study("census", "hours")),
    "half": _scene("half of all: 0.5", "share", lambda: simulate.bernoulli(0.5)),
    "tenth": _scene("one in ten: 0.1", "share", lambda: simulate.bernoulli(0.1)),
    "rare": _scene("rare: 0.01", "share", lambda: simulate.bernoulli(0.01)),
    "married": _scene("census (simulated): married", "share", _study("census", "married")),
    "incentive": _scene(
        "incentive33 (simulated): collected, by offer",
        "arms",
        _study("incentive33", "got", "any"),
        by="any",
    ),
    "wages": _scene(
        "census (simulated): income, by sex", "arms", _study("census", "income", "sex"), by="sex"
    ),
    "pay": _scene(
        "census (simulated): income and hours", "pair", _study("census", "income", "hours"), other="hours"
    ),
}


@cache
def made(key: str) -> Population:
    """Return a population of the lab; its rows are read once."""
    return SCENES[key].make()
