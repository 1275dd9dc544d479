"""What the estimates of TEACHING data are worth without noise, and with fresh draws of the same noise.

A draw that several questions share is drawn once: they stay as they are together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import OptionError, Unavailable
from dpnb.estimate.evaluate import evaluate, plain
from dpnb.inference.simulated_release import add_noise, release_part
from dpnb.statistics import conclude
from dpnb.teach.noiseless import KnownPart, known_parts
from dpnb.trusted.mechanisms import AdditiveMechanism, DiscreteGaussian, DiscreteLaplace
from dpnb.trusted.releases import Release

if TYPE_CHECKING:
    from dpnb.estimate import Estimate, PendingQuestion

_MOST = 100_000
Draws = dict[str, Sequence[tuple[int, ...]]]


def truth(estimate: Estimate) -> Any:
    """Return what an estimate would be without noise: a float, or an array of its shape."""
    noiseless = {id(one): _noiseless(one) for one in estimate.leaves()}
    return plain(evaluate(estimate, lambda leaf: _value(leaf.args[0], noiseless[id(leaf.args[0].root)])))


def redraw(
    estimate: Estimate, count: object, rng: int | np.random.Generator | None = None
) -> NDArray[np.float64]:
    """Return fresh outcomes of an estimate under the law of its noise, shape ``(count, *shape)``.

    Raises
    ------
    OptionError
        If `count` is no whole number from 1 to 100,000.
    Unavailable
        If the shape of the answer is itself private, so that draws differ in theirs.
    """
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 1 <= count <= _MOST:
        raise OptionError(f"redraw takes a whole number of draws from 1 to {_MOST:,}, not {count!r}.")
    for one in estimate.leaves():
        if getattr(one.checked, "shape", ()) is None:
            raise Unavailable(
                f"The number of answers to `{one.text}` depends on the noise, so draws differ in shape."
            )
    generator, drawn = np.random.default_rng(rng), Draws()
    known = {id(one): known_parts(one, rows_of(one)) for one in estimate.leaves()}
    for part in (part for parts in known.values() for one in parts for part in one):
        drawn.setdefault(part.released.draw, _noised(part, int(count), generator))
    values = {
        id(one): [_redrawn(one.releases, known[id(one)], drawn, place) for place in range(count)]
        for one in estimate.leaves()
    }
    return evaluate(estimate, lambda leaf: _stacked(leaf.args[0], values[id(leaf.args[0].root)]), lead=1)


def rows_of(question: PendingQuestion) -> Any:
    """Return the public rows of a question's dataset."""
    return question.dataset.root.public_rows


def _noiseless(question: PendingQuestion) -> tuple[Release, ...]:
    known = known_parts(question, rows_of(question))
    return tuple(
        replace(release, parts=tuple(part.noiseless() for part in parts))
        for release, parts in zip(question.releases, known, strict=True)
    )


def _value(leaf: Any, releases: Sequence[Release]) -> NDArray[np.float64]:
    """Return what a question, or a reading of it, concludes from some releases."""
    if not releases or leaf.root is leaf:
        outcome: Any = conclude(leaf.root.checked, releases)
    else:
        outcome = leaf.read.conclude(releases)
    return np.asarray(outcome.value, dtype=float)


def _stacked(leaf: Any, each: Sequence[Sequence[Release]]) -> NDArray[np.float64]:
    return np.stack([_value(leaf, releases) for releases in each])


def _noised(part: KnownPart, count: int, rng: np.random.Generator) -> Sequence[tuple[int, ...]]:
    """Return so many fresh draws of a vector."""
    mechanism: Any = part.mechanism
    if isinstance(mechanism, DiscreteLaplace | DiscreteGaussian):
        return _with_noise(mechanism, part.exact, count, rng)
    return [release_part(mechanism, part.exact, rng) for _ in range(count)]


def _with_noise(
    mechanism: AdditiveMechanism, exact: Sequence[int], count: int, rng: np.random.Generator
) -> list[tuple[int, ...]]:
    noise = add_noise(mechanism, np.zeros(count * len(exact), dtype=np.int64), rng).reshape(count, len(exact))
    return [tuple(value + draw for value, draw in zip(exact, row, strict=True)) for row in noise.tolist()]


def _redrawn(
    releases: Sequence[Release], known: Sequence[Sequence[KnownPart]], drawn: Mapping[str, Any], place: int
) -> tuple[Release, ...]:
    return tuple(
        replace(
            release,
            parts=tuple(replace(part.released, values=drawn[part.released.draw][place]) for part in parts),
        )
        for release, parts in zip(releases, known, strict=True)
    )
