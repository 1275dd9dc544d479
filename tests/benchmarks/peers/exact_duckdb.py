"""The floor: DuckDB's exact answers on raw floats in memory, without privacy."""

from __future__ import annotations

import duckdb

from .study import HIGH, STATISTICS, Answer, Table, answer

_HELD = f"least(greatest({{}}, 0), {HIGH})"
_X, _S, _Y = (_HELD.format(name) for name in "xsy")
_QUERIES = {
    "count": "SELECT count(*) FROM study WHERE g = 1",
    "mean": f"SELECT avg({_X}) FROM study",
    "skewed mean": f"SELECT avg({_S}) FROM study",
    "variance": f"SELECT var_samp({_X}) FROM study",
    "median": f"SELECT quantile_disc({_X}, 0.5) FROM study",
    "histogram": "SELECT count(*) FROM study GROUP BY r ORDER BY r",
    "group means": f"SELECT avg({_X}) FROM study GROUP BY r ORDER BY r",
    "difference": f"SELECT avg({_X}) FILTER (g = 1) - avg({_X}) FILTER (g = 0) FROM study",
    "least squares": f"SELECT regr_slope({_Y}, {_X}) FROM study",
}


class Peer:
    """A table in memory; x, s and y are floats."""

    supports = STATISTICS

    def __init__(self, table: Table, adjacency: str) -> None:
        self.database = duckdb.connect()
        self.database.execute("SET threads = 2")
        self.database.register("given", {**table, **{name: table[name].astype(float) for name in "xsy"}})
        self.database.execute("CREATE TABLE study AS SELECT * FROM given")

    def ask(self, statistic: str, epsilon: float) -> Answer:
        """Answer one statistic; ε is not used."""
        return answer([row[0] for row in self.database.execute(_QUERIES[statistic]).fetchall()])
