"""SmartNoise SQL: queries on a pandas frame, at an ε for which it says that it spends what is asked."""

from __future__ import annotations

import logging
import warnings

import numpy as np
import pandas as pd
import snsql
from snsql.sql.private_reader import PrivateReader

from .study import HIGH, REGIONS, Answer, Table, answer

ADJACENCIES = ("add-remove",)
_QUERIES = {
    "count": "SELECT COUNT(*) AS n FROM peers.study WHERE g = 1",
    "mean": "SELECT AVG(x) AS a FROM peers.study",
    "skewed mean": "SELECT AVG(s) AS a FROM peers.study",
    "variance": "SELECT VAR(x) AS a FROM peers.study",
    "histogram": "SELECT r, COUNT(*) AS n FROM peers.study GROUP BY r",
    "group means": "SELECT r, AVG(x) AS a FROM peers.study GROUP BY r",
    "difference": "SELECT g, AVG(x) AS a FROM peers.study GROUP BY g",
}
NOTES = dict.fromkeys(_QUERIES, "at ε divided by what it says that a query at ε 1 spends")
RELEASES = 30
"""At most: a query takes a tenth of a second to half of one."""
_LABELS = {"histogram": REGIONS, "group means": REGIONS, "difference": 2}

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)


class Peer:
    """A reader for each ε; a group that does not come back counts as the middle of its bounds, or as no rows."""

    supports = tuple(_QUERIES)

    def __init__(self, table: Table, adjacency: str) -> None:
        assert adjacency in ADJACENCIES
        self.frame = pd.DataFrame(table)
        bounded = {"type": "int", "lower": 0, "upper": HIGH, "nullable": False}
        columns = {name: dict(bounded) for name in ("x", "s", "y")}
        columns |= {name: {"type": "int", "cardinality": size} for name, size in (("g", 2), ("r", REGIONS))}
        self.metadata = {
            "": {
                "peers": {
                    "study": {"row_privacy": True, "censor_dims": False, "rows": len(self.frame), **columns}
                }
            }
        }
        self.loaded = snsql.from_df(self.frame, privacy=_privacy(1.0), metadata=self.metadata)
        self.bills: dict[str, float] = {}
        self.readers: dict[float, object] = {1.0: self.loaded}

    def ask(self, statistic: str, epsilon: float) -> Answer:
        """Release one statistic."""
        query = _QUERIES[statistic]
        if statistic not in self.bills:
            self.bills[statistic] = float(self._reader(1.0).get_privacy_cost(query)[0])
        rows = self._reader(epsilon / self.bills[statistic]).execute(query)
        if statistic not in _LABELS:
            return answer(rows[1][0])
        found = {int(label): float(value) for label, value in rows[1:] if value is not None}
        absent = 0.0 if statistic == "histogram" else HIGH / 2
        values = np.array([found.get(label, absent) for label in range(_LABELS[statistic])])
        return answer(values[1] - values[0] if statistic == "difference" else values)

    def _reader(self, epsilon: float) -> object:
        """A reader of this ε over the one database: ``from_df`` would load the frame into another for each."""
        if epsilon not in self.readers:
            held = self.loaded
            self.readers[epsilon] = PrivateReader(held.reader, held.metadata, privacy=_privacy(epsilon))
        return self.readers[epsilon]


def _privacy(epsilon: float) -> object:
    return snsql.Privacy(epsilon=epsilon, delta=1e-9)
