"""The law of an outcome: every value that a release could have had, and how likely it was. TEACHING data alone have one.

For added noise the values are the truth and what the noise makes of it; for a selection they are the candidates, and their
probabilities follow from every candidate's true score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.errors import Unavailable
from dpnb.estimate.table import Table, Tabular
from dpnb.inference.law import law_of
from dpnb.inference.selection_law import probabilities
from dpnb.statistics import conclude
from dpnb.teach.noiseless import KnownPart, known_parts, rows_of
from dpnb.trusted.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    PermuteAndFlip,
    QuantileFlip,
    QuantileSelection,
)

if TYPE_CHECKING:
    from dpnb.estimate import Estimate, PendingQuestion

_TAIL = 1e-12
_MOST = 200_001
_MOST_POINTS = 20_001
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeLaw(Tabular):
    """The values that an answer could have had, each with its probability.

    Parameters
    ----------
    question : str
        What was asked.
    mechanism : str
        What makes it private.
    support : ndarray
        Values, in rising order; of a choice whose labels are no numbers, the places of its candidates.
    probabilities : ndarray
        Probability of each, of the same length. Added noise has no end: what lies beyond has less than 10⁻¹² in all.
    candidates : tuple
        The label of each value, for a choice; else empty.
    """

    question: str
    mechanism: str
    support: Floats
    probabilities: Floats
    candidates: tuple[object, ...] = ()

    def pmf(self, value: ArrayLike) -> float | Floats:
        """Return the probability of values, or of labels of a choice; 0 for what the answer cannot be."""
        asked = np.asarray(self._placed(value), dtype=float)
        step = float(np.diff(self.support).min(initial=1.0))
        place = np.clip(np.searchsorted(self.support, asked - step / 4), 0, self.support.size - 1)
        hit = np.abs(self.support[place] - asked) <= step / 1000
        found = np.where(hit, self.probabilities[place], 0.0)
        return float(found) if found.ndim == 0 else found

    def _placed(self, value: ArrayLike) -> ArrayLike:
        """The places of labels that are no numbers; everything else as it is."""
        given = np.asarray(value)
        if given.dtype.kind not in "UO" or not self.candidates:
            return value
        places = dict(zip(self.candidates, self.support, strict=True))
        return np.reshape([places.get(label, np.inf) for label in given.ravel().tolist()], given.shape)

    @property
    def mean(self) -> float:
        """The mean of the law."""
        return float(self.support @ self.probabilities)

    @property
    def sd(self) -> float:
        """The standard deviation of the law."""
        return float(np.sqrt(((self.support - self.mean) ** 2) @ self.probabilities))

    def table(self, level: float = 0.95) -> Table:  # noqa: ARG002 - one signature for all tables
        """Return values and probabilities as plain columns."""
        named = {"candidate": list(self.candidates)} if self.candidates else {}
        return Table({**named, "value": self.support.tolist(), "probability": self.probabilities.tolist()})

    def __repr__(self) -> str:
        if any(isinstance(label, str) for label in self.candidates):
            best = int(np.argmax(self.probabilities))
            about = f"{len(self.candidates):,} candidates, most likely {self.candidates[best]} ({self.probabilities[best]:.3g})"
        else:
            about = f"{self.support.size:,} values, mean {self.mean:.6g}, sd {self.sd:.3g}"
        return f"<law of {self.question}: {self.mechanism}, {about}>"


def law(estimate: Estimate) -> OutcomeLaw:
    """Return the law of one released number; of several picks, that of the first.

    Raises
    ------
    Unavailable
        For several numbers, arithmetic, a question that releases several vectors, or one that was measured again.
    """
    question = estimate.measurement
    if question is None:
        raise Unavailable("A law is of one question. For arithmetic and readings look at .redraw(1000).")
    known = known_parts(question, rows_of(question))
    if len(known) != 1 or len(known[0]) != 1:
        raise Unavailable(f"`{question.text}` is made of several noised numbers. Look at .redraw(1000).")
    part = known[0][0]
    made = _LISTED.get(type(part.mechanism))
    if made is None or part.groups != 1:
        raise Unavailable(f"`{question.text}` has no law that can be listed. Look at .redraw(1000).")
    support, probabilities, labels = made(question, part)
    order = np.argsort(support, kind="stable")
    sorted_labels = tuple(labels[place] for place in order) if labels else ()
    return OutcomeLaw(
        question.text, part.mechanism.title, support[order], probabilities[order], sorted_labels
    )


Listed = tuple[Floats, Floats, Sequence[object]]


def _added(question: PendingQuestion, part: KnownPart) -> Listed:
    """The truth and what added noise makes of it, which is a line in the noise."""
    noise = law_of(part.mechanism)
    reach = noise.tail_radius(_TAIL)
    if 2 * reach + 1 > _MOST:
        raise Unavailable(f"`{question.text}` has more than {_MOST:,} likely values. Look at .redraw(1000).")
    away = np.arange(-reach, reach + 1)
    zero, one = (float(_told(question, part, (part.exact[0] + step,)).value) for step in (0, 1))
    return (zero + (one - zero) * away).astype(np.float64), noise.pmf(away), ()


def _picked(question: PendingQuestion, part: KnownPart) -> Listed:
    """Every candidate; the others of several picks do not matter to the first."""
    mechanism: Any = part.mechanism
    chosen = [_told(question, part, _first(mechanism, index)) for index in range(mechanism.size)]
    values = np.array([np.ravel(one.value)[0] for one in chosen])
    return values, probabilities(mechanism, part.exact), [one.labels[0] for one in chosen]


def _first(mechanism: PermuteAndFlip, index: int) -> tuple[int, ...]:
    """Return picks of which this is the first."""
    others = [place for place in range(mechanism.size) if place != index]
    return (index, *others[: mechanism.picks - 1])


def _selected(question: PendingQuestion, part: KnownPart) -> Listed:
    """Every point of the grid, which is a line in its index."""
    mechanism: Any = part.mechanism
    if mechanism.steps + 1 > _MOST_POINTS:
        raise Unavailable(
            f"`{question.text}` has more than {_MOST_POINTS:,} candidates. Look at .redraw(1000)."
        )
    zero, one = (float(_told(question, part, (index,)).value) for index in (0, 1))
    found = np.array([float(chance) for chance in probabilities(mechanism, part.exact[0])])
    return (zero + (one - zero) * np.arange(found.size)).astype(np.float64), found, ()


def _told(question: PendingQuestion, part: KnownPart, values: Sequence[int]) -> Any:
    """Return what the question would conclude from other integers."""
    (release,) = question.releases
    return conclude(
        question.checked, [replace(release, parts=(replace(part.released, values=tuple(values)),))]
    )


_LISTED: dict[type, Callable[[PendingQuestion, KnownPart], Listed]] = {
    DiscreteLaplace: _added,
    DiscreteGaussian: _added,
    PermuteAndFlip: _picked,
    QuantileSelection: _selected,
    QuantileFlip: _selected,
}
