r"""Matched pairs whose set of matched rows is stable, and the private difference over them, **on arrays alone**.

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
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.errors import OptionError
from dpnb.inference.noise_sum import NoiseSum

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


@dataclass(frozen=True, slots=True)
class NoisedPairs:
    """What is released of matched pairs: signed sum, sum of squares and number, each with Laplace noise.

    Parameters
    ----------
    total, square, pairs : float
        Noised ``S``, ``Q`` and number of pairs.
    width : float
        R, the width of the outcome's bounds.
    total_scale, square_scale, pairs_scale : float
        Laplace scales.
    """

    total: float
    square: float
    pairs: float
    width: float
    total_scale: float
    square_scale: float
    pairs_scale: float

    @property
    def _number(self) -> float:
        return max(self.pairs, 1.0)

    @property
    def estimate(self) -> float:
        """The mean difference within pairs, inside ±R."""
        return min(max(self.total / self._number, -self.width), self.width)

    @property
    def standard_error(self) -> float:
        """The sampling error, at most: both arms' variances, as if pairing had won nothing.

        With arm means a and b around c, ``Q/m - a² - b² ≤ Q/m - (a - b)²/2``; the noise of Q is allowed for at 90 %.
        """
        moment = (max(self.square, 0.0) + self.square_scale * log(5)) / self._number
        moment = min(moment, self.width**2 / 2)
        return sqrt(max(moment - self.estimate**2 / 2, 0.0) / self._number)

    @property
    def flags(self) -> tuple[str, ...]:
        """``arm too small`` where the number of pairs is not clear of its noise."""
        return ("arm too small",) if self.pairs < 3 * sqrt(2) * self.pairs_scale else ()

    def interval(self, level: float = 0.95, *, sampling: bool = True) -> tuple[float, float]:
        """Return the interval of the mean difference: noise alone, or noise and sampling (at most).

        Where the number of pairs is not clear of its noise, the interval is the whole domain.
        """
        if not 0 < level < 1:
            raise OptionError(f"A level lies between 0 and 1, not {level}.")
        if self.flags:
            return -self.width, self.width
        scales = (self.total_scale, abs(self.estimate) * self.pairs_scale)
        law = NoiseSum(0.0, tuple(b for b in scales if b > 0)).scaled(1 / self._number)
        if sampling:
            law = law.plus_normal(self.standard_error**2)
        reach = float(law.radius(1 - level))
        return max(self.estimate - reach, -self.width), min(self.estimate + reach, self.width)


def noised_matching(
    y: ArrayLike,
    pairs: Pairs,
    bounds: tuple[float, float],
    epsilon: float,
    rng: np.random.Generator,
    *,
    shares: tuple[float, float, float] = (0.7, 0.2, 0.1),
) -> NoisedPairs:
    """Release the difference over matched pairs with Laplace noise, simulated; ε-DP, change-one, with the pairs of :func:`match`.

    Parameters
    ----------
    y : array_like, shape (n,)
        Outcomes; clamped to the bounds.
    pairs : Pairs
        From :func:`match` on the same rows.
    bounds : (float, float)
        Public.
    epsilon : float
        The whole loss.
    rng : numpy.random.Generator
        Source of the noise; simulated, never for a release.
    shares : (float, float, float)
        Shares of ε for the signed sum, the squares and the number of pairs.
    """
    low, high = bounds
    if not (low < high and epsilon > 0 and min(shares) > 0 and abs(sum(shares) - 1) < 1e-9):
        raise OptionError("bounds must grow, epsilon be above 0, and shares be above 0 and sum to 1.")
    values = np.asarray(y, dtype=float)
    if values.ndim != 1 or np.isnan(values).any() or max(pairs.rows, default=0) >= values.size:
        raise OptionError("y is the outcome of the rows that were matched, without missing values.")
    width, centred = high - low, np.clip(values, low, high) - (low + high) / 2
    one, two = centred[pairs.second], centred[pairs.first]
    exact = (one.sum() - two.sum(), (one**2).sum() + (two**2).sum(), len(pairs))
    reaches = (2 * width, 3 * width**2 / 4, 1.0)
    first, second, third = (reach / (share * epsilon) for reach, share in zip(reaches, shares, strict=True))
    total, square, number = (
        float(value + rng.laplace(0.0, scale))
        for value, scale in zip(exact, (first, second, third), strict=True)
    )
    return NoisedPairs(total, square, number, width, first, second, third)
