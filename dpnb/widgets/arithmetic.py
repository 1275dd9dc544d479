"""What a magic line costs, and whole weights for its shares. The page computes the same while it is dragged (``src/maths/budget.ts``).

Floats, for drawing alone: what is charged is computed exactly elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

_CLOSE = 1e-8

Rate = float | Sequence[Sequence[Any]]
"""What a loss of one costs; or the events of a loss of one, where ρ is counted and ε asked."""


def whole_weights(shares: Sequence[float]) -> list[int]:
    """Return small whole weights that stand for some shares, to one part in a hundred.

    Examples
    --------
    >>> whole_weights([0.5, 0.25, 0.25])
    [2, 1, 1]
    """
    total = sum(shares)
    for parts in range(len(shares), 101):
        tried = [_rounded(share / total * parts) for share in shares]
        close = all(
            w > 0 and abs(w / parts - share / total) <= 0.0051 for w, share in zip(tried, shares, strict=True)
        )
        if close and sum(tried) == parts:
            return tried
    return [max(1, _rounded(share / total * 100)) for share in shares]


def event_rho(event: Sequence[Any], loss: float = 1.0) -> float:
    """Return the ρ of a privacy event at so many times its ε; in floats, for drawing: see :mod:`dpnb.trusted.privacy.conversion`.

    Parameters
    ----------
    event : sequence
        Kind, amount, δ, how many, and the moves of a ``laplace`` event.
    loss : float
        By how much its ε, or its ρ, is multiplied.
    """
    kind, amount, _, times, *moves = event
    epsilon = amount * loss
    if kind == "gaussian":
        return float(times * epsilon)
    most = epsilon * math.tanh(epsilon / 2)
    if kind == "exponential":
        most = min(most, epsilon**2 / 8)
    if kind == "laplace":
        most = min(
            most,
            max(math.fsum(_entry_rho(shift, scale / loss) for shift, scale in move) for move in moves[0]),
        )
    return float(times * most)


def _entry_rho(shift: float, scale: float) -> float:
    epsilon, x = shift / scale, 1 / scale
    return epsilon + math.expm1(-epsilon) * (x / math.sinh(x) if x < 300 else 0.0)


def cost_of(loss: float, held: float | None, rate: Rate, power: float) -> float:
    """Return what a question is charged at a loss: nothing where a stored answer of its own covers that.

    Parameters
    ----------
    loss : float
        What is asked.
    held : float or None
        The loss of the stored answer, if there is one.
    rate : float, or events
        The charge of a loss that is bought: ``rate * loss ** power``, or that of the events at this loss.
    power : float
        See `rate`.
    """
    if loss == 0 or covers(held, loss):
        return 0.0
    if isinstance(rate, int | float):
        return rate * loss**power
    return math.fsum(event_rho(event, loss) for event in rate)


def covers(held: float | None, loss: float) -> bool:
    """Return whether a stored answer is enough for a loss."""
    return held is not None and loss <= held * (1 + _CLOSE)


def largest_loss(
    shares: Sequence[float],
    held: Sequence[float | None],
    rates: Sequence[Rate],
    power: float,
    left: float,
    top: float,
) -> float:
    """Return the largest loss of three digits, split by shares, that is charged at most what is left; at most `top`."""

    def charged(loss: float) -> float:
        each = zip(shares, held, rates, strict=True)
        return math.fsum(cost_of(loss * share, kept, rate, power) for share, kept, rate in each)

    low, high = 0.0, top
    if charged(high) <= left * (1 + 1e-9):
        return floored3(high)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if charged(middle) <= left else (low, middle)
    return floored3(low)


def floored3(value: float) -> float:
    """Return a value rounded down to three significant digits."""
    if value <= 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return float(f"{math.floor(value / unit + 1e-6) * unit:.2e}")


def line_weights(losses: Sequence[float], held: Sequence[float | None], total: float) -> list[int]:
    """Return whole weights that stand for the losses of a cell, 0 for what is left out.

    A stored answer that covers its loss still covers it after rounding: then the weights are finer.

    Parameters
    ----------
    losses : sequence of float
        What is asked of each question.
    held : sequence of float or None
        What the stored answer of each has cost.
    total : float
        What the magic line asks for all of them.
    """
    asked = [loss for loss in losses if loss > 0]
    if not asked:
        return [0 for _ in losses]
    small = iter(whole_weights([loss / math.fsum(asked) for loss in asked]))
    weights = [next(small) if loss > 0 else 0 for loss in losses]
    free = [loss > 0 and covers(kept, loss) for loss, kept in zip(losses, held, strict=True)]
    if not _beyond(weights, held, free, total):
        return weights
    weights = [max(1, math.floor(1000 * loss / math.fsum(asked))) if loss > 0 else 0 for loss in losses]
    while (far := _beyond(weights, held, free, total)) and any(weights[i] > 1 for i in far):
        weights = [w - 1 if i in far and w > 1 else w for i, w in enumerate(weights)]
    return weights


def _beyond(
    weights: Sequence[int], held: Sequence[float | None], free: Sequence[bool], total: float
) -> set[int]:
    whole = sum(weights)
    return {i for i, weight in enumerate(weights) if free[i] and not covers(held[i], total * weight / whole)}


def combined(first: float, second: float) -> float:
    """Return the half-width of two independent answers combined by inverse variance."""
    return 1 / math.sqrt(1 / first**2 + 1 / second**2)


def _rounded(value: float) -> int:
    return math.floor(value + 0.5)
