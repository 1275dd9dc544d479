"""What the figures say: each statistic of dpnb beside the best of the other libraries, and the goals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .study import STATISTICS, TOGETHER

Line = dict[str, Any]
VARIANTS = (", ci=False", ", ci=True")
PLAIN = ("mean", "skewed mean", "variance", "difference", "median")
"""What is also released without an interval; the goal for that is harder."""


@dataclass(frozen=True)
class Ratio:
    """An error of dpnb over another library's, with its standard error."""

    value: float
    se: float

    def verdict(self, goal: float) -> str:
        """Whether a goal is reached, three standard errors allowed where it is not."""
        if math.isnan(self.value):
            return "both exact"
        if self.value <= goal:
            return "met"
        return "within error" if self.value - 3 * self.se <= goal else "missed"

    @property
    def text(self) -> str:
        """The ratio and its standard error."""
        if math.isnan(self.value):
            return "–"
        if math.isinf(self.value):
            return "other exact"
        return f"{self.value:.2f} ± {self.se:.2f}" if self.value < 10 else f"{self.value:.0f}"


def ratio(mine: Line, theirs: Line) -> Ratio:
    """The ratio of two root mean squares; two zeros have none."""
    if mine["rmse"] == 0 and theirs["rmse"] == 0:
        return Ratio(math.nan, 0.0)
    if theirs["rmse"] == 0:
        return Ratio(math.inf, math.inf)
    value = mine["rmse"] / theirs["rmse"]
    shares = [one["se"] / one["rmse"] for one in (mine, theirs) if one["rmse"] > 0]
    return Ratio(value, value * math.hypot(*shares))


def latest(lines: Iterable[Line], keys: Sequence[str]) -> list[Line]:
    """Of lines that measure the same, the last."""
    return list({tuple(line[key] for key in keys): line for line in lines}.values())


class Case:
    """One kind of neighbours, one size, one ε."""

    def __init__(self, lines: Sequence[Line], adjacency: str, rows: int, epsilon: float) -> None:
        self.adjacency, self.rows, self.epsilon = adjacency, rows, epsilon
        chosen = [
            line
            for line in lines
            if (line["adjacency"], line["rows"], line["epsilon"]) == (adjacency, rows, epsilon)
        ]
        self.by = {(line["library"], line["statistic"]): line for line in chosen}
        self.peers = sorted({line["library"] for line in chosen} - {"dpnb"})

    @property
    def title(self) -> str:
        """The case in a heading."""
        return f"n {self.rows:,}, ε {self.epsilon:g}"

    def best(self, statistic: str) -> Line | None:
        """The least error of another library whose privacy is what it says."""
        found = [self.by[peer, statistic] for peer in self.peers if (peer, statistic) in self.by]
        sound = [line for line in found if not line["unsound"]]
        return min(sound, key=lambda line: line["rmse"], default=None)

    def beside(self, statistic: str) -> Ratio | None:
        """Dpnb's error over the best other one, for a statistic or its variant."""
        mine = self.by.get(("dpnb", statistic))
        theirs = self.best(statistic.partition(",")[0])
        return None if mine is None or theirs is None else ratio(mine, theirs)

    def alone(self) -> list[tuple[str, float, Ratio]]:
        """Each statistic with its goal: 1.1 with an interval, 1.0 without."""
        found = []
        for name in STATISTICS:
            with_interval = "median, ci=True" if name == "median" else name
            found.append((with_interval, 1.1))
            if name in PLAIN:
                found.append(("median" if name == "median" else f"{name}, ci=False", 1.0))
        made = [(name, goal, self.beside(name)) for name, goal in found]
        return [(name, goal, one) for name, goal, one in made if one is not None]

    def together(self, peer: str | None = None, without: Sequence[str] = ()) -> Ratio | None:
        """The geometric mean over the seven questions, beside one library or beside the best of each question."""
        pairs = []
        for name in TOGETHER:
            if name in without:
                continue
            mine = self.by.get(("dpnb", f"together: {name}"))
            theirs = self.by.get((peer, f"together: {name}")) if peer else self.best(f"together: {name}")
            if mine is not None and theirs is not None and not theirs["unsound"]:
                pairs.append(ratio(mine, theirs))
        known = [one for one in pairs if math.isfinite(one.value) and one.value > 0]
        if not known:
            return None
        value = math.exp(sum(math.log(one.value) for one in known) / len(known))
        return Ratio(value, value * math.hypot(*(one.se / one.value for one in known)) / len(known))


def cases(lines: Sequence[Line]) -> list[Case]:
    """The cases that were measured, by neighbours, size and ε."""
    kept = latest(lines, ("library", "adjacency", "rows", "epsilon", "statistic"))
    keys = sorted({(line["adjacency"], line["rows"], line["epsilon"]) for line in kept}, key=_order)
    return [Case(kept, *key) for key in keys]


def _order(key: tuple[str, int, float]) -> tuple[bool, int, float]:
    return key[0] != "change-one", key[1], key[2]
