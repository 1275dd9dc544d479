r"""Exact losses between two output laws that can be written down: for audits and exhibits, outside every ledger.

A :class:`Pair` is two arrays of probabilities over the same outcomes. Its pure loss is the largest :math:`|\ln p/q|`, its
(ε, δ) loss the least ε with :math:`\sum (p - e^ε q)_+ ≤ δ` in both directions, its ρ the largest :math:`D_α/α` over a grid of
Rényi orders (so never above the true one). Refuses laws that do not sum to one.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import PlanError

Floats = NDArray[np.float64]

_ORDERS = (1.001, 1.01, 1.05, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 8.0, 15.0, 30.0, 60.0)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A loss, the event that shows it, and its two probabilities (NaN for a divergence, which is no event)."""

    loss: float
    event: str
    first: float
    second: float

    @property
    def swapped(self) -> bool:
        """Whether the event is likelier under the second law."""
        return self.second > self.first


@dataclass(frozen=True, slots=True)
class Pair:
    """Two laws over the same outcomes.

    Parameters
    ----------
    outcomes : sequence of str
        What each outcome is called.
    first, second : ndarray, shape (outcomes,)
        Log-probabilities.
    unbounded : bool
        Whether the ratio grows without end beyond the listed outcomes, as that of two Gaussians does.
    """

    outcomes: Sequence[str]
    first: Floats
    second: Floats
    unbounded: bool = False

    def pure(self) -> Evidence:
        """Return the largest log-ratio; infinite when one law can do what the other cannot."""
        able = np.isfinite(self.first) | np.isfinite(self.second)
        ratio = np.zeros(self.first.shape)
        ratio[able] = np.abs(self.first[able] - self.second[able])
        # Of the outcomes that tell most, the likeliest is shown.
        chances = np.maximum(self.first, self.second)
        at = int(np.argmax(np.where(ratio >= ratio.max() - 1e-9, chances, -np.inf)))
        sides = math.exp(self.first[at]), math.exp(self.second[at])
        if self.unbounded:
            return Evidence(math.inf, f"the output lies at {self.outcomes[at]} or further out", *sides)
        return Evidence(float(ratio[at]), f"the output is {self.outcomes[at]}", *sides)

    def approximate(self, delta: float) -> Evidence:
        """Return the least ε at which both directions leave at most `delta`."""
        directions = [(self.first, self.second), (self.second, self.first)]
        losses = [_least_epsilon(p, q, delta) for p, q in directions]
        way = int(np.argmax(losses))
        p, q = directions[way]
        # At the found ε itself the event may be empty; just below it, it is what exceeds delta.
        edge = max(losses[way] - 1e-7, 0.0)
        event = p > q + edge if math.isfinite(edge) else np.isfinite(p) & ~np.isfinite(q)
        likely, unlikely = float(np.exp(p[event]).sum()), float(np.exp(q[event]).sum())
        sides = (likely, unlikely) if way == 0 else (unlikely, likely)
        return Evidence(losses[way], self._words(event), *sides)

    def delta(self, epsilon: float) -> float:
        """Return the least δ beside an ε, in both directions."""
        ways = ((self.first, self.second), (self.second, self.first))
        return max(_hockey_stick(p, q, epsilon) for p, q in ways)

    def concentrated(self) -> Evidence:
        """Return the largest D_α/α over the grid of orders, both ways round."""
        best = Evidence(0.0, "Rényi divergence of any order", math.nan, math.nan)
        for order in _ORDERS:
            for p, q in ((self.first, self.second), (self.second, self.first)):
                loss = _renyi(p, q, order) / order
                if loss > best.loss:
                    best = Evidence(loss, f"Rényi divergence of order {order:g}", math.nan, math.nan)
        return best

    def _words(self, event: NDArray[np.bool_]) -> str:
        names = [self.outcomes[i] for i in np.flatnonzero(event).tolist()]
        if len(names) <= 4:
            return f"the output is {' or '.join(names) or 'none'}"
        return f"the output is one of {len(names)} values, {names[0]} … {names[-1]}"


def _hockey_stick(p: Floats, q: Floats, epsilon: float) -> float:
    return float(np.clip(np.exp(p) - np.exp(np.minimum(q + epsilon, 700.0)), 0.0, None).sum())


def _least_epsilon(p: Floats, q: Floats, delta: float) -> float:
    alone = float(np.exp(p[~np.isfinite(q)]).sum())
    delta *= 1 + 1e-9  # the logarithms' rounding
    if alone > delta:
        return math.inf
    if _hockey_stick(p, q, 0.0) <= delta:
        return 0.0
    both = np.isfinite(p) & np.isfinite(q)
    low, high = 0.0, float(np.max((p - q)[both]))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _hockey_stick(p, q, middle) > delta else (low, middle)
    return high


def _renyi(p: Floats, q: Floats, order: float) -> float:
    able = np.isfinite(p)
    if not np.isfinite(q[able]).all():
        return math.inf
    terms = order * p[able] + (1 - order) * q[able]
    top = float(terms.max())
    return (top + math.log(float(np.exp(terms - top).sum()))) / (order - 1)


def log_probability(value: Fraction | float) -> float:
    """Return the logarithm of a float or exact probability."""
    if isinstance(value, Fraction | int):
        exact = Fraction(value)
        return math.log(exact.numerator) - math.log(exact.denominator) if exact > 0 else -math.inf
    return math.log(value) if value > 0 else -math.inf


def pair_of_laws(
    first: Mapping[Hashable, Fraction | float], second: Mapping[Hashable, Fraction | float]
) -> Pair:
    """Return two laws given as mappings from outcome to probability, over the union of their outcomes.

    Raises
    ------
    PlanError
        When one of them does not sum to 1 within 10⁻⁹, or has a negative probability.
    """
    for law in (first, second):
        total = float(sum(law.values()))
        if any(p < 0 for p in law.values()) or not abs(total - 1) < 1e-9:
            raise PlanError(
                f"A law must map every outcome to a probability, and they must sum to 1, not {total:.6g}."
            )
    outcomes = list(dict.fromkeys([*first, *second]))
    return Pair(
        [str(outcome) for outcome in outcomes],
        np.array([log_probability(first.get(outcome, 0)) for outcome in outcomes]),
        np.array([log_probability(second.get(outcome, 0)) for outcome in outcomes]),
    )
