"""``dpnb.power`` of a regression that has not been bought: what each coefficient's ± would be, and how often there would be none."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from dpnb.client.assumptions import Assumed, number, pending_matrix
from dpnb.errors import OptionError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.estimate.reading import Reading
from dpnb.inference.digits import given, percent, rounded
from dpnb.planner.check import CheckedQuestion
from dpnb.planner.matrix_forecast import STUDIES, Columns, MatrixForecast, forecast
from dpnb.statistics._base import Setting
from dpnb.trusted.query.plan import Share

_SELDOM = 0.05
_LEVEL = 0.95
_PLANNED: WeakKeyDictionary[Any, dict[tuple[str, Share, int, int], MatrixPlan]] = WeakKeyDictionary()
"""What plans said of readings of pending moments, of each dataset: what is drawn or typed again simulates nothing."""
_DOUBLINGS = 8
_SIXTH = 1 / 3
_NARROWER = ((12, "a twelfth"), (24, "a twenty-fourth"), (60, "a sixtieth"))
"""Spreads, in parts of a range, at which a plan looks whether intervals would still be bounded."""
_GLANCE = 12


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
    frail : str
        From which spread down, as a part of the range, intervals could be unbounded; empty where the spread is given, or none is so small.
    """

    text: str
    assumed: str
    keys: tuple[str, ...]
    n: int
    share: Share
    found: MatrixForecast
    enough: Share | None
    frail: str = ""

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
            f"In {percent(self.unbounded)} of {self.found.studies} simulated releases nothing bounds the coefficients: their intervals would be "
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
        said = f"{widths} ({kind}, n = {self.n:,}, {self.assumed}; dpnb.power takes other assumptions)."
        return f"{said} {self.warning or self._condition}".rstrip()

    @property
    def brief(self) -> str:
        """The same in a few words: for a price while it is typed."""
        if self.warning:
            more = (
                ""
                if self.enough is None
                else f"; {self.enough.kind}={given(float(self.enough.amount))} would bound them"
            )
            return f"unbounded coefficients in {percent(self.unbounded)} of simulated releases{more}"
        ends = [rounded(float(end)) for end in (self.half_widths.min(), self.half_widths.max())]
        widths = " to ".join(f"± {end}" for end in dict.fromkeys(ends))
        return f"{widths} of its coefficients for n = {self.n:,}. {self._condition}".rstrip(" .")

    @property
    def _condition(self) -> str:
        if not self.frail:
            return ""
        return f"If columns spread over {self.frail} of their range or less, intervals could be unbounded: declare bounds= or prior=."

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
    made = {place for _, _, place in products}
    columns, said = _columns(checked.setting, facts, made)

    def told(loss: Share, spread: Columns = columns, many: int = studies) -> MatrixForecast:
        return forecast(checked, reading.read.conclude, spread, loss, n, level, many, products)

    found = told(share)
    enough = _enough(told, share) if found.unbounded > _SELDOM else None
    names = tuple(str(key) for axis in reading.axes[-1:] for key in axis.keys)
    size = found.privacy.size
    keys = names if len(names) == size else tuple(str(place + 1) for place in range(size))
    numbers = [one for place, one in enumerate(checked.setting.numbers, 1) if place not in made]
    frail = "" if enough is not None or facts.sd is not None else _frail(told, share, columns, numbers)
    return MatrixPlan(reading.text, said, keys, n, share, found, enough, frail)


def planned_readings(
    named: Iterable[tuple[str, Estimate]],
    questions: Sequence[PendingQuestion],
    shares: Sequence[Share | None],
    size_of: Callable[[CheckedQuestion], int | None],
    studies: int = STUDIES,
) -> Iterator[tuple[int, str, MatrixPlan]]:
    """Say what to expect of everything named that is read from pending moments, where a number of rows is known.

    Yields the place of the moments among the questions, the name, and the plan.
    """
    for name, one in named:
        reading = pending_matrix(one)
        if reading is None or reading.root not in questions:
            continue
        place = questions.index(reading.root)
        share, rows = shares[place], size_of(reading.root.checked)
        if share is not None and rows is not None:
            yield place, name, planned_reading(reading, share, rows, studies)


def planned_reading(reading: Reading, share: Share, n: int, studies: int = STUDIES) -> MatrixPlan:
    """Return what a plan says of a reading of pending moments, about which nothing is assumed in particular; simulated once."""
    root, key = reading.root, (reading.text, share, n, studies)
    known = _PLANNED.setdefault(root if root.dataset is None else root.dataset.root, {})
    if key not in known:
        known[key] = matrix_plan(reading, Assumed(None, None, None, None), n, share, _LEVEL, studies)
    return known[key]


def _frail(
    told: Callable[..., MatrixForecast], share: Share, columns: Columns, numbers: Sequence[Any]
) -> str:
    """From which spread of the columns down the intervals of some release would be unbounded; one of two values keeps its own."""
    if all(one.binary for one in numbers):
        return ""
    for part, words in _NARROWER:
        pairs = zip(columns.sds, numbers, strict=True)
        narrow = replace(columns, sds=tuple(sd if one.binary else sd * 6 / part for sd, one in pairs))
        if told(share, narrow, _GLANCE).unbounded > 0:
            return words
    return ""


def _enough(told: Callable[..., MatrixForecast], share: Share) -> Share | None:
    for doubling in range(1, _DOUBLINGS + 1):
        more = Share(share.kind, Fraction(_up(share.amount * 2**doubling)))
        if told(more).unbounded <= _SELDOM:
            return more
    return None


def _up(amount: Fraction) -> str:
    """An amount in two digits, rounded up: one to type."""
    places = 1 - math.floor(math.log10(amount))
    return str(Decimal(math.ceil(amount * Fraction(10) ** places)).scaleb(-places))


def _columns(setting: Setting, facts: Assumed, made: Collection[int]) -> tuple[Columns, str]:
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


def _listed(value: object, count: int, name: str) -> list[float]:
    if value is None:
        return []
    if not isinstance(value, tuple | list) or len(value) != count:
        raise OptionError(
            f"{name}= of moments has one number for each of the {count} columns, in their order."
        )
    return [number(one, name) for one in value]
