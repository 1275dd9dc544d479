"""The same studies with the same random numbers at 25 losses, so that the page can redraw coverage during a drag.

Numbers travel as 32-bit floats beside the facts, and which of all studies held as one byte each. The ends of the other studies
travel forty at a time, when the page asks for them.
Studies come in blocks: a first one that takes no time to speak of, and more while the page asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import Unavailable
from dpnb.simulate.coverage import Run
from dpnb.simulate.design import Design
from dpnb.simulate.intervals import Method
from dpnb.simulate.studies import ArrayStudies, Studies
from dpnb.simulate.watching import Seen, seen_under
from dpnb.statistics import BY_NAME

#: How many studies are drawn, and how many are counted at most.
DRAWN, COUNTED = 40, 1000
_FIRST, _BLOCK = 10, 240
_LEAST = 50
_ENDS = {"epsilon": (0.01, 10.0), "rho": (0.0005, 5.0)}
_LOSSES = 25
#: What is told of a study that has no interval, beside 0 for one that missed and 1 for one that held.
_NONE = 2

Floats = NDArray[np.float64]


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
        self._run = Run(design, design.sizes[0])
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
        seen: list[Seen] = [seen_under((a, b), target, 0, (0, 0)) for a, b in zip(low, high, strict=True)]
        there = ~np.isnan(low) & ~np.isnan(high)
        kept.ends.append(np.stack([low, high], axis=-1))
        kept.held.append(np.where(there, np.stack([one.held for one in seen]), _NONE).astype(np.uint8))

    def first(self, page: int) -> int:
        """Return the first study of a page of forty; of a page that is not there yet, of the first."""
        return page * DRAWN if 0 <= page * DRAWN < self.studies else 0

    def to_json(self, page: int = 0) -> dict[str, Any]:
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
