"""Simulated releases of one block of studies, at every loss: drawn by the mechanisms, concluded by the statistics.

Several kinds with one face, :class:`Studies`. :class:`ArrayStudies` holds the noised integers of all studies as arrays and concludes them at once,
with the formulas of a release. :class:`ReleaseStudies` makes every release by itself and calls its ``conclude``: slower, and
right for every statistic. Neither sees more than a release does; what is true lies elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.datasets.exact_answers import answer
from dpnb.errors import Unavailable
from dpnb.inference.law import law_of
from dpnb.inference.selection_law import rank_radius
from dpnb.inference.simulated_release import add_noise, released_parts, simulated_draws, state_of
from dpnb.planner import PricedQuestion
from dpnb.planner.check import CheckedQuestion
from dpnb.simulate.exact import Block, histograms, totals
from dpnb.simulate.intervals import Ends
from dpnb.simulate.populations import Floats
from dpnb.statistics import Result, conclude
from dpnb.statistics.released import SimulatedPart
from dpnb.trusted.aggregate.algebra import Total, ValueCounts
from dpnb.trusted.aggregate.reference import Table
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import (
    AdditiveMechanism,
    DiscreteGaussian,
    DiscreteLaplace,
    QuantileFlip,
    QuantileSelection,
)
from dpnb.trusted.mechanisms.exponential import FLOOR
from dpnb.trusted.releases import Release, ReleasedPart


@dataclass(eq=False)
class Studies(ABC):
    """A block of studies as an interval method sees it: arrays of shape (losses, studies, entries).

    Parameters
    ----------
    items : tuple of PricedQuestion
        The question at each loss.
    rng : Generator
        For interval methods that draw.
    """

    items: tuple[PricedQuestion, ...]
    rng: np.random.Generator

    @abstractmethod
    def _figure(self, name: str) -> Floats | None:
        """Return the figure of that name for every answer; nothing where there is none."""

    @property
    def checked(self) -> CheckedQuestion:
        """The question."""
        return self.items[0].checked

    @cached_property
    def value(self) -> Floats:
        """The answers."""
        found = self._figure("value")
        assert found is not None
        return found

    @property
    def shape(self) -> tuple[int, int, int]:
        """Losses, studies and entries of an answer."""
        losses, studies, entries = self.value.shape
        return losses, studies, entries

    @cached_property
    def noise_variance(self) -> Floats:
        """Their variances from the mechanism, as each release says."""
        found = self._figure("noise_variance")
        return np.full(self.shape, np.nan) if found is None else found

    @cached_property
    def sampling_variance(self) -> Floats | None:
        """Their variances from sampling, as each release says; nothing where no population is meant."""
        return self._figure("sampling_variance")

    @cached_property
    def standard_error(self) -> Floats | None:
        """Roots of both variances together."""
        return self._figure("standard_error")

    @property
    def n(self) -> Floats | None:
        """Rows behind each answer, as released."""
        return self._figure("n")

    @property
    def n_eff(self) -> Floats | None:
        """Rows without noise that would be as accurate."""
        return self._figure("n_eff")

    @property
    @abstractmethod
    def flags(self) -> dict[str, NDArray[np.bool_]]:
        """Each warning, and where it is up."""

    @abstractmethod
    def interval(self, level: float, kind: str) -> Ends:
        """Return the release's own intervals; not a number where there is none."""

    @abstractmethod
    def release(self, loss: int, study: int) -> Release:
        """Return one simulated release, as a curator would have written it."""


@dataclass(eq=False)
class ArrayStudies(Studies):
    """Studies whose answers are concluded all at once.

    Parameters
    ----------
    items, rng
        As of all studies.
    parts : mapping of str to SimulatedPart
        The noised integers, arrays of shape (losses, studies, cells).
    states : sequence of str
        Of each loss's generator before its noise was drawn.
    """

    parts: Mapping[str, SimulatedPart]
    states: Sequence[str]

    @cached_property
    def cell(self) -> Any:
        """All entries at once."""
        return self.checked.kind.entries(self.checked.setting, self.parts)

    def _figure(self, name: str) -> Floats | None:
        """Return a figure of the cell; entries to which a formula does not apply are chosen away, not warned about."""
        if name == "standard_error":
            sampling = self.sampling_variance
            return None if sampling is None else np.sqrt(sampling + self.noise_variance)
        with np.errstate(all="ignore"):
            values = getattr(self.cell, name)
        if values is None:
            return None
        found = np.asarray(values, dtype=float)
        return found if name == "value" else np.broadcast_to(found, self.shape)

    @property
    def flags(self) -> dict[str, NDArray[np.bool_]]:
        """Each warning, and where it is up."""
        with np.errstate(all="ignore"):
            raised = self.cell.raised
        return {name: np.broadcast_to(up, self.shape) for name, up in raised.items()}

    def interval(self, level: float, kind: str) -> Ends:
        """Return the release's own intervals."""
        with np.errstate(all="ignore"):
            ends = self.cell.privacy(level) if kind == "privacy" else self.cell.confidence(level)
        low, high = (np.broadcast_to(np.asarray(end, dtype=float), self.shape) for end in ends)
        return low, high

    def release(self, loss: int, study: int) -> Release:
        """Return one simulated release."""
        item = self.items[loss]
        ids = simulated_draws(item.parts, self.states[loss], study)
        parts = tuple(
            ReleasedPart(
                part.name,
                part.mechanism.record,
                tuple(int(v) for v in self.parts[part.name].values[loss, study]),
                draw,
            )
            for part, draw in zip(item.parts, ids, strict=True)
        )
        return _recorded(item, parts)


@dataclass(eq=False)
class ReleaseStudies(Studies):
    """Studies that are released and concluded one by one.

    Parameters
    ----------
    items, rng
        As of all studies.
    releases : sequence of sequence of Release
        For each loss, the releases of all studies.
    """

    releases: Sequence[Sequence[Release]]

    @cached_property
    def results(self) -> list[list[Result]]:
        """What is concluded from each release."""
        return [[conclude(self.checked, [release]) for release in row] for row in self.releases]

    def _figure(self, name: str) -> Floats | None:
        if name == "noise_variance":
            sd = self._figure("noise_sd")
            return None if sd is None else sd**2
        if name == "sampling_variance":
            error = self.standard_error
            return None if error is None else np.maximum(error**2 - self.noise_variance, 0.0)
        found = [[getattr(result, name) for result in row] for row in self.results]
        if any(value is None for row in found for value in row):
            return None
        return np.array([[np.ravel(np.asarray(value, dtype=float)) for value in row] for row in found])

    @property
    def flags(self) -> dict[str, NDArray[np.bool_]]:
        """Each warning, and where it is up."""
        names = dict.fromkeys(flag for row in self.results for result in row for flag in result.flags)
        up = {
            name: np.array([[[name in cell for cell in r.cell_flags] for r in row] for row in self.results])
            for name in names
        }
        return {name: np.broadcast_to(where, self.shape) for name, where in up.items()}

    def interval(self, level: float, kind: str) -> Ends:
        """Return the release's own intervals; raise only where none of them has one."""
        low, high = np.full((2, *self.shape), np.nan)
        missing: Unavailable | None = None
        for i, row in enumerate(self.results):
            for j, result in enumerate(row):
                try:
                    found = result.interval(level, kind)
                except Unavailable as error:
                    missing = error
                    continue
                low[i, j], high[i, j] = (
                    np.ravel(np.asarray(e, dtype=float)) for e in (found.low, found.high)
                )
        if missing is not None and np.isnan(low).all():
            raise missing
        return low, high

    def release(self, loss: int, study: int) -> Release:
        """Return one simulated release."""
        return self.releases[loss][study]


@dataclass(eq=False)
class StackedStudies(Studies):
    """Studies at losses that answer a question by different measurements: those of each kind side by side.

    Parameters
    ----------
    items, rng
        As of all studies.
    places : sequence of sequence of int
        Which losses are of each kind.
    kinds : sequence of Studies
    """

    places: Sequence[Sequence[int]]
    kinds: Sequence[Studies]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Losses, studies and entries of an answer."""
        return (len(self.items), *self.kinds[0].shape[1:])

    def _side_by_side(self, found: Sequence[ArrayLike], dtype: type = float) -> NDArray[Any]:
        stacked: NDArray[Any] = np.zeros(self.shape, dtype=dtype)
        for places, values in zip(self.places, found, strict=True):
            stacked[list(places)] = values
        return stacked

    def _figure(self, name: str) -> Floats | None:
        """Return a figure at every loss: not a number where a kind has none, nothing where none has."""
        found = [getattr(studies, name) for studies in self.kinds]
        if all(values is None for values in found):
            return None
        return self._side_by_side([np.nan if values is None else values for values in found])

    @property
    def flags(self) -> dict[str, NDArray[np.bool_]]:
        """Each warning, and where it is up."""
        found = [studies.flags for studies in self.kinds]
        names = dict.fromkeys(name for flags in found for name in flags)
        return {
            name: self._side_by_side([flags.get(name, False) for flags in found], np.bool_) for name in names
        }

    def interval(self, level: float, kind: str) -> Ends:
        """Return the release's own intervals; raise where a kind has none."""
        found = [studies.interval(level, kind) for studies in self.kinds]
        return self._side_by_side([low for low, _ in found]), self._side_by_side([high for _, high in found])

    def release(self, loss: int, study: int) -> Release:
        """Return one simulated release."""
        for places, studies in zip(self.places, self.kinds, strict=True):
            if loss in places:
                return studies.release(places.index(loss), study)
        raise IndexError(loss)


_LEAST = 2.0**-54
"""Half the gap between uniforms, for a uniform of 0: its quantile is finite."""


def draw(
    items: tuple[PricedQuestion, ...],
    block: Block,
    noise: Sequence[np.random.Generator],
    rng: np.random.Generator,
    *,
    common: bool = False,
) -> Studies:
    """Release a block of studies at every loss.

    Parameters
    ----------
    items : tuple of PricedQuestion
        The question at each loss.
    block : Block
        The studies' rows.
    noise : sequence of Generator
        One for each loss: its mechanisms' noise.
    rng : Generator
        For interval methods that draw.
    common : bool
        Whether the generators of all losses start alike: added noise is then inverted from their uniforms, and so never
        grows when a loss does. A grid point is always selected by inversion.
    """
    kinds: dict[tuple[str, ...], list[int]] = {}
    for loss, item in enumerate(items):
        kinds.setdefault(tuple(part.name for part in item.parts), []).append(loss)
    if len(kinds) > 1:
        found = [
            draw(tuple(items[i] for i in one), block, [noise[i] for i in one], rng, common=common)
            for one in kinds.values()
        ]
        return StackedStudies(items, rng, list(kinds.values()), found)
    if _concludes_arrays(items[0].checked.kind):
        added = [
            i for i, p in enumerate(items[0].parts) if isinstance(p.request, Total) and _additive(p.mechanism)
        ]
        selected = [i for i, part in enumerate(items[0].parts) if _dense(part)]
        if len(added) + len(selected) == len(items[0].parts):
            states = [state_of(one) for one in noise]
            parts = _added(items, added, block, noise, common=common) | _selected(
                items, selected, block, noise
            )
            return ArrayStudies(items, rng, parts, states)
    return ReleaseStudies(items, rng, _released(items, block, noise))


def _concludes_arrays(statistic: object) -> bool:
    """Whether ``entries`` speaks for ``conclude``: a statistic that inherits the one and has the other anew is not taken by it."""
    owners = [
        next((c for c in type(statistic).__mro__ if n in vars(c)), None) for n in ("entries", "conclude")
    ]
    entries, concluding = owners
    return entries is not None and concluding is not None and issubclass(entries, concluding)


def _additive(mechanism: object) -> bool:
    return isinstance(mechanism, DiscreteLaplace | DiscreteGaussian)


def _dense(part: Measurement) -> bool:
    if not isinstance(part.request, ValueCounts) or not isinstance(part.mechanism, QuantileSelection):
        return False
    return part.mechanism.steps <= MOST_STEPS


def _added(
    items: tuple[PricedQuestion, ...],
    places: Sequence[int],
    block: Block,
    noise: Sequence[np.random.Generator],
    *,
    common: bool,
) -> dict[str, SimulatedPart]:
    """Add simulated noise of every loss to the exact answers of some parts, which all losses share."""
    parts = [items[0].parts[place] for place in places]
    exact = totals(block, [part.request for part in parts])  # type: ignore[misc]
    found = {}
    for place, part, answers in zip(places, parts, exact, strict=True):
        mechanisms: list[Any] = [item.parts[place].mechanism for item in items]
        simulated = inverted if common else _simulated
        values = [simulated(m, answers, rng) for m, rng in zip(mechanisms, noise, strict=True)]
        laws = tuple(law_of(mechanism) for mechanism in mechanisms)
        found[part.name] = SimulatedPart(part.name, np.stack(values).astype(float), laws)
    return found


def _simulated(
    mechanism: AdditiveMechanism, answers: Floats | NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    return np.asarray(add_noise(mechanism, answers, rng))


def inverted(
    mechanism: DiscreteLaplace | DiscreteGaussian,
    answers: Floats | NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Add noise that is the quantile of a uniform, by the mechanism's own law.

    One uniform a number, whatever the scale: generators that start alike give every scale the same uniforms. The quantile of a
    uniform has exactly the law (inversion), up to the 2⁻⁵³ between the uniforms that there are.
    """
    uniform = np.maximum(rng.random(np.shape(answers)), _LEAST)
    return np.asarray(answers + law_of(mechanism).quantile(uniform), dtype=float)


def _selection(part: Measurement) -> QuantileSelection:
    assert isinstance(part.mechanism, QuantileSelection)
    return part.mechanism


def _selected(
    items: tuple[PricedQuestion, ...],
    places: Sequence[int],
    block: Block,
    noise: Sequence[np.random.Generator],
) -> dict[str, SimulatedPart]:
    """Select grid points of some parts for all studies at once, from each study's histogram on the whole grid."""
    counts: dict[ValueCounts, NDArray[np.int64]] = {}
    found = {}
    for place in places:
        part = items[0].parts[place]
        request = part.request
        assert isinstance(request, ValueCounts)
        mechanisms = [_selection(item.parts[place]) for item in items]
        if request not in counts:
            steps = mechanisms[0].steps
            counts[request] = histograms(block, request.value, request.where, request.keys, steps)
        chosen = [select(one, counts[request], rng) for one, rng in zip(mechanisms, noise, strict=True)]
        radii = tuple(rank_radius(one, 0.05) for one in mechanisms)
        found[part.name] = SimulatedPart(part.name, np.stack(chosen).astype(float), (), radii)
    return found


def _released(
    items: tuple[PricedQuestion, ...], block: Block, noise: Sequence[np.random.Generator]
) -> list[list[Release]]:
    """Release study by study, as a curator does, with simulated noise."""
    requests = [part.request for part in items[0].parts]
    exact = [answer(block.study(place), requests) for place in range(block.studies)]
    return [[_one(item, answers, rng) for answers in exact] for item, rng in zip(items, noise, strict=True)]


def released(item: PricedQuestion, table: Table, rng: np.random.Generator) -> Release:
    """Return one simulated release of a priced question: exact answers from a prepared table, noise from a generator.

    Examples
    --------
    It is what a curator makes of a question, but for the entropy: ``conclude(item.checked, [released(item, table, rng)])``.
    """
    return _one(item, answer(table, [part.request for part in item.parts]), rng)


def _one(item: PricedQuestion, exact: Sequence[object], rng: np.random.Generator) -> Release:
    return _recorded(item, released_parts(item.parts, exact, rng))


def _recorded(item: PricedQuestion, parts: tuple[ReleasedPart, ...]) -> Release:
    """Return the record of simulated parts; the first draw names it."""
    return Release(parts[0].draw, item.key, "simulated", "simulated", parts, item.loss)


MOST_STEPS = 2**12
_AT_ONCE = 2_000_000


def select(
    mechanism: QuantileSelection, counts: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Select one grid point for each histogram: a quantile's exponential mechanism, or permute-and-flip, for many studies at once.

    The law is that of :class:`dpnb.trusted.mechanisms.QuantileSelection`, its weights with their floor included, or of
    :class:`dpnb.trusted.mechanisms.QuantileFlip`, as a maximum with exponential noise; in floating point.

    Parameters
    ----------
    mechanism : QuantileSelection or QuantileFlip
        With a grid of at most 4,096 steps.
    counts : ndarray of int, shape (..., steps + 1)
        How often each grid point occurs.
    rng : Generator
        Source of randomness.

    Returns
    -------
    ndarray of int64, shape (...)
    """
    flat = counts.reshape(-1, mechanism.steps + 1)
    piece = max(1, _AT_ONCE // (mechanism.steps + 1))
    blocks = [flat[at : at + piece] for at in range(0, len(flat), piece)]
    if isinstance(mechanism, QuantileFlip):
        found = [_noisiest(mechanism, block, rng) for block in blocks]
    else:
        found = [_inverted(weights(mechanism, block), rng.random(len(block))) for block in blocks]
    return np.concatenate(found).reshape(counts.shape[:-1])


def _noisiest(
    mechanism: QuantileFlip, counts: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    noise = rng.standard_exponential(counts.shape)
    noise -= float(mechanism.inner) / 2 * misses(mechanism, counts)
    return np.asarray(noise.argmax(axis=-1), dtype=np.int64)


def weights(mechanism: QuantileSelection, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the weight of every grid point of every histogram, relative to the best point's."""
    floor = FLOOR / 2.0 ** (60 + mechanism.steps.bit_length())
    return np.asarray(np.maximum(np.exp(-float(mechanism.inner) / 2 * misses(mechanism, counts)), floor))


def misses(mechanism: QuantileSelection, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return by how many ranks more than the best point every grid point of every histogram misses."""
    upto = np.cumsum(counts, axis=-1).astype(float)
    below = upto - counts
    target = float(mechanism.q) * upto[:, -1:] + mechanism.offset
    too_high, too_low = below - target, target - upto
    too_high[:, 0] = too_low[:, -1] = -(2.0**62)
    miss = np.maximum(too_high, too_low)
    miss -= miss.min(axis=-1, keepdims=True)
    return np.asarray(miss)


def _inverted(weight: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    cumulative = np.cumsum(weight, axis=-1)
    return np.asarray((cumulative <= (uniform * cumulative[:, -1])[:, None]).sum(axis=-1), dtype=np.int64)
