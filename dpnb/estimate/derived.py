r"""Error propagation for derived values: what a plan says of their ± before anything is spent.

A plan knows no answer. Three things can be said without one, and where none of them holds nothing is said:

*sum*
    The expression is linear in the answers. Its error is the same whatever they are: a sum of independent noises, whose 95 %
    radius is read from :class:`~dpnb.inference.NoiseSum`, the law that intervals are computed with.
*one*
    The expression is a function of one answer. Its interval will be the image of that answer's interval
    (:mod:`dpnb.estimate.draws`), so the widest image over the public range is a bound; the image around the middle of the range
    is given beside it.
*many*
    The expression is a smooth function of several answers. To first order its error is a sum with the partial derivatives as
    coefficients: given in the middle of the public ranges, and at its largest over a grid of them where no denominator can be zero.

Where the number of rows behind an answer is private and the plan assumes none, what is said holds if all public rows count, and says so.
The front end computes the same while a divider is dragged (``labextension/src/maths/forecast.ts``): the coefficients do not
depend on how the loss is split. What may never change: nothing here reads an answer that is not released.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import Unavailable
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.estimate.evaluate import Expression, Poles, evaluate, nodes
from dpnb.inference import NoiseSum
from dpnb.planner.forecast import LEVEL, NORMAL, Forecast, Law, Term
from dpnb.planner.price import PricedQuestion
from dpnb.statistics import Pricing
from dpnb.statistics._base import all_count
from dpnb.trusted.aggregate.algebra import Request

_RADII, _CENTRES, _WINDOW = 41, 401, 33
_MOST_TERMS, _MOST_SOURCES, _MOST_VALUES, _MOST_ENTRIES, _MOST_POINTS = 64, 6, 100, 2_000, 24
_STEP = 1e-4

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Source:
    """A question under derived values: the law of its noise, its public range, and its answer where that is known.

    Parameters
    ----------
    measurement : PendingQuestion
    law : Law or None
        None where no ± is known before the answer.
    low, high : float
        Public range of its entries.
    known : array, optional
        Its answer, where it is public or released already.
    apart : bool
        Whether its entries have independent noise.
    assumed : int, optional
        The rows that its law takes to count, where their number is private and none was planned with.
    stored : bool
        Whether its ± is that of its stored answer, for which no rows were assumed.
    asks : frozenset of Request
        What it measures: the noise of two questions that measure one thing is not independent.
    """

    measurement: PendingQuestion
    law: Law | None
    low: float
    high: float
    known: Array | None = None
    apart: bool = False
    assumed: int | None = None
    stored: bool = False
    asks: frozenset[Request] = frozenset()


def law_of(item: PricedQuestion, pricing: Pricing, size: float | None) -> Law | None:
    """Return the shape of a question's noise, at any loss; None where no ± is known before the answer."""
    setting, kind = item.checked.setting, item.checked.kind
    if kind.half_width(setting, pricing, size) is None:
        return None
    law = kind.entry_noise(setting, pricing, size)
    return NORMAL if law is None else _shape(law)


def _shape(law: NoiseSum) -> Law:
    bare = NoiseSum(law.variance, law.scales)
    whole = float(bare.radius(LEVEL))
    if whole <= 0:
        return NORMAL
    return Law(math.sqrt(law.variance) / whole, tuple(b / whole for b in law.scales if b > 0))


def forecast(estimate: Estimate, sources: Sequence[Source]) -> Forecast:
    """Return what can be said of the ± of a derived value.

    Parameters
    ----------
    estimate : Estimate
        Arithmetic on the questions, pending or released.
    sources : sequence of Source
        The questions of the plan, and released ones under the value.
    """
    try:
        space = _Space(estimate, sources)
        found = space.linear() or space.image() or space.slopes()
        return found if found.kind == "none" else replace(found, given=space.given())
    except _NotSaid as reason:
        return Forecast("none", why=str(reason))


class _NotSaid(Exception):
    """Why no ± can be given."""


def _key(measurement: PendingQuestion) -> Hashable:
    """What is one question, however often it was written."""
    question = measurement.question
    return question.canonical() if hasattr(question, "canonical") else id(measurement)


class _Space:
    """The numbers that an expression is a function of: entries of the questions under it."""

    def __init__(self, estimate: Estimate, sources: Sequence[Source]) -> None:
        self._estimate, self._sources = estimate, sources
        self._places = {_key(one.measurement): i for i, one in enumerate(sources)}
        if estimate.size > _MOST_VALUES:
            raise _NotSaid("known after the release: it is many values at once")
        used = [self._place(leaf) for leaf in estimate.leaves()]
        if any(node.op is None and node.args[0].root is not node.args[0] for node in nodes([estimate])):
            raise _NotSaid("known after the release: it is read from an answer")
        # one question that was written twice is one number
        self._free = [place for place in dict.fromkeys(used) if sources[place].known is None]
        if not self._free:
            raise _NotSaid("nothing in it is asked again")
        asked = [request for place in self._free for request in sources[place].asks]
        if len(set(asked)) < len(asked):
            raise _NotSaid("known after the release: its answers share a measurement")
        self._slices, start = {}, 0
        for place in self._free:
            size = math.prod(sources[place].measurement.shape or ())
            self._slices[place] = slice(start, start + size)
            start += size
        self._size = start
        if start > _MOST_ENTRIES:
            raise _NotSaid("known after the release: it is computed from many values")

    def _place(self, leaf: PendingQuestion) -> int:
        place = self._places.get(_key(leaf))
        if place is None or self._sources[place].law is None or leaf.shape is None:
            raise _NotSaid(f"known after the release, as that of {leaf.text}")
        return place

    def at(self, points: Array, poles: Poles | None = None) -> Array:
        """Evaluate the expression at points, shape ``(count, size)``; the result has ``(count, values)``."""

        def leaf(node: Expression) -> Array:
            place = self._places[_key(node.args[0])]
            known = self._sources[place].known
            if known is not None:
                return np.broadcast_to(known.reshape(node.shape), (len(points), *node.shape))
            return points[:, self._slices[place]].reshape(len(points), *node.shape)

        found = evaluate(self._estimate, leaf, lead=1, poles=poles)
        return np.broadcast_to(found, (len(points), *self._estimate.shape)).reshape(len(points), -1)

    def _bounds(self) -> tuple[Array, Array]:
        low, high = np.empty(self._size), np.empty(self._size)
        for place, part in self._slices.items():
            low[part], high[part] = self._sources[place].low, self._sources[place].high
        return low, high

    def given(self) -> str:
        """What the laws take for granted."""
        used = [self._sources[place] for place in self._free]
        rows = {one.assumed for one in used if one.assumed is not None and not one.stored}
        return all_count(used[0].measurement.checked.setting.unit, *rows) if rows else ""

    # linear ----------------------------------------------------------------------------------------------------

    def linear(self) -> Forecast | None:
        """The coefficients, where they are the same everywhere."""
        low, high = self._bounds()
        start = np.where(np.isfinite(low), low, 0.0)
        reach = np.where(np.isfinite(high - start), high - start, 1000.0)
        zero = self.at(start[None])
        with np.errstate(all="ignore"):
            slopes = (self.at(start + np.diag(reach)) - zero) / reach[:, None]
        if not np.isfinite(slopes).all():
            return None
        tried = start + reach * np.random.default_rng(0).random((8, self._size))
        told = zero + (tried - start) @ slopes
        scale = np.abs(slopes).T @ reach + np.abs(zero[0]) + 1e-300
        if not (np.abs(self.at(tried) - told) <= 1e-9 * scale).all():
            return None
        return Forecast("sum", points=self._front(slopes.T), each=self._estimate.size > 1)

    # one number ------------------------------------------------------------------------------------------------

    def image(self) -> Forecast | None:
        """The half-widths of the image of an interval, where the expression is a function of one number."""
        if self._size != 1:
            return None
        (low,), (high,) = self._bounds()
        if not math.isfinite(high - low):
            return Forecast("none", why="known after the release: the answer under it has no public range")
        poles = Poles()
        self.at(np.linspace(low, high, _CENTRES)[:, None], poles)
        if poles.crossed:
            return Forecast("none", why="known after the release: a denominator may be zero")
        radii = np.geomspace((high - low) * 1e-6, high - low, _RADII)
        rows = [self._image_at(low, high, float(r)) for r in radii]
        if not all(math.isfinite(x) for row in rows for x in row):
            return Forecast("none", why="known after the release: it is not defined over the whole range")
        return Forecast(
            "one", of=self._free[0], reach=tuple(rows), centre=(low + high) / 2, each=self._estimate.size > 1
        )

    def _image_at(self, low: float, high: float, reach: float) -> tuple[float, float, float]:
        """Radius; half-width of the image around the middle; the largest over the range."""
        ends = [low, low + reach, (low + high) / 2, high - reach, high]
        centres = np.concatenate([ends, np.linspace(low, high, _CENTRES)])
        steps = np.linspace(-reach, reach, _WINDOW)
        windows = np.clip(centres[:, None] + steps, low, high)
        values = self.at(windows.reshape(-1, 1)).reshape(len(centres), _WINDOW, -1)
        half = (values.max(axis=1) - values.min(axis=1)) / 2
        return reach, float(half[2].max()), float(half.max())

    # several numbers -------------------------------------------------------------------------------------------

    def slopes(self) -> Forecast:
        """Partial derivatives in the middle of the ranges, and over a grid of them."""
        low, high = self._bounds()
        if self._size > _MOST_SOURCES:
            return Forecast("none", why="known after the release: it is computed from many values")
        if not np.isfinite(high - low).all():
            return Forecast("none", why="known after the release: an answer under it has no public range")
        middle = self._gradients((low + high)[None] / 2)
        if not np.isfinite(middle).all():
            return Forecast("none", why="known after the release: it is not defined over the whole range")
        grid = np.array(list(itertools.product(*np.linspace(low, high, 5 if self._size <= 3 else 3).T)))
        poles = Poles()
        self.at(grid, poles)
        around = self._gradients(grid)
        bounded = not poles.crossed and bool(np.isfinite(around).all())
        points = self._front(around.reshape(-1, self._size)) if bounded else ()
        why = "" if bounded else "no bound: a denominator may be zero" if poles.crossed else "no bound"
        (terms,) = self._front(middle[0].reshape(-1, self._size), most=1)
        return Forecast("many", points=points, middle=terms, why=why, each=self._estimate.size > 1)

    def _gradients(self, points: Array) -> Array:
        """Central differences, one-sided at the ends of a range; shape ``(points, values, size)``."""
        low, high = self._bounds()
        columns = []
        for i in range(self._size):
            step = np.zeros(self._size)
            step[i] = _STEP * (high[i] - low[i])
            up, down = np.clip(points + step, low, high), np.clip(points - step, low, high)
            with np.errstate(all="ignore"):
                columns.append((self.at(up) - self.at(down)) / (up - down)[:, [i]])
        return np.stack(columns, axis=-1)

    # coefficients ----------------------------------------------------------------------------------------------

    def _front(self, slopes: Array, most: int = _MOST_POINTS) -> tuple[tuple[Term, ...], ...]:
        """The rows of coefficients that no other row is at least as large as, in every place; of too many, their largest."""
        size = np.unique(np.abs(slopes), axis=0)
        no_less = (size[None] >= size[:, None]).all(axis=2)
        some_more = np.asarray(size[None] > size[:, None]).any(axis=2)
        kept = size[~np.asarray(no_less & some_more).any(axis=1)]
        if len(kept) > most:
            kept = kept.max(axis=0)[None]
        return tuple(self._terms(row) for row in kept)

    def _terms(self, row: Array) -> tuple[Term, ...]:
        found = []
        for place, part in self._slices.items():
            entries = sorted((float(c) for c in row[part] if c > 0), reverse=True)
            if len(entries) > 1 and not self._sources[place].apart:
                raise _NotSaid("known after the release: how these entries go together is not planned")
            if entries:
                found.append((place, tuple(entries)))
        if sum(len(entries) for _, entries in found) > _MOST_TERMS:
            raise _NotSaid("known after the release: it is computed from many values")
        return tuple(found)


# ---------------------------------------------------------------- the questions under the values of a plan


def sources_of(
    items: Sequence[PricedQuestion],
    measurements: Sequence[PendingQuestion],
    estimates: Sequence[Estimate],
    size: float | None,
) -> tuple[list[Source], list[float | None]]:
    """Return the questions of a plan, then released ones under its derived values, and the 95 % radius of each.

    Parameters
    ----------
    items : sequence of PricedQuestion
    measurements : sequence of PendingQuestion
        One for each item.
    estimates : sequence of Estimate
        The derived values.
    size : float or None
        The number of people to plan with where the true one is private.
    """
    pairs = list(zip(items, measurements, strict=True))
    told = [_planned(item, one, size) for item, one in pairs]
    found, widths = [source for source, _ in told], [width for _, width in told]
    seen = {_key(one) for one in measurements}
    for estimate in estimates:
        for leaf in estimate.leaves():
            if leaf.released and _key(leaf) not in seen:
                seen.add(_key(leaf))
                source, width = _released(leaf)
                found.append(source)
                widths.append(width)
    return found, widths


def _planned(
    item: PricedQuestion, measurement: PendingQuestion, size: float | None
) -> tuple[Source, float | None]:
    """A question of the plan; where its ± needs a number of rows that is private, that of all rows."""
    checked, (low, high) = item.checked, item.checked.domain
    size = size if item.size is None else item.size
    if item.public_value is not None:
        known = np.asarray(item.public_value, dtype=np.float64)
        return Source(measurement, NORMAL, low, high, known=known), item.preview.half_width
    law, width, assumed = None, replace(item, own=None).preview.half_width, None
    if item.share is not None:
        pricing = Pricing(item.parts, item.rows)
        rows = checked.setting.at_most
        if width is None and size is None and rows is not None:
            width = checked.kind.half_width(checked.setting, pricing, float(rows))
            assumed = None if width is None else rows
        law = law_of(item, pricing, size if assumed is None else float(assumed))
    if size is not None and not math.isfinite(high) and checked.kind.counts:
        high = low + size
    asks = frozenset(part.request for part in item.parts)
    told = width if item.own is None else item.own
    stored, apart = item.own is not None, checked.kind.apart
    return Source(measurement, law, low, high, apart=apart, assumed=assumed, stored=stored, asks=asks), told


def _released(leaf: PendingQuestion) -> tuple[Source, float | None]:
    """An answer that is there already: it lies in its own interval, and takes part with that half-width."""
    outcome = leaf.outcome
    assert outcome is not None
    if not leaf.releases:
        return Source(leaf, NORMAL, 0.0, 0.0, known=np.asarray(outcome.value, dtype=np.float64)), 0.0
    try:
        pair = outcome.interval(1 - LEVEL, "privacy")
    except Unavailable:
        return Source(leaf, None, 0.0, 0.0), None
    low, high = float(np.min(pair.low)), float(np.max(pair.high))
    half = float(np.max(np.asarray(pair.high) - np.asarray(pair.low))) / 2
    good = math.isfinite(half) and half > 0
    return Source(leaf, NORMAL if good else None, low, high), half if good else None


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a plan says of its derived values.

    Parameters
    ----------
    names : tuple of str
    estimates : tuple of Estimate
    forecasts : tuple of Forecast
        One for each derived value.
    laws : tuple of Law or None
        Of the noise of each question of the plan, then of released ones.
    widths : tuple of float or None
        Their 95 % radii, as planned.
    questions : tuple of PendingQuestion
        Those questions.
    assumed : tuple of int or None
        The rows that a law and a radius take to count, where their number is private.
    """

    names: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    forecasts: tuple[Forecast, ...]
    laws: tuple[Law | None, ...]
    widths: tuple[float | None, ...]
    questions: tuple[PendingQuestion, ...]
    assumed: tuple[int | None, ...]

    @classmethod
    def of(
        cls,
        items: Sequence[PricedQuestion],
        measurements: Sequence[PendingQuestion],
        named: Sequence[tuple[str, Estimate]],
        size: float | None,
    ) -> Outlook:
        """Return the outlook of the derived values among some named estimates."""
        derived = [(name, one) for name, one in named if one.op is not None]
        sources, widths = sources_of(items, measurements, [one for _, one in derived], size)
        return cls(
            tuple(name for name, _ in derived),
            tuple(one for _, one in derived),
            tuple(forecast(one, sources) for _, one in derived),
            tuple(source.law for source in sources),
            tuple(widths),
            tuple(source.measurement for source in sources),
            tuple(source.assumed for source in sources),
        )
