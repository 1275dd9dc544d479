"""A function that makes one answer, run for many answers at once: its generator hands out arrays in place of numbers.

``sum(data) + rng.laplace(0, 2)`` is the same arithmetic on one draw and on 200,000. What is not (``if noise > 0``, ``float(noise)``, draws of
a size of their own) fails on arrays, and is then called once a run. What neither fails nor means the same (``noise - noise.mean()``) is
found by comparing with single runs; where they disagree, single runs count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.audit.sampling import runs_of, tabulate, takes
from dpnb.errors import PlanError

_SINGLE, _MANY = 300, 4_000
_DISAGREE = 1e-9
_DRAWS = frozenset(
    {
        *(
            "binomial",
            "chisquare",
            "choice",
            "exponential",
            "gamma",
            "geometric",
            "gumbel",
            "integers",
            "laplace",
        ),
        *("logistic", "lognormal", "negative_binomial", "normal", "poisson", "random", "rayleigh"),
        *("standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal", "standard_t"),
        *("triangular", "uniform", "weibull"),
    }
)


class ArrayDraws:
    """A generator of which every draw of one number is an array of `size` of them."""

    def __init__(self, rng: np.random.Generator, size: int) -> None:
        self._rng, self._size = rng, size

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in _DRAWS:
            raise AttributeError(name)
        draw = getattr(self._rng, name)
        return lambda *given, **named: draw(*given, size=self._size, **named)


def vectorised(
    mechanism: Callable[..., Any], pair: tuple[Any, Any], rng: np.random.Generator
) -> Callable[..., Any] | None:
    """Return a mechanism of one answer as one that takes ``size``, or None where that changes what it does.

    Parameters
    ----------
    mechanism : callable
        ``mechanism(data, rng)``.
    pair : tuple
        The two datasets on which both forms are compared.
    rng : numpy Generator
    """
    if takes(mechanism) != {"rng"}:
        return None

    def many(data: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        return _rows(mechanism(data, rng=ArrayDraws(rng, size)), size)

    return many if all(_agree(mechanism, many, data, rng) for data in pair) else None


def _rows(found: Any, size: int) -> NDArray[Any]:
    """Return one row for each run: an array, or a tuple of arrays side by side."""
    if isinstance(found, tuple | list):
        columns = [np.asarray(part) for part in found]
        if {part.shape for part in columns} == {(size,)}:
            return np.column_stack(columns)
    rows = np.asarray(found)
    if rows.shape != (size,):
        raise PlanError(f"One answer for each of {size:,} runs was expected, not shape {rows.shape}.")
    return rows


def _agree(
    mechanism: Callable[..., Any], many: Callable[..., Any], data: Any, rng: np.random.Generator
) -> bool:
    from scipy.stats import ks_2samp

    try:
        outputs = many(data, size=_MANY, rng=rng)
        one, two = tabulate(runs_of(mechanism, data, _SINGLE, rng), outputs)
    except Exception:  # noqa: BLE001 - whatever arrays break in a function of numbers, it is called once a run
        return False
    if one.raised.any() or np.isnan(one.values).any() != np.isnan(two.values).any():
        return False
    columns = zip(one.values.T, two.values.T, strict=True)
    return all(ks_2samp(a, b).pvalue > _DISAGREE for a, b in columns)
