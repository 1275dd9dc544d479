"""Permute-and-flip: the exact choice of one of a few declared values by how many rows have it.

Refuses floating-point probabilities: every coin is flipped with a probability of exactly e^-x, x rational, so that there is
no rounding to be paid for. Picks several values, one after the other and without repetition, where asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpnb.trusted.errors import PlanError
from dpnb.trusted.mechanisms._base import Mechanism, above_zero
from dpnb.trusted.noise.bits import BitSource
from dpnb.trusted.noise.exact import bernoulli_exp, uniform_below


@dataclass(frozen=True, slots=True)
class PermuteAndFlip(Mechanism):
    r"""Pick indices with large counts from each cell of a vector of counts.

    Parameters
    ----------
    epsilon : Fraction
        With ``factor`` the rate λ of a pick. It is no price: what a pick is charged is derived from how far one person moves the scores
        apart, whatever is said here (:func:`dpnb.trusted.measurements.selections.pick_events`).
    size : int
        Number of declared values in a cell.
    picks : int
        How many different values are picked, best first.
    factor : int
        In how many parts ε is divided. The charge is at most ε for each pick where this is at least the number of steps between
        neighbours, a step being one row more or less in one count.

    Notes
    -----
    *Assumes.* Candidates are declared values, not observed ones; neighbours differ by at most the declared number of single-row steps in the
    counts; the random words are independent and uniform.

    *Law.* With :math:`λ = ε/factor` the values of a cell are visited in a uniformly random order; value i, with :math:`q_i`
    rows, is taken with probability :math:`e^{-λ(\max q - q_i)}`, and the first one taken is the answer. A largest value is
    always taken, so one round suffices.

    *Privacy.* The law is that of :math:`\arg\max_i q_i + R_i` with independent exponential :math:`R_i` of rate λ (Ding et al.).
    Let one row more make :math:`q_j` larger by 1. For :math:`i ≠ j` the probability P(i) falls, and

    .. math:: P'(i) = ∫_0^∞ λe^{-λr} P(\text{all others} < q_i + r)\,dr
              ≥ ∫_0^∞ λe^{-λ(s+1)} P(\text{all others} + 1 < q_i + s + 1)\,ds ≥ e^{-λ}P(i),

    where only :math:`r = s+1 ≥ 1` was kept and all other scores, not only j's, were made larger by 1. For j it grows, and
    :math:`P'(j) = ∫_1^∞ λe^{-λ(s-1)} P(\text{others} < q_j+s)\,ds ≤ e^{λ}P(j)`. So a step costs at most λ, in one cell alone;
    *factor* steps between neighbours cost at most ε, however they fall over the cells. Later picks leave out what was
    picked: they are adaptive compositions, ε each. It is not of bounded range: in a ρ ledger a pick is charged ε·tanh(ε/2), never ε²/8.

    *Other scores.* A common shift of all scores changes no probability. So let neighbours move score i by :math:`d_i` with
    :math:`\max d - \min d ≤ s`; shifted, all of them grow by between 0 and s, and the two lines above, with s for 1, give
    :math:`e^{-λs}P(i) ≤ P'(i) ≤ e^{λs}P(i)`. With *factor* at least s the cost is at most ε.

    *Accuracy.* A value that has t rows fewer than the best must win a coin of :math:`e^{-λt}`: see :func:`dpnb.inference.selection_law.count_radius`.

    References
    ----------
    McKenna, Sheldon, *Permute-and-Flip* (2020); Ding, Kifer, Sayed et al., *The permute-and-flip mechanism is identical to
    report-noisy-max with exponential noise* (2021).

    Examples
    --------
    >>> from dpnb.inference.seeded_bits import SeededBits
    >>> PermuteAndFlip(Fraction(2), 3).release([10, 200, 30], SeededBits(1))
    (1,)
    """

    name: ClassVar[str] = "permute-and-flip"
    title = "Permute-and-flip"
    phrase = "permute-and-flip"
    drawn = "permute-and-flip at ε {epsilon} a pick"
    summary = (
        "Picks one of a list of declared values by its count. The values are visited in random order, and each is taken "
        "with probability e^(-ε·gap/factor), where gap is the number of rows by which it falls short of the most frequent one. Every "
        "coin is exact, so nothing is lost to rounding. It is never less accurate than the exponential mechanism."
    )
    reference = "McKenna, Sheldon 2020; Ding et al. 2021; proof in the docstring, audited by enumeration"
    shaped: ClassVar[tuple[str, ...]] = ("size", "picks")

    epsilon: Fraction
    size: int
    picks: int = 1
    factor: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", above_zero(self.epsilon, "epsilon"))
        if not 1 <= self.picks <= self.size or self.factor < 1:
            raise PlanError("A selection picks at least one and at most all of its declared values.")

    def work(self, cells: int) -> int:
        """A hundred candidates of a pick count as one number."""
        return cells * self.size // 100

    @property
    def rate(self) -> Fraction:
        """What a gap of one row costs a value in the exponent: ε/factor."""
        return self.epsilon / self.factor

    def release(self, counts: Sequence[int], bits: BitSource) -> tuple[int, ...]:
        """Pick indices, exactly in law.

        Parameters
        ----------
        counts : sequence of int
            ``size`` exact counts for each cell, cell after cell.
        bits : BitSource
            Source of random words.

        Returns
        -------
        tuple of int
            ``picks`` indices in 0..size-1 for each cell, best first.
        """
        picked: list[int] = []
        for start in range(0, len(counts), self.size):
            cell = [int(count) for count in counts[start : start + self.size]]
            left = list(range(self.size))
            for _ in range(self.picks):
                index = self._pick(cell, left, bits)
                left.remove(index)
                picked.append(index)
        return tuple(picked)

    def _pick(self, counts: Sequence[int], among: Sequence[int], bits: BitSource) -> int:
        order, best = list(among), max(counts[index] for index in among)
        while True:
            place = uniform_below(len(order), bits)
            index = order[place]
            if bernoulli_exp(self.rate * (best - counts[index]), bits):
                return index
            order[place] = order[-1]
            order.pop()
