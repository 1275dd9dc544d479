r"""Matched pairs whose set of matched rows is stable, **on arrays alone**.

Rows of the second arm choose, in the fixed public order of their places in the table, the nearest free row of the first arm within the
caliper; ties go to the lower place. Every row's preferences depend on its own score and the others' alone, and the score is a public
function of a row: an estimated propensity score would let one row move all scores, and is refused by not being offered.

*The matched set moves by at most four rows when one row is changed.* Take a row away. If it was unmatched nothing changes. If it was
matched, its partner is freed or must choose again; while the choices are replayed, the sets of free rows in the two worlds differ by one
row at any time, because each later row makes the same choice unless the odd row is involved, and then the odd row is handed on. At the
end either that row is left over (two rows leave the matched set) or it takes the place of the row taken away (one leaves, one enters).
Adding a row is the reverse, and a changed row is taken away and added: (removed, added) is one of (0,0), (0,2), (1,1), (1,3), (2,0),
(2,2), (3,1), and the number of pairs moves by at most one.

So, with outcomes in an interval of width R and middle c, ``S = Σ ±(y - c)`` over the matched moves by at most 4·R/2 = 2R and
``Q = Σ (y - c)²`` by at most 3R²/4. **Who is paired with whom is not stable**: a chain may re-pair every row, so sums over *pairs* that
do not split into rows, like squared pair differences, have no such bound. For any other function of the matched rows a changed row is
four added or removed ones: four times its add-remove ε, sixteen times its ρ.

The published theorem, three times the change-one sensitivity, is false [1]_: the number of matched rows never changes with a value, yet
moves by two.

References
----------
.. [1] D'Orazio, Honaker and King (2015), "Differential Privacy for Social Science Inference", Theorem A.6.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.errors import OptionError

_NOBODY = -1


@dataclass(frozen=True, slots=True)
class Pairs:
    """Matched rows: the place of each second-arm row and of its partner, in the order in which they chose."""

    second: NDArray[np.intp]
    first: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.second)

    @property
    def rows(self) -> frozenset[int]:
        """The set of matched rows."""
        return frozenset(self.second.tolist()) | frozenset(self.first.tolist())


class _Free:
    """First-arm rows that nobody has chosen yet, by score: the nearest is found without a search through taken ones."""

    def __init__(self, scores: list[float], places: list[int]) -> None:
        groups: dict[float, list[int]] = {}
        for place in reversed(places):  # a stack with the lowest place on top
            groups.setdefault(scores[place], []).append(place)
        self.scores = sorted(groups)
        self.stacks = [groups[score] for score in self.scores]
        self.left = list(range(len(self.scores)))
        self.right = list(range(len(self.scores) + 1))

    @staticmethod
    def _follow(links: list[int], start: int) -> int:
        end = start
        while end >= 0 and links[end] != end:
            end = links[end]
        while start >= 0 and links[start] != end:
            links[start], start = end, links[start]
        return end

    def take(self, score: float, caliper: float) -> int:
        """Return and remove the nearest row within the caliper, the lowest place among equals; or nobody."""
        below = self._follow(self.left, bisect_right(self.scores, score) - 1)
        above = self._follow(self.right, bisect_left(self.scores, score))
        best: tuple[float, int, int] | None = None
        for group in {below, above}:
            if 0 <= group < len(self.scores):
                distance = abs(self.scores[group] - score)
                offer = (distance, self.stacks[group][-1], group)
                best = offer if distance <= caliper and (best is None or offer < best) else best
        if best is None:
            return _NOBODY
        _, place, group = best
        self.stacks[group].pop()
        if not self.stacks[group]:
            self.left[group], self.right[group] = group - 1, group + 1
        return place


def match(score: ArrayLike, arm: ArrayLike, caliper: float) -> Pairs:
    """Match rows greedily, in the order of the table.

    Parameters
    ----------
    score : array_like, shape (n,)
        A public function of each row alone, such as a column on its grid.
    arm : array_like of 0 and 1, shape (n,)
        Second-arm rows choose, first-arm rows are chosen, each once.
    caliper : float
        The largest difference of scores within a pair, public.

    Examples
    --------
    >>> pairs = match([1.0, 2.0, 2.2, 9.0], [0, 0, 1, 1], 0.5)
    >>> pairs.second.tolist(), pairs.first.tolist()
    ([2], [1])
    """
    scores, second = np.asarray(score, dtype=float), np.asarray(arm)
    if scores.ndim != 1 or scores.shape != second.shape or not np.isfinite(scores).all():
        raise OptionError("score and arm are lists of one length, without missing values.")
    if not np.isin(second, (0, 1)).all():
        raise OptionError("arm has a 0 or a 1 for every row.")
    if not caliper >= 0:
        raise OptionError("caliper must not be below 0.")
    listed = scores.tolist()
    free = _Free(listed, np.flatnonzero(second == 0).tolist())
    pairs = [(row, free.take(listed[row], caliper)) for row in np.flatnonzero(second == 1).tolist()]
    made = np.array([pair for pair in pairs if pair[1] != _NOBODY], dtype=np.intp).reshape(-1, 2)
    return Pairs(made[:, 0], made[:, 1])
