"""Exact audit of quantile selection: the whole output law on neighbouring multisets, in integers.

A law is a list of (integer weight, number of grid points that have it), in one order for all multisets over the same atoms;
only the last step, the logarithm of a ratio of integers, is a float (relative error below 1e-14).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np

from dpnb.inference.selection_law import probabilities
from dpnb.trusted.mechanisms import exponential

Multiset = tuple[int, ...]


def counted(rows: Multiset) -> tuple[np.ndarray, np.ndarray]:
    """The multiset as the mechanism takes it."""
    tally = sorted(Counter(rows).items())
    return np.array([at for at, _ in tally], dtype=np.int64), np.array([n for _, n in tally], dtype=np.int64)


def multisets(points: int, size: int) -> Iterator[Multiset]:
    """All multisets of `size` values on 0..points-1."""
    return combinations_with_replacement(range(points), size)


def changed(rows: Multiset, points: int) -> set[Multiset]:
    """Neighbours under change-one."""
    return {tuple(sorted((*less, at))) for less in removed(rows) for at in range(points)} - {rows}


def removed(rows: Multiset) -> set[Multiset]:
    """Neighbours with one row fewer."""
    return {rows[:at] + rows[at + 1 :] for at in range(len(rows))}


def log_law(mechanism, rows: Multiset) -> np.ndarray:
    """Log-probability of every grid point; -inf for an impossible one."""
    law = probabilities(mechanism, counted(rows))
    exact = [Fraction(p) for p in law]
    return np.array([math.log(p.numerator) - math.log(p.denominator) if p else -math.inf for p in exact])


def gap(one: np.ndarray, two: np.ndarray) -> float:
    """The largest log-ratio between two output laws, either way round; infinite if one can do what the other cannot."""
    if (np.isinf(one) != np.isinf(two)).any():
        return math.inf
    able = np.isfinite(one)
    return float(np.max(np.abs(one[able] - two[able]), initial=0.0))


def worst(mechanism, size: int, adjacency: str) -> float:
    """The largest log-ratio over all neighbouring multisets of up to `size` rows over the mechanism's whole grid."""
    points = mechanism.steps + 1
    laws = {rows: log_law(mechanism, rows) for n in range(size + 1) for rows in multisets(points, n)}
    near = removed if adjacency == "add-remove" else lambda rows: changed(rows, points)
    return max(gap(law, laws[other]) for rows, law in laws.items() for other in near(rows))


def weigher(mechanism, rows: Multiset) -> Callable[[int], int]:
    """The exact integer weight of single points of a grid too long to list."""
    terrain = exponential.Terrain.of(counted(rows), mechanism.q, mechanism.offset, mechanism.steps)
    return lambda point: mechanism.weight(terrain.penalty(point))


def sparse_log_law(mechanism, rows: Multiset) -> Callable[[int], float]:
    """Log-probability of single points of a long grid; weights are constant between the values of `rows`."""
    weigh = weigher(mechanism, rows)
    marks = sorted({0, mechanism.steps, *rows})
    total = sum(weigh(mark) for mark in marks)
    total += sum((right - left - 1) * weigh(left + 1) for left, right in pairwise(marks) if right > left + 1)
    return lambda point: math.log(weigh(point)) - math.log(total)


def tight_pair(
    mechanism_of, epsilon: Fraction, steps: int = 2**40, copies: int | None = None
) -> tuple[float, float]:
    """Claim and loss on a pair of neighbours made to attain ε with weights that are rounded near their floor.

    {0, 1 × K, 2} and {1 × K, 2, steps} with target rank K + 1: the point 0 gets one penalty more while the best region grows
    from two points to nearly all of the grid, which costs e in the limit; K is the last penalty above the floor.
    """
    bits = 60 + steps.bit_length() - 20
    copies = copies or int(bits * math.log(2) / (float(epsilon) / 2)) - 2
    mechanism = mechanism_of(epsilon, Fraction(copies + 1, copies + 2), steps)
    one = sparse_log_law(mechanism, (0, *[1] * copies, 2))
    two = sparse_log_law(mechanism, (*[1] * copies, 2, steps))
    return float(epsilon), max(abs(one(point) - two(point)) for point in (0, 1, 2, 3, steps))
