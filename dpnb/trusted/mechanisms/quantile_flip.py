"""Permute-and-flip for quantiles: pure ε over the indices of a public grid, never farther off than the exponential mechanism.

Refuses floating-point probabilities and a rounding to be paid for: every coin is flipped exactly, whatever the length of the grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from dpnb.trusted.mechanisms._base import Counts
from dpnb.trusted.mechanisms.exponential import QuantileSelection, Terrain, halvings, proposals
from dpnb.trusted.noise.bits import BitSource
from dpnb.trusted.noise.exact import below_exp, exp_bounds, stream, uniform_below

_WORD = 64


@dataclass(frozen=True, slots=True)
class QuantileFlip(QuantileSelection):
    r"""Select a grid index whose rank is near ``q·n + offset``, by permute-and-flip.

    Parameters, score and what one person does to it are those of :class:`~dpnb.trusted.mechanisms.exponential.QuantileSelection`.

    Notes
    -----
    *Assumes.* As there: indices of a public grid, scores that a unit moves by at most the declared factor in all cells together, and
    independent uniform words.

    *Law.* With :math:`λ = ε/(2·factor)` the grid points are visited in a uniformly random order; point v is taken with probability
    :math:`p_v = e^{-λ(\max u - u(v))}`, and the first one taken is the answer. So of those that would be taken if all were visited, each is
    the answer equally often.

    *Guarantee.* Scores move both ways: where a unit moves those of a cell by at most d, it moves two of them apart by at most 2d, and a pick
    costs λ·2d (:class:`~dpnb.trusted.mechanisms.permute_and_flip.PermuteAndFlip`, *Other scores*). Cells are independent, and all their d
    together are at most the factor: the whole costs at most λ·2·factor = ε. Nothing is rounded. It is not of bounded range: in ρ it is charged
    ε·tanh(ε/2).

    *Sampling.* Let every point have a clock that strikes at rate one, independently, and let each strike bring a uniform mark. Points in the order of
    their first strikes are in uniformly random order; v is taken if the mark of its first strike is below :math:`p_v`. Over the rings of
    :class:`~dpnb.trusted.mechanisms.exponential.Blocks` there are ceilings :math:`c_v ≥ p_v` in units of 2⁻⁶⁴. Call a strike of v with a mark below
    :math:`c_v` a call: only a call can take v. Calls come at rate :math:`C = Σc`, each at v with probability :math:`c_v/C` and with a mark that is
    uniform below :math:`c_v`. Other strikes of v come at rate :math:`1-c_v`, independently of all calls. So calls are drawn in their order, and a
    call takes its point if (1) it is the point's first call, (2) no other strike of the point came before, and (3) the mark is below
    :math:`p_v`, compared with rational bounds of e^(-x), by as many bits as that takes.

    (2) *needs no times.* The time up to a call is kept as a sum of independent exponential pieces, known by their rates alone; each call adds
    one of rate C. Let other strikes of v come at rate t. In a piece of rate r the first of them comes after its end with probability r/(r+t);
    given that, the piece has rate r+t; given that it comes before, the piece is one of rate r+t up to it and an independent one of rate r
    after it (exponential times have no memory). So one exact uniform integer below r+t decides for each piece, until one fails; pieces after
    that one tell nothing of v and stay as they are. No draw is rounded or cut off. A best point has c = p = 1 and is taken at its first call, so that
    this ends with probability one; there are some two calls on average.

    *Accuracy.* A point whose rank is wrong by r is taken with probability e^(-λ·r), and is the answer only if it is visited before the best
    point: e^(-λ·r)/2. See :func:`dpnb.inference.selection_law.rank_radius`.

    References
    ----------
    McKenna, Sheldon, *Permute-and-Flip* (2020).

    Examples
    --------
    >>> import numpy as np
    >>> from dpnb.inference.seeded_bits import SeededBits
    >>> ages = (np.array([20, 30, 40]), np.array([50, 100, 50]))
    >>> QuantileFlip(Fraction(2), Fraction(1, 2), 0, 100).release(ages, SeededBits(1))
    30
    """

    name: ClassVar[str] = "quantile-flip"
    title = "Permute-and-flip for a quantile"
    phrase = "permute-and-flip for quantiles"
    drawn = "permute-and-flip at ε {epsilon}"
    summary = (
        "Picks one point of a public grid. The points are visited in random order, and each is taken with probability e^(-ε/2) for each "
        "row by which its rank misses the target more than the best point's. Every coin is exact, so nothing is lost to rounding. It is never less "
        "accurate than the exponential mechanism at equal ε."
    )
    reference = "McKenna, Sheldon 2020; proof in the docstring, audited by enumeration"
    rounding: ClassVar[Fraction] = Fraction(0)

    @property
    def ceilings(self) -> tuple[int, tuple[int, ...]]:
        """The penalty width of a ring, and for each ring a probability in units of 2⁻⁶⁴ that none of its points exceeds."""
        return _ceilings(self.rate)

    def release(self, counts: Counts, bits: BitSource) -> int:
        """Select a grid index, exactly in law; as :meth:`QuantileSelection.release`."""
        terrain = Terrain.of(counts, self.q, self.offset, self.steps)
        called: set[int] = set()
        pieces: list[int] = []
        calls = proposals(self.rings(terrain), bits)
        while True:
            call = next(calls)
            pieces.append(call.total)
            if call.point in called:
                continue
            called.add(call.point)
            penalty = self.rate * terrain.penalty(call.point)
            first = not struck_before(pieces, (1 << _WORD) - call.ceiling, bits)
            if first and below_exp(call.height, penalty, stream(bits)):
                return call.point


def struck_before(pieces: list[int], rate: int, bits: BitSource) -> bool:
    """Decide whether a clock of some rate struck within a time, and keep in `pieces` what that tells of the time."""
    for place, piece in enumerate(pieces):
        pieces[place] = piece + rate
        if uniform_below(piece + rate, bits) >= piece:
            pieces.insert(place + 1, piece)
            return True
    return False


@lru_cache(maxsize=64)
def _ceilings(rate: Fraction) -> tuple[int, tuple[int, ...]]:
    """Width and ceilings; a ring's first penalty has its largest probability."""
    width, starts = halvings(rate, _WORD)
    return width, (*(exp_bounds(rate * start, _WORD)[1] for start in starts), 1)
