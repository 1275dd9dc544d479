"""dpnb: real releases through the curator and its ledger, each paid for."""

from __future__ import annotations

from typing import Any

import numpy as np

import dpnb
from dpnb.errors import Unavailable
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema

from .study import HIGH, REGIONS, TOGETHER, Answer, Table

ADJACENCIES = ("change-one", "add-remove")
_ASKED = {
    "count": lambda data: data[data.g == 1].count(),
    "mean": lambda data: data.x.mean(),
    "mean, ci=False": lambda data: data.x.mean(ci=False),
    "skewed mean": lambda data: data.s.mean(),
    "skewed mean, ci=False": lambda data: data.s.mean(ci=False),
    "variance": lambda data: data.x.variance(),
    "variance, ci=False": lambda data: data.x.variance(ci=False),
    "median": lambda data: data.x.median(),
    "median, ci=True": lambda data: data.x.median(ci=True),
    "histogram": lambda data: data.r.histogram(),
    "group means": lambda data: data.groupby("r").x.mean(),
    "difference": lambda data: data.x.difference(by="g"),
    "difference, ci=False": lambda data: data.x.difference(by="g", ci=False),
    "least squares": lambda data: data.ols("y ~ x"),
}


def declared(table: Table, adjacency: str) -> Schema:
    """What is declared of the table."""
    rows, regions = len(table["x"]), max(REGIONS, int(table["r"].max()) + 1)
    unit = PrivacyUnit(adjacency, rows=rows) if adjacency == "change-one" else PrivacyUnit(adjacency)
    columns = (
        *(Column.integer(name, 0, HIGH, missing=0) for name in ("x", "s", "y")),
        Column.category("g", [0, 1], missing=0),
        Column.category("r", list(range(regions)), missing=0),
    )
    budget = Budget.from_toml({"epsilon": 10**6})
    return Schema(f"peers-{adjacency}-{rows}", "Peers", columns, unit, budget)


class Peer:
    """A dataset of dpnb that asks and pays."""

    supports = tuple(_ASKED)

    def __init__(self, table: Table, adjacency: str) -> None:
        self.data = dpnb.open(table, schema=declared(table, adjacency), quiet=True)

    def ask(self, statistic: str, epsilon: float) -> Answer:
        """Release one statistic."""
        return self._released({statistic: _ASKED[statistic](self.data)}, epsilon)[statistic]

    def together(self, epsilon: float) -> dict[str, Answer]:
        """Release the seven questions in one cell."""
        return self._released({name: _ASKED[name](self.data) for name in TOGETHER}, epsilon)

    def _released(self, asked: dict[str, Any], epsilon: float) -> dict[str, Answer]:
        keys = {name: name.replace(" ", "_").replace(",", "").replace("=", "_") for name in asked}
        found = dpnb.release(
            {keys[name]: question for name, question in asked.items()}, epsilon=f"{epsilon:g}", fresh=True
        )
        return {name: read(name, found[keys[name]]) for name in asked}


def read(statistic: str, released: Any) -> Answer:
    """Take the number and its interval for the file's number out of what was released."""
    shown = released["x"] if statistic == "least squares" else released
    values = np.atleast_1d(np.asarray(shown.value, dtype=float))
    try:
        interval = shown.interval(0.95, kind="privacy")
    except Unavailable:
        return Answer(values)
    low, high = (np.atleast_1d(np.asarray(end, dtype=float)) for end in (interval.low, interval.high))
    return Answer(values, low, high)
