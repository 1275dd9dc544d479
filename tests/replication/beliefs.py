"""Rows of 004, Table 1: the most that a belief about one person can become, by belief before and by ε.

The bound π/(π + (1 - π)e^-ε) is that of :func:`dpnb.risk.odds.posterior_table`; randomised response attains it. The table in
print has 54 cells. They are not at hand, and neither are their rows and columns: the grid here is assumed, and says so.
"""

from __future__ import annotations

import numpy as np

from dpnb.risk.odds import posterior_table
from tests.replication.row import Row

PRIORS = ("0.01", "0.05", "0.1", "0.25", "0.5", "0.9")
EPSILONS = ("0.01", "0.05", "0.1", "0.25", "0.5", "1", "2", "3", "5")
_ASSUMED = "priors and ε assumed, 54 cells as in print; the printed cells are not at hand"


def rows(rng: np.random.Generator, *, quick: bool) -> list[Row]:
    """Return the rows of Table 1 of 004, one for each belief before the release."""
    table = posterior_table(PRIORS, EPSILONS)
    return [
        Row(
            "004 Table 1",
            f"prior {prior}: posterior at most, %, ε = {' '.join(EPSILONS)}",
            "–",
            [],
            [100 * cell for cell in cells],
            note=_ASSUMED,
            form=".2f",
        )
        for prior, cells in zip(table.index, table.cells, strict=True)
    ]
