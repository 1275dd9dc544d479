"""What else one release says, free: readings that a statistic lists, each a function of its releases.

A noisy tree has a median and a cumulative distribution, a matrix of moments every regression on its columns. A reading is checked on
the line that writes it, before the release too; :mod:`dpnb.estimate.reading` makes it a method of the estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dpnb.statistics.outcome import Outcome
from dpnb.trusted.releases import Release


@dataclass(frozen=True, slots=True)
class Read:
    """One reading with its arguments, checked against the public setting.

    Parameters
    ----------
    text : str
        What follows the text of the question, for example ``".quantile(0.5)"``.
    shape : tuple of int, optional
        Shape of the answer; nothing where only the release tells it.
    axes : tuple of Axis
        Its public directions.
    conclude : callable
        Outcome of the releases of the question.
    products : tuple of (int, int, int)
        Of moments: places of two columns, and of the column that it takes for their product, for a forecast.
    """

    text: str
    shape: tuple[int, ...] | None
    axes: tuple[Any, ...]
    conclude: Callable[[Sequence[Release]], Outcome]
    products: tuple[tuple[int, int, int], ...] = ()


ReadingFunction = Callable[..., Read] | None
"""``(setting, *args, **kwargs) -> Read``: run at once, so that bad arguments are refused where they are written.

Nothing where it makes something else than an estimate, for example a test: the method of that name in :mod:`dpnb.estimate.reading`.
"""
