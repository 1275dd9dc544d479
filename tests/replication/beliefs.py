"""Rows of 004, Table 1: the most that a belief about one person can become, by belief before and by ε.

The bound π/(π + (1 - π)e^-ε) is that of :func:`dpnb.risk.odds.posterior_table`; randomised response attains it.
"""

from __future__ import annotations

import numpy as np

from dpnb.risk.odds import posterior_table
from tests.replication.row import Quoted, Row

PRIORS = ("0.01", "0.05", "0.1", "0.25", "0.5", "0.75", "0.9", "0.95", "0.99")
EPSILONS = ("0.01", "0.05", "0.1", "0.2", "0.5", "1")
PRINTED = (
    "1.01 1.05 1.1 1.22 1.64 2.67",
    "5.05 5.24 5.5 6.04 7.98 12.52",
    "10.09 10.46 10.94 11.95 15.48 23.2",
    "25.19 25.95 26.92 28.93 35.47 47.54",
    "50.25 51.25 52.5 54.98 62.25 73.11",
    "75.19 75.93 76.83 78.56 83.18 89.08",
    "90.09 90.44 90.86 91.66 93.69 96.07",
    "95.05 95.23 95.45 95.87 96.91 98.1",
    "99.01 99.05 99.09 99.18 99.39 99.63",
)
"""The table of print in per cent: a row for each prior, a cell for each ε."""


def rows(rng: np.random.Generator, *, quick: bool) -> list[Row]:
    """Return the rows of Table 1 of 004, one for each belief before the release."""
    table = posterior_table(PRIORS, EPSILONS)
    return [
        Row(
            "004 Table 1",
            f"prior {prior}: posterior at most, %, ε = {' '.join(EPSILONS)}",
            printed,
            [Quoted.near(float(cell), 0.005) for cell in printed.split()],
            [100 * cell for cell in cells],
            form=".2f",
        )
        for prior, cells, printed in zip(table.index, table.cells, PRINTED, strict=True)
    ]
