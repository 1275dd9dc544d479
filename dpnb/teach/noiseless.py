"""Releases as they would be without noise, and with fresh draws of it: what TEACHING data allow and no other.

Each released vector stands beside the integers that an engine answers exactly. What is concluded from those is the truth of its
question: of the same rows, clamped to the same bounds, on the same grid. A draw that several questions share is drawn once: they
stay as they are together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import singledispatch
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnb.errors import Unavailable
from dpnb.inference.law import read_law
from dpnb.planner.price import price
from dpnb.planner.request import Ask, Item
from dpnb.trusted.mechanisms import (
    AdditiveMechanism,
    AnyMechanism,
    Counts,
    DiscreteLaplace,
    KSExponential,
    LocatedSums,
    Mechanism,
    PermuteAndFlip,
    QuantileSelection,
    ThresholdedSums,
    Thresholding,
)
from dpnb.trusted.mechanisms.ks_exponential import distance
from dpnb.trusted.mechanisms.located_sums import PrivateRange
from dpnb.trusted.releases import Release, ReleasedPart

if TYPE_CHECKING:
    from dpnb.estimate import PendingQuestion
    from dpnb.teach.public_rows import PublicRows
from typing import TYPE_CHECKING

from numpy.typing import NDArray

from dpnb.errors import OptionError
from dpnb.estimate.evaluate import evaluate, plain
from dpnb.inference.simulated_release import add_noise, release_part
from dpnb.statistics import conclude
from dpnb.trusted.mechanisms import DiscreteGaussian

if TYPE_CHECKING:
    from dpnb.estimate import Estimate, PendingQuestion


_NARROW = DiscreteLaplace(Fraction(1, 1000)).record


@dataclass(frozen=True, slots=True)
class KnownPart:
    """A released vector beside its exact answer.

    Parameters
    ----------
    released : ReleasedPart
        As it left.
    mechanism : AnyMechanism
        What made it private, with the noise that it had.
    exact : object
        What an engine answers exactly.
    """

    released: ReleasedPart
    mechanism: AnyMechanism
    exact: Any

    @property
    def groups(self) -> int:
        """How many answers it holds, each with noise or a choice of its own."""
        size = getattr(self.mechanism, "size", 1)
        return len(self.exact) // size

    def noiseless(self) -> ReleasedPart:
        """The vector without noise; its law is so narrow that nothing is corrected for it."""
        values = unnoised(self.mechanism, self.exact, self.released)
        law = _NARROW if isinstance(self.mechanism, AdditiveMechanism) else self.released.law
        return replace(self.released, values=tuple(int(value) for value in values), law=law)


def known_parts(question: PendingQuestion, rows: PublicRows) -> tuple[tuple[KnownPart, ...], ...]:
    """Return each release's vectors beside their exact answers.

    Raises
    ------
    Unavailable
        If this version asks something else for the question than was asked then.
    """
    return tuple(_known(question, release, rows) for release in question.releases)


def _known(question: PendingQuestion, release: Release, rows: PublicRows) -> tuple[KnownPart, ...]:
    share = {release.share_kind: release.share}
    ask = Ask.make(epsilon=share.get("epsilon"), rho=share.get("rho"))
    parts = price((Item(question.question),), ask, rows.schema).items[0].parts
    if [part.name for part in parts] != [part.name for part in release.parts]:
        raise Unavailable(
            f"`{question.text}` was released by another version. Open a fresh dataset and ask again."
        )
    answers = rows.answer([part.request for part in parts])
    return tuple(
        KnownPart(released, read_law(released.law), exact)
        for released, exact in zip(release.parts, answers, strict=True)
    )


@singledispatch
def unnoised(mechanism: Mechanism, exact: object, released: ReleasedPart) -> Sequence[int]:  # noqa: ARG001
    """Return what a mechanism would release without noise."""
    raise Unavailable(f"{mechanism.title} has no answer without noise.")


@unnoised.register
def _additive(mechanism: AdditiveMechanism, exact: Sequence[int], released: ReleasedPart) -> Sequence[int]:  # noqa: ARG001
    return exact


@unnoised.register
def _quantile(mechanism: QuantileSelection, exact: Sequence[Counts], released: ReleasedPart) -> Sequence[int]:  # noqa: ARG001
    """The smallest grid point at or below which the asked share of the rows lies."""
    return [_rank(counts, mechanism.q) for counts in exact]


def _rank(counts: Counts, q: Fraction) -> int:
    values, times = counts
    below = list(accumulate(int(time) for time in times))
    if not below:
        raise Unavailable("No row is left here: a quantile of nothing has no truth.")
    wanted = q * below[-1]
    return int(next(value for value, reached in zip(values, below, strict=True) if reached >= wanted))


@unnoised.register
def _pick(mechanism: PermuteAndFlip, exact: Sequence[int], released: ReleasedPart) -> Sequence[int]:  # noqa: ARG001
    """The largest first; of equal ones the first declared."""
    cells = np.asarray(exact).reshape(-1, mechanism.size)
    order = np.argsort(-cells, axis=1, kind="stable")[:, : mechanism.picks]
    return [int(index) for index in order.ravel()]


@unnoised.register
def _placement(mechanism: KSExponential, exact: Sequence[int], released: ReleasedPart) -> Sequence[int]:  # noqa: ARG001
    """Each group's distribution function, rounded to the points that are placed."""
    size, found = len(mechanism.places), []
    for start in range(0, len(exact), size):
        sums = list(accumulate(int(count) for count in exact[start : start + size]))
        steps = [round(mechanism.points * reached / max(sums[-1], 1)) for reached in sums]
        found += steps + ([distance(sums, steps)] if mechanism.check else [])
    return found


@unnoised.register
def _located(mechanism: LocatedSums, exact: Sequence[Counts], released: ReleasedPart) -> Sequence[int]:  # noqa: ARG001
    """The sums over the whole range: nothing lies outside."""
    whole, found = PrivateRange(0, mechanism.steps), []
    for counts in exact:
        sums = mechanism.sums(counts, whole)
        found += [whole.low, whole.high, *sums[: 3 if mechanism.count_scale is None else 4]]
    return found


@unnoised.register
def _thresholded_sums(mechanism: ThresholdedSums, exact: object, released: ReleasedPart) -> Sequence[int]:
    """The exact counts and sums of the labels that were shown."""
    return _of_labels(exact, released, 1 + len(mechanism.sums))


def _of_labels(exact: Any, released: ReleasedPart, more: int) -> list[int]:
    width = len(exact.labels[0]) if exact.labels else 0
    true = {
        label: numbers
        for label, *numbers in zip(exact.labels, exact.counts, *exact.sums[: more - 1], strict=True)
    }
    shown = [
        tuple(released.values[at : at + width])
        for at in range(0, len(released.values) if width else 0, width + more)
    ]
    return [number for label in shown for number in (*label, *true.get(label, [0] * more))]


@unnoised.register
def _threshold(mechanism: Thresholding, exact: Any, released: ReleasedPart) -> Sequence[int]:  # noqa: ARG001
    """The exact counts of the values that were shown."""
    if hasattr(exact, "labels"):
        return _of_labels(exact, released, 1)
    true = {int(v): int(n) for values, times in exact for v, n in zip(values, times, strict=True)}
    return [number for value in released.values[::2] for number in (value, true.get(value, 0))]


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


def rows_of(question: PendingQuestion) -> PublicRows:
    """Return the public rows of a question's dataset."""
    rows: PublicRows = question.dataset.root.public_rows
    return rows


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


def _stacked(leaf: object, each: Sequence[Sequence[Release]]) -> NDArray[np.float64]:
    return np.stack([_value(leaf, releases) for releases in each])


def _noised(part: KnownPart, count: int, rng: np.random.Generator) -> Sequence[tuple[int, ...]]:
    """Return so many fresh draws of a vector."""
    mechanism = part.mechanism
    if isinstance(mechanism, DiscreteLaplace | DiscreteGaussian):
        return _with_noise(mechanism, part.exact, count, rng)
    return [release_part(mechanism, part.exact, rng) for _ in range(count)]


def _with_noise(
    mechanism: AdditiveMechanism, exact: Sequence[int], count: int, rng: np.random.Generator
) -> list[tuple[int, ...]]:
    noise = add_noise(mechanism, np.zeros(count * len(exact), dtype=np.int64), rng).reshape(count, len(exact))
    return [tuple(value + draw for value, draw in zip(exact, row, strict=True)) for row in noise.tolist()]


def _redrawn(
    releases: Sequence[Release], known: Sequence[Sequence[KnownPart]], drawn: Draws, place: int
) -> tuple[Release, ...]:
    return tuple(
        replace(
            release,
            parts=tuple(replace(part.released, values=drawn[part.released.draw][place]) for part in parts),
        )
        for release, parts in zip(releases, known, strict=True)
    )
