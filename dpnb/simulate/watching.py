"""Watching a simulation: the same blocks of studies as :func:`dpnb.simulate.stream`, with the intervals of each block whole.

It adds nothing to the draws and takes nothing away: the counts of a simulation that was watched are those of one that was
not, to the bit. One size, one loss and one number are watched at a time, and memory does not grow with the number of studies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import PlanError
from dpnb.simulate.bootstrap import BootstrapStudy, stepped
from dpnb.simulate.coverage import Run
from dpnb.simulate.intervals import About, Ends, Method
from dpnb.simulate.populations import Floats
from dpnb.simulate.result import CoverageResult
from dpnb.simulate.studies import Studies
from dpnb.simulate.tally import holds, tally

POINTS = 20
"""In how many steps the running coverage of a block is told."""

Counts = tuple[int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """The studies of a block under one method.

    Parameters
    ----------
    low, high, truth : ndarray
        Ends of the intervals, and the values that they claim to contain; NaN if there is no interval.
    held : ndarray of bool
        Whether they do.
    running : tuple of (int, int, int)
        Studies so far, those of them that had an interval, and those whose interval contained its value, at some points of the block.
    """

    low: Floats
    high: Floats
    truth: Floats
    held: NDArray[np.bool_]
    running: tuple[Counts, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """A partial result, and what was seen of its last block.

    Parameters
    ----------
    result : CoverageResult or BootstrapStudy
        As :func:`dpnb.simulate.stream` or :func:`~dpnb.simulate.bootstrap_stream` would yield it.
    seen : dict of str to Seen
        By method; methods without intervals are not in it.
    values : ndarray
        The released numbers of the block.
    """

    result: CoverageResult | BootstrapStudy
    seen: dict[str, Seen]
    values: Floats


@dataclass(slots=True)
class _Recorder:
    """A method that remembers what it said last."""

    method: Method
    ends: list[Ends] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.method.name

    @property
    def about(self) -> About:
        return self.method.about

    def __call__(self, studies: Studies, level: float) -> Ends:
        found = self.method(studies, level)
        self.ends.append(found)
        return found


def watch(found: CoverageResult | BootstrapStudy) -> Iterator[Watched]:
    """Continue from a result, block after block, and show the intervals of each.

    Parameters
    ----------
    found : CoverageResult or BootstrapStudy
        Of one size, one loss and one level, or of one number of resamples; finished or not.

    Raises
    ------
    PlanError
        When there are several sizes, losses or levels: one picture shows one.
    """
    if isinstance(found, BootstrapStudy):
        if len(found.design.ks) > 1:
            raise PlanError("One number of resamples is watched at a time; sweep over the others.")
        return _resampling(found)
    design = found.design
    if max(len(design.sizes), len(design.losses), len(design.levels)) > 1:
        raise PlanError("One size, one loss and one level are watched at a time; sweep over the others.")
    return _watching(found)


def _watching(found: CoverageResult) -> Iterator[Watched]:
    design = found.design
    run = Run(design, design.sizes[0])
    while not found.complete:
        before = found.tallies[0]
        studies, block = run.draw(before.studies, min(run.size, design.reps - before.studies))
        truth = run.truth(block)
        recorders = [_Recorder(method) for method in design.methods]
        after = before + tally(studies, recorders, design.levels, truth, run.parameter)
        found = replace(found, tallies=(after,))
        seen = {}
        for recorder in recorders:
            target = truth[:, 0] if recorder.about == "dataset" else _everywhere(run.parameter, truth)
            if target is not None and recorder.ends:
                start = before.held.get((recorder.name, design.levels[0]))
                counts = (0, 0) if start is None else (int(start.studies[0, 0]), int(start.held[0, 0]))
                ends = tuple(np.asarray(end)[0, :, 0] for end in recorder.ends[0])
                seen[recorder.name] = seen_of_block((ends[0], ends[1]), target, before.studies, counts)
        yield Watched(found, seen, studies.value[0, :, 0])


def _resampling(found: BootstrapStudy) -> Iterator[Watched]:
    design, k = found.design, found.design.ks[0]
    while not found.complete:
        done, before = found.studies, found.tallies
        after, ends = stepped(design, before, done)
        found = replace(found, tallies=after)
        values = np.empty(0)
        seen: dict[str, Seen] = {}
        for kind in design.kinds:
            one = ends[k, kind]
            counts = (done, int(before[k, kind].published))
            truth = np.full(one.low.shape, one.truth)
            seen[kind] = seen_of_block((one.low, one.high), truth, done, counts, slack=0.0)
            values = one.estimate
        yield Watched(found, seen, values)


def _everywhere(parameter: Floats | None, truth: Floats) -> Floats | None:
    return None if parameter is None else np.full(truth.shape[0], parameter[0])


def seen_of_block(ends: Ends, truth: Floats, done: int, counts: tuple[int, int], slack: float = 1e-9) -> Seen:
    """Return what is seen of a block after so many studies, of which so many had an interval and so many held."""
    low, high = ends
    held = holds(low, high, truth, slack)
    there = ~np.isnan(low) & ~np.isnan(high) & ~np.isnan(truth)
    known, inside = counts[0] + np.cumsum(there), counts[1] + np.cumsum(held & there)
    places = np.unique(np.linspace(0, low.size - 1, min(POINTS, low.size)).round().astype(int))
    running = tuple((done + int(at) + 1, int(known[at]), int(inside[at])) for at in places)
    return Seen(low, high, truth, held, running)
