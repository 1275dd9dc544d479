"""Coverage that breathes: the same studies with the same random numbers at 25 losses, as the page needs them for a drag.

Numbers travel packed: the ends and answers of forty studies as 32-bit floats, and which of all studies held as bits.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.simulate.coverage import Run
from dpnb.simulate.design import Design
from dpnb.simulate.intervals import Method
from dpnb.simulate.studies import ArrayStudies, Studies
from dpnb.simulate.watching import Seen, seen_under
from dpnb.trusted.errors import Unavailable

#: How many studies are drawn, and how many are counted at most.
DRAWN, COUNTED = 40, 1000
_ENDS = {"epsilon": (0.01, 10.0), "rho": (0.0005, 5.0)}
_LOSSES = 25

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


def packed(values: NDArray[Any]) -> str:
    """Return numbers as little-endian 32-bit floats, in base 64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode()


def bits(flags: NDArray[np.bool_]) -> str:
    """Return flags as bits, each row filled up to whole bytes, the first flag in the lowest bit; in base 64."""
    return base64.b64encode(np.packbits(flags, axis=-1, bitorder="little").tobytes()).decode()


@dataclass(frozen=True, slots=True, eq=False)
class Breath:
    """Studies of one size at many losses that share their random numbers.

    Parameters
    ----------
    design : Design
        With common noise.
    """

    design: Design

    def to_json(self) -> dict[str, Any]:
        """Simulate the studies, and return what the page draws."""
        run = Run(self.design, self.design.sizes[0])
        studies, truth = self._drawn(run)
        parameter = None if run.parameter is None else float(run.parameter[0])
        methods = [
            _method(studies, one, truth, parameter, self.design.levels[0]) for one in self.design.methods
        ]
        return {
            "values": [float(loss.amount) for loss in self.design.losses],
            "studies": int(truth.size),
            "answers": packed(studies.value[:, :DRAWN, 0]),
            "truths": packed(truth[:DRAWN]),
            "parameter": parameter,
            "methods": [one for one in methods if one is not None],
        }

    def _drawn(self, run: Run) -> tuple[Studies, Floats]:
        """Return the studies that are shown, and as many more as one block has where they are quick."""
        most = min(self.design.reps, run.size)
        studies, block = run.draw(0, min(DRAWN, most))
        more = min(most, _quick(studies))
        if more > DRAWN:
            studies, block = run.draw(0, more)
        return studies, run.truth(block)[:, 0]


def _quick(studies: Studies) -> int:
    """Return how many studies take no more than a second or so: added noise, then selected points, then whole releases."""
    if not isinstance(studies, ArrayStudies):
        return DRAWN
    return COUNTED if all(part.laws for part in studies.parts.values()) else COUNTED // 4


def _method(
    studies: Studies, method: Method, truth: Floats, parameter: float | None, level: float
) -> dict[str, Any] | None:
    if method.about != "dataset" and parameter is None:
        return None
    try:
        low, high = (np.asarray(end)[:, :, 0] for end in method(studies, level))
    except Unavailable:
        return None
    target = truth if parameter is None or method.about == "dataset" else np.full(truth.size, parameter)
    seen: list[Seen] = [seen_under((a, b), target, 0, (0, 0)) for a, b in zip(low, high, strict=True)]
    there = ~np.isnan(low) & ~np.isnan(high)
    return {
        "name": method.name,
        "about": method.about,
        "ends": packed(np.stack([low[:, :DRAWN], high[:, :DRAWN]], axis=-1)),
        "held": bits(np.stack([one.held for one in seen]) & there),
        "known": "" if there.all() else bits(there),
    }
