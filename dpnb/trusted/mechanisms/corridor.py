r"""Monotone integer paths in a corridor, drawn exactly in proportion to their weight, from tables that need not be exact.

A path :math:`0 = S_0 ≤ S_1 ≤ … ≤ S_m = k` with steps :math:`d_j = S_j - S_{j-1}` has the weight
:math:`w = ∏_j v_j^{d_j}/d_j!`, the number of ways to place k marked points into cells of :math:`v_j` places, over k!. The corridor is
:math:`low_j ≤ S_j ≤ high_j`.

*Tables.* :math:`\tilde p_j(d) ≥ v_j^d/d!` is rounded **up** to 53 bits. :math:`A_0(0) = 1`, and :math:`A_j(s)` is a binary floating
number that is **at least** :math:`Σ_d \tilde p_j(d) A_{j-1}(s-d)`; that it is little more matters for speed alone.

*Draw.* From :math:`S_m = k` backwards: at s, step d is taken with probability :math:`\tilde p_j(d)A_{j-1}(s-d)/A_j(s)`, and with what is left
to one the attempt fails. These probabilities are ratios of integers and are met exactly, by as many random bits as each
comparison needs. Their product telescopes: a path comes out with probability :math:`\tilde w/A_m(k)`,
:math:`\tilde w = ∏ \tilde p_j(d_j)`, **without any error**, whatever the rounding of the tables was.

*Rounding up.* A sum of at most 2¹¹ non-negative products in binary64, rounded to nearest, is below the exact sum by less
than a factor 1 - 2⁻⁴¹ (a product and at most 2¹¹ additions lose 2⁻⁵³ each, a denormal number 2⁻¹⁰⁷⁴);
multiplied by 1 + 2⁻⁴⁰ it is above. Exponents are kept apart as integers, so that nothing overflows; a term too small for binary64
is made larger.

Refuses more than 2,000 points, for which that bound is stated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.trusted.errors import PlanError

MOST_POINTS = 2000
_WORD = 53
_FRACTION, _BIAS = 52, 1023
_NOTHING = -(2**40)
_ABOVE = 1.0 + 2.0**-40


@dataclass(frozen=True, slots=True)
class StepWeights:
    """Upper bounds ``mantissa · 2^exponent`` of v^d/d! for d = 0..points, mantissas of 53 bits.

    ``scaled`` and ``powers`` hold the same numbers for arrays, mantissas in [½, 1], behind `points` zeros for d < 0.
    """

    mantissas: tuple[int, ...]
    exponents: tuple[int, ...]
    scaled: NDArray[np.float64]
    powers: NDArray[np.int64]


@lru_cache(maxsize=64)
def step_weights(places: int, points: int) -> StepWeights:
    """Return upper bounds of places^d/d!, each within a factor 1 + 2⁻⁵¹."""
    pairs, top, bottom = [], 1, 1
    for count in range(points + 1):
        if count:
            top, bottom = top * places, bottom * count
        pairs.append(_rounded_up(top, bottom))
    mantissas, exponents = zip(*pairs, strict=True)
    scaled = np.concatenate([np.zeros(points), np.array(mantissas, dtype=np.float64) / 2.0**_WORD])
    powers = np.concatenate(
        [np.full(points, _NOTHING, dtype=np.int64), np.array(exponents, dtype=np.int64) + _WORD]
    )
    return StepWeights(mantissas, exponents, scaled, powers)


def _rounded_up(top: int, bottom: int) -> tuple[int, int]:
    """Return a 53-bit mantissa and an exponent whose number is at least top/bottom."""
    shift = _WORD + bottom.bit_length() - top.bit_length()
    quotient = -(-(top << max(shift, 0)) // (bottom << max(-shift, 0)))
    extra = quotient.bit_length() - _WORD
    return (-(-quotient >> extra), extra - shift) if extra > 0 else (quotient << -extra, extra - shift)


@dataclass(frozen=True, slots=True, eq=False)
class Corridor:
    """The tables of one corridor.

    Parameters
    ----------
    steps : tuple of StepWeights
        One for each cell.
    lows : tuple of int
        First state of each column 0..m.
    mantissas : tuple of ndarray
        Of each column, in [½, 1) or zero.
    exponents : tuple of ndarray
        Of each column.
    """

    steps: tuple[StepWeights, ...]
    lows: tuple[int, ...]
    mantissas: tuple[NDArray[np.float64], ...]
    exponents: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, places: Sequence[int], points: int, lows: Sequence[int], highs: Sequence[int]) -> Corridor:
        """Fill the tables.

        Parameters
        ----------
        places : sequence of int
            v_j of each of the m cells, at least 1.
        points : int
            k.
        lows, highs : sequence of int
            The corridor after each cell, both rising, within 0..k; the last is k..k.
        """
        if not 1 <= points <= MOST_POINTS:
            raise PlanError(f"A corridor takes 1 to {MOST_POINTS:,} points.")
        steps = tuple(step_weights(place, points) for place in places)
        starts, mantissas, exponents = [0], [np.ones(1) / 2], [np.ones(1, dtype=np.int64)]
        for step, low, high in zip(steps, lows, highs, strict=True):
            mantissa, exponent = _column(step, points, starts[-1], mantissas[-1], exponents[-1], low, high)
            starts.append(low)
            mantissas.append(mantissa)
            exponents.append(exponent)
        return cls(steps, tuple(starts), tuple(mantissas), tuple(exponents))

    @property
    def total(self) -> tuple[int, int]:
        """A_m(k) as an integer mantissa and an exponent; mantissa 0 where no path fits."""
        return self.entry(len(self.steps), 0)

    def entry(self, column: int, place: int) -> tuple[int, int]:
        """One table entry as an integer mantissa and an exponent, exactly."""
        mantissas = self.mantissas[column]
        if place >= mantissas.size:
            return 0, 0
        return int(mantissas[place] * 2.0**_WORD), int(self.exponents[column][place]) - _WORD

    @property
    def log2(self) -> float:
        """About log₂ A_m(k); minus infinity where no path fits."""
        mantissa, exponent = self.total
        return float(np.log2(mantissa)) + exponent if mantissa else -np.inf

    def draw(self, source: Iterator[int]) -> tuple[int, ...] | None:
        """Try to draw one path's steps: each path with probability w̃/A_m(k) exactly, else nothing.

        Parameters
        ----------
        source : iterator of int
            Uniform 64-bit words.
        """
        state, found = self.lows[-1], []
        for column in range(len(self.steps), 0, -1):
            step = self._back(column, state, source)
            if step is None:
                return None
            found.append(step)
            state -= step
        return tuple(reversed(found))

    def _back(self, column: int, state: int, source: Iterator[int]) -> int | None:
        """Draw the step that led to a state; nothing with the probability that rounding up left over."""
        whole, power = self.entry(column, state - self.lows[column])
        weights, low = self.steps[column - 1], self.lows[column - 1]
        mantissas, exponents = self.mantissas[column - 1], self.exponents[column - 1]
        word, known = next(source), 64
        sums, unit = 0, power - 2 * _WORD
        for before in range(min(low + mantissas.size - 1, state), low - 1, -1):
            part = int(mantissas[before - low] * 2.0**_WORD) * weights.mantissas[state - before]
            if not part:
                continue
            shift = int(exponents[before - low]) - _WORD + weights.exponents[state - before] - unit
            if shift < 0:
                sums, unit, shift = sums << -shift, unit + shift, 0
            sums += part << shift
            total = whole << (power - unit) if power >= unit else whole
            while True:
                edge = sums << known
                if (word + 1) * total <= edge:
                    return state - before
                if word * total >= edge:
                    break
                word, known = (word << 64) | next(source), known + 64
        return None


def _column(
    step: StepWeights,
    points: int,
    start: int,
    mantissas: NDArray[np.float64],
    exponents: NDArray[np.int64],
    low: int,
    high: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """One step of the recursion, rounded up."""
    if high < low:
        return np.zeros(1), np.full(1, _NOTHING, dtype=np.int64)
    # at row s and column t: the step from state start + t to state low + s
    shape, last = (high - low + 1, mantissas.size), points + low - start
    powers = _diagonals(step.powers, shape, last) + exponents
    top = powers.max(axis=1)
    powers -= top[:, None]
    np.maximum(powers, -_BIAS + 1, out=powers)
    scales = ((powers + _BIAS) << _FRACTION).view(np.float64)
    scales *= _diagonals(step.scaled, shape, last)
    mantissa, extra = np.frexp((scales @ mantissas) * _ABOVE)
    return mantissa, np.where(mantissa > 0, top + extra, _NOTHING)


def _diagonals(values: NDArray[Any], shape: tuple[int, int], first: int) -> NDArray[Any]:
    """View ``values[first + row - column]`` as a matrix; numpy refuses one that leaves the values."""
    size = values.itemsize
    return np.ndarray(shape, values.dtype, values, first * size, (size, -size))
