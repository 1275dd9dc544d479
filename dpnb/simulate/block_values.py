"""The values behind a block of simulated studies: codes on grids turned back into numbers and words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.simulate.exact import Block
from dpnb.trusted.schema import Column


def decoded(columns: tuple[Column, ...], block: Block) -> dict[str, NDArray[Any]]:
    """Return the columns of every study as values, shape (studies, n); missing numbers are not a number."""
    found = {}
    for column in columns:
        ints = block.table.columns[column.name]
        if column.numeric:
            low, step = float(column.lower or 0), float(column.step or 1)
            values: NDArray[Any] = np.where(ints.known, low + step * ints.values, np.nan)
        else:
            names = np.array([*(column.values or ()), None], dtype=object)
            values = names[np.where(ints.known, ints.values, -1)]
        found[column.name] = values.reshape(block.studies, block.n)
    return found
