"""Draws pushed through an expression: what its leaves may be, once for each release, and how they go together.

Each release is drawn once, by a generator that is seeded with the release's id: a release used twice is correlated with itself
exactly, and repeated calls agree. The noise of different releases is independent. Their *sampling* errors are not: answers about
the same rows move together in a way that no release tells. A confidence draw therefore takes each answer's sampling contribution
alone and adds the contributions comonotonically, all large together. Of normal errors with any correlation this is the sum with
the largest spread (``sd(X + Y) <= sd(X) + sd(Y)``), so the interval covers at least as stated, to first order in the errors.

Answers are drawn as the noise leaves them, beyond what is possible too: counts cut at 0 one by one would add up to too much. Only what a
function such as a root or a logarithm is taken of is cut to its domain, where that is defined.

It refuses draws of two answers that share one of several releases unless they say which noise is whose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnb.errors import Unavailable
from dpnb.estimate.evaluate import Poles, evaluate, is_node, leaves, nodes
from dpnb.estimate.operations import ARITHMETIC, Operation, Take
from dpnb.estimate.pending_question import PendingQuestion
from dpnb.estimate.reading import Reading
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import drawn_inside
from dpnb.inference.interval import Kind
from dpnb.statistics.released import draws_of

if TYPE_CHECKING:
    from dpnb.estimate.estimate import Estimate
    from dpnb.estimate.node import Node

DRAWS = 10_000
FEWEST = 1_000
LARGEST = 200_000
MOST_SOURCES = 200
_CELLS = 2_000_000

Key = tuple[tuple[str, ...], str]
Answer = PendingQuestion | Reading


def key_of(measurement: Answer) -> Key:
    """What identifies the noise of a measurement: its draws, and the question asked of them."""
    return draws_of(measurement.releases), measurement.text


def sources(estimate: Node) -> tuple[Key, ...]:
    """The distinct released answers under an expression, each a question or a reading of one."""
    found: dict[Key, None] = {}
    for node in nodes([estimate]):
        if node.op is None and node.args[0].releases:
            found[key_of(node.args[0])] = None
    return tuple(found)


def push(estimate: Estimate, kind: Kind) -> tuple[np.ndarray, bool]:
    """Draws of a derived estimate, shape ``(count, *shape)``, and whether a denominator crossed zero.

    Parameters
    ----------
    estimate : Estimate
        A released, derived estimate.
    kind : {"privacy", "confidence"}
        Whether the leaves are drawn with noise alone, or with sampling errors too.

    Raises
    ------
    Unavailable
        If the vector is too large, a leaf cannot be drawn, or two answers share one of several releases.
    """
    if estimate.size > LARGEST:
        raise Unavailable(
            f"An interval of {estimate.size:,} derived values at once is too large: index it first, for example x[:1000]."
        )
    _refuse_half_shared(leaves([estimate]))
    found = sources(estimate)
    together = kind == "confidence" and len(found) > 1
    if together and len(found) > MOST_SOURCES:
        raise Unavailable(
            f"No confidence interval over {len(found):,} answers at once. Sum a vector of one question instead; what the "
            'noise hides is known: .interval(kind="privacy").'
        )
    poles, pieces = Poles(), []
    for chunk, rows in enumerate(_chunks(estimate)):
        if together:
            pieces.append(_together(estimate, rows, chunk, found, poles))
        else:
            sampled = frozenset(found) if kind == "confidence" else frozenset()
            pieces.append(evaluate(estimate, _Leaves(estimate, rows, chunk, sampled), lead=1, poles=poles))
    return (pieces[0] if len(pieces) == 1 else np.concatenate(pieces)), poles.crossed


def _chunks(estimate: Estimate) -> list[int]:
    """How many draws to take at a time, so that memory is bounded."""
    count = int(np.clip(_CELLS * 10 // max(estimate.size, 1), FEWEST, DRAWS))
    widest = max(node.size for node in nodes([estimate]))
    rows = int(np.clip(_CELLS // max(widest, 1), 64, count))
    return [min(rows, count - start) for start in range(0, count, rows)]


def _together(estimate: Estimate, rows: int, chunk: int, found: tuple[Key, ...], poles: Poles) -> np.ndarray:
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


class _Leaves:
    """Draws of the leaves of one expression: each distinct answer once, dropped after its last use.

    Those in `sampled` carry their sampling error, the others noise alone; the noise is the same for both.
    """

    def __init__(self, estimate: Node, rows: int, chunk: int, sampled: frozenset[Key]) -> None:
        self.rows, self.chunk, self.sampled = rows, chunk, sampled
        self.inside = _of_functions(estimate)
        self.left: dict[Key, int] = {}
        self.drawn: dict[Key, np.ndarray] = {}
        for node in nodes([estimate]):
            if node.op is None:
                key = key_of(node.args[0])
                self.left[key] = self.left.get(key, 0) + 1

    def __call__(self, node: Node) -> np.ndarray:
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


def _of_functions(root: Node) -> set[int]:
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


def _refuse_half_shared(measurements: list[PendingQuestion]) -> None:
    """Refuse to treat as independent two answers that share one of several draws."""
    for combined in measurements:
        ids = key_of(combined)[0]
        if len(ids) < 2:
            continue
        for other in measurements:
            theirs = key_of(other)[0]
            joint = all(
                len(m.releases) < 2 or getattr(m.outcome, "draws_by_release", False)
                for m in (combined, other)
            )
            if ids != theirs and set(ids) & set(theirs) and not joint:
                raise Unavailable(
                    f"`{combined.text}` combines several releases, and shares one with `{other.text}`: "
                    "how they go together is not known. Use the combined estimate alone."
                )
