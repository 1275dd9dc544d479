"""dpnb's own mechanisms under audit: their whole output law on two neighbours, and their exact sampler as a callable.

An additive mechanism takes integer vectors; a selection takes what its ``probabilities`` takes. Nothing here knows a
mechanism by name: a law that the mechanism declares is enumerated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.audit.sampling import Floats
from dpnb.errors import PlanError
from dpnb.inference.law import Law, law_of
from dpnb.inference.seeded_bits import SeededBits
from dpnb.inference.selection_law import probabilities
from dpnb.risk.divergence import Pair, log_probability
from dpnb.trusted.aggregate.reference import LabelTally
from dpnb.trusted.mechanisms import AdditiveMechanism, KSExponential, Mechanism, Thresholding
from dpnb.trusted.noise.bits import BitSource

_TAIL = 1e-18
_MOST = 2_000_000
Listed = Callable[[Any], Sequence[Fraction | float]]
"""Of a dataset: the probability of each outcome."""


def _runs(mechanism: object) -> bool:
    return isinstance(mechanism, Mechanism) or hasattr(mechanism, "release")


@singledispatch
def _run(mechanism: Any, data: object, bits: BitSource) -> Any:
    """Run an exact sampler on what its law is listed for."""
    return mechanism.release(data, bits)


@_run.register
def _(mechanism: KSExponential, data: Any, bits: BitSource) -> tuple[int, ...]:
    """The placement alone, without its check."""
    return replace(mechanism, check=Fraction(0)).noised(data, bits)


@_run.register
def _(mechanism: Thresholding, data: Any, bits: BitSource) -> tuple[int, ...]:
    """Counts, each alone or with its sums, become those of labels: what does not occur has none."""
    totals = [(count, *sums) for count, *sums in map(np.atleast_1d, data)]
    labels = tuple((place,) for place, (count, *_) in enumerate(totals) if count)
    columns = (
        tuple(int(totals[place][at]) for (place,) in labels) for at in range(1 + len(mechanism.sum_scales))
    )
    counts, *sums = columns
    return mechanism.noised(LabelTally(labels, counts, tuple(sums)), bits)


def declared_pair(mechanism: object, first: Any, second: Any) -> Pair | None:
    """Return both output laws of one of dpnb's mechanisms, or None for anything else."""
    if not _runs(mechanism):
        return None
    if (law := _law(mechanism)) is not None:
        return _additive(law, list(np.ravel(first)), list(np.ravel(second)))
    if (listed := _listed(mechanism)) is not None and _one_choice(mechanism, first, second):
        one, two = (np.array([log_probability(p) for p in listed(data)]) for data in (first, second))
        return Pair([str(i) for i in range(len(one))], one, two)
    return None


def _law(mechanism: object) -> Law | None:
    """The law of the noise on one entry, where independent noise is added."""
    return law_of(mechanism) if isinstance(mechanism, AdditiveMechanism) else getattr(mechanism, "law", None)


def _listed(mechanism: object) -> Listed | None:
    """What lists the law of the whole output, where it can be listed."""
    if isinstance(mechanism, Mechanism):
        return lambda data: probabilities(mechanism, data)
    return cast("Listed | None", getattr(mechanism, "probabilities", None))


def _one_choice(mechanism: object, first: Sized, second: Sized) -> bool:
    """Whether `probabilities` is the law of the whole output: one pick from one cell. Otherwise it is run."""
    if getattr(mechanism, "picks", 1) != 1:
        return False
    places, size = getattr(mechanism, "places", None), getattr(mechanism, "size", None)
    cell = len(places) if isinstance(places, tuple) else size
    return not isinstance(cell, int) or len(first) == len(second) == cell


def _additive(law: Law, first: Sequence[int], second: Sequence[int]) -> Pair:
    """Return the joint law of the entries that differ; equal entries have equal laws and tell nothing."""
    if len(first) != len(second):
        raise PlanError("Neighbouring answers are integer vectors of one length.")
    moved = [(int(a), int(b)) for a, b in zip(first, second, strict=True) if a != b] or [(0, 0)]
    radius = law.tail_radius(_TAIL)
    spans = [np.arange(min(a, b) - radius, max(a, b) + radius + 1) for a, b in moved]
    if np.prod([float(span.size) for span in spans]) > _MOST:
        raise PlanError("This law has too many outcomes to list. Audit fewer entries, or method='sample'.")
    tables = [(_logs(law, span - a), _logs(law, span - b)) for span, (a, b) in zip(spans, moved, strict=True)]
    one, two = (_joined([table[side] for table in tables]) for side in (0, 1))
    grows = any(_grows(a - b) for a, b in tables)
    if len(moved) == 1:
        return Pair(_Numbers(spans[0]), one, two, grows)
    return Pair([str(tuple(map(int, cell))) for cell in product(*spans)], one, two, grows)


def _grows(ratio: Floats) -> bool:
    """Whether a log-ratio is still rising at an end of its span."""
    ends = np.abs(ratio)[[0, 1, -2, -1]]
    return bool(ends[0] > ends[1] + 1e-9 or ends[3] > ends[2] + 1e-9)


class _Numbers(Sequence[str]):
    """Grid points, written when they are asked for."""

    def __init__(self, points: NDArray[np.int64]) -> None:
        self._points = points

    def __getitem__(self, at: Any) -> Any:
        return str(int(self._points[at]))

    def __len__(self) -> int:
        return len(self._points)


def _logs(law: Law, at: NDArray[np.int64]) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(law.pmf(at))


def _joined(logs: list[Floats]) -> Floats:
    total = logs[0]
    for more in logs[1:]:
        total = np.add.outer(total, more).ravel()
    return total


def declared_runner(mechanism: object) -> Callable[..., Any] | None:
    """Return one of dpnb's mechanisms as a callable that runs its exact sampler, or None for anything else."""
    if not _runs(mechanism):
        return None
    if _law(mechanism) is not None:
        return lambda data, size, rng: _many(mechanism, data, size, rng)
    bits = SeededBits(20)
    return lambda data: _run(mechanism, data, bits)


def _many(mechanism: Any, data: ArrayLike, size: int, rng: np.random.Generator) -> Floats:
    entries = [int(entry) for entry in np.ravel(data)]
    drawn = mechanism.release(entries * size, SeededBits(int(rng.integers(2**62))))
    return np.asarray(drawn, dtype=np.float64).reshape(size, len(entries))
