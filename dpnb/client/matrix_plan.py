"""``dpnb.power`` of a regression that has not been bought: what each coefficient's ± would be, and how often there would be none."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from dpnb.client.assumptions import Assumed, number
from dpnb.errors import OptionError
from dpnb.estimate import PendingQuestion
from dpnb.estimate.reading import Reading
from dpnb.inference.digits import given, rounded
from dpnb.planner.matrix_forecast import STUDIES, Columns, MatrixForecast, forecast
from dpnb.trusted.query import Share

_SELDOM = 0.05
_LEVEL = 0.95
_PLANNED: WeakKeyDictionary[PendingQuestion, dict[tuple[str, Share, int], MatrixPlan]] = WeakKeyDictionary()
"""What plans said of readings of pending moments: a plan that is drawn again simulates nothing."""
_DOUBLINGS = 8
_SIXTH = 1 / 3


@dataclass(frozen=True, slots=True, repr=False)
class MatrixPlan:
    """What a reading of a matrix of moments would say, simulated.

    Parameters
    ----------
    text : str
        What is planned.
    assumed : str
        What was assumed of the columns.
    keys : tuple of str
        What each entry is called.
    n : int
        Rows.
    share : Share
        The loss.
    found : MatrixForecast
        Half-widths, and how often an interval is unbounded.
    enough : Share, optional
        A loss at which unbounded intervals are rare, where they are not at this one.
    """

    text: str
    assumed: str
    keys: tuple[str, ...]
    n: int
    share: Share
    found: MatrixForecast
    enough: Share | None

    @property
    def unbounded(self) -> float:
        """The share of simulated releases in which nothing bounds some entry."""
        return self.found.unbounded

    @property
    def half_widths(self) -> np.ndarray:
        """Median half-widths of the confidence intervals, or of the privacy intervals where there are no others."""
        return self.found.privacy if self.found.confidence is None else self.found.confidence

    @property
    def warning(self) -> str:
        """What to know before buying; empty where unbounded intervals are rare."""
        if self.unbounded <= _SELDOM:
            return ""
        fix = "declare bounds= or prior= of the coefficients, ask fewer columns"
        if self.enough is not None:
            fix += f", or {self.enough.kind}={given(float(self.enough.amount))}"
        return (
            f"In {self.unbounded:.0%} of {self.found.studies} simulated releases nothing bounds the coefficients: their intervals would be "
            f"unbounded. To bound them, {fix}."
        )

    @property
    def sentence(self) -> str:
        """What to expect of each entry, what that assumes, and the warning: for a plan."""
        kind = "noise alone" if self.found.confidence is None else "noise and sampling"
        widths = ", ".join(
            f"{key} ± {rounded(float(half))}" if np.isfinite(half) else f"{key} unbounded"
            for key, half in zip(self.keys, self.half_widths, strict=True)
        )
        said = f"{widths} ({kind}, n = {self.n:,}, {self.assumed}; dpnb.power assumes what you say)."
        return f"{said} {self.warning}" if self.warning else said

    def __str__(self) -> str:
        rows = [["", "± noise alone", "± with sampling"]]
        for place, key in enumerate(self.keys):
            sampling = "–" if self.found.confidence is None else rounded(float(self.found.confidence[place]))
            rows.append([key, rounded(float(self.found.privacy[place])), sampling])
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        symbol = {"epsilon": "ε", "rho": "ρ"}[self.share.kind]
        head = f"  n = {self.n:,} · {symbol} {given(float(self.share.amount))} · medians of {self.found.studies} simulated releases"
        said = [f"{self.text}, {self.assumed}", head, *(f"    {line}" for line in lines)]
        return "\n".join([*said, *([f"  {self.warning}"] if self.warning else [])])

    __repr__ = __str__


def matrix_plan(
    reading: Reading, facts: Assumed, n: int, share: Share, level: float, studies: int = STUDIES
) -> MatrixPlan:
    """Simulate what is read from a matrix of moments of a typical study.

    Parameters
    ----------
    reading : Reading
        Of pending moments.
    facts : Assumed
        One standard deviation and one mean for each column that is no product of others, in its unit; and a correlation.
    n : int
        Rows.
    share : Share
        The loss.
    level : float
        Of the intervals.
    studies : int
        How many releases are simulated.
    """
    checked, products = reading.root.checked, reading.read.products
    columns, said = _columns(checked.setting, facts, {place for _, _, place in products})

    def told(loss: Share) -> MatrixForecast:
        return forecast(checked, reading.read.conclude, columns, loss, n, level, studies, products)

    found = told(share)
    enough = _enough(told, share) if found.unbounded > _SELDOM else None
    names = tuple(str(key) for axis in reading.axes[-1:] for key in axis.keys)
    size = found.privacy.size
    keys = names if len(names) == size else tuple(str(place + 1) for place in range(size))
    return MatrixPlan(reading.text, said, keys, n, share, found, enough)


def planned_reading(reading: Reading, share: Share, n: int) -> MatrixPlan:
    """Return what a plan says of a reading of pending moments, about which nothing is assumed in particular; simulated once."""
    known = _PLANNED.setdefault(reading.root, {})
    if (reading.text, share, n) not in known:
        known[reading.text, share, n] = matrix_plan(
            reading, Assumed(None, None, None, None), n, share, _LEVEL
        )
    return known[reading.text, share, n]


def _enough(told: Any, share: Share) -> Share | None:
    for doubling in range(1, _DOUBLINGS + 1):
        more = Share(share.kind, share.amount * 2**doubling)
        if told(more).unbounded <= _SELDOM:
            return more
    return None


def _columns(setting: Any, facts: Assumed, made: Collection[int]) -> tuple[Columns, str]:
    """Read what is assumed of the columns, and say it."""
    if facts.share is not None:
        raise OptionError("share= is for proportions. A matrix of moments takes mean=, sd= and correlation=.")
    numbers = [one for place, one in enumerate(setting.numbers, 1) if place not in made]
    halves = [float(one.highest - one.lowest) / 2 for one in numbers]
    middles = [float(one.highest + one.lowest) / 2 for one in numbers]
    means = _listed(facts.mean, len(numbers), "mean") or middles
    sds = _listed(facts.sd, len(numbers), "sd") or [_SIXTH * half for half in halves]
    placed = [(mean - middle) / half for mean, middle, half in zip(means, middles, halves, strict=True)]
    if not all(abs(place) < 1 for place in placed):
        raise OptionError("mean= of a column lies between its bounds.")
    widest = [(1 - place**2) ** 0.5 for place in placed]
    spreads = [
        wide if one.binary else sd / half
        for one, sd, half, wide in zip(numbers, sds, halves, widest, strict=True)
    ]
    if min(sds) <= 0 or not all(sd <= wide + 1e-12 for sd, wide in zip(spreads, widest, strict=True)):
        raise OptionError("sd= of a column lies above 0, and at most where all rows are at its bounds.")
    tie = 0.3 if facts.correlation is None else number(facts.correlation, "correlation")
    said = "sd a sixth of each range" if facts.sd is None else "sd as given"
    place = "means in the middle" if facts.mean is None else "means as given"
    return Columns(
        tuple(placed), tuple(spreads), tie
    ), f"{said}, {place}, correlation {given(tie)} of every two"


def _listed(value: Any, count: int, name: str) -> list[float]:
    if value is None:
        return []
    if not isinstance(value, tuple | list) or len(value) != count:
        raise OptionError(
            f"{name}= of moments has one number for each of the {count} columns, in their order."
        )
    return [number(one, name) for one in value]
