"""Intervals by inverting a test: every value that the noise (and sampling) cannot reject at the level is inside.

Delta-method intervals for ratios cover 86 to 90 % where a nominal 95 % is claimed at small ``n ε``; the set of values that
pass the exact test covers at every size (Fieller). Where that set is unbounded the public domain is returned.

:func:`accepted` does the same for one cell or for arrays of cells: a hundred thousand tests are inverted at once, each entry
by itself, so that its limits do not depend on its neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpnb.inference.elementwise import Floats, Number, Truth, subset

_STEPS = 60
_TINY = 1e-300
_CLOSE = 1e-9
_NARROW, _NEAR = 1e-10, 1e-14
_BEND = 0.7


def accepted_interval(
    p_value: Callable[[float], float],
    start: float,
    low: float,
    high: float,
    alpha: float,
    *,
    sd: float | None = None,
) -> tuple[float, float]:
    """Return the hull, around a starting point, of the values whose p-value is at least ``alpha``.

    Parameters
    ----------
    p_value : callable
        The p-value of a candidate; close to one at the best supported value, falling away from it.
    start : float
        The best supported value; moved into the domain first.
    low, high : float
        The public domain.
    alpha : float
        One minus the level.
    sd : float, optional
        About the standard deviation of the error of ``start``: where the search begins.

    Returns
    -------
    (float, float)
        Inside the domain; a single point where no value of the domain passes.
    """
    centre = min(max(start, low), high)
    above = math.log(max(p_value(centre), _TINY)) - math.log(alpha)
    if above < 0:
        return centre, centre
    reach = 0.25 * (high - low) if sd is None else 2 * sd
    return (
        _edge(p_value, (centre, above), low, alpha, reach),
        _edge(p_value, (centre, above), high, alpha, reach),
    )


def _edge(
    p_value: Callable[[float], float], best: tuple[float, float], limit: float, alpha: float, reach: float
) -> float:
    """Return the limit, or where the p-value crosses ``alpha`` before it: the steps of :func:`_solve`, for floats."""
    if p_value(limit) >= alpha:
        return limit
    (last, gap_last), target = best, math.log(alpha)
    inside, outside = last, limit
    guess = inside + math.copysign(min(reach, 0.9 * abs(limit - inside)), limit - inside)
    for step in range(_STEPS):
        gap = math.log(max(p_value(guess), _TINY)) - target
        if gap >= 0:
            inside = guess
        else:
            outside = guess
        if abs(gap) < _CLOSE:
            return guess
        if abs(outside - inside) <= _NARROW * (abs(outside) + abs(inside)) + _NEAR:
            break
        if gap == gap_last:  # inside the half grid step where every p-value is one
            newer = guess + 2 * (guess - last)
        elif step == 0 and gap < gap_last:
            newer = last + (guess - last) * (gap_last / (gap_last - gap)) ** _BEND
        else:
            newer = guess - gap * (guess - last) / (gap - gap_last)
        last, gap_last = guess, gap
        crossed = (newer - inside) * (newer - outside) < 0 and step % 8 != 7
        guess = newer if crossed else 0.5 * (inside + outside)
    return outside


Test = Callable[[Any, Number], Number]


def accepted(
    test: Test,
    cell: object,
    start: Number,
    low: Number,
    high: Number,
    level: float,
    *,
    sd: Number = None,
    lost: Truth = False,
) -> tuple[Number, Number]:
    """Return :func:`accepted_interval` for a cell, or for every entry of a cell of arrays.

    Parameters
    ----------
    test : callable
        ``test(cell, candidate)`` is the p-value of a candidate; one at ``start`` moved into the domain. Candidates lie in the domain, so
        that one moved there is no further from the true one: tests that measure from it hold their level, and accept an interval of
        some width whatever the noise did (power-constrained limits).
    cell : frozen dataclass
        What was released: numbers, or arrays that broadcast to the shape of ``start``.
    start, low, high : float, or array
        The best supported value and the public domain.
    level : float
        Level of the interval.
    sd : float or array, optional
        About the standard deviation of the error of ``start``: where the search begins.
    lost : bool or array
        Of which entries nothing is known, so that all of the domain is accepted.
    """
    if not isinstance(start, np.ndarray):
        if lost:
            return low, high
        return accepted_interval(lambda candidate: test(cell, candidate), start, low, high, 1 - level, sd=sd)
    lows, highs = (np.broadcast_to(np.asarray(limit, dtype=float), start.shape) for limit in (low, high))
    centre, above = np.clip(start, lows, highs), np.full(start.shape, -math.log(1 - level))
    moved = centre != start
    if moved.any():
        above[moved] = _log_gap(test, subset(cell, start.shape, moved), centre[moved], 1 - level)
    reach = np.broadcast_to(0.25 * (highs - lows) if sd is None else 2 * sd, start.shape)
    first, second = (_edges(test, cell, (centre, above, reach), end, 1 - level) for end in (lows, highs))
    return np.where(lost, lows, first), np.where(lost, highs, second)


def _log_gap(test: Test, cell: object, candidate: Floats, alpha: float) -> Floats:
    return np.asarray(np.log(np.maximum(test(cell, candidate), _TINY)) - math.log(alpha))


def _edges(test: Test, cell: object, known: tuple[Floats, ...], limit: Floats, alpha: float) -> Floats:
    """Return the furthest accepted value of each entry towards its limit; the centre where even that is rejected."""
    centre, above, reach = known
    shut = above < 0
    gap = _log_gap(test, cell, limit, alpha)
    found = np.where(shut, centre, limit)
    todo = ~shut & (gap < 0)
    if todo.all():
        return _solve(test, cell, (centre, limit, _guess(centre, limit, reach)), above, alpha)
    if todo.any():
        few, inside, outside = subset(cell, centre.shape, todo), centre[todo], limit[todo]
        points = inside, outside, _guess(inside, outside, reach[todo])
        found[todo] = _solve(test, few, points, above[todo], alpha)
    return found


def _guess(inside: Floats, outside: Floats, reach: Floats) -> Floats:
    gap = outside - inside
    return np.asarray(inside + np.copysign(np.minimum(reach, 0.9 * np.abs(gap)), gap))


def _solve(test: Test, cell: object, points: tuple[Floats, ...], above: Floats, alpha: float) -> Floats:
    """Return where the p-value crosses ``alpha``: secant steps, bisection where they leave the bracket.

    Parameters
    ----------
    points : (inside, outside, guess)
        An accepted value, a rejected one, and one between them.
    above : array
        Logarithm of the p-value over ``alpha`` at the accepted value.
    """
    inside, outside, guess = points
    found, last, gap_last = outside.copy(), inside, above
    places, active = np.arange(inside.size).reshape(inside.shape), np.ones(inside.shape, dtype=bool)
    for step in range(_STEPS):
        gap = _log_gap(test, cell, guess, alpha)
        held = gap >= 0
        inside, outside = np.where(held, guess, inside), np.where(held, outside, guess)
        close = np.abs(gap) < _CLOSE
        found.reshape(-1)[places[active]] = np.where(close, guess, outside)[active]
        active &= ~close & (np.abs(outside - inside) > _NARROW * (np.abs(outside) + np.abs(inside)) + _NEAR)
        if not active.any():
            break
        newer = _newer(step, (guess, gap), (last, gap_last))
        between = (newer - inside) * (newer - outside) < 0
        last, gap_last = guess, gap
        guess = np.where(between & (step % 8 != 7), newer, 0.5 * (inside + outside))
        if np.count_nonzero(active) < 0.7 * active.size:
            cell, places = subset(cell, active.shape, active), places[active]
            inside, outside, guess = inside[active], outside[active], guess[active]
            last, gap_last, active = last[active], gap_last[active], active[active]
    return found


def _newer(step: int, now: tuple[Floats, ...], before: tuple[Floats, ...]) -> Floats:
    """Return the next guess: first along a power law between a Laplace and a Gaussian tail, then along the secant."""
    (guess, gap), (last, gap_last) = now, before
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        newer = guess - gap * (guess - last) / (gap - gap_last)
        if step == 0:
            power = last + (guess - last) * (gap_last / (gap_last - gap)) ** _BEND
            newer = np.where(gap < gap_last, power, newer)
    return np.asarray(np.where(gap == gap_last, guess + 2 * (guess - last), newer))
