"""Events that may tell two neighbours apart: thresholds, equalities, bands, NaN, failure.

The event is chosen on one set of runs and tested on another, so that choosing costs nothing in certainty.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpnb.audit.sampling import Floats, Runs, clopper_pearson

Test = Callable[[Runs], NDArray[np.bool_]]
Score = Callable[[Runs], Floats]
Gain = Callable[[Floats, Floats], Floats]

_LEVELS = np.unique(np.concatenate([np.geomspace(1e-4, 0.5, 24), 1 - np.geomspace(1e-4, 0.5, 24)]))
_ATOMS = 48
_WIDEST = 12


@dataclass(frozen=True, slots=True)
class Event:
    """An event: a description, and a test of many runs."""

    words: str
    test: Test


def lower_bound(hits: Floats, others: Floats, trials: int, alpha: float, delta: float) -> Floats:
    """Return ``ln((p_low - δ)/q_high)``, at least 0, at total error probability `alpha`."""
    low, _ = clopper_pearson(hits, trials, alpha / 2)
    _, high = clopper_pearson(others, trials, alpha / 2)
    gain = np.maximum(low - delta, 0.0)
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(gain / high), 0.0)


def least_delta(hits: Floats, others: Floats, trials: int, alpha: float, epsilon: float) -> Floats:
    """Return ``p_low - e^ε q_high``, at least 0: a δ below it does not go with ε, at total error probability `alpha`."""
    low, _ = clopper_pearson(hits, trials, alpha / 2)
    _, high = clopper_pearson(others, trials, alpha / 2)
    return np.maximum(low - math.exp(min(epsilon, 700.0)) * high, 0.0)


def best_events(
    first: Runs, second: Runs, gains: Sequence[Gain], own: Sequence[Event] = ()
) -> list[tuple[Event, bool]]:
    """Return for every gain the event for which it is largest on these runs, and whether it is likelier in the second.

    Parameters
    ----------
    first, second : Runs
        Runs that serve for the choice alone.
    gains : sequence of callable
        What an event would show, from how often it happened in one and in the other.
    own : sequence of Event
        Events that the caller proposes; with them, no others are tried.
    """
    events: list[Event] = []
    counts: list[tuple[int, int]] = []
    for event, hits, others in _counted(own, first, second) if own else _candidates(first, second):
        events.append(event)
        counts.append((hits, others))
    table = np.array(counts, dtype=np.float64)
    return [_best(events, table, gain) for gain in gains]


def _best(events: Sequence[Event], table: Floats, gain: Gain) -> tuple[Event, bool]:
    forward, backward = gain(table[:, 0], table[:, 1]), gain(table[:, 1], table[:, 0])
    at = int(np.argmax(np.maximum(forward, backward)))
    return events[at], bool(backward[at] > forward[at])


def _counted(events: Sequence[Event], first: Runs, second: Runs) -> Iterator[tuple[Event, int, int]]:
    for event in events:
        yield event, int(event.test(first).sum()), int(event.test(second).sum())


def _candidates(first: Runs, second: Runs) -> Iterator[tuple[Event, int, int]]:
    """All ready-made events with their counts."""
    yield from _counted([Event("the mechanism fails", lambda runs: runs.raised)], first, second)
    if first.names:
        yield from _labels(first, second)
        return
    for words, score in _scores(first, second):
        yield from _undefined(words, score, first, second)
        one, two = (_finite(score(runs)) for runs in (first, second))
        if one.size + two.size:
            yield from _thresholds(words, score, one, two)
            yield from _equalities(words, score, one, two)


def _labels(first: Runs, second: Runs) -> Iterator[tuple[Event, int, int]]:
    codes, _ = _frequent(np.concatenate([first.values[:, 0], second.values[:, 0]]), 400)
    events = [
        Event(f"the output is {first.names[int(code)]}", _equal(_entry(0), code)) for code in codes.tolist()
    ]
    yield from _counted(events, first, second)


def _entry(place: int) -> Score:
    return lambda runs: runs.values[:, place]


def _equal(score: Score, value: float) -> Test:
    return lambda runs: (score(runs) == value) & ~runs.raised


def _between(score: Score, low: float, high: float) -> Test:
    """Whether a finite value lies above `low` and not above `high`."""

    def test(runs: Runs) -> NDArray[np.bool_]:
        values = score(runs)
        inside = np.isfinite(values)
        inside &= (values > low) & (values <= high)
        return inside

    return test


def _frequent(values: Floats, most: int) -> tuple[Floats, NDArray[np.int64]]:
    found, counts = np.unique(values, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:most]
    return found[order], counts[order]


def _scores(first: Runs, second: Runs) -> Iterator[tuple[str, Score]]:
    """Each number of the output (the most telling ones), and a linear score of all."""
    width = first.values.shape[1]
    if width == 1:
        yield "the output", _entry(0)
        yield _distance("the output", 0, first, second)
        return
    one, two = (np.where(np.isfinite(runs.values), runs.values, 0.0) for runs in (first, second))
    gap, spread = one.mean(axis=0) - two.mean(axis=0), one.std(axis=0) + two.std(axis=0) + 1e-300
    blank = np.isnan(first.values).any(axis=0) | np.isnan(second.values).any(axis=0)
    telling = np.argsort(-(np.abs(gap / spread) + 1e9 * blank), kind="stable")[:_WIDEST]
    for place in telling.tolist():
        yield f"output[{place}]", _entry(place)
    yield _distance(f"output[{telling[0]}]", int(telling[0]), first, second)
    weights = gap / spread**2
    if np.any(weights):
        weights = weights / np.abs(weights).max()
        yield _weighted(weights), lambda runs: np.where(np.isfinite(runs.values), runs.values, 0.0) @ weights


def _distance(words: str, place: int, first: Runs, second: Runs) -> tuple[str, Score]:
    """How far an entry lies from the middle of both: what a difference of scales shows."""
    pool = _finite(np.concatenate([first.values[:, place], second.values[:, place]]))
    middle = float(pool[pool.size // 2]) if pool.size else 0.0
    return f"|{words} - {_number(middle)}|", lambda runs: np.abs(runs.values[:, place] - middle)


def _weighted(weights: Floats) -> str:
    if weights.size > 4:
        return "a linear score of the output, fixed beforehand,"
    terms = [f"{w:+.2f}·output[{i}]" for i, w in enumerate(weights) if abs(w) >= 0.005]
    return " ".join(terms).removeprefix("+")


def _finite(values: Floats) -> Floats:
    return np.sort(values[np.isfinite(values)])


def _undefined(words: str, score: Score, first: Runs, second: Runs) -> Iterator[tuple[Event, int, int]]:
    yield from _counted(
        [
            Event(f"{words} is NaN", lambda runs: np.isnan(score(runs)) & ~runs.raised),
            Event(f"{words} is infinite", lambda runs: np.isinf(score(runs))),
        ],
        first,
        second,
    )


def _thresholds(words: str, score: Score, one: Floats, two: Floats) -> Iterator[tuple[Event, int, int]]:
    pool = np.sort(np.concatenate([one, two]))
    cuts = np.unique(
        np.concatenate([pool[((pool.size - 1) * _LEVELS).astype(np.int64)], pool[[0, -1]]])
    ).tolist()
    upto = [np.searchsorted(side, cuts, "right").tolist() for side in (one, two)]
    last, before = -math.inf, (0, 0)
    for cut, hits, others in zip(cuts, *upto, strict=True):
        at = _number(cut)
        yield Event(f"{words} ≤ {at}", _between(score, -math.inf, cut)), hits, others
        above = one.size - hits, two.size - others
        yield Event(f"{words} > {at}", _between(score, cut, math.inf)), *above
        band = Event(f"{_number(last)} < {words} ≤ {at}", _between(score, last, cut))
        yield band, hits - before[0], others - before[1]
        last, before = cut, (hits, others)


def _equalities(words: str, score: Score, one: Floats, two: Floats) -> Iterator[tuple[Event, int, int]]:
    values, counts = _frequent(np.concatenate([one, two]), _ATOMS)
    for value in values[counts > 2].tolist():
        yield (
            Event(f"{words} = {_number(value)}", _equal(score, value)),
            int(np.searchsorted(one, value, "right") - np.searchsorted(one, value, "left")),
            int(np.searchsorted(two, value, "right") - np.searchsorted(two, value, "left")),
        )


def _number(value: float) -> str:
    return f"{value:.6g}"
