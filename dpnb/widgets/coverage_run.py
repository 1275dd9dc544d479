"""What the coverage lab has simulated so far, one block of studies at a time: the kernel's half of the lab.

A run holds counts, the intervals of the last studies, a thinned curve of the running coverage, and histograms: its size does
not grow with the number of studies. It can be left and taken up again; how it is cut changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import Unavailable
from dpnb.inference.spread import normal_quantile
from dpnb.simulate import BootstrapStudy, CoverageResult, Seen, Watched, watch, wilson
from dpnb.simulate.coverage import Run as DesignRun
from dpnb.simulate.design import Design
from dpnb.simulate.intervals import Method
from dpnb.simulate.studies import ArrayStudies, Studies
from dpnb.simulate.watching import seen_of_block
from dpnb.statistics import BY_NAME
from dpnb.widgets.registry import Facts

#: How many studies are seen whole.
LAST = 40
_POINTS = 120
_SCORES = np.linspace(-4, 4, 33)
_ERRORS = 30
_SPREAD = 60

Counts = tuple[int, int, int]
Floats = NDArray[np.float64]


@dataclass(slots=True)
class Histogram:
    """Counts in bins of one width, as many as there are, without growing: places far from all others are dropped."""

    width: float = 0.0
    counts: dict[int, int] | None = None

    def add(self, values: Floats) -> None:
        """Count numbers in bins whose width the first of them decide."""
        values = values[np.isfinite(values)]
        if not values.size:
            return
        if not self.width:
            low, high = np.quantile(values, [0.01, 0.99])
            self.width = float(high - low) / 24 or 1.0
        found = dict(self.counts or {})
        places, counts = np.unique(np.floor(values / self.width).astype(int), return_counts=True)
        for place, count in zip(places, counts, strict=True):
            found[int(place)] = found.get(int(place), 0) + int(count)
        if len(found) > 10 * _SPREAD:
            most = sorted(found, key=lambda place: -found[place])
            found = {place: found[place] for place in most[: 5 * _SPREAD]}
        self.counts = found

    def to_json(self) -> Facts | None:
        """Return the shares around the fullest bin."""
        if not self.counts:
            return None
        total, places = sum(self.counts.values()), sorted(self.counts)
        middle = max(places, key=self.counts.__getitem__)
        low, high = max(places[0], middle - _SPREAD), min(places[-1], middle + _SPREAD)
        shares = [self.counts.get(place, 0) / total for place in range(low, high + 1)]
        return {"low": low * self.width, "step": self.width, "shares": shares}


class Watch:
    """What is kept of one method: the running coverage, the last intervals, its errors and its z-scores.

    Parameters
    ----------
    level : float
        The level that the intervals claim.
    """

    def __init__(self, level: float) -> None:
        self._reach = normal_quantile(0.5 + level / 2)
        self.trail: list[Counts] = []
        self.last: Seen | None = None
        self.studies, self.zero, self.wide = 0, 0, 0
        self.errors: NDArray[np.int64] = np.zeros(_ERRORS, np.int64)
        self.scores: NDArray[np.int64] = np.zeros(_SCORES.size - 1, np.int64)

    def errors_of(self, seen: Seen) -> Floats:
        """Return the half-widths over the normal quantile: standard errors, where there is an interval."""
        error = (seen.high - seen.low) / (2 * self._reach)
        return np.asarray(error[np.isfinite(error)])

    def add(self, seen: Seen, top: float) -> None:
        """Count a block of studies; errors at or above `top` are counted together."""
        self.last, self.trail = seen, _thinned([*self.trail, *seen.running])
        error = self.errors_of(seen)
        self.studies += error.size
        self.zero += int(np.sum(error == 0))
        self.wide += int(np.sum(error >= top))
        self.errors = self.errors + np.histogram(error[(error > 0) & (error < top)], _ERRORS, (0, top))[0]
        with np.errstate(all="ignore"):
            z = (seen.high + seen.low - 2 * seen.truth) * self._reach / (seen.high - seen.low)
        self.scores = self.scores + np.histogram(np.clip(z[~np.isnan(z)], -3.999, 3.999), _SCORES)[0]

    def to_json(self) -> Facts:
        """Return what is drawn."""
        many = max(self.studies, 1)
        return {
            "stack": [] if self.last is None else _stack(self.last),
            "trail": [_share(*point) for point in self.trail if point[1]],
            "errors": (self.errors / many).tolist(),
            "zero": self.zero / many,
            "wide": self.wide / many,
            "scores": (self.scores / max(int(self.scores.sum()), 1)).tolist(),
        }


class StudyRun:
    """Studies of one size at one loss, watched: released and concluded, resampled, or both on the same studies.

    Parameters
    ----------
    coverage : CoverageResult, optional
        Where the releases start.
    bootstrap : BootstrapStudy, optional
        Where the resamples start; of one k.
    """

    def __init__(self, coverage: CoverageResult | None, bootstrap: BootstrapStudy | None = None) -> None:
        self.coverage, self.bootstrap = coverage, bootstrap
        found = [one for one in (coverage, bootstrap) if one is not None]
        self._blocks: list[Iterator[Watched]] = [watch(one) for one in found]
        first = found[0]
        self.level = first.level if isinstance(first, BootstrapStudy) else first.design.levels[0]
        self.watches: dict[str, Watch] = {}
        self.released: dict[str, Histogram] = {}
        self.top = 0.0

    @property
    def studies(self) -> int:
        """How many studies there are so far."""
        return min(one.studies for one in (self.coverage, self.bootstrap) if one is not None)

    @property
    def reps(self) -> int:
        """How many there will be."""
        if self.coverage is not None:
            return self.coverage.design.reps
        assert self.bootstrap is not None
        return self.bootstrap.design.simulations

    def step(self) -> bool:
        """Simulate the next block; false where all studies are there."""
        watched = [found for found in (next(blocks, None) for blocks in self._blocks) if found is not None]
        for one in watched:
            if isinstance(one.result, BootstrapStudy):
                self.bootstrap = one.result
            else:
                self.coverage = one.result
        seen = {name: found for one in watched for name, found in one.seen.items()}
        for name in seen:
            self.watches.setdefault(name, Watch(self.level))
        self.top = self.top or _top([self.watches[name].errors_of(found) for name, found in seen.items()])
        for name, found in seen.items():
            self.watches[name].add(found, self.top)
        for one in watched:
            word = "the average of k resamples" if isinstance(one.result, BootstrapStudy) else "the release"
            self.released.setdefault(word, Histogram()).add(one.values)
        return bool(watched)

    def rows(self) -> list[Facts]:
        """Return coverage and width of every method, the same numbers as in its table."""
        found = []
        if self.coverage is not None:
            found += [_row(self.coverage, method) for method in self.coverage.design.methods]
        if self.bootstrap is not None:
            found += [_resampled(self.bootstrap, kind) for kind in self.bootstrap.design.kinds]
        return found

    def to_json(self) -> Facts:
        """Return what is drawn."""
        releases = {word: found.to_json() for word, found in self.released.items()}
        return {
            "rows": self.rows(),
            "methods": {name: found.to_json() for name, found in self.watches.items()},
            "top": self.top,
            "releases": {word: found for word, found in releases.items() if found is not None},
        }


class SweepRun:
    """Coverage and width along losses, sizes or resamples: one run for each value, one after the other.

    Parameters
    ----------
    over : {"loss", "n", "k"}
        What is varied.
    values : sequence of number
        Its values.
    start : callable
        Makes the run of a value; called when its turn comes.
    """

    def __init__(self, over: str, values: Sequence[float], start: Callable[[float], StudyRun]) -> None:
        self.over, self.values, self._start = over, list(values), start
        self.runs: list[StudyRun] = [start(self.values[0])]

    @property
    def studies(self) -> int:
        """How many studies there are so far, those of each value counted."""
        return sum(run.studies for run in self.runs)

    @property
    def reps(self) -> int:
        """How many there will be."""
        return self.runs[0].reps * len(self.values)

    def step(self) -> bool:
        """Simulate the next block of the value whose turn it is; false where all studies are there."""
        if self.runs[-1].step():
            return True
        if len(self.runs) == len(self.values):
            return False
        self.runs.append(self._start(self.values[len(self.runs)]))
        return self.runs[-1].step()

    def to_json(self) -> Facts:
        """Return what is drawn: one row for each method, lists along what is varied."""
        rows: dict[str, Facts] = {}
        for run in self.runs:
            for found in run.rows():
                row = rows.setdefault(found["name"], {"name": found["name"]})
                for key in _ALONG:
                    row.setdefault(key, []).append(found[key])
        return {"over": self.over, "values": self.values, "rows": list(rows.values())}


Run = StudyRun | SweepRun
_ALONG = ("coverage", "low", "high", "width")


def with_methods(found: CoverageResult, shown: list[str]) -> CoverageResult:
    """Return a result with some of its methods, in their order: what is on the screen."""
    methods = tuple(method for method in found.design.methods if method.name in shown)
    tallies = tuple(
        replace(tally, held={key: held for key, held in tally.held.items() if key[0] in shown})
        for tally in found.tallies
    )
    return CoverageResult(replace(found.design, methods=methods), tallies)


def _top(errors: list[Floats]) -> float:
    """Return where the axis of the standard errors ends: beyond most of every method's, but not far beyond the others'."""
    known = [one[one > 0] for one in errors if np.any(one > 0)]
    if not known:
        return 1.0
    most = max(float(np.quantile(one, 0.98)) for one in known)
    least = min(float(np.median(one)) for one in known)
    return 1.05 * min(most, 8 * least)


def _share(studies: int, known: int, held: int) -> list[float]:
    """Return a point of the running coverage: after how many studies, the share that held, and its band."""
    low, high = wilson(held, known)
    return [studies, held / known, float(low), float(high)]


def _thinned(trail: list[Counts]) -> list[Counts]:
    """Return every other point of a trail that has become long, and always the last."""
    return trail if len(trail) <= _POINTS else [*trail[:-1][::2], trail[-1]]


def _row(found: CoverageResult, method: Method) -> Facts:
    row = {"name": method.name, "about": method.about}
    if not found.studies:
        return {**row, **_figures(0, 0, 0.0), "reason": ""}
    held = found.tallies[0].held[method.name, found.design.levels[0]]
    counts = (int(held.studies[0, 0]), int(held.held[0, 0]), float(held.width[0, 0]))
    return {**row, **_figures(*counts), "reason": held.reason}


def _resampled(found: BootstrapStudy, kind: str) -> Facts:
    one = found.tallies[found.design.ks[0], kind]
    figures = _figures(one.studies, int(one.published), one.published_width)
    return {"name": kind, "about": "population", **figures, "reason": ""}


def _figures(studies: int, held: int, width: float) -> dict[str, float | None]:
    counts: dict[str, float | None] = {"studies": studies, "held": held}
    if not studies:
        return {**counts, "coverage": None, "low": None, "high": None, "width": None}
    low, high = wilson(held, studies)
    mean = width / studies
    ends = {"coverage": held / studies, "low": float(low), "high": float(high)}
    return {**counts, **ends, "width": mean if math.isfinite(mean) else None}


def _stack(seen: Seen) -> list[list[float | bool | None]]:
    """Return [low, high, truth, held] of each of the last studies; nothing where there is no interval."""
    rows: list[list[float | bool | None]] = []
    last = slice(-LAST, None)
    columns = (seen.low[last], seen.high[last], seen.truth[last], seen.held[last])
    for low, high, truth, held in zip(*columns, strict=True):
        ends = [float(low), float(high), float(truth)]
        rows.append([*(end if math.isfinite(end) else None for end in ends), bool(held)])
    return rows


#: How many studies are drawn, and how many are counted at most.
DRAWN, COUNTED = 40, 1000
_FIRST, _BLOCK = 10, 240
_LEAST = 50
_ENDS = {"epsilon": (0.01, 10.0), "rho": (0.0005, 5.0)}
_LOSSES = 25
#: What is told of a study that has no interval, beside 0 for one that missed and 1 for one that held.
_NONE = 2


def losses_of(kind: str, paid: float) -> tuple[float, ...]:
    """Return 25 losses at equal steps of the logarithm; the one nearest to what is paid is that, to the digit.

    Examples
    --------
    >>> losses_of("epsilon", 0.5)[12:15]
    (0.316228, 0.421697, 0.5)
    """
    low, high = _ENDS[kind]
    found = [float(f"{value:.6g}") for value in np.geomspace(min(low, paid), max(high, paid), _LOSSES)]
    nearest = min(range(_LOSSES), key=lambda i: abs(np.log(found[i] / paid)))
    found[nearest] = float(paid)
    return tuple(found)


def packed(values: NDArray[Any]) -> bytes:
    """Return numbers as little-endian 32-bit floats."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, dtype="<f4").tobytes()


@dataclass(slots=True, eq=False)
class _Method:
    """What is kept of one method, block after block: the ends of each study, and whether it held."""

    name: str
    about: str
    ends: list[Floats] = field(default_factory=list)
    held: list[NDArray[np.uint8]] = field(default_factory=list)


class SharedStudies:
    """Studies of one size at many losses that share their random numbers, simulated block by block.

    Parameters
    ----------
    design : Design
        With common noise.
    """

    def __init__(self, design: Design) -> None:
        self.design = design
        self._run = DesignRun(design, design.sizes[0])
        # a tree of counts has a thousand numbers a study; so few of it at once would cost more in steps than in numbers
        self._most = max(self._run.size, _LEAST)
        self._run.size = _FIRST  # of which block the random numbers are: all blocks begin at a multiple
        self.parameter = None if self._run.parameter is None else float(self._run.parameter[0])
        self.studies, self.goal = 0, min(DRAWN, design.reps)
        self._answers: list[Floats] = []
        self._truths: list[Floats] = []
        self._methods = {one.name: _Method(one.name, one.about) for one in design.methods}

    @property
    def done(self) -> bool:
        """Whether all studies are there."""
        return self.studies >= self.goal

    def step(self) -> None:
        """Simulate the next block."""
        planned = _FIRST if self.studies == 0 else _BLOCK if self.studies >= DRAWN else DRAWN - _FIRST
        studies, block = self._run.draw(self.studies, self._count(planned))
        if self.studies == 0:
            self.goal = min(self.design.reps, max(DRAWN, min(_quick(studies), 5 * self._most)))
        truth = self._run.truth(block)[:, 0]
        self._answers.append(np.asarray(studies.value[:, :, 0]))
        self._truths.append(truth)
        for method in self.design.methods:
            self._add(studies, method, truth)
        self.studies += truth.size

    def _count(self, planned: int) -> int:
        """Return how many studies the next block has: whole multiples of the first, but for the last."""
        size = self._run.size
        return min(max(min(planned, self._most) // size, 1) * size, self.goal - self.studies)

    def _add(self, studies: Studies, method: Method, truth: Floats) -> None:
        kept = self._methods.get(method.name)
        found = None if kept is None else _ends(studies, method, self.parameter, self.design.levels[0])
        if kept is None or found is None:
            self._methods.pop(method.name, None)
            return
        low, high = found
        target = (
            truth
            if self.parameter is None or method.about == "dataset"
            else np.full(truth.size, self.parameter)
        )
        seen: list[Seen] = [seen_of_block((a, b), target, 0, (0, 0)) for a, b in zip(low, high, strict=True)]
        there = ~np.isnan(low) & ~np.isnan(high)
        kept.ends.append(np.stack([low, high], axis=-1))
        kept.held.append(np.where(there, np.stack([one.held for one in seen]), _NONE).astype(np.uint8))

    def first(self, page: int) -> int:
        """Return the first study of a page of forty; of a page that is not there yet, of the first."""
        return page * DRAWN if 0 <= page * DRAWN < self.studies else 0

    def to_json(self, page: int = 0) -> Facts:
        """Return what the page is told in words and numbers."""
        return {
            "first": self.first(page),
            "values": [float(loss.amount) for loss in self.design.losses],
            "studies": self.studies,
            "goal": self.goal,
            "parameter": self.parameter,
            "smooth": BY_NAME[self.design.statistic].smooth,
            "methods": [{"name": one.name, "about": one.about} for one in self._methods.values()],
        }

    def arrays(self, page: int = 0) -> dict[str, bytes]:
        """Return what is drawn: forty studies with their ends, and of all studies whether they held."""
        drawn = slice(self.first(page), self.first(page) + DRAWN)
        found = {
            "answers": packed(np.concatenate(self._answers, axis=1)[:, drawn]),
            "truths": packed(np.concatenate(self._truths)[drawn]),
        }
        for one in self._methods.values():
            found[f"{one.name}/ends"] = packed(np.concatenate(one.ends, axis=1)[:, drawn])
            found[f"{one.name}/held"] = np.concatenate(one.held, axis=1).tobytes()
        return found


def _quick(studies: Studies) -> int:
    """Return how many studies are counted: of added noise, then of selected points, then of whole releases, ever fewer."""
    if not isinstance(studies, ArrayStudies):
        return DRAWN
    return COUNTED if all(part.laws for part in studies.parts.values()) else COUNTED // 4


def _ends(
    studies: Studies, method: Method, parameter: float | None, level: float
) -> tuple[Floats, Floats] | None:
    """Return the ends of a method's intervals, shape (losses, studies); nothing where it has none."""
    if method.about != "dataset" and parameter is None:
        return None
    try:
        low, high = (np.asarray(end)[:, :, 0] for end in method(studies, level))
    except Unavailable:
        return None
    return low, high
