r"""Sample and aggregate: any statistic made private, by computing it on disjoint blocks and releasing a private median of them.

*Proof.* Blocks are drawn by position, whatever the rows say. One person changing a row changes one block, hence one of the m
values. The score of a grid point g is :math:`-|\#\{v<g\} - \#\{v>g\}|/2`; one changed value moves each of the two counts by at
most 1, hence the score by at most 1, and the exponential mechanism with weights :math:`e^{ε·score/2}` is ε-private. ∎ The
statistic itself needs no sensitivity; it is accurate where it is stable from block to block.

References
----------
.. [1] Nissim, Raskhodnikova and Smith (2007), "Smooth Sensitivity and Sampling in Private Data Analysis".
.. [2] McSherry and Talwar (2007), "Mechanism Design via Differential Privacy".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.errors import OptionError
from dpnb.lessons.arguments import Floats, generator, loss_of, numbers, whole


def median_law(values: ArrayLike, grid: ArrayLike, epsilon: float) -> dict[float, float]:
    """Return the probability of every grid point under :func:`private_median`."""
    points = _grid(grid)
    return dict(zip(points.tolist(), _chances(values, points, epsilon).tolist(), strict=True))


def _chances(values: ArrayLike, points: Floats, epsilon: float) -> Floats:
    held = np.sort(numbers(values, "values"))
    below = np.searchsorted(held, points, "left")
    above = held.size - np.searchsorted(held, points, "right")
    exponent = -loss_of(epsilon) * np.abs(below - above) / 4
    weights = np.exp(exponent - exponent.max())
    return np.asarray(weights / weights.sum())


def _grid(grid: ArrayLike) -> Floats:
    points = numbers(grid, "grid")
    if (np.diff(points) <= 0).any():
        raise OptionError("grid rises from each point to the next, and is public: np.linspace(0, 100, 101).")
    return points


def private_median(
    values: ArrayLike,
    grid: ArrayLike,
    epsilon: float,
    rng: int | np.random.Generator,
    size: int | None = None,
) -> Any:
    """Choose a point of a public grid near the median, by the exponential mechanism. ε-private when one value changes.

    Parameters
    ----------
    values : array of float, shape (m,)
    grid : rising array of float
        What may be returned; chosen without looking at the values.
    epsilon : float
    rng : int or numpy Generator
    size : int, optional
        Runs, for audits.

    Returns
    -------
    float, or ndarray of shape (size,)

    Raises
    ------
    LossError, OptionError
        When ε is not above 0, or the grid does not rise.
    """
    points = _grid(grid)
    found = generator(rng).choice(points, size, p=_chances(values, points, epsilon))
    return float(found) if size is None else found


@dataclass(frozen=True, slots=True)
class BlockMedian:
    """What sample-and-aggregate releases.

    Parameters
    ----------
    value : float
        A point of the grid.
    blocks : int
    epsilon : float
        What one changed row costs.
    """

    value: float
    blocks: int
    epsilon: float


def sample_and_aggregate(
    data: ArrayLike,
    statistic: Callable[[Any], float],
    blocks: int,
    grid: ArrayLike,
    epsilon: float,
    rng: int | np.random.Generator,
) -> BlockMedian:
    """Release any statistic of some rows, ε-private when one person changes a row.

    Parameters
    ----------
    data : array, shape (n,) or (n, columns)
    statistic : callable
        From a block of rows to a number; a failure or NaN counts as the grid's first point, so that it gives nothing away.
    blocks : int
        Disjoint random blocks, from 1 to n.
    grid : rising array of float
        Public points of which one is returned.
    epsilon : float
    rng : int or numpy Generator

    Returns
    -------
    BlockMedian

    Examples
    --------
    >>> ages = np.random.default_rng(1).integers(20, 60, 4000)
    >>> found = sample_and_aggregate(ages, np.mean, 100, np.arange(0, 101), epsilon=1, rng=2)
    >>> 37 <= found.value <= 42
    True
    """
    rows, chance, points = np.asarray(data), generator(rng), _grid(grid)
    count = whole(blocks, "blocks")
    if not rows.ndim or count > len(rows):
        raise OptionError("blocks is at most the number of rows: give fewer blocks.")
    parts = np.array_split(chance.permutation(len(rows)), count)
    values = [_number(statistic, rows[part], points[0]) for part in parts]
    return BlockMedian(private_median(values, points, epsilon, chance), count, float(epsilon))


def _number(statistic: Callable[[Any], float], rows: NDArray[Any], otherwise: float) -> float:
    try:
        found = float(statistic(rows))
    except Exception:  # noqa: BLE001 - whether a block fails is a secret, too
        return float(otherwise)
    return found if np.isfinite(found) else float(otherwise)
