"""What the coverage lab can simulate: statistics, and populations that are public, simulated or declared. Never protected rows.

Each population says the call that makes it again, so that every picture of the lab has its line of code. A *declared* one is a
law under sliders: nobody's rows stand behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from dpnb import simulate
from dpnb.datasets import adult_ages, find
from dpnb.simulate import Population
from dpnb.simulate.declared import Incomplete
from dpnb.simulate.populations import GridLaw
from dpnb.widgets.registry import Facts

Kind = Literal["number", "share", "arms", "pair"]

#: The population that the published bootstrap table names, from the census's published age groups, on bounds from 0 to 100.
PUBLISHED = "California 2000: ages of adults"


@dataclass(frozen=True, slots=True)
class Asked:
    """A statistic of the lab: its words, the kind of population it is asked of, and how it is asked."""

    label: str
    kinds: tuple[Kind, ...]
    statistic: str
    options: MappingProxyType[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def inside(self) -> bool:
        """Whether its answer lies between the bounds of its column."""
        return self.statistic in {"mean", "quantile"}


@dataclass(frozen=True, slots=True)
class Scene:
    """A population of the lab: its words, what can be asked of it, how it is made, and how a question names its columns."""

    label: str
    kind: Kind
    group: str
    make: Callable[[], Population]
    question: MappingProxyType[str, Any] = field(default_factory=lambda: MappingProxyType({}))


def _asked(label: str, kinds: tuple[Kind, ...], statistic: str, **options: Any) -> Asked:
    return Asked(label, kinds, statistic, MappingProxyType(options))


ASKED: dict[str, Asked] = {
    "mean": _asked("mean", ("number",), "mean"),
    "proportion": _asked("proportion", ("share",), "mean"),
    "count": _asked("count", ("share",), "count", adjacency="add-remove"),
    "sum": _asked("sum", ("number", "share"), "sum"),
    "difference": _asked("difference of two arms", ("arms",), "difference"),
    "median": _asked("median", ("number",), "quantile", q=0.5, ci=True),
    "lower quartile": _asked("lower quartile", ("number",), "quantile", q=0.25, ci=True),
    "upper quartile": _asked("upper quartile", ("number",), "quantile", q=0.75, ci=True),
    "variance": _asked("variance", ("number",), "variance"),
    "std": _asked("standard deviation", ("number",), "std"),
    "covariance": _asked("covariance", ("pair",), "covariance"),
    "correlation": _asked("correlation", ("pair",), "correlation"),
}

#: The key of the population under sliders, and which sliders each kind has.
DECLARED = "declared"
SLIDERS: dict[Kind, tuple[str, ...]] = {
    "number": ("skew", "outliers"),
    "share": ("share",),
    "arms": ("share", "effect"),
    "pair": ("skew", "effect"),
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


def _ages() -> Population:
    found = simulate.resampled(adult_ages(), lower=0, upper=100, step=1, name=PUBLISHED)
    return replace(found, code="simulate.resampled(adult_ages(), lower=0, upper=100, step=1)")


def _scene(label: str, kind: Kind, group: str, make: Callable[[], Population], **question: object) -> Scene:
    return Scene(label, kind, group, make, MappingProxyType(question))


_LAWS = "made up"
_PUBLIC = "public studies, drawn with replacement"
_STUDIES: tuple[tuple[str, Kind, tuple[str, ...]], ...] = (
    ("hiv", "number", ("age",)),
    ("hiv", "number", ("distvct",)),
    ("hiv", "share", ("got",)),
    ("hiv", "arms", ("got", "any")),
    ("hiv", "pair", ("age", "distvct")),
    ("nsw", "number", ("re78",)),
    ("nsw", "arms", ("re78", "treat")),
    ("cps", "number", ("re75",)),
    ("nhefs", "number", ("wt82_71",)),
    ("nhefs", "number", ("smokeintensity",)),
    ("nhefs", "share", ("death",)),
    ("nhefs", "arms", ("wt82_71", "qsmk")),
    ("nhefs", "pair", ("age", "sbp")),
    ("randhie", "number", ("mdvis",)),
    ("randhie", "share", ("hlthp",)),
    ("fair", "number", ("affairs",)),
    ("anes96", "number", ("age",)),
    ("anes96", "share", ("vote",)),
    ("census", "number", ("income",)),
    ("census", "number", ("hours",)),
    ("census", "share", ("married",)),
    ("census", "arms", ("income", "sex")),
    ("census", "pair", ("income", "hours")),
    ("incentive33", "number", ("distance",)),
    ("incentive33", "arms", ("got", "any")),
)


def _of_studies() -> dict[str, Scene]:
    found = {}
    for name, kind, columns in _STUDIES:
        study = find(name)
        simulated = " (simulated)" if study.simulated else ""
        words = {"arms": " by ", "pair": " with "}.get(kind, "").join(columns)
        question = {"arms": "by", "pair": "other"}.get(kind)
        asked = {} if question is None else {question: columns[1]}
        key = f"{name}.{words.replace(' ', '-')}"
        found[key] = _scene(f"{name}{simulated}: {words}", kind, _PUBLIC, _study(name, *columns), **asked)
    return found


SCENES: dict[str, Scene] = {
    "skewed": _scene("skewed: Beta(2, 5) on 0 to 100", "number", _LAWS, lambda: simulate.beta(2, 5)),
    "even": _scene("even: Beta(1, 1) on 0 to 100", "number", _LAWS, lambda: simulate.beta(1, 1)),
    "bell": _scene("a bell: normal(50, 12)", "number", _LAWS, lambda: simulate.normal(50, 12)),
    "outliers": _scene(
        "a bell with 2 % outliers",
        "number",
        _LAWS,
        lambda: simulate.with_outliers(simulate.normal(30, 6), 0.02),
    ),
    "heavy": _scene(
        "very skewed: lognormal, cut at 100",
        "number",
        _LAWS,
        lambda: simulate.lognormal(2.0, 1.0, upper=100),
    ),
    "half": _scene("half of all: 0.5", "share", _LAWS, lambda: simulate.bernoulli(0.5)),
    "tenth": _scene("one in ten: 0.1", "share", _LAWS, lambda: simulate.bernoulli(0.1)),
    "rare": _scene("rare: 0.01", "share", _LAWS, lambda: simulate.bernoulli(0.01)),
    "publication": _scene(PUBLISHED, "number", _PUBLIC, _ages),
    **_of_studies(),
}


@cache
def made(key: str) -> Population:
    """Return a population of the lab; its rows are read once."""
    return SCENES[key].make()


@dataclass(frozen=True, slots=True)
class Shape:
    """A population under sliders, and the public grids that it lies on.

    Parameters
    ----------
    kind : str
        Of :data:`SLIDERS`.
    skew, outliers, share, effect : float
        What the sliders say.
    grids : tuple of dict
        ``lower``, ``upper``, ``step`` and ``name`` of one column, or of two.
    missing : float or None
        The share of rows without a value; nothing where no value can be missing.
    """

    kind: Kind
    skew: float
    outliers: float
    share: float
    effect: float
    grids: tuple[tuple[tuple[str, Any], ...], ...] = ((),)
    missing: float | None = None

    @property
    def sliders(self) -> tuple[str, ...]:
        """Which sliders it has."""
        numbers = self.kind == "arms" and "lower" in dict(self.grids[0])
        return ("skew", "effect") if numbers else SLIDERS[self.kind]


@cache
def declared(shape: Shape) -> Population:
    """Return the population that the sliders declare."""
    grids = [dict(grid) for grid in shape.grids]
    if shape.kind == "pair":
        second = grids[1] if len(grids) > 1 else {"name": "y"}
        one, two = (_arm(replace(shape, kind="number"), grid, 0.0) for grid in (grids[0], second))
        return simulate.pair(one, two, shape.effect)
    if shape.kind == "arms":
        return simulate.arms(_arm(shape, grids[0], 0.0), _arm(shape, grids[0], shape.effect))
    return _arm(shape, grids[0], 0.0)


def _arm(shape: Shape, grid: Facts, effect: float) -> GridLaw | Incomplete:
    if shape.kind == "share" or (shape.kind == "arms" and set(grid) <= {"name"}):
        chance = float(np.clip(round(shape.share + effect, 6), 0.001, 0.999))
        base = simulate.bernoulli(chance, **grid)
    else:
        base = simulate.shaped(shape.skew, shape.outliers, shift=effect, **grid)
    return base if shape.missing is None else simulate.with_missing(base, shape.missing)
