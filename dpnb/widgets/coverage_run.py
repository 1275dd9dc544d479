"""What the coverage lab has simulated so far, one block of studies at a time: the kernel's half of the lab.

A run holds counts, the intervals of the last studies and a thinned curve of the running coverage: its size does not grow
with the number of studies. It can be left and taken up again; how it is cut changes nothing.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dpnb.simulate import CoverageResult, Watched, watch, wilson
from dpnb.simulate.intervals import Method
from dpnb.simulate.tally import Held

__all__ = ["StudyRun", "SweepRun", "with_methods"]

_POINTS = 120
_BINS = np.linspace(-4, 4, 33)
_SPREAD = 60


class StudyRun:
    """Studies of one size at one loss, watched.

    Parameters
    ----------
    found : CoverageResult
        Where it starts.
    """

    def __init__(self, found: CoverageResult) -> None:
        self.found = found
        self._blocks = watch(found)
        self._last: Watched | None = None
        self._trails: dict[str, list[tuple[int, int, int]]] = {}
        self._releases: dict[int, int] = {}
        self._width = 0.0

    def step(self) -> bool:
        """Simulate the next block; false where all studies are there."""
        watched = next(self._blocks, None)
        if watched is None:
            return False
        self.found, self._last = watched.result, watched
        for name, seen in watched.seen.items():
            self._trails[name] = _thinned([*self._trails.get(name, []), *seen.running])
        self._count(watched.values)
        return True

    def _count(self, values: np.ndarray) -> None:
        """Count the released numbers in bins whose width the first block decides."""
        values = values[np.isfinite(values)]
        if values.size and not self._width:
            low, high = np.quantile(values, [0.01, 0.99])
            self._width = float(high - low) / 24 or 1.0
        if values.size:
            places, counts = np.unique(np.floor(values / self._width).astype(int), return_counts=True)
            for place, count in zip(places, counts, strict=True):
                self._releases[int(place)] = self._releases.get(int(place), 0) + int(count)
            if len(self._releases) > 10 * _SPREAD:
                most = sorted(self._releases, key=lambda place: -self._releases[place])
                self._releases = {place: self._releases[place] for place in most[: 5 * _SPREAD]}

    def to_json(self) -> dict[str, Any]:
        """Return what is drawn."""
        return {
            "rows": [_row(self.found, method) for method in self.found.design.methods],
            "stack": {} if self._last is None else {k: _stack(v) for k, v in self._last.seen.items()},
            "trail": {name: [_point(one) for one in trail] for name, trail in self._trails.items()},
            "scores": self._scores(),
            "releases": self._histogram(),
            "errors": self._errors(),
        }

    def _scores(self) -> dict[str, Any] | None:
        """Return the shares of (estimate - truth) / standard error in bins of a quarter."""
        kept = self.found.tallies[0].kept if self.found.studies else {}
        for name in ("z", "noise z"):
            scores = kept.get(name, np.empty(0))
            scores = scores[np.isfinite(scores)]
            if scores.size:
                shares = np.histogram(np.clip(scores, -3.999, 3.999), _BINS)[0] / scores.size
                return {"low": -4.0, "step": 0.25, "shares": shares.tolist(), "noise": name != "z"}
        return None

    def _histogram(self) -> dict[str, Any] | None:
        if not self._releases:
            return None
        total, places = sum(self._releases.values()), sorted(self._releases)
        middle = max(places, key=self._releases.__getitem__)
        low, high = max(places[0], middle - _SPREAD), min(places[-1], middle + _SPREAD)
        shares = [self._releases.get(place, 0) / total for place in range(low, high + 1)]
        return {"low": low * self._width, "step": self._width, "shares": shares}

    def _errors(self) -> dict[str, Any] | None:
        """Return the shares of the standard errors, and of those that are zero."""
        kept = self.found.tallies[0].kept if self.found.studies else {}
        errors = kept.get("error", np.empty(0))
        errors = errors[np.isfinite(errors)]
        if not errors.size or not np.any(errors > 0):
            return None
        top = float(np.quantile(errors, 0.995)) * 1.02
        counts = np.histogram(np.clip(errors[errors > 0], 0, top * 0.9999), np.linspace(0, top, 31))[0]
        return {
            "low": 0.0,
            "step": top / 30,
            "shares": (counts / errors.size).tolist(),
            "zero": float(np.mean(errors == 0)),
        }


class SweepRun:
    """Coverage and width along losses or sizes.

    Parameters
    ----------
    found : CoverageResult
        Of several losses and one size, or of several sizes and one loss.
    """

    def __init__(self, found: CoverageResult) -> None:
        self.found = found
        self._blocks = found.resume()

    def step(self) -> bool:
        """Simulate the next block of every size; false where all studies are there."""
        found = next(self._blocks, None)
        if found is None:
            return False
        self.found = found
        return True

    def to_json(self) -> dict[str, Any]:
        """Return what is drawn: one row for each method, lists along what is varied."""
        design = self.found.design
        over_n = len(design.sizes) > 1
        values = list(design.sizes) if over_n else [float(loss.amount) for loss in design.losses]
        rows = [self._row(method) for method in design.methods] if self.found.studies else []
        return {"over": "n" if over_n else "loss", "values": values, "rows": rows}

    def _row(self, method: Method) -> dict[str, Any]:
        level = self.found.design.levels[0]
        parts = [tally.held[method.name, level] for tally in self.found.tallies]
        found = [_figures(held, place) for held in parts for place in range(held.studies.shape[0])]
        keys = ("coverage", "low", "high", "width")
        return {"name": method.name, **{key: [one[key] for one in found] for key in keys}}


def with_methods(found: CoverageResult, shown: list[str]) -> CoverageResult:
    """Return a result with some of its methods, in their order: what is on the screen."""
    methods = tuple(method for method in found.design.methods if method.name in shown)
    tallies = tuple(
        replace(tally, held={key: held for key, held in tally.held.items() if key[0] in shown})
        for tally in found.tallies
    )
    return CoverageResult(replace(found.design, methods=methods), tallies)


def _thinned(trail: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return every other point of a trail that has become long, and always the last."""
    return trail if len(trail) <= _POINTS else [*trail[:-1][::2], trail[-1]]


def _row(found: CoverageResult, method: Method) -> dict[str, Any]:
    row = {"name": method.name, "about": method.about}
    if not found.studies:
        return {**row, "studies": 0, "held": 0, **_figures(None, 0), "reason": ""}
    held = found.tallies[0].held[method.name, found.design.levels[0]]
    counts = {"studies": int(held.studies[0, 0]), "held": int(held.held[0, 0])}
    return {**row, **counts, **_figures(held, 0), "reason": held.reason}


def _figures(held: Held | None, place: int) -> dict[str, float | None]:
    studies = 0.0 if held is None else float(held.studies[place, 0])
    if held is None or not studies:
        return {"coverage": None, "low": None, "high": None, "width": None}
    inside = float(held.held[place, 0])
    low, high = wilson(inside, studies)
    width = float(held.width[place, 0]) / studies
    finite = width if math.isfinite(width) else None
    return {"coverage": inside / studies, "low": float(low), "high": float(high), "width": finite}


def _stack(seen: Any) -> list[list[Any]]:
    """Return [low, high, truth, held] of each study that is seen; nothing where there is no interval."""
    rows = []
    for low, high, truth, held in zip(seen.low, seen.high, seen.truth, seen.held, strict=True):
        ends = [float(low), float(high), float(truth)]
        rows.append([*(end if math.isfinite(end) else None for end in ends), bool(held)])
    return rows


def _point(one: tuple[int, int, int]) -> list[Any]:
    studies, known, inside = one
    if not known:
        return [studies, None, None, None]
    low, high = wilson(inside, known)
    return [studies, inside / known, float(low), float(high)]
