"""Intervals of derived estimates: the known noise, pushed through the expression.

A derived estimate is a function of releases. Where it is a function of *one number* of one release (``sqrt(c * (1 -
c))``), its interval is the image of that number's own interval, which covers whenever the original does. Otherwise
draws of the plausible true values are pushed through the graph; repeated calls agree.

Denominators that the noise cannot tell from zero follow Fieller: draws beyond the pole count against both ends, and
when they are more than the error rate the interval is unbounded and says so.

Each release is drawn once, by a generator that is seeded with the release's id: a release used twice is correlated with itself
exactly, and repeated calls agree. The noise of different releases is independent. Their *sampling* errors are not: answers about
the same rows move together in a way that no release tells. A confidence draw therefore takes each answer's sampling contribution
alone and adds the contributions comonotonically, all large together. Of normal errors with any correlation this is the sum with
the largest spread (``sd(X + Y) <= sd(X) + sd(Y)``), so the interval covers at least as stated, to first order in the errors.

Answers are drawn as the noise leaves them, beyond what is possible too: counts cut at 0 one by one would add up to too much. Only what a
function such as a root or a logarithm is taken of is cut to its domain, where that is defined.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

import numpy as np

from dpnb.errors import Unavailable
from dpnb.estimate.evaluate import Expression, Operand, Poles, evaluate, is_node, leaves, nodes, plain
from dpnb.estimate.operations import ARITHMETIC, Operation, Take
from dpnb.estimate.pending_question import PendingQuestion
from dpnb.estimate.reading import Reading
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Number, drawn_inside
from dpnb.inference.interval import Interval, Kind
from dpnb.statistics.released import draws_of

DRAWS = 10_000
FEWEST = 1_000
LARGEST = 200_000
MOST_SOURCES = 200
EXACT, PUSHED, DRAWN = (
    1e-12,
    5e-4,
    2e-3,
)  # the smallest 1 - level that intervals resolve: exact, of 10,000 draws, of 999
_CELLS = 2_000_000

Key = tuple[tuple[str, ...], str]
Answer = PendingQuestion | Reading


def key_of(measurement: Answer) -> Key:
    """What identifies the noise of a measurement: its draws, and the question asked of them."""
    return draws_of(measurement.releases), measurement.text


def sources(estimate: Expression) -> tuple[Key, ...]:
    """The distinct released answers under an expression, each a question or a reading of one."""
    found: dict[Key, None] = {}
    for node in nodes([estimate]):
        if node.op is None and node.args[0].releases:
            found[key_of(node.args[0])] = None
    return tuple(found)


def push(estimate: Expression, kind: Kind) -> tuple[np.ndarray, bool]:
    """Draws of a derived estimate, shape ``(count, *shape)``, and whether a denominator crossed zero.

    Parameters
    ----------
    estimate : Expression
        A released, derived estimate.
    kind : {"privacy", "confidence"}
        Whether the leaves are drawn with noise alone, or with sampling errors too.

    Raises
    ------
    Unavailable
        If the vector is too large, or a leaf cannot be drawn.
    """
    if estimate.size > LARGEST:
        raise Unavailable(
            f"An interval of {estimate.size:,} derived values at once is too large: index it first, for example x[:1000]."
        )
    found = sources(estimate)
    together = kind == "confidence" and len(found) > 1
    if together and len(found) > MOST_SOURCES:
        raise Unavailable(
            f"No confidence interval over {len(found):,} answers at once. Sum a vector of one question instead; what the "
            'noise hides is known: .interval(kind="privacy").'
        )
    poles, pieces = Poles(), []
    for chunk, rows in enumerate(_chunks([estimate])):
        if together:
            pieces.append(_together(estimate, rows, chunk, found, poles))
        else:
            sampled = frozenset(found) if kind == "confidence" else frozenset()
            pieces.append(evaluate(estimate, _Leaves(estimate, rows, chunk, sampled), lead=1, poles=poles))
    return (pieces[0] if len(pieces) == 1 else np.concatenate(pieces)), poles.crossed


def _chunks(estimates: Sequence[Expression]) -> list[int]:
    """How many draws to take at a time, so that memory is bounded."""
    size = sum(estimate.size for estimate in estimates)
    count = int(np.clip(_CELLS * 10 // max(size, 1), FEWEST, DRAWS))
    widest = max(node.size for node in nodes(estimates))
    rows = int(np.clip(_CELLS // max(widest, 1), 64, count))
    return [min(rows, count - start) for start in range(0, count, rows)]


def _together(
    estimate: Expression, rows: int, chunk: int, found: tuple[Key, ...], poles: Poles
) -> np.ndarray:
    """Draws with noise, and the sampling contribution of each answer added comonotonically."""

    def drawn(sampled: frozenset[Key]) -> np.ndarray:
        return evaluate(estimate, _Leaves(estimate, rows, chunk, sampled), lead=1, poles=poles)

    noised = drawn(frozenset())
    total, order = noised.copy(), None
    for key in found:
        with np.errstate(all="ignore"):
            moved = drawn(frozenset([key])) - noised
        if order is None:
            order = np.argsort(np.argsort(moved, axis=0), axis=0)
        total += np.take_along_axis(np.sort(moved, axis=0), order, axis=0)
    return total


def joint(estimates: Sequence[Expression], kind: Kind) -> np.ndarray:
    """Draws of several estimates at once, shape ``(count, values)``; NaN where a draw is undefined.

    Noise is shared as the releases share it. Of the sampling errors of different answers no release tells how they go together: they are
    drawn independently, so that intervals that hold all of them hold at least as often whatever the truth is (Šidák's inequality for
    normal errors). Those of one answer go together as the answer draws them.

    Parameters
    ----------
    estimates : sequence of Expression
        Released estimates.
    kind : {"privacy", "confidence"}
        Whether sampling errors are drawn too.

    Raises
    ------
    Unavailable
        If an answer cannot be drawn.
    """
    pieces = []
    for chunk, rows in enumerate(_chunks(estimates)):
        found = [
            _apart(one, rows, chunk, place if kind == "confidence" else None)
            for place, one in enumerate(estimates)
        ]
        pieces.append(np.concatenate([one.reshape(rows, -1) for one in found], axis=1))
    return np.concatenate(pieces)


def _apart(estimate: Expression, rows: int, chunk: int, place: int | None) -> np.ndarray:
    """Draws with noise; with a place also with sampling errors, shuffled against those of other answers."""

    def drawn(sampled: frozenset[Key]) -> np.ndarray:
        found = evaluate(estimate, _Leaves(estimate, rows, chunk, sampled), lead=1, poles=Poles())
        return np.broadcast_to(found, (rows, *estimate.shape))

    noised = drawn(frozenset())
    if place is None:
        return noised
    keys, total = sources(estimate), noised.copy()
    for key in keys:
        with np.errstate(all="ignore"):
            moved = drawn(frozenset([key])) - noised
        name = key[1] if len(keys) == 1 else f"{key[1]} in {place}"
        total += moved[DrawGenerator(key[0], chunk).of(f"order of {name}").permutation(rows)]
    return total


def least_alpha(estimate: Expression) -> float:
    """The smallest ``1 - level`` that the intervals of an estimate resolve: draws end somewhere."""
    if estimate.op is None:
        return DRAWN if estimate.outcome is None or estimate.outcome.drawn else EXACT
    if isinstance(estimate.op, Take) and _small_enough(estimate.args[0]):
        return least_alpha(estimate.args[0])
    source = _source(estimate)
    return PUSHED if source is None else least_alpha(source)


def percentile_alpha(estimate: Expression, null: np.ndarray, kind: Kind) -> np.ndarray | None:
    """The largest ``1 - level`` at which intervals of pushed draws hold a value, for each component; None for other intervals."""
    taken = isinstance(estimate.op, Take) and _small_enough(estimate.args[0])
    if estimate.op is None or taken or _source(estimate) is not None:
        return None
    draws, _ = push(estimate, kind)
    if np.isnan(draws).any():
        return None
    fewer = np.minimum((draws <= null).sum(axis=0), (draws >= null).sum(axis=0))
    return np.asarray(np.minimum(2 * fewer / (len(draws) - 1), 1.0))


class _Leaves:
    """Draws of the leaves of one expression: each distinct answer once, dropped after its last use.

    Those in `sampled` carry their sampling error, the others noise alone; the noise is the same for both.
    """

    def __init__(self, estimate: Expression, rows: int, chunk: int, sampled: frozenset[Key]) -> None:
        self.rows, self.chunk, self.sampled = rows, chunk, sampled
        self.inside = _of_functions(estimate)
        self.left: dict[Key, int] = {}
        self.drawn: dict[Key, np.ndarray] = {}
        for node in nodes([estimate]):
            if node.op is None:
                key = key_of(node.args[0])
                self.left[key] = self.left.get(key, 0) + 1

    def __call__(self, node: Expression) -> np.ndarray:
        measurement: Answer = node.args[0]
        key = key_of(measurement)
        if key not in self.drawn:
            self.drawn[key] = self._draw(measurement, key, node.shape)
        self.left[key] -= 1
        drawn = self.drawn[key] if self.left[key] else self.drawn.pop(key)
        outcome = measurement.outcome
        if outcome is None or id(node) not in self.inside or outcome.domain == (None, None):
            return drawn
        return np.asarray(drawn_inside(drawn, np.asarray(outcome.value, dtype=float), *outcome.domain))

    def _draw(self, measurement: Answer, key: Key, shape: tuple[int, ...]) -> np.ndarray:
        outcome = measurement.outcome
        if outcome is None:
            raise AssertionError("draws of a pending measurement")
        if not measurement.releases:
            return np.broadcast_to(np.asarray(outcome.value, dtype=float), (self.rows, *shape))
        kind: Kind = "confidence" if key in self.sampled else "privacy"
        draws = outcome.draws(self.rows, DrawGenerator(key[0], self.chunk), kind)
        return np.asarray(draws, dtype=float).reshape(self.rows, *shape)


def _of_functions(root: Expression) -> set[int]:
    """Ids of the leaves, whole or a place of them, that a function other than arithmetic is taken of."""
    found = set()
    for node in nodes([root]):
        if node.op is None or isinstance(node.op, Operation) or node.op in ARITHMETIC:
            continue
        for argument in filter(is_node, node.args):
            taken = argument
            while isinstance(taken.op, Take):
                taken = taken.args[0]
            if taken.op is None:
                found.add(id(taken))
    return found


_GRID = 1_025
_TURNS = 32
_FARTHEST = 1e300  # draws of what could be anything lie farther out
_UNBOUNDED = "unbounded where the noise cannot tell a denominator from zero"


def interval(estimate: Expression, level: float, kind: Kind) -> Interval:
    """The interval of a released estimate that is not a leaf.

    Parameters
    ----------
    estimate : Expression
        A released, derived estimate.
    level : float
        Coverage, for each component alone.
    kind : {"privacy", "confidence"}
        About this dataset, or about the population.

    Raises
    ------
    Unavailable
        With the reason.
    """
    if isinstance(estimate.op, Take) and _small_enough(estimate.args[0]):
        whole = estimate.args[0].interval(level, kind)
        ends = [estimate.op.apply([np.asarray(end)], 0) for end in (whole.low, whole.high)]
        return Interval(plain(ends[0]), plain(ends[1]), level, kind, whole.note)
    source = _source(estimate)
    if source is not None:
        return _image(estimate, source, level, kind)
    return _percentiles(estimate, level, kind)


def standard_error(estimate: Expression) -> Number:
    """Standard deviation of the confidence draws of a derived estimate."""
    if isinstance(estimate.op, Take):
        whole = estimate.args[0].standard_error
        return None if whole is None else plain(estimate.op.apply([np.asarray(whole)], 0))
    draws, _ = push(estimate, "confidence")
    with np.errstate(all="ignore"):
        return plain(np.nanstd(draws, axis=0))


def _small_enough(parent: Expression) -> bool:
    return parent.op is None or parent.size <= DRAWS // 5


# ---------------------------------------------------------------- one number: the image of its interval


def _is_source(node: Expression) -> bool:
    """Whether a node is a leaf, or a place of a leaf."""
    return node.op is None or (isinstance(node.op, Take) and node.args[0].op is None)


def _source_key(node: Expression) -> Hashable:
    places = node.op.places if isinstance(node.op, Take) else ()
    leaf = node if node.op is None else node.args[0]
    return key_of(leaf.args[0]), str(places)


def _source(estimate: Expression) -> Expression | None:
    """The one released number (or vector, componentwise) of which an expression is a function, if there is one."""
    found: dict[Hashable, Expression] = {}
    above: list[Expression] = []
    for node in nodes([estimate], _is_source):
        if not _is_source(node):
            above.append(node)
        elif leaves([node])[0].releases:
            found.setdefault(_source_key(node), node)
            if len(found) > 1:
                return None
    if not found:
        return None
    (source,) = found.values()
    return source if source.shape == () or all(_componentwise(node, source.shape) for node in above) else None


def _componentwise(node: Expression, shape: tuple[int, ...]) -> bool:
    return node.shape == shape and (not isinstance(node.op, Operation) or node.op.elementwise)


def _image(estimate: Expression, source: Operand, level: float, kind: Kind) -> Interval:
    """The range of the expression while its one number runs through its own interval."""
    whole = source.interval(level, kind)
    grid = _grid(whole, np.asarray(source.value, dtype=float))

    def at(points: np.ndarray, poles: Poles | None = None) -> np.ndarray:
        def leaf(node: Expression) -> np.ndarray:
            known = not leaves([node])[0].releases
            return np.broadcast_to(node.value, (len(points), *node.shape)) if known else points

        return evaluate(estimate, leaf, stop=_is_source, lead=1, poles=poles)

    poles = Poles()
    values = at(grid, poles)
    note = f"the image of the interval of `{leaves([source])[0].text}`"
    if poles.crossed:
        low, high = _steady(at(grid))
        note += f"; {_UNBOUNDED}"
    else:
        low, high = _turning(at, grid, values)
    return Interval(plain(low), plain(high), level, kind, note)


def _steady(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unbounded, but for components that are the same number wherever they are defined (``q / q``)."""
    low, high = _range(values)
    with np.errstate(all="ignore"):
        same = high - low <= 1e-9 * np.abs(low)
    return np.where(same, low, -np.inf), np.where(same, high, np.inf)


def _turning(
    at: Callable[[np.ndarray], np.ndarray], grid: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The range, looked at more closely around turning points inside the grid."""
    low, high = _range(values)
    for sign in (1.0, -1.0):
        place = np.where(np.isnan(values), -np.inf, sign * values).argmax(axis=0)
        inside = (place > 0) & (place < len(grid) - 1)
        for around in _around(grid, np.clip(place, 1, len(grid) - 2), inside):
            closer = _range(at(around))
            low, high = np.fmin(low, closer[0]), np.fmax(high, closer[1])
    return low, high


def _around(grid: np.ndarray, place: np.ndarray, inside: np.ndarray) -> Iterator[np.ndarray]:
    """Finer grids between the neighbours of some places: one for all components, or one for each place."""
    if not inside.any():
        return
    if grid.ndim > 1:
        left, right = (np.take_along_axis(grid, place[None] + step, axis=0)[0] for step in (-1, 1))
        yield np.linspace(left, right, len(grid))
    else:
        for chosen in np.unique(place[inside])[:_TURNS]:
            yield np.linspace(grid[chosen - 1], grid[chosen + 1], len(grid))


def _grid(whole: Interval, value: np.ndarray) -> np.ndarray:
    """Points through an interval, both ends among them; an infinite end is approached and included."""
    low, high = np.asarray(whole.low, dtype=float), np.asarray(whole.high, dtype=float)
    points = int(np.clip(_CELLS // max(low.size, 1), 33, _GRID))
    steps = np.linspace(0.0, 1.0, points).reshape((points,) + (1,) * low.ndim)
    with np.errstate(all="ignore"):
        if np.isfinite(low).all() and np.isfinite(high).all():
            grid = low + (high - low) * steps
            grid[-1] = high
            return np.asarray(grid)
        wide = np.clip(np.where(np.isfinite(value), value, 0.0) + np.sinh(1_400 * (steps - 0.5)), low, high)
        return np.concatenate([low[None], wide, high[None]])


def _range(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest, undefined points left out; NaN where all are undefined."""
    undefined = np.isnan(values)
    low = np.where(undefined, np.inf, values).min(axis=0)
    high = np.where(undefined, -np.inf, values).max(axis=0)
    nowhere = undefined.all(axis=0)
    return np.where(nowhere, np.nan, low), np.where(nowhere, np.nan, high)


# ---------------------------------------------------------------- several numbers: draws


def _percentiles(estimate: Expression, level: float, kind: Kind) -> Interval:
    """Central percentiles of the pushed draws."""
    draws, crossed = push(estimate, kind)
    count = len(draws)
    tail = (1.0 - level) / 2.0
    lower, upper = int(np.floor(tail * (count - 1))), int(np.ceil((1.0 - tail) * (count - 1)))
    flat = np.ascontiguousarray(draws.reshape(count, -1).T)
    share = np.isnan(flat).mean(axis=1)
    note = f"{count:,} draws of the known noise"
    if kind == "confidence" and len(sources(estimate)) > 1:
        note += "; the sampling errors of answers about the same rows are taken together at their worst"
    if not share.any():
        ordered = np.partition(flat, (lower, upper), axis=1)
        low, high = ordered[:, lower], ordered[:, upper]
    elif crossed:
        low = np.partition(np.where(np.isnan(flat), -np.inf, flat), lower, axis=1)[:, lower]
        high = np.partition(np.where(np.isnan(flat), np.inf, flat), upper, axis=1)[:, upper]
        beyond = share > tail
        low, high = np.where(beyond, -np.inf, low), np.where(beyond, np.inf, high)
        if beyond.any():
            note += f"; {_UNBOUNDED}"
    else:
        low, high = _nan_percentiles(flat, tail)
        note += f"; undefined in {share.max():.2g} of the draws, which are left out"
    low, high = np.where(low < -_FARTHEST, -np.inf, low), np.where(high > _FARTHEST, np.inf, high)
    shape = estimate.shape
    return Interval(plain(low.reshape(shape)), plain(high.reshape(shape)), level, kind, note)


def _nan_percentiles(flat: np.ndarray, tail: float) -> tuple[np.ndarray, np.ndarray]:
    """Percentiles of what is defined; NaN where nothing is."""
    ends = np.full((2, len(flat)), np.nan)
    for place, row in enumerate(flat):
        defined = row[~np.isnan(row)]
        if defined.size:
            ends[:, place] = np.quantile(defined, (tail, 1.0 - tail), method="nearest")
    return ends[0], ends[1]
