"""Runs of a mechanism on two neighbours, and confidence limits for how often something happens.

A callable is run in one go if it takes ``size``, and in a loop otherwise; it gets ``rng`` if it takes it. An exception is an
output like any other: a mechanism that fails for one dataset and answers for its neighbour gives everything away.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.errors import PlanError

Floats = NDArray[np.float64]
Mechanism = Callable[..., Any]
"""Of a dataset; and of ``size`` and ``rng``, if it takes them."""
Outputs = list[Any] | NDArray[Any]
"""What a mechanism answered, run after run: numbers, rows of numbers, texts, exceptions."""
Neighbours = tuple[object, object]


@dataclass(frozen=True, slots=True)
class Runs:
    """Outputs of many runs on one dataset.

    Parameters
    ----------
    values : ndarray, shape (runs, numbers)
        Outputs as numbers; a text or another object is the code of its name.
    raised : ndarray of bool, shape (runs,)
        Where the mechanism failed.
    names : tuple of str
        What the codes mean; empty when outputs are numbers.
    """

    values: Floats
    raised: NDArray[np.bool_]
    names: tuple[str, ...] = ()


def takes(mechanism: Mechanism) -> frozenset[str]:
    """Return which of ``size`` and ``rng`` a callable takes."""
    try:
        parameters = inspect.signature(mechanism).parameters
    except (TypeError, ValueError):
        return frozenset()
    return frozenset({"size", "rng"} & set(parameters))


def runs_of(mechanism: Mechanism, data: object, trials: int, rng: np.random.Generator) -> Outputs:
    """Run a mechanism `trials` times; a run that fails yields the exception."""
    wanted = takes(mechanism)
    given = {"rng": rng} if "rng" in wanted else {}
    if "size" in wanted:
        try:
            found = np.asarray(mechanism(data, size=trials, **given))
        except Exception as error:  # noqa: BLE001 - an exception is an output
            return [error] * trials
        if found.shape[:1] != (trials,):
            raise PlanError(
                f"A mechanism that takes size= must return one output for each run: {trials:,} rows, not shape {found.shape}."
            )
        return found
    outputs: list[Any] = []
    for _ in range(trials):
        try:
            outputs.append(mechanism(data, **given))
        except Exception as error:  # noqa: BLE001 - an exception is an output
            outputs.append(error)
    return outputs


def tabulate(first: Outputs, second: Outputs) -> tuple[Runs, Runs]:
    """Return two lists of outputs as tables of numbers of equal width, with one coding of what is no number."""
    failed = [_failures(outputs) for outputs in (first, second)]
    if all(bad.all() for bad in failed):
        raise PlanError(f"The mechanism fails on both datasets: {first[0]!r}.") from first[0]
    try:
        tables = [_numbers(outputs, bad) for outputs, bad in zip((first, second), failed, strict=True)]
        names: tuple[str, ...] = ()
    except (TypeError, ValueError):
        tables, names = _coded(first, second, failed)
    width = max(table.shape[1] for table in tables)
    one, two = (Runs(_widened(table, width), bad, names) for table, bad in zip(tables, failed, strict=True))
    return one, two


def _failures(outputs: Outputs) -> NDArray[np.bool_]:
    if isinstance(outputs, np.ndarray):
        return np.zeros(len(outputs), dtype=bool)
    return np.array([isinstance(output, BaseException) for output in outputs])


def _numbers(outputs: Outputs, bad: NDArray[np.bool_]) -> Floats:
    if isinstance(outputs, np.ndarray):
        return outputs.reshape(len(outputs), -1).astype(np.float64)
    good = [output for output, wrong in zip(outputs, bad, strict=True) if not wrong]
    found = np.asarray(good, dtype=np.float64).reshape(len(good), -1)
    table = np.full((len(outputs), max(found.shape[1], 1) if good else 1), np.nan)
    table[~bad] = found
    return table


def _coded(
    first: Outputs, second: Outputs, failed: list[NDArray[np.bool_]]
) -> tuple[list[Floats], tuple[str, ...]]:
    labels = [
        ["" if wrong else repr(output) for output, wrong in zip(list(outputs), bad, strict=True)]
        for outputs, bad in zip((first, second), failed, strict=True)
    ]
    names, codes = np.unique([*labels[0], *labels[1]], return_inverse=True)
    cut = len(labels[0])
    tables = [codes[:cut, None].astype(np.float64), codes[cut:, None].astype(np.float64)]
    return tables, tuple(str(name) for name in names)


def _widened(table: Floats, width: int) -> Floats:
    if table.shape[1] == width:
        return table
    return np.hstack([table, np.full((len(table), width - table.shape[1]), np.nan)])


def clopper_pearson(hits: ArrayLike, trials: int, alpha: float) -> tuple[Floats, Floats]:
    """Return exact one-sided limits of a probability: each is wrong with probability at most `alpha`.

    References
    ----------
    Clopper and Pearson (1934).

    Examples
    --------
    >>> low, high = clopper_pearson(0, 200_000, 5e-7)
    >>> float(low), round(float(high) * 1e5, 2)
    (0.0, 7.25)
    """
    from scipy.special import betaincinv

    k = np.asarray(hits, dtype=np.float64)
    inner = np.where(k > 0, betaincinv(np.maximum(k, 1), trials - np.maximum(k, 1) + 1, alpha), 0.0)
    below = np.minimum(k, trials - 1)
    outer = np.where(k < trials, betaincinv(below + 1, trials - below, 1 - alpha), 1.0)
    return np.asarray(inner), np.asarray(outer)


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

    def __getattr__(self, name: str) -> Mechanism:
        if name not in _DRAWS:
            raise AttributeError(name)
        draw = getattr(self._rng, name)
        return lambda *given, **named: draw(*given, size=self._size, **named)


def vectorised(mechanism: Mechanism, pair: Neighbours, rng: np.random.Generator) -> Mechanism | None:
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

    def many(data: object, size: int, rng: np.random.Generator) -> NDArray[Any]:
        return _rows(mechanism(data, rng=ArrayDraws(rng, size)), size)

    return many if all(_agree(mechanism, many, data, rng) for data in pair) else None


def _rows(found: object, size: int) -> NDArray[Any]:
    """Return one row for each run: an array, or a tuple of arrays side by side."""
    if isinstance(found, tuple | list):
        columns = [np.asarray(part) for part in found]
        if {part.shape for part in columns} == {(size,)}:
            return np.column_stack(columns)
    rows = np.asarray(found)
    if rows.shape != (size,):
        raise PlanError(f"One answer for each of {size:,} runs was expected, not shape {rows.shape}.")
    return rows


def _agree(mechanism: Mechanism, many: Mechanism, data: object, rng: np.random.Generator) -> bool:
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
